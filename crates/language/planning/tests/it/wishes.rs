//! Planning with preferences and trajectory constraints: against all short plans of tiny random tasks, which the validator judges, and one by one.

use crate::support::{Random, read};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_planning::{
    Algorithm, CountingLimits, Plan, PlanOptions, PlanResult, Poll, ResourceLimits, SearchOutcome,
    StopReason, Unlimited, ValidationOptions, ValidationReport, Validator, normalize, parse_plan, plan,
    plan_with_progress,
};

fn solve(task: &(Domain, Problem), algorithm: Algorithm) -> PlanResult {
    let options = PlanOptions { algorithm, ..PlanOptions::default() };
    plan(&task.0, &task.1, &options, &mut Unlimited).unwrap()
}

fn judge(validator: &Validator, steps: &[String]) -> ValidationReport {
    validator.validate(&parse_plan(&steps.join("\n"), SourceId(2)), &mut Unlimited)
}

fn validator(task: &(Domain, Problem)) -> Validator {
    Validator::new(normalize(&task.0, &task.1).unwrap())
}

/// The plan, which is valid and has the cost that it tells.
fn planned(task: &(Domain, Problem), algorithm: Algorithm) -> Plan {
    match solve(task, algorithm).outcome {
        SearchOutcome::Plan(plan) => {
            check(&validator(task), &plan);
            plan
        }
        other => panic!("{other:?}"),
    }
}

fn check(validator: &Validator, plan: &Plan) {
    let report = judge(validator, &plan.step_texts());
    assert!(report.is_valid(), "{plan}\n{:#?}", report.diagnostics);
    assert_eq!(report.cost, plan.cost, "{plan}");
}

/// What the planner refuses.
fn refused(task: &(Domain, Problem)) -> Vec<String> {
    match solve(task, Algorithm::Greedy).outcome {
        SearchOutcome::Unsupported(constructs) => constructs.into_iter().map(|c| c.what).collect(),
        other => panic!("{other:?}"),
    }
}

/// A task with four ground actions.
struct Tiny {
    domain: String,
    problem: String,
}

const FACTS: [&str; 4] = ["(p)", "(q)", "(r a)", "(r b)"];

fn literal(random: &mut Random, facts: &[&str]) -> String {
    let fact = facts[random.below(facts.len())];
    if random.chance(35) { format!("(not {fact})") } else { fact.to_owned() }
}

fn condition(random: &mut Random, facts: &[&str]) -> String {
    match random.below(6) {
        0 | 1 => literal(random, facts),
        2 => format!("(and {} {})", literal(random, facts), literal(random, facts)),
        3 => format!("(or {} {})", literal(random, facts), literal(random, facts)),
        4 => format!("(imply {} {})", literal(random, facts), literal(random, facts)),
        _ => "(exists (?y) (and (r ?y) (not (p))))".to_owned(),
    }
}

fn constraint(random: &mut Random, facts: &[&str]) -> String {
    let operators = [
        ("always", 1),
        ("sometime", 1),
        ("at-most-once", 1),
        ("sometime-after", 2),
        ("sometime-before", 2),
        ("at end", 1),
    ];
    let (operator, conditions) = operators[random.below(operators.len())];
    let conditions: String = (0..conditions).map(|_| format!(" {}", condition(random, facts))).collect();
    format!("({operator}{conditions})")
}

