//! Finding PDDL in what a model replied: prose, code fences with any tag or none, several blocks, cut-off ends.
//!
//! A definition begins at `(define`, fenced or not, and ends where its parentheses balance, or before the next
//! definition, the end of its fence, or a line of prose. Parentheses and sections right after it belong to it still,
//! so that a stray parenthesis in the middle does not cut it short. Fenced text without a definition, and lists such as
//! `(:action ...)` outside every fence, are kept as [`ExtractedPddl::others`].
//!
//! Of several domains or problems, [`ExtractedPddl::domain`] and [`ExtractedPddl::problem`] take the last that is complete
//! and has sections: models think first and correct themselves later. Every block is listed, in order.
//!
//! [`fix_all`] applies every safe fix to a text until nothing is left to apply.

use crate::{check_domain, parse_domain, parse_problem};
use planforge_diagnostics::{Diagnostic, Fix, LineColumn, SourceFile, SourceId, Span, apply_fixes};
use std::borrow::Cow;

/// Kind of definition in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// `(define (domain`
    Domain,
    /// `(define (problem`
    Problem,
    /// Neither a domain nor a problem.
    Other,
}

/// A piece of the reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PddlBlock {
    /// Kind of the definition.
    pub kind: BlockKind,
    /// Bytes of the reply that the block occupies. `text` is exactly that slice: byte `n` of the block is
    /// byte `span.start + n` of the reply.
    pub span: Span,
    /// Text of the block, unchanged.
    pub text: String,
    /// True if its parentheses balance.
    pub complete: bool,
    /// True if it has more than a name: `(define (domain x))` in prose has no sections.
    pub has_sections: bool,
}

/// PDDL blocks found in a reply.
#[derive(Debug, Clone, Default)]
pub struct ExtractedPddl {
    /// Domain definitions, in order.
    pub domains: Vec<PddlBlock>,
    /// Problem definitions, in order.
    pub problems: Vec<PddlBlock>,
    /// Fences without a definition and lists outside every fence, in order.
    pub others: Vec<PddlBlock>,
    /// Findings about the reply; spans are in the reply.
    pub diagnostics: Vec<Diagnostic>,
}

impl ExtractedPddl {
    /// The domain meant: the last complete one, else the last.
    pub fn domain(&self) -> Option<&PddlBlock> {
        intended_block(&self.domains)
    }

    /// The problem meant: the last complete one, else the last.
    pub fn problem(&self) -> Option<&PddlBlock> {
        intended_block(&self.problems)
    }
}

fn intended_block(blocks: &[PddlBlock]) -> Option<&PddlBlock> {
    let last = |test: fn(&PddlBlock) -> bool| blocks.iter().rev().find(|block| test(block));
    last(|b| b.complete && b.has_sections).or_else(|| last(|b| b.has_sections)).or_else(|| last(|_| true))
}

/// Most labels on blocks other than the one that is used.
const MAX_LABELS: usize = 8;

/// Finds definitions in a reply. `source` is the reply's id in the diagnostics.
pub fn find_pddl(reply: &str, source: SourceId) -> ExtractedPddl {
    let mut found = ExtractedPddl::default();
    let fences = fences(reply);
    let starts = definition_starts(reply);
    let mut covered: Vec<Span> = Vec::new();
    for (index, &start) in starts.iter().enumerate() {
        let next = starts.get(index + 1).copied().unwrap_or(reply.len());
        let fence_end =
            fences.iter().find(|f| f.content.contains(&start)).map_or(reply.len(), |f| f.content.end);
        let next_fence = fences.iter().map(|f| f.open).find(|open| *open > start).unwrap_or(reply.len());
        let limit = next.min(fence_end).min(next_fence);
        let block = definition(reply, start, limit);
        covered.push(block.span);
        match block.kind {
            BlockKind::Domain => found.domains.push(block),
            BlockKind::Problem => found.problems.push(block),
            BlockKind::Other => found.others.push(block),
        }
    }
    other_blocks(reply, &fences, &covered, &mut found.others);
    found.others.sort_by_key(|block| block.span.start);
    report(&mut found, &fences, source);
    found
}

