//! What `ravel run` and `ravel replay` do with processes: standard input, JVMs that a script starts, programs that do not end
//! or block, kills of the JVM and of Ravel itself. Nothing hangs, nothing is left behind.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::common::{
    Jdk, compile_some, each, in_turn, kept_directory, newest_jdk, oldest_jdk, ravel, root, run, run_with_input,
    sources, tested_jdks,
};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(180);
/// A look at all processes costs milliseconds of a core.
const LOOK_EVERY: Duration = Duration::from_millis(40);

/// The programs of this file and the faulty subjects, compiled once by the oldest JDK.
fn classes() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let directory = kept_directory("processes-classes");
        let jdk = &tested_jdks()[0];
        let mut programs = sources("faults");
        programs.extend(
            ["Between", "Lingers", "ManyEvents", "ReadsCount"]
                .map(|name| root().join(format!("crates/ravel/tests/java/{name}.java"))),
        );
        compile_some(jdk, &programs, &directory);
        directory
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn words(output: &Output) -> String {
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

/// `ravel run OPTIONS -o DIRECTORY/t.ravel --out json=DIRECTORY/t.json -- COMMAND`, without a search.
fn job(directory: &Path, options: &[&str], command: &[String]) -> Command {
    let mut job = ravel();
    job.args(["run", "--explore", "0", "-o"])
        .arg(directory.join("t.ravel"))
        .arg("--out")
        .arg(format!("json={}", directory.join("t.json").display()))
        .args(options)
        .arg("--")
        .args(command);
    job
}

fn java(jdk: &Jdk, program: &[&str]) -> Vec<String> {
    let mut words = vec![jdk.tool("java").to_string_lossy().into_owned(), "-cp".to_string()];
    words.push(classes().to_string_lossy().into_owned());
    words.extend(program.iter().map(ToString::to_string));
    words
}

fn harmful(directory: &Path) -> Vec<Value> {
    of_evidence(directory, &["harmful"])
}

fn of_evidence(directory: &Path, wanted: &[&str]) -> Vec<Value> {
    let file = directory.join("t.json");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let all = report["findings"].as_array().expect("a list of findings");
    all.iter()
        .filter(|finding| wanted.iter().any(|evidence| finding["evidence"] == *evidence))
        .cloned()
        .collect()
}

/// The command that makes a finding happen again.
fn replay(finding: &Value) -> Command {
    let mut command = ravel();
    command.args(finding["replay"].as_str().expect("a command").split(' ').skip(1));
    command
}

/// Processes whose command line has these words.
fn processes(has: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("a list of processes").flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        std::fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|line| text(&line).replace('\0', " ").contains(has))
    })
    .collect()
}

/// No process with these words is left a few seconds from now.
fn nothing_left(has: &str) -> Result<(), String> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if processes(has).is_empty() {
            return Ok(());
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Err(format!("processes are left: {:?}", processes(has)))
}

fn signal(name: &str, id: u32) {
    let sent = Command::new("kill").args([name, &id.to_string()]).status();
    assert!(sent.expect("kill starts").success());
}

/// The end of a child that must come.
fn end(mut child: Child) -> Result<Output, String> {
    let start = Instant::now();
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if start.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            return Err("it did not end".to_string());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().map_err(|error| error.to_string())
}

fn check(right: bool, what: impl std::fmt::Display) -> Result<(), String> {
    if right { Ok(()) } else { Err(what.to_string()) }
}

