#![doc = include_str!("../../../report/src/rules/lock-order.md")]

use std::collections::{BTreeMap, BTreeSet};

use ravel_analysis::finding::Rule;
use ravel_classfile::access;
use ravel_trace::naming;

use super::Facts;
use crate::alias;
use crate::body::Stmt;
use crate::callgraph::CallGraph;
use crate::cycles;
use crate::expr::{ExprId, Exprs, Node, UNKNOWN};
use crate::filter::{Filter, class_of};
use crate::program::{MethodId, Program};
use crate::report::{Draft, step};
use crate::rules::callers::Callers;
use crate::solve::LocksHeld;
use crate::summary::{Way, actual, copy_from};
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
            Named::Field(pair) => program.field_text(pair),
            Named::Class(class) => format!("{}.class", symbols.class_text(class)),
            Named::Instance(class) => format!("an object of {}", symbols.class_text(class)),
        }
    }

    /// As a message names it, without packages.
    fn told(self, program: &Program) -> String {
        let symbols = &program.symbols;
        let class = |class: Sym| naming::class(&symbols.class_text(class));
        match self {
            Named::Field(pair) => program.field_name(pair),
            Named::Class(of) => format!("{}.class", class(of)),
            Named::Instance(of) => match class(of) {
                name if name.starts_with(['A', 'E', 'I', 'O']) => format!("an {name}"),
                name => format!("a {name}"),
            },
        }
    }
}

/// One lock taken under another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Edge {
    /// First in the order, so that the nearest is taken.
    calls: u32,
    method: MethodId,
    line: u32,
    others: Vec<Named>,
    inner: Option<(MethodId, u32)>,
    /// Whether the call that leads to the inner lock has but one possible answer.
    certain: bool,
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
                let site = body.sites.get(site as usize).filter(|site| !site.tried)?;
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

/// All shortest circles, one finding each, and methods that lock two objects of one class in whichever order they come.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let Facts {
        program,
        graph,
        held,
        filter,
        ..
    } = *facts;
    let edges: BTreeMap<(Named, Named), Vec<Edge>> = edges(program, graph, held, filter)
        .into_iter()
        .map(|(ends, known)| (ends, known.into_iter().collect()))
        .collect();
    // Threads that hold one more lock in common cannot meet in the circle.
    let together = |a: &Edge, b: &Edge| !a.others.iter().any(|other| b.others.contains(other));
    let mut drafts: Vec<Draft> = cycles::shortest(&edges, &together)
        .iter()
        .filter_map(|circle| draft(program, circle))
        .collect();
    for ((from, to), known) in &edges {
        if from == to
            && let Some(edge) = known.iter().find(|edge| edge.others.is_empty())
        {
            drafts.extend(draft(program, &[(*from, edge), (*to, edge)]));
        }
    }
    drafts
}

fn draft(program: &Program, circle: &[(Named, &Edge)]) -> Option<Draft> {
    if !circle.iter().any(|(_, edge)| program.class_of(edge.method).wanted) {
        return None;
    }
    let names: Vec<String> = circle.iter().map(|(lock, _)| lock.text(program)).collect();
    let inner = |at: usize| &names[(at + 1) % names.len()];
    let mut steps = Vec::new();
    for (at, (_, edge)) in circle.iter().enumerate() {
        let (method, line) = edge.inner.unwrap_or((edge.method, edge.line));
        let outer = step(
            program,
            edge.method,
            edge.line,
            "acquire",
            names[at].clone(),
            Vec::new(),
        );
        steps.push(outer);
        steps.push(step(program, method, line, "acquire", inner(at).clone(), Vec::new()));
    }
    let place = |at: usize| program.method_name(circle[at].1.method);
    let told: Vec<String> = circle.iter().map(|(lock, _)| lock.told(program)).collect();
    let same = circle.iter().all(|(lock, _)| *lock == circle[0].0);
    let message = match circle.len() {
        2 if same => {
            steps.truncate(2);
            format!(
                "{} locks two objects of one class in the order of its arguments",
                place(0)
            )
        }
        2 => format!(
            "{} and then {} are locked in {}, in the opposite order in {}",
            told[0],
            told[1],
            place(0),
            place(1)
        ),
        count => {
            let parts =
                (0..count).map(|at| format!("{} and then {} in {}", told[at], told[(at + 1) % count], place(at)));
            format!(
                "locks are acquired in a cycle: {}",
                parts.collect::<Vec<_>>().join(", ")
            )
        }
    };
    let mut variables = names.clone();
    variables.dedup();
    let calls: u32 = circle.iter().map(|(_, edge)| edge.calls).sum();
    Some(Draft {
        rule: Rule::LockOrder,
        method: circle[0].1.method,
        line: circle[0].1.line,
        subject: names.join(" "),
        alike: None,
        variables,
        steps,
        message,
        help: if same {
            "Give the objects an order, by a number or a name, and lock them in that order.".to_owned()
        } else {
            "Acquire the locks in the same order everywhere.".to_owned()
        },
        units: circle.iter().skip(1).map(|(_, edge)| edge.method).collect(),
        shown: calls as usize <= circle.len() && circle.iter().all(|(_, edge)| edge.certain),
    })
}

