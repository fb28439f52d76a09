//! Orders that were not recorded, to see what the threads do in them.
//!
//! A trace tells only what its threads did. Of two that look and then act, the second may have found the work done and gone
//! another way: what it would have done is not in the trace, and no analysis of the trace can see the bug. But a run can.
//! Where a thread read what another one had written, it is made to read before that, while the other stands just before
//! the write, or before the critical section that has it: everything it has looked at is then about to be outdated. What
//! both do next is recorded, and analysed like any other run. In the same way a notification is given while the thread that
//! waited for it stands before the lock that it waits with: a signal that leaves no trace is lost then.
//!
//! Misses: a bug for which two such reads must come early at once, unless the first alone shows the second; threads of a
//! program that does more than [`MOST_EVENTS`]; a thread that comes back from waiting cannot be kept from its lock.

use ravel_protocol::Schedule;
use ravel_trace::{Event, LocationId, LockId, Op, SiteId, Source, SourceError, ThreadId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::generate::{Effort, generate};
use crate::goal::{EventAt, Goal, Shape};
use crate::image::Image;

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

/// A write or a wait, and where its thread stands before it.
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
    /// The last event at an earlier position: one call may be several events, and a thread does not stand among them.
    earlier: Option<EventAt>,
    /// Locks held.
    held: u32,
    /// The event before the outermost lock was taken, and the position of taking it.
    outside: Option<(EventAt, u32)>,
    /// Locations read while no lock was held, or under locks that were given up since.
    read: FxHashSet<LocationId>,
    /// Those read since the outermost lock was taken.
    inside: FxHashSet<LocationId>,
}

impl At {
    /// Where the thread stands before it passes a position.
    fn before(&self, position: u32) -> Option<EventAt> {
        self.last.filter(|last| last.position < position).or(self.earlier)
    }

    fn pass(&mut self, event: EventAt) {
        if self.last.is_some_and(|last| last.position < event.position) {
            self.earlier = self.last;
        }
        self.last = Some(event);
    }
}

/// A read that could come before a write, or a notification that could come before a wait.
struct Chance {
    write: Write,
    /// What the other thread does first that would keep the waiter from waiting if it came before it looked.
    change: Option<EventAt>,
    read: EventAt,
    places: (SiteId, SiteId),
}

impl Orders {
    /// Schedules for so many new orders at most. The events and the image are of the same trace.
    pub fn of(&mut self, events: &mut dyn Source, image: &Image, most: usize) -> Result<Vec<Schedule>, SourceError> {
        let mut chances = chances(events)?;
        // A thread that acts on the value that it read comes first.
        chances.sort_by_key(|chance| !chance.write.informed);
        let mut asked = FxHashMap::<Places, u32>::default();
        let mut schedules = Vec::new();
        for chance in chances.iter().take(MOST_ASKED) {
            if schedules.len() == most {
                break;
            }
            // By name: numbers differ from trace to trace.
            let name = |site| events.names().site_text(site);
            let places = (name(chance.places.0), name(chance.places.1));
            let alike = asked.entry(places.clone()).or_default();
            if *alike == MOST_ALIKE || self.tried.contains(&places) {
                continue;
            }
            *alike += 1;
            if let Some(schedule) = schedule(image, chance) {
                self.tried.insert(places);
                schedules.push(schedule);
            }
        }
        Ok(schedules)
    }
}

/// The schedule that lets the read come while the writer stands before its write, and the reader go on alone.
fn schedule(image: &Image, chance: &Chance) -> Option<Schedule> {
    let events = [Some(chance.write.stand), chance.change, Some(chance.read)];
    let goal = Goal::new(Shape::Ordered, events.into_iter().flatten());
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
    // A thread without a turn would run freely all the time.
    schedule.run_on(name(chance.write.thread), 1);
    Some(schedule)
}

