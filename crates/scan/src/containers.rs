//! Names for the objects of the JDK that threads share. A trace knows a map by its class and by what lies inside of it
//! (`HashMap.Node.value`); the program knows it by the field or parameter on which it calls `put`. [`crate::flow`] follows the receiver
//! of that call back to where the method has it from: a field (`shop.Registry.m`), or a parameter (`lines in shop.Report`). An object whose
//! origin is not certain is called by its class, `HashMap`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use ravel_analysis::describe::{listed, message};
use ravel_analysis::finding::{Finding, FindingStep, RuleFamily};
use ravel_classfile::{ClassFile, Code, access, archive, decode_modified_utf8};
use ravel_trace::naming::{self, variable};
use ravel_trace::origin::is_platform;

use crate::flow::{Flow, Kind, parameter};
use crate::symbols::{parameters, slots};

/// Views and iterators of a collection stand for the collection: how many of them may lie on each other.
const MOST_VIEWS: usize = 6;

/// Renames the variables of the JDK in findings, as far as the classes under `paths` say what the program calls them.
pub fn name_containers(findings: &mut [Finding], paths: &[PathBuf]) {
    let steps = findings.iter().flat_map(|finding| &finding.steps);
    let wanted: BTreeSet<String> = steps
        .filter(|step| is_inner(step))
        .map(|step| step.class.replace('.', "/"))
        .collect();
    if wanted.is_empty() {
        return;
    }
    let mut classes: BTreeMap<String, ClassFile> = BTreeMap::new();
    for path in paths {
        let mut each = |entry: archive::ClassEntry| {
            if wanted.contains(&entry.name)
                && !classes.contains_key(&entry.name)
                && let Ok(class) = ClassFile::parse(&entry.bytes)
            {
                classes.insert(entry.name, class);
            }
            ControlFlow::Continue(())
        };
        let _unread = archive::for_each_class(path, &archive::Options::default(), &mut each);
    }
    for finding in findings {
        rename(finding, &classes);
    }
}

/// Whether a step accesses the inside of an object of the JDK.
fn is_inner(step: &FindingStep) -> bool {
    matches!(step.op.as_str(), "read" | "write" | "update")
        && variable::class_of(&step.variable).is_some_and(is_platform)
}

fn rename(finding: &mut Finding, classes: &BTreeMap<String, ClassFile>) {
    if !finding.steps.iter().any(is_inner) {
        return;
    }
    let before = names(&finding.steps);
    let inner: Vec<usize> = (0..finding.steps.len())
        .filter(|at| is_inner(&finding.steps[*at]))
        .collect();
    let mut found: Vec<Option<String>> = inner.iter().map(|at| holder(&finding.steps[*at], classes)).collect();
    // All steps are on one object: a name that is certain for one of them is that of the others.
    let mut certain: Vec<String> = found.iter().flatten().cloned().collect();
    certain.dedup();
    if let [one] = certain.as_slice() {
        found.fill(Some(one.clone()));
    }
    for step in finding.serial.iter_mut().flat_map(|run| &mut run.steps) {
        match certain.as_slice() {
            [one] if is_inner(step) => step.variable.clone_from(one),
            _ if is_inner(step) => step.variable = own_name(&step.variable),
            _ => {}
        }
    }
    for (at, name) in inner.into_iter().zip(found) {
        let step = &mut finding.steps[at];
        step.variable = name.unwrap_or_else(|| own_name(&step.variable));
    }
    let own = names(&finding.steps);
    let mut all = own.clone();
    for variable in &finding.variables {
        // The rest of the inside of what the steps name.
        if variable::class_of(variable).is_none_or(|class| !is_platform(class)) && !all.contains(variable) {
            all.push(variable.clone());
        }
    }
    finding.variables = all;
    if finding.rule.family() != RuleFamily::LockOrder {
        finding.message = message(finding.rule, &own, &finding.units, &finding.steps);
    }
    let words = |names: &[String]| listed(&names.iter().map(|name| variable::short(name)).collect::<Vec<_>>());
    finding.help = finding.help.replace(&words(&before), &words(&own));
}

/// The variables of steps, each once.
fn names(steps: &[FindingStep]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for step in steps.iter().filter(|step| !step.variable.is_empty()) {
        if !names.contains(&step.variable) {
            names.push(step.variable.clone());
        }
    }
    names
}

