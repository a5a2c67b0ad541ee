//! `docs/results.md`: one page of what the recordings in the repository show about methods, from replays of them.

use planforge_app::Context;
use planforge_app::evaluate::{
    Against, MethodFigures, RecommendRequest, RecommendWish, Recommendation, recommend,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The page, and its picture: the names of files in `docs`.
const PAGE: &str = "docs/results.md";
const PICTURE: &str = "docs/results.svg";
/// All recordings.
const RECORDINGS: &str = "examples/recordings";
/// Recordings whose README.md has the commands that replay them.
const WITH_COMMANDS: [&str; 3] = ["frontier", ANSWERED_TWICE, "methods-local-model"];
/// The one whose requests were answered twice in part.
const ANSWERED_TWICE: &str = "frontier-harder";

#[derive(clap::Args)]
pub(crate) struct ResultsArgs {
    /// The `planforge` executable [default: the one beside this program, which `cargo build` makes].
    #[arg(long)]
    planforge: Option<PathBuf>,
}

pub(crate) fn write_results(args: &ResultsArgs) -> Result<(), String> {
    let start = Instant::now();
    let made = Page::new(Path::new("."), &planforge(args.planforge.as_deref())?)?;
    made.write(Path::new("."))?;
    let (files, bytes) = size(Path::new(RECORDINGS)).map_err(|error| format!("{RECORDINGS}: {error}"))?;
    println!(
        "{PAGE}, from replays of {:.0} s; {RECORDINGS} has {files} files with {:.2} MB",
        start.elapsed().as_secs_f64(),
        bytes as f64 / 1e6
    );
    Ok(())
}

/// Files of a folder and their bytes.
fn size(folder: &Path) -> std::io::Result<(usize, u64)> {
    let (mut files, mut bytes) = (0, 0);
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let own =
            if entry.file_type()?.is_dir() { size(&entry.path())? } else { (1, entry.metadata()?.len()) };
        (files, bytes) = (files + own.0, bytes + own.1);
    }
    Ok((files, bytes))
}

/// The executable that is named, or the one in the folder of this program or above it.
fn planforge(named: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(path) = named {
        return crate::programs::absolute(path);
    }
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let found =
        own.ancestors().skip(1).take(2).map(|folder| folder.join("planforge")).find(|path| path.is_file());
    found.ok_or_else(|| "no planforge beside this program: run `cargo build` first".to_owned())
}

/// An evaluation that is replayed, and its answer.
struct Replayed {
    /// Its name in the table.
    name: &'static str,
    answer: Recommendation,
}

/// The name of a method without that of the frontier model.
fn name(method: &MethodFigures) -> &str {
    method.name.split("@batch-frontier").next().unwrap_or(&method.name)
}

/// `58 of 60`.
fn right(method: &MethodFigures) -> String {
    format!("{} of {}", (method.right * 10.0).round() / 10.0, method.judged)
}

fn row(method: &MethodFigures, group: &str) -> String {
    let figure = |value: Option<f64>, digits: usize| {
        let value = value.filter(|value| *value > 0.0);
        value.map_or_else(|| "?".to_owned(), |value| format!("{value:.digits$}"))
    };
    format!(
        "|{group}|{}|{}|{:.0}-{:.0}|{}|{:.1}|{}|{}|{}|\n",
        name(method),
        right(method),
        method.low,
        method.high,
        method.not_run,
        method.requests,
        figure(method.tokens, 0),
        figure(method.seconds, 1),
        figure(method.usd, 4)
    )
}

impl Replayed {
    /// The methods with at least one judged task.
    fn methods(&self) -> impl Iterator<Item = &MethodFigures> {
        self.answer.methods.iter().filter(|method| method.judged > 0)
    }

    /// The method that is recommended.
    fn chosen(&self) -> Option<&MethodFigures> {
        self.methods().find(|method| Some(&method.name) == self.answer.method.as_ref())
    }

    /// The other methods with their comparison with the recommended one.
    fn others(&self) -> impl Iterator<Item = (&MethodFigures, Against)> {
        self.methods().filter_map(|method| Some((method, method.against?)))
    }

    /// The methods that are shown to be worse than the recommended one.
    fn worse(&self) -> impl Iterator<Item = (&MethodFigures, Against)> {
        self.others().filter(|(_, against)| against.is_shown && against.ahead < 0)
    }

    /// True for evaluations with the frontier model.
    fn is_frontier(&self) -> bool {
        self.name.starts_with("frontier")
    }

