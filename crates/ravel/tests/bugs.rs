//! A sample of the buggy subjects through the whole job, at least one per rule and per construct: each reaches the evidence that its
//! first comment states, and its corrected twin shows nothing.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use ravel_analysis::finding::Rule;

use crate::common::{
    Jdk, OLD_JDKS, SECOND_JDK, comment, compiled, compiled_for_8, each, in_turn, old_jdks, ravel, root, run, skip,
    sources, tested_jdks,
};

const LIMIT: Duration = Duration::from_secs(240);

/// These programs run for a fraction of a second, hundreds of times in all: compiling them well costs more than it saves. Other tests have
/// the JVM as it is.
const SHORT_RUNS: [&str; 2] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/// Constructs of Java, with the buggy subjects that are proven here (one for each, more where they are proven in different ways; `make evidence`
/// has them all) and the subjects of `events` that `subjects.rs` records. Each has
/// at least one of either kind; [`every_subject_has_a_construct`] checks the list against the folders.
const CONSTRUCTS: [(&str, &[&str], &[&str]); 41] = [
    (
        "plain field",
        &["CounterLost", "CutShort"],
        &[
            "Fields",
            "Constructors",
            "Generics",
            "Inheritance",
            "InnerClasses",
            "Records",
            "SharingStarts",
            "Settled",
            "LatePath",
            "BigMethods",
        ],
    ),
    ("static field", &["EarlyTick"], &["Statics", "Enums"]),
    (
        "array",
        &["ArrayTally"],
        &[
            "ArrayBooleans",
            "ArrayBytes",
            "ArrayChars",
            "ArrayCopies",
            "ArrayDoubles",
            "ArrayFloats",
            "ArrayInts",
            "ArrayLongs",
            "ArrayReferences",
            "ArrayShorts",
            "ArraysOfArrays",
            "Cloning",
        ],
    ),
    (
        "class initialisation",
        &["InitTally"],
        &["ClassInitialisation", "FailedInitialisation"],
    ),
    ("several fields", &["NumberRange"], &[]),
    (
        "monitor",
        &["Account", "DeadlockTwo", "DeadlockThree", "OnCall"],
        &[
            "SynchronizedBlocks",
            "SynchronizedMethods",
            "Reentrancy",
            "ExceptionInSynchronized",
        ],
    ),
    (
        "wait and notify",
        &["LostSignal"],
        &["WaitNotify", "WaitNotifyAll", "TimedWait", "InterruptedWait"],
    ),
    (
        "ReentrantLock",
        &["ShelfFull"],
        &["LockBasic", "LockInterruptibly", "LockMisuse", "LockTry"],
    ),
    (
        "ReadWriteLock",
        &["ReadWriteUpgrade"],
        &["ReadWriteLocks", "ReadWriteDowngrade"],
    ),
    (
        "StampedLock",
        &["StampedTwice", "StampedUnvalidated"],
        &["StampedLocks", "StampedConversions"],
    ),
    (
        "Condition",
        &["ConditionTwice"],
        &["Conditions", "ConditionSignalAll", "ConditionTimed"],
    ),
    ("Semaphore", &["SemaphoreTwo", "PermitsReturned"], &["Semaphores"]),
    ("volatile", &["VolatileTasks"], &["Volatiles"]),
    (
        "atomic",
        &["AtomicGetThenSet", "DroppedExchange"],
        &[
            "AtomicArrays",
            "AtomicBooleans",
            "AtomicIntegers",
            "AtomicLongs",
            "AtomicReferences",
            "FieldUpdaters",
            "Adders",
        ],
    ),
    ("VarHandle", &["HandleGetThenSet", "HandlePlainBeside"], &["VarHandles"]),
    ("Unsafe", &["UnsafePlainBeside"], &["UnsafeAccesses"]),
    (
        "concurrent map",
        &["SessionTwice"],
        &[
            "MapConcurrentHashMap",
            "MapConcurrentSkipListMap",
            "MapAtomicUpdates",
            "MapBulk",
        ],
    ),
    (
        "synchronized wrapper",
        &["WrapperCheckThenAct"],
        &["SynchronizedWrapper"],
    ),
    (
        "collection",
        &["HashMapShared"],
        &[
            "SharedArrayList",
            "SharedCollections",
            "SharedHashMap",
            "OldCollections",
            "CopyOnWrite",
        ],
    ),
    (
        "queue",
        &["QueueCapacity"],
        &[
            "QueueArrayBlockingQueue",
            "QueueConcurrentLinkedDeque",
            "QueueConcurrentLinkedQueue",
            "QueueDelay",
            "QueueLinkedBlockingDeque",
            "QueueLinkedBlockingQueue",
            "QueueLinkedTransferQueue",
            "QueuePriorityBlockingQueue",
            "QueueSynchronous",
        ],
    ),
    (
        "executor",
        &["VolatileTasks"],
        &["Executor", "ExecutorBatch", "FutureTasks", "Scheduled", "Timers"],
    ),
    ("ForkJoin", &["ForkJoinTally"], &["ForkJoin", "ParallelStreams"]),
    (
        "CompletableFuture",
        &["CompletableTally"],
        &["CompletableFutures", "CompletableAsync"],
    ),
    ("barrier", &["BarrierRounds"], &["Barriers", "BrokenBarrier", "Phasers"]),
    ("latch", &["EarlyTick"], &["Latches"]),
    ("end of the JVM", &["HookReads"], &["ShutdownHooks"]),
    ("Cleaner", &["CleanerCounts"], &["Cleaners"]),
    (
        "virtual thread",
        &["VirtualTill"],
        &["VirtualThreads", "VirtualBlocking", "VirtualExecutor"],
    ),
    (
        "thread",
        &["Connection", "CounterLost", "JoinedEarly"],
        &[
            "StartJoin",
            "ThreadSubclass",
            "TimedJoin",
            "Daemon",
            "UncaughtException",
        ],
    ),
    ("body of a thread", &["BodySeats", "LatchedCount"], &[]),
    ("value behind a reference", &["BoxedTotal"], &[]),
    ("tool of the JDK", &["BuilderShared"], &["SharedTools"]),
    ("interrupt", &[], &["Interrupts", "InterruptSleep"]),
    ("park", &[], &["Parking"]),
    ("exchanger", &[], &["Exchangers"]),
    ("thread local", &[], &["ThreadLocals"]),
    ("serialization", &[], &["Serialization"]),
    ("exception", &["CutShort"], &["Exceptions"]),
    ("lambda", &["ReferredQueue"], &["Lambdas", "MethodReferences"]),
    ("default method", &[], &["DefaultMethods"]),
    ("switch and varargs", &[], &["VarargsSwitch"]),
];

