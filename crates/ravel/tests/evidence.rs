//! How far the subjects get, and how reliably: the whole job on every buggy program, its corrected twin and the benign
//! shapes, several times on each JDK, as a table in the form of Pecan's Table 2. Programs whose bug lies where the recorded run did not come
//! (`searches`) are part of it. Part of `make evidence`.
//!
//! `EVIDENCE_RUNS` says how often each program is tried (1), `EVIDENCE_ONLY` which ones (names, separated by commas; all),
//! `EVIDENCE_JOBS` how many at the same time (2), `EVIDENCE_LOG` a file to which every attempt is appended; attempts that it
//! has already are part of the table. `EVIDENCE_SECONDS` bounds the whole: no attempt is begun after that (none).
//! `EVIDENCE_OF_20` says in how many of 20 attempts a program must do what is stated (19).
//! `EVIDENCE_BUILD` says what is tried, such as a commit: each attempt is kept with it, and attempts of another build do not count. With
//! `EVIDENCE_COMPLETE=1` attempts that are missing at the end are a failure; with `EVIDENCE_STOP=1` the first failure ends the attempts.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::common::{Jdk, comment, compiled, ravel, run, sources, tested_jdks};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(300);
const PLAIN_LIMIT: Duration = Duration::from_secs(20);
const LADDER: [&str; 5] = ["suspected", "predicted", "witnessed", "confirmed", "harmful"];

/// What must be shown of a program.
#[derive(Clone, Debug)]
enum Stated {
    /// A finding of one of these rules, on one of these variables, with this evidence.
    Bug {
        rules: String,
        variables: String,
        evidence: String,
    },
    /// A finding with this outcome, in an order that no recorded run suggests.
    Failure { outcome: String },
}

/// A program and what is stated of it.
#[derive(Clone, Debug)]
struct Subject {
    name: String,
    folder: &'static str,
    /// None if nothing may be shown.
    stated: Option<Stated>,
    /// How many bugs it has, for the number of findings that are shown of each.
    bugs: usize,
}

/// A part of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Bug,
    Failure,
    Silent,
}

impl Subject {
    fn sort(&self) -> Sort {
        match self.stated {
            Some(Stated::Bug { .. }) => Sort::Bug,
            Some(Stated::Failure { .. }) => Sort::Failure,
            None => Sort::Silent,
        }
    }
}

fn subjects() -> Vec<Subject> {
    let mut all = Vec::new();
    for folder in ["bugs", "benign", "searches"] {
        for path in sources(folder) {
            let text = std::fs::read_to_string(&path).expect("a subject can be read");
            let value = |key: &str| {
                let kind = if folder == "searches" { "failure" } else { "bug" };
                let lines = comment(&text, kind).unwrap_or_default();
                let found = lines.iter().find_map(|line| line.strip_prefix(key));
                found.unwrap_or_default().trim_start_matches(':').trim().to_string()
            };
            let bug = || Stated::Bug {
                rules: value("rule"),
                variables: value("variable"),
                evidence: value("evidence"),
            };
            let failure = || Stated::Failure {
                outcome: value("outcome"),
            };
            all.push(Subject {
                name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
                folder,
                stated: match text.split_once(':') {
                    Some(("/* bug", _)) => Some(bug()),
                    Some(("/* failure", _)) => Some(failure()),
                    _ => None,
                },
                bugs: value("bugs ").parse().unwrap_or(1),
            });
        }
    }
    all
}

