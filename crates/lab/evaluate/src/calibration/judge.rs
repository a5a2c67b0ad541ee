//! The verifiers, and what each says of a mutant.

use super::reference::{self, ReferenceProblem, ReferenceSuite};
use super::{CalibrationSpec, Mutant};
use crate::study::{StudyBudget, Watch, run_all, stream};
use planforge_contract::Failure;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Domain, Parsed};
use planforge_pddl::{TaskSources, check_domain, check_problem, parse_domain};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::domains::{
    Behaviour, ComparableModel, ComparisonVerdict, Costs, DifferenceKind, DomainComparison,
    EquivalenceLimits, NotCompared, SearchEnd, comparable, compare_models, overall_verdict,
};
use planforge_planning::equivalence::hde::HdeOutcome;
use planforge_planning::walk::{
    DeadEnds, DirectionSampler, DrawnWalks, ExactError, ModelError, exact_direction,
};
use planforge_planning::{PlanFile, SearchOutcome, ValidationDecision, Validator, plan_model};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Time since some moment, the same for all calls.
pub type Clock = dyn Fn() -> Duration + Sync;

/// A verifier. Each accepts a mutant that it cannot tell from the reference on the suite's stated problems, and rejects it otherwise;
/// it rejects as soon as one problem shows a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verifier {
    /// The front end finds no error in the mutant, nor in a problem that is read with it. The reference is not looked at.
    Pddl,
    /// A planner finds a plan in the mutant. The reference is not looked at.
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
            Self::ExactDepth(steps) => format!("planforge equivalent domain --max-depth {steps}"),
        }
    }
}

/// What a verifier says of a mutant.
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

/// What a mutant is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// On every stated problem it behaves like the reference, over the whole reachable space.
    Equal,
    /// On a stated problem it does not.
    Different {
        /// What shows it on the first problem that does.
        by: ShownBy,
        /// The number of steps of the shortest sequence that shows it there.
        steps: usize,
    },
    /// The comparison was left open, and why.
    Undecided(String),
}

/// What shows that two domains differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShownBy {
    /// A step that one executes and the other refuses.
    Refusal,
    /// The goal, which holds in one alone. Walks do not look at goals.
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
pub struct Judged {
    /// What it is.
    pub label: Label,
    /// What finding that out took.
    pub label_time: Duration,
    /// By verifier, in the order of [`CalibrationSpec::verifiers`]: what it says, and the time it takes when nothing but what belongs
    /// to the reference was made before: reading and grounding the mutant are part of every judgement that needs them.
    pub judgements: Vec<(Judgement, Duration)>,
}

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
) -> Result<Vec<Judged>, Failure> {
    let own: Vec<&ReferenceSuite<'_>> = references.iter().collect();
    let walks = run_all(&own, threads, watch, |&r| reference::walks(r, spec, watch))?;
    run_all(mutants, threads, watch, |mutant| {
        let bench =
            Bench { reference: &references[mutant.suite], walks: &walks[mutant.suite], spec, watch, clock };
        bench.judge(mutant)
    })
}

/// Some of the labelled mutants, by index and in order: half of them equal and half different, or more of the one where there are too
/// few of the other. For verifiers that are too dear for all.
pub fn labelled_sample(judged: &[Judged], count: usize, seed: u64) -> Vec<usize> {
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

/// What the judging of one mutant needs.
struct Bench<'r> {
    reference: &'r ReferenceSuite<'r>,
    walks: &'r ReferenceWalks<'r>,
    spec: &'r CalibrationSpec,
    watch: &'r Watch,
    clock: &'r Clock,
}

/// What plans say, with the time until then.
struct Plans {
    solvable: Timed,
    forth: Timed,
    back: Timed,
    both: Timed,
}

type Timed = (Judgement, Duration);

