//! Units of work: which stretch of a thread an access belongs to.
//!
//! The three default kinds of DESIGN's words (critical section, method, compound) and what the user or the trace
//! declares. An access belongs to the top-most unit on its atomic set, as in AtomicSet, section 3, once among the certain
//! kinds (declared, section) and once among all; and to one transaction on everything, for the older notion of
//! atomicity ([`Owners::whole`]).
//!
//! Two facts shape this module. A trace has no receivers: whether an activation works on its own instance is judged by
//! its class being related to the field's class. And most activations own no access: a unit gets its number at its
//! first access, so that a million calls of getters on private objects cost nothing.

use crate::finding::UnitKind;
use crate::sets::{Cell, CellKind, SetId, annotated, is_platform};
use ravel_trace::names::flags;
use ravel_trace::{ClassId, LockId, MethodId, Names, ObjectId, SiteId, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// One activation of a unit, dense in order of first access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct UnitId(pub u32);

impl UnitId {
    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The user's word on units and sets. Patterns are full names with `*` for any run of characters.
#[derive(Clone, Debug)]
pub struct UnitSettings {
    /// Which kinds of unit are looked at.
    pub kinds: Vec<UnitKind>,
    /// Methods that are declared units, `shop.Stock.take`.
    pub units: Vec<String>,
    /// Methods and fields that are never part of a unit.
    pub not_atomic: Vec<String>,
    /// Atomic sets of fields.
    pub atomic_sets: Vec<AtomicSetSetting>,
    /// What is proven of the program.
    pub focus: crate::focus::Focus,
}

/// An atomic set named by the user.
#[derive(Clone, Debug)]
pub struct AtomicSetSetting {
    /// Its name.
    pub name: String,
    /// Patterns of full field names, `shop.Stock.items`.
    pub fields: Vec<String>,
}

impl Default for UnitSettings {
    fn default() -> Self {
        UnitSettings {
            kinds: vec![
                UnitKind::Section,
                UnitKind::Method,
                UnitKind::Compound,
                UnitKind::Declared,
            ],
            units: Vec::new(),
            not_atomic: Vec::new(),
            atomic_sets: Vec::new(),
            focus: crate::focus::Focus::default(),
        }
    }
}

/// Whether a name matches a pattern in which `*` stands for any run of characters.
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(tail) = name.strip_prefix(head) else {
        return false;
    };
    if rest.is_empty() {
        return true;
    }
    (0..=tail.len()).any(|i| tail.is_char_boundary(i) && matches_pattern(rest, &tail[i..]))
}

/// Where and when something happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct When {
    /// Number of the event in the trace.
    pub index: u64,
    /// The thread's position.
    pub position: u32,
}

/// What is known of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitInfo {
    /// Who.
    pub thread: ThreadId,
    /// The method that is the unit or in whose code it lies.
    pub method: Option<MethodId>,
    /// Where the unit begins, the site of its first lock or of its call.
    pub site: SiteId,
    /// First event.
    pub begin: When,
    /// Last event; none while it is open.
    pub end: Option<When>,
    /// Whether it is an execution of a method that is proven atomic.
    proven: bool,
}

/// What is known of all units that own an access.
#[derive(Debug, Default)]
pub struct UnitTable {
    infos: Vec<UnitInfo>,
}

impl UnitTable {
    /// What is known of a unit.
    #[inline]
    pub fn info(&self, unit: UnitId) -> &UnitInfo {
        &self.infos[unit.index()]
    }

    /// Whether a unit is an execution of a method that is proven atomic.
    pub fn is_proven(&self, owner: Owner) -> bool {
        owner.kind == UnitKind::Method && self.info(owner.unit).proven
    }

    /// How many units own an access.
    pub fn len(&self) -> usize {
        self.infos.len()
    }

    /// Whether no unit owns an access.
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }

    pub(crate) fn take_in(&mut self, born: &[UnitInfo], ended: &[(UnitId, When)]) {
        self.infos.extend_from_slice(born);
        for &(unit, end) in ended {
            self.infos[unit.index()].end = Some(end);
        }
    }
}

/// A unit and what makes it one for the access in hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owner {
    /// Which.
    pub unit: UnitId,
    /// Why.
    pub kind: UnitKind,
}

