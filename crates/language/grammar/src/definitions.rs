//! Grammars of definitions: whole domains, problems and their objects, single actions, plans, edits (the calls that translator-edit
//! reads, as Python), and intermediate representations (answer set programs over a given vocabulary).

use crate::pddl::{Objects, Pddl, Use, Variables};
use crate::tree::{Builder, Expr, Grammar};
use planforge_pddl::ast::{Action, Domain, TypedName};

/// The grammar of whole domains: syntax only. Of `domain` it takes the name, and from its requirements whether there are durative actions and
/// preferences. Which predicates, types and variables a domain declares itself cannot be said by a context-free grammar, so arguments and
/// names are free.
pub fn domain_grammar(domain: &Domain) -> Grammar {
    let nothing =
        Domain { name: domain.name.clone(), requirements: domain.requirements.clone(), ..Domain::default() };
    let mut pddl = Pddl::new(&nothing, Objects::Any, &[]);
    let name = match &nothing.name {
        Some(name) => Expr::text(name.as_str()),
        None => pddl.name.clone(),
    };
    let typed = free_typed(&mut pddl);
    let names = typed_list(&pddl, &pddl.name.clone(), &typed);
    let variables = typed_list(&pddl, &pddl.variable.clone(), &typed);
    let declared = Expr::sequence([pddl.name.clone(), pddl.spaced(variables.clone()).optional()]);
    let declared = pddl.list([declared]);
    let declaration = pddl.builder.rule("declaration", declared);
    let function = Expr::sequence([
        declaration.clone(),
        Expr::sequence([pddl.spaced(Expr::text("-")), pddl.spaced(Expr::text("number"))]).optional(),
    ]);
    let parameters = pddl.list([variables.optional()]);
    let parameters = pddl.builder.rule("parameters", parameters);
    let term = pddl.builder.rule("term", Expr::choice([pddl.name.clone(), pddl.variable.clone()]));
    let atom = pddl.list([pddl.name.clone(), pddl.spaced(term.clone()).any_number()]);
    let atom = pddl.builder.rule("atom", atom);
    let has_durations = pddl.declares(&[":durative-actions", ":duration-inequalities"])
        || !domain.durative_actions.is_empty();
    let number = free_number(&mut pddl, &atom, has_durations);
    let condition = free_condition(&mut pddl, &atom, &term, &number, &parameters);
    let effect = free_effect(&mut pddl, &atom, &number, &condition, &parameters);
    let field = |pddl: &Pddl<'_>, key: &str, value: &Expr| {
        Expr::sequence([pddl.gap.clone(), Expr::text(key), value.clone()])
    };
    let action = pddl.section(
        ":action",
        [
            pddl.spaced(pddl.name.clone()),
            pddl.spaced(Expr::text(":parameters")),
            parameters.clone(),
            field(&pddl, ":precondition", &condition).optional(),
            field(&pddl, ":effect", &effect),
        ],
    );
    let action = if has_durations {
        let durative = free_durative(&mut pddl, &number, &condition, &effect, &parameters);
        Expr::choice([action, durative])
    } else {
        action
    };
    let derived = pddl.section(":derived", [declaration.clone(), condition]);
    let sections = [
        Expr::text("define"),
        pddl.list([Expr::text("domain"), pddl.spaced(name)]),
        requirements(&mut pddl).optional(),
        pddl.section(":types", [pddl.spaced(names.clone()).optional()]).optional(),
        pddl.section(":constants", [pddl.spaced(names).optional()]).optional(),
        pddl.section(":predicates", [declaration.any_number()]),
        pddl.section(":functions", [function.any_number()]).optional(),
        derived.any_number(),
        action.any_number(),
    ];
    let start = Expr::sequence([pddl.list(sections), pddl.gap.clone()]);
    pddl.builder.finish(start)
}

