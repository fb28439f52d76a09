//! Pattern-directed search over the collected chains.
//!
//! For each pattern a chain is chosen for every unit, the variables are bound to locations through indices, and the
//! *mutation condition* is asked: can the chains be placed so that their accesses come in the pattern's order? Locks:
//! what a unit holds throughout a gap must be compatible with what the others hold at the accesses they make in it, and
//! with all they take between two accesses in the same gap. Order: nothing that must come after may come before. A tuple
//! of code places that has been proven is not searched again.

use ravel_trace::{LocationId, SiteId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::chains::{ChainEvent, Node, Occurrence, Template};
use super::language::{ATOMIC_SET, ATOMICITY, Pattern, RACES, built_in};
use crate::locks::Locksets;
use crate::raw::Point;
use crate::sets::SetId;
use crate::stop::Stop;
use crate::units::Owner;

/// The hard order among recorded accesses, as far as the search asks for it.
pub trait HardOrder {
    /// Whether `a` must come before `b`, another thread's access; edges made by the locations `without` do not count.
    fn before(&self, a: &ChainEvent, b: &ChainEvent, without: &[LocationId]) -> bool;

    /// Whether accesses to the location are themselves synchronisation and therefore never race.
    fn synchronizes(&self, location: LocationId) -> bool;

    /// The atomic set of a location.
    fn set(&self, location: LocationId) -> SetId;
}

/// How many combinations of chains and places are tried for one pattern.
pub const COMBINATIONS: u64 = 30_000_000;

/// How many occurrences of each chain are tried together when a pattern has three or more units.
const TRIED: usize = 16;

/// A pattern found.
#[derive(Clone, Debug)]
pub struct Match {
    /// Which pattern, by its place in the list searched for.
    pub pattern: usize,
    /// The accesses in the order of the pattern.
    pub steps: Vec<PatternStep>,
}

/// One access of a match.
#[derive(Clone, Copy, Debug)]
pub struct PatternStep {
    /// When, who and where.
    pub point: Point,
    /// The cell.
    pub location: LocationId,
    /// The unit it belongs to.
    pub owner: Option<Owner>,
}

/// What a unit of a pattern asks for.
#[derive(Clone, Debug)]
struct Role {
    template: usize,
    /// The pattern's variable for each variable of the template.
    variables: SmallVec<[usize; 2]>,
    /// Positions of its accesses in the pattern.
    positions: SmallVec<[usize; 2]>,
    thread: usize,
}

/// Patterns prepared for a search, with the templates that the collector must provide.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The shapes of chains wanted.
    pub templates: Vec<Template>,
    /// Whether every pattern is one of the papers', which all have a conflict in some unit's gap or are races.
    pub lean: bool,
    patterns: Vec<(Pattern, Vec<Role>)>,
}

impl Plan {
    /// Prepares for these patterns.
    pub fn new(patterns: &[Pattern]) -> Self {
        let mut plan = Plan {
            lean: patterns.iter().all(is_built_in),
            ..Plan::default()
        };
        for pattern in patterns {
            let mut roles: Vec<Role> = (0..pattern.units()).map(|unit| plan.role(pattern, unit)).collect();
            // Binding the most variables first leaves the others to the indices.
            roles.sort_by_key(|role| std::cmp::Reverse((role.variables.len(), role.positions.len())));
            plan.patterns.push((pattern.clone(), roles));
        }
        plan
    }

    fn role(&mut self, pattern: &Pattern, unit: usize) -> Role {
        let positions: SmallVec<[usize; 2]> = pattern.of_unit(unit).collect();
        let mut variables: SmallVec<[usize; 2]> = SmallVec::new();
        let mut template = Template::new();
        for &position in &positions {
            let item = pattern.items()[position];
            let variable = variables
                .iter()
                .position(|known| *known == item.variable)
                .unwrap_or_else(|| {
                    variables.push(item.variable);
                    variables.len() - 1
                });
            template.push((u8::try_from(variable).unwrap_or(u8::MAX), item.kind));
        }
        let known = self.templates.iter().position(|known| *known == template);
        let template = known.unwrap_or_else(|| {
            self.templates.push(template);
            self.templates.len() - 1
        });
        Role {
            template,
            variables,
            positions,
            thread: pattern.items()[pattern.of_unit(unit).next().unwrap_or(0)].thread,
        }
    }

