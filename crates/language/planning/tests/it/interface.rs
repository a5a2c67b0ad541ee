//! Action reconstruction error and the searched renaming of the action interface: by hand, against all permutations, and on our suites'
//! domains under random renamings.

use crate::support::{Features, random_task, read, read_domain, read_task, suites};
use planforge_pddl::ast::{Action, Domain, Problem};
use planforge_pddl::random::Random;
use planforge_pddl::{Name, print_action, rename_parameters, rename_types};
use planforge_planning::equivalence::are::{action_error, domain_error};
use planforge_planning::equivalence::domains::{ComparisonVerdict, EquivalenceLimits, compare_domains};
use planforge_planning::equivalence::interface::{
    DomainWithProblems, Interface, NoInterface, match_interface, same_interface,
};
use planforge_planning::walk::NamedStep;
use planforge_planning::{CountingLimits, StopReason, Unlimited};

fn action(parameters: &str, precondition: &str, effect: &str) -> Action {
    let text = format!(
        "(define (domain d) (:types a b) (:predicates (p ?x) (q ?x ?y) (r))
           (:action go :parameters ({parameters}) :precondition {precondition} :effect {effect}))"
    );
    read_domain(&text).actions.remove(0)
}

/// Returns the errors by name, by position, and the minimum.
fn errors(a: &Action, b: &Action) -> (usize, usize, Option<usize>) {
    let found = action_error(a, b);
    (found.by_name, found.by_position, found.least.map(|l| l.error))
}

#[test]
fn errors_of_small_actions_equal_values_computed_by_hand() {
    let stack = action("?x ?y - a", "(and (p ?x) (q ?x ?y))", "(and (not (q ?x ?y)) (p ?y) (r))");
    // Order, repetition, nesting and case make no difference.
    let same = action("?x ?y - a", "(and (and (Q ?x ?Y)) (p ?x) (p ?x))", "(and (r) (p ?y) (not (q ?x ?y)))");
    assert_eq!(errors(&stack, &same), (0, 0, Some(0)));
    // A precondition less and an effect more.
    let other = action("?x ?y - a", "(p ?x)", "(and (not (q ?x ?y)) (not (p ?x)) (p ?y) (r))");
    assert_eq!(errors(&stack, &other), (2, 2, Some(2)));
    // A negative precondition is another element than a positive one; an added atom another than a deleted one.
    let negated = action("?x ?y - a", "(and (not (p ?x)) (q ?x ?y))", "(and (q ?x ?y) (p ?y) (r))");
    assert_eq!(errors(&stack, &negated), (4, 4, Some(4)));
    // Other names at the same places: by name nothing but (r) is shared, 2 * (2 + 1 + 1).
    let renamed = action("?u ?v - a", "(and (p ?u) (q ?u ?v))", "(and (not (q ?u ?v)) (p ?v) (r))");
    assert_eq!(errors(&stack, &renamed), (8, 0, Some(0)));
    // The same names at other places: by position everything is another atom but (r).
    let swapped = action("?y ?x - a", "(and (p ?x) (q ?x ?y))", "(and (not (q ?x ?y)) (p ?y) (r))");
    assert_eq!(errors(&stack, &swapped), (0, 8, Some(0)));
    // Another type, or another number of parameters, leaves no bijection.
    let typed = action("?x - a ?y - b", "(and (p ?x) (q ?x ?y))", "(and (not (q ?x ?y)) (p ?y) (r))");
    assert_eq!(errors(&stack, &typed), (0, 0, None));
    let more = action("?x ?y ?z - a", "(and (p ?x) (q ?x ?y))", "(and (not (q ?x ?y)) (p ?y) (r))");
    assert_eq!(errors(&stack, &more), (0, 0, None));
    // As in the paper's code, a parameter beyond the other's keeps its name, and takes it from another where it is the same.
    let beyond = action("?y ?z ?x - a", "(and (p ?x) (q ?x ?y))", "(and (not (q ?x ?y)) (p ?y) (r))");
    assert_eq!(errors(&stack, &beyond).1, 6);
    // A part that is not a literal is one element.
    let when = action("?x ?y - a", "(or (p ?x) (p ?y))", "(forall (?z) (when (p ?x) (q ?z ?y)))");
    let whom = action("?y ?x - a", "(or (p ?y) (p ?x))", "(forall (?z) (when (p ?y) (q ?z ?x)))");
    assert_eq!(errors(&when, &whom), (4, 0, Some(0)));
}

