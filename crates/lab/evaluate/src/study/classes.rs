//! Result classes (action-by-action paper, section 3) against an independent reference: mutants of every
//! action of a suite, classified.
//!
//! A mutant with a flaw by construction must get the class of that flaw. For the others an exact comparison
//! decides equality on the suite's problems, and the comparison by the k cheapest plans ([`hde`]) stands
//! beside it. Every plan that such a verdict rests on is listed ([`Witness`]), so that another program can
//! judge it.
//!
//! Draws depend on the seed, the suite's name and the action's place; limits are counts.
//!
//! [`Unseen`] is the reason why the cheapest plans do not show a difference that is there. The shortest sequence
//! that one domain executes and the other does not is continued to a plan of the one that executes it. Where
//! that is possible, the plan is one of one domain alone, and what it costs says why it is not among the k
//! cheapest.

use super::{StudySuite, Watch, run_all, stream};
use crate::study::StudyBudget;
use crate::table::{Align, Table};
use planforge_contract::Failure;
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Action, Domain, InitElement, Problem, Term};
use planforge_pddl::mutate::action::{ActionMutant, ActionMutantKind, action_mutants};
use planforge_pddl::{Name, print_action, print_domain, print_init};
use planforge_planning::equivalence::domains::{
    Behaviour, ComparableModel, ComparisonVerdict, Costs, DifferenceKind, EquivalenceLimits, comparable,
    compare_models,
};
use planforge_planning::equivalence::hde::{HdeDifference, HdeOutcome, HdeReference, HdeResult, HdeRule};
use planforge_planning::equivalence::{ComparedSide, hde};
use planforge_planning::result_class::{
    BadPreconditionRule, ClassifiedReply, ResultClass, ResultGroup, classify_action,
};
use planforge_planning::walk::{Model, NamedStep, Refusal, Semantics, execute_steps};
use planforge_planning::{StopReason, TopKOptions, TopKOutcome, top_k};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

/// The actions to judge, and limits as counts.
#[derive(Debug, Clone)]
pub struct ClassesSpec {
    /// Mutants of each action; fewer where an action has no more distinct ones.
    pub mutants: usize,
    /// For the draws.
    pub seed: u64,
    /// Plans of each problem: the first decides the class, the others are compared with it. Never empty.
    pub k: Vec<NonZeroUsize>,
    /// Most search nodes for the plans of one problem in one domain.
    pub max_nodes: u64,
    /// Most pairs of states of an exact comparison.
    pub max_pairs: u64,
    /// Most bytes of one mutant's tables.
    pub max_bytes: u64,
}

/// A plan that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The problem's place in the suite, from 0.
    pub problem: usize,
    /// The plan.
    pub steps: Vec<NamedStep>,
    /// True if it is a plan of the true domain, and of the one with the mutant in it.
    pub valid: [bool; 2],
}

/// A difference by the exact comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactDifference {
    /// The problem's place in the suite, from 0.
    pub problem: usize,
    /// The shortest sequence that shows it.
    pub steps: Vec<NamedStep>,
    /// The domain that executes all of it or reaches the goal; the other does not. Absent if only costs
    /// differ.
    pub executed_by: Option<ComparedSide>,
}

/// The result of an exact comparison over all problems of the suite.
#[derive(Debug, Clone, PartialEq)]
pub enum Exact {
    /// Equal over the whole reachable space of every problem.
    Equal,
    Different(ExactDifference),
    /// A limit was reached without a difference.
    Open,
}

impl Exact {
    /// The verdict without its reason.
    pub const fn verdict(&self) -> ComparisonVerdict {
        match self {
            Exact::Equal => ComparisonVerdict::Equal,
            Exact::Different(_) => ComparisonVerdict::Different,
            Exact::Open => ComparisonVerdict::Open,
        }
    }
}

/// The behaviour of a mutant without a flaw.
#[derive(Debug, Clone, PartialEq)]
pub struct Behaves {
    /// The domain with the mutant in it, as text.
    pub domain: String,
    /// By the exact comparison.
    pub exact: Exact,
    /// By the plans of each k of the specification, in its order; the first is the mutant's class.
    pub classes: Vec<ResultClass>,
    /// A plan that the class rests on: the one that one domain lost or gained, or where all agree the cheapest.
    pub witness: Option<Witness>,
    /// By the counting of the paper's code, where the mutant is exactly equal.
    pub counted: Option<ResultClass>,
    /// The reason why plans do not show the difference, where there is one and they do not.
    pub unseen: Option<Unseen>,
}

