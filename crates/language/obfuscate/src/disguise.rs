//! The disguise of a suite: renamed definitions, texts and programs.
//!
//! Items whose order has no meaning are sorted by a hash of the seed and their content. So two definitions with the same items list them
//! in the same order, and duplicates keep their order.

use crate::invent::digest;
use crate::lexicon::{Lexicon, Named};
use crate::options::{DisguiseOptions, Sources};
use crate::renaming::Renaming;
use crate::text;
use crate::text::{ProgramNames, TextPiece, pieces};
use crate::words::is_function_word;
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Condition, Domain, Effect, InitElement, Problem, TypedName};
use planforge_pddl::{
    Name, NameKind, VisitNames as _, domain_template, parse_domain, parse_problem, print_atom,
    print_condition, print_domain, print_effect, print_init, print_problem, problem_template,
};
use std::collections::{BTreeMap, BTreeSet};

/// The disguise of a suite. The same sources, in any order, and the same options give the same disguise.
#[derive(Debug, PartialEq, Eq)]
pub struct Disguise {
    options: DisguiseOptions,
    lexicon: Lexicon,
    renaming: Renaming,
    /// Names as answer set programs write them -> new names, written so.
    mangled: BTreeMap<String, String>,
    order: u64,
}

impl Disguise {
    /// The disguise of a suite.
    pub fn new(sources: &Sources, options: &DisguiseOptions) -> Self {
        let named = Named::read(sources);
        let lexicon = Lexicon::new(sources, &named, options);
        let renaming = Renaming {
            style: options.names,
            seed: options.seed,
            names: lexicon.names.clone(),
            words: if options.texts { lexicon.table() } else { BTreeMap::new() },
            left: lexicon.left.clone(),
            kept: lexicon.kept.clone(),
        };
        let mangle = |name: &str| name.replace('-', "_");
        let mangled = lexicon.names.iter().map(|(name, new)| (mangle(name), mangle(new))).collect();
        let order = digest(options.seed, &format!("order/{}", sources.suite));
        Self { options: options.clone(), lexicon, renaming, mangled, order }
    }

    /// The whole table of names and words.
    pub const fn renaming(&self) -> &Renaming {
        &self.renaming
    }

