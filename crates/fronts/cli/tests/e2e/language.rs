//! What supports what: each use case runs on a small task with each part of the language, and the page shows the result. A cell is "yes" if the
//! result is right, else what is printed. Wrong results and crashes fail the test.

use super::lsp::session;
use super::mcp::Server;
use super::support::{Ran, planforge, ran, root, saying};
use planforge_diagnostics::SourceId;
use planforge_grammar::{domain_grammar, problem_grammar};
use planforge_pddl::{parse_domain, parse_problem, print_domain, print_problem};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const PAGE: &str = "docs/reference/language-support.md";

/// A task with one part of the language, in a folder of its own.
struct Task {
    name: &'static str,
    title: &'static str,
    folder: PathBuf,
    /// A name that is used and not declared: the file, the right text, and the wrong one.
    mistake: (&'static str, &'static str, &'static str),
    /// Another meaning of the part: the file, its text, and the other text.
    change: (&'static str, &'static str, &'static str),
    /// What the prompt of a translator names if it asks for the part.
    prompt: &'static str,
}

/// The result of a use case: right, or what it prints instead.
type Cell = Result<(), String>;

static TASKS: [Task; 5] = [
    Task {
        name: "numbers",
        title: "numbers",
        folder: PathBuf::new(),
        mistake: ("domain.pddl", "(>= (money)", "(>= (monye)"),
        change: ("domain.pddl", "(increase (money) 2)", "(increase (money) 1)"),
        prompt: ":functions",
    },
    Task {
        name: "durations",
        title: "durations",
        folder: PathBuf::new(),
        mistake: ("domain.pddl", "(at end (baked ?t))", "(at end (bakde ?t))"),
        change: ("domain.pddl", "(= ?duration 40)", "(= ?duration 30)"),
        prompt: ":durative-action",
    },
    Task {
        name: "timed-literals",
        title: "timed literals",
        folder: PathBuf::new(),
        mistake: ("p01.pddl", "(at 5 (not (open)))", "(at 5 (not (opne)))"),
        change: ("p01.pddl", "(at 5 ", "(at 1 "),
        prompt: "timed",
    },
    Task {
        name: "preferences",
        title: "preferences",
        folder: PathBuf::new(),
        mistake: ("p01.pddl", "treat (have bread)", "treat (hvae bread)"),
        change: ("p01.pddl", "treat (have bread)", "treat (not (have bread))"),
        prompt: "preference",
    },
    Task {
        name: "constraints",
        title: "trajectory constraints",
        folder: PathBuf::new(),
        mistake: ("p01.pddl", "sometime-before (have pear)", "sometime-before (hvae pear)"),
        change: ("p01.pddl", "(have pear) (have bread)", "(have bread) (have pear)"),
        prompt: "constraints",
    },
];

impl Task {
    fn path(&self, file: &str) -> String {
        self.folder.join(file).display().to_string()
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder.join(file)).unwrap()
    }

    /// Writes a file with one text replaced.
    fn edited(&self, (file, from, to): (&str, &str, &str), name: &str) {
        let text = self.text(file);
        assert_eq!(text.matches(from).count(), 1, "{}: {from}", self.name);
        std::fs::write(self.folder.join(name), text.replace(from, to)).unwrap();
    }

    fn run(&self, command: &str, files: &[&str], more: &[&str]) -> Ran {
        let paths = files.iter().map(|file| self.path(file));
        let words = command.split(' ').map(str::to_owned);
        ran(words.chain(paths).chain(more.iter().map(|&word| word.to_owned())))
    }
}

/// Right if the command ends well; else the sentence with which it refuses the task or stops at a limit.
fn good(ran: &Ran) -> Cell {
    match ran.exit {
        0 => Ok(()),
        code => {
            assert!((10..=24).contains(&code), "{ran:?}");
            Err(sentence(ran))
        }
    }
}

/// The first finding with its code, or the first line.
fn sentence(ran: &Ran) -> String {
    let said = format!("{}\n{}", ran.stderr, ran.stdout);
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let coded = lines().find(|line| ["unsupported]", "undecided]"].iter().any(|code| line.contains(code)));
    let explains =
        |line: &&str| line.contains("not execute") || line.contains("not judged") || line.contains("only");
    let line = coded.or_else(|| lines().find(explains)).or_else(|| lines().next()).unwrap_or_default();
    let line =
        line.split_once(": this planner").map_or(line.to_owned(), |(_, rest)| format!("this planner{rest}"));
    format!("exit code {}: {}", ran.exit, line.replace('|', "\\|"))
}

fn reading(task: &Task) -> Cell {
    good(&task.run("pddl validate", &["domain.pddl", "p01.pddl"], &[]))
}

/// The text without layout.
fn tokens(text: &str) -> String {
    text.replace('(', " ( ").replace(')', " ) ").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn formatting(task: &Task) -> Cell {
    for file in ["domain.pddl", "p01.pddl"] {
        let before = task.text(file);
        std::fs::write(task.folder.join("formatted.pddl"), before.replace("\n  ", " \n\n ")).unwrap();
        let changed = task.run("pddl fmt", &["formatted.pddl"], &[]);
        good(&changed)?;
        let after = task.text("formatted.pddl");
        assert_eq!(tokens(&after), tokens(&before), "{}", task.name);
        good(&task.run("pddl fmt --check", &["formatted.pddl"], &[]))?;
    }
    Ok(())
}

fn diagnostics(task: &Task) -> Cell {
    task.edited(task.mistake, "wrong.pddl");
    let mut files = ["domain.pddl", "p01.pddl"];
    files.iter_mut().filter(|file| **file == task.mistake.0).for_each(|file| *file = "wrong.pddl");
    let ran = task.run("pddl validate", &files, &[]);
    let wrong = task.mistake.2.split(['(', ')', ' ']).find(|word| !task.mistake.1.contains(word)).unwrap();
    assert!(
        ran.exit == 10 && ran.stderr.contains(wrong) && ran.stderr.contains("pddl.undefined-"),
        "{ran:?}"
    );
    Ok(())
}

fn drawing(task: &Task) -> Cell {
    let out = task.path("states.svg");
    good(&task.run("pddl graph", &["domain.pddl", "p01.pddl", "p01.plan"], &["--out", &out]))?;
    assert!(task.text("states.svg").contains("<svg"));
    Ok(())
}

fn validation(task: &Task) -> Cell {
    good(&task.run("pddl validate", &["domain.pddl", "p01.pddl", "p01.plan"], &[]))?;
    task.run("pddl validate", &["domain.pddl", "p01.pddl", "bad.plan"], &[]).expect(10);
    Ok(())
}

fn simulation(task: &Task) -> Cell {
    let ran = task.run("pddl validate", &["domain.pddl", "p01.pddl", "p01.plan"], &["--trace"]);
    good(&ran)?;
    assert!(
        ran.stdout.contains("    + (have bread)") || ran.stdout.contains("    + (baked bread)"),
        "{ran:?}"
    );
    Ok(())
}

fn walks(task: &Task) -> Cell {
    let ran = task.run("pddl ew", &["domain.pddl", "p01.pddl", "domain.pddl", "p01.pddl"], &[]);
    good(&ran)?;
    assert!(ran.stdout.contains("1.000"), "{ran:?}");
    Ok(())
}

fn problems(task: &Task) -> Cell {
    let domain = task.path("domain.pddl");
    let compare =
        |second: &str| task.run("pddl equivalent problem", &["p01.pddl", second], &["--domain", &domain]);
    good(&compare("p01.pddl"))?;
    let other = match task.change.0 {
        "p01.pddl" => {
            task.edited(task.change, "other.pddl");
            "other.pddl"
        }
        _ => "never.pddl",
    };
    compare(other).expect(10);
    Ok(())
}

fn domains(task: &Task) -> Cell {
    let problem = task.path("p01.pddl");
    let compare = |second: &str| {
        task.run("pddl equivalent domain", &["domain.pddl", second], &["--problems", &problem])
    };
    good(&compare("domain.pddl"))?;
    if task.change.0 == "domain.pddl" {
        task.edited(task.change, "other.pddl");
        compare("other.pddl").expect(10);
    }
    Ok(())
}

fn planning(task: &Task) -> Cell {
    let ran = task.run("pddl plan", &["domain.pddl", "p01.pddl"], &["--max-nodes", "20000"]);
    good(&ran)?;
    std::fs::write(task.folder.join("found.plan"), &ran.stdout).unwrap();
    task.run("pddl validate", &["domain.pddl", "p01.pddl", "found.plan"], &[]).expect(0);
    Ok(())
}

fn several_plans(task: &Task) -> Cell {
    good(&task.run("pddl plan", &["domain.pddl", "p01.pddl"], &["--top-k", "1"]))
}

fn why_unsolvable(task: &Task) -> Cell {
    let ran = task.run("pddl plan", &["domain.pddl", "never.pddl"], &["--max-nodes", "20000"]);
    match ran.exit {
        10 => Ok(()),
        _ => Err(sentence(&ran)),
    }
}

fn mutation(task: &Task) -> Cell {
    use planforge_pddl::mutate::{ProblemPart, problem_mutants};
    let domain = parse_domain(&task.text("domain.pddl"), SourceId(0)).value;
    let problem = parse_problem(&task.text("p01.pddl"), SourceId(1)).value;
    let mutants = problem_mutants(&domain, &problem, ProblemPart::Goal);
    assert!(!mutants.is_empty(), "{}", task.name);
    for mutant in mutants {
        let text = print_problem(&mutant.problem);
        std::fs::write(task.folder.join("mutant.pddl"), text).unwrap();
        task.run("pddl validate", &["domain.pddl", "mutant.pddl"], &[]).expect(0);
    }
    Ok(())
}

fn obfuscation(task: &Task) -> Cell {
    let out = task.path("obfuscated");
    let ran =
        ran(["suite", "obfuscate", &task.folder.display().to_string(), "--names", "random", "--out", &out]);
    good(&ran)?;
    let hidden = ["domain.pddl", "p01.pddl"].map(|file| format!("obfuscated/{file}"));
    let texts: String = hidden.iter().map(|file| task.text(file)).collect();
    for name in ["have", "baked", "money", "open", "tidy", "treat", "pear", "bread"] {
        let is_there = texts.split(['(', ')', ' ', '\n']).any(|word| word == name);
        assert!(!is_there, "{}: {name} in {texts}", task.name);
    }
    good(&task.run("pddl validate", &[&hidden[0], &hidden[1]], &[]))
}

fn grammar(task: &Task) -> Cell {
    let domain_text = task.text("domain.pddl");
    let domain = parse_domain(&domain_text, SourceId(0)).value;
    let problem_text = task.text("p01.pddl");
    let problem = parse_problem(&problem_text, SourceId(1)).value;
    let texts = [
        ("domain", domain_grammar(&domain), print_domain(&domain)),
        ("problem", problem_grammar(&domain, Some(&problem.objects)), print_problem(&problem)),
    ];
    let refused = texts.iter().filter(|(_, grammar, text)| !grammar.accepts(text));
    let refused: Vec<&str> = refused.map(|(what, ..)| *what).collect();
    if refused.is_empty() {
        Ok(())
    } else {
        Err(format!("not in the grammar of the {}", refused.join(" and ")))
    }
}

fn prompts(task: &Task) -> Cell {
    let server = saying(&format!("```pddl\n{}```", task.text("domain.pddl")));
    let pipeline = format!(
        "schema = 1\n[llm.main]\nuse = \"provider-openai\"\nmodel = \"fixed\"\nbase_url = {:?}\n
         [[stage]]\ndo = \"translate\"\nlabel = \"domain\"\nuse = \"translator-direct\"\nroles = {{ writer = \"main\" }}\noptions = {{ mode = \"domain\" }}\n
         [[stage]]\ndo = \"translate\"\nlabel = \"problem\"\nuse = \"translator-direct\"\nroles = {{ writer = \"main\" }}\noptions = {{ mode = \"problem\" }}\n",
        server.base_url()
    );
    std::fs::write(task.folder.join("pipeline.toml"), pipeline).unwrap();
    let (file, p01, runs) = (task.path("pipeline.toml"), task.path("p01"), task.path("runs"));
    let ran = ran(["run", &file, "--task", &p01, "--runs", &runs]);
    let asked: String = server.requests().iter().map(|request| request.body.clone()).collect();
    if asked.is_empty() {
        return Err(sentence(&ran));
    }
    let asks = asked.to_lowercase().contains(task.prompt);
    if asks { Ok(()) } else { Err("not asked for".to_owned()) }
}

fn telling(task: &Task) -> Cell {
    good(&task.run("pddl tell", &["domain.pddl", "p01.pddl", "p01.plan"], &[]))
}

fn suites(task: &Task) -> Cell {
    std::fs::remove_file(task.folder.join("never.pddl")).unwrap();
    good(&ran(["suite", "check", &task.folder.display().to_string(), "--solve", "--strict"]))
}

fn editor(task: &Task) -> Cell {
    let open = |file: &str, text: String| {
        let uri = format!("file://{}", task.path(file));
        let document = json!({ "uri": uri, "languageId": "pddl", "version": 1, "text": text });
        json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document } })
    };
    let (file, right, wrong) = task.mistake;
    let sent = session(&[
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "capabilities": {} } }),
        json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }),
        open("domain.pddl", task.text("domain.pddl")),
        open("p01.pddl", task.text("p01.pddl")),
        open(file, task.text(file).replace(right, wrong)),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "shutdown" }),
        json!({ "jsonrpc": "2.0", "method": "exit" }),
    ]);
    let found =
        sent.iter().flat_map(|message| message["params"]["diagnostics"].as_array().into_iter().flatten());
    let codes: Vec<&str> = found.filter_map(|finding| finding["code"].as_str()).collect();
    assert!(codes.iter().any(|code| code.starts_with("pddl.undefined-")), "{}: {codes:?}", task.name);
    Ok(())
}

