//! Patterns: any access anomaly `[E, T, SV, AR, AT]`, in any order that locks and hard order allow.
//!
//! **Paper.** Huang and Zhang, *Persuasive Prediction of Concurrency Access Anomalies* (Pecan, ISSTA 2011), sections 3 to
//! 5; the patterns of one and two variables are those of AtomicSet, Figure 2. [`language`] is the language, [`collector`]
//! makes the compact graph (there PTG) of [`chains`], [`search`] the search with the mutation condition.
//!
//! **Departures.** The paper walks over nodes of the graph and asks for a position between two accesses of a unit where
//! the other's access may stand. Here chains of accesses are made equal first, so that the search depends on how many
//! *different* chains there are and not on how many events; the position is asked for all at once, by the locks held
//! throughout the gap. Algorithm 1 prints a common lock as the condition where section 4.2 means none; we follow 4.2.
//! Locks taken between two accesses that fall into one gap count as well, which the paper does not ask. Hard order
//! includes all modelled synchronisation, except edges that the pattern's own locations make.
//!
//! **Promises.** No misses among pairs of accesses that the trace has, whatever their order there, up to the bounds in
//! [`collector`] and [`chains`] (which are counted when hit) and to the chains over two locations that [`collector`] takes. False alarms are possible: the conditions are necessary, and sufficient only
//! for two threads with nested locks, no potential for deadlock and no order between them. Figure 5 of the paper is one,
//! kept as a test; the schedule check refutes it.
//!
//! **Cost.** Linear in events, a few look-ups each; the search is quadratic in the different chains of one location only.
//! Where an event is repeated in the same moment of hard order nothing is stored. Memory: a node of about 200 bytes for each
//! different chain and 48 for each further moment.

pub mod chains;
pub mod collector;
pub mod language;
pub mod search;
mod stretch;
mod unit_log;

use ravel_trace::{LocationId, Mode, Op};
use std::cell::Cell;

use crate::engine::{Access, Analysis, Context, EngineState, Happened, Needs, View};
use crate::finding::{Evidence, Rule};
use crate::order::Moment;
use crate::raw::{RawReport, RawStep, StepKind};
use crate::sets::{Guard, SetId};
use crate::units::UnitId;
use chains::Input;
use collector::Collector;
use language::Pattern;
use search::{HardOrder, Match, Plan};

/// How many edges of the log are walked in all to leave out those that a pattern's own locations made. Beyond this, edges
/// through any location are left out, which can only predict too much.
const WALKED: usize = 50_000_000;

/// The analysis.
pub struct Patterns {
    /// The patterns over one atomic set.
    of_one_set: PatternSearch,
    /// Those over several: a unit is then all that an activation touches.
    of_sets: Option<PatternSearch>,
    left_out: Vec<String>,
}

/// Some patterns, and what is collected for them.
struct PatternSearch {
    patterns: Vec<Pattern>,
    plan: Plan,
    collector: Collector,
}

impl PatternSearch {
    fn new(patterns: Vec<Pattern>) -> Self {
        let plan = Plan::new(&patterns);
        let collector = Collector::new(&plan.templates, plan.lean);
        PatternSearch {
            patterns,
            plan,
            collector,
        }
    }
}

impl Patterns {
    /// Searches for the patterns of the papers, data races included, and for these.
    pub fn new(user: &[Pattern]) -> Self {
        let tables = [&language::RACES[..], &language::ATOMICITY, &language::ATOMIC_SET];
        let mut patterns: Vec<Pattern> = tables.into_iter().flat_map(language::built_in).collect();
        patterns.extend(
            user.iter()
                .filter(|pattern| !patterns.contains(pattern))
                .cloned()
                .collect::<Vec<_>>(),
        );
        Patterns::only(patterns)
    }

    /// Searches for these patterns and no others.
    pub fn only(patterns: Vec<Pattern>) -> Self {
        let (of_sets, of_one): (Vec<Pattern>, Vec<Pattern>) =
            patterns.into_iter().partition(|pattern| pattern.sets() > 1);
        Patterns {
            of_one_set: PatternSearch::new(of_one),
            of_sets: (!of_sets.is_empty()).then(|| PatternSearch::new(of_sets)),
            left_out: Vec::new(),
        }
    }

    fn each(&mut self) -> impl Iterator<Item = &mut PatternSearch> {
        std::iter::once(&mut self.of_one_set).chain(&mut self.of_sets)
    }
}

impl PatternSearch {
    fn report(&self, found: &Match) -> RawReport {
        let pattern = &self.patterns[found.pattern];
        let rule = match pattern.variables() {
            _ if pattern.is_race() => Rule::DataRace,
            1 => Rule::Atomicity,
            _ => Rule::AtomicSet,
        };
        let step = |step: &search::PatternStep| RawStep {
            point: step.point,
            location: Some(step.location),
            lock: None,
            owner: step.owner,
        };
        RawReport {
            analysis: "patterns",
            rule,
            evidence: Evidence::Predicted,
            pattern: pattern.name().to_owned(),
            steps: found.steps.iter().map(step).collect(),
            observed: !pattern.is_race() && found.steps.is_sorted_by_key(|step| step.point.index),
        }
    }
}