fn tiny(seed: u64) -> Tiny {
    let random = &mut Random::new(seed);
    let derived = random.chance(25);
    let all = [&FACTS[..], &["(d)"]].concat();
    let facts = if derived { &all[..] } else { &FACTS };
    let names = ["one", "two", "three"];
    let mut domain = "(define (domain tiny) (:requirements :adl :preferences :constraints :derived-predicates :action-costs)
        (:constants a b) (:predicates (p) (q) (r ?x) (d)) (:functions (total-cost))"
        .to_owned();
    domain += if derived { "(:derived (d) (and (p) (not (r a))))" } else { "" };
    for (number, argument) in ["", "", "?x"].into_iter().enumerate() {
        let own = [facts, &["(r ?x)"; 2]].concat();
        let own = if argument.is_empty() { facts } else { &own };
        let changed: Vec<&str> = own.iter().copied().filter(|fact| *fact != "(d)").collect();
        let mut conditions = if random.chance(60) { condition(random, own) } else { String::new() };
        if random.chance(30) {
            let name = names[random.below(3)];
            conditions += &match random.below(2) {
                0 => format!("(preference {name} {})", condition(random, own)),
                _ => format!("(forall (?z) (preference {name} (or (r ?z) {})))", literal(random, own)),
            };
        }
        let mut effects = format!("{} {}", literal(random, &changed), literal(random, &changed));
        if random.chance(25) {
            effects += &format!("(when {} {})", condition(random, own), literal(random, &changed));
        }
        domain += &format!(
            "\n(:action a{number} :parameters ({argument}) :precondition (and {conditions})
              :effect (and {effects} (increase (total-cost) 1)))"
        );
    }
    if random.chance(15) {
        domain += &format!("\n(:constraints {})", constraint(random, facts));
    }
    domain.push(')');
    let init: String = FACTS.iter().filter(|_| random.chance(40)).copied().collect();
    let mut goal = if random.chance(50) { condition(random, facts) } else { String::new() };
    for name in names {
        goal += &format!("(preference {name} {})", condition(random, facts));
    }
    let mut constraints = String::new();
    for _ in 0..1 + random.below(3) {
        constraints += &match random.below(4) {
            0 => constraint(random, facts),
            1 => {
                format!("(forall (?x) (preference {} {}))", names[random.below(3)], constraint(random, facts))
            }
            2 => format!(
                "(preference {} (and {} {}))",
                names[random.below(3)],
                constraint(random, facts),
                constraint(random, facts)
            ),
            _ => format!(
                "(preference {} (forall (?x) (always (or (r ?x) (not (p))))))",
                names[random.below(3)]
            ),
        };
    }
    let [one, two, three] = [(); 3].map(|()| random.below(4));
    let sum = format!(
        "(+ (total-cost) (* {one} (is-violated one)) (* {two} (is-violated two)) (* {three} (is-violated three)))"
    );
    let metric = match random.below(4) {
        0 => format!("maximize (- 20 {sum})"),
        1 => format!("minimize (/ {sum} 3)"),
        _ => format!("minimize {sum}"),
    };
    let problem = format!(
        "(define (problem x) (:domain tiny) (:init {init} (= (total-cost) 0)) (:goal (and {goal}))
         (:constraints (and {constraints})) (:metric {metric}))"
    );
    Tiny { domain, problem }
}

/// The best metric of all plans with at most `left` more steps; lower is better after `sign`.
fn best_metric(validator: &Validator, steps: &mut Vec<String>, left: usize, sign: f64) -> Option<f64> {
    let report = judge(validator, steps);
    if report.failing_step.is_some() {
        return None;
    }
    let mut best = report.cost.filter(|_| report.is_valid()).map(|cost| sign * cost);
    if left > 0 {
        for action in ["(a0)", "(a1)", "(a2 a)", "(a2 b)"] {
            steps.push(action.to_owned());
            let found = best_metric(validator, steps, left - 1, sign);
            best = [best, found].into_iter().flatten().reduce(f64::min);
            steps.pop();
        }
    }
    best
}

#[test]
fn the_best_plans_of_tiny_tasks_are_those_among_all_short_plans() {
    let (mut exact, mut wished) = (0, 0);
    for seed in 0..250 {
        let tiny = tiny(seed);
        let task = read(&tiny.domain, &tiny.problem);
        let validator = validator(&task);
        let most = 4;
        let sign = if tiny.problem.contains("maximize") { -1.0 } else { 1.0 };
        let best = best_metric(&validator, &mut Vec::new(), most, sign);
        for algorithm in [Algorithm::AStar, Algorithm::Anytime, Algorithm::Greedy] {
            let options = PlanOptions { algorithm, max_nodes: 200_000, ..PlanOptions::default() };
            let mut reported = Vec::new();
            let result = plan_with_progress(&task.0, &task.1, &options, &mut Unlimited, &mut |plan, _| {
                check(&validator, plan);
                reported.push(sign * plan.cost.unwrap());
            });
            let outcome = result.unwrap().outcome;
            let context = format!("seed {seed}, {algorithm:?}: {best:?}\n{}\n{}", tiny.domain, tiny.problem);
            match &outcome {
                SearchOutcome::Plan(plan) => {
                    check(&validator, plan);
                    let found = sign * plan.cost.unwrap();
                    if algorithm != Algorithm::Greedy {
                        assert!(plan.optimal, "{context}\n{plan}");
                        assert!(best.is_none_or(|best| found <= best + 1e-9), "{context}\n{plan}");
                        // A longer plan may be better than all short ones.
                        if plan.steps.len() <= most {
                            assert!(
                                best.is_some_and(|best| (found - best).abs() < 1e-9),
                                "{context}\n{plan}"
                            );
                            exact += 1;
                        }
                    }
                    assert!(reported.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9), "{context}");
                    wished += 1;
                }
                SearchOutcome::ProvenUnsolvable(_) => assert_eq!(best, None, "{context}"),
                other => panic!("{other:?}\n{context}"),
            }
        }
    }
    assert!(exact > 250 && wished > 400, "{exact} {wished}");
}

