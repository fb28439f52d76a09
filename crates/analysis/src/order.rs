//! Who comes before whom: vector clocks for the hard order and the full order of DESIGN's words.
//!
//! Which events order which is decided by the rules of [`ravel_trace::order`]; here the edges that they report become clocks.
//! A channel of the rules keeps a [`Stamp`], the clocks of its senders.
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
use ravel_trace::order::{Channel, EdgeRule, Edges, Notification};
use ravel_trace::{ClassId, Event, LocationId, LockId, Names, Op, SiteId, SyncId, ThreadId};
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
    edges: Edges,
    known: Known,
}

/// What threads know, and what is known at the sending ends of edges.
#[derive(Debug, Default)]
struct Known {
    kept: Kept,
    threads: Vec<Clocks>,
    forked: FxHashMap<ThreadId, Stamp>,
    notified: FxHashMap<Notification, Box<Stamp>>,
    syncs: FxHashMap<SyncId, Gathered>,
    classes: FxHashMap<ClassId, Stamp>,
    locations: FxHashMap<LocationId, Box<Stamp>>,
    locks: Vec<LockClocks>,
    log: Vec<Edge>,
    log_is_whole: bool,
    seen: FxHashMap<(ThreadId, LocationId), Moment>,
    history: History,
    epoch: u32,
    /// The clocks that the batch in the making refers to.
    hard_snapshots: Snapshots,
    full_snapshots: Snapshots,
}

impl Order {
    /// Keeps what is asked for.
    pub fn new(kept: Kept) -> Self {
        Order {
            edges: Edges::default(),
            known: Known {
                kept,
                log_is_whole: kept.history,
                ..Known::default()
            },
        }
    }

    /// Whether anything is kept at all.
    #[inline]
    pub fn is_kept(&self) -> bool {
        self.known.kept.hard || self.known.kept.full
    }

    /// Makes room for a thread.
    #[inline]
    pub fn ensure(&mut self, thread: ThreadId) {
        self.known.ensure(thread);
    }

    /// A thread has an event, its first perhaps.
    #[inline]
    pub fn begin(&mut self, thread: ThreadId) {
        let known = &mut self.known;
        self.edges
            .begins(thread, |_, channel| known.comes_after(thread, channel));
    }

    /// An event that is no access: what it comes after.
    pub fn before(&mut self, event: &Event, names: &Names) {
        let (thread, known) = (event.thread, &mut self.known);
        let mut after = |rule, channel| match (rule, channel) {
            (EdgeRule::LimitedJoin, Channel::Thread(child)) => known.sees_end(thread, child),
            _ => known.comes_after(thread, channel),
        };
        self.edges.runs_at(thread, event.site, names, &mut after);
        self.edges.other(event, names, after);
        if matches!(event.op, Op::Resume { .. }) {
            for notification in self.edges.forgotten() {
                self.known.notified.remove(&notification);
            }
        }
    }

    /// An event that is no access: what comes after it.
    pub fn after(&mut self, event: &Event, names: &Names) {
        let (thread, known) = (event.thread, &mut self.known);
        self.edges.sends(event, names, |channel| known.sends(thread, channel));
    }

    /// A thread runs code of a class.
    #[inline]
    pub fn runs_at(&mut self, thread: ThreadId, site: SiteId, names: &Names) {
        let known = &mut self.known;
        self.edges
            .runs_at(thread, site, names, |_, channel| known.comes_after(thread, channel));
    }

    /// A thread accesses a static field of a class.
    #[inline]
    pub fn uses(&mut self, thread: ThreadId, class: ClassId) {
        let known = &mut self.known;
        self.edges
            .uses(thread, class, |_, channel| known.comes_after(thread, channel));
    }

    /// A read of a volatile or modelled location. One stamp has both the last write and, for the full order, all of them.
    pub fn read_location(&mut self, thread: ThreadId, location: LocationId) {
        let known = &mut self.known;
        self.edges.reads(location, |rule, channel| {
            if rule == EdgeRule::Volatile {
                known.comes_after(thread, channel);
            }
        });
    }

    /// A write of a volatile or modelled location.
    pub fn write_location(&mut self, thread: ThreadId, location: LocationId) {
        let known = &mut self.known;
        self.edges.writes(location, |channel| known.sends(thread, channel));
    }

    /// What a thread knows now.
    #[inline]
    pub fn of(&self, thread: ThreadId) -> &Clocks {
        self.known.of(thread)
    }