/// A mutant and what became of it.
#[derive(Debug, Clone)]
pub struct JudgedMutant {
    /// Index of the suite.
    pub suite: usize,
    /// Index of the action in its domain.
    pub action: usize,
    pub mutant: ActionMutant,
    pub class: ResultClass,
    /// The first finding, or the reason why there is no decision.
    pub finding: Option<String>,
    /// The behaviour, for mutants without a flaw by construction.
    pub behaves: Option<Behaves>,
}

impl JudgedMutant {
    /// True if the class is not the one that the mutant has by construction. A mutant without a flaw may have
    /// any class of behaviour.
    pub fn is_misjudged(&self) -> bool {
        match self.mutant.flaw {
            Some(flaw) => self.class != ResultClass::from(flaw),
            None => self.behaves.is_none(),
        }
    }

    /// True if plans call different what is exactly equal.
    pub fn contradicts(&self) -> bool {
        let different = [ResultClass::NoPlan, ResultClass::NPApp, ResultClass::OPApp];
        self.behaves.as_ref().is_some_and(|b| {
            b.exact == Exact::Equal && b.classes.iter().any(|class| different.contains(class))
        })
    }
}

/// The judged mutants of suites.
#[derive(Debug, Clone, Default)]
pub struct Classes {
    /// Every mutant, by suite, action and draw.
    pub judged: Vec<JudgedMutant>,
    /// Suites whose own domain is not a reference within the limits, by name, with the reason.
    pub left_out: Vec<(String, String)>,
}

/// Judges every mutant of every action of the suites.
///
/// # Errors
/// `study.cancelled`, `study.threads`.
pub fn run(
    suites: &[StudySuite],
    spec: &ClassesSpec,
    threads: usize,
    watch: &Watch,
) -> Result<Classes, Failure> {
    let mut classes = Classes::default();
    for (index, suite) in suites.iter().enumerate() {
        let judge = match ActionJudge::new(suite, spec, watch) {
            Ok(judge) => judge,
            Err(why) => {
                classes.left_out.push((suite.name.clone(), why));
                continue;
            }
        };
        let drawn = suite.domain.actions.iter().enumerate().flat_map(|(number, action)| {
            let mut random = stream(spec.seed, &suite.name, &[number as u64]);
            let mutants = action_mutants(&suite.domain, action, spec.mutants, &mut random);
            mutants.into_iter().map(move |mutant| (number, mutant))
        });
        let drawn: Vec<(usize, ActionMutant)> = drawn.collect();
        let judged =
            run_all(&drawn, threads, watch, |(action, mutant)| judge.judge_mutant(index, *action, mutant))?;
        classes.judged.extend(judged);
    }
    Ok(classes)
}

/// Options of the heuristic comparison.
fn hde_options(spec: &ClassesSpec, k: NonZeroUsize, rule: hde::HdeRule) -> hde::HdeOptions {
    hde::HdeOptions { k, rule, max_nodes: spec.max_nodes, ..hde::HdeOptions::default() }
}

/// A suite with the limits within which its mutants are judged.
#[derive(Clone, Copy)]
struct Setup<'s> {
    suite: &'s StudySuite,
    spec: &'s ClassesSpec,
    watch: &'s Watch,
}

impl<'s> Setup<'s> {
    /// A fresh budget for one computation.
    fn budget(&self) -> StudyBudget<'s> {
        StudyBudget::new(self.watch, self.spec.max_bytes)
    }
}

/// A suite, ready to judge mutants of its actions.
struct ActionJudge<'s> {
    setup: Setup<'s>,
    /// One for each k.
    references: Vec<HdeReference>,
    /// For the counting of the paper's code, with the first k.
    counting: HdeReference,
    models: Vec<ComparableModel>,
}

