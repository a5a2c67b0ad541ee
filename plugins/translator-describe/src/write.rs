//! The flow of one call: nothing where the text is there, else one question and one text a reply.

use crate::prompt::Prompts;
use crate::read::{self, Predicate, Type};
use crate::{DescribeOptions, Mode, codes};
use planforge_contract::api::Host;
use planforge_contract::{
    CandidatePatch, Failure, FailureClass, Outcome, Reply, ReportedDiagnostic, TranslateRequest,
    TranslateResponse, WrittenTexts,
};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_pddl::{parse_domain, parse_problem};
use planforge_plugin_common::translating::{Writer, new_turns};

/// One call of the translator.
pub(crate) struct DescribeCall<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) options: &'a DescribeOptions,
    pub(crate) prompts: &'a Prompts,
    pub(crate) request: &'a TranslateRequest,
}

impl DescribeCall<'_> {
    pub(crate) fn run(&self) -> Result<TranslateResponse, Failure> {
        let n = self.request.n.max(1);
        if self.is_there() || self.has_nothing_to_tell() {
            let nothing = Outcome::Ok(CandidatePatch::default());
            return Ok(TranslateResponse { samples: vec![nothing; n as usize] });
        }
        let task = &self.request.task;
        let candidate = &self.request.candidate;
        let domain = candidate.domain.as_ref().or(task.given.domain.as_ref());
        let problem = candidate.problem.as_ref().or(task.given.problem.as_ref());
        let domain = domain.ok_or_else(|| not_given("domain"))?;
        if self.options.mode == Mode::TaskText && problem.is_none() {
            return Err(not_given("problem"));
        }
        let predicates = Predicate::all(domain);
        let problem = problem.map(String::as_str);
        let replies =
            self.ask(self.prompts.question(self.options, self.request, domain, problem, &predicates)?, n)?;
        let patch = |reply: &Reply| match self.options.mode {
            Mode::Sentences => {
                let told = read::sentences(reply, &predicates)?;
                Ok(self.patch(reply, read::to_toml(&told), Vec::new()))
            }
            Mode::Types => {
                let told = read::types(reply, &Type::all(domain))?;
                Ok(self.patch(reply, read::types_to_toml(&told), Vec::new()))
            }
            Mode::DomainText => self.text(reply, "action", &actions(domain)),
            Mode::TaskText => self.text(reply, "object", &objects(problem.unwrap_or_default())),
        };
        let results: Vec<Result<CandidatePatch, Failure>> =
            replies.iter().take(n as usize).map(patch).collect();
        let any = results.iter().any(Result::is_ok);
        let mut samples: Vec<Outcome<CandidatePatch>> = Vec::with_capacity(n as usize);
        for (result, reply) in results.into_iter().zip(&replies) {
            samples.push(match result {
                // Where no reply can be used, the candidate goes on without this text: the other texts do not depend on it.
                Err(failure) if !any && samples.is_empty() => Outcome::Ok(self.without(reply, &failure)),
                result => result.into(),
            });
        }
        while samples.len() < n as usize {
            let message = format!("{} of {n} replies came", replies.len());
            samples.push(Outcome::Failure(Failure::new(FailureClass::Reply, codes::FEW_REPLIES, message)));
        }
        Ok(TranslateResponse { samples })
    }

    /// True if the text of this mode exists and no feedback is about it.
    fn is_there(&self) -> bool {
        let task = &self.request.task;
        let materials = &task.materials;
        let recorded = |mode: Mode| materials.other.contains_key(mode.name());
        let given = match self.options.mode {
            Mode::DomainText => !task.domain_text.trim().is_empty(),
            Mode::TaskText => !task.task_text.trim().is_empty(),
            // A suite whose sentences are given can still be described anew: `suite describe` names those that stay.
            Mode::Sentences => recorded(Mode::Sentences),
            Mode::Types => !materials.types.is_empty() || recorded(Mode::Types),
        };
        given && self.request.feedback.is_empty()
    }

    /// A domain without types has none to describe.
    fn has_nothing_to_tell(&self) -> bool {
        let given = self.request.candidate.domain.as_ref().or(self.request.task.given.domain.as_ref());
        self.options.mode == Mode::Types && given.is_some_and(|domain| Type::all(domain).is_empty())
    }

    /// Each text has its own question, so that none depends on other texts of the same run.
    fn ask(&self, question: String, n: u32) -> Result<Vec<Reply>, Failure> {
        let turns = new_turns(&[], self.prompts.system(self.options)?, question);
        let writer = Writer { host: self.host, task: &self.request.task, logprobs: false };
        writer.ask(turns, self.options.mode.name(), n)
    }

    /// A text, with a warning where it leaves names out.
    fn text(&self, reply: &Reply, what: &str, names: &[String]) -> Result<CandidatePatch, Failure> {
        let text = read::text(reply)?;
        let lower = text.to_lowercase();
        let silent: Vec<&str> =
            names.iter().filter(|name| !lower.contains(&name.to_lowercase())).map(String::as_str).collect();
        let mut diagnostics = Vec::new();
        if !silent.is_empty() {
            let message = format!("the text never names {what} {}", silent.join(", "));
            let warning =
                Diagnostic::warning(codes::UNNAMED, message).at(SourceId(0), Default::default(), "");
            diagnostics.push(ReportedDiagnostic::of(&warning, &SourceMap::single("text", text.as_str())));
        }
        Ok(self.patch(reply, text, diagnostics))
    }

    /// No text, and why.
    fn without(&self, reply: &Reply, failure: &Failure) -> CandidatePatch {
        let code = [codes::SENTENCES, codes::TYPES, codes::NO_TEXT, codes::CUT_OFF]
            .into_iter()
            .find(|code| failure.code == *code);
        let error = Diagnostic::error(code.unwrap_or(codes::NO_TEXT), failure.message.clone()).at(
            SourceId(0),
            Default::default(),
            "",
        );
        let sources = SourceMap::single("reply", reply.content.as_str());
        CandidatePatch {
            texts: WrittenTexts::default(),
            ..self.patch(reply, String::new(), vec![ReportedDiagnostic::of(&error, &sources)])
        }
    }

    fn patch(&self, reply: &Reply, text: String, diagnostics: Vec<ReportedDiagnostic>) -> CandidatePatch {
        CandidatePatch {
            texts: [(self.options.mode.name(), text)].into_iter().collect(),
            log_likelihood: reply.log_likelihood(),
            tokens: reply.tokens(),
            raw_reply: reply.content.clone(),
            diagnostics,
            ..CandidatePatch::default()
        }
    }
}

fn actions(domain: &str) -> Vec<String> {
    let domain = parse_domain(domain, SourceId(0)).value;
    let plain = domain.actions.iter().map(|a| a.name.to_string());
    plain.chain(domain.durative_actions.iter().map(|a| a.name.to_string())).collect()
}

fn objects(problem: &str) -> Vec<String> {
    parse_problem(problem, SourceId(0)).value.objects.iter().map(|o| o.name.to_string()).collect()
}

fn not_given(what: &str) -> Failure {
    Failure::new(FailureClass::Request, codes::NOT_GIVEN, format!("there is no {what} to describe"))
        .help(format!("let the pipeline give it: `{what} = true` under [given]"))
}
