//! `planforge pddl equivalent domain`: two domains on given problems, by their behaviour or by their cheapest plans.

use crate::args::{MemoryArgs, positive_seconds, words};
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::Source;
use planforge_app::contract::HeuristicEquivalence;
use planforge_app::diagnostics::render::escape;
use planforge_app::pddl::compare::domains::{
    ComparedProblem, DomainComparisonMethod, DomainEquivalentReport, DomainsRequest, DomainsResult,
    JointComparison, MatchedInterface, RenamedReading, Rule, Semantics, domains,
};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Compare two domains exactly on given problems.
///
/// Prints the shortest sequence of ground actions that only one of them executes, or after which the goal
/// holds in only one; or that there is none.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl equivalent domain domain.pddl written.pddl --problems p01.pddl p02.pddl
  planforge pddl equivalent domain domain.pddl written.pddl --problems p01.pddl --max-states 5000000 --time-limit 60 --json
  planforge pddl equivalent domain domain.pddl written.pddl --problems p01.pddl --second-problems written-p01.pddl
  planforge pddl equivalent domain domain.pddl written.pddl --problems p01.pddl p02.pddl --heuristic --k 100
  planforge pddl equivalent domain domain.pddl written.pddl --problems p01.pddl --match-interface
  planforge pddl equivalent domain a/domain.pddl b/domain.pddl --problems a/p.pddl --second-problems b/p.pddl --match-interface

By default all sequences of actions are compared. With --heuristic, the k cheapest plans of each problem are compared: each is found in
one domain and executed in the other. With both options the action reconstruction error is printed. --match-interface first renames
actions, parameters and types of the second domain to those of the first. With --second-problems and without --heuristic, each pair of
problems is compared under a renaming of everything: objects, types, predicates, actions and their parameters. Different then means that
no renaming that was tried makes them equal.

Exits with 0 where the domains are equal over the whole reachable space of every problem given (which says nothing of other
problems), with 10 where they differ, and with 20 to 23 where a limit left that open or no renaming makes them comparable.")]
pub(crate) struct EquivalentDomainArgs {
    /// The first domain.
    #[arg(value_name = "FIRST")]
    pub(crate) first: PathBuf,
    /// The second domain.
    #[arg(value_name = "SECOND")]
    pub(crate) second: PathBuf,
    /// Problems to compare them on.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) problems: Vec<PathBuf>,
    /// The same problems in the predicates of the second domain, one for each and in the same order. Without them both domains are
    /// given the same files.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) second_problems: Vec<PathBuf>,
    /// Compare every sequence of actions (the default).
    #[arg(long, conflicts_with = "heuristic")]
    pub(crate) exact: bool,
    /// Compare by the cheapest plans: heuristic domain equivalence, as the domain-generators paper has it.
    #[arg(long)]
    pub(crate) heuristic: bool,
    /// With --heuristic: plans of each problem in each domain.
    #[arg(long, value_name = "K", default_value_t = 100, requires = "heuristic", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) k: u32,
    /// With --heuristic: how plans count, by the paper's definition or as its code does.
    #[arg(long, value_name = "RULE", default_value = "definition", requires = "heuristic", value_parser = words::<Rule>(&["definition", "reference-code"]))]
    pub(crate) rule: Rule,
    /// With --heuristic: most search nodes for the plans of one problem in one domain.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, requires = "heuristic", value_parser = clap::value_parser!(u64).range(1..=4_000_000_000))]
    pub(crate) max_nodes: u64,
    /// Search a renaming of the second domain's actions, parameters and types, and compare it under the first's names. With
    /// --second-problems, objects, predicates and missing parameters are part of the renaming.
    #[arg(long)]
    pub(crate) match_interface: bool,
    /// With --match-interface: most choices that are tried for a renaming. By default 1,000,000; with --second-problems 1,000 for each
    /// pair of problems.
    #[arg(long, value_name = "N", requires = "match_interface", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_choices: Option<u64>,
    /// The legal ground actions: all whose precondition holds (the default), or only those that can change
    /// something. With --heuristic: those that plans consist of, by default only those that can change
    /// something.
    #[arg(long, value_name = "WHAT", value_parser = words::<Semantics>(&["strips", "ground-no-ops-dropped"]))]
    pub(crate) semantics: Option<Semantics>,
    /// Limit: pairs of states on each problem.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=4_000_000_000))]
    pub(crate) max_states: u64,
    /// Limit: length of the compared sequences of actions.
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<u32>,
    /// Give up after this many seconds for all problems; each gets an equal share of the rest.
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(crate) time_limit: Option<f64>,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &EquivalentDomainArgs) -> Exit {
    let sources = |paths: &[PathBuf]| paths.iter().cloned().map(Source::File).collect();
    let method = match args.heuristic {
        true => DomainComparisonMethod::Plans { k: args.k, rule: args.rule, max_nodes: args.max_nodes },
        false => DomainComparisonMethod::Exact { max_states: args.max_states, max_depth: args.max_depth },
    };
    let request = DomainsRequest {
        first: args.first.clone().into(),
        second: args.second.clone().into(),
        problems: sources(&args.problems),
        second_problems: sources(&args.second_problems),
        method,
        match_interface: args.match_interface,
        max_choices: args.max_choices,
        semantics: args.semantics,
        limits: args.memory.with_seconds(args.time_limit),
    };
    context.show(domains(&context.app, &request), |result| {
        match args.json {
            true => context.output.json(&result),
            false => print(context, &result),
        }
        result.status
    })
}

