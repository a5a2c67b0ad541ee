//! The structure of the workspace, of its crates and of its documents.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod circles;
mod imports;
mod links;
mod source;
mod structure;

use std::path::{Path, PathBuf};

/// The folder of the checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}
