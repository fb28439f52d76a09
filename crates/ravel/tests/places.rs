//! What a finding tells of its steps: the place in the program's own code, also if the access lies inside the JDK, the name that the
//! program gives the object, and the value of the forced run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::{Jdk, compile_some, ravel, root, run, tested_jdks};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(120);

/// The number of the line of `Places.java` that ends with this comment.
fn line_of(source: &str, comment: &str) -> u64 {
    let ends = |line: &str| line.ends_with(&format!("// {comment}"));
    let at = source.lines().position(ends);
    at.unwrap_or_else(|| panic!("no line {comment}")) as u64 + 1
}

/// All findings of a recording.
fn findings(trace: &Path) -> Vec<Value> {
    let output = run(ravel().args(["check", "--all", "--format", "json"]).arg(trace), LIMIT);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    report["findings"].as_array().expect("findings").clone()
}

/// The calls of a thread inside which it accesses objects of the JDK.
fn calls_of(trace: &Path, thread: &str) -> Vec<String> {
    let output = run(ravel().args(["trace", "dump"]).arg(trace), LIMIT);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = |line: &&str| line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let is_call = |line: &&str| matches!(&words(line)[..], [of, _, op, ..] if of == thread && op == "call");
    text.lines().filter(is_call).map(str::to_owned).collect()
}

#[test]
fn a_step_inside_the_jdk_is_at_the_programs_own_call() {
    let path = root().join("crates/ravel/tests/java/Places.java");
    let source = std::fs::read_to_string(&path).expect("the source");
    let dir = tempfile::tempdir().expect("a temporary directory");
    for jdk in tested_jdks() {
        let classes = dir.path().join(format!("classes-{}", jdk.release));
        compile_some(&jdk, std::slice::from_ref(&path), &classes);
        let trace = dir.path().join("t.ravel");
        let output = run(
            ravel()
                .args(["record", "-o"])
                .arg(&trace)
                .arg("--")
                .arg(jdk.tool("java"))
                .args(["-Xverify:all", "-cp"])
                .arg(&classes)
                .arg("Places"),
            LIMIT,
        );
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let findings = findings(&trace);
        let steps: Vec<&Value> = findings
            .iter()
            .flat_map(|finding| finding["steps"].as_array().expect("steps"))
            .collect();
        let is = |step: &Value, class: &str, method: &str, line: &str| {
            step["class"] == class
                && step["method"].as_str().is_some_and(|name| name.starts_with(method))
                && step["file"] == "Places.java"
                && step["line"] == line_of(&source, line)
        };
        let inside = |step: &&&Value| step["inside"].is_string();
        for step in steps.iter().filter(inside) {
            let (class, within) = (step["class"].as_str(), step["inside"].as_str());
            assert!(class.is_some_and(|class| class.starts_with("Places")), "{step:#}");
            assert!(within.is_some_and(|within| within.starts_with("java.")), "{step:#}");
            assert!(step["line"].as_u64() > Some(0), "{step:#}");
        }
        for (class, method, line) in [
            ("Places$Registry", "get(", "put"),
            ("Places$Lines", "lambda$each$0(", "add"),
        ] {
            let found = steps.iter().filter(inside).any(|step| is(step, class, method, line));
            assert!(found, "jdk {}: no step on the line {line}: {steps:#?}", jdk.release);
        }
        let calls = calls_of(&trace, "t2");
        let count = |line: &str| {
            let place = format!("(Places.java:{})", line_of(&source, line));
            calls.iter().filter(|call| call.contains(&place)).count()
        };
        for line in ["put", "concat", "add", "remove"] {
            assert!(
                count(line) > 0,
                "jdk {}: no call on the line {line}: {calls:#?}",
                jdk.release
            );
        }
        assert!(
            count("each") > 1,
            "the call goes on after the lambda that it calls: {calls:#?}"
        );
        // The frame that calls a constructor has its own line, not the last one of the class initialiser before it.
        let made = steps.iter().find(|step| is(step, "Places$Late", "<init>(", "late"));
        let stack = made.expect("the constructor's step")["stack"]
            .as_array()
            .expect("a stack");
        let caller = format!("Places.make (Places.java:{})", line_of(&source, "make"));
        assert_eq!(
            stack.get(1).and_then(Value::as_str),
            Some(caller.as_str()),
            "{stack:#?}"
        );
    }
}

