//! Takes the chains of units, and makes nodes of them: over one location, over two, longer ones, single accesses.

use ravel_trace::{LocationId, ThreadId};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::{Collector, LOG, LONG_CHAINS, PAIRED};
use crate::locks::LocksetId;
use crate::patterns::chains::{Chain, Node, Seen};
use crate::patterns::unit_log::{AtLocation, UnitLog};
use crate::raw::StepKind;
use crate::stop::Stop;
use crate::transaction::Kind;

impl Collector {
    /// Takes the tight and wide chains over one location.
    pub(super) fn one_location(&mut self, unit: &UnitLog, opened: &[LocationId]) {
        for tight in &unit.tight {
            let (from, to) = (
                unit.accesses[usize::from(tight.from)],
                unit.accesses[usize::from(tight.to)],
            );
            if opened.contains(&to.location) {
                self.pair(unit, tight.template, &from, &to);
            }
        }
        for at in unit
            .at
            .iter()
            .filter(|at| at.accesses > 2 && opened.contains(&at.location))
        {
            self.ends(unit, at, at, self.wanted.same);
        }
    }

    /// Takes the chains from the first accesses to one location to the last to another, or the same.
    fn ends(&mut self, unit: &UnitLog, from: &AtLocation, to: &AtLocation, templates: [[Option<usize>; 2]; 2]) {
        for first in [Kind::Read, Kind::Write] {
            for second in [Kind::Read, Kind::Write] {
                let Some(template) = templates[first as usize][second as usize] else {
                    continue;
                };
                let (Some(from), Some(to)) = (unit.first(from, first), unit.last(to, second)) else {
                    continue;
                };
                if from.point.index < to.point.index {
                    self.pair(unit, template, from, to);
                }
            }
        }
    }

    fn pair(&mut self, unit: &UnitLog, template: usize, from: &Seen, to: &Seen) {
        let (throughout, during) = self.between(unit, from, to);
        let both = [from.location, to.location];
        let locations = if from.location == to.location {
            &both[..1]
        } else {
            &both
        };
        self.nodes.add(&Chain {
            template,
            owner: unit.owner,
            locations,
            events: &[*from, *to],
            throughout: &[throughout],
            during: &[during],
        });
    }

    /// The locks held all along, and those held at any time, between two accesses of a unit.
    fn between(&mut self, unit: &UnitLog, from: &Seen, to: &Seen) -> (LocksetId, LocksetId) {
        match &unit.locks {
            Some(locks) if from.mark != to.mark => (
                locks.throughout(from.mark, to.mark),
                locks.during(from.mark, to.mark, &mut self.sets),
            ),
            _ => (from.held, from.held),
        }
    }

    /// Pairs the locations of the kept units, now that it is known which of them lie open.
    pub(super) fn two_locations(&mut self, stop: &Stop<'_>) {
        let ended = std::mem::take(&mut self.ended);
        let mut partners: FxHashSet<LocationId> = FxHashSet::default();
        for unit in &ended {
            let kept = self.throughout(unit);
            let has_gap = !self.conflicts_only
                || unit
                    .at
                    .iter()
                    .any(|at| self.is_open(at.location, unit.thread, unit.writes(at), kept));
            if has_gap {
                partners.extend(unit.at.iter().map(|at| at.location));
            }
        }
        let mut asked = 0;
        for unit in &ended {
            if stop.now_and_then(&mut asked) {
                break;
            }
            let concerned = unit.at.iter().filter(|at| partners.contains(&at.location));
            let concerned: SmallVec<[&AtLocation; PAIRED]> = concerned.take(PAIRED + 1).collect();
            self.left_out.paired += u64::from(concerned.len() > PAIRED);
            let concerned = &concerned[..concerned.len().min(PAIRED)];
            for a in concerned {
                for b in concerned {
                    let open = |at: &AtLocation| !self.conflicts_only || self.exposure.was_opened(at.location);
                    if a.location != b.location && (open(a) || open(b)) {
                        self.ends(unit, a, b, self.wanted.two);
                    }
                }
            }
        }
    }

