//! What stands in for added fields, and what a change means to code that runs already.
//!
//! A class that is loaded can get other code but no fields. So the accesses to the added fields in inserted code and in the helper
//! classes become calls of `RavelAttached`, and so do the calls of a few methods that need such fields, or that must tell more
//! of the order of threads. Every replacement has the length of what it replaces and the same effect on the operand stack: nothing moves.
//!
//! The second recording of a JVM has helper classes of other names, since code of the first may still be on a stack and call its own.

use ravel_classfile::{ClassFile, Operand, Result, access, decode_modified_utf8, op};

use crate::instrument::emit::WORD;
use crate::instrument::methods;
use crate::models::{self, Effect};

/// How the names of the helper classes begin.
const HELPERS: &str = "java/lang/Ravel";
const ATTACHED: &str = "java/lang/RavelAttached";

/// What it means that a thread is inside a method since before its hooks were there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Missed {
    /// Accesses alone.
    #[default]
    Accesses,
    /// It comes after something when the method returns, and nothing comes after it.
    Wait,
    /// Steps that order threads and stand for themselves: those that it takes in code with hooks are seen, whenever it has entered.
    Order,
    /// Steps that order threads and need to be seen from the start of the method to its end.
    Pair,
}

/// A method with hooks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hooked {
    /// Name and descriptor.
    pub method: String,
    /// What a thread misses that is inside.
    pub missed: Missed,
    /// Whether it catches the exception of an interrupted thread.
    pub interruptible: bool,
}

/// A call in helper classes (class, name, descriptor) that becomes one of `RavelAttached`, and under which name.
const IN_HELPERS: &[(&str, &str, &str, &str)] = &[
    ("RavelRecords", "sync", "(JIIJ)V", "sync"),
    ("RavelRecords", "stamped", "(JIIIJJJ)V", "stamped"),
    ("RavelRecords", "record", "(JIIIJJ)V", "record"),
    ("RavelRecords", "recordPlain", "(JIIIJJ)V", "recordPlain"),
    ("RavelObjects", "identity", "(Ljava/lang/Object;)J", "identity"),
    ("RavelObjects", "aloneIn", "(JLjava/lang/Object;)Z", "aloneIn"),
    ("RavelArrays", "aloneIn", "(JLjava/lang/Object;)Z", "aloneIn"),
    ("RavelObjects", "untracked", "(Ljava/lang/Object;)Z", "untracked"),
    ("RavelObjects", "offset", "(Ljava/lang/Class;)I", "offset"),
    ("RavelArrays", "find", "(JLjava/lang/Object;I)J", "find"),
    ("RavelRepeats", "settle", "(JZIJI)I", "settle"),
    ("RavelRepeats", "seenBefore", "(JJII)Z", "seenBefore"),
    ("RavelThreads", "hasEnded", "(I)Z", "hasEnded"),
];

/// The same in the code that is recorded: hooks.
const IN_HOOKED: &[(&str, &str)] = &[
    ("RavelObjects", "born"),
    ("RavelObjects", "jborn"),
    ("RavelMethods", "exit"),
    ("RavelMethods", "exitThrown"),
    ("RavelMethods", "exitInitializer"),
    ("RavelFields", "stamp"),
    ("RavelModels", "in"),
];

/// A helper class (internal name) for a JVM that is running.
pub fn helper(name: &str, bytes: &[u8], generation: u32) -> Result<Vec<u8>> {
    let mut class = ClassFile::parse(bytes)?;
    if name != ATTACHED {
        for index in 0..class.methods.len() {
            helper_method(name, &mut class, index)?;
        }
    }
    rename(&class.write()?, generation)
}