fn chances(source: &mut dyn Source) -> Result<Vec<Chance>, SourceError> {
    let mut threads = FxHashMap::<ThreadId, At>::default();
    let mut writes = FxHashMap::<LocationId, Vec<Write>>::default();
    let mut waits = FxHashMap::<LockId, Vec<Write>>::default();
    let mut values = FxHashMap::<LocationId, Value>::default();
    let mut seen = FxHashMap::<(SiteId, SiteId), u32>::default();
    let mut changes = FxHashMap::<(ThreadId, LocationId), EventAt>::default();
    let mut chances = Vec::new();
    let mut events = 0;
    while let Some(event) = source.next_event()? {
        events += 1;
        if events > MOST_EVENTS {
            break;
        }
        let at = threads.entry(event.thread).or_default();
        let here = named(&event);
        match event.op {
            Op::Enter { .. } | Op::Exit { .. } | Op::Call => continue,
            Op::Acquire { .. } | Op::Resume { .. } => {
                if at.held == 0 {
                    at.outside = at.before(event.position).map(|stand| (stand, event.position));
                }
                at.held += 1;
            }
            Op::Notify { lock, .. } => {
                let waits = waits.get(&lock).into_iter().flatten();
                for chance in waits.filter_map(|wait| chance(&mut seen, wait, &event)) {
                    let looked_at = chance.write.stand.location;
                    let change = looked_at.and_then(|location| changes.get(&(event.thread, location)).copied());
                    chances.push(Chance { change, ..chance });
                }
            }
            Op::Release { .. } | Op::Wait { .. } => {
                if let (Op::Wait { lock }, Some((stand, bound))) = (event.op, at.outside) {
                    let known = waits.entry(lock).or_default();
                    known.retain(|wait| (wait.thread, wait.site) != (event.thread, event.site));
                    known.push(Write {
                        thread: event.thread,
                        site: event.site,
                        stand,
                        bound,
                        before: Value::Unknown,
                        informed: true,
                    });
                }
                at.held = at.held.saturating_sub(1);
                if at.held == 0 {
                    at.read.extend(at.inside.drain());
                }
            }
            Op::Read { location, value } => {
                let writes = writes.get(&location).into_iter().flatten();
                let other = writes.filter(|write| value == Value::Unknown || value != write.before);
                chances.extend(other.filter_map(|write| chance(&mut seen, write, &event)));
                values.insert(location, value);
                let known = if at.held == 0 { &mut at.read } else { &mut at.inside };
                known.insert(location);
            }
            Op::Write { location, value } | Op::Update { location, value } => {
                let stand = match at.held {
                    0 => at.before(event.position).map(|stand| (stand, event.position)),
                    _ => at.outside,
                };
                let before = values.insert(location, value).unwrap_or_default();
                changes.insert((event.thread, location), here);
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
            at.pass(here);
        }
    }
    Ok(chances)
}

/// An event of another thread that could come before a write or a wait, unless enough like it are known.
fn chance(seen: &mut FxHashMap<(SiteId, SiteId), u32>, write: &Write, event: &Event) -> Option<Chance> {
    let places = (write.site, event.site);
    let alike = seen.get(&places).copied().unwrap_or(0);
    if write.thread == event.thread || alike == MOST_ALIKE {
        return None;
    }
    seen.insert(places, alike + 1);
    Some(Chance {
        write: *write,
        change: None,
        read: named(event),
        places,
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Limits;
    use ravel_trace::MemoryTrace;

    /// The orders of a trace, each as its turns: thread and position.
    fn orders(text: &str) -> Vec<Vec<(String, u32)>> {
        let mut trace = MemoryTrace::parse(text).expect("well formed");
        let image = Image::build(&mut trace, Limits::default()).expect("short");
        trace.rewind();
        let schedules = Orders::default().of(&mut trace, &image, 12).expect("no file");
        let turns = |schedule: Schedule| {
            let turn = |segment: &crate::Segment| (schedule.thread(segment).name.clone(), segment.until);
            schedule.segments.iter().map(turn).collect()
        };
        schedules.into_iter().map(turns).collect()
    }

    #[test]
    fn the_reader_looks_while_the_writer_stands_between_check_and_act() {
        let found = orders(
            "t1     | t2
             r x=0  |
             w x=1  |
                    | r x=1",
        );
        let [only] = found.as_slice() else {
            panic!("{found:?}");
        };
        let turns: Vec<&str> = only.iter().map(|(thread, _)| thread.as_str()).collect();
        assert_eq!(turns, ["t1", "t2", "t2", "t1"]);
        let [check, look, on] = [only[0].1, only[1].1, only[2].1];
        assert!(on == look + FAR, "the reader goes on alone");
        assert!(check == look, "one access each");
    }

    #[test]
    fn a_call_of_several_events_is_one_step_to_stand_before() {
        let mut at = At::default();
        let event = |position| EventAt {
            thread: ThreadId(0),
            position,
            location: None,
            lock: None,
        };
        assert!(at.before(3).is_none());
        at.pass(event(3));
        assert_eq!(at.before(4), Some(event(3)));
        at.pass(event(4));
        assert_eq!(
            at.before(4),
            Some(event(3)),
            "the call has begun, and nothing of it counts"
        );
    }

    #[test]
    fn the_writer_stands_before_its_critical_section() {
        let between = "t1     | t2
             acq m  |
             r x=0  |
             rel m  |
             acq m  |
             w x=1  |
             rel m  |
                    | acq m
                    | r x=1
                    | rel m";
        assert_eq!(orders(between).len(), 1);
        // Check and act in one section: no thread can read in between, and a read before both is a serial order.
        let one = "t1     | t2
             acq m  |
             r x=0  |
             w x=1  |
             rel m  |
                    | acq m
                    | r x=1
                    | rel m";
        assert!(orders(one).is_empty());
    }

    #[test]
    fn a_notification_comes_while_the_waiter_stands_before_its_lock() {
        let found = orders(
            "t1       | t2
             r y      |
             acq m    |
             wait m   |
                      | acq m
                      | notify m
                      | rel m
             resume m |
             rel m    |",
        );
        let [only] = found.as_slice() else {
            panic!("{found:?}");
        };
        let turns: Vec<&str> = only.iter().map(|(thread, _)| thread.as_str()).collect();
        assert_eq!(turns, ["t1", "t2", "t2", "t1"]);
    }

    #[test]
    fn a_notification_comes_between_the_look_at_a_flag_and_the_wait() {
        let found = orders(
            "volatile open
             main       | t1
             fork t1    |
                        | begin
                        | r open=0
                        | acq m
                        | wait m
             w open=1   |
             acq m      |
             notify m   |
             rel m      |
                        | resume m
                        | rel m
                        | r open=1",
        );
        // Once the flag is up the other one would not wait: it looks before that.
        let is_wanted = |order: &Vec<(String, u32)>| order[0] == ("t1".to_owned(), 1);
        assert!(found.iter().any(is_wanted), "{found:?}");
    }

    #[test]
    fn a_read_that_would_find_the_same_or_must_come_later_is_left() {
        let same = "t1     | t2
             r x=0  |
             w x=1  |
             w x=0  |
                    | r x=0";
        assert_eq!(orders(same).len(), 1, "only before the second write is x another");
        let started = "t1     | t2
             r x=0  |
             w x=1  |
             fork t2 |
                    | r x=1";
        assert!(orders(started).is_empty());
    }
}