/// ` - type` with any name as a type.
fn free_typed(pddl: &mut Pddl<'_>) -> Expr {
    let name = pddl.spaced(pddl.name.clone());
    let either = pddl.list([Expr::text("either"), name.clone().at_least_once()]);
    let typed = Expr::sequence([pddl.spaced(Expr::text("-")), Expr::choice([name, either])]);
    pddl.builder.rule("typed", typed)
}

fn typed_list(pddl: &Pddl<'_>, entry: &Expr, typed: &Expr) -> Expr {
    let next = Expr::sequence([typed.clone().optional(), pddl.spaced(entry.clone())]);
    Expr::sequence([entry.clone(), next.any_number(), typed.clone().optional()])
}

/// A durative action. Its parts at the start, at the end and over all are lists that begin with these words.
fn free_durative(
    pddl: &mut Pddl<'_>,
    number: &Expr,
    condition: &Expr,
    effect: &Expr,
    parameters: &Expr,
) -> Expr {
    let two = |pddl: &Pddl<'_>, word: &str, moment: &str| {
        Expr::sequence([Expr::text(word), pddl.spaced(Expr::text(moment))])
    };
    let [start, end, all] =
        [("at", "start"), ("at", "end"), ("over", "all")].map(|(word, moment)| two(pddl, word, moment));
    let ends = Expr::choice([start.clone(), end.clone()]);
    let duration = Expr::Rule(pddl.builder.reserve("duration"));
    let compare = Expr::choice(["=", "<=", ">="].map(Expr::text));
    let variable = pddl.spaced(Expr::text("?duration"));
    let bound = Expr::sequence([compare, variable, number.clone()]);
    let several = |inner: &Expr| Expr::sequence([Expr::text("and"), inner.clone().any_number()]);
    let for_all = |inner: &Expr| Expr::sequence([Expr::text("forall"), parameters.clone(), inner.clone()]);
    let timed = |ends: &Expr, inner: &Expr| Expr::sequence([ends.clone(), inner.clone()]);
    let durations = [bound, several(&duration), timed(&ends, &duration)];
    set(pddl, &duration, Expr::choice(durations).optional());
    let conditions = Expr::Rule(pddl.builder.reserve("timed-condition"));
    let moments = Expr::choice([start, end, all]);
    let mut lists = vec![several(&conditions), for_all(&conditions), timed(&moments, condition)];
    if pddl.declares(&[":preferences"]) {
        lists.push(preference(pddl, &conditions));
    }
    set(pddl, &conditions, Expr::choice(lists).optional());
    let effects = Expr::Rule(pddl.builder.reserve("timed-effect"));
    let when = Expr::sequence([Expr::text("when"), conditions.clone(), effects.clone()]);
    let lists = [several(&effects), for_all(&effects), timed(&ends, effect), when];
    set(pddl, &effects, Expr::choice(lists));
    let field =
        |pddl: &Pddl<'_>, key: &str, value: Expr| Expr::sequence([pddl.gap.clone(), Expr::text(key), value]);
    pddl.section(
        ":durative-action",
        [
            pddl.spaced(pddl.name.clone()),
            pddl.spaced(Expr::text(":parameters")),
            parameters.clone(),
            field(pddl, ":duration", duration),
            field(pddl, ":condition", conditions).optional(),
            field(pddl, ":effect", effects),
        ],
    )
}

/// Sets a reserved rule to a list with these contents.
fn set(pddl: &mut Pddl<'_>, rule: &Expr, contents: Expr) {
    let list = pddl.list([contents]);
    if let Expr::Rule(id) = rule {
        pddl.builder.set(*id, list);
    }
}

/// `preference NAME CONDITION` without its parentheses.
fn preference(pddl: &Pddl<'_>, condition: &Expr) -> Expr {
    let name = pddl.spaced(pddl.name.clone()).optional();
    Expr::sequence([Expr::text("preference"), name, condition.clone()])
}

