#![doc = include_str!("../../../report/src/rules/two-guards.md")]

use std::collections::BTreeSet;

use ravel_analysis::finding::Rule;
use ravel_classfile::access;

use super::guards::{Guard, Guarded, uses};
use super::{About, Facts};
use crate::report::Draft;

/// One finding per static field.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let (program, graph) = (facts.program, facts.graph);
    let mut drafts = Vec::new();
    for (field, uses) in uses(program, graph) {
        let is_static = program
            .field(field)
            .is_some_and(|field| field.access & access::STATIC != 0);
        let all_locked = uses.iter().all(|used| !used.guards.is_empty() && !used.other);
        if !is_static || !all_locked || !uses.iter().any(|used| used.write) {
            continue;
        }
        let mut common: Option<BTreeSet<Guard>> = None;
        for used in &uses {
            common = Some(match common {
                None => used.guards.clone(),
                Some(known) => known.intersection(&used.guards).copied().collect(),
            });
        }
        if common.is_none_or(|common| !common.is_empty()) {
            continue;
        }
        let Some(first) = uses.first() else { continue };
        let Some(other) = uses.iter().find(|used| used.guards.is_disjoint(&first.guards)) else {
            continue;
        };
        let told = program.field_name(field);
        let (class, _) = program.symbols.members(field);
        let guard = |used: &Guarded| used.guards.first().copied();
        let name = |guard: Option<Guard>| match guard {
            None => "a lock".to_owned(),
            Some(Guard::This) => "its object".to_owned(),
            Some(guard) => guard.told(program, class),
        };
        // A lock that all threads share.
        let is_shared = |guard: &Guard| matches!(guard, Guard::Static(_) | Guard::Class(_));
        let shared = [guard(first), guard(other)].into_iter().flatten().find(is_shared);
        let shared = shared.map_or_else(|| "one static lock".to_owned(), |shared| name(Some(shared)));
        let op = |write| if write { "write" } else { "read" };
        drafts.push(super::about_race(
            program,
            &About {
                rule: Rule::TwoGuards,
                method: first.method,
                field: Some(field),
                places: &[
                    (first.method, first.pc, op(first.write)),
                    (other.method, other.pc, op(other.write)),
                ],
                message: format!(
                    "{told} is static, but {} locks {} to access it and {} locks {}",
                    program.method_name(first.method),
                    name(guard(first)),
                    program.method_name(other.method),
                    name(guard(other)),
                ),
                help: format!(
                    "Hold {shared} at every access to {told}: the lock of one object does not exclude threads that lock another."
                ),
                shown: true,
            },
        ));
    }
    drafts
}
