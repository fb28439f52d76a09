//! Which locks guard which fields, by counting: what the rules about inconsistent guards share.

use std::collections::{BTreeMap, BTreeSet};

use ravel_classfile::{ClassFile, access};
use ravel_trace::naming;

use super::callers::{CALLERS, Callers, at_every_call};
use crate::body::{Body, SiteKind, Stmt};
use crate::callgraph::CallGraph;
use crate::expr::{ExprId, Exprs, Node};
use crate::flow::member;
use crate::program::{Field, MethodId, Program, Touch};
use crate::symbols::{PairId, Sym};

/// A lock as all methods of one object or class name it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Guard {
    This,
    Own(PairId),
    Static(PairId),
    Class(Sym),
}

impl Guard {
    /// The lock as a sentence about a class names it.
    pub fn told(self, program: &Program, class: Sym) -> String {
        let name = |class: Sym| naming::class(&program.symbols.class_text(class));
        match self {
            Guard::This => format!("the lock of {}", name(class)),
            Guard::Own(field) | Guard::Static(field) => program.field_name(field),
            Guard::Class(class) => format!("{}.class", name(class)),
        }
    }
}

/// A use of a field with the locks that are held.
pub(super) struct Guarded {
    pub method: MethodId,
    pub pc: u16,
    pub write: bool,
    pub guards: BTreeSet<Guard>,
    /// Whether a lock is held that other methods cannot name.
    pub other: bool,
}

/// The uses of each field that may change after its constructor, by methods other than constructors.
pub(super) fn uses(program: &Program, graph: &CallGraph<'_>) -> BTreeMap<PairId, Vec<Guarded>> {
    let mut all: BTreeMap<PairId, Vec<Guarded>> = BTreeMap::new();
    for method in program.method_ids().filter(|method| program.class_of(*method).wanted) {
        let (found, Some(body)) = (program.method(method), program.body(method)) else {
            continue;
        };
        if is_apart(program, method) || found.touches.is_empty() || is_for_construction(program, graph, method, CALLERS)
        {
            continue;
        }
        // A method that asks whether the lock is held knows that its callers hold it, and one that calls a method which returns
        // with a lock held may hold it.
        let asserts = asks_for_lock(program, body) || calls_keeper(program, graph, body);
        for touch in found.touches.iter().filter(|touch| !is_read_to_lock(body, touch)) {
            let Some(field) = program.field(touch.field).filter(|field| is_counted(field)) else {
                continue;
            };
            let guards: Vec<Option<Guard>> = touch.locks.iter().map(|lock| guard(body, *lock)).collect();
            all.entry(field.pair).or_default().push(Guarded {
                method,
                pc: touch.pc,
                write: touch.write,
                other: asserts || guards.iter().any(Option::is_none),
                guards: guards.into_iter().flatten().collect(),
            });
        }
    }
    all.retain(|_, uses| uses.iter().any(|used| !used.guards.is_empty()));
    for uses in all.values_mut() {
        let known: BTreeSet<Guard> = uses.iter().flat_map(|used| used.guards.iter().copied()).collect();
        for used in uses.iter_mut().filter(|used| used.guards.is_empty()) {
            used.guards = promised(program, graph, used.method, &known);
        }
    }
    all
}

/// Whether a method runs before its object is shared, or only describes it.
fn is_apart(program: &Program, method: MethodId) -> bool {
    let selector = program.symbols.bytes(program.method(method).selector);
    let names: [&[u8]; 4] = [b"toString(", b"readObject(", b"writeObject(", b"finalize("];
    // The body of a lambda runs when and with the locks that the code says to which it is given.
    let synthetic = program.method(method).access & access::SYNTHETIC != 0;
    synthetic || program.is_constructor(method) || names.iter().any(|name| selector.starts_with(name))
}

/// Whether only constructors call a method, directly or through others, so that no other thread has the object yet.
fn is_for_construction(program: &Program, graph: &CallGraph<'_>, method: MethodId, depth: usize) -> bool {
    at_every_call(program, graph, method, depth, &|site| {
        program.is_constructor(site.method)
    })
}

/// Whether no code of the program calls a method and other programs cannot or should not: it is there for tests.
pub(super) fn is_unused(program: &Program, graph: &CallGraph<'_>, method: MethodId) -> bool {
    let closed = program.method(method).access & (access::PUBLIC | access::PROTECTED) == 0;
    let targets = graph.answered_by(method);
    targets.iter().all(|target| graph.sites(*target).is_empty()) && (closed || is_for_tests(program, method))
}

/// Whether an annotation says that a method is for tests: `@VisibleForTesting`, `@OnlyForTest`.
fn is_for_tests(program: &Program, method: MethodId) -> bool {
    let class = program.class_of(method).bytes.as_deref();
    let Some(class) = class.and_then(|bytes| ClassFile::parse(bytes).ok()) else {
        return false;
    };
    let Some(member) = member(program, &class, method) else {
        return false;
    };
    let all = class.annotations(&member.attributes).unwrap_or_default();
    all.iter().any(|annotation| {
        let name = annotation.simple_name(&class.pool).unwrap_or_default();
        name.windows(b"ForTest".len()).any(|part| part == b"ForTest")
    })
}

