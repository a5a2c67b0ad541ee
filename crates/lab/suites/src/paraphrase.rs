//! Paraphrases of tasks: a suite's `wordings.jinja` describes any problem of its domain in several ways, so that a method can be
//! tried on texts that its examples do not resemble (translate-infer-compile paper, section 5.1, whose own set is not public).
//!
//! The part before the first line `%% wording` is shared; each such line begins a wording. A wording is rendered by the engine of
//! generators with their functions of chance, so that order and synonyms vary with the seed, and reads the problem by:
//!
//! | name | what it is |
//! |---|---|
//! | `objects(type)` | names of the objects of a type |
//! | `init(p)`, `goal(p)`, `goal_not(p)` | the facts of a predicate, each a list of its arguments |
//! | `covered(part, p)`, `covered(part, p, facts)` | these facts are covered by a rule or a count ("all other cells are vacant") |
//! | `require(condition, why)` | refuses problems that the wordings do not cover |
//! | `facts \| where(i, value, ...)`, `facts \| column(i)` | those with a value at place `i`; the values at place `i` |
//! | `facts \| say("{0} is in {1}")` | a phrase for each |
//! | `pairs \| both_ways`, `\| swapped`, `\| chains` | each symmetrical pair once; turned around; as sequences |
//!
//! The result is checked: every object is named, every fact of the initial state and the goal was asked for and stands with all its
//! names in one sentence or line, unless a rule covers it; and no two wordings of a task are the same text.

mod facts;
mod functions;
pub(crate) mod wording;

use crate::codes;
use crate::generate::template::NoRendering;
use crate::generate::{GenerationError, silent_objects};
use crate::mention::find_unmentioned;
use crate::rendering::{RenderRequest, Template, TemplateRenderer};
use facts::{Facts, Part, RequestedFacts};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, Span};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::random::Random;
use planforge_pipeline::{Suite, SuiteTask};
use wording::RenderedWording;

/// The line that begins a wording.
const WORDING: &str = "%% wording";

/// One telling of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paraphrase {
    /// The stem of its files: `p03-w2` is the second telling of `p03`.
    pub stem: String,
    /// The task in plain language.
    pub text: String,
}

/// A suite's wordings, ready to tell its tasks.
#[derive(Debug)]
pub struct Paraphraser {
    place: String,
    source: String,
    domain: Domain,
    /// The templates, each preceded by the shared part, with its original line numbers.
    wordings: Vec<String>,
    domain_text: String,
    renderer: TemplateRenderer,
}

impl Paraphraser {
    /// Takes a suite's wordings and its reference domain.
    ///
    /// # Errors
    /// `paraphrase.no-wordings`, `generate.no-domain` where the suite lacks the file.
    pub fn new(suite: &Suite, renderer: TemplateRenderer) -> Result<Self, GenerationError> {
        let shown = suite.folder.display();
        let missing = |code, file: &str, help: &str| {
            let found = Diagnostic::error(code, format!("{shown} has no {file}")).help(help);
            GenerationError { diagnostics: vec![found], sources: SourceMap::default() }
        };
        let Some(domain) = &suite.reference_domain else {
            return Err(missing(
                codes::NO_DOMAIN,
                "domain.pddl",
                "write domain.pddl: the domain of the tasks",
            ));
        };
        let Some(source) = &suite.wordings else {
            let help = "write wordings.jinja (`planforge explain paraphrase.no-wordings`)";
            return Err(missing(codes::NO_WORDINGS, "wordings.jinja", help));
        };
        let own = Self {
            place: suite.folder.join("wordings.jinja").display().to_string(),
            source: source.clone(),
            domain: planforge_pddl::parse_domain(domain, SourceId(0)).value,
            wordings: sections(source),
            domain_text: domain.clone(),
            renderer,
        };
        match own.wordings.is_empty() {
            false => Ok(own),
            true => Err(own.error_at(codes::WORDING, format!("the file has no line `{WORDING}`"), None)),
        }
    }

    /// Number of wordings in the file. More can be requested: they differ in order and synonyms.
    pub fn wording_count(&self) -> usize {
        self.wordings.len()
    }

    /// Writes `count` paraphrases of a task. The same seed gives the same bytes, and a higher count does not
    /// change the first ones.
    ///
    /// # Errors
    /// `paraphrase.unsupported` for a problem that the wordings do not cover, `paraphrase.template` for a
    /// mistake of the template, `generate.silent-object`, `paraphrase.untold` and `paraphrase.alike` for a
    /// text that omits facts or repeats another.
    pub fn task(&self, task: &SuiteTask, seed: u64, count: u32) -> Result<Vec<Paraphrase>, GenerationError> {
        let unsupported = |why: &str| self.error_at(codes::NO_WORDS, format!("{}: {why}", task.stem), None);
        let text =
            task.reference_problem.as_deref().ok_or_else(|| unsupported("it has no reference problem"))?;
        let problem = planforge_pddl::parse_problem(text, SourceId(0)).value;
        let facts = Facts::of(&self.domain, &problem).map_err(|why| unsupported(&why))?;
        // Each task and each wording has a stream of its own.
        let own = task.stem.bytes().fold(seed, |state, byte| Random::stream(state, byte.into()).next_u64());
        let mut told: Vec<Paraphrase> = Vec::new();
        for (number, wording) in (1..=count).zip(self.wordings.iter().cycle()) {
            let stem = format!("{}-w{number}", task.stem);
            let telling = Telling {
                paraphraser: self,
                stem: &stem,
                problem: &problem,
                problem_text: text,
                facts: &facts,
            };
            let text = telling.text(wording, (own, number.into()))?;
            if let Some(other) = told.iter().find(|other| other.text == text) {
                let message = format!("{stem} and {} are the same text", other.stem);
                return Err(self.error_at(codes::ALIKE, message, None));
            }
            told.push(Paraphrase { stem, text });
        }
        Ok(told)
    }