impl<'s> ActionJudge<'s> {
    fn new(suite: &'s StudySuite, spec: &'s ClassesSpec, watch: &'s Watch) -> Result<Self, String> {
        let problems: Vec<&Problem> = suite.tasks.iter().map(|task| &task.problem).collect();
        let setup = Setup { suite, spec, watch };
        let budget = || setup.budget();
        let reference = |k, rule| {
            let options = hde_options(spec, k, rule);
            HdeReference::new(&suite.domain, &problems, &options, &mut budget()).map_err(|no| no.to_string())
        };
        let first = *spec.k.first().ok_or("no number of plans is given")?;
        let references =
            spec.k.iter().map(|&k| reference(k, HdeRule::Definition)).collect::<Result<_, _>>()?;
        let limits = limits(spec);
        let model = |problem: &&Problem| {
            comparable(ComparedSide::First, &suite.domain, problem, &limits, &mut budget())
                .map_err(|no| no.error.to_string())
        };
        let models = problems.iter().map(model).collect::<Result<_, _>>()?;
        let judge =
            ActionJudge { setup, references, counting: reference(first, HdeRule::ReferenceCode)?, models };
        // A limit may leave open whether two domains are equivalent; a flaw in the true action is none of the mutants'.
        let unlike = |action: &&Action| {
            let class = judge.classify_action(&print_action(action), action.name.as_str()).class;
            ![ResultClass::Equivalent, ResultClass::Undecided].contains(&class)
        };
        match suite.domain.actions.iter().find(unlike) {
            Some(action) => Err(format!("the true action {} is not equivalent to itself", action.name)),
            None => Ok(judge),
        }
    }

    fn classify_action(&self, reply: &str, name: &str) -> ClassifiedReply {
        // There is one for each k, and at least one k.
        let reference = self.references.first().unwrap_or(&self.counting);
        classify_action(
            reply,
            SourceId(0),
            &self.setup.suite.domain,
            name,
            BadPreconditionRule::default(),
            reference,
            &mut self.setup.budget(),
        )
    }

    fn judge_mutant(&self, suite: usize, action: usize, mutant: &ActionMutant) -> JudgedMutant {
        let name = self.setup.suite.domain.actions.get(action).map_or("", |a| a.name.as_str());
        let classified = self.classify_action(&mutant.reply, name);
        let first = classified.diagnostics.first().map(|d| format!("{} ({})", d.message, d.code));
        let finding = first.or_else(|| classified.reason.clone());
        let told = ![ResultGroup::Syntax, ResultGroup::Semantic].contains(&classified.class.group());
        let behaves = match (&classified.domain, mutant.flaw) {
            (Some(domain), None) if told => Some(self.behaves(&classified, domain)),
            _ => None,
        };
        JudgedMutant { suite, action, mutant: mutant.clone(), class: classified.class, finding, behaves }
    }

    fn behaves(&self, classified: &ClassifiedReply, domain: &Domain) -> Behaves {
        let exact = self.exact(domain);
        let further = self.references.iter().skip(1).map(|reference| self.class_by(reference, domain));
        let classes: Vec<ResultClass> = std::iter::once(classified.class).chain(further).collect();
        let counted = (exact == Exact::Equal).then(|| self.class_by(&self.counting, domain));
        let unseen = match &exact {
            Exact::Different(difference) if classified.class == ResultClass::Equivalent => {
                Some(unseen(&self.setup, domain, difference))
            }
            _ => None,
        };
        let witness = classified.hde.as_ref().and_then(|hde| self.witness(hde));
        Behaves { domain: print_domain(domain), exact, classes, witness, counted, unseen }
    }

    fn class_by(&self, reference: &HdeReference, domain: &Domain) -> ResultClass {
        match reference.compare(domain, &mut self.setup.budget()) {
            Ok(hde) => match hde.outcome {
                HdeOutcome::Equivalent => ResultClass::Equivalent,
                HdeOutcome::Undecided { .. } => ResultClass::Undecided,
                HdeOutcome::Different { difference, .. } => ResultClass::from(difference.class()),
            },
            Err(_) => ResultClass::Undecided,
        }
    }

    fn exact(&self, domain: &Domain) -> Exact {
        let mut exact = Exact::Equal;
        for (number, (task, own)) in self.setup.suite.tasks.iter().zip(&self.models).enumerate() {
            let limits = limits(self.setup.spec);
            let other =
                comparable(ComparedSide::Second, domain, &task.problem, &limits, &mut self.setup.budget());
            let compared =
                other.and_then(|other| compare_models([own, &other], &limits, &mut self.setup.budget()));
            let Ok(compared) = compared else {
                exact = Exact::Open;
                continue;
            };
            let (steps, executed_by) = match (&compared.behaviour, &compared.costs) {
                (Behaviour::Different(found), _) => {
                    let by = match &found.kind {
                        DifferenceKind::Refused { by, .. } => by.other(),
                        DifferenceKind::Goal { holds_in, .. } => *holds_in,
                    };
                    (found.steps.clone(), Some(by))
                }
                (_, Costs::Different(found)) => (found.steps.clone(), None),
                _ => {
                    if compared.verdict() == ComparisonVerdict::Open {
                        exact = Exact::Open;
                    }
                    continue;
                }
            };
            return Exact::Different(ExactDifference { problem: number, steps, executed_by });
        }
        exact
    }

