#![doc = include_str!("../../../report/src/rules/unsafe-publication.md")]

use ravel_analysis::finding::Rule;
use ravel_classfile::access;
use rustc_hash::FxHashSet;

use super::{About, Facts, is_below, local_facts};
use crate::flow::{Kind, MethodFlow, parameter};
use crate::program::{LocalKind, MethodId, Program};
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
                    format!("the constructor starts a thread, which may use the object before it is complete{after}")
                }
                _ => format!("the constructor stores its object in a static field before it is complete{after}"),
            };
            super::about(program, &About {
                rule: Rule::UnsafePublication,
                method,
                field: fact.field.filter(|_| fact.kind == LocalKind::PublishedInConstructor),
                places: &places,
                message,
                help: "Create the object in a static factory method, and publish it or start its thread after the constructor returns."
                    .to_owned(),
                shown: (unfinished || open)
                    && (fact.kind == LocalKind::PublishedInConstructor || gives_itself(program, method, fact.pc)),
            })
        })
        .collect()
}

/// Whether a constructor can have given its object to a thread by the time that it starts one: it starts itself, passes itself to a
/// call or into another object, or calls a method of its own, which could. Otherwise the thread does not get the object.
fn gives_itself(program: &Program, method: MethodId, start: u16) -> bool {
    let Some(known) = MethodFlow::of(program, method) else {
        return true;
    };
    let flow = &known.flow;
    let this = parameter(0);
    flow.all().filter(|at| flow.pc(*at) <= start).any(|at| {
        let mut places = (0..flow.operand_count(at)).filter(|place| flow.operand(at, *place) == Some(this));
        match flow.kind(at) {
            Kind::Call(index) => {
                let called = known.class.pool.member_ref(index);
                let constructs = called.is_ok_and(|called| called.name == b"<init>");
                places.any(|place| place > 0 || !constructs)
            }
            Kind::Write(_) | Kind::Store => places.any(|place| place > 0),
            Kind::Dynamic(_) => places.next().is_some(),
            _ => false,
        }
    })
}
