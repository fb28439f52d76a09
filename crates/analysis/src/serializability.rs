//! Units on a cycle of conflicts, in the observed order.
//!
//! **Paper.** AeroDrome (Mathur and Viswanathan, ASPLOS 2020) checks conflict serialisability with vector clocks in one
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

use crate::engine::{Access, Analysis, Context, Needs};
use crate::finding::{Evidence, Rule, UnitKind};
use crate::raw::{Point, RawReport, RawStep, StepKind};
use crate::sets::{CellKind, is_conditional};
use crate::units::{Owner, UnitId};
use ravel_trace::{FieldId, LocationId, MethodId, SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::VecDeque;

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

/// A unit in a graph: which thread's, and the how manieth there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct NodeId {
    lane: u32,
    number: u32,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: NodeId,
    /// The two accesses and their location; none for program order.
    because: Option<(Point, Point, LocationId)>,
}

#[derive(Debug)]
struct Node {
    owner: Option<Owner>,
    /// Per lane, one more than the number of the latest unit that comes before, itself included.
    clock: SmallVec<[u32; 8]>,
    successors: SmallVec<[Edge; 2]>,
    ended: bool,
    on_cycle: bool,
}

/// One thread's units that are not settled.
#[derive(Debug)]
struct Lane {
    thread: ThreadId,
    /// Number of the first node.
    base: u32,
    nodes: VecDeque<Node>,
}

/// The conflict graph of one projection.
#[derive(Debug, Default)]
struct Graph {
    lanes: Vec<Lane>,
    /// Units ended since the last settling.
    ends: u32,
}

/// An access remembered of a location.
#[derive(Clone, Copy, Debug)]
struct Past {
    node: NodeId,
    point: Point,
}

#[derive(Clone, Debug, Default)]
struct Place {
    write: Option<Past>,
    /// The unsettled readers since the last write, at most one per lane, and in step with them where they read.
    readers: SmallVec<[NodeId; 4]>,
    reads: Vec<Point>,
}

impl Place {
    /// Remembers a read. The earliest of a unit since the last write is as good as any later one.
    #[inline]
    fn read(&mut self, graph: &Graph, past: Past) {
        let mut i = 0;
        while i < self.readers.len() {
            let reader = self.readers[i];
            if reader == past.node {
                return;
            }
            if reader.lane == past.node.lane || graph.is_settled(reader) {
                self.readers.swap_remove(i);
                self.reads.swap_remove(i);
            } else {
                i += 1;
            }
        }
        self.readers.push(past.node);
        self.reads.push(past.point);
    }
}

fn learn(mine: &mut SmallVec<[u32; 8]>, theirs: &[u32]) -> bool {
    if mine.len() < theirs.len() {
        mine.resize(theirs.len(), 0);
    }
    let mut changed = false;
    for (m, t) in mine.iter_mut().zip(theirs) {
        if *t > *m {
            *m = *t;
            changed = true;
        }
    }
    changed
}

fn at(clock: &[u32], lane: u32) -> u32 {
    clock.get(lane as usize).copied().unwrap_or(0)
}

impl Graph {
    #[inline]
    fn lane(&mut self, thread: ThreadId) -> u32 {
        // Dense threads make the lane's number the thread's, in the graph of the whole heap.
        if let Some(lane) = self.lanes.get(thread.index())
            && lane.thread == thread
        {
            return thread.0;
        }
        self.lane_slowly(thread)
    }

    fn lane_slowly(&mut self, thread: ThreadId) -> u32 {
        let known = self.lanes.iter().position(|l| l.thread == thread);
        let lane = known.unwrap_or_else(|| {
            self.lanes.push(Lane {
                thread,
                base: 0,
                nodes: VecDeque::new(),
            });
            self.lanes.len() - 1
        });
        lane as u32
    }

    fn node(&self, id: NodeId) -> Option<&Node> {
        let lane = &self.lanes[id.lane as usize];
        lane.nodes.get(id.number.checked_sub(lane.base)? as usize)
    }

