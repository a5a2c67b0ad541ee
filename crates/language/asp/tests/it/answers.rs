//! Reading of answers: derivations, idle lines, conflicts, ambiguity.

use crate::common::{IR, KNOWLEDGE, World};
use planforge_asp::answer::{ExplainedAnswer, ExplainedAnswers, ambiguity, differing_atoms, read_answers};
use planforge_asp::compile::IrOnly;
use planforge_asp::derivations::Idle;
use planforge_asp::program::{Assembled, Origin};
use planforge_asp::reader::{Signature, read as read_ir};
use planforge_asp::stages::{Outcome, SolveResult};
use planforge_asp::syntax::ast::Term;
use planforge_asp::syntax::parse_ground_term;
use planforge_diagnostics::Diagnostic;
use std::collections::BTreeSet;
use std::path::Path;

const BAR: &str = "(define (domain bar) (:requirements :strips :typing)
  (:types glass jug - vessel drink tap step)
  (:predicates (clean ?v - vessel) (serves ?t - tap ?d - drink) (holds ?v - vessel ?d - drink) (free ?v - vessel))
  (:action rinse :parameters (?v - vessel) :precondition (clean ?v) :effect (clean ?v)))";

/// Reads a reply that has to have one answer.
fn one<'a>(assembled: &'a Assembled, reply: &SolveResult) -> ExplainedAnswer<'a> {
    let ExplainedAnswers { mut answers, complete } = read_answers(assembled, reply).unwrap();
    assert!(complete);
    assert_eq!(answers.len(), 1);
    answers.remove(0)
}

fn conflicts(knowledge: &str, ir: &str) -> Vec<Diagnostic> {
    let (assembled, reply) = World::new(BAR, knowledge, ir).solve();
    read_answers(&assembled, &reply).unwrap_err()
}

/// Places of a diagnostic's labels: the source, the line (from 1) and the text.
fn lines(diagnostic: &Diagnostic, world: &World) -> Vec<(char, String)> {
    let place = |label: &planforge_diagnostics::Label| {
        let (letter, text) = match label.source {
            IR => ('i', &world.ir_text),
            KNOWLEDGE => ('k', &world.knowledge_text),
            _ => ('d', &world.domain_text),
        };
        (letter, text[label.span.range()].to_owned())
    };
    diagnostic.labels.iter().map(place).collect()
}

/// Rule, premises, absent conditions, other ways of an atom, as text.
fn messages_of(answer: &ExplainedAnswer<'_>, atom: &str) -> String {
    let derivations = &answer.derivations;
    let number = derivations.find(&parse_ground_term(atom).unwrap()).unwrap_or_else(|| panic!("no {atom}"));
    let derivation = derivations.derivation(number).unwrap_or_else(|| panic!("no derivation of {atom}"));
    let rule = &derivations.table().rules[derivation.rule as usize];
    let premises: Vec<String> =
        derivation.premises.iter().map(|premise| derivations.term(*premise).unwrap().to_string()).collect();
    let source = derivations.table().source_name(derivation.rule);
    let line = derivations.table().place(derivation.rule).line;
    format!(
        "{:?} {} {} | {} | {} | {}",
        rule.origin,
        // The library's lines are its own affair.
        if rule.origin == Origin::Library { source.to_owned() } else { format!("{source}:{line}") },
        rule.written,
        premises.join(", "),
        derivation.absent.join(", "),
        derivation.others
    )
}

