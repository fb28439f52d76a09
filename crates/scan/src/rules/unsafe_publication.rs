#![doc = include_str!("../../../report/src/rules/unsafe-publication.md")]

use ravel_analysis::finding::Rule;
use ravel_classfile::access;
use rustc_hash::FxHashSet;

use super::{About, Facts, is_below, local_facts};
use crate::program::LocalKind;
use crate::report::Draft;
use crate::symbols::Sym;

/// All constructors of wanted classes that let their object out.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let program = facts.program;
    let extended: FxHashSet<Sym> = program.classes.iter().filter_map(|class| class.super_class).collect();
    let started = local_facts(program, LocalKind::StartedInConstructor).filter(|(_, fact)| {
        fact.field
            .is_some_and(|called| is_below(program, program.symbols.members(called).0, &[b"java/lang/Thread"]))
    });
    let published = local_facts(program, LocalKind::PublishedInConstructor);
    started
        .chain(published)
        .map(|(method, fact)| {
            let class = program.class_of(method);
            let unfinished = fact.other != fact.pc;
            // The constructor of a subclass runs after this one.
            let open = class.access & access::FINAL == 0 && extended.contains(&class.name);
            let mut places = vec![(method, fact.pc, "write")];
            if unfinished {
                places.push((method, fact.other, "write"));
            }
            let after = if unfinished { ", and fields are assigned after that" } else { "" };
            let message = match fact.kind {
                LocalKind::StartedInConstructor => {
                    format!("the constructor starts a thread, which may use the object before it is made{after}")
                }
                _ => format!("the constructor puts its object into a static field before it is made{after}"),
            };
            super::about(program, &About {
                rule: Rule::UnsafePublication,
                method,
                field: fact.field.filter(|_| fact.kind == LocalKind::PublishedInConstructor),
                places: &places,
                message,
                help: "Let a static method make the object, and publish it or start its thread when the constructor is done."
                    .to_owned(),
                shown: unfinished || open,
            })
        })
        .collect()
}