fn free_number(pddl: &mut Pddl<'_>, atom: &Expr, has_durations: bool) -> Expr {
    let id = pddl.builder.reserve("numeric");
    let inner = Expr::Rule(id);
    let of = |op: &str, more: Expr| pddl.list([Expr::text(op), inner.clone(), more]);
    let alternatives = [
        pddl.spaced(pddl.number.clone()),
        atom.clone(),
        of("+", inner.clone().at_least_once()),
        of("*", inner.clone().at_least_once()),
        of("-", inner.clone().optional()),
        of("/", inner.clone()),
    ];
    let duration = has_durations.then(|| pddl.spaced(Expr::text("?duration")));
    pddl.builder.set(id, Expr::choice(alternatives.into_iter().chain(duration)));
    inner
}

fn free_condition(pddl: &mut Pddl<'_>, atom: &Expr, term: &Expr, number: &Expr, parameters: &Expr) -> Expr {
    let id = pddl.builder.reserve("condition");
    let inner = Expr::Rule(id);
    let term = pddl.spaced(term.clone());
    let of = |word: &str, items: &[&Expr]| {
        Expr::sequence([Expr::text(word)].into_iter().chain(items.iter().map(|item| (*item).clone())))
    };
    let several = inner.clone().any_number();
    let compare = Expr::choice(["<", "<=", ">", ">=", "="].map(Expr::text));
    let lists = [
        of("and", &[&several]),
        of("or", &[&several]),
        of("not", &[&inner]),
        of("imply", &[&inner, &inner]),
        of("exists", &[parameters, &inner]),
        of("forall", &[parameters, &inner]),
        of("=", &[&term, &term]),
        Expr::sequence([compare, number.clone(), number.clone()]),
    ];
    let preference = pddl.declares(&[":preferences"]).then(|| preference(pddl, &inner));
    let list = pddl.list([Expr::choice(lists.into_iter().chain(preference)).optional()]);
    pddl.builder.set(id, Expr::choice([atom.clone(), list]));
    inner
}

fn free_effect(pddl: &mut Pddl<'_>, atom: &Expr, number: &Expr, condition: &Expr, parameters: &Expr) -> Expr {
    let id = pddl.builder.reserve("effect");
    let inner = Expr::Rule(id);
    let of = |word: &str, items: &[&Expr]| {
        Expr::sequence([Expr::text(word)].into_iter().chain(items.iter().map(|item| (*item).clone())))
    };
    let ops = Expr::choice(["assign", "increase", "decrease", "scale-up", "scale-down"].map(Expr::text));
    let lists = [
        of("and", &[&inner.clone().any_number()]),
        of("not", &[atom]),
        of("forall", &[parameters, &inner]),
        of("when", &[condition, &inner]),
        Expr::sequence([ops, atom.clone(), number.clone()]),
    ];
    let list = pddl.list([Expr::choice(lists)]);
    pddl.builder.set(id, Expr::choice([atom.clone(), list]));
    inner
}

/// The grammar of the problems of a domain. With `objects`, which may come from a problem, these are declared as they are, and every
/// argument is one of them or a constant of the type; without them, objects are names of the model's choice and arguments any name.
pub fn problem_grammar(domain: &Domain, objects: Option<&[TypedName]>) -> Grammar {
    let known = objects.map_or(Objects::Any, |objects| Objects::with_constants(domain, objects));
    let mut pddl = Pddl::new(domain, known, &[]);
    let objects = match objects {
        None => objects_section(&mut pddl).optional(),
        Some([]) => pddl.section(":objects", []).optional(),
        Some(objects) => {
            let list = pddl.fixed_typed_list(objects);
            pddl.section(":objects", [pddl.spaced(list)])
        }
    };
    let objects = pddl.builder.rule("objects", objects);
    let init = init_section(&mut pddl);
    let condition = pddl.condition(Variables::None);
    let mut sections = vec![
        Expr::text("define"),
        heading(&mut pddl, domain),
        requirements(&mut pddl).optional(),
        objects,
        init,
        pddl.section(":goal", [condition.clone()]),
    ];
    if pddl.declares(&[":constraints"]) {
        sections.push(pddl.section(":constraints", [condition]).optional());
    }
    sections.push(metric_section(&mut pddl).optional());
    let start = Expr::sequence([pddl.list(sections), pddl.gap.clone()]);
    pddl.builder.finish(start)
}

