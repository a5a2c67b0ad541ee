//! Random small tasks as PDDL text, in eleven mixes of features.

use super::simulator::{Simulator, State};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::random::Random;

/// Constructs that the tasks of a mix may have.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mix {
    pub(crate) name: &'static str,
    negation: bool,
    disjunction: bool,
    quantifiers: bool,
    conditional: bool,
    derived: bool,
    equality: bool,
    types: bool,
    constants: bool,
    numeric: bool,
    costs: bool,
}

const STRIPS: Mix = Mix {
    name: "strips",
    negation: false,
    disjunction: false,
    quantifiers: false,
    conditional: false,
    derived: false,
    equality: false,
    types: false,
    constants: false,
    numeric: false,
    costs: false,
};

pub(crate) const MIXES: [Mix; 11] = [
    STRIPS,
    Mix { name: "negative preconditions", negation: true, ..STRIPS },
    Mix { name: "disjunction", negation: true, disjunction: true, ..STRIPS },
    Mix { name: "quantifiers", negation: true, quantifiers: true, types: true, ..STRIPS },
    Mix { name: "conditional effects", negation: true, conditional: true, quantifiers: true, ..STRIPS },
    Mix { name: "derived predicates", negation: true, derived: true, disjunction: true, ..STRIPS },
    Mix { name: "equality", negation: true, equality: true, disjunction: true, ..STRIPS },
    Mix { name: "types and constants", types: true, constants: true, ..STRIPS },
    Mix { name: "numeric", numeric: true, negation: true, ..STRIPS },
    Mix { name: "action costs", costs: true, types: true, ..STRIPS },
    Mix {
        name: "everything",
        negation: true,
        disjunction: true,
        quantifiers: true,
        conditional: true,
        derived: true,
        equality: true,
        types: true,
        constants: true,
        numeric: true,
        costs: true,
    },
];

impl Mix {
    pub(crate) fn has_numbers(&self) -> bool {
        self.numeric
    }
}

/// A task as text and as trees.
pub(crate) struct Task {
    pub(crate) domain_text: String,
    pub(crate) problem_text: String,
    pub(crate) domain: Domain,
    pub(crate) problem: Problem,
    /// Steps of a random walk from the initial state.
    pub(crate) walk: Vec<String>,
}

impl Task {
    /// The task of a seed.
    pub(crate) fn random(seed: u64, mix: Mix) -> Self {
        let mut random = Random::stream(seed, 0x7A5C);
        let mut writer = Writer { random: &mut random, mix, scale: 1 };
        writer.scale = [1, 1, 1_000, 1_000_000_000, 1_000_000_000_000][writer.below(5)];
        let domain_text = writer.domain();
        let head = writer.problem_head();
        let domain = planforge_pddl::parse_domain(&domain_text, SourceId(0)).value;
        let with_goal = |goal: &str| {
            let metric = if mix.costs { " (:metric minimize (total-cost))" } else { "" };
            format!("{head} (:goal {goal}){metric})\n")
        };
        let mut problem_text = with_goal("(and)");
        let mut problem = planforge_pddl::parse_problem(&problem_text, SourceId(1)).value;
        let (walk, last) = random_walk(&Simulator::new(&domain, &problem), writer.random);
        // A goal that holds after the walk, if there is one; now and then any goal.
        let any = writer.chance(20);
        for _ in 0..12 {
            problem_text = with_goal(&writer.goal());
            problem = planforge_pddl::parse_problem(&problem_text, SourceId(1)).value;
            let simulator = Simulator::new(&domain, &problem);
            let holds = |state: &State| simulator.is_goal(state) == Ok(true);
            let initially = simulator.initial().is_ok_and(|state| holds(&state));
            if any || (last.as_ref().is_some_and(holds) && (walk.is_empty() || !initially)) {
                break;
            }
        }
        Self { domain_text, problem_text, domain, problem, walk }
    }
}

/// Up to six steps that change the state, and the state after them.
fn random_walk(simulator: &Simulator<'_>, random: &mut Random) -> (Vec<String>, Option<State>) {
    let Ok(mut state) = simulator.initial() else { return (Vec::new(), None) };
    let mut steps = Vec::new();
    for _ in 0..random.below(7) {
        let mut next: Vec<(String, State)> = Vec::new();
        for action in &simulator.actions {
            if let Ok(Some(after)) = simulator.successor(&state, action)
                && after != state
            {
                next.push((action.name.clone(), after));
            }
        }
        let Some((name, after)) = random.pick(&next).cloned() else { break };
        steps.push(name);
        state = after;
    }
    (steps, Some(state))
}

/// Predicates with their numbers of arguments.
const PREDICATES: [(&str, usize); 4] = [("p", 1), ("q", 2), ("r", 0), ("s", 1)];

struct Writer<'r> {
    random: &'r mut Random,
    mix: Mix,
    /// Size of the costs.
    scale: u64,
}

