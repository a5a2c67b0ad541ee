//! The types that cross the boundary: strings and integers, through two traits and one module.
//!
//! Any change here needs a new [`crate::EPOCH`].

// abi_stable's macros write impls inside functions and types with underscores.
#![allow(non_local_definitions, non_camel_case_types, missing_docs, clippy::all)]

use abi_stable::StableAbi;
use abi_stable::library::RootModule;
use abi_stable::package_version_strings;
use abi_stable::sabi_trait;
pub use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{RArc, RBox, RResult, RSlice, RStr, RString};

/// The types of strings and results that cross.
pub mod std_types {
    pub use abi_stable::std_types::{RArc, RBox, RResult, RSlice, RStr, RString};
}

/// A document, or the document `failure`.
pub type RawReply = RResult<RString, RString>;

/// The host's services for a plugin during one call.
#[sabi_trait]
pub trait RawHost: Send + Sync + 'static {
    /// `complete`, `environment`, `plan` or `worker`, with its documents and texts.
    fn ask(&self, method: RStr<'_>, inputs: RSlice<'_, RStr<'_>>) -> RawReply;
    /// 0 debug, 1 info, 2 warn.
    fn log(&self, level: u32, message: RStr<'_>);
    /// `total` is 0 where it is unknown.
    fn progress(&self, done: u64, total: u64, what: RStr<'_>);
    /// 1 where the run is being interrupted, else 0.
    fn cancelled(&self) -> u32;
    /// Milliseconds left; `u64::MAX` where there is no deadline.
    #[sabi(last_prefix_field)]
    fn remaining_ms(&self) -> u64;
}

/// The host of one call. It may outlive the call in a thread that the host has given up.
pub type RawHostBox = RawHost_TO<RArc<()>>;

/// An instance of a plugin.
#[sabi_trait]
pub trait RawPlugin: Send + Sync + 'static {
    /// Calls a method of the plugin's kind with its documents in order.
    fn call(&self, method: RStr<'_>, inputs: RSlice<'_, RStr<'_>>, host: RawHostBox) -> RawReply;
    /// Drops the instance. Returns the panic of its destructor, if it panicked.
    #[sabi(last_prefix_field)]
    fn close(self) -> RResult<(), RString>;
}

/// An instance of a plugin, owned by the host.
pub type RawPluginBox = RawPlugin_TO<RBox<()>>;

/// The functions of a library.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginModule_Ref)))]
#[sabi(missing_field(panic))]
pub struct PluginModule {
    /// The document `plugin-info`.
    pub describe: extern "C" fn() -> RawReply,
    /// An instance from the document `create-request`.
    #[sabi(last_prefix_field)]
    pub create: extern "C" fn(RStr<'_>) -> RResult<RawPluginBox, RString>,
}

impl RootModule for PluginModule_Ref {
    abi_stable::declare_root_module_statics! {PluginModule_Ref}
    const BASE_NAME: &'static str = "planforge_plugin";
    const NAME: &'static str = "planforge_plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}
