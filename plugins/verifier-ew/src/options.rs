//! The options of the plugin and the settings that follow from them.

use crate::codes;
use planforge_contract::{Failure, FailureClass};
use planforge_planning::walk;
use planforge_plugin_common::judging::{JudgingLimits, Semantics};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The definition that sets the defaults of the other options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Definition 1 and Eq. 2 of the paper: STRIPS semantics, walks of exactly their length, 50 walks of each length.
    #[default]
    Definition,
    /// The paper's own code: ground no-ops dropped, walks end at dead ends, 5 walks of each length, sampled.
    ReferenceCode,
}

/// The treatment of a walk that reaches a state without applicable actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeadEnds {
    /// It is rejected and drawn again; a length that has no walk is left out of the mean and reported.
    Condition,
    /// It ends there and counts with its length.
    Truncate,
}

/// The choice among the applicable ground actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Each with the same probability.
    #[default]
    Uniform,
    /// Actions executed least are likelier. The score is then an estimate under another distribution, without
    /// an interval.
    CoverageGuided,
}

/// The method that determines the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Computed as long as it fits `exact_pairs` and `exact_memory_mb`, else sampled.
    Auto,
    /// Computed; undecided if it does not fit. Needs an environment that shows its reference model.
    Exact,
    /// Sampled.
    Sampled,
}

/// The required names of the candidate's actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InterfaceOption {
    /// Those of the environment; an action of another name is one that the other side does not have.
    #[default]
    Exact,
    /// Any: a renaming of the candidate's actions, parameters and types is searched that respects the number and the types of
    /// parameters, and it is walked in under the environment's names. Without one the actions are compared by name, and if they
    /// share none, the metric is not defined. Needs an environment that shows its reference model.
    Matched,
}

/// The failing walks that the feedback shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailingWalks {
    /// The shortest of both directions.
    #[default]
    Shortest,
    /// A minimal one for each direction and refused action, the shortest first, at most 12.
    Each,
}

/// The ranking of candidates, also of those without a score (metric `rating`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ratings {
    /// No metric `rating`.
    None,
    /// The paper's Appendix B.3, from -5 (nothing edited) to 1.
    Paper,
    /// As `paper`, but the goals are compared too (metric `goal_agreement`): a candidate with a score is rated by the mean
    /// of its score and its goal agreement, where an agreement that is not defined counts as 0. It is accepted only if both are
    /// 1. Needs an environment that shows its reference model.
    WithGoals,
    /// The table of the paper's own code, from -6 (no code) to 2 (the plan is valid and the score 1).
    ReferenceCode,
}

/// Options of `verifier-ew`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WalkVerifierOptions {
    /// The defaults of the other options.
    pub form: Form,
    /// The longest walk. Lengths 1 to `t_max` count alike.
    #[schemars(range(min = 1, max = 1000))]
    pub t_max: u32,
    /// Walks of each length and direction, if the score is sampled. By default 50, in `reference-code` 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub walks: Option<u32>,
    /// The ground actions that are legal. `ground-no-ops-dropped` needs an environment that shows its reference model. Left out: the form's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantics: Option<Semantics>,
    /// The treatment of a walk that reaches a dead end. Left out: the form's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead_ends: Option<DeadEnds>,
    /// The choice of a walk's steps.
    pub policy: Policy,
    /// The way to a score. Left out: `auto`, in form `reference-code` `sampled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Most pairs of states that an exact score, or the search for a shortest failing walk, may visit, and most search nodes of
    /// a plan that goal walks begin with.
    #[schemars(range(min = 1))]
    pub exact_pairs: usize,
    /// Most megabytes that an exact score, or that search, may keep of states and steps; if it is passed, the score does not
    /// fit. Counted as the walks are followed, so that it ends them at the same place on every machine.
    #[schemars(range(min = 1))]
    pub exact_memory_mb: u64,
    /// Confidence of the interval around a sampled score, and of the decision of a race.
    #[schemars(range(min = 0.5, max = 0.999_999_999))]
    pub confidence: f64,
    /// Races the candidates of one request: walks are drawn in rounds, and no more for a candidate that is
    /// not the best at that confidence, by anytime-valid bounds. Two within 0.01 both count as best. At most
    /// `walks` of each length are drawn. Without it every candidate gets all of them.
    pub racing: bool,
    /// The metric `rating`, by which candidates are ranked. Left out: `paper`, in form `reference-code` its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratings: Option<Ratings>,
    /// The names that the candidate's actions must have.
    pub interface: InterfaceOption,
    /// The failing walks that the feedback shows; the paper's feedback has the shortest. With `each` a model can repair several mistakes
    /// in one round.
    pub failing_walks: FailingWalks,
    /// Tries single edits of the candidate's domain and problem, and the feedback names the side that has an edit which removes the
    /// failing walk and contradicts nothing else that was tried in the environment. For rounds that edit both.
    pub blame: bool,
    /// Limits on the walks. What they cut is undecided.
    pub limits: JudgingLimits,
}

