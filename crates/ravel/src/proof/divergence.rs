//! Where a forced run left the recorded path, why it may have, and what the next try can learn from that.
//!
//! A forced run passes the same points as the recorded one if nothing but the order of the threads differs. Input, time,
//! random numbers and the order of hash tables may differ as well, and so does whatever the new order lets the threads read.

use std::path::Path;

use ravel_schedule::{Leave, Schedule, naming};
use ravel_trace::names::Names;
use ravel_trace::{Event, Op, ReadOptions, Reader, Source, Value};
use rustc_hash::FxHashMap;

use super::marks::{op_name, place, site, variable};
use crate::forcing::Forced;

/// How far apart the same event may lie in two runs.
const REACH: u32 = 10_000;
/// Recorded events that are compared.
const MOST_EVENTS: u64 = 5_000_000;

/// Positions of the recorded run, and where the same events lie in another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shifts {
    moved: FxHashMap<(String, u32), u32>,
}

impl Shifts {
    /// Where the event of a thread at a recorded position is.
    pub fn position(&self, thread: &str, position: u32) -> u32 {
        let key = (thread.to_string(), position);
        self.moved.get(&key).copied().unwrap_or(position)
    }
}

/// A run's events by thread and position.
struct Index<'a> {
    events: &'a [Event],
    threads: Vec<naming::ThreadName>,
    by_position: FxHashMap<(u32, u32), Vec<usize>>,
    by_site: FxHashMap<(u32, String), Vec<usize>>,
}

impl<'a> Index<'a> {
    fn of(events: &'a [Event], names: &Names) -> Index<'a> {
        let mut index = Index {
            events,
            threads: naming::thread_names(names, names.threads.len()),
            by_position: FxHashMap::default(),
            by_site: FxHashMap::default(),
        };
        for (place, event) in events.iter().enumerate().filter(|(_, event)| is_point(&event.op)) {
            let key = (event.thread.0, event.position);
            index.by_position.entry(key).or_default().push(place);
            let key = (event.thread.0, site(event, names));
            index.by_site.entry(key).or_default().push(place);
        }
        index
    }

    fn thread(&self, path: &str) -> Option<u32> {
        let found = self.threads.iter().position(|name| name.path == path);
        found.map(|number| number as u32)
    }

    /// The next thing that a thread did after a position.
    fn after(&self, thread: u32, position: u32) -> Option<&'a Event> {
        self.events
            .iter()
            .find(|event| event.position > position && event.thread.0 == thread && is_point(&event.op))
    }
}

/// The first recorded event that a run does not have where it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// Where, what was expected, what was seen, and why that may be.
    pub words: String,
    /// Whether its thread had read something else than when it was recorded: the new order did that.
    pub by_order: bool,
}

/// Where a run left the recorded path; none if all events are where they were as far as the schedule goes.
pub fn first(trace: &Path, schedule: &Schedule, run: &Forced) -> Option<Divergence> {
    let (events, names) = run.trace.as_ref().filter(|_| !run.partial)?;
    let index = Index::of(events, names);
    let ends = ends(schedule);
    let mut reader = Reader::open(trace, ReadOptions::default()).ok()?;
    let mut paths: Vec<naming::ThreadName> = Vec::new();
    // The last read of each thread that saw something else than when it was recorded.
    let mut other_value: FxHashMap<String, String> = FxHashMap::default();
    for _ in 0..MOST_EVENTS {
        let Some(event) = reader.next_event().ok()? else { break };
        if !is_point(&event.op) {
            continue;
        }
        if paths.len() <= event.thread.index() {
            paths = naming::thread_names(reader.names(), event.thread.index() + 1);
        }
        let name = &paths[event.thread.index()];
        if ends.get(name.path.as_str()).is_none_or(|end| event.position > *end) {
            continue;
        }
        let recorded = reader.names();
        let Some(thread) = index.thread(&name.path) else {
            return Some(Divergence {
                words: format!("thread {} was not started", name.name),
                by_order: false,
            });
        };
        let there = index.by_position.get(&(thread, event.position));
        let there = there.map_or(&[][..], Vec::as_slice);
        let same = there
            .iter()
            .map(|&i| &events[i])
            .find(|other| op_name(&other.op) == op_name(&event.op) && site(other, names) == site(&event, recorded));
        match same {
            Some(other) => {
                if let (Op::Read { value: was, .. }, Op::Read { value: now, .. }) = (event.op, other.op)
                    && was != now
                {
                    let words = format!(
                        "after it had read {} as {} (recorded: {})",
                        variable(other, names),
                        shown(now),
                        shown(was)
                    );
                    other_value.insert(name.path.clone(), words);
                }
            }
            None => {
                let seen = match there.first().map(|&i| &events[i]) {
                    Some(other) => words(other, names),
                    None => index
                        .after(thread, event.position)
                        .map_or("nothing more".into(), |other| {
                            format!("{} at point {}", words(other, names), other.position)
                        }),
                };
                let other = other_value.get(&name.path).map(String::as_str);
                let why = other.unwrap_or("input, time, random numbers or the order of a hash table may differ");
                return Some(Divergence {
                    words: format!(
                        "thread {} at point {}: expected {}, saw {seen}; {why}",
                        name.name,
                        event.position,
                        words(&event, recorded)
                    ),
                    by_order: other.is_some(),
                });
            }
        }
    }
    None
}

