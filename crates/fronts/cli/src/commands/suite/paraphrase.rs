//! `planforge suite paraphrase`: a separate suite with the same tasks in other words.

use crate::args::positive;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::suite::{ParaphraseRequest, TextForm, counted, paraphrase};
use std::path::PathBuf;

/// Reword each task with the suite's wordings.jinja: a separate suite with the same problems.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge suite paraphrase examples/suites/blocks --out /tmp/blocks-paraphrased --seed 7
  planforge suite paraphrase examples/suites/blocks --out /tmp/blocks-implied --level 3")]
pub(crate) struct SuiteParaphraseArgs {
    /// The suite's folder, with domain.pddl, wordings.jinja and a problem NAME.pddl for each task.
    pub(crate) suite: PathBuf,
    /// The folder that the new suite is written into.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The seed of order and words.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of texts for each task: NAME-w1, NAME-w2, ...
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=999))]
    pub(crate) wordings: u32,
    /// Write texts that imply facts instead of stating them: 2 counts things and describes layouts, 3 also reorders and adds what is
    /// irrelevant, 4 also omits common knowledge from the domain's text. clingo proves that each text implies its problem.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=4), conflicts_with = "wordings")]
    pub(crate) level: Option<u8>,
    /// At most so many tasks, the first by name; all where it is not given.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) tasks: Option<usize>,
    /// Replace files that are there with other content.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &SuiteParaphraseArgs) -> Exit {
    let request = ParaphraseRequest {
        suite: args.suite.clone(),
        out: args.out.clone(),
        seed: args.seed,
        form: args.level.map_or(TextForm::Wordings(args.wordings), TextForm::Level),
        tasks: args.tasks,
        force: args.force,
    };
    context.show(paraphrase(&context.app, &request), |result| {
        if args.json {
            context.output.json(&result);
            return Exit::Good;
        }
        let (folder, texts, files) = (&result.folder, result.tasks.len(), counted(&result.files));
        context.output.result(&format!("{folder}: {texts} texts, {files} from seed {}\n", result.seed));
        Exit::Good
    })
}
