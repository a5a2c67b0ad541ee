//! Tests of `import_actions`: a folder in the published layout becomes suites, and every mistake is reported
//! at its place.

use planforge_diagnostics::SourceId;
use planforge_pddl::parse_domain;
use planforge_pipeline::{Texts, load_suite_with};
use planforge_suites::import_actions::{Imported, import_actions};
use std::fs;
use std::path::Path;

const LAMPS: &str = "(define (domain Lamps-Typed)
  (:requirements :strips :typing)
  (:types lamp room)
  (:predicates (in ?l - lamp ?r - room) (lit ?l - lamp) (next ?from ?to - room))
  (:action Carry
    :parameters (?l - lamp ?from ?to - room)
    :precondition (and (in ?l ?from) (next ?from ?to))
    :effect (and (in ?l ?to) (not (in ?l ?from))))
  (:action light :parameters (?l - lamp) :precondition (and) :effect (lit ?l)))
";

const DOORS: &str = "(define (domain doors) (:requirements :strips) (:predicates (shut))
  (:action open :parameters () :precondition (shut) :effect (not (shut))))
";

fn problem(domain: &str, facts: &str) -> String {
    let objects = if domain == "doors" { "" } else { "(:objects a - lamp hall attic - room)" };
    let goal = if domain == "doors" { "(not (shut))" } else { "(in a attic)" };
    let needs = if domain == "doors" { "(:requirements :negative-preconditions)" } else { "" };
    format!(
        "(define (problem {domain}-x) (:domain {domain}) {needs} {objects} (:init {facts}) (:goal {goal}))\n"
    )
}

const BASE: &str = "domain,action,pddl,preds,NL
lamps-typed,carry,\"(:action Carry
    :parameters (?l - lamp ?from - room ?to - room)
    :precondition (and (next ?from ?to) (in ?l ?from))
    :effect (and (not (in ?l ?from)) (in ?l ?to))
)\",,\"The action, \"\"Carry\"\" brings a lamp from a room to another\"
LAMPS,light,\"(:action light :parameters (?l - lamp) :precondition () :effect (and (lit ?l)))\",,Somebody lights a lamp
Doors,open,\"(:action open :parameters () :precondition (shut) :effect (not (shut)))\",,A door is opened
";

const FLIPPED: &str = "domain,action,pddl,preds,NL
Lamps-Typed,Carry,\"(:action Carry :parameters (?l - lamp ?from - room ?to - room) :precondition (in ?l ?from) :effect (and (in ?l ?to) \
(not (in ?l ?from))))\",(in l from),if the lamp is in the first room.
Lamps-Typed,light,\"(:action light :parameters (?l - lamp) :effect (lit ?l))\",,.
";

const WORDS: &str =
    "(in ?x - lamp ?r - room) : the lamp x stands in room r.\n\n(lit ?l - lamp): somebody lit a lamp.
(next ?from - room  ?to - room) : one can go from room from to room to. \n";

/// A folder in the published layout; a file with an empty text is left out.
fn data(changes: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lamps = [
        problem("lamps-typed", "(in a hall) (next hall attic)"),
        problem("Lamps-Typed", "(next hall attic)"),
    ];
    let mut files: Vec<(&str, &str)> = vec![
        ("LICENSE", "Own License\n\nCopyright (c) 2026 Nobody\n\nDo with it what you like.\n"),
        ("domainNL/Base-HC.csv", BASE),
        ("domainNL/Flipped-HC.csv", FLIPPED),
        ("pddl-problems/lamps.pddl", LAMPS),
        ("pddl-problems/lamps/instance-10.pddl", &lamps[1]),
        ("pddl-problems/lamps/instance-9.pddl", &lamps[0]),
        ("pddl-problems/doors.pddl", DOORS),
    ];
    let doors = problem("doors", "(shut)");
    files.push(("pddl-problems/doors/1.pddl", &doors));
    files.push(("predicate-descriptions/lamps.txt", WORDS));
    files.push(("predicate-descriptions/doors.txt", "(shut) : the door is shut."));
    files.push(("predicate-descriptions/boats.txt", "(afloat ?b - boat) : boat b floats."));
    files.retain(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
    for (name, text) in files.iter().chain(changes.iter().filter(|(_, text)| !text.is_empty())) {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn lines(imported: &Imported) -> Vec<String> {
    let line = |d: &planforge_diagnostics::Diagnostic| {
        let place = d.primary().map(|label| {
            let file = imported.sources.get(label.source).unwrap();
            let name = Path::new(&file.name).file_name().unwrap().to_string_lossy().into_owned();
            format!("{name}:{} ", file.line_column(label.span.start).line)
        });
        format!("{}{}: {}", place.unwrap_or_default(), d.code, d.message)
    };
    imported.diagnostics.iter().map(line).collect()
}

fn file<'a>(imported: &'a Imported, suite: &str, name: &str) -> &'a str {
    let suite = imported.suites.iter().find(|s| s.name == suite).unwrap();
    &suite.files.iter().find(|(file, _)| file == name).unwrap().1
}

fn write_imported(imported: &Imported) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for suite in &imported.suites {
        fs::create_dir_all(folder.path().join(&suite.name)).unwrap();
        for (name, text) in &suite.files {
            fs::write(folder.path().join(&suite.name).join(name), text).unwrap();
        }
    }
    folder
}

