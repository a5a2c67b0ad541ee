//! Plans with times, numbers, preferences and trajectory constraints on tiny random tasks: the validator against a simulator that is written
//! from the definitions of PDDL 2.1, 2.2 and 3.0 and shares no code with it.

use crate::support::{Random, read};
use planforge_diagnostics::SourceId;
use planforge_pddl::Number;
use planforge_planning::{
    Unlimited, ValidationDecision, ValidationOptions, Validator, normalize, parse_plan,
};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Times are counted in ticks of half a thousandth, the least distance of interfering events is two ticks.
const EPSILON: i64 = 2;
pub(crate) const OBJECTS: [&str; 2] = ["a", "b"];

/// An argument of `q`: the action's parameter or an object.
#[derive(Clone, Copy)]
pub(crate) enum Argument {
    Parameter,
    Object(usize),
}

/// `(p0)`, `(p1)`, `(q ARGUMENT)`.
#[derive(Clone, Copy)]
pub(crate) enum Fact {
    P(usize),
    Q(Argument),
}

#[derive(Clone)]
pub(crate) enum Test {
    Literal(Fact, bool),
    All,
    Some,
    AtLeast(usize, i64),
    Below(usize, i64),
}

#[derive(Clone)]
enum Change {
    Set(Fact, bool),
    When(Test, Fact, bool),
    Increase(usize, i64),
    Assign(usize, i64),
    /// The first number becomes the second one.
    Copy(usize, usize),
}

#[derive(Clone, Default)]
struct Half {
    tests: Vec<Test>,
    soft: Vec<Test>,
    changes: Vec<Change>,
}

struct Schema {
    /// Bounds of the duration in ticks; `None` for an instantaneous action.
    duration: Option<(i64, i64)>,
    start: Half,
    over: Vec<Test>,
    end: Half,
}

pub(crate) struct Task {
    schemas: Vec<Schema>,
    facts: BTreeSet<usize>,
    numbers: [i64; 2],
    timed: Vec<(i64, Fact, bool)>,
    pub(crate) goal: Vec<Test>,
    soft_goal: Vec<Test>,
    /// Operator, times, conditions, and whether it is a preference.
    pub(crate) constraints: Vec<(&'static str, Vec<i64>, Vec<Test>, bool)>,
}

pub(crate) struct Step {
    pub(crate) schema: usize,
    pub(crate) object: usize,
    pub(crate) start: i64,
    pub(crate) duration: i64,
}

fn decimal(ticks: i64) -> String {
    let sign = if ticks < 0 { "-" } else { "" };
    format!("{sign}{}.{:04}", ticks.abs() / 2000, ticks.abs() % 2000 * 5)
}

impl Fact {
    /// Its number: p0, p1, then q of each object.
    fn ground(self, object: usize) -> usize {
        match self {
            Fact::P(number) => number,
            Fact::Q(Argument::Parameter) => 2 + object,
            Fact::Q(Argument::Object(object)) => 2 + object,
        }
    }

    fn text(self) -> String {
        match self {
            Fact::P(number) => format!("(p{number})"),
            Fact::Q(Argument::Parameter) => "(q ?x)".to_owned(),
            Fact::Q(Argument::Object(object)) => format!("(q {})", OBJECTS[object]),
        }
    }
}

#[derive(Clone)]
struct State {
    facts: BTreeSet<usize>,
    numbers: [i64; 2],
}

impl Test {
    fn holds(&self, state: &State, object: usize) -> bool {
        match *self {
            Test::Literal(fact, truth) => state.facts.contains(&fact.ground(object)) == truth,
            Test::All => state.facts.contains(&2) && state.facts.contains(&3),
            Test::Some => state.facts.contains(&2) || state.facts.contains(&3),
            Test::AtLeast(number, least) => state.numbers[number] >= least,
            Test::Below(number, most) => state.numbers[number] < most,
        }
    }

    fn text(&self) -> String {
        match *self {
            Test::Literal(fact, true) => fact.text(),
            Test::Literal(fact, false) => format!("(not {})", fact.text()),
            Test::All => "(forall (?y) (q ?y))".to_owned(),
            Test::Some => "(exists (?y) (q ?y))".to_owned(),
            Test::AtLeast(number, least) => format!("(>= (n{number}) {least})"),
            Test::Below(number, most) => format!("(< (n{number}) {most})"),
        }
    }

