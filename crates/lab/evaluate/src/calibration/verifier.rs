//! The verifiers that are calibrated, their judgements and the labels of mutants.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A verifier. Each accepts a mutant that it cannot tell from the reference on the suite's stated problems, and rejects it otherwise;
/// it rejects as soon as one problem shows a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verifier {
    /// The front end finds no error in the mutant or in a problem read with it. The reference is not used.
    Pddl,
    /// A planner finds a plan in the mutant. The reference is not used.
    Solvable,
    /// A plan of the mutant is a plan of the reference.
    Plan,
    /// A plan of the reference is a plan of the mutant.
    ReferencePlan,
    /// Both of these.
    PlansBothWays,
    /// Heuristic domain equivalence over so many plans a problem.
    Hde(usize),
    /// The walk score is 1 with so many walks of each problem and direction.
    Walks(u32),
    /// The walk score, computed over all walks, is 1.
    WalksExact,
    /// The walk score and the goal agreement, both computed over all walks, are 1.
    WalksGoals,
    /// The exact comparison finds no difference after at most so many steps.
    ExactDepth(u32),
}

impl Verifier {
    /// Its name in tables.
    pub fn name(self) -> String {
        match self {
            Self::Pddl => "pddl".to_owned(),
            Self::Solvable => "solvable".to_owned(),
            Self::Plan => "plan".to_owned(),
            Self::ReferencePlan => "reference-plan".to_owned(),
            Self::PlansBothWays => "plans-both-ways".to_owned(),
            Self::Hde(plans) => format!("hde-{plans}"),
            Self::Walks(walks) => format!("walks-{walks}"),
            Self::WalksExact => "walks-exact".to_owned(),
            Self::WalksGoals => "walks-goals".to_owned(),
            Self::ExactDepth(steps) => format!("exact-depth-{steps}"),
        }
    }

    /// The plugin and options, or the command, that ask the same question in a pipeline.
    pub fn elsewhere(self, t_max: u32) -> String {
        match self {
            Self::Pddl => "verifier-val, what = \"pddl\"".to_owned(),
            Self::Solvable => "planner-classical".to_owned(),
            Self::Plan => {
                "planner-classical, then verifier-val, what = \"plan\", against = \"environment\"".to_owned()
            }
            Self::ReferencePlan => "planforge plan, then planforge validate".to_owned(),
            Self::PlansBothWays => "both of these".to_owned(),
            Self::Hde(plans) => {
                format!("verifier-equivalence, what = \"domain\", level = \"hde\", k = {plans}")
            }
            Self::Walks(walks) => {
                let each = f64::from(walks) / f64::from(t_max.max(1));
                format!("verifier-ew, mode = \"sampled\", t_max = {t_max}, walks = {each}")
            }
            Self::WalksExact => format!("verifier-ew, mode = \"exact\", t_max = {t_max}"),
            Self::WalksGoals => {
                format!("verifier-ew, mode = \"exact\", ratings = \"with-goals\", t_max = {t_max}")
            }
            Self::ExactDepth(steps) => format!("planforge equivalent domain --max-depth {steps}"),
        }
    }
}

/// The judgement of a verifier on a mutant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// Good.
    Accepts,
    /// Bad.
    Rejects,
    /// It cannot tell, and why.
    Undecided(String),
    /// It broke, and how.
    Failed(String),
}

/// The true relation of a mutant to the reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// On every stated problem it behaves like the reference, over the whole reachable space.
    Equal,
    /// On a stated problem it does not.
    Different {
        /// The kind of the difference on the first problem that shows it.
        by: ShownBy,
        /// The number of steps of the shortest sequence that shows it there.
        steps: usize,
    },
    /// The comparison was left open, and why.
    Undecided(String),
}

/// The kind of a difference between two domains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShownBy {
    /// A step that one executes and the other refuses.
    Refusal,
    /// The goal, which holds in one domain alone. Walks ignore goals.
    Goal,
    /// The cost of a step, and nothing else.
    Cost,
}

impl Label {
    /// `equal`, `different` or `undecided`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Different { .. } => "different",
            Self::Undecided(_) => "undecided",
        }
    }
}

/// Everything that was found out about a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedMutant {
    pub label: Label,
    /// Time to find the label.
    pub label_time: Duration,
    /// By verifier, in the order of `CalibrationSpec::verifiers`: its judgement, and its time if only the
    /// reference is prepared. Reading and grounding the mutant are part of every judgement that needs them.
    pub judgements: Vec<(Judgement, Duration)>,
}
