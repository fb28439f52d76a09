//! What goes wrong in a run is reported: the subjects in `subjects/failures` through the whole job, with their corrected twins, and
//! programs that look as if they stood still but do not.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use crate::common::{Jdk, comment, compiled, each, in_turn, ravel, root, run, sources, tested_jdks};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(240);

/// The subjects, compiled by the oldest JDK.
fn classes() -> PathBuf {
    compiled(&tested_jdks()[0], "failures", 17)
}

fn source(name: &str) -> String {
    let path = root().join(format!("subjects/failures/{name}.java"));
    std::fs::read_to_string(path).expect("a subject can be read")
}

/// Names of the subjects whose first comment begins like this.
fn named(begin: &str) -> Vec<String> {
    let names = sources("failures")
        .into_iter()
        .map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    names.filter(|name| source(name).starts_with(begin)).collect()
}

/// The whole job in a directory of its own, in which it and the program work.
fn job(jdk: &Jdk, directory: &Path, options: &[&str], program: &str) -> Command {
    job_of(&classes(), jdk, directory, options, program)
}

fn job_of(classes: &Path, jdk: &Jdk, directory: &Path, options: &[&str], program: &str) -> Command {
    let mut command = ravel();
    command
        .current_dir(directory)
        .args(["run", "-o", "t.ravel", "--out", "json=t.json"])
        .args(options);
    if !options.contains(&"--budget") {
        command.args(["--budget", "60"]);
    }
    command
        .arg("--")
        .arg(jdk.tool("java"))
        .arg("-cp")
        .arg(classes)
        .arg(program);
    command
}

fn shown(directory: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(directory.join("t.json")).unwrap_or_default();
    let report: Value = serde_json::from_str(&text).unwrap_or_default();
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    findings
        .into_iter()
        .filter(|finding| finding["shown"] == true)
        .collect()
}

fn words(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr))
}

#[test]
fn what_goes_wrong_is_reported_once_with_its_place() {
    each(&in_turn(named("/* failure:")), |(jdk, name)| {
        let stated = comment(&source(name), "failure").unwrap_or_default();
        let value = |key: &str| {
            let line = stated.iter().find_map(|line| line.strip_prefix(key));
            line.unwrap_or_default().trim().to_string()
        };
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let output = run(&mut job(jdk, directory.path(), &[], name), LIMIT);
        let found = shown(directory.path());
        let is_it = |finding: &Value| {
            let place = |step: &Value| format!("{}:{}", step["file"].as_str().unwrap_or_default(), step["line"]);
            let steps = finding["steps"].as_array().cloned().unwrap_or_default();
            finding["rule"] == value("rule")
                && finding["outcome"]["kind"] == value("outcome")
                && steps.iter().any(|step| place(step) == value("place"))
                && steps
                    .iter()
                    .all(|step| step["stack"].as_array().is_some_and(|stack| !stack.is_empty()))
        };
        match (output.status.code(), found.as_slice()) {
            (Some(1), [only]) if is_it(only) => Ok(()),
            _ => Err(format!("{name} on JDK {}: {}", jdk.release, words(&output))),
        }
    });
}

#[test]
fn virtual_threads_that_stand_still_are_reported() {
    let jdks: Vec<Jdk> = tested_jdks().into_iter().filter(|jdk| jdk.release >= 21).collect();
    let programs = jdks
        .iter()
        .flat_map(|jdk| [(jdk, "VirtualWaits", 1), (jdk, "VirtualWaitsFixed", 0)]);
    each(&programs.collect::<Vec<_>>(), |(jdk, name, code)| {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let classes = compiled(jdk, "failures21", 21);
        let output = run(&mut job_of(&classes, jdk, directory.path(), &[], name), LIMIT);
        let found = shown(directory.path());
        let hangs =
            |finding: &Value| finding["outcome"]["kind"] == "hang" && words(&output).contains("VirtualWaits.java:21");
        match output.status.code() == Some(*code) && found.len() == *code as usize && found.iter().all(hangs) {
            true => Ok(()),
            false => Err(format!("{name} on JDK {}: {}", jdk.release, words(&output))),
        }
    });
}

#[test]
fn corrected_and_waiting_programs_show_nothing() {
    let mut names = named("/* fixed:");
    names.extend(named("/* silent"));
    names.retain(|name| name != "WaitsForInput");
    each(&in_turn(names), |(jdk, name)| {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let options: &[&str] = if source(name).starts_with("/* silent") {
            &["--orders", "0"]
        } else {
            &[]
        };
        let output = run(&mut job(jdk, directory.path(), options, name), LIMIT);
        let ended = String::from_utf8_lossy(&output.stderr).contains("exit status: 98");
        match output.status.code() {
            Some(0) if shown(directory.path()).is_empty() && !ended => Ok(()),
            _ => Err(format!("{name} on JDK {}: {}", jdk.release, words(&output))),
        }
    });
}

#[test]
fn a_program_that_waits_for_input_does_not_stand_still() {
    each(&tested_jdks(), |jdk| {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let job = job(jdk, directory.path(), &["--orders", "0"], "WaitsForInput");
        // Input that ends after seven seconds.
        let mut late = Command::new("sh");
        late.current_dir(directory.path())
            .args(["-c", r#"sleep 7 | "$@""#, "sh"])
            .arg(job.get_program())
            .args(job.get_args());
        let output = run(&mut late, LIMIT);
        match words(&output).contains("done") && output.status.code() == Some(0) {
            true => Ok(()),
            false => Err(format!("JDK {}: {}", jdk.release, words(&output))),
        }
    });
}

#[test]
fn a_program_that_does_not_end_is_ended_and_analysed() {
    let mut names = named("/* endless");
    names.extend(named("/* missed"));
    each(&in_turn(names), |(jdk, name)| {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let options = ["--run-limit", "3", "--budget", "20", "--orders", "0"];
        let mut command = job(jdk, directory.path(), &options, name);
        let output = run(&mut command, LIMIT);
        let told = words(&output);
        let analysed = directory.path().join("t.json").exists() && output.status.code() == Some(0);
        match analysed && told.contains("did not end within 3 s") {
            true => Ok(()),
            false => Err(format!("{name} on JDK {}: {told}", jdk.release)),
        }
    });
}
