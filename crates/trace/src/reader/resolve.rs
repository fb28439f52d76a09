//! From records to events: what a record's numbers mean, given the tables and what the thread did before.

use super::intern::{Interner, chunk_key};
use super::tables::{Objects, Strays};
use crate::columns::{DecodedEntry, Record, ValueTag};
use crate::event::{Op, Value};
use crate::held::{Outcome, Reentrancy};
use crate::ids::{ClassId, FieldId, LocationId, LockId, MethodId, SiteId, ThreadId};
use crate::names::{Field, Location, Names, flags};
use crate::raw::{RawKind, STATE_FIELD_SHIFT, TABLE_OBJECT};

/// Counts of what a reader saw.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Events delivered.
    pub events: u64,
    /// Objects that a second thread was seen to use.
    pub shared_objects: u64,
    /// Inner acquisitions and releases left out.
    pub reentrant: u64,
    /// Releases of locks not seen to be taken, left out.
    pub unmatched_releases: u64,
    /// Waits not seen whole.
    pub unmatched_waits: u64,
}

/// What is known of one dictionary entry, and the last thing found for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryTarget {
    kind: RawKind,
    site: SiteId,
    what: What,
    last_key: u64,
    last_id: u32,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// A field of an object.
    Field(FieldId),
    /// A field of no object, already found.
    Single(LocationId),
    /// Anything else.
    Other,
}

/// A key that no object and no chunk has.
const NO_KEY: u64 = u64::MAX;

/// Objects are numbered below this, by the mask if the file says otherwise.
pub(crate) const OBJECT_MASK: u64 = (1 << STATE_FIELD_SHIFT) - 1;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Read,
    Write,
    Update,
}

/// Whether a record became no event, one, or two.
pub(crate) enum Resolved {
    Nothing,
    One(Op),
    Two(Op, Op),
}

/// Turns records into events.
pub(crate) struct Resolver {
    pub names: Names,
    pub objects: Objects,
    pub statistics: Statistics,
    strays: Strays,
    interner: Interner,
    /// How many of each the tables define; what lies behind them was added here.
    defined_threads: usize,
    defined_fields: usize,
    defined_methods: usize,
    defined_classes: usize,
}

impl Resolver {
    pub fn new(names: Names, objects: Objects) -> Self {
        Resolver {
            defined_threads: names.threads.len(),
            defined_fields: names.fields.len(),
            defined_methods: names.methods.len(),
            defined_classes: names.classes.len(),
            names,
            objects,
            statistics: Statistics::default(),
            strays: Strays::default(),
            interner: Interner::default(),
        }
    }

    pub fn thread(&mut self, raw: u64) -> ThreadId {
        self.strays.thread(raw, self.defined_threads, &mut self.names)
    }

    /// Prepares a block's dictionary. Gives no ids to locations: those follow the order of events.
    pub fn places(&mut self, entries: &[DecodedEntry], out: &mut Vec<EntryTarget>) {
        out.clear();
        for entry in entries {
            let defined = (entry.site as usize) < self.names.sites.len();
            let site = SiteId(if defined { entry.site } else { 0 });
            let what = match entry.kind {
                RawKind::Read | RawKind::Write | RawKind::Update => What::Field(self.field_of(entry.site)),
                _ => What::Other,
            };
            out.push(EntryTarget {
                kind: entry.kind,
                site,
                what,
                last_key: NO_KEY,
                last_id: 0,
            });
        }
    }

    fn field_of(&mut self, raw_site: u32) -> FieldId {
        match self
            .names
            .sites
            .get(raw_site as usize)
            .and_then(|site| site.what.field())
        {
            Some(field) => field,
            None => self.strays.field(1 << 32 | u64::from(raw_site), &mut self.names),
        }
    }

    fn state_field(&mut self, a: u64) -> FieldId {
        let raw = a >> STATE_FIELD_SHIFT;
        if raw < self.defined_fields as u64 {
            FieldId(raw as u32)
        } else {
            self.strays.field(raw, &mut self.names)
        }
    }

    fn method(&mut self, raw: u64) -> MethodId {
        if raw < self.defined_methods as u64 {
            MethodId(raw as u32)
        } else {
            self.strays.method(raw, &mut self.names)
        }
    }

