//! SARIF 2.1.0, as GitHub code scanning takes it: paths relative to the repository, a position for every result, the
//! interleaving as a thread flow, stacks, and fingerprints that survive unrelated edits.

use std::collections::BTreeMap;

use ravel_analysis::finding::{Evidence, Finding, FindingStep, Report, Rule};
use ravel_trace::naming::{self, Frame};
use serde_json::{Value, json};

use crate::format::{Form, Renderer};
use crate::rules::Page;
use crate::{Options, edit, mark, words};

/// Where the format is described.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// What relative paths are relative to.
const BASE: &str = "%SRCROOT%";

/// The format.
pub const FORMAT: Renderer = Renderer {
    name: "sarif",
    endings: &["sarif"],
    form: Form::Told,
    render,
};

/// The log of one run.
pub fn render(report: &Report, options: &Options<'_>) -> String {
    let visible = options.visible(report);
    let mut results: Vec<Value> = visible.iter().filter_map(|f| result(f, options)).collect();
    let suspicions = options.visible_suspicions(report).iter();
    results.extend(suspicions.filter_map(|f| result(f, options)).map(as_suspicion));
    // GitHub refuses a whole file for one result without a place: such a finding is said in a notification instead.
    let placeless = visible.iter().filter(|f| main_location(f, options).is_none()).map(|f| {
        format!(
            "{} {} has no position in the sources: {}",
            words::rule(f.rule),
            f.id,
            f.message
        )
    });
    let notifications: Vec<Value> = options
        .warnings(report)
        .into_iter()
        .map(str::to_owned)
        .chain(placeless)
        .map(|text| json!({ "level": "warning", "message": { "text": text } }))
        .collect();
    let mut invocation = json!({ "executionSuccessful": report.complete, "toolExecutionNotifications": notifications });
    if !report.program.is_empty() {
        invocation["commandLine"] = json!(report.program);
    }
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Ravel",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": Rule::ALL.iter().copied().map(descriptor).collect::<Vec<_>>(),
            }},
            "automationDetails": { "id": "ravel/" },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { BASE: { "description": { "text": "The root of the repository." } } },
            "invocations": [invocation],
            "results": results,
            "properties": { "events": report.summary.events, "threads": report.summary.threads },
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}

fn descriptor(rule: Rule) -> Value {
    let page = Page::of(rule);
    json!({
        "id": words::rule(rule),
        "name": pascal_case(words::rule(rule)),
        "shortDescription": { "text": page.summary() },
        "fullDescription": { "text": page.summary() },
        "help": { "text": page.render(80, false, false), "markdown": page.text },
        "defaultConfiguration": { "level": "warning" },
        "properties": { "tags": ["concurrency", "correctness"], "precision": "very-high" },
    })
}

fn pascal_case(id: &str) -> String {
    id.split('-')
        .map(|part| {
            let mut chars = part.chars();
            chars
                .next()
                .map(|c| c.to_uppercase().collect::<String>() + chars.as_str())
                .unwrap_or_default()
        })
        .collect()
}

fn level(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Harmful | Evidence::Confirmed => "error",
        Evidence::Witnessed | Evidence::Predicted => "warning",
        Evidence::Suspected => "note",
    }
}

fn result(finding: &Finding, options: &Options<'_>) -> Option<Value> {
    let main = main_location(finding, options)?;
    let rule_index = Rule::ALL.iter().position(|r| *r == finding.rule)?;
    let mut text = finding.message.clone();
    if let Some(outcome) = &finding.outcome {
        text.push_str(&format!(
            " Forced run: {}.",
            words::outcome(outcome).trim_end_matches('.')
        ));
    }
    if !finding.help.is_empty() {
        text.push_str(&format!(" {}", finding.help));
    }
    if !finding.also.is_empty() {
        text.push_str(&format!(" Also seen as {}.", words::also(finding)));
    }
    let mut properties = json!({
        "evidence": words::evidence(finding.evidence),
        "patterns": finding.patterns,
        "analyses": finding.analyses,
        "variables": finding.variables,
    });
    if !finding.also.is_empty() {
        properties["alsoSeenAs"] = json!(finding.also);
    }
    if !finding.tests.is_empty() {
        properties["tests"] = json!(finding.tests);
    }
    if !finding.replay.is_empty() {
        properties["replay"] = json!(finding.replay);
    }
    let mut result = json!({
        "ruleId": words::rule(finding.rule),
        "ruleIndex": rule_index,
        "level": level(finding.evidence),
        "message": { "text": text },
        "locations": [main],
        "partialFingerprints": { "ravelFinding/v1": finding.id },
        "properties": properties,
    });
    if let Some(edit) = edit::certain(finding, options.sources) {
        result["fixes"] = json!([fix(finding, &edit)]);
    }
    let related = related(finding, options);
    if !related.is_empty() {
        result["relatedLocations"] = Value::Array(related);
    }
    let flow: Vec<Value> = finding
        .steps
        .iter()
        .enumerate()
        .filter_map(|(i, s)| flow_step(finding, i, s, options))
        .collect();
    if !flow.is_empty() {
        let text = words::order_heading(finding);
        result["codeFlows"] = json!([{ "message": { "text": text }, "threadFlows": [{ "locations": flow }] }]);
    }
    let stacks: Vec<Value> = finding
        .steps
        .iter()
        .enumerate()
        .filter_map(|(i, s)| stack(i, s, options))
        .collect();
    if !stacks.is_empty() {
        result["stacks"] = Value::Array(stacks);
    }
    Some(result)
}

