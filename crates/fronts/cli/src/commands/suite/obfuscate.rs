//! `planforge suite obfuscate`: a separate suite under other names.

use super::files::{Files, counted};
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_diagnostics::render::escape;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::{Align, Table};
use planforge_obfuscate::{DisguiseOptions, NameGroup, NameStyle, Renaming};
use planforge_pipeline::{Suite, Texts, disguise_suite, load_suite_with};
use planforge_suites::obfuscate::{MAPPING, files};
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
    let loaded = load_suite_with(&args.suite, Texts::Optional);
    context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
    let Some(suite) = loaded.suite else { return Exit::Input };
    let what = if args.what.is_empty() {
        NameGroup::ALL.into()
    } else {
        args.what.iter().map(|kind| kind.0).collect()
    };
    let options = DisguiseOptions {
        names: args.names.0,
        what,
        texts: !args.keep_texts,
        reorder: !args.keep_order,
        seed: args.seed,
    };
    let new = match disguise_suite(&suite, &options) {
        Ok(new) => new,
        Err(found) => {
            context.output.diagnostics(&found, &SourceMap::default());
            return Exit::Input;
        }
    };
    if is_inside(&args.suite, &args.out) {
        let message = format!("{} is the suite's own folder", args.out.display());
        let wrong = Diagnostic::error("cli.file-exists", message).help("name another folder with --out");
        context.output.diagnostics(&[wrong], &SourceMap::default());
        return Exit::Input;
    }
    match Files::new(&args.out, files(&new, args.name.as_deref())).write(context, args.force) {
        Ok(entries) => {
            let renaming = new.disguise.as_ref().map(|disguise| disguise.names.renaming());
            if args.json {
                context.output.json(&serde_json::json!({
                    "folder": args.out.display().to_string(), "suite": suite.name, "tasks": suite.tasks.len(),
                    "renaming": renaming, "files": entries,
                }));
            } else if let Some(renaming) = renaming {
                let files = counted(&entries);
                context.output.result(&report(args, &suite, renaming, &files));
            }
            Exit::Good
        }
        Err(exit) => exit,
    }
}

/// Names would be exchanged for names of the same folder.
fn is_inside(suite: &std::path::Path, out: &std::path::Path) -> bool {
    out.canonicalize().ok().is_some_and(|out| suite.canonicalize().ok() == Some(out))
}

fn report(args: &SuiteObfuscateArgs, suite: &Suite, renaming: &Renaming, files: &str) -> String {
    let mut out = format!(
        "{}: suite {} under {} names, {} exchanged, {} tasks; files: {files}; the way back is in {MAPPING}\n",
        args.out.display(),
        escape(&suite.name),
        renaming.style.name(),
        renaming.names.len(),
        suite.tasks.len(),
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
