//! `ravel attach`: a program that runs is recorded, and goes on as if nothing had been.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Jdk, compile_some, ravel, root, run, tested_jdks};

const LIMIT: Duration = Duration::from_secs(240);

/// The classes of the program, compiled by the oldest JDK.
fn classes(to: &Path) {
    let source = root().join("crates/ravel/tests/java/attach/Served.java");
    compile_some(&tested_jdks()[0], &[source], to);
}

/// A program that runs, and is ended with the test.
struct Served {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Served {
    fn start(jdk: &Jdk, classes: &Path, part: &str, options: &[&str]) -> Served {
        let mut child = Command::new(jdk.tool("java"))
            .args(options)
            .arg("-cp")
            .arg(classes)
            .args(["Served", part])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("java runs");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("output");
        assert_eq!(line, "ready\n", "{part}");
        Served { child, output }
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// Ends its input; it must end by itself, as it would have without Ravel.
    fn end(mut self) {
        drop(self.child.stdin.take());
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("can be asked") {
                break status;
            }
            assert!(begun.elapsed() < LIMIT, "the program did not end");
            std::thread::sleep(Duration::from_millis(20));
        };
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.output, &mut rest).expect("output");
        assert_eq!((status.code(), rest.as_str()), (Some(7), "counted true\n"));
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.pid()]).status();
        assert!(status.expect("kill runs").success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What an attach came to: exit code, findings, what it said.
struct Attached {
    code: Option<i32>,
    findings: Vec<Value>,
    said: String,
}

impl Attached {
    fn races(&self) -> Vec<String> {
        let races = self.findings.iter().filter(|finding| finding["shown"] == true);
        races.map(|finding| finding["variables"].to_string()).collect()
    }
}

fn attach(pid: &str, time: &str, trace: &Path) -> Attached {
    let output = run(
        ravel()
            .args(["attach", pid, "--for", time, "--format", "json", "-o"])
            .arg(trace),
        LIMIT,
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    Attached {
        code: output.status.code(),
        findings: report["findings"].as_array().cloned().unwrap_or_default(),
        said: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a part of the program on each JDK, attaches to it, and lets it end.
fn each_jdk(part: &str, time: &str, test: impl Fn(&Jdk, &Attached)) {
    let folder = tempfile::tempdir().expect("a folder");
    classes(folder.path());
    for jdk in tested_jdks() {
        let served = Served::start(&jdk, folder.path(), part, &[]);
        let attached = attach(&served.pid(), time, &folder.path().join("t.ravel"));
        test(&jdk, &attached);
        served.end();
    }
}

fn must_find(part: &str, time: &str, variable: &str) {
    each_jdk(part, time, |jdk, attached| {
        let (races, said) = (attached.races(), &attached.said);
        assert_eq!(attached.code, Some(1), "{part}, JDK {}: {said}", jdk.release);
        assert!(races.iter().any(|race| race.contains(variable)), "{races:?}: {said}");
        assert!(
            attached
                .findings
                .iter()
                .all(|finding| finding["evidence"] == "witnessed")
        );
        assert!(said.contains("detached after"), "{said}");
    });
}

fn must_be_silent(part: &str, time: &str) {
    each_jdk(part, time, |jdk, attached| {
        let (races, said) = (attached.races(), &attached.said);
        assert_eq!(
            (attached.code, races.len()),
            (Some(0), 0),
            "{part}, JDK {}: {races:?}\n{said}",
            jdk.release
        );
        assert!(said.contains("detached after"), "{said}");
    });
}

#[test]
fn a_race_of_a_running_program_is_observed() {
    must_find("race", "3s", "Served$Counter.count");
}

#[test]
fn a_race_of_the_tasks_of_a_pool_is_observed() {
    must_find("pool-race", "4s", "Served$Counter.count");
}

#[test]
fn its_correct_twins_are_silent() {
    must_be_silent("safe", "3s");
    must_be_silent("pool-safe", "3s");
}

/// Locks that were taken before Ravel came, in code that has no hooks until it returns.
#[test]
fn locks_that_are_held_already_protect() {
    must_be_silent("holds", "3s");
    must_be_silent("explicit", "3s");
}

/// Threads that wait in a queue, or by `wait`, since before Ravel came; and those that look at a volatile field in a loop that has no hooks.
#[test]
fn what_older_code_orders_is_no_race() {
    must_be_silent("passes", "3s");
    must_be_silent("flags", "3s");
}

#[test]
fn a_program_can_be_attached_to_again() {
    let folder = tempfile::tempdir().expect("a folder");
    classes(folder.path());
    for jdk in tested_jdks() {
        let served = Served::start(&jdk, folder.path(), "race", &[]);
        for _ in 0..3 {
            let attached = attach(&served.pid(), "2s", &folder.path().join("t.ravel"));
            assert_eq!(
                (attached.code, attached.races().len()),
                (Some(1), 1),
                "{}",
                attached.said
            );
        }
        served.end();
    }
}

/// Starts `ravel attach` and waits until it records.
fn recording(pid: &str, folder: &Path, time: &[&str]) -> Child {
    let (talk, trace) = (folder.join("talk"), folder.join("first.ravel"));
    std::fs::create_dir_all(&talk).expect("a folder");
    let child = ravel()
        .args(["attach", pid])
        .args(time)
        .args(["--format", "json", "-o"])
        .arg(trace)
        .env("TMPDIR", &talk)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ravel runs");
    let records = || {
        let folders = std::fs::read_dir(&talk).expect("a folder").flatten();
        let notes = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("notes"));
        folders
            .map(notes)
            .any(|notes| notes.is_ok_and(|notes| notes.contains("recording")))
    };
    let begun = Instant::now();
    while !records() {
        assert!(begun.elapsed() < LIMIT, "it does not begin to record");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

/// While one records, another is refused; an interrupt ends the recording early, and the report comes all the same.
#[test]
fn one_recording_at_a_time_until_an_interrupt() {
    let folder = tempfile::tempdir().expect("a folder");
    classes(folder.path());
    for jdk in tested_jdks() {
        let served = Served::start(&jdk, folder.path(), "race", &[]);
        let first = recording(&served.pid(), folder.path(), &[]);
        let second = attach(&served.pid(), "1s", &folder.path().join("second.ravel"));
        assert_eq!(second.code, Some(2), "{}", second.said);
        assert!(
            second.said.contains("another `ravel attach` records this JVM"),
            "{}",
            second.said
        );
        let interrupted = Command::new("kill").args(["-INT", &first.id().to_string()]).status();
        assert!(interrupted.expect("kill runs").success());
        let output = first.wait_with_output().expect("ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("detached after"), "{said}");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
        served.end();
    }
}

#[test]
fn what_cannot_be_attached_to_is_said_with_a_way_out() {
    let folder = tempfile::tempdir().expect("a folder");
    classes(folder.path());
    let trace = folder.path().join("t.ravel");
    let refused = |pid: &str, words: &str| {
        let attached = attach(pid, "1s", &trace);
        assert_eq!(attached.code, Some(2), "{}", attached.said);
        assert!(attached.said.contains(words), "{words}: {}", attached.said);
    };
    refused("4194303", "no process 4194303");
    refused(&std::process::id().to_string(), "is not a JVM");
    for jdk in tested_jdks() {
        for (option, words) in [
            ("-XX:+DisableAttachMechanism", "start it without that option"),
            ("-Xrs", "start it without -Xrs"),
            ("-XX:-EnableDynamicAgentLoading", "-XX:+EnableDynamicAgentLoading"),
        ] {
            let served = Served::start(&jdk, folder.path(), "safe", &[option]);
            refused(&served.pid(), words);
            served.end();
        }
        let served = Served::start(&jdk, folder.path(), "safe", &[]);
        served.signal("-STOP");
        refused(&served.pid(), "kill -CONT");
        served.signal("-CONT");
        served.end();
    }
}

/// A JVM that is killed or asked to end while it is recorded: what was written until then is reported.
#[test]
fn a_jvm_may_end_meanwhile() {
    let folder = tempfile::tempdir().expect("a folder");
    classes(folder.path());
    for (jdk, signal) in tested_jdks().iter().zip(["-KILL", "-TERM"]) {
        let served = Served::start(jdk, folder.path(), "race", &[]);
        let recording = recording(&served.pid(), folder.path(), &["--for", "200s"]);
        served.signal(signal);
        let output = recording.wait_with_output().expect("ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            said.contains("ended while it was recorded") || said.contains("detached after"),
            "{said}"
        );
        assert!(
            matches!(output.status.code(), Some(0 | 1 | 3)),
            "{:?} {said}",
            output.status
        );
    }
}

/// The command line is killed: the agent notices, and leaves the program alone, so that another can come.
#[test]
fn the_agent_leaves_when_the_command_line_is_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    classes(folder.path());
    let served = Served::start(&tested_jdks()[0], folder.path(), "race", &[]);
    let mut first = recording(&served.pid(), folder.path(), &[]);
    first.kill().expect("can be killed");
    first.wait().expect("ends");
    let begun = Instant::now();
    loop {
        let attached = attach(&served.pid(), "2s", &folder.path().join("second.ravel"));
        if attached.said.contains("detached after") {
            break;
        }
        assert!(attached.said.contains("another `ravel attach`"), "{}", attached.said);
        assert!(begun.elapsed() < LIMIT, "the first does not leave");
    }
    served.end();
}

/// A recording cannot be forced, and says what would be.
#[test]
fn its_trace_is_analysed_again_and_not_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    classes(folder.path());
    let trace = folder.path().join("t.ravel");
    let jdk = &tested_jdks()[0];
    let mut served = Served::start(jdk, folder.path(), "race", &[]);
    let attached = attach(&served.pid(), "2s", &trace);
    assert_eq!(attached.races().len(), 1, "{}", attached.said);
    let _ = served.child.stdin.as_mut().map(|input| input.write_all(b"\n"));
    served.end();
    let again = run(ravel().arg("check").arg(&trace).args(["--format", "json"]), LIMIT);
    let report: Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!(
        report["findings"].as_array().map(Vec::len),
        Some(attached.findings.len())
    );
    let replayed = run(ravel().arg("replay").arg(&trace), LIMIT);
    assert_eq!(replayed.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&replayed.stderr).contains("`ravel run` starts the program"));
}
