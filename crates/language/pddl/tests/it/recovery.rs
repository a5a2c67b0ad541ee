//! Faulty texts: the tree that is read, the diagnostics, and the fixed text.

use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, apply_fixes, render};
use planforge_pddl::extract::BlockKind;
use planforge_pddl::{
    FixedText, StripSpans, TaskSources, check_domain, check_problem, fix_all, parse_domain, parse_problem,
    print_domain, print_problem,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const SOURCE: SourceId = SourceId(0);

const DOMAIN: &str = "(define (domain lamps)
  (:requirements :strips :typing :negative-preconditions)
  (:types lamp switch - object)
  (:predicates (lit ?l - lamp) (wired ?s - switch ?l - lamp) (dark))
  (:action press ; once
    :parameters (?s - switch ?l - lamp)
    :precondition (and (wired ?s ?l) (not (lit ?l)))
    :effect (and (lit ?l) (not (dark))))
  (:action release
    :parameters (?s - switch ?l - lamp)
    :precondition (and (wired ?s ?l) (lit ?l))
    :effect (and (not (lit ?l)) (dark))))
";

const PROBLEM: &str = "(define (problem two)
  (:domain lamps)
  (:objects a b - lamp s t - switch)
  (:init (wired s a)
         (wired t b)
         (dark))
  (:goal (and (lit a) (lit b))))
";

/// The one place where `DOMAIN` or `PROBLEM` is damaged.
fn damage(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replace(from, to)
}

fn errors(found: &[Diagnostic]) -> Vec<(&str, u32)> {
    let errors = found.iter().filter(|d| d.is_error());
    errors.map(|d| (d.code.as_ref(), d.primary().unwrap().span.start)).collect()
}

#[test]
fn the_texts_themselves_are_faultless() {
    let domain = parse_domain(DOMAIN, SOURCE);
    assert_eq!(domain.diagnostics, []);
    assert_eq!(check_domain(&domain.value, SOURCE), []);
    assert_eq!(parse_problem(PROBLEM, SOURCE).diagnostics, []);
}

/// Each damage of a parenthesis is found once, at the right place, and repaired; the tree is as before.
#[test]
fn missing_and_extra_parentheses_of_a_domain_are_repaired() {
    let whole = parse_domain(DOMAIN, SOURCE).value;
    let cases = [
        ("(not (dark))))", "(not (dark)))", "pddl.lost-parenthesis", ")\n  (:action release"),
        ("(not (lit ?l)))\n", "(not (lit ?l))\n", "pddl.lost-parenthesis", ")\n    :effect (and (lit ?l)"),
        ("?l - lamp) (dark))", "?l - lamp) (dark)", "pddl.lost-parenthesis", ")\n  (:action press"),
        ("?l)) (dark))))\n", "?l)) (dark))\n", "pddl.unclosed", ")\n"),
        ("(not (dark))))", "(not (dark)))))", "pddl.stray-parenthesis", ")\n  (:action release"),
        ("(lit ?l))\n", "(lit ?l)))\n", "pddl.stray-parenthesis", ")\n    :effect (and (not"),
        ("?l)) (dark))))\n", "?l)) (dark)))))\n", "pddl.stray-parenthesis", ")\n"),
        ("lamps)", "lamps", "pddl.lost-parenthesis", "s\n  (:requirements"),
    ];
    for (from, to, code, place) in cases {
        let text = damage(DOMAIN, from, to);
        let parsed = parse_domain(&text, SOURCE);
        let at = text.rfind(place).unwrap() as u32;
        assert_eq!(errors(&parsed.diagnostics), [(code, at)], "{from:?} -> {to:?}");
        assert!(parsed.value.eq_ignoring_spans(&whole), "{from:?} -> {to:?}");
        let fixed = fix_all(&text, BlockKind::Domain);
        assert_eq!(fixed.fixes.len(), 1, "{from:?} -> {to:?}");
        assert_eq!(parse_domain(&fixed.text, SOURCE).diagnostics, []);
        assert!(parse_domain(&fixed.text, SOURCE).value.eq_ignoring_spans(&whole));
    }
}

