//! Reasons from pairs of literals (h²): two that can never hold together, and what follows from that.

use super::{MAX_DEPTH, Reason, ReasonKind, list, place_of_goal};
use crate::bits;
use crate::ground::{GroundLimits, ground};
use crate::lifted::{Formula, LiftedTask};
use crate::resources::{LimitWatch, ResourceLimits, StopReason};
use crate::satisfy::conjuncts;
use crate::search::{NONE, ReachablePairs, initial_state, relevant};
use crate::task::{Atom, Fact, GroundTask, ObjectId, SourcePlace};
use rustc_hash::FxHashSet;

/// Most facts of a set of which one holds at a time.
const MAX_GROUP: usize = 400;
/// Most facts and patterns of such a set that a message names.
const MAX_MEMBERS: usize = 6;
/// Most actions that a message names.
const MAX_CLAUSES: usize = 4;

/// Explains why pairs of literals do not reach the goal; without reasons where they do, and where the task has axioms or is too large.
pub(super) fn explain(
    lifted: &LiftedTask,
    resources: &mut dyn ResourceLimits,
) -> Result<Vec<Reason>, StopReason> {
    // Only literals can be named. Other goals may take long to ground.
    if !conjuncts(&lifted.goal).iter().all(|part| matches!(part, Formula::Literal { .. })) {
        return Ok(Vec::new());
    }
    let all = ground(lifted, GroundLimits::default(), resources)?;
    if all.goal_unreachable || !all.axioms.is_empty() {
        return Ok(Vec::new());
    }
    let task = relevant(&all);
    let initial = initial_state(&task);
    let mut watch = LimitWatch::new(resources, u64::MAX);
    let Some(pairs) = ReachablePairs::find(&task, &initial, &mut watch)? else { return Ok(Vec::new()) };
    let search = PairSearch::new(lifted, &all, &task, &pairs, initial);
    Ok(search.run())
}

/// One literal that can never hold, or two that can never hold together, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Impossible {
    One(u32),
    Two(u32, u32),
}

/// An operator that adds a literal, and the index of the conditional effect that does; [`NONE`] for its other effects.
type Adder = (u32, u32);

struct PairSearch<'t> {
    lifted: &'t LiftedTask,
    /// The ground task, with the facts that `task` leaves out.
    all: &'t GroundTask,
    task: &'t GroundTask,
    pairs: &'t ReachablePairs,
    /// By literal.
    adders: Vec<Vec<Adder>>,
    initial: Vec<u64>,
}

/// How the actions that add a literal are prevented, by schema.
#[derive(Default)]
struct Clauses {
    list: Vec<Clause>,
}

struct Clause {
    schema: u32,
    /// Number of its actions that need something.
    count: usize,
    /// Literals that the actions delete, or need.
    deletes: Vec<u32>,
    needs: Vec<u32>,
}

impl Clauses {
    fn of(&mut self, schema: u32) -> &mut Clause {
        let known = self.list.iter().position(|c| c.schema == schema);
        let at = known.unwrap_or_else(|| {
            self.list.push(Clause { schema, count: 0, deletes: Vec::new(), needs: Vec::new() });
            self.list.len() - 1
        });
        &mut self.list[at]
    }

    /// Adds what one action of a schema needs.
    fn needs(&mut self, schema: u32, literals: &[u32]) {
        let clause = self.of(schema);
        clause.count += 1;
        clause.needs.extend(literals);
    }
}

impl<'t> PairSearch<'t> {
    fn new(
        lifted: &'t LiftedTask,
        all: &'t GroundTask,
        task: &'t GroundTask,
        pairs: &'t ReachablePairs,
        initial: Vec<u64>,
    ) -> Self {
        let adders = vec![Vec::new(); pairs.count()];
        let mut search = PairSearch { lifted, all, task, pairs, adders, initial };
        for (o, operator) in task.operators.iter().enumerate() {
            let conditional = operator.conditional.iter().enumerate();
            let conditional = conditional.map(|(c, effect)| (c as u32, &effect.add, &effect.delete));
            for (c, add, delete) in conditional.chain([(NONE, &operator.add, &operator.delete)]) {
                for literal in search.changed(add, delete) {
                    search.adders[literal as usize].push((o as u32, c));
                }
            }
        }
        search
    }

    /// Literals that become true where `made` become true and `unmade` false.
    fn changed(&self, made: &[Fact], unmade: &[Fact]) -> Vec<u32> {
        made.iter().copied().chain(unmade.iter().filter_map(|&f| self.pairs.negation(f))).collect()
    }

