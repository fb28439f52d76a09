//! Which share of a plan this machine has: as the user says, or as the engine says that runs it as one of several.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// One share of several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Shard {
    /// From 0.
    index: usize,
    /// At least 1.
    count: usize,
}

/// Why it is unknown which share this machine has.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ShardError {
    /// Words that are no shard.
    #[error("`{0}` is not a shard: use I/N with I from 1 to N, as in 2/3")]
    Words(String),
    /// A variable that is no number.
    #[error("{name} is `{value}`, which is not a number: pass the shard with --shard I/N")]
    Number {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// An index without a count.
    #[error("{index} is set, but not {count}: set {count} to the number of shards, or pass the shard with --shard I/N")]
    NoCount {
        /// The variable that is set.
        index: &'static str,
        /// The variable that is not.
        count: &'static str,
    },
    /// An index beyond the count.
    #[error("{name} gives shard {number} of {count}: pass the shard with --shard I/N")]
    Beyond {
        /// The variable with the index.
        name: &'static str,
        /// From 1.
        number: i128,
        /// How many there are.
        count: usize,
    },
}

/// How an engine numbers the copies of a job.
struct Engine {
    /// The variable with the number of this copy.
    index: &'static str,
    /// The variable with how many there are.
    count: &'static str,
    /// The number of the first copy: a variable, or a constant where it is missing.
    first: (Option<&'static str>, i64),
    /// The variable with the distance of two numbers.
    step: Option<&'static str>,
}

/// Set by hand, for Kubernetes (whose index it completes) and for the matrix of GitHub.
const INDEX: &str = "RAVEL_SHARD_INDEX";
const COUNT: &str = "RAVEL_SHARD_COUNT";

/// The engines, most particular first.
const ENGINES: [Engine; 4] = [
    Engine {
        index: INDEX,
        count: COUNT,
        first: (None, 0),
        step: None,
    },
    // Slurm, job arrays.
    Engine {
        index: "SLURM_ARRAY_TASK_ID",
        count: "SLURM_ARRAY_TASK_COUNT",
        first: (Some("SLURM_ARRAY_TASK_MIN"), 0),
        step: Some("SLURM_ARRAY_TASK_STEP"),
    },
    // Kubernetes, indexed jobs. A pod does not know `.spec.completions`.
    Engine {
        index: "JOB_COMPLETION_INDEX",
        count: COUNT,
        first: (None, 0),
        step: None,
    },
    // GitLab, `parallel:`.
    Engine {
        index: "CI_NODE_INDEX",
        count: "CI_NODE_TOTAL",
        first: (None, 1),
        step: None,
    },
];

impl Shard {
    /// All of the work.
    pub const WHOLE: Shard = Shard { index: 0, count: 1 };

    /// A share, counted from 0; none if there are not so many.
    pub fn new(index: usize, count: usize) -> Option<Shard> {
        (index < count).then_some(Shard { index, count })
    }

    /// Counted from 0.
    pub fn index(self) -> usize {
        self.index
    }

    /// How many shares there are.
    pub fn count(self) -> usize {
        self.count
    }

    /// The share that the engine's variables give; none if no engine set any.
    pub fn from_environment(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Shard>, ShardError> {
        let number = |name: &'static str| match variable(name) {
            None => Ok(None),
            Some(value) => match value.trim().parse::<i64>() {
                Ok(number) => Ok(Some(i128::from(number))),
                Err(_) => Err(ShardError::Number { name, value }),
            },
        };
        for engine in &ENGINES {
            let Some(given) = number(engine.index)? else { continue };
            let Some(count) = number(engine.count)? else {
                return Err(ShardError::NoCount {
                    index: engine.index,
                    count: engine.count,
                });
            };
            let first = match engine.first {
                (Some(name), other) => number(name)?.unwrap_or(other.into()),
                (None, first) => first.into(),
            };
            let step = engine.step.map_or(Ok(None), number)?.unwrap_or(1).max(1);
            let index = (given - first) / step;
            let count = usize::try_from(count).unwrap_or(0);
            let shard = usize::try_from(index).ok().and_then(|index| Shard::new(index, count));
            return match shard {
                Some(shard) => Ok(Some(shard)),
                None => Err(ShardError::Beyond {
                    name: engine.index,
                    number: index + 1,
                    count,
                }),
            };
        }
        Ok(None)
    }