    /// The plan that a comparison by plans rests on.
    fn witness(&self, hde: &HdeResult) -> Option<Witness> {
        let cheapest = |problem: usize| self.references.first()?.plans(problem).first().cloned();
        match &hde.outcome {
            HdeOutcome::Equivalent => Some(Witness { problem: 0, steps: cheapest(0)?, valid: [true, true] }),
            HdeOutcome::Undecided { .. } => None,
            HdeOutcome::Different { problem, difference } => {
                let (steps, valid) = match difference {
                    HdeDifference::NoPlan(_) => (cheapest(*problem)?, [true, false]),
                    HdeDifference::NewPlanFails(plan) => (plan.steps.clone(), [false, true]),
                    HdeDifference::OldPlanFails(plan) => (plan.steps.clone(), [true, false]),
                    HdeDifference::Number { .. } => return None,
                };
                Some(Witness { problem: *problem, steps, valid })
            }
        }
    }
}

fn limits(spec: &ClassesSpec) -> EquivalenceLimits {
    EquivalenceLimits { max_pairs: spec.max_pairs, ..EquivalenceLimits::default() }
}

/// The reason why plans do not show a difference.
#[derive(Debug, Clone, PartialEq)]
pub enum Unseen {
    /// Behind the sequence the goal cannot be reached: no plan goes through this difference.
    DeadEnd,
    /// The cheapest plan through the difference costs more than the dearest plan in the comparison.
    Dearer {
        /// The plan.
        witness: Witness,
        cost: f64,
        /// The cost of the last plan in the comparison, in the domain that it is a plan of.
        last: f64,
    },
    /// It costs as much as the last plan in the comparison: k cut this layer of cost.
    CutLayer {
        /// The plan.
        witness: Witness,
        cost: f64,
    },
    /// It has a step without effect; the plans of the comparison have none.
    NoOp {
        /// The plan.
        witness: Witness,
    },
    /// Only costs differ.
    Cost,
    /// It was not found out.
    Unknown(String),
}

impl Unseen {
    /// The reason in tables.
    pub const fn name(&self) -> &'static str {
        match self {
            Unseen::DeadEnd => "no plan goes through it",
            Unseen::Dearer { .. } => "plans through it are dearer",
            Unseen::CutLayer { .. } => "cut inside its cost",
            Unseen::NoOp { .. } => "a step without effect",
            Unseen::Cost => "cost alone",
            Unseen::Unknown(_) => "not found out",
        }
    }

    /// The plan of one domain alone.
    pub const fn witness(&self) -> Option<&Witness> {
        match self {
            Unseen::Dearer { witness, .. } | Unseen::CutLayer { witness, .. } | Unseen::NoOp { witness } => {
                Some(witness)
            }
            Unseen::DeadEnd | Unseen::Cost | Unseen::Unknown(_) => None,
        }
    }
}

fn unseen(setup: &Setup<'_>, mutant: &Domain, difference: &ExactDifference) -> Unseen {
    let Some(side) = difference.executed_by else { return Unseen::Cost };
    let domain = if side == ComparedSide::First { &setup.suite.domain } else { mutant };
    find_reason(setup, domain, side, difference).unwrap_or_else(Unseen::Unknown)
}

fn find_reason(
    setup: &Setup<'_>,
    domain: &Domain,
    side: ComparedSide,
    difference: &ExactDifference,
) -> Result<Unseen, String> {
    let problem = &setup.suite.tasks.get(difference.problem).ok_or("no such problem")?.problem;
    let own = comparable(side, domain, problem, &EquivalenceLimits::default(), &mut setup.budget())
        .map_err(|no| no.error.to_string())?;
    let model = own.model();
    let Some(rest) = continue_to_goal(setup, domain, problem, model, &difference.steps)? else {
        return Ok(Unseen::DeadEnd);
    };
    let steps = [difference.steps.as_slice(), &rest].concat();
    let valid = [side == ComparedSide::First, side == ComparedSide::Second];
    let cost = cost(model, &steps).ok_or("the plan is not executed")?;
    let witness = Witness { problem: difference.problem, steps, valid };
    if has_step_without_effect(setup, domain, problem, &witness.steps)? {
        return Ok(Unseen::NoOp { witness });
    }
    let k = *setup.spec.k.first().ok_or("no number of plans")?;
    let looked_at = HdeReference::new(
        domain,
        &[problem],
        &hde_options(setup.spec, k, HdeRule::Definition),
        &mut setup.budget(),
    );
    let looked_at = looked_at.map_err(|no| no.to_string())?;
    let last = looked_at.plans(0).last().and_then(|plan| self::cost(model, plan)).ok_or("no plan")?;
    if cost > last {
        Ok(Unseen::Dearer { witness, cost, last })
    } else if cost == last && looked_at.plans(0).len() == k.get() {
        Ok(Unseen::CutLayer { witness, cost })
    } else {
        Err(format!("a plan of cost {cost} is not among those up to {last}"))
    }
}

