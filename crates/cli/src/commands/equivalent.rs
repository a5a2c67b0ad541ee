//! `planforge equivalent`: whether two problems are the same but for the names of their objects.

use super::Context;
use crate::args::{EquivalentArgs, EquivalentCommand, EquivalentProblemArgs};
use crate::exit::{Exit, of_stop};
use crate::inputs::Inputs;
use crate::limits::WorkLimits;
use planforge_contract::{EquivalentDifference, EquivalentReport, ReportedDiagnostic};
use planforge_diagnostics::render::escape;
use planforge_planning::equivalence::{Difference, ProblemEquivalence, equivalent_problems};
use std::fmt::Write as _;

pub(crate) fn run(context: &Context, args: &EquivalentArgs) -> Exit {
    match &args.command {
        EquivalentCommand::Problem(args) => problem(context, args),
    }
}

fn problem(context: &Context, args: &EquivalentProblemArgs) -> Exit {
    let read = [&args.first, &args.second].map(|path| Inputs::read(&args.domain, Some(path)));
    let [first, second] = &read;
    // A damaged problem is not compared: what is left of it is another problem. That is no verdict on what was meant.
    let damaged = read.iter().any(|r| r.unreadable || r.has_errors());
    let (Some(domain), Some(a), Some(b), false) = (&first.domain, &first.problem, &second.problem, damaged)
    else {
        return unusable(context, args, &read);
    };
    let mut limits = WorkLimits::new(args.time_limit);
    let result = equivalent_problems(domain, a, b, args.max_choices, &mut limits);
    let (exit, text) = match &result {
        ProblemEquivalence::Equal { renaming } => (Exit::Good, format!("equal\n{}", pairs(renaming))),
        ProblemEquivalence::Different(difference) => (Exit::Negative, told(difference)),
        ProblemEquivalence::Undecided { choices, stopped } => {
            let reason = stopped.map_or_else(|| "the limit on pairs".to_owned(), |reason| reason.to_string());
            let exit = stopped.map_or(Exit::NodeLimit, of_stop);
            (exit, format!("undecided: {reason} was reached after {choices} pairs of objects were tried\n"))
        }
    };
    match args.json {
        true => context.output.json(&report(result)),
        false => context.output.result(&text),
    }
    exit
}

/// What is wrong with the files; what is said of the domain once.
fn unusable(context: &Context, args: &EquivalentProblemArgs, read: &[Inputs; 2]) -> Exit {
    let mut diagnostics: Vec<ReportedDiagnostic> = Vec::new();
    for inputs in read {
        for found in inputs.diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &inputs.sources)) {
            if !diagnostics.contains(&found) {
                diagnostics.push(found);
            }
        }
    }
    if args.json {
        context.output.json(&EquivalentReport {
            equivalent: false,
            decision: "undecided".to_owned(),
            renaming: Vec::new(),
            difference: None,
            diagnostics,
        });
    } else {
        for inputs in read.iter().filter(|i| i.has_errors() || i.unreadable) {
            context.output.diagnostics(&inputs.diagnostics, &inputs.sources);
        }
        context.output.result("undecided: the problems cannot be compared\n");
    }
    if read.iter().any(|r| r.unreadable) { Exit::Input } else { Exit::Undecided }
}

fn pairs(renaming: &[(String, String)]) -> String {
    let mut out = String::new();
    for (a, b) in renaming {
        let _ = writeln!(out, "  {} = {}", escape(a), escape(b));
    }
    out
}

fn told(difference: &Difference) -> String {
    let mut out = String::from(if difference.minimal {
        "different; no renaming leaves fewer facts over\n"
    } else {
        "different; under the best renaming found\n"
    });
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
    let _ = write!(out, "renaming\n{}", pairs(&difference.renaming));
    out
}

fn report(result: ProblemEquivalence) -> EquivalentReport {
    let equivalent = matches!(result, ProblemEquivalence::Equal { .. });
    let (decision, renaming, difference) = match result {
        ProblemEquivalence::Equal { renaming } => ("equal", renaming, None),
        ProblemEquivalence::Different(d) => {
            let difference = EquivalentDifference {
                missing_objects: d.missing_objects,
                extra_objects: d.extra_objects,
                missing_facts: d.missing_facts,
                extra_facts: d.extra_facts,
                minimal: d.minimal,
            };
            ("different", d.renaming, Some(difference))
        }
        ProblemEquivalence::Undecided { .. } => ("undecided", Vec::new(), None),
    };
    EquivalentReport {
        equivalent,
        decision: decision.to_owned(),
        renaming,
        difference,
        diagnostics: Vec::new(),
    }
}