/// The grammar of the objects of a problem: the section `(:objects ...)` with names of the model's choice. In a domain with types each
/// has one.
pub fn objects_grammar(domain: &Domain) -> Grammar {
    let mut pddl = Pddl::new(domain, Objects::Any, &[]);
    let list = pddl.fully_typed_list(&pddl.name.clone());
    let section = pddl.section(":objects", [pddl.spaced(list).optional()]);
    let start = Expr::sequence([section, pddl.gap.clone()]);
    pddl.builder.finish(start)
}

/// `(problem NAME) (:domain NAME)`.
fn heading(pddl: &mut Pddl<'_>, domain: &Domain) -> Expr {
    let first = Expr::class(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]);
    let inner = Expr::class(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_'), ('-', '-'), ('.', '.')]);
    let label = pddl.builder.token("label", Expr::sequence([first, inner.repeat(0, Some(60))]));
    let of = match &domain.name {
        Some(name) => Expr::text(name.as_str()),
        None => label.clone(),
    };
    let problem = pddl.list([Expr::text("problem"), pddl.spaced(label)]);
    Expr::sequence([problem, pddl.section(":domain", [pddl.spaced(of)])])
}

/// `(:requirements :KEY ...)`.
pub(crate) fn requirements(pddl: &mut Pddl<'_>) -> Expr {
    let key = Expr::class(&[('a', 'z'), ('-', '-')]).repeat(2, Some(40));
    let key = pddl.builder.token("requirement", Expr::sequence([Expr::text(":"), key]));
    pddl.section(":requirements", [pddl.spaced(key).any_number()])
}

fn objects_section(pddl: &mut Pddl<'_>) -> Expr {
    let list = pddl.typed_list(&pddl.name.clone());
    pddl.section(":objects", [pddl.spaced(list).optional()])
}

fn init_section(pddl: &mut Pddl<'_>) -> Expr {
    let fact = pddl.atom(Use::Change, Variables::None);
    let mut entries = vec![fact.clone(), pddl.value()];
    if pddl.declares(&[":timed-initial-literals"]) || !pddl.domain.durative_actions.is_empty() {
        let time = pddl.spaced(pddl.number.clone());
        let negated = pddl.list([Expr::text("not"), fact]);
        let timed = Expr::choice(entries.clone().into_iter().chain([negated]));
        entries.push(pddl.list([Expr::text("at"), time, timed]));
    }
    let entry = pddl.builder.rule("init", Expr::choice(entries));
    pddl.section(":init", [entry.any_number()])
}

fn metric_section(pddl: &mut Pddl<'_>) -> Expr {
    let number = metric_number(pddl);
    let direction = pddl.one_of("direction", &["minimize".to_owned(), "maximize".to_owned()]);
    pddl.section(":metric", [pddl.spaced(direction), number])
}

/// A numeric expression of a metric: also of the time of a plan and of violated preferences.
fn metric_number(pddl: &mut Pddl<'_>) -> Expr {
    let fluent = pddl.fluent(Variables::None);
    let id = pddl.builder.reserve("metric");
    let inner = Expr::Rule(id);
    let total = pddl.spaced(Expr::text("total-time"));
    let number = pddl.spaced(pddl.number.clone());
    let mut alternatives = vec![number, fluent, total, pddl.list([Expr::text("total-time")])];
    if pddl.declares(&[":preferences"]) {
        alternatives.push(pddl.list([Expr::text("is-violated"), pddl.spaced(pddl.name.clone())]));
    }
    for op in ["+", "*", "-", "/"] {
        let more = match op {
            "/" => inner.clone(),
            "-" => inner.clone().optional(),
            _ => inner.clone().at_least_once(),
        };
        alternatives.push(pddl.list([Expr::text(op), inner.clone(), more]));
    }
    pddl.builder.set(id, Expr::choice(alternatives));
    inner
}