/// The rules that a run can show, each with a subject of the sample that must show it. [`every_rule_is_proven_somewhere`] checks that each
/// rule is here or in [`RULES_ELSEWHERE`].
const RULES: [(&str, &str); 6] = [
    ("data-race", "Connection"),
    ("atomicity", "AtomicGetThenSet"),
    ("atomic-set", "NumberRange"),
    ("lock-order", "DeadlockTwo"),
    ("naked-notify", "LostSignal"),
    ("unserializable", "OnCall"),
];

/// The other rules: the test that has a bad and a good example of each, and how the test writes the rule. Rules of code need no run;
/// `lock-discipline` has no schedule to force.
const RULES_ELSEWHERE: [(&str, &str, &str); 17] = [
    (
        "lock-discipline",
        "analysis/src/scenarios/declared.rs",
        "[Rule::LockDiscipline]",
    ),
    (
        "failure",
        "ravel/tests/failures.rs",
        "fn what_goes_wrong_is_reported_once_with_its_place",
    ),
    ("lock-pattern", "scan/tests/rules.rs", "found(\"lock-pattern\")"),
    ("guarded-by", "scan/tests/new_rules.rs", "(\"guarded-by\", "),
    (
        "double-checked-locking",
        "scan/tests/rules.rs",
        "found(\"double-checked-locking\")",
    ),
    ("reassigned-lock", "scan/tests/rules.rs", "found(\"reassigned-lock\")"),
    (
        "wait-outside-loop",
        "scan/tests/rules.rs",
        "found(\"wait-outside-loop\")",
    ),
    ("test-lock-assign", "scan/tests/new_rules.rs", "(\"test-lock-assign\", "),
    ("check-then-act", "scan/tests/new_rules.rs", "(\"check-then-act\", "),
    (
        "inconsistent-sync",
        "scan/tests/new_rules.rs",
        "(\"inconsistent-sync\", ",
    ),
    ("two-guards", "scan/tests/new_rules.rs", "(\"two-guards\", "),
    (
        "compound-volatile",
        "scan/tests/new_rules.rs",
        "(\"compound-volatile\", ",
    ),
    ("shared-format", "scan/tests/new_rules.rs", "(\"shared-format\", "),
    (
        "unsafe-publication",
        "scan/tests/new_rules.rs",
        "(\"unsafe-publication\", ",
    ),
    ("unreleased-lock", "scan/tests/new_rules.rs", "(\"unreleased-lock\", "),
    ("nested-wait", "scan/tests/new_rules.rs", "(\"nested-wait\", "),
    ("notify-one", "scan/tests/new_rules.rs", "(\"notify-one\", "),
];

