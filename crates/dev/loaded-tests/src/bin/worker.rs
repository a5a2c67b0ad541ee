//! `planforge worker` with the plugin of these tests linked in.

use planforge_plugin_host::{WorkerSource, isolated_main, worker_main};
use std::process::ExitCode;

#[allow(clippy::print_stderr)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["worker", "--bundled", id, "--memory-bytes", memory] => {
            run(WorkerSource::Bundled((*id).into()), memory)
        }
        ["worker", "--library", path, "--memory-bytes", memory] => {
            run(WorkerSource::Library(path.into()), memory)
        }
        ["worker", "--isolated", path] => isolated_main(path.as_ref()).map_err(|f| f.to_string()),
        other => Err(format!("unexpected arguments {other:?}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(source: WorkerSource, memory: &str) -> Result<(), String> {
    let memory = memory.parse().map_err(|e| format!("--memory-bytes: {e}"))?;
    let bundled = [&planforge_loaded_tests::PLANFORGE_PLUGIN];
    worker_main(&source, memory, &bundled, std::io::stdin().lock(), std::io::stdout().lock())
        .map_err(|f| f.to_string())
}
