//! Runs in orders that were not recorded: what is made of what they show.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ravel_analysis::analyse::{combine, is_replayable};
use ravel_analysis::finding::{Evidence, Finding};
use ravel_schedule::{Image, Limits, Orders as OtherOrders, Schedule, orders};
use ravel_trace::{FailureKind, Trace};

use super::record::with_suffix;
use super::{Job, Orders};
use crate::analysing::{replay_order, seen_from_here};
use crate::failures::FailedRun;
use crate::interrupt;
use crate::jvm::JvmRunner;
use crate::proof::standstill;

/// How long a recorded run may be for others to be looked at.
pub(super) const LONGEST: Duration = Duration::from_secs(20);
/// Bytes of trace that are looked at of each.
pub(super) const LARGEST: u64 = 64 << 20;

/// Which findings of a run that was not recorded are forced and reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LookedFor {
    /// New ones that happen.
    New,
    /// New ones, and known ones that get further now: the trace has more than the recorded one.
    Further,
    /// The same, if they happen.
    Confirmed,
    /// New ones that happen, and known ones that turn out to be harmful: the run itself failed, or printed something unusual.
    Harmful,
}

impl Job<'_> {
    /// Runs the program of traces again: once to see what the recording left out, and then in orders that were not
    /// recorded, so many at most. What that shows for the first time is forced like the rest.
    pub fn explore(&mut self, traces: &[PathBuf], output: &Path, most: usize) -> Result<()> {
        if !self.explorable || self.program_time() > LONGEST {
            self.orders = Orders::TooLong;
            return self.look_at_unshared(traces, output);
        }
        // Runs of a program that stands still by itself end there, in any order, and take their time.
        if self
            .recorded_failures
            .iter()
            .any(|failure| failure.kind == FailureKind::Standstill)
        {
            return Ok(());
        }
        let mut tried = 0;
        interrupt::listen();
        let options = self.reading();
        let open = |path: &Path| Trace::open(path, options);
        let more = |known: &mut OtherOrders, trace: &mut Trace, room: usize| -> Result<Vec<Schedule>> {
            let limits = Limits {
                events: orders::MOST_EVENTS,
            };
            let (image, _) = Image::beginning(trace, limits)?;
            trace.rewind();
            Ok(known.of(trace, &image, room)?)
        };
        let mut number = 0;
        for trace in traces {
            let Ok(mut program) = JvmRunner::of(open(trace)?.reader(), self.settings.budget.run) else {
                // Forcing the findings has said so.
                continue;
            };
            program.keep_short(LARGEST);
            program.end_by(Instant::now() + self.left());
            let mut known = OtherOrders::default();
            // The first has no order: it is looked at more closely than the recorded one.
            let mut next = vec![Schedule::default()];
            let mut made = 0;
            // A program that hangs by itself needs no order for it.
            let mut hangs = false;
            let mut failed: Vec<FailedRun> = Vec::new();
            while !next.is_empty() && !self.left().is_zero() && !interrupt::requested() {
                let closer = made == 0;
                made += next.len();
                let numbers = number + 1..number + 1 + next.len();
                number += next.len();
                let paths: Vec<PathBuf> = numbers
                    .map(|number| with_suffix(output, &format!("order-{number}")))
                    .collect();
                let told = program.explore_all(&next, &paths, self.settings.budget.jobs, self.observer)?;
                let schedules = std::mem::take(&mut next);
                for (number, stuck) in told {
                    let path = &paths[number];
                    hangs |= stuck && closer;
                    if stuck && !hangs {
                        self.standstill(trace, &program, path, &schedules[number])?;
                    }
                    let room = (most + 1).saturating_sub(made + next.len());
                    // A run that was ended may have left a trace that cannot be read: there is nothing to see in it then.
                    let shows = open(path).map_err(anyhow::Error::from).and_then(|mut trace| {
                        let failures = trace.reader().footer().map_or(&[][..], |footer| &footer.failures);
                        failed.extend(failures.iter().map(|failure| FailedRun {
                            schedule: schedules[number].clone(),
                            failure: failure.clone(),
                        }));
                        next.extend(more(&mut known, &mut trace, room)?);
                        let wanted = if closer { LookedFor::Further } else { LookedFor::New };
                        self.look_at(path, trace, wanted)
                    });
                    if !shows.unwrap_or(false) {
                        let _ = std::fs::remove_file(path);
                    }
                }
            }
            tried += made.saturating_sub(1);
            program.end_by(Instant::now() + self.left());
            let mut found = Vec::new();
            let file = with_suffix(output, "order");
            self.tally.runs += self.add_failed_runs(trace, &file, &program, &failed, &mut found)?;
            combine(&mut self.report.findings, found);
        }
        self.orders = Orders::Tried(tried);
        Ok(())
    }

    /// Reports an order after which nothing moves any more, if it can be had again. The order is kept beside the trace of the run.
    fn standstill(&mut self, trace: &Path, program: &JvmRunner, path: &Path, schedule: &Schedule) -> Result<()> {
        let (found, runs) = standstill::find(program, schedule)?;
        self.tally.runs += runs;
        let Some(mut finding) = found.filter(|finding| self.evidence(&finding.id).is_none()) else {
            return Ok(());
        };
        finding.tests = self.test_of_trace(trace);
        if !self.settings.traces_vanish {
            let file = path.with_extension("schedule");
            std::fs::write(&file, schedule.to_text()).with_context(|| format!("cannot write {}", file.display()))?;
            finding.replay = replay_order(&seen_from_here(trace), &seen_from_here(&file));
        }
        self.tally.forced.insert(finding.id.clone());
        combine(&mut self.report.findings, vec![finding]);
        Ok(())
    }

    /// Looks for what is new in the trace of a run that was not recorded, and forces it. Whether anything of it is reported.
    pub(super) fn look_at(&mut self, path: &Path, mut trace: Trace, wanted: LookedFor) -> Result<bool> {
        trace.rewind();
        let mut findings = self.analyse(path, &mut trace, false, self.deadline())?;
        findings.retain(|finding| match self.evidence(&finding.id) {
            None => true,
            // Seen with all that comes before, it may get further.
            Some(evidence) => {
                let open = match wanted {
                    LookedFor::New => false,
                    LookedFor::Further | LookedFor::Confirmed => evidence < Evidence::Confirmed,
                    LookedFor::Harmful => evidence < Evidence::Harmful,
                };
                open && is_replayable(finding)
            }
        });
        let before = std::mem::take(&mut self.report.findings);
        self.settle(path, Some(trace), findings, Vec::new());
        let mut new = std::mem::replace(&mut self.report.findings, before);
        let further = |finding: &Finding| self.evidence(&finding.id).is_none_or(|known| known < finding.evidence);
        new.retain(|finding| {
            further(finding) && (wanted == LookedFor::Further || finding.evidence >= Evidence::Confirmed)
        });
        let name = seen_from_here(path);
        if new.is_empty() {
            self.report.recordings.retain(|recording| recording.trace != name);
            return Ok(false);
        }
        self.report
            .findings
            .retain(|known| !new.iter().any(|finding| finding.id == known.id));
        combine(&mut self.report.findings, new);
        Ok(true)
    }
}
