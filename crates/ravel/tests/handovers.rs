//! A hand-over orders the two threads: for each way to hand work over, Ravel predicts nothing.

use std::path::PathBuf;
use std::time::Duration;

use crate::common::{Jdk, compiled, each, ravel, root, run, tested_jdks};

const LIMIT: Duration = Duration::from_secs(60);

/// The ways, by the names of the methods of a program.
fn ways(source: &str) -> Vec<String> {
    let name = |line: &str| {
        line.strip_prefix("    static void ")?
            .strip_suffix("() throws Exception {")
            .map(str::to_string)
    };
    source.lines().filter_map(name).collect()
}

#[test]
fn what_is_handed_over_is_not_predicted_to_race() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut jobs: Vec<(Jdk, PathBuf, &str, String)> = Vec::new();
    for jdk in tested_jdks() {
        for (folder, program, release) in [("handovers", "HandOver", 17), ("handovers21", "HandOver21", 21)] {
            if jdk.release < release {
                continue;
            }
            let classes = compiled(&jdk, folder, release);
            let path = root().join(format!("subjects/{folder}/{program}.java"));
            let found = ways(&std::fs::read_to_string(path).expect("the source is there"));
            assert!(found.len() > 5, "{program} has {} ways", found.len());
            jobs.extend(
                found
                    .into_iter()
                    .map(|way| (jdk.clone(), classes.clone(), program, way)),
            );
        }
    }
    each(&jobs, |(jdk, classes, program, way)| {
        let trace = dir.path().join(format!("{}-{way}.ravel", jdk.release));
        let recorded = run(
            ravel()
                .args(["record", "-o"])
                .arg(&trace)
                .arg("--")
                .arg(jdk.tool("java"))
                .arg("-cp")
                .arg(classes)
                .args([program, way.as_str()]),
            LIMIT,
        );
        let said = || String::from_utf8_lossy(&recorded.stderr).into_owned();
        if !recorded.status.success() {
            return Err(format!("{way} on JDK {}: {}", jdk.release, said()));
        }
        let checked = run(ravel().args(["check", "--format", "json"]).arg(&trace), LIMIT);
        let report: serde_json::Value =
            serde_json::from_slice(&checked.stdout).map_err(|error| format!("{way}: no report: {error}"))?;
        match report["findings"].as_array() {
            Some(findings) if findings.is_empty() => Ok(()),
            findings => Err(format!("{way} on JDK {}: {findings:?}", jdk.release)),
        }
    });
}
