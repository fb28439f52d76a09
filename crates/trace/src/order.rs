//! Which earlier events an event comes after: the one place that derives happens-before from the kinds of events.
//!
//! | rule | comes after | event | order |
//! |---|---|---|---|
//! | program | every earlier event of the thread | every event | hard |
//! | [fork](EdgeRule::Fork) | `fork t` | the first event of `t`; `join t`, if `t` has no event | hard |
//! | [join](EdgeRule::Join) | the last event of `t` | `join t` | hard |
//! | [limited join](EdgeRule::LimitedJoin) | the last event of `t` | `join t` by a wait with a short limit | full |
//! | [notify](EdgeRule::Notify) | the notification that [`WaitSet`] pairs with the wait | `resume m`, notified | hard |
//! | [send](EdgeRule::Send) | every earlier `send s` | `receive s` | hard |
//! | [class](EdgeRule::Class) | `initialized C` | a thread's next use of `C`: an event in its code, an entry of one of its methods, an access to one of its static fields | hard |
//! | [volatile](EdgeRule::Volatile) | the last write of the location | a read of a synchronising location, or at a site whose [mode](crate::AccessMode) acquires; such a write, or one whose mode releases | hard, unless the location is the pattern's own |
//! | [earlier volatile](EdgeRule::EarlierVolatile) | the earlier writes of the location | the same | full |
//! | [lock](EdgeRule::Lock) | every earlier exclusive release of `m` (`wait m` is one) | `acquire m`, `resume m` | full |
//! | [lock](EdgeRule::Lock) | every earlier shared release of `m` | `acquire m` alone, `resume m` | full |
//!
//! An update reads and then writes. Readers of a shared lock do not order each other, as `ReadWriteLock` promises nothing among
//! them. Not every use of a class is an event (the read of a constant is none), so the class rule gives an edge at the first use
//! that the trace shows: an analysis that must not miss an edge treats `initialized C` itself as a barrier.
//!
//! The edges are reported in terms of [`Channel`]s: an event *comes after* all that was sent into a channel before it, and *sends*
//! into channels. What a consumer keeps per channel is its own affair: the analyses keep vector clocks, because they ask about
//! any two events of a long trace; schedules keep the numbers of events ([`EventEdges`]).
//!
//! Brute force in tests keeps definitions of its own, on purpose: `crates/schedule/tests/brute_force.rs` and the oracle of
//! `crates/analysis` would otherwise repeat a mistake made here.
//!
//! Memory: a bit for each thread and class in use, and the threads that wait.

mod events;
mod waiting;

use rustc_hash::FxHashMap;

use crate::event::{Event, Mode, Op};
use crate::ids::{ClassId, LocationId, LockId, SiteId, SyncId, ThreadId};
use crate::names::{Location, Names};

pub use events::EventEdges;
pub use waiting::{Notification, WaitSet, Wake};

/// Why one event comes after another one of another thread; see the [table](self).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EdgeRule {
    /// A thread begins after it was started.
    Fork,
    /// What sees the end of a thread comes after all of it.
    Join,
    /// The same where the limit of the wait could have ended it as well.
    LimitedJoin,
    /// A waiter goes on after the notification that chose it.
    Notify,
    /// A waiter goes on after a notification that was expected to choose another waiter.
    NotifyOther,
    /// The acquire half of other synchronisation comes after every release half.
    Send,
    /// A class is used after it was initialised.
    Class,
    /// A read of a volatile or modelled location comes after the last write.
    Volatile,
    /// Such a read also comes after the writes before the last.
    EarlierVolatile,
    /// A lock is taken after it was given up.
    Lock,
}

impl EdgeRule {
    /// Whether the edge is part of the hard order, which a reordering must keep, or of the full order only.
    pub fn is_hard(self) -> bool {
        !matches!(self, EdgeRule::LimitedJoin | EdgeRule::EarlierVolatile | EdgeRule::Lock)
    }
}

/// Where the sending and the receiving end of an edge meet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Channel {
    /// The start of this thread: the last sent counts.
    Fork(ThreadId),
    /// The last event of this thread. Every event of the thread sends into it, which is not reported.
    Thread(ThreadId),
    /// One notification.
    Notify(Notification),
    /// A synchronisation object: everything sent counts.
    Send(SyncId),
    /// A class: the last sent counts.
    Class(ClassId),
    /// A location: the last sent counts for the hard order, everything sent for the full order.
    Location(LocationId),
    /// Exclusive releases of a lock: the last sent counts, because it came after the others.
    Exclusive(LockId),
    /// Shared releases of a lock: everything sent counts.
    Shared(LockId),
}

/// The threads that wait with one lock, and the notifications that somebody may still need.
#[derive(Clone, Debug, Default)]
struct Waiting {
    set: WaitSet,
    given: Vec<Notification>,
}

