//! Levels: texts that imply what a suite's own texts (level 1) state.
//!
//! | level | text |
//! |---|---|
//! | 2 | things are counted and not named, layouts are described, defaults are left out ("all doors are closed except ...") |
//! | 3 | as 2, and reordered, with irrelevant facts, units, tables, negation and references back |
//! | 4 | as 3, and the text of the domain (`domain_brief.nl`) omits common knowledge |
//!
//! After each sentence, the template prints its facts in the language of intermediate representations, as lines that begin
//! with `=`. A sentence that the task does not depend on has the line `= irrelevant`:
//!
//! ```text
//! There are three rooms.
//! = cardinality(room, 3).
//! The building is 40 m long.
//! = irrelevant
//! ```
//!
//! With the facts, it can be proven that the text and `knowledge.lp` imply the problem, and that every sentence is needed.

/// The last level with a section of its own: texts of tasks at level 4 are those of level 3.
pub const LAST_SECTION: u8 = 3;

/// Begins a line with facts.
const FACTS: char = '=';
/// The facts of a sentence that has none.
const IRRELEVANT: &str = "irrelevant";

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

impl LevelText {
    /// Reads a rendered level.
    ///
    /// # Errors
    /// A sentence without facts, or facts before the first sentence.
    pub(super) fn parse(stem: String, rendered: &str) -> Result<Self, String> {
        let mut sentences: Vec<Sentence> = Vec::new();
        let mut text = String::new();
        for line in rendered.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.strip_prefix(FACTS).map(str::trim) {
                None => text = text + line + "\n",
                Some(facts) if !text.is_empty() => {
                    let facts = (facts != IRRELEVANT).then(|| format!("{facts}\n"));
                    sentences.push(Sentence { text: std::mem::take(&mut text), facts });
                }
                Some(facts) => match sentences.last_mut().and_then(|last| last.facts.as_mut()) {
                    Some(before) => *before = format!("{before}{facts}\n"),
                    None => return Err(format!("no sentence stands before `{FACTS} {facts}`")),
                },
            }
        }
        match text.is_empty() {
            true => Ok(Self { stem, sentences }),
            false => Err(format!("no line `{FACTS} ...` follows `{}`", text.trim_end())),
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