/// Subjects that run on both JDKs: a wrong value, a deadlock, an order that was not recorded. The others take turns.
const ON_BOTH: [&str; 3] = ["Account", "DeadlockTwo", "ShelfFull"];

/// Shapes that look suspicious and are right.
const BENIGN: [&str; 8] = [
    "SharedKeys",
    "StartJoin",
    "LockWatchers",
    "QueueHandOver",
    "CountedHandOver",
    "VolatilePublication",
    "CompareAndSetLoop",
    "UnsafeModes",
];

/// The buggy subjects that are proven, each once; those of `bugs21` apart.
fn sample() -> Vec<&'static str> {
    let mut names: Vec<&str> = CONSTRUCTS.iter().flat_map(|(_, bugs, _)| *bugs).copied().collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| *name != VIRTUAL);
    names
}

const VIRTUAL: &str = "VirtualTill";

fn findings(jdk: &Jdk, classes: &Path, name: &str, dir: &Path) -> Result<(Option<i32>, serde_json::Value), String> {
    let report = dir.join(format!("{name}-{}.json", jdk.release));
    let output = run(
        ravel()
            .args(["run", "--budget", "120", "-o"])
            .arg(dir.join(format!("{name}-{}.ravel", jdk.release)))
            .arg("--out")
            .arg(format!("json={}", report.display()))
            .arg("--")
            .arg(jdk.tool("java"))
            .args(SHORT_RUNS)
            .arg("-cp")
            .arg(classes)
            .arg(name),
        LIMIT,
    );
    let text = std::fs::read_to_string(&report)
        .map_err(|error| format!("{name}: {error}\n{}", String::from_utf8_lossy(&output.stderr)))?;
    let json = serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
    Ok((output.status.code(), json))
}

fn shown(report: &serde_json::Value) -> Vec<&serde_json::Value> {
    report["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|finding| finding["shown"] == true)
        .collect()
}

fn expect_bug(jdk: &Jdk, classes: &Path, folder: &str, name: &str, dir: &Path) -> Result<(), String> {
    let source =
        std::fs::read_to_string(root().join(format!("subjects/{folder}/{name}.java"))).map_err(|e| e.to_string())?;
    let stated = comment(&source, "bug").ok_or_else(|| format!("{name} states no bug"))?;
    let value = |key: &str| {
        stated
            .iter()
            .find_map(|line| line.strip_prefix(key))
            .unwrap_or_default()
            .trim()
            .to_string()
    };
    let rules = value("rule");
    let (code, report) = findings(jdk, classes, name, dir)?;
    let all = shown(&report);
    let reached = all.iter().any(|finding| {
        let rule = finding["rule"].as_str().unwrap_or_default();
        rules.split('|').any(|wanted| wanted.trim() == rule)
            && (value("evidence") != "harmful" || finding["evidence"] == "harmful")
    });
    let wanted = RULES.iter().filter(|(_, subject)| *subject == name);
    let all_rules = wanted
        .clone()
        .all(|(rule, _)| all.iter().any(|finding| finding["rule"] == *rule));
    if code == Some(1) && reached && all_rules {
        return Ok(());
    }
    let rules = wanted.fold(rules, |rules, (rule, _)| format!("{rules}, and one {rule}"));
    Err(format!(
        "{name} on JDK {}: exit {code:?}, {} shown, none is {} {rules}",
        jdk.release,
        all.len(),
        value("evidence")
    ))
}

fn expect_silence(jdk: &Jdk, classes: &Path, name: &str, dir: &Path) -> Result<(), String> {
    let (code, report) = findings(jdk, classes, name, dir)?;
    let all = shown(&report);
    if code == Some(0) && all.is_empty() {
        return Ok(());
    }
    Err(format!("{name} on JDK {}: exit {code:?}, shown: {all:?}", jdk.release))
}

#[test]
fn bugs_are_proven_and_their_twins_are_silent() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut jobs: Vec<(Jdk, String, bool, &str)> = Vec::new();
    let jdks = tested_jdks();
    for jdk in &jdks {
        if jdk.release >= 21 {
            jobs.push((jdk.clone(), VIRTUAL.to_string(), true, "bugs21"));
            jobs.push((jdk.clone(), format!("{VIRTUAL}Fixed"), false, "bugs21"));
        }
    }
    if jdks.iter().all(|jdk| jdk.release < 21) {
        skip(SECOND_JDK, "virtual threads need JDK 21");
    }
    for (jdk, name) in in_turn(BENIGN) {
        jobs.push((jdk, name.to_string(), false, "benign"));
    }
    for (number, name) in sample().into_iter().enumerate() {
        // The twin goes to the JDK that the bug has not been tried on.
        for (at, jdk) in jdks.iter().enumerate() {
            let (on_both, turn) = (ON_BOTH.contains(&name), number % jdks.len() == at);
            if on_both || turn {
                jobs.push((jdk.clone(), name.to_string(), true, "bugs"));
            }
            if on_both || !turn || jdks.len() == 1 {
                jobs.push((jdk.clone(), format!("{name}Fixed"), false, "bugs"));
            }
        }
    }
    each(&jobs, |(jdk, name, buggy, folder)| {
        let release = if *folder == "bugs21" { 21 } else { 17 };
        let classes = compiled(jdk, folder, release);
        if *buggy {
            expect_bug(jdk, &classes, folder, name, dir.path())
        } else {
            expect_silence(jdk, &classes, name, dir.path())
        }
    });
}