/// The rules, event by event. For each event, first [`Edges::comes_after`], then [`Edges::sends`].
#[derive(Clone, Debug, Default)]
pub struct Edges {
    /// Threads that had an event.
    begun: Vec<bool>,
    waiting: FxHashMap<LockId, Waiting>,
    /// Waits and notifications so far: what numbers them.
    moments: u64,
    /// Notifications that no waiter needs any more.
    forgotten: Vec<Notification>,
    /// Classes that were initialised.
    initialized: Vec<bool>,
    any_initialized: bool,
    /// For each thread, the classes whose initialisation it is known to come after.
    uses: Vec<Vec<bool>>,
}

impl Edges {
    /// Reports the channels that this event comes after.
    pub fn comes_after(&mut self, event: &Event, names: &Names, mut out: impl FnMut(EdgeRule, Channel)) {
        let thread = event.thread;
        self.begins(thread, &mut out);
        self.runs_at(thread, event.site, names, &mut out);
        match event.op {
            Op::Read { location, .. } | Op::Write { location, .. } | Op::Update { location, .. } => {
                if let Some(class) = static_class(names, location) {
                    self.uses(thread, class, &mut out);
                }
                if event.op.is_read() && acquires(names, event, location) {
                    self.reads(location, &mut out);
                }
            }
            _ => self.other(event, names, &mut out),
        }
    }

    /// The rules for an event that is no access, apart from [`Edges::begins`] and [`Edges::runs_at`].
    #[inline]
    pub fn other(&mut self, event: &Event, names: &Names, mut out: impl FnMut(EdgeRule, Channel)) {
        let thread = event.thread;
        match event.op {
            Op::Acquire { lock, mode } => {
                out(EdgeRule::Lock, Channel::Exclusive(lock));
                if mode == Mode::Exclusive {
                    out(EdgeRule::Lock, Channel::Shared(lock));
                }
            }
            Op::Resume { lock, notified } => {
                self.resumes(thread, lock, notified, &mut out);
                out(EdgeRule::Lock, Channel::Exclusive(lock));
                out(EdgeRule::Lock, Channel::Shared(lock));
            }
            Op::Join { child, limited } if child != thread => match (self.begun.get(child.index()), limited) {
                (Some(true), false) => out(EdgeRule::Join, Channel::Thread(child)),
                (Some(true), true) => out(EdgeRule::LimitedJoin, Channel::Thread(child)),
                _ => out(EdgeRule::Fork, Channel::Fork(child)),
            },
            Op::Receive { sync } => out(EdgeRule::Send, Channel::Send(sync)),
            Op::Enter { method } => {
                if let Some(method) = names.methods.get(method.index()) {
                    self.uses(thread, method.class, &mut out);
                }
            }
            // Accesses, sends and the events that order no threads.
            Op::Read { .. }
            | Op::Write { .. }
            | Op::Update { .. }
            | Op::Release { .. }
            | Op::Wait { .. }
            | Op::Notify { .. }
            | Op::Fork { .. }
            | Op::Begin
            | Op::End { .. }
            | Op::Join { .. }
            | Op::Send { .. }
            | Op::Exit { .. }
            | Op::Call
            | Op::Initialized { .. }
            | Op::UnitBegin
            | Op::UnitEnd
            | Op::Returned { .. } => {}
        }
    }

    /// The rule for a thread's first event.
    #[inline]
    pub fn begins(&mut self, thread: ThreadId, mut out: impl FnMut(EdgeRule, Channel)) {
        match self.begun.get(thread.index()) {
            Some(true) => {}
            _ => {
                self.begin(thread);
                out(EdgeRule::Fork, Channel::Fork(thread));
            }
        }
    }

    /// A thread that has ended stands for another one from now on: its next event is a first event.
    pub fn restart(&mut self, thread: ThreadId) {
        if let Some(begun) = self.begun.get_mut(thread.index()) {
            *begun = false;
        }
    }

    #[cold]
    fn begin(&mut self, thread: ThreadId) {
        if self.begun.len() <= thread.index() {
            self.begun.resize(thread.index() + 1, false);
        }
        self.begun[thread.index()] = true;
    }

    /// The rule for an event in the code of a class.
    #[inline]
    pub fn runs_at(&mut self, thread: ThreadId, site: SiteId, names: &Names, out: impl FnMut(EdgeRule, Channel)) {
        if !self.any_initialized || site.0 == 0 {
            return;
        }
        let method = names.sites.get(site.index()).map(|site| site.method.index());
        if let Some(method) = method.and_then(|method| names.methods.get(method)) {
            self.uses(thread, method.class, out);
        }
    }

    /// The rule for a use of a class.
    #[inline]
    pub fn uses(&mut self, thread: ThreadId, class: ClassId, mut out: impl FnMut(EdgeRule, Channel)) {
        if !self.initialized.get(class.index()).is_some_and(|done| *done) {
            return;
        }
        let known = self.uses.get(thread.index()).and_then(|uses| uses.get(class.index()));
        if !known.is_some_and(|known| *known) {
            self.note_use(thread, class);
            out(EdgeRule::Class, Channel::Class(class));
        }
    }

