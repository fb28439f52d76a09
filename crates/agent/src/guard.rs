//! What the JVM calls never panics: a panic that reached the JVM would end it. The recording ends instead, and the trace and the
//! report say so.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ravel_trace::run_info::EndReason;

use crate::agent::agent;

/// Does the work; if it panics, ends the recording and gives what the caller can go on with.
pub fn guarded<R>(otherwise: impl FnOnce() -> R, work: impl FnOnce() -> R) -> R {
    let work = AssertUnwindSafe(|| {
        fail_in_tests();
        work()
    });
    catch_unwind(work).unwrap_or_else(|_| {
        // It may panic again if it was the recorder that failed; then the trace stays without an end.
        let _ = catch_unwind(|| {
            if let Some(agent) = agent() {
                agent
                    .recorder
                    .stop(EndReason::Other("an internal error of the agent".into()));
            }
        });
        otherwise()
    })
}

/// The same for work that has no result.
pub fn guard(work: impl FnOnce()) {
    guarded(|| (), work);
}

/// Only the first panic prints a line, because there may be many.
pub fn set_hook() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    std::panic::set_hook(Box::new(|info| {
        if !TOLD.swap(true, Ordering::Relaxed) {
            say(format_args!("internal error, the recording ends here: {info}"));
        }
    }));
}

/// Says something on the program's standard error, which may be closed.
pub fn say(words: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "ravel: {words}");
}

static CALLS: AtomicU64 = AtomicU64::new(0);

/// For tests: once the first thread is recorded, the call of this number panics, and every one after it.
fn fail_in_tests() {
    if let Some(agent) = agent()
        && let Some(number) = agent.recorder.options.fail
        && agent.recorder.thread_count() > 0
    {
        assert!(CALLS.fetch_add(1, Ordering::Relaxed) < number, "asked for by a test");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_gives_what_the_caller_can_go_on_with() {
        assert_eq!(guarded(|| 7, || 3), 3);
        assert_eq!(guarded(|| 7, || Vec::<i32>::new()[0]), 7);
    }
}
