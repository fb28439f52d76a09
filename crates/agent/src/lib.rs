//! The agent that the JVM loads.
