//! Figures for planning and validation: whole processes of ours against Fast Downward and VAL on the LLM+P layout
//! (`SUITE/DOMAIN/domain.pddl`, `pNN.pddl`), and the verdicts of both validators on plans and on mutations of them.

use planforge_diagnostics::SourceId;
use planforge_pddl::ast::Section;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What to measure with.
pub(crate) struct Peers {
    /// A command that takes DOMAIN PROBLEM and prints an IPC plan.
    pub(crate) planner: Vec<String>,
    /// A command that takes DOMAIN PROBLEM PLAN and exits 0 exactly for a valid plan.
    pub(crate) validator: Vec<String>,
    /// Fast Downward's driver with its interpreter; empty to leave it out.
    pub(crate) fast_downward: Vec<String>,
    /// VAL's `Validate`; empty to leave it out.
    pub(crate) val: Vec<String>,
}

/// One task of a suite.
struct Task {
    name: String,
    domain: PathBuf,
    problem: PathBuf,
}

/// The tasks of a suite folder, sorted.
fn tasks(suite: &Path) -> std::io::Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for entry in std::fs::read_dir(suite)? {
        let folder = entry?.path();
        let domain = folder.join("domain.pddl");
        if !domain.is_file() {
            continue;
        }
        for file in std::fs::read_dir(&folder)? {
            let problem = file?.path();
            let stem = problem.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            let numbered =
                stem.len() > 1 && stem.starts_with('p') && stem[1..].bytes().all(|b| b.is_ascii_digit());
            if numbered && problem.extension().is_some_and(|e| e == "pddl") {
                let folder = folder.file_name().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
                tasks.push(Task { name: format!("{folder} {stem}"), domain: domain.clone(), problem });
            }
        }
    }
    tasks.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(tasks)
}

/// A copy of a task for readers that refuse constants which a domain uses without declaring them (tyreworld): they are
/// declared in the domain and taken out of the problem's objects. Nothing is copied where nothing is wrong.
fn declared(task: &Task, folder: &Path) -> std::io::Result<(PathBuf, PathBuf)> {
    let (domain_text, problem_text) =
        (std::fs::read_to_string(&task.domain)?, std::fs::read_to_string(&task.problem)?);
    let domain = planforge_pddl::parse_domain(&domain_text, SourceId(0)).value;
    let problem = planforge_pddl::parse_problem(&problem_text, SourceId(1)).value;
    let undeclared: Vec<String> = planforge_pddl::check_domain(&domain, SourceId(0))
        .iter()
        .filter(|d| d.code == "pddl.undeclared-constant")
        .filter_map(|d| d.primary())
        .map(|label| domain_text[label.span.range()].to_lowercase())
        .collect();
    let section = |sections: &[Section], keyword: &str| {
        sections.iter().find(|s| s.keyword.key() == keyword).map(|s| s.span)
    };
    let places = (section(&domain.sections, ":types"), section(&problem.sections, ":objects"));
    let (false, (Some(types), Some(objects))) = (undeclared.is_empty(), places) else {
        return Ok((task.domain.clone(), task.problem.clone()));
    };
    let list = |constants: bool| -> String {
        let chosen =
            problem.objects.iter().filter(|o| undeclared.iter().any(|u| u == o.name.key()) == constants);
        chosen
            .map(|o| {
                let ty = o.ty.as_ref().map(|t| format!(" - {}", &problem_text[t.span.range()]));
                format!(" {}{}", o.name, ty.unwrap_or_default())
            })
            .collect()
    };
    let mut domain_copy = domain_text.clone();
    domain_copy.insert_str(types.end as usize, &format!("\n(:constants{})", list(true)));
    let mut problem_copy = problem_text.clone();
    problem_copy.replace_range(objects.range(), &format!("(:objects{})", list(false)));
    let paths = (folder.join("declared-domain.pddl"), folder.join("declared-problem.pddl"));
    std::fs::write(&paths.0, domain_copy)?;
    std::fs::write(&paths.1, problem_copy)?;
    Ok(paths)
}

/// Runs a command; its exit code, what it printed (standard error after standard output) and seconds of wall time.
fn run(command: &[String], args: &[&Path], folder: &Path) -> std::io::Result<(Option<i32>, String, f64)> {
    let Some((program, first)) = command.split_first() else {
        return Err(std::io::Error::other("no command given"));
    };
    let start = Instant::now();
    let output =
        Command::new(program).args(first).args(args).current_dir(folder).stdin(Stdio::null()).output()?;
    let seconds = start.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Ok((output.status.code(), text.into_owned(), seconds))
}

/// The steps of an IPC plan.
fn steps(text: &str) -> Vec<String> {
    text.lines().filter(|l| l.starts_with('(')).map(str::to_owned).collect()
}

