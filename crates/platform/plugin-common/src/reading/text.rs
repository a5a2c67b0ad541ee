//! A text as numbered sentences, and quotes of it.

use std::ops::Range;

/// A sentence of a text, or a line that counts as one: a heading, an entry of a list, a row of a table or of a map in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// The number, from 1.
    pub number: usize,
    /// The sentence on one line. A row of a map keeps its white space.
    pub text: String,
    /// First byte in the text.
    pub start: usize,
    /// One past the last byte in the text.
    pub end: usize,
}

/// The text of a task and, if they are a text of their own, the rules of its domain. Sentences are numbered through both.
pub fn join_texts(task: &str, rules: &str) -> String {
    let (task, rules) = (task.trim_end(), rules.trim_end());
    match rules.trim().is_empty() || rules.trim() == task.trim() {
        true => task.to_owned(),
        false => format!("{task}\n\n{rules}"),
    }
}

/// Splits a text into sentences. They cover all of it but white space.
pub fn sentences(text: &str) -> Vec<Sentence> {
    let shown = |unit: &Unit| match &unit.row {
        Some(row) => text[row.clone()].to_owned(),
        None => text[unit.range.clone()].split_whitespace().collect::<Vec<_>>().join(" "),
    };
    let units = units(text);
    units
        .iter()
        .enumerate()
        .map(|(index, unit)| Sentence {
            number: index + 1,
            text: shown(unit),
            start: unit.range.start,
            end: unit.range.end,
        })
        .collect()
}

/// The text with a number before each sentence: `[1] There are three rooms. [2] ...`. A row of a map has its number at its end, so that its
/// columns stay in line.
pub fn numbered(text: &str) -> String {
    let mut numbered = String::with_capacity(text.len() + text.len() / 8);
    let mut copied = 0;
    for (index, unit) in units(text).iter().enumerate() {
        let number = index + 1;
        match &unit.row {
            Some(row) => {
                numbered.push_str(&text[copied..row.end]);
                numbered.push_str(&format!("   [{number}]"));
                copied = row.end;
            }
            None => {
                numbered.push_str(&text[copied..unit.range.start]);
                numbered.push_str(&format!("[{number}] "));
                copied = unit.range.start;
            }
        }
    }
    numbered.push_str(&text[copied..]);
    numbered
}

/// A word that the text does not have, to mark where its quotation ends in a request.
pub fn quotation_mark(text: &str) -> String {
    let mut mark = "TEXT".to_owned();
    while text.contains(&mark) {
        mark.push_str("-TEXT");
    }
    mark
}

/// True if the text has the quote, of at least two words. Line breaks, kinds of quotation marks, marks around the quote, the numbers of
/// [`numbered`] and a full stop at the end make no difference.
pub fn has_quote(text: &str, quote: &str) -> bool {
    let (text, quote) = (normal(text), normal(quote));
    has_words(&text, trim_quote(&quote)) || has_words(&text, trim_quote(&without_numbers(&quote)))
}

/// True if the quote is a sentence of the text. Marks that [`has_quote`] ignores make no difference, nor does the bullet of a list.
pub fn is_sentence(text: &str, quote: &str) -> bool {
    let quote = without_numbers(&normal(quote));
    let quote = trim_quote(&quote);
    let is_it = |sentence: Sentence| {
        let sentence = normal(&sentence.text);
        let entry = sentence.split_once(' ').filter(|_| is_list_entry(&sentence)).map(|(_, entry)| entry);
        trim_quote(&sentence) == quote || entry.is_some_and(|entry| trim_quote(entry) == quote)
    };
    quote.chars().any(char::is_alphanumeric) && sentences(text).into_iter().any(is_it)
}

/// True if the text has the quote, and it is long enough to decide a question: a sentence of the text or at least four words.
pub fn has_decisive_quote(text: &str, quote: &str) -> bool {
    let unspaced = quote.chars().filter(|c| is_unspaced(*c)).count();
    let is_long = count_words(&without_numbers(&normal(quote))) >= 4 || unspaced >= 8;
    has_quote(text, quote) && (is_long || is_sentence(text, quote))
}

fn count_words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// Marks that are inside a word if they stand between two letters or digits: `2.5`, `re-open`, `doesn't`.
const INNER: [char; 4] = ['.', ',', '-', '\''];

