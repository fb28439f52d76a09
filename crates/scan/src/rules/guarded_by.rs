#![doc = include_str!("../../../report/src/rules/guarded-by.md")]

use std::collections::{BTreeMap, BTreeSet};

use ravel_analysis::describe::listed;
use ravel_analysis::finding::Rule;
use ravel_classfile::access;

use super::callers::Callers;
use super::guards::{asks_for_lock, is_unused, says_unlocked};
use super::{Facts, method_names};
use crate::body::{Body, Stmt};
use crate::callgraph::{CallGraph, CallSite};
use crate::expr::{ExprId, Exprs, Node, UNKNOWN};
use crate::filter::class_of;
use crate::program::{Field, MethodId, Program};
use crate::report::{Alike, Draft, expr_text, step};
use crate::summary::{copy_from, translate};
use crate::symbols::{PairId, Sym};

/// Classes of the library that lock in ways which are not followed.
const OTHER_LOCKS: [&[u8]; 2] = [
    b"java/util/concurrent/locks/StampedLock",
    b"java/util/concurrent/Semaphore",
];

/// A use of a field without its lock.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Use {
    method: MethodId,
    line: u32,
    write: bool,
    lock: String,
}

/// More uses than this are counted and not listed.
const LISTED: usize = 8;

/// One finding per field, with all its uses in wanted classes: they are one bug, as a recorded run would see it.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let Facts { program, graph, .. } = *facts;
    let mut uses: BTreeMap<PairId, BTreeSet<Use>> = BTreeMap::new();
    for method in program.method_ids().filter(|method| program.class_of(*method).wanted) {
        let Some(body) = program.body(method) else { continue };
        let name = program.symbols.member_name(program.method(method).selector);
        let synthetic = program.method(method).access & access::SYNTHETIC != 0;
        // No other thread sees an object before its constructor returns; and it is unknown when a lambda's body runs.
        if matches!(name.as_str(), "<init>" | "<clinit>") || synthetic {
            continue;
        }
        body.walk(|stmt, what, open| {
            if let Stmt::Access { field, base, write } = *what
                && let Some(declared) = program.field(field)
                && let Some(lock) = missing_lock(program, graph, method, body, (declared, base), open)
            {
                uses.entry(declared.pair).or_default().insert(Use {
                    method,
                    line: body.stmt_line(stmt),
                    write,
                    lock,
                });
            }
        });
    }
    uses.into_iter()
        .filter_map(|(field, uses)| draft(program, graph, program.field(field)?, &uses))
        .collect()
}

fn draft(program: &Program, graph: &CallGraph<'_>, field: &Field, uses: &BTreeSet<Use>) -> Option<Draft> {
    let guard = field.guard.as_deref()?;
    let first = uses.first()?;
    let (name, told) = (program.field_text(field.pair), program.field_name(field.pair));
    let steps = uses.iter().take(LISTED).map(|used| {
        let op = if used.write { "write" } else { "read" };
        step(program, used.method, used.line, op, name.clone(), Vec::new())
    });
    let lock = &first.lock;
    let without = listed(&method_names(program, uses.iter().map(|used| used.method)));
    let is_static = |used: &Use| program.method(used.method).access & access::STATIC != 0;
    let fix = match lock.as_str() == "this" && !uses.iter().any(is_static) {
        true => format!("Make {without} synchronized"),
        false => format!("Hold {lock} in {without}"),
    };
    let mut units: Vec<MethodId> = uses.iter().map(|used| used.method).collect();
    units.dedup();
    units.truncate(LISTED);
    Some(Draft {
        rule: Rule::GuardedBy,
        method: first.method,
        line: first.line,
        subject: name.clone(),
        alike: Some(Alike::Race(name.clone())),
        variables: vec![name.clone(), lock.clone()],
        steps: steps.collect(),
        message: format!("{told} is guarded by {guard}, but accessed without it in {without}"),
        help: format!("{fix}, or annotate the method with @GuardedBy(\"{guard}\") if its callers hold the lock."),
        units,
        shown: uses
            .iter()
            .any(|used| used.write || !is_quiet(program, graph, field, used.method)),
    })
}

