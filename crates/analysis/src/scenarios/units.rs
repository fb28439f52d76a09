//! Which stretch of a thread an access belongs to: each of the default kinds of units, and what ends them.

use super::{findings, patterns, reports, verdicts};
use crate::finding::{Evidence, Finding, Rule, UnitKind};

#[test]
fn a_unit_that_an_exception_ends_is_over_ok() {
    // `take` is left by an exception that `work` catches: no exit of its own.
    let text = "
        t1                  | t2
        enter Stock.work
        enter Stock.take
        acq Stock
        r Stock.items
        rel Stock
        exit
        exit
                            | enter Stock.put
                            | acq Stock
                            | w Stock.items
                            | rel Stock
                            | exit
        enter Stock.take
        acq Stock
        w Stock.items
        rel Stock
        exit
    ";
    assert_eq!(patterns(text), [] as [String; 0]);
}

#[test]
fn a_check_then_act_in_one_method_is_a_method_unit_bad() {
    let found = findings(
        "
        t1                  | t2
        enter Stock.take
        acq Stock
        r Stock.items
        rel Stock
                            | enter Stock.put
                            | acq Stock
                            | w Stock.items
                            | rel Stock
                            | exit
        acq Stock
        w Stock.items
        rel Stock
        exit
    ",
    );
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(
        (found[0].rule, found[0].evidence),
        (Rule::Atomicity, Evidence::Witnessed)
    );
    assert_eq!(found[0].units[0].kind, UnitKind::Method);
    assert_eq!(found[0].analyses, ["automata", "serializability"]);
    assert_eq!(found[0].variables, ["Stock.items"]);
    assert!(!found[0].shown);
    let candidate = &found[0].candidates[0];
    assert_eq!(candidate.events.iter().map(|e| e.index).collect::<Vec<_>>(), [2, 6, 10]);
    assert_eq!(
        (candidate.units[0].begin.index, candidate.units[0].end.map(|e| e.index)),
        (0, Some(12))
    );
}

/// A lazy value of Scala starts an actor while it is computed: its lock is there for the value alone.
#[test]
fn what_a_lazy_value_reaches_is_no_step_of_its_own_ok() {
    let text = |method: &str| {
        format!(
            "
            t1                            | t2
            enter System.{method}
            acq System
            r Mailbox.status
                                          | w Mailbox.status
            r Mailbox.status
            rel System
            exit
            "
        )
    };
    let units = |found: Vec<Finding>| {
        let units = found
            .into_iter()
            .filter(|finding| finding.rule == Rule::Atomicity)
            .flat_map(|finding| finding.units);
        units.map(|unit| unit.kind).collect::<Vec<_>>()
    };
    assert!(units(findings(&text("start"))).contains(&UnitKind::Section));
    assert_eq!(units(findings(&text("start$lzycompute"))), []);
}

#[test]
fn a_nested_call_belongs_to_the_topmost_method_bad() {
    // `take` calls `count` and `remove`, each a section of its own.
    let text = "
        t1                              | t2
        enter Stock.take
        enter synchronized Stock.count
        acq Stock
        r Stock.items
        rel Stock
        exit
                                        | enter synchronized Stock.put
                                        | acq Stock
                                        | w Stock.items
                                        | rel Stock
                                        | exit
        enter synchronized Stock.remove
        acq Stock
        w Stock.items
        rel Stock
        exit
        exit
    ";
    assert_eq!(patterns(text), ["1: R(x) W'(x) W(x)"]);
}

