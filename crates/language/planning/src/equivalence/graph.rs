//! Two problems as one graph with coloured nodes and labelled edges, and the names that a renaming of objects must keep.

use planforge_pddl::ast::{
    Atom, Comparison, Condition, Domain, Effect, InitElement, Metric, MetricDirection, NumericExpr, Problem,
    Quantified, Term, TypeRef, TypedName,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write as _;

pub(super) type Node = u32;

/// Nodes of one problem, for messages and for comparisons.
#[derive(Debug, Clone)]
pub(super) struct ProblemNodes {
    /// The objects' nodes and names, in the problem's order; constants too.
    pub(super) objects: Vec<(Node, String)>,
    /// The facts' nodes and their texts, such as `init (at a b)`.
    pub(super) facts: Vec<Fact>,
}

/// A fact, number, goal or metric.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    pub(super) node: Node,
    pub(super) text: String,
    /// A literal or a number: its edges lead to objects and to nothing else.
    pub(super) flat: bool,
}

/// The disjoint union of both problems. Nodes below [`Graph::split`] are the first's.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    pub(super) split: Node,
    /// Colour of each node before refinement: the same for what reads the same.
    pub(super) colours: Vec<u32>,
    /// Edges from each node, both ways: (edge label, other node). The label encodes direction and position.
    pub(super) edges: Vec<Vec<(u32, Node)>>,
    pub(super) first: ProblemNodes,
    pub(super) second: ProblemNodes,
    fixed: FxHashSet<String>,
}

impl Graph {
    pub(super) fn new(domain: &Domain, first: &Problem, second: &Problem) -> Self {
        let fixed = fixed_names(domain);
        let mut names = Names::default();
        let a = Builder::new(&mut names, &fixed).build(domain, first);
        let b = Builder::new(&mut names, &fixed).build(domain, second);
        let split = a.colours.len() as Node;
        let shift = |side: ProblemNodes| ProblemNodes {
            objects: side.objects.into_iter().map(|(n, name)| (n + split, name)).collect(),
            facts: side.facts.into_iter().map(|f| Fact { node: f.node + split, ..f }).collect(),
        };
        let mut edges = a.edges;
        edges.extend(
            b.edges
                .into_iter()
                .map(|row| row.into_iter().map(|(label, n)| (label, n + split)).collect::<Vec<_>>()),
        );
        let colours = [a.colours, b.colours].concat();
        Self { split, colours, edges, first: a.side, second: shift(b.side), fixed }
    }

    pub(super) fn len(&self) -> usize {
        self.colours.len()
    }

    /// Returns the names of corresponding objects under an isomorphism, without those of [`fixed_names`].
    pub(super) fn renaming(&self, image: &[Node]) -> Vec<(String, String)> {
        let names: FxHashMap<Node, &String> =
            self.second.objects.iter().map(|(n, name)| (*n, name)).collect();
        self.first
            .objects
            .iter()
            .filter(|(_, name)| !self.fixed.contains(&name.to_lowercase()))
            .filter_map(|(n, name)| Some((name.clone(), (*names.get(&image[*n as usize])?).clone())))
            .collect()
    }
}

/// Texts as numbers, the same for both sides.
#[derive(Default)]
struct Names(FxHashMap<String, u32>);

impl Names {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.0.get(text) {
            return number;
        }
        let number = self.0.len() as u32;
        self.0.insert(text.to_owned(), number);
        number
    }
}

/// The graph of one problem.
struct Built {
    colours: Vec<u32>,
    edges: Vec<Vec<(u32, Node)>>,
    side: ProblemNodes,
}

/// Makes the graph of one problem. Parts that read the same are one node, so repeating one makes no difference.
struct Builder<'a> {
    names: &'a mut Names,
    fixed: &'a FxHashSet<String>,
    colours: Vec<u32>,
    edges: Vec<Vec<(u32, Node)>>,
    /// By colour and children.
    known: FxHashMap<(u32, Vec<(u32, Node)>), Node>,
    objects: FxHashMap<String, Node>,
    side: ProblemNodes,
    /// Variables in scope, innermost last.
    scope: Vec<(String, Node)>,
}

