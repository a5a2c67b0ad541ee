//! From a suite's task to what a translator may see of it: the only place that copies parts of the reference. Suites without PDDL are
//! described by their environment, and `[obfuscate]` gives a suite other names.

use super::texts::{durative_actions, materials as action_materials, random_text, telling_names};
use super::{
    ActionTexts, Example, Folder, GivenExample, GivenSpec, PredicateText, Suite, SuiteDisguise, SuiteTask,
};
use crate::codes::NO_REFERENCE;
use planforge_contract::api::{Environment, Host};
use planforge_contract::{
    ActionInterface, ActionMaterials, ActionSignature, EnvironmentOpen, ExampleMaterials, Failure, Given,
    Materials, Sentences, TaskView, TypedName,
};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_obfuscate::{Disguise, DisguiseOptions, Sources};
use planforge_pddl::{Name, ast, parse_domain};
use planforge_plugin_sdk::wording::CLOCK;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The view of a task under what the pipeline is given. `example` is the suite that the in-context example comes from, where
/// the pipeline names one.
///
/// # Errors
/// All of: `suite.no-text` where texts are given that the suite does not have, `suite.no-reference` where something is given that the suite does not have
/// and the pipeline cannot do without (the report names the rest), `suite.withheld` where the suite's manifest forbids to give it,
/// `suite.own-example` where the example would show the suite's own reference.
pub fn task_view(
    suite: &Suite,
    task: &SuiteTask,
    given: &GivenSpec,
    example: Option<&Suite>,
) -> Result<TaskView, Vec<Diagnostic>> {
    let mut view = View { suite, task, found: Vec::new() };
    view.withheld(given);
    view.not_its_own(example);
    view.texts(given);
    let interface = (given.interface || given.domain)
        .then(|| match (&suite.reference_domain, &task.described) {
            (None, Some(described)) if !given.domain => Some(described.actions.clone()),
            (None, None) if !given.domain => None,
            _ => view.domain("domain").map(|d| signatures(&d)),
        })
        .flatten()
        .unwrap_or_default();
    // A template shows the types itself.
    let declared = match given.interface || given.domain {
        true if suite.domain_template.is_none() => types_of(suite),
        _ => Vec::new(),
    };
    let objects = (given.objects || given.problem)
        .then(|| match (&task.reference_problem, &task.described) {
            (None, Some(described)) if !given.problem => Some(described.objects.clone()),
            (None, _) if !given.problem || given.text => None,
            _ => view.problem("problem").map(|p| objects_of(&p, given.domain, suite)),
        })
        .flatten()
        .unwrap_or_default();
    if let Some(class) = given.actions {
        view.domain("actions");
        view.found.extend(durative_actions(suite));
        if !given.predicates {
            view.found.extend(telling_names(suite, class));
        }
    }
    let result = TaskView {
        // A question may be given the suite's name as the domain's.
        suite: suite
            .disguise
            .as_ref()
            .map_or_else(|| suite.name.clone(), |disguise| disguise.names.name(&suite.name)),
        task: task.stem.clone(),
        domain_text: match suite.domain_text.trim() {
            _ if !given.text => String::new(),
            "" => task.text.clone(),
            _ => suite.domain_text.clone(),
        },
        task_text: if given.text { task.text.clone() } else { String::new() },
        given: Given {
            domain: given.domain.then(|| suite.reference_domain.clone()).flatten(),
            problem: given.problem.then(|| task.reference_problem.clone()).flatten(),
        },
        action_interface: (!interface.is_empty() || !objects.is_empty()).then_some(ActionInterface {
            actions: interface,
            objects,
            types: declared,
        }),
        materials: materials(suite, task, given, example),
    };
    if view.found.is_empty() { Ok(result) } else { Err(view.found) }
}

