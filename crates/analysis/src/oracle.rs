//! Brute force: every feasible interleaving of a small set of transactions, tried one by one.
//!
//! Shares nothing with the analyses but the model of transactions, so that agreement means something. Locks are
//! exclusive or shared, steps of a thread keep their order, a thread runs after the fork that names it (if one does) and
//! a join waits for the thread's end. Exponential on purpose; use it on sets of a dozen steps.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use fastrand::Rng;
use ravel_trace::{LocationId, LockId, Mode};

use crate::transaction::{Action, Kind, Transaction};

/// A step: (transaction, index).
pub type StepRef = (usize, usize);

/// For each read the write it sees, and the last write of each location.
pub type View = (BTreeSet<(StepRef, Option<StepRef>)>, BTreeSet<(LocationId, StepRef)>);

/// Gets a reachable state, whether it is complete, and whether nothing can happen in it.
type Visit<'v, O> = &'v mut dyn FnMut(&O, &OracleState, bool, bool) -> ControlFlow<()>;

/// A set of transactions laid out for enumeration.
pub struct Oracle<'a> {
    transactions: &'a [Transaction],
    threads: Vec<Vec<StepRef>>,
    forked: Vec<bool>,
}

struct OracleState {
    next: Vec<usize>,
    started: Vec<bool>,
    holds: Vec<(usize, LockId, Mode)>,
    trace: Vec<StepRef>,
}

impl<'a> Oracle<'a> {
    /// Lays the set out.
    pub fn new(transactions: &'a [Transaction]) -> Self {
        let mut threads: Vec<Vec<StepRef>> = Vec::new();
        let mut forked = Vec::new();
        let grow = |to: usize, threads: &mut Vec<Vec<StepRef>>, forked: &mut Vec<bool>| {
            threads.resize(threads.len().max(to + 1), Vec::new());
            forked.resize(threads.len(), false);
        };
        for (index, transaction) in transactions.iter().enumerate() {
            let thread = transaction.thread.index();
            grow(thread, &mut threads, &mut forked);
            for (step, what) in transaction.steps.iter().enumerate() {
                threads[thread].push((index, step));
                if let Action::Fork(child) | Action::Join(child) = what.action {
                    grow(child.index(), &mut threads, &mut forked);
                    forked[child.index()] |= matches!(what.action, Action::Fork(_));
                }
            }
        }
        Oracle {
            transactions,
            threads,
            forked,
        }
    }

    fn action(&self, step: StepRef) -> Action {
        self.transactions[step.0].steps[step.1].action
    }

    fn access(&self, step: StepRef) -> Option<(LocationId, Kind)> {
        match self.action(step) {
            Action::Read(location) => Some((location, Kind::Read)),
            Action::Write(location) => Some((location, Kind::Write)),
            _ => None,
        }
    }

    fn start(&self) -> OracleState {
        let started = self.forked.iter().map(|forked| !forked).collect();
        OracleState {
            next: vec![0; self.threads.len()],
            started,
            holds: Vec::new(),
            trace: Vec::new(),
        }
    }

    fn enabled(&self, state: &OracleState, thread: usize) -> Option<StepRef> {
        let step = *self.threads[thread].get(state.next[thread])?;
        // No other thread runs between the halves of an indivisible step.
        if let Some(&last) = state.trace.last()
            && let Some(&due) = self.threads[self.thread(last)].get(state.next[self.thread(last)])
            && due.0 == last.0
            && self.origin(due) == self.origin(last)
            && due != step
        {
            return None;
        }
        let may = match self.action(step) {
            Action::Acquire(lock, mode) => !state
                .holds
                .iter()
                .any(|&(who, held, how)| who != thread && held == lock && (mode, how) != (Mode::Shared, Mode::Shared)),
            Action::Join(child) => {
                state.started[child.index()] && state.next[child.index()] == self.threads[child.index()].len()
            }
            _ => true,
        };
        (may && state.started[thread]).then_some(step)
    }

    fn thread(&self, step: StepRef) -> usize {
        self.transactions[step.0].thread.index()
    }

    fn origin(&self, step: StepRef) -> u64 {
        self.transactions[step.0].steps[step.1].origin
    }

