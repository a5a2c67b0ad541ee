//! One mutant: its class, and where nothing is wrong with it the exact comparison and the plan that its class rests on.

use super::super::suites::StudySuite;
use super::super::watch::Watch;
use super::setup::Setup;
use super::unseen::unseen;
use super::{Behaves, ClassesSpec, Exact, ExactDifference, JudgedMutant, Witness, hde_options};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Action, Domain, Problem};
use planforge_pddl::mutate::action::ActionMutant;
use planforge_pddl::{print_action, print_domain};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::domains::{
    Behaviour, ComparableModel, ComparisonVerdict, Costs, DifferenceKind, EquivalenceLimits, comparable,
    compare_models,
};
use planforge_planning::equivalence::hde::{HdeDifference, HdeOutcome, HdeReference, HdeResult, HdeRule};
use planforge_planning::result_class::{
    BadPreconditionRule, ClassifiedReply, ResultClass, ResultGroup, classify_action,
};

/// A suite, ready to judge mutants of its actions.
pub(super) struct ActionJudge<'s> {
    pub(super) setup: Setup<'s>,
    /// One for each k.
    references: Vec<HdeReference>,
    /// For the counting of the paper's code, with the first k.
    counting: HdeReference,
    pub(super) models: Vec<ComparableModel>,
}

impl<'s> ActionJudge<'s> {
    pub(super) fn new(
        suite: &'s StudySuite,
        spec: &'s ClassesSpec,
        watch: &'s Watch,
    ) -> Result<Self, String> {
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

    pub(super) fn judge_mutant(&self, suite: usize, action: usize, mutant: &ActionMutant) -> JudgedMutant {
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
