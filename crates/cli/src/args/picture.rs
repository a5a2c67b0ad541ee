//! The command line of `planforge picture`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PictureArgs {
    /// The domain file.
    pub(crate) domain: PathBuf,
    /// The problem file.
    pub(crate) problem: PathBuf,
    /// The plan file; without it the initial state is drawn.
    pub(crate) plan: Option<PathBuf>,
    /// How states are drawn (default: picture.toml beside the domain file).
    #[arg(long, value_name = "FILE")]
    pub(crate) template: Option<PathBuf>,
    /// The .svg file to write, for one state; or a folder, for every state of the plan: 00.svg, 01.svg, ...
    #[arg(long, value_name = "FILE|DIR", required_unless_present = "json")]
    pub(crate) out: Option<PathBuf>,
    /// The state after so many steps (default for a file: the last one that the plan reaches).
    #[arg(long, value_name = "N", requires = "plan")]
    pub(crate) step: Option<usize>,
    /// Print the plan with its states and their pictures as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
