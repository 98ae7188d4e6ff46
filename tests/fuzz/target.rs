//! One fuzz target: the one that the binary is called after.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcpdeck_fuzz::run(env!("CARGO_BIN_NAME"), data));
