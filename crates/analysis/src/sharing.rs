//! A first look at a trace: which locations several threads access, one of them writing.
//!
//! Every race, every violation and every break of a unit has two accesses of different threads to one location, one of
//! them a write. Most locations of a program never have such a pair: only one thread accesses them, or no thread writes them. A
//! trace that can be read twice is therefore read once for this alone, which takes a few bytes for each location, and
//! accesses to the others are then not handed to the analyses at all.
//!
//! Some accesses matter beyond their location, so these are never skipped: volatile and modelled locations (they order threads, and a
//! loop on one cuts a unit in two), static fields (their class must have been initialised), and fields with a `@GuardedBy` (one
//! annotation covers several). A method is a unit on all objects that it accesses; so if an object has another location that does
//! count, the access still reaches the units, and nothing else.

use crate::sets::annotated;
use ravel_trace::names::{Location, flags};
use ravel_trace::{Event, FieldId, LocationId, Names, ObjectId, Op, Source, ThreadId};
use rustc_hash::FxHashSet;

/// After how many events it is asked whether to stop.
const ASK: u64 = 1 << 14;

/// How much an access to a location matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interest {
    /// To no analysis.
    None,
    /// To units only: it belongs to an object that has others of interest.
    Units,
    /// To the analyses.
    Full,
}

/// What the first look has found.
#[derive(Debug, Default)]
pub struct Sharing {
    of: Vec<Interest>,
}

/// A location while it is looked for: 0 before its first access, else the first thread and two bits.
#[derive(Clone, Copy, Default)]
struct Seen(u32);

impl Seen {
    const WRITTEN: u32 = 1;
    const SHARED: u32 = 2;

    #[inline]
    fn take_in(&mut self, thread: ThreadId, writes: bool) {
        let thread = (thread.0 + 1) << 2;
        if self.0 == 0 {
            self.0 = thread;
        } else if self.0 & !3 != thread {
            self.0 |= Self::SHARED;
        }
        self.0 |= u32::from(writes);
    }

    fn conflicts(self) -> bool {
        self.0 & 3 == Self::SHARED | Self::WRITTEN
    }
}

impl Sharing {
    /// Reads a trace to its end, or until `stop` says so: then everything is of interest. Each event is shown to `also` with its number.
    pub fn of(source: &mut dyn Source, stop: &dyn Fn() -> bool, mut also: impl FnMut(&Names, u64, &Event)) -> Sharing {
        let mut seen: Vec<Seen> = Vec::new();
        let mut events: u64 = 0;
        // A damaged trace ends at the damage in the second reading too.
        while let Ok(Some(event)) = source.next_event() {
            if events.is_multiple_of(ASK) && stop() {
                return Sharing::default();
            }
            also(source.names(), events, &event);
            events += 1;
            let (location, writes) = match event.op {
                Op::Read { location, .. } => (location, false),
                Op::Write { location, .. } | Op::Update { location, .. } => (location, true),
                _ => continue,
            };
            if seen.len() <= location.index() {
                seen.resize(location.index() + 1, Seen::default());
            }
            seen[location.index()].take_in(event.thread, writes);
        }
        Sharing::judge(source.names(), &seen)
    }

    fn judge(names: &Names, seen: &[Seen]) -> Sharing {
        let whole = |(at, seen): (usize, &Seen)| seen.conflicts() || !is_plain(names, LocationId::from(at));
        let mut objects: FxHashSet<ObjectId> = FxHashSet::default();
        let mut of: Vec<Interest> = Vec::with_capacity(seen.len());
        for place in seen.iter().enumerate() {
            let at = place.0;
            let full = whole(place);
            if let (true, Some(object)) = (full, object_of(names, LocationId::from(at))) {
                objects.insert(object);
            }
            of.push(if full { Interest::Full } else { Interest::None });
        }
        for (at, interest) in of.iter_mut().enumerate().filter(|(_, i)| **i == Interest::None) {
            if object_of(names, LocationId::from(at)).is_some_and(|object| objects.contains(&object)) {
                *interest = Interest::Units;
            }
        }
        Sharing { of }
    }

    /// How much an access to a location matters; one that the first look has not seen matters.
    #[inline]
    pub fn interest(&self, location: LocationId) -> Interest {
        self.of.get(location.index()).copied().unwrap_or(Interest::Full)
    }
}

fn object_of(names: &Names, location: LocationId) -> Option<ObjectId> {
    match names.locations[location.index()] {
        Location::Field(object, _) | Location::Element(object, _) | Location::Entry(object, ..) => Some(object),
        Location::Static(_) | Location::Named(_) => None,
    }
}