    /// Whether the work with this number, from 0, belongs to it.
    pub fn has(self, number: usize) -> bool {
        number % self.count == self.index
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(words: &str) -> Result<Shard, ShardError> {
        let parse = || {
            let (number, count) = words.split_once('/')?;
            let number: usize = number.trim().parse().ok()?;
            Shard::new(number.checked_sub(1)?, count.trim().parse().ok()?)
        };
        parse().ok_or_else(|| ShardError::Words(words.to_owned()))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(variables: &[(&str, &str)]) -> Result<Option<Shard>, ShardError> {
        let get = |name: &str| {
            let mut all = variables.iter();
            all.find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        };
        Shard::from_environment(&get)
    }

    #[test]
    fn words_are_counted_from_one() {
        assert_eq!("1/1".parse(), Ok(Shard::WHOLE));
        assert_eq!(
            "2/3".parse::<Shard>().map(|shard| shard.to_string()),
            Ok("2/3".to_owned())
        );
        for wrong in ["", "2", "0/3", "4/3", "a/b", "1/0", "-1/2", "1/3/5"] {
            assert_eq!(wrong.parse::<Shard>(), Err(ShardError::Words(wrong.to_owned())));
        }
    }

    #[test]
    fn every_engine_numbers_its_copies_in_its_own_way() {
        let third = Ok(Shard::new(2, 4));
        assert_eq!(given(&[]), Ok(None));
        assert_eq!(given(&[("RAVEL_SHARD_INDEX", "2"), ("RAVEL_SHARD_COUNT", "4")]), third);
        assert_eq!(
            given(&[("JOB_COMPLETION_INDEX", "2"), ("RAVEL_SHARD_COUNT", "4")]),
            third
        );
        assert_eq!(given(&[("CI_NODE_INDEX", "3"), ("CI_NODE_TOTAL", "4")]), third);
        let slurm = |id: &'static str, min: &'static str, step: &'static str| {
            given(&[
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_COUNT", "4"),
                ("SLURM_ARRAY_TASK_MIN", min),
                ("SLURM_ARRAY_TASK_STEP", step),
            ])
        };
        assert_eq!(slurm("2", "0", "1"), third);
        assert_eq!(slurm("3", "1", "1"), third);
        assert_eq!(slurm("14", "10", "2"), third);
        assert_eq!(
            given(&[("SLURM_ARRAY_TASK_ID", "2"), ("SLURM_ARRAY_TASK_COUNT", "4")]),
            third
        );
    }

    #[test]
    fn what_an_engine_leaves_open_is_an_error_with_a_way_out() {
        let told = |variables: &[(&str, &str)]| given(variables).map_err(|error| error.to_string());
        let said = told(&[("JOB_COMPLETION_INDEX", "2")]).expect_err("no count");
        assert!(said.contains("RAVEL_SHARD_COUNT") && said.contains("--shard"), "{said}");
        // Numbers with a hole in them.
        let holes = [
            ("SLURM_ARRAY_TASK_ID", "7"),
            ("SLURM_ARRAY_TASK_COUNT", "3"),
            ("SLURM_ARRAY_TASK_MIN", "1"),
        ];
        let said = told(&holes).expect_err("beyond");
        assert!(said.contains("shard 7 of 3"), "{said}");
        let said = told(&[("CI_NODE_INDEX", "x"), ("CI_NODE_TOTAL", "3")]).expect_err("no number");
        assert!(said.contains("CI_NODE_INDEX is `x`"), "{said}");
        assert!(told(&[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "3")]).is_err());
        assert!(told(&[("CI_NODE_INDEX", "-9223372036854775808"), ("CI_NODE_TOTAL", "-1")]).is_err());
    }

    #[test]
    fn every_finding_is_in_one_share() {
        for count in 1..6 {
            for number in 0..20 {
                let all = (0..count).filter_map(|index| Shard::new(index, count));
                assert_eq!(all.filter(|shard| shard.has(number)).count(), 1);
            }
        }
    }
}
