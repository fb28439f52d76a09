//! Tests of the judgement, the budget and the fairness of directed runs, with a program that is a function of its goals.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use ravel_analysis::finding::{Candidate, EventRef, Evidence, Finding, OutcomeKind, Rule, UnitKind, UnitSpan};
use ravel_protocol::goal::{
    Account, CodeMethod, CodeSite, Goal, GoalShape, Goals, LogLine, Passed, Released, UnitEnd, UnitResult,
};
use ravel_trace::{LocationId, ThreadId};

use super::places::{Activation, EventPlace, HeldLock};
use super::ready::Ready;
use super::*;

mod shares;

/// What a program does in a directed run.
type Behaviour<'b> = dyn Fn(&Goals) -> (i32, Vec<LogLine>) + Sync + 'b;

struct Fake<'b> {
    behaviour: &'b Behaviour<'b>,
    /// The goals of each run.
    plans: Mutex<Vec<Goals>>,
    clock: &'b Ticking,
}

impl DirectedRunner for Fake<'_> {
    fn direct(&self, plan: &Goals) -> Result<DirectedRun> {
        self.plans.lock().expect("not poisoned").push(plan.clone());
        self.clock.seconds.fetch_add(1, Ordering::Relaxed);
        let (code, log) = (self.behaviour)(plan);
        Ok(DirectedRun {
            status: ExitStatus::from_raw(code << 8),
            timed_out: false,
            log,
            output: Vec::new(),
        })
    }
}

/// A clock that moves by a second with each run.
struct Ticking {
    begin: Instant,
    seconds: AtomicU64,
}

impl Clock for Ticking {
    fn now(&self) -> Instant {
        self.begin + Duration::from_secs(self.seconds.load(Ordering::Relaxed))
    }

    fn is_interrupted(&self) -> bool {
        false
    }
}

/// The findings after so many seconds, the plans of the runs, and the tally.
fn directed(
    findings: &mut [Finding],
    places: &Places,
    seconds: u64,
    behaviour: &Behaviour<'_>,
) -> (Vec<Goals>, DirectedTally) {
    directed_again(findings, places, (seconds, 0), behaviour)
}

/// The same with runs that say how often a pattern happens.
fn directed_again(
    findings: &mut [Finding],
    places: &Places,
    (seconds, repeats): (u64, usize),
    behaviour: &Behaviour<'_>,
) -> (Vec<Goals>, DirectedTally) {
    let clock = Ticking {
        begin: Instant::now(),
        seconds: AtomicU64::new(0),
    };
    let fake = Fake {
        behaviour,
        plans: Mutex::new(Vec::new()),
        clock: &clock,
    };
    let deadline = clock.now() + Duration::from_secs(seconds);
    let tally = direct(places, &fake, findings, (&clock, deadline), repeats).expect("a fake does not fail");
    (fake.plans.into_inner().expect("not poisoned"), tally)
}

fn method(name: &str) -> CodeMethod {
    CodeMethod {
        class: "shop/Stock".into(),
        name: name.into(),
        descriptor: "()V".into(),
    }
}

fn event(index: u64, thread: u32) -> EventRef {
    EventRef {
        index,
        thread: ThreadId(thread),
        position: index as u32,
        location: Some(LocationId(0)),
        lock: None,
    }
}

/// A place in a method that lies in one activation of it.
fn place(index: u64, name: &str) -> EventPlace {
    EventPlace {
        position: index as u32,
        site: Some(CodeSite {
            method: method(name),
            bci: index as u32,
            member: "left".into(),
            line: 10 + index as u32,
        }),
        cell: Some((1, u32::MAX)),
        stack: vec![Activation {
            method: method(name),
            call: None,
            entered: 0,
        }],
        locks: Vec::<HeldLock>::new(),
        earlier: Vec::new(),
    }
}

/// `take` reads and writes, and `put` writes in between.
fn atomicity(id: &str, variable: &str) -> Finding {
    let unit = |thread: u32, begin: u64| UnitSpan {
        thread: ThreadId(thread),
        begin: event(begin, thread),
        end: None,
        kind: UnitKind::Method,
        pass: false,
    };
    finding(
        id,
        Rule::Atomicity,
        variable,
        Candidate {
            events: vec![event(1, 1), event(2, 2), event(3, 1)],
            owners: vec![Some(0), Some(1), Some(0)],
            units: vec![unit(1, 1), unit(2, 2)],
            observed: false,
        },
    )
}

