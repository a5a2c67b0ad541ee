//! How far `planforge solve` can be trusted: the texts of `examples/texts`, whose gaps are known, with an author who knows the reference.
//!
//! The author answers each question by following its steps in the reference. A gap is found if the steps of a point tell the reference from
//! its rival. A plan is right if it can be followed in the reference to what is wanted, and no plan of the reference is shorter.

use planforge_app::Source;
use planforge_app::Statement;
use planforge_app::run::ModelChoice;
use planforge_app::solve::{OpenPoint, PointStatus, SolveEnd, SolveRequest, SolveResult, solve};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{parse_domain, parse_problem};
use planforge_planning::equivalence::joint::follow::{Followed, Standing, follow};
use planforge_planning::equivalence::joint::{JointLimits, Reading, compare_readings};
use planforge_planning::walk::{Model, ModelOptions, NamedStep, execute_steps};
use planforge_planning::{Algorithm, CountingLimits, PlanOptions, SearchOutcome, plan as plan_task};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct SolveArgs {
    /// The folder of the texts.
    #[arg(long, default_value = "examples/texts")]
    texts: PathBuf,
    /// The folder of the tasks, one for each text. Tasks that are there go on.
    #[arg(long)]
    out: PathBuf,
    /// The model that reads new texts, as of `planforge solve`.
    #[arg(long)]
    model: Option<String>,
    /// A file of replies by `custom_id`, as of batch files, for requests that wait.
    #[arg(long)]
    replies: Option<PathBuf>,
    /// Only the texts whose name contains this word, such as `bakery` or `complete`.
    #[arg(long, num_args = 1..)]
    only: Vec<String>,
}

/// A file of `examples/texts`.
#[derive(Deserialize)]
struct World {
    domain: String,
    problem: String,
    complete: String,
    gap: Vec<Gap>,
    none: NoTask,
    /// Words of the text's language in names, with those of the reference: the author knows his own language.
    #[serde(default)]
    words: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Gap {
    kind: String,
    text: String,
    rival: Replacements,
    material: bool,
}

#[derive(Deserialize)]
struct Replacements {
    domain: Vec<(String, String)>,
    problem: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct NoTask {
    kind: String,
    text: String,
    quotes: Vec<String>,
}

/// A domain and a problem.
struct Task {
    domain: Domain,
    problem: Problem,
}

impl Task {
    fn read(domain: &str, problem: &str) -> Self {
        Self {
            domain: parse_domain(domain, SourceId(0)).value,
            problem: parse_problem(problem, SourceId(1)).value,
        }
    }

    /// How far steps of a reading can be followed here: by the names of objects, or under the joint renaming where the names are of another
    /// language.
    fn follow(&self, steps: &[String], of: &Self, standing: Standing) -> Option<Followed> {
        let limits = &mut limits();
        let model = Model::new(&self.domain, &self.problem, &ModelOptions::default(), limits).ok()?;
        let steps: Vec<NamedStep> = steps.iter().map(|step| NamedStep::parse(step)).collect::<Option<_>>()?;
        let names = |task: &Self| -> Vec<String> {
            let objects = task.problem.objects.iter().chain(&task.domain.constants);
            objects.map(|object| object.name.key().to_owned()).collect()
        };
        let (own, others) = (names(self), names(of));
        let words = |names: &[String]| -> BTreeSet<String> {
            names.iter().flat_map(|name| name.split('-')).map(str::to_owned).collect()
        };
        if !words(&own).is_disjoint(&words(&others)) {
            return follow(&model, &steps, of.reading(), standing, limits).ok();
        }
        let compared =
            compare_readings(of.reading(), self.reading(), &JointLimits::default(), limits).ok()?;
        let steps: Vec<NamedStep> =
            steps.iter().map(|step| compared.renaming.second_step(step)).collect::<Option<_>>()?;
        let executed = execute_steps(&model, &steps, limits).ok()?;
        let goal = model.is_goal(&executed.state, limits).ok()?;
        Some(Followed { executed: executed.refusal.is_none(), goal: executed.refusal.is_none() && goal })
    }

