//! Traces in memory: for tests, and for small traces that are looked at more than once.
//!
//! [`MemoryTrace::parse`] reads the [text form](crate::text) in which tests write their traces; [`Builder`] makes one
//! event by event.

use rustc_hash::FxHashMap;

use crate::event::{Event, Mode, Op, Value};
use crate::ids::{ClassId, FieldId, LocationId, LockId, MethodId, ObjectId, SiteId, SyncId, ThreadId};
use crate::names::{Class, Field, Location, Lock, Method, Names, Site, SiteKind, Sync, Thread, flags};
use crate::source::{Source, SourceError};
use crate::text::{self, TextError};

/// A trace in memory. As a [`Source`] it delivers its events from the first on; [`rewind`](Self::rewind) starts over.
#[derive(Debug, Default)]
pub struct MemoryTrace {
    names: Names,
    events: Vec<Event>,
    next: usize,
}

impl MemoryTrace {
    /// Made of parts.
    pub fn new(names: Names, events: Vec<Event>) -> Self {
        MemoryTrace { names, events, next: 0 }
    }

    /// Reads the text form described in [`text`](crate::text).
    pub fn parse(text: &str) -> Result<Self, TextError> {
        text::parse(text)
    }

    /// Reads a trace in STD form.
    pub fn from_std(text: &str) -> Result<Self, TextError> {
        crate::std_text::parse(text)
    }

    /// All that is left of another source.
    pub fn collect(source: &mut dyn Source) -> Result<Self, SourceError> {
        let mut events = Vec::new();
        while let Some(event) = source.next_event()? {
            events.push(event);
        }
        Ok(MemoryTrace::new(source.names().clone(), events))
    }

    /// All events in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The tables, to be changed (flags, annotations).
    pub fn names_mut(&mut self) -> &mut Names {
        &mut self.names
    }

    /// Starts over.
    pub fn rewind(&mut self) {
        self.next = 0;
    }
}

impl Source for MemoryTrace {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        let event = self.events.get(self.next).copied();
        self.next += usize::from(event.is_some());
        Ok(event)
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn again(&mut self) -> Option<Box<dyn Source + '_>> {
        Some(Box::new(Again {
            names: &self.names,
            events: self.events.iter(),
        }))
    }
}

/// A second, independent reading of a trace in memory.
struct Again<'a> {
    names: &'a Names,
    events: std::slice::Iter<'a, Event>,
}

impl Source for Again<'_> {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        Ok(self.events.next().copied())
    }

    fn names(&self) -> &Names {
        self.names
    }
}

/// Makes a [`MemoryTrace`], finding or making ids by name.
#[derive(Debug)]
pub struct Builder {
    names: Names,
    events: Vec<Event>,
    threads: FxHashMap<String, ThreadId>,
    children: FxHashMap<ThreadId, u32>,
    positions: Vec<u32>,
    classes: FxHashMap<String, ClassId>,
    methods: FxHashMap<(ClassId, String), MethodId>,
    fields: FxHashMap<(ClassId, String), FieldId>,
    objects: FxHashMap<String, ObjectId>,
    locations: FxHashMap<Location, LocationId>,
    locks: FxHashMap<ObjectId, LockId>,
    syncs: FxHashMap<ObjectId, SyncId>,
    sites: FxHashMap<(MethodId, u32, Option<FieldId>, u8), SiteId>,
    /// The methods each thread is in.
    stacks: Vec<Vec<MethodId>>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

impl Builder {
    /// Nothing yet but the unknown class, method and site.
    pub fn new() -> Self {
        let mut builder = Builder {
            names: Names::default(),
            events: Vec::new(),
            threads: FxHashMap::default(),
            children: FxHashMap::default(),
            positions: Vec::new(),
            classes: FxHashMap::default(),
            methods: FxHashMap::default(),
            fields: FxHashMap::default(),
            objects: FxHashMap::default(),
            locations: FxHashMap::default(),
            locks: FxHashMap::default(),
            syncs: FxHashMap::default(),
            sites: FxHashMap::default(),
            stacks: Vec::new(),
        };
        let class = builder.class("");
        builder.method(class, "", "", 0);
        builder.names.sites.push(Site::default());
        builder
    }

    /// The thread of this name.
    pub fn thread(&mut self, name: &str) -> ThreadId {
        if let Some(thread) = self.threads.get(name) {
            return *thread;
        }
        let thread = ThreadId::from(self.names.threads.len());
        self.names.threads.push(Thread {
            name: name.to_string(),
            ..Thread::default()
        });
        self.threads.insert(name.to_string(), thread);
        self.positions.push(0);
        self.stacks.push(Vec::new());
        thread
    }

    /// The class of this name.
    pub fn class(&mut self, name: &str) -> ClassId {
        if let Some(class) = self.classes.get(name) {
            return *class;
        }
        let class = ClassId::from(self.names.classes.len());
        self.names.classes.push(Class {
            name: name.to_string(),
            ..Class::default()
        });
        self.classes.insert(name.to_string(), class);
        class
    }

    /// The method of this name and descriptor; the flags count when it is first named.
    pub fn method(&mut self, class: ClassId, name: &str, descriptor: &str, flags: u16) -> MethodId {
        let key = (class, format!("{name}{descriptor}"));
        if let Some(method) = self.methods.get(&key) {
            return *method;
        }
        let method = MethodId::from(self.names.methods.len());
        let (name, descriptor) = (name.to_string(), descriptor.to_string());
        self.names.methods.push(Method {
            class,
            name,
            descriptor,
            flags,
            annotations: vec![],
        });
        self.methods.insert(key, method);
        method
    }

