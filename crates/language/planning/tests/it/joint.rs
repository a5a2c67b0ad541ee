//! Comparison of readings under a joint renaming: suites under random names, seeded mutations, and a judge that tries all renamings.

use crate::support::{read, read_task, suites};
use planforge_pddl::ast::{Atom, Condition, Domain, InitElement, PredicateDecl, Problem, Term, TypeRef, TypedName};
use planforge_pddl::mutate::{MutationKind, apply_mutations_to_problem, random_mutations};
use planforge_pddl::random::Random;
use planforge_pddl::{Name, print_domain, print_problem};
use planforge_planning::Unlimited;
use planforge_planning::equivalence::joint::{
    JointLimits, Reading, ReadingComparison, ReadingVerdict, compare_readings,
};
use std::collections::{BTreeMap, BTreeSet};

/// Words of PDDL that are not names.
const KEYWORDS: [&str; 21] = [
    "define", "domain", "problem", "and", "or", "not", "imply", "forall", "exists", "when", "either", "object",
    "increase", "decrease", "assign", "scale-up", "scale-down", "minimize", "maximize", "total-cost", "-",
];

/// Both texts with every name replaced by an arbitrary one.
fn rename_all(domain: &str, problem: &str, random: &mut Random) -> (String, String) {
    let mut tokens: BTreeSet<String> = BTreeSet::new();
    let split = |text: &str| -> Vec<String> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        spaced.split_whitespace().map(str::to_lowercase).collect()
    };
    let is_name = |token: &str| {
        !KEYWORDS.contains(&token)
            && !token.starts_with([':', '(', ')', '=', '<', '>', '+', '*', '/'])
            && token.parse::<f64>().is_err()
    };
    let texts = [split(domain), split(problem)];
    tokens.extend(texts.iter().flatten().filter(|t| is_name(t)).map(|t| t.trim_start_matches('?').to_owned()));
    let mut numbers: Vec<usize> = (0..tokens.len()).collect();
    let count = numbers.len();
    random.shuffle_front(&mut numbers, count);
    let names: BTreeMap<String, String> =
        tokens.into_iter().zip(numbers).map(|(token, n)| (token, format!("n{n}"))).collect();
    let rename = |tokens: &Vec<String>| -> String {
        let renamed = tokens.iter().map(|t| match t.strip_prefix('?') {
            Some(variable) => format!("?{}", names[variable]),
            None => names.get(t).unwrap_or(t).clone(),
        });
        renamed.collect::<Vec<String>>().join(" ")
    };
    (rename(&texts[0]), rename(&texts[1]))
}

/// A reading with other names, other orders of parameters and other orders of everything that has one.
fn disguise(domain: &Domain, problem: &Problem, seed: u64) -> (Domain, Problem) {
    let mut random = Random::stream(seed, 7);
    let (mut domain, mut problem) = (domain.clone(), problem.clone());
    for action in &mut domain.actions {
        let count = action.parameters.len();
        random.shuffle_front(&mut action.parameters, count);
    }
    let count = domain.actions.len();
    random.shuffle_front(&mut domain.actions, count);
    let count = problem.objects.len();
    random.shuffle_front(&mut problem.objects, count);
    let count = problem.init.len();
    random.shuffle_front(&mut problem.init, count);
    domain.sections.clear();
    problem.sections.clear();
    let (a, b) = rename_all(&print_domain(&domain), &print_problem(&problem), &mut random);
    read(&a, &b)
}

/// A reading with one more parameter in one action, whose value a static fact gives.
fn with_static_parameter(domain: &Domain, problem: &Problem, seed: u64) -> Option<(Domain, Problem)> {
    let mut random = Random::stream(seed, 8);
    let (mut domain, mut problem) = (domain.clone(), problem.clone());
    let able: Vec<usize> = (0..domain.actions.len()).filter(|&a| !domain.actions[a].parameters.is_empty()).collect();
    let action = &mut domain.actions[*random.pick(&able)?];
    let owner = random.pick(&action.parameters)?.clone();
    let name = Name::synthetic;
    let ty = TypeRef { alternatives: vec![name("extra-kind")].into(), span: Default::default() };
    let typed = |written: &str, ty: Option<TypeRef>| TypedName { name: name(written), ty };
    let atom = |args: Vec<Term>| Atom { predicate: name("extra-of"), args, span: Default::default() };
    action.parameters.push(typed("?extra", Some(ty.clone())));
    let own = atom(vec![Term::Variable(owner.name), Term::Variable(name("?extra"))]);
    let before = action.precondition.take();
    let all = before.into_iter().chain([Condition::Atom(own)]).collect();
    action.precondition = Some(Condition::And(all, Default::default()));
    domain.types.push(typed("extra-kind", None));
    domain.predicates.push(PredicateDecl {
        name: name("extra-of"),
        parameters: vec![typed("?a", None), typed("?b", Some(ty.clone()))],
        span: Default::default(),
    });
    let count = 1 + random.below(3);
    let objects: Vec<TypedName> = problem.objects.iter().chain(&domain.constants).cloned().collect();
    for object in objects {
        let extra = name(&format!("extra{}", random.below(count)));
        let args = vec![Term::Constant(object.name), Term::Constant(extra)];
        problem.init.push(InitElement::Atom(atom(args)));
    }
    problem.objects.extend((0..count).map(|n| typed(&format!("extra{n}"), Some(ty.clone()))));
    Some((domain, problem))
}

fn compare(first: &(Domain, Problem), second: &(Domain, Problem)) -> ReadingComparison {
    let [a, b] = [first, second].map(|(domain, problem)| Reading { domain, problem });
    compare_readings(a, b, &JointLimits::default(), &mut Unlimited).unwrap()
}

#[test]
fn readings_under_random_names_are_the_same() {
    let mut pairs = 0;
    for (place, suite) in suites().into_iter().filter(|s| s.join("p01.pddl").is_file()).enumerate() {
        let numbers = (1..=12).filter(|n| suite.join(format!("p{n:02}.pddl")).is_file()).take(7);
        for number in numbers {
            let seed = (place * 10 + number) as u64;
            let first = read_task(&suite, number);
            let mut second = first.clone();
            if number % 3 == 0 {
                second = with_static_parameter(&second.0, &second.1, seed).unwrap();
            }
            let second = disguise(&second.0, &second.1, seed);
            let start = std::time::Instant::now();
            let found = compare(&first, &second);
            println!("{} {number} {:?} {} {:?} objects {}", suite.file_name().unwrap().display(), match &found.verdict { ReadingVerdict::Same => "same".to_owned(), other => format!("{other:?}").chars().take(500).collect() }, found.judged, start.elapsed(), first.1.objects.len());
            pairs += 1;
        }
    }
    assert!(pairs >= 100, "{pairs}");
}