fn agents(task: &Task) -> Cell {
    let mut command = planforge();
    command.arg("mcp");
    let mut server = Server::of(command, &task.folder, Box::new(|_| String::new()));
    let file = |name: &str| json!({ "path": name });
    let texts = json!({ "domain": file("domain.pddl"), "problem": file("p01.pddl") });
    for (plan, decision) in [("p01.plan", "accepted"), ("bad.plan", "rejected")] {
        let mut judged = texts.clone();
        judged["plan"] = file(plan);
        assert_eq!(server.answer("validate", judged)["decision"], decision, "{} {plan}", task.name);
    }
    let planned = server.answer("plan", texts);
    server.end();
    match planned["outcome"].as_str() {
        Some("plan") => Ok(()),
        outcome => Err(format!(
            "validate: yes; plan: {}: {}",
            outcome.unwrap_or_default(),
            planned["diagnostics"][0]["message"].as_str().unwrap_or_default()
        )),
    }
}

/// A use case by its name, with another way to the same end where it does not support everything.
type UseCase = (&'static str, fn(&Task) -> Cell, &'static str);

const USE_CASES: [UseCase; 20] = [
    ("reading: `pddl validate`", reading, ""),
    ("formatting: `pddl fmt`", formatting, ""),
    ("diagnostics", diagnostics, ""),
    ("drawing: `pddl graph`", drawing, ""),
    ("validation: `pddl validate`", validation, ""),
    ("simulation: `--trace`", simulation, ""),
    ("walks: `pddl ew`", walks, "`pddl validate` the plans of one domain with the other one"),
    ("comparison of problems", problems, ""),
    ("comparison of domains", domains, "`pddl validate` the plans of one domain with the other one"),
    ("planning: `pddl plan`", planning, ""),
    ("several plans: `--top-k`", several_plans, "`pddl plan`: the best plan that it finds"),
    (
        "proof that there is no plan",
        why_unsolvable,
        "nothing is claimed: codes 23 and 24 leave it open. A proof for the task without its numeric conditions holds for the task too",
    ),
    ("mutation", mutation, ""),
    ("obfuscation: `suite obfuscate`", obfuscation, ""),
    ("grammars: `pddl grammar`", grammar, ""),
    ("prompts: `translator-direct`", prompts, ""),
    ("plans in words: `pddl tell`", telling, ""),
    ("editor: `serve lsp`", editor, ""),
    ("agents: `serve mcp`, validate and plan", agents, ""),
    ("suites: `suite check --solve`", suites, ""),
];

