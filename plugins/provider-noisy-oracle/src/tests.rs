use super::*;
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::mutate::differing_terms;
use planforge_pddl::{check_domain, check_problem, find_pddl, parse_domain, parse_problem};
use planforge_plugin_sdk::testing::TestHost;
use serde_json::Value;
use std::collections::BTreeMap;

mod actions;
mod quantities;
mod scaling;

const DOMAIN: &str = "(define (domain harbour)
  (:requirements :strips :typing)
  (:types car boat - thing port)
  (:predicates (at ?t - thing ?p - port) (free ?b - boat ?p - port) (aboard ?c - car ?b - boat) (route ?p ?q - port))
  (:action board :parameters (?c - car ?b - boat ?p - port)
    :precondition (and (at ?c ?p) (at ?b ?p) (free ?b ?p))
    :effect (and (aboard ?c ?b) (not (at ?c ?p)) (not (free ?b ?p))))
  (:action debark :parameters (?c - car ?b - boat ?p - port)
    :precondition (and (aboard ?c ?b) (at ?b ?p))
    :effect (and (not (aboard ?c ?b)) (at ?c ?p) (free ?b ?p)))
  (:action sail :parameters (?b - boat ?p ?q - port)
    :precondition (and (at ?b ?p) (route ?p ?q))
    :effect (and (at ?b ?q) (not (at ?b ?p)))))";

const PROBLEM: &str = "(define (problem crossing) (:domain harbour)
  (:objects red blue - car big small - boat home far - port)
  (:init (at red home) (at blue home) (at big home) (at small far) (free big home) (free small far)
    (route home far) (route far home))
  (:goal (and (at red far))))";

fn options() -> OracleOptions {
    let problems = BTreeMap::from([("p01".to_owned(), PROBLEM.to_owned())]);
    let suite = SuiteReference { name: "harbour".into(), domain: DOMAIN.into(), problems };
    OracleOptions { suites: vec![Suite::Reference(suite)], predicate_argument: 0.0, ..Default::default() }
}

fn oracle(options: OracleOptions) -> NoisyOracle {
    NoisyOracle::create(options, &Secrets::default()).unwrap()
}

fn request(artefact: &str, question: &str, n: u32, seed: u64) -> CompletionRequest {
    CompletionRequest {
        messages: vec![Message::system("Translate."), Message::user(question)],
        sampling: Sampling { n: Some(n), seed: Some(seed), ..Sampling::default() },
        tags: Tags {
            suite: "harbour".into(),
            task: "p01".into(),
            stage: "draft".into(),
            artefact: artefact.into(),
        },
        ..CompletionRequest::default()
    }
}

fn ask(oracle: &NoisyOracle, request: &CompletionRequest) -> (Vec<String>, Vec<Value>) {
    let CompletionResult::Replies(replies) = oracle.complete(&TestHost::new(), request).unwrap() else {
        panic!("no replies")
    };
    assert_eq!(replies.model, MODEL);
    let mut raw: Value = serde_json::from_str(&replies.raw).unwrap();
    assert_eq!(raw["simulated"], true);
    let notes = raw["replies"].take();
    let texts: Vec<String> = replies.replies.into_iter().map(|r| r.content).collect();
    assert!(texts.iter().all(|t| t.starts_with(reply::SIMULATED)));
    (texts, serde_json::from_value(notes).unwrap())
}

/// The code block of a reply.
fn block_of(text: &str) -> &str {
    text.split("```").nth(1).and_then(|block| block.split_once('\n')).unwrap().1
}

