//! Units on a cycle of conflicts, in the observed order.
//!
//! **Paper.** AeroDrome (Mathur and Viswanathan, ASPLOS 2020) checks conflict serializability with vector clocks in one
//! pass. Here as there a clock says which units of each thread come before, and a unit that comes before itself is on a
//! cycle.
//!
//! **Departures.** AeroDrome stops at the first violation and names no cycle. Here clocks belong to units, not to
//! variables, and count units; when a unit learns of a new predecessor it tells its successors at once, so that clocks are
//! always the transitive closure, cycles included, and every unit on a cycle is noticed. A unit is *settled* when it and all
//! that come before it have ended: nothing can reach it any more, so it is on no further cycle, is dropped, and accesses
//! remembered of it are ignored. Lock operations are no conflicts: a cycle through locks alone changes no value.
//!
//! The same graph is kept for the whole heap (one unit on everything that it touches: rule `unserializable`) and per atomic
//! set (rules `atomicity` on one location and `atomic-set` on several), there for certain units and, if the trace has
//! activations, for units of all kinds. A unit that reads a volatile or
//! modelled location again at the same site, or updates it conditionally, begins anew there: a loop of that kind is made to
//! be interrupted.
//!
//! **Promise.** A unit is reported exactly if it is on a cycle of the conflict graph of the trace (`witnessed`), each piece
//! of code and variable once, with one cycle that it is on. Cycles longer than [`LONGEST`] conflicts are shown cut. Misses: a cycle through a unit that
//! ended more than [`UNSETTLED`] units of its thread ago, while a unit of another thread is open all the time; a unit
//! interrupted on its own set by another unit of its thread counts as two.
//!
//! **Cost.** Constant time per access whose predecessors are settled or known, else the number of threads per new
//! conflict and per successor told. Space: per location the last write and the reads since; per unsettled unit one
//! clock.

