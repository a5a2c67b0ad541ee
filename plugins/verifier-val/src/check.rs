//! Reads and checks a candidate's domain and problem.

use planforge_contract::{Candidate, Given, ReportedDiagnostic, ReportedSeverity};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pddl::{TaskSources, ast, check_domain, check_problem, parse_domain, parse_problem};

/// A candidate's PDDL: its own or, where it has none, the given one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Texts<'a> {
    pub(crate) domain: Option<&'a str>,
    pub(crate) problem: Option<&'a str>,
}

impl<'a> Texts<'a> {
    /// What there is to judge.
    pub(crate) fn of(candidate: &'a Candidate, given: &'a Given) -> Self {
        let present = |text: &'a Option<String>| text.as_deref().filter(|t| !t.trim().is_empty());
        Self {
            domain: present(&candidate.domain).or(present(&given.domain)),
            problem: present(&candidate.problem).or(present(&given.problem)),
        }
    }
}

/// What reading and checking found.
pub(crate) struct Checked {
    pub(crate) domain: Option<ast::Domain>,
    pub(crate) problem: Option<ast::Problem>,
    pub(crate) diagnostics: Vec<ReportedDiagnostic>,
    /// Source 0 is the domain, source 1 the problem, source 2 the plan; all are there even where a text is missing.
    pub(crate) sources: SourceMap,
}

impl Checked {
    pub(crate) fn count(&self, severity: ReportedSeverity) -> usize {
        self.diagnostics.iter().filter(|d| d.severity == severity).count()
    }

    pub(crate) fn report(&self, diagnostics: &[Diagnostic]) -> Vec<ReportedDiagnostic> {
        diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &self.sources)).collect()
    }
}

/// Reads both texts and checks them, the problem against the domain where there is one. The plan's text is kept for places.
pub(crate) fn check(texts: Texts<'_>, plan: &str) -> Checked {
    let ids = TaskSources::default();
    let mut sources = SourceMap::default();
    sources.add("domain", texts.domain.unwrap_or_default());
    sources.add("problem", texts.problem.unwrap_or_default());
    sources.add("plan", plan);
    let domain = texts.domain.map(|text| parse_domain(text, ids.domain));
    let problem = texts.problem.map(|text| parse_problem(text, ids.problem));
    let mut found: Vec<Diagnostic> = Vec::new();
    if let Some(domain) = &domain {
        found.extend(domain.diagnostics.iter().cloned());
        found.extend(check_domain(&domain.value, ids.domain));
    }
    if let Some(problem) = &problem {
        found.extend(problem.diagnostics.iter().cloned());
    }
    if let (Some(domain), Some(problem)) = (&domain, &problem) {
        found.extend(check_problem(&domain.value, &problem.value, ids));
    }
    let mut checked = Checked {
        domain: domain.map(|d| d.value),
        problem: problem.map(|p| p.value),
        diagnostics: Vec::new(),
        sources,
    };
    checked.diagnostics = checked.report(&found);
    checked
}
