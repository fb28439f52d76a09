//! What the recorded program can do next: locks, waits, hard order and values, one step at a time.
//!
//! This is the meaning of feasibility, kept apart from everything that looks for schedules: the [check](crate::check)
//! runs a finished schedule through it, and the [exhaustive search](crate::search) tries its successors.

use ravel_trace::order::{Notification, WaitSet};
use ravel_trace::{LocationId, LockId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::image::{Code, EventNo, Image, NONE, ThreadStep};

/// A step of a thread, for messages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Point {
    /// Who.
    pub thread: ThreadId,
    /// The thread's position.
    pub position: u32,
}

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "thread {} at position {}", self.thread.0, self.position)
    }
}

/// The rule that a schedule breaks, with the event at which it does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum Broken {
    /// A lock is taken that another thread holds.
    #[error("{at} takes lock {} while thread {} holds it", .lock.0, .holder.0)]
    LockHeld {
        /// Who takes it.
        at: Point,
        /// The lock.
        lock: LockId,
        /// Who holds it.
        holder: ThreadId,
    },
    /// Something happens before what it must come after: fork, end, notification, send, class initialisation, or the
    /// volatile write that was read.
    #[error("{at} must come after {needs}")]
    Order {
        /// What happens too early.
        at: Point,
        /// What it must come after.
        needs: Point,
    },
    /// A wait ends without a notification.
    #[error("{at} resumes on lock {} without a notification", .lock.0)]
    NotNotified {
        /// Who resumes.
        at: Point,
        /// The monitor, or the lock of the condition.
        lock: LockId,
    },
    /// A read before the bug sees another value than when it was recorded.
    #[error("{at} reads location {} as written by {}, not by {} as recorded", .location.0, writer(.now), writer(.recorded))]
    ReadChanged {
        /// Who reads.
        at: Point,
        /// The cell.
        location: LocationId,
        /// The writer in the recorded run; none if there is none.
        recorded: Option<Point>,
        /// The writer in the schedule; none if there is none.
        now: Option<Point>,
    },
    /// The pattern's events come in another order.
    #[error("the pattern's event of {at} comes before the one that should precede it")]
    PatternOrder {
        /// The event that is too early.
        at: Point,
    },
    /// An event of the pattern does not happen.
    #[error("the pattern's event of {at} does not happen")]
    PatternMissing {
        /// The event.
        at: Point,
    },
    /// Something happens between the events of a race, or after the last event of a pattern.
    #[error("{at} happens where only the pattern's events may")]
    NotAtEnd {
        /// What happens there.
        at: Point,
    },
    /// The lock that a thread of a lock-order cycle is about to take is free at the end.
    #[error("{at} would get its lock: no other thread of the cycle holds it")]
    NotBlocked {
        /// Who would get it.
        at: Point,
    },
}

fn writer(point: &Option<Point>) -> String {
    point.map_or_else(|| "no thread".to_owned(), |p| p.to_string())
}

/// The state of the program after some steps.
#[derive(Clone)]
pub(crate) struct Machine<'a> {
    image: &'a Image,
    /// Locations whose accesses make no hard order.
    own: &'a FxHashSet<u32>,
    /// Steps done, by thread.
    done: Vec<u32>,
    exclusive: FxHashMap<u32, u32>,
    shared: FxHashMap<u32, Vec<u32>>,
    last_write: FxHashMap<u32, EventNo>,
    /// By lock.
    waiting: FxHashMap<u32, WaitSet>,
    /// Waits and notifications so far.
    moments: u64,
}

impl<'a> Machine<'a> {
    pub fn new(image: &'a Image, own: &'a FxHashSet<u32>) -> Self {
        Machine {
            image,
            own,
            done: vec![0; image.thread_count()],
            exclusive: FxHashMap::default(),
            shared: FxHashMap::default(),
            last_write: FxHashMap::default(),
            waiting: FxHashMap::default(),
            moments: 0,
        }
    }

    pub fn is_done(&self, step: ThreadStep) -> bool {
        step.number < self.done[step.thread as usize]
    }

    /// The thread's next step, if the trace has one.
    pub fn next(&self, thread: u32) -> Option<ThreadStep> {
        let number = *self.done.get(thread as usize)?;
        (number < self.image.steps(thread)).then_some(ThreadStep { thread, number })
    }

