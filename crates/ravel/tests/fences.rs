//! On processors that reorder stores and loads the agent's Java classes use fences, and inserted code shows the words of new objects to
//! other threads. Here they are switched on where they are not needed: the code must verify, and record the same.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::common::{Jdk, compiled, run, tested_jdks};
use ravel_trace::Source;
use ravel_trace::reader::{ReadOptions, Reader};

const LIMIT: Duration = Duration::from_secs(120);

/// What threads do in the same way in each run: fields, static ones, volatile ones, arrays, atomics, handles, constructors, clones.
const SUBJECTS: [&str; 9] = [
    "ArrayInts",
    "ArrayReferences",
    "AtomicArrays",
    "AtomicIntegers",
    "Cloning",
    "Constructors",
    "FieldUpdaters",
    "Statics",
    "Volatiles",
];

#[test]
fn fences_change_nothing_that_is_recorded() {
    let library = ravel_prove::agent_library::unpack().expect("the agent");
    for jdk in tested_jdks() {
        let classes = compiled(&jdk, "events", 17);
        for subject in SUBJECTS {
            let without = recorded(&jdk, &library, &classes, subject, "");
            let with = recorded(&jdk, &library, &classes, subject, ",fences");
            assert!(!without.is_empty(), "{subject} on JDK {}", jdk.release);
            assert_eq!(with, without, "{subject} on JDK {}", jdk.release);
        }
    }
}

/// What each thread did, apart from the order between threads.
fn recorded(jdk: &Jdk, library: &Path, classes: &Path, subject: &str, option: &str) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let trace = dir.path().join("t.ravel");
    let agent = format!("-agentpath:{}=out={}{option}", library.display(), trace.display());
    let output = run(
        Command::new(jdk.tool("java"))
            .arg(agent)
            .args(["-Xverify:all", "-cp"])
            .arg(classes)
            .arg(subject),
        LIMIT,
    );
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{subject} on JDK {}: {errors}", jdk.release);
    assert!(
        !errors.contains("VerifyError"),
        "{subject} on JDK {}: {errors}",
        jdk.release
    );
    let mut reader = Reader::open(&trace, ReadOptions::default()).expect("a trace");
    let mut events = Vec::new();
    while let Some(event) = reader.next_event().expect("a sound trace") {
        let op = format!("{:?}", event.op);
        // Ids depend on the order between threads.
        let op = op.split([' ', '(']).next().unwrap_or_default();
        events.push(format!("{} {} {op}", event.thread.index(), event.position));
    }
    events.sort();
    events
}
