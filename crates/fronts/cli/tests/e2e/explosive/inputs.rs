//! The rows of the table: small generators of texts, and the commands that read them.

use super::{End, Row, VERDICT, VERDICT_OR_LIMIT};

/// The ends of a file that is refused as a whole, with this text.
macro_rules! refused {
    ($text:literal) => {
        &[(10, $text)]
    };
}

/// `f(0) f(1) ...` with spaces between.
fn list(count: usize, f: impl Fn(usize) -> String) -> String {
    (0..count).map(f).collect::<Vec<_>>().join(" ")
}

fn objects(count: usize) -> String {
    list(count, |n| format!("o{n}")) + " - thing"
}

fn variables(count: usize) -> String {
    list(count, |n| format!("?v{n}")) + " - thing"
}

/// A domain with one type, the predicates `p`, `q` and `r`, and these actions and rules.
fn domain(rest: &str) -> String {
    domain_with("(p ?x) (q ?x) (r ?x ?y)", rest)
}

fn domain_with(predicates: &str, rest: &str) -> String {
    format!(
        "(define (domain d) (:requirements :adl :derived-predicates) (:types thing) (:predicates {predicates})\n{rest})\n"
    )
}

fn problem(things: usize, init: &str, goal: &str) -> String {
    format!("(define (problem t) (:domain d) (:objects {}) (:init {init}) (:goal {goal}))\n", objects(things))
}

/// The files `d` and `p`, and a plan.
fn files(d: String, p: String, plan: &str) -> Vec<(&'static str, String)> {
    vec![("d", d), ("p", p), ("plan", plan.to_owned())]
}

/// `p` holds for all of 30 objects.
fn all_p() -> String {
    list(30, |n| format!("(p o{n})"))
}

/// A conditional effect over 30^8 tuples, of which all satisfy its condition.
pub(super) fn universal_effect() -> Vec<(&'static str, String)> {
    let condition = list(8, |n| format!("(p ?v{n})"));
    let effect = format!("(forall ({}) (when (and {condition}) (q ?v0)))", variables(8));
    let d = domain(&format!("(:action a :parameters () :effect {effect})"));
    files(d, problem(30, &all_p(), "(q o1)"), "(a)\n")
}

/// The same effect where one object alone satisfies each part of the condition.
fn universal_effect_of_one_object() -> Vec<(&'static str, String)> {
    let mut files = universal_effect();
    files[1].1 = problem(30, "(p o1)", "(q o1)");
    files
}

/// Twelve quantifiers, one inside the other, over 30 objects.
pub(super) fn nested_quantifiers() -> Vec<(&'static str, String)> {
    let matrix = "(and (p ?v0) (or (r ?v1 ?v2) (r ?v11 ?v3)) (not (r ?v4 ?v5)))".to_owned();
    let goal = (0..12).rev().fold(matrix, |inner, n| {
        let quantifier = if n % 2 == 0 { "exists" } else { "forall" };
        format!("({quantifier} (?v{n} - thing) {inner})")
    });
    let d = domain("(:action a :parameters (?x - thing) :effect (r ?x ?x))");
    files(d, problem(30, &all_p(), &goal), "")
}

/// Twenty objects that differ, among nineteen.
fn pigeonholes() -> Vec<(&'static str, String)> {
    let pairs = list(20, |n| list(n, |m| format!("(not (= ?v{n} ?v{m}))")));
    let goal = format!("(exists ({}) (and {pairs}))", variables(20));
    files(domain("(:action a :parameters (?x - thing) :effect (q ?x))"), problem(19, "", &goal), "")
}

/// An action with 20 parameters, applicable to all tuples of 30 objects.
pub(super) fn many_parameters() -> Vec<(&'static str, String)> {
    let condition = list(20, |n| format!("(p ?v{n})"));
    let action = format!(
        "(:action a :parameters ({}) :precondition (and {condition}) :effect (q ?v0))",
        variables(20)
    );
    let plan = format!("(a {})\n", list(20, |_| "o3".to_owned()));
    files(domain(&action), problem(30, &all_p(), "(and (q o3) (not (p o3)))"), &plan)
}