#[test]
fn missing_parentheses_of_a_problem_are_repaired() {
    let whole = parse_problem(PROBLEM, SOURCE).value;
    for (from, to) in [
        ("(wired s a)\n", "(wired s a\n"),
        ("(dark))\n", "(dark)\n"),
        ("(dark))\n", "(dark\n"),
        ("t - switch)", "t - switch"),
        ("(lit b))))\n", "(lit b"),
    ] {
        let text = damage(PROBLEM, from, to);
        let parsed = parse_problem(&text, SOURCE);
        assert!(parsed.has_errors());
        assert!(
            parsed.value.eq_ignoring_spans(&whole),
            "{from:?} -> {to:?}\n{}",
            print_problem(&parsed.value)
        );
        let fixed = fix_all(&text, BlockKind::Problem).text;
        assert_eq!(parse_problem(&fixed, SOURCE).diagnostics, [], "{fixed}");
    }
}

#[test]
fn all_mistakes_are_found_at_once() {
    let text = "(define (domain many)
  (:requirements :strips :typing)
  (:types lamp)
  (:predicates (lit ?l - lamp) (never))
  (:functions (cost ?l - lamp))
  (:actoin lost :parameters ())
  (:action one
    :parameters (?l - lmap ?unused - lamp)
    :precondition (and (lti ?l) (lit ?m) (lit ?unused ?unused))
    :effect (and (lit l) (increase (cots ?l) 1)))
  (:action one
    :parameters (?l - lamp)
    :effect (and))
  (:init (lit a))
)";
    let parsed = parse_domain(text, SOURCE);
    let mut found = parsed.diagnostics;
    found.extend(check_domain(&parsed.value, SOURCE));
    let sources = SourceMap::single("many.pddl", text);
    insta::assert_snapshot!(render::all(&found, &sources, false));
}

#[test]
fn a_missing_opening_parenthesis_is_reported() {
    let text = damage(PROBLEM, "(:goal (and", ":goal (and");
    let found = parse_problem(&text, SOURCE).diagnostics;
    let stray = found.iter().find(|d| d.code == "pddl.stray-token").unwrap();
    assert_eq!(stray.help, ["write `(:goal`: its opening parenthesis is missing"]);
}

#[test]
fn an_undeclared_requirement_is_inserted() {
    let text = DOMAIN.replace(" :negative-preconditions", "");
    let FixedText { text, fixes, .. } = fix_all(&text, BlockKind::Domain);
    assert_eq!(fixes.len(), 1);
    assert!(text.contains("(:requirements :strips :typing :negative-preconditions)"), "{text}");
    let none = damage(DOMAIN, "  (:requirements :strips :typing :negative-preconditions)\n", "");
    let FixedText { text, fixes, .. } = fix_all(&none, BlockKind::Domain);
    assert_eq!(fixes.len(), 1);
    let parsed = parse_domain(&text, SOURCE);
    assert_eq!(parsed.diagnostics, []);
    assert_eq!(check_domain(&parsed.value, SOURCE), [], "{text}");
    let start =
        "(define (domain lamps)\n  (:requirements :strips :typing :negative-preconditions)\n  (:types";
    assert!(text.starts_with(start), "{text}");
}

#[test]
fn deep_nesting_is_read_checked_printed_and_compared() {
    let deep = 500;
    let goal = format!("{}(lit a){}", "(not ".repeat(deep), ")".repeat(deep));
    let text = damage(PROBLEM, "(and (lit a) (lit b))", &goal);
    let parsed = parse_problem(&text, SOURCE);
    assert_eq!(parsed.diagnostics, []);
    let domain = parse_domain(DOMAIN, SOURCE).value;
    let sources = planforge_pddl::TaskSources { domain: SOURCE, problem: SOURCE };
    let found = planforge_pddl::check_problem(&domain, &parsed.value, sources);
    assert!(found.iter().all(|d| !d.is_error()), "{found:?}");
    let again = parse_problem(&print_problem(&parsed.value), SOURCE).value;
    assert!(again.eq_ignoring_spans(&parsed.value));
    assert_eq!(planforge_pddl::diff_problems(&again, &parsed.value), []);
}

