//! Who comes before whom: vector clocks for the hard order and the full order of DESIGN's words.
//!
//! The *hard* order has program order, fork/begin, end/join, notify/resume, send/receive, class initialisation, and
//! write/read of volatile and modelled locations (a read comes after the last write before it). The *full* order adds
//! lock edges; there a read of a synchronising location comes after every earlier write, as in the Java memory model.
//!
//! An edge made by a pattern's own locations must not be held against that pattern: the whole point of the pattern
//! `R W' W` on an atomic is that `W'` may come earlier. Three answers are kept, from cheap to exact:
//! - [`Clocks::hard`] has every hard edge. Two events unordered in it are unordered whatever is left out.
//! - [`Clocks::bare`] has every hard edge but those through locations. Ordered in it is ordered whatever is left out.
//! - [`Order::before_without`] is exact for events between those answers: it walks the log of edges backwards,
//!   leaving out those through the locations given. Cost: the number of edges between the two events. The log is
//!   bounded; a query that reaches beyond it answers by `bare`, which can only call too little ordered (a candidate too
//!   many, for replay to refute), never too much.
//!
//! A clock is a `Vec` indexed by thread and grows to the threads it has heard of. A time is a thread's count of its
//! hard edges, in or out, so that accesses between two edges share a time and most accesses touch no clock at all.

mod clock;
mod history;

use crate::batch::{Snapshot, Snapshots};
use ravel_trace::{ClassId, LocationId, LockId, Mode, SyncId, ThreadId};
use rustc_hash::FxHashMap;

pub use clock::{Clock, ClockId, Clocks, Moment};
pub use history::{History, MOMENTS, Past, PastClock};

/// What is known at the sending end of an edge.
#[derive(Clone, Debug, Default)]
struct Stamp {
    origin: Moment,
    full_origin: Moment,
    clocks: Clocks,
}

/// Several sending ends together.
#[derive(Debug, Default)]
struct Gathered {
    origins: Vec<Moment>,
    clocks: Clocks,
}

impl Gathered {
    fn add(&mut self, stamp: &Stamp) {
        match self.origins.iter_mut().find(|m| m.thread == stamp.origin.thread) {
            Some(moment) => *moment = stamp.origin,
            None => self.origins.push(stamp.origin),
        }
        self.clocks.join(&stamp.clocks, false);
        self.clocks.full.join(&stamp.clocks.full);
    }
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: Moment,
    to: Moment,
    via: Option<LocationId>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Threads that wait, with what a `notifyAll` has sent them.
    waiters: Vec<(ThreadId, u64, Option<Box<Stamp>>)>,
    /// Single notifications not yet taken, with when they came.
    single: Vec<(u64, Box<Stamp>)>,
}

#[derive(Debug, Default)]
struct LockClocks {
    exclusive: Clock,
    shared: Clock,
}

/// Which clocks are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// `hard` and `bare`.
    pub hard: bool,
    /// `full`.
    pub full: bool,
    /// Ids of past clocks, and the log that [`Order::before_without`] needs.
    pub history: bool,
}

/// Edges remembered for [`Order::before_without`].
const LOG_LIMIT: usize = 1 << 21;

/// The clocks of all threads.
#[derive(Debug, Default)]
pub struct Order {
    kept: Kept,
    threads: Vec<Clocks>,
    begun: Vec<bool>,
    forked: FxHashMap<ThreadId, Stamp>,
    ended: FxHashMap<ThreadId, Stamp>,
    waiting: FxHashMap<LockId, Waiting>,
    syncs: FxHashMap<SyncId, Gathered>,
    classes: FxHashMap<ClassId, Stamp>,
    locations: FxHashMap<LocationId, Box<Stamp>>,
    locks: Vec<LockClocks>,
    log: Vec<Edge>,
    log_is_whole: bool,
    seen: FxHashMap<(ThreadId, LocationId), Moment>,
    history: History,
    /// For each thread, the classes whose initialisation it is known to come after.
    uses: Vec<Vec<bool>>,
    epoch: u32,
    /// The clocks that the batch in the making refers to.
    pub(crate) hard_snapshots: Snapshots,
    pub(crate) full_snapshots: Snapshots,
}