type Edges = BTreeMap<(Named, Named), BTreeSet<Edge>>;

fn edges(program: &Program, graph: &CallGraph<'_>, held: &LocksHeld, filter: &Filter) -> Edges {
    let mut edges = Edges::new();
    let callers = Callers {
        program,
        graph,
        open: &|flags| flags & (access::PUBLIC | access::PROTECTED) != 0,
        lambdas: false,
    };
    for method in program.method_ids() {
        let Some(body) = program.body(method).filter(|body| !body.sites.is_empty()) else {
            continue;
        };
        let selector = program.symbols.bytes(program.method(method).selector);
        let (constructs, initialises) = (selector.starts_with(b"<init>"), selector.starts_with(b"<clinit>"));
        let mut exprs = body.table();
        let mut add = |open: &[u16], stmt: u32, lock: ExprId, exprs: &Exprs, to: Named, calls, inner, certain| {
            // Taken again, not taken: under the same name, or through a back pointer.
            let same = alias::back_to(program, exprs, lock).unwrap_or(lock);
            if open.iter().any(|site| body.lock(*site) == same && same != UNKNOWN) {
                return;
            }
            let is_own = |site: &u16| exprs.node(body.lock(*site)) == Node::This;
            if open.iter().any(is_own) && alias::is_maker(program, graph, exprs, lock, method) {
                return;
            }
            // No other thread can hold the lock of an object that it has not seen, or wait in a class's initialiser.
            let fresh = |lock: ExprId| {
                body.is_unpublished(exprs, lock, stmt) || constructs && exprs.any(lock, &mut |node| node == Node::This)
            };
            if fresh(lock) || initialises {
                return;
            }
            // If all callers hold the lock already, it is not taken here.
            let mut shared = Exprs::default();
            let outside = copy_from(exprs.nodes(), lock, &mut shared);
            if callers.hold(method, outside, &shared) {
                return;
            }
            let locks: Vec<Option<Named>> = open
                .iter()
                .map(|site| named(program, method, exprs.nodes(), body.lock(*site)))
                .collect();
            let is_plain = |lock: ExprId| matches!(exprs.node(lock), Node::This | Node::Param(_));
            for (place, from) in locks.iter().enumerate() {
                let Some(from) = from.as_ref().filter(|_| !fresh(body.lock(open[place]))) else {
                    continue;
                };
                // Two objects of one class are two locks only if the method is given both: a parent and its child have an
                // order.
                if *from == to && !(is_plain(lock) && is_plain(body.lock(open[place]))) {
                    continue;
                }
                let others = locks.iter().flatten().filter(|other| *other != from).copied();
                let known = edges.entry((*from, to)).or_default();
                if known.len() < 8 {
                    known.insert(Edge {
                        calls,
                        method,
                        line: body.stmt_line(stmt),
                        others: others.collect(),
                        inner,
                        certain,
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
                    // Who only tries does not wait, so no circle closes there.
                    let tried = body.sites.get(usize::from(site)).is_some_and(|site| site.tried);
                    if tried || filter.drops_lock(program, method, body, lock) {
                        return;
                    }
                    if let Some(to) = named(program, method, &body.exprs, lock) {
                        add(open, stmt, lock, &exprs, to, 0, None, true);
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
                    let certain = graph.answer_count(target, 2) == 1;
                    let arguments = body.arguments(args, count);
                    for callee in answers {
                        for (place, entry) in held.summaries.of(*callee).iter().enumerate() {
                            let lock = held.exprs.translate(entry.item, &mut exprs, &mut |_, index| {
                                actual(arguments, receiver, index)
                            });
                            let source = named_at_source(program, held, *callee, place as u32);
                            if let Some((to, at, line)) = source.filter(|_| lock != UNKNOWN) {
                                add(open, stmt, lock, &exprs, to, entry.depth + 1, Some((at, line)), certain);
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
