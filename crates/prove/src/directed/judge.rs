//! Whether a pattern that happened did harm: what both runs with it show, and no run of the same units in a serial order does.
//!
//! Three things are observed: how the program ended (uncaught exceptions, exit code), what the same activations of the units returned or
//! threw, and whether a number that each unit adds to has the sum in the end. Serial orders are brought about by the same mechanism, and wait where and as long as the
//! runs with the pattern did, so that harm done by waiting shows there too. Where the program ends badly in any run without the pattern as well, because
//! the pattern happens by itself again and again or another bug does the same, four bad runs are needed, and exclusive runs, in which it cannot happen.

use std::collections::BTreeSet;
use std::sync::PoisonError;
use std::time::Instant;

use anyhow::Result;
use ravel_analysis::finding::{Candidate, Evidence, Finding, Outcome, OutcomeKind, Rule, SerialRun};
use ravel_protocol::goal::LogLine;
use ravel_trace::naming::{self, Frame};
use ravel_trace::origin::is_platform;

use super::derive::{CodeGoal, GoalsBuilder, SerialOrder, is_of_one_cell, pattern_goals, serial_orders, units};
use super::observed::{Observed, activations, lost_update, may_be_harm, observe, wrong_pair, wrong_result};
use super::places::Places;
use super::rounds::{Open, WANTED_FACTS};
use super::serial::{self, MadeOrder};
use super::told::{name_steps, tell_values};
use super::{DirectedRun, DirectedRunner, Ends};
use crate::proof::Clock;

/// Serial runs of each order that must agree with each other.
const WANTED_CONTROLS: usize = 2;
/// Further bad runs, and controls of each kind, that are needed if the outcome also comes without the pattern.
const MORE_BAD_RUNS: usize = 2;
const MORE_CONTROLS: usize = 4;
/// Exclusive runs that may fail to keep the units apart.
const MOST_BROKEN_RUNS: usize = 3;
/// Runs that may be spent on one serial order.
const MOST_SERIAL_RUNS: usize = 6;
/// Those of them in which the first unit must go the same way as in the pattern.
const WHOLE_SERIAL_RUNS: usize = 4;
/// Runs that may be spent on a lost update, and on more of the same pattern.
const MOST_MORE_RUNS: usize = 6;
/// Runs with the pattern that must return the same pair if their activations cannot be compared; a third thread may spoil others.
const WANTED_PAIRS: usize = 5;
/// All runs with the pattern that may be looked at for that.
const MOST_PAIRS: usize = 8;
/// Serial runs of each order that must lack the pair.
const WANTED_PAIR_CONTROLS: usize = 4;
/// Different activations that they must have had.
const LEAST_ACTIVATIONS: usize = 3;
/// Runs in which the pattern happens again and again, to see a bad end.
const MOST_REPEATED_RUNS: usize = 5;
/// Those of them that may end well before it is given up.
const MOST_HARMLESS_RUNS: usize = 3;
/// The longest wait of a control, in milliseconds.
const MOST_PAUSE: u64 = 500;

/// What judgement needs besides the finding.
pub struct Court<'a> {
    /// Where events lie.
    pub places: &'a Places,
    /// The program.
    pub runner: &'a dyn DirectedRunner,
    /// Of each run so far: the goals that happened in it, and how it ended.
    pub ends: &'a Ends,
    /// The time.
    pub clock: &'a dyn Clock,
    /// When the time is over.
    pub deadline: Instant,
}

/// The pattern happened twice: raises the evidence as far as the runs and their controls allow. Why the finding is not harmful,
/// empty if it is.
pub fn judge(finding: &mut Finding, one: &Open, court: &Court<'_>, runs: &mut usize) -> Result<String> {
    let verdict = compare(finding, one, court, runs)?;
    if finding.evidence == Evidence::Confirmed && verdict != BY_ORDER {
        disown_outcome(finding);
    }
    Ok(verdict)
}

