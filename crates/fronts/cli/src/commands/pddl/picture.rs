//! `planforge pddl picture`: states as a template draws them, or as the domain's types and predicates do.

use crate::context::Context;
use crate::exit::Exit;
use crate::files::refuse_part_of_run;
use crate::inputs::Inputs;
use clap::Args;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::SourceId;
use planforge_diagnostics::render::escape;
use planforge_pipeline::read_picture;
use planforge_report::picture::{png, standalone};
use planforge_report::states::{PlanStates, PlanTexts, PlanVerdict, StatePicture, StatesLimits, plan_states};
use std::path::{Path, PathBuf};

/// Draw states or the steps of a plan: piles, grids, places.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl picture examples/suites/blocks/domain.pddl examples/suites/blocks/p01.pddl --out p01.svg
  planforge pddl picture examples/suites/blocks/domain.pddl examples/suites/blocks/p01.pddl --out p01.png
  planforge pddl picture domain.pddl p01.pddl p01.plan --out states/
  planforge pddl picture domain.pddl p01.pddl p01.plan --template picture.toml --step 3 --out third.svg")]
pub(crate) struct PictureArgs {
    /// The domain file.
    pub(crate) domain: PathBuf,
    /// The problem file.
    pub(crate) problem: PathBuf,
    /// The plan file; without it the initial state is drawn.
    pub(crate) plan: Option<PathBuf>,
    /// The template of the drawing [default: picture.toml beside the domain file; without one, the domain's types and predicates].
    #[arg(long, value_name = "FILE")]
    pub(crate) template: Option<PathBuf>,
    /// The .svg or .png file to write, for one state; or a folder, for every state of the plan: 00.svg, 01.svg, ...
    #[arg(long, value_name = "FILE|DIR", required_unless_present = "json")]
    pub(crate) out: Option<PathBuf>,
    /// The state after so many steps (default for a file: the last one that the plan reaches).
    #[arg(long, value_name = "N", requires = "plan")]
    pub(crate) step: Option<usize>,
    /// Print the plan with its states and their pictures as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Limits of one drawing.
const LIMITS: StatesLimits =
    StatesLimits { steps: 10_000, atoms: 1_000_000, pictures: 10_000, picture_bytes: 512 << 20 };

pub(crate) fn run(context: &Context, args: &PictureArgs) -> Exit {
    let mut inputs = Inputs::read(&args.domain, Some(&args.problem));
    let plan = args.plan.as_deref().map(|path| inputs.load_plan(path).1);
    let template = template(&mut inputs, args);
    let exit = inputs.exit();
    context.output.diagnostics(&inputs.texts.diagnostics, &inputs.texts.sources);
    let (Ok(template), Exit::Good) = (template, exit) else {
        return if exit == Exit::Good { Exit::Input } else { exit };
    };
    let text =
        |id: u32| inputs.texts.sources.get(SourceId(id)).map(|file| file.text.as_str()).unwrap_or_default();
    let texts = PlanTexts {
        domain: text(0),
        problem: text(1),
        plan: plan.as_ref().and_then(Option::as_deref).unwrap_or_default(),
        picture: template.as_deref(),
        wording: None,
    };
    let states = plan_states(texts, &LIMITS);
    let drawn = !states.pictures.is_empty();
    if !drawn || plan.is_some() {
        states.findings.iter().for_each(|finding| context.output.note(&escape(finding)));
    }
    if drawn
        && let Some(out) = &args.out
        && let Err(exit) = write(context, args, out, &states)
    {
        return exit;
    }
    if args.json {
        context.output.json(&states);
    }
    match (states.verdict, plan.is_some()) {
        (PlanVerdict::Unsupported, _) => Exit::Undecided,
        (PlanVerdict::Unreadable, _) | (PlanVerdict::Invalid, true) => Exit::Negative,
        (PlanVerdict::Valid, _) | (PlanVerdict::Invalid, false) => Exit::Good,
    }
}

/// The template's text, held against the domain; none without a file. What is wrong is added to the inputs' diagnostics.
fn template(inputs: &mut Inputs, args: &PictureArgs) -> Result<Option<String>, ()> {
    let beside = || args.domain.parent().unwrap_or(Path::new("")).join("picture.toml");
    let path = args.template.clone().unwrap_or_else(beside);
    if args.template.is_none() && !path.exists() {
        return Ok(None);
    }
    let (source, text) = inputs.load_text(&path);
    let text = text.ok_or(())?;
    let read = read_picture(&text, source, inputs.texts.domain.as_ref(), &mut inputs.texts.diagnostics);
    read.map(|_| Some(text)).ok_or(())
}

/// Writes one state into a file, or all into a folder.
fn write(context: &Context, args: &PictureArgs, out: &Path, states: &PlanStates) -> Result<(), Exit> {
    let last = states.steps.len();
    let after = |step: usize| states.pictures.iter().rev().find(|picture| picture.step <= step);
    let one = has_extension(out, "svg") || has_extension(out, "png");
    let wanted: Vec<usize> = match (args.step, one) {
        (Some(step), _) if step > last => {
            let message =
                format!("error: the plan reaches the states after 0 to {last} steps, and --step is {step}");
            context.output.note(&message);
            return Err(Exit::Usage);
        }
        (Some(step), _) => vec![step],
        (None, true) => vec![last],
        (None, false) => (0..=last).collect(),
    };
    if !one {
        std::fs::create_dir_all(out).map_err(|error| unwritable(context, out, &error))?;
    }
    let digits = last.to_string().len().max(2);
    let mut undrawn: Vec<&str> = Vec::new();
    let mut left_out = 0;
    for step in &wanted {
        let Some(picture) = after(*step) else { continue };
        let path = if one { out.to_owned() } else { out.join(format!("{step:0digits$}.svg")) };
        write_picture(context, &path, picture)?;
        undrawn.extend(
            picture.undrawn.iter().filter_map(|id| states.names.get(*id as usize)).map(String::as_str),
        );
        left_out += picture.left_out;
    }
    undrawn.sort_unstable();
    undrawn.dedup();
    if !args.json {
        context.output.result(&summary(wanted.len(), out, &undrawn, left_out));
    }
    Ok(())
}

fn write_picture(context: &Context, path: &PathBuf, picture: &StatePicture) -> Result<(), Exit> {
    refuse_part_of_run(path).map_err(|failure| context.print_failure(&failure))?;
    let bytes = if has_extension(path, "png") {
        png(&picture.svg).map_err(|why| unwritable(context, path, &why))?
    } else {
        standalone(&picture.svg).into_bytes()
    };
    std::fs::write(path, bytes).map_err(|error| unwritable(context, path, &error))
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

fn unwritable(context: &Context, path: &Path, error: &dyn std::fmt::Display) -> Exit {
    let message = format!("{} cannot be written: {error}", path.display());
    context.print_failure(&Failure::new(FailureClass::System, "cli.unwritable-file", message))
}

fn summary(pictures: usize, out: &Path, undrawn: &[&str], left_out: usize) -> String {
    let states = if pictures == 1 { "1 state".to_owned() } else { format!("{pictures} states") };
    let mut text = format!("{states} in {}\n", out.display());
    if left_out > 0 {
        text += &format!("{left_out} things are left out because there are too many\n");
    }
    if !undrawn.is_empty() {
        text += &format!("not in the pictures: {}\n", escape(&undrawn.join(" ")));
    }
    text
}
