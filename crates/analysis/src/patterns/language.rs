//! The language of access patterns: `[E, T, SV, AR, AT]` of Pecan, section 3, as one line of text.
//!
//! `R1(x) W2(x) W1(x)` reads: unit 1 reads `x`, unit 2 writes it, unit 1 writes it. The number names the unit, and a
//! unit has a thread of its own unless two units are given one, `R1.1(x) W2(x) R1.2(x)` being two units of thread 1.
//! Letters in brackets are variables; different letters stand for different locations of one atomic set. `R1(a.x) W2(b.y)` ranges over two sets: `x` is of
//! one, `y` of another, and a unit is all that its outermost activation touches. `&` between
//! two events asks that nothing comes between them, neither lock nor order: `R1(x) & W2(x)` is a data race.
//! Any number of events, threads, units and variables may be used.

use std::fmt;
use std::str::FromStr;

use crate::transaction::Kind;

/// One event of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Item {
    /// Which thread (T), from 0 in order of appearance.
    pub thread: usize,
    /// Which unit (AR), from 0 in order of appearance.
    pub unit: usize,
    /// Which variable (SV), from 0 in order of appearance.
    pub variable: usize,
    /// Which atomic set the variable is of, from 0 in order of appearance.
    pub set: usize,
    /// Read or write (AT).
    pub kind: Kind,
    /// Nothing comes between the event before and this one.
    pub adjacent: bool,
}

/// A sequence of accesses that no serial order of its units gives.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pattern {
    items: Vec<Item>,
    name: String,
    units: usize,
    variables: usize,
    sets: usize,
}

/// Why a pattern could not be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("pattern `{text}`: {problem}")]
pub struct PatternError {
    /// The pattern.
    pub text: String,
    /// What is wrong, and what was expected.
    pub problem: String,
}

impl Pattern {
    /// The events in order.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// How many units take part.
    pub fn units(&self) -> usize {
        self.units
    }

    /// How many variables are accessed.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// Over how many atomic sets the variables range.
    pub fn sets(&self) -> usize {
        self.sets
    }

    /// The atomic set of a variable.
    pub fn set_of(&self, variable: usize) -> usize {
        let item = self.items.iter().find(|item| item.variable == variable);
        item.map_or(0, |item| item.set)
    }

    /// The same pattern under the name that its author gave it: reports write it with that name and the author's letters.
    pub fn named(mut self, name: &str, steps: &str) -> Pattern {
        let steps: Vec<&str> = steps.split_whitespace().collect();
        self.name = format!("{name:?}: {}", steps.join(" "));
        self
    }

    /// Whether its accesses in this order are always those of some serial order of the units: conflicting accesses of two units come in one
    /// direction only. Accesses that nothing may order are a race, whatever the order.
    pub fn is_serializable(&self) -> bool {
        let conflict = |a: &Item, b: &Item| {
            a.unit != b.unit && a.variable == b.variable && (a.kind == Kind::Write || b.kind == Kind::Write)
        };
        let races = self
            .items
            .windows(2)
            .any(|pair| pair[1].adjacent && conflict(&pair[0], &pair[1]));
        // Units that come before others, by conflicts and in their thread.
        let mut before = vec![vec![false; self.units]; self.units];
        for (at, first) in self.items.iter().enumerate() {
            for second in &self.items[at + 1..] {
                let in_thread = first.unit != second.unit && first.thread == second.thread;
                before[first.unit][second.unit] |= conflict(first, second) || in_thread;
            }
        }
        for middle in 0..self.units {
            for from in 0..self.units {
                for to in 0..self.units {
                    before[from][to] |= before[from][middle] && before[middle][to];
                }
            }
        }
        !races && (0..self.units).all(|unit| !before[unit][unit])
    }

    /// As reports write it: `R(x) W'(x) W(x)`, the second unit with a prime; those of AtomicSet, Figure 2, after their
    /// number there; a race as `R W'`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether this asks for two unordered accesses and no more.
    pub fn is_race(&self) -> bool {
        self.items.len() == 2 && self.items[1].adjacent
    }

