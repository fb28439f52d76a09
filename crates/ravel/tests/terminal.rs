//! Ravel on a terminal: progress where it helps and nowhere else, and Ctrl-C in every stage. The terminal is made by
//! `script`; where there is none, the tests say `skipped`; in CI they fail.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{compile_some, program, ravel, run, tested_jdks};

const LIMIT: Duration = Duration::from_secs(120);
const INTERRUPT: &[u8] = b"\x03";

/// Two threads count for the given time, or until a signal ends them.
const COUNTS: &str = "
public class Counts {
    static int shared;
    static final Object lock = new Object();

    public static void main(String[] args) throws InterruptedException {
        long end = System.currentTimeMillis() + Long.parseLong(args[0]);
        Runnable count = () -> {
            while (System.currentTimeMillis() < end) {
                synchronized (lock) { shared++; }
                try { Thread.sleep(5); } catch (InterruptedException e) { return; }
            }
        };
        Thread one = new Thread(count, \"one\"), two = new Thread(count, \"two\");
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(\"counted\");
    }
}";

fn has_script() -> bool {
    program(&["script"], "nothing is tried on a terminal").is_some()
}

/// A command that runs on a terminal of its own.
struct Terminal {
    child: Child,
    shown: Arc<Mutex<Vec<u8>>>,
    reader: Option<std::thread::JoinHandle<()>>,
}

impl Terminal {
    fn start(words: &[String], directory: &Path) -> Terminal {
        let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let mut child = Command::new("script")
            // The shell `script` starts takes itself out of the way: some die of the Ctrl-C that Ravel outlives.
            .args(["-qec", &format!("exec {}", quoted.join(" ")), "/dev/null"])
            .current_dir(directory)
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("script starts");
        let shown = Arc::new(Mutex::new(Vec::new()));
        let mut out = child.stdout.take().expect("a pipe");
        let copy = Arc::clone(&shown);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = out.read(&mut bytes) {
                copy.lock().expect("no panic").extend_from_slice(&bytes[..count]);
            }
        });
        Terminal {
            child,
            shown,
            reader: Some(reader),
        }
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().expect("no panic")).into_owned()
    }

    fn wait_for(&self, wanted: &str) {
        let start = Instant::now();
        while !self.shown().contains(wanted) {
            assert!(start.elapsed() < LIMIT, "no {wanted:?} in:\n{}", self.shown());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn press(&mut self, keys: &[u8]) {
        let input = self.child.stdin.as_mut().expect("a pipe");
        input
            .write_all(keys)
            .and_then(|()| input.flush())
            .expect("keys are pressed");
    }

    /// Waits for the end; what was shown, and the exit code.
    fn end(mut self) -> (String, Option<i32>) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                break status;
            }
            assert!(start.elapsed() < LIMIT, "it does not end:\n{}", self.shown());
            std::thread::sleep(Duration::from_millis(20));
        };
        self.reader.take().map(std::thread::JoinHandle::join);
        (self.shown(), status.code())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn words(stage: &[&str], java: &Path, classes: &Path, millis: &str) -> Vec<String> {
    let mut words = vec![env!("CARGO_BIN_EXE_ravel").to_owned()];
    words.extend(stage.iter().map(|word| (*word).to_owned()));
    let (java, classes) = (java.display().to_string(), classes.display().to_string());
    words.extend([
        "--".to_owned(),
        java,
        "-cp".to_owned(),
        classes,
        "Counts".to_owned(),
        millis.to_owned(),
    ]);
    words
}

fn classes(directory: &Path) -> std::path::PathBuf {
    let source = directory.join("Counts.java");
    std::fs::write(&source, COUNTS).expect("written");
    compile_some(&tested_jdks()[0], &[source], directory);
    tested_jdks()[0].tool("java")
}

