//! What the tests share: the JDKs of this machine, and an edit that touches everything.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod everything;
pub mod exact;
pub mod heavy;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ravel_classfile::archive::{ClassEntry, Jimage, JimageClass, for_each_jdk_class, is_jdk};

/// The homes of the JDKs of this machine.
pub fn jdks() -> Vec<PathBuf> {
    let homes: Vec<PathBuf> = ravel_testing::jdks().into_iter().map(|jdk| jdk.home).collect();
    assert!(homes.iter().all(|home| is_jdk(home)), "{homes:?}");
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
