#![doc = include_str!("../../../report/src/rules/wait-outside-loop.md")]

use ravel_analysis::finding::Rule;

use super::{Facts, local_facts, lock_told, waited_on};
use crate::body::Body;
use crate::callgraph::CallGraph;
use crate::program::{LocalKind, MethodId, Program};
use crate::report::{Draft, step};

/// All occurrences in wanted classes.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let (program, graph) = (facts.program, facts.graph);
    let facts = local_facts(program, LocalKind::WaitOutsideLoop);
    facts
        .map(|(method, fact)| {
            let line = program.body(method).map_or(0, |body| body.line(fact.pc));
            let lock = waited_on(program, method, fact.pc).unwrap_or_default();
            let on = match lock.as_str() {
                "" => String::new(),
                text => format!(" on {}", lock_told(program, method, text)),
            };
            Draft {
                rule: Rule::WaitOutsideLoop,
                method,
                line,
                subject: String::new(),
                alike: None,
                variables: Vec::new(),
                steps: vec![step(program, method, line, "wait", lock, Vec::new())],
                message: format!(
                    "{} waits{on} outside a loop: the wait may return although the condition does not hold",
                    program.method_name(method)
                ),
                help: "Wait in a loop that tests the condition.".to_owned(),
                units: Vec::new(),
                shown: !is_repeated(program, graph, method),
            }
        })
        .collect()
}

/// Whether all callers of a method have the loop that it lacks.
fn is_repeated(program: &Program, graph: &CallGraph<'_>, method: MethodId) -> bool {
    let targets = graph.answered_by(method);
    let mut sites = targets.iter().flat_map(|target| graph.sites(*target)).peekable();
    sites.peek().is_some() && sites.all(|site| program.body(site.method).is_some_and(|body| in_loop(body, site.stmt)))
}

fn in_loop(body: &Body, stmt: u32) -> bool {
    let Some(start) = body.blocks.iter().position(|block| block.stmts.contains(&stmt)) else {
        return false;
    };
    let mut seen = vec![false; body.blocks.len()];
    let mut pending = vec![start];
    while let Some(block) = pending.pop() {
        let block = &body.blocks[block];
        for next in block
            .successors
            .iter()
            .chain(&block.handlers)
            .map(|next| usize::from(*next))
        {
            if next == start {
                return true;
            }
            if seen.get_mut(next).is_some_and(|seen| !std::mem::replace(seen, true)) {
                pending.push(next);
            }
        }
    }
    false
}
