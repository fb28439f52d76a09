//! The forms of a schedule that people read, edit and keep: text, and the short form of a finding's JSON.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::{Leave, Schedule, Segment, ThreadName};

/// Why a text is no schedule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ParseError {
    /// A line is wrong; lines count from 1.
    #[error("line {line}: {message}")]
    Line {
        /// Which line.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// The JSON form is not a list of pairs of a thread's name and a number.
    #[error("a schedule in JSON is a list of pairs like [\"main\", 12]: {0}")]
    Json(String),
    /// A thread that the trace does not have.
    #[error("turn {turn}: the trace has no thread named {name:?}")]
    NoSuchThread {
        /// Which turn, from 1.
        turn: usize,
        /// The name.
        name: String,
    },
    /// More points than a thread can pass.
    #[error("turn {turn}: thread {name:?} would pass more points than can be counted")]
    TooManyPoints {
        /// Which turn, from 1.
        turn: usize,
        /// The name.
        name: String,
    },
}

const FIRST_LINE: &str = "ravel schedule 1";
/// The line that says that exactly one thread runs at a time.
const CONTROLLED: &str = "controlled";

impl Schedule {
    /// Thread name and number of points, in turn: the form of a finding's JSON.
    pub fn to_pairs(&self) -> Vec<(String, u32)> {
        self.segments
            .iter()
            .zip(self.points())
            .map(|(s, points)| (self.thread(s).name.clone(), points))
            .collect()
    }

    /// `[["main",12],["t1",3]]`
    pub fn to_json(&self) -> String {
        serde_json::Value::from_iter(self.to_pairs().into_iter().map(|(name, points)| {
            serde_json::Value::Array(vec![serde_json::Value::from(name), serde_json::Value::from(points)])
        }))
        .to_string()
    }

    /// Reads the form of a finding's JSON back; `threads` are those of the trace, which give names their paths.
    pub fn from_pairs(pairs: &[(String, u32)], threads: &[ThreadName]) -> Result<Schedule, ParseError> {
        let mut schedule = Schedule::default();
        let mut at: Vec<u32> = Vec::new();
        for (turn, (name, points)) in (1..).zip(pairs) {
            let known = threads.iter().find(|t| t.name == *name);
            let known = known.ok_or_else(|| ParseError::NoSuchThread {
                turn,
                name: name.clone(),
            })?;
            let index = schedule.threads.iter().position(|t| t == known).unwrap_or_else(|| {
                schedule.threads.push(known.clone());
                at.push(0);
                schedule.threads.len() - 1
            });
            let until = at[index].checked_add(*points);
            at[index] = until.ok_or_else(|| ParseError::TooManyPoints {
                turn,
                name: name.clone(),
            })?;
            schedule.segments.push(Segment {
                thread: index,
                until: at[index],
                leave: None,
            });
        }
        Ok(schedule)
    }

    /// Reads `[["main",12],["t1",3]]`.
    pub fn from_json(json: &str, threads: &[ThreadName]) -> Result<Schedule, ParseError> {
        let pairs: Vec<(String, u32)> = serde_json::from_str(json).map_err(|e| ParseError::Json(e.to_string()))?;
        Schedule::from_pairs(&pairs, threads)
    }

    /// The form to store and to edit.
    pub fn to_text(&self) -> String {
        let mut text = format!("{FIRST_LINE}\n");
        if self.controlled {
            let _ = writeln!(text, "{CONTROLLED}");
        }
        for thread in &self.threads {
            let name = serde_json::Value::from(thread.name.as_str());
            let _ = writeln!(text, "thread {} {name}", thread.path);
        }
        for segment in &self.segments {
            let _ = write!(text, "run {} to {}", self.thread(segment).path, segment.until);
            let _ = match segment.leave {
                Some(leave) => writeln!(text, " out of {leave}"),
                None => writeln!(text),
            };
        }
        text
    }

    /// Reads [`Schedule::to_text`] back. Empty lines and lines that begin with `#` are skipped.
    pub fn parse(text: &str) -> Result<Schedule, ParseError> {
        let mut lines = (1..)
            .zip(text.lines())
            .map(|(number, line)| (number, line.trim()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        match lines.next() {
            Some((_, FIRST_LINE)) => {}
            first => {
                let message = format!("a schedule begins with `{FIRST_LINE}`");
                return Err(ParseError::Line {
                    line: first.map_or(1, |(number, _)| number),
                    message,
                });
            }
        }
        let mut parser = Parser::default();
        for (line, text) in lines {
            parser
                .line(text)
                .map_err(|message| ParseError::Line { line, message })?;
        }
        Ok(parser.schedule)
    }
}

/// A line per turn.
impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.threads.iter().map(|t| t.name.chars().count()).max().unwrap_or(0);
        for (segment, points) in self.segments.iter().zip(self.points()) {
            let name = &self.thread(segment).name;
            let unit = if points == 1 { "point" } else { "points" };
            write!(f, "{name:width$}  {points} {unit}, to position {}", segment.until)?;
            match segment.leave {
                Some(leave) => writeln!(f, ", and out of {leave}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Parser {
    schedule: Schedule,
    /// By path: the thread's index and how far it has run.
    threads: HashMap<String, (usize, Option<u32>)>,
}

impl Parser {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word {
            "thread" => self.thread(rest.trim_start()),
            "run" => self.run(rest),
            CONTROLLED => {
                self.schedule.controlled = true;
                Ok(())
            }
            _ => Err(format!(
                "expected `thread PATH \"NAME\"` or `run PATH to POSITION`, found `{word}`"
            )),
        }
    }

    fn thread(&mut self, rest: &str) -> Result<(), String> {
        let (path, name) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if path.is_empty() {
            return Err("a thread needs its path, like `main/0`".to_owned());
        }
        let name: String =
            serde_json::from_str(name.trim()).map_err(|_| format!("the name of thread {path} must stand in quotes"))?;
        let index = self.schedule.threads.len();
        if self.threads.insert(path.to_owned(), (index, None)).is_some() {
            return Err(format!("thread {path} is named twice"));
        }
        self.schedule.threads.push(ThreadName {
            path: path.to_owned(),
            name,
        });
        Ok(())
    }

    fn run(&mut self, rest: &str) -> Result<(), String> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let expected =
            || "expected `run PATH to POSITION`, perhaps with `out of frame N entered N` or `out of lock N`".to_owned();
        let number = |word: &str| word.parse::<u32>().map_err(|_| format!("`{word}` is not a number"));
        let (path, position, leave) = match words[..] {
            [path, "to", position] => (path, position, None),
            [path, "to", position, "out", "of", "lock", count] => (path, position, Some(Leave::Lock(number(count)?))),
            [path, "to", position, "out", "of", "visit", times] => (path, position, Some(Leave::Times(number(times)?))),
            [path, "to", position, "out", "of", "frame", depth, "entered", entered] => {
                let (depth, entered) = (number(depth)?, number(entered)?);
                (path, position, Some(Leave::Frame { depth, entered }))
            }
            _ => return Err(expected()),
        };
        let until: u32 = position
            .parse()
            .map_err(|_| format!("`{position}` is not a position"))?;
        let Some((index, at)) = self.threads.get_mut(path) else {
            return Err(format!("no line `thread {path} …` names this thread"));
        };
        if at.is_some_and(|at| until < at || until == at && leave.is_none()) {
            return Err(format!("thread {path} is at position {} already", at.unwrap_or(0)));
        }
        *at = Some(until);
        self.schedule.segments.push(Segment {
            thread: *index,
            until,
            leave,
        });
        Ok(())
    }
}
