//! The whole analysis: summaries up the call graph, the dataflow of each method, and the search for contexts.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::body::{Body, Stmt};
use crate::callgraph::{CallGraph, CallSite};
use crate::expr::{ExprId, Exprs, UNKNOWN};
use crate::filter::Filter;
use crate::pattern::{Analysis, Facts, THROWN, Twice};
use crate::program::{MethodId, Program};
use crate::summary::{Item, Summaries, SummaryEntry, Way, actual, copy_from, is_passed, is_wide, translate};

/// LOCKSHELD of every method, in the table of expressions that all methods share.
pub struct LocksHeld {
    /// The sets.
    pub summaries: Summaries<ExprId>,
    /// The table.
    pub exprs: Exprs,
}

/// Computes LOCKSHELD (Fig. 7). Locks that the filter calls unshared are left out at their source. What a library locks is known.
pub fn locks_held(program: &Program, graph: &CallGraph<'_>, filter: &Filter, shuffled: Option<u64>) -> LocksHeld {
    let lent = &program.lent;
    let mut exprs = Exprs::default();
    // Each node once and in order, so the numbers are those of the library.
    lent.exprs.iter().for_each(|node| {
        exprs.add(*node);
    });
    let mut seeds = Vec::new();
    for method in program.method_ids().filter(|method| !lent.has(*method)) {
        let Some(body) = program.body(method) else { continue };
        for (number, site) in body.sites.iter().enumerate() {
            let lock = copy_from(&body.exprs, site.lock, &mut exprs);
            if lock == UNKNOWN || site.kept || filter.drops_lock(program, method, body, site.lock) {
                continue;
            }
            let entry = SummaryEntry {
                item: lock,
                depth: 0,
                way: Way::Direct(number as u32),
            };
            seeds.push((method, entry));
        }
    }
    let borrowed = lent.held.clone();
    let summaries = Summaries::solve(program, graph, &mut exprs, borrowed, seeds, &|_| true, shuffled);
    LocksHeld { summaries, exprs }
}

/// What the dataflow found in one method, with the method's expressions.
pub struct MethodFacts {
    /// The method.
    pub method: MethodId,
    /// Its expressions, with those that calls brought.
    pub exprs: Exprs,
    /// The facts at its exit.
    pub facts: Facts,
    /// Which callee brought a lock to a call.
    pub brought: FxHashMap<(u32, ExprId), (MethodId, u32)>,
}

/// Runs the dataflow on every method that acquires a lock twice, itself or through calls. What a library does by itself is not
/// asked for.
pub fn dataflow(
    program: &Program,
    graph: &CallGraph<'_>,
    held: &LocksHeld,
    variant: bool,
    shuffled: Option<u64>,
) -> Vec<MethodFacts> {
    let mut methods: Vec<MethodId> = program.method_ids().collect();
    methods.retain(|method| program.class_of(*method).wanted);
    methods
        .par_iter()
        .filter_map(|method| {
            let body = program.body(*method).filter(|_| !program.is_stopped())?;
            let facts = method_facts(*method, body, graph, held, variant, shuffled)?;
            let found = !facts.facts.twice.is_empty() || !facts.facts.witnesses.is_empty();
            // A name that was too long is counted, whatever else was found.
            (found || facts.exprs.cut() > 0).then_some(facts)
        })
        .collect()
}