/// A chain of types with an object of each.
fn deep_types() -> Vec<(&'static str, String)> {
    let types = list(5000, |n| format!("t{} - t{n}", n + 1));
    let d = format!(
        "(define (domain d) (:requirements :typing) (:types {types}) (:predicates (p ?x - t0) (q ?x - t2500))
        (:action a :parameters (?x - t5000) :precondition (p ?x) :effect (q ?x)))"
    );
    let named = list(5001, |n| format!("o{n} - t{n}"));
    let p = format!("(define (problem t) (:domain d) (:objects {named}) (:init (p o0)) (:goal (q o5000)))");
    files(d, p, "")
}

/// The deepest chain of types that is read.
fn readable_deep_types() -> Vec<(&'static str, String)> {
    let types = list(1400, |n| format!("t{} - t{n}", n + 1));
    let d = format!(
        "(define (domain d) (:requirements :typing) (:types {types}) (:predicates (p ?x - t0) (q ?x - t700))
        (:action a :parameters (?x - t1400) :precondition (p ?x) :effect (q ?x)))"
    );
    let named = list(1401, |n| format!("o{n} - t{n}"));
    let p =
        format!("(define (problem t) (:domain d) (:objects {named}) (:init (p o1400)) (:goal (q o1400)))");
    files(d, p, "(a o1400)\n")
}

/// A predicate for each of 900 types, and 3,000 objects of a type below them.
fn predicates_of_many_types() -> Vec<(&'static str, String)> {
    let types = list(900, |n| format!("t{} - t{n}", n + 1));
    let predicates = list(900, |n| format!("(p{n} ?x - t{n})"));
    let d = format!(
        "(define (domain d) (:requirements :typing) (:types {types}) (:predicates {predicates})
        (:action a :parameters (?x - t900) :precondition (p0 ?x) :effect (p1 ?x)))"
    );
    let named = list(3000, |n| format!("o{n}"));
    let p =
        format!("(define (problem t) (:domain d) (:objects {named} - t900) (:init (p0 o0)) (:goal (p1 o0)))");
    files(d, p, "")
}

/// 15,000 objects of the lowest of 1,400 types.
fn low_objects() -> Vec<(&'static str, String)> {
    let mut files = readable_deep_types();
    let named = list(15_000, |n| format!("o{n}"));
    files[1].1 = format!(
        "(define (problem t) (:domain d) (:objects {named} - t1400) (:init (p o1400)) (:goal (q o1400)))"
    );
    files
}

/// A union of all types as the type of each of 300 predicates and of each argument.
fn wide_either() -> Vec<(&'static str, String)> {
    let union = format!("(either {})", list(1000, |n| format!("t{n}")));
    let predicates = list(300, |n| format!("(p{n} ?x - {union})"));
    let conditions = list(300, |n| format!("(p{n} ?x)"));
    let d = format!(
        "(define (domain d) (:requirements :adl) (:types {}) (:predicates {predicates})
        (:action a :parameters (?x - {union}) :precondition (and {conditions}) :effect (p0 ?x)))",
        list(1000, |n| format!("t{n}"))
    );
    let named = list(1000, |n| format!("o{n} - t{n}"));
    let p = format!("(define (problem t) (:domain d) (:objects {named}) (:init (p0 o0)) (:goal (p1 o0)))");
    files(d, p, "")
}

/// A union of 5,000 types as the type of 5,000 constants: 25 million types of constants.
pub(super) fn wide_either_of_many_names() -> Vec<(&'static str, String)> {
    let types = list(5000, |n| format!("t{n}"));
    let constants = list(5000, |n| format!("c{n}"));
    let d = format!(
        "(define (domain d) (:requirements :adl) (:types {types}) (:constants {constants} - (either {types}))
        (:predicates (p ?x)) (:action a :parameters (?x) :effect (p ?x)))"
    );
    files(d, "(define (problem t) (:domain d) (:init) (:goal (p c0)))".to_owned(), "")
}

