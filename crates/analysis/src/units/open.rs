//! The units that threads are in: follows calls, locks and declared units, and says which unit an access belongs to.

use super::code::{Code, MethodTraits};
use super::passes::Passes;
use super::{Owner, Owners, UnitId, UnitInfo, UnitSettings, When};
use crate::finding::UnitKind;
use crate::sets::{Cell, CellKind, SetId};
use ravel_trace::names::SiteKind;
use ravel_trace::{ClassId, LockId, MethodId, Names, ObjectId, SiteId, ThreadId};
use smallvec::SmallVec;

#[derive(Debug)]
struct OpenFrame {
    method: MethodId,
    traits: MethodTraits,
    entry: bool,
    site: SiteId,
    begin: When,
    unit: Option<UnitId>,
    /// Sets of other classes that the method itself has touched.
    foreign: SmallVec<[SetId; 2]>,
    /// Of the body of a thread.
    passes: Passes,
}

#[derive(Debug)]
struct Section {
    lock: LockId,
    object: ObjectId,
    /// Locks taken inside that open no section of their own.
    members: SmallVec<[LockId; 2]>,
    /// How many frames there were when it began.
    depth: usize,
    /// Whether it lies in a method of the platform that the innermost frame called, which has no frame of its own.
    called: bool,
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
    frames: Vec<OpenFrame>,
    sections: Vec<Section>,
    declared: Vec<Declared>,
    /// How many frames are declared units.
    declared_frames: usize,
    open: Vec<UnitId>,
    /// The position of its last event.
    position: u32,
    /// Owning frame of a class's instance or static sets, valid until a frame comes or goes.
    cache: SmallVec<[(ClassId, bool, Option<usize>); 8]>,
}

impl ThreadUnits {
    /// A method has ended that was called at `site`. Sections that it began and did not end are its caller's: a helper that
    /// takes a lock (`AutoLock.lock`) is not the code that runs under it.
    fn hand_down(&mut self, site: SiteId) {
        let depth = self.frames.len();
        let first = self.sections.partition_point(|section| section.depth <= depth);
        for section in &mut self.sections[first..] {
            section.depth = depth;
            section.called = false;
            if section.unit.is_none() {
                section.site = site;
            }
        }
        // What the caller would have taken as a further lock of its own section had it taken the lock itself.
        let Some(outer) = first
            .checked_sub(1)
            .filter(|&outer| self.sections[outer].depth == depth)
        else {
            return;
        };
        while let Some(inner) = self.sections.get(first).filter(|inner| inner.unit.is_none()) {
            let locks: SmallVec<[LockId; 2]> = std::iter::once(inner.lock)
                .chain(inner.members.iter().copied())
                .collect();
            self.sections[outer].members.extend(locks);
            self.sections.remove(first);
        }
    }
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

/// Whether a lock is taken in code of the platform that a frame called: at a place of another method, or at a call that
/// is not the taking of a lock itself.
fn is_called(names: &Names, frame: &OpenFrame, lock: LockId, site: SiteId) -> bool {
    let Some(place) = names.sites.get(site.index()).filter(|_| site != SiteId(0)) else {
        return false;
    };
    let explicit = || names.lock(lock).name.starts_with("java.util.concurrent.");
    place.method != frame.method || matches!(place.what, SiteKind::Call(_)) && !explicit()
}

/// The units of all threads.
#[derive(Debug, Default)]
pub struct Units {
    threads: Vec<ThreadUnits>,
    next: u32,
    /// What has happened to units since the engine last asked.
    pub(crate) born: Vec<UnitInfo>,
    pub(crate) ends: Vec<(UnitId, When)>,
    code: Code,
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

    /// An event of a thread is over.
    #[inline]
    pub(crate) fn passed(&mut self, thread: ThreadId, position: u32) {
        self.threads[thread.index()].position = position;
    }

    /// The innermost method does something at a site of its own code. If it is the body of a thread, a pass through it may end.
    fn step(&mut self, names: &Names, thread: ThreadId, site: SiteId, at: When, ended: &mut Vec<UnitId>) {
        let units = &mut self.threads[thread.index()];
        let before = units.position;
        let Some(body) = units.frames.last_mut().filter(|frame| frame.entry) else {
            return;
        };
        let place = names.sites.get(site.index()).filter(|_| site != SiteId(0));
        let Some(place) = place.filter(|place| place.method == body.method) else {
            return;
        };
        if body.passes.step(place.bci, at.position, before)
            && let Some(unit) = body.unit.take()
        {
            let end = When {
                index: at.index.saturating_sub(1),
                position: before,
            };
            Self::close(&mut self.ends, &mut units.open, unit, end, ended);
        }
    }

