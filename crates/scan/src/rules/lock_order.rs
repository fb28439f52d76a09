#![doc = include_str!("../../../report/src/rules/lock-order.md")]

use std::collections::{BTreeMap, BTreeSet};

use ravel_analysis::finding::Rule;
use ravel_classfile::access;

use crate::body::Stmt;
use crate::callgraph::CallGraph;
use crate::expr::{ExprId, Exprs, Node, UNKNOWN};
use crate::filter::{Filter, class_of};
use crate::program::{MethodId, Program};
use crate::report::{Draft, step};
use crate::solve::LocksHeld;
use crate::summary::{Way, actual};
use crate::symbols::{PairId, Sym};

/// A lock as code in different methods can name it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Named {
    Field(PairId),
    Class(Sym),
    Instance(Sym),
}

impl Named {
    fn text(self, program: &Program) -> String {
        let symbols = &program.symbols;
        match self {
            Named::Field(pair) => {
                let (class, member) = symbols.members(pair);
                format!("{}.{}", symbols.class_text(class), symbols.member_name(member))
            }
            Named::Class(class) => format!("{}.class", symbols.class_text(class)),
            Named::Instance(class) => format!("an object of {}", symbols.class_text(class)),
        }
    }
}

/// One lock taken under another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Edge {
    calls: u32,
    method: MethodId,
    line: u32,
    others: Vec<Named>,
    inner: Option<(MethodId, u32)>,
}

fn named(program: &Program, method: MethodId, nodes: &[Node], lock: ExprId) -> Option<Named> {
    match *nodes.get(lock.0 as usize)? {
        Node::Static(pair) | Node::Field(_, pair) => {
            let field = program.field(pair)?;
            Some(Named::Field(field.pair))
        }
        Node::Class(class) => Some(Named::Class(class)),
        Node::ReadWrite(base) => named(program, method, nodes, base),
        Node::This | Node::Param(_) => {
            let class = class_of(program, method, nodes, lock)?;
            let known = program.by_name.get(&class)?;
            let object = program.symbols.bytes(class) == b"java/lang/Object";
            let interface = program.class(*known).access & access::INTERFACE != 0;
            (!object && !interface).then_some(Named::Instance(class))
        }
        _ => None,
    }
}

/// The lock that an entry of a method's set is, named where it is acquired.
fn named_at_source(
    program: &Program,
    held: &LocksHeld,
    method: MethodId,
    place: u32,
) -> Option<(Named, MethodId, u32)> {
    let (mut method, mut place) = (method, place);
    for _ in 0..64 {
        match held.summaries.of(method).get(place as usize)?.way {
            Way::Direct(site) => {
                let body = program.body(method)?;
                let site = body.sites.get(site as usize)?;
                return Some((
                    named(program, method, &body.exprs, site.lock)?,
                    method,
                    body.line(site.pc),
                ));
            }
            Way::Call(_, callee, next) => (method, place) = (callee, next),
        }
    }
    None
}

/// All circles of two locks, one finding per pair.
pub fn check(program: &Program, graph: &CallGraph<'_>, held: &LocksHeld, filter: &Filter) -> Vec<Draft> {
    let edges = edges(program, graph, held, filter);
    let mut drafts = Vec::new();
    for ((from, to), forth) in &edges {
        if from >= to {
            continue;
        }
        let Some(back) = edges.get(&(*to, *from)) else { continue };
        let pair = forth.iter().find_map(|a| {
            let gated = |b: &Edge| a.others.iter().any(|other| b.others.contains(other));
            back.iter().find(|b| !gated(b)).map(|b| (a, b))
        });
        let Some((a, b)) = pair else { continue };
        if !program.class_of(a.method).wanted && !program.class_of(b.method).wanted {
            continue;
        }
        let (first, second) = (from.text(program), to.text(program));
        let mut steps = Vec::new();
        for (edge, outer, inner) in [(a, &first, &second), (b, &second, &first)] {
            steps.push(step(
                program,
                edge.method,
                edge.line,
                "acquire",
                outer.clone(),
                Vec::new(),
            ));
            let (method, line) = edge.inner.unwrap_or((edge.method, edge.line));
            steps.push(step(program, method, line, "acquire", inner.clone(), Vec::new()));
        }
        drafts.push(Draft {
            rule: Rule::LockOrder,
            method: a.method,
            line: a.line,
            subject: format!("{first} {second}"),
            alike: None,
            variables: vec![first.clone(), second.clone()],
            steps,
            message: format!(
                "{first} and then {second} are locked in {}, and the other way round in {}",
                program.method_text(a.method),
                program.method_text(b.method)
            ),
            help: "Take the locks in the same order everywhere.".to_owned(),
            units: vec![b.method],
            shown: a.calls + b.calls <= 2,
        });
    }
    drafts
}

type Edges = BTreeMap<(Named, Named), BTreeSet<Edge>>;

fn edges(program: &Program, graph: &CallGraph<'_>, held: &LocksHeld, filter: &Filter) -> Edges {
    let mut edges = Edges::new();
    for method in program.method_ids() {
        let Some(body) = program.body(method).filter(|body| !body.sites.is_empty()) else {
            continue;
        };
        let mut exprs = body.table();
        let mut add = |open: &[u16], stmt: u32, lock: ExprId, exprs: &Exprs, to: Named, calls, inner| {
            // Taken again, not taken.
            if open.iter().any(|site| body.lock(*site) == lock && lock != UNKNOWN) {
                return;
            }
            let locks: Vec<Option<Named>> = open
                .iter()
                .map(|site| named(program, method, exprs.nodes(), body.lock(*site)))
                .collect();
            for from in locks.iter().flatten().filter(|from| **from != to) {
                let others = locks.iter().flatten().filter(|other| *other != from).copied();
                let known = edges.entry((*from, to)).or_default();
                if known.len() < 8 {
                    known.insert(Edge {
                        calls,
                        method,
                        line: body.stmt_line(stmt),
                        others: others.collect(),
                        inner,
                    });
                }
            }
        };
        body.walk(|stmt, what, open| {
            if open.is_empty() {
                return;
            }
            match *what {
                Stmt::Enter(site) => {
                    let lock = body.lock(site);
                    if filter.drops_lock(program, method, body, lock) {
                        return;
                    }
                    if let Some(to) = named(program, method, &body.exprs, lock) {
                        add(open, stmt, lock, &exprs, to, 0, None);
                    }
                }
                Stmt::Call {
                    target,
                    args,
                    count,
                    receiver,
                } => {
                    let Some(target) = graph.target(target) else { return };
                    let answers = held.summaries.answers(target);
                    // A call with many answers says little about which lock it takes.
                    if answers.is_empty() || answers.len() > crate::summary::ANSWERS {
                        return;
                    }
                    let arguments = body.arguments(args, count);
                    for callee in answers {
                        for (place, entry) in held.summaries.of(*callee).iter().enumerate() {
                            let lock = held.exprs.translate(entry.item, &mut exprs, &mut |_, index| {
                                actual(arguments, receiver, index)
                            });
                            let source = named_at_source(program, held, *callee, place as u32);
                            if let Some((to, at, line)) = source.filter(|_| lock != UNKNOWN) {
                                add(open, stmt, lock, &exprs, to, entry.depth + 1, Some((at, line)));
                            }
                        }
                    }
                }
                _ => {}
            }
        });
    }
    edges
}
