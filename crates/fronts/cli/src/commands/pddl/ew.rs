//! `planforge pddl ew`: how alike two models of one task behave, by exploration walks. What `verifier-ew` measures in a pipeline,
//! measured here on files.

use crate::args::{MemoryArgs, positive_seconds, words};
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::diagnostics::render::escape;
use planforge_app::pddl::compare::walks::{
    DeadEnds, FailingWalk, Form, MatchedInterface, Mode, Policy, Semantics, WalkVerifierOptions,
    WalksCompared, WalksRequest, walks,
};
use planforge_app::table::{Align, Table};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Compare two models of a task by exploration walks.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl ew domain.pddl p01.pddl written.pddl written-p01.pddl
  planforge pddl ew domain.pddl p01.pddl written.pddl p01.pddl --also p02.pddl p02.pddl --json
  planforge pddl ew domain.pddl p01.pddl written.pddl p01.pddl --form reference-code --seed 42")]
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
    /// Compute the score exactly, or fail if it does not fit the limits [default: exact if it fits, else
    /// sampled].
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
    /// The legal ground actions [default: those of the form].
    #[arg(long, value_name = "WHAT", value_parser = words::<Semantics>(&["strips", "ground-no-ops-dropped"]))]
    pub(crate) semantics: Option<Semantics>,
    /// The treatment of a walk that meets a dead end [default: that of the form].
    #[arg(long, value_name = "WHAT", value_parser = words::<DeadEnds>(&["condition", "truncate"]))]
    pub(crate) dead_ends: Option<DeadEnds>,
    /// The choice of steps.
    #[arg(long, value_name = "WHAT", default_value = "uniform", value_parser = words::<Policy>(&["uniform", "coverage-guided"]))]
    pub(crate) policy: Policy,
    /// The definition for options that are not given: the paper's Definition 1 and Eq. 2, or its code's.
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
    /// Limit: pairs of states of the exact computation [default: 50,000, with --exact two million].
    #[arg(long, value_name = "N")]
    pub(crate) exact_pairs: Option<usize>,
    /// Limit: megabytes of the exact computation [default: 96, with --exact 2048].
    #[arg(long, value_name = "MB")]
    pub(crate) exact_memory: Option<u64>,
    /// Give up after this many seconds.
    #[arg(long, value_name = "S", value_parser = positive_seconds)]
    pub(crate) time_limit: Option<f64>,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &EwArgs) -> Exit {
    let mut problems = vec![[args.problem.clone().into(), args.problem2.clone().into()]];
    problems.extend(args.also.chunks_exact(2).map(|two| [two[0].clone().into(), two[1].clone().into()]));
    let request = WalksRequest {
        reference: args.domain.clone().into(),
        candidate: args.domain2.clone().into(),
        problems,
        options: options(args),
        match_interface: args.match_interface,
        seed: args.seed,
        limits: args.memory.with_seconds(args.time_limit),
    };
    context.show(walks(&context.app, &request), |result| {
        match &result.comparison {
            _ if args.json => context.output.json(&result),
            Ok(compared) => context.output.result(&text(compared)),
            Err(not) => {
                if not.findings.has_errors() {
                    context.output.diagnostics(&not.findings.diagnostics, &not.findings.sources);
                }
                context.output.note(&not.message);
            }
        }
        result.status
    })
}

fn options(args: &EwArgs) -> WalkVerifierOptions {
    let defaults = WalkVerifierOptions::default();
    // Who asks for an exact score gets more room than an attempt at one.
    let (pairs, memory) =
        if args.exact { (2_000_000, 2048) } else { (defaults.exact_pairs, defaults.exact_memory_mb) };
    WalkVerifierOptions {
        form: args.form,
        t_max: args.t_max,
        walks: args.walks,
        semantics: args.semantics,
        dead_ends: args.dead_ends,
        policy: args.policy,
        mode: match (args.exact, args.sampled) {
            (true, _) => Some(Mode::Exact),
            (_, true) => Some(Mode::Sampled),
            _ => None,
        },
        exact_pairs: args.exact_pairs.unwrap_or(pairs),
        exact_memory_mb: args.exact_memory.unwrap_or(memory),
        confidence: args.confidence,
        ..defaults
    }
}

/// The score, both directions, renamed actions, the table of actions and the shortest failing walk.
fn text(compared: &WalksCompared) -> String {
    let mut out = compared.summary.clone();
    out.push('\n');
    out += &compared.renaming.as_ref().map(renaming_text).unwrap_or_default();
    let _ = write!(out, "\n{}", action_table(compared).text());
    if let Some(walk) = &compared.failing {
        push_failing_walk(&mut out, walk);
    }
    out
}

/// Lists the renamed actions.
fn renaming_text(found: &MatchedInterface) -> String {
    if found.identity {
        return String::new();
    }
    let mut out = String::from("The candidate's actions were renamed:\n");
    for action in &found.actions {
        let places: Vec<String> = action.parameters.iter().map(|p| (p + 1).to_string()).collect();
        let _ = writeln!(
            out,
            "  {} was {}{}{}",
            escape(&action.reference),
            escape(&action.candidate),
            if places.is_empty() { "" } else { ", its parameters " },
            places.join(" ")
        );
    }
    out
}

fn action_table(compared: &WalksCompared) -> Table {
    let sides = &compared.actions;
    let mut names: Vec<&str> = sides.iter().flatten().map(|a| a.name.as_str()).collect();
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    let unit = if compared.exact { "expected steps, refused" } else { "steps, refused" };
    let directions = ["reference to candidate", "candidate to reference"]
        .map(|direction| (format!("{direction}: {unit}"), Align::Right));
    let mut table = Table::new([("action".to_owned(), Align::Left)].into_iter().chain(directions));
    for name in names {
        let cells = sides.iter().map(|side| match side.iter().find(|a| a.name == name) {
            None => "-".to_owned(),
            Some(a) if compared.exact => format!("{:.3}, {:.3}", a.tried, a.refused),
            Some(a) => format!("{}, {}", a.tried, a.refused),
        });
        table.row([name.to_owned()].into_iter().chain(cells));
    }
    table
}

/// The steps of the walk, the side that refuses the last one, and the violated conditions.
fn push_failing_walk(out: &mut String, walk: &FailingWalk) {
    let FailingWalk { source, refuser, .. } = walk;
    let which = if walk.shortest { "The shortest failing walk" } else { "A failing walk" };
    let place = walk.problem.map(|n| format!(" in problem {n}")).unwrap_or_default();
    let _ = writeln!(
        out,
        "\n{which}{place}: the {source} executes all of it, the {refuser} refuses the last step."
    );
    for (number, step) in (1..).zip(&walk.steps) {
        let _ = writeln!(out, "  {number}. {step}");
    }
    let _ = writeln!(out, "  In the {refuser}, {}.", walk.refusal);
    for [remedy, why] in &walk.conditions {
        let _ = writeln!(out, "  It needs {remedy}. Instead {why}.");
    }
    if let Some(reason) = &walk.stopped {
        let _ = writeln!(out, "  {reason} ended the search for the conditions that do not hold.");
    }
}
