//! `picture.toml` of suites is read with the suite, and every mistake is reported at its place.

use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_pddl::parse_domain;
use planforge_pipeline::{Coordinates, NamePattern, PictureTemplate, load_suite, read_picture};
use std::fs;

const DOMAIN: &str = "(define (domain yard) (:requirements :typing :numeric-fluents :derived-predicates) (:types crate cell)
    (:predicates (on ?a ?b - crate) (ground ?c - crate) (at ?c - crate ?p - cell) (east ?a ?b - cell) (reachable ?c - crate))
    (:functions (weight ?c - crate)) (:derived (reachable ?c - crate) (ground ?c))
    (:action lift :parameters (?c - crate) :precondition (ground ?c) :effect (not (ground ?c))))";

const GOOD: &str = "schema = 1\n[[stack]]\non = \"on ?above ?below\"\nbottom = \"ground ?it\"\n\
    [[grid]]\ncells = \"cell\"\nright = \"east ?to ?from\"\nat = \"at ?what ?cell\"\n\
    [[mark]]\nnumber = \"weight ?of\"\ntext = \"{value} kg\"\n[types.crate]\ncolour = \"blue\"\n";

fn read(text: &str) -> (Option<PictureTemplate>, Vec<Diagnostic>) {
    let domain = parse_domain(DOMAIN, SourceId(0)).value;
    let mut found = Vec::new();
    let template = read_picture(text, SourceId(0), Some(&domain), &mut found);
    (template, found)
}

#[test]
fn a_template_is_read_with_the_suite_and_is_not_part_of_the_digest() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    file("domain.nl", "A yard.");
    file("domain.pddl", DOMAIN);
    file("p01.nl", "Lift it.");
    let before = load_suite(folder.path()).suite.unwrap();
    assert_eq!(before.picture, None);
    file("picture.toml", GOOD);
    let after = load_suite(folder.path()).suite.unwrap();
    assert_eq!(after.picture.as_deref(), Some(GOOD));
    assert_eq!(before.digest(&before.tasks[0]), after.digest(&after.tasks[0]), "no method sees it");
    file("picture.toml", "schema = 1\n[[stack]]\non = \"onn ?above ?below\"\n");
    let wrong = load_suite(folder.path());
    assert!(wrong.suite.is_none());
    assert_eq!(wrong.diagnostics.len(), 1);
    assert_eq!(wrong.diagnostics[0].code, "suite.picture");
}

#[test]
fn every_mistake_of_a_template_is_told_at_once_and_at_its_place() {
    let text = "schema = 2\n[[stack]]\non = \"on ?a ?b\"\nbotom = \"ground ?x\"\n\
        [[grid]]\ncells = \"cel\"\nname = \"c{row}{col}\"\nat = \"at ?what ?cell ?more\"\n\
        [[grid]]\ncells = \"cell\"\n\
        [[group]]\nplaces = \"cell\"\ntitle = \"both\"\nin = \"reachable ?what\"\n\
        [[mark]]\nfact = \"weigth ?of\"\ntext = \"{whom}\"\ncolour = \"mauve\"\n\
        [[mark]]\nnumber = \"(weight (crate))\"\n\
        [types.crate]\nglyph = \"\"\n[types.lorry]\n[extra]\n";
    let (template, found) = read(text);
    assert!(template.is_none());
    let mut sources = SourceMap::default();
    sources.add("picture.toml", text);
    let told: Vec<String> = found
        .iter()
        .map(|d| {
            let label = d.labels.first().unwrap();
            let line = sources.get(label.source).unwrap().line_column(label.span.start).line;
            format!("{line}: {}", d.message)
        })
        .collect();
    let expected = [
        "1: this version reads pictures of schema 1, not 2",
        "3: `on` of [[stack]] has no ?above and no ?below",
        "4: [[stack]] has no key `botom`",
        "6: the domain has no type `cel`",
        "7: nothing tells the digits of {row} and {col} apart",
        "8: predicate `at` has 2 argument(s) in the domain, and 3 here",
        "9: a [[grid]] must say where its cells are",
        "11: a [[group]] has either `places`, the types of its places, or a `title`, the one place that all is in",
        "14: `reachable` is a derived predicate, and states are drawn from their basic facts",
        "16: the domain has no predicate `weigth`",
        "17: `text` has {whom}, and `weigth` has no ?whom",
        "18: `colour` of [[mark]] cannot be `mauve`",
        "20: `number` must be one fact, such as \"on ?above ?below\", not \"(weight (crate))\"",
        "22: `glyph` must have between 1 and 80 characters",
        "23: the domain has no type `lorry`",
        "24: picture.toml has no key `extra`",
    ];
    // A grid without coordinates is none, so nothing is said of what is in it: its type and facts are told once that is mended.
    let expected: Vec<&str> =
        expected.into_iter().filter(|e| !e.starts_with("6:") && !e.starts_with("8:")).collect();
    let mut told: Vec<&str> = told.iter().map(String::as_str).collect();
    told.sort_by_key(|line| line.split(':').next().and_then(|n| n.parse::<u32>().ok()));
    assert_eq!(told, expected, "{found:#?}");
    assert!(found.iter().all(|d| d.code == "suite.picture" && d.is_error()));
}

#[test]
fn a_template_with_nothing_to_draw_or_that_is_no_toml_is_an_error() {
    for text in [
        "",
        "schema = 1\n",
        "schema = 1\n[[mark]]\nfact = \"ground ?of\"\n",
        "schema = 1\n[[stack]\n",
        "schema = 1\nstack = 3\n",
    ] {
        let (template, found) = read(text);
        assert!(template.is_none() && !found.is_empty(), "{text:?}");
    }
    let (template, found) = read(GOOD);
    assert!(template.is_some() && found.is_empty(), "{found:#?}");
}

#[test]
fn names_have_rows_and_columns() {
    let pattern = |name: &str| -> NamePattern {
        let text = format!("schema = 1\n[[grid]]\ncells = \"cell\"\nname = \"{name}\"\n");
        match read(&text).0.unwrap().grids.remove(0).coordinates {
            Coordinates::Name(pattern) => pattern,
            Coordinates::Neighbours(_) => panic!("{name}"),
        }
    };
    let shot = pattern("F{col}-{row}F");
    assert_eq!(shot.read("f1-12f"), Some((12, 1)));
    for name in ["f1-2", "f1-f", "1-2f", "f1-2ff", "f-2f", "f1-99999999999f", ""] {
        assert_eq!(shot.read(name), None, "{name}");
    }
    assert_eq!(pattern("floor{row}").read("floor7"), Some((7, 0)));
    for wrong in ["cell", "c{row}-{row}", "{row}{col}", "c{rwo}", "c{row"] {
        let text = format!("schema = 1\n[[grid]]\ncells = \"cell\"\nname = \"{wrong}\"\n");
        assert!(read(&text).0.is_none(), "{wrong}");
    }
}