    pub(super) fn long_chains(&mut self, unit: &UnitLog) {
        if self.wanted.long.is_empty() {
            return;
        }
        let log = unit.steps(LOG);
        self.left_out.long += u64::from(unit.accesses.len() > LOG);
        for template in self.wanted.long.clone() {
            let shape = self.wanted.templates[template].clone();
            let mut found = Vec::new();
            long_chains(&shape, &log, &mut SmallVec::new(), &mut found);
            for chain in found {
                let (mut throughout, mut during) =
                    (SmallVec::<[LocksetId; 4]>::new(), SmallVec::<[LocksetId; 4]>::new());
                for pair in chain.windows(2) {
                    let (all, some) = self.between(unit, &pair[0], &pair[1]);
                    throughout.push(all);
                    during.push(some);
                }
                let variables = shape.iter().map(|(variable, _)| *variable).max().unwrap_or(0);
                let location = |variable: u8| {
                    let at = shape.iter().position(|(of, _)| *of == variable).unwrap_or(0);
                    chain[at].location
                };
                let locations: SmallVec<[LocationId; 4]> = (0..=variables).map(location).collect();
                self.nodes.add(&Chain {
                    template,
                    owner: unit.owner,
                    locations: &locations,
                    events: &chain,
                    throughout: &throughout,
                    during: &during,
                });
            }
        }
    }

    /// Makes nodes of the single accesses that some pattern can use: those at locations that lie open.
    pub(super) fn singles(&mut self) {
        let lean = self.conflicts_only && self.wanted.long.is_empty();
        let mut hot: FxHashSet<LocationId> = FxHashSet::default();
        hot.extend(
            self.nodes
                .all
                .iter()
                .filter(|node| node.open)
                .flat_map(|node| node.locations.iter().copied()),
        );
        let conflicting: Vec<LocationId> = self.exposure.conflicting().collect();
        for location in conflicting {
            let ways: Vec<_> = self
                .exposure
                .at(location)
                .map(|(thread, kind, locks, _)| (thread, kind, locks))
                .collect();
            let open = |thread, writes, locks| self.is_open(location, thread, writes, locks);
            let lies_open =
                |&(thread, kind, locks): &(ThreadId, StepKind, LocksetId)| open(thread, kind.writes(), locks);
            if lean && !hot.contains(&location) && !ways.iter().any(lies_open) {
                continue;
            }
            let both = |&(thread, _, locks): &(ThreadId, StepKind, LocksetId)| {
                [open(thread, false, locks), open(thread, true, locks)]
            };
            let open: Vec<[bool; 2]> = ways.iter().map(both).collect();
            for ((thread, does, locks, what), open) in self.exposure.at_mut(location).zip(open) {
                let mut variants = std::mem::take(&mut what.variants);
                for (kind, does_it) in [(Kind::Read, does.reads()), (Kind::Write, does.writes())] {
                    let (true, Some(template)) = (does_it, self.wanted.single[kind as usize]) else {
                        continue;
                    };
                    self.nodes.all.push(Node {
                        template,
                        locations: SmallVec::from_slice(&[location]),
                        thread,
                        held: SmallVec::from_slice(&[locks]),
                        throughout: SmallVec::new(),
                        during: SmallVec::new(),
                        open: open[kind as usize],
                        variants: match does {
                            // An update is both.
                            StepKind::Update if kind == Kind::Read => variants.clone(),
                            _ => std::mem::take(&mut variants),
                        },
                    });
                }
            }
        }
    }

    pub(super) fn mark_open(&mut self) {
        let mut nodes = std::mem::take(&mut self.nodes.all);
        for node in &mut nodes {
            let writes = self.wanted.templates[node.template]
                .iter()
                .any(|(_, kind)| *kind == Kind::Write);
            let gaps = if node.throughout.is_empty() {
                &node.held[..]
            } else {
                &node.throughout[..]
            };
            node.open = node.locations.iter().any(|&location| {
                gaps.iter()
                    .any(|&kept| self.is_open(location, node.thread, writes, kept))
            });
        }
        self.nodes.all = nodes;
    }
}

fn long_chains(
    template: &[(u8, Kind)],
    log: &[(Seen, Kind)],
    chain: &mut SmallVec<[Seen; 4]>,
    found: &mut Vec<SmallVec<[Seen; 4]>>,
) {
    let Some(&(variable, kind)) = template.get(chain.len()) else {
        found.push(chain.clone());
        return;
    };
    for (at, (seen, is)) in log.iter().enumerate() {
        if found.len() >= LONG_CHAINS {
            return;
        }
        // Equal variables are equal locations, different ones different.
        let fits = chain.iter().zip(template).all(|(earlier, (of, _))| {
            (*of == variable) == (earlier.location == seen.location) && earlier.point.index < seen.point.index
        });
        if *is == kind && fits {
            chain.push(*seen);
            long_chains(template, &log[at + 1..], chain, found);
            chain.pop();
        }
    }
}
