//! Objects that are handed to another thread before they are complete: a method gives the object away by a call, and writes a field of it
//! afterwards that the other thread reads.
//!
//! A recording leaves out what a thread does to an object that it alone has had so far, so the write is missing if the other thread happened to come
//! after it, and no analysis sees the race. What the trace has is the read, first of its cell, of a value that no recorded write left there, and the
//! instructions of the program that name the field. A thread that stands before such a write while another one reads the same cell is a data race,
//! whatever made it be tried. Only the code of the program's own package is tried, and only writes with a call before them in their method.

use ravel_analysis::describe::as_sentence;
use ravel_analysis::finding::{Candidate, EventRef, Evidence, Finding, FindingStep, Rule};
use ravel_analysis::merge::fingerprint;
use ravel_protocol::goal::{CodeSite, GoalShape, StepKind};
use ravel_trace::names::{Location, Names, SiteKind, flags};
use ravel_trace::{Event, FieldId, Op, SiteId, Value};
use rustc_hash::FxHashSet;

use super::derive::{CodeHold, CodeRole, CodeStep};
use super::places::{STAND_IN, code_method, instruction};
use super::ready::{Ready, goal, short_name};
use super::tested::own_prefix;

/// Writes that are tried.
const MOST_WRITES: usize = 6;
/// Fields whose reads are remembered.
const MOST_FIELDS: usize = 200;

/// The first read of a cell that no recorded write came before.
#[derive(Debug)]
struct FirstRead {
    field: FieldId,
    site: SiteId,
    reference: EventRef,
}

/// Sees a trace go by.
#[derive(Debug, Default)]
pub struct PublishedReads {
    /// How the names of the program's own classes begin.
    own: Option<String>,
    /// By field: whether it is one of the program's own that could be in a race.
    fields: Vec<Option<bool>>,
    /// By location: whether it was accessed.
    accessed: Vec<bool>,
    /// By site: whether an event has it.
    seen: Vec<bool>,
    /// By method: whether it was entered.
    entered: Vec<bool>,
    reads: Vec<FirstRead>,
    /// Variables that have a race already.
    known: FxHashSet<String>,
}

impl PublishedReads {
    /// Before the first event; races that are found already are not looked for.
    pub fn of(findings: &[Finding]) -> PublishedReads {
        let races = findings.iter().filter(|finding| finding.rule == Rule::DataRace);
        PublishedReads {
            known: races.flat_map(|finding| finding.variables.iter().cloned()).collect(),
            ..PublishedReads::default()
        }
    }

    /// The next event.
    pub fn event(&mut self, event: &Event, index: u64, names: &Names) {
        mark(&mut self.seen, event.site.index());
        if let Op::Enter { method } = event.op {
            mark(&mut self.entered, method.index());
            if self.own.is_none() {
                self.own = code_method(names, method.index())
                    .filter(|method| method.name == "main")
                    .map(|method| own_prefix(&method.class));
            }
        }
        let Some(location) = event.op.location() else { return };
        let Some(Location::Field(_, field)) = names.locations.get(location.index()).copied() else {
            return;
        };
        if !self.is_tried(field, names) || mark(&mut self.accessed, location.index()) {
            return;
        }
        let Op::Read { value, .. } = event.op else { return };
        let known = self.reads.iter().any(|read| read.field == field);
        if value == Value::Exact(0) || known || self.reads.len() == MOST_FIELDS {
            return;
        }
        self.reads.push(FirstRead {
            field,
            site: event.site,
            reference: EventRef {
                index,
                thread: event.thread,
                position: event.position,
                location: Some(location),
                lock: None,
            },
        });
    }

    fn is_tried(&mut self, field: FieldId, names: &Names) -> bool {
        let Some(own) = &self.own else { return false };
        if self.fields.len() <= field.index() {
            self.fields.resize(field.index() + 1, None);
        }
        *self.fields[field.index()].get_or_insert_with(|| {
            const ORDERED: u16 = flags::VOLATILE | flags::FINAL | flags::STATIC;
            names.fields.get(field.index()).is_some_and(|known| {
                let class = names.class(known.class).name.replace('.', "/");
                class.starts_with(own.as_str()) && known.flags & ORDERED == 0
            })
        })
    }

    /// What is tried: each with a finding that nothing supports yet.
    pub fn finish(self, names: &Names) -> Vec<Ready> {
        let mut all = Vec::new();
        for read in &self.reads {
            let field = &names.fields[read.field.index()];
            let variable = format!("{}.{}", names.class(field.class).name, field.name);
            let Some(reads) = instruction(names, read.site).filter(|_| !self.known.contains(&variable)) else {
                continue;
            };
            for (number, site) in names.sites.iter().enumerate() {
                let id = SiteId(number as u32);
                let is_of_field = site
                    .what
                    .field()
                    .and_then(|other| names.fields.get(other.index()))
                    .is_some_and(|other| other.class == field.class && other.name == field.name);
                let seen = |list: &[bool], index: usize| list.get(index).copied().unwrap_or(false);
                if !is_of_field || seen(&self.seen, number) || !seen(&self.entered, site.method.index()) {
                    continue;
                }
                let Some(writes) = instruction(names, id).filter(|writes| !writes.method.name.starts_with('<')) else {
                    continue;
                };
                let calls = |other: &ravel_trace::names::Site| {
                    other.method == site.method && other.bci < site.bci && matches!(other.what, SiteKind::Call(_))
                };
                if writes.method != reads.method && names.sites.iter().any(calls) {
                    all.push(ready(read, (&reads, &writes), (id, &variable), names));
                }
                if all.len() == MOST_WRITES {
                    return all;
                }
            }
        }
        all
    }
}

