//! Calibration of verifiers: how often each accepts a different domain or rejects an equal one.
//!
//! [`mutants`] damages reference domains or problems in one place each, or rewrites them without changing their meaning.
//! The origin of a mutant does not fix its [`Label`]: the label is the verdict of the exact comparison
//! ([`planforge_planning::equivalence::domains`]) on stated problems. Mutants that the comparison leaves open
//! within its limits are counted and belong to neither side. Every [`Verifier`] then judges every mutant
//! ([`judge_all`]), and [`Calibration`] counts false accepts, false rejects, agreement beyond chance (Cohen's
//! kappa) and costs.
//!
//! The crate has no clock; callers that want costs pass one.

mod judge;
mod report;
#[cfg(test)]
mod tests;

pub use judge::{Clock, JudgedMutant, Judgement, Label, ShownBy, Verifier, judge_all, labelled_sample};
pub use report::{
    Calibration, Cost, DifferenceRow, Figures, KindRow, MutantRow, OtherJudgements, SuiteRow, Tally,
};

use crate::study::{StudyBudget, StudySuite, Watch, run_all, stream};
use planforge_contract::{Failure, FailureClass};
use planforge_pddl::ast::Problem;
use planforge_pddl::mutate::{
    Mutation, MutationKind, ProblemMutant, ProblemPart, RewriteKind, all_mutations, problem_mutants,
    random_mutations, random_rewrite,
};
use planforge_pddl::random::Random;
use planforge_pddl::{print_domain, print_problem};
use planforge_planning::equivalence::domains::{ComparableModel, EquivalenceLimits, comparable};
use planforge_planning::equivalence::{ComparedSide, hde};
use planforge_planning::walk::{DeadEnds, DrawnWalks, GoalPlan, Model, SampleSpec, WalkPolicy, goal_plan};
use planforge_planning::{
    GroundLimits, PlanFile, PlanOptions, SearchOutcome, StopReason, Validator, parse_plan, plan_model,
};
use serde::{Deserialize, Serialize};
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

/// The specification of a calibration. All limits are counts: the same specification gives the same
/// judgements on every machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationSpec {
    /// The seed of all draws.
    pub seed: u64,
    /// Mutants over all suites together; fewer where the suites have no more.
    pub mutants: usize,
    /// Kinds of mutants; mistakes and rewrites take turns, and the kinds of either.
    pub kinds: Vec<MutantKind>,
    /// Budgets of the sampled walk verifiers: walks of each problem and direction.
    pub walks: Vec<u32>,
    /// The longest walk; lengths from 1 to it take turns.
    pub t_max: u32,
    /// The longest sequence that the bounded exact comparison looks at.
    pub depth: u32,
    /// Plans of each problem that heuristic domain equivalence compares.
    pub hde_plans: usize,
    /// Limit: pairs of states that the label's comparison, and the bounded one, may see on a problem.
    pub max_pairs: u64,
    /// Limit: pairs of states that the exact walk score may see in a direction.
    pub walk_pairs: usize,
    /// Limit: search nodes of a planner, of top-k planning too.
    pub max_nodes: u64,
    /// Limit: ground instances of a model, and as many atoms.
    pub max_instances: usize,
    /// Limit: bytes that one verifier's work on one mutant asks for.
    pub max_bytes: u64,
    /// Confidence of the intervals.
    pub confidence: f64,
}

impl Default for CalibrationSpec {
    fn default() -> Self {
        Self {
            seed: 42,
            mutants: 300,
            kinds: MutantKind::defaults(),
            walks: vec![10, 100, 1000],
            t_max: 10,
            depth: 5,
            hde_plans: 10,
            max_pairs: 500_000,
            walk_pairs: 50_000,
            max_nodes: 200_000,
            max_instances: 100_000,
            max_bytes: 1 << 30,
            confidence: 0.95,
        }
    }
}

impl CalibrationSpec {
    /// The verifiers, in the order of tables.
    pub fn verifiers(&self) -> Vec<Verifier> {
        let first = [
            Verifier::Pddl,
            Verifier::Solvable,
            Verifier::Plan,
            Verifier::ReferencePlan,
            Verifier::PlansBothWays,
            Verifier::Hde(self.hde_plans),
        ];
        let walks = self.walks.iter().map(|&n| Verifier::Walks(n));
        let last = [Verifier::WalksExact, Verifier::WalksGoals, Verifier::ExactDepth(self.depth)];
        first.into_iter().chain(walks).chain(last).collect()
    }

    fn ground(&self) -> GroundLimits {
        GroundLimits { instances: self.max_instances, atoms: self.max_instances, ..GroundLimits::default() }
    }
}

/// Draws without a new mutant after which a kind counts as used up.
const TRIES: usize = 50;

