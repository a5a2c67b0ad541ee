//! A checked pipeline as plain data. The JSON schema that editors use is derived from these types.

mod rounds;

use rounds::RoundStage;
pub(crate) use rounds::writer;
pub use rounds::{ContinueFrom, Forget, KeepRound, RefineStage, StopRounds};

use planforge_contract::{FixPolicy, JsonObject};
pub use planforge_llm::RoleModels;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod budget;
mod obfuscate;
pub use budget::{BudgetLimits, BudgetPolicy, BudgetStage};
pub use obfuscate::ObfuscateTable;

/// The schema number of pipeline files that this version reads.
pub const PIPELINE_SCHEMA: u32 = 1;

/// A planforge pipeline: stages over a beam of candidates, and the models that they ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Version of this file format.
    #[schemars(range(min = 1, max = 1))]
    pub schema: u32,
    /// One line about the method.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Every random choice of a run derives from this.
    #[serde(default)]
    pub seed: u64,
    /// Declares that feedback to a model may hold what the environment said. Without it such feedback is withheld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<FeedbackSource>,
    /// What of the suite's reference the method is given. All else is withheld from it.
    #[serde(default)]
    pub given: GivenSpec,
    /// Runs the suites under other names and in another order, so that what a model has read of them does not help it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obfuscate: Option<ObfuscateTable>,
    /// Limits of the run.
    #[serde(default)]
    pub limits: RunLimits,
    /// The language models, by the name that `roles` uses.
    #[serde(default)]
    pub llm: BTreeMap<String, LlmTable>,
    /// What executes actions. The host opens it with the task's reference; this file never names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentTable>,
    /// The stages, in order.
    #[serde(rename = "stage")]
    #[schemars(length(min = 1))]
    pub stages: Vec<Stage>,
}

/// Where feedback may come from beside the verifiers' own reading of the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FeedbackSource {
    /// The environment, which knows the reference.
    Environment,
}

/// What of the suite is given. The texts are, and everything of the reference is withheld unless it is set to true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GivenSpec {
    /// The texts in plain language: of the domain, of the task, and of the in-context example. With `false` none of them is given,
    /// and suites need not have any (Prob2Domain of the test-time-scaling paper, section 4.1).
    #[serde(skip_serializing_if = "is_true")]
    pub text: bool,
    /// The whole domain, as PDDL.
    pub domain: bool,
    /// The whole problem, as PDDL. A domain that is written is then judged and planned with this problem.
    pub problem: bool,
    /// The names and parameters of the actions, and the suite's domain template where it has one.
    pub interface: bool,
    /// The objects of the task, and the suite's object template where it has one.
    pub objects: bool,
    /// The in-context example. Left out, the suite's own is given where the domain is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<GivenExample>,
    /// Each action in words, and the domain without its actions: types, predicates, and what those mean (see `predicates`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<DescriptionClass>,
    /// With `actions`: whether the predicates and what they mean are given too. With `false` only the domain's types and constants are, and
    /// the method makes predicates of its own.
    #[serde(skip_serializing_if = "is_true")]
    pub predicates: bool,
    /// Folders of suites, or folders that hold suites, relative to the pipeline file, whose actions are in-context examples for
    /// actions. The suite whose tasks are run is left out where it is among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub action_examples: Vec<String>,
}

/// How much an action's description tells (domain-generators paper, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DescriptionClass {
    /// What the action does, and with what.
    Base,
    /// The same, and what it needs and makes false.
    Flipped,
    /// The same as base, and as many conditions and effects as flipped tells, drawn from all of them.
    Random,
}

