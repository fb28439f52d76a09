//! Orders that were not recorded, to see what the threads do in them.
//!
//! A trace tells only what its threads did. Of two that look and then act, the second may have found the work done and gone
//! another way: what it would have done is not in the trace, and no analysis of the trace can see the bug. But a run can.
//! Where a thread read what another one had written, it is made to read before that, while the other stands just before
//! the write, or before the critical section that has it: everything it has looked at is then about to be outdated. What
//! both do next is recorded, and analysed like any other run.
//!
//! Misses: a bug for which two such reads must come early at once, unless the first alone shows the second; threads of a
//! program that does more than [`MOST_EVENTS`]; waiting (a thread that found something else would have waited for ever).

use std::path::Path;

use anyhow::{Context, Result};
use ravel_schedule::{Effort, EventAt, Goal, Image, Limits, Schedule, Shape, generate};
use ravel_trace::{Event, LocationId, Names, Op, ReadOptions, Reader, SiteId, Source, ThreadId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Events of a trace up to which its orders are looked for.
pub const MOST_EVENTS: usize = 200_000;
/// Orders that are asked for from one trace before the rest is left.
const MOST_ASKED: usize = 200;
/// Occurrences of the same two places in the code that are asked for.
const MOST_ALIKE: u32 = 3;
/// Writes to one location that later reads are compared with.
const MOST_WRITES: usize = 8;
/// Points that the thread which read early goes on for, while the other one stands.
const FAR: u32 = 2_000;

/// Two places in the code, by name: a write, and the read that is to come before it.
type Places = (String, String);

/// Orders to try, and what was tried already.
#[derive(Default)]
pub struct Orders {
    tried: FxHashSet<Places>,
}

/// A write, and where its thread stands before it.
#[derive(Clone, Copy)]
struct Write {
    thread: ThreadId,
    site: SiteId,
    /// The thread's last event before the write, or before the outermost critical section that the write is in.
    stand: EventAt,
    /// The first position that the thread must not pass.
    bound: u32,
    /// What the location had before.
    before: Value,
    /// Whether the thread had read the location before it took its locks: it acts on what it saw.
    informed: bool,
}

/// Where a thread is.
#[derive(Default)]
struct At {
    last: Option<EventAt>,
    /// Locks held.
    held: u32,
    /// The event before the outermost lock was taken, and the position of taking it.
    outside: Option<(EventAt, u32)>,
    /// Locations read while no lock was held, or under locks that were given up since.
    read: FxHashSet<LocationId>,
    /// Those read since the outermost lock was taken.
    inside: FxHashSet<LocationId>,
}

/// A read that could come before a write.
struct Chance {
    write: Write,
    read: EventAt,
    places: (SiteId, SiteId),
}

impl Orders {
    /// Schedules for so many new orders at most of the program that a trace is of.
    pub fn of(&mut self, trace: &Path, most: usize) -> Result<Vec<Schedule>> {
        let open =
            || Reader::open(trace, ReadOptions::default()).with_context(|| format!("cannot read {}", trace.display()));
        let mut reader = open()?;
        let mut chances = chances(&mut reader)?;
        // Whoever acts on what it saw comes first.
        chances.sort_by_key(|chance| !chance.write.informed);
        let (image, _) = Image::beginning(&mut open()?, Limits { events: MOST_EVENTS })?;
        let mut asked = FxHashMap::<Places, u32>::default();
        let mut schedules = Vec::new();
        for chance in chances.iter().take(MOST_ASKED) {
            if schedules.len() == most {
                break;
            }
            let name = |site| place(reader.names(), site);
            let places = (name(chance.places.0), name(chance.places.1));
            let alike = asked.entry(places.clone()).or_default();
            if *alike == MOST_ALIKE || self.tried.contains(&places) {
                continue;
            }
            *alike += 1;
            if let Some(schedule) = schedule(&image, chance) {
                self.tried.insert(places);
                schedules.push(schedule);
            }
        }
        Ok(schedules)
    }
}

/// The schedule that lets the read come while the writer stands before its write, and the reader go on alone.
fn schedule(image: &Image, chance: &Chance) -> Option<Schedule> {
    let goal = Goal::new(Shape::Ordered, [chance.write.stand, chance.read]);
    let mut schedule = generate(image, &goal, &Effort::default()).ok()?.schedule;
    let name = |thread: ThreadId| &image.thread_names()[thread.index()];
    let writer = schedule
        .threads
        .iter()
        .position(|thread| thread == name(chance.write.thread));
    let far = schedule.segments.iter().rfind(|segment| Some(segment.thread) == writer);
    // Other sections that the read needs may have taken the writer along.
    if far.is_some_and(|segment| segment.until >= chance.write.bound) {
        return None;
    }
    schedule.run_on(name(chance.read.thread), FAR);
    Some(schedule)
}

fn chances(reader: &mut Reader) -> Result<Vec<Chance>> {
    let mut threads = FxHashMap::<ThreadId, At>::default();
    let mut writes = FxHashMap::<LocationId, Vec<Write>>::default();
    let mut values = FxHashMap::<LocationId, Value>::default();
    let mut seen = FxHashMap::<(SiteId, SiteId), u32>::default();
    let mut chances = Vec::new();
    let mut events = 0;
    while let Some(event) = reader.next_event()? {
        events += 1;
        if events > MOST_EVENTS {
            break;
        }
        let at = threads.entry(event.thread).or_default();
        let here = named(&event);
        match event.op {
            Op::Enter { .. } | Op::Exit { .. } => continue,
            Op::Acquire { .. } | Op::Resume { .. } => {
                if at.held == 0 {
                    at.outside = at.last.map(|last| (last, event.position));
                }
                at.held += 1;
            }
            Op::Release { .. } | Op::Wait { .. } => {
                at.held = at.held.saturating_sub(1);
                if at.held == 0 {
                    at.read.extend(at.inside.drain());
                }
            }
            Op::Read { location, value } => {
                for write in writes.get(&location).into_iter().flatten() {
                    let same = value != Value::Unknown && value == write.before;
                    let places = (write.site, event.site);
                    let alike = seen.get(&places).copied().unwrap_or(0);
                    if write.thread == event.thread || same || alike == MOST_ALIKE {
                        continue;
                    }
                    seen.insert(places, alike + 1);
                    chances.push(Chance {
                        write: *write,
                        read: here,
                        places,
                    });
                }
                values.insert(location, value);
                let known = if at.held == 0 { &mut at.read } else { &mut at.inside };
                known.insert(location);
            }
            Op::Write { location, value } | Op::Update { location, value } => {
                let stand = match at.held {
                    0 => at.last.map(|last| (last, event.position)),
                    _ => at.outside,
                };
                let before = values.insert(location, value).unwrap_or_default();
                if let Some((stand, bound)) = stand.filter(|(stand, bound)| stand.position < *bound) {
                    let known = writes.entry(location).or_default();
                    known.retain(|write| (write.thread, write.site) != (event.thread, event.site));
                    if known.len() < MOST_WRITES {
                        known.push(Write {
                            thread: event.thread,
                            site: event.site,
                            stand,
                            bound,
                            before,
                            informed: at.read.contains(&location),
                        });
                    }
                }
            }
            _ => {}
        }
        if let Some(at) = threads.get_mut(&event.thread) {
            at.last = Some(here);
        }
    }
    Ok(chances)
}

fn named(event: &Event) -> EventAt {
    let lock = match event.op {
        Op::Acquire { lock, .. } | Op::Release { lock, .. } | Op::Wait { lock } | Op::Resume { lock, .. } => Some(lock),
        _ => None,
    };
    EventAt {
        thread: event.thread,
        position: event.position,
        location: event.op.location(),
        lock,
    }
}

/// A place in the code by name: numbers differ from trace to trace.
fn place(names: &Names, site: SiteId) -> String {
    let site = names.site(site);
    let method = names.method(site.method);
    format!(
        "{}.{}{}:{}",
        names.class(method.class).name,
        method.name,
        method.descriptor,
        site.bci
    )
}
