//! How fast STD text is imported: `cargo run --release -p ravel-trace --example std_import`.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use ravel_trace::{Footer, Header, Writer, std_text};

/// Time this thread has had a core, where the system tells it; else the clock on the wall.
fn cpu_time(start: Instant) -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|field| field.parse().ok());
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

fn main() {
    let begin = Instant::now();
    const LINES: usize = 20_000_000;
    let mut text = String::with_capacity(LINES * 18);
    let mut random = fastrand::Rng::with_seed(1);
    for line in 0..LINES {
        let bits = random.u64(..);
        let op = ["r", "r", "r", "w"][bits as usize & 3];
        // Threads take turns of about a dozen events; each variable is used at four places.
        let variable = (bits >> 2) % 1000;
        let place = variable * 4 + (bits & 3);
        let written = writeln!(text, "T{}|{op}(V{variable})|{place}", line / 12 % 8);
        assert!(written.is_ok());
    }
    let start = cpu_time(begin);
    let mut writer = Writer::new(Vec::new(), &Header::default()).expect("memory");
    let summary = std_text::import(text.as_bytes(), &mut writer).expect("a trace");
    let bytes = writer.finish(&Footer::default()).expect("memory").len();
    let seconds = (cpu_time(begin) - start).as_secs_f64();
    println!(
        "{} lines in {seconds:.2} s on the core: {:.1} million lines a second, {:.2} bytes an event",
        summary.events,
        summary.events as f64 / seconds / 1e6,
        bytes as f64 / summary.events as f64
    );
}
