//! Findings that say again what others say: left out of the list, and named by the finding that stays.
//!
//! - A deadlock that a run without a schedule had again, if the circle of its locks is known: that finding has the acquisitions
//!   that block, this one only the locks that the threads hold.
//! - A cycle of conflicts over variables that all have findings of their own, in the same code: it comes of these bugs, and its fix is theirs.
//! - A finding that is not shown and whose sentence is word for word that of a stronger one, from the trace of another run.

use std::collections::BTreeSet;

use ravel_trace::naming::{Frame, without_descriptor};

use crate::finding::{AlsoSeen, Finding, FindingStep, OutcomeKind, RuleFamily};

/// Leaves out what is said again. The ids of those that are gone.
pub fn fold_repeated(findings: &mut Vec<Finding>) -> Vec<String> {
    let mut gone: Vec<(usize, usize)> = Vec::new();
    for index in 0..findings.len() {
        let is_left = |at: &usize| *at != index && !gone.iter().any(|(other, _)| other == at);
        let others: Vec<usize> = (0..findings.len()).filter(is_left).collect();
        let host = said_by(&findings[index], others.iter().map(|at| (*at, &findings[*at])));
        gone.extend(host.map(|host| (index, host)));
    }
    for &(index, host) in &gone {
        let Finding {
            id,
            rule,
            evidence,
            message,
            analyses,
            ..
        } = findings[index].clone();
        let host = &mut findings[host];
        let is_new = |name: &String| !host.analyses.contains(name);
        let analyses: Vec<String> = analyses.into_iter().filter(is_new).collect();
        host.analyses.extend(analyses);
        if rule != host.rule {
            host.also.push(AlsoSeen {
                id,
                rule,
                evidence,
                message,
            });
        }
    }
    let ids = gone.iter().map(|(index, _)| findings[*index].id.clone()).collect();
    let mut index = 0;
    findings.retain(|_| {
        index += 1;
        !gone.iter().any(|(other, _)| *other == index - 1)
    });
    ids
}

/// The finding among others that says what this one does.
fn said_by<'f>(finding: &Finding, others: impl Iterator<Item = (usize, &'f Finding)> + Clone) -> Option<usize> {
    let first = |is_it: &dyn Fn(&Finding) -> bool| {
        let mut found = others.clone().filter(|(_, other)| is_it(other));
        found.next().map(|(at, _)| at)
    };
    if is_deadlock_again(finding) {
        return first(&|other| {
            other.shown && is_deadlock(other) && !is_deadlock_again(other) && covers_deadlock(other, finding)
        });
    }
    if !finding.shown {
        let strength = |one: &Finding| (one.shown, one.evidence, std::cmp::Reverse(one.id.clone()));
        return first(&|other| {
            other.rule == finding.rule
                && !finding.message.is_empty()
                && other.message == finding.message
                && strength(other) > strength(finding)
        });
    }
    if finding.rule.family() != RuleFamily::Serializability {
        return None;
    }
    let own: BTreeSet<String> = finding.steps.iter().flat_map(on_stack).collect();
    let is_cause = |other: &Finding| {
        other.shown
            && other.evidence >= finding.evidence
            && (other.rule.family().is_race() || other.rule.family().is_interruption())
            && other.rule.family() != RuleFamily::Serializability
            && other.steps.iter().any(|step| own.contains(&method(step)))
    };
    let variables: BTreeSet<&str> = variables(finding).collect();
    let has_own = |name: &&str| first(&|other| is_cause(other) && self::variables(other).any(|other| other == *name));
    let causes: Option<Vec<usize>> = variables.iter().map(has_own).collect();
    causes.filter(|_| variables.len() > 1)?.first().copied()
}

fn variables(finding: &Finding) -> impl Iterator<Item = &str> {
    let names = finding.steps.iter().map(|step| step.variable.as_str());
    names.filter(|name| !name.is_empty())
}

fn is_deadlock(finding: &Finding) -> bool {
    let outcome = finding.outcome.as_ref();
    finding.rule.family() == RuleFamily::LockOrder
        && outcome.is_some_and(|outcome| outcome.kind == OutcomeKind::Deadlock)
}