    /// Finds every pattern among the chains, one match for each tuple of code places, in a fixed order. Says how many patterns
    /// had more than [`COMBINATIONS`].
    pub fn search(&self, nodes: &[Node], sets: &Locksets, order: &dyn HardOrder, stop: &Stop<'_>) -> (Vec<Match>, u64) {
        let index = Index::new(nodes, self.templates.len(), self.lean);
        let mut matches = Vec::new();
        let mut cut = 0;
        for (number, (pattern, roles)) in self.patterns.iter().enumerate() {
            let mut search = PatternSearch {
                number,
                open_only: pattern.variables() == 1 && is_built_in(pattern),
                pattern,
                roles,
                nodes,
                sets,
                order,
                index: &index,
                proven: FxHashSet::default(),
                matches: &mut matches,
                stop,
                asked: 0,
                left: COMBINATIONS,
            };
            search.choose(&mut SmallVec::new(), &mut vec![None; pattern.variables()]);
            cut += u64::from(search.left == 0);
            if stop.now() {
                break;
            }
        }
        (matches, cut)
    }
}

/// Whether this is a race or a pattern of AtomicSet, Figure 2.
fn is_built_in(pattern: &Pattern) -> bool {
    let tables = [&RACES[..], &ATOMICITY, &ATOMIC_SET];
    tables
        .into_iter()
        .flat_map(built_in)
        .any(|known| known.items() == pattern.items())
}

/// Where the chains of a template are: all of them, and by the location of each variable.
struct Index {
    all: Vec<Vec<u32>>,
    open: Vec<Vec<u32>>,
    at: FxHashMap<(usize, u8, LocationId), Vec<u32>>,
    exactly: FxHashMap<(usize, SmallVec<[LocationId; 2]>), Vec<u32>>,
}

impl Index {
    fn new(nodes: &[Node], templates: usize, built_in: bool) -> Self {
        let hot: FxHashSet<LocationId> = nodes
            .iter()
            .filter(|node| node.open)
            .flat_map(|node| node.locations.iter().copied())
            .collect();
        // Locations of one thread can be part of no pattern.
        let mut threads: FxHashMap<LocationId, (u32, bool)> = FxHashMap::default();
        for node in nodes {
            for &location in &node.locations {
                let entry = threads.entry(location).or_insert((node.thread.0, false));
                entry.1 |= entry.0 != node.thread.0;
            }
        }
        let mut index = Index {
            all: vec![Vec::new(); templates],
            open: vec![Vec::new(); templates],
            at: FxHashMap::default(),
            exactly: FxHashMap::default(),
        };
        for (id, node) in nodes.iter().enumerate() {
            let cold = built_in && node.locations.len() == 1 && !hot.contains(&node.locations[0]);
            if cold || !node.locations.iter().all(|location| threads[location].1) {
                continue;
            }
            let id = u32::try_from(id).unwrap_or(u32::MAX);
            index.all[node.template].push(id);
            if node.open {
                index.open[node.template].push(id);
            }
            index
                .exactly
                .entry((node.template, node.locations.clone()))
                .or_default()
                .push(id);
            if node.locations.len() > 1 {
                for (variable, &location) in (0..).zip(&node.locations) {
                    index
                        .at
                        .entry((node.template, variable, location))
                        .or_default()
                        .push(id);
                }
            }
        }
        index
    }

