//! Ravel's enumerations and whole findings in the words that people read; `steps` has what threads do, and names of code come from
//! [`ravel_trace::naming`].
//! Every format says the same thing the same way because all of them ask here.

mod account;
mod command;
pub mod pattern;
mod steps;
mod unit;

use ravel_analysis::finding::{
    AlsoSeen, Evidence, Finding, FindingStep, Outcome, OutcomeKind, Rule, RuleFamily, UnitKind,
};
use ravel_trace::naming;

pub use account::account;
pub use command::program;
pub use ravel_analysis::numbers::{count, number};
pub use steps::*;
pub use unit::{MainPlace, call_in_unit, main_place};

/// All steps of the evidence ladder, strongest first.
pub const LADDER: [Evidence; 5] = [
    Evidence::Harmful,
    Evidence::Confirmed,
    Evidence::Witnessed,
    Evidence::Predicted,
    Evidence::Suspected,
];

/// What is said of a suspicion of the static scan in the report of a run.
pub const ONLY_IN_CODE: &str = "seen in code, not found in a run";

/// The rule's id, `data-race`.
pub fn rule(rule: Rule) -> &'static str {
    rule.name()
}

/// The evidence's id, `harmful`.
pub fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Suspected => "suspected",
        Evidence::Predicted => "predicted",
        Evidence::Witnessed => "witnessed",
        Evidence::Confirmed => "confirmed",
        Evidence::Harmful => "harmful",
    }
}

/// The evidence with this id.
pub fn parse_evidence(name: &str) -> Option<Evidence> {
    LADDER.into_iter().find(|&e| evidence(e) == name)
}

/// The rule with this id.
pub fn parse_rule(name: &str) -> Option<Rule> {
    Rule::parse(name)
}

/// What a step of the ladder says, and what it leaves open.
pub fn evidence_meaning(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Suspected => "the code breaks a rule of thumb; no run shows harm",
        Evidence::Predicted => "locks and happens-before allow it; no run has shown it",
        Evidence::Witnessed => {
            "the recorded run, or a whole schedule made of it, contains it; no forced run has shown it"
        }
        Evidence::Confirmed => "it happened in a forced run; no harm was proven",
        Evidence::Harmful => "it happened in a forced run, and that run had an outcome that no serial order produces",
    }
}

/// What the evidence of a finding says.
pub fn meaning(finding: &Finding) -> &'static str {
    if is_of_recording(finding) {
        return "it happened in the recorded run";
    }
    if finding.evidence == Evidence::Suspected && finding.analyses == ["scan"] {
        return "the code breaks a rule of thumb; no run has tried it";
    }
    if finding.rule.family() == RuleFamily::Failure {
        return "it happened in two runs out of two in this order of the threads, and not in a run without a schedule";
    }
    // Without units there is no serial order to compare with, and none is needed.
    let stands_still = finding.units.is_empty() && finding.analyses == ["replay"];
    if stands_still && finding.evidence == Evidence::Harmful {
        return "it happened in two forced runs out of two, and no thread could continue";
    }
    evidence_meaning(finding.evidence)
}

/// What the reason is called for which a finding got no further: nothing was proven, or no harm was.
pub fn limit_label(finding: &Finding) -> &'static str {
    match finding.evidence {
        Evidence::Confirmed | Evidence::Harmful => "harm not proven",
        Evidence::Suspected | Evidence::Predicted | Evidence::Witnessed => "not proven",
    }
}

/// Whether a finding is what went wrong in the recorded run.
pub fn is_of_recording(finding: &Finding) -> bool {
    finding.analyses == ["record"]
}

/// The kind of unit, as a noun.
pub fn unit_kind(kind: UnitKind) -> &'static str {
    match kind {
        UnitKind::Section => "critical section",
        UnitKind::Method => "method",
        UnitKind::Compound => "compound action",
        UnitKind::Declared => "declared unit",
    }
}

/// What kind of end a forced run had, as a noun phrase.
pub fn outcome_kind(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Normal => "ended normally",
        OutcomeKind::Exception => "uncaught exception",
        OutcomeKind::Deadlock => "deadlock",
        OutcomeKind::Hang => "hang",
        OutcomeKind::Exit => "different exit code",
        OutcomeKind::Output => "different output",
        OutcomeKind::Value => "wrong value",
        OutcomeKind::Return => "wrong result",
    }
}

/// The variables of a finding, as in `Range.low, Range.high`; a class whose fields are named is not named itself.
pub fn variables(finding: &Finding) -> String {
    let all = &finding.variables;
    let is_owner = |v: &String| {
        all.iter()
            .any(|o| o.strip_prefix(v.as_str()).is_some_and(|r| r.starts_with('.')))
    };
    let is_lock = |v: &String| {
        let of = |s: &FindingStep| lock_of(s).is_some_and(|l| naming::lock::unnumbered(l) == v);
        finding.rule.family() == RuleFamily::LockOrder || finding.steps.iter().any(of)
    };
    let short = all.iter().filter(|v| !is_owner(v)).map(|v| match is_lock(v) {
        true => naming::lock::short(v),
        false => naming::variable::short(v),
    });
    listed(short.collect(), MOST_VARIABLES)
}