    /// Facts and numbers that it mentions; numbers are 10 and 11.
    fn mentions(&self, object: usize, found: &mut BTreeSet<usize>) {
        match *self {
            Test::Literal(fact, _) => found.extend([fact.ground(object)]),
            Test::All | Test::Some => found.extend([2, 3]),
            Test::AtLeast(number, _) | Test::Below(number, _) => found.extend([10 + number]),
        }
    }
}

fn conjunction(tests: &[Test]) -> String {
    let parts: Vec<String> = tests.iter().map(Test::text).collect();
    format!("(and {})", parts.join(" "))
}

impl Change {
    fn text(&self) -> String {
        let literal = |fact: Fact, truth| if truth { fact.text() } else { format!("(not {})", fact.text()) };
        match self {
            Change::Set(fact, truth) => literal(*fact, *truth),
            Change::When(test, fact, truth) => format!("(when {} {})", test.text(), literal(*fact, *truth)),
            Change::Increase(number, amount) if *amount < 0 => format!("(decrease (n{number}) {})", -amount),
            Change::Increase(number, amount) => format!("(increase (n{number}) {amount})"),
            Change::Assign(number, value) => format!("(assign (n{number}) {value})"),
            Change::Copy(number, from) => format!("(assign (n{number}) (n{from}))"),
        }
    }
}

/// A simple action at a time: what it needs, what it changes.
struct Simple {
    time: i64,
    reads: BTreeSet<usize>,
    adds: BTreeSet<usize>,
    deletes: BTreeSet<usize>,
    amounts: Vec<(usize, i64)>,
    values: Vec<(usize, i64)>,
    timed: bool,
}

impl Simple {
    /// The rule of no moving targets, Definition 12 of PDDL 2.1.
    fn interferes(&self, other: &Simple) -> bool {
        if self.timed && other.timed {
            return false;
        }
        let numbers = |s: &Simple| -> BTreeSet<usize> {
            s.amounts.iter().chain(&s.values).map(|(number, _)| 10 + number).collect()
        };
        let values = |s: &Simple| -> BTreeSet<usize> { s.values.iter().map(|(n, _)| 10 + n).collect() };
        let meets = |a: &BTreeSet<usize>, b: &BTreeSet<usize>| a.intersection(b).next().is_some();
        let one_way = |a: &Simple, b: &Simple| {
            meets(&a.reads, &b.adds)
                || meets(&a.reads, &b.deletes)
                || meets(&a.reads, &numbers(b))
                || meets(&a.adds, &b.deletes)
                || meets(&values(a), &numbers(b))
        };
        one_way(self, other) || one_way(other, self)
    }
}

/// The verdict of the definitions: the violations of the preferences (goal, actions, constraints) and the metric of a valid plan.
pub(crate) fn judge(task: &Task, plan: &[Step]) -> Option<(u64, i64)> {
    let mut valid = true;
    let mut violations = 0;
    for step in plan {
        if let Some((least, most)) = task.schemas[step.schema].duration {
            valid &= (least - EPSILON..=most + EPSILON).contains(&step.duration) && step.duration >= 0;
        }
    }
    let length = |step: &Step| if task.schemas[step.schema].duration.is_some() { step.duration } else { 0 };
    let mut times: BTreeSet<i64> = task.timed.iter().map(|timed| timed.0).collect();
    times.extend(plan.iter().flat_map(|step| [step.start, step.start + length(step)]));
    let mut state = State { facts: task.facts.clone(), numbers: task.numbers };
    let mut states = vec![(0, state.clone())];
    let mut all: Vec<Simple> = Vec::new();
    for &time in &times {
        let mut now: Vec<Simple> = Vec::new();
        for &(at, fact, truth) in task.timed.iter().filter(|timed| timed.0 == time) {
            let mut simple = Simple::new(at);
            simple.timed = true;
            if truth { &mut simple.adds } else { &mut simple.deletes }.insert(fact.ground(0));
            now.push(simple);
        }
        for step in plan {
            let schema = &task.schemas[step.schema];
            let mut halves = Vec::new();
            if step.start == time {
                halves.push(&schema.start);
            }
            if schema.duration.is_some() && step.start + step.duration == time {
                halves.push(&schema.end);
            }
            for half in halves {
                valid &= half.tests.iter().all(|test| test.holds(&state, step.object));
                violations += half.soft.iter().filter(|test| !test.holds(&state, step.object)).count() as u64;
                now.push(half.simple(time, step.object, &state));
            }
        }
        all.append(&mut now);
        for simple in all.iter().filter(|simple| simple.time == time) {
            state.facts.retain(|fact| !simple.deletes.contains(fact));
        }
        for simple in all.iter().filter(|simple| simple.time == time) {
            state.facts.extend(&simple.adds);
            simple.values.iter().for_each(|&(number, value)| state.numbers[number] = value);
            simple.amounts.iter().for_each(|&(number, amount)| state.numbers[number] += amount);
        }
        for step in plan.iter().filter(|step| step.start <= time && time < step.start + length(step)) {
            valid &= task.schemas[step.schema].over.iter().all(|test| test.holds(&state, step.object));
        }
        states.push((time, state.clone()));
    }
    for (number, one) in all.iter().enumerate() {
        valid &= all[..number]
            .iter()
            .all(|other| (one.time - other.time).abs() >= EPSILON || !one.interferes(other));
    }
    valid &= task.goal.iter().all(|test| test.holds(&state, 0));
    violations += task.soft_goal.iter().filter(|test| !test.holds(&state, 0)).count() as u64;
    for (operator, bounds, tests, soft) in &task.constraints {
        let satisfied = constraint(operator, bounds, tests, &states);
        valid &= satisfied || *soft;
        violations += u64::from(!satisfied && *soft);
    }
    let makespan = plan.iter().map(|step| step.start + length(step)).max().unwrap_or(0);
    valid.then(|| (violations, makespan + 2000 * (3 * violations as i64 + state.numbers[0])))
}

impl Simple {
    fn new(time: i64) -> Self {
        let none = BTreeSet::new;
        let (amounts, values) = (Vec::new(), Vec::new());
        Simple { time, reads: none(), adds: none(), deletes: none(), amounts, values, timed: false }
    }
}

impl Half {
    fn simple(&self, time: i64, object: usize, state: &State) -> Simple {
        let mut simple = Simple::new(time);
        self.tests.iter().chain(&self.soft).for_each(|test| test.mentions(object, &mut simple.reads));
        for change in &self.changes {
            match change {
                Change::Set(fact, truth) => {
                    if *truth { &mut simple.adds } else { &mut simple.deletes }.insert(fact.ground(object));
                }
                Change::When(test, fact, truth) => {
                    test.mentions(object, &mut simple.reads);
                    if test.holds(state, object) {
                        if *truth { &mut simple.adds } else { &mut simple.deletes }
                            .insert(fact.ground(object));
                    }
                }
                Change::Increase(number, amount) => simple.amounts.push((*number, *amount)),
                Change::Assign(number, value) => simple.values.push((*number, *value)),
                Change::Copy(number, from) => {
                    simple.reads.insert(10 + from);
                    simple.values.push((*number, state.numbers[*from]));
                }
            }
        }
        simple
    }