#[test]
fn every_atom_of_a_worked_example_is_derived_as_by_hand() {
    let knowledge = "init(free(V)) :- object(V, vessel), not init(holds(V, _)).";
    let ir = "cardinality(glass, 3).
object(glass2, glass).
init(clean(X)) :- object(X, glass).
init(holds(glass1, gin)).
init(map(tap, serves, drink)). cardinality(tap, 1).";
    let (assembled, reply) = World::new(BAR, knowledge, ir).solve();
    let answer = one(&assembled, &reply);
    for (atom, expected) in [
        ("object(glass2, glass)", "Text ir:2 object(glass2, glass). |  |  | 0"),
        (
            "object(glass3, glass)",
            "Library objects.lp object(@id(T, I), T) :- generated(T, I, N). | generated(glass, 3, 3) |  | 0",
        ),
        (
            "generated(glass, 3, 3)",
            "Library objects.lp generated(T, I, N) :- missing(T, K), cardinality(T, N), I = 1..K. | cardinality(glass, 3) |  | 0",
        ),
        (
            "init(clean(glass3))",
            "Text ir:3 init(clean(X)) :- object(X, glass). | object(glass3, glass) |  | 0",
        ),
        // A vessel by its type, and again by being clean, which follows from being a glass: another way, not a circle.
        (
            "object(glass2, vessel)",
            "Domain domain:2 object(X, vessel) :- object(X, glass). | object(glass2, glass) |  | 1",
        ),
        // What holds something is a vessel. By its name it is one of the three glasses, and so a vessel in two further ways.
        (
            "object(glass1, vessel)",
            "Domain domain:3 object(X, vessel) :- init(holds(X, _)). | init(holds(glass1, gin)) |  | 2",
        ),
        (
            "init(free(glass3))",
            "Knowledge knowledge:1 init(free(V)) :- object(V, vessel), not init(holds(V, _)). | object(glass3, vessel) | not init(holds(glass3, _)) | 0",
        ),
        (
            "init(serves(tap1, gin))",
            "Domain domain:3 init(serves(X, Y)) :- pair(init, serves, X, Y). | pair(init, serves, tap1, gin) |  | 0",
        ),
        (
            "pair(init, serves, tap1, gin)",
            "Library bijection.lp pair(S, P, X, Y) :- mapped(S, T1, P, T2), index(T1, I, X), index(T2, I, Y). \
             | mapped(init, tap, serves, drink), index(tap, 1, tap1), index(drink, 1, gin) |  | 0",
        ),
        (
            "index(drink, 1, gin)",
            "Library sequence.lp index(T, I, X) :- object(X, T). | object(gin, drink) |  | 0",
        ),
        (
            "object(gin, drink)",
            "Domain domain:3 object(X, drink) :- init(holds(_, X)). | init(holds(glass1, gin)) |  | 0",
        ),
    ] {
        assert_eq!(messages_of(&answer, atom), expected);
    }
    // Every atom has a derivation, and each premise takes fewer steps.
    let derivations = &answer.derivations;
    for atom in 0..derivations.len() as u32 {
        let derivation =
            derivations.derivation(atom).unwrap_or_else(|| panic!("{:?}", derivations.term(atom)));
        for premise in &derivation.premises {
            assert!(derivations.derivation(*premise).unwrap().steps < derivation.steps);
        }
    }
    assert_eq!(
        answer.materialized.atoms.iter().cloned().map(Some).collect::<Vec<_>>(),
        (0..answer.materialized.atoms.len() as u32).map(|atom| derivations.term(atom)).collect::<Vec<_>>()
    );
}

#[test]
fn idle_lines_are_told_with_the_reason() {
    let knowledge = "ir_type(mug, \"a mug\"). ir_predicate(liked(drink), \"D is liked\").";
    let ir = "object(a, glass).
init(clean(X)) :- object(X, glass).
init(clean(a)).
init(clean(X)) :- object(X, jug).
object(b, mug).
init(liked(gin)).
init(holds(a, gin)).
cardinality(glass, 1).";
    let world = World::new(BAR, knowledge, ir);
    let (assembled, reply) = world.solve();
    let answer = one(&assembled, &reply);
    let compiled = |atom: u32| {
        let text = answer.derivations.term(atom).unwrap().to_string();
        (text.starts_with("object") && !text.contains("mug"))
            || (text.starts_with("init") && !text.contains("liked"))
    };
    let idle: Vec<(String, Idle)> = answer
        .derivations
        .idle(&compiled)
        .into_iter()
        .map(|(rule, reason)| (assembled.table.rules[rule as usize].written.to_string(), reason))
        .collect();
    let expected = [
        ("init(clean(X)) :- object(X, glass).", Idle::Follows),
        ("init(clean(a)).", Idle::Follows),
        ("init(clean(X)) :- object(X, jug).", Idle::NeverApplies),
        ("init(liked(gin)).", Idle::NotCompiled),
        ("cardinality(glass, 1).", Idle::Follows),
    ];
    assert_eq!(idle, expected.map(|(line, reason)| (line.to_owned(), reason)));
}

