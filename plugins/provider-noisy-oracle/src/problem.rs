//! Writes the reference problem with the mistakes of a writer that has not seen the domain.

use crate::options::OracleOptions;
use crate::reading::ShownTexts;
use crate::revise::{self, Fault};
use planforge_pddl::ast::{Domain, InitElement, Problem, Term, TypedName};
use planforge_pddl::mutate::{
    Mutation, MutationKind, MutationPlace, QuantityMistake, all_mutations, apply_mutations_to_problem,
    quantity_mistakes,
};
use planforge_pddl::random::Random;
use planforge_pddl::{StripSpans, print_init};

/// A written problem with all its mistakes.
pub(crate) struct Problems {
    pub(crate) problem: Problem,
    pub(crate) mistakes: Vec<String>,
}

/// Writes the reference problem. `lost`: the arguments that the shown domain has lost already. If no
/// predicates are shown, the writer chooses them.
pub(crate) fn write(
    options: &OracleOptions,
    domain: &Domain,
    reference: &Problem,
    shown: &ShownTexts,
    mut lost: Vec<Mutation>,
    random: &mut Random,
) -> Problems {
    let declared = shown.domain.as_ref().is_some_and(|domain| !domain.predicates.is_empty());
    let free = !declared && shown.problem.is_none();
    if free && random.chance(options.predicate_argument) {
        lost.extend(random.pick(&visible(domain, reference)).cloned());
    }
    let mut problem = apply_mutations_to_problem(reference, &lost);
    let mut mistakes: Vec<String> = lost.iter().map(ToString::to_string).collect();
    mistakes.extend(wrong_facts(options, domain, &mut problem, random));
    if let Some(beginning) = shown.beginning.as_ref().filter(|b| shares_objects(b, reference)) {
        problem.domain_name = beginning.domain_name.clone().or(problem.domain_name);
        if beginning.init.is_empty() {
            problem.name = beginning.name.clone().or(problem.name);
        }
    }
    if let Some(name) = shown.domain.as_ref().and_then(|d| d.name.clone()) {
        problem.domain_name = Some(name);
    }
    Problems { problem, mistakes }
}

/// A revised problem.
pub(crate) struct Revised {
    pub(crate) problem: Problem,
    pub(crate) repaired: Vec<String>,
    pub(crate) damaged: Vec<String>,
    /// Wrong facts that stay.
    pub(crate) left: usize,
}

/// The facts that are wrong in the initial state, against what it should be.
pub(crate) fn faults(wanted: &Problem, current: &Problem) -> Vec<Fault> {
    revise::faults(&facts(current), &facts(wanted))
}

/// The facts of the initial state, each on a line.
pub(crate) fn facts(problem: &Problem) -> Vec<String> {
    problem.init.iter().map(one_line).collect()
}

/// The current problem with each wrong fact repaired, with the probability that fits whether its predicate was named, and with the
/// probability `damage` another one got wrong. Where numbers, times and weights can be wrong, a wrong goal, constraint or metric is repaired as what
/// is not named; everything else is as it should be.
pub(crate) fn revise_problem(
    options: &OracleOptions,
    domain: &Domain,
    wanted: &Problem,
    current: &Problem,
    shown: &ShownTexts,
    random: &mut Random,
) -> Revised {
    let mut problem = Problem { init: current.init.clone(), ..wanted.clone() };
    let (mut repaired, mut left) = (Vec::new(), 0);
    for fault in faults(wanted, current) {
        let named = shown.named_predicates.contains(&fault.predicate());
        if !random.chance(if named { options.repair_named } else { options.repair_unnamed }) {
            left += 1;
            continue;
        }
        let same = |text: &Option<String>, fact: &InitElement| text.as_ref() == Some(&one_line(fact));
        let place = problem.init.iter().position(|fact| same(&fault.old, fact));
        let right = wanted.init.iter().find(|fact| same(&fault.new, fact)).cloned();
        match (place.and_then(|place| problem.init.get_mut(place)), right) {
            (Some(slot), Some(right)) => *slot = right,
            (Some(_), None) => problem.init.retain(|fact| !same(&fault.old, fact)),
            (None, right) => problem.init.extend(right),
        }
        repaired.push(format!("init: {}", fault.describe_repair()));
    }
    keep_quantities(options, current, &mut problem, &mut repaired, &mut left, random);
    let damages = random.chance(options.damage);
    let damaged: Vec<String> =
        damages.then(|| wrong_fact(domain, &mut problem, random)).flatten().into_iter().collect();
    Revised { problem, repaired, damaged, left }
}

/// Keeps a goal, constraints and a metric that are wrong and are not repaired.
fn keep_quantities(
    options: &OracleOptions,
    current: &Problem,
    problem: &mut Problem,
    repaired: &mut Vec<String>,
    left: &mut usize,
    random: &mut Random,
) {
    if options.kinds.quantities().iter().all(|(_, weight)| *weight <= 0.0) {
        return;
    }
    let part = |problem: &Problem, index: usize| {
        let mut part = Problem::default();
        match index {
            0 => part.goal.clone_from(&problem.goal),
            1 => part.constraints.clone_from(&problem.constraints),
            _ => part.metric.clone_from(&problem.metric),
        }
        part
    };
    for (index, name) in ["goal", "constraints", "metric"].into_iter().enumerate() {
        let old = part(current, index);
        if old.eq_ignoring_spans(&part(problem, index)) {
            continue;
        }
        if random.chance(options.repair_unnamed) {
            repaired.push(format!("{name}: as in the reference"));
            continue;
        }
        *left += 1;
        match index {
            0 => problem.goal = old.goal,
            1 => problem.constraints = old.constraints,
            _ => problem.metric = old.metric,
        }
    }
}

