//! Names for the objects of the JDK that threads share. A trace knows a map by its class and by what lies inside of it
//! (`HashMap.Node.value`); the program knows it by the field or parameter on which it calls `put`. [`crate::flow`] follows the receiver
//! of that call back to where the method has it from: a field (`shop.Registry.m`), or a parameter (`lines in shop.Report`). An object whose
//! origin is not certain is called by its class, `HashMap`. An array is named in the same way (`shop.Stock.cells` for `int[] in shop.Stock`), and so is the lock
//! that a synchronised collection takes for itself. The sentences about the outcome follow: `the size of Log.lines was 2`.

mod code;
mod retold;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use ravel_analysis::describe::{listed, message, named as described};
use ravel_analysis::finding::{Finding, FindingStep, RuleFamily};
use ravel_analysis::fix;
use ravel_classfile::{ClassFile, archive, decode_modified_utf8, give_references_bodies};
use ravel_trace::naming::{self, variable};
use ravel_trace::origin::{is_called_by_reference, is_platform};

use crate::flow::Kind;
use code::{CallerCode, in_code};
use retold::{ENTRY, SIZE, inner_field, is_text, retold};

/// Renames the variables of the JDK in findings, as far as the classes under `paths` say what the program calls them.
pub fn name_containers(findings: &mut [Finding], paths: &[PathBuf]) {
    let steps = findings.iter().flat_map(|finding| &finding.steps);
    let wanted: BTreeSet<String> = steps
        .filter(|step| is_inner(step) || step.locks.iter().any(|lock| lock == STAMPED))
        .map(|step| step.class.replace('.', "/"))
        .collect();
    let mut classes: BTreeMap<String, ClassFile> = BTreeMap::new();
    for path in paths.iter().filter(|_| !wanted.is_empty()) {
        let mut each = |entry: archive::ClassEntry| {
            if wanted.contains(&entry.name)
                && !classes.contains_key(&entry.name)
                && let Ok(mut class) = ClassFile::parse(&entry.bytes)
            {
                // The agent gave these the code that steps are in.
                give_references_bodies(&mut class, is_called_by_reference);
                classes.insert(entry.name, class);
            }
            ControlFlow::Continue(())
        };
        let _unread = archive::for_each_class(path, &archive::Options::default(), &mut each);
    }
    for finding in findings {
        rename(finding, &classes);
        name_stamped(finding, &classes);
    }
}

const STAMPED: &str = "java.util.concurrent.locks.StampedLock";

/// Names a `StampedLock` by the field on which the method of a step takes it, if it takes no other there.
fn name_stamped(finding: &mut Finding, classes: &BTreeMap<String, ClassFile>) {
    let holds = |step: &FindingStep| step.locks.iter().any(|lock| lock == STAMPED);
    let mut names: Vec<String> = Vec::new();
    for step in finding.steps.iter().filter(|step| holds(step)) {
        let taken = in_code(step, classes, |code| {
            let taken = code.flow.all().filter_map(|at| {
                let Kind::Call(index) = code.flow.kind(at) else {
                    return None;
                };
                let callee = code.class.pool.member_ref(index).ok()?;
                let name = decode_modified_utf8(callee.name);
                let takes = name.ends_with("Lock") || name.ends_with("LockInterruptibly");
                let of_stamped = decode_modified_utf8(callee.class).replace('/', ".") == STAMPED;
                (takes && of_stamped).then(|| code.origin(code.flow.operand(at, 0)?, &step.class))
            });
            taken.collect::<Option<Vec<String>>>()
        });
        names.extend(taken.unwrap_or_default());
    }
    names.sort_unstable();
    names.dedup();
    if let [name] = names.as_slice() {
        let is_generated = finding.help == fix::of(finding);
        let locks = finding.steps.iter_mut().flat_map(FindingStep::lock_names_mut);
        locks
            .filter(|lock| *lock == STAMPED)
            .for_each(|lock| lock.clone_from(name));
        if is_generated {
            finding.help = fix::of(finding);
        }
    }
}

