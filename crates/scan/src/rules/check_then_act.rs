#![doc = include_str!("../../../report/src/rules/check-then-act.md")]

use ravel_analysis::finding::Rule;
use ravel_classfile::access;

use super::callers::{CALLERS, callers_hold_locks};
use super::{About, Facts};
use crate::body::{Body, Stmt};
use crate::callgraph::CallGraph;
use crate::flow::{At, Flow, Kind, MethodFlow};
use crate::program::{MethodId, Program};
use crate::report::Draft;
use crate::symbols::parameters;

/// Calls whose answer another thread can change before the caller acts on it, and the calls that then act on it.
struct Pair {
    tests: &'static [&'static [u8]],
    acts: &'static [&'static [u8]],
    /// Whether both name the same key or element as their first argument.
    keyed: bool,
}

const PAIRS: [Pair; 4] = [
    Pair {
        tests: &[b"containsKey", b"get"],
        acts: &[b"put", b"remove", b"replace"],
        keyed: true,
    },
    Pair {
        tests: &[b"containsKey"],
        acts: &[b"get"],
        keyed: true,
    },
    Pair {
        tests: &[b"contains"],
        acts: &[b"add", b"addLast", b"addFirst", b"offer"],
        keyed: true,
    },
    Pair {
        tests: &[b"isEmpty", b"size", b"peek"],
        acts: &[
            b"add",
            b"offer",
            b"put",
            b"remove",
            b"removeFirst",
            b"removeLast",
            b"element",
            b"getFirst",
            b"getLast",
            b"take",
            b"firstKey",
            b"lastKey",
            b"first",
            b"last",
            b"poll",
        ],
        keyed: false,
    },
];

/// One finding per method and container.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let program = facts.program;
    let mut drafts = Vec::new();
    for method in program.method_ids().filter(|method| program.class_of(*method).wanted) {
        if program.body(method).is_some_and(|body| calls_containers(program, body)) && !program.is_constructor(method) {
            drafts.extend(in_method(program, facts.graph, method));
        }
    }
    drafts
}

/// The containers that many threads use without a lock.
fn is_concurrent(class: &[u8]) -> bool {
    class.strip_prefix(b"java/util/concurrent/").is_some_and(|name| {
        name.starts_with(b"Concurrent")
            || name.ends_with(b"Queue")
            || name.ends_with(b"Deque")
            || name.starts_with(b"CopyOnWrite")
    })
}

fn calls_containers(program: &Program, body: &Body) -> bool {
    let calls = body.stmts.iter().filter(|stmt| match stmt {
        Stmt::Call { target, .. } => {
            let (class, _) = program.symbols.members(target.pair);
            is_concurrent(program.symbols.bytes(class))
        }
        _ => false,
    });
    calls.count() > 1
}

/// A call on a container: where, its name, and the field that the container is in.
struct Call<'a> {
    at: At,
    name: &'a [u8],
    arguments: usize,
    container: At,
    identity: Identity,
}

/// What names the container, so that two calls are known to be on one.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Identity {
    Field(crate::symbols::PairId, Option<At>),
    Value(At),
}

fn in_method(program: &Program, graph: &CallGraph<'_>, method: MethodId) -> Option<Draft> {
    let (body, known) = (program.body(method)?, MethodFlow::of(program, method)?);
    let flow = &known.flow;
    let held = flow.held(body);
    let calls: Vec<Call<'_>> = flow
        .all()
        .filter_map(|at| {
            let Kind::Call(index) = flow.kind(at) else { return None };
            let called = known.class.pool.member_ref(index).ok()?;
            let container = flow.operand(at, 0).filter(|_| is_concurrent(called.class))?;
            Some(Call {
                at,
                name: called.name,
                arguments: parameters(called.descriptor).count(),
                container,
                identity: identity(program, &known, container),
            })
        })
        .collect();
    let mut first = None;
    let is_free = |at: At| held[usize::from(at)].as_ref().is_some_and(|held| held.is_empty());
    for act in calls.iter().filter(|act| is_free(act.at)) {
        let before = calls
            .iter()
            .filter(|test| test.at < act.at && is_free(test.at) && !only_sizes(&known, test.at));
        for test in before.filter(|test| test.identity == act.identity) {
            let pair = PAIRS.iter().find(|pair| {
                pair.tests.contains(&test.name)
                    && pair.acts.contains(&act.name)
                    && !does_both(act, pair.keyed)
                    && (!pair.keyed || same_key(flow, test.at, act.at))
            });
            if pair.is_none() || !flow.decided(act.at).contains(test.at) || is_made_here(flow, act.container) {
                continue;
            }
            let Identity::Field(field, _) = act.identity else {
                continue;
            };
            let (test_name, act_name) = (String::from_utf8_lossy(test.name), String::from_utf8_lossy(act.name));
            let told = program.field_name(field);
            // A queue that has become empty meanwhile gives null, for which callers of `poll` look.
            let plain = !matches!((test.name, act.name), (_, b"poll") | (b"containsKey", b"get"));
            let shown = plain
                // A lambda runs with the locks of the code to which it is given.
                && program.method(method).access & access::SYNTHETIC == 0
                && !is_own_thread(&known, act.at)
                && !keeps_equal(&known, test, act)
                && !callers_hold_locks(program, graph, method, CALLERS);
            let found = super::about(
                program,
                &About {
                    rule: Rule::CheckThenAct,
                    method,
                    field: Some(field),
                    places: &[(method, flow.pc(test.at), "read"), (method, flow.pc(act.at), "write")],
                    message: format!(
                        "{told}.{act_name}() acts on the answer of {test_name}(), which may have changed in between"
                    ),
                    help: advice(act.name).to_owned(),
                    shown,
                },
            );
            if shown {
                return Some(found);
            }
            first.get_or_insert(found);
        }
    }
    first
}

