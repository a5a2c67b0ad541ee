//! `planforge pddl equivalent problem`: two problems compared up to the names of their objects.

use crate::args::{MemoryArgs, positive_seconds};
use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, ValueEnum};
use planforge_app::diagnostics::render::escape;
use planforge_app::pddl::compare::problems::{
    self, EquivalentDifference, EquivalentReport, EquivalentWitness, ProblemsRequest, ProblemsResult,
    problems,
};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Compare two problems up to the names of their objects.
///
/// Initial state, numbers, goal and metric are compared under one renaming of the objects within their types.
/// Names used by the domain are never renamed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl equivalent problem reference.pddl generated.pddl --domain domain.pddl
  planforge pddl equivalent problem reference.pddl generated.pddl --domain domain.pddl --level goals --json")]
pub(crate) struct EquivalentProblemArgs {
    /// The first problem; missing facts refer to it.
    pub(crate) first: PathBuf,
    /// The second problem; extra facts refer to it.
    pub(crate) second: PathBuf,
    /// The domain of both.
    #[arg(long, value_name = "FILE")]
    pub(crate) domain: PathBuf,
    /// The comparison of goals: as written, or by the reachable states that satisfy them. With the latter, a
    /// goal fact makes no difference if it follows from the others in every such state.
    #[arg(long, value_enum, default_value_t = EquivalenceLevel::Syntactic)]
    pub(crate) level: EquivalenceLevel,
    /// Most pairs of objects to try before the question is left open.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) max_choices: u64,
    /// Limit with `--level goals`: states visited if invariants and searches leave the question open.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) max_states: u64,
    /// Give up after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(crate) time_limit: Option<f64>,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The comparison of goals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EquivalenceLevel {
    /// As written.
    Syntactic,
    /// By the reachable states that satisfy them.
    Goals,
}

impl From<EquivalenceLevel> for problems::EquivalenceLevel {
    fn from(level: EquivalenceLevel) -> Self {
        match level {
            EquivalenceLevel::Syntactic => Self::Syntactic,
            EquivalenceLevel::Goals => Self::Goals,
        }
    }
}

pub(crate) fn run(context: &Context, args: &EquivalentProblemArgs) -> Exit {
    let request = ProblemsRequest {
        domain: args.domain.clone().into(),
        first: args.first.clone().into(),
        second: args.second.clone().into(),
        level: args.level.into(),
        max_choices: args.max_choices,
        max_states: args.max_states,
        limits: args.memory.with_seconds(args.time_limit),
    };
    context.show(problems(&context.app, &request), |result| {
        match args.json {
            true => context.output.json(&result),
            false => print(context, &result),
        }
        result.status
    })
}

fn print(context: &Context, result: &ProblemsResult) {
    let Some(unusable) = &result.unusable else {
        context.output.result(&text(&result.report));
        return;
    };
    for findings in unusable.iter().filter(|findings| findings.has_errors()) {
        context.output.diagnostics(&findings.diagnostics, &findings.sources);
    }
    context.output.result("undecided: the problems cannot be compared\n");
}

fn text(report: &EquivalentReport) -> String {
    let mut text = match (&report.difference, &report.reason) {
        (Some(found), _) => match &report.witness {
            Some(witness) => witness_text(witness) + &difference_text("as written", found, &report.renaming),
            None => difference_text("different", found, &report.renaming),
        },
        (None, Some(reason)) => format!("undecided: {reason}\n"),
        (None, None) => format!("equal\n{}", renaming_text(&report.renaming)),
    };
    if let Some(added) = &report.added_goal_facts {
        push_derived_facts(&mut text, "first", &added.first);
        push_derived_facts(&mut text, "second", &added.second);
    }
    text
}

/// Facts that follow from a goal: positive ones line by line, negative ones counted.
fn push_derived_facts(text: &mut String, which: &str, added: &[String]) {
    let (negative, positive): (Vec<&String>, Vec<&String>) =
        added.iter().partition(|l| l.starts_with("(not "));
    if added.is_empty() {
        return;
    }
    let _ = writeln!(text, "follows from the {which} goal");
    for fact in positive {
        let _ = writeln!(text, "  {}", escape(fact));
    }
    if !negative.is_empty() {
        let facts = if negative.len() == 1 { "fact does" } else { "facts do" };
        let _ = writeln!(text, "  and that {} {facts} not hold", negative.len());
    }
}

fn witness_text(witness: &EquivalentWitness) -> String {
    let own = &witness.satisfies;
    let other = if own == "first" { "second" } else { "first" };
    let mut out = format!("different; a reachable state satisfies the {own} goal and not the {other}\n");
    for (what, list) in [("after", &witness.steps), ("holds", &witness.facts)] {
        let _ = writeln!(out, "{what}");
        for entry in list {
            let _ = writeln!(out, "  {}", escape(entry));
        }
    }
    out
}

fn renaming_text(renaming: &[(String, String)]) -> String {
    let mut out = String::new();
    for (a, b) in renaming {
        let _ = writeln!(out, "  {} = {}", escape(a), escape(b));
    }
    out
}

/// The facts that only one of the problems has, after the opening words.
fn difference_text(
    opening: &str,
    difference: &EquivalentDifference,
    renaming: &[(String, String)],
) -> String {
    let mut out = match difference.minimal {
        true => format!("{opening}; no renaming leaves fewer facts over\n"),
        false => format!("{opening}; under the best renaming found\n"),
    };
    let lists = [
        ("- object", &difference.missing_objects),
        ("+ object", &difference.extra_objects),
        ("-", &difference.missing_facts),
        ("+", &difference.extra_facts),
    ];
    for (mark, list) in lists {
        for entry in list {
            let _ = writeln!(out, "  {mark} {}", escape(entry));
        }
    }
    let _ = write!(out, "renaming\n{}", renaming_text(renaming));
    out
}
