//! Grammars as trees: the builder that makes them, membership of a text, and random texts for tests and studies.

use planforge_pddl::random::Random;
use std::collections::{BTreeMap, BTreeSet, HashMap};

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

/// Rules nested deeper than this are not followed; the text is then not accepted.
const MAX_NESTING: u32 = 400;

impl Grammar {
    /// Returns true if the grammar derives the whole text.
    pub fn accepts(&self, text: &str) -> bool {
        self.ends(text).contains(&text.len())
    }

    /// The greatest place up to which the text is the beginning of a derived text, in bytes.
    pub fn accepted_prefix(&self, text: &str) -> usize {
        let mut run = Run { grammar: self, text, ends: HashMap::new(), farthest: 0, depth: 0 };
        run.rule(self.start, 0);
        run.farthest
    }

    fn ends(&self, text: &str) -> BTreeSet<usize> {
        let mut run = Run { grammar: self, text, ends: HashMap::new(), farthest: 0, depth: 0 };
        run.rule(self.start, 0)
    }
}

/// Recursive descent over sets of places: every rule is tried once at each place, so the time is polynomial.
struct Run<'a> {
    grammar: &'a Grammar,
    text: &'a str,
    ends: HashMap<(RuleId, usize), BTreeSet<usize>>,
    farthest: usize,
    depth: u32,
}

impl Run<'_> {
    fn rule(&mut self, id: RuleId, at: usize) -> BTreeSet<usize> {
        if let Some(ends) = self.ends.get(&(id, at)) {
            return ends.clone();
        }
        if self.depth == MAX_NESTING {
            return BTreeSet::new();
        }
        self.depth += 1;
        let grammar = self.grammar;
        let ends = self.expr(&grammar.rule(id).expr, at);
        self.depth -= 1;
        self.ends.insert((id, at), ends.clone());
        ends
    }

    fn expr(&mut self, expr: &Expr, at: usize) -> BTreeSet<usize> {
        match expr {
            Expr::Literal(literal) => {
                let rest = &self.text.as_bytes()[at..];
                let same = rest.iter().zip(literal.as_bytes()).take_while(|(a, b)| a == b).count();
                self.farthest = self.farthest.max(at + same);
                if same == literal.len() { BTreeSet::from([at + same]) } else { BTreeSet::new() }
            }
            Expr::Class { ranges, negated } => match self.text[at..].chars().next() {
                Some(c) if ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated => {
                    self.farthest = self.farthest.max(at + c.len_utf8());
                    BTreeSet::from([at + c.len_utf8()])
                }
                _ => BTreeSet::new(),
            },
            Expr::Sequence(parts) => parts.iter().fold(BTreeSet::from([at]), |places, part| {
                places.into_iter().flat_map(|place| self.expr(part, place)).collect()
            }),
            Expr::Choice(parts) => parts.iter().flat_map(|part| self.expr(part, at)).collect(),
            Expr::Repeat { inner, min, max } => self.repeat(inner, *min, *max, at),
            Expr::Rule(id) => self.rule(*id, at),
        }
    }

    fn repeat(&mut self, inner: &Expr, min: u32, max: Option<u32>, at: usize) -> BTreeSet<usize> {
        let mut ends = BTreeSet::new();
        let mut places = BTreeSet::from([at]);
        let mut count = 0;
        while !places.is_empty() {
            if count >= min {
                // A place that was reached with fewer repetitions leads nowhere new, unless repetitions are counted.
                if max.is_none() {
                    places.retain(|place| !ends.contains(place));
                }
                ends.extend(&places);
            }
            if max == Some(count) {
                break;
            }
            places = places
                .into_iter()
                .flat_map(|place| {
                    let mut next = self.expr(inner, place);
                    next.remove(&place);
                    next
                })
                .collect();
            count += 1;
        }
        ends
    }
}

/// Most repetitions drawn where a grammar allows any number.
const MOST_REPETITIONS: u32 = 5;

impl Grammar {
    /// A random text of the grammar. Deeper than `depth` rules, the shortest alternatives are taken.
    pub fn derive(&self, random: &mut Random, depth: u32) -> String {
        let heights = self.heights();
        let mut out = String::new();
        let start = Expr::Rule(self.start);
        Derivation { grammar: self, heights: &heights, random }.expr(&start, depth, &mut out);
        out
    }

    /// For each rule, the least nesting of rules in a text of it.
    fn heights(&self) -> Vec<u32> {
        let mut heights = vec![u32::MAX; self.rules.len()];
        loop {
            let mut changed = false;
            for (n, rule) in self.rules.iter().enumerate() {
                let height = height(&rule.expr, &heights).saturating_add(1);
                if height < heights[n] {
                    heights[n] = height;
                    changed = true;
                }
            }
            if !changed {
                return heights;
            }
        }
    }
}

fn height(expr: &Expr, heights: &[u32]) -> u32 {
    match expr {
        Expr::Literal(_) | Expr::Class { .. } => 0,
        Expr::Sequence(parts) => parts.iter().map(|part| height(part, heights)).max().unwrap_or(0),
        Expr::Choice(parts) => parts.iter().map(|part| height(part, heights)).min().unwrap_or(u32::MAX),
        Expr::Repeat { min: 0, .. } => 0,
        Expr::Repeat { inner, .. } => height(inner, heights),
        Expr::Rule(id) => heights[id.0],
    }
}

struct Derivation<'a> {
    grammar: &'a Grammar,
    heights: &'a [u32],
    random: &'a mut Random,
}

impl Derivation<'_> {
    fn expr(&mut self, expr: &Expr, depth: u32, out: &mut String) {
        match expr {
            Expr::Literal(text) => out.push_str(text),
            Expr::Class { ranges, negated } => out.push(self.character(ranges, *negated)),
            Expr::Sequence(parts) => parts.iter().for_each(|part| self.expr(part, depth, out)),
            Expr::Choice(parts) => {
                let lowest = parts.iter().map(|part| height(part, self.heights)).min().unwrap_or(0);
                let fits = |part: &&Expr| height(part, self.heights) <= lowest.max(depth);
                let fitting: Vec<&Expr> = parts.iter().filter(fits).collect();
                if let Some(part) = self.random.pick(&fitting).copied() {
                    self.expr(part, depth, out);
                }
            }
            Expr::Repeat { inner, min, max } => {
                let is_deep = height(inner, self.heights) > depth;
                // Runs of blanks are kept short.
                let most = max.unwrap_or(min + MOST_REPETITIONS).min(min + MOST_REPETITIONS);
                let extra = if is_deep { 0 } else { self.random.below(u64::from(most - min) + 1) as u32 };
                (0..min + extra).for_each(|_| self.expr(inner, depth, out));
            }
            Expr::Rule(id) => {
                let grammar = self.grammar;
                self.expr(&grammar.rule(*id).expr, depth.saturating_sub(1), out);
            }
        }
    }

    fn character(&mut self, ranges: &[(char, char)], negated: bool) -> char {
        if negated {
            let allowed: Vec<char> =
                (' '..='~').filter(|c| !ranges.iter().any(|(from, to)| (*from..=*to).contains(c))).collect();
            return self.random.pick(&allowed).copied().unwrap_or('x');
        }
        let size = |(from, to): &(char, char)| u64::from(*to as u32 - *from as u32 + 1);
        let mut n = self.random.below(ranges.iter().map(size).sum());
        for range in ranges {
            if n < size(range) {
                return char::from_u32(range.0 as u32 + n as u32).unwrap_or(range.0);
            }
            n -= size(range);
        }
        'x'
    }
}
