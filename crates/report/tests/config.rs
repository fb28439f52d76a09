//! `ravel.toml`, suppressions and the baseline, as a user meets them.

use std::path::Path;

use crate::common;
use ravel_analysis::finding::{Evidence, Rule, UnitKind};
use ravel_report::baseline::{Baseline, Change};
use ravel_report::config::{self, Config, Day};
use ravel_report::{Format, rules};

fn read(text: &str) -> Config {
    config::read(text, "ravel.toml").unwrap_or_else(|e| panic!("{e}"))
}

fn mistakes(text: &str) -> String {
    config::read(text, "ravel.toml").expect_err("has mistakes").to_string()
}

fn day(text: &str) -> Day {
    text.parse().unwrap_or_else(|()| panic!("{text} is a day"))
}

/// The example on the page that `ravel explain config` prints.
fn example() -> &'static str {
    let page = rules::Page::find("config").expect("the page");
    page.text
        .split_once("```toml\n")
        .and_then(|(_, rest)| rest.split_once("```"))
        .expect("an example")
        .0
}

#[test]
fn the_example_on_the_page_is_read() {
    let config = read(example());
    assert_eq!(config.record.include, ["shop."]);
    assert_eq!(config.record.exclude, ["shop.generated."]);
    assert_eq!(
        config.units.kinds,
        Some(vec![UnitKind::Section, UnitKind::Method, UnitKind::Compound])
    );
    assert_eq!(config.units.declare, ["shop.Stock.take"]);
    assert_eq!(config.units.not_atomic, ["shop.Log.*"]);
    assert_eq!(config.atomic_sets[0].fields, ["shop.Range.low", "shop.Range.high"]);
    assert_eq!(
        (config.patterns[0].name.as_str(), config.patterns[0].line),
        ("check twice", 14)
    );
    assert_eq!(config.report.fail_on, Some(Evidence::Confirmed));
    assert_eq!(config.report.out[1].format, Format::Sarif);
    let suppression = &config.suppressions[0];
    assert_eq!(
        (suppression.rule, suppression.until),
        (Some(Rule::DataRace), Some(day("2027-06-30")))
    );
}

#[test]
fn the_analyses_get_what_the_user_said() {
    let config = read(example());
    let settings = config.unit_settings();
    let kinds = [
        UnitKind::Section,
        UnitKind::Method,
        UnitKind::Compound,
        UnitKind::Declared,
    ];
    assert_eq!(settings.kinds, kinds, "what is declared is always a unit");
    assert_eq!(settings.units, ["shop.Stock.take"]);
    assert_eq!(settings.not_atomic, ["shop.Log.*"]);
    assert_eq!(settings.atomic_sets[0].name, "bounds");
    assert_eq!(config.access_patterns().len(), 1);
    assert_eq!(config.access_patterns()[0].units(), 2);
    assert_eq!(Config::default().unit_settings().kinds, kinds);
}

#[test]
fn a_pattern_of_the_user_keeps_its_name_and_must_be_able_to_be_a_bug() {
    let pattern = |steps: &str| format!("[[pattern]]\nname = \"lost seat\"\nsteps = \"{steps}\"\n");
    let own = read(&pattern("R1(free) W2(free) W1(free)")).access_patterns();
    assert_eq!(own[0].name(), "\"lost seat\": R1(free) W2(free) W1(free)");
    let said = mistakes(&pattern("R1(x) R2(x)"));
    assert!(said.contains("ravel.toml:3:9: no such pattern can be a bug"), "{said}");
    let several = read(&pattern("W1(a.x) R2(a.x) R2(b.y) W1(b.y)")).access_patterns();
    assert_eq!(several[0].sets(), 2);
}

#[test]
fn a_unit_may_be_declared_for_one_set() {
    let text = "[[atomic-set]]\nname = \"bounds\"\nfields = [\"shop.Range.low\"]\nunits = [\"shop.Range.move\"]\n";
    assert_eq!(read(text).unit_settings().atomic_sets[0].units, ["shop.Range.move"]);
}

#[test]
fn an_empty_file_is_the_default() {
    assert_eq!(read(""), Config::default());
    assert_eq!(read("# nothing\n[report]\n"), Config::default());
}

