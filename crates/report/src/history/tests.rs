//! Tests of a history: what runs add up to, and what is refused.

use ravel_analysis::finding::{Report, Summary};

use super::*;

fn report(program: &str, complete: bool, findings: &[(&str, Evidence)]) -> Report {
    let one = |(id, evidence): &(&str, Evidence)| Finding {
        shown: *evidence >= Evidence::Confirmed,
        message: format!("<message> of {id}"),
        ..Finding::new((*id).to_owned(), Rule::DataRace, *evidence)
    };
    Report {
        program: program.to_owned(),
        complete,
        summary: Summary {
            events: 9,
            ..Summary::default()
        },
        findings: findings.iter().map(one).collect(),
        ..Report::default()
    }
}

fn day(text: &str) -> Day {
    text.parse().expect("a day")
}

#[test]
fn evidence_over_time_and_what_is_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut history = History::create(folder.path()).expect("begun");
    let run = |complete, findings: &[(&str, Evidence)]| report("java Shop", complete, findings);
    let first = run(true, &[("a", Evidence::Predicted), ("b", Evidence::Harmful)]);
    assert_eq!(history.add(&first, day("2026-11-01")).expect("added"), Added::Run(1));
    assert_eq!(
        history.add(&first, day("2026-11-02")).expect("known"),
        Added::Known(1),
        "the same report counts once"
    );
    history
        .add(&run(true, &[("a", Evidence::Harmful)]), day("2026-11-03"))
        .expect("added");
    // Incomplete runs, and runs of other programs, say nothing about what they do not have.
    history.add(&run(false, &[]), day("2026-11-04")).expect("added");
    history
        .add(
            &report("java Other", true, &[("c", Evidence::Confirmed)]),
            day("2026-11-05"),
        )
        .expect("added");
    drop(history);
    let history = History::open(folder.path()).expect("opened again");
    let all = history.findings().expect("read");
    let of = |id: &str| all.iter().find(|one| one.id == id).expect("there");
    assert_eq!(
        of("a")
            .levels()
            .iter()
            .map(|seen| (seen.run, seen.evidence))
            .collect::<Vec<_>>(),
        [(1, Evidence::Predicted), (2, Evidence::Harmful)]
    );
    assert_eq!(of("a").gone, None);
    assert_eq!(
        of("b").gone.as_ref().map(|(run, count)| (run.number, *count)),
        Some((2, 1))
    );
    assert_eq!(of("c").gone, None);
    let text = history.text(false, 80).expect("text");
    assert!(
        text.contains("b [data-race] gone since 2026-11-03 (1 complete run without it)"),
        "{text}"
    );
    assert!(
        text.contains("a [data-race] harmful, not in a later incomplete run"),
        "{text}"
    );
    assert!(
        text.contains(
            "seen in 2 of 3 runs, first 2026-11-01, last 2026-11-03; evidence predicted (run 1), harmful (run 2)"
        ),
        "{text}"
    );
    assert!(text.ends_with("3 findings in 4 runs: 2 open, 1 gone\n"), "{text}");
    let page = history.html(false).expect("a page");
    assert!(
        page.contains("&lt;message&gt; of a") && !page.contains("<message>"),
        "{page}"
    );
    let json = history.json(true).expect("JSON");
    assert_eq!(
        (json["version"].as_i64(), json["findings"].as_array().map(Vec::len)),
        (Some(1), Some(3))
    );
    let (run, last) = history.last_report("java Shop").expect("read").expect("one");
    assert_eq!((run.number, last.findings.len()), (2, 1));
    assert_eq!(
        history
            .last_report("java None")
            .expect("read")
            .map(|(run, _)| run.number),
        None
    );
    assert!(
        history
            .seen_before("b")
            .expect("read")
            .is_some_and(|words| words.contains("first 2026-11-01"))
    );
}

#[test]
fn what_is_no_history_is_refused_with_a_way_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = History::open(folder.path()).expect_err("none").to_string();
    assert!(error.contains("add REPORT"), "{error}");
    std::fs::write(
        folder.path().join("history.sqlite"),
        "not a database, but long enough to be read as one",
    )
    .expect("a file");
    let error = History::create(folder.path()).expect_err("damaged").to_string();
    assert!(
        error.contains("history.sqlite") && error.contains("move it away"),
        "{error}"
    );
    let other = tempfile::tempdir().expect("a folder");
    drop(History::create(other.path()).expect("begun"));
    let newer = rusqlite::Connection::open(other.path().join("history.sqlite")).expect("opened");
    newer.execute_batch("pragma user_version = 9").expect("set");
    drop(newer);
    let error = History::open(other.path()).expect_err("newer").to_string();
    assert!(error.contains("version 9") && error.contains("newer Ravel"), "{error}");
}

#[test]
fn builds_that_end_at_the_same_time_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let folder = folder.path();
            scope.spawn(move || {
                let id = format!("f{number}");
                let mut history = History::create(folder).expect("opened");
                history
                    .add(
                        &report("java Shop", true, &[(&id, Evidence::Harmful)]),
                        day("2026-11-01"),
                    )
                    .expect("added");
            });
        }
    });
    let history = History::open(folder.path()).expect("opened");
    assert_eq!(history.findings().expect("read").len(), 8);
}
