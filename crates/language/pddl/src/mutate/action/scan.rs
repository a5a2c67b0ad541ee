//! The tokens of a printed action, and what each list in it is.

/// A parenthesis or a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Index of the opening token of the enclosing list; a list's own parentheses belong to the list around
    /// it.
    pub(super) parent: Option<usize>,
}

/// Kind of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenRole {
    /// The whole action.
    Action,
    /// A list of variables with their types.
    Variables,
    /// `and`, of conditions or effects.
    And,
    /// A negation, `(not ...)`.
    Not,
    /// A predicate with its arguments.
    Atom,
    /// Any other list.
    Other,
}

/// An action's text without comments, in tokens.
pub(super) struct Scan<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: Vec<Token>,
}

const OPERATORS: [&str; 16] = [
    "or",
    "imply",
    "forall",
    "exists",
    "when",
    "=",
    "<",
    ">",
    "<=",
    ">=",
    "increase",
    "decrease",
    "assign",
    "scale-up",
    "scale-down",
    "either",
];

impl<'t> Scan<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let mut tokens: Vec<Token> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut at = 0;
        while let Some(byte) = text.as_bytes().get(at) {
            let parent = open.last().copied();
            let end = match byte {
                b'(' => {
                    open.push(tokens.len());
                    at + 1
                }
                b')' => {
                    open.pop();
                    let parent = open.last().copied();
                    tokens.push(Token { start: at, end: at + 1, parent });
                    at += 1;
                    continue;
                }
                b if b.is_ascii_whitespace() => {
                    at += 1;
                    continue;
                }
                _ => text[at..]
                    .find(|c: char| c.is_whitespace() || c == '(' || c == ')')
                    .map_or(text.len(), |n| at + n),
            };
            tokens.push(Token { start: at, end, parent });
            at = end;
        }
        Scan { text, tokens }
    }

    pub(super) fn word(&self, token: usize) -> &'t str {
        self.tokens.get(token).map_or("", |t| &self.text[t.start..t.end])
    }

    pub(super) fn is_open(&self, token: usize) -> bool {
        self.word(token) == "("
    }

    pub(super) fn opening(&self) -> impl Iterator<Item = usize> {
        (0..self.tokens.len()).filter(|&t| self.is_open(t))
    }

    /// The words and lists of a list, each by its first token.
    pub(super) fn children(&self, list: usize) -> Vec<usize> {
        (list + 1..self.tokens.len())
            .filter(|&t| self.tokens[t].parent == Some(list) && self.word(t) != ")")
            .collect()
    }

    /// One past the last byte of a word or list.
    pub(super) fn end(&self, token: usize) -> usize {
        let own = &self.tokens[token];
        if !self.is_open(token) {
            return own.end;
        }
        let close = self.tokens[token + 1..]
            .iter()
            .find(|t| t.parent == own.parent && &self.text[t.start..t.end] == ")");
        close.map_or(self.text.len(), |t| t.end)
    }

    /// Returns the kind of a list. Lists inside numbers or alternatives of types are [`TokenRole::Other`].
    pub(super) fn role(&self, list: usize) -> TokenRole {
        let Some(parent) = self.tokens[list].parent else { return TokenRole::Action };
        let head = self.word(list + 1);
        let before = list.checked_sub(1).map_or("", |t| self.word(t));
        if [":parameters", ":vars"].contains(&before) {
            return TokenRole::Variables;
        }
        let numeric = |list: usize| OPERATORS[5..].contains(&self.word(list + 1));
        let mut around = Some(parent);
        while let Some(list) = around {
            if numeric(list) {
                return TokenRole::Other;
            }
            around = self.tokens[list].parent;
        }
        match head {
            "and" => TokenRole::And,
            "not" => TokenRole::Not,
            "(" | ")" => TokenRole::Other,
            word if word.starts_with('?') || OPERATORS.contains(&word) => TokenRole::Other,
            _ => TokenRole::Atom,
        }
    }

    /// The fields of the action: each keyword's token and its value's, where it has one.
    pub(super) fn fields(&self) -> Vec<(usize, Option<usize>)> {
        let children = self.children(0);
        let keyword = |t: usize| self.word(t).starts_with(':') && t > 1;
        let behind = |i: usize| children.get(i + 1).copied().filter(|t| !keyword(*t));
        children.iter().enumerate().filter(|(_, t)| keyword(**t)).map(|(i, &t)| (t, behind(i))).collect()
    }
}