#[test]
fn parameters_without_a_bijection_are_reported_without_a_search() {
    // Every beginning of a bijection of thirty parameters would be more than anybody can try.
    let list = |last: &str| {
        let names: Vec<String> =
            (0..30).map(|i| format!("?v{i} - {}", if i == 29 { last } else { "a" })).collect();
        action(&names.join(" "), "(p ?v0)", "(q ?v0 ?v29)")
    };
    assert_eq!(errors(&list("a"), &list("b")), (0, 0, None));
    assert_eq!(errors(&list("b"), &list("b")), (0, 0, Some(0)));
}

/// All permutations of `0..n`.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(n - 1);
    let insert = |p: &Vec<usize>, at: usize| [&p[..at], &[n - 1], &p[at..]].concat();
    shorter.iter().flat_map(|p| (0..n).map(move |at| insert(p, at))).collect()
}

fn random_action(random: &mut Random) -> Action {
    let count = 1 + random.below(4) as usize;
    let types: Vec<&str> = (0..count).map(|_| if random.chance(0.7) { "a" } else { "b" }).collect();
    let list: Vec<String> = types.iter().enumerate().map(|(i, t)| format!("?v{i} - {t}")).collect();
    let mut atom = || match random.below(6) {
        0 => "(r)".to_owned(),
        n @ 1..3 => format!(
            "{}(p ?v{}){}",
            ["", "(not "][n as usize - 1],
            random.below(count as u64),
            ["", ")"][n as usize - 1]
        ),
        _ => format!("(q ?v{} ?v{})", random.below(count as u64), random.below(count as u64)),
    };
    let mut atoms = |n: usize| (0..n).map(|_| atom()).collect::<Vec<_>>().join(" ");
    let (pre, effect) = (atoms(4), atoms(4));
    action(&list.join(" "), &format!("(and {pre})"), &format!("(and {effect})"))
}

#[test]
fn the_minimum_error_is_that_of_the_best_permutation() {
    let (mut compared, mut below) = (0, 0);
    for seed in 0..1500 {
        let mut random = Random::stream(seed, 1);
        let (a, b) = (random_action(&mut random), random_action(&mut random));
        let types = |x: &Action| -> Vec<Name> {
            x.parameters.iter().map(|p| p.ty.as_ref().unwrap().alternatives[0].clone()).collect()
        };
        let (of_a, of_b) = (types(&a), types(&b));
        let count = a.parameters.len();
        let fits = |p: &Vec<usize>| (0..count).all(|i| of_a[i] == of_b[p[i]]);
        let mut brute = None;
        if of_b.len() == count {
            for p in permutations(count).iter().filter(|p| fits(p)) {
                // Called as in `a`, the error by name is the one under this bijection.
                let mut names = b.parameters.clone();
                (0..count).for_each(|i| names[p[i]].name = a.parameters[i].name.clone());
                let error = action_error(&a, &rename_parameters(&b, &names)).by_name;
                brute = Some(brute.map_or(error, |best: usize| best.min(error)));
            }
        }
        let found = action_error(&a, &b);
        assert_eq!(
            found.least.as_ref().map(|l| l.error),
            brute,
            "{}\n{}",
            print_action(&a),
            print_action(&b)
        );
        assert!(found.least.as_ref().is_none_or(|l| l.exact));
        compared += usize::from(brute.is_some());
        below += usize::from(brute.is_some_and(|b| b < found.by_position));
    }
    assert!(compared > 80 && below > 20, "{compared} {below}");
}

#[test]
fn twelve_parameters_of_one_type_take_no_factorial() {
    let list: Vec<String> = (0..12).map(|i| format!("?v{i}")).collect();
    let chain: Vec<String> = (0..11).map(|i| format!("(q ?v{i} ?v{})", i + 1)).collect();
    let back: Vec<String> = (0..11).map(|i| format!("(q ?v{} ?v{i})", i + 1)).collect();
    let a = action(&list.join(" "), &format!("(and {})", chain.join(" ")), "(r)");
    let b = action(&list.join(" "), &format!("(and {})", back.join(" ")), "(r)");
    let found = action_error(&a, &b);
    assert_eq!((found.by_position, found.least.map(|l| (l.error, l.exact))), (22, Some((0, true))));
}

