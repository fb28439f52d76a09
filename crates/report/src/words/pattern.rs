//! The pattern that the steps of a finding have, among all that support it. A finding merged of many observations has many patterns; the
//! reader sees one interleaving, and its pattern is the one to name.

use ravel_analysis::finding::Finding;

/// A step of a pattern: whether it writes, the thread and the variable, both numbered as they first come.
type PatternStep = (bool, usize, usize);

/// The finding's pattern that its steps have, if one is.
pub fn of_steps(finding: &Finding) -> Option<String> {
    let steps: Option<Vec<(bool, &str, &str)>> = finding
        .steps
        .iter()
        .map(|step| {
            let writes = match step.op.as_str() {
                "read" => false,
                "write" | "update" => true,
                _ => return None,
            };
            // The elements of an array, and the parts of an object of the JDK, have one name.
            Some((writes, step.thread.as_str(), step.variable.as_str()))
        })
        .collect();
    let wanted = numbered(steps?);
    let same = |pattern: &&String| {
        let own = parse(pattern);
        // Observations on one location name none in their patterns.
        let one_variable: Vec<PatternStep> = own.iter().map(|step| (step.0, step.1, 0)).collect();
        own == wanted || wanted.iter().all(|step| step.2 == 0) && one_variable == wanted
    };
    let exact = finding.patterns.iter().find(|pattern| parse(pattern) == wanted);
    exact.or_else(|| finding.patterns.iter().find(same)).cloned()
}

/// The steps of `R W' W`, `R1 W'1 R'2 W2` or `W(x) R'(y) R'(x) W(y)`.
fn parse(pattern: &str) -> Vec<PatternStep> {
    let step = |text| {
        let text: &str = text;
        let variable: String = text.chars().filter(|c| !matches!(c, 'R' | 'W' | '\'')).collect();
        (text.starts_with('W'), text.matches('\'').count(), variable)
    };
    numbered(pattern.split_whitespace().map(step).collect())
}

/// Numbers threads and variables in the order in which they come.
fn numbered<T: PartialEq, V: PartialEq>(steps: Vec<(bool, T, V)>) -> Vec<PatternStep> {
    let (mut threads, mut variables): (Vec<T>, Vec<V>) = (Vec::new(), Vec::new());
    steps
        .into_iter()
        .map(|(writes, thread, variable)| (writes, number(&mut threads, thread), number(&mut variables, variable)))
        .collect()
}

fn number<T: PartialEq>(known: &mut Vec<T>, one: T) -> usize {
    match known.iter().position(|other| *other == one) {
        Some(at) => at,
        None => {
            known.push(one);
            known.len() - 1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravel_analysis::finding::{Evidence, FindingStep, Rule};

    fn shown(patterns: &[&str], steps: &[(&str, &str, &str)]) -> Option<String> {
        let step = |(op, thread, variable): &(&str, &str, &str)| FindingStep {
            op: (*op).to_owned(),
            thread: (*thread).to_owned(),
            variable: (*variable).to_owned(),
            ..FindingStep::default()
        };
        of_steps(&Finding {
            patterns: patterns.iter().map(|name| (*name).to_owned()).collect(),
            steps: steps.iter().map(step).collect(),
            ..Finding::new("1".to_owned(), Rule::Atomicity, Evidence::Harmful)
        })
    }

    #[test]
    fn the_pattern_of_the_steps_is_found_among_others() {
        let lost = [("read", "a", "n"), ("write", "b", "n"), ("write", "a", "n")];
        assert_eq!(shown(&["W R'", "R W' R", "R W' W"], &lost).as_deref(), Some("R W' W"));
        assert_eq!(shown(&["W R'"], &lost), None);
        let torn = [
            ("write", "a", "low"),
            ("read", "b", "high"),
            ("read", "b", "low"),
            ("write", "a", "high"),
        ];
        let both = ["W R' R' W", "W(x) R'(y) R'(x) W(y)"];
        assert_eq!(shown(&both, &torn).as_deref(), Some("W(x) R'(y) R'(x) W(y)"));
        assert_eq!(shown(&["W'2 R1 R2 W'1"], &torn).as_deref(), Some("W'2 R1 R2 W'1"));
    }

    #[test]
    fn locks_have_no_pattern() {
        assert_eq!(shown(&["R W' W"], &[("acquire", "a", "lock")]), None);
    }
}
