//! Circles in a graph whose edges each have several witnesses, such that the witnesses chosen go together.
//!
//! For every edge we search the shortest cycle through it. Only edges within one strongly connected part can lie on a
//! circle; within it a search that deepens step by step, led by the distance back, finds the shortest first. Where very many
//! witnesses clash the search gives up after a fixed number of steps.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Steps of one search.
const STEPS: usize = 20_000;

/// A circle: nodes in order, each with the witness of the edge to the next.
pub type Circle<'e, N, E> = Vec<(N, &'e E)>;

/// The shortest circle through each edge, each circle once, the least node first.
pub fn shortest<'e, N: Ord + Copy, E>(
    edges: &'e BTreeMap<(N, N), Vec<E>>,
    together: &dyn Fn(&E, &E) -> bool,
) -> Vec<Circle<'e, N, E>> {
    let mut search = CycleSearch {
        edges,
        next: BTreeMap::new(),
        before: BTreeMap::new(),
        together,
        steps: Cell::new(0),
    };
    for (from, to) in edges.keys().filter(|(from, to)| from != to) {
        search.next.entry(*from).or_default().push(*to);
        search.before.entry(*to).or_default().push(*from);
    }
    let mut circles: BTreeMap<Vec<N>, Circle<'e, N, E>> = BTreeMap::new();
    let mut known: BTreeSet<(N, N)> = BTreeSet::new();
    for &start in search.next.keys() {
        let back = search.distances(start);
        for &second in &search.next[&start] {
            if known.contains(&(start, second)) || !back.contains_key(&second) {
                continue;
            }
            let Some(circle) = search.through(start, second, &back) else {
                continue;
            };
            for (at, (node, _)) in circle.iter().enumerate() {
                known.insert((*node, circle[(at + 1) % circle.len()].0));
            }
            let least = (0..circle.len()).min_by_key(|at| circle[*at].0).unwrap_or(0);
            let turned: Circle<'e, N, E> = circle[least..].iter().chain(&circle[..least]).copied().collect();
            circles.insert(turned.iter().map(|(node, _)| *node).collect(), turned);
        }
    }
    circles.into_values().collect()
}

struct CycleSearch<'e, 'f, N, E> {
    edges: &'e BTreeMap<(N, N), Vec<E>>,
    next: BTreeMap<N, Vec<N>>,
    before: BTreeMap<N, Vec<N>>,
    together: &'f dyn Fn(&E, &E) -> bool,
    steps: Cell<usize>,
}

impl<'e, N: Ord + Copy, E> CycleSearch<'e, '_, N, E> {
    /// How many edges lead from each node to `to`, for the nodes from which any do.
    fn distances(&self, to: N) -> BTreeMap<N, usize> {
        let mut distances = BTreeMap::from([(to, 0)]);
        let mut pending = VecDeque::from([to]);
        while let Some(node) = pending.pop_front() {
            let distance = distances[&node];
            for before in self.before.get(&node).into_iter().flatten() {
                distances.entry(*before).or_insert_with(|| {
                    pending.push_back(*before);
                    distance + 1
                });
            }
        }
        distances
    }

    fn through(&self, start: N, second: N, back: &BTreeMap<N, usize>) -> Option<Circle<'e, N, E>> {
        self.steps.set(0);
        let shortest = back.get(&second)? + 1;
        (shortest..=back.len()).find_map(|length| {
            self.edges[&(start, second)].iter().find_map(|witness| {
                let mut path = vec![(start, witness)];
                self.extend(&mut path, second, length, back).then_some(path)
            })
        })
    }

    /// Whether the path, which leads to `node`, can be closed with `length` edges in all; it is then whole.
    fn extend(&self, path: &mut Circle<'e, N, E>, node: N, length: usize, back: &BTreeMap<N, usize>) -> bool {
        self.steps.set(self.steps.get() + 1);
        let Some(left) = back.get(&node) else { return false };
        if self.steps.get() > STEPS || path.len() + left > length || path.len() > length {
            return false;
        }
        if path.len() == length {
            return node == path[0].0;
        }
        if path.iter().any(|(known, _)| *known == node) {
            return false;
        }
        for &next in self.next.get(&node).into_iter().flatten() {
            for witness in &self.edges[&(node, next)] {
                if path.iter().all(|(_, known)| (self.together)(known, witness)) {
                    path.push((node, witness));
                    if self.extend(path, next, length, back) {
                        return true;
                    }
                    path.pop();
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(edges: &[(u8, u8, &'static str)]) -> Vec<String> {
        let mut map: BTreeMap<(u8, u8), Vec<&'static str>> = BTreeMap::new();
        for (from, to, gates) in edges {
            map.entry((*from, *to)).or_default().push(gates);
        }
        let together = |a: &&str, b: &&str| !a.chars().any(|gate| b.contains(gate));
        let found = shortest(&map, &together);
        let text = |circle: &Circle<'_, u8, &str>| circle.iter().map(|(node, _)| node.to_string()).collect();
        found.iter().map(text).collect()
    }

    #[test]
    fn circles_of_any_length_are_found_once() {
        assert_eq!(circles(&[(1, 2, ""), (2, 1, "")]), ["12"]);
        assert_eq!(circles(&[(3, 1, ""), (1, 2, ""), (2, 3, "")]), ["123"]);
        let ring: Vec<(u8, u8, &str)> = (0..9).map(|at| (at, (at + 1) % 9, "")).collect();
        assert_eq!(circles(&ring), ["012345678"]);
        assert!(circles(&ring[..8]).is_empty());
    }

    #[test]
    fn a_gate_that_two_witnesses_share_rules_them_out() {
        assert!(circles(&[(1, 2, "g"), (2, 1, "g")]).is_empty());
        assert_eq!(circles(&[(1, 2, "g"), (2, 1, "g"), (2, 1, "h")]), ["12"]);
        assert!(circles(&[(1, 2, "g"), (2, 3, ""), (3, 1, "g")]).is_empty());
        // The short way is gated, the long one is not.
        assert_eq!(circles(&[(1, 2, "g"), (2, 1, "g"), (2, 3, ""), (3, 1, "")]), ["123"]);
    }

    #[test]
    fn circles_that_share_a_node_are_told_apart() {
        assert_eq!(circles(&[(1, 2, ""), (2, 1, ""), (2, 3, ""), (3, 2, "")]), ["12", "23"]);
    }
}