    #[cold]
    fn note_use(&mut self, thread: ThreadId, class: ClassId) {
        if self.uses.len() <= thread.index() {
            self.uses.resize_with(thread.index() + 1, Vec::new);
        }
        let uses = &mut self.uses[thread.index()];
        if uses.len() <= class.index() {
            uses.resize(class.index() + 1, false);
        }
        uses[class.index()] = true;
    }

    /// The rule for a read of a synchronising location.
    #[inline]
    pub fn reads(&self, location: LocationId, mut out: impl FnMut(EdgeRule, Channel)) {
        out(EdgeRule::Volatile, Channel::Location(location));
        out(EdgeRule::EarlierVolatile, Channel::Location(location));
    }

    /// The rule for a write of a synchronising location: where it sends.
    #[inline]
    pub fn writes(&self, location: LocationId, mut out: impl FnMut(Channel)) {
        out(Channel::Location(location));
    }

    fn resumes(&mut self, thread: ThreadId, lock: LockId, notified: bool, out: &mut impl FnMut(EdgeRule, Channel)) {
        let Some(waiting) = self.waiting.get_mut(&lock) else {
            return;
        };
        match waiting.set.resume(thread, notified) {
            Wake::Chosen(by) => out(EdgeRule::Notify, Channel::Notify(by)),
            Wake::Other(by) => out(EdgeRule::NotifyOther, Channel::Notify(by)),
            Wake::Nothing => {}
        }
        let (set, forgotten) = (&waiting.set, &mut self.forgotten);
        waiting.given.retain(|given| {
            let needed = set.needs(*given);
            if !needed {
                forgotten.push(*given);
            }
            needed
        });
        if set.is_empty() {
            self.waiting.remove(&lock);
        }
    }

    /// Notifications that are reported no more, after a `resume`. Consumers that keep something for each drop it.
    #[inline]
    pub fn forgotten(&mut self) -> impl Iterator<Item = Notification> + '_ {
        self.forgotten.drain(..)
    }

    /// Reports the channels that this event sends into.
    pub fn sends(&mut self, event: &Event, names: &Names, mut out: impl FnMut(Channel)) {
        match event.op {
            Op::Write { location, .. } | Op::Update { location, .. } if releases(names, event, location) => {
                self.writes(location, out);
            }
            Op::Release { lock, mode } => out(match mode {
                Mode::Exclusive => Channel::Exclusive(lock),
                Mode::Shared => Channel::Shared(lock),
            }),
            Op::Wait { lock } => {
                self.moments += 1;
                let since = self.moments;
                self.waiting.entry(lock).or_default().set.wait(event.thread, since);
                out(Channel::Exclusive(lock));
            }
            Op::Notify { lock, all } => {
                // Without a waiter, a notification is lost.
                if let Some(waiting) = self.waiting.get_mut(&lock) {
                    self.moments += 1;
                    let given = Notification(self.moments);
                    waiting.set.notify(given, all);
                    if waiting.set.needs(given) {
                        waiting.given.push(given);
                        out(Channel::Notify(given));
                    }
                }
            }
            Op::Fork { child } => out(Channel::Fork(child)),
            Op::Send { sync } => out(Channel::Send(sync)),
            Op::Initialized { class } => {
                self.initialize(event.thread, class);
                out(Channel::Class(class));
            }
            // Accesses that release nothing, what only receives, and the events that order no threads.
            Op::Read { .. }
            | Op::Write { .. }
            | Op::Update { .. }
            | Op::Acquire { .. }
            | Op::Resume { .. }
            | Op::Begin
            | Op::End { .. }
            | Op::Join { .. }
            | Op::Receive { .. }
            | Op::Enter { .. }
            | Op::Exit { .. }
            | Op::Call
            | Op::UnitBegin
            | Op::UnitEnd
            | Op::Returned { .. } => {}
        }
    }

    fn initialize(&mut self, thread: ThreadId, class: ClassId) {
        if self.initialized.len() <= class.index() {
            self.initialized.resize(class.index() + 1, false);
        }
        self.initialized[class.index()] = true;
        self.any_initialized = true;
        for uses in &mut self.uses {
            if let Some(known) = uses.get_mut(class.index()) {
                *known = false;
            }
        }
        self.note_use(thread, class);
    }
}

/// Whether accesses to a location order threads. A location without a name does not.
fn is_synchronizing(names: &Names, location: LocationId) -> bool {
    location.index() < names.locations.len() && names.is_synchronizing(location)
}

/// Whether a read comes after the writes that it saw.
fn acquires(names: &Names, event: &Event, location: LocationId) -> bool {
    is_synchronizing(names, location) || names.access_mode(event.site).is_some_and(|mode| mode.acquires)
}

/// Whether reads that see a write come after it.
fn releases(names: &Names, event: &Event, location: LocationId) -> bool {
    is_synchronizing(names, location) || names.access_mode(event.site).is_some_and(|mode| mode.releases)
}

/// The class whose static field a location is.
fn static_class(names: &Names, location: LocationId) -> Option<ClassId> {
    match names.locations.get(location.index()) {
        Some(Location::Static(field)) => names.fields.get(field.index()).map(|field| field.class),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