    /// The thread's present in the hard order.
    #[inline]
    pub fn now(&self, thread: ThreadId) -> Moment {
        self.known.now(thread)
    }

    /// The thread's present in the full order.
    #[inline]
    pub fn full_now(&self, thread: ThreadId) -> Moment {
        self.known.full_now(thread)
    }

    /// The thread's present, as [`Order::knows_without_locations`] compares it.
    pub(crate) fn now_without_locations(&self, thread: ThreadId) -> Moment {
        Moment {
            thread,
            time: self
                .known
                .threads
                .get(thread.index())
                .map_or(0, |clocks| clocks.bare.get(thread)),
        }
    }

    /// Whether a thread knows of a moment by edges that go through no location.
    pub(crate) fn knows_without_locations(&self, thread: ThreadId, moment: Moment) -> bool {
        let known = self.known.threads.get(thread.index());
        known.is_some_and(|clocks| clocks.bare.knows(moment))
    }

    /// A thread that has ended begins again: its next event is the first after a fork, in a new moment.
    pub(crate) fn restart(&mut self, thread: ThreadId) {
        self.edges.restart(thread);
        self.known.advance(thread);
    }

    /// What the thread knows now of the hard order, for the batch in the making.
    #[inline]
    pub(crate) fn hard_snapshot(&mut self, thread: ThreadId) -> Snapshot {
        if !self.known.kept.hard {
            return Snapshot::default();
        }
        self.known
            .hard_snapshots
            .take(thread, &self.known.threads[thread.index()].hard)
    }

    /// What the thread knows now of the full order, for the batch in the making.
    #[inline]
    pub(crate) fn full_snapshot(&mut self, thread: ThreadId) -> Snapshot {
        if !self.known.kept.full {
            return Snapshot::default();
        }
        self.known
            .full_snapshots
            .take(thread, &self.known.threads[thread.index()].full)
    }

    /// How often a clock of the hard order has changed.
    #[inline]
    pub fn epoch(&self) -> u32 {
        self.known.epoch
    }

    /// The id of what the thread knows now; only with `history`.
    #[inline]
    pub fn clock_id(&mut self, thread: ThreadId) -> ClockId {
        if !self.known.kept.history {
            return ClockId::default();
        }
        let known = &mut self.known;
        known
            .history
            .present(thread, &known.threads[thread.index()], known.log.len())
    }

    /// Remembered clocks.
    #[inline]
    pub fn past(&self, id: ClockId) -> Past<'_> {
        self.known.history.past(id)
    }

    /// How many moments were taken for an earlier one of their thread, because there were too many.
    pub fn coarse(&self) -> u64 {
        self.known.history.coarse()
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
        if !self.known.log_is_whole {
            return (false, usize::MAX);
        }
        // Edges on a way from one to the other were noted after the first clock was taken and before the second.
        let (from, to) = (self.known.history.noted(a.1), self.known.history.noted(b.1));
        let log = &self.known.log[from.min(to)..to];
        let mut reached = vec![0u32; self.known.threads.len()];
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

    /// Exchanges the clocks that the batch in the making refers to: those of the hard order and those of the full order.
    pub(crate) fn swap_snapshots(&mut self, hard: &mut Snapshots, full: &mut Snapshots) {
        std::mem::swap(hard, &mut self.known.hard_snapshots);
        std::mem::swap(full, &mut self.known.full_snapshots);
    }
}

