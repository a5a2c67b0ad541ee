//! An intermediate representation completed by the reasoner and compiled to a problem (Translate-Infer-Compile).

use crate::context::Context;
use crate::error::Error;
use crate::files::refuse_part_of_run;
use crate::inference::Inferrer;
use crate::inputs::{Findings, Source};
use crate::pipelines::tasks::add_on;
use crate::status::{Status, of_failure};
use planforge_contract::{
    Candidate, CandidatePatch, Failure, FailureClass, Given, Materials, ReportedDiagnostic, ReportedSeverity,
    TaskView, TranslateRequest,
};
use planforge_diagnostics::{Diagnostic, Label, Severity, SourceMap, Span};
use planforge_pipeline::load_without_tasks;
pub use planforge_plugin_common::judging::reports::InferReport;
use planforge_translator_asp::{AspTranslatorOptions, Limits, Mode};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A representation to complete and compile.
#[derive(Debug, Clone)]
pub struct InferRequest {
    /// The intermediate representation: facts and rules that state what a text states.
    pub representation: Source,
    /// The domain; without it the suite's.
    pub domain: Option<Source>,
    /// Rules that complete representations of the domain; without them the suite's.
    pub knowledge: Option<Source>,
    /// A suite folder.
    pub suite: Option<PathBuf>,
    /// Folders whose knowledge.lp replaces that of the suite.
    pub add_ons: Vec<PathBuf>,
    /// The file that the problem is written into.
    pub out: Option<PathBuf>,
    /// Seconds.
    pub seconds: f64,
    /// Megabytes of the child process that reasons.
    pub memory_mb: u32,
    /// Answer sets that are compared if there are several.
    pub models: u32,
}

/// The problem, or the reason why there is none. Its JSON form is the report.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct InferResult {
    /// The result as a document.
    pub report: InferReport,
    /// The reason why there is no problem.
    #[serde(skip)]
    pub failure: Option<Failure>,
    /// Findings in the representation, the knowledge and the problem.
    #[serde(skip)]
    pub findings: Findings,
    /// Negative if no problem follows, else the limit or the failure.
    #[serde(skip)]
    pub status: Status,
}

/// Completes a representation and compiles it.
///
/// # Errors
/// Files that cannot be read or written, a suite with errors, a reasoner that cannot be created.
pub fn infer(context: &Context, request: &InferRequest) -> Result<InferResult, Error> {
    let texts = Texts::read(context, request)?;
    let inferrer = Inferrer::new(context, &options(request))?;
    let progress = context.start_work("inferring", None);
    let answer = inferrer.call(context, &texts.request());
    drop(progress);
    match answer {
        Ok(patch) => inferred(context, request, &texts, patch),
        Err(failure) => Ok(refused(&texts, failure)),
    }
}

/// The texts that the inference is made from, under the names that findings have for them.
struct Texts {
    suite: String,
    task: String,
    domain: Named,
    knowledge: Option<Named>,
    representation: Named,
}

/// A text and what a person calls it.
struct Named {
    name: String,
    text: String,
}

impl Texts {
    fn read(context: &Context, request: &InferRequest) -> Result<Self, Error> {
        let read = |source: &Source| {
            let named =
                source.read_text(context).map(|text| Named { name: source.name().into_owned(), text });
            named.map_err(|found| Error::findings(Status::Input, vec![*found], SourceMap::default()))
        };
        let (mut suite, mut domain, mut knowledge) = (String::new(), None, None);
        if let Some(folder) = &request.suite {
            let loaded = load_without_tasks(&context.path(folder));
            let Some(found) = loaded.suite else {
                return Err(Error::findings(Status::Input, loaded.diagnostics, loaded.sources));
            };
            context.findings(&loaded.diagnostics, &loaded.sources);
            let mut suites = vec![found];
            let add_ons: Vec<PathBuf> = request.add_ons.iter().map(|path| context.path(path)).collect();
            add_on(context, &add_ons, &mut suites)?;
            for found in suites {
                let named = |name: &str, text| Named { name: folder.join(name).display().to_string(), text };
                suite = found.name;
                domain = found.reference_domain.map(|text| named("domain.pddl", text));
                knowledge = found.knowledge.map(|text| named("knowledge.lp", text));
            }
        }
        if let Some(source) = &request.domain {
            domain = Some(read(source)?);
        }
        if let Some(source) = &request.knowledge {
            knowledge = Some(read(source)?);
        }
        let Some(domain) = domain else {
            let help = "name a domain with --domain FILE";
            let error = Error::usage("the suite has no domain.pddl", Some(help));
            return Err(error.with_status(Status::Input));
        };
        let task = match &request.representation {
            Source::File(path) => path.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
            Source::Text { name, .. } | Source::Bytes { name, .. } => Some(name.clone()),
        };
        let representation = read(&request.representation)?;
        Ok(Self { suite, task: task.unwrap_or_default(), domain, knowledge, representation })
    }

