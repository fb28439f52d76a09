//! # naked-notify
//!
//! `notify()` or `notifyAll()` is called in a critical section that changes nothing.
//!
//! ## Why it is bad
//!
//! A waiting thread waits for a state. If the state did not change under the lock, either nobody needs waking, or the change
//! was made without the lock and the waiter may miss it.
//!
//! ## Example
//!
//! ```java
//! done = true;                            // not under the lock
//! synchronized (lock) { lock.notifyAll(); }
//! ```
//!
//! ## Fix
//!
//! ```java
//! synchronized (lock) { done = true; lock.notifyAll(); }
//! ```
//!
//! ## Reference
//!
//! The documentation of `java.lang.Object.wait`.

use super::ScanRule;
use crate::program::{LocalKind, Program};
use crate::report::{Draft, step};

/// All occurrences in wanted classes.
pub fn check(program: &Program) -> Vec<Draft> {
    let facts = super::wait_loop::local_facts(program, LocalKind::NakedNotify);
    facts
        .map(|(method, fact)| {
            let line = program.body(method).map_or(0, |body| body.line(fact.pc));
            Draft {
                rule: ScanRule::NakedNotify,
                method,
                line,
                subject: String::new(),
                variables: Vec::new(),
                steps: vec![step(program, method, line, "notify", String::new(), Vec::new())],
                message: "threads are notified and nothing was changed under the lock".to_owned(),
                help: "Change the state that the others wait for under the same lock, before the notification."
                    .to_owned(),
                units: Vec::new(),
                shown: true,
            }
        })
        .collect()
}
