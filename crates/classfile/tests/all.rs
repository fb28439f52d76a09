//! Class files that are sound, one module per subject. Hostile ones have a binary of their own: it counts memory.

mod archive;
mod common;
mod edit;
mod jdk;
mod list;
