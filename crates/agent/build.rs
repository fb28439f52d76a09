//! Compiles the Java class that instrumented code calls. It lives in `java.lang`, so the compiler gets it as a patch of
//! `java.base`, with a stub of `Thread` that has the fields which the agent adds when the real class is loaded.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=java");
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let javac = javac();
    let output = Command::new(&javac)
        .args([
            "-source",
            "17",
            "-target",
            "17",
            "-Xlint:-options",
            "-implicit:none",
            "-nowarn",
            "-g:none",
        ])
        .args([
            "--patch-module",
            "java.base=java/stubs:java/ravel",
            "-sourcepath",
            "java/stubs:java/ravel",
            "-d",
        ])
        .arg(&out)
        .arg("java/ravel/java/lang/Ravel.java")
        .output();
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!(
            "{} failed:\n{}",
            javac.display(),
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => panic!(
            "cannot run {}: {error}\nBuilding Ravel needs a JDK 17 or later: set JAVA_HOME, or install one \
             (Debian: apt-get install openjdk-17-jdk-headless)",
            javac.display()
        ),
    }
}

/// `javac` of JAVA_HOME, of the PATH, or of the usual places.
fn javac() -> PathBuf {
    if let Some(home) = std::env::var_os("JAVA_HOME") {
        let javac = Path::new(&home).join("bin/javac");
        if javac.exists() {
            return javac;
        }
    }
    let on_path = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path)
            .map(|dir| dir.join("javac"))
            .find(|javac| javac.exists())
    });
    if let Some(javac) = on_path {
        return javac;
    }
    let mut usual: Vec<PathBuf> = std::fs::read_dir("/usr/lib/jvm")
        .map(|entries| {
            entries
                .flatten()
                .map(|entry| entry.path().join("bin/javac"))
                .filter(|p| p.exists())
                .collect()
        })
        .unwrap_or_default();
    usual.sort();
    usual.into_iter().next().unwrap_or_else(|| PathBuf::from("javac"))
}