    /// Who, other than this thread, holds a lock alone or shared.
    pub fn holders(&self, lock: u32, but: u32) -> impl Iterator<Item = u32> + '_ {
        let shared = self.shared.get(&lock).into_iter().flatten();
        self.exclusive
            .get(&lock)
            .into_iter()
            .chain(shared)
            .copied()
            .filter(move |&t| t != but)
    }

    /// A number that equal states share; differing states share it by accident only.
    pub fn digest(&self) -> u64 {
        use std::hash::{BuildHasher, BuildHasherDefault};
        let build = BuildHasherDefault::<rustc_hash::FxHasher>::default();
        let mut sum = build.hash_one(&self.done);
        for (&location, &write) in &self.last_write {
            sum = sum.wrapping_add(build.hash_one((location, self.image.origin(write), self.image.value(write))));
        }
        for (lock, set) in self.waiting.iter().filter(|(_, set)| !set.is_empty()) {
            sum = sum.wrapping_add(build.hash_one((lock, set.shape())));
        }
        sum
    }

    /// Lets a thread do its next step; `reads` says whether its reads must be as recorded. After an error the state
    /// is of no use.
    pub fn run(&mut self, thread: u32, reads: bool) -> Result<ThreadStep, Broken> {
        let number = self.done[thread as usize];
        let step = ThreadStep { thread, number };
        for &event in self.image.events(step) {
            self.check(event, step, reads)?;
            self.apply(event, thread);
        }
        self.done[thread as usize] += 1;
        Ok(step)
    }

    /// Whether a thread's next step is possible, values aside.
    pub fn can_run(&self, thread: u32) -> bool {
        let possible = |step| {
            self.image
                .events(step)
                .iter()
                .all(|&e| self.check(e, step, false).is_ok())
        };
        self.next(thread).is_some_and(possible)
    }

    fn check(&self, event: EventNo, step: ThreadStep, reads: bool) -> Result<(), Broken> {
        let image = self.image;
        let at = point(image, step);
        let operand = image.operand(event);
        let volatile = image.volatile_source(event).filter(|_| !self.own.contains(&operand));
        for &needs in image.comes_after(event).iter().chain(&volatile) {
            let needed = image.step_of(needs);
            if needed != step && !self.is_done(needed) {
                return Err(Broken::Order {
                    at,
                    needs: point(image, needed),
                });
            }
        }
        let code = image.code(event);
        if code.takes() {
            let exclusive = self.exclusive.get(&operand).copied().filter(|&h| h != step.thread);
            let holder = if code.is_shared() {
                exclusive
            } else {
                self.holders(operand, step.thread).next()
            };
            if let Some(holder) = holder {
                return Err(Broken::LockHeld {
                    at,
                    lock: LockId(operand),
                    holder: ThreadId(holder),
                });
            }
        }
        let thread = ThreadId(step.thread);
        let woken = |is_woken: fn(&WaitSet, ThreadId) -> bool| {
            let set = self.waiting.get(&operand);
            set.is_some_and(|set| is_woken(set, thread))
        };
        let can_resume = match code {
            Code::Resume => woken(WaitSet::is_chosen),
            Code::ResumeOther => woken(WaitSet::may_be_chosen),
            _ => true,
        };
        if !can_resume {
            return Err(Broken::NotNotified {
                at,
                lock: LockId(operand),
            });
        }
        if reads && code.is_read() && !self.reads_as_recorded(event) {
            let name = |w: EventNo| (w != NONE).then(|| point(image, image.step_of(w)));
            return Err(Broken::ReadChanged {
                at,
                location: LocationId(operand),
                recorded: name(image.saw(event)),
                now: self.last_write.get(&operand).copied().and_then(name),
            });
        }
        Ok(())
    }

    fn reads_as_recorded(&self, read: EventNo) -> bool {
        let image = self.image;
        let location = image.operand(read);
        let write = self.last_write.get(&location).copied().unwrap_or(NONE);
        if image.origin(write) == image.saw(read) {
            return true;
        }
        // The value of an update is what it wrote.
        let recorded = if image.code(read) == Code::Read {
            image.value(read)
        } else {
            0
        };
        let now = if write == NONE {
            image.initial_value(location)
        } else {
            image.value(write)
        };
        recorded != 0 && recorded == now
    }

    fn apply(&mut self, event: EventNo, thread: u32) {
        let operand = self.image.operand(event);
        match self.image.code(event) {
            Code::Read | Code::Send | Code::Receive | Code::Other => {}
            Code::Write | Code::Update => {
                self.last_write.insert(operand, event);
            }
            Code::Acquire => {
                self.exclusive.insert(operand, thread);
            }
            Code::AcquireShared => self.shared.entry(operand).or_default().push(thread),
            Code::Release => self.release(operand, thread),
            Code::ReleaseShared => {
                if let Some(holders) = self.shared.get_mut(&operand)
                    && let Some(place) = holders.iter().position(|&h| h == thread)
                {
                    holders.swap_remove(place);
                }
            }
            Code::Wait => {
                self.release(operand, thread);
                self.moments += 1;
                let set = self.waiting.entry(operand).or_default();
                set.wait(ThreadId(thread), self.moments);
            }
            code @ (Code::Resume | Code::ResumeOther | Code::ResumeUnnotified) => {
                if let Some(set) = self.waiting.get_mut(&operand) {
                    set.resume(ThreadId(thread), code != Code::ResumeUnnotified);
                }
                self.exclusive.insert(operand, thread);
            }
            code @ (Code::Notify | Code::NotifyAll) => {
                self.moments += 1;
                if let Some(set) = self.waiting.get_mut(&operand) {
                    set.notify(Notification(self.moments), code == Code::NotifyAll);
                }
            }
        }
    }

    fn release(&mut self, lock: u32, thread: u32) {
        if self.exclusive.get(&lock) == Some(&thread) {
            self.exclusive.remove(&lock);
        }
    }
}

pub(crate) fn point(image: &Image, step: ThreadStep) -> Point {
    Point {
        thread: ThreadId(step.thread),
        position: image.position(step),
    }
}