    /// The chains of a role that agree with the variables bound so far.
    fn candidates(&self, role: &Role, bound: &[Option<LocationId>], open_only: bool) -> &[u32] {
        let locations: SmallVec<[Option<LocationId>; 2]> = role.variables.iter().map(|&of| bound[of]).collect();
        let nothing: &[u32] = &[];
        if let Some(all) = locations.iter().copied().collect::<Option<SmallVec<[LocationId; 2]>>>() {
            return self.exactly.get(&(role.template, all)).map_or(nothing, Vec::as_slice);
        }
        match (0..)
            .zip(&locations)
            .find_map(|(variable, location)| Some((variable, (*location)?)))
        {
            Some((variable, location)) => self
                .at
                .get(&(role.template, variable, location))
                .map_or(nothing, Vec::as_slice),
            None if open_only => &self.open[role.template],
            None => &self.all[role.template],
        }
    }
}

/// How many items at the head of a list satisfy a condition that holds of a head: few looks if they are few.
fn head<T>(list: &[T], holds: impl Fn(&T) -> bool) -> usize {
    let mut known = 0;
    let mut stride = 1;
    while known < list.len() {
        let next = (known + stride).min(list.len());
        if !holds(&list[next - 1]) {
            return known + list[known..next - 1].partition_point(holds);
        }
        (known, stride) = (next, stride * 2);
    }
    known
}

struct PatternSearch<'a> {
    number: usize,
    /// The first role must lie open: true of every pattern of the papers on one variable, whose first role is the unit that
    /// is interrupted, or one side of a race.
    open_only: bool,
    pattern: &'a Pattern,
    roles: &'a [Role],
    nodes: &'a [Node],
    sets: &'a Locksets,
    order: &'a dyn HardOrder,
    index: &'a Index,
    proven: FxHashSet<SmallVec<[SiteId; 4]>>,
    matches: &'a mut Vec<Match>,
    stop: &'a Stop<'a>,
    asked: u32,
    /// Combinations that may still be tried.
    left: u64,
}

impl<'a> PatternSearch<'a> {
    fn choose(&mut self, chosen: &mut SmallVec<[u32; 4]>, bound: &mut Vec<Option<LocationId>>) {
        let roles = self.roles;
        let Some(role) = roles.get(chosen.len()) else {
            self.places(chosen, bound);
            return;
        };
        let index = self.index;
        for &id in index.candidates(role, bound, self.open_only) {
            if !self.goes_on() {
                return;
            }
            let node = &self.nodes[id as usize];
            let before = bound.clone();
            if self.bind(role, node, bound) && self.fits(role, node, chosen) {
                chosen.push(id);
                self.choose(chosen, bound);
                chosen.pop();
            }
            *bound = before;
        }
    }

    /// Counts a combination; false if there were enough.
    fn goes_on(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0 && !self.stop.now_and_then(&mut self.asked)
    }

    fn bind(&self, role: &Role, node: &Node, bound: &mut [Option<LocationId>]) -> bool {
        role.variables
            .iter()
            .zip(&node.locations)
            .all(|(&variable, &location)| match bound[variable] {
                Some(known) => known == location,
                None => {
                    let taken = bound.contains(&Some(location));
                    bound[variable] = Some(location);
                    let safe = self.pattern.is_race() && self.order.synchronizes(location);
                    !taken && !safe && self.fits_sets(variable, bound)
                }
            })
    }

    /// Whether a variable that was just bound is of the same atomic set as the others of its set in the pattern, and of another than the rest.
    fn fits_sets(&self, variable: usize, bound: &[Option<LocationId>]) -> bool {
        if self.pattern.sets() < 2 {
            return true;
        }
        let Some(location) = bound[variable] else { return true };
        let others = bound.iter().enumerate().filter(|(other, _)| *other != variable);
        others
            .filter_map(|(other, location)| Some((other, (*location)?)))
            .all(|(other, there)| {
                let same = self.pattern.set_of(variable) == self.pattern.set_of(other);
                same == (self.order.set(location) == self.order.set(there))
            })
    }

