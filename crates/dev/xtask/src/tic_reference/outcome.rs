//! The problem inferred from a representation, compared with the reference. Inference runs in this process: the texts are our own
//! converters' and the knowledge files ours, so nothing has to be contained.
//!
//! The negative control: a change of a text must give another problem, or none.

use super::TextTask;
use super::patterns::NUMBERS;
use planforge_asp::answer::{self, ExplainedAnswer};
use planforge_asp::compile::{self, IrOnly, Place};
use planforge_asp::names::Naming;
use planforge_asp::program::{Assembled, Source, Task, assemble};
use planforge_asp::reader::{self, Signature};
use planforge_asp::stages::{self, Run, RunAnswers, SolveResult};
use planforge_asp::syntax::{parse, parse_ground_term};
use planforge_asp::{Declarations, read_knowledge};
use planforge_clingo::{SolveRequest, Symbol};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::TaskSources;
use planforge_pddl::ast::Domain;
use planforge_pddl::random::Random;
use planforge_planning::Unlimited;
use planforge_planning::equivalence::{ProblemDifference, ProblemEquivalence, equivalent_problems};
use regex::Regex;
use std::fmt;
use std::path::Path;

/// Pairs of objects that a comparison may try; the tasks need a few hundred.
const MAX_CHOICES: u64 = 1_000_000;

/// The outcome of a task.
pub(crate) enum Outcome {
    /// The same problem but for names.
    Equivalent {
        /// Objects whose names differ by more than a hyphen: ours, the reference's.
        renamed: Vec<(String, String)>,
    },
    Different(ProblemDifference),
    /// The comparison ended at its limit.
    Undecided,
    /// Sentences that no pattern reads.
    NotConverted(Vec<String>),
    /// Inference or compilation refused.
    Refused(Vec<String>),
}

impl Outcome {
    /// True if the problems are equivalent.
    pub(crate) fn is_equivalent(&self) -> bool {
        matches!(self, Self::Equivalent { .. })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equivalent { renamed } if renamed.is_empty() => write!(f, "equivalent"),
            Self::Equivalent { renamed } => {
                write!(f, "equivalent, {} objects named otherwise", renamed.len())
            }
            Self::Different(difference) => write!(f, "different: {}", describe_difference(difference)),
            Self::Undecided => write!(f, "comparison undecided at its limit"),
            Self::NotConverted(problems) => write!(f, "not converted: {}", problems.join("; ")),
            Self::Refused(messages) => write!(f, "refused: {}", messages.join("; ")),
        }
    }
}

/// A difference in few words: ours is the first problem, the reference the second.
fn describe_difference(difference: &ProblemDifference) -> String {
    difference.summary(["too many objects", "missing objects", "too many facts", "missing facts"])
}