    const fn reading(&self) -> Reading<'_> {
        Reading { domain: &self.domain, problem: &self.problem }
    }

    /// Whether what a point states is true here.
    fn holds(&self, point: &OpenPoint, of: &Self) -> Option<bool> {
        let followed = self.follow(&point.test.steps, of, Standing::Strict)?;
        Some(match point.test.states {
            Statement::Possible => followed.executed,
            Statement::Done => followed.goal,
        })
    }

    /// Whether a plan of a reading can be followed here to what is wanted, and is not longer than a cheapest plan.
    fn accepts(&self, plan: &[String], of: &Self) -> bool {
        let options = PlanOptions { algorithm: Algorithm::AStar, ..PlanOptions::default() };
        let best = plan_task(&self.domain, &self.problem, &options, &mut limits()).map(|found| found.outcome);
        let Ok(SearchOutcome::Plan(best)) = best else { return false };
        plan.len() <= best.steps.len()
            && self.follow(plan, of, Standing::Loose).is_some_and(|followed| followed.goal)
    }
}

/// Bounds of one comparison, in polls and bytes: a result does not depend on the machine.
const fn limits() -> CountingLimits {
    CountingLimits { polls: 20_000_000, bytes: 2 << 30 }
}

/// One text.
struct Text<'w> {
    name: String,
    text: &'w str,
    reference: Task,
    words: &'w BTreeMap<String, String>,
    about: About<'w>,
}

impl Text<'_> {
    /// PDDL of a reading with the words of the reference in its names.
    fn translated(&self, pddl: &str) -> String {
        let is_letter = |letter: char| letter.is_alphanumeric();
        let mut out = String::new();
        let mut rest = pddl;
        while !rest.is_empty() {
            let is_word = rest.starts_with(is_letter);
            let end = rest.find(|letter| is_letter(letter) != is_word).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            out += self.words.get(&word.to_lowercase()).map_or(word, String::as_str);
            rest = after;
        }
        out
    }

    /// The model of a result.
    fn reading(&self, result: &SolveResult) -> Task {
        Task::read(&self.translated(&result.domain), &self.translated(&result.problem))
    }

    fn point(&self, point: &OpenPoint) -> OpenPoint {
        let mut point = point.clone();
        point.test.steps.iter_mut().for_each(|step| *step = self.translated(step));
        point
    }
}

#[allow(clippy::large_enum_variant, reason = "one for each text")]
enum About<'w> {
    Complete,
    Gap { kind: &'w str, rival: Task, material: bool },
    NoTask { kind: &'w str, quotes: &'w [String] },
}

fn texts<'w>(name: &str, world: &'w World) -> Vec<Text<'w>> {
    let reference = || Task::read(&world.domain, &world.problem);
    let named = |kind: &str| format!("{name}-{kind}");
    let mut texts = vec![Text {
        name: named("complete"),
        text: &world.complete,
        reference: reference(),
        words: &world.words,
        about: About::Complete,
    }];
    for (number, gap) in world.gap.iter().enumerate() {
        let replaced = |text: &str, replacements: &[(String, String)]| {
            replacements.iter().fold(text.to_owned(), |text, (from, to)| text.replacen(from, to, 1))
        };
        let domain = replaced(&world.domain, &gap.rival.domain);
        let rival = Task::read(&domain, &replaced(&world.problem, &gap.rival.problem));
        texts.push(Text {
            name: named(&format!("gap{}", number + 1)),
            text: &gap.text,
            reference: reference(),
            words: &world.words,
            about: About::Gap { kind: &gap.kind, rival, material: gap.material },
        });
    }
    texts.push(Text {
        name: named("none"),
        text: &world.none.text,
        reference: reference(),
        words: &world.words,
        about: About::NoTask { kind: &world.none.kind, quotes: &world.none.quotes },
    });
    texts
}