#[test]
fn standard_input_is_given_again() {
    each(&tested_jdks(), |jdk| {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let dir = directory.path();
        let file = dir.join("input");
        std::fs::write(&file, "skipped\n7\nmore\n").expect("written");
        // A pipe that ends; a file that was partly read before; a pipe that stays open.
        let shell = |before: &str, options: &[&str]| {
            let mut words = vec!["sh".to_string(), "-c".to_string()];
            let line = java(jdk, options)
                .iter()
                .map(|word| format!("'{word}' "))
                .collect::<String>();
            words.push(format!("{before}{line}"));
            words
        };
        let piped = run_with_input(&mut job(dir, &[], &java(jdk, &["ReadsCount"])), b"7\nmore\n", LIMIT);
        check(words(&piped).contains("another line"), words(&piped))?;
        let [finding] = harmful(dir)
            .try_into()
            .map_err(|all| format!("{all:?}\n{}", words(&piped)))?;
        let again = run(&mut replay(&finding), LIMIT);
        check(again.status.code() == Some(1), words(&again))?;

        let ravel = job(dir, &[], &java(jdk, &["ReadsCount"]));
        let line: Vec<String> = std::iter::once(ravel.get_program())
            .chain(ravel.get_args())
            .map(|word| format!("'{}'", word.to_string_lossy()))
            .collect();
        let script = format!("{{ read skipped; {}; }} < '{}'", line.join(" "), file.display());
        let from_file = run(Command::new("bash").args(["-c", &script]), LIMIT);
        check(from_file.status.code() == Some(1), words(&from_file))?;
        check(words(&from_file).contains("another line"), words(&from_file))?;
        let [finding] = harmful(dir).try_into().map_err(|all| format!("{all:?}"))?;
        check(
            run(&mut replay(&finding), LIMIT).status.code() == Some(1),
            "replay after a file",
        )?;

        let mut open = job(dir, &["--runs", "2"], &shell("exec ", &["ReadsCount", "once"]));
        open.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = open.spawn().expect("ravel starts");
        let mut pipe = child.stdin.take().expect("piped");
        pipe.write_all(b"7\nnever read").expect("written");
        let output = end(child)?;
        drop(pipe);
        check(output.status.code() == Some(1), words(&output))?;
        let [finding] = harmful(dir).try_into().map_err(|all| format!("{all:?}"))?;
        check(
            run(&mut replay(&finding), LIMIT).status.code() == Some(1),
            "replay after an open pipe",
        )
    });
}

#[test]
fn of_the_jvms_of_a_script_the_recorded_one_is_forced() {
    each(&[oldest_jdk()], |jdk| {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let dir = directory.path();
        let line = |program: &[&str]| {
            java(jdk, program)
                .iter()
                .map(|word| format!("'{word}' "))
                .collect::<String>()
        };
        // The bug is in the second of two JVMs that differ in nothing but their input, behind another one, elsewhere.
        let script = format!(
            "cd /\n{}\necho 0 | {}\necho 7 | {}\n",
            line(&["EchoesInput"]),
            line(&["ReadsCount"]),
            line(&["ReadsCount"])
        );
        std::fs::write(dir.join("three.sh"), script).map_err(|error| error.to_string())?;
        let mut job = job(dir, &[], &["sh".to_string(), "three.sh".to_string()]);
        let output = run_with_input(job.current_dir(dir), b"hello\n", LIMIT);
        check(text(&output.stdout).contains("> hello"), words(&output))?;
        check(output.status.code() == Some(1), words(&output))?;
        let [finding] = harmful(dir).try_into().map_err(|all| format!("{all:?}"))?;
        let message = finding["outcome"]["message"].as_str().unwrap_or_default();
        check(message.contains("was 7; every serial order gives 14"), message)?;
        let again = run(replay(&finding).current_dir(dir), LIMIT);
        check(again.status.code() == Some(1), words(&again))
    });
}

#[test]
fn blocking_that_no_schedule_knows_of_is_let_through() {
    let kinds = ["sleep", "wait", "initialiser", "input", "socket"];
    each(&in_turn(kinds), |(jdk, kind)| {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut job = job(directory.path(), &["--budget", "60"], &java(jdk, &["Between", kind]));
        let output = run_with_input(&mut job, b"x", LIMIT);
        // A wait splits the unit: in some recordings the lost update is the outcome of a serial order of its parts.
        let is_proven = match *kind {
            "wait" => !of_evidence(directory.path(), &["confirmed", "harmful"]).is_empty(),
            _ => output.status.code() == Some(1) && !harmful(directory.path()).is_empty(),
        };
        check(is_proven, format!("{kind} on JDK {}: {}", jdk.release, words(&output)))
    });
}

