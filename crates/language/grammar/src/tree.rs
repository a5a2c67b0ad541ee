//! Grammars as trees, and the builder that makes them.

use std::collections::BTreeMap;

/// Index of a rule in a [`Grammar`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub(crate) usize);

/// The right side of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// Exactly this text.
    Literal(String),
    /// One character of the ranges, both ends included, or of none of them if `negated`.
    Class {
        /// The ranges.
        ranges: Vec<(char, char)>,
        /// True for every character outside of the ranges.
        negated: bool,
    },
    /// One after the other. Empty: the empty text.
    Sequence(Vec<Expr>),
    /// One of them. Empty: no text at all.
    Choice(Vec<Expr>),
    /// Between `min` and `max` times; without `max`, any number of times from `min` on.
    Repeat {
        /// The repeated expression.
        inner: Box<Expr>,
        /// Least number of repetitions.
        min: u32,
        /// Greatest number of repetitions.
        max: Option<u32>,
    },
    /// The right side of a rule.
    Rule(RuleId),
}

impl Expr {
    /// A literal.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Literal(text.into())
    }

    /// One character of the ranges.
    pub fn class(ranges: &[(char, char)]) -> Self {
        Self::Class { ranges: ranges.to_vec(), negated: false }
    }

    /// A sequence.
    pub fn sequence(parts: impl IntoIterator<Item = Expr>) -> Self {
        Self::Sequence(parts.into_iter().collect())
    }

    /// A choice; of one alternative, that one.
    pub fn choice(parts: impl IntoIterator<Item = Expr>) -> Self {
        let mut parts: Vec<Expr> = parts.into_iter().collect();
        match parts.len() {
            1 => parts.remove(0),
            _ => Self::Choice(parts),
        }
    }

    /// The expression or nothing.
    pub fn optional(self) -> Self {
        self.repeat(0, Some(1))
    }

    /// The expression any number of times.
    pub fn any_number(self) -> Self {
        self.repeat(0, None)
    }

    /// The expression once or more.
    pub fn at_least_once(self) -> Self {
        self.repeat(1, None)
    }

    /// The expression between `min` and `max` times.
    pub fn repeat(self, min: u32, max: Option<u32>) -> Self {
        Self::Repeat { inner: Box::new(self), min, max }
    }
}

/// A named rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Lower-case letters, digits and hyphens; unique in the grammar.
    pub name: String,
    /// The right side.
    pub expr: Expr,
    /// True for a word of the language: it refers to no other rule and does not contain the empty text. Printed as a terminal where a notation has
    /// terminals.
    pub is_token: bool,
}

/// A context-free grammar without left recursion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grammar {
    pub(crate) rules: Vec<Rule>,
    pub(crate) start: RuleId,
}

impl Grammar {
    /// The rules, among them the start, `root`.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub(crate) fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id.0]
    }

    /// The grammar of replies that give a text of this one in a code block of that language, with a free text before it if `thought`. The
    /// free text ends at its first three backquotes, which open the block.
    #[must_use]
    pub fn in_code_block(&self, language: &str, thought: bool) -> Self {
        let mut builder = Builder::default();
        let mut rules = self.rules.clone();
        builder.names.extend(rules.iter().map(|rule| (rule.name.clone(), 1)));
        let text = self.start;
        rules[text.0].name = builder.unique("answer");
        let mut open = Expr::text(format!("```{language}\n"));
        if thought {
            let other = Expr::Class { ranges: vec![('`', '`')], negated: true };
            let after = |quotes: &str| Expr::Sequence(vec![Expr::text(quotes), other.clone()]);
            let free = Expr::choice([other.clone(), after("`"), after("``")]).any_number();
            // One word with the opening: a lexer that takes the longest word would read the opening as more of the thought.
            let expr = Expr::Sequence(vec![free, open]);
            rules.push(Rule { name: builder.unique("thought"), expr, is_token: true });
            open = Expr::Rule(RuleId(rules.len() - 1));
        }
        let parts = vec![open, Expr::Rule(text), Expr::text("```")];
        rules.push(Rule { name: "root".to_owned(), expr: Expr::Sequence(parts), is_token: false });
        let start = RuleId(rules.len() - 1);
        Self { rules, start }
    }
}

/// Collects rules.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    rules: Vec<Rule>,
    names: BTreeMap<String, usize>,
}

impl Builder {
    /// Reserves a rule, so that others can refer to it before it is set.
    pub(crate) fn reserve(&mut self, name: &str) -> RuleId {
        self.push(name, Expr::Choice(Vec::new()), false)
    }

    /// Sets the right side of a reserved rule.
    pub(crate) fn set(&mut self, id: RuleId, expr: Expr) {
        self.rules[id.0].expr = expr;
    }

    /// Adds a rule.
    pub(crate) fn rule(&mut self, name: &str, expr: Expr) -> Expr {
        Expr::Rule(self.push(name, expr, false))
    }

    /// Adds a word of the language.
    pub(crate) fn token(&mut self, name: &str, expr: Expr) -> Expr {
        Expr::Rule(self.push(name, expr, true))
    }

    fn push(&mut self, name: &str, expr: Expr, is_token: bool) -> RuleId {
        let name = self.unique(name);
        self.rules.push(Rule { name, expr, is_token });
        RuleId(self.rules.len() - 1)
    }