#[test]
fn a_representation_spells_the_problem_out() {
    let asked = |artefact: &str, errors: u32| {
        let options = OracleOptions { problem_errors: errors, ..options() };
        ask(&oracle(options), &request(artefact, "?", 1, 7))
    };
    let (texts, notes) = asked("ir", 0);
    assert_eq!(
        block_of(&texts[0]).lines().collect::<Vec<_>>(),
        [
            "object(red, car).",
            "object(blue, car).",
            "object(big, boat).",
            "object(small, boat).",
            "object(home, port).",
            "object(far, port).",
            "init(at(red, home)).",
            "init(at(blue, home)).",
            "init(at(big, home)).",
            "init(at(small, far)).",
            "init(free(big, home)).",
            "init(free(small, far)).",
            "init(route(home, far)).",
            "init(route(far, home)).",
            "goal(at(red, far)).",
        ]
    );
    assert_eq!(notes[0]["mistakes"], serde_json::json!([]));
    let rules = asked("rules", 0).0;
    assert_eq!(
        block_of(&rules[0]),
        block_of(&texts[0]).split_once("init(").map(|(_, rest)| format!("init({rest}")).unwrap()
    );
    let counts: Value = serde_json::from_str(block_of(&asked("cardinalities", 2).0[0])).unwrap();
    assert_eq!(counts, serde_json::json!({"boat": 2, "car": 2, "port": 2}));
    let names: Value = serde_json::from_str(block_of(&asked("objects", 2).0[0])).unwrap();
    assert_eq!(names["boat"], serde_json::json!(["big", "small"]));
    let (wrong, notes) = asked("ir", 2);
    assert_ne!(wrong, texts);
    assert_eq!(notes[0]["mistakes"].as_array().unwrap().len(), 2);
    assert_eq!(asked("ir", 2).0, wrong, "the same seed, the same mistakes");
}

#[test]
fn a_reading_is_domain_and_problem_or_the_problem_of_a_given_domain() {
    let asked = |question: &str| {
        let texts =
            ask(&oracle(OracleOptions { errors: 0, ..options() }), &request("reading", question, 1, 7)).0;
        let found = find_pddl(&texts[0], SourceId(0));
        let problem = parse_problem(&found.problem().unwrap().text, SourceId(0)).value;
        assert_eq!((problem.objects.len(), problem.init.len()), (6, 8), "{texts:?}");
        found.domains.len()
    };
    let form = "(define (domain lamps) (:predicates (lit ?l)))\n(define (problem two) (:domain lamps) (:objects a) (:init (lit a)) (:goal (lit a)))";
    assert_eq!(asked(form), 1);
    assert_eq!(asked(&format!("```pddl\n{DOMAIN}\n```\n{form}")), 0);
    let texts = ask(&oracle(options()), &request("points", "?", 1, 7)).0;
    assert_eq!(block_of(&texts[0]).trim(), "{\"points\": []}");
}

#[test]
fn a_problem_that_a_representation_cannot_express_is_refused() {
    for (from, to, why) in [
        ("(and (at red far))", "(or (at red far) (at red home))", "not a conjunction"),
        ("blue", "1st", "`1st`"),
        ("(free big home)", "(= (weight) 3)", "numbers"),
    ] {
        let problems = BTreeMap::from([("p01".to_owned(), PROBLEM.replace(from, to))]);
        let suite = SuiteReference { name: "harbour".into(), domain: DOMAIN.into(), problems };
        let oracle = oracle(OracleOptions { suites: vec![Suite::Reference(suite)], ..Default::default() });
        let result = oracle.complete(&TestHost::new(), &request("ir", "?", 1, 7)).unwrap();
        let CompletionResult::ProviderFailure(failure) = result else { panic!("{result:?}") };
        assert!(failure.message.contains(why), "{why}: {}", failure.message);
        // Other artefacts of the same task are written all the same.
        ask(&oracle, &request("problem", "?", 1, 7));
    }
}

fn domain_of(text: &str) -> Domain {
    let block = find_pddl(text, SourceId(0)).domain().unwrap().text.clone();
    let parsed = parse_domain(&block, SourceId(0));
    let found = check_domain(&parsed.value, SourceId(0));
    let errors: Vec<_> = parsed.diagnostics.iter().chain(&found).filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{block}");
    parsed.value
}

fn problem_of(text: &str) -> Problem {
    let block = find_pddl(text, SourceId(0)).problem().unwrap().text.clone();
    let parsed = parse_problem(&block, SourceId(0));
    assert!(!parsed.has_errors(), "{block}");
    parsed.value
}

fn reference() -> Domain {
    parse_domain(DOMAIN, SourceId(0)).value
}