impl Default for GivenSpec {
    fn default() -> Self {
        Self {
            text: true,
            domain: false,
            problem: false,
            interface: false,
            objects: false,
            example: None,
            actions: None,
            predicates: true,
            action_examples: Vec::new(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_true(flag: &bool) -> bool {
    *flag
}

/// Which in-context example is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum GivenExample {
    /// `true`: the suite's own, which is its text and plan, and its problem where the domain is given, for a problem shows the
    /// domain's predicates. `false`: none.
    Own(bool),
    /// The folder of another suite, relative to the pipeline file: its domain's text, its domain, and one task of it with
    /// text, problem and plan, whole.
    Suite(String),
}

impl GivenSpec {
    /// Whether the suite's own in-context example is given.
    pub fn gives_own_example(&self) -> bool {
        match &self.example {
            None => self.domain,
            Some(GivenExample::Own(given)) => *given,
            Some(GivenExample::Suite(_)) => false,
        }
    }

    /// What suites must have for the method: texts, unless none is given.
    pub const fn texts(&self) -> crate::Texts {
        if self.text { crate::Texts::Required } else { crate::Texts::Optional }
    }

    /// The suite whose task is the in-context example, as the file names it.
    pub fn example_suite(&self) -> Option<&str> {
        match &self.example {
            Some(GivenExample::Suite(path)) => Some(path),
            _ => None,
        }
    }
}

/// Limits of a run. What is left out is not limited by the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunLimits {
    /// How many plugin calls run at a time; the command line may say otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub jobs: Option<u32>,
    /// Seconds after which a plugin call is given up as a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1000000.0))]
    pub call_deadline_s: Option<f64>,
}

/// One language model: the provider, what the host must know of the model, and the provider's own options.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LlmTable {
    /// The id of a provider plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// The host's settings (such as `model` and `temperature`) and the provider's options.
    #[serde(flatten)]
    pub settings: JsonObject,
}

/// The environment of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentTable {
    /// The id of an environment plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// How many reference problems the environment's model shows: the task's own first, then others of the suite in order; all there are
    /// where the suite has fewer. Verifiers of domains compare over all of them.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 100))]
    pub problems: u32,
    /// The plugin's options.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub options: JsonObject,
}

/// One stage, by its kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Stage {
    /// Makes `n` children of each candidate by asking a translator.
    Translate(TranslateStage),
    /// Has a verifier judge each candidate.
    Verify(VerifyStage),
    /// Keeps the best candidates by a metric.
    Select(SelectStage),
    /// Has a planner look for a plan for each candidate.
    Plan(PlanStage),
    /// Writes each candidate anew in rounds, with what was said about the last round's best.
    Refine(RefineStage),
    /// Samples and refines as far as a budget goes.
    Budget(BudgetStage),
    /// Starts the suite's other tasks from what the lead task came to.
    FanOut(FanOutStage),
}

impl Stage {
    /// The stage's label.
    pub fn label(&self) -> &str {
        match self {
            Self::Translate(s) => &s.label,
            Self::Verify(s) => &s.label,
            Self::Select(s) => &s.label,
            Self::Plan(s) => &s.label,
            Self::Refine(s) => &s.label,
            Self::Budget(s) => &s.label,
            Self::FanOut(s) => &s.label,
        }
    }
    /// What `do` says.
    pub const fn kind(&self) -> StageKind {
        match self {
            Self::Translate(_) => StageKind::Translate,
            Self::Verify(_) => StageKind::Verify,
            Self::Select(_) => StageKind::Select,
            Self::Plan(_) => StageKind::Plan,
            Self::Refine(_) => StageKind::Refine,
            Self::Budget(_) => StageKind::Budget,
            Self::FanOut(_) => StageKind::FanOut,
        }
    }
    /// The plugin that the stage itself uses and its options; none for select, refine, budget and fan_out.
    pub fn plugin(&self) -> Option<(&str, &JsonObject)> {
        match self {
            Self::Translate(s) => Some((&s.plugin, &s.options)),
            Self::Verify(s) => Some((&s.plugin, &s.options)),
            Self::Plan(s) => Some((&s.plugin, &s.options)),
            Self::Select(_) | Self::Refine(_) | Self::Budget(_) | Self::FanOut(_) => None,
        }
    }
    /// Role -> the `[llm.NAME]` tables that take it.
    pub fn roles(&self) -> Option<&BTreeMap<String, RoleModels>> {
        match self {
            Self::Translate(s) => Some(&s.roles),
            Self::Verify(s) => Some(&s.roles),
            Self::Plan(s) => Some(&s.roles),
            Self::Select(_) | Self::Refine(_) | Self::Budget(_) | Self::FanOut(_) => None,
        }
    }
    /// The `[llm.NAME]` tables that it may ask itself, as often as its roles name them.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.roles().into_iter().flat_map(BTreeMap::values).flat_map(RoleModels::names)
    }
    /// The stages that judge inside of this one: those of a round, or the judges of a budget stage.
    pub fn round(&self) -> &[Stage] {
        match self {
            Self::Refine(s) => &s.round,
            Self::Budget(s) => &s.judge,
            _ => &[],
        }
    }
    /// All stages inside of this one, in the order in which they run. Judges stand behind everything that writes.
    pub fn inner(&self) -> impl Iterator<Item = &Stage> {
        let (sample, round, judge): (&[Stage], &[Stage], &[Stage]) = match self {
            Self::Refine(s) => (&[], &s.round, &[]),
            Self::Budget(s) => (&s.sample, &s.round, &s.judge),
            _ => (&[], &[], &[]),
        };
        sample.iter().chain(round).chain(judge)
    }
}

