//! Names in a plan file to ground actions, with a finding for each that is wrong.

use super::MAX_REPORTED;
use crate::lifted::LiftedTask;
use crate::plan_file::{FileStep, PlanFile, PlanToken};
use crate::task::{GroundAction, ObjectId};
use planforge_diagnostics::{Diagnostic, SourceId};
use rustc_hash::FxHashMap;

/// Names of a task by their lower-case text.
pub(crate) struct Names {
    actions: FxHashMap<String, u32>,
    objects: FxHashMap<String, ObjectId>,
}

impl Names {
    pub(crate) fn new(task: &LiftedTask) -> Self {
        let index = |names: &[String]| {
            names.iter().enumerate().rev().map(|(i, n)| (n.to_lowercase(), i as u32)).collect()
        };
        Names { actions: index(&task.symbols.actions), objects: index(&task.symbols.objects) }
    }

    pub(crate) fn object(&self, name: &str) -> Option<ObjectId> {
        find(&self.objects, name).copied()
    }

    /// The ground action of each step, `None` where the step has a fault.
    pub(crate) fn resolve(
        &self,
        task: &LiftedTask,
        file: &PlanFile,
        source: SourceId,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<Option<GroundAction>> {
        let mut faulty = 0;
        let mut omitted = None;
        let steps = file.steps.iter().map(|step| {
            let before = diagnostics.len();
            let action = self.step(task, step, source, diagnostics);
            faulty += usize::from(action.is_none());
            if action.is_none() && faulty > MAX_REPORTED {
                omitted = omitted.take().or_else(|| diagnostics.get(before).map(|first| first.code.clone()));
                diagnostics.truncate(before);
            }
            action
        });
        let steps = steps.collect();
        let more = faulty.saturating_sub(MAX_REPORTED);
        if more > 0 {
            let message = format!("{more} more steps are not steps of the task");
            let mut rest = Diagnostic::error("plan.garbage", message).help("correct the first ones");
            // The code of the findings that are left out.
            rest.code = omitted.unwrap_or(rest.code);
            diagnostics.push(rest);
        }
        steps
    }

    fn step(
        &self,
        task: &LiftedTask,
        step: &FileStep,
        source: SourceId,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<GroundAction> {
        let name = &step.name.text;
        let Some(&action) = find(&self.actions, name) else {
            if step.bare && !step.args.iter().any(|a| find(&self.objects, &a.text).is_some()) {
                let fault = Diagnostic::error("plan.garbage", "this line is not a plan step");
                let fault = fault.at(source, step.span, "no action of the domain has this name");
                diagnostics.push(fault.help("write one step a line: (action argument ...)"));
            } else {
                let fault =
                    Diagnostic::error("plan.unknown-action", format!("the domain has no action {name}"));
                diagnostics.push(with_nearest(
                    fault.at(source, step.name.span, ""),
                    name,
                    &task.symbols.actions,
                ));
            }
            return None;
        };
        let schema = task.schema(action);
        if schema.parameters != step.args.len() {
            let parameters: Vec<&str> =
                schema.variables[..schema.parameters].iter().map(|v| v.name.as_str()).collect();
            diagnostics.push(
                Diagnostic::error(
                    "plan.arity",
                    format!(
                        "{name} takes {} arguments, this step has {}",
                        schema.parameters,
                        step.args.len()
                    ),
                )
                .at(source, step.span, "")
                .also(crate::task::TaskText::Domain.source(), schema.span, "the action's definition")
                .help(format!("its parameters are {}", parameters.join(" "))),
            );
            return None;
        }
        let args: Vec<Option<ObjectId>> = step
            .args
            .iter()
            .zip(&schema.variables)
            .map(|(word, variable)| self.argument(task, word, variable, source, diagnostics))
            .collect();
        let args = args.into_iter().collect::<Option<Box<[ObjectId]>>>()?;
        Some(GroundAction { action, args })
    }

    fn argument(
        &self,
        task: &LiftedTask,
        word: &PlanToken,
        variable: &crate::lifted::Variable,
        source: SourceId,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<ObjectId> {
        let Some(&object) = find(&self.objects, &word.text) else {
            let fault = Diagnostic::error("plan.unknown-object", format!("there is no object {}", word.text));
            diagnostics.push(with_nearest(
                fault.at(source, word.span, ""),
                &word.text,
                &task.symbols.objects,
            ));
            return None;
        };
        if variable.objects.binary_search(&object).is_err() {
            diagnostics.push(
                Diagnostic::error(
                    "plan.type-mismatch",
                    format!(
                        "{} is of type {}, but {} must be of type {}",
                        word.text, task.object_types[object as usize], variable.name, variable.type_name
                    ),
                )
                .at(source, word.span, ""),
            );
            return None;
        }
        Some(object)
    }
}

/// Looks up a name without regard to case.
fn find<'m>(names: &'m FxHashMap<String, u32>, name: &str) -> Option<&'m u32> {
    if name.bytes().any(|b| b.is_ascii_uppercase() || !b.is_ascii()) {
        return names.get(&name.to_lowercase());
    }
    names.get(name)
}

/// Longest name, in bytes, for which a near one is searched.
const NEAR_NAME_BYTES: usize = 64;

/// Adds the nearest name, where one is near.
fn with_nearest(diagnostic: Diagnostic, name: &str, names: &[String]) -> Diagnostic {
    if name.len() > NEAR_NAME_BYTES {
        return diagnostic;
    }
    let name = name.to_lowercase();
    let most = 1 + name.chars().count() / 4;
    let near = names.iter().filter(|n| n.len() <= 2 * NEAR_NAME_BYTES);
    let nearest = near.map(|n| (distance(&name, &n.to_lowercase()), n)).min_by_key(|(d, _)| *d);
    match nearest {
        Some((d, candidate)) if d <= most => diagnostic.help(format!("did you mean {candidate}?")),
        _ => diagnostic,
    }
}

/// Edit distance; two letters swapped count as one edit.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: [Vec<usize>; 3] = [Vec::new(), (0..=b.len()).collect(), vec![0; b.len() + 1]];
    rows[0].resize(b.len() + 1, 0);
    for i in 1..=a.len() {
        rows[2][0] = i;
        for j in 1..=b.len() {
            let substituted = rows[1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(rows[1][j] + 1).min(rows[2][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[0][j - 2] + 1);
            }
            rows[2][j] = best;
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}
