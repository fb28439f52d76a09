//! The few questions that the agent asks the JVM, through JNI and JVMTI.

use std::ffi::{CStr, CString, c_char};

use jvmti_bindings::sys::jni::{JNIEnv, JavaVM, JavaVMAttachArgs, jclass, jfieldID, jint, jlong, jobject, jvalue};
use jvmti_bindings::sys::jvmti::{jvmtiEnv, jvmtiError, jvmtiInterface_1_, jvmtiThreadInfo};

use crate::agent::Agent;
use crate::thread_block::ThreadBlock;

/// JVMTI 1.2, which every JVM since 6 has.
const JVMTI_VERSION_1_2: jint = 0x3001_0200;
/// JNI 1.2.
const JNI_VERSION_1_2: jint = 0x0001_0002;
/// The name of a thread of the agent while it asks the JVM something.
const WATCH: &CStr = c"ravel-watch";

/// The JVMTI environment of this agent; usable from any thread.
#[derive(Clone, Copy)]
pub struct Jvmti(pub *mut jvmtiEnv);

// SAFETY: JVMTI environments may be used by any thread.
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

impl Jvmti {
    /// The environment of a JVM.
    pub fn of(vm: *mut JavaVM) -> Result<Jvmti, String> {
        let mut env: *mut jvmtiEnv = std::ptr::null_mut();
        // SAFETY: `vm` is the pointer that the JVM gave to `Agent_OnLoad`; `env` has room for the answer.
        let code = unsafe { ((**vm).GetEnv)(vm, (&raw mut env).cast(), JVMTI_VERSION_1_2) };
        if code == 0 && !env.is_null() {
            Ok(Jvmti(env))
        } else {
            Err(format!("no JVMTI in this JVM (code {code})"))
        }
    }

    /// The table of functions.
    pub fn functions(&self) -> &jvmtiInterface_1_ {
        // SAFETY: the environment stays valid until the JVM ends, and so does its table.
        unsafe { &*(*self.0).functions }
    }

    /// Gives memory of JVMTI back.
    pub fn free<T>(&self, memory: *mut T) {
        if let (false, Some(deallocate)) = (memory.is_null(), self.functions().Deallocate) {
            // SAFETY: only memory that JVMTI allocated gets here.
            let _ = unsafe { deallocate(self.0, memory.cast()) };
        }
    }

    /// Memory that the JVM will free, filled with `bytes`.
    pub fn copy(&self, bytes: &[u8]) -> Option<*mut u8> {
        let mut memory = std::ptr::null_mut();
        let allocate = self.functions().Allocate?;
        // SAFETY: `memory` has room for the answer; the copy fits what was asked for.
        unsafe {
            if allocate(self.0, bytes.len() as jlong, &raw mut memory) != jvmtiError::NONE {
                return None;
            }
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len());
        }
        Some(memory)
    }
}

/// Dotted name of a class.
pub fn class_name(jvmti: Jvmti, _env: *mut JNIEnv, class: jclass) -> String {
    let mut signature: *mut c_char = std::ptr::null_mut();
    let Some(get) = jvmti.functions().GetClassSignature else {
        return String::new();
    };
    // SAFETY: `class` is a live reference of this call; the generic signature is not asked for.
    if unsafe { get(jvmti.0, class, &raw mut signature, std::ptr::null_mut()) } != jvmtiError::NONE {
        return String::new();
    }
    // SAFETY: JVMTI gave a NUL-terminated string, freed after the copy.
    let text = unsafe { CStr::from_ptr(signature) }.to_string_lossy().into_owned();
    jvmti.free(signature);
    from_signature(&text)
}

/// `Lshop/Stock;` is `shop.Stock`, `[I` is `int[]`.
fn from_signature(signature: &str) -> String {
    if let Some(element) = signature.strip_prefix('[') {
        return format!("{}[]", from_signature(element));
    }
    match signature {
        "Z" => "boolean".into(),
        "B" => "byte".into(),
        "C" => "char".into(),
        "S" => "short".into(),
        "I" => "int".into(),
        "J" => "long".into(),
        "F" => "float".into(),
        "D" => "double".into(),
        _ => signature
            .strip_prefix('L')
            .unwrap_or(signature)
            .trim_end_matches(';')
            .replace('/', "."),
    }
}

/// Whether a thread of this name is the agent's own.
pub fn is_watch(name: &str) -> bool {
    WATCH.to_str() == Ok(name)
}

