//! Diagnostics of a document.

use super::CheckPipeline;
use super::analysis::{Analysis, Content, MAX_TEXT_BYTES};
use super::workspace::{Document, DocumentKind, Workspace, path_of};
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::{TaskSources, check_domain, check_problem};
use planforge_pipeline::read_sentences;
use planforge_planning::{CountingLimits, normalize, why_unsolvable};

/// Polls of the search for reasons why a goal can never hold: some milliseconds.
const REASON_POLLS: u64 = 20_000;

/// Bytes of domain and problem together up to which reasons are looked for while somebody types.
const REASON_BYTES: usize = 200 << 10;

const REASON_LIMITS: CountingLimits = CountingLimits { polls: REASON_POLLS, bytes: 64 << 20 };

/// The source that a domain has in the findings of its problem.
pub const DOMAIN_SOURCE: SourceId = SourceId(1);

/// Everything that is wrong with a document. Spans are in source 0, those of a problem's domain in [`DOMAIN_SOURCE`].
pub fn findings(
    workspace: &Workspace,
    uri: &str,
    document: &Document,
    check_pipeline: &CheckPipeline<'_>,
) -> Vec<Diagnostic> {
    if document.is_too_large() {
        let message = format!(
            "the document has {} bytes; at most {} MiB are checked",
            document.text.len(),
            MAX_TEXT_BYTES >> 20
        );
        return vec![Diagnostic::warning("pddl.too-large", message).at(SourceId(0), Span::empty(0), "")];
    }
    match document.kind {
        DocumentKind::Pddl => match document.analysis() {
            Some(analysis) => pddl(workspace, uri, &analysis),
            None => Vec::new(),
        },
        DocumentKind::Knowledge => knowledge(workspace, uri, document),
        DocumentKind::Sentences => sentences(workspace, uri, document),
        DocumentKind::Toml if is_pipeline(&document.text) => {
            let name = path_of(uri).map_or_else(|| uri.to_owned(), |path| path.display().to_string());
            check_pipeline(&document.text, &name)
        }
        DocumentKind::Toml | DocumentKind::Other => Vec::new(),
    }
}

/// True if a TOML text has a table of stages; it need not be readable.
fn is_pipeline(text: &str) -> bool {
    let is_stage =
        |line: &str| line.trim_start().starts_with("[[stage") || line.trim_start().starts_with("[llm.");
    text.lines().any(is_stage)
}

fn pddl(workspace: &Workspace, uri: &str, analysis: &Analysis) -> Vec<Diagnostic> {
    let mut found = analysis.findings.clone();
    let own = SourceId(0);
    match &analysis.content {
        Content::Domain(domain) if **domain != Default::default() => found.extend(check_domain(domain, own)),
        Content::Problem(problem) if **problem != Default::default() => {
            let Some((_, beside)) = workspace.domain_for(uri) else {
                found.extend(no_domain(analysis));
                return found;
            };
            let Some(domain) = beside.domain() else { return found };
            let sources = TaskSources { domain: DOMAIN_SOURCE, problem: own };
            let in_problem = |d: &Diagnostic| d.primary().is_none_or(|label| label.source == own);
            found.extend(check_problem(domain, problem, sources).into_iter().filter(in_problem));
            let is_small = analysis.text.len() + beside.text.len() <= REASON_BYTES;
            if is_small
                && !found.iter().any(Diagnostic::is_error)
                && beside.findings.iter().all(|d| !d.is_error())
            {
                found.extend(reasons(domain, problem));
            }
        }
        Content::Domain(_) | Content::Problem(_) => {}
    }
    found
}

/// Reasons why the goal can never hold, at their places in the problem.
fn reasons(domain: &planforge_pddl::ast::Domain, problem: &planforge_pddl::ast::Problem) -> Vec<Diagnostic> {
    let Ok(task) = normalize(domain, problem) else { return Vec::new() };
    let mut limits = REASON_LIMITS;
    let mut found = why_unsolvable(&task, &mut limits).diagnostics();
    let problem_source = planforge_planning::task::TaskText::Problem.source();
    for label in found.iter_mut().flat_map(|d| &mut d.labels) {
        label.source = if label.source == problem_source { SourceId(0) } else { DOMAIN_SOURCE };
    }
    found.retain(|d| d.primary().is_some_and(|label| label.source == SourceId(0)));
    found
}

fn no_domain(analysis: &Analysis) -> Option<Diagnostic> {
    let name = analysis.problem()?.domain_name.as_ref()?;
    let message =
        format!("no file beside this one defines the domain `{name}`, so the problem is checked alone");
    Some(Diagnostic::advice("lsp.no-domain", message).at(SourceId(0), name.span, ""))
}

fn knowledge(workspace: &Workspace, uri: &str, document: &Document) -> Vec<Diagnostic> {
    let parsed = planforge_asp::syntax::parse(&document.text, SourceId(0));
    let mut found = parsed.diagnostics;
    if let Some((_, beside)) = workspace.domain_for(uri)
        && let Some(domain) = beside.domain()
    {
        found.extend(planforge_asp::read_knowledge(&parsed.program, domain, SourceId(0)).1);
    }
    found
}

fn sentences(workspace: &Workspace, uri: &str, document: &Document) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if let Some((_, beside)) = workspace.domain_for(uri) {
        read_sentences(&document.text, SourceId(0), &beside.text, &mut found);
    }
    found
}
