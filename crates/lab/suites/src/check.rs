//! Checks a suite's folder: its PDDL, texts, templates, sentences and tasks. Also reads the layouts of LLM+P
//! and of the exploration-walk data, and folders of PDDL alone.

mod pipelines;
mod stated;

use crate::codes;
use crate::generate::silent_objects;
use planforge_asp::reader::{self, Signature};
use planforge_asp::{Declarations, read_knowledge, syntax};
use planforge_diagnostics::{Diagnostic, Severity, SourceId, SourceMap, Span};
use planforge_pddl::ast::{Condition, Domain, Effect, Problem, TypedName};
use planforge_pddl::{Name, TaskSources, check_domain, check_problem, parse_domain, parse_problem};
use planforge_pipeline::{LoadedSuite, Suite, apply_add_ons, load_leniently};
use planforge_planning::{
    PlanOptions, ResourceLimits, SearchOutcome, ValidationDecision, ValidationOptions, Validator, normalize,
    parse_plan, plan,
};
use serde::Serialize;
use std::path::{Path, PathBuf};

pub use pipelines::PipelineNeeds;

/// Findings in one folder.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The suite's name; the folder's where it cannot be read.
    pub name: String,
    /// The suite with what add-ons bring for it; `None` if the folder cannot be read.
    pub suite: Option<Suite>,
    /// A row for each task, the in-context example first.
    pub tasks: Vec<TaskRow>,
    /// The shipped pipelines with what the suite lacks for them; empty if it cannot be read.
    pub pipelines: Vec<PipelineNeeds>,
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that the diagnostics point into.
    pub sources: SourceMap,
}

impl Checked {
    /// Number of findings of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|d| d.severity == severity).count()
    }
}

/// State of a goal in the initial state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// It does not hold yet.
    Open,
    /// It holds already: the empty plan is right.
    Holds,
    /// It could not be evaluated.
    Unknown,
}

/// The result of a search for a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Solved {
    /// A plan with so many steps.
    Plan(usize),
    Unsolvable,
    /// The search ended without an answer; why.
    Undecided(String),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskRow {
    /// The stem of its files.
    pub stem: String,
    /// True if the task has a text.
    pub text: bool,
    /// True if the task has a problem.
    pub problem: bool,
    /// Objects of the problem.
    pub objects: usize,
    /// Entries of the initial state.
    pub facts: usize,
    /// The goal in the initial state.
    pub goal: Goal,
    /// The result of the search, if requested.
    pub solved: Option<Solved>,
    /// Errors in its files.
    pub errors: usize,
}

/// Makes the limits of one search.
pub type FreshLimits<'a> = &'a mut dyn FnMut() -> Box<dyn ResourceLimits>;

/// Checks a folder, read with what add-ons bring for it. Each plan is validated under
/// fresh limits. With `solve`, each task is also planned, under fresh limits.
pub fn check(folder: &Path, add_ons: &[PathBuf], limits: FreshLimits<'_>, solve: bool) -> Checked {
    let LoadedSuite { mut suite, mut diagnostics, mut sources } = load_leniently(folder);
    if let Some(suite) = &mut suite {
        diagnostics.extend(apply_add_ons(add_ons, std::slice::from_mut(suite), &mut sources));
    }
    let mut check = Check { found: diagnostics, sources, limits, solve, rows: Vec::new() };
    let Some(suite) = suite else {
        let name = folder.display().to_string();
        let (diagnostics, sources) = (check.found, check.sources);
        let (tasks, pipelines) = (Vec::new(), Vec::new());
        return Checked { name, suite: None, tasks, pipelines, diagnostics, sources };
    };
    check.suite(&suite);
    Checked {
        pipelines: pipelines::needs(&suite),
        name: suite.name.clone(),
        suite: Some(suite),
        tasks: check.rows,
        diagnostics: check.found,
        sources: check.sources,
    }
}

struct Check<'a> {
    found: Vec<Diagnostic>,
    sources: SourceMap,
    limits: FreshLimits<'a>,
    solve: bool,
    rows: Vec<TaskRow>,
}

/// A domain that problems are read with.
struct Reference {
    domain: Domain,
    source: SourceId,
    usable: bool,
}