    fn text(&self, at: &str) -> (String, String) {
        let timed = |text: String| if at.is_empty() { text } else { format!("({at} {text})") };
        let mut condition = timed(conjunction(&self.tests));
        for test in &self.soft {
            write!(condition, " (preference wish {})", timed(test.text())).unwrap();
        }
        let effect: String = self.changes.iter().map(|change| timed(change.text()) + " ").collect();
        (condition, effect)
    }
}

/// The definitions of PDDL 3.0, over the states with their times.
fn constraint(operator: &str, bounds: &[i64], tests: &[Test], states: &[(i64, State)]) -> bool {
    let holds = |test: usize, at: usize| tests[test].holds(&states[at].1, 0);
    let all = || 0..states.len();
    // The state in force at a tick.
    let at_tick = |tick: i64| states.iter().rposition(|(time, _)| *time <= tick).unwrap();
    match operator {
        "at end" => holds(0, states.len() - 1),
        "always" => all().all(|i| holds(0, i)),
        "sometime" => all().any(|i| holds(0, i)),
        "within" => all().any(|i| holds(0, i) && states[i].0 <= bounds[0]),
        "at-most-once" => all().filter(|&i| holds(0, i)).all(|i| {
            (i..states.len())
                .any(|j| (i..=j).all(|k| holds(0, k)) && (j + 1..states.len()).all(|k| !holds(0, k)))
        }),
        "sometime-after" => all().filter(|&i| holds(0, i)).all(|i| (i..states.len()).any(|j| holds(1, j))),
        "sometime-before" => all().filter(|&i| holds(0, i)).all(|i| (0..i).any(|j| holds(1, j))),
        "always-within" => all()
            .filter(|&i| holds(0, i))
            .all(|i| (i..states.len()).any(|j| holds(1, j) && states[j].0 - states[i].0 <= bounds[0])),
        // States that begin in the interval, and those that last into it.
        "hold-during" => {
            all().all(|i| !(bounds[0]..bounds[1]).contains(&states[i].0) || holds(0, i))
                && (bounds[0]..bounds[1]).all(|tick| holds(0, at_tick(tick)))
        }
        "hold-after" => {
            let last = bounds[0].max(states[states.len() - 1].0);
            all().all(|i| states[i].0 < bounds[0] || holds(0, i))
                && (bounds[0]..=last).all(|tick| holds(0, at_tick(tick)))
        }
        other => unreachable!("{other}"),
    }
}

fn random_fact(random: &mut Random, parameter: bool) -> Fact {
    match random.below(4) {
        number @ 0..2 => Fact::P(number),
        _ if parameter && random.chance(60) => Fact::Q(Argument::Parameter),
        _ => Fact::Q(Argument::Object(random.below(2))),
    }
}

fn random_test(random: &mut Random, parameter: bool) -> Test {
    match random.below(10) {
        0 => Test::All,
        1 => Test::Some,
        2 => Test::AtLeast(random.below(2), random.below(3) as i64),
        3 => Test::Below(random.below(2), random.below(4) as i64 + 1),
        _ => Test::Literal(random_fact(random, parameter), random.chance(60)),
    }
}

/// Up to `most` items, each with a chance in percent.
fn some<T>(
    random: &mut Random,
    most: usize,
    percent: usize,
    mut make: impl FnMut(&mut Random) -> T,
) -> Vec<T> {
    let mut items = Vec::new();
    for _ in 0..most {
        if random.chance(percent) {
            items.push(make(random));
        }
    }
    items
}

pub(crate) fn tests(random: &mut Random, percent: usize, parameter: bool) -> Vec<Test> {
    some(random, 2, percent, |random| random_test(random, parameter))
}

fn half(random: &mut Random) -> Half {
    let change = |random: &mut Random| match random.below(10) {
        0 => Change::Increase(random.below(2), random.below(5) as i64 - 2),
        1 => Change::Assign(random.below(2), random.below(4) as i64),
        2 => Change::Copy(0, 1),
        3 => Change::When(random_test(random, true), random_fact(random, true), random.chance(50)),
        _ => Change::Set(random_fact(random, true), random.chance(65)),
    };
    let tests = self::tests(random, 25, true);
    let soft = some(random, 1, 15, |random| random_test(random, true));
    let mut changes = some(random, 2, 60, change);
    // One change of numbers in a half: two of them could contradict each other.
    let mut numeric = false;
    changes.retain(|change| match change {
        Change::Set(..) | Change::When(..) => true,
        _ => !std::mem::replace(&mut numeric, true),
    });
    Half { tests, soft, changes }
}

/// A time within the first second, often one that others have too.
fn moment(random: &mut Random) -> i64 {
    500 * random.below(5) as i64 + if random.chance(25) { random.below(4) as i64 } else { 0 }
}

pub(crate) fn random_task(random: &mut Random) -> Task {
    let schemas = (0..3).map(|_| {
        let duration = random.chance(65).then(|| {
            let least = 500 * random.below(3) as i64;
            (least, least + 500 * random.below(3) as i64)
        });
        let (start, over, end) = (half(random), tests(random, 20, true), half(random));
        Schema { duration, start, over, end }
    });
    let schemas = schemas.collect();
    let facts = (0..4).filter(|_| random.chance(55)).collect();
    let numbers = [random.below(3) as i64, random.below(3) as i64];
    let timed = some(random, 2, 30, |random| (moment(random), random_fact(random, false), random.chance(50)));
    let constraint = |random: &mut Random| {
        const OPERATORS: [(&str, usize, usize); 10] = [
            ("at end", 0, 1),
            ("always", 0, 1),
            ("sometime", 0, 1),
            ("within", 1, 1),
            ("at-most-once", 0, 1),
            ("sometime-after", 0, 2),
            ("sometime-before", 0, 2),
            ("always-within", 1, 2),
            ("hold-during", 2, 1),
            ("hold-after", 1, 1),
        ];
        let (operator, times, conditions) = OPERATORS[random.below(OPERATORS.len())];
        let mut bounds: Vec<i64> = (0..times).map(|_| moment(random)).collect();
        bounds.sort_unstable();
        if let [from, to] = bounds.as_mut_slice() {
            *to += i64::from(from == to);
        }
        let tests = (0..conditions).map(|_| random_test(random, false)).collect();
        (operator, bounds, tests, random.chance(60))
    };
    let constraints = some(random, 2, 50, constraint);
    let (goal, soft_goal) = (tests(random, 20, false), tests(random, 25, false));
    Task { schemas, facts, numbers, timed, goal, soft_goal, constraints }
}

impl Task {
    pub(crate) fn texts(&self) -> (String, String) {
        let mut domain =
            "(define (domain tiny) (:requirements :adl :fluents :durative-actions :duration-inequalities
            :timed-initial-literals :preferences :constraints) (:constants a b)
            (:predicates (p0) (p1) (q ?x)) (:functions (n0) (n1))"
                .to_owned();
        for (number, schema) in self.schemas.iter().enumerate() {
            match schema.duration {
                None => {
                    let (condition, effect) = schema.start.text("");
                    write!(
                        domain,
                        "\n (:action act{number} :parameters (?x) :precondition (and {condition}) :effect (and {effect}))"
                    )
                }
                Some((least, most)) => {
                    let (start, start_effect) = schema.start.text("at start");
                    let (end, end_effect) = schema.end.text("at end");
                    write!(
                        domain,
                        "\n (:durative-action act{number} :parameters (?x)
                          :duration (and (>= ?duration {}) (<= ?duration {}))
                          :condition (and {start} (over all {}) {end}) :effect (and {start_effect} {end_effect}))",
                        decimal(least),
                        decimal(most),
                        conjunction(&schema.over)
                    )
                }
            }
            .unwrap();
        }
        domain.push(')');
        let fact = |number: usize| match number {
            0 | 1 => Fact::P(number),
            other => Fact::Q(Argument::Object(other - 2)),
        };
        let mut problem = "(define (problem one) (:domain tiny) (:init ".to_owned();
        self.facts.iter().for_each(|&number| problem += &fact(number).text());
        write!(problem, " (= (n0) {}) (= (n1) {})", self.numbers[0], self.numbers[1]).unwrap();
        for &(time, fact, truth) in &self.timed {
            let literal = if truth { fact.text() } else { format!("(not {})", fact.text()) };
            write!(problem, " (at {} {literal})", decimal(time)).unwrap();
        }
        write!(problem, ") (:goal (and {}", conjunction(&self.goal)).unwrap();
        for test in &self.soft_goal {
            write!(problem, " (preference wish {})", test.text()).unwrap();
        }
        problem += "))\n (:constraints (and ";
        for (operator, bounds, tests, soft) in &self.constraints {
            let times: String = bounds.iter().map(|time| format!(" {}", decimal(*time))).collect();
            let tests: String = tests.iter().map(|test| format!(" {}", test.text())).collect();
            let text = format!("({operator}{times}{tests})");
            problem += &if *soft { format!("(preference wish {text}) ") } else { text };
        }
        // `is-violated` needs a preference of the name.
        problem += "(preference wish (sometime (and)))))
            (:metric minimize (+ (total-time) (* 3 (is-violated wish)) (n0))))";
        (domain, problem)
    }
}