impl<'a> Builder<'a> {
    fn new(names: &'a mut Names, fixed: &'a FxHashSet<String>) -> Self {
        Self {
            names,
            fixed,
            colours: Vec::new(),
            edges: Vec::new(),
            known: FxHashMap::default(),
            objects: FxHashMap::default(),
            side: ProblemNodes { objects: Vec::new(), facts: Vec::new() },
            scope: Vec::new(),
        }
    }

    fn build(mut self, domain: &Domain, problem: &Problem) -> Built {
        for object in problem.objects.iter().chain(&domain.constants) {
            self.object(object.name.as_str(), object.name.key(), &type_text(object));
        }
        for element in &problem.init {
            self.init(element, "init");
        }
        match &problem.goal {
            Some(goal) => self.goal(goal),
            // No goal is not the empty one.
            None => self.flat("no goal", &[], || "no goal".to_owned()),
        }
        if let Some(constraints) = &problem.constraints {
            let node = self.condition(constraints, false);
            self.compound("constraints", node, || "the constraints".to_owned());
        }
        if let Some(metric) = &problem.metric {
            self.metric(metric);
        }
        Built { colours: self.colours, edges: self.edges, side: self.side }
    }

    /// A node with children; the same one where it is there already.
    fn node(&mut self, label: &str, mut children: Vec<(u32, Node)>) -> Node {
        let colour = self.names.number(label);
        children.sort_unstable();
        children.dedup();
        if let Some(&node) = self.known.get(&(colour, children.clone())) {
            return node;
        }
        let node = self.fresh(colour, &children);
        self.known.insert((colour, children), node);
        node
    }

    /// Adds a node.
    fn fresh(&mut self, colour: u32, children: &[(u32, Node)]) -> Node {
        let node = self.colours.len() as Node;
        self.colours.push(colour);
        self.edges.push(Vec::new());
        for &(place, child) in children {
            self.edges[node as usize].push((2 * place, child));
            self.edges[child as usize].push((2 * place + 1, node));
        }
        node
    }

    /// An object. A second declaration of one name adds nothing.
    fn object(&mut self, name: &str, key: &str, type_name: &str) -> Node {
        if let Some(&node) = self.objects.get(key) {
            return node;
        }
        let label = match self.fixed.contains(key) {
            true => format!("object {key} - {type_name}"),
            false => format!("object - {type_name}"),
        };
        let colour = self.names.number(&label);
        let node = self.fresh(colour, &[]);
        self.objects.insert(key.to_owned(), node);
        self.side.objects.push((node, name.to_owned()));
        node
    }

    fn term(&mut self, term: &Term) -> Node {
        match term {
            Term::Variable(name) => {
                let bound = self.scope.iter().rev().find(|(known, _)| known == name.key()).map(|(_, n)| *n);
                // A free variable is represented by its name.
                bound.unwrap_or_else(|| self.node(&format!("free {}", name.key()), Vec::new()))
            }
            Term::Constant(name) => self.object(name.as_str(), name.key(), "undeclared"),
        }
    }

    fn argument_edges(&mut self, terms: &[Term]) -> Vec<(u32, Node)> {
        terms.iter().enumerate().map(|(i, t)| (i as u32, self.term(t))).collect()
    }

    /// A fact that is one node over its objects.
    fn flat(&mut self, label: &str, args: &[Term], text: impl FnOnce() -> String) {
        let children = self.argument_edges(args);
        let before = self.colours.len();
        let node = self.node(label, children);
        if self.colours.len() > before {
            self.side.facts.push(Fact { node, text: text(), flat: true });
        }
    }

    /// A fact about a condition or expression.
    fn compound(&mut self, kind: &str, child: Node, text: impl FnOnce() -> String) {
        let before = self.colours.len();
        let node = self.node(kind, vec![(0, child)]);
        if self.colours.len() > before {
            self.side.facts.push(Fact { node, text: format!("{kind} {}", text()), flat: false });
        }
    }

