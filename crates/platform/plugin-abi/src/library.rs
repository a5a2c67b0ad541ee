//! Opening: from a file or a bundled header to a module whose layout was checked.

use crate::raw::PluginModule_Ref;
use crate::{BundledPlugin, HEADER_PREFIX, Module};
use abi_stable::library::{AbiHeaderRef, LibHeader, LibraryError};
use std::path::Path;

/// The reason why a library with the right symbols and epoch did not open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadError {
    /// The dynamic linker refused it.
    File(String),
    /// The symbol vanished between reading the file and opening it.
    Symbol(String),
    /// Another abi_stable, another C ABI, or another layout of the module: the message holds both sides.
    Layout(String),
}

/// Opens a library and checks header and layout. The library is never unloaded.
///
/// The file's symbols and epoch must have been read with [`crate::read_file`]: opening runs the library's initialisers.
///
/// # Errors
/// [`LoadError`].
pub fn open_library(path: &Path, crate_name: &str) -> Result<Module, LoadError> {
    // SAFETY: initialisers of a library that the user put on the search path may run; nothing can be said about them.
    let library = unsafe { libloading::Library::new(path) }.map_err(|e| LoadError::File(chain(&e)))?;
    // A thread that was given up may still run in it, and its statics are referred to for the rest of the process.
    let library: &'static libloading::Library = Box::leak(Box::new(library));
    let symbol = format!("{HEADER_PREFIX}{crate_name}");
    // SAFETY: the symbol is a static `LibHeader`; its first bytes are checked by `upgrade` before anything else is read.
    let header = unsafe { library.get::<*const LibHeader>(symbol.as_bytes()) }
        .map_err(|e| LoadError::Symbol(chain(&e)))?;
    if header.is_null() {
        return Err(LoadError::Symbol(format!("`{symbol}` is null")));
    }
    // SAFETY: an `AbiHeaderRef` is a transparent pointer to the start of a `LibHeader`, and this one is not null.
    let header = unsafe { std::mem::transmute::<*const LibHeader, AbiHeaderRef>(*header) };
    let header = header.upgrade().map_err(|e| LoadError::Layout(layout_message(&e)))?;
    init(header)
}

/// Opens a plugin that is linked into this binary, through the same check.
///
/// # Errors
/// [`LoadError::Layout`].
pub fn open_bundled(plugin: &BundledPlugin) -> Result<Module, LoadError> {
    init(&plugin.header.0)
}

fn init(header: &'static LibHeader) -> Result<Module, LoadError> {
    header.init_root_module::<PluginModule_Ref>().map_err(|e| LoadError::Layout(layout_message(&e)))
}

fn layout_message(error: &LibraryError) -> String {
    error.to_string().trim().to_owned()
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    text
}
