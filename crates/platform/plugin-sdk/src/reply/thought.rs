//! Replies in two parts, `### Thought:` and then `### Domain:` or `### Problem:` (test-time-scaling paper,
//! Appendix D), as models write them: headings of another level, in bold or none at all, the thought behind
//! the PDDL, reasoning in separate tags, an end cut off.

use super::{WantedPddl, check_finish, lacks_pddl, note_finish, report, take};
use planforge_contract::{CandidatePatch, Failure, FinishReason, FixPolicy, Reply};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, Span};
use planforge_pddl::extract::{ExtractedPddl, PddlBlock, code_blocks};
use planforge_pddl::find_pddl;
use std::ops::Range;

/// Tags around the reasoning of reasoning models. It is not part of the answer.
const TAGS: [&str; 3] = ["think", "thinking", "reasoning"];

/// The longest line that can be a heading, in bytes, without what it has behind its colon.
const LONGEST_HEADING: usize = 48;

/// Splits a reply of this form into its PDDL, as [`super::read_reply`] does, and its thought. The patch's
/// log-likelihood is that of the whole reply. Missing parts beside the PDDL are diagnostics of the patch; so
/// is a cut behind whole PDDL.
///
/// # Errors
/// Class `Reply`: filtered, cut off before the PDDL was whole, or without the wanted PDDL.
pub fn read_thought_reply(
    reply: &Reply,
    wanted: WantedPddl,
    fixes: FixPolicy,
) -> Result<CandidatePatch, Failure> {
    let cut = reply.finish == FinishReason::Length;
    if !cut {
        check_finish(reply)?;
    }
    let content = reply.content.as_str();
    let parts = ReplyParts::of(content);
    let mut notes = Vec::new();
    let mut found = parts.definitions(wanted);
    if blocks(&found, wanted).next().is_none() && !parts.reasoning.is_empty() {
        found = find_pddl(content, SourceId(0));
        if blocks(&found, wanted).next().is_some() {
            notes.push(Diagnostic::warning(
                "reply.in-reasoning",
                "the PDDL stands in the model's reasoning alone, and not in its answer",
            ));
        }
    }
    let Some(block) = wanted_block(&found, wanted) else {
        if cut {
            check_finish(reply)?;
        }
        return Err(note_finish(lacks_pddl(wanted, found.domain().or(found.problem())), reply));
    };
    if cut {
        if !is_whole(block) || blocks(&found, wanted).last().is_some_and(|last| last.span != block.span) {
            check_finish(reply)?;
        }
        let message = "the server cut the reply off at its token limit, behind the PDDL";
        notes.push(Diagnostic::warning("reply.cut-off", message).help("raise `max_tokens` of the role"));
    }
    let thought = parts.thought(&mut notes);
    if parts.sections_of(Heading::Answer).next().is_none() {
        notes.push(Diagnostic::advice("reply.no-heading", "the PDDL stands under no heading of its own"));
    }
    let sources = SourceMap::single("reply", content);
    let mut patch = CandidatePatch {
        thought,
        log_likelihood: reply.log_likelihood(),
        tokens: reply.tokens(),
        raw_reply: reply.content.clone(),
        diagnostics: report(&[found.diagnostics.clone(), notes].concat(), &sources),
        ..CandidatePatch::default()
    };
    match wanted {
        WantedPddl::Problem => patch.problem = Some(take(&mut patch, block, "problem", fixes)),
        WantedPddl::Domain => patch.domain = Some(take(&mut patch, block, "domain", fixes)),
        WantedPddl::Either => {
            let (domain, problem) = (found.domain(), found.problem());
            patch.domain = domain.map(|block| take(&mut patch, block, "domain", fixes));
            patch.problem = problem.map(|block| take(&mut patch, block, "problem", fixes));
        }
    }
    Ok(patch)
}

fn blocks(found: &ExtractedPddl, wanted: WantedPddl) -> impl Iterator<Item = &PddlBlock> {
    let domains = found.domains.iter().filter(move |_| wanted != WantedPddl::Problem);
    domains.chain(found.problems.iter().filter(move |_| wanted != WantedPddl::Domain))
}

fn wanted_block(found: &ExtractedPddl, wanted: WantedPddl) -> Option<&PddlBlock> {
    let domain = found.domain().filter(|_| wanted != WantedPddl::Problem);
    domain.or_else(|| found.problem().filter(|_| wanted != WantedPddl::Domain))
}

/// True if the text is complete, by its parentheses. A section that begins behind a definition closed too
/// early may be cut all the same.
fn is_whole(block: &PddlBlock) -> bool {
    let code = block.text.lines().map(|line| line.split(';').next().unwrap_or_default());
    let (mut open, mut closed) = (0usize, 0usize);
    for line in code {
        open += line.matches('(').count();
        closed += line.matches(')').count();
    }
    block.complete && open <= closed
}

