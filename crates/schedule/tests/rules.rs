//! Each rule of the check, broken and kept.

use crate::support::{Tape, broken, made, refused, schedule};
use ravel_schedule::{
    Broken, CheckVerdict, Effort, EventAt, Generated, Goal, GoalError, Image, Limits, NoSchedule, Shape, audit, check,
    generate,
};
use ravel_trace::names::{Class, Field, Location, Method, Site, SiteKind};
use ravel_trace::{
    ClassId, FieldId, LocationId, LockId, MemoryTrace, MethodId, Mode, ObjectId, Op, SiteId, SyncId, ThreadId, Value,
};

const X: u32 = 0;
const Y: u32 = 1;
const FLAG: u32 = 8;
const L: u32 = 0;
const M: u32 = 1;

fn resume(notified: bool) -> Op {
    Op::Resume {
        lock: LockId(L),
        notified,
    }
}

#[test]
fn a_lock_order_cycle_becomes_a_deadlock() {
    let mut tape = Tape::new(2);
    tape.acquire(0, L);
    let a = tape.acquire(0, M);
    tape.release(0, M);
    tape.release(0, L);
    tape.acquire(1, M);
    // Points 2 to 6 were passed and not recorded.
    let b = tape.op_at(
        1,
        7,
        Op::Acquire {
            lock: LockId(L),
            mode: Mode::Exclusive,
        },
    );
    tape.release(1, L);
    tape.release(1, M);
    let image = tape.image();
    let made = made(&image, Shape::Blocked, &[a, b]);
    assert_eq!(made.verdict, CheckVerdict::Witnessed);
    assert_eq!(made.schedule.to_pairs(), [("main".to_owned(), 1), ("t1".to_owned(), 6)]);
}

#[test]
fn a_gate_lock_makes_the_cycle_impossible() {
    let mut tape = Tape::new(2);
    let mut wanted = Vec::new();
    for (thread, first, second) in [(0, L, M), (1, M, L)] {
        tape.acquire(thread, 2);
        tape.acquire(thread, first);
        wanted.push(tape.acquire(thread, second));
        tape.release(thread, second);
        tape.release(thread, first);
        tape.release(thread, 2);
    }
    let image = tape.image();
    assert!(matches!(
        refused(&image, Shape::Blocked, &wanted),
        Broken::LockHeld { lock: LockId(2), .. }
    ));
}

#[test]
fn three_threads_deadlock_in_a_ring() {
    let mut tape = Tape::new(3);
    let mut wanted = Vec::new();
    for thread in 0..3 {
        tape.acquire(thread, thread);
        wanted.push(tape.acquire(thread, (thread + 1) % 3));
        tape.release(thread, (thread + 1) % 3);
        tape.release(thread, thread);
    }
    let image = tape.image();
    let made = made(&image, Shape::Blocked, &wanted);
    assert_eq!(made.verdict, CheckVerdict::Witnessed);
    assert_eq!(made.schedule.segments.len(), 3);
}

#[test]
fn readers_share_a_lock_and_a_writer_does_not() {
    let mut tape = Tape::new(2);
    let shared = |tape: &mut Tape, thread| {
        tape.op(
            thread,
            Op::Acquire {
                lock: LockId(L),
                mode: Mode::Shared,
            },
        );
        let access = tape.write(thread, X);
        tape.op(
            thread,
            Op::Release {
                lock: LockId(L),
                mode: Mode::Shared,
            },
        );
        access
    };
    let a = shared(&mut tape, 0);
    let b = shared(&mut tape, 1);
    tape.acquire(1, L);
    let c = tape.write(1, X);
    tape.release(1, L);
    let image = tape.image();
    assert_eq!(made(&image, Shape::Adjacent, &[a, b]).verdict, CheckVerdict::Witnessed);
    assert!(matches!(
        refused(&image, Shape::Adjacent, &[a, c]),
        Broken::LockHeld { .. }
    ));
}

