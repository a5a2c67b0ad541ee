//! References in several layouts, and mutants of them. tests/llguidance compiles this file too,
//! and counts with another matcher.

use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Action, Atom, Condition, Domain, Effect, InitElement, Problem, Term, TypedName};
use planforge_pddl::random::Random;
use planforge_pddl::{
    Name, TaskSources, TypeFit, TypeHierarchy, check_domain, check_problem, parse_domain, parse_problem,
    print_action, print_domain, print_problem,
};
use std::fs;
use std::path::{Path, PathBuf};

/// Mutated atoms of each kind in one definition.
const MUTATED_ATOMS: usize = 4;

/// A domain and its problems, as texts without comments.
pub(crate) struct Folder {
    pub(crate) name: String,
    pub(crate) domain_text: String,
    pub(crate) domain: Domain,
    pub(crate) problems: Vec<(String, String, Problem)>,
}

/// Every domain at or below `root`, with its problems: `domain.pddl` with those beside it, `domain-p01.pddl` with `p01.pddl`. With `lower`,
/// texts are in lower case.
pub(crate) fn folders(root: &Path, lower: bool) -> Vec<Folder> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(dir) = waiting.pop() {
        let mut entries: Vec<PathBuf> = fs::read_dir(&dir)
            .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
            .unwrap_or_default();
        entries.sort();
        waiting.extend(entries.iter().filter(|path| path.is_dir()).cloned());
        let read = |name: &str| {
            let bytes = fs::read(dir.join(name)).unwrap_or_default();
            let text = without_comments(&String::from_utf8_lossy(&bytes));
            if lower { text.to_lowercase() } else { text }
        };
        let files = entries.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        let files: Vec<String> =
            files.filter(|name| name.ends_with(".pddl") && !name.contains("template")).collect();
        let own_domain = |problem: &str| Some(format!("domain-{problem}")).filter(|own| files.contains(own));
        for file in files.iter().filter(|name| name.starts_with("domain")) {
            let domain_text = read(file);
            let domain = parse_domain(&domain_text, SourceId(0)).value;
            let of_this = |name: &&String| {
                let own = own_domain(name).unwrap_or_else(|| "domain.pddl".to_owned());
                !name.starts_with("domain") && own == *file
            };
            let problems = files.iter().filter(of_this).map(|name| {
                let text = read(name);
                let problem = parse_problem(&text, SourceId(1)).value;
                (name.clone(), text, problem)
            });
            let problems = problems.collect();
            let suffix =
                file.strip_prefix("domain").and_then(|rest| rest.strip_suffix(".pddl")).unwrap_or("");
            let name = format!("{}{suffix}", dir.display());
            found.push(Folder { name, domain_text, domain, problems });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split(';').next().unwrap_or("").trim_end()).collect::<Vec<_>>().join("\n")
}

/// The text with other white space: few blanks, one token a line, blanks everywhere.
pub(crate) fn layouts(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let joined = |between: &dyn Fn(&str, &str) -> &'static str| {
        let mut out = String::new();
        for (n, token) in tokens.iter().enumerate() {
            if n > 0 {
                out.push_str(between(&tokens[n - 1], token));
            }
            out.push_str(token);
        }
        out
    };
    let is_bracket = |token: &str| token == "(" || token == ")";
    vec![
        joined(&|before, after| match (before, after) {
            (")", word) if !is_bracket(word) => " ",
            _ if is_bracket(before) || is_bracket(after) => "",
            _ => " ",
        }),
        joined(&|_, _| "\n"),
        joined(&|_, _| "\r\n\t  "),
        joined(&|_, after| if after == "(" { "\n    " } else { " " }),
    ]
}

/// Parentheses and words.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        let ends = c.is_whitespace() || c == '(' || c == ')';
        if ends && !word.is_empty() {
            out.push(std::mem::take(&mut word));
        }
        match c {
            '(' | ')' => out.push(c.to_string()),
            c if c.is_whitespace() => {}
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}

