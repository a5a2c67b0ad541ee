//! Pictures of states: shown facts, omitted facts, and hostile names of objects.

use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{Name, parse_domain, parse_problem};
use planforge_pipeline::read_picture;
use planforge_planning::lifted::LiftedTask;
use planforge_planning::normalize;
use planforge_planning::task::{Atom, Symbols};
use planforge_report::picture::{MAX_THINGS, NoTemplate, Painter, Picture};
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::Arc;

/// A task with a template for it.
struct Drawn {
    picture: Picture,
    /// The atoms that the picture does not show.
    undrawn: Vec<String>,
}

fn task(domain: &str, problem: &str) -> (Domain, Problem, LiftedTask) {
    let domain = parse_domain(domain, SourceId(0));
    let problem = parse_problem(problem, SourceId(1));
    let errors: Vec<&Diagnostic> =
        domain.diagnostics.iter().chain(&problem.diagnostics).filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let lifted = normalize(&domain.value, &problem.value).unwrap();
    (domain.value, problem.value, lifted)
}

fn draw(domain: &str, problem: &str, template: &str) -> Drawn {
    let template = Some(template).filter(|text| !text.is_empty());
    let (domain, problem, lifted) = task(domain, problem);
    let (painter, why) = Painter::of_text(template, &domain, &problem, Arc::clone(&lifted.symbols));
    assert_eq!(why.is_none(), template.is_some(), "{why:?}");
    let numbers: Vec<_> =
        lifted.init_numbers.iter().map(|(term, value)| (term.clone(), value.to_f64())).collect();
    let picture = painter.draw(&lifted.init, &numbers, "the initial state");
    let undrawn = picture.undrawn.iter().map(|at| lifted.symbols.atom(&lifted.init[*at])).collect();
    Drawn { picture, undrawn }
}

/// All texts of a picture, titles included, and the elements that it is made of.
fn texts(svg: &str) -> (Vec<String>, HashSet<String>) {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|wrong| panic!("{wrong}: {svg}"));
    let texts = document.descendants().filter_map(|node| node.text().map(str::to_owned)).collect();
    let tags = document.descendants().filter(roxmltree::Node::is_element);
    (texts, tags.map(|node| node.tag_name().name().to_owned()).collect())
}

fn shows(picture: &Picture, words: &str) -> bool {
    texts(&picture.svg).0.iter().any(|text| text == words)
}

const TOWERS: &str = "(define (domain towers) (:requirements :typing) (:types block)
    (:predicates (on ?a ?b - block) (floor ?b - block) (grasped ?b - block) (top ?b - block) (hand-empty)))";

const TOWERS_PICTURE: &str = "schema = 1\n[[stack]]\non = \"(on ?above ?below)\"\nbottom = \"floor ?what\"\nheld = \"grasped ?what\"\n\
    [[mark]]\nfact = \"top ?of\"\ntext = \"top\"\n";

#[test]
fn towers_and_held_things_are_drawn_and_the_rest_is_listed() {
    let problem = "(define (problem t) (:domain towers) (:objects red Blue c10 c9 - block)
        (:init (floor red) (on Blue red) (top Blue) (grasped c10) (floor c9) (top c9) (hand-empty)) (:goal (on red Blue)))";
    let drawn = draw(TOWERS, problem, TOWERS_PICTURE);
    assert_eq!(drawn.undrawn, ["(hand-empty)"]);
    for name in ["red", "Blue", "c9", "c10", "held:", "top"] {
        assert!(shows(&drawn.picture, name), "{name}");
    }
    insta::assert_snapshot!(drawn.picture.svg);
}

#[test]
fn an_impossible_state_is_drawn_as_far_as_possible() {
    // a circle, one block on two others, two blocks on one, and one that is on itself
    let problem = "(define (problem t) (:domain towers) (:objects a b c d e f g h - block)
        (:init (on a b) (on b a) (floor c) (floor d) (on e c) (on e d) (on f c) (on g g)) (:goal (on a b)))";
    let drawn = draw(TOWERS, problem, TOWERS_PICTURE);
    assert_eq!(drawn.undrawn, ["(on a b)", "(on b a)", "(on g g)"]);
    assert!(shows(&drawn.picture, "also elsewhere"), "e stands on two blocks");
}

