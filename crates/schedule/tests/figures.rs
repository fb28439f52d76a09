//! The figures of Pecan. Their pictures are lost in the text; the programs are rebuilt from what the text says of them.

use crate::support::{Tape, run_order};
use ravel_schedule::{Broken, CheckVerdict, Effort, EventAt, Goal, NoSchedule, Shape, check, generate};

const X: u32 = 0;
const Y: u32 = 1;
const Z: u32 = 2;
const L: u32 = 0;

/// Makes a schedule, wants it witnessed and checked, and gives the events' order by their numbers in the trace.
fn witnessed(tape: Tape, shape: Shape, events: &[EventAt]) -> Vec<usize> {
    let recorded = tape.events.clone();
    let image = tape.image();
    let goal = Goal::new(shape, events.iter().copied());
    let made = generate(&image, &goal, &Effort::default()).expect("a schedule");
    assert_eq!(made.verdict, CheckVerdict::Witnessed);
    check(&image, &goal, &made.schedule).expect("passes the check");
    let number = |(thread, position)| {
        recorded
            .iter()
            .position(|e| e.thread.0 == thread && e.position == position)
            .expect("an event")
            + 1
    };
    run_order(&image, &made.schedule, &recorded)
        .into_iter()
        .map(number)
        .collect()
}

/// Statements 1 to 3 are one thread's, 5 to 7 the other's; the recorded order is 1, 5, 2, 3, 6, 7.
#[test]
fn figure_1_race_of_3_and_7() {
    let mut tape = Tape::new(2);
    tape.write(0, Z);
    tape.write(1, X);
    tape.read(0, X);
    let v3 = tape.read(0, Y);
    tape.write(1, X);
    let v7 = tape.write(1, Y);
    // In the paper ⟨1, 5, 2, 6, 7, 3⟩; with the recorded numbers of the events: 1, 2, 3, 5, 6, 4. Of orders that are
    // as simple, any will do, as long as 2 still reads what 5 wrote.
    let order = witnessed(tape, Shape::Adjacent, &[v7, v3]);
    assert_eq!(order, [2, 1, 3, 5, 6, 4]);
}

/// `v1`–`v5` are one thread's, `v6`–`v9` the other's; `v8` fits between `v2` and `v5` from `v4` on.
#[test]
fn figure_3_atomicity_violation_of_v2_v8_v5() {
    let mut tape = Tape::new(2);
    tape.acquire(0, L);
    let v2 = tape.read(0, X);
    tape.release(0, L);
    tape.read(0, Y);
    let v5 = tape.write(0, X);
    tape.read(1, Z);
    tape.acquire(1, L);
    let v8 = tape.write(1, X);
    tape.release(1, L);
    let order = witnessed(tape, Shape::Ordered, &[v2, v8, v5]);
    let place = |v: usize| order.iter().position(|&n| n == v).expect("taken");
    assert!(place(2) < place(3) && place(3) < place(7) && place(7) < place(8) && place(8) < place(5));
    assert_eq!(order.last(), Some(&5));
}

/// `v1`–`v4` are one thread's, `v5`–`v8` the other's.
fn figure_5(ordered: bool) -> (Tape, [EventAt; 2]) {
    let mut tape = Tape::new(2);
    tape.acquire(0, L);
    if ordered {
        tape.send(0, 0);
    } else {
        tape.write(0, Z);
    }
    let v3 = tape.write(0, X);
    tape.release(0, L);
    if ordered {
        tape.receive(1, 0);
    } else {
        tape.write(1, Y);
    }
    tape.acquire(1, L);
    tape.release(1, L);
    let v8 = tape.write(1, X);
    (tape, [v3, v8])
}

#[test]
fn figure_5_without_the_order_edge_is_a_real_race() {
    let (tape, events) = figure_5(false);
    assert_eq!(witnessed(tape, Shape::Adjacent, &events), [5, 6, 7, 1, 2, 3, 8]);
}

#[test]
fn figure_5_with_the_order_edge_has_no_schedule() {
    let (tape, events) = figure_5(true);
    let result = generate(&tape.image(), &Goal::new(Shape::Adjacent, events), &Effort::default());
    let Err(NoSchedule::Infeasible {
        broken: Broken::LockHeld { lock, .. },
        certain: true,
    }) = result
    else {
        panic!("{result:?}");
    };
    assert_eq!(lock.0, L);
}
