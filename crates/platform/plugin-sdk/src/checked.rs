//! A candidate's domain and problem, read and checked: what every verifier that judges PDDL begins with.

use crate::wording::Quote;
use planforge_contract::{Candidate, Given, ReportedDiagnostic, ReportedSeverity};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, Span};
use planforge_pddl::{TaskSources, ast, check_domain, check_problem, parse_domain, parse_problem};

/// A candidate's PDDL: its own or, where it has none, the given one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Texts<'a> {
    /// The domain, where there is one that is not blank.
    pub domain: Option<&'a str>,
    /// The problem, where there is one that is not blank.
    pub problem: Option<&'a str>,
}

impl<'a> Texts<'a> {
    /// The candidate's texts, or else the given ones.
    pub fn of(candidate: &'a Candidate, given: &'a Given) -> Self {
        let present = |text: &'a Option<String>| text.as_deref().filter(|t| !t.trim().is_empty());
        Self {
            domain: present(&candidate.domain).or(present(&given.domain)),
            problem: present(&candidate.problem).or(present(&given.problem)),
        }
    }
}

/// The parsed texts with their diagnostics.
#[derive(Debug)]
pub struct Checked {
    /// The readable part of the domain.
    pub domain: Option<ast::Domain>,
    /// The readable part of the problem.
    pub problem: Option<ast::Problem>,
    /// Everything found so far.
    pub diagnostics: Vec<ReportedDiagnostic>,
    /// Source 0 is the domain, source 1 the problem, source 2 the plan; all are there even where a text is missing.
    pub sources: SourceMap,
}

impl Checked {
    /// Number of findings of a severity.
    pub fn count(&self, severity: ReportedSeverity) -> usize {
        self.diagnostics.iter().filter(|d| d.severity == severity).count()
    }

    /// Converts findings in these texts to documents; see [`Checked::sources`].
    pub fn report(&self, diagnostics: &[Diagnostic]) -> Vec<ReportedDiagnostic> {
        diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &self.sources)).collect()
    }

    /// The line of a text at which a span begins, for quoting; `None` where there is no such text.
    pub fn quote(&self, source: SourceId, span: Span) -> Option<Quote> {
        let file = self.sources.get(source)?;
        let line = file.line_column(span.start).line;
        let text = self.line(source, line).unwrap_or_default();
        Some(Quote { file: file.name.clone(), line, text })
    }

    /// A line of a text, without its indentation and at most 200 characters of it; `None` where it is blank or missing.
    pub fn line(&self, source: SourceId, line: u32) -> Option<String> {
        let text = self.sources.get(source)?.text.as_str();
        let line = text.lines().nth(line.checked_sub(1)? as usize)?.trim();
        (!line.is_empty()).then(|| line.chars().take(200).collect())
    }
}

/// Reads both texts and checks them, the problem against the domain where there is one. The plan's text is kept for places.
pub fn check(texts: Texts<'_>, plan: &str) -> Checked {
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