#[test]
fn a_domain_counts_all_of_an_action_that_one_side_lacks() {
    let both = read_domain(
        "(define (domain d) (:predicates (p ?x) (r))
           (:action go :parameters (?x) :precondition (p ?x) :effect (r))
           (:action stay :parameters (?x) :precondition (and (p ?x) (r)) :effect (not (r))))",
    );
    let one = read_domain(
        "(define (domain d) (:predicates (p ?x) (r))
           (:action go :parameters (?y) :precondition (p ?y) :effect (r))
           (:action jump :parameters (?x) :effect (r)))",
    );
    let found = domain_error(&both, &one);
    assert_eq!((found.by_name, found.by_position, found.least), (2 + 3 + 1, 3 + 1, Some(3 + 1)));
    assert_eq!((found.actions[1].1.as_ref(), found.extra), (None, vec!["jump".to_owned()]));
}

const CRATES: &str = "(define (domain crates) (:requirements :typing) (:types crate place)
  (:predicates (at ?c - crate ?p - place) (near ?a ?b - place))
  (:action push :parameters (?c - crate ?from ?to - place) :precondition (and (at ?c ?from) (near ?from ?to))
    :effect (and (at ?c ?to) (not (at ?c ?from))))
  (:action drop :parameters (?c - crate ?p - place) :precondition (at ?c ?p) :effect (not (at ?c ?p))))";

const YARD: &str = "(define (problem yard) (:domain crates) (:objects c d - crate a b - place)
  (:init (at c a) (at d b) (near a b)) (:goal (at c b)))";

fn match_domains(reference: (&Domain, &Problem), candidate: &Domain) -> Result<Interface, NoInterface> {
    let problems = [reference.1];
    let texts = DomainWithProblems { domain: reference.0, problems: &problems };
    match_interface(texts, DomainWithProblems { domain: candidate, problems: &[] }, 100_000, &mut Unlimited)
}

fn equal(reference: (&Domain, &Problem), candidate: &Domain) -> ComparisonVerdict {
    let limits = EquivalenceLimits { max_pairs: 20_000, ..EquivalenceLimits::default() };
    compare_domains([reference.0, candidate], [reference.1, reference.1], &limits, &mut Unlimited)
        .unwrap()
        .verdict()
}

#[test]
fn names_come_first_and_the_error_decides_among_ties() {
    let (reference, problem) = read(CRATES, YARD);
    let both = (&reference, &problem);
    // The domain itself, and one with the parameters in another order: told by the names of the parameters.
    assert!(match_domains(both, &reference).unwrap().is_identity());
    let turned = read_domain(&CRATES.replace("?from ?to - place)", "?to ?from - place)"));
    let found = match_domains(both, &turned).unwrap();
    assert_eq!((found.actions[0].parameters.clone(), found.error), (vec![0, 2, 1], 0));
    assert_eq!(equal(both, &turned), ComparisonVerdict::Different);
    assert_eq!(equal(both, &found.rewrite(&reference, &turned)), ComparisonVerdict::Equal);
    // Other names everywhere: nothing is alike, so the error decides, also about the types.
    let other =
        CRATES.replace("crate place", "box spot").replace("- crate", "- box").replace("- place", "- spot");
    let other =
        other.replace("push", "shift").replace("drop", "lift").replace("?from", "?u").replace("?to", "?v");
    let other = read_domain(&other.replace("?u ?v - spot)", "?v ?u - spot)"));
    let found = match_domains(both, &other).unwrap();
    let names: Vec<(&str, &str)> =
        found.actions.iter().map(|a| (a.reference.as_str(), a.candidate.as_str())).collect();
    assert_eq!(names, [("push", "shift"), ("drop", "lift")]);
    assert_eq!(
        found.types,
        [("crate".to_owned(), "box".to_owned()), ("place".to_owned(), "spot".to_owned())]
    );
    assert_eq!((found.error, found.types_agree, found.exact), (0, true, true));
    assert_eq!(equal(both, &found.rewrite(&reference, &other)), ComparisonVerdict::Equal);
    // Steps in the candidate's own words.
    let step = found.candidate_step(&NamedStep::parse("(push c a b)").unwrap()).unwrap();
    assert_eq!(step.to_string(), "(shift c b a)");
    // A candidate that is wrong is matched and differs.
    let wrong = read_domain(
        &CRATES.replace("push", "pushes").replace("(and (at ?c ?from) (near ?from ?to))", "(at ?c ?from)"),
    );
    let found = match_domains(both, &wrong).unwrap();
    assert_eq!((found.actions[0].candidate.as_str(), found.error), ("pushes", 1));
    assert_eq!(equal(both, &found.rewrite(&reference, &wrong)), ComparisonVerdict::Different);
}

