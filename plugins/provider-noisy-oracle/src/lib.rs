//! `provider-noisy-oracle`: a simulated language model with a known error rate, for studies of search
//! strategies without cost.
//!
//! It holds the references of suites and writes them with mistakes. No reply comes from a language model:
//! every reply begins with a sentence that says so, the model is called `noisy-oracle (simulated)`, and the
//! raw body in the record lists the mistakes made and repaired. Suite, task and artefact come from the
//! request's tags, which only providers declared `simulated` receive; everything else is read from the
//! conversation.
//!
//! | artefact | content of the reply |
//! |---|---|
//! | `problem` | the task's reference problem; if no predicates are shown, one predicate lacks an argument with probability `predicate_argument`; `problem_errors` facts, numbers, times or weights are wrong |
//! | `domain`, first | the reference domain with `errors` mistakes of the `kinds`, for the problem shown |
//! | `domain`, revised | the domain shown, each mistake repaired with `repair_named` or `repair_unnamed`, correct actions damaged with `damage` |
//! | `update` | the domain or problem shown, revised in the same way by the critique behind it |
//! | `action`, first | the reference's action that the question names, with `actions.errors` mistakes on average and at most one of form; unlisted predicates, if they may be proposed |
//! | `action`, revised | the action shown, each mistake repaired with `repair_named` |
//! | `predicates` | the predicates that were proposed twice, each found with `repair_named` |
//! | `critique` | the mistakes of the domain or problem shown, each with `critic.finds`, and false findings with `critic.false_findings` |
//! | `answer` | if an action can be done, or the goal is reached, after the actions that the question lists; right with `critic.answers` |
//! | `edit` | the same as calls of `add_or_update_predicates` and `modify_action`: all of them first, then those for actions that change |
//! | `both` | a domain and a problem for it |
//! | `reading` | the same, without comments; for a given domain the problem alone |
//! | `points` | an empty list |
//! | `ir` | the task's reference problem as an answer set program that lists every fact, `problem_errors` of them wrong |
//! | `cardinalities`, `objects`, `rules` | the same as answers to the three generic questions |
//!
//! If a question asks for `### Thought:`, a thought comes first: the meaning of each predicate and action
//! according to the PDDL that follows. With `likelihood` each token has a simulated log-probability on
//! request, which is lower the more mistakes there are.
//!
//! An action is *named* if the last question contains it outside the definitions shown: in a ground action
//! `(sail big home far)`, quoted, or as `action sail`. A predicate that the shown problem uses without an
//! argument stays so in every domain; only another problem candidate repairs it. The random choices depend on
//! the request's seed, the conversation, and the sample's number.

mod action;
mod critic;
mod ir;
mod options;
mod problem;
mod reading;
mod reply;
mod revise;
mod writer;

pub use codes::CODES;
pub use options::{Actions, Critic, ErrorCount, Kinds, Likelihood, OracleOptions, Suite};

use crate::reading::{Library, ShownTexts};
use crate::reply::SimulatedReply;
use crate::writer::{Artefact, LastQuestion, Writer};
use planforge_pddl::random::Random;
use planforge_pddl::{print_domain, print_problem};
use planforge_plugin_sdk::prelude::*;

/// The model's name in records and tables.
pub const MODEL: &str = "noisy-oracle (simulated)";

/// Most replies to one request.
const MOST_REPLIES: u32 = 10_000;

#[derive(Debug)]
pub struct NoisyOracle {
    options: OracleOptions,
    library: Library,
}

impl Plugin for NoisyOracle {
    type Options = OracleOptions;

    fn about() -> About {
        About::new(
            "Simulates a language model that writes a suite's reference with mistakes, at a known rate",
        )
        .simulated()
        .several_replies()
        .suites("suites")
    }

    fn create(options: OracleOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        options.check()?;
        let library = Library::read(&options.suites)?;
        Ok(Self { options, library })
    }
}

