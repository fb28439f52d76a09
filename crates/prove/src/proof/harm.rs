//! Whether a forced run had an outcome that no serial order of the units produces, and which.
//!
//! Compared are uncaught exceptions, deadlocks, hangs, exit codes, what the units returned, the final values of the finding's
//! variables, and output. What differs between two runs of one serial order does not count, and a result counts only if both runs
//! of the bug have it.
//!
//! Other code may write to the same locations: other threads, or the same ones after their units. Then values, exit codes and
//! output are compared only between runs in which all of that comes after the units, one thread after the other, and in the same order.
//! In a program without bugs such a run ends like one that has the units one after the other, and then the same rest. What the units left behind
//! when the last of them was over can be compared whatever comes then.
//!
//! Other units, of the same threads too, may have written before: the runs that are compared must have that in the same order, and
//! nothing of it between the units ([`super::surroundings`]). Then the theorem holds that all of this rests on: if each unit takes effect at one
//! moment between its beginning and its end, the forced run ends like one of the serial runs, since nothing else happened between
//! the first beginning and the last end.

use std::collections::BTreeSet;
use std::sync::Arc;

use ravel_analysis::finding::{Candidate, Outcome, OutcomeKind, UnitKind};
use ravel_analysis::limit::{Limit, LimitKind};
use ravel_schedule::{Goal, naming};
use ravel_trace::names::{Location, Names, SiteKind, flags};
use ravel_trace::naming::qualified_method;
use ravel_trace::naming::variable::short;
use ravel_trace::origin::is_platform;
use ravel_trace::{Event, LocationId, ObjectId, Op, Value};

use super::controls::Controls;
use super::divergence::Shifts;
use super::marks::{Marks, variable};
use super::objects::Objects;
use super::printed::{outputs, printed_instead};
use crate::runner::Forced;
use crate::words;

/// How a run ended that no serial order ends like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Harm {
    /// In words.
    pub outcome: Outcome,
    /// Whether several serial runs ended alike in this respect, so that nothing but the bug makes runs differ in it.
    pub steady: bool,
    /// How many serial orders it was not compared with.
    pub missing: usize,
    /// Whether other units came between those of the pattern, so that some serial order of all of them may end like it.
    pub others_between: bool,
    /// The labels of the values that differ, if it is values that do.
    pub(super) labels: Vec<String>,
}

/// What is judged: an occurrence of a finding that was forced.
pub struct Judged<'a> {
    /// The events of the findings.
    pub marks: &'a Marks,
    /// The occurrence.
    pub candidate: &'a Candidate,
    /// Its goal.
    pub goal: &'a Goal,
    /// Where the forced runs have its events.
    pub shifts: &'a Shifts,
    /// Whether the forced and the serial runs are the same up to the first unit by their schedules, and have nothing but the units
    /// until the last one is over.
    pub exact: bool,
    /// Whether a thread of the forced runs left the recorded path on its way to its unit: then it may be in the middle of an earlier one.
    pub elsewhere: bool,
    /// Whether nothing but the code's shape says that the units must be atomic.
    pub is_guess: bool,
    /// The variables that the finding is about.
    pub variables: &'a [String],
    /// The names of the pattern's threads.
    pub threads: BTreeSet<String>,
    /// Whether other code writes to the same locations.
    pub contended: bool,
    /// Whether several threads go on after the units.
    pub goes_on: bool,
    /// Whether the threads go on one by one after the pattern.
    pub apart: bool,
    /// The objects that the steps of the forced run have.
    pub objects: &'a Objects,
}

