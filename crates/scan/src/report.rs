//! From what rules found to findings: names, lines, steps, fingerprints.

use ravel_analysis::finding::{Evidence, Finding, FindingStep, Rule, UnitKind, UnitRef};
use ravel_analysis::merge::fingerprint;

use crate::body::Body;
use crate::expr::{ExprId, Exprs, Node};
use crate::program::{MethodId, Program};
use crate::rules::RULES;

/// A finding before it has an id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Draft {
    /// The rule.
    pub rule: Rule,
    /// The method that the finding is about, and the line there.
    pub method: MethodId,
    /// The line in it.
    pub line: u32,
    /// What makes it this finding and no other; no lines.
    pub subject: String,
    /// What a recorded run would call the same bug, so that both get one id.
    pub alike: Option<Alike>,
    /// The locks and fields concerned.
    pub variables: Vec<String>,
    /// What happens, in order.
    pub steps: Vec<FindingStep>,
    /// One sentence.
    pub message: String,
    /// What to change.
    pub help: String,
    /// Other methods concerned.
    pub units: Vec<MethodId>,
    /// Whether it is shown by default.
    pub shown: bool,
}

/// How the findings of recorded runs are distinguished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Alike {
    /// All races on one field.
    Race(String),
    /// The method, interrupted on the state of this class.
    Interruption(String),
}

/// The name of an expression of a method.
pub fn expr_text(program: &Program, body: &Body, exprs: &Exprs, expr: ExprId) -> String {
    exprs.text(expr, &program.symbols, &|node| {
        let named = body.names.iter().find(|(known, _)| *known == node);
        match (named, node) {
            (Some((_, name)), _) => name.to_string(),
            (None, Node::Param(index)) => format!("parameter {}", index + 1),
            _ => "a local variable".to_owned(),
        }
    })
}

/// A step of a finding.
pub fn step(
    program: &Program,
    method: MethodId,
    line: u32,
    op: &str,
    variable: String,
    stack: Vec<String>,
) -> FindingStep {
    let class = program.class_of(method);
    FindingStep {
        op: op.to_owned(),
        variable,
        class: program.symbols.class_text(class.name),
        method: program.symbols.text(program.method(method).selector),
        file: class.source.as_deref().unwrap_or_default().to_owned(),
        line,
        stack,
        ..FindingStep::default()
    }
}

/// A message with its full stop.
fn sentence(mut message: String) -> String {
    if !message.ends_with('.') {
        message.push('.');
    }
    message
}

/// Findings in the order of rules, classes and lines. Several of one rule, method and subject are distinguished by their order.
pub fn findings(program: &Program, mut drafts: Vec<Draft>) -> Vec<Finding> {
    drafts.sort_by_cached_key(|draft| {
        (
            RULES.iter().position(|known| known.rule == draft.rule),
            program.method_text(draft.method),
            draft.line,
            draft.subject.clone(),
            draft.message.clone(),
        )
    });
    let mut seen: rustc_hash::FxHashMap<Vec<String>, u32> = rustc_hash::FxHashMap::default();
    drafts
        .into_iter()
        .map(|draft| {
            let method = program.method_text(draft.method);
            let mut parts = match &draft.alike {
                Some(Alike::Race(field)) => vec!["race".to_owned(), field.clone()],
                Some(Alike::Interruption(class)) => vec!["atomicity".to_owned(), class.clone(), method],
                None => vec![draft.rule.name().to_owned(), draft.subject.clone(), method],
            };
            let count = seen.entry(parts.clone()).or_default();
            *count += 1;
            if *count > 1 {
                parts.extend([draft.rule.name().to_owned(), count.to_string()]);
            }
            let mut units = vec![draft.method];
            units.extend(draft.units);
            units.dedup();
            Finding {
                shown: draft.shown,
                analyses: vec!["scan".to_owned()],
                variables: draft.variables,
                units: units
                    .into_iter()
                    .map(|unit| UnitRef {
                        thread: String::new(),
                        method: program.method_text(unit),
                        kind: UnitKind::Section,
                    })
                    .collect(),
                steps: draft.steps,
                message: sentence(draft.message),
                help: draft.help,
                ..Finding::new(
                    fingerprint(parts.iter().map(String::as_str)),
                    draft.rule,
                    Evidence::Suspected,
                )
            }
        })
        .collect()
}
