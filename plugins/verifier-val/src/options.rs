//! The options of the plugin.

use planforge_plugin_common::judging::JudgingLimits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The judged artefact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// The plan if the candidate has one, else the PDDL.
    #[default]
    Auto,
    /// The domain and the problem, as far as there are any.
    Pddl,
    /// The domain alone, even if there is a problem: the test-time-scaling paper's criterion.
    Domain,
    /// The plan; a candidate without one is undecided.
    Plan,
}

/// The task that a plan is judged on.
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

/// The validator of plans on the candidate's own domain and problem.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// The validator of planforge.
    #[default]
    Own,
    /// An installed VAL decides. Places, trace and feedback still come from planforge's validator; if the two
    /// disagree, the summary says so. A crash of VAL, or an unreadable answer, leaves the candidate
    /// undecided.
    Val,
}

/// The parser that decides about PDDL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PddlParser {
    /// The reader and the checks of planforge.
    #[default]
    Own,
    /// VAL's program `Parser` decides: it accepts a domain that it reads without an error, which is the
    /// test-time-scaling paper's criterion of success. Its warnings (an undeclared predicate, a variable that
    /// is not a parameter) do not reject. Findings and feedback still come from planforge, and planforge's
    /// decision is a metric beside VAL's. A crash of VAL is a failure.
    Val,
}

/// Options of `verifier-val`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PlanVerifierOptions {
    /// The judged artefact.
    pub what: What,
    /// The parser that decides about PDDL; `val` with `what = "pddl"` or `"domain"` only.
    pub parser: PddlParser,
    /// VAL's program `Parser` and the words before its files; a name is looked up in `PATH`.
    pub parser_command: Vec<String>,
    /// The task that a plan is judged on.
    pub against: Against,
    /// The validator of plans; `val` with `against = "candidate"` only.
    pub backend: Backend,
    /// The VAL program and the words before its files; a name is looked up in `PATH`.
    pub val_command: Vec<String>,
    /// Most seconds of wall time for a program of VAL.
    pub val_time_limit_s: u32,
    /// Compares a model's claims about its plan (states, goal, cost, validity) with the facts: the failures
    /// of the test-time-scaling paper's section 4.6, each a metric. The verdict on the plan does not change.
    pub claims: bool,
    /// With `against = "environment"`: tries single edits of the candidate's domain and problem, and the feedback names the side that has
    /// an edit under which the refused plan is none, and which contradicts nothing else that was tried in the environment. For rounds that
    /// edit both.
    pub blame: bool,
    /// With `claims`: the label of an earlier stage whose verdict on the plan counts as the model's
    /// evaluation of itself, beside its claims.
    pub critic: Option<String>,
    /// With `claims`: most search nodes to show that a valid plan is a cheapest one. Beyond them the question stays open.
    pub optimal_nodes: u64,
    /// Limits on validating a plan, and on explaining why there is none. What they cut is undecided.
    pub limits: JudgingLimits,
}

impl PlanVerifierOptions {
    /// True if a stage with these options may judge a plan.
    pub(crate) fn judges_plans(&self) -> bool {
        matches!(self.what, What::Auto | What::Plan)
    }
}

impl Default for PlanVerifierOptions {
    fn default() -> Self {
        Self {
            what: What::default(),
            parser: PddlParser::default(),
            parser_command: vec!["Parser".to_owned()],
            against: Against::default(),
            backend: Backend::default(),
            val_command: vec!["Validate".to_owned()],
            val_time_limit_s: 60,
            claims: false,
            blame: false,
            critic: None,
            optimal_nodes: 10_000,
            limits: JudgingLimits::default(),
        }
    }
}
