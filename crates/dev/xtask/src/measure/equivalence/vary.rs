//! Other problems made of one: the same under other names, and one that differs in a fact.

use planforge_pddl::ast::{Condition, Domain, InitElement, Problem, Term};
use planforge_pddl::random::Random;
use planforge_pddl::{Name, rename_objects};
use planforge_planning::equivalence::fixed_names;

/// The problem with its objects exchanged at random within their types, and everything in another order.
pub(crate) fn with_random_names(domain: &Domain, problem: &Problem, random: &mut Random) -> Problem {
    let fixed = fixed_names(domain);
    let free: Vec<&Name> =
        problem.objects.iter().map(|o| &o.name).filter(|n| !fixed.contains(n.key())).collect();
    let mut numbers: Vec<usize> = (0..free.len()).collect();
    shuffle(&mut numbers, random);
    let names: Vec<(Name, Name)> = free
        .into_iter()
        .zip(numbers)
        .map(|(name, number)| (name.clone(), Name::synthetic(&format!("renamed-{number}"))))
        .collect();
    let mut other = rename_objects(problem, &names);
    shuffle(&mut other.objects, random);
    shuffle(&mut other.init, random);
    if let Some(Condition::And(parts, _)) = &mut other.goal {
        shuffle(parts, random);
    }
    other
}

fn shuffle<T>(list: &mut [T], random: &mut Random) {
    let n = list.len();
    random.shuffle_front(list, n);
}

/// The problem with one fact or conjunct left out, or one argument of one replaced by another object of that type.
pub(crate) fn mutant(problem: &Problem, random: &mut Random) -> Problem {
    let mut other = problem.clone();
    let conjuncts = match &other.goal {
        Some(Condition::And(parts, _)) => parts.len(),
        _ => 0,
    };
    let at = random.below((other.init.len() + conjuncts).max(1) as u64) as usize;
    let leave_out = random.chance(0.5);
    if let Some(element) = other.init.get_mut(at) {
        let replaced = match element {
            InitElement::Atom(atom) if !leave_out => replace(problem, &mut atom.args, random),
            _ => false,
        };
        if !replaced {
            other.init.remove(at);
        }
    } else if let Some(Condition::And(parts, _)) = &mut other.goal {
        let at = at - problem.init.len();
        let replaced = match parts.get_mut(at) {
            Some(Condition::Atom(atom)) if !leave_out => replace(problem, &mut atom.args, random),
            _ => false,
        };
        if !replaced && at < parts.len() {
            parts.remove(at);
        }
    }
    other
}

/// Another object of the same type in a random place; whether there is one.
fn replace(problem: &Problem, args: &mut [Term], random: &mut Random) -> bool {
    let key = |t: &planforge_pddl::ast::TypedName| -> Vec<String> {
        t.ty.iter().flat_map(|t| &t.alternatives).map(|n| n.key().to_owned()).collect()
    };
    if args.is_empty() {
        return false;
    }
    let place = random.below(args.len() as u64) as usize;
    let Some(own) = problem.objects.iter().find(|o| o.name == *args[place].name()) else { return false };
    let others: Vec<&Name> = problem
        .objects
        .iter()
        .filter(|o| o.name != own.name && key(o) == key(own))
        .map(|o| &o.name)
        .collect();
    match random.pick(&others) {
        Some(name) => {
            args[place] = Term::Constant((*name).clone());
            true
        }
        None => false,
    }
}