impl Judged<'_> {
    /// What all of `runs` did and no serial run does. With more runs of an order there may be less of it, never more.
    pub fn harm(&self, runs: &[Arc<Forced>], controls: &Controls) -> Option<Harm> {
        let begun = self.begun_alike(runs, controls);
        let harm = exceptions(runs, &begun)
            .or_else(|| self.deadlock(runs, controls))
            .or_else(|| hang(runs, controls))
            .or_else(|| {
                let alike = self.comparable(runs, &begun)?;
                // What later code prints depends on the order of the threads in it.
                let rest = || self.apart || !self.contended && !self.goes_on;
                let code = rest().then(|| exit_code(runs, &alike)).flatten();
                code.or_else(|| self.results(runs, &alike, When::AtEnd)).or_else(|| {
                    let counts = rest()
                        && !self.candidate.is_of_body()
                        && !self.is_made_up_for(runs, &alike)
                        && !self.is_report(runs, &alike);
                    counts
                        .then(|| outputs(runs, &self.others_alike(runs, &alike)?))
                        .flatten()
                })
            })
            .or_else(|| self.left_by_units(runs, &begun))
            .filter(|harm| !self.is_of_waiting_unit(harm, controls))?;
        Some(Harm {
            outcome: runs[0].account(printed_exception(&harm.outcome).unwrap_or(harm.outcome)),
            ..harm
        })
    }

    /// Whether harm is only what a unit returned that waits for another one: it may say how far the other one has come, as the `waitFor` of a ring
    /// does, and whether it must not is a guess.
    fn is_of_waiting_unit(&self, harm: &Harm, controls: &Controls) -> bool {
        self.is_guess && controls.impossible > 0 && harm.outcome.kind == OutcomeKind::Return
    }

    /// Why no harm was seen, in words.
    pub fn no_harm(&self, runs: &[Arc<Forced>], controls: &Controls) -> Limit {
        if outputs(runs, controls).is_some() && self.is_made_up_for(runs, controls) {
            return "its forced runs printed what no serial order prints, but the units noticed by a conditional write that others came between, and \
                    wrote as often as in a serial order"
                .into();
        }
        if outputs(runs, controls).is_some() && self.is_report(runs, controls) {
            return "its forced runs printed what no serial order prints, but the units only report: they act on nothing that they read too late"
                .into();
        }
        let comparable = !self.contended || self.apart && self.comparable(runs, controls).is_some();
        match comparable {
            true => "its forced runs had the outcome of a serial order".into(),
            // Here the units did no harm. Elsewhere, as at the last seat, the same pattern may: directed runs compare how whole runs end.
            false if self.undisturbed(runs, &self.begun_alike(runs, controls)).is_some() => Limit::new(
                "its forced runs had the outcome of a serial order when its units were over; what comes then depends on other threads too",
                [LimitKind::NotCompared],
            ),
            false => Limit::new(
                "other threads write to the same variables in a different order in each run, so the outcome could not be compared \
                 with serial orders",
                [LimitKind::NotCompared],
            ),
        }
    }

    /// Threads of the pattern that block each other.
    fn deadlock(&self, runs: &[Arc<Forced>], controls: &Controls) -> Option<Harm> {
        let ours = |run: &Arc<Forced>| {
            let threads = run.deadlock().unwrap_or_default();
            threads.iter().any(|name| self.threads.contains(name))
        };
        if !runs.iter().all(ours) || controls.runs().any(|run| run.deadlock().is_some()) {
            return None;
        }
        let threads = words::threads(runs[0].deadlock()?);
        Some(Harm {
            outcome: outcome(OutcomeKind::Deadlock, format!("{threads} wait for each other")),
            steady: true,
            missing: controls.missing,
            others_between: controls.others_between,
            labels: Vec::new(),
        })
    }

    /// The serial orders in whose runs other code wrote to the pattern's locations as it did in the forced runs; the rest is missing.
    fn comparable(&self, runs: &[Arc<Forced>], controls: &Controls) -> Option<Controls> {
        if !self.contended {
            return Some(controls.clone());
        }
        let wanted = self.writers(&runs[0])?;
        let is_alike = |run: &Arc<Forced>| self.writers(run).is_some_and(|writers| writers == wanted);
        if !runs.iter().all(is_alike) {
            return None;
        }
        let alike = controls.only(is_alike);
        (!alike.orders.is_empty()).then_some(alike)
    }

    /// The threads that wrote to the pattern's locations, by their paths, one after the other; those of the pattern count as one.
    /// None if not all of it is known.
    fn writers(&self, run: &Forced) -> Option<Vec<String>> {
        let (events, names) = run.trace.as_ref().filter(|_| !run.partial)?;
        let cells = self.marks.cells(self.candidate, events, names);
        let locations: BTreeSet<LocationId> = cells
            .into_iter()
            .flatten()
            .filter_map(|place| events[place].op.location())
            .collect();
        let paths = naming::thread_names(names, names.threads.len());
        let own = |path: &str| {
            let marks = self
                .candidate
                .events
                .iter()
                .filter_map(|event| self.marks.get(event.index));
            marks.into_iter().any(|mark| mark.thread == path)
        };
        let mut writers: Vec<String> = Vec::new();
        for event in events.iter().filter(|event| event.op.is_write()) {
            if event
                .op
                .location()
                .is_some_and(|location| locations.contains(&location))
            {
                let path = paths.get(event.thread.index()).map_or("", |name| name.path.as_str());
                let path = if own(path) { "" } else { path };
                if writers.last().is_none_or(|last| last != path) {
                    writers.push(path.to_string());
                }
            }
        }
        Some(writers)
    }
}

