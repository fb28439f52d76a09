//! Atomic sets: which locations are consistent only together, and what the engine must know of a location at every
//! access, worked out once per location.
//!
//! By default the plain instance fields of an object are one set, the plain static fields of a class another, the
//! elements of an array a third. A volatile or final field stands alone; the state of a modelled object is one set, and
//! so are all variables of an imported trace. `@AtomicSet("name")` and the settings name sets of their own.

use crate::units::{UnitSettings, matches_pattern};
use ravel_trace::names::{Location, SiteKind, flags};
use ravel_trace::origin::is_platform;
use ravel_trace::{ClassId, FieldId, LocationId, Names, ObjectId, SiteId};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// An atomic set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct SetId(pub u32);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum SetKey {
    Object(ObjectId),
    Class(ClassId),
    Array(ObjectId),
    Modelled(ObjectId),
    Single(LocationId),
    Named(Option<ObjectId>, String),
    Imported,
}

/// What sort of cell a location is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellKind {
    /// A field of an object.
    Instance,
    /// A static field.
    Static,
    /// An element of an array.
    Element,
    /// The state of a modelled object: an atomic, a concurrent collection.
    Modelled,
    /// A variable of an imported trace.
    Imported,
}

/// What is known of a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Its atomic set.
    pub set: SetId,
    /// The class that declares the field; none for elements and imported variables.
    pub class: Option<ClassId>,
    /// What sort.
    pub kind: CellKind,
    /// Accesses to it are themselves synchronisation.
    pub synchronizing: bool,
    /// Some access to it is synchronisation by its [mode](ravel_trace::AccessMode).
    pub by_mode: bool,
    /// Marked `@NotAtomic`: accesses to it belong to no unit and race on purpose.
    pub exempt: bool,
    /// What a program may ask of a lock. Only what a unit asked before can be out of date: that it sees a lock held, or gives one up, is no
    /// anomaly.
    pub lock_state: bool,
    /// The object it is part of.
    pub object: Option<ObjectId>,
    /// Proven to be free of races.
    pub race_free: bool,
    /// What `@GuardedBy` says of it.
    pub word: Option<Word>,
    /// The name of its atomic set, if it has one.
    pub set_name: Option<SetName>,
}

/// The name of an atomic set, as a number: a few are compared at every access of a unit that is declared for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SetName(u64);

impl SetName {
    /// The name's number.
    pub fn of(name: &str) -> SetName {
        let mut hasher = FxHasher::default();
        name.hash(&mut hasher);
        SetName(hasher.finish())
    }
}

/// Which lock a cell is declared to be guarded by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// That of its object.
    This,
    /// One that the annotation names by a field, a method or a class. What object that is the trace does not say; but
    /// it is one and the same for all cells of this number.
    Other(u32),
}

/// The cells of all locations seen so far.
#[derive(Debug, Default)]
pub struct Cells {
    cells: Vec<Cell>,
    /// What the trace calls each of them.
    named: Vec<LocationId>,
    /// Where each of the trace's locations is in both; `u32::MAX` before its first access.
    numbers: Vec<u32>,
    sets: FxHashMap<SetKey, SetId>,
    words: FxHashMap<(Option<ObjectId>, ClassId, String), u32>,
}

/// Whether a list of annotations has one of this simple name.
pub fn annotated(annotations: &[String], name: &str) -> bool {
    annotations.iter().any(|a| a.split('(').next() == Some(name))
}

/// The argument of an annotation, without quotes.
pub fn annotation_value<'a>(annotations: &'a [String], name: &str) -> Option<&'a str> {
    annotations.iter().find_map(|a| {
        let value = a.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?;
        Some(value.trim_matches('"'))
    })
}

impl Cells {
    /// The number that a location of the trace has in this pass, and what is known of it. Locations are numbered anew in the
    /// order of their first accesses: tables that analyses keep are as long as there are locations that matter.
    #[inline]
    pub fn get(&mut self, names: &Names, settings: &UnitSettings, location: LocationId) -> (LocationId, Cell) {
        if let Some(&number) = self.numbers.get(location.index())
            && number != u32::MAX
        {
            return (LocationId(number), self.cells[number as usize]);
        }
        self.describe(names, settings, location)
    }

    /// Notes an access that is synchronisation by its mode.
    pub fn synchronizes_by_mode(&mut self, location: LocationId) {
        if let Some(cell) = self.cells.get_mut(location.index()) {
            cell.by_mode = true;
        }
    }

    /// Whether accesses to a location of this pass may order threads.
    pub fn is_ordering(&self, location: LocationId) -> bool {
        self.seen(location)
            .is_some_and(|cell| cell.synchronizing || cell.by_mode)
    }

    /// What is known of a location of this pass.
    pub fn seen(&self, location: LocationId) -> Option<&Cell> {
        self.cells.get(location.index())
    }

    /// What the trace calls a location of this pass.
    pub fn named(&self, location: LocationId) -> LocationId {
        self.named[location.index()]
    }

