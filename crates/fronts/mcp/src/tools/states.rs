//! `states`: the states of a plan, with pictures.

use crate::answers::{Findings, wrong_arguments};
use crate::call::{Call, TextArgument};
use crate::limits::{CallLimits, LimitArguments};
use crate::tools::ToolKind;
use planforge_app::contract::Failure;
use planforge_app::pddl::draw::{
    PictureRequest, PlanStates, PlanVerdict, StatesLimits, png, standalone, states,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) struct States;

/// Most of everything in one answer.
const LIMITS: StatesLimits = StatesLimits { steps: 200, atoms: 2_000, pictures: 50, picture_bytes: 2 << 20 };

/// A task, a plan, and a template for pictures.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatesArguments {
    /// The domain.
    domain: TextArgument,
    /// The problem.
    problem: TextArgument,
    /// The plan; without it the initial state is shown.
    plan: Option<TextArgument>,
    /// The template of the pictures, as `picture.toml` of a suite has it. The tool `explain` with `suite.picture` shows what it holds.
    template: Option<TextArgument>,
    /// Picture of the state after so many steps alone; without a template it is drawn from the domain's types and predicates.
    step: Option<usize>,
    /// The form of the pictures.
    #[serde(default)]
    format: PictureFormat,
    #[serde(default)]
    limits: LimitArguments,
}

/// A form of pictures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PictureFormat {
    /// SVG documents, in the result.
    #[default]
    Svg,
    /// PNG images, as contents after the result.
    Png,
}

/// The states of a plan: each is the one before it without the deleted and with the added atoms.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatesAnswer {
    /// valid, invalid, unsupported, limit-reached or unreadable.
    verdict: &'static str,
    /// The limit that ended the execution, and what was executed then.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
    /// Atoms of the initial state.
    initial: Vec<String>,
    /// The executed steps, in order.
    steps: Vec<StepAnswer>,
    /// Parts of the goal that do not hold at the end, and why.
    missing_goals: Vec<String>,
    /// Pictures; states that look like the one before are left out.
    pictures: Vec<PictureAnswer>,
    /// Reason why the pictures are drawn without a template.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture_note: Option<String>,
    /// Atoms, steps and pictures that limits of the answer left out.
    omitted: usize,
    /// Findings about the texts and the template.
    findings: Findings,
    /// The pictures as PNG, in their order.
    #[serde(skip)]
    images: Vec<Vec<u8>>,
}

/// A step and what it changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StepAnswer {
    /// The ground action.
    step: String,
    /// Atoms that became true.
    added: Vec<String>,
    /// Atoms that became false.
    deleted: Vec<String>,
}

/// A picture of a state.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PictureAnswer {
    /// Steps executed before.
    after: usize,
    /// The picture as an SVG document; not with `format` png.
    #[serde(skip_serializing_if = "Option::is_none")]
    svg: Option<String>,
}

impl ToolKind for States {
    type Arguments = StatesArguments;
    type Answer = StatesAnswer;
    const NAME: &'static str = "states";
    const TITLE: &'static str = "Show the states of a plan";
    const DESCRIPTION: &'static str = "Executes a plan and returns the initial state and what each step changes. With a template or a step it also \
         returns pictures of the states as SVG or PNG.";

    fn call(call: &Call, arguments: StatesArguments) -> Result<StatesAnswer, Failure> {
        let limits = CallLimits::new(arguments.limits)?;
        let texts = call.texts(&limits);
        let request = PictureRequest {
            domain: texts.read("domain", &arguments.domain)?,
            problem: texts.read("problem", &arguments.problem)?,
            plan: texts.read_if_given("plan", arguments.plan.as_ref())?,
            template: texts.read_if_given("template", arguments.template.as_ref())?,
            out: None,
            step: arguments.step,
            limits: LIMITS,
            work: limits.remaining(),
        };
        let (states, findings) = states(&call.context, &request);
        call.check_cancelled()?;
        if let Some(step) = arguments.step.filter(|step| *step > states.steps.len()) {
            let message = format!("`step` is {step}, and the plan executes {} steps", states.steps.len());
            return Err(wrong_arguments(message));
        }
        let pictures: Vec<_> = match arguments.step {
            None => states.pictures.iter().collect(),
            Some(step) => states.pictures.iter().rfind(|picture| picture.step <= step).into_iter().collect(),
        };
        let mut answer = answer(&states, Findings::new(findings.reported()));
        for picture in pictures {
            let svg = match arguments.format {
                PictureFormat::Svg => Some(standalone(&picture.svg)),
                PictureFormat::Png => {
                    call.check_cancelled()?;
                    match png(&picture.svg) {
                        Ok(image) => answer.images.push(image),
                        Err(why) => {
                            answer.picture_note = Some(why);
                            break;
                        }
                    }
                    None
                }
            };
            answer.pictures.push(PictureAnswer { after: arguments.step.unwrap_or(picture.step), svg });
        }
        Ok(answer)
    }

    fn images(answer: &mut StatesAnswer) -> Vec<Vec<u8>> {
        std::mem::take(&mut answer.images)
    }
}

fn answer(states: &PlanStates, findings: Findings) -> StatesAnswer {
    let names = |ids: &[u32]| -> Vec<String> {
        ids.iter().filter_map(|id| states.names.get(*id as usize)).cloned().collect()
    };
    StatesAnswer {
        verdict: match states.verdict {
            PlanVerdict::Valid => "valid",
            PlanVerdict::Invalid => "invalid",
            PlanVerdict::Unsupported => "unsupported",
            PlanVerdict::LimitReached => "limit-reached",
            PlanVerdict::Unreadable => "unreadable",
        },
        stopped: states
            .findings
            .iter()
            .find_map(|finding| finding.strip_prefix("plan.limit: "))
            .map(|message| format!("{message}; `limits` raises it")),
        initial: names(&states.initial),
        steps: states
            .steps
            .iter()
            .map(|step| StepAnswer {
                step: names(&[step.action]).concat(),
                added: names(&step.added),
                deleted: names(&step.deleted),
            })
            .collect(),
        missing_goals: states.missing.clone(),
        pictures: Vec::new(),
        picture_note: states.picture_note.clone(),
        omitted: states.initial_left_out + states.steps_left_out + states.pictures_left_out,
        findings,
        images: Vec::new(),
    }
}