    /// `58 of 60` of a method.
    fn right(&self, wanted: &str) -> Result<String, String> {
        let found = self.methods().find(|method| name(method) == wanted);
        found.map(right).ok_or_else(|| format!("{}: no judged task of {wanted}", self.name))
    }
}

/// Runs `planforge` and returns its remarks.
fn run(root: &Path, planforge: &Path, args: &[String]) -> Result<String, String> {
    let ran = Command::new(planforge).current_dir(root).args(args).output();
    let ran = ran.map_err(|error| format!("{}: {error}", planforge.display()))?;
    let remarks = String::from_utf8_lossy(&ran.stderr).into_owned();
    match ran.status.success() {
        true => Ok(remarks),
        false => Err(format!("planforge {}: {remarks}", args.join(" "))),
    }
}

/// Runs the commands of a recording's README.md one after the other and returns their remarks.
fn run_commands(root: &Path, planforge: &Path, recording: &str, place: &Path) -> Result<String, String> {
    let readme = read(root, &format!("{RECORDINGS}/{recording}/README.md"))?;
    let mut remarks = String::new();
    for command in readme.lines().filter_map(|line| line.strip_prefix("    planforge ")) {
        let word = |word: &str| match word.strip_prefix("out/") {
            Some(name) => place.join(name).display().to_string(),
            None => word.to_owned(),
        };
        remarks += &run(root, planforge, &command.split_whitespace().map(word).collect::<Vec<_>>())?;
    }
    Ok(remarks)
}

fn answer(name: &'static str, folder: PathBuf) -> Result<Replayed, String> {
    let request = RecommendRequest { folder, wish: RecommendWish::default() };
    let found = recommend(&Context::default(), &request).map_err(|error| format!("{name}: {error}"))?;
    Ok(Replayed { name, answer: found.recommendation })
}

/// Evaluations of a small model whose commands are in no README.md: the output folder, and the words.
const LOCAL: [(&str, &str); 2] = [
    (
        "local",
        "--matrix configs/matrices/benchmark.toml --only pipeline=intrinsic,llm-p --replay examples/recordings/benchmark-local-model",
    ),
    (
        "local-tic",
        "--suite examples/suites/blocks --suite examples/suites/grippers --suite examples/suites/barman --tasks 4 --seeds 1 \
         --pipeline configs/pipelines/llm-p.toml --pipeline examples/recordings/tic-local-model/tic-ic.toml \
         --set llm.main.max_tokens=1024 --set llm.main.base_url=http://127.0.0.1:9/v1 --replay examples/recordings/tic-local-model",
    ),
];

/// Everything that the page is about.
struct Replays {
    all: [Replayed; 7],
    /// Requests that were answered twice, and those of them that were right both times.
    twice: usize,
    right_twice: usize,
    /// `6 of 8`: of those, the number with another text.
    other_texts: String,
    /// The picture.
    sizes: String,
    /// The sentence below it.
    breaks: String,
}

/// Replays the recordings, each in a thread of its own: a replay waits for files and child processes.
fn replays(root: &Path, planforge: &Path) -> Result<Replays, String> {
    let place = &tempfile::tempdir().map_err(|error| error.to_string())?;
    let folder = |name: &str| place.path().join(name);
    let local = |(name, words): (&str, &str)| {
        let words = ["evaluate"].into_iter().chain(words.split_whitespace());
        let mut args: Vec<String> = words.map(str::to_owned).collect();
        args.extend(["--out".to_owned(), folder(name).display().to_string()]);
        run(root, planforge, &args)
    };
    let remarks = std::thread::scope(|scope| -> Result<Vec<String>, String> {
        let of_readme =
            WITH_COMMANDS.map(|name| scope.spawn(move || run_commands(root, planforge, name, place.path())));
        let of_local = LOCAL.map(|each| scope.spawn(move || local(each)));
        let all = of_readme.into_iter().chain(of_local);
        let ended = all.map(|thread| thread.join().unwrap_or_else(|_| Err("a replay panicked".to_owned())));
        ended.collect()
    })?;
    let of_repeats = WITH_COMMANDS.iter().zip(&remarks).filter(|(name, _)| **name == ANSWERED_TWICE);
    let other_texts = of_repeats.flat_map(|(_, remarks)| remarks.lines()).find_map(|line| {
        let (_, after) = line.split_once("gave other replies to ")?;
        after.split_once(" repeated request").map(|(figure, _)| figure.to_owned())
    });
    let (twice, right_twice) = repeats(&folder("harder"), &folder("again"))?;
    let sizes = folder("fifteen").join("sizes.svg");
    Ok(Replays {
        all: [
            answer("1.5B, fifteen suites", folder("fifteen"))?,
            answer("1.5B, three suites", folder("local-tic"))?,
            answer("1.5B, five suites", folder("local"))?,
            answer("frontier, five suites", folder("benchmark"))?,
            answer("frontier, unseen suites", folder("unseen"))?,
            answer("frontier, ladder", folder("ladder"))?,
            answer("frontier, larger", folder("harder"))?,
        ],
        twice,
        right_twice,
        other_texts: other_texts.ok_or("no replay names the requests that were answered differently")?,
        sizes: std::fs::read_to_string(&sizes).map_err(|error| format!("{}: {error}", sizes.display()))?,
        breaks: breaks(&folder("fifteen"), "llm-p", "free")?,
    })
}

