//! The loaded classes: which get hooks, how they get them, and how they lose them.

use std::ffi::{CStr, c_char};

use jvmti_bindings::sys::jni::{JNIEnv, jboolean, jclass, jfieldID, jint};
use jvmti_bindings::sys::jvmti::{JVMTI_CLASS_STATUS_INITIALIZED, jvmtiError};

use super::{Attached, substitute};
use crate::agent::Agent;
use crate::jvm::{self, Jvmti};
use crate::registry::DeclaredField;

/// Classes that the JVM changes at once: it stops all threads each time, for as long as the change of so many takes.
const AT_ONCE: usize = 64;

/// What came of a change.
pub struct Changed {
    pub changed: u64,
    /// Classes that the JVM refused, with its reason.
    pub refused: Vec<String>,
}

/// A class with its hooks; none if it gets none.
pub fn with_hooks(agent: &Agent, attached: &Attached, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let new = agent.instrumenter.transform(name, bytes)?;
    let is_plain =
        |class: &str, field: &str, descriptor: &str| agent.instrumenter.orders_nothing(class, field, descriptor);
    match substitute::hooked(name, &new, attached.generation, is_plain) {
        Ok((new, methods)) => {
            attached.stacks.add(name, methods);
            Some(new)
        }
        Err(error) => {
            agent.instrumenter.fail(name, &error);
            None
        }
    }
}

/// The loaded classes that get hooks, as local references with their internal names.
fn concerned(agent: &Agent, env: *mut JNIEnv) -> Result<Vec<(jclass, String)>, String> {
    let functions = agent.jvmti.functions();
    let (Some(list), Some(ask)) = (functions.GetLoadedClasses, functions.IsModifiableClass) else {
        return Err("this JVM's JVMTI lacks functions".into());
    };
    let (mut count, mut classes): (jint, *mut jclass) = (0, std::ptr::null_mut());
    // SAFETY: both have room for the answers; the list is freed below.
    let code = unsafe { list(agent.jvmti.0, &raw mut count, &raw mut classes) };
    if code != jvmtiError::NONE || classes.is_null() {
        return Err(format!("this JVM does not list its classes: {code:?}"));
    }
    // SAFETY: JVMTI gave `count` references.
    let all = unsafe { std::slice::from_raw_parts(classes, count.max(0) as usize) };
    let mut found = Vec::new();
    for class in all {
        let name = jvm::class_name(agent.jvmti, env, *class).replace('.', "/");
        let mut modifiable: jboolean = 0;
        let wanted = !name.ends_with("[]") && agent.instrumenter.concerns(&name) && {
            // SAFETY: a live reference; there is room for the answer.
            let code = unsafe { ask(agent.jvmti.0, *class, &raw mut modifiable) };
            code == jvmtiError::NONE && modifiable != 0
        };
        match wanted {
            true => found.push((*class, name)),
            // SAFETY: the local reference of the answer is ours to delete.
            false => unsafe { ((**env).DeleteLocalRef)(env, *class) },
        }
    }
    agent.jvmti.free(classes);
    Ok(found)
}

fn forget(env: *mut JNIEnv, classes: Vec<(jclass, String)>) {
    for (class, _) in classes {
        // SAFETY: local references that are used no more.
        unsafe { ((**env).DeleteLocalRef)(env, class) };
    }
}

/// Tells the agent the fields of all loaded classes, so that it knows of each access what it is to.
pub fn declare(agent: &Agent, env: *mut JNIEnv) -> Result<(), String> {
    let all = concerned(agent, env)?;
    for (class, name) in &all {
        if agent.instrumenter.records_fields(name) {
            // SAFETY: a live reference of a class.
            let parent = unsafe { ((**env).GetSuperclass)(env, *class) };
            let superclass = match parent.is_null() {
                true => String::new(),
                false => jvm::class_name(agent.jvmti, env, parent).replace('.', "/"),
            };
            // SAFETY: deleting null is allowed.
            unsafe { ((**env).DeleteLocalRef)(env, parent) };
            agent
                .instrumenter
                .declare_loaded(name, &superclass, fields(agent.jvmti, *class));
        }
    }
    forget(env, all);
    Ok(())
}

