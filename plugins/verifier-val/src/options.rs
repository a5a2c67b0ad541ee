//! The options of the plugin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// The plan where the candidate has one, else the PDDL.
    #[default]
    Auto,
    /// The domain and the problem, as far as there are any.
    Pddl,
    /// The domain alone, also where there is a problem: what the test-time-scaling paper counts.
    Domain,
    /// The plan; a candidate without one is undecided.
    Plan,
}

/// What a plan is judged against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Against {
    /// The candidate's own domain and problem (or the given ones): is it a plan of what was written?
    #[default]
    Candidate,
    /// The task's environment: is it a plan of what was meant? Its model stays unknown to the candidate: the feedback names
    /// the failing step and nothing else of the environment.
    Environment,
}

/// Who executes a plan on the candidate's own domain and problem.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// The validator of planforge.
    #[default]
    Own,
    /// An installed VAL decides. Places, trace and feedback still come from the own validator; where the two disagree, the
    /// summary says so. A crash of VAL, or an answer that is none, leaves the candidate undecided.
    Val,
}

/// Who says whether PDDL is accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reader {
    /// The reader and the checks of planforge.
    #[default]
    Own,
    /// VAL's program `Parser` decides: it accepts what it reads as a domain without an error, which is the test-time-scaling paper's
    /// criterion of success. What it only warns of (an undeclared predicate, a variable that is no parameter) is accepted. Findings and
    /// feedback still come from planforge, and whether it would accept is a metric beside VAL's. A crash of VAL is a failure.
    Val,
}

/// Options of `verifier-val`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// What is judged: `auto`, `pddl`, `domain` or `plan`.
    pub what: What,
    /// Who says whether PDDL is accepted: `own`, or `val` for VAL's program `Parser` (`what = "pddl"` or `"domain"` only).
    pub parser: Reader,
    /// VAL's program `Parser` and the words before its files; looked for on the search path where it is a name.
    pub parser_command: Vec<String>,
    /// What a plan is judged against: `candidate` or `environment`.
    pub against: Against,
    /// Who executes a plan: `own`, or `val` for an installed VAL (`against = "candidate"` only).
    pub backend: Backend,
    /// The VAL program and the words before its files; looked for on the search path where it is a name.
    pub val_command: Vec<String>,
    /// Most seconds of wall time for a program of VAL.
    pub val_time_limit_s: u32,
    /// Whether what a model claims about its plan (states, goal, cost, validity) is compared with what is the case: the failures of
    /// the test-time-scaling paper's section 4.6, each a metric. The verdict on the plan stays as it is.
    pub claims: bool,
    /// With `claims`: the label of an earlier stage that judged the plan, and whose verdict counts as the model's evaluation of
    /// itself, beside what it claimed when it wrote the plan.
    pub critic: Option<String>,
    /// With `claims`: most search nodes to show that a valid plan is a cheapest one. Beyond them the question stays open.
    pub optimal_nodes: u64,
}

impl Options {
    /// Whether a stage with these options may judge a plan.
    pub(crate) fn judges_plans(&self) -> bool {
        matches!(self.what, What::Auto | What::Plan)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            what: What::default(),
            parser: Reader::default(),
            parser_command: vec!["Parser".to_owned()],
            against: Against::default(),
            backend: Backend::default(),
            val_command: vec!["Validate".to_owned()],
            val_time_limit_s: 60,
            claims: false,
            critic: None,
            optimal_nodes: 10_000,
        }
    }
}
