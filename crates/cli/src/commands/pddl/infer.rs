//! `planforge pddl infer`: an intermediate representation completed by the reasoner and compiled to a problem.

use crate::args::positive_seconds;
use crate::context::Context;
use crate::derivation;
use crate::exit::{Exit, of_failure};
use crate::files::refuse_part_of_run;
use crate::inference::Inferrer;
use crate::inputs::read_text;
use crate::progress::counting;
use crate::tasks::add_on;
use clap::Args;
use planforge_contract::{
    Candidate, CandidatePatch, Failure, FailureClass, Given, Inference, Materials, ReportedDiagnostic,
    ReportedSeverity, TaskView, TranslateRequest,
};
use planforge_diagnostics::{Diagnostic, Label, Severity, SourceMap, Span};
use planforge_pipeline::load_without_tasks;
use planforge_plugin_common::judging::reports::InferReport;
use planforge_translator_asp::{AspTranslatorOptions, Limits, Mode};
use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

/// Complete an intermediate representation and compile it to a problem (Translate-Infer-Compile).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl infer --suite examples/suites/blocks examples/suites/blocks/p_example.lp
  planforge pddl infer --domain domain.pddl --knowledge knowledge.lp task.lp --out task.pddl
  planforge pddl infer --suite examples/suites/blocks task.lp --explain
  planforge pddl infer --domain domain.pddl task.lp --json")]
pub(crate) struct InferArgs {
    /// The intermediate representation: facts and rules that state what a text states.
    pub(crate) ir: PathBuf,
    /// The domain.
    #[arg(long, value_name = "FILE", required_unless_present = "suite")]
    pub(crate) domain: Option<PathBuf>,
    /// Rules that complete representations of the domain.
    #[arg(long, value_name = "FILE")]
    pub(crate) knowledge: Option<PathBuf>,
    /// A suite folder: takes its domain.pddl and knowledge.lp, unless the options above name others.
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// A folder whose knowledge.lp replaces that of the suite: DIR/SUITE or DIR. Repeatable.
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub(crate) add_on: Vec<PathBuf>,
    /// Write the problem into this file instead of printing it.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Also print the origin of each object, fact and number of the problem.
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,
    /// Give up after this many seconds.
    #[arg(long, value_name = "S", default_value_t = 20.0, value_parser = positive_seconds)]
    pub(crate) time_limit: f64,
    /// Give up when the child process that reasons holds more than this many megabytes.
    #[arg(long, value_name = "MB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(64..=2048))]
    pub(crate) memory_limit: u32,
    /// Limit: answer sets compared if there are several. They must be the same problem up to the names of
    /// objects.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) models: u32,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &InferArgs) -> Exit {
    let texts = match Texts::read(context, args) {
        Ok(texts) => texts,
        Err(exit) => return exit,
    };
    let inferrer = match Inferrer::new(context, &options(args)) {
        Ok(inferrer) => inferrer,
        Err(failure) => return context.print_failure(&failure),
    };
    let bar = counting(&context.output, 0, "inferring");
    let answer = inferrer.call(context, &texts.request());
    bar.finish_and_clear();
    match answer {
        Ok(patch) => print_inferred(context, args, &texts, patch),
        Err(failure) => print_refusal(context, args, &texts, &failure),
    }
}

/// The texts that the inference is made from, under the names that diagnostics have for them.
struct Texts {
    suite: String,
    task: String,
    domain: Named,
    knowledge: Option<Named>,
    ir: Named,
}

/// A text and what a person calls it.
struct Named {
    name: String,
    text: String,
}