/// True if the text has the words, neither beginning nor ending within a word.
fn has_words(text: &str, words: &str) -> bool {
    // Scripts without spaces between words have no words to count.
    let unspaced = words.chars().filter(|c| is_unspaced(*c)).count();
    if count_words(words) < 2 && unspaced < 4 {
        return false;
    }
    let joins = |a: Option<char>, b: Option<char>| {
        a.zip(b).is_some_and(|(a, b)| [a, b].iter().all(|c| c.is_alphanumeric() && !is_unspaced(*c)))
    };
    text.match_indices(words).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + words.len()..]);
        // One mark: two of them, as in `wait...`, are not inside a word.
        let before = before.strip_suffix(INNER).unwrap_or(before).chars().next_back();
        let first = words.strip_prefix(INNER).unwrap_or(words).chars().next();
        let last = words.strip_suffix(INNER).unwrap_or(words).chars().next_back();
        let after = after.strip_prefix(INNER).unwrap_or(after).chars().next();
        !joins(before, first) && !joins(last, after)
    })
}

/// White space as single spaces, quotation marks as `"` and `'`.
fn normal(text: &str) -> String {
    let marks: String = text
        .chars()
        .map(|c| match c {
            '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{ab}' | '\u{bb}' => '"',
            '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2039}' | '\u{203a}' => '\'',
            '\u{2010}' | '\u{2011}' => '-',
            c => c,
        })
        .collect();
    marks.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn trim_quote(quote: &str) -> &str {
    let is_mark = |c: char| matches!(c, '"' | '\'' | ' ' | '.' | '\u{2026}');
    quote.trim_matches(is_mark)
}

/// The text without `[3]`.
fn without_numbers(text: &str) -> String {
    let is_number = |word: &&str| {
        let inner = word.strip_prefix('[').and_then(|word| word.strip_suffix(']'));
        inner.is_some_and(|inner| !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_digit()))
    };
    text.split(' ').filter(|word| !is_number(word)).collect::<Vec<_>>().join(" ")
}

/// True for characters of scripts that have no spaces between words: Chinese, Japanese, Thai.
const fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// A part of the text that has a number.
struct Unit {
    range: Range<usize>,
    /// The row of a map, without the fences that `range` includes.
    row: Option<Range<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Blank,
    Prose,
    /// An entry of a list, a heading or a row of a table.
    Entry,
    MapRow,
    /// A rule or a fence, which belongs to the line before it.
    Mark,
}

struct Line<'t> {
    /// Without white space at its ends; a row of a map keeps that at its start.
    range: Range<usize>,
    text: &'t str,
    kind: LineKind,
}

fn units(text: &str) -> Vec<Unit> {
    let lines = lines(text);
    let mut units: Vec<Unit> = Vec::new();
    // A mark before everything else.
    let mut begin: Option<usize> = None;
    let mut index = 0;
    while let Some(line) = lines.get(index) {
        let first = units.len();
        match line.kind {
            LineKind::Blank => {}
            LineKind::Mark => match units.last_mut() {
                Some(last) => last.range.end = line.range.end,
                None => begin = begin.or(Some(line.range.start)),
            },
            LineKind::MapRow => {
                units.push(Unit { range: line.range.clone(), row: Some(line.range.clone()) });
            }
            LineKind::Entry => {
                let mut end = line.range.end;
                while let Some(next) = lines.get(index + 1).filter(|next| continues(text, line, next)) {
                    end = next.range.end;
                    index += 1;
                }
                units.push(Unit { range: line.range.start..end, row: None });
            }
            LineKind::Prose => {
                let rest = lines[index..].iter().take_while(|line| line.kind == LineKind::Prose).count();
                let paragraph = &lines[index..index + rest];
                units.extend(prose(text, paragraph).into_iter().map(|range| Unit { range, row: None }));
                index += rest - 1;
            }
        }
        if let (Some(start), Some(unit)) = (begin, units.get_mut(first)) {
            unit.range.start = start;
            begin = None;
        }
        index += 1;
    }
    // A text of marks alone.
    let rest = begin.filter(|_| units.is_empty()).map(|start| start..text.trim_end().len());
    units.extend(rest.map(|range| Unit { range, row: None }));
    units
}

