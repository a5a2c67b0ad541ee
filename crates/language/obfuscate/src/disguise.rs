//! The disguise of a suite: renamed definitions, texts and programs.

use crate::lexicon::{Lexicon, Named};
use crate::options::DisguiseOptions;
use crate::program::{self, ProgramNames};
use crate::renaming::Renaming;
use crate::sources::Sources;
use crate::text::{self, TextPiece};
use crate::words::function::is_function_word;
use crate::words::invent::digest;
use crate::{order, text::pieces};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{
    Name, NameKind, VisitNames as _, domain_template, parse_domain, parse_problem, print_domain,
    print_problem, problem_template,
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
            order::domain(&mut domain, self.order);
        }
        domain
    }

    fn problem_tree(&self, mut problem: Problem) -> Problem {
        problem.visit_names(&mut |symbol, name| self.rename(symbol, name));
        if self.options.reorder {
            order::problem(&mut problem, self.order);
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
        text::rewritten(text, |piece| match piece {
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
        program::rewritten(program, self)
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
