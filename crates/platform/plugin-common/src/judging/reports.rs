//! Reports of commands: the objects that `planforge COMMAND --json` prints.

use planforge_contract::{
    ActionReconstructionError, DomainDifference, HeuristicEquivalence, Inference, PlanDocument, PlanOutcome,
    ReportedDiagnostic, SearchStatistics,
};
use planforge_pddl::Number;
use planforge_planning::PreferenceResult;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

planforge_contract::documents! {
    PlanReport = "plan-report" @ 1;
    ValidateReport = "validate-report" @ 1;
    EwReport = "ew-report" @ 1;
    EquivalentReport = "equivalent-report" @ 1;
    DomainEquivalentReport = "domain-equivalent-report" @ 1;
    StateGraphReport = "state-graph-report" @ 1;
    InferReport = "infer-report" @ 1;
}

/// Validity of PDDL, a plan or a pipeline file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidateReport {
    /// True only for `accepted`.
    pub valid: bool,
    /// accepted, rejected or undecided.
    pub decision: String,
    /// Everything found, warnings included.
    pub diagnostics: Vec<ReportedDiagnostic>,
    /// The plan's cost, where a plan was judged and has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// End of the last step, for a plan that was executed by its times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub makespan: Option<f64>,
    /// Least time between actions that interfere, for a plan that was executed by its times. Durations may differ from their bounds by
    /// as much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// Preferences of the task with their violations, if all steps were executed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preferences: Vec<PreferenceVerdict>,
}

/// A preference of a task, and how a plan treats it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PreferenceVerdict {
    /// Its name, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Number of its instances that are violated; 0 if it is satisfied.
    pub violations: u64,
    /// Amount that the violations add to the metric; absent without a metric, and for one that is not a sum of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl PreferenceVerdict {
    /// The verdicts on all preferences.
    pub fn all(preferences: &[PreferenceResult]) -> Vec<Self> {
        let verdict = |p: &PreferenceResult| Self {
            name: p.name.clone(),
            violations: p.violations,
            cost: p.cost.map(Number::to_f64),
        };
        preferences.iter().map(verdict).collect()
    }
}

/// A planner's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanReport {
    /// [`PlanOutcome::name`](planforge_contract::PlanOutcome::name).
    pub outcome: String,
    /// Best first; empty where there is none.
    pub plans: Vec<PlanDocument>,
    /// Reasons why there is none, or errors of unreadable files.
    #[serde(default)]
    pub explanation: Vec<String>,
    /// Findings about the task, warnings included.
    #[serde(default)]
    pub diagnostics: Vec<ReportedDiagnostic>,
    /// True if the first plan is proven cheapest.
    #[serde(default)]
    pub optimal: bool,
    /// Preferences of the task with their violations by the first plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preferences: Vec<PreferenceVerdict>,
    /// About the search.
    #[serde(default)]
    pub statistics: SearchStatistics,
}

impl PlanReport {
    /// Reports an outcome, with the findings of reading the task before its own.
    pub fn new(outcome: PlanOutcome, mut found: Vec<ReportedDiagnostic>) -> Self {
        let mut report = Self {
            outcome: outcome.name().to_owned(),
            plans: Vec::new(),
            explanation: Vec::new(),
            diagnostics: Vec::new(),
            optimal: false,
            preferences: Vec::new(),
            statistics: SearchStatistics::default(),
        };
        match outcome {
            PlanOutcome::Plan { plans, optimal, statistics } => {
                report.plans = plans;
                report.optimal = optimal;
                report.statistics = statistics;
            }
            PlanOutcome::ProvenUnsolvable { explanation, statistics }
            | PlanOutcome::Exhausted { explanation, statistics } => {
                report.explanation = explanation;
                report.statistics = statistics;
            }
            PlanOutcome::LimitReached { message, plans, statistics, .. } => {
                report.explanation = vec![message];
                report.plans = plans;
                report.statistics = statistics;
            }
            PlanOutcome::Unsupported { diagnostics } | PlanOutcome::Unreadable { diagnostics } => {
                found.extend(diagnostics);
            }
        }
        report.diagnostics = found;
        report
    }
}

