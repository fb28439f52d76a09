#![doc = include_str!("../../../report/src/rules/wait-outside-loop.md")]

use ravel_analysis::finding::Rule;

use crate::program::{LocalFact, LocalKind, MethodId, Program};
use crate::report::{Draft, step};

/// The facts of one kind in the methods of wanted classes.
pub(crate) fn local_facts(program: &Program, kind: LocalKind) -> impl Iterator<Item = (MethodId, &LocalFact)> {
    let methods = program.method_ids().filter(|method| program.class_of(*method).wanted);
    methods.flat_map(move |method| {
        let facts = program.method(method).local.iter();
        facts
            .filter(move |fact| fact.kind == kind)
            .map(move |fact| (method, fact))
    })
}

/// All occurrences in wanted classes.
pub fn check(program: &Program) -> Vec<Draft> {
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