/// Parts of the reference that the pipeline is given and does without, because the suite has no file for them: the names that the model
/// chooses then are its own, and what it writes may lack a problem.
pub(crate) fn not_given(suite: &Suite, task: &SuiteTask, given: &GivenSpec) -> Vec<String> {
    let (domain, problem) = (suite.reference_domain.is_some(), task.reference_problem.is_some());
    let described = task.described.is_some();
    let missing = [
        ("interface", given.interface && !domain && !described),
        ("objects", given.objects && !problem && !described),
        ("problem", given.problem && !problem),
    ];
    missing.into_iter().filter(|(_, missing)| *missing).map(|(part, _)| part.to_owned()).collect()
}

struct View<'a> {
    suite: &'a Suite,
    task: &'a SuiteTask,
    found: Vec<Diagnostic>,
}

impl View<'_> {
    fn withheld(&mut self, given: &GivenSpec) {
        let wanted = [
            ("domain", given.domain),
            ("problem", given.problem),
            ("interface", given.interface),
            ("objects", given.objects),
            ("example", given.example == Some(GivenExample::Own(true))),
            ("actions", given.actions.is_some()),
        ];
        for (part, _) in wanted.iter().filter(|(part, wanted)| *wanted && self.suite.withheld.contains(part))
        {
            let message =
                format!("the pipeline is given the {part}, and suite `{}` withholds it", self.suite.name);
            self.found.push(
                Diagnostic::error("suite.withheld", message).help(format!(
                    "take `{part}` out of [given] of the pipeline, or run it on another suite"
                )),
            );
        }
    }

    /// A suite that was read for a pipeline without texts may have none. The text of a task stands for a missing text about the domain.
    fn texts(&mut self, given: &GivenSpec) {
        let file = format!("{}.nl", self.task.stem);
        if given.text && self.task.text.trim().is_empty() {
            let message =
                format!("suite `{}` has no {file}, and the pipeline is given texts", self.suite.name);
            let help = "write it, or set `text = false` below [given] of a pipeline that works from PDDL";
            self.found.push(Diagnostic::error("suite.no-text", message).help(help));
        }
    }

    /// An example from the suite itself would show its domain.
    fn not_its_own(&mut self, example: Option<&Suite>) {
        let Some(example) = example.map(Suite::original) else { return };
        let own = self.suite.original();
        let real = |suite: &Suite| suite.folder.canonicalize().ok();
        let same = example.name == own.name
            || (real(example).is_some() && real(example) == real(own))
            || (example.reference_domain.is_some() && example.reference_domain == own.reference_domain);
        if same {
            let message = format!("the in-context example comes from suite `{}` itself", self.suite.name);
            self.found.push(Diagnostic::error("suite.own-example", message).help(
                "name another suite in `example` of [given]: the example shows its whole domain, which is withheld here",
            ));
        }
    }

    fn missing(&mut self, part: &str, file: &str) {
        let message =
            format!("the pipeline is given the {part}, and suite `{}` has no {file}", self.suite.name);
        let diagnostic = Diagnostic::error("suite.no-reference", message)
            .help(format!("add {file} to {}", self.suite.folder.display()));
        if !self.found.contains(&diagnostic) {
            self.found.push(diagnostic);
        }
    }

    fn domain(&mut self, part: &str) -> Option<ast::Domain> {
        match &self.suite.reference_domain {
            Some(text) => Some(planforge_pddl::parse_domain(text, SourceId(0)).value),
            None => {
                self.missing(part, "domain.pddl");
                None
            }
        }
    }

    fn problem(&mut self, part: &str) -> Option<ast::Problem> {
        match &self.task.reference_problem {
            Some(text) => Some(planforge_pddl::parse_problem(text, SourceId(0)).value),
            None => {
                self.missing(part, &format!("{}.pddl", self.task.stem));
                None
            }
        }
    }
}