    /// The events of one unit: their positions in the pattern.
    pub fn of_unit(&self, unit: usize) -> impl Iterator<Item = usize> + '_ {
        self.items
            .iter()
            .enumerate()
            .filter(move |(_, item)| item.unit == unit)
            .map(|(at, _)| at)
    }

    fn build(mut items: Vec<Item>) -> Result<Pattern, String> {
        if items.len() < 2 {
            return Err("expected two or more events".into());
        }
        let variables = renumber(&mut items, |item| &mut item.variable);
        let sets = renumber(&mut items, |item| &mut item.set);
        renumber(&mut items, |item| &mut item.unit);
        let threads = renumber(&mut items, |item| &mut item.thread);
        if threads < 2 {
            return Err("expected two or more threads".into());
        }
        for (at, item) in items.iter().enumerate() {
            if items[..at]
                .iter()
                .any(|earlier| earlier.unit == item.unit && earlier.thread != item.thread)
            {
                return Err("a unit belongs to one thread only".into());
            }
            if item.adjacent && items[at - 1].thread == item.thread {
                return Err("`&` joins events of different threads".into());
            }
        }
        let units = items.iter().map(|item| item.unit + 1).max().unwrap_or(0);
        let race = items.len() == 2 && items[1].adjacent;
        let word = |item: &Item| {
            let letter = if item.kind == Kind::Read { 'R' } else { 'W' };
            let prime = "'".repeat(item.unit);
            match race {
                true => format!("{letter}{prime}"),
                false => format!("{letter}{prime}({})", variable_name(item.variable)),
            }
        };
        let name = items.iter().map(word).collect::<Vec<_>>().join(" ");
        Ok(Pattern {
            items,
            name,
            units,
            variables,
            sets,
        })
    }
}

/// Gives the values of a column the numbers 0, 1, … in order of appearance; says how many there are.
fn renumber(items: &mut [Item], column: impl Fn(&mut Item) -> &mut usize) -> usize {
    let mut seen: Vec<usize> = Vec::new();
    for item in items {
        let value = column(item);
        *value = seen.iter().position(|known| known == value).unwrap_or_else(|| {
            seen.push(*value);
            seen.len() - 1
        });
    }
    seen.len()
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let fail = |problem: String| PatternError {
            text: text.to_owned(),
            problem,
        };
        let mut variables: Vec<&str> = Vec::new();
        let mut sets: Vec<&str> = Vec::new();
        let mut units: Vec<(usize, usize)> = Vec::new();
        let mut items = Vec::new();
        let mut adjacent = false;
        for word in text.split_whitespace() {
            if word == "&" {
                if adjacent || items.is_empty() {
                    return Err(fail("`&` stands between two events".into()));
                }
                adjacent = true;
                continue;
            }
            let event = parse_event(word).map_err(fail)?;
            let unit = (event.thread, event.unit);
            let unit = units.iter().position(|known| *known == unit).unwrap_or_else(|| {
                units.push(unit);
                units.len() - 1
            });
            let variable = variables
                .iter()
                .position(|known| *known == event.variable)
                .unwrap_or_else(|| {
                    variables.push(event.variable);
                    variables.len() - 1
                });
            let set = event.variable.split_once('.').map_or("", |(set, _)| set);
            let set = sets.iter().position(|known| *known == set).unwrap_or_else(|| {
                sets.push(set);
                sets.len() - 1
            });
            items.push(Item {
                thread: event.thread,
                unit,
                variable,
                set,
                kind: event.kind,
                adjacent,
            });
            adjacent = false;
        }
        if adjacent {
            return Err(fail("`&` stands between two events".into()));
        }
        Pattern::build(items).map_err(fail)
    }
}

struct EventWord<'a> {
    kind: Kind,
    thread: usize,
    unit: usize,
    variable: &'a str,
}

