//! The stable JSON form: what `findings.json` holds and other tools read. It is the report itself; this module adds the
//! layout of the text, and errors that say what a file is when it is not one of ours.

use ravel_analysis::finding::Report;

use crate::format::{Form, Renderer};

/// The newest version of the form that this build reads and writes.
pub const VERSION: u32 = 1;

/// Why a file is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No JSON, or JSON of another shape.
    #[error("not a Ravel report: {0}{cut}", cut = if .0.is_eof() { "; the file is cut off" } else { "" })]
    Shape(serde_json::Error),
    /// Some other tool's file.
    #[error("not a Ravel report: `version` and `findings` are missing{}", .0.map(|t| format!("; it looks like {t}")).unwrap_or_default())]
    Foreign(Option<&'static str>),
    /// Written by a newer Ravel.
    #[error("this report has version {found}; this Ravel reads versions up to {VERSION}: use a newer Ravel")]
    Newer {
        /// The version in the file.
        found: u64,
    },
}

// Not `#[from]`: the message tells all that the cause would, and a chain of causes would say it twice.
impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> ReadError {
        ReadError::Shape(error)
    }
}

/// The format.
pub const FORMAT: Renderer = Renderer {
    name: "json",
    endings: &["json"],
    form: Form::Recorded,
    render: |report, _| render(report),
};

/// The report as JSON, findings indented for people and diffs.
pub fn render(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}

/// A report from its JSON.
pub fn read(text: &str) -> Result<Report, ReadError> {
    let value: serde_json::Value = serde_json::from_str(text)?;
    let version = value.get("version").and_then(serde_json::Value::as_u64);
    if let Some(found) = version
        && found > u64::from(VERSION)
    {
        return Err(ReadError::Newer { found });
    }
    if version.is_none() || value.get("findings").is_none() {
        let looks_like = value
            .get("runs")
            .map(|_| "SARIF")
            .or_else(|| value.get("accepted").map(|_| "a baseline"));
        return Err(ReadError::Foreign(looks_like));
    }
    // Read the text again rather than the value: its errors carry line and column.
    Ok(serde_json::from_str(text)?)
}
