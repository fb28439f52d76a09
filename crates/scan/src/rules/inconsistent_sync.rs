#![doc = include_str!("../../../report/src/rules/inconsistent-sync.md")]

use std::collections::BTreeMap;

use ravel_analysis::finding::Rule;

use super::guards::{Guard, Guarded, uses};
use super::{About, Facts};
use crate::program::Program;
use crate::report::Draft;
use crate::symbols::PairId;

/// One finding per field.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let (program, graph) = (facts.program, facts.graph);
    let all = uses(program, graph);
    all.iter()
        .filter_map(|(field, uses)| in_field(program, *field, uses))
        .collect()
}

fn in_field(program: &Program, field: PairId, uses: &[Guarded]) -> Option<Draft> {
    let mut counts: BTreeMap<Guard, usize> = BTreeMap::new();
    for guard in uses.iter().flat_map(|used| &used.guards) {
        *counts.entry(*guard).or_default() += 1;
    }
    let (guard, guarded) = counts
        .into_iter()
        .max_by_key(|(guard, count)| (*count, std::cmp::Reverse(*guard)))?;
    // A lock that cannot be named here may be the same one.
    let bare: Vec<&Guarded> = uses
        .iter()
        .filter(|used| used.guards.is_empty() && !used.other)
        .collect();
    let kept: Vec<&Guarded> = uses.iter().filter(|used| used.guards.contains(&guard)).collect();
    let races = bare.iter().any(|used| used.write) || kept.iter().any(|used| used.write);
    if bare.is_empty() || guarded < 2 || guarded < 2 * bare.len() || !races {
        return None;
    }
    // Without a write under the lock, the lock may be there for other fields.
    let meant = kept.iter().any(|used| used.write) && guarded >= 3 * bare.len();
    let told = program.field_name(field);
    let first = bare.first()?;
    let places: Vec<_> = bare
        .iter()
        .take(8)
        .map(|used| (used.method, used.pc, if used.write { "write" } else { "read" }))
        .collect();
    let all = guarded + bare.len();
    Some(super::about(
        program,
        &About {
            rule: Rule::InconsistentSync,
            method: first.method,
            field: Some(field),
            places: &places,
            message: format!("{told} is used with a lock in {guarded} of {all} places, and without one here"),
            help: format!(
                "Hold the same lock at every use of {told}, or declare it volatile if it is only read and assigned."
            ),
            shown: meant,
        },
    ))
}
