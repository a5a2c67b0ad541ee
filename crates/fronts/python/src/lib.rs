//! The native part of the Python package `planforge`.
//!
//! The Python files beside it (`python/planforge`) hold the public classes. A function here takes a request and
//! the surroundings of the call as dicts, runs the use case of the application layer on its own thread, and returns the status with the result as
//! JSON: the text that `--json` prints. While the use case works, the calling thread handles signals and calls the functions of the caller.

mod call;
mod model;
mod pddl;
mod pipelines;
mod plugin;
mod port;
mod requests;

/// The module `planforge._native`.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::call::{NativeCancellation, NativeError};
    #[pymodule_export]
    use crate::pddl::{NativeTask, NativeVerdict, check, compare, compare_domains, format};
    #[pymodule_export]
    use crate::pipelines::{check_pipeline, evaluate, recommend, resume, run, solve};
    use planforge_app::WorkerCommand;
    use planforge_cli::{Installation, run_command};
    use pyo3::prelude::*;
    use std::ffi::OsString;
    use std::path::PathBuf;

    /// The version of planforge.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name in Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Runs the command `planforge` and returns its exit code.
    #[pyfunction]
    fn main(
        py: Python<'_>,
        arguments: Vec<OsString>,
        worker: Option<(PathBuf, Vec<String>)>,
        plugins: PathBuf,
    ) -> u8 {
        let worker = worker.map(|(executable, arguments)| WorkerCommand { executable, arguments });
        py.detach(|| run_command(arguments, &Installation { worker, plugins: Some(plugins) }))
    }
}
