//! What methods do to locks, carried up the call graph: a set of items per method, each in the method's own words, which
//! callers translate into theirs.
//!
//! Both LOCKSHELD (Fig. 7) and FINAL_T (Fig. 8) are such sets; they differ in their items. The fixed point is reached in
//! rounds. Every item remembers the shortest way it came; the items and the lengths of their ways do not depend on the order
//! in which methods are visited.
//!
//! Departures from the paper, without which large programs drown in locks that no execution takes: items go up through
//! a few calls at most ([`DEPTH`] for LOCKSHELD, [`CONTEXT_DEPTH`] for FINAL_T); a call with more than [`ANSWERS`] possible answers passes on only what its receiver and
//! arguments themselves are; and locks named by static fields and classes, which mean the same everywhere so that nothing
//! stops them on their way, go up through [`STATIC_DEPTH`] calls.

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

/// An item and how it came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SummaryEntry<I> {
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
    /// Whether it is nothing but the receiver or a parameter.
    fn is_plain(self, exprs: &Exprs) -> bool;
    /// Through how many calls it is carried at most.
    const DEPTH: u32;
}

impl Item for ExprId {
    const DEPTH: u32 = DEPTH;

    fn translate(self, translate: &mut dyn FnMut(ExprId) -> ExprId) -> Option<Self> {
        Some(translate(self)).filter(|lock| *lock != UNKNOWN)
    }

    fn is_static(self, exprs: &Exprs) -> bool {
        exprs.is_static(self)
    }

    fn is_plain(self, exprs: &Exprs) -> bool {
        use crate::expr::Node;
        matches!(exprs.node(self), Node::This | Node::Param(_))
    }
}

/// Items are carried through this many calls.
pub const DEPTH: u32 = 6;

/// What was acquired twice is carried through this many calls in search of a context.
pub const CONTEXT_DEPTH: u32 = 4;

/// Static locks are carried through this many calls.
pub const STATIC_DEPTH: u32 = 4;

/// Calls with more possible answers than this pass on only locks that are the receiver or an argument.
pub const ANSWERS: usize = 6;

/// Whether a call passes an item of a callee on.
pub fn is_passed<I: Item>(entry: &SummaryEntry<I>, wide: bool, exprs: &Exprs) -> bool {
    let depth = if entry.item.is_static(exprs) {
        STATIC_DEPTH
    } else {
        I::DEPTH
    };
    entry.depth < depth && (!wide || entry.item.is_plain(exprs))
}

/// The sets of all methods.
#[derive(Debug)]
pub struct Summaries<I> {
    entries: FxHashMap<MethodId, Vec<SummaryEntry<I>>>,
    places: FxHashMap<(MethodId, I), u32>,
    /// The methods that have a set and may answer each target, in order.
    answers: FxHashMap<TargetId, Vec<MethodId>>,
    /// The targets that each method with a set may answer.
    targets: FxHashMap<MethodId, Vec<TargetId>>,
}

impl<I: Item> Summaries<I> {
    /// The set of a method.
    pub fn of(&self, method: MethodId) -> &[SummaryEntry<I>] {
        self.entries.get(&method).map_or(&[], Vec::as_slice)
    }

    /// The methods with a set that may answer a call to a target.
    pub fn answers(&self, target: TargetId) -> &[MethodId] {
        self.answers.get(&target).map_or(&[], Vec::as_slice)
    }

    /// The targets that a method with a set may answer.
    pub fn targets(&self, method: MethodId) -> &[TargetId] {
        self.targets.get(&method).map_or(&[], Vec::as_slice)
    }

    /// All sets, by the order of their methods.
    pub fn into_entries(self) -> Vec<(MethodId, Vec<SummaryEntry<I>>)> {
        let mut all: Vec<_> = self.entries.into_iter().collect();
        all.sort_unstable_by_key(|(method, _)| *method);
        all
    }

    /// The methods that have a set, in order.
    pub fn methods(&self) -> Vec<MethodId> {
        let mut methods: Vec<MethodId> = self.entries.keys().copied().collect();
        methods.sort_unstable();
        methods
    }

    /// Adds an item or a shorter way to it; returns its place if callers must hear of it.
    fn offer(&mut self, method: MethodId, entry: SummaryEntry<I>) -> Option<u32> {
        match self.places.get(&(method, entry.item)) {
            None => {
                let list = self.entries.entry(method).or_default();
                let place = list.len() as u32;
                self.places.insert((method, entry.item), place);
                list.push(entry);
                Some(place)
            }
            Some(place) => {
                let known = self.entries.get_mut(&method)?.get_mut(*place as usize)?;
                let nearer = entry.depth < known.depth;
                if nearer || (entry.depth == known.depth && entry.way < known.way) {
                    known.depth = entry.depth;
                    known.way = entry.way;
                }
                nearer.then_some(*place)
            }
        }
    }

