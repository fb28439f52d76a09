//! Which waiter a notification wakes.
//!
//! A trace has the beginning of each wait, its end, and the notifications, but nothing that pairs a notification with the wait
//! that it ended. Three facts pair them:
//!
//! 1. **The longest waiting thread is chosen.** `Condition.signal` promises this, and HotSpot's `Object.notify` does it.
//!    `notifyAll` chooses all that still wait. A thread that was chosen no longer waits, though it goes on only once it has
//!    the lock: threads that were chosen may go on in any order, each after its own notification.
//! 2. **The trace is right.** If a thread that was not chosen goes on, notified, then a notification that was given while it
//!    waited has chosen it, and not the thread expected. This is common: a lock with two conditions has one wait set here. The
//!    oldest such notification is taken from the thread that was expected, which waits on.
//! 3. **A wait that timed out or was interrupted takes no notification.** If such a thread was expected to be chosen, the next
//!    longest waiting of the threads that waited at the time of the notification was chosen instead.
//!
//! The end of `Object.wait` with a time limit always looks notified, and so does a spurious wake-up: such a thread may take a
//! notification from the thread that it really woke. That thread, if no notification is left for it, comes after the first one
//! given while it waited: the real one was given then or later. A thread that goes on without any notification during its wait comes
//! after none.
//!
//! The machine that checks schedules uses the same set, so that the trace's own order is always one that it accepts.

use crate::ids::ThreadId;

/// The number of a notification: later waits and notifications have greater ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Notification(pub u64);

/// What ended a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wake {
    /// The notification that chose the thread.
    Chosen(Notification),
    /// A notification, given while the thread waited, that was expected to choose another thread.
    Other(Notification),
    /// No notification: a time-out, an interruption, or a wake-up without cause.
    Nothing,
}

#[derive(Clone, Debug)]
struct Waiter {
    thread: ThreadId,
    since: u64,
    /// The notification that chose it, and whether that chose all.
    chosen: Option<(Notification, bool)>,
    /// The first notification given while it waited.
    first: Option<Notification>,
}

impl Waiter {
    fn is_chosen_alone(&self) -> bool {
        matches!(self.chosen, Some((_, false)))
    }
}

/// The threads that wait with one lock, or were chosen and have yet to go on; longest waiting first.
#[derive(Clone, Debug, Default)]
pub struct WaitSet {
    waiters: Vec<Waiter>,
}

impl WaitSet {
    /// A thread begins to wait. `since` is greater than the numbers of all waits and notifications before.
    pub fn wait(&mut self, thread: ThreadId, since: u64) {
        self.waiters.retain(|waiter| waiter.thread != thread);
        self.waiters.push(Waiter {
            thread,
            since,
            chosen: None,
            first: None,
        });
    }

    /// A notification is given, to one thread or to all.
    pub fn notify(&mut self, given: Notification, all: bool) {
        let most = if all { usize::MAX } else { 1 };
        let free = self.waiters.iter_mut().filter(|waiter| waiter.chosen.is_none());
        for waiter in free.take(most) {
            waiter.chosen = Some((given, all));
        }
        for waiter in &mut self.waiters {
            waiter.first.get_or_insert(given);
        }
    }

    /// A thread goes on; `notified` is false if it is known that no notification ended its wait.
    pub fn resume(&mut self, thread: ThreadId, notified: bool) -> Wake {
        let Some(place) = self.waiters.iter().position(|waiter| waiter.thread == thread) else {
            return Wake::Nothing;
        };
        let waiter = self.waiters.remove(place);
        match (notified, waiter.chosen) {
            (true, Some((by, _))) => Wake::Chosen(by),
            (true, None) => match self.expected_elsewhere(&waiter) {
                Some(place) => self.waiters[place]
                    .chosen
                    .take()
                    .map_or(Wake::Nothing, |(by, _)| Wake::Other(by)),
                None => waiter.first.map_or(Wake::Nothing, Wake::Other),
            },
            (false, Some((by, false))) => {
                self.pass_on(by);
                Wake::Nothing
            }
            (false, _) => Wake::Nothing,
        }
    }

    /// The thread that was expected to be chosen by the oldest single notification given while `waiter` waited.
    fn expected_elsewhere(&self, waiter: &Waiter) -> Option<usize> {
        let given = |place: &usize| self.waiters[*place].chosen.map(|(by, _)| by);
        (0..self.waiters.len())
            .filter(|place| self.waiters[*place].is_chosen_alone())
            .filter(|place| given(place) > Some(Notification(waiter.since)))
            .min_by_key(given)
    }

    fn pass_on(&mut self, given: Notification) {
        let next = |waiter: &&mut Waiter| waiter.chosen.is_none() && waiter.since < given.0;
        if let Some(waiter) = self.waiters.iter_mut().find(next) {
            waiter.chosen = Some((given, false));
        }
    }

    /// Whether the thread was chosen.
    pub fn is_chosen(&self, thread: ThreadId) -> bool {
        self.waiter(thread).is_some_and(|waiter| waiter.chosen.is_some())
    }

    /// Whether a notification was given while the thread waited, to it or to another thread.
    pub fn may_be_chosen(&self, thread: ThreadId) -> bool {
        self.waiter(thread).is_some_and(|waiter| waiter.first.is_some())
    }

    fn waiter(&self, thread: ThreadId) -> Option<&Waiter> {
        self.waiters.iter().find(|waiter| waiter.thread == thread)
    }

    /// Whether the end of some wait may still come after this notification.
    pub fn needs(&self, given: Notification) -> bool {
        let is = |waiter: &Waiter| waiter.first == Some(given) || waiter.chosen.is_some_and(|(by, _)| by == given);
        self.waiters.iter().any(is)
    }

    /// Whether no thread waits.
    pub fn is_empty(&self) -> bool {
        self.waiters.is_empty()
    }

    /// The set without the numbers that tell how it came about: equal for sets that go on alike.
    pub fn shape(&self) -> Vec<usize> {
        let numbers = |waiter: &Waiter| {
            let chosen = waiter.chosen.map_or(0, |(by, _)| by.0);
            [waiter.since, chosen, waiter.first.map_or(0, |first| first.0)]
        };
        let mut known: Vec<u64> = self.waiters.iter().flat_map(numbers).collect();
        known.sort_unstable();
        known.dedup();
        let mut shape = Vec::with_capacity(5 * self.waiters.len());
        for waiter in &self.waiters {
            let alone = waiter.is_chosen_alone();
            let ranks = numbers(waiter).map(|number| known.partition_point(|other| *other < number));
            shape.extend([waiter.thread.index(), usize::from(alone)]);
            shape.extend(ranks);
        }
        shape
    }
}