/// The known beginning of an action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ActionHead<'a> {
    /// Nothing: the model chooses name and parameters.
    Open,
    /// The name; the model chooses the parameters.
    Named(&'a str),
    /// Name, parameters and variables are those of this action.
    Interface(&'a Action),
}

impl<'a> ActionHead<'a> {
    pub(crate) fn interface(self) -> Option<&'a Action> {
        match self {
            Self::Interface(action) => Some(action),
            Self::Open | Self::Named(_) => None,
        }
    }

    /// The name, if it is known.
    pub fn name(self) -> Option<&'a str> {
        match self {
            Self::Open => None,
            Self::Named(name) => Some(name),
            Self::Interface(action) => Some(action.name.as_str()),
        }
    }

    /// Parameters and variables.
    pub(crate) fn scope(self) -> Vec<TypedName> {
        let all =
            self.interface().into_iter().flat_map(|action| action.parameters.iter().chain(&action.vars));
        all.cloned().collect()
    }
}

/// The grammar of one action of a domain. With an interface, name, parameters and variables stand as they are, and outside of quantifiers
/// every argument is a parameter or constant of the type. Otherwise any variable may be an argument.
pub fn action_grammar(domain: &Domain, head: ActionHead<'_>) -> Grammar {
    let scope = head.scope();
    let mut pddl = Pddl::new(domain, Objects::constants(domain), &scope);
    let start = action_expr(&mut pddl, head);
    let start = Expr::sequence([start, pddl.gap.clone()]);
    pddl.builder.finish(start)
}

/// The grammar of the beginning `(:action NAME :parameters (...))` of an action of that name, or of any. The model chooses the
/// parameters; in a domain with types each has one.
pub fn parameters_grammar(domain: &Domain, name: Option<&str>) -> Grammar {
    let mut pddl = Pddl::new(domain, Objects::constants(domain), &[]);
    let list = pddl.fully_typed_list(&pddl.variable.clone()).optional();
    let parts = beginning(&pddl, name, list);
    let start = Expr::sequence([pddl.list(parts), pddl.gap.clone()]);
    pddl.builder.finish(start)
}

/// `:action NAME :parameters (PARAMETERS)`.
fn beginning(pddl: &Pddl<'_>, name: Option<&str>, parameters: Expr) -> Vec<Expr> {
    let name = name.map_or(pddl.name.clone(), Expr::text);
    let keyword = pddl.spaced(Expr::text(":parameters"));
    vec![Expr::text(":action"), pddl.spaced(name), keyword, pddl.list([parameters])]
}

/// `(:action NAME :parameters (...) :precondition CONDITION :effect EFFECT)`.
fn action_expr(pddl: &mut Pddl<'_>, head: ActionHead<'_>) -> Expr {
    let interface = head.interface();
    let variables = if interface.is_some() { Variables::Parameters } else { Variables::Any };
    let free = pddl.typed_list(&pddl.variable.clone()).optional();
    let parameters = interface.map_or(free, |action| pddl.fixed_typed_list(&action.parameters));
    let field =
        |pddl: &Pddl<'_>, key: &str, value: Expr| Expr::sequence([pddl.gap.clone(), Expr::text(key), value]);
    let mut parts = beginning(pddl, head.name(), parameters);
    if let Some(action) = interface.filter(|action| !action.vars.is_empty()) {
        let vars = pddl.fixed_typed_list(&action.vars);
        parts.push(field(pddl, ":vars", pddl.list([vars])));
    }
    let condition = pddl.condition(variables);
    parts.push(field(pddl, ":precondition", condition).optional());
    let effect = pddl.effect(variables);
    parts.push(field(pddl, ":effect", effect));
    pddl.list(parts)
}

