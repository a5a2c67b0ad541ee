//! Answer set programs: the strict parser, and the tolerant reader of what models write.

use super::show;
use planforge_asp::reader::{Reading, Signature, read};
use planforge_asp::syntax::{parse, parse_ground_term};
use planforge_diagnostics::{SourceId, SourceMap};
use planforge_pddl::parse_domain;
use std::sync::OnceLock;

const SOURCE: SourceId = SourceId(0);

const DOMAIN: &str = "(define (domain lamps) (:requirements :typing :numeric-fluents)
  (:types lamp room) (:constants hall - room)
  (:predicates (lit ?l - lamp) (hangs-in ?l - lamp ?r - room) (next-to ?a ?b - room) (dark))
  (:functions (total-cost) (price ?l - lamp))
  (:action wait :parameters () :precondition (and) :effect (dark)))";
const KNOWLEDGE: &str = "ir_type(row, \"a row\"). ir_type(column, \"a column\").
  ir_predicate(house_grid(row, column, room), \"room X is in row R and column C\"). ir_object(cellar).";

fn signature() -> &'static Signature {
    static SIGNATURE: OnceLock<Signature> = OnceLock::new();
    SIGNATURE.get_or_init(|| {
        let domain = parse_domain(DOMAIN, SOURCE).value;
        let program = parse(KNOWLEDGE, SOURCE).program;
        let (declared, found) = planforge_asp::read_knowledge(&program, &domain, SOURCE);
        assert!(found.is_empty(), "the declarations are right: {found:?}");
        Signature::new(&domain, &declared)
    })
}

fn read_well(text: &str) -> Reading {
    read(text, SOURCE, signature())
}

/// Prints and parses again what was parsed. The understood program is in the strict language, which reads it
/// again without a diagnostic.
pub fn asp_reader(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let sources = SourceMap::single("reply", text);
    let parsed = parse(text, SOURCE);
    show(&parsed.diagnostics, &sources);
    let printed = parsed.program.to_string();
    let again = parse(&printed, SOURCE);
    assert!(again.diagnostics.is_empty(), "what is printed is not read: {printed}");
    assert_eq!(again.program.to_string(), printed);
    if let Some(term) = parse_ground_term(text) {
        assert_eq!(parse_ground_term(&term.to_string()), Some(term));
    }

    let reading = read_well(text);
    show(&reading.diagnostics(), &sources);
    assert!(reading.refusals.iter().all(|told| told.is_error() && !told.help.is_empty()));
    assert!(!reading.repairs.iter().any(|told| told.is_error()));
    assert_eq!(reading.lines.len(), reading.program.statements.len());
    if !reading.text.is_empty() {
        let again = read_well(&reading.text);
        assert_eq!(again.text, reading.text);
        assert!(again.diagnostics().is_empty(), "{}: {:?}", reading.text, again.diagnostics());
    }
}