const FLOOR: &str = "(define (domain floor) (:requirements :typing :numeric-fluents) (:types tile robot paint)
    (:predicates (right-of ?a ?b - tile) (above ?a ?b - tile) (on ?r - robot ?t - tile) (painted ?t - tile ?p - paint) (wet ?t - tile))
    (:functions (level ?t - tile) (fuel ?r - robot)))";

const FLOOR_PICTURE: &str = "schema = 1\n[[grid]]\ncells = \"tile\"\nright = \"right-of ?to ?from\"\nup = \"above ?to ?from\"\nat = \"on ?what ?cell\"\n\
    fill = \"painted ?cell ?colour\"\nheight_number = \"level ?cell\"\n[[mark]]\nnumber = \"fuel ?of\"\ntext = \"{value} litres\"\n\
    [types.robot]\nglyph = \"#\"\ncolour = \"orange\"\n";

#[test]
fn a_grid_is_laid_out_by_its_neighbours() {
    let problem = "(define (problem f) (:domain floor) (:objects sw se nw ne alone - tile walle - robot white moss - paint)
        (:init (right-of se sw) (right-of ne nw) (above nw sw) (above ne se) (on walle ne) (painted sw white) (painted nw moss) (wet se)
        (= (level sw) 2) (= (level se) 0) (= (fuel walle) 2.5)) (:goal (wet sw)))";
    let drawn = draw(FLOOR, problem, FLOOR_PICTURE);
    assert_eq!(drawn.undrawn, ["(wet se)"]);
    assert!(drawn.picture.undrawn_numbers.is_empty());
    assert!(shows(&drawn.picture, "# walle") && shows(&drawn.picture, "2.5 litres"));
    insta::assert_snapshot!(drawn.picture.svg);
}

#[test]
fn contradicting_neighbours_are_described_in_words() {
    // c is right of b and also right of a: one of the two cannot be drawn.
    let problem = "(define (problem f) (:domain floor) (:objects a b c - tile)
        (:init (right-of b a) (right-of c b) (right-of c a)) (:goal (wet a)))";
    let drawn = draw(FLOOR, problem, FLOOR_PICTURE);
    assert_eq!(drawn.undrawn.len(), 1, "{:?}", drawn.undrawn);
    for cell in ["a", "b", "c"] {
        assert!(shows(&drawn.picture, cell), "{cell}");
    }
}

const HOUSE: &str =
    "(define (domain house) (:requirements :typing) (:types place thing - object room box - place)
    (:predicates (in ?x - object ?p - object) (door ?a ?b - room) (open ?b - box) (raining)))";

const HOUSE_PICTURE: &str = "schema = 1\n[[group]]\nplaces = \"place\"\nin = \"in ?what ?place\"\n\
    [[mark]]\nfact = \"door ?of ?to\"\ntext = \"to {to}\"\n[[mark]]\nfact = \"raining\"\ntext = \"it rains\"\ncolour = \"blue\"\n";

#[test]
fn places_may_contain_places() {
    let problem = "(define (problem h) (:domain house) (:objects hall attic - room chest casket empty - box ring - thing)
        (:init (in chest attic) (in casket chest) (in ring casket) (door hall attic) (open chest) (raining)) (:goal (open casket)))";
    let drawn = draw(HOUSE, problem, HOUSE_PICTURE);
    assert_eq!(drawn.undrawn, ["(open chest)"]);
    for name in ["hall", "attic", "chest", "casket", "ring", "empty", "to attic", "it rains"] {
        assert!(shows(&drawn.picture, name), "{name}");
    }
    insta::assert_snapshot!(drawn.picture.svg);
}

#[test]
fn a_thing_inside_itself_is_described_in_words() {
    let problem = "(define (problem h) (:domain house) (:objects a b c - box)
        (:init (in a b) (in b a) (in c c)) (:goal (open a)))";
    assert_eq!(draw(HOUSE, problem, HOUSE_PICTURE).undrawn, ["(in a b)", "(in b a)", "(in c c)"]);
}

#[test]
fn names_with_numbers_are_places() {
    let domain =
        "(define (domain steps) (:requirements :typing) (:types cell) (:predicates (here ?c - cell)))";
    let problem =
        "(define (problem s) (:domain steps) (:objects f1-2f f0-0f f0-2f wall f00-2f f999999999999-1f - cell)
        (:init (here f1-2f)) (:goal (here f0-0f)))";
    let template = "schema = 1\n[[grid]]\ncells = \"cell\"\nname = \"F{row}-{col}f\"\nrows = \"up\"\n[[mark]]\nfact = \"here ?of\"\n";
    let drawn = draw(domain, problem, template);
    assert!(drawn.undrawn.is_empty());
    // A name without numbers, a second cell at one place, and a number that is none.
    assert!(shows(&drawn.picture, "cells without a place in the grid:"));
    assert!(["f1-2f", "f0-0f", "f0-2f", "wall", "f00-2f"].iter().all(|name| shows(&drawn.picture, name)));
}

