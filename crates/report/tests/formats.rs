//! The formats that other tools read: against their schemas, their rules, and golden files.

use std::path::Path;

use crate::common;
use ravel_analysis::account::{DirectedAccount, DirectedStep, HoldEnd};
use ravel_analysis::finding::{
    AlsoSeen, Evidence, Finding, FindingStep, Lane, LockLane, Outcome, OutcomeKind, Part, Recording, Report, Rule,
    Scanned, SerialRun, Summary, Times,
};
use ravel_report::{Format, Options, SourceFinder, json, render, rules};
use serde_json::Value;

fn sarif(name: &str, all: bool) -> Value {
    let sources = common::sources();
    let options = Options {
        all,
        ..Options::new(&sources)
    };
    let text = render(&common::report(name), Format::Sarif, &options);
    serde_json::from_str(&text).expect("SARIF is JSON")
}

#[test]
fn json_goes_round() {
    for name in common::REPORTS {
        let text = common::file(&format!("reports/{name}.json"));
        let report = json::read(&text).expect("valid");
        let rendered = json::render(&report);
        assert_eq!(json::read(&rendered).expect("valid"), report, "{name}");
        let (given, made): (Value, Value) = (
            serde_json::from_str(&text).expect("JSON"),
            serde_json::from_str(&rendered).expect("JSON"),
        );
        assert_eq!(given, made, "{name}: nothing is lost or added");
    }
}

