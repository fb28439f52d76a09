//! Which threads wait for a class that another thread initialises.
//!
//! The JVM calls such a thread runnable, and neither JVMTI nor `java.management` says what it waits for. So it is read off the stacks: a
//! thread initialises the classes whose `<clinit>` it is in, and the subclasses for which it came there. Another one that stands before an
//! instruction which needs such a class waits for it.

use std::os::raw::c_uchar;

use jvmti_bindings::sys::jni::{JNIEnv, jclass, jint, jobject};
use jvmti_bindings::sys::jvmti::{jvmtiError, jvmtiFrameInfo};
use ravel_classfile::{ConstantPool, op};

use crate::agent::Agent;
use crate::jvm;
use crate::stack;

/// How deep a hierarchy of classes may be.
const ANCESTORS: usize = 64;
/// The status of a class whose initialisation has ended: done, or failed.
const SETTLED: jint = 4 | 8;

/// What the stack of a thread says of initialisation.
pub struct Initialisation {
    /// The classes that the thread initialises.
    holds: Vec<String>,
    /// The class that its next instruction needs, and the superclasses; empty if it needs none.
    needs: Vec<String>,
}

/// A thread waits until another one, by its place in the list, has initialised a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AwaitedClass {
    /// The class.
    pub class: String,
    /// The thread that initialises it.
    pub by: usize,
}

/// The class that each of these threads waits for, if it waits for one. `runs` says which threads the JVM calls runnable.
pub fn awaited(
    agent: &Agent,
    env: *mut JNIEnv,
    threads: &[jobject],
    runs: &dyn Fn(usize) -> bool,
) -> Vec<Option<AwaitedClass>> {
    let stacks: Vec<Vec<jvmtiFrameInfo>> = threads
        .iter()
        .map(|thread| stack::frames(agent.jvmti, *thread))
        .collect();
    let mut all: Vec<Initialisation> = Vec::new();
    for (at, stack) in stacks.iter().enumerate() {
        let top = stack.first().filter(|_| runs(at));
        all.push(Initialisation {
            holds: Vec::new(),
            needs: top.and_then(|top| needed(agent, env, top)).unwrap_or_default(),
        });
    }
    // Most programs end here: the rest is for those that a thread might wait in.
    if all.iter().any(|thread| !thread.needs.is_empty()) {
        for (thread, stack) in all.iter_mut().zip(&stacks) {
            thread.holds = held(agent, env, stack);
        }
    }
    matched(&all)
}

/// Which class of those that it needs each thread waits for.
fn matched(threads: &[Initialisation]) -> Vec<Option<AwaitedClass>> {
    let holder = |class: &String| threads.iter().position(|thread| thread.holds.contains(class));
    let mut awaited: Vec<Option<AwaitedClass>> = vec![None; threads.len()];
    // A thread that waits for a superclass has begun with the subclasses.
    let mut begun: Vec<(&String, usize)> = Vec::new();
    for (at, thread) in threads.iter().enumerate() {
        let first = thread
            .needs
            .iter()
            .enumerate()
            .find_map(|(depth, class)| Some((depth, holder(class)?)));
        if let Some((depth, by)) = first.filter(|(_, by)| *by != at) {
            awaited[at] = Some(AwaitedClass {
                class: thread.needs[depth].clone(),
                by,
            });
            begun.extend(thread.needs[..depth].iter().map(|class| (class, at)));
        }
    }
    for (at, thread) in threads
        .iter()
        .enumerate()
        .filter(|(_, thread)| !thread.needs.is_empty())
    {
        let needed = thread.needs.iter().take_while(|class| !thread.holds.contains(class));
        let of_other = |class: &String| begun.iter().find(|(begun, by)| *begun == class && *by != at).copied();
        if let (None, Some((class, by))) = (&awaited[at], needed.filter_map(of_other).next()) {
            awaited[at] = Some(AwaitedClass {
                class: class.clone(),
                by,
            });
        }
    }
    awaited
}

/// The classes that a thread initialises.
fn held(agent: &Agent, env: *mut JNIEnv, frames: &[jvmtiFrameInfo]) -> Vec<String> {
    let mut holds = Vec::new();
    for (depth, frame) in frames.iter().enumerate() {
        if stack::method_name(agent.jvmti, frame).as_deref() != Some("<clinit>") {
            continue;
        }
        let Some(class) = stack::declaring_class(agent.jvmti, frame) else {
            continue;
        };
        let class = jvm::class_name(agent.jvmti, env, class);
        let from = frames
            .get(depth + 1)
            .and_then(|caller| needed(agent, env, caller))
            .unwrap_or_default();
        // The classes from the one that was needed up to this one.
        if let Some(end) = from.iter().position(|needed| *needed == class) {
            holds.extend_from_slice(&from[..end]);
        }
        holds.push(class);
    }
    holds
}

/// The class that the instruction of a frame initialises if nothing has done so before, with its superclasses. None if that is settled.
fn needed(agent: &Agent, env: *mut JNIEnv, frame: &jvmtiFrameInfo) -> Option<Vec<String>> {
    let name = named_class(agent, frame)?.replace('/', ".");
    let class = loaded(agent, env, &name)?;
    let mut chain = vec![name];
    let mut class = class;
    while chain.len() < ANCESTORS {
        // SAFETY: a live reference.
        class = unsafe { ((**env).GetSuperclass)(env, class) };
        if class.is_null() || is_settled(agent, class) {
            break;
        }
        chain.push(jvm::class_name(agent.jvmti, env, class));
    }
    Some(chain)
}