#[test]
fn a_large_state_is_cut_with_a_note() {
    let names: Vec<String> = (0..5_000).map(|i| format!("b{i}")).collect();
    let init: Vec<String> = names.iter().map(|name| format!("(floor {name})")).collect();
    let problem = format!(
        "(define (problem t) (:domain towers) (:objects {} - block) (:init {}) (:goal (on b0 b1)))",
        names.join(" "),
        init.join(" ")
    );
    let drawn = draw(TOWERS, &problem, TOWERS_PICTURE);
    assert_eq!(drawn.picture.left_out, 5_000 - MAX_THINGS);
    assert_eq!(drawn.undrawn.len(), 5_000 - MAX_THINGS, "what is not drawn is told");
    assert!(shows(&drawn.picture, &format!("and {} more", 5_000 - MAX_THINGS)));
    assert!(drawn.picture.svg.len() < 400_000, "{}", drawn.picture.svg.len());
    // One tower of all of them: as high as there is room for, and no deeper than a thread bears.
    let tower: Vec<String> = (1..5_000).map(|i| format!("(on b{i} b{})", i - 1)).collect();
    let problem = problem.replace(&init.join(" "), &format!("(floor b0) {}", tower.join(" ")));
    let drawn = draw(TOWERS, &problem, TOWERS_PICTURE);
    assert!(drawn.picture.left_out > 0 && drawn.undrawn.len() == 5_000 - MAX_THINGS);
}

#[test]
fn a_template_for_other_predicates_gives_a_reason() {
    let (domain, problem, lifted) = task(
        "(define (domain towers) (:requirements :typing) (:types block) (:predicates (on ?a - block) (top ?b - block) (flor ?b - block)))",
        "(define (problem t) (:domain towers) (:objects a - block) (:init (on a)) (:goal (top a)))",
    );
    let symbols = || Arc::clone(&lifted.symbols);
    let (_, Some(NoTemplate::DoesNotFit(why))) =
        Painter::of_text(Some(TOWERS_PICTURE), &domain, &problem, symbols())
    else {
        panic!("it fits");
    };
    assert_eq!(
        why,
        [
            "predicate `on` has 1 argument(s) in the domain, and 2 here",
            "the domain has no predicate `floor`",
            "the domain has no predicate `grasped`"
        ]
    );
    let (_, none) = Painter::of_text(None, &domain, &problem, symbols());
    assert_eq!(none.unwrap().to_string(), "there is no picture.toml");
}

#[test]
fn without_a_template_types_and_predicates_give_the_picture() {
    let drawn = draw(
        "(define (domain depot) (:requirements :typing :numeric-fluents :derived-predicates)
           (:types place thing - object crate truck - thing)
           (:predicates (at ?t - thing ?p - place) (on ?a ?b - crate) (road ?a ?b - place) (clear ?c - crate) (open) (held ?c - crate) (uses ?t - truck ?p - place)
             (far ?a - truck ?p ?q - place) (stuck ?c - crate))
           (:functions (fuel ?t - truck))
           (:derived (stuck ?c - crate) (exists (?d - crate) (on ?d ?c)))
           (:action move :parameters (?t - truck ?p ?q - place) :precondition (at ?t ?p) :effect (and (at ?t ?q) (not (at ?t ?p))))
           (:action lift :parameters (?a ?b - crate ?t - truck ?p - place) :precondition (on ?a ?b)
             :effect (and (held ?a) (uses ?t ?p) (forall (?c - crate) (when (on ?a ?b) (not (on ?a ?b)))))))",
        "(define (problem d) (:domain depot) (:objects north south - place c1 c2 - crate t1 - truck)
           (:init (at t1 north) (at c1 south) (on c2 c1) (road north south) (clear c2) (open) (far t1 north south) (uses t1 south) (= (fuel t1) 7))
           (:goal (at t1 south)))",
        "",
    );
    for words in ["road south", "uses south", "clear", "open", "fuel 7"] {
        assert!(shows(&drawn.picture, words), "{words}: {}", drawn.picture.svg);
    }
    assert_eq!(drawn.undrawn, ["(far t1 north south)"]);
    assert!(
        !shows(&drawn.picture, "at north") && !shows(&drawn.picture, "on c1"),
        "what moves is in or on a thing"
    );
}

