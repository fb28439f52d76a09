//! A finding on one screen: the sentence, the steps in the order of time, each with the source line of the method to fix, the outcome
//! and the fix. Facts that matter less fill the rest of the screen; `--verbose` shows all of them, with whole excerpts and stacks.

use ravel_analysis::finding::{Finding, FindingStep};
use ravel_trace::naming::{self, Frame};

use super::interleaving::{Shown, left_out, shown_steps, step_number};
use super::places::{self, crop};
use super::style::{Look, Style};
use super::{callers, facts, head};
use crate::layout::{clean, cut, expand_tabs, fit, pad, width, wrap};
use crate::words::pattern;
use crate::{Options, mark, words};

/// Lines of a screen, less one for the prompt.
const ROWS: usize = 23;
/// Lines of code in places that are shown on any screen.
const FEWEST_LINES: usize = 4;
/// Columns that the name of a thread may take.
const WIDEST_THREAD: usize = 16;

/// The finding as lines of text.
pub fn lines(finding: &Finding, options: &Options<'_>, style: &Style, columns: usize) -> Vec<String> {
    // The letters of a pattern of the user's are the user's.
    let patterns = match finding.own_pattern {
        Some(_) => finding.patterns.clone(),
        None => pattern::of_steps(finding).into_iter().collect(),
    };
    let head = head(finding, &patterns, style, columns);
    let facts = facts(finding, style, columns);
    let necessary = facts.iter().filter(|fact| fact.rank == 0);
    let necessary: usize = necessary.map(|fact| fact.lines.len()).sum();
    // A blank line before the steps and one before the facts.
    let room = ROWS.saturating_sub(head.len() + necessary + 2);
    let screen = Screen::new(finding, options, style, columns);
    let steps = screen.steps(room);
    let mut left = room.saturating_sub(steps.len());
    let mut by_rank: Vec<usize> = (0..facts.len()).filter(|&at| facts[at].rank > 0).collect();
    by_rank.sort_by_key(|&at| facts[at].rank);
    let mut kept: Vec<bool> = facts.iter().map(|fact| fact.rank == 0).collect();
    for at in by_rank {
        let rows = facts[at].lines.len();
        kept[at] = rows <= left;
        left -= if kept[at] { rows } else { 0 };
    }
    let callers = callers(finding, style, columns);
    let mut out = head;
    if !steps.is_empty() {
        out.push(String::new());
        out.extend(steps);
    }
    if callers.len() <= left {
        out.extend(callers);
    }
    out.push(String::new());
    let facts = facts.into_iter().zip(kept).filter(|(_, kept)| *kept);
    out.extend(facts.flat_map(|(fact, _)| fact.lines));
    out.push(String::new());
    out
}

struct Screen<'a> {
    finding: &'a Finding,
    options: &'a Options<'a>,
    style: &'a Style,
    columns: usize,
    /// Columns of the number of a step.
    number: usize,
    /// Columns of the name of a thread.
    thread: usize,
}