/// A condition that is nested 100,000 deep.
fn deep_nesting() -> Vec<(&'static str, String)> {
    let condition = "(not ".repeat(100_000) + "(p ?x)" + &")".repeat(100_000);
    let d = domain(&format!("(:action a :parameters (?x - thing) :precondition {condition} :effect (q ?x))"));
    files(d, problem(3, "", "(q o0)"), "")
}

/// 3,000 predicates, and 10,000 facts of misspelt ones.
fn misspelt_names() -> Vec<(&'static str, String)> {
    let predicates = "(p ?x) ".to_owned() + &list(3000, |n| format!("(predicate-number-{n} ?x)"));
    let d = domain_with(&predicates, "(:action a :parameters (?x - thing) :effect (p ?x))");
    let facts = list(10_000, |n| format!("(predicate-nmuber-{n} o1)"));
    files(d, problem(5, &facts, "(p o1)"), "")
}

/// A number of 200,000 digits.
fn long_number() -> Vec<(&'static str, String)> {
    let d =
        "(define (domain d) (:requirements :numeric-fluents) (:predicates (p)) (:functions (total-cost) (c))
        (:action a :parameters () :effect (and (p) (increase (total-cost) (c)))))";
    let p = format!(
        "(define (problem t) (:domain d) (:init (= (c) {}) (= (total-cost) 0)) (:goal (p)))",
        "9".repeat(200_000)
    );
    files(d.to_owned(), p, "(a)\n")
}

/// A number that doubles its length in each of 400 steps.
fn squares() -> Vec<(&'static str, String)> {
    let d = "(define (domain d) (:requirements :numeric-fluents) (:predicates (p)) (:functions (n))
        (:action a :parameters () :effect (assign (n) (* (n) (n)))))";
    let p = "(define (problem t) (:domain d) (:init (= (n) 1.0000001)) (:goal (= (n) 3)))";
    files(d.to_owned(), p.to_owned(), &"(a)\n".repeat(400))
}

/// 600,000 steps.
fn long_plan() -> Vec<(&'static str, String)> {
    let d = domain(
        "(:action a :parameters (?x ?y - thing) :precondition (p ?x) :effect (and (not (p ?x)) (p ?y)))",
    );
    files(d, problem(2, "(p o0)", "(p o0)"), &"(a o0 o1)\n(a o1 o0)\n".repeat(300_000))
}

/// 100,000 lines of prose where a plan is expected.
fn prose_plan() -> Vec<(&'static str, String)> {
    let mut files = long_plan();
    files[2].1 = "then we (carefully) move it to some other place\n".repeat(100_000);
    files
}

/// A goal of 20,000 facts.
fn wide_goal() -> Vec<(&'static str, String)> {
    let d = domain("(:action a :parameters (?x - thing) :effect (q ?x))");
    let facts = |name: &str| list(20_000, |n| format!("({name} o{n})"));
    files(d, problem(20_000, &facts("p"), &format!("(and {})", facts("q"))), "(a o0)\n")
}

/// Forty switches in 2^40 states, and a goal that none of them satisfies although each part is easy.
pub(super) fn switches() -> Vec<(&'static str, String)> {
    let d = domain(
        "(:action on :parameters (?x - thing) :precondition (q ?x) :effect (and (p ?x) (not (q ?x))))
        (:action off :parameters (?x - thing) :precondition (p ?x) :effect (and (q ?x) (not (p ?x))))
        (:action both :parameters (?x - thing) :precondition (and (p ?x) (q ?x)) :effect (r ?x ?x))",
    );
    let other = d.replace("(and (p ?x) (q ?x)) :effect", "(and (p ?x) (q ?x) (r ?x ?x)) :effect");
    let init = list(40, |n| format!("(q o{n})"));
    let goal = list(40, |n| format!("(p o{n})"));
    let mut files = files(d, problem(40, &init, &format!("(and {goal} (r o0 o0))")), "");
    files.push(("e", other));
    files
}