const ERRANDS: &str = "(define (domain errands) (:requirements :adl :preferences :constraints :action-costs)
  (:predicates (at ?p) (done ?p) (wet)) (:functions (total-cost))
  (:action go :parameters (?from ?to) :precondition (and (at ?from) (not (= ?from ?to)) (preference dry (not (wet))))
    :effect (and (at ?to) (not (at ?from)) (increase (total-cost) 2)))
  (:action do :parameters (?p) :precondition (at ?p) :effect (and (done ?p) (increase (total-cost) 1))))";

fn errands(init: &str, goal: &str, rest: &str) -> (Domain, Problem) {
    let problem = format!(
        "(define (problem today) (:domain errands) (:objects home shop bank park)
         (:init (at home) (= (total-cost) 0) {init}) (:goal (and {goal})) {rest})"
    );
    read(ERRANDS, &problem)
}

#[test]
fn a_wish_is_kept_where_it_is_worth_its_steps() {
    let wishes = "(preference money (done bank)) (preference walk (done park)) (done shop)";
    for (money, walk, steps) in [(9, 9, 6), (9, 1, 4), (1, 1, 2)] {
        let metric = format!(
            "(:metric minimize (+ (total-cost) (* {money} (is-violated money)) (* {walk} (is-violated walk))))"
        );
        for algorithm in [Algorithm::AStar, Algorithm::Anytime] {
            let plan = planned(&errands("", wishes, &metric), algorithm);
            assert_eq!((plan.steps.len(), plan.optimal), (steps, true), "{plan}");
        }
    }
}

#[test]
fn a_preferred_precondition_is_paid_with_each_step() {
    let metric = "(:metric minimize (+ (total-cost) (* 5 (is-violated dry))))";
    let plan = planned(&errands("(wet)", "(done shop) (at home)", metric), Algorithm::AStar);
    assert_eq!(plan.cost, Some(15.0));
}

#[test]
fn many_preferred_preconditions_of_one_action_are_counted() {
    let domain = "(define (domain lamps) (:requirements :adl :preferences)
      (:predicates (lit ?l) (out)) (:action leave :parameters () :effect (out)
        :precondition (and (not (out)) (forall (?l) (preference dark (not (lit ?l))))))
      (:action switch :parameters (?l) :precondition (lit ?l) :effect (not (lit ?l))))";
    for (weight, cost) in [("0.5", 3.5), ("2", 7.0)] {
        let problem = format!(
            "(define (problem x) (:domain lamps) (:objects a b c d e f g)
             (:init (lit a) (lit b) (lit c) (lit d) (lit e) (lit f) (lit g)) (:goal (out))
             (:metric minimize (+ (total-time) (* {weight} (is-violated dark)))))"
        );
        let task = read(domain, &problem);
        let plan = planned(&task, Algorithm::AStar);
        // One step to leave, and one for each lamp or its weight.
        assert_eq!(plan.cost, Some(cost + 1.0), "{plan}");
    }
}

#[test]
fn every_operator_constrains_plans() {
    let free = planned(&errands("", "(done shop)", ""), Algorithm::AStar);
    assert_eq!(free.step_texts(), ["(go home shop)", "(do shop)"]);
    for (constraint, steps) in [
        ("(always (not (at bank)))", 2),
        ("(sometime (at bank))", 3),
        ("(sometime (and (at bank) (done shop)))", 3),
        ("(at-most-once (at home))", 2),
        ("(sometime-after (at shop) (at home))", 3),
        ("(sometime-after (at park) (at home))", 2),
        ("(sometime-before (done shop) (done bank))", 4),
        ("(at end (at home))", 3),
        ("(and (sometime (at bank)) (sometime (at park)))", 4),
        ("(forall (?p) (sometime (done ?p)))", 8 - 1),
    ] {
        let rest = format!("(:constraints {constraint})");
        for algorithm in [Algorithm::AStar, Algorithm::Greedy, Algorithm::BreadthFirst] {
            let plan = planned(&errands("", "(done shop)", &rest), algorithm);
            assert!(plan.steps.len() == steps || algorithm == Algorithm::Greedy, "{constraint}: {plan}");
        }
    }
}

