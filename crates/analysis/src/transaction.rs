//! Transactions as the papers write them: what one thread does between two points, with the locks it holds.
//!
//! Reduction, blocks, lock-order cycles and the brute-force oracle all work on this small model, so each can be tested
//! alone on a line of text such as `t1: acq(m) r(x) rel(m) w(x)`. A line is a transaction of the thread named before
//! the colon; several lines of one thread are its transactions in program order. Steps are `r(x)`, `w(x)`, `u(x)` (a
//! read and a write in one indivisible step), `acq(m)`, `rel(m)`, `sacq(m)` and `srel(m)` (a lock shared among
//! readers), `fork(t)` and `join(t)`.

use ravel_trace::{LocationId, LockId, Mode, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What one step does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Reads a location.
    Read(LocationId),
    /// Writes a location.
    Write(LocationId),
    /// Takes a lock.
    Acquire(LockId, Mode),
    /// Gives a lock up.
    Release(LockId, Mode),
    /// Starts a thread.
    Fork(ThreadId),
    /// Sees the end of a thread.
    Join(ThreadId),
}

/// One step of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// What it does.
    pub action: Action,
    /// Which event of the trace it is. The read and the write of one indivisible update share it, and nothing can
    /// come between two steps that do.
    pub origin: u64,
}

/// Whether an access looks or changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Looks.
    Read,
    /// Changes.
    Write,
}

/// The locks held at a point, each with its mode and the step that took it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Held(SmallVec<[Hold; 4]>);

/// One lock held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Hold {
    /// The lock.
    pub lock: LockId,
    /// Alone or shared.
    pub mode: Mode,
    /// Tells one acquisition of the lock by this thread from the next.
    pub since: u64,
}

impl Held {
    /// Adds a lock.
    pub fn acquire(&mut self, lock: LockId, mode: Mode, since: u64) {
        let at = self.0.partition_point(|hold| hold.lock < lock);
        self.0.insert(at, Hold { lock, mode, since });
    }

    /// Removes a lock; nothing happens if it is not held.
    pub fn release(&mut self, lock: LockId) {
        self.0.retain(|hold| hold.lock != lock);
    }

    /// The holds, by lock.
    pub fn holds(&self) -> &[Hold] {
        &self.0
    }

    /// Whether no lock is held.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether some lock is in both and not merely shared by both: then the two cannot hold at the same time in two
    /// threads.
    pub fn excludes(&self, other: &Held) -> bool {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            match x.lock.cmp(&y.lock) {
                std::cmp::Ordering::Less => drop(a.next()),
                std::cmp::Ordering::Greater => drop(b.next()),
                std::cmp::Ordering::Equal if x.mode == Mode::Shared && y.mode == Mode::Shared => {
                    a.next();
                    b.next();
                }
                std::cmp::Ordering::Equal => return true,
            }
        }
        false
    }

    /// The locks of this set that `later`, a later point of the same thread, still holds from the same acquisition.
    pub fn still_held(&self, later: &Held) -> Held {
        Held(self.0.iter().filter(|hold| later.0.contains(hold)).copied().collect())
    }

    /// The same locks without what tells acquisitions apart, for comparing and interning.
    pub fn without_since(&self) -> Held {
        Held(self.0.iter().map(|hold| Hold { since: 0, ..*hold }).collect())
    }
}

/// An access of a transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// Index of its step.
    pub step: usize,
    /// The location.
    pub location: LocationId,
    /// Read or write.
    pub kind: Kind,
    /// The locks held.
    pub held: Held,
    /// For a read: no write of the location precedes it in the transaction.
    pub uninitialized: bool,
    /// For a write: no write of the location follows it in the transaction.
    pub last: bool,
    /// How many lock, fork and join steps come before it: two accesses with the same count cannot be told apart by
    /// synchronisation.
    pub epoch: u32,
}

