//! The analyses by name. To add one: write its module, add its line here.

use crate::automata::Automata;
use crate::blocks::Blocks;
use crate::engine::Analysis;
use crate::lockset::Lockset;
use crate::patterns::Patterns;
use crate::patterns::language::Pattern;
use crate::race::{Observed, Predicted, Race};
use crate::reduction::units::Reduction;
use crate::serializability::Serializability;

type Make = fn() -> Box<dyn Analysis>;

/// What runs by default, in the order of the reports.
const DEFAULT: &[(&str, Make)] = &[
    ("lockset", || Box::<Lockset>::default()),
    ("race", || Box::<Race>::default()),
    ("reduction", || Box::<Reduction>::default()),
    ("blocks", || Box::<Blocks>::default()),
    ("automata", || Box::<Automata>::default()),
    ("patterns", || Box::new(Patterns::new(&[]))),
    ("serializability", || Box::<Serializability>::default()),
];

/// Parts that can be run for themselves.
const PARTS: &[(&str, Make)] = &[
    ("race-observed", || Box::<Observed>::default()),
    ("race-predicted", || Box::<Predicted>::default()),
];

/// Every name that `--analyses` takes.
pub fn names() -> impl Iterator<Item = &'static str> {
    DEFAULT.iter().chain(PARTS).map(|(name, _)| *name)
}

/// All analyses that run by default.
pub fn all() -> Vec<Box<dyn Analysis>> {
    DEFAULT.iter().map(|(_, make)| make()).collect()
}

/// The analyses named, or the default ones if none is, with the user's patterns.
pub fn choose(chosen: &[String], patterns: &[Pattern]) -> Result<Vec<Box<dyn Analysis>>, UnknownAnalysis> {
    let wanted: Vec<&str> = match chosen {
        [] => DEFAULT.iter().map(|(name, _)| *name).collect(),
        chosen => chosen.iter().map(String::as_str).collect(),
    };
    wanted
        .into_iter()
        .map(|name| match name {
            "patterns" => Ok(Box::new(Patterns::new(patterns)) as Box<dyn Analysis>),
            name => by_name(name).ok_or_else(|| UnknownAnalysis(name.to_owned())),
        })
        .collect()
}

/// A name that no analysis has.
#[derive(Debug, thiserror::Error)]
#[error("there is no analysis `{0}`; there are {known}", known = names().collect::<Vec<_>>().join(", "))]
pub struct UnknownAnalysis(pub String);

/// One analysis by name.
pub fn by_name(name: &str) -> Option<Box<dyn Analysis>> {
    DEFAULT
        .iter()
        .chain(PARTS)
        .find(|(n, _)| *n == name)
        .map(|(_, make)| make())
}