fn report(found: &mut ExtractedPddl, fences: &[Fence], source: SourceId) {
    if found.domains.is_empty() && found.problems.is_empty() {
        found.diagnostics.push(
            Diagnostic::error("pddl.no-definition", "the reply contains no `(define ...)`")
                .at(source, Span::empty(0), "")
                .help("ask for the PDDL in a code block that begins with `(define`"),
        );
    }
    for (blocks, what) in [(&found.domains, "domains"), (&found.problems, "problems")] {
        if let (true, Some(used)) = (blocks.len() > 1, intended_block(blocks)) {
            let message = format!("the reply has {} {what}; one is used", blocks.len());
            let mut diagnostic =
                Diagnostic::advice("pddl.several-blocks", message).at(source, head(used), "this one");
            for other in blocks.iter().filter(|block| block.span != used.span).take(MAX_LABELS) {
                diagnostic = diagnostic.also(source, head(other), "");
            }
            found.diagnostics.push(diagnostic);
        }
    }
    if let Some(open) = fences.iter().find(|fence| !fence.closed) {
        let span = Span::new(open.open as u32, open.content.start as u32);
        found.diagnostics.push(
            Diagnostic::advice("pddl.unclosed-fence", "this code block is never closed").at(source, span, ""),
        );
    }
}

/// The first bytes of a block, to point at it.
fn head(block: &PddlBlock) -> Span {
    let end = block.text.find('\n').unwrap_or(block.text.len());
    Span::new(block.span.start, block.span.start + end as u32)
}

/// The contents of a reply's code fences, in order; the last may lack its closing line.
pub fn code_blocks(reply: &str) -> Vec<std::ops::Range<usize>> {
    fences(reply).into_iter().map(|fence| fence.content).collect()
}

/// Finds the `(:action ...)` lists in a reply, fenced or not, in a definition or alone, in order. A list with
/// too many closing parentheses extends to its intended end. An unclosed list ends before the next action,
/// the end of its fence, or a line of prose. Both are not [`PddlBlock::complete`].
pub fn action_blocks(reply: &str) -> Vec<PddlBlock> {
    let fences = fences(reply);
    let definitions = definition_starts(reply);
    let starts = action_starts(reply);
    let mut blocks: Vec<PddlBlock> = Vec::new();
    for (index, &start) in starts.iter().enumerate() {
        let (fence, next_fence) = fence_at(&fences, start);
        let limit = fence.map_or(next_fence.unwrap_or(reply.len()), |fence| fence.content.end);
        let limit = starts.get(index + 1).map_or(limit, |next| limit.min(*next));
        let after = fences.partition_point(|fence| fence.content.end <= start);
        let outside = fences[..after].last().map_or(0, |before| before.content.end);
        let begin = fence.map_or(outside, |fence| fence.content.start);
        let before = definitions.partition_point(|define| *define < start);
        let in_definition = definitions[..before].last().is_some_and(|define| *define >= begin);
        let balanced = balanced_end(reply, start, limit);
        let opened_twice = !in_definition && reply[begin..start].trim_end().ends_with('(');
        let closed_well = balanced.filter(|end| {
            let (text, rest) = (&reply[start..*end], reply[*end..limit].trim_start());
            // In a definition, the parenthesis behind an action is the definition's own.
            !opened_twice && !closed_early(text, rest) && (in_definition || !rest.starts_with(')'))
        });
        let end = closed_well.unwrap_or_else(|| end_before_prose(reply, start, limit));
        let text = reply[start..end].trim_end();
        blocks.push(PddlBlock {
            kind: BlockKind::Other,
            span: Span::new(start as u32, (start + text.len()) as u32),
            text: text.to_owned(),
            complete: closed_well.is_some(),
            has_sections: true,
        });
    }
    blocks
}