const ANYTHING: &str = "(define (domain any) (:requirements :typing :numeric-fluents) (:types s t - object)
    (:predicates (p0) (p1 ?x) (q1 ?x) (p2 ?x ?y) (q2 ?x ?y) (r2 ?x ?y) (p3 ?x ?y ?z)) (:functions (f0) (f1 ?x)))";

/// Templates with every kind of entry, in any combination.
fn template() -> impl Strategy<Value = String> {
    let pieces: [&[&str]; 8] = [
        &[
            "",
            "[[stack]]\non = \"p2 ?above ?below\"\n",
            "[[stack]]\non = [\"p2 ?below ?above\", \"q2 ?above ?below\"]\nbottom = \"p1 ?what\"\nheld = \"q1 ?what\"\n",
        ],
        &[
            "",
            "[[grid]]\ncells = \"s\"\nname = \"c{row}-{col}\"\nat = \"q2 ?what ?cell\"\n",
            "[[grid]]\ncells = [\"s\", \"t\"]\nright = \"p2 ?to ?from\"\nup = \"q2 ?from ?to\"\nleft = \"r2 ?to ?from\"\nat = \"r2 ?what ?cell\"\n",
        ],
        &[
            "",
            "[[grid]]\ncells = \"t\"\nname = \"{col}x{row}\"\nrows = \"up\"\nfill = \"p2 ?cell ?colour\"\nheight = \"r2 ?cell ?n\"\n",
            "[[grid]]\ncells = \"object\"\ndown = \"p3 ?from ?to _\"\nheight_number = \"f1 ?cell\"\n",
        ],
        &[
            "",
            "[[group]]\nplaces = \"object\"\nin = [\"p2 ?what ?place\", \"r2 ?what ?place\"]\n",
            "[[group]]\nplaces = \"s\"\nin = \"p3 ?place _ ?what\"\n",
        ],
        &["", "[[group]]\ntitle = \"<b>&hand\"\nin = \"p1 ?what\"\n"],
        &[
            "",
            "[[mark]]\nfact = \"p3 ?of ?a ?b\"\ntext = \"{a} & {b} <\"\ncolour = \"red\"\n",
            "[[mark]]\nfact = \"p2 ?x ?x\"\n",
        ],
        &[
            "",
            "[[mark]]\nfact = \"q1 ?of\"\n[[mark]]\nfact = \"p0\"\n",
            "[[mark]]\nnumber = \"f1 ?of\"\ntext = \"{value}\"\n[[mark]]\nnumber = \"f0\"\n",
        ],
        &["", "[types.s]\nglyph = \"</svg>\"\ncolour = \"sky\"\n", "[types.object]\ncolour = \"grey\"\n"],
    ];
    let choices: Vec<_> = pieces.into_iter().map(prop::sample::select).collect();
    choices.prop_map(|chosen| {
        format!("schema = 1\n{}[[group]]\ntitle = \"all\"\nin = \"q1 ?what\"\n", chosen.concat())
    })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{1,2}[0-9]{0,2}",
        "c[0-3]-[0-3]",
        "[0-3]x[0-3]",
        "[<>&\"'/;!\\[\\]{}=a-z]{1,40}",
        "\\PC{1,30}",
        Just("<script>alert(1)</script>".to_owned()),
        Just("]]>".to_owned()),
        Just("\u{202e}\u{0}\u{1b}[31m".to_owned()),
    ]
}