    fn class(&mut self, raw: u64) -> ClassId {
        if raw < self.defined_classes as u64 {
            ClassId(raw as u32)
        } else {
            // The highest number is kept for the class of unknown fields.
            self.strays.class(raw.min(u64::MAX - 1), &mut self.names)
        }
    }

    #[inline]
    fn field_location(&mut self, place: &mut EntryTarget, object: u64) -> LocationId {
        let object = object & OBJECT_MASK;
        match place.what {
            What::Single(location) => location,
            What::Field(_) if place.last_key == object => LocationId(place.last_id),
            What::Field(field) => {
                let flags = self.names.fields.get(field.index()).map_or(0, |field| field.flags);
                if flags & (flags::STATIC | flags::NAMED) != 0 {
                    let location = if flags & flags::NAMED != 0 {
                        Location::Named(field)
                    } else {
                        Location::Static(field)
                    };
                    let location = self.interner.single(field, location, &mut self.names);
                    place.what = What::Single(location);
                    return location;
                }
                let location = self.interner.field(object, field, &mut self.names);
                (place.last_key, place.last_id) = (object, location.0);
                location
            }
            // Accesses to fields always have one; see `places`.
            What::Other => self.interner.field(object, FieldId(0), &mut self.names),
        }
    }

    #[inline]
    fn element_location(&mut self, place: &mut EntryTarget, a: u64) -> LocationId {
        let (array, index) = ((a >> 32) as u32, a as u32);
        let key = chunk_key(array, index);
        if place.last_key != key {
            (place.last_key, place.last_id) = (key, self.interner.chunk(key));
        }
        self.interner
            .element(place.last_id, TABLE_OBJECT + u64::from(array), index, &mut self.names)
    }

    fn state_location(&mut self, place: &mut EntryTarget, a: u64) -> LocationId {
        if place.last_key == a && a != NO_KEY {
            return LocationId(place.last_id);
        }
        let field = self.state_field(a);
        let is_static = |field: &Field| field.flags & flags::STATIC != 0;
        let location = if self.names.fields.get(field.index()).is_some_and(is_static) {
            self.interner.single(field, Location::Static(field), &mut self.names)
        } else {
            self.interner.field(a & OBJECT_MASK, field, &mut self.names)
        };
        (place.last_key, place.last_id) = (a, location.0);
        location
    }

    fn entry_location(&mut self, a: u64, key: u32) -> LocationId {
        let field = self.state_field(a);
        let object = a & OBJECT_MASK;
        if self.is_element(field) && (TABLE_OBJECT..TABLE_OBJECT + (1 << 32)).contains(&object) {
            // Through a handle or by its offset: the location that plain accesses are to.
            let chunk = self.interner.chunk(chunk_key((object - TABLE_OBJECT) as u32, key));
            return self.interner.element(chunk, object, key, &mut self.names);
        }
        self.interner.entry(a & OBJECT_MASK, field, key, &mut self.names)
    }

    /// Whether the entries of this state are elements of arrays themselves, not views of several bytes.
    fn is_element(&self, field: FieldId) -> bool {
        let Some(field) = self
            .names
            .fields
            .get(field.index())
            .filter(|field| field.name == "element")
        else {
            return false;
        };
        let class = self.names.classes.get(field.class.index());
        class.is_some_and(|class| {
            class.name == "sun.misc.Unsafe"
                || class.name.starts_with("java.lang.invoke.VarHandle") && class.name.ends_with("$Array")
        })
    }

    fn lock(&mut self, place: &mut EntryTarget, object: u64) -> LockId {
        let object = object & OBJECT_MASK;
        if place.last_key != object {
            let lock = self.interner.lock(object, &self.objects, &mut self.names);
            (place.last_key, place.last_id) = (object, lock.0);
        }
        LockId(place.last_id)
    }