/// The transitive closure of a chain of 200 objects by a rule with three variables.
fn closure() -> Vec<(&'static str, String)> {
    let d = domain_with(
        "(r ?x ?y) (s ?x ?y)",
        "(:derived (s ?x ?y) (or (r ?x ?y) (exists (?z - thing) (and (s ?x ?z) (s ?z ?y)))))
        (:action a :parameters (?x ?y - thing) :precondition (not (s ?x ?y)) :effect (r ?x ?y))",
    );
    let chain = list(199, |n| format!("(r o{n} o{})", n + 1));
    files(d, problem(200, &chain, "(s o0 o199)"), "(a o1 o0)\n")
}

/// A derived predicate with eight arguments over 30 objects.
fn wide_axiom() -> Vec<(&'static str, String)> {
    let eight = list(8, |n| format!("?v{n}"));
    let turned = list(8, |n| format!("?v{}", (n + 1) % 8));
    let d = domain_with(
        &format!("(p ?x) (s {eight})"),
        &format!(
            "(:derived (s {eight}) (or (p ?v0) (s {turned})))
            (:action a :parameters (?x - thing) :precondition (s ?x ?x ?x ?x ?x ?x ?x ?x) :effect (p ?x))"
        ),
    );
    files(d, problem(30, "(p o1)", "(p o0)"), "(a o1)\n")
}

/// Sixty actions and predicates that differ by their names alone.
fn symmetric_domains() -> Vec<(&'static str, String)> {
    let predicates = list(60, |n| format!("(p{n} ?x ?y)"));
    let action = |name: &str, n: usize, step: usize| {
        format!(
            "(:action {name}{n} :parameters (?x ?y - thing) :precondition (p{n} ?x ?y) :effect (p{} ?y ?x))",
            (n * step + 1) % 60
        )
    };
    let d = domain_with(&predicates, &list(60, |n| action("a", n, 7)));
    let e = domain_with(&predicates, &list(60, |n| action("b", n, 11)));
    let mut files = files(d, problem(5, "(p0 o0 o1)", "(p1 o0 o1)"), "");
    files.push(("e", e));
    files
}

/// One fact about one of 50,000 objects, another one in the other problem.
fn many_objects() -> Vec<(&'static str, String)> {
    let d = domain("(:action a :parameters (?x - thing) :effect (q ?x))");
    let mut files = files(d, problem(50_000, "(p o0)", "(q o0)"), "");
    files.push(("q", problem(50_000, "(p o1)", "(q o0)")));
    files
}

/// The files as a suite with one task.
fn suite(files: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    let text = |name: &str| files.iter().find(|(n, _)| *n == name).map(|(_, text)| text.clone()).unwrap();
    vec![
        ("s/domain.pddl", text("d")),
        ("s/p01.pddl", text("p")),
        ("s/domain.nl", "Things.\n".to_owned()),
        ("s/p01.nl", "Do it.\n".to_owned()),
    ]
}

/// A suite whose template is this one.
fn template(generator: &str) -> Vec<(&'static str, String)> {
    vec![
        ("s/domain.pddl", domain("(:action a :parameters (?x - thing) :effect (q ?x))")),
        ("s/domain.nl", "Things.\n".to_owned()),
        ("s/generator.jinja", generator.to_owned()),
        ("s/suite.toml", "schema = 1\n\n[generate]\nseed = 1\ntasks = 1\n".to_owned()),
    ]
}

/// A domain with boxes and shelves, a representation, and a knowledge file with these rules.
fn knowledge(rules: &str) -> Vec<(&'static str, String)> {
    let d = "(define (domain d) (:requirements :strips :typing) (:types box shelf - object)
        (:predicates (in ?b - box ?s - shelf) (free ?s - shelf))
        (:action put :parameters (?b - box ?s - shelf) :precondition (free ?s) :effect (in ?b ?s)))";
    let ir =
        "cardinality(shelf, 3).\ninit(in(box1, shelf1)).\ninit(free(shelf2)).\ngoal(in(box1, shelf2)).\n";
    vec![("d.pddl", d.to_owned()), ("ir.lp", ir.to_owned()), ("k.lp", rules.to_owned())]
}