fn race(id: &str, variable: &str) -> Finding {
    let candidate = Candidate {
        events: vec![event(1, 1), event(2, 2)],
        owners: vec![None, None],
        ..Candidate::default()
    };
    finding(id, Rule::DataRace, variable, candidate)
}

fn finding(id: &str, rule: Rule, variable: &str, candidate: Candidate) -> Finding {
    Finding {
        variables: vec![variable.into()],
        candidates: vec![candidate],
        ..Finding::new(id.into(), rule, Evidence::Predicted)
    }
}

fn places() -> Places {
    Places::from_iter([(1, place(1, "take")), (2, place(2, "put")), (3, place(3, "take"))])
}

/// A goal that happens: steps with what each role found and wrote.
fn fact(goal: &Goal, steps: &[(usize, Option<i64>, i64)]) -> LogLine {
    let passed = |(step, (role, before, value)): (usize, &(usize, Option<i64>, i64))| Passed {
        step,
        role: *role,
        thread: format!("t{role}"),
        before: *before,
        value: Some(*value),
    };
    LogLine::Fact {
        goal: goal.id.clone(),
        steps: steps.iter().enumerate().map(passed).collect(),
        held_millis: 20,
    }
}

fn happens(goal: &Goal) -> LogLine {
    fact(goal, &[])
}

/// The end of a unit that a test writes as a word.
fn end(word: &str) -> UnitEnd {
    match word {
        "nothing" => UnitEnd::Nothing,
        value => UnitEnd::Value(value.into()),
    }
}

/// The unit of a role ended; each method is run by a thread of its own.
fn result(plan: &Goals, role: usize, value: &str, activation: u64) -> LogLine {
    let goal = &plan.goals[0];
    let unit = goal.roles[role].result.expect("a unit");
    LogLine::Result {
        goal: goal.id.clone(),
        role,
        result: UnitResult {
            thread: plan.methods[unit].name.clone(),
            activation,
            end: end(value),
        },
    }
}

fn died(exception: &str) -> LogLine {
    LogLine::Died {
        thread: "t1".into(),
        exception: exception.into(),
        stack: Vec::new(),
    }
}

fn is_serial(goal: &Goal) -> bool {
    goal.shape == GoalShape::Serial
}

#[test]
fn every_finding_has_a_first_run_before_any_has_a_second_and_the_application_comes_first() {
    let mut findings: Vec<Finding> = (0..40)
        .map(|number| {
            let of_platform = number % 2 == 0;
            race(
                &format!("f{number}"),
                if of_platform {
                    "java.util.ArrayList.size"
                } else {
                    "shop.Stock.left"
                },
            )
        })
        .collect();
    let (plans, tally) = directed(&mut findings, &places(), 1_000, &|_| (0, Vec::new()));
    let mut order: Vec<&str> = Vec::new();
    for goal in plans.iter().flat_map(|plan| &plan.goals) {
        if order.last() != Some(&goal.id.as_str()) {
            order.push(&goal.id);
        }
    }
    let mut firsts = order[..40].to_vec();
    let number = |id: &str| id[1..].parse::<usize>().expect("a number");
    assert!(firsts[..20].iter().all(|id| number(id) % 2 == 1), "{firsts:?}");
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts.len(), 40, "each once");
    assert_eq!(tally.tried.len(), 40);
    assert!(plans.iter().all(|plan| plan.goals.len() <= 25));
    assert!(
        plans.last().is_some_and(|plan| plan.goals.len() <= 4),
        "later ones have less company"
    );
}

#[test]
fn no_run_begins_after_the_deadline() {
    let mut findings = vec![race("f", "shop.Stock.left")];
    let (plans, tally) = directed(&mut findings, &places(), 3, &|_| (0, Vec::new()));
    assert_eq!((plans.len(), tally.runs), (3, 3));
}