/// Whether a read does no harm or is meant as it is: of a volatile field, in a method for tests, in one that only describes the
/// object, or in one whose name says that it does not lock.
fn is_quiet(program: &Program, graph: &CallGraph<'_>, field: &Field, method: MethodId) -> bool {
    let selector = program.symbols.bytes(program.method(method).selector);
    field.access & access::VOLATILE != 0
        || selector.starts_with(b"toString()")
        || says_unlocked(program, method)
        || is_unused(program, graph, method)
}

/// The lock that a use of a guarded field should hold and does not.
fn missing_lock(
    program: &Program,
    graph: &CallGraph<'_>,
    method: MethodId,
    body: &Body,
    (field, base): (&Field, ExprId),
    open: &[u16],
) -> Option<String> {
    let guard = field.guard.as_deref()?;
    let (class, _) = program.symbols.members(field.pair);
    let mut exprs = body.table();
    let is_static = field.access & access::STATIC != 0;
    let base = if is_static { None } else { Some(base) };
    let own = match base {
        Some(base) => exprs.add(Node::Field(base, field.pair)),
        None => exprs.add(Node::Static(field.pair)),
    };
    let wanted = resolve(program, class, guard, base, own, &mut exprs)?;
    // A field that guards itself means what is in it: the reference is read before any lock on it can be held.
    if wanted == own || is_lock_of_its_own_kind(program, method, exprs.nodes(), wanted) {
        return None;
    }
    let callers = Callers {
        program,
        graph,
        open: &is_open,
        lambdas: true,
    };
    let mut global = Exprs::default();
    let translatable = copy_from(exprs.nodes(), wanted, &mut global);
    if is_held(&mut exprs, body, open, wanted)
        || promised(program, method, wanted, &mut exprs)
        // A method that asks whether the lock is held knows that its callers hold it.
        || asks_for_lock(program, body)
        || is_left_held(program, graph, method, translatable, &global)
        || callers.hold(method, translatable, &global)
    {
        return None;
    }
    Some(expr_text(program, body, &exprs, wanted))
}

/// Whether the lock is of a class whose methods return with a lock held, such as Guava's `Monitor` or `StampedLock`: its holder
/// is unknown.
fn is_lock_of_its_own_kind(program: &Program, method: MethodId, nodes: &[Node], lock: ExprId) -> bool {
    let class = class_of(program, method, nodes, lock);
    if class.is_some_and(|class| OTHER_LOCKS.contains(&program.symbols.bytes(class))) {
        return true;
    }
    let class = class.and_then(|class| program.by_name.get(&class));
    class.is_some_and(|class| {
        let mut methods = program.class(*class).methods.clone();
        methods.any(|method| {
            let body = program.body(MethodId(method));
            body.is_some_and(|body| body.sites.iter().any(|site| site.kept))
        })
    })
}

fn is_held(exprs: &mut Exprs, body: &Body, open: &[u16], wanted: ExprId) -> bool {
    let read_write = exprs.add(Node::ReadWrite(wanted));
    // A field that holds the read or the write lock of another has that one's name.
    let is_half = |lock: ExprId| match (exprs.node(lock), exprs.node(wanted)) {
        (Node::ReadWrite(whole), Node::Field(owner, _)) => {
            matches!(exprs.node(whole), Node::Field(base, _) if base == owner)
        }
        _ => false,
    };
    open.iter().any(|site| {
        let lock = body.lock(*site);
        // One that cannot be named here may be the lock.
        lock == UNKNOWN || lock == wanted || lock == read_write || is_half(lock)
    })
}

/// Whether the method's own annotation says that its callers hold the lock.
fn promised(program: &Program, method: MethodId, wanted: ExprId, exprs: &mut Exprs) -> bool {
    let found = program.method(method);
    let Some(guard) = found.guard.as_deref() else {
        return false;
    };
    let this = exprs.add(Node::This);
    let base = (found.access & access::STATIC == 0).then_some(this);
    let class = program.class_of(method).name;
    resolve(program, class, guard, base, UNKNOWN, exprs) == Some(wanted)
}

