//! Blame: the side of a candidate, domain or problem, whose change would remove a disagreement with the environment.
//!
//! Every single edit of each side is tried on the candidate's own texts. An edit counts if the candidate then agrees with the
//! environment on the failing sequence and still agrees on all other sequences on which it agreed. These are walks of both
//! sides, and walks with another action at their end. So nothing is used but what the environment executes and refuses.

use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall, Host};
use planforge_contract::{Failure, Sequences, WalkPolicy as WalkChoice, WalkSpec};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Atom, Condition, Domain, InitElement, Problem, Term, TypedName};
use planforge_pddl::mutate::{MutationKind, ProblemPart, all_mutations, apply_mutations, problem_mutants};
use planforge_pddl::random::Random;
use planforge_planning::walk::{
    DeadEnds, Model, ModelOptions, NamedStep, SampleSpec, WalkPolicy, sample_walks,
};
use planforge_planning::{PlanFile, ResourceLimits, ValidationDecision, Validator, normalize, parse_plan};

/// Kinds of single edits of a domain.
const KINDS: [MutationKind; 6] = [
    MutationKind::Omission,
    MutationKind::ReplacedArgument,
    MutationKind::SwappedArguments,
    MutationKind::Negation,
    MutationKind::Retarget,
    MutationKind::Addition,
];
/// Most edits of each side that are tried.
const MOST_EDITS: usize = 2000;
/// Most facts over the objects of the failing sequence that are tried, for each predicate.
const MOST_FACTS: usize = 200;
/// Walks of each side, and their length.
const WALKS: u32 = 40;
const LENGTH: u32 = 10;
/// Walks that get another action at their end.
const MIXED: usize = 200;
/// The seed of all walks: the same candidate gets the same ones.
const SEED: u64 = 0x626c_616d;

/// A sequence of actions with its outcome in the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// Ground actions as `(name object ...)`.
    pub steps: Vec<String>,
    /// Steps executed before the first refusal.
    pub executed: usize,
    /// True if the goal holds after all steps; `None` if that is not known.
    pub goal: Option<bool>,
}

/// The sides whose single edit would remove a disagreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blame {
    /// An edit of the domain would.
    pub domain: bool,
    /// An edit of the problem would.
    pub problem: bool,
}

/// Tries single edits of both sides. `None` if the candidate agrees with the environment on the failing sequence, or if a limit ended
/// the search.
///
/// # Errors
/// Failure of the environment.
pub fn blame(
    host: &dyn Host,
    domain: &Domain,
    problem: &Problem,
    failing: &Trial,
    budget: &mut dyn ResourceLimits,
) -> Result<Option<Blame>, Failure> {
    let failing = Tried::new(failing.clone());
    if agreement(domain, problem, [&failing], budget) != Some(false) {
        return Ok(None);
    }
    let others: Vec<Tried> = evidence(host, domain, problem, budget)?
        .into_iter()
        .map(Tried::new)
        .filter(|trial| agreement(domain, problem, [trial], budget) == Some(true))
        .collect();
    let mut search = Search { failing, others, budget, stopped: false };
    let names: Vec<String> = search.failing.names();
    let of_domain = KINDS
        .into_iter()
        .flat_map(|kind| all_mutations(domain, kind))
        .filter(|m| m.action.as_ref().is_some_and(|a| names.iter().any(|n| a.is(n))))
        .map(|mutation| (apply_mutations(domain, &[mutation]), problem.clone()));
    let by_domain = search.any(of_domain);
    let of_problem = problems(domain, problem, &search.failing.trial);
    let by_problem = search.any(of_problem.into_iter().map(|problem| (domain.clone(), problem)));
    let blame = Blame { domain: by_domain, problem: by_problem };
    Ok((!search.stopped).then_some(blame))
}

/// A trial with its parsed steps.
struct Tried {
    trial: Trial,
    plan: PlanFile,
}

impl Tried {
    fn new(trial: Trial) -> Self {
        let plan = parse_plan(&trial.steps.join("\n"), SourceId(2));
        Self { trial, plan }
    }

    /// The names of its actions, in lower case.
    fn names(&self) -> Vec<String> {
        let steps = self.trial.steps.iter().filter_map(|step| NamedStep::parse(step));
        steps.map(|step| step.name.to_lowercase()).collect()
    }
}

struct Search<'b> {
    failing: Tried,
    /// Sequences on which the candidate agrees with the environment.
    others: Vec<Tried>,
    budget: &'b mut dyn ResourceLimits,
    stopped: bool,
}

impl Search<'_> {
    /// True if one of the edited candidates agrees on everything.
    fn any(&mut self, edited: impl Iterator<Item = (Domain, Problem)>) -> bool {
        for (domain, problem) in edited.take(MOST_EDITS) {
            if let planforge_planning::Poll::Stop(_) = self.budget.poll() {
                self.stopped = true;
            }
            if self.stopped {
                return false;
            }
            let all = std::iter::once(&self.failing).chain(&self.others);
            if agreement(&domain, &problem, all, self.budget) == Some(true) {
                return true;
            }
        }
        false
    }
}