/// The part that a heading announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heading {
    Thought,
    Answer,
}

/// The text below a heading, up to the next.
struct Section {
    heading: Heading,
    /// First byte of the heading's line.
    begin: usize,
    /// The bytes below it, with what the line has behind its colon.
    content: Range<usize>,
}

/// A reply, taken apart. All lists are in the order of the reply.
struct ReplyParts {
    /// The reply with blanks in the place of the model's reasoning. Offsets are those of the reply.
    answer: String,
    /// Byte ranges of the reasoning.
    reasoning: Vec<Range<usize>>,
    sections: Vec<Section>,
    /// All definitions of the answer.
    all: ExtractedPddl,
}

impl ReplyParts {
    fn of(content: &str) -> Self {
        let reasoning = reasoning(content);
        let answer = blank_out(content, &reasoning);
        let code = code_blocks(&answer);
        let mut sections: Vec<Section> = Vec::new();
        let mut at = 0;
        for line in answer.split_inclusive('\n') {
            if let (None, Some((heading, from))) = (covering(&code, at), heading(line)) {
                if let Some(last) = sections.last_mut() {
                    last.content.end = at;
                }
                sections.push(Section { heading, begin: at, content: at + from..answer.len() });
            }
            at += line.len();
        }
        let all = find_pddl(&answer, SourceId(0));
        Self { answer, reasoning, sections, all }
    }

    fn sections_of(&self, wanted: Heading) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(move |section| section.heading == wanted)
    }

    /// The definitions of the answer: those below its heading where there are any of what is wanted, as a thought may quote another.
    fn definitions(&self, wanted: WantedPddl) -> ExtractedPddl {
        let below = |block: &&PddlBlock| {
            let at = block.span.start as usize;
            let after = self.sections.partition_point(|section| section.begin <= at);
            let section = after.checked_sub(1).and_then(|index| self.sections.get(index));
            section.is_some_and(|section| section.heading == Heading::Answer)
        };
        let announced = ExtractedPddl {
            domains: self.all.domains.iter().filter(below).cloned().collect(),
            problems: self.all.problems.iter().filter(below).cloned().collect(),
            others: self.all.others.clone(),
            diagnostics: self.all.diagnostics.clone(),
        };
        let there = blocks(&announced, wanted).any(|block| block.has_sections);
        if there { announced } else { self.all.clone() }
    }

    /// The prose below the headings that announce a thought; without such a heading, all prose that is not PDDL.
    fn thought(&self, notes: &mut Vec<Diagnostic>) -> Option<String> {
        let mut ranges: Vec<Range<usize>> =
            self.sections_of(Heading::Thought).map(|s| s.content.clone()).collect();
        let headed = !ranges.is_empty();
        if !headed {
            ranges.push(0..self.answer.len());
        }
        let cuts = self.cuts();
        let texts: Vec<String> = ranges.into_iter().map(|range| prose(&self.answer, range, &cuts)).collect();
        let text = texts.iter().map(|t| t.trim()).filter(|t| !t.is_empty()).collect::<Vec<_>>().join("\n\n");
        if text.is_empty() {
            let message = "the reply has no thought that explains the predicates and actions";
            notes.push(
                Diagnostic::warning("reply.no-thought", message).help(
                    "write what each predicate and each action means, a line each, below `### Thought:`",
                ),
            );
            return None;
        }
        if !headed {
            let at = self.answer.find(|c: char| !c.is_whitespace()).unwrap_or(0) as u32;
            let message = "no heading announces a thought; all that is not PDDL is taken for it";
            notes.push(Diagnostic::advice("reply.no-heading", message).at(SourceId(0), Span::empty(at), ""));
        }
        Some(text)
    }

    /// Ranges that are not prose: definitions, with the whole code block if they are in one, and headings.
    fn cuts(&self) -> Vec<Range<usize>> {
        let code = code_blocks(&self.answer);
        let definitions = self.all.domains.iter().chain(&self.all.problems).map(|block| block.span.range());
        let mut cuts: Vec<Range<usize>> = definitions
            .map(|definition| match covering(&code, definition.start) {
                Some(code) => with_fences(&self.answer, code),
                None => definition,
            })
            .chain(self.sections.iter().map(|section| section.begin..section.content.start))
            .collect();
        cuts.sort_by_key(|range| range.start);
        cuts
    }
}

/// The range that has that byte. `ranges` are in order and do not overlap.
fn covering(ranges: &[Range<usize>], at: usize) -> Option<&Range<usize>> {
    let after = ranges.partition_point(|range| range.start <= at);
    after.checked_sub(1).and_then(|index| ranges.get(index)).filter(|range| range.contains(&at))
}