/// Draws a state and checks the picture.
fn drawn(
    names: Vec<String>,
    types: Vec<usize>,
    atoms: Vec<(u32, Vec<u32>)>,
    numbers: Vec<(u32, f64)>,
    template: &str,
) -> Result<(), TestCaseError> {
    let domain = parse_domain(ANYTHING, SourceId(0)).value;
    let mut symbols = Symbols {
        predicates: ["p0", "p1", "q1", "p2", "q2", "r2", "p3"].map(str::to_owned).to_vec(),
        functions: vec!["f0".to_owned(), "f1".to_owned()],
        ..Symbols::default()
    };
    symbols.objects.clone_from(&names);
    let declared = names.iter().zip(&types).map(|(name, ty)| planforge_pddl::ast::TypedName {
        name: Name::synthetic(name),
        ty: ["s", "t"].get(*ty).map(|ty| planforge_pddl::ast::TypeRef::single(Name::synthetic(ty))),
    });
    let problem = Problem { objects: declared.collect(), ..Problem::default() };
    let count = names.len() as u32;
    let arity = [0, 1, 1, 2, 2, 2, 3];
    let atoms: Vec<Atom> = atoms
        .into_iter()
        .map(|(predicate, args)| Atom {
            predicate,
            args: args.into_iter().take(arity[predicate as usize]).map(|id| id % count).collect(),
        })
        .collect();
    let numbers: Vec<(Atom, f64)> = numbers
        .into_iter()
        .map(|(id, value)| (Atom { predicate: 1, args: [id % count].into() }, value))
        .collect();
    let mut wrong = Vec::new();
    let read = read_picture(template, SourceId(0), Some(&domain), &mut wrong);
    prop_assert!(wrong.is_empty(), "{wrong:?}");
    let painter = Painter::new(&read.unwrap(), &domain, &problem, Arc::new(symbols)).unwrap();
    let picture = painter.draw(&atoms, &numbers, "<state & \"co\">");
    prop_assert_eq!(
        &picture,
        &painter.draw(&atoms, &numbers, "<state & \"co\">"),
        "the same state, the same bytes"
    );
    for svg in [picture.svg.clone(), picture.standalone()] {
        let (_, tags) = texts(&svg);
        let known = ["svg", "title", "style", "rect", "text", "line", "g"];
        prop_assert!(tags.iter().all(|tag| known.contains(&tag.as_str())), "{tags:?}");
    }
    prop_assert!(picture.svg.len() < 1_000_000);
    let document = roxmltree::Document::parse(&picture.svg).unwrap();
    let places = document
        .descendants()
        .flat_map(|node| node.attributes().map(|a| a.value().to_owned()).collect::<Vec<_>>());
    prop_assert!(places.into_iter().all(|value| !value.contains("NaN") && !value.contains("inf")));
    prop_assert!(
        picture.undrawn.iter().all(|at| *at < atoms.len())
            && picture.undrawn_numbers.iter().all(|at| *at < numbers.len())
    );
    // Whoever is marked by a fact that is called drawn is named in the picture, in full where somebody points at it.
    let (texts, _) = texts(&picture.svg);
    for (at, atom) in
        atoms.iter().enumerate().filter(|(at, atom)| atom.predicate == 2 && !picture.undrawn.contains(at))
    {
        let shown = planforge_evaluate::chart::escaped(&names[atom.args[0] as usize]);
        let shown = roxmltree::Document::parse(&format!("<a>{shown}</a>"))
            .unwrap()
            .root_element()
            .text()
            .unwrap_or_default()
            .to_owned();
        prop_assert!(
            texts.iter().any(|text| text.contains(shown.trim_end())),
            "{at}: {shown:?} in {texts:?}"
        );
    }
    Ok(())
}

#[test]
fn a_thing_that_is_left_out_is_not_called_drawn_by_its_second_fact() {
    // Places in places fill the picture before the last thing, which is held by two equal facts.
    let names: Vec<String> = (0..12).map(|n| format!("thing{n}x")).collect();
    let nested = (0..11).flat_map(|a| (0..11).filter(move |b| *b != a).map(move |b| (3, vec![a, b, 0])));
    let held = (0..12).flat_map(|id| [(2, vec![id, 0, 0]), (2, vec![id, 0, 0])]);
    let template = "schema = 1\n[[group]]\nplaces = \"object\"\nin = \"p2 ?what ?place\"\n[[group]]\ntitle = \"all\"\nin = \"q1 ?what\"\n";
    drawn(names, vec![0; 12], nested.chain(held).collect(), vec![], template).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn any_state_and_template_gives_well_formed_svg_in_which_names_are_text(
        names in prop::collection::vec(name(), 1..12),
        types in prop::collection::vec(0..3usize, 12),
        atoms in prop::collection::vec((0..7u32, prop::collection::vec(0..12u32, 3)), 0..60),
        numbers in prop::collection::vec((0..12u32, prop::num::f64::ANY), 0..8),
        template in template(),
    ) {
        drawn(names, types, atoms, numbers, &template)?;
    }
}
