//! The direction of dependencies between the crates, as ARCHITECTURE.md states it; and no file of tests that is not part of a binary.

use std::collections::BTreeSet;

use crate::common::root;

/// Each crate and the crates of Ravel that it may depend on. A crate that is not listed fails the test.
const ALLOWED: &[(&str, &[&str])] = &[
    ("classfile", &[]),
    ("trace", &[]),
    ("protocol", &[]),
    ("embed", &[]),
    ("testing", &[]),
    ("agent", &["classfile", "protocol", "trace"]),
    ("analysis", &["trace"]),
    ("schedule", &["analysis", "protocol", "trace"]),
    ("scan", &["analysis", "classfile", "trace"]),
    ("own", &["analysis", "classfile", "protocol", "scan", "trace"]),
    ("report", &["analysis", "trace"]),
    (
        "prove",
        &[
            "agent",
            "analysis",
            "classfile",
            "embed",
            "own",
            "protocol",
            "scan",
            "schedule",
            "trace",
        ],
    ),
    (
        "ravel",
        &[
            "agent",
            "analysis",
            "classfile",
            "own",
            "prove",
            "report",
            "scan",
            "schedule",
            "trace",
        ],
    ),
];

#[test]
fn crates_depend_in_one_direction_only() {
    let mut crates = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("crates")).expect("the crates are part of the tree") {
        let path = entry.expect("can be listed").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let manifest = std::fs::read_to_string(path.join("Cargo.toml")).expect("a manifest");
        let manifest: toml::Table = manifest.parse().expect("TOML");
        let allowed = ALLOWED.iter().find(|(known, _)| *known == name);
        let (_, allowed) = allowed.unwrap_or_else(|| panic!("{name}: add it to this test and to ARCHITECTURE.md"));
        let found = manifest.get("dependencies").and_then(toml::Value::as_table);
        for dependency in found.into_iter().flat_map(toml::Table::keys) {
            let Some(dependency) = dependency.strip_prefix("ravel-") else {
                continue;
            };
            assert!(allowed.contains(&dependency), "{name} must not depend on {dependency}");
        }
        crates.insert(name);
    }
    let listed: BTreeSet<String> = ALLOWED.iter().map(|(name, _)| (*name).to_string()).collect();
    assert_eq!(crates, listed);
}

/// Crates whose tests are modules of one binary: a file that it does not name would never run.
#[test]
fn every_file_of_tests_is_run() {
    for (name, _) in ALLOWED {
        let folder = root().join("crates").join(name).join("tests");
        let Ok(all) = std::fs::read_to_string(folder.join("all.rs")) else {
            continue;
        };
        let manifest =
            std::fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).expect("a manifest");
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let of_cargo = manifest.contains(&format!("tests/{stem}.rs"));
            let listed = of_cargo || all.contains(&format!("\nmod {stem};\n"));
            let is_source = path.extension().is_some_and(|end| end == "rs");
            assert!(!is_source || listed, "{}: add `mod {stem};` to all.rs", path.display());
        }
    }
}