impl Pipeline {
    /// All stages in the order of the file, each refine and budget stage followed by the stages inside of it.
    pub fn all_stages(&self) -> impl Iterator<Item = &Stage> {
        self.stages.iter().flat_map(|stage| std::iter::once(stage).chain(stage.inner()))
    }
    /// The refine or budget stage inside of which the stage with that label stands.
    pub fn around(&self, label: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.inner().any(|inner| inner.label() == label))
    }
    /// The stage with that label, wherever it stands.
    pub fn stage(&self, label: &str) -> Option<&Stage> {
        self.all_stages().find(|stage| stage.label() == label)
    }
}

/// The kinds of stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StageKind {
    /// Text to PDDL.
    Translate,
    /// Judgement.
    Verify,
    /// The best by a metric.
    Select,
    /// Search for a plan.
    Plan,
    /// Rounds of writing and judging.
    Refine,
    /// Sampling and refining under a budget.
    Budget,
    /// From the lead task to the others.
    FanOut,
}

impl StageKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Translate, Self::Verify, Self::Select, Self::Plan, Self::Refine, Self::Budget, Self::FanOut];
    /// What `do` says.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Translate => "translate",
            Self::Verify => "verify",
            Self::Select => "select",
            Self::Plan => "plan",
            Self::Refine => "refine",
            Self::Budget => "budget",
            Self::FanOut => "fan_out",
        }
    }
}

/// `do = "translate"`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranslateStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The id of a translator plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// How many samples of each candidate.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000))]
    pub n: u32,
    /// Role -> who takes it: the name of an `[llm.NAME]` table, names in an order, or names with weights.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, RoleModels>,
    /// The plugin's options.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub options: JsonObject,
    /// Whether safe fixes are applied to what a model wrote; each is recorded.
    #[serde(default)]
    pub fixes: FixPolicy,
    /// Whose words go into the question: labels of earlier verify stages, for their feedback, of earlier plan stages, for why there
    /// is no plan, and of earlier translate stages, for what was wrong with the reply. In a round, stages that stand behind this
    /// one are those of the round before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<String>,
    /// Candidates that have this already pass through unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_without: Option<Artefact>,
}

/// The parts of a candidate that are PDDL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Artefact {
    /// The domain.
    Domain,
    /// The problem.
    Problem,
}

const fn one() -> u32 {
    1
}

/// `do = "verify"`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The id of a verifier plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// Role -> who takes it: the name of an `[llm.NAME]` table, names in an order, or names with weights.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, RoleModels>,
    /// The plugin's options.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub options: JsonObject,
    /// Whose words the verifier is told beside the candidate, in `VerifyRequest.feedback`: labels as in a translate stage's
    /// `feedback`, and by the same rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<String>,
    /// The assessment is a measurement alone: it decides neither the task's verdict, nor whether a planner is asked, nor
    /// whether a round's child is accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub measure: bool,
}

/// Which end of a metric is better.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The highest value is the best.
    #[default]
    Highest,
    /// The lowest value is the best.
    Lowest,
}

impl Order {
    /// Whether it is the usual one.
    pub const fn is_highest(&self) -> bool {
        matches!(self, Self::Highest)
    }
}

