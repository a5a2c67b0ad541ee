//! A tolerant reader of intermediate representations that models write (translate-infer-compile paper,
//! section 3.2).
//!
//! Obvious mistakes are repaired, and every repair is reported: lost dots and parentheses, `goal(not p(X))`,
//! hyphens and upper case in names, prose around the program. The rest must be facts and rules over a
//! [`Signature`]. Everything else is refused at once, each with its place, reason and remedy. No accepted
//! statement calls code outside the program, has unbound variables, grows without end, or has more than
//! [`MAX_INSTANCES`] estimated instances.
//!
//! The stages: `lines` separates program and prose, `drafts` finds the ends of statements, `spelling` and
//! `shape` repair tokens, the parser of [`crate::syntax`] reads them, `fragment`, `terms`, `safety`, `graph`
//! and `size` check them. All take time linear in the text.

mod checks;
mod drafts;
mod fragment;
mod repair;
mod report;
mod signature;
#[cfg(test)]
mod tests;

pub use checks::{MAX_INSTANCES, MAX_INTERVAL, MAX_OBJECTS};
pub(crate) use report::nearest;
pub use signature::Signature;

use crate::codes::reader as code;
use crate::syntax::ast::{Program, Rule, Statement, StatementKind};
use crate::syntax::lexer::{self, Finding, Kind};
use crate::syntax::parser::Parser;
use crate::syntax::{of_finding, too_large};
use checks::Graph;
use drafts::{Cutter, Draft, KnownWords};
use fragment::Fragment;
use planforge_diagnostics::{Diagnostic, Severity, SourceId, Span};
use planforge_pddl::extract::code_blocks;
use repair::Speller;
use report::Report;
use std::collections::BTreeMap;
use std::ops::Range;

/// The longest text that is read, in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 19;
/// The most statements that are read.
pub const MAX_STATEMENTS: usize = 20_000;

/// The longest name, in bytes. Messages quote names.
const MAX_NAME: usize = 200;
/// The most words and signs of one statement.
const MAX_TOKENS: usize = 10_000;

/// The result of reading a text.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// The statements that passed, every predicate of a state inside `init` or `goal`; spans are in the text that was read.
    pub program: Program,
    /// Repairs and omissions of prose: advice and warnings.
    pub repairs: Vec<Diagnostic>,
    /// Refused statements. A reading with refusals is incomplete and should not be solved.
    pub refusals: Vec<Diagnostic>,
    /// The statements as they were understood, one a line. Reading it again repairs nothing and gives the same.
    pub text: String,
    /// For each line of `text` the line of the text that was read, from 1.
    pub lines: Vec<u32>,
}

impl Reading {
    /// True if nothing was refused.
    pub fn is_complete(&self) -> bool {
        self.refusals.is_empty()
    }

    /// Repairs and refusals in the order of the text.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> = self.refusals.iter().chain(&self.repairs).cloned().collect();
        all.sort_by_key(|diagnostic| diagnostic.primary().map(|label| label.span.start));
        all
    }
}

/// The variables of a rule that nothing binds, as what is wrong with it. For knowledge files, which are read without the rest of this.
pub(crate) fn unbound(rule: &Rule, source: SourceId) -> Vec<Diagnostic> {
    let mut report = Report::new(source);
    checks::check_safety(rule, &mut report);
    report.refusals.into_diagnostics(source)
}

/// Reads a model's reply, or a file that holds a representation. `source` is what diagnostics call the text. More than
/// [`MAX_TEXT_BYTES`] are refused unread.
pub fn read(text: &str, source: SourceId, signature: &Signature) -> Reading {
    let mut report = Report::new(source);
    if text.len() > MAX_TEXT_BYTES {
        return Reading {
            refusals: vec![too_large(text.len(), MAX_TEXT_BYTES, source)],
            ..Reading::default()
        };
    }
    let words = KnownWords::of(signature);
    let mut found = Source { text, signature, words: &words, findings: BTreeMap::new() };
    let mut drafts = found.drafts(&mut report);
    if drafts.len() > MAX_STATEMENTS {
        let message = format!("the text has {} statements; at most {MAX_STATEMENTS} are read", drafts.len());
        report.refuse(
            code::TOO_MANY_STATEMENTS,
            message,
            drafts[MAX_STATEMENTS].span,
            "say in one rule what many facts say",
        );
        drafts.clear();
    }
    let mut speller = Speller::new(text, signature, &drafts);
    let mut rules: Vec<(Rule, Span)> = Vec::new();
    for mut draft in drafts {
        let draft = &mut draft;
        if draft.tokens.len() > MAX_TOKENS {
            let message = format!("the statement has {} words and signs", draft.tokens.len());
            let help =
                format!("at most {MAX_TOKENS} are read; look for a lost dot, or write several statements");
            report.refuse(code::FRAGMENT, message, draft.span, help);
            continue;
        }
        speller.spell(draft, &mut report);
        if let Some((length, span)) = long_name(draft) {
            let help = format!("at most {MAX_NAME} are read; call the object by a short name");
            report.refuse(code::FRAGMENT, format!("a name has {length} bytes"), span, help);
            continue;
        }
        let refused = report.refusals.count();
        repair::reshape(draft, &mut report);
        if report.refusals.count() == refused
            && let Some(statement) = found.parse(draft, &mut report)
        {
            check_statement(statement, signature, &mut report, &mut rules);
        }
    }
    let rules = check_rules(rules, signature, &mut report);
    finish(text, rules, report)
}