    /// Literals that an operator needs to add something.
    fn needs(&self, (o, conditional): Adder) -> Vec<u32> {
        let operator = &self.task.operators[o as usize];
        let mut needs = self.pairs.literals(&operator.precondition);
        if let Some(effect) = operator.conditional.get(conditional as usize) {
            needs.extend(self.pairs.literals(&effect.condition));
        }
        needs
    }

    /// Returns true if an operator certainly makes a literal false.
    fn deletes(&self, o: u32, literal: u32) -> bool {
        let operator = &self.task.operators[o as usize];
        let (fact, negated) = self.pairs.fact(literal);
        match negated {
            true => operator.add.contains(&fact),
            false => {
                operator.delete.contains(&fact) && operator.conditional.iter().all(|c| !c.add.contains(&fact))
            }
        }
    }

    fn adds(&self, o: u32, literal: u32) -> bool {
        let operator = &self.task.operators[o as usize];
        self.changed(&operator.add, &operator.delete).contains(&literal)
    }

    fn schema(&self, o: u32) -> u32 {
        self.task.actions[self.task.operators[o as usize].action as usize].action
    }

    fn holds_initially(&self, literal: u32) -> bool {
        let (fact, negated) = self.pairs.fact(literal);
        bits::get(&self.initial, fact) != negated
    }

    /// The smallest part of a set of literals that pairs show to be impossible.
    fn impossible_part(&self, literals: &[u32]) -> Option<Impossible> {
        if let Some(&one) = literals.iter().find(|&&l| !self.pairs.together(&[l])) {
            return Some(Impossible::One(one));
        }
        let pair = |(i, &a): (usize, &u32)| {
            let other = literals[i..].iter().find(|&&b| !self.pairs.together(&[a, b]))?;
            Some(Impossible::Two(a.min(*other), a.max(*other)))
        };
        literals.iter().enumerate().find_map(pair)
    }

    fn run(self) -> Vec<Reason> {
        let goal = self.pairs.literals(&self.task.goal);
        let Some(part) = self.impossible_part(&goal) else { return Vec::new() };
        let is_invented = |a: &Atom| self.task.symbols.predicates[a.predicate as usize].starts_with('@');
        if self.task.facts.iter().any(is_invented) {
            return Vec::new();
        }
        let (Impossible::One(first) | Impossible::Two(first, _)) = part;
        let place = place_of_goal(self.lifted, &self.task.facts[self.pairs.fact(first).0 as usize]);
        let mut reasons = Vec::new();
        if let Impossible::One(l) = part {
            let message = format!("the goal {} can never become true", self.text(l));
            reasons.push(Reason { kind: ReasonKind::UnreachableGoal, message, place });
        }
        let mut seen = FxHashSet::default();
        let mut next = Some(part);
        while let Some(part) = next
            && seen.len() <= MAX_DEPTH
            && seen.insert(part)
        {
            let (kind, (message, schema, cause)) = match part {
                Impossible::One(l) => (ReasonKind::MissingAchiever, self.why_never(l)),
                Impossible::Two(a, b) => (ReasonKind::NeverTogether, self.why_never_together(a, b)),
            };
            let domain = |s: u32| SourcePlace::domain(self.lifted.schemas[s as usize].span);
            reasons.push(match reasons.is_empty() {
                true => Reason {
                    kind: ReasonKind::UnreachableGoal,
                    message: format!("the goals {message}"),
                    place,
                },
                false => Reason { kind, message, place: schema.map_or(place, domain) },
            });
            next = cause;
        }
        reasons
    }

    /// Why a literal never holds, the action that the reason is about, and the cause to follow.
    fn why_never(&self, literal: u32) -> (String, Option<u32>, Option<Impossible>) {
        let mut clauses = Clauses::default();
        let mut causes = Vec::new();
        for &adder in &self.adders[literal as usize] {
            let Some(cause) = self.impossible_part(&self.needs(adder)) else { continue };
            match cause {
                Impossible::One(l) => clauses.needs(self.schema(adder.0), &[l]),
                Impossible::Two(a, b) => clauses.needs(self.schema(adder.0), &[a, b]),
            }
            causes.push(cause);
        }
        let schema = clauses.list.first().map(|c| c.schema);
        (self.sentence(literal, &clauses), schema, self.most_frequent(&causes))
    }

