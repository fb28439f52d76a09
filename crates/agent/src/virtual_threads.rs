//! The virtual threads that live. JVMTI lists only platform threads, so that a look at all threads needs a list of its own.

use std::sync::{Mutex, PoisonError};

use jvmti_bindings::sys::jni::{JNIEnv, jlong, jobject};
use rustc_hash::FxHashMap;

/// Virtual threads that are listed; a program with more is not looked at.
const MOST: usize = 2000;

/// A weak reference of JNI.
struct WeakReference(jobject);

// SAFETY: a weak global reference may be used by any thread.
unsafe impl Send for WeakReference {}

/// Virtual threads that have begun and not ended.
#[derive(Default)]
pub(crate) struct VirtualThreads(Mutex<Listed>);

#[derive(Default)]
struct Listed {
    alive: usize,
    /// By the address of the thread's block.
    threads: FxHashMap<jlong, WeakReference>,
}

impl VirtualThreads {
    /// One began whose block is at this address.
    pub fn began(&self, env: *mut JNIEnv, thread: jobject, block: jlong) {
        let mut listed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listed.alive += 1;
        if block != 0 && listed.threads.len() < MOST {
            // SAFETY: called on a thread of the JVM with its own environment and a live reference.
            let weak = unsafe { ((**env).NewWeakGlobalRef)(env, thread) };
            if !weak.is_null() {
                listed.threads.insert(block, WeakReference(weak));
            }
        }
    }

    /// One ended whose block was at this address.
    pub fn ended(&self, env: *mut JNIEnv, block: jlong) {
        let mut listed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listed.alive = listed.alive.saturating_sub(1);
        if let Some(WeakReference(weak)) = listed.threads.remove(&block) {
            // SAFETY: the reference was made by `began` and is deleted once.
            unsafe { ((**env).DeleteWeakGlobalRef)(env, weak) };
        }
    }

    /// Local references to all of them; none if some are not listed.
    pub fn all(&self, env: *mut JNIEnv) -> Option<Vec<jobject>> {
        let listed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if listed.alive != listed.threads.len() {
            return None;
        }
        // SAFETY: the references are not deleted while they are listed.
        let local = |weak: &WeakReference| unsafe { ((**env).NewLocalRef)(env, weak.0) };
        // In one order, look after look.
        let mut threads: Vec<(&jlong, &WeakReference)> = listed.threads.iter().collect();
        threads.sort_unstable_by_key(|(block, _)| **block);
        let all: Vec<jobject> = threads.into_iter().map(|(_, weak)| local(weak)).collect();
        (!all.iter().any(|thread| thread.is_null())).then_some(all)
    }
}
