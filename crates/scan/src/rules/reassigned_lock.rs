#![doc = include_str!("../../../report/src/rules/reassigned-lock.md")]

use ravel_analysis::finding::Rule;
use ravel_classfile::access;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Facts;
use crate::body::SiteKind;
use crate::expr::Node;
use crate::program::{LocalKind, MethodId};
use crate::report::{Alike, Draft, step};
use crate::symbols::PairId;

/// One finding per field.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let program = facts.program;
    let mut locked: FxHashMap<PairId, (MethodId, u32)> = FxHashMap::default();
    for method in program.method_ids().filter(|method| program.class_of(*method).wanted) {
        let Some(body) = program.body(method) else { continue };
        for site in body.sites.iter().filter(|site| site.kind == SiteKind::Block) {
            if let Some(Node::Field(_, pair) | Node::Static(pair)) = body.exprs.get(site.lock.0 as usize)
                && let Some(field) = program.field(*pair)
                && field.access & access::FINAL == 0
            {
                locked.entry(field.pair).or_insert((method, body.line(site.pc)));
            }
        }
    }
    let assigned: FxHashSet<PairId> = program
        .method_ids()
        .filter(|method| !program.is_constructor(*method))
        .flat_map(|method| program.method(method).assigns.iter())
        .filter_map(|pair| program.field(*pair))
        .map(|field| field.pair)
        .filter(|pair| locked.contains_key(pair))
        .collect();
    let inside: FxHashSet<PairId> = super::local_facts(program, LocalKind::ReplacedInside)
        .filter_map(|(_, fact)| fact.field)
        .filter_map(|pair| program.field(pair))
        .map(|field| field.pair)
        .collect();
    let mut found: Vec<_> = locked.into_iter().filter(|(pair, _)| assigned.contains(pair)).collect();
    found.sort_unstable();
    found
        .into_iter()
        .map(|(pair, (method, line))| {
            let (name, told) = (program.field_text(pair), program.field_name(pair));
            Draft {
                rule: Rule::ReassignedLock,
                method,
                line,
                subject: name.clone(),
                alike: Some(Alike::Race(name.clone())),
                variables: vec![name.clone()],
                steps: vec![step(program, method, line, "acquire", name.clone(), Vec::new())],
                message: format!("{told} is used as a lock and assigned outside constructors"),
                help: "Lock an object in a final field instead.".to_owned(),
                units: Vec::new(),
                // Elsewhere it is most often assigned once, when something starts.
                shown: inside.contains(&pair),
            }
        })
        .collect()
}
