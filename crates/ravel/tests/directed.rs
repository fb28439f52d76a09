//! Directed runs, on a server whose runs never repeat themselves: sockets, a pool, timestamps and random input.

use std::path::Path;
use std::time::Duration;

use crate::common::{Jdk, compiled, ravel, run, tested_jdks};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(300);

/// The findings of `ravel run` on a subject, within so many seconds after the recording.
fn findings(jdk: &Jdk, classes: &Path, program: &str, budget: u32) -> Vec<Value> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let json = directory.path().join("findings.json");
    let output = run(
        ravel()
            .current_dir(directory.path())
            .args(["run", "--budget", &budget.to_string(), "--orders", "0", "--out"])
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

/// Whether a subject has one of these findings, shown: a rule and its evidence each.
fn is_proven(found: &[Value], wanted: &[(&str, &str)]) -> bool {
    let is_wanted = |finding: &Value| {
        let mut wanted = wanted.iter();
        wanted.any(|(rule, evidence)| finding["rule"] == *rule && finding["evidence"] == *evidence)
    };
    found
        .iter()
        .any(|finding| finding["shown"] == true && is_wanted(finding))
}

/// A bug is proven, as one of these rules and evidences, and its corrected form shows nothing.
fn prove(subject: &str, wanted: &[(&str, &str)]) {
    let jdk = &tested_jdks()[0];
    let classes = compiled(jdk, "servers", 17);
    let found = findings(jdk, &classes, subject, 40);
    assert!(is_proven(&found, wanted), "{subject}: {found:#?}");
    let corrected = findings(jdk, &classes, &format!("{subject}Fixed"), 8);
    let shown: Vec<&Value> = corrected.iter().filter(|finding| finding["shown"] == true).collect();
    assert!(shown.is_empty(), "{subject}Fixed: {shown:#?}");
}

#[test]
fn a_write_that_the_recording_leaves_out_is_in_a_race() {
    prove(
        "TimerBeforeField",
        &[("data-race", "confirmed"), ("data-race", "harmful")],
    );
}

#[test]
fn a_signal_is_lost_beside_a_queue_without_locks() {
    // The search may come to the exit code first, on a busy machine: then that order is the proof.
    let wanted = [("naked-notify", "harmful"), ("failure", "confirmed")];
    prove("SignalBesideQueue", &wanted);
}

#[test]
#[ignore = "takes a minute: part of make evidence"]
fn an_entry_of_a_register_of_another_one_is_looked_up_and_then_put() {
    prove("LookUpThenPut", &[("check-then-act", "harmful")]);
}

#[test]
fn a_program_that_finds_its_own_file_is_run_again_without_it() {
    prove("OpensOnce", &[("atomicity", "harmful")]);
}

#[test]
fn a_race_of_a_server_on_sockets_happens_and_the_corrected_server_is_silent() {
    // The other JDK's turn comes in `make realworld`: a run of each takes a minute.
    let jdk = &tested_jdks()[0];
    let classes = compiled(jdk, "servers", 17);
    let happened = |finding: &&Value| matches!(finding["evidence"].as_str(), Some("confirmed" | "harmful"));
    let names = |finding: &&Value, variable: &str| {
        let variables = finding["variables"].as_array().expect("a list");
        variables.iter().any(|name| name == variable)
    };
    let bugs = findings(jdk, &classes, "OrderServer", 40);
    let found = bugs
        .iter()
        .filter(happened)
        .any(|finding| names(&finding, "OrderServer.served"));
    assert!(found, "{bugs:#?}");
    let corrected = findings(jdk, &classes, "OrderServerFixed", 40);
    let shown: Vec<&Value> = corrected.iter().filter(|finding| finding["shown"] == true).collect();
    assert!(shown.is_empty(), "{shown:#?}");
}