/// The same; a bad end of the runs is told as the finding's, whether it is or not.
fn compare(finding: &mut Finding, one: &Open, court: &Court<'_>, runs: &mut usize) -> Result<String> {
    finding.evidence = Evidence::Confirmed;
    let is_ready = one
        .happened
        .as_ref()
        .is_some_and(|(candidate, _)| court.places.ready(candidate).is_some());
    let of_code = finding.rule == Rule::CheckThenAct || finding.rule == Rule::DataRace && is_ready;
    if let (true, Some(run)) = (of_code, one.facts.first()) {
        name_steps(finding, run);
    }
    if let (Some((candidate, _)), Some(run)) = (&one.happened, one.facts.first()) {
        tell_values(finding, candidate, run);
    }
    let mut bad = common_outcomes(&one.facts);
    if finding.rule != Rule::LockOrder && !one.facts.iter().all(|run| deadlocks(run, &finding.id)) {
        // It is another bug's.
        bad.retain(|outcome| outcome.kind != OutcomeKind::Deadlock);
    }
    let hang =
        Some(&one.facts).filter(|facts| finding.rule == Rule::NakedNotify && facts.iter().all(|run| run.timed_out));
    let hang = hang.map(|_| super::hang());
    let worst = bad.iter().find(|outcome| is_notable(outcome)).cloned().or(hang);
    finding.outcome = Some(worst.clone().unwrap_or_else(|| {
        Outcome::new(
            OutcomeKind::Normal,
            "the pattern happened; this time it had no visible effect",
        )
    }));
    if finding.rule == Rule::LockOrder
        && worst
            .as_ref()
            .is_some_and(|outcome| outcome.kind == OutcomeKind::Deadlock)
    {
        // A deadlock needs the interleaving: no serial order of the critical sections has it.
        finding.evidence = Evidence::Harmful;
        return Ok(String::new());
    }
    let Some((candidate, variant)) = &one.happened else {
        return Ok(String::new());
    };
    let field = &match finding.variables.first() {
        Some(variable) if !is_platform(variable) => naming::variable::short(variable),
        Some(variable) => variable.clone(),
        None => "the value".to_owned(),
    };
    if let (None, Some(update)) = (
        &worst,
        court
            .places
            .update(candidate)
            .filter(|_| finding.rule.family().is_race()),
    ) {
        return Ok(match court.lost_update(&update, (finding, field), runs)? {
            Ok((outcome, serial)) => {
                finding.evidence = Evidence::Harmful;
                finding.outcome = Some(outcome);
                finding.serial = serial;
                String::new()
            }
            Err(why) => why,
        });
    }
    let one_cell = is_of_one_cell(candidate, court.places);
    let observed: Vec<Observed> = one
        .facts
        .iter()
        .map(|run| observe(run, &finding.id, one_cell, [0, 1]))
        .collect();
    if worst.is_none() && observed.iter().any(|one| *one == Observed::default()) {
        return Ok(NO_EFFECT.into());
    }
    // Controls cost most of the time, so they are not made where no outcome of theirs could change the verdict.
    if worst.is_none() && !may_be_harm(&observed) {
        return Ok(NO_EFFECT.into());
    }
    let orders = court.orders(finding, one);
    if orders.is_empty() {
        return Ok(match worst {
            Some(_) => "no pair of units to run in serial orders for comparison".into(),
            None => NO_EFFECT.into(),
        });
    }
    let controls = court.controls(&orders, one_cell, runs)?;
    if let Some(why) = missing(&orders, &controls) {
        return Ok(why);
    }
    let by_order = worst.as_ref().is_some_and(|worst| depends_on_order(&controls, worst));
    if let Some(worst) = worst.as_ref().filter(|_| !by_order) {
        let comes = court.comes_by_itself(&finding.id, worst);
        if !comes || court.always_comes(finding, (candidate, *variant), worst, (&orders, &controls), runs)? {
            finding.evidence = Evidence::Harmful;
            finding.serial = serial_runs(finding, worst, &orders, &controls);
            return Ok(String::new());
        }
    }
    let serial: Vec<&Observed> = controls.iter().flat_map(|made| &made.observed).collect();
    let wrong = lost_update(&observed, &serial, field);
    // The calls of a thread's body may each be right although no serial order of whole bodies has their results.
    let of_body = candidate.is_of_body();
    let made = controls.clone();
    let wrong = wrong.or_else(|| wrong_result(&observed, &serial).filter(|_| !of_body));
    let wrong = match wrong {
        None if of_body => None,
        None if controls.iter().all(|made| made.whole) && wrong_pair(&observed, &serial, 1).is_some() => {
            let goals = pattern_goals(finding.rule, candidate, court.places, *variant).unwrap_or_default();
            court.more_pairs((&finding.id, &goals), observed, (&orders, controls), runs)?
        }
        wrong => wrong,
    };
    if let Some(wrong) = wrong {
        finding.evidence = Evidence::Harmful;
        finding.serial = serial_runs(finding, &wrong, &orders, &made);
        finding.outcome = Some(wrong);
        return Ok(String::new());
    }
    Ok(match worst {
        Some(_) if by_order => BY_ORDER.into(),
        Some(_) => "the same outcome also happens without the pattern".into(),
        None => "its directed runs had the outcome of a serial order".into(),
    })
}

