//! The focus plan: what was proven, as a file that people can read and that the recorder and the analyses obey.
//!
//! It names every class that was looked at with the hash of its bytes. [`Plan::digest`] is what the agent gets: for each class
//! its hash, and for each method what is left out of it.

use std::path::Path;

use ravel_protocol::focus::{ClassDigest, FocusDigest, MethodDigest};
use serde::{Deserialize, Serialize};

/// The version of the format.
pub const VERSION: u32 = 1;

/// What is left out of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Nothing: only the analyses use the plan.
    None,
    /// Fields: every access to them can be left out (Focus 6.1.1).
    Field,
    /// Methods: every access in them can be left out (Focus 6.1.2).
    Method,
    /// Every access that can be left out (Focus 6.1.3).
    #[default]
    Combined,
    /// Every access that cannot race, for the race analyses alone: what the paper's combined mode leaves out.
    Races,
}

/// A plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Plan {
    /// The version of the format.
    pub version: u32,
    /// What was looked at.
    pub paths: Vec<String>,
    /// The figures.
    pub summary: Summary,
    /// Collections of the JDK that need no recording, `java.util.ArrayList`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plain: Vec<String>,
    /// More of them: every use that may meet another thread's is under one lock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plain_for_races: Vec<String>,
    /// The fields.
    #[serde(default, rename = "field")]
    pub fields: Vec<PlanField>,
    /// The classes.
    #[serde(default, rename = "class")]
    pub classes: Vec<PlanClass>,
}

/// The figures of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Summary {
    /// Fields declared.
    pub fields: usize,
    /// Fields that may race.
    pub race_unsafe: usize,
    /// Fields whose every access is left out.
    pub fields_left_out: usize,
    /// Fields for which the recorded runs suggest an owner.
    pub discovered: usize,
    /// Of these, fields whose owner was proven.
    pub discovered_and_proven: usize,
    /// Fields whose owner the program states.
    #[serde(default)]
    pub given: usize,
    /// Fields among these for which that was proven.
    #[serde(default)]
    pub given_and_proven: usize,
    /// Parameters and results that are objects.
    #[serde(default)]
    pub values: usize,
    /// Of these, those with an owner.
    #[serde(default)]
    pub values_owned: usize,
    /// Methods with code.
    pub methods: usize,
    /// Methods with an access that is not proven free of races.
    pub untyped: usize,
    /// Methods verified atomic.
    pub atomic: usize,
    /// Accesses in the code.
    pub accesses: usize,
    /// Accesses left out.
    pub accesses_left_out: usize,
    /// Accesses that are left out of a recording for races alone, besides these.
    #[serde(default)]
    pub accesses_guarded: usize,
    /// How precisely objects were distinguished.
    #[serde(default)]
    pub precision: Precision,
}

/// How precisely objects were distinguished: large programs are analysed less precisely, and less is proven of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// By where each is made.
    #[default]
    Sites,
    /// By their class and the class that makes them.
    Classes,
    /// The same, and not at all once static fields or code outside lead to them.
    Coarse,
}

/// A field in a plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlanField {
    /// `shop.Stock.items`
    pub name: String,
    /// The owner that was proven, or `race-unsafe`.
    pub owner: String,
    /// The owner that the recorded runs suggest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discovered: Option<String>,
    /// The owner that the program itself states (`@GuardedBy`, `@Immutable`, `@ThreadSafe`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// Whether every access is left out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub left_out: bool,
    /// Why no owner was proven.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// The owner of a field that may race.
pub const RACE_UNSAFE: &str = "race-unsafe";

/// A class in a plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlanClass {
    /// `shop.Stock`
    pub name: String,
    /// The hash of its bytes, 16 hexadecimal digits.
    pub hash: String,
    /// Its methods with code.
    #[serde(default, rename = "method", skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<PlanMethod>,
}