#[test]
fn constraints_that_no_plan_satisfies_are_named() {
    for constraint in
        ["(always (at home))", "(sometime-before (at home) (at bank))", "(at-most-once (at home))"]
    {
        let rest = format!("(:constraints (and {constraint} (always (not (at park)))))");
        let task = errands("", "(done shop) (at home) (done bank)", &rest);
        let SearchOutcome::ProvenUnsolvable(why) = solve(&task, Algorithm::Greedy).outcome else {
            panic!("{constraint}")
        };
        assert!(why.text().contains("satisfies the trajectory constraints"), "{}", why.text());
    }
    // Beside numbers, a constraint that is broken at the start leaves nothing to search.
    let domain = "(define (domain n) (:requirements :fluents :constraints) (:predicates (p)) (:functions (n))
      (:action a :parameters () :precondition (< (n) 3) :effect (increase (n) 1)))";
    let problem = "(define (problem n) (:domain n) (:init (p) (= (n) 0)) (:goal (> (n) 1)) (:constraints (always (not (p)))))";
    let SearchOutcome::ProvenUnsolvable(why) = solve(&read(domain, problem), Algorithm::Greedy).outcome
    else {
        panic!()
    };
    assert!(why.text().contains("they are broken at the start"), "{}", why.text());
}

#[test]
fn preferences_without_a_weight_are_free() {
    let wishes = "(preference money (done bank)) (preference (done park)) (done shop)";
    for metric in
        ["", "(:metric minimize (total-cost))", "(:metric minimize (+ (total-cost) (is-violated dry)))"]
    {
        let plan = planned(&errands("", wishes, metric), Algorithm::AStar);
        assert_eq!(plan.steps.len(), 2, "{plan}");
    }
}

#[test]
fn a_name_that_stands_twice_counts_twice() {
    let wishes = "(preference both (done bank)) (preference both (done park))";
    let metric = "(:metric minimize (+ (total-cost) (* 2 (is-violated both))))";
    let plan = planned(&errands("", wishes, metric), Algorithm::AStar);
    assert_eq!((plan.cost, plan.steps.len()), (Some(4.0), 0));
}

#[test]
fn the_first_plan_is_not_dearer_than_its_steps_with_all_wishes_broken() {
    let places: String = (0..30).map(|n| format!(" p{n}")).collect();
    let wishes: String = (0..30).map(|n| format!("(preference w (done p{n}))")).collect();
    let problem = format!(
        "(define (problem many) (:domain errands) (:objects home{places}) (:init (at home) (= (total-cost) 0))
         (:goal (and (done home) {wishes})) (:metric minimize (+ (total-cost) (* 10 (is-violated w)))))"
    );
    let task = read(ERRANDS, &problem);
    let result = solve(&task, Algorithm::Greedy);
    // Wishes are paid for in one order: the states are few.
    assert!(result.statistics.generated < 5_000, "{:?}", result.statistics);
    let SearchOutcome::Plan(first) = result.outcome else { panic!() };
    check(&validator(&task), &first);
    assert!(first.cost.unwrap() <= 301.0, "{first}");
    let options = PlanOptions { algorithm: Algorithm::Anytime, max_nodes: 100_000, ..PlanOptions::default() };
    let better = match plan(&task.0, &task.1, &options, &mut Unlimited).unwrap().outcome {
        SearchOutcome::Plan(plan) => plan,
        other => panic!("{other:?}"),
    };
    // Each wish takes 3 and saves 10.
    assert_eq!(better.cost, Some(91.0), "{better}");
}

#[test]
fn what_is_not_planned_is_named() {
    let wish = "(preference money (done bank))";
    let metric = |expr: &str| errands("", wish, &format!("(:metric minimize {expr})"));
    let constraint = |text: &str| errands("", "(done shop)", &format!("(:constraints {text})"));
    for (task, what) in [
        (
            metric("(- (total-cost) (is-violated money))"),
            "the preference `money`, whose violation makes the metric better",
        ),
        (
            metric("(* (is-violated money) (is-violated money))"),
            "a metric that is not linear in `is-violated`",
        ),
        (metric("(is-violated honey)"), "the violations of a preference that is not there"),
        (constraint("(within 3 (done bank))"), "`within` in a plan without times"),
        (constraint("(always-within 0 (at bank) (done bank))"), "`always-within` in a plan without times"),
        (constraint("(hold-during 1 2 (done bank))"), "`hold-during` in a plan without times"),
    ] {
        assert_eq!(refused(&task), [what]);
    }
    let numbers =
        "(define (domain n) (:requirements :fluents :preferences) (:predicates (p)) (:functions (n))
      (:action a :parameters () :precondition (< (n) 3) :effect (and (p) (increase (n) 1))))";
    let problem = |constraints: &str| {
        format!(
            "(define (problem n) (:domain n) (:init (= (n) 0)) (:goal (preference x (p))) {constraints}
             (:metric minimize (is-violated x)))"
        )
    };
    let what = "preferences or trajectory constraints together with numeric conditions";
    for constraints in ["", "(:constraints (sometime (p)))"] {
        let optimal = solve(&read(numbers, &problem(constraints)), Algorithm::AStar).outcome;
        assert!(
            matches!(&optimal, SearchOutcome::Unsupported(found) if found[0].what == what),
            "{optimal:?}"
        );
    }
}