    fn request(&self) -> TranslateRequest {
        let knowledge = self.knowledge.as_ref().map(|k| k.text.clone());
        TranslateRequest {
            task: TaskView {
                suite: self.suite.clone(),
                task: self.task.clone(),
                given: Given { domain: Some(self.domain.text.clone()), problem: None },
                materials: Materials { knowledge, ..Materials::default() },
                ..TaskView::default()
            },
            candidate: Candidate {
                texts: [("ir", self.representation.text.clone())].into_iter().collect(),
                ..Candidate::default()
            },
            n: 1,
            ..TranslateRequest::default()
        }
    }

    /// The findings with the lines that they are about.
    fn findings(&self, found: &[ReportedDiagnostic], problem: Option<&str>) -> Findings {
        let mut sources = SourceMap::default();
        let mut ids = BTreeMap::new();
        let named = [
            ("ir", Some(&self.representation)),
            ("knowledge", self.knowledge.as_ref()),
            ("domain", Some(&self.domain)),
        ];
        for (name, source) in named {
            if let Some(source) = source {
                ids.insert(name, sources.add(source.name.clone(), source.text.clone()));
            }
        }
        if let Some(problem) = problem {
            ids.insert("problem", sources.add("problem", problem));
        }
        let diagnostic = |d: &ReportedDiagnostic| {
            let label = ids.get(d.file.as_str()).filter(|_| d.line > 0).map(|source| Label {
                source: *source,
                span: Span::new(d.start, d.end),
                message: String::new(),
                primary: true,
            });
            Diagnostic {
                code: d.code.clone().into(),
                severity: match d.severity {
                    ReportedSeverity::Error => Severity::Error,
                    ReportedSeverity::Warning => Severity::Warning,
                    ReportedSeverity::Advice => Severity::Advice,
                },
                message: d.message.clone(),
                labels: label.into_iter().collect(),
                help: d.help.clone(),
                fix: None,
            }
        };
        Findings { diagnostics: found.iter().map(diagnostic).collect(), sources }
    }
}

fn options(request: &InferRequest) -> AspTranslatorOptions {
    AspTranslatorOptions {
        mode: Mode::Infer,
        models: request.models,
        limits: Limits { time_s: request.seconds, memory_mb: request.memory_mb, ..Limits::default() },
        ..Default::default()
    }
}

/// Writes the problem, if a file was named.
fn inferred(
    context: &Context,
    request: &InferRequest,
    texts: &Texts,
    patch: CandidatePatch,
) -> Result<InferResult, Error> {
    let problem = patch.problem.unwrap_or_default();
    if let Some(path) = &request.out {
        let to = context.path(path);
        refuse_part_of_run(&to)?;
        std::fs::write(to, &problem).map_err(|error| {
            let message = format!("{} cannot be written: {error}", path.display());
            let diagnostic = Diagnostic::error("cli.unwritable-file", message);
            Error::findings(Status::System, vec![diagnostic], SourceMap::default())
        })?;
    }
    let findings = texts.findings(&patch.diagnostics, Some(&problem));
    let report = InferReport {
        decision: "inferred".to_owned(),
        problem: Some(problem),
        inference: patch.inference,
        message: None,
        diagnostics: patch.diagnostics,
    };
    Ok(InferResult { report, failure: None, findings, status: Status::Good })
}

/// No problem: why, with what was found.
fn refused(texts: &Texts, mut failure: Failure) -> InferResult {
    // The plugin's help names the keys of a stage. Here options set these limits, and the front names them.
    if ["translate-asp.time", "host.worker-memory"].contains(&failure.code.as_str()) {
        failure.help = Some("write rules that end, or that have fewer instances".to_owned());
    }
    let (decision, status) = match (failure.class, failure.code.as_str()) {
        (FailureClass::Reply, "translate-asp.refused") => ("refused", Status::Negative),
        (FailureClass::Reply, "translate-asp.conflict") => ("conflict", Status::Negative),
        (FailureClass::Reply, "translate-asp.ambiguous") => ("ambiguous", Status::Negative),
        (FailureClass::Reply, "translate-asp.not-compiled") => ("not-compiled", Status::Negative),
        (FailureClass::Limit, "translate-asp.size") => ("undecided", Status::MemoryLimit),
        (FailureClass::Limit, _) => ("undecided", of_failure(&failure)),
        (_, "translate-asp.knowledge" | "translate-asp.no-domain") => ("failed", Status::Input),
        _ => ("failed", of_failure(&failure)),
    };
    let report = InferReport {
        decision: decision.to_owned(),
        problem: None,
        inference: None,
        message: Some(failure.message.clone()),
        diagnostics: failure.diagnostics.to_vec(),
    };
    let findings = texts.findings(&failure.diagnostics, None);
    InferResult { report, failure: Some(failure), findings, status }
}
