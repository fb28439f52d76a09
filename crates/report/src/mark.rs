//! Where in its source line a step touches something: a mark under it in a terminal, the columns of a region in SARIF.

use std::ops::Range;

use ravel_analysis::finding::FindingStep;
use ravel_trace::naming;

/// The bytes of a line that a step touches: the name of its variable if that is there, else all of the code.
pub fn touched(text: &str, step: &FindingStep) -> Range<usize> {
    if let Some(name) = naming::variable::word(&step.variable)
        && let Some(at) = find_word(text, name)
    {
        return at..at + name.len();
    }
    let start = text.len() - text.trim_start().len();
    start..start + text.trim().len()
}

/// Where a word stands on its own.
fn find_word(text: &str, word: &str) -> Option<usize> {
    if word.is_empty() {
        return None;
    }
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let words: Vec<usize> = text
        .match_indices(word)
        .map(|(at, _)| at)
        .filter(|&at| {
            !text[..at].chars().next_back().is_some_and(part_of_name)
                && !text[at + word.len()..].chars().next().is_some_and(part_of_name)
        })
        .collect();
    // A method may bear the name of the field that it reads.
    let is_call = |at: usize| text[at + word.len()..].trim_start().starts_with('(');
    words
        .iter()
        .copied()
        .find(|&at| !is_call(at))
        .or(words.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_whole_words_only() {
        assert_eq!(find_word("itemsLeft = items;", "items"), Some(12));
        assert_eq!(find_word("itemsLeft", "items"), None);
        assert_eq!(find_word("fun left() = left", "left"), Some(13));
        assert_eq!(find_word("left()", "left"), Some(0));
        assert_eq!(find_word("x", ""), None);
    }

    #[test]
    fn a_line_without_the_name_is_marked_whole() {
        let step = FindingStep {
            variable: "shop.Stock.items".to_owned(),
            ..FindingStep::default()
        };
        assert_eq!(touched("    items -= n;", &step), 4..9);
        assert_eq!(touched("    take(n);  ", &step), 4..12);
        assert_eq!(touched("", &step), 0..0);
    }
}
