#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod codes;
mod folder;
mod services;
