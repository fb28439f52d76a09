//! The fuzz target `std_text`: the function of that name in `src/lib.rs` takes the bytes.

#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ravel_fuzz::std_text(bytes));