#[test]
fn faulty_programs_hang_nothing_and_leave_nothing() {
    // Program, options, what Ravel returns, and what it or the program says.
    let all: [(&str, &[&str], i32, &str); 6] = [
        ("IgnoresInterrupts", &[], 0, "true"),
        // Its threads never leave what they are in: a forced run goes on until its time is up.
        ("ExitInTheMiddle", &["--budget", "20"], 0, "ended with exit status: 7"),
        ("BlocksOnInput", &[], 0, "end of input"),
        ("ThousandThreads", &["--budget", "20"], 0, "500500"),
        ("DeadlocksByItself", &["--end-after", "2"], 1, "t1 and t2 deadlock: "),
        (
            "NeverEnds",
            &["--end-after", "1.5", "--budget", "20"],
            0,
            "ended the program after 1.5 s",
        ),
    ];
    each(&in_turn(all), |(jdk, (program, options, code, said))| {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mark = format!("-Dmark={}", directory.path().display());
        let mut command = java(jdk, &[program]);
        command.insert(1, mark.clone());
        let output = run(&mut job(directory.path(), options, &command), LIMIT);
        let told = format!("{program} on JDK {}: {} {}", jdk.release, output.status, words(&output));
        check(output.status.code() == Some(*code) && told.contains(said), told)?;
        nothing_left(&mark)?;
        let again = run(
            ravel()
                .args(["replay", "--budget", "20"])
                .arg(directory.path().join("t.ravel")),
            LIMIT,
        );
        check(again.status.code() == Some(*code), words(&again))?;
        nothing_left(&mark)
    });
}

/// Ravel at work on a program, most often one that lingers, in a directory of its own whose name is in every command line.
struct AtWork {
    directory: tempfile::TempDir,
    mark: String,
    child: Child,
}

impl AtWork {
    fn new(jdk: &Jdk, options: &[&str], script: bool) -> AtWork {
        AtWork::on(jdk, "Lingers", options, script)
    }

    fn on(jdk: &Jdk, program: &str, options: &[&str], script: bool) -> AtWork {
        let directory = tempfile::tempdir().expect("a directory");
        let mark = format!("-Dmark={}", directory.path().display());
        let mut command = java(jdk, &[program]);
        command.insert(1, mark.clone());
        if script {
            let line = command.iter().map(|word| format!("'{word}' ")).collect::<String>();
            command = vec!["sh".into(), "-c".into(), format!("{line}; true")];
        }
        let mut job = job(directory.path(), options, &command);
        let scratch = directory.path().join("scratch");
        std::fs::create_dir(&scratch).expect("a directory");
        job.env("TMPDIR", scratch);
        job.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = job.spawn().expect("ravel starts");
        AtWork { directory, mark, child }
    }

    /// The JVMs that are forced now: a schedule or goals are in their command line or, behind a script, in their environment.
    fn forced_now(&self) -> Vec<u32> {
        let told = |id: &u32| {
            ["cmdline", "environ"].iter().any(|file| {
                let words = std::fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
                [",schedule=", ",goals="]
                    .iter()
                    .any(|option| text(&words).contains(option))
            })
        };
        processes(&self.mark).into_iter().filter(told).collect()
    }

    /// The temporary files that Ravel has not removed.
    fn scratch(&self) -> Vec<std::ffi::OsString> {
        let entries = std::fs::read_dir(self.directory.path().join("scratch")).expect("a directory");
        entries.flatten().map(|entry| entry.file_name()).collect()
    }

