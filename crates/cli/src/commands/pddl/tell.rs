//! `planforge pddl tell`: a plan, a refusal or a difference in sentences.

use crate::args::positive_seconds;
use crate::context::Context;
use crate::exit::{Exit, of_stop};
use crate::inputs::Inputs;
use crate::limits::WorkLimits;
use clap::Args;
use planforge_diagnostics::render::escape;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pipeline::read_sentences;
use planforge_planning::{ValidationDecision, Validator, normalize, parse_plan};
use planforge_plugin_common::telling::{tell_differences, tell_plan};
use planforge_plugin_sdk::wording::Wording;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Tell in sentences what a plan does, why it fails, or how two domains differ.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl tell domain.pddl p01.pddl p01.plan
  planforge pddl tell domain.pddl p01.pddl p01.plan --sentences words.toml
  planforge pddl tell domain.pddl --compare-with written.pddl")]
pub(crate) struct TellArgs {
    /// The domain file.
    domain: PathBuf,
    /// The problem file.
    #[arg(required_unless_present = "compare_with")]
    problem: Option<PathBuf>,
    /// The plan file.
    #[arg(required_unless_present = "compare_with")]
    plan: Option<PathBuf>,
    /// Tell the differences to this domain instead.
    #[arg(long, value_name = "DOMAIN", conflicts_with = "problem")]
    compare_with: Option<PathBuf>,
    /// The sentences for facts [default: sentences.toml beside the domain file, else the names].
    #[arg(long, value_name = "FILE")]
    sentences: Option<PathBuf>,
    /// Give up on the plan after this many seconds.
    #[arg(long, value_name = "S", default_value_t = 300.0, value_parser = positive_seconds)]
    time_limit: f64,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(context: &Context, args: &TellArgs) -> Exit {
    let mut inputs = Inputs::read(&args.domain, args.problem.as_deref());
    let wording = wording(&mut inputs, args);
    let exit = match (&args.plan, &args.compare_with) {
        (_, Some(other)) => differences(context, args, &mut inputs, other, &wording),
        (Some(plan), None) => plan_in_words(context, args, &mut inputs, plan, &wording),
        (None, None) => Exit::Usage,
    };
    context.output.diagnostics(&inputs.texts.diagnostics, &inputs.texts.sources);
    exit
}

/// The suite's sentences. Mistakes in the file are added to the inputs' diagnostics.
fn wording(inputs: &mut Inputs, args: &TellArgs) -> Wording {
    let beside = || args.domain.parent().unwrap_or(Path::new("")).join("sentences.toml");
    let path = args.sentences.clone().unwrap_or_else(beside);
    if args.sentences.is_none() && !path.exists() {
        return Wording::default();
    }
    let (source, text) = inputs.load_text(&path);
    let domain = inputs.texts.sources.get(SourceId(0)).map(|file| file.text.clone()).unwrap_or_default();
    match text {
        Some(text) => {
            Wording::new(&read_sentences(&text, source, &domain, &mut inputs.texts.diagnostics).facts)
        }
        None => Wording::default(),
    }
}

fn plan_in_words(
    context: &Context,
    args: &TellArgs,
    inputs: &mut Inputs,
    path: &Path,
    wording: &Wording,
) -> Exit {
    let (source, text) = inputs.load_plan(path);
    let (Some(text), Some(domain), Some(problem), Exit::Good) =
        (text, &inputs.texts.domain, &inputs.texts.problem, inputs.exit())
    else {
        return inputs.exit();
    };
    let plan = parse_plan(&text, source);
    if plan.diagnostics.iter().any(Diagnostic::is_error) {
        inputs.texts.diagnostics.extend(plan.diagnostics);
        return inputs.exit();
    }
    let task = match normalize(domain, problem) {
        Ok(task) => task,
        Err(diagnostics) => {
            inputs.texts.diagnostics.extend(diagnostics);
            return inputs.exit();
        }
    };
    let report = Validator::new(task).validate_within(&plan, &mut WorkLimits::new(Some(args.time_limit)));
    let told = tell_plan(&report, wording);
    if args.json {
        context.output.json(&told);
    } else {
        told.to_string().lines().for_each(|line| context.output.result(&(escape(line) + "\n")));
    }
    match &report.decision {
        ValidationDecision::Valid => Exit::Good,
        ValidationDecision::Invalid => Exit::Negative,
        ValidationDecision::Unsupported(_) => Exit::Undecided,
        ValidationDecision::LimitReached(reason) => of_stop(*reason),
    }
}

fn differences(
    context: &Context,
    args: &TellArgs,
    inputs: &mut Inputs,
    other: &Path,
    wording: &Wording,
) -> Exit {
    let (source, text) = inputs.load(other);
    let read = text.map(|text| planforge_pddl::parse_domain(&text, source));
    let other_domain = read.map(|parsed| {
        inputs.texts.diagnostics.extend(parsed.diagnostics);
        parsed.value
    });
    let (Some(domain), Some(other_domain), Exit::Good) = (&inputs.texts.domain, other_domain, inputs.exit())
    else {
        return inputs.exit();
    };
    let names = (args.domain.display().to_string(), other.display().to_string());
    let told = tell_differences(domain, &other_domain, (&names.0, &names.1), wording);
    if args.json {
        context.output.json(&json!({ "differences": told }));
    } else if told.is_empty() {
        context.output.result("The domains have the same content.\n");
    } else {
        told.iter().for_each(|sentence| context.output.result(&(escape(sentence) + "\n")));
    }
    if told.is_empty() { Exit::Good } else { Exit::Negative }
}
