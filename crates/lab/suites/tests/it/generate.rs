//! Tests of generation: accepted and rejected draws, and mistakes of generators.

use planforge_pipeline::Suite;
use planforge_planning::{CountingLimits, Unlimited};
use planforge_suites::TemplateRenderer;
use planforge_suites::generate::{GenerationError, Generator, Instance, Limits, MAX_DRAWS};

const DOMAIN: &str = "(define (domain balls) (:requirements :strips :typing) (:types ball room) (:predicates (in ?b - ball ?r - room) \
    (door ?a ?b - room)) (:action roll :parameters (?b - ball ?from ?to - room) :precondition (and (in ?b ?from) (door ?from ?to)) \
    :effect (and (in ?b ?to) (not (in ?b ?from)))))";

/// A ball is in one of four rooms in a row and has another room as its goal; doors lead only to the right.
const GENERATOR: &str = "# set rooms = names('room', 4)\n# set from = pick(rooms)\n# set to = pick(rooms)\n%% problem\n\
    (define (problem {{ name }}) (:domain balls) (:objects ball1 - ball {{ rooms | join(' ') }} - room)\n\
    (:init (in ball1 {{ from }}) (door room1 room2) (door room2 room3) (door room3 room4)) (:goal (in ball1 {{ to }})))\n%% text\n\
    The rooms are {{ rooms | listed }}. ball1 is in {{ from }} and should be in {{ to }}.\n";

fn generator(template: &str) -> Generator {
    let suite = Suite {
        name: "balls".to_owned(),
        reference_domain: Some(DOMAIN.to_owned()),
        generator: Some(template.to_owned()),
        ..Suite::default()
    };
    Generator::new(&suite, TemplateRenderer::in_this_process()).unwrap()
}

fn draw(template: &str, seed: u64, index: u32) -> Result<Instance, GenerationError> {
    generator(template).instance(seed, index, &Limits::default(), &mut Unlimited)
}

fn code(template: &str) -> String {
    let none = draw(template, 1, 1).unwrap_err();
    none.diagnostics.iter().find(|d| d.is_error()).unwrap().code.to_string()
}

#[test]
fn bad_draws_are_redrawn_and_the_reasons_are_kept() {
    let mut reasons = Vec::new();
    for index in 1..=30 {
        let made = draw(GENERATOR, 3, index).unwrap();
        assert!(!made.plan.is_empty());
        assert_eq!(made.stem, format!("p{index:02}"));
        assert!(made.problem.contains(&format!("(problem balls-{index:02})")));
        reasons.extend(made.redrawn);
    }
    reasons.sort_unstable();
    reasons.dedup();
    assert_eq!(reasons, ["it has no plan", "the goal holds already"]);
}

#[test]
fn a_task_depends_on_its_seed_and_number_alone() {
    let one = |seed, index| draw(GENERATOR, seed, index).unwrap();
    let generator = generator(GENERATOR);
    let again = generator.instance(9, 2, &Limits::default(), &mut Unlimited).unwrap();
    assert_eq!(one(9, 2), again);
    assert!((0..20).any(|seed| one(seed, 2).text != again.text));
    assert!((0..20).any(|index| one(9, index).text != again.text));
}

#[test]
fn the_example_is_number_zero_and_has_a_cheapest_plan() {
    let example = draw(GENERATOR, 1, 0).unwrap();
    assert_eq!(example.stem, "p_example");
    assert!(example.problem.contains("balls-example"));
    let number = |word: &str| word.trim_matches(['r', 'o', 'm', '.', ' ']).parse::<usize>().unwrap();
    let (_, trip) = example.text.split_once("ball1 is in ").unwrap();
    let (from, to) = trip.trim().split_once(" and should be in ").unwrap();
    assert_eq!(example.plan.lines().count(), number(to) - number(from));
}

