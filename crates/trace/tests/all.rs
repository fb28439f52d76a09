//! The trace file and the STD text format, one module per subject.

mod damage;
mod figures;
mod returned;
mod round_trip;
mod std_text;
