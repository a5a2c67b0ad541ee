//! Edits are applied or refused, and the domain stays valid.

use super::*;
use crate::calls;
use crate::prompt::{domain_as_calls, emptied_domain};
use proptest::prelude::*;

const TEMPLATE: &str = "(define (domain house)
  (:requirements :strips :typing)
  (:types room thing)
  (:predicates)
  (:action move :parameters (?t - thing ?from ?to - room) :precondition (and) :effect (and))
  (:action lock :parameters (?r - room) :precondition (and) :effect (and)))";

const GOOD: &str = r#"
add_or_update_predicates(["(in ?t - thing ?r - room)", "(locked ?r - room) - nobody gets in"])
modify_action("move", ["(in ?t ?from)", "(not (locked ?to))"], ["(in ?t ?to)", "(not (in ?t ?from))"])
modify_action("lock", [], ["(locked ?r)"])
"#;

fn domain(text: &str) -> Domain {
    let printed = print_domain(&parse_domain(text, SourceId(0)).value);
    parse_domain(&printed, SourceId(0)).value
}

fn edit_with(domain_text: &str, code: &str, fixes: FixPolicy, objects: Option<&BTreeSet<String>>) -> Edited {
    let reply = format!("```python\n{code}\n```");
    let file = SourceFile::new("reply", reply.as_str());
    let before = domain(domain_text);
    let base = EditTarget { domain: &before, problem: None, objects, fixes, reply: &file };
    let edited = apply(&base, calls::read_calls(&reply, calls::Functions::Domain));
    let after = parse_domain(&edited.text, SourceId(0));
    assert!(!after.has_errors(), "{}\n{:?}", edited.text, after.diagnostics);
    assert_eq!(new_faults(&before, &after.value), [], "{}", edited.text);
    assert_eq!(print_domain(&after.value), edited.text, "what is printed is stable");
    assert_eq!(edited.edits.refused > 0, edited.diagnostics.iter().any(Diagnostic::is_error));
    edited
}

fn edit(domain_text: &str, code: &str) -> Edited {
    edit_with(domain_text, code, FixPolicy::None, None)
}

fn told(edited: &Edited) -> Vec<String> {
    edited.diagnostics.iter().map(|d| format!("{}: {}", d.code, d.message)).collect()
}

#[test]
fn good_edits_fill_the_template_in() {
    let edited = edit(TEMPLATE, GOOD);
    assert_eq!(edited.edits, Edits { applied: 4, refused: 0 }, "{:?}", told(&edited));
    insta::assert_snapshot!(edited.text);
}

#[test]
fn the_order_of_the_calls_does_not_matter() {
    let turned: Vec<&str> = GOOD.trim().lines().rev().collect();
    assert_eq!(edit(TEMPLATE, &turned.join("\n")).text, edit(TEMPLATE, GOOD).text);
}

#[test]
fn an_action_can_be_modified_again_and_parts_left_out_stay() {
    let first = edit(TEMPLATE, GOOD);
    let second = edit(
        &first.text,
        "modify_action('lock', new_preconditions=['(not (locked ?r))'])\nmodify_action('LOCK', effects=[\"(locked ?r)\", \"(forall (?t - thing) (when (in ?t ?r) (not (in ?t ?r))))\"])",
    );
    assert_eq!(second.edits, Edits { applied: 2, refused: 0 }, "{:?}", told(&second));
    assert!(second.text.contains(":precondition (not (locked ?r))"), "{}", second.text);
    assert!(second.text.contains(":conditional-effects"), "what is used is required: {}", second.text);
}