#[test]
fn a_wait_is_notified_after_it_began() {
    let mut tape = Tape::new(2);
    tape.acquire(0, L);
    tape.op(0, Op::Wait { lock: LockId(L) });
    let early = tape.write(1, X);
    tape.acquire(1, L);
    tape.op(
        1,
        Op::Notify {
            lock: LockId(L),
            all: false,
        },
    );
    tape.release(1, L);
    let late = tape.write(1, X);
    tape.op(0, resume(true));
    let after = tape.write(0, X);
    tape.release(0, L);
    let image = tape.image();
    assert_eq!(
        made(&image, Shape::Adjacent, &[after, late]).verdict,
        CheckVerdict::Witnessed
    );
    assert!(matches!(
        refused(&image, Shape::Ordered, &[after, early]),
        Broken::Order { .. } | Broken::LockHeld { .. }
    ));
    let goal = Goal::new(Shape::Ordered, [late, after]);
    check(
        &image,
        &goal,
        &schedule(&image, &[("main", 2), ("main/0", 5), ("main", 4)]),
    )
    .expect("as recorded");
    // The notification comes before the wait and is lost.
    let lost = broken(&image, &goal, &[("main/0", 5), ("main", 4)]);
    assert!(matches!(lost, Broken::NotNotified { lock: LockId(L), .. }), "{lost}");
    let never = broken(&image, &goal, &[("main", 4)]);
    assert!(matches!(never, Broken::Order { .. }), "{never}");
}

#[test]
fn a_wait_that_timed_out_needs_no_notification() {
    let mut tape = Tape::new(2);
    tape.acquire(0, L);
    tape.op(0, Op::Wait { lock: LockId(L) });
    tape.acquire(1, L);
    let b = tape.write(1, X);
    tape.release(1, L);
    tape.op(0, resume(false));
    let a = tape.write(0, X);
    let c = tape.write(0, X);
    tape.release(0, L);
    let image = tape.image();
    assert_eq!(made(&image, Shape::Ordered, &[a, b, c][..2]).schedule.segments.len(), 2);
    assert!(matches!(
        refused(&image, Shape::Ordered, &[a, b, c]),
        Broken::LockHeld { .. }
    ));
}

/// Locks left out: the wait set is the subject.
const WAITS: [&str; 4] = [
    // Both were chosen; the one that waited longer goes on later.
    "a         | b         | n
     wait m    |           |
               | wait m    |
               |           | notify m
               |           | notify m
               | resume m  |
               | rel m     |
     resume m  |           |",
    // Two conditions of one lock.
    "a         | b         | n
     wait m    |           |
               | wait m    |
               |           | notify m
               | resume m  |
               | rel m     |
               |           | notify m
     resume m  |           |",
    // The notification passes from a wait that timed out to the next one.
    "a         | b         | n
     wait m    |           |
               | wait m    |
               |           | notify m
     timeout m |           |
     rel m     |           |
               | resume m  |",
    // A time-out that looks notified.
    "a         | b         | n
     wait m    |           |
               | wait m    |
               |           | notify m
               | resume m  |
               | rel m     |
     resume m  |           |",
];

#[test]
fn the_recorded_order_is_possible_whichever_waiter_went_on() {
    for text in WAITS {
        let mut trace = MemoryTrace::parse(text).expect("well formed");
        let image = Image::build(&mut trace, Limits::default()).expect("short");
        assert_eq!(audit(&image).broken, None, "{text}");
    }
}

#[test]
fn a_notification_that_woke_another_waiter_than_expected_is_lost_before_the_wait() {
    let mut trace = MemoryTrace::parse(
        "a         | b         | n
         wait m    |           |
                   | wait m    |
                   |           | w x
                   |           | notify m
                   | resume m  |
                   | w x       |",
    )
    .expect("well formed");
    let image = Image::build(&mut trace, Limits::default()).expect("short");
    let write = |thread, position| EventAt {
        thread: ThreadId(thread),
        position,
        location: Some(LocationId(0)),
        lock: None,
    };
    let goal = Goal::new(Shape::Ordered, [write(2, 0), write(1, 2)]);
    let names = image.thread_names();
    let turns = |order: &[(usize, u32)]| {
        let turns: Vec<(&str, u32)> = order
            .iter()
            .map(|&(t, until)| (names[t].path.as_str(), until))
            .collect();
        check(&image, &goal, &schedule(&image, &turns))
    };
    turns(&[(0, 0), (1, 0), (2, 1), (1, 2)]).expect("as recorded");
    let lost = turns(&[(0, 0), (2, 1), (1, 2)]).expect_err("given too early");
    assert!(lost.to_string().contains("without a notification"), "{lost}");
}

