#![doc = include_str!("../../../report/src/rules/lock-pattern.md")]

use std::collections::BTreeMap;

use ravel_analysis::finding::Rule;

use crate::body::{Body, Stmt};
use crate::callgraph::CallGraph;
use crate::expr::{ExprId, Node};
use crate::filter::{Filter, class_of};
use crate::program::{MethodId, Program};
use crate::report::{Alike, Draft, expr_text, step};
use crate::solve::{Instance, LocksHeld, MethodFacts};
use crate::summary::Way;

/// One warning per place of the second acquisition, over all contexts. Places are lines, since compilers copy the code of
/// `finally`.
///
/// What rests on a call that several methods may answer is held back: most often another one answers.
pub fn check(
    program: &Program,
    graph: &CallGraph<'_>,
    held: &LocksHeld,
    filter: &Filter,
    found: &[MethodFacts],
    instances: &[Instance],
) -> Vec<Draft> {
    let mut places: BTreeMap<(MethodId, u32), Vec<&Instance>> = BTreeMap::new();
    for instance in instances {
        let facts = &found[instance.facts as usize];
        let Some(body) = program.body(facts.method) else {
            continue;
        };
        if !program.class_of(facts.method).wanted
            || is_unshared(program, filter, facts, instance)
            || is_private(body, facts, instance)
            || is_guarded(program, facts, instance)
        {
            continue;
        }
        let line = match body.stmt_line(instance.twice.at) {
            // Without line numbers every statement is a place of its own.
            0 => u32::MAX - instance.twice.at,
            line => line,
        };
        places.entry((facts.method, line)).or_default().push(instance);
    }
    let drafts = places.into_values().filter_map(|mut instances| {
        instances.sort_by_cached_key(|instance| {
            (
                !is_certain(program, graph, held, found, instance),
                instance.chain.len(),
                instance.first,
                instance.twice.at,
                instance.context_method,
                instance.context_site,
            )
        });
        let shown = is_certain(program, graph, held, found, instances.first()?);
        draft(program, held, found, &instances, shown)
    });
    drafts.collect()
}

/// Whether the witness is declared to be of a class whose objects are not shared.
fn is_unshared(program: &Program, filter: &Filter, facts: &MethodFacts, instance: &Instance) -> bool {
    [instance.twice.first, instance.twice.second].iter().any(|lock| {
        class_of(program, facts.method, facts.exprs.nodes(), *lock)
            .is_some_and(|class| filter.drops_class(program, class))
    })
}

/// Whether every call on the way, to the acquisitions and from the context, has only one possible answer.
fn is_certain(
    program: &Program,
    graph: &CallGraph<'_>,
    held: &LocksHeld,
    found: &[MethodFacts],
    instance: &Instance,
) -> bool {
    let facts = &found[instance.facts as usize];
    let twice = instance.twice;
    let mut calls: Vec<(MethodId, u32)> = instance.chain.iter().map(|site| (site.method, site.stmt)).collect();
    for (stmt, lock) in [(instance.first, twice.first), (twice.at, twice.second)] {
        calls.extend(ways(program, held, facts, stmt, lock).iter().map(|way| (way.0, way.1)));
    }
    calls.into_iter().all(|(method, stmt)| {
        let stmt = program.body(method).and_then(|body| body.stmts.get(stmt as usize));
        match stmt {
            Some(Stmt::Call { target, .. }) => graph
                .target(*target)
                .is_some_and(|target| graph.answer_count(target, 2) == 1),
            _ => true,
        }
    })
}

/// Whether the witness is an object that the method made and kept to itself.
fn is_private(body: &Body, facts: &MethodFacts, instance: &Instance) -> bool {
    [instance.twice.first, instance.twice.second].iter().any(|lock| {
        facts.exprs.any(*lock, &mut |node| match node {
            Node::New(_) => !body
                .escaped
                .iter()
                .any(|escaped| body.exprs.get(escaped.0 as usize) == Some(&node)),
            _ => false,
        })
    })
}

/// Whether the witness is in a field that an annotation puts under a lock: it is protected already.
fn is_guarded(program: &Program, facts: &MethodFacts, instance: &Instance) -> bool {
    let guarded = |lock: ExprId| match facts.exprs.node(lock) {
        Node::Field(_, pair) | Node::Static(pair) => program.field(pair).is_some_and(|field| field.guard.is_some()),
        _ => false,
    };
    guarded(instance.twice.first) && guarded(instance.twice.second)
}

/// A place on the way to an acquisition: the method, the statement (none for the acquisition itself), the line.
type Place = (MethodId, u32, u32);

