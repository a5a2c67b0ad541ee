//! `runs explain`: the derivation of a part of an inferred problem: the atom, the rule that made it, the premises of the rule, down to the
//! lines of the intermediate representation (translate-infer-compile paper, section 3.3).

use crate::context::Context;
use crate::error::Error;
use crate::status::Status;
use planforge_contract::{
    Candidate, Failure, FailureClass, IdleRule, Inference, InferredAtom, InferredEntry, ProblemSection,
};
use planforge_diagnostics::skip_byte_order_mark_bytes;
use planforge_record::{Event, Journal, MAX_RECORD_BYTES, RunFolder, read_argument};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A question about inferred problems.
#[derive(Debug, Clone, Default)]
pub struct ExplainRequest {
    /// A run folder, or a file with the JSON form of `pddl infer`.
    pub run: PathBuf,
    /// A fact, `(clean shot5)`, or an object, `shot5` or `shot5 - shot`; `None` for every part, or with `idle` for none. Case and
    /// spacing are ignored; the reasoner's form, `init(clean(shot5))`, is accepted too.
    pub fact: Option<String>,
    /// Only this task: `blocks.p01`, or `p01`.
    pub task: Option<String>,
    /// Only this part of the problem.
    pub section: Option<ProblemSection>,
    /// True to list the lines that have no effect.
    pub idle: bool,
}

/// An inferred problem and the candidates that have it.
#[derive(Debug, Clone)]
pub struct Inferred {
    /// Name of the task; empty in a file.
    pub task: String,
    /// Paths of the candidates; none in a file.
    pub candidates: Vec<String>,
    /// The derivation.
    pub inference: Inference,
}

/// The parts that were asked about. Its JSON form has their derivations.
#[derive(Debug, Clone)]
pub struct ExplainResult {
    /// Every inferred problem.
    pub problems: Vec<Inferred>,
    /// The parts: index into `problems`, and into the entries of its inference.
    found: Vec<(usize, usize)>,
    /// The parts that read most like the fact; `None` if it was found.
    pub nearest: Option<Vec<String>>,
    idle: bool,
}

impl ExplainResult {
    /// Negative if no inferred problem has the fact.
    pub fn status(&self) -> Status {
        if self.nearest.is_some() { Status::Negative } else { Status::Good }
    }

    /// The parts that were found.
    pub fn parts(&self) -> impl Iterator<Item = (&Inferred, &InferredEntry)> {
        self.found.iter().map(|&(problem, entry)| {
            let inferred = &self.problems[problem];
            (inferred, &inferred.inference.entries[entry])
        })
    }
}

impl Serialize for ExplainResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let part = |(inferred, entry): (&Inferred, &InferredEntry)| {
            let mut value = entry_json(&inferred.inference, entry);
            value["task"] = json!(inferred.task);
            value["candidates"] = json!(inferred.candidates);
            value
        };
        let mut value = json!({ "found": self.parts().map(part).collect::<Vec<_>>() });
        if let Some(nearest) = &self.nearest {
            value["nearest"] = json!(nearest);
        } else if self.idle {
            let lines = |of: &Inferred| json!({ "task": of.task, "candidates": of.candidates, "lines": idle_json(&of.inference) });
            value["idle"] = self.problems.iter().map(lines).collect();
        }
        value.serialize(serializer)
    }
}

/// Finds parts of the inferred problems of a run or a file.
///
/// # Errors
/// The run or the file cannot be read, or holds no inferred problem (`cli.no-inference`).
pub fn explain(context: &Context, request: &ExplainRequest) -> Result<ExplainResult, Error> {
    let path = &context.path(&request.run);
    if request.task.is_some() && path.is_file() {
        let message = "--task chooses among the tasks of a run, and this is a file with one problem";
        return Err(Error::usage(message, None));
    }
    let found = match path.is_dir() {
        true => of_run(path, request.task.as_deref()),
        false => of_file(path, &request.run).map(|inferred| vec![inferred]),
    };
    let problems = match found {
        Ok(problems) if problems.is_empty() => Err(nothing(path, request)),
        found => found,
    };
    let problems = problems.map_err(refusal)?;
    let wanted = |section: ProblemSection| request.section.is_none_or(|only| only == section);
    let parts: Vec<Part<'_>> = problems
        .iter()
        .enumerate()
        .flat_map(|(place, inferred)| {
            inferred.inference.entries.iter().enumerate().map(move |(n, entry)| Part {
                place: (place, n),
                inferred,
                entry,
            })
        })
        .filter(|part| wanted(part.entry.section))
        .collect();
    let found: Vec<(usize, usize)> = match &request.fact {
        Some(fact) => matching(&parts, fact),
        None if request.idle => Vec::new(),
        None => parts.iter().map(|part| part.place).collect(),
    };
    let nearest = request.fact.as_ref().filter(|_| found.is_empty()).map(|fact| nearest(&parts, fact));
    Ok(ExplainResult { found, nearest, idle: request.idle, problems })
}

/// A failure of the given input ends with the status of input.
fn refusal(failure: Failure) -> Error {
    match failure.class {
        FailureClass::Request => Error::from(failure).with_status(Status::Input),
        _ => failure.into(),
    }
}

/// The failure for a run without an inferred problem, or without one of the given task.
fn nothing(path: &Path, request: &ExplainRequest) -> Failure {
    let refused = |message: String| Failure::new(FailureClass::Request, "cli.no-inference", message);
    let run = request.run.display();
    if let Some(task) = &request.task {
        let mut tasks: Vec<String> =
            of_run(path, None).unwrap_or_default().into_iter().map(|inferred| inferred.task).collect();
        tasks.dedup();
        if !tasks.is_empty() {
            return refused(format!("`{run}` holds no inferred problem of the task `{task}`"))
                .help(format!("those of {} are there", tasks.join(", ")));
        }
    }
    refused(format!("`{run}` holds no inferred problem"))
        .help("pipelines with translator-asp infer problems, and so does `planforge pddl infer --json`")
}

