//! `ravel run` and `ravel replay` from outside: exit codes, several recordings, several jobs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use crate::common::{self, Jdk, compile_some, kept_directory, newest_jdk, oldest_jdk, ravel, run, tested_jdks};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(240);

/// Subjects that the tests here use.
const BUGS: [&str; 4] = ["Account", "AtomicGetThenSet", "AtomicGetThenSetFixed", "OnCall"];

/// A program without bugs that ends with the code it is given; without one it has one thread alone.
const ENDS: &str = "
public class Ends {
    static int shared;

    public static void main(String[] args) throws InterruptedException {
        if (args.length == 0) {
            System.out.println(shared++);
            return;
        }
        Thread thread = new Thread(() -> shared++);
        thread.start();
        thread.join();
        shared++;
        System.exit(Integer.parseInt(args[0]));
    }
}";

/// The programs, compiled once by the oldest JDK.
fn classes() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let directory = kept_directory("run-classes");
        let ends = directory.join("Ends.java");
        std::fs::write(&ends, ENDS).expect("written");
        let mut sources: Vec<PathBuf> = BUGS
            .iter()
            .map(|name| common::root().join(format!("subjects/bugs/{name}.java")))
            .collect();
        sources.push(ends);
        for name in ["Alone", "Chance", "Differs", "Ending"] {
            sources.push(common::root().join(format!("crates/ravel/tests/java/{name}.java")));
        }
        compile_some(&oldest_jdk(), &sources, &directory);
        directory
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `ravel run OPTIONS -o DIRECTORY/t.ravel --out json=DIRECTORY/t.json -- java -cp … PROGRAM`. The bugs here need no search.
fn whole_job(jdk: &Jdk, directory: &Path, options: &[&str], program: &[&str]) -> Output {
    let mut command = ravel();
    command
        .args(["run", "--explore", "0", "-o"])
        .arg(directory.join("t.ravel"))
        .arg("--out")
        .arg(format!("json={}", directory.join("t.json").display()))
        .args(options)
        .arg("--")
        .arg(jdk.tool("java"))
        .arg("-cp")
        .arg(classes())
        .args(program);
    run(&mut command, LIMIT)
}

fn findings(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).expect("findings were written");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    report["findings"].as_array().expect("a list of findings").clone()
}

fn assert_code(output: &Output, code: i32, what: &str) {
    let words = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{what}: {words}");
}

#[test]
fn exit_codes_say_what_came_out() {
    let jdk = oldest_jdk();
    let directory = tempfile::tempdir().expect("a directory");
    let job = |options: &[&str], program: &[&str]| whole_job(&jdk, directory.path(), options, program);
    assert_code(&job(&[], &["AtomicGetThenSet"]), 1, "a bug");
    assert_code(&job(&[], &["AtomicGetThenSetFixed"]), 0, "no bug");
    assert_code(&job(&["--jobs", "0"], &["AtomicGetThenSet"]), 2, "a usage error");
    assert_code(
        &job(&["--include", "nothing."], &["AtomicGetThenSet"]),
        3,
        "nothing recorded",
    );
    let own = &["--exit-code", "program"];
    assert_code(&job(own, &["Ends", "7"]), 7, "the program's code");
    assert_code(
        &job(own, &["AtomicGetThenSet"]),
        0,
        "the program's code in spite of a bug",
    );
    assert_code(&job(&[], &["Ends", "7"]), 0, "Ravel's code in spite of the program's");
    let killed = run(
        ravel()
            .args(["run", "--exit-code", "program", "-o"])
            .arg(directory.path().join("k.ravel"))
            .args(["--", "sh", "-c", "kill -KILL $$"]),
        LIMIT,
    );
    assert_code(&killed, 128 + 9, "the signal that ended the program");
}

#[test]
fn two_jobs_without_names_for_their_traces_write_two_and_one_thread_alone_is_nothing_observed() {
    let folder = tempfile::tempdir().expect("a directory");
    let jobs: Vec<_> = tested_jdks()
        .into_iter()
        .cycle()
        .take(2)
        .map(|jdk| {
            let mut command = ravel();
            command.current_dir(folder.path()).args(["run", "--explore", "0", "--"]);
            command.arg(jdk.tool("java")).arg("-cp").arg(classes()).arg("Ends");
            command
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            command.spawn().expect("ravel starts")
        })
        .collect();
    for job in jobs {
        let output = job.wait_with_output().expect("it ran");
        assert_code(&output, 3, "one thread");
        let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert!(said.contains("only one thread ran"), "{said}");
    }
    let entries = std::fs::read_dir(folder.path()).expect("the folder");
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".ravel"))
        .collect();
    names.sort();
    assert_eq!(names, ["ravel-run.2.ravel", "ravel-run.ravel"]);
}

