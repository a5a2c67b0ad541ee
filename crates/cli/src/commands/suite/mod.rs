//! `planforge suite`: making, completing and judging suites.

mod check;
mod describe;
mod examples;
mod files;
mod generate;
mod import_actions;
mod obfuscate;
mod paraphrase;
mod template;

use super::Context;
use crate::args::SuiteCommand;
use crate::exit::Exit;

pub(crate) fn run(context: &Context, command: &SuiteCommand) -> Exit {
    match command {
        SuiteCommand::Check(args) => check::run(context, args),
        SuiteCommand::Describe(args) => describe::run(context, args),
        SuiteCommand::Generate(args) => generate::run(context, args),
        SuiteCommand::ImportActions(args) => import_actions::run(context, args),
        SuiteCommand::Obfuscate(args) => obfuscate::run(context, args),
        SuiteCommand::Paraphrase(args) => paraphrase::run(context, args),
        SuiteCommand::Template(args) => template::run(context, args),
    }
}