#[test]
fn every_mistake_is_said_with_its_line_and_the_nearest_name() {
    let text = "[recrod]\n\
        [report]\n\
        fail-onn = \"harmful\"\n\
        baseline = 3\n\
        out = [\"hmtl=x\", 1]\n\
        [units]\n\
        kinds = [\"methods\"]\n\
        declare = \"shop.*\"\n\
        [[pattern]]\n\
        name = \"p\"\n\
        steps = \"R1(x) Q2(x)\"\n\
        [[suppress]]\n\
        rule = \"data-rase\"\n\
        [[suppress]]\n\
        reason = \"\"\n\
        until = 2027-02-30\n";
    // An impossible date is an error of TOML itself, which ends reading; the rest is ours.
    assert!(mistakes(text).starts_with("ravel.toml:16:"), "{}", mistakes(text));
    let text = text.replace("until = 2027-02-30", "until = \"2027-02-30\"");
    common::golden("config-mistakes.txt", &(mistakes(&text) + "\n"));
}

#[test]
fn sections_of_the_wrong_shape_are_said() {
    let said = mistakes("record = 1\n[suppress]\nid = \"x\"\n");
    assert!(
        said.contains("ravel.toml:1:1: `record` is a section: write [record]"),
        "{said}"
    );
    assert!(
        said.contains("`suppress` may be repeated: write [[suppress]]"),
        "{said}"
    );
    assert!(mistakes("a = ").starts_with("ravel.toml:1:"));
}

#[test]
fn hostile_files_do_not_panic() {
    for text in [
        "[[[[",
        "\u{0}",
        "a.b.c = {x = [",
        "[report]\nsource = [[1],[2]]",
        "é = \"",
        "[record]\ninclude = [1979-05-27]",
    ] {
        assert!(config::read(text, "x").is_err(), "{text:?}");
    }
}

#[test]
fn suppressions_need_everything_they_name() {
    let report = common::report("mixed");
    let left = |suppression: &str| {
        let config = read(&format!("[[suppress]]\nreason = \"r\"\n{suppression}\n"));
        let applied = config::apply(report.clone(), &config, None, day("2026-11-15"));
        (applied.report.findings.len(), applied.suppressed, applied.warnings)
    };
    assert_eq!(left("id = \"a1b2c3d4\""), (5, 1, vec![]));
    assert_eq!(left("rule = \"lock-discipline\""), (4, 2, vec![]));
    assert_eq!(left("class = \"shop.*\""), (3, 3, vec![]));
    assert_eq!(left("field = \"*.items\""), (5, 1, vec![]));
    assert_eq!(left("method = \"shop.Range.set\""), (5, 1, vec![]));
    assert_eq!(left("method = \"shop.Range.set(II)V\""), (5, 1, vec![]));
    assert_eq!(left("class = \"shop.*\"\nrule = \"data-race\""), (5, 1, vec![]));
    let none = "the suppression in ravel.toml, line 1 (r) matches no finding".to_owned();
    assert_eq!(left("class = \"shop.*\"\nrule = \"lock-order\""), (6, 0, vec![none]));
    assert_eq!(
        left("id = \"a1b2c3d4\"\nuntil = 2026-11-15"),
        (5, 1, vec![]),
        "the last day counts"
    );
    let ended = "the suppression in ravel.toml, line 1 (r) expired on 2026-11-14".to_owned();
    assert_eq!(left("id = \"a1b2c3d4\"\nuntil = 2026-11-14"), (6, 0, vec![ended]));
}