/// The materials that the pipeline gives. Templates are parts of the reference and go with the parts that they show. Texts of the suite's
/// manifest take precedence over the suite's other files.
fn materials(suite: &Suite, task: &SuiteTask, given: &GivenSpec, other: Option<&Suite>) -> Materials {
    let mut materials = Materials::from(suite.materials.clone());
    if let Some(other) = other {
        materials.example = example_of_another(other, std::mem::take(&mut materials.example));
    }
    if !given.text {
        (materials.example.text, materials.example.domain_text) = (None, None);
    }
    let fill = |field: &mut Option<String>, text: Option<&String>| {
        if field.is_none() {
            *field = text.cloned();
        }
    };
    if given.interface || given.domain {
        let template = suite.domain_template.clone().or_else(|| template_with_requirements(suite));
        fill(&mut materials.templates.domain, template.as_ref());
    }
    // All of these are written with the domain's types and predicates.
    if given.domain {
        fill(&mut materials.knowledge, suite.knowledge.as_ref());
        if materials.types.is_empty() {
            materials.types.clone_from(&suite.types);
        }
        if materials.sentences.is_empty() {
            materials.sentences = sentences_of_predicates(suite);
        }
    }
    if given.objects || given.problem {
        fill(&mut materials.templates.objects, task.objects_template.as_ref());
    }
    if let Some(class) = given.actions {
        let of_suite = action_materials(suite, class, given.predicates);
        let ActionMaterials { header, described, predicates, .. } = &mut materials.actions;
        *header = header.take().or(of_suite.header);
        *described = described.take().or(of_suite.described);
        *predicates = predicates.take().or(of_suite.predicates);
    }
    let example =
        suite.example.as_ref().filter(|_| given.gives_own_example() && !suite.withheld.contains(&"example"));
    if let Some(example) = example {
        let of_manifest = &mut materials.example;
        fill(&mut of_manifest.text, Some(&example.text).filter(|_| given.text));
        // An example problem is written with the domain's predicates, so it goes with the domain alone.
        fill(&mut of_manifest.problem, example.problem.as_ref().filter(|_| given.domain));
        fill(&mut of_manifest.ir, example.ir.as_ref().filter(|_| given.domain));
        fill(&mut of_manifest.plan, example.plan.as_ref());
    }
    materials
}

/// The template of a domain that requires more than types, for a suite without one: translators make one from the interface, which has no
/// requirements.
fn template_with_requirements(suite: &Suite) -> Option<String> {
    let domain = planforge_pddl::parse_domain(suite.reference_domain.as_deref()?, SourceId(0)).value;
    let is_usual = |name: &Name| [":strips", ":typing"].iter().any(|usual| name.is(usual));
    let requires_more = !domain.requirements.iter().all(is_usual);
    requires_more.then(|| planforge_pddl::domain_template(&domain))
}

/// The sentences of the domain's predicates, without those of its functions and of the clock.
fn sentences_of_predicates(suite: &Suite) -> BTreeMap<String, Sentences> {
    let domain = suite.reference_domain.as_deref().unwrap_or_default();
    let functions = planforge_pddl::parse_domain(domain, SourceId(0)).value.functions;
    let is_function = |name: &str| functions.iter().any(|f| f.name.as_str().eq_ignore_ascii_case(name));
    let sentences = suite.sentences.iter().filter(|(name, _)| !is_function(name) && *name != CLOCK);
    sentences.map(|(name, sentences)| (name.clone(), sentences.clone())).collect()
}

/// The in-context example from another suite, whole: its own example, else its first task. Parts that the other suite lacks stay.
fn example_of_another(suite: &Suite, own: ExampleMaterials) -> ExampleMaterials {
    let domain = suite.reference_domain.clone();
    let template = || {
        let domain = planforge_pddl::parse_domain(domain.as_deref()?, SourceId(0)).value;
        Some(planforge_pddl::domain_template(&domain))
    };
    let domain_template = suite.domain_template.clone().or_else(template);
    let first = || {
        let task = suite.tasks.first()?;
        Some(Example {
            text: task.text.clone(),
            problem: task.reference_problem.clone(),
            ..Example::default()
        })
    };
    let example = suite.example.clone().or_else(first);
    let (text, problem, plan) = match example {
        Some(Example { text, problem, plan, .. }) => (Some(text), problem, plan),
        None => (None, None, None),
    };
    ExampleMaterials {
        text: text.or(own.text),
        problem: problem.or(own.problem),
        plan: plan.or(own.plan),
        ir: own.ir,
        domain_text: Some(suite.domain_text.clone()),
        domain: domain.or(own.domain),
        domain_template: domain_template.or(own.domain_template),
    }
}

