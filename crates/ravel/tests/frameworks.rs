//! Libraries that are not recorded still order the threads of the program: nothing that they hand over is predicted to race, and a
//! race around them is found.

use std::path::Path;
use std::time::Duration;

use crate::common::{Jdk, compile_some, each, ravel, root, run, tested_jdks};

const LIMIT: Duration = Duration::from_secs(60);

/// The classes of the library, each a way to hand an item over.
const WAYS: &[&str] = &[
    "VolatileField",
    "InheritedField",
    "NestedField",
    "StaticField",
    "Monitor",
    "SynchronizedMethods",
    "Promise",
    "Updater",
    "Handle",
    "Locked",
    "Latch",
    "Parked",
    "Pool",
];

/// The ways in which the program hands an item over too early, one at a time. Two pools are left out: which of them comes to the
/// library's own fields first, and so whether these order their tasks, differs from run to run.
const EARLY: &[&str] = &["VolatileField", "Promise"];

/// Records the program and gives what is found in it.
fn found(jdk: &Jdk, classes: &Path, words: &[&str]) -> Result<Vec<String>, String> {
    let trace = classes.join(format!("{}-{}.ravel", words[0], words.len()));
    let recorded = run(
        ravel()
            .args(["record", "-o"])
            .arg(&trace)
            .arg("--")
            .arg(jdk.tool("java"))
            .arg("-cp")
            .arg(classes)
            .arg("Ordered")
            .args(words),
        LIMIT,
    );
    if !recorded.status.success() {
        return Err(format!("{words:?}: {}", String::from_utf8_lossy(&recorded.stderr)));
    }
    let checked = run(ravel().args(["check", "--all", "--format", "json"]).arg(&trace), LIMIT);
    let report: serde_json::Value =
        serde_json::from_slice(&checked.stdout).map_err(|error| format!("{words:?}: no report: {error}"))?;
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    let line = |finding: &serde_json::Value| format!("{} {}", finding["rule"], finding["message"]);
    Ok(findings.iter().map(line).collect())
}

#[test]
fn a_library_that_is_not_recorded_orders_threads() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let sources = ["Ordered.java", "groovy/ravel/Library.java"];
    let sources = sources.map(|name| root().join("crates/ravel/tests/java/frameworks").join(name));
    let mut jobs = Vec::new();
    for jdk in tested_jdks() {
        compile_some(&jdk, &sources, &dir.path().join(jdk.release.to_string()));
        jobs.push((jdk.clone(), WAYS.to_vec()));
        jobs.extend(EARLY.iter().map(|way| (jdk.clone(), vec![*way, "early"])));
    }
    each(&jobs, |(jdk, words)| {
        let found = found(jdk, &dir.path().join(jdk.release.to_string()), words)?;
        let right = match words.last() {
            Some(&"early") => found.iter().any(|finding| finding.contains("data-race")),
            _ => found.is_empty(),
        };
        match right {
            true => Ok(()),
            false => Err(format!("JDK {}, {words:?}: {found:?}", jdk.release)),
        }
    });
}