/// The class of the field, method or object that the instruction of a frame accesses, calls or makes.
fn named_class(agent: &Agent, frame: &jvmtiFrameInfo) -> Option<String> {
    let at = usize::try_from(frame.location).ok()?;
    let get = agent.jvmti.functions().GetBytecodes?;
    let (mut count, mut code): (jint, *mut c_uchar) = (0, std::ptr::null_mut());
    // SAFETY: a method of a frame; both have room for the answers. A native method has no bytecode, which is an error.
    if unsafe { get(agent.jvmti.0, frame.method, &raw mut count, &raw mut code) } != jvmtiError::NONE {
        return None;
    }
    // SAFETY: JVMTI gave `count` bytes, freed after the copy.
    let bytes = unsafe { std::slice::from_raw_parts(code, count.max(0) as usize) }.to_vec();
    agent.jvmti.free(code);
    let [code, high, low] = *bytes.get(at..at + 3)? else {
        return None;
    };
    let index = u16::from_be_bytes([high, low]);
    if !matches!(code, op::GETSTATIC | op::PUTSTATIC | op::INVOKESTATIC | op::NEW) {
        return None;
    }
    let pool = pool(agent, stack::declaring_class(agent.jvmti, frame)?)?;
    let class = match code {
        op::NEW => pool.class_name(index).ok()?,
        _ => pool.member_ref(index).ok()?.class,
    };
    Some(String::from_utf8_lossy(class).into_owned())
}

fn pool(agent: &Agent, class: jclass) -> Option<ConstantPool> {
    let get = agent.jvmti.functions().GetConstantPool?;
    let (mut count, mut length, mut bytes): (jint, jint, *mut c_uchar) = (0, 0, std::ptr::null_mut());
    // SAFETY: a live reference; all three have room for the answers.
    if unsafe { get(agent.jvmti.0, class, &raw mut count, &raw mut length, &raw mut bytes) } != jvmtiError::NONE {
        return None;
    }
    let mut file = u16::try_from(count).ok()?.to_be_bytes().to_vec();
    // SAFETY: JVMTI gave `length` bytes, freed after the copy.
    file.extend_from_slice(unsafe { std::slice::from_raw_parts(bytes, length.max(0) as usize) });
    agent.jvmti.free(bytes);
    ConstantPool::from_bytes(&file).ok()
}

/// A class of this name that is loaded and whose initialisation has not ended.
fn loaded(agent: &Agent, env: *mut JNIEnv, name: &str) -> Option<jclass> {
    let get = agent.jvmti.functions().GetLoadedClasses?;
    let (mut count, mut classes): (jint, *mut jclass) = (0, std::ptr::null_mut());
    // SAFETY: both have room for the answers.
    if unsafe { get(agent.jvmti.0, &raw mut count, &raw mut classes) } != jvmtiError::NONE {
        return None;
    }
    // SAFETY: JVMTI gave `count` references, freed after the copy.
    let all = unsafe { std::slice::from_raw_parts(classes, count.max(0) as usize) }.to_vec();
    agent.jvmti.free(classes);
    let mut found = None;
    for class in all {
        if found.is_none() && !is_settled(agent, class) && jvm::class_name(agent.jvmti, env, class) == name {
            found = Some(class);
        } else {
            // SAFETY: a local reference of this call, used nowhere else.
            unsafe { ((**env).DeleteLocalRef)(env, class) };
        }
    }
    found
}

fn is_settled(agent: &Agent, class: jclass) -> bool {
    let mut status: jint = 0;
    let Some(get) = agent.jvmti.functions().GetClassStatus else {
        return true;
    };
    // SAFETY: a live reference; `status` has room for the answer.
    let code = unsafe { get(agent.jvmti.0, class, &raw mut status) };
    code != jvmtiError::NONE || status & SETTLED != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(holds: &[&str], needs: &[&str]) -> Initialisation {
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        Initialisation {
            holds: owned(holds),
            needs: owned(needs),
        }
    }

    fn waits(stacks: &[Initialisation]) -> Vec<Option<(String, usize)>> {
        matched(stacks)
            .into_iter()
            .map(|one| one.map(|one| (one.class, one.by)))
            .collect()
    }

    fn on(class: &str, by: usize) -> Option<(String, usize)> {
        Some((class.to_string(), by))
    }

    #[test]
    fn two_initialisers_that_need_each_other_wait() {
        let stacks = [stack(&["A"], &["B"]), stack(&["B"], &["A"])];
        assert_eq!(waits(&stacks), [on("B", 1), on("A", 0)]);
    }

    #[test]
    fn a_subclass_without_initialiser_is_held_by_the_thread_that_waits_for_its_superclass() {
        let stacks = [stack(&["Base"], &["Derived", "Base"]), stack(&[], &["Derived", "Base"])];
        assert_eq!(waits(&stacks), [on("Derived", 1), on("Base", 0)]);
    }

    #[test]
    fn what_a_thread_initialises_itself_does_not_stop_it() {
        let stacks = [stack(&["A", "B"], &["A"]), stack(&[], &["C"])];
        assert_eq!(waits(&stacks), [None, None]);
    }
}