#[test]
fn names_are_compared_without_case_and_kept_as_written() {
    let text = DOMAIN.replace("(lit ?l)", "(LIT ?L)").replace("(:action press", "(:ACTION Press");
    let parsed = parse_domain(&text, SOURCE);
    assert_eq!(parsed.diagnostics, []);
    assert_eq!(check_domain(&parsed.value, SOURCE), []);
    assert_eq!(parsed.value.actions[0].name.as_str(), "Press");
    assert!(parsed.value.eq_ignoring_spans(&parse_domain(DOMAIN, SOURCE).value));
    assert!(print_domain(&parsed.value).contains("(LIT ?L)"));
}

/// Fixes of the form made at once give the text the reader took the damaged one for.
fn fixes_keep_the_tree(text: &str, kind: BlockKind) -> Result<(), TestCaseError> {
    let (found, before) = match kind {
        BlockKind::Domain => {
            let parsed = parse_domain(text, SOURCE);
            (parsed.diagnostics, print_domain(&parsed.value))
        }
        _ => {
            let parsed = parse_problem(text, SOURCE);
            (parsed.diagnostics, print_problem(&parsed.value))
        }
    };
    let fixes: Vec<_> = found.into_iter().filter_map(|d| d.fix).collect();
    let done = apply_fixes(text, SOURCE, &fixes);
    prop_assert_eq!(&done.skipped, &vec![]);
    let (left, after) = match kind {
        BlockKind::Domain => {
            let parsed = parse_domain(&done.text, SOURCE);
            (parsed.diagnostics, print_domain(&parsed.value))
        }
        _ => {
            let parsed = parse_problem(&done.text, SOURCE);
            (parsed.diagnostics, print_problem(&parsed.value))
        }
    };
    prop_assert_eq!(before, after, "{}", done.text);
    prop_assert!(left.iter().all(|d| d.fix.is_none()), "{left:?}\n{}", done.text);
    Ok(())
}

/// Removes, doubles or replaces pieces of a text.
fn mutate(text: &str, changes: &[(usize, usize, u8)]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for &(at, length, what) in changes {
        if chars.is_empty() {
            break;
        }
        let from = at % chars.len();
        let to = (from + length).min(chars.len());
        match what % 4 {
            0 => drop(chars.drain(from..to)),
            1 => {
                let copy: Vec<char> = chars[from..to].to_vec();
                chars.splice(to..to, copy);
            }
            2 => drop(chars.splice(from..from, "()?-:;é\n ".chars().skip(length % 9).take(1))),
            _ => {
                let parenthesis = chars.iter().skip(from).position(|c| matches!(c, '(' | ')'));
                parenthesis.map(|n| chars.remove(from + n));
            }
        }
    }
    chars.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, rng_seed: RngSeed::Fixed(2), ..ProptestConfig::default() })]

    #[test]
    fn fixes_of_damaged_texts_keep_the_tree(
        changes in prop::collection::vec((any::<usize>(), 0usize..12, any::<u8>()), 1..6),
        problem in any::<bool>(),
    ) {
        let (text, kind) =
            if problem { (PROBLEM, BlockKind::Problem) } else { (DOMAIN, BlockKind::Domain) };
        fixes_keep_the_tree(&mutate(text, &changes), kind)?;
    }

    #[test]
    fn damaged_texts_never_panic_and_spans_are_in_the_text(
        changes in prop::collection::vec((any::<usize>(), 0usize..40, any::<u8>()), 1..12),
    ) {
        let text = mutate(&format!("{DOMAIN}{PROBLEM}"), &changes);
        all_ways(&text)?;
    }

    #[test]
    fn arbitrary_texts_never_panic(text in "\\PC{0,200}") {
        all_ways(&text)?;
    }

    #[test]
    fn soups_of_tokens_never_panic(words in prop::collection::vec(prop::sample::select(SOUP), 0..80)) {
        all_ways(&words.join(" "))?;
    }
}

