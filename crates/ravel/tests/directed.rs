//! Directed runs, on a server whose runs never repeat themselves: sockets, a pool, timestamps and random input.

mod common;

use std::path::Path;
use std::time::Duration;

use common::{Jdk, compile, ravel, run, tested_jdks};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(300);

/// The findings of `ravel run` on a subject.
fn findings(jdk: &Jdk, classes: &Path, program: &str) -> Vec<Value> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let json = directory.path().join("findings.json");
    let output = run(
        ravel()
            .current_dir(directory.path())
            .args(["run", "--budget", "40", "--orders", "0", "--out"])
            .arg(format!("json={}", json.display()))
            .arg("--")
            .arg(jdk.tool("java"))
            .arg("-cp")
            .args([classes, Path::new(program)]),
        LIMIT,
    );
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let text = std::fs::read_to_string(&json).unwrap_or_else(|error| panic!("{error}: {words}"));
    let report: Value = serde_json::from_str(&text).expect("JSON");
    report["findings"].as_array().expect("a list").clone()
}

#[test]
fn a_race_of_a_server_on_sockets_happens_and_the_corrected_server_is_silent() {
    // The other JDK's turn comes in `make realworld`: a run of each takes a minute.
    let jdk = &tested_jdks()[0];
    let classes = tempfile::tempdir().expect("a temporary directory");
    compile(jdk, "servers", 17, classes.path());
    let happened = |finding: &&Value| matches!(finding["evidence"].as_str(), Some("confirmed" | "harmful"));
    let names = |finding: &&Value, variable: &str| {
        let variables = finding["variables"].as_array().expect("a list");
        variables.iter().any(|name| name == variable)
    };
    let bugs = findings(jdk, classes.path(), "OrderServer");
    let found = bugs
        .iter()
        .filter(happened)
        .any(|finding| names(&finding, "OrderServer.served"));
    assert!(found, "{bugs:#?}");
    let corrected = findings(jdk, classes.path(), "OrderServerFixed");
    let shown: Vec<&Value> = corrected.iter().filter(|finding| finding["shown"] == true).collect();
    assert!(shown.is_empty(), "{shown:#?}");
}
