//! Edits of source that certainly fix a finding, for formats that offer them. An edit needs the source, and exactly one line that it can
//! apply to; all other fixes are advice, in words.

use ravel_analysis::finding::{Finding, Rule};
use ravel_trace::naming;

use crate::SourceFinder;

/// Words that may stand before the type of a field.
const MODIFIERS: [&str; 4] = ["private", "protected", "public", "static"];

/// Text to insert into a line of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Insertion {
    /// The file, relative to the base.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What to insert.
    pub text: &'static str,
}

/// The edit that fixes a finding, if one is certain: a field of double-checked locking becomes volatile, `notify` with several conditions
/// becomes `notifyAll`.
pub fn certain(finding: &Finding, sources: &SourceFinder) -> Option<Insertion> {
    match finding.rule {
        Rule::DoubleCheckedLocking => volatile(finding, sources),
        Rule::NotifyOne => notify_all(finding, sources),
        Rule::DataRace
        | Rule::Atomicity
        | Rule::AtomicSet
        | Rule::Unserializable
        | Rule::LockDiscipline
        | Rule::LockOrder
        | Rule::Failure
        | Rule::LockPattern
        | Rule::GuardedBy
        | Rule::ReassignedLock
        | Rule::WaitOutsideLoop
        | Rule::NakedNotify
        | Rule::TestLockAssign
        | Rule::CheckThenAct
        | Rule::InconsistentSync
        | Rule::TwoGuards
        | Rule::CompoundVolatile
        | Rule::SharedFormat
        | Rule::UnsafePublication
        | Rule::UnreleasedLock
        | Rule::NestedWait => None,
    }
}

fn notify_all(finding: &Finding, sources: &SourceFinder) -> Option<Insertion> {
    const CALL: &str = "notify()";
    let step = finding.steps.first()?;
    let source = sources.find(&step.class, &step.file).filter(|source| source.in_base)?;
    let line = source.line(step.line)?;
    let mut calls = line.match_indices(CALL);
    let (at, _) = calls.next().filter(|_| calls.next().is_none())?;
    Some(Insertion {
        path: source.path.clone(),
        line: step.line as usize,
        column: line[..at + "notify".len()].chars().count() + 1,
        text: "All",
    })
}

fn volatile(finding: &Finding, sources: &SourceFinder) -> Option<Insertion> {
    let variable = finding.variables.first()?;
    let class = naming::variable::class_of(variable)?;
    let field = variable.rsplit('.').next()?;
    let file = &finding.steps.iter().find(|step| step.class == class)?.file;
    let source = sources.find(class, file).filter(|source| source.in_base)?;
    let lines = source.lines.iter().enumerate();
    let mut found = lines.filter_map(|(at, line)| Some((at, line, type_of_field(line, field)?)));
    // With two fields of one name, in two classes of the file, neither is certain.
    let (at, line, byte) = found.next().filter(|_| found.next().is_none())?;
    Some(Insertion {
        path: source.path.clone(),
        line: at + 1,
        column: line[..byte].chars().count() + 1,
        text: "volatile ",
    })
}

/// The byte at which the type of a field starts, if the line declares the field with a modifier, alone, and neither final nor volatile.
fn type_of_field(line: &str, field: &str) -> Option<usize> {
    let mut rest = line.trim_start();
    let mut modifiers = 0;
    while let Some((word, after)) = rest.split_once(' ') {
        if !MODIFIERS.contains(&word) {
            break;
        }
        modifiers += 1;
        rest = after.trim_start();
    }
    let declared = rest.split(['=', ';']).next()?.trim_end();
    let (kind, name) = declared.rsplit_once(' ')?;
    let is_type = kind.chars().all(|c| c.is_alphanumeric() || "_.$<>?[] ".contains(c));
    let is_other = kind
        .split(' ')
        .any(|word| matches!(word, "final" | "volatile" | "return" | "new"));
    let ends = rest.contains([';', '=']);
    (modifiers > 0 && name == field && is_type && !is_other && ends).then(|| line.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_declaration_of_the_field_is_edited() {
        let at = |line: &str| type_of_field(line, "helper");
        assert_eq!(at("    private static Helper helper;"), Some(19));
        assert_eq!(at("    static Map<String> helper = null;"), Some(11));
        for other in [
            "    helper = new Helper();",
            "    Helper helper;",
            "    private final Helper helper;",
            "    private volatile Helper helper;",
            "    private Helper other, helper;",
            "    public Helper helper() { return helper; }",
            "    private Helper helperOf;",
            "    return helper;",
            "",
        ] {
            assert_eq!(at(other), None, "{other}");
        }
    }
}
