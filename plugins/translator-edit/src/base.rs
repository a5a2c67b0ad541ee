//! The domain before a reply is applied, and the patch that a reply makes of it.

use crate::apply::{EditTarget, Edited, apply};
use crate::{calls, codes};
use planforge_contract::{
    CandidatePatch, Edits, Failure, FailureClass, FinishReason, FixPolicy, Reply, ReportedDiagnostic,
    TranslateRequest,
};
use planforge_diagnostics::{Diagnostic, SourceFile, SourceId, SourceMap};
use planforge_pddl::ast::Domain;
use planforge_pddl::{parse_domain, parse_problem, print_domain};
use planforge_plugin_sdk::reply::check_finish;
use planforge_translating::{domain_of_problem, domain_template};
use std::collections::BTreeSet;

/// The domain that a question shows and its replies edit.
pub(crate) struct BaseDomain {
    domain: Domain,
    /// The domain as the question shows it.
    pub(crate) text: String,
    /// Errors in the candidate's domain. The parts that they are about are not in `domain`.
    diagnostics: Vec<ReportedDiagnostic>,
    objects: Option<BTreeSet<String>>,
}

impl BaseDomain {
    /// The candidate's domain, the given one, or one made from the action interface.
    pub(crate) fn new(request: &TranslateRequest) -> Result<Self, Failure> {
        let written = request.candidate.domain.as_deref().or(request.task.given.domain.as_deref());
        let problem = request.candidate.problem.as_deref().or(request.task.given.problem.as_deref());
        let wanted = problem.and_then(domain_of_problem);
        let text = match written {
            Some(text) => text.to_owned(),
            None => domain_template(&request.task, wanted.as_deref())?,
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
        Ok(Self {
            // Parsed again so that sections which the text leaves out exist.
            domain: parse_domain(&printed, SourceId(0)).value,
            text: printed,
            diagnostics: lost.map(|d| ReportedDiagnostic::of(d, &sources)).collect(),
            objects: objects(request, problem),
        })
    }

    /// Applies a reply. The caller fills in `messages`.
    pub(crate) fn patch(&self, reply: &Reply, fixes: FixPolicy) -> Result<CandidatePatch, Failure> {
        let cut = reply.finish == FinishReason::Length;
        if !cut {
            check_finish(reply.finish)?;
        }
        let mut calls = calls::read_calls(&reply.content);
        if cut {
            // A reply that was cut off before its first whole call is unusable.
            if calls.calls.is_empty() {
                check_finish(reply.finish)?;
            }
            let message = "the reply was cut off at the token limit; only the calls before that are made";
            calls.notes.push(Diagnostic::warning(codes::EDIT_CUT_OFF, message));
        }
        let sources = SourceMap::single("reply", reply.content.as_str());
        let file = SourceFile::new("reply", reply.content.as_str());
        let nothing = calls.calls.is_empty() && calls.refused.is_empty();
        let target = EditTarget { domain: &self.domain, objects: self.objects.as_ref(), fixes, reply: &file };
        let Edited { text, edits, mut diagnostics, fixes } = apply(&target, calls);
        if nothing && edits == Edits::default() {
            diagnostics.push(no_edit(&reply.content));
        }
        let reported = diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &sources));
        Ok(CandidatePatch {
            domain: Some(text),
            edits: Some(edits),
            log_likelihood: reply.log_likelihood(),
            tokens: reply.tokens(),
            raw_reply: reply.content.clone(),
            diagnostics: self.diagnostics.iter().cloned().chain(reported).collect(),
            fixes,
            ..CandidatePatch::default()
        })
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

fn no_edit(reply: &str) -> Diagnostic {
    let found = planforge_pddl::find_pddl(reply, calls::REPLY);
    let message = match found.domain() {
        Some(_) => "the reply writes a domain instead of calling the functions; the domain stays as it was",
        None => "the reply calls neither function; the domain stays as it was",
    };
    let (add, modify) = (calls::PREDICATES, calls::ACTION);
    Diagnostic::error(codes::NO_EDIT, message).help(format!(
        "write a code block with calls such as {add}([\"(name ?x - type)\"]) and \
         {modify}(\"action\", [\"(precondition)\"], [\"(effect)\"])"
    ))
}

fn no_domain(request: &TranslateRequest, written: bool) -> Failure {
    let what = if written { "the candidate's domain" } else { "the template" };
    let message = format!("{what} of suite `{}` has no action that could be edited", request.task.suite);
    Failure::new(FailureClass::Request, codes::NO_DOMAIN, message)
        .help("let the pipeline give the action interface, or let the stage begin without a domain")
}
