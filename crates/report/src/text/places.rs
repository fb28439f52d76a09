//! The places of a finding with their source lines, as compilers show them: one snippet per file, a mark under what the
//! step touches, a label that says who does what there and which locks are held.

use std::collections::BTreeMap;
use std::rc::Rc;

use ravel_analysis::finding::{Finding, FindingStep};
use ravel_trace::naming;

use super::style::{Look, Style};
use crate::layout::{clean, cut, expand_tabs, fit, width, wrap};
use crate::source::Source;
use crate::{SourceFinder, words};

/// Lines of code shown before the first and after the last marked line of a snippet.
const CONTEXT: u32 = 1;
/// Marked lines that are this close share one stretch of code.
const JOIN: u32 = 4;

/// One place and the steps that happen there.
struct MarkedPlace<'f> {
    step: &'f FindingStep,
    labels: Vec<(usize, &'f FindingStep)>,
}

/// The places as lines of text.
pub fn lines(finding: &Finding, sources: &SourceFinder, style: &Style, columns: usize) -> Vec<String> {
    let mut out = Vec::new();
    let calls = calls(finding);
    for places in by_file(finding, &calls) {
        let Some(first) = places.first() else { continue };
        let source = sources.find(&first.step.class, &first.step.file);
        match source {
            Some(source) if places.iter().any(|p| source.line(p.step.line).is_some()) => {
                snippet(&mut out, &places, &source, style, columns);
            }
            source => {
                bare(&mut out, &places, style, columns);
                let file = clean(&first.step.file);
                let why = match source {
                    Some(source) => format!(
                        "{} has no such line: it is not the source that was compiled",
                        clean(&source.path)
                    ),
                    None => not_found(&file),
                };
                if sources.is_asked() && !file.is_empty() && first.step.line > 0 {
                    let why = wrap(&why, columns.saturating_sub(6)).into_iter();
                    out.extend(why.map(|line| format!("      {}", style.paint(Look::Dim, &line))));
                }
            }
        }
    }
    out
}

/// That these sources were not found, and what to do about it.
pub fn not_found(files: &str) -> String {
    format!("source not found: {files}; --source names its folder")
}

/// The operation of a call in a unit that leads to a step.
const CALL: &str = "call";

/// The calls in units that lead to the steps: the check and the act in the method to fix. Each with the index of its step.
fn calls(finding: &Finding) -> Vec<(usize, FindingStep)> {
    let call = |(index, step): (usize, &FindingStep)| {
        let frame = words::call_in_unit(finding, step)?;
        let call = FindingStep {
            thread: step.thread.clone(),
            op: CALL.to_owned(),
            variable: format!("{}.{}", step.class, naming::without_descriptor(&step.method)),
            class: frame.class.to_owned(),
            method: frame.method.to_owned(),
            file: frame.file.to_owned(),
            line: frame.line,
            ..FindingStep::default()
        };
        Some((index, call))
    };
    finding.steps.iter().enumerate().filter_map(call).collect()
}

/// Distinct places, grouped by file in order of first appearance; within a file by line.
fn by_file<'f>(finding: &'f Finding, calls: &'f [(usize, FindingStep)]) -> Vec<Vec<MarkedPlace<'f>>> {
    let mut order: Vec<(&str, &str)> = Vec::new();
    let mut files: BTreeMap<usize, BTreeMap<u32, MarkedPlace<'_>>> = BTreeMap::new();
    let calls = calls.iter().map(|(index, step)| (*index, step));
    for (index, step) in finding.steps.iter().enumerate().chain(calls) {
        let file = if step.file.is_empty() {
            step.class.as_str()
        } else {
            step.file.as_str()
        };
        let key = (naming::package(&step.class), file);
        let at = order.iter().position(|known| *known == key).unwrap_or_else(|| {
            order.push(key);
            order.len() - 1
        });
        let place = files
            .entry(at)
            .or_default()
            .entry(step.line)
            .or_insert_with(|| MarkedPlace {
                step,
                labels: Vec::new(),
            });
        place.labels.push((index + 1, step));
    }
    files
        .into_values()
        .map(|places| places.into_values().collect())
        .collect()
}

