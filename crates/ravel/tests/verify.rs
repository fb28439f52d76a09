//! Instrumented classes of the JDK link, and the JVM's verifier takes them: a sample of java.base always, all of it when
//! asked for (`--ignored`).

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::common::{Jdk, root, run, tested_jdks};
use ravel_trace::Source;
use ravel_trace::reader::{ReadOptions, Reader};

const LIMIT: Duration = Duration::from_secs(600);

/// What is inserted into the JDK's classes.
#[derive(Clone, Copy, Debug)]
enum Hooks {
    /// What every recording inserts: models and collections.
    AsRecorded,
    /// Everything that application classes get.
    Everything,
    /// The same, with final fields.
    EverythingAndFinal,
}

#[test]
fn a_sample_of_java_base_links_when_instrumented() {
    for jdk in tested_jdks() {
        for (hooks, every) in [(Hooks::Everything, 20), (Hooks::AsRecorded, 20)] {
            verify(&jdk, hooks, every);
        }
    }
}

#[test]
#[ignore = "minutes: part of make realworld"]
fn all_of_java_base_links_when_instrumented() {
    for jdk in tested_jdks() {
        for hooks in [Hooks::Everything, Hooks::EverythingAndFinal, Hooks::AsRecorded] {
            verify(&jdk, hooks, 1);
        }
    }
}

fn verify(jdk: &Jdk, hooks: Hooks, every: usize) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    compile(jdk, dir.path());
    let trace = dir.path().join("t.ravel");
    let library = ravel_prove::agent_library::unpack().expect("the agent");
    let mut agent = format!("-agentpath:{}=out={}", library.display(), trace.display());
    agent.push_str(match hooks {
        Hooks::AsRecorded => "",
        Hooks::Everything => ",everything",
        Hooks::EverythingAndFinal => ",everything,keep-final",
    });
    let output = run(
        Command::new(jdk.tool("java"))
            .arg(agent)
            .args(["-Xshare:off", "-Xverify:all", "-cp"])
            .arg(dir.path())
            .args(["LinkAll", &every.to_string()]),
        LIMIT,
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let what = format!("{hooks:?} on JDK {}", jdk.release);
    assert!(output.status.success(), "{what}: {}\n{text}{errors}", output.status);
    assert!(
        text.contains("control: refused"),
        "{what}: the JVM verifies nothing\n{text}"
    );
    assert!(!text.contains("failed: "), "{what}:\n{text}");
    let linked: usize = text
        .lines()
        .find_map(|line| line.strip_prefix("linked: "))
        .and_then(|count| count.parse().ok())
        .unwrap_or_else(|| panic!("{what}: no count\n{text}"));
    assert!(linked >= 6000 / every, "{what}: only {linked} classes");
    report(&what, linked, &trace);
}

/// The agent must have changed what was linked.
fn report(what: &str, linked: usize, trace: &Path) {
    let mut reader = Reader::open(trace, ReadOptions::default()).expect("the trace can be read");
    while reader.next_event().expect("the trace can be read").is_some() {}
    let footer = reader.footer().expect("the trace was closed");
    let sites = footer
        .counts
        .iter()
        .find(|(name, _)| name == "sites")
        .map_or(0, |(_, count)| *count);
    println!(
        "{what}: {linked} classes linked; {} instrumented, {sites} sites, methods left alone: {:?}",
        footer.classes_instrumented, footer.methods_left_alone
    );
    assert!(footer.classes_failed.is_empty(), "{what}: {:?}", footer.classes_failed);
    if what.starts_with("Everything") {
        assert!(
            footer.classes_instrumented >= linked as u64,
            "{what}: {} instrumented",
            footer.classes_instrumented
        );
    }
}

fn compile(jdk: &Jdk, to: &Path) {
    let output = Command::new(jdk.tool("javac"))
        .arg("-d")
        .arg(to)
        .arg(root().join("crates/ravel/tests/java/LinkAll.java"))
        .output()
        .expect("javac runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
