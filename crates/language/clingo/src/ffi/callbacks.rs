//! Functions that clingo calls during its own calls: the logger and the external functions.

use super::symbols::{make_symbol, read_symbols};
use super::{lock, text};
use crate::message::Log;
use crate::{Error, Functions, MessageKind, MessagePlace, Symbol};
use clingo_sys as c;
use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// clingo's logger: `data` is the `Mutex<Log>` given to [`Control::new`].
pub(super) unsafe extern "C" fn log_message(
    code: c::clingo_warning_t,
    message: *const c_char,
    data: *mut c_void,
) {
    const ERROR: c_int = c::clingo_warning_e_clingo_warning_runtime_error as c_int;
    const OPERATION: c_int = c::clingo_warning_e_clingo_warning_operation_undefined as c_int;
    const ATOM: c_int = c::clingo_warning_e_clingo_warning_atom_undefined as c_int;
    const VARIABLE: c_int = c::clingo_warning_e_clingo_warning_global_variable as c_int;
    // A message that cannot be noted is lost; the call into clingo goes on and reports what went wrong itself.
    let _ = catch_unwind(|| {
        // SAFETY: the log outlives the control that calls this.
        let log = unsafe { &*data.cast::<Mutex<Log>>() };
        // SAFETY: clingo's message is a string that lives during the call.
        let Some(message) = (unsafe { text(message) }) else { return };
        let kind = match code {
            ERROR => MessageKind::Error,
            OPERATION => MessageKind::OperationUndefined,
            ATOM => MessageKind::AtomUndefined,
            VARIABLE => MessageKind::GlobalVariable,
            _ => MessageKind::Other,
        };
        lock(log).add(kind, &message);
    });
}

/// Input and error of the external functions during one grounding.
pub(super) struct Calls<'a> {
    pub(super) functions: &'a Functions<'a>,
    pub(super) failed: Option<Error>,
}

/// clingo's callback for external functions: `data` is the `Calls` of [`Control::ground`].
pub(super) unsafe extern "C" fn call_function(
    location: *const c::clingo_location_t,
    name: *const c_char,
    arguments: *const c::clingo_symbol_t,
    size: usize,
    data: *mut c_void,
    inject: c::clingo_symbol_callback_t,
    inject_data: *mut c_void,
) -> bool {
    // SAFETY: `Control::ground` keeps its `Calls` alive and unused elsewhere while clingo calls back, one call at a time.
    let calls = unsafe { &mut *data.cast::<Calls<'_>>() };
    // SAFETY: clingo's name is a string that lives during the call.
    let name = unsafe { text(name) }.unwrap_or_default();
    // SAFETY: clingo's arguments are symbols of its own that live during the call.
    let (arguments, unread) = match unsafe { read_symbols(arguments, size) } {
        Ok(arguments) => (arguments, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let values = match unread {
        Some(error) => Err(error),
        None => values(calls.functions, &name, &arguments),
    };
    let values = match values {
        Ok(values) => values,
        Err(message) => {
            // SAFETY: the location is null or lives during the call.
            let place = unsafe { location.as_ref() }.map_or(MessagePlace::of("", 0), place);
            calls.failed = Some(Error::Function { name, arguments, place, message });
            // SAFETY: clingo copies the message, a constant string.
            unsafe {
                c::clingo_set_error(
                    c::clingo_error_e_clingo_error_unknown as c_int,
                    c"an external function failed".as_ptr(),
                );
            }
            return false;
        }
    };
    // SAFETY: clingo's own function with its own data, given symbols that it made; it copies them.
    inject.is_some_and(|inject| unsafe { inject(values.as_ptr(), values.len(), inject_data) })
}

/// Calls an external function, and makes symbols of what it gives.
fn values(
    functions: &Functions<'_>,
    name: &str,
    arguments: &[Symbol],
) -> Result<Vec<c::clingo_symbol_t>, String> {
    // The caller's closure may be left half done by its panic; the job ends with an error, so it is not called again.
    match catch_unwind(AssertUnwindSafe(|| functions(name, arguments))) {
        Ok(Some(Ok(values))) => values.iter().map(make_symbol).collect(),
        Ok(Some(Err(message))) => Err(message),
        Ok(None) => Err(format!("no external function has this name and {} arguments", arguments.len())),
        Err(panic) => {
            let said = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
            let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Err(format!("panicked: {said}"))
        }
    }
}

fn place(location: &c::clingo_location_t) -> MessagePlace {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    MessagePlace {
        line: number(location.begin_line),
        column: number(location.begin_column),
        end_line: number(location.end_line),
        end_column: number(location.end_column),
    }
}
