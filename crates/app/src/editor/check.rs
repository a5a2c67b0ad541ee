//! Diagnostics of a document, as findings of the protocol; quick fixes and formatting.

use super::CheckPipeline;
use super::analysis::{Analysis, Content, MAX_TEXT_BYTES};
use super::position::{DocumentParams, Range};
use super::workspace::{Document, DocumentKind, Workspace, path_of};
use planforge_diagnostics::{Diagnostic, Severity, SourceId, Span};
use planforge_format::format_pddl;
use planforge_pddl::extract::BlockKind;
use planforge_pddl::{TaskSources, check_domain, check_problem, fix_all};
use planforge_pipeline::read_sentences;
use planforge_planning::{CountingLimits, normalize, why_unsolvable};
use serde_json::{Value, json};

/// Polls of the search for reasons why a goal can never hold. Grounding polls once in 256 actions, so the bytes bound it.
const REASON_POLLS: u64 = 20_000;

/// Bytes of domain and problem together up to which reasons are looked for while somebody types.
const REASON_BYTES: usize = 200 << 10;

const REASON_LIMITS: CountingLimits = CountingLimits { polls: REASON_POLLS, bytes: 8 << 20 };

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

/// Most diagnostics that are sent for a document.
pub const MOST_DIAGNOSTICS: usize = 1_000;

/// A finding about a document. `domain` is what labels in [`DOMAIN_SOURCE`] point into.
pub fn diagnostic(
    uri: &str,
    document: &Document,
    finding: &Diagnostic,
    domain: Option<(&str, &Analysis)>,
) -> Value {
    let own = |source| source == SourceId(0);
    let primary = finding.primary().filter(|label| own(label.source));
    let span = primary.map_or(Span::empty(0), |label| label.span);
    let mut message = finding.message.clone();
    if let Some(label) = primary.filter(|label| !label.message.is_empty()) {
        message += &format!(": {}", label.message);
    }
    for help in &finding.help {
        message += &format!("\nhelp: {help}");
    }
    let others =
        finding.labels.iter().filter(|label| primary.is_none_or(|primary| !std::ptr::eq(*label, primary)));
    let related: Vec<Value> = others
        .filter_map(|label| {
            let (uri, range) = match domain {
                _ if own(label.source) => (uri, document.index.range(&document.text, label.span)),
                Some((uri, domain)) => (uri, domain.index.range(&domain.text, label.span)),
                None => return None,
            };
            let message = if label.message.is_empty() { "here" } else { &label.message };
            Some(json!({ "location": { "uri": uri, "range": range }, "message": message }))
        })
        .collect();
    let severity = match finding.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Advice => 3,
    };
    let range = document.index.range(&document.text, span);
    let mut value = json!({ "range": range, "severity": severity, "code": finding.code, "source": "planforge", "message": message });
    if !related.is_empty() {
        value["relatedInformation"] = Value::Array(related);
    }
    value
}

/// The fixes of the findings in a range, and one that applies all fixes.
pub fn code_actions(workspace: &Workspace, params: &DocumentParams) -> Option<Value> {
    let uri = &params.text_document.uri;
    let document = workspace.documents.get(uri)?;
    let touches = |range: Range| range.start <= params.range.end && params.range.start <= range.end;
    let in_range = |d: &&Diagnostic| {
        d.primary().is_some_and(|label| touches(document.index.range(&document.text, label.span)))
    };
    let mut actions: Vec<Value> = Vec::new();
    for finding in document.findings.iter().filter(in_range) {
        let Some(fix) =
            finding.fix.as_ref().filter(|fix| fix.edits.iter().all(|edit| edit.source == SourceId(0)))
        else {
            continue;
        };
        let edits = fix.edits.iter().map(|edit| {
            json!({ "range": document.index.range(&document.text, edit.span), "newText": edit.replacement })
        });
        actions.push(json!({
            "title": capital(&fix.title),
            "kind": "quickfix",
            "isPreferred": true,
            "diagnostics": [super::check::diagnostic(uri, document, finding, None)],
            "edit": { "changes": { uri.as_str(): edits.collect::<Value>() } },
        }));
    }
    if document.findings.iter().filter(|finding| finding.fix.is_some()).count() > 1 {
        actions.extend(all_fixes(uri, document));
    }
    Some(Value::Array(actions))
}

fn all_fixes(uri: &str, document: &Document) -> Option<Value> {
    let analysis = document.analysis()?;
    let kind = if analysis.header.is_problem { BlockKind::Problem } else { BlockKind::Domain };
    let fixed = fix_all(&document.text, kind);
    let title = format!("Apply all {} fixes", fixed.fixes.len());
    let edit = replace_all(document, &fixed.text)?;
    Some(json!({ "title": title, "kind": "source.fixAll", "edit": { "changes": { uri: edit } } }))
}

/// The edits that format a document; none if it has errors of form.
pub fn format(workspace: &Workspace, uri: &str) -> Option<Value> {
    let document = workspace.documents.get(uri)?;
    document.analysis()?;
    let formatted = format_pddl(&document.text, SourceId(0)).ok()?;
    Some(replace_all(document, &formatted).unwrap_or_else(|| json!([])))
}

/// One edit that replaces the text; `None` if it stays the same.
fn replace_all(document: &Document, text: &str) -> Option<Value> {
    (document.text != text)
        .then(|| json!([{ "range": document.index.whole(&document.text), "newText": text }]))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