fn print(context: &Context, result: &DomainsResult) {
    for findings in result.unusable.iter().flatten().filter(|findings| findings.has_errors()) {
        context.output.diagnostics(&findings.diagnostics, &findings.sources);
    }
    let report = &result.report;
    context.output.result(&match (&result.unusable, &report.not_comparable) {
        (Some(_), _) => "undecided: the domains cannot be compared\n".to_owned(),
        (None, Some(why)) => format!("{}: {}\n", report.decision, escape(why)),
        (None, None) => text(report),
    });
}

fn text(report: &DomainEquivalentReport) -> String {
    let mut out = match &report.heuristic {
        Some(found) => plans_text(found),
        None => format!("{}\n", report.decision),
    };
    for problem in &report.problems {
        let _ = write!(out, "{}: {}", escape(&problem.problem), problem.decision);
        match (problem.equal_up_to, problem.decision.as_str()) {
            (Some(steps), _) => {
                let _ = write!(out, "; behaviour equal for all sequences of at most {steps} steps");
            }
            (None, "equal") if problem.same_model => out.push_str(": the same ground model"),
            (None, "equal") => out.push_str(" over the whole reachable space"),
            (None, _) => {}
        }
        if let Some(reason) = &problem.reason {
            let _ = write!(out, "; {}", escape(reason));
        }
        if problem.pairs > 0 {
            let _ = write!(out, " ({} pairs of states)", problem.pairs);
        }
        out.push('\n');
        push_differences(&mut out, problem);
        if let Some(joint) = &problem.joint {
            push_joint(&mut out, joint);
        }
    }
    if let Some(found) = &report.interface {
        push_renaming(&mut out, found);
    }
    if let Some(error) = &report.reconstruction_error {
        let least = error.least.map_or("none".to_owned(), |n| n.to_string());
        let _ = writeln!(
            out,
            "action reconstruction error: {} by name, {} by position, {least} under the best pairing of parameters",
            error.by_name, error.by_position
        );
    }
    out
}

fn plans_text(found: &HeuristicEquivalence) -> String {
    let mut out = match found.decision.as_str() {
        "equivalent" => "equivalent by their cheapest plans\n".to_owned(),
        other => format!("{other}\n"),
    };
    for (number, [first, second]) in found.plans.iter().enumerate() {
        let _ = writeln!(out, "problem {}: {first} plans in the first, {second} in the second", number + 1);
    }
    if let Some(class) = &found.class {
        let _ = writeln!(out, "class: {class}");
    }
    if let Some(why) = &found.why {
        let _ = writeln!(out, "  {}", escape(why));
    }
    if let Some(plan) = &found.failing_plan {
        let other = if plan.plan_of == "first" { "second" } else { "first" };
        let _ = match plan.failing_step {
            Some(step) => writeln!(
                out,
                "  plan {} of the {} fails in the {other} at step {}: {}",
                plan.rank + 1,
                plan.plan_of,
                step + 1,
                escape(&plan.why)
            ),
            None => writeln!(
                out,
                "  plan {} of the {} is executed in the {other}, and {}",
                plan.rank + 1,
                plan.plan_of,
                escape(&plan.why)
            ),
        };
        push_lines(&mut out, "    ", &plan.steps);
        push_lines(&mut out, "  does not hold: ", &plan.conditions);
    }
    out
}

/// Lists the renamed actions.
fn push_renaming(out: &mut String, found: &MatchedInterface) {
    if found.identity {
        out.push_str("interface: as it stands\n");
        return;
    }
    out.push_str("interface: the second domain's actions were renamed\n");
    for [name, other] in &found.types {
        let _ = writeln!(out, "  type {} was {}", escape(name), escape(other));
    }
    for action in &found.actions {
        let places: Vec<String> = action.parameters.iter().map(|p| (p + 1).to_string()).collect();
        let _ = writeln!(
            out,
            "  {} was {}, its parameters {}",
            escape(&action.reference),
            escape(&action.candidate),
            if places.is_empty() { "none".to_owned() } else { places.join(" ") }
        );
    }
}

