//! planforge-cli
fn main() {}
