//! Reading of PDDL texts and of the repository's suites, random planning tasks as PDDL text, and a slow interpreter of the typed tree
//! as a reference for the crate.

#![allow(clippy::panic, reason = "helpers of tests are tests")]
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test uses a part")]

use planforge_diagnostics::SourceId;
use planforge_pddl::Name;
use planforge_pddl::ast::{self, Condition, Domain, Effect, InitElement, Problem, Term, TypedName};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A ground atom as text, lower case.
pub type GroundText = Vec<String>;
pub type TextState = BTreeSet<GroundText>;

pub fn read_domain(text: &str) -> Domain {
    let domain = planforge_pddl::parse_domain(text, SourceId(0));
    assert!(!domain.has_errors(), "{:?}", domain.diagnostics);
    domain.value
}

pub fn read_problem(text: &str) -> Problem {
    let problem = planforge_pddl::parse_problem(text, SourceId(1));
    assert!(!problem.has_errors(), "{:?}", problem.diagnostics);
    problem.value
}

pub fn read(domain: &str, problem: &str) -> (Domain, Problem) {
    (read_domain(domain), read_problem(problem))
}

/// The folder that contains the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The folders of the repository's suites, by name.
pub fn suites() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository().join("examples/suites")).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("domain.pddl").is_file());
    folders.sort();
    folders
}

pub fn suite(name: &str) -> PathBuf {
    repository().join("examples/suites").join(name)
}

/// A suite's domain with its problem of that number.
pub fn read_task(suite: &Path, number: usize) -> (Domain, Problem) {
    let text = |file: &str| std::fs::read_to_string(suite.join(file)).unwrap();
    read(&text("domain.pddl"), &text(&format!("p{number:02}.pddl")))
}

/// xorshift: the same tasks on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Constructs that a random task may have.
#[derive(Clone, Copy)]
pub struct Features {
    pub adl: bool,
    pub derived: bool,
    pub costs: bool,
}

const PREDICATES: [(&str, usize); 4] = [("p", 1), ("q", 2), ("r", 0), ("s", 1)];

/// A random task: two types, four objects, four predicates, three actions.
pub fn random_task(seed: u64, features: Features) -> (String, String) {
    let mut random = Random::new(seed);
    let mut domain = String::from(
        "(define (domain random) (:requirements :adl :derived-predicates :action-costs)\n(:types a b - top)\n\
         (:predicates (p ?x - top) (q ?x ?y - top) (r) (s ?x - top) (d ?x - top) (e ?x - top))\n(:functions (total-cost))\n",
    );
    if features.derived {
        domain.push_str("(:derived (d ?x - top) (or (p ?x) (exists (?y - top) (and (q ?y ?x) (d ?y)))))\n");
        domain.push_str("(:derived (e ?x - top) (and (s ?x) (not (d ?x))))\n");
    }
    for number in 0..4 {
        let parameters = 1 + random.below(2);
        let scope: Vec<String> = (0..parameters).map(|i| format!("?v{i}")).collect();
        let types: Vec<&str> = scope.iter().map(|_| ["a", "b", "top", "top"][random.below(4)]).collect();
        let list: Vec<String> = scope.iter().zip(&types).map(|(v, t)| format!("{v} - {t}")).collect();
        let mut precondition = String::new();
        for _ in 0..1 + random.below(2) {
            precondition.push_str(&condition(&mut random, &scope, features, 0));
        }
        let mut effect = String::new();
        for _ in 0..2 + random.below(3) {
            effect.push_str(&effect_text(&mut random, &scope, features));
        }
        if features.costs {
            effect.push_str(&format!("(increase (total-cost) {})", random.below(4)));
        }
        domain.push_str(&format!(
            "(:action act{number} :parameters ({}) :precondition (and {precondition}) :effect (and {effect}))\n",
            list.join(" ")
        ));
    }
    domain.push(')');
    let objects = ["a1", "a2", "b1", "b2"].map(String::from);
    let mut init = String::new();
    for _ in 0..3 {
        init.push_str(&atom(&mut random, &objects));
    }
    let mut goal = String::new();
    for _ in 0..2 + random.below(3) {
        let negated = random.chance(10);
        let text = atom(&mut random, &objects);
        goal.push_str(&if negated { format!("(not {text})") } else { text });
    }
    if features.derived {
        goal.push_str("(d b1)");
    }
    let metric = if features.costs { "(:metric minimize (total-cost))" } else { "" };
    let problem = format!(
        "(define (problem one) (:domain random) (:objects a1 a2 - a b1 b2 - b)\n(:init {init} (= (total-cost) 0))\n\
         (:goal (and {goal})) {metric})"
    );
    (domain, problem)
}

fn atom(random: &mut Random, scope: &[String]) -> String {
    let (name, arity) = PREDICATES[random.below(PREDICATES.len())];
    let args: Vec<&str> = (0..arity).map(|_| scope[random.below(scope.len())].as_str()).collect();
    if args.is_empty() { format!("({name})") } else { format!("({name} {})", args.join(" ")) }
}

