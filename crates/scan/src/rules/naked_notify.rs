#![doc = include_str!("../../../report/src/rules/naked-notify.md")]

use ravel_analysis::finding::Rule;
use ravel_classfile::access;

use super::{Facts, lock_told, waited_on};
use crate::program::{LocalFact, LocalKind, MethodId};
use crate::report::{Draft, step};

/// All occurrences in wanted classes.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let program = facts.program;
    let facts = super::local_facts(program, LocalKind::NakedNotify);
    // A waiting thread sees the assignment of a volatile field before the notification.
    let is_seen = |fact: &LocalFact| {
        let field = fact.field.and_then(|field| program.field(field));
        field.is_some_and(|field| field.access & access::VOLATILE != 0)
    };
    // Compilers copy the code of `finally`: a place is a line.
    let mut places: Vec<(MethodId, u32, u16)> = facts
        .filter(|(_, fact)| !is_seen(fact))
        .map(|(method, fact)| {
            (
                method,
                program.body(method).map_or(0, |body| body.line(fact.pc)),
                fact.pc,
            )
        })
        .collect();
    places.sort_unstable();
    places.dedup_by_key(|(method, line, _)| (*method, *line));
    let named = places.into_iter().map(|(method, line, pc)| {
        let lock = waited_on(program, method, pc).unwrap_or_default();
        let told = match lock.as_str() {
            "" => "the lock".to_owned(),
            text => lock_told(program, method, text),
        };
        (method, line, lock, told)
    });
    named
        .map(|(method, line, lock, told)| Draft {
            rule: Rule::NakedNotify,
            method,
            line,
            subject: String::new(),
            alike: None,
            variables: Vec::new(),
            steps: vec![step(program, method, line, "notify", lock, Vec::new())],
            message: format!(
                "{} notifies the threads that wait on {told}, but changes nothing while it holds {told}",
                program.method_name(method)
            ),
            help: format!(
                "Change the state that the waiting threads test while holding {told}, before the notification."
            ),
            units: Vec::new(),
            // On real programs nearly all were harmless; see `docs/scan-results.md`.
            shown: false,
        })
        .collect()
}