#[test]
fn each_domain_becomes_a_suite_with_its_texts() {
    let imported = import_actions(data(&[]).path());
    let found = lines(&imported);
    assert_eq!(imported.suites.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["doors", "lamps"]);
    assert_eq!(imported.left_out, ["boats"]);
    let lamps = &imported.suites[1];
    assert_eq!((lamps.actions, lamps.texts, lamps.predicates, lamps.problems), (2, 4, 3, 2));
    // What is there is taken; what it lacks, and where it disagrees with the domain, is told.
    let wanted = [
        "import.left-out: ",
        "Flipped-HC.csv:2 import.differs: the row's PDDL differs (action Carry: precondition: (next ?from ?to) removed)",
        "doors.pddl:2 import.no-row: action `open` of `doors` has no row in Flipped-HC.csv, Rand-HC.csv",
        "lamps.pddl:5 import.no-row: action `Carry` of `lamps` has no row in Rand-HC.csv",
        "lamps.pddl:9 import.no-row: action `light` of `lamps` has no row in Rand-HC.csv",
        "lamps.txt:3 import.incomplete: the description of `lit` does not name each of its parameters",
    ];
    assert_eq!(found.len(), wanted.len(), "{found:#?}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(found.starts_with(wanted), "{found}\n{wanted}");
    }
    let folder = write_imported(&imported);
    let loaded = load_suite_with(&folder.path().join("lamps"), Texts::Optional);
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let suite = loaded.suite.unwrap();
    assert_eq!(suite.licence, "Own License, Copyright (c) 2026 Nobody");
    assert_eq!(
        suite.tasks.iter().map(|t| (&*t.stem, &*t.title)).collect::<Vec<_>>(),
        [("p01", "instance-9"), ("p02", "instance-10")]
    );
    let carry = &suite.action_texts["carry"];
    assert_eq!(carry.base.as_deref(), Some("The action, \"Carry\" brings a lamp from a room to another."));
    assert_eq!(
        carry.flipped.as_deref(),
        Some("The action, \"Carry\" brings a lamp from a room to another if the lamp is in the first room.")
    );
    assert_eq!(carry.random, None);
    assert_eq!(suite.action_texts["light"].flipped.as_deref(), Some("Somebody lights a lamp ."));
    let told = &suite.predicate_texts["in"];
    assert_eq!(
        (told.declaration.as_deref(), &*told.text),
        (Some("(in ?x - lamp ?r - room)"), "the lamp x stands in room r.")
    );
    // A variable that is called like a word is one behind its type; a text that leaves one out makes no sentence.
    assert_eq!(suite.sentences["next"].yes, "One can go from room {1} to room {2}.");
    assert_eq!(suite.sentences["in"].no, "It is not true that the lamp {1} stands in room {2}.");
    assert!(!suite.sentences.contains_key("lit"));
    assert_eq!(file(&imported, "lamps", "domain.pddl"), LAMPS);
    assert!(file(&imported, "doors", "LICENSE").starts_with("Own License"));
}

