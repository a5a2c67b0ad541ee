//! The calls into clingo's C library and back: all unsafe code of this crate.
//!
//! Four rules keep it sound. A [`Control`] owns clingo's object and borrows what clingo may call back into, so neither outlives the
//! other. One thread grounds at a time ([`Grounding`]): clingo keeps the callback for external functions in a variable of the whole
//! process, and another thread's would be called otherwise. No panic crosses into C++: the bodies of both callbacks run under `catch_unwind`. No exception crosses into Rust: clingo
//! turns its own into error codes at its boundary, and a callback reports its failure by returning false.
#![allow(unsafe_code, reason = "calls a C library")]

use crate::message::Log;
use crate::symbol::is_name;
use crate::{Answer, Error, Functions, Job, Kind, Place, Symbol};
use clingo_sys as c;
use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How long one wait for the next answer set lasts before the caller is asked whether to go on, in seconds.
const WAIT: f64 = 0.02;

pub(crate) fn version() -> (i32, i32, i32) {
    let (mut major, mut minor, mut revision) = (0, 0, 0);
    // SAFETY: clingo writes three numbers behind pointers to local variables.
    unsafe { c::clingo_version(&raw mut major, &raw mut minor, &raw mut revision) };
    (major, minor, revision)
}

pub(crate) fn solve(program: &CStr, job: &Job<'_>) -> Result<Answer, Error> {
    let log = Mutex::new(Log::default());
    let found = Control::new(job, &log).and_then(|mut control| {
        {
            let _turn = Grounding::begin()?;
            control.add(program)?;
            control.ground(job.functions)?;
        }
        control.solve(job)
    });
    let (messages, omitted) = {
        let mut log = locked(&log);
        if found.is_err() && log.has_error() {
            let (messages, omitted) = log.take();
            return Err(Error::Program { messages, omitted });
        }
        log.take()
    };
    found.map(|answer| Answer { messages, omitted, ..answer })
}

/// The log is whole after a panic too: its methods change it in one step.
fn locked(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The turn of this thread to ground. `clingo_control_ground` puts its callback into `Gringo::g_scripts()`, of which there is one.
struct Grounding {
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::new(());

thread_local! {
    /// Whether this thread has the turn: an external function that solves a program would wait for itself.
    static GROUNDS: Cell<bool> = const { Cell::new(false) };
}

impl Grounding {
    fn begin() -> Result<Self, Error> {
        if GROUNDS.get() {
            return Err(Error::Clingo("an external function may not solve a program itself".to_owned()));
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        GROUNDS.set(true);
        Ok(Self { _turn: turn })
    }
}

impl Drop for Grounding {
    fn drop(&mut self) {
        GROUNDS.set(false);
    }
}

/// Turns the outcome of a call into a result, with clingo's own message.
fn check(ok: bool) -> Result<(), Error> {
    if ok {
        return Ok(());
    }
    // SAFETY: reads a number that clingo keeps for this thread.
    let code = unsafe { c::clingo_error_code() };
    if u32::try_from(code) == Ok(c::clingo_error_e_clingo_error_bad_alloc) {
        return Err(Error::Memory);
    }
    // SAFETY: the message is null or a string that lives until this thread's next call.
    let message = unsafe { text(c::clingo_error_message()) };
    Err(Error::Clingo(message.unwrap_or_else(|| "failed without a message".to_owned())))
}

/// # Safety
/// The pointer is null or points to a string with an end that lives during the call.
unsafe fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not null, and the rest is the caller's promise.
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

/// clingo's program, with what it calls back into.
struct Control<'a> {
    raw: NonNull<c::clingo_control_t>,
    log: PhantomData<&'a Mutex<Log>>,
}

impl<'a> Control<'a> {
    fn new(job: &Job<'_>, log: &'a Mutex<Log>) -> Result<Self, Error> {
        let models = CString::new(format!("--models={}", job.models)).unwrap_or_default();
        let arguments = [
            models.as_c_str(),
            if job.optimise { c"--opt-mode=optN" } else { c"--opt-mode=ignore" },
            if job.project { c"--project=show" } else { c"--project=no" },
            c"--single-shot",
            c"--seed=1",
            c"--parallel-mode=1",
            c"--warn=all",
        ]
        .map(CStr::as_ptr);
        let mut raw = ptr::null_mut();
        // SAFETY: clingo copies the arguments, which live until the end of this function. The log outlives the control by
        // 'a, is shared and may be used from clingo's own thread, as a Mutex may.
        check(unsafe {
            c::clingo_control_new(
                arguments.as_ptr(),
                arguments.len(),
                Some(log_message),
                ptr::from_ref(log).cast_mut().cast::<c_void>(),
                u32::MAX,
                &raw mut raw,
            )
        })?;
        let raw = NonNull::new(raw).ok_or_else(|| Error::Clingo("made no control".to_owned()))?;
        Ok(Self { raw, log: PhantomData })
    }

    fn add(&mut self, program: &CStr) -> Result<(), Error> {
        // SAFETY: the control is alive, name and program are strings with an end, and no parameters are passed.
        check(unsafe {
            c::clingo_control_add(self.raw.as_ptr(), c"base".as_ptr(), ptr::null(), 0, program.as_ptr())
        })
    }

    fn ground(&mut self, functions: &Functions<'_>) -> Result<(), Error> {
        let part = c::clingo_part { name: c"base".as_ptr(), params: ptr::null(), size: 0 };
        let mut calls = Calls { functions, failed: None };
        // SAFETY: the control is alive. `calls` lives until the call returns, clingo keeps no pointer to it, calls back on
        // this thread only, and nothing else uses it meanwhile.
        let ok = unsafe {
            c::clingo_control_ground(
                self.raw.as_ptr(),
                &raw const part,
                1,
                Some(call_function),
                (&raw mut calls).cast::<c_void>(),
            )
        };
        calls.failed.map_or_else(|| check(ok), Err)
    }

    fn solve(&mut self, job: &Job<'_>) -> Result<Answer, Error> {
        let mut mode = c::clingo_solve_mode_e_clingo_solve_mode_yield;
        if job.stop.is_some() {
            mode |= c::clingo_solve_mode_e_clingo_solve_mode_async;
        }
        let mut raw = ptr::null_mut();
        // SAFETY: the control is alive and stays borrowed by the search; no assumptions and no events are passed.
        check(unsafe {
            c::clingo_control_solve(
                self.raw.as_ptr(),
                mode,
                ptr::null(),
                0,
                None,
                ptr::null_mut(),
                &raw mut raw,
            )
        })?;
        let raw = NonNull::new(raw).ok_or_else(|| Error::Clingo("made no search".to_owned()))?;
        Search { raw, control: PhantomData }.run(job)
    }
}

impl Drop for Control<'_> {
    fn drop(&mut self) {
        // SAFETY: made by clingo_control_new and freed here alone; a search borrows the control, so none is open.
        unsafe { c::clingo_control_free(self.raw.as_ptr()) };
    }
}

/// A search for answer sets.
struct Search<'a> {
    raw: NonNull<c::clingo_solve_handle_t>,
    control: PhantomData<&'a mut c::clingo_control_t>,
}