/// `1, 3: t1 reads items, no lock held`, one per distinct deed.
fn labels(place: &MarkedPlace<'_>) -> Vec<String> {
    let mut deeds: Vec<(String, Vec<String>)> = Vec::new();
    for (number, step) in &place.labels {
        let does = match step.op == CALL {
            true => format!("calls {}", naming::qualified_method(&step.variable)),
            false => format!("{}{}", words::step_does(step), words::locks_held(step)),
        };
        let deed = clean(&format!("{} {does}", words::who(step)));
        match deeds.iter_mut().find(|(known, _)| *known == deed) {
            Some((_, numbers)) => numbers.push(number.to_string()),
            None => deeds.push((deed, vec![number.to_string()])),
        }
    }
    deeds
        .into_iter()
        .map(|(deed, numbers)| format!("{}: {deed}", numbers.join(", ")))
        .collect()
}

fn bare(out: &mut Vec<String>, places: &[MarkedPlace<'_>], style: &Style, columns: usize) {
    for place in places {
        let arrow = style.glyphs.arrow;
        let head = words::at(place.step);
        let head = clean(head.strip_prefix(" at ").unwrap_or(head.trim_start()));
        let head = if head.is_empty() {
            "place unknown".to_owned()
        } else {
            head
        };
        let head = fit(&head, columns.saturating_sub(width(arrow) + 3), style.glyphs.ellipsis);
        out.push(format!(
            "  {} {}",
            style.paint(Look::Note, arrow),
            style.paint(Look::Bold, &head)
        ));
        for label in labels(place) {
            for line in wrap(&label, columns.saturating_sub(6)) {
                out.push(format!("      {line}"));
            }
        }
    }
}

fn snippet(out: &mut Vec<String>, places: &[MarkedPlace<'_>], source: &Rc<Source>, style: &Style, columns: usize) {
    let glyphs = style.glyphs;
    let last = places
        .iter()
        .map(|p| p.step.line)
        .max()
        .unwrap_or(0)
        .saturating_add(CONTEXT);
    let gutter = last.to_string().len().max(2);
    let first = places.iter().find(|p| p.step.line > 0).map_or(0, |p| p.step.line);
    let head = fit(
        &clean(&format!("{}:{first}", source.path)),
        columns.saturating_sub(gutter + 6),
        glyphs.ellipsis,
    );
    out.push(format!(
        "{} {} {}",
        " ".repeat(gutter),
        style.paint(Look::Note, glyphs.arrow),
        style.paint(Look::Bold, &head)
    ));
    let bar = style.paint(Look::Note, glyphs.bar);
    // Code starts after "NN | ".
    let room = columns.saturating_sub(gutter + 4);
    let indent = common_indent(places, source);
    let code_line = |out: &mut Vec<String>, number: u32, text: &str, focus: usize| {
        let label = format!("{number:>gutter$}");
        let (shown, _) = crop(text, indent, focus, room, glyphs.ellipsis);
        out.push(
            format!(" {} {bar} {shown}", style.paint(Look::Note, &label))
                .trim_end()
                .to_owned(),
        );
    };
    let mut next = 0;
    for place in places {
        let line = place.step.line;
        let Some(text) = source.line(line) else {
            bare(out, std::slice::from_ref(place), style, columns);
            continue;
        };
        let from = line.saturating_sub(CONTEXT).max(1);
        if next != 0 && from > next + JOIN {
            out.push(format!(
                "  {}{}",
                " ".repeat(gutter),
                style.paint(Look::Note, glyphs.gap)
            ));
        }
        let from = if next != 0 && from <= next + JOIN { next } else { from };
        for number in from..line {
            if let Some(context) = source.line(number) {
                code_line(out, number, &expand_tabs(context), 0);
            }
        }
        let text = expand_tabs(text);
        let (start, length) = mark(&text, place.step);
        code_line(out, line, &text, start);
        let (_, shift) = crop(&text, indent, start, room, glyphs.ellipsis);
        let column = start.saturating_sub(shift).min(room.saturating_sub(1));
        let length = length.min(room.saturating_sub(column)).max(1);
        mark_lines(out, &labels(place), gutter, &bar, column, length, room, style);
        next = line + 1;
    }
    if let Some(context) = source.line(next) {
        let text = expand_tabs(context);
        if !text.trim().is_empty() {
            code_line(out, next, &text, 0);
        }
    }
}

#[allow(
    clippy::too_many_arguments,
    reason = "a drawing helper whose numbers mean nothing together"
)]
fn mark_lines(
    out: &mut Vec<String>,
    labels: &[String],
    gutter: usize,
    bar: &str,
    column: usize,
    length: usize,
    room: usize,
    style: &Style,
) {
    let carets = "^".repeat(length);
    let margin = format!(" {} {bar} ", " ".repeat(gutter));
    let beside = room.saturating_sub(column + length + 1);
    if let [label] = labels
        && width(label) <= beside
    {
        let painted = style.paint(Look::Bad, &format!("{carets} {label}"));
        out.push(format!("{margin}{}{painted}", " ".repeat(column)));
        return;
    }
    out.push(format!(
        "{margin}{}{}",
        " ".repeat(column),
        style.paint(Look::Bad, &carets)
    ));
    // A label below its mark starts at the mark unless that leaves it too narrow a column to be read.
    let column = if room.saturating_sub(column) < 40 {
        room.saturating_sub(60).min(column)
    } else {
        column
    };
    for label in labels {
        for line in wrap(label, room.saturating_sub(column)) {
            out.push(format!(
                "{margin}{}{}",
                " ".repeat(column),
                style.paint(Look::Bad, &line)
            ));
        }
    }
}

