//! The representation that a converter writes, statement by statement.

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
        let form = super::forms::compile_form(form);
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
    pub(crate) fn finish(self) -> Result<String, Vec<String>> {
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