/// The files of one task.
struct Files<'a> {
    stem: &'a str,
    text: Option<&'a str>,
    problem: Option<&'a str>,
    template: Option<&'a str>,
    plan: Option<&'a str>,
    /// For a task of the ladder.
    rung: Option<stated::RungText<'a>>,
}

impl Check<'_> {
    fn suite(&mut self, suite: &Suite) {
        let reference = suite.reference_domain.as_deref().map(|text| self.domain(suite, "domain.pddl", text));
        if let Some(text) = &suite.validation_domain {
            self.domain(suite, "domain_validation.pddl", text);
        }
        if let Some(reference) = &reference {
            self.sentences(suite, reference);
            self.found.extend(check_described_types(suite, &reference.domain, reference.source));
            self.found.extend(check_parameter_order(suite, &reference.domain, reference.source));
            self.found.extend(check_programs(suite, &reference.domain, &mut self.sources));
            if let Some(template) = &suite.domain_template {
                let source = self.add(suite, "domain_template.pddl", template);
                self.found.extend(check_domain_template(&reference.domain, template, source));
            }
        }
        self.found.extend(example_without_text(suite));
        if suite.tasks.is_empty() {
            let message = format!("{} has no tasks", suite.folder.display());
            let help = "a task is a file NAME.nl, with NAME.pddl as its reference";
            self.found.push(Diagnostic::warning(codes::NO_TASKS, message).help(help));
        }
        if let Some(example) = &suite.example {
            let files = Files {
                stem: "p_example",
                text: Some(&example.text),
                problem: example.problem.as_deref(),
                template: None,
                plan: example.plan.as_deref(),
                rung: None,
            };
            self.task(suite, reference.as_ref(), &files);
        }
        for task in &suite.tasks {
            let files = Files {
                stem: &task.stem,
                text: Some(task.text.as_str()).filter(|text| !text.is_empty()),
                problem: task.reference_problem.as_deref(),
                template: task.objects_template.as_deref(),
                plan: None,
                rung: task.axis.as_deref().map(|axis| stated::RungText { axis, gap: task.gap.as_deref() }),
            };
            self.task(suite, reference.as_ref(), &files);
        }
    }

    fn add(&mut self, suite: &Suite, file: &str, text: &str) -> SourceId {
        self.sources.add(suite.folder.join(file).display().to_string(), text)
    }

    fn domain(&mut self, suite: &Suite, file: &str, text: &str) -> Reference {
        let source = self.add(suite, file, text);
        let parsed = parse_domain(text, source);
        let mut found = parsed.diagnostics;
        found.extend(check_domain(&parsed.value, source));
        let usable = !found.iter().any(Diagnostic::is_error);
        self.found.extend(found);
        Reference { domain: parsed.value, source, usable }
    }

    /// Checks that a suite with sentences for facts has one for every fact.
    fn sentences(&mut self, suite: &Suite, reference: &Reference) {
        if suite.sentences.is_empty() {
            return;
        }
        for predicate in &reference.domain.predicates {
            let name = predicate.name.as_str();
            let told = suite.sentences.get(&name.to_ascii_lowercase());
            let missing = match told {
                None => "no sentences",
                Some(told) if told.no.is_empty() => "no sentence for where it does not hold",
                Some(_) => continue,
            };
            let message = format!("sentences.toml has {missing} for `{name}`");
            let help = format!("add `{name} = {{ yes = \"...\", no = \"...\" }}` to [predicates]");
            let place = Diagnostic::warning(codes::NO_SENTENCE, message).help(help);
            self.found.push(place.at(reference.source, predicate.name.span, ""));
        }
        // The cost of plans is no fact of a state.
        for function in reference.domain.functions.iter().filter(|f| !f.name.is("total-cost")) {
            if !suite.sentences.contains_key(function.name.key()) {
                let message = format!("sentences.toml has no sentence for the number `{}`", function.name);
                let help =
                    format!("add `{} = {{ yes = \"... {{value}} ...\" }}` to [functions]", function.name);
                let place = Diagnostic::advice(codes::NO_SENTENCE, message).help(help);
                self.found.push(place.at(reference.source, function.name.span, ""));
            }
        }
    }

    fn task(&mut self, suite: &Suite, reference: Option<&Reference>, files: &Files<'_>) {
        let before = self.errors();
        let mut row = TaskRow {
            stem: files.stem.to_owned(),
            text: files.text.is_some(),
            problem: files.problem.is_some(),
            objects: 0,
            facts: 0,
            goal: Goal::Unknown,
            solved: None,
            errors: 0,
        };
        if let Some(text) = files.problem {
            let source = self.add(suite, &format!("{}.pddl", files.stem), text);
            let parsed = parse_problem(text, source);
            self.found.extend(parsed.diagnostics);
            let problem = parsed.value;
            row.objects = problem.objects.len();
            row.facts = problem.init.len();
            if let Some(reference) = reference {
                let sources = TaskSources { domain: reference.source, problem: source };
                self.found.extend(check_problem(&reference.domain, &problem, sources));
                if reference.usable && self.errors() == before {
                    self.behaviour(suite, &reference.domain, &problem, source, files, &mut row);
                }
            }
            self.text(suite, &problem, files);
            if let Some(template) = files.template {
                let source = self.add(suite, &format!("{}_template.pddl", files.stem), template);
                self.found.extend(check_problem_template(&problem, template, source));
            }
        }
        row.errors = self.errors() - before;
        self.rows.push(row);
    }

    fn errors(&self) -> usize {
        self.found.iter().filter(|d| d.is_error()).count()
    }

    fn text(&mut self, suite: &Suite, problem: &Problem, files: &Files<'_>) {
        let Some(text) = files.text else { return };
        let source = self.add(suite, &format!("{}.nl", files.stem), text);
        if let Some(rung) = &files.rung {
            self.found.extend(stated::check_rung(suite, problem, rung, text, source));
            return;
        }
        // Texts of higher levels, and those that can be read, are proved elsewhere.
        if suite.level == 1 && suite.reading.is_none() {
            self.found.extend(stated::check_pairs(problem, text, source));
        }
        let silent = silent_objects(problem, text);
        if silent.is_empty() {
            return;
        }
        let message = match silent.len() == problem.objects.len() {
            true => "the text names none of the problem's objects".to_owned(),
            false => format!("the text never names {}", silent.join(", ")),
        };
        let help = "who reads the text alone cannot know an object that it does not name";
        self.found
            .push(Diagnostic::warning(codes::UNNAMED, message).at(source, Span::empty(0), "").help(help));
    }

    /// Checks the behaviour of the task: an already satisfied goal, the example's plan, and solvability.
    fn behaviour(
        &mut self,
        suite: &Suite,
        domain: &Domain,
        problem: &Problem,
        source: SourceId,
        files: &Files<'_>,
        row: &mut TaskRow,
    ) {
        let lifted = match normalize(domain, problem) {
            Ok(lifted) => lifted,
            Err(diagnostics) => return self.found.extend(diagnostics),
        };
        let validator = Validator::new(lifted);
        let options = ValidationOptions { time: true, ..ValidationOptions::default() };
        let empty = validator.validate_with(&parse_plan("", source), &options, (self.limits)().as_mut());
        row.goal = match empty.decision {
            ValidationDecision::Valid => Goal::Holds,
            ValidationDecision::Invalid => Goal::Open,
            ValidationDecision::Unsupported(_) => Goal::Unknown,
            ValidationDecision::LimitReached(_) => {
                self.found.extend(empty.diagnostics);
                Goal::Unknown
            }
        };
        if row.goal == Goal::Holds {
            let place = problem.goal.as_ref().map_or(Span::empty(0), |goal| goal.span());
            let message = "the goal holds already: the empty plan solves this task";
            self.found.push(Diagnostic::warning(codes::GOAL_HOLDS, message).at(source, place, ""));
        }
        if let Some(text) = files.plan {
            let file = format!("{}.sol", files.stem);
            let plan_source = self.add(suite, &file, text);
            let plan = parse_plan(text, plan_source);
            let report = validator.validate_with(&plan, &options, (self.limits)().as_mut());
            if is_prose(text) {
                let message = "the example's plan is prose and was not checked";
                let help = "a plan file has a step a line: `(action object object)`";
                let prose =
                    Diagnostic::advice(codes::PROSE_PLAN, message).at(plan_source, Span::empty(0), "");
                self.found.push(prose.help(help));
            } else if matches!(report.decision, ValidationDecision::LimitReached(_)) {
                self.found.extend(report.diagnostics);
            } else if matches!(report.decision, ValidationDecision::Invalid) {
                let why =
                    report.diagnostics.iter().find(|d| d.is_error()).map(|d| format!(": {}", d.message));
                let message =
                    format!("the example's plan is not a plan for its problem{}", why.unwrap_or_default());
                let wrong = Diagnostic::error(codes::WRONG_PLAN, message).at(plan_source, Span::empty(0), "");
                self.found
                    .push(wrong.help("`planforge pddl validate` with the three files shows every step"));
            } else if let ValidationDecision::Unsupported(what) = &report.decision {
                let what: Vec<&str> = what.iter().map(|u| u.what.as_str()).collect();
                let message = format!("the example's plan was not checked: it has {}", what.join(", "));
                let unchecked = Diagnostic::warning(codes::UNDECIDED, message);
                self.found.push(unchecked.at(plan_source, Span::empty(0), ""));
            }
        }
        self.search_plan(domain, problem, source, row);
    }

    fn search_plan(&mut self, domain: &Domain, problem: &Problem, source: SourceId, row: &mut TaskRow) {
        if !self.solve {
            return;
        }
        let mut budget = (self.limits)();
        let outcome = match plan(domain, problem, &PlanOptions::default(), budget.as_mut()) {
            Ok(result) => result.outcome,
            Err(diagnostics) => return self.found.extend(diagnostics),
        };
        let place = problem.goal.as_ref().map_or(Span::empty(0), |goal| goal.span());
        let undecided = |why: String| {
            let message = format!("whether the task has a plan was not decided: {why}");
            (Diagnostic::warning(codes::UNDECIDED, message).at(source, place, ""), Solved::Undecided(why))
        };
        let (diagnostic, solved) = match outcome {
            SearchOutcome::Plan(plan) => {
                row.solved = Some(Solved::Plan(plan.steps.len()));
                return;
            }
            SearchOutcome::ProvenUnsolvable(explanation) => {
                let unsolvable = Diagnostic::error(codes::UNSOLVABLE, "the task has no plan; this is proven")
                    .at(source, place, "");
                (unsolvable.help(explanation.text()), Solved::Unsolvable)
            }
            SearchOutcome::Exhausted => undecided("the search ended without a plan or a proof".to_owned()),
            SearchOutcome::LimitReached(reason) => undecided(format!("{reason} was reached")),
            SearchOutcome::Unsupported(found) => {
                let what: Vec<&str> = found.iter().map(|u| u.what.as_str()).collect();
                undecided(format!("the planner does not plan with {}", what.join(", ")))
            }
        };
        self.found.push(diagnostic);
        row.solved = Some(solved);
    }
}

