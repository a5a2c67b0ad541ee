//! The verifiers that are calibrated, and their judgements of mutants.

use super::{
    CalibrationSpec, Mutant, ReferenceProblem, ReferenceSuite, label_limits, plan_file, plan_options,
    walk_spec, walks,
};
use crate::study::{StudyBudget, Watch, run_all, stream};
use planforge_contract::Failure;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Domain, Parsed, Problem};
use planforge_pddl::{TaskSources, check_domain, check_problem, parse_domain, parse_problem};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::domains::{
    Behaviour, ComparableModel, ComparisonVerdict, Costs, DifferenceKind, DomainComparison,
    EquivalenceLimits, NotCompared, SearchEnd, comparable, compare_models, overall_verdict,
};
use planforge_planning::equivalence::hde::HdeOutcome;
use planforge_planning::walk::{
    DeadEnds, DirectionSampler, DrawnWalks, ExactError, GoalPlan, Model, ModelError, NamedStep,
    exact_direction, exact_goals, goal_plan,
};
use planforge_planning::{PlanFile, SearchOutcome, ValidationDecision, Validator, plan_model};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Time since some moment, the same for all calls.
pub type Clock = dyn Fn() -> Duration + Sync;

/// Judges every mutant by every verifier, several at a time.
///
/// # Errors
/// `study.cancelled`, `study.threads`.
pub fn judge_all(
    references: &[ReferenceSuite<'_>],
    mutants: &[Mutant],
    spec: &CalibrationSpec,
    threads: usize,
    watch: &Watch,
    clock: &Clock,
) -> Result<Vec<JudgedMutant>, Failure> {
    let own: Vec<&ReferenceSuite<'_>> = references.iter().collect();
    let walks = run_all(&own, threads, watch, |&r| walks(r, spec, watch))?;
    run_all(mutants, threads, watch, |mutant| {
        let bench =
            Bench { reference: &references[mutant.suite], walks: &walks[mutant.suite], spec, watch, clock };
        bench.judge(mutant)
    })
}

/// Some of the labelled mutants, by index and in order: half of them equal and half different, or more of the one where there are too
/// few of the other. For verifiers that are too dear for all.
pub fn labelled_sample(judged: &[JudgedMutant], count: usize, seed: u64) -> Vec<usize> {
    let of = |word: &str| {
        let mut all: Vec<usize> = (0..judged.len()).filter(|&i| judged[i].label.word() == word).collect();
        let most = all.len();
        stream(seed, word, &[3 << 32]).shuffle_front(&mut all, most);
        all
    };
    let (equal, different) = (of("equal"), of("different"));
    let from_equal = (count - count / 2).min(equal.len()).max(count.saturating_sub(different.len()));
    let from_equal = from_equal.min(equal.len());
    let rest = different.into_iter().take(count - from_equal);
    let mut chosen: Vec<usize> = equal.into_iter().take(from_equal).chain(rest).collect();
    chosen.sort_unstable();
    chosen
}

type ReferenceWalks<'r> = [Result<Option<DrawnWalks<'r>>, String>];

/// The reference and limits for judging one mutant.
struct Bench<'r> {
    reference: &'r ReferenceSuite<'r>,
    walks: &'r ReferenceWalks<'r>,
    spec: &'r CalibrationSpec,
    watch: &'r Watch,
    clock: &'r Clock,
}

/// Judgements of the plan verifiers, with the time until each.
struct Plans {
    solvable: Timed,
    forth: Timed,
    back: Timed,
    both: Timed,
}

type Timed = (Judgement, Duration);

