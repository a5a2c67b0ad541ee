//! Reference representations (translate-infer-compile paper): texts are converted by patterns, without a model, and what is inferred from
//! them and the knowledge files is compared with the suites' own problems. As a control, texts with one name or number changed must
//! give other problems.
//!
//! The converter is a separate process, in a folder with nothing but the text, the domain and the knowledge
//! file, so that its output depends on them alone.

mod llm_p;
mod outcome;
mod own;
mod patterns;
#[cfg(test)]
mod tests;

use outcome::{Census, ChangeResult, Control, Outcome, infer_outcome};
use patterns::Pattern;
use planforge_pipeline::Suite;
use planforge_planning::Unlimited;
use planforge_suites::TemplateRenderer;
use planforge_suites::generate::{Generator, Limits};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(clap::Args)]
pub(crate) struct TicReferenceArgs {
    /// The folder of the LLM+P suites.
    #[arg(long)]
    llm_p: Option<PathBuf>,
    /// Our own suites, with new tasks from this seed.
    #[arg(long)]
    own: Option<u64>,
    /// Number of tasks for each of our own suites.
    #[arg(long, default_value_t = 8)]
    tasks: u32,
    /// The folder of our suites and add-ons.
    #[arg(long, default_value = "examples")]
    examples: PathBuf,
    /// A folder for texts, representations and problems, DIR/SUITE/TASK.
    #[arg(long)]
    out: PathBuf,
    /// Change one name or number of each text: the problem must not stay equivalent.
    #[arg(long)]
    negative: bool,
    /// Try every such change instead of one per text, and count the results.
    #[arg(long, requires = "negative")]
    every: bool,
    /// Seed of the changes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Converts, infers, compiles, compares and prints the table.
///
/// # Errors
/// Files that cannot be read or written, and the number of tasks with an unexpected result.
pub(crate) fn run(args: &TicReferenceArgs) -> Result<(), String> {
    let mut tasks = Vec::new();
    if let Some(folder) = &args.llm_p {
        tasks.extend(llm_p_tasks(folder, &args.examples)?);
    }
    if let Some(seed) = args.own {
        tasks.extend(own_tasks(&args.examples, seed, args.tasks)?);
    }
    if tasks.is_empty() {
        return Err("nothing to convert: give --llm-p FOLDER, --own SEED or both".to_owned());
    }
    let failed = match (args.negative, args.every) {
        (false, _) => positive(&tasks, args)?,
        (true, false) => negative(&tasks, args)?,
        (true, true) => every_change(&tasks)?,
    };
    if failed == 0 {
        Ok(())
    } else {
        Err(format!("{failed} of {} tasks did not end as they should", tasks.len()))
    }
}

fn positive(tasks: &[TextTask], args: &TicReferenceArgs) -> Result<usize, String> {
    let mut good = 0;
    let mut sizes: Vec<(String, Size)> = Vec::new();
    println!("| texts | suite | task | outcome | IR lines | IR characters | PDDL lines | PDDL characters |");
    println!("|---|---|---|---|---|---|---|---|");
    for task in tasks {
        let folder = task.folder(&args.out)?;
        let converted = in_child(task, &task.text, &folder)?;
        let (outcome, size) = match &converted {
            Ok(ir) => (infer_outcome(task, ir, Some(&folder))?, Some(Size::of(ir, &task.problem))),
            Err(problems) => (Outcome::NotConverted(problems.clone()), None),
        };
        good += usize::from(outcome.is_equivalent());
        let size_cells = size.map_or_else(|| " | | | ".to_owned(), |s| s.cells());
        println!("| {} | {} | {} | {outcome} | {size_cells} |", task.texts, task.suite, task.stem);
        if let Some(size) = size {
            let name = format!("{} {}", task.texts, task.suite);
            match sizes.last_mut() {
                Some((suite, sum)) if *suite == name => sum.add(size),
                _ => sizes.push((name, size)),
            }
        }
    }
    println!("\n{good} of {} representations give a problem equivalent to the reference.\n", tasks.len());
    print!("{}", table(&sizes));
    Ok(tasks.len() - good)
}

fn negative(tasks: &[TextTask], args: &TicReferenceArgs) -> Result<usize, String> {
    let mut good = 0;
    let (mut interchangeable, mut said_twice, mut unread) = (0, 0, 0);
    println!("| suite | task | sentence | changed to | outcome |");
    println!("|---|---|---|---|---|");
    for task in tasks {
        let folder = task.folder(&args.out)?;
        let control = Control::of(task, args.seed, &mut |text| in_child(task, text, &folder))?;
        for (_, judged) in &control.passed_over {
            interchangeable += usize::from(matches!(judged, ChangeResult::Interchangeable));
            said_twice += usize::from(matches!(judged, ChangeResult::SaidTwice));
            unread += usize::from(matches!(judged, ChangeResult::Unread));
        }
        good += usize::from(control.found.is_some());
        control.rows(task).iter().for_each(|row| println!("{row}"));
    }
    println!(
        "\nFor {good} of {} tasks a change of one name or number gives another problem or none.",
        tasks.len()
    );
    println!(
        "Passed over before: {interchangeable} changes that only exchange interchangeable objects, {said_twice} of what the \
         text says elsewhere too, {unread} after which a sentence has no form that is read."
    );
    Ok(tasks.len() - good)
}

/// All changes, converted in this process: a process each would take hours.
fn every_change(tasks: &[TextTask]) -> Result<usize, String> {
    println!(
        "| texts | suite | another problem | refused | not read | interchangeable objects | said elsewhere too |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut examples = Vec::new();
    for tasks in tasks.chunk_by(|a, b| (a.texts, &a.suite) == (b.texts, &b.suite)) {
        let mut census = Census::default();
        for task in tasks {
            let patterns = patterns(task.texts, &task.suite)?;
            census.add(task, &mut |text| Ok(patterns::convert(patterns, text)))?;
        }
        println!("| {} | {} | {} |", tasks[0].texts, tasks[0].suite, census.cells());
        examples.extend_from_slice(census.examples());
    }
    println!("\nThe first changes that make no difference:\n");
    examples.iter().for_each(|example| println!("* {example}"));
    Ok(0)
}

/// A task that is converted: texts with their reference.
pub(crate) struct TextTask {
    /// `llm-p` or `own`: whose texts these are.
    pub(crate) texts: &'static str,
    /// The name of the patterns, which is the suite's.
    pub(crate) suite: String,
    /// File name without its extension, such as `p03`.
    pub(crate) stem: String,
    pub(crate) text: String,
    pub(crate) domain: String,
    knowledge: String,
    pub(crate) problem: String,
}

impl TextTask {
    /// Its folder below `out`, made afresh.
    pub(crate) fn folder(&self, out: &Path) -> Result<PathBuf, String> {
        let folder = out.join(self.texts).join(&self.suite).join(&self.stem);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(folder)
    }
}

/// The patterns of a suite's texts.
fn patterns(texts: &str, suite: &str) -> Result<&'static [Pattern], String> {
    let all = if texts == "llm-p" { llm_p::DOMAINS } else { own::SUITES };
    let found = all.iter().find(|(name, _)| *name == suite);
    found.map(|(_, p)| *p).ok_or_else(|| format!("no patterns for {texts} {suite}"))
}

/// The LLM+P suites' tasks, with the knowledge files of our add-ons.
fn llm_p_tasks(folder: &Path, examples: &Path) -> Result<Vec<TextTask>, String> {
    let mut tasks = Vec::new();
    for (suite, _) in llm_p::DOMAINS {
        let loaded = load(&folder.join(suite))?;
        let knowledge = read(&examples.join("add-ons/llm-p").join(suite).join("knowledge.lp"))?;
        let domain = loaded.reference_domain.clone().ok_or_else(|| format!("{suite} has no domain.pddl"))?;
        for task in &loaded.tasks {
            let problem = task.reference_problem.clone();
            tasks.push(TextTask {
                texts: "llm-p",
                suite: suite.to_owned(),
                stem: task.stem.clone(),
                text: task.text.clone(),
                domain: domain.clone(),
                knowledge: knowledge.clone(),
                problem: problem.ok_or_else(|| format!("{suite}/{} has no problem", task.stem))?,
            });
        }
    }
    Ok(tasks)
}

/// New tasks of our own suites, as many a suite.
fn own_tasks(examples: &Path, seed: u64, count: u32) -> Result<Vec<TextTask>, String> {
    let mut tasks = Vec::new();
    for (suite, _) in own::SUITES {
        let loaded = load(&examples.join("suites").join(suite))?;
        let generator = Generator::new(&loaded, TemplateRenderer::in_this_process())
            .map_err(|e| describe_errors(suite, &e.diagnostics))?;
        for index in 1..=count {
            let made = generator.instance(seed, index, &Limits::default(), &mut Unlimited);
            let made = made.map_err(|e| describe_errors(suite, &e.diagnostics))?;
            tasks.push(TextTask {
                texts: "own",
                suite: suite.to_owned(),
                stem: made.stem,
                text: made.text,
                domain: loaded.reference_domain.clone().unwrap_or_default(),
                knowledge: loaded.knowledge.clone().ok_or_else(|| format!("{suite} has no knowledge.lp"))?,
                problem: made.problem,
            });
        }
    }
    Ok(tasks)
}

/// A suite with all that is in its folder.
fn load(folder: &Path) -> Result<Suite, String> {
    let loaded = planforge_pipeline::load_suite(folder);
    loaded.suite.ok_or_else(|| describe_errors(&folder.display().to_string(), &loaded.diagnostics))
}

fn describe_errors(what: &str, diagnostics: &[planforge_diagnostics::Diagnostic]) -> String {
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    format!("{what}: {}", messages.join("; "))
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// The patterns to use. The text is the one `.nl` file of the working directory.
#[derive(clap::Args)]
pub(crate) struct ConverterArgs {
    /// `llm-p` or `own`.
    texts: String,
    suite: String,
}

/// Converts in the working directory: TASK.nl to TASK.lp.
///
/// # Errors
/// No text, or what of it is not read, line by line.
pub(crate) fn run_converter(args: &ConverterArgs) -> Result<(), String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(".").map_err(|e| e.to_string())? {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.extension().is_some_and(|e| e == "nl") {
            texts.push(path);
        }
    }
    let [path] = texts.as_slice() else { return Err(format!("{} texts in the folder", texts.len())) };
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let patterns = patterns(&args.texts, &args.suite)?;
    let ir = patterns::convert(patterns, &text).map_err(|problems| problems.join("\n"))?;
    std::fs::write(path.with_extension("lp"), ir).map_err(|e| e.to_string())
}

/// Writes the folder and converts there. The representation, or what the converter did not read.
///
/// # Errors
/// The folder cannot be written or the process not started.
fn in_child(task: &TextTask, text: &str, folder: &Path) -> Result<Result<String, Vec<String>>, String> {
    let at = |e: std::io::Error| format!("{}: {e}", folder.display());
    let representation = folder.join(format!("{}.lp", task.stem));
    if representation.exists() {
        std::fs::remove_file(&representation).map_err(at)?;
    }
    std::fs::write(folder.join(format!("{}.nl", task.stem)), text).map_err(at)?;
    std::fs::write(folder.join("domain.pddl"), &task.domain).map_err(at)?;
    std::fs::write(folder.join("knowledge.lp"), &task.knowledge).map_err(at)?;
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = Command::new(program)
        .args(["tic-convert", task.texts, &task.suite])
        .current_dir(folder)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .map_err(at)?;
    if output.status.success() {
        return std::fs::read_to_string(&representation).map(Ok).map_err(at);
    }
    let output_text = String::from_utf8_lossy(&output.stdout);
    Ok(Err(output_text.trim_start_matches("error: ").lines().map(str::to_owned).collect()))
}

/// Lines and characters of both.
#[derive(Clone, Copy, Default)]
pub(crate) struct Size {
    tasks: usize,
    ir: (usize, usize),
    pddl: (usize, usize),
}

impl Size {
    pub(crate) fn of(ir: &str, problem: &str) -> Self {
        Self { tasks: 1, ir: measure(ir, '%'), pddl: measure(problem, ';') }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.ir = (self.ir.0 + other.ir.0, self.ir.1 + other.ir.1);
        self.pddl = (self.pddl.0 + other.pddl.0, self.pddl.1 + other.pddl.1);
    }

