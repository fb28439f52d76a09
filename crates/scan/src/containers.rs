//! Names for the objects of the JDK that threads share. A trace knows a map by its class and by what lies inside of it
//! (`HashMap.Node.value`); the program knows it by the field or parameter on which it calls `put`. [`crate::flow`] follows the receiver
//! of that call back to where the method has it from: a field (`shop.Registry.m`), or a parameter (`lines in shop.Report`). An object whose
//! origin is not certain is called by its class, `HashMap`. An array is named in the same way (`shop.Stock.cells` for `int[] in shop.Stock`), and so is the lock
//! that a synchronised collection takes for itself. The sentences about the outcome follow: `the size of Log.lines was 2`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use ravel_analysis::describe::{listed, message, named as described};
use ravel_analysis::finding::{Finding, FindingStep, RuleFamily};
use ravel_analysis::fix;
use ravel_classfile::{
    Bound, ClassFile, Code, access, archive, bound_by_reference, decode_modified_utf8, give_references_bodies, op,
};
use ravel_trace::naming::{self, variable};
use ravel_trace::origin::{calls_tool, is_called_by_reference, is_platform};

use crate::flow::{At, Flow, Kind, parameter};
use crate::symbols::{parameters, slots};

/// Views and iterators of a collection stand for the collection: how many of them may lie on each other.
const MOST_VIEWS: usize = 6;

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