fn method_facts(
    method: MethodId,
    body: &Body,
    graph: &CallGraph<'_>,
    held: &LocksHeld,
    variant: bool,
    shuffled: Option<u64>,
) -> Option<MethodFacts> {
    // A method without a lock of its own or a call that locks has no facts.
    let mut locking = Vec::new();
    for (at, stmt) in body.stmts.iter().enumerate() {
        if let Stmt::Call { target, .. } = stmt
            && let Some(target) = graph.target(*target)
            && !held.summaries.answers(target).is_empty()
        {
            locking.push((at as u32, target));
        }
    }
    if locking.is_empty() && body.sites.len() < 2 {
        return None;
    }
    let mut exprs = body.table();
    let mut brought: FxHashMap<(u32, ExprId), (MethodId, u32)> = FxHashMap::default();
    let mut calls: FxHashMap<u32, Vec<ExprId>> = FxHashMap::default();
    for (at, target) in locking {
        let Stmt::Call {
            args, count, receiver, ..
        } = body.stmts[at as usize]
        else {
            continue;
        };
        let arguments = body.arguments(args, count);
        let wide = is_wide(target, graph);
        let mut locks = Vec::new();
        for callee in held.summaries.answers(target) {
            for (place, entry) in held.summaries.of(*callee).iter().enumerate() {
                if !is_passed(entry, wide, &held.exprs) {
                    continue;
                }
                let lock = held.exprs.translate(entry.item, &mut exprs, &mut |_, index| {
                    actual(arguments, receiver, index)
                });
                if lock != UNKNOWN {
                    locks.push(lock);
                    let way = (*callee, place as u32);
                    let depth = |way: &(MethodId, u32)| held.summaries.of(way.0)[way.1 as usize].depth;
                    let known = brought.entry((at, lock)).or_insert(way);
                    if depth(&way) < depth(known) {
                        *known = way;
                    }
                }
            }
        }
        locks.sort_unstable();
        locks.dedup();
        calls.insert(at, locks);
    }
    let analysis = Analysis {
        body,
        exprs: &exprs,
        calls: &|at| calls.get(&at).cloned().unwrap_or_default(),
        variant,
        shuffled,
    };
    let facts = analysis.run();
    Some(MethodFacts {
        method,
        exprs,
        facts,
        brought,
    })
}

/// Two acquisitions in turn on their way up the call graph: the locks in the words of the method where it stands, and where
/// it comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Potential {
    first: ExprId,
    second: ExprId,
    /// The place in the list of [`MethodFacts`], and in its `twice`.
    pub origin: (u32, u32),
}

impl Item for Potential {
    const DEPTH: u32 = crate::summary::CONTEXT_DEPTH;

    fn translate(self, translate: &mut dyn FnMut(ExprId) -> ExprId) -> Option<Self> {
        let (first, second) = (translate(self.first), translate(self.second));
        (first != UNKNOWN && second != UNKNOWN).then_some(Potential { first, second, ..self })
    }

    fn is_static(self, exprs: &Exprs) -> bool {
        exprs.is_static(self.first) && exprs.is_static(self.second)
    }

    /// A context that only one of many possible answers has says nothing: calls with many do not pass it on.
    fn is_plain(self, _exprs: &Exprs) -> bool {
        false
    }
}

/// An instance of the pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// The method with the two acquisitions, as a place in the list of [`MethodFacts`].
    pub facts: u32,
    /// The acquisitions, in the words of that method.
    pub twice: Twice,
    /// The statement of the first acquisition.
    pub first: u32,
    /// Whether the second comes after the first only when something was thrown in between.
    pub thrown: bool,
    /// The method that holds the context lock.
    pub context_method: MethodId,
    /// The site in that method that acquired it.
    pub context_site: u16,
    /// The calls that lead from the context to the method with the acquisitions, outermost first.
    pub chain: Vec<CallSite>,
}

