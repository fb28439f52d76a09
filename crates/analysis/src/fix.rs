//! What to change: the fix that a finding proposes, as specific as the calls of its steps allow.

mod calls;
mod locks;

use crate::describe::listed;
use crate::finding::{Finding, FindingStep, Rule, RuleFamily, UnitRef};
use calls::one_call;
pub use calls::{library_help, synchronised_help, together_help};
use locks::{one_lock_at, one_lock_over, one_order};
use ravel_trace::naming;

/// What to change.
pub fn help(rule: Rule, variables: &[String], units: &[UnitRef], steps: &[FindingStep]) -> String {
    let names: Vec<String> = variables.iter().map(|name| naming::variable::short(name)).collect();
    let what = listed(&names);
    let unit = units
        .first()
        .map_or_else(|| "the unit".to_owned(), |u| naming::method_in_sentence(&u.method));
    match rule.family() {
        RuleFamily::Race | RuleFamily::Discipline => one_lock_at(&what, steps),
        RuleFamily::Atomicity | RuleFamily::AtomicSet => match one_call(variables, steps) {
            Some(call) => format!("{call}, or hold one lock over the whole of {unit} and all other uses of {what}."),
            None => one_lock_over(&unit, &what, units.first(), steps),
        },
        RuleFamily::Serializability => {
            let all: Vec<String> = units
                .iter()
                .map(|unit| naming::method_in_sentence(&unit.method))
                .collect();
            let all = match all.is_empty() {
                true => unit.clone(),
                false => listed(&distinct(all)),
            };
            format!("If {unit} must be atomic, hold one lock over the whole of {all}; if not, mark it @NotAtomic.")
        }
        RuleFamily::LockOrder => one_order(steps),
        RuleFamily::Failure => "Order the threads so that it cannot happen.".to_owned(),
        RuleFamily::Code => "Hold the lock over both calls.".to_owned(),
    }
}

/// What to change about a finding, from its own steps and units.
pub fn of(finding: &Finding) -> String {
    let variables = finding.steps.iter().map(|step| step.variable.clone());
    let variables = distinct(variables.filter(|name| !name.is_empty()).collect());
    help(finding.rule, &variables, &finding.units, &finding.steps)
}

/// The method of a step, as in `Stock.take`.
fn method(step: &FindingStep) -> Option<String> {
    let name = naming::without_descriptor(&step.method);
    let known = !step.class.is_empty() && !name.is_empty();
    known.then(|| naming::method_in_sentence(&format!("{}.{name}", step.class)))
}

fn distinct(names: Vec<String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}
