//! From a suite's task to what a translator may see of it: the only place that copies parts of the reference.

use super::{Example, Suite, SuiteTask, actions};
use crate::config::{GivenExample, GivenSpec};
use planforge_contract::{
    ActionInterface, ActionMaterials, ActionSignature, ExampleMaterials, Given, Materials, Sentences,
    TaskView, TypedName,
};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast;
use std::collections::BTreeMap;

/// The view of a task under what the pipeline is given. `example` is the suite that the in-context example comes from, where
/// the pipeline names one.
///
/// # Errors
/// All of: `suite.no-text` where texts are given that the suite does not have, `suite.no-reference` where something is given that the suite does not have, `suite.withheld` where the suite's
/// manifest forbids to give it, `suite.own-example` where the example would show the suite's own reference.
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
            _ => view.domain("interface").map(|d| signatures(&d)),
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
            _ => view.problem("objects").map(|p| objects_of(&p, given.domain, suite)),
        })
        .flatten()
        .unwrap_or_default();
    if let Some(class) = given.actions {
        view.domain("actions");
        if !given.predicates {
            view.found.extend(actions::telling_names(suite, class));
        }
    }
    let result = TaskView {
        // A question may be given the suite's name as the domain's.
        suite: suite
            .disguise
            .as_ref()
            .map_or_else(|| suite.name.clone(), |disguise| disguise.names.name(&suite.name)),
        task: task.stem.clone(),
        domain_text: if given.text { suite.domain_text.clone() } else { String::new() },
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

    /// A suite that was read for a pipeline without texts may have none.
    fn texts(&mut self, given: &GivenSpec) {
        let files = [
            ("domain.nl".to_owned(), &self.suite.domain_text),
            (format!("{}.nl", self.task.stem), &self.task.text),
        ];
        for (file, _) in files.iter().filter(|(_, text)| given.text && text.trim().is_empty()) {
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
        let diagnostic = Diagnostic::error("suite.no-reference", message).help(format!(
            "add {file} to {}{}",
            self.suite.folder.display(),
            match part {
                "interface" | "objects" => ", or give the pipeline an [environment] that tells it",
                _ => "",
            }
        ));
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
        fill(&mut materials.templates.domain, suite.domain_template.as_ref());
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
        let of_suite = actions::materials(suite, class, given.predicates);
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

/// The sentences of the domain's predicates, without those of its functions.
fn sentences_of_predicates(suite: &Suite) -> BTreeMap<String, Sentences> {
    let domain = suite.reference_domain.as_deref().unwrap_or_default();
    let functions = planforge_pddl::parse_domain(domain, SourceId(0)).value.functions;
    let is_function = |name: &str| functions.iter().any(|f| f.name.as_str().eq_ignore_ascii_case(name));
    let sentences = suite.sentences.iter().filter(|(name, _)| !is_function(name));
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
