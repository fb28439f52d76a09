//! Makes the [image](crate::image) of a trace, event by event.
//!
//! Which events a recorded event comes after is decided by the rules of [`ravel_trace::order`]. What is decided here is which
//! write a plain read saw, and what counts as one step.

use ravel_trace::names::Location;
use ravel_trace::order::{EdgeRule, EventEdges};
use ravel_trace::origin::is_platform;
use ravel_trace::{Event, LocationId, Mode, Names, Op, Value};
use rustc_hash::FxHashMap;

use crate::image::{Code, EventNo, Image, Item, NONE, ThreadSteps};
use crate::naming::thread_names;

/// An image in the making.
pub(crate) struct Builder {
    image: Image,
    /// The write before a write of the same location.
    previous: FxHashMap<EventNo, EventNo>,
    last_write: Vec<EventNo>,
    accessed_by: Vec<u32>,
    sections: FxHashMap<(u32, u32), EventNo>,
    edges: EventEdges<EventNo>,
    /// What a thread's first event comes after, if that event is not kept.
    carried: FxHashMap<u32, Vec<(EdgeRule, EventNo)>>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            image: Image {
                items: Vec::new(),
                codes: Vec::new(),
                links: Vec::new(),
                numbers: Vec::new(),
                threads: Vec::new(),
                after: FxHashMap::default(),
                initial: Vec::new(),
                synchronizing: Vec::new(),
                several_threads: Vec::new(),
                names: Vec::new(),
                odd_reads: 0,
                modelled: FxHashMap::default(),
                modelled_object: FxHashMap::default(),
            },
            previous: FxHashMap::default(),
            last_write: Vec::new(),
            accessed_by: Vec::new(),
            sections: FxHashMap::default(),
            edges: EventEdges::new(|rule| rule.is_hard() || rule == EdgeRule::Lock),
            carried: FxHashMap::default(),
        }
    }
}

const NOBODY: u32 = u32::MAX;

/// Writes of a location that are looked at to explain a read.
const LOOK_BACK: usize = 16;

impl Builder {
    /// Events kept so far.
    pub fn len(&self) -> usize {
        self.image.items.len()
    }

    /// Takes the next event.
    pub fn event(&mut self, event: &Event, names: &Names) {
        let mut before = self.edges.comes_after(event, names);
        let is_kept = match event.op {
            Op::Enter { .. } | Op::Exit { .. } | Op::Call | Op::UnitBegin | Op::UnitEnd | Op::Returned { .. } => {
                before.iter().any(|(rule, _)| *rule == EdgeRule::Class)
            }
            _ => true,
        };
        if !is_kept {
            if !before.is_empty() {
                self.carried.entry(event.thread.0).or_default().extend(before);
            }
            return;
        }
        if !self.carried.is_empty() {
            before.extend(self.carried.remove(&event.thread.0).into_iter().flatten());
        }
        let no = self.keep_event(event, &before, names);
        self.edges.happened(event, names, no);
        for &(rule, before) in &before {
            match rule {
                // The write that a volatile read comes after is the one that it saw, and the image has that as a link. A read
                // that is volatile by its mode alone may have seen a plain write.
                EdgeRule::Volatile => debug_assert!(
                    self.image.volatile_source(no) == Some(before) || names.access_mode(event.site).is_some()
                ),
                // Schedules may exchange the sections of a lock.
                EdgeRule::Lock => {}
                _ => self.image.after.entry(no).or_default().push(before),
            }
        }
        self.split_if_waited(no, &before);
    }

    fn keep_event(&mut self, event: &Event, before: &[(EdgeRule, EventNo)], names: &Names) -> EventNo {
        match event.op {
            Op::Read { location, value } => self.access(event, Code::Read, location, value, names),
            Op::Write { location, value } => self.access(event, Code::Write, location, value, names),
            Op::Update { location, value } => self.access(event, Code::Update, location, value, names),
            Op::Acquire { lock, mode } => {
                let code = if mode == Mode::Shared {
                    Code::AcquireShared
                } else {
                    Code::Acquire
                };
                self.begin_section(event, code, lock.0)
            }
            Op::Release { lock, mode } => {
                let code = if mode == Mode::Shared {
                    Code::ReleaseShared
                } else {
                    Code::Release
                };
                self.end_section(event, code, lock.0)
            }
            Op::Wait { lock } => self.end_section(event, Code::Wait, lock.0),
            Op::Resume { lock, .. } => {
                let has = |wanted| before.iter().any(|(rule, _)| *rule == wanted);
                let code = if has(EdgeRule::Notify) {
                    Code::Resume
                } else if has(EdgeRule::NotifyOther) {
                    Code::ResumeOther
                } else {
                    Code::ResumeUnnotified
                };
                self.begin_section(event, code, lock.0)
            }
            Op::Notify { lock, all } => {
                let code = if all { Code::NotifyAll } else { Code::Notify };
                self.keep(event, code, lock.0, 0)
            }
            Op::Send { sync } => self.keep(event, Code::Send, sync.0, 0),
            Op::Receive { sync } => self.keep(event, Code::Receive, sync.0, 0),
            Op::Fork { .. }
            | Op::Join { .. }
            | Op::Begin
            | Op::End { .. }
            | Op::Initialized { .. }
            | Op::Enter { .. }
            | Op::Exit { .. }
            | Op::Call
            | Op::UnitBegin
            | Op::UnitEnd
            | Op::Returned { .. } => self.keep(event, Code::Other, 0, 0),
        }
    }