#[test]
fn a_volatile_read_comes_after_the_write_it_saw() {
    let mut tape = Tape::new(2);
    let a = tape.write(0, X);
    let flag = tape.write(0, FLAG);
    let seen = tape.read(1, FLAG);
    let b = tape.write(1, X);
    let image = tape.image();
    assert!(matches!(refused(&image, Shape::Ordered, &[b, a]), Broken::Order { .. }));
    // But the edge is not held against a pattern on the volatile itself.
    assert_eq!(
        made(&image, Shape::Ordered, &[seen, flag]).verdict,
        CheckVerdict::Witnessed
    );
}

#[test]
fn a_changed_read_before_the_bug_leaves_a_schedule_without_a_witness() {
    let mut tape = Tape::new(2);
    let a = tape.write(0, X);
    tape.write(0, Y);
    tape.read(1, Y);
    let b = tape.write(1, X);
    let image = tape.image();
    let made = made(&image, Shape::Adjacent, &[a, b]);
    let CheckVerdict::Unproven(Broken::ReadChanged {
        at,
        location,
        recorded,
        now,
    }) = made.verdict
    else {
        panic!("{made:?}");
    };
    assert_eq!((at.thread, location, now), (ThreadId(1), LocationId(Y), None));
    assert_eq!(recorded.map(|p| (p.thread, p.position)), Some((ThreadId(0), 2)));
    let text = made.verdict_text();
    assert!(
        text.contains("thread 1 at position 1") && text.contains("written by no thread"),
        "{text}"
    );
}

trait VerdictText {
    fn verdict_text(&self) -> String;
}

impl VerdictText for Generated {
    fn verdict_text(&self) -> String {
        match self.verdict {
            CheckVerdict::Witnessed => String::new(),
            CheckVerdict::Unproven(broken) => broken.to_string(),
        }
    }
}

#[test]
fn the_same_value_from_another_writer_is_no_change() {
    let mut tape = Tape::new(2);
    let one = Value::Exact(1);
    let write = |location| Op::Write {
        location: LocationId(location),
        value: one,
    };
    tape.op(1, write(Y));
    let a = tape.op(0, write(X));
    tape.op(0, write(Y));
    tape.op(
        1,
        Op::Read {
            location: LocationId(Y),
            value: one,
        },
    );
    let b = tape.op(1, write(X));
    let image = tape.image();
    assert_eq!(made(&image, Shape::Adjacent, &[a, b]).verdict, CheckVerdict::Witnessed);
}

#[test]
fn a_receive_comes_after_every_earlier_send() {
    let mut tape = Tape::new(3);
    let a = tape.write(0, X);
    tape.send(0, 0);
    let b = tape.write(1, X);
    tape.send(1, 0);
    tape.receive(2, 0);
    let c = tape.write(2, X);
    let image = tape.image();
    assert!(matches!(refused(&image, Shape::Ordered, &[c, a]), Broken::Order { .. }));
    assert!(matches!(refused(&image, Shape::Ordered, &[c, b]), Broken::Order { .. }));
    assert_eq!(made(&image, Shape::Ordered, &[b, a]).verdict, CheckVerdict::Witnessed);
}

/// The two halves of a barrier share a position; each thread's second half needs the other's first.
#[test]
fn halves_of_one_operation_may_wait_for_each_other() {
    let mut tape = Tape::new(2);
    let sync = SyncId(0);
    let before = tape.write(0, X);
    tape.op_at(0, 2, Op::Send { sync });
    let other = tape.write(1, X);
    tape.op_at(1, 2, Op::Send { sync });
    tape.op_at(1, 2, Op::Receive { sync });
    tape.op_at(0, 2, Op::Receive { sync });
    let a = tape.write(0, X);
    let b = tape.write(1, X);
    let image = tape.image();
    let made_after = made(&image, Shape::Adjacent, &[b, a]);
    assert_eq!(made_after.verdict, CheckVerdict::Witnessed);
    assert_eq!(
        made(&image, Shape::Adjacent, &[other, before]).verdict,
        CheckVerdict::Witnessed
    );
    assert!(matches!(
        refused(&image, Shape::Ordered, &[a, other]),
        Broken::Order { .. }
    ));
}