impl Known {
    #[inline]
    fn ensure(&mut self, thread: ThreadId) {
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
            self.history.grow();
        }
    }

    #[inline]
    fn of(&self, thread: ThreadId) -> &Clocks {
        &self.threads[thread.index()]
    }

    #[inline]
    fn now(&self, thread: ThreadId) -> Moment {
        Moment {
            thread,
            time: self.of(thread).hard.get(thread),
        }
    }

    #[inline]
    fn full_now(&self, thread: ThreadId) -> Moment {
        Moment {
            thread,
            time: self.of(thread).full.get(thread),
        }
    }

    #[inline]
    fn hard_changed(&mut self, thread: ThreadId) {
        self.history.moved(thread);
        self.epoch = self.epoch.wrapping_add(1);
        self.hard_snapshots.changed(thread);
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

    /// Begins a new moment, which separates the thread's events before the edge from those after it, and logs it.
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

    /// What a channel holds comes before what the thread does from now on.
    #[inline]
    fn comes_after(&mut self, thread: ThreadId, channel: Channel) {
        match channel {
            Channel::Fork(child) if child == thread => {
                if let Some(stamp) = self.forked.remove(&child) {
                    self.receive(thread, &stamp, None);
                }
            }
            Channel::Fork(child) => {
                if let Some(stamp) = self.forked.get(&child).cloned() {
                    self.receive(thread, &stamp, None);
                }
            }
            Channel::Thread(child) => {
                let stamp = self.stamp(child);
                self.receive(thread, &stamp, None);
            }
            Channel::Notify(notification) => {
                if let Some(stamp) = self.notified.get(&notification).cloned() {
                    self.receive(thread, &stamp, None);
                }
            }
            Channel::Send(sync) => self.receive_sync(thread, sync),
            Channel::Class(class) => self.uses_initialized(thread, class),
            Channel::Location(location) => {
                if let Some(stamp) = self.locations.remove(&location) {
                    self.receive(thread, &stamp, Some(location));
                    self.locations.insert(location, stamp);
                }
            }
            Channel::Exclusive(lock) => self.takes(thread, lock, |clocks| &clocks.exclusive),
            Channel::Shared(lock) => self.takes(thread, lock, |clocks| &clocks.shared),
        }
    }

    /// A thread has seen the end of another one, in the full order alone.
    fn sees_end(&mut self, thread: ThreadId, child: ThreadId) {
        if !self.kept.full {
            return;
        }
        let ended = self.of(child).full.clone();
        if self.threads[thread.index()].full.join(&ended) {
            self.full_snapshots.changed(thread);
        }
    }

    /// A thread sends what it knows into a channel.
    #[inline]
    fn sends(&mut self, thread: ThreadId, channel: Channel) {
        match channel {
            Channel::Fork(child) => {
                self.ensure(child);
                let stamp = self.stamp(thread);
                self.forked.insert(child, stamp);
            }
            Channel::Thread(_) => {}
            Channel::Notify(notification) => {
                let stamp = Box::new(self.stamp(thread));
                self.notified.insert(notification, stamp);
            }
            Channel::Send(sync) => {
                let stamp = self.stamp(thread);
                self.syncs.entry(sync).or_default().add(&stamp);
            }
            Channel::Class(class) => {
                let stamp = self.stamp(thread);
                self.classes.insert(class, stamp);
            }
            Channel::Location(location) => self.write_location(thread, location),
            Channel::Exclusive(lock) => {
                return self.gives_up(thread, lock, |clocks, full| clocks.exclusive.clone_from(full));
            }
            Channel::Shared(lock) => {
                return self.gives_up(thread, lock, |clocks, full| {
                    clocks.shared.join(full);
                });
            }
        }
        self.advance(thread);
    }

    fn receive_sync(&mut self, thread: ThreadId, sync: SyncId) {
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

    fn uses_initialized(&mut self, thread: ThreadId, class: ClassId) {
        let Some(stamp) = self.classes.get(&class) else { return };
        let clocks = &self.threads[thread.index()];
        let known = (!self.kept.hard || clocks.hard.knows(stamp.origin) && clocks.bare.knows(stamp.origin))
            && (!self.kept.full || clocks.full.knows(stamp.full_origin));
        if !known {
            let stamp = stamp.clone();
            self.receive(thread, &stamp, None);
        }
    }

    /// The hard order remembers this write alone, the full order all.
    fn write_location(&mut self, thread: ThreadId, location: LocationId) {
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
    }

    fn lock_clocks(&mut self, lock: LockId) {
        if self.locks.len() <= lock.index() {
            self.locks.resize_with(lock.index() + 1, LockClocks::default);
        }
    }

    /// Learns what those who gave a lock up knew, in the full order.
    #[inline]
    fn takes(&mut self, thread: ThreadId, lock: LockId, sent: impl Fn(&LockClocks) -> &Clock) {
        if !self.kept.full {
            return;
        }
        if let Some(clocks) = self.locks.get(lock.index())
            && self.threads[thread.index()].full.join(sent(clocks))
        {
            self.full_snapshots.changed(thread);
        }
    }

    #[inline]
    fn gives_up(&mut self, thread: ThreadId, lock: LockId, send: impl Fn(&mut LockClocks, &Clock)) {
        if !self.kept.full {
            return;
        }
        self.lock_clocks(lock);
        let full = &mut self.threads[thread.index()].full;
        send(&mut self.locks[lock.index()], full);
        let time = full.get(thread) + 1;
        full.set(thread, time);
        self.full_snapshots.changed(thread);
    }
}
