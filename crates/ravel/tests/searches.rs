//! Exploring: the subjects in `subjects/searches` fail only in orders that a recorded run does not suggest. Each is found by runs inside
//! one JVM, repeated in a fresh one and shown; the corrected twins stay silent.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use crate::common::{Jdk, comment, compiled, each, in_turn, ravel, root, run, tested_jdks};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(240);

/// The subjects, compiled by the oldest JDK.
fn classes() -> PathBuf {
    compiled(&tested_jdks()[0], "searches", 17)
}

/// What a subject states of itself.
fn stated(name: &str, key: &str) -> String {
    let path = root().join(format!("subjects/searches/{name}.java"));
    let source = std::fs::read_to_string(path).expect("a subject can be read");
    let lines = comment(&source, "failure").unwrap_or_default();
    let line = lines.iter().find_map(|line| line.strip_prefix(key));
    line.unwrap_or_default().trim_start_matches(':').trim().to_string()
}

/// Only the search: what the recorded run suggests is not forced in other orders.
fn job(jdk: &Jdk, directory: &Path, options: &[&str], program: &str) -> (Output, Vec<Value>) {
    let mut command: Command = ravel();
    command
        .current_dir(directory)
        .args([
            "run",
            "--orders",
            "0",
            "--budget",
            "200",
            "-o",
            "t.ravel",
            "--out",
            "json=t.json",
        ])
        .args(options)
        .arg("--")
        .arg(jdk.tool("java"))
        .arg("-cp")
        .arg(classes())
        .arg(program);
    let output = run(&mut command, LIMIT);
    let text = std::fs::read_to_string(directory.join("t.json")).unwrap_or_default();
    let report: Value = serde_json::from_str(&text).unwrap_or_default();
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    let shown = findings
        .into_iter()
        .filter(|finding| finding["shown"] == true)
        .collect();
    (output, shown)
}

fn words(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_failure_that_no_recorded_run_suggests_is_found_and_repeated() {
    each(
        &in_turn([
            "IfBuffer",
            "HiddenBranch",
            "WrongWaiter",
            "AbaStack",
            "TryLockDropped",
            "PermitsAsked",
            "TimedTry",
            "JoinTimedOut",
            "TimedUnlock",
            "PartialReport",
            "InitialisersCross",
        ]),
        |(jdk, name)| {
            let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
            let (output, shown) = job(jdk, directory.path(), &[], name);
            let is_it = |finding: &Value| finding["outcome"]["kind"] == stated(name, "outcome");
            match output.status.code() {
                Some(1) if shown.iter().any(is_it) => Ok(()),
                _ => Err(format!("{name} on JDK {}: {}", jdk.release, words(&output))),
            }
        },
    );
}

/// The trace of an explored run serves to force its findings: its threads have passed the same points as they pass without the scheduler.
#[test]
fn what_an_explored_order_shows_is_forced_though_threads_sleep_on_the_way() {
    each(&in_turn(["LateJoiner"]), |(jdk, name)| {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (output, shown) = job(jdk, directory.path(), &[], name);
        let is_it = |finding: &Value| {
            finding["rule"] == stated(name, "rule")
                && finding["evidence"] == "harmful"
                && finding["outcome"]["kind"] == stated(name, "outcome")
        };
        match output.status.code() {
            Some(1) if shown.len() == 1 && shown.iter().any(is_it) => Ok(()),
            _ => Err(format!("{name} on JDK {}: {}", jdk.release, words(&output))),
        }
    });
}

#[test]
fn corrected_programs_stay_silent() {
    each(
        &in_turn([
            "IfBufferFixed",
            "LateJoinerFixed",
            "TimedTryFixed",
            "JoinTimedOutFixed",
            "TimedUnlockFixed",
            "QuietShutdownFixed",
            "LockedLateFixed",
            "ForkedTallyFixed",
            "PartialReportFixed",
            "InitialiserLocksFixed",
        ]),
        |(jdk, name)| {
            let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
            let (output, shown) = job(jdk, directory.path(), &[], name);
            let text = words(&output);
            // Lines are as wide as the terminal.
            let told: Vec<&str> = text.split_whitespace().collect();
            let explored = told.join(" ").contains("in one JVM");
            match output.status.code() {
                Some(0) if shown.is_empty() && explored => Ok(()),
                _ => Err(format!("{name} on JDK {}: {}", jdk.release, words(&output))),
            }
        },
    );
}
