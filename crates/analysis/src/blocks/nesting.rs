//! Lock-order cycles of a whole trace: collects which locks are taken under which and hands them to [`goodlock`].
//!
//! **Bounds.** Of equal nestings (same thread, locks, gates and places) the first moment, the latest and up to [`MOST_SAMPLES`] in between,
//! evenly spaced, are kept: what hard order keeps apart in all of them is taken as kept apart. The ends alone do not suffice: a pool fills itself
//! before its users begin, and is emptied when they have ended.
//!
//! A lock acquired by `tryLock` may block others, but `tryLock` itself does not block.

use ravel_trace::names::SiteKind;
use ravel_trace::{LockId, Mode, Names, Op, SiteId, ThreadId};
use rustc_hash::FxHashMap;

use super::goodlock::{self, Nesting};
use crate::engine::{Context, Happened};
use crate::finding::{Evidence, Rule};
use crate::locks::LocksetId;
use crate::order::{ClockId, Moment};
use crate::raw::{Point, RawReport, RawStep, StepKind};
use crate::transaction;

/// An acquisition and what its thread knew then.
#[derive(Clone, Copy, Debug)]
struct At {
    point: Point,
    clock: ClockId,
}

#[derive(Clone, Copy, Debug)]
struct OpenHold {
    lock: LockId,
    mode: Mode,
    at: At,
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    thread: ThreadId,
    held: (LockId, Mode),
    taken: (LockId, Mode),
    gates: LocksetId,
    places: [ravel_trace::SiteId; 2],
}

/// Moments of equal nestings that are kept between the first and the latest.
const MOST_SAMPLES: usize = 12;

/// Equal nestings.
struct Samples<N> {
    first: N,
    latest: Option<N>,
    /// Every one whose number is a multiple of the stride.
    between: Vec<N>,
    stride: u64,
    seen: u64,
}

impl<N: Clone> Samples<N> {
    fn of(first: N) -> Samples<N> {
        Samples {
            first,
            latest: None,
            between: Vec::new(),
            stride: 1,
            seen: 0,
        }
    }

    fn add(&mut self, nesting: N) {
        if self.between.len() == MOST_SAMPLES {
            // The first of them has the number of the stride, and every second one a multiple of twice that.
            let mut number = 0;
            self.between.retain(|_| {
                number += 1;
                number % 2 == 0
            });
            self.stride *= 2;
        }
        self.seen += 1;
        if self.seen.is_multiple_of(self.stride) {
            self.between.push(nesting.clone());
        }
        self.latest = Some(nesting);
    }

    fn ends(&self) -> impl Iterator<Item = &N> {
        std::iter::once(&self.first).chain(&self.latest)
    }
}

/// Collects nestings while a trace goes by.
#[derive(Default)]
pub struct Nestings {
    held: Vec<Vec<OpenHold>>,
    known: FxHashMap<Key, usize>,
    found: Vec<Samples<Nesting<At>>>,
}

