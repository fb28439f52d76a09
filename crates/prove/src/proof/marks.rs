//! What the recorded trace says of a finding's events and units, in words that mean the same in another run: object ids and
//! the numbers of threads, sites and fields do not.

use std::collections::BTreeSet;

use ravel_analysis::describe::places;
use ravel_analysis::finding::{Candidate, EventRef, Finding, UnitKind, UnitSpan};
use ravel_analysis::stacks::StackFrame;
use ravel_analysis::units::splits;
use ravel_schedule::{Goal, Leave, naming};
use ravel_trace::names::{Field, Names, SiteKind};
use ravel_trace::origin::is_platform;
use ravel_trace::{Event, FieldId, LockId, MethodId, Op, SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::divergence::Shifts;

/// What an element of an array is called.
const ELEMENT: &str = "an array element";

/// An event of the recorded trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The path of its thread.
    pub thread: String,
    /// The thread's position.
    pub position: u32,
    /// What it does.
    pub op: &'static str,
    /// Where: class, method and bytecode index.
    pub site: String,
    /// The field or element accessed.
    pub variable: String,
    /// The same place for people: class, method, file and line.
    pub place: (String, String, String, u32),
    /// The method of the JDK that the place calls and that it is in, and the bytecode index of that call.
    pub inside: Option<(String, u32)>,
    /// How deep in the stack it happens, and where the method there was entered.
    depth: u32,
    entered: u32,
    /// Where that method was left; none if it was not.
    left: Option<u32>,
    /// The stretch of the method around it in which its thread neither waits for another one nor starts one: its first position,
    /// and the position of what ends it, if that is not the end of the method.
    since: u32,
    split: Option<u32>,
    /// How many locks its thread holds then, and their names.
    pub locks: u32,
    pub held: Vec<String>,
    /// The calls that led there, innermost first.
    pub stack: Vec<String>,
    /// The method entered, if it is the entry of one.
    pub method: Option<String>,
}

impl Mark {
    /// The method that it happens in, to be left.
    fn frame(&self) -> Leave {
        Leave::Frame {
            depth: self.depth,
            entered: self.entered,
        }
    }
}

/// The marks of a trace, by the numbers of the events.
pub struct Marks {
    all: FxHashMap<u64, Mark>,
    /// How many events the trace has.
    pub events: u64,
    /// Locks that were held when the trace ended.
    pub held: Vec<HeldAtEnd>,
}

/// A lock that a thread held when the trace ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeldAtEnd {
    /// The name of the thread.
    pub thread: String,
    /// The lock, and what it is called.
    pub lock: LockId,
    pub name: String,
    /// Where it was taken: class, method, file and line.
    pub place: (String, String, String, u32),
}

/// Marks in the making, while a trace is read.
pub struct MarksBuilder {
    /// The numbers of the events to mark, in order.
    wanted: std::iter::Peekable<std::vec::IntoIter<u64>>,
    all: FxHashMap<u64, (ThreadId, Mark)>,
    threads: Vec<AtEvent>,
    events: u64,
}

/// Where a thread is.
#[derive(Clone, Default)]
struct AtEvent {
    /// The methods on the stack, where they were entered, and the marks inside each.
    stack: Vec<(StackFrame, u32, Vec<u64>)>,
    held: Vec<(LockId, Event, SiteId)>,
    /// The program's call inside which it runs code of the JDK, if it does.
    call: SiteId,
    /// The first position since it last waited for another thread or started one, and the marks since then.
    since: u32,
    unsplit: Vec<u64>,
}

impl MarksBuilder {
    /// For these findings.
    pub fn of(findings: &[Finding]) -> MarksBuilder {
        let candidates = || findings.iter().flat_map(|finding| &finding.candidates);
        let units = candidates().flat_map(|candidate| candidate.units.iter().map(|unit| unit.begin.index));
        let events = candidates().flat_map(|candidate| candidate.events.iter().map(|event| event.index));
        let wanted: BTreeSet<u64> = events.chain(units).collect();
        MarksBuilder {
            wanted: wanted.into_iter().collect::<Vec<u64>>().into_iter().peekable(),
            all: FxHashMap::default(),
            threads: Vec::new(),
            events: 0,
        }
    }