    fn goal(&mut self, goal: &Condition) {
        let mut conjuncts = Vec::new();
        parts(goal, false, true, &mut conjuncts);
        for (conjunct, negated) in conjuncts {
            let text = || format!("goal {}", literal_text(conjunct, negated));
            if let Condition::Atom(atom) = conjunct {
                let sign = if negated { "not " } else { "" };
                self.flat(
                    &format!("goal {sign}{}/{}", atom.predicate.key(), atom.args.len()),
                    &atom.args,
                    text,
                );
            } else {
                let node = self.condition(conjunct, negated);
                self.compound("goal", node, || literal_text(conjunct, negated));
            }
        }
    }

    fn atom(&mut self, atom: &Atom) -> Node {
        let children = self.argument_edges(&atom.args);
        self.node(&format!("atom {}/{}", atom.predicate.key(), atom.args.len()), children)
    }

    fn init(&mut self, element: &InitElement, kind: &str) {
        match element {
            InitElement::Atom(atom) => {
                let label = format!("{kind} {}/{}", atom.predicate.key(), atom.args.len());
                self.flat(&label, &atom.args, || format!("{kind} {}", atom_text(atom)));
            }
            // Atoms are false by default, so an explicit negation changes nothing. A timed one does.
            InitElement::Not(atom, _) if kind != "init" => {
                let label = format!("{kind} not {}/{}", atom.predicate.key(), atom.args.len());
                self.flat(&label, &atom.args, || format!("{kind} (not {})", atom_text(atom)));
            }
            InitElement::Not(..) => {}
            InitElement::Value(fluent, value, _) => {
                let label = format!("{kind} value {}/{} = {value}", fluent.function.key(), fluent.args.len());
                self.flat(&label, &fluent.args, || {
                    format!("{kind} (= {} {value})", call_text(fluent.function.as_str(), &fluent.args))
                });
            }
            InitElement::Timed { time, element, .. } => self.init(element, &format!("at {time}")),
        }
    }

    fn metric(&mut self, metric: &Metric) {
        let node = self.number(&metric.expr);
        let kind = match metric.direction {
            MetricDirection::Minimize => "minimize",
            MetricDirection::Maximize => "maximize",
        };
        self.compound(kind, node, || "the metric".to_owned());
    }

    /// The node of a condition in negation normal form.
    fn condition(&mut self, condition: &Condition, negated: bool) -> Node {
        match condition {
            Condition::And(..) | Condition::Or(..) | Condition::Imply(..) => {
                self.connective(condition, negated)
            }
            Condition::Not(part, _) => self.condition(part, !negated),
            Condition::Exists(q) | Condition::Forall(q) => {
                let exists = matches!(condition, Condition::Exists(_)) != negated;
                self.add_quantified(q, exists, negated)
            }
            Condition::Atom(atom) => {
                let node = self.atom(atom);
                if negated { self.node("not", vec![(0, node)]) } else { node }
            }
            Condition::Equal(a, b, _) => {
                let children = vec![(0, self.term(a)), (0, self.term(b))];
                self.node(if negated { "different" } else { "same" }, children)
            }
            Condition::Compare(comparison) => self.comparison(comparison, negated),
            Condition::Preference(preference) => {
                let body = self.condition(&preference.condition, negated);
                let name = preference.name.as_ref().map_or("", |n| n.key());
                self.node(&format!("preference {name}"), vec![(0, body)])
            }
            Condition::Trajectory(trajectory) => {
                let children: Vec<(u32, Node)> = trajectory
                    .conditions
                    .iter()
                    .enumerate()
                    .map(|(i, c)| (i as u32, self.condition(c, false)))
                    .collect();
                let label = format!("{:?} {:?} {negated}", trajectory.op, trajectory.times);
                self.node(&label, children)
            }
            Condition::Timed(time, part, _) => {
                let body = self.condition(part, negated);
                self.node(&format!("{time:?}"), vec![(0, body)])
            }
        }
    }

