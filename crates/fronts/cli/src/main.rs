//! The `planforge` binary.

use planforge_app::WorkerCommand;
use planforge_cli::{Installation, run_command};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let executable = std::env::current_exe().ok();
    let plugins = executable.as_deref().and_then(Path::parent).map(|folder| folder.join("plugins"));
    let installation = Installation { worker: executable.map(WorkerCommand::of_executable), plugins };
    ExitCode::from(run_command(std::env::args_os().collect(), &installation))
}
