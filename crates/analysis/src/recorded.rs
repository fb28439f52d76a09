//! The plugged-in analyses against the algorithms they are made of: transactions given as text or at random are recorded
//! one after the other, as a trace of declared units, and run through the engine.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use fastrand::Rng;
use ravel_trace::names::{Field, Location, Lock, Site, Thread, flags};
use ravel_trace::{Event, FieldId, Names, ObjectId, Op, SiteId, Source, SourceError, ThreadId, Value};

use crate::blocks::general::SetVerdict;
use crate::definitions::{ForkOrder, TransactionSet, atomicity};
use crate::engine::Engine;
use crate::finding::{Evidence, Rule};
use crate::oracle::{Oracle, Shape, random, show};
use crate::raw::RawReport;
use crate::registry;
use crate::transaction::{Action, Transaction};
use crate::units::UnitSettings;

struct Recorded {
    names: Names,
    events: std::vec::IntoIter<Event>,
}

impl Source for Recorded {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        Ok(self.events.next())
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn again(&mut self) -> Option<Box<dyn Source + '_>> {
        Some(Box::new(Recorded {
            names: self.names.clone(),
            events: self.events.clone(),
        }))
    }
}

/// Records transactions in the order given; those of variables whose name begins with `v` are volatile.
fn record(set: &[Transaction], volatile: impl Fn(usize) -> bool) -> Recorded {
    let mut names = Names::default();
    let mut events = Vec::new();
    let object = |number: usize| ObjectId(number as u64 + 1);
    let (mut threads, mut locations, mut locks) = (0, 0, 0);
    for step in set.iter().flat_map(|transaction| &transaction.steps) {
        match step.action {
            Action::Read(at) | Action::Write(at) => locations = locations.max(at.index() + 1),
            Action::Acquire(lock, _) | Action::Release(lock, _) => locks = locks.max(lock.index() + 1),
            Action::Fork(child) | Action::Join(child) => threads = threads.max(child.index() + 1),
        }
    }
    threads = set
        .iter()
        .map(|transaction| transaction.thread.index() + 1)
        .fold(threads, usize::max);
    names.sites.push(Site::default());
    for number in 0..locations {
        let flags = if volatile(number) { flags::VOLATILE } else { 0 };
        names.fields.push(Field {
            name: format!("x{number}"),
            flags,
            ..Field::default()
        });
        names.locations.push(Location::Named(FieldId::from(number)));
    }
    names.locks.extend((0..locks).map(|number| Lock {
        object: object(number),
        name: format!("l{number}"),
    }));
    names.threads.extend((0..threads).map(|number| Thread {
        name: format!("t{number}"),
        ..Thread::default()
    }));
    let mut add = |names: &mut Names, thread: ThreadId, op: Op| {
        names.sites.push(Site {
            line: events.len() as u32 + 1,
            ..Site::default()
        });
        let position = events.len() as u32;
        events.push(Event {
            thread,
            position,
            site: SiteId::from(names.sites.len() - 1),
            op,
        });
    };
    for transaction in set {
        let thread = transaction.thread;
        add(&mut names, thread, Op::UnitBegin);
        let mut skip = false;
        for (at, step) in transaction.steps.iter().enumerate() {
            if std::mem::take(&mut skip) {
                continue;
            }
            skip = transaction
                .steps
                .get(at + 1)
                .is_some_and(|next| next.origin == step.origin);
            let value = Value::Unknown;
            let op = match step.action {
                Action::Read(location) if skip => Op::Update { location, value },
                Action::Read(location) => Op::Read { location, value },
                Action::Write(location) => Op::Write { location, value },
                Action::Acquire(lock, mode) => Op::Acquire { lock, mode },
                Action::Release(lock, mode) => Op::Release { lock, mode },
                Action::Fork(child) => Op::Fork { child },
                Action::Join(child) => Op::Join { child, limited: false },
            };
            add(&mut names, thread, op);
        }
        add(&mut names, thread, Op::UnitEnd);
    }
    Recorded {
        names,
        events: events.into_iter(),
    }
}

fn reports(set: &[Transaction], analysis: &str) -> Vec<RawReport> {
    reports_of(&mut record(set, |_| false), analysis)
}

fn reports_of(source: &mut Recorded, analysis: &str) -> Vec<RawReport> {
    let settings = UnitSettings::default();
    let analyses = registry::by_name(analysis).into_iter().collect();
    let outcome = Engine::new(&settings, analyses).run(source);
    outcome.reports
}

fn parse(text: &str) -> Vec<Transaction> {
    TransactionSet::parse(text).unwrap().transactions
}

