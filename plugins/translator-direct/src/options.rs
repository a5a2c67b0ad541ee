//! What a pipeline file may set.

use crate::codes;
use planforge_contract::{Failure, FailureClass};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A problem, for the candidate's domain or the given one.
    #[default]
    Problem,
    /// A domain; where the candidate has a problem already, one that fits it.
    Domain,
    /// The domain first, then the problem in the same conversation. Each sample has a conversation of its own.
    Both,
    /// Changes to the candidate's domain, or to the action interface where it has none, as calls of two functions: one
    /// declares predicates, the other fills in an action (exploration-walk paper, Appendix B.3).
    Edit,
    /// The candidate's domain or problem written anew from what a critic said about it: the f_update of the test-time-scaling paper
    /// (Eq. 4). A question of its own: it shows the text, the last thought, the last PDDL and the criticism, and not the conversation.
    Update,
}

impl Mode {
    /// The word for it, as in the option and in the tags of a request.
    pub(crate) const fn artefact(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Domain => "domain",
            Self::Both => "both",
            Self::Edit => "edit",
            Self::Update => "update",
        }
    }
}

/// What a reply looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// PDDL alone, or behind free reasoning.
    Plain,
    /// `### Thought:`, where each predicate and action is explained on a line, and then `### Domain:` or `### Problem:`
    /// (test-time-scaling paper, Appendix D).
    Thought,
}

/// What an update writes anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Artefact {
    /// The domain.
    #[default]
    Domain,
    /// The problem.
    Problem,
}

impl Artefact {
    /// The word for it, as in a question.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Domain => "domain",
            Self::Problem => "problem",
        }
    }
}

/// Whether an in-context example is shown, and which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Example {
    /// `true`: the suite's, or that of the suite which the pipeline names; `false`: none.
    Shown(bool),
    /// One that the run itself made.
    Made(MadeExample),
}

/// Examples that a run makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MadeExample {
    /// The text and the problem of the task that a `fan_out` stage took as its lead.
    Lead,
}

impl Example {
    /// The lead task of a `fan_out` stage.
    pub const LEAD: Self = Self::Made(MadeExample::Lead);
}

/// Options of `translator-direct`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// What to write: `problem`, `domain`, `both`, `edit` for changes to a domain, or `update` for a domain or problem written anew
    /// from a critique.
    pub mode: Mode,
    /// What the reply looks like: `plain` is PDDL, `thought` is a thought and then PDDL, each under a heading. Left out: `thought` for
    /// updates, else `plain`. The thought goes with the candidate. No in-context example is shown with it.
    pub form: Option<Form>,
    /// In mode `update`: what is written anew, `domain` or `problem`. Left out: the domain.
    pub artefact: Option<Artefact>,
    /// Whether an in-context example is shown. Left out: where there is one. `true`: that there is none is an error. `"lead"`:
    /// a problem is translated after the example of the lead task of a `fan_out` stage, `lead.text` and `lead.problem`.
    /// A problem's example is `example.text` and `example.problem`, with the text of their domain where no domain is given; a
    /// domain's is `example.domain-text` and `example.domain`; that of edits is the same written as calls.
    pub example: Option<Example>,
    /// Whether the question holds a beginning to complete: for a problem its objects, for a domain the names and parameters of its
    /// actions. Edits always begin with the latter. They come from the suite's texts `objects.template` and `domain.template` or, where it has none, from the
    /// action interface that the pipeline gives.
    pub template: bool,
    /// Whether the model is asked to reason before it answers. Left out: for edits alone. The form `thought` has its own place for that.
    pub reason: Option<bool>,
    /// Whether token log-probabilities are asked for; their sum becomes the candidate's log-likelihood.
    pub logprobs: bool,
    /// Replaces the system text. An empty text leaves the system turn out.
    pub system: Option<String>,
}

impl Options {
    /// Whether the model is asked to reason first.
    pub(crate) fn reasons(&self) -> bool {
        self.reason.unwrap_or(self.mode == Mode::Edit)
    }

    /// Whether a thought is asked for.
    pub(crate) fn thinks(&self) -> bool {
        self.form.unwrap_or(if self.mode == Mode::Update { Form::Thought } else { Form::Plain })
            == Form::Thought
    }

    /// What is written: for updates what the option says, else what the mode says.
    pub(crate) fn artefact(&self) -> Artefact {
        match self.mode {
            Mode::Problem => Artefact::Problem,
            Mode::Update => self.artefact.unwrap_or_default(),
            Mode::Domain | Mode::Both | Mode::Edit => Artefact::Domain,
        }
    }

    /// What the schema cannot say, all at once.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let mode = self.mode.artefact();
        let mut wrong: Vec<String> = Vec::new();
        if self.form == Some(Form::Thought) && matches!(self.mode, Mode::Both | Mode::Edit) {
            wrong.push(format!(
                "`form = \"thought\"` is for the modes domain, problem and update, and not for `{mode}`"
            ));
        }
        if self.artefact.is_some() && self.mode != Mode::Update {
            wrong.push(format!("`artefact` says what an update writes, and the mode is `{mode}`"));
        }
        let shows = self.example.is_some_and(|example| example != Example::Shown(false));
        if shows && (self.thinks() || self.mode == Mode::Update) {
            wrong.push("an in-context example has no thought: `example` goes with `form = \"plain\"` alone, and not with updates".into());
        }
        if self.reason == Some(true) && self.thinks() {
            wrong.push(
                "`reason` asks for free reasoning, and `form = \"thought\"` for a thought in its place"
                    .into(),
            );
        }
        if wrong.is_empty() {
            return Ok(());
        }
        Err(Failure::new(FailureClass::Request, codes::OPTIONS, wrong.join("; "))
            .help("see `planforge plugins show translator-direct`"))
    }
}
