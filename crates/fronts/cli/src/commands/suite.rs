//! `planforge suite`: making, completing and judging suites.

mod check;
mod describe;
mod generate;
mod import_actions;
mod learn_knowledge;
mod obfuscate;
mod paraphrase;
mod template;

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};

/// Generate, complete, check and rewrite suites.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge suite generate examples/suites/grippers --tasks 10 --seed 7 --out /tmp/grippers
  planforge suite check my-suite --solve
  planforge suite template my-suite")]
pub(crate) struct SuiteArgs {
    #[command(subcommand)]
    pub(crate) command: SuiteCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    Generate(generate::SuiteGenerateArgs),
    Check(check::SuiteCheckArgs),
    Describe(describe::SuiteDescribeArgs),
    Paraphrase(paraphrase::SuiteParaphraseArgs),
    ImportActions(import_actions::SuiteImportActionsArgs),
    LearnKnowledge(learn_knowledge::SuiteLearnKnowledgeArgs),
    Obfuscate(obfuscate::SuiteObfuscateArgs),
    Template(template::SuiteTemplateArgs),
}

pub(crate) fn run(context: &Context, args: &SuiteArgs) -> Exit {
    match &args.command {
        SuiteCommand::Check(args) => check::run(context, args),
        SuiteCommand::Describe(args) => describe::run(context, args),
        SuiteCommand::Generate(args) => generate::run(context, args),
        SuiteCommand::ImportActions(args) => import_actions::run(context, args),
        SuiteCommand::LearnKnowledge(args) => learn_knowledge::run(context, args),
        SuiteCommand::Obfuscate(args) => obfuscate::run(context, args),
        SuiteCommand::Paraphrase(args) => paraphrase::run(context, args),
        SuiteCommand::Template(args) => template::run(context, args),
    }
}