/// Whether there are several serial runs, and all are alike in some respect.
pub(super) fn alike<T: PartialEq>(controls: &Controls, of: impl Fn(&Forced) -> T) -> bool {
    let all: Vec<T> = controls.runs().map(|run| of(run)).collect();
    all.len() > 1 && all.iter().all(|one| *one == all[0])
}

fn outcome(kind: OutcomeKind, message: String) -> Outcome {
    Outcome::new(kind, message)
}

fn exceptions(runs: &[Arc<Forced>], controls: &Controls) -> Option<Harm> {
    let class = |text: &str| text.split(':').next().unwrap_or_default().to_string();
    runs[0].exceptions().into_iter().find_map(|(thread, exception)| {
        let seen = |run: &Arc<Forced>| {
            run.exceptions()
                .iter()
                .any(|(_, other)| class(other) == class(&exception))
        };
        let outcome = Outcome::new(OutcomeKind::Exception, exception.clone()).of(thread);
        (runs.iter().all(seen) && !controls.runs().any(seen)).then(|| Harm {
            outcome,
            steady: alike(controls, |run| run.exceptions().len()),
            missing: controls.missing,
            others_between: controls.others_between,
            labels: Vec::new(),
        })
    })
}

/// The uncaught exception that a run printed and no serial order prints: told as the exception, so that it is one finding with the failure.
fn printed_exception(outcome: &Outcome) -> Option<Outcome> {
    let message = Some(&outcome.message).filter(|_| outcome.kind == OutcomeKind::Output)?;
    let printed = message.strip_prefix("the program printed \"Exception in thread \\\"")?;
    let (thread, rest) = printed.split_once("\\\" ")?;
    let (exception, _) = rest.rsplit_once("\", which ")?;
    Some(Outcome::new(OutcomeKind::Exception, exception.replace("\\\"", "\"")).of(thread))
}

fn hang(runs: &[Arc<Forced>], controls: &Controls) -> Option<Harm> {
    let hung = |run: &Arc<Forced>| run.hung() || run.left_pools();
    if !runs.iter().all(hung) || controls.runs().any(hung) {
        return None;
    }
    let message = match runs[0].waiting() {
        Some(threads) => format!(
            "{} wait, and no thread is left to wake them; {}",
            words::threads(threads),
            controls.words("ends", "end")
        ),
        None if runs[0].left_pools() => format!(
            "the program does not end: no thread shuts its pool down; {}",
            controls.words("ends", "end")
        ),
        None => format!("the program did not end; {}", controls.words("does", "do")),
    };
    Some(Harm {
        outcome: outcome(OutcomeKind::Hang, message),
        steady: alike(controls, |run| run.status.code()),
        missing: controls.missing,
        others_between: controls.others_between,
        labels: Vec::new(),
    })
}

