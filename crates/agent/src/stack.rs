//! The stack of a thread, as JVMTI has it: for looks from outside, in which no code of the thread runs.

use std::ffi::CStr;
use std::os::raw::c_char;

use jvmti_bindings::sys::jni::{jclass, jint, jobject};
use jvmti_bindings::sys::jvmti::{jvmtiError, jvmtiFrameInfo};

use crate::jvm::Jvmti;

/// Frames that are looked at.
const DEPTH: usize = 256;

/// The frames of a thread, the innermost first.
pub fn frames(jvmti: Jvmti, thread: jobject) -> Vec<jvmtiFrameInfo> {
    let Some(get) = jvmti.functions().GetStackTrace else {
        return Vec::new();
    };
    let mut frames = Vec::<jvmtiFrameInfo>::with_capacity(DEPTH);
    let mut count: jint = 0;
    // SAFETY: a live reference; there is room for as many frames as are asked for, and `count` of them are filled.
    unsafe {
        if get(jvmti.0, thread, 0, DEPTH as jint, frames.as_mut_ptr(), &raw mut count) == jvmtiError::NONE {
            frames.set_len(count.clamp(0, DEPTH as jint) as usize);
        }
    }
    frames
}

/// The name of the method of a frame.
pub fn method_name(jvmti: Jvmti, frame: &jvmtiFrameInfo) -> Option<String> {
    let get = jvmti.functions().GetMethodName?;
    let mut name: *mut c_char = std::ptr::null_mut();
    // SAFETY: a method of a frame; `name` has room for the answer, and nothing else is asked for.
    let code = unsafe {
        get(
            jvmti.0,
            frame.method,
            &raw mut name,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        )
    };
    if code != jvmtiError::NONE || name.is_null() {
        return None;
    }
    // SAFETY: JVMTI gave a NUL-terminated string, freed after the copy.
    let text = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    jvmti.free(name);
    Some(text)
}

/// The class that declares the method of a frame.
pub fn declaring_class(jvmti: Jvmti, frame: &jvmtiFrameInfo) -> Option<jclass> {
    let get = jvmti.functions().GetMethodDeclaringClass?;
    let mut class: jclass = std::ptr::null_mut();
    // SAFETY: a method of a frame; `class` has room for the answer.
    let code = unsafe { get(jvmti.0, frame.method, &raw mut class) };
    (code == jvmtiError::NONE && !class.is_null()).then_some(class)
}
