//! The pages that explain rules, patterns and evidence: `ravel explain` prints them, SARIF carries them, `docs/rules.md`
//! is made of them. The text of a page is the file under `rules/` that bears its name.

use ravel_analysis::finding::Rule;

use crate::format::nearest;
use crate::layout::{pad, width, wrap};
use crate::text::style::{Look, Style};
use crate::words;

/// One page.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// What to ask for, `data-race`.
    pub name: &'static str,
    /// The page, in Markdown.
    pub text: &'static str,
}

/// The page of every rule, named by its id: a rule without a page does not compile.
macro_rules! rule_pages {
    ($($(#[$doc:meta])* $name:ident, $id:literal, $family:ident;)*) => {
        fn rule_page(rule: Rule) -> Page {
            match rule {
                $(Rule::$name => Page {
                    name: $id,
                    text: include_str!(concat!("rules/", $id, ".md")),
                },)*
            }
        }
    };
}

ravel_analysis::for_each_rule!(rule_pages);

/// What the rules rest on.
const OTHER_PAGES: &[Page] = &[
    Page {
        name: "patterns",
        text: include_str!("rules/patterns.md"),
    },
    Page {
        name: "evidence",
        text: include_str!("rules/evidence.md"),
    },
    Page {
        name: "config",
        text: include_str!("rules/config.md"),
    },
];

/// All pages: the rules in their order, then what they rest on.
pub fn pages() -> impl Iterator<Item = Page> {
    let rules = Rule::ALL.iter().copied().map(rule_page);
    rules.chain(OTHER_PAGES.iter().copied())
}

/// No page has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no page `{name}`{}; the pages are {}", .nearest.map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default(), page_names())]
pub struct UnknownPage {
    /// What was asked for.
    pub name: String,
    /// What may have been meant.
    pub nearest: Option<&'static str>,
}

fn page_names() -> String {
    pages().map(|p| p.name).collect::<Vec<_>>().join(", ")
}

impl Page {
    /// The page of a rule.
    pub fn of(rule: Rule) -> Page {
        rule_page(rule)
    }

    /// The page for a question: a page's name, a step of the ladder, or a pattern such as `R W' W`.
    pub fn find(question: &str) -> Result<Page, UnknownPage> {
        let name = question.trim().to_lowercase();
        let name = match name.as_str() {
            "pattern" => "patterns",
            "rules" => "data-race",
            "ravel.toml" | "configuration" => "config",
            name if words::parse_evidence(name).is_some() => "evidence",
            _ if is_pattern(question) => "patterns",
            name => name,
        };
        pages().find(|p| p.name == name).ok_or_else(|| UnknownPage {
            name: question.to_owned(),
            nearest: nearest(name, pages().map(|p| p.name)),
        })
    }

    /// The first paragraph: what the rule is, in a sentence or two.
    pub fn summary(&self) -> String {
        let paragraph = self.text.split("\n\n").nth(1).unwrap_or("");
        paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The page for a terminal.
    pub fn render(&self, columns: usize, color: bool, unicode: bool) -> String {
        render_markdown(self.text, columns, &Style::new(color, unicode))
    }
}

fn is_pattern(question: &str) -> bool {
    let question = question.trim();
    question.contains(' ') && question.split_whitespace().all(|token| token.starts_with(['R', 'W']))
}

/// All pages as one, for `docs/rules.md`.
pub fn document() -> String {
    let mut out = String::from(
        "# Rules\n\nThe rules of Ravel: the bug, its effect, its fix, and the papers behind it. `ravel explain NAME` prints the same \
         text; [docs/examples](examples/README.md) has a sample report of each rule.\n\n",
    );
    for page in pages() {
        out.push_str(&format!("- [{0}](#{0})\n", page.name));
    }
    for page in pages() {
        out.push('\n');
        let mut in_code = false;
        for line in page.text.lines() {
            in_code ^= line.starts_with("```");
            if line.starts_with('#') && !in_code {
                out.push('#');
            }
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// The little Markdown that the pages use: headings, paragraphs, lists, code blocks, tables.
fn render_markdown(text: &str, columns: usize, style: &Style) -> String {
    let columns = columns.clamp(40, 100);
    let mut out: Vec<String> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix('#') {
            out.push(style.paint(Look::Bold, heading.trim_start_matches('#').trim()));
        } else if line.starts_with("```") {
            for code in lines.by_ref().take_while(|l| !l.starts_with("```")) {
                out.push(style.paint(Look::Dim, &format!("    {code}")).trim_end().to_owned());
            }
        } else if line.starts_with('|') {
            let mut rows = vec![cells(line)];
            while let Some(row) = lines.next_if(|l| l.starts_with('|')) {
                if !row.starts_with("|---") {
                    rows.push(cells(row));
                }
            }
            table(&mut out, &rows, columns, style);
        } else if line.trim().is_empty() {
            out.push(String::new());
        } else {
            let (mark, first) = match line.strip_prefix("- ") {
                Some(item) => ("- ", item),
                None => ("", line),
            };
            let mut paragraph = first.to_owned();
            let goes_on = |l: &&str| !l.trim().is_empty() && !l.starts_with(['#', '|', '`']) && !l.starts_with("- ");
            while let Some(more) = lines.next_if(goes_on) {
                paragraph.push(' ');
                paragraph.push_str(more.trim());
            }
            for (row, line) in wrap(&paragraph, columns - mark.len()).into_iter().enumerate() {
                out.push(format!("{}{line}", if row == 0 { mark } else { &"  "[..mark.len()] }));
            }
        }
    }
    let mut out = out.join("\n");
    out.push('\n');
    out
}

fn cells(row: &str) -> Vec<String> {
    row.trim_matches('|').split('|').map(|c| c.trim().to_owned()).collect()
}

fn table(out: &mut Vec<String>, rows: &[Vec<String>], columns: usize, style: &Style) {
    let first = rows
        .iter()
        .filter_map(|r| r.first())
        .map(|c| width(c))
        .max()
        .unwrap_or(0)
        .min(columns / 2);
    for (index, row) in rows.iter().enumerate() {
        let head = row.first().map(String::as_str).unwrap_or("");
        let rest = row.get(1..).unwrap_or(&[]).join("  ");
        for (line_number, line) in wrap(&rest, columns.saturating_sub(first + 4)).into_iter().enumerate() {
            let head = if line_number == 0 { head } else { "" };
            let text = format!("  {}  {line}", pad(head, first));
            out.push(if index == 0 {
                style.paint(Look::Dim, &text)
            } else {
                text
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_page_with_all_its_parts() {
        for rule in Rule::ALL.iter().copied() {
            let page = Page::of(rule);
            for part in [
                "## Why it is bad",
                "## Example",
                "```java",
                "## Fix",
                "## How Ravel finds it",
                "## Reference",
            ] {
                assert!(page.text.contains(part), "{}: {part}", page.name);
            }
            assert!(page.text.starts_with(&format!("# {}\n", page.name)));
            assert!(page.summary().ends_with('.'), "{}", page.summary());
        }
    }

    #[test]
    fn questions_are_understood() {
        assert_eq!(Page::find("R W' W").map(|p| p.name), Ok("patterns"));
        assert_eq!(Page::find("Harmful").map(|p| p.name), Ok("evidence"));
        let error = Page::find("lock-oder").expect_err("mistyped");
        assert_eq!(error.nearest, Some("lock-order"));
        assert!(error.to_string().contains("did you mean `lock-order`?"));
        assert_eq!(Page::find("xyz").expect_err("unknown").nearest, None);
    }

    #[test]
    fn pages_fit_the_terminal() {
        for page in pages() {
            for columns in [60, 80] {
                let text = page.render(columns, false, true);
                for line in text.lines().filter(|l| !l.starts_with("    ")) {
                    assert!(width(line) <= columns, "{}: {line}", page.name);
                }
                assert!(!text.contains("```"));
            }
        }
    }
}