    /// Takes the trace's next event.
    pub fn event(&mut self, event: &Event, names: &Names) {
        let index = self.events;
        self.events += 1;
        if self.threads.len() <= event.thread.index() {
            self.threads.resize(event.thread.index() + 1, AtEvent::default());
        }
        let AtEvent {
            stack,
            held,
            call,
            since,
            unsplit,
        } = &mut self.threads[event.thread.index()];
        if splits(names, event) {
            *since = event.position.saturating_add(1);
            for inside in unsplit.drain(..) {
                if let Some((_, mark)) = self.all.get_mut(&inside) {
                    mark.split = Some(event.position).filter(|_| mark.left.is_none());
                }
            }
        }
        match event.op {
            Op::Enter { method } => {
                let call = event.site;
                stack.push((StackFrame { method, call }, event.position, Vec::new()));
            }
            Op::Exit { .. } => {
                for inside in stack.pop().map(|(.., inside)| inside).unwrap_or_default() {
                    if let Some((_, mark)) = self.all.get_mut(&inside) {
                        mark.left = Some(event.position);
                    }
                }
            }
            Op::Call => *call = event.site,
            Op::Acquire { lock, .. } | Op::Resume { lock, .. } => held.push((lock, *event, *call)),
            Op::Release { lock, .. } | Op::Wait { lock } => {
                if let Some(last) = held.iter().rposition(|(held, ..)| *held == lock) {
                    held.remove(last);
                }
            }
            Op::End { .. } => held.clear(),
            _ => {}
        }
        if self.wanted.next_if_eq(&index).is_none() {
            return;
        }
        let mark = Mark {
            thread: String::new(),
            position: event.position,
            op: op_name(&event.op),
            site: names.site_text(event.site),
            variable: variable(event, names),
            place: place(event, *call, names),
            inside: inside(event, *call, names),
            depth: stack.len() as u32,
            entered: stack.last().map_or(0, |(_, position, _)| *position),
            left: None,
            since: *since,
            split: None,
            locks: held.len() as u32,
            held: names_of(held, names),
            stack: calls(event, *call, stack.iter().map(|(frame, ..)| *frame).rev(), names),
            method: match event.op {
                Op::Enter { method } => Some(names.method_text(method)),
                _ => None,
            },
        };
        self.all.insert(index, (event.thread, mark));
        unsplit.push(index);
        if let Some((.., inside)) = stack.last_mut() {
            inside.push(index);
        }
    }

    /// The marks of the whole trace, whose threads have these names.
    pub fn finish(self, names: &Names, threads: &[naming::ThreadName]) -> Marks {
        let named = self.all.into_iter().map(|(index, (thread, mark))| {
            let name = threads.get(thread.index());
            let thread = name.map(|name| name.path.clone()).unwrap_or_default();
            (index, Mark { thread, ..mark })
        });
        let all = named.collect();
        let mut held: Vec<(LockId, Event, SiteId)> = self.threads.into_iter().flat_map(|at| at.held).collect();
        held.sort_by_key(|(lock, event, _)| (event.thread, event.position, *lock));
        let held = held.into_iter().map(|(lock, event, call)| HeldAtEnd {
            thread: names
                .threads
                .get(event.thread.index())
                .map_or_else(String::new, |thread| thread.name.clone()),
            lock,
            name: names.lock(lock).name.clone(),
            place: place(&event, call, names),
        });
        Marks {
            all,
            events: self.events,
            held: held.collect(),
        }
    }
}

impl Marks {
    /// The fields that the marks are of, as a list of watched fields names them.
    pub fn fields(&self) -> BTreeSet<String> {
        let variables = self.all.values().map(|mark| mark.variable.as_str());
        variables
            .map(|variable| if variable == ELEMENT { "[]" } else { variable })
            .map(str::to_string)
            .collect()
    }

    /// The methods whose entries are marked.
    pub fn methods(&self) -> BTreeSet<String> {
        self.all.values().filter_map(|mark| mark.method.clone()).collect()
    }

    /// What is known of an event.
    pub fn get(&self, index: u64) -> Option<&Mark> {
        self.all.get(&index)
    }

    /// Gives each access that no analysis has said to be part of a unit one of its own: the method that makes it, as far as its
    /// thread neither waits for another one there nor starts one; outside any method, the access alone.
    pub fn add_units(&self, candidate: &mut Candidate) {
        for (place, event) in candidate.events.iter().enumerate() {
            let Some(mark) = self.get(event.index) else {
                continue;
            };
            if candidate.owners.get(place).is_none_or(|owner| owner.is_some()) {
                continue;
            }
            let at = |position: u32| EventRef {
                position,
                location: None,
                lock: None,
                ..*event
            };
            let (begin, end) = match mark.depth {
                0 => (mark.position, Some(mark.position)),
                _ => (
                    mark.entered.max(mark.since),
                    mark.split.map_or(mark.left, |split| split.checked_sub(1)),
                ),
            };
            let same = |unit: &UnitSpan| unit.thread == event.thread && unit.begin.position == begin;
            let known = candidate.units.iter().position(same);
            candidate.owners[place] = Some(known.unwrap_or(candidate.units.len()));
            if known.is_none() {
                candidate.units.push(UnitSpan {
                    thread: event.thread,
                    begin: at(begin),
                    end: end.map(at),
                    kind: UnitKind::Method,
                    pass: false,
                });
            }
        }
    }

