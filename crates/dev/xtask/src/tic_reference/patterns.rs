//! How a text is read: sentence by sentence, each by the one pattern that fits the whole of it.

use super::ir::Ir;
use regex::Regex;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The form of a sentence and what it says. `{name}` stands for the name of an object, `{n}` for a number, `{list}` for anything;
/// the rest is a regular expression. The function is given what stood in these places, in their order.
pub(crate) type Pattern = (&'static str, fn(&mut Ir, &[&str]));

/// A form as the expression that fits a whole sentence. Each is compiled once: that takes longer than reading a text.
///
/// # Errors
/// A form that is no expression.
pub(crate) fn compile(form: &str) -> Result<Regex, String> {
    static COMPILED: LazyLock<Mutex<HashMap<String, Regex>>> = LazyLock::new(Mutex::default);
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = compiled.get(form) {
        return Ok(known.clone());
    }
    let expression = form.replace("{name}", r"([\w-]+)").replace("{n}", r"(\w+)").replace("{list}", "(.+)");
    let regex = Regex::new(&format!("^(?:{expression})$")).map_err(|e| e.to_string())?;
    compiled.insert(form.to_owned(), regex.clone());
    Ok(regex)
}

/// Reads a text into its representation.
///
/// # Errors
/// Sentences that no pattern reads or that several do, and names and numbers that are none.
pub(crate) fn convert(patterns: &[Pattern], text: &str) -> Result<String, Vec<String>> {
    let compiled: Result<Vec<_>, String> =
        patterns.iter().map(|(form, write)| Ok((compile(form)?, write))).collect();
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
