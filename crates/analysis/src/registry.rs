//! The analyses by name. To add one: write its module, add its line to the table here.

use crate::automata::Automata;
use crate::blocks::Blocks;
use crate::engine::Analysis;
use crate::lockset::Lockset;
use crate::patterns::Patterns;
use crate::patterns::language::Pattern;
use crate::race::{Observed, Predicted, Race};
use crate::reduction::units::Reduction;
use crate::serializability::Serializability;

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Registered {
    /// Its name, as `--analyses` takes it.
    pub name: &'static str,
    /// Whether it runs if the user names none.
    pub by_default: bool,
    /// Makes one, with the user's patterns.
    pub make: fn(&[Pattern]) -> Box<dyn Analysis>,
}

/// An analysis that runs by default.
const fn analysis(name: &'static str, make: fn(&[Pattern]) -> Box<dyn Analysis>) -> Registered {
    Registered {
        name,
        by_default: true,
        make,
    }
}

/// A part of an analysis that can be run for itself.
const fn part(name: &'static str, make: fn(&[Pattern]) -> Box<dyn Analysis>) -> Registered {
    Registered {
        by_default: false,
        ..analysis(name, make)
    }
}

/// A table of analyses.
#[derive(Clone, Copy, Debug)]
pub struct Registry<'a>(pub &'a [Registered]);

/// The analyses of Ravel, in the order of the reports.
pub const ANALYSES: Registry<'static> = Registry(&[
    analysis("lockset", |_| Box::<Lockset>::default()),
    analysis("race", |_| Box::<Race>::default()),
    analysis("reduction", |_| Box::<Reduction>::default()),
    analysis("blocks", |_| Box::<Blocks>::default()),
    analysis("automata", |_| Box::<Automata>::default()),
    analysis("patterns", |patterns| Box::new(Patterns::new(patterns))),
    analysis("serializability", |_| Box::<Serializability>::default()),
    part("race-observed", |_| Box::<Observed>::default()),
    part("race-unordered", |_| Box::new(Observed::unordered())),
    part("race-predicted", |_| Box::<Predicted>::default()),
]);

impl<'a> Registry<'a> {
    /// Every name that `--analyses` takes.
    pub fn names(self) -> impl Iterator<Item = &'static str> + 'a {
        self.0.iter().map(|known| known.name)
    }

    /// The names of those that run by default.
    pub fn default_names(self) -> Vec<&'static str> {
        let default = self.0.iter().filter(|known| known.by_default);
        default.map(|known| known.name).collect()
    }

    /// The analyses named, or the default ones if none is, with the user's patterns.
    pub fn choose(self, chosen: &[String], patterns: &[Pattern]) -> Result<Vec<Box<dyn Analysis>>, UnknownAnalysis> {
        if chosen.is_empty() {
            let default = self.0.iter().filter(|known| known.by_default);
            return Ok(default.map(|known| (known.make)(patterns)).collect());
        }
        let find = |name: &String| {
            let known = self.0.iter().find(|known| known.name == name);
            known.ok_or_else(|| UnknownAnalysis {
                name: name.clone(),
                known: self.names().collect::<Vec<_>>().join(", "),
            })
        };
        chosen
            .iter()
            .map(|name| find(name).map(|known| (known.make)(patterns)))
            .collect()
    }
}

/// A name that no analysis has.
#[derive(Debug, thiserror::Error)]
#[error("no analysis `{name}`; the analyses are {known}")]
pub struct UnknownAnalysis {
    /// What was asked for.
    pub name: String,
    /// All names that there are.
    pub known: String,
}

/// Every name that `--analyses` takes.
pub fn names() -> impl Iterator<Item = &'static str> {
    ANALYSES.names()
}

/// All analyses that run by default.
pub fn all() -> Vec<Box<dyn Analysis>> {
    let default = ANALYSES.0.iter().filter(|known| known.by_default);
    default.map(|known| (known.make)(&[])).collect()
}

/// The analyses named, or the default ones if none is, with the user's patterns.
pub fn choose(chosen: &[String], patterns: &[Pattern]) -> Result<Vec<Box<dyn Analysis>>, UnknownAnalysis> {
    ANALYSES.choose(chosen, patterns)
}

/// One analysis by name.
pub fn by_name(name: &str) -> Option<Box<dyn Analysis>> {
    let known = ANALYSES.0.iter().find(|known| known.name == name);
    known.map(|known| (known.make)(&[]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::analyse;
    use crate::units::UnitSettings;
    use ravel_trace::MemoryTrace;
    use std::collections::BTreeSet;

    #[test]
    fn analyses_are_registered_under_their_own_names() {
        for known in ANALYSES.0 {
            assert_eq!((known.make)(&[]).name(), known.name);
        }
        let default: Vec<&str> = all().iter().map(|analysis| analysis.name()).collect();
        assert_eq!(default, ANALYSES.default_names());
        let all_names: BTreeSet<&str> = names().collect();
        assert_eq!(all_names.len(), ANALYSES.0.len(), "two analyses have one name");
        assert!(!default.is_empty() && default.len() < all_names.len(), "{default:?}");
        let error = choose(&["locksets".to_owned()], &[]).err().expect("unknown");
        assert!(error.to_string().contains("lockset, race, "), "{error}");
    }

    /// An analysis is one file and one line: this module is the file.
    mod writes {
        use crate::engine::{Access, Analysis, Context, Needs, View};
        use crate::finding::{Evidence, Rule};
        use crate::raw::{RawReport, RawStep, StepKind};

        /// Reports every write.
        #[derive(Default)]
        pub struct Writes(Vec<RawStep>);

        impl Analysis for Writes {
            fn name(&self) -> &'static str {
                "writes"
            }

            fn needs(&self) -> Needs {
                Needs {
                    every: true,
                    ..Needs::default()
                }
            }

            fn access(&mut self, _: &View, access: &Access) {
                if access.point.kind == StepKind::Write {
                    self.0.push(RawStep {
                        point: access.point,
                        location: Some(access.location),
                        lock: None,
                        owner: None,
                    });
                }
            }

            fn finish(&mut self, _: &Context<'_>) -> Vec<RawReport> {
                let report = |step: &RawStep| RawReport {
                    analysis: "writes",
                    rule: Rule::LockDiscipline,
                    evidence: Evidence::Suspected,
                    pattern: String::new(),
                    steps: vec![*step],
                    observed: true,
                };
                self.0.iter().map(report).collect()
            }
        }
    }

    #[test]
    fn an_analysis_is_one_line_of_the_table() {
        let line = analysis("writes", |_| Box::<writes::Writes>::default());
        let extended = [ANALYSES.0, &[line]].concat();
        let registry = Registry(&extended);
        let default = registry.choose(&[], &[]).expect("the default ones");
        assert_eq!(default.len(), all().len() + 1);
        let chosen = registry.choose(&["writes".to_owned()], &[]).expect("registered");
        let mut trace = MemoryTrace::parse("main | t\nfork t\n| begin\n| r x\nw x\n").expect("a trace");
        let analysed = analyse(&mut trace, &UnitSettings::default(), chosen);
        let variables: Vec<&str> = analysed
            .findings
            .iter()
            .flat_map(|finding| finding.variables.iter().map(String::as_str))
            .collect();
        assert_eq!(variables, ["x"]);
    }
}