#[test]
fn each_bad_edit_is_refused_for_its_reason_and_the_good_ones_are_made() {
    let cases = [
        ("modify_action('mvoe', [], ['(locked ?to)'])", "translate.edit-unknown-action", "no action `mvoe`"),
        (
            "modify_action('move (?t - thing ?to - room)', [], ['(locked ?to)'])",
            "translate.edit-signature",
            "parameters of `move` cannot be changed",
        ),
        (
            "modify_action('move', [], ['(locked ?to)'], parameters=['?a', '?b'])",
            "translate.edit-signature",
            "parameters of `move` cannot be changed",
        ),
        (
            "modify_action('move', ['(in ?t ?room)'], [])",
            "pddl.unbound-variable",
            "`move`: the variable `?room`",
        ),
        (
            "modify_action('move', ['(in ?t from)'], [])",
            "pddl.undefined-constant",
            "`move`: no object or constant `from`",
        ),
        ("modify_action('move', ['(inn ?t ?from)'], [])", "pddl.undefined-predicate", "`inn`"),
        ("modify_action('move', ['(in ?t)'], [])", "pddl.arity", "2 argument(s), not 1"),
        ("modify_action('move', ['(in ?from ?t)'], [])", "pddl.type-mismatch", "wants the type"),
        ("modify_action('move', ['in ?t ?from'], [])", "translate.edit-parentheses", "stands outside"),
        ("modify_action('move', ['(in ?t ?from'], [])", "translate.edit-parentheses", "never closed"),
        ("modify_action('move', ['(in ?t ?from))'], [])", "translate.edit-parentheses", "closes nothing"),
        (
            "modify_action('move', [':precondition (in ?t ?from)'], [])",
            "translate.edit-parentheses",
            "stands outside",
        ),
        (
            "modify_action('move', ['(:action evil)'], [])",
            "translate.edit-form",
            "`:action` does not belong here",
        ),
        ("modify_action('move', [], ['(or (locked ?to) (locked ?from))'])", "pddl.", "`move`"),
        ("add_or_update_predicates(['(big ?t - elephant)'])", "pddl.undefined-type", "elephant"),
        ("add_or_update_predicates(['(big t)'])", "pddl.", "`predicates`"),
        ("add_or_update_predicates(['(not ?t)'])", "pddl.reserved-name", "`not`"),
        ("add_or_update_predicates(['big thing'])", "translate.edit-parentheses", "stands outside"),
        ("add_or_update_predicates([''])", "translate.edit-form", "declares no predicate"),
    ];
    let good = edit(TEMPLATE, GOOD).text;
    for (bad, code, message) in cases {
        let edited = edit(TEMPLATE, &format!("{GOOD}\n{bad}"));
        assert_eq!(edited.edits, Edits { applied: 4, refused: 1 }, "{bad}: {:?}", told(&edited));
        assert_eq!(edited.text, good, "{bad}");
        let first = &edited.diagnostics[0];
        assert!(
            first.code.starts_with(code) && first.message.contains(message),
            "{bad}: {:?}",
            told(&edited)
        );
        let at = first.primary().unwrap().span.start as usize;
        assert!(at >= "```python\n".len() + GOOD.len(), "{bad}: the place is that of the bad call");
    }
}

#[test]
fn a_repeated_mistake_is_reported_once_with_the_parameters() {
    let code =
        format!("{GOOD}\nmodify_action('move', ['(in ?from ?t)'], ['(in ?from ?t)', '(in ?from ?t)'])");
    let edited = edit(TEMPLATE, &code);
    assert_eq!(edited.diagnostics.len(), 2, "one for each argument: {:?}", told(&edited));
    assert!(edited.diagnostics[0].help.iter().any(|h| h.contains("(?t - thing ?from ?to - room)")));
}

#[test]
fn the_parameters_may_be_named_as_they_are() {
    for call in [
        "modify_action('move(?t, ?from, ?to)', [], ['(locked ?to)'])",
        "modify_action('(move ?t - thing ?from - room ?to - room)', [], ['(locked ?to)'])",
        "modify_action('move', [], ['(locked ?to)'], parameters=['?t - thing', '?from ?to - room'])",
    ] {
        let edited = edit(TEMPLATE, &format!("add_or_update_predicates(['(locked ?r - room)'])\n{call}"));
        assert_eq!(edited.edits, Edits { applied: 2, refused: 0 }, "{call}: {:?}", told(&edited));
    }
}

