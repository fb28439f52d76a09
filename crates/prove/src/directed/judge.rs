//! Whether a pattern that happened did harm: what both runs with it show, and no run of the same units in a serial order does.
//!
//! Three things are observed: how the program ended (uncaught exceptions, exit code), what the same activations of the units returned or
//! threw, and whether a number that each unit adds to has the sum in the end. Serial orders are brought about by the same mechanism, and wait where and as long as the
//! runs with the pattern did, so that harm done by waiting shows there too. Where the program ends badly in serial runs as well, because
//! the pattern happens by itself again and again, exclusive runs decide, in which it cannot.

use std::time::Instant;

use anyhow::Result;
use ravel_analysis::finding::{Candidate, Evidence, Finding, Outcome, Rule};
use ravel_protocol::goal::{LogLine, Passed, UnitResult};

use super::derive::{GoalsBuilder, SerialOrder, is_of_one_cell, serial_orders, units};
use super::places::Places;
use super::rounds::Open;
use super::{DirectedRun, DirectedRunner};
use crate::proof::Clock;

/// Serial runs of each order that must agree with each other.
const WANTED_CONTROLS: usize = 2;
/// Runs that may be spent on one serial order.
const MOST_SERIAL_RUNS: usize = 5;
/// The longest wait of a control, in milliseconds.
const MOST_PAUSE: u64 = 500;

/// What judgement needs besides the finding.
pub struct Court<'a> {
    /// Where events lie.
    pub places: &'a Places,
    /// The program.
    pub runner: &'a dyn DirectedRunner,
    /// The time.
    pub clock: &'a dyn Clock,
    /// When the time is over.
    pub deadline: Instant,
}

/// The pattern happened twice: raises the evidence as far as the runs and their controls allow. Why the finding is not harmful,
/// empty if it is.
pub fn judge(finding: &mut Finding, one: &Open, court: &Court<'_>, runs: &mut usize) -> Result<String> {
    finding.evidence = Evidence::Confirmed;
    let bad = common_outcomes(&one.facts);
    let notable = |outcome: &&Outcome| outcome.kind != "exit" || !outcome.message.ends_with(" 0");
    let worst = bad.iter().find(notable).cloned();
    finding.outcome = Some(worst.clone().unwrap_or_else(|| Outcome {
        kind: "normal".into(),
        thread: None,
        message: "the pattern happened; this time it had no visible effect".into(),
    }));
    if finding.rule == Rule::LockOrder && worst.as_ref().is_some_and(|outcome| outcome.kind == "deadlock") {
        // A deadlock needs the interleaving: no serial order of the critical sections has it.
        finding.evidence = Evidence::Harmful;
        return Ok(String::new());
    }
    let Some((candidate, variant)) = &one.happened else {
        return Ok(String::new());
    };
    let one_cell = is_of_one_cell(candidate, court.places);
    let observed: Vec<Observed> = one
        .facts
        .iter()
        .map(|run| observe(run, &finding.id, one_cell, [0, 1]))
        .collect();
    if worst.is_none() && observed.iter().any(|one| *one == Observed::default()) {
        return Ok("its directed runs ended without a visible effect".into());
    }
    let pause = one.facts.iter().map(|run| run.longest_hold(&finding.id)).max();
    let millis = pause.unwrap_or(0).min(MOST_PAUSE);
    let orders = serial_orders(finding.rule, candidate, court.places, *variant, millis);
    if orders.is_empty() {
        return Ok(match worst {
            Some(_) => "there is no pair of units to run in serial orders for comparison".into(),
            None => "its directed runs ended without a visible effect".into(),
        });
    }
    let controls = court.controls(&orders, one_cell, runs)?;
    let missing = orders.iter().zip(&controls).find(|(_, made)| made.runs.is_empty());
    if let Some((order, _)) = missing {
        return Ok(format!(
            "no run had {}, so its outcome is not known for every serial order",
            order.words
        ));
    }
    if let Some(worst) = &worst {
        let in_serial = |made: &Control| made.runs.iter().any(|run| has_outcome(run, worst));
        if !controls.iter().any(in_serial) {
            finding.evidence = Evidence::Harmful;
            return Ok(String::new());
        }
        if court.exclusive_runs_lack(worst, candidate, runs)? {
            finding.evidence = Evidence::Harmful;
            return Ok(String::new());
        }
    }
    let field = finding.variables.first().map_or("the value", String::as_str);
    if let Some(outcome) = wrong(&observed, &controls, field) {
        finding.evidence = Evidence::Harmful;
        finding.outcome = Some(outcome);
        return Ok(String::new());
    }
    Ok(match worst {
        Some(_) => "a serial order of the units has the same outcome".into(),
        None => "its directed runs ended without an effect that no serial order of the units has".into(),
    })
}

/// The runs of one serial order.
#[derive(Default)]
struct Control {
    runs: Vec<DirectedRun>,
    observed: Vec<Observed>,
}

