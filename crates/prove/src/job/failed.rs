//! The failures of a job's runs in its report: of the recorded runs, and of runs in other orders.

use std::path::Path;

use anyhow::{Context, Result};
use ravel_analysis::analyse::combine;
use ravel_analysis::finding::{Finding, RuleFamily};
use ravel_trace::Failure;

use super::Job;
use crate::analysing::{replay_order, seen_from_here};
use crate::failures::{FailedRun, is_alike, is_outcome_of, of_orders, of_recording};
use crate::interrupt;
use crate::jvm::JvmRunner;

impl Job<'_> {
    /// Reports what went wrong in runs that were not recorded, if it depends on the order of the threads; how many runs that took. The
    /// orders are kept in files beside `near`.
    pub(super) fn add_failed_runs(
        &mut self,
        trace: &Path,
        near: &Path,
        program: &JvmRunner,
        failed: &[FailedRun],
        findings: &mut Vec<Finding>,
    ) -> Result<usize> {
        self.all_failures.extend(failed.iter().map(|run| run.failure.clone()));
        let known = |failure: &Failure| {
            let mut told = self.report.findings.iter().chain(findings.iter());
            self.recorded_failures.iter().any(|other| is_alike(other, failure))
                || told.any(|finding| is_outcome_of(failure, finding, &self.all_failures))
        };
        let is_over = || program.is_over() || interrupt::requested();
        let (found, runs) = of_orders(program, failed, &known, &is_over)?;
        for (mut finding, schedule) in found {
            if !self.settings.traces_vanish {
                let file = near.with_extension(format!("{}.schedule", finding.id));
                std::fs::write(&file, schedule.to_text())
                    .with_context(|| format!("cannot write {}", file.display()))?;
                finding.replay = replay_order(&seen_from_here(trace), &seen_from_here(&file));
            }
            self.tally.forced.insert(finding.id.clone());
            findings.push(finding);
        }
        Ok(runs)
    }

    /// Reports what went wrong in the recorded runs.
    pub(super) fn add_recorded_failures(&mut self) {
        let mut told: Vec<Failure> = Vec::new();
        for failure in std::mem::take(&mut self.recorded_failures) {
            if told.iter().any(|other| is_alike(other, &failure)) {
                continue;
            }
            let finding = of_recording(&failure);
            let all = &self.all_failures;
            // The second run of the same deadlock has less information: neither stacks nor the locks that the threads block on.
            self.report.findings.retain(|known| {
                let again = known.rule.family() == RuleFamily::LockOrder && known.analyses == ["replay"];
                !(again && is_outcome_of(&failure, known, all))
            });
            let mut findings = self.report.findings.iter();
            let wanted = self.settings.only.is_empty() || self.settings.only.contains(&finding.id);
            if wanted && !findings.any(|known| is_outcome_of(&failure, known, all)) {
                combine(&mut self.report.findings, vec![finding]);
            }
            told.push(failure);
        }
    }
}