impl Nestings {
    /// Takes an event in.
    pub fn event(&mut self, event: &Happened) {
        match event.op() {
            Op::Acquire { lock, mode } => self.acquire(event, lock, mode),
            Op::Resume { lock, .. } => self.acquire(event, lock, Mode::Exclusive),
            Op::Release { lock, .. } | Op::Wait { lock } => {
                self.thread(event.event.thread).retain(|hold| hold.lock != lock)
            }
            _ => {}
        }
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Vec<OpenHold> {
        if self.held.len() <= thread.index() {
            self.held.resize_with(thread.index() + 1, Vec::new);
        }
        &mut self.held[thread.index()]
    }

    fn acquire(&mut self, event: &Happened, lock: LockId, mode: Mode) {
        let thread = event.event.thread;
        self.thread(thread);
        let at = At {
            point: event.point(StepKind::Acquire),
            clock: event.clock,
        };
        let held = std::mem::take(&mut self.held[thread.index()]);
        if !held.is_empty() {
            let mut gates = transaction::HeldLocks::default();
            held.iter().for_each(|hold| gates.acquire(hold.lock, hold.mode, 0));
            held.iter().for_each(|hold| self.add(hold, lock, mode, at, &gates));
        }
        self.held[thread.index()] = held;
        self.held[thread.index()].push(OpenHold { lock, mode, at });
    }

    fn add(&mut self, hold: &OpenHold, taken: LockId, taken_mode: Mode, at: At, gates: &transaction::HeldLocks) {
        let key = Key {
            thread: at.point.thread,
            held: (hold.lock, hold.mode),
            taken: (taken, taken_mode),
            gates: at.point.locks,
            places: [hold.at.point.site, at.point.site],
        };
        let known = self.known.get(&key).copied();
        if let Some(id) = known {
            let samples = &self.found[id];
            let kept = samples.latest.as_ref().unwrap_or(&samples.first);
            if (kept.hold_at.clock, kept.take_at.clock) == (hold.at.clock, at.clock) {
                return;
            }
        }
        let nesting = Nesting {
            thread: at.point.thread,
            held: hold.lock,
            held_mode: hold.mode,
            taken,
            taken_mode,
            gates: gates.clone(),
            hold_at: hold.at,
            take_at: at,
        };
        match known {
            Some(id) => self.found[id].add(nesting),
            None => {
                self.known.insert(key, self.found.len());
                self.found.push(Samples::of(nesting));
            }
        }
    }

    /// The cycles, as reports: first what every thread takes and keeps, then what each waits for.
    /// Whether they are all says the second part of the answer.
    pub fn finish(self, cx: &Context<'_>) -> (Vec<RawReport>, bool) {
        let order = &cx.state.order;
        let waits = |nesting: &&Nesting<At>| !only_tries(cx.names, nesting.take_at.point.site);
        let ends = self.found.iter().flat_map(Samples::ends).filter(waits);
        let ends: Vec<Nesting<At>> = ends.cloned().collect();
        let all = self
            .found
            .iter()
            .flat_map(|samples| samples.ends().chain(&samples.between));
        let all: Vec<Nesting<At>> = all.filter(waits).cloned().collect();
        let moment = |at: &At| Moment {
            thread: at.point.thread,
            time: order.past(at.clock).hard.get(at.point.thread),
        };
        let apart = |a: &Nesting<At>, b: &Nesting<At>| order.past(b.hold_at.clock).hard.knows(moment(&a.take_at));
        let mut cycles = goodlock::cycles(&ends, apart);
        // What lies in between may be too much to search, and must not cost what the ends show.
        let threads = |cycle: &[Nesting<At>]| -> Vec<(ThreadId, LockId)> {
            cycle.iter().map(|nesting| (nesting.thread, nesting.held)).collect()
        };
        for cycle in goodlock::cycles(&all, apart).found {
            if !cycles.found.iter().any(|known| threads(known) == threads(&cycle)) {
                cycles.found.push(cycle);
            }
        }
        let reports = cycles.found.iter().map(Vec::as_slice).map(report).collect();
        (reports, !cycles.bounded)
    }
}

/// Whether a lock was acquired by a call that does not block: `tryLock`.
fn only_tries(names: &Names, site: SiteId) -> bool {
    let SiteKind::Call(callee) = &names.site(site).what else {
        return false;
    };
    callee.rsplit('.').next().is_some_and(|name| name.starts_with("try"))
}

fn report(cycle: &[Nesting<At>]) -> RawReport {
    let step = |at: &At, lock: LockId| RawStep {
        point: at.point,
        location: None,
        lock: Some(lock),
        owner: None,
    };
    let holds = cycle.iter().map(|nesting| step(&nesting.hold_at, nesting.held));
    let takes = cycle.iter().map(|nesting| step(&nesting.take_at, nesting.taken));
    RawReport {
        analysis: "blocks",
        rule: Rule::LockOrder,
        evidence: Evidence::Predicted,
        pattern: String::new(),
        steps: holds.chain(takes).collect(),
        observed: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_in_between_are_evenly_spaced_however_many_there_are() {
        let mut samples = Samples::of(0);
        (1..=1_000).for_each(|number| samples.add(number));
        assert_eq!(samples.ends().copied().collect::<Vec<u64>>(), [0, 1_000]);
        let expected: Vec<u64> = (1..).map(|n| n * samples.stride).take(samples.between.len()).collect();
        assert_eq!(samples.between, expected);
        assert!(samples.between.len() >= MOST_SAMPLES / 2 && samples.between.len() <= MOST_SAMPLES);
        assert!(samples.stride * (MOST_SAMPLES as u64 + 1) > 1_000);
    }
}
