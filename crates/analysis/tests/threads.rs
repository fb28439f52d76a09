//! The same trace gives the same bytes, on one core or eight.

use ravel_analysis::analyse::analyse_on;
use ravel_analysis::generate::{Generator, Shape};
use ravel_analysis::registry;
use ravel_analysis::units::UnitSettings;

fn bytes(threads: usize) -> (usize, String) {
    // Longer than two batches, so that the engine fills one while the analyses are at another.
    let shape = Shape {
        events: 80_000,
        races: 5,
        violations: 5,
        ..Shape::default()
    };
    let settings = UnitSettings::default();
    let analysed = analyse_on(threads, &mut Generator::new(shape), &settings, registry::all());
    let candidates: Vec<_> = analysed.findings.iter().map(|f| &f.candidates).collect();
    let text = format!(
        "{} {} {:?} {:?} {:?}",
        analysed.events, analysed.threads, analysed.findings, candidates, analysed.left_out
    );
    (analysed.findings.len(), text)
}

#[test]
fn findings_do_not_depend_on_the_number_of_cores() {
    let (found, alone) = bytes(1);
    assert!(found >= 10, "all that is planted: {found}");
    for threads in [2, 8] {
        assert_eq!(bytes(threads).1, alone, "on {threads}");
    }
}
