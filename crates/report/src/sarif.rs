//! SARIF 2.1.0, as GitHub code scanning takes it: paths relative to the repository, a position for every result, the
//! interleaving as a thread flow, stacks, and fingerprints that survive unrelated edits.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ravel_analysis::finding::{Evidence, Finding, FindingStep, Report, Rule, RuleFamily};
use ravel_trace::naming::{self, Frame};
use serde_json::{Value, json};

use crate::format::{Form, Renderer};
use crate::rules::Page;
use crate::{Options, edit, mark, source, words};

/// Where the format is described.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// What relative paths are relative to.
const BASE: &str = "%SRCROOT%";
/// What the path of a source is relative to that was not found: its folder is not known, so the path claims nothing about the repository.
const UNKNOWN_BASE: &str = "%UNKNOWNSOURCES%";

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
            "originalUriBaseIds": {
                BASE: { "description": { "text": "The root of the repository." } },
                UNKNOWN_BASE: { "description": { "text": "A folder of sources that Ravel did not find; --source names it." } },
            },
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
        "properties": { "tags": ["concurrency", "correctness"], "precision": precision(rule) },
    })
}

/// How often a result is right. What a run shows is; the static scan only suspects.
fn precision(rule: Rule) -> &'static str {
    match rule.family() {
        RuleFamily::Code => "medium",
        RuleFamily::Race
        | RuleFamily::Discipline
        | RuleFamily::Atomicity
        | RuleFamily::AtomicSet
        | RuleFamily::Serializability
        | RuleFamily::LockOrder
        | RuleFamily::Failure => "very-high",
    }
}

/// A text that ends as a sentence does.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    match text.ends_with(['.', '!', '?', ':']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
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
    let mut text = sentence(&finding.message);
    if let Some(outcome) = &finding.outcome {
        let all = std::iter::once((words::run(finding), words::outcome(outcome)));
        for (name, said) in all.chain(words::outcome_details(outcome)) {
            text.push_str(&format!(" {name}: {}", sentence(&said)));
        }
    }
    if !finding.help.is_empty() {
        text.push_str(&format!(" Fix: {}", sentence(&finding.help)));
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
    let unfound = unfound_sources(finding, options);
    if !unfound.is_empty() {
        properties["sourcesNotFound"] = json!(unfound);
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
    let main = words::main_place(finding);
    let from_step = main.and_then(|main| match main.is_call {
        true => call_location(&main, options),
        false => location(main.step, options),
    });
    from_step.or_else(|| {
        // No step: the class of the first unit or variable still tells where to look.
        let of_unit = finding
            .units
            .first()
            .map(|u| Frame::parse(naming::without_descriptor(&u.method)));
        let of_unit = of_unit.map(|frame| frame.class).filter(|class| !class.is_empty());
        let of_variable = finding.variables.first().and_then(|v| naming::variable::class_of(v));
        let class = of_unit.or(of_variable)?;
        let place = Frame {
            class,
            ..Frame::default()
        };
        Some(json!({ "physicalLocation": physical(&place, options)? }))
    })
}

/// The call in the method to fix that leads to a step.
fn call_location(main: &words::MainPlace<'_>, options: &Options<'_>) -> Option<Value> {
    let frame = &main.frame;
    let mut location = json!({
        "physicalLocation": physical(frame, options)?,
        "logicalLocations": [{ "name": frame.method, "fullyQualifiedName": frame.name(), "kind": "function" }],
    });
    let source = options.sources.find(frame.class, frame.file);
    if let Some(line) = source.as_ref().and_then(|source| source.line(frame.line)) {
        add_columns(&mut location, line, main.touched(line));
    }
    Some(location)
}

fn location(step: &FindingStep, options: &Options<'_>) -> Option<Value> {
    let mut location = json!({ "physicalLocation": physical(&step.frame(), options)? });
    let source = options.sources.find(&step.class, &step.file);
    if let Some(line) = source.as_ref().and_then(|source| source.line(step.line)) {
        add_columns(&mut location, line, mark::touched(line, step));
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

/// A place in a file. A path that was not found is relative to a folder that is not known.
fn physical(place: &Frame<'_>, options: &Options<'_>) -> Option<Value> {
    let known = options.sources.known_path(place.class, place.file);
    let artifact = match known {
        Some(path) => json!({ "uri": encode_path(&path), "uriBaseId": BASE }),
        None => json!({ "uri": encode_path(&unfound(place, options)?), "uriBaseId": UNKNOWN_BASE }),
    };
    Some(json!({ "artifactLocation": artifact, "region": { "startLine": place.line.clamp(1, i32::MAX as u32) } }))
}

/// Package and file of a place whose source was not found; none if it was, or if nothing is known of the place.
fn unfound(place: &Frame<'_>, options: &Options<'_>) -> Option<String> {
    let known = options.sources.known_path(place.class, place.file);
    match known {
        Some(_) => None,
        None => source::path_in_source_folder(place.class, place.file),
    }
}

/// The sources of the steps that were not found, each once.
fn unfound_sources(finding: &Finding, options: &Options<'_>) -> BTreeSet<String> {
    let main = words::main_place(finding).map(|main| main.frame);
    let places = finding.steps.iter().map(FindingStep::frame).chain(main);
    places.filter_map(|place| unfound(&place, options)).collect()
}

/// Adds the columns of these bytes of a line, from 1, the end not included.
fn add_columns(location: &mut Value, line: &str, touched: Range<usize>) {
    if touched.is_empty() {
        return;
    }
    let column = |byte: usize| line[..byte].chars().count() + 1;
    let region = &mut location["physicalLocation"]["region"];
    region["startColumn"] = json!(column(touched.start));
    region["endColumn"] = json!(column(touched.end));
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
    if let Some(physical) = physical(&frame, options) {
        location["physicalLocation"] = physical;
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