/// Returns true if the text after a balanced action still belongs to it: a field of an action, the value of
/// its last keyword, or everything if the action was closed before its name.
fn closed_early(action: &str, rest: &str) -> bool {
    let is_field = |rest: &str| ACTION_FIELDS.iter().any(|field| starts_with(rest, field));
    let words = action.trim_end_matches(')').trim_end();
    let last = words.rfind(|c: char| c.is_whitespace() || c == '(').map_or(words, |at| &words[at + 1..]);
    let behind_a_word = || rest.find(char::is_whitespace).map_or("", |at| rest[at..].trim_start());
    is_field(rest)
        || is_field(last) && rest.starts_with('(')
        || last.eq_ignore_ascii_case(":action") && is_field(behind_a_word())
}

/// Field keywords of an action, after its name.
const ACTION_FIELDS: [&str; 3] = [":parameters", ":precondition", ":effect"];

fn starts_with(text: &str, word: &str) -> bool {
    text.as_bytes().get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
}

/// The offsets of every `(:action`, in any case.
fn action_starts(reply: &str) -> Vec<usize> {
    const WORD: &str = "(:action";
    let mut starts = Vec::new();
    let mut at = 0;
    while let Some(found) = reply[at..].find("(:").map(|n| at + n) {
        let behind = reply.as_bytes().get(found + WORD.len());
        // `(:actions`, `(:action-costs` are other words.
        if starts_with(&reply[found..], WORD) && behind.is_none_or(|b| b.is_ascii_whitespace() || *b == b'(')
        {
            starts.push(found);
        }
        at = found + 2;
    }
    starts
}

/// A code fence in a reply.
struct Fence {
    /// Start of its opening line.
    open: usize,
    /// Bytes between the opening and the closing line.
    content: std::ops::Range<usize>,
    closed: bool,
}

/// The fence whose content has that byte, and where the next fence after it opens. `fences` is in order.
fn fence_at(fences: &[Fence], at: usize) -> (Option<&Fence>, Option<usize>) {
    let after = fences.partition_point(|fence| fence.open <= at);
    let before = after.checked_sub(1).and_then(|index| fences.get(index));
    (before.filter(|fence| fence.content.contains(&at)), fences.get(after).map(|fence| fence.open))
}

/// Lines that begin with three backticks or tildes, paired; the last may lack its partner.
fn fences(reply: &str) -> Vec<Fence> {
    let mut fences = Vec::new();
    let mut open: Option<(usize, usize, &str)> = None;
    let mut at = 0;
    for line in reply.split_inclusive('\n') {
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (mark, open) {
            // A fence opened and closed on one line is inline code.
            (Some(mark), None) if !trimmed[3..].contains(mark) => open = Some((at, at + line.len(), mark)),
            (Some(mark), Some((start, content, opened))) if mark == opened => {
                fences.push(Fence { open: start, content: content..at, closed: true });
                // ```` ```pddl ```` right after an unclosed block opens the next one.
                open = (trimmed.trim_matches(['`', '~']).len() > 1).then_some((at, at + line.len(), mark));
            }
            // A fence that closes at the end of a line of code.
            (None, Some((start, content, mark))) if trimmed.ends_with(mark) => {
                let end = at + line.trim_end().len() - mark.len();
                fences.push(Fence { open: start, content: content..end, closed: true });
                open = None;
            }
            _ => {}
        }
        at += line.len();
    }
    if let Some((start, content, _)) = open {
        fences.push(Fence { open: start, content: content..reply.len(), closed: false });
    }
    fences
}

/// The offsets of every `(define`, in any case, with space after it or a list. Lines of comment have none.
fn definition_starts(reply: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut line_start = 0;
    for line in reply.split_inclusive('\n') {
        if !line.trim_start().starts_with(';') {
            let found = line.match_indices('(').map(|(at, _)| line_start + at);
            starts.extend(found.filter(|at| is_define(&reply.as_bytes()[at + 1..])));
        }
        line_start += line.len();
    }
    starts
}

/// Returns true if the text after a parenthesis starts with the word `define`, possibly on a later line.
fn is_define(rest: &[u8]) -> bool {
    let skip = rest.iter().take(64).take_while(|b| b.is_ascii_whitespace()).count();
    let word = &rest[skip..];
    word.len() > 6
        && word[..6].eq_ignore_ascii_case(b"define")
        && (word[6].is_ascii_whitespace() || word[6] == b'(')
}

