//! Tasks from a seed: a suite's `generator.jinja` is rendered once per task and yields the problem and its text together, so
//! that they agree by construction. A new domain needs only new files.
//!
//! The template prints two sections, each under a line of its own:
//!
//! ```text
//! %% problem
//! (define (problem {{ name }}) ...)
//! %% text
//! There are two rooms, {{ rooms | listed }}. ...
//! ```
//!
//! | name | what it is |
//! |---|---|
//! | `index` | the task's number from 1, to let sizes grow; 0 for the in-context example |
//! | `size` | the number of objects of a task of the [ladder](crate::ladder), whose text is not the template's; otherwise 0 |
//! | `name` | SUITE-NN, for the problem's name |
//! | `integer(a, b)`, `chance(p)` | a number in `a..=b`; true with probability `p` |
//! | `pick(list)`, `sample(list, k)`, `shuffle(list)` | one item; `k` different ones; all, in random order |
//! | `names(stem, n)` | `[stem1, ..., stemn]` |
//! | `tree(list)` | pairs that join all items without a cycle |
//! | `connected(list, extra)` | a tree and up to `extra` further pairs |
//! | `route(pairs, a, b)` | the items of a shortest way from `a` to `b`, without `a` |
//! | `redraw(why)` | gives this draw up and takes the next draw of the seed |
//! | `list \| listed`, `n \| word`, `list \| index_of(item)` | `a, b and c`; `three`; place of an item |
//!
//! Statements are in `{% ... %}`, or after `#` at the beginning of a line; `##` begins a comment.
//!
//! Rendering has no access to files, and is limited in steps and output; in a child process (see [`TemplateRenderer`]) also in
//! memory and time. Our printer formats the problem; in the
//! text, lines are trimmed and runs of blanks become one.

mod draw;
pub(crate) mod template;

use crate::codes;
use crate::ladder::{Axes, Lexicon};
use crate::rendering::{TemplateRenderer, find_unmentioned};
pub use draw::{Limits, MAX_DRAWS};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_pddl::ast::Domain;
use planforge_pipeline::Suite;
use planforge_planning::ResourceLimits;
use std::borrow::Cow;

/// A generated task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// The stem of its files: `p03`, or `p_example`.
    pub stem: String,
    /// The problem, as PDDL.
    pub problem: String,
    /// The task in plain language.
    pub text: String,
    /// A plan for it, as a plan file.
    pub plan: String,
    /// Reasons for rejected draws of the seed.
    pub redrawn: Vec<String>,
    /// The axes of its text, for a task of the ladder.
    pub axes: Option<Axes>,
    /// The fact that its text leaves out, as PDDL.
    pub gap: Option<String>,
}

/// One task of the ladder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rung {
    /// Objects of the problem, at least 10.
    pub size: u32,
    pub axes: Axes,
    /// Number among the tasks of this size, from 1. The axes of one size have the same problems.
    pub number: u32,
}

/// The reason why there is no task.
#[derive(Debug, Clone)]
pub struct GenerationError {
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that the diagnostics point into.
    pub sources: SourceMap,
}

/// A suite's generator, ready to draw tasks.
#[derive(Debug)]
pub struct Generator {
    suite: String,
    place: String,
    source: String,
    domain: Domain,
    domain_text: String,
    lexicon: Option<Lexicon>,
    renderer: TemplateRenderer,
}

impl Generator {
    /// Takes a suite's generator and its reference domain.
    ///
    /// # Errors
    /// `generate.no-generator`, `generate.no-domain` where the suite lacks the file, and what is wrong with the domain.
    pub fn new(suite: &Suite, renderer: TemplateRenderer) -> Result<Self, GenerationError> {
        let shown = suite.folder.display();
        let missing = |code: &'static str, file: &str, what: &str| {
            let help = format!("write {file}: {what}");
            Diagnostic::error(code, format!("{shown} has no {file}")).help(help)
        };
        let mut found = Vec::new();
        if suite.generator.is_none() {
            let what =
                "a template that prints a problem and its text (`planforge explain generate.no-generator`)";
            found.push(missing(codes::NO_GENERATOR, "generator.jinja", what));
        }
        if suite.reference_domain.is_none() {
            found.push(missing(codes::NO_DOMAIN, "domain.pddl", "the domain that the problems are for"));
        }
        let (Some(source), Some(domain_text)) = (&suite.generator, &suite.reference_domain) else {
            return Err(GenerationError { diagnostics: found, sources: SourceMap::default() });
        };
        let file = suite.folder.join("domain.pddl").display().to_string();
        let parsed = planforge_pddl::parse_domain(domain_text, SourceId(0));
        found.extend(parsed.diagnostics);
        found.extend(planforge_pddl::check_domain(&parsed.value, SourceId(0)));
        if found.iter().any(Diagnostic::is_error) {
            let sources = SourceMap::single(file, domain_text.clone());
            return Err(GenerationError { diagnostics: found, sources });
        }
        let lexicon = suite.ladder.as_deref().map(Lexicon::parse).transpose().map_err(|why| {
            let file = suite.folder.join("ladder.toml");
            let wrong = Diagnostic::error(codes::LADDER_SENTENCES, format!("{}: {why}", file.display()))
                .help("`planforge explain ladder.sentences` shows the form of the file");
            GenerationError { diagnostics: vec![wrong], sources: SourceMap::default() }
        })?;
        Ok(Self {
            lexicon,
            suite: suite.name.clone(),
            place: suite.folder.join("generator.jinja").display().to_string(),
            source: source.clone(),
            domain: parsed.value,
            domain_text: domain_text.clone(),
            renderer,
        })
    }

    /// The task of a number, from 1; 0 is the in-context example. The same seed and number give the same bytes on every machine:
    /// the search is limited in nodes, and the budget's clock can only end the work, never choose another draw.
    ///
    /// # Errors
    /// A mistake of the template, a problem that the front end rejects, an object that the text never mentions, no draw with a
    /// plan among [`MAX_DRAWS`], or the end of the budget.
    pub fn instance(
        &self,
        seed: u64,
        index: u32,
        limits: &Limits,
        budget: &mut dyn ResourceLimits,
    ) -> Result<Instance, GenerationError> {
        draw::instance(self, seed, &draw::Requested::Number(index), limits, budget)
    }

    /// A task of the ladder. The same seed and rung give the same bytes on every machine.
    ///
    /// # Errors
    /// `ladder.sentences` without a ladder.toml or with a mistake in it, `ladder.unread` where the text cannot be read back, and those of [`Self::instance`].
    pub fn rung(
        &self,
        seed: u64,
        rung: &Rung,
        limits: &Limits,
        budget: &mut dyn ResourceLimits,
    ) -> Result<Instance, GenerationError> {
        draw::instance(self, seed, &draw::Requested::Rung(rung), limits, budget)
    }

    fn error_with_text(&self, diagnostic: Diagnostic, text: Option<(&str, Cow<'_, str>)>) -> GenerationError {
        let mut sources = SourceMap::default();
        match text {
            Some((what, text)) => sources.add(format!("{} ({what})", self.place), text.into_owned()),
            None => sources.add(self.place.clone(), self.source.clone()),
        };
        GenerationError { diagnostics: vec![diagnostic], sources }
    }
}

/// Objects of a problem that its text never mentions.
pub(crate) fn silent_objects(problem: &planforge_pddl::ast::Problem, text: &str) -> Vec<String> {
    find_unmentioned(text, problem.objects.iter().map(|o| o.name.as_str()))
        .into_iter()
        .map(str::to_owned)
        .collect()
}
