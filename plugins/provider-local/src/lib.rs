//! `provider-local`: a GGUF model in this process, through llama.cpp.
//!
//! The prompt of a request is computed once and its replies are written together. A reply depends on the request alone: its seed and the
//! index of the reply give the random numbers, and temperature 0 is greedy. Log-probabilities are those of the model at temperature 1, before
//! a grammar rules out tokens.

mod file;
mod models;
mod options;
mod sample;
mod session;

pub use options::LocalOptions;

use crate::sample::{Settings, grammar_failure};
use llama_cpp_2::model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel};
use llguidance::Matcher;
use llguidance::api::TopLevelGrammar;
use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::serde_json::Value;
use std::time::Instant;

#[derive(Debug)]
pub struct Local(LocalOptions);

impl Plugin for Local {
    type Options = LocalOptions;

    fn about() -> About {
        About::new("Runs a model from a GGUF file in this process, without a server")
            .several_replies()
            .enforces_grammars()
            .max_concurrency(1)
    }

    fn create(options: LocalOptions, _: &Secrets) -> Result<Self, Failure> {
        Ok(Self(options))
    }
}

planforge_plugin_sdk::export_plugin!(Provider, Local);

impl Provider for Local {
    fn complete(&self, host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        let file = models::find(&request.model)?;
        let mut turn = file.turn(host)?;
        let (model, session) = file.ready(&mut turn, &self.0, host)?;
        let prompt = model.vocab().tokenize(self.prompt(model, &request.messages)?.as_bytes(), true, true);
        let room = session.limit().saturating_sub(prompt.len());
        if prompt.is_empty() || room == 0 {
            let message = format!(
                "the prompt has {} tokens; with a reply it may have {}; `context` is {}, and the model has at most {}",
                prompt.len(),
                session.limit(),
                self.0.context,
                model.n_ctx_train()
            );
            let class = ProviderFailureClass::ContextOverflow;
            let failure = ProviderFailure { class, status: None, retry_after_ms: None, usage: None, message };
            return Ok(CompletionResult::ProviderFailure(failure));
        }
        let grammar = match (&request.constraint, &request.schema) {
            (Some(constraint), _) => Some(TopLevelGrammar::from_lark(constraint.lark.clone())),
            (None, Some(schema)) => {
                Some(TopLevelGrammar::from_json_schema(Value::Object(schema.schema.clone())))
            }
            (None, None) => None,
        };
        let compile = |grammar| -> Result<Matcher, Failure> {
            let factory = file.factory(model)?;
            let start = Instant::now();
            let matcher = Matcher::new(factory.create_parser(grammar));
            host.log(
                LogLevel::Debug,
                &format!("grammar compiled in {:.1} ms", start.elapsed().as_secs_f64() * 1000.0),
            );
            matcher.get_error().map_or(Ok(matcher), |error| Err(grammar_failure(&error)))
        };
        let matcher = grammar.map(compile).transpose()?;
        let sampling = &request.sampling;
        let n = sampling.n.unwrap_or(1).max(1) as usize;
        let temperature = sampling.temperature.unwrap_or(1.0);
        let settings = Settings {
            // Greedy replies are all the same.
            n: if temperature > 0.0 { n as u32 } else { 1 },
            most: room.min(sampling.max_tokens.map_or(usize::MAX, |most| most.max(1) as usize)),
            temperature,
            top_p: sampling.top_p.unwrap_or(1.0),
            seed: sampling.seed.unwrap_or(0),
            stop: sampling.stop.clone(),
            logprobs: sampling.logprobs == Some(true),
        };
        let (replies, tokens) = session.replies(host, &prompt, &settings, matcher.as_ref())?;
        let usage = Usage {
            prompt_tokens: Some(prompt.len() as u64),
            completion_tokens: Some((tokens * n / replies.len().max(1)) as u64),
            ..Usage::default()
        };
        let replies = replies.into_iter().cycle().take(n).collect();
        let model = model.meta_val_str("general.name").unwrap_or_else(|_| request.model.clone());
        Ok(CompletionResult::Replies(Replies { replies, usage, model, raw: String::new() }))
    }
}

impl Local {
    /// The conversation in the model's form.
    fn prompt(&self, model: &LlamaModel, messages: &[Message]) -> Result<String, Failure> {
        let failure = |reason: String| {
            Failure::new(FailureClass::Request, "local.template", reason).help(
                "write `chat_template = \"chatml\"` in the `[llm.NAME]` table, or the name of the model's own form",
            )
        };
        let template = match &self.0.chat_template {
            Some(name) => LlamaChatTemplate::new(name).map_err(|error| failure(error.to_string()))?,
            None => model
                .chat_template(None)
                .map_err(|_| failure("the model's file has no chat template".into()))?,
        };
        let role = |speaker| match speaker {
            Speaker::System => "system",
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        let turn = |message: &Message| {
            // llama.cpp's texts end at a character 0.
            LlamaChatMessage::new(role(message.role).into(), message.content.replace('\0', "\u{FFFD}"))
        };
        let turns: Result<Vec<_>, _> = messages.iter().map(turn).collect();
        let turns = turns.map_err(|error| failure(error.to_string()))?;
        model
            .apply_chat_template(&template, &turns, true)
            .map_err(|error| failure(format!("llama.cpp does not know the chat template: {error}")))
    }
}
