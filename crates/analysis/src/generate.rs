//! Makes traces of any length for measurements: a stream of events, never held in memory, with bugs of known number.
//!
//! Every variable has a lock. A thread works in transactions (declared units) of about twenty accesses with none to two
//! locks: one without locks reads variables that no thread writes; one with locks reads and writes variables of those locks.
//! All locks of a transaction are held over all of it, so that apart from what is planted the trace has no race and is
//! serializable. Threads take turns at random.
//!
//! Two kinds. The *repetitive* trace accesses each variable at two places in code, one that reads and one that writes: like a program with few
//! hot loops, and kind to all that remembers places. The *diverse* one has so many [places](Shape::places), and accesses any variable at any
//! of them: like a program whose fields are touched by much code through helpers and collections. A trace that is not
//! [guarded](Shape::guarded) has a lock in every transaction and no discipline: every variable races, which no program does, and
//! no analysis can let anything go.

use fastrand::Rng;
use ravel_trace::names::{Class, Field, Location, Lock, Method, Site, SiteKind, Thread};
use ravel_trace::{
    ClassId, Event, FieldId, LocationId, LockId, MethodId, Mode, Names, ObjectId, Op, SiteId, Source, SourceError,
    ThreadId, Value,
};
use std::collections::VecDeque;

/// What to make.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// About how many events; the last transactions are finished.
    pub events: u64,
    /// Threads; the first starts and joins the others.
    pub threads: u32,
    /// Locks.
    pub locks: u32,
    /// Variables, the first half of them guarded, the others only read.
    pub variables: u32,
    /// Accesses per transaction.
    pub accesses: u32,
    /// Reads per hundred accesses.
    pub reads: u32,
    /// Places in code at which any variable is accessed; with none, each variable has two of its own.
    pub places: u32,
    /// A variable that is written has a lock, which is held at all its accesses. Otherwise any lock is held at any of them.
    pub guarded: bool,
    /// Plants all bugs in the last tenth of the trace.
    pub late: bool,
    /// Pairs of unordered writes, each on a variable of its own.
    pub races: u32,
    /// Transactions of the form `R W' W`, each on a variable of its own.
    pub violations: u32,
    /// The same seed gives the same trace.
    pub seed: u64,
}

impl Default for Shape {
    /// The trace of the benchmark.
    fn default() -> Self {
        Shape {
            events: 1_000_000,
            threads: 8,
            locks: 64,
            variables: 10_000,
            accesses: 20,
            reads: 70,
            places: 0,
            guarded: true,
            late: false,
            races: 0,
            violations: 0,
            seed: 1,
        }
    }
}

impl Shape {
    /// The diverse trace of the benchmark: 2,000 places.
    pub fn diverse() -> Self {
        Shape {
            places: 2_000,
            ..Shape::default()
        }
    }
}

#[derive(Debug, Default)]
struct Worker {
    /// What is left of the transaction, next first.
    plan: VecDeque<(SiteId, Op)>,
    position: u32,
    begun: bool,
    ended: bool,
}

/// A trace made as it is read.
#[derive(Debug)]
pub struct Generator {
    shape: Shape,
    names: Names,
    workers: Vec<Worker>,
    owner: Vec<Option<u32>>,
    random: Rng,
    made: u64,
    /// Events forced before anything else: starts, planted bugs, joins.
    forced: VecDeque<(u32, SiteId, Op)>,
    planted_races: u32,
    planted_violations: u32,
    finished: bool,
    current: u32,
    turn: u32,
}

const ACQUIRE: u32 = 1;
const RELEASE: u32 = 2;
const BEGIN: u32 = 3;
const FIRST_ACCESS: u32 = 4;

impl Generator {
    /// A generator of the trace.
    pub fn new(shape: Shape) -> Self {
        let mut generator = Generator {
            shape,
            names: tables(&shape),
            workers: (0..shape.threads).map(|_| Worker::default()).collect(),
            owner: vec![None; shape.locks as usize],
            random: Rng::with_seed(shape.seed),
            made: 0,
            forced: VecDeque::new(),
            planted_races: 0,
            planted_violations: 0,
            finished: false,
            current: 0,
            turn: 0,
        };
        generator.workers[0].begun = true;
        for child in 1..shape.threads {
            generator
                .forced
                .push_back((0, SiteId(0), Op::Fork { child: ThreadId(child) }));
        }
        generator
    }

    fn roll(&mut self, below: u32) -> u32 {
        self.random.u32(..below)
    }

    fn site(&mut self, variable: u32, write: bool) -> SiteId {
        let (places, variables) = (self.shape.places, self.shape.variables);
        SiteId(match variable.checked_sub(variables) {
            None if places > 0 => FIRST_ACCESS + self.roll(places),
            Some(planted) if places > 0 => FIRST_ACCESS + places + 2 * planted + u32::from(write),
            _ => FIRST_ACCESS + 2 * variable + u32::from(write),
        })
    }

