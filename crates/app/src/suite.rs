//! Making, completing, rewriting and judging of suites.

pub(crate) mod files;
mod inferred;
mod levels;
pub(crate) mod paraphrase;

pub use files::{Became, Entry, counted};
pub use paraphrase::{ParaphraseRequest, ParaphraseResult, TextForm, paraphrase};

use crate::context::Context;
use crate::error::Error;
use planforge_child::CommandSpec;
use planforge_contract::{Failure, FailureClass};
use planforge_suites::TemplateRenderer;

/// A renderer of templates in a child process, because a suite may be a stranger's.
fn template_renderer(context: &Context) -> Result<TemplateRenderer, Error> {
    let Some(worker) = &context.plugins.worker else {
        let message = "there is no worker program, so templates cannot be rendered";
        return Err(Failure::new(FailureClass::System, "host.worker-died", message).into());
    };
    Ok(TemplateRenderer::in_child(CommandSpec::new(worker).arguments(["worker", "--templates"])))
}