/// True if no line of a plan file looks like a step. LLM+P and the exploration-walk data give their examples'
/// plans as prose.
fn is_prose(plan: &str) -> bool {
    let mut lines = plan.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(';'));
    let mut any = false;
    let steps = lines.any(|line| {
        any = true;
        line.contains('(')
    });
    any && !steps
}

/// Checks that a suite with descriptions of types has one for every type.
fn check_described_types(suite: &Suite, domain: &Domain, source: SourceId) -> Vec<Diagnostic> {
    let described =
        |name: &str| suite.types.is_empty() || suite.types.contains_key(&name.to_ascii_lowercase());
    let missing = domain.types.iter().filter(|ty| !described(ty.name.as_str()));
    missing
        .map(|ty| {
            let name = ty.name.as_str();
            let message = format!("sentences.toml does not say what a `{name}` is");
            let help = format!("add `{name} = \"...\"` to [types]");
            Diagnostic::warning(codes::NO_TYPE, message).help(help).at(source, ty.name.span, "")
        })
        .collect()
}

/// `p_example.lp` without the text that it is read from.
fn example_without_text(suite: &Suite) -> Option<Diagnostic> {
    let path = suite.folder.join("p_example.lp");
    (suite.example.is_none() && path.exists()).then(|| {
        let message = format!("{}: p_example.nl, the text that it represents, is missing", path.display());
        let help = "write the example's text, or remove this file";
        Diagnostic::warning(codes::IDLE_FILE, message).help(help)
    })
}