impl Writer<'_> {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }

    /// `?x` with a type, if the mix has types.
    fn typed(&mut self, variable: &str) -> String {
        if !self.mix.types {
            return variable.to_owned();
        }
        format!("{variable} - {}", self.pick(&["a", "b", "top", "top", "c", "(either a b)"]))
    }

    /// `?x` with the most general type.
    fn general(&self, variables: &str) -> String {
        if self.mix.types { format!("{variables} - top") } else { variables.to_owned() }
    }

    fn domain(&mut self) -> String {
        let mut text = String::from(
            "(define (domain random) (:requirements :adl :fluents :derived-predicates :action-costs)\n",
        );
        if self.mix.types {
            text.push_str("(:types a b - top c - a)\n");
        }
        if self.mix.constants {
            text.push_str(&format!("(:constants {})\n", self.general("k")));
        }
        let (one, two) = (self.general("?x"), self.general("?x ?y"));
        text.push_str(&format!("(:predicates (p {one}) (q {two}) (r) (s {one})"));
        if self.mix.derived {
            text.push_str(&format!(" (d {one}) (e {one})"));
        }
        text.push_str(")\n");
        let mut functions = String::new();
        if self.mix.numeric {
            functions.push_str(&format!("(f {one}) (g) "));
        }
        if self.mix.costs {
            functions.push_str(&format!("(total-cost) (len {two}) "));
        }
        if !functions.is_empty() {
            text.push_str(&format!("(:functions {functions}- number)\n"));
        }
        if self.mix.derived {
            let other = self.general("?y");
            let body = self.pick(&["(q ?y ?x)", "(q ?x ?y)"]);
            text.push_str(&format!(
                "(:derived (d {one}) (or (p ?x) (exists ({other}) (and {body} (d ?y)))))\n"
            ));
            let guard = self.condition(&["?x".to_owned()], 1, false);
            text.push_str(&format!("(:derived (e {one}) (and {guard} (not (d ?x))))\n"));
        }
        for number in 0..2 + self.below(3) {
            text.push_str(&self.action(number));
        }
        text + ")\n"
    }

    fn action(&mut self, number: usize) -> String {
        let scope: Vec<String> = (0..1 + self.below(2)).map(|i| format!("?v{i}")).collect();
        let parameters: Vec<String> = scope.iter().map(|v| self.typed(v)).collect();
        let terms = self.terms(&scope);
        let mut precondition = String::new();
        for _ in 0..1 + self.below(2) {
            precondition.push_str(&self.condition(&terms, 0, true));
        }
        if self.mix.costs && self.chance(30) {
            precondition.push_str(&self.atom(&terms));
        }
        let mut effect = String::new();
        for _ in 0..2 + self.below(2) {
            effect.push_str(&self.effect(&terms));
        }
        if self.mix.numeric {
            for _ in 0..self.below(3) {
                effect.push_str(&self.numeric_effect(&terms));
            }
        }
        if self.mix.costs && self.chance(90) {
            let amount = match self.below(4) {
                0 => format!("(len {} {})", self.term(&terms), self.term(&terms)),
                _ => self.cost(),
            };
            effect.push_str(&format!("(increase (total-cost) {amount})"));
        }
        format!(
            "(:action act{number} :parameters ({})\n  :precondition (and {precondition})\n  :effect (and {effect}))\n",
            parameters.join(" ")
        )
    }

    /// Variables of a scope with the domain's constants.
    fn terms(&self, scope: &[String]) -> Vec<String> {
        let constant = self.mix.constants.then(|| "k".to_owned());
        scope.iter().cloned().chain(constant).collect()
    }

    fn term(&mut self, terms: &[String]) -> String {
        terms[self.below(terms.len())].clone()
    }

    fn atom(&mut self, terms: &[String]) -> String {
        let (name, arity) = PREDICATES[self.below(PREDICATES.len())];
        let mut text = format!("({name}");
        for _ in 0..arity {
            text.push(' ');
            text.push_str(&self.term(terms));
        }
        text + ")"
    }

    /// A condition over terms. `derived` is false in the rules of derived predicates themselves.
    fn condition(&mut self, terms: &[String], depth: usize, derived: bool) -> String {
        let mix = self.mix;
        match self.below(10) {
            0 if mix.disjunction && depth < 2 => {
                let word = self.pick(&["or", "or", "imply"]);
                let (a, b) =
                    (self.condition(terms, depth + 1, derived), self.condition(terms, depth + 1, derived));
                format!("({word} {a} {b})")
            }
            1 | 2 if mix.quantifiers && depth < 2 => {
                let variable = format!("?w{depth}");
                let word = self.pick(&["exists", "forall"]);
                let list = self.typed(&variable);
                let wider: Vec<String> = terms.iter().cloned().chain([variable]).collect();
                format!("({word} ({list}) {})", self.condition(&wider, depth + 1, derived))
            }
            3 | 4 if mix.equality => {
                let equal = format!("(= {} {})", self.term(terms), self.term(terms));
                if self.chance(50) { format!("(not {equal})") } else { equal }
            }
            5 | 6 if mix.derived && derived => {
                let atom = format!("({} {})", self.pick(&["d", "e"]), self.term(terms));
                if self.chance(40) { format!("(not {atom})") } else { atom }
            }
            7 | 8 if mix.numeric && derived => self.comparison(terms),
            9 if mix.negation && depth < 2 && self.chance(30) => {
                format!("(not {})", self.condition(terms, depth + 1, derived))
            }
            _ => {
                let atom = self.atom(terms);
                if mix.negation && self.chance(30) { format!("(not {atom})") } else { atom }
            }
        }
    }

    fn comparison(&mut self, terms: &[String]) -> String {
        let op = self.pick(&["<", "<=", ">", ">=", "="]);
        let comparison = format!("({op} {} {})", self.fluent(terms), self.number_expr(terms, 0));
        if self.chance(15) { format!("(not {comparison})") } else { comparison }
    }

    fn fluent(&mut self, terms: &[String]) -> String {
        if self.chance(50) { "(g)".to_owned() } else { format!("(f {})", self.term(terms)) }
    }

    fn number_expr(&mut self, terms: &[String], depth: usize) -> String {
        match self.below(6) {
            0 if depth < 2 => {
                let op = self.pick(&["+", "-", "*", "/"]);
                let (a, b) = (self.number_expr(terms, depth + 1), self.number_expr(terms, depth + 1));
                format!("({op} {a} {b})")
            }
            1 | 2 => self.fluent(terms),
            _ => self.pick(&["0", "1", "2", "3", "0.5", "0.1", "0.2", "2.25"]).to_owned(),
        }
    }

    fn effect(&mut self, terms: &[String]) -> String {
        if !self.mix.conditional || self.chance(50) {
            return self.literal(terms);
        }
        if self.chance(50) {
            let guard = self.condition(terms, 1, true);
            return format!("(when {guard} {})", self.literal(terms));
        }
        let list = self.typed("?z");
        let wider: Vec<String> = terms.iter().cloned().chain(["?z".to_owned()]).collect();
        let guard = self.condition(&wider, 1, true);
        format!("(forall ({list}) (when {guard} {}))", self.literal(&wider))
    }

    fn literal(&mut self, terms: &[String]) -> String {
        let atom = self.atom(terms);
        if self.chance(40) { format!("(not {atom})") } else { atom }
    }

    fn numeric_effect(&mut self, terms: &[String]) -> String {
        let op = self.pick(&["increase", "increase", "decrease", "assign", "scale-up", "scale-down"]);
        let effect = format!("({op} {} {})", self.fluent(terms), self.number_expr(terms, 1));
        if self.mix.conditional && self.chance(20) {
            return format!("(when {} {effect})", self.condition(terms, 1, true));
        }
        effect
    }

    /// A cost: small, large up to 10^12, or with a fraction.
    fn cost(&mut self) -> String {
        let whole = self.random.below(10) * (self.scale / 9).max(1) + self.random.below(2);
        if self.chance(40) {
            format!("{whole}.{:06}", self.random.below(1_000_000))
        } else {
            whole.to_string()
        }
    }

    fn objects(&self) -> Vec<String> {
        let names: &[&str] = if self.mix.types { &["a1", "b1", "c1"] } else { &["o1", "o2", "o3"] };
        self.terms(&names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>())
    }

    /// The problem up to its initial state.
    fn problem_head(&mut self) -> String {
        let objects = self.objects();
        let list = if self.mix.types { "a1 - a b1 - b c1 - c" } else { "o1 o2 o3" };
        let mut init = String::new();
        for _ in 0..2 + self.below(3) {
            let atom = self.atom(&objects);
            if !init.contains(&atom) {
                init.push_str(&atom);
            }
        }
        if self.mix.numeric {
            for fluent in objects.iter().map(|o| format!("(f {o})")).chain(["(g)".to_owned()]) {
                // Some fluents have no value.
                if !self.chance(6) {
                    let value = self.pick(&["0", "1", "2", "3", "0.5", "0.3", "10"]);
                    init.push_str(&format!("(= {fluent} {value})"));
                }
            }
        }
        if self.mix.costs {
            if !self.chance(5) {
                init.push_str("(= (total-cost) 0)");
            }
            for (a, b) in objects.iter().flat_map(|a| objects.iter().map(move |b| (a, b))) {
                if !self.chance(10) {
                    init.push_str(&format!("(= (len {a} {b}) {})", self.cost()));
                }
            }
        }
        format!("(define (problem one) (:domain random) (:objects {list})\n (:init {init})\n")
    }

    fn goal(&mut self) -> String {
        let objects = self.objects();
        let parts: Vec<String> = (0..1 + self.below(3)).map(|_| self.condition(&objects, 0, true)).collect();
        format!("(and {})", parts.join(" "))
    }
}
