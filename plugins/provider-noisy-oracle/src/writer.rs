//! Writes one reply: the artefact of a request, with mistakes.

use crate::options::{ErrorCount, OracleOptions};
use crate::reading::{Defined, Reference, ShownTexts};
use crate::reply::{self, SimulatedReply};
use crate::revise::{self, Schema};
use crate::{action, critic, ir, problem};
use planforge_pddl::ast::{Atom, Domain, InitElement, PredicateDecl, Problem};
use planforge_pddl::mutate::{
    Mutation, MutationKind, MutationPlace, all_mutations, apply_mutations, random_mutations,
};
use planforge_pddl::random::Random;
use planforge_pddl::{Name, print_domain, print_problem, rename_parameters};
use std::collections::BTreeSet;

/// A domain or problem with notes for the record.
struct Drawn<T> {
    made: T,
    note: serde_json::Value,
    mistakes: usize,
}

/// Writes the artefact of one request.
pub(crate) struct Writer<'a> {
    pub(crate) options: &'a OracleOptions,
    pub(crate) reference: &'a Reference,
    pub(crate) problem: &'a Problem,
    pub(crate) shown: &'a ShownTexts,
    pub(crate) asked: LastQuestion<'a>,
    pub(crate) artefact: Artefact,
}

/// The last question, in words, as one for an action, and with its right answer.
pub(crate) struct LastQuestion<'a> {
    pub(crate) question: &'a str,
    pub(crate) action: Option<&'a action::Question<'a>>,
    /// The right answer, if it is a question about what can be done.
    pub(crate) right: Option<bool>,
}