/// True if a candidate executes as many steps of each sequence as the environment, and agrees on the goal where that is known. `None` if
/// it cannot be executed.
fn agreement<'t>(
    domain: &Domain,
    problem: &Problem,
    trials: impl IntoIterator<Item = &'t Tried>,
    budget: &mut dyn ResourceLimits,
) -> Option<bool> {
    let validator = Validator::new(normalize(domain, problem).ok()?);
    for Tried { trial, plan } in trials {
        let report = validator.validate(plan, budget);
        if !matches!(report.decision, ValidationDecision::Valid | ValidationDecision::Invalid) {
            return None;
        }
        let executed = report.trace.len();
        let agrees_on_goal = trial.goal.is_none_or(|goal| goal == report.is_valid());
        if executed != trial.executed || !agrees_on_goal {
            return Some(false);
        }
    }
    Some(true)
}

/// Sequences with their outcome in the environment.
fn evidence(
    host: &dyn Host,
    domain: &Domain,
    problem: &Problem,
    budget: &mut dyn ResourceLimits,
) -> Result<Vec<Trial>, Failure> {
    let spec =
        WalkSpec { lengths: vec![LENGTH; WALKS as usize], seed: SEED, policy: WalkChoice::CoverageGuided };
    let EnvironmentAnswer::Walks(walks) = host.environment(EnvironmentCall::Walks(spec))? else {
        return Ok(Vec::new());
    };
    let whole = |steps: Vec<String>| Trial { executed: steps.len(), steps, goal: None };
    let mut trials: Vec<Trial> = walks.walks.into_iter().map(whole).collect();
    let own = candidate_walks(domain, problem, budget);
    let pool: Vec<String> =
        trials.iter().flat_map(|t| &t.steps).chain(own.iter().flatten()).cloned().collect();
    let mut random = Random::new(SEED);
    let mut tried = own;
    for _ in 0..MIXED {
        let (Some(walk), Some(step)) = (random.pick(&trials), random.pick(&pool)) else { break };
        let kept = random.below(walk.steps.len() as u64 + 1) as usize;
        tried.push(walk.steps.iter().take(kept).chain([step]).cloned().collect());
    }
    let call = EnvironmentCall::Execute(Sequences { sequences: tried.clone() });
    if let EnvironmentAnswer::Execute(report) = host.environment(call)? {
        let ends = tried.into_iter().zip(report.executions);
        trials.extend(ends.map(|(steps, end)| Trial { steps, executed: end.executed as usize, goal: None }));
    }
    Ok(trials)
}

/// Walks of the candidate; none if it cannot be walked in.
fn candidate_walks(domain: &Domain, problem: &Problem, budget: &mut dyn ResourceLimits) -> Vec<Vec<String>> {
    let Ok(model) = Model::new(domain, problem, &ModelOptions::default(), budget) else { return Vec::new() };
    let spec = SampleSpec {
        t_max: LENGTH,
        walks_per_length: WALKS.div_ceil(LENGTH),
        seed: SEED,
        dead_ends: DeadEnds::Truncate,
        policy: WalkPolicy::CoverageGuided,
    };
    let walks = sample_walks(&model, &spec, budget).ok().flatten().unwrap_or_default();
    walks.into_iter().flatten().map(|walk| walk.iter().map(NamedStep::to_string).collect()).collect()
}

/// The problems that differ by one edit. The goal is edited only if it is known to be in question.
fn problems(domain: &Domain, problem: &Problem, failing: &Trial) -> Vec<Problem> {
    let mutants = |part| problem_mutants(domain, problem, part).into_iter().map(|mutant| mutant.problem);
    let facts = facts_near(domain, problem, failing);
    let mut found: Vec<Problem> = Vec::new();
    if failing.goal.is_some() {
        found.extend(mutants(ProblemPart::Goal));
        let parts = problem.goal.as_ref().map(|goal| goal.conjuncts().to_vec()).unwrap_or_default();
        found.extend(facts.iter().map(|fact| {
            let mut parts = parts.clone();
            parts.push(Condition::Atom(fact.clone()));
            let span = planforge_diagnostics::Span::default();
            Problem { goal: Some(Condition::And(parts, span)), ..problem.clone() }
        }));
    }
    found.extend(mutants(ProblemPart::Init));
    let held: Vec<String> =
        problem.init.iter().map(|f| planforge_pddl::print_init(f).to_lowercase()).collect();
    for fact in facts {
        let fact = InitElement::Atom(fact);
        if !held.contains(&planforge_pddl::print_init(&fact).to_lowercase()) {
            let mut more = problem.clone();
            more.init.push(fact);
            found.push(more);
        }
    }
    found
}

/// The facts over the objects that the failing sequence names, by predicate.
fn facts_near(domain: &Domain, problem: &Problem, failing: &Trial) -> Vec<Atom> {
    let steps = failing.steps.iter().filter_map(|step| NamedStep::parse(step));
    let named: Vec<String> = steps.flat_map(|step| step.args).map(|name| name.to_lowercase()).collect();
    let is_near = |object: &&TypedName| named.iter().any(|name| object.name.is(name));
    let objects: Vec<&TypedName> = domain.constants.iter().chain(&problem.objects).filter(is_near).collect();
    let mut facts = Vec::new();
    for predicate in &domain.predicates {
        let mut partial: Vec<Vec<Term>> = vec![Vec::new()];
        for _ in &predicate.parameters {
            let longer = partial.iter().flat_map(|args| {
                let next = |object: &&TypedName| {
                    args.iter().cloned().chain([Term::Constant(object.name.clone())]).collect::<Vec<_>>()
                };
                objects.iter().map(next)
            });
            partial = longer.take(MOST_FACTS).collect();
        }
        let span = planforge_diagnostics::Span::default();
        facts.extend(partial.into_iter().map(|args| Atom { predicate: predicate.name.clone(), args, span }));
    }
    facts
}