/// The first name of a statement that is too long, with its length.
fn long_name(draft: &Draft) -> Option<(usize, Span)> {
    draft.tokens.iter().find_map(|token| match &token.kind {
        Kind::Name(text) | Kind::Variable(text) | Kind::Text(text) | Kind::Hash(text) => {
            (text.len() > MAX_NAME).then_some((text.len(), token.span))
        }
        _ => None,
    })
}

/// The text and how it falls into tokens.
struct Source<'a> {
    text: &'a str,
    signature: &'a Signature,
    words: &'a KnownWords,
    /// Findings of the lexer by the first byte of the token.
    findings: BTreeMap<u32, (Finding, Span)>,
}

impl Source<'_> {
    /// The statements: those of the code blocks that have some, or those of the whole text.
    fn drafts(&mut self, report: &mut Report) -> Vec<Draft> {
        let mut drafts = Vec::new();
        let mut used: Vec<Range<usize>> = Vec::new();
        let start = end_of_thoughts(self.text);
        if start > 0 {
            let thoughts = Span::new(0, start as u32);
            report_prose(&[thoughts], Severity::Advice, "what the model thought", report);
        }
        for block in code_blocks(self.text).into_iter().filter(|block| block.start >= start) {
            let before = report.refusals.count();
            let found = self.cut(block.clone(), true, report);
            if !found.is_empty() || report.refusals.count() > before {
                used.push(block);
                drafts.extend(found);
            }
        }
        if used.is_empty() {
            let drafts = self.cut(start..self.text.len(), false, report);
            if drafts.is_empty() && report.refusals.count() == 0 {
                let help = "write facts and rules, one a line: `init(clear(b1)).`";
                report.refuse(code::NO_PROGRAM, "the text has no statement".to_owned(), Span::empty(0), help);
            }
            return drafts;
        }
        self.report_text_outside_blocks(&used, report);
        if let [first, .., last] = used.as_slice() {
            let message = format!("{} code blocks have statements; all are read", used.len());
            report.note(code::SEVERAL_BLOCKS, message, Span::new(first.start as u32, last.end as u32));
        }
        drafts
    }

    /// The statements of a piece of the text.
    fn cut(&mut self, range: Range<usize>, fenced: bool, report: &mut Report) -> Vec<Draft> {
        let lexed = lexer::lex(self.text, range.clone(), true);
        let rest = self.text[range.end..].trim_start();
        let closed = fenced && (rest.starts_with("```") || rest.starts_with("~~~"));
        let cutter = Cutter::new(self.text, &lexed.tokens, self.signature, self.words, fenced, closed);
        let cut = cutter.run(report);
        let severity = if fenced { Severity::Warning } else { Severity::Advice };
        report_prose(&cut.prose, severity, "no program", report);
        self.note_findings(lexed.findings, &cut.drafts, report);
        cut.drafts
    }

    /// Keeps findings about tokens of statements, and reports typographic characters that were read as plain
    /// ones.
    fn note_findings(&mut self, findings: Vec<(Finding, Span)>, drafts: &[Draft], report: &mut Report) {
        for (finding, span) in findings {
            let next = drafts.partition_point(|draft| draft.span.end < span.end);
            let is_read = drafts.get(next).is_some_and(|draft| draft.span.start <= span.start);
            if is_read && finding == Finding::Typography {
                report.repairs.push(of_finding(finding, span, self.text, report.source));
            } else if is_read {
                self.findings.insert(span.start, (finding, span));
            }
        }
    }

    /// Reports text outside the code blocks, statements apart from prose.
    fn report_text_outside_blocks(&mut self, used: &[Range<usize>], report: &mut Report) {
        let (mut statements, mut prose, mut at) = (Vec::new(), Vec::new(), end_of_thoughts(self.text));
        for end in used.iter().map(|block| block.start).chain([self.text.len()]) {
            let lexed = lexer::lex(self.text, at..end.max(at), true);
            let cutter = Cutter::new(self.text, &lexed.tokens, self.signature, self.words, false, true);
            let cut = cutter.run(&mut Report::new(report.source));
            statements.extend(cut.drafts.iter().map(|draft| draft.span));
            prose.extend(cut.prose.into_iter().filter(|span| !is_fence(&self.text[span.range()])));
            at = used.iter().find(|block| block.start == end).map_or(end, |block| block.end);
        }
        report_prose(&prose, Severity::Advice, "outside the code blocks", report);
        report_prose(&statements, Severity::Warning, "program outside the code blocks", report);
    }

    /// The statement of a draft.
    fn parse(&self, draft: &Draft, report: &mut Report) -> Option<Statement> {
        let mut parser = Parser::new(self.text, &draft.tokens, report.source);
        let read = parser.statement();
        let whole = parser.is_done();
        match read {
            Ok(statement) if whole => return Some(Statement { span: draft.span, ..statement }),
            Err(Some(diagnostic)) => report.refusals.push(*diagnostic),
            Ok(_) | Err(None) => {}
        }
        for token in draft.tokens.iter().filter(|token| matches!(token.kind, Kind::Odd(_))) {
            if let Some((finding, span)) = self.findings.get(&token.span.start) {
                report.refusals.push(of_finding(*finding, *span, self.text, report.source));
            }
        }
        None
    }
}

