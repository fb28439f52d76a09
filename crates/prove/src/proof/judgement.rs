//! The judgement of one occurrence that happened: its runs against the serial orders of its units.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use ravel_analysis::finding::{Candidate, Evidence, Finding, Outcome, OutcomeKind, RuleFamily};
use ravel_analysis::limit::{Limit, LimitKind};
use ravel_protocol::Cause;
use ravel_schedule::{Goal, Schedule, Shape, Start};
use ravel_trace::naming::Frame;
use ravel_trace::{FailedThread, Failure, FailureKind};

use super::divergence::Shifts;
use super::endings::Ending;
use super::harm::Judged;
use super::objects::Objects;
use super::prover::{Happened, Prover, Sparing, Way};
use crate::failures::is_alike;
use crate::runner::Forced;
use crate::words;

impl Prover<'_> {
    /// The way of the units' threads to where these begin. Another thread may take another path: what that does to the variables of the
    /// units is seen by itself.
    fn way_to_units(&self, goal: &Goal, start: &Start) -> Schedule {
        let names = self.image.thread_names();
        let paths: BTreeSet<&str> = goal
            .units
            .iter()
            .filter_map(|unit| names.get(unit.thread.index()))
            .map(|name| name.path.as_str())
            .collect();
        let mut way = start.schedule(self.image);
        let threads = way.threads.clone();
        way.segments
            .retain(|segment| paths.contains(threads[segment.thread].path.as_str()));
        way
    }

    /// Compares what happened with what serial orders of the units give, from the start that they have in common if there is one, after
    /// which the threads go on one by one if they did so when it happened. Why it is not harmful, empty if it is; nothing if runs that stand for
    /// others show harm, which only runs of its own can prove.
    pub(super) fn judge(
        &mut self,
        finding: &mut Finding,
        way: &Way,
        happened: Happened,
        (ending, start): (&Ending, Option<&Start>),
        objects: &Objects,
    ) -> Result<Option<Limit>> {
        let (candidate, goal, apart) = (&way.candidate, &way.goal, ending.apart);
        let Happened {
            mut runs,
            schedule,
            shifts,
            went: _,
        } = happened;
        if finding.evidence < Evidence::Confirmed {
            finding.evidence = Evidence::Confirmed;
            finding.outcome = Some(Outcome::new(
                OutcomeKind::Normal,
                "the pattern happened; this time it had no visible effect",
            ));
        }
        if goal.shape == Shape::Blocked {
            let limit = self.judge_deadlock(finding, candidate, goal, (&schedule, &shifts), runs)?;
            return Ok(Some(limit));
        }
        let variables = finding.variables.clone();
        let way_there = start.map(|start| self.way_to_units(goal, start));
        let elsewhere = way_there.is_some_and(|way_there| {
            let mut diverged = runs
                .iter()
                .filter_map(|run| self.path.first_divergence(&way_there, run));
            diverged.next().is_some()
        });
        let judged = Judged {
            marks: self.marks,
            candidate,
            goal,
            shifts: &shifts,
            exact: start.is_some()
                && !elsewhere
                && schedule == ending.schedule
                && runs.iter().all(|run| is_exact(run, ending)),
            elsewhere,
            is_guess: finding.rule.family() == RuleFamily::Serializability,
            variables: &variables,
            threads: self.threads_of(candidate),
            contended: way.contended,
            goes_on: way.goes_on,
            apart,
            objects,
        };
        let spared = self.sparing == Sparing::Done;
        // One run of each order tells most of what does no harm.
        self.sparing = Sparing::Allowed;
        let mut controls = self.controls(goal, candidate, 1, ending, start)?;
        if self.sparing == Sparing::Done && !spared && judged.harm(&runs, &controls).is_some() {
            self.sparing = Sparing::Nothing;
            controls = self.controls(goal, candidate, 1, ending, start)?;
        }
        if controls.orders.is_empty() {
            self.disturbed = true;
            let why = "no serial order of the units could be forced, so harm is unknown";
            return Ok(Some(Limit::new(why, [LimitKind::NotCompared])));
        }
        let Some(harm) = judged.harm(&runs, &controls) else {
            if let Some(outcome) = own_exception(&runs, finding) {
                finding.outcome = Some(outcome);
            }
            return Ok(Some(judged.no_harm(&runs, &controls)));
        };
        if spared {
            return Ok(None);
        }
        self.sparing = Sparing::Nothing;
        if runs.len() < 2 {
            runs.push(self.run(&schedule, 1)?);
        }
        let again = self.happened(candidate, goal, &shifts, &runs[1]);
        // Orders that end alike show that nothing else differs between runs; of others, each is run again.
        let controls = self.controls(goal, candidate, if harm.steady { 1 } else { 2 }, ending, start)?;
        let harm = match again.is_ok() && !controls.orders.is_empty() {
            true => judged.harm(&runs, &controls),
            false => None,
        };
        if let Some(harm) = &harm {
            finding.serial = judged.serial_runs(finding, harm, &runs[0], &controls);
        }
        Ok(Some(match harm {
            Some(harm) if harm.missing == 0 && !harm.others_between => {
                finding.evidence = Evidence::Harmful;
                finding.outcome = Some(harm.outcome);
                Limit::default()
            }
            Some(harm) => {
                finding.outcome = Some(harm.outcome);
                self.disturbed = true;
                match harm.others_between {
                    true => "other code wrote to the same variables between the units, and the serial orders that were run do not have that, so \
                             harm is not certain"
                        .into(),
                    false => format!(
                        "{} of the serial orders of the units could not be run, so harm is not certain",
                        harm.missing
                    )
                    .into(),
                }
            }
            None => {
                self.disturbed = true;
                "the harmful outcome could not be repeated".into()
            }
        }))
    }

    /// Threads that block each other are harm by themselves, if they do so twice.
    fn judge_deadlock(
        &mut self,
        finding: &mut Finding,
        candidate: &Candidate,
        goal: &Goal,
        (schedule, shifts): (&Schedule, &Shifts),
        mut runs: Vec<Arc<Forced>>,
    ) -> Result<Limit> {
        if runs.len() < 2 {
            runs.push(self.run(schedule, 1)?);
        }
        if runs
            .iter()
            .any(|run| self.happened(candidate, goal, shifts, run).is_err())
        {
            self.disturbed = true;
            return Ok("the harmful outcome could not be repeated".into());
        }
        let threads = runs[0].deadlock().unwrap_or_default();
        finding.evidence = Evidence::Harmful;
        finding.outcome = Some(Outcome::new(
            OutcomeKind::Deadlock,
            format!("{} wait for each other", words::threads(threads)),
        ));
        Ok(Limit::default())
    }
}