    fn node_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        let lane = &mut self.lanes[id.lane as usize];
        lane.nodes.get_mut(id.number.checked_sub(lane.base)? as usize)
    }

    /// The node of the access in hand: the unit's, or a new one.
    fn current(&mut self, thread: ThreadId, owner: Option<Owner>) -> NodeId {
        let lane_id = self.lane(thread);
        let lane = &mut self.lanes[lane_id as usize];
        if let (Some(last), Some(owner)) = (lane.nodes.back(), owner)
            && !last.ended
            && last.owner.is_some_and(|o| o.unit == owner.unit)
        {
            return NodeId {
                lane: lane_id,
                number: lane.base + lane.nodes.len() as u32 - 1,
            };
        }
        let number = lane.base + lane.nodes.len() as u32;
        let id = NodeId { lane: lane_id, number };
        let mut clock: SmallVec<[u32; 8]> = SmallVec::new();
        if let Some(previous) = lane.nodes.back_mut() {
            // Another unit of the thread on this set is over for this set, even if its stretch is not.
            previous.ended = true;
            clock.clone_from(&previous.clock);
            previous.successors.push(Edge { to: id, because: None });
        }
        if clock.len() <= lane_id as usize {
            clock.resize(lane_id as usize + 1, 0);
        }
        clock[lane_id as usize] = number + 1;
        let ended = owner.is_none();
        let long = lane.nodes.len() >= UNSETTLED;
        lane.nodes.push_back(Node {
            owner,
            clock,
            successors: SmallVec::new(),
            ended,
            on_cycle: false,
        });
        if long {
            self.shorten(lane_id);
        }
        id
    }

    /// Forgets the oldest units of a thread beside which another's has stayed open for long.
    fn shorten(&mut self, lane: u32) {
        self.settle();
        let lane = &mut self.lanes[lane as usize];
        while lane.nodes.len() > UNSETTLED / 2 && lane.nodes.front().is_some_and(|n| n.ended) {
            lane.nodes.pop_front();
            lane.base += 1;
        }
    }

    /// What a thread does from now on is a new node, whatever its unit.
    fn cut(&mut self, thread: ThreadId) {
        let lane = self.lane(thread);
        if let Some(node) = self.lanes[lane as usize].nodes.back_mut() {
            node.ended = true;
        }
    }

    #[inline]
    fn is_settled(&self, id: NodeId) -> bool {
        id.number < self.lanes[id.lane as usize].base
    }

    /// Adds a conflict; tells which nodes are thereby found to be on a cycle.
    fn conflict(&mut self, from: NodeId, to: NodeId, because: (Point, Point, LocationId), cyclic: &mut Vec<NodeId>) {
        let Some(target) = self.node(to) else { return };
        if at(&target.clock, from.lane) > from.number {
            return;
        }
        if let Some(source) = self.node_mut(from) {
            source.successors.push(Edge {
                to,
                because: Some(because),
            });
        }
        let clock = self.node(from).map(|n| n.clock.clone()).unwrap_or_default();
        let mut changed = Vec::new();
        self.tell(&clock, to, &mut changed, cyclic);
        while let Some(id) = changed.pop() {
            let Some(node) = self.node(id) else { continue };
            let (clock, edges) = (node.clock.clone(), node.successors.clone());
            for edge in edges {
                self.tell(&clock, edge.to, &mut changed, cyclic);
            }
        }
    }

    /// Passes a clock on to a successor. One that comes before whoever tells it is on a cycle.
    fn tell(&mut self, clock: &[u32], to: NodeId, changed: &mut Vec<NodeId>, cyclic: &mut Vec<NodeId>) {
        let reaches = at(clock, to.lane) > to.number;
        let Some(next) = self.node_mut(to) else { return };
        if reaches && !next.on_cycle {
            next.on_cycle = true;
            cyclic.push(to);
        }
        if learn(&mut next.clock, clock) {
            changed.push(to);
        }
    }

    /// The unit of a thread ends, if it is the one at hand.
    fn end(&mut self, thread: ThreadId, unit: UnitId) {
        // A thread without a lane has touched nothing yet, and gets its lane in its turn.
        if let Some(lane) = self.lanes.iter_mut().find(|l| l.thread == thread)
            && let Some(node) = lane.nodes.back_mut()
            && node.owner.is_some_and(|o| o.unit == unit)
        {
            node.ended = true;
        }
        self.ends += 1;
        // Settling looks at every lane from every lane: not at every end.
        if self.ends as usize >= self.lanes.len() {
            self.ends = 0;
            self.settle();
        }
    }

    /// Drops the nodes that no open unit comes before.
    fn settle(&mut self) {
        let open: SmallVec<[(usize, u32); 8]> = self
            .lanes
            .iter()
            .enumerate()
            .filter(|(_, l)| l.nodes.back().is_some_and(|n| !n.ended))
            .map(|(i, l)| (i, l.base + l.nodes.len() as u32 - 1))
            .collect();
        for lane in &mut self.lanes {
            while let Some(node) = lane.nodes.front() {
                let reached = open.iter().any(|(i, n)| node.clock.get(*i).is_some_and(|c| c > n));
                if !node.ended || reached {
                    break;
                }
                lane.nodes.pop_front();
                lane.base += 1;
            }
        }
    }

    /// A shortest cycle through a node, as conflicts.
    fn cycle(&self, start: NodeId) -> Vec<(Edge, NodeId)> {
        let mut came: FxHashMap<NodeId, (NodeId, Edge)> = FxHashMap::default();
        let mut queue = VecDeque::from([start]);
        while let Some(id) = queue.pop_front() {
            let Some(node) = self.node(id) else { continue };
            for edge in &node.successors {
                if came.len() > SEARCHED {
                    return Vec::new();
                }
                if edge.to == start {
                    return Self::path(&came, start, id, *edge);
                }
                came.entry(edge.to).or_insert_with(|| {
                    queue.push_back(edge.to);
                    (id, *edge)
                });
            }
        }
        Vec::new()
    }

    fn path(
        came: &FxHashMap<NodeId, (NodeId, Edge)>,
        start: NodeId,
        last: NodeId,
        closing: Edge,
    ) -> Vec<(Edge, NodeId)> {
        let mut path = vec![(closing, last)];
        let mut at = last;
        while at != start {
            let Some((from, edge)) = came.get(&at) else { break };
            path.push((*edge, *from));
            at = *from;
        }
        path.reverse();
        path
    }
}