/// An exit code that tells of a failure.
fn exit_code(runs: &[Arc<Forced>], controls: &Controls) -> Option<Harm> {
    let code = runs[0].status.code().filter(|code| *code != 0)?;
    let same = |run: &Arc<Forced>| run.status.code() == Some(code);
    let ended = |run: &Arc<Forced>| !run.hung() && run.deadlock().is_none();
    let mut all = runs.iter().chain(controls.runs());
    if !all.all(ended) || !runs.iter().all(same) || controls.runs().any(same) {
        return None;
    }
    let serial: BTreeSet<i32> = controls.runs().filter_map(|run| run.status.code()).collect();
    let serial: Vec<String> = serial.iter().map(i32::to_string).collect();
    let instead = match serial.is_empty() {
        true => String::new(),
        false => format!("; {} with {}", controls.words("ends", "end"), serial.join(" or ")),
    };
    Some(Harm {
        outcome: outcome(
            OutcomeKind::Exit,
            format!("the program ended with exit code {code}{instead}"),
        ),
        steady: alike(controls, |run| run.status.code()),
        missing: controls.missing,
        others_between: controls.others_between,
        labels: Vec::new(),
    })
}

/// When a value was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum When {
    /// When the program ended; of what a unit returned, when it did.
    AtEnd,
    /// When the last unit was over.
    AfterUnits,
}

/// Something that a run came to, and what to call it.
#[derive(Clone, Debug)]
struct Seen {
    when: When,
    /// `Value` or `Return`.
    kind: OutcomeKind,
    /// `Account.balance was`, `Account.get() in t1 returned`; the same in all runs.
    label: String,
    /// The label for people: with the index of an element, which may differ from run to run.
    told: String,
    value: Value,
    descriptor: String,
    /// The value in words, if the run has them.
    words: Option<String>,
}

impl PartialEq for Seen {
    /// What runs are compared by. Words may name objects, whose numbers mean nothing in another run.
    fn eq(&self, other: &Seen) -> bool {
        (self.kind, &self.label, self.value, &self.descriptor)
            == (other.kind, &other.label, other.value, &other.descriptor)
    }
}

impl Seen {
    /// A digest of what type nothing is known of says nothing. References have digests only of what means the same in another run:
    /// strings, boxed numbers, constants of enums; all other objects are alike.
    fn comparable(mut self) -> Seen {
        if matches!(self.value, Value::Digest(_)) && self.descriptor.is_empty() {
            self.value = Value::Unknown;
        }
        self
    }

    /// Whether it is known at this moment. What a unit returned is known once the units are over.
    fn is_of(&self, when: When) -> bool {
        self.when == when || when == When::AfterUnits && self.kind == OutcomeKind::Return
    }

    /// Whether its value can be written down: of some numbers and of strings only a digest is kept.
    fn is_readable(&self) -> bool {
        self.words.is_some() || !matches!(self.value, Value::Digest(_))
    }

    /// The value for people; `objects` are those of its run.
    fn shown(&self, objects: &Objects) -> String {
        match (self.value, self.descriptor.as_bytes().first()) {
            _ if self.words.is_some() => objects.told(self.words.as_deref().unwrap_or_default()),
            (Value::Exact(0), Some(b'L' | b'[')) => "null".into(),
            (Value::Exact(0), Some(b'Z')) => "false".into(),
            (Value::Exact(1), Some(b'Z')) => "true".into(),
            (Value::Exact(number), _) => number.to_string(),
            (Value::Digest(_), Some(b'L' | b'[')) => "not null".into(),
            (Value::Digest(_), _) => "a number that the trace keeps no digits of".into(),
            (Value::Unknown, _) => "unknown".into(),
        }
    }
}