    fn read(&mut self, variable: u32) -> (SiteId, Op) {
        (
            self.site(variable, false),
            Op::Read {
                location: LocationId(variable),
                value: Value::Unknown,
            },
        )
    }

    fn write(&mut self, variable: u32) -> (SiteId, Op) {
        (
            self.site(variable, true),
            Op::Write {
                location: LocationId(variable),
                value: Value::Unknown,
            },
        )
    }

    fn plan(&mut self, thread: u32) {
        let locks = self.shape.locks;
        let mut held = [self.roll(locks), self.roll(locks)];
        held.sort_unstable();
        let wanted = self.roll(3) as usize;
        let held = if held[0] == held[1] {
            &held[..wanted.min(1)]
        } else {
            &held[..wanted]
        };
        let mut plan: VecDeque<(SiteId, Op)> = std::mem::take(&mut self.workers[thread as usize].plan);
        plan.push_back((SiteId(BEGIN), Op::UnitBegin));
        for &lock in held {
            plan.push_back((
                SiteId(ACQUIRE),
                Op::Acquire {
                    lock: LockId(lock),
                    mode: Mode::Exclusive,
                },
            ));
        }
        let half = self.shape.variables / 2;
        for _ in 0..self.shape.accesses {
            if held.is_empty() {
                let variable = half + self.roll(half);
                plan.push_back(self.read(variable));
                continue;
            }
            let lock = held[self.roll(held.len() as u32) as usize];
            let variable = match self.shape.guarded {
                true => lock + locks * self.roll(half / locks),
                false => self.roll(half),
            };
            let write = self.roll(100) >= self.shape.reads;
            plan.push_back(if write {
                self.write(variable)
            } else {
                self.read(variable)
            });
        }
        for &lock in held.iter().rev() {
            plan.push_back((
                SiteId(RELEASE),
                Op::Release {
                    lock: LockId(lock),
                    mode: Mode::Exclusive,
                },
            ));
        }
        plan.push_back((SiteId(BEGIN), Op::UnitEnd));
        self.workers[thread as usize].plan = plan;
    }

    /// Bugs are planted between transactions of the two threads, at even distances in the whole trace or its last tenth.
    fn plant(&mut self) {
        let (races, violations) = (self.shape.races, self.shape.violations);
        let events = self.shape.events;
        let (start, length) = match self.shape.late {
            true => (events / 10 * 9, events / 10),
            false => (0, events),
        };
        let due = |planted: u32, all: u32| {
            planted < all && self.made >= start + length * u64::from(planted + 1) / u64::from(all + 1)
        };
        let (race, violation) = (due(self.planted_races, races), due(self.planted_violations, violations));
        let ready = |t: usize| self.workers[t].begun && self.workers[t].plan.is_empty();
        if !(race || violation) || !ready(1) || !ready(2) {
            return;
        }
        if race {
            let variable = self.shape.variables + self.planted_races;
            let (site, op) = self.write(variable);
            self.forced.extend([(1, site, op), (2, site, op)]);
            self.planted_races += 1;
        }
        if violation {
            let variable = self.shape.variables + races + self.planted_violations;
            let lock = LockId(self.shape.locks + self.planted_violations);
            let take = (
                SiteId(ACQUIRE),
                Op::Acquire {
                    lock,
                    mode: Mode::Exclusive,
                },
            );
            let give = (
                SiteId(RELEASE),
                Op::Release {
                    lock,
                    mode: Mode::Exclusive,
                },
            );
            let (read, write) = (self.read(variable), self.write(variable));
            let forced = |t: u32, e: (SiteId, Op)| (t, e.0, e.1);
            self.forced.push_back((1, SiteId(BEGIN), Op::UnitBegin));
            self.forced.extend([take, read, give].map(|e| forced(1, e)));
            self.forced.extend([take, write, give].map(|e| forced(2, e)));
            self.forced.extend([take, write, give].map(|e| forced(1, e)));
            self.forced.push_back((1, SiteId(BEGIN), Op::UnitEnd));
            self.planted_violations += 1;
        }
    }

    fn emit(&mut self, thread: u32, site: SiteId, op: Op) -> Event {
        self.made += 1;
        let worker = &mut self.workers[thread as usize];
        worker.position += 1;
        match op {
            Op::Acquire { lock, .. } if lock.index() < self.owner.len() => self.owner[lock.index()] = Some(thread),
            Op::Release { lock, .. } if lock.index() < self.owner.len() => self.owner[lock.index()] = None,
            _ => {}
        }
        Event {
            thread: ThreadId(thread),
            position: self.workers[thread as usize].position,
            site,
            op,
        }
    }

    fn finish(&mut self) -> Option<Event> {
        if let Some(thread) = (1..self.shape.threads).find(|t| !self.workers[*t as usize].ended) {
            self.workers[thread as usize].ended = true;
            self.forced.push_back((
                0,
                SiteId(0),
                Op::Join {
                    child: ThreadId(thread),
                    limited: false,
                },
            ));
            return Some(self.emit(thread, SiteId(0), Op::End { exception: false }));
        }
        if !self.finished {
            self.finished = true;
            return Some(self.emit(0, SiteId(0), Op::End { exception: false }));
        }
        None
    }

