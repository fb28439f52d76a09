#![doc = include_str!("../../../report/src/rules/unsafe-publication.md")]

use ravel_analysis::finding::Rule;
use ravel_classfile::access;
use ravel_trace::naming;
use rustc_hash::FxHashSet;

use super::{About, Facts, is_below, local_facts, written_at};
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
            let starts = fact.kind == LocalKind::StartedInConstructor;
            let mut places = vec![(method, fact.pc, if starts { "fork" } else { "write" })];
            if unfinished {
                places.push((method, fact.other, "write"));
            }
            let later = written_at(program, method, fact.other).filter(|_| unfinished);
            let after = match later {
                Some(field) => format!(": it assigns {} after that", program.field_name(field)),
                None if unfinished => ": it assigns fields after that".to_owned(),
                None => String::new(),
            };
            let of = naming::class(&program.symbols.class_text(class.name));
            let message = match (starts, fact.field) {
                (true, _) => format!("The constructor of {of} starts a thread before the object is complete{after}"),
                (false, Some(field)) => format!(
                    "The constructor of {of} stores its object in {} before the object is complete{after}",
                    program.field_name(field)
                ),
                (false, None) => {
                    format!("The constructor of {of} stores its object in a static field before the object is complete{after}")
                }
            };
            let mut draft = super::about(program, &About {
                rule: Rule::UnsafePublication,
                method,
                field: fact.field.filter(|_| fact.kind == LocalKind::PublishedInConstructor),
                places: &places,
                message,
                help: "Create the object in a static factory method, and publish it or start its thread after the constructor returns."
                    .to_owned(),
                shown: (unfinished || open)
                    && (fact.kind == LocalKind::PublishedInConstructor || gives_itself(program, method, fact.pc)),
            });
            if let Some((step, field)) = draft.steps.get_mut(1).zip(later) {
                step.variable = program.field_text(field);
            }
            draft
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