/// An edit that a reader can accept with a click.
fn fix(finding: &Finding, edit: &edit::Insertion) -> Value {
    json!({
        "description": { "text": finding.help },
        "artifactChanges": [{
            "artifactLocation": { "uri": encode_path(&edit.path), "uriBaseId": BASE },
            "replacements": [{
                "deletedRegion": { "startLine": edit.line, "startColumn": edit.column, "endColumn": edit.column },
                "insertedContent": { "text": edit.text },
            }],
        }],
    })
}

/// A result that a person should look at, and that fails nothing.
fn as_suspicion(mut result: Value) -> Value {
    let text = result["message"]["text"].as_str().unwrap_or_default();
    let text = format!("{text} ({})", words::ONLY_IN_CODE);
    result["message"]["text"] = json!(text);
    result["kind"] = json!("review");
    result["level"] = json!("none");
    result
}

fn main_location(finding: &Finding, options: &Options<'_>) -> Option<Value> {
    let from_step = words::main_place(finding).and_then(|step| location(step, options));
    from_step.or_else(|| {
        // No step: the class of the first unit or variable still tells where to look.
        let of_unit = finding
            .units
            .first()
            .map(|u| Frame::parse(naming::without_descriptor(&u.method)));
        let of_unit = of_unit.map(|frame| frame.class).filter(|class| !class.is_empty());
        let of_variable = finding.variables.first().and_then(|v| naming::variable::class_of(v));
        let class = of_unit.or(of_variable)?;
        let uri = options.sources.relative_path(class, "")?;
        Some(json!({ "physicalLocation": physical(&uri, 0) }))
    })
}

fn location(step: &FindingStep, options: &Options<'_>) -> Option<Value> {
    let uri = options.sources.relative_path(&step.class, &step.file)?;
    let mut location = json!({ "physicalLocation": physical(&uri, step.line) });
    if let Some(columns) = columns(step, options) {
        let region = &mut location["physicalLocation"]["region"];
        region["startColumn"] = json!(columns.start);
        region["endColumn"] = json!(columns.end);
    }
    if !step.class.is_empty() {
        location["logicalLocations"] = json!([{
            "name": step.method,
            "fullyQualifiedName": format!("{}.{}", step.class, step.method),
            "kind": "function",
        }]);
    }
    Some(location)
}

fn physical(uri: &str, line: u32) -> Value {
    json!({
        "artifactLocation": { "uri": encode_path(uri), "uriBaseId": BASE },
        "region": { "startLine": line.clamp(1, i32::MAX as u32) },
    })
}

/// The columns of what a step touches, from 1, the end not included; none without the source.
fn columns(step: &FindingStep, options: &Options<'_>) -> Option<std::ops::Range<usize>> {
    let source = options.sources.find(&step.class, &step.file)?;
    let line = source.line(step.line)?;
    let touched = mark::touched(line, step);
    let column = |byte: usize| line[..byte].chars().count() + 1;
    (!touched.is_empty()).then(|| column(touched.start)..column(touched.end))
}

/// Every other place once, so that a reader of the alert sees both sides.
fn related(finding: &Finding, options: &Options<'_>) -> Vec<Value> {
    let mut places: BTreeMap<(&str, &str, u32), Vec<&FindingStep>> = BTreeMap::new();
    for step in &finding.steps {
        places
            .entry((&step.class, &step.file, step.line))
            .or_default()
            .push(step);
    }
    let mut related = Vec::new();
    for steps in places.values() {
        let Some(mut location) = steps.first().and_then(|s| location(s, options)) else {
            continue;
        };
        let mut deeds: Vec<String> = steps.iter().map(|s| deed(s)).collect();
        deeds.dedup();
        location["id"] = json!(related.len() + 1);
        location["message"] = json!({ "text": deeds.join("; ") });
        related.push(location);
    }
    related
}

fn deed(step: &FindingStep) -> String {
    format!(
        "{} {}{}",
        words::who(step),
        words::step_does(step),
        words::locks_held(step)
    )
}

fn flow_step(finding: &Finding, index: usize, step: &FindingStep, options: &Options<'_>) -> Option<Value> {
    let mut location = location(step, options)?;
    location["message"] = json!({ "text": deed(step) });
    let decisive = words::decisive(finding) == Some(index);
    let mut properties = json!({ "thread": step.thread, "locks": step.locks, "inside": step.inside });
    if !step.read_locks.is_empty() {
        properties["read_locks"] = json!(step.read_locks);
    }
    Some(json!({
        "location": location,
        "executionOrder": index + 1,
        "importance": if decisive { "essential" } else { "important" },
        "kinds": [step.op],
        "properties": properties,
    }))
}

fn stack(index: usize, step: &FindingStep, options: &Options<'_>) -> Option<Value> {
    let frames: Vec<Value> = step.stack.iter().map(|f| frame(f, options)).collect();
    let text = format!("{} at step {}", words::who(step), index + 1);
    (!frames.is_empty()).then(|| json!({ "message": { "text": text }, "frames": frames }))
}

/// `shop.Stock.count (Stock.java:14)`
fn frame(text: &str, options: &Options<'_>) -> Value {
    let frame = Frame::parse(text);
    let mut location = json!({ "logicalLocations": [{ "fullyQualifiedName": frame.name(), "kind": "function" }] });
    if let Some(uri) = options.sources.relative_path(frame.class, frame.file) {
        location["physicalLocation"] = physical(&uri, frame.line);
    }
    location["message"] = json!({ "text": text });
    json!({ "location": location })
}

/// A relative path as a URI reference.
fn encode_path(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'$' | b'+' => {
                out.push(char::from(byte))
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(encode_path("src/Größe x%.java"), "src/Gr%C3%B6%C3%9Fe%20x%25.java");
    }
}
