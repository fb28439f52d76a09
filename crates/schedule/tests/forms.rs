//! The forms of a schedule: for people, for files, for JSON; and the names of threads in them.

use crate::support::Tape;
use ravel_schedule::{Leave, ParseError, Schedule, Segment, ThreadName};
use ravel_trace::ThreadId;
use ravel_trace::names::Thread;

fn example() -> Schedule {
    let thread = |path: &str, name: &str| ThreadName {
        path: path.to_owned(),
        name: name.to_owned(),
    };
    Schedule {
        threads: vec![thread("main", "main"), thread("main/0", "a \"b\" c")],
        segments: vec![
            Segment {
                thread: 0,
                until: 12,
                leave: None,
            },
            Segment {
                thread: 1,
                until: 3,
                leave: None,
            },
            Segment {
                thread: 0,
                until: 13,
                leave: None,
            },
        ],
        controlled: false,
    }
}

#[test]
fn people_see_a_line_per_turn() {
    let expected =
        "main     12 points, to position 12\na \"b\" c  3 points, to position 3\nmain     1 point, to position 13\n";
    assert_eq!(example().to_string(), expected);
}

#[test]
fn text_is_read_back() {
    let text = example().to_text();
    assert_eq!(
        text,
        "ravel schedule 1\nthread main \"main\"\nthread main/0 \"a \\\"b\\\" c\"\n\
         run main to 12\nrun main/0 to 3\nrun main to 13\n"
    );
    assert_eq!(Schedule::parse(&text), Ok(example()));
    let edited = text.replace("run main/0", "\n  # by hand\n  run   main/0 ");
    assert_eq!(Schedule::parse(&edited), Ok(example()));
}

#[test]
fn json_is_read_back() {
    let json = example().to_json();
    assert_eq!(json, r#"[["main",12],["a \"b\" c",3],["main",1]]"#);
    assert_eq!(Schedule::from_json(&json, &example().threads), Ok(example()));
    let unknown = Schedule::from_json(r#"[["main",1],["who",2]]"#, &example().threads);
    assert_eq!(
        unknown,
        Err(ParseError::NoSuchThread {
            turn: 2,
            name: "who".to_owned()
        })
    );
    assert!(matches!(
        Schedule::from_json(r#"[["main"]]"#, &[]),
        Err(ParseError::Json(_))
    ));
    let overflow = Schedule::from_json(r#"[["main",4294967295],["main",1]]"#, &example().threads);
    assert_eq!(
        overflow,
        Err(ParseError::TooManyPoints {
            turn: 2,
            name: "main".to_owned()
        })
    );
}

#[test]
fn turns_that_last_until_something_is_left_are_stored_and_read_back() {
    let mut schedule = example();
    let (main, child) = (schedule.threads[0].clone(), schedule.threads[1].clone());
    schedule.run_out_of(&child, 0, Leave::Frame { depth: 2, entered: 1 });
    schedule.run_out_of(&main, 20, Leave::Lock(1));
    schedule.run_on(&child, 5);
    let text = schedule.to_text();
    let expected = "run main/0 to 3 out of frame 2 entered 1\nrun main to 20 out of lock 1\nrun main/0 to 8\n";
    assert!(text.ends_with(expected), "{text}");
    assert_eq!(Schedule::parse(&text), Ok(schedule));
}

#[test]
fn errors_name_the_line() {
    let error = |text: &str| Schedule::parse(text).expect_err("wrong").to_string();
    assert_eq!(error(""), "line 1: a schedule begins with `ravel schedule 1`");
    assert_eq!(
        error("# note\n\nrun main to 1"),
        "line 3: a schedule begins with `ravel schedule 1`"
    );
    let head = "ravel schedule 1\nthread main \"main\"\n";
    let third = |line: &str| error(&format!("{head}{line}\n"));
    assert_eq!(
        third("go main"),
        "line 3: expected `thread PATH \"NAME\"` or `run PATH to POSITION`, found `go`"
    );
    assert_eq!(third("thread"), "line 3: a thread needs its path, like `main/0`");
    assert_eq!(
        third("thread main/0 x"),
        "line 3: the name of thread main/0 must stand in quotes"
    );
    assert_eq!(third("thread main \"again\""), "line 3: thread main is named twice");
    assert!(third("run main 5").starts_with("line 3: expected `run PATH to POSITION`"));
    assert_eq!(third("run main to 5 out of lock x"), "line 3: `x` is not a number");
    assert_eq!(third("run main to five"), "line 3: `five` is not a position");
    assert_eq!(
        third("run main/1 to 5"),
        "line 3: no line `thread main/1 …` names this thread"
    );
    assert_eq!(
        third("run main to 5\nrun main to 5"),
        "line 4: thread main is at position 5 already"
    );
}

#[test]
fn paths_follow_parents_and_spawn_order() {
    let mut tape = Tape::new(1);
    let thread = |name: &str, parent: Option<u32>, spawn_index| Thread {
        name: name.to_owned(),
        parent: parent.map(ThreadId),
        spawn_index,
        ..Thread::default()
    };
    tape.names.threads.extend([
        thread("worker", Some(0), 0),
        thread("worker", Some(1), 2),
        thread("Reference Handler", None, 0),
        thread("main", None, 0),
        thread("", Some(4), 1),
    ]);
    let image = tape.image();
    let names: Vec<_> = image
        .thread_names()
        .iter()
        .map(|t| (t.path.as_str(), t.name.as_str()))
        .collect();
    assert_eq!(
        names,
        [
            ("main", "main"),
            ("main/0", "worker"),
            ("main/0/2", "worker#2"),
            ("Reference%20Handler", "Reference Handler"),
            ("main#2", "main#2"),
            ("main#2/1", "thread-5"),
        ]
    );
}
