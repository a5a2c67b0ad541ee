//! `docs/results.md`: one page of what the recordings in the repository show about methods, from replays of them.

use planforge_app::Context;
use planforge_app::evaluate::{MethodFigures, RecommendRequest, RecommendWish, Recommendation, recommend};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The page.
const PAGE: &str = "docs/results.md";
/// All recordings.
const RECORDINGS: &str = "examples/recordings";
/// The replies of frontier models. README.md of each folder has the commands that replay them.
const FRONTIER: [&str; 2] = ["examples/recordings/frontier", "examples/recordings/frontier-harder"];

#[derive(clap::Args)]
pub(crate) struct ResultsArgs {
    /// The `planforge` executable [default: the one beside this program, which `cargo build` makes].
    #[arg(long)]
    planforge: Option<PathBuf>,
}

pub(crate) fn write_results(args: &ResultsArgs) -> Result<(), String> {
    let start = Instant::now();
    let page = page(Path::new("."), &planforge(args.planforge.as_deref())?)?;
    std::fs::write(PAGE, page).map_err(|error| format!("{PAGE}: {error}"))?;
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

fn name(method: &MethodFigures) -> &str {
    method.name.split('@').next().unwrap_or(&method.name)
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
        "|{group}|{}|{}|{:.0} to {:.0}|{}|{:.1}|{}|{}|{}|\n",
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

    /// `58 of 60` of a method.
    fn right(&self, wanted: &str) -> Result<String, String> {
        let found = self.methods().find(|method| name(method) == wanted);
        found.map(right).ok_or_else(|| format!("{}: no judged task of {wanted}", self.name))
    }
}

/// Runs `planforge`.
fn run(root: &Path, planforge: &Path, args: &[String]) -> Result<(), String> {
    let ran = Command::new(planforge).current_dir(root).args(args).output();
    let ran = ran.map_err(|error| format!("{}: {error}", planforge.display()))?;
    match ran.status.success() {
        true => Ok(()),
        false => Err(format!("planforge {}: {}", args.join(" "), String::from_utf8_lossy(&ran.stderr))),
    }
}

fn answer(name: &'static str, folder: PathBuf) -> Result<Replayed, String> {
    let request = RecommendRequest { folder, wish: RecommendWish::default() };
    let found = recommend(&Context::default(), &request).map_err(|error| format!("{name}: {error}"))?;
    Ok(Replayed { name, answer: found.recommendation })
}

/// Replays everything that the page is about.
fn replays(root: &Path, planforge: &Path, place: &Path) -> Result<[Replayed; 6], String> {
    let folder = |name: &str| place.join(name);
    for recording in FRONTIER {
        let readme = read(root, &format!("{recording}/README.md"))?;
        for command in readme.lines().filter_map(|line| line.strip_prefix("    planforge ")) {
            let word = |word: &str| match word.strip_prefix("out/") {
                Some(name) => folder(name).display().to_string(),
                None => word.to_owned(),
            };
            run(root, planforge, &command.split_whitespace().map(word).collect::<Vec<_>>())?;
        }
    }
    let local = |name: &str, words: &str| {
        let words = ["evaluate"].into_iter().chain(words.split_whitespace());
        let mut args: Vec<String> = words.map(str::to_owned).collect();
        args.extend(["--out".to_owned(), folder(name).display().to_string()]);
        run(root, planforge, &args)
    };
    local(
        "local",
        "--matrix configs/matrices/benchmark.toml --only pipeline=intrinsic,llm-p --replay examples/recordings/benchmark-local-model",
    )?;
    local(
        "local-tic",
        "--suite examples/suites/blocks --suite examples/suites/grippers --suite examples/suites/barman --tasks 4 --seeds 1 \
         --pipeline configs/pipelines/llm-p.toml --pipeline examples/recordings/tic-local-model/tic-ic.toml \
         --set llm.main.max_tokens=1024 --set llm.main.base_url=http://127.0.0.1:9/v1 --replay examples/recordings/tic-local-model",
    )?;
    Ok([
        answer("frontier, five suites", folder("benchmark"))?,
        answer("frontier, unseen suites", folder("unseen"))?,
        answer("frontier, ladder", folder("ladder"))?,
        answer("frontier, at once, larger", folder("harder"))?,
        answer("1.5B, five suites", folder("local"))?,
        answer("1.5B, three suites", folder("local-tic"))?,
    ])
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

/// The page.
fn page(root: &Path, planforge: &Path) -> Result<String, String> {
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let all = replays(root, planforge, place.path())?;
    let [frontier, _, ladder, harder, _, local_tic] = &all;
    let mut out =
        "<!-- Generated by `cargo xtask results` from examples/recordings. Do not edit. -->\n\n# Results\n\n"
            .to_owned();
    let tests: usize = all.iter().map(|own| own.answer.tests).sum();
    let separated: usize = all.iter().map(|own| own.answer.separated).sum();
    let _ = write!(
        out,
        "**{separated} of {tests} pairs of methods are shown to differ** (paired exact test, Holm's correction within each evaluation, p at most 0.05).{}\n\n",
        if separated == 0 { " So these data do not say which method to use." } else { "" }
    );
    for own in &all {
        let _ =
            writeln!(out, "* {}: {} of {} pairs differ.", own.name, own.answer.separated, own.answer.tests);
    }
    let _ = write!(
        out,
        "\nTasks whose plans have up to 276 steps, and of 40 objects whose texts have all ten difficulties of the [ladder](how-to/climb-the-ladder.md), do not separate planning by the frontier model alone \
         from LLM+P: intrinsic is right in {} and {}, llm-p in {} and {} (`examples/recordings/frontier-harder`).\n",
        harder.right("intrinsic")?,
        ladder.right("intrinsic")?,
        harder.right("llm-p")?,
        ladder.right("llm-p")?
    );
    let _ = write!(
        out,
        "\nWhat `planforge evaluate recommend` says of the first: {}\n\nThese data cannot show:\n\n",
        frontier.answer.text().lines().next().unwrap_or_default()
    );
    for limit in &frontier.answer.limits {
        let _ = writeln!(out, "* {limit};");
    }
    out += "* how another model behaves: there are replies of two;\n";
    out += "* where a method breaks: no recorded task is too hard for the frontier model.\n";
    out += "\n## Methods\n\n";
    out += "Right of judged tasks, Wilson's 95 % interval in per cent, tasks not run (they count neither way), and requests, tokens, seconds of requests and US dollars a task. `?`: no price is \
            stated for these models, and the frontier model's tokens and seconds were not counted.\n\n";
    out += "|model, tasks|method|right|interval|not run|requests|tokens|seconds|USD|\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n";
    for own in &all {
        for (at, method) in own.methods().enumerate() {
            out += &row(method, if at == 0 { own.name } else { "" });
        }
    }
    out += "\nThe frontier model answered in one conversation, on the ladder and the larger tasks in fresh contexts (limits: `examples/recordings/frontier*/README.md`); 1.5B is Qwen2.5-Coder-1.5B-Instruct in 4 bits ([studies](studies/README.md#recorded-replies-of-a-small-model)).\n";
    out += "\n## Without a reference\n\n`planforge solve` on 80 texts, frontier model ([study](studies/solve.md)):\n\n| the first line says | right |\n|---|---:|\n";
    for (says, right) in calibration(root)? {
        let _ = writeln!(out, "| {says} | {right} |");
    }
    out += "\n## The four papers\n\n|paper|its claim|ours|why they differ|\n|---|---|---|---|\n";
    let _ = writeln!(
        out,
        "| [Translate-Infer-Compile](papers/translate-infer-compile.md) | right problems, GPT-4, seven domains: LLM+P 64 %, TIC-IC 100 % (Table 1) | solved, 1.5B: llm-p {}, tic-ic {}; frontier: {} and {} | other models; \
         20 tasks a domain there; theirs counts problems that are the reference, ours tasks solved; at 100 % no difference can be seen |",
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
        "| [Domain generators](papers/domain-generators.md) | equivalent domains, LLaMA-2-70b: 29 % (Table 1) | 1.5B: \"{}\"; frontier, actions-grown: {} solved | 60 prompts an action there, one here; a task can be solved by a \
         domain that is not equivalent |",
        study(root, "Two of 18 actions are right")?,
        frontier.right("actions-grown")?
    );
    let _ = writeln!(
        out,
        "| [Test-time scaling](papers/test-time-scaling.md) | domains that VAL accepts, 7B: 21.9 % alone, 85.2 % with iVML and BoN-8 (Table 2) | 1.5B, domains: {}; frontier, problems (bon-ivml, n = 2): {} solved | N = 4, T = 2 here; \
         acceptance by a parser is not a right domain |",
        study(root, "0 of 6, 0 to 39 %")?,
        frontier.right("bon-ivml-problem-n2-t1")?
    );
    out += "\n## Again\n\n    cargo build && cargo xtask results\n\nreplays the recordings (no model, no network) and writes this page; a test compares it. Every run has seed 1; the exact tests draw nothing.\n";
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With `UPDATE_PAGES=1` the page is written, as by `cargo xtask results`.
    #[test]
    fn the_page_of_results_is_what_the_recordings_give() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let page = page(&root, &planforge(None).unwrap()).unwrap();
        #[allow(clippy::disallowed_methods, reason = "an environment variable makes the test write")]
        if std::env::var_os("UPDATE_PAGES").is_some() {
            std::fs::write(root.join(PAGE), &page).unwrap();
        }
        assert_eq!(read(&root, PAGE).unwrap(), page);
        assert!(page.split_whitespace().count() < 900);
    }
}
