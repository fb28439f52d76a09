//! What the collector keeps of a unit while it is open: its accesses, and which of them are the ends of chains.

use ravel_trace::{LocationId, ThreadId};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

use super::chains::Seen;
use super::stretch::LockHistory;
use crate::sets::SetId;
use crate::transaction::Kind;
use crate::units::Owner;

/// How many accesses of one unit are looked at.
pub const ACCESSES: usize = 4096;

/// No access.
const NONE: u16 = u16::MAX;

/// The first and last read and write of a location.
#[derive(Clone, Copy, Debug)]
pub struct AtLocation {
    /// The location.
    pub location: LocationId,
    first: [u16; 2],
    last: [u16; 2],
    latest: u16,
    /// How often in a row the last access came as it was.
    repeated: u8,
    /// How many accesses were taken in.
    pub accesses: u32,
}

/// Two accesses to one location with no access of the first's kind between them.
#[derive(Clone, Copy, Debug)]
pub struct Tight {
    pub(super) template: usize,
    pub(super) from: u16,
    pub(super) to: u16,
}

/// The accesses of one unit to one atomic set.
#[derive(Debug)]
pub struct UnitLog {
    /// The unit.
    pub owner: Owner,
    /// The set.
    pub set: SetId,
    /// Who.
    pub thread: ThreadId,
    /// All accesses but repeated ones.
    pub accesses: Vec<Seen>,
    /// By location, in order of the first access.
    pub at: Vec<AtLocation>,
    /// Chains of two accesses to one location.
    pub tight: Vec<Tight>,
    /// The locks of the thread during the unit, once it has ended, if they changed.
    pub locks: Option<Box<LockHistory>>,
    index: FxHashMap<LocationId, u16>,
}

impl UnitLog {
    /// An empty log.
    pub fn new(owner: Owner, set: SetId, thread: ThreadId) -> Self {
        UnitLog {
            owner,
            set,
            thread,
            accesses: Vec::new(),
            at: Vec::new(),
            tight: Vec::new(),
            locks: None,
            index: FxHashMap::default(),
        }
    }

    /// Makes an old log one of another unit.
    pub fn reuse(&mut self, owner: Owner, set: SetId, thread: ThreadId) {
        (self.owner, self.set, self.thread) = (owner, set, thread);
        self.accesses.clear();
        self.at.clear();
        self.tight.clear();
        self.index.clear();
        self.locks = None;
    }

    /// Gives back the room that will not be needed any more.
    pub fn shrink(&mut self) {
        self.accesses.shrink_to_fit();
        self.at.shrink_to_fit();
        // Chains of one location have been taken, and no caller looks for a location by its name.
        self.tight = Vec::new();
        self.index = FxHashMap::default();
    }

    /// Where a location is in `at`; `hint` is where it may be.
    #[inline]
    fn position(&mut self, location: LocationId, hint: usize) -> usize {
        if self.at.get(hint).is_some_and(|at| at.location == location) {
            return hint;
        }
        self.position_slowly(location)
    }

    fn position_slowly(&mut self, location: LocationId) -> usize {
        const LINEAR: usize = 32;
        let known = if self.at.len() <= LINEAR {
            self.at.iter().position(|at| at.location == location)
        } else {
            self.index.get(&location).map(|&at| usize::from(at))
        };
        if let Some(known) = known {
            return known;
        }
        self.at.push(AtLocation {
            location,
            first: [NONE; 2],
            last: [NONE; 2],
            latest: NONE,
            repeated: 0,
            accesses: 0,
        });
        if self.at.len() == LINEAR + 1 {
            self.index = (0..).zip(&self.at).map(|(id, at)| (at.location, id)).collect();
        } else if self.at.len() > LINEAR {
            self.index.insert(location, (self.at.len() - 1) as u16);
        }
        self.at.len() - 1
    }

    /// Takes an access in; false if there is no room. `templates` says which chains of two accesses are wanted.
    #[inline]
    pub fn push(
        &mut self,
        seen: &Seen,
        hint: &mut usize,
        conditional: bool,
        templates: &[[Option<usize>; 2]; 2],
    ) -> bool {
        if self.accesses.len() >= ACCESSES {
            return false;
        }
        *hint = self.position(seen.location, *hint);
        let at = &mut self.at[*hint];
        let again = at.latest != NONE && self.accesses[usize::from(at.latest)].same_as(seen);
        at.repeated = if again { at.repeated.saturating_add(1) } else { 0 };
        // The third of a row of equal accesses can tell nothing that the second did not.
        if at.repeated >= 2 {
            return true;
        }
        let id = self.accesses.len() as u16;
        self.accesses.push(*seen);
        let kinds = [
            (Kind::Read, seen.point.kind.reads()),
            (Kind::Write, seen.point.kind.writes()),
        ];
        if at.accesses > 0 && !conditional {
            for first in [Kind::Read, Kind::Write] {
                let from = at.last[first as usize];
                for (second, _) in kinds.into_iter().filter(|(_, does)| *does && from != NONE) {
                    if let Some(template) = templates[first as usize][second as usize] {
                        self.tight.push(Tight { template, from, to: id });
                    }
                }
            }
        }
        at.accesses += 1;
        at.latest = id;
        for (kind, _) in kinds.into_iter().filter(|(_, does)| *does) {
            if at.first[kind as usize] == NONE {
                at.first[kind as usize] = id;
            }
            at.last[kind as usize] = id;
        }
        true
    }

    /// The first access of a kind to a location.
    pub fn first(&self, at: &AtLocation, kind: Kind) -> Option<&Seen> {
        self.accesses.get(usize::from(at.first[kind as usize]))
    }

    /// The last access of a kind to a location.
    pub fn last(&self, at: &AtLocation, kind: Kind) -> Option<&Seen> {
        self.accesses.get(usize::from(at.last[kind as usize]))
    }

    /// Whether the unit writes a location.
    pub fn writes(&self, at: &AtLocation) -> bool {
        at.first[Kind::Write as usize] != NONE
    }

    /// Equal for units whose chains are equal.
    pub fn shape(&self) -> u64 {
        let mut hasher = FxHasher::default();
        (self.owner.kind, self.thread, self.set).hash(&mut hasher);
        let mut mark = self.accesses.first().map(|seen| seen.mark);
        let pack = |a: u32, b: u32| u64::from(a) << 32 | u64::from(b);
        for seen in &self.accesses {
            hasher.write_u64(pack(seen.location.0, seen.point.site.0));
            hasher.write_u64(pack(seen.held.0 << 2 | seen.point.kind as u32, seen.clock.0));
            // Whether locks were given up and taken since the last access.
            if mark != Some(seen.mark) {
                hasher.write_u64(1);
                mark = Some(seen.mark);
            }
        }
        hasher.finish()
    }

    /// The accesses with their kinds, an update as a read and a write, up to a number.
    pub fn steps(&self, limit: usize) -> Vec<(Seen, Kind)> {
        let both = |seen: &Seen| {
            [
                (*seen, Kind::Read, seen.point.kind.reads()),
                (*seen, Kind::Write, seen.point.kind.writes()),
            ]
        };
        let all = self.accesses.iter().flat_map(both);
        all.filter(|(.., does)| *does)
            .map(|(seen, kind, _)| (seen, kind))
            .take(limit)
            .collect()
    }
}

impl Seen {
    fn same_as(&self, other: &Seen) -> bool {
        (self.point.site, self.point.kind, self.clock, self.mark)
            == (other.point.site, other.point.kind, other.clock, other.mark)
    }
}
