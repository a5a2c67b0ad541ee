//! `planforge runs explain`: the lines and rules behind a part of an inferred problem.

use crate::context::Context;
use crate::derivation;
use crate::exit::Exit;
use crate::run_names::run_argument;
use clap::{Args, ValueEnum};
use planforge_contract::{Candidate, Failure, FailureClass, Inference, InferredEntry, ProblemSection};
use planforge_diagnostics::render::escape;
use planforge_record::{Event, Journal, RunFolder};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

/// Explain a fact, object or goal of an inferred problem by the lines and rules behind it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge runs explain runs/20261121-101500-tic-ic \"(clean shot5)\"
  planforge runs explain runs/20261121-101500-tic-ic shot5 --task p01 --section objects
  planforge runs explain p01.json --idle

Exits with 10 where no inferred problem has it, and then names the nearest.")]
pub(crate) struct ExplainFactArgs {
    /// A run folder, or a file that `planforge pddl infer --json` wrote.
    #[arg(value_parser = run_argument())]
    pub(crate) run: PathBuf,
    /// The fact, `(clean shot5)`, or the object, `shot5` or `shot5 - shot`. Case and spacing are ignored; the
    /// reasoner's form, `init(clean(shot5))`, is accepted too [default: every part of the problem, or with
    /// --idle the lines without effect].
    pub(crate) fact: Option<String>,
    /// Only this task: `blocks.p01`, or `p01`.
    #[arg(long)]
    pub(crate) task: Option<String>,
    /// Only this part of the problem.
    #[arg(long, value_enum)]
    pub(crate) section: Option<Section>,
    /// List the lines that have no effect, and why.
    #[arg(long)]
    pub(crate) idle: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A part of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// The objects.
    Objects,
    /// The initial state.
    Init,
    /// The goal.
    Goal,
    /// The metric.
    Metric,
}

/// An inferred problem and the candidates that have it.
struct Inferred {
    task: String,
    /// Paths of the candidates; none in a file that `planforge pddl infer` wrote.
    candidates: Vec<String>,
    inference: Inference,
}

pub(crate) fn run(context: &Context, args: &ExplainFactArgs) -> Exit {
    if args.task.is_some() && args.run.is_file() {
        let message = "--task chooses among the tasks of a run, and this is a file with one problem";
        return context.usage_error(message, None);
    }
    let found = match args.run.is_dir() {
        true => of_run(&args.run, args.task.as_deref()),
        false => of_file(&args.run).map(|inferred| vec![inferred]),
    };
    let all = match found {
        Ok(all) => all,
        Err(failure) => return print_refusal(context, &failure),
    };
    if all.is_empty() {
        return print_refusal(context, &nothing(args));
    }
    explain(context, args, &all)
}

/// The failure for a run without an inferred problem, or without one of the given task.
fn nothing(args: &ExplainFactArgs) -> Failure {
    let refusal = |message: String| Failure::new(FailureClass::Request, "cli.no-inference", message);
    let run = args.run.display();
    if let Some(task) = &args.task {
        let mut tasks: Vec<String> =
            of_run(&args.run, None).unwrap_or_default().into_iter().map(|inferred| inferred.task).collect();
        tasks.dedup();
        if !tasks.is_empty() {
            return refusal(format!("`{run}` holds no inferred problem of the task `{task}`"))
                .help(format!("those of {} are there", tasks.join(", ")));
        }
    }
    refusal(format!("`{run}` holds no inferred problem"))
        .help("pipelines with translator-asp infer problems, and so does `planforge pddl infer --json`")
}

/// A part of an inferred problem.
type Part<'a> = (&'a Inferred, &'a InferredEntry);

fn explain(context: &Context, args: &ExplainFactArgs, all: &[Inferred]) -> Exit {
    let wanted = |section: ProblemSection| args.section.is_none_or(|only| only.is(section));
    let parts: Vec<Part<'_>> = all
        .iter()
        .flat_map(|inferred| inferred.inference.entries.iter().map(move |entry| (inferred, entry)))
        .filter(|(_, entry)| wanted(entry.section))
        .collect();
    let chosen = match &args.fact {
        Some(fact) => matching(&parts, fact),
        None if args.idle => Vec::new(),
        None => parts.clone(),
    };
    match &args.fact {
        Some(fact) if chosen.is_empty() => {
            unknown(context, args, fact, &parts);
            Exit::Negative
        }
        _ => {
            print(context, args, &chosen, all);
            Exit::Good
        }
    }
}