#[test]
fn a_race_that_happens_twice_is_confirmed_and_one_that_happens_once_is_not() {
    let mut findings = vec![race("twice", "shop.Stock.left"), race("once", "shop.Stock.left")];
    let runs = AtomicU64::new(0);
    let (_, tally) = directed(&mut findings, &places(), 100, &|plan| {
        let first = runs.fetch_add(1, Ordering::Relaxed) == 0;
        let goals = plan.goals.iter().filter(|goal| first || goal.id == "twice");
        (0, goals.map(happens).collect())
    });
    assert_eq!(findings[0].evidence, Evidence::Confirmed);
    assert_eq!(findings[1].evidence, Evidence::Predicted);
    let (_, reason) = tally.reasons.iter().find(|(id, _)| id == "once").expect("a reason");
    assert_eq!(reason.as_str(), "a directed run had the pattern, 7 others did not");
}

#[test]
fn an_exception_that_serial_orders_do_not_have_is_harm() {
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    let (plans, _) = directed(&mut findings, &places(), 100, &|plan| {
        let goal = &plan.goals[0];
        match is_serial(goal) {
            true => (0, vec![happens(goal)]),
            false => (1, vec![happens(goal), died("java.lang.IllegalStateException: 7")]),
        }
    });
    assert_eq!(findings[0].evidence, Evidence::Harmful);
    let outcome = findings[0].outcome.as_ref().expect("an outcome");
    assert_eq!(outcome.kind, OutcomeKind::Exception);
    let controls: Vec<&Goal> = plans
        .iter()
        .map(|plan| &plan.goals[0])
        .filter(|goal| is_serial(goal))
        .collect();
    assert_eq!(controls.len(), 4, "each order twice");
    assert!(
        controls
            .iter()
            .all(|goal| goal.pause.is_some_and(|pause| pause.millis == 20))
    );
}

#[test]
fn a_serial_order_that_cannot_be_made_leaves_the_finding_confirmed_and_is_named() {
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    directed(&mut findings, &places(), 100, &|plan| {
        let goal = &plan.goals[0];
        match goal.id.as_str() {
            "serial-1" => (0, Vec::new()),
            "serial-0" => (0, vec![happens(goal)]),
            _ => (1, vec![happens(goal)]),
        }
    });
    assert_eq!(findings[0].evidence, Evidence::Confirmed);
    let limit = findings[0].limit.as_ref().expect("a reason").as_str();
    assert!(limit.contains("no run had Stock.put before Stock.take"), "{limit}");
}

#[test]
fn an_outcome_that_comes_by_itself_is_harm_if_exclusive_runs_lack_it() {
    let bad_end = |broken: u64| {
        move |plan: &Goals| match plan.goals.first() {
            None => (0, vec![LogLine::Exclusive { entered: 9, broken }]),
            Some(goal) => (1, vec![happens(goal)]),
        }
    };
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    directed(&mut findings, &places(), 100, &bad_end(0));
    assert_eq!(findings[0].evidence, Evidence::Harmful);
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    directed(&mut findings, &places(), 100, &bad_end(1));
    assert_eq!(findings[0].evidence, Evidence::Confirmed, "they were not kept apart");
}

#[test]
fn an_outcome_that_one_serial_order_always_has_is_no_harm_though_exclusive_runs_lack_it() {
    let exception = "java.lang.NullPointerException";
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    directed(&mut findings, &places(), 100, &|plan| match plan.goals.first() {
        // By itself the program has the other order.
        None => (0, vec![LogLine::Exclusive { entered: 9, broken: 0 }]),
        Some(goal) if goal.id == "serial-0" => (0, vec![happens(goal)]),
        Some(goal) => (1, vec![happens(goal), died(exception)]),
    });
    assert_eq!(findings[0].evidence, Evidence::Confirmed);
    let limit = findings[0].limit.as_ref().expect("a reason").as_str();
    assert_eq!(limit, "a serial order of the units has the same outcome");
}

#[test]
fn a_deadlock_of_other_threads_is_no_harm() {
    let evidence = |stuck: &'static str| {
        let mut findings = vec![atomicity("f", "shop.Stock.left")];
        directed(&mut findings, &places(), 100, &|plan| {
            let Some(goal) = plan.goals.first() else {
                return (0, vec![LogLine::Exclusive { entered: 9, broken: 0 }]);
            };
            let threads = vec![stuck.to_owned(), "backup".to_owned()];
            let log = vec![fact(goal, &[(0, None, 1)]), LogLine::Deadlock { threads }];
            (0, if is_serial(goal) { vec![happens(goal)] } else { log })
        });
        findings[0].evidence
    };
    assert_eq!(evidence("t0"), Evidence::Harmful);
    assert_eq!(evidence("flusher"), Evidence::Confirmed);
}