fn parse_event(word: &str) -> Result<EventWord<'_>, String> {
    let expected = || format!("expected an event such as `R1(x)`, found `{word}`");
    let (head, variable) = word
        .strip_suffix(')')
        .and_then(|word| word.split_once('('))
        .ok_or_else(expected)?;
    let mut letters = head.chars();
    let kind = match letters.next() {
        Some('R' | 'r') => Kind::Read,
        Some('W' | 'w') => Kind::Write,
        _ => return Err(expected()),
    };
    let (thread, unit) = letters.as_str().split_once('.').unwrap_or((letters.as_str(), "0"));
    let number = |text: &str| text.parse::<u16>().map(usize::from).map_err(|_| expected());
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let (set, letter) = variable.split_once('.').unwrap_or(("s", variable));
    if !is_word(set) || !is_word(letter) {
        return Err(expected());
    }
    Ok(EventWord {
        kind,
        thread: number(thread)?,
        unit: number(unit)?,
        variable,
    })
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, item) in self.items.iter().enumerate() {
            let letter = if item.kind == Kind::Read { 'R' } else { 'W' };
            let space = match (at, item.adjacent) {
                (0, _) => "",
                (_, true) => " & ",
                (_, false) => " ",
            };
            let variable = variable_name(item.variable);
            write!(f, "{space}{letter}{}.{}({variable})", item.thread + 1, item.unit + 1)?;
        }
        Ok(())
    }
}

fn variable_name(number: usize) -> String {
    match ["x", "y", "z"].get(number) {
        Some(name) => (*name).to_owned(),
        None => format!("v{number}"),
    }
}

/// A data race, in each of its three forms.
pub const RACES: [&str; 3] = ["R1(x) & W2(x)", "W1(x) & R2(x)", "W1(x) & W2(x)"];

/// The five patterns of one variable: 1 to 5 of AtomicSet, Figure 2.
pub const ATOMICITY: [&str; 5] = [
    "R1(x) W2(x) W1(x)",
    "R1(x) W2(x) R1(x)",
    "W1(x) R2(x) W1(x)",
    "W1(x) W2(x) R1(x)",
    "W1(x) W2(x) W1(x)",
];

/// The nine patterns of two variables: 6 to 14 of AtomicSet, Figure 2.
pub const ATOMIC_SET: [&str; 9] = [
    "W1(x) W2(x) W2(y) W1(y)",
    "W1(x) W2(y) W2(x) W1(y)",
    "W1(x) W2(y) W1(y) W2(x)",
    "W1(x) R2(x) R2(y) W1(y)",
    "W1(x) R2(y) R2(x) W1(y)",
    "R1(x) W2(x) W2(y) R1(y)",
    "R1(x) W2(y) W2(x) R1(y)",
    "R1(x) W2(y) R1(y) W2(x)",
    "W1(x) R2(y) W1(y) R2(x)",
];

/// The patterns of a table above.
pub fn built_in(table: &[&str]) -> Vec<Pattern> {
    // A test reads every table, so none of them is lost here.
    table
        .iter()
        .filter_map(|text| text.parse().ok())
        .map(numbered)
        .collect()
}