/// Code that was not read may call the methods that other packages can.
fn is_open(flags: u16) -> bool {
    flags & (access::PUBLIC | access::PROTECTED) != 0
}

/// Whether the method calls another that returns with the lock held, as classes do that log or measure their locks: where it is
/// released is unknown.
fn is_left_held(program: &Program, graph: &CallGraph<'_>, method: MethodId, wanted: ExprId, exprs: &Exprs) -> bool {
    let Some(body) = program.body(method).filter(|_| wanted != UNKNOWN) else {
        return false;
    };
    body.stmts.iter().enumerate().any(|(at, stmt)| {
        let Stmt::Call { target, .. } = stmt else { return false };
        let called = graph.target(*target).and_then(|target| graph.named(target));
        let Some(keeper) = called.and_then(|called| program.body(called)) else {
            return false;
        };
        let site = CallSite {
            method,
            stmt: at as u32,
        };
        keeper.sites.iter().filter(|site| site.kept).any(|kept| {
            let mut exprs = exprs.clone();
            let lock = copy_from(&keeper.exprs, kept.lock, &mut exprs);
            let lock = translate(program, site, lock, &mut exprs);
            lock == wanted || lock == exprs.add(Node::ReadWrite(wanted))
        })
    })
}

/// The lock that an annotation names, for a use through `base`; none if it cannot be resolved.
fn resolve(
    program: &Program,
    class: Sym,
    guard: &str,
    base: Option<ExprId>,
    own: ExprId,
    exprs: &mut Exprs,
) -> Option<ExprId> {
    let known = |expr: ExprId| Some(expr).filter(|expr| *expr != UNKNOWN);
    let simple = {
        let name = program.symbols.class_text(class);
        name.rsplit(['.', '$']).next().unwrap_or(&name).to_owned()
    };
    match guard {
        "this" => return known(base?),
        "itself" => return known(own),
        _ => {}
    }
    if guard.ends_with("()") {
        return None;
    }
    if let Some(named) = guard.strip_suffix(".class") {
        let named = find_class(program, class, named)?;
        return known(exprs.add(Node::Class(named)));
    }
    if let Some(named) = guard.strip_suffix(".this") {
        return if named == simple { known(base?) } else { None };
    }
    let guard = guard.strip_prefix("this.").unwrap_or(guard);
    let (owner, name) = match guard.rsplit_once('.') {
        Some((owner, name)) => {
            let owner = owner.strip_suffix(".this").unwrap_or(owner);
            (find_class(program, class, owner)?, name)
        }
        None => (class, guard),
    };
    let field = find_field(program, owner, name)?;
    let node = if field.access & access::STATIC != 0 {
        Node::Static(field.pair)
    } else {
        Node::Field(base?, field.pair)
    };
    known(exprs.add(node))
}

fn find_class(program: &Program, near: Sym, name: &str) -> Option<Sym> {
    let near = program.symbols.text(near);
    let mut places = vec![name.replace('.', "/"), format!("{near}${name}")];
    if let Some((package, _)) = near.rsplit_once('/') {
        places.push(format!("{package}/{name}"));
    }
    let simple = near.rsplit(['/', '$']).next().unwrap_or(&near);
    if simple == name {
        places.push(near.clone());
    }
    let found = places.iter().find_map(|place| program.symbols.find(place.as_bytes()));
    found.filter(|class| program.by_name.contains_key(class))
}

fn find_field<'p>(program: &'p Program, class: Sym, name: &str) -> Option<&'p Field> {
    let mut class = Some(class);
    for _ in 0..64 {
        let found = program.class(*program.by_name.get(&class?)?);
        let field = found
            .fields
            .iter()
            .find(|field| program.symbols.member_name(program.symbols.members(field.pair).1) == name);
        if field.is_some() {
            return field;
        }
        class = found.super_class;
    }
    None
}
