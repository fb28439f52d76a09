//! Which outcomes of a forced run are harm: values, exceptions, exit codes, results, output, hangs.

use ravel_analysis::finding::{Evidence, Finding, OutcomeKind, Rule};
use ravel_protocol::{Cause, EndedBy, Schedule, Verdict};
use ravel_trace::{Event, Op, Value};

use super::{COUNTER, atomicity, fake, finding, judged, last, limit, slip, told};
use crate::runner::Forced;
use crate::runner::fake::Fake;

#[test]
fn a_lost_update_is_told_by_the_value_that_no_serial_order_gives() {
    let finding = atomicity(&fake(COUNTER));
    let value = "C.n was 1; every serial order gives 2";
    assert_eq!(told(&finding), (Evidence::Harmful, Some(OutcomeKind::Value), value));
    assert!(finding.shown && finding.limit.is_none());
    assert!(!finding.schedule.is_empty());
}

#[test]
fn an_exception_that_no_serial_order_throws_is_harm() {
    let program = fake(
        "
        main    | t1                   | t2
        fork t1 |                      |
        fork t2 |                      |
                | enter C.use()V       |
                | r C.n                |
                | skip 1 2             |
                | r C.n                |
                | throw 0 NullPointer: n |
                | exit                 |
                |                      | enter C.clear()V
                |                      | w C.n=1
                |                      | exit
        join t1 |                      |
        join t2 |                      |
    ",
    );
    let events = [("t1", 5), ("t2", 11), ("t1", 7)];
    let units = [("t1", 4, 9), ("t2", 10, 12)];
    let finding = judged(&program, finding(&program, Rule::Atomicity, &events, &units));
    assert_eq!(
        told(&finding),
        (Evidence::Harmful, Some(OutcomeKind::Exception), "NullPointer: n")
    );
    let thread = finding.outcome.and_then(|outcome| outcome.thread);
    assert_eq!(thread.as_deref(), Some("t1"));
}

#[test]
fn an_exception_that_serial_orders_throw_too_is_no_harm() {
    let dies = |_: &Schedule, _: usize, run: &mut Forced| {
        if let Some((_, names)) = &mut run.trace {
            names.threads[1].exception = "Boom: always".into();
        }
    };
    let finding = atomicity(&fake(COUNTER).altered(dies));
    assert_eq!(told(&finding).1, Some(OutcomeKind::Value));
}

#[test]
fn an_exit_code_of_its_own_is_harm() {
    let finding = atomicity(&fake(&format!("{COUNTER}    exitcode |  |\n")));
    let message = "the program ended with exit code 1; every serial order ends with 2";
    assert_eq!(told(&finding), (Evidence::Harmful, Some(OutcomeKind::Exit), message));
}

#[test]
fn a_trace_that_lacks_some_synchronisation_confirms_no_race() {
    let race = |partial: bool| {
        let program = fake(COUNTER).altered(move |_, _, run| run.partial = partial);
        let events = [("t1", 6), ("t2", 10)];
        judged(&program, finding(&program, Rule::DataRace, &events, &[])).evidence
    };
    assert_eq!(race(false), Evidence::Harmful);
    assert_eq!(race(true), Evidence::Predicted);
}

#[test]
fn an_exit_code_that_tells_of_success_is_no_harm() {
    let text = COUNTER.replace("    r C.n   |                |\n", "    w C.n=9 |                |\n");
    let finding = atomicity(&fake(&text).altered(|_, _, run| {
        let events = run.trace.as_ref().map_or(&[][..], |(events, _)| events);
        let is_one = |event: &&Event| {
            matches!(
                event.op,
                Op::Write {
                    value: Value::Exact(1),
                    ..
                }
            )
        };
        let lost = events.iter().filter(is_one).count() == 2;
        run.status = std::os::unix::process::ExitStatusExt::from_raw(if lost { 0 } else { 256 });
    }));
    assert_eq!(told(&finding).0, Evidence::Confirmed);
}

#[test]
fn harm_to_a_variable_that_the_finding_is_not_about_does_not_count() {
    // Both counts are lost at once.
    let program = fake(
        "
        main    | t1             | t2
        fork t1 |                |
        fork t2 |                |
                | enter C.add()I |
                | r C.n          |
                | w C.n+1        |
                | exit           |
                |                | enter C.add()I
                |                | r C.n
                |                | w C.n+1
                |                | r C.m
                |                | exit
        join t1 |                |
        join t2 |                |
        r C.n   |                |
    ",
    );
    let units = [("t1", 4, 7), ("t2", 8, 12)];
    let about = |variable: &str| {
        let events = [("t1", 5), ("t2", 10), ("t2", 11), ("t1", 6)];
        let mut finding = finding(&program, Rule::Atomicity, &events, &units);
        finding.variables = vec![variable.to_string()];
        judged(&program, finding).evidence
    };
    assert_eq!(about("C.n"), Evidence::Harmful);
    assert_eq!(about("C.m"), Evidence::Confirmed);
}

