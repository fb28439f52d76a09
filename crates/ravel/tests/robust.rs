//! The program comes first: another agent that changes classes, an error inside Ravel's agent and any number of threads leave it as
//! it is.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use crate::common::{Jdk, SECOND_JDK, compile_some, each, ravel, root, run, skip, tested_jdks};

const LIMIT: Duration = Duration::from_secs(120);

fn java(name: &str) -> PathBuf {
    root().join("crates/ravel/tests/java").join(name)
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The variables of what is found in a trace.
fn variables(trace: &Path) -> String {
    let checked = run(ravel().args(["check", "--all", "--format", "json"]).arg(trace), LIMIT);
    let report: serde_json::Value = serde_json::from_slice(&checked.stdout).expect("a report");
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    findings
        .iter()
        .map(|finding| finding["variables"].to_string())
        .collect()
}

/// An agent that redefines and retransforms a class of the program while it is recorded.
#[test]
fn a_class_that_another_agent_redefines_stays_recorded() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    each(&tested_jdks(), |jdk| {
        let classes = dir.path().join(jdk.release.to_string());
        let sources = ["Redefiner", "Redefined", "Gauge"].map(|name| java(&format!("redefine/{name}.java")));
        compile_some(jdk, &sources, &classes);
        // The other version of the class.
        let next = classes.join("next");
        std::fs::create_dir_all(&next).expect("a directory");
        let text = std::fs::read_to_string(&sources[2]).expect("the source");
        std::fs::write(next.join("Gauge.java"), text.replace("return 1", "return 2")).expect("written");
        compile_some(jdk, &[next.join("Gauge.java")], &next);
        let manifest = classes.join("manifest");
        let lines = "Premain-Class: Redefiner\nCan-Redefine-Classes: true\nCan-Retransform-Classes: true\n";
        std::fs::write(&manifest, lines).expect("written");
        let jar = classes.join("redefiner.jar");
        let packed = run(
            Command::new(jdk.tool("jar"))
                .args(["--create", "--manifest"])
                .arg(&manifest)
                .arg("--file")
                .arg(&jar)
                .arg("-C")
                .arg(&classes)
                .arg("Redefiner.class"),
            LIMIT,
        );
        assert!(packed.status.success(), "{}", words(&packed));
        let program = |command: &mut Command| {
            command
                .arg(format!("-javaagent:{}", jar.display()))
                .arg("-cp")
                .arg(&classes)
                .arg("Redefined")
                .arg(next.join("Gauge.class"));
            run(command, LIMIT)
        };
        let plain = program(&mut Command::new(jdk.tool("java")));
        assert!(plain.status.success(), "{}", words(&plain));
        let trace = classes.join("t.ravel");
        let recorded = program(
            ravel()
                .args(["record", "-o"])
                .arg(&trace)
                .arg("--")
                .arg(jdk.tool("java")),
        );
        if !recorded.status.success() || recorded.stdout != plain.stdout {
            return Err(format!("JDK {}: {}", jdk.release, words(&recorded)));
        }
        match variables(&trace) {
            found if found.contains("Gauge.reads") => Ok(()),
            found => Err(format!("JDK {}: {found}", jdk.release)),
        }
    });
}

/// The agent library, as `ravel` unpacks it.
fn library(jdk: &Jdk, folder: &Path) -> PathBuf {
    let unpacked = run(
        ravel()
            .env("RAVEL_CACHE", folder)
            .args(["record", "-o"])
            .arg(folder.join("version.ravel"))
            .arg("--")
            .arg(jdk.tool("java"))
            .arg("-version"),
        LIMIT,
    );
    let files = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("can be listed");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    };
    let mut found = files(folder);
    while let Some(path) = found.pop() {
        if path.extension().is_some_and(|end| end == "so") {
            return path;
        }
        if path.is_dir() {
            found.extend(files(&path));
        }
    }
    panic!("no agent library in {}: {}", folder.display(), words(&unpacked));
}

/// From its call of some number on, every entry of the agent panics. The program must not notice.
#[test]
fn an_error_in_the_agent_leaves_the_program_alone() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut jobs = Vec::new();
    for jdk in tested_jdks() {
        let classes = dir.path().join(jdk.release.to_string());
        compile_some(&jdk, &[java("ManyThreads.java")], &classes);
        let library = library(&jdk, &classes);
        let failing = [0, 3, 30, 200];
        jobs.extend(failing.map(|number| (jdk.clone(), classes.clone(), library.clone(), number)));
    }
    each(&jobs, |(jdk, classes, library, number)| {
        let trace = classes.join(format!("fail-{number}.ravel"));
        let options = format!("out={},fail={number}", trace.display());
        let output = run(
            Command::new(jdk.tool("java"))
                .arg(format!("-agentpath:{}={options}", library.display()))
                .arg("-cp")
                .arg(classes)
                .args(["ManyThreads", "100", "10", "platform"]),
            LIMIT,
        );
        let said = words(&output);
        if output.status.success() && output.stdout == b"true\n" && said.contains("ravel: internal error") {
            return Ok(());
        }
        Err(format!(
            "JDK {}, call {number}: {:?}, {}\n{said}",
            jdk.release,
            output.status,
            String::from_utf8_lossy(&output.stdout)
        ))
    });
}

/// Memory of threads that have ended is used again: 15,000 blocks that are not would be 230 MB.
#[test]
fn threads_that_have_ended_cost_no_memory() {
    let Some(jdk) = tested_jdks().into_iter().find(|jdk| jdk.release >= 21) else {
        skip(SECOND_JDK, "virtual threads");
        return;
    };
    let dir = tempfile::tempdir().expect("a temporary directory");
    compile_some(&jdk, &[java("ManyThreads.java")], dir.path());
    let trace = dir.path().join("t.ravel");
    let recorded = run(
        ravel()
            .args(["record", "-o"])
            .arg(&trace)
            .arg("--")
            .arg(jdk.tool("java"))
            .args(["-Xmx64m", "-XX:+UseSerialGC", "-cp"])
            .arg(dir.path())
            .args(["ManyThreads", "15000", "1000", "virtual"]),
        LIMIT,
    );
    let said = words(&recorded);
    assert!(recorded.status.success() && recorded.stdout == b"true\n", "{said}");
    let megabytes: u64 = said
        .lines()
        .find_map(|line| line.strip_prefix("megabytes "))
        .and_then(|number| number.parse().ok())
        .expect("the program says how much memory it had");
    assert!(megabytes < 240, "{megabytes} MB");
    assert!(
        variables(&trace).contains("Cell.value"),
        "the race of the last two is found"
    );
}
