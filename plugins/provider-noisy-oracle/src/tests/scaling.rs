//! Thoughts, updates, critiques and likelihoods.

use super::*;
use planforge_plugin_sdk::reply::{WantedPddl, read_thought_reply};

const THOUGHT_FORM: &str = "Answer in this form:\n\n### Thought:\naction NAME: what it does\n\n### Domain:\n```pddl\n(define (domain harbour)\n  predicates and actions\n)\n```";

/// `board` has lost a precondition, and `sail` an effect.
fn damaged() -> String {
    DOMAIN.replacen(" (free ?b ?p))", ")", 1).replacen(" (not (at ?b ?p))", "", 1)
}

fn update(said: &str) -> String {
    format!(
        "Write it anew.\n\n```pddl\n{PROBLEM}\n```\n\nThe thought:\naction board: boards\naction debark: debarks\naction sail: sails\n\n\
         ```pddl\n{}\n```\n\nWhat the review found:\n{said}\n\n{THOUGHT_FORM}",
        damaged()
    )
}

fn read(text: &str, wanted: WantedPddl) -> CandidatePatch {
    let reply = Reply::new(text, FinishReason::Stop);
    let patch = read_thought_reply(&reply, wanted, FixPolicy::None).unwrap();
    assert!(patch.diagnostics.is_empty(), "{:?}", patch.diagnostics);
    patch
}

fn left(domain: &str) -> usize {
    let parse = |text: &str| parse_domain(text, SourceId(0)).value;
    differing_terms(&parse(DOMAIN), &parse(domain))
}

#[test]
fn a_thought_names_every_predicate_and_action() {
    let exact = OracleOptions { errors: 0, ..options() };
    let (texts, _) = ask(&oracle(exact.clone()), &request("domain", THOUGHT_FORM, 1, 1));
    let patch = read(&texts[0], WantedPddl::Domain);
    assert_eq!(left(&patch.domain.unwrap()), 0);
    insta::assert_snapshot!(patch.thought.unwrap());
    let question = format!(
        "```pddl\n{DOMAIN}\n```\n### Thought:\n\n### Problem:\n(define (problem NAME)\n  initial state\n)"
    );
    let (texts, _) = ask(&oracle(exact), &request("problem", &question, 1, 1));
    let patch = read(&texts[0], WantedPddl::Problem);
    assert!(patch.thought.unwrap().contains("predicate aboard: ") == PROBLEM.contains("aboard"));
    assert!(patch.problem.unwrap().contains("(free small far)"));
}

#[test]
fn an_update_repairs_what_is_said_behind_the_domain() {
    let certain = OracleOptions { repair_named: 1.0, repair_unnamed: 0.0, damage: 0.0, ..options() };
    let answer = |said: &str| {
        let (texts, notes) = ask(&oracle(certain.clone()), &request("update", &update(said), 1, 3));
        (
            left(&read(&texts[0], WantedPddl::Domain).domain.unwrap()),
            notes[0]["mistakes_left"].as_u64().unwrap(),
        )
    };
    assert_eq!(answer("1. action board: a precondition is missing"), (1, 1));
    assert_eq!(answer("action board and action sail are wrong"), (0, 0));
    assert_eq!(answer("Nothing was found."), (2, 2), "the thought names every action, and is no criticism");
}

#[test]
fn an_update_of_a_problem_repairs_its_facts() {
    let wrong = PROBLEM.replace(" (free small far)", "").replace("(at blue home)", "(at blue far)");
    let question = format!(
        "```pddl\n{DOMAIN}\n```\n```pddl\n{wrong}\n```\n1. initial state: (free small far) is missing\n### Thought:\n\n### Problem:\n(define (problem NAME)\n  initial state\n)"
    );
    let certain = OracleOptions { repair_named: 1.0, repair_unnamed: 0.0, damage: 0.0, ..options() };
    let (texts, notes) = ask(&oracle(certain), &request("update", &question, 1, 3));
    let problem = read(&texts[0], WantedPddl::Problem).problem.unwrap();
    assert!(problem.contains("(free small far)") && problem.contains("(at blue far)"), "{problem}");
    assert_eq!(notes[0]["mistakes_left"], 1);
    let damages = OracleOptions { repair_named: 0.0, repair_unnamed: 1.0, damage: 1.0, ..options() };
    let (_, notes) = ask(&oracle(damages), &request("update", &question, 1, 3));
    assert_eq!(
        (&notes[0]["mistakes_left"], notes[0]["damaged"].as_array().unwrap().len()),
        (&Value::from(1), 1)
    );
}

