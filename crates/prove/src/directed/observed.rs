//! What a directed run shows of the units themselves, and when that is harm: an update that was lost, a result that no serial order has.

use std::collections::BTreeSet;

use ravel_analysis::finding::{Outcome, OutcomeKind};
use ravel_analysis::numbers::with_article;
use ravel_protocol::goal::{LogLine, Passed, UnitEnd, UnitResult};
use ravel_trace::naming;

use super::DirectedRun;

/// What is seen of the units in one run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Observed {
    /// How the units ended, in the order of the pattern's roles.
    pub results: Option<[UnitResult; 2]>,
    /// By how much each unit changed the value as it saw it, and by how much it changed in all.
    pub changes: Option<([i64; 2], i64)>,
    /// Whether a write replaced a value that its role had not seen.
    pub overwrote: bool,
}

/// What a run shows of the units; `roles` are the pattern's roles by those of the goal.
pub fn observe(run: &DirectedRun, id: &str, one_cell: bool, roles: [usize; 2]) -> Observed {
    let mut seen = Observed::default();
    let mut results: [Option<UnitResult>; 2] = [None, None];
    for line in &run.log {
        match line {
            LogLine::Result { goal, role, result } if goal == id => {
                if let Some(role) = roles.get(*role) {
                    results[*role] = Some(result.clone());
                }
            }
            LogLine::Fact { goal, steps, .. } if goal == id && one_cell => {
                seen.changes = changes(steps, roles);
                seen.overwrote = overwrote(steps);
            }
            _ => {}
        }
    }
    if let [Some(one), Some(other)] = results {
        seen.results = Some([one, other]);
    }
    seen
}

/// By how much each role changed the value, from what it read or found to what it wrote last, and how much it changed in all. If no
/// write replaced a value that its role had not seen, each change has taken effect, whatever a third thread added in between.
fn changes(steps: &[Passed], roles: [usize; 2]) -> Option<([i64; 2], i64)> {
    let found = |step: &Passed| step.before.or(step.value);
    let change = |own: &[&Passed]| {
        let (first, last) = (own.first()?, own.last()?);
        // A role that wrote nothing changed nothing.
        let wrote = own.iter().rev().find(|step| step.before.is_some());
        Some(match wrote {
            Some(wrote) => wrote.value?.wrapping_sub(found(first)?),
            None => last.value.map(|_| 0)?,
        })
    };
    let mut of_roles = [0_i64, 0];
    for (place, role) in roles.iter().enumerate() {
        let own: Vec<&Passed> = steps.iter().filter(|step| step.role == place).collect();
        of_roles[*role] = change(&own)?;
    }
    let total = match overwrote(steps) {
        false => of_roles[0].wrapping_add(of_roles[1]),
        true => steps.last()?.value?.wrapping_sub(found(steps.first()?)?),
    };
    Some((of_roles, total))
}

/// Whether a write replaced another value than the one that its role had seen last.
fn overwrote(steps: &[Passed]) -> bool {
    let unseen = |(place, step): (usize, &Passed)| {
        let last = steps[..place].iter().rfind(|earlier| earlier.role == step.role);
        last.is_some_and(|last| step.before.is_some() && step.before != last.value)
    };
    steps.iter().enumerate().any(unseen)
}

/// Whether any outcome of serial runs could show these runs to be wrong: a sum that is not what the units added, or a result of a unit. A method
/// without a result returns the same in every order.
pub fn may_be_harm(bad: &[Observed]) -> bool {
    let has_result = |one: &Observed| {
        let results = one.results.iter().flatten();
        results.into_iter().any(|result| result.end != UnitEnd::Nothing)
    };
    let lost = |one: &Observed| {
        one.changes
            .is_some_and(|(added, total)| added[0].wrapping_add(added[1]) != total)
    };
    bad.iter().any(has_result) || bad.iter().all(lost)
}

/// Each unit adds the same to a number in every run, and in serial orders the sum is what they add; with the pattern it is another.
pub fn lost_update(bad: &[Observed], serial: &[&Observed], field: &str) -> Option<Outcome> {
    let (added, total) = bad.first()?.changes?;
    let all = bad.iter().chain(serial.iter().copied());
    if added.contains(&0)
        || !all
            .clone()
            .all(|one| one.changes.is_some_and(|(other, _)| other == added))
    {
        return None;
    }
    let sum = added[0].wrapping_add(added[1]);
    let is_sum = |one: &&Observed| one.changes.is_some_and(|(_, total)| total == sum);
    let same = bad.iter().all(|one| one.changes == Some((added, total)));
    (same && total != sum && serial.iter().all(is_sum)).then(|| {
        let message = format!("an update was lost: {field} changed by {total}, and by {sum} in each serial order");
        Outcome::new(OutcomeKind::Value, message)
    })
}