/// Does something as a thread of the JVM, if there is one. The name keeps the numbers of the program's own threads as they are.
pub fn attached<T>(vm: *mut JavaVM, work: impl FnOnce(*mut JNIEnv) -> T) -> Option<T> {
    if vm.is_null() {
        return None;
    }
    let mut env: *mut JNIEnv = std::ptr::null_mut();
    let mut arguments = JavaVMAttachArgs {
        version: JNI_VERSION_1_2,
        name: WATCH.as_ptr().cast_mut(),
        group: std::ptr::null_mut(),
    };
    // SAFETY: the JVM is alive; all structures live through the call.
    let code = unsafe { ((**vm).AttachCurrentThreadAsDaemon)(vm, (&raw mut env).cast(), (&raw mut arguments).cast()) };
    if code != 0 || env.is_null() {
        return None;
    }
    let result = work(env);
    clear(env);
    // SAFETY: this thread runs no Java code at the moment.
    unsafe { ((**vm).DetachCurrentThread)(vm) };
    Some(result)
}

/// What a thread is called, whether it is a daemon, and its group's name.
pub fn thread_info(jvmti: Jvmti, env: *mut JNIEnv, thread: jobject) -> Option<(String, bool)> {
    let mut info = jvmtiThreadInfo::default();
    let get = jvmti.functions().GetThreadInfo?;
    // SAFETY: `thread` is a live reference; `info` has room for the answer.
    if unsafe { get(jvmti.0, thread, &raw mut info) } != jvmtiError::NONE {
        return None;
    }
    let name = if info.name.is_null() {
        String::new()
    } else {
        // SAFETY: JVMTI gave a NUL-terminated string, freed after the copy.
        unsafe { CStr::from_ptr(info.name) }.to_string_lossy().into_owned()
    };
    jvmti.free(info.name);
    // SAFETY: the local references of the answer are ours to delete; deleting null is allowed.
    unsafe {
        ((**env).DeleteLocalRef)(env, info.thread_group);
        ((**env).DeleteLocalRef)(env, info.context_class_loader);
    }
    Some((name, info.is_daemon != 0))
}

/// A field of `java.lang.Thread` that the agent added.
pub fn thread_field(env: *mut JNIEnv, name: &CStr, descriptor: &CStr) -> Option<jfieldID> {
    // SAFETY: called on a thread of the JVM with its own environment; strings are NUL-terminated.
    unsafe {
        let class = ((**env).FindClass)(env, c"java/lang/Thread".as_ptr());
        if class.is_null() {
            clear(env);
            return None;
        }
        let field = ((**env).GetFieldID)(env, class, name.as_ptr(), descriptor.as_ptr());
        clear(env);
        ((**env).DeleteLocalRef)(env, class);
        (!field.is_null()).then_some(field)
    }
}

/// A Java string; null if there is no memory for it.
pub fn string(env: *mut JNIEnv, text: &str) -> jobject {
    let Ok(text) = CString::new(text) else {
        return std::ptr::null_mut();
    };
    // SAFETY: called on a thread of a live JVM with a NUL-terminated string.
    unsafe { ((**env).NewStringUTF)(env, text.as_ptr()) }
}

/// Whether a class itself declares a field of this name.
pub fn declares_field(jvmti: Jvmti, class: jclass, name: &str) -> bool {
    declared_field(jvmti, class, name).is_some()
}

/// A field that a class itself declares, as reflection has it; null if there is none. Unlike the look-up by JNI this does not initialise the class.
pub fn reflected_field(jvmti: Jvmti, env: *mut JNIEnv, class: jclass, name: &str) -> jobject {
    /// `JVM_ACC_STATIC`
    const STATIC: jint = 8;
    let found = declared_field(jvmti, class, name);
    let (Some(field), Some(modifiers)) = (found, jvmti.functions().GetFieldModifiers) else {
        return std::ptr::null_mut();
    };
    let mut flags: jint = 0;
    // SAFETY: the field is one of the class; `flags` has room for the answer.
    if unsafe { modifiers(jvmti.0, class, field, &raw mut flags) } != jvmtiError::NONE {
        return std::ptr::null_mut();
    }
    // SAFETY: called on a thread of the JVM with its own environment, and a field of this class.
    unsafe {
        let found = ((**env).ToReflectedField)(env, class, field, u8::from(flags & STATIC != 0));
        clear(env);
        found
    }
}

