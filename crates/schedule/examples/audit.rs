//! Runs recorded traces through the rules of schedules: `cargo run -p ravel-schedule --example audit FILE…`.

use ravel_schedule::{Image, Limits, audit};
use ravel_trace::reader::{ReadOptions, Reader};

fn main() {
    for path in std::env::args().skip(1) {
        let mut reader = match Reader::open(&path, ReadOptions::default()) {
            Ok(reader) => reader,
            Err(error) => {
                println!("{path}: {error}");
                continue;
            }
        };
        match Image::build(&mut reader, Limits::default()) {
            Ok(image) => {
                let audit = audit(&image);
                let broken = audit.broken.map_or_else(|| "possible".to_owned(), |b| b.to_string());
                println!(
                    "{path}: {} events, {} steps, {} odd reads: {broken}",
                    image.len(),
                    audit.steps,
                    audit.odd_reads
                );
            }
            Err(error) => println!("{path}: {error}"),
        }
    }
}