/// Whether a report has what is stated of a subject.
fn is_reached(subject: &Subject, code: Option<i32>, report: &Value) -> bool {
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    let mut shown = findings.iter().filter(|finding| finding["shown"] == true);
    let (rules, variables, evidence) = match &subject.stated {
        None => return code == Some(0) && shown.next().is_none(),
        Some(Stated::Failure { outcome }) => {
            return code == Some(1) && shown.any(|finding| finding["outcome"]["kind"] == *outcome);
        }
        Some(Stated::Bug {
            rules,
            variables,
            evidence,
        }) => (rules, variables, evidence),
    };
    let rank = |word: &str| LADDER.iter().position(|known| *known == word);
    code == Some(1)
        && shown.any(|finding| {
            let rule = finding["rule"].as_str().unwrap_or_default();
            let named = finding["variables"].as_array().cloned().unwrap_or_default();
            rules.split('|').any(|wanted| wanted.trim() == rule)
                && rank(finding["evidence"].as_str().unwrap_or_default()) >= rank(evidence)
                && variables.split('|').any(|wanted| {
                    named
                        .iter()
                        .any(|name| is_variable(name.as_str().unwrap_or_default(), wanted.trim()))
                })
        })
}

/// Whether a field is meant by `Class.field`, `Class.*`, `Class` or `Type[]`.
fn is_variable(name: &str, wanted: &str) -> bool {
    let name = format!(".{}.", name.replace(['$', ' '], "."));
    let wanted = wanted.trim_end_matches(".*");
    name.contains(&format!(".{wanted}."))
}

fn attempt(jdk: &Jdk, classes: &Path, subject: &Subject, dir: &Path, number: usize) -> Value {
    let report = dir.join(format!("{number}.json"));
    let trace = dir.join(format!("{number}.ravel"));
    let plain = plain(jdk, classes, subject);
    let start = Instant::now();
    let output = run(
        ravel()
            .args(["run", "--budget", "120", "--run-limit", "20", "-o"])
            .arg(&trace)
            .arg("--out")
            .arg(format!("json={}", report.display()))
            .arg("--")
            .arg(jdk.tool("java"))
            .arg("-cp")
            .arg(classes)
            .arg(&subject.name),
        LIMIT,
    );
    let text = std::fs::read_to_string(&report).unwrap_or_default();
    let read: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    let findings = read["findings"].as_array().cloned().unwrap_or_default();
    let at_least = |word: &str| {
        let wanted = LADDER.iter().position(|known| *known == word);
        let reached = |finding: &&Value| LADDER.iter().position(|known| finding["evidence"] == *known) >= wanted;
        findings.iter().filter(reached).count()
    };
    let failed: Vec<String> = findings
        .iter()
        .filter(|finding| finding["evidence"] != "harmful" && finding["evidence"] != "suspected")
        .filter_map(|finding| {
            let limit = finding["limit"].as_str()?;
            Some(format!("{}: {limit}", finding["rule"].as_str().unwrap_or_default()))
        })
        .collect();
    let _ = std::fs::remove_file(&report);
    let _ = std::fs::remove_file(&trace);
    let best = findings
        .iter()
        .filter(|finding| finding["shown"] == true)
        .find_map(|finding| finding["outcome"]["message"].as_str());
    json!({
        "subject": subject.name,
        "jdk": jdk.release,
        "reached": is_reached(subject, output.status.code(), &read),
        "exit": output.status.code(),
        "predicted": at_least("predicted"),
        "witnessed": at_least("witnessed"),
        "confirmed": at_least("confirmed"),
        "harmful": at_least("harmful"),
        "shown": findings.iter().filter(|finding| finding["shown"] == true).count(),
        "outcome": best,
        "failed": failed,
        "build": build(),
        "times": read["summary"]["times"],
        "seconds": start.elapsed().as_secs_f64(),
        "plain": plain,
    })
}

/// The seconds of a plain run, for comparison; none if it was ended, as its bug may make it stand still.
fn plain(jdk: &Jdk, classes: &Path, subject: &Subject) -> Option<f64> {
    let mut command = Command::new(jdk.tool("java"));
    let start = Instant::now();
    let output = run(command.arg("-cp").arg(classes).arg(&subject.name), PLAIN_LIMIT);
    output.status.code().map(|_| start.elapsed().as_secs_f64())
}

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| value == "1")
}

/// What is tried.
fn build() -> Option<String> {
    std::env::var("EVIDENCE_BUILD").ok()
}

