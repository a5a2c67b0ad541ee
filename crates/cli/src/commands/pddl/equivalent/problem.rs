//! `planforge pddl equivalent`: whether two problems are the same but for the names of their objects; domains are in a module of their own.

use crate::args::positive_seconds;
use crate::context::Context;
use crate::exit::{Exit, of_stop};
use crate::inputs::Inputs;
use crate::limits::WorkLimits;
use clap::{Args, ValueEnum};
use planforge_contract::ReportedDiagnostic;
use planforge_diagnostics::render::escape;
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::goals::{
    GoalEquivalence, GoalLimits, GoalOutcome, Witness, equivalent_goals,
};
use planforge_planning::equivalence::{ProblemDifference, ProblemEquivalence, equivalent_problems};
use planforge_plugin_common::judging::problems;
use planforge_plugin_common::judging::reports::{AddedGoalFacts, EquivalentReport};
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

pub(crate) fn run(context: &Context, args: &EquivalentProblemArgs) -> Exit {
    let read = [&args.first, &args.second].map(|path| Inputs::read(&args.domain, Some(path)));
    let [first, second] = &read;
    // A damaged problem is not compared: its readable part would be compared instead.
    let damaged = read.iter().any(|r| r.unreadable || r.has_errors());
    let (Some(domain), Some(a), Some(b), false) =
        (&first.texts.domain, &first.texts.problem, &second.texts.problem, damaged)
    else {
        return unusable(context, args, &read);
    };
    let mut limits = WorkLimits::new(args.time_limit);
    let (exit, text, report) = match args.level {
        EquivalenceLevel::Syntactic => {
            syntactic_result(equivalent_problems(domain, a, b, args.max_choices, &mut limits))
        }
        EquivalenceLevel::Goals => {
            let goal_limits = GoalLimits {
                max_choices: args.max_choices,
                max_states: args.max_states,
                ..GoalLimits::default()
            };
            goals_result(equivalent_goals(domain, a, b, &goal_limits, &mut limits))
        }
    };
    match args.json {
        true => context.output.json(&report),
        false => context.output.result(&text),
    }
    exit
}

/// The result of comparing the problems as written.
fn syntactic_result(result: ProblemEquivalence) -> (Exit, String, EquivalentReport) {
    let (exit, text, report) = match result {
        ProblemEquivalence::Equal { renaming } => equal_result(renaming),
        ProblemEquivalence::Different(found) => {
            let text = difference_text("different", &found);
            let (listed, renaming) = problems::difference(found);
            let report = EquivalentReport { difference: Some(listed), renaming, ..empty_report("different") };
            (Exit::Negative, text, report)
        }
        ProblemEquivalence::Undecided { choices, stopped } => {
            let reason = stopped.map_or_else(|| "the limit on pairs".to_owned(), |reason| reason.to_string());
            let reason = format!("{reason} was reached after {choices} pairs of objects were tried");
            undecided_result(stopped.map_or(Exit::NodeLimit, of_stop), reason)
        }
    };
    (exit, text, EquivalentReport { level: Some("syntactic".to_owned()), ..report })
}

/// The result of comparing by goal states.
fn goals_result(result: GoalEquivalence) -> (Exit, String, EquivalentReport) {
    let [first, second] = result.added;
    let (exit, mut text, report) = match result.outcome {
        GoalOutcome::Equal { renaming } => equal_result(renaming),
        GoalOutcome::Different { difference: found, witness } => {
            let text = match &witness {
                Some(witness) => witness_text(witness) + &difference_text("as written", &found),
                None => difference_text("different", &found),
            };
            let (listed, renaming) = problems::difference(found);
            let report = EquivalentReport {
                renaming,
                difference: Some(listed),
                witness: witness.map(problems::witness),
                ..empty_report("different")
            };
            (Exit::Negative, text, report)
        }
        GoalOutcome::Undecided { why, stopped, .. } => {
            undecided_result(stopped.map_or(Exit::Undecided, of_stop), why)
        }
    };
    push_derived_facts(&mut text, "first", &first);
    push_derived_facts(&mut text, "second", &second);
    let added = (!first.is_empty() || !second.is_empty()).then_some(AddedGoalFacts { first, second });
    (exit, text, EquivalentReport { level: Some("goals".to_owned()), added_goal_facts: added, ..report })
}

fn equal_result(renaming: Vec<(String, String)>) -> (Exit, String, EquivalentReport) {
    let text = format!("equal\n{}", renaming_text(&renaming));
    (Exit::Good, text, EquivalentReport { equivalent: true, renaming, ..empty_report("equal") })
}

fn undecided_result(exit: Exit, reason: String) -> (Exit, String, EquivalentReport) {
    let text = format!("undecided: {reason}\n");
    (exit, text, EquivalentReport { reason: Some(reason), ..empty_report("undecided") })
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

fn witness_text(witness: &Witness) -> String {
    let (own, other) = sides(witness.satisfies);
    let mut out = format!("different; a reachable state satisfies the {own} goal and not the {other}\n");
    for (what, list) in [("after", &witness.steps), ("holds", &witness.facts)] {
        let _ = writeln!(out, "{what}");
        for entry in list {
            let _ = writeln!(out, "  {}", escape(entry));
        }
    }
    out
}

const fn sides(satisfies: ComparedSide) -> (&'static str, &'static str) {
    match satisfies {
        ComparedSide::First => ("first", "second"),
        ComparedSide::Second => ("second", "first"),
    }
}

/// A report with nothing but its decision.
fn empty_report(decision: &str) -> EquivalentReport {
    EquivalentReport {
        equivalent: false,
        decision: decision.to_owned(),
        renaming: Vec::new(),
        difference: None,
        level: None,
        added_goal_facts: None,
        witness: None,
        reason: None,
        diagnostics: Vec::new(),
    }
}

/// Prints the diagnostics of the files; those of a domain once.
fn unusable(context: &Context, args: &EquivalentProblemArgs, read: &[Inputs; 2]) -> Exit {
    let mut diagnostics: Vec<ReportedDiagnostic> = Vec::new();
    for inputs in read {
        for found in inputs.texts.diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &inputs.texts.sources))
        {
            if !diagnostics.contains(&found) {
                diagnostics.push(found);
            }
        }
    }
    if args.json {
        context.output.json(&EquivalentReport { diagnostics, ..empty_report("undecided") });
    } else {
        for inputs in read.iter().filter(|i| i.has_errors() || i.unreadable) {
            context.output.diagnostics(&inputs.texts.diagnostics, &inputs.texts.sources);
        }
        context.output.result("undecided: the problems cannot be compared\n");
    }
    if read.iter().any(|r| r.unreadable) { Exit::Input } else { Exit::Undecided }
}

fn renaming_text(renaming: &[(String, String)]) -> String {
    let mut out = String::new();
    for (a, b) in renaming {
        let _ = writeln!(out, "  {} = {}", escape(a), escape(b));
    }
    out
}

/// The facts that only one of the problems has, after the opening words.
fn difference_text(opening: &str, difference: &ProblemDifference) -> String {
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
    let _ = write!(out, "renaming\n{}", renaming_text(&difference.renaming));
    out
}