/// Marks the name of an array whose elements are booleans: code has one instruction for bytes and booleans.
const BOOLEANS: &str = "[Z";

/// Whether a step accesses the inside of an object of the JDK.
fn is_inside(step: &FindingStep) -> bool {
    is_access(step) && variable::class_of(&step.variable).is_some_and(is_platform)
}

/// Whether a step accesses an element of an array in the program's own code.
fn is_element(step: &FindingStep) -> bool {
    is_access(step) && is_array(&step.variable) && !is_inside(step)
}

fn is_access(step: &FindingStep) -> bool {
    matches!(step.op.as_str(), "read" | "write" | "update")
}

/// Whether a variable is an array that has no name yet: `int[] in shop.Stock`.
fn is_array(variable: &str) -> bool {
    variable.split_once("[] in ").is_some()
}

/// Whether a step accesses what has no name of the program yet.
fn is_inner(step: &FindingStep) -> bool {
    is_inside(step) || is_element(step)
}

fn rename(finding: &mut Finding, classes: &BTreeMap<String, ClassFile>) {
    if !finding.steps.iter().any(is_inner) {
        if finding.rule.family() != RuleFamily::LockOrder {
            leave_out_insides(&mut finding.variables);
        }
        return;
    }
    let before = names(&finding.steps);
    let is_generated = finding.help == fix::of(finding);
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
    let booleans = arrays_of_booleans(&finding.steps, classes);
    let unnamed = |variable: &str| match booleans.contains(variable) {
        true => variable.replacen("byte[]", "boolean[]", 1) + BOOLEANS,
        false => own_name(variable),
    };
    let named = |variable: &str| match certain.as_slice() {
        [one] => one.clone(),
        _ => unnamed(variable),
    };
    let texts = finding.serial.iter_mut().map(|run| &mut run.outcome);
    for text in texts.chain(finding.outcome.as_mut().map(|outcome| &mut outcome.message)) {
        *text = retold(text, &before, named);
    }
    for step in finding.serial.iter_mut().flat_map(|run| &mut run.steps) {
        if is_inner(step) {
            let name = named(&step.variable);
            tell(step, name);
        }
    }
    for (at, name) in inner.iter().zip(found) {
        let called = callee(&finding.steps[*at], classes).unwrap_or_default();
        let step = &mut finding.steps[*at];
        step.called = called;
        let name = name.unwrap_or_else(|| unnamed(&step.variable));
        tell(step, name);
    }
    let is_synchronised = match certain.as_slice() {
        [one] => name_own_lock(finding, &inner, one),
        _ => false,
    };
    let own = names(&finding.steps);
    let mut all = own.clone();
    for variable in &finding.variables {
        // The rest of the inside of what the steps name.
        let is_inside = variable::class_of(variable).is_some_and(is_platform) || before.contains(variable);
        if !is_inside && !all.contains(variable) {
            all.push(variable.clone());
        }
    }
    finding.variables = all;
    if finding.rule.family() != RuleFamily::LockOrder {
        let sentence = message(finding.rule, &own, &finding.units, &finding.steps);
        finding.message = described(finding.own_pattern.as_deref(), sentence);
    }
    let words = |names: &[String]| listed(&names.iter().map(|name| variable::short(name)).collect::<Vec<_>>());
    finding.help = match is_generated && is_synchronised {
        // It names the lock too.
        true => fix::of(finding),
        false => finding.help.replace(&words(&before), &words(&own)),
    };
    if finding.rule.family().is_race()
        && let Some(more) = fix::together_help(finding)
    {
        finding.help = format!("{} {more}", finding.help);
    }
    // A parameter has another name where the lock must be taken.
    let is_field = |name: &&String| !name.contains(" in ");
    if is_synchronised
        && finding.rule.family() == RuleFamily::Atomicity
        && let Some(help) = certain
            .first()
            .filter(is_field)
            .and_then(|name| fix::synchronised_help(finding, name))
    {
        finding.help = help;
    }
}