/// Infers, compiles and compares; the problem is kept in the folder, if one is given.
///
/// # Errors
/// A reference that cannot be read, a problem that cannot be kept, a reasoner that broke.
pub(crate) fn infer_outcome(task: &TextTask, ir: &str, keep: Option<&Path>) -> Result<Outcome, String> {
    let problem = match problem(&task.domain, &task.knowledge, ir)? {
        Ok(problem) => problem,
        Err(messages) => return Ok(Outcome::Refused(messages)),
    };
    if let Some(folder) = keep {
        let path = folder.join(format!("{}.pddl", task.stem));
        std::fs::write(&path, &problem).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(compare(&task.domain, &problem, &task.problem))
}

fn compare(domain: &str, ours: &str, reference: &str) -> Outcome {
    let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
    let ours = planforge_pddl::parse_problem(ours, SourceId(1)).value;
    let reference = planforge_pddl::parse_problem(reference, SourceId(2)).value;
    match equivalent_problems(&domain, &ours, &reference, MAX_CHOICES, &mut Unlimited) {
        ProblemEquivalence::Equal { mut renaming } => {
            renaming.retain(|(a, b)| *a != b.replace('-', "_"));
            Outcome::Equivalent { renamed: renaming }
        }
        ProblemEquivalence::Different(difference) => Outcome::Different(difference),
        ProblemEquivalence::Undecided { .. } => Outcome::Undecided,
    }
}

/// True if two representations give the same problem with the same names.
///
/// # Errors
/// The reasoner failed.
fn same_names(task: &TextTask, first: &str, second: &str) -> Result<bool, String> {
    let sorted = |ir: &str| -> Result<Vec<String>, String> {
        let problem = problem(&task.domain, &task.knowledge, ir)?.map_err(|m| m.join("; "))?;
        let mut lines: Vec<String> = problem.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        Ok(lines)
    };
    Ok(sorted(first)? == sorted(second)?)
}

const IR: SourceId = SourceId(0);
const KNOWLEDGE: SourceId = SourceId(1);
const DOMAIN: SourceId = SourceId(2);
const PROBLEM: SourceId = SourceId(3);

/// The problem, or what is wrong: findings of the reader (repairs too: converters have no need of them), of the knowledge file, conflicts,
/// several answers, and mistakes of the problem.
///
/// # Errors
/// A reasoner that broke.
fn problem(domain: &str, knowledge: &str, ir: &str) -> Result<Result<String, Vec<String>>, String> {
    let parsed = planforge_pddl::parse_domain(domain, DOMAIN);
    let known = parse(knowledge, KNOWLEDGE);
    let (declarations, declared) = read_knowledge(&known.program, &parsed.value, KNOWLEDGE);
    let (signature, ir_only) = vocabulary(&parsed.value, &declarations);
    let reading = reader::read(ir, IR, &signature);
    let wrong = [parsed.diagnostics, known.diagnostics, declared].concat();
    // `goal(not p)` is the form of the paper, and reading it is not a repair.
    let read = reading.diagnostics();
    let read = read.iter().filter(|d| d.code != "ir.negative-goal");
    if let Some(wrong) = error_messages(wrong.iter().filter(|d| d.is_error()).chain(read)) {
        return Ok(Err(wrong));
    }
    let assembled = assemble(&Task {
        domain: &parsed.value,
        domain_id: DOMAIN,
        domain_text: domain,
        knowledge: Some(Source {
            id: KNOWLEDGE,
            name: "knowledge",
            text: knowledge,
            program: &known.program,
        }),
        declarations: &declarations,
        ir: Source { id: IR, name: "ir", text: ir, program: &reading.program },
    });
    if let Some(wrong) = error_messages(assembled.diagnostics.iter().filter(|d| d.is_error())) {
        return Ok(Err(wrong));
    }
    let reply = solve(&assembled)?;
    let answers = match answer::read_answers(&assembled, &reply) {
        Ok(answers) => answers,
        Err(conflicts) => return Ok(Err(error_messages(&conflicts).unwrap_or_default())),
    };
    match answers.answers.as_slice() {
        [answer] => Ok(compile_problem(&parsed.value, &ir_only, answer)),
        several => Ok(Err(vec![format!("{} answers", several.len())])),
    }
}

/// The names that a representation may use, and those that the PDDL does not get.
fn vocabulary(domain: &Domain, declarations: &Declarations) -> (Signature, IrOnly) {
    let signature = Signature::new(domain, declarations);
    let ir_only = IrOnly {
        types: signature.ir_types.clone(),
        predicates: signature.ir_predicates.keys().cloned().collect(),
    };
    (signature, ir_only)
}

fn error_messages<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> Option<Vec<String>> {
    let messages: Vec<String> =
        diagnostics.into_iter().map(|d| format!("{} ({})", d.message, d.code)).collect();
    (!messages.is_empty()).then_some(messages)
}

fn solve(assembled: &Assembled) -> Result<SolveResult, String> {
    stages::solve(&assembled.job, &mut |run: Run<'_>| {
        let functions = |name: &str, arguments: &[Symbol]| call(run.naming, name, arguments);
        let job = SolveRequest {
            models: run.models,
            optimise: run.optimise,
            functions: &functions,
            ..SolveRequest::new(run.program)
        };
        let answer = planforge_clingo::solve(&job).map_err(|e| e.to_string())?;
        let atoms = |model: &Vec<Symbol>| model.iter().map(Symbol::to_string).collect();
        Ok(RunAnswers { answers: answer.models.iter().map(atoms).collect(), complete: answer.complete })
    })
}

fn call(naming: &Naming, name: &str, arguments: &[Symbol]) -> Option<Result<Vec<Symbol>, String>> {
    let terms: Option<Vec<_>> = arguments.iter().map(|a| parse_ground_term(&a.to_string())).collect();
    let made = naming.call(name, &terms?)?;
    Some(made.map(|term| vec![Symbol::constant(term.to_string())]))
}

fn compile_problem(
    domain: &Domain,
    ir_only: &IrOnly,
    answer: &ExplainedAnswer<'_>,
) -> Result<String, Vec<String>> {
    let places = |atom: u32| {
        let found = answer.derivations.places(atom).into_iter();
        found.map(|(source, span)| Place { source, span }).collect()
    };
    let compiled = compile::compile(&compile::Input {
        domain,
        materialized: &answer.materialized,
        ir_only,
        name: "reference",
        spellings: &Default::default(),
        places: &places,
        sources: TaskSources { domain: DOMAIN, problem: PROBLEM },
    });
    let problem = compiled.problem().map(str::to_owned);
    problem.ok_or_else(|| {
        error_messages(compiled.diagnostics.iter().filter(|d| d.is_error())).unwrap_or_default()
    })
}