impl Court<'_> {
    fn is_over(&self) -> bool {
        self.clock.now() >= self.deadline || self.clock.is_interrupted()
    }

    /// Makes each serial order twice, as far as that is possible.
    fn controls(&self, orders: &[SerialOrder], one_cell: bool, runs: &mut usize) -> Result<Vec<Control>> {
        let id = |number: usize| format!("serial-{number}");
        let mut all: Vec<Control> = orders.iter().map(|_| Control::default()).collect();
        for _ in 0..MOST_SERIAL_RUNS {
            let open: Vec<usize> = (0..orders.len())
                .filter(|&number| all[number].runs.len() < WANTED_CONTROLS)
                .collect();
            if open.is_empty() || self.is_over() {
                break;
            }
            for number in open {
                // Two orders of the same units in one run would wait for each other.
                let mut plan = GoalsBuilder::new(*runs as u64 + 1);
                plan.add(&id(number), &orders[number].goal);
                let run = self.runner.direct(&plan.finish())?;
                *runs += 1;
                if run.has_fact(&id(number)) && !run.timed_out {
                    all[number]
                        .observed
                        .push(observe(&run, &id(number), one_cell, orders[number].roles));
                    all[number].runs.push(run);
                }
            }
        }
        Ok(all)
    }

    /// Whether two runs in which all activations of the units exclude each other end without this outcome.
    fn exclusive_runs_lack(&self, worst: &Outcome, candidate: &Candidate, runs: &mut usize) -> Result<bool> {
        let units = units(candidate, self.places);
        if units.is_empty() {
            return Ok(false);
        }
        for _ in 0..WANTED_CONTROLS {
            if self.is_over() {
                return Ok(false);
            }
            let mut plan = GoalsBuilder::new(*runs as u64 + 1);
            for unit in &units {
                plan.exclude(unit);
            }
            let run = self.runner.direct(&plan.finish())?;
            *runs += 1;
            let kept_apart = run
                .log
                .iter()
                .any(|line| matches!(line, LogLine::Exclusive { entered, broken } if *entered > 1 && *broken == 0));
            if !kept_apart || run.timed_out || has_outcome(&run, worst) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What is seen of the units in one run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Observed {
    /// How the units ended, in the order of the pattern's roles.
    results: Option<[UnitResult; 2]>,
    /// By how much each unit changed the value as it saw it, and by how much it changed in all.
    changes: Option<([i64; 2], i64)>,
}

/// What a run shows of the units; `roles` are the pattern's roles by those of the goal.
fn observe(run: &DirectedRun, id: &str, one_cell: bool, roles: [usize; 2]) -> Observed {
    let mut seen = Observed::default();
    let mut results: [Option<UnitResult>; 2] = [None, None];
    for line in &run.log {
        match line {
            LogLine::Result { goal, role, result } if goal == id => {
                if let Some(role) = roles.get(*role) {
                    results[*role] = Some(result.clone());
                }
            }
            LogLine::Fact { goal, steps, .. } if goal == id && one_cell => seen.changes = changes(steps, roles),
            _ => {}
        }
    }
    if let [Some(one), Some(other)] = results {
        seen.results = Some([one, other]);
    }
    seen
}

/// By how much each role changed the value, from what it read or found to what it wrote last, and how much it changed in all.
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
    let mut of_roles = [0, 0];
    for (place, role) in roles.iter().enumerate() {
        let own: Vec<&Passed> = steps.iter().filter(|step| step.role == place).collect();
        of_roles[*role] = change(&own)?;
    }
    let total = steps.last()?.value?.wrapping_sub(found(steps.first()?)?);
    Some((of_roles, total))
}

/// What the runs with the pattern show of the units and no serial run does.
fn wrong(bad: &[Observed], controls: &[Control], field: &str) -> Option<Outcome> {
    let serial: Vec<&Observed> = controls.iter().flat_map(|made| &made.observed).collect();
    lost_update(bad, &serial, field).or_else(|| wrong_result(bad, &serial))
}

/// Each unit adds the same to a number in every run, and in serial orders the sum is what they add; with the pattern it is another.
fn lost_update(bad: &[Observed], serial: &[&Observed], field: &str) -> Option<Outcome> {
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
    (same && total != sum && serial.iter().all(is_sum)).then(|| Outcome {
        kind: "value".into(),
        thread: None,
        message: format!("an update was lost: {field} changed by {total}, and by {sum} in each serial order"),
    })
}

/// The same activations of the same threads return other values, or throw, in no serial order.
fn wrong_result(bad: &[Observed], serial: &[&Observed]) -> Option<Outcome> {
    let results = bad.first()?.results.as_ref()?;
    let values = |results: &[UnitResult; 2]| results.clone().map(|result| result.value);
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
    let words = |results: &[UnitResult; 2]| values(results).join(" and ");
    let mut others: Vec<String> = serial
        .iter()
        .filter_map(|one| one.results.as_ref())
        .map(words)
        .collect();
    others.sort();
    others.dedup();
    Some(Outcome {
        kind: "return".into(),
        thread: None,
        message: format!(
            "the units returned {}; in serial orders {}",
            words(results),
            others.join(", or ")
        ),
    })
}

/// How all of these runs ended.
fn common_outcomes(runs: &[DirectedRun]) -> Vec<Outcome> {
    let first = runs.first().map(DirectedRun::outcomes).unwrap_or_default();
    let in_all = |outcome: &Outcome| runs.iter().all(|run| has_outcome(run, outcome));
    first.into_iter().filter(in_all).collect()
}

fn has_outcome(run: &DirectedRun, outcome: &Outcome) -> bool {
    run.outcomes().iter().any(|other| is_alike(other, outcome))
}

/// The same kind of outcome: exceptions of the same class, the same exit code.
fn is_alike(one: &Outcome, other: &Outcome) -> bool {
    let class = |message: &str| message.split(':').next().unwrap_or_default().to_string();
    one.kind == other.kind
        && match one.kind.as_str() {
            "exception" => class(&one.message) == class(&other.message),
            "deadlock" => true,
            _ => one.message == other.message,
        }
}