/// The grammar of plans: ground actions of a domain with arguments of the right types. Without `objects`, arguments are any names.
pub fn plan_grammar(domain: &Domain, objects: Option<&[TypedName]>) -> Grammar {
    let known = objects.map_or(Objects::Any, |objects| Objects::with_constants(domain, objects));
    let mut pddl = Pddl::new(domain, known, &[]);
    let plain = domain.actions.iter().map(|a| (a.name.to_string(), a.parameters.as_slice())).collect();
    let durative =
        domain.durative_actions.iter().map(|a| (a.name.to_string(), a.parameters.as_slice())).collect();
    let plain = pddl.applications("action", plain, Variables::None);
    let timed = pddl.applications("durative", durative, Variables::None);
    let timed = Expr::sequence([
        pddl.gap.clone(),
        pddl.number.clone(),
        pddl.gap.clone(),
        Expr::text(":"),
        timed,
        pddl.gap.clone(),
        Expr::text("["),
        pddl.gap.clone(),
        pddl.number.clone(),
        pddl.gap.clone(),
        Expr::text("]"),
    ]);
    let step = pddl.builder.rule("step", Expr::choice([plain, timed]));
    let start = Expr::sequence([step.any_number(), pddl.gap.clone()]);
    pddl.builder.finish(start)
}

/// The names of the functions that an edit calls.
#[derive(Debug, Clone, Copy)]
pub struct EditFunctions<'a> {
    /// Declares predicates.
    pub predicates: &'a str,
    /// Fills in an action.
    pub action: &'a str,
    /// Edit the objects, the initial state and the goal of the problem.
    pub problem: Option<[&'a str; 3]>,
}

impl EditFunctions<'static> {
    /// The functions that edit the domain.
    pub const DOMAIN: Self =
        Self { predicates: "add_or_update_predicates", action: "modify_action", problem: None };
    /// The functions that edit the domain or the problem.
    pub const BOTH: Self =
        Self { problem: Some(["edit_objects", "edit_initial_state", "edit_goal"]), ..Self::DOMAIN };
}

/// The grammar of the calls that edit a domain, and with `functions.problem` a problem. Actions are those of the domain, and
/// arguments outside of quantifiers are parameters of the edited action, constants, or objects. As a call may declare predicates, every name may
/// be a predicate. Without `objects`, the objects of the problem are any names.
pub fn edit_grammar(domain: &Domain, objects: Option<&[TypedName]>, functions: EditFunctions<'_>) -> Grammar {
    let scopes = action_scopes(domain);
    let known = known_objects(domain, objects, functions);
    let mut pddl = Pddl::new(domain, known, &[]).with_open_predicates();
    let mut calls = vec![declare(&mut pddl, functions.predicates)];
    for (action, scope) in &scopes {
        pddl.enter(scope);
        let condition = pddl.condition(Variables::Parameters);
        let effect = pddl.effect(Variables::Parameters);
        let name = Expr::text(format!("\"{}\"", action.name));
        let (conditions, effects) = (strings(&mut pddl, condition), strings(&mut pddl, effect));
        calls.push(call(&mut pddl, functions.action, vec![name, conditions, effects]));
    }
    if let Some([of_objects, of_init, of_goal]) = functions.problem {
        let entry = pddl.typed_list(&pddl.name.clone());
        let entry = Expr::sequence([pddl.gap.clone(), entry]);
        let fact = pddl.atom(Use::Change, Variables::None);
        let fact = Expr::choice([fact, pddl.value()]);
        let goal = pddl.condition(Variables::None);
        for (function, item) in [(of_objects, entry), (of_init, fact), (of_goal, goal)] {
            let list = strings(&mut pddl, item);
            calls.push(call(&mut pddl, function, vec![list.clone(), list]));
        }
    }
    let call = pddl.builder.rule("call", Expr::choice(calls));
    let next = pddl.spaced(call.clone());
    let start = [pddl.gap.clone(), call, next.any_number(), pddl.gap.clone()];
    pddl.builder.finish(Expr::sequence(start))
}

