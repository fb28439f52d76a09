//! A scan's findings for people: one after another, with places that terminals make clickable.

use std::fmt::Write;

use ravel_analysis::finding::Finding;

use crate::program::Counts;

/// The findings that are shown, or all, as text. Few lines each: what, where, the acquisitions with the calls that lead to them, what to do.
pub fn findings(findings: &[Finding], all: bool) -> String {
    let mut out = String::new();
    for finding in findings.iter().filter(|finding| all || finding.shown) {
        let rule = finding.patterns.first().map_or("", String::as_str);
        let unit = finding.units.first().map_or("", |unit| unit.method.as_str());
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{rule} {}  {unit}\n  {}", finding.id, finding.message);
        for step in &finding.steps {
            let place = match step.line {
                0 => step.file.clone(),
                line => format!("{}:{line}", step.file),
            };
            let name = step.method.split('(').next().unwrap_or_default();
            let _ = writeln!(
                out,
                "    {:<8} {:<24} {}.{name} ({place})",
                step.op, step.variable, step.class
            );
            // The innermost place is where the lock is; the step's own place is not repeated.
            for frame in step.stack.iter().filter(|_| step.stack.len() > 1) {
                let _ = writeln!(out, "             in {frame}");
            }
        }
        let _ = writeln!(out, "  {}\n", finding.help);
    }
    out
}

/// What was read, in one paragraph.
pub fn summary(counts: &Counts, findings: &[Finding]) -> String {
    let shown = findings.iter().filter(|finding| finding.shown).count();
    let mut out = format!(
        "{shown} findings (suspected) in {} classes, {} methods, {} lines with code; {} more are held back (--all).",
        counts.wanted,
        counts.methods,
        counts.lines,
        findings.len() - shown
    );
    let _ = write!(
        out,
        " {} classes named and not found, {} calls without a target, {} reflective calls and {} native methods: taken to lock nothing.",
        counts.missing, counts.unresolved, counts.reflective, counts.native
    );
    if counts.failed + counts.failed_methods > 0 {
        let _ = write!(
            out,
            " {} classes and {} methods could not be read.",
            counts.failed, counts.failed_methods
        );
    }
    out.push('\n');
    out
}
