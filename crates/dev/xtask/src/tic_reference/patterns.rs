//! Reads a text sentence by sentence, each by the one pattern that matches all of it.

use regex::Regex;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

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

/// The regular expression that matches whole sentences of a form. Each is compiled once, since that takes
/// longer than reading a text.
///
/// # Errors
/// A form that is not a regular expression.
fn compile_form(form: &str) -> Result<Regex, String> {
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

/// Numbers as words, from 0.
pub(crate) const NUMBERS: [&str; 13] =
    ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// The statements read so far.
#[derive(Default)]
pub(crate) struct Ir {
    /// Statements in the order of the text, each once.
    statements: Vec<String>,
    /// Names and numbers that are not valid.
    problems: Vec<String>,
    /// Objects of earlier sentences, for a later "it" or "these".
    pub(crate) last: Vec<String>,
    /// Row of a grid that is listed next.
    pub(crate) row: u32,
}

impl Ir {
    /// Adds a statement, with its dot.
    pub(crate) fn say(&mut self, statement: impl Into<String>) {
        let statement = statement.into();
        if !self.statements.contains(&statement) {
            self.statements.push(statement);
        }
    }

    /// `init(predicate(names)).`
    pub(crate) fn init(&mut self, predicate: &str, names: &[&str]) {
        self.fact("init", predicate, names);
    }

    /// `goal(predicate(names)).`
    pub(crate) fn goal(&mut self, predicate: &str, names: &[&str]) {
        self.fact("goal", predicate, names);
    }

    /// A fact of a state, `init` or `goal`.
    pub(crate) fn fact(&mut self, state: &str, predicate: &str, names: &[&str]) {
        let names: Vec<String> = names.iter().map(|n| self.name(n)).collect();
        if names.is_empty() {
            self.say(format!("{state}({predicate})."));
        } else {
            self.say(format!("{state}({predicate}({})).", names.join(", ")));
        }
    }

    /// `state(predicate(X, rest)) :- object(X, of).`
    pub(crate) fn all(&mut self, state: &str, predicate: &str, of: &str, rest: &[&str]) {
        let rest: Vec<String> = rest.iter().map(|n| self.name(n)).collect();
        let arguments = [vec!["X".to_owned()], rest].concat().join(", ");
        self.say(format!("{state}({predicate}({arguments})) :- object(X, {of})."));
    }

    /// `state(map(from, predicate, to)).`
    pub(crate) fn map(&mut self, state: &str, from: &str, predicate: &str, to: &str) {
        self.say(format!("{state}(map({from}, {predicate}, {to}))."));
    }

    /// `cardinality(of, number).`
    pub(crate) fn count(&mut self, of: &str, number: &str) {
        let number = self.number(number);
        self.say(format!("cardinality({of}, {number})."));
    }

    /// `object(name, of).`
    pub(crate) fn object(&mut self, name: &str, of: &str) {
        let name = self.name(name);
        self.say(format!("object({name}, {of})."));
    }

    /// `init(grid(row, column, name)).`
    pub(crate) fn cell(&mut self, grid: &str, row: &str, column: &str, name: &str) {
        let (row, column, name) = (self.number(row), self.number(column), self.name(name));
        self.say(format!("init({grid}({row}, {column}, {name}))."));
    }

    /// Notes that something cannot be written.
    pub(crate) fn problem(&mut self, message: impl Into<String>) {
        self.problems.push(message.into());
    }

    /// A name of the text as a constant: lower case, hyphens as underscores.
    pub(crate) fn name(&mut self, text: &str) -> String {
        let name = text.to_lowercase().replace('-', "_");
        let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(rest) {
            self.problem(format!("`{text}` is not a name"));
        }
        name
    }

    /// A number in digits or as a word.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        let word = NUMBERS.iter().zip(0..).find(|(w, _)| text.eq_ignore_ascii_case(w)).map(|(_, n)| n);
        word.or_else(|| text.parse().ok()).unwrap_or_else(|| {
            self.problem(format!("`{text}` is not a number"));
            0
        })
    }

    /// Reads each part of an enumeration (`a, b and c`) with one form; a part that it does not read is a problem.
    pub(crate) fn each(&mut self, list: &str, form: &str, write: fn(&mut Self, &[&str])) {
        let form = compile_form(form);
        for part in items(list) {
            match form.as_ref().map(|f| f.captures(part)) {
                Ok(Some(found)) => {
                    let parts: Vec<&str> =
                        found.iter().skip(1).map(|g| g.map_or("", |m| m.as_str())).collect();
                    write(self, &parts);
                }
                Ok(None) => self.problem(format!("`{part}` is not read")),
                Err(message) => self.problem(message.clone()),
            }
        }
    }

    /// The program as text.
    ///
    /// # Errors
    /// What could not be written.
    fn finish(self) -> Result<String, Vec<String>> {
        if self.problems.is_empty() {
            return Ok(self.statements.iter().map(|s| format!("{s}\n")).collect());
        }
        Err(self.problems)
    }
}

/// The parts of an enumeration: `a, b and c`, `a, b, and c`, `a or b`, `a; b`.
pub(crate) fn items(list: &str) -> impl Iterator<Item = &str> {
    list.split(", ")
        .flat_map(|part| part.split(" and "))
        .flat_map(|part| part.split(" or "))
        .flat_map(|part| part.split("; "))
        .map(|part| part.trim().trim_start_matches("and ").trim_start_matches("or "))
        .filter(|part| !part.is_empty())
}
