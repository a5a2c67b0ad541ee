//! The report of `planforge pddl equivalent domain` as text.

use planforge_contract::HeuristicEquivalence;
use planforge_diagnostics::render::escape;
use planforge_plugin_common::judging::reports::{ComparedProblem, DomainEquivalentReport, MatchedInterface};
use std::fmt::Write as _;

pub(super) fn text(report: &DomainEquivalentReport) -> String {
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
