//! The analyses against definitions, on random traces small enough to decide by exhaustion.
//!
//! Sizes: 2 or 3 threads, up to 3 variables, 2 locks, 24 events with up to 14 accesses. Numbers of cases stand at
//! each test.

use crate::engine::Engine;
use crate::finding::{Rule, UnitKind};
use crate::raw::RawReport;
use crate::registry;
use crate::units::UnitSettings;
use fastrand::Rng;
use ravel_trace::memory::MemoryTrace;
use ravel_trace::{Op, Source};
use std::collections::BTreeSet;

/// Threads in columns, each a list of blocks: a declared unit or a bare stretch, with or without a lock around parts.
fn random_trace(rng: &mut Rng, threads: usize, units: bool, locks: bool) -> String {
    let mut plans: Vec<Vec<String>> = Vec::new();
    for _ in 0..threads {
        let mut plan = Vec::new();
        for _ in 0..1 + rng.usize(..2) {
            let unit = units && rng.usize(..4) > 0;
            if unit {
                plan.push("ubegin".to_owned());
            }
            for _ in 0..1 + rng.usize(..3) {
                let lock = (locks && rng.usize(..2) == 0).then(|| format!("l{}", rng.usize(..2)));
                plan.extend(lock.iter().map(|l| format!("acq {l}")));
                for _ in 0..1 + rng.usize(..2) {
                    let op = ["r", "w", "r", "w", "u"][rng.usize(..5)];
                    plan.push(format!("{op} {}", ["x", "y", "z"][rng.usize(..3)]));
                }
                plan.extend(lock.iter().map(|l| format!("rel {l}")));
            }
            if unit {
                plan.push("uend".to_owned());
            }
        }
        plans.push(plan);
    }
    interleave(rng, plans)
}

/// A random interleaving that respects the locks.
fn interleave(rng: &mut Rng, mut plans: Vec<Vec<String>>) -> String {
    let names: Vec<String> = (0..plans.len()).map(|t| format!("t{t}")).collect();
    let mut text = names.join(" | ") + "\n";
    let mut held: Vec<String> = Vec::new();
    plans.iter_mut().for_each(|p| p.reverse());
    while plans.iter().any(|p| !p.is_empty()) {
        let thread = rng.usize(..plans.len());
        for _ in 0..1 + rng.usize(..3) {
            let Some(next) = plans[thread].last() else { break };
            if let Some(lock) = next.strip_prefix("acq ") {
                if held.iter().any(|h| h == lock) {
                    break;
                }
                held.push(lock.to_owned());
            }
            if let Some(lock) = next.strip_prefix("rel ") {
                held.retain(|h| h != lock);
            }
            let event = plans[thread].pop().unwrap_or_default();
            text.push_str(&format!("{}{event}\n", " | ".repeat(thread)));
        }
    }
    text
}

fn run(text: &str, analysis: &str) -> (MemoryTrace, Vec<RawReport>, crate::engine::EngineState) {
    let mut trace = MemoryTrace::parse(text).expect("a generated trace parses");
    // Spans of locks are units by default; here only what the trace declares counts.
    let settings = UnitSettings {
        kinds: vec![UnitKind::Declared],
        ..UnitSettings::default()
    };
    let analyses = vec![registry::by_name(analysis).expect("a known analysis")];
    let outcome = Engine::new(&settings, analyses).run(&mut trace);
    (trace, outcome.reports, outcome.state)
}

/// One access: index, thread, transaction, location, writes.
struct Plain {
    index: u64,
    thread: usize,
    unit: usize,
    location: usize,
    writes: bool,
}

/// The accesses, each with its declared unit or one of its own; and for each transaction whether it is declared.
fn accesses(trace: &MemoryTrace) -> (Vec<Plain>, Vec<bool>) {
    let mut open: Vec<Option<usize>> = vec![None; trace.names().threads.len()];
    let mut declared = Vec::new();
    let mut result = Vec::new();
    for (index, event) in trace.events().iter().enumerate() {
        let thread = event.thread.index();
        match event.op {
            Op::UnitBegin => {
                open[thread] = Some(declared.len());
                declared.push(true);
            }
            Op::UnitEnd => open[thread] = None,
            _ => {}
        }
        let Some(location) = event.op.location() else { continue };
        let unit = open[thread].unwrap_or_else(|| {
            declared.push(false);
            declared.len() - 1
        });
        let writes = event.op.is_write();
        result.push(Plain {
            index: index as u64,
            thread,
            unit,
            location: location.index(),
            writes,
        });
    }
    (result, declared)
}

