//! The command line of `planforge ew`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use planforge_judging::Semantics;
use planforge_verifier_ew::{DeadEnds, Form, Policy};
use serde::de::DeserializeOwned;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct EwArgs {
    /// The reference domain.
    #[arg(value_name = "DOMAIN")]
    pub(crate) domain: PathBuf,
    /// The reference problem.
    #[arg(value_name = "PROBLEM")]
    pub(crate) problem: PathBuf,
    /// The candidate's domain.
    #[arg(value_name = "DOMAIN2")]
    pub(crate) domain2: PathBuf,
    /// The candidate's problem.
    #[arg(value_name = "PROBLEM2")]
    pub(crate) problem2: PathBuf,
    /// Two more problems, the reference's and the candidate's. May be given several times: each direction is averaged over all
    /// problems first (Eq. 2).
    #[arg(long, num_args = 2, value_names = ["PROBLEM", "PROBLEM2"])]
    pub(crate) also: Vec<PathBuf>,
    /// Compute the score, or say that it does not fit. Without it the score is computed while it fits, else sampled.
    #[arg(long, conflicts_with = "sampled")]
    pub(crate) exact: bool,
    /// Sample the score even where it could be computed.
    #[arg(long)]
    pub(crate) sampled: bool,
    /// Walks of each length and direction, where the score is sampled (default: 50, for the reference code 5).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) walks: Option<u32>,
    /// The longest walk.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) t_max: u32,
    /// Which ground actions are legal (default: the form's).
    #[arg(long, value_name = "WHAT", value_parser = words::<Semantics>(&["strips", "ground-no-ops-dropped"]))]
    pub(crate) semantics: Option<Semantics>,
    /// What becomes of a walk that meets a dead end (default: the form's).
    #[arg(long, value_name = "WHAT", value_parser = words::<DeadEnds>(&["condition", "truncate"]))]
    pub(crate) dead_ends: Option<DeadEnds>,
    /// How a walk chooses its steps.
    #[arg(long, value_name = "WHAT", default_value = "uniform", value_parser = words::<Policy>(&["uniform", "coverage-guided"]))]
    pub(crate) policy: Policy,
    /// Whose definition holds where nothing else is said: the paper's Definition 1 and Eq. 2, or its code's.
    #[arg(long, value_name = "FORM", default_value = "definition", value_parser = words::<Form>(&["definition", "reference-code"]))]
    pub(crate) form: Form,
    /// Search a renaming of the candidate's actions, parameters and types, and walk in it under the reference's names.
    #[arg(long)]
    pub(crate) match_interface: bool,
    /// The seed of sampled walks.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Confidence of the interval around a sampled score.
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    pub(crate) confidence: f64,
    /// Most pairs of states that computing may look at (default: 50,000, with --exact two millions).
    #[arg(long, value_name = "N")]
    pub(crate) exact_pairs: Option<usize>,
    /// Most megabytes that computing may use (default: 48, with --exact 2048).
    #[arg(long, value_name = "MB")]
    pub(crate) exact_memory: Option<u64>,
    /// Give up after this many seconds.
    #[arg(long, value_name = "S", value_parser = super::positive_seconds)]
    pub(crate) time_limit: Option<f64>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// One of these words, as the plugin's options spell them.
pub(super) fn words<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    list: &'static [&'static str],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(list).try_map(|word| serde_json::from_value::<T>(word.into()))
}
