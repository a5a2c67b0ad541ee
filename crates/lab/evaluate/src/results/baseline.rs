//! Null baselines: texts that contain nothing of a task, judged by a parser. A method that rests on parsing has
//! to be better than they are.

use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::{
    TaskSources, check_domain, check_problem, domain_template, parse_domain, parse_problem, problem_template,
};
use planforge_pipeline::Suite;
use serde::{Deserialize, Serialize};

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
}

impl Baseline {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Skeleton, Self::Empty];

    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skeleton => "skeleton (a copy of the template)",
            Self::Empty => "empty definition",
        }
    }
}

/// The answers of planforge's reader to a baseline of one suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NullBaseline {
    pub suite: String,
    pub baseline: Baseline,
    /// True if the reader finds no error in the domain.
    pub domain: bool,
    /// Tasks with a reference problem.
    pub tasks: usize,
    /// Tasks for which the reader finds no error in the problem, with the reference domain.
    pub problems: usize,
}

impl NullBaseline {
    /// Judges the baselines of a suite; none if it has no reference domain. `tasks` are the stems of the
    /// evaluated tasks.
    pub fn of(suite: &Suite, tasks: &[String]) -> Vec<Self> {
        let Some(reference) = suite.reference_domain.as_deref() else { return Vec::new() };
        let ids = TaskSources::default();
        let reference = parse_domain(reference, ids.domain).value;
        let name = reference.name.as_ref().map_or("domain", |name| name.as_str());
        let no_errors = |found: &[Diagnostic]| !found.iter().any(Diagnostic::is_error);
        let reads_domain = |text: &str| {
            let parsed = parse_domain(text, SourceId(0));
            no_errors(&parsed.diagnostics) && no_errors(&check_domain(&parsed.value, SourceId(0)))
        };
        let reads_problem = |text: &str| {
            let parsed = parse_problem(text, ids.problem);
            no_errors(&parsed.diagnostics) && no_errors(&check_problem(&reference, &parsed.value, ids))
        };
        let problems: Vec<(Option<&str>, &str)> = suite
            .tasks
            .iter()
            .filter(|task| tasks.contains(&task.stem))
            .filter_map(|task| Some((task.objects_template.as_deref(), task.reference_problem.as_deref()?)))
            .collect();
        let judge = |baseline: Baseline| {
            let domain = match (baseline, &suite.domain_template) {
                (Baseline::Empty, _) => format!("(define (domain {name}))"),
                (Baseline::Skeleton, Some(template)) => template.clone(),
                (Baseline::Skeleton, None) => domain_template(&reference),
            };
            let problem = |(template, written): &&(Option<&str>, &str)| {
                reads_problem(&match (baseline, template) {
                    (Baseline::Empty, _) => format!("(define (problem none) (:domain {name}))"),
                    (Baseline::Skeleton, Some(template)) => (*template).to_owned(),
                    (Baseline::Skeleton, None) => {
                        problem_template(&parse_problem(written, ids.problem).value)
                    }
                })
            };
            Self {
                suite: suite.name.clone(),
                baseline,
                domain: reads_domain(&domain),
                tasks: problems.len(),
                problems: problems.iter().filter(problem).count(),
            }
        };
        Baseline::ALL.map(judge).to_vec()
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
        let [skeleton, empty] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((skeleton.baseline, skeleton.domain, skeleton.tasks), (Baseline::Skeleton, true, 2));
        assert_eq!((empty.baseline, empty.domain), (Baseline::Empty, true));
        assert!(
            is_empty_domain("(define (domain garden))")
                && is_empty_domain(suite.domain_template.as_ref().unwrap())
        );
        assert!(!is_empty_domain(suite.reference_domain.as_ref().unwrap()) && !is_empty_domain("Sorry."));
    }
}