impl Default for WalkVerifierOptions {
    fn default() -> Self {
        Self {
            form: Form::Definition,
            t_max: 10,
            walks: None,
            semantics: None,
            dead_ends: None,
            policy: Policy::Uniform,
            mode: None,
            exact_pairs: 50_000,
            exact_memory_mb: 96,
            confidence: 0.95,
            racing: false,
            ratings: None,
            interface: InterfaceOption::Exact,
            failing_walks: FailingWalks::Shortest,
            blame: false,
            limits: JudgingLimits::default(),
        }
    }
}

/// The options with every choice made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    pub form: Form,
    /// The length of the longest walk.
    pub t_max: u32,
    /// Walks of each length and direction.
    pub walks: u32,
    pub semantics: Semantics,
    pub dead_ends: DeadEnds,
    pub policy: Policy,
    pub mode: Mode,
    /// Most pairs of states.
    pub exact_pairs: usize,
    /// Most bytes of states and steps.
    pub exact_bytes: u64,
    /// Confidence of the interval.
    pub confidence: f64,
    /// True if candidates are raced.
    pub racing: bool,
    pub ratings: Ratings,
    pub interface: InterfaceOption,
    pub failing_walks: FailingWalks,
    pub blame: bool,
    pub limits: JudgingLimits,
}

impl WalkVerifierOptions {
    /// Resolves the defaults of the form.
    ///
    /// # Errors
    /// Class `Request` for options that contradict each other.
    pub fn settings(&self) -> Result<Settings, Failure> {
        let code = self.form == Form::ReferenceCode;
        let default_mode = match (code, self.policy, self.racing) {
            (false, Policy::Uniform, false) => Mode::Auto,
            _ => Mode::Sampled,
        };
        let settings = Settings {
            form: self.form,
            t_max: self.t_max,
            walks: self.walks.unwrap_or(if code { 5 } else { 50 }),
            semantics: self.semantics.unwrap_or(if code {
                Semantics::GroundNoOpsDropped
            } else {
                Semantics::Strips
            }),
            dead_ends: self.dead_ends.unwrap_or(if code { DeadEnds::Truncate } else { DeadEnds::Condition }),
            policy: self.policy,
            mode: self.mode.unwrap_or(default_mode),
            exact_pairs: self.exact_pairs,
            exact_bytes: self.exact_memory_mb.saturating_mul(1 << 20),
            confidence: self.confidence,
            racing: self.racing,
            ratings: self.ratings.unwrap_or(if code { Ratings::ReferenceCode } else { Ratings::Paper }),
            interface: self.interface,
            failing_walks: self.failing_walks,
            blame: self.blame,
            limits: self.limits,
        };
        settings.check().map(|()| settings)
    }
}

impl Settings {
    fn check(&self) -> Result<(), Failure> {
        let wrong = |message: &str, help: &str| {
            Err(Failure::new(FailureClass::Request, codes::OPTIONS, message).help(help))
        };
        if self.t_max == 0 || self.walks == 0 || self.exact_pairs == 0 || self.exact_bytes == 0 {
            return wrong(
                "`t_max`, `walks`, `exact_pairs` and `exact_memory_mb` begin at 1",
                "leave them out for the defaults",
            );
        }
        if !(0.5..1.0).contains(&self.confidence) {
            return wrong("`confidence` is at least 0.5 and below 1", "for example 0.95");
        }
        match (self.mode, self.policy, self.racing) {
            (Mode::Exact, Policy::CoverageGuided, _) => wrong(
                "a coverage-guided walk depends on the walks before it, so there is no exact score",
                "set `mode = \"sampled\"` or `policy = \"uniform\"`",
            ),
            (Mode::Exact | Mode::Auto, _, true) => wrong(
                "a race draws walks, so there is no exact score",
                "set `mode = \"sampled\"` or `racing = false`",
            ),
            (_, Policy::CoverageGuided, true) => wrong(
                "coverage-guided walks have no interval, so no race can be decided",
                "set `policy = \"uniform\"` or `racing = false`",
            ),
            _ => Ok(()),
        }
    }

    /// The options for building models.
    pub fn model_options(&self) -> walk::ModelOptions {
        walk::ModelOptions { semantics: self.semantics.into(), ..walk::ModelOptions::default() }
    }

    /// The specification of walks drawn from a model.
    pub fn sample_spec(&self, seed: u64) -> walk::SampleSpec {
        walk::SampleSpec {
            t_max: self.t_max,
            walks_per_length: self.walks,
            seed,
            dead_ends: self.walk_dead_ends(),
            policy: match self.policy {
                Policy::Uniform => walk::WalkPolicy::Uniform,
                Policy::CoverageGuided => walk::WalkPolicy::CoverageGuided,
            },
        }
    }

    pub(crate) fn walk_dead_ends(&self) -> walk::DeadEnds {
        match self.dead_ends {
            DeadEnds::Condition => walk::DeadEnds::CONDITION,
            DeadEnds::Truncate => walk::DeadEnds::Truncate,
        }
    }
}
