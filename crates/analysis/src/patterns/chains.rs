//! The compact graph that patterns are searched in: chains of accesses, with equal ones made one.
//!
//! A pattern asks of each of its units for a *chain*: one access, two accesses to one location, two to different ones, or
//! more. Chains that no pattern can tell apart (same thread,
//! locations, kinds, locks held, held throughout and taken meanwhile, same order known) become one node. Of chains at
//! many places in code the first [`PLACES`] keep their places apart and the others share the last; of many moments, more than
//! [`MOMENTS`], every second is left out; and where [`ALL_MOMENTS`] are kept in all, more than [`FEW_MOMENTS`].

use ravel_trace::{LocationId, SiteId, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::stretch::Mark;
use crate::locks::LocksetId;
use crate::order::ClockId;
use crate::raw::Point;
use crate::sets::SetId;
use crate::transaction::Kind;
use crate::units::Owner;

/// How many places of equal chains are kept apart.
pub const PLACES: usize = 8;
/// How many moments of equal chains at equal places are kept.
pub const MOMENTS: usize = 256;
/// How many moments are kept of all chains together before fewer of each are kept.
pub const ALL_MOMENTS: usize = 1 << 19;
/// How many moments of equal chains at equal places are kept then.
pub const FEW_MOMENTS: usize = 16;
/// How many nodes of one shape are kept at the same locations.
pub const NODES_AT: u32 = 256;
/// How many nodes over two or more locations are kept for one thread and the same places in code.
pub const NODES_OF_PLACES: u32 = 64;
/// How many nodes are kept over two or more locations.
pub const PAIR_NODES: usize = 1 << 18;

/// The shape of a chain: for each access, which of the chain's variables, and its kind.
pub type Template = SmallVec<[(u8, Kind); 4]>;

/// An access as the collector receives it.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// When, who and where.
    pub point: Point,
    /// The cell.
    pub location: LocationId,
    /// What the thread knew of the hard order.
    pub clock: ClockId,
    /// The locks held, in the collector's own numbering.
    pub held: LocksetId,
    pub(super) mark: Mark,
}

/// What the collector must know of an access.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// When, who and where.
    pub point: Point,
    /// The cell.
    pub location: LocationId,
    /// Its atomic set.
    pub set: SetId,
    /// The units it belongs to, the second only if it is another.
    pub owners: [Option<Owner>; 2],
    /// What the thread knew of the hard order.
    pub clock: ClockId,
    /// Whether it is a repetition, which as a single access says nothing new.
    pub repeated: bool,
    /// Succeeds only if nothing was written since the thread looked (`compareAndSet`), so nothing can have come before it.
    pub conditional: bool,
}

/// Chains that no pattern can tell apart but by their places.
#[derive(Clone, Debug)]
pub struct Node {
    /// Which template.
    pub template: usize,
    /// The locations, by variable of the template.
    pub locations: SmallVec<[LocationId; 2]>,
    /// Who.
    pub thread: ThreadId,
    /// The locks held at each access.
    pub held: SmallVec<[LocksetId; 2]>,
    /// The locks held from each access to the next.
    pub throughout: SmallVec<[LocksetId; 1]>,
    /// The locks held at any time from each access to the next.
    pub during: SmallVec<[LocksetId; 1]>,
    /// Whether another thread, as far as locks go, can come between its accesses (or make a conflicting one at the same time as
    /// its only access).
    pub open: bool,
    /// Place by place, when it happened.
    pub variants: SmallVec<[Variant; 1]>,
}

/// Chains at the same places.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Where each access is.
    pub places: SmallVec<[SiteId; 2]>,
    /// One for each moment of the hard order, in program order.
    pub occurrences: Vec<Occurrence>,
}

/// One chain.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The unit; for single accesses the one that best describes it, if any.
    pub owner: Option<Owner>,
    /// The accesses.
    pub events: SmallVec<[ChainEvent; 1]>,
}

/// One access of a chain.
#[derive(Clone, Copy, Debug)]
pub struct ChainEvent {
    /// When, who and where.
    pub point: Point,
    /// What the thread knew of the hard order.
    pub clock: ClockId,
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    template: usize,
    owner: Option<crate::finding::UnitKind>,
    thread: ThreadId,
    locations: SmallVec<[LocationId; 2]>,
    held: SmallVec<[LocksetId; 2]>,
    throughout: SmallVec<[LocksetId; 1]>,
    during: SmallVec<[LocksetId; 1]>,
}

