//! What the callers of a method hold: a lock that all of them hold is held in the method too.

use ravel_classfile::access;

use super::guards::asks_for_lock;
use crate::callgraph::{CallGraph, CallSite};
use crate::expr::{ExprId, Exprs, Node, UNKNOWN};
use crate::program::{MethodId, Program};
use crate::summary::{copy_from, translate};

/// Methods are followed to their callers through this many calls.
pub(super) const CALLERS: usize = 6;

/// How callers are looked for.
pub(super) struct Callers<'a, 'p> {
    pub program: &'a Program,
    pub graph: &'a CallGraph<'p>,
    /// Says of access flags whether a method may have callers that were not read.
    pub open: &'a dyn Fn(u16) -> bool,
    /// Whether a lambda counts as a caller that holds the lock: it runs with the locks of the code that receives it, which
    /// are unknown.
    pub lambdas: bool,
}

impl Callers<'_, '_> {
    /// Whether every caller of a method holds the lock, which the method names so.
    pub fn hold(&self, method: MethodId, wanted: ExprId, exprs: &Exprs) -> bool {
        self.all_hold(method, wanted, exprs, &mut Vec::new())
    }

    fn all_hold(&self, method: MethodId, wanted: ExprId, exprs: &Exprs, way: &mut Vec<(MethodId, ExprId)>) -> bool {
        let (program, graph) = (self.program, self.graph);
        // A method that calls itself holds what its other callers hold.
        if way.contains(&(method, wanted)) {
            return true;
        }
        if wanted == UNKNOWN || way.len() == CALLERS || (self.open)(program.method(method).access) {
            return false;
        }
        let targets = graph.answered_in_programs(method);
        let mut sites = targets.iter().flat_map(|target| graph.sites(*target)).peekable();
        if sites.peek().is_none() {
            return false;
        }
        way.push((method, wanted));
        let all = sites.all(|site| self.holds(*site, wanted, exprs, way));
        way.pop();
        all
    }

    fn holds(&self, site: CallSite, wanted: ExprId, exprs: &Exprs, way: &mut Vec<(MethodId, ExprId)>) -> bool {
        let program = self.program;
        let mut exprs = exprs.clone();
        let lock = translate(program, site, wanted, &mut exprs);
        // A caller that asserts that the lock is held knows that its own callers hold it.
        let asserts = program
            .body(site.method)
            .is_some_and(|body| asks_for_lock(program, body));
        if asserts || self.lambdas && is_lambda(program, site.method) {
            return true;
        }
        let constructs = || program.symbols.member_name(program.method(site.method).selector) == "<init>";
        lock != UNKNOWN
            && (holds_at(program, site, lock, &mut exprs)
                || constructs()
                || self.all_hold(site.method, lock, &exprs, way))
    }
}

/// Whether a method is that of the object which a lambda or a method reference makes.
fn is_lambda(program: &Program, method: MethodId) -> bool {
    program.class_of(method).access & access::SYNTHETIC != 0
}

/// Whether something holds at every call of a method that only this program calls, or at every call of the caller, and so on.
/// Without a call, or beyond `depth`, it does not.
pub(super) fn at_every_call(
    program: &Program,
    graph: &CallGraph<'_>,
    method: MethodId,
    depth: usize,
    holds: &dyn Fn(&CallSite) -> bool,
) -> bool {
    if depth == 0 || program.method(method).access & (access::PUBLIC | access::PROTECTED) != 0 {
        return false;
    }
    let targets = graph.answered_by(method);
    let mut sites = targets.iter().flat_map(|target| graph.sites(*target)).peekable();
    sites.peek().is_some()
        && sites.all(|site| holds(site) || at_every_call(program, graph, site.method, depth - 1, holds))
}

/// Whether every caller of a method that only this program calls holds some lock.
pub(super) fn callers_hold_locks(program: &Program, graph: &CallGraph<'_>, method: MethodId, depth: usize) -> bool {
    at_every_call(program, graph, method, depth, &|site| {
        let mut holds = false;
        if let Some(body) = program.body(site.method) {
            body.walk(|stmt, _, open| holds |= stmt == site.stmt && !open.is_empty());
        }
        holds
    })
}

fn holds_at(program: &Program, site: CallSite, lock: ExprId, exprs: &mut Exprs) -> bool {
    let Some(body) = program.body(site.method) else {
        return false;
    };
    let mut holds = false;
    let lock = declared(program, lock, exprs);
    let read_write = exprs.add(Node::ReadWrite(lock));
    body.walk(|stmt, _, open| {
        if stmt == site.stmt {
            holds |= open.iter().any(|site| {
                let open = copy_from(&body.exprs, body.lock(*site), exprs);
                let open = declared(program, open, exprs);
                // One that cannot be named may be the lock that is asked for.
                open == lock || open == read_write || open == UNKNOWN
            });
        }
    });
    holds
}

/// A lock with its fields named by the classes that declare them: a class names an inherited field as its own.
fn declared(program: &Program, lock: ExprId, exprs: &mut Exprs) -> ExprId {
    let field = |pair| program.field(pair).map_or(pair, |field| field.pair);
    let node = match exprs.node(lock) {
        Node::Field(base, pair) => Node::Field(declared(program, base, exprs), field(pair)),
        Node::ReadWrite(base) => Node::ReadWrite(declared(program, base, exprs)),
        Node::Static(pair) => Node::Static(field(pair)),
        node => node,
    };
    exprs.add(node)
}