#[test]
fn names_that_stand_for_nothing_are_refused_where_the_objects_are_known() {
    let code = "add_or_update_predicates(['(locked ?r - room)'])\nmodify_action('lock', ['(locked cellar)'], ['(locked ?r)'])";
    let objects = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<BTreeSet<_>>();
    let refused = edit_with(TEMPLATE, code, FixPolicy::None, Some(&objects(&["attic"])));
    assert_eq!(told(&refused)[0].split(':').next(), Some("translate.edit-unknown-name"));
    assert_eq!(refused.edits, Edits { applied: 1, refused: 1 });
    assert_eq!(edit_with(TEMPLATE, code, FixPolicy::None, Some(&objects(&["cellar"]))).edits.refused, 0);
    assert_eq!(edit(TEMPLATE, code).edits.refused, 0, "nothing is known of the objects");
}

#[test]
fn a_predicate_changes_only_together_with_the_actions_that_use_it() {
    let full = edit(TEMPLATE, GOOD).text;
    let alone = edit(&full, "add_or_update_predicates(['(in ?t - thing ?r - room ?n - thing)'])");
    assert_eq!((alone.edits, &alone.text), (Edits { applied: 0, refused: 1 }, &full));
    assert_eq!(alone.diagnostics[0].code, "translate.edit-breaks-domain");
    assert!(told(&alone)[0].contains("`in` keeps its parameters"), "{:?}", told(&alone));

    let together = edit(
        &full,
        "add_or_update_predicates(['(in ?r - room ?t - thing)'])\nmodify_action('move', ['(in ?from ?t)'], ['(in ?to ?t)', '(not (in ?from ?t))'])",
    );
    assert_eq!(together.edits, Edits { applied: 2, refused: 0 }, "{:?}", told(&together));

    // The edit of `lock` is right by the declaration that stays.
    let mixed = edit(
        &full,
        "add_or_update_predicates(['(in ?t - thing)', '(dark ?r - room)'])\nmodify_action('lock', ['(dark ?r)', '(exists (?t - thing) (in ?t ?r))'], ['(locked ?r)'])",
    );
    assert_eq!(mixed.edits, Edits { applied: 2, refused: 1 }, "{:?}", told(&mixed));
}

#[test]
fn a_fault_that_was_there_is_laid_to_no_edit() {
    let faulty = TEMPLATE.replace(":effect (and)))", ":effect (ghost ?r)))");
    let edited = edit(
        &faulty,
        "add_or_update_predicates(['(in ?t - thing ?r - room)'])\nmodify_action('move', ['(in ?t ?from)'], ['(in ?t ?to)'])",
    );
    assert_eq!(edited.edits, Edits { applied: 2, refused: 0 }, "{:?}", told(&edited));
    assert!(edited.text.contains("(ghost ?r)"));
}

#[test]
fn parentheses_are_repaired_only_with_safe_fixes() {
    let code = "add_or_update_predicates(['(locked ?r - room'])\nmodify_action('lock', ['(and (not (locked ?r))'], ['(locked ?r))'])";
    assert_eq!(edit(TEMPLATE, code).edits, Edits { applied: 0, refused: 2 });
    let fixed = edit_with(TEMPLATE, code, FixPolicy::Safe, None);
    assert_eq!(fixed.edits, Edits { applied: 2, refused: 0 }, "{:?}", told(&fixed));
    let titles: Vec<&str> = fixed.fixes.iter().map(|f| f.title.as_str()).collect();
    assert_eq!(
        titles,
        ["add 1 closing parenthesis", "add 1 closing parenthesis", "take away 1 surplus parenthesis"]
    );
    assert_eq!((fixed.fixes[0].line, fixed.fixes[0].code.as_str()), (2, "translate.edit-parentheses"));
}