/// The exploration-walk metric of Definition 1 and Eq. 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EwReport {
    /// Harmonic mean of the two directions, 0 to 1; absent where a direction is not defined.
    #[serde(default)]
    pub score: Option<f64>,
    /// Share of the reference's walks that the candidate can execute; absent where the reference has no walk.
    #[serde(default)]
    pub reference_to_candidate: Option<f64>,
    /// Share of the candidate's walks that the reference can execute; absent where the candidate has no walk.
    #[serde(default)]
    pub candidate_to_reference: Option<f64>,
    /// Confidence interval of the score.
    #[serde(default)]
    pub interval: Option<EwInterval>,
    /// `exact` or `sampled`.
    pub mode: String,
    /// Details by direction: lengths, actions, walks, the shortest failing walk.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub details: serde_json::Value,
}

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EwInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// At least this share of such intervals holds the true score; 1 where it was computed exactly.
    pub confidence: f64,
}

/// An inferred problem, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InferReport {
    /// `inferred`; `refused` where statements cannot be used, `conflict` where constraints are violated, `ambiguous` where several different
    /// problems follow, `not-compiled` where what follows is no problem of the domain; `undecided` where a limit was met; `failed`.
    pub decision: String,
    /// The problem, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Provenance of its parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inference: Option<Inference>,
    /// Reason why there is none, as one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Findings in the representation, the knowledge file and the problem.
    #[serde(default)]
    pub diagnostics: Vec<ReportedDiagnostic>,
}

/// The states of a plan and around it, and the actions between them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateGraphReport {
    /// The plan, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<StateGraphPlan>,
    /// The initial state first.
    pub states: Vec<StateGraphState>,
    /// By the state that they leave.
    pub edges: Vec<StateGraphEdge>,
    /// Greatest distance of a shown state from the plan's states, or from the initial state, in actions.
    pub distance: u32,
    /// Most states that were to be shown.
    pub max_states: u32,
    /// Actions that lead to states left out for that.
    pub left_out: u32,
}

/// Execution of the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateGraphPlan {
    /// Its steps.
    pub steps: u32,
    /// Steps executed before the first that cannot be.
    pub executed: u32,
    /// True if it is valid.
    pub valid: bool,
    /// The first step that cannot be executed, and why; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failing_step: String,
}

/// A state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StateGraphState {
    /// After which steps of the plan the task is in it; 0 stands for the initial state.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after_steps: Vec<u32>,
    /// Distance from the plan's states, in actions.
    pub distance: u32,
    /// True if the goal holds.
    pub goal: bool,
    /// Index of the state that it was found from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// Atoms that hold here and not there.
    pub added: Vec<String>,
    /// Atoms that hold there and not here.
    pub deleted: Vec<String>,
    /// The atoms that hold, without those that no action changes.
    pub atoms: Vec<String>,
    /// Applicable actions that lead to states left out for the limit.
    pub left_out: u32,
}

/// An action between two states.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StateGraphEdge {
    /// Index of the state before.
    pub from: u32,
    /// Index of the state after.
    pub to: u32,
    /// The ground action.
    pub action: String,
    /// The plan's steps that it is, from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<u32>,
}

/// Two problems compared up to names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EquivalentReport {
    /// True only where equality was shown.
    pub equivalent: bool,
    /// equal, different or undecided.
    pub decision: String,
    /// If equal: (name in the first, name in the second). Otherwise the correspondence under which the
    /// difference is described.
    #[serde(default)]
    pub renaming: Vec<(String, String)>,
    /// If different: the difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<EquivalentDifference>,
    /// Level of the comparison: `syntactic` (textual form) or `goals` (goals by the reachable states that
    /// satisfy them).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// At level `goals`: what follows from the goals in every reachable state that satisfies them. Absent where the answer needed none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_goal_facts: Option<AddedGoalFacts>,
    /// At level `goals`, where different: a state that satisfies one goal alone. Absent where the problems differ in more than the
    /// goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<EquivalentWitness>,
    /// Reason why it is undecided, as a clause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Errors in the files.
    #[serde(default)]
    pub diagnostics: Vec<ReportedDiagnostic>,
}

