//! Whether a thread of the program waits for a lock that the calling thread has: monitors, and the locks of `java.util.concurrent` that
//! know their owner. Semaphores and locks of the program's own making have none.

use jvmti_bindings::sys::jni::{JNIEnv, jfieldID, jint, jobject};
use jvmti_bindings::sys::jvmti::{JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER, jvmtiCapabilities, jvmtiError};

use crate::jvm::{self, Jvmti};

/// Asks for what the questions need; a JVM may refuse.
pub fn want(capabilities: &mut jvmtiCapabilities) {
    capabilities.set_can_get_owned_monitor_info(true);
    capabilities.set_can_get_current_contended_monitor(true);
}

/// Whether another thread waits for a lock of the calling one.
pub fn are_needed(jvmti: Jvmti, env: *mut JNIEnv) -> bool {
    const ROOM: jint = 64;
    // SAFETY: the calling thread belongs to the JVM; the frame takes all local references of the questions with it.
    unsafe {
        if ((**env).PushLocalFrame)(env, ROOM) != 0 {
            jvm::clear(env);
            return false;
        }
        let answer = ask(jvmti, env).unwrap_or(false);
        ((**env).PopLocalFrame)(env, std::ptr::null_mut());
        answer
    }
}

fn ask(jvmti: Jvmti, env: *mut JNIEnv) -> Option<bool> {
    let functions = jvmti.functions();
    let (current, all) = (functions.GetCurrentThread?, functions.GetAllThreads?);
    let (owned, contended) = (functions.GetOwnedMonitorInfo?, functions.GetCurrentContendedMonitor?);
    let state_of = functions.GetThreadState?;
    // SAFETY: every answer has its room and is checked; lists are copied and given back.
    unsafe {
        let same = |one: jobject, other: jobject| ((**env).IsSameObject)(env, one, other) != 0;
        let mut own: jobject = std::ptr::null_mut();
        if current(jvmti.0, &raw mut own) != jvmtiError::NONE {
            return None;
        }
        let (mut count, mut list): (jint, *mut jobject) = (0, std::ptr::null_mut());
        let asked = owned(jvmti.0, own, &raw mut count, &raw mut list) == jvmtiError::NONE;
        let monitors = taken(jvmti, list, if asked { count } else { 0 });
        let (mut count, mut list): (jint, *mut jobject) = (0, std::ptr::null_mut());
        if all(jvmti.0, &raw mut count, &raw mut list) != jvmtiError::NONE {
            return None;
        }
        let threads = taken(jvmti, list, count);
        let blockers = Blockers::find(env);
        for thread in threads.into_iter().filter(|thread| !same(*thread, own)) {
            // A running thread answers the question for its monitor at its next safepoint poll, which on a busy machine takes long.
            let mut state: jint = 0;
            let blocked = !monitors.is_empty()
                && state_of(jvmti.0, thread, &raw mut state) == jvmtiError::NONE
                && state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER != 0;
            let mut wanted: jobject = std::ptr::null_mut();
            let asked = blocked && contended(jvmti.0, thread, &raw mut wanted) == jvmtiError::NONE;
            if asked && !wanted.is_null() && monitors.iter().any(|monitor| same(*monitor, wanted)) {
                return Some(true);
            }
            let owner = blockers
                .as_ref()
                .and_then(|blockers| blockers.owner_of_blocker(env, thread));
            if owner.is_some_and(|owner| same(owner, own)) {
                return Some(true);
            }
            ((**env).DeleteLocalRef)(env, wanted);
            ((**env).DeleteLocalRef)(env, thread);
        }
        Some(false)
    }
}

/// A copy of a list that JVMTI allocated, which is given back. An empty one may have no memory.
///
/// # Safety
///
/// The list is null or has `count` references.
unsafe fn taken(jvmti: Jvmti, list: *mut jobject, count: jint) -> Vec<jobject> {
    if list.is_null() || count <= 0 {
        return Vec::new();
    }
    // SAFETY: as the caller says.
    let all = unsafe { std::slice::from_raw_parts(list, count as usize) }.to_vec();
    jvmti.free(list);
    all
}

/// The fields that say for which lock of `java.util.concurrent` a thread is parked, and who has it.
struct Blockers {
    synchronizer: jobject,
    owner: jfieldID,
    blocker: jfieldID,
}

impl Blockers {
    fn find(env: *mut JNIEnv) -> Option<Blockers> {
        // SAFETY: classes of java.base are found by the boot loader; a field that this release lacks leaves an exception, which is
        // cleared.
        unsafe {
            let jni = &**env;
            let synchronizer = (jni.FindClass)(env, c"java/util/concurrent/locks/AbstractOwnableSynchronizer".as_ptr());
            let thread = (jni.FindClass)(env, c"java/lang/Thread".as_ptr());
            if synchronizer.is_null() || thread.is_null() {
                jvm::clear(env);
                return None;
            }
            let owner = (jni.GetFieldID)(
                env,
                synchronizer,
                c"exclusiveOwnerThread".as_ptr(),
                c"Ljava/lang/Thread;".as_ptr(),
            );
            jvm::clear(env);
            let blocker = (jni.GetFieldID)(env, thread, c"parkBlocker".as_ptr(), c"Ljava/lang/Object;".as_ptr());
            jvm::clear(env);
            (!owner.is_null() && !blocker.is_null()).then_some(Blockers {
                synchronizer,
                owner,
                blocker,
            })
        }
    }

    /// The thread that has the lock that another one is parked for.
    fn owner_of_blocker(&self, env: *mut JNIEnv, thread: jobject) -> Option<jobject> {
        // SAFETY: live references, and fields of their classes.
        unsafe {
            let jni = &**env;
            let blocker = (jni.GetObjectField)(env, thread, self.blocker);
            let owned = !blocker.is_null() && (jni.IsInstanceOf)(env, blocker, self.synchronizer) != 0;
            let owner = owned.then(|| (jni.GetObjectField)(env, blocker, self.owner));
            (jni.DeleteLocalRef)(env, blocker);
            owner.filter(|owner| !owner.is_null())
        }
    }
}