/// Each action with its parameters and variables.
pub(crate) fn action_scopes(domain: &Domain) -> Vec<(&Action, Vec<TypedName>)> {
    domain.actions.iter().map(|action| (action, ActionHead::Interface(action).scope())).collect()
}

/// The objects that edits may name.
pub(crate) fn known_objects(
    domain: &Domain,
    objects: Option<&[TypedName]>,
    functions: EditFunctions<'_>,
) -> Objects {
    match (objects, functions.problem) {
        (None, Some(_)) => Objects::Any,
        (Some(objects), _) => Objects::with_constants(domain, objects),
        (None, None) => Objects::constants(domain),
    }
}

/// `function(["(name ?x - t ...)", ...])`.
fn declare(pddl: &mut Pddl<'_>, function: &str) -> Expr {
    let variables = pddl.typed_list(&pddl.variable.clone());
    let declaration = pddl.list([pddl.name.clone(), pddl.spaced(variables).optional()]);
    let declarations = strings(pddl, declaration);
    call(pddl, function, vec![declarations])
}

/// `function(argument, ...)`; a comma behind the last argument is allowed.
fn call(pddl: &mut Pddl<'_>, function: &str, arguments: Vec<Expr>) -> Expr {
    let gap = pddl.gap.clone();
    let mut parts = vec![Expr::text(function), Expr::text("(")];
    for (n, argument) in arguments.into_iter().enumerate() {
        if n > 0 {
            parts.extend([gap.clone(), Expr::text(",")]);
        }
        parts.extend([gap.clone(), argument]);
    }
    let comma = Expr::sequence([gap.clone(), Expr::text(",")]);
    parts.extend([comma.optional(), gap, Expr::text(")")]);
    Expr::sequence(parts)
}

/// A list of strings that contain one item each, which has the blanks before it.
fn strings(pddl: &mut Pddl<'_>, item: Expr) -> Expr {
    let gap = pddl.gap.clone();
    let string = Expr::sequence([Expr::text("\""), item, gap.clone(), Expr::text("\"")]);
    let comma = Expr::sequence([gap.clone(), Expr::text(",")]);
    let next = Expr::sequence([comma.clone(), gap.clone(), string.clone()]);
    let items = Expr::sequence([gap.clone(), string, next.any_number(), comma.optional()]);
    let list = [Expr::text("["), items.optional(), gap, Expr::text("]")];
    pddl.builder.rule("strings", Expr::sequence(list))
}

/// The names that a representation may use, as answer set programs write them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AspVocabulary {
    /// Types.
    pub types: Vec<String>,
    /// Predicates with their number of arguments.
    pub predicates: Vec<(String, usize)>,
    /// Numeric functions with their number of arguments.
    pub functions: Vec<(String, usize)>,
}

/// Most blanks between two words.
const MAX_BLANKS: u32 = 60;