const SOUP: &[&str] = &[
    "(",
    ")",
    "(",
    ")",
    "(define",
    "(domain d)",
    "(problem p)",
    "(:action",
    ":parameters",
    ":effect",
    "(:init",
    "(and",
    "(not",
    "(=",
    "?x",
    "-",
    "object",
    "(either",
    "1.5",
    "(:goal",
    "(:types",
    "(at",
    "start",
    "(forall",
    "(:derived",
    "(:metric",
    "minimize",
    "(preference",
    "```",
    "; c\n",
    "\n",
    "(:predicates",
    "(:durative-action",
    ":duration",
    "?duration",
    "(increase",
    "(always",
    "é",
    "-x",
    "a?b",
    "(:constraints",
    "(:functions",
    "(when",
    "#t",
];

fn all_ways(text: &str) -> Result<(), TestCaseError> {
    let domain = parse_domain(text, SOURCE);
    let problem = parse_problem(text, SOURCE);
    let mut found = domain.diagnostics;
    found.extend(problem.diagnostics);
    found.extend(check_domain(&domain.value, SOURCE));
    let sources = planforge_pddl::TaskSources { domain: SOURCE, problem: SOURCE };
    found.extend(planforge_pddl::check_problem(&domain.value, &problem.value, sources));
    let extracted = planforge_pddl::find_pddl(text, SOURCE);
    for block in extracted.domains.iter().chain(&extracted.problems).chain(&extracted.others) {
        prop_assert_eq!(&text[block.span.range()], &block.text);
    }
    found.extend(extracted.diagnostics);
    let sources = SourceMap::single("t", text);
    for diagnostic in &found {
        for label in &diagnostic.labels {
            prop_assert!(text.get(label.span.range()).is_some(), "{diagnostic:?}");
        }
        render::text(diagnostic, &sources, false);
    }
    if !parse_domain(text, SOURCE).has_errors() {
        let printed = print_domain(&domain.value);
        prop_assert_eq!(print_domain(&parse_domain(&printed, SOURCE).value), printed);
    }
    if !parse_problem(text, SOURCE).has_errors() {
        let printed = print_problem(&problem.value);
        prop_assert_eq!(print_problem(&parse_problem(&printed, SOURCE).value), printed);
    }
    Ok(())
}

#[test]
fn a_type_left_out_before_a_variable_is_missing_and_the_variable_stays() {
    let text =
        "(define (domain d) (:requirements :typing) (:types cart cell) (:predicates (on ?k - cart ?c - cell))
      (:action roll :parameters (?k - ?from ?to - cell) :precondition (on ?k ?from) :effect (on ?k ?to)))";
    let parsed = parse_domain(text, SourceId(0));
    let codes: Vec<&str> = parsed.diagnostics.iter().map(|d| d.code.as_ref()).collect();
    assert_eq!(codes, ["pddl.missing-type"]);
    let names: Vec<&str> = parsed.value.actions[0].parameters.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["?k", "?from", "?to"]);
}

/// The texts that findings point at, each with its message.
fn pointed(found: &[Diagnostic], texts: [&str; 2]) -> Vec<String> {
    let label = |label: &planforge_diagnostics::Label| {
        format!("{} ({})", &texts[label.source.0 as usize][label.span.range()], label.message)
    };
    found
        .iter()
        .map(|d| format!("{} @ {}", d.message, d.labels.iter().map(label).collect::<Vec<_>>().join(" @ ")))
        .collect()
}

