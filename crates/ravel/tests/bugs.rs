//! A sample of the buggy subjects through the whole job: each reaches the evidence that its first comment states, and its
//! corrected twin shows nothing.

mod common;

use std::path::Path;
use std::time::Duration;

use common::{Jdk, comment, compile, each, ravel, root, run, tested_jdks};

const LIMIT: Duration = Duration::from_secs(240);

/// Names of the sample: an exception, a wrong value, a deadlock, an atomic used twice, two fields of one set, rows
/// of accesses that exceptions cut short, loops that lose more by chance, and bugs that the recorded run has nothing of.
const SAMPLE: [&str; 13] = [
    "Account",
    "CounterLost",
    "LoopLost",
    "CutShort",
    "DeadlockTwo",
    "DeadlockThree",
    "AtomicGetThenSet",
    "Salesman",
    "SessionTwice",
    "RateLimit",
    "ShelfFull",
    "EarlyTick",
    "LostSignal",
];

/// Shapes that look suspicious and are right.
const BENIGN: [&str; 5] = [
    "StartJoin",
    "QueueHandOver",
    "CountedHandOver",
    "VolatilePublication",
    "CompareAndSetLoop",
];

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
    if code == Some(1) && reached {
        return Ok(());
    }
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
    for jdk in tested_jdks() {
        for folder in ["bugs", "benign"] {
            compile(&jdk, folder, 17, &dir.path().join(format!("{folder}-{}", jdk.release)));
        }
        for name in SAMPLE {
            jobs.push((jdk.clone(), name.to_string(), true, "bugs"));
            jobs.push((jdk.clone(), format!("{name}Fixed"), false, "bugs"));
        }
        if jdk.release >= 21 {
            compile(&jdk, "bugs21", 21, &dir.path().join(format!("bugs21-{}", jdk.release)));
            jobs.push((jdk.clone(), "VirtualAccount".to_string(), true, "bugs21"));
            jobs.push((jdk.clone(), "VirtualAccountFixed".to_string(), false, "bugs21"));
        }
        for name in BENIGN {
            jobs.push((jdk.clone(), name.to_string(), false, "benign"));
        }
    }
    each(&jobs, |(jdk, name, buggy, folder)| {
        let classes = dir.path().join(format!("{folder}-{}", jdk.release));
        if *buggy {
            expect_bug(jdk, &classes, folder, name, dir.path())
        } else {
            expect_silence(jdk, &classes, name, dir.path())
        }
    });
}
