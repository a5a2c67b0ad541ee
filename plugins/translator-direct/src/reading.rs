//! `translator-reading`: asks a language model (role `writer`) for a domain and a problem in one reply, from the numbered sentences of the
//! task's text and, if there is one, of the domain's text. If a domain is given, the question shows it and the problem alone is written.
//!
//! Each line of the PDDL names its sentences in a comment (`planforge_plugin_common::reading` reads them), so the PDDL is kept as
//! written. The first line of a reply says whether the text is a task. A text that is none, contradicts itself or holds two tasks fails
//! the sample, with the model's sentence as message. Feedback is asked about in the next turn of the conversation.

use crate::prompt::FEATURE_TEMPLATES;
use planforge_diagnostics::{CodeInfo, Diagnostic, SourceId, code_table};
use planforge_pddl::ast::{Domain, TypedName};
use planforge_pddl::{TaskSources, check_domain, check_problem, parse_domain, parse_problem};
use planforge_plugin_common::reading::{has_quote, is_sentence, join_texts, numbered, quotation_mark};
use planforge_plugin_common::translating::{
    PROMPT_TEMPLATE, REVISE_TEMPLATE, ROLE, Revision, TaskFeatures, Writer, answered_turns,
    need_problem_text, new_turns, response, too_few_replies,
};
use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::prompt::Templates;
use planforge_plugin_sdk::reply::{WantedPddl, check_finish, no_pddl, read_reply};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("reading/codes.md");

const NO_TASK: &str = "translator-reading.no-task";
const CONTRADICTION: &str = "translator-reading.contradiction";
const TWO_TASKS: &str = "translator-reading.two-tasks";

/// Characters of a reply that a message has at most.
const LONGEST_MESSAGE: usize = 1000;

#[derive(Debug)]
pub struct ReadingTranslator {
    options: ReadingOptions,
    templates: Templates,
}

impl Plugin for ReadingTranslator {
    type Options = ReadingOptions;

    fn about() -> About {
        About::new(
            "Asks a language model for a domain and problem of a text, whose lines name their sentences",
        )
        .role(ROLE, "writes the PDDL")
        .requests(RequestCount::Samples)
    }

    fn create(options: ReadingOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options, templates: Templates::new(PROMPT_TEMPLATE, &TEMPLATES)? })
    }
}

impl Translator for ReadingTranslator {
    fn translate(&self, host: &dyn Host, request: &TranslateRequest) -> Result<TranslateResponse, Failure> {
        let conversation = request.candidate.conversation.as_slice();
        let text = join_texts(&request.task.task_text, &request.task.domain_text);
        let system = self.templates.system(self.options.system.as_deref(), &())?;
        let n = request.n.max(1);
        let writer = Writer { host, task: &request.task, logprobs: false };
        let mut samples = Vec::with_capacity(n as usize);
        // The host numbers the requests of a call, so they are made one after the other. A stage with `apart` makes a call for each.
        for style in self.styles().cycle().skip(request.first_sample as usize).take(n as usize) {
            let turns = new_turns(conversation, system.clone(), self.question(request, &text, style)?);
            let sample = writer.ask([conversation, &turns].concat(), "reading", 1).and_then(|replies| {
                let reply = replies.first().ok_or_else(|| too_few_replies(0, 1))?;
                let patch = read_reading(request, &text, reply)?;
                Ok(CandidatePatch { messages: answered_turns(&turns, reply), ..patch })
            });
            samples.push(sample.into());
        }
        Ok(response(samples, n))
    }
}

impl ReadingTranslator {
    /// The styles of the samples, in turn: at least one.
    fn styles(&self) -> impl Iterator<Item = Style> + Clone {
        let one = self.options.styles.is_empty().then_some(Style::Plain);
        self.options.styles.clone().into_iter().chain(one)
    }

    fn question(&self, request: &TranslateRequest, text: &str, style: Style) -> Result<String, Failure> {
        // The domain's text is a part of the task: no domain is required beside it.
        need_problem_text(&request.task, Some(""))?;
        if request.feedback.is_empty() {
            return self.reading(request, text, style);
        }
        let revise = self.revise(request)?;
        match request.candidate.conversation.is_empty() {
            // The conversation does not contain the text yet.
            true => Ok(format!("{}\n\n{revise}", self.reading(request, text, style)?)),
            false => Ok(revise),
        }
    }

    fn reading(&self, request: &TranslateRequest, text: &str, style: Style) -> Result<String, Failure> {
        let context = ReadingContext {
            text: &numbered(text),
            mark: &quotation_mark(text),
            domain: given_domain(&request.task),
            style: style.word(),
            features: match given_domain(&request.task) {
                Some(domain) => TaskFeatures::of_domain(domain, text),
                None => TaskFeatures::of_text(text),
            },
        };
        self.templates.render("reading", &context)
    }

