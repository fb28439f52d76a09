//! The general algorithm: atomicity of a whole set of transactions.
//!
//! **Paper.** Wang and Stoller, *Run-Time Analysis for Atomicity*, section 5.4: every pair must be atomic, then every
//! interleaving of the uninitialised reads and final writes must be serializable. Example 16 is why pairs are not enough.
//!
//! **Departures.** A set is first partitioned into groups that share written variables. Interleavings are enumerated in
//! strides `acquire* access? release*`: acquires move right and releases left (Theorem 4.2), so no trace is lost. A
//! serial order must keep program order and hard order among the transactions, as every trace does.
//!
//! **Promises.** Exact unless the bound is hit; then the answer is [`SetVerdict::Unknown`], never a guess.
//!
//! **Cost.** Exponential in the worst case; the caller bounds the strides that are tried per group.

use ravel_trace::LocationId;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::feasibility::{Pair, Side};
use super::{one, two};
use crate::transaction::{Action, HeldLocks, Kind, Transaction};

/// A step of one of the transactions: (transaction, step).
pub type StepRef = (usize, usize);

/// Whether one step must come before another, by hard order or as steps of one thread.
pub type Before<'a> = dyn Fn(StepRef, StepRef) -> bool + 'a;

/// What is known about a set of transactions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SetVerdict {
    /// Every feasible trace is serializable.
    Atomic,
    /// Some trace is not; the accesses that show it, in order.
    Violation {
        /// The pattern, for people.
        pattern: String,
        /// The steps in the order in which they happen.
        steps: Vec<StepRef>,
    },
    /// The bound was hit before the answer was found.
    Unknown,
}

/// A pair of transactions that some interleaving makes unserializable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PairViolation {
    /// `R W' W` or, over two variables, `W1 W'1 W'2 W2`.
    pub pattern: String,
    /// The steps in the order in which they must happen.
    pub steps: Vec<StepRef>,
}

/// All violations of two transactions (isAtomic-2Trans); none if they are of one thread.
pub fn check_pair(transactions: &[Transaction], a: usize, b: usize, order: &Before<'_>) -> Vec<PairViolation> {
    let (first, second) = (&transactions[a], &transactions[b]);
    if first.thread == second.thread {
        return Vec::new();
    }
    let pair = Pair::new(first, second, |side, i, j| match side {
        Side::First => order((a, i), (b, j)),
        Side::Second => order((b, i), (a, j)),
    });
    let place = |steps: &[(Side, usize)]| {
        steps
            .iter()
            .map(|&(side, step)| (if side == Side::First { a } else { b }, step))
            .collect()
    };
    let single = one::clashes(first, second, &pair)
        .into_iter()
        .map(|clash| PairViolation {
            pattern: clash.pattern.name().to_owned(),
            steps: place(&clash.steps),
        });
    let double = two::clashes(first, second, &pair)
        .into_iter()
        .map(|clash| PairViolation {
            pattern: clash.name(),
            steps: place(&clash.steps),
        });
    single.chain(double).collect()
}

/// Whether a set of transactions is atomic if any two of them are, with at most so many strides per group.
pub fn check_beyond_pairs(transactions: &[Transaction], order: &Before<'_>, bound: usize) -> SetVerdict {
    let mut unknown = false;
    for group in groups(transactions, order) {
        match Enumeration::new(transactions, &group, order, bound).run() {
            SetVerdict::Atomic => {}
            SetVerdict::Unknown => unknown = true,
            violation => return violation,
        }
    }
    if unknown {
        SetVerdict::Unknown
    } else {
        SetVerdict::Atomic
    }
}

