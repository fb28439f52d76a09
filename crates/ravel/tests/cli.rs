//! The command line from outside: wrong words, wrong files, exit codes, and what `ravel record` promises about commands,
//! their JVMs and their ends.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::common::{self, Jdk, kept_directory, ravel, run, tested_jdks};

const LIMIT: Duration = Duration::from_secs(120);

/// Prints rounds of work of two threads, as many as its argument says, then `done`.
const ROUNDS: &str = "
public class Rounds {
    private int count;

    private synchronized void add() {
        count++;
    }

    public static void main(String[] args) throws InterruptedException {
        Rounds rounds = new Rounds();
        for (int round = 1; round <= Integer.parseInt(args[0]); round++) {
            Runnable work = () -> {
                for (int i = 0; i < 20000; i++) rounds.add();
            };
            Thread one = new Thread(work), two = new Thread(work);
            one.start();
            two.start();
            one.join();
            two.join();
            System.out.println(\"round \" + round);
        }
        System.out.println(\"done \" + rounds.count);
    }
}";

/// Prints a property, ends with the exit code that it is given.
const ENDS: &str = "
public class Ends {
    static int shared;

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(() -> shared++);
        thread.start();
        thread.join();
        shared++;
        System.out.println(\"property \" + System.getProperty(\"kept\"));
        System.exit(args.length == 0 ? 0 : Integer.parseInt(args[0]));
    }
}";

const PREMAIN: &str = "
public class Premain {
    public static void premain(String arguments) {
        System.out.println(\"premain \" + arguments);
    }
}";

/// The programs, compiled once for all tests by the oldest JDK.
fn classes() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let directory = kept_directory("cli-classes");
        for (name, source) in [("Rounds", ROUNDS), ("Ends", ENDS), ("Premain", PREMAIN)] {
            let file = directory.join(format!("{name}.java"));
            std::fs::write(&file, source).expect("written");
            let javac = tested_jdks()[0].tool("javac");
            let output = run(Command::new(javac).arg("-d").arg(&directory).arg(&file), LIMIT);
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
        directory
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn java(jdk: &Jdk) -> String {
    jdk.tool("java").to_string_lossy().into_owned()
}

/// `java -cp … words`, one string for a shell.
fn java_line(jdk: &Jdk, words: &str) -> String {
    format!("'{}' -cp '{}' {words}", java(jdk), classes().display())
}

/// `ravel record -o DIR/t.ravel OPTIONS -- java JVM -cp … PROGRAM`.
fn record(jdk: &Jdk, directory: &Path, options: &[&str], jvm: &[&str], program: &[&str]) -> Output {
    let mut command = ravel();
    command
        .arg("record")
        .arg("-o")
        .arg(directory.join("t.ravel"))
        .args(options);
    command
        .arg("--")
        .arg(java(jdk))
        .args(jvm)
        .arg("-cp")
        .arg(classes())
        .args(program);
    run(&mut command, LIMIT)
}

fn oldest() -> Jdk {
    tested_jdks().swap_remove(0)
}

/// Standard error of a run that must end with this code.
fn ends_with(code: i32, command: &mut Command) -> String {
    let output = run(command, LIMIT);
    let error = text(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(code),
        "{command:?}: {error}{}",
        text(&output.stdout)
    );
    error
}

fn assert_has(text: &str, wanted: &str) {
    assert!(text.contains(wanted), "no {wanted:?} in:\n{text}");
}

/// How many events `ravel trace info` counts.
fn events(trace: &Path) -> u64 {
    let output = run(ravel().args(["trace", "info"]).arg(trace), LIMIT);
    assert!(output.status.success(), "{}: {}", trace.display(), text(&output.stderr));
    let shown = text(&output.stdout);
    let line = shown
        .lines()
        .find_map(|line| line.strip_prefix("events"))
        .expect("a count of events");
    let digits: String = line
        .trim()
        .chars()
        .take_while(|c| !c.is_whitespace())
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().expect("a number")
}

#[test]
fn wrong_words_are_answered_with_the_nearest_right_ones() {
    for (words, nearest) in [
        (&["recrod"][..], "record"),
        (&["record", "--exlude", "a", "--", "true"], "--exclude"),
        (&["trace", "inof", "t.ravel"], "info"),
        (&["explain", "data-rase"], "data-race"),
        (&["check", "--analyses", "locksets", "t.ravel"], "lockset"),
        (&["report", "--fail-on", "harmfull", "f.json"], "harmful"),
    ] {
        assert_has(&ends_with(2, ravel().args(words)), nearest);
    }
}

#[test]
fn usage_errors_end_with_2() {
    for (words, reason) in [
        (&[][..], "Usage"),
        (&["record"], "COMMAND"),
        (&["record", "--"], "COMMAND"),
        (&["record", "--max-size", "10X", "--", "true"], "use K, M or G"),
        (
            &["record", "--max-time", "soon", "--", "true"],
            "not a number of seconds",
        ),
        (&["record", "--noise", "1:2000", "--", "true"], "more than every point"),
        (
            &["record", "--", "no-such-command-anywhere"],
            "cannot start no-such-command-anywhere",
        ),
        (&["check"], "TRACE"),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        assert_has(&ends_with(2, ravel().args(words).current_dir(directory.path())), reason);
    }
}

#[test]
fn the_help_of_a_run_is_grouped_and_has_examples() {
    let output = run(ravel().args(["run", "--help"]), LIMIT);
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    for heading in ["Recording:", "Analysis:", "Forcing:", "Report:", "Examples:"] {
        assert_eq!(
            help.matches(&format!("\n{heading}\n")).count(),
            1,
            "{heading} in {help}"
        );
    }
}

#[test]
fn a_command_needs_no_dashes_before_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let record = |arguments: &[&str]| {
        let output = run(
            ravel().arg("record").args(arguments).current_dir(directory.path()),
            LIMIT,
        );
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), said(&output.stdout), said(&output.stderr))
    };
    // No JVM, so nothing is observed; what the command prints shows which words it got.
    for arguments in [
        ["echo", "--include", "x", "-o"].as_slice(),
        &["--", "echo", "--include", "x", "-o"],
        &["-o", "t.ravel", "echo", "--include", "x", "-o"],
    ] {
        let (code, printed, _) = record(arguments);
        assert_eq!((code, printed.as_str()), (Some(3), "--include x -o\n"), "{arguments:?}");
    }
    let (code, _, said) = record(&["--includ", "x", "echo"]);
    assert!(code == Some(2) && said.contains("--include"), "{code:?} {said}");
}

#[test]
fn help_and_version_go_to_standard_output() {
    let output = run(ravel().arg("--help"), LIMIT);
    assert!(output.status.success());
    for command in ["record", "check", "report", "trace", "explain", "doctor", "demo"] {
        assert_has(&text(&output.stdout), &format!("  {command} "));
    }
    let output = run(ravel().arg("--version"), LIMIT);
    assert_eq!(text(&output.stdout), format!("ravel {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_and_manual_pages_come_from_the_definition() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(ravel().args(["completions", shell]), LIMIT);
        assert!(output.status.success(), "{shell}: {}", text(&output.stderr));
        for wanted in ["keep-unshared", "fail-on", "explain", "doctor"] {
            assert_has(&text(&output.stdout), wanted);
        }
    }
    assert_has(&ends_with(2, ravel().args(["completions", "bsh"])), "bash");
    for (words, wanted) in [
        (&["man"][..], "Finds the concurrency bugs"),
        (&["man", "run"], "\\-\\-budget"),
        (&["man", "trace", "dump"], "ravel\\-trace\\-dump"),
    ] {
        let output = run(ravel().args(words), LIMIT);
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        let page = text(&output.stdout);
        assert!(page.contains(".TH ") && page.contains(".SH SYNOPSIS"), "{page}");
        assert_has(&page, wanted);
    }
    assert_has(&ends_with(2, ravel().args(["man", "rnu"])), "did you mean `run`?");
}

#[test]
fn a_jvm_that_somebody_else_starts_records_itself() {
    let directory = tempfile::tempdir().expect("a directory");
    let jdk = tested_jdks().swap_remove(0);
    let source = common::root().join("subjects/bugs/CounterLost.java");
    common::compile_some(&jdk, &[source], directory.path());
    let asked = run(
        ravel()
            .args(["record", "--print-option", "-o"])
            .arg(directory.path().join("t.ravel")),
        LIMIT,
    );
    assert!(asked.status.success(), "{}", text(&asked.stderr));
    let option = text(&asked.stdout).trim().to_owned();
    let traces = || {
        let written = std::fs::read_dir(directory.path()).expect("a directory").flatten();
        let paths = written.map(|entry| entry.path());
        paths
            .filter(|path| path.extension().is_some_and(|e| e == "ravel"))
            .collect::<Vec<_>>()
    };
    // As an option of the JVM, and in the variable that all JVMs read.
    for variable in [false, true] {
        let mut java = std::process::Command::new(jdk.tool("java"));
        if variable {
            java.env("JAVA_TOOL_OPTIONS", &option);
        } else {
            java.arg(&option);
        }
        let ran = run(java.arg("-cp").arg(directory.path()).arg("CounterLost"), LIMIT);
        assert!(ran.status.success(), "{option}: {}", text(&ran.stderr));
        let [trace] = traces().try_into().expect("one trace");
        let checked = run(ravel().arg("check").arg("--all").arg(&trace), LIMIT);
        assert_has(&text(&checked.stdout), "CounterLost");
        assert!(
            !text(&checked.stdout).contains("agentpath"),
            "the option is Ravel's own"
        );
        let forced = run(ravel().arg("replay").arg(&trace), LIMIT);
        assert_has(&text(&forced.stdout), "harmful[");
        assert_eq!(traces().len(), 1, "forced runs leave no traces of their own");
        std::fs::remove_file(trace).expect("removed");
    }
    assert_has(
        &ends_with(2, ravel().args(["record", "--print-option", "--", "true"])),
        "--print-option",
    );
}

#[test]
fn every_command_and_option_says_what_it_is_for() {
    fn look(words: &[String]) {
        let output = run(ravel().args(words).arg("--help"), LIMIT);
        assert!(output.status.success(), "{words:?}");
        let help = text(&output.stdout);
        let mut commands = false;
        let mut lines = help.lines().peekable();
        while let Some(line) = lines.next() {
            commands = line == "Commands:" || commands && line.starts_with("  ");
            let named =
                line.trim_start().starts_with("--") || line.trim_start().starts_with('-') && line.contains(", --");
            let alone = line.trim().split("  ").filter(|part| !part.is_empty()).count() == 1;
            if named && alone {
                let next = lines.peek().copied().unwrap_or_default();
                assert!(next.starts_with("          "), "{words:?}: nothing about {line}");
            }
            if commands && line.starts_with("  ") {
                let name = line.split_whitespace().next().unwrap_or_default().to_owned();
                if name != "help" && !line.starts_with("   ") {
                    look(&[words, &[name]].concat());
                }
            }
        }
    }
    look(&[]);
}

#[test]
fn a_comparison_fails_only_on_what_is_new() {
    let report = |name: &str| common::root().join(format!("crates/report/tests/reports/{name}.json"));
    let compared = |code: i32, old: &str, new: &str| {
        let output = run(ravel().arg("diff").args([report(old), report(new)]), LIMIT);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{old}, {new}: {said}");
        said
    };
    assert_has(&compared(0, "mixed", "mixed"), "0 new, 0 gone");
    assert_has(
        &compared(1, "lock-order", "mixed"),
        "new      a1b2c3d4 [atomicity] harmful",
    );
    assert_has(&compared(0, "mixed", "empty"), "0 new, 3 gone");
    assert_has(&compared(2, "mixed", "missing"), "missing.json");
    assert_has(&ends_with(2, ravel().args(["diff", "-", "-"])), "standard input");
}

#[test]
fn files_that_are_no_traces_are_refused_by_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("empty.ravel"), "").expect("written");
    std::fs::write(path("foreign.ravel"), "PK\u{3}\u{4} something else altogether").expect("written");
    std::fs::write(path("newer.ravel"), b"\x89RAVEL\r\n\xff\0\0\0\0\0\0\0").expect("written");
    std::fs::create_dir(path("folder.ravel")).expect("made");
    for name in [
        "missing.ravel",
        "empty.ravel",
        "foreign.ravel",
        "newer.ravel",
        "folder.ravel",
    ] {
        for command in [&["trace", "info"][..], &["trace", "dump"], &["check"]] {
            assert_has(&ends_with(2, ravel().args(command).arg(path(name))), name);
        }
    }
    assert_has(
        &ends_with(2, ravel().arg("report").arg(path("newer.ravel"))),
        "ravel check",
    );
}

