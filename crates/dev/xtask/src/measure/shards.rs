//! An evaluation of many cells with a simulated model: planned dry, run in shards that each have a folder, and merged. Each command is a
//! separate process.

use crate::paths::{absolute, path_text};
use crate::process::{Cost, run_measured};
use planforge_testkit::survival::results;
use planforge_testkit::{planned_and_validated, stage, table, toml};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct ShardsArgs {
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    /// The folder with the example suites `garden` and `parcels`.
    #[arg(long, default_value = "examples/suites")]
    suites: PathBuf,
    /// Numbers of shards.
    #[arg(long, value_delimiter = ',', default_value = "10,100,1000")]
    shards: Vec<usize>,
    /// Cells of a shard, of one task each.
    #[arg(long, default_value_t = 10)]
    cells: usize,
    /// Up to so many cells are also run in one process, whose tables must be those of the merge.
    #[arg(long, default_value_t = 1000)]
    whole: usize,
    /// Folder for the runs; by default a temporary folder.
    #[arg(long)]
    folder: Option<PathBuf>,
}

const PIPELINE: &str = concat!(
    toml!(schema = 1),
    table!("given" domain = true),
    table!("llm.main" use = "provider-noisy-oracle" model = "noisy-oracle" suites = SUITES),
    table!("environment" use = "environment-pddl"),
    stage!(translate "problem" use = "translator-direct" roles = { writer = "main" } options = { mode = "problem" }),
    stage!(verify "same" use = "verifier-equivalence" measure = true),
    planned_and_validated!(),
);

/// Columns: two pipelines with a model that makes 0 to 4 errors.
const COLUMNS: usize = 10;

pub(crate) fn run(args: &ShardsArgs) -> Result<(), String> {
    let planforge = absolute(&args.planforge)?;
    let suites = ["garden", "parcels"].map(|suite| absolute(&args.suites.join(suite)).map(path_text));
    let suites = suites.into_iter().collect::<Result<Vec<_>, _>>()?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let folder = args.folder.clone().unwrap_or_else(|| scratch.path().to_owned());
    println!("| cells | shards | what | s | wall ms a cell | processor ms a cell | peak MB |");
    println!("|---:|---:|---|---:|---:|---:|---:|");
    for &shards in &args.shards {
        let folder = folder.join(format!("shards-{shards}"));
        let cells = shards * args.cells;
        let seeds = cells.div_ceil(suites.len() * COLUMNS);
        write_matrix(&folder, &suites, seeds).map_err(|e| format!("{}: {e}", folder.display()))?;
        let cells = seeds * suites.len() * COLUMNS;
        Experiment { planforge: &planforge, folder: &folder, shards, cells }.run(cells <= args.whole)?;
    }
    Ok(())
}

fn write_matrix(folder: &Path, suites: &[String], seeds: usize) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for name in ["one.toml", "two.toml"] {
        fs::write(folder.join(name), PIPELINE.replace("SUITES", &format!("{suites:?}")))?;
    }
    let models: String = (0..COLUMNS / 2)
        .map(|n| format!("[matrix.models.errors-{n}]\nset = [\"llm.main.problem_errors={n}\"]\n"))
        .collect();
    let matrix = format!(
        "schema = 1\n[matrix]\nsuites = {suites:?}\npipelines = [\"one.toml\", \"two.toml\"]\nseeds = \"1-{seeds}\"\ntasks = 1\n{models}"
    );
    fs::write(folder.join("matrix.toml"), matrix)
}

struct Experiment<'a> {
    planforge: &'a Path,
    folder: &'a Path,
    shards: usize,
    cells: usize,
}

impl Experiment<'_> {
    fn run(&self, in_one_process: bool) -> Result<(), String> {
        let (matrix, whole) = (self.folder.join("matrix.toml"), self.folder.join("whole"));
        let evaluate =
            |out: &Path| self.command(&["--matrix", &path_text(&matrix), "--out", &path_text(out)]);
        let into_whole = path_text(&whole);
        let cost = self.cost(evaluate(&whole).arg("--dry-run"))?;
        self.row("dry run", cost);
        let parts: Vec<PathBuf> = (1..=self.shards).map(|n| self.folder.join(format!("part-{n}"))).collect();
        let mut sum = Cost { wall_ms: 0.0, cpu_ms: 0.0, peak_kb: 0.0 };
        for (index, part) in parts.iter().enumerate() {
            let cost =
                self.cost(evaluate(part).args(["--shard", &format!("{}/{}", index + 1, self.shards)]))?;
            sum.wall_ms += cost.wall_ms;
            sum.cpu_ms += cost.cpu_ms;
            sum.peak_kb = sum.peak_kb.max(cost.peak_kb);
        }
        self.row("shards, one after the other", sum);
        let mut merge = self.command(&["merge", "--into", &into_whole]);
        let cost = self.cost(merge.args(&parts))?;
        self.row("merge of all folders into one", cost);
        let cost = self.cost(&mut self.command(&["merge", &into_whole]))?;
        self.row("merge of a shared folder", cost);
        if in_one_process {
            let merged = results(&whole).map_err(|e| e.to_string())?;
            fs::rename(&whole, self.folder.join("merged")).map_err(|e| e.to_string())?;
            let cost = self.cost(&mut evaluate(&whole))?;
            self.row("one process", cost);
            if results(&whole).map_err(|e| e.to_string())? != merged {
                return Err(format!("{} and merged beside it differ", whole.display()));
            }
        }
        Ok(())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.planforge);
        command.arg("evaluate").args(args);
        command
    }

    fn cost(&self, command: &mut Command) -> Result<Cost, String> {
        let (cost, status) = run_measured(command).map_err(|e| e.to_string())?;
        if status.success() { Ok(cost) } else { Err(format!("{command:?} ended with {status}")) }
    }

    fn row(&self, what: &str, cost: Cost) {
        let cells = self.cells as f64;
        println!(
            "| {} | {} | {what} | {:.1} | {:.1} | {:.1} | {:.0} |",
            self.cells,
            self.shards,
            cost.wall_ms / 1000.0,
            cost.wall_ms / cells,
            cost.cpu_ms / cells,
            cost.peak_kb / 1024.0
        );
    }
}