fn critique(critic: Critic, domain: &str) -> (String, Value) {
    let question = format!("```pddl\n{PROBLEM}\n```\n```pddl\n{domain}\n```\nIs this domain right?");
    let options = OracleOptions { critic, ..options() };
    let (mut texts, mut notes) = ask(&oracle(options), &request("critique", &question, 1, 5));
    (texts.remove(0), notes.remove(0))
}

#[test]
fn a_critic_names_the_actions_that_are_wrong() {
    let sharp = Critic { finds: 1.0, false_findings: 0.0, ..Critic::default() };
    let (text, note) = critique(sharp.clone(), &damaged());
    let document: Value = serde_json::from_str(block_of(&text)).unwrap();
    assert_eq!(document["approves"], false);
    let findings = document["findings"].as_array().unwrap();
    let places: Vec<&str> = findings.iter().map(|f| f["place"].as_str().unwrap()).collect();
    assert_eq!(places, ["action board", "action sail"]);
    assert_eq!(findings[0]["finding"], "(free ?b ?p) is missing in the precondition");
    assert_eq!((note["found"].as_array().unwrap().len(), &note["overlooked"]), (2, &serde_json::json!([])));
    let (prose, _) = critique(Critic { prose: true, ..sharp.clone() }, &damaged());
    insta::assert_snapshot!(prose);
    for (prose, said) in [(false, "\"approves\": true"), (true, "No errors.")] {
        let (text, _) = critique(Critic { prose, ..sharp.clone() }, DOMAIN);
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn a_critic_overlooks_and_invents_at_its_rates() {
    let (text, note) = critique(Critic { finds: 0.0, false_findings: 0.0, ..Critic::default() }, &damaged());
    assert!(text.contains("\"approves\": true"));
    assert_eq!(note["overlooked"].as_array().unwrap().len(), 2);
    let (_, note) = critique(Critic { finds: 0.0, false_findings: 1.0, ..Critic::default() }, &damaged());
    assert_eq!(note["invented"].as_array().unwrap().len(), 1, "`debark` alone is right: {note}");
}

#[test]
fn a_critic_of_a_problem_looks_at_its_facts_and_a_plan_is_refused() {
    let wrong = PROBLEM.replace(" (free small far)", "");
    let question = format!("```pddl\n{DOMAIN}\n```\n```pddl\n{wrong}\n```\nIs this problem right?");
    let sharp = OracleOptions { critic: Critic { finds: 1.0, ..Critic::default() }, ..options() };
    let (texts, _) = ask(&oracle(sharp.clone()), &request("critique", &question, 1, 5));
    assert!(texts[0].contains("(free small far) is missing in the list of facts"), "{}", texts[0]);
    let plan = request("critique", "```plan\n(sail big home far)\n```\nIs this plan right?", 1, 5);
    let refused = oracle(sharp).complete(&TestHost::new(), &plan).unwrap();
    assert!(matches!(refused, CompletionResult::ProviderFailure(f) if f.message.contains("a plan")));
}

#[test]
fn likelihoods_come_where_they_are_asked_for_and_fall_with_mistakes() {
    let sum = |likelihood: Option<Likelihood>, errors: u32, asked: bool| {
        let oracle = oracle(OracleOptions { likelihood, errors, ..options() });
        let mut request = request("domain", THOUGHT_FORM, 40, 9);
        request.sampling.logprobs = asked.then_some(true);
        let CompletionResult::Replies(replies) = oracle.complete(&TestHost::new(), &request).unwrap() else {
            panic!()
        };
        let texts: Vec<String> = replies.replies.iter().map(|r| r.content.clone()).collect();
        let joined = |r: &Reply| r.logprobs.iter().flatten().map(|t| t.token.as_str()).collect::<String>();
        assert!(replies.replies.iter().all(|r| r.logprobs.is_none() || joined(r) == r.content));
        let all: Option<Vec<f64>> = replies.replies.iter().map(Reply::log_likelihood).collect();
        (texts, all.map(|all| all.iter().sum::<f64>() / all.len() as f64))
    };
    let drawn = Some(Likelihood { mean: -0.1, spread: 1.0, per_mistake: 5.0 });
    let (texts, likelihood) = sum(drawn.clone(), 3, true);
    assert_eq!((texts, None), sum(drawn.clone(), 3, false), "the same texts, asked for likelihoods or not");
    assert_eq!(sum(None, 3, true).1, None, "a server without log-probabilities");
    let exact = sum(drawn, 0, true).1.unwrap();
    let difference = exact - likelihood.unwrap();
    assert!((12.0..18.0).contains(&difference), "three mistakes take about 15: {difference}");
}

#[test]
fn the_number_of_mistakes_can_vary() {
    let counts = |error_count| {
        let oracle = oracle(OracleOptions { errors: 2, error_count, ..options() });
        let (_, notes) = ask(&oracle, &request("domain", "?", 200, 9));
        notes.iter().map(|n| n["mistakes"].as_array().unwrap().len()).collect::<Vec<_>>()
    };
    assert!(counts(ErrorCount::Fixed).iter().all(|n| *n == 2));
    let drawn = counts(ErrorCount::Poisson);
    let mean = drawn.iter().sum::<usize>() as f64 / 200.0;
    assert!((1.7..2.3).contains(&mean) && drawn.contains(&0) && drawn.contains(&4), "{mean}");
}

#[test]
fn rates_that_are_none_are_told_at_once() {
    let wrong = OracleOptions {
        critic: Critic { finds: 1.5, false_findings: -0.1, ..Critic::default() },
        likelihood: Some(Likelihood { mean: 0.5, spread: -1.0, per_mistake: f64::NAN }),
        ..options()
    };
    let message = NoisyOracle::create(wrong, &Secrets::default()).unwrap_err().message;
    for name in [
        "critic.finds",
        "critic.false_findings",
        "likelihood.mean",
        "likelihood.spread",
        "likelihood.per_mistake",
    ] {
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn answers_about_what_can_be_done_are_right_at_the_stated_rate() {
    let right = |answers: f64, question: &str| {
        let options = OracleOptions { critic: Critic { answers, ..Critic::default() }, ..options() };
        let (texts, notes) = ask(&oracle(options), &request("answer", question, 200, 5));
        let right = notes.iter().filter(|note| note["right"] == true).count();
        (texts[0].lines().last().unwrap().to_owned(), right)
    };
    let board = "1. (board red big home)";
    let aboard = format!("{board}\n\nAfter that, can the action (debark red big home) be done?");
    assert_eq!(right(1.0, &aboard), ("Answer: yes".to_owned(), 200));
    assert_eq!(right(0.0, &aboard), ("Answer: no".to_owned(), 0));
    let full = format!("{board}\n\nAfter that, can the action (board blue big home) be done?");
    assert_eq!(right(1.0, &full).0, "Answer: no");
    assert_eq!(
        right(1.0, "1. (sail small home far)\n\nAfter that, can the action (board red big home) be done?").0,
        "Answer: no"
    );
    let goal = format!(
        "{board}\n2. (sail big home far)\n3. (debark red big far)\n\nAfter that, is the goal of the task reached?"
    );
    assert_eq!(right(1.0, &goal).0, "Answer: yes");
    let often = right(0.7, &aboard).1;
    assert!((120..160).contains(&often), "{often}");
    let refused =
        oracle(options()).complete(&TestHost::new(), &request("answer", "What is wrong?", 1, 1)).unwrap();
    assert!(matches!(refused, CompletionResult::ProviderFailure(_)));
}