    /// Says of a goal's units how their threads run out of them.
    pub fn add_ends(&self, candidate: &Candidate, goal: &mut Goal) {
        for (unit, span) in candidate.units.iter().zip(&mut goal.units) {
            let Some(mark) = self.get(unit.begin.index) else {
                continue;
            };
            span.leave = match unit.kind {
                UnitKind::Section if mark.op == "acquire" => Some(Leave::Lock(mark.locks)),
                UnitKind::Section => None,
                // A unit that was split by a wait begins or ends in the middle of its method.
                _ if mark.depth == 0 || mark.method.is_none() && mark.split.is_some() => None,
                _ if mark.entered == unit.begin.position => Some(mark.frame()),
                // The last pass through the body of a thread.
                _ if mark.method.is_some() && unit.end.is_some_and(|end| mark.left == Some(end.position)) => {
                    Some(mark.frame())
                }
                _ => None,
            };
        }
    }

    /// How the thread of a candidate's event runs to the end of what the event belongs to: its unit or, if it has none,
    /// the method that it is in.
    pub fn end_of(&self, candidate: &Candidate, goal: &Goal, event: usize) -> Option<Leave> {
        let owner = candidate.owners.get(event).copied().flatten();
        let unit = owner
            .and_then(|owner| goal.units.get(owner))
            .and_then(|span| span.leave);
        let mark = candidate.events.get(event).and_then(|event| self.get(event.index));
        unit.or_else(|| mark.filter(|mark| mark.depth > 0).map(Mark::frame))
    }

    /// A candidate's events in another run, in which they may lie elsewhere.
    pub fn find(
        &self,
        candidate: &Candidate,
        shifts: &Shifts,
        events: &[Event],
        names: &Names,
    ) -> Result<Vec<usize>, String> {
        let paths = naming::thread_names(names, names.threads.len());
        let wanted = candidate.events.iter().map(|event| {
            let mark = self.get(event.index);
            mark.ok_or_else(|| "an event of the pattern is not in the trace".to_string())
        });
        wanted
            .map(|mark| {
                let mark = mark?;
                let position = shifts.position(&mark.thread, mark.position);
                find_one(mark, position, events, names, &paths)
            })
            .collect()
    }

    /// The cell that each of a candidate's events is of, in another run, where its thread may have taken another path.
    pub fn cells(&self, candidate: &Candidate, events: &[Event], names: &Names) -> Vec<Option<usize>> {
        let paths = naming::thread_names(names, names.threads.len());
        let cell = |index: u64| {
            let mark = self.get(index)?;
            let thread = paths.iter().position(|name| name.path == mark.thread)?;
            // Found once: the name of a field is put together from two, which takes long for each of a run's events.
            let fields = fields_named(&mark.variable, names);
            let is_named = |location| match names.field_of(location) {
                Some(field) => fields.contains(&field),
                None => mark.variable == ELEMENT,
            };
            let like = |event: &Event| event.thread.index() == thread && event.op.location().is_some_and(is_named);
            let exact = |event: &Event| event.position == mark.position && like(event);
            let near = || {
                let all = events.iter().enumerate().filter(|(_, event)| like(event));
                all.min_by_key(|(_, event)| event.position.abs_diff(mark.position))
                    .map(|(place, _)| place)
            };
            events.iter().position(exact).or_else(near)
        };
        candidate.events.iter().map(|event| cell(event.index)).collect()
    }
}

/// The fields that are called so.
fn fields_named(variable: &str, names: &Names) -> FxHashSet<FieldId> {
    let is_named = |field: &Field| {
        let rest = variable.strip_prefix(names.class(field.class).name.as_str());
        rest.and_then(|rest| rest.strip_prefix('.')) == Some(&field.name)
    };
    let fields = names.fields.iter().enumerate();
    fields
        .filter(|(_, field)| is_named(field))
        .map(|(number, _)| FieldId::from(number))
        .collect()
}

fn is_of(mark: &Mark, event: &Event, paths: &[naming::ThreadName]) -> bool {
    paths
        .get(event.thread.index())
        .is_some_and(|name| name.path == mark.thread)
}