/// The field of this name that a class itself declares.
fn declared_field(jvmti: Jvmti, class: jclass, name: &str) -> Option<jfieldID> {
    let functions = jvmti.functions();
    let (Some(list), Some(name_of)) = (functions.GetClassFields, functions.GetFieldName) else {
        return None;
    };
    let (mut count, mut fields): (jint, *mut jfieldID) = (0, std::ptr::null_mut());
    // SAFETY: `class` is a live reference; both have room for the answers.
    if unsafe { list(jvmti.0, class, &raw mut count, &raw mut fields) } != jvmtiError::NONE || fields.is_null() {
        return None;
    }
    // SAFETY: JVMTI gave `count` field ids, freed below.
    let found = unsafe { std::slice::from_raw_parts(fields, count.max(0) as usize) }
        .iter()
        .copied()
        .find(|field| {
            let mut text: *mut c_char = std::ptr::null_mut();
            let none = std::ptr::null_mut();
            // SAFETY: the field is one of the class; only its name is asked for.
            let code = unsafe { name_of(jvmti.0, class, *field, &raw mut text, none, none) };
            if code != jvmtiError::NONE || text.is_null() {
                return false;
            }
            // SAFETY: JVMTI gave a NUL-terminated string, freed after the comparison.
            let same = unsafe { CStr::from_ptr(text) }.to_bytes() == name.as_bytes();
            jvmti.free(text);
            same
        });
    jvmti.free(fields);
    found
}

/// The text of a Java string; none of null.
pub fn text(env: *mut JNIEnv, string: jobject) -> Option<String> {
    if string.is_null() {
        return None;
    }
    // SAFETY: `string` is a live reference to a string; the characters are given back after the copy.
    unsafe {
        let characters = ((**env).GetStringUTFChars)(env, string, std::ptr::null_mut());
        if characters.is_null() {
            clear(env);
            return None;
        }
        let text = CStr::from_ptr(characters).to_string_lossy().into_owned();
        ((**env).ReleaseStringUTFChars)(env, string, characters);
        Some(text)
    }
}

/// Calls `main` of a class; false if it has none. An exception of the program stays pending.
pub fn call_main(env: *mut JNIEnv, class: jclass, arguments: jobject) -> bool {
    // SAFETY: called on a thread of a live JVM with live references; the method is looked for before it is called.
    unsafe {
        let method = ((**env).GetStaticMethodID)(env, class, c"main".as_ptr(), c"([Ljava/lang/String;)V".as_ptr());
        if method.is_null() {
            clear(env);
            return false;
        }
        let arguments = jvalue { l: arguments };
        ((**env).CallStaticVoidMethodA)(env, class, method, &raw const arguments);
    }
    true
}

/// Has the driver of a search run the program's `main` again and again.
pub fn drive(env: *mut JNIEnv, main: &str, words: &[String]) -> bool {
    // SAFETY: called on a thread of a live JVM; every result is checked before use.
    unsafe {
        let class = ((**env).FindClass)(env, c"java/lang/RavelDriver".as_ptr());
        let strings = ((**env).FindClass)(env, c"java/lang/String".as_ptr());
        if class.is_null() || strings.is_null() {
            clear(env);
            return false;
        }
        let descriptor = c"(Ljava/lang/String;[Ljava/lang/String;)V";
        let method = ((**env).GetStaticMethodID)(env, class, c"run".as_ptr(), descriptor.as_ptr());
        let list = ((**env).NewObjectArray)(env, words.len() as jint, strings, std::ptr::null_mut());
        if method.is_null() || list.is_null() {
            clear(env);
            return false;
        }
        for (place, word) in words.iter().enumerate() {
            ((**env).SetObjectArrayElement)(env, list, place as jint, string(env, word));
        }
        let arguments = [
            jvalue {
                l: string(env, &main.replace('/', ".")),
            },
            jvalue { l: list },
        ];
        ((**env).CallStaticVoidMethodA)(env, class, method, arguments.as_ptr());
        let failed = ((**env).ExceptionCheck)(env) != 0;
        if failed {
            ((**env).ExceptionDescribe)(env);
            clear(env);
        }
        !failed
    }
}

/// Has the helper classes link themselves, while nothing is recorded yet.
pub fn prepare(env: *mut JNIEnv, class: &CStr) -> bool {
    // SAFETY: called on a thread of a live JVM; every result is checked before use.
    unsafe {
        let class = ((**env).FindClass)(env, class.as_ptr());
        if class.is_null() {
            clear(env);
            return false;
        }
        let method = ((**env).GetStaticMethodID)(env, class, c"prepare".as_ptr(), c"()V".as_ptr());
        if method.is_null() {
            clear(env);
            return false;
        }
        ((**env).CallStaticVoidMethodA)(env, class, method, std::ptr::null());
        let failed = ((**env).ExceptionCheck)(env) != 0;
        if failed {
            ((**env).ExceptionDescribe)(env);
            clear(env);
        }
        ((**env).DeleteLocalRef)(env, class);
        !failed
    }
}

