//! planforge-xtask
fn main() {}