/// Lets a pattern that happened without a visible effect happen again and again in each run: some damage shows only when it adds up, or at
/// one moment of many. A bad end of two runs is harm if runs in which the units exclude each other do not have it, several for each run that was made.
pub fn judge_repeated(finding: &mut Finding, one: &Open, court: &Court<'_>, runs: &mut usize) -> Result<()> {
    let Some((candidate, variant)) = &one.happened else {
        return Ok(());
    };
    let Ok(goals) = pattern_goals(finding.rule, candidate, court.places, *variant) else {
        return Ok(());
    };
    if units(candidate, court.places).is_empty() {
        return Ok(());
    }
    let mut ends: Vec<Outcome> = Vec::new();
    for made in 1..=MOST_REPEATED_RUNS {
        if court.is_over() {
            return Ok(());
        }
        let mut plan = GoalsBuilder::new(*runs as u64 + 1);
        goals.iter().for_each(|goal| plan.add(&finding.id, goal));
        plan.repeat();
        let run = court.runner.direct(&plan.finish())?;
        *runs += 1;
        let is_own = |outcome: &Outcome| outcome.kind != OutcomeKind::Deadlock || deadlocks(&run, &finding.id);
        let bad = run
            .outcomes()
            .into_iter()
            .find(|outcome| is_notable(outcome) && is_own(outcome));
        let Some(bad) = bad.filter(|_| run.has_fact(&finding.id) && !run.timed_out) else {
            // After some runs without a bad end it would take luck to prove one.
            match made >= MOST_HARMLESS_RUNS && ends.is_empty() {
                true => return Ok(()),
                false => continue,
            }
        };
        if ends.iter().any(|known| is_alike(known, &bad)) {
            let orders = court.orders(finding, one);
            let controls = court.controls(&orders, false, runs)?;
            let seen = !orders.is_empty() && missing(&orders, &controls).is_none();
            if seen
                && !depends_on_order(&controls, &bad)
                && court.exclusive_runs_lack(&bad, candidate, 2 * made, runs)?
            {
                finding.evidence = Evidence::Harmful;
                finding.serial = serial_runs(finding, &bad, &orders, &controls);
                finding.outcome = Some(bad);
                finding.limit = None;
            }
            return Ok(());
        }
        ends.push(bad);
    }
    Ok(())
}

const BY_ORDER: &str = "a serial order of the units has the same outcome";

/// Tells a bad end that the comparison does not lay to the pattern as one that may have another cause: another bug of the program may end its runs.
/// An exception that is thrown in or below the method of a step is the finding's own, and so is a deadlock of its threads.
fn disown_outcome(finding: &mut Finding) {
    let thrown = |outcome: &Outcome| is_thrown_in_steps(finding, &outcome.stack);
    let is_own = finding.outcome.as_ref().is_none_or(|outcome| match outcome.kind {
        OutcomeKind::Normal | OutcomeKind::Deadlock => true,
        OutcomeKind::Exception => thrown(outcome),
        OutcomeKind::Exit | OutcomeKind::Hang | OutcomeKind::Output | OutcomeKind::Value | OutcomeKind::Return => false,
    });
    if let Some(outcome) = finding.outcome.as_mut().filter(|_| !is_own) {
        outcome.message.push_str(", which may have another cause");
    }
}

/// Whether the stack of an exception goes through the method of a step.
fn is_thrown_in_steps(finding: &Finding, stack: &[String]) -> bool {
    let mut own = finding.steps.iter().map(|step| step.frame());
    own.any(|own| {
        let frames = stack.iter().map(|frame| Frame::parse(frame));
        frames
            .into_iter()
            .any(|frame| (frame.class, frame.method) == (own.class, own.method))
    })
}