/// The cheapest steps from behind the sequence to the goal; `None` where there are none.
fn continue_to_goal(
    setup: &Setup<'_>,
    domain: &Domain,
    problem: &Problem,
    model: &Model,
    steps: &[NamedStep],
) -> Result<Option<Vec<NamedStep>>, String> {
    let limited = |reason: StopReason| format!("{reason} was reached in the sequence");
    let after = execute_steps(model, steps, &mut setup.budget()).map_err(limited)?;
    if after.refusal.is_some() {
        return Err("the sequence is not executed".to_owned());
    }
    let options = TopKOptions {
        semantics: Semantics::GroundNoOpsDropped,
        max_nodes: setup.spec.max_nodes,
        ..TopKOptions::new(NonZeroUsize::MIN)
    };
    let behind = Problem { init: state(problem, model, &after.state), ..problem.clone() };
    match top_k(domain, &behind, &options, &mut setup.budget()).map(|result| result.outcome) {
        Ok(TopKOutcome::Plans { plans, .. }) => {
            let texts = plans.first().map(planforge_planning::Plan::step_texts).unwrap_or_default();
            Ok(Some(texts.iter().filter_map(|text| NamedStep::parse(text)).collect()))
        }
        Ok(TopKOutcome::ProvenUnsolvable(_)) => Ok(None),
        Ok(TopKOutcome::LimitReached(reason)) => Err(format!("{reason} was reached behind the sequence")),
        Ok(TopKOutcome::Unsupported(_)) => Err(StopReason::Grounding.to_string()),
        Err(_) => Err("the state after the sequence is not an initial state".to_owned()),
    }
}

/// A state as a problem's initial state: what cannot change stays, and of the rest what holds.
fn state(problem: &Problem, model: &Model, state: &planforge_planning::State) -> Vec<InitElement> {
    let symbols = &model.lifted().symbols;
    let atom = |atom: &planforge_planning::task::Atom| {
        let name = |text: &str| Name::synthetic(text);
        let args = atom.args.iter().map(|&o| Term::Constant(name(&symbols.objects[o as usize]))).collect();
        InitElement::Atom(planforge_pddl::ast::Atom {
            predicate: name(&symbols.predicates[atom.predicate as usize]),
            args,
            span: planforge_diagnostics::Span::default(),
        })
    };
    let key = |element: &InitElement| print_init(element).to_lowercase();
    let changing: BTreeSet<String> = model
        .simulator()
        .map(|s| s.task().facts.iter().take(s.task().basic_facts).map(|fact| key(&atom(fact))).collect())
        .unwrap_or_default();
    let mut init: Vec<InitElement> =
        problem.init.iter().filter(|element| !changing.contains(&key(element))).cloned().collect();
    init.extend(model.atoms(state).iter().map(atom));
    init
}

/// The cost of a plan: its metric, or its number of steps. Absent if it is not executable.
fn cost(model: &Model, steps: &[NamedStep]) -> Option<f64> {
    let simulator = model.simulator()?;
    let costs = steps
        .iter()
        .map(|step| model.resolve(step).ok().flatten().map(|action| simulator.cost(action).to_f64()));
    costs.sum()
}

/// True if plans exclude one of the steps: a ground action that changes nothing wherever it is executable.
fn has_step_without_effect(
    setup: &Setup<'_>,
    domain: &Domain,
    problem: &Problem,
    steps: &[NamedStep],
) -> Result<bool, String> {
    let dropped =
        EquivalenceLimits { semantics: Semantics::GroundNoOpsDropped, ..EquivalenceLimits::default() };
    let own = comparable(ComparedSide::First, domain, problem, &dropped, &mut setup.budget())
        .map_err(|no| no.error.to_string())?;
    let executed = execute_steps(own.model(), steps, &mut setup.budget());
    Ok(executed.map_err(|reason| format!("{reason} was reached"))?.refusal == Some(Refusal::NoEffect))
}