    /// Whether threads and locks allow this chain beside those chosen.
    fn fits(&self, role: &Role, node: &Node, chosen: &[u32]) -> bool {
        chosen.iter().zip(self.roles).all(|(&other, other_role)| {
            let other = &self.nodes[other as usize];
            (other.thread == node.thread) == (other_role.thread == role.thread)
                && (other.thread == node.thread
                    || (self.lets_in(role, node, other_role, other)
                        && self.lets_in(other_role, other, role, node)
                        && self.together(role, node, other_role, other)))
        })
    }

    /// Whether the locks that one unit holds across its gaps let in what the other does in them.
    fn lets_in(&self, outer_role: &Role, outer: &Node, inner_role: &Role, inner: &Node) -> bool {
        outer_role
            .positions
            .windows(2)
            .zip(&outer.throughout)
            .all(|(gap, &kept)| {
                let inside = |position: usize| gap[0] < position && position < gap[1];
                let accesses = inner_role.positions.iter().zip(&inner.held);
                let stretches = inner_role.positions.windows(2).zip(&inner.during);
                accesses
                    .filter(|(at, _)| inside(**at))
                    .all(|(_, &held)| self.sets.compatible(kept, held))
                    && stretches
                        .filter(|(pair, _)| inside(pair[0]) && inside(pair[1]))
                        .all(|(_, &during)| self.sets.compatible(kept, during))
            })
    }

    /// Whether accesses that must be next to each other can be.
    fn together(&self, role: &Role, node: &Node, other_role: &Role, other: &Node) -> bool {
        role.positions.iter().zip(&node.held).all(|(&at, &held)| {
            other_role
                .positions
                .iter()
                .zip(&other.held)
                .all(|(&there, &other_held)| {
                    let (early, late) = (at.min(there), at.max(there));
                    let adjacent = late == early + 1 && self.pattern.items()[late].adjacent;
                    !adjacent || self.sets.compatible(held, other_held)
                })
        })
    }

    /// Chains have been chosen: looks for a match at every tuple of places not yet proven.
    fn places(&mut self, chosen: &[u32], bound: &[Option<LocationId>]) {
        let nodes = self.nodes;
        let counts: SmallVec<[usize; 4]> = chosen.iter().map(|&id| nodes[id as usize].variants.len()).collect();
        let mut at: SmallVec<[usize; 4]> = SmallVec::from_elem(0, chosen.len());
        loop {
            let variant = |role: usize| &nodes[chosen[role] as usize].variants[at[role]];
            let mut places: SmallVec<[SiteId; 4]> = SmallVec::from_elem(SiteId(0), self.pattern.items().len());
            for (role, what) in self.roles.iter().enumerate() {
                for (&position, &site) in what.positions.iter().zip(&variant(role).places) {
                    places[position] = site;
                }
            }
            if self.pattern.is_race() && self.pattern.items()[0].kind == self.pattern.items()[1].kind {
                places.sort_unstable();
            }
            if !self.goes_on() {
                return;
            }
            if !self.proven.contains(&places) {
                let lists: SmallVec<[&[Occurrence]; 4]> = (0..chosen.len())
                    .map(|role| variant(role).occurrences.as_slice())
                    .collect();
                if let Some(found) = self.moment(&lists, bound) {
                    self.proven.insert(places);
                    self.report(&found, bound);
                }
            }
            // The next tuple, like an odometer.
            let Some(turn) = (0..at.len()).find(|&role| at[role] + 1 < counts[role]) else {
                break;
            };
            at[turn] += 1;
            at[..turn].fill(0);
        }
    }

