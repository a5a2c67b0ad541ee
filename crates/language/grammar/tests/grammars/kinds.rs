//! Edits, representations, whole domains, and the notations.

use crate::corpus::{Folder, folders, layouts};
use planforge_diagnostics::SourceId;
use planforge_grammar::json::{
    action_from_json, action_schema, asp_from_json, asp_schema, edit_schema, edits_from_json,
    objects_from_json, parameters_from_json, parameters_schema, plan_from_json, plan_schema,
    problem_from_json, problem_schema,
};
use planforge_grammar::{
    ActionHead, AspVocabulary, EditFunctions, Grammar, action_grammar, asp_grammar, domain_grammar,
    edit_grammar, objects_grammar, parameters_grammar, plan_grammar, problem_grammar,
};
use planforge_pddl::random::Random;
use planforge_pddl::{parse_domain, print_domain};
use std::path::Path;

fn suites() -> Vec<Folder> {
    folders(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites"), false)
}

fn suite(name: &str) -> Folder {
    suites().into_iter().find(|suite| suite.name.ends_with(name)).expect("a suite of that name")
}

/// Derives domains in which each of the words begins a list, that the reader reads without losing an action, and that the grammar refuses if any
/// one parenthesis is left out.
fn derives_readable_domains(grammar: &Grammar, words: &[&str]) {
    let lists = |word: &str, text: &str| {
        let list = regex::Regex::new(&format!(r"\(\s*{word}[\s()]")).expect("a word is an expression");
        list.find_iter(text).count()
    };
    let mut all = String::new();
    for n in 0..60 {
        let mut random = Random::stream(3, n);
        let text = grammar.derive(&mut random, 9);
        let domain = parse_domain(&text, SourceId(0)).value;
        assert_eq!(domain.actions.len(), lists(":action", &text), "{text}");
        assert_eq!(domain.durative_actions.len(), lists(":durative-action", &text), "{text}");
        assert!(grammar.accepts(&text), "{text}");
        let parentheses: Vec<usize> = text.match_indices(['(', ')']).map(|(at, _)| at).collect();
        for _ in 0..5 {
            let at = *random.pick(&parentheses).expect("a domain has parentheses");
            let broken = format!("{}{}", &text[..at], &text[at + 1..]);
            assert!(!grammar.accepts(&broken), "{broken}");
        }
        all += &text;
    }
    for word in words {
        assert!(lists(word, &all) > 0, "no derived domain has `{word}`");
    }
}

#[test]
fn domain_grammars_accept_every_domain_and_derive_readable_ones() {
    for suite in suites() {
        let grammar = domain_grammar(&suite.domain);
        for text in layouts(&print_domain(&suite.domain)) {
            let (read, rest) = text.split_at(grammar.accepted_prefix(&text));
            assert!(grammar.accepts(&text), "{}: {read}<HERE>{rest}", suite.name);
        }
        assert!(!grammar.accepts(&suite.domain_text.replacen("(:action", ":action", 1)));
    }
    let grammar = domain_grammar(&suite("blocks").domain);
    derives_readable_domains(&grammar, &[":action", ":predicates", "not", "forall", "when"]);
}

/// A baker would like to be free at the end of each loaf.
const BAKERY: &str = "(define (domain bakery)
  (:requirements :strips :durative-actions :duration-inequalities :preferences)
  (:predicates (free) (hot ?x) (baked ?x))
  (:functions (time ?x) (used))
  (:durative-action bake
    :parameters (?x)
    :duration (and (>= ?duration (time ?x)) (at start (<= ?duration (* 2 (time ?x)))))
    :condition (and (at start (free)) (over all (hot ?x)) (preference idle (at end (free))))
    :effect (and (at start (not (free))) (at end (baked ?x)) (at end (increase (used) ?duration))))
  (:action look :parameters () :precondition (preference (free)) :effect (free)))";