impl Bench<'_> {
    fn judge(&self, mutant: &Mutant) -> JudgedMutant {
        let (texts, reading) = self.time_work(|| self.read(mutant));
        let (pddl, checking) = self.time_work(|| self.pddl(&texts));
        let (models, grounding) = self.time_work(|| self.models(&texts));
        let ready = reading + grounding;
        let pddl = (pddl, reading + checking);
        let models = match models {
            Ok(models) => models,
            Err(no) => return self.no_model(pddl, &no.error, ready),
        };
        let (label, comparing) = self.time_work(|| self.label(&models));
        let plans = self.plans(&models, ready);
        let (hde, time) = self.time_work(|| self.hde(&models));
        let mut judgements =
            vec![pddl, plans.solvable, plans.forth, plans.back, plans.both, (hde, ready + time)];
        judgements
            .extend(self.judge_by_walks(mutant, &models).into_iter().map(|(j, time)| (j, ready + time)));
        let (exact, time) = self.time_work(|| self.exact(&models));
        judgements.push((exact.clone(), ready + time));
        let (goals, more) = self.time_work(|| self.goals(&models));
        judgements.push((combine([exact, goals]), ready + time + more));
        let (bounded, time) = self.time_work(|| self.judge_to_depth(&models));
        judgements.push((bounded, ready + time));
        JudgedMutant { label, label_time: ready + comparing, judgements }
    }

    fn time_work<T>(&self, work: impl FnOnce() -> T) -> (T, Duration) {
        let start = (self.clock)();
        let result = work();
        (result, (self.clock)().saturating_sub(start))
    }

    fn budget(&self) -> StudyBudget<'_> {
        StudyBudget::new(self.watch, self.spec.max_bytes)
    }

    fn problems(&self) -> &[ReferenceProblem] {
        &self.reference.problems
    }

    fn read(&self, mutant: &Mutant) -> MutantTexts {
        let own = self.problems().iter().map(|p| p.problem.clone());
        let mut texts = match mutant.problem {
            None => {
                let Parsed { value, diagnostics } = parse_domain(&mutant.text, SourceId(0));
                MutantTexts { domain: value, problems: own.collect(), diagnostics }
            }
            Some(_) => MutantTexts {
                domain: self.reference.suite.domain.clone(),
                problems: own.collect(),
                diagnostics: Vec::new(),
            },
        };
        if let Some(problem) = mutant.problem.and_then(|index| texts.problems.get_mut(index)) {
            let parsed = parse_problem(&mutant.text, SourceId(1));
            *problem = parsed.value;
            texts.diagnostics = parsed.diagnostics;
        }
        texts
    }

    fn pddl(&self, texts: &MutantTexts) -> Judgement {
        let sources = TaskSources { domain: SourceId(0), problem: SourceId(1) };
        let errors = |found: &[Diagnostic]| found.iter().any(Diagnostic::is_error);
        let bad = errors(&texts.diagnostics)
            || errors(&check_domain(&texts.domain, SourceId(0)))
            || texts.problems.iter().any(|p| errors(&check_problem(&texts.domain, p, sources)));
        if bad { Judgement::Rejects } else { Judgement::Accepts }
    }

    fn models(&self, texts: &MutantTexts) -> Result<Vec<ComparableModel>, NotCompared> {
        let limits = label_limits(self.spec);
        let one =
            |p: &Problem| comparable(ComparedSide::Second, &texts.domain, p, &limits, &mut self.budget());
        texts.problems.iter().map(one).collect()
    }

    /// Judgements of a text without a model: a verifier that needs one rejects texts with errors, and is
    /// undecided if the fault is its own.
    fn no_model(&self, pddl: Timed, error: &ModelError, time: Duration) -> JudgedMutant {
        let judgement = match error {
            ModelError::Invalid(_) => Judgement::Rejects,
            ModelError::Unsupported(_) | ModelError::Limit(_) => Judgement::Undecided(error.to_string()),
        };
        let others = self.spec.verifiers().len().saturating_sub(1);
        let mut judgements = vec![pddl];
        judgements.extend(std::iter::repeat_n((judgement, time), others));
        JudgedMutant { label: Label::Undecided(error.to_string()), label_time: time, judgements }
    }

    fn compare(
        &self,
        models: &[ComparableModel],
        limits: &EquivalenceLimits,
    ) -> Result<Vec<DomainComparison>, NotCompared> {
        let mut found = Vec::new();
        for (own, other) in self.problems().iter().zip(models) {
            let one = compare_models([&own.model, other], limits, &mut self.budget())?;
            let different = one.verdict() == ComparisonVerdict::Different;
            found.push(one);
            // The others cannot change the answer.
            if different {
                break;
            }
        }
        Ok(found)
    }

    fn label(&self, models: &[ComparableModel]) -> Label {
        let found = match self.compare(models, &label_limits(self.spec)) {
            Ok(found) => found,
            Err(no) => return Label::Undecided(no.error.to_string()),
        };
        match overall_verdict(&found) {
            ComparisonVerdict::Equal => Label::Equal,
            ComparisonVerdict::Different => found.iter().find_map(different_label).unwrap_or_else(|| {
                Label::Undecided("the comparison found no difference and no equality".to_owned())
            }),
            ComparisonVerdict::Open => {
                Label::Undecided(found.iter().find_map(open_reason).unwrap_or_default())
            }
        }
    }

    fn judge_to_depth(&self, models: &[ComparableModel]) -> Judgement {
        let limits = EquivalenceLimits { max_depth: Some(self.spec.depth), ..label_limits(self.spec) };
        let found = match self.compare(models, &limits) {
            Ok(found) => found,
            Err(no) => return Judgement::Undecided(no.error.to_string()),
        };
        let one = |c: &DomainComparison| match (c.verdict(), &c.behaviour) {
            (ComparisonVerdict::Different, _) => Judgement::Rejects,
            (ComparisonVerdict::Equal, _) => Judgement::Accepts,
            (ComparisonVerdict::Open, Behaviour::EqualUpTo { end: SearchEnd::Depth, .. })
                if !matches!(c.costs, Costs::NotCompared { .. }) =>
            {
                Judgement::Accepts
            }
            (ComparisonVerdict::Open, _) => Judgement::Undecided(open_reason(c).unwrap_or_default()),
        };
        combine(found.iter().map(one))
    }

    fn plans(&self, models: &[ComparableModel], ready: Duration) -> Plans {
        let options = plan_options(self.spec);
        let (found, planning) = self.time_work(|| {
            let one =
                |m: &ComparableModel| plan_model(m.model(), &options, &mut self.budget()).map(|r| r.outcome);
            models.iter().map(one).collect::<Vec<Option<SearchOutcome>>>()
        });
        let solvable = combine(found.iter().map(judge_solvable));
        let (forth, forward) = self.time_work(|| {
            combine(self.problems().iter().zip(&found).map(|(own, outcome)| match outcome {
                Some(SearchOutcome::Plan(plan)) => {
                    judge_plan(&own.validator, &plan_file(plan), self.budget())
                }
                other => self::judge_solvable(other),
            }))
        });
        let (back, backward) = self.time_work(|| {
            combine(self.problems().iter().zip(models).map(|(own, model)| match &own.plan {
                Ok(plan) => {
                    let validator = Validator::new(model.model().lifted().clone());
                    judge_plan(&validator, plan, self.budget())
                }
                Err(why) => Judgement::Undecided(why.clone()),
            }))
        });
        let both = combine([forth.clone(), back.clone()]);
        Plans {
            solvable: (solvable, ready + planning),
            forth: (forth, ready + planning + forward),
            back: (back, ready + backward),
            both: (both, ready + planning + forward + backward),
        }
    }

    fn hde(&self, models: &[ComparableModel]) -> Judgement {
        let reference = match &self.reference.hde {
            Ok(reference) => reference,
            Err(why) => return Judgement::Undecided(why.clone()),
        };
        let candidates: Vec<&ComparableModel> = models.iter().collect();
        match reference.compare_models(&candidates, &mut self.budget()).map(|hde| hde.outcome) {
            Ok(HdeOutcome::Equivalent) => Judgement::Accepts,
            Ok(HdeOutcome::Different { .. }) => Judgement::Rejects,
            Ok(HdeOutcome::Undecided { stopped, .. }) => {
                Judgement::Undecided(format!("{stopped} was reached"))
            }
            Err(no) => Judgement::Undecided(no.error.to_string()),
        }
    }

    /// Judgements for each budget of walks. The walks of a smaller budget are the first of a larger one, so
    /// they are drawn once; the time of a budget is that of all its walks.
    fn judge_by_walks(&self, mutant: &Mutant, models: &[ComparableModel]) -> Vec<Timed> {
        let mut trials: Vec<Trial<'_>> = Vec::new();
        let (_, mut time) = self.time_work(|| {
            let all = self.problems().iter().zip(models).zip(self.walks).enumerate();
            trials = all.map(|(i, ((own, other), walks))| self.trial(mutant, i, own, other, walks)).collect();
        });
        let mut order: Vec<usize> = (0..self.spec.walks.len()).collect();
        order.sort_by_key(|&i| self.spec.walks[i]);
        let mut said: Vec<Option<Timed>> = vec![None; order.len()];
        for i in order {
            let total = u64::from(self.spec.walks[i]);
            let (found, more) = self.time_work(|| {
                let all: Vec<Judgement> =
                    trials.iter_mut().map(|trial| trial.to(total, &mut self.budget())).collect();
                combine(all)
            });
            time += more;
            said[i] = Some((found, time));
        }
        said.into_iter().flatten().collect()
    }

    fn trial<'t>(
        &'t self,
        mutant: &Mutant,
        number: usize,
        own: &'t ReferenceProblem,
        other: &'t ComparableModel,
        walks: &'t Result<Option<DrawnWalks<'_>>, String>,
    ) -> Trial<'t> {
        let walks = match walks {
            Ok(Some(walks)) => walks,
            Ok(None) => {
                return Trial::Said(Judgement::Undecided("the reference has no first action".to_owned()));
            }
            Err(why) => return Trial::Said(Judgement::Undecided(why.clone())),
        };
        let place = [2 << 32, number as u64, mutant.number as u64];
        let seed = stream(self.spec.seed, &self.reference.suite.name, &place).next_u64();
        let spec = walk_spec(self.spec, seed);
        match DirectionSampler::new(other.model(), own.model.model(), &spec, &mut self.budget()) {
            Ok(Some(back)) => Trial::Walks { forth: walks.on(other.model()), back: Box::new(back) },
            // Nothing can be executed in the mutant: no score, and no equal.
            Ok(None) => Trial::Said(Judgement::Rejects),
            Err(reason) => Trial::Said(Judgement::Undecided(format!("{reason} was reached"))),
        }
    }

    fn exact(&self, models: &[ComparableModel]) -> Judgement {
        combine(self.problems().iter().zip(models).map(|(own, other)| {
            let pair = [own.model.model(), other.model()];
            combine([[0, 1], [1, 0]].map(|[source, target]| {
                let (t_max, most) = (self.spec.t_max, self.spec.walk_pairs);
                let mut budget = self.budget();
                let found = exact_direction(
                    pair[source],
                    pair[target],
                    t_max,
                    DeadEnds::CONDITION,
                    most,
                    &mut budget,
                );
                match found {
                    Ok(Some(found)) if found.score() == Some(1.0) => Judgement::Accepts,
                    Ok(None) if source == 0 => {
                        Judgement::Undecided("the reference has no first action".to_owned())
                    }
                    Ok(_) => Judgement::Rejects,
                    Err(error @ (ExactError::Pairs { .. } | ExactError::Stopped(_))) => {
                        Judgement::Undecided(error.to_string())
                    }
                }
            }))
        }))
    }

    /// Accepts if the goals agree on every goal walk of either side.
    fn goals(&self, models: &[ComparableModel]) -> Judgement {
        combine(self.problems().iter().zip(models).map(|(own, other)| {
            let pair = [own.model.model(), other.model()];
            let found = goal_plan(pair[1], self.spec.max_nodes, &mut self.budget());
            let plans = match (&own.goal_plan, &found) {
                (Ok(own), Ok(other)) => [own, other],
                (Err(reason), _) | (_, Err(reason)) => {
                    return Judgement::Undecided(format!("{reason} was reached"));
                }
            };
            combine([[0, 1], [1, 0]].map(|[source, target]| match (plans[source], plans[target]) {
                (GoalPlan::Plan(plan), _) => self.goals_one_way(pair[source], pair[target], plan),
                (GoalPlan::NotFound(why), _) => Judgement::Undecided(why.clone()),
                (GoalPlan::Unsolvable, GoalPlan::Plan(_)) => Judgement::Rejects,
                (GoalPlan::Unsolvable, _) => Judgement::Undecided("no plan reaches a goal".to_owned()),
            }))
        }))
    }

    fn goals_one_way(&self, source: &Model, target: &Model, plan: &[NamedStep]) -> Judgement {
        let (t_max, most) = (self.spec.t_max, self.spec.walk_pairs);
        match exact_goals(source, target, plan, t_max, most, &mut self.budget()) {
            Ok(Some(found)) if found.difference.is_none() => Judgement::Accepts,
            Ok(_) => Judgement::Rejects,
            Err(error) => Judgement::Undecided(error.to_string()),
        }
    }
}

