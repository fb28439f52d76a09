//! The program as proof sees it: something that can be run under a schedule. A JVM is behind it, or in tests a fake.

#[cfg(test)]
pub(crate) mod fake;

use std::process::ExitStatus;

use anyhow::Result;
use ravel_analysis::finding::{Outcome, OutcomeKind};
use ravel_analysis::limit::Limit;
use ravel_protocol::{EndedBy, Slip, Verdict};
use ravel_schedule::Schedule;
use ravel_trace::names::Names;
use ravel_trace::{Event, Failure, FailureKind, SiteId, ThreadId};

use crate::words;

/// Events of a run up to which it is compared with schedules that were not run: longer ones seldom repeat themselves.
pub const MOST_COMPARED: usize = 20_000;

/// Runs the recorded program again.
pub trait Runner: Sync {
    /// Runs it under a schedule; `number` tells runs apart that go on at the same time.
    fn force(&self, schedule: &Schedule, number: usize) -> Result<Forced>;

    /// How many runs may go on at the same time, of so many that are wanted.
    fn side_by_side(&self, jobs: usize) -> usize;
}

/// What a forced run came to.
pub struct Forced {
    /// How far it followed the schedule; none if the JVM did not report.
    pub verdict: Option<Verdict>,
    /// How the program ended.
    pub status: ExitStatus,
    /// What it wrote.
    pub output: Vec<u8>,
    /// Whether it took so long that Ravel ended it.
    pub timed_out: bool,
    /// Why the agent ended the JVM, if it did.
    pub ended_by: Option<EndedBy>,
    /// What is worth saying if it did not go as wanted; empty if nothing is.
    pub remark: Limit,
    /// Whether its trace has only what was watched.
    pub partial: bool,
    /// Whether its trace goes on to its end.
    pub whole: bool,
    /// Its events and names; none if no trace was left.
    pub trace: Option<(Vec<Event>, Names)>,
    /// Where its threads entered and left methods, each with the number of events before it; empty for a run of more than
    /// [`MOST_COMPARED`] events.
    pub frames: Vec<(usize, Event)>,
    /// The program's calls inside which its events in code of the JDK lie, each with the number of events before it.
    pub calls: Vec<(usize, Event)>,
    /// What its methods returned.
    pub returned: Vec<Event>,
    /// What went wrong in it.
    pub failures: Vec<Failure>,
}

impl Forced {
    /// Whether all turns were given; some may have been lost.
    pub fn complete(&self) -> bool {
        match &self.verdict {
            Some(Verdict::Deadlock { .. }) => self.deadlock().is_some(),
            Some(verdict) => verdict.is_complete(),
            None => false,
        }
    }

    /// The program's call that a thread made last before an event.
    pub fn call_before(&self, at: usize, thread: ThreadId) -> SiteId {
        let before = self.calls.partition_point(|(number, _)| *number <= at);
        let mut own = self.calls[..before]
            .iter()
            .rev()
            .filter(|(_, call)| call.thread == thread);
        own.next().map_or(SiteId(0), |(_, call)| call.site)
    }

    /// The first turn that was lost, and why; none if every turn was taken.
    pub fn slip(&self) -> Option<&Slip> {
        self.verdict.as_ref()?.slip()
    }

    /// Whether a turn was lost because its thread waited for what another one has yet to do: the schedule's order is not one
    /// that the program can take.
    pub fn is_impossible(&self) -> bool {
        self.slip().is_some_and(Slip::is_wait)
    }

    /// The threads that wait for nothing, if all do.
    pub fn waiting(&self) -> Option<&[String]> {
        match &self.verdict {
            Some(Verdict::Hang { threads, .. }) => Some(threads),
            _ => None,
        }
    }

    /// The threads that wait for each other, if they do.
    pub fn deadlock(&self) -> Option<&[String]> {
        match &self.verdict {
            Some(Verdict::Deadlock { threads, .. }) if self.ended_by == Some(EndedBy::Deadlock) => Some(threads),
            _ => None,
        }
    }

    /// Whether the program did its work and did not end, since no thread shuts its pools down.
    pub fn left_pools(&self) -> bool {
        self.ended_by == Some(EndedBy::Idle)
    }

    /// Whether the run had to be ended.
    pub fn hung(&self) -> bool {
        self.ended_by == Some(EndedBy::Hang) || self.timed_out
    }

    /// An outcome of this run with what else the run tells of it: the stack of the exception, and the last lines printed.
    pub fn account(&self, mut outcome: Outcome) -> Outcome {
        let of_outcome = |failure: &&Failure| {
            failure.kind == FailureKind::Exception
                && outcome.kind == OutcomeKind::Exception
                && failure.exception == outcome.message
        };
        let failed = self.failures.iter().find(of_outcome);
        let threads = failed.map_or(&[][..], |failure| &failure.threads);
        outcome.stack = threads.first().map_or_else(Vec::new, |thread| thread.stack.clone());
        outcome.printed = words::last_lines(&self.output);
        outcome
    }

    /// Threads that an uncaught exception ended, with the exception.
    pub fn exceptions(&self) -> Vec<(String, String)> {
        let Some((_, names)) = &self.trace else {
            return Vec::new();
        };
        let died = names.threads.iter().filter(|thread| !thread.exception.is_empty());
        died.map(|thread| (thread.name.clone(), thread.exception.clone()))
            .collect()
    }
}