    /// The table for some of the suite's definitions, which are in the new names already: their names, and all words.
    pub fn renaming_of<'a>(
        &self,
        domains: impl IntoIterator<Item = &'a str>,
        problems: impl IntoIterator<Item = &'a str>,
    ) -> Renaming {
        let mut named: BTreeSet<String> = BTreeSet::new();
        let mut note = |_: NameKind, name: &mut Name| {
            named.insert(name.key().trim_start_matches('?').to_owned());
        };
        for text in domains {
            parse_domain(text, SourceId(0)).value.visit_names(&mut note);
        }
        for text in problems {
            parse_problem(text, SourceId(0)).value.visit_names(&mut note);
        }
        let mut renaming = self.renaming.clone();
        renaming.names.retain(|_, new| named.contains(new));
        renaming.left.retain(|name| renaming.names.contains_key(name));
        renaming.kept.retain(|name| named.contains(name));
        renaming
    }

    /// The new name of a name.
    pub fn name(&self, name: &str) -> String {
        self.renaming.name(name).to_owned()
    }

    /// Disguises a domain. Comments are lost.
    ///
    /// # Errors
    /// The first syntax error, since the text around it would be lost.
    pub fn domain(&self, text: &str) -> Result<String, String> {
        let parsed = parse_domain(text, SourceId(0));
        if let Some(wrong) = parsed.diagnostics.iter().find(|d| d.is_error()) {
            return Err(wrong.message.to_string());
        }
        Ok(print_domain(&self.domain_tree(parsed.value)))
    }

    /// Disguises a problem. Comments are lost.
    ///
    /// # Errors
    /// The first syntax error, since the text around it would be lost.
    pub fn problem(&self, text: &str) -> Result<String, String> {
        let parsed = parse_problem(text, SourceId(0));
        if let Some(wrong) = parsed.diagnostics.iter().find(|d| d.is_error()) {
            return Err(wrong.message.to_string());
        }
        Ok(print_problem(&self.problem_tree(parsed.value)))
    }

    /// Disguises the domain template of `domain`. A template that equals the generated one is generated again
    /// from the new domain.
    pub fn domain_template(&self, template: &str, domain: Option<&str>) -> String {
        let made = domain.map(|text| parse_domain(text, SourceId(0)).value);
        match made.filter(|domain| domain_template(domain).trim() == template.trim()) {
            Some(domain) => end_like(template, domain_template(&self.domain_tree(domain))),
            None => self.pddl(template),
        }
    }

    /// The beginning of a problem that belongs to `problem`.
    pub fn problem_template(&self, template: &str, problem: Option<&str>) -> String {
        let made = problem.map(|text| parse_problem(text, SourceId(0)).value);
        match made.filter(|problem| problem_template(problem).trim() == template.trim()) {
            Some(problem) => end_like(template, problem_template(&self.problem_tree(problem))),
            None => self.pddl(template),
        }
    }

    fn domain_tree(&self, mut domain: Domain) -> Domain {
        domain.visit_names(&mut |symbol, name| self.rename(symbol, name));
        if self.options.reorder {
            reorder_domain(&mut domain, self.order);
        }
        domain
    }

    fn problem_tree(&self, mut problem: Problem) -> Problem {
        problem.visit_names(&mut |symbol, name| self.rename(symbol, name));
        if self.options.reorder {
            reorder_problem(&mut problem, self.order);
        }
        problem
    }

    fn rename(&self, symbol: NameKind, name: &mut Name) {
        if let Some(new) = self.renaming.names.get(name.key().trim_start_matches('?')) {
            let mark = if symbol == NameKind::Variable { "?" } else { "" };
            *name = Name::new(&format!("{mark}{new}"), name.span);
        }
    }

    /// Disguises plans, declarations and other fragments: replaces whole symbols, and treats comments like
    /// texts.
    pub fn pddl(&self, text: &str) -> String {
        let lines = text.split_inclusive('\n').map(|line| match line.split_once(';') {
            Some((before, comment)) => format!("{};{}", self.renaming.apply(before), self.text(comment)),
            None => self.renaming.apply(line),
        });
        lines.collect()
    }

    /// A text in plain language, or one that mixes it with names.
    pub fn text(&self, text: &str) -> String {
        if self.options.texts { self.replace_words(text, false) } else { text.to_owned() }
    }

    /// Disguises the description of an action and its parameters.
    pub fn action_text(&self, text: &str) -> String {
        if self.options.texts { self.replace_words(text, true) } else { text.to_owned() }
    }

    /// True if sentences use the new names.
    pub const fn texts(&self) -> bool {
        self.options.texts
    }

    fn replace_words(&self, text: &str, of_parameters: bool) -> String {
        text::rewrite_text(text, |piece| match piece {
            // A run of letters is a word of the language before it is a name.
            TextPiece::Run(run) if pieces(run).len() == 1 => None,
            TextPiece::Run(run) => self.renaming.names.get(run).filter(|_| !is_function_word(run)).cloned(),
            // What the suite's own texts have was looked up once for all.
            TextPiece::Word(word) if !of_parameters && self.lexicon.knows(word) => {
                self.renaming.words.get(word).cloned()
            }
            TextPiece::Word(word) => self.lexicon.word(word, of_parameters),
        })
    }

    /// An answer set program.
    pub fn program(&self, program: &str) -> String {
        crate::text::rewrite_program(program, self)
    }
}

impl ProgramNames for Disguise {
    fn name(&self, mangled: &str) -> Option<String> {
        self.mangled.get(mangled).cloned()
    }

    fn words(&self, identifier: &str) -> String {
        self.replace_words(identifier, false)
    }

    fn text(&self, text: &str) -> String {
        Self::text(self, text)
    }
}

/// A text that ends with a line as another does.
fn end_like(old: &str, new: String) -> String {
    let new = new.trim_end().to_owned();
    if old.ends_with('\n') { new + "\n" } else { new }
}