fn one_line(fact: &InitElement) -> String {
    print_init(fact).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Makes as many mistakes in a problem as the options say.
pub(crate) fn wrong_facts(
    options: &OracleOptions,
    domain: &Domain,
    problem: &mut Problem,
    random: &mut Random,
) -> Vec<String> {
    let quantities = options.kinds.quantities();
    if quantities.iter().all(|(_, weight)| *weight <= 0.0) {
        return (0..options.problem_errors).filter_map(|_| wrong_fact(domain, problem, random)).collect();
    }
    let mut made: Vec<QuantityMistake> = Vec::new();
    let mut mistakes = Vec::new();
    for _ in 0..options.problem_errors {
        let facts = options.kinds.omission + options.kinds.replaced_argument;
        let mut choices: Vec<(Vec<QuantityMistake>, f64)> = vec![(Vec::new(), facts)];
        for (kind, weight) in quantities {
            let mut listed = quantity_mistakes(domain, problem, kind);
            // A second mistake in the same place could undo the first one.
            listed.retain(|mistake| made.iter().all(|old| old.after != mistake.before));
            if !listed.is_empty() {
                choices.push((listed, weight));
            }
        }
        let total: f64 = choices.iter().map(|(_, weight)| weight).sum();
        let mut rest = random.unit() * total;
        let drawn = choices.into_iter().find(|(_, weight)| {
            rest -= weight;
            rest < 0.0
        });
        let Some((listed, _)) = drawn else { continue };
        match random.pick(&listed) {
            Some(mistake) => {
                *problem = mistake.apply(problem);
                mistakes.push(mistake.to_string());
                made.push(mistake.clone());
            }
            None => mistakes.extend(wrong_fact(domain, problem, random)),
        }
    }
    mistakes
}

/// Lost arguments that show in the problem's initial state.
fn visible(domain: &Domain, problem: &Problem) -> Vec<Mutation> {
    let shows = |m: &Mutation| match &m.place {
        MutationPlace::Argument { predicate, .. } => problem
            .init
            .iter()
            .any(|element| matches!(element, InitElement::Atom(atom) if atom.predicate == *predicate)),
        MutationPlace::Term { .. } | MutationPlace::Parameters(_) => false,
    };
    all_mutations(domain, MutationKind::PredicateArgument).into_iter().filter(shows).collect()
}

fn shares_objects(beginning: &Problem, reference: &Problem) -> bool {
    let known = |o: &TypedName| reference.objects.iter().any(|r| r.name == o.name);
    !beginning.objects.is_empty() && beginning.objects.iter().all(known)
}

/// Removes a fact, or replaces one of its arguments by an object of the same type, each half of the time.
fn wrong_fact(domain: &Domain, problem: &mut Problem, random: &mut Random) -> Option<String> {
    let facts: Vec<usize> = (0..problem.init.len())
        .filter(|index| matches!(problem.init.get(*index), Some(InitElement::Atom(_))))
        .collect();
    let index = *random.pick(&facts)?;
    let before = print_init(problem.init.get(index)?);
    let replaced = if random.chance(0.5) { replaced_argument(domain, problem, index, random) } else { None };
    match replaced {
        Some(fact) => {
            let after = print_init(&fact);
            *problem.init.get_mut(index)? = fact;
            Some(format!("init: {before} became {after}"))
        }
        None => {
            problem.init.remove(index);
            Some(format!("init: {before} omitted"))
        }
    }
}

fn replaced_argument(
    domain: &Domain,
    problem: &Problem,
    index: usize,
    random: &mut Random,
) -> Option<InitElement> {
    let Some(InitElement::Atom(atom)) = problem.init.get(index) else { return None };
    let objects: Vec<&TypedName> = domain.constants.iter().chain(&problem.objects).collect();
    let type_of = |object: &TypedName| object.ty.as_ref().map(|ty| ty.alternatives.clone());
    let there: Vec<String> = problem.init.iter().map(|e| print_init(e).to_lowercase()).collect();
    let mut options = Vec::new();
    for (position, arg) in atom.args.iter().enumerate() {
        let Some(old) = objects.iter().find(|o| o.name == *arg.name()) else { continue };
        for new in objects.iter().filter(|o| o.name != old.name && type_of(o) == type_of(old)) {
            let mut wrong = atom.clone();
            if let Some(slot) = wrong.args.get_mut(position) {
                *slot = Term::Constant(new.name.clone());
            }
            let fact = InitElement::Atom(wrong);
            if !there.contains(&print_init(&fact).to_lowercase()) {
                options.push(fact);
            }
        }
    }
    random.pick(&options).cloned()
}
