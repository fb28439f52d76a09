//! Static analysis of class files.
