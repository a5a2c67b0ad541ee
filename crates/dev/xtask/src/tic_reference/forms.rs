//! Forms of sentences as regular expressions.

use regex::Regex;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The regular expression that matches whole sentences of a form. Each is compiled once, since that takes
/// longer than reading a text.
///
/// # Errors
/// A form that is not a regular expression.
pub(crate) fn compile_form(form: &str) -> Result<Regex, String> {
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