#[test]
fn a_missing_match_is_explained() {
    let (reference, problem) = read(CRATES, YARD);
    let both = (&reference, &problem);
    let why = |text: &str| match match_domains(both, &read_domain(text)) {
        Err(NoInterface::None(why)) => why,
        other => panic!("{other:?}"),
    };
    let cut = CRATES.split("(:action drop").next().unwrap().to_owned() + ")";
    assert_eq!(why(&cut), "the candidate has 1 actions and the reference 2");
    let unary = CRATES.replace("drop", "lift").replace("(?c - crate ?p - place)", "(?c - crate ?p - crate)");
    assert_eq!(why(&unary), "no action of the candidate has the parameters of drop");
    // The same actions with as many parameters are compared unchanged, whatever their types.
    let wide = read_domain(&CRATES.replace("(?c - crate ?p - place)", "(?c - crate ?p - crate)"));
    let found = match_domains(both, &wide).unwrap();
    assert!(found.is_identity() && !found.types_agree, "{found:?}");
    assert!(same_interface(&reference, &wide).is_ok());
    let told = same_interface(&reference, &read_domain(&cut)).unwrap_err();
    assert_eq!(told.to_string(), "the candidate has no action drop");
    // A limit gives no verdict.
    let texts = DomainWithProblems { domain: &reference, problems: &[&problem] };
    let renamed = read_domain(&CRATES.replace("drop", "lift"));
    let other = DomainWithProblems { domain: &renamed, problems: &[] };
    let limited = match_interface(texts, other, 0, &mut Unlimited);
    assert!(matches!(limited, Err(NoInterface::Limit { stopped: None, .. })), "{limited:?}");
    let limited = match_interface(texts, other, 100_000, &mut CountingLimits { polls: 1, bytes: u64::MAX });
    assert!(
        matches!(limited, Err(NoInterface::Limit { stopped: Some(StopReason::Time), .. })),
        "{limited:?}"
    );
    let types = read_domain(&CRATES.replace("drop", "lift").replace("crate", "box"));
    let other = DomainWithProblems { domain: &types, problems: &[] };
    let limited = match_interface(texts, other, 100_000, &mut CountingLimits { polls: u64::MAX, bytes: 0 });
    assert!(
        matches!(limited, Err(NoInterface::Limit { stopped: Some(StopReason::Memory), .. })),
        "{limited:?}"
    );
    // A limit leaves the candidate unchanged; there may be a better match.
    let limited =
        match_interface(texts, DomainWithProblems { domain: &reference, problems: &[] }, 0, &mut Unlimited)
            .unwrap();
    assert!(!limited.exact && limited.is_identity(), "{limited:?}");
    assert!(found.exact);
}

#[test]
fn types_of_a_candidate_with_its_own_problem_are_matched_by_their_objects() {
    let (reference, problem) = read(CRATES, YARD);
    let text = CRATES.replace("crate place", "thing - object box spot - thing").replace("- crate", "- box");
    let text = text
        .replace("- place", "- spot")
        .replace("drop", "lift")
        .replace("(?c - box ?p - spot)", "(?p - spot ?c - box)");
    let (candidate, own) = read(&text, &YARD.replace("- crate", "- box").replace("- place", "- spot"));
    let found = match_interface(
        DomainWithProblems { domain: &reference, problems: &[&problem] },
        DomainWithProblems { domain: &candidate, problems: &[&own] },
        1000,
        &mut Unlimited,
    )
    .unwrap();
    assert_eq!((found.types.len(), found.error), (0, 0));
    let rewritten = found.rewrite(&reference, &candidate);
    let limits = EquivalenceLimits::default();
    let compared =
        compare_domains([&reference, &rewritten], [&problem, &own], &limits, &mut Unlimited).unwrap();
    assert_eq!(compared.verdict(), ComparisonVerdict::Equal);
}