impl Judged<'_> {
    /// What the units returned and left behind, where other code writes to the same locations afterwards: by the theorem that is what a serial run has
    /// at the end of its units, whatever comes then.
    fn left_by_units(&self, runs: &[Arc<Forced>], begun: &Controls) -> Option<Harm> {
        let controls = self.undisturbed(runs, begun).filter(|_| self.contended)?;
        self.results(runs, &controls, When::AfterUnits)
    }

    /// The serial orders in whose runs no other code wrote to the locations of the units while these ran, if that holds of the forced runs too.
    fn undisturbed(&self, runs: &[Arc<Forced>], begun: &Controls) -> Option<Controls> {
        let is_undisturbed = |run: &Arc<Forced>| self.end_of_units(run).is_some();
        if begun.others_between || !runs.iter().all(is_undisturbed) {
            return None;
        }
        let controls = begun.only(is_undisturbed);
        (!controls.orders.is_empty()).then_some(controls)
    }

    /// Values and return values.
    fn results(&self, runs: &[Arc<Forced>], controls: &Controls, when: When) -> Option<Harm> {
        let forced: Vec<Vec<Seen>> = runs.iter().map(|run| self.seen(run)).collect();
        let orders: Vec<Vec<Vec<Seen>>> = controls
            .orders
            .iter()
            .map(|order| order.iter().map(|run| self.seen(run)).collect())
            .collect();
        // The calls of a thread's body may each be right although no serial order of whole bodies has their results.
        let returns_count = !self.candidate.is_of_body() && !self.is_noticed(runs, controls);
        // By label, because a run that took another path lacks some.
        let steady: Vec<&Seen> = forced[0]
            .iter()
            .filter(|one| {
                let value = |all: &Vec<Seen>| all.iter().find(|s| s.label == one.label).map(|s| s.value);
                one.value != Value::Unknown
                    && one.is_of(when)
                    && (one.kind == OutcomeKind::Value || returns_count)
                    && forced.iter().all(|all| value(all) == Some(one.value))
                    && orders.iter().all(|order| {
                        let first = value(&order[0]);
                        first.is_some_and(|v| v != Value::Unknown) && order.iter().all(|run| value(run) == first)
                    })
            })
            .collect();
        // Their objects are those of other runs.
        let others = Objects::default();
        let in_order = |order: &[Vec<Seen>], label: &str| order[0].iter().find(|s| s.label == label).cloned();
        for one in &steady {
            let possible: Vec<Seen> = orders.iter().filter_map(|order| in_order(order, &one.label)).collect();
            if possible.iter().all(|other| other.value != one.value) {
                let words: BTreeSet<String> = possible.iter().map(|other| other.shown(&others)).collect();
                let words: Vec<String> = words.into_iter().collect();
                let serial = controls.words("gives", "give");
                // Of some numbers and of strings only that they differ is known.
                let shown = one.shown(self.objects);
                let message = match words.contains(&shown) {
                    false => format!("{} {shown}; {serial} {}", one.told, words.join(" or ")),
                    true => format!("{} a different value than {serial}", one.told),
                };
                return Some(Harm {
                    outcome: outcome(one.kind, message),
                    steady: possible.len() > 1 && possible.iter().all(|other| other.value == possible[0].value),
                    missing: controls.missing,
                    others_between: controls.others_between,
                    labels: vec![one.label.clone()],
                });
            }
        }
        let tuple = |values: &[Seen]| -> String {
            let words: Vec<String> = values.iter().map(|s| s.shown(&others)).collect();
            words.join(" and ")
        };
        // A value that is the same in all runs tells nothing.
        let differs = |one: &&&Seen| {
            let mut values = orders.iter().filter_map(|order| in_order(order, &one.label));
            values.any(|other| other.value != one.value)
        };
        let together: Vec<Seen> = steady.iter().filter(differs).map(|s| (*s).clone()).collect();
        let possible: Vec<Vec<Seen>> = orders
            .iter()
            .map(|order| together.iter().filter_map(|s| in_order(order, &s.label)).collect())
            .collect();
        if together.len() < 2 || possible.contains(&together) {
            return None;
        }
        let words: BTreeSet<String> = possible.iter().map(|values| tuple(values)).collect();
        let words: Vec<String> = words.into_iter().collect();
        let serial = controls.words("gives", "give");
        let shown: Vec<String> = together.iter().map(|s| s.shown(self.objects)).collect();
        let message = match words.contains(&shown.join(" and ")) {
            false => {
                let told = together.iter().zip(&shown);
                let told: Vec<String> = told.map(|(s, value)| format!("{} {value}", s.told)).collect();
                format!("{}; {serial} {}", told.join(" and "), words.join(", or "))
            }
            true => {
                let labels: Vec<&str> = together.iter().map(|s| s.told.as_str()).collect();
                format!(
                    "{} a different combination of values than {serial}",
                    labels.join(" and ")
                )
            }
        };
        Some(Harm {
            outcome: outcome(together[0].kind, message),
            steady: false,
            missing: controls.missing,
            others_between: controls.others_between,
            labels: together.iter().map(|seen| seen.label.clone()).collect(),
        })
    }

    /// What a serial run, whose steps have these objects, had in place of the harm of a forced run, in words.
    pub fn instead(&self, harm: &Harm, forced: &Forced, run: &Forced, objects: &Objects) -> String {
        let seen = self.seen(run);
        let told = |label: &String| {
            let one = seen.iter().find(|seen| seen.label == *label)?;
            one.is_readable()
                .then(|| format!("{} {}", one.told, one.shown(objects)))
        };
        let values: Vec<String> = harm.labels.iter().filter_map(told).collect();
        if !values.is_empty() {
            return values.join(" and ");
        }
        match (harm.outcome.kind, run.status.code()) {
            (OutcomeKind::Value | OutcomeKind::Return, _) => "a different value".to_owned(),
            (OutcomeKind::Exception, _) if run.exceptions().is_empty() => "no exception".to_owned(),
            (OutcomeKind::Exception, _) => "no such exception".to_owned(),
            (OutcomeKind::Exit, Some(code)) => format!("exit code {code}"),
            (OutcomeKind::Output, _) => printed_instead(&run.output, &forced.output),
            (OutcomeKind::Exit | OutcomeKind::Normal | OutcomeKind::Deadlock | OutcomeKind::Hang, _) => {
                "the program ends".to_owned()
            }
        }
    }

    /// What a run came to, as far as it can be compared.
    fn seen(&self, run: &Forced) -> Vec<Seen> {
        let Some((events, names)) = &run.trace else {
            return Vec::new();
        };
        let mut all: Vec<Seen> = Vec::new();
        let mut add = |one: Seen| {
            if !all.iter().any(|other| other.label == one.label) {
                all.push(one.comparable());
            }
        };
        let cells = self.marks.cells(self.candidate, events, names);
        let told = |event: usize| {
            let mark = self.marks.get(self.candidate.events[event].index);
            mark.is_some_and(|mark| self.variables.contains(&mark.variable))
        };
        // A finding may be merged of several variables' and be named by what holds a modelled object.
        let some = (0..cells.len()).any(told);
        let is_known = run.whole && (!self.contended || self.apart);
        let units_over = self.contended.then(|| self.end_of_units(run)).flatten();
        for place in cells.iter().enumerate().filter(|(event, _)| !some || told(*event)) {
            let Some(place) = *place.1 else { continue };
            // A program knows how large a collection is, and nothing of the number of its changes.
            let place = match is_of_changes(&events[place], names) {
                true => size_beside(events, place, names),
                false => Some(place),
            };
            if let Some(place) = place {
                if let Some(units) = units_over.filter(|over| place <= *over).map(|over| &events[..=over]) {
                    let last = last(units, place);
                    add(Seen {
                        when: When::AfterUnits,
                        kind: OutcomeKind::Value,
                        label: format!("{} after its units was", variable(&events[place], names)),
                        told: format!("right after these units, {} was", told_variable(&events[place], names)),
                        value: last_value(last, names),
                        descriptor: descriptor(&events[place], names),
                        words: last.and_then(|last| words_of(last, names)),
                    });
                }
                let last = last(events, place);
                add(Seen {
                    when: When::AtEnd,
                    kind: OutcomeKind::Value,
                    label: format!("{} was", variable(&events[place], names)),
                    told: format!("{} was", told_variable(&events[place], names)),
                    value: match is_known {
                        true => last_value(last, names),
                        false => Value::Unknown,
                    },
                    descriptor: descriptor(&events[place], names),
                    words: last.filter(|_| is_known).and_then(|last| words_of(last, names)),
                });
            }
        }
        for unit in &self.candidate.units {
            let Some(mark) = self.marks.get(unit.begin.index) else {
                continue;
            };
            if let Some(method) = &mark.method
                && let Some((event, name)) = returned(&run.returned, names, &mark.thread, method, mark.position)
                && (unit.kind == UnitKind::Declared || !is_helper(event, names))
            {
                add(Seen {
                    when: When::AtEnd,
                    kind: OutcomeKind::Return,
                    label: format!("{} in {name} returned", qualified_method(method)),
                    told: format!("{} in {name} returned", qualified_method(method)),
                    value: value(event),
                    descriptor: descriptor(event, names),
                    words: words_of(event, names),
                });
            }
        }
        all
    }
}