/// The fields that a class declares.
fn fields(jvmti: Jvmti, class: jclass) -> Vec<DeclaredField> {
    let functions = jvmti.functions();
    let (Some(list), Some(name_of), Some(flags_of)) = (
        functions.GetClassFields,
        functions.GetFieldName,
        functions.GetFieldModifiers,
    ) else {
        return Vec::new();
    };
    let (mut count, mut ids): (jint, *mut jfieldID) = (0, std::ptr::null_mut());
    // SAFETY: a live reference; there is room for the answers. A class that is not prepared gives an error.
    if unsafe { list(jvmti.0, class, &raw mut count, &raw mut ids) } != jvmtiError::NONE || ids.is_null() {
        return Vec::new();
    }
    let mut found = Vec::new();
    // SAFETY: JVMTI gave `count` field ids, freed below.
    for id in unsafe { std::slice::from_raw_parts(ids, count.max(0) as usize) } {
        let (mut name, mut descriptor): (*mut c_char, *mut c_char) = (std::ptr::null_mut(), std::ptr::null_mut());
        let (none, mut flags): (*mut *mut c_char, jint) = (std::ptr::null_mut(), 0);
        // SAFETY: a field of the class; there is room for the answers, and the generic signature is not asked for.
        let codes = unsafe {
            (
                name_of(jvmti.0, class, *id, &raw mut name, &raw mut descriptor, none),
                flags_of(jvmti.0, class, *id, &raw mut flags),
            )
        };
        if codes == (jvmtiError::NONE, jvmtiError::NONE) && !name.is_null() && !descriptor.is_null() {
            // SAFETY: JVMTI gave NUL-terminated strings, freed after the copy.
            let text = unsafe { (CStr::from_ptr(name), CStr::from_ptr(descriptor)) };
            found.push(DeclaredField {
                name: text.0.to_string_lossy().into_owned(),
                descriptor: text.1.to_string_lossy().into_owned(),
                flags: flags as u16,
                annotations: Vec::new(),
            });
        }
        jvmti.free(name);
        jvmti.free(descriptor);
    }
    jvmti.free(ids);
    found
}

/// Gives all loaded classes their hooks.
pub fn change(agent: &Agent, env: *mut JNIEnv) -> Result<Changed, String> {
    let all = concerned(agent, env)?;
    let mut refused = Vec::new();
    for part in all.chunks(AT_ONCE) {
        retransform(agent.jvmti, part, &mut refused);
    }
    let changed = (all.len() - refused.len()) as u64;
    forget(env, all);
    Ok(Changed { changed, refused })
}

/// Takes the hooks out again; gives the classes that the JVM will not change back.
pub fn restore(agent: &Agent, env: *mut JNIEnv) -> Vec<String> {
    let mut refused = Vec::new();
    match concerned(agent, env) {
        Ok(all) => {
            for part in all.chunks(AT_ONCE) {
                retransform(agent.jvmti, part, &mut refused);
            }
            forget(env, all);
        }
        Err(error) => refused.push(error),
    }
    refused
}

/// Has the JVM load classes anew. It takes all of them or none, so those that it refuses are looked for.
fn retransform(jvmti: Jvmti, classes: &[(jclass, String)], refused: &mut Vec<String>) {
    let Some(retransform) = jvmti.functions().RetransformClasses else {
        refused.extend(classes.iter().map(|(_, name)| name.replace('/', ".")));
        return;
    };
    let list: Vec<jclass> = classes.iter().map(|(class, _)| *class).collect();
    // SAFETY: live references, and as many as is said.
    let code = unsafe { retransform(jvmti.0, list.len() as jint, list.as_ptr()) };
    match classes {
        _ if code == jvmtiError::NONE => {}
        [] => {}
        [(_, name)] => refused.push(format!("{} ({code:?})", name.replace('/', "."))),
        _ => {
            let (one, other) = classes.split_at(classes.len() / 2);
            self::retransform(jvmti, one, refused);
            self::retransform(jvmti, other, refused);
        }
    }
}

/// Whether there have been virtual threads in this JVM: the first one makes the first thread that carries them.
pub fn runs_virtual_threads(agent: &Agent, env: *mut JNIEnv) -> bool {
    // SAFETY: a thread of the JVM with its own environment.
    let class = unsafe { ((**env).FindClass)(env, c"jdk/internal/misc/CarrierThread".as_ptr()) };
    jvm::clear(env);
    if class.is_null() {
        return false;
    }
    let mut status: jint = 0;
    let Some(get) = agent.jvmti.functions().GetClassStatus else {
        return true;
    };
    // SAFETY: a live reference; there is room for the answer.
    let code = unsafe { get(agent.jvmti.0, class, &raw mut status) };
    // SAFETY: a local reference that is used no more.
    unsafe { ((**env).DeleteLocalRef)(env, class) };
    code != jvmtiError::NONE || status & JVMTI_CLASS_STATUS_INITIALIZED != 0
}
