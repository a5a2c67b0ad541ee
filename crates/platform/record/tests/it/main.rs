//! Run folders, and disks that refuse.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop"
)]

mod full_disk;
mod run_folder;