    /// Waits until there is none.
    fn no_scratch(&self) -> Result<(), String> {
        let start = Instant::now();
        while !self.scratch().is_empty() {
            check(
                start.elapsed() < Duration::from_secs(20),
                format!("files are left: {:?}", self.scratch()),
            )?;
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Waits for a JVM. A copy of Ravel that is about to become another program has the same words in its command line, so the
    /// program counts.
    fn wait_for_jvm(&self) -> Result<(), String> {
        let is_java = |id: &u32| {
            let program = std::fs::read_link(format!("/proc/{id}/exe"));
            program.is_ok_and(|program| program.file_name().is_some_and(|name| name == "java"))
        };
        let start = Instant::now();
        while !processes(&self.mark).iter().any(is_java) {
            check(start.elapsed() < LIMIT, "the program did not start")?;
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Waits until the recorded program has ended.
    fn wait_for_its_end(&self) -> Result<(), String> {
        self.wait_for_jvm()?;
        let start = Instant::now();
        while !processes(&self.mark).iter().all(|id| *id == self.child.id()) {
            check(start.elapsed() < LIMIT, "the program did not end")?;
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Waits for a forced run.
    fn wait_for_forced(&self) -> Result<(), String> {
        let start = Instant::now();
        while start.elapsed() < LIMIT {
            if !self.forced_now().is_empty() {
                return Ok(());
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Err("no forced run began".to_string())
    }
}

#[test]
fn a_killed_jvm_is_said_and_not_waited_for() {
    each(&[newest_jdk()], |jdk| {
        let mut work = AtWork::new(jdk, &["--end-after", "4", "--run-limit", "50", "--all"], false);
        let start = Instant::now();
        // Every forced run is killed; it would take most of a minute.
        while work.child.try_wait().map_err(|error| error.to_string())?.is_none() {
            if start.elapsed() > Duration::from_secs(45) {
                let _ = work.child.kill();
                return Err("it waited for a killed JVM".to_string());
            }
            for id in work.forced_now() {
                let _ = Command::new("kill").args(["-KILL", &id.to_string()]).status();
            }
            std::thread::sleep(LOOK_EVERY);
        }
        let mark = work.mark.clone();
        let output = end(work.child)?;
        check(words(&output).contains("SIGKILL"), words(&output))?;
        check(output.status.code() == Some(0), words(&output))?;
        nothing_left(&mark)
    });
}

#[test]
fn an_interrupt_ends_what_runs_and_reports_what_is_known() {
    each(&[oldest_jdk()], |jdk| {
        let work = AtWork::new(jdk, &["--end-after", "4", "--run-limit", "50", "--all"], false);
        work.wait_for_forced()?;
        let start = Instant::now();
        signal("-INT", work.child.id());
        let mark = work.mark.clone();
        let output = end(work.child)?;
        check(start.elapsed() < Duration::from_secs(20), "it did not stop")?;
        let told = words(&output);
        check(told.contains("Lingers.value") && told.contains("interrupted: "), &told)?;
        // The budget was not what ended it.
        check(!told.contains("time ran out"), &told)?;
        check(output.status.code() == Some(130), output.status)?;
        let written =
            std::fs::read_to_string(work.directory.path().join("t.json")).map_err(|error| error.to_string())?;
        let report: Value = serde_json::from_str(&written).map_err(|error| error.to_string())?;
        check(report["complete"] == false, &report["warnings"])?;
        nothing_left(&mark)
    });
}

#[test]
fn sigterm_stops_the_job_while_the_program_is_recorded() {
    each(&[newest_jdk()], |jdk| {
        let work = AtWork::new(jdk, &[], false);
        let (mark, id) = (work.mark.clone(), work.child.id());
        work.wait_for_jvm()?;
        signal("-TERM", id);
        let output = end(work.child)?;
        check(output.status.code() == Some(143), words(&output))?;
        nothing_left(&mark)
    });
}

#[test]
fn sigterm_is_answered_at_once_while_ravel_analyses_and_forces() {
    // The promise is a second; the rest is for a busy machine.
    const SOON: Duration = Duration::from_secs(3);
    each(&["analysing", "forcing"], |stage| {
        let jdk = &newest_jdk();
        let work = if *stage == "analysing" {
            let work = AtWork::on(jdk, "ManyEvents", &[], false);
            work.wait_for_its_end()?;
            work
        } else {
            let work = AtWork::new(jdk, &["--end-after", "4", "--run-limit", "50"], false);
            work.wait_for_forced()?;
            work
        };
        let mark = work.mark.clone();
        let sent = Instant::now();
        signal("-TERM", work.child.id());
        let output = end(work.child)?;
        let took = sent.elapsed();
        check(output.status.code() == Some(143), words(&output))?;
        check(took < SOON, format!("{stage}: it took {took:?}"))?;
        nothing_left(&mark)
    });
}

#[test]
fn a_second_interrupt_ends_ravel_at_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let started = directory.path().join("started");
    // A program that has no end by itself, whose words no other process has.
    let asleep = format!("sleep 600.{}", std::process::id());
    let script = format!("trap '' INT TERM; touch '{}'; {asleep}; true", started.display());
    let mut job = job(directory.path(), &[], &["sh".into(), "-c".into(), script]);
    job.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = job.spawn().expect("ravel starts");
    let start = Instant::now();
    while !started.exists() {
        assert!(start.elapsed() < LIMIT, "the program did not start");
        std::thread::sleep(LOOK_EVERY);
    }
    let sent = Instant::now();
    // Two signals of one kind that come at once are one.
    while child.try_wait().expect("a child").is_none() {
        assert!(sent.elapsed() < LIMIT, "it did not end");
        signal("-INT", child.id());
        std::thread::sleep(LOOK_EVERY);
    }
    let took = sent.elapsed();
    let output = child.wait_with_output().expect("its output");
    assert_eq!(output.status.code(), Some(130), "{}", words(&output));
    assert!(
        words(&output).contains("interrupted again: no report"),
        "{}",
        words(&output)
    );
    // After the first signal alone it would wait longer for the program.
    assert!(took < Duration::from_secs(4), "it took {took:?}");
    nothing_left(&asleep).expect("nothing");
}

#[test]
fn the_budget_ends_the_job() {
    // The program is ended after 4 seconds; each forced run of it would take 9.
    let start = Instant::now();
    let work = AtWork::new(&newest_jdk(), &["--end-after", "4", "--budget", "5", "--all"], false);
    let mark = work.mark.clone();
    let output = end(work.child).expect("it ends");
    let took = start.elapsed();
    assert!(words(&output).contains("time ran out"), "{}", words(&output));
    // The recorded run, the budget, a plain run, and what starting JVMs takes on a busy machine.
    assert!(took < Duration::from_secs(4 + 5 + 4 + 7), "it took {took:?}");
    nothing_left(&mark).expect("nothing");
}

#[test]
fn two_jobs_in_one_folder_keep_their_traces_apart() {
    let jdk = &tested_jdks()[0];
    let first = AtWork::new(jdk, &["--end-after", "4"], false);
    let trace = first.directory.path().join("t.ravel");
    // The first has claimed its trace before the program starts.
    first.wait_for_jvm().expect("it starts");
    let mut second = ravel();
    second
        .arg("run")
        .arg("-o")
        .arg(&trace)
        .env("TMPDIR", first.directory.path().join("scratch"))
        .args(["--", "true"]);
    let second = run(&mut second, LIMIT);
    assert_eq!(second.status.code(), Some(2), "{}", words(&second));
    assert!(words(&second).contains("another ravel"), "{}", words(&second));
    signal("-TERM", first.child.id());
    end(first.child).expect("it ends");
}

#[test]
fn nothing_outlives_a_killed_ravel() {
    let stages = [
        ("recording", false),
        ("recording", true),
        ("forcing", true),
        ("forcing", false),
    ];
    each(&in_turn(stages), |(jdk, (stage, script))| {
        let work = if *stage == "recording" {
            AtWork::new(jdk, &[], *script)
        } else {
            AtWork::new(jdk, &["--end-after", "4", "--run-limit", "50"], *script)
        };
        let (mark, id) = (work.mark.clone(), work.child.id());
        if *stage == "recording" {
            work.wait_for_jvm()?;
        } else {
            work.wait_for_forced()?;
        }
        check(!work.scratch().is_empty(), "no temporary file was seen")?;
        signal("-KILL", id);
        let mut work = work;
        work.child.wait().map_err(|error| error.to_string())?;
        nothing_left(&mark)
            .and_then(|()| work.no_scratch())
            .map_err(|error| format!("{stage}, script {script}, JDK {}: {error}", jdk.release))
    });
}