#[test]
fn conflicts_name_the_lines_that_bring_them_about() {
    let ir =
        "cardinality(glass, 1).\nobject(a, glass).\ninit(clean(X)) :- object(X, glass).\nobject(b, glass).";
    let found = conflicts("", ir);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, "asp.more-than-counted");
    assert_eq!(found[0].message, "there are 2 of type `glass` (`a` and `b`), and the text counts 1");
    let world = World::new(BAR, "", ir);
    let expected = [('i', "cardinality(glass, 1)."), ('i', "object(a, glass)."), ('i', "object(b, glass).")];
    assert_eq!(lines(&found[0], &world), expected.map(|(letter, text)| (letter, text.to_owned())));

    let found = conflicts("", "cardinality(tap, 2). init(map(tap, serves, drink)). cardinality(drink, 3).");
    assert_eq!(found[0].code, "asp.map-sizes");
    assert!(
        found[0].message.ends_with("pairs types of different size: 2 of `tap`, 3 of `drink`"),
        "{found:?}"
    );
    assert_eq!(found[0].labels.len(), 3);
}

#[test]
fn violated_constraints_name_themselves_and_the_facts() {
    let knowledge = "\n:- init(holds(V, D)), init(holds(V, E)), D < E.";
    let ir = "init(holds(a, gin)).\ninit(holds(a, rum)).\ninit(holds(b, rum)).";
    let found = conflicts(knowledge, ir);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, "asp.constraint");
    assert_eq!(
        found[0].message,
        "the constraint `:- init(holds(V, D)), init(holds(V, E)), D < E.` (line 2 of knowledge) is violated with V = a, D = gin, E = rum"
    );
    let world = World::new(BAR, knowledge, ir);
    let expected = [
        ('i', "init(holds(a, gin))."),
        ('i', "init(holds(a, rum))."),
        ('k', ":- init(holds(V, D)), init(holds(V, E)), D < E."),
    ];
    assert_eq!(lines(&found[0], &world), expected.map(|(letter, text)| (letter, text.to_owned())));
    let found = conflicts("conflict(\"nobody drinks rum\") :- init(holds(_, rum)).", ir);
    assert_eq!((found[0].code.as_ref(), found[0].message.as_str()), ("asp.conflict", "nobody drinks rum"));
}

#[test]
fn constraints_choose_among_answers_before_they_are_told() {
    let knowledge =
        "1 { goal(holds(V, D)) : object(D, drink) } 1 :- object(V, glass). :- goal(holds(_, rum)).";
    let ir = "object(a, glass). object(gin, drink). object(rum, drink).";
    let (assembled, reply) = World::new(BAR, knowledge, ir).solve();
    assert_eq!(reply.outcome, Outcome::Solved);
    let answer = one(&assembled, &reply);
    assert_eq!(
        messages_of(&answer, "goal(holds(a, gin))"),
        "Knowledge knowledge:1 1 { goal(holds(V, D)) : object(D, drink) } 1 :- object(V, glass). | object(a, glass), object(gin, drink) |  | 0"
    );
    // Where no choice is left, the constraint is told, with as few violations as possible.
    let knowledge = format!("{knowledge} :- goal(holds(a, gin)).");
    let (assembled, reply) = World::new(BAR, &knowledge, &format!("{ir} object(b, glass).")).solve();
    assert_eq!(reply.outcome, Outcome::Violated);
    let found = read_answers(&assembled, &reply).unwrap_err();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].code, "asp.constraint");
}