/// The units that an access belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Owners {
    /// Top-most unit of a certain kind (declared, section) on the access's atomic set.
    pub certain: Option<Owner>,
    /// Top-most unit of any kind on the access's atomic set.
    pub any: Option<Owner>,
    /// Outermost unit of any kind, on everything that it touches.
    pub whole: Option<Owner>,
}

#[derive(Clone, Copy, Debug)]
struct MethodTraits {
    class: ClassId,
    /// May be a unit on its own class's sets.
    unit: bool,
    /// May be a unit by what it calls or touches directly.
    caller: bool,
    declared: bool,
    entry_name: bool,
    platform: bool,
    is_static: bool,
    constructor: bool,
    synchronized: bool,
    proven: bool,
}

#[derive(Debug)]
struct Frame {
    method: MethodId,
    traits: MethodTraits,
    entry: bool,
    site: SiteId,
    begin: When,
    unit: Option<UnitId>,
    /// Sets of other classes that the method itself has touched.
    foreign: SmallVec<[SetId; 2]>,
}

#[derive(Debug)]
struct Section {
    lock: LockId,
    object: ObjectId,
    /// Locks taken inside that open no section of their own.
    members: SmallVec<[LockId; 2]>,
    /// How many frames there were when it began.
    depth: usize,
    site: SiteId,
    begin: When,
    unit: Option<UnitId>,
}

#[derive(Debug)]
struct Declared {
    site: SiteId,
    begin: When,
    unit: Option<UnitId>,
}

#[derive(Debug, Default)]
struct ThreadUnits {
    frames: Vec<Frame>,
    sections: Vec<Section>,
    declared: Vec<Declared>,
    open: Vec<UnitId>,
    /// Owning frame of a class's instance or static sets, valid until a frame comes or goes.
    cache: SmallVec<[(ClassId, bool, Option<usize>); 8]>,
}

/// Frames beyond this remember no further foreign sets: a method that touches so many is not one step on any.
const FOREIGN_LIMIT: usize = 16;

/// A place to allocate a unit from.
#[derive(Clone, Copy)]
enum Slot {
    Declared(usize),
    Section(usize),
    Frame(usize),
}

/// The units of all threads.
#[derive(Debug, Default)]
pub struct Units {
    threads: Vec<ThreadUnits>,
    next: u32,
    /// What has happened to units since the engine last asked.
    pub(crate) born: Vec<UnitInfo>,
    pub(crate) ends: Vec<(UnitId, When)>,
    methods: Vec<Option<MethodTraits>>,
    class_ids: FxHashMap<String, ClassId>,
    related: FxHashMap<(ClassId, ClassId), bool>,
    section: bool,
    method: bool,
    compound: bool,
    declared: bool,
    assumed_seen: bool,
}

impl Units {
    /// Looks at the kinds that the settings name.
    pub fn new(settings: &UnitSettings) -> Self {
        let has = |kind| settings.kinds.contains(&kind);
        Units {
            section: has(UnitKind::Section),
            method: has(UnitKind::Method),
            compound: has(UnitKind::Compound),
            declared: has(UnitKind::Declared),
            ..Units::default()
        }
    }

    /// Whether any unit of an assumed kind is possible: without activations there is none.
    #[inline]
    pub fn assumed_possible(&self) -> bool {
        self.assumed_seen
    }