const NO_EFFECT: &str = "its directed runs had no visible effect";

/// Whether an outcome is bad.
fn is_notable(outcome: &Outcome) -> bool {
    outcome.kind != OutcomeKind::Normal
}

/// Whether one serial order of the units has an outcome in all of its runs and another one in none: the order decides, and the
/// units need not overlap.
fn depends_on_order(controls: &[Control], worst: &Outcome) -> bool {
    let has = |run: &DirectedRun| has_outcome(run, worst);
    let always = controls
        .iter()
        .any(|made| !made.runs.is_empty() && made.runs.iter().all(has));
    always && controls.iter().any(|made| !made.runs.iter().any(has))
}

/// The serial order that could not be made.
fn missing(orders: &[SerialOrder], controls: &[Control]) -> Option<String> {
    let (order, made) = orders.iter().zip(controls).find(|(_, made)| made.runs.is_empty())?;
    Some(match made.tried {
        0 => format!(
            "there was no time for a run with {} for comparison (--budget)",
            order.words
        ),
        _ => format!(
            "no run had {}, so its outcome is not known for every serial order",
            order.words
        ),
    })
}

/// The runs of one serial order.
#[derive(Clone, Default)]
struct Control {
    /// Runs in which the order was wanted.
    tried: usize,
    /// Those in which it happened.
    runs: Vec<DirectedRun>,
    observed: Vec<Observed>,
    /// Whether the first unit went the same way as in the pattern.
    whole: bool,
}

/// The id of the goal of a serial order.
fn order_id(number: usize) -> String {
    format!("serial-{number}")
}

/// The serial orders as the report tells them, beside this outcome of the pattern.
fn serial_runs(finding: &Finding, outcome: &Outcome, orders: &[SerialOrder], controls: &[Control]) -> Vec<SerialRun> {
    let made = orders.iter().zip(controls).enumerate();
    let made = made.filter_map(|(number, (order, control))| {
        Some(MadeOrder {
            order,
            id: order_id(number),
            run: control.runs.first()?,
            observed: control.observed.first()?,
        })
    });
    made.filter_map(|made| serial::told(finding, outcome, &made)).collect()
}

