//! Grammars of a domain against llguidance's matcher, which a package outside of the workspace contains.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The package that counts.
const PACKAGE: &str = "../../../tests/llguidance/Cargo.toml";

/// Folders, and the texts that are taken of them.
#[derive(clap::Args)]
pub(crate) struct GrammarsArgs {
    /// Folders: each folder at or below them that has a domain.pddl counts.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Read texts in lower case: a grammar has the case of the domain.
    #[arg(long)]
    lower: bool,
    /// At most this many domains, spread over all.
    #[arg(long, value_name = "N")]
    most: Option<usize>,
    /// Also read this many random problems, and as many random actions, of each domain with planforge's reader.
    #[arg(long, value_name = "N")]
    derivations: Option<usize>,
}

pub(crate) fn run(args: &GrammarsArgs) -> Result<(), String> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join(PACKAGE);
    let mut command = Command::new("cargo");
    command.args(["run", "--release", "--quiet", "--manifest-path"]).arg(package).arg("--");
    command.args(args.lower.then_some("--lower"));
    for (option, count) in [("--most", args.most), ("--derivations", args.derivations)] {
        command.args(count.map(|count| [option.to_owned(), count.to_string()]).into_iter().flatten());
    }
    let status =
        command.args(&args.paths).status().map_err(|error| format!("cannot start cargo: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err("a grammar accepts or rejects what it should not".into()),
    }
}