/// Byte index behind the model's thoughts (`</think>`), which may contain drafts of statements.
fn end_of_thoughts(text: &str) -> usize {
    const END: &str = "</think>";
    text.rfind(END).map_or(0, |at| at + END.len())
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// Places pointed at in one diagnostic about many lines.
const MOST_LABELS: usize = 8;

fn report_prose(spans: &[Span], severity: Severity, what: &str, report: &mut Report) {
    let [first, others @ ..] = spans else { return };
    let message = match spans.len() {
        1 => format!("this is {what} and is left out"),
        count => format!("{count} pieces of the text are {what} and are left out"),
    };
    let mut told = Diagnostic::new(severity, code::PROSE, message).at(report.source, *first, "");
    for other in others.iter().take(MOST_LABELS) {
        told = told.also(report.source, *other, "");
    }
    report.repairs.push(told);
}

/// Adds the rules of a statement that pass the checks of single statements.
fn check_statement(
    statement: Statement,
    signature: &Signature,
    report: &mut Report,
    out: &mut Vec<(Rule, Span)>,
) {
    let span = statement.span;
    let rule = match statement.kind {
        StatementKind::Rule(rule) => rule,
        StatementKind::Directive { name, .. } => {
            let message = format!("`#{name}` is not taken from a text");
            let help = "remove it; a task is told by facts and rules alone";
            return report.refuse(code::DIRECTIVE, message, span, help);
        }
    };
    let rules = Fragment { signature, report }.rule(rule, span);
    for rule in rules {
        let safe = checks::check_safety(&rule, report);
        let bounded = checks::check_intervals(&rule, span, report);
        if safe && bounded {
            out.push((rule, span));
        }
    }
}

/// Keeps the rules that pass the checks of the program as a whole.
fn check_rules(rules: Vec<(Rule, Span)>, signature: &Signature, report: &mut Report) -> Vec<(Rule, Span)> {
    let graph = Graph::of(rules.iter().map(|(rule, _)| rule));
    let rules: Vec<(Rule, Span)> = rules
        .into_iter()
        .filter(|(rule, span)| checks::check_recursion(rule, *span, &graph, report))
        .collect();
    let kept = checks::Sizes::new(signature).check(&rules, &graph, report);
    rules.into_iter().zip(kept).filter_map(|(rule, kept)| kept.then_some(rule)).collect()
}

fn finish(text: &str, rules: Vec<(Rule, Span)>, report: Report) -> Reading {
    let mut reading = Reading::default();
    let (mut line, mut counted) = (1u32, 0usize);
    for (rule, span) in rules {
        // Statements come in the order of the text.
        let start = (span.start as usize).max(counted);
        line += text.as_bytes()[counted..start].iter().filter(|byte| **byte == b'\n').count() as u32;
        counted = start;
        let statement = Statement { kind: StatementKind::Rule(rule), span };
        reading.text.push_str(&statement.to_string());
        reading.text.push('\n');
        reading.lines.push(line);
        reading.program.statements.push(statement);
    }
    reading.repairs = report.repairs.into_diagnostics(report.source);
    reading.refusals = report.refusals.into_diagnostics(report.source);
    reading
}