/// Checks the knowledge file and the example's representation: that both can be read, that the declarations
/// fit the domain, and that the representation is in the form that models write.
fn check_programs(suite: &Suite, domain: &Domain, sources: &mut SourceMap) -> Vec<Diagnostic> {
    let place = |file: &str| match suite.add_on.as_ref().filter(|used| used.files.contains_key(file)) {
        Some(used) => format!("{}/{file}", used.folder),
        None => suite.folder.join(file).display().to_string(),
    };
    let mut found = Vec::new();
    let mut declarations = Declarations::default();
    if let Some(text) = &suite.knowledge {
        let source = sources.add(place("knowledge.lp"), text.as_str());
        let parsed = syntax::parse(text, source);
        found.extend(parsed.diagnostics);
        let (declared, wrong) = read_knowledge(&parsed.program, domain, source);
        found.extend(wrong);
        declarations = declared;
    }
    if let Some(text) = suite.example.as_ref().and_then(|example| example.ir.as_ref()) {
        let source = sources.add(place("p_example.lp"), text.as_str());
        found.extend(reader::read(text, source, &Signature::new(domain, &declarations)).diagnostics());
    }
    found
}

/// Actions whose written description names the parameters in another order than their schema. Which one a reader
/// takes over is open, so result classes are up to the order, and the class by position stands beside them.
fn check_parameter_order(suite: &Suite, domain: &Domain, source: SourceId) -> Vec<Diagnostic> {
    let of = |(name, parameters): (&Name, &[TypedName])| {
        let text = suite.action_texts.get(name.key())?.base.as_deref()?;
        let told = told_order(text, name, parameters)?;
        let names = |list: Vec<&str>| list.join(", ");
        let message = format!(
            "the description of `{name}` names its parameters in another order than the PDDL: {} for {}",
            names(told),
            names(parameters.iter().map(bare).collect())
        );
        let help =
            "result classes are up to the order of parameters; where the order counts, let the text state it";
        let found = Diagnostic::advice(codes::PARAMETER_ORDER, message).help(help);
        Some(found.at(source, name.span, ""))
    };
    schemas(domain).filter_map(of).collect()
}