/// A mutant as domain and problems, one of them changed.
struct MutantTexts {
    domain: Domain,
    problems: Vec<Problem>,
    /// Diagnostics of the changed text.
    diagnostics: Vec<Diagnostic>,
}

/// Walks between the reference and a mutant on one problem.
enum Trial<'t> {
    Said(Judgement),
    Walks { forth: planforge_planning::walk::WalkExecution<'t>, back: Box<DirectionSampler<'t>> },
}

impl Trial<'_> {
    fn to(&mut self, total: u64, budget: &mut StudyBudget<'_>) -> Judgement {
        match self {
            Trial::Said(judgement) => judgement.clone(),
            Trial::Walks { forth, back } => {
                let executed = match forth.run_to(total, budget) {
                    Ok(executed) => back.draw_to(total, budget).map(|()| executed),
                    Err(reason) => Err(reason),
                };
                let executed = match executed {
                    Ok(executed) => executed,
                    Err(reason) => return Judgement::Undecided(format!("{reason} was reached")),
                };
                match executed && back.score() == Some(1.0) {
                    true => Judgement::Accepts,
                    false => Judgement::Rejects,
                }
            }
        }
    }
}

/// One judgement of several: one that rejects decides, then one that could not tell.
fn combine(judgements: impl IntoIterator<Item = Judgement>) -> Judgement {
    let mut all = Judgement::Accepts;
    for one in judgements {
        match one {
            Judgement::Rejects => return Judgement::Rejects,
            Judgement::Accepts => {}
            other if all == Judgement::Accepts => all = other,
            _ => {}
        }
    }
    all
}