impl Court<'_> {
    fn is_over(&self) -> bool {
        self.clock.now() >= self.deadline || self.clock.is_interrupted()
    }

    /// In how many of so many more runs a pattern happens that happened before, and how many could be made.
    pub fn again(&self, finding: &Finding, one: &Open, wanted: usize, runs: &mut usize) -> Result<(usize, usize)> {
        let goals = match &one.happened {
            Some((candidate, variant)) => pattern_goals(finding.rule, candidate, self.places, *variant),
            None => return Ok((0, 0)),
        };
        let (mut happened, mut made) = (0, 0);
        for _ in 0..wanted {
            if self.is_over() {
                break;
            }
            let mut plan = GoalsBuilder::new(*runs as u64 + 1);
            goals.iter().flatten().for_each(|goal| plan.add(&finding.id, goal));
            let run = self.runner.direct(&plan.finish())?;
            *runs += 1;
            made += 1;
            happened += usize::from(run.has_fact(&finding.id));
        }
        Ok((happened, made))
    }

    /// The serial orders of a finding's units, with a wait as long as the pattern's hold.
    fn orders(&self, finding: &Finding, one: &Open) -> Vec<SerialOrder> {
        let Some((candidate, variant)) = &one.happened else {
            return Vec::new();
        };
        let pause = longest_hold(&one.facts, &finding.id);
        serial_orders(finding.rule, candidate, self.places, *variant, pause)
    }

    /// Runs with these goals in which one happened, until there are so many.
    fn facts(&self, (id, goals): (&str, &[CodeGoal]), wanted: usize, runs: &mut usize) -> Result<Vec<DirectedRun>> {
        let mut facts = Vec::new();
        for _ in 0..MOST_MORE_RUNS {
            if facts.len() >= wanted || self.is_over() {
                break;
            }
            let mut plan = GoalsBuilder::new(*runs as u64 + 1);
            goals.iter().for_each(|goal| plan.add(id, goal));
            let run = self.runner.direct(&plan.finish())?;
            *runs += 1;
            if run.has_fact(id) && !run.timed_out {
                facts.push(run);
            }
        }
        Ok(facts)
    }

    /// Whether the update that a race is part of can be lost; why that is not shown, if it is not.
    fn lost_update(
        &self,
        update: &Candidate,
        (finding, field): (&Finding, &str),
        runs: &mut usize,
    ) -> Result<Result<(Outcome, Vec<SerialRun>), String>> {
        let (rule, id) = (Rule::Atomicity, finding.id.as_str());
        let goals = pattern_goals(rule, update, self.places, 0).unwrap_or_default();
        let facts = self.facts((id, &goals), WANTED_FACTS, runs)?;
        if facts.len() < WANTED_FACTS {
            return Ok(Err(NO_EFFECT.into()));
        }
        let observe = |run: &DirectedRun| observe(run, id, true, [0, 1]);
        let observed: Vec<Observed> = facts.iter().map(observe).collect();
        // No wait loses an update, and a short one keeps third threads out.
        let orders = serial_orders(rule, update, self.places, 0, 0);
        let controls = self.controls(&orders, true, runs)?;
        if let Some(why) = missing(&orders, &controls) {
            return Ok(Err(why));
        }
        let serial: Vec<&Observed> = controls.iter().flat_map(|made| &made.observed).collect();
        let told = |outcome: Outcome| {
            let serial = serial_runs(finding, &outcome, &orders, &controls);
            (outcome, serial)
        };
        let lost = lost_update(&observed, &serial, field);
        Ok(lost.map(told).ok_or_else(|| NO_EFFECT.to_string()))
    }

    /// Whether more runs with the pattern, of other activations, return the same wrong pair, and more serial runs do not.
    fn more_pairs(
        &self,
        (id, goals): (&str, &[CodeGoal]),
        mut observed: Vec<Observed>,
        (orders, mut controls): (&[SerialOrder], Vec<Control>),
        runs: &mut usize,
    ) -> Result<Option<Outcome>> {
        while observed.len() < MOST_PAIRS && !self.is_over() {
            let serial: Vec<&Observed> = controls.iter().flat_map(|made| &made.observed).collect();
            if wrong_pair(&observed, &serial, WANTED_PAIRS).is_some() {
                break;
            }
            let more = self.facts((id, goals), 1, runs)?;
            if more.is_empty() {
                break;
            }
            observed.extend(more.iter().map(|run| observe(run, id, false, [0, 1])));
        }
        self.more_controls(orders, &mut controls, (false, WANTED_PAIR_CONTROLS), runs)?;
        let serial: Vec<&Observed> = controls.iter().flat_map(|made| &made.observed).collect();
        let several = activations(observed.iter()) >= LEAST_ACTIVATIONS
            && activations(serial.iter().copied()) >= LEAST_ACTIVATIONS;
        let seen = controls
            .iter()
            .all(|made| made.whole && made.runs.len() >= WANTED_PAIR_CONTROLS);
        Ok(wrong_pair(&observed, &serial, WANTED_PAIRS).filter(|_| several && seen))
    }

    /// Whether a run ended in this way in which the pattern did not happen: then two bad runs may be chance, or the pattern of another bug.
    fn comes_by_itself(&self, id: &str, worst: &Outcome) -> bool {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let mut without = ends
            .iter()
            .filter(|(happened, _)| !happened.iter().any(|goal| goal == id));
        without.any(|(_, outcomes)| outcomes.iter().any(|other| is_alike(other, worst)))
    }

    /// Whether more runs with the pattern all end in this way, and as many do not in which the pattern cannot happen: the units exclude
    /// each other or, where there are none, come in serial orders.
    fn always_comes(
        &self,
        finding: &Finding,
        (candidate, variant): (&Candidate, usize),
        worst: &Outcome,
        (orders, controls): (&[SerialOrder], &[Control]),
        runs: &mut usize,
    ) -> Result<bool> {
        let goals = pattern_goals(finding.rule, candidate, self.places, variant).unwrap_or_default();
        let more = self.facts((&finding.id, &goals), MORE_BAD_RUNS, runs)?;
        if more.len() < MORE_BAD_RUNS || !more.iter().all(|run| has_outcome(run, worst)) {
            return Ok(false);
        }
        if !units(candidate, self.places).is_empty() {
            return self.exclusive_runs_lack(worst, candidate, MORE_CONTROLS, runs);
        }
        let mut controls = controls.to_vec();
        self.more_controls(orders, &mut controls, (false, MORE_CONTROLS), runs)?;
        let lacks =
            |made: &Control| made.runs.len() >= MORE_CONTROLS && !made.runs.iter().any(|run| has_outcome(run, worst));
        Ok(controls.iter().all(lacks))
    }

    /// Makes each serial order twice, as far as that is possible.
    fn controls(&self, orders: &[SerialOrder], one_cell: bool, runs: &mut usize) -> Result<Vec<Control>> {
        let mut all: Vec<Control> = orders.iter().map(|_| Control::default()).collect();
        self.more_controls(orders, &mut all, (one_cell, WANTED_CONTROLS), runs)?;
        Ok(all)
    }

    /// Makes each serial order until it was made so many times.
    fn more_controls(
        &self,
        orders: &[SerialOrder],
        all: &mut [Control],
        (one_cell, wanted): (bool, usize),
        runs: &mut usize,
    ) -> Result<()> {
        let id = order_id;
        for attempt in 0..MOST_SERIAL_RUNS {
            let open: Vec<usize> = (0..orders.len())
                .filter(|&number| all[number].runs.len() < wanted)
                .collect();
            if open.is_empty() || self.is_over() {
                break;
            }
            for number in open {
                // Two orders of the same units in one run would block each other.
                let mut plan = GoalsBuilder::new(*runs as u64 + 1);
                let whole = attempt < WHOLE_SERIAL_RUNS;
                let goal = CodeGoal {
                    whole,
                    ..orders[number].goal.clone()
                };
                plan.add(&id(number), &goal);
                let run = self.runner.direct(&plan.finish())?;
                *runs += 1;
                all[number].tried += 1;
                let observed = observe(&run, &id(number), one_cell, orders[number].roles);
                // A value that the unit had not seen is a third thread's: the run is no serial order of all that took part.
                if run.has_fact(&id(number)) && !run.timed_out && !observed.overwrote {
                    all[number].observed.push(observed);
                    all[number].whole = whole && (all[number].runs.is_empty() || all[number].whole);
                    all[number].runs.push(run);
                }
            }
        }
        Ok(())
    }

    /// Whether so many runs in which all activations of the units exclude each other end without this outcome.
    fn exclusive_runs_lack(
        &self,
        worst: &Outcome,
        candidate: &Candidate,
        wanted: usize,
        runs: &mut usize,
    ) -> Result<bool> {
        let units = units(candidate, self.places);
        if units.is_empty() {
            return Ok(false);
        }
        let mut lacking = 0;
        for _ in 0..wanted + MOST_BROKEN_RUNS {
            if lacking == wanted || self.is_over() {
                break;
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
            // Where two were let in at once the pattern may have happened: such a run says nothing.
            if kept_apart && !run.timed_out {
                if has_outcome(&run, worst) {
                    return Ok(false);
                }
                lacking += 1;
            }
        }
        Ok(lacking == wanted)
    }
}