/// A task with a number, and constraints that each plan satisfies.
fn tiny_with_numbers(seed: u64) -> Tiny {
    let random = &mut Random::new(seed);
    let facts = ["(p)", "(q)", "(r a)", "(r b)", "(> (n) 1)", "(<= (n) 0)", "(= (* 2 (n)) (+ (n) 2))"];
    let mut domain = "(define (domain tiny) (:requirements :adl :fluents :constraints)
        (:constants a b) (:predicates (p) (q) (r ?x)) (:functions (n))"
        .to_owned();
    for (number, argument) in ["", "", "?x"].into_iter().enumerate() {
        let condition = if random.chance(50) { condition(random, &facts) } else { "(and)".to_owned() };
        let changed = literal(random, if argument.is_empty() { &facts[..4] } else { &["(r ?x)"] });
        let amount = ["(increase (n) 1)", "(decrease (n) 2)", "(assign (n) 1)", ""][random.below(4)];
        let when = match random.chance(30) {
            true => format!("(when {} {})", literal(random, &facts), literal(random, &facts[..4])),
            false => String::new(),
        };
        domain += &format!(
            "\n(:action a{number} :parameters ({argument}) :precondition {condition}
              :effect (and {changed} {amount} {when}))"
        );
    }
    domain.push(')');
    let init: String = FACTS.iter().filter(|_| random.chance(40)).copied().collect();
    let goal = condition(random, &facts);
    let constraints: String = (0..1 + random.below(3)).map(|_| constraint(random, &facts)).collect();
    let problem = format!(
        "(define (problem x) (:domain tiny) (:init {init} (= (n) {})) (:goal {goal})
         (:constraints (and {constraints})))",
        random.below(3)
    );
    Tiny { domain, problem }
}

#[test]
fn constraints_beside_numbers_leave_the_plans_that_satisfy_them() {
    let (mut exact, mut none, mut stopped) = (0, 0, 0);
    for seed in 0..300 {
        let tiny = tiny_with_numbers(seed);
        let task = read(&tiny.domain, &tiny.problem);
        let validator = validator(&task);
        let best = best_metric(&validator, &mut Vec::new(), 4, 1.0);
        for algorithm in [Algorithm::AStar, Algorithm::BreadthFirst, Algorithm::Greedy] {
            let options = PlanOptions { algorithm, max_nodes: 5_000, ..PlanOptions::default() };
            let outcome = plan(&task.0, &task.1, &options, &mut Unlimited).unwrap().outcome;
            let context = format!("seed {seed}, {algorithm:?}: {best:?}\n{}\n{}", tiny.domain, tiny.problem);
            match &outcome {
                SearchOutcome::Plan(plan) => {
                    check(&validator, plan);
                    if plan.steps.len() <= 4 && algorithm != Algorithm::Greedy {
                        assert_eq!(best, plan.cost, "{context}\n{plan}");
                        exact += 1;
                    }
                    assert!(algorithm == Algorithm::Greedy || best.is_none_or(|b| Some(b) >= plan.cost));
                }
                SearchOutcome::ProvenUnsolvable(_) => {
                    assert_eq!(best, None, "{context}");
                    none += 1;
                }
                // Numbers grow without end. A task with a short plan is not among these.
                SearchOutcome::LimitReached(StopReason::Nodes) => {
                    assert_eq!(best, None, "{context}");
                    stopped += 1;
                }
                other => panic!("{other:?}\n{context}"),
            }
        }
    }
    assert!(exact > 150 && none > 150 && stopped > 0, "{exact} {none} {stopped}");
}

/// The best plan, which is valid and has the cost that it tells, and the costs of the plans before it.
fn improved(domain: &str, problem: &str) -> (Plan, Vec<f64>) {
    let task = read(domain, problem);
    let options = PlanOptions { algorithm: Algorithm::Anytime, max_nodes: 30_000, ..PlanOptions::default() };
    let mut costs = Vec::new();
    let mut note = |plan: &Plan, _: &'static str| costs.push(plan.cost.unwrap());
    let result = plan_with_progress(&task.0, &task.1, &options, &mut Unlimited, &mut note).unwrap();
    let SearchOutcome::Plan(plan) = result.outcome else { panic!("{:?}", result.outcome) };
    let timed = ValidationOptions { time: true, ..ValidationOptions::default() };
    let file = parse_plan(&plan.to_string(), SourceId(2));
    let report = validator(&task).validate_with(&file, &timed, &mut Unlimited);
    assert!(report.is_valid(), "{plan}\n{:#?}", report.diagnostics);
    assert_eq!(report.cost, plan.cost, "{plan}");
    let is_maximized = problem.contains("maximize");
    assert!(costs.windows(2).all(|pair| (pair[1] > pair[0]) == is_maximized), "{costs:?}");
    assert_eq!(costs.last(), plan.cost.as_ref());
    (plan, costs)
}

