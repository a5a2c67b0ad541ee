//! The calls into clingo's C library and back: all unsafe code of this crate.
//!
//! Four rules keep it sound. A [`Control`] owns clingo's object and borrows what clingo may call back into, so neither outlives the
//! other. One thread grounds at a time ([`Grounding`]): clingo keeps the callback for external functions in a variable of the whole
//! process, and another thread's would be called otherwise. No panic crosses into C++: the bodies of both callbacks run under `catch_unwind`. No exception crosses into Rust: clingo
//! turns its own into error codes at its boundary, and a callback reports its failure by returning false.
#![allow(unsafe_code, reason = "calls a C library")]

mod callbacks;
mod symbols;

use crate::message::Log;
use crate::{AnswerSets, Error, Functions, SolveRequest, Symbol};
use callbacks::{Calls, call_function, log_message};
use clingo_sys as c;
use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::{Mutex, MutexGuard, PoisonError};
use symbols::read_symbol;

/// Seconds of one wait for the next answer set; after each wait [`SolveRequest::stop`] is called.
const WAIT: f64 = 0.02;

pub(crate) fn version() -> (i32, i32, i32) {
    let (mut major, mut minor, mut revision) = (0, 0, 0);
    // SAFETY: clingo writes three numbers behind pointers to local variables.
    unsafe { c::clingo_version(&raw mut major, &raw mut minor, &raw mut revision) };
    (major, minor, revision)
}

pub(crate) fn solve(program: &CStr, job: &SolveRequest<'_>) -> Result<AnswerSets, Error> {
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
        let mut log = lock(&log);
        if found.is_err() && log.has_error() {
            let (messages, omitted) = log.take();
            return Err(Error::Program { messages, omitted });
        }
        log.take()
    };
    found.map(|answer| AnswerSets { messages, omitted, ..answer })
}

/// The log is whole after a panic too: its methods change it in one step.
fn lock(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The turn of this thread to ground. `clingo_control_ground` puts its callback into `Gringo::g_scripts()`, of which there is one.
struct Grounding {
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::new(());

thread_local! {
    /// True if this thread is grounding: an external function that solves a program would wait for itself.
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
    fn new(job: &SolveRequest<'_>, log: &'a Mutex<Log>) -> Result<Self, Error> {
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

    fn solve(&mut self, job: &SolveRequest<'_>) -> Result<AnswerSets, Error> {
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
    fn run(&mut self, job: &SolveRequest<'_>) -> Result<AnswerSets, Error> {
        let mut answer = AnswerSets {
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

    /// Waits for the next answer set or the end. False if `stop` ended the wait.
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

    /// Returns the next answer set, valid until the search continues.
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
