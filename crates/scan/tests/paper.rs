//! The figures and code fragments of the LockPattern paper, with the paper's verdicts.

use crate::common::{self, compile, places, scan_folder};
use ravel_scan::callgraph::CallGraph;
use ravel_scan::filter::Filter;
use ravel_scan::program::{MethodId, Program};
use ravel_scan::{Options, load, solve};

#[test]
fn figure_1_and_the_fragments_of_the_text() {
    let folder = compile(&[("Figure1.java", include_str!("java/Figure1.java"))]);
    let scan = scan_folder(&folder, &Options::default());
    let wanted = [
        ("ElementLine.twiceEach", 70),
        ("Line.contains", 5),
        ("LoopLine.loop", 53),
        ("Split.twice", 88),
    ];
    let wanted = wanted.map(|(method, line)| ("lock-pattern".to_owned(), method.to_owned(), line));
    // Held and contains take the locks in different orders, too.
    let circle = ("lock-order".to_owned(), "Line.contains".to_owned(), 4);
    let all: Vec<_> = wanted.into_iter().chain([circle]).collect();
    assert_eq!(places(&scan.findings), all);

    let finding = &scan.findings[1];
    assert_eq!(finding.variables, ["this", "point"]);
    let lines: Vec<u32> = finding.steps.iter().map(|step| step.line).collect();
    // A synchronized method has no line of its own; its first line stands for it.
    assert_eq!(lines, [4, 4, 5], "context, first and second acquisition");
    assert_eq!(
        finding.steps[2].stack,
        [
            "Location.distanceTo (Figure1.java:14)",
            "Line.contains (Figure1.java:5)"
        ]
    );
    assert_eq!(finding.help, "Hold point from line 4 to line 5.");

    let split = &scan.findings[3];
    assert_eq!(
        split.variables,
        ["x", "y"],
        "context of the caller, witness of the callee"
    );
    assert_eq!(split.units[1].method, "Split.context(Ljava/lang/Object;LLocation;)V");
}

#[test]
fn the_variant_finds_more() {
    let folder = compile(&[("Figure1.java", include_str!("java/Figure1.java"))]);
    let plain = scan_folder(&folder, &Options::default());
    let options = Options {
        variant: true,
        ..Options::default()
    };
    let variant = places(&scan_folder(&folder, &options).findings);
    for place in places(&plain.findings) {
        assert!(variant.contains(&place), "a superset: {place:?}");
    }
    let both = ("lock-pattern".to_owned(), "Pair.both".to_owned(), 100);
    assert!(
        variant.contains(&both) && !places(&plain.findings).contains(&both),
        "{variant:?}"
    );
    let either = variant.iter().any(|(_, method, _)| method == "EitherLine.either");
    assert!(!either, "still one path or the other");
}

fn method(program: &Program, name: &str) -> MethodId {
    let found = program
        .method_ids()
        .find(|id| program.method_text(*id).starts_with(&format!("Figure4.{name}(")));
    found.expect("compiled")
}

#[test]
fn figures_4_and_5() {
    let folder = compile(&[("Figure4.java", include_str!("java/Figure4.java"))]);
    let program = load(&[folder.path().join("classes")], &Options::default()).expect("loaded");
    let graph = CallGraph::new(&program);
    let mut held = solve::locks_held(&program, &graph, &Filter::default(), None);
    let names = |exprs: Vec<String>| {
        let mut exprs = exprs;
        exprs.sort();
        exprs
    };
    let text = |exprs: &ravel_scan::expr::Exprs, name: &str, lock| {
        let body = program.body(method(&program, name)).expect("code");
        ravel_scan::report::expr_text(&program, body, exprs, lock)
    };
    // (a), after propagation.
    for (name, locks) in [
        ("m1", vec!["a", "b"]),
        ("m2", vec!["a", "b"]),
        ("m3", vec!["a", "b"]),
        ("m4", vec!["a", "b"]),
        ("m5", vec!["b"]),
    ] {
        let entries = held.summaries.of(method(&program, name));
        let found = entries
            .iter()
            .map(|entry| text(&held.exprs, name, entry.item))
            .collect();
        assert_eq!(names(found), locks, "{name}");
    }
    // (b), before propagation: only m2 acquires twice.
    let found = solve::dataflow(&program, &graph, &held, false, None);
    let m2: Vec<_> = found.iter().collect();
    assert_eq!(m2.len(), 1);
    assert_eq!(m2[0].method, method(&program, "m2"));
    assert!(
        m2[0].facts.witnesses.is_empty(),
        "neither is held while the other is acquired"
    );
    let twice = m2[0]
        .facts
        .twice
        .iter()
        .map(|(twice, _)| text(&m2[0].exprs, "m2", twice.second));
    assert_eq!(names(twice.collect()), ["a", "b"]);
    // (b), after propagation: b alone reaches m1, whose lock on a is its context.
    let instances = solve::instances(&program, &graph, &mut held, &found);
    assert_eq!(instances.len(), 1);
    assert_eq!(instances[0].context_method, method(&program, "m1"));
    assert_eq!(text(&m2[0].exprs, "m2", instances[0].twice.second), "b");
}

#[test]
fn without_debug_names_the_verdicts_are_the_same() {
    let jdks = common::jdks();
    for jdk in &jdks {
        for flags in [
            &["-g:none"][..],
            &["-g:lines"],
            &["-g", "--release", "8"],
            &["-g:lines", "--release", "11"],
        ] {
            let source = [("Figure1.java", include_str!("java/Figure1.java"))];
            let folder = common::compile_with(jdk, &source, flags);
            let scan = scan_folder(&folder, &Options::default());
            let found = common::methods(&scan.findings, "lock-pattern");
            assert_eq!(
                found,
                ["ElementLine.twiceEach", "Line.contains", "LoopLine.loop", "Split.twice"],
                "{flags:?}"
            );
        }
    }
}
