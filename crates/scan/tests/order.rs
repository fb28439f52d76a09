//! The fixed points do not depend on the order in which methods and blocks are visited.

use std::sync::OnceLock;

use crate::common;
use proptest::prelude::*;
use ravel_scan::callgraph::CallGraph;
use ravel_scan::filter::Filter;
use ravel_scan::program::Program;
use ravel_scan::{Options, load, report, solve};

fn program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let sources = [
            ("Figure1.java", include_str!("java/Figure1.java")),
            ("Figure4.java", include_str!("java/Figure4.java")),
            ("Rules.java", include_str!("java/Rules.java")),
        ];
        let folder = common::compile(&sources);
        load(&[folder.path().join("classes")], &Options::default()).expect("loaded")
    })
}

/// LOCKSHELD with depths, and R, T and P with their statements, as text.
fn solution(shuffled: Option<u64>, variant: bool) -> Vec<String> {
    let program = program();
    let graph = CallGraph::new(program);
    let held = solve::locks_held(program, &graph, &Filter::default(), shuffled);
    let mut lines = Vec::new();
    for method in held.summaries.methods() {
        let Some(body) = program.body(method) else { continue };
        for entry in held.summaries.of(method) {
            let lock = report::expr_text(program, body, &held.exprs, entry.item);
            lines.push(format!("{} {lock} {}", program.method_text(method), entry.depth));
        }
    }
    for facts in solve::dataflow(program, &graph, &held, variant, shuffled) {
        let Some(body) = program.body(facts.method) else {
            continue;
        };
        let name = program.method_text(facts.method);
        let text = |lock| report::expr_text(program, body, &facts.exprs, lock);
        for (twice, first) in &facts.facts.twice {
            lines.push(format!(
                "{name} T {} {} {first} {}",
                text(twice.first),
                text(twice.second),
                twice.at
            ));
        }
        for (witness, first) in &facts.facts.witnesses {
            let twice = witness.twice;
            let locks = format!("{} {}", text(twice.first), text(twice.second));
            lines.push(format!("{name} P {locks} {first} {} {}", twice.at, witness.context));
        }
    }
    lines.sort();
    lines
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_visits_does_not_matter(seed in any::<u64>(), variant in any::<bool>()) {
        let in_order = solution(None, variant);
        prop_assert!(in_order.len() > 60);
        prop_assert_eq!(solution(Some(seed), variant), in_order);
    }
}