/// The published schema, and the same with every property that it does not name forbidden: in a test, a property without
/// a description is a mistake.
fn findings_schema() -> (jsonschema::Validator, jsonschema::Validator) {
    fn close(schema: &mut Value) {
        if let Some(object) = schema.as_object_mut() {
            if object.contains_key("properties") {
                object.insert("additionalProperties".to_owned(), false.into());
            }
            object.values_mut().for_each(close);
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings.schema.json");
    let text = std::fs::read_to_string(path).expect("docs/findings.schema.json");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    let mut closed = schema.clone();
    close(&mut closed);
    let validator = |schema: &Value| jsonschema::validator_for(schema).expect("a schema");
    (validator(&schema), validator(&closed))
}

/// A report in which every optional part is there. Without `..`, so that a new field must be added here, and so to the schema.
fn full_report() -> Report {
    let step = FindingStep {
        value: Some("3".to_owned()),
        part: Some("size()".to_owned()),
        inside: Some("java.util.HashMap.put".to_owned()),
        locks: vec!["shop.Stock".to_owned()],
        stack: vec!["shop.Stock.count (Stock.java:14)".to_owned()],
        ..FindingStep::default()
    };
    let finding = Finding {
        id: "a1b2c3d4".to_owned(),
        rule: Rule::Atomicity,
        evidence: Evidence::Harmful,
        shown: true,
        patterns: vec!["R W' W".to_owned()],
        own_pattern: Some("twice".to_owned()),
        analyses: vec!["patterns".to_owned()],
        variables: vec!["shop.Stock.items".to_owned()],
        units: common::report("atomicity").findings[0].units.clone(),
        steps: vec![step.clone()],
        outcome: Some(Outcome {
            kind: OutcomeKind::Exception,
            thread: Some("t1".to_owned()),
            message: "m".to_owned(),
            stack: vec!["shop.Stock.take (Stock.java:14)".to_owned()],
            printed: vec!["p".to_owned()],
        }),
        serial: vec![SerialRun {
            threads: vec!["t1".to_owned(), "t2".to_owned()],
            steps: vec![step],
            outcome: "no exception".to_owned(),
        }],
        limit: Some("l".into()),
        also: vec![AlsoSeen {
            id: "0c9d8e7f".to_owned(),
            rule: Rule::DataRace,
            evidence: Evidence::Confirmed,
            message: "m".to_owned(),
        }],
        tests: vec!["shop.ShopTest.twoCustomers".into()],
        schedule: vec![("t1".to_owned(), 3)],
        replay: "r".to_owned(),
        message: "m".to_owned(),
        help: "h".to_owned(),
        candidates: Vec::new(),
    };
    Report {
        version: 1,
        program: "p".to_owned(),
        complete: true,
        summary: Summary {
            times: Some(Times::default()),
            scanned: Some(Scanned::default()),
            ..Summary::default()
        },
        warnings: vec!["w".to_owned()],
        findings: vec![finding.clone()],
        suspicions: vec![finding],
        recordings: vec![Recording {
            trace: "t.ravel".to_owned(),
            events: 1,
            cell: 1,
            lanes: vec![Lane {
                thread: "t1".to_owned(),
                cells: vec![1],
            }],
            locks: vec![LockLane {
                lock: "shop.Stock".to_owned(),
                holds: vec![("t1".to_owned(), 0, 1)],
                until: Some(2),
            }],
            more_threads: 1,
            moments: [("a1b2c3d4".to_owned(), vec![0])].into(),
        }],
        directed: vec![DirectedAccount {
            steps: vec![DirectedStep::default()],
            ended: [(HoldEnd::Idle, 1)].into(),
            ..DirectedAccount::default()
        }],
        parts: vec![Part {
            key: "plan".to_owned(),
            program: "java Main".to_owned(),
            summary: Summary::default(),
            whole: true,
            planned: ["a1b2c3d4".to_owned()].into(),
            tried: ["a1b2c3d4".to_owned()].into(),
            shards: [("1/1".to_owned(), Times::default())].into(),
            types: [("a1b2c3d4".to_owned(), vec!["I".to_owned()])].into(),
        }],
    }
}

#[test]
fn the_schema_of_findings_describes_every_field() {
    let (open, closed) = findings_schema();
    let of = |report: &Report| serde_json::from_str::<Value>(&json::render(report)).expect("JSON");
    let mut reports: Vec<Report> = common::REPORTS.iter().map(|name| common::report(name)).collect();
    reports.push(full_report());
    for report in &reports {
        let made = of(report);
        for validator in [&open, &closed] {
            let errors: Vec<String> = validator
                .iter_errors(&made)
                .map(|e| format!("{e} at {}", e.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{errors:#?}");
        }
    }
    let mut more = of(&reports[0]);
    more["added"] = 1.into();
    assert!(open.is_valid(&more), "fields may be added");
    assert!(!closed.is_valid(&more), "the test would notice");
    for rule in Rule::ALL {
        let mut report = full_report();
        report.findings[0].rule = *rule;
        assert!(open.is_valid(&of(&report)), "{}", rule.name());
    }
    let mut broken = of(&full_report());
    broken["findings"][0]["evidence"] = "certain".into();
    assert!(!open.is_valid(&broken), "the validator can fail");
}

#[test]
fn the_design_s_example_is_read() {
    let text = r#"{ "version": 1, "program": "p", "complete": true, "summary": {"events": 0, "threads": 0,
          "classes": {"instrumented": 0, "skipped": 0, "failed": 0}},
        "findings": [ { "id": "a1b2c3d4", "rule": "atomicity", "evidence": "harmful", "shown": true,
          "patterns": ["R W' W"], "analyses": ["patterns", "blocks"], "variables": ["shop.Stock.items"],
          "units": [{"thread": "t1", "method": "shop.Stock.take(I)Z", "kind": "method"}],
          "steps": [{"thread": "t1", "op": "read", "variable": "shop.Stock.items", "value": "3", "class": "shop.Stock",
                     "method": "count()I", "file": "Stock.java", "line": 14, "inside": null, "locks": [], "stack": ["x"]}],
          "outcome": {"kind": "exception", "thread": "t1", "message": "m"},
          "schedule": [["main", 12], ["t1", 3], ["t2", 6], ["t1", 4]],
          "replay": "ravel replay t.ravel a1b2c3d4", "message": "s", "help": "h" } ] }"#;
    let report = json::read(text).expect("valid");
    let made: Value = serde_json::from_str(&json::render(&report)).expect("JSON");
    assert_eq!(made, serde_json::from_str::<Value>(text).expect("JSON"));
}

#[test]
fn other_files_are_named_for_what_they_are() {
    let error = |text: &str| json::read(text).expect_err("no report").to_string();
    assert!(error("not json").contains("not a Ravel report"));
    assert!(error(r#"{"version": 2, "findings": []}"#).contains("use a newer Ravel"));
    assert!(error(r#"{"version": "2.1.0", "runs": []}"#).contains("looks like SARIF"));
    assert!(error(r#"{"version": 1, "findings": []}"#).contains("missing field"));
    assert!(error(r#"[1]"#).contains("not a Ravel report"));
    let cut = common::file("reports/mixed.json");
    assert!(
        error(&cut[..cut.len() / 2]).contains("line"),
        "a truncated file says where it ends"
    );
}

#[test]
fn sarif_obeys_the_schema() {
    let validator = common::sarif_validator();
    for name in common::REPORTS {
        for all in [false, true] {
            let log = sarif(name, all);
            let errors: Vec<String> = validator
                .iter_errors(&log)
                .map(|e| format!("{} at {}", e, e.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{name}: {errors:#?}");
        }
    }
    let mut broken = sarif("mixed", true);
    broken["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(!validator.is_valid(&broken), "the validator can fail");
}

#[test]
fn sarif_has_what_code_scanning_needs() {
    let log = sarif("mixed", true);
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 6);
    for result in results {
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().expect("a path");
        assert!(
            !uri.starts_with('/') && !uri.contains(":"),
            "{uri} is relative to the repository"
        );
        assert!(place["region"]["startLine"].as_u64() >= Some(1));
        assert_eq!(
            result["partialFingerprints"]["ravelFinding/v1"].as_str().map(str::len),
            Some(8)
        );
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("index")).expect("small");
        assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
    for rule in log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules") {
        for form in ["text", "markdown"] {
            let page = rule["help"][form].as_str().expect("the page of the rule");
            assert!(page.lines().count() > 10, "{}: {page}", rule["id"]);
        }
        // An address must be absolute and lead somewhere: there is none yet.
        assert!(rule.get("helpUri").is_none(), "{}", rule["id"]);
    }
    let atomicity = &results[0];
    assert_eq!(
        atomicity["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
        "src/main/java/shop/Stock.java"
    );
    assert_eq!(atomicity["locations"][0]["physicalLocation"]["region"]["startLine"], 20);
    let region = &atomicity["locations"][0]["physicalLocation"]["region"];
    assert_eq!(
        (&region["startColumn"], &region["endColumn"]),
        (&13.into(), &18.into()),
        "the call of `count`"
    );
    let flow = atomicity["codeFlows"][0]["threadFlows"][0]["locations"]
        .as_array()
        .expect("flow");
    let orders: Vec<u64> = flow.iter().filter_map(|s| s["executionOrder"].as_u64()).collect();
    assert_eq!(orders, [1, 2, 3, 4]);
    assert_eq!(flow[2]["importance"], "essential");
    assert_eq!(atomicity["relatedLocations"].as_array().map(Vec::len), Some(3));
    assert_eq!(atomicity["stacks"].as_array().map(Vec::len), Some(4));
    assert_eq!(atomicity["stacks"][0]["frames"].as_array().map(Vec::len), Some(3));
}

#[test]
fn sarif_has_the_edit_that_is_certain() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("src/shop/Cache.java");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    let source = "package shop;\nclass Cache {\n    private static Cache one;\n    static Cache get() {\n        if (one == null) {\n            lock.notify();\n";
    std::fs::write(&file, source).expect("written");
    let mut sources = SourceFinder::new(folder.path());
    sources.add_usual_roots();
    let mut report = common::report("data-race");
    let finding = &mut report.findings[0];
    finding.rule = Rule::DoubleCheckedLocking;
    finding.variables = vec!["shop.Cache.one".to_owned()];
    finding.help = "Declare Cache.one volatile.".to_owned();
    for step in &mut finding.steps {
        (step.class, step.file, step.line) = ("shop.Cache".to_owned(), "Cache.java".to_owned(), 5);
    }
    let log = |report: &Report| -> Value {
        serde_json::from_str(&render(report, Format::Sarif, &Options::new(&sources))).expect("JSON")
    };
    let made = log(&report);
    assert!(common::sarif_validator().is_valid(&made));
    let change = &made["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0];
    assert_eq!(change["artifactLocation"]["uri"], "src/shop/Cache.java");
    let region = &change["replacements"][0]["deletedRegion"];
    assert_eq!((&region["startLine"], &region["startColumn"]), (&3.into(), &20.into()));
    assert_eq!(change["replacements"][0]["insertedContent"]["text"], "volatile ");
    report.findings[0].rule = Rule::NotifyOne;
    report.findings[0].steps[0].line = 6;
    let made = log(&report);
    assert!(common::sarif_validator().is_valid(&made));
    let change = &made["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][0];
    let region = &change["deletedRegion"];
    assert_eq!((&region["startLine"], &region["startColumn"]), (&6.into(), &24.into()));
    assert_eq!(change["insertedContent"]["text"], "All", "notifyAll");
    report.findings[0].rule = Rule::DataRace;
    assert!(
        log(&report)["runs"][0]["results"][0].get("fixes").is_none(),
        "only where it is certain"
    );
}

#[test]
fn a_finding_without_a_place_is_no_result() {
    let sources = SourceFinder::none();
    let mut report = common::report("data-race");
    report.findings[0].steps.clear();
    let options = Options::new(&sources);
    let log: Value = serde_json::from_str(&render(&report, Format::Sarif, &options)).expect("JSON");
    let result = &log["runs"][0]["results"][0];
    let artifact = &result["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(
        artifact["uri"], "shop/Hits.java",
        "the variable's class tells where to look"
    );
    assert_eq!(
        artifact["uriBaseId"], "%UNKNOWNSOURCES%",
        "below a folder that is not known"
    );
    report.findings[0].variables.clear();
    let log: Value = serde_json::from_str(&render(&report, Format::Sarif, &options)).expect("JSON");
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(0));
    let notification = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    assert!(notification.as_str().expect("said").contains("7be1d0c4"));
}

#[test]
fn a_source_that_was_not_found_is_no_path_of_the_repository() {
    let report = common::report("atomicity");
    let result = |sources: &SourceFinder| -> Value {
        let log = render(&report, Format::Sarif, &Options::new(sources));
        let log: Value = serde_json::from_str(&log).expect("JSON");
        assert!(common::sarif_validator().is_valid(&log));
        log["runs"][0]["results"][0].clone()
    };
    let found = result(&common::sources());
    assert!(found["properties"].get("sourcesNotFound").is_none());
    let unfound = result(&SourceFinder::none());
    assert_eq!(
        unfound["properties"]["sourcesNotFound"],
        serde_json::json!(["shop/Stock.java"])
    );
    let text = unfound.to_string();
    assert!(
        !text.contains("%SRCROOT%") && text.contains("%UNKNOWNSOURCES%"),
        "{text}"
    );
}

#[test]
fn every_format_leads_to_the_method_to_fix() {
    let sources = common::sources();
    let report = common::report("atomicity");
    let text = |format| render(&report, format, &Options::new(&sources));
    let place = "src/main/java/shop/Stock.java:20";
    assert!(text(Format::Text).contains(place), "{}", text(Format::Text));
    let log: Value = serde_json::from_str(&text(Format::Sarif)).expect("JSON");
    let location = &log["runs"][0]["results"][0]["locations"][0];
    let region = &location["physicalLocation"]["region"];
    assert_eq!(region["startLine"], 20);
    assert_eq!(location["logicalLocations"][0]["fullyQualifiedName"], "shop.Stock.take");
    let source = sources.find("shop.Stock", "Stock.java").expect("the source");
    let columns = |key: &str| usize::try_from(region[key].as_u64().expect("a column")).expect("small") - 1;
    let marked = &source.line(20).expect("the line")[columns("startColumn")..columns("endColumn")];
    assert_eq!(marked, "count", "the call that reads");
    assert!(text(Format::Github).contains("file=src/main/java/shop/Stock.java,line=20"));
    assert!(text(Format::Junit).contains("file=\"src/main/java/shop/Stock.java\" line=\"20\""));
    assert!(text(Format::Html).contains("\"where\":\"Stock.java:20\""));
    let before = Report::default();
    let diff = ravel_report::diff::Diff::between(&before, &report, false);
    assert!(diff.text(80).contains("Stock.java:20"));
}

#[test]
fn a_race_of_one_method_with_itself_is_told_of_two_threads_in_every_format() {
    let sources = common::sources();
    let mut report = common::report("data-race");
    let finding = &mut report.findings[0];
    let (variables, units, steps) = (&finding.variables, &finding.units, &finding.steps);
    finding.message = ravel_analysis::describe::message(finding.rule, variables, units, steps);
    let sentence = "Two threads can run Hits.hit at once: one reads Hits.total while the other writes it (line 7).";
    assert_eq!(finding.message, sentence);
    for format in Format::ALL {
        let text = render(&report, *format, &Options::new(&sources));
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(sentence), "{format}: {text}");
    }
}

#[test]
fn the_message_of_an_alert_is_sentences() {
    let sources = common::sources();
    let mut report = common::report("atomicity");
    let finding = &mut report.findings[0];
    finding.message = "volatile does not make that atomic".to_owned();
    let outcome = finding.outcome.as_mut().expect("an outcome");
    outcome.stack = vec!["shop.Stock.remove (Stock.java:14)".to_owned()];
    outcome.printed = vec!["left: -1".to_owned()];
    let text = |format| render(&report, format, &Options::new(&sources));
    let log: Value = serde_json::from_str(&text(Format::Sarif)).expect("JSON");
    let message = log["runs"][0]["results"][0]["message"]["text"]
        .as_str()
        .expect("a text")
        .to_owned();
    assert!(
        message.starts_with("volatile does not make that atomic. Forced run: "),
        "{message}"
    );
    assert!(
        message.contains(" Thrown: at Stock.remove (Stock.java:14). Last lines printed: left: -1. "),
        "{message}"
    );
    let note = text(Format::Github);
    assert!(
        note.contains("%0AThrown: at Stock.remove (Stock.java:14)%0ALast lines printed: left: -1"),
        "{note}"
    );
    let page = text(Format::Html);
    assert!(
        page.contains("\"printed\":[\"left: -1\"]") && page.contains("\"thrown\":[\"Stock.remove (Stock.java:14)\"]")
    );
}

#[test]
fn only_what_a_run_shows_is_very_precise() {
    let log = sarif("mixed", true);
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
    let precision = |id: &str| {
        let rule = rules.iter().find(|rule| rule["id"] == id).expect("the rule");
        rule["properties"]["precision"].as_str().expect("said").to_owned()
    };
    assert_eq!(precision("atomicity"), "very-high");
    assert_eq!(precision("notify-one"), "medium");
}

#[test]
fn other_views_of_a_bug_are_in_every_format() {
    let sources = common::sources();
    let mut report = common::report("atomicity");
    report.findings[0].also = full_report().findings.remove(0).also;
    for format in Format::ALL {
        let text = render(&report, *format, &Options::new(&sources));
        let known = match *format {
            Format::Json => text.contains("\"also\"") && text.contains("0c9d8e7f"),
            _ => text.contains("data-race (confirmed)"),
        };
        assert!(known, "{format}: {text}");
    }
}

#[test]
fn formats_match_their_golden_files() {
    let sources = common::sources();
    let report = common::report("mixed");
    let options = Options {
        all: true,
        ..Options::new(&sources)
    };
    for (format, file) in [
        (Format::Sarif, "mixed.sarif"),
        (Format::Junit, "mixed.xml"),
        (Format::Github, "mixed.github"),
    ] {
        common::golden(file, &render(&report, format, &options));
    }
}

#[test]
fn junit_is_well_formed_and_counts() {
    let sources = SourceFinder::none();
    let mut report = common::report("mixed");
    report.findings[0].message = "a < b && \"c\" \u{1b}[0m ]]> \u{0} é".to_owned();
    let text = render(&report, Format::Junit, &Options::new(&sources));
    let document = roxmltree::Document::parse(&text).expect("well formed");
    let suite = document
        .descendants()
        .find(|n| n.has_tag_name("testsuite"))
        .expect("a suite");
    let cases = suite.children().filter(|n| n.has_tag_name("testcase")).count();
    let failures = suite.descendants().filter(|n| n.has_tag_name("failure")).count();
    assert_eq!(suite.attribute("tests"), Some(cases.to_string().as_str()));
    assert_eq!(suite.attribute("failures"), Some("3"));
    assert_eq!(failures, 3);
    assert_eq!(cases, failures, "no test is made up");
}

#[test]
fn junit_says_where_and_how_long() {
    let sources = common::sources();
    let mut report = common::report("mixed");
    report.summary.times = Some(Times {
        record: 1200,
        search: 34,
        ..Default::default()
    });
    let suite = |report: &Report| {
        let text = render(report, Format::Junit, &Options::new(&sources));
        let document = roxmltree::Document::parse(&text).expect("well formed");
        let attributes = |tag: &str| -> Vec<Vec<(String, String)>> {
            let nodes = document.descendants().filter(|n| n.has_tag_name(tag));
            let of = |n: roxmltree::Node<'_, '_>| {
                n.attributes()
                    .map(|a| (a.name().to_owned(), a.value().to_owned()))
                    .collect()
            };
            nodes.map(of).collect()
        };
        (attributes("testsuite").remove(0), attributes("testcase"))
    };
    let has = |attributes: &[(String, String)], name: &str, value: &str| {
        assert!(
            attributes.iter().any(|(n, v)| n == name && v == value),
            "{name}={value}: {attributes:?}"
        );
    };
    let (whole, cases) = suite(&report);
    has(&whole, "time", "1.234");
    has(&cases[0], "file", "src/main/java/shop/Stock.java");
    has(&cases[0], "line", "20");
    report.findings.clear();
    let (whole, cases) = suite(&report);
    assert!(cases.is_empty(), "no test is made up: {cases:?}");
    has(&whole, "tests", "0");
    has(&whole, "failures", "0");
}

#[test]
fn github_annotations_are_one_line_each() {
    let sources = common::sources();
    let mut report = common::report("mixed");
    report.findings[0].message = "first\nsecond ::error::".to_owned();
    let text = render(&report, Format::Github, &Options::new(&sources));
    assert_eq!(text.lines().count(), 3);
    for line in text.lines() {
        assert!(line.starts_with("::error file=src/main/java/shop/"), "{line}");
    }
}

/// Only the path of a source that was found is given: GitHub drops annotations with other paths.
#[test]
fn github_annotations_name_files_that_are_there() {
    let report = common::report("mixed");
    let sources = common::sources();
    let mut options = Options::new(&sources);
    options.all = true;
    let text = render(&report, Format::Github, &options);
    let cache = text.lines().find(|line| line.contains("33334444")).expect("held back");
    assert!(!cache.contains("file=") && !cache.contains("line="), "{cache}");
    assert!(cache.contains("%0AWhere: at Cache.java:52 in Cache."), "{cache}");
    let nowhere = SourceFinder::none();
    let text = render(&report, Format::Github, &Options::new(&nowhere));
    assert!(!text.contains("file="), "{text}");
}

#[test]
fn what_only_the_code_says_is_apart_in_every_format() {
    let sources = common::sources();
    let mut report = common::report("mixed");
    report.suspicions = common::report("suspected").findings;
    report.suspicions.truncate(2);
    let ids: Vec<String> = report.suspicions.iter().map(|f| f.id.clone()).collect();
    report.findings.retain(|f| !ids.contains(&f.id));
    let rendered = |format, all| {
        let options = Options {
            all,
            width: 120,
            ..Options::new(&sources)
        };
        render(&report, format, &options)
    };
    let remark = "seen in code, not found in a run";
    for format in [Format::Text, Format::Sarif, Format::Junit, Format::Github] {
        let (short, all) = (rendered(format, false), rendered(format, true));
        for id in &ids {
            assert!(!short.contains(id.as_str()), "{format}: {id} is held back");
            assert!(all.matches(remark).count() > 1, "{format}");
            assert!(all.contains(id.as_str()), "{format}: {id} is asked for");
        }
    }
    let text = rendered(Format::Text, true);
    let heading = text.find(&format!("== {remark} ==")).expect("a heading");
    for finding in &report.findings {
        assert!(text.find(&finding.id).expect("there") < heading, "{}", finding.id);
    }
    assert!(rendered(Format::Text, false).contains(&format!(
        "2 suspicions of the static scan, {remark}; see them with --all"
    )));
    let log: Value = serde_json::from_str(&rendered(Format::Sarif, true)).expect("JSON");
    let reviews = log["runs"][0]["results"].as_array().expect("results").iter();
    assert_eq!(
        reviews
            .filter(|r| r["kind"] == "review" && r["level"] == "none")
            .count(),
        2
    );
    assert!(common::sarif_validator().iter_errors(&log).next().is_none());
    let junit = rendered(Format::Junit, true);
    assert_eq!(
        junit.matches("<failure").count(),
        report.findings.len(),
        "a suspicion fails nothing"
    );
    assert_eq!(junit.matches("<skipped").count(), 2);
    let page = rendered(Format::Html, false);
    assert!(page.contains("<section id=\"suspicions\"") && page.contains("see the end of the page"));
    let json: Value = serde_json::from_str(&rendered(Format::Json, false)).expect("JSON");
    assert_eq!(json["suspicions"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_rules_page_is_in_step() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    let expected = rules::document();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &expected).expect("docs/rules.md is writable");
    }
    let actual = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        actual == expected,
        "docs/rules.md is out of step with the pages; BLESS=1 updates it"
    );
}

#[test]
fn work_that_was_not_done_to_its_end_is_told_in_every_format() {
    let sources = common::sources();
    let mut report = common::report("data-race");
    report.complete = false;
    report.warnings = vec!["interrupted: 3 findings not tried".to_owned()];
    let options = Options::new(&sources);
    for format in Format::ALL {
        let text = render(&report, *format, &options);
        assert!(text.contains("interrupted: 3 findings not tried"), "{format}: {text}");
    }
    let sarif: Value = serde_json::from_str(&render(&report, Format::Sarif, &options)).expect("JSON");
    assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], false);
    let json: Value = serde_json::from_str(&render(&report, Format::Json, &options)).expect("JSON");
    assert_eq!(json["complete"], false);
    assert!(render(&report, Format::Junit, &options).contains("errors=\"1\""));
    // Reports of an older Ravel do not say.
    let old = r#"{"version": 1, "program": "p", "summary": {"events": 0, "threads": 0,
        "classes": {"instrumented": 0, "skipped": 0, "failed": 0}}, "findings": []}"#;
    assert!(ravel_report::json::read(old).expect("a report").complete);
}