/// Indentation that all marked lines share beyond four columns is not worth the room.
fn common_indent(places: &[MarkedPlace<'_>], source: &Source) -> usize {
    places
        .iter()
        .flat_map(|p| p.step.line.saturating_sub(CONTEXT)..=p.step.line.saturating_add(CONTEXT))
        .filter_map(|n| source.line(n))
        .map(expand_tabs)
        .filter(|l| !l.is_empty())
        .map(|l| l.len() - l.trim_start().len())
        .min()
        .unwrap_or(0)
        .saturating_sub(4)
}

/// The part of a line that fits, and how many columns were left out before it (less the ellipsis put there).
pub fn crop(text: &str, indent: usize, focus: usize, room: usize, ellipsis: &str) -> (String, usize) {
    let skip = if text.chars().take(indent).all(|c| c == ' ') {
        indent.min(text.len())
    } else {
        0
    };
    let rest = &text[skip..];
    if width(rest) <= room || focus.saturating_sub(skip) < room * 2 / 3 {
        return (cut(rest, room, ellipsis), skip);
    }
    // The end of the line if that has the focus, so that one ellipsis is enough.
    let from_end = width(rest) + width(ellipsis) - room;
    let drop = match skip + from_end <= focus {
        true => from_end,
        false => focus - skip - room / 3,
    };
    let mut used = 0;
    let at = rest.char_indices().find(|(_, c)| {
        let before = used;
        used += width(c.encode_utf8(&mut [0; 4]));
        before >= drop
    });
    let at = at.map_or(0, |(at, _)| at);
    // A whole word reads better than its end.
    let word = rest[at..].find(' ').map_or(at, |space| at + space + 1);
    let at = if skip + width(&rest[..word]) <= focus { word } else { at };
    let shown = format!("{ellipsis}{}", &rest[at..]);
    (
        cut(&shown, room, ellipsis),
        (skip + width(&rest[..at])).saturating_sub(width(ellipsis)),
    )
}

/// Column and length of what a step touches in its line.
fn mark(text: &str, step: &FindingStep) -> (usize, usize) {
    let touched = crate::mark::touched(text, step);
    (width(&text[..touched.start]), width(&text[touched]).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cropping_keeps_the_focus() {
        let long = format!("    {}target();", "call(argument, ".repeat(20));
        let focus = long.find("target").expect("is there");
        let (shown, shift) = crop(&long, 0, focus, 60, "…");
        assert!(width(&shown) <= 60);
        assert_eq!(shown.find("target").map(|at| width(&shown[..at])), Some(focus - shift));
    }

    #[test]
    fn one_ellipsis_is_enough_where_the_end_has_the_focus() {
        let line = "public void fire(String what) { for (Listener each : listeners) each.changed(what); }";
        let focus = line.find("listeners").expect("is there");
        let (shown, shift) = crop(line, 0, focus, 48, "…");
        assert_eq!(shown, "…each : listeners) each.changed(what); }");
        assert_eq!(
            shown.find("listeners").map(|at| width(&shown[..at])),
            Some(focus - shift)
        );
        let (shown, _) = crop(line, 0, line.find("fire").expect("is there"), 48, "…");
        assert_eq!(shown, "public void fire(String what) { for (Listener e…");
    }

    #[test]
    fn cropping_wide_text_does_not_panic() {
        let long = "日本語".repeat(40);
        for focus in 0..120 {
            for room in 8..40 {
                let (shown, _) = crop(&long, 3, focus, room, "…");
                assert!(width(&shown) <= room);
            }
        }
    }
}
