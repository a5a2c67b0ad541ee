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
//! | `values(f)`, `bounds(f)` | numbers: arguments and initial value; arguments, comparison and number of the goal (levels) |
//! | `timed(p)`, `timed_not(p)` | facts that become true, or false, at a time: time and arguments (levels) |
//! | `constraints(op)`, `wishes(op)` | words of each constraint; name, weight and words of each preference (levels) |
//! | `facts \| where(i, value, ...)`, `facts \| column(i)` | those with a value at place `i`; the values at place `i` |
//! | `facts \| say("{0} is in {1}")` | a phrase for each |
//! | `pairs \| both_ways`, `\| swapped`, `\| chains` | each symmetrical pair once; turned around; as sequences |
//!
//! The result of a wording is checked: every object is named, every fact of the initial state and the goal was asked for and stands with all its
//! names in one sentence or line, unless a rule covers it; and no two wordings of a task are the same text.
//!
//! A line `%% level N` begins a level: a text that implies facts instead of naming them. Lines that begin with `~` after a line of text are other
//! forms of that line; the seed chooses one, and seed 1 the first. They draw nothing, so that the same seed gives all forms the same order. Each
//! form has the objects and numbers of the first.

mod facts;
pub(crate) mod functions;
mod sections;

use crate::codes;
use crate::generate::template::{NUMBER_WORDS, NoRendering};
use crate::generate::{GenerationError, silent_objects};
use crate::rendering::{RenderRequest, Template, TemplateRenderer, find_unmentioned};
use facts::{Facts, Part, RequestedFacts};
use functions::RenderedWording;
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, Span};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::random::Random;
use planforge_pipeline::{Suite, SuiteTask};
pub use sections::{add_sections, sort_metric};
use std::collections::{BTreeMap, BTreeSet};

/// The line that begins a section of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heading {
    /// `%% wording`
    Wording,
    /// `%% level N`
    Level(u8),
}

