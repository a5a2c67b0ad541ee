//! The plans that a program left: `sas_plan`, `sas_plan.1`, ..., pyperplan's `problem.pddl.soln`, or K*'s printed list.

use crate::external::codes;
use crate::external::presets::Preset;
use planforge_contract::{Failure, FailureClass, PlanDocument};
use planforge_diagnostics::SourceId;
use planforge_planning::parse_plan;
use std::io::Read;
use std::path::Path;

/// The source of the plan, next to domain and problem.
pub(crate) const PLAN: SourceId = SourceId(2);

/// Reads every plan that the program left, best first: by cost if all have one, else the last written first,
/// because planners write better ones later.
///
/// A program that was killed may have been writing a plan; an unreadable plan is then left out.
///
/// # Errors
/// A file that cannot be read or is not a plan; all files together are larger than `most` bytes.
pub(crate) fn collect(
    folder: &Path,
    preset: Option<Preset>,
    stdout: &str,
    most: u64,
    killed: bool,
) -> Result<Vec<PlanDocument>, Failure> {
    let mut plans = match preset {
        Some(Preset::KStar) => printed_plans(stdout)?,
        _ => files(folder, most, killed)?,
    };
    plans.reverse();
    if plans.iter().all(|p| p.cost.is_some()) {
        plans.sort_by(|a, b| a.cost.unwrap_or(f64::NAN).total_cmp(&b.cost.unwrap_or(f64::NAN)));
    }
    Ok(plans)
}

/// The plan files in the order of their numbers.
fn files(folder: &Path, most: u64, killed: bool) -> Result<Vec<PlanDocument>, Failure> {
    let unreadable = |e: std::io::Error| {
        Failure::new(FailureClass::System, codes::FOLDER, format!("{}: {e}", folder.display()))
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        // Looked at without following links: a program may not point us elsewhere.
        let plain = entry.file_type().map_err(unreadable)?.is_file();
        if let Some(number) = entry.file_name().to_str().and_then(number_of).filter(|_| plain) {
            found.push((number, entry.path()));
        }
    }
    found.sort();
    let mut left = most;
    let mut plans = Vec::with_capacity(found.len());
    for (_, path) in found {
        let mut bytes = Vec::new();
        let file = std::fs::File::open(&path).map_err(unreadable)?;
        file.take(left + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
            let message = format!("the plan files are larger than {most} bytes together");
            Failure::new(FailureClass::Plugin, codes::FLOODED, message)
        })?;
        match read(&String::from_utf8_lossy(&bytes)) {
            Err(_) if killed => {}
            plan => plans.push(plan?),
        }
    }
    Ok(plans)
}

/// `sas_plan` is 0, `sas_plan.7` is 7.
fn number_of(name: &str) -> Option<u64> {
    match name {
        "sas_plan" | "problem.pddl.soln" => Some(0),
        _ => name.strip_prefix("sas_plan.")?.parse().ok(),
    }
}

/// Reads one plan file. A line that is not a step is an error: without it the plan would be another one.
fn read(text: &str) -> Result<PlanDocument, Failure> {
    let file = parse_plan(text, PLAN);
    // A warning is enough: a parenthesis that is missing means that the file was cut off.
    if let Some(found) = file.diagnostics.first() {
        let message = format!("the program left an unreadable plan file: {}", found.message);
        return Err(Failure::new(FailureClass::Plugin, codes::NO_PLAN_FILE, message));
    }
    if let Some(step) = file.steps.iter().find(|s| s.bare) {
        let message =
            format!("the program left a plan file with a line that is not a step: `{}`", step.name.text);
        return Err(Failure::new(FailureClass::Plugin, codes::NO_PLAN_FILE, message));
    }
    let step = |s: &planforge_planning::FileStep| {
        let words: Vec<&str> = std::iter::once(&s.name).chain(&s.args).map(|w| w.text.as_str()).collect();
        format!("({})", words.join(" "))
    };
    let cost = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("; cost = ")?.split_whitespace().next()?.parse().ok());
    Ok(PlanDocument { steps: file.steps.iter().map(step).collect(), cost, ..PlanDocument::default() })
}

/// K*'s list: `Plan 1, of cost 6`, then `1. (unstack b1 b3)`.
fn printed_plans(stdout: &str) -> Result<Vec<PlanDocument>, Failure> {
    let mut plans: Vec<PlanDocument> = Vec::new();
    for line in stdout.lines().map(str::trim) {
        if let Some((_, cost)) = line.strip_prefix("Plan ").and_then(|rest| rest.split_once(", of cost ")) {
            plans.push(PlanDocument {
                steps: Vec::new(),
                cost: cost.trim().parse().ok(),
                ..PlanDocument::default()
            });
        } else if let (Some((number, step)), Some(plan)) = (line.split_once(". "), plans.last_mut())
            && number.parse::<usize>() == Ok(plan.steps.len() + 1)
        {
            plan.steps.extend(read(step)?.steps);
        }
    }
    Ok(plans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_files_are_read_best_first_and_others_are_left() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("sas_plan.1", "(a x)\n(b)\n; cost = 20 (general cost)\n");
        write("sas_plan.10", "(c)\n; cost = 3 (unit cost)\n");
        write("sas_plan.2", "(d)\n; cost = 7 (unit cost)\n");
        write("output.sas", "begin_version");
        let plans = collect(folder.path(), Some(Preset::FastDownward), "", 1000, false).unwrap();
        let costs: Vec<Option<f64>> = plans.iter().map(|p| p.cost).collect();
        assert_eq!(costs, [Some(3.0), Some(7.0), Some(20.0)]);
        assert_eq!(plans[2].steps, ["(a x)", "(b)"]);
        assert_eq!(collect(folder.path(), None, "", 30, false).unwrap_err().code, codes::FLOODED);
        write("sas_plan.3", "(e)\n");
        let plans = collect(folder.path(), None, "", 1000, false).unwrap();
        assert_eq!(plans[0].steps, ["(c)"], "without all costs the last written is the first");
        write("sas_plan.11", "(c)\n(cut");
        assert_eq!(collect(folder.path(), None, "", 1000, true).unwrap(), plans);
        assert_eq!(collect(folder.path(), None, "", 1000, false).unwrap_err().code, codes::NO_PLAN_FILE);
    }

    #[test]
    fn rubbish_is_no_plan() {
        for text in ["(a", "found a plan: (a)", "no plan", "\0\0"] {
            assert_eq!(read(text).unwrap_err().code, codes::NO_PLAN_FILE, "{text:?}");
        }
        assert_eq!(read("; nothing to do\n").unwrap(), PlanDocument::default());
    }

    #[test]
    fn the_printed_list_is_read() {
        let text = "Plan 1, of cost 2\n1. (a x)\n2. (b)\n\nPlan 2, of cost 4\n1. (c)\nnoise\n2. (d)\n3. (c)\n4. (d)\n";
        let plans = collect(Path::new("/nowhere"), Some(Preset::KStar), text, 0, false).unwrap();
        assert_eq!(plans.len(), 2);
        assert_eq!((plans[0].cost, plans[0].steps.len()), (Some(2.0), 2));
        assert_eq!(plans[1].steps, ["(c)", "(d)", "(c)", "(d)"]);
    }
}