impl Texts {
    fn read(context: &Context, args: &InferArgs) -> Result<Self, Exit> {
        let file = |path: &Path| {
            let name = path.display().to_string();
            read_text(path).map(|text| Named { name, text }).map_err(|diagnostic| {
                context.output.diagnostics(&[*diagnostic], &SourceMap::default());
                Exit::Input
            })
        };
        let (mut suite, mut domain, mut knowledge) = (String::new(), None, None);
        if let Some(folder) = &args.suite {
            let loaded = load_without_tasks(folder);
            context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
            let mut suites = vec![loaded.suite.ok_or(Exit::Input)?];
            add_on(context, &args.add_on, &mut suites)?;
            for found in suites {
                let named = |name: &str, text| Named { name: folder.join(name).display().to_string(), text };
                suite = found.name;
                domain = found.reference_domain.map(|text| named("domain.pddl", text));
                knowledge = found.knowledge.map(|text| named("knowledge.lp", text));
            }
        }
        if let Some(path) = &args.domain {
            domain = Some(file(path)?);
        }
        if let Some(path) = &args.knowledge {
            knowledge = Some(file(path)?);
        }
        let Some(domain) = domain else {
            context.output.note("error: the suite has no domain.pddl");
            context.output.note("help: name a domain with --domain FILE");
            return Err(Exit::Input);
        };
        let stem = args.ir.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        Ok(Self { suite, task: stem.unwrap_or_default(), domain, knowledge, ir: file(&args.ir)? })
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
                texts: [("ir", self.ir.text.clone())].into_iter().collect(),
                ..Candidate::default()
            },
            n: 1,
            ..TranslateRequest::default()
        }
    }

    /// Prints findings with the lines that they are about.
    fn show(&self, context: &Context, found: &[ReportedDiagnostic], problem: Option<&str>) {
        let mut sources = SourceMap::default();
        let mut ids = BTreeMap::new();
        let named =
            [("ir", Some(&self.ir)), ("knowledge", self.knowledge.as_ref()), ("domain", Some(&self.domain))];
        for (name, source) in named {
            if let Some(source) = source {
                ids.insert(name, sources.add(source.name.clone(), source.text.clone()));
            }
        }
        if let Some(problem) = problem {
            ids.insert("problem", sources.add("problem", problem));
        }
        let diagnostics: Vec<Diagnostic> = found
            .iter()
            .map(|d| {
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
            })
            .collect();
        context.output.diagnostics(&diagnostics, &sources);
    }
}

fn options(args: &InferArgs) -> AspTranslatorOptions {
    AspTranslatorOptions {
        mode: Mode::Infer,
        models: args.models,
        limits: Limits { time_s: args.time_limit, memory_mb: args.memory_limit, ..Limits::default() },
        ..Default::default()
    }
}

fn print_inferred(context: &Context, args: &InferArgs, texts: &Texts, patch: CandidatePatch) -> Exit {
    let problem = patch.problem.unwrap_or_default();
    if let Some(Err(failure)) = args.out.as_deref().map(refuse_part_of_run) {
        return context.print_failure(&failure);
    }
    if let Some(path) = &args.out
        && let Err(error) = std::fs::write(path, &problem)
    {
        let message = format!("{} cannot be written: {error}", path.display());
        let diagnostic = Diagnostic::error("cli.unwritable-file", message);
        context.output.diagnostics(&[diagnostic], &SourceMap::default());
        return Exit::System;
    }
    if args.json {
        context.output.json(&InferReport {
            decision: "inferred".to_owned(),
            problem: Some(problem),
            inference: patch.inference,
            message: None,
            diagnostics: patch.diagnostics,
        });
        return Exit::Good;
    }
    texts.show(context, &patch.diagnostics, Some(&problem));
    if args.out.is_none() {
        context.output.result(&problem);
    }
    if args.explain {
        context.output.result(&explanation_text(&patch.inference.unwrap_or_default(), args.out.is_none()));
    }
    Exit::Good
}

/// The origin of each part of the problem, and the lines without effect. `behind`: the problem is printed
/// first.
fn explanation_text(inference: &Inference, behind: bool) -> String {
    let mut out = String::new();
    let mut gap = behind;
    for entry in &inference.entries {
        if std::mem::replace(&mut gap, true) {
            out.push('\n');
        }
        out.push_str(&derivation::tree(inference, entry));
    }
    out.push('\n');
    out.push_str(&derivation::idle(inference));
    out
}

/// No problem: why, with what was found.
fn print_refusal(context: &Context, args: &InferArgs, texts: &Texts, failure: &Failure) -> Exit {
    let (decision, exit) = match (failure.class, failure.code.as_str()) {
        (FailureClass::Reply, "translate-asp.refused") => ("refused", Exit::Negative),
        (FailureClass::Reply, "translate-asp.conflict") => ("conflict", Exit::Negative),
        (FailureClass::Reply, "translate-asp.ambiguous") => ("ambiguous", Exit::Negative),
        (FailureClass::Reply, "translate-asp.not-compiled") => ("not-compiled", Exit::Negative),
        (FailureClass::Limit, "translate-asp.size") => ("undecided", Exit::MemoryLimit),
        (FailureClass::Limit, _) => ("undecided", of_failure(failure)),
        (_, "translate-asp.knowledge" | "translate-asp.no-domain") => ("failed", Exit::Input),
        _ => ("failed", of_failure(failure)),
    };
    if args.json {
        context.output.json(&InferReport {
            decision: decision.to_owned(),
            problem: None,
            inference: None,
            message: Some(failure.message.clone()),
            diagnostics: failure.diagnostics.to_vec(),
        });
        return exit;
    }
    if failure.diagnostics.is_empty() {
        context.print_failure(failure);
    } else {
        texts.show(context, &failure.diagnostics, None);
    }
    context
        .output
        .result(&format!("{decision}: {}\n", planforge_diagnostics::render::escape(&failure.message)));
    exit
}