/// Whether a map keeps what is found out about a key and cannot change: two threads put equal values.
fn keeps_equal(known: &MethodFlow, test: &Call<'_>, act: &Call<'_>) -> bool {
    let flow = &known.flow;
    let got = test.at.checked_add(1).map(|next| flow.kind(next));
    let class = match got {
        Some(Kind::Cast(index)) => known.class.pool.class_name(index).unwrap_or_default(),
        _ => return false,
    };
    // What is made of the old value is an update.
    test.name == b"get" && act.name == b"put" && EQUAL.contains(&class) && !flow.used(act.at).contains(test.at)
}

/// Classes whose objects are the same whichever thread makes them.
const EQUAL: [&[u8]; 7] = [
    b"java/lang/Boolean",
    b"java/lang/Class",
    b"java/lang/String",
    b"java/lang/reflect/Constructor",
    b"java/lang/reflect/Field",
    b"java/lang/reflect/Method",
    b"java/util/regex/Pattern",
];

fn identity(program: &Program, known: &MethodFlow, container: At) -> Identity {
    let flow = &known.flow;
    match flow.kind(container) {
        Kind::Read(index) => match known.field(program, index) {
            Some(field) => Identity::Field(field, flow.operand(container, 0)),
            None => Identity::Value(container),
        },
        _ => Identity::Value(container),
    }
}

fn same_key(flow: &Flow, test: At, act: At) -> bool {
    let key = |at| flow.operand(at, 1);
    key(test).is_some() && key(test) == key(act)
}

/// Whether a call tests and acts in one step: `remove(key, value)` and `replace(key, old, new)` do, and what is put under one key into
/// a map that was empty, or taken away from it, has nothing to do with the others.
fn does_both(act: &Call<'_>, keyed: bool) -> bool {
    match act.name {
        b"remove" => act.arguments > 1 || !keyed && act.arguments > 0,
        b"replace" => act.arguments > 2,
        b"put" => !keyed && act.arguments > 1,
        _ => false,
    }
}

/// Whether the key is the thread that runs: no other uses it.
fn is_own_thread(known: &MethodFlow, act: At) -> bool {
    let key = known.flow.operand(act, 1).map(|key| known.flow.kind(key));
    matches!(key, Some(Kind::Call(index)) if known.class.pool.member_ref(index).is_ok_and(|called| called.name == b"currentThread"))
}

/// Whether the answer only says how large to make another container.
fn only_sizes(known: &MethodFlow, test: At) -> bool {
    let flow = &known.flow;
    let mut users = flow
        .all()
        .filter(|user| flow.operands(*user).any(|operand| operand == test))
        .peekable();
    users.peek().is_some()
        && users.all(|user| {
            let Kind::Call(index) = flow.kind(user) else {
                return false;
            };
            let called = known.class.pool.member_ref(index);
            called.is_ok_and(|called| called.name == b"<init>" && called.class.starts_with(b"java/util/"))
        })
}

/// Whether the container is one that the method made.
fn is_made_here(flow: &Flow, container: At) -> bool {
    flow.kind(container) == Kind::Other
}

fn advice(act: &[u8]) -> &'static str {
    match act {
        b"put" => "Use putIfAbsent, computeIfAbsent, compute or merge, which do both atomically.",
        b"remove" | b"replace" => {
            "Use remove(key, value), replace(key, old, new) or computeIfPresent, which do both atomically."
        }
        b"add" | b"addLast" | b"addFirst" | b"offer" => {
            "Use addIfAbsent or a concurrent set, or hold a lock over both."
        }
        b"get" => "Call get() alone and test its result for null.",
        _ => "Call poll() alone and test its result for null.",
    }
}
