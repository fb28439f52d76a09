//! The interleaving as columns of threads: time goes down, one lane per thread, the decisive step marked. With more
//! threads than columns can hold, a list that names the thread of every step.

use std::collections::BTreeSet;

use ravel_analysis::finding::{Finding, FindingStep};

use super::style::{Look, Style};
use crate::layout::{clean, cut, pad, width, wrap};
use crate::words;

/// A lane narrower than this cannot be read.
const MIN_LANE: usize = 20;
/// More steps than this are shown around the ends and the decisive step only.
const MAX_STEPS: usize = 24;

/// The interleaving as lines of text.
pub fn lines(finding: &Finding, style: &Style, columns: usize) -> Vec<String> {
    let threads = words::threads(finding);
    let number = finding.steps.len().to_string().len().max(2);
    // "> NN " and, between lanes, " | ".
    let room = columns.saturating_sub(number + 5);
    let lane = (room + 3).checked_div(threads.len()).unwrap_or(0).saturating_sub(3);
    if lane >= MIN_LANE {
        lanes(finding, &threads, lane.min(44), number, style)
    } else {
        list(finding, &threads, number, style, columns)
    }
}

fn lanes(finding: &Finding, threads: &[&str], lane: usize, number: usize, style: &Style) -> Vec<String> {
    let glyphs = style.glyphs;
    let bar = format!(" {} ", style.paint(Look::Dim, glyphs.bar));
    let margin = " ".repeat(number + 4);
    let mut out = Vec::new();
    let heads: Vec<String> = threads
        .iter()
        .enumerate()
        .map(|(at, thread)| {
            let name = cut(&clean(thread), lane, glyphs.ellipsis);
            style.paint(
                Look::Bold,
                &if at + 1 == threads.len() {
                    name
                } else {
                    pad(&name, lane)
                },
            )
        })
        .collect();
    out.push(trim(format!("{margin} {}", heads.join(&bar))));
    let rules: Vec<String> = threads.iter().map(|_| glyphs.rule.repeat(lane)).collect();
    let joint = format!("{0}{1}{0}", glyphs.rule, glyphs.cross);
    out.push(format!("{margin} {}", style.paint(Look::Dim, &rules.join(&joint))));
    let decisive = words::decisive(finding);
    for shown in shown_steps(finding, decisive, MAX_STEPS) {
        let Shown::Step(index, step) = shown else {
            out.push(format!("{margin} {}", left_out(&shown, style)));
            continue;
        };
        let is_decisive = decisive == Some(index);
        let column = threads.iter().position(|t| *t == step.thread).unwrap_or(0);
        for (row, (text, look)) in cell(step, lane, is_decisive, glyphs.ellipsis).into_iter().enumerate() {
            let last = threads.len() - 1;
            let text = if column == last { text } else { pad(&text, lane) };
            let cells: Vec<String> = (0..threads.len())
                .map(|c| match c {
                    c if c == column => paint_some(style, look, &text),
                    c if c == last => String::new(),
                    _ => " ".repeat(lane),
                })
                .collect();
            let head = if row == 0 {
                step_number(index, is_decisive, number, style)
            } else {
                margin.clone()
            };
            out.push(trim(format!("{head} {}", cells.join(&bar))));
        }
    }
    out
}

/// A step in its lane: what it does and, if it fits, where, on one line; the locks below.
fn cell(step: &FindingStep, lane: usize, is_decisive: bool, ellipsis: &str) -> Vec<(String, Option<Look>)> {
    let does = clean(&words::step_op(step));
    let place = clean(&words::place(step));
    let look = is_decisive.then_some(Look::Bad);
    let mut rows = Vec::new();
    if place.is_empty() {
        rows.push((cut(&does, lane, ellipsis), look));
    } else if width(&does) + 2 + width(&place) <= lane {
        let gap = lane - width(&does) - width(&place);
        rows.push((format!("{does}{}{place}", " ".repeat(gap)), look));
    } else {
        rows.push((cut(&does, lane, ellipsis), look));
        rows.push((
            format!("  {}", crate::layout::fit(&place, lane - 2, ellipsis)),
            Some(Look::Dim),
        ));
    }
    if let Some(holding) = words::holding(step) {
        for line in wrap(&clean(&holding), lane - 2) {
            rows.push((format!("  {line}"), Some(Look::Dim)));
        }
    }
    rows
}

