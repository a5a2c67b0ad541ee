//! Libraries: reads plugin symbols and epoch of a file without running its code, and opens a file or a bundled header as a module whose layout was
//! checked.

use crate::raw::PluginModule_Ref;
use crate::{BundledPlugin, EPOCH_PREFIX, HEADER_PREFIX, Module};
use abi_stable::library::{AbiHeaderRef, LibHeader, LibraryError};
use object::{Object, ObjectSection, ObjectSymbol};
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

/// A library's plugin, as read from its symbol table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFile {
    /// The crate's name with underscores, from the symbol.
    pub crate_name: String,
    /// The epoch it was built for.
    pub epoch: u32,
}

/// The reason why a file is not a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileError {
    /// The file cannot be read, or is not a shared library of this platform.
    Unreadable(String),
    /// It exports no plugin symbol, several, or no matching epoch: a message that names what was found.
    Symbols(String),
}

/// Reads the dynamic symbol table of a library's bytes.
///
/// # Errors
/// [`FileError`]. A library without any plugin symbol is [`FileError::Symbols`] too.
pub fn read_file(path: &Path, bytes: &[u8]) -> Result<PluginFile, FileError> {
    let unreadable = |why: String| FileError::Unreadable(format!("{}: {why}", path.display()));
    let file = object::File::parse(bytes)
        .map_err(|e| unreadable(format!("not a shared library of this platform: {e}")))?;
    if file.kind() != object::ObjectKind::Dynamic {
        return Err(unreadable(format!("not a shared library but {:?}", file.kind())));
    }
    let mut headers = Vec::new();
    let mut epochs = Vec::new();
    for symbol in file.dynamic_symbols().filter(ObjectSymbol::is_definition) {
        let Ok(name) = symbol.name() else { continue };
        // Some platforms write an underscore before every symbol.
        let name = name.strip_prefix('_').filter(|n| n.starts_with("planforge_")).unwrap_or(name);
        if let Some(krate) = name.strip_prefix(HEADER_PREFIX) {
            headers.push(krate.to_owned());
        } else if let Some(krate) = name.strip_prefix(EPOCH_PREFIX) {
            epochs.push((krate.to_owned(), symbol.address(), symbol.section_index()));
        }
    }
    headers.sort();
    let [crate_name] = headers.as_slice() else {
        return Err(FileError::Symbols(format!(
            "expected one symbol `{HEADER_PREFIX}<crate>`, found {}",
            if headers.is_empty() {
                "none".to_owned()
            } else {
                format!("{}: {}", headers.len(), headers.join(", "))
            }
        )));
    };
    let Some((_, address, section)) = epochs.iter().find(|(k, _, _)| k == crate_name) else {
        return Err(FileError::Symbols(format!(
            "expected the symbol `{EPOCH_PREFIX}{crate_name}` beside `{HEADER_PREFIX}{crate_name}`, found none"
        )));
    };
    let epoch = section
        .and_then(|index| file.section_by_index(index).ok())
        .and_then(|s| s.data_range(*address, 4).ok().flatten())
        .and_then(|data| <[u8; 4]>::try_from(data).ok())
        .map(|data| if file.is_little_endian() { u32::from_le_bytes(data) } else { u32::from_be_bytes(data) })
        .ok_or_else(|| {
            FileError::Symbols(format!("expected four bytes behind `{EPOCH_PREFIX}{crate_name}`, found none"))
        })?;
    Ok(PluginFile { crate_name: crate_name.clone(), epoch })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_not_a_library() {
        let error = read_file(Path::new("x.so"), b"hello").unwrap_err();
        assert!(matches!(error, FileError::Unreadable(m) if m.starts_with("x.so: not a shared library")));
    }

    #[test]
    fn an_executable_is_not_a_plugin() {
        let path = std::env::current_exe().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let error = read_file(&path, &bytes).unwrap_err();
        // A position-independent executable looks like a shared library, and has no plugin symbol.
        assert!(matches!(error, FileError::Symbols(m) if m.contains("found none")), "{}", path.display());
    }
}
