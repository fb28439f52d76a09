//! Takes out of a report what the project has accepted: suppressions in `ravel.toml` and the baseline. What no longer
//! applies is said, so that neither file rots.

use ravel_analysis::finding::{Finding, Report};
use ravel_trace::naming;

use super::{Config, Day, Suppression};
use crate::Notes;
use crate::baseline::Baseline;
use crate::words;

/// A report without what was accepted.
#[derive(Clone, Debug)]
pub struct Applied {
    /// What is left.
    pub report: Report,
    /// How many findings suppressions took out.
    pub suppressed: usize,
    /// How many findings the baseline took out.
    pub baselined: usize,
    /// Suppressions that matched nothing or have ended, stale entries of the baseline.
    pub warnings: Vec<String>,
}

impl Applied {
    /// Adds what was done to the notes of a summary.
    pub fn note(&self, notes: &mut Notes) {
        notes.suppressed += self.suppressed;
        notes.baselined += self.baselined;
        notes.warnings.extend(self.warnings.iter().cloned());
    }
}

/// Takes out what `config` suppresses and `baseline` accepts.
pub fn apply(report: Report, config: &Config, baseline: Option<&Baseline>, today: Day) -> Applied {
    let mut used = vec![false; config.suppressions.len()];
    let mut warnings = Vec::new();
    let stale = baseline.map(|b| b.stale(&report)).unwrap_or_default();
    let mut suppressed = 0;
    let mut baselined = 0;
    let mut report = report;
    let mut stays = |finding: &Finding| {
        let mut hit = false;
        for (suppression, used) in config.suppressions.iter().zip(&mut used) {
            if suppression.covers(finding) {
                *used = true;
                hit |= suppression.until.is_none_or(|until| today <= until);
            }
        }
        if hit {
            suppressed += 1;
            return false;
        }
        if let Some(accepted) = baseline.and_then(|b| b.outgrown(finding)) {
            warnings.push(format!(
                "{} is {} in the baseline, and {} now",
                finding.id,
                words::evidence(accepted),
                words::evidence(finding.evidence)
            ));
        }
        let accepted = baseline.is_some_and(|b| b.accepts(finding));
        baselined += usize::from(accepted);
        !accepted
    };
    report.findings.retain(&mut stays);
    report.suspicions.retain(&mut stays);
    for (suppression, used) in config.suppressions.iter().zip(used) {
        let what = format!(
            "the suppression in ravel.toml, line {} ({})",
            suppression.line, suppression.reason
        );
        match suppression.until {
            Some(until) if today > until => warnings.push(format!("{what} expired on {until}")),
            _ if !used => warnings.push(format!("{what} matches no finding")),
            _ => {}
        }
    }
    if !stale.is_empty() {
        warnings.push(format!(
            "{} of the baseline not found again: {}; `ravel baseline --prune` drops {}",
            if stale.len() == 1 {
                "1 entry".to_owned()
            } else {
                format!("{} entries", stale.len())
            },
            stale.join(", "),
            if stale.len() == 1 { "it" } else { "them" },
        ));
    }
    Applied {
        report,
        suppressed,
        baselined,
        warnings,
    }
}

impl Suppression {
    /// Whether everything that is named matches the finding, whatever the day.
    pub fn covers(&self, finding: &Finding) -> bool {
        let classes = || {
            let of_steps = finding.steps.iter().map(|s| s.class.as_str());
            of_steps.chain(finding.variables.iter().filter_map(|v| naming::variable::class_of(v)))
        };
        let methods = || {
            let of_units = finding.units.iter().map(|u| u.method.clone());
            of_units.chain(finding.steps.iter().map(|s| format!("{}.{}", s.class, s.method)))
        };
        self.id.as_ref().is_none_or(|id| *id == finding.id)
            && self.rule.is_none_or(|rule| rule == finding.rule)
            && self
                .class
                .as_ref()
                .is_none_or(|pattern| classes().any(|class| matches(pattern, class)))
            && self
                .field
                .as_ref()
                .is_none_or(|pattern| finding.variables.iter().any(|v| matches(pattern, v)))
            && self.method.as_ref().is_none_or(|pattern| {
                methods().any(|m| matches(pattern, &m) || matches(pattern, naming::without_descriptor(&m)))
            })
    }
}

/// Whether a name matches a pattern in which `*` stands for any run of characters. Linear in both: a pattern is the
/// user's, but there may be many names.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let head = parts.next().unwrap_or("");
    let Some(mut rest) = name.strip_prefix(head) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, expected) in [
            ("shop.Stock.items", "shop.Stock.items", true),
            ("shop.Stock.items", "shop.Stock.itemsLeft", false),
            ("shop.*", "shop.Stock.items", true),
            ("*.items", "shop.Stock.items", true),
            ("shop.*.items", "shop.items", false),
            ("*", "", true),
            ("**", "x", true),
            ("a*a", "a", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "acb", false),
            ("", "x", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