/// True if an indented line of prose continues the entry of a list.
fn continues(text: &str, entry: &Line<'_>, next: &Line<'_>) -> bool {
    let indent = |line: &Line<'_>| {
        let start = text[..line.range.start].rfind('\n').map_or(0, |at| at + 1);
        line.range.start - start
    };
    next.kind == LineKind::Prose && is_list_entry(entry.text) && indent(next) > indent(entry)
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let start = at + (line.len() - line.trim_start().len());
        let kind = match trimmed {
            "" => LineKind::Blank,
            _ if is_table_row(trimmed) && trimmed.chars().any(char::is_alphanumeric) => LineKind::Entry,
            _ if is_list_entry(trimmed) || is_heading(trimmed) => LineKind::Entry,
            _ => LineKind::Prose,
        };
        let start = if kind == LineKind::Blank { at } else { start };
        lines.push(Line { range: start..start + trimmed.len(), text: trimmed, kind });
        at += line.len();
    }
    mark_maps(text, &mut lines);
    for line in &mut lines {
        let is_mark = line.kind == LineKind::Prose && !line.text.chars().any(char::is_alphanumeric);
        if is_mark || line.text.starts_with("```") {
            line.kind = LineKind::Mark;
        }
    }
    lines
}

/// Marks two or more lines in sequence that are drawn with characters, of about the same length.
fn mark_maps(text: &str, lines: &mut [Line<'_>]) {
    let mut start = 0;
    while start < lines.len() {
        let length = lines[start].text.chars().count();
        let is_row = |line: &Line<'_>| {
            let candidate = matches!(line.kind, LineKind::Prose | LineKind::Entry);
            candidate && is_drawn(line.text) && line.text.chars().count().abs_diff(length) <= length / 3 + 1
        };
        let rows = lines[start..].iter().take_while(|line| is_row(line)).count();
        if rows >= 2 {
            for line in &mut lines[start..start + rows] {
                line.kind = LineKind::MapRow;
                line.range.start = text[..line.range.start].rfind('\n').map_or(0, |at| at + 1);
            }
        }
        start += rows.max(1);
    }
}

/// True if no word of the line has two letters of different kinds, and it has three characters.
fn is_drawn(line: &str) -> bool {
    let has_word = line.split(|c: char| !c.is_alphabetic()).any(|word| {
        let mut letters = word.chars();
        letters.next().is_some_and(|first| letters.any(|letter| letter != first))
    });
    let drawn = line.chars().filter(|c| !c.is_whitespace()).count();
    let sentence =
        line.ends_with(['.', '!', '?']) && line.contains(' ') && !line.starts_with(['.', '#', '!', '?']);
    !has_word && drawn >= 3 && !sentence && !is_table_row(line)
}

fn is_table_row(line: &str) -> bool {
    line.matches('|').count() >= 2 || line.matches('\t').count() >= 2
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    rest.len() < line.len() && rest.starts_with(' ')
}

/// True for a line that begins with a bullet, a number or a letter of a list.
fn is_list_entry(line: &str) -> bool {
    let Some((mark, rest)) = line.split_once(char::is_whitespace) else { return false };
    if rest.trim().is_empty() {
        return false;
    }
    if matches!(
        mark,
        "-" | "*" | "+" | "\u{2022}" | "\u{2013}" | "\u{2014}" | "\u{b7}" | "\u{25aa}" | "\u{25e6}"
    ) {
        return true;
    }
    let inner = mark.strip_prefix('(').unwrap_or(mark);
    let Some(inner) = inner.strip_suffix([')', '.']) else { return false };
    let is_number = inner.len() <= 3 && inner.bytes().all(|b| b.is_ascii_digit());
    let is_letter = inner.chars().count() == 1 && mark.ends_with(')');
    !inner.is_empty() && (is_number || is_letter)
}

/// Narrowest column that a text is taken to be wrapped at, in characters.
const NARROWEST: usize = 60;

/// The sentences of lines of prose.
fn prose(text: &str, lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let width = lines.iter().map(|line| line.text.chars().count()).max().unwrap_or(0).max(NARROWEST);
    let mut ranges = Vec::new();
    let mut from = 0;
    for index in 0..lines.len() {
        let is_end = match lines.get(index + 1) {
            Some(next) => is_deliberate_break(lines[index].text, next.text, width),
            None => true,
        };
        if is_end {
            split(text, lines[from].range.start..lines[index].range.end, &mut ranges);
            from = index + 1;
        }
    }
    ranges
}

