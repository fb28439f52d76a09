//! The cases that the LockPattern paper describes: all are found, and those that it calls violations are shown.

use crate::common::{compile, methods, scan_folder};
use ravel_scan::Options;

#[test]
fn violations_of_the_paper_are_shown_and_its_stylistic_problems_are_found() {
    let folder = compile(&[("PaperCases.java", include_str!("java/PaperCases.java"))]);
    let scan = scan_folder(&folder, &Options::default());
    let violations = [
        "Box.overlapsBad",
        "Recorder.activeBad",
        "Recorder.propertyBad",
        "Render.advanceBad",
        "Sequencer.processBad",
    ];
    let mut all = [&violations[..], &["Client.kicked", "Writer.pair"]].concat();
    all.sort_unstable();
    assert_eq!(methods(&scan.findings, "lock-pattern"), all);
    let mut shown = scan.findings;
    shown.retain(|finding| finding.shown);
    // The two stylistic problems write twice and read nothing: held back.
    assert_eq!(methods(&shown, "lock-pattern"), violations);
}
