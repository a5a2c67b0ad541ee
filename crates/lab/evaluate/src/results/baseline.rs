//! Null baselines: texts that contain nothing of a task, judged by a parser, and by planning for them. A method has to be better than
//! they are.

use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{
    TaskSources, check_domain, check_problem, domain_template, parse_domain, parse_problem, problem_template,
};
use planforge_pipeline::{Suite, SuiteTask};
use planforge_planning::{
    CountingLimits, GroundLimits, PlanFile, PlanOptions, SearchOutcome, ValidationDecision, Validator,
    normalize, parse_plan, plan,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Returns true if the text is a domain and no action has an effect.
pub(super) fn is_empty_domain(text: &str) -> bool {
    let domain = parse_domain(text, SourceId(0)).value;
    domain.name.is_some() && domain.is_without_effects()
}

/// A text without content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// A copy of the template that prompts show: the interface or the objects alone.
    Skeleton,
    /// A definition with a name and nothing else.
    Empty,
    /// A copy of the in-context example's problem, under the task's domain.
    Example,
}

impl Baseline {
    pub const ALL: [Self; 3] = [Self::Skeleton, Self::Empty, Self::Example];
    /// Those without any content, of which there are domains, too.
    pub const WITHOUT_CONTENT: [Self; 2] = [Self::Skeleton, Self::Empty];

    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skeleton => "skeleton (a copy of the template)",
            Self::Empty => "empty definition",
            Self::Example => "copy of the example",
        }
    }
}

/// The answers of planforge's reader to a baseline of one suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NullBaseline {
    pub suite: String,
    pub baseline: Baseline,
    /// True if the reader finds no error in the domain; the copy of the example stands under the reference domain.
    pub domain: bool,
    /// Tasks with a reference problem.
    pub tasks: usize,
    /// Tasks for which the reader finds no error in the problem, with the reference domain.
    pub problems: usize,
    /// Tasks that a plan for the problem solves.
    #[serde(default)]
    pub solved: usize,
    /// Tasks for which a limit of search or validation was reached.
    #[serde(default)]
    pub undecided: usize,
}

/// Most search nodes, and ground actions and atoms, for the problem of a baseline.
const MAX_NODES: u64 = 10_000;
const MAX_GROUND: usize = 20_000;
/// Most bytes of a search or validation, and polls of a validation.
const LIMITS: CountingLimits = CountingLimits { polls: 10_000_000, bytes: 1 << 28 };

/// A plan for a problem; `Err` if that is not known, `Ok(None)` if there is none.
type Planned = Result<Option<PlanFile>, Undecided>;

#[derive(Debug, Clone, Copy)]
struct Undecided;

fn plan_for(domain: &Domain, problem: &Problem) -> Planned {
    let ground = GroundLimits { instances: MAX_GROUND, atoms: MAX_GROUND, ..GroundLimits::default() };
    let options = PlanOptions { max_nodes: MAX_NODES, ground, ..PlanOptions::default() };
    match plan(domain, problem, &options, &mut LIMITS.clone()).map(|result| result.outcome) {
        Ok(SearchOutcome::Plan(plan)) => Ok(Some(parse_plan(&plan.to_string(), SourceId(0)))),
        Ok(SearchOutcome::ProvenUnsolvable(_)) | Err(_) => Ok(None),
        Ok(SearchOutcome::Exhausted | SearchOutcome::LimitReached(_) | SearchOutcome::Unsupported(_)) => {
            Err(Undecided)
        }
    }
}

/// True if the plan is one of the reference problem.
fn is_valid(domain: &Domain, reference: &Problem, plan: &PlanFile) -> Result<bool, Undecided> {
    let Ok(task) = normalize(domain, reference) else { return Err(Undecided) };
    match Validator::new(task).validate_within(plan, &mut LIMITS.clone()).decision {
        ValidationDecision::Valid => Ok(true),
        ValidationDecision::Invalid => Ok(false),
        ValidationDecision::LimitReached(_) | ValidationDecision::Unsupported(_) => Err(Undecided),
    }
}