#[test]
fn two_calls_on_an_object_that_protects_itself_are_a_compound_bad() {
    let text = "
        t1                              | t2
        enter Shop.sell
        enter synchronized Stock.count
        acq Stock
        r Stock.items
        rel Stock
        exit
                                        | enter synchronized Stock.put
                                        | acq Stock
                                        | w Stock.items
                                        | rel Stock
                                        | exit
        enter synchronized Stock.remove
        acq Stock
        w Stock.items
        rel Stock
        exit
        exit
    ";
    let found = findings(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(
        (found[0].rule, found[0].units[0].kind),
        (Rule::Atomicity, UnitKind::Compound)
    );
    assert_eq!(found[0].units[0].method, "Shop.sell");
}

#[test]
fn one_pass_through_the_body_of_a_thread_is_a_compound_bad() {
    let found = findings(
        "
        t1                              | t2
        enter Worker.run
        enter synchronized Stock.count
        acq Stock
        r Stock.items
        rel Stock
        exit
                                        | enter synchronized Stock.put
                                        | acq Stock
                                        | w Stock.items
                                        | rel Stock
                                        | exit
        enter synchronized Stock.remove
        acq Stock
        w Stock.items
        rel Stock
        exit
        exit
    ",
    );
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(
        (found[0].rule, found[0].units[0].kind, found[0].units[0].method.as_str()),
        (Rule::Atomicity, UnitKind::Compound, "Worker.run")
    );
    // It begins with the first call, so that no turn of a loop is taken for the whole body.
    let unit = &candidate_units(&found)[0];
    assert_eq!((unit.begin.position, unit.end.map(|end| end.position)), (1, Some(11)));
}

fn candidate_units(found: &[Finding]) -> &[crate::finding::UnitSpan] {
    &found[0].candidates[0].units
}

#[test]
fn a_body_that_looks_twice_or_writes_twice_is_no_unit_ok() {
    let body = |first: &str, last: &str| {
        format!(
            "
        t1                                | t2
        enter Worker.run
        enter synchronized Stock.first @4
        acq Stock
        {first} Stock.items
        rel Stock
        exit
                                          | enter synchronized Stock.put
                                          | acq Stock
                                          | r Stock.items
                                          | w Stock.items
                                          | rel Stock
                                          | exit
        enter synchronized Stock.last @5
        acq Stock
        {last} Stock.items
        rel Stock
        exit
        exit
    "
        )
    };
    assert!(
        !findings(&body("r", "w")).is_empty(),
        "it writes what rests on a stale read"
    );
    for (first, last) in [("r", "r"), ("w", "w"), ("w", "r")] {
        assert_eq!(findings(&body(first, last)), [], "{first} {last}");
    }
}

#[test]
fn two_turns_of_a_loop_in_the_body_of_a_thread_are_two_units_ok() {
    let text = "
        t1                                  | t2
        enter Worker.run
        enter synchronized Stock.count @4
        acq Stock
        r Stock.items
        rel Stock
        exit
                                            | enter synchronized Stock.put
                                            | acq Stock
                                            | w Stock.items
                                            | rel Stock
                                            | exit
        enter synchronized Stock.count @4
        acq Stock
        r Stock.items
        rel Stock
        exit
        enter synchronized Stock.remove @5
        acq Stock
        w Stock.items
        rel Stock
        exit
        exit
    ";
    assert_eq!(verdicts(text), []);
}

#[test]
fn two_blocks_in_the_body_of_a_thread_are_a_compound_bad() {
    let found = findings(
        "
        t1                  | t2
        enter Worker.run
        acq Stock
        r Stock.items
        rel Stock
                            | enter synchronized Stock.put
                            | acq Stock
                            | w Stock.items
                            | rel Stock
                            | exit
        acq Stock
        w Stock.items
        rel Stock
        exit
    ",
    );
    let compound = found.iter().find(|finding| finding.rule == Rule::Atomicity);
    let unit = &compound.expect("the body is interrupted").units[0];
    assert_eq!((unit.method.as_str(), unit.kind), ("Worker.run", UnitKind::Compound));
}

#[test]
fn a_thread_that_starts_another_one_in_its_body_begins_a_new_unit_ok() {
    let text = "
        main                            | t2
        enter Shop.main
        enter synchronized Stock.count
        acq Stock
        r Stock.items
        rel Stock
        exit
        fork t2
                                        | enter synchronized Stock.put
                                        | acq Stock
                                        | w Stock.items
                                        | rel Stock
                                        | exit
        enter synchronized Stock.remove
        acq Stock
        w Stock.items
        rel Stock
        exit
        exit
    ";
    assert_eq!(verdicts(text), []);
}

#[test]
fn a_wait_splits_a_unit_ok() {
    let text = "
        t1                  | t2
        enter Stock.take
        acq Stock
        r Stock.items
        wait Stock
                            | enter Stock.put
                            | acq Stock
                            | w Stock.items
                            | notifyall Stock
                            | rel Stock
                            | exit
        resume Stock
        r Stock.items
        w Stock.items
        rel Stock
        exit
    ";
    assert_eq!(verdicts(text), []);
}

#[test]
fn get_then_set_on_an_atomic_is_a_compound_bad() {
    let text = "
        volatile java.util.concurrent.atomic.AtomicInteger.state
        t1                                               | t2
        enter Shop.sell
        r java.util.concurrent.atomic.AtomicInteger.state
                                                         | enter Shop.sell
                                                         | r java.util.concurrent.atomic.AtomicInteger.state
                                                         | w java.util.concurrent.atomic.AtomicInteger.state
                                                         | exit
        w java.util.concurrent.atomic.AtomicInteger.state
        exit
    ";
    let found = findings(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(
        (found[0].rule, found[0].units[0].kind),
        (Rule::Atomicity, UnitKind::Compound)
    );
}

#[test]
fn a_method_counts_as_a_unit_on_other_objects_of_its_class_known_miss() {
    // A trace has no receivers. By AtomicSet's rule `transfer` is a unit on its own account alone, and each `deposit` on
    // the other one is a unit of its own; here both belong to `transfer`. Such a unit is assumed, and shown only if it harms.
    let found = findings(
        "
        t1                     | t2
        enter Account.transfer
        r Account.balance @1
        enter Account.deposit
        r Account#2.balance @5
        exit
                               | enter Account.deposit
                               | r Account#2.balance @5
                               | w Account#2.balance @6
                               | exit
        enter Account.deposit
        r Account#2.balance @5
        w Account#2.balance @6
        exit
        exit
    ",
    );
    let assumed = |finding: &Finding| finding.units.iter().any(|unit| unit.method.contains("transfer"));
    assert!(found.iter().any(assumed), "{found:#?}");
}

#[test]
fn a_unit_that_touches_nothing_does_not_disturb_the_threads_after_it() {
    // Thread 2 ends a unit before any access of its own, and before thread 1 has made one.
    let text = "
        t0    | t1    | t2
        w x
              |       | acq l
              |       | rel l
              |       | w x
              | w x
    ";
    assert!(reports(text, &["serializability"]).is_empty());
}

#[test]
fn a_section_that_a_helper_opens_is_named_after_the_code_under_the_lock_bad() {
    let found = findings(
        "
        t1                     | t2
        enter Server.start
        enter AutoLock.lock
        acq AutoLock
        exit
        r Server.state
                               | enter Server.kill
                               | w Server.state
                               | exit
        w Server.state
        enter AutoLock.close
        rel AutoLock
        exit
        exit
    ",
    );
    let interrupted = found.iter().find(|finding| finding.rule == Rule::Atomicity);
    let unit = &interrupted.expect("the section is interrupted").units[0];
    assert_eq!((unit.method.as_str(), unit.kind), ("Server.start", UnitKind::Section));
}

#[test]
fn a_lock_that_a_helper_takes_inside_a_section_is_no_section_of_its_own_bad() {
    // One section on both locks, as if `move` took the second one itself: its two accesses are one step.
    let found = findings(
        "
        t1                     | t2
        enter Store.move
        acq outer
        r Store.from
        enter AutoLock.lock
        acq inner
        exit
                               | w Store.from
        w Store.from
        enter AutoLock.close
        rel inner
        exit
        rel outer
        exit
    ",
    );
    let interrupted = found.iter().find(|finding| finding.rule == Rule::Atomicity);
    let unit = &interrupted.expect("the section is interrupted").units[0];
    assert_eq!((unit.method.as_str(), unit.kind), ("Store.move", UnitKind::Section));
}