/// A part of an inferred problem.
#[derive(Clone, Copy)]
struct Part<'a> {
    /// Index of the problem, and of the entry.
    place: (usize, usize),
    inferred: &'a Inferred,
    entry: &'a InferredEntry,
}

/// The parts that match a fact, object or atom, ignoring case and spacing; if none matches, also ignoring
/// substitutes of hyphens.
fn matching(parts: &[Part<'_>], fact: &str) -> Vec<(usize, usize)> {
    let exact = |text: &str| tokens(text);
    let loose = |text: &str| tokens(&text.replace('-', "_"));
    let by = |key: &dyn Fn(&str) -> Vec<String>| -> Vec<(usize, usize)> {
        let wanted = key(fact);
        parts.iter().filter(|part| is_meant(part, &wanted, key)).map(|part| part.place).collect()
    };
    let found = by(&exact);
    if found.is_empty() { by(&loose) } else { found }
}

/// True if an entry matches: as written in the problem, with or without parentheses, an object by its name
/// alone, or in the reasoner's form.
fn is_meant(part: &Part<'_>, wanted: &[String], key: &dyn Fn(&str) -> Vec<String>) -> bool {
    let Part { inferred, entry, .. } = part;
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
        .map(|part| (strsim::jaro_winkler(&plain(&part.entry.pddl), &wanted), part.entry.pddl.as_str()))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.dedup();
    near.into_iter().take(SHOWN).map(|(_, pddl)| pddl.to_owned()).collect()
}

/// The section as the command line and JSON call it.
pub fn section_name(section: ProblemSection) -> &'static str {
    match section {
        ProblemSection::Objects => "objects",
        ProblemSection::Init => "init",
        ProblemSection::Goal => "goal",
        ProblemSection::Metric => "metric",
    }
}

/// A part of a problem as JSON: the atoms of its derivation, with indices into this list and the rules
/// inline.
fn entry_json(inference: &Inference, entry: &InferredEntry) -> Value {
    let mut place: BTreeMap<u32, usize> = BTreeMap::new();
    let mut order = Vec::new();
    let mut rest: Vec<u32> = entry.atoms.iter().rev().copied().collect();
    while let Some(index) = rest.pop() {
        let Some(atom) = inference.atoms.get(index as usize) else { continue };
        if place.contains_key(&index) {
            continue;
        }
        place.insert(index, order.len());
        order.push(atom);
        rest.extend(atom.premises.iter().rev());
    }
    let indices = |of: &[u32]| of.iter().filter_map(|index| place.get(index).copied()).collect::<Vec<_>>();
    let atoms: Vec<Value> = order
        .iter()
        .map(|InferredAtom { atom, rule, premises, absent, others }| {
            json!({
                "atom": atom,
                "rule": inference.rules.get(*rule as usize),
                "premises": indices(premises),
                "absent": absent,
                "others": others,
            })
        })
        .collect();
    json!({
        "section": section_name(entry.section),
        "pddl": entry.pddl,
        "from": indices(&entry.atoms),
        "atoms": atoms,
    })
}

/// The lines without effect as JSON.
fn idle_json(inference: &Inference) -> Value {
    let one = |IdleRule { rule, reason }: &IdleRule| json!({"rule": inference.rules.get(*rule as usize), "reason": reason});
    inference.idle.iter().map(one).collect()
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
        let candidate: Candidate = planforge_contract::read_json(&folder.get(&candidate)?)
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
fn of_file(path: &Path, shown: &Path) -> Result<Inferred, Failure> {
    let bytes = read_argument(path, MAX_RECORD_BYTES).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", shown.display());
        Failure::new(FailureClass::Request, "cli.unreadable-file", message)
            .help("name a run folder, or a file that `planforge pddl infer --json` wrote")
    })?;
    let mut value: Value = serde_json::from_slice(skip_byte_order_mark_bytes(&bytes))
        .map_err(|error| unreadable(shown, &error.to_string()))?;
    let inference = match value.get_mut("inference").map(Value::take) {
        None | Some(Value::Null) => {
            return Err(unreadable(
                shown,
                "it has no `inference`; is it from `planforge pddl infer --json`?",
            ));
        }
        Some(inference) => {
            serde_json::from_value(inference).map_err(|e| unreadable(shown, &e.to_string()))?
        }
    };
    Ok(Inferred { task: String::new(), candidates: Vec::new(), inference })
}

fn unreadable(path: &Path, why: &str) -> Failure {
    let message = format!("`{}` is not a run folder and holds no inferred problem: {why}", path.display());
    Failure::new(FailureClass::Request, "cli.no-inference", message)
        .help("name a run folder, or a file that `planforge pddl infer --json` wrote")
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
            let parts: Vec<Part<'_>> = inferred
                .inference
                .entries
                .iter()
                .map(|entry| Part { place: (0, 0), inferred, entry })
                .collect();
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
    fn a_shared_premise_is_one_atom_of_the_json_form() {
        let mut inference = inference("(p)", "a");
        inference.atoms[0].premises = vec![1, 2];
        for (name, premises) in [("b", vec![3]), ("c", vec![3]), ("d", vec![])] {
            inference.atoms.push(InferredAtom { atom: name.into(), premises, ..inference.atoms[0].clone() });
        }
        let json = entry_json(&inference, &inference.entries[0]);
        assert_eq!(json["atoms"].as_array().map(Vec::len), Some(4));
        assert_eq!(json["atoms"][3]["premises"], json!([2]));
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