fn strings(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn a_problem_is_the_reference_except_for_its_listed_mistakes() {
    let (texts, notes) = ask(&oracle(options()), &request("problem", "Write it.", 2, 1));
    let expected = print_problem(&parse_problem(PROBLEM, SourceId(0)).value);
    assert_eq!(print_problem(&problem_of(&texts[0])), expected);
    assert!(strings(&notes[1]["mistakes"]).is_empty());

    let noisy = oracle(OracleOptions { predicate_argument: 1.0, problem_errors: 2, ..options() });
    // A domain of names and parameters alone leaves the predicates to the writer.
    let bare = "```pddl\n(define (domain harbour) (:predicates) (:action board :parameters (?c - car ?b - boat ?p - port))
      (:action debark :parameters (?c - car ?b - boat ?p - port)) (:action sail :parameters (?b - boat ?p ?q - port)))\n```";
    let (texts, notes) = ask(&noisy, &request("problem", bare, 40, 1));
    let mut kinds = std::collections::BTreeSet::new();
    for (text, note) in texts.iter().zip(&notes) {
        let mistakes = strings(&note["mistakes"]);
        assert_eq!(mistakes.len(), 3, "{mistakes:?}");
        let written = problem_of(text);
        assert_ne!(print_problem(&written), expected);
        assert_eq!(written.objects.len(), 6, "the objects are always right");
        kinds.extend(mistakes.iter().map(|m| m.split(' ').next().unwrap().to_owned()));
        kinds.extend(mistakes.iter().filter(|m| m.ends_with("omitted")).map(|_| "omitted".to_owned()));
        kinds.extend(
            mistakes
                .iter()
                .filter(|m| m.starts_with("init") && m.contains("became"))
                .map(|_| "became".to_owned()),
        );
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["became", "init:", "omitted", "predicate"]);
}

#[test]
fn a_first_domain_has_as_many_mistakes_as_asked_and_lists_them() {
    let (texts, notes) =
        ask(&oracle(OracleOptions { errors: 4, ..options() }), &request("domain", "Write it.", 30, 5));
    let mut different = std::collections::BTreeSet::new();
    for (text, note) in texts.iter().zip(&notes) {
        let mistakes = strings(&note["mistakes"]);
        assert_eq!(mistakes.len(), 4);
        let domain = domain_of(text);
        // An omission or addition is one differing term; a term gone wrong is two.
        let wrong = mistakes.iter().filter(|m| m.contains("became")).count();
        assert_eq!(differing_terms(&reference(), &domain), 4 + wrong, "{mistakes:?}");
        different.insert(text.clone());
    }
    assert!(different.len() > 25, "samples differ");
    let (exact, _) =
        ask(&oracle(OracleOptions { errors: 0, ..options() }), &request("domain", "Write it.", 1, 5));
    assert_eq!(differing_terms(&reference(), &domain_of(&exact[0])), 0);
}

#[test]
fn choices_come_from_seed_question_and_sample_alone() {
    let oracle = oracle(OracleOptions { errors: 4, ..options() });
    let (first, _) = ask(&oracle, &request("domain", "Write it.", 3, 5));
    assert_eq!(first, ask(&oracle, &request("domain", "Write it.", 3, 5)).0);
    assert_eq!(first[..2], ask(&oracle, &request("domain", "Write it.", 2, 5)).0[..]);
    assert_ne!(first, ask(&oracle, &request("domain", "Write it.", 3, 6)).0);
    assert_eq!(first, ask(&oracle, &request("domain", "Write it, please.", 3, 5)).0, "in other words");
    let shown = format!("```pddl\n{PROBLEM}\n```\nWrite it.");
    assert_ne!(first, ask(&oracle, &request("domain", &shown, 3, 5)).0);
    let mut later = request("domain", "Write it.", 3, 5);
    later.messages.splice(1..1, [Message::user("Write."), Message::assistant("No.")]);
    assert_ne!(first, ask(&oracle, &later).0);
}

#[test]
fn a_lost_argument_of_the_problem_stays_lost_in_domain_edits_and_other_problems() {
    let lossy = oracle(OracleOptions { predicate_argument: 1.0, errors: 0, ..options() });
    let (problems, notes) = ask(&lossy, &request("problem", "Write it.", 60, 2));
    let mut seen = std::collections::BTreeSet::new();
    for (text, note) in problems.iter().zip(&notes) {
        let mistake = strings(&note["mistakes"]).remove(0);
        seen.insert(mistake.clone());
        let problem = print_problem(&problem_of(text));
        let question =
            format!("This problem is written already:\n\n```pddl\n{problem}\n```\n\nWrite the domain.");
        let (domains, _) = ask(&lossy, &request("domain", &question, 1, 2));
        let domain = domain_of(&domains[0]);
        let sources = planforge_pddl::TaskSources { domain: SourceId(0), problem: SourceId(1) };
        let found = check_problem(&domain, &parse_problem(&problem, SourceId(1)).value, sources);
        assert!(!found.iter().any(|d| d.is_error()), "{mistake}: {found:?}");
        let (edits, _) = ask(&lossy, &request("edit", &question, 1, 2));
        let lost = mistake.split(" became ").nth(1).unwrap().split(" (predicate").next().unwrap();
        // Which end of a route is lost does not show, as every route goes both ways.
        let either = lost.replace("(route ?p", "(route ?q");
        let there = [lost, either.as_str()].iter().any(|l| edits[0].contains(&format!("\"{l}\"")));
        assert!(there, "{lost} in\n{}", edits[0]);
        // Another problem is written for the shown domain and uses its predicates without a further mistake.
        let question = format!("Domain:\n```pddl\n{}\n```\nWrite a problem.", print_domain(&domain));
        let (others, notes) = ask(&lossy, &request("problem", &question, 1, 3));
        let found = check_problem(&domain, &problem_of(&others[0]), sources);
        assert!(!found.iter().any(|d| d.is_error()), "{mistake}: {found:?}");
        assert_eq!(strings(&notes[0]["mistakes"]).len(), 1, "it tells what it keeps to");
    }
    // `aboard` has no fact at the beginning, so nothing could be lost that shows.
    assert_eq!(seen.len(), 6, "three predicates of two arguments: {seen:?}");
}

/// A domain with two mistakes in `board` and one in `sail`, as a question in a later round shows it.
fn question(feedback: &str) -> String {
    let wrong = DOMAIN
        .replace("(and (at ?c ?p) (at ?b ?p) (free ?b ?p))\n", "(and (at ?c ?p) (at ?b ?p))\n")
        .replace("(aboard ?c ?b) (not (at ?c ?p))", "(aboard ?c ?b) (at ?c ?p) (not (at ?c ?p))")
        .replace("(route ?p ?q))\n", "(route ?q ?p))\n");
    format!("This is what stands now:\n\n```pddl\n{wrong}\n```\n\n{feedback}\n\nCorrect it.")
}

#[test]
fn named_mistakes_are_repaired_at_their_rate_and_others_at_theirs() {
    let rates = OracleOptions { repair_named: 0.7, repair_unnamed: 0.2, damage: 0.1, ..options() };
    let asked =
        request("domain", &question("After (sail big home far), (board red big far) is refused."), 2000, 9);
    let (texts, notes) = ask(&oracle(rates.clone()), &asked);
    let count = |wanted: &str, of: &str| {
        let all = notes.iter().flat_map(|n| strings(&n[of]));
        all.filter(|text| text.contains(wanted)).count()
    };
    // Five standard deviations of 2000 draws at 0.7 are about 100, at 0.1 about 67.
    assert!(count("action board: precondition (free ?b ?p) added", "repaired").abs_diff(1400) < 105);
    assert!(count("action board: effect (at ?c ?p) omitted", "repaired").abs_diff(1400) < 105);
    assert!(
        count("action sail: precondition (route ?q ?p) became (route ?p ?q)", "repaired").abs_diff(1400)
            < 105
    );
    assert!(count("action debark", "damaged").abs_diff(200) < 70);
    assert_eq!(count("action debark", "damaged"), count("", "damaged"), "what has mistakes gets no more");
    for (text, note) in texts.iter().zip(&notes).take(100) {
        let left = note["mistakes_left"].as_u64().unwrap() as usize;
        let damaged = strings(&note["damaged"]).len();
        let differing = differing_terms(&reference(), &domain_of(text));
        assert!((left + damaged..=2 * (left + damaged)).contains(&differing), "{differing} {note}");
    }
    let unnamed = request("domain", &question("A car may board a boat. The plan has no step."), 2000, 9);
    let (_, notes) = ask(&oracle(rates), &unnamed);
    let repaired: usize = notes.iter().map(|n| strings(&n["repaired"]).len()).sum();
    assert!(repaired.abs_diff(1200) < 155, "{repaired}");
}

#[test]
fn edits_write_all_actions_first_and_changed_ones_later() {
    let quiet =
        oracle(OracleOptions { errors: 0, repair_named: 1.0, repair_unnamed: 0.0, damage: 0.0, ..options() });
    let (first, _) = ask(&quiet, &request("edit", "Write the domain by calls.", 1, 4));
    assert_eq!(first[0].matches("modify_action(").count(), 3);
    assert!(
        first[0].contains("add_or_update_predicates([\n    \"(at ?t - thing ?p - port)\",\n"),
        "{}",
        first[0]
    );
    let later = request("edit", &question("(board red big far) is refused."), 1, 4);
    let (texts, _) = ask(&quiet, &later);
    assert_eq!(
        texts[0],
        format!(
            "{}\n\n```python\nmodify_action(\n    \"board\",\n    [\n        \"(at ?c ?p)\",\n        \"(at ?b ?p)\",\n        \
             \"(free ?b ?p)\",\n    ],\n    [\n        \"(aboard ?c ?b)\",\n        \"(not (at ?c ?p))\",\n        \
             \"(not (free ?b ?p))\",\n    ],\n)\n```",
            reply::SIMULATED
        )
    );
    // Without a change, one action is written again unchanged.
    let (texts, notes) = ask(
        &quiet,
        &request(
            "edit",
            &question("So the precondition of `debark` lacks something; (boarding) and `sails` are none."),
            1,
            4,
        ),
    );
    assert!(texts[0].contains("\"debark\"") && texts[0].matches("modify_action").count() == 1);
    assert_eq!(notes[0]["mistakes_left"], 3);
}