/// Kinds of mutants, in the order of reports.
pub(crate) const MUTANTS: [&str; 6] =
    ["undeclared object", "undeclared predicate", "type", "arity, more", "arity, fewer", "parenthesis"];

/// Mutants of a problem: each has one mistake of the named kind.
pub(crate) fn problem_mutants(
    domain: &Domain,
    problem: &Problem,
    random: &mut Random,
) -> Vec<(&'static str, String)> {
    let objects: Vec<TypedName> = domain.constants.iter().chain(&problem.objects).cloned().collect();
    let count = problem_atoms(&mut problem.clone()).len();
    let mut found = Vec::new();
    for kind in &MUTANTS[..5] {
        let mut places: Vec<usize> = (0..count).collect();
        random.shuffle_front(&mut places, count);
        let mutated = places.into_iter().filter_map(|place| {
            let mut problem = problem.clone();
            let mut atoms = problem_atoms(&mut problem);
            mutate(kind, domain, atoms[place], &objects, "zz-undeclared", random)
                .then(|| (*kind, print_problem(&problem)))
        });
        found.extend(mutated.take(MUTATED_ATOMS));
    }
    found.extend(without_parentheses(&print_problem(problem), random));
    found
}

/// Mutants of an action.
pub(crate) fn action_mutants(
    domain: &Domain,
    action: &Action,
    random: &mut Random,
) -> Vec<(&'static str, String)> {
    let scope: Vec<TypedName> =
        action.parameters.iter().chain(&action.vars).chain(&domain.constants).cloned().collect();
    let count = action_atoms(&mut action.clone()).len();
    let mut found = Vec::new();
    for kind in &MUTANTS[..5] {
        let mut places: Vec<usize> = (0..count).collect();
        random.shuffle_front(&mut places, count);
        let mutated = places.into_iter().filter_map(|place| {
            let mut action = action.clone();
            let mut atoms = action_atoms(&mut action);
            mutate(kind, domain, atoms[place], &scope, "?zz-undeclared", random)
                .then(|| (*kind, print_action(&action)))
        });
        found.extend(mutated.take(MUTATED_ATOMS));
    }
    found.extend(without_parentheses(&print_action(action), random));
    found
}

/// Makes one mistake in the atom; false if the atom has no place for it.
fn mutate(
    kind: &str,
    domain: &Domain,
    atom: &mut Atom,
    scope: &[TypedName],
    undeclared: &str,
    random: &mut Random,
) -> bool {
    let term = |name: &str| match name.starts_with('?') {
        true => Term::Variable(Name::synthetic(name)),
        false => Term::Constant(Name::synthetic(name)),
    };
    let place = random.below(atom.args.len() as u64) as usize;
    match kind {
        "undeclared predicate" => atom.predicate = Name::synthetic("zz-undeclared"),
        "arity, more" => match scope {
            [] => return false,
            scope => atom.args.push(term(scope[random.below(scope.len() as u64) as usize].name.as_str())),
        },
        _ if atom.args.is_empty() => return false,
        "undeclared object" => atom.args[place] = term(undeclared),
        "arity, fewer" => {
            atom.args.remove(place);
        }
        _ => {
            let types = TypeHierarchy::of(domain);
            let declared = domain.predicates.iter().find(|p| p.name == atom.predicate);
            let Some(wanted) = declared.and_then(|p| p.parameters.get(place)) else { return false };
            let Some(wanted) = types.resolve(wanted.ty.as_ref()) else { return false };
            let wrong: Vec<&TypedName> = scope
                .iter()
                .filter(|o| {
                    types.resolve(o.ty.as_ref()).is_some_and(|ty| types.fit(&ty, &wanted) == TypeFit::Never)
                })
                .collect();
            let Some(wrong) = random.pick(&wrong) else { return false };
            atom.args[place] = term(wrong.name.as_str());
        }
    }
    true
}

