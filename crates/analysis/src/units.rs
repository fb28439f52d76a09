//! Units of work: which stretch of a thread an access belongs to.
//!
//! The three default kinds of DESIGN's words (critical section, method, compound) and what the user or the trace
//! declares. An access belongs to the top-most unit on its atomic set, as in AtomicSet, section 3, once among the certain
//! kinds (declared, section) and once among all; and to one transaction on everything, for the older notion of
//! atomicity ([`Owners::whole`]).
//!
//! [`open`] follows what threads are in; here is what is known of units afterwards. Two facts shape both. A trace has no receivers: whether an activation works on its own instance is judged by
//! its class being related to the field's class. And most activations own no access: a unit gets its number at its
//! first access, so that a million calls of getters on private objects cost nothing.

mod code;
mod open;
mod passes;

use crate::finding::UnitKind;
use ravel_trace::names::SiteKind;
use ravel_trace::{Event, FieldId, MethodId, Names, Op, SiteId, ThreadId};

pub(crate) use open::Units;

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
    /// Methods that are declared units on this set alone.
    pub units: Vec<String>,
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

impl UnitSettings {
    /// The patterns that match no method or field of a trace, each with what it should match.
    pub fn unmatched(&self, names: &Names) -> Vec<String> {
        if self.units.is_empty() && self.not_atomic.is_empty() && self.atomic_sets.is_empty() {
            return Vec::new();
        }
        let methods: Vec<String> = names
            .methods
            .iter()
            .map(|method| {
                let class = names.classes.get(method.class.index()).map_or("", |c| c.name.as_str());
                format!("{class}.{}", method.name)
            })
            .collect();
        let fields: Vec<String> = (0..names.fields.len())
            .map(|field| names.field_text(FieldId::from(field)))
            .collect();
        let is_in = |pattern: &str, all: &[String]| all.iter().any(|name| matches_pattern(pattern, name));
        let of_units = self.units.iter().filter(|pattern| !is_in(pattern, &methods));
        let of_units = of_units.map(|pattern| format!("the unit {pattern} matches no method that ran"));
        let exempt = self.not_atomic.iter();
        let exempt = exempt.filter(|pattern| !is_in(pattern, &methods) && !is_in(pattern, &fields));
        let exempt =
            exempt.map(|pattern| format!("not-atomic {pattern} matches no method that ran and no field that was used"));
        let of_sets = self.atomic_sets.iter().flat_map(|set| {
            let unmatched = set.fields.iter().filter(|pattern| !is_in(pattern, &fields));
            unmatched.map(|pattern| {
                format!(
                    "{pattern} of the atomic set {} matches no field that was used",
                    set.name
                )
            })
        });
        let units_of_sets = self.atomic_sets.iter().flat_map(|set| {
            let unmatched = set.units.iter().filter(|pattern| !is_in(pattern, &methods));
            unmatched.map(|pattern| {
                format!(
                    "the unit {pattern} of the atomic set {} matches no method that ran",
                    set.name
                )
            })
        });
        of_units.chain(exempt).chain(of_sets).chain(units_of_sets).collect()
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

/// Whether an event ends a unit and begins the next: the thread waits for another, or starts one.
pub fn splits(names: &Names, event: &Event) -> bool {
    match event.op {
        Op::Wait { .. } | Op::Fork { .. } | Op::Join { .. } => true,
        Op::Receive { sync } => {
            let name = names.syncs.get(sync.index()).map_or("", |s| s.name.as_str());
            // A semaphore may be used as a lock, and then opens the unit rather than splits it. An optimistic read waits for nothing.
            !name.contains("Semaphore")
                && !name.contains("StampedLock")
                && !matches!(
                    names.sites.get(event.site.index()).map(|s| &s.what),
                    Some(SiteKind::Lock)
                )
        }
        _ => false,
    }
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
    /// Whether it is a pass through the body of a thread.
    pass: bool,
}

/// A [`UnitInfo`] in little space: a long trace has millions.
#[derive(Clone, Copy, Debug)]
struct Packed {
    begin: u64,
    /// `u64::MAX` while it is open.
    end: u64,
    thread: ThreadId,
    /// `u32::MAX` if there is none.
    method: MethodId,
    site: SiteId,
    begin_position: u32,
    end_position: u32,
    proven: bool,
    pass: bool,
}

impl From<&UnitInfo> for Packed {
    fn from(info: &UnitInfo) -> Self {
        Packed {
            begin: info.begin.index,
            end: info.end.map_or(u64::MAX, |end| end.index),
            thread: info.thread,
            method: info.method.unwrap_or(MethodId(u32::MAX)),
            site: info.site,
            begin_position: info.begin.position,
            end_position: info.end.map_or(0, |end| end.position),
            proven: info.proven,
            pass: info.pass,
        }
    }
}

/// What is known of all units that own an access.
#[derive(Debug, Default)]
pub struct UnitTable {
    infos: Vec<Packed>,
}

impl UnitTable {
    /// What is known of a unit.
    #[inline]
    pub fn info(&self, unit: UnitId) -> UnitInfo {
        let packed = &self.infos[unit.index()];
        let end = When {
            index: packed.end,
            position: packed.end_position,
        };
        UnitInfo {
            thread: packed.thread,
            method: (packed.method != MethodId(u32::MAX)).then_some(packed.method),
            site: packed.site,
            begin: When {
                index: packed.begin,
                position: packed.begin_position,
            },
            end: (packed.end != u64::MAX).then_some(end),
            proven: packed.proven,
            pass: packed.pass,
        }
    }

    /// Gives each unit another thread, by the one that it has and its first event.
    pub(crate) fn rename_threads(&mut self, thread: impl Fn(ThreadId, u64) -> ThreadId) {
        for info in &mut self.infos {
            info.thread = thread(info.thread, info.begin);
        }
    }

    /// The last event of a unit; none while it is open.
    #[inline]
    pub fn end(&self, unit: UnitId) -> Option<u64> {
        Some(self.infos[unit.index()].end).filter(|end| *end != u64::MAX)
    }

    /// Whether a unit is an execution of a method that is proven atomic.
    pub fn is_proven(&self, owner: Owner) -> bool {
        owner.kind == UnitKind::Method && self.info(owner.unit).proven
    }

    /// Whether a unit is a pass through the body of a thread.
    pub fn is_pass(&self, owner: Owner) -> bool {
        owner.kind == UnitKind::Compound && self.info(owner.unit).pass
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
        self.infos.extend(born.iter().map(Packed::from));
        for &(unit, end) in ended {
            let known = &mut self.infos[unit.index()];
            (known.end, known.end_position) = (end.index, end.position);
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
