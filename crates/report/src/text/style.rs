//! Colours and line-drawing characters of the terminal format, each with its plain fallback. Everything is measured
//! before it is painted, so that escape codes never count as columns.

use ravel_analysis::finding::Evidence;

/// Whether colours are wanted: `NO_COLOR` wins over everything but an explicit wish, then it depends on the terminal.
pub fn colors_wanted(explicit: Option<bool>, is_terminal: bool, no_color: Option<&str>, term: Option<&str>) -> bool {
    if let Some(wish) = explicit {
        return wish;
    }
    is_terminal && no_color.is_none_or(str::is_empty) && term != Some("dumb")
}

/// Whether the locale can show Unicode, from the values of `LC_ALL`, `LC_CTYPE` and `LANG`: the first that is set counts.
pub fn unicode_wanted(locale: [Option<&str>; 3]) -> bool {
    match locale.into_iter().flatten().find(|v| !v.is_empty()) {
        Some(name) => {
            let name = name.to_ascii_lowercase();
            name.contains("utf-8") || name.contains("utf8")
        }
        None => !cfg!(unix),
    }
}

/// How a piece of text looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// Headings, names.
    Bold,
    /// What can be skipped.
    Dim,
    /// What went wrong.
    Bad,
    /// What may go wrong.
    Warn,
    /// What is good to know.
    Note,
    /// What to do.
    Good,
}

/// Paints and draws.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    color: bool,
    /// The drawing characters.
    pub glyphs: Glyphs,
}

/// Characters to draw with.
#[derive(Clone, Copy, Debug)]
pub struct Glyphs {
    /// Between lanes and beside source lines.
    pub bar: &'static str,
    /// Under headings.
    pub rule: &'static str,
    /// Where `rule` meets `bar`.
    pub cross: &'static str,
    /// Before a place.
    pub arrow: &'static str,
    /// Before the decisive step.
    pub decisive: &'static str,
    /// For what is left out.
    pub ellipsis: &'static str,
    /// For source lines left out.
    pub gap: &'static str,
    /// Between facts on one line.
    pub dot: &'static str,
    /// Between a frame and its caller.
    pub from: &'static str,
}

const UNICODE: Glyphs = Glyphs {
    bar: "│",
    rule: "─",
    cross: "┼",
    arrow: "─▶",
    decisive: "▶",
    ellipsis: "…",
    gap: "┆",
    dot: "·",
    from: "←",
};

const ASCII: Glyphs = Glyphs {
    bar: "|",
    rule: "-",
    cross: "+",
    arrow: "->",
    decisive: ">",
    ellipsis: "..",
    gap: ":",
    dot: "-",
    from: "<-",
};

impl Style {
    /// A style with or without colours and Unicode.
    pub fn new(color: bool, unicode: bool) -> Style {
        Style {
            color,
            glyphs: if unicode { UNICODE } else { ASCII },
        }
    }

    /// The text in this look.
    pub fn paint(&self, look: Look, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match look {
            Look::Bold => "1",
            Look::Dim => "2",
            Look::Bad => "1;31",
            Look::Warn => "1;33",
            Look::Note => "1;36",
            Look::Good => "1;32",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// The look of a step of the ladder.
    pub fn of_evidence(evidence: Evidence) -> Look {
        match evidence {
            Evidence::Harmful => Look::Bad,
            Evidence::Confirmed => Look::Warn,
            Evidence::Witnessed | Evidence::Predicted => Look::Note,
            Evidence::Suspected => Look::Bold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_is_respected() {
        assert!(colors_wanted(None, true, None, Some("xterm")));
        assert!(
            colors_wanted(None, true, Some(""), Some("xterm")),
            "an empty NO_COLOR does not count"
        );
        assert!(!colors_wanted(None, true, Some("1"), Some("xterm")));
        assert!(!colors_wanted(None, true, None, Some("dumb")));
        assert!(!colors_wanted(None, false, None, Some("xterm")));
        assert!(colors_wanted(Some(true), false, Some("1"), None));
        assert!(!colors_wanted(Some(false), true, None, None));
    }

    #[test]
    fn the_first_locale_that_is_set_counts() {
        assert!(unicode_wanted([None, Some(""), Some("de_DE.UTF-8")]));
        assert!(!unicode_wanted([Some("C"), None, Some("de_DE.UTF-8")]));
    }

    #[test]
    fn ascii_means_ascii() {
        let g = ASCII;
        for glyph in [
            g.bar, g.rule, g.cross, g.arrow, g.decisive, g.ellipsis, g.gap, g.dot, g.from,
        ] {
            assert!(glyph.is_ascii());
        }
    }
}