impl Writer<'_> {
    /// A reply. The likelihood is drawn last, so that the text does not depend on it.
    pub(crate) fn reply(&self, random: &mut Random, scored: bool) -> SimulatedReply {
        let written = self.write(random);
        let likelihood = self.options.likelihood.as_ref().filter(|_| scored);
        let characters = self.options.characters_per_token.unwrap_or(reply::CHARACTERS);
        let tokens = likelihood
            .map(|l| reply::simulated_tokens(l, characters, &written.text, written.mistakes, random));
        SimulatedReply { tokens, ..written }
    }

    fn write(&self, random: &mut Random) -> SimulatedReply {
        match self.artefact {
            Artefact::Problem => self.problem_alone(self.problem(random)),
            Artefact::Domain => self.domain_alone(self.domain(random)),
            // A question with a domain alone gives it.
            Artefact::Reading if self.shown.domain.is_some() && self.shown.beginning.is_none() => {
                self.problem_alone(self.problem(random))
            }
            Artefact::Points => SimulatedReply::new(
                reply::block("json", "{\"points\": []}"),
                serde_json::json!({ "mistakes": [] }),
                0,
            ),
            Artefact::Both | Artefact::Reading => {
                let domain = self.domain(random);
                let problem = self.problem(random);
                SimulatedReply::new(
                    reply::definitions(&[print_domain(&domain.made), print_problem(&problem.made)]),
                    serde_json::json!({ "domain": domain.note, "problem": problem.note }),
                    domain.mistakes + problem.mistakes,
                )
            }
            Artefact::Action => self.action(random),
            Artefact::Predicates => action::unify(self.options, self.asked.question, random),
            Artefact::Update if self.is_about_problem() => self.problem_alone(self.problem_again(random)),
            Artefact::Update => self.domain_alone(self.domain(random)),
            Artefact::Critique => self.critique(random),
            Artefact::Answer => self.answer(random),
            Artefact::Edit => self.edits(random),
            Artefact::Ir(part) => self.ir(part, random),
        }
    }

    fn action(&self, random: &mut Random) -> SimulatedReply {
        let Some(question) = self.asked.action else {
            let text = "The question names no action of the reference.";
            return SimulatedReply::new(
                reply::prose(text),
                serde_json::json!({ "mistakes": ["no-action"] }),
                1,
            );
        };
        action::ActionWriter { options: self.options, domain: &self.reference.domain, question }.write(random)
    }

    fn domain_alone(&self, drawn: Drawn<Domain>) -> SimulatedReply {
        let text = print_domain(&drawn.made);
        let text = match self.shown.asked.thought {
            true => reply::thought(&reply::domain_thought(&drawn.made), "Domain", &text),
            false => reply::definitions(&[text]),
        };
        SimulatedReply::new(text, drawn.note, drawn.mistakes)
    }

    fn problem_alone(&self, drawn: Drawn<Problem>) -> SimulatedReply {
        let text = print_problem(&drawn.made);
        let domain = self.shown.domain.as_ref().unwrap_or(&self.reference.domain);
        let text = match self.shown.asked.thought {
            true => reply::thought(&reply::problem_thought(domain, &drawn.made), "Problem", &text),
            false => reply::definitions(&[text]),
        };
        SimulatedReply::new(text, drawn.note, drawn.mistakes)
    }

    /// Checks that the task can be written as the requested representation.
    pub(crate) fn check_representation(&self) -> Result<(), String> {
        match self.artefact {
            Artefact::Ir(_) => ir::program(self.problem).map(drop),
            _ => Ok(()),
        }
    }

    /// Mistakes in facts keep every name and the shape of the goal, so what can be written of the reference can be written of them.
    fn ir(&self, part: IrPart, random: &mut Random) -> SimulatedReply {
        let mut problem = self.problem.clone();
        let mut mistakes = Vec::new();
        if matches!(part, IrPart::Program | IrPart::Rules) {
            mistakes = problem::wrong_facts(self.options, &self.reference.domain, &mut problem, random);
        }
        let (language, text) = match part {
            IrPart::Program => ("prolog", ir::program(&problem)),
            IrPart::Rules => ("prolog", ir::rules(&problem)),
            IrPart::Cardinalities => ("json", ir::cardinalities(&problem)),
            IrPart::Objects => ("json", ir::named(&problem)),
        };
        let text = reply::block(language, &text.unwrap_or_default());
        SimulatedReply::new(text, serde_json::json!({ "mistakes": mistakes }), mistakes.len())
    }

    fn problem(&self, random: &mut Random) -> Drawn<Problem> {
        self.problem_with(self.options, random)
    }

    fn problem_with(&self, options: &OracleOptions, random: &mut Random) -> Drawn<Problem> {
        let lost = lost_arguments(self.reference, self.problem, self.shown);
        let domain = &self.reference.domain;
        let written = problem::write(options, domain, self.problem, self.shown, lost, random);
        let mistakes = written.mistakes.len();
        Drawn { made: written.problem, note: serde_json::json!({ "mistakes": written.mistakes }), mistakes }
    }

    /// The problem as it should be for what is shown.
    fn wanted_problem(&self) -> Problem {
        let faultless = OracleOptions { problem_errors: 0, predicate_argument: 0.0, ..self.options.clone() };
        // Nothing is drawn where nothing may go wrong.
        self.problem_with(&faultless, &mut Random::new(0)).made
    }

    /// The problem that is shown, revised.
    fn problem_again(&self, random: &mut Random) -> Drawn<Problem> {
        let Some(current) = self.shown.beginning.as_ref().filter(|problem| !problem.init.is_empty()) else {
            return self.problem(random);
        };
        let wanted = self.wanted_problem();
        let domain = &self.reference.domain;
        let revised = problem::revise_problem(self.options, domain, &wanted, current, self.shown, random);
        let note = serde_json::json!({
            "repaired": revised.repaired,
            "damaged": revised.damaged,
            "mistakes_left": revised.left,
        });
        Drawn { made: revised.problem, note, mistakes: revised.left + revised.damaged.len() }
    }

    /// True if a problem is to be rewritten or criticised: as the required form of the answer tells, else the
    /// last definition in the question.
    fn is_about_problem(&self) -> bool {
        match self.artefact {
            Artefact::Update if self.shown.asked.thought => self.shown.asked.problem,
            _ => self.shown.last == Some(Defined::Problem),
        }
    }

    fn critique(&self, random: &mut Random) -> SimulatedReply {
        let parts = if self.is_about_problem() {
            let nothing = Problem::default();
            let current = self.shown.beginning.as_ref().unwrap_or(&nothing);
            critic::facts(problem::facts(current), problem::faults(&self.wanted_problem(), current))
        } else {
            let nothing = Domain::default();
            let current = self.shown.domain.as_ref().unwrap_or(&nothing);
            critic::actions(&self.fitted_domain(), current)
        };
        let critique = critic::criticise(self.options, &parts, random);
        SimulatedReply::new(critique.text, critique.note, critique.wrong)
    }

    fn answer(&self, random: &mut Random) -> SimulatedReply {
        let right = self.asked.right.unwrap_or_default();
        let answer = critic::draw(right, self.options.critic.answers, random);
        let text = reply::prose(if answer { "Answer: yes" } else { "Answer: no" });
        SimulatedReply::new(
            text,
            serde_json::json!({ "right": answer == right }),
            usize::from(answer != right),
        )
    }

    /// The domain as it should be for what is shown.
    fn fitted_domain(&self) -> Domain {
        let lost = lost_arguments(self.reference, self.problem, self.shown);
        fit_reference(self.reference, &lost, self.shown)
    }

    /// A first domain, with its mistakes.
    fn first(&self, wanted: &Domain, random: &mut Random) -> Drawn<Domain> {
        let kinds = self.options.kinds.weights();
        let errors = match self.options.error_count {
            ErrorCount::Fixed => self.options.errors,
            ErrorCount::Poisson => reply::poisson(f64::from(self.options.errors), random),
        };
        let mutations = random_mutations(wanted, &kinds, errors as usize, random);
        let mistakes: Vec<String> = mutations.iter().map(ToString::to_string).collect();
        Drawn {
            made: apply_mutations(wanted, &mutations),
            mistakes: mistakes.len(),
            note: serde_json::json!({ "mistakes": mistakes }),
        }
    }

    fn domain(&self, random: &mut Random) -> Drawn<Domain> {
        let mut wanted = self.fitted_domain();
        let Some(current) = self.shown.domain_to_revise() else { return self.first(&wanted, random) };
        let revision = revise::revise(self.options, &wanted, current, self.shown, true, random);
        let (instantaneous, durative) = revision.schemas.split_at(wanted.actions.len());
        wanted.actions.iter_mut().zip(instantaneous).for_each(|(action, schema)| schema.write_to(action));
        let actions = wanted.durative_actions.iter_mut();
        actions.zip(durative).for_each(|(action, schema)| schema.write_to_durative(action));
        Drawn { made: wanted, note: revision.note(), mistakes: revision.mistakes() }
    }

    fn edits(&self, random: &mut Random) -> SimulatedReply {
        let wanted = self.fitted_domain();
        let shown = self.shown.domain.as_ref();
        let costs = shown.is_some_and(|d| d.functions.iter().any(|f| f.name.is("total-cost")));
        let Some(current) = self.shown.domain_to_revise() else {
            let drawn = self.first(&wanted, random);
            let schemas: Vec<Schema> = drawn.made.actions.iter().map(|a| Schema::of(a, costs)).collect();
            let predicates: Vec<&PredicateDecl> = drawn.made.predicates.iter().collect();
            let text = reply::edits(&predicates, &schemas.iter().collect::<Vec<_>>());
            return SimulatedReply::new(text, drawn.note, drawn.mistakes);
        };
        let revision = revise::revise(self.options, &wanted, current, self.shown, costs, random);
        let declared = |p: &&PredicateDecl| current.predicates.iter().any(|c| c.name == p.name);
        let missing: Vec<&PredicateDecl> = wanted.predicates.iter().filter(|p| !declared(p)).collect();
        let changed: Vec<&Schema> =
            revision.changed.iter().filter_map(|index| revision.schemas.get(*index)).collect();
        SimulatedReply::new(reply::edits(&missing, &changed), revision.note(), revision.mistakes())
    }
}

