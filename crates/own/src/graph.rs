//! Inclusion constraints between sets of objects, and the order in which they are solved.
//!
//! A node has a set; an edge says that one node's set is part of another's; a node may let only objects of one type through.
//! Only what is new in a set travels (difference propagation), nodes are visited along the edges (lowest in topological order
//! first), and nodes on a circle of edges are one node (union-find). The order and the circles are looked for again
//! whenever many edges have been added.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use crate::bits::Bits;
use crate::objects::{ObjectIx, Objects, STRANGER, Type};
use crate::world::World;

/// The node of all that code outside has seen.
pub const OUT: u32 = 0;

/// Edges that may be added before circles are looked for again, at the least.
const NEW_EDGES: usize = 20_000;

/// A system of constraints; `R` is what else is to be done with each object that comes to a node.
pub struct Graph<'w, R> {
    /// The program.
    pub world: &'w World,
    /// The objects.
    pub objects: Objects,
    /// Whether one object, the stranger, stands for all that code outside has seen: see [`Graph::given`].
    pub coarse: bool,
    /// A measure of the work done, in words of sets and rules applied.
    pub work: u64,
    parents: Vec<u32>,
    sets: Vec<Bits>,
    news: Vec<Bits>,
    next: Vec<Vec<u32>>,
    rules: Vec<Vec<R>>,
    types: Vec<Option<Type>>,
    edges: FxHashSet<(u32, u32)>,
    added: usize,
    order: Vec<u32>,
    pending: BinaryHeap<Reverse<(u32, u32)>>,
    is_pending: Vec<bool>,
    stranger: Bits,
}

impl<'w, R: Copy> Graph<'w, R> {
    /// With the node [`OUT`] alone.
    pub fn new(world: &'w World, coarse: bool) -> Self {
        let mut graph = Graph {
            world,
            objects: Objects::new(world),
            coarse,
            work: 0,
            parents: Vec::new(),
            sets: Vec::new(),
            news: Vec::new(),
            next: Vec::new(),
            rules: Vec::new(),
            types: Vec::new(),
            edges: FxHashSet::default(),
            added: 0,
            order: Vec::new(),
            pending: BinaryHeap::new(),
            is_pending: Vec::new(),
            stranger: [STRANGER.0].into_iter().collect(),
        };
        graph.add_node();
        graph
    }

    /// A new node.
    pub fn add_node(&mut self) -> u32 {
        let node = self.parents.len() as u32;
        self.parents.push(node);
        self.sets.push(Bits::default());
        self.news.push(Bits::default());
        self.next.push(Vec::new());
        self.rules.push(Vec::new());
        self.types.push(None);
        self.order.push(u32::MAX);
        self.is_pending.push(false);
        node
    }

    /// Lets only objects of a type come to a node that has none yet.
    pub fn narrow(&mut self, node: u32, to: Type) {
        if self.parents[node as usize] == node && self.sets[node as usize].is_empty() {
            self.types[node as usize] = Some(to);
        }
    }