    /// A quantified condition; quantifiers of one kind in each other are one.
    fn add_quantified(&mut self, outer: &Quantified<Condition>, exists: bool, mut negated: bool) -> Node {
        let depth = self.scope.len();
        let (mut children, mut next) = (Vec::new(), Some(outer));
        let mut body = &*outer.body;
        while let Some(quantified) = next {
            for parameter in &quantified.parameters {
                let colour = self.names.number(&format!("variable - {}", type_text(parameter)));
                let node = self.fresh(colour, &[]);
                children.push((1, node));
                self.scope.push((parameter.name.key().to_owned(), node));
            }
            body = &*quantified.body;
            while let Condition::Not(part, _) = body {
                (body, negated) = (&**part, !negated);
            }
            next = match body {
                Condition::Exists(inner) if exists != negated => Some(inner),
                Condition::Forall(inner) if exists == negated => Some(inner),
                _ => None,
            };
        }
        let body = self.condition(body, negated);
        self.scope.truncate(depth);
        if children.is_empty() {
            return body;
        }
        children.push((0, body));
        self.node(if exists { "exists" } else { "forall" }, children)
    }

    /// Adds a conjunction or disjunction in normal form; nested ones of the same kind are merged.
    fn connective(&mut self, condition: &Condition, negated: bool) -> Node {
        let and = matches!(condition, Condition::And(..)) != negated;
        let mut found = Vec::new();
        parts(condition, negated, and, &mut found);
        let mut children: Vec<(u32, Node)> =
            found.into_iter().map(|(part, negated)| (0, self.condition(part, negated))).collect();
        children.sort_unstable();
        children.dedup();
        match children[..] {
            [(_, only)] => only,
            _ => self.node(if and { "and" } else { "or" }, children),
        }
    }

    fn comparison(&mut self, comparison: &Comparison, negated: bool) -> Node {
        let (left, right) = (self.number(&comparison.left), self.number(&comparison.right));
        self.node(&format!("{:?} {negated}", comparison.op), vec![(0, left), (1, right)])
    }

    fn number(&mut self, expr: &NumericExpr) -> Node {
        match expr {
            NumericExpr::Number(value, _) => self.node(&format!("number {value}"), Vec::new()),
            NumericExpr::Fluent(fluent) => {
                let children = self.argument_edges(&fluent.args);
                self.node(&format!("fluent {}", fluent.function.key()), children)
            }
            NumericExpr::Arithmetic(op, parts, _) => {
                // A chain of nodes keeps the order and repeated operands.
                let mut node = self.node("end of operands", Vec::new());
                for part in parts.iter().rev() {
                    let operand = self.number(part);
                    node = self.node(&format!("operand of {op:?}"), vec![(0, operand), (1, node)]);
                }
                node
            }
            NumericExpr::Duration(_) => self.node("duration", Vec::new()),
            NumericExpr::ElapsedTime(_) => self.node("elapsed time", Vec::new()),
            NumericExpr::TotalTime(_) => self.node("total-time", Vec::new()),
            NumericExpr::IsViolated(name, _) => self.node(&format!("is-violated {}", name.key()), Vec::new()),
        }
    }
}

/// The conjuncts (`and`) or disjuncts of a condition with their signs.
fn parts<'c>(condition: &'c Condition, negated: bool, and: bool, out: &mut Vec<(&'c Condition, bool)>) {
    match condition {
        Condition::And(list, _) if and != negated => list.iter().for_each(|p| parts(p, negated, and, out)),
        Condition::Or(list, _) if and == negated => list.iter().for_each(|p| parts(p, negated, and, out)),
        Condition::Imply(a, b, _) if and == negated => {
            parts(a, !negated, and, out);
            parts(b, negated, and, out);
        }
        Condition::Not(part, _) => parts(part, !negated, and, out),
        other => out.push((other, negated)),
    }
}

