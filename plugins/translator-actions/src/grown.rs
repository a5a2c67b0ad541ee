//! Predicates that grow action by action: which ones a reply proposes, and which ones are dropped in the end.

use crate::codes;
use crate::pddl_text::{MARKS, alternatives, declaration};
use crate::unify::Unified;
use planforge_contract::PredicateDescription;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::{Domain, PredicateDecl, TypedName};
use planforge_pddl::{action_blocks, check_domain, parse_domain};

/// Most predicates that one reply may propose, and most of all.
const MOST_OF_A_REPLY: usize = 32;
const MOST: usize = 256;
/// Most characters of a predicate's meaning.
const MOST_SAID: usize = 300;

/// The predicates proposed so far, with their meanings.
#[derive(Debug, Clone)]
pub(crate) struct Grown {
    pub(crate) declared: Vec<PredicateDecl>,
    /// In the same order.
    pub(crate) described: Vec<PredicateDescription>,
    /// True if a reply proposed any.
    pub(crate) has_new: bool,
    /// The domain's types, and nothing else.
    types: Domain,
}

impl Grown {
    /// None yet, over the types of the domain.
    pub(crate) fn new(header: &Domain) -> Self {
        let types = Domain {
            requirements: header.requirements.clone(),
            types: header.types.clone(),
            ..Domain::default()
        };
        Self { declared: Vec::new(), described: Vec::new(), has_new: false, types }
    }

    /// Takes the predicates that a reply proposes: lines such as `(lit ?l - lamp): lamp l gives light`.
    pub(crate) fn take(&mut self, reply: &str, out: &mut Vec<Diagnostic>) {
        let actions: Vec<Span> = action_blocks(reply).into_iter().map(|block| block.span).collect();
        let mut taken = 0;
        let mut at = 0;
        for line in reply.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let inside = |span: &Span| (span.start as usize) <= start && start < span.end as usize;
            let text = line.trim().trim_start_matches(|c: char| MARKS.contains(&c) || c.is_ascii_digit());
            if !text.starts_with('(') || text.starts_with("(:") || actions.iter().any(inside) {
                continue;
            }
            let room = taken < MOST_OF_A_REPLY && self.declared.len() < MOST;
            let read = if room { self.proposal(text) } else { Err("there are too many".to_owned()) };
            match read {
                Ok((declared, said)) => {
                    taken += 1;
                    self.add(declared, said);
                }
                Err(why) => {
                    let span = Span::new(start as u32, (start + line.trim_end().len()) as u32);
                    out.push(
                        Diagnostic::warning(
                            codes::BAD_PREDICATE,
                            format!("this new predicate is left out: {why}"),
                        )
                        .at(SourceId(0), span, "")
                        .help("a new predicate is written as `(name ?x - type): what it says`, once"),
                    );
                }
            }
        }
    }

    /// A declaration with the text behind it, or the reason for a refusal.
    fn proposal(&self, line: &str) -> Result<(PredicateDecl, String), String> {
        let close = line.find(')').ok_or("its declaration is not closed")?;
        let (text, rest) = line.split_at(close + 1);
        let parsed = parse_domain(&format!("(define (domain d) (:predicates {text}))"), SourceId(0));
        if let Some(wrong) = parsed.diagnostics.iter().find(|d| d.is_error()) {
            return Err(wrong.message.to_string());
        }
        let declared = parsed.value.predicates.into_iter().next().ok_or("it is no declaration")?;
        let alone = Domain { predicates: vec![declared.clone()], ..self.types.clone() };
        if let Some(wrong) = check_domain(&alone, SourceId(0)).iter().find(|d| d.is_error()) {
            return Err(wrong.message.to_string());
        }
        if let Some(known) = self.declared.iter().find(|p| p.name == declared.name)
            && !same_types(&known.parameters, &declared.parameters)
        {
            let known = declaration(&known.name, &known.parameters);
            return Err(format!("it is declared already, as `{known}`"));
        }
        let said = rest.trim_start_matches(|c: char| MARKS.contains(&c) || c == ':').trim();
        Ok((declared, said.chars().take(MOST_SAID).collect()))
    }

    fn add(&mut self, declared: PredicateDecl, said: String) {
        if self.declared.iter().any(|p| p.name == declared.name) {
            return;
        }
        self.has_new = true;
        let declaration = declaration(&declared.name, &declared.parameters);
        self.described.push(PredicateDescription { declaration, text: said });
        self.declared.push(declared);
    }

    /// Drops unused predicates: a goal that needs one could not be reached.
    pub(crate) fn drop_unused(&mut self, used: impl Fn(&str) -> bool, out: &mut Vec<Diagnostic>) {
        let unused: Vec<String> =
            self.declared.iter().map(|p| p.name.key().to_owned()).filter(|name| !used(name)).collect();
        for name in &unused {
            let message = format!("predicate `{name}` is in no action and is left out");
            out.push(Diagnostic::advice(codes::UNUSED_PREDICATE, message).at(
                SourceId(0),
                Span::empty(0),
                "",
            ));
        }
        self.retain(|name| !unused.iter().any(|old| old == name));
    }

    /// Reads `old -> kept` lines and keeps one of each pair.
    pub(crate) fn unify(&mut self, reply: &str, out: &mut Vec<Diagnostic>) -> Unified {
        let unified = Unified::read(reply, &self.declared, &self.types, out);
        self.retain(|name| !unified.replaces(name));
        unified
    }

    fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        let mut kept = self.declared.iter().map(|p| keep(p.name.key())).collect::<Vec<_>>().into_iter();
        self.described.retain(|_| kept.next().unwrap_or(true));
        self.declared.retain(|p| keep(p.name.key()));
    }
}

fn same_types(a: &[TypedName], b: &[TypedName]) -> bool {
    let types = |list: &[TypedName]| -> Vec<Vec<String>> { list.iter().map(alternatives).collect() };
    types(a) == types(b)
}