impl Heading {
    fn of(line: &str) -> Option<Self> {
        match line.trim().strip_prefix("%% ")?.split_once(' ') {
            None => (line.trim() == "%% wording").then_some(Self::Wording),
            Some(("level", number)) => number.parse().ok().map(Self::Level),
            Some(_) => None,
        }
    }
}

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
    /// The same for levels, by number.
    levels: BTreeMap<u8, String>,
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
        let (mut wordings, mut levels) = (Vec::new(), BTreeMap::new());
        for (heading, template) in sections(source) {
            match heading {
                Heading::Wording => wordings.push(template),
                Heading::Level(number) => {
                    levels.insert(number, template);
                }
            }
        }
        Ok(Self {
            place: suite.folder.join("wordings.jinja").display().to_string(),
            source: source.clone(),
            domain: planforge_pddl::parse_domain(domain, SourceId(0)).value,
            wordings,
            levels,
            domain_text: domain.clone(),
            renderer,
        })
    }

    /// Number of wordings in the file. More can be requested: they differ in order and synonyms.
    pub fn wording_count(&self) -> usize {
        self.wordings.len()
    }

    /// The levels in the file.
    pub fn levels(&self) -> impl Iterator<Item = u8> + '_ {
        self.levels.keys().copied()
    }

    /// Writes a task at a level. The same seed gives the same bytes.
    ///
    /// # Errors
    /// `paraphrase.unsupported` for a problem that the level does not cover, `paraphrase.template` for a mistake of the template
    /// or a level that the file does not have.
    pub fn level(&self, task: &SuiteTask, level: u8, seed: u64) -> Result<LevelText, GenerationError> {
        let section = level.min(LAST_SECTION);
        let Some(template) = self.levels.get(&section) else {
            return Err(self.error_at(
                codes::WORDING,
                format!("the file has no line `%% level {section}`"),
                None,
            ));
        };
        let (text, problem, facts) = self.reference(task)?;
        let stem = format!("{}-L{level}", task.stem);
        let telling =
            Telling { paraphraser: self, stem: &stem, problem: &problem, problem_text: text, facts: &facts };
        let stream = (task_seed(task, seed), u64::from(u32::MAX) + u64::from(section));
        let rendered = telling.render(template, stream)?.text;
        let objects = problem.objects.iter().chain(&self.domain.constants);
        let objects: Vec<&str> = objects.map(|object| object.name.as_str()).collect();
        LevelText::parse(stem.clone(), &rendered, &objects, &mut FormChoice::new(seed)).map_err(
            |(line, why)| telling.error_at(codes::WORDING, &why, Some(ErrorPlace::TextLine(&rendered, line))),
        )
    }

    /// Writes `count` paraphrases of a task. The same seed gives the same bytes, and a higher count does not
    /// change the first ones.
    ///
    /// # Errors
    /// `paraphrase.unsupported` for a problem that the wordings do not cover, `paraphrase.template` for a
    /// mistake of the template, `generate.silent-object`, `paraphrase.untold` and `paraphrase.alike` for a
    /// text that omits facts or repeats another.
    pub fn task(&self, task: &SuiteTask, seed: u64, count: u32) -> Result<Vec<Paraphrase>, GenerationError> {
        if self.wordings.is_empty() {
            return Err(self.error_at(codes::WORDING, "the file has no line `%% wording`".to_owned(), None));
        }
        let (text, problem, facts) = self.reference(task)?;
        if let Some(what) = facts.only_levels() {
            let message = format!("{}: it has {what}, which only a level tells (`%% level 2`)", task.stem);
            return Err(self.error_at(codes::NO_WORDS, message, None));
        }
        let own = task_seed(task, seed);
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

    /// A task's reference problem: its text, its tree and its facts.
    fn reference<'a>(&self, task: &'a SuiteTask) -> Result<(&'a str, Problem, Facts), GenerationError> {
        let unsupported = |why: &str| self.error_at(codes::NO_WORDS, format!("{}: {why}", task.stem), None);
        let text =
            task.reference_problem.as_deref().ok_or_else(|| unsupported("it has no reference problem"))?;
        let problem = planforge_pddl::parse_problem(text, SourceId(0)).value;
        let facts = Facts::of(&self.domain, &problem).map_err(|why| unsupported(&why))?;
        Ok((text, problem, facts))
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
            Some(ErrorPlace::TextLine(text, line)) => {
                diagnostic = diagnostic.at(SourceId(0), line_span(text, line), "");
                SourceMap::single(format!("{} (text)", self.place), text)
            }
            Some(ErrorPlace::Line(line)) => {
                diagnostic = diagnostic.at(SourceId(0), line_span(&self.source, line), "");
                SourceMap::single(self.place.clone(), self.source.clone())
            }
            None => SourceMap::single(self.place.clone(), self.source.clone()),
        };
        GenerationError { diagnostics: vec![diagnostic], sources }
    }
}

