//! Joins what was suspected in code with what a recorded run has: one bug, one finding.
//!
//! A suspicion and a finding of a run are the same bug when their ids are the same (rules that both sides can name alike make
//! the same fingerprint), or when the run shows what was suspected: a race on the suspected field, an interruption between
//! the two suspected acquisitions, a circle of locks through the suspected methods.

use ravel_analysis::finding::{Evidence, Finding, FindingStep, RuleFamily};
use ravel_trace::naming::Frame;

use crate::rules::{RULES, ShownBy};

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

/// Whether a finding of a run goes through the code of a suspicion, so that it would be untrue that no run reached it: through
/// every place of it, or through one if the finding has happened.
pub fn touches(finding: &Finding, suspicion: &Finding) -> bool {
    let mut places = suspicion.steps.iter().map(FindingStep::frame);
    let reached = |place: Frame<'_>| finding.steps.iter().any(|step| passes(step, &|frame| *frame == place));
    match finding.evidence {
        Evidence::Harmful | Evidence::Confirmed => places.any(reached),
        _ => !suspicion.steps.is_empty() && places.all(reached),
    }
}

/// Whether code that a scan suspects supports a finding.
pub fn is_supported(finding: &Finding) -> bool {
    finding.analyses.iter().any(|analysis| analysis == ANALYSIS)
}

fn is_same(suspect: &Finding, finding: &Finding) -> bool {
    let rule = RULES.iter().find(|known| known.rule == suspect.rule);
    let family = finding.rule.family();
    suspect.id == finding.id
        || match rule.map_or(ShownBy::Nothing, |rule| rule.shown_by) {
            ShownBy::Nothing => false,
            ShownBy::Race => {
                let field = suspect.variables.first();
                family.is_race() && field.is_some_and(|field| finding.variables.contains(field))
            }
            ShownBy::Interruption => family.is_interruption() && is_between(&suspect.steps, &finding.steps),
            ShownBy::LockOrder => {
                family == RuleFamily::LockOrder
                    && suspect.steps.iter().all(|step| {
                        let own = step.frame();
                        let same = |frame: &Frame<'_>| (frame.class, frame.method) == (own.class, own.method);
                        finding.steps.iter().any(|real| passes(real, &same))
                    })
            }
        }
}

/// Whether one thread of the run goes through both places: the test and the act, or after a context the first acquisition and the
/// second.
fn is_between(suspected: &[FindingStep], real: &[FindingStep]) -> bool {
    let ([first, second] | [_, first, second, ..]) = suspected else {
        return false;
    };
    let (first, second) = (first.frame(), second.frame());
    real.iter().any(|a| {
        passes(a, &|frame| *frame == first)
            && real
                .iter()
                .any(|b| a.thread == b.thread && passes(b, &|frame| *frame == second))
    })
}

/// Whether a step or one of the calls that led to it is at a place.
fn passes(step: &FindingStep, test: &dyn Fn(&Frame<'_>) -> bool) -> bool {
    test(&step.frame()) || step.stack.iter().any(|frame| test(&Frame::parse(frame)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravel_analysis::finding::{Evidence, Rule};

    fn step(thread: &str, place: &str, line: u32) -> FindingStep {
        let (class, method) = place.split_once('.').unwrap_or((place, ""));
        FindingStep {
            thread: thread.to_owned(),
            op: "acquire".to_owned(),
            class: class.to_owned(),
            method: format!("{method}()V"),
            file: format!("{class}.java"),
            line,
            ..FindingStep::default()
        }
    }

    fn finding(id: &str, rule: Rule, variable: &str, steps: Vec<FindingStep>) -> Finding {
        Finding {
            shown: true,
            variables: vec![variable.to_owned()],
            steps,
            ..Finding::new(id.to_owned(), rule, Evidence::Suspected)
        }
    }

    /// Whether the run's finding is taken to show the suspicion.
    fn joined(suspect: Finding, found: Finding) -> bool {
        let mut found = [found];
        let open = confirm(vec![suspect], &mut found);
        assert_eq!(open.is_empty(), is_supported(&found[0]));
        open.is_empty()
    }

    #[test]
    fn a_race_on_the_field_is_the_same_bug() {
        let suspect = |rule| finding("1", rule, "Stock.items", Vec::new());
        let race = |variable| finding("2", Rule::DataRace, variable, Vec::new());
        assert!(joined(suspect(Rule::GuardedBy), race("Stock.items")));
        assert!(joined(suspect(Rule::DoubleCheckedLocking), race("Stock.items")));
        assert!(!joined(suspect(Rule::GuardedBy), race("Stock.other")));
        assert!(!joined(suspect(Rule::NakedNotify), race("Stock.items")));
    }

    #[test]
    fn an_interruption_must_go_through_both_acquisitions() {
        let suspect = || {
            let steps = vec![step("", "A.m", 1), step("", "A.m", 3), step("", "A.m", 5)];
            finding("1", Rule::LockPattern, "this", steps)
        };
        let inner = |thread: &str, line: u32| FindingStep {
            stack: vec!["C.get (C.java:9)".to_owned(), format!("A.m (A.java:{line})")],
            ..step(thread, "C.get", 9)
        };
        let run = |steps| finding("2", Rule::Atomicity, "C.value", steps);
        assert!(joined(
            suspect(),
            run(vec![inner("t", 3), step("u", "B.x", 2), inner("t", 5)])
        ));
        assert!(!joined(
            suspect(),
            run(vec![inner("t", 3), step("u", "B.x", 2), inner("t", 7)])
        ));
        assert!(!joined(suspect(), run(vec![inner("t", 3), inner("u", 5)])));
    }

    #[test]
    fn a_circle_goes_through_the_same_methods() {
        let circle = |id, second: &str| {
            let steps = vec![step("t", "A.ab", 1), step("u", second, 2)];
            finding(id, Rule::LockOrder, "A", steps)
        };
        assert!(joined(circle("1", "B.ba"), circle("2", "B.ba")));
        assert!(!joined(circle("1", "B.ba"), circle("2", "B.bad")));
        assert!(joined(circle("1", "B.ba"), circle("1", "B.other")), "one id is one bug");
    }
}
