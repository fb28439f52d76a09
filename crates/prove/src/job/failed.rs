//! The failures of a job's runs in its report: of the recorded runs, and of runs in other orders.

use std::path::Path;

use anyhow::{Context, Result};
use ravel_analysis::analyse::combine;
use ravel_analysis::finding::{AlsoSeen, Finding, FindingStep, OutcomeKind, Rule, RuleFamily};
use ravel_trace::Failure;
use ravel_trace::naming::without_descriptor;

use super::Job;
use crate::analysing::{replay_order, seen_from_here};
use crate::failures::{FailedRun, is_alike, is_outcome_of, of_orders, of_recording};
use crate::interrupt;
use crate::jvm::JvmRunner;

/// Gives an uncaught exception the fix of a wait without a loop in the same method: a thread that goes on although its condition does
/// not hold fails like that. The suspicion is then part of the finding.
pub(super) fn explain_exceptions(suspicions: &mut Vec<Finding>, findings: &mut [Finding]) {
    let is_thrown = |finding: &&mut Finding| {
        let outcome = finding.outcome.as_ref();
        finding.rule == Rule::Failure && outcome.is_some_and(|outcome| outcome.kind == OutcomeKind::Exception)
    };
    for finding in findings.iter_mut().filter(is_thrown) {
        let in_same_method = |place: &FindingStep| {
            let mut steps = finding.steps.iter();
            // The frame of an exception has no descriptor.
            let name = |step: &FindingStep| without_descriptor(&step.method).to_owned();
            steps.any(|step| step.class == place.class && name(step) == name(place))
        };
        let at = suspicions.iter().position(|suspicion| {
            suspicion.rule == Rule::WaitOutsideLoop && suspicion.steps.iter().any(in_same_method)
        });
        let Some(cause) = at.map(|at| suspicions.remove(at)) else {
            continue;
        };
        if let Some(place) = cause.steps.first() {
            let advice = cause.help.trim_end_matches('.');
            finding.help = format!("{advice} ({}:{}).", place.file, place.line);
        }
        finding.also.push(AlsoSeen {
            id: cause.id,
            rule: cause.rule,
            evidence: cause.evidence,
            message: cause.message,
        });
    }
}

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
        let orders = of_orders(program, failed, &known, &is_over)?;
        for failure in orders.held_back {
            if !self.held_back.iter().any(|other| is_alike(other, &failure)) {
                self.held_back.push(failure);
            }
        }
        for (mut finding, schedule) in orders.found {
            finding.tests = self.test_of_trace(trace);
            if !self.settings.traces_vanish {
                let file = near.with_extension(format!("{}.schedule", finding.id));
                std::fs::write(&file, schedule.to_text())
                    .with_context(|| format!("cannot write {}", file.display()))?;
                finding.replay = replay_order(&seen_from_here(trace), &seen_from_here(&file));
            }
            self.tally.forced.insert(finding.id.clone());
            findings.push(finding);
        }
        Ok(orders.runs)
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

#[cfg(test)]
mod tests {
    use super::*;
    use ravel_analysis::finding::{Evidence, Outcome};

    fn at(rule: Rule, method: &str, line: u32) -> Finding {
        let step = FindingStep {
            class: "shop.Box".to_owned(),
            method: method.to_owned(),
            file: "Box.java".to_owned(),
            line,
            ..FindingStep::default()
        };
        Finding {
            steps: vec![step],
            help: "Call wait() in a loop.".to_owned(),
            ..Finding::new(format!("{line:08}"), rule, Evidence::Suspected)
        }
    }

    #[test]
    fn a_wait_without_a_loop_explains_the_exception_of_its_method() {
        let told = |kind, rule, method: &str| {
            let mut findings = vec![at(Rule::Failure, "take", 7)];
            findings[0].outcome = Some(Outcome::new(kind, "java.util.NoSuchElementException"));
            findings[0].help = "Order the threads.".to_owned();
            let mut suspicions = vec![at(rule, method, 6)];
            explain_exceptions(&mut suspicions, &mut findings);
            assert_eq!(findings[0].also.len() + suspicions.len(), 1);
            findings.swap_remove(0).help
        };
        assert_eq!(
            told(OutcomeKind::Exception, Rule::WaitOutsideLoop, "take()I"),
            "Call wait() in a loop (Box.java:6)."
        );
        for (kind, rule, method) in [
            (OutcomeKind::Exception, Rule::WaitOutsideLoop, "put()I"),
            (OutcomeKind::Exception, Rule::NakedNotify, "take()I"),
            (OutcomeKind::Exit, Rule::WaitOutsideLoop, "take()I"),
        ] {
            assert_eq!(told(kind, rule, method), "Order the threads.");
        }
    }
}