fn list(finding: &Finding, threads: &[&str], number: usize, style: &Style, columns: usize) -> Vec<String> {
    let glyphs = style.glyphs;
    let widest = threads.iter().map(|t| width(&clean(t))).max().unwrap_or(0).min(20);
    let decisive = words::decisive(finding);
    let mut out = Vec::new();
    for shown in shown_steps(finding, decisive, MAX_STEPS) {
        let Shown::Step(index, step) = shown else {
            out.push(format!("{} {}", " ".repeat(number + 4), left_out(&shown, style)));
            continue;
        };
        let is_decisive = decisive == Some(index);
        let thread = pad(&cut(&clean(&step.thread), widest, glyphs.ellipsis), widest);
        let holding = words::holding(step).map(|h| format!(", {h}")).unwrap_or_default();
        let place = Some(words::place(step))
            .filter(|p| !p.is_empty())
            .map(|p| format!(", {p}"))
            .unwrap_or_default();
        let deed = format!("{}{place}{holding}", words::step_op(step));
        let room = columns.saturating_sub(number + 7 + widest);
        for (row, line) in wrap(&clean(&deed), room).into_iter().enumerate() {
            let line = paint_some(style, is_decisive.then_some(Look::Bad), &line);
            if row == 0 {
                let head = step_number(index, is_decisive, number, style);
                out.push(format!("{head} {}  {line}", style.paint(Look::Bold, &thread)));
            } else {
                out.push(format!("{} {line}", " ".repeat(number + 6 + widest)));
            }
        }
    }
    out
}

/// A step with its number, or a gap.
pub enum Shown<'f> {
    /// A step.
    Step(usize, &'f FindingStep),
    /// So many steps.
    LeftOut(usize),
}

/// The steps that a reader sees: all, or about `most` of them at the ends and around the decisive one, and never less than these three.
pub fn shown_steps(finding: &Finding, decisive: Option<usize>, most: usize) -> Vec<Shown<'_>> {
    let steps = &finding.steps;
    let total = steps.len();
    let mut kept: BTreeSet<usize> = (0..total).collect();
    if total > most {
        let part = most / 4;
        let middle = decisive.unwrap_or(total / 2);
        let ends = part.max(1);
        kept.retain(|&i| i < ends || i + ends >= total || i.abs_diff(middle) <= part);
    }
    let mut shown = Vec::new();
    let mut next = 0;
    for index in kept {
        if index > next {
            shown.push(Shown::LeftOut(index - next));
        }
        if let Some(step) = steps.get(index) {
            shown.push(Shown::Step(index, step));
        }
        next = index + 1;
    }
    shown
}

/// What a gap says.
pub fn left_out(shown: &Shown<'_>, style: &Style) -> String {
    let Shown::LeftOut(n) = shown else { return String::new() };
    let steps = words::count(u64::try_from(*n).unwrap_or(u64::MAX), "step");
    style.paint(Look::Dim, &format!("{0} {steps} left out {0}", style.glyphs.ellipsis))
}

/// The number of a step, marked if it decides.
pub fn step_number(index: usize, is_decisive: bool, number: usize, style: &Style) -> String {
    let marker = if is_decisive { style.glyphs.decisive } else { " " };
    let text = format!("  {marker} {:>width$}", index + 1, width = number);
    paint_some(style, is_decisive.then_some(Look::Bad), &text)
}

fn paint_some(style: &Style, look: Option<Look>, text: &str) -> String {
    match look {
        Some(look) => style.paint(look, text),
        None => text.to_owned(),
    }
}

fn trim(line: String) -> String {
    line.trim_end().to_owned()
}
