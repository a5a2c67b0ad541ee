use super::*;
use crate::syntax::parse_ground_term;

fn atoms(text: &str) -> BTreeSet<crate::syntax::ast::Term> {
    text.split_whitespace().map(|atom| parse_ground_term(atom).unwrap()).collect()
}

fn example(given: &str, missing: &str) -> Example {
    let given = atoms(given);
    let wanted = given.union(&atoms(missing)).cloned().collect();
    Example { given, wanted, counted: BTreeSet::new() }
}

fn solve(program: &str) -> Result<Vec<String>, String> {
    let request =
        planforge_clingo::SolveRequest { optimise: true, ..planforge_clingo::SolveRequest::new(program) };
    let found = planforge_clingo::solve(&request).map_err(|e| format!("{e}\n{program}"))?;
    Ok(found.models[0].iter().map(ToString::to_string).collect())
}

fn learn_rules(examples: &[Example], limits: LearnLimits) -> Learned {
    learn(examples, limits, &mut solve, &mut || false).unwrap()
}

fn rules(learned: &Learned) -> Vec<&str> {
    learned.rules.iter().map(|rule| rule.rule.as_str()).collect()
}

const PILES: [&str; 2] = [
    "object(a,block) object(b,block) object(c,block) init(on(a,b)) init(table(b)) init(table(c))",
    "object(a,block) object(b,block) object(c,block) init(on(c,a)) init(on(a,b)) init(table(b))",
];

#[test]
fn negation_as_failure_says_which_blocks_are_clear() {
    let examples = [example(PILES[0], "init(clear(a)) init(clear(c))"), example(PILES[1], "init(clear(c))")];
    let learned = learn_rules(&examples, LearnLimits::default());
    assert_eq!(rules(&learned), ["init(clear(X)) :- object(X, block), not init(on(_, X))."]);
    assert_eq!((learned.unexplained.len(), learned.rules[0].concludes), (0, 3));
}

#[test]
fn a_learned_predicate_is_a_condition_of_later_rules() {
    let examples = [
        example(PILES[0], "init(clear(a)) init(clear(c)) init(free(c))"),
        example(PILES[1], "init(clear(c))"),
    ];
    let learned = learn_rules(&examples, LearnLimits::default());
    assert_eq!(
        rules(&learned),
        [
            "init(clear(X)) :- object(X, block), not init(on(_, X)).",
            "init(free(X)) :- init(clear(X)), init(table(X))."
        ]
    );
}

#[test]
fn a_relation_becomes_symmetric_from_its_given_half() {
    let given = "object(a,place) object(b,place) object(c,place) init(joined(a,b)) init(joined(c,b))";
    let examples = [example(given, "init(joined(b,a)) init(joined(b,c))")];
    let learned = learn_rules(&examples, LearnLimits::default());
    assert_eq!(rules(&learned), ["init(joined(X, Y)) :- init(joined(Y, X))."]);
}

#[test]
fn neighbours_come_from_a_declared_grid() {
    let given = "object(a,tile) object(b,tile) object(c,tile) init(floor_grid(0,0,a)) init(floor_grid(0,1,b)) \
                 init(floor_grid(1,0,c))";
    let examples = [example(
        given,
        "init(north(c,a)) init(beside(a,b)) init(beside(b,a)) init(beside(a,c)) init(beside(c,a))",
    )];
    let learned = learn_rules(&examples, LearnLimits::default());
    assert_eq!(
        rules(&learned),
        ["init(beside(X, Y)) :- adjacent(floor, X, Y).", "init(north(X, Y)) :- next_row(floor, Y, X)."]
    );
}

#[test]
fn the_order_of_counted_objects_is_a_condition_and_that_of_named_ones_is_not() {
    let given = "object(l1,level) object(l2,level) object(l3,level)";
    let missing = "init(next(l1,l2)) init(next(l2,l3))";
    let mut counted = example(given, missing);
    let named = learn_rules(&[counted.clone()], LearnLimits::default());
    assert_eq!((rules(&named).len(), named.unexplained[0].conclusion.as_str()), (0, "init(next)"));
    counted.counted.insert("level".to_owned());
    let learned = learn_rules(&[counted], LearnLimits::default());
    assert_eq!(rules(&learned), ["init(next(X, Y)) :- follows(level, X, Y)."]);
}

