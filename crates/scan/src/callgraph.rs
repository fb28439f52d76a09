//! The calls of a program, indexed so that what a method does can be carried to its callers.
//!
//! Calls that name the same target are one [`TargetId`]: a method's summary goes to the targets it may answer, and from a
//! target to its call sites. So a call with a thousand possible answers costs a thousand and not a thousand per site.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::body::{CallRef, Stmt};
use crate::hierarchy::Hierarchy;
use crate::program::{Lent, MethodId, Program};
use crate::symbols::Sym;

/// What calls name: a class, a method, and whether overrides may answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TargetId(pub u32);

/// A call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallSite {
    /// The method that calls.
    pub method: MethodId,
    /// The statement that is the call.
    pub stmt: u32,
}

/// The calls of a program.
#[derive(Debug)]
pub struct CallGraph<'p> {
    hierarchy: Hierarchy<'p>,
    /// What each target is.
    targets: Vec<CallRef>,
    index: FxHashMap<CallRef, TargetId>,
    /// The method that the class of each target has or inherits. A target is asked about once for each method of its name, so this
    /// is looked up once.
    inherited: Vec<Option<MethodId>>,
    /// The sites of each target.
    sites: Vec<Vec<CallSite>>,
    /// The targets with each name and descriptor.
    by_selector: FxHashMap<Sym, Vec<TargetId>>,
    program: &'p Program,
}

impl<'p> CallGraph<'p> {
    /// The calls of a program.
    pub fn new(program: &'p Program) -> Self {
        let mut graph = CallGraph {
            hierarchy: Hierarchy::new(program),
            targets: Vec::new(),
            index: FxHashMap::default(),
            inherited: Vec::new(),
            sites: Vec::new(),
            by_selector: FxHashMap::default(),
            program,
        };
        for method in program.method_ids() {
            let Some(body) = program.body(method) else { continue };
            for (at, stmt) in body.stmts.iter().enumerate() {
                if let Stmt::Call { target, .. } = stmt {
                    let stmt = at as u32;
                    graph.add(*target, CallSite { method, stmt });
                }
            }
        }
        let lookup = |target: &CallRef| {
            let (class, selector) = program.symbols.members(target.pair);
            graph.hierarchy.lookup(class, selector)
        };
        graph.inherited = graph.targets.par_iter().map(lookup).collect();
        graph
    }

    fn add(&mut self, target: CallRef, site: CallSite) {
        let next = TargetId(self.targets.len() as u32);
        let id = *self.index.entry(target).or_insert(next);
        if id == next {
            self.targets.push(target);
            self.sites.push(Vec::new());
            let (_, selector) = self.program.symbols.members(target.pair);
            self.by_selector.entry(selector).or_default().push(id);
        }
        self.sites[id.0 as usize].push(site);
    }

    /// The number of a target that some call names.
    pub fn target(&self, target: CallRef) -> Option<TargetId> {
        self.index.get(&target).copied()
    }

    /// The names and descriptors of what the program calls, but those that only a library calls.
    pub fn asked_of(&self, lent: &Lent) -> FxHashSet<Sym> {
        let mut asked = FxHashSet::default();
        for (target, sites) in self.targets.iter().zip(&self.sites) {
            if sites.iter().any(|site| !lent.has(site.method)) {
                asked.insert(self.program.symbols.members(target.pair).1);
            }
        }
        asked
    }

    /// The method that a call of a target runs unless another overrides it.
    pub fn named(&self, target: TargetId) -> Option<MethodId> {
        self.inherited[target.0 as usize]
    }

    /// The calls that name a target.
    pub fn sites(&self, target: TargetId) -> &[CallSite] {
        &self.sites[target.0 as usize]
    }

    /// The targets that a method may answer.
    pub fn answered_by(&self, method: MethodId) -> Vec<TargetId> {
        self.answered_through(method, &self.hierarchy.reached_through(method))
    }

    /// The targets that a method may answer, also if only other programs make objects of its class.
    pub fn answered_in_programs(&self, method: MethodId) -> Vec<TargetId> {
        self.answered_through(method, &self.hierarchy.reached_in_programs(method))
    }

    fn answered_through(&self, method: MethodId, through: &FxHashSet<Sym>) -> Vec<TargetId> {
        let selector = self.program.method(method).selector;
        let Some(targets) = self.by_selector.get(&selector) else {
            return Vec::new();
        };
        let mut answered = targets.clone();
        answered.retain(|target| {
            let at = target.0 as usize;
            let named = self.targets[at];
            let (class, _) = self.program.symbols.members(named.pair);
            (named.is_virtual && through.contains(&class)) || self.inherited[at] == Some(method)
        });
        answered
    }

    /// How many methods may answer a target, counted up to `limit`.
    pub fn answer_count(&self, target: TargetId, limit: usize) -> usize {
        let at = target.0 as usize;
        let target = self.targets[at];
        if !target.is_virtual {
            return 1;
        }
        let (class, selector) = self.program.symbols.members(target.pair);
        let own = usize::from(self.inherited[at].is_some());
        own + self
            .hierarchy
            .count_overrides(class, selector, limit.saturating_sub(own))
    }

    /// The same for several methods at once.
    pub fn answered_by_all(&self, methods: &[MethodId]) -> Vec<Vec<TargetId>> {
        methods.par_iter().map(|method| self.answered_by(*method)).collect()
    }

    /// How many calls name a class that was not read or a method that it does not have.
    pub fn unresolved(&self) -> usize {
        let counts = self.inherited.iter().zip(&self.sites);
        counts
            .filter(|(inherited, _)| inherited.is_none())
            .map(|(_, sites)| sites.len())
            .sum()
    }
}