fn conflict(a: &Plain, b: &Plain) -> bool {
    a.thread != b.thread && a.location == b.location && (a.writes || b.writes)
}

/// The transactions on a cycle of conflicts and program order, by reachability (Floyd and Warshall).
fn on_cycle(accesses: &[Plain], transactions: usize) -> BTreeSet<usize> {
    let mut reach = vec![vec![false; transactions]; transactions];
    for (i, a) in accesses.iter().enumerate() {
        for b in &accesses[i + 1..] {
            if a.unit != b.unit && (a.thread == b.thread || conflict(a, b)) {
                reach[a.unit][b.unit] = true;
            }
        }
    }
    for k in 0..transactions {
        for i in 0..transactions {
            for j in 0..transactions {
                reach[i][j] |= reach[i][k] && reach[k][j];
            }
        }
    }
    (0..transactions).filter(|&u| reach[u][u]).collect()
}

/// 4,000 traces of 2 threads, 4,000 of 3: exactly the declared units on a cycle are reported.
#[test]
fn serializability_agrees_with_a_search_for_cycles() {
    let mut cyclic = 0;
    for seed in 0..8_000 {
        let mut rng = Rng::with_seed(seed);
        let text = random_trace(&mut rng, 2 + (seed % 2) as usize, true, seed % 3 == 0);
        let (trace, reports, _) = run(&text, "serializability");
        let (accesses, declared) = accesses(&trace);
        let expected = on_cycle(&accesses, declared.len());
        let declared_cyclic: BTreeSet<usize> = expected.iter().copied().filter(|&u| declared[u]).collect();
        let unit_of = |index: u64| accesses.iter().find(|a| a.index == index).map(|a| a.unit);
        let mut reported = BTreeSet::new();
        for report in &reports {
            assert_eq!(report.rule, Rule::Unserializable);
            for step in &report.steps {
                let unit = unit_of(step.point.index).expect("a step is an access");
                assert!(
                    expected.contains(&unit),
                    "seed {seed}: {unit} is on no cycle\n{text}\n{report:#?}"
                );
                reported.insert(unit);
            }
        }
        let missed: Vec<_> = declared_cyclic.difference(&reported).collect();
        assert!(
            missed.is_empty(),
            "seed {seed}: {missed:?} of {expected:?} not reported\n{text}"
        );
        cyclic += usize::from(!declared_cyclic.is_empty());
    }
    assert!(cyclic > 1_000, "only {cyclic} traces had a cycle");
}

/// 8,000 traces of two threads with one declared unit each, and bare accesses: the automata find something exactly if
/// the two units conflict both ways; what they report is there, in that order.
#[test]
fn automata_agree_with_conflict_serializability_of_two_units() {
    let mut found = 0;
    for seed in 0..8_000u64 {
        let mut rng = Rng::with_seed(seed ^ 0xA070);
        let plan = |rng: &mut Rng| {
            let mut plan = vec!["ubegin".to_owned()];
            for _ in 0..1 + rng.usize(..5) {
                plan.push(format!(
                    "{} {}",
                    ["r", "w", "u"][rng.usize(..3)],
                    ["x", "y", "z"][rng.usize(..3)]
                ));
            }
            plan.push("uend".to_owned());
            plan
        };
        let plans = vec![plan(&mut rng), plan(&mut rng)];
        let text = interleave(&mut rng, plans);
        let (trace, reports, _) = run(&text, "automata");
        let (accesses, declared) = accesses(&trace);
        let expected = !on_cycle(&accesses, declared.len()).is_empty();
        assert_eq!(!reports.is_empty(), expected, "seed {seed}\n{text}\n{reports:#?}");
        for report in &reports {
            let order: Vec<u64> = report.steps.iter().map(|s| s.point.index).collect();
            assert!(order.windows(2).all(|w| w[0] <= w[1]), "seed {seed}: {order:?}\n{text}");
        }
        found += usize::from(expected);
    }
    assert!(found > 1_000, "only {found} traces were not serializable");
}

/// Locks held at each access.
fn locks_at(trace: &MemoryTrace) -> Vec<BTreeSet<usize>> {
    let mut held: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); trace.names().threads.len()];
    let mut result = Vec::new();
    for event in trace.events() {
        let mine = &mut held[event.thread.index()];
        match event.op {
            Op::Acquire { lock, .. } => {
                mine.insert(lock.index());
            }
            Op::Release { lock, .. } => {
                mine.remove(&lock.index());
            }
            _ => {}
        }
        result.push(mine.clone());
    }
    result
}