/// The operation that makes a mutant. Its label comes from the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MutantKind {
    Mistake(MutationKind),
    /// One mistake in a problem, with the reference's domain.
    Problem(ProblemPart),
    /// One rewrite that means the same.
    Rewrite(RewriteKind),
}

impl MutantKind {
    /// Every kind, mistakes first. A predicate that loses an argument is none of them: the problem files would not fit any more.
    pub fn all() -> Vec<Self> {
        let mistakes = MutationKind::ALL.into_iter().filter(|k| *k != MutationKind::PredicateArgument);
        let problems = [ProblemPart::Init, ProblemPart::Goal].map(Self::Problem);
        let rewrites = RewriteKind::ALL.into_iter().map(Self::Rewrite);
        mistakes.map(Self::Mistake).chain(rewrites).chain(problems).collect()
    }

    /// The kinds that are drawn where none are named: all of domains.
    pub fn defaults() -> Vec<Self> {
        Self::all().into_iter().filter(|kind| !matches!(kind, Self::Problem(_))).collect()
    }

    /// The kind's name in tables and options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mistake(kind) => kind.as_str(),
            Self::Problem(ProblemPart::Init) => "wrong-init",
            Self::Problem(ProblemPart::Goal) => "wrong-goal",
            Self::Rewrite(kind) => kind.as_str(),
        }
    }

    /// True if it is a rewrite.
    pub fn is_rewrite(self) -> bool {
        matches!(self, Self::Rewrite(_))
    }
}

impl fmt::Display for MutantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for MutantKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all().into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| {
            let known: Vec<&str> = Self::all().into_iter().map(Self::as_str).collect();
            format!("unknown kind `{text}`; the kinds are {}", known.join(", "))
        })
    }
}

impl TryFrom<String> for MutantKind {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<MutantKind> for String {
    fn from(kind: MutantKind) -> Self {
        kind.as_str().to_owned()
    }
}

/// A reference domain, or one of its problems, with one thing changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// Index of its suite.
    pub suite: usize,
    /// Its number in the suite, from 0.
    pub number: usize,
    /// The kind of the mutant.
    pub kind: MutantKind,
    /// The change, in words.
    pub change: String,
    /// The changed text: the domain or, where `problem` is given, that problem.
    pub text: String,
    /// Index of the changed problem; the domain is then the reference's. `None` if the domain is changed.
    pub problem: Option<usize>,
}

/// Draws the mutants of suites: `spec.mutants` in all, shared out evenly, no text of a suite twice. Mistakes
/// and rewrites take turns, as do the kinds of each, so that equal and different mutants are both frequent. A
/// kind without more mutants in a suite is skipped, so there may be fewer than requested.
///
/// Draws depend on the seed, the suite's name and its share alone.
pub fn mutants(suites: &[StudySuite], spec: &CalibrationSpec) -> Vec<Mutant> {
    let mut all = Vec::new();
    for (index, suite) in suites.iter().enumerate() {
        let share = spec.mutants / suites.len() + usize::from(index < spec.mutants % suites.len());
        of_suite(index, suite, share, spec, &mut all);
    }
    all
}

fn of_suite(index: usize, suite: &StudySuite, share: usize, spec: &CalibrationSpec, all: &mut Vec<Mutant>) {
    let mut sides = [false, true].map(|rewrites| Side::new(suite, spec, rewrites));
    let mut seen = HashSet::from([print_domain(&suite.domain)]);
    let mut number = 0;
    while number < share {
        let before = number;
        for side in &mut sides {
            if number == share {
                break;
            }
            let Some((kind, drawn)) = side.next(&mut seen) else { continue };
            let Drawn { change, text, problem } = drawn;
            all.push(Mutant { suite: index, number, kind, change, text, problem });
            number += 1;
        }
        if number == before {
            break;
        }
    }
}

/// Kinds that take turns.
struct Side<'a> {
    draws: VecDeque<Draw<'a>>,
}

impl<'a> Side<'a> {
    fn new(suite: &'a StudySuite, spec: &CalibrationSpec, rewrites: bool) -> Self {
        let place = |kind: MutantKind| MutantKind::all().iter().position(|k| *k == kind).unwrap_or(0) as u64;
        let mut kinds: Vec<MutantKind> =
            spec.kinds.iter().copied().filter(|k| k.is_rewrite() == rewrites).collect();
        // In an order of the suite's own: a small share is then one of some kinds here and of others there.
        let count = kinds.len();
        stream(spec.seed, &suite.name, &[u64::MAX, u64::from(rewrites)]).shuffle_front(&mut kinds, count);
        let draw = |kind| Draw::new(suite, kind, stream(spec.seed, &suite.name, &[place(kind)]));
        Self { draws: kinds.into_iter().map(draw).collect() }
    }