impl Provider for NoisyOracle {
    fn complete(&self, _host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        let refused = |class, message| {
            let failure = ProviderFailure { class, status: None, retry_after_ms: None, usage: None, message };
            Ok(CompletionResult::ProviderFailure(failure))
        };
        if let Some(schema) = &request.schema {
            let message = format!("the noisy oracle follows no schema, and was asked for `{}`", schema.name);
            return refused(ProviderFailureClass::BadRequest, message);
        }
        let Some(artefact) = Artefact::of(&request.tags.artefact) else {
            let message = format!(
                "the noisy oracle writes problems, domains, readings, actions, edits, updates, critiques, points, answers and representations, and was asked for `{}`",
                request.tags.artefact
            );
            return refused(ProviderFailureClass::BadRequest, message);
        };
        let (reference, problem) = match self.library.task(&request.tags.suite, &request.tags.task) {
            Ok(found) => found,
            Err(message) => return refused(ProviderFailureClass::NotFound, message),
        };
        let mut shown = ShownTexts::of(&request.messages, reference, artefact == Artefact::Update);
        if artefact == Artefact::Reading {
            shown.drop_foreign_problem(reference);
        }
        if artefact == Artefact::Critique && shown.asked.plan {
            let message =
                "the noisy oracle criticises domains and problems, and was asked about a plan".to_owned();
            return refused(ProviderFailureClass::BadRequest, message);
        }
        let question = messages_last(&request.messages);
        let action = action::Question::of(question, &reference.domain);
        if artefact == Artefact::Action && action.is_none() {
            let message = "the noisy oracle was asked for an action, and the question names none of the reference's in `backticks`";
            return refused(ProviderFailureClass::BadRequest, message.to_owned());
        }
        let right = critic::Question::read(question)
            .filter(|_| artefact == Artefact::Answer)
            .and_then(|question| question.answer(&reference.domain, problem));
        if artefact == Artefact::Answer && right.is_none() {
            let message =
                "the noisy oracle was asked for an answer, and the reference has none to this question";
            return refused(ProviderFailureClass::BadRequest, message.to_owned());
        }
        let asked = LastQuestion { question, action: action.as_ref(), right };
        if artefact == Artefact::Edit && !reference.domain.durative_actions.is_empty() {
            let message = "the noisy oracle writes no edits of durative actions: there is no call for them";
            return refused(ProviderFailureClass::BadRequest, message.to_owned());
        }
        let writer = Writer { options: &self.options, reference, problem, shown: &shown, asked, artefact };
        if let Err(why) = writer.check_representation() {
            let message = format!("the noisy oracle cannot write this task as a representation: {why}");
            return refused(ProviderFailureClass::BadRequest, message);
        }
        let seed = request.sampling.seed.unwrap_or(0) ^ fingerprint(&request.messages, &shown);
        let n = request.sampling.n.unwrap_or(1).clamp(1, MOST_REPLIES);
        let scored = request.sampling.logprobs == Some(true);
        let written: Vec<SimulatedReply> =
            (0..n).map(|sample| writer.reply(&mut Random::stream(seed, u64::from(sample)), scored)).collect();
        Ok(CompletionResult::Replies(self.replies(request, written)))
    }
}

impl NoisyOracle {
    fn replies(&self, request: &CompletionRequest, written: Vec<SimulatedReply>) -> Replies {
        let notes: Vec<serde_json::Value> = written.iter().map(|w| w.note.clone()).collect();
        let raw = serde_json::json!({
            "simulated": true,
            "provider": env!("CARGO_PKG_NAME"),
            "artefact": request.tags.artefact,
            "replies": notes,
        });
        let tokens = |characters: usize| {
            self.options.characters_per_token.map(|per| (characters as u64).div_ceil(u64::from(per.max(1))))
        };
        Replies {
            usage: Usage {
                prompt_tokens: tokens(request.messages.iter().map(|m| m.content.chars().count()).sum()),
                completion_tokens: tokens(written.iter().map(|w| w.text.chars().count()).sum()),
                ..Usage::default()
            },
            replies: written
                .into_iter()
                .map(|w| Reply { logprobs: w.tokens, ..Reply::new(w.text, FinishReason::Stop) })
                .collect(),
            model: MODEL.to_owned(),
            raw: raw.to_string(),
        }
    }
}

fn messages_last(messages: &[Message]) -> &str {
    messages.iter().rev().find(|m| m.role == Speaker::User).map_or("", |m| m.content.as_str())
}

/// FNV-1a over what the conversation shows and how long it is, so that another question with the same seed is answered by other
/// choices, and the same question in other words by the same.
fn fingerprint(messages: &[Message], shown: &ShownTexts) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325u64;
    let mut add = |text: &str| {
        for byte in text.bytes().chain([0xFF]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    };
    add(&messages.len().to_string());
    add(&shown.domain.as_ref().map(print_domain).unwrap_or_default());
    add(&shown.problem.as_ref().map(print_problem).unwrap_or_default());
    shown.named.iter().for_each(|name| add(name));
    hash
}

planforge_plugin_sdk::bundle_plugin!(Provider, NoisyOracle);

/// The codes of this crate.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    /// Options that make no sense.
    pub(crate) const OPTIONS: &str = "oracle.options";
    /// A reference that cannot be used.
    pub(crate) const SUITE: &str = "oracle.suite";

    /// Every code that this crate gives.
    pub const CODES: &[CodeInfo] = code_table!("codes.md");
}

#[cfg(test)]
mod tests;
