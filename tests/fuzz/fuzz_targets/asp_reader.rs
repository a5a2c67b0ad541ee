#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| planforge_fuzz::asp_reader(data));