fn helper_method(name: &str, class: &mut ClassFile, index: usize) -> Result<()> {
    let Some(mut code) = class.code(&class.methods[index])? else {
        return Ok(());
    };
    let mut patches = Vec::new();
    for instruction in code.instructions() {
        let instruction = instruction?;
        let replacement = match (instruction.opcode, instruction.operand) {
            (opcode, Operand::Field(index)) => {
                let field = class.pool.member_ref(index)?;
                match (field.class, field.name, opcode) {
                    (b"java/lang/Thread", b"ravel$t", op::GETFIELD) => Some(("block", "(Ljava/lang/Thread;)J")),
                    (b"java/lang/Thread", b"ravel$t", op::PUTFIELD) => Some(("setBlock", "(Ljava/lang/Thread;J)V")),
                    (b"java/lang/Thread", b"ravel$n", op::GETFIELD) => Some(("number", "(Ljava/lang/Thread;)I")),
                    _ => None,
                }
            }
            (op::INVOKESTATIC, Operand::Method(index)) => {
                let method = class.pool.member_ref(index)?;
                let found = IN_HELPERS.iter().find(|(owner, method_name, descriptor, _)| {
                    method.class.strip_prefix(b"java/lang/") == Some(owner.as_bytes())
                        && method.name == method_name.as_bytes()
                        && method.descriptor == descriptor.as_bytes()
                });
                // Inside of its own class a record is none that orders threads.
                found
                    .filter(|(owner, ..)| *owner != "RavelRecords" || name != "java/lang/RavelRecords")
                    .map(|(_, _, descriptor, new)| (*new, *descriptor))
            }
            _ => None,
        };
        if let Some((new, descriptor)) = replacement {
            patches.push((instruction.pc, new, descriptor));
        }
    }
    if patches.is_empty() {
        return Ok(());
    }
    for (pc, new, descriptor) in patches {
        let target = class.pool.add_method_ref(ATTACHED, new, descriptor)?;
        call(&mut code.code, pc, target);
    }
    class.set_code(index, &code)
}

/// Puts a call where an instruction of the same length stands.
fn call(code: &mut [u8], pc: u32, method: u16) {
    if let Some(place) = code.get_mut(pc as usize..pc as usize + 3) {
        let [high, low] = method.to_be_bytes();
        place.copy_from_slice(&[op::INVOKESTATIC, high, low]);
    }
}

/// A class that has got its hooks, for a JVM that is running, and what its methods mean to threads that are inside. `is_plain` says of a field
/// (class, name, descriptor) whether it is known to order nothing.
pub fn hooked(
    name: &str,
    bytes: &[u8],
    generation: u32,
    mut is_plain: impl FnMut(&str, &str, &str) -> bool,
) -> Result<(Vec<u8>, Vec<Hooked>)> {
    let mut class = ClassFile::parse(bytes)?;
    let mut all = Vec::new();
    for method in methods(&class)? {
        let Some(mut code) = class.code(&class.methods[method.index])? else {
            continue;
        };
        let is_static = method.access & access::STATIC != 0;
        let model = || models::find(name, &method.name, &method.descriptor, is_static).map(|found| found.effect);
        let mut found = Hooked {
            method: format!("{}{}", method.name, method.descriptor),
            missed: Missed::Accesses,
            interruptible: false,
        };
        let (mut patches, mut word, mut plain, mut any) = (Vec::new(), None, false, false);
        for instruction in code.instructions() {
            let instruction = instruction?;
            match (instruction.opcode, instruction.operand) {
                (opcode, Operand::Field(index)) => {
                    let field = class.pool.member_ref(index)?;
                    if field.name != WORD.as_bytes() {
                        let text = |bytes| decode_modified_utf8(bytes).into_owned();
                        plain = is_plain(&text(field.class), &text(field.name), &text(field.descriptor));
                        if !plain {
                            found.missed = found.missed.max(Missed::Order);
                        }
                    } else if opcode == op::GETFIELD {
                        word = Some(instruction.pc);
                    } else {
                        patches.push((instruction.pc, "drop".to_string(), "(Ljava/lang/Object;J)V".to_string()));
                    }
                }
                (op::INVOKESTATIC, Operand::Method(index)) => {
                    let callee = class.pool.member_ref(index)?;
                    let Some(owner) = callee
                        .class
                        .strip_prefix(b"java/lang/")
                        .filter(|o| o.starts_with(b"Ravel"))
                    else {
                        continue;
                    };
                    any = true;
                    let owner = decode_modified_utf8(owner).into_owned();
                    let hook = decode_modified_utf8(callee.name).into_owned();
                    let descriptor = decode_modified_utf8(callee.descriptor).into_owned();
                    if let Some(pc) = word.take() {
                        let orders = !plain || hook.starts_with("volatile");
                        let stand_in = if orders { "sharedWord" } else { "word" };
                        patches.push((pc, stand_in.to_string(), "(Ljava/lang/Object;)J".to_string()));
                    }
                    found.missed = found.missed.max(missed(&owner, &hook, model, waits(name)));
                    found.interruptible |= hook == "interrupted";
                    if IN_HOOKED.contains(&(owner.as_str(), hook.as_str())) {
                        let hook = if hook == "jborn" { "born".to_string() } else { hook };
                        patches.push((instruction.pc, hook, descriptor));
                    }
                }
                _ => {}
            }
        }
        if any {
            all.push(found);
        }
        if patches.is_empty() {
            continue;
        }
        for (pc, hook, descriptor) in patches {
            let target = class.pool.add_method_ref(ATTACHED, &hook, &descriptor)?;
            call(&mut code.code, pc, target);
        }
        class.set_code(method.index, &code)?;
    }
    Ok((rename(&class.write()?, generation)?, all))
}