#[test]
fn several_recordings_give_one_finding_and_a_trace_to_replay() {
    let jdk = newest_jdk();
    let directory = tempfile::tempdir().expect("a directory");
    let output = whole_job(&jdk, directory.path(), &["--runs", "3"], &["AtomicGetThenSet"]);
    assert_code(&output, 1, "a bug");
    for number in 1..=3 {
        assert!(directory.path().join(format!("t-{number}.ravel")).exists());
    }
    let found = findings(&directory.path().join("t.json"));
    let harmful: Vec<&Value> = found
        .iter()
        .filter(|finding| finding["evidence"] == "harmful")
        .collect();
    assert_eq!(harmful.len(), 1, "{found:?}");
    let replay = harmful[0]["replay"].as_str().expect("a command");
    let words: Vec<&str> = replay.split(' ').skip(1).collect();
    assert_eq!(words[0], "replay");
    let again = run(ravel().args(&words), LIMIT);
    assert_code(&again, 1, replay);
    assert!(text(&again.stderr).contains("harmful"), "{}", text(&again.stderr));
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    let jdk = oldest_jdk();
    let directory = tempfile::tempdir().expect("a directory");
    let trace = directory.path().join("t.ravel");
    let mut record = Command::new(ravel().get_program());
    record.args(["record", "-o"]).arg(&trace).arg("--");
    record.arg(jdk.tool("java")).arg("-cp").arg(classes()).arg("Account");
    assert_code(&run(&mut record, LIMIT), 0, "recorded");
    let mut told = Vec::new();
    for jobs in ["1", "4"] {
        let file = directory.path().join(format!("{jobs}.json"));
        let output = run(
            ravel()
                .args(["replay", "--jobs", jobs, "--all", "--out"])
                .arg(format!("json={}", file.display()))
                .arg(&trace),
            LIMIT,
        );
        assert_code(&output, 1, "a bug");
        let text_of_file = std::fs::read_to_string(&file).expect("findings");
        let json: Value = serde_json::from_str(&text_of_file).expect("JSON");
        // How long it took may differ; and on a busy machine, which of several orders was the one that did harm.
        let known = |finding: &Value| {
            let known = ["id", "rule", "evidence", "shown", "patterns", "message", "outcome"];
            known.map(|key| finding[key].clone())
        };
        let findings: Vec<_> = json["findings"].as_array().into_iter().flatten().map(known).collect();
        // A line of progress comes every ten seconds.
        let words: Vec<String> = text(&output.stderr).lines().map(str::to_owned).collect();
        let lasting = words.into_iter().filter(|line| !line.starts_with("ravel: forcing: "));
        told.push((findings, lasting.collect::<Vec<_>>()));
    }
    assert_eq!(told[0], told[1]);
    assert!(!findings(&directory.path().join("4.json")).is_empty());
}

#[test]
fn chance_and_time_can_be_made_the_same_in_every_run() {
    for jdk in tested_jdks() {
        let directory = tempfile::tempdir().expect("a directory");
        let record = |options: &[&str], what: &str| {
            let mut record = ravel();
            record
                .arg("record")
                .arg("-o")
                .arg(directory.path().join("r.ravel"))
                .args(options)
                .arg("--");
            record
                .arg(jdk.tool("java"))
                .arg("-cp")
                .arg(classes())
                .args(["Chance", what]);
            text(&run(&mut record, LIMIT).stdout)
        };
        let fixed = ["--seed", "5", "--clock", "1000000"];
        let first = record(&fixed, "look");
        assert!(first.contains("0 time 1000000 10000"), "{first}");
        assert_eq!(record(&fixed, "look"), first, "JDK {}", jdk.release);
        assert_ne!(record(&["--seed", "6", "--clock", "1000000"], "look"), first);
        assert_ne!(record(&fixed, "secure"), record(&fixed, "secure"));
        assert_ne!(record(&[], "look"), record(&[], "look"));
        // The program's way to its bug depends on both, so it can only be forced if they are the same again.
        let output = whole_job(&jdk, directory.path(), &fixed, &["Chance", "add"]);
        assert_code(&output, 1, "a bug that depends on chance and time");
        let found = findings(&directory.path().join("t.json"));
        let finding = found
            .iter()
            .find(|finding| finding["evidence"] == "harmful")
            .expect("harm");
        let words: Vec<&str> = finding["replay"]
            .as_str()
            .expect("a command")
            .split(' ')
            .skip(1)
            .collect();
        assert_code(
            &run(ravel().args(words), LIMIT),
            1,
            "replay repeats the seed and the clock",
        );
    }
}