#[test]
fn types_are_concluded_first() {
    let given =
        "object(s1,vessel) object(s2,vessel) object(k,vessel) goal(holds(s1,tea)) goal(holds(s2,tea))";
    let examples = [example(given, "object(s1,cup) object(s2,cup) init(clean(s1)) init(clean(s2))")];
    let learned = learn_rules(&examples, LearnLimits::default());
    assert_eq!(
        rules(&learned),
        ["object(X, cup) :- goal(holds(X, _)).", "init(clean(X)) :- object(X, cup)."]
    );
}

#[test]
fn several_rules_share_the_missing_facts() {
    let given = "object(a,t) object(b,t) object(c,t) object(d,t) init(red(a)) init(blue(b)) init(green(c))";
    let examples = [example(given, "init(coloured(a)) init(coloured(b))")];
    let one = learn_rules(&examples, LearnLimits { max_conditions: 1, ..LearnLimits::default() });
    assert_eq!(rules(&one), ["init(coloured(X)) :- init(blue(X)).", "init(coloured(X)) :- init(red(X))."]);
}

#[test]
fn facts_without_a_rule_and_limits_are_named() {
    let examples = [example("object(a,t) object(b,t) init(p(a)) init(p(b))", "init(q(a))")];
    let learned = learn_rules(&examples, LearnLimits { max_conditions: 1, max_candidates: 2 });
    assert_eq!(learned.rules, []);
    assert_eq!((learned.unexplained[0].fact.as_str(), learned.unexplained[0].missing), ("init(q(a))", 1));
    assert_eq!(learned.cut, ["rules of 1 conditions for init(q): 2 of 3 were not tried"]);
}

#[test]
fn facts_of_every_example_become_rules_about_their_objects() {
    let given = "object(r1,robot) object(r2,robot) object(red,paint) object(blue,paint)";
    let both = example(given, "init(has(r1,red)) init(has(r2,blue))");
    let one = learn_rules(std::slice::from_ref(&both), LearnLimits::default());
    assert_eq!(
        (rules(&one).len(), one.unexplained[0].missing),
        (0, 2),
        "one example shows nothing of others"
    );
    let two = learn_rules(&[both.clone(), both.clone()], LearnLimits::default());
    assert_eq!(
        rules(&two),
        [
            "init(has(r1, red)) :- object(r1, robot), object(red, paint).",
            "init(has(r2, blue)) :- object(r2, robot), object(blue, paint)."
        ]
    );
    let other = example(given, "init(has(r1,red)) init(has(r2,red))");
    assert_eq!(learn_rules(&[both, other], LearnLimits::default()).rules, []);
}

#[test]
fn a_stopped_search_keeps_what_it_has() {
    let examples = [example(PILES[1], "init(clear(c)) init(sturdy(a)) init(sturdy(b)) init(sturdy(c))")];
    let mut runs = 0;
    let mut stopped = || {
        runs += 1;
        runs > 4
    };
    let learned = learn(&examples, LearnLimits::default(), &mut solve, &mut stopped).unwrap();
    assert_eq!(rules(&learned), ["init(sturdy(X)) :- object(X, block)."]);
    assert_eq!(learned.cut, ["the search ended at its limit of time"]);
    assert_eq!(learned.unexplained[0].conclusion, "init(clear)");
}

#[test]
fn names_that_the_domain_lacks_are_declared() {
    let domain = "(define (domain d) (:types tile robot) (:predicates (at ?r - robot ?t - tile)))";
    let domain = planforge_pddl::parse_domain(domain, planforge_diagnostics::SourceId(0)).value;
    let text = "cardinality(row, 2). init(floor_grid(0, 1, t1)). init(at(r, t1)). init(map(robot, pilots, crew)). \
                init(near(X, Y)) :- init(reaches(X, Y)), object(X, tile). goal(not lit(3)).";
    let program = crate::syntax::parse(text, planforge_diagnostics::SourceId(1)).program;
    let type_of = |object: &str| (object == "t1").then(|| "tile".to_owned());
    assert_eq!(
        declarations(&domain, std::slice::from_ref(&program), &type_of),
        [
            "ir_type(crew, \"\").",
            "ir_type(row, \"\").",
            "ir_predicate(floor_grid(row, column, tile), \"\").",
            "ir_predicate(near(object, object), \"\").",
            "ir_predicate(pilots(robot, crew), \"\").",
            "ir_predicate(reaches(object, object), \"\").",
        ]
    );
    let objects = |named: &str| [(named.to_owned(), "row".to_owned())].into_iter().collect();
    assert_eq!(counted(&program, &objects("row1")), BTreeSet::from(["row".to_owned()]));
    assert_eq!(counted(&program, &objects("t1")), BTreeSet::new());
}
