//! One bug found twice: a method and its caller are both units, and the same steps interrupt both.
//!
//! Whether they are is known only after findings have been forced: until then each has many occurrences, and the report shows one.
//! Findings with other steps, or with the same steps on another call path, stay separate: they need their own fix.

use std::collections::BTreeMap;

use super::is_certain;
use crate::analyse::support;
use crate::finding::{Finding, FindingStep};

/// Makes one finding of those whose interleavings have the same steps: the one with the strongest evidence, and of equals
/// the most particular, with what supports the others. The ids of those that are gone.
pub fn fold_alike(findings: &mut Vec<Finding>) -> Vec<String> {
    let mut alike: BTreeMap<Vec<Told<'_>>, Vec<usize>> = BTreeMap::new();
    for (index, finding) in findings.iter().enumerate() {
        if finding.rule.family().is_interruption() {
            alike.entry(told(&finding.steps)).or_default().push(index);
        }
    }
    let mut folded: Vec<(usize, usize)> = Vec::new();
    for same in alike.into_values() {
        let Some(&host) = same.iter().min_by_key(|&&index| rank(&findings[index])) else {
            continue;
        };
        folded.extend(
            same.into_iter()
                .filter(|&index| index != host)
                .map(|index| (index, host)),
        );
    }
    for &(index, host) in &folded {
        let other = findings[index].clone();
        support(&mut findings[host], other);
    }
    let gone: Vec<String> = folded.iter().map(|&(index, _)| findings[index].id.clone()).collect();
    let mut index = 0;
    findings.retain(|_| {
        index += 1;
        !folded.iter().any(|&(gone, _)| gone == index - 1)
    });
    gone
}

/// A step as far as it is part of the code: thread by number, since names differ from run to run, and everything but locks.
type Told<'a> = (usize, &'a str, &'a str, &'a str, &'a str, u32, &'a [String]);

fn told(steps: &[FindingStep]) -> Vec<Told<'_>> {
    let mut threads: Vec<&str> = Vec::new();
    let mut number = |thread| match threads.iter().position(|known| *known == thread) {
        Some(number) => number,
        None => {
            threads.push(thread);
            threads.len() - 1
        }
    };
    let told = steps.iter().map(|step| {
        (
            number(step.thread.as_str()),
            step.op.as_str(),
            step.variable.as_str(),
            step.class.as_str(),
            step.method.as_str(),
            step.line,
            step.stack.as_slice(),
        )
    });
    told.collect()
}

/// Best first: what was shown to happen, what rests on certain units, what says most closely what is wrong.
fn rank(finding: &Finding) -> impl Ord + '_ {
    (
        std::cmp::Reverse((finding.evidence, finding.shown)),
        finding.units.iter().any(|unit| !is_certain(unit.kind)),
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

    /// Two threads that check and then act, in a method that another one calls.
    const LIMITER: &str = "
        volatile java.util.concurrent.atomic.AtomicInteger.state
        t1                                                 | t2
        enter Zoo.go
        enter Limiter.tryUse
        r java.util.concurrent.atomic.AtomicInteger.state @1
                                                           | enter Zoo.go
                                                           | enter Limiter.tryUse
                                                           | r java.util.concurrent.atomic.AtomicInteger.state @1
                                                           | u java.util.concurrent.atomic.AtomicInteger.state @2
                                                           | exit
                                                           | exit
        u java.util.concurrent.atomic.AtomicInteger.state @2
        exit
        exit
    ";

    fn findings(text: &str) -> Vec<Finding> {
        let mut trace = MemoryTrace::parse(text).expect("the trace of a test parses");
        analyse(&mut trace, &UnitSettings::default(), registry::all()).findings
    }

    fn rules(findings: &[Finding]) -> Vec<Rule> {
        findings.iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn a_method_and_its_caller_interrupted_by_the_same_steps_are_one_bug() {
        let mut found = findings(LIMITER);
        assert_eq!(rules(&found), [Rule::Atomicity, Rule::Unserializable], "{found:#?}");
        let ids: Vec<String> = found.iter().map(|finding| finding.id.clone()).collect();
        let gone = fold_alike(&mut found);
        assert_eq!(gone, [ids[1].as_str()]);
        assert_eq!(rules(&found), [Rule::Atomicity]);
        assert_eq!(found[0].id, ids[0], "the id stays");
        assert_eq!(found[0].units[0].method, "Limiter.tryUse");
    }

    #[test]
    fn the_stronger_of_the_two_is_told() {
        let mut found = findings(LIMITER);
        found[1].evidence = Evidence::Harmful;
        found[1].analyses.push("another".to_owned());
        found[0].analyses.push("its own".to_owned());
        fold_alike(&mut found);
        assert_eq!(rules(&found), [Rule::Unserializable]);
        for analysis in ["another", "its own"] {
            assert!(found[0].analyses.iter().any(|known| known == analysis), "{found:#?}");
        }
    }

    #[test]
    fn other_steps_or_another_way_to_them_are_another_bug() {
        for change in [
            |finding: &mut Finding| finding.steps[1].line += 1,
            |finding: &mut Finding| finding.steps[1].op = "write".to_owned(),
            |finding: &mut Finding| finding.steps[0].stack.push("Other.caller (Other.java:3)".to_owned()),
            |finding: &mut Finding| drop(finding.steps.pop()),
            |finding: &mut Finding| finding.steps[1].thread = finding.steps[0].thread.clone(),
            |finding: &mut Finding| finding.rule = Rule::DataRace,
        ] {
            let mut found = findings(LIMITER);
            change(&mut found[1]);
            assert_eq!(fold_alike(&mut found), [] as [String; 0]);
            assert_eq!(found.len(), 2);
        }
    }

    #[test]
    fn names_of_threads_do_not_count() {
        let mut found = findings(LIMITER);
        for step in &mut found[1].steps {
            step.thread.push_str("-of-another-run");
        }
        assert_eq!(fold_alike(&mut found).len(), 1);
    }
}