    /// The field of this name; the flags are added to those it has.
    pub fn field(&mut self, class: ClassId, name: &str, flags: u16) -> FieldId {
        let next = FieldId::from(self.names.fields.len());
        let field = *self.fields.entry((class, name.to_string())).or_insert(next);
        if field == next {
            let (name, descriptor) = (name.to_string(), "I".to_string());
            self.names.fields.push(Field {
                class,
                name,
                descriptor,
                flags: 0,
                annotations: vec![],
            });
        }
        self.names.fields[field.index()].flags |= flags;
        field
    }

    /// The object of this name.
    pub fn object(&mut self, name: &str) -> ObjectId {
        let next = ObjectId(self.objects.len() as u64 + 1);
        *self.objects.entry(name.to_string()).or_insert(next)
    }

    /// The id of a memory cell.
    pub fn location(&mut self, location: Location) -> LocationId {
        *self.locations.entry(location).or_insert_with(|| {
            self.names.locations.push(location);
            LocationId::from(self.names.locations.len() - 1)
        })
    }

    /// A variable that belongs to no object.
    pub fn variable(&mut self, name: &str) -> LocationId {
        let class = self.class("");
        let field = self.field(class, name, flags::NAMED);
        self.location(Location::Named(field))
    }

    /// The lock of the object of this name.
    pub fn lock(&mut self, name: &str) -> LockId {
        let object = self.object(name);
        *self.locks.entry(object).or_insert_with(|| {
            self.names.locks.push(Lock {
                object,
                name: name.to_string(),
            });
            LockId::from(self.names.locks.len() - 1)
        })
    }

    /// The synchronisation object of this name.
    pub fn sync(&mut self, name: &str) -> SyncId {
        let object = self.object(name);
        *self.syncs.entry(object).or_insert_with(|| {
            self.names.syncs.push(Sync {
                object,
                name: name.to_string(),
            });
            SyncId::from(self.names.syncs.len() - 1)
        })
    }

    /// The site of an operation on this line, in the method the thread is in.
    pub fn site(&mut self, thread: ThreadId, line: u32, op: &Op) -> SiteId {
        let method = self
            .stacks
            .get(thread.index())
            .and_then(|stack| stack.last())
            .copied()
            .unwrap_or_default();
        let field = op.location().and_then(|location| self.names.field_of(location));
        let what = match op {
            Op::Read { .. } | Op::Write { .. } | Op::Update { .. } => {
                field.map_or_else(|| SiteKind::Element("[I".into()), SiteKind::Field)
            }
            Op::Acquire { .. } | Op::Release { .. } | Op::Wait { .. } | Op::Resume { .. } | Op::Notify { .. } => {
                SiteKind::Lock
            }
            Op::Enter { .. } | Op::Exit { .. } | Op::Returned { .. } => SiteKind::Method,
            Op::Call => SiteKind::Call(String::new()),
            _ => SiteKind::Unknown,
        };
        let sort = match what {
            SiteKind::Unknown => 0,
            SiteKind::Lock => 1,
            SiteKind::Method => 2,
            _ => 3,
        };
        *self.sites.entry((method, line, field, sort)).or_insert_with(|| {
            self.names.sites.push(Site {
                method,
                bci: line,
                line,
                what,
            });
            SiteId::from(self.names.sites.len() - 1)
        })
    }

    /// Appends an event that happens on `line`.
    pub fn push(&mut self, thread: ThreadId, line: u32, op: Op) {
        if let Op::Enter { method } = op {
            // The call is in the caller; everything up to the exit is in the method.
            let site = self.site(thread, line, &op);
            self.stacks[thread.index()].push(method);
            return self.push_at(thread, site, op);
        }
        let site = self.site(thread, line, &op);
        match op {
            Op::Exit { .. } => {
                self.stacks[thread.index()].pop();
            }
            Op::Fork { child } => {
                let count = self.children.entry(thread).or_default();
                let entry = &mut self.names.threads[child.index()];
                entry.parent = Some(thread);
                entry.spawn_index = *count;
                *count += 1;
            }
            _ => {}
        }
        self.push_at(thread, site, op);
    }

    fn push_at(&mut self, thread: ThreadId, site: SiteId, op: Op) {
        let position = &mut self.positions[thread.index()];
        self.events.push(Event {
            thread,
            position: *position,
            site,
            op,
        });
        *position += 1;
    }

    /// The method the thread entered last and has not left.
    pub fn current_method(&self, thread: ThreadId) -> Option<MethodId> {
        self.stacks.get(thread.index())?.last().copied()
    }

    /// A read of a variable.
    pub fn read(&mut self, thread: &str, variable: &str, line: u32) {
        let (thread, location) = (self.thread(thread), self.variable(variable));
        self.push(
            thread,
            line,
            Op::Read {
                location,
                value: Value::Unknown,
            },
        );
    }

    /// A write of a variable.
    pub fn write(&mut self, thread: &str, variable: &str, line: u32) {
        let (thread, location) = (self.thread(thread), self.variable(variable));
        self.push(
            thread,
            line,
            Op::Write {
                location,
                value: Value::Unknown,
            },
        );
    }

    /// An acquisition of a lock, alone.
    pub fn acquire(&mut self, thread: &str, lock: &str, line: u32) {
        let (thread, lock) = (self.thread(thread), self.lock(lock));
        self.push(
            thread,
            line,
            Op::Acquire {
                lock,
                mode: Mode::Exclusive,
            },
        );
    }

    /// A release of a lock held alone.
    pub fn release(&mut self, thread: &str, lock: &str, line: u32) {
        let (thread, lock) = (self.thread(thread), self.lock(lock));
        self.push(
            thread,
            line,
            Op::Release {
                lock,
                mode: Mode::Exclusive,
            },
        );
    }

    /// The tables so far.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The trace.
    pub fn finish(self) -> MemoryTrace {
        MemoryTrace::new(self.names, self.events)
    }
}
