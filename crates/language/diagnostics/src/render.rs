//! Diagnostics for people: the message, the lines meant, what to do.
//!
//! Texts come from models and strangers, so nothing of them reaches a terminal raw: control characters, and those
//! that turn the direction of writing, are shown as a visible substitute.

use crate::{Diagnostic, Label, LineColumn, Severity, SourceFile, SourceMap};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use std::ops::Range;

/// Labels in one source that are at most this many lines apart share a snippet.
const NEAR_LINES: u32 = 12;
/// Characters shown of a line, around the place meant.
const SHOWN_COLUMNS: usize = 140;
/// A label that covers more lines than this is shown by its first line.
const SHOWN_LINES: u32 = 6;

/// Renders a diagnostic as text that ends with a line feed, with ANSI colours if `colour` is set.
pub fn text(diagnostic: &Diagnostic, sources: &SourceMap, colour: bool) -> String {
    let windows = windows(diagnostic, sources);
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Advice => Level::NOTE.with_name("advice"),
    };
    let message = escape(&diagnostic.message);
    let mut shown = Group::with_title(level.primary_title(message).id(escape(&diagnostic.code)));
    for window in &windows {
        shown = if window.is_cut {
            // Counting columns in a line that was cut would give the wrong place, so the origin stands apart.
            shown.element(window.origin()).element(window.snippet())
        } else {
            shown.element(window.snippet().path(window.path.as_str()))
        };
    }
    for help in &diagnostic.help {
        shown = shown.element(Level::HELP.message(escape(help)));
    }
    if let Some(fix) = &diagnostic.fix {
        shown = shown.element(Level::HELP.message(format!("a safe fix: {}", escape(&fix.title))));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut out = renderer.render(&[shown]);
    out.push('\n');
    out
}

/// All of them, an empty line between two.
pub fn all(diagnostics: &[Diagnostic], sources: &SourceMap, colour: bool) -> String {
    let each: Vec<String> = diagnostics.iter().map(|d| text(d, sources, colour)).collect();
    each.join("\n")
}

/// Text with every character that could steer a terminal or reorder a line made visible. Line feeds and tabs become
/// spaces.
pub fn escape(text: &str) -> String {
    text.chars().map(visible).collect()
}

fn visible(c: char) -> char {
    match c {
        '\n' | '\t' => ' ',
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        c if c.is_control() => '\u{fffd}',
        // Marks and overrides of direction, joiners and other characters without a width.
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => {
            '\u{fffd}'
        }
        c => c,
    }
}

/// Some lines of a source, ready to show, with the labels in them.
struct Window {
    path: String,
    /// True if part of a long line was left out.
    is_cut: bool,
    /// Start of the first label.
    place: LineColumn,
    first_line: u32,
    text: String,
    labels: Vec<(Range<usize>, String, bool)>,
}

impl Window {
    fn origin(&self) -> Origin<'_> {
        let LineColumn { line, column } = self.place;
        Origin::path(self.path.as_str()).line(line as usize).char_column(column as usize)
    }

    fn snippet(&self) -> Snippet<'_, annotate_snippets::Annotation<'_>> {
        Snippet::source(self.text.as_str()).line_start(self.first_line as usize).annotations(
            self.labels.iter().map(|(range, message, primary)| {
                let kind = if *primary { AnnotationKind::Primary } else { AnnotationKind::Context };
                let annotation = kind.span(range.clone());
                if message.is_empty() { annotation } else { annotation.label(message.as_str()) }
            }),
        )
    }
}

/// Groups the labels by source and nearness, the one of the primary label first.
fn windows(diagnostic: &Diagnostic, sources: &SourceMap) -> Vec<Window> {
    let mut groups: Vec<(&SourceFile, u32, u32, Vec<&Label>)> = Vec::new();
    for label in &diagnostic.labels {
        let Some(file) = sources.get(label.source) else { continue };
        let (first, last) = lines_of(file, label);
        let near = groups.iter_mut().find(|(other, low, high, _)| {
            std::ptr::eq(*other, file) && first <= *high + NEAR_LINES && *low <= last + NEAR_LINES
        });
        match near {
            Some((_, low, high, labels)) => {
                *low = first.min(*low);
                *high = last.max(*high);
                labels.push(label);
            }
            None => groups.push((file, first, last, vec![label])),
        }
    }
    groups.into_iter().map(|(file, first, last, labels)| window(file, first, last, &labels)).collect()
}

/// The lines a label is shown by.
fn lines_of(file: &SourceFile, label: &Label) -> (u32, u32) {
    let first = file.line_column(label.span.start).line;
    let last = file.line_column(label.span.end.max(label.span.start)).line;
    (first, if last - first < SHOWN_LINES { last } else { first })
}

