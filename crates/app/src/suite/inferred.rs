//! Problems inferred from representations, compared with the references of a suite's tasks.

use crate::context::Context;
use crate::inference::Inferrer;
use crate::limits::RequestLimits;
use planforge_contract::{Candidate, Failure, FailureClass, Given, Materials, TaskView, TranslateRequest};
use planforge_diagnostics::SourceId;
use planforge_pipeline::{Suite, SuiteTask};
use planforge_planning::equivalence::{ProblemEquivalence, equivalent_problems};
use serde::Serialize;

/// Most pairs of objects tried in a comparison.
const MOST_CHOICES: u64 = 1_000_000;

/// The comparison of an inferred problem with the reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", content = "why", rename_all = "kebab-case")]
pub enum Comparison {
    /// The same problem follows, up to the names of objects.
    Equivalent,
    /// Another problem follows; how it differs.
    Different(String),
    /// No problem follows; why.
    Refused(String),
    /// The comparison reached its limit.
    Undecided,
}

impl Comparison {
    /// The decision in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Equivalent => "equivalent",
            Self::Different(_) => "different",
            Self::Refused(_) => "refused",
            Self::Undecided => "undecided",
        }
    }
}

/// Infers and compares.
pub(crate) struct InferredComparer<'a> {
    pub(crate) context: &'a Context,
    pub(crate) suite: &'a Suite,
    pub(crate) inferrer: &'a Inferrer,
}

impl InferredComparer<'_> {
    /// Compares the problem that follows from a representation with the reference of a task.
    pub(crate) fn compare(
        &self,
        task: &SuiteTask,
        representation: &str,
        knowledge: Option<&str>,
    ) -> Result<Comparison, Failure> {
        let domain = self.suite.reference_domain.clone();
        let request = TranslateRequest {
            task: TaskView {
                suite: self.suite.name.clone(),
                task: task.stem.clone(),
                given: Given { domain: domain.clone(), problem: None },
                materials: Materials { knowledge: knowledge.map(str::to_owned), ..Materials::default() },
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
        let mut limits = RequestLimits::default().start(self.context);
        Ok(match equivalent_problems(&domain, &reference, &parse(&inferred), MOST_CHOICES, &mut limits) {
            ProblemEquivalence::Equal { .. } => Comparison::Equivalent,
            ProblemEquivalence::Different(found) => {
                Comparison::Different(found.summary(["missing objects", "extra objects", "missing", "extra"]))
            }
            ProblemEquivalence::Undecided { .. } => Comparison::Undecided,
        })
    }
}