#[test]
fn answers_that_differ_are_an_ambiguity_with_the_atoms_that_differ() {
    let knowledge = "1 { goal(holds(V, D)) : object(D, drink) } 1 :- object(V, glass).";
    let ir = "object(a, glass). object(gin, drink). object(rum, drink).";
    let (assembled, reply) = World::new(BAR, knowledge, ir).solve();
    let answers = read_answers(&assembled, &reply).unwrap();
    assert_eq!(answers.answers.len(), 2);
    let (one, other) = differing_atoms(&answers.answers[0], &answers.answers[1]);
    assert_eq!(
        (one, other),
        (vec!["goal(holds(a, gin))".to_owned()], vec!["goal(holds(a, rum))".to_owned()])
    );
    let found = ambiguity(&answers, 0, 1);
    assert_eq!(found.code, "asp.ambiguous");
    assert_eq!(found.message, "the representation can be read in 2 ways that make different problems");
    assert!(found.help[0].contains("`goal(holds(a, gin))`") && found.help[1].contains("rum"), "{found:?}");
    assert!(!found.labels.is_empty());
    // What differs in helpers alone is one answer.
    let (assembled, reply) = World::new(BAR, "{ helper(a) }.", ir).solve();
    assert_eq!(read_answers(&assembled, &reply).unwrap().answers.len(), 1);
}

#[test]
fn more_answers_than_are_looked_at_are_said_to_be_more() {
    let knowledge = "{ goal(clean(V)) } :- object(V, glass).";
    let ir: String = (1..=6).map(|i| format!("object(g{i}, glass). ")).collect();
    let (assembled, reply) = World::new(BAR, knowledge, &ir).solve();
    let answers = read_answers(&assembled, &reply).unwrap();
    assert_eq!((answers.answers.len(), answers.complete), (16, false));
    assert!(ambiguity(&answers, 0, 1).message.contains("at least 16 ways"));
}

#[test]
fn rules_that_deny_each_other_have_no_answer() {
    let found = conflicts("init(free(V)) :- object(V, glass), not init(free(V)).", "object(a, glass).");
    assert_eq!(found[0].code, "asp.no-answer");
    assert_eq!(found[0].labels.len(), 1);
}

#[test]
fn predicates_by_themselves_are_said_of_the_initial_state() {
    let knowledge = "first_sip(V) :- holds(V, D), not clean(V). init(free(V)) :- first_sip(V).";
    let (assembled, reply) = World::new(BAR, knowledge, "holds(a, gin).").solve();
    let answer = one(&assembled, &reply);
    assert_eq!(messages_of(&answer, "init(holds(a, gin))"), "Text ir:1 holds(a, gin). |  |  | 0");
    assert!(messages_of(&answer, "first_sip(a)").ends_with("| init(holds(a, gin)) | not init(clean(a)) | 0"));
    assert!(assembled.table.rules.iter().any(|rule| rule.origin == Origin::Knowledge));
}

#[test]
fn maps_by_nothing_and_of_nothing_are_told() {
    let found = conflicts("", "cardinality(tap, 1). cardinality(drink, 1). init(map(tap, serve, drink)).");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, "asp.map-predicate");
    assert_eq!(found[0].help, ["there is a predicate `serves`"]);
    let found = conflicts("", "init(map(taps, serves, drinks)).");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, "asp.map-sizes");
    assert!(found[0].message.ends_with("pairs nothing: there is no `taps` and no `drinks`"));
}

#[test]
fn a_line_of_the_program_leads_to_its_rule() {
    let knowledge = "init(free(V)) :- object(V, vessel), not init(holds(V, _)).";
    let (assembled, _) = World::new(BAR, knowledge, "object(a, glass).").solve();
    for (number, rule) in (0u32..).zip(&assembled.table.rules) {
        if rule.origin == Origin::Knowledge {
            let line = assembled.job.recorded.lines().find(|line| line.contains("not init")).unwrap();
            assert_eq!(assembled.rule_of(line), Some(number));
        }
    }
    assert_eq!(assembled.rule_of("p(a)."), None);
}