#[test]
fn what_the_report_needs_is_looked_for_before_anything_runs() {
    let directory = tempfile::tempdir().expect("a directory");
    let ran = directory.path().join("ran");
    let touch = ["--", "touch", "ran"];
    for (words, reason) in [
        (&["--baseline", "missing.json"][..], "missing.json"),
        (&["--config", "missing.toml"], "missing.toml"),
        (&["--out", "html=/proc/x/report.html"], "cannot make the folder /proc/x"),
        (&["--out", "html=."], "it is a folder"),
        (&["--out", "html=/proc/report.html"], "cannot write /proc/report.html"),
    ] {
        let mut command = ravel();
        command.arg("run").args(words).args(touch).current_dir(directory.path());
        assert_has(&ends_with(2, &mut command), reason);
        assert!(!ran.exists(), "{words:?}");
    }
}

#[test]
fn an_output_that_fails_costs_no_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    std::fs::copy(
        common::root().join("crates/report/tests/reports/data-race.json"),
        path("f.json"),
    )
    .expect("copied");
    let mut command = ravel();
    command
        .args(["report", "f.json", "--out", "json=/dev/full", "--out", "sarif=f.sarif"])
        .current_dir(directory.path());
    let said = ends_with(2, &mut command);
    assert_has(&said, "cannot write /dev/full");
    let sarif = std::fs::read_to_string(path("f.sarif")).expect("the other one is written");
    assert!(sarif.contains("7be1d0c4"));
}

