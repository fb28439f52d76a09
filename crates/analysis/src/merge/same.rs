//! One bug seen in several ways: a lost update is a race, an interruption and a cycle of conflicts at once, and an object of the JDK
//! that threads share without a lock shows as many.
//!
//! Findings are one bug if they are shown, name the same variables and lie in the same methods of the program. The strongest
//! evidence leads. Of equals an interruption leads, since it says how far the lock must reach, unless the variable is an object of the
//! JDK: then the race says which class to use instead.

use std::collections::{BTreeMap, BTreeSet};

use ravel_trace::naming::without_descriptor;

use crate::analyse::support;
use crate::finding::{Finding, RuleFamily};

/// Makes one finding of those that are one bug. The ids of those that are gone.
pub fn fold_same(findings: &mut Vec<Finding>) -> Vec<String> {
    let mut same: BTreeMap<Bug, Vec<usize>> = BTreeMap::new();
    for (index, finding) in findings.iter().enumerate() {
        if let Some(bug) = bug(finding) {
            same.entry(bug).or_default().push(index);
        }
    }
    let mut gone: BTreeMap<usize, usize> = BTreeMap::new();
    for indices in same.into_values() {
        let Some(&host) = indices.iter().min_by_key(|&&index| rank(&findings[index])) else {
            continue;
        };
        gone.extend(
            indices
                .into_iter()
                .filter(|index| *index != host)
                .map(|index| (index, host)),
        );
    }
    for (&index, &host) in &gone {
        let other = findings[index].clone();
        support(&mut findings[host], other);
    }
    let ids = gone.keys().map(|&index| findings[index].id.clone()).collect();
    let mut index = 0;
    findings.retain(|_| {
        index += 1;
        !gone.contains_key(&(index - 1))
    });
    ids
}

/// What makes one bug: the variables, and the methods of the program.
type Bug = (BTreeSet<String>, BTreeSet<String>);

fn bug(finding: &Finding) -> Option<Bug> {
    let family = finding.rule.family();
    if !finding.shown || !(family.is_race() || family.is_interruption()) || finding.steps.is_empty() {
        return None;
    }
    let methods = finding
        .steps
        .iter()
        .map(|step| format!("{}.{}", step.class, without_descriptor(&step.method)));
    let variables = finding.steps.iter().map(|step| step.variable.clone());
    Some((variables.collect(), methods.collect()))
}

/// Best first.
fn rank(finding: &Finding) -> impl Ord + '_ {
    let family = finding.rule.family();
    let inside = finding.steps.iter().all(|step| step.inside.is_some());
    (
        std::cmp::Reverse(finding.evidence),
        family == RuleFamily::Serializability,
        family.is_race() != inside,
        finding.rule,
        &finding.id,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::analyse;
    use crate::finding::{Evidence, Rule};
    use crate::registry;
    use crate::units::UnitSettings;
    use ravel_trace::memory::MemoryTrace;

    /// Two threads that add one to a field without a lock.
    const LOST: &str = "
        main | t1 | t2
        fork t1
        fork t2
        | enter Main.run
        | enter Counter.add
        | r Counter.count @3
        | w Counter.count @3
        | exit
        | exit
        | | enter Main.run
        | | enter Counter.add
        | | r Counter.count @3
        | | w Counter.count @3
        | | exit
        | | exit
    ";

    fn findings() -> Vec<Finding> {
        let mut trace = MemoryTrace::parse(LOST).expect("the trace of a test parses");
        let mut found = analyse(&mut trace, &UnitSettings::default(), registry::all()).findings;
        found.iter_mut().for_each(|finding| finding.shown = true);
        found
    }

    #[test]
    fn a_lost_update_is_one_finding() {
        let mut found = findings();
        assert!(found.len() > 1, "{found:#?}");
        let all = found.len();
        found
            .iter_mut()
            .for_each(|finding| finding.evidence = Evidence::Harmful);
        let gone = fold_same(&mut found);
        assert_eq!((found.len(), gone.len()), (1, all - 1), "{found:#?}");
        assert_eq!(found[0].rule, Rule::Atomicity);
    }

    #[test]
    fn the_strongest_evidence_leads() {
        let mut found = findings();
        for finding in &mut found {
            let race = finding.rule == Rule::DataRace;
            finding.evidence = if race { Evidence::Harmful } else { Evidence::Confirmed };
        }
        fold_same(&mut found);
        assert_eq!(found[0].rule, Rule::DataRace);
    }

    #[test]
    fn another_method_or_what_is_not_shown_stays() {
        let mut found = findings();
        found.truncate(2);
        found[0].steps[0].method = "other()V".to_owned();
        assert_eq!(fold_same(&mut found), [] as [String; 0]);
        let mut found = findings();
        found.iter_mut().for_each(|finding| finding.shown = false);
        assert_eq!(fold_same(&mut found), [] as [String; 0]);
    }
}
