#![doc = include_str!("../../../report/src/rules/compound-volatile.md")]

use ravel_analysis::finding::Rule;
use ravel_classfile::{ClassFile, Constant, access};
use rustc_hash::FxHashSet;

use super::callers::{CALLERS, callers_hold_locks};
use super::guards::asks_for_lock;
use super::{About, Facts, is_below};
use crate::body::Stmt;
use crate::callgraph::CallGraph;
use crate::flow::{At, Kind, MethodFlow, Origins, parameter};
use crate::program::{ClassId, Field, MethodId, Program};
use crate::report::Draft;
use crate::symbols::{PairId, field_descriptor, outermost};

/// One finding per method and field.
pub fn check(facts: &Facts<'_>) -> Vec<Draft> {
    let program = facts.program;
    let arrays = VolatileArrays::of(program);
    let mut drafts = Vec::new();
    for method in program.method_ids().filter(|method| program.class_of(*method).wanted) {
        let is_volatile = |pair| {
            program
                .field(pair)
                .is_some_and(|field| field.access & access::VOLATILE != 0)
        };
        let found = program.method(method);
        let assigns = found.assigns.iter().any(|pair| is_volatile(*pair));
        let stores = found.stores_elements && arrays.are_near(program, found.class);
        if !program.is_constructor(method) && (assigns || stores) {
            drafts.extend(in_method(program, facts.graph, method));
        }
    }
    drafts
}

/// The outermost classes with a volatile array in them: few classes have one, and many methods store elements.
struct VolatileArrays<'a> {
    outer: FxHashSet<&'a [u8]>,
}

impl<'a> VolatileArrays<'a> {
    fn of(program: &'a Program) -> Self {
        let is_one = |field: &Field| {
            let (_, member) = program.symbols.members(field.pair);
            let descriptor = field_descriptor(program.symbols.bytes(member));
            field.access & access::VOLATILE != 0 && descriptor.starts_with(b"[")
        };
        let holders = program.classes.iter().filter(|class| class.fields.iter().any(is_one));
        VolatileArrays {
            outer: holders
                .map(|class| outermost(program.symbols.bytes(class.name)))
                .collect(),
        }
    }