/// The artefact of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Artefact {
    Problem,
    Domain,
    Edit,
    Both,
    /// A domain and a problem from numbered sentences, or a problem for a given domain.
    Reading,
    /// The points that a text leaves open.
    Points,
    /// One action of a domain (domain-generators paper, section 3).
    Action,
    /// Finds predicates with the same meaning.
    Predicates,
    /// Rewrites a domain or problem (test-time-scaling paper, Eq. 4).
    Update,
    /// Criticises a domain or problem (Eq. 3).
    Critique,
    /// Answers a question about what can be done.
    Answer,
    /// A part of the translate-infer-compile paper's intermediate representation.
    Ir(IrPart),
}

/// A part of the intermediate representation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IrPart {
    Program,
    Cardinalities,
    Objects,
    Rules,
}

impl Artefact {
    /// The artefact of a request's tag.
    pub(crate) fn of(tag: &str) -> Option<Self> {
        match tag {
            "problem" => Some(Self::Problem),
            "domain" => Some(Self::Domain),
            "edit" => Some(Self::Edit),
            "both" => Some(Self::Both),
            "reading" => Some(Self::Reading),
            "points" => Some(Self::Points),
            "action" => Some(Self::Action),
            "predicates" => Some(Self::Predicates),
            "update" => Some(Self::Update),
            "critique" => Some(Self::Critique),
            "answer" => Some(Self::Answer),
            "ir" => Some(Self::Ir(IrPart::Program)),
            "cardinalities" => Some(Self::Ir(IrPart::Cardinalities)),
            "objects" => Some(Self::Ir(IrPart::Objects)),
            "rules" => Some(Self::Ir(IrPart::Rules)),
            _ => None,
        }
    }
}