impl<'a> Screen<'a> {
    fn new(finding: &'a Finding, options: &'a Options<'a>, style: &'a Style, columns: usize) -> Screen<'a> {
        let threads = words::threads(finding).into_iter().map(|thread| width(&clean(thread)));
        Screen {
            finding,
            options,
            style,
            columns,
            number: finding.steps.len().to_string().len().max(2),
            thread: threads.max().unwrap_or(0).min(WIDEST_THREAD),
        }
    }

    fn steps(&self, room: usize) -> Vec<String> {
        let (finding, style) = (self.finding, self.style);
        if finding.steps.iter().all(|step| step.thread.is_empty()) {
            let places = places::lines(finding, self.options.sources, style, self.columns);
            return at_most(places, room, style);
        }
        let mut out = self.place();
        let decisive = words::decisive(finding);
        let room = room.saturating_sub(out.len());
        let blocks = |most: usize| -> Vec<Vec<String>> {
            let block = |index| self.step(index, decisive == Some(index), most);
            (0..finding.steps.len()).map(block).collect()
        };
        // Each step takes a row, so more of them than there are rows do not fit.
        let most = finding.steps.len().min(2 * ROWS);
        let fitting = |blocks: &[Vec<String>]| {
            let mut all = (1..=most).rev().map(|most| shown_steps(finding, decisive, most));
            all.find(|all| {
                let rows = all.iter().map(|shown| match shown {
                    Shown::Step(index, _) => blocks[*index].len(),
                    Shown::LeftOut(_) => 1,
                });
                rows.sum::<usize>() <= room
            })
        };
        let whole = blocks(usize::MAX);
        let (blocks, shown) = match fitting(&whole) {
            Some(shown) => (whole, shown),
            None => {
                let short = blocks(1);
                let shown = fitting(&short).unwrap_or_else(|| shown_steps(finding, decisive, 1));
                (short, shown)
            }
        };
        for shown in shown {
            match shown {
                Shown::Step(index, _) => out.extend(blocks[index].iter().cloned()),
                Shown::LeftOut(_) => out.push(format!("{} {}", " ".repeat(self.number + 4), left_out(&shown, style))),
            }
        }
        out
    }

    /// The place to go to in the method to fix, and the sources that were not found.
    fn place(&self) -> Vec<String> {
        let (sources, style) = (self.options.sources, self.style);
        let mut out = Vec::new();
        let main = words::main_place(self.finding).filter(|main| main.frame.line > 0);
        if let Some(frame) = main.map(|main| main.frame)
            && let Some(source) = sources.find(frame.class, frame.file)
        {
            let head = clean(&format!("{}:{}", source.path, frame.line));
            let head = fit(&head, self.columns.saturating_sub(5), style.glyphs.ellipsis);
            let arrow = style.paint(Look::Note, style.glyphs.arrow);
            out.push(format!("  {arrow} {}", style.paint(Look::Bold, &head)));
        }
        let mut unfound: Vec<String> = Vec::new();
        for step in &self.finding.steps {
            let frame = words::call_in_unit(self.finding, step).unwrap_or_else(|| step.frame());
            let is_named = !frame.file.is_empty() && frame.line > 0;
            if is_named && sources.find(frame.class, frame.file).is_none() && !unfound.iter().any(|f| f == frame.file) {
                unfound.push(frame.file.to_owned());
            }
        }
        if sources.is_asked() && !unfound.is_empty() {
            let text = clean(&places::not_found(&words::listed(unfound, 3)));
            let text = fit(&text, self.columns.saturating_sub(2), style.glyphs.ellipsis);
            out.push(format!("  {}", style.paint(Look::Dim, &text)));
        }
        out
    }

    /// The line of code that a thread executes, with its place; below it what it does there, in at most so many rows.
    fn step(&self, index: usize, is_decisive: bool, most: usize) -> Vec<String> {
        let (finding, style) = (self.finding, self.style);
        let step = &finding.steps[index];
        let call = words::call_in_unit(finding, step);
        let frame = call.unwrap_or_else(|| step.frame());
        let indent = self.number + 7 + self.thread;
        let room = self.columns.saturating_sub(indent);
        let paint = |text: &str| match is_decisive {
            true => style.paint(Look::Bad, text),
            false => text.to_owned(),
        };
        // The end of a name tells the threads of a pool apart.
        let thread = fit(&clean(&step.thread), self.thread, style.glyphs.ellipsis);
        let number = step_number(index, is_decisive, self.number, style);
        let start = format!("{number} {}  ", style.paint(Look::Bold, &pad(&thread, self.thread)));
        let mut out = Vec::new();
        let (code, focus) = self.code(step, &frame, call.is_some());
        if !code.is_empty() {
            let place = fit(
                &clean(&frame.place_or_class()),
                (room / 3).max(12),
                style.glyphs.ellipsis,
            );
            let code_room = room.saturating_sub(width(&place) + 2);
            let (code, _) = crop(&code, 0, focus, code_room, style.glyphs.ellipsis);
            let place = style.paint(Look::Dim, &place);
            out.push(
                format!("{start}{}  {place}", paint(&pad(&code, code_room)))
                    .trim_end()
                    .to_owned(),
            );
        }
        let inner = if call.is_some() { inner(step) } else { String::new() };
        let does = clean(&format!("{}{inner}", words::step_does(step)));
        let held = clean(&words::locks_held(step));
        let mut lines = wrap(&format!("{does}{held}"), room.saturating_sub(2));
        // A part of the locks would say nothing.
        if lines.len() > most {
            lines = vec![cut(&does, room.saturating_sub(2), style.glyphs.ellipsis)];
        }
        for (row, line) in lines.into_iter().enumerate() {
            match row == 0 && out.is_empty() {
                true => out.push(format!("{start}{}", paint(&line))),
                false => out.push(format!("{}  {}", " ".repeat(indent), paint(&line))),
            }
        }
        out
    }

    /// The source line of a frame and the byte to keep in view; the method if there is no source.
    fn code(&self, step: &FindingStep, frame: &Frame<'_>, calls: bool) -> (String, usize) {
        let source = self.options.sources.find(frame.class, frame.file);
        let line = source.as_ref().and_then(|source| source.line(frame.line));
        let Some(line) = line.map(expand_tabs) else {
            return (clean(&naming::qualified_method(&frame.name())), 0);
        };
        let text = line.trim().to_owned();
        let focus = match calls {
            true => text.find(naming::without_descriptor(&step.method)).unwrap_or(0),
            false => mark::touched(&text, step).start,
        };
        (text, focus)
    }
}

/// The first lines, and how many more there are.
fn at_most(mut lines: Vec<String>, room: usize, style: &Style) -> Vec<String> {
    let room = room.max(FEWEST_LINES);
    if lines.len() > room {
        let more = lines.len() + 1 - room;
        lines.truncate(room - 1);
        let text = format!("  {} {more} more lines with --verbose", style.glyphs.ellipsis);
        lines.push(style.paint(Look::Dim, &text));
    }
    lines
}

/// Where a call of the unit led to.
fn inner(step: &FindingStep) -> String {
    let method = naming::qualified_method(&format!("{}.{}", step.class, naming::without_descriptor(&step.method)));
    format!(" in {method} ({})", words::place(step))
}
