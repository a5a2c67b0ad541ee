//! The shipped pipelines that a suite can serve, and the files that the others miss.

use planforge_diagnostics::SourceId;
use planforge_pddl::{TaskSources, parse_domain, parse_problem, requirements_used};
use planforge_pipeline::Suite;
use serde::Serialize;

/// Pipelines with the same needs, and what a suite lacks for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PipelineNeeds {
    /// The pipelines of `configs/pipelines`, by file stem.
    pub pipelines: &'static [&'static str],
    /// Files without which they cannot run.
    pub missing: Vec<String>,
    /// Files that they use if there are any, each with what happens without it.
    pub without: Vec<String>,
}

/// A part of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Tasks,
    Texts,
    Domain,
    Problems,
    Interface,
    Example,
    ExamplePlan,
    Representation,
    Knowledge,
    Descriptions,
    /// A reference, if there is one, that the environment simulates.
    Simulated,
}

use Part::{
    Descriptions, Domain, Example, ExamplePlan, Interface, Knowledge, Problems, Representation, Simulated,
    Tasks, Texts,
};

/// Pipelines, the parts that they need, and those that they use, with the consequence of their absence.
type Family = (&'static [&'static str], &'static [Part], &'static [(Part, &'static str)]);

const UNJUDGED: (Part, &str) = (Problems, "nothing judges the result");
const UNSIMULATED: (Part, &str) = (Simulated, "the environment neither walks nor judges plans");
const NAMES: &str = "the model chooses the names of the actions";

const FAMILIES: [Family; 11] = [
    (&["solve"], &[Tasks, Texts], &[]),
    (
        &["llm-p"],
        &[Tasks, Texts, Domain],
        &[UNJUDGED, UNSIMULATED, (Example, "requests have no example (zero-shot)")],
    ),
    (
        &["tic-ic", "tic-g3", "tic-g1"],
        &[Tasks, Texts, Domain],
        &[
            UNJUDGED,
            UNSIMULATED,
            (Representation, "tic-ic has no example"),
            (Knowledge, "nothing completes what the texts leave out"),
        ],
    ),
    (
        &["pd-chain", "pd-search", "pd-tree", "pd-tree-domprop", "pd-tree-joint"],
        &[Tasks, Texts, Interface, Simulated],
        &[UNJUDGED],
    ),
    (
        &[
            "bon",
            "bon-clusters",
            "bon-fan-out",
            "bon-ivml",
            "bon-ivml-budget",
            "bon-ivml-critics",
            "bon-ivml-fan-out",
            "ivml-single",
        ],
        &[Tasks, Texts],
        &[(Interface, NAMES), (Problems, "there is no plan, and nothing judges the domain"), UNSIMULATED],
    ),
    (&["bon-ivml-problem"], &[Tasks, Texts, Domain], &[UNJUDGED, UNSIMULATED]),
    (&["bon-prob2domain", "bon-ivml-prob2domain"], &[Tasks, Domain, Problems], &[UNSIMULATED]),
    (&["describe"], &[Tasks, Domain, Problems], &[]),
    (
        &["actions", "actions-corrective", "actions-grown"],
        &[Tasks, Domain, Simulated],
        &[UNJUDGED, (Descriptions, "descriptions are made from names and types alone")],
    ),
    (
        &["actions-whole"],
        &[Tasks, Domain, Problems, Simulated],
        &[(Descriptions, "descriptions are made from names and types alone")],
    ),
    (
        &["intrinsic", "intrinsic-cot", "intrinsic-pass1", "intrinsic-pass8", "intrinsic-self-critique"],
        &[Tasks, Texts],
        &[
            (Interface, NAMES),
            UNJUDGED,
            UNSIMULATED,
            (ExamplePlan, "intrinsic and intrinsic-cot have no example"),
        ],
    ),
];

/// The needs of the shipped pipelines for one suite.
pub(super) fn needs(suite: &Suite) -> Vec<PipelineNeeds> {
    FAMILIES
        .iter()
        .map(|(pipelines, needs, uses)| PipelineNeeds {
            pipelines,
            missing: needs.iter().filter_map(|part| part.missing(suite)).collect(),
            without: uses
                .iter()
                .filter_map(|(part, then)| Some(format!("{}: {then}", part.missing(suite)?)))
                .collect(),
        })
        .collect()
}

impl Part {
    /// The files of this part that the suite lacks; `None` if it has all of them.
    fn missing(self, suite: &Suite) -> Option<String> {
        let unless = |there: bool, files: &str| (!there).then(|| files.to_owned());
        let tasks = |file: &str, has: &dyn Fn(&planforge_pipeline::SuiteTask) -> bool| {
            let lacks: Vec<String> = suite
                .tasks
                .iter()
                .filter(|task| !has(task))
                .map(|task| format!("{}.{file}", task.stem))
                .collect();
            match lacks.as_slice() {
                [] => None,
                [one] => Some(one.clone()),
                [one, rest @ ..] => Some(format!("{one} and {} more", rest.len())),
            }
        };
        let example = suite.example.as_ref();
        match self {
            Self::Tasks => unless(!suite.tasks.is_empty(), "tasks"),
            Self::Texts => tasks("nl", &|task| !task.text.trim().is_empty()),
            Self::Domain => unless(suite.reference_domain.is_some(), "domain.pddl"),
            Self::Problems => tasks("pddl", &|task| task.reference_problem.is_some()),
            Self::Interface => {
                let lacks = Self::Domain.missing(suite)?;
                Some(format!("{lacks}, or an environment that describes the actions"))
            }
            Self::Example => unless(
                example.is_some_and(|example| example.problem.is_some()),
                "p_example.nl and p_example.pddl",
            ),
            Self::ExamplePlan => unless(
                example.is_some_and(|example| example.plan.is_some()),
                "p_example.nl and p_example.sol",
            ),
            Self::Representation => {
                unless(example.is_some_and(|example| example.ir.is_some()), "p_example.nl and p_example.lp")
            }
            Self::Knowledge => unless(suite.knowledge.is_some(), "knowledge.lp"),
            Self::Descriptions => unless(
                !suite.action_texts.is_empty() || !suite.sentences.is_empty(),
                "actions.toml and sentences.toml",
            ),
            Self::Simulated => not_simulated(suite),
        }
    }
}

/// What the reference would need to be for the environment to simulate it; `None` if it is.
fn not_simulated(suite: &Suite) -> Option<String> {
    let domain = parse_domain(suite.reference_domain.as_ref()?, SourceId(0)).value;
    if !domain.durative_actions.is_empty() {
        return Some("instantaneous actions".to_owned());
    }
    let uses = |task: &planforge_pipeline::SuiteTask| {
        let problem = parse_problem(task.reference_problem.as_ref()?, SourceId(1)).value;
        let used = requirements_used(&domain, &problem, TaskSources::default());
        let is_used = |name: &str| used.iter().any(|used| used.requirement == name);
        BEYOND.iter().find(|(name, _)| is_used(name)).map(|(_, what)| *what)
    };
    suite.tasks.iter().find_map(uses).map(|what| format!("tasks without {what}"))
}

/// Requirements of tasks that the environment does not simulate.
const BEYOND: [(&str, &str); 3] = [
    (":timed-initial-literals", "timed initial literals"),
    (":preferences", "preferences"),
    (":constraints", "trajectory constraints"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Each shipped pipeline is listed once, and its `[given]` agrees with the parts that the list names.
    #[test]
    fn the_list_has_every_shipped_pipeline_with_what_it_is_given() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../configs/pipelines");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut stems = BTreeSet::new();
        for file in files {
            let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&file).unwrap();
            let pipeline = toml::from_str::<toml::Table>(&text).unwrap();
            let given = pipeline.get("given").cloned().unwrap_or(toml::Table::new().into());
            let set = |key: &str| given.get(key).and_then(toml::Value::as_bool);
            let (_, needs, uses) = FAMILIES
                .iter()
                .find(|(names, ..)| names.contains(&stem.as_str()))
                .unwrap_or_else(|| panic!("{stem}"));
            let texts = set("text").unwrap_or(true) && given.get("actions").is_none() && stem != "describe";
            assert_eq!(needs.contains(&Texts), texts, "{stem}");
            assert!(set("domain") != Some(true) || needs.contains(&Domain), "{stem}");
            let uses_problems = uses.iter().any(|(part, _)| *part == Problems);
            assert!(set("problem") != Some(true) || needs.contains(&Problems) || uses_problems, "{stem}");
            assert_eq!(
                given.get("actions").is_some(),
                uses.iter().any(|(part, _)| *part == Descriptions),
                "{stem}"
            );
            stems.insert(stem);
        }
        let listed: BTreeSet<String> =
            FAMILIES.iter().flat_map(|(names, ..)| *names).map(|name| (*name).to_owned()).collect();
        assert_eq!(listed, stems);
        assert_eq!(FAMILIES.iter().map(|(names, ..)| names.len()).sum::<usize>(), stems.len(), "each once");
    }
}