/// The class of the object that a variable is inside of: `HashMap` for `java.util.HashMap$Node.value`. The state of a modelled
/// object keeps its name.
fn own_name(variable: &str) -> String {
    match variable::class_of(variable) {
        Some(class) if !class.starts_with("java.util.concurrent.") => {
            naming::class(class.split('$').next().unwrap_or(class))
        }
        _ => variable.to_owned(),
    }
}

/// What the program calls the object whose method it calls at a step.
fn holder(step: &FindingStep, classes: &BTreeMap<String, ClassFile>) -> Option<String> {
    let call = step.call?;
    let class = classes.get(&step.class.replace('.', "/"))?;
    let member = class.methods.iter().find(|member| {
        let (Ok(name), Ok(descriptor)) = (class.member_name(member), class.member_descriptor(member)) else {
            return false;
        };
        step.method.as_bytes().strip_prefix(name) == Some(descriptor)
    })?;
    let code = class.code(member).ok()??;
    let receiver = usize::from(member.access & access::STATIC == 0);
    let count = receiver + parameters(step.method.as_bytes()).map(slots).sum::<usize>();
    let flow = Flow::of(&class.pool, &code, count)?;
    let mut at = flow.at(u16::try_from(call).ok()?)?;
    for _ in 0..MOST_VIEWS {
        let Kind::Call(index) = flow.kind(at) else { return None };
        let callee = class.pool.member_ref(index).ok()?;
        let owner = decode_modified_utf8(callee.class);
        let is_static = flow.operand_count(at) == parameters(callee.descriptor).count();
        // Other arguments may be of the same sort, and then the access may be to one of them.
        let others = parameters(callee.descriptor)
            .filter(|argument| is_container(argument))
            .count();
        let certain = match is_static {
            true => others == 1 && is_container(parameters(callee.descriptor).next()?),
            false => is_owner(&owner) && (others == 0 || step.op == "write"),
        };
        if !certain || callee.name == b"equals" {
            return None;
        }
        let from = flow.operand(at, 0)?;
        match flow.kind(from) {
            Kind::Read(index) => {
                let field = class.pool.member_ref(index).ok()?;
                let class = decode_modified_utf8(field.class).replace('/', ".");
                return Some(format!("{class}.{}", decode_modified_utf8(field.name)));
            }
            Kind::Call(view) if is_view(class.pool.member_ref(view).ok()?.name) => at = from,
            _ => {
                let slot = (0..count).find(|slot| parameter(*slot) == from)?;
                let local = local_name(class, &code, slot)?;
                return Some(format!("{local} in {}", step.class));
            }
        }
    }
    None
}

/// Whether a class is one whose objects, or the views of them, are looked into.
fn is_owner(name: &str) -> bool {
    name.starts_with("java/util/") && !name.starts_with("java/util/function/")
        || name.starts_with("java/text/")
        || name == "java/lang/Iterable"
}

/// Whether an argument, by its descriptor, may be a collection too.
fn is_container(descriptor: &[u8]) -> bool {
    const KINDS: [&str; 14] = [
        "Collection;",
        "List;",
        "Set;",
        "Map;",
        "Queue;",
        "Deque;",
        "Vector;",
        "Stack;",
        "Hashtable;",
        "Calendar;",
        "Iterator;",
        "Enumeration;",
        "Iterable;",
        "Format;",
    ];
    let descriptor = decode_modified_utf8(descriptor);
    descriptor.starts_with("Ljava/") && KINDS.iter().any(|kind| descriptor.ends_with(kind))
}

/// Whether a method gives a view or an iterator of the collection that it is called on.
fn is_view(name: &[u8]) -> bool {
    matches!(
        name,
        b"iterator"
            | b"listIterator"
            | b"descendingIterator"
            | b"entrySet"
            | b"keySet"
            | b"values"
            | b"subList"
            | b"headMap"
            | b"tailMap"
            | b"subMap"
            | b"stream"
            | b"elements"
            | b"keys"
    )
}

/// The name of a parameter in the source, if the class file has it.
fn local_name(class: &ClassFile, code: &Code, slot: usize) -> Option<String> {
    let table = code.attribute(&class.pool, "LocalVariableTable")?;
    let entry = table.info.get(2..)?.chunks_exact(10).find(|entry| {
        let start = u16::from_be_bytes([entry[0], entry[1]]);
        start == 0 && usize::from(u16::from_be_bytes([entry[8], entry[9]])) == slot
    })?;
    let name = class.pool.text(u16::from_be_bytes([entry[4], entry[5]])).ok()?;
    (name != "this").then(|| name.into_owned())
}
