//! The command line of `planforge report`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A run folder, or the folder of an evaluation; finished or not.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The HTML file to write; one that is there is replaced once the new one is whole.
    #[arg(long, default_value = "report.html", value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Print one JSON object that says what the report holds.
    #[arg(long)]
    pub(crate) json: bool,
}
