//! Owners, plans and reduced events, one module per subject.

#[path = "../../scan/tests/common/mod.rs"]
mod common;
mod own;
mod reduced;