#[test]
fn mistakes_of_a_generator_are_told_with_their_place() {
    let none = draw("# set a = 1\n{{ b }}\n%% problem\nx\n%% text\ny", 1, 1).unwrap_err();
    let label = &none.diagnostics[0].labels[0];
    assert_eq!(none.sources.get(label.source).unwrap().line_column(label.span.start).line, 2);
    assert_eq!(code("{{ b }}"), "generate.template");
    assert_eq!(code("%% problem\n(define\n%% text\nx"), "pddl.missing-name");
    assert_eq!(code(&GENERATOR.replace("in ball1 {{ to", "at ball1 {{ to")), "pddl.undefined-predicate");
    assert_eq!(
        code(&GENERATOR.replace("rooms are {{ rooms | listed }}", "rooms are unknown")),
        "generate.silent-object"
    );
    assert_eq!(code(&GENERATOR.replace("(in ball1 {{ to }})", "(in ball1 {{ from }})")), "generate.no-draw");
    assert_eq!(code("{{ redraw('never') }}"), "generate.no-draw");
    let none = draw("{{ redraw('never') }}", 1, 1).unwrap_err();
    assert!(none.diagnostics[0].message.contains(&format!("none of {MAX_DRAWS} draws")));
    assert!(none.diagnostics[0].message.contains("never"));
}

#[test]
fn the_clock_ends_the_work_and_chooses_nothing() {
    let mut budget = CountingLimits { polls: 0, bytes: u64::MAX };
    let none = generator(GENERATOR).instance(1, 1, &Limits::default(), &mut budget).unwrap_err();
    assert_eq!(none.diagnostics[0].code, "generate.stopped");
}

#[test]
fn a_suite_without_generator_or_domain_says_what_to_write() {
    let none = Generator::new(&Suite::default(), TemplateRenderer::in_this_process()).unwrap_err();
    let codes: Vec<&str> = none.diagnostics.iter().map(|d| &*d.code).collect();
    assert_eq!(codes, ["generate.no-generator", "generate.no-domain"]);
}

/// A draw whose template prints a plan is not searched.
#[test]
fn a_plan_of_the_template_is_validated_in_the_place_of_a_search() {
    let with = |plan: &str| format!("{GENERATOR}%% plan\n{plan}\n");
    // The plan is longer than the cheapest one and is kept.
    let fixed = |from: &str, to: &str, plan: &str| {
        let fixed = with(plan).replacen("pick(rooms)", from, 1).replacen("pick(rooms)", to, 1);
        draw(&fixed, 1, 1)
    };
    let plan = "(roll ball1 room1 room2)\n(roll ball1 room2 room3)\n";
    assert_eq!(fixed("'room1'", "'room3'", plan).unwrap().plan, plan);
    let none = fixed("'room1'", "'room3'", "(roll ball1 room1 room2)").unwrap_err();
    let found = &none.diagnostics[0];
    assert_eq!(found.code, "generate.wrong-plan");
    assert!(
        found.message.starts_with("the plan that the template prints for p01 is not a plan"),
        "{found:?}"
    );
    // A goal that holds already is redrawn, whatever the plan.
    let none = fixed("'room2'", "'room2'", plan).unwrap_err();
    assert_eq!(none.diagnostics[0].code, "generate.no-draw");
    assert!(none.diagnostics[0].message.contains("the goal holds already"), "{none:?}");
}

#[test]
fn a_domain_that_is_not_planned_with_needs_a_plan_of_the_template() {
    let suite = Suite {
        name: "walks".to_owned(),
        reference_domain: Some(
            "(define (domain walks) (:requirements :durative-actions :timed-initial-literals) (:predicates (open) (there)) \
             (:durative-action walk :parameters () :duration (= ?duration 5) :condition (at start (open)) :effect (at end (there))))"
                .to_owned(),
        ),
        generator: Some(
            "%% problem\n(define (problem {{ name }}) (:domain walks) (:init (at {{ 10 * index }} (open))) (:goal (there)))\n\
             %% text\nGo.\n%% plan\n{{ 10 * index + wait }}.001: (walk) [5]\n"
                .to_owned(),
        ),
        ..Suite::default()
    };
    let made = |wait: &str, without_plan: bool| {
        let source = suite.generator.as_ref().unwrap().replace("wait", wait);
        let source = if without_plan { source.split("%% plan").next().unwrap().to_owned() } else { source };
        let suite = Suite { generator: Some(source), ..suite.clone() };
        let generator = Generator::new(&suite, TemplateRenderer::in_this_process()).unwrap();
        generator.instance(1, 2, &Limits::default(), &mut Unlimited)
    };
    assert_eq!(made("0", false).unwrap().plan, "20.001: (walk) [5]\n");
    assert_eq!(made("(-1)", false).unwrap_err().diagnostics[0].code, "generate.wrong-plan");
}