#[test]
fn a_domain_written_as_calls_makes_itself_from_its_template() {
    let full = domain(&edit(TEMPLATE, GOOD).text);
    let template = print_domain(&emptied_domain(&full));
    let again = edit(&template, &domain_as_calls(&full));
    assert_eq!(again.edits.refused, 0, "{:?}", told(&again));
    assert_eq!(again.text, print_domain(&full));
    insta::assert_snapshot!(domain_as_calls(&full));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// For random strings in a reply, the resulting domain is readable and has no new errors.
    #[test]
    fn no_reply_breaks_the_domain(
        predicates in prop::collection::vec(part(), 0..4),
        pre in prop::collection::vec(part(), 0..4),
        eff in prop::collection::vec(part(), 0..4),
        fix in any::<bool>(),
    ) {
        let json = |items: &[String]| serde_json::to_string(items).unwrap();
        let code = format!(
            "add_or_update_predicates({})\nmodify_action('move', {}, {})\nadd_or_update_predicates(['(in ?t - thing)'])",
            json(&predicates), json(&pre), json(&eff)
        );
        let fixes = if fix { FixPolicy::Safe } else { FixPolicy::None };
        let full = edit(TEMPLATE, GOOD).text;
        let edited = edit_with(&full, &code, fixes, None);
        prop_assert!(edited.edits.applied + edited.edits.refused >= 1);
    }
}

fn part() -> impl Strategy<Value = String> {
    let words = [
        "(",
        ")",
        "(in ",
        "?t",
        "?from",
        "?to",
        " ",
        "- ",
        "thing",
        "(and ",
        "(not ",
        "(locked ?to)",
        "(:action ",
        ":effect",
        ";",
        "\n",
        "forall",
        "(in ?t ?from)",
        "(x ?a - room)",
        "=",
        "1",
        "é",
        "\"",
        "#",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..8).prop_map(|parts| parts.concat())
}

/// Every domain under a folder.
fn domains_under(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            domains_under(&path, found);
        } else if path.file_name().is_some_and(|n| n == "domain.pddl") {
            found.push(path);
        }
    }
}

/// True if the calls for a domain restore it from its template. Domains with errors are skipped.
fn makes_itself(path: &std::path::Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap();
    let full = domain(&text);
    if parse_domain(&text, SourceId(0)).has_errors() || !faults(&full).is_empty() || full.actions.is_empty() {
        return false;
    }
    let reply = format!("```python\n{}\n```", domain_as_calls(&full));
    let file = SourceFile::new("reply", reply.as_str());
    let template = domain(&print_domain(&emptied_domain(&full)));
    let base =
        EditTarget { domain: &template, problem: None, objects: None, fixes: FixPolicy::None, reply: &file };
    let edited = apply(&base, calls::read_calls(&reply, calls::Functions::Domain));
    assert_eq!(edited.edits.refused, 0, "{}: {:?}", path.display(), told(&edited));
    let again = parse_domain(&edited.text, SourceId(0)).value;
    let differences: Vec<String> = planforge_pddl::diff_domains(&again, &full)
        .iter()
        .filter(|d| !d.place.contains("requirement"))
        .map(ToString::to_string)
        .collect();
    assert!(differences.is_empty(), "{}: {differences:?}", path.display());
    true
}

#[test]
fn every_domain_makes_itself_from_its_template() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut own = Vec::new();
    domains_under(&root.join("examples/suites"), &mut own);
    let made = own.iter().filter(|path| makes_itself(path)).count();
    assert!(made > 0 && made == own.len(), "{made} of {}", own.len());
    let mut shared = Vec::new();
    domains_under(&root.join("../shared/suites"), &mut shared);
    match shared.is_empty() {
        true => eprintln!("skipped: ../shared/suites is not there"),
        false => assert!(shared.iter().filter(|path| makes_itself(path)).count() > 0),
    }
}

