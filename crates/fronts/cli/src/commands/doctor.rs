//! `planforge doctor`: which programs outside are there, what each planner plans for, and how to get the rest.

use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::doctor::{DoctorReport, doctor};
use planforge_app::table::{Align, Table};

/// Show installed planners and other programs, and how to get the rest.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  planforge doctor\n  planforge doctor --json")]
pub(crate) struct DoctorArgs {
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &DoctorArgs) -> Exit {
    let report = doctor(&context.app);
    match args.json {
        true => context.output.json(&report),
        false => context.output.result(&text(&report)),
    }
    report.status()
}

fn text(report: &DoctorReport) -> String {
    let refused = match report.plugins.refused {
        0 => String::new(),
        n => format!(", {n} refused (see `planforge plugins list`)"),
    };
    let mut programs = Table::new(["program", "path", "version", "used by"].map(|name| (name, Align::Left)));
    let mut missing = String::new();
    for program in &report.programs {
        if program.path.is_none() {
            missing += &format!("  {}: {}\n", program.name, program.install);
        }
        let path = program.path.as_deref().unwrap_or("not on the search path");
        programs.row([program.name, path, program.version.as_deref().unwrap_or("-"), program.used_by]);
    }
    if !missing.is_empty() {
        missing = format!("\nTo install what is missing:\n{missing}");
    }
    let mut planners = Table::new(["planner", "supports besides :strips"].map(|name| (name, Align::Left)));
    for planner in &report.planners {
        let several = if planner.several { "; several plans" } else { "" };
        planners.row([planner.name.to_owned(), format!("{}{several}", planner.supports.join(" "))]);
    }
    format!(
        "planforge {} with clingo {}: {} plugins{refused}; {} of {} external programs found, none is required.\n\n{}{missing}\n{}",
        report.version,
        report.clingo,
        report.plugins.found,
        report.programs.iter().filter(|program| program.path.is_some()).count(),
        report.programs.len(),
        programs.text(),
        planners.text()
    )
}
