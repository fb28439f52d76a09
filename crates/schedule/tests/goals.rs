//! What goals lead to: which are refused, units one after the other, turns that begin and end where they can, and reads that
//! values explain.

use crate::support::{Tape, broken, made, refused};
use ravel_analysis::finding::{Candidate, EventRef, Rule, UnitKind, UnitSpan};
use ravel_schedule::{
    Broken, CheckVerdict, Contenders, Effort, EventAt, Goal, GoalError, Leave, NoSchedule, Shape, Span, Start, audit,
    generate, serial_schedules,
};
use ravel_trace::{LocationId, LockId, Op, SyncId, ThreadId, Value};

const X: u32 = 0;
const Y: u32 = 1;
const FLAG: u32 = 8;
const L: u32 = 0;

#[test]
fn goals_that_make_no_sense_are_refused() {
    let mut tape = Tape::new(2);
    let a = tape.write(0, X);
    let b = tape.write(0, X);
    let nowhere = EventAt { position: 99, ..a };
    let image = tape.image();
    let error = |events: &[EventAt]| match generate(
        &image,
        &Goal::new(Shape::Ordered, events.iter().copied()),
        &Effort::default(),
    ) {
        Err(NoSchedule::Goal(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(error(&[]), GoalError::TooFew);
    assert_eq!(error(&[a, b]), GoalError::TooFew);
    assert_eq!(error(&[b, a]), GoalError::AgainstProgramOrder(a));
    assert_eq!(error(&[a, nowhere]), GoalError::NoSuchEvent(nowhere));
}

#[test]
fn units_run_one_after_the_other_in_both_orders() {
    let mut tape = Tape::new(3);
    tape.fork(0, 1);
    tape.fork(0, 2);
    let mut units = Vec::new();
    let mut events = Vec::new();
    for thread in [1, 2] {
        tape.op(thread, Op::Begin);
        let begin = tape.read(thread, X);
        let end = tape.write(thread, X);
        tape.op(thread, Op::End { exception: false });
        units.push(Span {
            thread: ThreadId(thread),
            begin: begin.position,
            end: Some(end.position),
            leave: None,
        });
        events.push([begin, end]);
    }
    let image = tape.image();
    let goal = Goal {
        shape: Shape::Ordered,
        events: vec![events[0][0], events[1][1], events[0][1]],
        units,
    };
    let serial = serial_schedules(&image, &goal, &Effort::default(), None).found;
    let orders: Vec<_> = serial.iter().map(|s| (s.order.clone(), s.schedule.to_json())).collect();
    assert_eq!(
        orders,
        [
            (vec![0, 1], r#"[["main",2],["t1",3],["t2",3]]"#.to_owned()),
            (vec![1, 0], r#"[["main",2],["t2",3],["t1",3]]"#.to_owned()),
        ]
    );
}

#[test]
fn a_unit_that_a_method_begins_does_not_have_the_point_before_the_call() {
    let mut tape = Tape::new(3);
    tape.fork(0, 1);
    tape.fork(0, 2);
    let mut units = Vec::new();
    let mut events = Vec::new();
    for thread in [1, 2] {
        tape.op(thread, Op::Begin);
        let before = tape.write(thread, X);
        let first = tape.read(thread, X);
        let last = tape.write(thread, X);
        tape.op(thread, Op::End { exception: false });
        let entered = before.position;
        units.push(Span {
            thread: ThreadId(thread),
            begin: entered,
            end: Some(last.position),
            leave: Some(Leave::Frame { depth: 2, entered }),
        });
        events.push([first, last]);
    }
    let image = tape.image();
    let goal = Goal {
        shape: Shape::Ordered,
        events: vec![events[0][0], events[1][1], events[0][1]],
        units,
    };
    let start = Start::of(&image, &goal, &Effort::default()).expect("a start");
    // Both threads have made the write before their call when the units begin.
    assert_eq!(start.schedule(&image).to_json(), r#"[["main",2],["t1",2],["t2",2]]"#);
}

#[test]
fn a_serial_order_against_hard_order_is_left_out() {
    let mut tape = Tape::new(2);
    let a = tape.write(0, X);
    tape.send(0, 0);
    tape.receive(1, 0);
    let b = tape.write(1, X);
    let span = |e: EventAt| Span {
        thread: e.thread,
        begin: e.position,
        end: Some(e.position),
        leave: None,
    };
    let goal = Goal {
        shape: Shape::Ordered,
        events: vec![a, b],
        units: vec![span(a), span(b)],
    };
    let serial = serial_schedules(&tape.image(), &goal, &Effort::default(), None).found;
    assert_eq!(serial.iter().map(|s| s.order.clone()).collect::<Vec<_>>(), [[0, 1]]);
}

#[test]
fn orders_that_were_not_looked_for_are_missing() {
    let mut tape = Tape::new(4);
    let events: Vec<EventAt> = (0..4).map(|thread| tape.write(thread, X)).collect();
    let span = |e: &EventAt| Span {
        thread: e.thread,
        begin: e.position,
        end: Some(e.position),
        leave: None,
    };
    let image = tape.image();
    let orders = |count: usize| {
        let goal = Goal {
            shape: Shape::Ordered,
            events: events[..count].to_vec(),
            units: events[..count].iter().map(span).collect(),
        };
        let orders = serial_schedules(&image, &goal, &Effort::default(), None);
        (orders.found.len(), orders.missing)
    };
    assert_eq!(orders(2), (2, 0));
    assert_eq!(orders(3), (6, 0));
    assert_eq!(orders(4), (6, 18));
}

#[test]
fn threads_that_write_to_the_same_locations_at_any_time_contend() {
    assert_eq!(others_contend(false), []);
    assert_eq!(others_contend(true), [ThreadId(3)]);
}

/// The threads that contend with units of threads 1 and 2: thread 0 is ordered with them, thread 3 is not.
fn others_contend(third: bool) -> Vec<ThreadId> {
    let mut tape = Tape::new(4);
    // The first write comes before both units, the last after both.
    tape.write(0, X);
    tape.send(0, 0);
    tape.receive(1, 0);
    tape.receive(2, 0);
    let a = tape.write(1, X);
    let b = tape.write(2, X);
    tape.send(1, 1);
    tape.send(2, 1);
    tape.receive(0, 1);
    tape.write(0, X);
    let span = |e: EventAt| Span {
        thread: e.thread,
        begin: e.position,
        end: Some(e.position),
        leave: None,
    };
    let goal = Goal {
        shape: Shape::Ordered,
        events: vec![a, b],
        units: vec![span(a), span(b)],
    };
    if third {
        tape.write(3, X);
    }
    let contenders = Contenders::of(&tape.image(), &goal);
    assert_eq!(contenders.is_contended(), third);
    contenders.others
}

/// A thread has begun before its first point: its beginning is no turn of the schedule.
#[test]
fn beginnings_take_no_turn() {
    let mut tape = Tape::new(3);
    tape.op_at(0, 0, Op::Begin);
    tape.fork(0, 1);
    tape.fork(0, 2);
    tape.op_at(1, 0, Op::Begin);
    tape.op_at(2, 0, Op::Begin);
    let a = tape.write(1, X);
    let b = tape.write(2, X);
    let image = tape.image();
    let goal = Goal::new(Shape::Adjacent, [a, b]);
    let made = made(&image, Shape::Adjacent, &[a, b]);
    assert_eq!(made.schedule.to_json(), r#"[["main",2],["t1",1],["t2",1]]"#);
    let early = broken(&image, &goal, &[("main", 1), ("main/0", 1), ("main/1", 1)]);
    assert!(
        matches!(early, Broken::Order { needs, .. } if needs.position == 2),
        "{early}"
    );
}

/// A hand-over is two events of the giver at one position, with the taker's between them.
#[test]
fn a_hand_over_is_split_where_it_waited() {
    let mut tape = Tape::new(2);
    let update = Op::Update {
        location: LocationId(FLAG),
        value: Value::Exact(0),
    };
    let a = tape.write(0, X);
    tape.op_at(0, 2, Op::Send { sync: SyncId(0) });
    tape.op_at(1, 1, Op::Receive { sync: SyncId(0) });
    tape.op_at(1, 1, update);
    tape.op_at(0, 2, update);
    let c = tape.write(0, X);
    let b = tape.write(1, X);
    let image = tape.image();
    assert_eq!(audit(&image).broken, None);
    assert_eq!(
        made(&image, Shape::Adjacent, &[b, c]).schedule.to_json(),
        r#"[["main",2],["t1",2],["main",1]]"#
    );
    assert!(matches!(refused(&image, Shape::Ordered, &[b, a]), Broken::Order { .. }));
}

/// Plain accesses may be merged in the wrong order; the value read tells which write it was.
#[test]
fn values_explain_reads_that_were_merged_late() {
    let mut tape = Tape::new(2);
    let x = LocationId(X);
    let write = |value| Op::Write {
        location: x,
        value: Value::Exact(value),
    };
    tape.op(0, write(1));
    let b = tape.op(0, write(2));
    let read = tape.op(
        1,
        Op::Read {
            location: x,
            value: Value::Exact(1),
        },
    );
    let after = tape.write(1, Y);
    let other = tape.write(0, Y);
    let image = tape.image();
    assert_eq!(audit(&image).odd_reads, 1);
    assert_eq!(
        made(&image, Shape::Adjacent, &[read, b]).verdict,
        CheckVerdict::Witnessed
    );
    // To keep what it read, the read goes between the writes.
    let made = made(&image, Shape::Adjacent, &[after, other]);
    assert_eq!(
        made.schedule.to_json(),
        r#"[["main",1],["t1",1],["main",1],["t1",1],["main",1]]"#
    );
}

/// Known miss: that another thread's write of the same value would do for a read is seen by the exhaustive search
/// alone, so on traces too long for it such a schedule is not found.
#[test]
fn another_writer_of_the_same_value_is_found_by_search_only() {
    let mut tape = Tape::new(3);
    let x = LocationId(X);
    let two = Value::Exact(2);
    tape.op(
        0,
        Op::Write {
            location: x,
            value: Value::Exact(1),
        },
    );
    let a = tape.op(
        0,
        Op::Write {
            location: x,
            value: two,
        },
    );
    tape.op(
        2,
        Op::Read {
            location: x,
            value: two,
        },
    );
    let b = tape.op(
        2,
        Op::Write {
            location: x,
            value: Value::Exact(3),
        },
    );
    tape.op(
        1,
        Op::Write {
            location: x,
            value: two,
        },
    );
    let image = tape.image();
    assert_eq!(made(&image, Shape::Adjacent, &[a, b]).verdict, CheckVerdict::Witnessed);
    let quick = Effort {
        search_states: 0,
        ..Effort::default()
    };
    let goal = Goal::new(Shape::Adjacent, [a, b]);
    let moved = generate(&image, &goal, &quick).expect("a schedule");
    assert!(
        matches!(moved.verdict, CheckVerdict::Unproven(Broken::ReadChanged { .. })),
        "{moved:?}"
    );
}

/// Where the recorded order alternates a hundred times, the schedule does not.
#[test]
fn schedules_have_few_switches() {
    let mut tape = Tape::new(2);
    for _ in 0..100 {
        for thread in 0..2 {
            tape.acquire(thread, L);
            tape.write(thread, 2 + thread);
            tape.release(thread, L);
        }
    }
    let a = tape.write(0, X);
    let b = tape.write(1, X);
    let image = tape.image();
    let made = made(&image, Shape::Adjacent, &[b, a]);
    assert_eq!(made.verdict, CheckVerdict::Witnessed);
    assert!(made.schedule.segments.len() <= 3, "{}", made.schedule);
}

#[test]
fn a_finding_says_what_its_schedule_must_reach() {
    let event = |thread, position| EventRef {
        index: 0,
        thread: ThreadId(thread),
        position,
        location: None,
        lock: Some(LockId(L)),
    };
    let mut candidate = Candidate {
        events: vec![event(0, 1), event(0, 4), event(1, 2), event(1, 3)],
        units: vec![UnitSpan {
            thread: ThreadId(0),
            begin: event(0, 1),
            end: None,
            kind: UnitKind::Section,
            pass: false,
        }],
        ..Candidate::default()
    };
    let cycle = Goal::of_candidate(Rule::LockOrder, &candidate).expect("a goal");
    assert_eq!(cycle.shape, Shape::Blocked);
    assert_eq!(cycle.events, [event(0, 4).into(), event(1, 3).into()]);
    assert_eq!(
        cycle.units,
        [Span {
            thread: ThreadId(0),
            begin: 1,
            end: None,
            leave: None,
        }]
    );
    assert_eq!(Goal::of_candidate(Rule::DataRace, &candidate), None);
    candidate.events = vec![event(0, 1), event(1, 2)];
    let race = Goal::of_candidate(Rule::DataRace, &candidate).expect("a goal");
    assert_eq!((race.shape, race.events.len()), (Shape::Adjacent, 2));
    assert_eq!(Goal::of_candidate(Rule::LockPattern, &candidate), None);
}