pub(crate) fn random_plan(random: &mut Random, task: &Task) -> Vec<Step> {
    (0..1 + random.below(4))
        .map(|_| {
            let schema = random.below(task.schemas.len());
            let (least, most) = task.schemas[schema].duration.unwrap_or_default();
            let duration = match random.below(10) {
                0 => most + random.below(5) as i64,
                1 => least - random.below(4) as i64,
                2 => least,
                _ => least + random.below((most - least + 1) as usize) as i64 / 500 * 500,
            };
            Step { schema, object: random.below(2), start: moment(random), duration }
        })
        .collect()
}

#[test]
fn plans_of_tiny_tasks_have_the_verdict_of_the_definitions() {
    let mut valid = 0;
    let rounds = 3_000;
    for seed in 0..rounds {
        let mut random = Random::new(seed);
        let task = random_task(&mut random);
        let (domain_text, problem_text) = task.texts();
        let (domain, problem) = read(&domain_text, &problem_text);
        let validator = Validator::new(normalize(&domain, &problem).unwrap());
        for _ in 0..4 {
            let plan = random_plan(&mut random, &task);
            let line = |step: &Step| {
                let action = format!("(act{} {})", step.schema, OBJECTS[step.object]);
                let duration =
                    task.schemas[step.schema].duration.map(|_| format!(" [{}]", decimal(step.duration)));
                format!("{}: {action}{}\n", decimal(step.start), duration.unwrap_or_default())
            };
            let text: String = plan.iter().map(line).collect();
            let options = ValidationOptions { epsilon: Number::fraction(EPSILON as i128, 2000), time: true };
            let report = validator.validate_with(&parse_plan(&text, SourceId(2)), &options, &mut Unlimited);
            let violations: u64 = report.preferences.iter().map(|preference| preference.violations).sum();
            let found = report.is_valid().then_some((violations, report.cost));
            let expected = judge(&task, &plan).map(|(violations, metric)| {
                (violations, Some(Number::fraction(metric.into(), 2000).to_f64()))
            });
            assert!(
                matches!(report.decision, ValidationDecision::Valid | ValidationDecision::Invalid)
                    && found == expected,
                "seed {seed}: {found:?}, by the definitions {expected:?}\n{domain_text}\n{problem_text}\n{text}\n{:#?}",
                report.diagnostics
            );
            valid += u32::from(expected.is_some());
        }
    }
    let share = f64::from(valid) / (4.0 * rounds as f64);
    assert!((0.1..0.9).contains(&share), "{share}");
}

