//! The automata against brute force over whole traces, and their bounds.

use super::*;
use crate::engine::Engine;
use crate::units::UnitSettings;
use fastrand::Rng;
use ravel_trace::memory::MemoryTrace;
use std::sync::{Arc, Mutex};

/// Keeps every access.
struct Keeps(Arc<Mutex<Vec<Access>>>);

impl Analysis for Keeps {
    fn name(&self) -> &'static str {
        "keeps"
    }

    fn needs(&self) -> Needs {
        Automata::default().needs()
    }

    fn access(&mut self, _: &View, access: &Access) {
        self.0.lock().expect("one thread").push(*access);
    }

    fn finish(&mut self, _: &Context<'_>) -> Vec<RawReport> {
        Vec::new()
    }
}

/// The same without anything forgotten or passed over: every access against all that every other unit did before it.
fn by_definition(accesses: &[Access]) -> Found {
    let mut found = Found::default();
    let mut conflicts: FxHashMap<(UnitId, UnitId), Vec<Conflict>> = FxHashMap::default();
    let mut places: FxHashMap<LocationId, Vec<(ThreadId, Summary)>> = FxHashMap::default();
    for access in accesses {
        let owner = access.owners.certain;
        let place = places.entry(access.location).or_default();
        let mine = owner.and_then(|owner| place.iter().position(|(_, s)| s.owner == Some(owner)));
        for (_, other) in place.iter().filter(|(thread, _)| *thread != access.thread()) {
            let Some(owner) = owner else { continue };
            if let Some(mine) = mine {
                single(access, owner, &place[mine].1, other, &mut found);
            }
            let Some(theirs) = other.owner else { continue };
            for (first_writes, second_writes) in [(R, W), (W, W), (W, R)] {
                let does = if second_writes { access.writes() } else { access.reads() };
                let Some(first) = other.last(first_writes).filter(|_| does) else {
                    continue;
                };
                let new = Conflict {
                    location: access.location,
                    first,
                    second: access.point,
                    first_writes,
                    second_writes,
                    first_unit: theirs.unit,
                };
                let pair = (owner.unit.min(theirs.unit), owner.unit.max(theirs.unit));
                let known = conflicts.entry(pair).or_default();
                let key = |c: &Conflict| (c.location, c.first_unit, c.first_writes, c.second_writes);
                if known.iter().any(|old| key(old) == key(&new)) {
                    continue;
                }
                let opposite = |old: &&Conflict| old.first_unit != theirs.unit && old.location != new.location;
                known
                    .iter()
                    .filter(opposite)
                    .for_each(|old| double(old, &new, owner, theirs, &mut found));
                known.push(new);
            }
        }
        let at = mine.unwrap_or_else(|| {
            place.push((access.thread(), Summary::new(owner)));
            place.len() - 1
        });
        place[at].1.note(access);
    }
    found
}

/// Three threads with up to four units each, some long and some short, at few places in code, so that much is repeated.
fn random_trace(rng: &mut Rng) -> String {
    let plan = |rng: &mut Rng, thread: usize| {
        let mut plan = Vec::new();
        for _ in 0..1 + rng.usize(..4) {
            plan.push("ubegin".to_owned());
            let most = [2, 8][rng.usize(..2)];
            for _ in 0..1 + rng.usize(..most) {
                let (kind, variable) = (rng.usize(..3), rng.usize(..2));
                let line = 1 + 100 * thread + 10 * kind + 2 * variable + rng.usize(..2);
                plan.push(format!("{} {} @{line}", ["r", "w", "u"][kind], ["x", "y"][variable]));
            }
            plan.push("uend".to_owned());
        }
        plan.reverse();
        plan
    };
    let mut plans: Vec<Vec<String>> = (0..3).map(|thread| plan(rng, thread)).collect();
    let mut text = "t0 | t1 | t2\n".to_owned();
    while plans.iter().any(|plan| !plan.is_empty()) {
        let thread = rng.usize(..3);
        for _ in 0..1 + rng.usize(..4) {
            if let Some(event) = plans[thread].pop() {
                text.push_str(&format!("{}{event}\n", " | ".repeat(thread)));
            }
        }
    }
    text
}

/// 3,000 traces: what is passed over (ended units, repetitions, the horizon) changes nothing.
#[test]
fn what_is_passed_over_changes_nothing() {
    let mut reports = 0;
    for seed in 0..3_000 {
        let text = random_trace(&mut Rng::with_seed(seed));
        let mut trace = MemoryTrace::parse(&text).expect("the trace parses");
        let kept = Arc::new(Mutex::new(Vec::new()));
        let settings = UnitSettings {
            kinds: vec![crate::finding::UnitKind::Declared],
            ..UnitSettings::default()
        };
        let analyses: Vec<Box<dyn Analysis>> = vec![Box::<Automata>::default(), Box::new(Keeps(kept.clone()))];
        let outcome = Engine::new(&settings, analyses).run(&mut trace);
        let said = |reports: &[RawReport]| -> BTreeSet<(String, Vec<u64>)> {
            let steps = |r: &RawReport| r.steps.iter().map(|step| step.point.index).collect();
            reports.iter().map(|r| (r.pattern.clone(), steps(r))).collect()
        };
        let expected = by_definition(&kept.lock().expect("one thread"));
        assert!(outcome.left_out.is_empty(), "seed {seed}: {:?}", outcome.left_out);
        assert_eq!(said(&outcome.reports), said(&expected.reports), "seed {seed}:\n{text}");
        reports += expected.reports.len();
    }
    assert!(reports > 10_000, "only {reports} reports");
}
