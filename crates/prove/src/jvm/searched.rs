//! Runs under the scheduler of a search: often inside one JVM, or once and recorded.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use ravel_agent::options::Options;
use ravel_protocol::{JvmName, Search, Searched, StrategyKind, line};
use ravel_schedule::Schedule;

use super::{JvmRunner, TRACE};

/// Where the clock of such a run begins if the recorded one had its own: the first of January 2024. Time is the scheduler's.
const CLOCK: u64 = 1_704_067_200_000;
/// What a JVM may take to start and to end its last run.
const MARGIN: Duration = Duration::from_secs(20);
/// The file that says how the run is made.
const PLAN: &str = "search";

/// A plan to follow an order.
pub(super) fn following(schedule: &Schedule) -> Search {
    Search {
        strategy: StrategyKind::Guided,
        seed: 0,
        inside: None,
        follow: Some(schedule.clone()),
        quiet: Vec::new(),
    }
}

impl JvmRunner {
    /// Options of a run under the scheduler of a search. Chance and time are the same in each.
    pub(super) fn controlled(&self, options: Options, plan: &Search, scratch: &Path) -> Result<Options> {
        let file = scratch.join(PLAN);
        fs::write(&file, line::encode(plan)?).context("the plan of a search")?;
        Ok(Options {
            search: Some(file),
            inside: plan.inside.is_some(),
            seed: options.seed.or(Some(0)),
            clock: options.clock.or(Some(CLOCK)),
            ..options
        })
    }

    /// Runs the program repeatedly inside one JVM, and returns the agent's results.
    pub fn search(&self, plan: &Search, time: Duration) -> Result<Vec<Searched>> {
        let scratch = self.scratch.path().join("runs");
        fs::create_dir(&scratch).context("a temporary directory")?;
        let options = Options {
            out: scratch.join(TRACE),
            command: self.command.clone(),
            roll: self.jvm.as_ref().map(|_| scratch.join("roll")),
            only: self.jvm.as_ref().map(JvmName::to_string),
            tied: self.jvm.is_none(),
            max_time: None,
            ..self.options.clone()
        };
        let options = self.controlled(options, plan, &scratch)?;
        self.start(options, &scratch, self.within(time + MARGIN))?;
        let told = told(&scratch);
        let _ = fs::remove_dir_all(&scratch);
        told
    }

    /// Runs the program once and keeps its trace, to be analysed like a recorded one. The order of the run, if it left a trace.
    pub fn search_once(&self, plan: &Search, number: usize, keep: &Path) -> Result<Option<Schedule>> {
        let scratch = self.scratch_for(number)?;
        let (result, cut) = self.run_as(&|options| self.controlled(options, plan, &scratch), &scratch, true)?;
        let trace = scratch.join(TRACE);
        let order = told(&scratch)?.into_iter().find_map(|line| match line {
            Searched::Alone { schedule } => Some(schedule),
            _ => None,
        });
        let order = order.filter(|_| !result.timed_out && !cut && trace.exists());
        if order.is_some() {
            fs::copy(&trace, keep).with_context(|| format!("cannot write {}", keep.display()))?;
            let _ = ravel_trace::add_input(keep, self.input.kept());
        }
        let _ = fs::remove_dir_all(&scratch);
        Ok(order)
    }
}

/// The agent's results; none if it ended before it wrote any.
fn told(scratch: &Path) -> Result<Vec<Searched>> {
    let file = scratch.join(PLAN).with_extension("found");
    match file.exists() {
        true => Ok(line::read_all(&file)?),
        false => Ok(Vec::new()),
    }
}
