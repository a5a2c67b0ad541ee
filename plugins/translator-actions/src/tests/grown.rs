//! Mode `grown`: predicates that replies propose.

use super::*;

const FIRST: &str = "New predicates:
1. (at ?r - room): one is in room r
- `(Spare ?x - lamp)`: nobody wants it

```pddl
(:action go :parameters (?a ?b - room) :precondition (at ?a) :effect (and (at ?b) (not (at ?a))))
```";
const SECOND: &str =
    "(:action light :parameters (?l - lamp ?r - room) :precondition (inside ?r) :effect (glows ?l))

New predicates:
(inside ?x - room): one is inside
(glows ?l - lamp): it gives light";

fn grown(passes: u32) -> ActionTranslatorOptions {
    ActionTranslatorOptions { mode: Mode::Grown, passes: Some(passes), ..Default::default() }
}

fn grown_from(first: &str, unify: &str) -> CandidatePatch {
    asked(grown(1), &request(1), &[first, SECOND, unify]).0.remove(0)
}

fn predicates(patch: &CandidatePatch) -> Vec<String> {
    let domain =
        planforge_pddl::parse_domain(patch.domain.as_deref().unwrap(), planforge_diagnostics::SourceId(0));
    domain.value.predicates.iter().map(|p| p.name.to_string()).collect()
}

#[test]
fn predicates_grow_and_are_unified() {
    let mut request = request(1);
    request.task.domain_text = "Somebody goes round and lights lamps.".into();
    let (patches, questions) = asked(grown(1), &request, &[FIRST, SECOND, "1. `inside` -> `at`"]);
    insta::assert_snapshot!("grown", questions[1]);
    insta::assert_snapshot!("unify", questions[2]);
    let domain = patches[0].domain.as_deref().unwrap();
    insta::assert_snapshot!("grown_domain", domain);
    assert_eq!(read(domain).predicates.len(), 2);
    assert!(patches[0].texts.actions["light"].contains("(at ?r)"), "the texts follow");
    assert!(patches[0].texts.actions["go"].contains("(at ?a)"));
    assert_eq!(
        patches[0].texts.named["predicates"],
        "(at ?r - room): one is in room r\n(glows ?l - lamp): it gives light"
    );
    assert_eq!(codes(&patches[0]), ["actions.unused-predicate"], "{:?}", patches[0].diagnostics);
}

#[test]
fn nothing_of_the_reference_s_predicates_is_asked_or_kept() {
    let mut request = request(1);
    let header = "(define (domain lamps) (:requirements :typing) (:types lamp room) (:constants hall - room)
        (:predicates (hidden ?r - room)) (:functions (secret)) (:derived (shady ?r - room) (hidden ?r)))";
    in_header(header, &mut request);
    let (patches, questions) = asked(grown(2), &request, &[FIRST, SECOND, FIRST, SECOND, "none"]);
    for question in questions.iter().chain([patches[0].domain.as_ref().unwrap()]) {
        for name in ["hidden", "secret", "shady", "gives light (lit", "(here"] {
            assert!(!question.contains(name), "{name}\n{question}");
        }
    }
    assert!(questions[0].contains("(:types lamp room)\n(:constants hall - room)\n"), "{}", questions[0]);
    request.task.materials.actions.predicates = None;
    asked(grown(1), &request, &[FIRST, SECOND, "none"]);
}

#[test]
fn in_the_second_pass_each_action_sees_the_predicates_of_all() {
    let default = ActionTranslatorOptions { mode: Mode::Grown, ..Default::default() };
    let (patches, questions) = asked(default, &request(1), &[FIRST, SECOND, FIRST, SECOND, "none"]);
    assert!(questions[0].contains("(none yet)\nDescription: One goes"), "{}", questions[0]);
    assert!(
        !questions[0].contains("(glows ?l - lamp)")
            && questions[2].contains("(glows ?l - lamp): it gives light")
    );
    let examples = |q: &str| q.split("(:types").next().unwrap().to_owned();
    assert_ne!(examples(&questions[0]), examples(&questions[2]), "each pass draws its own examples");
    assert_eq!(predicates(&patches[0]), ["at", "inside", "glows"]);
    assert!(!questions[2].contains("written already"));
    let earlier = ActionTranslatorOptions { earlier: true, ..grown(2) };
    let (_, questions) = asked(earlier, &request(1), &[FIRST, SECOND, FIRST, SECOND, "none"]);
    assert!(questions[2].contains("written already") && questions[2].contains("(:action light"));
    assert!(!questions[2].contains("(:action go"), "never the one that is asked for");
}

#[test]
fn what_cannot_be_a_predicate_is_left_out_and_told() {
    for (line, why) in [
        ("(at room): one is there", ""),
        ("(at ?r - house): one is there", "house"),
        ("(not ?r): no", ""),
        ("(at ?r - room", "not closed"),
        ("(I think that it needs nothing)", ""),
    ] {
        let first = FIRST.replace("1. (at ?r - room): one is in room r", line);
        let patch = grown_from(&first, "none");
        assert!(codes(&patch).contains(&"actions.bad-predicate"), "{line}: {:?}", patch.diagnostics);
        assert!(!predicates(&patch).iter().any(|p| p == "at" || p == "not"), "{line}");
        let told = patch.diagnostics.iter().find(|d| d.code == "actions.bad-predicate").unwrap();
        assert!(told.message.contains(why) && told.line == 2, "{told:?}");
    }
}