    /// Whether a class, one above it or one nested with either has such an array.
    fn are_near(&self, program: &Program, class: ClassId) -> bool {
        let mut next = Some(program.class(class));
        for _ in 0..64 {
            let Some(class) = next else { break };
            if self.outer.contains(outermost(program.symbols.bytes(class.name))) {
                return true;
            }
            let above = class.super_class.and_then(|above| program.by_name.get(&above));
            next = above.map(|above| program.class(*above));
        }
        false
    }
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
    let meant = !has_thread && !synthetic && !guarded;
    let mut drafts = Vec::new();
    for at in flow.all() {
        if held[usize::from(at)].as_ref().is_none_or(|held| !held.is_empty()) {
            continue;
        }
        // The field that is written, or the read of the array in it whose element is written.
        let (field, array) = match flow.kind(at) {
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
        let declared = program.field(field);
        if seen.contains(&field) || declared.is_none_or(|field| field.access & access::VOLATILE == 0) {
            continue;
        }
        let reads = known.reads(program, field);
        let updated = match array {
            None if is_reference(program, field) => replaces(&known, at, &reads),
            None => calculates(&known, at, &reads),
            Some(array) => updates_element(&known, at, array, &reads),
        };
        if !updated {
            continue;
        }
        seen.push(field);
        // The object of another class is most often one that only this method has yet.
        let holder = match array {
            None => flow.operand(at, 0),
            Some(array) => flow.operand(array, 0),
        };
        let is_static = declared.is_some_and(|field| field.access & access::STATIC != 0);
        let own = is_static || !entered_static && holder == Some(parameter(0));
        let told = program.field_name(field);
        let what = match array {
            Some(_) => format!("an element of {told}"),
            None => told.clone(),
        };
        let name = program.method_name(method);
        let help = match atomic_class(program, field, array.is_some()) {
            Some((class, call)) => format!(
                "Make {told} an {class} and change it by one call, such as {call}, or hold one lock over the whole of {name}."
            ),
            None => format!("Hold one lock over the whole of {name}, and at every other access to {told}."),
        };
        drafts.push(super::about_race(
            program,
            &About {
                rule: Rule::CompoundVolatile,
                method,
                field: Some(field),
                places: &[(method, flow.pc(at), "write")],
                message: format!("{name} reads, changes and writes back {what}: volatile does not make that atomic"),
                help,
                // The one thread that owns an object may update it, and others read.
                shown: own && meant && (is_static || is_shared(program, &known, field, array.is_some())),
            },
        ));
    }
    drafts
}

/// The class of `java.util.concurrent.atomic` that holds what a field holds, and a method that changes it. With `elements` it is the elements of an array that change.
fn atomic_class(program: &Program, field: PairId, elements: bool) -> Option<(&'static str, &'static str)> {
    let (_, member) = program.symbols.members(field);
    Some(match (field_descriptor(program.symbols.bytes(member)), elements) {
        (b"I", _) => ("AtomicInteger", "incrementAndGet"),
        (b"J", _) => ("AtomicLong", "incrementAndGet"),
        (b"Z", _) => ("AtomicBoolean", "compareAndSet"),
        (b"[I", true) => ("AtomicIntegerArray", "incrementAndGet"),
        (b"[J", true) => ("AtomicLongArray", "incrementAndGet"),
        ([b'[', b'L' | b'[', ..], true) => ("AtomicReferenceArray", "updateAndGet"),
        ([b'L', ..], _) | ([b'[', ..], false) => ("AtomicReference", "updateAndGet"),
        _ => return None,
    })
}

fn is_reference(program: &Program, field: PairId) -> bool {
    let (_, member) = program.symbols.members(field);
    let descriptor = field_descriptor(program.symbols.bytes(member));
    matches!(descriptor.first(), Some(b'L' | b'['))
}

/// Whether a number is written that is calculated from a read of its field. One that goes through a call is most often made anew, and
/// the field only asked about, unless the call does nothing but calculate.
fn calculates(known: &MethodFlow, at: At, reads: &Origins) -> bool {
    let flow = &known.flow;
    let used = flow.used(at);
    used.meets(reads) && only_calculates(known, used) && flow.operands(at).all(|from| !reads.contains(from))
}

/// Whether a reference is written whose object is made of the one that was read: a number or a text that is calculated from it, a
/// copy of an array, a new object that gets the old one.
fn replaces(known: &MethodFlow, at: At, reads: &Origins) -> bool {
    let flow = &known.flow;
    let used = flow.used(at);
    if !used.meets(reads) || !only_calculates(known, used) {
        return false;
    }
    let last = at.checked_sub(1).filter(|last| flow.together(*last, at));
    let concatenated = last.is_some_and(|last| matches!(flow.kind(last), Kind::Dynamic(_)));
    let operand = flow.operand_count(at).checked_sub(1);
    let Some(made) = operand.and_then(|last| flow.operand(at, last)) else {
        return concatenated;
    };
    match flow.kind(made) {
        Kind::Call(_) => true,
        // A new object: its constructor, or a method called on it, gets the old one itself. A new array: the old one is copied into it.
        Kind::Other => flow.all().any(|call| {
            let Kind::Call(index) = flow.kind(call) else {
                return false;
            };
            let given = flow.operand(call, 0);
            let copied = given.is_some_and(|given| reads.contains(given)) && flow.operand(call, 2) == Some(made);
            let gets_old = given == Some(made) && flow.operands(call).any(|passed| reads.contains(passed));
            gets_old || copied && is_arraycopy(known, index)
        }),
        _ => false,
    }
}

fn is_arraycopy(known: &MethodFlow, index: u16) -> bool {
    let called = known.class.pool.member_ref(index);
    called.is_ok_and(|called| called.class == b"java/lang/System" && called.name == b"arraycopy")
}

/// Whether an element is written that is calculated from the same element.
fn updates_element(known: &MethodFlow, at: At, array: At, reads: &Origins) -> bool {
    let flow = &known.flow;
    let same = |from: At| {
        let read = flow.operand(from, 0);
        // `a[i]++` loads from the array that it stores into; `a[i] = a[i] + 1` reads the field and the index again.
        let again =
            |read: At| read > array && reads.contains(read) && read < from && flow.same_code(read + 1..from, array + 1);
        read == Some(array) || read.is_some_and(again)
    };
    let mut used = flow.used(at).iter();
    used.any(|from| flow.kind(from) == Kind::Load && same(from))
}

/// Whether all calls among the origins of a value only calculate.
fn only_calculates(known: &MethodFlow, used: &Origins) -> bool {
    used.iter().all(|from| match known.flow.kind(from) {
        Kind::Call(index) => known.class.pool.member_ref(index).is_ok_and(|called| {
            let copied = called.class.starts_with(b"[") && called.name == b"clone";
            let copies = called.class == b"java/util/Arrays" && called.name.starts_with(b"copyOf");
            copied || copies || CALCULATING.contains(&called.class)
        }),
        _ => true,
    })
}

/// Classes whose methods calculate a value from others.
const CALCULATING: [&[u8]; 14] = [
    b"java/lang/Boolean",
    b"java/lang/Byte",
    b"java/lang/Character",
    b"java/lang/Double",
    b"java/lang/Float",
    b"java/lang/Integer",
    b"java/lang/Long",
    b"java/lang/Math",
    b"java/lang/Short",
    b"java/lang/String",
    b"java/lang/StringBuffer",
    b"java/lang/StringBuilder",
    b"java/math/BigDecimal",
    b"java/math/BigInteger",
];

/// Whether anything says that several threads update a field: another method writes it with a lock held, or its class also updates
/// it in one step. Of an array it is enough that another method uses it with a lock held.
fn is_shared(program: &Program, known: &MethodFlow, field: PairId, array: bool) -> bool {
    let (class, member) = program.symbols.members(field);
    let Some(class) = program.by_name.get(&class).map(|class| program.class(*class)) else {
        return false;
    };
    let locked = |method: MethodId| {
        let mut touches = program.method(method).touches.iter();
        touches.any(|touch| touch.field == field && (touch.write || array) && !touch.locks.is_empty())
    };
    let mut methods = class.methods.clone().map(MethodId);
    methods.any(|method| !program.is_constructor(method) && locked(method))
        || class.fields.iter().any(|other| is_updater(program, other))
            && names(&known.class, program.symbols.member_name(member).as_bytes())
}

/// Whether a field holds what updates another field in one step: an updater or a handle.
fn is_updater(program: &Program, field: &Field) -> bool {
    let (_, member) = program.symbols.members(field.pair);
    let descriptor = field_descriptor(program.symbols.bytes(member));
    let updater = descriptor.starts_with(b"Ljava/util/concurrent/atomic/") && descriptor.ends_with(b"FieldUpdater;");
    updater || descriptor == b"Ljava/lang/invoke/VarHandle;"
}

/// Whether a class has a text: the name of the field that an updater is for.
fn names(class: &ClassFile, name: &[u8]) -> bool {
    let pool = &class.pool;
    let mut constants = pool.indices().filter_map(|index| pool.get(index).ok());
    constants.any(|constant| match constant {
        Constant::String(text) => pool.utf8(text).is_ok_and(|text| text == name),
        _ => false,
    })
}
