//! What methods do to locks, carried up the call graph: a set of items per method, each in the method's own words, which
//! callers translate into theirs.
//!
//! Both LOCKSHELD (Fig. 7) and FINAL_T (Fig. 8) are such sets; they differ in their items. The fixed point is reached in
//! rounds. Every item remembers the shortest way it came; the items and the lengths of their ways do not depend on the order
//! in which methods are visited.
//!
//! A departure from the paper: locks named by static fields and classes mean the same everywhere, so nothing stops them on
//! their way up. They are carried only through a few calls and only through calls with few possible answers; without
//! that, each `toString` of a large program acquires each static lock.

use rustc_hash::FxHashMap;
use std::hash::Hash;

use crate::body::Stmt;
use crate::callgraph::{CallGraph, CallSite, TargetId};
use crate::expr::{ExprId, Exprs, UNKNOWN};
use crate::program::{MethodId, Program};

/// How an item came to be in a method's set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Way {
    /// The statement itself does it.
    Direct(u32),
    /// A callee does it: the call, the callee, and the item's place in the callee's set.
    Call(u32, MethodId, u32),
}

impl Way {
    /// The statement of the method.
    pub fn stmt(&self) -> u32 {
        match self {
            Way::Direct(stmt) | Way::Call(stmt, ..) => *stmt,
        }
    }
}

/// An item and how it came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry<I> {
    /// The item.
    pub item: I,
    /// How many calls lie between.
    pub depth: u32,
    /// How it came.
    pub way: Way,
}

/// Something about locks that callers can translate.
pub trait Item: Copy + Eq + Ord + Hash {
    /// The item in a caller's words; none if it has no name there.
    fn translate(self, translate: &mut dyn FnMut(ExprId) -> ExprId) -> Option<Self>;
    /// Whether it means the same in every method.
    fn is_static(self, exprs: &Exprs) -> bool;
}

impl Item for ExprId {
    fn translate(self, translate: &mut dyn FnMut(ExprId) -> ExprId) -> Option<Self> {
        Some(translate(self)).filter(|lock| *lock != UNKNOWN)
    }

    fn is_static(self, exprs: &Exprs) -> bool {
        exprs.is_static(self)
    }
}

/// Static locks are carried through this many calls.
pub const STATIC_DEPTH: u32 = 4;

/// Static locks are carried through calls with at most this many possible answers.
pub const STATIC_ANSWERS: usize = 4;

/// The sets of all methods.
#[derive(Debug)]
pub struct Summaries<I> {
    entries: FxHashMap<MethodId, Vec<Entry<I>>>,
    places: FxHashMap<(MethodId, I), u32>,
    /// The methods that have a set and may answer each target, in order.
    answers: FxHashMap<TargetId, Vec<MethodId>>,
}

impl<I: Item> Summaries<I> {
    /// The set of a method.
    pub fn of(&self, method: MethodId) -> &[Entry<I>] {
        self.entries.get(&method).map_or(&[], Vec::as_slice)
    }

    /// The methods with a set that may answer a call to a target.
    pub fn answers(&self, target: TargetId) -> &[MethodId] {
        self.answers.get(&target).map_or(&[], Vec::as_slice)
    }

    /// The methods that have a set, in order.
    pub fn methods(&self) -> Vec<MethodId> {
        let mut methods: Vec<MethodId> = self.entries.keys().copied().collect();
        methods.sort_unstable();
        methods
    }

    fn offer(&mut self, method: MethodId, entry: Entry<I>) -> bool {
        let list = self.entries.entry(method).or_default();
        match self.places.get(&(method, entry.item)) {
            None => {
                self.places.insert((method, entry.item), list.len() as u32);
                list.push(entry);
                true
            }
            Some(place) => {
                let known = &mut list[*place as usize];
                let nearer = entry.depth < known.depth;
                if nearer || (entry.depth == known.depth && entry.way < known.way) {
                    known.depth = entry.depth;
                    known.way = entry.way;
                }
                nearer
            }
        }
    }