/// Whether a method returns to code of its own class alone, which may well expect what no caller from outside does.
fn is_helper(event: &Event, names: &Names) -> bool {
    let Op::Returned { method, .. } = event.op else {
        return false;
    };
    let flags = names.methods.get(method.index()).map_or(0, |method| method.flags);
    flags & flags::PRIVATE != 0 && flags & flags::SYNTHETIC == 0
}

/// The return of a unit's method, and the name of the thread.
fn returned<'a>(
    events: &'a [Event],
    names: &Names,
    thread: &str,
    method: &str,
    position: u32,
) -> Option<(&'a Event, String)> {
    let paths = naming::thread_names(names, names.threads.len());
    let of_method = |event: &&Event| {
        event.position >= position
            && matches!(event.op, Op::Returned { method: id, .. } if names.method_text(id) == *method)
            && paths.get(event.thread.index()).is_some_and(|name| name.path == thread)
    };
    let event = events.iter().find(of_method)?;
    Some((event, paths[event.thread.index()].name.clone()))
}

fn value(event: &Event) -> Value {
    match event.op {
        Op::Read { value, .. } | Op::Write { value, .. } | Op::Update { value, .. } | Op::Returned { value, .. } => {
            value
        }
        _ => Value::Unknown,
    }
}

fn descriptor(event: &Event, names: &Names) -> String {
    if let Op::Returned { method, .. } = event.op {
        let whole = names
            .methods
            .get(method.index())
            .map_or("", |method| &method.descriptor);
        return whole.rsplit_once(')').map_or("", |(_, result)| result).to_string();
    }
    if let SiteKind::Element(array) = &names.site(event.site).what {
        return array.strip_prefix('[').unwrap_or_default().to_string();
    }
    event
        .op
        .location()
        .and_then(|location| names.field_of(location))
        .map(|field| names.field(field).descriptor.clone())
        .unwrap_or_default()
}

