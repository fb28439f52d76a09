//! Threads that block each other in a circle, as the JVM itself knows them: monitors and owned synchronisers alike.

use jvmti_bindings::sys::jni::{JNIEnv, JavaVM, jclass, jlong, jobject, jsize, jvalue};

use crate::jvm;

/// The names of deadlocked threads; none if there are none, or if this JVM has no `java.management`.
pub fn find(vm: *mut JavaVM) -> Vec<String> {
    jvm::attached(vm, |env| ask(env).unwrap_or_default()).unwrap_or_default()
}

/// Calls an object's method without arguments that returns an object.
fn call(env: *mut JNIEnv, object: jobject, name: &std::ffi::CStr, descriptor: &std::ffi::CStr) -> Option<jobject> {
    // SAFETY: `object` is a live reference; every result is checked before use.
    unsafe {
        let jni = &**env;
        let class = (jni.GetObjectClass)(env, object);
        let method = (jni.GetMethodID)(env, class, name.as_ptr(), descriptor.as_ptr());
        if method.is_null() {
            return None;
        }
        let result = (jni.CallObjectMethodA)(env, object, method, std::ptr::null());
        ((jni.ExceptionCheck)(env) == 0 && !result.is_null()).then_some(result)
    }
}

fn ask(env: *mut JNIEnv) -> Option<Vec<String>> {
    // SAFETY: called on an attached thread of a live JVM; every result is checked before use, and lengths are those that the
    // JVM tells.
    unsafe {
        let jni = &**env;
        let factory: jclass = (jni.FindClass)(env, c"java/lang/management/ManagementFactory".as_ptr());
        if factory.is_null() {
            return None;
        }
        let get = (jni.GetStaticMethodID)(
            env,
            factory,
            c"getThreadMXBean".as_ptr(),
            c"()Ljava/lang/management/ThreadMXBean;".as_ptr(),
        );
        if get.is_null() {
            return None;
        }
        let bean = (jni.CallStaticObjectMethodA)(env, factory, get, std::ptr::null());
        if bean.is_null() || (jni.ExceptionCheck)(env) != 0 {
            return None;
        }
        let ids = call(env, bean, c"findDeadlockedThreads", c"()[J")?;
        let length: jsize = (jni.GetArrayLength)(env, ids);
        let mut numbers = vec![0 as jlong; length.max(0) as usize];
        (jni.GetLongArrayRegion)(env, ids, 0, length, numbers.as_mut_ptr());
        let class = (jni.GetObjectClass)(env, bean);
        let info = (jni.GetMethodID)(
            env,
            class,
            c"getThreadInfo".as_ptr(),
            c"(J)Ljava/lang/management/ThreadInfo;".as_ptr(),
        );
        if info.is_null() {
            return None;
        }
        let mut names = Vec::new();
        for number in numbers {
            let argument = jvalue { j: number };
            let told = (jni.CallObjectMethodA)(env, bean, info, &raw const argument);
            if told.is_null() || (jni.ExceptionCheck)(env) != 0 {
                jvm::clear(env);
                names.push(format!("thread {number}"));
                continue;
            }
            let name = call(env, told, c"getThreadName", c"()Ljava/lang/String;");
            names.push(name.and_then(|name| jvm::text(env, name)).unwrap_or_default());
        }
        Some(names)
    }
}
