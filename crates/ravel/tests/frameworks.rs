//! Libraries that are not recorded still order the threads of the program: nothing that they hand over is predicted to race, and a
//! race around them is found.

use std::path::Path;
use std::time::Duration;

use crate::common::{Jdk, compile_some, each, newest_jdk, ravel, root, run, tested_jdks};

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

/// What is found in a recording of a program, and what its report says besides.
struct Checked {
    findings: Vec<String>,
    warnings: Vec<String>,
}

/// Records the program with these options and gives what its report says.
fn checked(jdk: &Jdk, classes: &Path, options: &[&str], program: &str, words: &[&str]) -> Result<Checked, String> {
    let trace = classes.join(format!("{program}-{}-{}.ravel", words.concat(), words.len()));
    let recorded = run(
        ravel()
            .args(["record", "-o"])
            .arg(&trace)
            .args(options)
            .arg("--")
            .arg(jdk.tool("java"))
            .arg("-cp")
            .arg(classes)
            .arg(program)
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
    let warnings = report["warnings"].as_array().into_iter().flatten();
    Ok(Checked {
        findings: findings.iter().map(line).collect(),
        warnings: warnings.filter_map(|words| Some(words.as_str()?.to_owned())).collect(),
    })
}

#[test]
fn a_main_class_in_a_package_of_a_framework_is_recorded() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let source = root().join("crates/ravel/tests/java/frameworks/groovy/own/Begins.java");
    let jdk = &newest_jdk();
    compile_some(jdk, &[source], dir.path());
    // Each thread touches the field once.
    let options = ["--keep-unshared"];
    let checked = checked(jdk, dir.path(), &options, "groovy.own.Begins", &[]).expect("a report");
    let is_race = |finding: &String| finding.contains("data-race") && finding.contains("value");
    assert!(checked.findings.iter().any(is_race), "{:?}", checked.findings);
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
        let classes = dir.path().join(jdk.release.to_string());
        let Checked {
            findings: found,
            warnings,
        } = checked(jdk, &classes, &[], "Ordered", words)?;
        let is_said = |words: &String| words.starts_with("not recorded: ") && words.contains("of frameworks (groovy)");
        if !warnings.iter().any(is_said) {
            return Err(format!(
                "JDK {}: nothing says what is not recorded: {warnings:?}",
                jdk.release
            ));
        }
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