fn unknown(context: &Context, args: &ExplainFactArgs, fact: &str, parts: &[Part<'_>]) {
    let nearest = nearest(parts, fact);
    if args.json {
        context.output.json(&json!({"found": [], "nearest": nearest}));
    }
    let of = args.section.map(|section| format!(" in :{}", section.name())).unwrap_or_default();
    context.output.note(&format!("error: no inferred problem has `{}`{of}", escape(fact)));
    if !nearest.is_empty() {
        let nearest: Vec<String> = nearest.iter().map(|near| format!("`{}`", escape(near))).collect();
        context.output.note(&format!("help: the nearest are {}", nearest.join(", ")));
    }
}

fn print(context: &Context, args: &ExplainFactArgs, parts: &[Part<'_>], all: &[Inferred]) {
    if args.json {
        let found: Vec<Value> = parts
            .iter()
            .map(|(inferred, entry)| {
                let mut value = derivation::entry_json(&inferred.inference, entry);
                value["task"] = json!(inferred.task);
                value["candidates"] = json!(inferred.candidates);
                value
            })
            .collect();
        let mut value = json!({"found": found});
        if args.idle {
            value["idle"] = all
                .iter()
                .map(|inferred| {
                    json!({
                        "task": inferred.task,
                        "candidates": inferred.candidates,
                        "lines": derivation::idle_json(&inferred.inference),
                    })
                })
                .collect();
        }
        context.output.json(&value);
        return;
    }
    let mut out = String::new();
    let mut last: Option<&Inferred> = None;
    for (inferred, entry) in parts {
        if last.is_none_or(|last| !std::ptr::eq(last, *inferred)) {
            out.push_str(&heading(inferred));
            last = Some(inferred);
        }
        out.push_str(&derivation::tree(&inferred.inference, entry));
    }
    if args.idle {
        for inferred in all {
            if all.len() > 1 || parts.is_empty() {
                out.push_str(&heading(inferred));
            }
            out.push_str(&derivation::idle(&inferred.inference));
        }
    }
    context.output.result(&out);
}

/// The heading of a problem; empty for a file, which contains one.
fn heading(inferred: &Inferred) -> String {
    match inferred.candidates.as_slice() {
        [] => String::new(),
        [one] => format!("=== {}\n", escape(one)),
        [one, rest @ ..] => format!("=== {} and {} more with the same problem\n", escape(one), rest.len()),
    }
}

/// The parts that match a fact, object or atom, ignoring case and spacing; if none matches, also ignoring
/// substitutes of hyphens.
fn matching<'a>(parts: &[Part<'a>], fact: &str) -> Vec<Part<'a>> {
    let exact = |text: &str| tokens(text);
    let loose = |text: &str| tokens(&text.replace('-', "_"));
    let by = |key: &dyn Fn(&str) -> Vec<String>| -> Vec<Part<'a>> {
        let wanted = key(fact);
        parts.iter().copied().filter(|(inferred, entry)| is_meant(inferred, entry, &wanted, key)).collect()
    };
    let found = by(&exact);
    if found.is_empty() { by(&loose) } else { found }
}

/// True if an entry matches: as written in the problem, with or without parentheses, an object by its name
/// alone, or in the reasoner's form.
fn is_meant(
    inferred: &Inferred,
    entry: &InferredEntry,
    wanted: &[String],
    key: &dyn Fn(&str) -> Vec<String>,
) -> bool {
    if bare(&key(&entry.pddl)) == bare(wanted) {
        return true;
    }
    if entry.section == ProblemSection::Objects {
        let name = entry.pddl.split(" - ").next().unwrap_or_default();
        if key(name) == wanted {
            return true;
        }
    }
    let atoms = entry.atoms.iter().filter_map(|&index| inferred.inference.atoms.get(index as usize));
    atoms.into_iter().any(|atom| {
        let written = key(&atom.atom);
        // `init(clean(shot5))`, or only what stands in it.
        let inner = match written.as_slice() {
            [_, open, inner @ .., close] if open == "(" && close == ")" => inner,
            _ => &[],
        };
        written == wanted || inner == wanted
    })
}

