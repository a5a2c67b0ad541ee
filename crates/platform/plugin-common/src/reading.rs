//! Readings: a task in words and the PDDL that a model made of it. Shared by the plugins that write and question readings and by the
//! application that compares them.
//!
//! A text is a list of numbered [`Sentence`]s. The PDDL names them in comments at the ends of its lines, which [`sources`] reads. A
//! [`Point`] is a place that the text leaves open, with the [`PointChange`] that makes the PDDL of another reader.

mod change;
mod comments;
mod merge;
mod points;
mod sources;
mod text;

pub use change::{apply, rule_of_other_cases};
pub use merge::apply_after;
pub use points::{GapKind, Point, PointChange, Points};
pub use sources::{Part, Source, sources, unused};
pub use text::{
    Sentence, has_decisive_quote, has_quote, is_sentence, join_texts, numbered, quotation_mark, sentences,
};