#[test]
fn all_mistakes_are_told_at_once_with_file_and_line() {
    let base = format!(
        "{BASE}lampz,carry,(),,x\nlamps,cary,(),,x\nlamps,light,(:action light),,again\nlamps,carry,\"(:action\",,twice\ndoors,open,(),,\ndoors,one\n"
    );
    let words = "(in ?x - lamp ?r - room) : x in r.\n(lit ?l - lamp) is lit.\n(lut ?l - lamp) : l.\n(next ?from - room ?to - lamp) : x.\n(in ?x - \
                 lamp ?r - room) : x in r.\n(next ?a ?b : x.\n";
    let folder = data(&[
        ("domainNL/Base-HC.csv", &base),
        ("domainNL/Flipped-HC.csv", "domain,action,NL\n"),
        ("predicate-descriptions/lamps.txt", words),
        ("predicate-descriptions/boats.txt", ""),
        (
            "pddl-problems/doors/1.pddl",
            "(define (problem x) (:domain doors) (:init (shot)) (:goal (not (shut))))",
        ),
    ]);
    let imported = import_actions(folder.path());
    assert!(imported.suites.is_empty());
    let found = lines(&imported);
    let errors: Vec<&String> =
        found.iter().zip(&imported.diagnostics).filter(|(_, d)| d.is_error()).map(|(l, _)| l).collect();
    for wanted in [
        "1.pddl:1 pddl.",
        "Base-HC.csv:14 import.table: the table cannot be read: the row has 2 fields and the first line 5",
        "Base-HC.csv:13 import.row: the row of action `open` has no text",
        "Flipped-HC.csv:1 import.table: the table has no column pddl",
        "Base-HC.csv:9 import.row: no domain in pddl-problems is called `lampz`",
        "Base-HC.csv:10 import.row: domain `lamps` has no action `cary`",
        "Base-HC.csv:11 import.row: action `light` of `lamps` is described twice",
        "Base-HC.csv:12 import.row: action `carry` of `lamps` is described twice",
        "lamps.txt:2 import.description: the line is not a declaration followed by a colon and a text",
        "lamps.txt:3 import.description: domain `lamps` has no predicate `lut`",
        "lamps.txt:4 import.description: `(next ?from - room ?to - lamp)` is declared as `(next ?from ?to - room)`",
        "lamps.txt:5 import.description: predicate `in` is described twice",
        "lamps.txt:6 import.description: the line is not a declaration followed by a colon and a text",
    ] {
        assert_eq!(errors.iter().filter(|line| line.starts_with(wanted)).count(), 1, "{wanted}\n{errors:#?}");
    }
    assert_eq!(errors.len(), 13, "{errors:#?}");
    // What cannot be read of a row's PDDL is no reason to refuse its text.
    assert!(
        found.iter().any(|l| l.starts_with("Base-HC.csv:12 import.differs: the row's PDDL cannot be read")),
        "{found:#?}"
    );
}

#[test]
fn texts_that_continue_a_base_text_need_one() {
    let base: String =
        BASE.lines().filter(|line| !line.starts_with("LAMPS,light")).map(|l| format!("{l}\n")).collect();
    let folder = data(&[("domainNL/Base-HC.csv", &base)]);
    let imported = import_actions(folder.path());
    assert!(imported.suites.is_empty());
    let errors: Vec<_> = imported.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(
        errors[0].message.starts_with("action `light` of `lamps` has no row in Base-HC.csv"),
        "{errors:#?}"
    );
}

#[test]
fn folders_of_another_kind_are_refused_with_the_layout() {
    for (missing, wanted) in [
        ("domainNL/Base-HC.csv", "Base-HC.csv is not there"),
        ("pddl-problems/doors/1.pddl", "doors: cannot be opened"),
    ] {
        let imported = import_actions(data(&[(missing, "")]).path());
        let errors: Vec<_> = imported.diagnostics.iter().filter(|d| d.is_error()).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors.iter().all(|d| d.code == "import.layout" && d.message.contains(wanted)), "{errors:?}");
    }
    let empty = tempfile::tempdir().unwrap();
    let imported = import_actions(empty.path());
    assert!(imported.suites.is_empty());
    assert_eq!(imported.diagnostics.len(), 1);
    assert_eq!(imported.diagnostics[0].code, "import.layout");
}

/// The published data, where it is at hand. Nothing of it is part of this repository.
#[test]
fn the_published_data_is_imported_where_it_is_at_hand() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/suites/action-descriptions");
    if !root.exists() {
        eprintln!("SKIPPED: {} is not there", root.display());
        return;
    }
    let imported = import_actions(&root);
    let sum = |of: fn(&planforge_suites::import_actions::ImportedSuite) -> usize| {
        imported.suites.iter().map(of).sum::<usize>()
    };
    assert_eq!(imported.suites.len(), 9);
    assert_eq!(
        (sum(|s| s.actions), sum(|s| s.texts), sum(|s| s.problems), sum(|s| s.predicates)),
        (32, 96, 18, 45)
    );
    assert_eq!(imported.left_out, ["movie", "rover"]);
    let codes: Vec<&str> = imported.diagnostics.iter().map(|d| &*d.code).collect();
    assert_eq!(codes, ["import.left-out", "import.left-out", "import.incomplete", "import.incomplete"]);
    let folder = write_imported(&imported);
    for suite in &imported.suites {
        let loaded = load_suite_with(&folder.path().join(&suite.name), Texts::Optional);
        assert!(loaded.diagnostics.is_empty(), "{}: {:?}", suite.name, loaded.diagnostics);
        let loaded = loaded.suite.unwrap();
        let domain = parse_domain(loaded.reference_domain.as_deref().unwrap(), SourceId(0)).value;
        for action in &domain.actions {
            let texts = &loaded.action_texts[action.name.key()];
            let base = texts.base.as_deref().unwrap().strip_suffix('.').unwrap();
            for more in [&texts.flipped, &texts.random] {
                assert!(more.as_deref().unwrap().starts_with(&format!("{base} ")), "{more:?}");
            }
        }
        assert_eq!(loaded.predicate_texts.len(), domain.predicates.len(), "{}", suite.name);
    }
}