/// Place of a mistake.
enum ErrorPlace<'a> {
    /// A line of the file.
    Line(usize),
    /// A rendered text.
    Text(&'a str),
    /// A line of a rendered text.
    TextLine(&'a str, usize),
}

/// The span of a line, counted from 1.
fn line_span(text: &str, line: usize) -> Span {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let length = text.get(before..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
    let at = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Span::new(at(before), at(before + length))
}

/// The seed of a task: each task has its own stream of random choices, in which each wording has another one.
fn task_seed(task: &SuiteTask, seed: u64) -> u64 {
    task.stem.bytes().fold(seed, |state, byte| Random::stream(state, byte.into()).next_u64())
}

/// The shared part and one section each; all other lines are empty, so that line numbers stay those of the file.
fn sections(source: &str) -> Vec<(Heading, String)> {
    let lines: Vec<&str> = source.lines().collect();
    let starts: Vec<(usize, Heading)> =
        (0..lines.len()).filter_map(|i| Heading::of(lines[i]).map(|heading| (i, heading))).collect();
    let shared = starts.first().map_or(lines.len(), |(at, _)| *at);
    let section = |(number, &(start, heading)): (usize, &(usize, Heading))| {
        let end = starts.get(number + 1).map_or(lines.len(), |(at, _)| *at);
        let keep = |(at, line): (usize, &&str)| match at < shared || (at > start && at < end) {
            true => (*line).to_owned(),
            false => String::new(),
        };
        (heading, lines.iter().enumerate().map(keep).collect::<Vec<String>>().join("\n"))
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
    fn render(&self, template: &str, stream: (u64, u64)) -> Result<RenderedWording, GenerationError> {
        let kind = Template::Wording {
            domain: self.paraphraser.domain_text.clone(),
            problem: self.problem_text.to_owned(),
        };
        let request = RenderRequest { source: template.to_owned(), stream, template: kind };
        self.paraphraser.renderer.render(&request).map_err(|none| match none {
            NoRendering::Redraw(why) => {
                self.error_at(codes::WORDING, &format!("a wording draws once: {why}"), None)
            }
            NoRendering::Wrong { message, line } => {
                let (code, message) = match message.split_once(functions::REQUIRED) {
                    Some((_, why)) => (codes::NO_WORDS, why.to_owned()),
                    None => (codes::WORDING, message),
                };
                self.error_at(code, &message, Some(ErrorPlace::Line(line.unwrap_or(1))))
            }
        })
    }

    fn text(&self, wording: &str, stream: (u64, u64)) -> Result<String, GenerationError> {
        let RenderedWording { text, requested } = self.render(wording, stream)?;
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

/// The last level with a section of its own: texts of tasks at level 4 are those of level 3.
pub const LAST_SECTION: u8 = 3;

/// Begins another form of the line of text before it.
const FORM: char = '~';

/// Chooses among the forms of lines by the digits of the seed, so that two seeds give one text only when all combinations of forms are used.
struct FormChoice {
    /// The digits that are left.
    rest: u64,
    /// The sum of those before, so that one digit changes the lines after it too.
    sum: u64,
}

impl FormChoice {
    /// Seed 1 takes the first form of each line.
    fn new(seed: u64) -> Self {
        Self { rest: seed.wrapping_sub(1), sum: 0 }
    }

    fn choose<'a>(&mut self, forms: &[&'a str]) -> &'a str {
        let count = (forms.len() as u64).max(1);
        self.sum += self.rest % count;
        self.rest /= count;
        let place = usize::try_from(self.sum % count).unwrap_or_default();
        forms.get(place).copied().unwrap_or_default()
    }
}

/// Checks that a form of a line has the objects and numbers of the first form, in any order. `None` if it does.
fn form_mistake(first: &str, form: &str, objects: &[&str]) -> Option<String> {
    if form.is_empty() {
        return Some(format!("a form of `{first}` is empty"));
    }
    let objects = || objects.iter().copied();
    let without = [first, form].map(|line| find_unmentioned(line, objects()));
    for object in objects() {
        match without.each_ref().map(|names| names.contains(&object)) {
            [false, true] => return Some(format!("`{form}` lacks `{object}` of the first form, `{first}`")),
            [true, false] => {
                return Some(format!("`{form}` has `{object}`, which its first form, `{first}`, lacks"));
            }
            _ => {}
        }
    }
    let named = (objects().count() - without[1].len()) as u64;
    let [(stated, all), (own, own_all)] = [first, form].map(|line| numbers(line, objects()));
    if let Some(number) = stated.difference(&own_all).next() {
        return Some(format!("`{form}` lacks the number {number} of the first form, `{first}`"));
    }
    // A form may count the objects that it names.
    let number = own.difference(&all).find(|number| **number != named)?;
    Some(format!("`{form}` has the number {number}, which its first form, `{first}`, lacks"))
}

/// The numbers of a line, in digits or as words: those that every form must have, and all. Words up to `two` are not among the first, because a form
/// can say them otherwise: "neither of the two" and "both". The number of a name, as in `room 1` for `room1`, is not counted.
fn numbers<'a>(line: &str, objects: impl Iterator<Item = &'a str> + Clone) -> (BTreeSet<u64>, BTreeSet<u64>) {
    let line = line.to_lowercase();
    let (mut stated, mut all) = (BTreeSet::new(), BTreeSet::new());
    let mut before = "";
    for word in line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')) {
        let is_of_name = !before.is_empty()
            && objects.clone().any(|object| {
                let object = object.to_lowercase();
                object.strip_suffix(word).is_some_and(|stem| stem.trim_end_matches(['-', '_']) == before)
            });
        before = word;
        let digits: Option<u64> = word.parse().ok().filter(|_| !is_of_name);
        let value = match word {
            "both" => Some(2),
            _ => NUMBER_WORDS.iter().position(|known| *known == word).map(|at| at as u64),
        };
        stated.extend(digits.or(value.filter(|value| *value > 2)));
        all.extend(digits.or(value));
    }
    (stated, all)
}

