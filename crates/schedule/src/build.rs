//! Makes the [image](crate::image) of a trace, event by event.
//!
//! This is the one place that decides what a recorded event depends on: which write a read saw, which notification ended
//! a wait, which sends a receive comes after, which class had to be initialised; and what counts as one step.

use std::collections::VecDeque;

use ravel_trace::names::Location;
use ravel_trace::{Event, LocationId, Mode, Names, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

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
    last_release: FxHashMap<u32, EventNo>,
    waiting: FxHashMap<u32, VecDeque<(u32, EventNo)>>,
    woken: FxHashMap<(u32, u32), EventNo>,
    last_notify: FxHashMap<u32, EventNo>,
    sends: FxHashMap<u32, Vec<(u32, EventNo)>>,
    last_receive: FxHashMap<(u32, u32), EventNo>,
    forks: FxHashMap<u32, EventNo>,
    initialized: FxHashMap<u32, EventNo>,
    used: FxHashSet<(u32, u32)>,
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
            last_release: FxHashMap::default(),
            waiting: FxHashMap::default(),
            woken: FxHashMap::default(),
            last_notify: FxHashMap::default(),
            sends: FxHashMap::default(),
            last_receive: FxHashMap::default(),
            forks: FxHashMap::default(),
            initialized: FxHashMap::default(),
            used: FxHashSet::default(),
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
        let class_edges = if self.initialized.is_empty() {
            Vec::new()
        } else {
            self.class_uses(event, names)
        };
        let thread = event.thread.0;
        let no = match event.op {
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
            Op::Wait { lock } => {
                let no = self.end_section(event, Code::Wait, lock.0);
                self.waiting.entry(lock.0).or_default().push_back((thread, no));
                no
            }
            Op::Resume { lock, notified } => self.resume(event, lock.0, notified),
            Op::Notify { lock, all } => {
                let no = self.keep(event, if all { Code::NotifyAll } else { Code::Notify }, lock.0, 0);
                self.last_notify.insert(lock.0, no);
                if let Some(queue) = self.waiting.get_mut(&lock.0) {
                    let count = if all { queue.len() } else { queue.len().min(1) };
                    for (waiter, _) in queue.drain(..count) {
                        self.woken.insert((lock.0, waiter), no);
                    }
                }
                no
            }
            Op::Fork { child } => {
                let no = self.keep(event, Code::Other, 0, 0);
                self.forks.insert(child.0, no);
                no
            }
            Op::Join { child } => {
                let no = self.keep(event, Code::Other, 0, 0);
                let last = self
                    .image
                    .threads
                    .get(child.index())
                    .and_then(|t| t.events.last().copied());
                if let Some(last) = last.filter(|_| child.0 != thread) {
                    self.edge(last, no);
                }
                no
            }
            Op::Begin | Op::End { .. } => self.keep(event, Code::Other, 0, 0),
            Op::Send { sync } => {
                let no = self.keep(event, Code::Send, sync.0, 0);
                let sends = self.sends.entry(sync.0).or_default();
                match sends.iter_mut().find(|(t, _)| *t == thread) {
                    Some(last) => last.1 = no,
                    None => sends.push((thread, no)),
                }
                no
            }
            Op::Receive { sync } => {
                let no = self.keep(event, Code::Receive, sync.0, 0);
                let seen = self.last_receive.insert((thread, sync.0), no);
                let new: Vec<EventNo> = (self.sends.get(&sync.0).into_iter().flatten())
                    .filter(|&&(sender, send)| sender != thread && seen.is_none_or(|s| send > s))
                    .map(|&(_, send)| send)
                    .collect();
                for send in new {
                    self.edge(send, no);
                }
                no
            }
            Op::Initialized { class } => {
                let no = self.keep(event, Code::Other, 0, 0);
                self.initialized.insert(class.0, no);
                self.used.insert((thread, class.0));
                no
            }
            Op::Enter { .. } | Op::Exit { .. } | Op::UnitBegin | Op::UnitEnd => {
                if class_edges.is_empty() {
                    return;
                }
                self.keep(event, Code::Other, 0, 0)
            }
        };
        for before in class_edges {
            self.edge(before, no);
        }
        self.split_if_waited(no);
    }

    /// An operation that is several events at one position may have to wait in its middle (a barrier, a hand-over): if
    /// another thread had to do something after the step began, the rest becomes a step of its own.
    fn split_if_waited(&mut self, no: EventNo) {
        let image = &self.image;
        let own = image.thread(no);
        let begun = image.events(image.step_of(no))[0];
        if begun == no {
            return;
        }
        let release = if image.code(no).takes() {
            self.last_release.get(&image.operand(no))
        } else {
            None
        };
        let volatile = image.volatile_source(no);
        let mut needs = image.comes_after(no).iter().chain(&volatile).chain(release);
        if needs.any(|&before| before > begun && image.thread(before) != own) {
            let thread = &mut self.image.threads[own as usize];
            thread.starts.push(thread.events.len() as u32 - 1);
            self.image.numbers[no as usize] += 1;
        }
    }

    /// The initialisations that this event must come after: of classes that its thread has not used since.
    fn class_uses(&mut self, event: &Event, names: &Names) -> Vec<EventNo> {
        let site_class = names
            .sites
            .get(event.site.index())
            .filter(|_| event.site.0 != 0)
            .and_then(|site| names.methods.get(site.method.index()))
            .map(|method| method.class);
        let own_class = match event.op {
            Op::Read { location, .. } | Op::Write { location, .. } | Op::Update { location, .. } => {
                match names.locations.get(location.index()) {
                    Some(Location::Static(field)) => names.fields.get(field.index()).map(|f| f.class),
                    _ => None,
                }
            }
            Op::Enter { method } => names.methods.get(method.index()).map(|m| m.class),
            _ => None,
        };
        let mut edges = Vec::new();
        for class in [site_class, own_class].into_iter().flatten() {
            if let Some(&done) = self.initialized.get(&class.0)
                && self.used.insert((event.thread.0, class.0))
                && self.image.thread(done) != event.thread.0
            {
                edges.push(done);
            }
        }
        edges
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
        let first = thread.events.is_empty();
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
        if first && let Some(&fork) = self.forks.get(&event.thread.0) {
            self.edge(fork, no);
        }
        no
    }

    fn edge(&mut self, before: EventNo, after: EventNo) {
        self.image.after.entry(after).or_default().push(before);
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
        self.last_release.insert(lock, no);
        if let Some(begin) = self.sections.remove(&(event.thread.0, lock)) {
            self.image.links[begin as usize] = no;
            self.image.links[no as usize] = begin;
        }
        no
    }

    /// A resume that first come, first served does not explain (a time-out not noticed as such, a wake-up without
    /// cause) is taken for one that needs no notification, but still comes after the last one there was.
    fn resume(&mut self, event: &Event, lock: u32, notified: bool) -> EventNo {
        let thread = event.thread.0;
        let woken_by = self.woken.remove(&(lock, thread));
        let mut waited_since = None;
        if let Some(queue) = self.waiting.get_mut(&lock)
            && let Some(place) = queue.iter().position(|&(t, _)| t == thread)
        {
            waited_since = queue.remove(place).map(|(_, wait)| wait);
        }
        let explained = notified && woken_by.is_some();
        let code = if explained {
            Code::Resume
        } else {
            Code::ResumeUnnotified
        };
        let no = self.begin_section(event, code, lock);
        let before = match (notified, woken_by) {
            (true, Some(notify)) => Some(notify),
            (true, None) => self
                .last_notify
                .get(&lock)
                .copied()
                .filter(|&n| waited_since.is_some_and(|w| w < n)),
            (false, _) => None,
        };
        if let Some(before) = before {
            self.edge(before, no);
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
            if self.image.synchronizing[location] && class.is_some_and(|c| c.name.starts_with("java.")) {
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
