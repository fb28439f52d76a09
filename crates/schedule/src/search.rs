//! Tries every order, up to a bound: the last resort when no order was found by moving little.
//!
//! A state is the position of each thread, the value of each location and the waiting threads; each state is entered once.
//! Promise: if the search ends without reaching its bound, no order of the whole trace's steps has the pattern.
//! Time and space: at most [`Bound::states`] states, each a copy of the program's state.

use rustc_hash::FxHashSet;

use crate::goal::{Shape, Target};
use crate::image::{Image, ThreadStep};
use crate::machine::Machine;
use crate::plan::Keep;

/// How far the search goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// States entered.
    pub states: usize,
    /// Events up to which a trace is searched; the pattern must lie among the first of them.
    pub events: usize,
}

/// How a search ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SearchEnd {
    /// An order that has the pattern.
    Found(Vec<ThreadStep>),
    /// There is none.
    Impossible,
    /// The bound was reached.
    GaveUp,
}

/// Looks for an order of the recorded steps that ends with the pattern.
pub(crate) fn search(image: &Image, target: &Target, keep: Keep, bound: Bound) -> SearchEnd {
    let events = |s: &ThreadStep| image.events(*s).last().map_or(0, |&e| e as usize);
    if target.steps.iter().map(events).max().unwrap_or(0) >= bound.events {
        return SearchEnd::GaveUp;
    }
    let mut searcher = Searcher {
        image,
        target,
        keep,
        bound,
        whole: image.len() <= bound.events,
    };
    searcher.run()
}

struct Searcher<'a> {
    image: &'a Image,
    target: &'a Target,
    keep: Keep,
    bound: Bound,
    /// Whether all steps of the trace take part.
    whole: bool,
}

struct SearchFrame<'a> {
    machine: Machine<'a>,
    /// Threads still to be tried, the best last.
    choices: Vec<u32>,
}

impl<'a> Searcher<'a> {
    fn run(&mut self) -> SearchEnd {
        let mut entered: FxHashSet<u64> = FxHashSet::default();
        let mut order: Vec<ThreadStep> = Vec::new();
        let mut stack = vec![self.frame(Machine::new(self.image, &self.target.own))];
        while let Some(frame) = stack.last_mut() {
            if self.reached(&frame.machine) {
                return SearchEnd::Found(order);
            }
            let Some(thread) = frame.choices.pop() else {
                stack.pop();
                order.pop();
                continue;
            };
            let mut machine = frame.machine.clone();
            let Some(reads) = self.reads(&machine, thread) else {
                continue;
            };
            let Ok(step) = machine.run(thread, reads) else { continue };
            if !entered.insert(machine.digest()) {
                continue;
            }
            if entered.len() > self.bound.states {
                return SearchEnd::GaveUp;
            }
            order.push(step);
            stack.push(self.frame(machine));
        }
        if self.whole {
            SearchEnd::Impossible
        } else {
            SearchEnd::GaveUp
        }
    }

    fn frame(&self, machine: Machine<'a>) -> SearchFrame<'a> {
        let mut choices: Vec<(bool, u32, u32)> = (0..self.image.thread_count() as u32)
            .filter_map(|thread| {
                let step = machine.next(thread)?;
                let first = *self.image.events(step).first()?;
                let inside = self.whole || (first as usize) < self.bound.events;
                inside.then(|| (self.target.steps.contains(&step), first, thread))
            })
            .collect();
        choices.sort_unstable_by(|a, b| b.cmp(a));
        SearchFrame {
            machine,
            choices: choices.into_iter().map(|(_, _, thread)| thread).collect(),
        }
    }

    fn begun(&self, machine: &Machine) -> usize {
        self.target.steps.iter().take_while(|&&s| machine.is_done(s)).count()
    }

    /// Whether the next step of a thread must read as recorded; none if the pattern forbids the step.
    fn reads(&self, machine: &Machine, thread: u32) -> Option<bool> {
        let step = machine.next(thread)?;
        let begun = self.begun(machine);
        let place = self.target.steps.iter().position(|&s| s == step);
        let allowed = match self.target.shape {
            Shape::Blocked => place.is_none(),
            Shape::Adjacent => place.map_or(begun == 0, |p| p == begun),
            Shape::Ordered => place.is_none_or(|p| p == begun),
        };
        allowed.then_some(match self.keep {
            Keep::All => place.is_none(),
            Keep::BeforeFirst => place.is_none() && begun == 0,
            Keep::Nothing => false,
        })
    }

    fn reached(&self, machine: &Machine) -> bool {
        let target = self.target;
        if target.shape != Shape::Blocked {
            return self.begun(machine) == target.steps.len();
        }
        target.steps.iter().zip(&target.locks).all(|(&step, lock)| {
            let held = |l: &u32| {
                machine
                    .holders(*l, step.thread)
                    .any(|h| target.steps.iter().any(|s| s.thread == h))
            };
            machine.next(step.thread) == Some(step) && lock.as_ref().is_some_and(held)
        })
    }
}