const ROOMS: &str = "(define (problem rooms) (:domain house) (:objects hall cellar - room lamp - thing)
  (:init (in lamp hall) (locked cellar)) (:goal (and (in lamp cellar))))";

/// The edits of a house whose problem may be edited too, and the problem after them.
fn edit_rooms(code: &str) -> (Edited, String) {
    let reply = format!("```python\n{code}\n```");
    let file = SourceFile::new("reply", reply.as_str());
    let before = domain(&edit(TEMPLATE, GOOD).text);
    let problem = planforge_pddl::parse_problem(ROOMS, SourceId(0)).value;
    let objects = None;
    let base = EditTarget {
        domain: &before,
        problem: Some(&problem),
        objects,
        fixes: FixPolicy::None,
        reply: &file,
    };
    let edited = apply(&base, calls::read_calls(&reply, calls::Functions::DomainAndProblem));
    let text = edited.problem.clone().unwrap_or_default();
    (edited, text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn the_problem_is_edited_in_every_part() {
    let (edited, text) = edit_rooms(
        r#"
edit_goal(add=["(in lamp hall)", "(not (locked hall))"], remove=["(in lamp cellar)"])
edit_objects(["attic - room", "lamp box - thing"], ["cellar"])
edit_initial_state(["(in box attic)", "(dark attic)"], ["(LOCKED cellar)", "(in lamp hall)"])
add_or_update_predicates(["(dark ?r - room)"])
edit_initial_state(add="(in lamp attic)")
"#,
    );
    assert_eq!(edited.edits, Edits { applied: 13, refused: 0 }, "{:?}", told(&edited));
    for part in ["(:init (in box attic) (dark attic) (in lamp attic))", "(in lamp hall) (not (locked hall))"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    insta::assert_snapshot!(edited.problem.unwrap());
}

#[test]
fn edits_that_break_the_problem_are_refused_one_by_one() {
    let (edited, text) = edit_rooms(
        r#"
edit_goal([], ["(in lamp cellar)"])
edit_objects(["lamp - room"], ["hall"])
edit_initial_state(["(in lamp attic)", "(on lamp)", "in lamp hall", "(locked hall)"], ["(locked hall)"])
"#,
    );
    assert_eq!(edited.edits, Edits { applied: 1, refused: 7 }, "{:#?}", told(&edited));
    assert!(text.contains("(locked hall)") && text.contains("(in lamp cellar)"), "{text}");
    insta::assert_snapshot!(told(&edited).join("\n"));
    // Nothing was changed.
    let (edited, _) = edit_rooms("edit_initial_state([\"(in lamp hall)\"])");
    assert_eq!((edited.edits.applied, edited.problem), (1, None));
}

#[test]
fn a_value_of_the_initial_state_is_replaced() {
    let fuel = "(define (domain d) (:requirements :numeric-fluents) (:functions (fuel ?c)) (:action go :parameters (?c) :precondition \
(> (fuel ?c) 0) :effect (decrease (fuel ?c) 1)))";
    let before = domain(fuel);
    let problem =
        "(define (problem p) (:domain d) (:objects car) (:init (= (fuel car) 1)) (:goal (= (fuel car) 0)))";
    let problem = planforge_pddl::parse_problem(problem, SourceId(0)).value;
    let reply = "edit_initial_state([\"(= (fuel car) 3)\"])";
    let file = SourceFile::new("reply", reply);
    let base = EditTarget {
        domain: &before,
        problem: Some(&problem),
        objects: None,
        fixes: FixPolicy::None,
        reply: &file,
    };
    let edited = apply(&base, calls::read_calls(reply, calls::Functions::DomainAndProblem));
    assert_eq!(edited.edits, Edits { applied: 1, refused: 0 }, "{:?}", told(&edited));
    let text = edited.problem.unwrap();
    assert!(text.contains("(= (fuel car) 3)") && !text.contains("(= (fuel car) 1)"), "{text}");
}