/// What one thread does from one point to another and that should look like one step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transaction {
    /// Who.
    pub thread: ThreadId,
    /// What, in program order.
    pub steps: Vec<Step>,
    /// The locks already held when it begins.
    pub entry: Held,
}

impl Transaction {
    /// A transaction that begins with no lock held.
    pub fn new(thread: ThreadId, actions: impl IntoIterator<Item = Action>) -> Self {
        let steps = actions
            .into_iter()
            .zip(0..)
            .map(|(action, origin)| Step { action, origin })
            .collect();
        Transaction {
            thread,
            steps,
            entry: Held::default(),
        }
    }

    /// The locks held when each step happens; an acquire holds the lock from its own step on, a release no longer.
    pub fn held(&self) -> Vec<Held> {
        let mut held = self.entry.clone();
        self.steps
            .iter()
            .map(|step| {
                match step.action {
                    Action::Acquire(lock, mode) => held.acquire(lock, mode, step.origin + 1),
                    Action::Release(lock, _) => held.release(lock),
                    _ => {}
                }
                held.clone()
            })
            .collect()
    }

    /// The accesses in program order.
    pub fn accesses(&self) -> Vec<Access> {
        let held = self.held();
        let mut written: FxHashMap<LocationId, usize> = FxHashMap::default();
        let mut accesses: Vec<Access> = Vec::new();
        let mut epoch = 0;
        for (index, (step, held)) in self.steps.iter().zip(held).enumerate() {
            let (location, kind) = match step.action {
                Action::Read(location) => (location, Kind::Read),
                Action::Write(location) => (location, Kind::Write),
                _ => {
                    epoch += 1;
                    continue;
                }
            };
            let uninitialized = kind == Kind::Read && !written.contains_key(&location);
            if kind == Kind::Write
                && let Some(earlier) = written.insert(location, accesses.len())
            {
                accesses[earlier].last = false;
            }
            let last = kind == Kind::Write;
            accesses.push(Access {
                step: index,
                location,
                kind,
                held,
                uninitialized,
                last,
                epoch,
            });
        }
        accesses
    }

    /// The steps that are no access of another location than `location`.
    pub fn project(&self, location: LocationId) -> Transaction {
        let keep = |step: &&Step| match step.action {
            Action::Read(at) | Action::Write(at) => at == location,
            _ => true,
        };
        Transaction {
            steps: self.steps.iter().filter(keep).copied().collect(),
            ..self.clone()
        }
    }
}

/// Transactions read from text, with the names that the text gave to things.
#[derive(Clone, Debug, Default)]
pub struct TransactionSet {
    /// In the order of the lines.
    pub transactions: Vec<Transaction>,
    /// Indexed by [`ThreadId`].
    pub threads: Vec<String>,
    /// Indexed by [`LocationId`].
    pub locations: Vec<String>,
    /// Indexed by [`LockId`].
    pub locks: Vec<String>,
}

/// Why a line of transactions could not be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

