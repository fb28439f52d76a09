#![doc = include_str!("../../../report/src/rules/double-checked-locking.md")]

use ravel_analysis::finding::Rule;
use ravel_classfile::access;

use super::Facts;
use crate::program::LocalKind;
use crate::report::{Alike, Draft, step};

/// All occurrences in wanted classes.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let program = facts.program;
    let mut drafts = Vec::new();
    for (method, fact) in super::local_facts(program, LocalKind::DoubleChecked) {
        let Some(field) = fact.field.and_then(|field| program.field(field)) else {
            continue;
        };
        let (Some(body), true) = (
            program.body(method),
            field.access & (access::VOLATILE | access::FINAL) == 0,
        ) else {
            continue;
        };
        // An int or boolean cannot be half made, but what it announces can.
        let (name, told) = (program.field_text(field.pair), program.field_name(field.pair));
        let (test, line) = (body.line(fact.other), body.line(fact.pc));
        drafts.push(Draft {
            rule: Rule::DoubleCheckedLocking,
            method,
            line,
            subject: name.clone(),
            alike: Some(Alike::Race(name.clone())),
            variables: vec![name.clone()],
            steps: vec![
                step(program, method, test, "read", name.clone(), Vec::new()),
                step(program, method, line, "write", name.clone(), Vec::new()),
            ],
            message: format!("{told} is tested without the lock under which it is assigned, and is not volatile"),
            help: format!("Declare {told} volatile."),
            units: Vec::new(),
            shown: true,
        });
    }
    drafts
}