#[test]
fn a_run_that_leaves_the_recorded_path_is_tried_again_with_what_was_learnt() {
    let jdk = newest_jdk();
    let directory = tempfile::tempdir().expect("a directory");
    let mark = directory.path().join("made");
    // The first thread has ten points fewer from the second run on: its accesses are found where they are then.
    let program = ["Differs", "shifts", &mark.to_string_lossy()];
    assert_code(&whole_job(&jdk, directory.path(), &[], &program), 1, "a bug elsewhere");
    std::fs::remove_file(&mark).expect("the program has made it");
    // It does not come to the accesses at all: nothing can be learnt, and the place is said.
    let program = ["Differs", "skips", &mark.to_string_lossy()];
    whole_job(&jdk, directory.path(), &[], &program);
    let found = findings(&directory.path().join("t.json"));
    // The recorded run may have had the two accesses side by side, on a busy machine: then the race is shown, but not as one that was forced.
    let happened = |finding: &Value| matches!(finding["evidence"].as_str(), Some("confirmed" | "harmful"));
    assert!(!found.iter().any(happened), "no way to the bug: {found:#?}");
    let limits: Vec<&str> = found.iter().filter_map(|finding| finding["limit"].as_str()).collect();
    let said = |limit: &&str| {
        limit.contains("thread t1 took another path")
            && limit.contains("instead of read Differs.steps in Differs.work (Differs.java:")
            && limit.contains("input, time, random numbers or the order of a hash table may differ")
    };
    assert!(limits.iter().any(said), "JDK {}: {limits:#?}", jdk.release);
}

#[test]
fn a_race_of_threads_that_end_right_after_it_is_one() {
    for jdk in tested_jdks() {
        let directory = tempfile::tempdir().expect("a directory");
        let output = whole_job(&jdk, directory.path(), &[], &["Ending"]);
        assert_code(&output, 1, "a race");
        let found = findings(&directory.path().join("t.json"));
        let confirmed = |finding: &Value| finding["rule"] == "data-race" && finding["evidence"] == "confirmed";
        assert!(found.iter().any(confirmed), "JDK {}: {found:#?}", jdk.release);
    }
}

#[test]
fn what_went_wrong_beside_others_is_tried_again_alone() {
    let jdk = oldest_jdk();
    let directory = tempfile::tempdir().expect("a directory");
    let busy = directory.path().join("busy");
    let program = ["Alone", &busy.to_string_lossy()];
    let output = whole_job(&jdk, directory.path(), &["--jobs", "2"], &program);
    assert_code(&output, 1, "two bugs");
    let found = findings(&directory.path().join("t.json"));
    for variable in ["Alone.few", "Alone.many"] {
        let named = |finding: &&Value| finding["variables"].to_string().contains(variable);
        // Beside the other it never happens. Whether the lost count shows at the end depends on the rest of the run.
        let happened = |finding: &&Value| finding["evidence"] == "harmful" || finding["evidence"] == "confirmed";
        let finding = found.iter().filter(named).find(happened);
        assert!(finding.is_some(), "JDK {}: {variable}: {found:#?}", jdk.release);
    }
}

#[test]
fn a_schedule_can_be_taken_from_a_finding_edited_and_forced() {
    let jdk = &oldest_jdk();
    let directory = tempfile::tempdir().expect("a directory");
    assert_code(
        &whole_job(jdk, directory.path(), &[], &["AtomicGetThenSet"]),
        1,
        "a bug",
    );
    let found = findings(&directory.path().join("t.json"));
    let harmful = found
        .iter()
        .find(|finding| finding["evidence"] == "harmful")
        .expect("harm");
    let force = |schedule: &str| {
        let file = directory.path().join("schedule");
        std::fs::write(&file, schedule).expect("written");
        let mut replay = ravel();
        replay.arg("replay").arg(directory.path().join("t.ravel"));
        run(replay.arg("--schedule").arg(file), LIMIT)
    };
    let as_found = force(&harmful["schedule"].to_string());
    assert_code(&as_found, 1, "the finding's own schedule");
    let said = text(&as_found.stderr);
    assert!(said.contains("the program ended with exit status: 1"), "{said}");
    assert_code(&force("[]"), 0, "no turns: the program as it runs by itself");
    let wrong = force("[[\"nobody\", 3]]");
    assert_code(&wrong, 2, "a thread that the trace does not have");
    assert!(text(&wrong.stderr).contains("nobody"), "{}", text(&wrong.stderr));
}

/// Ravel's own output then is a file of the directory that changes while the program runs.
#[test]
fn a_report_may_go_to_a_file_in_the_working_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let job = "exec \"$@\" >out.log 2>&1";
    let mut command = Command::new("sh");
    command
        .current_dir(directory.path())
        .args(["-c", job, "sh"])
        .arg(ravel().get_program())
        .args(["run", "--budget", "40", "--"])
        .arg(oldest_jdk().tool("java"))
        .arg("-cp")
        .arg(classes())
        .arg("OnCall");
    // The bug shows in an order that was not recorded: its trace comes from a directory of its own, which is gone when it is forced.
    let output = run(&mut command, LIMIT);
    let words = std::fs::read_to_string(directory.path().join("out.log")).expect("the output");
    assert_eq!(output.status.code(), Some(1), "{words}");
}