/// A line of an evaluation's `tasks.jsonl`.
#[derive(serde::Deserialize)]
struct TaskLine {
    suite: String,
    pipeline: String,
    model: String,
    task: String,
    outcome: String,
}

/// The lines of the tasks that ended and were judged.
fn judged_lines(folder: &Path) -> Result<Vec<TaskLine>, String> {
    let text = read(folder, "tasks.jsonl")?;
    let lines = text.lines().map(serde_json::from_str::<TaskLine>).collect::<Result<Vec<_>, _>>();
    let mut lines = lines.map_err(|error| format!("{}/tasks.jsonl: {error}", folder.display()))?;
    lines.retain(|line| !matches!(line.outcome.as_str(), "unfinished" | "not-judged"));
    Ok(lines)
}

/// Tasks that were judged in two evaluations, and those of them that were right in both.
fn repeats(first: &Path, again: &Path) -> Result<(usize, usize), String> {
    let results = |folder| -> Result<BTreeMap<(String, String, String), bool>, String> {
        let line = |line: TaskLine| ((line.suite, line.pipeline, line.task), line.outcome == "solved");
        Ok(judged_lines(folder)?.into_iter().map(line).collect())
    };
    let (first, again) = (results(first)?, results(again)?);
    let both: Vec<bool> =
        again.iter().filter_map(|(task, is_right)| Some(*first.get(task)? && *is_right)).collect();
    Ok((both.len(), both.iter().filter(|is_right| **is_right).count()))
}

/// Where a method of an evaluation breaks: its solved tasks by suite.
fn breaks(folder: &Path, pipeline: &str, model: &str) -> Result<String, String> {
    let mut by_suite: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for line in judged_lines(folder)? {
        if (line.pipeline.as_str(), line.model.as_str()) == (pipeline, model) {
            let (solved, all) = by_suite.entry(line.suite).or_default();
            *solved += usize::from(line.outcome == "solved");
            *all += 1;
        }
    }
    let none = by_suite.values().filter(|(solved, _)| *solved == 0).count();
    by_suite.retain(|_, (solved, _)| *solved > 0);
    let some: Vec<String> =
        by_suite.iter().map(|(suite, (solved, all))| format!("{suite} {solved} of {all}")).collect();
    Ok(format!("`{pipeline}@{model}` by suite: {}; in {none} suites none.", some.join(", ")))
}

/// The answer of an evaluation: the method to use and which ones are shown to be worse, or that no difference is shown; and the differences that
/// could be shown.
fn advice(own: &Replayed) -> String {
    let Some(chosen) = own.chosen() else {
        return format!("* **{}**: no method was judged.\n", own.name);
    };
    let score = format!("{} ({:.0} to {:.0} %)", right(chosen), chosen.low, chosen.high);
    let worse: Vec<String> = own.worse().map(|(found, against)| lead(found, against)).collect();
    let mut text = if worse.is_empty() {
        format!(
            "* **{}**: no difference is shown; {}: `{}`, {score}.",
            own.name,
            reason(own, chosen),
            name(chosen)
        )
    } else {
        format!(
            "* **{}**: use `{}`, right in {score}, better than {}.",
            own.name,
            name(chosen),
            worse.join(", ")
        )
    };
    let mut open: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (found, against) in own.others() {
        if let Some(condition) = condition(against) {
            open.entry(condition).or_default().push(format!("`{}`", name(found)));
        }
    }
    if !open.is_empty() {
        let open: Vec<String> =
            open.iter().map(|(condition, methods)| format!("{condition} ({})", methods.join(", "))).collect();
        let _ = write!(text, " Showing a difference takes {}.", open.join(", "));
    }
    text + "\n"
}

/// The lead of the recommended method over another one on their common tasks.
fn lead(found: &MethodFigures, against: Against) -> String {
    let points = -100.0 * against.ahead as f64 / against.decided.max(1) as f64;
    format!("`{}` by {points:.0} points ({})", name(found), against.p_equation())
}