fn find_one(
    mark: &Mark,
    position: u32,
    events: &[Event],
    names: &Names,
    paths: &[naming::ThreadName],
) -> Result<usize, String> {
    let at = |event: &Event| {
        event.position == position
            && is_of(mark, event, paths)
            && op_name(&event.op) == mark.op
            && variable(event, names) == mark.variable
    };
    // A call on a modelled object may change another part of it this time: an entry that is there already, not the size.
    let class = |variable: &str| variable.rsplit_once('.').map(|(class, _)| class.to_string());
    let alike = |event: &Event| {
        event.position == position
            && is_of(mark, event, paths)
            && op_name(&event.op) == mark.op
            && event
                .op
                .location()
                .is_some_and(|location| names.is_synchronizing(location))
            && class(&variable(event, names)) == class(&mark.variable)
    };
    let found = events.iter().position(at).or_else(|| events.iter().position(alike));
    let found = found.ok_or_else(|| {
        format!(
            "thread {} did not {} {} at point {}",
            mark.thread, mark.op, mark.variable, position
        )
    })?;
    if names.site_text(events[found].site) != mark.site {
        return Err(format!("thread {} was elsewhere at point {position}", mark.thread));
    }
    Ok(found)
}

/// `read`, `write`, …
pub fn op_name(op: &Op) -> &'static str {
    match op {
        Op::Read { .. } => "read",
        Op::Write { .. } => "write",
        Op::Update { .. } => "update",
        Op::Acquire { .. } => "acquire",
        Op::Release { .. } => "release",
        Op::Wait { .. } => "wait",
        Op::Resume { .. } => "go on after a wait",
        Op::Notify { .. } => "notify",
        Op::Fork { .. } => "start a thread",
        Op::Join { .. } => "join a thread",
        Op::Enter { .. } => "enter",
        _ => "do",
    }
}

/// Whether an event is in code of the JDK that a call of the program led to.
fn is_inside(event: &Event, call: SiteId, names: &Names) -> bool {
    call != SiteId(0) && is_platform(names.class_of_site(event.site))
}

/// Class, method, file and line in the program's own code: of the event or, where that is in code of the JDK, of the call that led there.
pub fn place(event: &Event, call: SiteId, names: &Names) -> (String, String, String, u32) {
    let site = if is_inside(event, call, names) {
        call
    } else {
        event.site
    };
    let method = names.site(site).method;
    let frame = names.frame(method, site);
    (
        frame.class.to_owned(),
        names.selector(method),
        frame.file.to_owned(),
        frame.line,
    )
}

/// The calls that led to an event, innermost first: `frames` are those of the program's methods.
fn calls(event: &Event, call: SiteId, frames: impl Iterator<Item = StackFrame>, names: &Names) -> Vec<String> {
    let method = names.site(event.site).method;
    let innermost = is_inside(event, call, names).then_some(StackFrame { method, call });
    let places = places(names, event.site, innermost.into_iter().chain(frames));
    let text = |(method, site): (MethodId, SiteId)| names.frame(method, site).to_string();
    places.into_iter().map(text).collect()
}

/// The names of locks, each once.
fn names_of(held: &[(LockId, Event, SiteId)], names: &Names) -> Vec<String> {
    let mut locks: Vec<LockId> = Vec::new();
    for (lock, ..) in held {
        if !locks.contains(lock) {
            locks.push(*lock);
        }
    }
    locks.into_iter().map(|lock| names.lock(lock).name.clone()).collect()
}

/// The key that the program gave a map in the call that an event of a forced run lies in.
pub fn key_given(event: &Event, call: SiteId, names: &Names) -> Option<String> {
    is_inside(event, call, names).then(|| names.key_of_call(event.thread, event.position, call))?
}

/// The method of the JDK in which an event is, and the bytecode index of the program's call that led there.
pub fn inside(event: &Event, call: SiteId, names: &Names) -> Option<(String, u32)> {
    if is_inside(event, call, names) {
        return Some((names.method_text(names.method_of(event.site)?), names.site(call).bci));
    }
    let site = names.site(event.site);
    match &site.what {
        SiteKind::Call(callee) if event.op.location().is_some() => Some((callee.clone(), site.bci)),
        _ => None,
    }
}

/// The field or element type accessed.
pub fn variable(event: &Event, names: &Names) -> String {
    let Some(location) = event.op.location() else {
        return match &names.site(event.site).what {
            SiteKind::Call(callee) => callee.clone(),
            _ => String::new(),
        };
    };
    match names.field_of(location) {
        Some(field) => names.field_text(field),
        None => ELEMENT.into(),
    }
}