#[test]
fn the_library_s_words_are_not_concluded_by_others() {
    for knowledge in
        ["first(V, D) :- holds(V, D).", "_seen(V) :- holds(V, _).", "{ index(tap, 1, V) } :- holds(V, _)."]
    {
        let assembled = planforge_asp::program::assemble(&World::new(BAR, knowledge, "").task());
        let codes: Vec<&str> = assembled.diagnostics.iter().map(|d| d.code.as_ref()).collect();
        assert_eq!(codes, ["asp.shadowed"], "{knowledge}");
    }
    let assembled = planforge_asp::program::assemble(&World::new(BAR, "first(V) :- holds(V, _).", "").task());
    assert_eq!(assembled.diagnostics, []);
}

// Lines that are called idle can go: the problem without them is the same. The others cannot.

/// True if an atom reaches the PDDL.
fn is_compiled(atom: &Term, ir_only: &IrOnly) -> bool {
    let Term::Function { name, arguments } = atom else { return false };
    let name_of = |term: &Term| match term {
        Term::Function { name, .. } => name.clone(),
        _ => String::new(),
    };
    match (name.as_str(), arguments.as_slice()) {
        ("object", [_, ty]) => !ir_only.types.contains(&name_of(ty)),
        ("init" | "goal", [fact]) => {
            let fact = name_of(fact);
            fact != "map" && !ir_only.predicates.contains(&fact)
        }
        ("metric", _) => true,
        _ => false,
    }
}

/// The compiled atoms of a representation, and its idle lines. None where it is in conflict.
fn problem(domain: &str, knowledge: &str, ir: &str) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    let world = World::new(domain, knowledge, ir);
    let ir_only = IrOnly::from(&world.declarations);
    let (assembled, reply) = world.solve();
    let answers = read_answers(&assembled, &reply).ok()?;
    let answer = &answers.answers[0];
    let compiled = |atom: &Term| is_compiled(atom, &ir_only);
    let atoms = answer.materialized.atoms.iter().filter(|atom| compiled(atom)).map(Term::to_string).collect();
    let idle =
        answer.derivations.idle(&|atom| answer.derivations.term(atom).is_some_and(|term| compiled(&term)));
    let lines = idle.iter().map(|(rule, _)| assembled.table.rules[*rule as usize].written.to_string());
    Some((atoms, lines.collect()))
}

#[test]
fn idle_lines_can_go_and_the_others_cannot() {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites");
    let mut tried = 0;
    for folder in std::fs::read_dir(suites).unwrap() {
        let folder = folder.unwrap().path();
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
        let (Some(domain), Some(knowledge), Some(ir)) =
            (text("domain.pddl"), text("knowledge.lp"), text("p_example.lp"))
        else {
            continue;
        };
        let world = World::new(&domain, &knowledge, "");
        let read = read_ir(&ir, crate::common::IR, &Signature::new(&world.domain, &world.declarations));
        assert!(read.is_complete(), "{:?}", read.refusals);
        let lines: Vec<&str> = read.text.lines().collect();
        let (whole, idle) = problem(&domain, &knowledge, &read.text).unwrap();
        for at in 0..lines.len() {
            let rest: Vec<&str> =
                lines.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, l)| *l).collect();
            let same =
                problem(&domain, &knowledge, &rest.join("\n")).is_some_and(|(atoms, _)| atoms == whole);
            // Without a line that names a counted object, one of the same name may be made; the line has said it all the same.
            let names_object = lines[at].starts_with("object(");
            let is_idle = idle.contains(lines[at]);
            assert!(same == is_idle || (same && names_object), "{}: {}", folder.display(), lines[at]);
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried}");
}
