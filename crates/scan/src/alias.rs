//! Objects that are not the locks that they seem: a back pointer is its owner, an object keeps the one that made it, and a lock that
//! the program made itself is no state.

use ravel_classfile::access;
use rustc_hash::FxHashSet;

use crate::body::{CallRef, Stmt};
use crate::callgraph::CallGraph;
use crate::expr::{ExprId, Exprs, Node};
use crate::program::{MethodId, Program};
use crate::rules::is_below;
use crate::symbols::{PairId, Sym, class_of_descriptor, field_descriptor, parameters, result};

/// The object to which a back pointer leads: `base.part.owner` is `base` when the part is kept for good and its owner is of the
/// class that has the part and never changes either.
pub(crate) fn back_to(program: &Program, exprs: &Exprs, lock: ExprId) -> Option<ExprId> {
    let Node::Field(middle, owner) = exprs.node(lock) else {
        return None;
    };
    let Node::Field(base, part) = exprs.node(middle) else {
        return None;
    };
    let is_final = |pair: PairId| {
        program
            .field(pair)
            .is_some_and(|field| field.access & access::FINAL != 0)
    };
    let symbols = &program.symbols;
    let (holder, _) = symbols.members(program.field(part)?.pair);
    let pointed = field_descriptor(symbols.bytes(symbols.members(owner).1));
    let leads_back = class_of_descriptor(pointed).and_then(|class| symbols.find(class)) == Some(holder);
    (leads_back && is_final(owner) && is_final(part)).then_some(base)
}

/// Whether a lock is the maker of an object, as that object keeps it, and the method is one of the maker's class:
/// `statement.pointer.database` in a method of the database is this database, if databases alone make pointers, each with
/// itself. That the statement is one of another database is possible; nothing in the code says so.
pub(crate) fn is_maker(
    program: &Program,
    graph: &CallGraph<'_>,
    exprs: &Exprs,
    lock: ExprId,
    method: MethodId,
) -> bool {
    let Node::Field(_, kept) = exprs.node(lock) else {
        return false;
    };
    let Some(field) = program.field(kept).filter(|field| field.access & access::FINAL != 0) else {
        return false;
    };
    let symbols = &program.symbols;
    let (keeper, member) = symbols.members(field.pair);
    let Some(maker) = class_of_descriptor(field_descriptor(symbols.bytes(member))) else {
        return false;
    };
    let instance = |method: MethodId| program.method(method).access & access::STATIC == 0;
    let is_made_here =
        |method: MethodId| instance(method) && is_below(program, program.class_of(method).name, &[maker]);
    is_made_here(method) && keeper_gets_this(program, graph, keeper, maker, &is_made_here)
}

/// Whether every object of a class is made by a method that passes its own object, and the constructor has one such parameter.
fn keeper_gets_this(
    program: &Program,
    graph: &CallGraph<'_>,
    keeper: Sym,
    maker: &[u8],
    is_made_here: &dyn Fn(MethodId) -> bool,
) -> bool {
    let Some(keeper) = program.by_name.get(&keeper) else {
        return false;
    };
    let keeper = program.class(*keeper);
    let mut made = false;
    for constructor in keeper.methods.clone().map(MethodId) {
        let selector = program.symbols.bytes(program.method(constructor).selector);
        let sites = program
            .symbols
            .find_pair(keeper.name, program.method(constructor).selector)
            .and_then(|pair| {
                graph.target(CallRef {
                    pair,
                    is_virtual: false,
                })
            })
            .map_or(&[][..], |target| graph.sites(target));
        if !selector.starts_with(b"<init>") || sites.is_empty() {
            continue;
        }
        let mut places = parameters(selector)
            .enumerate()
            .filter(|(_, parameter)| class_of_descriptor(parameter) == Some(maker));
        let (Some((place, _)), None) = (places.next(), places.next()) else {
            return false;
        };
        let passes_this = |site: &crate::callgraph::CallSite| {
            let body = program.body(site.method)?;
            let Stmt::Call { args, count, .. } = body.stmts.get(site.stmt as usize)? else {
                return None;
            };
            let passed = body.arguments(*args, *count).get(place + 1)?;
            Some(body.exprs.get(passed.0 as usize) == Some(&Node::This) && is_made_here(site.method))
        };
        if !sites.iter().all(|site| passes_this(site) == Some(true)) {
            return false;
        }
        made = true;
    }
    made
}

/// The classes that are locks by what they do: one method waits on the object until it may go on, another one wakes, both
/// assign a common field, and no method gives out an object, as a queue or a future would.
pub(crate) struct MadeLocks {
    classes: FxHashSet<Sym>,
}

impl MadeLocks {
    pub fn of(program: &Program) -> MadeLocks {
        let mut classes = FxHashSet::default();
        for class in &program.classes {
            let mut waits: FxHashSet<PairId> = FxHashSet::default();
            let mut wakes: FxHashSet<PairId> = FxHashSet::default();
            let mut gives_out = false;
            for method in class.methods.clone().map(MethodId) {
                let found = program.method(method);
                let selector = program.symbols.bytes(found.selector);
                let own = found.access & (access::PRIVATE | access::STATIC) != 0 || selector.starts_with(b"toString()");
                gives_out |= !own && matches!(result(selector).first(), Some(b'L' | b'['));
                let Some(body) = program.body(method) else { continue };
                let is_this = |lock: &ExprId| body.exprs.get(lock.0 as usize) == Some(&Node::This);
                let stmts = &body.stmts;
                if stmts
                    .iter()
                    .any(|stmt| matches!(stmt, Stmt::Wait(lock) if is_this(lock)))
                {
                    waits.extend(found.assigns.iter());
                }
                if stmts
                    .iter()
                    .any(|stmt| matches!(stmt, Stmt::Notify { lock, .. } if is_this(lock)))
                {
                    wakes.extend(found.assigns.iter());
                }
            }
            if !gives_out && !waits.is_disjoint(&wakes) {
                classes.insert(class.name);
            }
        }
        MadeLocks { classes }
    }

    /// Whether a class is such a lock.
    pub fn contains(&self, class: Sym) -> bool {
        self.classes.contains(&class)
    }
}
