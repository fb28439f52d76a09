//! The rules, one file each; a file's comment is the rule's page.

pub mod double_checked;
pub mod guarded_by;
pub mod lock_order;
pub mod lock_pattern;
pub mod naked_notify;
pub mod reassigned_lock;
pub mod wait_loop;

/// What `ravel scan` looks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ScanRule {
    /// A lock acquired twice in turn under another lock.
    LockPattern,
    /// Locks taken in a circle.
    LockOrder,
    /// A field used without the lock that its annotation names.
    GuardedBy,
    /// Double-checked locking on a field that is not volatile.
    DoubleCheckedLocking,
    /// A lock on a field that is reassigned.
    ReassignedLock,
    /// A wait that no loop surrounds.
    WaitOutsideLoop,
    /// A notification without a change of state.
    NakedNotify,
}

impl ScanRule {
    /// All rules.
    pub const ALL: [ScanRule; 7] = [
        ScanRule::LockPattern,
        ScanRule::LockOrder,
        ScanRule::GuardedBy,
        ScanRule::DoubleCheckedLocking,
        ScanRule::ReassignedLock,
        ScanRule::WaitOutsideLoop,
        ScanRule::NakedNotify,
    ];

    /// The rule's name.
    pub fn name(self) -> &'static str {
        match self {
            ScanRule::LockPattern => "lock-pattern",
            ScanRule::LockOrder => "lock-order",
            ScanRule::GuardedBy => "guarded-by",
            ScanRule::DoubleCheckedLocking => "double-checked-locking",
            ScanRule::ReassignedLock => "reassigned-lock",
            ScanRule::WaitOutsideLoop => "wait-outside-loop",
            ScanRule::NakedNotify => "naked-notify",
        }
    }
}