const STALL: &str = "(define (domain stall) (:requirements :typing :fluents :preferences) (:types ware)
  (:predicates (have ?w - ware)) (:functions (money) (price ?w - ware) (spent))
  (:action buy :parameters (?w - ware) :precondition (>= (money) (price ?w))
    :effect (and (have ?w) (decrease (money) (price ?w)) (increase (spent) (price ?w)))))";

#[test]
fn wishes_beside_numbers_are_kept_where_the_money_is_enough_and_they_are_worth_it() {
    let problem = |money: u32, goal: &str, metric: &str| {
        format!(
            "(define (problem p) (:domain stall) (:objects tea bread jam ham - ware)
             (:init (= (money) {money}) (= (spent) 0) (= (price tea) 2) (= (price bread) 3) (= (price jam) 4) (= (price ham) 6))
             (:goal (and {goal})) (:metric {metric}))"
        )
    };
    let wishes = "(have tea) (preference a (have bread)) (preference b (have jam)) (preference c (have ham))";
    let weights = "(+ (* 5 (is-violated a)) (* 6 (is-violated b)) (* 9 (is-violated c)))";
    // Tea and ham leave 1, so that bread and jam are violated; tea, bread and jam would cost 9.
    let (plan, costs) = improved(STALL, &problem(9, wishes, &format!("minimize {weights}")));
    assert_eq!(plan.cost, Some(9.0), "{plan}");
    assert!(costs.len() > 1, "the first plan has no wish: {costs:?}");
    // All wishes come true, and nothing else costs: no plan is better.
    let (plan, _) = improved(STALL, &problem(20, wishes, &format!("minimize {weights}")));
    assert_eq!((plan.cost, plan.optimal, plan.bound), (Some(0.0), true, Some(0.0)), "{plan}");
    // With the money in the metric: bread for 3 saves 5, jam for 4 saves 6, ham for 6 saves 9.
    let (plan, _) = improved(STALL, &problem(20, wishes, &format!("minimize (+ {weights} (spent))")));
    assert_eq!((plan.cost, plan.optimal), (Some(15.0), false), "{plan}");
    let (plan, _) = improved(STALL, &problem(20, wishes, &format!("minimize (+ {weights} (* 2 (spent)))")));
    // Two units of money for each unit of a price: no wish is worth it.
    assert_eq!(plan.cost, Some(24.0), "{plan}");
    let (plan, _) = improved(STALL, &problem(20, wishes, &format!("maximize (- 100 {weights})")));
    assert_eq!(plan.cost, Some(100.0), "{plan}");
    // Each ware is a wish, and a wish can be about a number.
    let each = "(forall (?w - ware) (preference each (have ?w))) (preference rest (>= (money) 5))";
    let metric = "minimize (+ (* 2 (is-violated each)) (is-violated rest))";
    let (plan, _) = improved(STALL, &problem(15, each, metric));
    assert_eq!(plan.cost, Some(1.0), "{plan}");
    let (plan, _) = improved(STALL, &problem(14, each, metric));
    assert_eq!(plan.cost, Some(2.0), "{plan}");
}

#[test]
fn wishes_beside_time_are_kept_where_they_are_worth_it() {
    let domain =
        "(define (domain kitchen) (:requirements :typing :durative-actions :preferences) (:types pot)
      (:predicates (cold ?p - pot) (hot ?p - pot) (free))
      (:functions (minutes ?p - pot))
      (:durative-action boil :parameters (?p - pot) :duration (= ?duration (minutes ?p))
        :condition (and (at start (cold ?p)) (at start (free)))
        :effect (and (at start (not (free))) (at start (not (cold ?p))) (at end (free)) (at end (hot ?p)))))";
    let problem = |weight: u32| {
        format!(
            "(define (problem p) (:domain kitchen) (:objects a b c - pot)
             (:init (free) (cold a) (cold b) (cold c) (= (minutes a) 5) (= (minutes b) 10) (= (minutes c) 30))
             (:goal (and (hot a) (preference x (hot b)) (preference y (hot c))))
             (:metric minimize (+ (total-time) (* {weight} (is-violated x)) (* 20 (is-violated y)))))"
        )
    };
    let (plan, costs) = improved(domain, &problem(12));
    // The second pot takes ten minutes and saves 12; the third takes 30 and saves 20.
    assert_eq!((plan.steps.len(), costs[0]), (2, 37.0), "{plan} {costs:?}");
    assert!((35.0..35.01).contains(&plan.cost.unwrap()), "{plan}");
    let (plan, _) = improved(domain, &problem(8));
    assert_eq!((plan.steps.len(), plan.cost), (1, Some(33.0)), "{plan}");
}

