//! The domain and problem before a reply is applied, and the patch that a reply makes of them.

use crate::apply::{EditTarget, Edited, apply, problem_faults};
use crate::calls::Functions;
use crate::{EditOptions, calls, codes};
use planforge_contract::{
    CandidatePatch, Constraint, Edits, Failure, FailureClass, FinishReason, FixPolicy, Reply,
    ReportedDiagnostic, TranslateRequest,
};
use planforge_diagnostics::{Diagnostic, SourceFile, SourceId, SourceMap};
use planforge_grammar::json::{edit_schema, edits_from_json};
use planforge_grammar::{EditFunctions, edit_grammar};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{parse_domain, parse_problem, print_domain, print_problem};
use planforge_plugin_common::translating::{
    TemplatePart, domain_of_problem, domain_template, no_template, problem_template, reply_as_pddl,
};
use planforge_plugin_sdk::reply::check_finish;
use std::collections::BTreeSet;

/// The code of an object that is declared nowhere.
const UNDECLARED_OBJECT: &str = "pddl.undefined-object";

/// The domain that a question shows and its replies edit, and the problem if they may edit it.
pub(crate) struct Base {
    domain: Domain,
    /// The domain as the question shows it.
    pub(crate) text: String,
    /// Errors in the candidate's domain. The parts that they are about are not in `domain`.
    diagnostics: Vec<ReportedDiagnostic>,
    objects: Option<BTreeSet<String>>,
    pub(crate) problem: Option<BaseProblem>,
}

/// The problem that a question shows and its replies edit.
pub(crate) struct BaseProblem {
    problem: Problem,
    /// The problem as the question shows it.
    pub(crate) text: String,
    /// Mistakes that no change of the domain repairs.
    pub(crate) defects: Vec<String>,
}

impl BaseProblem {
    /// The readable part of the candidate's or the given problem, with the objects of the task if it has none.
    fn new(request: &TranslateRequest, domain: &Domain, written: Option<&str>) -> Result<Self, Failure> {
        let parsed = parse_problem(written.unwrap_or_default(), SourceId(0));
        let mut problem = parsed.value;
        let name = domain.name.as_ref().map(ToString::to_string);
        if written.is_none() || problem.objects.is_empty() && problem.init.is_empty() {
            problem = parse_problem(
                &problem_template(&request.task, name.as_deref())
                    .ok_or_else(|| no_template(&request.task, TemplatePart::Objects))?,
                SourceId(0),
            )
            .value;
        }
        let mut defects: Vec<String> = match written {
            Some(_) => {
                parsed.diagnostics.into_iter().filter(Diagnostic::is_error).map(|d| d.message).collect()
            }
            None => vec!["it is not written yet".to_owned()],
        };
        if problem.goal.as_ref().is_none_or(planforge_pddl::ast::Condition::is_empty) {
            defects.push("the goal is empty".to_owned());
        }
        let undeclared = problem_faults(domain, &problem).into_iter().filter(|d| d.code == UNDECLARED_OBJECT);
        defects.extend(undeclared.map(|d| d.message));
        Ok(Self { text: print_problem(&problem), problem, defects })
    }
}

impl Base {
    /// The grammar of calls that edit the domain and, if the model may, the problem.
    pub(crate) fn constraint(&self, options: &EditOptions) -> Option<Constraint> {
        let usage = options.grammar;
        if usage.is_off() {
            return None;
        }
        let (objects, functions) = match &self.problem {
            Some(problem) => (Some(problem.problem.objects.as_slice()), EditFunctions::BOTH),
            None => (None, EditFunctions::DOMAIN),
        };
        let grammar = edit_grammar(&self.domain, objects, functions);
        let schema = edit_schema(&self.domain, objects, functions);
        Some(usage.constraint(&grammar, ("python", options.reason), Some(schema)))
    }

    /// The reply with calls in the place of JSON. JSON of another form stays: calls may be written so.
    pub(crate) fn as_calls(&self, reply: &Reply, constraint: Option<&Constraint>) -> Reply {
        let read = |text: &str| Ok(format!("```python\n{}\n```", edits_from_json(&self.domain, text)?));
        reply_as_pddl(reply, constraint, read).unwrap_or_else(|_| reply.clone())
    }

