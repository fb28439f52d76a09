//! What `java.management` knows of a thread, by JNI: the agent's own classes are part of `java.base`, which does not read that module.

use std::ffi::CStr;

use jvmti_bindings::sys::jni::{JNIEnv, jint, jobject, jvalue};

use crate::jvm;

/// Class and identity hash of the object on which a thread waits; none if there is none, or if this JVM has no `java.management`.
pub fn lock_info(env: *mut JNIEnv, thread: jobject) -> Option<(String, jint)> {
    let told = ask(env, thread);
    jvm::clear(env);
    told
}

fn ask(env: *mut JNIEnv, thread: jobject) -> Option<(String, jint)> {
    // SAFETY: called on an attached thread of a live JVM; every result is checked before use.
    unsafe {
        let jni = &**env;
        let factory = (jni.FindClass)(env, c"java/lang/management/ManagementFactory".as_ptr());
        if factory.is_null() {
            return None;
        }
        let descriptor = c"()Ljava/lang/management/ThreadMXBean;";
        let get = (jni.GetStaticMethodID)(env, factory, c"getThreadMXBean".as_ptr(), descriptor.as_ptr());
        if get.is_null() {
            return None;
        }
        let bean = (jni.CallStaticObjectMethodA)(env, factory, get, std::ptr::null());
        if bean.is_null() || (jni.ExceptionCheck)(env) != 0 {
            return None;
        }
        let number = (jni.CallLongMethodA)(env, thread, method(env, thread, c"getId", c"()J")?, std::ptr::null());
        let argument = jvalue { j: number };
        let of = method(env, bean, c"getThreadInfo", c"(J)Ljava/lang/management/ThreadInfo;")?;
        let info = (jni.CallObjectMethodA)(env, bean, of, &raw const argument);
        if info.is_null() || (jni.ExceptionCheck)(env) != 0 {
            return None;
        }
        let of = method(env, info, c"getLockInfo", c"()Ljava/lang/management/LockInfo;")?;
        let lock = (jni.CallObjectMethodA)(env, info, of, std::ptr::null());
        if lock.is_null() || (jni.ExceptionCheck)(env) != 0 {
            return None;
        }
        let of = method(env, lock, c"getClassName", c"()Ljava/lang/String;")?;
        let class = (jni.CallObjectMethodA)(env, lock, of, std::ptr::null());
        let of = method(env, lock, c"getIdentityHashCode", c"()I")?;
        let hash = (jni.CallIntMethodA)(env, lock, of, std::ptr::null());
        Some((jvm::text(env, class)?, hash))
    }
}

/// A method of an object's class.
fn method(
    env: *mut JNIEnv,
    object: jobject,
    name: &CStr,
    descriptor: &CStr,
) -> Option<jvmti_bindings::sys::jni::jmethodID> {
    // SAFETY: `object` is a live reference; the strings are NUL-terminated.
    unsafe {
        let class = ((**env).GetObjectClass)(env, object);
        let method = ((**env).GetMethodID)(env, class, name.as_ptr(), descriptor.as_ptr());
        (!method.is_null()).then_some(method)
    }
}
