//! The header a plugin exports.

use crate::raw::{PluginModule, PluginModule_Ref};
use abi_stable::library::{CheckTypeLayout, LibHeader, RootModuleResult};
use abi_stable::prefix_type::PrefixTypeTrait;

/// The static that a library exports as `planforge_plugin_<crate>`.
#[repr(transparent)]
pub struct Header(pub(crate) LibHeader);

/// A library's functions, after the gates.
pub type Module = PluginModule_Ref;

/// A plugin that is linked into the binary. Plugins declare one as `PLANFORGE_PLUGIN` through the SDK's macro.
pub struct BundledPlugin {
    /// The crate's name with underscores.
    pub crate_name: &'static str,
    /// The static behind `planforge_plugin_<crate>`.
    pub header: &'static Header,
    /// The static behind `planforge_epoch_<crate>`.
    pub epoch: &'static u32,
}

impl BundledPlugin {
    /// The plugin's id.
    pub fn id(&self) -> String {
        crate::id_of_crate(self.crate_name)
    }
}

impl std::fmt::Debug for BundledPlugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BundledPlugin").field("crate_name", &self.crate_name).finish_non_exhaustive()
    }
}

/// Makes the header of a library from its constructor, which must come from [`constructor`].
#[doc(hidden)]
pub const fn header(constructor: Constructor) -> Header {
    // SAFETY: a `Constructor` can only hold a function that erases a `PluginModule_Ref`: see `__erased`.
    Header(unsafe { LibHeader::from_constructor::<PluginModule_Ref>(constructor.0, CheckTypeLayout::Yes) })
}

/// A function that makes a library's module; only [`constructor`] makes one.
#[doc(hidden)]
pub struct Constructor(extern "C" fn() -> RootModuleResult);

/// Names the two functions of a plugin at the type level, so that the constructor needs no state.
#[doc(hidden)]
pub trait Exports {
    /// `PluginModule::describe`.
    extern "C" fn describe() -> crate::raw::RawReply;
    /// `PluginModule::create`.
    extern "C" fn create(
        request: abi_stable::std_types::RStr<'_>,
    ) -> abi_stable::std_types::RResult<crate::raw::RawPluginBox, abi_stable::std_types::RString>;
}

/// The constructor of a library with these functions.
#[doc(hidden)]
pub const fn constructor<E: Exports>() -> Constructor {
    Constructor(erased::<E>)
}

fn module<E: Exports>() -> PluginModule_Ref {
    PluginModule { describe: E::describe, create: E::create }.leak_into_prefix()
}

extern "C" fn erased<E: Exports>() -> RootModuleResult {
    abi_stable::library::__call_root_module_loader(module::<E>)
}