/// Names that a line has room for.
const MOST_VARIABLES: usize = 5;

/// The first few of a list, and how many more there are.
pub fn listed(all: Vec<String>, most: usize) -> String {
    match all.len().saturating_sub(most) {
        0 => all.join(", "),
        more => format!("{} and {more} more", all[..most].join(", ")),
    }
}

/// The tests that a finding was found in, the first few by name.
pub fn tests(finding: &Finding) -> String {
    listed(finding.tests.clone(), 3)
}

/// What should be atomic, a line for each method: `Stock.take(int) in t1 and t2 (critical section)`. None for a finding that says
/// nothing about atomicity: the methods around a data race need not be atomic.
pub fn units(finding: &Finding) -> Vec<String> {
    if !finding.rule.family().is_interruption() {
        return Vec::new();
    }
    let mut known: Vec<(&str, Vec<&str>, Vec<UnitKind>)> = Vec::new();
    for unit in &finding.units {
        if !known.iter().any(|(method, ..)| *method == unit.method) {
            known.push((&unit.method, Vec::new(), Vec::new()));
        }
        let Some((_, threads, kinds)) = known.iter_mut().find(|(method, ..)| *method == unit.method) else {
            continue;
        };
        if !unit.thread.is_empty() && !threads.contains(&unit.thread.as_str()) {
            threads.push(&unit.thread);
        }
        kinds.push(unit.kind);
    }
    let line = |(name, threads, kinds): (&str, Vec<&str>, Vec<UnitKind>)| {
        let within = match threads.as_slice() {
            [] => String::new(),
            [init @ .., last] if !init.is_empty() => format!(" in {} and {last}", init.join(", ")),
            [one, ..] => format!(" in {one}"),
        };
        // One kind is named: that of the unit which the sentence is about. Another observation may have seen a part of it as a unit, such as
        // the section of a synchronised collection that it calls.
        let declared = kinds.iter().find(|kind| **kind == UnitKind::Declared);
        let kind = declared.or(kinds.first()).copied();
        let kind = kind.map(|kind| format!(" ({})", unit_kind(kind))).unwrap_or_default();
        format!("{}{within}{kind}", naming::signature(name))
    };
    known.into_iter().map(line).collect()
}

/// Another view of the same bug, as in `data-race (confirmed)`.
pub fn also_seen(view: &AlsoSeen) -> String {
    format!("{} ({})", rule(view.rule), evidence(view.evidence))
}

/// The other views of a bug, each kind once: `data-race (confirmed), unserializable (predicted)`.
pub fn also(finding: &Finding) -> String {
    let mut told: Vec<String> = Vec::new();
    for view in finding.also.iter().map(also_seen) {
        if !told.contains(&view) {
            told.push(view);
        }
    }
    told.join(", ")
}

/// Frames of an exception that are shown.
const MOST_FRAMES: usize = 4;

/// Where the exception of an outcome was thrown, innermost first: `at Stock.take (Stock.java:14) from Shop.sell (Shop.java:8)`.
pub fn stack(outcome: &Outcome) -> Option<String> {
    let frames = outcome.stack.iter().take(MOST_FRAMES);
    let frames: Vec<String> = frames.map(|frame| naming::Frame::parse(frame).short()).collect();
    let more = outcome.stack.len().saturating_sub(MOST_FRAMES);
    let more = if more > 0 {
        format!(", {more} more")
    } else {
        String::new()
    };
    (!frames.is_empty()).then(|| format!("at {}{more}", frames.join(" from ")))
}

/// The run that had the outcome of a finding.
pub fn run(finding: &Finding) -> &'static str {
    match is_of_recording(finding) {
        true => "Recorded run",
        false => "Forced run",
    }
}

/// What else is known of an outcome, by name: where its exception was thrown, and the last lines that the program printed.
pub fn outcome_details(outcome: &Outcome) -> Vec<(&'static str, String)> {
    let mut details: Vec<(&str, String)> = stack(outcome).map(|stack| ("Thrown", stack)).into_iter().collect();
    // What differs in the output is the outcome itself.
    if !outcome.printed.is_empty() && outcome.kind != OutcomeKind::Output {
        details.push(("Last lines printed", outcome.printed.join(" | ")));
    }
    details
}

/// How a forced run ended, as in `uncaught exception in t1: java.lang.Exception`.
pub fn outcome(outcome: &Outcome) -> String {
    // Its message says all.
    if outcome.kind == OutcomeKind::Normal && !outcome.message.is_empty() {
        return outcome.message.clone();
    }
    let mut text = outcome_kind(outcome.kind).to_owned();
    if let Some(thread) = &outcome.thread {
        text.push_str(" in ");
        text.push_str(thread);
    }
    if !outcome.message.is_empty() {
        text.push_str(": ");
        text.push_str(&outcome.message);
    }
    text
}