    /// The candidate's domain, the given one, or one made from the action interface. `problem`: replies may edit the problem too.
    pub(crate) fn new(request: &TranslateRequest, edits_problem: bool) -> Result<Self, Failure> {
        let written = request.candidate.domain.as_deref().or(request.task.given.domain.as_deref());
        let problem = request.candidate.problem.as_deref().or(request.task.given.problem.as_deref());
        let wanted = problem.and_then(domain_of_problem);
        let text = match written {
            Some(text) => text.to_owned(),
            None => domain_template(&request.task, wanted.as_deref())
                .ok_or_else(|| no_template(&request.task, TemplatePart::Actions))?,
        };
        let parsed = parse_domain(&text, SourceId(0));
        let mut domain = parsed.value;
        if domain.actions.is_empty() {
            return Err(no_domain(request, written.is_some()));
        }
        // A suite's template may have any name; the problem names the right one.
        if let (None, Some(wanted)) = (written, wanted) {
            domain.name = Some(planforge_pddl::Name::synthetic(&wanted));
        }
        let sources = SourceMap::single("domain", text.as_str());
        let lost = parsed.diagnostics.iter().filter(|d| d.is_error());
        let printed = print_domain(&domain);
        // Parsed again so that sections which the text leaves out exist.
        let domain = parse_domain(&printed, SourceId(0)).value;
        let edited = edits_problem.then(|| BaseProblem::new(request, &domain, problem)).transpose()?;
        Ok(Self {
            domain,
            text: printed,
            diagnostics: lost.map(|d| ReportedDiagnostic::of(d, &sources)).collect(),
            objects: objects(request, problem),
            problem: edited,
        })
    }

    fn functions(&self) -> Functions {
        if self.problem.is_some() { Functions::DomainAndProblem } else { Functions::Domain }
    }

    /// Applies a reply. The caller fills in `messages`.
    pub(crate) fn patch(&self, reply: &Reply, fixes: FixPolicy) -> Result<CandidatePatch, Failure> {
        let cut = reply.finish == FinishReason::Length;
        if !cut {
            check_finish(reply)?;
        }
        let mut calls = calls::read_calls(&reply.content, self.functions());
        if cut {
            // A reply that was cut off before its first whole call is unusable.
            if calls.calls.is_empty() {
                check_finish(reply)?;
            }
            let message = "the reply was cut off at the token limit; only the calls before that are made";
            calls.notes.push(Diagnostic::warning(codes::EDIT_CUT_OFF, message));
        }
        let sources = SourceMap::single("reply", reply.content.as_str());
        let file = SourceFile::new("reply", reply.content.as_str());
        let nothing = calls.calls.is_empty() && calls.refused.is_empty();
        let target = EditTarget {
            domain: &self.domain,
            problem: self.problem.as_ref().map(|base| &base.problem),
            objects: self.objects.as_ref(),
            fixes,
            reply: &file,
        };
        let Edited { text, problem, edits, mut diagnostics, fixes } = apply(&target, calls);
        if nothing && edits == Edits::default() {
            diagnostics.push(self.no_edit(&reply.content));
        }
        let reported = diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &sources));
        Ok(CandidatePatch {
            domain: Some(text),
            problem,
            edits: Some(edits),
            log_likelihood: reply.log_likelihood(),
            tokens: reply.tokens(),
            raw_reply: reply.content.clone(),
            diagnostics: self.diagnostics.iter().cloned().chain(reported).collect(),
            fixes,
            ..CandidatePatch::default()
        })
    }

    fn no_edit(&self, reply: &str) -> Diagnostic {
        let found = planforge_pddl::find_pddl(reply, calls::REPLY);
        let (add, modify) = (calls::PREDICATES, calls::ACTION);
        let mut help = format!(
            "write a code block with calls such as {add}([\"(name ?x - type)\"]) and \
             {modify}(\"action\", [\"(precondition)\"], [\"(effect)\"])"
        );
        let message = match (self.functions(), found.domain(), found.problem()) {
            (Functions::Domain, Some(_), _) => {
                "the reply writes a domain instead of calling the functions; the domain stays as it was"
            }
            (Functions::Domain, None, _) => "the reply calls neither function; the domain stays as it was",
            (Functions::DomainAndProblem, found, problem) => {
                help.push_str(&format!(", or {}([\"(added)\"], [\"(removed)\"])", calls::GOAL));
                match (found, problem) {
                    (None, None) => "the reply calls none of the functions; nothing changes",
                    _ => "the reply writes PDDL instead of calling the functions; nothing changes",
                }
            }
        };
        Diagnostic::error(codes::NO_EDIT, message).help(help)
    }
}

/// The objects of the task and its problem, in lower case; `None` if neither is known.
fn objects(request: &TranslateRequest, problem: Option<&str>) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    if let Some(interface) = &request.task.action_interface {
        names.extend(interface.objects.iter().map(|o| o.name.to_lowercase()));
    }
    if let Some(text) = problem {
        let objects = parse_problem(text, SourceId(0)).value.objects;
        names.extend(objects.iter().map(|o| o.name.key().to_owned()));
    }
    (!names.is_empty()).then_some(names)
}

fn no_domain(request: &TranslateRequest, written: bool) -> Failure {
    let what = if written { "the candidate's domain" } else { "the template" };
    let message = format!("{what} of suite `{}` has no action that could be edited", request.task.suite);
    Failure::new(FailureClass::Request, codes::NO_DOMAIN, message)
        .help("let the pipeline give the action interface, or let the stage begin without a domain")
}
