#![doc = include_str!("../../../report/src/rules/shared-format.md")]

use ravel_analysis::finding::Rule;

use super::{About, Facts, local_facts};
use crate::program::{LocalKind, MethodId};
use crate::report::Draft;
use crate::symbols::PairId;

/// One finding per field, with the methods that use it.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let program = facts.program;
    let mut uses: Vec<(PairId, MethodId, u16)> = local_facts(program, LocalKind::SharedFormat)
        .filter_map(|(method, fact)| Some((program.field(fact.field?)?.pair, method, fact.pc)))
        .collect();
    uses.sort_unstable();
    uses.chunk_by(|a, b| a.0 == b.0)
        .filter_map(|uses| {
            let (field, method, _) = *uses.first()?;
            let told = program.field_name(field);
            let places: Vec<(MethodId, u16, &str)> =
                uses.iter().map(|(_, method, pc)| (*method, *pc, "read")).collect();
            Some(super::about(
                program,
                &About {
                    rule: Rule::SharedFormat,
                    method,
                    field: Some(field),
                    places: &places,
                    message: format!("{told} is shared by all threads and used without a lock, but its methods change its state"),
                    help:
                        "Use java.time.format.DateTimeFormatter, which is immutable, or create a new object for each use."
                            .to_owned(),
                    shown: true,
                },
            ))
        })
        .collect()
}
