#![doc = include_str!("../../../report/src/rules/test-lock-assign.md")]

use ravel_analysis::finding::Rule;
use ravel_classfile::access;

use super::{About, Facts, local_facts};
use crate::body::Stmt;
use crate::flow::{Kind, MethodFlow, Origins};
use crate::program::LocalKind;
use crate::report::Draft;

/// All methods of wanted classes whose lowering noticed a test before the lock and an assignment under it.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let program = facts.program;
    let candidates = local_facts(program, LocalKind::TestLockAssign);
    candidates
        .filter_map(|(method, fact)| {
            let field = program.field(fact.field?)?;
            let (body, known) = (program.body(method)?, MethodFlow::of(program, method)?);
            let flow = &known.flow;
            let held = flow.held(body);
            let free = |at: u16| held[usize::from(at)].as_ref().is_some_and(|held| held.is_empty());
            let reads = known.reads(program, field.pair);
            let mut outside = Origins::default();
            reads.iter().filter(|at| free(*at)).for_each(|at| outside.insert(at));
            // The lock is taken because of the test, and under it nothing is tested again.
            let entered = body.stmts.iter().zip(body.pcs.iter()).any(|(stmt, pc)| {
                matches!(stmt, Stmt::Enter(_)) && flow.at(*pc).is_some_and(|at| flow.decided(at).meets(&outside))
            });
            let write = flow.at(fact.pc)?;
            let again = reads.iter().any(|at| !free(at) && flow.decided(write).contains(at));
            if !entered || again || flow.used(write).meets(&reads) || !is_made(&known, write) {
                return None;
            }
            let told = program.field_name(field.pair);
            Some(super::about(program, &About {
                rule: Rule::TestLockAssign,
                method,
                field: Some(field.pair),
                places: &[(method, fact.other, "read"), (method, fact.pc, "write")],
                message: format!("{told} is tested before the lock is acquired and assigned under it without a second test: two threads can both assign it"),
                help: format!("Test {told} again under the lock{}.", if field.access & access::VOLATILE == 0 { ", and declare it volatile" } else { "" }),
                shown: true,
            }))
        })
        .collect()
}

/// Whether a write puts a new object or the result of a call into a field. A flag or null that two threads set is set all the
/// same.
fn is_made(known: &MethodFlow, write: u16) -> bool {
    let Kind::Write(index) = known.flow.kind(write) else {
        return false;
    };
    let reference = known.class.pool.member_ref(index);
    let reference = reference.is_ok_and(|field| matches!(field.descriptor.first(), Some(b'L' | b'[')));
    let value = known.flow.operands(write).last();
    let made = |at| matches!(known.flow.kind(at), Kind::Call(_) | Kind::Other);
    reference && value.is_some_and(|at| known.flow.pc(at) > 0 && made(at))
}