/// The attempts of this build that a log has.
fn known(log: Option<&Path>) -> Vec<Value> {
    let text = log
        .and_then(|path| std::fs::read_to_string(path).ok())
        .unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|attempt: &Value| build().is_none_or(|build| attempt["build"] == build))
        .collect()
}

/// Which of these subjects have fewer attempts than wanted on a JDK.
fn missing(subjects: &[Subject], jdks: &[Jdk], attempts: &[Value], wanted: usize) -> Vec<String> {
    let mut short = Vec::new();
    for subject in subjects {
        for jdk in jdks {
            let same = |attempt: &&Value| attempt["subject"] == subject.name && attempt["jdk"] == jdk.release;
            let made = attempts.iter().filter(same).count();
            if made < wanted {
                short.push(format!("{} on {}: {made} of {wanted}", subject.name, jdk.release));
            }
        }
    }
    short
}

#[test]
#[ignore = "minutes to hours: part of make evidence"]
fn every_subject_reaches_its_evidence() {
    let runs = number("EVIDENCE_RUNS").unwrap_or(1);
    let jobs = number("EVIDENCE_JOBS").unwrap_or(2);
    let seconds = number("EVIDENCE_SECONDS").map(|seconds| Duration::from_secs(seconds as u64));
    let only: Option<Vec<String>> = std::env::var("EVIDENCE_ONLY")
        .ok()
        .map(|names| names.split(',').map(str::to_string).collect());
    let log: Option<PathBuf> = std::env::var_os("EVIDENCE_LOG").map(PathBuf::from);
    let mut attempts = known(log.as_deref());
    let subjects: Vec<Subject> = subjects()
        .into_iter()
        .filter(|subject| only.as_ref().is_none_or(|only| only.contains(&subject.name)))
        .collect();
    let dir = tempfile::tempdir().expect("a temporary directory");
    let jdks = tested_jdks();
    let mut queue: Vec<(Jdk, PathBuf, Subject)> = Vec::new();
    for round in 0..runs {
        for jdk in &jdks {
            for subject in &subjects {
                let same = |attempt: &&Value| attempt["subject"] == subject.name && attempt["jdk"] == jdk.release;
                if attempts.iter().filter(same).count() <= round {
                    let classes = compiled(jdk, subject.folder, 17);
                    queue.push((jdk.clone(), classes, subject.clone()));
                }
            }
        }
    }
    let (start, next) = (Instant::now(), AtomicUsize::new(0));
    let new: Mutex<Vec<Value>> = Mutex::new(Vec::new());
    let stopped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while seconds.is_none_or(|seconds| start.elapsed() < seconds) && !stopped.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((jdk, classes, subject)) = queue.get(number) else {
                        break;
                    };
                    let result = attempt(jdk, classes, subject, dir.path(), number);
                    if let Some(log) = &log {
                        let file = std::fs::OpenOptions::new().append(true).create(true).open(log);
                        // At once: another thread may append as well.
                        let _ = file.and_then(|mut file| file.write_all(format!("{result}\n").as_bytes()));
                    }
                    if result["reached"] != true && is_set("EVIDENCE_STOP") {
                        stopped.store(true, Ordering::Relaxed);
                    }
                    new.lock().expect("no holder panics").push(result);
                }
            });
        }
    });
    attempts.extend(new.into_inner().expect("no holder panics"));
    let wanted = number("EVIDENCE_OF_20").unwrap_or(19);
    let poor = table(&subjects, &attempts, wanted);
    let missing = missing(&subjects, &jdks, &attempts, runs);
    if !missing.is_empty() {
        println!("attempts that are missing: {}", missing.join(", "));
    }
    assert!(poor.is_empty(), "reached too seldom: {poor:?}");
    assert!(
        missing.is_empty() || !is_set("EVIDENCE_COMPLETE"),
        "missing: {missing:?}"
    );
}