/// The schedule with the positions that its turns have in a run that passed other points, and where everything is there;
/// none if all lies where it was, or nothing can be told.
pub fn learn(trace: &Path, schedule: &Schedule, run: &Forced) -> Option<(Schedule, Shifts)> {
    let (events, names) = run.trace.as_ref()?;
    let index = Index::of(events, names);
    let ends = ends(schedule);
    let mut reader = Reader::open(trace, ReadOptions::default()).ok()?;
    let mut paths: Vec<naming::ThreadName> = Vec::new();
    let mut shifts = Shifts::default();
    // By thread, the last recorded position that was found, and where.
    let mut found: FxHashMap<String, Vec<(u32, u32)>> = FxHashMap::default();
    for _ in 0..MOST_EVENTS {
        let Some(event) = reader.next_event().ok()? else { break };
        if !is_point(&event.op) {
            continue;
        }
        if paths.len() <= event.thread.index() {
            paths = naming::thread_names(reader.names(), event.thread.index() + 1);
        }
        let path = &paths[event.thread.index()].path;
        if ends.get(path.as_str()).is_none_or(|end| event.position > *end) {
            continue;
        }
        let known = found.entry(path.clone()).or_default();
        let floor = known.last().map_or(0, |last| last.1);
        let Some(thread) = index.thread(path) else { continue };
        let key = (thread, site(&event, reader.names()));
        let Some(same) = index.by_site.get(&key) else { continue };
        // The nearest one by how far the thread is off already, never before what was found before.
        let off = known.last().map_or(0, |last| i64::from(last.1) - i64::from(last.0));
        let expected = i64::from(event.position) + off;
        let nearest = same
            .iter()
            .map(|&i| events[i].position)
            .filter(|&position| position >= floor)
            .min_by_key(|&position| expected.abs_diff(i64::from(position)));
        let Some(nearest) = nearest else { continue };
        if expected.abs_diff(i64::from(nearest)) > u64::from(REACH) {
            continue;
        }
        known.push((event.position, nearest));
        if nearest != event.position {
            shifts.moved.insert((path.clone(), event.position), nearest);
        }
    }
    if shifts.moved.is_empty() {
        return None;
    }
    let mut learnt = schedule.clone();
    for segment in &mut learnt.segments {
        let Some(known) = found.get(&schedule.threads[segment.thread].path) else {
            continue;
        };
        let place = known.partition_point(|(was, _)| *was <= segment.until);
        if let Some((was, now)) = place.checked_sub(1).map(|place| known[place]) {
            segment.until = now + (segment.until - was);
            if let Some(Leave::Frame(_, entered)) = &mut segment.leave {
                *entered = entered.saturating_add_signed(now.wrapping_sub(was).cast_signed());
            }
        }
    }
    (learnt != *schedule).then_some((learnt, shifts))
}

/// How far each thread of a schedule runs.
fn ends(schedule: &Schedule) -> FxHashMap<&str, u32> {
    let mut ends: FxHashMap<&str, u32> = FxHashMap::default();
    for segment in &schedule.segments {
        let end = ends.entry(schedule.thread(segment).path.as_str()).or_default();
        *end = segment.until.max(*end);
    }
    ends
}

fn is_point(op: &Op) -> bool {
    !matches!(
        op,
        Op::Enter { .. }
            | Op::Exit { .. }
            | Op::Begin
            | Op::End { .. }
            | Op::Initialized { .. }
            | Op::UnitBegin
            | Op::UnitEnd
    )
}

fn words(event: &Event, names: &Names) -> String {
    let (class, method, file, line) = place(event, names);
    let what = variable(event, names);
    let what = if what.is_empty() {
        op_name(&event.op).to_string()
    } else {
        format!("{} {what}", op_name(&event.op))
    };
    let method = method.split('(').next().unwrap_or_default();
    if file.is_empty() {
        format!("{what} in {class}.{method}")
    } else {
        format!("{what} in {class}.{method} ({file}:{line})")
    }
}

fn shown(value: Value) -> String {
    match value {
        Value::Exact(number) => number.to_string(),
        Value::Digest(_) => "something else".into(),
        Value::Unknown => "unknown".into(),
    }
}
