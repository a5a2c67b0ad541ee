//! `planforge pddl grammar`: what a model may write about a domain, for servers that constrain replies.

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, ValueEnum};
use planforge_app::pddl::grammar::{self, GrammarRequest, grammar};
use std::path::PathBuf;

/// Print a grammar that rules out ill-formed PDDL about a domain.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl grammar domain.pddl p01.pddl --of problem --format gbnf > problem.gbnf
  planforge pddl grammar domain.pddl --of action --action move --format lark
  planforge pddl grammar domain.pddl p01.pddl --of plan --format json-schema")]
pub(crate) struct GrammarArgs {
    /// The domain file.
    pub(crate) domain: PathBuf,
    /// A problem file, of which the objects count. Without it, objects are any names.
    pub(crate) problem: Option<PathBuf>,
    /// The text that the grammar describes.
    #[arg(long, value_name = "KIND", default_value = "problem")]
    pub(crate) of: GrammarKind,
    /// The notation: GBNF for llama.cpp, vLLM and SGLang, Lark for llguidance and OpenAI, or a JSON schema for other services.
    #[arg(long, value_name = "FORMAT", default_value = "gbnf")]
    pub(crate) format: GrammarFormat,
    /// An action of the domain. With `--of action` its name and parameters are fixed, with `--of parameters` its name. Without it, the model
    /// chooses them.
    #[arg(long, value_name = "NAME")]
    pub(crate) action: Option<String>,
}

/// Text that a grammar describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrammarKind {
    /// A problem.
    Problem,
    /// The objects of a problem.
    Objects,
    /// One action.
    Action,
    /// The name and the parameters of one action.
    Parameters,
    /// A plan.
    Plan,
    /// Edits of the domain and, with a problem, of that.
    Edit,
    /// A representation as an answer set program.
    Asp,
    /// A whole domain; syntax only.
    Domain,
}

/// Notation of a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrammarFormat {
    Gbnf,
    Lark,
    JsonSchema,
}

impl From<GrammarKind> for grammar::GrammarKind {
    fn from(kind: GrammarKind) -> Self {
        match kind {
            GrammarKind::Problem => Self::Problem,
            GrammarKind::Objects => Self::Objects,
            GrammarKind::Action => Self::Action,
            GrammarKind::Parameters => Self::Parameters,
            GrammarKind::Plan => Self::Plan,
            GrammarKind::Edit => Self::Edit,
            GrammarKind::Asp => Self::Asp,
            GrammarKind::Domain => Self::Domain,
        }
    }
}

impl From<GrammarFormat> for grammar::GrammarFormat {
    fn from(format: GrammarFormat) -> Self {
        match format {
            GrammarFormat::Gbnf => Self::Gbnf,
            GrammarFormat::Lark => Self::Lark,
            GrammarFormat::JsonSchema => Self::JsonSchema,
        }
    }
}

pub(crate) fn run(context: &Context, args: &GrammarArgs) -> Exit {
    let request = GrammarRequest {
        domain: args.domain.clone().into(),
        problem: args.problem.clone().map(Into::into),
        kind: args.of.into(),
        format: args.format.into(),
        action: args.action.clone(),
    };
    context.show(grammar(&context.app, &request), |result| {
        context.output.result(&result.text);
        Exit::Good
    })
}
