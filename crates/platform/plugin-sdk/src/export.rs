//! From a plugin's type to the symbols of its library.

use crate::guard::catch_panic;
use crate::kinds::{Kind, RemoteHost, read, write};
use crate::{Plugin, Secrets};
use planforge_contract::{CreateRequest, Failure, FailureClass, PluginInfo};
use planforge_plugin_abi::raw::std_types::{RResult, RSlice, RStr, RString};
use planforge_plugin_abi::raw::{RawHostBox, RawPlugin, RawPlugin_TO, RawPluginBox, RawReply};
use planforge_plugin_abi::{Exports, Header, id_of_crate, raw::TD_Opaque};
use std::marker::PhantomData;

/// Exports a type as this crate's plugin: `export_plugin!(Verifier, MyType);`, once, at the root of the crate.
///
/// Writes the symbols that the host looks for and `pub static PLANFORGE_PLUGIN`, by which a binary bundles the plugin.
/// The plugin's id is the crate's name without `planforge-`.
#[macro_export]
macro_rules! export_plugin {
    ($kind:ident, $plugin:ty) => {
        $crate::export_plugin!(@raw $crate::__private::EPOCH, $crate::kinds::$kind, $plugin);
    };
    // For plugins that break the rules on purpose: another epoch, or a kind with replies of its own.
    (@raw $epoch:expr, $kind:ty, $plugin:ty) => {
        $crate::bundle_plugin!(@raw ::core::env!("CARGO_CRATE_NAME"), $epoch, $kind, $plugin);
        $crate::export_bundled!(self);
    };
}

/// Writes `pub static PLANFORGE_PLUGIN`, by which a binary bundles a type as a plugin, and no symbols: `bundle_plugin!(Verifier, MyType);`.
///
/// A crate with several plugins writes it once in a module of each, with the name that the plugin's library has:
/// `bundle_plugin!("planforge_verifier_my", Verifier, MyType);`. [`export_bundled!`](crate::export_bundled) makes the library.
#[macro_export]
macro_rules! bundle_plugin {
    ($kind:ident, $plugin:ty) => {
        $crate::bundle_plugin!(
            @raw ::core::env!("CARGO_CRATE_NAME"), $crate::__private::EPOCH, $crate::kinds::$kind, $plugin
        );
    };
    ($name:literal, $kind:ident, $plugin:ty) => {
        $crate::bundle_plugin!(@raw $name, $crate::__private::EPOCH, $crate::kinds::$kind, $plugin);
    };
    (@raw $name:expr, $epoch:expr, $kind:ty, $plugin:ty) => {
        #[doc(hidden)]
        pub mod __planforge {
            #[allow(unused_imports)]
            use super::*;

            pub struct Names;
            impl $crate::Crate for Names {
                const NAME: &'static str = $name;
                const VERSION: &'static str = ::core::env!("CARGO_PKG_VERSION");
            }

            pub const EPOCH: u32 = $epoch;
            pub const fn header() -> $crate::__private::Header {
                $crate::__private::header::<Names, $kind, $plugin>()
            }
            pub(super) static HEADER: $crate::__private::Header = header();
        }

        /// This plugin, for a binary that bundles it.
        pub static PLANFORGE_PLUGIN: $crate::BundledPlugin = $crate::BundledPlugin {
            crate_name: $name,
            header: &__planforge::HEADER,
            epoch: &__planforge::EPOCH,
        };
    };
}

/// Exports a bundled plugin from a library with the plugin's name: `export_bundled!(planforge_verifier_my);`, where the path is that of
/// [`bundle_plugin!`].
#[macro_export]
macro_rules! export_bundled {
    ($($module:ident)::+) => {
        const _: () = {
            #[unsafe(export_name = ::core::concat!("planforge_plugin_", ::core::env!("CARGO_CRATE_NAME")))]
            pub static HEADER: $crate::__private::Header = $($module::)+ __planforge::header();

            #[unsafe(export_name = ::core::concat!("planforge_epoch_", ::core::env!("CARGO_CRATE_NAME")))]
            pub static EPOCH: u32 = $($module::)+ __planforge::EPOCH;
        };
    };
}

