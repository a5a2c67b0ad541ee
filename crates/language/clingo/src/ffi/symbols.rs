//! Symbols of clingo as ours, and back.

use super::{check, text};
use crate::symbol::is_name;
use crate::{Error, Symbol};
use clingo_sys as c;
use std::ffi::CString;
use std::ptr;

/// Reads a symbol of clingo.
///
/// # Safety
/// The symbol comes from clingo.
pub(super) unsafe fn read_symbol(symbol: c::clingo_symbol_t) -> Result<Symbol, Error> {
    let broken = || Error::Clingo("gave a symbol of an unknown type".to_owned());
    // SAFETY (all calls below): the symbol is clingo's, of the type that each call reads, and what is written goes to
    // local variables. Strings and arguments that clingo points to live until the process ends.
    let kind = u32::try_from(unsafe { c::clingo_symbol_type(symbol) }).map_err(|_| broken())?;
    match kind {
        c::clingo_symbol_type_e_clingo_symbol_type_infimum => Ok(Symbol::Infimum),
        c::clingo_symbol_type_e_clingo_symbol_type_supremum => Ok(Symbol::Supremum),
        c::clingo_symbol_type_e_clingo_symbol_type_number => {
            let mut number = 0;
            // SAFETY: see above.
            check(unsafe { c::clingo_symbol_number(symbol, &raw mut number) })?;
            Ok(Symbol::Number(number))
        }
        c::clingo_symbol_type_e_clingo_symbol_type_string => {
            let mut string = ptr::null();
            // SAFETY: see above.
            check(unsafe { c::clingo_symbol_string(symbol, &raw mut string) })?;
            // SAFETY: see above.
            Ok(Symbol::Text(unsafe { text(string) }.ok_or_else(broken)?))
        }
        c::clingo_symbol_type_e_clingo_symbol_type_function => {
            let (mut name, mut positive) = (ptr::null(), true);
            let (mut arguments, mut size) = (ptr::null(), 0);
            // SAFETY: see above.
            check(unsafe { c::clingo_symbol_name(symbol, &raw mut name) })?;
            // SAFETY: see above.
            check(unsafe { c::clingo_symbol_is_positive(symbol, &raw mut positive) })?;
            // SAFETY: see above.
            check(unsafe { c::clingo_symbol_arguments(symbol, &raw mut arguments, &raw mut size) })?;
            // SAFETY: see above.
            let name = unsafe { text(name) }.ok_or_else(broken)?;
            // SAFETY: clingo gave pointer and size of its array of arguments, which are symbols of its own.
            let arguments = unsafe { read_symbols(arguments, size) }?;
            let function = Symbol::Function { name, arguments };
            Ok(if positive { function } else { Symbol::Negated(Box::new(function)) })
        }
        _ => Err(broken()),
    }
}

/// # Safety
/// The pointer is to `size` symbols of clingo that live during the call; it may be null where `size` is 0.
pub(super) unsafe fn read_symbols(
    pointer: *const c::clingo_symbol_t,
    size: usize,
) -> Result<Vec<Symbol>, Error> {
    if size == 0 || pointer.is_null() {
        return Ok(Vec::new());
    }
    // SAFETY: the caller's promise.
    let symbols = unsafe { std::slice::from_raw_parts(pointer, size) };
    // SAFETY: the caller's promise.
    symbols.iter().map(|s| unsafe { read_symbol(*s) }).collect()
}

/// Makes a symbol of clingo.
pub(super) fn make_symbol(symbol: &Symbol) -> Result<c::clingo_symbol_t, String> {
    let made = |ok| check(ok).map_err(|e| e.to_string());
    let string = |text: &str| CString::new(text).map_err(|_| format!("{text:?} has a NUL character"));
    let mut raw = 0;
    match symbol {
        // SAFETY: the symbol is written to a local variable.
        Symbol::Infimum => unsafe { c::clingo_symbol_create_infimum(&raw mut raw) },
        // SAFETY: the symbol is written to a local variable.
        Symbol::Supremum => unsafe { c::clingo_symbol_create_supremum(&raw mut raw) },
        // SAFETY: the symbol is written to a local variable.
        Symbol::Number(number) => unsafe { c::clingo_symbol_create_number(*number, &raw mut raw) },
        Symbol::Text(text) => {
            let text = string(text)?;
            // SAFETY: clingo copies the string; the symbol is written to a local variable.
            made(unsafe { c::clingo_symbol_create_string(text.as_ptr(), &raw mut raw) })?;
        }
        Symbol::Function { name, arguments } => raw = make_function(name, arguments, true)?,
        Symbol::Negated(inner) => match inner.as_ref() {
            Symbol::Function { name, arguments } if !name.is_empty() => {
                raw = make_function(name, arguments, false)?
            }
            other => return Err(format!("-{other} is not a symbol: only a function can be negated")),
        },
    }
    Ok(raw)
}

fn make_function(name: &str, arguments: &[Symbol], positive: bool) -> Result<c::clingo_symbol_t, String> {
    if !name.is_empty() && !is_name(name) {
        return Err(format!("{name:?} is not a name of the language"));
    }
    let name = CString::new(name).map_err(|_| "a name has a NUL character".to_owned())?;
    let arguments = arguments.iter().map(make_symbol).collect::<Result<Vec<_>, _>>()?;
    let mut raw = 0;
    // SAFETY: clingo copies name and arguments, which live until the end of this function.
    let ok = unsafe {
        c::clingo_symbol_create_function(
            name.as_ptr(),
            arguments.as_ptr(),
            arguments.len(),
            positive,
            &raw mut raw,
        )
    };
    check(ok).map_err(|e| e.to_string())?;
    Ok(raw)
}
