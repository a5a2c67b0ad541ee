//! {{NAME}}: a translator that asks for the problem in one question.
#![forbid(unsafe_code)]

use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::reply::{WantedPddl, read_reply};

/// The options table of the pipeline file. Doc comments are what users read; unknown keys are errors.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(crate = "planforge_plugin_sdk::serde", deny_unknown_fields, default)]
#[schemars(crate = "planforge_plugin_sdk::schemars")]
pub struct Options {
    /// Instructions put before the task's text.
    pub instructions: String,
}

/// The translator.
#[derive(Debug)]
pub struct NewPlugin(Options);

impl Plugin for NewPlugin {
    type Options = Options;
    fn about() -> About {
        About::new("Asks for the problem in one question").role("writer", "writes the problem")
    }
    fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self(options))
    }
}

impl NewPlugin {
    fn question(&self, request: &TranslateRequest) -> Vec<Message> {
        let task = &request.task;
        let mut text = format!("{}\n\n{}\n", task.domain_text, task.task_text);
        if let Some(domain) = request.candidate.domain.as_ref().or(task.given.domain.as_ref()) {
            text.push_str(&format!("\nThe PDDL domain:\n{domain}\n"));
        }
        text.push_str("\nWrite the PDDL problem.");
        for feedback in &request.feedback {
            text.push_str(&format!("\n\n{feedback}"));
        }
        if self.0.instructions.is_empty() {
            vec![Message::user(text)]
        } else {
            vec![Message::system(self.0.instructions.clone()), Message::user(text)]
        }
    }
}

impl Translator for NewPlugin {
    fn translate(&self, host: &dyn Host, request: &TranslateRequest) -> Result<TranslateResponse, Failure> {
        let messages = self.question(request);
        let sampling = Sampling { n: Some(request.n), ..Sampling::default() };
        let asked = CompletionRequest { messages: messages.clone(), sampling, ..CompletionRequest::default() };
        let replies = host.complete("writer", asked)?.replies;
        let samples = replies.iter().map(|reply| {
            let patch = read_reply(reply, WantedPddl::Problem, request.fixes)?;
            let mut turns = messages.clone();
            turns.push(Message::assistant(reply.content.clone()));
            Ok(CandidatePatch { messages: turns, ..patch })
        });
        Ok(TranslateResponse { samples: samples.map(Outcome::from).collect() })
    }
}

planforge_plugin_sdk::export_plugin!(Translator, NewPlugin);
