//! Groups of arguments and value parsers that several commands share. All others lie beside their command.

use crate::output::ProgressDisplay;
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use planforge_app::RequestLimits;
use planforge_app::run::{Assumptions, ModelChoice};
use planforge_app::runs::run_path;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::time::Duration;

/// Options of commands that run pipelines.
#[derive(Debug, Args)]
pub(crate) struct ProgressArgs {
    /// Progress on standard error, with the requests and calls that are pending.
    #[arg(long, value_enum, value_name = "HOW", default_value_t = ProgressWord::Bar)]
    progress: ProgressWord,
    /// Seconds between two lines of `--progress plain`.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    progress_every: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProgressWord {
    /// A bar on a terminal, nothing elsewhere.
    Bar,
    /// Lines at an interval, for a log file.
    Plain,
    /// No progress.
    None,
}

impl ProgressArgs {
    /// The chosen display.
    pub(crate) const fn display(&self) -> ProgressDisplay {
        match self.progress {
            ProgressWord::Bar => ProgressDisplay::Bar,
            ProgressWord::Plain => ProgressDisplay::Lines(Duration::from_secs(self.progress_every)),
            ProgressWord::None => ProgressDisplay::Nothing,
        }
    }
}

/// Options of commands that run pipelines.
#[derive(Debug, Args)]
pub(crate) struct DryRunArgs {
    /// Send no request and write nothing. Print how many calls are paid for, are possible now, and are
    /// possible at most, with estimates of tokens and, if prices are stated, of cost.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Tokens of a reply assumed by the estimate, unless `max_tokens` is less.
    #[arg(long, value_name = "N", default_value_t = Assumptions::REPLY_TOKENS, requires = "dry_run")]
    reply_tokens: u64,
    /// Seconds of a request assumed by the estimate.
    #[arg(long, value_name = "S", default_value_t = Assumptions::REQUEST_SECONDS, requires = "dry_run")]
    request_seconds: u64,
}

impl DryRunArgs {
    /// The assumptions of the estimate, with so many requests at a time.
    pub(crate) fn assumptions(&self, jobs: u32) -> Assumptions {
        Assumptions {
            reply_tokens: self.reply_tokens,
            request_seconds: self.request_seconds,
            jobs: jobs.into(),
        }
    }
}

/// Changes to a pipeline file.
#[derive(Debug, Args)]
pub(crate) struct OverrideArgs {
    /// Use this model in `[llm.main]`: `openai:NAME`, `anthropic:NAME`, `gemini:NAME`, `local:NAME` for an OpenAI-compatible server at
    /// 127.0.0.1:8081, `local:FILE.gguf` for a model file in this process (`provider-local`), `batch:NAME` for files of requests
    /// (`provider-batch`), or a table `[models.NAME]` of
    /// `planforge/config.toml` in the configuration folder. Provider, address, key and price of the file are replaced; sampling, retries and
    /// caps stay unless the table has them.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Override a key of the pipeline file, such as `llm.main.model=gpt-4o` or `stage.problem.n=3`.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl OverrideArgs {
    /// The model of `--model`, or those of the file.
    pub(crate) fn model(&self) -> ModelChoice {
        self.model.clone().map_or(ModelChoice::OfFile, ModelChoice::Named)
    }

    /// The changes of `--set`.
    pub(crate) fn set(&self) -> Vec<String> {
        self.set.clone()
    }
}

/// One of these words, as the plugin's options spell them.
pub(crate) fn words<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    list: &'static [&'static str],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(list).try_map(|word| serde_json::from_value::<T>(word.into()))
}

/// An argument that names a run: a path, or `last` for the newest one in the folder `runs`.
pub(crate) fn run_argument() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(run_path)
}

pub(crate) fn positive_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err(format!("`{text}` is not a number of seconds above 0")),
    }
}

/// The limit on memory of a command.
#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    /// Give up at this many megabytes of states, facts and ground actions, counted as they are made; also as 500MB or 2GB.
    #[arg(long, value_name = "MB", default_value_t = default_megabytes(), value_parser = megabytes)]
    pub(crate) memory_limit: u64,
}

/// 4096, or half of the address space that the process may have: an allocation that fails ends the process.
fn default_megabytes() -> u64 {
    let own = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_AS);
    own.map_or(u64::MAX, |(soft, _)| soft >> 21).clamp(1, 4096)
}

impl MemoryArgs {
    /// The limits of a request.
    pub(crate) fn with_seconds(&self, seconds: Option<f64>) -> RequestLimits {
        RequestLimits { seconds, memory_bytes: self.memory_limit.saturating_mul(1 << 20) }
    }
}

fn megabytes(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let (number, factor) = match lower.strip_suffix("gb") {
        Some(number) => (number, 1024),
        None => (lower.strip_suffix("mb").unwrap_or(&lower), 1),
    };
    let megabytes = number.trim().parse::<u64>().ok().filter(|n| *n > 0);
    megabytes
        .and_then(|n| n.checked_mul(factor))
        .ok_or_else(|| format!("`{text}` is not a number of megabytes above 0, such as 500, 500MB or 2GB"))
}

pub(crate) fn at_least_one(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number >= 1.0 && number.is_finite() => Ok(number),
        _ => Err(format!("`{text}` is not a number from 1 up")),
    }
}

pub(crate) fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| format!("`{text}` is not a whole number above 0"))
}