/// Sets of transactions connected by variables that one of them writes, or by hard order between transactions that have
/// such variables; those of a single thread are left out.
fn groups(transactions: &[Transaction], order: &Before<'_>) -> Vec<Vec<usize>> {
    let shared = shared_locations(transactions);
    let mut parent: Vec<usize> = (0..transactions.len()).collect();
    fn root(parent: &mut [usize], mut at: usize) -> usize {
        while parent[at] != at {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        at
    }
    let mut user: FxHashMap<LocationId, usize> = FxHashMap::default();
    let mut concerned: Vec<usize> = Vec::new();
    for (index, transaction) in transactions.iter().enumerate() {
        let mut any = false;
        for location in transaction
            .accesses()
            .into_iter()
            .map(|a| a.location)
            .filter(|l| shared.contains(l))
        {
            let other = *user.entry(location).or_insert(index);
            let (x, y) = (root(&mut parent, index), root(&mut parent, other));
            parent[x] = y;
            any = true;
        }
        if any {
            concerned.push(index);
        }
    }
    // A serial order must keep hard order, so transactions that it connects are one problem.
    for &a in &concerned {
        for &b in &concerned {
            if a != b && order((a, 0), (b, transactions[b].steps.len().saturating_sub(1))) {
                let (x, y) = (root(&mut parent, a), root(&mut parent, b));
                parent[x] = y;
            }
        }
    }
    let mut groups: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for index in concerned {
        groups.entry(root(&mut parent, index)).or_default().push(index);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.retain(|group| {
        group
            .iter()
            .any(|&index| transactions[index].thread != transactions[group[0]].thread)
    });
    groups.sort_unstable();
    groups
}

/// Locations that two threads access and one writes.
fn shared_locations(transactions: &[Transaction]) -> FxHashSet<LocationId> {
    let mut seen: FxHashMap<LocationId, (FxHashSet<u32>, bool)> = FxHashMap::default();
    for transaction in transactions {
        for access in transaction.accesses() {
            let entry = seen.entry(access.location).or_default();
            entry.0.insert(transaction.thread.0);
            entry.1 |= access.kind == Kind::Write;
        }
    }
    seen.into_iter()
        .filter(|(_, (threads, written))| threads.len() > 1 && *written)
        .map(|(at, _)| at)
        .collect()
}

/// Lock steps around at most one access (or the two halves of an indivisible one), taken without a break.
struct Stride {
    transaction: usize,
    steps: std::ops::Range<usize>,
    accesses: SmallVec<[(usize, LocationId, Kind); 2]>,
}

struct Enumeration<'a> {
    transactions: &'a [Transaction],
    order: &'a Before<'a>,
    bound: usize,
    /// Per thread, what it does.
    threads: Vec<Vec<Stride>>,
    /// The transactions of the group, in program order per thread.
    group: Vec<usize>,
    /// For each transaction of the group, the ones that must come before it in any serial order.
    earlier: Vec<Vec<usize>>,
    tried: usize,
}

struct EnumerationState {
    next: Vec<usize>,
    held: Vec<HeldLocks>,
    trace: Vec<(StepRef, LocationId, Kind)>,
}

impl<'a> Enumeration<'a> {
    fn new(transactions: &'a [Transaction], group: &[usize], order: &'a Before<'a>, bound: usize) -> Self {
        let shared = shared_locations(transactions);
        let mut by_thread: std::collections::BTreeMap<u32, Vec<Stride>> = Default::default();
        for &index in group {
            let strides = by_thread.entry(transactions[index].thread.0).or_default();
            strides.extend(cut(index, &transactions[index], &shared));
        }
        let last = |index: usize| transactions[index].steps.len().saturating_sub(1);
        let precedes = |a: usize, b: usize| a != b && order((a, 0), (b, last(b)));
        let earlier = group
            .iter()
            .map(|&b| (0..group.len()).filter(|&a| precedes(group[a], b)).collect())
            .collect();
        let threads = by_thread.into_values().collect();
        Enumeration {
            transactions,
            order,
            bound,
            threads,
            group: group.to_vec(),
            earlier,
            tried: 0,
        }
    }

    fn run(mut self) -> SetVerdict {
        let mut state = EnumerationState {
            next: vec![0; self.threads.len()],
            held: self.threads.iter().map(|strides| self.entry(strides)).collect(),
            trace: Vec::new(),
        };
        match self.extend(&mut state) {
            Some(verdict) => verdict,
            None => SetVerdict::Atomic,
        }
    }

    /// What a thread holds when its first transaction begins.
    fn entry(&self, strides: &[Stride]) -> HeldLocks {
        let first = strides.first().map(|stride| &self.transactions[stride.transaction]);
        first.map(|transaction| transaction.entry.clone()).unwrap_or_default()
    }

    /// Tries every next stride; some verdict ends the search.
    fn extend(&mut self, state: &mut EnumerationState) -> Option<SetVerdict> {
        if state
            .next
            .iter()
            .zip(&self.threads)
            .all(|(&next, strides)| next == strides.len())
        {
            if self.serializable(&state.trace) {
                return None;
            }
            let steps = state.trace.iter().map(|(step, _, _)| *step).collect();
            return Some(SetVerdict::Violation {
                pattern: "cycle".to_owned(),
                steps,
            });
        }
        for thread in 0..self.threads.len() {
            let Some(stride) = self.threads[thread].get(state.next[thread]) else {
                continue;
            };
            self.tried += 1;
            if self.tried > self.bound {
                return Some(SetVerdict::Unknown);
            }
            let Some(held) = self.enabled(state, thread, stride) else {
                continue;
            };
            let before = std::mem::replace(&mut state.held[thread], held);
            let length = state.trace.len();
            let place =
                |&(step, location, kind): &(usize, LocationId, Kind)| ((stride.transaction, step), location, kind);
            state.next[thread] += 1;
            state.trace.extend(stride.accesses.iter().map(place));
            let verdict = self.extend(state);
            state.held[thread] = before;
            state.next[thread] -= 1;
            state.trace.truncate(length);
            if verdict.is_some() {
                return verdict;
            }
        }
        None
    }

    /// The locks held after the stride, if it can be taken now.
    fn enabled(&self, state: &EnumerationState, thread: usize, stride: &Stride) -> Option<HeldLocks> {
        let mut held = state.held[thread].clone();
        let transaction = &self.transactions[stride.transaction];
        for step in &transaction.steps[stride.steps.clone()] {
            match step.action {
                Action::Acquire(lock, mode) => {
                    held.acquire(lock, mode, step.origin + 1);
                    let others = state.held.iter().enumerate().filter(|(other, _)| *other != thread);
                    if others.into_iter().any(|(_, other)| other.excludes(&held)) {
                        return None;
                    }
                }
                Action::Release(lock, _) => held.release(lock),
                _ => {}
            }
        }
        let waits = |other: usize, strides: &[Stride]| {
            let mut pending = strides[state.next[other]..].iter();
            let last = stride.steps.end.saturating_sub(1);
            pending.any(|p| (self.order)((p.transaction, p.steps.start), (stride.transaction, last)))
        };
        let blocked = self
            .threads
            .iter()
            .enumerate()
            .any(|(other, strides)| other != thread && waits(other, strides));
        (!blocked).then_some(held)
    }

    /// Whether some serial order of the transactions shows the same reads and final writes as the trace.
    fn serializable(&self, trace: &[(StepRef, LocationId, Kind)]) -> bool {
        let mut last: FxHashMap<LocationId, usize> = FxHashMap::default();
        let mut reads: FxHashMap<StepRef, Option<usize>> = FxHashMap::default();
        let mut events: Vec<Vec<(StepRef, LocationId, Kind)>> = vec![Vec::new(); self.group.len()];
        for &(step, location, kind) in trace {
            let member = self.group.iter().position(|&index| index == step.0).unwrap_or_default();
            events[member].push((step, location, kind));
            match kind {
                Kind::Read => drop(reads.insert(step, last.get(&location).copied())),
                Kind::Write => drop(last.insert(location, member)),
            }
        }
        let mut order = Serial {
            events: &events,
            earlier: &self.earlier,
            reads: &reads,
            last: &last,
        };
        order.extend(&mut vec![false; self.group.len()], &FxHashMap::default())
    }
}

struct Serial<'a> {
    events: &'a [Vec<(StepRef, LocationId, Kind)>],
    earlier: &'a [Vec<usize>],
    reads: &'a FxHashMap<StepRef, Option<usize>>,
    last: &'a FxHashMap<LocationId, usize>,
}

