//! What a schedule takes of the trace, and what is already decided about its order.
//!
//! A plan is a prefix of every thread, closed under what its events need: hard order and, as far as values are to be
//! kept, the writes that its reads saw. Everything else is cut. Looking for an order only ever adds to a plan.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::goal::{Shape, Target};
use crate::image::{Code, EventNo, Image, NONE, ThreadStep};
use crate::machine::{Broken, point};

/// Which reads must see what they saw when recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Keep {
    /// All but those of the pattern itself: the threads behave as recorded up to the last event.
    All,
    /// Those before the pattern's first event: what a witness needs.
    BeforeFirst,
    /// None: only locks and hard order count.
    Nothing,
}

/// Prefixes of the threads, and decided order.
#[derive(Clone, Debug)]
pub(crate) struct Plan<'a> {
    pub image: &'a Image,
    /// Locations whose accesses make no hard order.
    pub own: &'a FxHashSet<u32>,
    pub keep: Keep,
    /// Steps taken, by thread.
    pub taken: Vec<u32>,
    /// Steps that may be taken at most, by thread.
    pub most: Vec<u32>,
    /// Steps of the first pattern event's past, by thread: their reads are before the pattern in any order.
    past: Vec<u32>,
    /// Decided order: a step, and what it comes after.
    pub edges: FxHashMap<ThreadStep, Vec<ThreadStep>>,
    /// The pattern's events, put off for as long as anything else can run.
    pub pattern: Vec<ThreadStep>,
    /// The first event of the pattern, from which on values may differ.
    pub first: Option<ThreadStep>,
    /// Whether the pattern's events come after everything else.
    pub at_end: bool,
    /// Where the schedule ends; none to run all that is taken.
    pub last: Option<ThreadStep>,
    scanned: Vec<u32>,
}

impl<'a> Plan<'a> {
    /// The least that a pattern needs.
    pub fn for_target(image: &'a Image, target: &'a Target, keep: Keep) -> Result<Plan<'a>, Broken> {
        let mut plan = Plan::empty(image, &target.own, keep);
        if target.shape != Shape::Blocked {
            plan.pattern.clone_from(&target.steps);
        }
        plan.at_end = target.shape == Shape::Adjacent;
        for (place, &step) in target.steps.iter().enumerate() {
            let last = place + 1 == target.steps.len();
            let most = match target.shape {
                Shape::Blocked => step.number,
                Shape::Adjacent => step.number + 1,
                Shape::Ordered if last => step.number + 1,
                Shape::Ordered => continue,
            };
            plan.most[step.thread as usize] = most;
        }
        if let Some(first) = target.first() {
            plan.values_may_differ_from(first)?;
        }
        for (place, &step) in target.steps.iter().enumerate() {
            let count = if target.shape == Shape::Blocked {
                step.number
            } else {
                step.number + 1
            };
            plan.take(step.thread, count)?;
            if target.shape != Shape::Blocked && place > 0 {
                plan.order(target.steps[place - 1], step);
            }
        }
        if target.shape != Shape::Blocked {
            plan.last = target.steps.last().copied();
        }
        plan.close()?;
        Ok(plan)
    }

    /// A plan that takes nothing yet.
    pub fn empty(image: &'a Image, own: &'a FxHashSet<u32>, keep: Keep) -> Plan<'a> {
        let threads = image.thread_count();
        Plan {
            image,
            own,
            keep,
            taken: vec![0; threads],
            most: (0..threads as u32).map(|t| image.steps(t)).collect(),
            past: vec![0; threads],
            edges: FxHashMap::default(),
            pattern: Vec::new(),
            first: None,
            at_end: false,
            last: None,
            scanned: vec![0; threads],
        }
    }

    /// Says where the pattern begins; must be said before anything is taken.
    pub fn values_may_differ_from(&mut self, first: ThreadStep) -> Result<(), Broken> {
        self.first = Some(first);
        if self.keep == Keep::BeforeFirst {
            let mut past = Plan::empty(self.image, self.own, Keep::All);
            past.take(first.thread, first.number)?;
            past.close()?;
            self.past = past.taken;
        }
        Ok(())
    }

    /// Decides that a step comes before another.
    pub fn order(&mut self, before: ThreadStep, after: ThreadStep) {
        self.edges.entry(after).or_default().push(before);
    }

    pub fn takes(&self, step: ThreadStep) -> bool {
        step.number < self.taken[step.thread as usize]
    }

    /// Takes the first steps of a thread; [`Plan::close`] must follow.
    pub fn take(&mut self, thread: u32, count: u32) -> Result<(), Broken> {
        let index = thread as usize;
        if count > self.most[index] {
            let at = point(
                self.image,
                ThreadStep {
                    thread,
                    number: count - 1,
                },
            );
            let number = self.most[index].min(self.image.steps(thread).saturating_sub(1));
            return Err(Broken::Order {
                at,
                needs: point(self.image, ThreadStep { thread, number }),
            });
        }
        self.taken[index] = self.taken[index].max(count);
        Ok(())
    }

    /// Takes everything that what is taken needs.
    pub fn close(&mut self) -> Result<(), Broken> {
        let mut changed = true;
        while changed {
            changed = false;
            for thread in 0..self.taken.len() {
                while self.scanned[thread] < self.taken[thread] {
                    let step = ThreadStep {
                        thread: thread as u32,
                        number: self.scanned[thread],
                    };
                    self.scanned[thread] += 1;
                    changed = true;
                    self.close_step(step)?;
                }
            }
        }
        Ok(())
    }

    fn close_step(&mut self, step: ThreadStep) -> Result<(), Broken> {
        let image = self.image;
        if let Some(before) = self.edges.get(&step) {
            for needs in before.clone() {
                self.need(step, needs)?;
            }
        }
        for &event in image.events(step) {
            for &needs in image.comes_after(event) {
                self.need(step, image.step_of(needs))?;
                // The notification that ends a wait comes after its beginning, or it would be lost.
                if matches!(image.code(event), Code::Resume | Code::ResumeOther)
                    && let Some(wait) = image.wait_of(event)
                {
                    self.order(image.step_of(wait), image.step_of(needs));
                }
            }
            let volatile = image
                .volatile_source(event)
                .filter(|_| !self.own.contains(&image.operand(event)));
            let seen = self.must_see(step, event).filter(|&w| w != NONE);
            for needs in volatile.into_iter().chain(seen) {
                self.need(step, image.step_of(needs))?;
            }
        }
        Ok(())
    }

    fn need(&mut self, step: ThreadStep, needs: ThreadStep) -> Result<(), Broken> {
        if needs.number >= self.most[needs.thread as usize] {
            return Err(Broken::Order {
                at: point(self.image, step),
                needs: point(self.image, needs),
            });
        }
        self.take(needs.thread, needs.number + 1)
    }

    /// The write that an event must see to behave as recorded; none if it need not.
    pub fn must_see(&self, step: ThreadStep, event: EventNo) -> Option<EventNo> {
        if !self.image.code(event).is_read() || !self.image.is_shared(self.image.operand(event)) {
            return None;
        }
        let kept = match self.keep {
            Keep::All => !self.pattern.contains(&step),
            Keep::BeforeFirst => step.number < self.past[step.thread as usize],
            Keep::Nothing => false,
        };
        kept.then(|| self.image.saw(event))
    }
}
