//! Which lock patterns are shown: those whose second acquisition rests on what the first one read.

use crate::common::{compile_with, jdks};
use ravel_scan::{Options, load, scan};

/// The methods whose names end in `Bad` and those that a rule shows, all rules if none is given.
fn shown(source: (&str, &str), rules: &[&str], flags: &[&str]) -> (Vec<String>, Vec<String>) {
    let folder = compile_with(&jdks()[0], &[source], flags);
    let paths = [folder.path().join("classes")];
    let found = scan(&paths, &Options::default()).expect("scanned");
    assert_eq!(found.problems, Vec::<String>::new());
    let program = load(&paths, &Options::default()).expect("loaded");
    let name = |text: &str| text.split('(').next().unwrap_or_default().to_owned();
    let mut wanted: Vec<String> = program
        .method_ids()
        .map(|method| name(&program.method_text(method)))
        .filter(|name| name.ends_with("Bad") || name.ends_with("Bad.<init>"))
        .collect();
    let mut seen: Vec<String> = found
        .findings
        .iter()
        .filter(|finding| finding.shown && (rules.is_empty() || rules.contains(&finding.rule.name())))
        .map(|finding| name(&finding.units[0].method))
        .collect();
    for list in [&mut wanted, &mut seen] {
        list.sort();
        list.dedup();
    }
    (wanted, seen)
}

#[test]
fn a_second_acquisition_that_rests_on_the_first_is_shown() {
    let source = ("Stale.java", include_str!("java/Stale.java"));
    for flags in [&["-g"][..], &["-g:none"], &["-g", "--release", "8"]] {
        let (wanted, seen) = shown(source, &["lock-pattern"], flags);
        assert_eq!(seen, wanted, "{flags:?}");
    }
}

#[test]
fn what_made_findings_wrong_is_not_shown() {
    let source = ("FalseCauses.java", include_str!("java/FalseCauses.java"));
    let (wanted, seen) = shown(source, &[], &["-g"]);
    assert_eq!(seen, wanted);
}
