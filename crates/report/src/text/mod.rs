//! The terminal format: findings as good compilers print them, then a summary that fits a screen. Everything is laid
//! out for a fixed number of columns; only commands may be longer, because they are copied.

mod interleaving;
mod places;
mod screen;
pub(crate) mod style;
mod summary;

use ravel_analysis::finding::{Finding, Report};
use ravel_trace::naming::Frame;

use crate::format::{Form, Renderer};
use crate::layout::{clean, fit, width, wrap, wrap_hanging};
use crate::{Options, words};
use style::{Look, Style};
pub use style::{colors_wanted, unicode_wanted};

/// Narrower than this nothing can be laid out.
pub const MIN_COLUMNS: usize = 40;
/// Wider than this nothing gets easier to read.
pub const MAX_COLUMNS: usize = 140;
/// How many callers a call chain shows.
const MAX_CALLERS: usize = 3;

/// The format.
pub const FORMAT: Renderer = Renderer {
    name: "text",
    endings: &["txt"],
    form: Form::Told,
    render,
};

/// The whole report.
pub fn render(report: &Report, options: &Options<'_>) -> String {
    let mut out = String::new();
    for finding in options.visible(report) {
        out.push_str(&one(finding, options));
        out.push('\n');
    }
    let suspicions = options.visible_suspicions(report);
    if !suspicions.is_empty() {
        let style = Style::new(options.color, options.unicode);
        let heading = format!("== {} ==", words::ONLY_IN_CODE);
        out.push_str(&format!("{}\n\n", style.paint(Look::Bold, &heading)));
    }
    for finding in suspicions {
        out.push_str(&one(finding, options));
        out.push('\n');
    }
    out.push_str(&summary::render(report, options));
    out
}

/// The rows of the summary, name and text, for formats that lay them out themselves.
pub fn summary_rows(report: &Report, options: &Options<'_>) -> Vec<(&'static str, String)> {
    summary::rows(report, options)
        .into_iter()
        .map(|(name, _, text)| (name, text))
        .collect()
}

/// One finding on a screen, or all of it.
fn one(finding: &Finding, options: &Options<'_>) -> String {
    if options.verbose {
        return render_finding(finding, options);
    }
    let style = Style::new(options.color, options.unicode);
    screen::lines(&words::told(finding), options, &style, columns(options)).join("\n")
}

/// One finding with everything that is known of it, for formats that embed text.
pub fn render_finding(finding: &Finding, options: &Options<'_>) -> String {
    let finding = &words::told(finding);
    let columns = columns(options);
    let style = Style::new(options.color, options.unicode);
    let mut lines = head(finding, &finding.patterns, &style, columns);
    if !finding.steps.is_empty() {
        lines.push(String::new());
        lines.extend(places::lines(finding, options.sources, &style, columns));
        if words::threads(finding).len() > 1 {
            lines.push(String::new());
            lines.push(format!("  {}", style.paint(Look::Bold, words::order_heading(finding))));
            lines.extend(interleaving::lines(finding, &style, columns));
        }
        lines.extend(callers(finding, &style, columns));
    }
    lines.push(String::new());
    lines.extend(facts(finding, &style, columns).into_iter().flat_map(|fact| fact.lines));
    lines.push(String::new());
    lines.join("\n")
}

fn columns(options: &Options<'_>) -> usize {
    options.width.clamp(MIN_COLUMNS, MAX_COLUMNS)
}

/// The sentence, and in a smaller voice the id, the variables and these of the finding's patterns.
fn head(finding: &Finding, patterns: &[String], style: &Style, columns: usize) -> Vec<String> {
    let label = format!("{}[{}]", words::evidence(finding.evidence), words::rule(finding.rule));
    let message = clean(&finding.message);
    let mut lines = Vec::new();
    for (row, line) in wrap_hanging(&message, columns.saturating_sub(width(&label) + 2), columns - 2)
        .iter()
        .enumerate()
    {
        let line = style.paint(Look::Bold, line);
        lines.push(match row {
            0 => format!("{}: {line}", style.paint(Style::of_evidence(finding.evidence), &label)),
            _ => format!("  {line}"),
        });
    }
    let mut about = vec![format!("id {}", finding.id)];
    if !finding.variables.is_empty() {
        about.push(words::variables(finding));
    }
    if !patterns.is_empty() {
        about.push(format!("pattern {}", words::listed(patterns.to_vec(), 4)));
    }
    let about = clean(&about.join(&format!(" {} ", style.glyphs.dot)));
    lines.extend(
        wrap(&about, columns - 2)
            .iter()
            .map(|l| format!("  {}", style.paint(Look::Dim, l))),
    );
    lines
}