/// Bugs that are proven on JDKs 8 and 11: a field, a deadlock, an order that was not recorded, an atomic, a map, a pool, futures, a lost signal, `Unsafe`.
const ON_OLD: [&str; 9] = [
    "CounterLost",
    "DeadlockTwo",
    "ShelfFull",
    "AtomicGetThenSet",
    "SessionTwice",
    "ForkJoinTally",
    "CompletableTally",
    "LostSignal",
    "UnsafePlainBeside",
];

#[test]
fn bugs_are_proven_on_old_jvms() {
    let jdks = old_jdks();
    if jdks.is_empty() {
        skip(
            "old-jdk",
            &format!("no bug is proven on JDK 8 or 11: {OLD_JDKS} names no folder with one"),
        );
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let classes = compiled_for_8("bugs", |name| {
        ON_OLD.contains(&name.strip_suffix("Fixed").unwrap_or(name))
    });
    let mut jobs: Vec<(&Jdk, &str, bool)> = Vec::new();
    for jdk in &jdks {
        jobs.extend(ON_OLD.iter().flat_map(|name| [(jdk, *name, true), (jdk, *name, false)]));
    }
    each(&jobs, |(jdk, name, buggy)| match buggy {
        true => expect_bug(jdk, &classes, "bugs", name, dir.path()),
        false => expect_silence(jdk, &classes, &format!("{name}Fixed"), dir.path()),
    });
}

/// A construct without a subject, or a subject that no construct has, is an omission.
#[test]
fn every_subject_has_a_construct() {
    let names = |folders: &[&str]| -> BTreeSet<String> {
        let files = folders.iter().flat_map(|folder| sources(folder));
        files
            .filter_map(|file| Some(file.file_stem()?.to_str()?.to_string()))
            .collect()
    };
    let (bugs, events) = (names(&["bugs", "bugs21"]), names(&["events", "events21"]));
    let mut listed = BTreeSet::new();
    for (construct, proven, recorded) in CONSTRUCTS {
        assert!(proven.len() + recorded.len() > 0, "{construct} has no subject");
        for name in proven {
            assert!(bugs.contains(*name), "{construct}: no subject {name} in bugs");
            assert!(bugs.contains(&format!("{name}Fixed")), "{name} has no corrected twin");
        }
        for name in recorded {
            assert!(events.contains(*name), "{construct}: no subject {name} in events");
            listed.insert((*name).to_string());
        }
    }
    let missing: Vec<&String> = events.difference(&listed).collect();
    assert!(missing.is_empty(), "subjects without a construct: {missing:?}");
    for (rule, name) in RULES {
        assert!(sample().contains(&name), "{rule}: {name} is not in the sample");
    }
}

/// A new rule needs a subject that shows it, or a test elsewhere.
#[test]
fn every_rule_is_proven_somewhere() {
    let mut listed: Vec<&str> = RULES.iter().map(|(rule, _)| *rule).collect();
    listed.extend(RULES_ELSEWHERE.iter().map(|(rule, ..)| *rule));
    listed.sort_unstable();
    let mut all = Rule::ids();
    all.sort_unstable();
    assert_eq!(listed, all, "each rule is in exactly one of RULES and RULES_ELSEWHERE");
    for (rule, file, how) in RULES_ELSEWHERE {
        let test = std::fs::read_to_string(root().join("crates").join(file));
        assert!(test.is_ok_and(|test| test.contains(how)), "{rule}: {file} has no {how}");
    }
}
