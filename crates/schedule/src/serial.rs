//! The schedules that run the units of a finding one after the other: what its outcome is compared with.

use ravel_protocol::Schedule;
use rustc_hash::FxHashSet;

use crate::generate::Effort;
use crate::goal::{Goal, Span, Target};
use crate::image::{Image, ThreadStep};
use crate::machine::{Broken, Machine};
use crate::plan::{Keep, Plan};
use crate::shrink::{gather, shrink};
use crate::solve::{Budget, Policy, solve};
use crate::start::Start;
use crate::turns::{from_steps, from_steps_and_units};

/// Most serial schedules made for one finding: all orders of three units.
pub const MOST_SERIAL: usize = 6;
/// Most orders that are looked at.
const MOST_EXAMINED: usize = 24;

/// A schedule that runs units one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Serial {
    /// The units, as indices into the goal's, in the order in which they run.
    pub order: Vec<usize>,
    /// The schedule, up to the end of the last unit.
    pub schedule: Schedule,
    /// Whether all reads before the first unit are as recorded.
    pub reads_kept: bool,
}

/// The serial schedules of a goal's units, and how many orders have none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SerialOrders {
    /// At most [`MOST_SERIAL`].
    pub found: Vec<Serial>,
    /// Orders that hard order does not rule out and for which no schedule was found or looked for.
    pub missing: usize,
}

/// A unit of a goal: its index there, its first and its last step.
pub(crate) type UnitSteps = (usize, ThreadStep, ThreadStep);

/// The units of a goal. A unit inside another one of its thread is part of that one.
pub(crate) fn outermost(image: &Image, goal: &Goal) -> Vec<UnitSteps> {
    let mut units: Vec<UnitSteps> = Vec::new();
    for (index, span) in goal.units.iter().enumerate() {
        if let Some((begin, end)) = steps_of(image, span) {
            let is_inside = |outer: &UnitSteps, begin: ThreadStep, end: ThreadStep| {
                outer.1.thread == begin.thread && outer.1.number <= begin.number && end.number <= outer.2.number
            };
            if units.iter().any(|outer| is_inside(outer, begin, end)) {
                continue;
            }
            units.retain(|inner| !is_inside(&(index, begin, end), inner.1, inner.2));
            units.push((index, begin, end));
        }
    }
    units
}

/// Serial schedules of a goal's units in all orders that locks and hard order allow, from a start if there is one.
pub fn serial_schedules(image: &Image, goal: &Goal, effort: &Effort, start: Option<&Start>) -> SerialOrders {
    let own = Target::resolve(image, goal).map(|t| t.own).unwrap_or_default();
    let units = outermost(image, goal);
    let making = Making {
        image,
        goal,
        own: &own,
        effort,
        start,
    };
    let mut orders = SerialOrders::default();
    if units.len() < 2 {
        return orders;
    }
    let first = must_begin_first(image, &own, &units);
    let all = permutations(units.len(), MOST_EXAMINED);
    orders.missing = (1..=units.len())
        .try_fold(1usize, |product, n| product.checked_mul(n))
        .map_or(usize::MAX, |all_orders| all_orders - all.len());
    for order in all {
        let mut pairs = (0..order.len()).flat_map(|i| order[i + 1..].iter().map(move |&later| (i, later)));
        if pairs.any(|(i, later)| first.contains(&(later, order[i]))) {
            continue;
        }
        let chosen: Vec<_> = order.iter().map(|&i| units[i]).collect();
        let made = (orders.found.len() < MOST_SERIAL).then(|| making.in_order(&chosen));
        match made.flatten() {
            Some(serial) => orders.found.push(serial),
            None => orders.missing = orders.missing.saturating_add(1),
        }
    }
    orders
}

/// The pairs of units whose first must have begun before the second can begin.
fn must_begin_first(image: &Image, own: &FxHashSet<u32>, units: &[UnitSteps]) -> FxHashSet<(usize, usize)> {
    let mut pairs = FxHashSet::default();
    for (later, &(_, begin, _)) in units.iter().enumerate() {
        let mut past = Plan::empty(image, own, Keep::Nothing);
        if past
            .take(begin.thread, begin.number)
            .and_then(|()| past.close())
            .is_ok()
        {
            let begun = units.iter().enumerate().filter(|(_, unit)| past.takes(unit.1));
            pairs.extend(begun.map(|(first, _)| (first, later)));
        }
    }
    pairs
}

/// What serial schedules are made of.
struct Making<'a> {
    image: &'a Image,
    goal: &'a Goal,
    /// The locations of the pattern.
    own: &'a FxHashSet<u32>,
    effort: &'a Effort,
    start: Option<&'a Start>,
}