fn patterns(text: &str, analysis: &str) -> Vec<String> {
    let mut found: Vec<String> = reports(&parse(text), analysis)
        .into_iter()
        .filter(|report| report.rule != Rule::DataRace && report.rule != Rule::LockOrder)
        .map(|report| report.pattern)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn a_stale_write_is_predicted_by_both_from_a_serial_run() {
    let text = "t1: acq(l) r(x) rel(l) acq(l) w(x) rel(l)\n t2: acq(l) w(x) rel(l)";
    assert_eq!(patterns(text, "blocks"), ["R W' W"]);
    assert_eq!(patterns(text, "patterns"), ["1: R(x) W'(x) W(x)"]);
    let guarded = "t1: acq(l) r(x) w(x) rel(l)\n t2: acq(l) w(x) rel(l)";
    assert!(reports(&parse(guarded), "blocks").is_empty());
    assert!(reports(&parse(guarded), "patterns").is_empty());
    assert!(reports(&parse(guarded), "reduction").is_empty());
}

#[test]
fn steps_come_in_the_order_in_which_they_must_happen() {
    let set = parse("t1: r(x) w(x)\n t2: w(x)");
    let report = reports(&set, "patterns")
        .into_iter()
        .find(|report| report.rule == Rule::Atomicity)
        .unwrap();
    let threads: Vec<u32> = report.steps.iter().map(|step| step.point.thread.0).collect();
    assert_eq!(threads, [0, 1, 0]);
    assert!(!report.observed);
    assert_eq!(report.evidence, Evidence::Predicted);
    assert!(report.steps.iter().all(|step| step.owner.is_some()));
}

#[test]
fn start_and_join_prove_it_safe() {
    let text = "t1: r(x) w(x)\n t1: fork(t2)\n t2: w(x) r(x)\n t1: join(t2)\n t1: r(x) w(x)";
    for analysis in ["patterns", "blocks", "reduction"] {
        assert!(reports(&parse(text), analysis).is_empty(), "{analysis}");
    }
}

#[test]
fn get_then_set_of_a_volatile_is_found_in_spite_of_its_own_edges() {
    let set = parse("t1: r(x) w(x)\n t2: r(x) w(x)");
    let found = reports_of(&mut record(&set, |_| true), "patterns");
    assert!(
        found.iter().any(|report| report.pattern == "1: R(x) W'(x) W(x)"),
        "{found:?}"
    );
    assert!(found.iter().all(|report| report.rule != Rule::DataRace));
}

#[test]
fn publication_through_a_volatile_is_safe() {
    // x0 is plain, x1 the volatile flag: the reader looks at x0 only after the flag.
    let set = parse("t1: w(x) w(x)\n t1: w(v)\n t2: r(v)\n t2: r(x) r(x)");
    assert!(reports_of(&mut record(&set, |number| number == 1), "patterns").is_empty());
    assert!(!reports_of(&mut record(&set, |_| false), "patterns").is_empty());
}

#[test]
fn example_10_is_a_lock_order_cycle_and_no_violation() {
    let text = "t: acq(a) acq(b) rel(b) r(x) r(x) rel(a)\n u: acq(b) acq(a) rel(a) w(x) rel(b)";
    let found = reports(&parse(text), "blocks");
    let rules: Vec<Rule> = found.iter().map(|report| report.rule).collect();
    assert_eq!(rules, [Rule::LockOrder]);
    let locks: Vec<u32> = found[0].steps.iter().filter_map(|step| Some(step.lock?.0)).collect();
    assert_eq!(locks, [0, 1, 1, 0]);
}

#[test]
fn a_start_between_them_keeps_locks_from_a_cycle() {
    let text = "t: acq(a) acq(b) rel(b) rel(a)\n t: fork(u)\n u: acq(b) acq(a) rel(a) rel(b)";
    assert!(reports(&parse(text), "blocks").is_empty());
}

#[test]
fn examples_7_to_9_are_suspected_by_reduction_only() {
    let line = "acq(l) w(x) r(x) rel(l) acq(l) w(x) rel(l)";
    for text in [
        "t1: w(x) w(x)\n t2: w(x)".to_owned(),
        format!("t1: {line}\n t2: {line}"),
    ] {
        let suspected = reports(&parse(&text), "reduction");
        assert!(!suspected.is_empty() && suspected.iter().all(|report| report.evidence == Evidence::Suspected));
        assert!(reports(&parse(&text), "blocks").is_empty());
    }
}

#[test]
fn updates_are_one_step_for_all() {
    for analysis in ["blocks", "reduction"] {
        assert!(
            reports(&parse("t1: u(x)\n t2: u(x)"), analysis).is_empty(),
            "{analysis}"
        );
    }
    let between = patterns("t1: u(x)\n t2: u(x)", "patterns");
    assert!(between.is_empty(), "{between:?}");
}

const TWO: Shape = Shape {
    threads: 2,
    transactions: 1,
    accesses: 4,
    steps: 8,
    variables: 2,
    locks: 2,
    forks: false,
    nesting: 0,
};
const SEVERAL: Shape = Shape {
    threads: 2,
    transactions: 2,
    accesses: 2,
    steps: 6,
    variables: 2,
    locks: 2,
    forks: false,
    nesting: 0,
};

const THREE: Shape = Shape {
    threads: 3,
    transactions: 1,
    accesses: 2,
    steps: 4,
    variables: 3,
    locks: 1,
    forks: false,
    nesting: 0,
};

#[test]
fn three_units_in_a_circle_are_predicted_though_any_two_are_atomic() {
    let text = "t1: w(x) w(y)\n t2: r(x) w(z)\n t3: r(z) r(y)";
    let found = reports(&parse(text), "blocks");
    let [report] = &found[..] else {
        panic!("{found:#?}");
    };
    let mut threads: Vec<_> = report.steps.iter().map(|step| step.point.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    assert_eq!((threads.len(), report.steps.len()), (3, 6));
    assert!(reports(&parse("t1: w(x) w(y)\n t2: r(x) w(z)\n t3: r(z)"), "blocks").is_empty());
}

/// A circle of three units and 200 random sets of three threads: if all threads do the same again, in other moments of the hard order, the
/// same circles are found, though there are too many units then to look at all together.
#[test]
fn equal_units_stand_for_one_another() {
    let circles = |source: &mut Recorded| -> std::collections::BTreeSet<Vec<SiteId>> {
        let mut found = reports_of(source, "blocks");
        found.retain(|report| report.rule == Rule::Unserializable && report.pattern.is_empty());
        let places = |report: &RawReport| {
            let mut places: Vec<SiteId> = report.steps.iter().map(|step| step.point.site).collect();
            places.sort_unstable();
            places
        };
        found.iter().map(places).collect()
    };
    let mut rng = Rng::with_seed(37);
    let circle = parse("t1: w(x) w(y)\n t2: r(x) w(z)\n t3: r(z) r(y)");
    let sets = std::iter::once(circle).chain(std::iter::repeat_with(|| random(&mut rng, THREE)).take(200));
    let mut found = 0;
    for set in sets {
        let mut once = record(&set, |_| false);
        let round: Vec<Event> = once.events.as_slice().to_vec();
        let mut names = once.names.clone();
        names.syncs.push(ravel_trace::names::Sync {
            object: ObjectId(u64::MAX),
            name: "sent".to_owned(),
        });
        let mut events = round.clone();
        for _ in 0..3 {
            let sends = (0..names.threads.len()).map(|thread| Event {
                thread: ThreadId::from(thread),
                position: 0,
                site: SiteId(0),
                op: Op::Send {
                    sync: ravel_trace::SyncId(0),
                },
            });
            events.extend(sends.chain(round.iter().copied()));
        }
        for (position, event) in (0..).zip(&mut events) {
            event.position = position;
        }
        let mut often = Recorded {
            names,
            events: events.into_iter(),
        };
        let expected = circles(&mut once);
        assert_eq!(circles(&mut often), expected, "{}", show(&set));
        found += expected.len();
    }
    assert!(found > 0);
}

/// 800 pairs of transactions of up to 8 steps, 400 sets with up to two transactions per thread, and 400 of three threads with
/// 4 steps: the analysis finds something exactly if the general algorithm on transactions does.
#[test]
fn plugged_in_blocks_agree_with_blocks() {
    let mut violations = 0;
    for (shape, cases, seed) in [(TWO, 800, 31), (SEVERAL, 400, 32), (THREE, 400, 36)] {
        let mut rng = Rng::with_seed(seed);
        for case in 0..cases {
            let set = random(&mut rng, shape);
            let order = ForkOrder::new(&set);
            let expected = atomicity(&set, &order) != SetVerdict::Atomic;
            let found = reports(&set, "blocks")
                .iter()
                .any(|report| report.rule == Rule::Unserializable);
            assert_eq!(found, expected, "seed {seed} case {case}\n{}", show(&set));
            violations += usize::from(expected);
        }
    }
    assert!(violations > 100, "only {violations}");
}

/// 800 pairs of transactions of up to 8 steps: where the analysis suspects nothing, every trace is serializable.
#[test]
fn plugged_in_reduction_misses_nothing() {
    let mut rng = Rng::with_seed(33);
    let mut quiet = 0;
    for case in 0..800 {
        let set = random(&mut rng, TWO);
        if reports(&set, "reduction").is_empty() {
            quiet += 1;
            assert!(Oracle::new(&set).is_atomic(), "case {case}\n{}", show(&set));
        }
    }
    assert!(quiet > 50, "only {quiet}");
}

/// 500 pairs of transactions of up to 8 steps: a lock-order cycle is reported whenever brute force reaches a deadlock.
#[test]
fn plugged_in_goodlock_misses_nothing() {
    let mut rng = Rng::with_seed(34);
    let mut deadlocks = 0;
    for case in 0..500 {
        let set = random(
            &mut rng,
            Shape {
                accesses: 2,
                nesting: 4,
                ..TWO
            },
        );
        if Oracle::new(&set).may_deadlock() {
            deadlocks += 1;
            let found = reports(&set, "blocks");
            assert!(
                found.iter().any(|report| report.rule == Rule::LockOrder),
                "case {case}\n{}",
                show(&set)
            );
        }
    }
    assert!(deadlocks > 10, "only {deadlocks}");
}
