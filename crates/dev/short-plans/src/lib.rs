//! The verifier of the templates of new plugins, in Rust: accepts plans of at most so many steps.
#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/verifier.rs"));
