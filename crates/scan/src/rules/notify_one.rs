#![doc = include_str!("../../../report/src/rules/notify-one.md")]

use std::collections::{BTreeMap, BTreeSet};

use ravel_analysis::describe::listed;
use ravel_analysis::finding::Rule;

use super::{About, Facts, lock_told, method_names};
use crate::body::Stmt;
use crate::expr::{ExprId, Node};
use crate::flow::{Kind, MethodFlow};
use crate::program::{MethodId, Program};
use crate::report::Draft;
use crate::symbols::PairId;

/// A monitor of a class: the object itself, or a field of it.
type Monitor = Option<PairId>;

/// One finding per class and monitor.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let program = facts.program;
    let mut drafts = Vec::new();
    for class in program.classes.iter().filter(|class| class.wanted) {
        let mut waits: BTreeMap<Monitor, BTreeMap<MethodId, u16>> = BTreeMap::new();
        let mut wakes: BTreeMap<Monitor, (MethodId, u16)> = BTreeMap::new();
        for method in class.methods.clone().map(MethodId) {
            let Some(body) = program.body(method) else { continue };
            let monitor = |lock: ExprId| match body.exprs.get(lock.0 as usize)? {
                Node::This => Some(None),
                Node::Field(base, field) if body.exprs.get(base.0 as usize) == Some(&Node::This) => Some(Some(*field)),
                Node::Static(field) => Some(Some(*field)),
                _ => None,
            };
            for (stmt, pc) in body.stmts.iter().zip(body.pcs.iter()) {
                match stmt {
                    Stmt::Wait(lock) => {
                        if let Some(monitor) = monitor(*lock) {
                            waits.entry(monitor).or_default().insert(method, *pc);
                        }
                    }
                    Stmt::Notify { lock, all: false } => {
                        if let Some(monitor) = monitor(*lock) {
                            wakes.entry(monitor).or_insert((method, *pc));
                        }
                    }
                    _ => {}
                }
            }
        }
        for (monitor, (method, pc)) in wakes {
            let Some(waiting) = waits.get(&monitor).filter(|waiting| waiting.len() > 1) else {
                continue;
            };
            let mut conditions: Vec<_> = waiting
                .iter()
                .map(|(method, pc)| condition(program, *method, *pc))
                .collect();
            conditions.sort_unstable();
            conditions.dedup();
            // All wait for the same thing: it does not matter which of them wakes.
            if conditions.len() == 1 && conditions[0].as_ref().is_some_and(|names| !names.is_empty()) {
                continue;
            }
            let untimed = waiting
                .iter()
                .filter(|(method, pc)| is_untimed(program, **method, **pc));
            let untimed = untimed.count();
            let names = method_names(program, waiting.keys().copied());
            let lock = monitor.map_or_else(|| "this".to_owned(), |field| program.field_text(field));
            let mut draft = super::about(
                program,
                &About {
                    rule: Rule::NotifyOne,
                    method,
                    field: monitor,
                    places: &[(method, pc, "notify")],
                    message: format!(
                        "{} wakes any one thread that waits on {}, in {}: that thread may wait for another condition",
                        program.method_name(method),
                        lock_told(program, method, &lock),
                        listed(&names)
                    ),
                    help: "Call notifyAll(), or use one monitor or Condition for each condition.".to_owned(),
                    // One that waits for a time looks again by itself.
                    shown: untimed > 1,
                },
            );
            draft.steps[0].variable = lock;
            drafts.push(draft);
        }
    }
    drafts
}

/// Whether a wait has no end of its own.
fn is_untimed(program: &Program, method: MethodId, wait: u16) -> bool {
    let descriptor = || {
        let known = MethodFlow::of(program, method)?;
        let Kind::Call(index) = known.flow.kind(known.flow.at(wait)?) else {
            return None;
        };
        Some(known.class.pool.member_ref(index).ok()?.descriptor == b"()V")
    };
    descriptor().unwrap_or(true)
}

/// What decides whether a method waits: the names of the fields and methods that its conditions ask.
fn condition(program: &Program, method: MethodId, wait: u16) -> Option<BTreeSet<Vec<u8>>> {
    let known = MethodFlow::of(program, method)?;
    let flow = &known.flow;
    let decided = flow.decided(flow.at(wait)?);
    let asked = decided.iter().filter_map(|at| match flow.kind(at) {
        Kind::Call(index) | Kind::Read(index) => known
            .class
            .pool
            .member_ref(index)
            .ok()
            .map(|member| member.name.to_vec()),
        _ => None,
    });
    // What counts the time left is asked besides.
    let clocks: [&[u8]; 2] = [b"currentTimeMillis", b"nanoTime"];
    Some(asked.filter(|name| !clocks.contains(&name.as_slice())).collect())
}
