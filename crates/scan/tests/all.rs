//! The scan on classes of every kind, one module per subject.

mod common;
mod depth;
mod inputs;
mod jdk;
mod jdk_cache;
mod new_rules;
mod order;
mod paper;
mod paper_cases;
mod rules;
mod shapes;
mod stale;