/// A method in a plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlanMethod {
    /// `take(I)Z`
    pub name: String,
    /// Its atomicity, if it was verified: `const`, `mover` or `atomic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomicity: Option<String>,
    /// The locks that every caller holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// The owners of its parameters, `this` aside, if any is an object: `-` for what is none, `?` where nothing is proven.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<String>,
    /// The owner of what it returns, if that is an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<String>,
    /// Positions that access objects of the thread itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub local: Vec<u16>,
    /// Positions that access objects which one thread has made for this one alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unique: Vec<u16>,
    /// Positions that access objects that never change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchanging: Vec<u16>,
    /// Positions of other accesses that cannot race, in objects none of whose accesses can.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarded: Vec<u16>,
    /// Positions of accesses that cannot race, in objects some of whose accesses may: all that they say is who has the object.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touching: Vec<u16>,
    /// Of `local`, `unique` and `unchanging`, positions whose field is left out altogether.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_field: Vec<u16>,
    /// Positions of calls to methods that never reach the trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quiet_calls: Vec<u16>,
    /// Positions of calls that a recording for races alone has no use for: all that they run are methods that take no lock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quiet_calls_for_races: Vec<u16>,
    /// Whether every access in it is left out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub whole: bool,
    /// Whether it never reaches the trace.
    #[serde(default, skip_serializing_if = "is_false")]
    pub quiet: bool,
    /// The same in a recording for races alone.
    #[serde(default, skip_serializing_if = "is_false")]
    pub quiet_for_races: bool,
    /// Whether only methods of the program call it: it leaves no frame in a recording for races alone.
    #[serde(default, skip_serializing_if = "is_false")]
    pub inner: bool,
    /// Why it is not typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untyped: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Why a plan cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// It cannot be read.
    #[error("{path}: {error}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// It is no plan.
    #[error("{path}: not a focus plan: {error}; `ravel own` writes one")]
    Parse {
        /// The file.
        path: String,
        /// Why.
        error: Box<toml::de::Error>,
    },
    /// It is of another version.
    #[error("{path}: version {found} of the plan format, this is {VERSION}; make it again with `ravel own`")]
    Version {
        /// The file.
        path: String,
        /// Its version.
        found: u32,
    },
}

impl Plan {
    /// Reads a plan from a file.
    pub fn read(path: &Path) -> Result<Plan, PlanError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| PlanError::Read {
            path: name.clone(),
            error,
        })?;
        let plan: Plan = toml::from_str(&text).map_err(|error| PlanError::Parse {
            path: name.clone(),
            error: Box::new(error),
        })?;
        match plan.version {
            VERSION => Ok(plan),
            found => Err(PlanError::Version { path: name, found }),
        }
    }

    /// The plan as text.
    pub fn text(&self) -> String {
        let body = toml::to_string(self).unwrap_or_default();
        format!(
            "# The facts that `ravel own` proved about this program, for --focus of record, run and check.\n\
             # A class that has changed since is recorded in full, and so is what depends on it.\n\n{body}"
        )
    }

    /// What the agent needs: each class with its hash, each method with what is left out. With `strict`, constructors are
    /// recorded, and objects that never change after them must be too.
    pub fn digest(&self, mode: Mode, strict: bool) -> FocusDigest {
        let races = mode == Mode::Races;
        let plain = match (races || mode == Mode::Combined) && !strict {
            true => {
                let more = self.plain_for_races.iter().filter(|_| races);
                let all = self.plain.iter().chain(more);
                all.map(|class| class.replace('.', "/")).collect()
            }
            false => Vec::new(),
        };
        let classes = self.classes.iter().map(|class| ClassDigest {
            name: class.name.replace('.', "/"),
            hash: class.hash.clone(),
            methods: class
                .methods
                .iter()
                .filter_map(|method| method.digest(mode, strict))
                .collect(),
        });
        FocusDigest {
            for_races: races,
            plain,
            classes: classes.collect(),
        }
    }
}

impl PlanMethod {
    /// What is left out of the method, if anything is.
    fn digest(&self, mode: Mode, strict: bool) -> Option<MethodDigest> {
        let races = mode == Mode::Races;
        let mut digest = MethodDigest {
            name: self.name.clone(),
            quiet: !strict && (mode == Mode::Combined && self.quiet || races && self.quiet_for_races),
            ..MethodDigest::default()
        };
        if digest.quiet {
            return Some(digest);
        }
        let mut leave: Vec<u16> = match mode {
            Mode::None => Vec::new(),
            Mode::Field => self.by_field.clone(),
            Mode::Method if !self.whole => Vec::new(),
            Mode::Method | Mode::Combined | Mode::Races => {
                let others = self.unique.iter().chain(&self.unchanging);
                self.local.iter().chain(others).copied().collect()
            }
        };
        match mode {
            _ if strict => leave.retain(|pc| !self.unchanging.contains(pc) && !self.unique.contains(pc)),
            Mode::Combined => leave.extend(&self.quiet_calls),
            Mode::Races => leave.extend(self.guarded.iter().chain(&self.quiet_calls_for_races)),
            _ => {}
        }
        leave.sort_unstable();
        leave.dedup();
        digest.leave = leave.into_iter().map(u32::from).collect();
        if races && !strict {
            digest.touch = self.touching.iter().copied().map(u32::from).collect();
            digest.inner = self.inner;
        }
        let is_whole = digest.leave.is_empty() && digest.touch.is_empty() && !digest.inner;
        (!is_whole).then_some(digest)
    }
}