fn intern(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

impl TransactionSet {
    /// Reads transactions from text, one per line.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let mut set = TransactionSet::default();
        let lines = || {
            text.lines()
                .enumerate()
                .map(|(at, line)| (at + 1, line.trim()))
                .filter(|(_, l)| !l.is_empty())
        };
        // Thread ids follow the order of the lines, not of the forks that mention them.
        for (line, text) in lines() {
            let (thread, _) = text.split_once(':').ok_or_else(|| TextError {
                line,
                problem: "expected `thread: steps`".into(),
            })?;
            intern(&mut set.threads, thread.trim());
        }
        for (line, text) in lines() {
            let Some((thread, steps)) = text.split_once(':') else {
                continue;
            };
            let thread = ThreadId::from(intern(&mut set.threads, thread.trim()));
            let mut transaction = Transaction {
                thread,
                steps: Vec::new(),
                entry: Held::default(),
            };
            for (origin, word) in (0..).zip(steps.split_whitespace()) {
                for action in set.actions(word).map_err(|problem| TextError { line, problem })? {
                    transaction.steps.push(Step { action, origin });
                }
            }
            set.transactions.push(transaction);
        }
        Ok(set)
    }

    fn actions(&mut self, word: &str) -> Result<SmallVec<[Action; 2]>, String> {
        let (op, name) = word
            .strip_suffix(')')
            .and_then(|word| word.split_once('('))
            .ok_or_else(|| format!("expected `step(name)`, found `{word}`"))?;
        let location = |set: &mut Self| LocationId::from(intern(&mut set.locations, name));
        let lock = |set: &mut Self| LockId::from(intern(&mut set.locks, name));
        let thread = |set: &mut Self| ThreadId::from(intern(&mut set.threads, name));
        Ok(match op.to_ascii_lowercase().as_str() {
            "r" => smallvec::smallvec![Action::Read(location(self))],
            "w" => smallvec::smallvec![Action::Write(location(self))],
            "u" => {
                let location = location(self);
                smallvec::smallvec![Action::Read(location), Action::Write(location)]
            }
            "acq" => smallvec::smallvec![Action::Acquire(lock(self), Mode::Exclusive)],
            "rel" => smallvec::smallvec![Action::Release(lock(self), Mode::Exclusive)],
            "sacq" => smallvec::smallvec![Action::Acquire(lock(self), Mode::Shared)],
            "srel" => smallvec::smallvec![Action::Release(lock(self), Mode::Shared)],
            "fork" => smallvec::smallvec![Action::Fork(thread(self))],
            "join" => smallvec::smallvec![Action::Join(thread(self))],
            _ => return Err(format!("unknown step `{op}`")),
        })
    }
}

/// The order that thread starts and joins make among the steps of a set of transactions.
///
/// Cost: one vector clock per synchronisation step and thread; a question costs two look-ups.
#[derive(Clone, Debug)]
pub struct ForkOrder {
    /// For each transaction, the number of steps of its thread before it.
    offset: Vec<u32>,
    thread: Vec<usize>,
    /// Per thread: (from this step of the thread on, clock), in order. A clock says how many steps of every other
    /// thread have certainly happened.
    clocks: Vec<Vec<(u32, Vec<u32>)>>,
}

impl ForkOrder {
    /// Works the order out. A thread that nobody forks is there from the start; a join of a thread waits for all its
    /// transactions.
    pub fn new(transactions: &[Transaction]) -> Self {
        let threads = transactions.iter().map(|t| t.thread.index() + 1).max().unwrap_or(0);
        let threads = transactions
            .iter()
            .flat_map(|t| &t.steps)
            .filter_map(|step| match step.action {
                Action::Fork(child) | Action::Join(child) => Some(child.index() + 1),
                _ => None,
            })
            .fold(threads, usize::max);
        let mut length = vec![0u32; threads];
        let mut offset = Vec::with_capacity(transactions.len());
        let mut syncs: Vec<Vec<(u32, Action)>> = vec![Vec::new(); threads];
        for transaction in transactions {
            let thread = transaction.thread.index();
            offset.push(length[thread]);
            for (at, step) in (length[thread]..).zip(&transaction.steps) {
                if matches!(step.action, Action::Fork(_) | Action::Join(_)) {
                    syncs[thread].push((at, step.action));
                }
            }
            length[thread] += u32::try_from(transaction.steps.len()).unwrap_or(u32::MAX);
        }
        let mut clocks = vec![vec![(0u32, vec![0u32; threads])]; threads];
        // Forks and joins are few; iterating to the fixed point keeps this short and order-independent.
        loop {
            let before = clocks.clone();
            for thread in 0..threads {
                let mut own: Vec<(u32, Vec<u32>)> = vec![clocks[thread][0].clone()];
                for &(at, action) in &syncs[thread] {
                    let mut now = own.last().map(|(_, clock)| clock.clone()).unwrap_or_default();
                    match action {
                        Action::Fork(child) => {
                            let first = &mut clocks[child.index()][0].1;
                            first
                                .iter_mut()
                                .zip(&now)
                                .for_each(|(known, &more)| *known = (*known).max(more));
                            first[thread] = first[thread].max(at + 1);
                        }
                        Action::Join(child) => {
                            let end = clocks[child.index()]
                                .last()
                                .map(|(_, clock)| clock.clone())
                                .unwrap_or_default();
                            now.iter_mut()
                                .zip(&end)
                                .for_each(|(known, &more)| *known = (*known).max(more));
                            now[child.index()] = now[child.index()].max(length[child.index()]);
                            own.push((at, now));
                        }
                        _ => {}
                    }
                }
                clocks[thread] = own;
            }
            if clocks == before {
                break;
            }
        }
        let thread = transactions.iter().map(|t| t.thread.index()).collect();
        ForkOrder { offset, thread, clocks }
    }

