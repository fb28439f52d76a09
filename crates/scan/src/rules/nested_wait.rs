#![doc = include_str!("../../../report/src/rules/nested-wait.md")]

use ravel_analysis::finding::Rule;

use super::{About, Facts, lock_text, lock_told};
use crate::body::Stmt;
use crate::expr::UNKNOWN;
use crate::report::Draft;

/// All waits in wanted classes with a second lock held.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let program = facts.program;
    let mut drafts = Vec::new();
    for method in program.method_ids().filter(|method| program.class_of(*method).wanted) {
        let Some(body) = program.body(method).filter(|body| body.sites.len() > 1) else {
            continue;
        };
        body.walk(|stmt, what, held| {
            let Stmt::Wait(lock) = *what else { return };
            let Some(given) = body.waited_on(held, lock) else {
                return;
            };
            let waited = body.lock(held[given]);
            let kept = held.iter().find(|site| {
                let other = body.lock(**site);
                other != UNKNOWN && other != waited
            });
            let Some(kept) = kept.and_then(|site| body.sites.get(usize::from(*site))) else {
                return;
            };
            let (Some(kept_text), given_text) = (
                lock_text(program, body, kept.lock),
                lock_text(program, body, waited).unwrap_or_default(),
            ) else {
                return;
            };
            let name = lock_told(program, method, &kept_text);
            let given = match given_text.as_str() {
                "" => "one lock".to_owned(),
                text => lock_told(program, method, text),
            };
            let pc = body.pcs.get(stmt as usize).copied().unwrap_or(0);
            let mut draft = super::about(
                program,
                &About {
                    rule: Rule::NestedWait,
                    method,
                    field: None,
                    places: &[(method, kept.pc, "acquire"), (method, pc, "wait")],
                    message: format!(
                        "{} waits on {given}, which releases it, and keeps {name}: a thread that needs {name} to notify blocks",
                        program.method_name(method)
                    ),
                    help: format!("Wait before acquiring {name}, or wait on {name} itself."),
                    shown: true,
                },
            );
            draft.steps[0].variable = kept_text;
            draft.steps[1].variable = given_text;
            drafts.push(draft);
        });
    }
    drafts
}