/// Sets a mark, and says whether it was set before.
fn mark(list: &mut Vec<bool>, index: usize) -> bool {
    if list.len() <= index {
        list.resize(index + 1, false);
    }
    std::mem::replace(&mut list[index], true)
}

/// A thread stands before the write while another one reads.
fn ready(
    read: &FirstRead,
    (reads, writes): (&CodeSite, &CodeSite),
    (site, variable): (SiteId, &str),
    names: &Names,
) -> Ready {
    let step = |role: usize, site: &CodeSite, hold: CodeHold, kind: StepKind| CodeStep {
        role,
        site: site.clone(),
        object: 0,
        hold,
        while_held: (role == 0).then_some(1),
        kind,
    };
    let steps = vec![
        step(0, reads, CodeHold::Never, StepKind::Access),
        step(1, writes, CodeHold::Here, StepKind::Write),
    ];
    Ready {
        finding: finding(read, (reads, writes), (site, variable), names),
        pattern: goal(GoalShape::Ordered, vec![CodeRole::default(); 2], steps),
        serial: Vec::new(),
        units: Vec::new(),
    }
}

/// What can happen; a method that reads what another thread writes in the same method is named once.
fn told(reads: &CodeSite, writes: &CodeSite, variable: &str) -> String {
    let (reader, writer) = (short_name(&reads.method), short_name(&writes.method));
    as_sentence(match reads.method == writes.method {
        true => format!(
            "Two threads can run {reader} at once: one reads {variable} (line {}) before the other has written it (line {}).",
            reads.line, writes.line
        ),
        false => format!(
            "{reader} (line {}) can read {variable} before {writer} (line {}) has written it: nothing orders the two.",
            reads.line, writes.line
        ),
    })
}

fn finding(
    read: &FirstRead,
    (reads, writes): (&CodeSite, &CodeSite),
    (write, variable): (SiteId, &str),
    names: &Names,
) -> Finding {
    let step = |site: SiteId, op: &str| {
        let frame = names.frame(names.site(site).method, site);
        FindingStep {
            thread: names.thread(read.reference.thread).name.clone(),
            op: op.into(),
            variable: variable.to_string(),
            class: frame.class.to_owned(),
            method: names.selector(names.site(site).method),
            file: frame.file.to_owned(),
            line: frame.line,
            ..FindingStep::default()
        }
    };
    let steps = vec![step(read.site, "read"), step(write, "write")];
    let rule = Rule::DataRace;
    let parts = [
        rule.name(),
        variable,
        steps[0].class.as_str(),
        steps[0].method.as_str(),
        steps[1].class.as_str(),
        steps[1].method.as_str(),
    ];
    let short = variable.rsplit(['.', '$']).take(2).collect::<Vec<_>>();
    Finding {
        id: fingerprint(parts.into_iter()),
        rule,
        evidence: Evidence::Suspected,
        shown: false,
        patterns: vec!["R W'".into()],
        own_pattern: None,
        analyses: vec!["replay".into()],
        message: told(reads, writes, &short.into_iter().rev().collect::<Vec<_>>().join(".")),
        help: "Assign the field before the object is handed to another thread, or hold one lock at both accesses."
            .into(),
        variables: vec![variable.to_string()],
        units: Vec::new(),
        steps,
        outcome: None,
        serial: Vec::new(),
        also: Vec::new(),
        tests: Vec::new(),
        limit: None,
        schedule: Vec::new(),
        replay: String::new(),
        candidates: vec![Candidate {
            events: vec![
                read.reference,
                // No event has the write: its place in code tells this occurrence from others.
                EventRef {
                    thread: STAND_IN,
                    position: write.0,
                    ..read.reference
                },
            ],
            owners: vec![None; 2],
            ..Candidate::default()
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravel_protocol::goal::CodeMethod;

    #[test]
    fn a_method_that_reads_what_it_writes_is_named_once() {
        let site = |name: &str, line: u32| CodeSite {
            method: CodeMethod {
                class: "shop/Timer".into(),
                name: name.into(),
                descriptor: "()V".into(),
            },
            bci: 0,
            member: String::new(),
            line,
        };
        assert_eq!(
            told(&site("lambda$start$0", 9), &site("start", 7), "Timer.handle"),
            "The lambda in Timer.start (line 9) can read Timer.handle before Timer.start (line 7) has written it: nothing orders the two."
        );
        assert_eq!(
            told(&site("start", 9), &site("start", 7), "Timer.handle"),
            "Two threads can run Timer.start at once: one reads Timer.handle (line 9) before the other has written it (line 7)."
        );
    }
}
