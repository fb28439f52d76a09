//! The conflict graph of one projection, with clocks that are always its transitive closure.

use ravel_trace::{LocationId, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;

use super::{SEARCHED, UNSETTLED};
use crate::raw::Point;
use crate::units::{Owner, UnitId};

/// A unit in a graph: which thread's, and the how manieth there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct NodeId {
    pub(super) lane: u32,
    pub(super) number: u32,
}

/// Why one unit comes before another: two accesses and their location.
pub(super) type Because = (Point, Point, LocationId);

/// A conflict. That a unit comes before the next of its lane needs none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: NodeId,
    /// None for program order.
    pub(super) because: Option<Because>,
}

impl NodeId {
    /// The unit after it in its lane.
    fn next(self) -> NodeId {
        NodeId {
            number: self.number + 1,
            ..self
        }
    }
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) owner: Option<Owner>,
    /// For each lane, one more than the number of the latest unit that comes before, itself included.
    pub(super) clock: SmallVec<[u32; 8]>,
    pub(super) conflicts: Vec<Edge>,
    pub(super) ended: bool,
    pub(super) on_cycle: bool,
}

/// One thread's units that are not settled.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) thread: ThreadId,
    /// Number of the first node.
    pub(super) base: u32,
    pub(super) nodes: VecDeque<Node>,
}

/// The conflict graph of one projection.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) lanes: Vec<Lane>,
    /// Units ended since the last settling.
    pub(super) ends: u32,
    /// Units forgotten before they were settled.
    pub(super) forgotten: u64,
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
    pub(super) fn lane(&mut self, thread: ThreadId) -> u32 {
        // Dense threads make the lane's number the thread's, in the graph of the whole heap.
        if let Some(lane) = self.lanes.get(thread.index())
            && lane.thread == thread
        {
            return thread.0;
        }
        self.lane_slowly(thread)
    }

    pub(super) fn lane_slowly(&mut self, thread: ThreadId) -> u32 {
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

    pub(super) fn node(&self, id: NodeId) -> Option<&Node> {
        let lane = &self.lanes[id.lane as usize];
        lane.nodes.get(id.number.checked_sub(lane.base)? as usize)
    }

    fn node_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        let lane = &mut self.lanes[id.lane as usize];
        lane.nodes.get_mut(id.number.checked_sub(lane.base)? as usize)
    }

    /// The node of the access in hand: the unit's, or a new one, as the second part of the answer says.
    #[inline]
    pub(super) fn current(&mut self, thread: ThreadId, owner: Option<Owner>) -> (NodeId, bool) {
        let lane_id = self.lane(thread);
        let lane = &mut self.lanes[lane_id as usize];
        if let (Some(last), Some(owner)) = (lane.nodes.back(), owner)
            && !last.ended
            && last.owner.is_some_and(|o| o.unit == owner.unit)
        {
            let id = NodeId {
                lane: lane_id,
                number: lane.base + lane.nodes.len() as u32 - 1,
            };
            return (id, false);
        }
        (self.begin(lane_id, owner), true)
    }

    /// A new node at the end of a lane.
    fn begin(&mut self, lane_id: u32, owner: Option<Owner>) -> NodeId {
        let lane = &mut self.lanes[lane_id as usize];
        let number = lane.base + lane.nodes.len() as u32;
        let id = NodeId { lane: lane_id, number };
        let mut clock: SmallVec<[u32; 8]> = SmallVec::new();
        if let Some(previous) = lane.nodes.back_mut() {
            // Another unit of the thread on this set is over for this set, even if its stretch is not.
            previous.ended = true;
            clock.clone_from(&previous.clock);
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
            conflicts: Vec::new(),
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
            self.forgotten += 1;
        }
    }

    /// What a thread does from now on is a new node, whatever its unit.
    pub(super) fn cut(&mut self, thread: ThreadId) {
        let lane = self.lane(thread);
        if let Some(node) = self.lanes[lane as usize].nodes.back_mut() {
            node.ended = true;
        }
    }

    #[inline]
    pub(super) fn is_settled(&self, id: NodeId) -> bool {
        id.number < self.lanes[id.lane as usize].base
    }

    /// Adds a conflict; tells which nodes are thereby found to be on a cycle.
    pub(super) fn conflict(
        &mut self,
        from: NodeId,
        to: NodeId,
        because: (Point, Point, LocationId),
        cyclic: &mut Vec<NodeId>,
    ) {
        let Some(target) = self.node(to) else { return };
        if at(&target.clock, from.lane) > from.number {
            return;
        }
        if let Some(source) = self.node_mut(from) {
            source.conflicts.push(Edge {
                to,
                because: Some(because),
            });
        }
        let clock = self.node(from).map(|n| n.clock.clone()).unwrap_or_default();
        let mut changed = Vec::new();
        self.tell(&clock, to, &mut changed, cyclic);
        while let Some(id) = changed.pop() {
            let Some(node) = self.node_mut(id) else { continue };
            let clock = node.clock.clone();
            let conflicts = std::mem::take(&mut node.conflicts);
            for edge in &conflicts {
                self.tell(&clock, edge.to, &mut changed, cyclic);
            }
            self.tell(&clock, id.next(), &mut changed, cyclic);
            if let Some(node) = self.node_mut(id) {
                node.conflicts = conflicts;
            }
        }
    }

    /// Passes a clock on to a successor. A successor that comes before the sender is on a cycle.
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
    pub(super) fn end(&mut self, thread: ThreadId, unit: UnitId) {
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
    pub(super) fn cycle(&self, start: NodeId) -> Vec<(Edge, NodeId)> {
        let mut came: FxHashMap<NodeId, (NodeId, Edge)> = FxHashMap::default();
        let mut queue = VecDeque::from([start]);
        while let Some(id) = queue.pop_front() {
            let Some(node) = self.node(id) else { continue };
            let next = Edge {
                to: id.next(),
                because: None,
            };
            let next = self.node(next.to).map(|_| next);
            for edge in node.conflicts.iter().chain(&next) {
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