impl NullBaseline {
    /// Judges the baselines of a suite; none if it has no reference domain. `tasks` are the stems of the
    /// evaluated tasks.
    pub fn of(suite: &Suite, tasks: &[String]) -> Vec<Self> {
        let Some(reference) = suite.reference_domain.as_deref() else { return Vec::new() };
        let ids = TaskSources::default();
        let reference_text = reference;
        let reference = parse_domain(reference, ids.domain).value;
        let name = reference.name.as_ref().map_or("domain", |name| name.as_str());
        let no_errors = |found: &[Diagnostic]| !found.iter().any(Diagnostic::is_error);
        let reads_domain = |text: &str| {
            let parsed = parse_domain(text, SourceId(0));
            no_errors(&parsed.diagnostics) && no_errors(&check_domain(&parsed.value, SourceId(0)))
        };
        // The problem, if the reader finds no error in it.
        let read_problem = |text: &str| {
            let parsed = parse_problem(text, ids.problem);
            let reads =
                no_errors(&parsed.diagnostics) && no_errors(&check_problem(&reference, &parsed.value, ids));
            reads.then_some(parsed.value)
        };
        let own: Vec<(&SuiteTask, &str)> = suite
            .tasks
            .iter()
            .filter(|task| tasks.contains(&task.stem))
            .filter_map(|task| Some((task, task.reference_problem.as_deref()?)))
            .collect();
        let example = suite.example.as_ref().and_then(|example| example.problem.as_deref());
        let judge = |baseline: Baseline| {
            let domain = match (baseline, &suite.domain_template) {
                (Baseline::Empty, _) => format!("(define (domain {name}))"),
                (Baseline::Skeleton, Some(template)) => template.clone(),
                (Baseline::Skeleton, None) => domain_template(&reference),
                (Baseline::Example, _) => reference_text.to_owned(),
            };
            let mut counts = Self {
                suite: suite.name.clone(),
                baseline,
                domain: reads_domain(&domain),
                tasks: own.len(),
                problems: 0,
                solved: 0,
                undecided: 0,
            };
            // Tasks often share a text, and then a plan.
            let mut plans: BTreeMap<String, Option<Planned>> = BTreeMap::new();
            for (task, written) in &own {
                let reference_problem = parse_problem(written, ids.problem).value;
                let text = match (baseline, &task.objects_template) {
                    (Baseline::Empty, _) => format!("(define (problem none) (:domain {name}))"),
                    (Baseline::Skeleton, Some(template)) => template.clone(),
                    (Baseline::Skeleton, None) => problem_template(&reference_problem),
                    (Baseline::Example, _) => example?.to_owned(),
                };
                let planned = plans.entry(text).or_insert_with_key(|text| {
                    read_problem(text).map(|problem| plan_for(&reference, &problem))
                });
                let Some(planned) = planned else { continue };
                counts.problems += 1;
                let solved = match planned {
                    Ok(Some(plan)) => is_valid(&reference, &reference_problem, plan),
                    Ok(None) => Ok(false),
                    Err(undecided) => Err(*undecided),
                };
                match solved {
                    Ok(solved) => counts.solved += usize::from(solved),
                    Err(Undecided) => counts.undecided += 1,
                }
            }
            Some(counts)
        };
        Baseline::ALL.into_iter().filter_map(judge).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn a_parser_accepts_a_copy_of_the_template_and_an_empty_definition() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/suites/garden");
        let suite = planforge_pipeline::load_leniently(folder.as_ref()).suite.unwrap();
        let found = NullBaseline::of(&suite, &["p01".to_owned(), "p02".to_owned()]);
        let [skeleton, empty, example] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((skeleton.baseline, skeleton.domain, skeleton.tasks), (Baseline::Skeleton, true, 2));
        assert_eq!((empty.baseline, empty.domain), (Baseline::Empty, true));
        assert_eq!((example.baseline, example.problems), (Baseline::Example, 2));
        assert!(
            is_empty_domain("(define (domain garden))")
                && is_empty_domain(suite.domain_template.as_ref().unwrap())
        );
        assert!(!is_empty_domain(suite.reference_domain.as_ref().unwrap()) && !is_empty_domain("Sorry."));
    }

    #[test]
    fn a_copy_of_the_example_solves_only_tasks_that_its_plan_solves() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/suites/garden");
        let mut suite = planforge_pipeline::load_leniently(folder.as_ref()).suite.unwrap();
        let tasks = ["p01".to_owned(), "p02".to_owned()];
        let counts = |suite: &Suite| {
            NullBaseline::of(suite, &tasks).iter().map(|own| (own.solved, own.undecided)).collect::<Vec<_>>()
        };
        assert_eq!(counts(&suite), [(0, 0); 3]);
        // An example that is the first task gives its solution away.
        suite.example.as_mut().unwrap().problem = suite.tasks[0].reference_problem.clone();
        assert_eq!(counts(&suite)[2], (1, 0));
        suite.example = None;
        assert_eq!(counts(&suite).len(), 2);
    }
}
