//! Problems inferred with a knowledge file, compared with the references.

use crate::context::Context;
use crate::inference::Inferrer;
use planforge_contract::{Candidate, Failure, FailureClass, Given, Materials, TaskView, TranslateRequest};
use planforge_diagnostics::SourceId;
use planforge_diagnostics::render::escape;
use planforge_evaluate::{Align, Table};
use planforge_pipeline::{Suite, SuiteTask};
use planforge_planning::Unlimited;
use planforge_planning::equivalence::{ProblemDifference, ProblemEquivalence, equivalent_problems};
use planforge_translator_asp::LearnResult;
use serde::Serialize;
use std::fmt::Write as _;

/// Most pairs of objects tried in a comparison.
const MOST_CHOICES: u64 = 1_000_000;
/// Facts that a difference names before it counts the rest.
const NAMED: usize = 3;

/// The part of a task in learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TaskRole {
    Learned,
    HeldBack,
}

/// The comparison of an inferred problem with the reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", content = "why", rename_all = "kebab-case")]
pub(super) enum Comparison {
    Equivalent,
    Different(String),
    /// No problem follows.
    Refused(String),
    Undecided,
}

impl Comparison {
    fn word(&self) -> &'static str {
        match self {
            Self::Equivalent => "equivalent",
            Self::Different(_) => "different",
            Self::Refused(_) => "refused",
            Self::Undecided => "undecided",
        }
    }
}

/// The results of one task; empty without a representation.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TaskResult {
    task: String,
    role: TaskRole,
    /// With the declarations alone.
    without_rules: Option<Comparison>,
    /// With the learned knowledge file.
    learned: Option<Comparison>,
    /// With the suite's own knowledge file.
    own_file: Option<Comparison>,
}

/// The result of the command.
#[derive(Debug, Clone, Serialize)]
pub(super) struct KnowledgeReport {
    pub(super) suite: String,
    /// The origin of the representations.
    pub(super) representations: String,
    /// The learned file.
    pub(super) knowledge: String,
    #[serde(flatten)]
    pub(super) result: LearnResult,
    pub(super) tasks: Vec<TaskResult>,
}

/// Infers and compares.
pub(super) struct Judge<'a> {
    pub(super) context: &'a Context,
    pub(super) suite: &'a Suite,
    pub(super) inferrer: &'a Inferrer,
}

impl Judge<'_> {
    pub(super) fn task(
        &self,
        task: &SuiteTask,
        role: TaskRole,
        representation: Option<&str>,
        knowledge: &str,
        result: &LearnResult,
    ) -> Result<TaskResult, Failure> {
        let declarations = result.declarations.join("\n");
        let compare = |knowledge: Option<&str>| {
            let (Some(representation), Some(knowledge)) = (representation, knowledge) else {
                return Ok(None);
            };
            self.compare(task, representation, knowledge).map(Some)
        };
        Ok(TaskResult {
            task: task.stem.clone(),
            role,
            without_rules: compare(Some(&declarations))?,
            learned: compare(Some(knowledge))?,
            own_file: compare(self.suite.knowledge.as_deref())?,
        })
    }

    fn compare(
        &self,
        task: &SuiteTask,
        representation: &str,
        knowledge: &str,
    ) -> Result<Comparison, Failure> {
        let domain = self.suite.reference_domain.clone();
        let request = TranslateRequest {
            task: TaskView {
                suite: self.suite.name.clone(),
                task: task.stem.clone(),
                given: Given { domain: domain.clone(), problem: None },
                materials: Materials { knowledge: Some(knowledge.to_owned()), ..Materials::default() },
                ..TaskView::default()
            },
            candidate: Candidate {
                texts: [("ir", representation.to_owned())].into_iter().collect(),
                ..Candidate::default()
            },
            n: 1,
            ..TranslateRequest::default()
        };
        let inferred = match self.inferrer.call(self.context, &request) {
            Ok(patch) => patch.problem.unwrap_or_default(),
            Err(failure) if matches!(failure.class, FailureClass::Reply | FailureClass::Limit) => {
                return Ok(Comparison::Refused(failure.message));
            }
            // A name that only this representation has makes no knowledge file wrong; a rule about it does.
            Err(failure) => return Err(failure),
        };
        let parse = |text: &str| planforge_pddl::parse_problem(text, SourceId(0)).value;
        let domain = planforge_pddl::parse_domain(&domain.unwrap_or_default(), SourceId(0)).value;
        let reference = parse(task.reference_problem.as_deref().unwrap_or_default());
        Ok(match equivalent_problems(&domain, &reference, &parse(&inferred), MOST_CHOICES, &mut Unlimited) {
            ProblemEquivalence::Equal { .. } => Comparison::Equivalent,
            ProblemEquivalence::Different(found) => Comparison::Different(difference_text(&found)),
            ProblemEquivalence::Undecided { .. } => Comparison::Undecided,
        })
    }
}