    /// Why two literals never hold together.
    fn why_never_together(&self, a: u32, b: u32) -> (String, Option<u32>, Option<Impossible>) {
        let title = format!("{} and {} can never hold together", self.text(a), self.text(b));
        if let Some(group) = self.exclusive_group(a, b) {
            let initially = group.iter().find(|&&f| self.holds_initially(f));
            let initially = initially
                .map_or("none holds initially".to_owned(), |&f| format!("{} holds initially", self.text(f)));
            let message = match self.members(&group).as_slice() {
                [pattern] => format!("{title}: only one {pattern} holds at a time"),
                members => format!("{title}: only one of {} holds at a time", list(members)),
            };
            let message = format!("{message}, as {initially} and every action that adds one deletes one");
            return (message, None, None);
        }
        let mut parts = Vec::new();
        let mut causes = Vec::new();
        let mut schema = None;
        for (literal, other) in [(a, b), (b, a)] {
            let mut clauses = Clauses::default();
            for &adder in &self.adders[literal as usize] {
                let mut needs = self.needs(adder);
                // What is never applicable does not matter here.
                if self.impossible_part(&needs).is_some() {
                    continue;
                }
                if self.deletes(adder.0, other) {
                    clauses.of(self.schema(adder.0)).deletes.push(other);
                    continue;
                }
                if !self.adds(adder.0, other) {
                    needs.push(other);
                }
                let clause = self.schema(adder.0);
                match self.impossible_part(&needs) {
                    Some(cause @ Impossible::Two(x, y)) => {
                        clauses.needs(clause, &[if x == other { y } else { x }]);
                        causes.push(cause);
                    }
                    Some(Impossible::One(_)) => {}
                    // What it needs can hold beside the other, so it deletes the other under a condition.
                    None => clauses.of(clause).deletes.push(other),
                }
            }
            schema = schema.or(clauses.list.first().map(|c| c.schema));
            parts.push(self.sentence(literal, &clauses));
        }
        (format!("{title}: {}", parts.join("; ")), schema, self.most_frequent(&causes))
    }

    /// What adds a literal, as a clause.
    fn sentence(&self, literal: u32, clauses: &Clauses) -> String {
        let text = self.text(literal);
        let initially = if self.holds_initially(literal) { " holds initially and" } else { "" };
        let verb = if self.pairs.fact(literal).1 { "made true" } else { "added" };
        if clauses.list.is_empty() {
            return match initially {
                "" => format!("no action adds {text}, and it does not hold initially"),
                _ => format!("{text} holds initially, and no action adds it again"),
            };
        }
        let name = |c: &Clause| {
            let name = &self.task.symbols.actions[c.schema as usize];
            let texts =
                |patterns: &[Pattern]| patterns.iter().map(|p| self.pattern_text(p)).collect::<Vec<_>>();
            let mut parts = Vec::new();
            if !c.deletes.is_empty() {
                parts.push(format!("deletes {}", list(&texts(&self.patterns(&c.deletes)))));
            }
            if !c.needs.is_empty() {
                let patterns = self.patterns(&c.needs);
                // Where each action needs something else, they need one or the other.
                let and = patterns.iter().all(|p| p.count >= c.count);
                let texts = texts(&patterns);
                parts.push(format!("needs {}", if and { list(&texts) } else { texts.join(" or ") }));
            }
            format!("{name}, which {}", parts.join(" or "))
        };
        let mut names: Vec<String> = clauses.list.iter().take(MAX_CLAUSES).map(name).collect();
        if clauses.list.len() > MAX_CLAUSES {
            names.push(format!("{} more actions", clauses.list.len() - MAX_CLAUSES));
        }
        format!("{text}{initially} is {verb} only by {}", names.join(", and by "))
    }

    /// The cause of most actions. One with a literal that no action adds comes first: it is nearer to the mistake.
    fn most_frequent(&self, causes: &[Impossible]) -> Option<Impossible> {
        let is_never_added = |cause: &Impossible| match cause {
            Impossible::One(l) => self.adders[*l as usize].is_empty(),
            Impossible::Two(a, b) => [a, b].iter().any(|l| self.adders[**l as usize].is_empty()),
        };
        let rank =
            |cause: &Impossible| (is_never_added(cause), causes.iter().filter(|c| *c == cause).count());
        causes.iter().rev().copied().max_by_key(rank)
    }

