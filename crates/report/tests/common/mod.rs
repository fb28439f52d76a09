//! What the tests of the formats share: the reports under `reports/`, the sources under `sources/`, and golden files
//! that `BLESS=1` brings up to date.

use std::fs;
use std::path::{Path, PathBuf};

use ravel_analysis::finding::Report;
use ravel_report::SourceFinder;

/// The reports that every format is tried on.
pub const REPORTS: [&str; 8] = [
    "data-race",
    "atomicity",
    "atomic-set",
    "lock-order",
    "suspected",
    "empty",
    "imported",
    "mixed",
];

fn tests_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The text of a file under `tests/`.
pub fn file(path: &str) -> String {
    fs::read_to_string(tests_folder().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// A report under `reports/`.
pub fn report(name: &str) -> Report {
    ravel_report::json::read(&file(&format!("reports/{name}.json"))).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The sources of the program that the reports speak of.
pub fn sources() -> SourceFinder {
    let mut finder = SourceFinder::new(tests_folder().join("sources"));
    finder.add_usual_roots();
    finder
}

/// Compares with a golden file, or writes it when `BLESS` is set.
pub fn golden(name: &str, actual: &str) {
    let path = tests_folder().join("golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, actual).unwrap_or_else(|e| panic!("{name}: {e}"));
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "{name} differs (BLESS=1 accepts the new text)\n--- expected\n{expected}\n--- actual\n{actual}"
    );
}

/// Checks against the published schema of SARIF 2.1.0.
pub fn sarif_validator() -> jsonschema::Validator {
    let mut schema: serde_json::Value = serde_json::from_str(&file("sarif-schema-2.1.0.json")).expect("a schema");
    // The published pattern for language codes is no regular expression (a stray bracket); Ravel writes no such code.
    for owner in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][owner]["properties"]["language"];
        language.as_object_mut().expect("the property").remove("pattern");
    }
    jsonschema::validator_for(&schema).expect("a schema")
}
