//! Runs the recorded program towards goals, and reads what the agent wrote of it.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use ravel_agent::options::Options;
use ravel_protocol::goal::{Goals, LogLine};
use ravel_protocol::{JvmName, line};

use super::{JvmRunner, OUTPUT, own_output};
use crate::directed::{DirectedRun, DirectedRunner};

/// Tells the directories of directed runs apart, also from those of forced runs.
static NUMBER: AtomicUsize = AtomicUsize::new(1 << 20);

impl DirectedRunner for JvmRunner {
    fn direct(&self, plan: &Goals) -> Result<DirectedRun> {
        let scratch = self.scratch_for(NUMBER.fetch_add(1, Ordering::Relaxed))?;
        let (goals, log) = (scratch.join("goals"), scratch.join("log"));
        fs::write(&goals, line::encode(plan)?).context("the goals")?;
        let options = Options {
            out: log.clone(),
            goals: Some(goals),
            command: self.command.clone(),
            roll: self.jvm.as_ref().map(|_| scratch.join("roll")),
            only: self.jvm.as_ref().map(JvmName::to_string),
            tied: self.jvm.is_none(),
            ..Options::default()
        };
        let (status, timed_out) = self.start(options, &scratch, self.within(self.directed_limit))?;
        let text = fs::read_to_string(&log).unwrap_or_default();
        // A process that was killed may have left half a line at the end.
        let log: Vec<LogLine> = line::decode(&text, &log).into_iter().flatten().collect();
        let output = own_output(fs::read(scratch.join(OUTPUT)).unwrap_or_default());
        let _ = fs::remove_dir_all(&scratch);
        Ok(DirectedRun {
            status,
            timed_out: timed_out || log.iter().any(|line| matches!(line, LogLine::Standstill { .. })),
            log,
            output,
        })
    }
}
