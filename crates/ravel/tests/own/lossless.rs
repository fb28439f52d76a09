//! Whether a plan leaves out what an analysis needs: the events that it says need no recording, and the findings with and without them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::{LIMIT, record_within};
use crate::common::Jdk;
use ravel_analysis::analyse::analyse;
use ravel_analysis::finding::{Evidence, Finding};
use ravel_analysis::focus::Focus;
use ravel_analysis::registry;
use ravel_analysis::units::UnitSettings;
use ravel_own::plan::Plan;
use ravel_own::reduced::reduced;
use ravel_prove::plans::proven;
use ravel_trace::{Event, Names, ReadOptions, Reader, Source, SourceError};

/// What a plan says of each site of a trace: `l` for objects of one thread, `o` for objects that go from one
/// thread to one other, `u` for objects that never change, `g` for what cannot race for other reasons. Sites are added as a trace is read.
fn learn(plan: &Plan, names: &Names, known: &mut Vec<Option<char>>) {
    let find = |site: &ravel_trace::names::Site| {
        let method = names.methods.get(site.method.index())?;
        let class = &names.class(method.class).name;
        let outer = class.split('$').next().unwrap_or(class);
        if plan.plain.iter().any(|plain| plain == outer) {
            return Some('u');
        }
        if plan.plain_for_races.iter().any(|plain| plain == outer) {
            return Some('g');
        }
        let at = plan.classes.binary_search_by(|known| known.name.cmp(class)).ok()?;
        let class = &plan.classes[at];
        let selector = format!("{}{}", method.name, method.descriptor);
        let method = class.methods.iter().find(|known| known.name == selector)?;
        let pc = u16::try_from(site.bci).ok()?;
        let ways = [
            (&method.local, 'l'),
            (&method.unique, 'o'),
            (&method.unchanging, 'u'),
            (&method.guarded, 'g'),
            (&method.touching, 'g'),
        ];
        ways.iter()
            .find(|(places, _)| places.contains(&pc))
            .map(|(_, way)| *way)
    };
    known.extend(names.sites.iter().skip(known.len()).map(find));
}

/// A trace without what a plan leaves out.
struct Focused<'a> {
    trace: &'a Path,
    reader: Reader,
    plan: &'a Plan,
    known: Vec<Option<char>>,
    for_races: bool,
}

impl<'a> Focused<'a> {
    fn open(trace: &'a Path, plan: &'a Plan, for_races: bool) -> Focused<'a> {
        Focused {
            trace,
            reader: open(trace),
            plan,
            known: Vec::new(),
            for_races,
        }
    }
}

impl Source for Focused<'_> {
    fn next_event(&mut self) -> Result<Option<Event>, SourceError> {
        loop {
            let Some(event) = self.reader.next_event()? else {
                return Ok(None);
            };
            learn(self.plan, self.reader.names(), &mut self.known);
            let way = self.known.get(event.site.index()).copied().flatten();
            let left_out = way.is_some_and(|way| way != 'g' || self.for_races);
            if event.op.location().is_none() || !left_out {
                return Ok(Some(event));
            }
        }
    }

    fn names(&self) -> &Names {
        self.reader.names()
    }

    // The analyses skip unshared locations only if they can read twice, and would reach other bounds without.
    fn again(&mut self) -> Option<Box<dyn Source + '_>> {
        Some(Box::new(Focused::open(self.trace, self.plan, self.for_races)))
    }
}

pub(super) fn open(trace: &Path) -> Reader {
    Reader::open(trace, ReadOptions::default()).expect("the trace can be read")
}

/// The analyses of races, by name.
const RACES: [&str; 2] = ["lockset", "race"];

/// What is found at `predicted` and above, by id.
#[derive(Default)]
struct Found {
    all: BTreeMap<String, Finding>,
    /// Whether some bound of the analyses was met: then a few events less may lead to other examples of the same.
    bounded: bool,
}

impl Found {
    /// What others do not have.
    fn missing_in<'a>(&'a self, others: &Found) -> Vec<&'a Finding> {
        let missing = self.all.iter().filter(|(id, _)| !others.all.contains_key(*id));
        missing.map(|(_, finding)| finding).collect()
    }

    /// Whether something of the same kind is found on one of the variables.
    fn has_like(&self, wanted: &Finding) -> bool {
        self.all.values().any(|finding| {
            let shared = finding
                .variables
                .iter()
                .any(|variable| wanted.variables.contains(variable));
            finding.rule == wanted.rule && shared
        })
    }
}