/// Lists the differences in both directions and the renaming that they are under.
fn push_joint(out: &mut String, joint: &JointComparison) {
    let sides = [("first", "second", &joint.first_only), ("second", "first", &joint.second_only)];
    for (side, other, found) in sides {
        let Some(found) = found else { continue };
        let _ = match (found.kind.as_deref(), found.searched_up_to) {
            (Some("goal"), _) => writeln!(out, "  after these steps only the goal of the {side} holds"),
            (Some(_), _) => writeln!(out, "  only the {side} allows the last of these steps"),
            (None, Some(steps)) => {
                writeln!(out, "  no sequence of at most {steps} steps is allowed by the {side} alone")
            }
            (None, None) => writeln!(out, "  every sequence of the {side} is one of the {other}"),
        };
        push_lines(out, "    ", &found.steps);
        if !found.other_steps.is_empty() {
            let _ = writeln!(out, "  in the names of the {other}");
            push_lines(out, "    ", &found.other_steps);
        }
        push_lines(out, &format!("  does not hold in the {other}: "), &found.conditions);
    }
    if let Some(found) = &joint.granularity {
        let [before, after] = &found.sequence;
        let action = found.action.as_deref().unwrap_or("one action");
        let coarser = if found.finer == "first" { "second" } else { "first" };
        let _ = writeln!(
            out,
            "  if {} then {} of the {} always follow each other, they are, as far as compared, {} of the {coarser}; sequences with a step between them were not compared",
            escape(before),
            escape(after),
            found.finer,
            escape(action)
        );
    }
    let _ = match (joint.first_only.is_some(), joint.differs_under_all) {
        (false, _) => writeln!(out, "  under this renaming of the first to the second"),
        (true, true) => writeln!(out, "  no renaming makes them equal; these differences are under"),
        (true, false) => {
            let end = if joint.choices_exhausted { "; --max-choices ended the search" } else { "" };
            writeln!(out, "  the best of {} renamings that were tried{end}", joint.judged)
        }
    };
    push_renamed_reading(out, &joint.renaming);
}

fn push_renamed_reading(out: &mut String, found: &RenamedReading) {
    for action in &found.actions {
        let places: Vec<String> = action
            .parameters
            .iter()
            .map(|[first, second]| format!("{} is {}", first + 1, second + 1))
            .collect();
        let _ = write!(out, "    action {} is {}", escape(&action.first), escape(&action.second));
        if action.parameters.iter().any(|[first, second]| first != second) {
            let _ = write!(out, ", parameters {}", places.join(", "));
        }
        for (side, alone) in [("first", &action.first_alone), ("second", &action.second_alone)] {
            if !alone.is_empty() {
                let _ = write!(out, "; only the {side} has {}", escape(&alone.join(" ")));
            }
        }
        out.push('\n');
    }
    for (what, pairs) in
        [("objects", &found.objects), ("types", &found.types), ("predicates", &found.predicates)]
    {
        let pairs: Vec<String> = pairs.iter().map(|[a, b]| format!("{a} is {b}")).collect();
        if !pairs.is_empty() {
            let _ = writeln!(out, "    {what}: {}", escape(&pairs.join(", ")));
        }
    }
    for (side, names) in [("first", &found.first_alone), ("second", &found.second_alone)] {
        if !names.is_empty() {
            let _ = writeln!(out, "    only in the {side}: {}", escape(&names.join(", ")));
        }
    }
}

fn push_differences(out: &mut String, problem: &ComparedProblem) {
    if let Some(found) = &problem.difference {
        let _ = match found.kind.as_str() {
            "goal" => writeln!(out, "  after these steps the goal does not hold in the {} alone", found.by),
            _ => writeln!(out, "  the {} refuses the last of these steps: {}", found.by, escape(&found.why)),
        };
        push_lines(out, "    ", &found.steps);
        push_lines(out, "  does not hold: ", &found.conditions);
    }
    if let Some(found) = &problem.cost_difference {
        let _ = writeln!(
            out,
            "  the last of these steps costs {} in the first, {} in the second",
            found.first, found.second
        );
        push_lines(out, "    ", &found.steps);
    }
}

fn push_lines(out: &mut String, before: &str, lines: &[String]) {
    for line in lines {
        let _ = writeln!(out, "{before}{}", escape(line));
    }
}