/// The declared types of the reference domain.
fn types_of(suite: &Suite) -> Vec<TypedName> {
    let domain = suite.reference_domain.as_deref().unwrap_or_default();
    planforge_pddl::parse_domain(domain, SourceId(0)).value.types.iter().map(to_typed_name).collect()
}

fn signatures(domain: &ast::Domain) -> Vec<ActionSignature> {
    let plain = domain.actions.iter().map(|a| (&a.name, &a.parameters));
    let durative = domain.durative_actions.iter().map(|a| (&a.name, &a.parameters));
    plain
        .chain(durative)
        .map(|(name, parameters)| ActionSignature {
            name: name.to_string(),
            parameters: parameters.iter().map(to_typed_name).collect(),
        })
        .collect()
}

/// The problem's objects; the domain's constants are part of a given domain and named there.
fn objects_of(problem: &ast::Problem, domain_given: bool, suite: &Suite) -> Vec<TypedName> {
    let mut objects: Vec<TypedName> = problem.objects.iter().map(to_typed_name).collect();
    if !domain_given {
        let domain = suite.reference_domain.as_deref().unwrap_or_default();
        objects.extend(
            planforge_pddl::parse_domain(domain, SourceId(0)).value.constants.iter().map(to_typed_name),
        );
    }
    objects
}

fn to_typed_name(entry: &ast::TypedName) -> TypedName {
    let name = entry.name.as_str();
    let type_name = match &entry.ty {
        None => "object".to_owned(),
        Some(ty) if ty.is_either() => {
            let names: Vec<&str> = ty.alternatives.iter().map(|n| n.as_str()).collect();
            format!("(either {})", names.join(" "))
        }
        Some(ty) => ty.alternatives.first().map_or("object", |n| n.as_str()).to_owned(),
    };
    TypedName { name: name.strip_prefix('?').unwrap_or(name).to_owned(), type_name }
}

/// True if the pipeline gives an interface or objects that some task's suite has no file for. The environment
/// must then describe them ([`describe_tasks`]).
pub fn needs_description(suites: &[Suite], given: &GivenSpec) -> bool {
    suites.iter().any(|suite| {
        let domain = suite.reference_domain.as_ref();
        suite.tasks.iter().any(|task| needs(task.reference_domain.as_ref().or(domain), task, given))
    })
}

fn needs(domain: Option<&String>, task: &SuiteTask, given: &GivenSpec) -> bool {
    given.interface && domain.is_none() || given.objects && task.reference_problem.is_none()
}

/// Asks the environment about each task that lacks a file for what is given. An environment that needs those files describes nothing.
///
/// # Errors
/// The environment's own.
pub fn describe_tasks(
    suites: &mut [Suite],
    given: &GivenSpec,
    environment: &dyn Environment,
    host: &dyn Host,
) -> Result<(), Failure> {
    for suite in suites {
        let mut open = EnvironmentOpen {
            suite: suite.name.clone(),
            domain: suite.reference_domain.clone(),
            sentences: suite.sentences.clone(),
            ..EnvironmentOpen::default()
        };
        for task in &mut suite.tasks {
            let own = task.reference_domain.as_ref();
            if needs(own.or(open.domain.as_ref()), task, given) {
                open.task.clone_from(&task.stem);
                open.problem.clone_from(&task.reference_problem);
                task.described = match environment.describe(host, &open) {
                    Ok(described) => Some(described.interface),
                    Err(failure) if failure.code == NO_REFERENCE => None,
                    Err(failure) => return Err(failure),
                };
            }
        }
    }
    Ok(())
}