const HEAD: &str = "# What supports what

<!-- Generated: `UPDATE_PAGES=1 cargo test -p planforge-cli --test e2e language`. Do not edit. -->

Each cell is the result of a test on a small task of `crates/fronts/cli/tests/e2e/language`: yes if the result is right, else what is printed, and in the last column what to do. Everything else of
PDDL, up to derived predicates and action costs, is supported everywhere.

";

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

#[test]
fn the_page_says_what_supports_what() {
    let folder = tempfile::tempdir().unwrap();
    let texts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/language");
    let mut page = HEAD.to_owned();
    let titles: Vec<&str> = TASKS.iter().map(|task| task.title).collect();
    let _ = writeln!(
        page,
        "| use case | {} | instead |\n|---|{}",
        titles.join(" | "),
        "---|".repeat(titles.len() + 1)
    );
    for (number, (name, use_case, instead)) in USE_CASES.iter().enumerate() {
        let cells = TASKS.iter().map(|task| {
            let own = folder.path().join(format!("{number}")).join(task.name);
            copy(&texts.join(task.name), &own);
            match use_case(&Task { folder: own.clone(), ..*task }) {
                Ok(()) => "yes".to_owned(),
                Err(printed) => printed.replace(&format!("{}/", own.display()), ""),
            }
        });
        let cells: Vec<String> = cells.collect();
        assert_eq!(instead.is_empty(), cells.iter().all(|cell| cell == "yes"), "{name}: {cells:?}");
        let _ = writeln!(page, "| {name} | {} | {instead} |", cells.join(" | "));
    }
    let written = root().join(PAGE);
    #[allow(clippy::disallowed_methods, reason = "an environment variable makes the test write")]
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(&written, &page).unwrap();
    }
    assert!(
        std::fs::read_to_string(&written).unwrap_or_default() == page,
        "{PAGE} is stale: run `UPDATE_PAGES=1 cargo test -p planforge-cli --test e2e language`"
    );
}

#[test]
fn a_plan_is_drawn_when_it_is_found() {
    let texts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/language");
    let out = tempfile::tempdir().unwrap();
    let chart = out.path().join("plan.svg");
    let plan = |name: &str| {
        let file = |file: &str| texts.join(name).join(file).display().to_string();
        let (domain, problem) = (file("domain.pddl"), file("p01.pddl"));
        ran(["pddl", "plan", &domain, &problem, "--first", "--gantt", &chart.display().to_string()])
    };
    let printed = plan("durations");
    printed.expect(0);
    assert!(printed.stdout.contains("(bake"), "{printed:?}");
    assert!(std::fs::read_to_string(&chart).unwrap().contains("<svg"));
    let without_times = plan("numbers");
    assert!(without_times.exit != 0 && without_times.stderr.contains("no Gantt chart"), "{without_times:?}");
}