    /// Whether step `a` (transaction, step) must come before step `b`.
    pub fn before(&self, a: (usize, usize), b: (usize, usize)) -> bool {
        let at = |(transaction, step): (usize, usize)| self.offset[transaction] as usize + step;
        let (from, to) = (self.thread[a.0], self.thread[b.0]);
        if from == to {
            return at(a) < at(b);
        }
        let clocks = &self.clocks[to];
        let index = clocks.partition_point(|(since, _)| *since as usize <= at(b));
        index > 0 && (clocks[index - 1].1[from] as usize) > at(a)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn text_gives_steps_locksets_and_flags() {
        let set = TransactionSet::parse("t1: acq(a) r(x) acq(b) w(x) r(x) rel(b) rel(a)\n t2: u(y)").unwrap();
        assert_eq!(set.threads, ["t1", "t2"]);
        let accesses = set.transactions[0].accesses();
        let sizes: Vec<_> = accesses
            .iter()
            .map(|a| (a.kind, a.held.holds().len(), a.uninitialized, a.last))
            .collect();
        assert_eq!(
            sizes,
            [
                (Kind::Read, 1, true, false),
                (Kind::Write, 2, false, true),
                (Kind::Read, 2, false, false)
            ]
        );
        let update = &set.transactions[1].steps;
        assert_eq!(update.len(), 2);
        assert_eq!(update[0].origin, update[1].origin);
    }

    #[test]
    fn a_lock_taken_again_is_not_held_throughout() {
        let set = TransactionSet::parse("t: acq(a) r(x) rel(a) acq(a) w(x) rel(a)").unwrap();
        let accesses = set.transactions[0].accesses();
        assert!(accesses[0].held.still_held(&accesses[1].held).is_empty());
        assert!(accesses[0].held.excludes(&accesses[1].held));
    }

    #[test]
    fn readers_of_a_shared_lock_do_not_exclude_each_other() {
        let set = TransactionSet::parse("t: sacq(a) r(x) srel(a)\n u: acq(a) w(x) rel(a)").unwrap();
        let (reader, writer) = (set.transactions[0].accesses(), set.transactions[1].accesses());
        assert!(!reader[0].held.excludes(&reader[0].held));
        assert!(reader[0].held.excludes(&writer[0].held));
    }

    #[test]
    fn starts_and_joins_order_steps_through_a_third_thread() {
        let set = TransactionSet::parse("m: w(x) fork(t) w(y) join(t) w(z)\n t: fork(u) r(x)\n u: r(y)").unwrap();
        let order = ForkOrder::new(&set.transactions);
        assert!(order.before((0, 0), (2, 0)));
        assert!(!order.before((0, 2), (2, 0)) && !order.before((2, 0), (0, 2)));
        assert!(order.before((1, 1), (0, 4)));
        assert!(!order.before((2, 0), (0, 4)));
        assert!(order.before((0, 0), (0, 1)));
    }

    #[test]
    fn text_errors_name_the_line() {
        let error = TransactionSet::parse("t: r(x)\nt: frob(x)").unwrap_err();
        assert_eq!(error.to_string(), "line 2: unknown step `frob`");
    }
}
