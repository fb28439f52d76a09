//! `ravel demo` as its users see it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::{ravel, run, tested_jdks};

const LIMIT: Duration = Duration::from_secs(240);

fn demo(java_home: &Path, temporary: &Path, words: &[&str]) -> Output {
    let mut command = ravel();
    command
        .arg("demo")
        .args(words)
        .env("JAVA_HOME", java_home)
        .env("TMPDIR", temporary);
    run(&mut command, LIMIT)
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// 0, or 1 if the bug is reported.
fn assert_went_well(output: &Output) {
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", text(output));
}

#[test]
fn it_runs_on_every_jdk_and_leaves_nothing_behind() {
    for jdk in tested_jdks() {
        let temporary = tempfile::tempdir().expect("a directory");
        let output = demo(&jdk.home, temporary.path(), &[]);
        assert_went_well(&output);
        let said = text(&output);
        assert!(said.contains("\ntickets left: 0\n"), "{said}");
        assert!(
            said.contains("events of 3 threads, which share 1 memory cell"),
            "{said}"
        );
        assert!(said.contains(&jdk.tool("javac").display().to_string()), "{said}");
        let left: Vec<_> = std::fs::read_dir(temporary.path())
            .expect("a directory")
            .flatten()
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn an_interrupt_ends_it_with_what_is_known() {
    let jdk = tested_jdks().swap_remove(0);
    let temporary = tempfile::tempdir().expect("a directory");
    let mut child = ravel()
        .arg("demo")
        .env("JAVA_HOME", &jdk.home)
        .env("TMPDIR", temporary.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ravel starts");
    let mut said = String::new();
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    for line in lines.by_ref() {
        let line = line.expect("text");
        said.push_str(&line);
        if line.starts_with("4. ") {
            break;
        }
    }
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
    said.extend(lines.map(|line| line.expect("text") + "\n"));
    let output = child.wait_with_output().expect("it ends");
    said.push_str(&text(&output));
    assert_eq!(output.status.code(), Some(143), "{said}");
    for untrue in ["--budget", "cannot read", "\n5. ", "Now your program"] {
        assert!(!said.contains(untrue), "{untrue} in:\n{said}");
    }
    assert!(
        std::fs::read_dir(temporary.path())
            .expect("a directory")
            .next()
            .is_none()
    );
}

#[test]
fn what_it_keeps_can_be_looked_into() {
    let jdk = tested_jdks().swap_remove(0);
    let directory = tempfile::tempdir().expect("a directory");
    let kept = directory.path().join("new/demo");
    let output = demo(&jdk.home, directory.path(), &["--keep", &kept.to_string_lossy()]);
    assert_went_well(&output);
    for file in [
        "src/shop/Shop.java",
        "classes/shop/Shop.class",
        "classes/shop/Tickets.class",
    ] {
        assert!(kept.join(file).is_file(), "{file}");
    }
    let dump = run(ravel().args(["trace", "dump"]).arg(kept.join("demo.ravel")), LIMIT);
    let shown = text(&dump);
    for wanted in ["alice", "bob", "shop.Tickets.take", "shop.Tickets.left of"] {
        assert!(shown.contains(wanted), "no {wanted} in:\n{shown}");
    }
}

#[test]
fn a_place_that_cannot_be_made_is_an_input_error() {
    let jdk = tested_jdks().swap_remove(0);
    let output = demo(&jdk.home, &std::env::temp_dir(), &["--keep", "/proc/demo"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("cannot make /proc/demo"), "{}", text(&output));
}
