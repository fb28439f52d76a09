//! # double-checked-locking
//!
//! A field is tested, a lock is taken, the field is tested again and assigned; the field is not volatile.
//!
//! ## Why it is bad
//!
//! The first test happens without the lock. Another thread may see the field assigned before it sees the object's own
//! fields, and work with a half-made object.
//!
//! ## Example
//!
//! ```java
//! if (helper == null) {
//!     synchronized (this) {
//!         if (helper == null) helper = new Helper();
//!     }
//! }
//! ```
//!
//! ## Fix
//!
//! Declare the field `volatile`, or make it in a static holder class.
//!
//! ## Reference
//!
//! The Java Language Specification, chapter 17 (memory model).

use ravel_classfile::access;

use super::ScanRule;
use crate::program::{LocalKind, Program};
use crate::report::{Draft, step};

/// All occurrences in wanted classes.
pub fn check(program: &Program) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (method, fact) in super::wait_loop::local_facts(program, LocalKind::DoubleChecked) {
        let Some(field) = fact.field.and_then(|field| program.field(field)) else {
            continue;
        };
        let (Some(body), true) = (
            program.body(method),
            field.access & (access::VOLATILE | access::FINAL) == 0,
        ) else {
            continue;
        };
        let (class, member) = program.symbols.members(field.pair);
        // An int or boolean cannot be half made, but what it announces can.
        let name = format!(
            "{}.{}",
            program.symbols.class_text(class),
            program.symbols.member_name(member)
        );
        let (test, line) = (body.line(fact.other), body.line(fact.pc));
        drafts.push(Draft {
            rule: ScanRule::DoubleCheckedLocking,
            method,
            line,
            subject: name.clone(),
            variables: vec![name.clone()],
            steps: vec![
                step(program, method, test, "read", name.clone(), Vec::new()),
                step(program, method, line, "write", name.clone(), Vec::new()),
            ],
            message: format!("{name} is tested without the lock under which it is assigned, and is not volatile"),
            help: format!("Declare {name} volatile."),
            units: Vec::new(),
            shown: true,
        });
    }
    drafts
}