impl Search<'_> {
    fn run(&mut self, job: &Job<'_>) -> Result<Answer, Error> {
        let mut answer = Answer {
            models: Vec::new(),
            complete: false,
            stopped: false,
            cost: Vec::new(),
            messages: Vec::new(),
            omitted: 0,
        };
        loop {
            // SAFETY: the search is open.
            check(unsafe { c::clingo_solve_handle_resume(self.raw.as_ptr()) })?;
            if job.stop.is_some_and(|stop| !self.wait(stop)) {
                answer.stopped = true;
                // SAFETY: the search is open.
                check(unsafe { c::clingo_solve_handle_cancel(self.raw.as_ptr()) })?;
                break;
            }
            let Some(model) = self.next()? else { break };
            let cost = model.cost()?;
            // On its way to the optimum clingo passes worse answer sets.
            if job.optimise && !cost.is_empty() && !model.proven()? {
                continue;
            }
            answer.models.push(model.symbols()?);
            answer.cost = if job.optimise { cost } else { Vec::new() };
        }
        let mut result = 0;
        // SAFETY: the search is open, and the number is written to a local variable.
        check(unsafe { c::clingo_solve_handle_get(self.raw.as_ptr(), &raw mut result) })?;
        answer.complete = result & c::clingo_solve_result_e_clingo_solve_result_exhausted != 0;
        answer.models.sort_unstable();
        Ok(answer)
    }

    /// Waits for the next answer set or the end, and gives false when the caller wants to wait no more.
    fn wait(&mut self, stop: &dyn Fn() -> bool) -> bool {
        let mut ready = false;
        loop {
            // SAFETY: the search is open, and the flag is a local variable.
            unsafe { c::clingo_solve_handle_wait(self.raw.as_ptr(), WAIT, &raw mut ready) };
            if ready || stop() {
                return ready;
            }
        }
    }

    /// The next answer set, which lives until the search goes on.
    fn next(&mut self) -> Result<Option<Model<'_>>, Error> {
        let mut raw = ptr::null();
        // SAFETY: the search is open, and the pointer is written to a local variable.
        check(unsafe { c::clingo_solve_handle_model(self.raw.as_ptr(), &raw mut raw) })?;
        Ok(NonNull::new(raw.cast_mut()).map(|raw| Model { raw, search: PhantomData }))
    }
}

