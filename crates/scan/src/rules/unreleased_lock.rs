#![doc = include_str!("../../../report/src/rules/unreleased-lock.md")]

use ravel_analysis::finding::Rule;

use super::{About, Facts, acquired_at, local_facts, lock_told};
use crate::program::LocalKind;
use crate::report::Draft;

/// All ways out of methods of wanted classes that leave a lock held.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let program = facts.program;
    let returned = local_facts(program, LocalKind::LockLeft);
    let thrown = local_facts(program, LocalKind::LockLeftByException);
    returned
        .chain(thrown)
        .map(|(method, fact)| {
            let returns = fact.kind == LocalKind::LockLeft;
            let (name, lock) = (program.method_name(method), acquired_at(program, method, fact.other));
            let told = lock
                .as_deref()
                .map_or_else(|| "the lock".to_owned(), |lock| lock_told(program, method, lock));
            let mut draft = super::about(
                program,
                &About {
                    rule: Rule::UnreleasedLock,
                    method,
                    field: None,
                    places: &[(method, fact.other, "acquire"), (method, fact.pc, "return")],
                    message: if returns {
                        format!("{name} can return without releasing {told}")
                    } else {
                        format!("An exception can leave {name} without releasing {told}")
                    },
                    help: format!("Release {told} in the finally block of a try that starts directly after lock()."),
                    // Most calls between lock and unlock never throw.
                    shown: returns,
                },
            );
            draft.steps[0].variable = lock.unwrap_or_default();
            draft
        })
        .collect()
}
