#![doc = include_str!("../../../report/src/rules/unreleased-lock.md")]

use ravel_analysis::finding::Rule;

use super::{About, Facts, local_facts};
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
            super::about(
                program,
                &About {
                    rule: Rule::UnreleasedLock,
                    method,
                    field: None,
                    places: &[(method, fact.other, "acquire"), (method, fact.pc, "return")],
                    message: if returns {
                        "a return leaves the method without releasing the lock".to_owned()
                    } else {
                        "an exception leaves the lock held: no code releases it".to_owned()
                    },
                    help: "Put unlock() into the finally block of a try that starts directly after lock().".to_owned(),
                    // Most calls between lock and unlock never throw.
                    shown: returns,
                },
            )
        })
        .collect()
}