/// Without a pair of parentheses around everything.
fn bare(tokens: &[String]) -> &[String] {
    match tokens {
        [open, inner @ .., close]
            if open == "(" && close == ")" && !inner.iter().any(|token| token == "(") =>
        {
            inner
        }
        whole => whole,
    }
}

/// Words, parentheses and commas in lower case.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        let ends = c.is_whitespace() || matches!(c, '(' | ')' | ',');
        if ends && !word.is_empty() {
            tokens.push(std::mem::take(&mut word));
        }
        if matches!(c, '(' | ')' | ',') {
            tokens.push(c.to_string());
        } else if !ends {
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
}

/// The parts that read most like it, best first.
fn nearest(parts: &[Part<'_>], fact: &str) -> Vec<String> {
    const SHOWN: usize = 3;
    let plain = |text: &str| bare(&tokens(text)).join(" ").replace('-', "_");
    let wanted = plain(fact);
    let mut near: Vec<(f64, &str)> = parts
        .iter()
        .map(|(_, entry)| (strsim::jaro_winkler(&plain(&entry.pddl), &wanted), entry.pddl.as_str()))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.dedup();
    near.into_iter().take(SHOWN).map(|(_, pddl)| pddl.to_owned()).collect()
}

/// The inferred problems of a run, in the order of their creation; one shared by several candidates is listed
/// once.
fn of_run(path: &Path, task: Option<&str>) -> Result<Vec<Inferred>, Failure> {
    let folder = RunFolder::open(path, Arc::default())?;
    let mut all: Vec<Inferred> = Vec::new();
    for event in folder.events() {
        let Event::CandidateMade { task: of, path, candidate, .. } = event else { continue };
        // A task's name is `SUITE.STEM`; the stem alone is enough.
        if task.is_some_and(|only| only != of && of.rsplit('.').next() != Some(only)) {
            continue;
        }
        let candidate: Candidate = serde_json::from_slice(&folder.get(&candidate)?)
            .map_err(|error| unreadable(folder.path(), &error.to_string()))?;
        let Some(inference) = candidate.inference else { continue };
        match all.iter_mut().find(|known| known.task == of && known.inference == inference) {
            // A run that was interrupted tells of a candidate again.
            Some(known) if known.candidates.contains(&path) => {}
            Some(known) => known.candidates.push(path),
            None => all.push(Inferred { task: of, candidates: vec![path], inference }),
        }
    }
    Ok(all)
}

/// The inferred problem in a file that `planforge pddl infer --json` wrote.
fn of_file(path: &Path) -> Result<Inferred, Failure> {
    let bytes = fs::read(path).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", path.display());
        Failure::new(FailureClass::Request, "cli.unreadable-file", message)
            .help("name a run folder, or a file that `planforge pddl infer --json` wrote")
    })?;
    let mut value: Value =
        serde_json::from_slice(&bytes).map_err(|error| unreadable(path, &error.to_string()))?;
    let inference = match value.get_mut("inference").map(Value::take) {
        None | Some(Value::Null) => {
            return Err(unreadable(path, "it has no `inference`; is it from `planforge pddl infer --json`?"));
        }
        Some(inference) => serde_json::from_value(inference).map_err(|e| unreadable(path, &e.to_string()))?,
    };
    Ok(Inferred { task: String::new(), candidates: Vec::new(), inference })
}

fn unreadable(path: &Path, why: &str) -> Failure {
    let message = format!("`{}` is not a run folder and holds no inferred problem: {why}", path.display());
    Failure::new(FailureClass::Request, "cli.no-inference", message)
        .help("name a run folder, or a file that `planforge pddl infer --json` wrote")
}

/// Prints a failure of the given input.
fn print_refusal(context: &Context, failure: &Failure) -> Exit {
    match failure.class {
        FailureClass::Request => {
            context.print_failure(failure);
            Exit::Input
        }
        _ => context.print_failure(failure),
    }
}

