//! Hashes the sources that decide what is learnt of a JDK, so that a kept file of another build is never read.

use std::path::{Path, PathBuf};

fn main() {
    let mut files = Vec::new();
    for folder in ["src", "../classfile/src"] {
        println!("cargo::rerun-if-changed={folder}");
        collect(Path::new(folder), &mut files);
    }
    files.sort();
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in files.iter().filter_map(|file| std::fs::read(file).ok()).flatten() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    println!("cargo::rustc-env=RAVEL_SCAN_SOURCES={hash:016x}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
