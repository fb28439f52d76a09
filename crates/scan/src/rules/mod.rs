//! The rules, one file each. A file's comment is the rule's page, which `ravel explain` prints: both are made of one text.

pub mod double_checked;
pub mod guarded_by;
pub mod lock_order;
pub mod lock_pattern;
pub mod naked_notify;
pub mod reassigned_lock;
pub mod wait_loop;

use ravel_analysis::finding::Rule;

/// What `ravel scan` looks for.
pub const RULES: [Rule; 7] = [
    Rule::LockPattern,
    Rule::LockOrder,
    Rule::GuardedBy,
    Rule::DoubleCheckedLocking,
    Rule::ReassignedLock,
    Rule::WaitOutsideLoop,
    Rule::NakedNotify,
];