/// The result of a change of a text.
pub(crate) enum ChangeResult {
    /// Another problem, or none.
    Heard(Outcome),
    /// Not read: the changed sentence has no known form, so the change shows nothing.
    Unread,
    /// The same problem: a renaming of objects undoes the change.
    Interchangeable,
    /// The same problem with the same names: the text states or implies the changed fact elsewhere as well.
    SaidTwice,
}

/// Converts a text: the representation, or what is not read of it.
pub(crate) type Converter<'a> = &'a mut dyn FnMut(&str) -> Result<Result<String, Vec<String>>, String>;

/// The control of one task.
pub(crate) struct Control {
    /// The first change that made a difference, and which.
    pub(crate) found: Option<(Change, Outcome)>,
    /// Changes before it that make none, or that are none.
    pub(crate) passed_over: Vec<(Change, ChangeResult)>,
}

impl Control {
    /// Tries changes, in an order that the seed fixes, until one makes a difference.
    ///
    /// # Errors
    /// As [`judge`].
    pub(crate) fn of(task: &TextTask, seed: u64, convert: Converter<'_>) -> Result<Self, String> {
        let original = original(task, convert)?;
        let mut control = Self { found: None, passed_over: Vec::new() };
        for change in changes(&task.text, seed ^ place(task))? {
            match judge(task, &original, &change, convert)? {
                ChangeResult::Heard(outcome) => {
                    control.found = Some((change, outcome));
                    break;
                }
                without_difference => control.passed_over.push((change, without_difference)),
            }
        }
        Ok(control)
    }

    /// The rows of the table, those of changes that were passed over first.
    pub(crate) fn rows(&self, task: &TextTask) -> Vec<String> {
        let row = |change: &Change, outcome: &str| {
            format!("| {} | {} | {} | {} | {outcome} |", task.suite, task.stem, change.before, change.after)
        };
        let mut rows: Vec<String> =
            self.passed_over.iter().map(|(c, judged)| row(c, judged.description())).collect();
        rows.push(match &self.found {
            Some((change, outcome)) => row(change, &outcome.to_string()),
            None => format!("| {} | {} | | | **no change makes a difference** |", task.suite, task.stem),
        });
        rows
    }
}

impl ChangeResult {
    fn description(&self) -> &'static str {
        match self {
            Self::Heard(_) => "heard",
            Self::Unread => "not read: no sentence of its form",
            Self::Interchangeable => "nothing: the objects are interchangeable",
            Self::SaidTwice => "nothing: the text says it elsewhere too",
        }
    }
}

/// The representation of the original text.
///
/// # Errors
/// A text that the converter cannot read.
fn original(task: &TextTask, convert: Converter<'_>) -> Result<String, String> {
    convert(&task.text)?.map_err(|problems| format!("{} {}: {}", task.suite, task.stem, problems.join("; ")))
}

/// The result of a change.
///
/// # Errors
/// A change that leaves the representation the same.
fn judge(
    task: &TextTask,
    original: &str,
    change: &Change,
    convert: Converter<'_>,
) -> Result<ChangeResult, String> {
    let changed = match convert(&change.text)? {
        Ok(changed) => changed,
        Err(_) => return Ok(ChangeResult::Unread),
    };
    if changed == original {
        return Err(format!("{} {}: the converter does not see {}", task.suite, task.stem, change.after));
    }
    let outcome = infer_outcome(task, &changed, None)?;
    if !outcome.is_equivalent() {
        return Ok(ChangeResult::Heard(outcome));
    }
    let same = same_names(task, original, &changed)?;
    Ok(if same { ChangeResult::SaidTwice } else { ChangeResult::Interchangeable })
}

/// Totals of all changes of a suite's texts.
#[derive(Default)]
pub(crate) struct Census {
    different: usize,
    refused: usize,
    unread: usize,
    interchangeable: usize,
    said_twice: usize,
    /// One change of each kind that makes no difference.
    examples: Vec<String>,
}