fn columns(first: &str, names: impl IntoIterator<Item = String>) -> Table {
    let rest = names.into_iter().map(|name| (name, Align::Right));
    Table::new(std::iter::once((first.to_owned(), Align::Left)).chain(rest))
}

/// A row for each suite and one for all, of counts.
fn by_suite(
    mut table: Table,
    suites: &[StudySuite],
    judged: &[JudgedMutant],
    counts: impl Fn(&[&JudgedMutant]) -> Vec<String>,
) -> Table {
    let mut row = |name: &str, own: &[&JudgedMutant]| {
        table.row(std::iter::once(name.to_owned()).chain(counts(own)));
    };
    for (index, suite) in suites.iter().enumerate() {
        row(&suite.name, &judged.iter().filter(|j| j.suite == index).collect::<Vec<_>>());
    }
    row("all", &judged.iter().collect::<Vec<_>>());
    table
}

fn count(own: &[&JudgedMutant], test: impl Fn(&JudgedMutant) -> bool) -> String {
    own.iter().filter(|j| test(j)).count().to_string()
}

/// Mutants by kind, and the number of actions with fewer than requested.
pub fn by_kind(suites: &[StudySuite], judged: &[JudgedMutant], asked: usize) -> Table {
    let kinds = ActionMutantKind::ALL;
    let names = ["actions", "mutants"].into_iter().chain(kinds.iter().map(|kind| kind.as_str()));
    let names = names.chain(["actions with fewer"]).map(str::to_owned);
    by_suite(columns("domain", names), suites, judged, |own| {
        let mut of_action: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for j in own {
            *of_action.entry((j.suite, j.action)).or_default() += 1;
        }
        let fewer = of_action.values().filter(|n| **n < asked).count();
        let mut cells = vec![of_action.len().to_string(), own.len().to_string()];
        cells.extend(kinds.iter().map(|kind| count(own, |j| j.mutant.kind == *kind)));
        cells.push(fewer.to_string());
        cells
    })
}

/// Mutants by class, and how many have a flaw by construction and come out as it.
pub fn by_class(suites: &[StudySuite], judged: &[JudgedMutant]) -> Table {
    let names = ResultClass::ALL.iter().map(|class| class.name().to_owned());
    let names = names.chain(["flaws".to_owned(), "found".to_owned()]);
    by_suite(columns("domain", names), suites, judged, |own| {
        let mut cells: Vec<String> =
            ResultClass::ALL.iter().map(|class| count(own, |j| j.class == *class)).collect();
        cells.push(count(own, |j| j.mutant.flaw.is_some()));
        cells.push(count(own, |j| j.mutant.flaw.is_some() && !j.is_misjudged()));
        cells
    })
}

/// The results of the exact comparison by class.
pub fn behaviour(suites: &[StudySuite], judged: &[JudgedMutant]) -> Table {
    const DIFFERENT: [ResultClass; 3] = [ResultClass::NoPlan, ResultClass::NPApp, ResultClass::OPApp];
    let (equivalent, undecided) = (vec![ResultClass::Equivalent], vec![ResultClass::Undecided]);
    let columns_of = [
        ("equal: Equivalent", ComparisonVerdict::Equal, equivalent.clone()),
        ("equal: called different", ComparisonVerdict::Equal, DIFFERENT.to_vec()),
        ("equal: Undecided", ComparisonVerdict::Equal, undecided.clone()),
        ("different: NoPlan", ComparisonVerdict::Different, vec![ResultClass::NoPlan]),
        ("different: NPApp", ComparisonVerdict::Different, vec![ResultClass::NPApp]),
        ("different: OPApp", ComparisonVerdict::Different, vec![ResultClass::OPApp]),
        ("different: Equivalent", ComparisonVerdict::Different, equivalent),
        ("different: Undecided", ComparisonVerdict::Different, undecided),
        ("open", ComparisonVerdict::Open, ResultClass::ALL.to_vec()),
    ];
    let names = columns_of.iter().map(|(name, ..)| (*name).to_owned());
    by_suite(columns("domain", names), suites, judged, |own| {
        let of = |j: &JudgedMutant, exact: ComparisonVerdict| {
            j.behaves.as_ref().is_some_and(|b| b.exact.verdict() == exact)
        };
        let cell = |(_, exact, classes): &(&str, ComparisonVerdict, Vec<ResultClass>)| {
            count(own, |j| of(j, *exact) && classes.contains(&j.class))
        };
        columns_of.iter().map(cell).collect()
    })
}

