//! Writes the plugin's code from the template of new verifiers, so that what is measured is what users get.
#![allow(clippy::print_stdout, clippy::disallowed_methods)] // How a build script speaks to cargo.

use std::path::Path;
use std::{env, fs, io};

const TEMPLATE: &str = "../../platform/plugin-tools/templates/verifier/lib.rs";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={TEMPLATE}");
    let template = fs::read_to_string(TEMPLATE)?;
    // `include!` takes no inner attributes; those of the crate are in src/lib.rs.
    let (_, items) = template.split_once("\n\n").ok_or(io::ErrorKind::InvalidData)?;
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&out).join("verifier.rs"), items.replace("{{TYPE}}", "ShortPlans"))
}