/// The suite under other names. The names depend on the options, the suite's name and the files of its
/// folder, not on the number of tasks that were read. A suite that is obfuscated already is returned as it
/// is.
///
/// The folder stays the suite's own. Files that no pipeline is given (`generator.jinja`, `wordings.jinja`)
/// are left out.
///
/// # Errors
/// `suite.disguise`, one for each definition that cannot be read in full, and for tasks whose names are
/// unknown because there is no PDDL.
pub fn disguise_suite(suite: &Suite, options: &DisguiseOptions) -> Result<Suite, Vec<Diagnostic>> {
    if suite.disguise.is_some() {
        return Ok(suite.clone());
    }
    let disguise = Disguise::new(&sources(suite), options);
    let mut work = Disguiser { suite, disguise: &disguise, found: Vec::new() };
    let mut new = work.suite();
    if work.found.is_empty() {
        new.disguise = Some(Arc::new(SuiteDisguise { names: disguise, original: suite.clone() }));
        Ok(new)
    } else {
        Err(work.found)
    }
}

/// All texts of the suite's folder, or the parts that were read if there is no folder.
fn sources(suite: &Suite) -> Sources {
    let mut sources = Sources { suite: suite.name.clone(), ..Sources::default() };
    let mut texts = vec![&suite.domain_text];
    texts.extend(suite.example.iter().map(|example| &example.text));
    texts.extend(suite.tasks.iter().map(|task| &task.text));
    sources.texts = texts.into_iter().cloned().collect();
    sources.domains.extend(suite.reference_domain.iter().chain(&suite.validation_domain).cloned());
    sources.domains.extend(suite.tasks.iter().filter_map(|task| task.reference_domain.clone()));
    sources.problems.extend(suite.tasks.iter().filter_map(|task| task.reference_problem.clone()));
    sources.problems.extend(suite.example.iter().filter_map(|example| example.problem.clone()));
    let Ok(folder) = Folder::open(&suite.folder) else { return sources };
    for name in folder.names().unwrap_or_default() {
        // A file that cannot be read is no part of any task that could be run.
        let read = || folder.text(&name).ok().flatten();
        match name.rsplit_once('.') {
            Some((_, "nl")) => sources.texts.extend(read()),
            Some((stem, "pddl")) if stem.ends_with("_template") => {}
            Some((stem, "pddl")) if stem.starts_with("domain") => sources.domains.extend(read()),
            Some((_, "pddl")) => sources.problems.extend(read()),
            _ => {}
        }
    }
    sources
}

struct Disguiser<'a> {
    suite: &'a Suite,
    disguise: &'a Disguise,
    found: Vec<Diagnostic>,
}