/// Whole-process wall time of both planners on every task, as a table with totals over the tasks both solve.
pub(crate) fn planners(
    suite: &Path,
    peers: &Peers,
    search: &[String],
    scratch: &Path,
) -> std::io::Result<String> {
    let mut table = String::from("task | ours s | steps | Fast Downward s | solved\n");
    let (mut ours_total, mut theirs_total, mut both) = (0.0, 0.0, 0);
    for task in tasks(suite)? {
        let (_, text, ours) = run(&peers.planner, &[&task.domain, &task.problem], scratch)?;
        let found = steps(&text).len();
        let solved = found > 0 || text.contains("; cost = 0");
        let plan = scratch.join("fd.plan");
        let _ = std::fs::remove_file(&plan);
        let mut command = peers.fast_downward.clone();
        command.extend(["--plan-file".to_owned(), plan.display().to_string()]);
        // An alias stands before the files, a search configuration after them.
        let (before, after): (&[String], &[String]) =
            if search.first().is_some_and(|s| s == "--alias") { (search, &[]) } else { (&[], search) };
        command.extend(before.iter().cloned());
        let (domain, problem) = declared(&task, scratch)?;
        command.extend([domain.display().to_string(), problem.display().to_string()]);
        command.extend(after.iter().cloned());
        let (code, _, theirs) = run(&command, &[], scratch)?;
        let theirs_solved = code == Some(0) && plan.is_file();
        if solved && theirs_solved {
            ours_total += ours;
            theirs_total += theirs;
            both += 1;
        }
        let who = match (solved, theirs_solved) {
            (true, true) => "both",
            (true, false) => "ours only",
            (false, true) => "theirs only",
            (false, false) => "neither",
        };
        table.push_str(&format!("{} | {ours:.3} | {found} | {theirs:.3} | {who}\n", task.name));
    }
    let ratio = ours_total / theirs_total;
    table.push_str(&format!(
        "{both} solved by both: ours {ours_total:.2} s, theirs {theirs_total:.2} s, ratio {ratio:.3}\n"
    ));
    Ok(table)
}

/// xorshift: the same mutations every time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

/// A plan with one change: a step dropped, repeated, swapped with the next, moved, or with an argument of another step.
fn mutate(plan: &[String], random: &mut Random) -> Vec<String> {
    let mut steps = plan.to_vec();
    if steps.is_empty() {
        return steps;
    }
    let at = random.below(steps.len());
    match random.below(5) {
        0 => {
            steps.remove(at);
        }
        1 => {
            let step = steps[at].clone();
            steps.insert(random.below(steps.len() + 1), step);
        }
        2 => {
            let next = (at + 1) % steps.len();
            steps.swap(at, next);
        }
        3 => {
            let step = steps.remove(at);
            steps.insert(random.below(steps.len() + 1), step);
        }
        _ => {
            let other = steps[random.below(steps.len())].clone();
            let foreign: Vec<&str> = other.trim_matches(['(', ')']).split(' ').skip(1).collect();
            let mut words: Vec<String> =
                steps[at].trim_matches(['(', ')']).split(' ').map(str::to_owned).collect();
            if words.len() > 1 && !foreign.is_empty() {
                let position = 1 + random.below(words.len() - 1);
                words[position] = foreign[random.below(foreign.len())].to_owned();
                steps[at] = format!("({})", words.join(" "));
            }
        }
    }
    steps
}

/// Our verdict in process, from texts in memory to the report, and the seconds that took.
fn in_process(domain: &str, problem: &str, plan: &str) -> (bool, f64) {
    let start = Instant::now();
    let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
    let problem = planforge_pddl::parse_problem(problem, SourceId(1)).value;
    let plan = planforge_planning::parse_plan(plan, SourceId(2));
    let report = planforge_planning::validate(&domain, &problem, &plan);
    (report.is_ok_and(|r| r.is_valid()), start.elapsed().as_secs_f64())
}

/// Verdicts of both validators on every plan found and on `mutations` mutations of each; lists every difference.
pub(crate) fn validators(
    suite: &Path,
    peers: &Peers,
    mutations: usize,
    scratch: &Path,
) -> std::io::Result<String> {
    let mut report = String::new();
    let (mut plans, mut same, mut valid, mut differences, mut refused) = (0, 0, 0, 0, 0);
    let (mut ours_total, mut theirs_total, mut inside_total) = (0.0, 0.0, 0.0);
    let file = scratch.join("mutated.plan");
    for task in tasks(suite)? {
        let (_, text, _) = run(&peers.planner, &[&task.domain, &task.problem], scratch)?;
        let plan = steps(&text);
        let (declared_domain, declared_problem) = declared(&task, scratch)?;
        let texts = (std::fs::read_to_string(&task.domain)?, std::fs::read_to_string(&task.problem)?);
        let mut random = Random(0x9e37_79b9 + plans as u64);
        for round in 0..=mutations {
            let candidate = if round == 0 { plan.clone() } else { mutate(&plan, &mut random) };
            let text = candidate.join("\n") + "\n";
            std::fs::write(&file, &text)?;
            let (inside, inside_seconds) = in_process(&texts.0, &texts.1, &text);
            let (code, _, ours_seconds) =
                run(&peers.validator, &[&task.domain, &task.problem, &file], scratch)?;
            let (_, output, theirs_seconds) =
                run(&peers.val, &[&declared_domain, &declared_problem, &file], scratch)?;
            let (ours, theirs) = (code == Some(0), output.contains("Plan valid"));
            if ours != inside {
                report.push_str(&format!("{}: the command says {ours}, the library {inside}\n", task.name));
            }
            inside_total += inside_seconds;
            plans += 1;
            valid += usize::from(ours);
            ours_total += ours_seconds;
            theirs_total += theirs_seconds;
            // A domain that VAL's type checker refuses gets no verdict from it at all.
            if ["Error in type-checking", "Problem in domain", "bad type definition"]
                .iter()
                .any(|e| output.contains(e))
            {
                refused += 1;
            } else if ours == theirs {
                same += 1;
            } else {
                differences += 1;
                let kept = scratch.join(format!("difference-{differences}.plan"));
                std::fs::copy(&file, &kept)?;
                report.push_str(&format!("{}: ours {ours}, VAL {theirs}: {}\n", task.name, kept.display()));
            }
        }
    }
    report.push_str(&format!(
        "{plans} plans, {valid} valid, same verdict on {same}, no verdict from VAL on {refused}; ours {ours_total:.2} s, VAL {theirs_total:.2} s as processes; ours {inside_total:.3} s in process\n"
    ));
    Ok(report)
}