    fn revise(&self, request: &TranslateRequest) -> Result<String, Failure> {
        let candidate = &request.candidate;
        let has_domain = given_domain(&request.task).is_some();
        let context = Revision {
            domain: candidate.domain.as_deref().filter(|_| !has_domain).map(str::trim),
            problem: candidate.problem.as_deref().map(str::trim),
            feedback: request.feedback.iter().map(|text| text.trim()).collect(),
            what: if has_domain { "problem" } else { "domain and problem" },
            reason: false,
            form: Some(self.templates.render("again", &())?),
        };
        self.templates.render(REVISE_TEMPLATE.0, &context)
    }
}

/// The domain in PDDL that the pipeline gives.
fn given_domain(task: &TaskView) -> Option<&str> {
    task.given.domain.as_deref().map(str::trim).filter(|domain| !domain.is_empty())
}

/// The patch of a reply.
fn read_reading(request: &TranslateRequest, text: &str, reply: &Reply) -> Result<CandidatePatch, Failure> {
    check_finish(reply)?;
    let mut lines = reply.content.lines().map(bare_line).filter(|line| !line.is_empty());
    if let Some(failure) = lines.next().and_then(|line| refusal(text, line)) {
        return Err(failure);
    }
    let wanted = match given_domain(&request.task) {
        Some(_) => WantedPddl::Problem,
        None => WantedPddl::Either,
    };
    // Without PDDL the verdict may come after other words.
    let mut patch = read_reply(reply, wanted, request.fixes)
        .map_err(|failure| lines.find_map(|line| refusal(text, line)).unwrap_or(failure))?;
    if request.fixes == FixPolicy::Safe {
        own_lines_of_types(&mut patch);
    }
    // A correction may leave out the part that is right.
    let lacks_domain =
        wanted == WantedPddl::Either && patch.domain.is_none() && request.candidate.domain.is_none();
    let lacks_problem = patch.problem.is_none() && request.candidate.problem.is_none();
    match (lacks_domain, lacks_problem) {
        (true, _) => Err(no_pddl("the reply holds a problem, and no PDDL domain")),
        (_, true) => Err(no_pddl("the reply holds a domain, and no PDDL problem")),
        _ => Ok(patch),
    }
}

/// Names in `:types` that stand on lines of their own, above `shed - place`, get the parent `object` if the list makes a type its own parent:
/// the question asks for one declaration a line. As PDDL, all of them would be below `place`.
fn own_lines_of_types(patch: &mut CandidatePatch) {
    let Some(text) = &patch.domain else { return };
    let tree = parse_domain(text, SourceId(0)).value;
    let is_own_parent = |entry: &TypedName| {
        entry.ty.iter().flat_map(|ty| &ty.alternatives).any(|parent| *parent == entry.name)
    };
    let section = tree.sections.iter().find(|section| section.keyword.is(":types"));
    let Some((own, section)) = tree.types.iter().find(|entry| is_own_parent(entry)).zip(section) else {
        return;
    };
    let (start, end) = (section.span.start as usize, section.span.end as usize);
    let lines: Vec<&str> = text[start..end].split_inclusive('\n').collect();
    let mut fixed = text[..start].to_owned();
    for (at, line) in lines.iter().enumerate() {
        let below = lines[at + 1..].iter().map(|line| code(line).trim()).find(|code| !code.is_empty());
        let names = code(line).trim_end_matches(|c: char| c.is_whitespace() || c == ')');
        let is_empty = matches!(names.trim_start_matches(['(', ' ']), "" | ":types");
        let has_parent = names.split_whitespace().any(|word| word == "-")
            || below.is_some_and(|code| code.starts_with('-'));
        match is_empty || has_parent {
            true => fixed.push_str(line),
            false => fixed.extend([names, " - object", &line[names.len()..]]),
        }
    }
    fixed.push_str(&text[end..]);
    let read = parse_domain(&fixed, SourceId(0));
    // A model that means what it wrote uses it.
    let problem = patch.problem.as_deref().map(|text| parse_problem(text, SourceId(1)).value);
    let errors = |domain: &Domain| {
        let of_problem =
            problem.iter().flat_map(|problem| check_problem(domain, problem, TaskSources::default()));
        check_domain(domain, SourceId(0)).into_iter().chain(of_problem).filter(Diagnostic::is_error).count()
    };
    let is_broken = read.diagnostics.iter().any(Diagnostic::is_error) || errors(&read.value) > errors(&tree);
    if is_broken || read.value.types.iter().any(is_own_parent) {
        return;
    }
    let before = &text[..own.name.span.start as usize];
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count());
    patch.fixes.push(AppliedFix {
        code: "pddl.own-parent".to_owned(),
        title: "write `- object` behind types on lines of their own".to_owned(),
        line: before.matches('\n').count() as u32 + 1,
        column: column as u32 + 1,
    });
    patch.domain = Some(fixed);
}