    /// The next mutant of the kind whose turn it is, or of the first after it that has one left.
    fn next(&mut self, seen: &mut HashSet<String>) -> Option<(MutantKind, Drawn)> {
        while let Some(mut draw) = self.draws.pop_front() {
            if let Some(drawn) = draw.next(seen) {
                let kind = draw.kind;
                self.draws.push_back(draw);
                return Some((kind, drawn));
            }
        }
        None
    }
}

/// A change, in words, and the changed text.
struct Drawn {
    change: String,
    text: String,
    problem: Option<usize>,
}

/// The mutants of one kind and suite, one after the other.
struct Draw<'a> {
    suite: &'a StudySuite,
    kind: MutantKind,
    random: Random,
    /// Mistakes that can be listed, in random order; the last is the next.
    listed: Vec<Mutation>,
    /// Mistakes in problems, with the problem's index, in the same order.
    problems: Vec<(usize, ProblemMutant)>,
}

impl<'a> Draw<'a> {
    fn new(suite: &'a StudySuite, kind: MutantKind, mut random: Random) -> Self {
        let mut listed = match kind {
            // There are too many to list.
            MutantKind::Mistake(MutationKind::Addition) | MutantKind::Rewrite(_) | MutantKind::Problem(_) => {
                Vec::new()
            }
            MutantKind::Mistake(kind) => all_mutations(&suite.domain, kind),
        };
        let count = listed.len();
        random.shuffle_front(&mut listed, count);
        let mut problems: Vec<(usize, ProblemMutant)> = Vec::new();
        if let MutantKind::Problem(part) = kind {
            for (index, task) in suite.tasks.iter().enumerate() {
                let all = problem_mutants(&suite.domain, &task.problem, part);
                problems.extend(all.into_iter().map(|mutant| (index, mutant)));
            }
            let count = problems.len();
            random.shuffle_front(&mut problems, count);
        }
        Draw { suite, kind, random, listed, problems }
    }

    /// Returns the next mutant; absent if there are no more.
    fn next(&mut self, seen: &mut HashSet<String>) -> Option<Drawn> {
        for _ in 0..TRIES {
            let drawn = self.draw()?;
            if seen.insert(drawn.text.clone()) {
                return Some(drawn);
            }
        }
        None
    }

    fn draw(&mut self) -> Option<Drawn> {
        let domain = &self.suite.domain;
        let of_domain = |change: String, text| Drawn { change, text, problem: None };
        match self.kind {
            MutantKind::Rewrite(kind) => {
                let rewrite = random_rewrite(domain, kind, &mut self.random)?;
                Some(of_domain(rewrite.to_string(), print_domain(&rewrite.domain)))
            }
            MutantKind::Mistake(kind) => {
                let mutation = match kind {
                    MutationKind::Addition => {
                        random_mutations(domain, &[(kind, 1.0)], 1, &mut self.random).pop()?
                    }
                    _ => self.listed.pop()?,
                };
                Some(of_domain(mutation.to_string(), print_domain(&mutation.apply(domain))))
            }
            MutantKind::Problem(_) => {
                let (index, mutant) = self.problems.pop()?;
                let change = format!("{}, {mutant}", self.suite.tasks.get(index)?.stem);
                Some(Drawn { change, text: print_problem(&mutant.problem), problem: Some(index) })
            }
        }
    }
}

/// A suite's reference, ready to compare mutants with.
#[derive(Debug)]
pub struct ReferenceSuite<'s> {
    pub suite: &'s StudySuite,
    /// Its problems, in order.
    problems: Vec<ReferenceProblem>,
    /// Heuristic domain equivalence over all problems, or the reason why it is unavailable.
    hde: Result<hde::HdeReference, String>,
}

/// A problem of the reference.
struct ReferenceProblem {
    problem: Problem,
    model: ComparableModel,
    validator: Validator,
    /// A plan; otherwise why there is none.
    plan: Result<PlanFile, String>,
    /// The plan that goal walks begin with, or the limit that was reached.
    goal_plan: Result<GoalPlan, StopReason>,
}

impl std::fmt::Debug for ReferenceProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReferenceProblem").field("plan", &self.plan.is_ok()).finish_non_exhaustive()
    }
}

/// Prepares the references of suites, several at a time.
///
/// # Errors
/// `calibrate.reference`: a reference domain and its problem have no model within the limits.
/// `study.cancelled`, `study.threads`.
pub fn references<'s>(
    suites: &'s [StudySuite],
    spec: &CalibrationSpec,
    threads: usize,
    watch: &Watch,
) -> Result<Vec<ReferenceSuite<'s>>, Failure> {
    let suites: Vec<&'s StudySuite> = suites.iter().collect();
    run_all(&suites, threads, watch, |&suite| reference(suite, spec, watch))?.into_iter().collect()
}

