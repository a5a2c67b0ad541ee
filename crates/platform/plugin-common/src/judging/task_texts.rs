//! Domain, problem and plan as texts: read and checked together, with every mistake in one list.

use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_pddl::TaskSources;
use planforge_pddl::ast::{Domain, Problem};
use planforge_planning::{ResourceLimits, ValidationReport, Validator, normalize, parse_plan};

/// A text with the name that diagnostics give it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NamedText {
    /// Path of the file, or the text's role: `domain`, `problem`, `plan`.
    pub name: String,
    /// `None` if it could not be read.
    pub text: Option<String>,
    /// Finding of reading the file, if any.
    pub finding: Option<Diagnostic>,
}

impl NamedText {
    /// A text that was read.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: Some(text.into()), finding: None }
    }
}

/// The readable parts of a domain and a problem, and all diagnostics.
#[derive(Debug, Clone, Default)]
pub struct TaskTexts {
    /// The texts: the domain is source 0, the problem source 1.
    pub sources: SourceMap,
    /// Findings, in the order of the texts.
    pub diagnostics: Vec<Diagnostic>,
    /// `None` if nothing of it could be read.
    pub domain: Option<Domain>,
    /// `None` if there is none, or nothing of it could be read.
    pub problem: Option<Problem>,
}

impl TaskTexts {
    /// Reads a domain and, where given, a problem; checks each and both together.
    pub fn read(domain: NamedText, problem: Option<NamedText>) -> Self {
        let mut texts = Self::default();
        let (domain_source, text) = texts.add(domain);
        if let Some(text) = text {
            let parsed = planforge_pddl::parse_domain(&text, domain_source);
            texts.diagnostics.extend(parsed.diagnostics);
            texts.domain = read_anything(parsed.value);
        }
        let problem_source = problem.map(|problem| {
            let (source, text) = texts.add(problem);
            if let Some(text) = text {
                let parsed = planforge_pddl::parse_problem(&text, source);
                texts.diagnostics.extend(parsed.diagnostics);
                texts.problem = read_anything(parsed.value);
            }
            source
        });
        if let Some(domain) = &texts.domain {
            texts.diagnostics.extend(planforge_pddl::check_domain(domain, domain_source));
            if let (Some(problem), Some(problem_source)) = (&texts.problem, problem_source) {
                let sources = TaskSources { domain: domain_source, problem: problem_source };
                texts.diagnostics.extend(planforge_pddl::check_problem(domain, problem, sources));
            }
        }
        texts
    }

    /// Adds a text to the sources, with the finding of reading it.
    pub fn add(&mut self, named: NamedText) -> (SourceId, Option<String>) {
        let NamedText { name, text, finding } = named;
        let source = self.sources.add(name, text.clone().unwrap_or_default());
        self.diagnostics.extend(finding.map(|mut finding| {
            finding.labels.iter_mut().for_each(|label| label.source = source);
            finding
        }));
        (source, text)
    }

    /// True if a diagnostic makes the texts unusable.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Checks that planning and plan validation accept domain and problem; adds what is wrong.
    pub fn check_task(&mut self) {
        if let (Some(domain), Some(problem), false) = (&self.domain, &self.problem, self.has_errors())
            && let Err(diagnostics) = normalize(domain, problem)
        {
            self.diagnostics.extend(diagnostics);
        }
    }

    /// Validates a plan and adds its diagnostics. `None` if task or plan cannot be used.
    pub fn validate_plan(
        &mut self,
        source: SourceId,
        plan: &str,
        limits: &mut dyn ResourceLimits,
    ) -> Option<ValidationReport> {
        // A plan cannot be right for a task that cannot be used.
        let (Some(domain), Some(problem), false) = (&self.domain, &self.problem, self.has_errors()) else {
            return None;
        };
        let plan = parse_plan(plan, source);
        if plan.diagnostics.iter().any(Diagnostic::is_error) {
            // What else is wrong with a plan of which a part could not be read says nothing about the plan that was meant.
            self.diagnostics.extend(plan.diagnostics);
            return None;
        }
        match normalize(domain, problem) {
            Err(diagnostics) => {
                self.diagnostics.extend(diagnostics);
                None
            }
            Ok(task) => {
                let report = Validator::new(task).validate_within(&plan, limits);
                self.diagnostics.extend(report.diagnostics.iter().cloned());
                Some(report)
            }
        }
    }
}

/// `None` if nothing could be read: the reason is already reported, and an empty value would give follow-up
/// errors.
fn read_anything<T: Default + PartialEq>(value: T) -> Option<T> {
    (value != T::default()).then_some(value)
}