/// A line without its comment.
fn code(line: &str) -> &str {
    line.split(';').next().unwrap_or_default()
}

/// The failure that a line states. `None` for every line that is not a verdict, and for `TASK`.
fn refusal(text: &str, line: &str) -> Option<Failure> {
    let verdict = |word: &str| {
        let (head, rest) = line.split_at_checked(word.len())?;
        let is_verdict = match rest.chars().next() {
            None | Some(' ' | '*' | '.') => head == word,
            Some(':') => head.eq_ignore_ascii_case(word),
            Some(_) => false,
        };
        is_verdict.then(|| first_chars(rest.trim_start_matches([':', ' ', '*', '.']).trim(), LONGEST_MESSAGE))
    };
    let sentence = |said: &str, default: &str| if said.is_empty() { default } else { said }.to_owned();
    let (code, message) = if let Some(said) = verdict("NO TASK") {
        (NO_TASK, sentence(said, "the text asks for no plan"))
    } else if let Some(said) = verdict("TWO TASKS") {
        (TWO_TASKS, sentence(said, "the text has two tasks"))
    } else if let Some(said) = verdict("CONTRADICTION") {
        (CONTRADICTION, contradiction(text, said))
    } else {
        return None;
    };
    Some(Failure::new(FailureClass::Reply, code, message))
}

/// The text up to that number of characters.
fn first_chars(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// A line without the marks of Markdown around it.
fn bare_line(line: &str) -> &str {
    line.trim().trim_matches(['*', '#', '`', '_']).trim()
}

/// The quotes of a contradiction, and which of them the text does not have.
fn contradiction(text: &str, said: &str) -> String {
    if said.is_empty() {
        return "two sentences of the text cannot both be true; the model does not quote them".to_owned();
    }
    // A sentence may be a single word.
    let is_foreign = |quote: &&str| !has_quote(text, quote) && !is_sentence(text, quote);
    // A contradiction has two quotes.
    let foreign: Vec<&str> = said.split(" / ").take(2).map(quoted).filter(is_foreign).collect();
    match foreign.is_empty() {
        true => said.to_owned(),
        false => format!("{said} (not in the text: {})", foreign.join(", ")),
    }
}

/// The part between quotation marks, with them; all of a text without them.
fn quoted(text: &str) -> &str {
    let is_mark = |c: char| matches!(c, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}');
    let mut marks = text.match_indices(is_mark);
    match (marks.next(), marks.next_back()) {
        (Some((start, _)), Some((end, mark))) => &text[start..end + mark.len()],
        _ => text.trim(),
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_translator_reading", Translator, ReadingTranslator);

/// The way that the model is asked to go. Readings of different styles are less alike than samples of one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// The domain, then the problem.
    #[default]
    Plain,
    /// Backwards from the goal.
    GoalFirst,
    /// The actions one by one, then the objects.
    ActionsFirst,
}

impl Style {
    const fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::GoalFirst => "goal-first",
            Self::ActionsFirst => "actions-first",
        }
    }
}

/// Options of `translator-reading`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadingOptions {
    /// The ways that the model is asked to go, one for each sample in turn. None: `plain`.
    pub styles: Vec<Style>,
    /// Replaces the system text. An empty text omits the system turn.
    pub system: Option<String>,
}

const TEMPLATES: [(&str, &str); 9] = [
    FEATURE_TEMPLATES[0],
    FEATURE_TEMPLATES[1],
    ("system", include_str!("../templates/reading/system.txt")),
    ("reading", include_str!("../templates/reading/reading.txt")),
    ("reading-plain", include_str!("../templates/reading/plain.txt")),
    ("reading-goal-first", include_str!("../templates/reading/goal-first.txt")),
    ("reading-actions-first", include_str!("../templates/reading/actions-first.txt")),
    ("again", include_str!("../templates/reading/again.txt")),
    REVISE_TEMPLATE,
];

#[derive(Serialize)]
struct ReadingContext<'a> {
    text: &'a str,
    mark: &'a str,
    domain: Option<&'a str>,
    style: &'static str,
    features: TaskFeatures,
}

#[cfg(test)]
mod tests;