/// By kind of mistake: exactly different ones that plans show and do not show, for each k.
pub fn by_mistake(judged: &[JudgedMutant], ks: &[NonZeroUsize]) -> Table {
    let names = ["equal", "different", "open"].map(str::to_owned).into_iter();
    let names = names.chain(ks.iter().map(|k| format!("different, not shown by {k} plans")));
    let mut table = columns("mistake", names.chain(["equal, counted otherwise".to_owned()]));
    let mut row = |name: &str, test: &dyn Fn(&JudgedMutant) -> bool| {
        let own: Vec<&Behaves> =
            judged.iter().filter(|j| test(j)).filter_map(|j| j.behaves.as_ref()).collect();
        let count = |test: &dyn Fn(&Behaves) -> bool| own.iter().filter(|b| test(b)).count().to_string();
        let different = |b: &Behaves| matches!(b.exact, Exact::Different(_));
        let mut cells = vec![
            name.to_owned(),
            count(&|b| b.exact == Exact::Equal),
            count(&different),
            count(&|b| b.exact == Exact::Open),
        ];
        cells.extend(
            (0..ks.len())
                .map(|at| count(&|b| different(b) && b.classes.get(at) == Some(&ResultClass::Equivalent))),
        );
        cells.push(count(&|b| b.counted.is_some_and(|class| class != ResultClass::Equivalent)));
        table.row(cells);
    };
    for kind in ActionMutantKind::ALL.into_iter().take(4) {
        row(kind.as_str(), &|j| j.mutant.kind == kind);
    }
    row("all", &|_| true);
    table
}

/// The reason why plans do not show a difference, by suite.
pub fn unseen_reasons(suites: &[StudySuite], judged: &[JudgedMutant]) -> Table {
    let unseen = |j: &JudgedMutant| j.behaves.as_ref().and_then(|b| b.unseen.as_ref()).map(|u| u.name());
    let mut names: Vec<&'static str> = judged.iter().filter_map(unseen).collect();
    names.sort_unstable();
    names.dedup();
    let table = columns("domain", names.iter().map(|name| (*name).to_owned()));
    by_suite(table, suites, judged, |own| {
        names.iter().map(|name| count(own, |j| unseen(j) == Some(*name))).collect()
    })
}

/// Every mutant that is not what it is by construction, in words.
pub fn misjudged(suites: &[StudySuite], judged: &[JudgedMutant]) -> Vec<String> {
    judged
        .iter()
        .filter(|j| j.is_misjudged() || j.contradicts())
        .map(|j| {
            let expected = match j.mutant.flaw {
                Some(flaw) => ResultClass::from(flaw).name(),
                None => "no error, and where exactly equal no difference",
            };
            format!(
                "{} {}: {} ({}): {} by construction, {} found{}\n{}",
                suite_name(suites, j),
                action_name(suites, j),
                j.mutant.kind,
                j.mutant.change,
                expected,
                j.class.name(),
                j.finding.as_ref().map(|f| format!(": {f}")).unwrap_or_default(),
                j.mutant.reply
            )
        })
        .collect()
}

/// The suite that a mutant is of.
fn suite_name<'s>(suites: &'s [StudySuite], judged: &JudgedMutant) -> &'s str {
    suites.get(judged.suite).map_or("", |suite| suite.name.as_str())
}

fn action_name<'s>(suites: &'s [StudySuite], judged: &JudgedMutant) -> &'s str {
    let action = suites.get(judged.suite).and_then(|suite| suite.domain.actions.get(judged.action));
    action.map_or("", |action| action.name.as_str())
}

