//! `planforge suite obfuscate`: a separate suite under other names.

use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::diagnostics::render::escape;
use planforge_app::suite::{
    DisguiseOptions, MAPPING, NameGroup, NameStyle, ObfuscateRequest, ObfuscateResult, Renaming, counted,
    obfuscate,
};
use planforge_app::table::{Align, Table};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::str::FromStr;

/// Rename and reorder a suite, so that a model cannot use what it has read about its domain.
#[derive(Debug, Args)]
#[command(
    after_help = "The same as [obfuscate] of a pipeline file does to the suites of a run; mapping.json of the new folder is the way back.

Examples:
  planforge suite obfuscate examples/suites/blocks --names misleading --seed 7 --out /tmp/blocks-misleading
  planforge suite obfuscate examples/suites/tyres --names random --what types,predicates,actions --out /tmp/tyres-random
  planforge suite check /tmp/blocks-misleading"
)]
pub(crate) struct SuiteObfuscateArgs {
    /// The suite's folder, with domain.pddl and a problem NAME.pddl for each task.
    pub(crate) suite: PathBuf,
    /// The kind of new names: `random` ones are made up, `misleading` ones come from another setting, with `original` only the order changes.
    #[arg(long, value_name = "KIND")]
    pub(crate) names: NamesWord,
    /// The folder that the new suite is written into.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The seed of names and order.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The kinds of names to replace: domain, types, predicates, functions, actions, objects, constants,
    /// parameters [default: all].
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    pub(crate) what: Vec<KindWord>,
    /// Do not change the texts.
    #[arg(long)]
    pub(crate) keep_texts: bool,
    /// Do not change the order.
    #[arg(long)]
    pub(crate) keep_order: bool,
    /// The new suite's name, for tables that have both; the old one without it.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Replace files that are there with other content.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `random`, `misleading` or `original`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamesWord(pub(crate) NameStyle);

/// A kind of name, such as `types`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KindWord(pub(crate) NameGroup);

impl FromStr for NamesWord {
    type Err = String;
    fn from_str(word: &str) -> Result<Self, String> {
        word_of(word, &NameStyle::ALL, |names| names.name()).map(Self)
    }
}

impl FromStr for KindWord {
    type Err = String;
    fn from_str(word: &str) -> Result<Self, String> {
        word_of(word, &NameGroup::ALL, |kind| kind.name()).map(Self)
    }
}

fn word_of<T: Copy>(word: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, String> {
    let known = || all.iter().map(|one| name(*one)).collect::<Vec<_>>().join(", ");
    all.iter().copied().find(|one| name(*one) == word).ok_or_else(|| format!("it can be {}", known()))
}

pub(crate) fn run(context: &Context, args: &SuiteObfuscateArgs) -> Exit {
    let what = if args.what.is_empty() {
        NameGroup::ALL.into()
    } else {
        args.what.iter().map(|kind| kind.0).collect()
    };
    let request = ObfuscateRequest {
        suite: args.suite.clone(),
        out: args.out.clone(),
        options: DisguiseOptions {
            names: args.names.0,
            what,
            texts: !args.keep_texts,
            reorder: !args.keep_order,
            seed: args.seed,
        },
        name: args.name.clone(),
        force: args.force,
    };
    context.show(obfuscate(&context.app, &request), |result| {
        if args.json {
            context.output.json(&result);
        } else if let Some(renaming) = &result.renaming {
            context.output.result(&report(&result, renaming));
        }
        Exit::Good
    })
}

fn report(result: &ObfuscateResult, renaming: &Renaming) -> String {
    let files = counted(&result.files);
    let mut out = format!(
        "{}: suite {} under {} names, {} exchanged, {} tasks; files: {files}; the way back is in {MAPPING}\n",
        result.folder,
        escape(&result.suite),
        renaming.style.name(),
        renaming.names.len(),
        result.tasks,
    );
    for (what, names) in
        [("left in texts, where they are words of the language", &renaming.left), ("kept", &renaming.kept)]
    {
        if !names.is_empty() {
            let _ = writeln!(out, "{what}: {}", escape(&names.join(", ")));
        }
    }
    let mut table = Table::new(["name", "new name"].map(|name| (name, Align::Left)));
    renaming.names.iter().for_each(|(name, new)| table.row([escape(name), escape(new)]));
    let _ = write!(out, "\n{}", table.text());
    out
}