/// Whether methods of a class of the JDK (internal name) in which a thread waits run no code of the program meanwhile.
fn waits(class: &str) -> bool {
    const RUN_TASKS: [&str; 3] = ["ForkJoin", "CompletableFuture", "CountedCompleter"];
    let concurrent = class.strip_prefix("java/util/concurrent/");
    concurrent.is_some_and(|rest| !RUN_TASKS.iter().any(|other| rest.starts_with(other)))
        || matches!(class, "java/lang/Thread" | "java/util/TaskQueue")
        || class.starts_with("sun/nio/ch/")
}

/// What a thread misses that is inside a method with this hook; `model` is what the method of the JDK does, and `waits` whether
/// it may only wait there.
fn missed(owner: &str, hook: &str, model: impl FnOnce() -> Option<Effect>, waits: bool) -> Missed {
    match (owner, hook) {
        ("RavelMethods", "enterLocked" | "enterInitializer" | "exitInitializer") => Missed::Pair,
        ("RavelMonitors", "waiting" | "waited" | "waitNanos") => Missed::Pair,
        ("RavelFields", "stamp" | "volatileGet" | "volatilePut") => Missed::Order,
        // An interrupt is looked at when it comes: see `Attached::interrupted`.
        ("RavelThreads", "interrupted") | ("RavelMonitors", "caught") => Missed::Accesses,
        ("RavelFields" | "RavelArrays" | "RavelObjects" | "RavelMethods", _) => Missed::Accesses,
        ("RavelModels", "heard") if waits => Missed::Wait,
        ("RavelModels", "in" | "out" | "outThrown") => match model() {
            Some(effect) if waits && only_waits(effect) => Missed::Wait,
            _ => Missed::Pair,
        },
        _ => Missed::Order,
    }
}

/// Whether what is left of a method, once a thread waits in it, orders nothing after that thread.
fn only_waits(effect: Effect) -> bool {
    matches!(
        effect,
        Effect::Lock
            | Effect::TryLock
            | Effect::LockShared
            | Effect::TryLockShared
            | Effect::Await
            | Effect::Receive
            | Effect::ReceiveIf
            | Effect::ReceiveResult
            | Effect::TakePermits
            | Effect::TryPermits
            | Effect::DrainPermits
            | Effect::QueueTake
            | Effect::Join
    )
}

