//! The direction of dependencies between the crates and the types of the glossary, as ARCHITECTURE.md states them; and no file of tests that
//! is not part of a binary.

use std::collections::BTreeSet;
use std::path::Path;

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

/// What the table of the glossary names is there: a renamed type takes its row along.
#[test]
fn the_types_of_the_glossary_exist() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the map");
    let table = page.split("\n## Glossary\n").nth(1).expect("a glossary");
    let table = table.split("\n## ").next().unwrap_or_default();
    let rows = table.lines().filter(|line| line.starts_with("| "));
    let types = rows.filter_map(|row| row.trim_end_matches('|').rsplit('|').next());
    // Every other piece between backticks is a path.
    let paths: Vec<&str> = types.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(paths.len() > 30, "the glossary has {} types", paths.len());
    for path in paths {
        assert!(
            names_something(path),
            "ARCHITECTURE.md: the glossary names `{path}`, which the sources do not have"
        );
    }
}

#[test]
fn a_path_that_leads_nowhere_is_noticed() {
    for path in [
        "trace::Event",
        "trace::Event::position",
        "agent::search",
        "prove::proof::harm::Harm",
    ] {
        assert!(names_something(path), "{path}");
    }
    for path in [
        "trace::Evenement",
        "trace::Event::where",
        "agent::searching",
        "schedule::generate::Verdict",
        "Event",
    ] {
        assert!(!names_something(path), "{path}");
    }
}

/// Whether a path, as `crate::module::Type::field`, leads to a module, an item or a part of an item.
fn names_something(path: &str) -> bool {
    let mut segments = path.split("::").peekable();
    let name = segments.next().unwrap_or_default();
    let sources = root().join("crates").join(name).join("src");
    if !sources.is_dir() || segments.peek().is_none() {
        return false;
    }
    let mut folder = sources.clone();
    let mut file = sources.join("lib.rs");
    while let Some(module) = segments.next_if(|module| is_module(&folder, module)) {
        folder = folder.join(module);
        let alone = folder.with_extension("rs");
        file = if alone.is_file() { alone } else { folder.join("mod.rs") };
    }
    let Some(item) = segments.next() else {
        return true;
    };
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let is_exported = |line: &str| line.starts_with("pub use ") && has_word(line, item);
    let defined = match text.lines().any(is_exported) {
        true => every_source(&sources).into_iter().find(|text| defines(text, item)),
        false => Some(text).filter(|text| defines(text, item)),
    };
    defined.is_some_and(|text| segments.all(|part| defines(&text, part) || text.contains(&format!(" {part}: "))))
}

fn is_module(folder: &Path, name: &str) -> bool {
    folder.join(name).with_extension("rs").is_file() || folder.join(name).join("mod.rs").is_file()
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|found| found == word)
}

fn defines(text: &str, item: &str) -> bool {
    let kinds = ["struct", "enum", "trait", "type", "fn"];
    text.lines().any(|line| {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        words.windows(2).any(|pair| kinds.contains(&pair[0]) && pair[1] == item) && !line.trim_start().starts_with("//")
    })
}

fn every_source(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            texts.extend(every_source(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            texts.push(std::fs::read_to_string(&path).expect("a source"));
        }
    }
    texts
}