/// Names and parameters of the actions, with and without duration.
fn schemas(domain: &Domain) -> impl Iterator<Item = (&Name, &[TypedName])> {
    let plain = domain.actions.iter().map(|action| (&action.name, action.parameters.as_slice()));
    plain.chain(domain.durative_actions.iter().map(|action| (&action.name, action.parameters.as_slice())))
}

fn bare(parameter: &TypedName) -> &str {
    parameter.name.key().trim_start_matches('?')
}

/// The parameters in the order in which a text names them first, if that is another order than the schema's.
/// Parameters that it never names are left out.
fn told_order<'a>(text: &str, action: &Name, parameters: &'a [TypedName]) -> Option<Vec<&'a str>> {
    let text = text.to_lowercase();
    // The name of the action may contain that of a parameter.
    let quoted = format!("\"{}\"", action.key());
    let rest = text.split_once(&quoted).map_or(text.as_str(), |(_, rest)| rest);
    let words: Vec<&str> = rest
        .split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let place = |parameter: &TypedName| {
        let name = bare(parameter);
        let types: Vec<&str> =
            parameter.ty.iter().flat_map(|ty| &ty.alternatives).map(|name| name.key()).collect();
        let is_type = |word: &str| types.iter().any(|ty| word == *ty || word.strip_suffix('s') == Some(ty));
        let after_type = words.windows(2).position(|pair| is_type(pair[0]) && pair[1] == name);
        // Without its type before it, `a` is an article.
        let alone = || words.iter().position(|word| *word == name && name != "a");
        after_type.map(|at| at + 1).or_else(alone)
    };
    let mut told: Vec<(usize, &str)> = parameters.iter().filter_map(|p| Some((place(p)?, bare(p)))).collect();
    if told.is_sorted_by_key(|(at, _)| *at) {
        return None;
    }
    told.sort_by_key(|(at, _)| *at);
    Some(told.into_iter().map(|(_, name)| name).collect())
}