/// Happens-before by program order and lock edges, by reachability over events.
fn happens_before(trace: &MemoryTrace) -> Vec<Vec<bool>> {
    let events = trace.events();
    let n = events.len();
    let mut before = vec![vec![false; n]; n];
    for i in 0..n {
        for j in i + 1..n {
            let lock_edge = match (events[i].op, events[j].op) {
                (Op::Release { lock: a, .. }, Op::Acquire { lock: b, .. }) => a == b,
                _ => false,
            };
            before[i][j] = events[i].thread == events[j].thread || lock_edge;
        }
    }
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                before[i][j] |= before[i][k] && before[k][j];
            }
        }
    }
    before
}

fn site_pairs(reports: &[RawReport]) -> BTreeSet<(u32, u32)> {
    let pair = |r: &RawReport| {
        let (a, b) = (r.steps[0].point.site.0, r.steps[1].point.site.0);
        (a.min(b), a.max(b))
    };
    reports.iter().map(pair).collect()
}

/// 3,000 traces of 2 and 3 threads: predicted races are exactly the conflicting pairs without common lock or hard order;
/// observed ones are unordered by happens-before, and there is one on every location that has any.
#[test]
fn races_agree_with_enumeration() {
    let mut raced = 0;
    for seed in 0..3_000 {
        let mut rng = Rng::with_seed(seed ^ 0x0DD);
        let text = random_trace(&mut rng, 2 + (seed % 2) as usize, false, true);
        let (trace, predicted, _) = run(&text, "race-predicted");
        let (_, observed, _) = run(&text, "race-observed");
        let (accesses, _) = accesses(&trace);
        let (locks, before) = (locks_at(&trace), happens_before(&trace));
        let mut independent = BTreeSet::new();
        let mut unordered = BTreeSet::new();
        let mut racy = BTreeSet::new();
        for (i, a) in accesses.iter().enumerate() {
            for b in accesses[i + 1..].iter().filter(|b| conflict(a, b)) {
                let (x, y) = (a.index as usize, b.index as usize);
                let (s, t) = (trace.events()[x].site.0, trace.events()[y].site.0);
                if locks[x].is_disjoint(&locks[y]) {
                    independent.insert((s.min(t), s.max(t)));
                }
                if !before[x][y] {
                    unordered.insert((s.min(t), s.max(t)));
                    racy.insert(a.location);
                }
            }
        }
        assert_eq!(site_pairs(&predicted), independent, "seed {seed}\n{text}");
        let observed_pairs = site_pairs(&observed);
        assert!(
            observed_pairs.is_subset(&unordered),
            "seed {seed}: {observed_pairs:?} of {unordered:?}\n{text}"
        );
        assert!(unordered.is_subset(&independent), "seed {seed}");
        let locations: BTreeSet<usize> = observed
            .iter()
            .filter_map(|r| r.steps[0].location)
            .map(|l| l.index())
            .collect();
        assert_eq!(locations, racy, "seed {seed}\n{text}");
        raced += usize::from(!racy.is_empty());
    }
    assert!(raced > 500, "only {raced} traces had a race");
}

/// The generator's planted bugs are found, each once, and nothing else.
#[test]
fn the_generator_plants_as_many_bugs_as_it_says() {
    use crate::generate::{Generator, Shape};
    let repetitive = Shape {
        events: 60_000,
        variables: 1_000,
        races: 7,
        violations: 4,
        ..Shape::default()
    };
    let diverse = Shape {
        places: 200,
        late: true,
        ..repetitive
    };
    let variables = |shape: Shape, analysis: &str| {
        let settings = UnitSettings::default();
        let analyses = vec![registry::by_name(analysis).expect("a known analysis")];
        let reports = Engine::new(&settings, analyses).run(&mut Generator::new(shape)).reports;
        let locations: BTreeSet<_> = reports.iter().filter_map(|r| r.steps[0].location).collect();
        locations.len()
    };
    for shape in [repetitive, diverse] {
        for analysis in ["race-observed", "race-predicted", "lockset"] {
            assert_eq!(variables(shape, analysis), 7, "{analysis} {shape:?}");
        }
        for analysis in ["automata", "serializability", "blocks"] {
            assert_eq!(variables(shape, analysis), 4, "{analysis} {shape:?}");
        }
        // Races are patterns too.
        assert_eq!(variables(shape, "patterns"), 7 + 4, "{shape:?}");
    }
}