/// Literals such as `(clear a)` and `(not (on a b))`, positive ones first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AddedGoalFacts {
    /// Consequences of the first goal, in the first's names.
    pub first: Vec<String>,
    /// Consequences of the second goal.
    pub second: Vec<String>,
}

/// A reachable state that satisfies one goal and not the other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EquivalentWitness {
    /// Whose goal it satisfies: `first` or `second`. State and steps are in that problem's names.
    pub satisfies: String,
    /// Steps that lead to it from the initial state.
    pub steps: Vec<String>,
    /// The facts that hold in it and not in every reachable state.
    pub facts: Vec<String>,
    /// The renaming under which the other goal does not hold in it: (name in the first, name in the second).
    pub renaming: Vec<(String, String)>,
}

/// Difference of two problems.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EquivalentDifference {
    /// Objects of the first without a counterpart.
    pub missing_objects: Vec<String>,
    /// Objects of the second without one.
    pub extra_objects: Vec<String>,
    /// Facts of the first that the second lacks, such as `init (at a b)`.
    pub missing_facts: Vec<String>,
    /// Facts of the second that the first lacks.
    pub extra_facts: Vec<String>,
    /// True if no correspondence of objects leaves fewer facts over.
    pub minimal: bool,
}

/// Two domains compared on given problems: by every sequence of ground actions or, with `heuristic`, by their cheapest plans.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DomainEquivalentReport {
    /// True only where the domains behave the same over the whole reachable space of every problem. Says nothing of other problems.
    pub equivalent: bool,
    /// equal, different, undecided, or not-comparable: the actions could not be matched.
    pub decision: String,
    /// Reason why the domains are not comparable, as a clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_comparable: Option<String>,
    /// The legal ground actions: `strips` or `ground-no-ops-dropped`.
    pub semantics: String,
    /// If undecided and every problem was compared: all sequences of at most this many steps behave the same
    /// on all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal_up_to: Option<u32>,
    /// If different: the place in `problems` (from 0) of the shortest difference; the first of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortest: Option<usize>,
    /// By problem, in the order given; empty with `heuristic`.
    pub problems: Vec<ComparedProblem>,
    /// The comparison by the cheapest plans, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heuristic: Option<HeuristicEquivalence>,
    /// Textual difference of the actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconstruction_error: Option<DomainReconstructionError>,
    /// Renaming of the second domain's actions before the comparison, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<MatchedInterface>,
    /// Errors in the files.
    pub diagnostics: Vec<ReportedDiagnostic>,
}

/// Two domains compared on one problem.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ComparedProblem {
    /// The problem's file.
    pub problem: String,
    /// equal (over the whole reachable space), different or undecided.
    pub decision: String,
    /// If no difference in behaviour was found and the space was not searched completely: all sequences of at
    /// most this many steps behave the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal_up_to: Option<u32>,
    /// True if both are the same ground task, so that no search was needed.
    pub same_model: bool,
    /// Pairs of states that were met.
    pub pairs: u64,
    /// The first difference in what is executed or where the goal holds, by length and then by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<DomainDifference>,
    /// The first step that costs something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_difference: Option<DomainCostDifference>,
    /// Reason why it is undecided, as a clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The comparison under a joint renaming of both domain and problem, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint: Option<JointComparison>,
}

/// A comparison of two readings under one renaming of everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JointComparison {
    /// The renaming that the result is under.
    pub renaming: RenamedReading,
    /// If different: two actions of one reading that, if they always follow each other, are one action of the other. Sequences with a
    /// step between them are not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granularity: Option<GranularityDifference>,
    /// True if no renaming of any kind makes the readings the same.
    pub differs_under_all: bool,
    /// Renamings that were judged.
    pub judged: u64,
    /// True if the limit on choices ended the search for a renaming.
    pub choices_exhausted: bool,
    /// If different: the shortest sequence that only the first allows, or after which only its goal holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_only: Option<OneSidedSequence>,
    /// The same for the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_only: Option<OneSidedSequence>,
}

