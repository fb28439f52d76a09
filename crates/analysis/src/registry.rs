//! The analyses by name. To add one: write its module, add its line here.

use crate::automata::Automata;
use crate::blocks::Blocks;
use crate::engine::Analysis;
use crate::lockset::Lockset;
use crate::patterns::Patterns;
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

/// One analysis by name.
pub fn by_name(name: &str) -> Option<Box<dyn Analysis>> {
    DEFAULT
        .iter()
        .chain(PARTS)
        .find(|(n, _)| *n == name)
        .map(|(_, make)| make())
}