/// The difference of a reference from an inferred problem.
fn difference_text(found: &ProblemDifference) -> String {
    let list = |what: &str, items: &[String]| match items.len() {
        0 => None,
        n if n > NAMED => Some(format!("{what} {} and {} more", items[..NAMED].join(", "), n - NAMED)),
        _ => Some(format!("{what} {}", items.join(", "))),
    };
    let parts = [
        list("missing objects", &found.missing_objects),
        list("extra objects", &found.extra_objects),
        list("missing", &found.missing_facts),
        list("extra", &found.extra_facts),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

impl KnowledgeReport {
    /// The held-back tasks with a representation.
    fn held_back(&self) -> impl Iterator<Item = &TaskResult> {
        self.tasks.iter().filter(|task| task.role == TaskRole::HeldBack && task.learned.is_some())
    }

    pub(super) fn all_held_back_are_equivalent(&self) -> bool {
        self.held_back().all(|task| task.learned == Some(Comparison::Equivalent))
    }

    pub(super) fn text(&self) -> String {
        let good = |of: fn(&TaskResult) -> &Option<Comparison>| {
            self.held_back().filter(|task| *of(task) == Some(Comparison::Equivalent)).count()
        };
        let own_file = match self.tasks.iter().any(|task| task.own_file.is_some()) {
            true => format!(", {} with the suite's knowledge file", good(|task| &task.own_file)),
            false => String::new(),
        };
        let mut out = format!(
            "{}: {} of {} held-back tasks are equivalent to their reference with the learned rules, {} without rules{own_file}\n",
            escape(&self.suite),
            good(|task| &task.learned),
            self.held_back().count(),
            good(|task| &task.without_rules),
        );
        let _ = writeln!(out, "representations: {}\n\n{}", self.representations, self.knowledge);
        let words =
            |comparison: &Option<Comparison>| comparison.as_ref().map_or("-", Comparison::word).to_owned();
        let columns = ["task", "role", "without rules", "learned rules", "suite's file"];
        let mut table = Table::new(columns.map(|name| (name, Align::Left)));
        for task in &self.tasks {
            let role = if task.role == TaskRole::Learned { "learned from" } else { "held back" };
            table.row([
                escape(&task.task).to_string(),
                role.to_owned(),
                words(&task.without_rules),
                words(&task.learned),
                words(&task.own_file),
            ]);
        }
        out.push_str(&table.text());
        self.push_failures(&mut out);
        out
    }

    fn push_failures(&self, out: &mut String) {
        let learned = &self.result.learned;
        for task in &self.tasks {
            if let Some(Comparison::Different(why) | Comparison::Refused(why)) = &task.learned {
                let _ = writeln!(out, "\n{}: {}", escape(&task.task), escape(why));
            }
        }
        for pair in &self.result.pairs {
            if let Some(why) = &pair.refused {
                let _ = writeln!(out, "\n{} was not used: {}", escape(&pair.name), escape(why));
            }
            if !pair.contradicted.is_empty() {
                let first = escape(&pair.contradicted[0]);
                let count = pair.contradicted.len();
                let _ = writeln!(
                    out,
                    "\n{}: {count} facts of its representation are not in the reference, such as {first}",
                    escape(&pair.name)
                );
            }
        }
        for open in &learned.unexplained {
            let _ = writeln!(
                out,
                "\nno rules for {}: {} facts missing, {} of them explained; for example {}",
                open.conclusion, open.missing, open.explained, open.fact
            );
        }
        for cut in &learned.cut {
            let _ = writeln!(out, "\nnot tried: {cut}");
        }
        let _ = writeln!(out, "\n{} rules tried", learned.candidates);
    }
}