#[test]
fn reports_that_are_none_are_named_for_what_they_are() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    for (name, content, wanted) in [
        ("newer.json", r#"{"version": 9, "findings": []}"#, "use a newer Ravel"),
        ("cut.json", r#"{"version": 1, "#, "the file is cut off"),
        (
            "sarif.json",
            r#"{"version": "2.1.0", "runs": []}"#,
            "it looks like SARIF",
        ),
        ("page.html", "<!doctype html>", "--out json=FILE"),
    ] {
        std::fs::write(path(name), content).expect("written");
        let error = ends_with(2, ravel().arg("report").arg(path(name)));
        assert_has(&error, name);
        assert_has(&error, wanted);
    }
}

#[test]
fn a_command_without_a_jvm_is_nothing_observed() {
    let directory = tempfile::tempdir().expect("a directory");
    let trace = directory.path().join("t.ravel");
    let error = ends_with(3, ravel().arg("record").arg("-o").arg(&trace).args(["--", "true"]));
    assert_has(&error, "nothing was recorded: the command started no JVM");
    assert!(!trace.exists());
}

#[test]
fn places_that_cannot_be_written_are_said_before_anything_runs() {
    let directory = tempfile::tempdir().expect("a directory");
    let ran = directory.path().join("ran");
    std::fs::write(directory.path().join("file"), "").expect("written");
    // Not even root can make files in /proc.
    for place in [
        directory.path().join("missing"),
        directory.path().join("file"),
        PathBuf::from("/proc"),
    ] {
        let output = place.join("t.ravel");
        let error = ends_with(
            2,
            ravel()
                .arg("record")
                .arg("-o")
                .arg(output)
                .args(["--", "touch"])
                .arg(&ran),
        );
        assert_has(&error, &place.display().to_string());
    }
    // A rename would put a plain file in place of the device.
    for special in [Path::new("/dev/null"), directory.path()] {
        let mut command = ravel();
        command
            .arg("record")
            .arg("-o")
            .arg(special)
            .args(["--", "touch"])
            .arg(&ran);
        assert_has(&ends_with(2, &mut command), "is not a regular file");
    }
    assert!(!ran.exists());
}

#[test]
fn a_full_disk_harms_the_trace_and_not_the_program() {
    let directory = tempfile::tempdir().expect("a directory");
    let trace = directory.path().join("t.ravel");
    for jdk in tested_jdks() {
        // The agent library is larger than what is allowed below: it has to be in the cache by then.
        record(&jdk, directory.path(), &[], &[], &["Ends"]);
        // No file of this shell's children grows beyond 64 blocks: the nearest to a full disk that needs no root. The JVM
        // takes its share for performance data, which has to stay out of the way.
        let program = java_line(&jdk, "Rounds 20").replacen(" -cp", " -XX:-UsePerfData -cp", 1);
        let line = format!(
            "ulimit -f 64; exec '{}' record -o '{}' -- {program}",
            ravel().get_program().to_string_lossy(),
            trace.display()
        );
        let output = run(Command::new("sh").arg("-c").arg(line), LIMIT);
        let error = text(&output.stderr);
        assert_has(&text(&output.stdout), "done 800000");
        assert_eq!(output.status.code(), Some(0), "{error}");
        assert_has(&error, "the trace is incomplete: ");
        assert_has(&error, "os error");
        assert!(events(&trace) > 0);
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_passed_over() {
    let directory = tempfile::tempdir().expect("a directory");
    let (jdk, home) = (oldest(), tempfile::tempdir().expect("a directory"));
    let command = |cache: &str, home: &Path, temporary: &str| {
        let mut command = ravel();
        command.arg("record").arg("-o").arg(directory.path().join("t.ravel"));
        command.arg("--").arg(java(&jdk)).arg("-cp").arg(classes()).arg("Ends");
        command
            .env("RAVEL_CACHE", cache)
            .env_remove("XDG_CACHE_HOME")
            .env("HOME", home)
            .env("TMPDIR", temporary);
        command
    };
    let usual = std::env::temp_dir();
    ends_with(0, &mut command("/proc/cache", home.path(), &usual.to_string_lossy()));
    let unpacked = std::fs::read_dir(home.path().join(".cache/ravel"))
        .expect("unpacked there")
        .count();
    assert_eq!(unpacked, 1);
    let error = ends_with(2, &mut command("/proc/cache", Path::new("/proc/home"), "/proc"));
    assert_has(&error, "/proc/cache");
    assert_has(&error, "set RAVEL_CACHE");
}

#[test]
fn the_exit_code_is_ravels_or_the_programs() {
    let directory = tempfile::tempdir().expect("a directory");
    let jdk = oldest();
    let output = record(&jdk, directory.path(), &[], &[], &["Ends", "7"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_has(&text(&output.stderr), "exit status: 7");
    let output = record(&jdk, directory.path(), &["--exit-code", "program"], &[], &["Ends", "7"]);
    assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
}

#[test]
fn options_of_the_environment_are_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    for words in [
        vec!["sh".to_string(), "-c".to_string(), java_line(&oldest(), "Ends")],
        {
            let classes = classes().to_string_lossy().into_owned();
            vec![java(&oldest()), "-cp".to_string(), classes, "Ends".to_string()]
        },
    ] {
        let trace = directory.path().join("t.ravel");
        let mut command = ravel();
        command.arg("record").arg("-o").arg(&trace).arg("--").args(&words);
        let output = run(command.env("JAVA_TOOL_OPTIONS", "-Dkept=yes"), LIMIT);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_has(&text(&output.stdout), "property yes");
        assert!(events(&trace) > 0);
        std::fs::remove_file(trace).expect("removed");
    }
}

#[test]
fn agents_of_the_user_keep_working() {
    for jdk in tested_jdks() {
        let directory = tempfile::tempdir().expect("a directory");
        let (jar, manifest) = (directory.path().join("agent.jar"), directory.path().join("manifest"));
        std::fs::write(&manifest, "Premain-Class: Premain\n").expect("written");
        let mut command = Command::new(jdk.tool("jar"));
        command
            .arg("cfm")
            .arg(&jar)
            .arg(&manifest)
            .arg("-C")
            .arg(classes())
            .arg("Premain.class");
        let made = run(&mut command, LIMIT);
        assert!(made.status.success(), "{}", text(&made.stderr));
        let agent = format!("-javaagent:{}=here", jar.display());
        let debugger = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0";
        let output = record(&jdk, directory.path(), &[], &[&agent, debugger], &["Ends"]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "JDK {}: {}",
            jdk.release,
            text(&output.stderr)
        );
        let said = text(&output.stdout);
        for wanted in ["premain here", "Listening for transport dt_socket", "property null"] {
            assert_has(&said, wanted);
        }
        assert!(events(&directory.path().join("t.ravel")) > 0);
    }
}

#[test]
fn two_jvms_give_two_traces() {
    let directory = tempfile::tempdir().expect("a directory");
    let script = directory.path().join("both.sh");
    let lines: Vec<String> = ["Ends", "Rounds 1"]
        .iter()
        .map(|words| java_line(&oldest(), words))
        .collect();
    std::fs::write(&script, lines.join("\n")).expect("written");
    let trace = directory.path().join("t.ravel");
    let mut command = ravel();
    command
        .arg("record")
        .arg("-o")
        .arg(&trace)
        .args(["--", "sh"])
        .arg(&script);
    ends_with(0, &mut command);
    assert!(!trace.exists());
    let traces = numbered_traces(directory.path());
    assert_eq!(traces.len(), 2, "{traces:?}");
    for (_, trace) in traces {
        assert!(events(&trace) > 0);
    }
}

/// Process ids and traces `t-ID.ravel` of a directory.
fn numbered_traces(directory: &Path) -> Vec<(u32, PathBuf)> {
    let paths = std::fs::read_dir(directory)
        .expect("a directory")
        .flatten()
        .map(|entry| entry.path());
    paths
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?;
            let id = name.strip_prefix("t-")?.strip_suffix(".ravel")?.parse().ok()?;
            Some((id, path))
        })
        .collect()
}

#[test]
fn limits_end_the_recording_and_not_the_program() {
    let jdk = oldest();
    let directory = tempfile::tempdir().expect("a directory");
    let trace = directory.path().join("t.ravel");
    let output = record(&jdk, directory.path(), &[], &[], &["Rounds", "20"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let whole = events(&trace);
    for (limit, reason) in [
        (["--max-size", "20K"], "size limit"),
        (["--max-time", "0.05"], "time limit"),
    ] {
        let output = record(&jdk, directory.path(), &limit, &[], &["Rounds", "20"]);
        assert_has(&text(&output.stdout), "done 800000");
        assert_has(&text(&output.stderr), reason);
        // The time may be over before the program has begun.
        assert!(matches!(output.status.code(), Some(0 | 3)), "{}", text(&output.stderr));
        if output.status.code() == Some(0) {
            assert!(events(&trace) < whole, "{limit:?} ended nothing");
        }
    }
}

#[test]
fn a_killed_jvm_leaves_a_readable_trace() {
    for jdk in tested_jdks() {
        for round in [1, 2, 5] {
            let directory = tempfile::tempdir().expect("a directory");
            let recorded = kill_after(&jdk, directory.path(), round);
            assert!(
                recorded > 10_000,
                "JDK {}, round {round}: {recorded} events",
                jdk.release
            );
        }
    }
}

/// Kills the JVM as soon as it has printed this round; gives the number of events in its trace.
fn kill_after(jdk: &Jdk, directory: &Path, round: u32) -> u64 {
    let trace = directory.join("t.ravel");
    let mut command = ravel();
    command
        .arg("record")
        .arg("-o")
        .arg(&trace)
        .arg("--")
        .arg(java(jdk))
        .arg("-cp")
        .arg(classes());
    command
        .args(["Rounds", "1000000"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("ravel starts");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let reached = lines.map_while(Result::ok).any(|line| line == format!("round {round}"));
    assert!(reached, "the program ended before round {round}");
    let started = Instant::now();
    let (id, _) = numbered_traces(directory)
        .pop()
        .expect("the JVM's trace while it is written");
    let killed = Command::new("kill")
        .args(["-KILL", &id.to_string()])
        .status()
        .expect("kill starts");
    assert!(killed.success());
    let output = child.wait_with_output().expect("ravel ends");
    assert!(started.elapsed() < LIMIT);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert_has(&error, "ended before it could close its trace");
    events(&trace)
}