impl Analysis for Patterns {
    fn name(&self) -> &'static str {
        "patterns"
    }

    fn needs(&self) -> Needs {
        Needs {
            hard: true,
            history: true,
            units: true,
            repeats: true,
            every: !self.of_one_set.plan.lean || self.of_sets.is_some(),
            ..Needs::default()
        }
    }

    fn access(&mut self, _: &View, access: &Access) {
        if access.cell.exempt {
            return;
        }
        let (certain, any) = (access.owners.certain, access.owners.any);
        let conditional = access.point.kind == StepKind::Update && access.cell.guard == Guard::Compared;
        let input = Input {
            point: access.point,
            location: access.location,
            set: access.cell.set,
            owners: [certain, any.filter(|_| any != certain)],
            clock: access.clock,
            repeated: access.repeated,
            conditional,
        };
        self.of_one_set.collector.access(&input);
        if let Some(search) = &mut self.of_sets {
            search.collector.access(&Input {
                set: EVERYTHING,
                owners: [access.owners.whole, None],
                ..input
            });
        }
    }

    fn event(&mut self, _: &View, happened: &Happened) {
        let event = &happened.event;
        match event.op {
            Op::Acquire { lock, mode } => self
                .each()
                .for_each(|search| search.collector.acquire(event.thread, lock, mode)),
            Op::Resume { lock, .. } => self
                .each()
                .for_each(|search| search.collector.acquire(event.thread, lock, Mode::Exclusive)),
            Op::Release { lock, .. } | Op::Wait { lock } => self
                .each()
                .for_each(|search| search.collector.release(event.thread, lock)),
            _ => {}
        }
    }

    fn unit_end(&mut self, _: &View, unit: UnitId, _: u64) {
        self.each().for_each(|search| search.collector.unit_end(unit));
    }

    fn finish(&mut self, cx: &Context<'_>) -> Vec<RawReport> {
        let order = EngineOrder {
            state: cx.state,
            walked: Cell::new(0),
            unanswered: Cell::new(0),
        };
        let mut reports = Vec::new();
        let mut left_out = Vec::new();
        for search in self.each() {
            let collected = std::mem::take(&mut search.collector).finish(cx.stop);
            left_out.extend(collected.left_out);
            let (found, cut) = search.plan.search(&collected.nodes, &collected.sets, &order, cx.stop);
            if cut > 0 {
                left_out.push(format!(
                    "patterns left out combinations of {cut} patterns that have more than {}",
                    search::COMBINATIONS
                ));
            }
            let of_interest = found.iter().filter(|found| !order.begins_with_lock(found));
            reports.extend(of_interest.map(|found| search.report(found)));
        }
        if order.unanswered.get() > 0 {
            left_out.push(format!(
                "patterns assumed {} pairs of accesses to be unordered without a full check",
                order.unanswered.get()
            ));
        }
        self.left_out = left_out;
        reports
    }

    fn left_out(&self) -> Vec<String> {
        self.left_out.clone()
    }
}

/// Stands for the atomic set of all locations, in patterns over several.
const EVERYTHING: SetId = SetId(u32::MAX);

/// The engine's order, as the search asks for it.
struct EngineOrder<'a> {
    state: &'a EngineState,
    walked: Cell<usize>,
    unanswered: Cell<u64>,
}

impl EngineOrder<'_> {
    /// Whether a match begins with a use of a lock, of whose state it is.
    fn begins_with_lock(&self, found: &Match) -> bool {
        let of_lock = |step: &search::PatternStep| {
            let cell = self.state.cells.seen(step.location);
            step.point.kind != StepKind::Read && cell.is_some_and(|cell| cell.lock_state)
        };
        found.steps.first().is_some_and(of_lock)
    }
}

impl HardOrder for EngineOrder<'_> {
    fn before(&self, a: &chains::ChainEvent, b: &chains::ChainEvent, without: &[LocationId]) -> bool {
        let order = &self.state.order;
        let thread = a.point.thread;
        let moment = Moment {
            thread,
            time: order.past(a.clock).hard.get(thread),
        };
        let known = order.past(b.clock);
        if without.is_empty() || known.bare.knows(moment) || !known.hard.knows(moment) {
            return known.hard.knows(moment);
        }
        if self.walked.get() >= WALKED {
            self.unanswered.set(self.unanswered.get() + 1);
            return false;
        }
        let (before, walked) = order.before_without((thread, a.clock), (b.point.thread, b.clock), without);
        self.walked.set(self.walked.get().saturating_add(walked));
        if walked == usize::MAX {
            self.unanswered.set(self.unanswered.get() + 1);
        }
        before
    }

    fn synchronizes(&self, location: LocationId) -> bool {
        self.state.cells.is_ordering(location)
    }

    fn set(&self, location: LocationId) -> SetId {
        self.state.cells.seen(location).map_or(EVERYTHING, |cell| cell.set)
    }
}

#[cfg(test)]
mod tests;
