//! Single actions: the questions of translator-actions, mistakes of every form, corrections, and proposed
//! predicates.

use super::*;
use crate::action::unify;
use planforge_pddl::action_blocks;
use planforge_pddl::ast::Action;

const EXAMPLE: &str = "Write an action in PDDL from its description.

Predicates:
(open ?d - door): door d is open
Description: A door is pushed.
Action:
```pddl
(:action board :parameters (?d - door) :effect (open ?d))
```

Types: car boat - thing port
Predicates:
";

fn first(name: &str) -> String {
    format!(
        "{EXAMPLE}(at ?t - thing ?p - port): it is there\nDescription: The action \"{name}\".\nAction (it is called `{name}`):"
    )
}

fn again(name: &str, previous: &str) -> String {
    let question = first(name);
    let (begin, end) = question.rsplit_once("\nAction (").unwrap();
    format!(
        "{begin}\n\nThis was written before:\n```pddl\n{previous}\n```\nIt was found wrong:\nAction `{name}`: no.\nWrite the whole action `{name}` again, corrected.\nAction ({end}"
    )
}

fn growing(name: &str, listed: &str) -> String {
    let question = first(name).replace("(at ?t - thing ?p - port): it is there", listed);
    question.replace("\nAction (it", "\nIf you need new predicates, list them before the action under the line \"New predicates:\".\nAction (it")
}

/// Options without mistakes.
fn sound() -> Actions {
    Actions {
        errors: 0.0,
        no_action: 0.0,
        broken_text: 0.0,
        typed_argument: 0.0,
        wrong_type: 0.0,
        wrong_arity: 0.0,
        wrong_name: 0.0,
        negated_precondition: 0.0,
        synonym: 0.0,
    }
}

fn with(actions: Actions) -> NoisyOracle {
    oracle(OracleOptions { actions, repair_named: 1.0, damage: 0.0, ..options() })
}

fn one(actions: Actions, question: &str, seed: u64) -> (String, Value) {
    let (mut texts, mut notes) = ask(&with(actions), &request("action", question, 1, seed));
    (texts.remove(0), notes.remove(0))
}

/// The action of the reply, and the findings about it inside the reference, syntax first.
fn judged(reply: &str) -> (Option<Action>, Vec<String>) {
    let Some(block) = action_blocks(reply).pop() else { return (None, Vec::new()) };
    let mut domain = parse_domain(DOMAIN, SourceId(0)).value;
    let name = |a: &Action| a.name.key().to_owned();
    let parsed = parse_domain(&format!("(define (domain d)\n{}\n)", block.text), SourceId(0));
    let mut found: Vec<String> =
        parsed.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code.to_string()).collect();
    let action = parsed.value.actions.into_iter().next();
    if let Some(action) = &action {
        domain.actions.retain(|a| name(a) != name(action));
        domain.actions.push(action.clone());
        found.extend(check_domain(&domain, SourceId(0)).iter().map(|d| d.code.to_string()));
        // The reference's own.
        found.retain(|code| code != "pddl.undeclared-parent");
    }
    (action, found)
}

#[test]
fn without_mistakes_it_is_the_reference_s_action() {
    for name in ["board", "SAIL"] {
        let (text, note) = one(sound(), &first(name), 3);
        let (action, found) = judged(&text);
        assert!(found.is_empty(), "{found:?}");
        let reference = parse_domain(DOMAIN, SourceId(0)).value;
        let wanted = reference.actions.iter().find(|a| a.name.is(&name.to_lowercase())).unwrap();
        assert_eq!(planforge_pddl::print_action(&action.unwrap()), planforge_pddl::print_action(wanted));
        assert_eq!(note["mistakes"], serde_json::json!([]));
        assert!(!text.contains("New predicates"));
    }
}

#[test]
fn mistakes_of_content_come_at_the_rate_that_is_asked_for() {
    let actions = Actions { errors: 1.5, ..sound() };
    let (texts, notes) = ask(&with(actions.clone()), &request("action", &first("board"), 400, 5));
    let count: usize = notes.iter().map(|note| note["mistakes"].as_array().unwrap().len()).sum();
    assert!((540..660).contains(&count), "{count}");
    let reference = parse_domain(DOMAIN, SourceId(0)).value;
    for (text, note) in texts.iter().zip(&notes) {
        let mut domain = reference.clone();
        domain.actions[0] = judged(text).0.unwrap();
        let sound = note["mistakes"].as_array().unwrap().is_empty();
        assert_eq!(differing_terms(&domain, &reference) == 0, sound, "{text}");
    }
    let again = ask(&with(actions), &request("action", &first("board"), 400, 5)).0;
    assert_eq!(texts, again, "the same seed, the same replies");
}

