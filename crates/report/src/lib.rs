//! Findings to terminal, HTML, SARIF, JSON, JUnit.