    /// The node that stands for a node.
    pub fn find(&self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            node = self.parents[node as usize];
        }
        node
    }

    fn find_and_shorten(&mut self, node: u32) -> u32 {
        let root = self.find(node);
        let mut node = node;
        while self.parents[node as usize] != root {
            node = std::mem::replace(&mut self.parents[node as usize], root);
        }
        root
    }

    /// The set of a node.
    pub fn set(&self, node: u32) -> &Bits {
        &self.sets[self.find(node) as usize]
    }

    /// Puts an object into a node's set.
    pub fn put(&mut self, object: ObjectIx, node: u32) {
        let node = self.find_and_shorten(node);
        let fits =
            self.types[node as usize].is_none_or(|wanted| self.objects.of(self.world, wanted).contains(object.0));
        if fits && self.sets[node as usize].insert(object.0) {
            self.news[node as usize].insert(object.0);
            self.later(node);
        }
    }

    /// Makes one node's set part of another's.
    pub fn edge(&mut self, from: u32, to: u32) {
        let (from, to) = (self.find_and_shorten(from), self.find_and_shorten(to));
        if from == to || !self.edges.insert((from, to)) {
            return;
        }
        self.next[from as usize].push(to);
        self.added += 1;
        let set = std::mem::take(&mut self.sets[from as usize]);
        self.flow(from, &set, to);
        self.sets[from as usize] = set;
    }

    /// What a node gives along its edges of what has come to it. What code outside has seen is given as the stranger if the
    /// analysis is coarse.
    fn flow(&mut self, from: u32, objects: &Bits, to: u32) {
        let to = self.find_and_shorten(to);
        if from == to {
            return;
        }
        self.work += 4;
        let mask = self.types[to as usize].map(|wanted| self.objects.of(self.world, wanted));
        let at = to as usize;
        let changed = if self.coarse && from == OUT {
            self.sets[at].add_through(&self.stranger, mask, &mut self.news[at])
        } else {
            self.work += objects.words();
            self.sets[at].add_through(objects, mask, &mut self.news[at])
        };
        if changed {
            self.later(to);
        }
    }

    fn later(&mut self, node: u32) {
        if !std::mem::replace(&mut self.is_pending[node as usize], true) {
            self.pending.push(Reverse((self.order[node as usize], node)));
        }
    }

    /// Adds a rule to a node; gives the objects that it is to be applied to at once.
    pub fn rule(&mut self, node: u32, rule: R) -> Bits {
        let node = self.find_and_shorten(node);
        self.rules[node as usize].push(rule);
        self.sets[node as usize].clone()
    }

    /// Makes two nodes one.
    pub fn unify(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find_and_shorten(a), self.find_and_shorten(b));
        if a == b {
            return;
        }
        let (keep, gone) = if a == OUT || b != OUT && self.next[a as usize].len() >= self.next[b as usize].len() {
            (a as usize, b as usize)
        } else {
            (b as usize, a as usize)
        };
        self.parents[gone] = keep as u32;
        let done = self.sets[keep].without(&self.news[keep]);
        let done = done.and(&self.sets[gone].without(&self.news[gone]));
        let more = std::mem::take(&mut self.sets[gone]);
        self.sets[keep].add(&more);
        self.news[keep] = self.sets[keep].without(&done);
        self.news[gone] = Bits::default();
        self.types[keep] = None;
        let next = std::mem::take(&mut self.next[gone]);
        self.next[keep].extend(next);
        let rules = std::mem::take(&mut self.rules[gone]);
        self.rules[keep].extend(rules);
        if !self.news[keep].is_empty() {
            self.later(keep as u32);
        }
    }

    /// Passes on what is new in the next node; gives the node, what is new and the rules to apply to it, none if nothing is
    /// pending.
    pub fn step(&mut self) -> Option<(u32, Bits, Vec<R>)> {
        if self.added > NEW_EDGES.max(self.edges.len() / 4) {
            self.collapse();
        }
        loop {
            let Reverse((_, node)) = self.pending.pop()?;
            self.is_pending[node as usize] = false;
            if self.parents[node as usize] != node {
                continue;
            }
            let new = std::mem::take(&mut self.news[node as usize]);
            if new.is_empty() {
                continue;
            }
            let next = std::mem::take(&mut self.next[node as usize]);
            for to in &next {
                self.flow(node, &new, *to);
            }
            self.next[node as usize] = next;
            return Some((node, new, self.rules[node as usize].clone()));
        }
    }

    /// Makes nodes on a circle one, and orders the rest.
    fn collapse(&mut self) {
        self.added = 0;
        let circles = self.components(true);
        for circle in circles.iter().filter(|circle| circle.len() > 1) {
            for node in &circle[1..] {
                self.unify(circle[0], *node);
            }
        }
        self.edges.clear();
        for node in 0..self.next.len() {
            let mut next = std::mem::take(&mut self.next[node]);
            for to in &mut next {
                *to = self.find_and_shorten(*to);
            }
            next.sort_unstable();
            next.dedup();
            next.retain(|to| *to != node as u32);
            self.edges.extend(next.iter().map(|to| (node as u32, *to)));
            self.next[node] = next;
        }
        // Components come with what follows them first.
        let components = self.components(false);
        let count = components.len() as u32;
        for (at, component) in components.into_iter().enumerate() {
            for node in component {
                self.order[node as usize] = count - at as u32;
            }
        }
        let pending = std::mem::take(&mut self.pending);
        for Reverse((_, node)) in pending {
            self.pending.push(Reverse((self.order[node as usize], node)));
        }
    }

    /// Strongly connected components of the nodes that stand for themselves (Tarjan); if they are to become one, only of those
    /// whose sets are equal then: an edge that lets only a type through makes no equality.
    fn components(&self, equal: bool) -> Vec<Vec<u32>> {
        let count = self.parents.len();
        let leaves_out = |node: u32| equal && (self.types[node as usize].is_some() || self.coarse && node == OUT);
        let mut index = vec![0u32; count];
        let mut low = vec![0u32; count];
        let mut on_stack = vec![false; count];
        let mut stack: Vec<u32> = Vec::new();
        let mut path: Vec<(u32, usize)> = Vec::new();
        let mut found = Vec::new();
        let mut clock = 0;
        for root in 0..count as u32 {
            if self.parents[root as usize] != root || index[root as usize] != 0 || leaves_out(root) {
                continue;
            }
            path.push((root, 0));
            while let Some((node, at)) = path.last_mut() {
                let (here, from) = (*node as usize, *at);
                if from == 0 {
                    clock += 1;
                    index[here] = clock;
                    low[here] = clock;
                    stack.push(here as u32);
                    on_stack[here] = true;
                }
                let mut entered = None;
                let mut at_edge = from;
                while let Some(to) = self.next[here].get(at_edge) {
                    at_edge += 1;
                    let to = self.find(*to);
                    if leaves_out(to) {
                        continue;
                    }
                    if index[to as usize] == 0 {
                        entered = Some(to);
                        break;
                    }
                    if on_stack[to as usize] {
                        low[here] = low[here].min(index[to as usize]);
                    }
                }
                *at = at_edge.max(1);
                if let Some(to) = entered {
                    path.push((to, 0));
                    continue;
                }
                path.pop();
                if let Some((before, _)) = path.last() {
                    low[*before as usize] = low[*before as usize].min(low[here]);
                }
                if low[here] == index[here] {
                    let mut component = Vec::new();
                    while let Some(node) = stack.pop() {
                        on_stack[node as usize] = false;
                        component.push(node);
                        if node as usize == here {
                            break;
                        }
                    }
                    found.push(component);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::{Object, ObjectKind};

    /// Solved by going round until nothing changes.
    fn plain(nodes: usize, objects: &[(u32, u32)], edges: &[(u32, u32)]) -> Vec<Bits> {
        let mut sets = vec![Bits::default(); nodes];
        for (object, node) in objects {
            sets[*node as usize].insert(*object);
        }
        loop {
            let before = sets.clone();
            for (from, to) in edges {
                let set = sets[*from as usize].clone();
                sets[*to as usize].add(&set);
            }
            if sets == before {
                return sets;
            }
        }
    }

    #[test]
    fn the_least_solution_is_found_with_and_without_collapsing() {
        let world = World::default();
        let mut rng = fastrand::Rng::with_seed(12_345);
        let mut random = |bound: u32| rng.u32(..bound);
        for round in 0..200 {
            let nodes = 2 + random(20);
            let edges: Vec<_> = (0..random(50)).map(|_| (random(nodes), random(nodes))).collect();
            let objects: Vec<_> = (0..1 + random(10)).map(|_| (1 + random(6), random(nodes))).collect();
            let mut graph: Graph<'_, u8> = Graph::new(&world, false);
            for _ in 1..nodes {
                graph.add_node();
            }
            for _ in 0..6 {
                graph.objects.push(Object {
                    kind: ObjectKind::Stranger,
                    site: None,
                });
            }
            for (at, (from, to)) in edges.iter().enumerate() {
                graph.edge(*from, *to);
                if at % 3 == 0 {
                    if let Some((object, node)) = objects.get(at / 3) {
                        graph.put(ObjectIx(*object), *node);
                    }
                    graph.step();
                }
                if round % 2 == 0 && at % 7 == 0 {
                    graph.collapse();
                }
            }
            for (object, node) in &objects {
                graph.put(ObjectIx(*object), *node);
            }
            while graph.step().is_some() {}
            let wanted = plain(nodes as usize, &objects, &edges);
            for node in 0..nodes {
                let found: Vec<u32> = graph.set(node).iter().collect();
                assert_eq!(
                    found,
                    wanted[node as usize].iter().collect::<Vec<_>>(),
                    "{edges:?} {objects:?}"
                );
            }
        }
    }
}