/// Domain, problem and plan of a case, the sections of its own put into a common frame.
fn judge_case(actions: &str, init: &str, goal: &str, plan: &str) -> planforge_planning::ValidationReport {
    let domain = format!(
        "(define (domain d) (:requirements :adl :fluents :durative-actions :duration-inequalities :timed-initial-literals
           :preferences :constraints :derived-predicates)
         (:predicates (p) (q) (r) (s ?x)) (:functions (n) (m) (never)) {actions})"
    );
    let problem = format!(
        "(define (problem x) (:domain d) (:objects a b) (:init (p) (= (n) 0) (= (m) 1) {init}) {goal})"
    );
    let (domain, problem) = read(&domain, &problem);
    let options = ValidationOptions { time: true, ..ValidationOptions::default() };
    let validator = Validator::new(normalize(&domain, &problem).unwrap());
    let report = validator.validate_with(&parse_plan(plan, SourceId(2)), &options, &mut Unlimited);
    for diagnostic in &report.diagnostics {
        let known = planforge_planning::CODES.iter().any(|code| code.code == diagnostic.code);
        assert!(known, "{} is not explained", diagnostic.code);
    }
    report
}

const WORK: &str = "(:durative-action work :parameters () :duration (= ?duration 4)
   :condition (and (at start (p)) (over all (p))) :effect (and (at start (increase (n) 1)) (at end (q))))";