    /// A set with the two facts of which only one holds at a time: at most one holds initially, and every operator that adds one
    /// needs and deletes one.
    fn exclusive_group(&self, a: u32, b: u32) -> Option<Vec<Fact>> {
        if [a, b].iter().any(|&l| self.pairs.fact(l).1) {
            return None;
        }
        let mut group = vec![a, b];
        let mut checked = 0;
        while checked < group.len() {
            for &(o, conditional) in &self.adders[group[checked] as usize] {
                let operator = &self.task.operators[o as usize];
                let pre = &operator.precondition.positive;
                if self.impossible_part(&self.needs((o, conditional))).is_some() {
                    continue;
                }
                let added = operator.add.iter().filter(|f| group.contains(f) && !pre.contains(f)).count();
                if conditional != NONE || added > 1 {
                    return None;
                }
                let is_moved = |f: &&Fact| pre.contains(f);
                if added == 0 || operator.delete.iter().filter(is_moved).any(|f| group.contains(f)) {
                    continue;
                }
                let excludes = |f: &&Fact| group.iter().all(|g| !self.pairs.together(&[**f, *g]));
                group.push(*operator.delete.iter().filter(is_moved).find(excludes)?);
                if group.len() > MAX_GROUP {
                    return None;
                }
            }
            checked += 1;
        }
        // A fact that was added later may be added by an operator that was checked before.
        let adds_two = |o: &u32| {
            let add = &self.task.operators[*o as usize].add;
            add.iter().filter(|f| group.contains(f)).count() > 1
        };
        let adders = group.iter().flat_map(|&f| &self.adders[f as usize]).map(|adder| adder.0);
        let usable = |o: &u32| self.impossible_part(&self.needs((*o, NONE))).is_none();
        if adders.filter(usable).any(|o| adds_two(&o)) {
            return None;
        }
        group.sort_unstable();
        Some(group)
    }

    fn text(&self, literal: u32) -> String {
        let (fact, negated) = self.pairs.fact(literal);
        let atom = self.task.symbols.atom(&self.task.facts[fact as usize]);
        if negated { format!("(not {atom})") } else { atom }
    }

    /// Literals by predicate, with the arguments that they share.
    fn patterns(&self, literals: &[u32]) -> Vec<Pattern> {
        let mut found: Vec<Pattern> = Vec::new();
        for &literal in literals {
            let (fact, negated) = self.pairs.fact(literal);
            let atom = &self.task.facts[fact as usize];
            match found.iter_mut().find(|p| p.predicate == atom.predicate && p.negated == negated) {
                Some(pattern) => {
                    pattern.count += 1;
                    for (known, &argument) in pattern.arguments.iter_mut().zip(&atom.args) {
                        *known = known.filter(|&k| k == argument);
                    }
                }
                None => found.push(Pattern {
                    predicate: atom.predicate,
                    negated,
                    arguments: atom.args.iter().map(|&a| Some(a)).collect(),
                    count: 1,
                }),
            }
        }
        found
    }

    fn pattern_text(&self, pattern: &Pattern) -> String {
        let text = self.task.symbols.pattern(pattern.predicate, &pattern.arguments);
        if pattern.negated { format!("(not {text})") } else { text }
    }

    /// A set of facts as patterns of which every instance is in the set, and single facts otherwise.
    fn members(&self, group: &[Fact]) -> Vec<String> {
        // What the reduced task leaves out may hold beside the group.
        let counts = |f: &Fact| group.contains(f) || !self.pairs.together(&[*f]);
        let facts = (0..self.task.facts.len() as Fact).filter(counts);
        let known: FxHashSet<&Atom> = facts.map(|f| &self.task.facts[f as usize]).collect();
        let mut texts = Vec::new();
        for pattern in self.patterns(group) {
            let is_instance = |atom: &&Atom| {
                let mut arguments = pattern.arguments.iter().zip(&atom.args);
                atom.predicate == pattern.predicate && arguments.all(|(p, a)| p.is_none_or(|p| p == *a))
            };
            let mut instances = self.all.facts.iter().chain(&self.lifted.init).filter(is_instance);
            if instances.all(|atom| known.contains(atom)) {
                texts.push(self.pattern_text(&pattern));
            } else {
                let of_it = group.iter().filter(|f| is_instance(&&self.task.facts[**f as usize]));
                texts.extend(of_it.map(|&f| self.text(f)));
            }
        }
        if texts.len() > MAX_MEMBERS {
            let rest = texts.len() + 1 - MAX_MEMBERS;
            texts.truncate(MAX_MEMBERS - 1);
            texts.push(format!("{rest} more"));
        }
        texts
    }
}

/// Literals of a predicate.
struct Pattern {
    predicate: u32,
    negated: bool,
    /// The arguments that they share.
    arguments: Vec<Option<ObjectId>>,
    /// Number of literals.
    count: usize,
}