    /// An operation that is several events at one position may have to wait in its middle (a barrier, a hand-over): if
    /// another thread had to do something after the step began, the rest becomes a step of its own.
    fn split_if_waited(&mut self, no: EventNo, before: &[(EdgeRule, EventNo)]) {
        let image = &self.image;
        let own = image.thread(no);
        let begun = image.events(image.step_of(no))[0];
        if begun == no {
            return;
        }
        if before.iter().any(|&(_, before)| before > begun) {
            let thread = &mut self.image.threads[own as usize];
            thread.starts.push(thread.events.len() as u32 - 1);
            self.image.numbers[no as usize] += 1;
        }
    }

    fn keep(&mut self, event: &Event, code: Code, operand: u32, value: u32) -> EventNo {
        let image = &mut self.image;
        let no = image.items.len() as EventNo;
        let index = event.thread.index();
        if image.threads.len() <= index {
            image.threads.resize_with(index + 1, ThreadSteps::default);
        }
        let thread = &mut image.threads[index];
        let last = thread.events.last().map(|&last| image.items[last as usize].position);
        let new_step = last != Some(event.position);
        if new_step {
            thread.starts.push(thread.events.len() as u32);
        }
        thread.events.push(no);
        image.numbers.push(thread.starts.len() as u32 - 1);
        image.items.push(Item {
            thread: event.thread.0,
            position: event.position,
            operand,
            value,
        });
        image.codes.push(code);
        image.links.push(NONE);
        no
    }

    fn access(&mut self, event: &Event, code: Code, location: LocationId, value: Value, names: &Names) -> EventNo {
        let index = location.index();
        for new in self.last_write.len()..=index {
            self.last_write.push(NONE);
            self.accessed_by.push(NOBODY);
            self.image.initial.push(0);
            self.image.several_threads.push(false);
            let synchronizing = new < names.locations.len() && names.is_synchronizing(LocationId(new as u32));
            self.image.synchronizing.push(synchronizing);
        }
        let by_call = names.access_mode(event.site).is_some();
        self.image.synchronizing[index] |= by_call;
        // The values of modelled state are what a call returned, not always what the state became.
        let value = if self.image.synchronizing[index] {
            0
        } else {
            fold(value)
        };
        let no = self.keep(event, code, location.0, value);
        let by = &mut self.accessed_by[index];
        self.image.several_threads[index] |= *by != NOBODY && *by != event.thread.0;
        *by = event.thread.0;
        let last = self.last_write[index];
        let seen = self.image.origin(last);
        self.image.links[no as usize] = match code {
            Code::Read => self.write_seen(location.0, value),
            Code::Update => seen,
            _ => {
                let before = if last == NONE {
                    self.image.initial[index]
                } else {
                    self.image.value(last)
                };
                if value != 0 && value == before { seen } else { no }
            }
        };
        if code.is_write() {
            self.previous.insert(no, last);
            self.last_write[index] = no;
        }
        no
    }

    /// The write that a read saw. Plain accesses of different threads may be merged in another order than they happened
    /// in; where values show that, the nearest earlier write of the value read is taken.
    fn write_seen(&mut self, location: u32, value: u32) -> EventNo {
        let last = self.last_write[location as usize];
        let initial = &mut self.image.initial[location as usize];
        if last == NONE && *initial == 0 {
            *initial = value;
        }
        let fits = |written: u32| value == 0 || written == 0 || written == value;
        let mut write = last;
        for _ in 0..LOOK_BACK {
            if write == NONE {
                let initial = self.image.initial[location as usize];
                if !fits(initial) {
                    break;
                }
                self.image.odd_reads += usize::from(last != NONE);
                return NONE;
            }
            if fits(self.image.value(write)) {
                self.image.odd_reads += usize::from(write != last);
                return self.image.origin(write);
            }
            write = self.previous.get(&write).copied().unwrap_or(NONE);
        }
        self.image.odd_reads += 1;
        self.image.origin(last)
    }

    fn begin_section(&mut self, event: &Event, code: Code, lock: u32) -> EventNo {
        let no = self.keep(event, code, lock, 0);
        self.sections.insert((event.thread.0, lock), no);
        no
    }

    fn end_section(&mut self, event: &Event, code: Code, lock: u32) -> EventNo {
        let no = self.keep(event, code, lock, 0);
        if let Some(begin) = self.sections.remove(&(event.thread.0, lock)) {
            self.image.links[begin as usize] = no;
            self.image.links[no as usize] = begin;
        }
        no
    }

    /// The trace has ended.
    pub fn finish(mut self, names: &Names) -> Image {
        if self.image.threads.len() < names.threads.len() {
            self.image
                .threads
                .resize_with(names.threads.len(), ThreadSteps::default);
        }
        for (location, place) in names.locations.iter().enumerate().take(self.image.synchronizing.len()) {
            let (Location::Field(object, field) | Location::Entry(object, field, _)) = *place else {
                continue;
            };
            let class = names
                .fields
                .get(field.index())
                .and_then(|f| names.classes.get(f.class.index()));
            if self.image.synchronizing[location] && class.is_some_and(|c| is_platform(&c.name)) {
                self.image.modelled.entry(object).or_default().push(location as u32);
                self.image.modelled_object.insert(location as u32, object);
            }
        }
        self.image.names = thread_names(names, self.image.threads.len());
        self.image
    }
}

/// A value as 32 bits, 0 for the unknown. Two different values fold to one with a chance of 2⁻³².
fn fold(value: Value) -> u32 {
    let (kind, bits) = match value {
        Value::Unknown => return 0,
        Value::Exact(v) => (1u64, v as u64),
        Value::Digest(d) => (2u64, u64::from(d)),
    };
    let mixed = (bits ^ kind.rotate_right(8)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 32) as u32).max(1)
}
