//! `planforge pddl picture`: states as a template draws them, or as the domain's types and predicates do.

use crate::args::{MemoryArgs, positive_seconds};
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::diagnostics::render::escape;
use planforge_app::pddl::draw::{PICTURE_LIMITS, PictureRequest, WrittenPictures, picture};
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
    /// Give up on the plan after this many seconds.
    #[arg(long, value_name = "S", default_value_t = 300.0, value_parser = positive_seconds)]
    pub(crate) time_limit: f64,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    /// Print the plan with its states and their pictures as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &PictureArgs) -> Exit {
    let request = PictureRequest {
        domain: args.domain.clone().into(),
        problem: args.problem.clone().into(),
        plan: args.plan.clone().map(Into::into),
        template: args.template.clone().map(Into::into),
        out: args.out.clone(),
        step: args.step,
        limits: PICTURE_LIMITS,
        work: args.memory.with_seconds(Some(args.time_limit)),
    };
    context.show(picture(&context.app, &request), |result| {
        if args.json {
            context.output.json(&result);
        } else if let (Some(out), Some(written)) = (&args.out, &result.written) {
            context.output.result(&summary(written, out));
        }
        result.status
    })
}

fn summary(written: &WrittenPictures, out: &Path) -> String {
    let states =
        if written.states == 1 { "1 state".to_owned() } else { format!("{} states", written.states) };
    let mut text = format!("{states} in {}\n", out.display());
    if written.left_out > 0 {
        text += &format!("{} things are left out because there are too many\n", written.left_out);
    }
    if !written.undrawn.is_empty() {
        text += &format!("not in the pictures: {}\n", escape(&written.undrawn.join(" ")));
    }
    text
}
