#![doc = include_str!("../../../report/src/rules/naked-notify.md")]

use ravel_analysis::finding::Rule;

use crate::program::{LocalKind, Program};
use crate::report::{Draft, step};

/// All occurrences in wanted classes.
pub fn check(program: &Program) -> Vec<Draft> {
    let facts = super::wait_loop::local_facts(program, LocalKind::NakedNotify);
    facts
        .map(|(method, fact)| {
            let line = program.body(method).map_or(0, |body| body.line(fact.pc));
            Draft {
                rule: Rule::NakedNotify,
                method,
                line,
                subject: String::new(),
                alike: None,
                variables: Vec::new(),
                steps: vec![step(program, method, line, "notify", String::new(), Vec::new())],
                message: "threads are notified and nothing was changed under the lock".to_owned(),
                help: "Change the state that the others wait for under the same lock, before the notification."
                    .to_owned(),
                units: Vec::new(),
                shown: true,
            }
        })
        .collect()
}