fn reference<'s>(
    suite: &'s StudySuite,
    spec: &CalibrationSpec,
    watch: &Watch,
) -> Result<ReferenceSuite<'s>, Failure> {
    let mut problems = Vec::new();
    for task in &suite.tasks {
        let mut budget = StudyBudget::new(watch, spec.max_bytes);
        let limits = label_limits(spec);
        let model = comparable(ComparedSide::First, &suite.domain, &task.problem, &limits, &mut budget).map_err(|no| {
            let message = format!("{} with {} cannot be compared with anything: {}", suite.name, task.stem, no.error);
            let help = "name other problems with `--problems`, leave the suite out with `--only`, or raise `--max-instances`";
            Failure::new(FailureClass::Request, "calibrate.reference", message).help(help)
        })?;
        let plan = plan_of(model.model(), spec, watch);
        let validator = Validator::new(model.model().lifted().clone());
        let goal_plan =
            goal_plan(model.model(), spec.max_nodes, &mut StudyBudget::new(watch, spec.max_bytes));
        problems.push(ReferenceProblem { problem: task.problem.clone(), model, validator, plan, goal_plan });
    }
    let own: Vec<&Problem> = suite.tasks.iter().map(|t| &t.problem).collect();
    let mut budget = StudyBudget::new(watch, spec.max_bytes);
    let hde = hde::HdeReference::new(&suite.domain, &own, &hde_options(spec), &mut budget);
    Ok(ReferenceSuite { suite, problems, hde: hde.map_err(|no| format!("of the reference, {no}")) })
}

/// A plan of a model, or why there is none.
fn plan_of(model: &Model, spec: &CalibrationSpec, watch: &Watch) -> Result<PlanFile, String> {
    let mut budget = StudyBudget::new(watch, spec.max_bytes);
    match plan_model(model, &plan_options(spec), &mut budget).map(|result| result.outcome) {
        Some(SearchOutcome::Plan(plan)) => Ok(plan_file(&plan)),
        Some(SearchOutcome::LimitReached(reason)) => {
            Err(format!("{reason} was reached before a plan of the reference"))
        }
        _ => Err("no plan of the reference was found".to_owned()),
    }
}

/// A plan as a validator reads it.
fn plan_file(plan: &planforge_planning::Plan) -> PlanFile {
    let source = planforge_planning::task::TaskText::Plan.source();
    parse_plan(&plan.to_string(), source)
}

/// The walks of every problem's reference, borrowed from it; `None` where no action is applicable initially.
fn walks<'r>(
    reference: &'r ReferenceSuite<'_>,
    spec: &CalibrationSpec,
    watch: &Watch,
) -> Vec<Result<Option<DrawnWalks<'r>>, String>> {
    let most = u64::from(spec.walks.iter().copied().max().unwrap_or(0));
    let draw = |(number, problem): (usize, &'r ReferenceProblem)| {
        let mut budget = StudyBudget::new(watch, spec.max_bytes);
        let seed = stream(spec.seed, &reference.suite.name, &[1 << 32, number as u64]).next_u64();
        DrawnWalks::draw(problem.model.model(), &walk_spec(spec, seed), most, &mut budget)
            .map_err(|reason| format!("{reason} was reached before the reference's walks were drawn"))
    };
    reference.problems.iter().enumerate().map(draw).collect()
}

/// The paper's Definition 1: walks of exactly their length, each step uniform over the applicable actions.
fn walk_spec(spec: &CalibrationSpec, seed: u64) -> SampleSpec {
    SampleSpec {
        t_max: spec.t_max,
        walks_per_length: 1,
        seed,
        dead_ends: DeadEnds::CONDITION,
        policy: WalkPolicy::Uniform,
    }
}

/// The limits of the label's comparison.
fn label_limits(spec: &CalibrationSpec) -> EquivalenceLimits {
    EquivalenceLimits { max_pairs: spec.max_pairs, ground: spec.ground(), ..EquivalenceLimits::default() }
}

fn plan_options(spec: &CalibrationSpec) -> PlanOptions {
    PlanOptions { max_nodes: spec.max_nodes, ground: spec.ground(), ..PlanOptions::default() }
}

fn hde_options(spec: &CalibrationSpec) -> hde::HdeOptions {
    hde::HdeOptions {
        k: NonZeroUsize::new(spec.hde_plans).unwrap_or(NonZeroUsize::MIN),
        max_nodes: spec.max_nodes,
        ground: spec.ground(),
        ..hde::HdeOptions::default()
    }
}
