//! Whether a forced run ended as no serial order of the units does, and how.
//!
//! Compared are uncaught exceptions, hangs, exit codes, what the units returned, the final values of the pattern's variables,
//! and output. What differs between two runs of one serial order does not count, and a result counts only if both runs of
//! the bug have it.

use std::collections::BTreeSet;
use std::sync::Arc;

use ravel_analysis::finding::{Candidate, Outcome};
use ravel_schedule::naming;
use ravel_trace::names::{Location, Names};
use ravel_trace::naming::qualified_method;
use ravel_trace::{Event, Op, Value};

use super::marks::{Marks, variable};
use crate::runner::Forced;
use crate::words;

/// Runs of the units one after the other, in one order.
pub type Serial = Vec<Arc<Forced>>;

/// How a run ended that no serial order ends like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Harm {
    /// In words.
    pub outcome: Outcome,
    /// Whether several serial runs ended alike in this respect, so that nothing but the bug makes runs differ in it.
    pub steady: bool,
}

/// What all of `runs` did and no serial run does. With more runs of an order there may be less of it, never more.
pub fn harm(marks: &Marks, candidate: &Candidate, runs: &[Arc<Forced>], serial: &[Serial]) -> Option<Harm> {
    exceptions(runs, serial)
        .or_else(|| hang(runs, serial))
        .or_else(|| exit_code(runs, serial))
        .or_else(|| results(marks, candidate, runs, serial))
        .or_else(|| outputs(runs, serial))
}

/// Whether there are several serial runs, and all are alike in some respect.
fn alike<T: PartialEq>(serial: &[Serial], of: impl Fn(&Forced) -> T) -> bool {
    let all: Vec<T> = serial.iter().flatten().map(|run| of(run)).collect();
    all.len() > 1 && all.iter().all(|one| *one == all[0])
}

fn outcome(kind: &str, message: String) -> Outcome {
    Outcome {
        kind: kind.into(),
        thread: None,
        message,
    }
}

fn exceptions(runs: &[Arc<Forced>], serial: &[Serial]) -> Option<Harm> {
    let class = |text: &str| text.split(':').next().unwrap_or_default().to_string();
    runs[0].exceptions().into_iter().find_map(|(thread, exception)| {
        let seen = |run: &Arc<Forced>| {
            run.exceptions()
                .iter()
                .any(|(_, other)| class(other) == class(&exception))
        };
        let outcome = Outcome {
            kind: "exception".into(),
            thread: Some(thread),
            message: exception.clone(),
        };
        (runs.iter().all(seen) && !serial.iter().flatten().any(seen)).then(|| Harm {
            outcome,
            steady: alike(serial, |run| run.exceptions().len()),
        })
    })
}

fn hang(runs: &[Arc<Forced>], serial: &[Serial]) -> Option<Harm> {
    let hung = |run: &Arc<Forced>| run.hung();
    if !runs.iter().all(hung) || serial.iter().flatten().any(hung) {
        return None;
    }
    let message = match runs[0].waiting() {
        Some(threads) => format!(
            "{} wait, and nobody is left to wake them; every serial order ends",
            words::threads(threads)
        ),
        None => "the program did not end; every serial order does".to_string(),
    };
    Some(Harm {
        outcome: outcome("hang", message),
        steady: alike(serial, |run| run.status.code()),
    })
}

fn exit_code(runs: &[Arc<Forced>], serial: &[Serial]) -> Option<Harm> {
    let code = runs[0].status.code()?;
    let same = |run: &Arc<Forced>| run.status.code() == Some(code);
    let ended = |run: &Arc<Forced>| !run.hung() && run.deadlock().is_none();
    let all = || runs.iter().chain(serial.iter().flatten());
    if !all().all(ended) || !runs.iter().all(same) || serial.iter().flatten().any(same) {
        return None;
    }
    Some(Harm {
        outcome: outcome("exit", format!("the program ended with exit code {code}")),
        steady: alike(serial, |run| run.status.code()),
    })
}

/// Something that a run came to, and what to call it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Seen {
    /// `value` or `return`.
    kind: &'static str,
    /// `Account.balance was`, `Account.get() in t1 returned`
    label: String,
    value: Value,
    descriptor: String,
}

impl Seen {
    fn shown(&self) -> String {
        match (self.value, self.descriptor.as_bytes().first()) {
            (Value::Exact(0), Some(b'L' | b'[')) => "null".into(),
            (Value::Exact(0), Some(b'Z')) => "false".into(),
            (Value::Exact(1), Some(b'Z')) => "true".into(),
            (Value::Exact(number), _) => number.to_string(),
            (Value::Digest(_), Some(b'L' | b'[')) => "an object".into(),
            (Value::Digest(digest), _) => format!("something else (~{digest:x})"),
            (Value::Unknown, _) => "unknown".into(),
        }
    }
}