    /// Walks through every reachable state; `visit` gets the trace so far and whether it is complete.
    fn walk(&self, state: &mut OracleState, visit: Visit<'_, Self>) -> ControlFlow<()> {
        let complete = state
            .next
            .iter()
            .zip(&self.threads)
            .all(|(&next, steps)| next == steps.len());
        let moves: Vec<(usize, StepRef)> = (0..self.threads.len())
            .filter_map(|thread| Some((thread, self.enabled(state, thread)?)))
            .collect();
        visit(self, state, complete, moves.is_empty())?;
        for (thread, step) in moves {
            state.next[thread] += 1;
            state.trace.push(step);
            let holds = state.holds.clone();
            match self.action(step) {
                Action::Acquire(lock, mode) => state.holds.push((thread, lock, mode)),
                Action::Release(lock, _) => state.holds.retain(|&(who, held, _)| (who, held) != (thread, lock)),
                Action::Fork(child) => state.started[child.index()] = true,
                _ => {}
            }
            let flow = self.walk(state, visit);
            if let Action::Fork(child) = self.action(step) {
                state.started[child.index()] = false;
            }
            state.holds = holds;
            state.trace.pop();
            state.next[thread] -= 1;
            flow?;
        }
        ControlFlow::Continue(())
    }

    /// Calls `visit` with every complete trace until it breaks.
    pub fn traces(&self, mut visit: impl FnMut(&[StepRef]) -> ControlFlow<()>) {
        let _ = self.walk(&mut self.start(), &mut |_, state, complete, _| {
            if complete {
                visit(&state.trace)
            } else {
                ControlFlow::Continue(())
            }
        });
    }