fn condition(random: &mut Random, scope: &[String], features: Features, depth: usize) -> String {
    if !features.adl || depth > 1 {
        let text = atom(random, scope);
        return if features.adl && random.chance(30) { format!("(not {text})") } else { text };
    }
    let inner = |random: &mut Random, scope: &[String]| condition(random, scope, features, depth + 1);
    match random.below(10) {
        0 => format!("(or {} {})", inner(random, scope), inner(random, scope)),
        1 => format!("(imply {} {})", inner(random, scope), inner(random, scope)),
        2 | 3 => {
            let mut wider = scope.to_vec();
            wider.push(format!("?w{depth}"));
            let word = if random.chance(50) { "exists" } else { "forall" };
            let body = inner(random, &wider);
            format!("({word} (?w{depth} - {}) {body})", ["a", "b", "top"][random.below(3)])
        }
        4 => {
            let (x, y) = (&scope[random.below(scope.len())], &scope[random.below(scope.len())]);
            if random.chance(50) { format!("(not (= {x} {y}))") } else { format!("(= {x} {y})") }
        }
        5 if features.derived => format!("(d {})", scope[random.below(scope.len())]),
        6 if features.derived => format!("(not (e {}))", scope[random.below(scope.len())]),
        7 => format!("(not {})", atom(random, scope)),
        _ => atom(random, scope),
    }
}

fn effect_text(random: &mut Random, scope: &[String], features: Features) -> String {
    let text = atom(random, scope);
    let literal = if random.chance(40) { format!("(not {text})") } else { text };
    if !features.adl || random.chance(60) {
        return literal;
    }
    let guard = condition(random, scope, features, 1);
    if random.chance(50) {
        return format!("(when {guard} {literal})");
    }
    let mut wider = scope.to_vec();
    wider.push("?z".to_owned());
    let text = atom(random, &wider);
    let literal = if random.chance(40) { format!("(not {text})") } else { text };
    format!("(forall (?z - top) (when {} {literal}))", condition(random, &wider, features, 1))
}

/// Executes a task on its tree, trying every binding of everything.
pub struct Interpreter<'t> {
    domain: &'t Domain,
    objects: Vec<(String, Vec<String>)>,
    pub initial: TextState,
    goal: &'t Condition,
}

type Binding = BTreeMap<String, String>;

impl<'t> Interpreter<'t> {
    pub fn new(domain: &'t Domain, problem: &'t Problem) -> Self {
        let mut parents: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for t in &domain.types {
            let up = t.ty.iter().flat_map(|t| &t.alternatives).map(|n| n.key().to_owned());
            parents.entry(t.name.key().to_owned()).or_default().extend(up);
        }
        let objects = domain.constants.iter().chain(&problem.objects).map(|o| {
            let mut open: Vec<String> =
                o.ty.iter().flat_map(|t| &t.alternatives).map(|n| n.key().to_owned()).collect();
            let mut types = vec!["object".to_owned()];
            while let Some(t) = open.pop() {
                open.extend(parents.get(&t).into_iter().flatten().cloned());
                types.push(t);
            }
            (o.name.key().to_owned(), types)
        });
        let objects = objects.collect();
        let mut initial = TextState::new();
        for element in &problem.init {
            if let InitElement::Atom(a) = element {
                initial.insert(ground(&a.predicate, &a.args, &Binding::new()));
            }
        }
        let goal = problem.goal.as_ref().unwrap();
        let mut all = Interpreter { domain, objects, initial: TextState::new(), goal };
        all.close(&mut initial);
        all.initial = initial;
        all
    }

    fn of_type(&self, typed: &TypedName) -> Vec<String> {
        let fits = |types: &Vec<String>| match &typed.ty {
            None => true,
            Some(t) => t.alternatives.iter().any(|n| types.iter().any(|t| t == n.key())),
        };
        self.objects.iter().filter(|(_, t)| fits(t)).map(|(o, _)| o.clone()).collect()
    }

    fn bindings(&self, list: &[TypedName], start: &Binding) -> Vec<Binding> {
        let mut all = vec![start.clone()];
        for typed in list {
            let objects = self.of_type(typed);
            all = all
                .iter()
                .flat_map(|b| {
                    objects.iter().map(move |o| {
                        let mut next = b.clone();
                        next.insert(typed.name.key().to_owned(), o.clone());
                        next
                    })
                })
                .collect();
        }
        all
    }

    fn holds(&self, c: &Condition, b: &Binding, state: &TextState) -> bool {
        match c {
            Condition::And(parts, _) => parts.iter().all(|p| self.holds(p, b, state)),
            Condition::Or(parts, _) => parts.iter().any(|p| self.holds(p, b, state)),
            Condition::Not(inner, _) => !self.holds(inner, b, state),
            Condition::Imply(x, y, _) => !self.holds(x, b, state) || self.holds(y, b, state),
            Condition::Exists(q) => {
                self.bindings(&q.parameters, b).iter().any(|b| self.holds(&q.body, b, state))
            }
            Condition::Forall(q) => {
                self.bindings(&q.parameters, b).iter().all(|b| self.holds(&q.body, b, state))
            }
            Condition::Atom(a) => state.contains(&ground(&a.predicate, &a.args, b)),
            Condition::Equal(x, y, _) => object(x, b) == object(y, b),
            other => panic!("not generated: {other:?}"),
        }
    }

