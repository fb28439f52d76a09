//! Sees that nothing is left of a program but idle workers of pools: each waits for a task, and no thread is left that could submit one.
//!
//! Such a program has done all that it will do. But its JVM stays as long as the workers do: for ever if no thread shuts the pool down, because the
//! program forgets it or because the thread that would do it has died. So the run is ended, as it would end if the pool was shut down.

use std::time::{Duration, Instant};

use jvmti_bindings::sys::jni::{JNIEnv, JavaVM, jobject};

use crate::idle::Idle;
use crate::jvm::{self, Jvmti};
use crate::stack;
use crate::standstill::{self, Doing};

/// Looks while nothing but idle workers is left.
const LOOKS: u32 = 4;
/// The part of a processor that the process may use meanwhile, in percent: compilers end their work.
const BUSY: u128 = 50;

/// Where a worker waits for its next task: class and method.
const WAITS_FOR_TASK: [(&str, &str); 5] = [
    ("java.util.concurrent.ThreadPoolExecutor", "getTask"),
    ("java.util.concurrent.ForkJoinPool", "awaitWork"),
    ("java.util.TimerThread", "mainLoop"),
    ("kotlinx.coroutines.scheduling.CoroutineScheduler$Worker", "park"),
    ("kotlinx.coroutines.scheduling.CoroutineScheduler$Worker", "tryPark"),
];

/// Between the thread and its wait for a task stands only code of these packages.
const OF_POOLS: [&str; 4] = ["java.", "jdk.", "sun.", "kotlinx.coroutines."];

/// A queue whose workers wait for the time of a task that they have.
const DELAYED: &str = "Delayed";

/// Looks at the threads now and then.
pub struct IdlePools {
    next: Instant,
    /// Since when nothing but idle workers was seen.
    since: Option<Instant>,
    /// Processor time of the process at the last look, and when that was.
    used: (Duration, Instant),
}

/// Idle workers, and no other thread that keeps the program alive.
#[derive(Debug)]
pub struct IdleWorkers {
    /// Their names.
    pub threads: Vec<String>,
    /// Whether they wait without a limit; else the program ends by itself when their time is over.
    pub forever: bool,
}

impl IdlePools {
    /// Nothing seen yet.
    pub fn new() -> IdlePools {
        IdlePools {
            next: Instant::now(),
            since: None,
            used: (standstill::processor_time(), Instant::now()),
        }
    }

    /// Looks, if it is time: the idle workers, if nothing else has been left for so long.
    pub fn look(&mut self, vm: *mut JavaVM, jvmti: Jvmti, patience: Duration) -> Option<IdleWorkers> {
        let now = Instant::now();
        if now < self.next {
            return None;
        }
        self.next = now + patience / LOOKS;
        let (used, before) = std::mem::replace(&mut self.used, (standstill::processor_time(), now));
        let busy = self.used.0.saturating_sub(used).as_nanos() * 100 > now.duration_since(before).as_nanos() * BUSY;
        let workers = match busy {
            true => None,
            false => jvm::attached(vm, |env| idle_workers(jvmti, env)).flatten(),
        };
        let Some(workers) = workers else {
            self.since = None;
            return None;
        };
        let since = *self.since.get_or_insert(now);
        (now.duration_since(since) >= patience && !Idle::has_children()).then_some(workers)
    }
}

fn idle_workers(jvmti: Jvmti, env: *mut JNIEnv) -> Option<IdleWorkers> {
    let mut workers = IdleWorkers {
        threads: Vec::new(),
        forever: false,
    };
    for (thread, state) in standstill::live_threads(jvmti)? {
        let (name, daemon) = jvm::thread_info(jvmti, env, thread)?;
        if standstill::OF_THE_JVM.contains(&name.as_str()) || jvm::is_watch(&name) {
            continue;
        }
        let doing = Doing::of(state);
        match doing {
            Doing::Waits | Doing::Dozes if is_idle_worker(jvmti, env, thread, doing) => {
                if !daemon {
                    workers.threads.push(name);
                    workers.forever |= doing == Doing::Waits;
                }
            }
            // No thread is left that would wake it.
            Doing::Waits if daemon => {}
            _ => return None,
        }
    }
    (!workers.threads.is_empty()).then_some(workers)
}

/// Whether a thread that waits is a worker without a task. Carriers are none: the virtual threads that they run are not in the list of threads.
fn is_idle_worker(jvmti: Jvmti, env: *mut JNIEnv, thread: jobject, doing: Doing) -> bool {
    // SAFETY: a live reference.
    let class = unsafe { ((**env).GetObjectClass)(env, thread) };
    if jvm::class_name(jvmti, env, class) == "jdk.internal.misc.CarrierThread" {
        return false;
    }
    for frame in stack::frames(jvmti, thread) {
        let Some(class) = stack::declaring_class(jvmti, &frame) else {
            return false;
        };
        let class = jvm::class_name(jvmti, env, class);
        if !OF_POOLS.iter().any(|package| class.starts_with(package))
            || doing == Doing::Dozes && class.contains(DELAYED)
        {
            return false;
        }
        let method = stack::method_name(jvmti, &frame).unwrap_or_default();
        if WAITS_FOR_TASK.contains(&(class.as_str(), method.as_str())) {
            // A timer that waits with a limit has a task.
            return doing == Doing::Waits || method != "mainLoop";
        }
    }
    false
}