/// The text of a range without the cuts, which are in the order of their beginnings.
fn prose(answer: &str, range: Range<usize>, cuts: &[Range<usize>]) -> String {
    let mut text = String::new();
    let mut from = range.start;
    let before = cuts.partition_point(|cut| cut.start < range.start);
    // A cut that began before may reach into the range: a definition that runs on over a heading.
    let reaching = before.checked_sub(1).and_then(|index| cuts.get(index)).map_or(0, |cut| cut.end);
    from = from.max(reaching.min(range.end));
    for cut in cuts.iter().skip(before).take_while(|cut| cut.start < range.end) {
        text.push_str(answer.get(from..cut.start.max(from)).unwrap_or_default());
        from = cut.end.max(from);
    }
    text.push_str(answer.get(from..range.end.max(from)).unwrap_or_default());
    text
}

/// A code block with the lines that open and close it.
fn with_fences(text: &str, code: &Range<usize>) -> Range<usize> {
    let before = text[..code.start].trim_end_matches('\n');
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    let end = text[code.end..].find('\n').map_or(text.len(), |at| code.end + at + 1);
    begin..end
}

/// The part that a line announces, and the byte of the line at which the text behind the heading begins. A
/// heading has marks (`#`, `**`), a colon, or both.
fn heading(line: &str) -> Option<(Heading, usize)> {
    let is_mark = |c: char| matches!(c, '#' | '*' | '_' | '>' | ' ' | '\t');
    let start = line.find(|c| !is_mark(c))?;
    let marked = line[..start].contains(['#', '*', '_']);
    let rest = &line[start..];
    let colon = rest.find(':').filter(|at| *at <= LONGEST_HEADING);
    let title = rest[..colon.unwrap_or(rest.len())].trim_end().trim_end_matches(is_mark);
    let heading = heading_of_title(title)?;
    let after = match colon {
        // Marks may close behind the colon: `**Thought:**`.
        Some(at) => rest[at + 1..].find(|c| !matches!(c, '*' | '_' | '#')).map_or(rest.len(), |n| at + 1 + n),
        None if marked => rest.len(),
        None => return None,
    };
    Some((heading, start + after))
}

/// Titles are short: the word itself, with a number before it or a few words about it.
fn heading_of_title(title: &str) -> Option<Heading> {
    if title.len() > LONGEST_HEADING {
        return None;
    }
    let lower = title.to_ascii_lowercase();
    let is_separator = |c: char| !c.is_alphanumeric();
    let words: Vec<&str> = lower
        .split(is_separator)
        .filter(|w| !w.is_empty() && !w.bytes().all(|b| b.is_ascii_digit()))
        .filter(|w| {
            !matches!(
                *w,
                "part" | "step" | "the" | "my" | "new" | "updated" | "revised" | "final" | "improved"
            )
        })
        .filter(|w| !matches!(*w, "pddl" | "code" | "file" | "definition" | "process" | "planning"))
        .collect();
    match words.as_slice() {
        ["thought" | "thoughts"] => Some(Heading::Thought),
        ["domain" | "problem"] => Some(Heading::Answer),
        _ => None,
    }
}

/// Byte ranges of the model's own reasoning, tags included. A tag that is not closed runs to the end. A
/// closing tag without an opening one starts at the beginning, because servers' templates open it for the
/// model.
fn reasoning(content: &str) -> Vec<Range<usize>> {
    let lower = content.to_ascii_lowercase();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for tag in TAGS {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let opens = lower.match_indices(&open).map(|(at, _)| (at, true));
        let closes = lower.match_indices(&close).map(|(at, _)| (at, false));
        let mut marks: Vec<(usize, bool)> = opens.chain(closes).collect();
        marks.sort_unstable();
        let mut begun: Option<usize> = None;
        let mut first = true;
        for (at, opens) in marks {
            match (opens, begun) {
                (true, None) => begun = Some(at),
                (true, Some(_)) => {}
                (false, Some(begin)) => ranges.push(begin..at + close.len()),
                (false, None) if first => ranges.push(0..at + close.len()),
                // Closed twice: the mark alone is not an answer.
                (false, None) => ranges.push(at..at + close.len()),
            }
            if !opens {
                begun = None;
            }
            first = false;
        }
        ranges.extend(begun.map(|begin| begin..lower.len()));
    }
    ranges.sort_unstable_by_key(|range| range.start);
    ranges
}

/// The text with blanks in these ranges, byte for byte, so that offsets stay. The ranges are in the order of their beginnings, and begin
/// and end between characters.
fn blank_out(text: &str, ranges: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        out.push_str(text.get(from..range.start.max(from)).unwrap_or_default());
        from = range.start.max(from);
        for byte in text.get(from..range.end.max(from)).unwrap_or_default().bytes() {
            out.push(if byte == b'\n' { '\n' } else { ' ' });
        }
        from = range.end.max(from);
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests;
