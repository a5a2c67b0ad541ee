//! Reference representations (translate-infer-compile paper): texts are converted by patterns, without a model, and what is inferred from
//! them and the knowledge files is compared with the suites' own problems. As a control, texts with one name or number changed must
//! give other problems.

mod change;
mod control;
mod convert;
mod forms;
mod infer;
mod ir;
mod llm_p;
mod outcome;
mod own;
mod patterns;
mod size;
mod tasks;
#[cfg(test)]
mod tests;

pub(crate) use convert::{ConverterArgs, run_converter};

use control::{Census, ChangeResult, Control};
use outcome::Outcome;
use size::Size;
use std::path::PathBuf;
use tasks::TextTask;

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
        tasks.extend(tasks::llm_p(folder, &args.examples)?);
    }
    if let Some(seed) = args.own {
        tasks.extend(tasks::own(&args.examples, seed, args.tasks)?);
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
        let converted = convert::in_child(task, &task.text, &folder)?;
        let (outcome, size) = match &converted {
            Ok(ir) => (outcome::of(task, ir, Some(&folder))?, Some(Size::of(ir, &task.problem))),
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
    print!("{}", size::table(&sizes));
    Ok(tasks.len() - good)
}

fn negative(tasks: &[TextTask], args: &TicReferenceArgs) -> Result<usize, String> {
    let mut good = 0;
    let (mut interchangeable, mut said_twice, mut unread) = (0, 0, 0);
    println!("| suite | task | sentence | changed to | outcome |");
    println!("|---|---|---|---|---|");
    for task in tasks {
        let folder = task.folder(&args.out)?;
        let control = Control::of(task, args.seed, &mut |text| convert::in_child(task, text, &folder))?;
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
            let patterns = tasks::patterns(task.texts, &task.suite)?;
            census.add(task, &mut |text| Ok(patterns::convert(patterns, text)))?;
        }
        println!("| {} | {} | {} |", tasks[0].texts, tasks[0].suite, census.cells());
        examples.extend_from_slice(census.examples());
    }
    println!("\nThe first changes that make no difference:\n");
    examples.iter().for_each(|example| println!("* {example}"));
    Ok(0)
}
