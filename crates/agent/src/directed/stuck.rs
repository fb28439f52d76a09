//! Sees that the program of a directed run stands still: every thread waits without a time limit, and none is left that could wake another.
//!
//! Separate from the watch over recorded programs (`standstill.rs`), which knows what each thread has recorded and tells why it waits. Here a
//! doubt costs no more than the rest of the run's time: idle workers with a time limit, timers and virtual threads count as threads that go on.

use std::time::{Duration, Instant};

use jvmti_bindings::sys::jni::JavaVM;

use crate::idle::Idle;
use crate::idle_pools::{IdlePools, IdleWorkers};
use crate::jvm::{self, Jvmti};
use crate::standstill::{self, Doing};

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(250);
/// How long nothing but idle workers of pools must be left.
const IDLE: Duration = Duration::from_millis(200);
/// Looks in a row that must see nothing move.
const SAME: u32 = 5;
/// The part of a processor that a program that stands still may use, in percent.
const BUSY: u128 = 10;
/// Why no thread of a program goes on.
pub enum Ending {
    /// Each waits for another one: their names.
    Standstill(Vec<String>),
    /// All that are left are idle workers of pools.
    Idle(IdleWorkers),
}

/// Waits until no thread of the program goes on any more.
pub fn wait_for_end(vm: *mut JavaVM, jvmti: Jvmti) -> Ending {
    let mut seen = 0;
    let mut pools = IdlePools::new();
    loop {
        let (used, begin) = (standstill::processor_time(), Instant::now());
        while begin.elapsed() < LOOK {
            std::thread::sleep(LOOK / 5);
            if let Some(workers) = pools.look(vm, jvmti, IDLE) {
                return Ending::Idle(workers);
            }
        }
        let used = standstill::processor_time().saturating_sub(used);
        let is_busy = used.as_nanos() * 100 > begin.elapsed().as_nanos() * BUSY;
        let stuck = if is_busy { None } else { stuck_threads(vm, jvmti) };
        seen = if stuck.is_some() { seen + 1 } else { 0 };
        if let Some(threads) = stuck.filter(|_| seen >= SAME && !Idle::has_children()) {
            return Ending::Standstill(threads);
        }
    }
}

/// The program's threads, if each waits without a time limit.
fn stuck_threads(vm: *mut JavaVM, jvmti: Jvmti) -> Option<Vec<String>> {
    let look = |env| {
        let mut names = Vec::new();
        for (thread, state) in standstill::live_threads(jvmti)? {
            let (name, _) = jvm::thread_info(jvmti, env, thread)?;
            if standstill::OF_THE_JVM.contains(&name.as_str()) || jvm::is_watch(&name) {
                continue;
            }
            if Doing::of(state) != Doing::Waits {
                return None;
            }
            names.push(name);
        }
        (!names.is_empty()).then_some(names)
    };
    jvm::attached(vm, look).flatten()
}
