//! Measures schedules on a long trace: `cargo run --release -p ravel-schedule --example large_trace [EVENTS [THREADS]]`.
//!
//! The threads work under common locks in random turns; goals are races and three-event patterns late in the trace.

use std::time::Instant;

use ravel_schedule::{Effort, EventAt, Goal, Image, Limits, Shape, Verdict, generate};
use ravel_trace::names::{Field, Location, Lock, Thread};
use ravel_trace::{
    Event, FieldId, LocationId, LockId, Mode, Names, ObjectId, Op, SiteId, Source, SourceError, ThreadId, Value,
};

const LOCATIONS: usize = 100_000;
const LOCKS: usize = 64;

struct Work {
    names: Names,
    left: usize,
    random: u64,
    positions: Vec<u32>,
    queue: Vec<Event>,
    recent: Vec<Vec<(u32, u32, bool)>>,
}

impl Work {
    fn below(&mut self, n: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as usize % n
    }

    /// A critical section of one thread with a few accesses, and one access outside.
    fn refill(&mut self) {
        let thread = self.below(self.names.threads.len());
        let lock = LockId(self.below(LOCKS) as u32);
        let mut ops = vec![Op::Acquire {
            lock,
            mode: Mode::Exclusive,
        }];
        for _ in 0..4 {
            let location = LocationId((self.below(LOCATIONS / LOCKS) * LOCKS + lock.index()) as u32);
            let value = Value::Unknown;
            let read = self.below(3) > 0;
            ops.push(if read {
                Op::Read { location, value }
            } else {
                Op::Write { location, value }
            });
        }
        ops.push(Op::Release {
            lock,
            mode: Mode::Exclusive,
        });
        // Each thread has a cell of its own, written by everyone now and then.
        let owner = if self.below(50) == 0 {
            self.below(self.names.threads.len())
        } else {
            thread
        };
        ops.push(Op::Write {
            location: LocationId((LOCATIONS + owner) as u32),
            value: Value::Unknown,
        });
        for op in ops.into_iter().rev() {
            let at = self.positions[thread] + 1;
            self.queue.push(Event {
                thread: ThreadId(thread as u32),
                position: at,
                site: SiteId(0),
                op,
            });
        }
        for event in self.queue.iter_mut().rev() {
            self.positions[thread] += 1;
            event.position = self.positions[thread];
        }
        if owner != thread {
            self.recent[owner].push((thread as u32, self.positions[thread], true));
        } else if self.below(500) == 0 {
            self.recent[owner].push((thread as u32, self.positions[thread], false));
        }
    }
}

impl Source for Work {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        if self.queue.is_empty() {
            self.refill();
        }
        Ok(self.queue.pop())
    }

    fn names(&self) -> &Names {
        &self.names
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<usize>().unwrap_or(1));
    let events = arguments.next().unwrap_or(1_000_000);
    let threads = arguments.next().unwrap_or(8);
    let mut names = Names::default();
    for index in 0..threads {
        names.threads.push(Thread {
            name: format!("t{index}"),
            ..Thread::default()
        });
    }
    names.fields.push(Field::default());
    names.locations = (0..LOCATIONS + threads)
        .map(|n| Location::Field(ObjectId(n as u64), FieldId(0)))
        .collect();
    names.locks = (0..LOCKS)
        .map(|n| Lock {
            object: ObjectId(n as u64),
            name: String::new(),
        })
        .collect();
    let mut work = Work {
        names,
        left: events,
        random: 0x5eed,
        positions: vec![0; threads],
        queue: Vec::new(),
        recent: vec![Vec::new(); threads],
    };
    let start = Instant::now();
    let image = match Image::build(&mut work, Limits::default()) {
        Ok(image) => image,
        Err(error) => return eprintln!("{error}"),
    };
    println!("image of {} events in {:.2?}", image.len(), start.elapsed());
    for owner in 0..threads.min(3) {
        let cell = LocationId((LOCATIONS + owner) as u32);
        let at = |&(thread, position, _): &(u32, u32, bool)| EventAt {
            thread: ThreadId(thread),
            position,
            location: Some(cell),
            lock: None,
        };
        let own: Vec<EventAt> = work.recent[owner].iter().filter(|r| !r.2).map(at).collect();
        let others: Vec<EventAt> = work.recent[owner].iter().filter(|r| r.2).map(at).collect();
        let (Some(a), Some(c), Some(b)) = (
            own.iter().nth_back(2),
            own.iter().nth_back(1),
            others.iter().nth_back(1),
        ) else {
            continue;
        };
        for (what, goal) in [
            ("race", Goal::new(Shape::Adjacent, [*a, *b])),
            ("W W' W", Goal::new(Shape::Ordered, [*a, *b, *c])),
        ] {
            let start = Instant::now();
            match generate(&image, &goal, &Effort::default()) {
                Ok(made) => println!(
                    "{what}: {} in {:.2?}, {} turns",
                    if made.verdict == Verdict::Witnessed {
                        "witnessed"
                    } else {
                        "reads differ"
                    },
                    start.elapsed(),
                    made.schedule.segments.len()
                ),
                Err(error) => println!("{what}: {error} in {:.2?}", start.elapsed()),
            }
        }
    }
}