/// Begins a line with facts.
const FACTS: char = '=';
/// The facts of a sentence that has none.
const IRRELEVANT: &str = "irrelevant";
/// Begins a line with sections of a problem, which the language of facts does not have.
const PDDL: &str = "pddl ";
/// Begins such a line among facts: for their language it is a comment.
pub const PDDL_COMMENT: &str = "%pddl ";

/// A sentence and its facts. May have several lines, such as the first row of a table below its head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    pub text: String,
    /// The facts and rules that it states; `None` for an irrelevant sentence.
    pub facts: Option<String>,
}

/// A task at a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelText {
    /// The stem of its files: `p03-L2`.
    pub stem: String,
    pub sentences: Vec<Sentence>,
}

fn fact_line(facts: &str) -> String {
    match facts.strip_prefix(PDDL) {
        Some(sections) => format!("{PDDL_COMMENT}{sections}\n"),
        None => format!("{facts}\n"),
    }
}

impl LevelText {
    /// Reads a rendered level of a task with these objects.
    ///
    /// # Errors
    /// A sentence without facts, facts before the first sentence, a form of no line, an empty form, or one with other objects or numbers than
    /// the first; with the line of the rendered text.
    fn parse(
        stem: String,
        rendered: &str,
        objects: &[&str],
        choice: &mut FormChoice,
    ) -> Result<Self, (usize, String)> {
        let mut sentences: Vec<Sentence> = Vec::new();
        // The forms of each line of the sentence.
        let mut text: Vec<Vec<&str>> = Vec::new();
        let mut number = 0;
        for (index, line) in rendered.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty())
        {
            number = index + 1;
            if let Some(form) = line.strip_prefix(FORM).map(str::trim) {
                let forms =
                    text.last_mut().ok_or_else(|| (number, format!("no text stands before `{line}`")))?;
                let first = forms.first().copied().unwrap_or_default();
                if let Some(why) = form_mistake(first, form, objects) {
                    return Err((number, why));
                }
                forms.push(form);
                continue;
            }
            match line.strip_prefix(FACTS).map(str::trim) {
                None => text.push(vec![line]),
                Some(facts) if !text.is_empty() => {
                    let facts = (facts != IRRELEVANT).then(|| fact_line(facts));
                    let text = std::mem::take(&mut text);
                    let text = text.iter().map(|forms| format!("{}\n", choice.choose(forms))).collect();
                    sentences.push(Sentence { text, facts });
                }
                Some(facts) => match sentences.last_mut().and_then(|last| last.facts.as_mut()) {
                    Some(before) => before.push_str(&fact_line(facts)),
                    None => return Err((number, format!("no sentence stands before `{FACTS} {facts}`"))),
                },
            }
        }
        match text.last().and_then(|forms| forms.first()) {
            None => Ok(Self { stem, sentences }),
            Some(last) => Err((number, format!("no line `{FACTS} ...` follows `{last}`"))),
        }
    }

    /// The text of the task.
    pub fn text(&self) -> String {
        self.sentences.iter().map(|sentence| sentence.text.as_str()).collect()
    }

    /// The facts of all sentences but the one of this index.
    pub fn facts_without(&self, left_out: Option<usize>) -> String {
        let kept = self.sentences.iter().enumerate().filter(|(index, _)| Some(*index) != left_out);
        kept.filter_map(|(_, sentence)| sentence.facts.as_deref()).collect()
    }
}