#[test]
fn domain_grammars_have_durations_and_preferences_where_the_domain_requires_them() {
    let domain = parse_domain(BAKERY, SourceId(0)).value;
    let grammar = domain_grammar(&domain);
    for text in layouts(&print_domain(&domain)) {
        let (read, rest) = text.split_at(grammar.accepted_prefix(&text));
        assert!(grammar.accepts(&text), "{read}<HERE>{rest}");
    }
    for (right, wrong) in [
        ("(over all (hot ?x))", "(over start (hot ?x))"),
        ("(at start (free))", "(free)"),
        ("(at end (baked ?x))", "(over all (baked ?x))"),
        (":duration (and", ":duration (or"),
    ] {
        assert!(BAKERY.contains(right) && grammar.accepts(BAKERY));
        assert!(!grammar.accepts(&BAKERY.replacen(right, wrong, 1)), "{wrong}");
    }
    derives_readable_domains(&grammar, &[":durative-action", ":action", "over all", "at end", "preference"]);
    // Other domains keep their grammar, which recorded requests have.
    let mut classical = domain.clone();
    classical.requirements.clear();
    classical.durative_actions.clear();
    let grammar = domain_grammar(&classical);
    assert!(!grammar.accepts(BAKERY));
    assert_eq!(
        grammar.to_gbnf(),
        domain_grammar(&planforge_pddl::ast::Domain { name: domain.name, ..Default::default() }).to_gbnf()
    );
}

#[test]
fn edits_name_functions_actions_and_parameters_in_scope() {
    let blocks = suite("blocks");
    let action = &blocks.domain.actions[0];
    let (name, parameter) = (&action.name, &action.parameters[0].name);
    let grammar = edit_grammar(&blocks.domain, None, EditFunctions::DOMAIN);
    let call = |text: &str| text.replace("NAME", name.as_str()).replace("?p", parameter.as_str());
    for text in [
        "add_or_update_predicates([\"(wet ?x ?y)\", \"(dry)\"])\nmodify_action(\"NAME\", [\"(wet ?p ?p)\"], [\"(not (dry))\"])",
        "modify_action(\n    \"NAME\",\n    [\n        \"(wet ?p ?p)\",\n    ],\n    [],\n)\n",
        "modify_action(\"NAME\", [\"(forall (?z) (wet ?z ?p))\"], [])",
    ] {
        assert!(grammar.accepts(&call(text)), "{}", call(text));
    }
    for text in [
        "modify_action(\"other\", [], [])",
        "modify_actions(\"NAME\", [], [])",
        "modify_action(\"NAME\", [\"(wet ?elsewhere)\"], [])",
        "modify_action(\"NAME\", [\"(wet ?p\"], [])",
        "modify_action(\"NAME\", [])",
        "edit_goal([], [])",
    ] {
        assert!(!grammar.accepts(&call(text)), "{}", call(text));
    }
    let objects = &blocks.problems[0].2.objects;
    let both = edit_grammar(&blocks.domain, Some(objects), EditFunctions::BOTH);
    let object = &objects[0].name;
    assert!(both.accepts(&format!(
        "edit_initial_state([\"(wet {object})\"], [])\nedit_objects([\"z - object\"], [])"
    )));
    assert!(!both.accepts("edit_initial_state([\"(wet nobody)\"], [])"));
}

#[test]
fn representations_have_the_vocabulary_of_their_domain() {
    let mut accepted = 0;
    for suite in suites() {
        let Ok(text) = std::fs::read_to_string(Path::new(&suite.name).join("p_example.lp")) else { continue };
        let mangled = |name: &str| name.to_lowercase().replace('-', "_");
        let types = suite.domain.types.iter().map(|t| mangled(t.name.as_str()));
        let predicates = suite.domain.predicates.iter();
        let predicates = predicates.map(|p| (mangled(p.name.as_str()), p.parameters.len())).collect();
        let vocabulary = AspVocabulary {
            types: types.chain(["object".to_owned()]).collect(),
            predicates,
            functions: Vec::new(),
        };
        let grammar = asp_grammar(&vocabulary);
        let plain: Vec<&str> = text.lines().filter(|line| !line.starts_with('%')).collect();
        let plain = plain.join("\n");
        let (read, rest) = plain.split_at(grammar.accepted_prefix(&plain));
        // Some representations use predicates of their knowledge file.
        let known = read.ends_with(|c: char| c == '(' || c.is_ascii_lowercase() || c == '_');
        assert!(grammar.accepts(&plain) || known, "{}: {read}<HERE>{rest}", suite.name);
        accepted += usize::from(grammar.accepts(&plain));
        let name = &vocabulary.predicates[0].0;
        assert!(!grammar.accepts(&format!("init({name}(a, b, c, d, e)).")));
        assert!(!grammar.accepts("init(zz_undeclared(a))."));
        assert!(!grammar.accepts("cardinality(object, 2)"));
        assert!(grammar.accepts("cardinality(object, 2).\nobject(a_1, object)."));
    }
    assert!(accepted >= 6, "{accepted}");
}

