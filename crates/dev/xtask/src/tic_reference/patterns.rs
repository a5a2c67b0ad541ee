//! Reads a text sentence by sentence, each by the one pattern that matches all of it.

use super::forms::compile_form;
use super::ir::Ir;

/// The form of a sentence, and the function that adds its statements. `{name}` stands for the name of an
/// object, `{n}` for a number, `{list}` for anything; the rest is a regular expression. The function gets the
/// texts of these places in order.
pub(crate) type Pattern = (&'static str, fn(&mut Ir, &[&str]));

/// Reads a text into its representation.
///
/// # Errors
/// Sentences that no pattern reads or that several do, and names and numbers that are none.
pub(crate) fn convert(patterns: &[Pattern], text: &str) -> Result<String, Vec<String>> {
    let compiled: Result<Vec<_>, String> =
        patterns.iter().map(|(form, write)| Ok((compile_form(form)?, write))).collect();
    let compiled = compiled.map_err(|e| vec![e])?;
    let mut ir = Ir::default();
    for sentence in sentences(text) {
        let fitting: Vec<_> =
            compiled.iter().filter_map(|(form, write)| Some((form.captures(sentence)?, write))).collect();
        match fitting.as_slice() {
            [(found, write)] => {
                let parts: Vec<&str> = found.iter().skip(1).map(|g| g.map_or("", |m| m.as_str())).collect();
                write(&mut ir, &parts);
            }
            [] => ir.problem(format!("no pattern reads the sentence `{sentence}`")),
            _ => ir.problem(format!("several patterns read the sentence `{sentence}`")),
        }
    }
    ir.finish()
}

/// The sentences of a text: up to a full stop or the end of a line.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(['.', '\n']).map(str::trim).filter(|s| !s.is_empty())
}