/// FINAL (Fig. 8, Fig. 10): all instances of the pattern, those within one method and those whose context is in a caller.
pub fn instances(
    program: &Program,
    graph: &CallGraph<'_>,
    held: &mut LocksHeld,
    found: &[MethodFacts],
) -> Vec<Instance> {
    let mut instances = Vec::new();
    let mut seeds = Vec::new();
    for (number, facts) in found.iter().enumerate() {
        for (witness, first) in &facts.facts.witnesses {
            instances.push(Instance {
                facts: number as u32,
                twice: witness.twice,
                first: first & !THROWN,
                thrown: first & THROWN != 0,
                context_method: facts.method,
                context_site: witness.context,
                chain: Vec::new(),
            });
        }
        // Sorted by locks: the first of each pair goes up for all places where the pair is acquired.
        let mut last = None;
        for (place, (twice, _)) in facts.facts.twice.iter().enumerate() {
            if last.replace((twice.first, twice.second)) == Some((twice.first, twice.second)) {
                continue;
            }
            let nodes = facts.exprs.nodes();
            let item = Potential {
                first: copy_from(nodes, twice.first, &mut held.exprs),
                second: copy_from(nodes, twice.second, &mut held.exprs),
                origin: (number as u32, place as u32),
            };
            if item.first != UNKNOWN && item.second != UNKNOWN {
                let entry = SummaryEntry {
                    item,
                    depth: 0,
                    way: Way::Direct(twice.at),
                };
                seeds.push((facts.method, entry));
            }
        }
    }
    let outside = Outside::new(program);
    let passes = |site| outside.is(site);
    let finals = Summaries::solve(program, graph, &mut held.exprs, Vec::new(), seeds, &passes, None);
    for callee in finals.methods() {
        if program.is_stopped() {
            break;
        }
        for target in finals.targets(callee) {
            let wide = is_wide(*target, graph);
            for site in graph.sites(*target) {
                let Some(open) = outside.held.get(site) else { continue };
                for place in 0..finals.of(callee).len() {
                    let entry = finals.of(callee)[place];
                    if !is_passed(&entry, wide, &held.exprs) {
                        continue;
                    }
                    let item = entry
                        .item
                        .translate(&mut |lock| translate(program, *site, lock, &mut held.exprs));
                    if let Some(item) = item {
                        let instance = in_context(
                            program,
                            &finals,
                            found,
                            *site,
                            callee,
                            place,
                            item,
                            open,
                            &mut held.exprs,
                        );
                        instances.extend(instance.into_iter().flatten());
                    }
                }
            }
        }
    }
    instances
}

/// Which calls lie in no synchronized block of their method, and what is open at the others.
struct Outside {
    held: FxHashMap<CallSite, Box<[u16]>>,
}

impl Outside {
    fn new(program: &Program) -> Outside {
        let methods: Vec<MethodId> = program.method_ids().collect();
        let held = methods.par_iter().flat_map_iter(|method| {
            let mut sites: Vec<(CallSite, Box<[u16]>)> = Vec::new();
            if let Some(body) = program.body(*method).filter(|body| !body.sites.is_empty()) {
                body.walk(|stmt, what, held| {
                    if matches!(what, Stmt::Call { .. }) && !held.is_empty() {
                        sites.push((CallSite { method: *method, stmt }, held.into()));
                    }
                });
            }
            sites
        });
        Outside { held: held.collect() }
    }

    fn is(&self, site: CallSite) -> bool {
        !self.held.contains_key(&site)
    }
}

#[allow(clippy::too_many_arguments, reason = "the parts of one look-up")]
fn in_context(
    program: &Program,
    finals: &Summaries<Potential>,
    found: &[MethodFacts],
    site: CallSite,
    callee: MethodId,
    place: usize,
    item: Potential,
    held: &[u16],
    exprs: &mut Exprs,
) -> Option<Vec<Instance>> {
    let body = program.body(site.method)?;
    // The innermost block is the context; a witness that an enclosing block holds already is no witness.
    let context = *held.last()?;
    for open in held {
        let lock = copy_from(&body.exprs, body.lock(*open), exprs);
        if lock != UNKNOWN && (lock == item.first || lock == item.second) {
            return None;
        }
    }
    let mut chain = vec![site];
    let (mut method, mut place) = (callee, place);
    while let Way::Call(stmt, next, at) = finals.of(method)[place].way {
        chain.push(CallSite { method, stmt });
        (method, place) = (next, at as usize);
        if chain.len() > 64 {
            return None;
        }
    }
    let (number, twice) = item.origin;
    let facts = found.get(number as usize)?;
    let (pair, _) = *facts.facts.twice.get(twice as usize)?;
    let same = facts.facts.twice.iter();
    let same = same.filter(|(twice, _)| (twice.first, twice.second) == (pair.first, pair.second));
    Some(
        same.map(|(twice, first)| Instance {
            facts: number,
            twice: *twice,
            first: first & !THROWN,
            thrown: first & THROWN != 0,
            context_method: site.method,
            context_site: context,
            chain: chain.clone(),
        })
        .collect(),
    )
}