impl Order {
    /// Keeps what is asked for.
    pub fn new(kept: Kept) -> Self {
        let log_is_whole = kept.history;
        Order {
            kept,
            log_is_whole,
            ..Order::default()
        }
    }

    /// Whether anything is kept at all.
    #[inline]
    pub fn is_kept(&self) -> bool {
        self.kept.hard || self.kept.full
    }

    /// Makes room for a thread.
    #[inline]
    pub fn ensure(&mut self, thread: ThreadId) {
        if self.threads.len() <= thread.index() {
            self.grow(thread);
        }
    }

    #[cold]
    fn grow(&mut self, thread: ThreadId) {
        for i in self.threads.len()..=thread.index() {
            let mut clocks = Clocks::default();
            let own = ThreadId::from(i);
            clocks.hard.set(own, 1);
            clocks.bare.set(own, 1);
            clocks.full.set(own, 1);
            self.threads.push(clocks);
            self.begun.push(false);
            self.history.grow();
            self.uses.push(Vec::new());
        }
    }

    /// What a thread knows now.
    #[inline]
    pub fn of(&self, thread: ThreadId) -> &Clocks {
        &self.threads[thread.index()]
    }

    /// The thread's present in the hard order.
    #[inline]
    pub fn now(&self, thread: ThreadId) -> Moment {
        Moment {
            thread,
            time: self.of(thread).hard.get(thread),
        }
    }

    /// The thread's present in the full order.
    #[inline]
    pub fn full_now(&self, thread: ThreadId) -> Moment {
        Moment {
            thread,
            time: self.of(thread).full.get(thread),
        }
    }

    /// What the thread knows now of the hard order, for the batch in the making.
    #[inline]
    pub(crate) fn hard_snapshot(&mut self, thread: ThreadId) -> Snapshot {
        if !self.kept.hard {
            return Snapshot::default();
        }
        self.hard_snapshots.take(thread, &self.threads[thread.index()].hard)
    }

    /// What the thread knows now of the full order, for the batch in the making.
    #[inline]
    pub(crate) fn full_snapshot(&mut self, thread: ThreadId) -> Snapshot {
        if !self.kept.full {
            return Snapshot::default();
        }
        self.full_snapshots.take(thread, &self.threads[thread.index()].full)
    }

    #[inline]
    fn hard_changed(&mut self, thread: ThreadId) {
        self.history.moved(thread);
        self.epoch = self.epoch.wrapping_add(1);
        self.hard_snapshots.changed(thread);
    }

    /// How often a clock of the hard order has changed.
    #[inline]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The id of what the thread knows now; only with `history`.
    #[inline]
    pub fn clock_id(&mut self, thread: ThreadId) -> ClockId {
        if !self.kept.history {
            return ClockId::default();
        }
        self.history
            .present(thread, &self.threads[thread.index()], self.log.len())
    }