pub(crate) fn measure_solve(args: &SolveArgs) -> Result<(), String> {
    let said = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut files: Vec<PathBuf> = std::fs::read_dir(&args.texts)
        .map_err(|e| said(&args.texts, &e))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();
    let mut table = Table::default();
    for path in files {
        let text = std::fs::read_to_string(&path).map_err(|e| said(&path, &e))?;
        let world: World = toml::from_str(&text).map_err(|e| said(&path, &e))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for text in texts(&name, &world) {
            if !args.only.is_empty() && !args.only.iter().any(|only| text.name.contains(only.as_str())) {
                continue;
            }
            let result = solved(args, &text)?;
            table.add(&text, &result);
        }
    }
    table.print();
    Ok(())
}

/// Most times that questions are answered, or replies given.
const ROUNDS: usize = 9;

/// Solves a text as far as it goes: the author answers from the reference.
fn solved(args: &SolveArgs, text: &Text<'_>) -> Result<SolveResult, String> {
    let folder = args.out.join(&text.name);
    let context = planforge_app::Context::default();
    let mut request = SolveRequest {
        text: Some(Source::text("task", text.text)),
        folder: Some(folder.clone()),
        models: args.model.iter().cloned().map(ModelChoice::Named).collect(),
        ..SolveRequest::default()
    };
    if folder.exists() {
        request.continued = Some(folder.clone());
        request.models.clear();
    }
    for _ in 0..ROUNDS {
        let result = solve(&context, &request).map_err(|e| format!("{}: {e}", text.name))?;
        match result.end {
            SolveEnd::NeedsAnswers => answer(text, &result)?,
            SolveEnd::Unfinished if reply(args, &result)? > 0 => {}
            _ => return Ok(result),
        }
        request.continued = Some(folder.clone());
        request.models.clear();
    }
    Err(format!("{}: questions have no end", text.name))
}

/// Gives the known replies to the requests that wait. Returns how many were new.
fn reply(args: &SolveArgs, result: &SolveResult) -> Result<usize, String> {
    let Some(file) = &args.replies else { return Ok(0) };
    let said = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let replies = std::fs::read_to_string(file).map_err(|e| said(file, &e))?;
    let id = |line: &str| -> Option<String> {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        line["custom_id"].as_str().map(str::to_owned)
    };
    let lines = |folder: &Path| -> String {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        files.filter(|path| path.is_file()).filter_map(|path| std::fs::read_to_string(path).ok()).collect()
    };
    let mut given = 0;
    for answers in result.runs.iter().filter_map(|run| run.answers.as_ref()) {
        let requests = lines(answers.parent().unwrap_or(answers));
        let asked: BTreeSet<String> = requests.lines().filter_map(id).collect();
        let answered: BTreeSet<String> = lines(answers).lines().filter_map(id).collect();
        let is_new = |line: &&str| id(line).is_some_and(|id| asked.contains(&id) && !answered.contains(&id));
        let new: Vec<&str> = replies.lines().filter(is_new).collect();
        given += new.len();
        std::fs::create_dir_all(answers).map_err(|e| said(answers, &e))?;
        let path = answers.join(format!("replies-{}.jsonl", answered.len()));
        std::fs::write(&path, new.join("\n") + "\n").map_err(|e| said(&path, &e))?;
    }
    Ok(given)
}

/// Writes the answers to the open questions behind their `answer =`.
fn answer(text: &Text<'_>, result: &SolveResult) -> Result<(), String> {
    let path = result.folder.join("questions.toml");
    let said = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let sheet = std::fs::read_to_string(&path).map_err(|e| said(&e))?;
    let mut sheet: toml::Table = toml::from_str(&sheet).map_err(|e| said(&e))?;
    let read = text.reading(result);
    let points = sheet.get_mut("point").and_then(toml::Value::as_array_mut);
    for (shown, point) in points.into_iter().flatten().zip(&result.points) {
        if point.status != PointStatus::Open {
            continue;
        }
        let answer = match text.reference.holds(&text.point(point), &read) {
            Some(truth) if truth == point.holds => point.follows.to_string(),
            Some(_) => (3 - point.follows).to_string(),
            None => "unknown".to_owned(),
        };
        if let Some(shown) = shown.as_table_mut() {
            shown.insert("answer".to_owned(), answer.into());
        }
    }
    std::fs::write(&path, toml::to_string(&sheet).map_err(|e| said(&e))?).map_err(|e| said(&e))
}