/// `do = "select"`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectStage {
    /// The stage's name, unique in the file; `select-POSITION` where none is given.
    #[serde(default)]
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The metric, as `LABEL.NAME` of an earlier verify stage, `LABEL.cost` or `LABEL.steps` of an earlier plan stage,
    /// `candidate.log_likelihood` (the sum over the tokens, test-time-scaling paper, Eq. 1) or `candidate.mean_log_likelihood` (the
    /// sum divided by the number of tokens). Candidates without a value come last; ties go to the order of the sample paths.
    pub by: String,
    /// What a group is compared by where some member of it has no value of `by`, for example because a server returns no
    /// probabilities: the first of these metrics that every member has a value of, else the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_several")]
    #[schemars(with = "OneOrSeveral")]
    pub otherwise: Vec<String>,
    /// How many candidates of each group go on.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub keep: u32,
    /// The label of an earlier translate stage: candidates that share its sample are one group. Left out, the task is
    /// the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_by: Option<String>,
    /// Which end of the metric is better.
    #[serde(default)]
    pub order: Order,
}

/// How `otherwise` is written.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum OneOrSeveral {
    /// One metric.
    One(String),
    /// Metrics, the first choice first.
    Several(Vec<String>),
}

fn one_or_several<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(match OneOrSeveral::deserialize(deserializer)? {
        OneOrSeveral::One(metric) => vec![metric],
        OneOrSeveral::Several(metrics) => metrics,
    })
}

/// `do = "plan"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The id of a planner plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// Role -> who takes it: the name of an `[llm.NAME]` table, names in an order, or names with weights.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, RoleModels>,
    /// The plugin's options.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub options: JsonObject,
    /// When the planner gives up on a candidate.
    #[serde(default)]
    pub limits: PlanStageLimits,
    /// Whether candidates that a verify stage rejected are planned for as well.
    #[serde(default)]
    pub plan_rejected: bool,
    /// How many plans of each candidate. With more than one, each is a child of its own; one whose planner breaks is left out.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 1000))]
    pub n: u32,
    /// Whose words the planner is told, labels as in a translate stage's `feedback`. The planner then also gets the candidate's plan so
    /// far and writes it anew: the new plan is a child, and what was said about the old one does not count for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<String>,
}

impl Default for PlanStage {
    fn default() -> Self {
        Self {
            label: String::new(),
            plugin: String::new(),
            roles: BTreeMap::new(),
            options: JsonObject::new(),
            limits: PlanStageLimits::default(),
            plan_rejected: false,
            n: 1,
            feedback: Vec::new(),
        }
    }
}

impl PlanStage {
    /// Whether its plans are children of the candidate; else the plan is added to the candidate itself.
    pub fn makes_children(&self) -> bool {
        self.n > 1 || self.rewrites()
    }
    /// Whether it writes the candidate's plan anew.
    pub fn rewrites(&self) -> bool {
        !self.feedback.is_empty()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_one(n: &u32) -> bool {
    *n == 1
}

/// Limits of one planner call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PlanStageLimits {
    /// Seconds of wall time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1000000.0))]
    pub time_s: Option<f64>,
    /// Megabytes (of 1024 * 1024 bytes) of memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16_777_216))]
    pub memory_mb: Option<u64>,
    /// Expanded nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub nodes: Option<u64>,
}

/// `do = "fan_out"`: before it the lead task of each suite runs alone; each of its survivors is where the suite's other tasks
/// start from, with its domain and without its problem.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FanOutStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The stem of the lead task, for example `p01`; left out, the first task of the suite. A run of one task of a suite has
    /// that task as its lead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<String>,
}

/// The JSON schema of pipeline files, as `planforge schema` prints it.
pub fn pipeline_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Pipeline);
    schema.insert("title".to_owned(), "planforge pipeline".into());
    let mut schema = schema.to_value();
    // A model's table holds the host's keys, which are known here, beside the provider's options, which are not.
    let host =
        schemars::SchemaGenerator::default().into_root_schema_for::<planforge_llm::RoleConfig>().to_value();
    let table = schema.pointer_mut("/$defs/LlmTable").and_then(serde_json::Value::as_object_mut);
    if let (Some(table), Some(properties), Some(required)) =
        (table, host.get("properties"), host.get("required"))
    {
        table.insert("properties".to_owned(), properties.clone());
        table.insert("required".to_owned(), required.clone());
    }
    let defs = host.get("$defs").and_then(serde_json::Value::as_object);
    if let (Some(defs), Some(all)) =
        (defs, schema.get_mut("$defs").and_then(serde_json::Value::as_object_mut))
    {
        all.extend(defs.clone());
    }
    schema
}