impl Bench<'_> {
    fn judge(&self, mutant: &Mutant) -> Judged {
        let (parsed, reading) = self.timed(|| parse_domain(&mutant.text, SourceId(0)));
        let (pddl, checking) = self.timed(|| self.pddl(&parsed));
        let (models, grounding) = self.timed(|| self.models(&parsed.value));
        let ready = reading + grounding;
        let pddl = (pddl, reading + checking);
        let models = match models {
            Ok(models) => models,
            Err(no) => return self.no_model(pddl, &no.error, ready),
        };
        let (label, comparing) = self.timed(|| self.label(&models));
        let plans = self.plans(&models, ready);
        let (hde, time) = self.timed(|| self.hde(&models));
        let mut judgements =
            vec![pddl, plans.solvable, plans.forth, plans.back, plans.both, (hde, ready + time)];
        judgements.extend(self.sampled(mutant, &models).into_iter().map(|(j, time)| (j, ready + time)));
        let (exact, time) = self.timed(|| self.exact(&models));
        judgements.push((exact, ready + time));
        let (bounded, time) = self.timed(|| self.bounded(&models));
        judgements.push((bounded, ready + time));
        Judged { label, label_time: ready + comparing, judgements }
    }

    fn timed<T>(&self, work: impl FnOnce() -> T) -> (T, Duration) {
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

    fn pddl(&self, parsed: &Parsed<Domain>) -> Judgement {
        let sources = TaskSources { domain: SourceId(0), problem: SourceId(1) };
        let errors = |found: &[Diagnostic]| found.iter().any(Diagnostic::is_error);
        let bad = parsed.has_errors()
            || errors(&check_domain(&parsed.value, SourceId(0)))
            || self.problems().iter().any(|p| errors(&check_problem(&parsed.value, &p.problem, sources)));
        if bad { Judgement::Rejects } else { Judgement::Accepts }
    }

    fn models(&self, domain: &Domain) -> Result<Vec<ComparableModel>, NotCompared> {
        let limits = reference::label_limits(self.spec);
        let one = |p: &ReferenceProblem| {
            comparable(ComparedSide::Second, domain, &p.problem, &limits, &mut self.budget())
        };
        self.problems().iter().map(one).collect()
    }

    /// A text that is no model has no behaviour to compare: a verifier that needs one rejects what has errors, and cannot tell where the
    /// fault is its own.
    fn no_model(&self, pddl: Timed, error: &ModelError, time: Duration) -> Judged {
        let judgement = match error {
            ModelError::Invalid(_) => Judgement::Rejects,
            ModelError::Unsupported(_) | ModelError::Limit(_) => Judgement::Undecided(error.to_string()),
        };
        let others = self.spec.verifiers().len().saturating_sub(1);
        let mut judgements = vec![pddl];
        judgements.extend(std::iter::repeat_n((judgement, time), others));
        Judged { label: Label::Undecided(error.to_string()), label_time: time, judgements }
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
        let found = match self.compare(models, &reference::label_limits(self.spec)) {
            Ok(found) => found,
            Err(no) => return Label::Undecided(no.error.to_string()),
        };
        match overall_verdict(&found) {
            ComparisonVerdict::Equal => Label::Equal,
            ComparisonVerdict::Different => found
                .iter()
                .find_map(different)
                .unwrap_or_else(|| Label::Undecided("the comparison does not say what differs".to_owned())),
            ComparisonVerdict::Open => Label::Undecided(found.iter().find_map(open).unwrap_or_default()),
        }
    }

    fn bounded(&self, models: &[ComparableModel]) -> Judgement {
        let limits =
            EquivalenceLimits { max_depth: Some(self.spec.depth), ..reference::label_limits(self.spec) };
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
            (ComparisonVerdict::Open, _) => Judgement::Undecided(open(c).unwrap_or_default()),
        };
        together(found.iter().map(one))
    }

    fn plans(&self, models: &[ComparableModel], ready: Duration) -> Plans {
        let options = reference::plan_options(self.spec);
        let (found, planning) = self.timed(|| {
            let one =
                |m: &ComparableModel| plan_model(m.model(), &options, &mut self.budget()).map(|r| r.outcome);
            models.iter().map(one).collect::<Vec<Option<SearchOutcome>>>()
        });
        let solvable = together(found.iter().map(solvable));
        let (forth, forward) = self.timed(|| {
            together(self.problems().iter().zip(&found).map(|(own, outcome)| match outcome {
                Some(SearchOutcome::Plan(plan)) => valid(&own.validator, &reference::plan_file(plan)),
                other => self::solvable(other),
            }))
        });
        let (back, backward) = self.timed(|| {
            together(self.problems().iter().zip(models).map(|(own, model)| match &own.plan {
                Ok(plan) => valid(&Validator::new(model.model().lifted().clone()), plan),
                Err(why) => Judgement::Undecided(why.clone()),
            }))
        });
        let both = together([forth.clone(), back.clone()]);
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

    /// What each budget of walks says. The walks of a smaller budget are the first of a larger one, so they are drawn once; the time
    /// of a budget is that of all its walks.
    fn sampled(&self, mutant: &Mutant, models: &[ComparableModel]) -> Vec<Timed> {
        let mut trials: Vec<Trial<'_>> = Vec::new();
        let (_, mut time) = self.timed(|| {
            let all = self.problems().iter().zip(models).zip(self.walks).enumerate();
            trials = all.map(|(i, ((own, other), walks))| self.trial(mutant, i, own, other, walks)).collect();
        });
        let mut order: Vec<usize> = (0..self.spec.walks.len()).collect();
        order.sort_by_key(|&i| self.spec.walks[i]);
        let mut said: Vec<Option<Timed>> = vec![None; order.len()];
        for i in order {
            let total = u64::from(self.spec.walks[i]);
            let (found, more) = self.timed(|| {
                let all: Vec<Judgement> =
                    trials.iter_mut().map(|trial| trial.to(total, &mut self.budget())).collect();
                together(all)
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
        let spec = reference::walk_spec(self.spec, seed);
        match DirectionSampler::new(other.model(), own.model.model(), &spec) {
            Ok(Some(back)) => Trial::Walks { forth: walks.on(other.model()), back: Box::new(back) },
            // Nothing can be executed in the mutant: no score, and no equal.
            Ok(None) => Trial::Said(Judgement::Rejects),
            Err(reason) => Trial::Said(Judgement::Undecided(format!("{reason} was reached"))),
        }
    }

    fn exact(&self, models: &[ComparableModel]) -> Judgement {
        together(self.problems().iter().zip(models).map(|(own, other)| {
            let pair = [own.model.model(), other.model()];
            together([[0, 1], [1, 0]].map(|[source, target]| {
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
                let executed = forth.run_to(total);
                if let Err(reason) = back.draw_to(total, budget) {
                    return Judgement::Undecided(format!("{reason} was reached"));
                }
                match executed && back.score() == Some(1.0) {
                    true => Judgement::Accepts,
                    false => Judgement::Rejects,
                }
            }
        }
    }
}

/// One judgement of several: one that rejects decides, then one that could not tell.
fn together(judgements: impl IntoIterator<Item = Judgement>) -> Judgement {
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

fn solvable(outcome: &Option<SearchOutcome>) -> Judgement {
    match outcome {
        Some(SearchOutcome::Plan(_)) => Judgement::Accepts,
        Some(SearchOutcome::ProvenUnsolvable(_)) => Judgement::Rejects,
        Some(SearchOutcome::Exhausted) => {
            Judgement::Undecided("the search was exhausted without a proof".to_owned())
        }
        Some(SearchOutcome::LimitReached(reason)) => Judgement::Undecided(format!("{reason} was reached")),
        Some(SearchOutcome::Unsupported(_)) | None => {
            Judgement::Undecided("the planner does not take it".to_owned())
        }
    }
}

fn valid(validator: &Validator, plan: &PlanFile) -> Judgement {
    match validator.validate(plan).decision {
        ValidationDecision::Valid => Judgement::Accepts,
        ValidationDecision::Invalid => Judgement::Rejects,
        ValidationDecision::Unsupported(_) => {
            Judgement::Undecided("the validator does not execute it".to_owned())
        }
    }
}

fn different(comparison: &DomainComparison) -> Option<Label> {
    let by = match &comparison.behaviour {
        Behaviour::Different(found) => match found.kind {
            DifferenceKind::Refused { .. } => ShownBy::Refusal,
            DifferenceKind::Goal { .. } => ShownBy::Goal,
        },
        _ => ShownBy::Cost,
    };
    Some(Label::Different { by, steps: comparison.shown_after()? })
}

/// Why a comparison is open.
fn open(comparison: &DomainComparison) -> Option<String> {
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
