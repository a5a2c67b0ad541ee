//! A suite under other names: every part of it goes through one [`Disguise`].

use super::actions::{ActionTexts, PredicateText, random_text};
use super::data::{Example, Suite, SuiteDisguise, SuiteTask};
use super::files::Folder;
use planforge_contract::Sentences;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_obfuscate::{Disguise, DisguiseOptions, Sources};
use planforge_pddl::parse_domain;
use std::collections::BTreeMap;
use std::sync::Arc;

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