/// The figure by which a method is recommended that no test shows to be better.
fn reason(own: &Replayed, chosen: &MethodFigures) -> &'static str {
    let is_as_good = |other: &MethodFigures| {
        other.name != chosen.name && other.percent >= chosen.percent && 2 * other.judged >= chosen.judged
    };
    match own.methods().any(is_as_good) {
        false => "best figure",
        true if own.methods().all(|method| method.usd.is_some()) => "least money",
        true => "fewest requests",
    }
}

/// The least result by which a test would show a difference that it does not show here. Each task has one seed.
fn condition(Against { unit, trials, needed, .. }: Against) -> Option<String> {
    let needed = needed?;
    Some(match unit {
        _ if needed > trials => format!("more {unit}s"),
        "task" => format!("{} points", (100 * needed).div_ceil(trials)),
        _ => format!("a win in {needed} of {trials} {unit}s"),
    })
}

/// The rows of the calibration in `docs/studies/solve.md`: the first line of an answer, and how many are right.
fn calibration(root: &Path) -> Result<Vec<(String, String)>, String> {
    let page = read(root, "docs/studies/solve.md")?;
    let table = page.split_once("| the first line says | right |").ok_or("solve.md has no calibration")?.1;
    let rows = table
        .lines()
        .skip(2)
        .map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    Ok(rows.map(|(says, right)| (says.to_owned(), right.to_owned())).collect())
}

fn read(root: &Path, path: &str) -> Result<String, String> {
    std::fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))
}