    /// One occurrence of each chain such that order allows the pattern.
    fn moment<'o>(
        &self,
        lists: &[&'o [Occurrence]],
        bound: &[Option<LocationId>],
    ) -> Option<SmallVec<[&'o Occurrence; 4]>> {
        let own: SmallVec<[LocationId; 4]> = bound
            .iter()
            .flatten()
            .copied()
            .filter(|location| self.order.synchronizes(*location))
            .collect();
        if let [first, second] = lists
            && self.roles[0].thread != self.roles[1].thread
        {
            // What does not come too early for `a` is a tail of the list, what does not come too late a head; if the first of the
            // tail is too late, so are all. The tail of a later `a` begins no earlier: both are looked through once.
            let mut from = 0;
            for a in first.iter() {
                from += head(&second[from..], |b| self.too_early(1, b, 0, a, &own));
                let b = second.get(from)?;
                if !self.too_early(0, a, 1, b, &own) {
                    return Some(SmallVec::from_slice(&[a, b]));
                }
            }
            return None;
        }
        self.moment_of_many(lists, &own, &mut SmallVec::new())
    }

    fn moment_of_many<'o>(
        &self,
        lists: &[&'o [Occurrence]],
        own: &[LocationId],
        chosen: &mut SmallVec<[&'o Occurrence; 4]>,
    ) -> Option<SmallVec<[&'o Occurrence; 4]>> {
        let role = chosen.len();
        let Some(list) = lists.get(role) else {
            return Some(chosen.clone());
        };
        for next in list.iter().take(TRIED) {
            let fits = chosen.iter().enumerate().all(|(other, occurrence)| {
                if self.roles[other].thread == self.roles[role].thread {
                    return self.in_program_order(other, occurrence, role, next);
                }
                !self.too_early(role, next, other, occurrence, own)
                    && !self.too_early(other, occurrence, role, next, own)
            });
            if fits {
                chosen.push(next);
                let found = self.moment_of_many(lists, own, chosen);
                chosen.pop();
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// Whether some access of `a` must come before one of `b` that the pattern puts first, or next to it.
    fn too_early(&self, role_a: usize, a: &Occurrence, role_b: usize, b: &Occurrence, own: &[LocationId]) -> bool {
        self.roles[role_a]
            .positions
            .iter()
            .zip(&a.events)
            .any(|(&at_a, event_a)| {
                self.roles[role_b]
                    .positions
                    .iter()
                    .zip(&b.events)
                    .any(|(&at_b, event_b)| {
                        let next = at_a + 1 == at_b && self.pattern.items()[at_b].adjacent;
                        (at_a > at_b || next) && self.order.before(event_a, event_b, own)
                    })
            })
    }

    /// Whether two units of one thread come in the order in which the pattern has them.
    fn in_program_order(&self, role_a: usize, a: &Occurrence, role_b: usize, b: &Occurrence) -> bool {
        let units = |owner: &Occurrence| owner.owner.map(|owner| owner.unit);
        let different = units(a).is_none() || units(a) != units(b);
        different
            && self.roles[role_a]
                .positions
                .iter()
                .zip(&a.events)
                .all(|(at_a, event_a)| {
                    let other = self.roles[role_b].positions.iter().zip(&b.events);
                    other
                        .into_iter()
                        .all(|(at_b, event_b)| (at_a < at_b) == (event_a.point.index < event_b.point.index))
                })
    }

    fn report(&mut self, found: &[&Occurrence], bound: &[Option<LocationId>]) {
        let mut steps: Vec<(usize, PatternStep)> = Vec::new();
        for (role, occurrence) in self.roles.iter().zip(found) {
            for (&position, event) in role.positions.iter().zip(&occurrence.events) {
                let variable = self.pattern.items()[position].variable;
                let location = bound[variable].unwrap_or_default();
                steps.push((
                    position,
                    PatternStep {
                        point: event.point,
                        location,
                        owner: occurrence.owner,
                    },
                ));
            }
        }
        steps.sort_by_key(|(position, _)| *position);
        let steps = steps.into_iter().map(|(_, step)| step).collect();
        self.matches.push(Match {
            pattern: self.number,
            steps,
        });
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_head_is_as_long_as_its_condition_holds() {
        for length in 0..20 {
            let list: Vec<usize> = (0..length).collect();
            for most in 0..=length {
                assert_eq!(super::head(&list, |item| *item < most), most);
            }
        }
    }
}