    /// Derived predicates: the rules in the order of the domain, each closed before the next (they are stratified so).
    fn close(&self, state: &mut TextState) {
        let heads: BTreeSet<&str> = self.domain.derived.iter().map(|d| d.predicate.key()).collect();
        state.retain(|a| !heads.contains(a[0].as_str()));
        for rule in &self.domain.derived {
            loop {
                let before = state.len();
                for b in self.bindings(&rule.parameters, &Binding::new()) {
                    if self.holds(rule.condition.as_ref().unwrap(), &b, state) {
                        let args = rule.parameters.iter().map(|p| b[p.name.key()].clone());
                        state.insert(std::iter::once(rule.predicate.key().to_owned()).chain(args).collect());
                    }
                }
                if state.len() == before {
                    break;
                }
            }
        }
    }

    pub fn is_goal(&self, state: &TextState) -> bool {
        self.holds(self.goal, &Binding::new(), state)
    }

    /// Applicable steps as text with their successors and costs.
    pub fn successors(&self, state: &TextState) -> BTreeMap<String, (TextState, u64)> {
        let mut all = BTreeMap::new();
        for action in &self.domain.actions {
            for b in self.bindings(&action.parameters, &Binding::new()) {
                if !action.precondition.as_ref().is_none_or(|c| self.holds(c, &b, state)) {
                    continue;
                }
                let (mut add, mut delete, mut cost) = (TextState::new(), TextState::new(), 0);
                if let Some(effect) = &action.effect {
                    self.effect(effect, &b, state, &mut add, &mut delete, &mut cost);
                }
                let mut next: TextState = state.difference(&delete).cloned().collect();
                next.extend(add);
                self.close(&mut next);
                let args: Vec<&str> = action.parameters.iter().map(|p| b[p.name.key()].as_str()).collect();
                all.insert(format!("({} {})", action.name.key(), args.join(" ")), (next, cost));
            }
        }
        all
    }

    fn effect(
        &self,
        e: &Effect,
        b: &Binding,
        state: &TextState,
        add: &mut TextState,
        delete: &mut TextState,
        cost: &mut u64,
    ) {
        match e {
            Effect::And(parts, _) => parts.iter().for_each(|p| self.effect(p, b, state, add, delete, cost)),
            Effect::Forall(q) => {
                for b in self.bindings(&q.parameters, b) {
                    self.effect(&q.body, &b, state, add, delete, cost);
                }
            }
            Effect::When(c, body, _) => {
                if self.holds(c, b, state) {
                    self.effect(body, b, state, add, delete, cost);
                }
            }
            Effect::Add(a) => {
                add.insert(ground(&a.predicate, &a.args, b));
            }
            Effect::Delete(a, _) => {
                delete.insert(ground(&a.predicate, &a.args, b));
            }
            Effect::Assign(a) => {
                if let ast::NumericExpr::Number(n, _) = a.value {
                    *cost += n.to_f64() as u64;
                }
            }
            Effect::Timed(..) => panic!("not generated"),
        }
    }

    /// Cheapest cost (or, without costs, fewest steps) to the goal from every reachable state; `None` where it is not
    /// reachable. Gives up, with `None` for all, beyond `cap` states.
    pub fn distances(&self, unit: bool, cap: usize) -> Option<BTreeMap<TextState, Option<u64>>> {
        let mut edges: BTreeMap<TextState, Vec<(TextState, u64)>> = BTreeMap::new();
        let mut open = vec![self.initial.clone()];
        while let Some(state) = open.pop() {
            if edges.contains_key(&state) {
                continue;
            }
            if edges.len() >= cap {
                return None;
            }
            let next: Vec<(TextState, u64)> =
                self.successors(&state).into_values().map(|(s, c)| (s, if unit { 1 } else { c })).collect();
            open.extend(next.iter().map(|n| n.0.clone()));
            edges.insert(state, next);
        }
        let mut distance: BTreeMap<TextState, Option<u64>> =
            edges.keys().map(|s| (s.clone(), self.is_goal(s).then_some(0))).collect();
        loop {
            let mut changed = false;
            for (state, next) in &edges {
                let best = next.iter().filter_map(|(s, c)| distance[s].map(|d| d + c)).min();
                if let Some(best) = best
                    && distance[state].is_none_or(|d| best < d)
                {
                    distance.insert(state.clone(), Some(best));
                    changed = true;
                }
            }
            if !changed {
                return Some(distance);
            }
        }
    }
}

fn object(term: &Term, b: &Binding) -> String {
    match term {
        Term::Variable(name) => b[name.key()].clone(),
        Term::Constant(name) => name.key().to_owned(),
    }
}

fn ground(predicate: &Name, args: &[Term], b: &Binding) -> GroundText {
    std::iter::once(predicate.key().to_owned()).chain(args.iter().map(|t| object(t, b))).collect()
}
