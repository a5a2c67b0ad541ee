//! Making, completing, rewriting and judging of suites.

mod check;
mod describe;
pub(crate) mod files;
mod inferred;
mod learn;
mod make;
pub(crate) mod paraphrase;

pub use check::{
    Checked, Goal, PipelineNeeds, Solved, SuiteCheckRequest, SuiteCheckResult, SuiteReport, TaskRow,
    check_suites,
};
pub use describe::{DescribeRequest, DescribeResult, describe};
pub use files::{Became, Entry, SuiteTask, SuiteTasks, counted, suite_tasks};
pub use inferred::Comparison;
pub use learn::{KnowledgeReport, LearnRequest, LearnResult, TaskResult, TaskRole, learn_knowledge};
pub use make::{
    Axes, Axis, DisguiseOptions, GenerateRequest, GenerateResult, GeneratedTask, ImportResult, MAPPING,
    NameGroup, NameStyle, ObfuscateRequest, ObfuscateResult, Renaming, TemplateResult, generate,
    import_actions, obfuscate, templates,
};
pub use paraphrase::{ParaphraseRequest, ParaphraseResult, TextForm, paraphrase};
pub use planforge_suites::import_actions::ImportedSuite;

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
    let command = CommandSpec::new(&worker.executable).arguments(&worker.arguments);
    Ok(TemplateRenderer::in_child(command.arguments(["--templates"])))
}