/// The value of an event in words, where the event itself has a digest.
fn words_of(event: &Event, names: &Names) -> Option<String> {
    matches!(value(event), Value::Digest(_))
        .then(|| names.value_text(event))?
        .filter(|text| text != "not null")
}

/// A variable for people: without its package if it is the program's own, since what lies inside of an object of the JDK gets the name of
/// what holds it; an element with its index.
fn told_variable(event: &Event, names: &Names) -> String {
    let name = match event.op.location() {
        Some(location) => names.variable_name(location, event.site),
        None => variable(event, names),
    };
    match event.op.location().and_then(|location| names.element_index(location)) {
        Some(index) => format!("element {index} of {name}"),
        None if is_platform(&name) => name,
        None => short(&name),
    }
}

/// The last event of the location of an event.
fn last(events: &[Event], index: usize) -> Option<&Event> {
    let location = events[index].op.location()?;
    events.iter().rev().find(|event| event.op.location() == Some(location))
}

/// The object of a class of the JDK whose field of this name a location is.
fn platform_field(location: LocationId, wanted: &str, names: &Names) -> Option<ObjectId> {
    match *names.locations.get(location.index())? {
        Location::Field(object, field) => {
            let field = names.field(field);
            let class = names.classes.get(field.class.index())?;
            (field.name == wanted && is_platform(&class.name)).then_some(object)
        }
        _ => None,
    }
}

/// Whether an event accesses the number of changes of a collection.
fn is_of_changes(event: &Event, names: &Names) -> bool {
    let location = event.op.location();
    location.is_some_and(|location| platform_field(location, "modCount", names).is_some())
}

/// An access to the size of the collection whose number of changes an event accesses.
fn size_beside(events: &[Event], index: usize, names: &Names) -> Option<usize> {
    let object = platform_field(events[index].op.location()?, "modCount", names)?;
    events.iter().position(|event| {
        let size = event
            .op
            .location()
            .and_then(|location| platform_field(location, "size", names));
        size == Some(object)
    })
}