#[test]
fn a_name_is_declared_once() {
    for (line, refused) in [
        ("(AT ?place - room): the same", false),
        ("(at ?r - lamp): other types", true),
        ("(at ?r ?q - room): more arguments", true),
        ("(at): fewer", true),
    ] {
        let patch = grown_from(&FIRST.replace("- `(Spare ?x - lamp)`: nobody wants it", line), "none");
        assert_eq!(codes(&patch), if refused { vec!["actions.bad-predicate"] } else { vec![] }, "{line}");
        assert!(patch.domain.as_deref().unwrap().contains("(at ?r - room)"), "the first one counts");
    }
}

#[test]
fn a_reply_proposes_so_many_and_no_more() {
    let many: String = (0..40).map(|i| format!("(p{i} ?r - room): it is {i}\n")).collect();
    let uses: String = (0..40).map(|i| format!("(p{i} ?a)")).collect();
    let first = format!("{many}(:action go :parameters (?a - room) :effect (and {uses}))");
    let patch = grown_from(&first, "none");
    assert_eq!(predicates(&patch).len(), 34);
    assert_eq!(codes(&patch).len(), 8);
    let long =
        format!("(at ?r - room): {}\n(:action go :parameters (?a - room) :effect (at ?a))", "x".repeat(5000));
    assert!(grown_from(&long, "none").texts.named["predicates"].len() < 500);
}

#[test]
fn lines_of_actions_and_declarations_of_a_whole_domain() {
    let first = "(define (domain x)\n(:predicates\n(at ?r - room)\n)\n(:action go :parameters (?a ?b - room)\n:precondition (and\n(at ?a)\n)\n:effect (and\n(at ?b)\n(not (at ?a)))))";
    let patch = grown_from(first, "none");
    assert_eq!(predicates(&patch), ["at", "inside", "glows"]);
    assert_eq!(codes(&patch), ["actions.bad-predicate"], "the line of the definition alone");
}

#[test]
fn pairs_that_cannot_be_one() {
    let unified = |lines: &str| {
        let first = FIRST
            .replace("(Spare ?x - lamp)", "(near ?r - room)")
            .replace("(not (at ?a))))", "(not (at ?a)) (near ?a)))");
        let patch = grown_from(&first, lines);
        let refused = codes(&patch).iter().filter(|c| **c == "actions.not-unified").count();
        read(patch.domain.as_deref().unwrap());
        (predicates(&patch), refused)
    };
    let names = |list: &[&str]| list.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    assert_eq!(unified("none"), (names(&["at", "near", "inside", "glows"]), 0));
    assert_eq!(
        unified("Some say the same:\n- (inside ?x - room) → (at ?r - room), as I see it"),
        (names(&["at", "near", "glows"]), 0)
    );
    assert_eq!(unified("inside -> near\nnear -> at"), (names(&["at", "glows"]), 0), "chains");
    assert_eq!(
        unified("inside -> at\nat -> near\nnear -> inside"),
        (names(&["near", "glows"]), 1),
        "circles"
    );
    assert_eq!(unified("at -> at"), (names(&["at", "near", "inside", "glows"]), 1));
    assert_eq!(unified("at -> near\nat -> inside"), (names(&["near", "inside", "glows"]), 1), "twice");
    assert_eq!(unified("glows -> at"), (names(&["at", "near", "inside", "glows"]), 1), "other types");
    assert_eq!(unified("lost -> at\nat ->"), (names(&["at", "near", "inside", "glows"]), 2), "unknown names");
}

#[test]
fn a_wider_predicate_may_stand_for_a_narrower_one() {
    let mut request = request(1);
    in_header(
        "(define (domain lamps) (:requirements :typing) (:types lamp - thing room thing))",
        &mut request,
    );
    let first = "(on ?x - thing): it is on\n(:action go :parameters (?a - room ?x - lamp) :effect (on ?x))";
    let second = "(glows ?l - lamp): it glows\n(:action light :parameters (?l - lamp) :precondition (or (glows ?l) (forall (?k - lamp) (imply (glows ?k) (not (glows ?l))))) :effect (when (glows ?l) (not (glows ?l))))";
    let with = |unify: &str| asked(grown(1), &request, &[first, second, unify]).0.remove(0);
    let wide = with("glows -> on");
    assert_eq!(predicates(&wide), ["on"]);
    assert!(!wide.domain.as_deref().unwrap().contains("(glows"), "everywhere in the action");
    assert_eq!(codes(&with("on -> glows")), ["actions.not-unified"]);
}

#[test]
fn an_action_that_cannot_be_read_keeps_its_words() {
    let broken = "(at ?r - room): there\n(:action go :parameters (?a - room) :effect (and (at ?a)";
    let patch = grown_from(broken, "at -> inside");
    assert!(patch.texts.actions["go"].contains("(at ?a)"));
    assert!(!predicates(&patch).contains(&"at".to_owned()));
}

#[test]
fn corrections_go_on_with_the_predicates_that_there_are() {
    let first = asked(grown(1), &request(1), &[FIRST, SECOND, "inside -> at"]).0.remove(0);
    let mut again = request(1);
    again.candidate.texts = first.texts.clone();
    again.feedback = vec!["Action `light`: the lamp may be elsewhere.".into()];
    let fixed = "(in ?l - lamp ?r - room): it is there\n(:action light :parameters (?l - lamp ?r - room) :precondition (and (at ?r) (in ?l ?r)) :effect (glows ?l))";
    let (patches, questions) = asked(grown(2), &again, &[fixed, "none"]);
    assert!(questions[0].contains("(at ?r - room): one is in room r\n(glows ?l - lamp): it gives light\n"));
    assert_eq!(predicates(&patches[0]), ["at", "glows", "in"]);
}