#[test]
fn problems_and_plans_come_back_from_json() {
    let tyres = suite("tyres");
    let (_, _, problem) = &tyres.problems[0];
    let objects = Some(problem.objects.as_slice());
    let hub =
        problem.objects.iter().find(|o| o.ty.as_ref().is_some_and(|t| t.alternatives[0].is("hub"))).unwrap();
    let json = format!(
        r#"{{"init": [{{"predicate": "on-ground", "h": "{hub}"}}, {{"predicate": "at-hand", "x": "jack"}}],
            "goal": {{"and": [{{"not": {{"predicate": "bare", "h": "{hub}"}}}},
                {{"forall": [{{"name": "?w", "type": "wheel"}}], "condition": {{"predicate": "flat", "w": "?w"}}}}]}}}}"#,
        hub = hub.name
    );
    let text = problem_from_json(&tyres.domain, objects, &json).unwrap();
    assert!(text.contains(&format!("(on-ground {})", hub.name)) && text.contains("(at-hand jack)"), "{text}");
    assert!(problem_grammar(&tyres.domain, objects).accepts(&text), "{text}");
    let schema = problem_schema(&tyres.domain, objects);
    let of_hub = schema["$defs"]["term-hub"]["enum"].as_array().unwrap();
    assert!(of_hub.iter().any(|name| name == hub.name.as_str()), "{schema:#}");
    for (wrong, why) in [
        ("{", "not JSON"),
        (r#"{"init": []}"#, "no `goal`"),
        (r#"{"init": [{"predicate": "wet"}], "goal": {"and": []}}"#, "no predicate `wet`"),
        (r#"{"init": [{"predicate": "at-hand", "x": "a) (b"}], "goal": {"and": []}}"#, "not a word"),
    ] {
        let error = problem_from_json(&tyres.domain, objects, wrong).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    let plan = plan_from_json(&tyres.domain, r#"{"plan": [{"action": "open-boot", "b": "boot1"}]}"#).unwrap();
    assert_eq!(plan, "(open-boot boot1)\n");
    let steps = plan_schema(&tyres.domain, objects)["properties"]["plan"]["items"]["anyOf"].clone();
    assert_eq!(steps.as_array().unwrap().len(), tyres.domain.actions.len());
    let objects =
        objects_from_json(&tyres.domain, r#"{"objects": [{"name": "b1", "type": "boot"}]}"#).unwrap();
    assert!(objects_grammar(&tyres.domain).accepts(&objects), "{objects}");
}

#[test]
fn actions_come_back_from_json() {
    let tyres = suite("tyres");
    let action = tyres.domain.actions.iter().find(|a| a.name.is("put-on")).unwrap();
    let json = r#"{"precondition": {"predicate": "bare", "h": "?h"},
        "effect": {"and": [{"predicate": "wheel-on", "w": "?w", "h": "?h"}, {"not": {"predicate": "bare", "h": "?h"}}]}}"#;
    let text = action_from_json(&tyres.domain, Some(action), json).unwrap();
    assert!(action_grammar(&tyres.domain, ActionHead::Interface(action)).accepts(&text), "{text}");
    let head = r#"{"name": "put-on", "parameters": [{"name": "?w", "type": "wheel"}, {"name": "?h", "type": "hub"}]}"#;
    let head = parameters_from_json(&tyres.domain, head).unwrap();
    assert!(parameters_grammar(&tyres.domain, Some("put-on")).accepts(&head), "{head}");
    let schema = parameters_schema(&tyres.domain, Some("put-on"));
    assert_eq!(schema["properties"]["name"]["enum"], serde_json::json!(["put-on"]));
    let schema = action_schema(&tyres.domain, ActionHead::Interface(action));
    assert_eq!(schema["$defs"]["term-hub"]["enum"], serde_json::json!(["?h"]));
}

#[test]
fn edits_come_back_from_json() {
    let blocks = suite("blocks");
    let (_, _, problem) = &blocks.problems[0];
    let objects = Some(problem.objects.as_slice());
    let action = &blocks.domain.actions[0];
    let (name, parameter, object) = (&action.name, &action.parameters[0].name, &problem.objects[0].name);
    let json = format!(
        r#"{{"calls": [
            {{"function": "add_or_update_predicates", "predicates": [{{"name": "dry", "parameters": []}},
                {{"name": "wet", "parameters": [{{"name": "?x", "type": "object"}}]}}]}},
            {{"function": "modify_action", "action": "{name}",
                "preconditions": [{{"or": [{{"predicate": "wet", "arguments": ["{parameter}"]}}, {{"predicate": "dry"}}]}}],
                "effects": [{{"not": {{"predicate": "wet", "arguments": ["{parameter}"]}}}}]}},
            {{"function": "edit_objects", "add": [{{"name": "z", "type": "object"}}], "remove": []}},
            {{"function": "edit_initial_state", "add": [{{"predicate": "wet", "arguments": ["{object}"]}}], "remove": []}}]}}"#
    );
    let calls = edits_from_json(&blocks.domain, &json).unwrap();
    assert!(edit_grammar(&blocks.domain, objects, EditFunctions::BOTH).accepts(&calls), "{calls}");
    assert!(
        calls.contains(&format!("modify_action(\"{name}\", [\"(or (wet {parameter}) (dry))\"]")),
        "{calls}"
    );
    let quote = r#"{"calls": [{"function": "modify_action", "action": "a\", \"", "preconditions": [], "effects": []}]}"#;
    assert!(edits_from_json(&blocks.domain, quote).unwrap_err().contains("not a word"));
    let schema = edit_schema(&blocks.domain, objects, EditFunctions::BOTH);
    let terms = &schema["$defs"][format!("{name}-term-object")]["enum"];
    assert!(terms.as_array().unwrap().iter().any(|term| term == parameter.as_str()), "{schema:#}");
    assert_eq!(
        edit_schema(&blocks.domain, None, EditFunctions::DOMAIN)["properties"]["calls"]["items"]["anyOf"]
            .as_array()
            .unwrap()
            .len(),
        1 + blocks.domain.actions.len()
    );
}

#[test]
fn statements_of_a_representation_follow_a_regular_expression() {
    let vocabulary = AspVocabulary {
        types: vec!["truck".to_owned()],
        predicates: vec![("at".to_owned(), 2), ("done".to_owned(), 0)],
        functions: Vec::new(),
    };
    let schema = asp_schema(&vocabulary);
    let pattern = schema["properties"]["statements"]["items"]["pattern"].as_str().unwrap();
    let pattern = regex::Regex::new(pattern).unwrap();
    for (statement, follows) in [
        ("init(at(a, B)) :- object(B, truck), not goal(at(B, a)), B != a.", true),
        ("cardinality(truck, 2).", true),
        ("goal(not done).", true),
        ("init(at(a)).", false),
        ("object(a, boat).", false),
        ("init(done)", false),
    ] {
        assert_eq!(pattern.is_match(statement), follows, "{statement}");
        assert_eq!(asp_grammar(&vocabulary).accepts(statement), follows, "{statement}");
    }
    let text = asp_from_json(r#"{"statements": ["init(done).", "goal(not done)."]}"#).unwrap();
    assert_eq!(text, "init(done).\ngoal(not done).");
}

#[test]
fn notations_quote_what_has_a_meaning_in_them() {
    let text = "(define (domain d) (:types a) (:predicates (p ?x - a) (q)) (:action go :parameters (?x - a) :effect (p ?x)))";
    let domain = parse_domain(text, SourceId(0)).value;
    let grammar = plan_grammar(&domain, None);
    let gbnf = grammar.to_gbnf();
    assert!(gbnf.starts_with("root ::= step* ws?\n"), "{gbnf}");
    assert!(gbnf.contains("name ::= [a-zA-Z] [a-zA-Z0-9_-]{0,60}\n"), "{gbnf}");
    let lark = grammar.to_lark();
    assert!(lark.starts_with("start: step* WS?\n"), "{lark}");
    assert!(lark.contains("NAME: /[a-zA-Z][a-zA-Z0-9_\\-]{0,60}/\n"), "{lark}");
    assert!(lark.contains("WS: /[ \\t\\n\\r]{1,60}/\n"), "{lark}");
    let thought = grammar.in_code_block("plan", true);
    let free = "([^`] | \"`\" [^`] | \"``\" [^`])*";
    let gbnf = thought.to_gbnf();
    assert!(gbnf.contains(&format!("thought ::= {free} \"```plan\\n\"\n")), "{gbnf}");
    assert!(gbnf.ends_with("root ::= thought answer \"```\"\n"), "{gbnf}");
    let lark = thought.to_lark();
    assert!(lark.contains("THOUGHT: /([^`]|`[^`]|``[^`])*```plan\\n/\n"), "{lark}");
    for begin in ["", "First go.\n", "First `go`, then ``stop``.\n"] {
        assert!(thought.accepts(&format!("{begin}```plan\n(go a)\n```")), "{begin}");
    }
    for other in ["(go a)", "```\n```plan\n(go a)\n```", "```plan\n(go a)\n```\n```plan\n(go a)\n```"] {
        assert!(!thought.accepts(other), "{other}");
    }
    assert!(!grammar.in_code_block("plan", false).accepts("First go.\n```plan\n(go a)\n```"));
}
