//! Lock-order cycles of a whole trace: collects which locks are taken under which and hands them to [`goodlock`].
//!
//! **Bounds.** Of equal nestings (same thread, locks, gates and places) the first and the latest moment are kept: what hard
//! order keeps apart in both is taken as kept apart.
//!
//! A lock that was got by `tryLock` may be what others wait for, but nobody waits for ever in `tryLock`.

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
struct Hold {
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

/// Collects nestings while a trace goes by.
#[derive(Default)]
pub struct Nestings {
    held: Vec<Vec<Hold>>,
    known: FxHashMap<Key, usize>,
    found: Vec<(Nesting<At>, Option<Nesting<At>>)>,
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

    fn thread(&mut self, thread: ThreadId) -> &mut Vec<Hold> {
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
            let mut gates = transaction::Held::default();
            held.iter().for_each(|hold| gates.acquire(hold.lock, hold.mode, 0));
            held.iter().for_each(|hold| self.add(hold, lock, mode, at, &gates));
        }
        self.held[thread.index()] = held;
        self.held[thread.index()].push(Hold { lock, mode, at });
    }

    fn add(&mut self, hold: &Hold, taken: LockId, taken_mode: Mode, at: At, gates: &transaction::Held) {
        let key = Key {
            thread: at.point.thread,
            held: (hold.lock, hold.mode),
            taken: (taken, taken_mode),
            gates: at.point.locks,
            places: [hold.at.point.site, at.point.site],
        };
        let known = self.known.get(&key).copied();
        if let Some(id) = known {
            let (first, latest) = &self.found[id];
            let kept = latest.as_ref().unwrap_or(first);
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
            Some(id) => self.found[id].1 = Some(nesting),
            None => {
                self.known.insert(key, self.found.len());
                self.found.push((nesting, None));
            }
        }
    }

    /// The cycles, as reports: first what every thread takes and keeps, then what each waits for.
    /// Whether they are all says the second part of the answer.
    pub fn finish(self, cx: &Context<'_>) -> (Vec<RawReport>, bool) {
        let order = &cx.state.order;
        let nestings: Vec<Nesting<At>> = self
            .found
            .into_iter()
            .flat_map(|(first, latest)| std::iter::once(first).chain(latest))
            .filter(|nesting| !only_tries(cx.names, nesting.take_at.point.site))
            .collect();
        let moment = |at: &At| Moment {
            thread: at.point.thread,
            time: order.past(at.clock).hard.get(at.point.thread),
        };
        let apart = |a: &Nesting<At>, b: &Nesting<At>| order.past(b.hold_at.clock).hard.knows(moment(&a.take_at));
        let cycles = goodlock::cycles(&nestings, apart);
        let reports = cycles.found.iter().map(Vec::as_slice).map(report).collect();
        (reports, !cycles.bounded)
    }
}

/// Whether a lock was taken by a call that gives up rather than wait for ever: `tryLock`.
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