#[test]
fn a_class_is_used_after_another_thread_initialised_it() {
    let mut tape = Tape::new(2);
    tape.names.classes.push(Class {
        name: "C".to_owned(),
        ..Class::default()
    });
    tape.names.classes.push(Class {
        name: "D".to_owned(),
        ..Class::default()
    });
    tape.names.methods.push(Method {
        class: ClassId(1),
        ..Method::default()
    });
    tape.names.methods.push(Method {
        class: ClassId(0),
        ..Method::default()
    });
    tape.names.sites.push(Site::default());
    tape.names.sites.push(Site {
        method: MethodId(0),
        what: SiteKind::Unknown,
        ..Site::default()
    });
    for field in &mut tape.names.fields {
        field.class = ClassId(1);
    }
    tape.names.fields.push(Field {
        class: ClassId(0),
        name: "s".to_owned(),
        ..Field::default()
    });
    tape.names.locations.push(Location::Static(FieldId(16)));
    let a = tape.write(0, X);
    tape.op(0, Op::Initialized { class: ClassId(0) });
    tape.read(1, 16);
    let b = tape.write(1, X);
    tape.op(0, Op::Initialized { class: ClassId(1) });
    let entered = tape.next_position(1);
    tape.op(1, Op::Enter { method: MethodId(0) });
    let c = tape.op_at(
        1,
        entered,
        Op::Write {
            location: LocationId(X),
            value: Value::Unknown,
        },
    );
    let end = tape.write(0, Y);
    let last = tape.write(1, Y);
    assert_eq!(tape.events[0].site, SiteId(0));
    let image = tape.image();
    assert!(matches!(refused(&image, Shape::Ordered, &[b, a]), Broken::Order { .. }));
    assert!(matches!(refused(&image, Shape::Ordered, &[c, a]), Broken::Order { .. }));
    assert_eq!(
        made(&image, Shape::Adjacent, &[last, end]).verdict,
        CheckVerdict::Witnessed
    );
}

#[test]
fn events_of_one_position_stay_together() {
    let mut tape = Tape::new(2);
    let a = tape.write(0, X);
    let b = tape.op_at(
        1,
        1,
        Op::Read {
            location: LocationId(X),
            value: Value::Unknown,
        },
    );
    tape.op_at(
        1,
        1,
        Op::Write {
            location: LocationId(X),
            value: Value::Unknown,
        },
    );
    let image = tape.image();
    let goal = Goal::new(Shape::Ordered, [b, a]);
    let made = generate(&image, &goal, &Effort::default()).expect("a schedule");
    assert_eq!(made.schedule.to_json(), r#"[["t1",1],["main",1]]"#);
    let split = EventAt { location: None, ..b };
    assert!(matches!(
        generate(
            &image,
            &Goal::new(Shape::Ordered, [split, a, split]),
            &Effort::default()
        ),
        Err(NoSchedule::Goal(GoalError::OneStep(_)))
    ));
}

/// A call on a concurrent map changes an entry and the size at one point; neither order is held against the pattern.
#[test]
fn a_modelled_object_is_the_patterns_own_as_a_whole() {
    let mut tape = Tape::new(2);
    tape.names.classes.push(Class {
        name: "java.util.concurrent.ConcurrentHashMap".to_owned(),
        ..Class::default()
    });
    let map = ObjectId(7);
    tape.names.locations[8] = Location::Entry(map, FieldId(8), 1);
    tape.names.locations[9] = Location::Field(map, FieldId(9));
    let mut call = |thread, position| {
        let update = |location| Op::Update {
            location: LocationId(location),
            value: Value::Unknown,
        };
        [
            tape.op_at(thread, position, update(8)),
            tape.op_at(thread, position, update(9)),
        ]
    };
    let first = call(0, 1);
    let second = call(0, 2);
    let other = call(1, 1);
    let image = tape.image();
    assert_eq!(
        made(&image, Shape::Ordered, &[first[0], other[0], second[0]])
            .schedule
            .segments
            .len(),
        3
    );
    let whole = made(&image, Shape::Ordered, &[first[0], other[0], other[1], second[1]]);
    assert_eq!(whole.schedule.to_json(), r#"[["main",1],["t1",1],["main",1]]"#);
    let goal = Goal::new(Shape::Ordered, [first[0], other[0], first[1]]);
    let inside = generate(&image, &goal, &Effort::default());
    assert_eq!(inside, Err(NoSchedule::Goal(GoalError::OneStep(first[1]))));
}