    /// A method begins.
    pub(crate) fn enter(
        &mut self,
        names: &Names,
        settings: &UnitSettings,
        thread: ThreadId,
        (method, site): (MethodId, SiteId),
        begin: When,
        ended: &mut Vec<UnitId>,
    ) {
        self.step(names, thread, site, begin, ended);
        let traits = self.code.traits(names, settings, method);
        self.assumed_seen |= self.method || self.compound;
        let units = &mut self.threads[thread.index()];
        // A thread's entry point, possibly reached through the platform's own code (pools, futures).
        let outermost = traits.entry_name && units.frames.iter().all(|f| f.entry || f.traits.platform);
        // `get`, `accept` and `apply` are entry points only where a pool calls them, not as a thread's first frame
        // of a program that has getters of that name.
        let entry = outermost && (!traits.functional || units.frames.iter().any(|f| f.traits.platform));
        units.cache.clear();
        units.declared_frames += usize::from(traits.declared);
        units.frames.push(OpenFrame {
            method,
            traits,
            entry,
            site,
            begin,
            unit: None,
            foreign: SmallVec::new(),
            passes: Passes::default(),
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
            let Some(frame) = units.frames.pop() else { break };
            units.declared_frames -= usize::from(frame.traits.declared);
            if let Some(unit) = frame.unit {
                Self::close(&mut self.ends, &mut units.open, unit, end, ended);
            }
            units.hand_down(frame.site);
        }
    }

    fn close(ends: &mut Vec<(UnitId, When)>, open: &mut Vec<UnitId>, unit: UnitId, end: When, ended: &mut Vec<UnitId>) {
        if let Some(i) = open.iter().rposition(|u| *u == unit) {
            open.remove(i);
            ends.push((unit, end));
            ended.push(unit);
        }
    }

    /// A lock is taken at a site; `step` is that, or the program's call inside which code of the JDK takes it.
    pub(crate) fn acquire(
        &mut self,
        names: &Names,
        thread: ThreadId,
        lock: LockId,
        (site, step): (SiteId, SiteId),
        begin: When,
        ended: &mut Vec<UnitId>,
    ) {
        self.step(names, thread, step, begin, ended);
        let units = &mut self.threads[thread.index()];
        if units.frames.last().is_some_and(|frame| frame.traits.lazy) {
            return;
        }
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
            called: units
                .frames
                .last()
                .is_some_and(|frame| is_called(names, frame, lock, site)),
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
            frame.passes.split();
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

    /// The units of an access; those that end with it go to `ended`.
    pub(crate) fn owners(
        &mut self,
        names: &Names,
        thread: ThreadId,
        cell: &Cell,
        (site, at): (SiteId, When),
        ended: &mut Vec<UnitId>,
    ) -> Owners {
        self.step(names, thread, site, at, ended);
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
        if units.declared_frames > 0
            && let Some(i) = units.frames.iter().position(|f| f.traits.declared && self.declared)
        {
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
        let declared = self.declared_on(thread, cell);
        let mut owners = self.default_owners(names, thread, cell, site);
        if let Some(i) = declared {
            let owner = Some(Owner {
                unit: self.allocate(thread, Slot::Frame(i)),
                kind: UnitKind::Declared,
            });
            (owners.certain, owners.any) = (owner, owner);
        }
        owners
    }

    /// The outermost activation that is declared a unit on the named set of a cell.
    fn declared_on(&self, thread: ThreadId, cell: &Cell) -> Option<usize> {
        let set = cell.set_name.filter(|_| self.declared)?;
        let frames = &self.threads[thread.index()].frames;
        frames
            .iter()
            .position(|frame| frame.traits.declared_on.contains(&Some(set)))
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
        if self.declared
            && units.declared_frames > 0
            && let Some(i) = units.frames.iter().position(|f| f.traits.declared)
        {
            return Some((Slot::Frame(i), UnitKind::Declared));
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
        constructor
            && cell.kind == CellKind::Instance
            && cell.class.is_some_and(|c| self.code.are_related(names, c, class))
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

    /// The method that calls an object which protects itself: the caller of the outermost section, or of a modelled object; or the
    /// body of a thread that has a section in its own code. A volatile field protects itself as well.
    fn compound_frame(&self, thread: ThreadId, cell: &Cell) -> Option<usize> {
        if !self.compound {
            return None;
        }
        let units = &self.threads[thread.index()];
        let in_body = |section: &Section| {
            let frame = section.depth.checked_sub(1).and_then(|i| units.frames.get(i));
            frame.is_some_and(|frame| frame.entry && !frame.traits.synchronized)
        };
        let caller = match (units.sections.first(), cell.kind) {
            (Some(section), _) if section.called || in_body(section) => section.depth.checked_sub(1)?,
            (Some(section), _) => section.depth.checked_sub(2)?,
            (None, CellKind::Modelled) => units.frames.len().checked_sub(1)?,
            (None, _) if cell.synchronizing => units.frames.len().checked_sub(1)?,
            _ => return None,
        };
        let frame = units.frames.get(caller)?;
        // A method that takes a lock somewhere in its code is a unit of its own, and more than the section.
        let whole = |section: &Section| {
            let callee = section.depth.checked_sub(1).and_then(|i| units.frames.get(i));
            section.called || in_body(section) || callee.is_some_and(|callee| callee.traits.synchronized)
        };
        let is_pass = || frame.passes.begin().is_some() && units.sections.first().is_none_or(whole);
        let is_unit = !frame.entry || is_pass();
        (is_unit && frame.traits.caller).then_some(caller)
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
            if traits.unit
                && !entry
                && (is_static || !traits.is_static)
                && self.code.are_related(names, traits.class, class)
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
                let pass = f.passes.begin().filter(|_| f.entry);
                let begin = When {
                    position: pass.unwrap_or(f.begin.position),
                    ..f.begin
                };
                (Some(f.method), f.site, begin, f.unit)
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
            pass: match slot {
                Slot::Frame(i) => units.frames[i].entry,
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