#[test]
fn a_baseline_leaves_new_findings_only() {
    let old = common::report("data-race");
    let mut baseline = Baseline::default();
    assert_eq!(
        baseline.accept(&old, false),
        Change {
            added: 1,
            ..Change::default()
        }
    );
    let baseline = Baseline::read(&baseline.render()).expect("its own file");
    let new = common::report("mixed");
    let applied = config::apply(new.clone(), &Config::default(), Some(&baseline), Day::today());
    assert_eq!((applied.report.findings.len(), applied.baselined), (5, 1));
    assert_eq!(applied.warnings, Vec::<String>::new());
    assert!(new.findings.iter().any(|f| !f.shown), "something is held back");
    let mut all = Baseline::default();
    let shown = new.findings.iter().filter(|f| f.shown).count();
    assert_eq!(all.accept(&new, false).added, shown, "only what is shown is accepted");

    let other = common::report("lock-order");
    let applied = config::apply(other.clone(), &Config::default(), Some(&baseline), Day::today());
    assert_eq!(
        applied.warnings,
        ["1 entry of the baseline not found again: 7be1d0c4; `ravel baseline --prune` drops it"]
    );
    let mut pruned = baseline.clone();
    assert_eq!(
        pruned.accept(&other, true),
        Change {
            added: 1,
            stale: 1,
            dropped: 1,
            ..Change::default()
        }
    );
    assert_eq!(pruned.accepted.len(), 1);
    let mut kept = baseline.clone();
    assert_eq!(
        kept.accept(&other, false),
        Change {
            added: 1,
            kept: 1,
            stale: 1,
            ..Change::default()
        }
    );
    assert!(
        Baseline::read(r#"{"version": 9, "accepted": []}"#)
            .expect_err("newer")
            .to_string()
            .contains("newer Ravel")
    );
    assert!(Baseline::read("{").is_err());
}

#[test]
fn an_accepted_finding_comes_back_when_its_evidence_rises() {
    let harmful = common::report("data-race");
    let id = harmful.findings[0].id.clone();
    let mut confirmed = harmful.clone();
    confirmed.findings[0].evidence = Evidence::Confirmed;
    let mut worse = harmful.clone();
    worse.findings[0].evidence = Evidence::Harmful;
    let mut baseline = Baseline::default();
    baseline.accept(&confirmed, false);
    let apply = |report: &ravel_analysis::finding::Report, baseline: &Baseline| {
        config::apply(report.clone(), &Config::default(), Some(baseline), Day::today())
    };
    assert_eq!(apply(&confirmed, &baseline).report.findings, []);
    let back = apply(&worse, &baseline);
    assert_eq!((back.report.findings.len(), back.baselined), (1, 0));
    assert_eq!(
        back.warnings,
        [format!("{id} is confirmed in the baseline, and harmful now")]
    );
    assert_eq!(
        baseline.accept(&worse, false),
        Change {
            kept: 1,
            raised: 1,
            ..Change::default()
        }
    );
    assert_eq!(apply(&worse, &baseline).report.findings, []);
    // What a fixed program leaves predicted is not shown, so it is not accepted and hides nothing.
    let mut held = harmful.clone();
    (held.findings[0].evidence, held.findings[0].shown) = (Evidence::Predicted, false);
    let mut of_fixed = Baseline::default();
    assert_eq!(of_fixed.accept(&held, false), Change::default());
    assert_eq!(apply(&worse, &of_fixed).report.findings.len(), 1);
    // A file of an older Ravel has no evidence.
    let old = format!(r#"{{"version": 1, "accepted": [{{"id": "{id}"}}]}}"#);
    let old = Baseline::read(&old).expect("a baseline");
    assert_eq!(apply(&worse, &old).report.findings, []);
}

#[test]
fn builds_fail_on_what_they_should() {
    let report = common::report("mixed");
    let all = &report.findings;
    let (shown, held): (Vec<_>, Vec<_>) = all.iter().cloned().partition(|f| f.shown);
    assert!(config::fails(&shown, None));
    assert!(!config::fails(&held, None), "--all alone fails no build");
    assert!(config::fails(all, Some(Evidence::Harmful)));
    assert!(!config::fails(&held, Some(Evidence::Witnessed)));
    assert!(config::fails(&held, Some(Evidence::Predicted)));
}

#[test]
fn files_are_found_and_paths_count_from_them() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(
        config::load(None, folder.path()).expect("no file is fine"),
        Config::default()
    );
    std::fs::write(
        folder.path().join("ravel.toml"),
        "[report]\nsource = [\"src\"]\nout = [\"html=r.html\"]\n",
    )
    .expect("written");
    let config = config::load(None, folder.path()).expect("valid");
    assert_eq!(config.report.source, [folder.path().join("src")]);
    assert_eq!(config.report.out[0].file, Some(folder.path().join("r.html")));
    let error = config::load(Some(Path::new("absent.toml")), folder.path()).expect_err("named but absent");
    assert!(error.to_string().starts_with("cannot read absent.toml"), "{error}");
}

#[test]
fn the_schema_is_in_step_and_accepts_the_example() {
    let schema = config::keys::schema();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let example: toml::Table = example().parse().expect("TOML");
    let example = serde_json::to_value(&example).expect("JSON");
    assert!(
        validator.is_valid(&example),
        "{:?}",
        validator
            .iter_errors(&example)
            .map(|e| e.to_string())
            .collect::<Vec<_>>()
    );
    assert!(!validator.is_valid(&serde_json::json!({ "report": { "fail-onn": "harmful" } })));
    assert!(!validator.is_valid(&serde_json::json!({ "suppress": [{ "reason": "r" }] })));

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ravel.schema.json");
    let expected = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &expected).expect("docs/ravel.schema.json is writable");
    }
    let actual = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        actual == expected,
        "docs/ravel.schema.json is out of step with the keys; BLESS=1 updates it"
    );
}
