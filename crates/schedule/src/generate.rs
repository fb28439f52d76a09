//! From a goal to a schedule (Huang and Zhang, *Persuasive Prediction of Concurrency Access Anomalies*, section 6).
//!
//! The paper gives one algorithm for races and one for three events of two threads, and leaves the rest to analogy. Here
//! one way serves all: [take what the events need](crate::plan), [find an order](crate::solve), and if that fails
//! [try them all](crate::search) within a bound. Values are kept as far as possible: first all reads but the pattern's
//! own, then those before its first event, then none; a schedule of the last kind proves nothing, but is worth a run.
//!
//! Promise: a [witnessed](CheckVerdict::Witnessed) schedule has passed the [check](crate::check). Misses: none on a trace that the
//! exhaustive search covers; on longer ones a schedule may exist that is not found, and [`NoSchedule::Infeasible`] then
//! says that the answer is not final. One such miss is known: that another thread's write of the same value would do for
//! a read is seen by the exhaustive search alone.

use ravel_protocol::Schedule;

use crate::check::{check_order, check_schedule};
use crate::goal::{Goal, GoalError, Shape, Target};
use crate::image::{Image, ThreadStep};
use crate::machine::Broken;
use crate::plan::{Keep, Plan};
use crate::search::{Bound, SearchEnd, search};
use crate::shrink::{gather, shrink, switches};
use crate::solve::{Budget, Policy, solve};
use crate::start::Start;
use crate::turns::from_steps;

/// What may be spent on one goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Orders tried before the exhaustive search.
    pub tries: u32,
    /// Steps taken in all these tries together, as a multiple of what the schedule takes.
    pub passes: u64,
    /// States entered by the exhaustive search.
    pub search_states: usize,
    /// Events up to which a trace is searched exhaustively.
    pub search_events: usize,
    /// Steps checked while the schedule is made simpler.
    pub shrink_steps: u64,
}

impl Default for Effort {
    /// 1,000 tries that go over the schedule 8 times together, 50 thousand states of the first 2,000 events, 2 million
    /// steps of shrinking.
    fn default() -> Self {
        Effort {
            tries: 1_000,
            passes: 8,
            search_states: 50_000,
            search_events: 2_000,
            shrink_steps: 2_000_000,
        }
    }
}

impl Effort {
    pub(crate) fn budget(&self, plan: &Plan) -> Budget {
        let size: u64 = plan.taken.iter().map(|&n| u64::from(n)).sum();
        Budget {
            tries: self.tries,
            steps: self.passes.saturating_mul(size).saturating_add(100_000),
        }
    }
}

/// What the trace says of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckVerdict {
    /// It passed the check: the finding is witnessed.
    Witnessed,
    /// It did not, for this reason. Locks and hard order allow it, but (as a rule) a read before the pattern would see
    /// another value: only a run can tell.
    Unproven(Broken),
}

/// A schedule and what it is worth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Generated {
    /// The schedule.
    pub schedule: Schedule,
    /// What the trace says of it.
    pub verdict: CheckVerdict,
    /// Whether even the reads after the pattern's first event, but for the pattern's own, are as recorded: then the
    /// threads cannot leave the recorded path before the pattern is complete.
    pub all_reads_kept: bool,
}

/// Why there is no schedule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoSchedule {
    /// The goal does not fit the trace.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// Locks and hard order do not let it happen.
    #[error("no schedule {}: {broken}", if *.certain { "exists" } else { "was found" })]
    Infeasible {
        /// The rule that stood in the way.
        broken: Broken,
        /// Whether all orders were tried.
        certain: bool,
    },
}

/// Makes a schedule that reaches a goal.
pub fn generate(image: &Image, goal: &Goal, effort: &Effort) -> Result<Generated, NoSchedule> {
    let target = Target::resolve(image, goal)?;
    let maker = Maker {
        image,
        target: &target,
        effort,
    };
    // Where everything but the pattern comes before it, both ways of keeping reads are the same.
    let ways: &[Keep] = match target.shape {
        Shape::Ordered => &[Keep::All, Keep::BeforeFirst],
        Shape::Adjacent | Shape::Blocked => &[Keep::All],
    };
    for &keep in ways {
        if let Ok(order) = maker.by_moving(keep) {
            return Ok(maker.finish(order, keep));
        }
    }
    if let SearchEnd::Found(order) = maker.by_search(Keep::BeforeFirst) {
        return Ok(maker.finish(order, Keep::BeforeFirst));
    }
    let broken = match maker.by_moving(Keep::Nothing) {
        Ok(order) => return Ok(maker.finish(order, Keep::Nothing)),
        Err(broken) => broken,
    };
    match maker.by_search(Keep::Nothing) {
        SearchEnd::Found(order) => Ok(maker.finish(order, Keep::Nothing)),
        SearchEnd::Impossible => Err(NoSchedule::Infeasible { broken, certain: true }),
        SearchEnd::GaveUp => Err(NoSchedule::Infeasible { broken, certain: false }),
    }
}