impl Census {
    /// Adds all changes of a task.
    ///
    /// # Errors
    /// As [`judge`].
    pub(crate) fn add(&mut self, task: &TextTask, convert: Converter<'_>) -> Result<(), String> {
        let original = original(task, convert)?;
        for change in changes(&task.text, 0)? {
            let judged = judge(task, &original, &change, convert)?;
            let so_many = match &judged {
                ChangeResult::Heard(Outcome::Different(_)) => &mut self.different,
                ChangeResult::Heard(_) => &mut self.refused,
                ChangeResult::Unread => &mut self.unread,
                ChangeResult::Interchangeable => &mut self.interchangeable,
                ChangeResult::SaidTwice => &mut self.said_twice,
            };
            *so_many += 1;
            if *so_many == 1 && !matches!(judged, ChangeResult::Heard(_)) {
                let place = format!("{} {}", task.suite, task.stem);
                self.examples.push(format!(
                    "{place}: {} -> {}: {}",
                    change.before,
                    change.after,
                    judged.description()
                ));
            }
        }
        Ok(())
    }

    /// Five columns of a table: different, refused, not read, interchangeable, stated elsewhere.
    pub(crate) fn cells(&self) -> String {
        let counts = [self.different, self.refused, self.unread, self.interchangeable, self.said_twice];
        counts.map(|n| n.to_string()).join(" | ")
    }

    /// The examples, as lines.
    pub(crate) fn examples(&self) -> &[String] {
        &self.examples
    }
}

/// A seed for each task, so that tasks get different changes.
fn place(task: &TextTask) -> u64 {
    let bytes = [task.texts, &task.suite, &task.stem].join("/");
    bytes.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// A text with one word changed.
pub(crate) struct Change {
    pub(crate) text: String,
    /// The line with the change, before and after, the word in bold.
    pub(crate) before: String,
    pub(crate) after: String,
}

/// Names without a number, in groups of interchangeable members.
const WORDS: [&[&str]; 3] = [&["white", "black"], &["red", "blue"], &["jack", "pump", "wrench"]];

/// All changes in an order that the seed fixes: a name becomes another of its kind that the text has, a number one more.
///
/// # Errors
/// Never in practice: the expression for words is fixed.
pub(crate) fn changes(text: &str, seed: u64) -> Result<Vec<Change>, String> {
    let word = Regex::new(r"[\w-]+").map_err(|e| e.to_string())?;
    let mut names: Vec<&str> = word.find_iter(text).map(|m| m.as_str()).filter(|w| is_name(w)).collect();
    names.sort_unstable();
    names.dedup();
    let mut changes = Vec::new();
    let mut before = "";
    for found in word.find_iter(text) {
        for instead in alternatives(found.as_str(), before, &names) {
            changes.push(change(text, found.range(), &instead));
        }
        before = found.as_str();
    }
    let count = changes.len();
    Random::new(seed).shuffle_front(&mut changes, count);
    Ok(changes)
}

/// A letter first and a digit somewhere: `b2`, `tile_0-1`.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase()) && word.contains(|c: char| c.is_ascii_digit())
}

/// A name with its digits left out.
fn kind(name: &str) -> String {
    name.chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn alternatives(word: &str, before: &str, names: &[&str]) -> Vec<String> {
    if let Ok(number) = word.parse::<u32>() {
        return vec![(number + 1).to_string()];
    }
    // "the one before it" counts nothing.
    let counts = &NUMBERS[1..];
    if let Some(at) = counts.iter().position(|n| *n == word).filter(|_| !before.eq_ignore_ascii_case("the")) {
        return counts.get(at + 1).map(|n| (*n).to_owned()).into_iter().collect();
    }
    if let Some(group) = WORDS.iter().find(|g| g.contains(&word)) {
        return group.iter().filter(|w| **w != word).map(|w| (*w).to_owned()).collect();
    }
    if !is_name(word) {
        return Vec::new();
    }
    let of_its_kind = names.iter().filter(|n| **n != word && kind(n) == kind(word));
    of_its_kind.map(|n| (*n).to_owned()).collect()
}

fn change(text: &str, at: std::ops::Range<usize>, instead: &str) -> Change {
    let start = text[..at.start].rfind('\n').map_or(0, |i| i + 1);
    let end = text[at.end..].find('\n').map_or(text.len(), |i| at.end + i);
    let quote = |word: &str| {
        let (from, to) = excerpt(text, start, end, &at);
        format!("{}**{word}**{}", text[from..at.start].trim_start(), text[at.end..to].trim_end())
    };
    Change {
        text: format!("{}{instead}{}", &text[..at.start], &text[at.end..]),
        before: quote(&text[at.clone()]),
        after: quote(instead),
    }
}

/// The sentence around a word, within its line: long lists are cut at `;`.
fn excerpt(text: &str, start: usize, end: usize, at: &std::ops::Range<usize>) -> (usize, usize) {
    let from = text[start..at.start].rfind(['.', ';']).map_or(start, |i| start + i + 1);
    let to = text[at.end..end].find(['.', ';']).map_or(end, |i| at.end + i);
    (from, to)
}