impl Making<'_> {
    /// The schedule that runs units in one order.
    fn in_order(&self, units: &[UnitSteps]) -> Option<Serial> {
        let serial = [Keep::BeforeFirst, Keep::Nothing].into_iter().find_map(|keep| {
            let steps = self.serial(units, keep).ok()?;
            let steps = match self.start {
                // Other runs begin with the same steps, in this order.
                Some(start) => Some(steps).filter(|steps| start.leads(steps))?,
                None => {
                    let ends: Vec<ThreadStep> = units.iter().flat_map(|u| [u.1, u.2]).collect();
                    gather(self.image, &ends, steps)
                }
            };
            let steps = shrink(steps, self.effort.shrink_steps, |s| self.is_serial(units, keep, s));
            Some(Serial {
                order: units.iter().map(|u| u.0).collect(),
                schedule: whole_units(self.image, self.goal, units, &steps),
                reads_kept: keep == Keep::BeforeFirst,
            })
        });
        serial.or_else(|| self.loose(units))
    }

    /// Units whose recorded steps cannot come in this order, because one of them found what another had done (a class that was
    /// initialised, say): only their beginnings are reached as recorded, and each then runs to its end as it may.
    fn loose(&self, units: &[UnitSteps]) -> Option<Serial> {
        let mut schedule = match self.start {
            Some(start) => start.schedule(self.image),
            None => self.up_to(units)?,
        };
        for &(index, begin, _) in units {
            let span = &self.goal.units[index];
            let name = &self.image.thread_names()[begin.thread as usize];
            match (span.leave, span.end) {
                (Some(leave), _) => schedule.run_out_of(name, self.image.position(begin), leave),
                (None, Some(end)) => schedule.run_to(name, end),
                (None, None) => return None,
            }
        }
        Some(Serial {
            order: units.iter().map(|u| u.0).collect(),
            schedule,
            reads_kept: false,
        })
    }

    /// The schedule that takes the threads of units to where these begin.
    fn up_to(&self, units: &[UnitSteps]) -> Option<Schedule> {
        let mut plan = Plan::empty(self.image, self.own, Keep::Nothing);
        for &(_, begin, _) in units {
            plan.take(begin.thread, begin.number).ok()?;
        }
        plan.close().ok()?;
        if units.iter().any(|u| plan.takes(u.1)) {
            return None;
        }
        let (steps, _) = solve(&plan, Policy::Stay, &mut self.effort.budget(&plan)).ok()?;
        Some(from_steps(self.image, &steps))
    }

    fn serial(&self, units: &[UnitSteps], keep: Keep) -> Result<Vec<ThreadStep>, Broken> {
        let mut plan = Plan::empty(self.image, self.own, keep);
        if let Some(&(_, first, _)) = units.first() {
            plan.values_may_differ_from(first)?;
        }
        for pair in units.windows(2) {
            plan.order(pair[0].2, pair[1].1);
        }
        for &(_, _, end) in units {
            plan.take(end.thread, end.number + 1)?;
        }
        plan.last = units.last().map(|u| u.2);
        match self.start {
            Some(start) => start.lead(&mut plan)?,
            None => plan.close()?,
        }
        let budget = || Budget {
            tries: self.effort.tries.min(50),
            ..self.effort.budget(&plan)
        };
        solve(&plan, Policy::Stay, &mut budget())
            .or_else(|_| solve(&plan, Policy::Recorded, &mut budget()))
            .map(|(order, _)| order)
    }

    /// Whether an order is possible, runs the units one after the other and ends with the last of them.
    fn is_serial(&self, units: &[UnitSteps], keep: Keep, order: &[ThreadStep]) -> bool {
        let mut machine = Machine::new(self.image, self.own);
        let mut reads = keep == Keep::BeforeFirst;
        for step in order {
            reads &= units.first().is_none_or(|u| u.1 != *step);
            let unit = units.iter().position(|u| u.1 == *step);
            let turn_has_come = unit.is_none_or(|u| u == 0 || machine.is_done(units[u - 1].2));
            if !turn_has_come || machine.run(step.thread, reads).is_err() {
                return false;
            }
        }
        let leads = self.start.is_none_or(|start| start.leads(order));
        leads && units.last().is_some_and(|u| order.last() == Some(&u.2))
    }
}

/// The schedule of an order, in which units run to their end even if they take another path than the recorded one.
fn whole_units(image: &Image, goal: &Goal, units: &[UnitSteps], order: &[ThreadStep]) -> Schedule {
    from_steps_and_units(image, order, |step| {
        let inside = |u: &&UnitSteps| {
            let (begin, end) = (u.1, u.2);
            step.thread == begin.thread && (begin.number..=end.number).contains(&step.number)
        };
        let &(index, begin, _) = units.iter().find(inside)?;
        let span = &goal.units[index];
        span.leave
            .map(|leave| (begin == step).then_some((image.position(begin), leave)))
    })
}

/// The first and the last step of a unit.
pub(crate) fn steps_of(image: &Image, span: &Span) -> Option<(ThreadStep, ThreadStep)> {
    let takes_a_lock = |step: ThreadStep| image.events(step).iter().any(|&event| image.code(event).takes());
    let begin = image.step_at_or_after(span.thread, span.begin)?;
    let begin = match span.begins_behind_a_point() && image.position(begin) == span.begin && !takes_a_lock(begin) {
        true => image.step_at_or_after(span.thread, span.begin.checked_add(1)?)?,
        false => begin,
    };
    let beyond = match span.end {
        Some(end) => image.step_at_or_after(span.thread, end.checked_add(1)?),
        None => None,
    };
    let beyond = beyond.map_or_else(|| image.steps(span.thread.0), |s| s.number);
    (beyond > begin.number).then(|| {
        (
            begin,
            ThreadStep {
                number: beyond - 1,
                ..begin
            },
        )
    })
}

/// Orders of `0..count`, the first ones in lexicographic order.
fn permutations(count: usize, most: usize) -> Vec<Vec<usize>> {
    let mut current: Vec<usize> = (0..count).collect();
    let mut all = vec![current.clone()];
    while all.len() < most {
        let Some(pivot) = (1..count).rev().find(|&i| current[i - 1] < current[i]) else {
            break;
        };
        let Some(swap) = (pivot..count).rev().find(|&i| current[i] > current[pivot - 1]) else {
            break;
        };
        current.swap(pivot - 1, swap);
        current[pivot..].reverse();
        all.push(current.clone());
    }
    all
}