#[test]
fn preferred_trajectories_beside_numbers_and_time_are_kept_where_they_are_worth_it() {
    let domain = STALL.replace(":preferences", ":preferences :constraints");
    let problem = |constraints: &str| {
        format!(
            "(define (problem p) (:domain stall) (:objects tea bread jam - ware)
             (:init (= (money) 9) (= (spent) 0) (= (price tea) 2) (= (price bread) 3) (= (price jam) 4))
             (:goal (have tea)) (:constraints (and {constraints}))
             (:metric minimize (+ (spent) (* 5 (is-violated w)))))"
        )
    };
    // Bread for 3 saves 5; jam and bread for 7 save 5.
    let (plan, costs) = improved(&domain, &problem("(preference w (sometime (have bread)))"));
    assert_eq!((plan.cost, costs[0]), (Some(5.0), 7.0), "{plan}");
    let both = "(preference w (sometime (and (have bread) (<= (money) 0))))";
    assert_eq!(improved(&domain, &problem(both)).0.cost, Some(7.0));
    // A constraint that each plan satisfies stands beside it.
    let hard = "(always (>= (money) 5)) (preference w (sometime-before (have tea) (have bread)))";
    assert_eq!(improved(&domain, &problem(hard)).0.cost, Some(7.0));
    let each = "(forall (?w - ware) (preference w (sometime-before (have tea) (have ?w))))";
    assert_eq!(improved(&domain, &problem(each)).0.cost, Some(14.0));
    let kitchen = "(define (domain kitchen) (:requirements :durative-actions :preferences :constraints)
      (:predicates (hot) (loud))
      (:durative-action boil :parameters () :duration (= ?duration 5) :condition (and) :effect (at end (hot)))
      (:durative-action sing :parameters () :duration (= ?duration 2) :condition (and)
        :effect (and (at start (loud)) (at end (not (loud))))))";
    let timed = |wish: &str| {
        format!(
            "(define (problem p) (:domain kitchen) (:init) (:goal (hot)) (:constraints (preference w {wish}))
             (:metric minimize (+ (total-time) (* 9 (is-violated w)))))"
        )
    };
    for (wish, cost) in [
        ("(sometime (loud))", 5.0),
        ("(hold-during 10 11 (loud))", 11.0),
        ("(within 4 (hot))", 14.0),
        ("(hold-during 30 31 (loud))", 14.0),
    ] {
        let (plan, _) = improved(kitchen, &timed(wish));
        assert!((cost..cost + 0.01).contains(&plan.cost.unwrap()), "{wish}: {plan}");
    }
}

/// A plan without a violation is not the best one where a violation makes the metric better.
#[test]
fn a_rewarded_violation_beside_time_proves_nothing() {
    let domain =
        "(define (domain kitchen) (:requirements :durative-actions :preferences :negative-preconditions)
      (:predicates (hot) (loud))
      (:durative-action boil :parameters () :duration (= ?duration 5) :condition (and) :effect (at end (hot)))
      (:durative-action sing :parameters () :duration (= ?duration 5) :condition (and) :effect (at end (loud))))";
    let problem = "(define (problem p) (:domain kitchen) (:init)
         (:goal (and (hot) (preference quiet (not (loud))))) (:metric minimize (- 10 (is-violated quiet))))";
    let (plan, _) = improved(domain, problem);
    assert!(!plan.optimal && plan.bound.is_none(), "{plan}");
}

#[test]
fn costs_that_do_not_fit_together_are_refused() {
    let domain = "(define (domain s) (:requirements :preferences) (:predicates (p) (q) (g))
      (:action a :parameters () :precondition (and (preference x (p)) (preference y (q))) :effect (g)))";
    let goal = "(g)";
    let wishes = "(and (g) (preference x (p)) (preference y (q)))";
    let metric = |weight: &str| {
        format!("(:metric minimize (+ (* {weight} (is-violated x)) (* {weight} (is-violated y))))")
    };
    let task = |goal: &str, weight: &str| {
        read(domain, &format!("(define (problem s) (:domain s) (:init) (:goal {goal}) {})", metric(weight)))
    };
    let what = "costs that are not 64-bit integers over one denominator";
    for goal in [goal, wishes] {
        assert_eq!(refused(&task(goal, "10000000000000000000")), [what]);
    }
    assert_eq!(planned(&task(goal, "9"), Algorithm::AStar).cost, Some(18.0));
}