    /// A rule name from any text: other characters become hyphens, and a number makes it unique.
    fn unique(&mut self, name: &str) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let mut base: String = name.chars().map(safe).collect();
        if !base.starts_with(|c: char| c.is_ascii_lowercase()) {
            base.insert_str(0, "r-");
        }
        loop {
            // The start has these names.
            let taken = usize::from(base == "root" || base == "start");
            let count = self.names.entry(base.clone()).or_insert(taken);
            *count += 1;
            if *count == 1 {
                return base;
            }
            base = format!("{base}-{count}");
        }
    }

    /// The grammar of everything that `start` derives. Alternatives that derive no text are left out, and so are rules that nothing reaches.
    pub(crate) fn finish(mut self, start: Expr) -> Grammar {
        self.rules.push(Rule { name: "root".to_owned(), expr: start, is_token: false });
        let start = RuleId(self.rules.len() - 1);
        let productive = self.productive();
        for rule in &mut self.rules {
            rule.expr = without_impossible(&rule.expr, &productive).unwrap_or(Expr::Choice(Vec::new()));
        }
        let mut order: Vec<RuleId> = Vec::new();
        let mut new_ids: BTreeMap<RuleId, RuleId> = BTreeMap::new();
        let mut waiting = vec![start];
        while let Some(id) = waiting.pop() {
            if new_ids.contains_key(&id) {
                continue;
            }
            new_ids.insert(id, RuleId(order.len()));
            order.push(id);
            let mut uses = Vec::new();
            collect_rules(&self.rules[id.0].expr, &mut uses);
            waiting.extend(uses.into_iter().rev());
        }
        let rules = order.iter().map(|id| {
            let rule = &self.rules[id.0];
            Rule { expr: renumbered(&rule.expr, &new_ids), ..rule.clone() }
        });
        Grammar { rules: rules.collect(), start: RuleId(0) }
    }

    /// For each rule: true if it derives some text.
    fn productive(&self) -> Vec<bool> {
        let mut known = vec![false; self.rules.len()];
        loop {
            let mut changed = false;
            for (n, rule) in self.rules.iter().enumerate() {
                if !known[n] && is_productive(&rule.expr, &known) {
                    known[n] = true;
                    changed = true;
                }
            }
            if !changed {
                return known;
            }
        }
    }
}

fn is_productive(expr: &Expr, known: &[bool]) -> bool {
    match expr {
        Expr::Literal(_) | Expr::Class { .. } => true,
        Expr::Sequence(parts) => parts.iter().all(|part| is_productive(part, known)),
        Expr::Choice(parts) => parts.iter().any(|part| is_productive(part, known)),
        Expr::Repeat { inner, min, .. } => *min == 0 || is_productive(inner, known),
        Expr::Rule(id) => known[id.0],
    }
}

/// The expression without alternatives that derive no text; `None` if nothing is left.
fn without_impossible(expr: &Expr, productive: &[bool]) -> Option<Expr> {
    match expr {
        Expr::Literal(_) | Expr::Class { .. } => Some(expr.clone()),
        Expr::Sequence(parts) => {
            let parts: Option<Vec<Expr>> =
                parts.iter().map(|part| without_impossible(part, productive)).collect();
            let is_empty = |part: &Expr| matches!(part, Expr::Sequence(parts) if parts.is_empty());
            let mut parts = parts?;
            parts.retain(|part| !is_empty(part));
            Some(Expr::Sequence(parts))
        }
        Expr::Choice(parts) => {
            let parts: Vec<Expr> =
                parts.iter().filter_map(|part| without_impossible(part, productive)).collect();
            (!parts.is_empty()).then(|| Expr::choice(parts))
        }
        Expr::Repeat { inner, min, max } => match without_impossible(inner, productive) {
            Some(inner) => Some(inner.repeat(*min, *max)),
            None => (*min == 0).then(|| Expr::Sequence(Vec::new())),
        },
        Expr::Rule(id) => productive[id.0].then(|| expr.clone()),
    }
}

fn collect_rules(expr: &Expr, found: &mut Vec<RuleId>) {
    match expr {
        Expr::Literal(_) | Expr::Class { .. } => {}
        Expr::Sequence(parts) | Expr::Choice(parts) => {
            parts.iter().for_each(|part| collect_rules(part, found));
        }
        Expr::Repeat { inner, .. } => collect_rules(inner, found),
        Expr::Rule(id) => found.push(*id),
    }
}

fn renumbered(expr: &Expr, new_ids: &BTreeMap<RuleId, RuleId>) -> Expr {
    let all = |parts: &[Expr]| parts.iter().map(|part| renumbered(part, new_ids)).collect();
    match expr {
        Expr::Literal(_) | Expr::Class { .. } => expr.clone(),
        Expr::Sequence(parts) => Expr::Sequence(all(parts)),
        Expr::Choice(parts) => Expr::Choice(all(parts)),
        Expr::Repeat { inner, min, max } => renumbered(inner, new_ids).repeat(*min, *max),
        Expr::Rule(id) => Expr::Rule(new_ids.get(id).copied().unwrap_or(*id)),
    }
}