#[test]
fn parameters_are_called_as_in_the_domain_shown_and_examples_are_not_mistaken_for_it() {
    let interface = "(define (domain quay) (:types car boat - thing port)
      (:action board :parameters (?x - car ?y - boat ?z - port) :precondition (and) :effect (and))
      (:action debark :parameters (?x - car ?y - boat ?z - port) :precondition () :effect ())
      (:action sail :parameters (?y - boat ?from ?to - port)))";
    let example = "(define (domain other) (:predicates (at ?x)) (:action sail :parameters (?b) :precondition (and (at ?b))
      :effect (and (not (at ?b)))))";
    let text = format!("Example:\n```pddl\n{example}\n```\nYours:\n```pddl\n{interface}\n```\n");
    let exact = oracle(OracleOptions { errors: 0, ..options() });
    let (edits, notes) = ask(&exact, &request("edit", &text, 1, 4));
    assert!(edits[0].contains("\"(route ?from ?to)\"") && edits[0].matches("modify_action").count() == 3);
    assert!(notes[0]["mistakes"].is_array(), "it is a first domain");
    let (domains, _) = ask(&exact, &request("domain", &text, 1, 4));
    assert!(domain_of(&domains[0]).name.unwrap().is("quay"));
    let only_example = format!("Example:\n```pddl\n{example}\n```\nNow translate.");
    let (domains, notes) = ask(&exact, &request("domain", &only_example, 1, 4));
    assert!(domain_of(&domains[0]).name.unwrap().is("harbour") && notes[0]["mistakes"].is_array());
    let beginning =
        "(define (problem given) (:domain quay) (:objects red blue - car big small - boat home far - port))";
    let (problems, _) = ask(&exact, &request("problem", &format!("```pddl\n{beginning}\n```"), 1, 4));
    let problem = problem_of(&problems[0]);
    assert!(problem.name.unwrap().is("given") && problem.domain_name.unwrap().is("quay"));
}