use crate::engine::{Access, Analysis, Context, Needs, View, left_out};
use crate::finding::{Evidence, Rule, UnitKind};
use crate::raw::{Point, RawReport, RawStep, StepKind};
use crate::sets::{CellKind, Guard};
use crate::units::{Owner, UnitId};
use ravel_trace::{FieldId, LocationId, MethodId, SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

mod graph;

use graph::{Graph, NodeId};

/// Conflicts of a cycle that a report shows.
pub const LONGEST: usize = 16;

/// Units of one thread remembered while another's unit stays open.
pub const UNSETTLED: usize = 128;

/// Reads of volatile and modelled locations remembered per unit, to see loops.
const POLLED: usize = 32;

/// Units visited to find a cycle to show.
const SEARCHED: usize = 10_000;

/// Units of the same code for which a cycle is looked for.
const SHOWN: u32 = 64;

/// An access remembered of a location.
#[derive(Clone, Copy, Debug)]
struct Past {
    node: NodeId,
    point: Point,
}

#[derive(Clone, Debug, Default)]
struct LastAccesses {
    write: Option<Past>,
    /// The readers since the last write, unsettled ones among them, at most one per lane, and in step with them where they read.
    readers: SmallVec<[NodeId; 2]>,
    reads: Vec<Point>,
}

impl LastAccesses {
    /// Remembers a read. The earliest of a unit since the last write is as good as any later one.
    #[inline]
    fn read(&mut self, graph: &Graph, past: Past) {
        if let Some(at) = self.readers.iter().position(|reader| reader.lane == past.node.lane) {
            if self.readers[at] != past.node {
                self.readers[at] = past.node;
                self.reads[at] = past.point;
            }
            return;
        }
        let mut i = 0;
        while i < self.readers.len() {
            if graph.is_settled(self.readers[i]) {
                self.readers.swap_remove(i);
                self.reads.swap_remove(i);
            } else {
                i += 1;
            }
        }
        if self.reads.capacity() == 0 {
            // Most locations have one reader at a time.
            self.reads.reserve_exact(1);
        }
        self.readers.push(past.node);
        self.reads.push(past.point);
    }
}

/// One projection of the trace: the whole heap, or every atomic set for itself.
#[derive(Debug)]
struct Projection {
    graphs: Vec<Option<Box<Graph>>>,
    places: Vec<LastAccesses>,
    /// The graphs that an open unit has touched.
    touched: FxHashMap<UnitId, SmallVec<[u32; 2]>>,
    /// Where an open unit has read volatile and modelled locations.
    polled: FxHashMap<UnitId, SmallVec<[(LocationId, SiteId); 2]>>,
    whole: bool,
}

impl Projection {
    fn new(whole: bool) -> Self {
        Projection {
            graphs: Vec::new(),
            places: Vec::new(),
            touched: FxHashMap::default(),
            polled: FxHashMap::default(),
            whole,
        }
    }

    #[inline]
    fn access(&mut self, view: &View, access: &Access, owner: Option<Owner>, found: &mut Found) {
        let index = if self.whole { 0 } else { access.cell.set.0 as usize };
        if self.graphs.len() <= index {
            self.graphs.resize_with(index + 1, || None);
        }
        if self.places.len() <= access.location.index() {
            self.places.resize(access.location.index() + 1, LastAccesses::default());
        }
        let thread = access.thread();
        let graph = self.graphs[index].get_or_insert_with(Box::default);
        if self.whole {
            // Lanes in the order of the threads.
            while graph.lanes.len() <= thread.index() {
                let next = ThreadId::from(graph.lanes.len());
                graph.lane_slowly(next);
            }
        }
        if let Some(owner) = owner
            && access.is_synchronization()
            && begins_again(access, self.polled.entry(owner.unit).or_default())
        {
            graph.cut(thread);
        }
        let (node, new) = graph.current(thread, owner);
        if let Some(owner) = owner.filter(|_| new && !self.whole) {
            // A unit that comes back to a set is there twice; its second end finds nothing to do.
            self.touched.entry(owner.unit).or_default().push(index as u32);
        }
        let place = &mut self.places[access.location.index()];
        let mut cyclic = Vec::new();
        if let Some(write) = place.write
            && write.node.lane != node.lane
            && !graph.is_settled(write.node)
        {
            let because = (write.point, access.point, access.location);
            graph.conflict(write.node, node, because, &mut cyclic);
        }
        let past = Past {
            node,
            point: access.point,
        };
        if access.writes() {
            for (reader, read) in place.readers.iter().zip(&place.reads) {
                if reader.lane != node.lane && !graph.is_settled(*reader) {
                    let because = (*read, access.point, access.location);
                    graph.conflict(*reader, node, because, &mut cyclic);
                }
            }
            place.write = Some(past);
            place.readers.clear();
            place.reads.clear();
        } else {
            place.read(graph, past);
        }
        for id in cyclic {
            found.report(view, graph, id, self.whole);
        }
    }

    fn unit_end(&mut self, view: &View, unit: UnitId) {
        let thread = view.units.info(unit).thread;
        self.polled.remove(&unit);
        if self.whole {
            if let Some(Some(graph)) = self.graphs.first_mut() {
                graph.end(thread, unit);
            }
            return;
        }
        for set in self.touched.remove(&unit).unwrap_or_default() {
            if let Some(Some(graph)) = self.graphs.get_mut(set as usize) {
                graph.end(thread, unit);
            }
        }
    }
}

/// Whether a loop on a volatile or modelled location begins again, or a conditional update proves that nothing came
/// between: what the unit did before is another step.
fn begins_again(access: &Access, polled: &mut SmallVec<[(LocationId, SiteId); 2]>) -> bool {
    let here = (access.location, access.point.site);
    if access.point.site == SiteId(0) {
        return false;
    }
    if access.point.kind != StepKind::Read {
        return access.cell.guard != Guard::None;
    }
    let again = polled.contains(&here);
    if !again && polled.len() < POLLED {
        polled.push(here);
    }
    again
}

/// The code of a unit: on the whole heap or not, its method, where it begins, its kind.
type Code = (bool, Option<MethodId>, SiteId, UnitKind);

#[derive(Debug, Default)]
struct Found {
    tried: FxHashMap<Code, u32>,
    keys: FxHashSet<(Code, LocationId, SiteId)>,
    /// With what tells them apart, but for the location: only its field does.
    reports: Vec<((Code, LocationId, SiteId), RawReport)>,
    not_searched: u64,
    not_found: u64,
}

impl Found {
    fn report(&mut self, view: &View, graph: &Graph, id: NodeId, whole: bool) {
        let Some(owner) = graph.node(id).and_then(|n| n.owner) else {
            return;
        };
        let info = view.units.info(owner.unit);
        let code = (whole, info.method, info.site, owner.kind);
        let tried = self.tried.entry(code).or_default();
        *tried += 1;
        if *tried > SHOWN {
            self.not_searched += 1;
            return;
        }
        let cycle = graph.cycle(id);
        self.not_found += u64::from(cycle.is_empty());
        let Some((into, _, location)) = cycle.iter().rev().find_map(|(e, _)| e.because) else {
            return;
        };
        if !self.keys.insert((code, location, into.site)) {
            return;
        }
        let mut steps: Vec<RawStep> = Vec::new();
        for (edge, from) in cycle.iter().take(LONGEST) {
            let Some((first, second, location)) = edge.because else {
                continue;
            };
            let step = |point, id| RawStep {
                point,
                location: Some(location),
                lock: None,
                owner: graph.node(id).and_then(|n| n.owner),
            };
            for step in [step(first, *from), step(second, edge.to)] {
                if !steps.iter().any(|s| s.point.index == step.point.index) {
                    steps.push(step);
                }
            }
        }
        steps.sort_by_key(|s| s.point.index);
        let mut locations: Vec<_> = steps.iter().filter_map(|s| s.location).collect();
        locations.sort_unstable();
        locations.dedup();
        let rule = match (whole, locations.len()) {
            (true, _) => Rule::Unserializable,
            (false, 0 | 1) => Rule::Atomicity,
            (false, _) => Rule::AtomicSet,
        };
        let key = (code, location, into.site);
        let report = RawReport {
            analysis: "serializability",
            rule,
            evidence: Evidence::Witnessed,
            pattern: String::new(),
            steps,
            observed: true,
        };
        self.reports.push((key, report));
    }
}

/// The analysis.
#[derive(Debug)]
pub struct Serializability {
    whole: Projection,
    certain: Projection,
    any: Projection,
    found: Found,
}

impl Default for Serializability {
    fn default() -> Self {
        Serializability {
            whole: Projection::new(true),
            certain: Projection::new(false),
            any: Projection::new(false),
            found: Found::default(),
        }
    }
}

impl Analysis for Serializability {
    fn name(&self) -> &'static str {
        "serializability"
    }

    fn needs(&self) -> Needs {
        Needs {
            units: true,
            ..Needs::default()
        }
    }

    fn access(&mut self, view: &View, access: &Access) {
        if access.cell.exempt || access.cell.lock_state {
            return;
        }
        self.whole.access(view, access, access.owners.whole, &mut self.found);
        // All variables of an imported trace are one set: the whole heap again.
        if access.cell.kind == CellKind::Imported {
            return;
        }
        self.certain
            .access(view, access, access.owners.certain, &mut self.found);
        if view.assumed_possible() {
            self.any.access(view, access, access.owners.any, &mut self.found);
        }
    }

    fn unit_end(&mut self, view: &View, unit: UnitId, _: u64) {
        self.whole.unit_end(view, unit);
        self.certain.unit_end(view, unit);
        self.any.unit_end(view, unit);
    }

    fn finish(&mut self, cx: &Context<'_>) -> Vec<RawReport> {
        let mut known: FxHashSet<(Code, Option<FieldId>, SiteId)> = FxHashSet::default();
        let mut reports = std::mem::take(&mut self.found.reports);
        let field = |location| cx.names.field_of(cx.state.cells.named(location));
        reports.retain(|((code, location, site), _)| known.insert((*code, field(*location), *site)));
        reports.into_iter().map(|(_, report)| report).collect()
    }

    fn left_out(&self) -> Vec<String> {
        let graphs = [&self.whole, &self.certain, &self.any].map(|projection| projection.graphs.iter().flatten());
        let forgotten = graphs.into_iter().flatten().map(|graph| graph.forgotten).sum();
        let unsettled = format!("units of threads that ended more than {UNSETTLED} while another unit was open");
        let shown = format!("units on a cycle whose code was shown {SHOWN} times");
        let counts = [
            (forgotten, unsettled.as_str()),
            (self.found.not_searched, shown.as_str()),
            (self.found.not_found, "units on a cycle that was too large to be shown"),
        ];
        left_out("serializability", counts)
    }
}
