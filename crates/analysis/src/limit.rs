//! Why a finding got no further than its evidence: words for people, and the kinds of obstacle for code that decides.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// What stood in the way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LimitKind {
    /// No run was made for the finding.
    NotTried,
    /// The user interrupted.
    Interrupted,
    /// The budget was used up.
    Budget,
    /// A run took another path although its threads read what they read when they were recorded.
    MayDiffer,
    /// A run did not follow its schedule.
    LeftSchedule,
    /// A thread waited for something that was not recorded.
    WaitedOutside,
    /// Runs with the pattern could not be compared with serial ones.
    NotCompared,
    /// What was not recorded may order the threads.
    OrderedOutside,
}

/// Why a finding got no further. A report keeps the words alone.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Limit {
    words: String,
    kinds: BTreeSet<LimitKind>,
}

impl Limit {
    /// The words, and what stood in the way.
    pub fn new(words: impl Into<String>, kinds: impl IntoIterator<Item = LimitKind>) -> Limit {
        Limit {
            words: words.into(),
            kinds: kinds.into_iter().collect(),
        }
    }

    /// Why a finding was not tried when the user interrupted.
    pub fn interrupted() -> Limit {
        let kinds = [LimitKind::NotTried, LimitKind::Interrupted];
        Limit::new("not tried: interrupted", kinds)
    }

    /// Why a finding was not tried when the budget was used up.
    pub fn no_time() -> Limit {
        let kinds = [LimitKind::NotTried, LimitKind::Budget];
        Limit::new("not tried: the time ran out (--budget)", kinds)
    }

    /// Why a race of the recorded run itself is not shown.
    pub fn ordered_outside() -> Limit {
        Limit::new(
            "held back: frameworks that were not recorded may order the threads (--keep-frameworks)",
            [LimitKind::OrderedOutside],
        )
    }

    /// Whether this stood in the way.
    pub fn has(&self, kind: LimitKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Whether nothing stands in the way.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words.
    pub fn as_str(&self) -> &str {
        &self.words
    }

    /// This, and after it another: `no thread came there; then the time was used up`.
    #[must_use]
    pub fn then(self, other: Limit) -> Limit {
        let words = format!("{}; then {}", self.words, other.words);
        self.with(words, other)
    }

    /// This, explained by another: `the run left the schedule: thread main/0 slept`.
    #[must_use]
    pub fn because(self, other: Limit) -> Limit {
        let words = format!("{}: {}", self.words, other.words);
        self.with(words, other)
    }

    /// This, with a remark: `it ended with exit status: 0 (the JVM was killed)`.
    #[must_use]
    pub fn noting(self, remark: &Limit) -> Limit {
        let words = format!("{} ({})", self.words, remark.words);
        self.with(words, remark.clone())
    }

    fn with(self, words: String, other: Limit) -> Limit {
        Limit {
            words,
            kinds: self.kinds.into_iter().chain(other.kinds).collect(),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl From<String> for Limit {
    fn from(words: String) -> Limit {
        Limit::new(words, [])
    }
}

impl From<&str> for Limit {
    fn from(words: &str) -> Limit {
        Limit::new(words, [])
    }
}

impl From<Limit> for String {
    fn from(limit: Limit) -> String {
        limit.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_kinds_are_joined_in_order() {
        let left = Limit::new("the run left the schedule", [LimitKind::LeftSchedule]);
        let both = left.because("thread main/0 slept".into()).then(Limit::no_time());
        assert_eq!(
            both.as_str(),
            "the run left the schedule: thread main/0 slept; then not tried: the time ran out (--budget)"
        );
        assert!(both.has(LimitKind::LeftSchedule) && both.has(LimitKind::Budget) && !both.has(LimitKind::MayDiffer));
    }

    #[test]
    fn a_report_keeps_the_words() {
        let json = serde_json::to_string(&Limit::interrupted()).expect("JSON");
        assert_eq!(json, "\"not tried: interrupted\"");
        let read: Limit = serde_json::from_str(&json).expect("a limit");
        assert_eq!(
            (read.as_str(), read.has(LimitKind::NotTried)),
            ("not tried: interrupted", false)
        );
    }
}