/// True if a line ends although the next word would have had room, and a new unit begins.
fn is_deliberate_break(line: &str, next: &str, width: usize) -> bool {
    let word = next.split_whitespace().next().unwrap_or_default();
    let has_room = line.chars().count() + 1 + word.chars().count() < width;
    let begins = next.chars().next().is_some_and(|c| !c.is_lowercase());
    line.ends_with(':') || has_room && begins && !line.ends_with([',', '-', '\u{3001}'])
}

/// Splits prose at the ends of its sentences.
fn split(text: &str, range: Range<usize>, ranges: &mut Vec<Range<usize>>) {
    let part = &text[range.clone()];
    let mut start = 0;
    let mut chars = part.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if !is_terminator(c) {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some((next, c)) = chars.next_if(|(_, c)| is_terminator(*c)) {
            end = next + c.len_utf8();
        }
        let mut quoted = false;
        while let Some((next, c)) = chars.next_if(|(_, c)| is_closing(*c)) {
            end = next + c.len_utf8();
            quoted = true;
        }
        // French sets a space before the closing mark.
        let rest = &part[end..];
        if let Some(after) = rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']).strip_prefix('\u{bb}')
            && !rest.starts_with('\u{bb}')
            && part[start..end].contains('\u{ab}')
        {
            end = part.len() - after.len();
            quoted = true;
            while chars.next_if(|(next, _)| *next < end).is_some() {}
        }
        if ends_sentence(&part[start..at], c, quoted, &part[end..]) {
            ranges.push(range.start + start..range.start + end);
            let rest = part[end..].trim_start();
            start = part.len() - rest.len();
        }
    }
    if start < part.len() {
        ranges.push(range.start + start..range.end);
    }
}

const fn is_terminator(c: char) -> bool {
    matches!(
        c,
        '.' | '!'
            | '?'
            | '\u{2026}'
            | '\u{3002}'
            | '\u{ff01}'
            | '\u{ff1f}'
            | '\u{ff0e}'
            | '\u{61f}'
            | '\u{964}'
    )
}

const fn is_closing(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | ')' | ']' | '\u{201d}' | '\u{201c}' | '\u{2019}' | '\u{300d}' | '\u{300f}' | '\u{ff09}'
    )
}

/// Abbreviations before which no sentence ends.
const ABBREVIATIONS: [&str; 33] = [
    "abb", "approx", "art", "bzw", "ca", "cf", "dr", "env", "evtl", "ex", "exkl", "fig", "ggf", "inkl",
    "mlle", "mme", "mr", "mrs", "ms", "nr", "prof", "resp", "sec", "sog", "st", "str", "vgl", "vs", "zzgl",
    "incl", "sr", "sra", "eig",
];

/// Abbreviations that may end a sentence.
const FINAL: [&str; 9] = ["etc", "usw", "usf", "a.m", "p.m", "u.s.w", "max", "min", "u.a"];

const MONTHS: [&str; 14] = [
    "Januar",
    "Jänner",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
    "Stock",
];