    /// Four columns of a table.
    pub(crate) fn cells(&self) -> String {
        format!("{} | {} | {} | {}", self.ir.0, self.ir.1, self.pddl.0, self.pddl.1)
    }
}

/// Lines with something on them and their characters, without comments and with single spaces, so that layout does not count.
fn measure(text: &str, comment: char) -> (usize, usize) {
    let bare = |line: &str| {
        let line = line.split(comment).next().unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let lines: Vec<String> = text.lines().map(bare).filter(|l| !l.is_empty()).collect();
    (lines.len(), lines.iter().map(|l| l.chars().count()).sum())
}

/// Averages a suite, and over all suites whose names begin alike.
fn table(sizes: &[(String, Size)]) -> String {
    let mut out =
        "| suite | IR lines | IR characters | PDDL lines | PDDL characters | characters, IR to PDDL |\n"
            .to_owned();
    out.push_str("|---|---|---|---|---|---|\n");
    let texts = |name: &str| name.split(' ').next().unwrap_or_default().to_owned();
    for group in sizes.chunk_by(|(a, _), (b, _)| texts(a) == texts(b)) {
        let mut whole = Size::default();
        for (suite, size) in group {
            out.push_str(&row(suite, *size));
            whole.add(*size);
        }
        out.push_str(&row(&format!("{} all", texts(&group[0].0)), whole));
    }
    out
}

fn row(name: &str, size: Size) -> String {
    let mean = |n: usize| n as f64 / size.tasks.max(1) as f64;
    let share = 100.0 * size.ir.1 as f64 / size.pddl.1.max(1) as f64;
    format!(
        "| {name} | {:.1} | {:.0} | {:.1} | {:.0} | {share:.0} % |\n",
        mean(size.ir.0),
        mean(size.ir.1),
        mean(size.pddl.0),
        mean(size.pddl.1)
    )
}