/// The findings that `ravel run` shows of a program.
fn shown(jdk: &Jdk, classes: &Path, name: &str, options: &[&str]) -> Vec<Value> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let output = run(
        ravel()
            .args(["run", "--format", "json", "-o"])
            .arg(dir.path().join("t.ravel"))
            .args(options)
            .arg("--")
            .arg(jdk.tool("java"))
            .arg("-cp")
            .arg(classes)
            .arg(name),
        LIMIT,
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let json = text.find("{\n").map_or("", |start| &text[start..]);
    let report: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
    let findings = report["findings"].as_array().expect("findings");
    findings
        .iter()
        .filter(|finding| finding["shown"] == true)
        .cloned()
        .collect()
}

fn compiled(jdk: &Jdk, name: &str, dir: &Path) -> PathBuf {
    let classes = dir.join(format!("{name}-{}", jdk.release));
    let source = root().join(format!("crates/ravel/tests/java/{name}.java"));
    compile_some(jdk, &[source], &classes);
    classes
}

#[test]
fn two_maps_of_one_class_are_two_findings() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for jdk in tested_jdks() {
        let shown = shown(&jdk, &compiled(&jdk, "TwoMaps", dir.path()), "TwoMaps", &[]);
        let mut variables: Vec<&Value> = shown.iter().map(|finding| &finding["variables"]).collect();
        variables.sort_by_key(|names| names.to_string());
        assert_eq!(
            variables,
            [&json!(["TwoMaps.prices"]), &json!(["TwoMaps.stock"])],
            "jdk {}: {shown:#?}",
            jdk.release
        );
    }
}

#[test]
fn calls_of_a_collection_that_must_be_one_step_are_named() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for jdk in tested_jdks() {
        let cache = shown(&jdk, &compiled(&jdk, "SessionCache", dir.path()), "SessionCache", &[]);
        let [finding] = &cache[..] else {
            panic!("jdk {}: {cache:#?}", jdk.release);
        };
        let message = finding["message"].as_str().expect("a sentence");
        assert!(message.contains("between its calls of get and put."), "{message}");
        let help = finding["help"].as_str().expect("a fix");
        assert!(help.starts_with("Use computeIfAbsent"), "{help}");
        assert!(help.contains("synchronized (sessions) { … }"), "{help}");
        let count = shown(&jdk, &compiled(&jdk, "WordCount", dir.path()), "WordCount", &[]);
        let [finding] = &count[..] else {
            panic!("jdk {}: {count:#?}", jdk.release);
        };
        let help = finding["help"].as_str().expect("a fix");
        assert!(help.contains("ConcurrentHashMap"), "{help}");
        assert!(
            help.contains("WordCount.add calls get and put: to make them one step, use computeIfAbsent"),
            "{help}"
        );
    }
}

#[test]
fn a_step_inside_a_map_names_the_entry_and_its_value() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for jdk in tested_jdks() {
        let shown = shown(&jdk, &compiled(&jdk, "Inventory", dir.path()), "Inventory", &[]);
        let [finding] = &shown[..] else {
            panic!("jdk {}: {shown:#?}", jdk.release);
        };
        let steps = finding["steps"].as_array().expect("steps");
        assert!(steps.len() > 2, "{finding:#}");
        for step in steps {
            assert_eq!(step["variable"], "Inventory.stock", "{step:#}");
            assert_eq!(step["part"], "\"apple\"", "{step:#}");
            assert!(step["value"].is_string(), "jdk {}: {step:#}", jdk.release);
        }
        let serial = finding["serial"].as_array().expect("serial orders");
        let mut steps = serial.iter().flat_map(|run| run["steps"].as_array().expect("steps"));
        assert!(
            steps.all(|step| step["part"] == "\"apple\"" && step["value"].is_string()),
            "{serial:#?}"
        );
        let help = finding["help"].as_str().expect("a fix");
        assert!(
            help.starts_with("Hold the lock of Inventory over the whole of Inventory.reserve: "),
            "{help}"
        );
    }
}

