//! Diagnostics for programs: places as lines and columns, one object each.

use crate::{Diagnostic, Fix, Severity, SourceMap, Span};
use serde::Serialize;

/// A diagnostic with its place spelt out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JsonDiagnostic<'a> {
    pub code: &'a str,
    /// `error`, `warning` or `advice`.
    pub severity: Severity,
    /// One sentence.
    pub message: &'a str,
    /// Place of the primary label; its fields are next to `code`. Absent for a diagnostic without a place.
    #[serde(flatten)]
    pub place: Option<JsonPlace<'a>>,
    pub help: &'a [String],
    /// Every label, the primary one included.
    pub labels: Vec<JsonLabel<'a>>,
    /// A safe repair, its spans in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<&'a Fix>,
}

/// A place in a file. Lines and columns count from 1, columns in characters; the end is one past the last character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JsonPlace<'a> {
    pub file: &'a str,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    /// One past the last column.
    pub end_column: u32,
    /// The same place in bytes.
    pub span: Span,
}

/// A label with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JsonLabel<'a> {
    /// Text of the label; may be empty.
    pub message: &'a str,
    pub primary: bool,
    /// Place; absent if the source map lacks the source.
    #[serde(flatten)]
    pub place: Option<JsonPlace<'a>>,
}

/// Looks up the places of a diagnostic in `sources`.
pub fn locate<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> JsonDiagnostic<'a> {
    let place = |label: &'a crate::Label| {
        let file = sources.get(label.source)?;
        let (start, end) = (file.line_column(label.span.start), file.line_column(label.span.end));
        Some(JsonPlace {
            file: &file.name,
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            span: label.span,
        })
    };
    JsonDiagnostic {
        code: &diagnostic.code,
        severity: diagnostic.severity,
        message: &diagnostic.message,
        place: diagnostic.primary().and_then(place),
        help: &diagnostic.help,
        labels: diagnostic
            .labels
            .iter()
            .map(|label| JsonLabel { message: &label.message, primary: label.primary, place: place(label) })
            .collect(),
        fix: diagnostic.fix.as_ref(),
    }
}

/// All of them as a JSON array.
///
/// # Errors
/// None that these types can cause; the error is serde's.
pub fn array(
    diagnostics: &[Diagnostic],
    sources: &SourceMap,
) -> Result<serde_json::Value, serde_json::Error> {
    let located: Vec<JsonDiagnostic<'_>> = diagnostics.iter().map(|d| locate(d, sources)).collect();
    serde_json::to_value(located)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceId;

    #[test]
    fn places_are_lines_and_characters() {
        let sources = SourceMap::single("a.pddl", "(é)\n(bad x)\n");
        let found = Diagnostic::error("pddl.undefined-predicate", "no predicate `bad`")
            .at(SourceId(0), Span::new(6, 9), "here")
            .also(SourceId(9), Span::new(0, 1), "elsewhere")
            .help("declare it");
        let value = array(&[found], &sources).unwrap();
        assert_eq!(value[0]["file"], "a.pddl");
        assert_eq!(value[0]["severity"], "error");
        assert_eq!((value[0]["line"].as_u64(), value[0]["column"].as_u64()), (Some(2), Some(2)));
        assert_eq!((value[0]["end_line"].as_u64(), value[0]["end_column"].as_u64()), (Some(2), Some(5)));
        assert_eq!(value[0]["labels"][1]["message"], "elsewhere");
        assert!(value[0]["labels"][1].get("line").is_none(), "an unknown source has no place");
        assert!(value[0].get("fix").is_none());
    }

    #[test]
    fn a_diagnostic_without_a_place_has_no_file() {
        let value = array(&[Diagnostic::warning("x.y", "hm")], &SourceMap::default()).unwrap();
        assert!(value[0].get("file").is_none());
        assert_eq!(value[0]["labels"].as_array().map(Vec::len), Some(0));
    }
}
