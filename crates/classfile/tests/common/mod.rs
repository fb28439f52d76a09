//! What the tests share: the JDKs of this machine, and an edit that touches everything.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod exact;
pub mod heavy;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ravel_classfile::archive::{ClassEntry, for_each_jdk_class, is_jdk};

/// The homes of the JDKs found by `JAVA_HOME`, the `PATH` and the usual places, each once.
pub fn jdks() -> Vec<PathBuf> {
    let mut candidates: Vec<PathBuf> = std::env::var_os("JAVA_HOME").into_iter().map(PathBuf::from).collect();
    for directory in std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()) {
        // bin/java lies two levels below the home, once links are followed.
        if let Ok(java) = directory.join("java").canonicalize()
            && let Some(home) = java.ancestors().nth(2)
        {
            candidates.push(home.to_path_buf());
        }
    }
    for place in ["/usr/lib/jvm", "/usr/java", "/opt", "/Library/Java/JavaVirtualMachines"] {
        let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
        candidates.extend(entries.flat_map(|entry| [entry.path(), entry.path().join("Contents/Home")]));
    }
    let mut homes: Vec<PathBuf> = candidates
        .iter()
        .filter(|home| is_jdk(home) && home.join("bin/javac").is_file())
        .filter_map(|home| home.canonicalize().ok())
        .collect();
    homes.sort();
    homes.dedup();
    assert!(!homes.is_empty(), "no JDK found: install one (for example openjdk-17-jdk) or set JAVA_HOME");
    homes
}

/// Every `step`th class of a JDK that `wanted` takes.
pub fn sample(home: &Path, step: usize, wanted: impl Fn(&ClassEntry) -> bool) -> Vec<ClassEntry> {
    let mut classes = Vec::new();
    let mut count = 0;
    for_each_jdk_class(home, &mut |class| {
        if wanted(&class) {
            if count % step == 0 {
                classes.push(class);
            }
            count += 1;
        }
        ControlFlow::Continue(())
    })
    .expect("a readable JDK");
    classes
}

/// Some classes of every kind, by name: with switches, large methods, records, enums, lambdas, annotations, a module.
pub fn varied(home: &Path) -> BTreeMap<String, Vec<u8>> {
    let classes = sample(home, 97, |class| class.module.as_deref() == Some("java.base"));
    classes.into_iter().map(|class| (class.name, class.bytes)).collect()
}