#[test]
fn each_strange_plan_with_times_has_one_clear_verdict() {
    let own = "(:durative-action own :parameters () :duration (= ?duration 1) :condition (over all (p)) :effect (at start (not (p))))";
    let wide = "(:durative-action wide :parameters () :duration (and (>= ?duration 3) (<= ?duration 2)) :effect (at end (q)))";
    let ratio =
        "(:durative-action ratio :parameters () :duration (= ?duration (/ (m) (n))) :effect (at end (q)))";
    let unset =
        "(:durative-action unset :parameters () :duration (= ?duration (never)) :effect (at end (q)))";
    let late = "(:durative-action late :parameters () :duration (at end (= ?duration (n))) :effect (and (at start (assign (n) 3)) (at end (q))))";
    let touch = "(:action one :parameters () :effect (increase (n) 1)) (:action two :parameters () :effect (assign (m) (n)))
                 (:action three :parameters () :effect (scale-up (n) 2))";
    let huge = format!("(:action huge :parameters () :effect (increase (n) 0.{}1))", "0".repeat(398));
    let grow = "(:action grow :parameters () :effect (and (scale-up (m) 10000000000000000000) (q)))";
    let sums = "(:action add :parameters () :effect (and (increase (n) 0.1))) (:action more :parameters () :effect (increase (n) 0.2))";
    let derived = "(:derived (r) (p)) (:action see :parameters () :precondition (r) :effect (q)) (:action hide :parameters () :effect (not (p)))";
    let any = "(:durative-action any :parameters () :duration (>= ?duration 0) :effect (at end (q)))";
    let large = format!("1{}", "0".repeat(37));
    let long = format!(
        "(:durative-action long :parameters () :duration (= ?duration {large}) :effect (at end (q)))"
    );
    let goal = "(:goal (q))";
    for (actions, init, goal, plan, expected) in [
        (any, "", goal, &*format!("{large}: (any) [1000]"), "valid"),
        (any, "", goal, &format!("{large}: (any) [1000.0005]"), "unsupported"),
        (any, "", goal, &format!("{}: (any) [1]", "1".repeat(400)), "unsupported"),
        (any, "", goal, &format!("0: (any) [{}]", "1".repeat(400)), "unsupported"),
        (&long, "", goal, &format!("0: (long) [{}3]", &large[..37]), "unsupported"),
        (WORK, "", goal, "0: (work) [D:4.0; C:0.1]", "valid"),
        (WORK, "", goal, "0: (work) [4.0] ; a comment [with ; brackets]", "valid"),
        (WORK, "", goal, "0: work [D:4.0; C:0.1] ; a comment", "valid"),
        (WORK, "", goal, "0: (work) [4] [;", "plan.garbage"),
        (WORK, "", goal, "0: (work) [4]", "valid"),
        (WORK, "", goal, "0.0: work() [4.0]", "valid"),
        (WORK, "", goal, "0: (work) [4.001]", "valid"),
        (WORK, "", goal, "0: (work) [4.0011]", "plan.duration"),
        (WORK, "", goal, "0: (work) [-4]", "plan.duration"),
        (WORK, "", goal, "0: (work)", "plan.duration"),
        (WORK, "", goal, "(work) [4]", "plan.duration"),
        (WORK, "", goal, "0: (work) [nan]", "plan.garbage"),
        (WORK, "", goal, "0: (work) [four]", "plan.garbage"),
        (WORK, "", "(:goal (and (q) (= (n) 2)))", "0: (work) [4]\n1: (work) [4]", "valid"),
        (WORK, "(at 4 (not (p)))", goal, "0: (work) [4]", "valid"),
        (WORK, "(at 3.9 (not (p)))", goal, "0: (work) [4]", "plan.over-all"),
        (WORK, "(at 0 (not (p)))", goal, "0: (work) [4]", "plan.interference"),
        (WORK, "(at 9 (q))", goal, "", "valid"),
        (WORK, "(at 9 (not (q)))", goal, "0: (work) [4]", "plan.goal"),
        (own, "", "(:goal (and))", "0: (own) [1]", "plan.over-all"),
        (own, "", "(:goal (and))", "0: (own) [0]", "plan.duration"),
        (wide, "", goal, "0: (wide) [2.5]", "plan.duration"),
        (ratio, "", goal, "0: (ratio) [1]", "plan.duration"),
        (unset, "", goal, "0: (unset) [1]", "plan.duration"),
        (late, "", goal, "0: (late) [3]", "valid"),
        (late, "", goal, "0: (late) [0]", "plan.interference"),
        (touch, "", "(:goal (= (n) 2))", "1: (one)\n1: (one)", "valid"),
        (touch, "", "(:goal (and))", "1: (one)\n1: (two)", "plan.interference"),
        (touch, "", "(:goal (and))", "1: (one)\n1: (three)", "plan.interference"),
        (touch, "", "(:goal (= (m) 1))", "1: (one)\n2: (two)", "valid"),
        (sums, "", "(:goal (= (n) 0.3))", "1: (add)\n1: (more)", "valid"),
        (derived, "", goal, "1: (see)\n1: (hide)", "plan.interference"),
        (derived, "", goal, "1: (see)\n2: (hide)", "valid"),
        (&huge, "", "(:goal (> (n) 0))", "(huge)\n(huge)", "unsupported"),
        (grow, "", "(:goal (> (m) 1))", "(grow)\n(grow)\n(grow)", "unsupported"),
        (
            grow,
            "",
            "(:goal (> (m) 1)) (:constraints (sometime (= (m) 1)))",
            "(grow)\n(grow)\n(grow)",
            "unsupported",
        ),
    ] {
        let report = judge_case(actions, init, goal, plan);
        let found = match &report.decision {
            ValidationDecision::Valid => "valid",
            ValidationDecision::Unsupported(_) => "unsupported",
            ValidationDecision::LimitReached(_) => "limit",
            ValidationDecision::Invalid => {
                report.diagnostics.iter().find(|finding| finding.is_error()).map_or("nothing", |d| &d.code)
            }
        };
        assert_eq!(found, expected, "{actions}\n{init} {goal}\n{plan}\n{:#?}", report.diagnostics);
    }
}

