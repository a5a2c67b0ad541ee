//! The binary interface of epoch 2, frozen. Never edit it to follow `planforge-plugin-abi`: if an incompatible change makes the library
//! of this crate fail to load, raise the epoch.

#![allow(non_local_definitions, non_camel_case_types, missing_docs, unreachable_pub, clippy::all)]

use abi_stable::StableAbi;
use abi_stable::library::RootModule;
use abi_stable::package_version_strings;
use abi_stable::sabi_trait;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{RArc, RBox, RResult, RSlice, RStr, RString};

pub type RawReply = RResult<RString, RString>;

#[sabi_trait]
pub trait RawHost: Send + Sync + 'static {
    fn ask(&self, method: RStr<'_>, inputs: RSlice<'_, RStr<'_>>) -> RawReply;
    fn log(&self, level: u32, message: RStr<'_>);
    fn progress(&self, done: u64, total: u64, what: RStr<'_>);
    fn cancelled(&self) -> u32;
    #[sabi(last_prefix_field)]
    fn remaining_ms(&self) -> u64;
}

pub type RawHostBox = RawHost_TO<RArc<()>>;

#[sabi_trait]
pub trait RawPlugin: Send + Sync + 'static {
    fn call(&self, method: RStr<'_>, inputs: RSlice<'_, RStr<'_>>, host: RawHostBox) -> RawReply;
    #[sabi(last_prefix_field)]
    fn close(self) -> RResult<(), RString>;
}

pub type RawPluginBox = RawPlugin_TO<RBox<()>>;

#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginModule_Ref)))]
#[sabi(missing_field(panic))]
pub struct PluginModule {
    pub describe: extern "C" fn() -> RawReply,
    #[sabi(last_prefix_field)]
    pub create: extern "C" fn(RStr<'_>) -> RResult<RawPluginBox, RString>,
}

impl RootModule for PluginModule_Ref {
    abi_stable::declare_root_module_statics! {PluginModule_Ref}
    const BASE_NAME: &'static str = "planforge_plugin";
    const NAME: &'static str = "planforge_plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}