/// The grammar of representations: facts and rules about `init` and `goal`, `object` and `cardinality`, with the types and predicates of the
/// vocabulary. Objects and variables are any names: whether a rule binds its variables cannot be said by a context-free grammar.
pub fn asp_grammar(vocabulary: &AspVocabulary) -> Grammar {
    let mut builder = Builder::default();
    let space = Expr::class(&[(' ', ' '), ('\t', '\t'), ('\n', '\n'), ('\r', '\r')]);
    let blank = builder.token("ws", space.repeat(1, Some(MAX_BLANKS)));
    let gap = blank.clone().optional();
    let inner = Expr::class(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]).repeat(0, Some(60));
    let constant = Expr::sequence([Expr::class(&[('a', 'z')]), inner.clone()]);
    let variable = Expr::sequence([Expr::class(&[('A', 'Z'), ('_', '_')]), inner]);
    let number = Expr::class(&[('0', '9')]).repeat(1, Some(9));
    let constant = builder.token("constant", constant);
    let variable = builder.token("variable", variable);
    let number = builder.token("number", number);
    let term = builder.rule("term", Expr::choice([constant, variable, number.clone()]));
    let words = |builder: &mut Builder, rule: &str, words: Vec<&str>| match words.as_slice() {
        [] => Expr::Choice(Vec::new()),
        words => builder.token(rule, Expr::choice(words.iter().map(|word| Expr::text(*word)))),
    };
    let types = vocabulary.types.iter().map(String::as_str).collect();
    let ty = words(&mut builder, "type", types);
    let text = Expr::text;
    let call = |name: Expr, arguments: Vec<Expr>| {
        let mut parts = vec![name, text("(")];
        for (n, argument) in arguments.into_iter().enumerate() {
            parts.extend((n > 0).then(|| Expr::sequence([gap.clone(), text(",")])));
            parts.extend([gap.clone(), argument]);
        }
        parts.extend([gap.clone(), text(")")]);
        Expr::sequence(parts)
    };
    let applications = |builder: &mut Builder, rule: &str, declared: &[(String, usize)]| {
        let mut arities: Vec<usize> = declared.iter().map(|(_, arity)| *arity).collect();
        arities.sort_unstable();
        arities.dedup();
        let of_arity = arities.into_iter().map(|arity| {
            let names = declared.iter().filter(|(_, n)| *n == arity).map(|(name, _)| name.as_str()).collect();
            let name = words(builder, &format!("{rule}-{arity}"), names);
            if arity == 0 { name } else { call(name, vec![term.clone(); arity]) }
        });
        Expr::choice(of_arity.collect::<Vec<_>>())
    };
    let atom = applications(&mut builder, "predicate", &vocabulary.predicates);
    let atom = builder.rule("atom", atom);
    let function = applications(&mut builder, "function", &vocabulary.functions);
    let names = vocabulary.predicates.iter().map(|(name, _)| name.as_str()).collect();
    let relation = words(&mut builder, "relation", names);
    let map = call(text("map"), vec![ty.clone(), relation, ty.clone()]);
    let value = Expr::sequence([function, gap.clone(), text("="), gap.clone(), number.clone()]);
    let negated = Expr::sequence([text("not"), blank.clone(), atom.clone()]);
    let init = call(text("init"), vec![Expr::choice([atom.clone(), map.clone(), value])]);
    let goal = call(text("goal"), vec![Expr::choice([atom.clone(), map, negated])]);
    let object = call(text("object"), vec![term.clone(), ty.clone()]);
    let stated = Expr::choice([
        object.clone(),
        call(text("init"), vec![atom.clone()]),
        call(text("goal"), vec![atom]),
    ]);
    let stated = builder.rule("stated", stated);
    let compared = ["!=", "<", "<=", ">", ">=", "="].map(text);
    let compare = [term.clone(), gap.clone(), Expr::choice(compared), gap.clone(), term];
    let literal = Expr::choice([
        stated.clone(),
        Expr::sequence([text("not"), blank.clone(), stated]),
        Expr::sequence(compare),
    ]);
    let literal = builder.rule("literal", literal);
    let next = Expr::sequence([gap.clone(), text(","), gap.clone(), literal.clone()]);
    let body = [gap.clone(), text(":-"), gap.clone(), literal, next.any_number()];
    let rule = Expr::sequence([Expr::choice([init, goal, object]), Expr::sequence(body).optional()]);
    let cardinality = call(text("cardinality"), vec![ty, number]);
    let statement = Expr::sequence([Expr::choice([cardinality, rule]), gap.clone(), text(".")]);
    let statement = builder.rule("statement", Expr::sequence([gap.clone(), statement]));
    builder.finish(Expr::sequence([statement.any_number(), gap]))
}