#[test]
fn recording_shows_progress_on_a_terminal_and_nowhere_else() {
    let directory = tempfile::tempdir().expect("a directory");
    let java = classes(directory.path());
    let recorded = words(&["record", "-o", "t.ravel"], &java, directory.path(), "2500");
    let output = run(ravel().args(&recorded[1..]).current_dir(directory.path()), LIMIT);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("recording:") && !said.contains('\u{1b}'), "{said:?}");
    if !has_script() {
        return;
    }
    let (shown, code) = Terminal::start(&recorded, directory.path()).end();
    assert_eq!(code, Some(0), "{shown:?}");
    assert!(
        shown.contains("recording: ") && shown.contains(" a second), "),
        "{shown:?}"
    );
    assert!(
        shown.contains("counted\r\n"),
        "the program's own line is whole: {shown:?}"
    );
    let quiet = words(&["--quiet", "record", "-o", "t.ravel"], &java, directory.path(), "2500");
    let (shown, _) = Terminal::start(&quiet, directory.path()).end();
    assert!(!shown.contains("recording:"), "{shown:?}");
}

#[test]
fn interrupting_the_recording_leaves_a_trace_and_a_report() {
    if !has_script() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let java = classes(directory.path());
    let stage = ["run", "--orders", "1", "--explore", "0", "-o", "t.ravel"];
    let job = words(&stage, &java, directory.path(), "600000");
    let mut terminal = Terminal::start(&job, directory.path());
    terminal.wait_for("recording: ");
    terminal.press(INTERRUPT);
    let interrupted = Instant::now();
    let (shown, code) = terminal.end();
    // The program goes on for ten minutes, and a run of it may take 30 s (`--run-limit`) unless the user has ended it sooner.
    assert!(interrupted.elapsed() < Duration::from_secs(30), "{shown}");
    assert!(matches!(code, Some(0 | 1)), "{code:?}\n{shown}");
    assert!(
        shown.contains("ravel: interrupted; waiting for the program to end"),
        "{shown}"
    );
    assert!(shown.contains("found       "), "the summary is there: {shown}");
    let info = run(
        ravel().args(["trace", "info"]).arg(directory.path().join("t.ravel")),
        LIMIT,
    );
    assert!(info.status.success(), "the trace can be read");
}

#[test]
fn interrupting_the_forcing_reports_what_is_known() {
    if !has_script() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let java = classes(directory.path());
    // Unguarded, so that there is something to force; every forced run takes as long as this one.
    let source = COUNTS.replace("synchronized (lock) { shared++; }", "shared++;");
    std::fs::write(directory.path().join("Counts.java"), source).expect("written");
    compile_some(
        &tested_jdks()[0],
        &[directory.path().join("Counts.java")],
        directory.path(),
    );
    let job = words(&["run", "-j", "1", "-o", "t.ravel"], &java, directory.path(), "1500");
    let mut terminal = Terminal::start(&job, directory.path());
    terminal.wait_for("counted");
    terminal.wait_for("forcing: ");
    terminal.press(INTERRUPT);
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(130), "{shown}");
    assert!(
        shown.contains("found       ") && shown.contains("interrupted: "),
        "{shown}"
    );
}

#[test]
fn text_is_as_wide_as_the_terminal() {
    if !has_script() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    // Lines of code in the page keep their length; the prose fills the columns.
    let page = |columns: usize| {
        let ravel = env!("CARGO_BIN_EXE_ravel");
        let command = format!("stty cols {columns} && exec {ravel} explain data-race");
        let words = ["sh", "-c", &command].map(str::to_owned);
        let (shown, code) = Terminal::start(&words, directory.path()).end();
        assert_eq!(code, Some(0), "{shown}");
        let widest = shown.lines().map(|line| line.trim_end().chars().count()).max();
        (widest.unwrap_or(0), shown.lines().count())
    };
    let (wide, narrow) = (page(110), page(70));
    assert!((81..=110).contains(&wide.0), "{wide:?}");
    assert!(narrow.0 < wide.0 && narrow.1 > wide.1, "{narrow:?} {wide:?}");
}