impl Serial<'_> {
    fn extend(&mut self, done: &mut Vec<bool>, now: &FxHashMap<LocationId, usize>) -> bool {
        if done.iter().all(|&done| done) {
            return now == self.last;
        }
        for next in 0..done.len() {
            if done[next] || self.earlier[next].iter().any(|&earlier| !done[earlier]) {
                continue;
            }
            let mut after = now.clone();
            let fits = self.events[next].iter().all(|(step, location, kind)| match kind {
                Kind::Read => self.reads[step] == after.get(location).copied(),
                Kind::Write => {
                    after.insert(*location, next);
                    true
                }
            });
            if fits {
                done[next] = true;
                let found = self.extend(done, &after);
                done[next] = false;
                if found {
                    return true;
                }
            }
        }
        false
    }
}

/// Cuts a transaction into strides, dropping accesses that are no uninitialised read or final write of a shared
/// variable.
fn cut(index: usize, transaction: &Transaction, shared: &FxHashSet<LocationId>) -> Vec<Stride> {
    let ends = two::ends(transaction);
    let kept: FxHashMap<usize, (LocationId, Kind)> = ends
        .iter()
        .filter(|access| shared.contains(&access.location))
        .map(|access| (access.step, (access.location, access.kind)))
        .collect();
    let mut strides: Vec<Stride> = Vec::new();
    let mut closed = true;
    let mut origin = None;
    for (at, step) in transaction.steps.iter().enumerate() {
        let access = kept.get(&at).map(|&(location, kind)| (at, location, kind));
        let is_access = matches!(step.action, Action::Read(_) | Action::Write(_));
        if is_access && access.is_none() {
            continue;
        }
        let joins_last = matches!(step.action, Action::Release(..) | Action::Fork(_)) || origin == Some(step.origin);
        if strides.is_empty() || (closed && !joins_last) {
            strides.push(Stride {
                transaction: index,
                steps: at..at,
                accesses: SmallVec::new(),
            });
        }
        if let Some(stride) = strides.last_mut() {
            stride.steps.end = at + 1;
            stride.accesses.extend(access);
        }
        closed = !matches!(step.action, Action::Acquire(..) | Action::Join(_));
        origin = access.map(|_| step.origin);
    }
    strides
}
