//! Text in columns: how wide a string is on a terminal, cutting and wrapping it there, and making foreign text harmless.
//! Names and messages come from someone else's program; an escape sequence in an exception's message must not reach the
//! terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a string takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Foreign text on one line: control and direction-changing characters replaced, tabs and line ends as spaces.
pub fn clean(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' | '\n' | '\r' => ' ',
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// A source line: tabs to the next multiple of four, everything else as in [`clean`].
pub fn expand_tabs(line: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for c in line.trim_end().chars() {
        if c == '\t' {
            let spaces = 4 - column % 4;
            out.extend(std::iter::repeat_n(' ', spaces));
            column += spaces;
        } else {
            let shown = clean(c.encode_utf8(&mut [0; 4]));
            column += width(&shown);
            out.push_str(&shown);
        }
    }
    out
}

/// The text, its middle left out if it is wider than `limit`: the end of a path or name tells most.
pub fn fit(text: &str, limit: usize, ellipsis: &str) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let room = limit.saturating_sub(width(ellipsis));
    let head = take_columns(text, room / 3);
    let tail = take_columns_back(text, room - width(head));
    format!("{head}{ellipsis}{tail}")
}

/// The text, its end left out if it is wider than `limit`.
pub fn cut(text: &str, limit: usize, ellipsis: &str) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    format!(
        "{}{ellipsis}",
        take_columns(text, limit.saturating_sub(width(ellipsis)))
    )
}

fn take_columns(text: &str, limit: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > limit {
            return &text[..at];
        }
    }
    text
}

fn take_columns_back(text: &str, limit: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += c.width().unwrap_or(0);
        if used > limit {
            return &text[at + c.len_utf8()..];
        }
    }
    text
}

/// The text with spaces up to `columns`.
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Lines for a text whose first line starts behind something: `first` columns there, `rest` columns below.
pub fn wrap_hanging(text: &str, first: usize, rest: usize) -> Vec<String> {
    let head = wrap(text, first).into_iter().next().unwrap_or_default();
    // Runs of white space are single spaces on the first line; find where the text goes on all the same.
    let taken = head.chars().filter(|c| !c.is_whitespace()).count();
    let mut seen = 0;
    let at = text.char_indices().find(|(_, c)| {
        let done = seen == taken;
        seen += usize::from(!c.is_whitespace());
        done
    });
    let tail = at.map_or("", |(at, _)| &text[at..]).trim_start();
    let mut lines = vec![head];
    if !tail.is_empty() {
        lines.extend(wrap(tail, rest));
    }
    lines
}

/// Lines of at most `limit` columns, broken at spaces; a word that is wider is broken after a `.`, `/` or `,` if it
/// has one in reach, else anywhere.
pub fn wrap(text: &str, limit: usize) -> Vec<String> {
    let limit = limit.max(8);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let gap = usize::from(!line.is_empty());
        if width(&line) + gap + width(word) <= limit {
            if gap == 1 {
                line.push(' ');
            }
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        let mut rest = word;
        while width(rest) > limit {
            let piece = break_word(rest, limit);
            lines.push(piece.to_owned());
            rest = &rest[piece.len()..];
        }
        line.push_str(rest);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

fn break_word(word: &str, limit: usize) -> &str {
    let mut piece = take_columns(word, limit);
    if piece.is_empty() {
        // A single character wider than the limit: progress matters more than the limit.
        piece = &word[..word.chars().next().map_or(word.len(), char::len_utf8)];
    }
    match piece.rfind(['.', '/', ',']) {
        Some(at) if at > piece.len() / 2 => &piece[..=at],
        _ => piece,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(width("日本"), 4);
        assert_eq!(cut("日本語の文", 5, "…"), "日本…");
        assert_eq!(pad("日", 4), "日  ");
    }

    #[test]
    fn wrapping_never_exceeds_the_limit() {
        let text =
            "a short one, then org.example.verylongpackage.AndAVeryLongClassName$Inner.method and 日本語日本語日本語";
        for limit in 8..60 {
            for line in wrap(text, limit) {
                assert!(width(&line) <= limit, "{limit}: {line}");
            }
            let joined: String = wrap(text, limit).concat();
            assert_eq!(
                joined.replace(' ', ""),
                text.replace(' ', ""),
                "nothing is lost at {limit}"
            );
        }
    }

    #[test]
    fn a_hanging_first_line_loses_nothing() {
        let text = "one  two three\tfour five org.example.Name six";
        for first in 8..30 {
            let joined = wrap_hanging(text, first, 20).concat().replace(' ', "");
            assert_eq!(joined, "onetwothreefourfiveorg.example.Namesix", "{first}");
        }
    }

    #[test]
    fn escape_sequences_are_defused() {
        let hostile = "a\u{1b}[31mred\u{7}\u{202e}b\r\nc";
        let shown = clean(hostile);
        assert!(!shown.chars().any(char::is_control));
        assert!(!shown.contains('\u{202e}'));
    }

    #[test]
    fn the_end_of_a_path_survives() {
        let shown = fit("src/main/java/org/example/shop/Stock.java", 24, "…");
        assert!(width(&shown) <= 24 && shown.ends_with("shop/Stock.java"), "{shown}");
    }

    #[test]
    fn tabs_reach_the_next_stop() {
        assert_eq!(expand_tabs("\tx\ty"), "    x   y");
    }
}
