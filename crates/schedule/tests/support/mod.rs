//! Traces for tests, built by hand: an event per call, one position each.

use ravel_schedule::{
    Broken, CheckError, CheckVerdict, Effort, EventAt, Generated, Goal, Image, Limits, NoSchedule, Schedule, Shape,
    check, generate,
};
use ravel_trace::names::{Field, Location, Lock, Sync, Thread, flags};
use ravel_trace::{
    ClassId, Event, FieldId, LocationId, LockId, Mode, Names, ObjectId, Op, SiteId, Source, SourceError, SyncId,
    ThreadId, Value,
};

#[derive(Default)]
pub struct Tape {
    pub names: Names,
    pub events: Vec<Event>,
    next: usize,
}

impl Source for Tape {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        self.next += 1;
        Ok(self.events.get(self.next - 1).copied())
    }

    fn names(&self) -> &Names {
        &self.names
    }
}

impl Tape {
    /// Thread 0 is `main`, the others are its children `t1`, `t2`, … in order.
    pub fn new(threads: usize) -> Tape {
        let mut tape = Tape::default();
        for index in 0..threads {
            let name = if index == 0 {
                "main".to_owned()
            } else {
                format!("t{index}")
            };
            let parent = (index > 0).then_some(ThreadId(0));
            let spawn_index = index.saturating_sub(1) as u32;
            tape.names.threads.push(Thread {
                name,
                parent,
                spawn_index,
                ..Thread::default()
            });
        }
        for index in 0..16u32 {
            // The last eight are volatile.
            let flags = if index < 8 { 0 } else { flags::VOLATILE };
            let name = format!("x{index}");
            tape.names.fields.push(Field {
                class: ClassId(0),
                name,
                flags,
                ..Field::default()
            });
            tape.names.locations.push(Location::Named(FieldId(index)));
            tape.names.locks.push(Lock {
                object: ObjectId(u64::from(index)),
                name: format!("l{index}"),
            });
            tape.names.syncs.push(Sync {
                object: ObjectId(u64::from(index)),
                name: format!("s{index}"),
            });
        }
        tape
    }

    /// The position that the thread's next event gets.
    pub fn next_position(&self, thread: u32) -> u32 {
        let last = self.events.iter().rfind(|e| e.thread.0 == thread);
        last.map_or(1, |e| e.position + 1)
    }

    pub fn op(&mut self, thread: u32, op: Op) -> EventAt {
        let position = self.next_position(thread);
        self.op_at(thread, position, op)
    }

    pub fn op_at(&mut self, thread: u32, position: u32, op: Op) -> EventAt {
        let thread = ThreadId(thread);
        self.events.push(Event {
            thread,
            position,
            site: SiteId(0),
            op,
        });
        let lock = match op {
            Op::Acquire { lock, .. } | Op::Release { lock, .. } => Some(lock),
            _ => None,
        };
        EventAt {
            thread,
            position,
            location: op.location(),
            lock,
        }
    }

    pub fn read(&mut self, thread: u32, location: u32) -> EventAt {
        self.op(
            thread,
            Op::Read {
                location: LocationId(location),
                value: Value::Unknown,
            },
        )
    }

    pub fn write(&mut self, thread: u32, location: u32) -> EventAt {
        self.op(
            thread,
            Op::Write {
                location: LocationId(location),
                value: Value::Unknown,
            },
        )
    }

    pub fn acquire(&mut self, thread: u32, lock: u32) -> EventAt {
        self.op(
            thread,
            Op::Acquire {
                lock: LockId(lock),
                mode: Mode::Exclusive,
            },
        )
    }

    pub fn release(&mut self, thread: u32, lock: u32) -> EventAt {
        self.op(
            thread,
            Op::Release {
                lock: LockId(lock),
                mode: Mode::Exclusive,
            },
        )
    }

    pub fn send(&mut self, thread: u32, sync: u32) -> EventAt {
        self.op(thread, Op::Send { sync: SyncId(sync) })
    }

    pub fn receive(&mut self, thread: u32, sync: u32) -> EventAt {
        self.op(thread, Op::Receive { sync: SyncId(sync) })
    }

    pub fn fork(&mut self, thread: u32, child: u32) -> EventAt {
        self.op(thread, Op::Fork { child: ThreadId(child) })
    }

    pub fn image(mut self) -> Image {
        Image::build(&mut self, Limits::default()).expect("a tape has no errors")
    }
}

/// The order in which positions run, `(thread, position)`, unrecorded ones left out.
pub fn run_order(image: &Image, schedule: &ravel_schedule::Schedule, events: &[Event]) -> Vec<(u32, u32)> {
    let mut at = vec![0usize; image.thread_names().len()];
    let mut order = Vec::new();
    let of_thread = |t: usize| events.iter().filter(move |e| e.thread.index() == t).collect::<Vec<_>>();
    for segment in &schedule.segments {
        let path = &schedule.threads[segment.thread].path;
        let thread = image
            .thread_names()
            .iter()
            .position(|n| n.path == *path)
            .expect("a thread of the trace");
        let own = of_thread(thread);
        while at[thread] < own.len() && own[at[thread]].position <= segment.until {
            order.push((thread as u32, own[at[thread]].position));
            at[thread] += 1;
        }
    }
    order
}

/// The schedule of a goal; what is witnessed passes the check.
pub fn made(image: &Image, shape: Shape, events: &[EventAt]) -> Generated {
    let goal = Goal::new(shape, events.iter().copied());
    let made = generate(image, &goal, &Effort::default()).expect("a schedule");
    if made.verdict == CheckVerdict::Witnessed {
        check(image, &goal, &made.schedule).expect("what is witnessed passes the check");
    }
    made
}

/// Why no order of the trace reaches a goal.
pub fn refused(image: &Image, shape: Shape, events: &[EventAt]) -> Broken {
    let goal = Goal::new(shape, events.iter().copied());
    match generate(image, &goal, &Effort::default()) {
        Err(NoSchedule::Infeasible { broken, certain: true }) => broken,
        other => panic!("{other:?}"),
    }
}

/// Turns by hand: path of the thread, and how far it runs.
pub fn schedule(image: &Image, turns: &[(&str, u32)]) -> Schedule {
    let mut text = "ravel schedule 1\n".to_owned();
    for thread in image.thread_names() {
        text += &format!("thread {} {:?}\n", thread.path, thread.name);
    }
    for (path, until) in turns {
        text += &format!("run {path} to {until}\n");
    }
    Schedule::parse(&text).expect("well formed")
}

/// The rule that turns made by hand break.
pub fn broken(image: &Image, goal: &Goal, turns: &[(&str, u32)]) -> Broken {
    match check(image, goal, &schedule(image, turns)) {
        Err(CheckError::Broken(broken)) => broken,
        other => panic!("{other:?}"),
    }
}