impl Disguiser<'_> {
    fn suite(&mut self) -> Suite {
        let (suite, disguise) = (self.suite, self.disguise);
        let without: Vec<&str> = suite
            .tasks
            .iter()
            .filter(|task| task.reference_problem.is_none())
            .map(|task| task.stem.as_str())
            .collect();
        let own = suite.tasks.iter().all(|task| task.reference_domain.is_some());
        if suite.reference_domain.is_none() && (suite.tasks.is_empty() || !own) {
            self.wrong("there is no `domain.pddl`, so the names are unknown".to_owned());
        } else if !without.is_empty() {
            self.wrong(format!(
                "without a problem of {} the names of its objects are unknown",
                without.join(", ")
            ));
        }
        let text = |text: &String| disguise.text(text);
        Suite {
            domain_text: text(&suite.domain_text),
            reference_domain: self.domain(suite.reference_domain.as_ref(), "domain.pddl"),
            validation_domain: self.domain(suite.validation_domain.as_ref(), "domain_validation.pddl"),
            domain_template: suite
                .domain_template
                .as_ref()
                .map(|template| disguise.domain_template(template, suite.reference_domain.as_deref())),
            example: suite.example.as_ref().map(|example| self.example(example)),
            materials: suite
                .materials
                .iter()
                .map(|(name, material)| (name.clone(), text(material)))
                .collect(),
            sentences: suite
                .sentences
                .iter()
                .map(|(name, told)| (disguise.name(name), self.sentences(told)))
                .collect(),
            types: suite.types.iter().map(|(name, told)| (disguise.name(name), text(told))).collect(),
            action_texts: self.actions(),
            predicate_texts: suite
                .predicate_texts
                .iter()
                .map(|(name, told)| (disguise.name(name), self.predicate(told)))
                .collect(),
            knowledge: suite.knowledge.as_ref().map(|program| disguise.program(program)),
            generator: None,
            ladder: None,
            reading: None,
            wordings: None,
            generate: None,
            tasks: suite.tasks.iter().map(|task| self.task(task)).collect(),
            ..suite.clone()
        }
    }

    fn wrong(&mut self, why: String) {
        let message = format!("suite `{}` cannot be renamed: {why}", self.suite.name);
        self.found.push(
            Diagnostic::error("suite.disguise", message)
                .help("run it without `[obfuscate]`; `planforge suite check` lists the mistakes of a suite"),
        );
    }

    fn keep(&mut self, told: Result<String, String>, file: &str) -> Option<String> {
        told.map_err(|why| self.wrong(format!("{file}: {why}"))).ok()
    }

    fn domain(&mut self, text: Option<&String>, file: &str) -> Option<String> {
        let told = self.disguise.domain(text?);
        self.keep(told, file)
    }

    fn problem(&mut self, text: Option<&String>, file: &str) -> Option<String> {
        let told = self.disguise.problem(text?);
        self.keep(told, file)
    }

    fn example(&mut self, example: &Example) -> Example {
        Example {
            text: self.disguise.text(&example.text),
            problem: self.problem(example.problem.as_ref(), "p_example.pddl"),
            plan: example.plan.as_ref().map(|plan| self.disguise.pddl(plan)),
            ir: example.ir.as_ref().map(|program| self.disguise.program(program)),
        }
    }

    fn sentences(&self, told: &Sentences) -> Sentences {
        Sentences { yes: self.disguise.text(&told.yes), no: self.disguise.text(&told.no) }
    }

    /// Draws are made under the original names: the obfuscated suite describes the same literals.
    fn actions(&self) -> BTreeMap<String, ActionTexts> {
        let mut texts = self.suite.action_texts.clone();
        let domain = self.suite.reference_domain.as_deref().filter(|_| self.disguise.texts());
        for action in domain.map(|text| parse_domain(text, SourceId(0)).value.actions).unwrap_or_default() {
            let told = texts.entry(action.name.key().to_owned()).or_default();
            told.random.get_or_insert_with(|| random_text(self.suite, &action));
        }
        texts.iter().map(|(name, told)| (self.disguise.name(name), self.action(told))).collect()
    }

    fn action(&self, told: &ActionTexts) -> ActionTexts {
        let text = |text: &Option<String>| text.as_ref().map(|text| self.disguise.action_text(text));
        ActionTexts { base: text(&told.base), flipped: text(&told.flipped), random: text(&told.random) }
    }

    fn predicate(&self, told: &PredicateText) -> PredicateText {
        PredicateText {
            declaration: told.declaration.as_ref().map(|declaration| self.disguise.pddl(declaration)),
            text: self.disguise.action_text(&told.text),
        }
    }

    fn task(&mut self, task: &SuiteTask) -> SuiteTask {
        let stem = &task.stem;
        SuiteTask {
            stem: stem.clone(),
            title: task.title.clone(),
            axis: task.axis.clone(),
            gap: task.gap.as_ref().map(|gap| self.disguise.pddl(gap)),
            text: self.disguise.text(&task.text),
            reference_problem: self.problem(task.reference_problem.as_ref(), &format!("{stem}.pddl")),
            reference_domain: self.domain(task.reference_domain.as_ref(), &format!("domain-{stem}.pddl")),
            objects_template: task
                .objects_template
                .as_ref()
                .map(|template| self.disguise.problem_template(template, task.reference_problem.as_deref())),
            described: None,
        }
    }
}
