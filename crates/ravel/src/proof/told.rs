//! Whether one access of a forced run came after another by the program's own synchronisation: then the two are no race,
//! however near they were.
//!
//! What a thread knows it passes on by giving locks up, sending, starting threads, ending, and writing to volatile or modelled
//! variables; whoever takes such a lock, receives, begins, joins or reads such a variable knows it too.

use ravel_trace::{Event, LocationId, LockId, Names, Op, SyncId, ThreadId};
use rustc_hash::FxHashSet;

/// Who knows that something has happened.
#[derive(Default)]
struct Knowing {
    threads: FxHashSet<ThreadId>,
    locks: FxHashSet<LockId>,
    objects: FxHashSet<SyncId>,
    locations: FxHashSet<LocationId>,
}

/// Whether a thread knows of the first of these events after the last of them.
pub fn knows(thread: ThreadId, events: &[Event], names: &Names) -> bool {
    let Some((first, rest)) = events.split_first() else {
        return false;
    };
    let mut knowing = Knowing::default();
    knowing.threads.insert(first.thread);
    for event in rest {
        if !knowing.threads.contains(&event.thread) {
            if !knowing.is_told(&event.op, names) {
                continue;
            }
            knowing.threads.insert(event.thread);
        }
        match event.op {
            Op::Release { lock, .. } | Op::Wait { lock } | Op::Notify { lock, .. } => {
                knowing.locks.insert(lock);
            }
            Op::Fork { child } => {
                knowing.threads.insert(child);
            }
            Op::Send { sync } => {
                knowing.objects.insert(sync);
            }
            Op::Write { location, .. } | Op::Update { location, .. } if names.is_synchronizing(location) => {
                knowing.locations.insert(location);
            }
            // Whoever uses the class from now on, and that cannot be seen.
            Op::Initialized { .. } => return true,
            _ => {}
        }
    }
    knowing.threads.contains(&thread)
}

impl Knowing {
    /// Whether who does this hears of it.
    fn is_told(&self, op: &Op, names: &Names) -> bool {
        match *op {
            Op::Acquire { lock, .. } | Op::Resume { lock, .. } => self.locks.contains(&lock),
            Op::Receive { sync } => self.objects.contains(&sync),
            Op::Join { child } => self.threads.contains(&child),
            Op::Read { location, .. } | Op::Update { location, .. } => {
                names.is_synchronizing(location) && self.locations.contains(&location)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use ravel_trace::{Mode, SiteId};

    use super::*;

    fn told(steps: &[(u32, Op)]) -> bool {
        let events: Vec<Event> = steps
            .iter()
            .map(|(thread, op)| Event {
                thread: ThreadId(*thread),
                position: 0,
                site: SiteId(0),
                op: *op,
            })
            .collect();
        knows(ThreadId(2), &events, &Names::default())
    }

    #[test]
    fn what_nobody_hears_orders_nothing() {
        let begin = (1, Op::Begin);
        let lock = LockId(7);
        let mode = Mode::Exclusive;
        assert!(!told(&[begin, (1, Op::End { exception: true })]));
        assert!(!told(&[begin, (1, Op::Release { lock, mode })]));
        let other = LockId(8);
        assert!(!told(&[
            begin,
            (1, Op::Release { lock, mode }),
            (2, Op::Acquire { lock: other, mode })
        ]));
        // Taken before it was given up.
        assert!(!told(&[
            begin,
            (2, Op::Acquire { lock, mode }),
            (1, Op::Release { lock, mode })
        ]));
    }

    #[test]
    fn what_is_heard_orders_even_through_others() {
        let begin = (1, Op::Begin);
        let lock = LockId(7);
        let mode = Mode::Exclusive;
        let child = ThreadId(1);
        let end = (1, Op::End { exception: false });
        assert!(told(&[begin, end, (2, Op::Join { child })]));
        assert!(told(&[
            begin,
            (1, Op::Release { lock, mode }),
            (2, Op::Acquire { lock, mode })
        ]));
        assert!(told(&[begin, (1, Op::Fork { child: ThreadId(2) })]));
        let sync = SyncId(3);
        assert!(told(&[
            begin,
            (1, Op::Release { lock, mode }),
            (3, Op::Acquire { lock, mode }),
            (3, Op::Send { sync }),
            (2, Op::Receive { sync }),
        ]));
    }
}