/// Counts what is in use at most.
#[derive(Default)]
struct Peak {
    used: u64,
    most: u64,
}

impl ResourceLimits for Peak {
    fn poll(&mut self) -> Poll {
        Poll::Continue
    }
    fn charge(&mut self, bytes: u64) -> Poll {
        self.used += bytes;
        self.most = self.most.max(self.used);
        Poll::Continue
    }
    fn release(&mut self, bytes: u64) {
        self.used -= bytes;
    }
}

/// A shop with coins, and a preference for each ware.
fn shop(wares: usize, constraints: &str) -> (Domain, Problem) {
    let objects: String = (0..wares).map(|ware| format!(" w{ware}")).collect();
    let domain = "(define (domain shop) (:requirements :adl :fluents :preferences :constraints)
      (:predicates (have ?w) (near ?v ?w)) (:functions (coins))
      (:action buy :parameters (?w) :precondition (>= (coins) 1) :effect (and (have ?w) (decrease (coins) 1))))";
    let problem = format!(
        "(define (problem x) (:domain shop) (:objects{objects}) (:init (= (coins) 3))
         (:goal (forall (?w) (preference own (have ?w)))) {constraints}
         (:metric minimize (+ (* 2 (is-violated own)) (is-violated far))))"
    );
    read(domain, &problem)
}

#[test]
fn searches_for_wishes_release_their_memory() {
    let used = |algorithm| {
        let task = shop(12, "(:constraints (preference far (always (<= (coins) 3))))");
        let options = PlanOptions { algorithm, max_nodes: 30_000, ..PlanOptions::default() };
        let mut limits = Peak::default();
        let result = plan(&task.0, &task.1, &options, &mut limits).unwrap();
        assert!(matches!(result.outcome, SearchOutcome::Plan(_)), "{result:?}");
        limits.used
    };
    // The anytime search makes one search after the other.
    assert_eq!(used(Algorithm::Anytime), used(Algorithm::Greedy));
}

#[test]
fn wishes_beyond_the_most_that_are_searched_for_are_not_made() {
    let objects: String = (0..40).map(|ware| format!(" w{ware}")).collect();
    let domain = "(define (domain shop) (:requirements :adl :durative-actions :preferences :constraints)
      (:predicates (have ?w) (near ?v ?w))
      (:durative-action buy :parameters (?w) :duration (= ?duration 1) :effect (at end (have ?w))))";
    let far = "(preference far (always (or (near ?u ?v) (near ?v ?w))))";
    let problem = format!(
        "(define (problem x) (:domain shop) (:objects{objects}) (:init) (:goal (have w1))
         (:constraints (forall (?u ?v ?w) {far})) (:metric minimize (is-violated far)))"
    );
    let task = read(domain, &problem);
    let options = PlanOptions { algorithm: Algorithm::Greedy, ..PlanOptions::default() };
    // There are 64,000 instances.
    let limits = &mut CountingLimits { polls: 20_000, bytes: u64::MAX };
    let outcome = plan(&task.0, &task.1, &options, limits).unwrap().outcome;
    assert!(matches!(outcome, SearchOutcome::Plan(_)), "{outcome:?}");
}

#[test]
fn the_memory_of_automata_is_limited() {
    let objects: String = (0..40).map(|n| format!(" o{n}")).collect();
    let domain = "(define (domain m) (:requirements :adl :fluents :constraints)
      (:predicates (p ?x ?y) (q)) (:functions (n))
      (:action a :parameters (?x ?y) :precondition (>= (n) 0) :effect (and (p ?x ?y) (increase (n) 1)))
      (:action b :parameters () :effect (q)))";
    let problem = format!(
        "(define (problem m) (:domain m) (:objects{objects}) (:init (= (n) 0)) (:goal (q))
         (:constraints (forall (?x) (at-most-once (forall (?y) (p ?x ?y))))))"
    );
    let task = read(domain, &problem);
    let options = PlanOptions { algorithm: Algorithm::Greedy, ..PlanOptions::default() };
    let mut limits = Peak::default();
    let result = plan(&task.0, &task.1, &options, &mut limits).unwrap();
    assert!(matches!(result.outcome, SearchOutcome::Plan(_)), "{result:?}");
    // Each of 1600 operators changes one of 40 automata, whose conditions have 40 facts.
    assert!(limits.most > 2_500_000, "{}", limits.most);
}
