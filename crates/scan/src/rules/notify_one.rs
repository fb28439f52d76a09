#![doc = include_str!("../../../report/src/rules/notify-one.md")]

use std::collections::{BTreeMap, BTreeSet};

use ravel_analysis::finding::Rule;

use super::{About, Facts};
use crate::body::Stmt;
use crate::expr::{ExprId, Node};
use crate::program::MethodId;
use crate::report::Draft;
use crate::symbols::PairId;

/// A monitor of a class: the object itself, or a field of it.
type Monitor = Option<PairId>;

/// One finding per class and monitor.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let program = facts.program;
    let mut drafts = Vec::new();
    for class in program.classes.iter().filter(|class| class.wanted) {
        let mut waits: BTreeMap<Monitor, BTreeSet<MethodId>> = BTreeMap::new();
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
                            waits.entry(monitor).or_default().insert(method);
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
            let names: Vec<String> = waiting
                .iter()
                .take(3)
                .map(|method| program.method_name(*method))
                .collect();
            drafts.push(super::about(program, &About {
                rule: Rule::NotifyOne,
                method,
                field: monitor,
                places: &[(method, pc, "notify")],
                message: format!(
                    "notify() wakes one thread of any that wait on this monitor, in {}: it may be one that waits for something else",
                    names.join(" and ")
                ),
                help: "Call notifyAll(), or give each condition a monitor or a Condition of its own.".to_owned(),
                shown: true,
            }));
        }
    }
    drafts
}
