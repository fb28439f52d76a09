//! Reads, edits and writes class files.