fn definition(reply: &str, start: usize, limit: usize) -> PddlBlock {
    let (end, complete) = match balanced_end(reply, start, limit) {
        Some(end) => (with_comment(reply, with_what_follows(reply, end, limit), limit), true),
        None => (end_before_prose(reply, start, limit), false),
    };
    let text = reply[start..end].trim_end();
    let lower = text.to_ascii_lowercase();
    PddlBlock {
        kind: kind_of(&lower),
        span: Span::new(start as u32, (start + text.len()) as u32),
        has_sections: lower.contains("(:") || lower.contains("( :"),
        text: text.to_owned(),
        complete,
    }
}

/// Determines the kind from the first keyword, `(domain` or `(problem`.
fn kind_of(lower: &str) -> BlockKind {
    let after = lower.trim_start_matches(['(', ' ', '\t', '\r', '\n']).trim_start_matches("define");
    let word = after.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    if word.starts_with("domain") {
        BlockKind::Domain
    } else if word.starts_with("problem") {
        BlockKind::Problem
    } else {
        BlockKind::Other
    }
}

/// One past the parenthesis that closes the list at `start`.
fn balanced_end(reply: &str, start: usize, limit: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut comment = false;
    for (offset, byte) in reply.as_bytes()[start..limit].iter().enumerate() {
        match byte {
            b'\n' => comment = false,
            _ if comment => {}
            b';' => comment = true,
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(start + offset + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Takes in the stray parentheses and the sections that follow a definition closed too early.
fn with_what_follows(reply: &str, mut end: usize, limit: usize) -> usize {
    loop {
        let trimmed = without_comments(&reply[end..limit]);
        let at = limit - trimmed.len();
        if trimmed.starts_with(')') {
            end = at + 1;
        } else if trimmed.starts_with("(:") {
            match balanced_end(reply, at, limit) {
                Some(next) => end = next,
                None => return end_before_prose(reply, at, limit),
            }
        } else {
            return end;
        }
    }
}

/// The text after white space and comments.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with(';') {
        rest = rest.find('\n').map_or("", |at| rest[at..].trim_start());
    }
    rest
}

/// Takes in the comment on the last line of a definition.
fn with_comment(reply: &str, end: usize, limit: usize) -> usize {
    let rest = &reply[end..limit];
    let line = rest.split('\n').next().unwrap_or_default();
    if line.trim_start().starts_with(';') { end + line.len() } else { end }
}

/// The end of a definition that is never closed: the first line that reads like prose, or the limit.
fn end_before_prose(reply: &str, start: usize, limit: usize) -> usize {
    let mut at = start;
    for line in reply[start..limit].split_inclusive('\n') {
        if at > start && is_prose(line) {
            return at;
        }
        at += line.len();
    }
    limit
}

/// A sentence or Markdown, not PDDL. No line of PDDL begins with a Markdown mark, and lines of objects, which begin
/// with words, have no punctuation.
fn is_prose(line: &str) -> bool {
    let line = line.trim();
    if line.starts_with(['#', '*', '>']) {
        return true;
    }
    let is_sentence = line.starts_with(char::is_uppercase) && line.split_whitespace().count() >= 3;
    let punctuated = line.ends_with(['.', ':', '!', '?', '*']) || line.contains(". ") || line.contains(", ");
    let is_pddl = line.contains([';', '?']) || line.contains(" - ");
    is_sentence && punctuated && !is_pddl
}

/// Fences without a definition, and lists such as `(:action ...)` outside all fences.
fn other_blocks(reply: &str, fences: &[Fence], covered: &[Span], others: &mut Vec<PddlBlock>) {
    // Definitions come in order and do not overlap.
    let next_covered = |at: usize| covered.partition_point(|span| span.end as usize <= at);
    for fence in fences {
        let next = covered.get(next_covered(fence.content.start));
        if next.is_some_and(|span| (span.start as usize) < fence.content.end) {
            continue;
        }
        let content = &reply[fence.content.clone()];
        let text = content.trim();
        if text.is_empty() {
            continue;
        }
        let start = fence.content.start + (content.len() - content.trim_start().len());
        others.push(other(text, start));
    }
    let mut at = 0;
    while let Some(found) = reply[at..].find("(:").map(|n| at + n) {
        let (fence, next_fence) = fence_at(fences, found);
        let covering = covered.get(next_covered(found)).map(|span| span.range());
        if let Some(inside) = covering.clone().filter(|range| range.contains(&found)) {
            at = inside.end;
            continue;
        }
        if let Some(fence) = fence {
            at = fence.content.end.max(found + 2);
            continue;
        }
        let limit = reply.len().min(next_fence.unwrap_or(reply.len()));
        let limit = limit.min(covering.map_or(reply.len(), |range| range.start));
        let end = match balanced_end(reply, found, limit) {
            Some(end) => with_what_follows(reply, end, limit),
            None => end_before_prose(reply, found, limit),
        };
        others.push(other(reply[found..end].trim_end(), found));
        at = end.max(found + 2);
    }
}

fn other(text: &str, start: usize) -> PddlBlock {
    let complete = {
        let open = text.matches('(').count();
        open > 0 && open == text.matches(')').count()
    };
    PddlBlock {
        kind: BlockKind::Other,
        span: Span::new(start as u32, (start + text.len()) as u32),
        has_sections: text.contains("(:"),
        text: text.to_owned(),
        complete,
    }
}

/// Most rounds of fixing. One round repairs all visible errors; a second repairs the errors that the first
/// uncovered.
const MAX_ROUNDS: usize = 8;

/// A text and the fixes that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedText {
    /// The text with all fixes applied.
    pub text: String,
    /// The fixes, in the order they were applied. The spans of each are those of the text at its time.
    pub fixes: Vec<Fix>,
    /// The finding behind each fix, in the same order.
    pub answered: Vec<FixedFinding>,
}

/// The finding that a fix answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedFinding {
    /// Diagnostic code of the finding.
    pub code: Cow<'static, str>,
    /// Start of the first edit, in the text to which the fix was applied.
    pub at: LineColumn,
}