/// Makes a schedule that reaches a goal from a start, with nothing but steps of the goal's units after it. None if none was found.
pub fn generate_from(image: &Image, goal: &Goal, effort: &Effort, start: &Start) -> Option<Generated> {
    let target = Target::resolve(image, goal).ok()?;
    let maker = Maker {
        image,
        target: &target,
        effort,
    };
    [Keep::All, Keep::BeforeFirst, Keep::Nothing]
        .into_iter()
        .find_map(|keep| {
            let mut plan = Plan::for_target(image, &target, keep).ok()?;
            start.lead(&mut plan).ok()?;
            let passes = |order: &[ThreadStep]| start.leads(order) && check_order(image, &target, order, keep).is_ok();
            let order = [Policy::Stay, Policy::Recorded].into_iter().find_map(|policy| {
                let (order, _) = solve(&plan, policy, &mut effort.budget(&plan)).ok()?;
                passes(&order).then_some(order)
            })?;
            Some(maker.told(shrink(order, effort.shrink_steps, passes)))
        })
}

struct Maker<'a> {
    image: &'a Image,
    target: &'a Target,
    effort: &'a Effort,
}

impl Maker<'_> {
    /// An order that passes the check, by moving as little as possible.
    fn by_moving(&self, keep: Keep) -> Result<Vec<ThreadStep>, Broken> {
        let plan = Plan::for_target(self.image, self.target, keep)?;
        let mut budget = self.effort.budget(&plan);
        let (order, plan) = solve(&plan, Policy::Recorded, &mut budget)?;
        check_order(self.image, self.target, &order, keep)?;
        // The same decisions with fewer switches, if that works at once.
        let mut once = Budget {
            tries: 4,
            ..self.effort.budget(&plan)
        };
        Ok(match solve(&plan, Policy::Stay, &mut once) {
            Ok((staying, _))
                if switches(&staying) < switches(&order)
                    && check_order(self.image, self.target, &staying, keep).is_ok() =>
            {
                staying
            }
            _ => order,
        })
    }

    fn by_search(&self, keep: Keep) -> SearchEnd {
        let bound = Bound {
            states: self.effort.search_states,
            events: self.effort.search_events,
        };
        search(self.image, self.target, keep, bound)
    }

    fn finish(&self, order: Vec<ThreadStep>, keep: Keep) -> Generated {
        let passes = |order: &[ThreadStep]| check_order(self.image, self.target, order, keep).is_ok();
        let order = gather(self.image, &self.target.steps, order);
        self.told(shrink(order, self.effort.shrink_steps, passes))
    }

    /// The schedule of an order, and what it is worth.
    fn told(&self, order: Vec<ThreadStep>) -> Generated {
        let mut schedule = from_steps(self.image, &order);
        if self.target.shape == Shape::Blocked {
            self.up_to_the_lock(&mut schedule);
        }
        let check = |keep| check_order(self.image, self.target, &order, keep);
        let verdict = match check(Keep::BeforeFirst).and_then(|()| check_schedule(self.image, self.target, &schedule)) {
            Ok(()) => CheckVerdict::Witnessed,
            Err(broken) => CheckVerdict::Unproven(broken),
        };
        Generated {
            schedule,
            verdict,
            all_reads_kept: check(Keep::All).is_ok(),
        }
    }

    /// The threads of a lock-order cycle run through what was not recorded, up to the point before the acquisition.
    fn up_to_the_lock(&self, schedule: &mut Schedule) {
        for &step in &self.target.steps {
            let name = &self.image.thread_names()[step.thread as usize];
            let before = self.image.position(step).saturating_sub(1);
            let thread = schedule.threads.iter().position(|t| t == name);
            if let Some(last) = schedule.segments.iter_mut().rfind(|s| Some(s.thread) == thread) {
                last.until = last.until.max(before);
            }
        }
    }
}