/// Final values and return values.
fn results(marks: &Marks, candidate: &Candidate, runs: &[Arc<Forced>], serial: &[Serial]) -> Option<Harm> {
    let forced: Vec<Vec<Seen>> = runs.iter().map(|run| seen(marks, candidate, run)).collect();
    let orders: Vec<Vec<Vec<Seen>>> = serial
        .iter()
        .map(|order| order.iter().map(|run| seen(marks, candidate, run)).collect())
        .collect();
    // By label, because a run that took another path lacks some.
    let steady: Vec<&Seen> = forced[0]
        .iter()
        .filter(|one| {
            let value = |all: &Vec<Seen>| all.iter().find(|s| s.label == one.label).map(|s| s.value);
            one.value != Value::Unknown
                && forced.iter().all(|all| value(all) == Some(one.value))
                && orders.iter().all(|order| {
                    let first = value(&order[0]);
                    first.is_some_and(|v| v != Value::Unknown) && order.iter().all(|run| value(run) == first)
                })
        })
        .collect();
    let in_order = |order: &[Vec<Seen>], label: &str| order[0].iter().find(|s| s.label == label).cloned();
    for one in &steady {
        let possible: Vec<Seen> = orders.iter().filter_map(|order| in_order(order, &one.label)).collect();
        if possible.iter().all(|other| other.value != one.value) {
            let words: BTreeSet<String> = possible.iter().map(Seen::shown).collect();
            let words: Vec<String> = words.into_iter().collect();
            let message = format!(
                "{} {}; every serial order gives {}",
                one.label,
                one.shown(),
                words.join(" or ")
            );
            return Some(Harm {
                outcome: outcome(one.kind, message),
                steady: possible.len() > 1 && possible.iter().all(|other| other.value == possible[0].value),
            });
        }
    }
    let tuple = |values: &[Seen]| -> String {
        let words: Vec<String> = values.iter().map(|s| format!("{} {}", s.label, s.shown())).collect();
        words.join(" and ")
    };
    let together: Vec<Seen> = steady.iter().map(|s| (*s).clone()).collect();
    let possible: Vec<Vec<Seen>> = orders
        .iter()
        .map(|order| together.iter().filter_map(|s| in_order(order, &s.label)).collect())
        .collect();
    if together.len() < 2 || possible.contains(&together) {
        return None;
    }
    let words: BTreeSet<String> = possible.iter().map(|values| tuple(values)).collect();
    let words: Vec<String> = words.into_iter().collect();
    let message = format!("{}; a serial order gives {}", tuple(&together), words.join(", or "));
    Some(Harm {
        outcome: outcome(together[0].kind, message),
        steady: false,
    })
}

fn seen(marks: &Marks, candidate: &Candidate, run: &Forced) -> Vec<Seen> {
    let Some((events, names)) = &run.trace else {
        return Vec::new();
    };
    let mut all: Vec<Seen> = Vec::new();
    let mut add = |one: Seen| {
        if !all.iter().any(|other| other.label == one.label) {
            all.push(one);
        }
    };
    for place in marks.cells(candidate, events, names).into_iter().flatten() {
        add(Seen {
            kind: "value",
            label: format!("{} was", variable(&events[place], names)),
            value: match run.whole {
                true => last_value(events, names, place),
                false => Value::Unknown,
            },
            descriptor: descriptor(&events[place], names),
        });
    }
    for unit in &candidate.units {
        let Some(mark) = marks.get(unit.begin.index) else {
            continue;
        };
        if let Some(method) = &mark.method
            && let Some((event, name)) = returned(&run.returned, names, &mark.thread, method, mark.position)
        {
            add(Seen {
                kind: "return",
                label: format!("{} in {name} returned", qualified_method(method)),
                value: value(event),
                descriptor: descriptor(event, names),
            });
        }
    }
    all
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
    event
        .op
        .location()
        .and_then(|location| names.field_of(location))
        .map(|field| names.field(field).descriptor.clone())
        .unwrap_or_default()
}

/// What the location of an event holds at the end of the run. Of the state of a modelled object only reads tell it.
fn last_value(events: &[Event], names: &Names, index: usize) -> Value {
    let Some(location) = events[index].op.location() else {
        return Value::Unknown;
    };
    if matches!(names.locations[location.index()], Location::Entry(..)) {
        return Value::Unknown;
    }
    let modelled = names.is_synchronizing(location);
    let last = events.iter().rev().find(|event| event.op.location() == Some(location));
    match last {
        Some(event) if !modelled || matches!(event.op, Op::Read { .. }) => value(event),
        _ => Value::Unknown,
    }
}

/// Output that no serial run writes, if output is the same whenever the same schedule is forced.
fn outputs(runs: &[Arc<Forced>], serial: &[Serial]) -> Option<Harm> {
    let steady = serial
        .iter()
        .all(|order| order.iter().all(|run| run.output == order[0].output))
        && runs.iter().all(|run| run.output == runs[0].output)
        && !runs.iter().chain(serial.iter().flatten()).any(|run| run.hung());
    let new = serial.iter().flatten().all(|run| run.output != runs[0].output);
    if !steady || !new {
        return None;
    }
    let text = String::from_utf8_lossy(&runs[0].output).into_owned();
    let usual: Vec<String> = serial
        .iter()
        .map(|order| String::from_utf8_lossy(&order[0].output).into_owned())
        .collect();
    let line = text
        .lines()
        .find(|line| !usual.iter().any(|usual| usual.lines().any(|other| other == *line)));
    let message = match line {
        Some(line) => format!("the program printed {line:?}, which no serial order prints"),
        None => "the program printed less than, or in another order than, any serial order".to_string(),
    };
    Some(Harm {
        outcome: outcome("output", message),
        steady: alike(serial, |run| run.output.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_as_people_know_them() {
        let one = |value, descriptor: &str| {
            Seen {
                kind: "value",
                label: String::new(),
                value,
                descriptor: descriptor.into(),
            }
            .shown()
        };
        assert_eq!(one(Value::Exact(0), "Ljava/lang/String;"), "null");
        assert_eq!(one(Value::Digest(7), "Ljava/lang/String;"), "an object");
        assert_eq!(one(Value::Exact(1), "Z"), "true");
        assert_eq!(one(Value::Exact(-3), "I"), "-3");
        assert_eq!(
            qualified_method("shop.store.Depot.store(Ljava/lang/String;I)I"),
            "Depot.store"
        );
        assert_eq!(qualified_method("main([Ljava/lang/String;)V"), "main");
    }
}
