#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| planforge_fuzz::pipeline_toml(data));
