//! `ravel scan` from outside: formats, exit codes, configuration; and `ravel run`, which tries first what a scan suspects.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use crate::common::{Jdk, ravel, run, tested_jdks};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(120);

/// A lost update between two calls on one cell, under locks that do not help; and double-checked locking.
const SHOP: &str = "
public class Shop {
    static class Cell {
        private int value;
        synchronized int get() { return value; }
        synchronized void set(int value) { this.value = value; }
    }

    final Cell cell;
    static Object helper;

    Shop(Cell cell) { this.cell = cell; }

    synchronized void add() {
        int value = cell.get();
        cell.set(value + 1);
    }

    static Object helper() {
        if (helper == null) {
            synchronized (Shop.class) {
                if (helper == null) helper = new Object();
            }
        }
        return helper;
    }

    public static void main(String[] arguments) throws Exception {
        Cell cell = new Cell();
        Shop one = new Shop(cell), two = new Shop(cell);
        Thread first = new Thread(() -> { one.add(); helper(); });
        Thread second = new Thread(() -> { two.add(); helper(); });
        first.start();
        second.start();
        first.join();
        second.join();
    }
}";

fn compiled(jdk: &Jdk) -> tempfile::TempDir {
    compiled_from(jdk, "Shop.java", SHOP)
}

fn compiled_from(jdk: &Jdk, name: &str, code: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join(name);
    std::fs::write(&source, code).expect("written");
    let output = Command::new(jdk.tool("javac"))
        .args(["-g", "-d"])
        .arg(folder.path().join("classes"))
        .arg(source)
        .output()
        .expect("javac runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

fn scan(folder: &Path, arguments: &[&str]) -> Output {
    run(ravel().current_dir(folder).arg("scan").args(arguments), LIMIT)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn every_format_has_the_findings() {
    let folder = compiled(&tested_jdks()[0]);
    let folder = folder.path();
    let plain = scan(folder, &["classes"]);
    assert_eq!(plain.status.code(), Some(1), "something is shown");
    let shown = text(&plain);
    for part in [
        "suspected[lock-pattern]: this.cell is locked twice while this is held",
        "suspected[double-checked-locking]",
        "int value = cell.get();",
        "in Shop.Cell.get (Shop.java:5)",
        "fix: Hold this.cell from line 15 to line 16.",
        "ravel explain double-checked-locking",
        "Assumed to take no lock:",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let json: Value = serde_json::from_str(&text(&scan(folder, &["classes", "--format", "json"]))).expect("JSON");
    let rules: Vec<&str> = findings(&json).iter().filter_map(|f| f["rule"].as_str()).collect();
    assert_eq!(rules, ["lock-pattern", "double-checked-locking"]);
    let sarif: Value = serde_json::from_str(&text(&scan(folder, &["classes", "--format", "sarif"]))).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 2);
    assert_eq!(results[1]["ruleId"], "double-checked-locking");
    for (format, part) in [
        ("junit", "<testcase"),
        ("html", "double-checked-locking"),
        ("github", "::"),
    ] {
        let output = text(&scan(folder, &["classes", "--format", format]));
        assert!(output.contains(part), "{format}: {output}");
    }
}

fn findings(report: &Value) -> &[Value] {
    report["findings"].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[test]
fn exit_codes_and_configuration() {
    let folder = compiled(&tested_jdks()[0]);
    let folder = folder.path();
    std::fs::create_dir(folder.join("empty")).expect("made");
    let jar = folder.join("cut.jar");
    std::fs::write(&jar, b"PK\x03\x04 and no more").expect("written");
    std::fs::write(folder.join("Cut.class"), b"\xca\xfe\xba\xbe\0\0\0\x34\0").expect("written");
    std::fs::write(folder.join("notes.txt"), "text").expect("written");
    for (arguments, code, words) in [
        (&["empty"][..], 3, "no readable class in empty"),
        (&["Cut.class"], 3, "Cut.class: unexpected end"),
        (&["cut.jar"], 2, "the archive is cut off or damaged"),
        (&["notes.txt"], 2, "notes.txt: not a class"),
        (&["classes", "--jdk", "empty"], 2, "--jdk empty: not a JDK"),
        (&["classes", "--variat"], 2, "'--variant'"),
    ] {
        let output = scan(folder, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    let missing = scan(folder, &["gone.jar"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("gone.jar"));
    assert_eq!(
        scan(folder, &["classes", "--fail-on", "predicted"]).status.code(),
        Some(0)
    );
    let config = "[scan]\nunshared = [\"Shop$Cell\"]\nshared = [\"shop.Nowhere\"]\n\n\
                  [[suppress]]\nrule = \"double-checked-locking\"\nreason = \"a test\"\n";
    std::fs::write(folder.join("ravel.toml"), config).expect("written");
    let clean = scan(folder, &["classes"]);
    assert_eq!(clean.status.code(), Some(0), "{}", text(&clean));
    assert!(
        text(&clean).contains("shop.Nowhere is not on the list"),
        "{}",
        text(&clean)
    );
    let again = scan(folder, &["classes", "--shared", "Shop$Cell"]);
    assert_eq!(again.status.code(), Some(1), "{}", text(&again));
}

/// What was not read and what was not followed is in the text and in JSON.
#[test]
fn what_a_scan_left_out_is_said_in_every_report() {
    let path = ".next".repeat(20);
    let source = format!(
        "class Deep {{
            Deep next;
            Object lock() {{ return this; }}
            void deep() {{ synchronized (this{path}) {{ notifyAll(); }} }}
            void result() {{ synchronized (lock()) {{ notifyAll(); }} }}
        }}"
    );
    let folder = compiled_from(&tested_jdks()[0], "Deep.java", &source);
    let folder = folder.path();
    std::fs::write(folder.join("cut.jar"), b"PK\x03\x04 and no more").expect("written");
    let shown = text(&scan(folder, &["classes", "cut.jar"]));
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("Not followed: 2 locks without a name, 1 object name with more than 16 parts"),
        "{shown}"
    );
    assert!(shown.contains("cut.jar"), "{shown}");
    let report = text(&scan(folder, &["classes", "cut.jar", "--format", "json"]));
    let json: Value = serde_json::from_str(&report).expect("JSON");
    let scanned = &json["summary"]["scanned"];
    assert_eq!(
        (&scanned["unnamed_locks"], &scanned["long_names"], &scanned["methods"]),
        (&2.into(), &1.into(), &4.into())
    );
    let warnings = json["warnings"].as_array().map_or(&[][..], Vec::as_slice);
    assert!(
        warnings.iter().any(|warning| warning.to_string().contains("cut.jar")),
        "{report}"
    );
}

/// A program that is right, next to code that is not: a class that is used but for one method, and one that is not used at all.
const QUIET: &str = "
public class Quiet {
    static Object helper;
    static int ready() { return 1; }
    static Object helper() {
        if (helper == null) {
            synchronized (Quiet.class) {
                if (helper == null) helper = new Object();
            }
        }
        return helper;
    }

    static class Idle {
        static Object other;
        static Object other() {
            if (other == null) {
                synchronized (Idle.class) {
                    if (other == null) other = new Object();
                }
            }
            return other;
        }
    }

    static int count;
    static synchronized void add() { count += ready(); }

    public static void main(String[] arguments) throws Exception {
        Thread first = new Thread(Quiet::add), second = new Thread(Quiet::add);
        first.start();
        second.start();
        first.join();
        second.join();
    }
}";

#[test]
fn a_run_lists_what_only_the_code_says() {
    for jdk in tested_jdks() {
        let folder = compiled_from(&jdk, "Quiet.java", QUIET);
        let folder = folder.path();
        let mut command = ravel();
        command
            .current_dir(folder)
            .arg("run")
            .args(["--out", "json=run.json", "--"]);
        command.arg(jdk.tool("java")).args(["-cp", "classes", "Quiet"]);
        let output = run(&mut command, LIMIT);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("1 suspicion of the static scan"), "{said}");
        assert!(!said.contains("double-checked-locking"), "held back: {said}");
        let json = std::fs::read_to_string(folder.join("run.json")).expect("written");
        let found: Value = serde_json::from_str(&json).expect("JSON");
        let suspicions = found["suspicions"].as_array().expect("suspicions");
        assert_eq!(suspicions.len(), 1, "Idle was never loaded: {suspicions:?}");
        assert_eq!(suspicions[0]["variables"][0], "Quiet.helper");
        assert_eq!(
            (&suspicions[0]["shown"], &suspicions[0]["evidence"]),
            (&false.into(), &"suspected".into())
        );
        let all = run(ravel().current_dir(folder).args(["report", "run.json", "--all"]), LIMIT);
        assert!(
            text(&all).contains("== seen in code, not found in a run =="),
            "{}",
            text(&all)
        );
        assert_eq!(all.status.code(), Some(0), "a suspicion fails nothing");
    }
}

#[test]
fn a_run_confirms_what_the_scan_suspects() {
    for jdk in tested_jdks() {
        let folder = compiled(&jdk);
        let folder = folder.path();
        let report = |flags: &[&str]| -> Value {
            let mut command = ravel();
            command
                .current_dir(folder)
                .arg("run")
                .args(["--out", "json=run.json"])
                .args(flags);
            command.arg("--").arg(jdk.tool("java")).args(["-cp", "classes", "Shop"]);
            let output = run(&mut command, LIMIT);
            assert!(
                matches!(output.status.code(), Some(0 | 1)),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            let json = std::fs::read_to_string(folder.join("run.json")).expect("written");
            serde_json::from_str(&json).expect("JSON")
        };
        let suspected: Value =
            serde_json::from_str(&text(&scan(folder, &["classes", "--format", "json"]))).expect("JSON");
        let found = report(&[]);
        let supported: Vec<&Value> = findings(&found)
            .iter()
            .filter(|f| {
                f["analyses"]
                    .as_array()
                    .is_some_and(|all| all.iter().any(|a| a == "scan"))
            })
            .collect();
        let rules: Vec<&str> = supported.iter().filter_map(|f| f["rule"].as_str()).collect();
        assert_eq!(rules.len(), 2, "{rules:?} on JDK {}", jdk.release);
        let open = found["suspicions"].as_array().map_or(0, Vec::len);
        assert_eq!(open, 0, "both were reached: {}", found["suspicions"]);
        // The race on the field is the same bug for both, so it has one id.
        let ids: Vec<&Value> = findings(&suspected).iter().map(|f| &f["id"]).collect();
        let race = supported.iter().find(|f| f["rule"] == "data-race").expect("the race");
        assert!(ids.contains(&&race["id"]), "{ids:?} {race}");
        let alone = report(&["--no-scan", "--budget", "0"]);
        assert!(
            findings(&alone)
                .iter()
                .all(|f| !f["analyses"].to_string().contains("scan"))
        );
    }
}