/// Two threads get the same number, and the last write hides the count.
const TWICE: &str = "
        main    | t1             | t2
        fork t1 |                |
        fork t2 |                |
                | enter C.add()I |
                | r C.n          |
                | w C.n+1        |
                | ret            |
                | exit           |
                |                | enter C.add()I
                |                | r C.n
                |                | w C.n+1
                |                | ret
                |                | exit
        join t1 |                |
        join t2 |                |
        w C.n=9 |                |
";

/// The finding of a rule about [`TWICE`].
fn twice(program: &Fake, rule: Rule) -> Finding {
    let events = [("t1", 5), ("t2", 11), ("t1", 6)];
    let units = [("t1", 4, 8), ("t2", 9, 13)];
    judged(program, finding(program, rule, &events, &units))
}

#[test]
fn results_that_do_not_go_together_are_harm() {
    let finding = twice(&fake(TWICE), Rule::Atomicity);
    let (evidence, _, message) = told(&finding);
    assert_eq!(evidence, Evidence::Harmful);
    assert_eq!(
        message,
        "C.add in t1 returned 0 and C.add in t2 returned 0; every serial order gives 0 and 1, or 1 and 0"
    );
}

#[test]
fn what_a_unit_returns_that_waits_for_another_is_no_harm_if_the_units_are_a_guess() {
    // The unit of t2 cannot come first.
    let waits = |_: &Schedule, _: usize, run: &mut Forced| {
        let Some((events, names)) = &run.trace else { return };
        let calls = events
            .iter()
            .filter(|event| matches!(event.op, Op::Enter { .. } | Op::Exit { .. }));
        let threads: Vec<&str> = calls.map(|event| names.thread(event.thread).name.as_str()).collect();
        if threads == ["t2", "t2", "t1", "t1"] {
            let slip = Some(slip(Cause::WaitedForThread { lock: None }));
            run.verdict = Some(Verdict::Complete { slip });
        }
    };
    let evidence = |rule| told(&twice(&fake(TWICE).altered(waits), rule)).0;
    assert_eq!(evidence(Rule::Atomicity), Evidence::Harmful);
    assert_eq!(evidence(Rule::Unserializable), Evidence::Confirmed);
}

#[test]
fn a_collection_is_judged_by_its_size_and_not_by_its_number_of_changes() {
    let outcome = |add: [&str; 4]| {
        let lines = |column: &str| add.map(|line| format!("{column}{line}\n")).concat();
        let program = fake(&format!(
            "main | t1 | t2\nfork t1 | |\nfork t2 | |\n| enter C.add()V |\n{}| exit |\n| | enter C.add()V\n{}| | exit\njoin t1 | |\njoin t2 | |\n",
            lines("| "),
            lines("| | "),
        ));
        let place = |wanted: &str| add.iter().position(|line| *line == wanted).map_or(0, |at| at as u32);
        let (read, write) = (
            place("r java.util.ArrayList.modCount"),
            place("w java.util.ArrayList.modCount+1"),
        );
        let events = [("t1", 5 + read), ("t2", 11 + write), ("t1", 5 + write)];
        let units = [("t1", 4, 9), ("t2", 10, 15)];
        told(&judged(&program, finding(&program, Rule::Atomicity, &events, &units)))
            .2
            .to_owned()
    };
    // Both elements go to the same place.
    let lost = outcome([
        "r java.util.ArrayList.size",
        "r java.util.ArrayList.modCount",
        "w java.util.ArrayList.modCount+1",
        "w java.util.ArrayList.size+1",
    ]);
    assert_eq!(lost, "java.util.ArrayList.size was 1; every serial order gives 2");
    let counted = outcome([
        "r java.util.ArrayList.modCount",
        "w java.util.ArrayList.modCount+1",
        "r java.util.ArrayList.size",
        "w java.util.ArrayList.size+1",
    ]);
    assert_eq!(counted, "the pattern happened; this time it had no visible effect");
}

/// `t1` reads twice and prints both, then goes on with `rest`; `t2` writes between.
fn report(method: &str, rest: [&str; 2]) -> Evidence {
    let program = fake(&format!(
        "
        main    | t1             | t2
        fork t1 |                |
        fork t2 |                |
                | enter {method} |
                | r C.n          |
                | print          |
                | r C.n          |
                | print          |
                | {}             |
                | {}             |
                | exit           |
                |                | enter C.add()V
                |                | w C.n=1
                |                | r C.m
                |                | exit
        join t1 |                |
        join t2 |                |
    ",
        rest[0], rest[1]
    ));
    let events = [("t1", 5), ("t2", 13), ("t1", 7)];
    let units = [("t1", 4, 11), ("t2", 12, 15)];
    judged(&program, finding(&program, Rule::Atomicity, &events, &units)).evidence
}

#[test]
fn a_report_of_two_moments_is_no_harm() {
    assert_eq!(report("C.report()V", ["r C.m", "print"]), Evidence::Confirmed);
}

