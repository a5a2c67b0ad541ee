//! Compares the estimates of `planforge evaluate --dry-run` for the shipped pipelines with the requests that
//! they then send to a simulated model.

use crate::paths::{absolute, path_text};
use planforge_evaluate::{Align, Table};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct EstimatesArgs {
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    #[arg(long, default_value = "examples/suites/blocks")]
    suite: PathBuf,
    /// The suite of pipelines whose in-context example is the first one.
    #[arg(long, default_value = "examples/suites/garden")]
    other: PathBuf,
    /// The folder of pipelines.
    #[arg(long, default_value = "configs/pipelines")]
    pipelines: PathBuf,
    /// Tasks of the suite.
    #[arg(long, default_value_t = 2)]
    tasks: u32,
    /// Assumed tokens of a reply.
    #[arg(long, default_value_t = 400)]
    reply_tokens: u64,
}

/// Prints a row per pipeline. Fails if a pipeline sent more requests than estimated.
pub(crate) fn run(args: &EstimatesArgs) -> Result<(), String> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(&args.pipelines)
        .map_err(|e| format!("{}: {e}", args.pipelines.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let words = ["pipeline"].map(|name| (name, Align::Left));
    let numbers = [
        "calls now",
        "~tokens in",
        "calls",
        "calls <=",
        "replies",
        "replies <=",
        "tokens in",
        "~tokens in <=",
        "tokens out",
        "~tokens out <=",
    ];
    let mut table = Table::new(words.into_iter().chain(numbers.map(|name| (name, Align::Right))));
    let mut more = Vec::new();
    for file in &files {
        match one(args, file, &args.suite).or_else(|_| one(args, file, &args.other)) {
            Ok(row) => {
                if row.calls > row.most_calls || row.replies > row.most_replies {
                    more.push(row.pipeline.clone());
                }
                table.row(row.cells());
            }
            Err(why) => println!("{}: {why}", file.display()),
        }
    }
    print!("{}", table.markdown());
    match more.is_empty() {
        true => Ok(()),
        false => Err(format!("more was requested than the dry run predicted: {}", more.join(", "))),
    }
}

struct Row {
    pipeline: String,
    now: [u64; 2],
    calls: u64,
    most_calls: u64,
    replies: u64,
    most_replies: u64,
    tokens: [u64; 2],
    estimated: [u64; 2],
}

impl Row {
    fn cells(self) -> Vec<String> {
        let numbers = [
            self.now[0],
            self.now[1],
            self.calls,
            self.most_calls,
            self.replies,
            self.most_replies,
            self.tokens[0],
            self.estimated[0],
            self.tokens[1],
            self.estimated[1],
        ];
        std::iter::once(self.pipeline).chain(numbers.map(|number| number.to_string())).collect()
    }
}

fn one(args: &EstimatesArgs, file: &Path, suite: &Path) -> Result<Row, String> {
    let (suite, planforge) = (absolute(suite)?, absolute(&args.planforge)?);
    let place = tempfile::tempdir().map_err(|e| e.to_string())?;
    let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let pipeline = place.path().join(file.file_name().unwrap_or_default());
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let suites = suite.parent().unwrap_or(&suite);
    std::fs::write(&pipeline, with_simulated_model(&text, &suite, suites)?).map_err(|e| e.to_string())?;
    let out = place.path().join("out");
    let evaluate = |more: &[&str]| {
        let mut command = Command::new(&planforge);
        command.args([
            "evaluate",
            "--suite",
            &path_text(&suite),
            "--pipeline",
            &path_text(&pipeline),
            "--seeds",
            "7",
        ]);
        command.args(["--tasks", &args.tasks.to_string(), "--out", &path_text(&out)]).args(more);
        command.output().map_err(|e| e.to_string())
    };
    let reply = args.reply_tokens.to_string();
    let dry = evaluate(&["--dry-run", "--reply-tokens", &reply, "--json"])?;
    if !dry.status.success() {
        return Err(String::from_utf8_lossy(&dry.stderr).lines().next().unwrap_or_default().to_owned());
    }
    let dry: Value = serde_json::from_slice(&dry.stdout).map_err(|e| e.to_string())?;
    let cell = &dry["cells"][0];
    evaluate(&[])?;
    let real = std::fs::read(out.join("evaluation.json")).map_err(|e| e.to_string())?;
    let real: Value = serde_json::from_slice(&real).map_err(|e| e.to_string())?;
    let usage = &real["cells"][0]["usage"];
    let asked = |key: &str| usage[key].as_u64().unwrap_or(0);
    let bound = |when: &str, key: &str| cell[when][key].as_u64().ok_or(format!("no bound on {key}"));
    Ok(Row {
        pipeline: name,
        now: [bound("now", "calls")?, bound("now", "estimated_prompt_tokens")?],
        calls: asked("calls") + asked("failed"),
        most_calls: bound("most", "calls")?,
        replies: asked("replies"),
        most_replies: bound("most", "replies")?,
        // The simulated model counts no tokens; the host estimates them from the same texts.
        tokens: [
            asked("prompt_tokens") + asked("estimated_prompt_tokens"),
            asked("completion_tokens") + asked("estimated_completion_tokens"),
        ],
        estimated: [bound("most", "estimated_prompt_tokens")?, bound("most", "estimated_completion_tokens")?],
    })
}

/// The pipeline with the simulated model instead of its own, and with absolute paths.
fn with_simulated_model(text: &str, suite: &Path, suites: &Path) -> Result<String, String> {
    let text = text.replace("../../examples/suites", &path_text(suites));
    let (before, rest) = text.split_once("[llm.main]\n").ok_or("the pipeline has no table [llm.main]")?;
    let (_, after) = rest.split_once("\n[").ok_or("nothing stands behind [llm.main]")?;
    let suite = path_text(suite);
    Ok(format!(
        "{before}[llm.main]\nuse = \"provider-noisy-oracle\"\nmodel = \"noisy-oracle\"\nsuites = [{suite:?}]\nerrors = 1\n\n[{after}"
    ))
}
