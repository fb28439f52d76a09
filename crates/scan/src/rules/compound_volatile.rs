#![doc = include_str!("../../../report/src/rules/compound-volatile.md")]

use ravel_analysis::finding::Rule;
use ravel_classfile::access;

use super::guarded_by::{CALLERS, callers_hold_locks};
use super::guards::asks_for_lock;
use super::{About, Facts, is_below};
use crate::body::Stmt;
use crate::callgraph::CallGraph;
use crate::flow::{Kind, MethodFlow, parameter};
use crate::program::{Field, MethodId, Program};
use crate::report::Draft;
use crate::symbols::field_descriptor;

/// One finding per method and field.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let program = facts.program;
    let mut drafts = Vec::new();
    for method in program.method_ids().filter(|method| program.class_of(*method).wanted) {
        let is_volatile = |pair| {
            program
                .field(pair)
                .is_some_and(|field| field.access & access::VOLATILE != 0)
        };
        let found = program.method(method);
        let assigns = found.assigns.iter().any(|pair| is_volatile(*pair));
        let stores = found.stores_elements && !program.is_constructor(method);
        if !program.is_constructor(method) && (assigns || stores) {
            drafts.extend(in_method(program, facts.graph, method));
        }
    }
    drafts
}

fn in_method(program: &Program, graph: &CallGraph<'_>, method: MethodId) -> Vec<Draft> {
    let (Some(body), Some(known)) = (program.body(method), MethodFlow::of(program, method)) else {
        return Vec::new();
    };
    let flow = &known.flow;
    let held = flow.held(body);
    let mut seen = Vec::new();
    let entered_static = program.method(method).access & access::STATIC != 0;
    // The thread that runs an object is most often the only one that updates it.
    let has_thread = is_below(
        program,
        program.class_of(method).name,
        &[b"java/lang/Thread", b"java/lang/Runnable"],
    );
    let synthetic = program.method(method).access & access::SYNTHETIC != 0;
    let guarded = asks_for_lock(program, body)
        || body.stmts.iter().any(|stmt| matches!(stmt, Stmt::Exit(None)))
        || callers_hold_locks(program, graph, method, CALLERS);
    // A class without any lock may well belong to one thread that writes and many that read.
    let meant = !has_thread && !synthetic && !guarded;
    let locks = locks_anything(program, method);
    let mut drafts = Vec::new();
    for at in flow.all() {
        if held[usize::from(at)].as_ref().is_none_or(|held| !held.is_empty()) {
            continue;
        }
        // The value that is written, and the field that it must not come from.
        let (field, value) = match flow.kind(at) {
            Kind::Write(index) => match known.field(program, index) {
                Some(field) => (field, None),
                None => continue,
            },
            Kind::Store => {
                let Some(Kind::Read(index)) = flow.operand(at, 0).map(|array| flow.kind(array)) else {
                    continue;
                };
                match known.field(program, index) {
                    Some(field) => (field, flow.operand(at, 0)),
                    None => continue,
                }
            }
            _ => continue,
        };
        // A reference is replaced by another object, which is not calculated.
        let (_, member) = program.symbols.members(field);
        let reference = matches!(
            field_descriptor(program.symbols.bytes(member)).first(),
            Some(b'L' | b'[')
        );
        if value.is_none() && reference {
            continue;
        }
        let declared = program.field(field);
        if seen.contains(&field) || declared.is_none_or(|field| field.access & access::VOLATILE == 0) {
            continue;
        }
        let used = flow.used(at);
        let updated = match value {
            None => {
                let reads = known.reads(program, field);
                // A value that goes through a call is most often made anew, and the field only asked about.
                let computed = !used.iter().any(|from| matches!(flow.kind(from), Kind::Call(_)));
                used.meets(&reads) && computed && flow.operands(at).all(|from| !reads.contains(from))
            }
            // `a[i]++` loads from the array that it stores into.
            Some(array) => used
                .iter()
                .any(|from| flow.kind(from) == Kind::Load && flow.operand(from, 0) == Some(array)),
        };
        if !updated {
            continue;
        }
        seen.push(field);
        // The object of another class is most often one that only this method has yet.
        let holder = match value {
            None => flow.operand(at, 0),
            Some(array) => flow.operand(array, 0),
        };
        let is_static = declared.is_some_and(|field| field.access & access::STATIC != 0);
        let own = is_static || !entered_static && holder == Some(parameter(0));
        let told = program.field_name(field);
        let what = if value.is_some() {
            format!("an element of {told}")
        } else {
            told
        };
        drafts.push(super::about(
            program,
            &About {
                rule: Rule::CompoundVolatile,
                method,
                field: Some(field),
                places: &[(method, flow.pc(at), "write")],
                message: format!(
                    "{what} is read, changed and written back in three steps: volatile does not make them one"
                ),
                help: "Use an atomic variable (AtomicInteger, AtomicIntegerArray, VarHandle), or hold a lock."
                    .to_owned(),
                shown: own && meant && (is_static || locks),
            },
        ));
    }
    drafts
}

/// Whether the class of a method locks anything or has atomic fields: then several threads update it.
fn locks_anything(program: &Program, method: MethodId) -> bool {
    let class = program.class_of(method);
    let locks = |number: u32| {
        program
            .body(MethodId(number))
            .is_some_and(|body| !body.sites.is_empty())
    };
    let atomic = |field: &Field| {
        let (_, member) = program.symbols.members(field.pair);
        field_descriptor(program.symbols.bytes(member)).starts_with(b"Ljava/util/concurrent/atomic/")
    };
    class.methods.clone().any(locks) || class.fields.iter().any(atomic)
}