impl Section {
    fn is(self, section: ProblemSection) -> bool {
        self.name() == derivation::section_name(section)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Objects => "objects",
            Self::Init => "init",
            Self::Goal => "goal",
            Self::Metric => "metric",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::{InferenceRule, InferredAtom, RuleOrigin};
    use planforge_record::RunManifest;

    fn inference(pddl: &str, atom: &str) -> Inference {
        let rule = InferenceRule {
            origin: RuleOrigin::Text,
            source: "ir".into(),
            line: 1,
            column: 1,
            text: "".into(),
        };
        let atom = InferredAtom { atom: atom.into(), rule: 0, premises: vec![], absent: vec![], others: 0 };
        let section =
            if atom.atom.starts_with("object") { ProblemSection::Objects } else { ProblemSection::Init };
        let entry = InferredEntry { section, pddl: pddl.into(), atoms: vec![0] };
        Inference { rules: vec![rule], atoms: vec![atom], entries: vec![entry], idle: vec![] }
    }

    fn one_inferred(inference: Inference) -> Inferred {
        Inferred { task: "p01".into(), candidates: vec![], inference }
    }

    #[test]
    fn a_fact_is_found_however_it_is_spelt() {
        let fact = one_inferred(inference("(cocktail-part1 c1 gin)", "init(cocktail_part1(c1,gin))"));
        let object = one_inferred(inference("shot5 - shot", "object(shot5,shot)"));
        let found = |inferred: &Inferred, text: &str| {
            let parts: Vec<Part<'_>> =
                inferred.inference.entries.iter().map(|entry| (inferred, entry)).collect();
            matching(&parts, text).len()
        };
        for text in [
            "(cocktail-part1 c1 gin)",
            "( COCKTAIL-PART1   c1 Gin )",
            "cocktail-part1 c1 gin",
            "(cocktail_part1 c1 gin)",
            "init(cocktail_part1(c1, gin))",
            "cocktail_part1(c1,gin)",
        ] {
            assert_eq!(found(&fact, text), 1, "{text}");
        }
        for text in
            ["(cocktail-part1 gin c1)", "(cocktail-part1 c1)", "", "()", "goal(cocktail_part1(c1, gin))"]
        {
            assert_eq!(found(&fact, text), 0, "{text}");
        }
        for text in ["shot5", "shot5 - shot", "Shot5 -  SHOT", "object(shot5, shot)"] {
            assert_eq!(found(&object, text), 1, "{text}");
        }
        assert_eq!(found(&object, "shot"), 0);
    }

    #[test]
    fn a_run_is_read_candidate_by_candidate() {
        let runs = tempfile::tempdir().unwrap();
        let manifest: RunManifest = serde_json::from_value(json!({
            "schema": RunManifest::SCHEMA, "id": "r", "planforge": "0", "created_at": "2026-01-01T00:00:00Z",
            "config": {"path": "tic-ic.toml", "text": "", "sha256": ""},
        }))
        .unwrap();
        let folder = RunFolder::create(runs.path(), manifest, Arc::default()).unwrap();
        let (one, other) = (inference("(p)", "init(p)"), inference("(q)", "init(q)"));
        let made = [
            ("p01", "p01/ir@0", Some(&one)),
            ("p01", "p01/ir@1", Some(&one)),
            ("p01", "p01/ir@1", Some(&one)),
            ("p01", "p01/ir@2", Some(&other)),
            ("p02", "p02/ir@0", Some(&one)),
            ("p02", "p02/ir@1", None),
        ];
        for (task, path, inference) in made {
            let candidate = Candidate { inference: inference.cloned(), ..Candidate::default() };
            let blob = folder.put(&serde_json::to_vec(&candidate).unwrap()).unwrap();
            let (task, path) = (task.to_owned(), path.to_owned());
            folder
                .append(&Event::CandidateMade { task, path, candidate: blob.clone(), patch: blob })
                .unwrap();
        }
        let read = |task: Option<&str>| {
            let all = of_run(&runs.path().join("r"), task).unwrap_or_default();
            all.into_iter().map(|inferred| inferred.candidates.join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(read(None), ["p01/ir@0 p01/ir@1", "p01/ir@2", "p02/ir@0"]);
        assert_eq!(read(Some("p02")), ["p02/ir@0"]);
        assert!(read(Some("p03")).is_empty());
    }
}