#[test]
fn a_bad_end_that_comes_without_the_pattern_needs_exclusive_runs_that_lack_it() {
    let runs = AtomicU64::new(0);
    // The first run ends badly though the pattern did not happen, and so do exclusive runs: another bug is at work.
    let other_bug = |plan: &Goals| match plan.goals.first() {
        None => (1, vec![LogLine::Exclusive { entered: 9, broken: 0 }]),
        Some(goal) if is_serial(goal) => (0, vec![happens(goal)]),
        Some(goal) => {
            let first = runs.fetch_add(1, Ordering::Relaxed) == 0;
            (1, if first { Vec::new() } else { vec![happens(goal)] })
        }
    };
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    directed(&mut findings, &places(), 100, &other_bug);
    assert_eq!(findings[0].evidence, Evidence::Confirmed);
}

#[test]
fn a_lost_update_is_harm_wherever_the_number_stands() {
    let runs = AtomicU64::new(0);
    let counter = |plan: &Goals| {
        let at = runs.fetch_add(10, Ordering::Relaxed) as i64;
        let goal = &plan.goals[0];
        let steps = match goal.id.as_str() {
            "serial-0" => vec![(0, None, at), (0, Some(at), at + 1), (1, Some(at + 1), at + 2)],
            "serial-1" => vec![(0, Some(at), at + 1), (1, None, at + 1), (1, Some(at + 1), at + 2)],
            _ => vec![(0, None, at), (1, Some(at), at + 1), (0, Some(at + 1), at + 1)],
        };
        (0, vec![fact(goal, &steps)])
    };
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    directed(&mut findings, &places(), 100, &counter);
    assert_eq!(findings[0].evidence, Evidence::Harmful, "{:?}", findings[0].limit);
    let outcome = findings[0].outcome.as_ref().expect("an outcome");
    let words = "an update was lost: Stock.left changed by 1, and by 2 in each serial order";
    assert_eq!((outcome.kind, outcome.message.as_str()), (OutcomeKind::Value, words));
}

#[test]
fn a_value_that_units_set_and_do_not_add_to_is_no_lost_update() {
    let setter = |plan: &Goals| {
        let goal = &plan.goals[0];
        let steps = match goal.id.as_str() {
            "serial-0" => vec![(0, None, 0), (0, Some(0), 7), (1, Some(7), 9)],
            "serial-1" => vec![(0, Some(0), 9), (1, None, 9), (1, Some(9), 7)],
            _ => vec![(0, None, 0), (1, Some(0), 3), (0, Some(3), 5)],
        };
        (0, vec![fact(goal, &steps)])
    };
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    directed(&mut findings, &places(), 100, &setter);
    assert_eq!(findings[0].evidence, Evidence::Confirmed);
}

#[test]
fn results_are_compared_for_the_same_activations_only() {
    let program = |later: u64| {
        move |plan: &Goals| {
            let goal = &plan.goals[0];
            let (values, activation) = match goal.id.as_str() {
                "serial-0" => (["true", "false"], 1 + later),
                "serial-1" => (["true", "false"], 1 + later),
                _ => (["true", "true"], 1),
            };
            let log = vec![
                happens(goal),
                result(plan, 0, values[0], activation),
                result(plan, 1, values[1], activation),
            ];
            (0, log)
        }
    };
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    directed(&mut findings, &places(), 100, &program(0));
    assert_eq!(findings[0].evidence, Evidence::Harmful, "{:?}", findings[0].limit);
    let outcome = findings[0].outcome.as_ref().expect("an outcome");
    let words = "the units returned true and true; in serial orders false and true, or true and false";
    assert_eq!(outcome.message, words);
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    directed(&mut findings, &places(), 100, &program(1));
    assert_eq!(findings[0].evidence, Evidence::Confirmed);
}