#[test]
fn a_renamed_parameter_is_not_captured_by_a_quantifier() {
    let text = |name: &str| {
        format!(
            "(define (domain d) (:requirements :adl) (:predicates (p ?x) (q ?x ?y))
               (:action go :parameters ({name}) :precondition (exists (?y) (q ?y {name})) :effect (p {name})))"
        )
    };
    let task = "(define (problem t) (:domain d) (:objects a b) (:init (q a b)) (:goal (p b)))";
    let (reference, problem) =
        read(&text("?y").replace("exists (?y) (q ?y ?y)", "exists (?z) (q ?z ?y)"), task);
    let candidate = read_domain(&text("?x").replace("go", "run"));
    let found = match_domains((&reference, &problem), &candidate).unwrap();
    let rewritten = found.rewrite(&reference, &candidate);
    assert_eq!(equal((&reference, &problem), &rewritten), ComparisonVerdict::Equal);
    assert_eq!(rewritten.actions[0].parameters[0].name.as_str(), "?x");
}

/// Other names for actions, parameters and types, parameters in another order.
fn disguise(domain: &Domain, random: &mut Random) -> Domain {
    let mut names: Vec<String> = Vec::new();
    while names.len() < 400 {
        let name: String = (0..9).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
        names.push(name);
    }
    let mut fresh = names.into_iter();
    let mut types: Vec<Name> =
        domain.types.iter().map(|t| t.name.clone()).filter(|n| !n.is("object")).collect();
    types.sort();
    types.dedup();
    let pairs: Vec<(Name, Name)> =
        types.into_iter().map(|t| (t, Name::synthetic(&fresh.next().unwrap()))).collect();
    let mut out = rename_types(domain, &pairs);
    for action in &mut out.actions {
        let mut renamed = action.parameters.clone();
        renamed.iter_mut().for_each(|p| p.name = Name::synthetic(&format!("?{}", fresh.next().unwrap())));
        *action = rename_parameters(action, &renamed);
        let count = action.parameters.len();
        random.shuffle_front(&mut action.parameters, count);
        action.name = Name::synthetic(&fresh.next().unwrap());
    }
    let count = out.actions.len();
    random.shuffle_front(&mut out.actions, count);
    out
}

#[test]
fn suite_domains_are_matched_under_any_renaming() {
    let mut compared = 0;
    for suite in suites() {
        let name = suite.display();
        let (reference, problem) = read_task(&suite, 1);
        for seed in 0..5 {
            let candidate = disguise(&reference, &mut Random::stream(seed, 7));
            assert_eq!(candidate.actions.len(), reference.actions.len());
            let found =
                match_domains((&reference, &problem), &candidate).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!((found.error, found.types_agree, found.exact), (0, true, true), "{name}");
            let rewritten = found.rewrite(&reference, &candidate);
            assert_eq!(
                equal((&reference, &problem), &rewritten),
                ComparisonVerdict::Equal,
                "{name}: {found:?}"
            );
            assert_eq!(domain_error(&reference, &rewritten).by_name, 0, "{name}");
            compared += 1;
        }
    }
    assert!(compared >= 60, "{compared}");
}

#[test]
fn random_domains_are_matched_under_any_renaming() {
    let features = Features { adl: true, derived: true, costs: true };
    for seed in 0..150 {
        let (text, task) = random_task(seed, features);
        let (reference, problem) = read(&text, &task);
        let candidate = disguise(&reference, &mut Random::stream(seed, 8));
        // Types that no parameter uses may keep their names, and then the problem does not fit.
        let Ok(found) = match_domains((&reference, &problem), &candidate) else { panic!("{seed}") };
        let rewritten = found.rewrite(&reference, &candidate);
        assert_eq!(found.error, 0, "{seed}");
        assert_eq!(
            equal((&reference, &problem), &rewritten),
            ComparisonVerdict::Equal,
            "{seed}: {text} {found:?}"
        );
    }
}