/// Texts without one parenthesis.
fn without_parentheses(text: &str, random: &mut Random) -> Vec<(&'static str, String)> {
    let places: Vec<usize> = text.match_indices(['(', ')']).map(|(at, _)| at).collect();
    let mut lost = |_| {
        let at = random.pick(&places).copied().unwrap_or(0);
        ("parenthesis", [&text[..at], " ", &text[at + 1..]].concat())
    };
    (0..MUTATED_ATOMS).map(&mut lost).collect()
}

/// The atoms of a problem outside of quantifiers.
fn problem_atoms(problem: &mut Problem) -> Vec<&mut Atom> {
    let mut found: Vec<&mut Atom> = Vec::new();
    for element in &mut problem.init {
        match element {
            InitElement::Atom(atom) | InitElement::Not(atom, _) => found.push(atom),
            InitElement::Value(..) | InitElement::Timed { .. } => {}
        }
    }
    problem.goal.iter_mut().for_each(|goal| condition_atoms(goal, &mut found));
    found
}

fn action_atoms(action: &mut Action) -> Vec<&mut Atom> {
    let mut found = Vec::new();
    action.precondition.iter_mut().for_each(|c| condition_atoms(c, &mut found));
    action.effect.iter_mut().for_each(|e| effect_atoms(e, &mut found));
    found
}

fn condition_atoms<'a>(condition: &'a mut Condition, found: &mut Vec<&'a mut Atom>) {
    match condition {
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter_mut().for_each(|part| condition_atoms(part, found));
        }
        Condition::Not(part, _) => condition_atoms(part, found),
        Condition::Atom(atom) => found.push(atom),
        _ => {}
    }
}

fn effect_atoms<'a>(effect: &'a mut Effect, found: &mut Vec<&'a mut Atom>) {
    match effect {
        Effect::And(parts, _) => parts.iter_mut().for_each(|part| effect_atoms(part, found)),
        Effect::When(condition, effect, _) => {
            condition_atoms(condition, found);
            effect_atoms(effect, found);
        }
        Effect::Add(atom) | Effect::Delete(atom, _) => found.push(atom),
        _ => {}
    }
}

/// Errors that a grammar does not rule out: docs/reference/grammars.md lists them.
const NOT_GUARANTEED: &[&str] = &[
    "pddl.unbound-variable",
    "pddl.duplicate-name",
    "pddl.duplicate-parameter",
    "pddl.contradictory-init",
    "pddl.undefined-preference",
];

/// Errors of a guaranteed kind in a problem of the domain.
pub(crate) fn problem_errors(domain: &Domain, text: &str) -> Vec<String> {
    let parsed = parse_problem(text, SourceId(1));
    let mut found = parsed.diagnostics;
    let sources = TaskSources { domain: SourceId(0), problem: SourceId(1) };
    found.extend(check_problem(domain, &parsed.value, sources));
    guaranteed_errors(&found, text)
}

/// Errors of a guaranteed kind in an action, which is read in the place of the domain's actions.
pub(crate) fn action_errors(domain: &Domain, text: &str) -> Vec<String> {
    let mut domain = domain.clone();
    domain.actions.clear();
    let whole = print_domain(&domain);
    let whole = format!("{}\n{text})", whole.trim_end().strip_suffix(')').unwrap_or(&whole));
    let parsed = parse_domain(&whole, SourceId(0));
    let mut found = parsed.diagnostics;
    found.extend(check_domain(&parsed.value, SourceId(0)));
    let mut errors = guaranteed_errors(&found, &whole);
    if parsed.value.actions.len() != 1 {
        errors.push(format!("{} actions", parsed.value.actions.len()));
    }
    errors
}

/// Types of variables that a quantifier binds are not guaranteed.
fn guaranteed_errors(diagnostics: &[Diagnostic], text: &str) -> Vec<String> {
    diagnostics
        .iter()
        .filter(|d| d.is_error() && !NOT_GUARANTEED.contains(&&*d.code))
        .filter(|d| {
            let place = d.primary().map_or("", |label| &text[label.span.range()]);
            !(d.code == "pddl.type-mismatch" && place.starts_with('?'))
        })
        .map(|d| format!("{} {}", d.code, d.message))
        .collect()
}
