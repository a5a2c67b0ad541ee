//! abi_stable compares the package that a type comes from before it compares layouts. The copies of the binary interface in the examples
//! stand for `planforge-plugin-abi`.
#![allow(clippy::print_stdout)] // How a build script speaks to cargo.

fn main() {
    println!("cargo:rustc-env=CARGO_PKG_NAME=planforge-plugin-abi");
    println!("cargo:rustc-env=CARGO_PKG_VERSION=2.0.0");
    println!("cargo:rerun-if-changed=build.rs");
}
