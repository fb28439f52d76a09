//! Which events of a forced run are kept: of a long run, those that its schedule is about, and the final values of its variables.
//! The rest is most of the trace, and no judgement needs it.

use ravel_schedule::{Schedule, naming};
use ravel_trace::names::Names;
use ravel_trace::{Event, LocationId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Points after the end of a thread's last turn that still belong to what the turn is about.
const AFTER: u32 = 10_000;

/// The events of a run that are kept.
pub struct Kept {
    /// Those kept so far.
    pub events: Vec<Event>,
    /// How far each thread of the schedule runs, by its path; none if everything is kept.
    ends: Option<FxHashMap<String, u32>>,
    /// The same by number, as threads appear.
    threads: Vec<u32>,
    /// The last event of each location, if it was not kept.
    last: FxHashMap<LocationId, (usize, Event)>,
    seen: usize,
}

impl Kept {
    /// Everything, or what concerns a schedule.
    pub fn of(schedule: Option<&Schedule>) -> Kept {
        let ends = schedule.map(|schedule| {
            let mut ends: FxHashMap<String, u32> = FxHashMap::default();
            for segment in &schedule.segments {
                let end = ends.entry(schedule.thread(segment).path.clone()).or_default();
                *end = segment.until.saturating_add(AFTER).max(*end);
            }
            ends
        });
        Kept {
            events: Vec::new(),
            ends,
            threads: Vec::new(),
            last: FxHashMap::default(),
            seen: 0,
        }
    }

    /// The run's next event.
    pub fn take(&mut self, event: Event, names: &Names) {
        self.seen += 1;
        let Some(ends) = &self.ends else {
            self.events.push(event);
            return;
        };
        let thread = event.thread.index();
        if self.threads.len() <= thread {
            let paths = naming::thread_names(names, thread + 1);
            let end = |name: &naming::ThreadName| ends.get(&name.path).copied().unwrap_or(0);
            let new = paths
                .iter()
                .skip(self.threads.len())
                .take(thread + 1 - self.threads.len());
            self.threads.extend(new.map(end));
        }
        let location = event.op.location();
        if event.position < self.threads[thread] {
            if let Some(location) = location {
                self.last.remove(&location);
            }
            self.events.push(event);
        } else if let Some(location) = location {
            self.last.insert(location, (self.seen, event));
        }
    }

    /// The events, in their order; what their locations held in the end comes last.
    pub fn finish(mut self) -> Vec<Event> {
        let known: FxHashSet<LocationId> = self.events.iter().filter_map(|event| event.op.location()).collect();
        let mut last: Vec<(usize, Event)> = self.last.into_values().collect();
        last.retain(|(_, event)| event.op.location().is_some_and(|location| known.contains(&location)));
        last.sort_by_key(|(place, _)| *place);
        self.events.extend(last.into_iter().map(|(_, event)| event));
        self.events
    }
}

#[cfg(test)]
mod tests {
    use ravel_trace::{Op, SiteId, ThreadId, Value};

    use super::*;

    fn write(thread: u32, position: u32, location: u32) -> Event {
        Event {
            thread: ThreadId(thread),
            position,
            site: SiteId(0),
            op: Op::Write {
                location: LocationId(location),
                value: Value::Exact(i64::from(position)),
            },
        }
    }

    fn kept(schedule: Option<&Schedule>, events: &[Event]) -> Vec<(u32, u32)> {
        let names = Names::default();
        let mut kept = Kept::of(schedule);
        for event in events {
            kept.take(*event, &names);
        }
        let all = kept.finish();
        all.iter().map(|event| (event.thread.0, event.position)).collect()
    }

    #[test]
    fn what_a_schedule_is_about_is_kept_and_last_values() {
        let text = "ravel schedule 1\nthread T0 \"T0\"\nrun T0 to 5\n";
        let schedule = Schedule::parse(text).expect("a schedule");
        let far = AFTER + 100;
        let events = [
            write(0, 1, 7),
            // Another thread, before and after: only its last write to what the first one wrote counts.
            write(1, 1, 7),
            write(0, 6, 7),
            write(1, 2, 7),
            write(1, 3, 7),
            write(1, 4, 8),
            write(0, far, 9),
            write(0, far + 1, 7),
        ];
        assert_eq!(kept(Some(&schedule), &events), [(0, 1), (0, 6), (0, far + 1)]);
        assert_eq!(kept(Some(&schedule), &events[..6]), [(0, 1), (0, 6), (1, 3)]);
        assert_eq!(kept(Some(&schedule), &events[..3]), [(0, 1), (0, 6)]);
        assert_eq!(kept(None, &events).len(), events.len());
    }
}
