//! Predicates that grow action by action: which ones a reply proposes, and which ones are dropped in the end.

use crate::codes;
use planforge_contract::PredicateDescription;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::{Action, Atom, Condition, Domain, Effect, PredicateDecl, TypedName};
use planforge_pddl::{Name, action_blocks, check_domain, parse_domain, print_action, print_typed_list};
use std::collections::BTreeMap;

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

/// The replacements of predicates.
#[derive(Debug, Default)]
pub(crate) struct Unified {
    /// Name -> replacement, which may be replaced in turn. There are no circles.
    by: BTreeMap<String, Name>,
}

impl Unified {
    /// Reads lines of the form `old -> kept`.
    pub(crate) fn read(
        reply: &str,
        declared: &[PredicateDecl],
        types: &Domain,
        out: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut unified = Self::default();
        let mut at = 0;
        for line in reply.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let plain = line.replace('→', "->");
            let Some((old, kept)) = plain.split_once("->") else { continue };
            if let Err(why) = unified.add(word(old), word(kept), declared, types) {
                let span = Span::new(start as u32, (start + line.trim_end().len()) as u32);
                let message = format!("these two predicates are not made one: {why}");
                out.push(
                    Diagnostic::warning(codes::NOT_UNIFIED, message)
                        .at(SourceId(0), span, "")
                        .help("write `old -> kept` with the names of two predicates of the list"),
                );
            }
        }
        unified
    }

    fn add(
        &mut self,
        old: &str,
        kept: &str,
        declared: &[PredicateDecl],
        types: &Domain,
    ) -> Result<(), String> {
        let find = |name: &str| {
            let found = declared.iter().find(|p| p.name.is(&name.to_lowercase()));
            found.ok_or_else(|| format!("there is no predicate `{name}`"))
        };
        let (old, kept) = (find(old)?, find(kept)?);
        if self.by.contains_key(old.name.key()) {
            return Err(format!("`{}` is replaced already", old.name));
        }
        if self.last(&kept.name) == &old.name {
            return Err(format!("`{}` would replace itself", old.name));
        }
        if old.parameters.len() != kept.parameters.len() {
            return Err(format!("`{}` and `{}` have different numbers of arguments", old.name, kept.name));
        }
        // An argument of the old one must be one of the kept as well.
        let fits = old.parameters.iter().zip(&kept.parameters).all(|(old, kept)| {
            let wide = alternatives(kept);
            alternatives(old).iter().all(|ty| ancestors(ty, types).iter().any(|a| wide.contains(a)))
        });
        if !fits {
            return Err(format!("`{}` takes arguments of types that `{}` does not", old.name, kept.name));
        }
        self.by.insert(old.name.key().to_owned(), kept.name.clone());
        Ok(())
    }

    /// The final replacement of a name.
    fn last<'n>(&'n self, name: &'n Name) -> &'n Name {
        let mut last = name;
        while let Some(next) = self.by.get(last.key()) {
            last = next;
        }
        last
    }

    /// True if another predicate replaces this one.
    fn replaces(&self, name: &str) -> bool {
        self.by.contains_key(name)
    }

    /// Rewrites an action with the replacements; `None` if it is unreadable or does not change.
    pub(crate) fn in_action(&self, text: &str) -> Option<String> {
        let parsed = parse_domain(&format!("(define (domain d)\n{text}\n)"), SourceId(0));
        if self.by.is_empty() || parsed.diagnostics.iter().any(Diagnostic::is_error) {
            return None;
        }
        let mut action: Action = parsed.value.actions.into_iter().next()?;
        let before = print_action(&action);
        action.precondition.iter_mut().for_each(|c| self.in_condition(c));
        action.effect.iter_mut().for_each(|e| self.in_effect(e));
        Some(print_action(&action)).filter(|after| *after != before)
    }

    fn in_atom(&self, atom: &mut Atom) {
        let name = self.last(&atom.predicate).at(atom.predicate.span);
        atom.predicate = name;
    }

    fn in_condition(&self, condition: &mut Condition) {
        match condition {
            Condition::And(parts, _) | Condition::Or(parts, _) => {
                parts.iter_mut().for_each(|part| self.in_condition(part));
            }
            Condition::Not(inner, _) | Condition::Timed(_, inner, _) => self.in_condition(inner),
            Condition::Imply(a, b, _) => {
                self.in_condition(a);
                self.in_condition(b);
            }
            Condition::Exists(q) | Condition::Forall(q) => self.in_condition(&mut q.body),
            Condition::Preference(p) => self.in_condition(&mut p.condition),
            Condition::Trajectory(t) => t.conditions.iter_mut().for_each(|part| self.in_condition(part)),
            Condition::Atom(atom) => self.in_atom(atom),
            Condition::Equal(..) | Condition::Compare(_) => {}
        }
    }

    fn in_effect(&self, effect: &mut Effect) {
        match effect {
            Effect::And(parts, _) => parts.iter_mut().for_each(|part| self.in_effect(part)),
            Effect::Forall(q) => self.in_effect(&mut q.body),
            Effect::When(condition, inner, _) => {
                self.in_condition(condition);
                self.in_effect(inner);
            }
            Effect::Add(atom) | Effect::Delete(atom, _) => self.in_atom(atom),
            Effect::Timed(_, inner, _) => self.in_effect(inner),
            Effect::Assign(_) => {}
        }
    }
}

/// The name in one half of a line: the first word, without the characters around it.
fn word(half: &str) -> &str {
    let start = half.trim_start_matches(|c: char| MARKS.contains(&c) || c == '(' || c.is_ascii_digit());
    let end = start.find(|c: char| c.is_whitespace() || "()`,;:.".contains(c)).unwrap_or(start.len());
    start.get(..end).unwrap_or_default()
}

/// A type and everything above it, in lower case.
fn ancestors(ty: &str, types: &Domain) -> Vec<String> {
    let mut all = vec![ty.to_owned()];
    let mut next = 0;
    while let Some(name) = all.get(next).cloned() {
        let parents = types.types.iter().filter(|t| t.name.is(&name)).flat_map(alternatives);
        let new: Vec<String> = parents.filter(|parent| !all.contains(parent)).collect();
        all.extend(new);
        next += 1;
    }
    if !all.iter().any(|name| name == "object") {
        all.push("object".to_owned());
    }
    all
}

/// Characters around an item of a list.
const MARKS: [char; 7] = ['-', '*', '`', ' ', '.', '\t', '+'];

/// `(name ?x - type)`.
pub(crate) fn declaration(name: &Name, parameters: &[TypedName]) -> String {
    match parameters.is_empty() {
        true => format!("({name})"),
        false => format!("({name} {})", print_typed_list(parameters)),
    }
}

/// The types of a parameter, in lower case.
fn alternatives(parameter: &TypedName) -> Vec<String> {
    match &parameter.ty {
        Some(ty) => ty.alternatives.iter().map(|name| name.key().to_owned()).collect(),
        None => vec!["object".to_owned()],
    }
}

/// True if a text of PDDL, readable or not, has a list that begins with the name.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let heads = text.split('(').skip(1);
    let word = |rest: &str| -> String {
        rest.trim_start().chars().take_while(|c| !c.is_whitespace() && !"();".contains(*c)).collect()
    };
    heads.map(word).any(|head| head.eq_ignore_ascii_case(name))
}