/// The pattern with its number in AtomicSet, Figure 2, if it is one of those.
fn numbered(pattern: Pattern) -> Pattern {
    let figure = ATOMICITY.iter().chain(&ATOMIC_SET).zip(1..);
    let number = figure
        .into_iter()
        .find(|(text, _)| text.parse().is_ok_and(|known: Pattern| known == pattern));
    let name = match number {
        Some((_, number)) => format!("{number}: {}", pattern.name),
        None => pattern.name,
    };
    Pattern { name, ..pattern }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn what_some_serial_order_always_gives_is_known() {
        let serializable = |text: &str| text.parse::<Pattern>().expect("a pattern").is_serializable();
        for text in [
            "R1(x) R2(x)",
            "R1(x) W2(x)",
            "R1(x) W2(x) R2(y) W3(y)",
            "W1(x) R2(y) W1(x)",
            "W1(x) R2(x) R2(y)",
        ] {
            assert!(serializable(text), "{text}");
        }
        for text in [
            "R1(x) W2(x) W1(x)",
            "R1(x) & W2(x)",
            "R1(x) W2(x) R1(x) W2(x)",
            "R1.1(x) W2(x) R1.2(y) W2(x) R1.1(x)",
        ] {
            assert!(!serializable(text), "{text}");
        }
        // A cycle over three units; no two of them conflict both ways.
        assert!(!serializable("R1(x) W2(x) R2(y) W3(y) R3(z) W1(z)"));
        for table in [&RACES[..], &ATOMICITY, &ATOMIC_SET] {
            assert!(built_in(table).iter().all(|pattern| !pattern.is_serializable()));
        }
    }

    #[test]
    fn a_named_pattern_keeps_its_name_and_letters() {
        let steps = "R1(free)  W2(free) W1(free)";
        let pattern: Pattern = steps.parse().expect("a pattern");
        assert_eq!(
            pattern.named("lost seat", steps).name(),
            "\"lost seat\": R1(free) W2(free) W1(free)"
        );
    }

    #[test]
    fn letters_may_be_of_several_sets() {
        let pattern: Pattern = "W1(a.x) R2(a.x) R2(b.y) W1(b.y)".parse().expect("a pattern");
        assert_eq!((pattern.sets(), pattern.variables()), (2, 2));
        assert_eq!((pattern.set_of(0), pattern.set_of(1)), (0, 1));
        let pattern: Pattern = "W1(x) R2(x) R2(y) W1(y)".parse().expect("a pattern");
        assert_eq!(pattern.sets(), 1);
        for wrong in ["R1(a.) W2(x)", "R1(.x) W2(x)", "R1(a.b.c) W2(x)"] {
            assert!(wrong.parse::<Pattern>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn figure_2_of_pecan_comes_out_as_its_columns() {
        let pattern: Pattern = "W1(a) R2(a) R2(b) W1(b)".parse().unwrap();
        let column = |of: fn(&Item) -> usize| pattern.items().iter().map(of).collect::<Vec<_>>();
        assert_eq!(column(|item| item.thread), [0, 1, 1, 0]);
        assert_eq!(column(|item| item.variable), [0, 0, 1, 1]);
        assert_eq!(column(|item| item.unit), [0, 1, 1, 0]);
        assert_eq!(pattern.name(), "W(x) R'(x) R'(y) W(y)");
        assert_eq!(built_in(&RACES)[0].name(), "R W'");
        assert_eq!(built_in(&ATOMICITY)[0].name(), "1: R(x) W'(x) W(x)");
        assert_eq!(built_in(&ATOMIC_SET)[8].name(), "14: W(x) R'(y) W(y) R'(x)");
    }

    #[test]
    fn what_is_printed_reads_back() {
        for text in RACES
            .iter()
            .chain(&ATOMICITY)
            .chain(&ATOMIC_SET)
            .chain(&["R1.1(x) W2(y) & W1.2(z)"])
        {
            let pattern: Pattern = text.parse().unwrap();
            assert_eq!(pattern.to_string().parse::<Pattern>().unwrap(), pattern);
        }
    }

    #[test]
    fn every_table_is_read_whole() {
        assert_eq!(built_in(&RACES).len(), 3);
        assert_eq!(built_in(&ATOMICITY).len(), 5);
        assert_eq!(built_in(&ATOMIC_SET).len(), 9);
    }

    #[test]
    fn errors_say_what_was_expected() {
        let problem = |text: &str| text.parse::<Pattern>().unwrap_err().problem;
        assert_eq!(
            problem("R1(x) Q2(x)"),
            "expected an event such as `R1(x)`, found `Q2(x)`"
        );
        assert_eq!(problem("R1(x) W1(x)"), "expected two or more threads");
        assert_eq!(problem("R1(x)"), "expected two or more events");
        assert_eq!(problem("R1(x) & & W2(x)"), "`&` stands between two events");
    }
}