/// What a location holds after its last event. A call on a modelled object tells it only if that is what it returns.
fn last_value(last: Option<&Event>, names: &Names) -> Value {
    let Some((last, location)) = last.and_then(|last| Some((last, last.op.location()?))) else {
        return Value::Unknown;
    };
    if matches!(names.locations[location.index()], Location::Entry(..)) {
        return Value::Unknown;
    }
    match &names.site(last.site).what {
        SiteKind::Call(call) if !matches!(last.op, Op::Read { .. }) || !returns_value(call) => Value::Unknown,
        SiteKind::Call(_) | SiteKind::Field(_) | SiteKind::Fenced(_) => value(last),
        _ if !names.is_synchronizing(location) || matches!(last.op, Op::Read { .. }) => value(last),
        _ => Value::Unknown,
    }
}

/// Whether a method returns the value, or the size, of a modelled object.
fn returns_value(call: &str) -> bool {
    let name = call.rsplit('.').next().unwrap_or_default();
    let name = name.split('(').next().unwrap_or_default();
    let gets = name.starts_with("get") && !name.starts_with("getAnd");
    gets || name.ends_with("Value") || matches!(name, "sum" | "size" | "length" | "mappingCount")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_exception_is_told_as_the_exception() {
        let told = |line: &str| {
            let message = format!("the program printed {line:?}, which no serial order prints");
            printed_exception(&Outcome::new(OutcomeKind::Output, message))
        };
        let text = "java.lang.NullPointerException: the value of \"poll()\" is null";
        let outcome = told(&format!("Exception in thread \"t1\" {text}")).expect("an exception");
        assert_eq!((outcome.kind, outcome.message.as_str()), (OutcomeKind::Exception, text));
        assert_eq!(outcome.thread.as_deref(), Some("t1"));
        assert_eq!(told("sum 3"), None);
    }

    #[test]
    fn references_are_compared_by_their_digests() {
        let one = |value, descriptor: &str| {
            let seen = Seen {
                when: When::AtEnd,
                kind: OutcomeKind::Return,
                label: String::new(),
                told: String::new(),
                value,
                descriptor: descriptor.into(),
                words: None,
            };
            seen.comparable().value
        };
        assert_ne!(
            one(Value::Digest(7), "Ljava/lang/Integer;"),
            one(Value::Digest(8), "Ljava/lang/Integer;")
        );
        assert_ne!(one(Value::Digest(7), "LNode;"), one(Value::Exact(0), "LNode;"));
        assert_ne!(one(Value::Digest(7), "D"), one(Value::Digest(8), "D"));
        // The type is unknown, so it may be a reference.
        assert_eq!(one(Value::Digest(7), ""), Value::Unknown);
    }

    #[test]
    fn a_modelled_object_tells_its_value_by_methods_that_return_it() {
        assert!(returns_value("java.util.concurrent.atomic.AtomicInteger.get"));
        assert!(returns_value("java.lang.invoke.VarHandle.getVolatile"));
        assert!(!returns_value(
            "java.util.concurrent.atomic.AtomicInteger.compareAndSet"
        ));
        assert!(!returns_value(
            "java.util.concurrent.atomic.AtomicInteger.getAndIncrement"
        ));
    }

    #[test]
    fn values_are_told_as_people_know_them() {
        let one = |value, descriptor: &str| {
            Seen {
                when: When::AtEnd,
                kind: OutcomeKind::Value,
                label: String::new(),
                told: String::new(),
                value,
                descriptor: descriptor.into(),
                words: None,
            }
            .shown(&Objects::default())
        };
        assert_eq!(one(Value::Exact(0), "Ljava/lang/String;"), "null");
        assert_eq!(one(Value::Digest(7), "Ljava/lang/String;"), "not null");
        assert_eq!(one(Value::Exact(1), "Z"), "true");
        assert_eq!(one(Value::Exact(-3), "I"), "-3");
        assert_eq!(
            qualified_method("shop.store.Depot.store(Ljava/lang/String;I)I"),
            "Depot.store"
        );
        assert_eq!(qualified_method("main([Ljava/lang/String;)V"), "main");
    }
}