/// A chain, taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'a> {
    /// Which template.
    pub template: usize,
    /// The unit.
    pub owner: Owner,
    /// The locations, by variable of the template.
    pub locations: &'a [LocationId],
    /// The accesses.
    pub events: &'a [Seen],
    /// The locks held from each access to the next.
    pub throughout: &'a [LocksetId],
    /// The locks held at any time from each access to the next.
    pub during: &'a [LocksetId],
}

/// The nodes found so far.
#[derive(Default)]
pub struct Nodes {
    /// All nodes.
    pub all: Vec<Node>,
    ids: FxHashMap<Key, usize>,
    at: FxHashMap<(usize, SmallVec<[LocationId; 2]>), u32>,
    of_places: FxHashMap<(usize, ThreadId, SmallVec<[SiteId; 2]>), u32>,
    pairs: usize,
    /// Moments of chains and single accesses.
    pub moments: Moments,
    /// Chains left out at a bound.
    pub left_out: u64,
}

/// How many moments are kept, and how many were left out.
#[derive(Default)]
pub struct Moments {
    kept: usize,
    /// Left out.
    pub left_out: u64,
}

impl Nodes {
    /// Takes a chain in.
    pub fn add(&mut self, chain: &Chain<'_>) {
        let thread = chain.events[0].point.thread;
        let key = Key {
            template: chain.template,
            owner: Some(chain.owner.kind),
            thread,
            locations: SmallVec::from_slice(chain.locations),
            held: chain.events.iter().map(|event| event.held).collect(),
            throughout: SmallVec::from_slice(chain.throughout),
            during: SmallVec::from_slice(chain.during),
        };
        let id = match self.ids.get(&key).copied() {
            Some(id) => id,
            None if !self.has_room(chain, thread) => {
                self.left_out += 1;
                return;
            }
            None => {
                self.all.push(Node {
                    template: chain.template,
                    locations: key.locations.clone(),
                    thread,
                    held: key.held.clone(),
                    throughout: key.throughout.clone(),
                    during: key.during.clone(),
                    open: false,
                    variants: SmallVec::new(),
                });
                self.ids.insert(key, self.all.len() - 1);
                self.all.len() - 1
            }
        };
        self.moments
            .add(&mut self.all[id].variants, Some(chain.owner), chain.events);
    }

    /// Whether there is room for one more node of this kind; if so, it is taken.
    fn has_room(&mut self, chain: &Chain<'_>, thread: ThreadId) -> bool {
        let there = (chain.template, SmallVec::from_slice(chain.locations));
        if self.at.get(&there).is_some_and(|&count| count >= NODES_AT) {
            return false;
        }
        if chain.locations.len() > 1 {
            let places = chain.events.iter().map(|event| event.point.site).collect();
            let of_places = self.of_places.entry((chain.template, thread, places)).or_default();
            if self.pairs >= PAIR_NODES || *of_places >= NODES_OF_PLACES {
                return false;
            }
            *of_places += 1;
            self.pairs += 1;
        }
        *self.at.entry(there).or_default() += 1;
        true
    }
}

impl Moments {
    /// Takes a chain in: as a new moment of its places, as new places, or not at all if its like was the last.
    pub(super) fn add(&mut self, variants: &mut SmallVec<[Variant; 1]>, owner: Option<Owner>, events: &[Seen]) {
        let places = || events.iter().map(|event| event.point.site);
        let known = variants
            .iter()
            .position(|variant| variant.places.iter().copied().eq(places()));
        let at = known.unwrap_or_else(|| {
            if variants.len() < PLACES {
                variants.push(Variant {
                    places: places().collect(),
                    occurrences: Vec::new(),
                });
            }
            variants.len() - 1
        });
        let occurrences = &mut variants[at].occurrences;
        let clocks = || events.iter().map(|event| event.clock);
        let same = |last: &Occurrence| last.events.iter().map(|event| event.clock).eq(clocks());
        if occurrences.last().is_some_and(same) {
            return;
        }
        let events = events
            .iter()
            .map(|seen| ChainEvent {
                point: seen.point,
                clock: seen.clock,
            })
            .collect();
        let most = if self.kept < ALL_MOMENTS { MOMENTS } else { FEW_MOMENTS };
        if occurrences.len() >= most {
            // What is left is still in program order, and has the first moment and most of the latest.
            let mut nth = 0;
            let before = occurrences.len();
            occurrences.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            if most == FEW_MOMENTS {
                occurrences.shrink_to(FEW_MOMENTS);
            }
            let lost = before - occurrences.len();
            self.kept = self.kept.saturating_sub(lost);
            self.left_out += lost as u64;
        }
        self.kept += 1;
        if occurrences.capacity() == 0 {
            // Most come in one moment only.
            occurrences.reserve_exact(1);
        }
        occurrences.push(Occurrence { owner, events });
    }
}