#[test]
fn every_form_of_mistake_is_what_it_says() {
    type Set = fn(&mut Actions);
    let forms: [(&str, Set, &[&str]); 7] = [
        ("no-action", |a| a.no_action = 1.0, &[]),
        ("broken-text", |a| a.broken_text = 1.0, &["pddl.unclosed"]),
        ("typed-argument", |a| a.typed_argument = 1.0, &[]),
        ("wrong-type", |a| a.wrong_type = 1.0, &["pddl.undefined-type"]),
        ("wrong-arity", |a| a.wrong_arity = 1.0, &["pddl.arity"]),
        ("wrong-name", |a| a.wrong_name = 1.0, &[]),
        ("negated-precondition", |a| a.negated_precondition = 1.0, &["pddl.undeclared-requirement"]),
    ];
    for (name, set, codes) in forms {
        let mut actions = sound();
        set(&mut actions);
        for seed in 0..10 {
            let (text, note) = one(actions.clone(), &first("board"), seed);
            assert_eq!(note["mistakes"], serde_json::json!([name]));
            let (action, found) = judged(&text);
            assert_eq!(action.is_none(), name == "no-action", "{name}\n{text}");
            assert!(codes.iter().all(|code| found.iter().any(|f| f == code)), "{name}: {found:?}\n{text}");
            match name {
                "typed-argument" => assert!(!found.is_empty(), "{text}"),
                "wrong-name" => assert_eq!(action.unwrap().name.as_str(), "do-board"),
                _ => {}
            }
            // A correction that repairs everything.
            let previous = action_blocks(&text).pop().map_or_else(|| text.clone(), |b| b.text);
            let (corrected, note) = one(actions.clone(), &again("board", &previous), seed);
            assert!(judged(&corrected).1.is_empty(), "{name}: {:?}\n{corrected}", judged(&corrected).1);
            assert_eq!(corrected, one(sound(), &first("board"), seed).0, "{name}");
            assert_eq!(note["repaired"].as_array().unwrap().len(), 1, "{name}: {note}");
        }
    }
}

#[test]
fn what_is_not_repaired_stays() {
    let none = |previous: &str| {
        let options = OracleOptions { actions: sound(), repair_named: 0.0, damage: 0.0, ..options() };
        let (texts, notes) = ask(&oracle(options), &request("action", &again("board", previous), 1, 1));
        (action_blocks(&texts[0]).pop().map(|b| b.text), notes[0].clone())
    };
    let faulty = "(:action embark :parameters (?x - car ?y - ship ?z - port)\n :precondition (and (at ?x) (at ?y ?z) (not (aboard ?x ?y))) :effect (and (aboard ?x ?y) (not (at ?x ?z)) (not (free ?y ?z)))";
    let (text, note) = none(faulty);
    let text = text.unwrap();
    for kept in ["embark", "?y - ship", "(at ?x)", "(not (aboard ?x ?y))"] {
        assert!(text.contains(kept), "{kept}\n{text}");
    }
    assert_eq!(text.matches('(').count(), text.matches(')').count() + 1, "it stays open");
    // Name, parameters, parenthesis; an argument that is missing, two preconditions too many or too few.
    assert!(note["mistakes_left"].as_u64().unwrap() >= 5, "{note}");
    assert_eq!(note["repaired"], serde_json::json!([]));
    assert_eq!(none("Sorry, I cannot.").0, None);
    let typed = one(Actions { typed_argument: 1.0, ..sound() }, &first("board"), 1).0;
    let typed = action_blocks(&typed).pop().unwrap().text;
    assert_eq!(none(&typed).0, Some(typed), "a mistake of syntax stays the one it is");
    let damaging = OracleOptions { actions: sound(), damage: 1.0, ..options() };
    let good = one(sound(), &first("board"), 1).0;
    let block = action_blocks(&good).pop().unwrap().text;
    let (texts, notes) = ask(&oracle(damaging), &request("action", &again("board", &block), 1, 1));
    assert_ne!(texts[0], good);
    assert_eq!(notes[0]["damaged"].as_array().unwrap().len(), 1);
}

