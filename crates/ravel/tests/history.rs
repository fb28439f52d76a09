//! `ravel history`, and `ravel diff` with one.

use std::path::Path;
use std::time::Duration;

use crate::common::{ravel, run};

fn ravel_in(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = run(ravel().current_dir(folder).args(args), Duration::from_secs(60));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// A report with these findings, all harmful.
fn report(ids: &[&str], complete: bool) -> String {
    let one = |id: &&str| {
        serde_json::json!({
            "id": id, "rule": "data-race", "evidence": "harmful", "shown": true, "patterns": [], "analyses": [], "variables": [],
            "units": [], "steps": [], "outcome": null, "schedule": [], "replay": "", "message": format!("message of {id}"), "help": "",
        })
    };
    let summary =
        serde_json::json!({ "events": 5, "threads": 2, "classes": { "instrumented": 1, "skipped": 0, "failed": 0 } });
    let findings: Vec<_> = ids.iter().map(one).collect();
    let whole = serde_json::json!({
        "version": 1, "program": "java Shop", "complete": complete, "summary": summary, "findings": findings,
    });
    whole.to_string()
}

#[test]
fn runs_are_added_shown_and_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    for (name, ids) in [
        ("1.json", &["aa", "bb"][..]),
        ("2.json", &["aa"]),
        ("3.json", &["aa", "bb", "cc"]),
    ] {
        std::fs::write(here.join(name), report(ids, true)).expect("a file");
    }
    let ravel = |args: &[&str]| ravel_in(here, args);
    let (code, _, error) = ravel(&["history", "kept"]);
    assert_eq!(code, 2);
    assert!(error.contains("kept") && error.contains("add REPORT"), "{error}");
    let (code, said, error) = ravel(&["history", "kept", "add", "--day", "2026-11-01", "1.json", "2.json"]);
    assert_eq!((code, said.as_str()), (0, "1.json: run 1\n2.json: run 2\n"), "{error}");
    let (_, said, _) = ravel(&["history", "kept", "add", "2.json"]);
    assert_eq!(said, "2.json: run 2, which was there already\n");
    let (code, table, error) = ravel(&["history", "kept", "--html", "page.html"]);
    assert_eq!(code, 0, "{error}");
    assert!(table.contains("bb [data-race] gone since 2026-11-01"), "{table}");
    assert!(table.ends_with("2 findings in 2 runs: 1 open, 1 gone\n"), "{table}");
    assert!(std::fs::read_to_string(here.join("page.html")).is_ok_and(|page| page.contains("message of aa")));
    let (code, said, error) = ravel(&["diff", "--history", "kept", "3.json"]);
    assert_eq!(code, 1, "{error}");
    assert!(
        said.contains("2 new, 0 gone, 0 with different evidence, 1 the same"),
        "{said}"
    );
    assert!(
        said.contains("bb came back: seen in 1 of 2 runs") && !said.contains("cc came back"),
        "{said}"
    );
    let (code, _, error) = ravel(&["diff", "--history", "kept", "1.json", "3.json"]);
    assert!(code == 2 && error.contains("new ones alone"), "{error}");
    let (code, _, error) = ravel(&["diff", "1.json"]);
    assert!(code == 2 && error.contains("--history"), "{error}");
}
