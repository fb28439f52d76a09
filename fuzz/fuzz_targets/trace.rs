//! The fuzz target `trace`: the function of that name in `src/lib.rs` takes the bytes.

#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ravel_fuzz::trace(bytes));