/// Whether all of these runs ended badly in the same way.
pub fn ended_badly(runs: &[DirectedRun]) -> bool {
    common_outcomes(runs).iter().any(is_notable)
}

/// The longest hold of these runs, as a control waits.
fn longest_hold(runs: &[DirectedRun], id: &str) -> u64 {
    let longest = runs.iter().map(|run| run.longest_hold(id)).max();
    longest.unwrap_or(0).min(MOST_PAUSE)
}

/// Whether a thread of a goal is among those that block each other.
fn deadlocks(run: &DirectedRun, id: &str) -> bool {
    let passed = |line: &LogLine| match line {
        LogLine::Fact { goal, steps, .. } if goal == id => steps.iter().map(|step| step.thread.clone()).collect(),
        _ => Vec::new(),
    };
    let of_goal: BTreeSet<String> = run.log.iter().flat_map(passed).collect();
    run.log.iter().any(|line| match line {
        LogLine::Deadlock { threads } => threads.iter().any(|thread| of_goal.contains(thread)),
        _ => false,
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
        && match one.kind {
            OutcomeKind::Exception => class(&one.message) == class(&other.message),
            OutcomeKind::Deadlock => true,
            OutcomeKind::Normal
            | OutcomeKind::Hang
            | OutcomeKind::Exit
            | OutcomeKind::Output
            | OutcomeKind::Value
            | OutcomeKind::Return => one.message == other.message,
        }
}