impl Drop for Search<'_> {
    fn drop(&mut self) {
        // SAFETY: made by clingo_control_solve and closed here alone. Whether closing succeeds changes nothing any more.
        unsafe { c::clingo_solve_handle_close(self.raw.as_ptr()) };
    }
}

/// An answer set.
struct Model<'a> {
    raw: NonNull<c::clingo_model_t>,
    search: PhantomData<&'a c::clingo_solve_handle_t>,
}

impl Model<'_> {
    fn symbols(&self) -> Result<Vec<Symbol>, Error> {
        let show = c::clingo_show_type_e_clingo_show_type_shown;
        let mut size = 0;
        // SAFETY: the model lives as long as the borrow of its search, and the size is a local variable.
        check(unsafe { c::clingo_model_symbols_size(self.raw.as_ptr(), show, &raw mut size) })?;
        let mut raw = vec![0; size];
        // SAFETY: as above; the buffer has room for `size` symbols.
        check(unsafe { c::clingo_model_symbols(self.raw.as_ptr(), show, raw.as_mut_ptr(), size) })?;
        // SAFETY: the symbols come from clingo.
        let mut symbols: Vec<Symbol> =
            raw.into_iter().map(|s| unsafe { read_symbol(s) }).collect::<Result<_, _>>()?;
        symbols.sort_unstable();
        Ok(symbols)
    }

    fn cost(&self) -> Result<Vec<i64>, Error> {
        let mut size = 0;
        // SAFETY: the model lives as long as the borrow of its search, and the size is a local variable.
        check(unsafe { c::clingo_model_cost_size(self.raw.as_ptr(), &raw mut size) })?;
        let mut cost = vec![0; size];
        // SAFETY: as above; the buffer has room for `size` numbers.
        check(unsafe { c::clingo_model_cost(self.raw.as_ptr(), cost.as_mut_ptr(), size) })?;
        Ok(cost)
    }

    fn proven(&self) -> Result<bool, Error> {
        let mut proven = false;
        // SAFETY: the model lives as long as the borrow of its search, and the flag is a local variable.
        check(unsafe { c::clingo_model_optimality_proven(self.raw.as_ptr(), &raw mut proven) })?;
        Ok(proven)
    }
}

/// Reads a symbol of clingo.
///
/// # Safety
/// The symbol comes from clingo.
unsafe fn read_symbol(symbol: c::clingo_symbol_t) -> Result<Symbol, Error> {
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
unsafe fn read_symbols(pointer: *const c::clingo_symbol_t, size: usize) -> Result<Vec<Symbol>, Error> {
    if size == 0 || pointer.is_null() {
        return Ok(Vec::new());
    }
    // SAFETY: the caller's promise.
    let symbols = unsafe { std::slice::from_raw_parts(pointer, size) };
    // SAFETY: the caller's promise.
    symbols.iter().map(|s| unsafe { read_symbol(*s) }).collect()
}

/// Makes a symbol of clingo.
fn make_symbol(symbol: &Symbol) -> Result<c::clingo_symbol_t, String> {
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
            other => return Err(format!("-{other} is no symbol: only a function can be negated")),
        },
    }
    Ok(raw)
}

fn make_function(name: &str, arguments: &[Symbol], positive: bool) -> Result<c::clingo_symbol_t, String> {
    if !name.is_empty() && !is_name(name) {
        return Err(format!("{name:?} is no name of the language"));
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

/// clingo's logger: `data` is the `Mutex<Log>` given to [`Control::new`].
unsafe extern "C" fn log_message(code: c::clingo_warning_t, message: *const c_char, data: *mut c_void) {
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
            ERROR => Kind::Error,
            OPERATION => Kind::OperationUndefined,
            ATOM => Kind::AtomUndefined,
            VARIABLE => Kind::GlobalVariable,
            _ => Kind::Other,
        };
        locked(log).add(kind, &message);
    });
}

/// What the calls of external functions need and leave behind during one grounding.
struct Calls<'a> {
    functions: &'a Functions<'a>,
    failed: Option<Error>,
}

/// clingo's callback for external functions: `data` is the `Calls` of [`Control::ground`].
unsafe extern "C" fn call_function(
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
            let place = unsafe { location.as_ref() }.map_or(Place::of("", 0), place);
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
        Ok(None) => {
            Err(format!("there is no external function of this name with {} arguments", arguments.len()))
        }
        Err(panic) => {
            let said = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
            let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Err(format!("panicked: {said}"))
        }
    }
}

fn place(location: &c::clingo_location_t) -> Place {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Place {
        line: number(location.begin_line),
        column: number(location.begin_column),
        end_line: number(location.end_line),
        end_column: number(location.end_column),
    }
}
