//! Analyses traces and prints a schedule for every finding: `cargo run -p ravel-schedule --example findings FILE…`.

use ravel_analysis::engine::Engine;
use ravel_analysis::merge::merge;
use ravel_analysis::registry;
use ravel_analysis::units::UnitSettings;
use ravel_schedule::{Effort, Goal, Image, Limits, Verdict, check, generate, serial_schedules};
use ravel_trace::Source;
use ravel_trace::reader::{ReadOptions, Reader};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        println!("== {path}");
        let image = Image::build(&mut Reader::open(&path, ReadOptions::default())?, Limits::default())?;
        let settings = UnitSettings::default();
        let mut reader = Reader::open(&path, ReadOptions::default())?;
        let outcome = Engine::new(&settings, registry::all()).run(&mut reader);
        for finding in merge(outcome.reports, reader.names(), &outcome.state) {
            println!("{:?} {:?} {:?}", finding.rule, finding.patterns, finding.variables);
            for candidate in &finding.candidates {
                let Some(goal) = Goal::of_candidate(finding.rule, candidate) else {
                    println!("  no order of events shows this");
                    continue;
                };
                match generate(&image, &goal, &Effort::default()) {
                    Ok(made) => {
                        let checked = check(&image, &goal, &made.schedule);
                        let worth = match made.verdict {
                            Verdict::Witnessed => format!("witnessed, check {checked:?}"),
                            Verdict::Unproven(broken) => format!("reads differ: {broken}"),
                        };
                        println!(
                            "  {} {worth}, all reads kept {}",
                            made.schedule.to_json(),
                            made.all_reads_kept
                        );
                    }
                    Err(error) => println!("  {error}"),
                }
                for serial in serial_schedules(&image, &goal, &Effort::default()) {
                    println!(
                        "    serial {:?} {} reads kept {}",
                        serial.order,
                        serial.schedule.to_json(),
                        serial.reads_kept
                    );
                }
            }
        }
    }
    Ok(())
}