    /// Whether some order of the steps leaves every thread waiting.
    pub fn may_deadlock(&self) -> bool {
        let flow = self.walk(&mut self.start(), &mut |_, _, complete, stuck| {
            if stuck && !complete {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        flow.is_break()
    }

    /// All pairs of conflicting accesses that are both next in some reachable state.
    pub fn races(&self) -> BTreeSet<(StepRef, StepRef)> {
        let mut found = BTreeSet::new();
        let _ = self.walk(&mut self.start(), &mut |oracle, state, _, _| {
            let next: Vec<StepRef> = (0..oracle.threads.len())
                .filter_map(|thread| oracle.enabled(state, thread))
                .collect();
            for (at, &a) in next.iter().enumerate() {
                for &b in &next[at + 1..] {
                    if let (Some((x, first)), Some((y, second))) = (oracle.access(a), oracle.access(b))
                        && x == y
                        && (first == Kind::Write || second == Kind::Write)
                    {
                        found.insert((a.min(b), a.max(b)));
                    }
                }
            }
            ControlFlow::Continue(())
        });
        found
    }

    /// What a trace shows: for each read, the write it sees, and the last write of each location.
    pub fn view(&self, trace: &[StepRef]) -> View {
        let mut last: Vec<(LocationId, StepRef)> = Vec::new();
        let mut reads = BTreeSet::new();
        for &step in trace {
            if let Some((location, kind)) = self.access(step) {
                let written = last.iter_mut().find(|(at, _)| *at == location);
                match (kind, written) {
                    (Kind::Read, written) => drop(reads.insert((step, written.map(|(_, by)| *by)))),
                    (Kind::Write, Some((_, by))) => *by = step,
                    (Kind::Write, None) => last.push((location, step)),
                }
            }
        }
        (reads, last.into_iter().collect())
    }

    /// Every complete trace in which transactions run one after the other.
    pub fn serial_traces(&self) -> Vec<Vec<StepRef>> {
        let mut serial = Vec::new();
        let mut left: Vec<usize> = self.threads.iter().map(Vec::len).collect();
        self.serial(&mut self.start(), &mut left, &mut serial);
        serial
    }

    fn serial(&self, state: &mut OracleState, left: &mut [usize], found: &mut Vec<Vec<StepRef>>) {
        if left.iter().all(|&left| left == 0) {
            found.push(state.trace.clone());
            return;
        }
        for thread in 0..self.threads.len() {
            let Some(&(transaction, _)) = self.threads[thread].get(state.next[thread]) else {
                continue;
            };
            let (length, started) = (state.trace.len(), state.started.clone());
            let mut ran = true;
            while let Some(&step) = self.threads[thread].get(state.next[thread])
                && step.0 == transaction
            {
                ran = self.enabled(state, thread).is_some();
                if !ran {
                    break;
                }
                if let Action::Fork(child) = self.action(step) {
                    state.started[child.index()] = true;
                }
                state.trace.push(step);
                state.next[thread] += 1;
                left[thread] -= 1;
            }
            if ran {
                self.serial(state, left, found);
            }
            let taken = state.trace.len() - length;
            state.next[thread] -= taken;
            left[thread] += taken;
            state.trace.truncate(length);
            state.started = started;
        }
    }

    /// A complete trace that no serial one is view-equivalent to.
    pub fn unserializable(&self) -> Option<Vec<StepRef>> {
        let serial: BTreeSet<_> = self.serial_traces().iter().map(|trace| self.view(trace)).collect();
        let mut found = None;
        self.traces(|trace| {
            if serial.contains(&self.view(trace)) {
                return ControlFlow::Continue(());
            }
            found = Some(trace.to_vec());
            ControlFlow::Break(())
        });
        found
    }

    /// Whether every complete trace is view-serializable.
    pub fn is_atomic(&self) -> bool {
        self.unserializable().is_none()
    }

    /// Whether some complete trace has these steps in this order.
    pub fn in_order(&self, wanted: &[StepRef]) -> bool {
        let mut found = false;
        self.traces(|trace| {
            let mut next = wanted.iter().peekable();
            for step in trace {
                next.next_if(|wanted| *wanted == step);
            }
            found |= next.peek().is_none();
            if found {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        found
    }
}

/// What random transactions look like.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Number of threads.
    pub threads: usize,
    /// Transactions per thread, at most.
    pub transactions: usize,
    /// Accesses per transaction, at most.
    pub accesses: usize,
    /// Steps per thread, at most; the number of interleavings depends on it.
    pub steps: usize,
    /// Number of variables.
    pub variables: usize,
    /// Number of locks.
    pub locks: usize,
    /// Whether the first thread starts and joins others.
    pub forks: bool,
    /// How much likelier than otherwise a lock is taken.
    pub nesting: usize,
}

/// A random set of transactions with properly nested locks. Starts and joins are transactions of their own, as units are
/// split there.
pub fn random(rng: &mut Rng, shape: Shape) -> Vec<Transaction> {
    use ravel_trace::ThreadId;
    let mut set = Vec::new();
    for thread in 0..shape.threads {
        let id = ThreadId::from(thread);
        let count = 1 + rng.usize(..shape.transactions);
        let mut room = shape.steps;
        let fork_at = if shape.forks && thread == 0 && shape.threads > 1 {
            Some(rng.usize(..count + 1))
        } else {
            None
        };
        let mut join = fork_at.is_some() && rng.usize(..2) == 0;
        for number in 0..=count {
            if fork_at == Some(number) {
                set.push(Transaction::new(id, [Action::Fork(ThreadId::from(1usize))]));
            }
            if join && (number == count || (number + 1 == count && fork_at != Some(count))) {
                set.push(Transaction::new(id, [Action::Join(ThreadId::from(1usize))]));
                join = false;
            }
            if number == count {
                break;
            }
            let transaction = random_transaction(rng, id, shape, room);
            room = room.saturating_sub(transaction.steps.len());
            if !transaction.steps.is_empty() {
                set.push(transaction);
            }
        }
    }
    set
}

fn random_transaction(rng: &mut Rng, thread: ravel_trace::ThreadId, shape: Shape, room: usize) -> Transaction {
    let mut actions = Vec::new();
    let mut held: Vec<LockId> = Vec::new();
    let mut accesses = 1 + rng.usize(..shape.accesses);
    while accesses > 0 && actions.len() + held.len() < room {
        let fits = actions.len() + held.len() + 3 <= room;
        match rng.usize(..6 + shape.nesting) {
            0 | 1 | 6.. if fits && held.len() < 2 && shape.locks > 0 => {
                let lock = LockId::from(rng.usize(..shape.locks));
                if !held.contains(&lock) {
                    held.push(lock);
                    actions.push(Action::Acquire(lock, Mode::Exclusive));
                }
            }
            2 if !held.is_empty() => {
                if let Some(lock) = held.pop() {
                    actions.push(Action::Release(lock, Mode::Exclusive));
                }
            }
            kind => {
                let location = LocationId::from(rng.usize(..shape.variables));
                actions.push(if kind % 2 == 0 {
                    Action::Read(location)
                } else {
                    Action::Write(location)
                });
                accesses -= 1;
            }
        }
    }
    actions.extend(
        held.into_iter()
            .rev()
            .map(|lock| Action::Release(lock, Mode::Exclusive)),
    );
    Transaction::new(thread, actions)
}

/// A set as text, for messages of failing tests.
pub fn show(set: &[Transaction]) -> String {
    let mut text = String::new();
    for transaction in set {
        text.push_str(&format!("t{}:", transaction.thread.0));
        for step in &transaction.steps {
            text.push_str(&match step.action {
                Action::Read(x) => format!(" r(x{})", x.0),
                Action::Write(x) => format!(" w(x{})", x.0),
                Action::Acquire(l, _) => format!(" acq(l{})", l.0),
                Action::Release(l, _) => format!(" rel(l{})", l.0),
                Action::Fork(t) => format!(" fork(t{})", t.0),
                Action::Join(t) => format!(" join(t{})", t.0),
            });
        }
        text.push('\n');
    }
    text
}
