//! Runs that leave the schedule or the recorded path.

use ravel_analysis::finding::{Evidence, OutcomeKind, Rule};
use ravel_protocol::{Cause, Schedule, Verdict};
use ravel_trace::Source as _;

use super::super::divergence::{Divergence, RecordedPath};
use super::{COUNTER, atomicity, fake, finding, judged, last, limit, slip, told};
use crate::runner::Forced;
use crate::runner::Runner as _;
use crate::runner::fake::{Fake, Program};

#[test]
fn a_run_without_a_trace_says_why() {
    let finding = atomicity(&fake(COUNTER).altered(|_, _, run| {
        run.trace = None;
        run.verdict = None;
        run.remark = "the JVM was killed".into();
    }));
    assert_eq!(told(&finding).0, Evidence::Witnessed);
    assert_eq!(
        limit(&finding),
        "the run left no trace: it ended with exit status: 0 (the JVM was killed)"
    );
}

#[test]
fn a_lost_schedule_is_told_by_the_turn_that_was_lost() {
    let loses = |_: &Schedule, _: usize, run: &mut Forced| {
        let slip = Some(slip(Cause::WaitedOutside));
        run.verdict = Some(Verdict::Complete { slip });
        if let Some((events, _)) = &mut run.trace {
            events.truncate(5);
        }
    };
    let finding = atomicity(&fake(COUNTER).altered(loses));
    let why =
        "the run left the schedule: thread main/0 waited for an event outside the program at point 2, before point 9";
    assert!(limit(&finding).starts_with(why), "{}", limit(&finding));
}

#[test]
fn a_run_that_goes_another_way_the_first_time_is_tried_again() {
    let busy = |_: &Schedule, number: usize, run: &mut Forced| {
        if number == 0
            && last(run, "n") == Some(1)
            && let Some((events, _)) = &mut run.trace
        {
            events.retain(|event| event.thread.0 == 0);
        }
    };
    assert_eq!(told(&atomicity(&fake(COUNTER).altered(busy))).0, Evidence::Harmful);
}

/// A counter whose first thread reads something else first, or not: the number is what makes it skip that.
fn detour(skips: i64) -> Program {
    let first = format!("\n            | skip {skips} 1 |\n            | r D.x |\n");
    let text = COUNTER.replacen("\n            | r C.n          |\n", &first, 1);
    // The read of the count follows the detour.
    let text = text.replacen("| r D.x |\n", "| r D.x |\n            | r C.n |\n", 1);
    Program::parse(&text)
}

#[test]
fn positions_that_moved_are_learnt_from_the_first_run() {
    let program = Fake::new(detour(7)).recorded_as(&detour(0));
    let events = [("t1", 7), ("t2", 12), ("t1", 8)];
    let units = [("t1", 4, 9), ("t2", 10, 13)];
    let finding = judged(&program, finding(&program, Rule::Atomicity, &events, &units));
    let value = "C.n was 1; every serial order gives 2";
    assert_eq!(told(&finding), (Evidence::Harmful, Some(OutcomeKind::Value), value));
}

/// Where a run under a schedule leaves the recorded path.
fn divergence(fake: &Fake, schedule: &Schedule) -> Option<Divergence> {
    let trace = fake.recorded();
    let run = fake.force(schedule, 0).expect("a run");
    RecordedPath::new(trace.events(), trace.names()).first_divergence(schedule, &run)
}

#[test]
fn a_divergence_names_the_value_that_was_read_instead() {
    let program = fake(
        "
        main    | t1        | t2
        fork t1 |           |
        fork t2 |           |
                | r C.n     |
                | skip 0 1  |
                | r C.other |
                | r C.m     |
                |           | w C.n=1
    ",
    );
    let text = "ravel schedule 1\nthread main/1 \"t2\"\nthread main/0 \"t1\"\nrun main/1 to 1\nrun main/0 to 2\n";
    let schedule = Schedule::parse(text).expect("a schedule");
    let place = divergence(&program, &schedule).expect("a divergence");
    assert!(place.by_order);
    assert!(
        place.words.contains("instead of read C.m") && place.words.contains("it had read C.n as 1 (recorded: 0)"),
        "{}",
        place.words
    );
}

#[test]
fn a_divergence_without_another_value_is_not_by_order() {
    let program = Fake::new(detour(7)).recorded_as(&detour(0));
    let text = "ravel schedule 1\nthread main/0 \"t1\"\nrun main/0 to 3\n";
    let schedule = Schedule::parse(text).expect("a schedule");
    let place = divergence(&program, &schedule).expect("a divergence");
    assert!(!place.by_order);
    assert!(place.words.contains("random numbers"), "{}", place.words);
    assert_eq!(divergence(&fake(COUNTER), &schedule), None);
}