#[test]
fn costs_are_edited_only_where_the_domain_shown_has_them() {
    let costs = DOMAIN
        .replace("(:predicates", "(:functions (total-cost) - number) (:predicates")
        .replace("(not (at ?b ?p))))", "(not (at ?b ?p)) (increase (total-cost) 1)))");
    let suite = SuiteReference {
        name: "harbour".into(),
        domain: costs.clone(),
        problems: BTreeMap::from([("p01".to_owned(), PROBLEM.to_owned())]),
    };
    let exact = oracle(OracleOptions { errors: 0, suites: vec![Suite::Reference(suite)], ..options() });
    let (first, _) = ask(&exact, &request("edit", "Write it.", 1, 1));
    assert!(!first[0].contains("increase"));
    let (domain, _) = ask(&exact, &request("domain", "Write it.", 1, 1));
    assert!(domain[0].contains("(increase (total-cost) 1)"));
}

#[test]
fn unknown_tasks_are_refused_with_the_known_names() {
    let refusal =
        |request: &CompletionRequest| match oracle(options()).complete(&TestHost::new(), request).unwrap() {
            CompletionResult::ProviderFailure(failure) => failure,
            other => panic!("{other:?}"),
        };
    let mut asked = request("plan", "Plan.", 1, 1);
    assert_eq!(refusal(&asked).class, ProviderFailureClass::BadRequest);
    asked = request("domain", "Write it.", 1, 1);
    asked.tags.task = "p07".into();
    assert!(refusal(&asked).message.contains("`p01`"));
    asked.tags.suite = "nowhere".into();
    assert!(refusal(&asked).message.contains("`harbour`"));
}