    fn next(&mut self) -> Option<Event> {
        if let Some((thread, site, op)) = self.forced.pop_front() {
            return Some(self.emit(thread, site, op));
        }
        if self.finished {
            return None;
        }
        self.plant();
        if let Some((thread, site, op)) = self.forced.pop_front() {
            return Some(self.emit(thread, site, op));
        }
        for _ in 0..64 * self.shape.threads {
            if self.turn == 0 {
                self.current = self.roll(self.shape.threads);
                self.turn = 1 + self.roll(8);
            }
            self.turn -= 1;
            let thread = self.current;
            if !self.workers[thread as usize].begun {
                self.workers[thread as usize].begun = true;
                return Some(self.emit(thread, SiteId(0), Op::Begin));
            }
            if self.workers[thread as usize].plan.is_empty() {
                if self.made >= self.shape.events {
                    self.turn = 0;
                    if self.workers.iter().all(|w| w.plan.is_empty()) {
                        return self.finish();
                    }
                    continue;
                }
                self.plan(thread);
            }
            let Some(&(site, op)) = self.workers[thread as usize].plan.front() else {
                continue;
            };
            if let Op::Acquire { lock, .. } = op
                && self.owner[lock.index()].is_some()
            {
                self.turn = 0;
                continue;
            }
            self.workers[thread as usize].plan.pop_front();
            return Some(self.emit(thread, site, op));
        }
        // Locks are taken in order, so some thread can always go on.
        (0..self.shape.threads).find_map(|thread| {
            let &(site, op) = self.workers[thread as usize].plan.front()?;
            let free = !matches!(op, Op::Acquire { lock, .. } if self.owner[lock.index()].is_some());
            free.then(|| {
                self.workers[thread as usize].plan.pop_front();
                self.emit(thread, site, op)
            })
        })
    }
}

impl Source for Generator {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        Ok(self.next())
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn again(&mut self) -> Option<Box<dyn Source + '_>> {
        Some(Box::new(Generator::new(self.shape)))
    }
}

fn tables(shape: &Shape) -> Names {
    let mut names = Names::default();
    names.classes.push(Class {
        name: "generated.Work".to_owned(),
        ..Class::default()
    });
    names.methods.push(Method {
        class: ClassId(0),
        name: "work".to_owned(),
        ..Method::default()
    });
    let site = |line, what| Site {
        method: MethodId(0),
        bci: line,
        line,
        what,
    };
    names.sites.push(Site::default());
    names.sites.push(site(1, SiteKind::Lock));
    names.sites.push(site(2, SiteKind::Lock));
    names.sites.push(site(3, SiteKind::Method));
    let variables = shape.variables + shape.races + shape.violations;
    names
        .sites
        .extend((0..shape.places).map(|place| site(FIRST_ACCESS + place, SiteKind::Unknown)));
    for v in 0..variables {
        names.fields.push(Field {
            name: format!("V{v}"),
            ..Field::default()
        });
        names.locations.push(Location::Named(FieldId(v)));
        if shape.places > 0 && v < shape.variables {
            continue;
        }
        for _ in 0..2 {
            let line = names.sites.len() as u32;
            names.sites.push(site(line, SiteKind::Field(FieldId(v))));
        }
    }
    for l in 0..shape.locks + shape.violations {
        names.locks.push(Lock {
            object: ObjectId(u64::from(l) + 1),
            name: format!("L{l}"),
        });
    }
    for t in 0..shape.threads {
        let parent = (t > 0).then_some(ThreadId(0));
        names.threads.push(Thread {
            name: format!("T{t}"),
            parent,
            spawn_index: t.saturating_sub(1),
            ..Thread::default()
        });
    }
    names
}

/// One event in the STD text format of other tools: `T0|r(V1)|345`. None for events that the format has no word for.
pub fn std_line(names: &Names, event: &Event) -> Option<String> {
    let variable = |l: LocationId| {
        names
            .field_of(l)
            .map_or_else(|| format!("V{}", l.0), |f| names.field(f).name.clone())
    };
    let lock = |l: LockId| names.lock(l).name.clone();
    let op = match event.op {
        Op::Read { location, .. } => format!("r({})", variable(location)),
        Op::Write { location, .. } => format!("w({})", variable(location)),
        Op::Acquire { lock: l, .. } => format!("acq({})", lock(l)),
        Op::Release { lock: l, .. } => format!("rel({})", lock(l)),
        Op::Fork { child } => format!("fork(T{})", child.0),
        Op::Join { child, .. } => format!("join(T{})", child.0),
        Op::UnitBegin => "begin()".to_owned(),
        Op::UnitEnd => "end()".to_owned(),
        _ => return None,
    };
    Some(format!("T{}|{op}|{}", event.thread.0, event.site.0))
}