/// Facts about the exporting crate for [`bundle_plugin!`].
#[doc(hidden)]
pub trait Crate {
    /// The crate's name with underscores.
    const NAME: &'static str;
    /// The package's version.
    const VERSION: &'static str;
}

/// The document by which a plugin describes itself; also for unit tests of a plugin.
pub fn describe<C: Crate, K: Kind<P>, P: Plugin>() -> PluginInfo {
    let about = P::about();
    PluginInfo {
        id: id_of_crate(C::NAME),
        kind: K::KIND,
        version: C::VERSION.to_owned(),
        contract: planforge_plugin_abi::EPOCH,
        about: about.about,
        capabilities: about.capabilities,
        roles: about.roles,
        metrics: about.metrics,
        measures: about.measures,
        options_schema: schemars::schema_for!(P::Options).to_value(),
        secrets: about.secrets,
        servers: about.servers,
        files: about.files,
        folders: about.folders,
        suites: about.suites,
        commands: about.commands,
        max_concurrency: about.max_concurrency,
    }
}

/// The header of a plugin's library.
pub const fn header<C: Crate, K: Kind<P> + 'static, P: Plugin>() -> Header {
    planforge_plugin_abi::header(planforge_plugin_abi::constructor::<Exported<C, K, P>>())
}

/// The functions of the library's module.
pub(crate) struct Exported<C, K, P>(PhantomData<(C, K, P)>);

impl<C: Crate, K: Kind<P> + 'static, P: Plugin> Exports for Exported<C, K, P> {
    extern "C" fn describe() -> RawReply {
        reply(catch_panic(|| write(&describe::<C, K, P>())))
    }
    extern "C" fn create(request: RStr<'_>) -> RResult<RawPluginBox, RString> {
        let made = catch_panic(|| {
            let request: CreateRequest = read(&request)?;
            let options = serde_json::Value::Object(request.options);
            let options = serde_json::from_value::<P::Options>(options)
                .map_err(|e| Failure::new(FailureClass::Request, "plugin.options", e.to_string()))?;
            P::create(options, &Secrets::from(request.secrets))
        });
        match made.and_then(|r| r) {
            Ok(plugin) => {
                let instance = Instance::<K, P> { plugin: Some(plugin), kind: PhantomData };
                RResult::ROk(RawPlugin_TO::from_value(instance, TD_Opaque))
            }
            Err(failure) => RResult::RErr(failure_text(&failure)),
        }
    }
}

struct Instance<K, P> {
    /// Taken only when the instance ends, so that the destructor runs under the guard.
    plugin: Option<P>,
    kind: PhantomData<fn() -> K>,
}

impl<K, P> Instance<K, P> {
    fn end(&mut self) -> Result<(), Failure> {
        let plugin = self.plugin.take();
        catch_panic(|| drop(plugin))
    }
}

impl<K: Kind<P> + 'static, P: Plugin> RawPlugin for Instance<K, P> {
    fn call(&self, method: RStr<'_>, inputs: RSlice<'_, RStr<'_>>, host: RawHostBox) -> RawReply {
        reply(catch_panic(|| {
            let Some(plugin) = &self.plugin else {
                return Err(Failure::new(FailureClass::Plugin, "plugin.document", "the instance was closed"));
            };
            let inputs: Vec<&str> = inputs.iter().map(RStr::as_str).collect();
            K::call(plugin, method.as_str(), &inputs, &RemoteHost(host))
        }))
    }
    fn close(mut self) -> RResult<(), RString> {
        match self.end() {
            Ok(()) => RResult::ROk(()),
            Err(failure) => RResult::RErr(failure_text(&failure)),
        }
    }
}

impl<K, P> Drop for Instance<K, P> {
    fn drop(&mut self) {
        // No caller is left to report a panic to: this runs only for instances that the host did not close.
        drop(self.end());
    }
}

fn reply(result: Result<Result<String, Failure>, Failure>) -> RawReply {
    match result.and_then(|r| r) {
        Ok(text) => RResult::ROk(text.into()),
        Err(failure) => RResult::RErr(failure_text(&failure)),
    }
}

fn failure_text(failure: &Failure) -> RString {
    // A failure holds only strings, which always have a JSON form; an empty text reads as an unreadable document.
    write(failure).unwrap_or_default().into()
}