/// The variables of steps that are arrays of booleans: a trace calls them arrays of bytes, since code has one instruction for both.
fn arrays_of_booleans(steps: &[FindingStep], classes: &BTreeMap<String, ClassFile>) -> BTreeSet<String> {
    let of_bytes = steps
        .iter()
        .filter(|step| is_element(step) && step.variable.starts_with("byte[] in "));
    let types = of_bytes.map(|step| {
        let type_of =
            |code: &CallerCode<'_>| code.type_of(code.flow.operand(code.flow.at(u16::try_from(step.call?).ok()?)?, 0)?);
        (&step.variable, in_code(step, classes, type_of))
    });
    let (booleans, others): (Vec<_>, Vec<_>) = types
        .filter_map(|(variable, of)| Some((variable, of? == BOOLEANS)))
        .partition(|(_, is_of_booleans)| *is_of_booleans);
    let is_mixed = |variable: &String| others.iter().any(|(other, _)| *other == variable);
    let booleans = booleans.into_iter().map(|(variable, _)| variable);
    booleans.filter(|variable| !is_mixed(variable)).cloned().collect()
}

/// Leaves out the fields of the JDK's classes beside variables of the program. They belong to further occurrences whose steps the finding does
/// not show, so that nothing says what the program calls the object.
fn leave_out_insides(variables: &mut Vec<String>) {
    let is_inside = |variable: &String| variable::class_of(variable).is_some_and(is_platform);
    if !variables.iter().all(is_inside) {
        variables.retain(|variable| !is_inside(variable));
    }
}

/// Gives a step the name of the object that it is inside of. A value inside of the object would be taken for the object's, unless it
/// is its size, or that of the entry of a key.
fn tell(step: &mut FindingStep, name: String) {
    if is_inside(step) && !step.variable.starts_with("java.util.concurrent.") {
        match inner_field(&step.variable) {
            SIZE if is_text(&step.variable) => step.part = Some("length()".to_owned()),
            SIZE => step.part = Some("size()".to_owned()),
            // The value of an entry is that of the map for its key.
            ENTRY if step.key.is_some() => step.part = step.key.take(),
            _ => (step.part, step.value) = (step.key.take(), None),
        }
    }
    if name.ends_with(BOOLEANS)
        && let Some(value) = &mut step.value
    {
        *value = (value != "0").to_string();
    }
    step.variable = name.trim_end_matches(BOOLEANS).to_owned();
}

/// What the lock is called that a synchronised collection takes for itself: all steps are in calls of it and hold this lock alone.
/// Whether there is such a lock.
fn name_own_lock(finding: &mut Finding, inner: &[usize], name: &str) -> bool {
    const OWN_LOCKS: [&str; 4] = [
        "java.util.Collections$Synchronized",
        "java.util.Vector",
        "java.util.Stack",
        "java.util.Hashtable",
    ];
    let Some(lock) = inner.first().and_then(|at| finding.steps[*at].locks.first().cloned()) else {
        return false;
    };
    let is_own = OWN_LOCKS.iter().any(|class| lock.starts_with(class))
        && inner.iter().all(|at| finding.steps[*at].locks == [lock.clone()]);
    if is_own {
        for at in inner {
            finding.steps[*at].locks = vec![name.to_owned()];
        }
    }
    is_own
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
        Some(class) if is_array(variable) && !is_platform(class) => variable.to_owned(),
        Some(class) if !class.starts_with("java.util.concurrent.") => {
            naming::class(class.split('$').next().unwrap_or(class))
        }
        _ => variable.to_owned(),
    }
}

/// The method of the JDK that the program calls at a step.
fn callee(step: &FindingStep, classes: &BTreeMap<String, ClassFile>) -> Option<String> {
    let call = step.call.filter(|_| !is_element(step))?;
    in_code(step, classes, |code| {
        let at = code.flow.at(u16::try_from(call).ok()?)?;
        let Kind::Call(index) = code.flow.kind(at) else {
            return None;
        };
        let name = code.class.pool.member_ref(index).ok()?.name;
        (name != b"<init>").then(|| decode_modified_utf8(name).into_owned())
    })
}

