//! What a method of the program calls the objects that its instructions use, by its code: the receiver of a call, or the array of an element,
//! is followed back to the field or the parameter that it is from.

use std::collections::BTreeMap;

use ravel_analysis::finding::FindingStep;
use ravel_classfile::{Bound, ClassFile, Code, access, bound_by_reference, decode_modified_utf8, op};
use ravel_trace::naming;
use ravel_trace::origin::{calls_tool, is_platform};

use super::BOOLEANS;
use crate::flow::{At, Flow, Kind, parameter};
use crate::symbols::{parameters, slots};

/// Views and iterators of a collection stand for the collection: how many of them may lie on each other.
const MOST_VIEWS: usize = 6;

/// Asks something of the method of the program that a step is in.
pub(super) fn in_code<T>(
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
pub(super) struct CallerCode<'c> {
    pub class: &'c ClassFile,
    name: &'c str,
    /// Its name and its descriptor.
    descriptor: &'c str,
    code: &'c Code,
    pub flow: &'c Flow,
    parameters: usize,
}

impl CallerCode<'_> {
    /// What the program calls the object of the JDK whose method it calls.
    pub fn container(&self, mut at: At, step: &FindingStep) -> Option<String> {
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
    pub fn array(&self, at: At, class: &str) -> Option<String> {
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
    pub fn type_of(&self, from: At) -> Option<String> {
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
    pub fn origin(&self, from: At, owner: &str) -> Option<String> {
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
