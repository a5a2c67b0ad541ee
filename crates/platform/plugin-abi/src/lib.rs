//! The binary interface between planforge and its plugins: the only crate that names `abi_stable` and `libloading`.
//!
//! One root module a library, one raw plugin trait, one raw host trait. What crosses is UTF-8 JSON of a contract
//! document, or an integer. Everything typed lives above this crate: in the SDK for plugins, in the host for planforge.
//!
//! A library exports two symbols of its own: `planforge_plugin_<crate>` (a [`Header`]) and `planforge_epoch_<crate>` (a
//! `u32`). They are named after the crate, so that many plugins link into one binary. [`EPOCH`] is raised whenever a
//! document loses a field or changes its meaning, or anything in [`raw`] changes.

#![allow(unsafe_code)] // The interface itself: reading symbols and trusting a checked header needs unsafe.

mod header;
#[cfg(feature = "load")]
mod library;
pub mod raw;

pub use header::{BundledPlugin, Exports, Header, Module, constructor, header};
#[cfg(feature = "load")]
pub use library::{FileError, LoadError, PluginFile, open_bundled, open_library, read_file};

/// The number that host and plugin must share. Not the application's version.
pub const EPOCH: u32 = 2;

/// Prefix of every header symbol; the crate's name follows.
pub const HEADER_PREFIX: &str = "planforge_plugin_";
/// Prefix of every epoch symbol; the crate's name follows.
pub const EPOCH_PREFIX: &str = "planforge_epoch_";

/// The id of a plugin: its crate's name without `planforge-`, with dashes.
pub fn id_of_crate(crate_name: &str) -> String {
    let dashed = crate_name.replace('_', "-");
    dashed.strip_prefix("planforge-").map_or(dashed.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_drop_the_prefix_and_use_dashes() {
        assert_eq!(super::id_of_crate("planforge_verifier_val"), "verifier-val");
        assert_eq!(super::id_of_crate("custom_verifier"), "custom-verifier");
    }
}