/// What the program calls the object whose method it calls at a step.
fn holder(step: &FindingStep, classes: &BTreeMap<String, ClassFile>) -> Option<String> {
    let call = step.call?;
    in_code(step, classes, |code| {
        let at = code.flow.at(u16::try_from(call).ok()?)?;
        match is_element(step) {
            true => code.array(at, &step.class),
            false => code.container(at, step),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_inside_of_a_map_tells_the_key_and_the_value_of_its_entry() {
        let told = |variable: &str| {
            let mut step = FindingStep {
                op: "write".to_owned(),
                variable: variable.to_owned(),
                part: Some("7".to_owned()),
                value: Some("3".to_owned()),
                key: Some("\"ann\"".to_owned()),
                ..FindingStep::default()
            };
            tell(&mut step, "shop.Log.visits".to_owned());
            (step.part.unwrap_or_default(), step.value)
        };
        let of_key = |value: Option<&str>| ("\"ann\"".to_owned(), value.map(str::to_owned));
        assert_eq!(told("java.util.HashMap$Node.value"), of_key(Some("3")));
        assert_eq!(told("java.util.TreeMap$Entry.value"), of_key(Some("3")));
        // What lies elsewhere inside is no value of the map.
        assert_eq!(told("java.util.HashMap$Node.next"), of_key(None));
        assert_eq!(told("Object[] in java.util.HashMap"), of_key(None));
        assert_eq!(told("java.util.HashMap.size").0, "size()");
    }

    #[test]
    fn fields_of_the_jdk_are_left_out_beside_those_of_the_program() {
        let left = |names: &[&str]| {
            let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            leave_out_insides(&mut names);
            names
        };
        assert_eq!(
            left(&["shop.Cart.total", "java.util.ArrayList.size"]),
            ["shop.Cart.total"]
        );
        assert_eq!(left(&["java.util.ArrayList.size"]), ["java.util.ArrayList.size"]);
    }

    #[test]
    fn a_step_inside_of_a_collection_tells_its_size_alone() {
        let named = |variable: &str| {
            let mut step = FindingStep {
                op: "write".to_owned(),
                variable: variable.to_owned(),
                value: Some("2".to_owned()),
                part: Some("7".to_owned()),
                ..FindingStep::default()
            };
            tell(&mut step, "shop.Log.lines".to_owned());
            (step.variable, step.part, step.value)
        };
        let name = || "shop.Log.lines".to_owned();
        let size = named("java.util.ArrayList.size");
        assert_eq!(size, (name(), Some("size()".to_owned()), Some("2".to_owned())));
        assert_eq!(named("java.util.AbstractList.modCount"), (name(), None, None));
        assert_eq!(named("Object[] in java.util.ArrayList"), (name(), None, None));
    }

    #[test]
    fn the_lock_of_a_synchronised_collection_has_the_name_of_the_collection() {
        let step = |locks: &[&str]| FindingStep {
            op: "read".to_owned(),
            locks: locks.iter().map(|lock| (*lock).to_owned()).collect(),
            ..FindingStep::default()
        };
        let named = |locks: &[&[&str]]| {
            let mut finding = Finding {
                steps: locks.iter().map(|locks| step(locks)).collect(),
                ..Finding::new(
                    String::new(),
                    ravel_analysis::finding::Rule::Atomicity,
                    ravel_analysis::finding::Evidence::Predicted,
                )
            };
            name_own_lock(&mut finding, &[0, 1], "shop.Shop.seats");
            finding.steps[0].locks.clone()
        };
        let own = "java.util.Collections$SynchronizedMap";
        assert_eq!(named(&[&[own], &[own]]), ["shop.Shop.seats"]);
        assert_eq!(named(&[&[own], &[]]), [own]);
        assert_eq!(
            named(&[&["java.lang.Object"], &["java.lang.Object"]]),
            ["java.lang.Object"]
        );
    }
}
