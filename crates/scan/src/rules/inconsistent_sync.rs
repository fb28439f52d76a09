#![doc = include_str!("../../../report/src/rules/inconsistent-sync.md")]

use std::collections::BTreeMap;

use ravel_analysis::describe::listed;
use ravel_analysis::finding::Rule;

use super::guards::{self, Guard, Guarded, is_before_sharing, is_unused, says_unlocked, uses};
use super::told::is_only_told;
use super::{About, Facts, method_names};
use crate::callgraph::CallGraph;
use crate::flow::MethodFlow;
use crate::program::Program;
use crate::report::Draft;
use crate::symbols::PairId;

/// One finding per field.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let (program, graph) = (facts.program, facts.graph);
    let all = uses(program, graph);
    all.iter()
        // A class that is usually not shared locks because the class above it does.
        .filter(|(field, _)| !facts.filter.drops_class(program, program.symbols.members(**field).0))
        .filter_map(|(field, uses)| in_field(program, graph, *field, uses))
        .collect()
}

fn in_field(program: &Program, graph: &CallGraph<'_>, field: PairId, uses: &[Guarded]) -> Option<Draft> {
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
    let meant = kept.iter().any(|used| used.write)
        && guarded >= 3 * bare.len()
        && !bare.iter().all(|used| {
            has_looked(program, used, guard)
                || looks_again(uses, used, guard)
                || is_quiet(program, graph, used)
                || is_before_sharing(program, graph, used.method)
        });
    let told = program.field_name(field);
    let first = bare.first()?;
    let places: Vec<_> = bare
        .iter()
        .take(8)
        .map(|used| (used.method, used.pc, if used.write { "write" } else { "read" }))
        .collect();
    let all = guarded + bare.len();
    let (class, _) = program.symbols.members(field);
    let lock = guard.told(program, class);
    let without = listed(&method_names(program, bare.iter().map(|used| used.method)));
    let with = method_names(program, kept.iter().map(|used| used.method).take(2));
    let like = match with.is_empty() {
        true => String::new(),
        false => format!(", like {}", listed(&with)),
    };
    // A volatile field is enough where no method writes what it makes of the old value.
    let updates = uses
        .iter()
        .any(|used| used.write && uses.iter().any(|other| !other.write && other.method == used.method));
    let volatile = match updates {
        true => String::new(),
        false => format!(", or declare {told} volatile"),
    };
    Some(super::about_race(
        program,
        &About {
            rule: Rule::InconsistentSync,
            method: first.method,
            field: Some(field),
            places: &places,
            message: format!(
                "{told} is accessed under {lock} in {guarded} of {all} places, but without it in {without}"
            ),
            help: match guard {
                Guard::This => format!("Make {without} synchronized{like}{volatile}."),
                _ => format!("Hold {lock} in {without} too{like}{volatile}."),
            },
            shown: meant,
        },
    ))
}

/// Whether a use does no harm wherever it comes, or is meant as it is: a read for a text, one in a method that no code of the program
/// calls and that other programs cannot, as methods for tests are, or one in a method whose name says that it does not lock.
fn is_quiet(program: &Program, graph: &CallGraph<'_>, used: &Guarded) -> bool {
    if used.write {
        return false;
    }
    let told = || {
        let known = MethodFlow::of(program, used.method)?;
        let read = known.flow.at(used.pc)?;
        Some(is_only_told(&known, read))
    };
    is_unused(program, graph, used.method) || says_unlocked(program, used.method) || told().unwrap_or(false)
}

/// Whether a method only reads, and reads again with the lock later.
fn looks_again(uses: &[Guarded], used: &Guarded, guard: Guard) -> bool {
    let mut later = uses
        .iter()
        .filter(|other| other.method == used.method && other.pc > used.pc);
    let again = later.clone().any(|other| !other.write && other.guards.contains(&guard));
    !used.write && again && !later.any(|other| other.write)
}

/// Whether a method reads what it has looked at, or set, with the lock before.
fn has_looked(program: &Program, used: &Guarded, guard: Guard) -> bool {
    let body = program.body(used.method);
    !used.write
        && body.is_some_and(|body| {
            let mut earlier = body.sites.iter().filter(|site| site.pc < used.pc);
            earlier.any(|site| guards::guard(body, site.lock) == Some(guard))
        })
}
