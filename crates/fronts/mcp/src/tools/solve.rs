//! `solve`: a plan from a text alone, with questions to the user of the client.

use crate::answers::{client_failure, file_failure, use_case_failure, wrong_arguments};
use crate::call::{Call, CallTexts, TextArgument};
use crate::client::ClientUser;
use crate::limits::CallLimits;
use crate::session::refuse_links;
use crate::tools::ToolKind;
use crate::tools::run::model;
use planforge_app::Questions;
use planforge_app::contract::Failure;
use planforge_app::run::ModelChoice;
use planforge_app::solve::{Answers, SolveRequest, SolveResult, solve};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct Solve;

/// A task in words, or the folder of an earlier call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SolveArguments {
    /// The task in words: what there is, what can be done, what is wanted. Left out, the task of `folder` goes on.
    text: Option<TextArgument>,
    /// The rules in words, if they are a text of their own.
    rules: Option<TextArgument>,
    /// A domain in PDDL: the model then writes the problem alone.
    domain: Option<TextArgument>,
    /// With `text`: the folder to make, under a root of the client; left out, a temporary one; the newest 20 are kept until the connection
    /// ends.
    /// Without `text`: the folder of an earlier answer, which goes on; no request is sent twice.
    folder: Option<String>,
    /// Answers to points of the folder, by their ids: `1` or `2` for a choice, `either`, `unknown`, or the user's own words. Ask the
    /// user; do not answer in the user's place.
    #[serde(default)]
    answers: BTreeMap<String, String>,
    /// A further statement of the user: the text is read anew with it.
    say: Option<String>,
    /// False: nobody is asked, and open points are assumed and listed (default true).
    ask: Option<bool>,
    /// The models that read the text in turn: `client` for the client's own (the default if the client offers it), or values of
    /// `planforge solve --model` such as `openai:gpt-5`.
    #[serde(default)]
    models: Vec<String>,
    /// Seconds for the readings and questions of this call (default 600, at most 3,600). After them the folder can go on.
    seconds: Option<f64>,
}

impl ToolKind for Solve {
    type Arguments = SolveArguments;
    type Answer = SolveResult;
    const NAME: &'static str = "solve";
    const TITLE: &'static str = "Plan from a text";
    const DESCRIPTION: &'static str = "Makes a plan for a task in words, and says what it rests on. A model reads the text several times and writes PDDL; \
         the readings are compared step by step, and the user is asked what the text leaves open (elicitation). Where the client cannot ask, \
         `end` is `needs-answers`: show the user the `points` whose status is `open`, then call again with `folder` and `answers`. Repeat \
         `line` to the user as it stands.";
    const OPEN_WORLD: bool = true;
    const READ_ONLY: bool = false;

    fn call(call: &Call, arguments: SolveArguments) -> Result<SolveResult, Failure> {
        let limits = CallLimits::of_solve(arguments.seconds)?;
        let texts = call.texts(&limits);
        let is_new = arguments.text.is_some();
        let models = models(call, &arguments.models, is_new)?;
        let place = place(call, &texts, &arguments)?;
        let ask = arguments.ask.unwrap_or(true);
        let mut context = call.context.clone();
        if ask && call.client.can_ask_user() {
            context.questions = Some(Arc::new(ClientUser(Arc::clone(&call.client))) as Arc<dyn Questions>);
        }
        let answers = (!arguments.answers.is_empty()).then_some(Answers::ById(arguments.answers));
        let request = SolveRequest {
            text: texts.read_if_given("task", arguments.text.as_ref())?,
            rules: texts.read_if_given("rules", arguments.rules.as_ref())?,
            domain: texts.read_if_given("domain", arguments.domain.as_ref())?,
            say: arguments.say.map(|say| texts.text(&say)).transpose()?,
            models,
            folder: is_new.then(|| place.clone()),
            continued: (!is_new).then_some(place),
            answers,
            ask,
            ..SolveRequest::default()
        };
        let timer = call.cancel_after(&limits);
        let result = solve(&context, &request).map_err(|error| use_case_failure(&error))?;
        drop(timer);
        // The result of a call at the end of its time says how to go on.
        if !limits.is_over() {
            call.check_cancelled()?;
        }
        Ok(result)
    }
}

/// The folder of the task.
fn place(call: &Call, texts: &CallTexts<'_>, arguments: &SolveArguments) -> Result<PathBuf, Failure> {
    let is_new = arguments.text.is_some();
    if !is_new && (arguments.rules.is_some() || arguments.domain.is_some()) {
        return Err(wrong_arguments("`rules` and `domain` belong to a new `text`"));
    }
    let place = match &arguments.folder {
        None if is_new => return call.session.tasks.add(),
        None => return Err(wrong_arguments("give a `text`, or the `folder` of an earlier answer")),
        Some(folder) if call.session.tasks.has(Path::new(folder)) => PathBuf::from(folder),
        Some(folder) => texts.roots()?.place(folder)?,
    };
    match place.exists() {
        true => refuse_links(&place)?,
        false if !is_new => {
            return Err(file_failure(&place.display().to_string(), "there is no such folder"));
        }
        false => {}
    }
    Ok(place)
}

/// The models of a call. A task that goes on has its own.
fn models(call: &Call, names: &[String], is_new: bool) -> Result<Vec<ModelChoice>, Failure> {
    match names {
        [] if !is_new => Ok(Vec::new()),
        [] if call.client.capabilities.sampling.is_none() => {
            Err(client_failure("this client offers no model (sampling), and `models` names none").help(
                "name one in `models`, such as `openai:NAME`, `anthropic:NAME` or `local:FILE.gguf`; its key is in the server's environment",
            ))
        }
        [] => Ok(vec![model(call, None)?]),
        names => names.iter().map(|name| model(call, Some(name))).collect(),
    }
}