/// An action of one reading and a sequence of two actions of the other. As far as compared, nothing else differs if the two always follow
/// each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GranularityDifference {
    /// The reading with the two actions: first or second.
    pub finer: String,
    /// The two actions in their order.
    pub sequence: [String; 2],
    /// The action of the other reading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

/// A renaming from the first reading to the second, each pair as the first's name and the second's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RenamedReading {
    /// Actions.
    pub actions: Vec<RenamedAction>,
    /// Objects and constants.
    pub objects: Vec<[String; 2]>,
    /// Types with the same objects.
    pub types: Vec<[String; 2]>,
    /// Predicates with the same atoms.
    pub predicates: Vec<[String; 2]>,
    /// Actions and objects of the first without a partner.
    pub first_alone: Vec<String>,
    /// Actions and objects of the second without a partner.
    pub second_alone: Vec<String>,
}

/// An action and its partner.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RenamedAction {
    /// Name in the first.
    pub first: String,
    /// Name in the second.
    pub second: String,
    /// Positions of corresponding parameters in the first and the second, from 0.
    pub parameters: Vec<[u64; 2]>,
    /// Parameters of the first without a partner: the others or the state determine their values.
    pub first_alone: Vec<String>,
    /// Parameters of the second without a partner.
    pub second_alone: Vec<String>,
}

/// The shortest sequence that only one reading allows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OneSidedSequence {
    /// found, none (proved), or not-found (a limit).
    pub outcome: String,
    /// refused: the other reading refuses the last step; goal: it executes all steps, and its goal does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The steps in the names of the reading that allows them.
    pub steps: Vec<String>,
    /// The steps in the names of the other reading; without the last one if it has no such action.
    pub other_steps: Vec<String>,
    /// Conditions of the other reading that do not hold, and why.
    pub conditions: Vec<String>,
    /// If not found: all sequences of at most this many steps were tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched_up_to: Option<u32>,
}

/// A step that costs something else in the other domain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DomainCostDifference {
    /// The sequence; its last step is the one.
    pub steps: Vec<String>,
    /// Change of the metric in the first (negated if more is better).
    pub first: f64,
    /// Change of the metric in the second.
    pub second: f64,
}

/// Action reconstruction errors (domain-generators paper, section 3) of the actions of two domains, paired by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DomainReconstructionError {
    /// The sum, where a variable is the one of the same name: the definition read literally.
    pub by_name: u64,
    /// The sum, where a parameter is the one at the same place: as the paper's code counts.
    pub by_position: u64,
    /// The sum of the least errors over bijections between parameters of the same type; absent where an action has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<u64>,
    /// By action of the first domain.
    pub actions: Vec<ActionReconstructionError>,
    /// Actions that only the second domain has; each counts with all that it says.
    pub extra: Vec<String>,
}

/// Match of a domain's actions, parameters and types with those of a reference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MatchedInterface {
    /// By action of the reference.
    pub actions: Vec<MatchedAction>,
    /// Types that are called otherwise: the reference's name, the other.
    pub types: Vec<[String; 2]>,
    /// The sum of the actions' reconstruction errors under this match.
    pub error: u64,
    /// True if nothing was renamed or reordered.
    pub identity: bool,
    /// True if every pair of parameters has the same type; false only if the domain was taken unchanged.
    pub types_agree: bool,
    /// True if all matches were compared, so that none is better.
    pub exact: bool,
}

/// One action of a reference and the one that stands for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MatchedAction {
    /// The reference's action.
    pub reference: String,
    /// The other domain's.
    pub candidate: String,
    /// By parameter of the reference's action, the place of the other's, from 0.
    pub parameters: Vec<u64>,
    /// The reconstruction error of the two under this match.
    pub error: u64,
}
