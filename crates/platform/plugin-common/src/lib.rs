//! Shared parts of bundled plugins and of the commands that do the same without a plugin.

pub mod judging;
pub mod reading;
pub mod telling;
pub mod translating;