/// The same activations of the same threads return other values, or throw, in no serial order.
pub fn wrong_result(bad: &[Observed], serial: &[&Observed]) -> Option<Outcome> {
    let results = bad.first()?.results.as_ref()?;
    let same_activations = |one: &Observed| {
        one.results.as_ref().is_some_and(|others| {
            let pairs = others.iter().zip(results);
            pairs
                .clone()
                .all(|(one, other)| one.thread == other.thread && one.activation == other.activation)
        })
    };
    let is_bad = |one: &&Observed| {
        one.results
            .as_ref()
            .is_some_and(|others| values(others) == values(results))
    };
    let comparable = bad.iter().chain(serial.iter().copied()).all(same_activations);
    if !comparable || !bad.iter().all(|one| is_bad(&one)) || serial.iter().any(is_bad) {
        return None;
    }
    Some(returned(results, serial))
}

/// In `wanted` runs with the pattern the units return one pair of values, and serial runs return each of the two values but never the pair: the
/// values are usual, and only together they are wrong. For programs whose activations differ from run
/// to run, so that those of one number cannot be compared: there must be several among the runs, or the values may belong to one.
pub fn wrong_pair(bad: &[Observed], serial: &[&Observed], wanted: usize) -> Option<Outcome> {
    let others: Vec<[UnitEnd; 2]> = serial
        .iter()
        .map(|one| one.results.as_ref().map(values))
        .collect::<Option<_>>()?;
    let is_wrong = |pair: &[UnitEnd; 2]| {
        let is_usual = |role: usize| others.iter().any(|other| other[role] == pair[role]);
        !others.contains(pair) && is_usual(0) && is_usual(1)
    };
    let of_runs: Vec<&[UnitResult; 2]> = bad.iter().filter_map(|one| one.results.as_ref()).collect();
    let often = |results: &[UnitResult; 2]| {
        let same = of_runs.iter().filter(|other| values(other) == values(results));
        same.count() >= wanted
    };
    let wrong = of_runs
        .iter()
        .find(|results| is_wrong(&values(results)) && often(results))?;
    Some(returned(wrong, serial))
}

/// How many different activations of the units several runs had.
pub fn activations<'o>(runs: impl Iterator<Item = &'o Observed>) -> usize {
    let one = |result: &UnitResult| (result.thread.clone(), result.activation);
    let all: BTreeSet<_> = runs
        .filter_map(|run| run.results.as_ref())
        .map(|results| [one(&results[0]), one(&results[1])])
        .collect();
    all.len()
}

fn values(results: &[UnitResult; 2]) -> [UnitEnd; 2] {
    results.clone().map(|result| result.end)
}

fn returned(results: &[UnitResult; 2], serial: &[&Observed]) -> Outcome {
    let words = |results: &[UnitResult; 2]| values(results).map(|end| in_words(&end)).join(" and ");
    let mut others: Vec<String> = serial
        .iter()
        .filter_map(|one| one.results.as_ref())
        .map(words)
        .collect();
    others.sort();
    others.dedup();
    let message = format!(
        "the units returned {}; in serial orders {}",
        words(results),
        others.join(", or ")
    );
    Outcome::new(OutcomeKind::Return, message)
}

/// A result as people read it.
pub fn in_words(end: &UnitEnd) -> String {
    match end {
        UnitEnd::Nothing => "nothing".to_owned(),
        UnitEnd::Value(value) => value.clone(),
        UnitEnd::Object(class) => with_article(&naming::class(class)),
        UnitEnd::Thrown(class) => format!("threw {class}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_worded_for_people() {
        let unit = |end| UnitResult {
            thread: "t".into(),
            activation: 1,
            end,
        };
        let one = Observed {
            results: Some([unit(UnitEnd::Nothing), unit(UnitEnd::Value("7".into()))]),
            ..Observed::default()
        };
        let results = [
            unit(UnitEnd::Object("shop.Stock".into())),
            unit(UnitEnd::Thrown("java.lang.ArithmeticException".into())),
        ];
        assert_eq!(
            returned(&results, &[&one]).message,
            "the units returned a Stock and threw java.lang.ArithmeticException; in serial orders nothing and 7"
        );
    }

    /// A constant of an enum may have any name.
    #[test]
    fn a_value_is_no_lack_of_a_result() {
        let with = |end: UnitEnd| {
            let unit = || UnitResult {
                thread: "t".into(),
                activation: 1,
                end: end.clone(),
            };
            [Observed {
                results: Some([unit(), unit()]),
                ..Observed::default()
            }]
        };
        assert!(may_be_harm(&with(UnitEnd::Value("nothing".into()))));
        let nothing = with(UnitEnd::Nothing);
        assert!(!nothing.iter().all(|one| one.results.is_none()));
        assert!(!may_be_harm(&nothing));
    }
}