    /// Carries the sets of `seeds` to all callers. Sets of a library are complete among themselves: those that are lent only go to
    /// the program. `passes` says whether what a callee does counts for the calling method:
    /// FINAL_T does not go through synchronized blocks. `shuffled` visits in another order, for tests.
    pub fn solve(
        program: &Program,
        graph: &CallGraph<'_>,
        exprs: &mut Exprs,
        lent: Vec<(MethodId, Vec<SummaryEntry<I>>)>,
        seeds: Vec<(MethodId, SummaryEntry<I>)>,
        passes: &dyn Fn(CallSite) -> bool,
        shuffled: Option<u64>,
    ) -> Summaries<I> {
        let mut summaries = Summaries {
            entries: FxHashMap::default(),
            places: FxHashMap::default(),
            answers: FxHashMap::default(),
            targets: FxHashMap::default(),
        };
        let mut targets: FxHashMap<MethodId, Vec<TargetId>> = FxHashMap::default();
        let mut changed: FxHashMap<MethodId, Vec<u32>> = FxHashMap::default();
        let asked = graph.asked_of(&program.lent);
        // How many items of each method are lent.
        let mut borrowed: FxHashMap<MethodId, u32> = FxHashMap::default();
        for (method, entries) in lent {
            let count = entries.len() as u32;
            let selector = program.method(method).selector;
            if program.body(method).is_some() && asked.contains(&selector) {
                changed.insert(method, (0..count).collect());
            }
            borrowed.insert(method, count);
            let places = entries
                .iter()
                .zip(0..)
                .map(|(entry, place)| ((method, entry.item), place));
            summaries.places.extend(places);
            summaries.entries.insert(method, entries);
        }
        for (method, entry) in seeds {
            if let Some(place) = summaries.offer(method, entry) {
                changed.entry(method).or_default().push(place);
            }
        }
        let mut width = Width::default();
        while !changed.is_empty() {
            let mut methods: Vec<MethodId> = changed.keys().copied().collect();
            methods.sort_unstable();
            if let Some(seed) = shuffled {
                methods.sort_by_key(|method| (u64::from(method.0) ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            }
            let new: Vec<MethodId> = methods.iter().copied().filter(|m| !targets.contains_key(m)).collect();
            for (method, found) in new.iter().zip(graph.answered_by_all(&new)) {
                for target in &found {
                    let answers = summaries.answers.entry(*target).or_default();
                    let at = answers.partition_point(|known| known < method);
                    answers.insert(at, *method);
                }
                targets.insert(*method, found);
            }
            let mut next: FxHashMap<MethodId, Vec<u32>> = FxHashMap::default();
            for method in methods {
                if program.is_stopped() {
                    next.clear();
                    break;
                }
                let mut places = changed.remove(&method).unwrap_or_default();
                places.sort_unstable();
                places.dedup();
                let borrowed = borrowed.get(&method).copied().unwrap_or(0);
                for target in &targets[&method] {
                    let wide = width.is_wide(*target, graph);
                    for place in &places {
                        let entry = summaries.of(method)[*place as usize];
                        if !is_passed(&entry, wide, exprs) {
                            continue;
                        }
                        let is_new = |site: &&CallSite| *place >= borrowed || !program.lent.has(site.method);
                        let sites = graph.sites(*target).iter().filter(is_new);
                        for site in sites.filter(|site| passes(**site)) {
                            let item = entry.item.translate(&mut |lock| translate(program, *site, lock, exprs));
                            let offered = item.and_then(|item| {
                                let entry = SummaryEntry {
                                    item,
                                    depth: entry.depth + 1,
                                    way: Way::Call(site.stmt, method, *place),
                                };
                                summaries.offer(site.method, entry)
                            });
                            if let Some(place) = offered {
                                next.entry(site.method).or_default().push(place);
                            }
                        }
                    }
                }
            }
            changed = next;
        }
        summaries.targets = targets;
        summaries
    }
}

/// Which targets have many answers, as far as asked.
#[derive(Default)]
struct Width {
    known: FxHashMap<TargetId, bool>,
}

impl Width {
    fn is_wide(&mut self, target: TargetId, graph: &CallGraph<'_>) -> bool {
        *self.known.entry(target).or_insert_with(|| is_wide(target, graph))
    }
}

/// Whether a call that names this target has many possible answers.
pub fn is_wide(target: TargetId, graph: &CallGraph<'_>) -> bool {
    graph.answer_count(target, ANSWERS + 1) > ANSWERS
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