fn texts(findings: &[&Finding]) -> Vec<String> {
    let text = |finding: &&Finding| {
        let units: Vec<&str> = finding.units.iter().map(|unit| unit.method.as_str()).collect();
        format!(
            "{:?} {:?} of {:?} by {:?} in {units:?}",
            finding.evidence, finding.rule, finding.variables, finding.analyses
        )
    };
    findings.iter().map(text).collect()
}

/// What the analyses named find, or all.
fn findings(source: &mut dyn Source, focus: Focus, names: &[&str]) -> Found {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let analyses = registry::choose(&names, &[]).expect("these analyses are there");
    let settings = UnitSettings {
        focus,
        ..UnitSettings::default()
    };
    let analysed = analyse(source, &settings, analyses);
    let mut found = Found {
        bounded: !analysed.left_out.is_empty(),
        ..Found::default()
    };
    for finding in analysed.findings {
        if finding.evidence >= Evidence::Predicted {
            found.all.insert(finding.id.clone(), finding);
        }
    }
    found
}

/// Nothing that the plan leaves out is in a recording in which nothing is left out, but reads of what never changes; and
/// without these the findings are the same.
pub(super) fn loses_nothing(jdk: &Jdk, classes: &Path, plan: &Plan, name: &str, dir: &Path) -> Result<(), String> {
    loses_nothing_within(jdk, classes, plan, name, dir, &[], LIMIT).map(|_| ())
}

/// How many events were looked at, and how many of them the plan leaves out: of every recording, and of those for races.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) events: u64,
    pub(super) left_out: u64,
    pub(super) for_races: u64,
    /// Findings that came with other examples, where bounds were met.
    pub(super) other_examples: usize,
}

pub(super) fn loses_nothing_within(
    jdk: &Jdk,
    classes: &Path,
    plan: &Plan,
    name: &str,
    dir: &Path,
    options: &[&str],
    limit: Duration,
) -> Result<Checked, String> {
    let trace = dir.join(format!("{name}-{}.ravel", jdk.release));
    let output = record_within(jdk, classes, name, &trace, options, limit);
    if !trace.exists() {
        return Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let mut reader = open(&trace);
    let mut wrong = Vec::new();
    let mut known = Vec::new();
    let mut owners = std::collections::HashMap::new();
    let mut checked = Checked::default();
    while let Some(event) = reader.next_event().map_err(|error| error.to_string())? {
        checked.events += 1;
        learn(plan, reader.names(), &mut known);
        let Some(location) = event.op.location() else { continue };
        let proven = known.get(event.site.index()).copied().flatten();
        checked.left_out += u64::from(proven.is_some_and(|way| way != 'g'));
        checked.for_races += u64::from(proven.is_some());
        let site = reader.names().site(event.site);
        let method = reader.names().methods.get(site.method.index());
        // What a class initialiser writes comes before every other use of the class.
        let initialises = method.is_some_and(|method| method.name == "<clinit>");
        // A permanent owner is one thread.
        let others = proven == Some('o') && *owners.entry(location).or_insert(event.thread) != event.thread;
        if proven == Some('l') || others || proven == Some('u') && event.op.is_write() && !initialises {
            wrong.push(format!(
                "{} of {} in {} line {}",
                if event.op.is_write() { "write" } else { "read" },
                reader.names().location_name(location),
                method.map_or("", |method| method.name.as_str()),
                site.line
            ));
        }
    }
    if !wrong.is_empty() {
        wrong.dedup();
        wrong.truncate(5);
        return Err(format!("{name} on JDK {}: left out and needed: {wrong:?}", jdk.release));
    }
    let mut failures = Vec::new();
    let reducing = Focus {
        shorten: Some(reduced),
        ..proven(plan)
    };
    let ways = [
        ("combined", &[][..], proven(plan)),
        ("races", &RACES[..], proven(plan)),
        ("combined, atomic units reduced", &["blocks"][..], reducing),
    ];
    for (way, analyses, focus) in ways {
        let full = findings(&mut open(&trace), Focus::default(), analyses);
        let mut source = Focused::open(&trace, plan, way == "races");
        let focused = findings(&mut source, focus, analyses);
        let (mut lost, mut new) = (full.missing_in(&focused), focused.missing_in(&full));
        if full.bounded {
            checked.other_examples += lost.len();
            lost.retain(|finding| !focused.has_like(finding));
            checked.other_examples -= lost.len();
            new.clear();
        }
        if !lost.is_empty() || !new.is_empty() {
            failures.push(format!(
                "{name} on JDK {}, {way}: lost {:?}, new {:?}",
                jdk.release,
                texts(&lost),
                texts(&new)
            ));
        }
    }
    let _ = std::fs::remove_file(&trace);
    match failures.is_empty() {
        true => Ok(checked),
        false => Err(failures.join("; ")),
    }
}