/// A figure of `docs/studies/README.md`, whose tables other tests compare with replays.
fn study(root: &Path, words: &'static str) -> Result<&'static str, String> {
    let page = read(root, "docs/studies/README.md")?;
    match page.contains(words) {
        true => Ok(words),
        false => Err(format!("docs/studies/README.md no longer says `{words}`")),
    }
}

/// The page and its picture.
#[derive(Debug, PartialEq)]
struct Page {
    text: String,
    picture: String,
}

impl Page {
    fn new(root: &Path, planforge: &Path) -> Result<Self, String> {
        let replays = replays(root, planforge)?;
        Ok(Self { text: text(root, &replays)?, picture: replays.sizes })
    }

    fn write(&self, root: &Path) -> Result<(), String> {
        for (file, text) in [(PAGE, &self.text), (PICTURE, &self.picture)] {
            std::fs::write(root.join(file), text).map_err(|error| format!("{file}: {error}"))?;
        }
        Ok(())
    }
}

/// The text of the page.
fn text(root: &Path, replays: &Replays) -> Result<String, String> {
    let Replays { all, twice, right_twice, other_texts, breaks, .. } = replays;
    let [fifteen, local_tic, _, frontier, ..] = all;
    let mut out =
        "<!-- Generated by `cargo xtask results` from examples/recordings. Do not edit. -->\n\n# Results\n\n"
            .to_owned();
    for (own, model) in [(fifteen, "1.5B"), (frontier, "frontier")] {
        // Without a difference that is shown, no method is better than another.
        if let Some(chosen) = own.chosen().filter(|_| own.worse().next().is_some()) {
            let is_open = |found: &&MethodFigures| found.against.is_some_and(|test| test.needed.is_some());
            let open: Vec<String> =
                own.methods().filter(is_open).map(|found| format!("`{}`", name(found))).collect();
            let open = if open.is_empty() {
                String::new()
            } else {
                format!(" (no difference from {} is shown)", open.join(", "))
            };
            let _ = write!(out, "**Use `{}` with the {model} model**{open}. ", name(chosen));
        }
    }
    let pairs = |is_frontier: bool| {
        let own = || all.iter().filter(|own| own.is_frontier() == is_frontier).map(|own| &own.answer);
        let (tests, separated) =
            (own().map(|own| own.tests).sum::<usize>(), own().map(|own| own.separated).sum::<usize>());
        format!("{separated} of {tests}")
    };
    let _ = write!(
        out,
        "**{} pairs of methods are shown to differ with the 1.5B model, {} with the frontier model** (paired exact test, Holm's correction within each evaluation, p at most 0.05).\n\n",
        pairs(false),
        pairs(true)
    );
    out.extend(all.iter().map(advice));
    out += "\n`free`: without a [grammar](reference/grammars.md); `grammar`: with one; `zero`: without an example. `larger`: our plans have up to 276 steps; \
            `ladder`: 40 objects and all ten [difficulties](how-to/climb-the-ladder.md).\n";
    let is_always_right = all
        .iter()
        .filter(|own| own.is_frontier())
        .flat_map(Replayed::methods)
        .all(|method| method.percent >= 100.0);
    let too_easy = if is_always_right { "; no recorded task is too hard for the frontier model" } else { "" };
    let _ = write!(
        out,
        "\n## Where methods break\n\n1.5B, fifteen suites, tasks in thirds by size{too_easy}.\n\n\
         ![Tasks solved over objects for each method](results.svg)\n\n{breaks}\n\n\
         These data cannot show:\n\n* differences between runs: one seed a task. The frontier model answered {twice} requests twice: {right_twice} of {twice} right both \
         times, {other_texts} texts differ;\n"
    );
    out += "* tasks that were not run: they count neither way;\n* other kinds of tasks and other models.\n\n## Methods\n\n";
    out += "Right of judged tasks, Wilson's 95 % interval in per cent; the last four columns are per task. `?`: not counted in full, or no price.\n\n";
    out += "|model, tasks|method|right|interval|not run|requests|tokens|seconds|USD|\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n";
    for own in all {
        for (at, method) in own.methods().enumerate() {
            out += &row(method, if at == 0 { own.name } else { "" });
        }
    }
    out += "\nSeconds are of different days and loads. The frontier model answered in one conversation, `ladder` and `larger` in fresh contexts (`examples/recordings/frontier*/README.md`); 1.5B is Qwen2.5-Coder-1.5B-Instruct in 4 bits ([studies](studies/README.md#recorded-replies-of-a-small-model)).\n";
    out += "\n## Without a reference\n\n`planforge solve` on 80 texts, frontier model ([study](studies/solve.md)):\n\n| the first line says | right |\n|---|---:|\n";
    for (says, right) in calibration(root)? {
        let _ = writeln!(out, "| {says} | {right} |");
    }
    out += "\n## The four papers\n\n|paper|its claim|ours|why they differ|\n|---|---|---|---|\n";
    let _ = writeln!(
        out,
        "| [Translate-Infer-Compile](papers/translate-infer-compile.md) | right problems, GPT-4, seven domains: LLM+P 64 %, TIC-IC 100 % (Table 1) | solved, 1.5B: llm-p {}, tic-ic {}; frontier: {} and {} | other models; \
         20 tasks a domain there, problems that are the reference |",
        local_tic.right("llm-p")?,
        local_tic.right("tic-ic")?,
        frontier.right("llm-p")?,
        frontier.right("tic-ic")?
    );
    let _ = writeln!(
        out,
        "| [Exploration walks](papers/exploration-walk.md) | solved, GPT-4, ten domains, best of four seeds: intrinsic 0.26, P&D chain 0.34, P&D tree 0.66 (Table 2) | frontier: intrinsic {}, pd-chain {}; pd-tree not \
         recorded | one seed; another model; five domains |",
        frontier.right("intrinsic")?,
        frontier.right("pd-chain")?
    );
    let _ = writeln!(
        out,
        "| [Domain generators](papers/domain-generators.md) | equivalent domains, LLaMA-2-70b: 29 % (Table 1) | 1.5B: \"{}\"; frontier, actions-grown: {} solved | 60 prompts an action there, one here; solved is weaker than equivalent |",
        study(root, "Two of 18 actions are right")?,
        frontier.right("actions-grown")?
    );
    let _ = writeln!(
        out,
        "| [Test-time scaling](papers/test-time-scaling.md) | domains that VAL accepts, 7B: 21.9 % alone, 85.2 % with iVML and BoN-8 (Table 2) | 1.5B, domains: {}; frontier, problems (bon-ivml, n=2): {} solved | N=4, T=2 here; \
         an accepted domain may be wrong |",
        study(root, "0 of 6, 0 to 39 %")?,
        frontier.right("bon-ivml-problem-n2-t1")?
    );
    out += "\n## Again\n\n    cargo build && cargo xtask results\n\nreplays the recordings and writes this page, which a test compares.\n";
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With `UPDATE_PAGES=1` page and picture are written, as by `cargo xtask results`.
    #[test]
    fn the_page_of_results_is_what_the_recordings_give() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let made = Page::new(&root, &planforge(None).unwrap()).unwrap();
        #[allow(clippy::disallowed_methods, reason = "an environment variable makes the test write")]
        if std::env::var_os("UPDATE_PAGES").is_some() {
            made.write(&root).unwrap();
        }
        let [text, picture] = [PAGE, PICTURE].map(|file| read(&root, file).unwrap());
        assert_eq!(Page { text, picture }, made);
        assert!(made.text.split_whitespace().count() < 900);
    }
}