    /// Carries the sets of `seeds` to all callers. `passes` says whether what a callee does counts for the calling method:
    /// FINAL_T does not go through synchronized blocks. `shuffled` visits in another order, for tests.
    pub fn solve(
        program: &Program,
        graph: &CallGraph<'_>,
        exprs: &mut Exprs,
        seeds: Vec<(MethodId, Entry<I>)>,
        passes: &dyn Fn(CallSite) -> bool,
        shuffled: Option<u64>,
    ) -> Summaries<I> {
        let mut summaries = Summaries {
            entries: FxHashMap::default(),
            places: FxHashMap::default(),
            answers: FxHashMap::default(),
        };
        let mut targets: FxHashMap<MethodId, Vec<TargetId>> = FxHashMap::default();
        let mut changed: Vec<MethodId> = Vec::new();
        for (method, entry) in seeds {
            summaries.offer(method, entry);
            changed.push(method);
        }
        let mut wide = Width::default();
        while !changed.is_empty() {
            changed.sort_unstable();
            changed.dedup();
            if let Some(seed) = shuffled {
                changed.sort_by_key(|method| (u64::from(method.0) ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            }
            let new: Vec<MethodId> = changed.iter().copied().filter(|m| !targets.contains_key(m)).collect();
            for (method, found) in new.iter().zip(graph.answered_by_all(&new)) {
                for target in &found {
                    let answers = summaries.answers.entry(*target).or_default();
                    let at = answers.partition_point(|known| known < method);
                    answers.insert(at, *method);
                }
                targets.insert(*method, found);
            }
            let mut next = Vec::new();
            for method in changed {
                // Taken out while callers, which may be the method itself, are offered its items.
                let entries = summaries.of(method).to_vec();
                for target in &targets[&method] {
                    let narrow = !wide.is_wide(*target, graph);
                    for site in graph.sites(*target) {
                        if !passes(*site) {
                            continue;
                        }
                        let mut grew = false;
                        for (place, entry) in entries.iter().enumerate() {
                            let is_static = entry.item.is_static(exprs);
                            if is_static && (!narrow || entry.depth >= STATIC_DEPTH) {
                                continue;
                            }
                            let item = entry.item.translate(&mut |lock| translate(program, *site, lock, exprs));
                            if let Some(item) = item {
                                grew |= summaries.offer(
                                    site.method,
                                    Entry {
                                        item,
                                        depth: entry.depth + 1,
                                        way: Way::Call(site.stmt, method, place as u32),
                                    },
                                );
                            }
                        }
                        if grew {
                            next.push(site.method);
                        }
                    }
                }
            }
            changed = next;
        }
        summaries
    }
}

/// Which targets have too many answers for static locks.
#[derive(Default)]
struct Width {
    known: FxHashMap<TargetId, bool>,
}

impl Width {
    fn is_wide(&mut self, target: TargetId, graph: &CallGraph<'_>) -> bool {
        *self
            .known
            .entry(target)
            .or_insert_with(|| graph.answer_count(target, STATIC_ANSWERS + 1) > STATIC_ANSWERS)
    }
}

/// TRANSLATELOCK at a call site, within the table that all methods share.
pub fn translate(program: &Program, site: CallSite, lock: ExprId, exprs: &mut Exprs) -> ExprId {
    let Some(body) = program.body(site.method) else {
        return UNKNOWN;
    };
    let Some(Stmt::Call {
        args, count, receiver, ..
    }) = body.stmts.get(site.stmt as usize)
    else {
        return UNKNOWN;
    };
    let arguments = body.arguments(*args, *count);
    translate_global(exprs, lock, &mut |exprs, index| {
        copy_from(&body.exprs, actual(arguments, *receiver, index), exprs)
    })
}

/// What a call passes: the receiver or an argument.
pub fn actual(arguments: &[ExprId], receiver: bool, index: Option<u16>) -> ExprId {
    let place = match index {
        None if receiver => 0,
        None => return UNKNOWN,
        Some(index) => usize::from(index) + usize::from(receiver),
    };
    arguments.get(place).copied().unwrap_or(UNKNOWN)
}

fn translate_global(
    exprs: &mut Exprs,
    lock: ExprId,
    actual: &mut dyn FnMut(&mut Exprs, Option<u16>) -> ExprId,
) -> ExprId {
    use crate::expr::Node;
    let node = match exprs.node(lock) {
        Node::This => return actual(exprs, None),
        Node::Param(index) => return actual(exprs, Some(index)),
        Node::Unknown | Node::Local(_) | Node::New(_) => return UNKNOWN,
        Node::Field(base, field) => Node::Field(translate_global(exprs, base, actual), field),
        Node::ReadWrite(base) => Node::ReadWrite(translate_global(exprs, base, actual)),
        Node::Elem(base, index) => Node::Elem(
            translate_global(exprs, base, actual),
            translate_global(exprs, index, actual),
        ),
        node => node,
    };
    exprs.add(node)
}

/// An expression of a method in the table that all methods share; `*` if only the method can name it.
pub fn copy_from(nodes: &[crate::expr::Node], expr: ExprId, to: &mut Exprs) -> ExprId {
    use crate::expr::Node;
    let node = match nodes.get(expr.0 as usize).copied().unwrap_or(Node::Unknown) {
        Node::Unknown | Node::Local(_) | Node::New(_) => return UNKNOWN,
        Node::Field(base, field) => Node::Field(copy_from(nodes, base, to), field),
        Node::ReadWrite(base) => Node::ReadWrite(copy_from(nodes, base, to)),
        Node::Elem(base, index) => Node::Elem(copy_from(nodes, base, to), copy_from(nodes, index, to)),
        node => node,
    };
    to.add(node)
}