fn is_deadlock_again(finding: &Finding) -> bool {
    is_deadlock(finding) && finding.analyses == ["replay"]
}

/// Whether a deadlock has the locks of another one, and takes them in the same code.
fn covers_deadlock(finding: &Finding, again: &Finding) -> bool {
    let locks = |one: &Finding| one.variables.iter().cloned().collect::<BTreeSet<String>>();
    let code: BTreeSet<String> = finding.steps.iter().map(method).collect();
    locks(finding) == locks(again) && again.steps.iter().all(|step| code.contains(&method(step)))
}

fn method(step: &FindingStep) -> String {
    format!("{}.{}", step.class, without_descriptor(&step.method))
}

fn on_stack(step: &FindingStep) -> Vec<String> {
    let callers = step.stack.iter().map(|frame| Frame::parse(frame).name());
    callers.chain([method(step)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Evidence, Outcome, Rule};

    fn finding(id: &str, rule: Rule, steps: &[(&str, &str)]) -> Finding {
        let step = |(variable, method): &(&str, &str)| FindingStep {
            variable: (*variable).to_owned(),
            class: "shop.Orders".to_owned(),
            method: format!("{method}()V"),
            stack: vec!["shop.Orders.place (Orders.java:9)".to_owned()],
            ..FindingStep::default()
        };
        Finding {
            shown: true,
            variables: steps.iter().map(|(variable, _)| (*variable).to_owned()).collect(),
            steps: steps.iter().map(step).collect(),
            message: format!("{rule:?} of {steps:?}"),
            ..Finding::new(id.to_owned(), rule, Evidence::Harmful)
        }
    }

    fn ids(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.id.as_str()).collect()
    }

    #[test]
    fn a_cycle_over_variables_that_have_findings_of_their_own_is_part_of_them() {
        let race = finding("race", Rule::DataRace, &[("shop.Orders.numbers", "place")]);
        let update = finding("update", Rule::Atomicity, &[("shop.Orders.next", "place")]);
        let cycle = || {
            let steps = [("shop.Orders.next", "take"), ("shop.Orders.numbers", "place")];
            finding("cycle", Rule::Unserializable, &steps)
        };
        let mut all = vec![cycle(), race.clone(), update];
        assert_eq!(fold_repeated(&mut all), ["cycle"]);
        assert_eq!(ids(&all), ["race", "update"]);
        assert_eq!(all.iter().map(|one| one.also.len()).sum::<usize>(), 1);
        // The other variable has no finding of its own.
        let mut all = vec![cycle(), race];
        assert!(fold_repeated(&mut all).is_empty());
    }

    #[test]
    fn a_deadlock_that_happened_again_is_told_once() {
        let deadlock = |id: &str, analyses: &[&str], method: &str| Finding {
            outcome: Some(Outcome::new(OutcomeKind::Deadlock, "a and b wait for each other")),
            analyses: analyses.iter().map(|name| (*name).to_owned()).collect(),
            ..finding(id, Rule::LockOrder, &[("shop.Account", method)])
        };
        let circle = deadlock("circle", &["blocks"], "transfer");
        let mut all = vec![deadlock("again", &["replay"], "transfer"), circle.clone()];
        assert_eq!(fold_repeated(&mut all), ["again"]);
        let mut all = vec![deadlock("other", &["replay"], "close"), circle];
        assert!(fold_repeated(&mut all).is_empty());
    }

    #[test]
    fn of_two_equal_sentences_the_stronger_finding_stays() {
        let with = |id: &str, evidence| Finding {
            shown: false,
            evidence,
            ..finding(id, Rule::Atomicity, &[("shop.Orders.next", "place")])
        };
        let mut all = vec![with("weak", Evidence::Predicted), with("strong", Evidence::Confirmed)];
        assert_eq!(fold_repeated(&mut all), ["weak"]);
        let mut all = vec![with("a", Evidence::Predicted), with("b", Evidence::Predicted)];
        assert_eq!(fold_repeated(&mut all), ["b"]);
    }
}