    #[inline]
    pub(crate) fn ensure(&mut self, thread: ThreadId) {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, ThreadUnits::default);
        }
    }

    fn traits(&mut self, names: &Names, settings: &UnitSettings, id: MethodId) -> MethodTraits {
        if let Some(Some(traits)) = self.methods.get(id.index()) {
            return *traits;
        }
        let method = names.method(id);
        let class = names.classes.get(method.class.index());
        let class_name = class.map_or("", |c| c.name.as_str());
        let full = format!("{class_name}.{}", method.name);
        let constructor = method.name == "<init>";
        let initializer = method.name == "<clinit>";
        let lambda = method.name.starts_with("lambda$");
        let exempt = annotated(&method.annotations, "NotAtomic")
            || class.is_some_and(|c| annotated(&c.annotations, "NotAtomic"))
            || settings.not_atomic.iter().any(|p| matches_pattern(p, &full));
        let unshared =
            class.is_some_and(|c| annotated(&c.annotations, "NotThreadSafe") || annotated(&c.annotations, "Immutable"));
        let caller = !exempt && !constructor && !initializer;
        let traits = MethodTraits {
            class: method.class,
            unit: caller && !unshared && method.flags & (flags::PRIVATE | flags::SYNTHETIC) == 0 && !lambda,
            caller,
            declared: annotated(&method.annotations, "UnitOfWork")
                || settings.units.iter().any(|p| matches_pattern(p, &full)),
            entry_name: initializer
                || lambda
                || matches!(
                    method.name.as_str(),
                    "main" | "run" | "call" | "compute" | "get" | "accept" | "apply"
                ),
            platform: is_platform(class_name),
            is_static: method.flags & flags::STATIC != 0,
            constructor,
            synchronized: method.flags & flags::SYNCHRONIZED != 0,
            proven: settings.focus.is_atomic(names, id),
        };
        if self.methods.len() <= id.index() {
            self.methods.resize(id.index() + 1, None);
        }
        self.methods[id.index()] = Some(traits);
        traits
    }

    /// A method begins.
    pub(crate) fn enter(
        &mut self,
        names: &Names,
        settings: &UnitSettings,
        thread: ThreadId,
        method: MethodId,
        site: SiteId,
        begin: When,
    ) {
        let traits = self.traits(names, settings, method);
        self.assumed_seen |= self.method || self.compound;
        let units = &mut self.threads[thread.index()];
        // A thread's entry point, possibly reached through the platform's own code (pools, futures).
        let outermost = units.frames.iter().all(|f| f.entry || f.traits.platform);
        // `get`, `accept` and `apply` are entry points only where a pool calls them, not as a thread's first frame
        // of a program that has getters of that name.
        let functional = matches!(names.method(method).name.as_str(), "get" | "accept" | "apply");
        let entry = outermost && traits.entry_name && (!functional || units.frames.iter().any(|f| f.traits.platform));
        units.cache.clear();
        units.frames.push(Frame {
            method,
            traits,
            entry,
            site,
            begin,
            unit: None,
            foreign: SmallVec::new(),
        });
    }

    /// A method is left; the units that end go to `ended`.
    pub(crate) fn exit(&mut self, thread: ThreadId, method: MethodId, end: When, ended: &mut Vec<UnitId>) {
        let units = &mut self.threads[thread.index()];
        // What was entered and never left because an exception flew past ends here as well.
        let Some(depth) = units.frames.iter().rposition(|f| f.method == method) else {
            return;
        };
        units.cache.clear();
        while units.frames.len() > depth {
            if let Some(unit) = units.frames.pop().and_then(|f| f.unit) {
                Self::close(&mut self.ends, &mut units.open, unit, end, ended);
            }
        }
    }

    fn close(ends: &mut Vec<(UnitId, When)>, open: &mut Vec<UnitId>, unit: UnitId, end: When, ended: &mut Vec<UnitId>) {
        if let Some(i) = open.iter().rposition(|u| *u == unit) {
            open.remove(i);
            ends.push((unit, end));
            ended.push(unit);
        }
    }

    /// A lock is taken.
    pub(crate) fn acquire(&mut self, names: &Names, thread: ThreadId, lock: LockId, site: SiteId, begin: When) {
        let units = &mut self.threads[thread.index()];
        let depth = units.frames.len();
        if let Some(outer) = units.sections.last_mut() {
            let inner = units.frames.last();
            let outer_class = outer
                .depth
                .checked_sub(1)
                .and_then(|i| units.frames.get(i))
                .map(|f| f.traits.class);
            // Another object's own unit: reached by a call, into a synchronised method or another class.
            let own = depth > outer.depth
                && inner.is_some_and(|f| f.traits.synchronized || Some(f.traits.class) != outer_class);
            if !own {
                outer.members.push(lock);
                return;
            }
        }
        let object = names.lock(lock).object;
        units.sections.push(Section {
            lock,
            object,
            members: SmallVec::new(),
            depth,
            site,
            begin,
            unit: None,
        });
    }

    /// A lock is given up.
    pub(crate) fn release(
        &mut self,
        names: &Names,
        thread: ThreadId,
        lock: LockId,
        end: When,
        ended: &mut Vec<UnitId>,
    ) {
        let units = &mut self.threads[thread.index()];
        if let Some(i) = units.sections.iter().rposition(|s| s.lock == lock) {
            if let Some(unit) = units.sections[i].unit.take() {
                Self::close(&mut self.ends, &mut units.open, unit, end, ended);
            }
            if units.sections[i].members.is_empty() {
                units.sections.remove(i);
            } else {
                // Hand over hand: what is still held goes on as a section of its own.
                let section = &mut units.sections[i];
                section.lock = section.members.remove(0);
                section.object = names.lock(section.lock).object;
                section.begin = end;
            }
            return;
        }
        for section in units.sections.iter_mut().rev() {
            if let Some(i) = section.members.iter().rposition(|m| *m == lock) {
                section.members.remove(i);
                return;
            }
        }
    }

    /// A unit declared by the trace begins.
    pub(crate) fn begin_declared(&mut self, thread: ThreadId, site: SiteId, begin: When) {
        self.threads[thread.index()].declared.push(Declared {
            site,
            begin,
            unit: None,
        });
    }

    /// The most recent unit declared by the trace ends.
    pub(crate) fn end_declared(&mut self, thread: ThreadId, end: When, ended: &mut Vec<UnitId>) {
        let units = &mut self.threads[thread.index()];
        if let Some(unit) = units.declared.pop().and_then(|d| d.unit) {
            Self::close(&mut self.ends, &mut units.open, unit, end, ended);
        }
    }

    /// The thread waits, sleeps or starts another: every open unit ends and begins anew.
    pub(crate) fn split(&mut self, thread: ThreadId, at: When, ended: &mut Vec<UnitId>) {
        let units = &mut self.threads[thread.index()];
        for frame in &mut units.frames {
            frame.unit = None;
            frame.begin = at;
        }
        for section in &mut units.sections {
            section.unit = None;
            section.begin = at;
        }
        for declared in &mut units.declared {
            declared.unit = None;
            declared.begin = at;
        }
        while let Some(&unit) = units.open.last() {
            Self::close(&mut self.ends, &mut units.open, unit, at, ended);
        }
    }

    /// The thread has ended, with all that it had open.
    pub(crate) fn end(&mut self, thread: ThreadId, at: When, ended: &mut Vec<UnitId>) {
        self.split(thread, at, ended);
        self.threads[thread.index()] = ThreadUnits::default();
    }

    /// The outermost unit of a thread, if it is inside one; gives it a number if it has none.
    pub(crate) fn transaction(&mut self, thread: ThreadId) -> Option<Owner> {
        let (slot, kind) = self.whole_slot(thread)?;
        Some(Owner {
            unit: self.allocate(thread, slot),
            kind,
        })
    }

    /// The units of an access.
    pub(crate) fn owners(&mut self, names: &Names, thread: ThreadId, cell: &Cell, site: SiteId) -> Owners {
        let units = &self.threads[thread.index()];
        if units.frames.is_empty() && units.sections.is_empty() && units.declared.is_empty() || cell.exempt {
            return Owners::default();
        }
        if self.declared && !units.declared.is_empty() {
            let unit = match units.declared[0].unit {
                Some(unit) => unit,
                None => self.allocate(thread, Slot::Declared(0)),
            };
            let owner = Some(Owner {
                unit,
                kind: UnitKind::Declared,
            });
            return Owners {
                certain: owner,
                any: owner,
                whole: owner,
            };
        }
        if let Some(i) = units.frames.iter().position(|f| f.traits.declared && self.declared) {
            let owner = Some(Owner {
                unit: self.allocate(thread, Slot::Frame(i)),
                kind: UnitKind::Declared,
            });
            return Owners {
                certain: owner,
                any: owner,
                whole: owner,
            };
        }
        self.default_owners(names, thread, cell, site)
    }

    fn default_owners(&mut self, names: &Names, thread: ThreadId, cell: &Cell, site: SiteId) -> Owners {
        let whole = self.transaction(thread);
        if self.under_construction(names, thread, cell) {
            return Owners {
                whole,
                ..Owners::default()
            };
        }
        let section = self.section_slot(thread, cell);
        let section_depth = section.map(|i| 2 * self.threads[thread.index()].sections[i].depth + 1);
        let mut best = section
            .zip(section_depth)
            .map(|(i, key)| (key, Slot::Section(i), UnitKind::Section));
        if let Some(i) = self.compound_frame(thread, cell) {
            Self::prefer(&mut best, (2 * (i + 1), Slot::Frame(i), UnitKind::Compound));
        }
        if let Some(i) = self.method_frame(names, thread, cell, site) {
            Self::prefer(&mut best, (2 * (i + 1), Slot::Frame(i), UnitKind::Method));
        }
        let certain = section.map(|i| Owner {
            unit: self.allocate(thread, Slot::Section(i)),
            kind: UnitKind::Section,
        });
        let any = best.map(|(_, slot, kind)| Owner {
            unit: self.allocate(thread, slot),
            kind,
        });
        Owners { certain, any, whole }
    }

    fn prefer(best: &mut Option<(usize, Slot, UnitKind)>, other: (usize, Slot, UnitKind)) {
        if best.is_none_or(|b| other.0 <= b.0) {
            *best = Some(other);
        }
    }

    fn whole_slot(&self, thread: ThreadId) -> Option<(Slot, UnitKind)> {
        let units = &self.threads[thread.index()];
        if self.declared && !units.declared.is_empty() {
            return Some((Slot::Declared(0), UnitKind::Declared));
        }
        let frame = if self.method {
            units.frames.iter().position(|f| f.traits.unit && !f.entry)
        } else {
            None
        };
        let section = if self.section { units.sections.first() } else { None };
        match (frame, section) {
            (Some(i), Some(section)) if i < section.depth => Some((Slot::Frame(i), UnitKind::Method)),
            (_, Some(_)) => Some((Slot::Section(0), UnitKind::Section)),
            (Some(i), None) => Some((Slot::Frame(i), UnitKind::Method)),
            (None, None) => None,
        }
    }

    /// An object's fields are its constructor's alone until it is published; that is no unit's business.
    fn under_construction(&mut self, names: &Names, thread: ThreadId, cell: &Cell) -> bool {
        let Some(frame) = self.threads[thread.index()].frames.last() else {
            return false;
        };
        let (constructor, class) = (frame.traits.constructor, frame.traits.class);
        constructor && cell.kind == CellKind::Instance && cell.class.is_some_and(|c| self.are_related(names, c, class))
    }

    /// The section that an access belongs to: the outermost on the accessed object's own lock, else the innermost.
    fn section_slot(&self, thread: ThreadId, cell: &Cell) -> Option<usize> {
        if !self.section {
            return None;
        }
        let sections = &self.threads[thread.index()].sections;
        if sections.len() > 1 {
            let own = sections.iter().position(|s| cell.object == Some(s.object));
            if own.is_some() {
                return own;
            }
        }
        sections.len().checked_sub(1)
    }

    /// The method that calls an object which protects itself: the caller of the outermost section, or whoever calls a
    /// modelled object.
    fn compound_frame(&self, thread: ThreadId, cell: &Cell) -> Option<usize> {
        if !self.compound {
            return None;
        }
        let units = &self.threads[thread.index()];
        let caller = match (units.sections.first(), cell.kind) {
            (Some(section), _) => section.depth.checked_sub(2)?,
            (None, CellKind::Modelled) => units.frames.len().checked_sub(1)?,
            _ => return None,
        };
        let frame = units.frames.get(caller)?;
        (!frame.entry && frame.traits.caller).then_some(caller)
    }

    /// The top-most activation that is a unit on the set: of the field's class, or one that touches the set itself.
    fn method_frame(&mut self, names: &Names, thread: ThreadId, cell: &Cell, site: SiteId) -> Option<usize> {
        if !self.method || matches!(cell.kind, CellKind::Modelled | CellKind::Imported) {
            return None;
        }
        let innermost = self.threads[thread.index()].frames.len().checked_sub(1)?;
        // An array is taken to belong to the class whose code handles it.
        let class = cell
            .class
            .unwrap_or(self.threads[thread.index()].frames[innermost].traits.class);
        let own = self.own_frame(names, thread, class, cell.kind == CellKind::Static);
        let units = &mut self.threads[thread.index()];
        let direct = &mut units.frames[innermost];
        if own.is_none_or(|i| i > innermost) || direct.traits.class != class {
            let here = names
                .sites
                .get(site.index())
                .is_none_or(|s| s.method == direct.method || site == SiteId(0));
            let may = here && !direct.entry && direct.traits.caller;
            if may && !direct.foreign.contains(&cell.set) && direct.foreign.len() < FOREIGN_LIMIT {
                direct.foreign.push(cell.set);
            }
        }
        let foreign = units.frames.iter().position(|f| f.foreign.contains(&cell.set));
        match (own, foreign) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn own_frame(&mut self, names: &Names, thread: ThreadId, class: ClassId, is_static: bool) -> Option<usize> {
        let cached = self.threads[thread.index()]
            .cache
            .iter()
            .find(|c| c.0 == class && c.1 == is_static);
        if let Some(&(_, _, frame)) = cached {
            return frame;
        }
        let mut found = None;
        for i in 0..self.threads[thread.index()].frames.len() {
            let frame = &self.threads[thread.index()].frames[i];
            let (traits, entry) = (frame.traits, frame.entry);
            if traits.unit && !entry && (is_static || !traits.is_static) && self.are_related(names, traits.class, class)
            {
                found = Some(i);
                break;
            }
        }
        let cache = &mut self.threads[thread.index()].cache;
        if cache.len() < 8 {
            cache.push((class, is_static, found));
        }
        found
    }

    /// Whether one class is the other or inherits from it.
    fn are_related(&mut self, names: &Names, a: ClassId, b: ClassId) -> bool {
        if a == b {
            return true;
        }
        if let Some(&related) = self.related.get(&(a, b)) {
            return related;
        }
        for i in self.class_ids.len()..names.classes.len() {
            // Classes of one name from two loaders share an entry; their superclasses have the same names.
            self.class_ids.insert(names.classes[i].name.clone(), ClassId::from(i));
        }
        let related = self.inherits(names, a, b) || self.inherits(names, b, a);
        self.related.insert((a, b), related);
        related
    }

    fn inherits(&self, names: &Names, class: ClassId, ancestor: ClassId) -> bool {
        let Some(wanted) = names.classes.get(ancestor.index()) else {
            return false;
        };
        let mut current = names.classes.get(class.index());
        // A damaged trace may have a circle of superclasses.
        for _ in 0..64 {
            let Some(c) = current else { return false };
            if c.name == wanted.name {
                return true;
            }
            current = self
                .class_ids
                .get(&c.superclass)
                .and_then(|id| names.classes.get(id.index()));
        }
        false
    }

    fn allocate(&mut self, thread: ThreadId, slot: Slot) -> UnitId {
        let units = &mut self.threads[thread.index()];
        let method_at = |depth: usize| depth.checked_sub(1).and_then(|i| units.frames.get(i)).map(|f| f.method);
        let innermost = method_at(units.frames.len());
        let (method, site, begin, existing) = match slot {
            Slot::Declared(i) => {
                let d = &units.declared[i];
                (innermost, d.site, d.begin, d.unit)
            }
            Slot::Section(i) => {
                let s = &units.sections[i];
                (method_at(s.depth), s.site, s.begin, s.unit)
            }
            Slot::Frame(i) => {
                let f = &units.frames[i];
                (Some(f.method), f.site, f.begin, f.unit)
            }
        };
        if let Some(unit) = existing {
            return unit;
        }
        let unit = UnitId(self.next);
        self.next = self.next.checked_add(1).expect("fewer than 2^32 units");
        self.born.push(UnitInfo {
            thread,
            method,
            site,
            begin,
            end: None,
            proven: match slot {
                Slot::Frame(i) => units.frames[i].traits.proven,
                _ => false,
            },
        });
        units.open.push(unit);
        match slot {
            Slot::Declared(i) => units.declared[i].unit = Some(unit),
            Slot::Section(i) => units.sections[i].unit = Some(unit),
            Slot::Frame(i) => units.frames[i].unit = Some(unit),
        }
        unit
    }
}