/// Whether a run took all turns of its schedule up to where its units were over; a thread may end before its turn does.
fn is_exact(run: &Forced, ending: &Ending) -> bool {
    let Some(turns) = ending.units_over else {
        return false;
    };
    run.slip()
        .is_none_or(|slip| slip.turn >= turns || matches!(slip.cause, Cause::ThreadEnded | Cause::ProgramEnded))
}

/// The exception that ended a thread of the pattern in all of its runs, thrown in or below the method of its step: how these runs ended, even if
/// a serial order ends so too.
fn own_exception(runs: &[Arc<Forced>], finding: &Finding) -> Option<Outcome> {
    let in_method = |thread: &FailedThread| {
        let frames = || thread.stack.iter().map(|frame| Frame::parse(frame));
        let of_thread = finding.steps.iter().filter(|step| step.thread == thread.name);
        let mut methods = of_thread.map(|step| step.frame());
        methods.any(|own| frames().any(|frame| (frame.class, frame.method) == (own.class, own.method)))
    };
    let is_own = |failure: &&Failure| failure.kind == FailureKind::Exception && failure.threads.iter().any(in_method);
    let first = runs.first()?.failures.iter().find(is_own)?;
    let has_it = |run: &Arc<Forced>| run.failures.iter().any(|failure| is_alike(failure, first));
    let thread = first.threads.first()?.name.clone();
    let outcome = Outcome::new(OutcomeKind::Exception, first.exception.clone()).of(thread);
    runs.iter().all(has_it).then(|| runs[0].account(outcome))
}
