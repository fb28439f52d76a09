//! Whether a forced run printed what no serial run prints, and in which line.

use std::collections::BTreeMap;
use std::sync::Arc;

use ravel_analysis::finding::{Outcome, OutcomeKind};

use super::controls::Controls;
use super::harm::{Harm, alike};
use crate::runner::Forced;

/// How an output differs from all others that it is compared with.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Difference {
    /// A line that none of them has.
    New(String),
    /// A line that is there so many times, and in none of the others more than so many times.
    More(String, usize, usize),
    /// A line that is there so many times, and in each of the others at least so many times.
    Fewer(String, usize, usize),
    /// Lines of several others, which none of them has together.
    Mixture,
    /// The same lines as in some other.
    Order,
}

impl Difference {
    /// The difference, with what is said of the others in front of a line that they lack, or have.
    fn against(&self, none: &str, every: &str) -> String {
        match self {
            Difference::New(line) => format!("{line:?}, which {none}"),
            Difference::More(line, count, most) => {
                format!("{line:?} {}, which {none} more than {}", times(*count), times(*most))
            }
            Difference::Fewer(line, 0, _) => format!("no {line:?}, which {every}"),
            Difference::Fewer(line, count, least) => {
                format!("{line:?} {}, which {every} at least {}", times(*count), times(*least))
            }
            Difference::Mixture => format!("lines that {none} together"),
            Difference::Order => format!("its lines in an order that {none}"),
        }
    }

    /// The difference by itself.
    fn alone(&self) -> String {
        match self {
            Difference::New(line) => format!("{line:?}"),
            Difference::More(line, count, _) => format!("{line:?} {}", times(*count)),
            Difference::Fewer(line, 0, _) => format!("no {line:?}"),
            Difference::Fewer(line, count, _) => format!("{line:?} only {}", times(*count)),
            Difference::Mixture => "lines of several orders together".to_string(),
            Difference::Order => "its lines in a different order".to_string(),
        }
    }
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_string(),
        2 => "twice".to_string(),
        _ => format!("{count} times"),
    }
}

fn lines(text: &str) -> BTreeMap<&str, usize> {
    let mut lines = BTreeMap::new();
    for line in text.lines() {
        *lines.entry(line).or_default() += 1;
    }
    lines
}

/// How a text differs from these, which are all others; the first line of the text that does comes first.
fn difference(text: &str, usual: &[String]) -> Difference {
    let own = lines(text);
    let usual: Vec<BTreeMap<&str, usize>> = usual.iter().map(|text| lines(text)).collect();
    let counts = |line: &str| {
        let mut counts: Vec<usize> = usual.iter().map(|text| text.get(line).copied().unwrap_or(0)).collect();
        counts.sort_unstable();
        (
            counts.first().copied().unwrap_or(0),
            counts.last().copied().unwrap_or(0),
        )
    };
    if let Some(line) = text.lines().find(|line| counts(line).1 == 0) {
        return Difference::New(line.to_string());
    }
    let more = text.lines().find(|line| own[line] > counts(line).1);
    if let Some(line) = more {
        return Difference::More(line.to_string(), own[line], counts(line).1);
    }
    for line in usual.iter().flat_map(|text| text.keys()) {
        let count = own.get(line).copied().unwrap_or(0);
        if count < counts(line).0 {
            return Difference::Fewer(line.to_string(), count, counts(line).0);
        }
    }
    match usual.contains(&own) {
        true => Difference::Order,
        false => Difference::Mixture,
    }
}

/// Output that no serial run writes, if output is the same whenever the same schedule is forced.
pub(super) fn outputs(runs: &[Arc<Forced>], controls: &Controls) -> Option<Harm> {
    let ended = |run: &Arc<Forced>| !run.hung() && run.deadlock().is_none();
    let steady = controls
        .orders
        .iter()
        .all(|order| order.iter().all(|run| run.output == order[0].output))
        && runs.iter().all(|run| run.output == runs[0].output)
        && runs.iter().chain(controls.runs()).all(ended);
    let new = controls.runs().all(|run| run.output != runs[0].output);
    if !steady || !new {
        return None;
    }
    let text = String::from_utf8_lossy(&runs[0].output).into_owned();
    let usual: Vec<String> = controls
        .orders
        .iter()
        .map(|order| String::from_utf8_lossy(&order[0].output).into_owned())
        .collect();
    let difference = difference(&text, &usual);
    let message = match controls.missing + usize::from(controls.others_between) {
        0 => format!(
            "the program printed {}",
            difference.against("no serial order prints", "every serial order prints")
        ),
        _ => format!(
            "the program printed {}; {} not",
            difference.alone(),
            controls.words("does", "do")
        ),
    };
    Some(Harm {
        outcome: Outcome::new(OutcomeKind::Output, message),
        steady: alike(controls, |run| run.output.clone()),
        missing: controls.missing,
        others_between: controls.others_between,
        labels: Vec::new(),
    })
}

/// What a serial run printed and the forced run did not.
pub(super) fn printed_instead(serial: &[u8], forced: &[u8]) -> String {
    let [serial, forced] = [serial, forced].map(|text| String::from_utf8_lossy(text).into_owned());
    format!("printed {}", difference(&serial, &[forced]).alone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, usual: &[&str]) -> String {
        let usual: Vec<String> = usual.iter().map(|text| text.to_string()).collect();
        difference(text, &usual).against("no serial order prints", "every serial order prints")
    }

    #[test]
    fn a_serial_order_tells_what_it_printed_itself() {
        let told = |serial: &str, forced: &str| printed_instead(serial.as_bytes(), forced.as_bytes());
        assert_eq!(told("start\nleft: 1\n", "start\nleft: -1\n"), "printed \"left: 1\"");
        assert_eq!(told("load\n1\n", "load\nload\n1\n"), "printed \"load\" only once");
        assert_eq!(told("1\n", "1\nfailed\n"), "printed no \"failed\"");
    }

    #[test]
    fn the_line_that_differs_is_told_with_how_often_it_is_there() {
        assert_eq!(told("a\nx\n", &["a\nb\n"]), "\"x\", which no serial order prints");
        assert_eq!(
            told("load\nload\n1\n", &["load\n1\n"]),
            "\"load\" twice, which no serial order prints more than once"
        );
        assert_eq!(
            told("1\n", &["load\n1\n"]),
            "no \"load\", which every serial order prints"
        );
        assert_eq!(
            told("a\n", &["a\na\n", "a\na\na\n"]),
            "\"a\" once, which every serial order prints at least twice"
        );
        assert_eq!(
            told("a\nd\n", &["a\nb\n", "c\nd\n"]),
            "lines that no serial order prints together"
        );
        assert_eq!(
            told("b\na\n", &["a\nb\n"]),
            "its lines in an order that no serial order prints"
        );
    }
}
