//! Preview features of the newest JDK behave under the recorder as without it, and order threads as they promise.

use std::process::Command;
use std::time::Duration;

use crate::common::{SECOND_JDK, ravel, root, run, skip, tested_jdks};

const LIMIT: Duration = Duration::from_secs(120);
/// The release whose form of the preview features the program uses.
const RELEASE: u32 = 25;

#[test]
fn structured_task_scopes_scoped_and_stable_values_work_while_they_are_recorded() {
    let Some(jdk) = tested_jdks().into_iter().find(|jdk| jdk.release == RELEASE) else {
        skip(SECOND_JDK, &format!("preview features in the form of JDK {RELEASE}"));
        return;
    };
    let classes = tempfile::tempdir().expect("a temporary directory");
    let compiled = run(
        Command::new(jdk.tool("javac"))
            .args(["--enable-preview", "--release", "25", "-d"])
            .arg(classes.path())
            .arg(root().join("crates/ravel/tests/java/Structured.java")),
        LIMIT,
    );
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let java = |command: &mut Command| {
        let words = ["--enable-preview", "-cp"];
        run(command.args(words).arg(classes.path()).arg("Structured"), LIMIT)
    };
    let plain = java(&mut Command::new(jdk.tool("java")));
    assert!(plain.status.success(), "{}", String::from_utf8_lossy(&plain.stderr));
    let trace = classes.path().join("t.ravel");
    let recorded = java(
        ravel()
            .args(["record", "-o"])
            .arg(&trace)
            .arg("--")
            .arg(jdk.tool("java")),
    );
    let words = String::from_utf8_lossy(&recorded.stderr).into_owned();
    assert!(recorded.status.success(), "{words}");
    assert_eq!(plain.stdout, recorded.stdout, "{words}");
    let checked = run(ravel().args(["check", "--all", "--format", "json"]).arg(&trace), LIMIT);
    let report: serde_json::Value = serde_json::from_slice(&checked.stdout).expect("a report");
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(0), "{report}");
}