#[test]
fn options_and_suites_are_checked_all_at_once() {
    let failure = |options: OracleOptions| NoisyOracle::create(options, &Secrets::default()).unwrap_err();
    let wrong = failure(OracleOptions {
        damage: 1.5,
        repair_named: -0.1,
        characters_per_token: Some(0),
        kinds: Kinds { omission: f64::NAN, ..Kinds::default() },
        ..options()
    });
    assert_eq!(wrong.code, "oracle.options");
    for part in ["damage", "repair_named", "characters_per_token", "omission"] {
        assert!(wrong.message.contains(part), "{}", wrong.message);
    }
    let broken = SuiteReference {
        name: "harbour".into(),
        domain: "(define (domain".into(),
        problems: BTreeMap::new(),
    };
    let suites = vec![options().suites.remove(0), Suite::Reference(broken), Suite::Path("x/y".into())];
    let wrong = failure(OracleOptions { suites, ..options() });
    assert_eq!(wrong.code, "oracle.suite");
    assert!(
        wrong.message.contains("two suites")
            && wrong.message.contains("x/y")
            && wrong.message.contains("no actions")
    );
    assert!(failure(OracleOptions { suites: vec![], ..options() }).message.contains("`suites` is empty"));
    // A pipeline file names folders; the schema takes both.
    let read: OracleOptions =
        serde_json::from_value(serde_json::json!({ "suites": ["a/b"], "errors": 1 })).unwrap();
    assert_eq!(read.suites, [Suite::Path("a/b".into())]);
}

#[test]
fn usage_is_stated_only_where_a_rate_is_given() {
    let usage = |options: OracleOptions| match oracle(options)
        .complete(&TestHost::new(), &request("domain", "Write it.", 2, 1))
    {
        Ok(CompletionResult::Replies(replies)) => replies.usage,
        other => panic!("{other:?}"),
    };
    assert_eq!(usage(options()), Usage::default());
    let counted = usage(OracleOptions { characters_per_token: Some(4), ..options() });
    // "Translate." and "Write it." have 19 characters.
    assert_eq!(counted.prompt_tokens, Some(5));
    assert!(counted.completion_tokens.unwrap() > 200);
}
