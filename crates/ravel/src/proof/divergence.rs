//! Where a forced run left the recorded path, why it may have, and what the next try can learn from that.
//!
//! A forced run passes the same points as the recorded one if nothing but the order of the threads differs. Input, time,
//! random numbers and the order of hash tables may differ as well, and so does whatever the new order lets the threads read.

use std::path::Path;

use ravel_schedule::{Leave, Schedule, naming};
use ravel_trace::names::Names;
use ravel_trace::{Event, Op, ReadOptions, Reader, Source, Value};
use rustc_hash::{FxHashMap, FxHashSet};

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
    let mut covered = Covered::of(schedule);
    let mut reader = Reader::open(trace, ReadOptions::default()).ok()?;
    // The last read of each thread that saw something else than when it was recorded.
    let mut other_value: FxHashMap<String, String> = FxHashMap::default();
    for _ in 0..MOST_EVENTS {
        if covered.is_over() {
            break;
        }
        let Some(event) = reader.next_event().ok()? else { break };
        if !is_point(&event.op) {
            continue;
        }
        let recorded = reader.names();
        let Some(name) = covered.thread(&event, recorded) else {
            continue;
        };
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
    let mut covered = Covered::of(schedule);
    let mut reader = Reader::open(trace, ReadOptions::default()).ok()?;
    let mut shifts = Shifts::default();
    let mut found = Found::default();
    for _ in 0..MOST_EVENTS {
        if covered.is_over() {
            break;
        }
        let Some(event) = reader.next_event().ok()? else { break };
        if !is_point(&event.op) {
            continue;
        }
        let Some(naming::ThreadName { path, .. }) = covered.thread(&event, reader.names()) else {
            continue;
        };
        let (known, last) = found.entry(path.clone()).or_default();
        let Some(thread) = index.thread(path) else { continue };
        let key = (thread, site(&event, reader.names()));
        let Some(same) = index.by_site.get(&key) else { continue };
        // The nearest one by how far the thread is off already, after what was found before: each is found once.
        let off = known.last().map_or(0, |last| i64::from(last.1) - i64::from(last.0));
        let expected = i64::from(event.position) + off;
        let later = &same[same.partition_point(|&place| last.is_some_and(|last| place <= last))..];
        let distance = |place: &usize| expected.abs_diff(i64::from(events[*place].position));
        let Some(place) = later.iter().copied().min_by_key(distance) else {
            continue;
        };
        let nearest = events[place].position;
        if expected.abs_diff(i64::from(nearest)) > u64::from(REACH) {
            continue;
        }
        *last = Some(place);
        known.push((event.position, nearest));
        if nearest != event.position {
            shifts.moved.insert((path.clone(), event.position), nearest);
        }
    }
    if shifts.moved.is_empty() {
        return None;
    }
    let learnt = moved(schedule, &found);
    (learnt != *schedule).then_some((learnt, shifts))
}

/// By thread, the recorded positions that were found and where, and the last of the run's events that was.
type Found = FxHashMap<String, (Vec<(u32, u32)>, Option<usize>)>;

/// The schedule by positions that were found.
fn moved(schedule: &Schedule, found: &Found) -> Schedule {
    let mut learnt = schedule.clone();
    // What lies between two events that were found may be more or less than it was, but a thread never goes back.
    let mut reached = vec![0; learnt.threads.len()];
    for segment in &mut learnt.segments {
        let Some((known, _)) = found.get(&schedule.threads[segment.thread].path) else {
            continue;
        };
        let place = known.partition_point(|(was, _)| *was <= segment.until);
        if let Some((was, now)) = place.checked_sub(1).map(|place| known[place]) {
            let between = known.get(place).map_or(u32::MAX, |next| next.1.saturating_sub(now));
            segment.until = now + (segment.until - was).min(between);
            if let Some(Leave::Frame(_, entered)) = &mut segment.leave {
                *entered = entered.saturating_add_signed(now.wrapping_sub(was).cast_signed());
            }
        }
        segment.until = segment.until.max(reached[segment.thread]);
        reached[segment.thread] = segment.until;
    }
    learnt
}

/// The part of a recorded run that a schedule covers.
struct Covered {
    /// How far each thread of the schedule runs, by its path.
    ends: FxHashMap<String, u32>,
    threads: Vec<naming::ThreadName>,
    /// By thread: how far it runs, if it has a turn at all.
    by_thread: Vec<Option<u32>>,
    /// Threads that have not come to their end yet.
    open: FxHashSet<u32>,
    unmet: usize,
}

impl Covered {
    fn of(schedule: &Schedule) -> Covered {
        let mut ends: FxHashMap<String, u32> = FxHashMap::default();
        for segment in &schedule.segments {
            let end = ends.entry(schedule.thread(segment).path.clone()).or_default();
            *end = segment.until.max(*end);
        }
        Covered {
            unmet: ends.len(),
            ends,
            threads: Vec::new(),
            by_thread: Vec::new(),
            open: FxHashSet::default(),
        }
    }

    /// The thread of an event, if the event is covered.
    fn thread(&mut self, event: &Event, names: &Names) -> Option<&naming::ThreadName> {
        let index = event.thread.index();
        while self.by_thread.len() <= index {
            let next = self.by_thread.len();
            if self.threads.len() <= next {
                self.threads = naming::thread_names(names, index + 1);
            }
            let end = self.ends.get(&self.threads[next].path).copied();
            if end.is_some() {
                self.open.insert(next as u32);
                self.unmet = self.unmet.saturating_sub(1);
            }
            self.by_thread.push(end);
        }
        if event.position > self.by_thread[index]? {
            self.open.remove(&event.thread.0);
            return None;
        }
        Some(&self.threads[index])
    }

    /// Whether no later event can be covered.
    fn is_over(&self) -> bool {
        self.unmet == 0 && self.open.is_empty()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_move_with_what_was_found_and_never_back() {
        let schedule = Schedule::parse(
            "ravel schedule 1\nthread main \"main\"\nthread main/0 \"t\"\nrun main to 10\nrun main/0 to 5\n\
             run main to 30\nrun main to 40\nrun main to 55\n",
        )
        .expect("a schedule");
        // Ten points fewer before position 20; from there on nothing like what was recorded until 50, which came early.
        let found: Found = [("main".to_string(), (vec![(10, 10), (20, 11), (28, 19), (50, 21)], None))]
            .into_iter()
            .collect();
        let learnt = moved(&schedule, &found);
        let turns: Vec<u32> = learnt.segments.iter().map(|segment| segment.until).collect();
        assert_eq!(turns, [10, 5, 21, 21, 26]);
    }
}