#[test]
fn plans_with_inexact_times_are_read_and_undecided() {
    let none = "(:durative-action none :parameters () :duration (>= ?duration 0) :effect (at end (q)))";
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let mut text = String::new();
        for _ in 0..60 {
            let time = 10u128.pow(37) + random.below(10_000_000_000) as u128 * 1_000_000_000_000;
            let rest = ["", ".5", ".123456"][random.below(3)];
            let duration = ["7", "0.000001", "100000000000000000000.5"][random.below(3)];
            writeln!(text, "{time}{rest}: (none) [{duration}]").unwrap();
        }
        let steps = parse_plan(&text, SourceId(2)).steps;
        let times: Vec<f64> = steps.iter().map(|step| step.time.unwrap().to_f64()).collect();
        assert!(times.is_sorted() && times.len() == 60, "{times:?}");
        let whole = text.replace(".5: ", ": ").replace(".123456: ", ": ");
        for text in [text, whole] {
            let report = judge_case(none, "", "(:goal (q))", &text);
            let ValidationDecision::Unsupported(found) = &report.decision else { panic!("{text}") };
            assert_eq!(found[0].what, "a number beyond exact arithmetic");
        }
    }
}

#[test]
fn a_durative_step_among_steps_without_times_is_reported_as_such() {
    for plan in ["0: (work) [4]\n(work) [4]", "(work) [4]"] {
        let report = judge_case(WORK, "", "(:goal (q))", plan);
        let error = report.diagnostics.iter().find(|finding| finding.is_error()).unwrap();
        assert_eq!(error.message, "(work) has a duration, and not every step of the plan has a time");
    }
}

