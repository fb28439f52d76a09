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
                        "a way out of the method returns without giving the lock up".to_owned()
                    } else {
                        "an exception on the way leaves the lock held: nothing gives it up".to_owned()
                    },
                    help: "Put unlock() into a finally block that begins right behind lock().".to_owned(),
                    // Most calls between lock and unlock never throw.
                    shown: returns,
                },
            )
        })
        .collect()
}
