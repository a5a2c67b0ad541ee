//! The converter as a separate process, in a folder with nothing but the text, the domain and the knowledge
//! file, so that its output depends on them alone.

use super::patterns;
use super::tasks::{self, TextTask};
use std::path::Path;
use std::process::{Command, Stdio};

/// The patterns to use. The text is the one `.nl` file of the working directory.
#[derive(clap::Args)]
pub(crate) struct ConverterArgs {
    /// `llm-p` or `own`.
    texts: String,
    suite: String,
}

/// Converts in the working directory: TASK.nl to TASK.lp.
///
/// # Errors
/// No text, or what of it is not read, line by line.
pub(crate) fn run_converter(args: &ConverterArgs) -> Result<(), String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(".").map_err(|e| e.to_string())? {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.extension().is_some_and(|e| e == "nl") {
            texts.push(path);
        }
    }
    let [path] = texts.as_slice() else { return Err(format!("{} texts in the folder", texts.len())) };
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let patterns = tasks::patterns(&args.texts, &args.suite)?;
    let ir = patterns::convert(patterns, &text).map_err(|problems| problems.join("\n"))?;
    std::fs::write(path.with_extension("lp"), ir).map_err(|e| e.to_string())
}

/// Writes the folder and converts there. The representation, or what the converter did not read.
///
/// # Errors
/// The folder cannot be written or the process not started.
pub(crate) fn in_child(
    task: &TextTask,
    text: &str,
    folder: &Path,
) -> Result<Result<String, Vec<String>>, String> {
    let at = |e: std::io::Error| format!("{}: {e}", folder.display());
    let representation = folder.join(format!("{}.lp", task.stem));
    if representation.exists() {
        std::fs::remove_file(&representation).map_err(at)?;
    }
    std::fs::write(folder.join(format!("{}.nl", task.stem)), text).map_err(at)?;
    std::fs::write(folder.join("domain.pddl"), &task.domain).map_err(at)?;
    std::fs::write(folder.join("knowledge.lp"), &task.knowledge).map_err(at)?;
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = Command::new(program)
        .args(["tic-convert", task.texts, &task.suite])
        .current_dir(folder)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .map_err(at)?;
    if output.status.success() {
        return std::fs::read_to_string(&representation).map(Ok).map_err(at);
    }
    let output_text = String::from_utf8_lossy(&output.stdout);
    Ok(Err(output_text.trim_start_matches("error: ").lines().map(str::to_owned).collect()))
}