    /// Remembered clocks.
    #[inline]
    pub fn past(&self, id: ClockId) -> Past<'_> {
        self.history.past(id)
    }

    /// How many moments were taken for an earlier one of their thread, because there were too many.
    pub fn coarse(&self) -> u64 {
        self.history.coarse()
    }

    /// Whether an event of thread `a` with clock `at_a` comes before an event of thread `b` with clock `at_b`, by hard
    /// order less the edges through `without`; and how many edges were looked
    /// at, or `usize::MAX` if there were too many to know. For events of one thread, answers whether `a`'s time is not the later.
    pub fn before_without(
        &self,
        a: (ThreadId, ClockId),
        b: (ThreadId, ClockId),
        without: &[LocationId],
    ) -> (bool, usize) {
        let (ca, cb) = (self.past(a.1), self.past(b.1));
        let moment = Moment {
            thread: a.0,
            time: ca.hard.get(a.0),
        };
        if cb.bare.knows(moment) {
            return (true, 0);
        }
        if !cb.hard.knows(moment) {
            return (false, 0);
        }
        if !self.log_is_whole {
            return (false, usize::MAX);
        }
        // Edges on a way from one to the other were noted after the first clock was taken and before the second.
        let (from, to) = (self.history.noted(a.1), self.history.noted(b.1));
        let log = &self.log[from.min(to)..to];
        let mut reached = vec![0u32; self.threads.len()];
        reached[b.0.index()] = cb.hard.get(b.0);
        for edge in log.iter().rev() {
            if edge.via.is_some_and(|l| without.contains(&l)) {
                continue;
            }
            if reached[edge.to.thread.index()] >= edge.to.time {
                let time = &mut reached[edge.from.thread.index()];
                *time = (*time).max(edge.from.time);
            }
        }
        (reached[a.0.index()] >= moment.time, log.len())
    }

    fn stamp(&self, thread: ThreadId) -> Stamp {
        Stamp {
            origin: self.now(thread),
            full_origin: self.full_now(thread),
            clocks: self.of(thread).clone(),
        }
    }

    /// Ends the present moment of a thread, after it has sent something.
    fn advance(&mut self, thread: ThreadId) {
        let i = thread.index();
        let clocks = &mut self.threads[i];
        if self.kept.hard {
            let time = clocks.hard.get(thread) + 1;
            clocks.hard.set(thread, time);
            clocks.bare.set(thread, time);
        }
        if self.kept.full {
            let time = clocks.full.get(thread) + 1;
            clocks.full.set(thread, time);
            self.full_snapshots.changed(thread);
        }
        if self.kept.hard {
            self.hard_changed(thread);
        }
    }

    fn receive(&mut self, thread: ThreadId, stamp: &Stamp, via: Option<LocationId>) {
        let i = thread.index();
        // A location gathers all its writers in the full order, so knowing the last of them is not knowing all.
        if self.kept.full && (via.is_some() || !self.threads[i].full.knows(stamp.full_origin)) {
            self.threads[i].full.join(&stamp.clocks.full);
            self.full_snapshots.changed(thread);
        }
        if !self.kept.hard || self.threads[i].bare.knows(stamp.origin) {
            return;
        }
        if !self.threads[i].hard.knows(stamp.origin) || via.is_none() {
            self.learn(thread, &stamp.clocks, std::slice::from_ref(&stamp.origin), via);
        } else if self.kept.history {
            // Known already, but through locations that a query may leave out: the log needs this edge as well, once.
            self.note_again(thread, stamp.origin, via);
        }
    }

    fn note_again(&mut self, thread: ThreadId, origin: Moment, via: Option<LocationId>) {
        let Some(location) = via else { return };
        if self.seen.insert((thread, location), origin) != Some(origin) {
            self.note(thread, &[origin], via);
        }
    }

    fn learn(&mut self, thread: ThreadId, clocks: &Clocks, origins: &[Moment], via: Option<LocationId>) {
        let i = thread.index();
        if self.threads[i].join(clocks, via.is_some()) || via.is_none() {
            self.history.learned(thread);
            self.hard_snapshots.changed(thread);
            self.note(thread, origins, via);
        }
    }

    /// Begins a new moment, so that what the thread did before the edge is told from what it does after, and logs it.
    fn note(&mut self, thread: ThreadId, origins: &[Moment], via: Option<LocationId>) {
        let i = thread.index();
        let time = self.threads[i].hard.get(thread) + 1;
        self.threads[i].hard.set(thread, time);
        self.threads[i].bare.set(thread, time);
        self.hard_changed(thread);
        if !self.kept.history {
            return;
        }
        if self.log.len() + origins.len() > LOG_LIMIT {
            self.log_is_whole = false;
            return;
        }
        let to = Moment { thread, time };
        let edges = origins.iter().filter(|from| from.thread != thread);
        self.log.extend(edges.map(|&from| Edge { from, to, via }));
    }

    /// A thread starts another.
    pub fn fork(&mut self, thread: ThreadId, child: ThreadId) {
        self.ensure(child);
        let stamp = self.stamp(thread);
        self.forked.insert(child, stamp);
        self.advance(thread);
    }

    /// The first event of a thread that this has not yet been told of.
    #[inline]
    pub fn begin(&mut self, thread: ThreadId) {
        if !self.begun[thread.index()] {
            self.begun[thread.index()] = true;
            if let Some(stamp) = self.forked.remove(&thread) {
                self.receive(thread, &stamp, None);
            }
        }
    }

    /// A thread's last event.
    pub fn end(&mut self, thread: ThreadId) {
        let stamp = self.stamp(thread);
        self.ended.insert(thread, stamp);
        self.advance(thread);
    }

    /// A thread has seen the end of another. If the trace has no end for it, its last event stands in.
    pub fn join(&mut self, thread: ThreadId, child: ThreadId) {
        self.ensure(child);
        let stamp = self.ended.get(&child).cloned().unwrap_or_else(|| self.stamp(child));
        self.receive(thread, &stamp, None);
    }

    /// A thread begins to wait.
    pub fn wait(&mut self, thread: ThreadId, lock: LockId, index: u64) {
        let waiting = self.waiting.entry(lock).or_default();
        waiting.waiters.retain(|w| w.0 != thread);
        waiting.waiters.push((thread, index, None));
    }

    /// A thread wakes others.
    pub fn notify(&mut self, thread: ThreadId, lock: LockId, all: bool, index: u64) {
        let stamp = Box::new(self.stamp(thread));
        let waiting = self.waiting.entry(lock).or_default();
        if all {
            for waiter in &mut waiting.waiters {
                waiter.2.get_or_insert_with(|| stamp.clone());
            }
        } else if !waiting.waiters.is_empty() {
            waiting.single.push((index, stamp));
        }
        self.advance(thread);
    }

    /// A waiter goes on: after the `notifyAll` that reached it or else after the oldest single notification that came
    /// during its wait and that no other waiter has taken.
    pub fn resume(&mut self, thread: ThreadId, lock: LockId, notified: bool) {
        let Some(waiting) = self.waiting.get_mut(&lock) else {
            return;
        };
        let Some(i) = waiting.waiters.iter().position(|w| w.0 == thread) else {
            return;
        };
        let (_, since, by_all) = waiting.waiters.remove(i);
        let mut stamp = None;
        if notified {
            stamp = by_all;
            if stamp.is_none() {
                let taken = waiting.single.iter().position(|(index, _)| *index > since);
                stamp = taken.map(|j| waiting.single.remove(j).1);
            }
        }
        if waiting.waiters.is_empty() {
            waiting.single.clear();
        }
        if let Some(stamp) = stamp {
            self.receive(thread, &stamp, None);
        }
    }

    /// The release half of other synchronisation.
    pub fn send(&mut self, thread: ThreadId, sync: SyncId) {
        let stamp = self.stamp(thread);
        self.syncs.entry(sync).or_default().add(&stamp);
        self.advance(thread);
    }

    /// The acquire half.
    pub fn receive_sync(&mut self, thread: ThreadId, sync: SyncId) {
        let Some(gathered) = self.syncs.remove(&sync) else {
            return;
        };
        if self.kept.full {
            self.threads[thread.index()].full.join(&gathered.clocks.full);
            self.full_snapshots.changed(thread);
        }
        if self.kept.hard {
            self.learn(thread, &gathered.clocks, &gathered.origins, None);
        }
        self.syncs.insert(sync, gathered);
    }

    /// A class is initialised.
    pub fn initialized(&mut self, thread: ThreadId, class: ClassId) {
        let stamp = self.stamp(thread);
        self.classes.insert(class, stamp);
        for uses in &mut self.uses {
            if let Some(known) = uses.get_mut(class.index()) {
                *known = false;
            }
        }
        self.advance(thread);
    }

    /// A thread uses a class.
    #[inline]
    pub fn uses(&mut self, thread: ThreadId, class: ClassId) {
        let known = self.uses[thread.index()].get(class.index());
        if self.classes.is_empty() || known.is_some_and(|known| *known) {
            return;
        }
        self.uses_initialized(thread, class);
    }

    fn uses_initialized(&mut self, thread: ThreadId, class: ClassId) {
        let Some(stamp) = self.classes.get(&class) else { return };
        let uses = &mut self.uses[thread.index()];
        if uses.len() <= class.index() {
            uses.resize(class.index() + 1, false);
        }
        uses[class.index()] = true;
        let clocks = &self.threads[thread.index()];
        let known = (!self.kept.hard || clocks.hard.knows(stamp.origin) && clocks.bare.knows(stamp.origin))
            && (!self.kept.full || clocks.full.knows(stamp.full_origin));
        if !known {
            let stamp = stamp.clone();
            self.receive(thread, &stamp, None);
        }
    }

    /// A read of a volatile or modelled location.
    pub fn read_location(&mut self, thread: ThreadId, location: LocationId) {
        let Some(stamp) = self.locations.remove(&location) else {
            return;
        };
        self.receive(thread, &stamp, Some(location));
        self.locations.insert(location, stamp);
    }

    /// A write of a volatile or modelled location. The hard order remembers this write alone, the full order all.
    pub fn write_location(&mut self, thread: ThreadId, location: LocationId) {
        let clocks = &self.threads[thread.index()];
        let (origin, full_origin) = (self.now(thread), self.full_now(thread));
        match self.locations.get_mut(&location) {
            Some(stamp) => {
                stamp.origin = origin;
                stamp.clocks.hard.0.clone_from(&clocks.hard.0);
                stamp.clocks.bare.0.clone_from(&clocks.bare.0);
                stamp.full_origin = full_origin;
                stamp.clocks.full.join(&clocks.full);
            }
            None => {
                let stamp = Stamp {
                    origin,
                    full_origin,
                    clocks: clocks.clone(),
                };
                self.locations.insert(location, Box::new(stamp));
            }
        }
        self.advance(thread);
    }

    fn lock_clocks(&mut self, lock: LockId) -> &mut LockClocks {
        if self.locks.len() <= lock.index() {
            self.locks.resize_with(lock.index() + 1, LockClocks::default);
        }
        &mut self.locks[lock.index()]
    }

    /// A lock is taken: after its exclusive holders and, if alone, its readers.
    pub fn acquire(&mut self, thread: ThreadId, lock: LockId, mode: Mode) {
        if !self.kept.full {
            return;
        }
        self.lock_clocks(lock);
        let clocks = &self.locks[lock.index()];
        let full = &mut self.threads[thread.index()].full;
        full.join(&clocks.exclusive);
        if mode == Mode::Exclusive {
            full.join(&clocks.shared);
        }
        self.full_snapshots.changed(thread);
    }

    /// A lock is given up.
    pub fn release(&mut self, thread: ThreadId, lock: LockId, mode: Mode) {
        if !self.kept.full {
            return;
        }
        self.lock_clocks(lock);
        let clocks = &mut self.locks[lock.index()];
        let full = &mut self.threads[thread.index()].full;
        match mode {
            Mode::Exclusive => clocks.exclusive.0.clone_from(&full.0),
            Mode::Shared => {
                clocks.shared.join(full);
            }
        }
        let time = full.get(thread) + 1;
        full.set(thread, time);
        self.full_snapshots.changed(thread);
    }
}