#[derive(Default)]
struct Table {
    rows: Vec<String>,
    counts: BTreeMap<&'static str, (usize, usize)>,
    questions: BTreeMap<&'static str, usize>,
    requests: u64,
    tokens: u64,
    texts: usize,
    waiting: usize,
}

impl Table {
    fn count(&mut self, what: &'static str, is_so: bool) {
        let (good, all) = self.counts.entry(what).or_default();
        *good += usize::from(is_so);
        *all += 1;
    }

    fn add(&mut self, text: &Text<'_>, result: &SolveResult) {
        if result.end == SolveEnd::Unfinished {
            self.waiting += 1;
            return;
        }
        self.texts += 1;
        self.requests += result.requests;
        self.tokens += result.tokens;
        let asked = result.points.iter().filter(|point| !point.answer.is_empty()).count();
        let read = text.reading(result);
        let plan: Vec<String> = result.plan.iter().map(|step| text.translated(step)).collect();
        let is_right = !plan.is_empty() && text.reference.accepts(&plan, &read);
        let trust = result.trust.as_ref();
        let agreed = trust.is_some_and(|trust| trust.readings > 1 && trust.agree == trust.readings);
        let mut note = String::new();
        match &text.about {
            About::Complete => {
                *self.questions.entry("complete").or_default() += asked;
                self.count("complete texts: planned", result.end == SolveEnd::Planned);
                self.count("complete texts: plan right", is_right);
            }
            About::Gap { kind, rival, material } => {
                *self.questions.entry("gap").or_default() += asked;
                let tells = |point: &&OpenPoint| {
                    let point = text.point(point);
                    let (own, other) = (text.reference.holds(&point, &read), rival.holds(&point, &read));
                    own.is_some() && other.is_some() && own != other
                };
                let found = result.points.iter().find(tells);
                let status = found.map(|point| point.status);
                note = format!(
                    "{kind}: {}",
                    status.map_or("not found".to_owned(), |status| format!("{status:?}"))
                );
                if *material {
                    let is_told = status.is_some_and(|status| status != PointStatus::EitherWay);
                    self.count("material gaps: asked about, assumed or decided", is_told);
                    self.count("material gaps: asked about", status == Some(PointStatus::Answered));
                } else {
                    self.count(
                        "gaps that change no plan: no question",
                        status != Some(PointStatus::Answered),
                    );
                }
                self.count("texts with a gap: plan right", is_right);
            }
            About::NoTask { kind, quotes } => {
                self.count("no tasks: said so", result.end == SolveEnd::NotATask);
                if !quotes.is_empty() {
                    let quoted = quotes.iter().all(|quote| result.line.contains(quote.as_str()));
                    self.count("contradictions: both sentences quoted", quoted);
                }
                note = (*kind).to_owned();
            }
        }
        if let Some(trust) = trust.filter(|_| result.end == SolveEnd::Planned) {
            let assumed = !trust.assumptions.is_empty();
            let row = match (agreed, assumed) {
                (true, false) => "all readings agree, no assumption: right",
                (true, true) => "all readings agree, with assumptions: right",
                (false, false) => "readings differ, no assumption: right",
                (false, true) => "readings differ, with assumptions: right",
            };
            self.count(row, is_right);
        }
        let right = if is_right { "right" } else { "-" };
        self.rows.push(format!("| {} | {:?} | {asked} | {right} | {note} |", text.name, result.end));
    }

    fn print(&self) {
        println!("| text | end | questions | plan | gap |\n|---|---|---:|---|---|");
        self.rows.iter().for_each(|row| println!("{row}"));
        println!("\n| figure | count |\n|---|---:|");
        for (what, (good, all)) in &self.counts {
            println!("| {what} | {good} of {all} |");
        }
        for (what, asked) in &self.questions {
            println!("| questions on texts of kind {what} | {asked} |");
        }
        println!("| requests, tokens of {} texts | {}, {} |", self.texts, self.requests, self.tokens);
        if self.waiting > 0 {
            println!("\n{} texts wait for replies.", self.waiting);
        }
    }
}