    /// What an access does and to which location; none for any other record.
    #[inline]
    pub fn access(&mut self, record: &Record, place: &mut EntryTarget) -> Option<(Access, LocationId)> {
        use RawKind::*;
        Some(match place.kind {
            Read => (Access::Read, self.field_location(place, record.a)),
            Write => (Access::Write, self.field_location(place, record.a)),
            Update => (Access::Update, self.field_location(place, record.a)),
            ReadElement => (Access::Read, self.element_location(place, record.a)),
            WriteElement => (Access::Write, self.element_location(place, record.a)),
            ReadState => (Access::Read, self.state_location(place, record.a)),
            WriteState => (Access::Write, self.state_location(place, record.a)),
            UpdateState => (Access::Update, self.state_location(place, record.a)),
            ReadEntry => (Access::Read, self.entry_location(record.a, record.b as u32)),
            WriteEntry => (Access::Write, self.entry_location(record.a, record.b as u32)),
            UpdateEntry => (Access::Update, self.entry_location(record.a, record.b as u32)),
            _ => return None,
        })
    }

    /// What a record that is no access becomes.
    #[inline(never)]
    pub fn resolve(&mut self, record: &Record, place: &mut EntryTarget, held: &mut Reentrancy<LockId>) -> Resolved {
        match place.kind {
            RawKind::Enter => Resolved::One(Op::Enter {
                method: self.method(record.a),
            }),
            RawKind::Exit => Resolved::One(Op::Exit {
                method: self.method(record.a),
            }),
            RawKind::Returned => Resolved::One(Op::Returned {
                method: self.names.site(place.site).method,
                value: value(record),
            }),
            RawKind::Call => Resolved::One(Op::Call),
            RawKind::Share => {
                self.statistics.shared_objects += 1;
                Resolved::Nothing
            }
            _ => self.resolve_synchronization(record, place, held),
        }
    }

    fn resolve_synchronization(
        &mut self,
        record: &Record,
        place: &mut EntryTarget,
        held: &mut Reentrancy<LockId>,
    ) -> Resolved {
        if !place.kind.is_locking() {
            return Resolved::One(self.other_operation(record, place));
        }
        let lock = self.lock(place, record.a);
        match held.apply(place.kind, lock) {
            Outcome::One(change) => Resolved::One(change.of(lock)),
            Outcome::Two(first, second) => Resolved::Two(first.of(lock), second.of(lock)),
            Outcome::Inner => {
                self.statistics.reentrant += 1;
                Resolved::Nothing
            }
            Outcome::Unmatched(change) => {
                if matches!(place.kind, RawKind::Release | RawKind::ReleaseShared) {
                    self.statistics.unmatched_releases += 1;
                } else {
                    self.statistics.unmatched_waits += 1;
                }
                change.map_or(Resolved::Nothing, |change| Resolved::One(change.of(lock)))
            }
        }
    }

    fn other_operation(&mut self, record: &Record, place: &mut EntryTarget) -> Op {
        match place.kind {
            RawKind::Notify => Op::Notify {
                lock: self.lock(place, record.a),
                all: false,
            },
            RawKind::NotifyAll => Op::Notify {
                lock: self.lock(place, record.a),
                all: true,
            },
            RawKind::Fork => Op::Fork {
                child: self.thread(record.a),
            },
            RawKind::Join | RawKind::JoinLimited => Op::Join {
                child: self.thread(record.a),
                limited: place.kind == RawKind::JoinLimited,
            },
            RawKind::Begin => Op::Begin,
            RawKind::End => Op::End {
                exception: record.a != 0,
            },
            RawKind::Send => Op::Send {
                sync: self
                    .interner
                    .sync(record.a & OBJECT_MASK, &self.objects, &mut self.names),
            },
            RawKind::Receive => Op::Receive {
                sync: self
                    .interner
                    .sync(record.a & OBJECT_MASK, &self.objects, &mut self.names),
            },
            RawKind::Initialized => Op::Initialized {
                class: self.class(record.a),
            },
            RawKind::UnitBegin => Op::UnitBegin,
            _ => Op::UnitEnd,
        }
    }
}

/// The value that a record has.
fn value(record: &Record) -> Value {
    match record.tag {
        ValueTag::Exact => Value::Exact(record.b as i64),
        ValueTag::Digest => Value::Digest(record.b as u32),
        ValueTag::None => Value::Unknown,
    }
}

impl EntryTarget {
    /// Whether records here only order others.
    #[inline]
    pub fn is_clock(&self) -> bool {
        matches!(self.kind, RawKind::Mark | RawKind::Stamp)
    }

    /// The site.
    #[inline]
    pub fn site(&self) -> SiteId {
        self.site
    }
}