    #[cold]
    fn describe(&mut self, names: &Names, settings: &UnitSettings, location: LocationId) -> (LocationId, Cell) {
        let (kind, object, field) = match names.locations[location.index()] {
            Location::Field(object, field) => (CellKind::Instance, Some(object), Some(field)),
            Location::Entry(object, field, _) => (CellKind::Modelled, Some(object), Some(field)),
            Location::Static(field) => (CellKind::Static, None, Some(field)),
            Location::Element(object, _) => (CellKind::Element, Some(object), None),
            Location::Named(field) => (CellKind::Imported, None, Some(field)),
        };
        let synchronizing = names.is_synchronizing(location);
        let class = match kind {
            CellKind::Imported | CellKind::Element => None,
            _ => field.map(|f| names.field(f).class),
        };
        let platform = class.is_some_and(|c| names.classes.get(c.index()).is_some_and(|c| is_platform(&c.name)));
        let kind = match kind {
            CellKind::Instance if synchronizing && platform => CellKind::Modelled,
            other => other,
        };
        let key = Self::key(names, settings, location, kind, object, field, synchronizing);
        let set_name = match &key {
            SetKey::Named(_, name) => Some(SetName::of(name)),
            _ => None,
        };
        let next = SetId(u32::try_from(self.sets.len()).expect("fewer than 2^32 atomic sets"));
        let set = *self.sets.entry(key).or_insert(next);
        let exempt = field.is_some_and(|f| {
            let field = names.field(f);
            annotated(&field.annotations, "NotAtomic")
                || settings
                    .not_atomic
                    .iter()
                    .any(|p| matches_pattern(p, &names.field_text(f)))
        });
        let word = field.and_then(|f| self.word(names, f, object));
        let cell = Cell {
            set,
            class,
            kind,
            synchronizing,
            by_mode: false,
            exempt,
            lock_state: synchronizing && names.is_lock_state(location),
            object,
            race_free: field.is_some_and(|field| settings.focus.is_race_free(names, field)),
            word,
            set_name,
        };
        if self.numbers.len() <= location.index() {
            self.numbers.resize(location.index() + 1, u32::MAX);
        }
        let number = LocationId::from(self.cells.len());
        self.numbers[location.index()] = number.0;
        self.named.push(location);
        self.cells.push(cell);
        (number, cell)
    }

    fn word(&mut self, names: &Names, field: FieldId, object: Option<ObjectId>) -> Option<Word> {
        let field = names.field(field);
        let guard = annotation_value(&field.annotations, "GuardedBy")?;
        if object.is_some() && (guard == "this" || guard.ends_with(".this")) {
            return Some(Word::This);
        }
        // A class is one object for all that it guards, a field or a method one for each object that has it.
        let of = object.filter(|_| !guard.ends_with(".class"));
        let next = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        let number = self.words.entry((of, field.class, guard.to_owned())).or_insert(next);
        Some(Word::Other(*number))
    }

    fn key(
        names: &Names,
        settings: &UnitSettings,
        location: LocationId,
        kind: CellKind,
        object: Option<ObjectId>,
        field: Option<FieldId>,
        synchronizing: bool,
    ) -> SetKey {
        if let Some(field) = field {
            if let Some(name) = annotation_value(&names.field(field).annotations, "AtomicSet") {
                return SetKey::Named(object, name.to_owned());
            }
            let full = names.field_text(field);
            let declared = settings
                .atomic_sets
                .iter()
                .find(|s| s.fields.iter().any(|p| matches_pattern(p, &full)));
            if let Some(set) = declared {
                return SetKey::Named(object, set.name.clone());
            }
        }
        let is_final = field.is_some_and(|f| names.field(f).flags & flags::FINAL != 0);
        match (kind, object) {
            (CellKind::Imported, _) => SetKey::Imported,
            (CellKind::Modelled, Some(object)) => SetKey::Modelled(object),
            (CellKind::Element, Some(object)) => SetKey::Array(object),
            _ if synchronizing || is_final => SetKey::Single(location),
            (CellKind::Instance, Some(object)) => SetKey::Object(object),
            _ => field.map_or(SetKey::Single(location), |f| SetKey::Class(names.field(f).class)),
        }
    }
}

/// On what a write depends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guard {
    /// On nothing.
    None,
    /// Takes place only if the location is in a state expected: it fails rather than lose another thread's write.
    Expected,
    /// Takes place only if the location still has the value that the caller names.
    Compared,
}

/// On what the writes at a site depend.
pub fn guard_at(names: &Names, site: SiteId) -> Guard {
    let Some(SiteKind::Call(call)) = names.sites.get(site.index()).map(|s| &s.what) else {
        return Guard::None;
    };
    let method = call.rsplit('.').next().unwrap_or("");
    let method = method.split('(').next().unwrap_or("");
    if method.starts_with("compareAnd") || method.starts_with("weakCompareAnd") {
        Guard::Compared
    } else if method.contains("ompareAnd")
        || matches!(method, "putIfAbsent" | "replace" | "computeIfAbsent" | "attemptMark")
    {
        Guard::Expected
    } else {
        Guard::None
    }
}
