//! Joins what was suspected in code with what a recorded run has: one bug, one finding.
//!
//! A suspicion and a finding of a run are the same bug when their ids are the same (rules that both sides can name alike make
//! the same fingerprint), or when the run shows what was suspected: a race on the suspected field, an interruption between
//! the two suspected acquisitions, a circle of locks through the suspected methods.

use ravel_analysis::finding::{Finding, Rule, Step};

/// The name under which a finding lists this crate among its analyses.
pub const ANALYSIS: &str = "scan";

/// Notes in each finding of a run that a suspicion supports it; gives back the suspicions that no finding shows.
pub fn confirm(suspects: Vec<Finding>, found: &mut [Finding]) -> Vec<Finding> {
    let mut open = suspects;
    open.retain(|suspect| {
        let mut seen = false;
        for finding in found.iter_mut().filter(|finding| is_same(suspect, finding)) {
            seen = true;
            if !finding.analyses.iter().any(|known| known == ANALYSIS) {
                finding.analyses.push(ANALYSIS.to_owned());
            }
        }
        !seen
    });
    open
}

/// Whether code that a scan suspects supports a finding.
pub fn is_supported(finding: &Finding) -> bool {
    finding.analyses.iter().any(|analysis| analysis == ANALYSIS)
}

fn is_same(suspect: &Finding, finding: &Finding) -> bool {
    suspect.id == finding.id
        || match suspect.rule {
            Rule::GuardedBy | Rule::DoubleCheckedLocking | Rule::ReassignedLock => {
                matches!(finding.rule, Rule::DataRace | Rule::LockDiscipline)
                    && suspect
                        .variables
                        .first()
                        .is_some_and(|field| finding.variables.contains(field))
            }
            Rule::LockPattern => {
                matches!(finding.rule, Rule::Atomicity | Rule::AtomicSet | Rule::Unserializable)
                    && is_between(&suspect.steps, &finding.steps)
            }
            Rule::LockOrder => {
                finding.rule == Rule::LockOrder
                    && suspect.steps.iter().all(|step| {
                        let name = method(step);
                        finding
                            .steps
                            .iter()
                            .any(|real| passes(real, &|frame| frame.starts_with(&name)))
                    })
            }
            _ => false,
        }
}

/// Whether one thread of the run goes through both acquisitions: after the context come the first and the second.
fn is_between(suspected: &[Step], real: &[Step]) -> bool {
    let [_, first, second, ..] = suspected else {
        return false;
    };
    let (first, second) = (place(first), place(second));
    real.iter().any(|a| {
        passes(a, &|frame| frame == first)
            && real
                .iter()
                .any(|b| a.thread == b.thread && passes(b, &|frame| frame == second))
    })
}

fn passes(step: &Step, test: &dyn Fn(&str) -> bool) -> bool {
    test(&place(step)) || step.stack.iter().any(|frame| test(frame))
}

/// `shop.Stock.count (`, as a frame begins.
fn method(step: &Step) -> String {
    let name = step.method.split('(').next().unwrap_or_default();
    format!("{}.{name} (", step.class)
}

/// `shop.Stock.count (Stock.java:14)`, as frames are written.
fn place(step: &Step) -> String {
    format!("{}{}:{})", method(step), step.file, step.line)
}