/// Every mutant, for a file.
pub fn rows(suites: &[StudySuite], judged: &[JudgedMutant]) -> Table {
    let names = [
        "domain",
        "action",
        "kind",
        "change",
        "constructed",
        "class",
        "finding",
        "exact",
        "shortest difference",
        "further k",
        "counted",
        "why plans do not show it",
        "action text",
    ];
    let mut table = Table::new(names.map(|name| (name, Align::Left)));
    for j in judged {
        let behaves = j.behaves.as_ref();
        let difference = behaves.and_then(|b| match &b.exact {
            Exact::Different(d) => {
                Some(d.steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            }
            _ => None,
        });
        let further =
            behaves.map(|b| b.classes.iter().skip(1).map(|c| c.name()).collect::<Vec<_>>().join(" "));
        table.row([
            suite_name(suites, j).to_owned(),
            action_name(suites, j).to_owned(),
            j.mutant.kind.to_string(),
            j.mutant.change.clone(),
            j.mutant.flaw.map(|flaw| ResultClass::from(flaw).name().to_owned()).unwrap_or_default(),
            j.class.name().to_owned(),
            j.finding.clone().unwrap_or_default(),
            behaves.map(|b| format!("{:?}", b.exact.verdict()).to_lowercase()).unwrap_or_default(),
            difference.unwrap_or_default(),
            further.unwrap_or_default(),
            behaves.and_then(|b| b.counted).map(|c| c.name().to_owned()).unwrap_or_default(),
            behaves.and_then(|b| b.unseen.as_ref()).map(|u| u.name().to_owned()).unwrap_or_default(),
            j.mutant.text.clone(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::load_suites;
    use planforge_diagnostics::SourceId;
    use planforge_pddl::{parse_domain, print_domain};
    use planforge_planning::{ValidationDecision, parse_plan, validate};
    use std::path::Path;

    fn suites(names: &[&str]) -> Vec<StudySuite> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites");
        let paths: Vec<_> = names.iter().map(|name| folder.join(name)).collect();
        load_suites(&paths, 1).unwrap()
    }

    fn spec(mutants: usize) -> ClassesSpec {
        ClassesSpec {
            mutants,
            seed: 5,
            k: [20, 3].map(|k| NonZeroUsize::new(k).unwrap()).to_vec(),
            max_nodes: 100_000,
            max_pairs: 20_000,
            max_bytes: 64 << 20,
        }
    }

    /// True if a sequence is a plan, by the validator that reports on plans.
    fn is_plan(domain: &str, problem: &planforge_pddl::ast::Problem, steps: &[NamedStep]) -> bool {
        let domain = parse_domain(domain, SourceId(0)).value;
        let plan: String = steps.iter().map(|step| format!("{step}\n")).collect();
        validate(&domain, problem, &parse_plan(&plan, SourceId(2)), &mut planforge_planning::Unlimited)
            .unwrap()
            .decision
            == ValidationDecision::Valid
    }

    #[test]
    fn the_witness_of_a_class_is_a_valid_plan() {
        let suites = suites(&["miconic", "movie", "blocks"]);
        let Classes { judged, left_out } = run(&suites, &spec(40), 2, &Watch::default()).unwrap();
        assert!(left_out.is_empty(), "{left_out:?}");
        assert_eq!(misjudged(&suites, &judged), Vec::<String>::new());
        let (mut plans, mut unseen) = (0, 0);
        for j in &judged {
            let Some(behaves) = &j.behaves else { continue };
            let suite = &suites[j.suite];
            let further = behaves.unseen.as_ref().and_then(Unseen::witness);
            for witness in behaves.witness.iter().chain(further) {
                let problem = &suite.tasks[witness.problem].problem;
                let found = [&print_domain(&suite.domain), &behaves.domain]
                    .map(|d| is_plan(d, problem, &witness.steps));
                assert_eq!(found, witness.valid, "{}: {}", suite.name, j.mutant.change);
                plans += 1;
            }
            unseen += usize::from(behaves.unseen.is_some());
            // More plans never show less.
            let equivalent = |at: usize| behaves.classes[at] == ResultClass::Equivalent;
            assert!(!equivalent(0) || equivalent(1) || behaves.classes[1] == ResultClass::Undecided);
        }
        assert!(plans > 100 && unseen > 0, "{plans} plans, {unseen} differences that plans do not show");
    }

    #[test]
    fn neither_threads_nor_other_suites_change_a_judgement() {
        let [one, two] = [&["movie"][..], &["blocks", "movie"][..]].map(suites);
        let texts = |suites: &[StudySuite], threads| {
            let judged = run(suites, &spec(12), threads, &Watch::default()).unwrap().judged;
            let movie = judged.into_iter().filter(|j| suites[j.suite].name == "movie");
            movie.map(|j| (j.mutant, j.class, j.behaves)).collect::<Vec<_>>()
        };
        let alone = texts(&one, 1);
        assert!(!alone.is_empty());
        assert_eq!(alone, texts(&two, 2));
    }

    #[test]
    fn a_suite_whose_plans_are_beyond_the_limits_is_named() {
        let few = ClassesSpec { max_nodes: 1, ..spec(4) };
        let classes = run(&suites(&["blocks"]), &few, 1, &Watch::default()).unwrap();
        assert!(classes.judged.is_empty());
        assert_eq!(classes.left_out.len(), 1);
        assert!(classes.left_out[0].1.contains("limit"), "{}", classes.left_out[0].1);
    }
}
