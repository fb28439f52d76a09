//! The terminal format on realistic reports, against golden files.

use crate::common;
use ravel_report::layout::width;
use ravel_report::{Format, Notes, Options, SourceFinder, render};

#[test]
fn reports_look_as_they_should() {
    let sources = common::sources();
    for name in common::REPORTS {
        let text = render(&common::report(name), Format::Text, &Options::new(&sources));
        common::golden(&format!("{name}.txt"), &text);
    }
}

#[test]
fn a_finding_fits_a_screen_unless_verbose() {
    let sources = common::sources();
    for name in common::REPORTS {
        let whole = common::report(name);
        for finding in &whole.findings {
            let mut report = whole.clone();
            report.findings = vec![finding.clone()];
            let options = Options {
                all: true,
                ..Options::new(&sources)
            };
            let text = render(&report, Format::Text, &options);
            let rows = text.lines().take_while(|line| !line.starts_with("  recorded ")).count();
            assert!(rows <= 24, "{name} {}: {rows} rows\n{text}", finding.id);
        }
    }
    let verbose = Options {
        verbose: true,
        ..Options::new(&sources)
    };
    let text = render(&common::report("atomicity"), Format::Text, &verbose);
    common::golden("atomicity-verbose.txt", &text);
}

#[test]
fn all_shows_what_is_held_back() {
    let sources = SourceFinder::none();
    let options = Options {
        all: true,
        ..Options::new(&sources)
    };
    common::golden(
        "suspected-all.txt",
        &render(&common::report("suspected"), Format::Text, &options),
    );
}

#[test]
fn ascii_and_narrow() {
    let sources = common::sources();
    let options = Options {
        unicode: false,
        width: 60,
        ..Options::new(&sources)
    };
    let text = render(&common::report("atomicity"), Format::Text, &options);
    assert!(text.is_ascii());
    common::golden("atomicity-ascii-60.txt", &text);
}

#[test]
fn colors_change_nothing_but_colors() {
    let sources = common::sources();
    let report = common::report("mixed");
    let plain = render(
        &report,
        Format::Text,
        &Options {
            all: true,
            ..Options::new(&sources)
        },
    );
    let colored = render(
        &report,
        Format::Text,
        &Options {
            all: true,
            color: true,
            ..Options::new(&sources)
        },
    );
    assert!(!plain.contains('\x1b'));
    assert!(colored.contains("\x1b[1;31m"));
    assert_eq!(strip_colors(&colored), plain);
}

#[test]
fn the_summary_has_what_the_caller_knows() {
    let sources = SourceFinder::none();
    let notes = Notes {
        recorded: Some("2.1 s, 3 MB in t.ravel".to_owned()),
        analysed: Some("6 analyses in 0.4 s".to_owned()),
        forced: Some("9 orders in 14 runs: 3 happened, 6 could not be forced".to_owned()),
        untested: Some("the time ran out: a larger --budget helps".to_owned()),
        suppressed: 2,
        baselined: 5,
        warnings: vec!["the suppression of shop.Old.* in ravel.toml, line 12, matches nothing".to_owned()],
    };
    let options = Options {
        notes,
        ..Options::new(&sources)
    };
    common::golden(
        "summary.txt",
        &render(&common::report("suspected"), Format::Text, &options),
    );
}

#[test]
fn no_line_is_too_long_at_any_width() {
    let sources = common::sources();
    for name in common::REPORTS {
        let report = common::report(name);
        for columns in 40..=140 {
            for (unicode, verbose) in [(false, false), (true, false), (false, true), (true, true)] {
                let options = Options {
                    width: columns,
                    unicode,
                    verbose,
                    all: true,
                    ..Options::new(&sources)
                };
                let text = render(&report, Format::Text, &options);
                for line in text.lines().filter(|l| !l.contains("see it again:")) {
                    assert!(
                        width(line) <= columns,
                        "{name} at {columns}: {} columns\n{line}",
                        width(line)
                    );
                    assert_eq!(line, line.trim_end(), "{name} at {columns}: trailing space");
                }
            }
        }
    }
}

#[test]
fn hostile_and_long_names_stay_in_their_columns() {
    let sources = SourceFinder::none();
    let mut report = common::report("mixed");
    for finding in &mut report.findings {
        finding.message = format!("\u{1b}[2J{} {}", "日本語".repeat(40), finding.message);
        finding.variables = vec!["a.".repeat(90)];
        for (index, step) in finding.steps.iter_mut().enumerate() {
            step.thread = format!("pool-{index}-{}\u{1b}]0;x\u{7}", "ü".repeat(60));
            step.class = "org.example.".repeat(12);
            step.locks = (0..9).map(|n| format!("org.example.Lock{n}@{n}")).collect();
            step.file = "É".repeat(90);
            step.line = u32::MAX;
        }
    }
    for columns in [40, 57, 80, 140] {
        let options = Options {
            width: columns,
            all: true,
            ..Options::new(&sources)
        };
        let text = render(&report, Format::Text, &options);
        assert!(!text.contains('\x1b') && !text.contains('\u{7}'));
        for line in text.lines().filter(|l| !l.contains("see it again:")) {
            assert!(width(line) <= columns, "{} columns at {columns}\n{line}", width(line));
        }
    }
}

#[test]
fn a_long_interleaving_is_shortened_around_the_decisive_step() {
    let sources = SourceFinder::none();
    let mut report = common::report("atomicity");
    let finding = &mut report.findings[0];
    let filler = finding.steps[0].clone();
    for _ in 0..100 {
        finding.steps.insert(0, filler.clone());
    }
    for verbose in [false, true] {
        let options = Options {
            verbose,
            ..Options::new(&sources)
        };
        let text = render(&report, Format::Text, &options);
        assert!(text.contains("steps left out"), "{text}");
        assert!(text.contains("▶ 103"), "{text}");
    }
}

#[test]
fn a_thread_per_step_becomes_a_list() {
    let sources = SourceFinder::none();
    let mut report = common::report("atomic-set");
    for (index, step) in report.findings[0].steps.iter_mut().enumerate() {
        step.thread = format!("t{index}");
    }
    let verbose = Options {
        verbose: true,
        ..Options::new(&sources)
    };
    common::golden("list.txt", &render(&report, Format::Text, &verbose));
}

fn strip_colors(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    out + rest
}