/// The arguments that the shown PDDL has lost against the reference. A domain shows more than a problem,
/// because it declares its predicates.
fn lost_arguments(reference: &Reference, problem: &Problem, shown: &ShownTexts) -> Vec<Mutation> {
    let all = all_mutations(&reference.domain, MutationKind::PredicateArgument);
    let mut lost = Vec::new();
    for predicate in &reference.domain.predicates {
        let declared = shown.domain.iter().flat_map(|d| &d.predicates).find(|p| p.name == predicate.name);
        let position = match (declared, &shown.problem) {
            (Some(declared), _) => lost_in_declaration(predicate, declared),
            (None, Some(written)) => lost_in_facts(predicate, problem, written),
            (None, None) => None,
        };
        let wanted = |m: &&Mutation| match &m.place {
            MutationPlace::Argument { predicate: p, position: i } => {
                *p == predicate.name && Some(*i) == position
            }
            MutationPlace::Term { .. } | MutationPlace::Parameters(_) => false,
        };
        lost.extend(all.iter().find(wanted).cloned());
    }
    lost
}

/// The position that is missing, where exactly one is.
fn lost_in_declaration(reference: &PredicateDecl, declared: &PredicateDecl) -> Option<usize> {
    let arity = reference.parameters.len();
    if declared.parameters.len() + 1 != arity {
        return None;
    }
    let rest = |position: usize| {
        let mut parameters = reference.parameters.clone();
        parameters.remove(position);
        parameters
    };
    let same = |position: &usize, names: bool| {
        rest(*position).iter().zip(&declared.parameters).all(|(a, b)| {
            let types = |p: &planforge_pddl::ast::TypedName| p.ty.as_ref().map(|t| t.alternatives.clone());
            types(a) == types(b) && (!names || a.name == b.name)
        })
    };
    // The parameters' names decide between arguments of one type.
    (0..arity).find(|p| same(p, true)).or_else(|| (0..arity).find(|p| same(p, false))).or(Some(arity - 1))
}

/// The position without which the reference's facts are most like those written.
fn lost_in_facts(predicate: &PredicateDecl, reference: &Problem, written: &Problem) -> Option<usize> {
    let arity = predicate.parameters.len();
    let facts = |problem: &Problem| -> Vec<Vec<Name>> {
        let atoms = problem.init.iter().filter_map(|element| match element {
            InitElement::Atom(atom) if atom.predicate == predicate.name => Some(arguments(atom)),
            _ => None,
        });
        atoms.collect()
    };
    let found: BTreeSet<Vec<Name>> = facts(written).into_iter().filter(|f| f.len() + 1 == arity).collect();
    if found.is_empty() {
        return None;
    }
    let expected = facts(reference);
    let agreeing = |position: usize| {
        let projected: BTreeSet<Vec<Name>> = expected
            .iter()
            .map(|fact| {
                let mut fact = fact.clone();
                if position < fact.len() {
                    fact.remove(position);
                }
                fact
            })
            .collect();
        projected.intersection(&found).count()
    };
    // The first of equally good positions.
    (0..arity).rev().max_by_key(|position| agreeing(*position))
}

fn arguments(atom: &Atom) -> Vec<Name> {
    atom.args.iter().map(|arg| arg.name().clone()).collect()
}

/// The reference's domain without the lost arguments, with the parameter names and the domain name of the
/// shown PDDL.
fn fit_reference(reference: &Reference, lost: &[Mutation], shown: &ShownTexts) -> Domain {
    let mut domain = apply_mutations(&reference.domain, lost);
    let name = shown.domain.as_ref().and_then(|d| d.name.clone());
    let wanted = shown.problem.as_ref().and_then(|p| p.domain_name.clone());
    if let Some(name) = name.or(wanted) {
        domain.name = Some(name);
    }
    for action in &mut domain.actions {
        let given = shown.domain.iter().flat_map(|d| &d.actions).find(|a| a.name == action.name);
        if let Some(given) = given.filter(|g| g.parameters.len() == action.parameters.len()) {
            *action = rename_parameters(action, &given.parameters);
        }
    }
    domain
}