/// No statement of any method: the end of a way is a site.
const AT_SITE: u32 = u32::MAX;

/// The calls that lead from a statement of a method to the acquisition of a lock, outermost first, ending there.
fn ways(program: &Program, held: &LocksHeld, facts: &MethodFacts, stmt: u32, lock: ExprId) -> Vec<Place> {
    let Some(body) = program.body(facts.method) else {
        return Vec::new();
    };
    let mut ways = vec![(facts.method, stmt, body.stmt_line(stmt))];
    if !matches!(body.stmts.get(stmt as usize), Some(Stmt::Call { .. })) {
        return ways;
    }
    let mut next = facts.brought.get(&(stmt, lock)).copied();
    while let Some((method, place)) = next.filter(|_| ways.len() < 64) {
        let Some(body) = program.body(method) else { break };
        next = None;
        match held.summaries.of(method)[place as usize].way {
            Way::Direct(site) => {
                let pc = body.sites.get(site as usize).map_or(0, |site| site.pc);
                ways.push((method, AT_SITE, body.line(pc)));
            }
            Way::Call(stmt, callee, place) => {
                ways.push((method, stmt, body.stmt_line(stmt)));
                next = Some((callee, place));
            }
        }
    }
    ways
}

/// The class whose state a lock protects, as far as code says: that of the methods that lock their own object or class.
fn state_class(program: &Program, held: &LocksHeld, facts: &MethodFacts, stmt: u32, lock: ExprId) -> Option<String> {
    let (method, _, _) = *ways(program, held, facts, stmt, lock).last()?;
    let body = program.body(method)?;
    let own = |node: &Node| matches!(node, Node::This | Node::Class(_));
    let locks_itself = body
        .sites
        .iter()
        .any(|site| body.exprs.get(site.lock.0 as usize).is_some_and(own));
    locks_itself.then(|| program.symbols.class_text(program.class_of(method).name))
}

fn draft(
    program: &Program,
    held: &LocksHeld,
    found: &[MethodFacts],
    instances: &[&Instance],
    shown: bool,
) -> Option<Draft> {
    let instance = instances.first()?;
    let facts = &found[instance.facts as usize];
    let body = program.body(facts.method)?;
    let twice = instance.twice;
    let text = |lock| expr_text(program, body, &facts.exprs, lock);
    let (first, second) = (text(twice.first), text(twice.second));
    let context_body = program.body(instance.context_method)?;
    let site = *context_body.sites.get(usize::from(instance.context_site))?;
    let context = expr_text(program, context_body, &context_body.table(), site.lock);
    let context_line = context_body.line(site.pc);
    let mut steps = vec![step(
        program,
        instance.context_method,
        context_line,
        "acquire",
        context.clone(),
        Vec::new(),
    )];
    for (stmt, lock, name) in [(instance.first, twice.first, &first), (twice.at, twice.second, &second)] {
        let ways = ways(program, held, facts, stmt, lock);
        let outer = instance.chain.iter();
        let mut stack: Vec<String> = outer
            .map(|site| {
                let line = program.body(site.method).map_or(0, |body| body.stmt_line(site.stmt));
                program.place(site.method, line)
            })
            .chain(ways.iter().map(|(method, _, line)| program.place(*method, *line)))
            .collect();
        stack.reverse();
        let line = body.stmt_line(stmt);
        steps.push(step(program, facts.method, line, "acquire", name.clone(), stack));
    }
    let mut contexts: Vec<MethodId> = instances.iter().map(|instance| instance.context_method).collect();
    contexts.sort_unstable();
    contexts.dedup();
    let (from, to) = (body.stmt_line(instance.first), body.stmt_line(twice.at));
    let (from, to) = (from.min(to), from.max(to));
    let both = if first == second {
        format!("{second} is locked twice")
    } else {
        format!("{first} and then {second} are locked")
    };
    let more = match contexts.len() {
        0 | 1 => String::new(),
        count => format!(" ({count} contexts)"),
    };
    Some(Draft {
        rule: Rule::LockPattern,
        method: facts.method,
        line: body.stmt_line(twice.at),
        subject: format!("{first} {second}"),
        alike: state_class(program, held, facts, twice.at, twice.second).map(Alike::Interruption),
        variables: vec![context.clone(), second.clone()],
        steps,
        message: format!("{both} while {context} is held{more}: what {second} protects may change in between"),
        help: match (from, to) {
            (0, _) => format!("Hold {second} around the whole of it."),
            _ if from == to => format!("Hold {second} around the whole of it (line {to})."),
            _ => format!("Hold {second} from line {from} to line {to}."),
        },
        units: contexts,
        shown,
    })
}
