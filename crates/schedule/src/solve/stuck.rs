//! What to do when everyone waits: find who waits for whom, and which decision would let them go on.
//!
//! Separate from the running of steps because it only looks at a state, at leisure: it runs once per conflict, not once
//! per step.

use ravel_trace::{LocationId, LockId, ThreadId};

use super::{Alternative, Run, Wait};
use crate::image::{EventNo, NONE, ThreadStep};
use crate::machine::{Broken, point};

impl Run<'_> {
    /// Everyone waits: the ways out of one circle of waits, and the rule that stands in the way.
    pub(super) fn stuck(&self) -> (Vec<Alternative>, Broken) {
        let circle = self.circle();
        let mut alternatives = Vec::new();
        for &thread in &circle {
            match self.waits[thread as usize] {
                Some(Wait::Lock { acquire, begin }) => self.lock_alternatives(acquire, begin, &mut alternatives),
                Some(Wait::Readers { write }) => {
                    let now = self.now[self.image.operand(write) as usize];
                    if now != NONE {
                        let steps = (self.image.step_of(write), self.image.step_of(now));
                        alternatives.push(Alternative::Before(steps.0, steps.1));
                    }
                }
                // Taking the write that the read saw lets it come before the pattern.
                Some(Wait::Pattern { read, .. }) if self.image.saw(read) != NONE => {
                    let step = self.image.step_of(self.image.saw(read));
                    if !self.plan.takes(step) && step.number < self.plan.most[step.thread as usize] {
                        alternatives.push(Alternative::Further(step));
                    }
                }
                _ => {}
            }
        }
        alternatives.retain(|a| match *a {
            Alternative::Before(before, after) => !self.must_precede(after, before),
            Alternative::Further(_) => true,
        });
        // Order the sections before adding events that the goal does not need.
        alternatives.sort_by_key(|a| matches!(a, Alternative::Further(_)));
        alternatives.dedup();
        let locks = |t: &&u32| matches!(self.waits[**t as usize], Some(Wait::Lock { .. }));
        let blamed = circle.iter().find(locks).or(circle.first()).copied().unwrap_or(0);
        (alternatives, self.broken(blamed))
    }

    /// Whether a step that was done is among what another one needs, by all that is decided.
    fn must_precede(&self, earlier: ThreadStep, later: ThreadStep) -> bool {
        // What was done before the earlier step cannot need it: only the rest has to be looked at.
        let mut floor = self.done.clone();
        for step in self.order.iter().rev() {
            floor[step.thread as usize] = step.number;
            if *step == earlier {
                break;
            }
        }
        let mut need = floor.clone();
        let mut looked = floor;
        let ask = |need: &mut Vec<u32>, step: ThreadStep| {
            let count = &mut need[step.thread as usize];
            *count = (*count).max(step.number + 1);
        };
        ask(&mut need, later);
        loop {
            if need[earlier.thread as usize] > earlier.number {
                return true;
            }
            let Some(thread) = (0..need.len()).find(|&t| looked[t] < need[t]) else {
                return false;
            };
            let step = ThreadStep {
                thread: thread as u32,
                number: looked[thread],
            };
            looked[thread] += 1;
            for &before in self.plan.edges.get(&step).into_iter().flatten() {
                ask(&mut need, before);
            }
            for &event in self.image.events(step) {
                let operand = self.image.operand(event);
                let volatile = self
                    .image
                    .volatile_source(event)
                    .filter(|_| !self.plan.own.contains(&operand));
                let seen = self.plan.must_see(step, event).filter(|&w| w != NONE);
                for &before in self.image.comes_after(event).iter().chain(&volatile).chain(&seen) {
                    ask(&mut need, self.image.step_of(before));
                }
            }
        }
    }

    /// Threads that wait for each other in a circle, or up to one that has nothing left to do.
    fn circle(&self) -> Vec<u32> {
        let Some(start) = self.waits.iter().position(Option::is_some) else {
            return Vec::new();
        };
        let mut seen: Vec<u32> = Vec::new();
        let mut current = start as u32;
        loop {
            if let Some(place) = seen.iter().position(|&t| t == current) {
                return seen.split_off(place);
            }
            seen.push(current);
            match self.waited_for(current) {
                Some(next) if self.waits[next as usize].is_some() => current = next,
                _ => return seen,
            }
        }
    }

    fn waited_for(&self, thread: u32) -> Option<u32> {
        match self.waits[thread as usize]? {
            Wait::Step(step) | Wait::Pattern { first: step, .. } => Some(step.thread),
            Wait::Lock { begin, .. } => Some(self.image.thread(begin)),
            Wait::Readers { write } => self.reader(write),
            Wait::Everyone => (0..self.done.len() as u32)
                .find(|&t| t != thread && self.next(t).is_some_and(|s| !self.plan.pattern.contains(&s))),
            Wait::Never { .. } => None,
        }
    }

    /// Another thread that has yet to read what a write would take away.
    fn reader(&self, write: EventNo) -> Option<u32> {
        let location = self.image.operand(write);
        let now = self.now[location as usize];
        let writer = self.image.thread(write);
        let reads = |step: ThreadStep| {
            let sees = |&e: &EventNo| self.image.operand(e) == location && self.plan.must_see(step, e) == Some(now);
            self.image.events(step).iter().any(sees)
        };
        let will_read = |&thread: &u32| {
            let rest = self.done[thread as usize]..self.plan.taken[thread as usize];
            rest.into_iter().any(|number| reads(ThreadStep { thread, number }))
        };
        (0..self.done.len() as u32).filter(|&t| t != writer).find(will_read)
    }

    fn lock_alternatives(&self, acquire: EventNo, begin: EventNo, alternatives: &mut Vec<Alternative>) {
        let image = self.image;
        let waiter = image.thread(acquire);
        let holder = image.thread(begin);
        // All that the waiter must do on this lock before the holder goes on has to come before the holder's section.
        let up_to = match self.waits[holder as usize] {
            Some(Wait::Step(step)) if step.thread == waiter => step.number,
            Some(Wait::Everyone) => self.plan.taken[waiter as usize] - 1,
            _ => 0,
        };
        let from = image.step_of(acquire).number;
        let up_to = up_to.clamp(from, self.plan.taken[waiter as usize] - 1);
        let sections = (from..=up_to)
            .rev()
            .flat_map(|number| image.events(ThreadStep { thread: waiter, number }));
        let last = sections
            .copied()
            .find(|&e| image.code(e).takes() && image.operand(e) == image.operand(acquire));
        for section in [last, Some(acquire)].into_iter().flatten() {
            let end = image.other_end(section);
            if end != NONE && self.plan.takes(image.step_of(end)) {
                alternatives.push(Alternative::Before(image.step_of(end), image.step_of(begin)));
            }
        }
        for end in [image.other_end(begin), last.map_or(NONE, |l| image.other_end(l))] {
            if end == NONE {
                continue;
            }
            let step = image.step_of(end);
            if !self.plan.takes(step) && step.number < self.plan.most[step.thread as usize] {
                alternatives.push(Alternative::Further(step));
            }
        }
    }

    fn broken(&self, thread: u32) -> Broken {
        let image = self.image;
        let Some(step) = self.next(thread) else {
            let at = point(image, ThreadStep { thread, number: 0 });
            return Broken::PatternMissing { at };
        };
        let at = point(image, step);
        let other = |t: Option<u32>| t.and_then(|t| self.next(t)).map_or(at, |s| point(image, s));
        match self.waits[thread as usize] {
            Some(Wait::Step(needs) | Wait::Pattern { first: needs, .. }) => Broken::Order {
                at,
                needs: point(image, needs),
            },
            Some(Wait::Lock { acquire, begin }) => Broken::LockHeld {
                at,
                lock: LockId(image.operand(acquire)),
                holder: ThreadId(image.thread(begin)),
            },
            Some(Wait::Readers { write }) => Broken::ReadChanged {
                at: other(self.reader(write)),
                location: LocationId(image.operand(write)),
                recorded: match self.now[image.operand(write) as usize] {
                    NONE => None,
                    now => Some(point(image, image.step_of(now))),
                },
                now: Some(at),
            },
            Some(Wait::Never { read }) => Broken::ReadChanged {
                at,
                location: LocationId(image.operand(read)),
                recorded: match image.saw(read) {
                    NONE => None,
                    saw => Some(point(image, image.step_of(saw))),
                },
                now: match self.now[image.operand(read) as usize] {
                    NONE => None,
                    now => Some(point(image, image.step_of(now))),
                },
            },
            Some(Wait::Everyone) | None => Broken::Order {
                at,
                needs: other(self.waited_for(thread)),
            },
        }
    }
}