/// Declarations, the conjuncts and disjuncts of conditions, and effects of a domain. Parameters keep their order, for plans name them by
/// position.
fn reorder_domain(domain: &mut Domain, seed: u64) {
    sort_typed_list(&mut domain.types, seed);
    sort_typed_list(&mut domain.constants, seed);
    domain.predicates.sort_by_cached_key(|p| digest(seed, p.name.key()));
    domain.functions.sort_by_cached_key(|f| digest(seed, f.name.key()));
    domain.actions.sort_by_cached_key(|a| digest(seed, a.name.key()));
    domain.durative_actions.sort_by_cached_key(|a| digest(seed, a.name.key()));
    for action in &mut domain.actions {
        action.precondition.iter_mut().for_each(|c| reorder_condition(c, seed));
        action.effect.iter_mut().for_each(|e| reorder_effect(e, seed));
    }
    for action in &mut domain.durative_actions {
        action.condition.iter_mut().for_each(|c| reorder_condition(c, seed));
        action.effect.iter_mut().for_each(|e| reorder_effect(e, seed));
    }
    for rule in &mut domain.derived {
        rule.condition.iter_mut().for_each(|c| reorder_condition(c, seed));
    }
}

/// The objects, the initial state and the goal of a problem.
fn reorder_problem(problem: &mut Problem, seed: u64) {
    sort_typed_list(&mut problem.objects, seed);
    problem.init.sort_by_cached_key(|element| digest(seed, &element_key(element)));
    problem.goal.iter_mut().for_each(|c| reorder_condition(c, seed));
}

/// Key of an initial element: several values of one fluent keep their order.
fn element_key(element: &InitElement) -> String {
    match element {
        InitElement::Value(fluent, ..) => {
            let args: Vec<&str> = fluent.args.iter().map(|term| term.name().key()).collect();
            format!("{} {}", fluent.function.key(), args.join(" "))
        }
        InitElement::Atom(atom) | InitElement::Not(atom, _) => print_atom(atom).to_lowercase(),
        InitElement::Timed { .. } => print_init(element).to_lowercase(),
    }
}

/// Neighbours of one type stay neighbours, as people write lists.
fn sort_typed_list(list: &mut [TypedName], seed: u64) {
    let type_of = |entry: &TypedName| -> String {
        let names = entry.ty.as_ref().map(|ty| &ty.alternatives[..]).unwrap_or_default();
        names.iter().map(|name| name.key()).collect::<Vec<_>>().join(" ")
    };
    // Without a type at the end: further up the names would take the type of those behind them.
    list.sort_by_cached_key(|entry| {
        (entry.ty.is_none(), digest(seed, &type_of(entry)), type_of(entry), digest(seed, entry.name.key()))
    });
}

fn reorder_condition(it: &mut Condition, seed: u64) {
    match it {
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter_mut().for_each(|part| reorder_condition(part, seed));
            parts.sort_by_cached_key(|part| digest(seed, &print_condition(part)));
        }
        Condition::Not(inner, _) | Condition::Timed(_, inner, _) => reorder_condition(inner, seed),
        Condition::Imply(a, b, _) => {
            reorder_condition(a, seed);
            reorder_condition(b, seed);
        }
        Condition::Exists(q) | Condition::Forall(q) => reorder_condition(&mut q.body, seed),
        Condition::Preference(p) => reorder_condition(&mut p.condition, seed),
        // The two conditions of a trajectory have different roles.
        Condition::Trajectory(t) => t.conditions.iter_mut().for_each(|part| reorder_condition(part, seed)),
        Condition::Atom(_) | Condition::Equal(..) | Condition::Compare(_) => {}
    }
}

fn reorder_effect(it: &mut Effect, seed: u64) {
    match it {
        Effect::And(parts, _) => {
            parts.iter_mut().for_each(|part| reorder_effect(part, seed));
            // Changes of numbers stay among themselves as they were.
            if !parts.iter().any(|part| matches!(part, Effect::Assign(_))) {
                parts.sort_by_cached_key(|part| digest(seed, &print_effect(part)));
            }
        }
        Effect::Forall(q) => reorder_effect(&mut q.body, seed),
        Effect::When(when, inner, _) => {
            reorder_condition(when, seed);
            reorder_effect(inner, seed);
        }
        Effect::Timed(_, inner, _) => reorder_effect(inner, seed),
        Effect::Add(_) | Effect::Delete(..) | Effect::Assign(_) => {}
    }
}
