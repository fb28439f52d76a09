//! The STD text format of other tools: one event a line, `thread|op(name)|place`, in global order.
//!
//! Operations are `r`, `w` (variable), `acq`, `rel` (lock), `fork`, `join` (thread), `begin`, `end` (a transaction,
//! which becomes a [declared unit](crate::Op::UnitBegin)). The place is an integer; it becomes the source line.
//! A thread's name has no `|`; any other name may have anything.

mod export;
mod import;

pub use export::{ExportError, ExportSummary, export};
pub use import::{ImportError, ImportSummary, import};

use crate::event::{Mode, Op, Value};
use crate::memory::{Builder, MemoryTrace};
use crate::text::TextError;

/// What a line says is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StdOp {
    Read,
    Write,
    Acquire,
    Release,
    Fork,
    Join,
    Begin,
    End,
}

/// One line, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Line<'a> {
    thread: &'a [u8],
    op: StdOp,
    name: &'a [u8],
    /// Places that are no source line (negative, or beyond 32 bits) are 0.
    place: u32,
}

fn parse_line(line: &[u8]) -> Result<Line<'_>, &'static str> {
    let bar = line.iter().position(|byte| *byte == b'|').ok_or(SHAPE)?;
    let (thread, rest) = (&line[..bar], &line[bar + 1..]);
    let bar = rest.iter().rposition(|byte| *byte == b'|').ok_or(SHAPE)?;
    let (call, place) = (&rest[..bar], &rest[bar + 1..]);
    let open = call.iter().position(|byte| *byte == b'(').ok_or(SHAPE)?;
    let (op, name) = (&call[..open], &call[open + 1..]);
    let name = name.strip_suffix(b")").ok_or("the `)` is missing")?;
    let op = match op {
        b"r" => StdOp::Read,
        b"w" => StdOp::Write,
        b"acq" => StdOp::Acquire,
        b"rel" => StdOp::Release,
        b"fork" => StdOp::Fork,
        b"join" => StdOp::Join,
        b"begin" => StdOp::Begin,
        b"end" => StdOp::End,
        _ => return Err("the operation is none of r, w, acq, rel, fork, join, begin, end"),
    };
    if thread.is_empty() {
        return Err("the thread has no name");
    }
    if name.is_empty() && !matches!(op, StdOp::Begin | StdOp::End) {
        return Err("there is no name between the parentheses");
    }
    Ok(Line {
        thread,
        op,
        name,
        place: parse_place(place).ok_or("the place is no integer")?,
    })
}

const SHAPE: &str = "not of the form thread|op(name)|integer";

fn parse_place(text: &[u8]) -> Option<u32> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if digits.is_empty() {
        return None;
    }
    let mut place = Some(0u32);
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        place = place.and_then(|place| place.checked_mul(10)?.checked_add(u32::from(digit - b'0')));
    }
    Some(if negative { 0 } else { place.unwrap_or(0) })
}

/// The line without its end; none if nothing is on it.
fn trim_line(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    (!line.is_empty()).then_some(line)
}

/// Reads a trace in STD form into memory.
pub(crate) fn parse(text: &str) -> Result<MemoryTrace, TextError> {
    let mut builder = Builder::new();
    for (index, line) in text.lines().enumerate() {
        let Some(line) = trim_line(line.as_bytes()) else {
            continue;
        };
        let line = parse_line(line).map_err(|message| TextError {
            line: index + 1,
            message: message.to_string(),
        })?;
        let name = String::from_utf8_lossy(line.name);
        let thread = builder.thread(&String::from_utf8_lossy(line.thread));
        let op = match line.op {
            StdOp::Read => Op::Read {
                location: builder.variable(&name),
                value: Value::Unknown,
            },
            StdOp::Write => Op::Write {
                location: builder.variable(&name),
                value: Value::Unknown,
            },
            StdOp::Acquire => Op::Acquire {
                lock: builder.lock(&name),
                mode: Mode::Exclusive,
            },
            StdOp::Release => Op::Release {
                lock: builder.lock(&name),
                mode: Mode::Exclusive,
            },
            StdOp::Fork => Op::Fork {
                child: builder.thread(&name),
            },
            StdOp::Join => Op::Join {
                limited: false,
                child: builder.thread(&name),
            },
            StdOp::Begin => Op::UnitBegin,
            StdOp::End => Op::UnitEnd,
        };
        builder.push(thread, line.place, op);
    }
    Ok(builder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart() {
        let line = parse_line(b"T 0|r(a.B.c(I)V|x)|345").expect("a line");
        assert_eq!((line.thread, line.name), (&b"T 0"[..], &b"a.B.c(I)V|x"[..]));
        assert_eq!((line.op, line.place), (StdOp::Read, 345));
        assert_eq!(parse_line(b"T|begin()|-1").map(|line| line.place), Ok(0));
        assert_eq!(parse_line(b"T|w(x)|99999999999999999999").map(|line| line.place), Ok(0));
    }

    #[test]
    fn malformed_lines_say_what_is_wrong() {
        for (line, wrong) in [
            ("", SHAPE),
            ("T0", SHAPE),
            ("T0|r(x)", SHAPE),
            ("T0|r|3", SHAPE),
            ("T0|r(x|3", "the `)` is missing"),
            (
                "T0|x(x)|3",
                "the operation is none of r, w, acq, rel, fork, join, begin, end",
            ),
            ("|r(x)|3", "the thread has no name"),
            ("T0|r()|3", "there is no name between the parentheses"),
            ("T0|r(x)|", "the place is no integer"),
            ("T0|r(x)|3x", "the place is no integer"),
        ] {
            assert_eq!(parse_line(line.as_bytes()), Err(wrong), "{line}");
        }
    }

    #[test]
    fn a_malformed_line_in_a_text_is_named() {
        let error = MemoryTrace::from_std("T0|r(x)|1\n\nT0|r(x)1\n").expect_err("no trace");
        assert_eq!(error.line, 3);
    }
}
