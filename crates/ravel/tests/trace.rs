//! `ravel trace` as its users see it.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SAMPLE: &str = "main|fork(T1)|1
main|w(shop.Stock.items)|12
T1|begin()|3
T1|acq(l)|4
T1|r(shop.Stock.items)|12
main|r(x)|0
T1|rel(l)|8
T1|end()|9
main|join(T1)|6
";

fn ravel(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ravel"))
        .arg("trace")
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("ravel starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The sample with what happens between fork and join so many times: a thread that was joined does not go on.
fn repeated(times: usize) -> String {
    let is_frame = |line: &&str| ["fork", "begin", "end", "join"].iter().any(|word| line.contains(word));
    let lines = SAMPLE.split_inclusive('\n');
    let between: String = lines.clone().filter(|line| !is_frame(line)).collect();
    let frame: Vec<&str> = lines.filter(is_frame).collect();
    [frame[0], frame[1], &between.repeat(times), frame[2], frame[3]].concat()
}

/// A directory with `a.std` and `a.ravel` in it.
fn sample(content: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("a.std"), content).expect("written");
    let output = ravel(directory.path(), &["import", "a.std", "-o", "a.ravel"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    directory
}

/// Standard error of a run that must fail with exit code 2.
fn refusal(directory: &Path, arguments: &[&str]) -> String {
    let output = ravel(directory, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stderr)
}

#[test]
fn text_goes_in_and_comes_out_the_same() {
    let directory = sample(SAMPLE);
    let output = ravel(directory.path(), &["export", "a.ravel", "-o", "-"]);
    assert_eq!(text(&output.stdout), SAMPLE);
    assert!(output.status.success());
    let output = ravel(directory.path(), &["export", "a.ravel", "-o", "b.std"]);
    assert!(output.status.success());
    assert_eq!(
        std::fs::read_to_string(directory.path().join("b.std")).expect("written"),
        SAMPLE
    );
    assert!(
        text(&output.stderr).contains("b.std: 9 lines; left out 0 events"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn info_tells_what_is_in_a_trace_within_eighty_columns() {
    let directory = sample(&repeated(50));
    let output = ravel(directory.path(), &["info", "a.ravel"]);
    let shown = text(&output.stdout);
    for expected in [
        "option      imported = a.std",
        "events      254",
        "  read                  100",
        "threads     2",
        "locations   2, 1 of them used by more than one thread",
        "           100 shop.Stock.items",
        "locks       1,",
        "            50 l",
    ] {
        assert!(shown.contains(expected), "no `{expected}` in\n{shown}");
    }
    let timeline: Vec<&str> = shown
        .lines()
        .skip_while(|line| !line.starts_with("threads"))
        .take(3)
        .collect();
    assert!(timeline.iter().all(|line| line.chars().count() <= 80), "{timeline:?}");
    assert!(
        timeline
            .iter()
            .skip(1)
            .all(|line| line.contains('▄') || line.contains('▃')),
        "{timeline:?}"
    );
}

#[test]
fn dump_shows_what_is_asked_for() {
    let directory = sample(SAMPLE);
    let lines = |arguments: &[&str]| -> Vec<String> {
        let all: Vec<&str> = ["dump", "a.ravel"].iter().chain(arguments).copied().collect();
        let output = ravel(directory.path(), &all);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).lines().map(str::to_string).collect()
    };
    assert_eq!(lines(&[]).len(), 9);
    assert_eq!(lines(&["--thread", "T1"]).len(), 5);
    assert_eq!(lines(&["--location", "Stock"]).len(), 2);
    assert_eq!(lines(&["--range", "2..4"]).len(), 2);
    assert_eq!(lines(&["--range", "7.."]).len(), 2);
    assert_eq!(lines(&["--limit", "3"]).len(), 3);
    let second = &lines(&["--range", "1..2"])[0];
    let words: Vec<&str> = second.split_whitespace().collect();
    assert_eq!(words, ["1", "main", "1", "write", "shop.Stock.items", "at", "12"]);
}

#[test]
fn mistakes_are_refused_with_the_reason() {
    let directory = sample(SAMPLE);
    let here = directory.path();
    assert!(refusal(here, &["info", "a.std"]).contains("a.std is not a Ravel trace"));
    assert!(refusal(here, &["info", "none.ravel"]).contains("none.ravel"));
    assert!(refusal(here, &["info", "."]).contains("regular file"));
    assert!(refusal(here, &["dump", "a.ravel", "--range", "5"]).contains("A..B"));
    assert!(refusal(here, &["dump", "a.ravel", "--range", "5..2"]).contains("ends before it starts"));
    assert!(refusal(here, &["export", "a.ravel", "-o", "no/such/place"]).contains("cannot write"));
    std::fs::write(here.join("bad.std"), "T0|r(x)|1\nT0|r(x)|one\n").expect("written");
    let error = refusal(here, &["import", "bad.std", "-o", "bad.ravel"]);
    assert!(error.contains("bad.std: line 2: the place is no integer"), "{error}");
    let left: Vec<_> = std::fs::read_dir(here)
        .expect("a directory")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert!(
        !left.iter().any(|name| name.to_string_lossy().starts_with("bad.ravel")),
        "{left:?}"
    );
}

#[test]
fn a_damaged_trace_is_refused_and_can_be_salvaged() {
    let lines: String = (0..60_000)
        .map(|i| format!("T{}|r(v{})|{}\n", i / 9 % 2, i % 97, i % 31))
        .collect();
    let directory = sample(&lines);
    let path = directory.path().join("a.ravel");
    let mut bytes = std::fs::read(&path).expect("a trace");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&path, &bytes).expect("written");
    let error = refusal(directory.path(), &["info", "a.ravel"]);
    assert!(
        error.contains("a.ravel is damaged at byte ") && error.contains("--salvage"),
        "{error}"
    );
    let output = ravel(directory.path(), &["info", "a.ravel", "--salvage"]);
    assert!(output.status.success());
    assert!(text(&output.stdout).contains("skipped "), "{}", text(&output.stdout));
    bytes[middle] ^= 0x55;
    bytes.truncate(bytes.len() - 10);
    std::fs::write(&path, &bytes).expect("written");
    let output = ravel(directory.path(), &["info", "a.ravel"]);
    assert!(output.status.success());
    assert!(
        text(&output.stdout).contains("the last block is incomplete: ignored "),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let directory = sample(&repeated(20_000));
    for arguments in [["dump", "a.ravel"], ["export", "a.ravel"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ravel"))
            .arg("trace")
            .args(arguments)
            .current_dir(directory.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("ravel starts");
        let mut first = [0; 100];
        child
            .stdout
            .take()
            .expect("piped")
            .read_exact(&mut first)
            .expect("some output");
        let output = child.wait_with_output().expect("ravel ends");
        assert_eq!(
            (output.status.code(), text(&output.stderr)),
            (Some(0), String::new()),
            "{arguments:?}"
        );
    }
}