#[test]
fn an_object_declared_with_two_types_is_reported_with_both_types_and_places() {
    const SHELVES: &str = "(define (domain shelves)
  (:requirements :typing)
  (:types box shelf - object)
  (:constants top - shelf)
  (:predicates (on ?b - box ?s - shelf))
  (:action put :parameters (?b - box) :effect (on ?b top)))";
    let warnings = |objects: &str| {
        let text =
            format!("(define (problem p) (:domain shelves) (:objects {objects}) (:init) (:goal (on a top)))");
        let domain = parse_domain(SHELVES, SourceId(0)).value;
        let problem = parse_problem(&text, SourceId(1)).value;
        let sources = TaskSources { domain: SourceId(0), problem: SourceId(1) };
        let found = check_problem(&domain, &problem, sources);
        let repeated: Vec<Diagnostic> =
            found.into_iter().filter(|d| d.code == "pddl.duplicate-name").collect();
        assert!(repeated.iter().all(|d| !d.is_error()));
        pointed(&repeated, [SHELVES, &text])
    };
    assert_eq!(
        warnings("a - box a - shelf"),
        [
            "the object `a` is declared twice: as `box` and as `shelf` @ a (as `shelf`) @ a (also declared here, as `box`)"
        ]
    );
    assert_eq!(
        warnings("a - (either box shelf) a"),
        [
            "the object `a` is declared twice: as `(either box shelf)` and as `object` @ a (as `object`) @ a (also declared here, \
          as `(either box shelf)`)"
        ]
    );
    assert_eq!(
        warnings("a - box top - box"),
        [
            "`top` is already a constant of the domain: as `shelf` and as `box` @ top (as `box`) @ top (also declared here, as `shelf`)"
        ]
    );
    for same in ["a - box A - Box", "a - (either box shelf) a - (either shelf box)"] {
        let name = if same.contains('A') { "A" } else { "a" };
        assert_eq!(
            warnings(same),
            [format!("the object `{name}` is declared twice @ {name} () @ a (also declared here)")]
        );
    }
}

#[test]
fn a_hierarchical_task_is_named_in_one_line_a_file() {
    const DOMAIN: &str = "(define (domain visits)
  (:requirements :typing :hierarchy :method-preconditions)
  (:types place)
  (:predicates (at ?p - place))
  (:task visit :parameters (?p - place))
  (:Method walk :parameters (?p - place) :task (visit ?p) :ordered-subtasks (and (go ?p)))
  (:method stay :parameters (?p - place) :task (visit ?p) :precondition (at ?p) :ordered-subtasks ())
  (:action go :parameters (?p - place) :effect (at ?p)))";
    const PROBLEM: &str = "(define (problem one) (:domain visits) (:objects home - place)
  (:htn :parameters () :ordered-subtasks (and (visit home))) (:init))";
    let domain = parse_domain(DOMAIN, SourceId(0));
    let problem = parse_problem(PROBLEM, SourceId(1));
    let found = [domain.diagnostics, problem.diagnostics].concat();
    assert!(found.iter().all(|d| d.code == "pddl.hierarchical" && d.is_error()), "{found:?}");
    assert_eq!(
        pointed(&found, [DOMAIN, PROBLEM]),
        [
            "this domain is hierarchical (HDDL: `:task`, `:method`), and hierarchical planning is not supported @ (:task ()",
            "this problem is hierarchical (HDDL: `:htn`), and hierarchical planning is not supported @ (:htn ()",
        ]
    );
    // The words alone make no hierarchy.
    let flat = parse_domain(
        "(define (domain d) (:requirements :hierarchy) (:predicates (p)) (:action task :effect (p)))",
        SOURCE,
    );
    assert_eq!(
        flat.diagnostics.iter().map(|d| d.code.as_ref()).collect::<Vec<_>>(),
        ["pddl.unknown-requirement"]
    );
}
