//! Which threads write to the locations of a goal besides its units: what these locations hold in the end, and what the units find
//! there, depends on when they come as well.

use ravel_trace::ThreadId;
use rustc_hash::FxHashSet;

use crate::goal::{Goal, Target};
use crate::image::{Image, ThreadStep};
use crate::plan::{Keep, Plan};
use crate::serial::steps_of;

/// Writers of a goal's locations that hard order does not put before or after all of its units.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contenders {
    /// Threads that have no unit of the goal.
    pub others: Vec<ThreadId>,
    /// Threads of units that write again after their unit.
    pub again: Vec<ThreadId>,
}

impl Contenders {
    /// Those of a goal.
    pub fn of(image: &Image, goal: &Goal) -> Contenders {
        let own = Target::resolve(image, goal).map(|t| t.own).unwrap_or_default();
        let units: Vec<(ThreadStep, ThreadStep)> = goal.units.iter().filter_map(|span| steps_of(image, span)).collect();
        let pasts: Vec<Option<Plan<'_>>> = units.iter().map(|unit| past(image, &own, unit.0)).collect();
        let mut contenders = Contenders::default();
        for thread in 0..image.thread_count() as u32 {
            let ends = units
                .iter()
                .filter(|unit| unit.0.thread == thread)
                .map(|unit| unit.1.number);
            let end = ends.max();
            let is_before = |step: ThreadStep| pasts.iter().all(|past| past.as_ref().is_some_and(|p| p.takes(step)));
            let steps = (end.map_or(0, |end| end + 1)..image.steps(thread)).map(|number| ThreadStep { thread, number });
            let writes = |step: &ThreadStep| {
                let mut events = image.events(*step).iter();
                events.any(|&event| image.code(event).is_write() && own.contains(&image.operand(event)))
            };
            // Those before come first and those after come last: one tells of the rest.
            let Some(first) = steps.filter(writes).find(|step| !is_before(*step)) else {
                continue;
            };
            let mut others = units.iter().filter(|unit| unit.0.thread != thread);
            let is_after = past(image, &own, first).is_some_and(|past| others.all(|unit| past.takes(unit.1)));
            match end {
                _ if is_after => {}
                None => contenders.others.push(ThreadId(thread)),
                Some(_) => contenders.again.push(ThreadId(thread)),
            }
        }
        contenders
    }

    /// Whether what the locations hold in the end depends on more than the order of the units.
    pub fn is_contended(&self) -> bool {
        !self.others.is_empty() || self.again.len() > 1
    }
}

/// All that must have happened before a step.
fn past<'a>(image: &'a Image, own: &'a FxHashSet<u32>, step: ThreadStep) -> Option<Plan<'a>> {
    let mut past = Plan::empty(image, own, Keep::Nothing);
    past.take(step.thread, step.number).ok()?;
    past.close().ok()?;
    Some(past)
}