#[test]
fn predicates_that_are_not_listed_are_proposed() {
    let (text, _) = one(sound(), &growing("board", "(none yet)"), 1);
    let lines: Vec<&str> = text.lines().filter(|l| l.contains("as in the reference")).collect();
    let heads: Vec<&str> = lines.iter().map(|l| l.split(' ').next().unwrap()).collect();
    assert_eq!(heads, ["(at", "(free", "(aboard"]);
    assert!(text.find("New predicates:").unwrap() < text.find("(:action").unwrap());
    let listed =
        "(at ?t - thing ?p - port): it is there\n(AT-SEA ?b - boat): no\n(Free ?b - boat ?p - port): it is";
    let (text, _) = one(sound(), &growing("board", listed), 1);
    assert_eq!(text.matches("as in the reference").count(), 1, "{text}");
    let (text, _) = one(sound(), &growing("sail", "(at ?t ?p)\n(route ?p ?q)"), 1);
    assert!(!text.contains("New predicates"), "{text}");
}

#[test]
fn a_predicate_that_is_made_up_again_is_recognised_later() {
    let twice = Actions { synonym: 1.0, ..sound() };
    let (text, note) = one(twice, &growing("sail", "(at ?t - thing ?p - port)\n(route ?p ?q - port)"), 1);
    assert!(
        text.contains("(at-again ?t - thing ?p - port): ") && text.contains("(at-again ?b ?p)"),
        "{text}"
    );
    assert!(!text.contains("(at ?b"));
    assert_eq!(note["made_up_again"], serde_json::json!(["at", "route"]));
    let question =
        "(at ?t - thing ?p - port): x\n(at-again ?t - thing ?p - port): y\n(route ?p ?q - port): z";
    let unified = |p: f64| {
        let options = OracleOptions { repair_named: p, ..options() };
        let direct = unify(&options, question, &mut Random::new(1));
        let asked = ask(&oracle(options), &request("predicates", question, 1, 1)).0.remove(0);
        assert_eq!(asked, direct.text);
        asked
    };
    assert!(unified(1.0).ends_with("\n\nat-again -> at"));
    assert!(unified(0.0).ends_with("\n\nnone"));
}

#[test]
fn a_question_that_names_no_action_is_refused() {
    let refused =
        oracle(options()).complete(&TestHost::new(), &request("action", "Write `fly`.", 1, 1)).unwrap();
    let CompletionResult::ProviderFailure(failure) = refused else { panic!("{refused:?}") };
    assert_eq!(failure.class, ProviderFailureClass::BadRequest);
}

#[test]
fn mistakes_make_an_action_less_likely() {
    let likelihood = Likelihood { mean: -0.1, spread: 0.0, per_mistake: 5.0 };
    let sum = |actions: Actions| {
        let options = OracleOptions { actions, likelihood: Some(likelihood.clone()), ..options() };
        let mut request = request("action", &first("board"), 1, 2);
        request.sampling.logprobs = Some(true);
        let CompletionResult::Replies(replies) =
            oracle(options).complete(&TestHost::new(), &request).unwrap()
        else {
            panic!("no replies")
        };
        replies.replies[0].log_likelihood().unwrap()
    };
    assert!(sum(sound()) > sum(Actions { wrong_name: 1.0, ..sound() }) + 4.0);
}

#[test]
fn odds_that_make_no_sense_are_refused_together() {
    let actions = Actions { errors: -1.0, wrong_arity: 0.7, wrong_type: 0.7, synonym: 2.0, ..sound() };
    let failure =
        NoisyOracle::create(OracleOptions { actions, ..options() }, &Secrets::default()).unwrap_err();
    for word in ["actions.synonym", "add up to", "actions.errors"] {
        assert!(failure.message.contains(word), "{word}: {}", failure.message);
    }
    let nothing = Kinds {
        omission: 0.0,
        addition: 0.0,
        swapped_arguments: 0.0,
        replaced_argument: 0.0,
        ..Kinds::default()
    };
    let options =
        OracleOptions { errors: 0, kinds: nothing, actions: Actions { errors: 1.0, ..sound() }, ..options() };
    assert!(NoisyOracle::create(options, &Secrets::default()).is_err(), "mistakes of no kind");
}
