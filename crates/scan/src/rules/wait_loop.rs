#![doc = include_str!("../../../report/src/rules/wait-outside-loop.md")]

use ravel_analysis::finding::Rule;

use super::{Facts, local_facts};
use crate::program::LocalKind;
use crate::report::{Draft, step};

/// All occurrences in wanted classes.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let program = facts.program;
    let facts = local_facts(program, LocalKind::WaitOutsideLoop);
    facts
        .map(|(method, fact)| {
            let line = program.body(method).map_or(0, |body| body.line(fact.pc));
            Draft {
                rule: Rule::WaitOutsideLoop,
                method,
                line,
                subject: String::new(),
                alike: None,
                variables: Vec::new(),
                steps: vec![step(program, method, line, "wait", String::new(), Vec::new())],
                message: "a wait that no loop surrounds: it may return although nothing has changed".to_owned(),
                help: "Put the wait into a loop that tests the condition again.".to_owned(),
                units: Vec::new(),
                shown: true,
            }
        })
        .collect()
}