fn judge_solvable(outcome: &Option<SearchOutcome>) -> Judgement {
    match outcome {
        Some(SearchOutcome::Plan(_)) => Judgement::Accepts,
        Some(SearchOutcome::ProvenUnsolvable(_)) => Judgement::Rejects,
        Some(SearchOutcome::LimitReached(reason)) => Judgement::Undecided(format!("{reason} was reached")),
        Some(SearchOutcome::Unsupported(_)) | None => {
            Judgement::Undecided("the planner does not take it".to_owned())
        }
    }
}

fn judge_plan(validator: &Validator, plan: &PlanFile, mut budget: StudyBudget<'_>) -> Judgement {
    match validator.validate(plan, &mut budget).decision {
        ValidationDecision::Valid => Judgement::Accepts,
        ValidationDecision::Invalid => Judgement::Rejects,
        ValidationDecision::LimitReached(reason) => Judgement::Undecided(format!("{reason} ended it")),
        ValidationDecision::Unsupported(_) => {
            Judgement::Undecided("the validator does not execute it".to_owned())
        }
    }
}

fn different_label(comparison: &DomainComparison) -> Option<Label> {
    let by = match &comparison.behaviour {
        Behaviour::Different(found) => match found.kind {
            DifferenceKind::Refused { .. } => ShownBy::Refusal,
            DifferenceKind::Goal { .. } => ShownBy::Goal,
        },
        _ => ShownBy::Cost,
    };
    Some(Label::Different { by, steps: comparison.shown_after()? })
}

/// The reason why a comparison is open.
fn open_reason(comparison: &DomainComparison) -> Option<String> {
    match (&comparison.behaviour, &comparison.costs) {
        (Behaviour::EqualUpTo { steps, end }, _) => {
            let what = match end {
                SearchEnd::Pairs => "the limit on pairs of states".to_owned(),
                SearchEnd::Depth => "the longest sequence".to_owned(),
                SearchEnd::Stopped(reason) => reason.to_string(),
            };
            Some(format!("{what} was reached; equal up to {steps} steps"))
        }
        (_, Costs::NotCompared { what, .. }) => Some(format!("costs were not compared: {what}")),
        _ => None,
    }
}

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