#[test]
fn a_failed_attempt_names_the_line_where_the_partner_did_not_come() {
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    let (_, tally) = directed(&mut findings, &places(), 100, &|plan| {
        let account = Account {
            goal: plan.goals[0].id.clone(),
            visits: vec![4, 0, 2],
            candidates: vec![4, 0, 2],
            instrumented: vec![true; 3],
            threads: 1,
            holds: 2,
            ended: vec![(Released::Idle, 2)],
            held_millis: 8,
            facts: 0,
        };
        (0, vec![LogLine::Account(account)])
    });
    assert_eq!(findings[0].evidence, Evidence::Predicted);
    let (_, reason) = &tally.reasons[0];
    assert!(
        reason.as_str().contains("no thread reached shop.Stock.put (line 12)"),
        "{reason}"
    );
}

/// The race of `take` at two lines: the second line writes what it made of the value that the first line read.
fn counter_race() -> (Vec<Finding>, Places) {
    let places = places().with_read(3, event(1, 1));
    let candidate = Candidate {
        events: vec![event(3, 1), event(2, 2)],
        owners: vec![None, None],
        ..Candidate::default()
    };
    (vec![finding("f", Rule::DataRace, "shop.Stock.left", candidate)], places)
}

#[test]
fn a_race_that_loses_an_update_is_harm_though_a_third_thread_adds_too() {
    let counter = |plan: &Goals| {
        let goal = &plan.goals[0];
        let steps = match (goal.id.as_str(), goal.steps.len()) {
            // A third thread adds one between the two units.
            ("serial-0" | "serial-1", _) => vec![(0, None, 5), (0, Some(5), 6), (1, None, 7), (1, Some(7), 8)],
            (_, 4) => vec![(0, None, 5), (1, None, 5), (1, Some(5), 6), (0, Some(6), 6)],
            _ => Vec::new(),
        };
        (0, vec![fact(goal, &steps)])
    };
    let (mut findings, places) = counter_race();
    let (plans, _) = directed(&mut findings, &places, 100, &counter);
    assert_eq!(findings[0].evidence, Evidence::Harmful, "{:?}", findings[0].limit);
    let outcome = findings[0].outcome.as_ref().expect("an outcome");
    let words = "an update was lost: Stock.left changed by 1, and by 2 in each serial order";
    assert_eq!(outcome.message, words);
    let update = plans
        .iter()
        .map(|plan| &plan.goals[0])
        .find(|goal| goal.steps.len() == 4 && !is_serial(goal));
    let update = update.expect("a goal for the update");
    let lines: Vec<(usize, usize)> = update.steps.iter().map(|step| (step.role, step.site)).collect();
    assert_eq!(
        lines,
        [(0, 0), (1, 0), (1, 1), (0, 1)],
        "the other thread runs the same code"
    );
}

#[test]
fn a_serial_run_that_a_third_thread_disturbs_is_no_control() {
    let disturbed = |plan: &Goals| {
        let goal = &plan.goals[0];
        let steps = match (goal.id.as_str(), goal.steps.len()) {
            ("serial-0" | "serial-1", _) => vec![(0, None, 5), (0, Some(9), 6), (1, None, 6), (1, Some(6), 7)],
            (_, 4) => vec![(0, None, 5), (1, None, 5), (1, Some(5), 6), (0, Some(6), 6)],
            _ => Vec::new(),
        };
        (0, vec![fact(goal, &steps)])
    };
    let (mut findings, places) = counter_race();
    directed(&mut findings, &places, 100, &disturbed);
    assert_eq!(findings[0].evidence, Evidence::Confirmed);
    let limit = findings[0].limit.as_ref().expect("a reason").as_str();
    assert!(limit.contains("not known for every serial order"), "{limit}");
}

#[test]
fn a_bad_end_that_comes_without_the_pattern_too_is_said_to_have_perhaps_another_cause() {
    // Another bug ends every run, whatever happens in it.
    let program = |plan: &Goals| (1, plan.goals.iter().map(happens).collect());
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    directed(&mut findings, &places(), 100, &program);
    assert_eq!(findings[0].evidence, Evidence::Confirmed);
    let outcome = findings[0].outcome.as_ref().expect("an outcome");
    let words = "the program ended with exit code 1, which may have another cause";
    assert_eq!((outcome.kind, outcome.message.as_str()), (OutcomeKind::Exit, words));
}