/// Applies the machine-applicable fixes of a domain or problem until none are left.
///
/// Fixes of parentheses never change the result of the tolerant reader: it reads the same tree before and
/// after. Undeclared requirements are added to a domain. Those of a problem depend on its domain and are not
/// added.
pub fn fix_all(text: &str, kind: BlockKind) -> FixedText {
    let source = SourceId(0);
    let mut fixed = FixedText { text: text.to_owned(), fixes: Vec::new(), answered: Vec::new() };
    for _ in 0..MAX_ROUNDS {
        let (codes, fixes): (Vec<_>, Vec<Fix>) = findings(&fixed.text, kind, source)
            .into_iter()
            .filter_map(|d| d.fix.map(|fix| (d.code, fix)))
            .unzip();
        if fixes.is_empty() {
            break;
        }
        let done = apply_fixes(&fixed.text, source, &fixes);
        if done.applied.is_empty() {
            break;
        }
        let before = SourceFile::new("", std::mem::replace(&mut fixed.text, done.text));
        for (code, fix) in done.applied.into_iter().filter_map(|i| codes.get(i).zip(fixes.get(i))) {
            let start = fix.edits.first().map_or(0, |edit| edit.span.start);
            fixed.answered.push(FixedFinding { code: code.clone(), at: before.line_column(start) });
            fixed.fixes.push(fix.clone());
        }
    }
    fixed
}

/// Findings whose fixes may be applied now: those of the form first, as those of the meaning rest on it.
fn findings(text: &str, kind: BlockKind, source: SourceId) -> Vec<Diagnostic> {
    match kind {
        BlockKind::Domain => {
            let parsed = parse_domain(text, source);
            if parsed.diagnostics.iter().any(|d| d.fix.is_some()) || parsed.has_errors() {
                parsed.diagnostics
            } else {
                check_domain(&parsed.value, source)
            }
        }
        BlockKind::Problem => parse_problem(text, source).diagnostics,
        BlockKind::Other => Vec::new(),
    }
}