#[test]
fn trajectory_constraints_of_plans_without_times_count_steps() {
    let flip = "(:action on :parameters (?x) :precondition (not (s ?x)) :effect (s ?x))
                (:action off :parameters (?x) :precondition (s ?x) :effect (not (s ?x)))";
    let plan = "(on a)\n(on b)\n(off a)\n(on a)";
    for (constraint, satisfied) in [
        ("(at end (s a))", true),
        ("(always (or (s a) (s b)))", false),
        ("(always (p))", true),
        ("(sometime (and (s a) (s b)))", true),
        ("(within 2 (s b))", true),
        ("(within 1 (s b))", false),
        ("(at-most-once (s a))", false),
        ("(at-most-once (s b))", true),
        ("(sometime-after (s b) (not (s a)))", false),
        ("(sometime-after (s a) (q))", false),
        ("(sometime-before (s b) (s a))", true),
        ("(sometime-before (s a) (s b))", false),
        ("(sometime-before (s a) (s a))", false),
        ("(always-within 0 (s a) (s b))", false),
        ("(always-within 1 (s a) (s b))", true),
        ("(always-within 0 (s b) (s b))", true),
        ("(hold-during 1 3 (s a))", true),
        ("(hold-during 1 4 (s a))", false),
        ("(hold-during 9 10 (s a))", true),
        ("(hold-after 2 (s b))", true),
        ("(hold-after 1 (s b))", false),
        ("(hold-after 9 (q))", false),
        ("(forall (?x) (sometime (s ?x)))", true),
        ("(and (sometime (s a)) (forall (?x) (always (not (s ?x)))))", false),
    ] {
        let report = judge_case(flip, "", &format!("(:goal (s b)) (:constraints {constraint})"), plan);
        assert_eq!(report.is_valid(), satisfied, "{constraint}\n{:#?}", report.diagnostics);
        let broken = report.diagnostics.iter().any(|finding| finding.code == "plan.constraint");
        assert_eq!(broken, !satisfied, "{constraint}");
        let soft = format!(
            "(:goal (s b)) (:constraints (preference wish {constraint})) (:metric minimize (is-violated wish))"
        );
        let report = judge_case(flip, "", &soft, plan);
        assert_eq!(
            (report.is_valid(), report.cost),
            (true, Some(f64::from(u8::from(!satisfied)))),
            "{constraint}"
        );
    }
}

#[test]
fn violations_of_preferences_are_counted_by_instance_and_by_execution() {
    let go = "(:action go :parameters (?x) :precondition (and (preference light (p)) (forall (?y) (preference empty (not (s ?y)))))
                :effect (s ?x))
              (:action dark :parameters () :effect (not (p)))";
    let plan = "(go a)\n(dark)\n(go b)\n(go b)";
    let goal = "(:goal (and (preference (q)) (preference twice (q)) (preference twice (r)) (forall (?x) (preference full (s ?x)))))
                (:metric minimize (+ (is-violated light) (* 10 (is-violated empty)) (* 100 (is-violated twice)) (* 1000 (is-violated full))))";
    let report = judge_case(go, "", goal, plan);
    assert!(report.is_valid(), "{:#?}", report.diagnostics);
    let found: Vec<(Option<&str>, u64)> = report
        .preferences
        .iter()
        .map(|preference| (preference.name.as_deref(), preference.violations))
        .collect();
    // Of `empty`: none at the first step, a at the third, a and b at the fourth.
    let expected = [
        (Some("light"), 2),
        (Some("empty"), 3),
        (None, 1),
        (Some("twice"), 1),
        (Some("twice"), 1),
        (Some("full"), 0),
    ];
    assert_eq!(found, expected);
    assert_eq!(report.cost, Some(232.0));
}

#[test]
fn what_has_no_meaning_here_is_unsupported_or_an_error() {
    for (goal, what) in [
        ("(:goal (or (q) (preference x (p))))", "a preference"),
        (
            "(:goal (q)) (:constraints (or (always (p)) (sometime (q))))",
            "a constraint without a trajectory operator",
        ),
        ("(:goal (q)) (:constraints (always (sometime (p))))", "a trajectory constraint"),
    ] {
        let report = judge_case(WORK, "", goal, "0: (work) [4]");
        let ValidationDecision::Unsupported(found) = &report.decision else { panic!("{goal}: {report:?}") };
        assert_eq!(found[0].what, what);
    }
    for (action, what) in [
        ("(increase (n) (* #t 2))", "a change over time (continuous effect)"),
        ("(when (at start (p)) (at end (q)))", "an effect under a condition of another time"),
    ] {
        let action =
            format!("(:durative-action a :parameters () :duration (= ?duration 2) :effect (and {action}))");
        let report = judge_case(&action, "", "(:goal (q))", "");
        let ValidationDecision::Unsupported(found) = &report.decision else { panic!("{action}: {report:?}") };
        assert_eq!(found[0].what, what);
    }
    let (domain, problem) = read(
        "(define (domain d) (:predicates (p)) (:action a :parameters () :effect (p)))",
        "(define (problem x) (:domain d) (:init (at -1 (p))) (:goal (p)))",
    );
    assert_eq!(normalize(&domain, &problem).unwrap_err()[0].code, "planning.timed-past");
}