#[test]
fn a_bad_end_of_repeated_patterns_is_harm_if_many_exclusive_runs_lack_it() {
    let program = |exclusive_code: i32| {
        move |plan: &Goals| match plan.goals.first() {
            None => (exclusive_code, vec![LogLine::Exclusive { entered: 9, broken: 0 }]),
            Some(goal) => (i32::from(plan.facts > 1), vec![happens(goal)]),
        }
    };
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    let (plans, _) = directed(&mut findings, &places(), 100, &program(0));
    assert_eq!(findings[0].evidence, Evidence::Harmful, "{:?}", findings[0].limit);
    let exclusive = plans.iter().filter(|plan| !plan.exclusive.is_empty()).count();
    assert_eq!(exclusive, 4, "two for each run with the pattern");
    let mut findings = vec![atomicity("f", "shop.Stock.left")];
    directed(&mut findings, &places(), 100, &program(1));
    assert_eq!(findings[0].evidence, Evidence::Confirmed);
}

#[test]
fn a_pair_of_usual_results_is_harm_if_no_serial_order_has_it_whatever_the_activations() {
    let runs = AtomicU64::new(0);
    let program = |bad: [&'static str; 2], activations: u64| {
        let runs = &runs;
        move |plan: &Goals| {
            let activation = runs.fetch_add(1, Ordering::Relaxed) % activations;
            let goal = &plan.goals[0];
            let values = if is_serial(goal) { ["1", "2"] } else { bad };
            let log = vec![
                happens(goal),
                result(plan, 0, values[0], activation),
                result(plan, 1, values[1], activation),
            ];
            (0, log)
        }
    };
    let evidence = |behaviour: &Behaviour<'_>| {
        let mut findings = vec![atomicity("f", "shop.Stock.left")];
        directed(&mut findings, &places(), 100, behaviour);
        findings[0].evidence
    };
    assert_eq!(evidence(&program(["1", "1"], 7)), Evidence::Harmful);
    assert_eq!(
        evidence(&program(["8", "8"], 7)),
        Evidence::Confirmed,
        "other values may belong to another part of the run"
    );
    assert_eq!(
        evidence(&program(["1", "1"], 1)),
        Evidence::Harmful,
        "the same activations are compared as they are"
    );
}

#[test]
fn what_happened_is_tried_again_to_say_how_often_it_does() {
    let runs = AtomicU64::new(0);
    let mut findings = vec![race("f", "shop.Stock.left")];
    let (_, tally) = directed_again(&mut findings, &places(), (100, 5), &|plan| {
        // It happens in the two runs that confirm it, and then in every second one.
        let run = runs.fetch_add(1, Ordering::Relaxed);
        let happen = run < 2 || run.is_multiple_of(2);
        (0, plan.goals.iter().filter(|_| happen).map(happens).collect())
    });
    assert_eq!(tally.again, [("f".to_string(), 3, 5)]);
    assert!(tally.accounts.is_empty(), "the fake leaves none");
}

#[test]
fn a_signal_that_comes_before_the_wait_is_harm_if_no_serial_order_ends_as_badly() {
    let site = |name: &str, bci: u32, member: &str| CodeSite {
        method: method(name),
        bci,
        member: member.into(),
        line: bci,
    };
    let waiter = [site("take", 1, ""), site("take", 2, "wait"), site("run", 3, "take")];
    let waker = [site("put", 4, ""), site("put", 5, "notify"), site("run", 6, "put")];
    let candidate = Candidate {
        events: vec![event(0, 1), event(1, 2)],
        owners: vec![None; 2],
        ..Candidate::default()
    };
    let signal = finding("s", Rule::NakedNotify, "shop.Stock", candidate);
    let places = Places::default().with_ready(Ready::signal(signal.clone(), waiter, waker));
    let run = |serial_code: i32| {
        let mut findings = [signal.clone()];
        directed(&mut findings, &places, 100, &|plan| {
            let code = if plan.goals[0].id == "s" { 1 } else { serial_code };
            (code, vec![happens(&plan.goals[0])])
        });
        findings[0].evidence
    };
    assert_eq!(run(0), Evidence::Harmful);
    assert_eq!(run(1), Evidence::Confirmed);
}
