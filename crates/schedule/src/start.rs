//! The point at which every unit of a goal is about to begin and none has begun.
//!
//! A run that has the pattern from there on and a run that has the units one after the other from there on differ in nothing but
//! the order of steps inside the units: all that other units have done before, they have done in both. Without it, earlier units of
//! the same threads may come between the units in one run and before them in another, and the two runs cannot be compared.

use ravel_protocol::Schedule;
use rustc_hash::FxHashSet;

use crate::generate::Effort;
use crate::goal::{Goal, Target};
use crate::image::{Image, ThreadStep};
use crate::machine::Broken;
use crate::plan::{Keep, Plan};
use crate::serial::outermost;
use crate::solve::{Policy, solve};
use crate::turns::from_steps;

/// An order of steps that takes the threads of a goal's units up to their units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Start {
    /// All steps before the first unit begins.
    order: Vec<ThreadStep>,
    /// The first and the last step of each unit.
    units: Vec<(ThreadStep, ThreadStep)>,
}

impl Start {
    /// That of a goal: threads are as recorded until then if that is possible. None if a unit must have begun before another one
    /// can begin, or if an event of the goal lies in no unit.
    pub fn of(image: &Image, goal: &Goal, effort: &Effort) -> Option<Start> {
        let target = Target::resolve(image, goal).ok()?;
        let units: Vec<_> = outermost(image, goal).into_iter().map(|u| (u.1, u.2)).collect();
        let threads: FxHashSet<u32> = units.iter().map(|unit| unit.0.thread).collect();
        let start = Start {
            order: Vec::new(),
            units,
        };
        let has_all = target.steps.iter().all(|step| start.is_inside(*step));
        if start.units.len() < 2 || threads.len() < start.units.len() || !has_all {
            return None;
        }
        // Other threads do before the units begin what these need in their course.
        let mut needs = Plan::empty(image, &target.own, Keep::Nothing);
        for (_, end) in &start.units {
            needs.take(end.thread, end.number + 1).ok()?;
        }
        needs.close().ok()?;
        let others: Vec<(u32, u32)> = (0..image.thread_count() as u32)
            .filter(|thread| !threads.contains(thread))
            .map(|thread| (thread, needs.taken[thread as usize]))
            .collect();
        let none = FxHashSet::default();
        let ways = [
            (&none, Keep::All),
            (&target.own, Keep::All),
            (&target.own, Keep::Nothing),
        ];
        let order = [others.as_slice(), &[]].into_iter().find_map(|others| {
            ways.into_iter().find_map(|(own, keep)| {
                let mut plan = Plan::empty(image, own, keep);
                for (begin, _) in &start.units {
                    plan.take(begin.thread, begin.number).ok()?;
                }
                for &(thread, count) in others {
                    plan.take(thread, count).ok()?;
                }
                plan.close().ok()?;
                let (order, _) = solve(&plan, Policy::Stay, &mut effort.budget(&plan)).ok()?;
                (!order.iter().any(|step| start.is_inside(*step))).then_some(order)
            })
        })?;
        Some(Start { order, ..start })
    }

    fn is_inside(&self, step: ThreadStep) -> bool {
        let mut units = self.units.iter();
        units.any(|(begin, end)| begin.thread == step.thread && (begin.number..=end.number).contains(&step.number))
    }

    /// Makes a plan begin with this order.
    pub(crate) fn lead(&self, plan: &mut Plan<'_>) -> Result<(), Broken> {
        for pair in self.order.windows(2).filter(|pair| pair[0].thread != pair[1].thread) {
            plan.order(pair[0], pair[1]);
        }
        if let Some(&last) = self.order.last() {
            for &(begin, _) in &self.units {
                plan.order(last, begin);
            }
        }
        for step in &self.order {
            plan.take(step.thread, step.number + 1)?;
        }
        plan.close()
    }

    /// Whether an order begins with this one and has nothing but steps of the units after it.
    pub(crate) fn leads(&self, order: &[ThreadStep]) -> bool {
        let rest = order.strip_prefix(self.order.as_slice());
        rest.is_some_and(|rest| rest.iter().all(|step| self.is_inside(*step)))
    }

    /// The schedule up to here.
    pub fn schedule(&self, image: &Image) -> Schedule {
        from_steps(image, &self.order)
    }
}