/// Differences between a domain template and its domain. Names of parameters may differ, since plans do not
/// use them.
fn check_domain_template(domain: &Domain, template: &str, source: SourceId) -> Vec<Diagnostic> {
    let parsed = parse_domain(template, source);
    let mut found: Vec<Diagnostic> = parsed.diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    let template = parsed.value;
    for (name, parameters) in schemas(domain) {
        match schemas(&template).find(|(other, _)| other.is(name.key())) {
            None => found.push(differs(format!("the template lacks action `{name}`"), source, template.span)),
            Some((other, given)) if signature(given) != signature(parameters) => {
                let message = format!(
                    "action `{name}` has parameters ({}) in the domain and ({}) in the template",
                    signature(parameters).join(" "),
                    signature(given).join(" ")
                );
                found.push(differs(message, source, other.span));
            }
            Some(_) => {}
        }
    }
    for (other, _) in schemas(&template) {
        if !schemas(domain).any(|(name, _)| name.is(other.key())) {
            let message = format!("the domain has no action `{other}`");
            found.push(differs(message, source, other.span));
        }
    }
    let plain = template.actions.iter().map(|a| (&a.name, tells(&a.precondition, &a.effect)));
    let durative = template.durative_actions.iter().map(|a| {
        let lasts = a.duration.as_ref().is_some_and(|duration| !duration.is_empty());
        (&a.name, lasts || tells(&a.condition, &a.effect))
    });
    for (name, _) in plain.chain(durative).filter(|(_, tells)| *tells) {
        let message = format!("the template shows conditions or effects of `{name}`");
        found.push(shows(message, source, name.span));
    }
    let objects = |d: &Domain| typed_names(&d.constants);
    if objects(domain) != objects(&template) {
        let message = "the template's constants are not the domain's";
        found.push(differs(message.to_owned(), source, template.span));
    }
    found
}

/// Differences between an object template and its problem.
fn check_problem_template(problem: &Problem, template: &str, source: SourceId) -> Vec<Diagnostic> {
    let parsed = parse_problem(template, source);
    let mut found: Vec<Diagnostic> = parsed.diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    let template = parsed.value;
    let (wanted, there) = (typed_names(&problem.objects), typed_names(&template.objects));
    let lacks: Vec<&str> = wanted.iter().filter(|o| !there.contains(o)).map(String::as_str).collect();
    let more: Vec<&str> = there.iter().filter(|o| !wanted.contains(o)).map(String::as_str).collect();
    if !lacks.is_empty() {
        found.push(differs(format!("the template lacks {}", lacks.join(", ")), source, template.span));
    }
    if !more.is_empty() {
        found.push(differs(format!("the problem has no {}", more.join(", ")), source, template.span));
    }
    if let Some(first) = template.init.first() {
        found.push(shows("the template shows facts of the initial state".to_owned(), source, first.span()));
    }
    found
}

fn differs(message: String, source: SourceId, span: Span) -> Diagnostic {
    let help = "`planforge suite template DIR --force` makes the templates anew";
    Diagnostic::error(codes::TEMPLATE_DIFFERS, message).at(source, span, "").help(help)
}

fn shows(message: String, source: SourceId, span: Span) -> Diagnostic {
    let help = "a template shows an interface or objects; methods that are given those alone would see more";
    Diagnostic::warning(codes::TEMPLATE_SHOWS, message).at(source, span, "").help(help)
}

fn tells(condition: &Option<Condition>, effect: &Option<Effect>) -> bool {
    let effects = |e: &Effect| !matches!(e, Effect::And(parts, _) if parts.is_empty());
    condition.as_ref().is_some_and(|c| !c.is_empty()) || effect.as_ref().is_some_and(effects)
}

/// The types of parameters, in order.
fn signature(parameters: &[TypedName]) -> Vec<String> {
    parameters.iter().map(type_of).collect()
}

fn type_of(entry: &TypedName) -> String {
    let Some(ty) = &entry.ty else { return "object".to_owned() };
    let mut names: Vec<&str> = ty.alternatives.iter().map(|n| n.key()).collect();
    names.sort_unstable();
    match names.as_slice() {
        [one] => (*one).to_owned(),
        _ => format!("(either {})", names.join(" ")),
    }
}

/// Names with types, sorted.
fn typed_names(entries: &[TypedName]) -> Vec<String> {
    let mut all: Vec<String> = entries.iter().map(|e| format!("{} - {}", e.name.key(), type_of(e))).collect();
    all.sort_unstable();
    all
}