/// Defines a class of the boot loader. False if the JVM does not take it.
pub fn define_class(env: *mut JNIEnv, name: &CStr, bytes: &[u8]) -> bool {
    // SAFETY: the JVM gave the environment; name and bytes live through the call.
    let class = unsafe {
        ((**env).DefineClass)(
            env,
            name.as_ptr(),
            std::ptr::null_mut(),
            bytes.as_ptr().cast(),
            bytes.len() as jint,
        )
    };
    if class.is_null() {
        clear(env);
    }
    !class.is_null()
}

/// Forgets a pending exception of a call that may fail.
pub fn clear(env: *mut JNIEnv) {
    // SAFETY: allowed at any time on a thread of the JVM.
    unsafe { ((**env).ExceptionClear)(env) }
}

/// The address of a thread's block, 0 if it has none.
pub fn block_of(env: *mut JNIEnv, agent: &Agent, thread: jobject) -> jlong {
    if let Some(attached) = &agent.attached {
        return attached.block_of(env, thread);
    }
    let Some(field) = agent.block_field.get().filter(|_| !thread.is_null()) else {
        return 0;
    };
    // SAFETY: the field is a long of `Thread`, and `thread` is one.
    unsafe { ((**env).GetLongField)(env, thread, field.block) }
}

/// Gives a thread its block and its number.
pub fn set_block(env: *mut JNIEnv, agent: &Agent, thread: jobject, block: &'static ThreadBlock) {
    if let Some(attached) = &agent.attached {
        attached.set_block(env, thread, block);
        return;
    }
    if let Some(fields) = agent.block_field.get() {
        // SAFETY: the fields are a long and an int of `Thread`, and `thread` is one.
        unsafe {
            ((**env).SetIntField)(env, thread, fields.number, block.thread as jint + 1);
            ((**env).SetLongField)(env, thread, fields.block, std::ptr::from_ref(block) as jlong);
        }
    }
}

/// Takes its block from a thread that has run its last.
pub fn take_block(env: *mut JNIEnv, agent: &Agent, thread: jobject) {
    if let Some(attached) = &agent.attached {
        attached.take_block(env, thread);
        return;
    }
    if let Some(fields) = agent.block_field.get() {
        // SAFETY: the field is a long of `Thread`, and `thread` is one.
        unsafe { ((**env).SetLongField)(env, thread, fields.block, 0) }
    }
}

/// Class and message of an exception, as `toString` gives them; only the class if that fails.
pub fn describe(jvmti: Jvmti, env: *mut JNIEnv, exception: jobject) -> String {
    // SAFETY: `exception` is a live reference; every result is checked before use, and pending exceptions are cleared.
    unsafe {
        let class = ((**env).GetObjectClass)(env, exception);
        let name = class_name(jvmti, env, class);
        let method = ((**env).GetMethodID)(env, class, c"getMessage".as_ptr(), c"()Ljava/lang/String;".as_ptr());
        ((**env).DeleteLocalRef)(env, class);
        if method.is_null() {
            clear(env);
            return name;
        }
        let message = ((**env).CallObjectMethodA)(env, exception, method, std::ptr::null());
        if ((**env).ExceptionCheck)(env) != 0 || message.is_null() {
            clear(env);
            return name;
        }
        let text = ((**env).GetStringUTFChars)(env, message, std::ptr::null_mut());
        if text.is_null() {
            clear(env);
            return name;
        }
        let words = CStr::from_ptr(text).to_string_lossy().into_owned();
        ((**env).ReleaseStringUTFChars)(env, message, text);
        ((**env).DeleteLocalRef)(env, message);
        format!("{name}: {words}")
    }
}

/// A system property.
pub fn property(jvmti: Jvmti, name: &CStr) -> String {
    let mut value: *mut c_char = std::ptr::null_mut();
    let Some(get) = jvmti.functions().GetSystemProperty else {
        return String::new();
    };
    // SAFETY: `value` has room for the answer; the name is NUL-terminated.
    if unsafe { get(jvmti.0, name.as_ptr(), &raw mut value) } != jvmtiError::NONE || value.is_null() {
        return String::new();
    }
    // SAFETY: JVMTI gave a NUL-terminated string, freed after the copy.
    let text = unsafe { CStr::from_ptr(value) }.to_string_lossy().into_owned();
    jvmti.free(value);
    text
}