/// The name of a helper class in a recording of this number.
pub fn name_in(name: &str, generation: u32) -> String {
    match name.strip_prefix(HELPERS) {
        Some(rest) if generation > 1 => format!("{}{rest}", prefix(generation)),
        _ => name.to_string(),
    }
}

/// How the names of helper classes begin in a recording of this number; as long as in the first.
fn prefix(generation: u32) -> String {
    format!("java/lang/Rav{generation:02}")
}

/// The last recording whose helper classes have a name.
pub const LAST_GENERATION: u32 = 99;

/// Gives the helper classes, wherever a class names them, the names that they have in this recording.
fn rename(bytes: &[u8], generation: u32) -> Result<Vec<u8>> {
    if generation <= 1 {
        return Ok(bytes.to_vec());
    }
    let mut new = bytes.to_vec();
    let (old, other) = (HELPERS.as_bytes(), prefix(generation).into_bytes());
    let mut at = 10;
    let count = u16::from_be_bytes([bytes[8], bytes[9]]);
    let mut slot = 1;
    while slot < count {
        let length = match bytes.get(at).copied().unwrap_or_default() {
            1 => {
                let length = usize::from(u16::from_be_bytes([bytes[at + 1], bytes[at + 2]]));
                let text = &mut new[at + 3..at + 3 + length];
                for place in 0..length.saturating_sub(old.len() - 1) {
                    if text[place..].starts_with(old) {
                        text[place..place + old.len()].copy_from_slice(&other);
                    }
                }
                3 + length
            }
            3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => 5,
            5 | 6 => {
                slot += 1;
                9
            }
            15 => 4,
            _ => 3,
        };
        at += length;
        slot += 1;
    }
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::helper;

    /// Nothing in the helper classes may go on using what a loaded class does not have.
    #[test]
    fn helper_classes_use_no_added_field() {
        for generation in [1, 2] {
            for (name, bytes) in helper::CLASSES.iter().chain([&helper::ATTACHED]) {
                let name = name.to_str().expect("a name");
                let new = helper(name, bytes, generation).expect("a class");
                let class = ClassFile::parse(&new).expect("a class");
                assert_eq!(
                    class.name().expect("a name"),
                    name_in(name, generation).as_bytes(),
                    "{name}"
                );
                let searching = ["Search", "Forced", "Driver"].iter().any(|part| name.contains(part));
                for method in &class.methods {
                    let Some(code) = class.code(method).expect("code") else {
                        continue;
                    };
                    for instruction in code.instructions() {
                        let instruction = instruction.expect("an instruction");
                        if let Operand::Field(index) = instruction.operand {
                            let field = class.pool.member_ref(index).expect("a field");
                            let added = field.class == b"java/lang/Thread" && field.name.starts_with(b"ravel$");
                            assert!(!added || searching, "{name}: {:?}", String::from_utf8_lossy(field.name));
                        }
                    }
                }
            }
        }
    }

    /// Every call that is to be replaced is there, or it would be missed when its method changes.
    #[test]
    fn replaced_calls_exist() {
        for (owner, method, descriptor, new) in IN_HELPERS {
            let calls = |name: &str, descriptor: &str, bytes: &[u8]| {
                let class = ClassFile::parse(bytes).expect("a class");
                methods(&class)
                    .expect("methods")
                    .iter()
                    .any(|found| found.name == name && found.descriptor == descriptor)
            };
            let class = format!("java/lang/{owner}");
            let (_, bytes) = helper::CLASSES
                .iter()
                .find(|(name, _)| name.to_str() == Ok(&class))
                .expect("the class is there");
            assert!(calls(method, descriptor, bytes), "{owner}.{method}{descriptor}");
            assert!(
                calls(new, descriptor, helper::ATTACHED.1),
                "RavelAttached.{new}{descriptor}"
            );
        }
    }
}