/// A sentence about an outcome with the names that the program has: `the size of Log.lines was 2` for `java.util.ArrayList.size was 2`,
/// `Stock.cells[3] was 7` for `element 3 of int[] in shop.Stock was 7`.
fn retold(text: &str, arrays: &[String], named: impl Fn(&str) -> String) -> String {
    let mut text = text.to_owned();
    for array in arrays.iter().filter(|name| is_array(name)) {
        let name = named(array);
        let shown = variable::short(name.trim_end_matches(BOOLEANS));
        let tail = format!(" of {array}");
        while let Some(at) = text.find(&tail) {
            let start = text[..at].rfind("element ").unwrap_or(at);
            let index = text[start..at].trim_start_matches("element ").to_owned();
            let element = match (is_array(&name), shown.starts_with(['i', 'O', 'I', 'A', 'E', 'U'])) {
                (true, true) => format!("element {index} of an {shown}"),
                (true, false) => format!("element {index} of a {shown}"),
                (false, _) => format!("{shown}[{index}]"),
            };
            text.replace_range(start..at + tail.len(), &element);
            if name.ends_with(BOOLEANS) {
                text = with_booleans(&text, &element);
            }
        }
    }
    let text = without_arrays_inside(text, &named);
    let all: Vec<&str> = text.split(' ').collect();
    let words = all.iter().enumerate().map(|(at, word)| {
        // A sentence names a variable before its value; a word alone may be the class of an exception.
        let has_value = all.get(at + 1) == Some(&"was");
        let is_state = word.starts_with("java.") && variable::class_of(word).is_some_and(is_platform);
        match is_state && has_value {
            false => (*word).to_owned(),
            true => state(word, &variable::short(&named(word))),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A sentence without the arrays that collections are made of: `element 3 of out was 7` for `element 3 of Object[] in java.util.ArrayList was 7`.
fn without_arrays_inside(mut text: String, named: impl Fn(&str) -> String) -> String {
    const INSIDE: &str = "[] in java.";
    let mut done = 0;
    while let Some(at) = text[done..].find(INSIDE).map(|at| done + at) {
        let from = text[..at].rfind(" of ").map_or(at, |of| of + " of ".len());
        let class = at + "[] in ".len();
        let end = text[class..].find(' ').map_or(text.len(), |end| class + end);
        let name = variable::short(&named(&format!("{}.elements", &text[class..end])));
        text.replace_range(from..end, &name);
        done = from + name.len();
    }
    text
}

/// A sentence about an element of a `boolean[]`, whose values a trace has as 0 and 1: `flags[2] was 1; every serial order gives 0`,
/// `flags[2] was 1 and Door.open was true; every serial order gives 0 and true, or 1 and false`.
fn with_booleans(text: &str, element: &str) -> String {
    let word = |digit: &str| match digit {
        "0" => "false".to_owned(),
        "1" => "true".to_owned(),
        other => other.to_owned(),
    };
    let (head, serial) = text
        .split_once("; ")
        .map_or((text, None), |(head, rest)| (head, Some(rest)));
    let label = format!("{element} was ");
    let mut places: Vec<usize> = Vec::new();
    let mut values: Vec<String> = Vec::new();
    for (place, value) in head.split(" and ").enumerate() {
        values.push(match value.strip_prefix(&label) {
            Some(digit) => {
                places.push(place);
                format!("{label}{}", word(digit))
            }
            None => value.to_owned(),
        });
    }
    let head = values.join(" and ");
    let Some(serial) = serial else { return head };
    // The values in serial orders come in the same order, without their names.
    let verb = [" gives ", " give "].into_iter().find(|verb| serial.contains(verb));
    let Some((orders, (verb, given))) = verb.and_then(|verb| {
        let (orders, given) = serial.split_once(verb)?;
        Some((orders, (verb, given)))
    }) else {
        return format!("{head}; {serial}");
    };
    let or = if values.len() == 1 { " or " } else { ", or " };
    let given = given.split(or).map(|order| {
        let mut given: Vec<String> = order.split(" and ").map(str::to_owned).collect();
        if given.len() == values.len() {
            places.iter().for_each(|place| given[*place] = word(&given[*place]));
        }
        given.join(" and ")
    });
    format!("{head}; {orders}{verb}{}", given.collect::<Vec<_>>().join(or))
}

/// What a field inside of an object of the JDK is to the program.
fn state(inner: &str, name: &str) -> String {
    match inner_field(inner) {
        SIZE if is_text(inner) => format!("the length of {name}"),
        SIZE => format!("the size of {name}"),
        CHANGES => format!("the number of changes to {name}"),
        VALUE => name.to_owned(),
        ENTRY => format!("an entry of {name}"),
        _ => format!("the inside of {name} ({})", variable::short(inner)),
    }
}

const SIZE: &str = "size";
const CHANGES: &str = "modCount";
const VALUE: &str = "the value";
const ENTRY: &str = "an entry";
/// Marks the name of an array whose elements are booleans: code has one instruction for bytes and booleans.
const BOOLEANS: &str = "[Z";

/// Whether a field is one of a text that can be changed.
fn is_text(variable: &str) -> bool {
    variable.starts_with("java.lang.AbstractStringBuilder.")
}

/// A field of a class of the JDK by what it means.
fn inner_field(variable: &str) -> &str {
    match variable.rsplit('.').next().unwrap_or_default() {
        "size" | "elementCount" | "count" => SIZE,
        CHANGES => CHANGES,
        "value" | "state" if variable.starts_with("java.util.concurrent.") => VALUE,
        "value" if variable.contains("$Node.") || variable.contains("$Entry.") => ENTRY,
        other => other,
    }
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

/// Asks something of the method of the program that a step is in.
fn in_code<T>(
    step: &FindingStep,
    classes: &BTreeMap<String, ClassFile>,
    ask: impl FnOnce(&CallerCode<'_>) -> Option<T>,
) -> Option<T> {
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
    ask(&CallerCode {
        class,
        name: naming::without_descriptor(&step.method),
        descriptor: &step.method,
        code: &code,
        flow: &flow,
        parameters: count,
    })
}

/// The method of the program that a step is in.
struct CallerCode<'c> {
    class: &'c ClassFile,
    name: &'c str,
    /// Its name and its descriptor.
    descriptor: &'c str,
    code: &'c Code,
    flow: &'c Flow,
    parameters: usize,
}

impl CallerCode<'_> {
    /// What the program calls the object of the JDK whose method it calls.
    fn container(&self, mut at: At, step: &FindingStep) -> Option<String> {
        let pool = &self.class.pool;
        for _ in 0..MOST_VIEWS {
            let Kind::Call(index) = self.flow.kind(at) else {
                return None;
            };
            let callee = pool.member_ref(index).ok()?;
            let owner = decode_modified_utf8(callee.class);
            let is_static = self.flow.operand_count(at) == parameters(callee.descriptor).count();
            // Other arguments may be of the same sort, and then the access may be to one of them.
            let others = parameters(callee.descriptor)
                .filter(|argument| is_container(argument))
                .count();
            let certain = match is_static {
                true => others == 1 && is_container(parameters(callee.descriptor).next()?),
                // A class of the program whose method leaves no frame has inherited it from the JDK.
                false => (is_owner(&owner) || !is_platform(owner.as_ref())) && (others == 0 || step.op == "write"),
            };
            if !certain || callee.name == b"equals" {
                return None;
            }
            let from = self.flow.operand(at, 0)?;
            match self.flow.kind(from) {
                Kind::Call(view) if is_view(pool.member_ref(view).ok()?.name) => at = from,
                _ => return self.origin(from, &step.class),
            }
        }
        None
    }

    /// What the program calls the array whose element an instruction accesses. Of an array within an array the index is not known.
    fn array(&self, at: At, class: &str) -> Option<String> {
        let (Kind::Load | Kind::Store) = self.flow.kind(at) else {
            return None;
        };
        let from = self.flow.operand(at, 0)?;
        let name = match self.flow.kind(from) {
            Kind::Load => format!("{}[]", self.array(from, class)?.trim_end_matches(BOOLEANS)),
            _ => self.origin(from, class)?,
        };
        let is_of_booleans = self.type_of(from).is_some_and(|of| of == BOOLEANS);
        Some(if is_of_booleans { name + BOOLEANS } else { name })
    }

    /// The descriptor of a value, as far as the code says it.
    fn type_of(&self, from: At) -> Option<String> {
        let pool = &self.class.pool;
        let text = |bytes: &[u8]| decode_modified_utf8(bytes).into_owned();
        match self.flow.kind(from) {
            Kind::Read(index) => Some(text(pool.member_ref(index).ok()?.descriptor)),
            Kind::Call(index) => {
                let descriptor = text(pool.member_ref(index).ok()?.descriptor);
                Some(descriptor.rsplit_once(')')?.1.to_owned())
            }
            // The descriptor of an array is the name of its class.
            Kind::Cast(index) => Some(text(pool.class_name(index).ok()?)),
            Kind::Load => Some(self.type_of(self.flow.operand(from, 0)?)?.strip_prefix('[')?.to_owned()),
            _ => match (0..self.parameters).find(|slot| parameter(*slot) == from) {
                Some(slot) => self.type_of_parameter(slot),
                None => self.type_made(from),
            },
        }
    }

    fn type_of_parameter(&self, slot: usize) -> Option<String> {
        let all: Vec<&[u8]> = parameters(self.descriptor.as_bytes()).collect();
        let own = all.iter().map(|of| slots(of)).sum::<usize>();
        // The receiver comes first.
        let mut next = self.parameters.checked_sub(own)?;
        for of in all {
            if next == slot {
                return Some(decode_modified_utf8(of).into_owned());
            }
            next += slots(of);
        }
        None
    }

    /// The descriptor of an array that an instruction makes.
    fn type_made(&self, from: At) -> Option<String> {
        const OF_BOOLEANS: u8 = 4;
        let pc = u32::from(self.flow.pc(from));
        let instruction = self
            .code
            .instructions()
            .flatten()
            .find(|instruction| instruction.pc == pc)?;
        match (instruction.opcode, self.code.code.get(pc as usize + 1)) {
            (op::NEWARRAY, Some(&OF_BOOLEANS)) => Some(BOOLEANS.to_owned()),
            (op::MULTIANEWARRAY, _) => {
                let index = self.code.code.get(pc as usize + 1..pc as usize + 3)?;
                let of = self
                    .class
                    .pool
                    .class_name(u16::from_be_bytes([index[0], index[1]]))
                    .ok()?;
                Some(decode_modified_utf8(of).into_owned())
            }
            _ => None,
        }
    }

    /// The field or the parameter that a value is from.
    fn origin(&self, from: At, owner: &str) -> Option<String> {
        if let Kind::Read(index) = self.flow.kind(from) {
            let field = self.class.pool.member_ref(index).ok()?;
            let class = decode_modified_utf8(field.class).replace('/', ".");
            return Some(format!("{class}.{}", decode_modified_utf8(field.name)));
        }
        let slot = (0..self.parameters).find(|slot| parameter(*slot) == from)?;
        match local_name(self.class, self.code, slot) {
            Some(local) => Some(format!("{local} in {owner}")),
            None if slot == 0 => match bound_by_reference(self.class, self.name)? {
                Bound::Local(local) => Some(format!("{local} in {owner}")),
                Bound::Field(class, name) => Some(format!("{}.{name}", class.replace('/', "."))),
            },
            None => None,
        }
    }
}

/// Whether a class is one whose objects, or the views of them, are looked into.
fn is_owner(name: &str) -> bool {
    name.starts_with("java/util/") && !name.starts_with("java/util/function/")
        || name.starts_with("java/text/")
        || name == "java/lang/Iterable"
        || calls_tool(name)
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
            // What a builder gives back is itself.
            | b"append"
            | b"insert"
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

    fn told(text: &str, name: &str) -> String {
        let arrays = ["byte[] in shop.Stock".to_owned(), "int[] in shop.Stock".to_owned()];
        retold(text, &arrays, |_| name.to_owned())
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
    fn outcomes_are_told_in_the_terms_of_the_program() {
        for (text, shown) in [
            (
                "java.util.ArrayList.size was 1; every serial order gives 2",
                "the size of Log.lines was 1; every serial order gives 2",
            ),
            (
                "java.util.AbstractList.modCount was 1",
                "the number of changes to Log.lines was 1",
            ),
            (
                "java.util.HashMap.table was null",
                "the inside of Log.lines (HashMap.table) was null",
            ),
            (
                "java.util.concurrent.atomic.AtomicInteger.state was 2",
                "Log.lines was 2",
            ),
            (
                "element 3 of int[] in shop.Stock was 7; every serial order gives 14",
                "Log.lines[3] was 7; every serial order gives 14",
            ),
            (
                "element 108 of Object[] in java.util.ArrayList was 107; the 2 serial orders tried give 108",
                "element 108 of Log.lines was 107; the 2 serial orders tried give 108",
            ),
            (
                "java.lang.AbstractStringBuilder.count was 1; every serial order gives 2",
                "the length of Log.lines was 1; every serial order gives 2",
            ),
            (
                "java.lang.IllegalStateException: x",
                "java.lang.IllegalStateException: x",
            ),
            (
                "java.util.ConcurrentModificationException",
                "java.util.ConcurrentModificationException",
            ),
            ("Account.balance was 3", "Account.balance was 3"),
            (
                "java.util.HashMap$Node.value was 2; every serial order gives 3",
                "an entry of Log.lines was 2; every serial order gives 3",
            ),
        ] {
            assert_eq!(told(text, "shop.Log.lines"), shown);
        }
        let bools = |text: &str| told(text, "shop.Stock.flags[Z");
        assert_eq!(
            bools("element 2 of byte[] in shop.Stock was 1; every serial order gives 0"),
            "Stock.flags[2] was true; every serial order gives false"
        );
        assert_eq!(
            bools(
                "element 2 of byte[] in shop.Stock was 1 and Stock.open was 1; every serial order gives 0 and 1, or 1 and 0"
            ),
            "Stock.flags[2] was true and Stock.open was 1; every serial order gives false and 1, or true and 0"
        );
        assert_eq!(
            bools("element 2 of byte[] in shop.Stock was 1 and Stock.mark in t1 returned true"),
            "Stock.flags[2] was true and Stock.mark in t1 returned true"
        );
        // An array that nothing names keeps its type.
        assert_eq!(
            told("element 3 of int[] in shop.Stock was 7", "int[] in shop.Stock"),
            "element 3 of an int[] in Stock was 7"
        );
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