/// True if a sentence ends at the mark. `before` is the sentence without the mark, `after` the text after it and its closing marks.
fn ends_sentence(before: &str, mark: char, quoted: bool, after: &str) -> bool {
    if !matches!(mark, '.' | '!' | '?' | '\u{2026}') {
        return true;
    }
    if !after.is_empty() && !after.starts_with(char::is_whitespace) {
        // Before a script without spaces, the mark alone ends the sentence.
        return after.chars().next().is_some_and(is_unspaced) && mark != '.';
    }
    let opening = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '(' | '[' | '\u{201c}' | '\u{201e}' | '\u{ab}')
    };
    let next = after.trim_start_matches(opening);
    let lower = next.chars().next().is_some_and(char::is_lowercase);
    if quoted && lower {
        return false;
    }
    if mark != '.' {
        return mark != '\u{2026}' || !lower;
    }
    let token = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    if token.is_empty() || token.ends_with('.') {
        return !lower;
    }
    let key = token.to_lowercase();
    let digit = next.starts_with(|c: char| c.is_ascii_digit());
    if FINAL.contains(&key.as_str()) {
        return !lower && !digit;
    }
    let parts: Vec<&str> = key.split('.').collect();
    let is_short =
        parts.len() > 1 && parts.iter().all(|p| p.chars().count() <= 2 && p.chars().all(char::is_alphabetic));
    if is_short || ABBREVIATIONS.contains(&key.as_str()) {
        return false;
    }
    // The second half of an abbreviation with a space: `z. B.`
    let mut tokens = before.split_whitespace().rev().skip(1);
    let is_second = tokens.next().is_some_and(|first| matches!(first, "z." | "d." | "u." | "i."));
    if is_second && key.chars().count() == 1 {
        return false;
    }
    let word = next.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    match key.as_str() {
        "z" | "d" | "u" | "i" if word.chars().count() == 1 => false,
        "no" | "nos" | "p" | "pp" | "s" if digit => false,
        _ if key.bytes().all(|b| b.is_ascii_digit()) => !lower && !MONTHS.contains(&word),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_text(text: &str) -> Vec<String> {
        sentences(text).into_iter().map(|s| s.text).collect()
    }

    /// The sentences, which cover all of the text but white space.
    fn covering(text: &str) -> Vec<String> {
        let list = sentences(text);
        let mut at = 0;
        for sentence in &list {
            assert!(
                text[at..sentence.start].trim().is_empty(),
                "{:?} of {text:?}",
                &text[at..sentence.start]
            );
            at = sentence.end;
        }
        assert!(text[at..].trim().is_empty(), "{:?} of {text:?}", &text[at..]);
        list.into_iter().map(|s| s.text).collect()
    }

    #[test]
    fn prose_is_split_at_the_ends_of_sentences() {
        let text = "There are 3.5 litres, e.g. of milk, in the jug. box1 is red. Is it full? \"Yes!\" said Dr. Lee.\nGo to\nroom B. Then stop...";
        assert_eq!(
            covering(text),
            [
                "There are 3.5 litres, e.g. of milk, in the jug.",
                "box1 is red.",
                "Is it full?",
                "\"Yes!\" said Dr. Lee.",
                "Go to room B.",
                "Then stop..."
            ]
        );
    }

    #[test]
    fn german_french_and_chinese_marks_are_read() {
        assert_eq!(
            covering(
                "Der Roboter, z. B. R2, fährt am 3. Mai ca. 5 m. Er sagte: „Halt!“ Danach bzw. davor ruht er usw. Ende."
            ),
            [
                "Der Roboter, z. B. R2, fährt am 3. Mai ca. 5 m.",
                "Er sagte: „Halt!“",
                "Danach bzw. davor ruht er usw.",
                "Ende."
            ]
        );
        assert_eq!(
            covering("Il dit : « Où est la boîte ? » Elle est ici ! Bien."),
            ["Il dit : « Où est la boîte ? »", "Elle est ici !", "Bien."]
        );
        assert_eq!(
            covering("有三个房间。机器人在A。它说：「走！」好吗？"),
            ["有三个房间。", "机器人在A。", "它说：「走！」", "好吗？"]
        );
    }

    #[test]
    fn headings_lists_tables_and_maps_are_lines_of_their_own() {
        let text = "# Depot\n\nRules:\n- A van holds one box. It is small.\n  It is red.\n- Vans drive.\n\n| box | place |\n|-----|-------|\n| b1  | north |\n\n#####\n#R.G#\n #.. \n\n1. Bring b1 home.\nStart: A\nGoal: B\n```\nend\n```\n";
        assert_eq!(
            covering(text),
            [
                "# Depot",
                "Rules:",
                "- A van holds one box. It is small. It is red.",
                "- Vans drive.",
                "| box | place | |-----|-------|",
                "| b1 | north |",
                "#####",
                "#R.G#",
                " #..",
                "1. Bring b1 home.",
                "Start: A",
                "Goal: B ```",
                "end ```"
            ]
        );
        let numbered = numbered(text);
        assert!(numbered.starts_with("[1] # Depot\n\n[2] Rules:\n[3] - A van"), "{numbered}");
        assert!(numbered.contains("#####   [7]\n#R.G#   [8]\n #..   [9] \n\n[10] 1. Bring"), "{numbered}");
        assert_eq!(numbered.lines().count(), text.lines().count());
    }

    #[test]
    fn rows_of_a_fenced_map_have_their_numbers_at_their_ends() {
        let text = "The map:\n```\n#####\n#R.G#\n#####\n```\n";
        let numbered = numbered(text);
        assert_eq!(numbered, "[1] The map:\n```\n#####   [2]\n#R.G#   [3]\n#####   [4]\n```\n");
        assert_eq!(covering(text), ["The map: ```", "#####", "#R.G#", "#####"]);
        let fenced = "```\n#####\n#R.G#\n```\n";
        assert_eq!(super::numbered(fenced), "```\n#####   [1]\n#R.G#   [2]\n```\n");
        assert_eq!(covering(fenced), ["#####", "#R.G#"]);
    }

    #[test]
    fn nothing_of_a_text_is_lost() {
        for text in [
            "",
            " \n ",
            "---",
            "***\n\nA b.",
            "...",
            "a",
            "\u{feff}A. B.",
            "\r\nA b\r\nC d.\r\n",
            "!?",
            "« a",
            "x\n\n\n",
        ] {
            covering(text);
        }
        assert_eq!(split_text("One line\r\nof text."), ["One line of text."]);
    }

    #[test]
    fn rules_are_numbered_after_the_task() {
        let text = join_texts("Bring b1 home.\n", "\nA van holds one box.\n");
        assert_eq!(sentences(&text)[1].text, "A van holds one box.");
        assert_eq!(join_texts("A b.\n", "  "), "A b.");
        assert_eq!(join_texts("A b.\n", "A b."), "A b.", "the rules are the task's text");
    }

    #[test]
    fn a_text_does_not_have_its_quotation_mark() {
        assert_eq!(quotation_mark("A text."), "TEXT");
        assert_eq!(quotation_mark("TEXT-TEXT>>> ends"), "TEXT-TEXT-TEXT");
    }

    #[test]
    fn a_quote_is_found_in_other_marks_and_lines() {
        let text = "The robot’s “arm” holds\n   at most one box. 机器人一次只能拿一个箱子。";
        for quote in [
            "The robot's \"arm\" holds at most one box.",
            "\u{201c}holds at most one box\u{201d}",
            "[1] The robot's \"arm\"",
            "一次只能拿一个",
        ] {
            assert!(has_quote(text, quote), "{quote}");
        }
        for quote in
            ["", "robot", "the robot's \"arm\"", "most one bo", "oldsat most", "two boxes", "机器", "..."]
        {
            assert!(!has_quote(text, quote), "{quote}");
        }
    }

    #[test]
    fn a_mark_between_letters_or_digits_is_inside_a_word() {
        for (text, quote) in [
            ("It is 2.5 metres long.", "5 metres long"),
            ("re-open the door", "open the door"),
            ("re-open the door", "-open the door"),
            ("The robot doesn’t carry a box.", "t carry a box"),
            ("The robot doesn't carry a box.", "The robot doesn"),
            ("The box weighs 2.5 kg.", "box weighs 2."),
        ] {
            assert!(!has_quote(text, quote), "{quote}");
        }
        for (text, quote) in [
            ("It is 2.5 metres long.", "is 2.5 metres"),
            ("At -5 degrees, it stops. Then it waits...", "-5 degrees, it stops"),
            ("At -5 degrees, it stops. Then it waits...", "5 degrees"),
            ("At -5 degrees, it stops. Then it waits...", "Then it waits"),
            ("The sign says 'open the door'.", "open the door"),
            ("The boxes' lids are red.", "The boxes"),
        ] {
            assert!(has_quote(text, quote), "{quote}");
        }
    }

    #[test]
    fn a_decisive_quote_is_a_sentence_or_four_words() {
        let text = "- Vans drive.\n\nStop! A van holds at most two boxes. 机器人一次只能拿一个箱子。";
        for quote in [
            "Vans drive",
            "- Vans drive.",
            "holds at most two",
            "一次只能拿一个箱子",
            "\"A van holds at most two boxes.\"",
        ] {
            assert!(has_decisive_quote(text, quote), "{quote}");
        }
        for quote in ["at most two", "A van holds", "机器人一", "holds at least two", "Stop!", ""] {
            assert!(!has_decisive_quote(text, quote), "{quote}");
        }
        assert!(is_sentence(text, "Stop!") && is_sentence(text, "[2] Stop!"));
        assert!(!is_sentence(text, "two boxes.") && !is_sentence("...", "..."));
    }
}
