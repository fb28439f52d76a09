//! What the tests share: the JDKs of this machine, and an edit that touches everything.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod exact;
pub mod heavy;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ravel_classfile::archive::{ClassEntry, Jimage, JimageClass, for_each_jdk_class, is_jdk};

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
    assert!(
        !homes.is_empty(),
        "no JDK found: install one (for example openjdk-17-jdk) or set JAVA_HOME"
    );
    homes
}

/// Every `step`th class of a JDK whose module and name `wanted` takes.
pub fn sample(home: &Path, step: usize, wanted: impl Fn(&str, &str) -> bool) -> Vec<ClassEntry> {
    let modules = home.join("lib/modules");
    if let Ok(mut image) = Jimage::open(&modules)
        && let Ok(classes) = image.classes()
    {
        // Only what is wanted is read.
        let classes: Vec<_> = classes
            .into_iter()
            .filter(|class| wanted(&class.module, &class.name))
            .collect();
        let read = |class: JimageClass| {
            let bytes = image.read(&class).expect("a readable JDK");
            let origin = format!("{}!/{}/{}", modules.display(), class.module, class.name);
            ClassEntry {
                origin,
                name: class.name,
                module: Some(class.module),
                bytes,
            }
        };
        return classes.into_iter().step_by(step).map(read).collect();
    }
    let mut classes = Vec::new();
    for_each_jdk_class(home, &mut |class| {
        if wanted(class.module.as_deref().unwrap_or_default(), &class.name) {
            classes.push(class);
        }
        ControlFlow::Continue(())
    })
    .expect("a readable JDK");
    classes.into_iter().step_by(step).collect()
}