/// Ends of an inference whose program has a limit, but no answer within it.
const INFERENCE_LIMIT: &[End] = &[(21, "--time-limit"), (22, "--memory-limit")];

/// The end of a plan that is too long to be read.
const TOO_LONG: &[End] = &[(23, "the plan has 600000 steps; at most 500000")];

/// Every row.
pub(super) fn all_rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |name, files: Vec<(&'static str, String)>, arguments, ends| {
        rows.push(Row { name, files, arguments, ends });
    };
    let validate = "pddl validate d p plan --time-limit 1 --memory-limit 200";
    row("an effect over 30^8 tuples", universal_effect(), validate, VERDICT_OR_LIMIT);
    row("an effect of one tuple among 30^8", universal_effect_of_one_object(), validate, &[(0, "")]);
    row("twelve nested quantifiers", nested_quantifiers(), validate, VERDICT_OR_LIMIT);
    row("twenty pigeons", pigeonholes(), validate, VERDICT_OR_LIMIT);
    row("a step with 20 parameters", many_parameters(), validate, VERDICT);
    row("a chain of 5,000 types", deep_types(), validate, refused!("more than 1000000 pairs of a type"));
    row("a chain of 1,400 types", readable_deep_types(), validate, &[(0, "")]);
    row(
        "15,000 objects below 1,400 types",
        low_objects(),
        validate,
        &[(20, "objects are members of more than 20000000 types in all")],
    );
    row("unions of 1,000 types", wide_either(), validate, VERDICT);
    row(
        "a union of 5,000 types for 5,000 names",
        wide_either_of_many_names(),
        validate,
        refused!("5000 names 5000 types each, with those before 25000000 in all"),
    );
    row("100,000 negations", deep_nesting(), validate, refused!("nested more than 512 deep"));
    row("10,000 misspelt facts", misspelt_names(), validate, refused!("did you mean"));
    row("a number of 200,000 digits", long_number(), validate, refused!("this number is too large"));
    row("400 squares of a number", squares(), validate, &[(20, "number")]);
    row("600,000 steps", long_plan(), validate, TOO_LONG);
    row("100,000 lines of prose", prose_plan(), validate, refused!("more lines are not plan steps"));
    row("a closure over 200 objects", closure(), validate, VERDICT_OR_LIMIT);
    row("an axiom with eight arguments", wide_axiom(), validate, VERDICT_OR_LIMIT);
    row("20,000 missing goals", wide_goal(), validate, refused!("19799 more parts of the goal"));

    let plan = "pddl plan d p --time-limit 1 --memory-limit 200";
    row("planning with an effect over 30^8 tuples", universal_effect(), plan, VERDICT_OR_LIMIT);
    row("planning with twelve nested quantifiers", nested_quantifiers(), plan, VERDICT_OR_LIMIT);
    row("planning with 20 parameters", many_parameters(), plan, VERDICT_OR_LIMIT);
    row("planning with an axiom of eight arguments", wide_axiom(), plan, VERDICT_OR_LIMIT);
    row("planning in 2^40 states", switches(), plan, VERDICT_OR_LIMIT);
    row("planning for 20,000 goals", wide_goal(), plan, VERDICT_OR_LIMIT);
    let optimal = "pddl plan d p --optimal --time-limit 1 --memory-limit 200";
    row("optimal planning for 20,000 goals", wide_goal(), optimal, VERDICT_OR_LIMIT);
    let several = "pddl plan d p --top-k 10 --time-limit 1 --memory-limit 200";
    row("ten plans for 20,000 goals", wide_goal(), several, VERDICT_OR_LIMIT);

    let ew = "pddl ew d p d p --time-limit 1 --memory-limit 200";
    row("walks with an effect over 30^8 tuples", universal_effect(), ew, VERDICT_OR_LIMIT);
    row("walks with 20 parameters", many_parameters(), ew, VERDICT_OR_LIMIT);
    row("walks with an axiom of eight arguments", wide_axiom(), ew, VERDICT_OR_LIMIT);
    let by_default = "pddl ew d p d p --sampled --time-limit 1";
    row("sampled walks within the process's own limit", many_parameters(), by_default, VERDICT_OR_LIMIT);
    row("walks with a closure", closure(), ew, VERDICT_OR_LIMIT);
    row("walks in numbers that grow", squares(), ew, VERDICT_OR_LIMIT);
    let exact = "pddl ew d p e p --exact --time-limit 1 --memory-limit 200";
    row("exact walks in 2^40 states", switches(), exact, VERDICT_OR_LIMIT);
    let matched = "pddl ew d p e p --match-interface --time-limit 1 --memory-limit 200";
    row("walks after a match of 60 actions", symmetric_domains(), matched, VERDICT_OR_LIMIT);

    let behaviour = "pddl equivalent domain d d --problems p --time-limit 1 --memory-limit 200";
    row("domains with an effect over 30^8 tuples", universal_effect(), behaviour, VERDICT_OR_LIMIT);
    row("domains with 20 parameters", many_parameters(), behaviour, VERDICT_OR_LIMIT);
    row("domains with a closure", closure(), behaviour, VERDICT_OR_LIMIT);
    let behaviours = "pddl equivalent domain d e --problems p --time-limit 1 --memory-limit 200";
    row("domains with 2^40 states", switches(), behaviours, VERDICT_OR_LIMIT);
    let named = "pddl equivalent domain d d --match-interface --problems p --time-limit 1 --memory-limit 200";
    row("a match of 1,400 types", readable_deep_types(), named, VERDICT_OR_LIMIT);
    let joint = "pddl equivalent domain d e --match-interface --problems p --second-problems p --time-limit 1 --memory-limit 200";
    row("a joint renaming of 60 actions", symmetric_domains(), joint, VERDICT_OR_LIMIT);
    row("a joint renaming of 40 switches", switches(), joint, VERDICT_OR_LIMIT);
    let cheapest =
        "pddl equivalent domain d d --heuristic --k 5 --problems p --time-limit 1 --memory-limit 200";
    row("cheapest plans for 20,000 goals", wide_goal(), cheapest, VERDICT_OR_LIMIT);

    let same = "pddl equivalent problem p p --domain d --time-limit 1 --memory-limit 200";
    row("problems with 20,000 goals", wide_goal(), same, VERDICT_OR_LIMIT);
    let objects = "pddl equivalent problem p q --domain d --time-limit 1 --memory-limit 200";
    row("problems with 50,000 objects", many_objects(), objects, VERDICT_OR_LIMIT);
    let goals = "pddl equivalent problem p p --domain d --level goals --time-limit 1 --memory-limit 200";
    row("goals with twelve nested quantifiers", nested_quantifiers(), goals, VERDICT_OR_LIMIT);

    let graph = "pddl graph d p --out g.svg --time-limit 1 --memory-limit 200";
    row("a graph with an effect over 30^8 tuples", universal_effect(), graph, VERDICT_OR_LIMIT);
    row("a graph with 20 parameters", many_parameters(), graph, VERDICT_OR_LIMIT);
    row("a graph of 20,000 facts", wide_goal(), graph, VERDICT_OR_LIMIT);
    let far = "pddl graph d p --depth 40 --max-states 100000 --out g.svg --time-limit 1 --memory-limit 200";
    row("a graph of 2^40 states", switches(), far, VERDICT_OR_LIMIT);

    let picture = "pddl picture d p plan --out pictures --time-limit 1 --memory-limit 200";
    row("pictures of 600,000 steps", long_plan(), picture, TOO_LONG);
    row("pictures of a chain of 1,400 types", readable_deep_types(), picture, VERDICT_OR_LIMIT);
    row("pictures of 20,000 objects", wide_goal(), "pddl picture d p --out p.svg", VERDICT_OR_LIMIT);

    let tell = "pddl tell d p plan --time-limit 1 --memory-limit 200";
    row("sentences for an effect over 30^8 tuples", universal_effect(), tell, VERDICT_OR_LIMIT);
    row("sentences for 600,000 steps", long_plan(), tell, TOO_LONG);
    row("sentences for 60 actions", symmetric_domains(), "pddl tell d --compare-with e", VERDICT);

    row("the layout of 100,000 negations", deep_nesting(), "pddl fmt d p", refused!("512 deep"));
    row("the layout of 20,000 facts", wide_goal(), "pddl fmt d p", VERDICT);

    row("a grammar of 20,000 objects", wide_goal(), "pddl grammar d p", VERDICT);
    row("a grammar of unions of 1,000 types", wide_either(), "pddl grammar d p", VERDICT);
    let listed = &[(23, "names of objects or more, with one list")];
    row("a grammar of 900 types of 3,000 objects", predicates_of_many_types(), "pddl grammar d p", listed);
    let edits = "pddl grammar d p --of edit --format json-schema";
    row("a grammar of edits of 1,400 types", readable_deep_types(), edits, VERDICT);

    let infer = "pddl infer --domain d.pddl --knowledge k.lp ir.lp --time-limit 1 --memory-limit 200";
    row("a rule that never ends", knowledge("n(0).\nn(N + 1) :- n(N).\n"), infer, INFERENCE_LIMIT);
    let product = "n(1..300).\nw(A,B,C,D,E) :- n(A), n(B), n(C), n(D), n(E).\n";
    row("a rule over 300^5 tuples", knowledge(product), infer, INFERENCE_LIMIT);
    let roomy = "pddl infer --domain d.pddl --knowledge k.lp ir.lp --time-limit 5 --memory-limit 2048";
    row("a rule over 300^5 tuples without memory", knowledge(product), roomy, INFERENCE_LIMIT);
    let pairs = "l(nil).\nl(c(X, Y)) :- l(X), l(Y).\n";
    row("terms of terms", knowledge(pairs), infer, INFERENCE_LIMIT);
    let pigeons = "n(1..12). h(1..11).\n1 { at(P, H) : h(H) } 1 :- n(P).\n:- at(P, H), at(Q, H), P < Q.\n";
    row("twelve pigeons", knowledge(pigeons), infer, &[(10, ""), (21, "--time-limit")]);
    let names = (0..20_000).map(|n| format!("unknown{n}(X)")).collect::<Vec<_>>().join(", ");
    let unknown = format!("q(X) :- {names}.\n");
    row("20,000 unknown names", knowledge(&unknown), infer, &[(31, "findings are left out")]);
    let nested = format!("q({}a{}).\n", "f(".repeat(50_000), ")".repeat(50_000));
    row("a term nested 50,000 deep", knowledge(&nested), infer, &[(31, "terms are nested deeper than 100")]);

    let check = "suite check s --solve --time-limit 1";
    row("a suite with twelve nested quantifiers", suite(nested_quantifiers()), check, VERDICT);
    row("a suite with 20,000 goals", suite(wide_goal()), check, VERDICT);
    let obfuscate = "suite obfuscate s --names misleading --out out";
    row("new names of 20,000 objects", suite(wide_goal()), obfuscate, VERDICT);
    row("new names of 1,400 types", suite(readable_deep_types()), obfuscate, VERDICT);
    let generate = "suite generate s --tasks 1 --out out";
    let rounds = "{% for a in range(10000) %}{% for b in range(10000) %}x{% endfor %}{% endfor %}";
    row("a template of 10^8 rounds", template(rounds), generate, refused!("more than 2000000 steps"));
    let doubled = "{% set n = namespace(x='x') %}{% for a in range(100) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}";
    row(
        "a template of 2^100 letters",
        template(doubled),
        generate,
        refused!("out of memory under its limit"),
    );
    rows
}