#[test]
fn an_array_of_booleans_is_told_as_one() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for jdk in tested_jdks() {
        let shown = shown(&jdk, &compiled(&jdk, "Seats", dir.path()), "Seats", &[]);
        let [finding] = &shown[..] else {
            panic!("jdk {}: {shown:#?}", jdk.release);
        };
        assert!(!finding.to_string().contains("byte[]"), "{finding:#}");
        let steps = finding["steps"].as_array().expect("steps");
        let values: Vec<&str> = steps.iter().filter_map(|step| step["value"].as_str()).collect();
        assert!(values.contains(&"false") && values.contains(&"true"), "{finding:#}");
    }
}

#[test]
fn a_reference_to_an_inherited_method_is_at_its_place_in_the_program() {
    let source = std::fs::read_to_string(root().join("crates/ravel/tests/java/Tags.java")).expect("the source");
    let dir = tempfile::tempdir().expect("a temporary directory");
    for jdk in tested_jdks() {
        let shown = shown(&jdk, &compiled(&jdk, "Tags", dir.path()), "Tags", &[]);
        // Exploring may show the exit code too.
        let Some(finding) = shown.iter().find(|finding| finding["rule"] != "failure") else {
            panic!("jdk {}: {shown:#?}", jdk.release);
        };
        let lines = [line_of(&source, "some"), line_of(&source, "others")];
        for step in finding["steps"].as_array().expect("steps") {
            assert_eq!(step["class"], "Tags", "jdk {}: {step:#}", jdk.release);
            assert!(
                step["line"].as_u64().is_some_and(|line| lines.contains(&line)),
                "{step:#}"
            );
            assert_eq!(step["variable"], "bag in Tags", "{step:#}");
        }
    }
}

#[test]
fn a_pattern_of_the_user_is_reported_with_its_name_and_letters() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = dir.path().join("ravel.toml");
    let text = "[[pattern]]\nname = \"lost tick\"\nsteps = \"R1(n) W2(n) W1(n)\"\n";
    std::fs::write(&config, text).expect("a configuration");
    for jdk in tested_jdks() {
        let classes = dir.path().join(format!("classes-{}", jdk.release));
        compile_some(&jdk, &[root().join("subjects/bugs/CounterLost.java")], &classes);
        let options = ["--config", config.to_str().expect("a path")];
        let shown = shown(&jdk, &classes, "CounterLost", &options);
        let own = shown.iter().find(|finding| finding["own_pattern"] == "lost tick");
        let own = own.unwrap_or_else(|| panic!("jdk {}: {shown:#?}", jdk.release));
        assert_eq!(own["evidence"], "harmful");
        let patterns = own["patterns"].as_array().expect("patterns");
        assert!(
            patterns.contains(&json!("\"lost tick\": R1(n) W2(n) W1(n)")),
            "{patterns:#?}"
        );
    }
}

#[test]
fn one_bug_is_one_finding_with_the_programs_names_and_values() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let bugs = [
        ("CounterLost", "CounterLost$Counter.value", true),
        ("HashMapShared", "HashMapShared$Phonebook.numbers", false),
        ("ArrayTally", "ArrayTally$Tally.sums", true),
    ];
    for jdk in tested_jdks() {
        for (name, variable, has_values) in bugs {
            let classes = dir.path().join(format!("{name}-{}", jdk.release));
            compile_some(&jdk, &[root().join(format!("subjects/bugs/{name}.java"))], &classes);
            let shown = shown(&jdk, &classes, name, &[]);
            let [finding] = &shown[..] else {
                panic!("jdk {}: {name} has {} findings: {shown:#?}", jdk.release, shown.len());
            };
            assert_eq!(finding["variables"], json!([variable]), "jdk {}", jdk.release);
            let steps = finding["steps"].as_array().expect("steps");
            assert!(steps.iter().all(|step| step["variable"] == variable), "{steps:#?}");
            assert!(
                !has_values || steps.iter().all(|step| step["value"].is_string()),
                "{steps:#?}"
            );
        }
    }
}
