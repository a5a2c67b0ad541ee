//! A library with the right symbols and the right epoch whose module has another layout: `describe` answers a number, and
//! there is no `create`. Calling it through the expected layout would be undefined, so the host must refuse it.
#![allow(unsafe_code, non_camel_case_types, non_local_definitions, missing_docs, unreachable_pub)]

use abi_stable::StableAbi;
use abi_stable::library::{CheckTypeLayout, LibHeader, RootModule, RootModuleResult};
use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::sabi_types::VersionStrings;

#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginModule_Ref)))]
#[sabi(missing_field(panic))]
pub struct PluginModule {
    #[sabi(last_prefix_field)]
    pub describe: extern "C" fn() -> u64,
}

impl RootModule for PluginModule_Ref {
    abi_stable::declare_root_module_statics! {PluginModule_Ref}
    const BASE_NAME: &'static str = "planforge_plugin";
    const NAME: &'static str = "planforge_plugin";
    const VERSION_STRINGS: VersionStrings = abi_stable::package_version_strings!();
}

extern "C" fn describe() -> u64 {
    7
}

fn module() -> PluginModule_Ref {
    PluginModule { describe }.leak_into_prefix()
}

extern "C" fn constructor() -> RootModuleResult {
    abi_stable::library::__call_root_module_loader(module)
}

#[unsafe(export_name = "planforge_plugin_planforge_misbehave_layout")]
// SAFETY: the constructor erases the module type that is named here.
pub static HEADER: LibHeader =
    unsafe { LibHeader::from_constructor::<PluginModule_Ref>(constructor, CheckTypeLayout::Yes) };

#[unsafe(export_name = "planforge_epoch_planforge_misbehave_layout")]
pub static EPOCH: u32 = 2;