fn window(file: &SourceFile, first: u32, last: u32, labels: &[&Label]) -> Window {
    let mut shown = Window {
        path: escape(&file.name),
        is_cut: false,
        place: file.line_column(labels.first().map_or(0, |label| label.span.start)),
        first_line: first,
        text: String::new(),
        labels: vec![],
    };
    // Where each label begins and ends in the window, found while its characters are copied.
    let mut places: Vec<(Option<usize>, Option<usize>)> = vec![(None, None); labels.len()];
    for line in first..=last {
        let range = file.line_range(line);
        let cut = cut(file, range.clone(), labels);
        shown.is_cut |= cut != range;
        if cut.start > range.start {
            shown.text.push('…');
        }
        for (offset, c) in file.text[cut.clone()].char_indices() {
            note(&mut places, labels, cut.start + offset, shown.text.len());
            shown.text.push(visible(c));
        }
        note(&mut places, labels, cut.end, shown.text.len());
        if cut.end < range.end {
            shown.text.push('…');
        }
        shown.text.push('\n');
    }
    let end = shown.text.trim_end_matches('\n').len();
    for (label, (from, to)) in labels.iter().zip(places) {
        let from = from.unwrap_or(end).min(end);
        let to = to.unwrap_or(end).clamp(from, end);
        shown.labels.push((from..to, escape(&label.message), label.primary));
    }
    shown
}

/// Maps the byte `at` of the source to `place` in the window.
fn note(places: &mut [(Option<usize>, Option<usize>)], labels: &[&Label], at: usize, place: usize) {
    for ((from, to), label) in places.iter_mut().zip(labels) {
        if at >= label.span.start as usize {
            from.get_or_insert(place);
        }
        if at >= label.span.end as usize {
            to.get_or_insert(place);
        }
    }
}

/// The part of a long line around the first label in it.
fn cut(file: &SourceFile, line: Range<usize>, labels: &[&Label]) -> Range<usize> {
    if line.len() <= SHOWN_COLUMNS {
        return line;
    }
    let inside = labels.iter().map(|l| l.span.start as usize).filter(|at| line.contains(at)).min();
    let from = inside.map_or(line.start, |at| at.saturating_sub(SHOWN_COLUMNS / 3).max(line.start));
    let floor = |mut at: usize| {
        while !file.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    floor(from)..floor((from + SHOWN_COLUMNS).min(line.end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SourceId, Span};

    const SOURCE: SourceId = SourceId(0);

    #[test]
    fn shows_the_line_and_the_way_out() {
        let sources = SourceMap::single("d.pddl", "(define (domain d)\n  (:action a\n   :effect (bad))\n");
        let found = Diagnostic::error("pddl.undefined-predicate", "no predicate `bad` is declared")
            .at(SOURCE, Span::new(44, 47), "")
            .also(SOURCE, Span::new(30, 31), "in this action")
            .help("did you mean `bat`?");
        let out = text(&found, &sources, false);
        for part in [
            "error[pddl.undefined-predicate]",
            "d.pddl:3:13",
            ":effect (bad))",
            "^^^",
            "did you mean `bat`?",
            "in this action",
        ] {
            assert!(out.contains(part), "{part} is missing in\n{out}");
        }
    }

    #[test]
    fn nothing_steers_the_terminal() {
        let nasty = "(\u{1b}[31mred\u{7} \u{202e}evil \u{9b}2J)";
        let sources = SourceMap::single("a\u{1b}]0;title\u{7}.pddl", nasty);
        let found = Diagnostic::error("x.y", format!("no `{nasty}`"))
            .at(SOURCE, Span::new(1, nasty.len() as u32), nasty)
            .help(nasty);
        let out = text(&found, &sources, false);
        let raw: Vec<char> =
            out.chars().filter(|c| *c != '\n' && (c.is_control() || *c == '\u{202e}')).collect();
        assert_eq!(raw, [], "{out}");
        let coloured = text(&found, &sources, true);
        assert!(!coloured.contains("\u{1b}[31mred") && !coloured.contains('\u{7}'));
    }

    #[test]
    fn any_span_is_shown() {
        let sources = SourceMap::single("t", "aé\n\nb");
        for start in 0..9 {
            for end in start..9 {
                let found = Diagnostic::warning("x.y", "m").at(SOURCE, Span::new(start, end), "here");
                assert!(text(&found, &sources, false).contains("x.y"));
            }
        }
    }

    #[test]
    fn a_huge_line_is_cut_around_the_place() {
        let line = format!("{}BAD{}", "é ".repeat(40_000), " x".repeat(40_000));
        let at = line.find("BAD").unwrap() as u32;
        let sources = SourceMap::single("t", line);
        let out = text(&Diagnostic::error("x.y", "m").at(SOURCE, Span::new(at, at + 3), ""), &sources, false);
        assert!(out.contains("BAD") && out.contains("^^^") && out.len() < 2000, "{out}");
        assert!(out.contains("t:1:80001"), "{out}");
    }

    #[test]
    fn distant_labels_and_other_sources_get_their_own_lines() {
        let mut sources = SourceMap::single("one", format!("first{}last", "\n".repeat(100)));
        let two = sources.add("two", "second");
        let found = Diagnostic::error("x.y", "m")
            .at(SOURCE, Span::new(0, 5), "a")
            .also(SOURCE, Span::new(105, 109), "b")
            .also(two, Span::new(0, 6), "c")
            .also(SourceId(9), Span::new(0, 1), "unknown");
        let out = text(&found, &sources, false);
        for part in ["first", "last", "second", "101"] {
            assert!(out.contains(part), "{part} is missing in\n{out}");
        }
        assert!(out.lines().count() < 25, "{out}");
    }
}