    /// A diagnostic at a line of the template, or about a rendered text.
    fn error_at(
        &self,
        code: &'static str,
        message: String,
        place: Option<ErrorPlace<'_>>,
    ) -> GenerationError {
        let mut diagnostic = Diagnostic::error(code, message);
        let sources = match place {
            Some(ErrorPlace::Text(text)) => {
                diagnostic = diagnostic.at(SourceId(0), Span::empty(0), "");
                SourceMap::single(format!("{} (text)", self.place), text)
            }
            Some(ErrorPlace::Line(line)) => {
                let before =
                    self.source.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
                let length =
                    self.source.get(before..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
                let at = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
                diagnostic = diagnostic.at(SourceId(0), Span::new(at(before), at(before + length)), "");
                SourceMap::single(self.place.clone(), self.source.clone())
            }
            None => SourceMap::single(self.place.clone(), self.source.clone()),
        };
        GenerationError { diagnostics: vec![diagnostic], sources }
    }
}

/// Place of a mistake.
enum ErrorPlace<'a> {
    Line(usize),
    Text(&'a str),
}

/// The shared part and one wording each; all other lines are empty, so that line numbers stay those of the file.
fn sections(source: &str) -> Vec<String> {
    let lines: Vec<&str> = source.lines().collect();
    let starts: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].trim() == WORDING).collect();
    let shared = starts.first().copied().unwrap_or(lines.len());
    let section = |(number, &start): (usize, &usize)| {
        let end = starts.get(number + 1).copied().unwrap_or(lines.len());
        let keep = |(at, line): (usize, &&str)| match at < shared || (at > start && at < end) {
            true => (*line).to_owned(),
            false => String::new(),
        };
        lines.iter().enumerate().map(keep).collect::<Vec<String>>().join("\n")
    };
    starts.iter().enumerate().map(section).collect()
}

/// One task in one wording.
struct Telling<'a> {
    paraphraser: &'a Paraphraser,
    stem: &'a str,
    problem: &'a Problem,
    problem_text: &'a str,
    facts: &'a Facts,
}

impl Telling<'_> {
    fn text(&self, wording: &str, stream: (u64, u64)) -> Result<String, GenerationError> {
        let template = Template::Wording {
            domain: self.paraphraser.domain_text.clone(),
            problem: self.problem_text.to_owned(),
        };
        let request = RenderRequest { source: wording.to_owned(), stream, template };
        let RenderedWording { text, requested } = match self.paraphraser.renderer.render(&request) {
            Ok(rendered) => rendered,
            Err(NoRendering::Redraw(why)) => {
                return Err(self.error_at(codes::WORDING, &format!("a wording draws once: {why}"), None));
            }
            Err(NoRendering::Wrong { message, line }) => {
                let (code, message) = match message.split_once(functions::REQUIRED) {
                    Some((_, why)) => (codes::NO_WORDS, why.to_owned()),
                    None => (codes::WORDING, message),
                };
                return Err(self.error_at(code, &message, Some(ErrorPlace::Line(line.unwrap_or(1)))));
            }
        };
        let silent = silent_objects(self.problem, &text);
        if !silent.is_empty() {
            let message = format!("the text never mentions {}", silent.join(", "));
            return Err(self.error_at(codes::SILENT, &message, Some(ErrorPlace::Text(&text))));
        }
        let untold = self.untold(&requested, &text);
        if !untold.is_empty() {
            let message = format!("the text does not tell {}", untold.join(", "));
            return Err(self.error_at(codes::UNTOLD, &message, Some(ErrorPlace::Text(&text))));
        }
        Ok(text)
    }

    /// Facts without a rule that the wording did not request, or that no sentence or line contains with all
    /// their names.
    fn untold(&self, requested: &RequestedFacts, text: &str) -> Vec<String> {
        let units: Vec<&str> = text.lines().flat_map(|line| line.split(". ")).collect();
        let mut untold = Vec::new();
        for ((part, predicate), facts) in &self.facts.facts {
            let was_asked = requested.told.iter().any(|(p, name)| p == part && name == predicate);
            for arguments in facts.iter().filter(|arguments| !requested.covers(*part, predicate, arguments)) {
                let stands =
                    |unit: &&str| find_unmentioned(unit, arguments.iter().map(String::as_str)).is_empty();
                if was_asked && units.iter().any(stands) {
                    continue;
                }
                let words: Vec<&str> =
                    [predicate.as_str()].into_iter().chain(arguments.iter().map(String::as_str)).collect();
                let not = if *part == Part::GoalNot { "not " } else { "" };
                let place = if *part == Part::Init { "initial state" } else { "goal" };
                untold.push(format!("{not}({}) of the {place}", words.join(" ")));
            }
        }
        untold
    }

    fn error_at(&self, code: &'static str, message: &str, place: Option<ErrorPlace<'_>>) -> GenerationError {
        self.paraphraser.error_at(code, format!("{}: {message}", self.stem), place)
    }
}