/// Whether the name of a method says that it does not lock.
pub(super) fn says_unlocked(program: &Program, method: MethodId) -> bool {
    let name = program.symbols.member_name(program.method(method).selector);
    let name = name.to_ascii_lowercase();
    [
        "unsynchronized",
        "unlocked",
        "nolock",
        "withoutlock",
        "unsafe",
        "besteffort",
    ]
    .iter()
    .any(|word| name.contains(word))
}

/// Methods that frameworks call once on an object, before other threads have it.
const BEFORE_SHARING: [&str; 7] = [
    "afterPropertiesSet",
    "doInit",
    "init",
    "initialise",
    "initialize",
    "onSubscribe",
    "postConstruct",
];

/// Whether a method makes its object ready, by its name, and no method of its class calls it but others of the kind and constructors:
/// one that is called by the methods which need it may run at any time.
pub(super) fn is_before_sharing(program: &Program, graph: &CallGraph<'_>, method: MethodId) -> bool {
    let prepares = |method: MethodId| {
        let name = program.symbols.member_name(program.method(method).selector);
        program.is_constructor(method) || BEFORE_SHARING.contains(&name.as_str())
    };
    let class = program.method(method).class;
    let targets = graph.answered_by(method);
    let mut sites = targets.iter().flat_map(|target| graph.sites(*target));
    prepares(method) && sites.all(|site| program.method(site.method).class != class || prepares(site.method))
}

/// Whether the code calls a method that returns with a lock held: where it is released is unknown.
fn calls_keeper(program: &Program, graph: &CallGraph<'_>, body: &Body) -> bool {
    body.stmts.iter().any(|stmt| {
        let Stmt::Call { target, .. } = stmt else { return false };
        let called = graph.target(*target).and_then(|target| graph.named(target));
        let keeper = called.and_then(|called| program.body(called));
        keeper.is_some_and(|keeper| keeper.sites.iter().any(|site| site.kept))
    })
}

/// Whether the code asks if this thread holds a lock, as assertions do.
pub(super) fn asks_for_lock(program: &Program, body: &Body) -> bool {
    body.stmts.iter().any(|stmt| match stmt {
        Stmt::Call { target, .. } => {
            let (_, selector) = program.symbols.members(target.pair);
            let selector = program.symbols.bytes(selector);
            let names: [&[u8]; 3] = [
                b"isHeldByCurrentThread(",
                b"isWriteLockedByCurrentThread(",
                b"holdsLock(",
            ];
            names.iter().any(|name| selector.starts_with(name))
        }
        _ => false,
    })
}

/// Whether a field is read to lock the object in it.
fn is_read_to_lock(body: &Body, touch: &Touch) -> bool {
    // The compiler keeps a copy of the object between the read and the acquisition.
    const BETWEEN: u16 = 6;
    !touch.write
        && body.sites.iter().any(|site| {
            let named = match body.exprs.get(site.lock.0 as usize) {
                Some(Node::Field(_, field) | Node::Static(field)) => *field == touch.field,
                _ => false,
            };
            named && site.kind == SiteKind::Block && (touch.pc..=touch.pc.saturating_add(BETWEEN)).contains(&site.pc)
        })
}

fn is_counted(field: &Field) -> bool {
    let out = access::FINAL | access::VOLATILE | access::SYNTHETIC;
    field.access & out == 0 && field.guard.is_none()
}

pub(super) fn guard(body: &Body, lock: ExprId) -> Option<Guard> {
    match *body.exprs.get(lock.0 as usize)? {
        Node::This => Some(Guard::This),
        Node::Field(base, field) if body.exprs.get(base.0 as usize) == Some(&Node::This) => Some(Guard::Own(field)),
        Node::Static(field) => Some(Guard::Static(field)),
        Node::Class(class) => Some(Guard::Class(class)),
        Node::ReadWrite(base) => guard(body, base),
        _ => None,
    }
}

/// Those of the guards that all callers of a method hold, if it is not public.
fn promised(program: &Program, graph: &CallGraph<'_>, method: MethodId, known: &BTreeSet<Guard>) -> BTreeSet<Guard> {
    let callers = Callers {
        program,
        graph,
        open: &|flags| flags & access::PUBLIC != 0,
        lambdas: true,
    };
    let is_held = |guard: &Guard| {
        let mut exprs = Exprs::default();
        let this = exprs.add(Node::This);
        let node = match *guard {
            Guard::This => Node::This,
            Guard::Own(field) => Node::Field(this, field),
            Guard::Static(field) => Node::Static(field),
            Guard::Class(class) => Node::Class(class),
        };
        let lock = exprs.add(node);
        callers.hold(method, lock, &exprs)
    };
    known.iter().copied().filter(is_held).collect()
}