/// Prints the table; names of the subjects that reached what is stated in fewer than `wanted` of 20 attempts.
fn table(subjects: &[Subject], attempts: &[Value], wanted: usize) -> Vec<String> {
    let mut rows: BTreeMap<(Sort, &str, u64), Vec<&Value>> = BTreeMap::new();
    for subject in subjects {
        for attempt in attempts.iter().filter(|attempt| attempt["subject"] == subject.name) {
            let jdk = attempt["jdk"].as_u64().unwrap_or(0);
            rows.entry((subject.sort(), &subject.name, jdk))
                .or_default()
                .push(attempt);
        }
    }
    println!(
        "| subject | JDK | reached | predicted | witnessed | confirmed | harmful | shown | search ms | schedule ms | replay ms | runs | outcome, or what did not get further |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut poor = Vec::new();
    let mut totals: BTreeMap<(Sort, u64), [usize; 4]> = BTreeMap::new();
    for ((sort, name, jdk), row) in &rows {
        let reached = row.iter().filter(|attempt| attempt["reached"] == true).count();
        let mean = |of: &dyn Fn(&Value) -> f64| row.iter().map(|attempt| of(attempt)).sum::<f64>() / row.len() as f64;
        let count =
            |key: &str| format!("{:.1}", mean(&|attempt| attempt[key].as_f64().unwrap_or(0.0))).replace(".0", "");
        let time = |key: &str| format!("{:.0}", mean(&|attempt| attempt["times"][key].as_f64().unwrap_or(0.0)));
        let missed = row.iter().find(|attempt| attempt["reached"] != true);
        let words = match (missed, sort) {
            (Some(missed), _) => format!(
                "**missed:** exit {}, {} shown; {}",
                missed["exit"],
                missed["shown"],
                missed["failed"].as_array().map_or(String::new(), |all| {
                    let words: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
                    words.join("; ")
                })
            ),
            (None, Sort::Silent) => String::new(),
            (None, Sort::Bug | Sort::Failure) => row[0]["outcome"].as_str().unwrap_or_default().to_string(),
        };
        println!(
            "| {name} | {jdk} | {reached}/{} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row.len(),
            count("predicted"),
            count("witnessed"),
            count("confirmed"),
            count("harmful"),
            count("shown"),
            time("search"),
            time("schedule"),
            time("replay"),
            time("runs"),
            words.replace(['\n', '|'], " ")
        );
        let is_reliable = reached * 20 >= row.len() * wanted;
        if !is_reliable {
            poor.push(format!("{name} on {jdk}"));
        }
        let total = totals.entry((*sort, *jdk)).or_default();
        *total = [
            total[0] + 1,
            total[1] + usize::from(is_reliable),
            total[2] + row.len(),
            total[3] + reached,
        ];
    }
    println!();
    for ((sort, jdk), [programs, reliable, attempts, reached]) in &totals {
        let what = match sort {
            Sort::Bug => "bugs",
            Sort::Failure => "bugs on paths that the recorded run did not take",
            Sort::Silent => "silent programs",
        };
        println!(
            "JDK {jdk}, {what}: {reliable} of {programs} as stated in {wanted} of 20 attempts or more; {reached} of {attempts} attempts"
        );
    }
    println!("{}", shown_of_each(subjects, attempts));
    println!("{}", times(attempts));
    poor
}

/// What `ravel run` took by the clock over all attempts: in seconds, and as a multiple of the plain run right before it.
fn times(attempts: &[Value]) -> String {
    let sorted = |of: &dyn Fn(&Value) -> Option<f64>| {
        let mut all: Vec<f64> = attempts.iter().filter_map(of).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let seconds = sorted(&|attempt| attempt["seconds"].as_f64());
    let multiples = sorted(&|attempt| Some(attempt["seconds"].as_f64()? / attempt["plain"].as_f64()?));
    if seconds.is_empty() || multiples.is_empty() {
        return "ravel run: no attempt was timed".to_owned();
    }
    format!(
        "ravel run: median {:.1} s ({:.0} times plain), 95th percentile {:.1} s ({:.0} times), worst {:.1} s ({:.0} times)",
        percentile(&seconds, 50),
        percentile(&multiples, 50),
        percentile(&seconds, 95),
        percentile(&multiples, 95),
        percentile(&seconds, 100),
        percentile(&multiples, 100)
    )
}

/// The smallest of these sorted values that so many in a hundred do not exceed.
fn percentile(sorted: &[f64], hundredths: usize) -> f64 {
    sorted[(sorted.len() * hundredths).div_ceil(100).max(1) - 1]
}

/// How many findings are shown of each bug, over all attempts that reached what is stated, and which programs show more than they have.
fn shown_of_each(subjects: &[Subject], attempts: &[Value]) -> String {
    let (mut shown, mut bugs) = (0, 0);
    let mut more: BTreeMap<&str, u64> = BTreeMap::new();
    for subject in subjects.iter().filter(|subject| subject.stated.is_some()) {
        let reached = |attempt: &&Value| attempt["subject"] == subject.name && attempt["reached"] == true;
        for attempt in attempts.iter().filter(reached) {
            let count = attempt["shown"].as_u64().unwrap_or(0);
            shown += count;
            bugs += subject.bugs as u64;
            if count > subject.bugs as u64 {
                let most = more.entry(&subject.name).or_default();
                *most = count.max(*most);
            }
        }
    }
    if bugs == 0 {
        return "shown findings ÷ bugs: no bug was reached".to_owned();
    }
    let names: Vec<String> = more.iter().map(|(name, most)| format!("{name} {most}")).collect();
    let names = if names.is_empty() {
        String::new()
    } else {
        format!("; more than one each: {}", names.join(", "))
    };
    format!(
        "shown findings ÷ bugs: {shown} ÷ {bugs} = {:.2} (at most 1.1 is wanted){names}",
        shown as f64 / bugs as f64
    )
}

#[test]
fn attempts_that_were_not_made_are_missing() {
    let subject = |name: &str| Subject {
        name: name.to_owned(),
        folder: "bugs",
        stated: None,
        bugs: 1,
    };
    let jdk = |release| Jdk {
        home: PathBuf::new(),
        release,
    };
    let attempts = [
        json!({ "subject": "One", "jdk": 17 }),
        json!({ "subject": "One", "jdk": 17 }),
        json!({ "subject": "One", "jdk": 25 }),
    ];
    assert_eq!(
        missing(&[subject("One"), subject("Two")], &[jdk(17), jdk(25)], &attempts, 2),
        ["One on 25: 1 of 2", "Two on 17: 0 of 2", "Two on 25: 0 of 2"]
    );
}

#[test]
fn findings_are_counted_for_each_bug() {
    let subject = |name: &str, bugs: usize| Subject {
        name: name.to_owned(),
        folder: "bugs",
        stated: Some(Stated::Failure { outcome: String::new() }),
        bugs,
    };
    let attempt =
        |name: &str, reached: bool, shown: u64| json!({ "subject": name, "reached": reached, "shown": shown });
    let subjects = [subject("One", 1), subject("Two", 2)];
    let attempts = [
        attempt("One", true, 1),
        attempt("One", true, 2),
        attempt("One", false, 9),
        attempt("Two", true, 2),
    ];
    assert_eq!(
        shown_of_each(&subjects, &attempts),
        "shown findings ÷ bugs: 5 ÷ 4 = 1.25 (at most 1.1 is wanted); more than one each: One 2"
    );
}

#[test]
fn times_are_told_with_the_plain_run_beside_them() {
    let attempts: Vec<Value> = (1..=20)
        .map(|number| json!({ "seconds": f64::from(number), "plain": 0.5 }))
        .collect();
    assert_eq!(
        times(&attempts),
        "ravel run: median 10.0 s (20 times plain), 95th percentile 19.0 s (38 times), worst 20.0 s (40 times)"
    );
}
