//! Proof on several machines: what the shards of a plan find together is what one machine finds.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::common::{compile_some, ravel, root, run, tested_jdks};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(240);

/// Subjects with several findings each.
const SUBJECTS: [&str; 3] = ["MergeSort", "Elevator", "LinkedChain"];

/// Runs Ravel in a folder without any engine's variables; its exit code and what it printed.
fn ravel_in(folder: &Path, jdk: &Path, args: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [jdk.join("bin")].into_iter().chain(std::env::split_paths(&path));
    let mut command: Command = ravel();
    command.current_dir(folder).args(["-q"]).args(args);
    for name in [
        "SLURM_ARRAY_TASK_ID",
        "JOB_COMPLETION_INDEX",
        "CI_NODE_INDEX",
        "RAVEL_SHARD_INDEX",
    ] {
        command.env_remove(name);
    }
    command.env("PATH", std::env::join_paths(path).expect("a path"));
    command.envs(variables.iter().copied());
    let output = run(&mut command, LIMIT);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Ids, evidence and whether they are shown, of findings that were forced or are shown; whether the report is complete.
fn told(json: &str) -> (bool, Vec<(String, String, bool)>) {
    let report: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    let word = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let mut all: Vec<(String, String, bool)> = report["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|finding| (word(finding, "id"), word(finding, "evidence"), finding["shown"] == true))
        .collect();
    all.sort();
    (report["complete"] == true, all)
}

fn recorded(subject: &str, folder: &Path, jdk: &crate::common::Jdk) {
    let source = root().join("subjects/bugs").join(format!("{subject}.java"));
    compile_some(jdk, std::slice::from_ref(&source), &folder.join("classes"));
    let text = std::fs::read_to_string(&source).expect("a subject");
    let package = text
        .lines()
        .find_map(|line| line.strip_prefix("package ")?.strip_suffix(';'));
    let main = package.map_or_else(|| subject.to_owned(), |package| format!("{package}.{subject}"));
    let args = ["record", "-o", "t.ravel", "--", "java", "-cp", "classes", &main];
    ravel_in(folder, &jdk.home, &args, &[]);
    assert!(folder.join("t.ravel").exists(), "{subject} was recorded");
}

#[test]
fn shards_find_together_what_one_machine_finds() {
    let jdks = tested_jdks();
    for (number, subject) in SUBJECTS.iter().enumerate() {
        let jdk = &jdks[number % jdks.len()];
        let folder = tempfile::tempdir().expect("a folder");
        let here = folder.path();
        let ravel = |args: &[&str]| ravel_in(here, &jdk.home, args, &[]);
        recorded(subject, here, jdk);
        let (code, said, error) = ravel(&["plan", "t.ravel", "-o", "goals"]);
        assert_eq!(code, 0, "{subject}: {said}{error}");
        let (_, alone, error) = ravel(&["replay", "t.ravel", "--format", "json"]);
        let alone = told(&alone);
        assert!(
            alone.0 && alone.1.iter().any(|one| one.2),
            "{subject}: {alone:?} {error}"
        );
        let count = 2 + number % 2;
        let mut files = Vec::new();
        for index in (1..=count).rev() {
            let shard = format!("{index}/{count}");
            let (code, _, error) = ravel(&["prove", "goals", "--shard", &shard]);
            assert_eq!(code, 0, "{subject} {shard}: {error}");
            files.push(format!("shard-{index}-of-{count}.json"));
        }
        let mut args = vec!["merge", "--format", "json"];
        args.extend(files.iter().map(String::as_str));
        let (code, merged, error) = ravel(&args);
        assert_eq!(code, 1, "{subject}: {error}");
        assert_eq!(told(&merged), alone, "{subject}: {count} shards and one machine");
        // In another order, one of them twice: the same bytes.
        args[3..].reverse();
        args.push(&files[0]);
        assert_eq!(ravel(&args).1, merged, "{subject}");
        // Without one of them.
        let (code, part, error) = ravel(&["merge", "--format", "json", &files[0]]);
        assert!(!told(&part).0, "{subject}");
        assert_eq!(code, 2, "{subject}: {error}");
        assert!(
            error.contains("not tried") && error.contains("ravel prove"),
            "{subject}: {error}"
        );
    }
}

#[test]
fn the_engine_names_the_share_and_single_findings_can_be_tried() {
    let jdk = tested_jdks().swap_remove(0);
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    recorded("Account", here, &jdk);
    let plan = ["plan", "t.ravel", "-o", "goals"];
    let (code, _, error) = ravel_in(here, &jdk.home, &plan, &[]);
    assert_eq!(code, 0, "{error}");
    let prove = ["prove", "goals"];
    let kubernetes = [("JOB_COMPLETION_INDEX", "1")];
    let (code, _, error) = ravel_in(here, &jdk.home, &prove, &kubernetes);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("RAVEL_SHARD_COUNT"), "{error}");
    // A share that has nothing to try ends at once.
    let slurm = [
        ("SLURM_ARRAY_TASK_ID", "900"),
        ("SLURM_ARRAY_TASK_MIN", "1"),
        ("SLURM_ARRAY_TASK_COUNT", "900"),
    ];
    let (code, _, error) = ravel_in(here, &jdk.home, &prove, &slurm);
    assert_eq!(code, 0, "{error}");
    assert!(error.contains("shard 900/900: 0 findings tried"), "{error}");
    assert!(here.join("shard-900-of-900.json").exists());
    // One finding, by its file.
    let goals: Value =
        serde_json::from_str(&std::fs::read_to_string(here.join("goals/plan.json")).expect("a plan")).expect("JSON");
    let id = goals["findings"][0].as_str().expect("an id");
    let file = format!("goals/{id}.json");
    let (code, _, error) = ravel_in(here, &jdk.home, &["prove", &file, "-o", "one.json"], &[]);
    assert_eq!(code, 0, "{error}");
    let one = std::fs::read_to_string(here.join("one.json")).expect("a report");
    let (_, findings) = told(&one);
    assert!(
        findings
            .iter()
            .any(|(known, evidence, _)| known == id && evidence == "harmful"),
        "{findings:?}"
    );
    // Another trace than the planned one.
    std::fs::write(here.join("other.ravel"), "no trace").expect("a file");
    let other = ["prove", "goals", "--shard", "1/1", "--trace", "other.ravel"];
    let (code, _, error) = ravel_in(here, &jdk.home, &other, &[]);
    assert_eq!(code, 2);
    assert!(
        error.contains("other.ravel") && error.contains("not the trace of the plan"),
        "{error}"
    );
}