impl std::str::FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Mode, String> {
        match text {
            "none" => Ok(Mode::None),
            "field" => Ok(Mode::Field),
            "method" => Ok(Mode::Method),
            "combined" => Ok(Mode::Combined),
            "races" => Ok(Mode::Races),
            _ => Err(format!("no mode {text:?}: use field, method, combined, races or none")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            version: VERSION,
            classes: vec![PlanClass {
                name: "shop.Stock".into(),
                hash: "00000000000000ff".into(),
                methods: vec![
                    PlanMethod {
                        name: "take(I)Z".into(),
                        local: vec![9, 3],
                        unchanging: vec![5],
                        by_field: vec![5],
                        quiet_calls: vec![12],
                        guarded: vec![20],
                        touching: vec![22, 26],
                        inner: true,
                        quiet_calls_for_races: vec![12, 30],
                        ..PlanMethod::default()
                    },
                    PlanMethod {
                        name: "size()I".into(),
                        local: vec![1],
                        whole: true,
                        quiet: true,
                        ..PlanMethod::default()
                    },
                ],
            }],
            ..Plan::default()
        }
    }

    #[test]
    fn a_plan_survives_its_file() {
        let text = plan().text();
        assert_eq!(toml::from_str::<Plan>(&text).ok(), Some(plan()));
    }

    #[test]
    fn each_mode_leaves_out_its_own() {
        let methods = |mode, strict| {
            let mut classes = plan().digest(mode, strict).classes;
            classes.pop().map(|class| class.methods).unwrap_or_default()
        };
        let leave = |name: &str, leave: &[u32]| MethodDigest {
            name: name.into(),
            leave: leave.to_vec(),
            ..MethodDigest::default()
        };
        let quiet = MethodDigest {
            name: "size()I".into(),
            quiet: true,
            ..MethodDigest::default()
        };
        let combined = [leave("take(I)Z", &[3, 5, 9, 12]), quiet];
        assert_eq!(methods(Mode::Combined, false), combined);
        let strict = [leave("take(I)Z", &[3, 9]), leave("size()I", &[1])];
        assert_eq!(methods(Mode::Combined, true), strict);
        let races = [
            MethodDigest {
                touch: vec![22, 26],
                inner: true,
                ..leave("take(I)Z", &[3, 5, 9, 12, 20, 30])
            },
            leave("size()I", &[1]),
        ];
        assert_eq!(methods(Mode::Races, false), races);
        assert!(plan().digest(Mode::Races, false).for_races);
        assert_eq!(methods(Mode::Field, false), [leave("take(I)Z", &[5])]);
        assert_eq!(methods(Mode::Method, false), [leave("size()I", &[1])]);
        assert!(methods(Mode::None, false).is_empty());
    }

    #[test]
    fn a_plan_of_another_kind_is_refused_by_name() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("p.toml");
        std::fs::write(&path, "version = 99\npaths = []\n[summary]\nfields = 0\nrace-unsafe = 0\nfields-left-out = 0\ndiscovered = 0\ndiscovered-and-proven = 0\nmethods = 0\nuntyped = 0\natomic = 0\naccesses = 0\naccesses-left-out = 0\n").expect("written");
        let error = Plan::read(&path).expect_err("another version").to_string();
        assert!(error.contains("p.toml") && error.contains("99"), "{error}");
        std::fs::write(&path, "speed = 9\n").expect("written");
        let error = Plan::read(&path).expect_err("no plan").to_string();
        assert!(error.contains("p.toml") && error.contains("ravel own"), "{error}");
    }
}
