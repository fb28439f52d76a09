//! Which of the JVMs that a command starts is meant: a script or a build tool starts several.

use serde::{Deserialize, Serialize};

use crate::line::Message;

/// The entry of one JVM in the list that all JVMs of a command sign when they start.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Signature {
    /// Its process.
    pub process: u32,
    /// Main class or archive, and arguments, without the parts that differ from run to run.
    pub runs: String,
}

impl Message for Signature {
    const KIND: &'static str = "signature";
}

/// A JVM as another run of the command finds it again. It is an option of the agent and of the trace's header, so its
/// text form, `0:Main`, is the one that is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JvmName {
    /// How many JVMs that run the same signed before it.
    pub number: usize,
    /// As in [`Signature::runs`].
    pub runs: String,
}

impl std::fmt::Display for JvmName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.number, self.runs)
    }
}

impl std::str::FromStr for JvmName {
    type Err = String;

    fn from_str(text: &str) -> Result<JvmName, String> {
        let parts = text
            .split_once(':')
            .and_then(|(number, runs)| Some((number.parse().ok()?, runs)));
        let (number, runs) = parts.ok_or_else(|| format!("{text:?} is not a number, a colon and what a JVM runs"))?;
        Ok(JvmName {
            number,
            runs: runs.to_string(),
        })
    }
}
