//! The native methods of `Ravel.java` that belong to a JVM that was running before, and how the helper classes of a later recording, which
//! have other names, get theirs.

use std::ffi::{CStr, CString, c_void};

use jvmti_bindings::sys::jni::{JNIEnv, JNINativeMethod, jclass, jint, jlong, jobject, jvalue};
use ravel_classfile::{ClassFile, access, decode_modified_utf8};

use crate::agent::agent;
use crate::guard::{guard, guarded};
use crate::helper;
use crate::jvm;

/// Native methods by name, as one library hands them to another: the number of methods and the list.
#[repr(C)]
struct NativeMethods {
    count: jlong,
    list: *const JNINativeMethod,
}

/// Whether the JVM has found the native methods: calls one that does nothing.
pub fn is_linked(env: *mut JNIEnv, class: jclass) -> bool {
    call(env, class, c"shake")
}

/// Calls a static method without parameters and result; whether it ended well.
pub fn call(env: *mut JNIEnv, class: jclass, name: &CStr) -> bool {
    // SAFETY: a live class; the method is looked for before it is called.
    unsafe {
        let method = ((**env).GetStaticMethodID)(env, class, name.as_ptr(), c"()V".as_ptr());
        if method.is_null() {
            jvm::clear(env);
            return false;
        }
        ((**env).CallStaticVoidMethodA)(env, class, method, std::ptr::null());
        let failed = ((**env).ExceptionCheck)(env) != 0;
        jvm::clear(env);
        !failed
    }
}

/// Has the helper classes of the first recording give this class the native methods of this library.
pub fn adopt(env: *mut JNIEnv, base: jclass, class: jclass) -> Result<(), String> {
    let (name, bytes) = helper::CLASSES[0];
    let parsed = ClassFile::parse(bytes).map_err(|error| error.to_string())?;
    let library = Library::own()?;
    let mut texts = Vec::new();
    for method in parsed.methods.iter().filter(|method| method.is(access::NATIVE)) {
        let text = |bytes| CString::new(decode_modified_utf8(bytes).into_owned()).map_err(|error| error.to_string());
        let method_name = parsed.member_name(method).map_err(|error| error.to_string())?;
        let descriptor = parsed.member_descriptor(method).map_err(|error| error.to_string())?;
        let symbol = format!(
            "Java_{}_{}",
            name.to_string_lossy().replace('/', "_"),
            decode_modified_utf8(method_name)
        );
        texts.push((text(method_name)?, text(descriptor)?, library.symbol(&symbol)?));
    }
    let list: Vec<JNINativeMethod> = texts
        .iter()
        .map(|(name, descriptor, code)| JNINativeMethod {
            name: name.as_ptr(),
            signature: descriptor.as_ptr(),
            fnPtr: *code,
        })
        .collect();
    let methods = NativeMethods {
        count: list.len() as jlong,
        list: list.as_ptr(),
    };
    // SAFETY: live classes; the method is looked for before it is called, and what its argument points to lives through the call.
    let done = unsafe {
        let descriptor = c"(Ljava/lang/Class;J)V";
        let method = ((**env).GetStaticMethodID)(env, base, c"adopt".as_ptr(), descriptor.as_ptr());
        if method.is_null() {
            jvm::clear(env);
            return Err("another version of Ravel has been in this JVM".into());
        }
        let arguments = [
            jvalue { l: class },
            jvalue {
                j: std::ptr::from_ref(&methods) as jlong,
            },
        ];
        ((**env).CallStaticVoidMethodA)(env, base, method, arguments.as_ptr());
        let failed = ((**env).ExceptionCheck)(env) != 0;
        jvm::clear(env);
        !failed
    };
    match done && is_linked(env, class) {
        true => Ok(()),
        false => Err("the JVM does not take the agent's native methods".into()),
    }
}

/// This library, as the system's linker knows it.
struct Library(*mut c_void);

impl Library {
    fn own() -> Result<Library, String> {
        // SAFETY: an address inside this library; the structure has room for the answer, whose strings live as long as the library.
        let handle = unsafe {
            let mut info: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(Java_java_lang_Ravel_bind as *const c_void, &raw mut info) == 0 || info.dli_fname.is_null()
            {
                return Err("the agent does not find its own library".into());
            }
            libc::dlopen(info.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD)
        };
        match handle.is_null() {
            true => Err("the agent does not find its own library".into()),
            false => Ok(Library(handle)),
        }
    }

    fn symbol(&self, name: &str) -> Result<*mut c_void, String> {
        let text = CString::new(name).map_err(|error| error.to_string())?;
        // SAFETY: the handle is open and the name ends with a zero byte.
        let found = unsafe { libc::dlsym(self.0, text.as_ptr()) };
        match found.is_null() {
            true => Err(format!("the agent lacks {name}")),
            false => Ok(found),
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: opened once by `own`; the JVM keeps the library itself.
        unsafe { libc::dlclose(self.0) };
    }
}

/// `Ravel.bind`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_bind(env: *mut JNIEnv, _: jclass, class: jclass, methods: jlong) {
    guard(|| {
        // SAFETY: `adopt` of the library that is loaded now passes the address of such a structure, which lives through the call.
        unsafe {
            let methods = &*(methods as *const NativeMethods);
            ((**env).RegisterNatives)(env, class, methods.list, methods.count as jint);
        }
    });
}

/// `Ravel.admit`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_admit(env: *mut JNIEnv, _: jclass, thread: jobject) -> jlong {
    guarded(
        || 1,
        || {
            let found = agent().and_then(|agent| Some((agent, agent.attached.as_ref()?)));
            match found {
                Some((agent, attached)) if !thread.is_null() => attached.admit(agent, env, thread),
                _ => 0,
            }
        },
    )
}

/// `Ravel.interrupting`
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_Ravel_interrupting(env: *mut JNIEnv, _: jclass, thread: jobject) {
    guard(|| {
        if let Some(attached) = agent().and_then(|agent| agent.attached.as_ref())
            && !thread.is_null()
        {
            attached.interrupted(env, thread);
        }
    });
}