#[test]
fn progress_that_tells_of_others_is_no_harm() {
    // Adds, counts, and prints what has been added.
    let visit = [
        "enter C.visit()V",
        "acq L",
        "r C.n",
        "w C.n+1",
        "rel L",
        "acq K",
        "r C.m",
        "w C.m+1",
        "rel K",
        "r C.n",
        "print",
        "exit",
    ];
    let mut text = "main | t1 | t2\nfork t1 | |\nfork t2 | |\n".to_string();
    for (before, behind) in [("| ", " |"), ("| | ", "")] {
        let lines = visit.map(|operation| format!("{before}{operation}{behind}\n"));
        text.push_str(&lines.concat());
    }
    let program = fake(&format!("{text}join t1 | |\njoin t2 | |\n"));
    let events = [("t1", 7), ("t2", 19), ("t2", 23), ("t1", 11)];
    let units = [("t1", 4, 15), ("t2", 16, 27)];
    let finding = judged(&program, finding(&program, Rule::Atomicity, &events, &units));
    assert_eq!(finding.evidence, Evidence::Confirmed, "{:?}", told(&finding));
    assert!(limit(&finding).contains("the units only report"));
}

#[test]
fn output_of_a_method_that_acts_on_what_it_read_is_harm() {
    let program = fake(
        "
        main    | t1              | t2
        fork t1 |                 |
        fork t2 |                 |
                | enter C.once()V |
                | r C.n           |
                |                 | enter C.once()V
                |                 | r C.n
                | skip 1 2        |
                | w C.n=1         |
                | print           |
                | exit            |
                |                 | skip 1 2
                |                 | w C.n=1
                |                 | print
                |                 | exit
        join t1 |                 |
        join t2 |                 |
    ",
    );
    let events = [("t1", 5), ("t2", 13), ("t1", 9)];
    let units = [("t1", 4, 11), ("t2", 6, 15)];
    let finding = judged(&program, finding(&program, Rule::Atomicity, &events, &units));
    assert_eq!(finding.evidence, Evidence::Harmful, "{:?}", told(&finding));
}

#[test]
fn output_of_a_method_that_hands_on_what_it_read_is_harm() {
    assert_eq!(
        report("C.check()Ljava/lang/Object;", ["r C.m", "print"]),
        Evidence::Harmful
    );
}

#[test]
fn output_that_no_serial_order_prints_is_harm() {
    let finding = atomicity(&fake(&format!("{COUNTER}    print |  |\n    w C.n=9 | |\n")));
    let message = "the program printed \"1\", which no serial order prints";
    assert_eq!(told(&finding), (Evidence::Harmful, Some(OutcomeKind::Output), message));
}

#[test]
fn output_that_differs_from_run_to_run_tells_nothing() {
    let chatters = |_: &Schedule, number: usize, run: &mut Forced| {
        run.output = format!("{number} {:?}", last(run, "n")).into_bytes();
    };
    let text = COUNTER.replace("    r C.n   |                |\n", "    w C.n=9 |                |\n");
    let finding = atomicity(&fake(&text).altered(chatters));
    assert_eq!(told(&finding).0, Evidence::Confirmed);
}

fn hangs(run: &mut Forced) {
    let threads = vec!["t1".to_string(), "t2".to_string()];
    run.verdict = Some(Verdict::Hang { threads, slip: None });
    run.ended_by = Some(EndedBy::Hang);
    run.whole = false;
}

#[test]
fn a_hang_that_no_serial_order_has_is_harm() {
    let finding = atomicity(&fake(COUNTER).altered(|_, _, run| {
        if last(run, "n") == Some(1) {
            hangs(run);
        }
    }));
    let message = "t1 and t2 wait, and no thread is left to wake them; every serial order ends";
    assert_eq!(told(&finding), (Evidence::Harmful, Some(OutcomeKind::Hang), message));
}

#[test]
fn a_hang_that_a_serial_order_has_too_is_no_harm() {
    let finding = atomicity(&fake(COUNTER).altered(|_, _, run| hangs(run)));
    assert_eq!(told(&finding).0, Evidence::Confirmed);
}

#[test]
fn a_run_that_takes_too_long_is_a_hang_without_threads() {
    let finding = atomicity(&fake(COUNTER).altered(|_, _, run| {
        if last(run, "n") == Some(1) {
            run.timed_out = true;
            run.verdict = None;
        }
    }));
    let message = "the program did not end; every serial order does";
    assert_eq!(told(&finding), (Evidence::Harmful, Some(OutcomeKind::Hang), message));
}

#[test]
fn harm_that_cannot_be_had_twice_is_not_reported() {
    let finding = atomicity(&fake(COUNTER).altered(|_, number, run| {
        if last(run, "n") == Some(1) && number == 0 {
            hangs(run);
        } else if let Some((events, _)) = &mut run.trace
            && number > 0
        {
            // The final value is as any serial order has it.
            events.retain(|event| event.thread.0 != 0);
        }
    }));
    assert_eq!(told(&finding).0, Evidence::Confirmed);
}