/// Who called the code of each place: the frame below the step, which the snippet does not show.
fn callers(finding: &Finding, style: &Style, columns: usize) -> Vec<String> {
    let mut seen: Vec<(&str, &[String])> = Vec::new();
    if finding.steps.iter().all(|step| step.thread.is_empty()) {
        return ways(finding, style, columns);
    }
    for step in &finding.steps {
        let outer = step.callers();
        if !outer.is_empty() && !seen.iter().any(|(t, s)| *t == step.thread && *s == outer) {
            seen.push((&step.thread, outer));
        }
    }
    if seen.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new()];
    for (thread, stack) in seen {
        let mut frames: Vec<String> = stack
            .iter()
            .take(MAX_CALLERS)
            .map(|f| fit(&clean(&Frame::parse(f).short()), columns - 8, style.glyphs.ellipsis))
            .collect();
        if stack.len() > MAX_CALLERS {
            frames.push(format!("{} more", stack.len() - MAX_CALLERS));
        }
        let chain = frames.join(&format!(" {} ", style.glyphs.from));
        let text = format!("{} called from {chain}", clean(thread));
        for (row, line) in wrap(&text, columns - 6).iter().enumerate() {
            let indent = if row == 0 { "  " } else { "      " };
            lines.push(format!("{indent}{}", style.paint(Look::Dim, line)));
        }
    }
    lines
}

/// Of what was found in code: the calls that lead from the place shown to the lock, and those that lead to the place.
fn ways(finding: &Finding, style: &Style, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, step) in finding.steps.iter().enumerate() {
        let own = step.frame();
        let Some(at) = step.stack.iter().position(|f| Frame::parse(f) == own) else {
            continue;
        };
        let chain = |frames: &mut dyn Iterator<Item = &String>| {
            let frames: Vec<String> = frames
                .map(|f| fit(&clean(&Frame::parse(f).short()), columns - 8, style.glyphs.ellipsis))
                .collect();
            frames.join(&format!(" {} ", style.glyphs.from))
        };
        let (inner, outer) = (&step.stack[..at], &step.stack[at + 1..]);
        let mut parts = Vec::new();
        if !inner.is_empty() {
            parts.push(format!("in {}", chain(&mut inner.iter())));
        }
        if !outer.is_empty() {
            parts.push(format!("called from {}", chain(&mut outer.iter())));
        }
        if parts.is_empty() {
            continue;
        }
        let text = format!("{}: {}", index + 1, parts.join(", "));
        for (row, line) in wrap(&text, columns - 6).iter().enumerate() {
            let indent = if row == 0 { "  " } else { "      " };
            lines.push(format!("{indent}{}", style.paint(Look::Dim, line)));
        }
    }
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

/// Methods that are named as units of a finding.
const MOST_UNITS: usize = 4;

/// A line or more about a finding, under its name.
struct Fact {
    /// 0 for a fact that every view has; the others fill a screen in this order.
    rank: u8,
    lines: Vec<String>,
}

fn facts(finding: &Finding, style: &Style, columns: usize) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut fact = |rank: u8, name: &str, look: Look, text: &str| {
        let head = format!("  {name}: ");
        let room = columns - width(&head);
        let wrapped = wrap_hanging(&clean(text), room, columns - 4);
        let lines = wrapped.iter().enumerate().map(|(row, line)| match row {
            0 => format!("{}{line}", style.paint(look, &head)),
            _ => format!("    {line}"),
        });
        facts.push(Fact {
            rank,
            lines: lines.collect(),
        });
    };
    if let Some(outcome) = &finding.outcome {
        let run = words::run(finding).to_lowercase();
        fact(0, &run, Look::Bad, &words::outcome(outcome));
        for (name, text) in words::outcome_details(outcome) {
            fact(1, &name.to_lowercase(), Look::Note, &text);
        }
    }
    if !finding.tests.is_empty() {
        fact(0, "test", Look::Note, &words::tests(finding));
    }
    let units = words::units(finding);
    if !units.is_empty() {
        let more = units.len().saturating_sub(MOST_UNITS);
        let mut text = units[..units.len() - more].join(" and ");
        if more > 0 {
            text.push_str(&format!(" and {more} more"));
        }
        fact(2, "should be atomic", Look::Note, &text);
    }
    fact(3, "evidence", Look::Note, words::meaning(finding));
    if !finding.also.is_empty() {
        fact(1, "also seen as", Look::Note, &words::also(finding));
    }
    if let Some(limit) = &finding.limit {
        fact(0, words::limit_label(finding), Look::Note, limit.as_str());
    }
    if !finding.help.is_empty() {
        fact(0, "fix", Look::Good, &finding.help);
    }
    let mut line = |look: Look, name: &str, text: &str| {
        facts.push(Fact {
            rank: 0,
            lines: vec![format!("  {} {text}", style.paint(look, name))],
        });
    };
    if !finding.replay.is_empty() {
        // Not wrapped: it is copied.
        line(Look::Good, "see it again:", &clean(&finding.replay));
    }
    let explain = format!("ravel explain {}", words::rule(finding.rule));
    line(Look::Dim, "more:", &explain);
    facts
}