/// The type as the two sides must agree on it; alternatives in one order.
fn type_text(name: &TypedName) -> String {
    let of = |ty: &TypeRef| -> String {
        let mut names: Vec<&str> = ty.alternatives.iter().map(|n| n.key()).collect();
        names.sort_unstable();
        names.dedup();
        names.join("|")
    };
    name.ty.as_ref().map_or_else(|| "object".to_owned(), of)
}

fn call_text(name: &str, args: &[Term]) -> String {
    let mut out = format!("({name}");
    for term in args {
        let _ = write!(out, " {}", term.name().as_str());
    }
    out.push(')');
    out
}

fn atom_text(atom: &Atom) -> String {
    call_text(atom.predicate.as_str(), &atom.args)
}

fn literal_text(condition: &Condition, negated: bool) -> String {
    match (condition, negated) {
        (Condition::Atom(atom), false) => atom_text(atom),
        (Condition::Atom(atom), true) => format!("(not {})", atom_text(atom)),
        _ => "a condition that is no literal".to_owned(),
    }
}

/// Returns the names, in lower case, that must not be renamed: constants, and all names in the domain's
/// actions, rules and constraints.
pub fn fixed_names(domain: &Domain) -> FxHashSet<String> {
    let mut names: FxHashSet<String> = domain.constants.iter().map(|c| c.name.key().to_owned()).collect();
    let mut see = |term: &Term| {
        if let Term::Constant(name) = term {
            names.insert(name.key().to_owned());
        }
    };
    for action in &domain.actions {
        action.precondition.iter().for_each(|c| terms_of_condition(c, &mut see));
        action.effect.iter().for_each(|e| terms_of_effect(e, &mut see));
    }
    for action in &domain.durative_actions {
        action.duration.iter().chain(&action.condition).for_each(|c| terms_of_condition(c, &mut see));
        action.effect.iter().for_each(|e| terms_of_effect(e, &mut see));
    }
    domain.constraints.iter().for_each(|c| terms_of_condition(c, &mut see));
    for rule in &domain.derived {
        rule.condition.iter().for_each(|c| terms_of_condition(c, &mut see));
    }
    names
}

fn terms_of_condition(condition: &Condition, see: &mut dyn FnMut(&Term)) {
    match condition {
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter().for_each(|p| terms_of_condition(p, see));
        }
        Condition::Not(part, _) | Condition::Timed(_, part, _) => terms_of_condition(part, see),
        Condition::Imply(a, b, _) => {
            terms_of_condition(a, see);
            terms_of_condition(b, see);
        }
        Condition::Exists(q) | Condition::Forall(q) => terms_of_condition(&q.body, see),
        Condition::Atom(atom) => atom.args.iter().for_each(see),
        Condition::Equal(a, b, _) => [a, b].into_iter().for_each(see),
        Condition::Compare(c) => [&c.left, &c.right].into_iter().for_each(|e| terms_of_number(e, see)),
        Condition::Preference(p) => terms_of_condition(&p.condition, see),
        Condition::Trajectory(t) => t.conditions.iter().for_each(|c| terms_of_condition(c, see)),
    }
}

fn terms_of_number(expr: &NumericExpr, see: &mut dyn FnMut(&Term)) {
    match expr {
        NumericExpr::Fluent(f) => f.args.iter().for_each(see),
        NumericExpr::Arithmetic(_, parts, _) => parts.iter().for_each(|p| terms_of_number(p, see)),
        _ => {}
    }
}

fn terms_of_effect(effect: &Effect, see: &mut dyn FnMut(&Term)) {
    match effect {
        Effect::And(parts, _) => parts.iter().for_each(|p| terms_of_effect(p, see)),
        Effect::Forall(q) => terms_of_effect(&q.body, see),
        Effect::When(condition, effect, _) => {
            terms_of_condition(condition, see);
            terms_of_effect(effect, see);
        }
        Effect::Add(atom) | Effect::Delete(atom, _) => atom.args.iter().for_each(see),
        Effect::Assign(a) => {
            a.fluent.args.iter().for_each(&mut *see);
            terms_of_number(&a.value, see);
        }
        Effect::Timed(_, effect, _) => terms_of_effect(effect, see),
    }
}