/// Whether an access says nothing beyond its location.
fn is_plain(names: &Names, location: LocationId) -> bool {
    let plain = |field: FieldId| {
        let field = names.field(field);
        field.flags & flags::VOLATILE == 0 && !annotated(&field.annotations, "GuardedBy")
    };
    match names.locations[location.index()] {
        Location::Field(_, field) | Location::Named(field) => plain(field),
        Location::Element(..) => true,
        Location::Static(_) | Location::Entry(..) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::registry;
    use crate::units::UnitSettings;
    use fastrand::Rng;
    use ravel_trace::memory::MemoryTrace;
    use ravel_trace::{Event, SourceError};

    #[test]
    fn only_what_several_threads_touch_and_one_writes_is_of_interest() {
        let text = "
            t1              | t2
            w own
            r own
            r read
                            | r read
            w shared
                            | r shared
            w later
                            | w later
        ";
        let mut trace = MemoryTrace::parse(text).expect("the trace parses");
        let sharing = Sharing::of(&mut trace, &|| false, |_, _, _| {});
        let names = trace.names();
        let interest = |name: &str| {
            let mut locations = (0..names.locations.len()).map(LocationId::from);
            let found = locations.find(|&location| names.location_name(location) == name);
            sharing.interest(found.expect("a location of the trace"))
        };
        assert_eq!(["own", "read"].map(interest), [Interest::None; 2]);
        assert_eq!(["shared", "later"].map(interest), [Interest::Full; 2]);
        assert_eq!(sharing.interest(LocationId(99)), Interest::Full, "not seen");
    }

    #[test]
    fn units_hear_of_quiet_fields_of_objects_that_have_others() {
        let text = "
            t1              | t2
            w Account.name
            w Account.sum
                            | w Account.sum
            w Purse.coins
        ";
        let mut trace = MemoryTrace::parse(text).expect("the trace parses");
        let sharing = Sharing::of(&mut trace, &|| false, |_, _, _| {});
        let places = trace.names().locations.len();
        let all: Vec<Interest> = (0..places).map(|at| sharing.interest(LocationId::from(at))).collect();
        assert_eq!(all, [Interest::Units, Interest::Full, Interest::None]);
    }

    /// A trace that can be read only once.
    struct Once(MemoryTrace);

    impl Source for Once {
        fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
            self.0.next_event()
        }

        fn names(&self) -> &Names {
            self.0.names()
        }
    }

    /// Three threads in methods and under locks, at fields of two objects, elements of an array, a volatile and a variable.
    fn random_trace(rng: &mut Rng) -> String {
        const PLACES: [&str; 9] = ["C#1.f", "C#1.g", "C#1.h", "D#1.f", "D#1.g", "a[0]", "a[1]", "flag", "x"];
        const THREADS: usize = 3;
        let mut text = String::from("volatile flag\nt0 | t1 | t2\n");
        let (mut depth, mut held) = ([0; THREADS], [None; 2]);
        for _ in 0..50 {
            let thread = rng.usize(..THREADS);
            let event = match rng.usize(..12) {
                0 if depth[thread] < 3 => {
                    depth[thread] += 1;
                    ["enter C.m", "enter D.n", "enter synchronized C.s", "enter E.o"][rng.usize(..4)].to_owned()
                }
                1 if depth[thread] > 0 => {
                    depth[thread] -= 1;
                    "exit".to_owned()
                }
                2 | 3 => {
                    let lock = rng.usize(..2);
                    match held[lock] {
                        None => {
                            held[lock] = Some(thread);
                            format!("acq l{lock}")
                        }
                        Some(by) if by == thread => {
                            held[lock] = None;
                            format!("rel l{lock}")
                        }
                        Some(_) => continue,
                    }
                }
                kind => {
                    // Few places for each thread, so that many have one thread only.
                    let place = (rng.usize(..4) * (thread + 1) + thread) % PLACES.len();
                    let (kind, line) = if kind % 3 == 0 {
                        ('w', 2 * place)
                    } else {
                        ('r', 2 * place + 1)
                    };
                    format!("{kind} {} @{}", PLACES[place], line + 1)
                }
            };
            text.push_str(&format!("{}{event}\n", "| ".repeat(thread)));
        }
        text
    }

    /// What is said of a run. Which of several accesses in a row or of two units around them stands for all, and how strong a
    /// race is, may differ: an access passed over does not stand between two others.
    fn said(source: &mut dyn Source) -> Vec<String> {
        let settings = UnitSettings::default();
        let outcome = Engine::new(&settings, registry::all()).run(source);
        let mut said: Vec<String> = outcome
            .reports
            .iter()
            .map(|report| {
                let steps = report.steps.iter().map(|step| {
                    let (thread, kind) = (step.point.thread, step.point.kind);
                    format!("{thread:?} {kind:?} {:?} {:?}", step.location, step.lock)
                });
                let steps: Vec<String> = steps.collect();
                format!("{} {:?} {} {steps:?}", report.analysis, report.rule, report.pattern)
            })
            .collect();
        said.sort_unstable();
        said.dedup();
        said
    }

    #[test]
    fn what_is_passed_over_changes_nothing() {
        let (mut passed_over, mut reports) = (0, 0);
        for seed in 0..400 {
            let text = random_trace(&mut Rng::with_seed(seed));
            let mut trace = MemoryTrace::parse(&text).expect("the trace parses");
            let sharing = Sharing::of(&mut trace, &|| false, |_, _, _| {});
            passed_over += sharing.of.iter().filter(|of| **of != Interest::Full).count();
            trace.rewind();
            let (short, whole) = (said(&mut trace), {
                trace.rewind();
                said(&mut Once(trace))
            });
            reports += whole.len();
            assert_eq!(short, whole, "seed {seed}:\n{text}");
        }
        assert!(
            passed_over > 400 && reports > 2000,
            "{passed_over} locations, {reports} reports"
        );
    }

    #[test]
    fn who_stops_early_knows_nothing() {
        let mut trace = MemoryTrace::parse("t1\nw x\nw x").expect("the trace parses");
        let sharing = Sharing::of(&mut trace, &|| true, |_, _, _| {});
        assert_eq!(sharing.interest(LocationId(0)), Interest::Full);
    }
}