/// One projection of the trace: the whole heap, or every atomic set for itself.
#[derive(Debug)]
struct Projection {
    graphs: Vec<Option<Box<Graph>>>,
    places: Vec<Place>,
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
    fn access(&mut self, cx: &Context<'_>, access: &Access, owner: Option<Owner>, found: &mut Found) {
        let index = if self.whole { 0 } else { access.cell.set.0 as usize };
        if self.graphs.len() <= index {
            self.graphs.resize_with(index + 1, || None);
        }
        if self.places.len() <= access.location.index() {
            self.places.resize(access.location.index() + 1, Place::default());
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
            && access.cell.synchronizing
            && begins_again(cx, access, self.polled.entry(owner.unit).or_default())
        {
            graph.cut(thread);
        }
        let node = graph.current(thread, owner);
        if let Some(owner) = owner.filter(|_| !self.whole) {
            let sets = self.touched.entry(owner.unit).or_default();
            if sets.last() != Some(&(index as u32)) && !sets.contains(&(index as u32)) {
                sets.push(index as u32);
            }
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
            found.report(cx, graph, id, self.whole);
        }
    }

    fn unit_end(&mut self, cx: &Context<'_>, unit: UnitId) {
        let thread = cx.state.units.info(unit).thread;
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
fn begins_again(cx: &Context<'_>, access: &Access, polled: &mut SmallVec<[(LocationId, SiteId); 2]>) -> bool {
    let here = (access.location, access.point.site);
    if access.point.site == SiteId(0) {
        return false;
    }
    if access.point.kind != StepKind::Read {
        return is_conditional(cx.names, access.point.site);
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
    keys: FxHashSet<(Code, Option<FieldId>, SiteId)>,
    reports: Vec<RawReport>,
}

impl Found {
    fn report(&mut self, cx: &Context<'_>, graph: &Graph, id: NodeId, whole: bool) {
        let Some(owner) = graph.node(id).and_then(|n| n.owner) else {
            return;
        };
        let info = cx.state.units.info(owner.unit);
        let code = (whole, info.method, info.site, owner.kind);
        let tried = self.tried.entry(code).or_default();
        *tried += 1;
        if *tried > SHOWN {
            return;
        }
        let cycle = graph.cycle(id);
        let Some((into, _, location)) = cycle.iter().rev().find_map(|(e, _)| e.because) else {
            return;
        };
        if !self.keys.insert((code, cx.names.field_of(location), into.site)) {
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
        self.reports.push(RawReport {
            analysis: "serializability",
            rule,
            evidence: Evidence::Witnessed,
            pattern: String::new(),
            steps,
            observed: true,
        });
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

    fn access(&mut self, cx: &Context<'_>, access: &Access) {
        if access.cell.exempt {
            return;
        }
        self.whole.access(cx, access, access.owners.whole, &mut self.found);
        // All variables of an imported trace are one set: the whole heap again.
        if access.cell.kind == CellKind::Imported {
            return;
        }
        self.certain.access(cx, access, access.owners.certain, &mut self.found);
        if cx.state.units.assumed_possible() {
            self.any.access(cx, access, access.owners.any, &mut self.found);
        }
    }

    fn unit_end(&mut self, cx: &Context<'_>, unit: UnitId) {
        self.whole.unit_end(cx, unit);
        self.certain.unit_end(cx, unit);
        self.any.unit_end(cx, unit);
    }

    fn finish(&mut self, _: &Context<'_>) -> Vec<RawReport> {
        std::mem::take(&mut self.found.reports)
    }
}
