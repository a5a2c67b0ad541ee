//! `read`: diagnostics and fixes of a domain and a problem.

use crate::answers::Findings;
use crate::call::{Call, TextArgument};
use crate::limits::{CallLimits, LimitArguments};
use crate::tools::ToolKind;
use planforge_app::contract::{AppliedFix, Failure};
use planforge_app::pddl::read::{Fixed, ReadRequest, read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) struct Read;

/// A domain, and a problem for it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadArguments {
    /// The domain.
    domain: TextArgument,
    /// The problem; without it the domain is checked alone.
    problem: Option<TextArgument>,
    /// True to return the texts with all safe fixes applied.
    #[serde(default)]
    fix: bool,
    #[serde(default)]
    limits: LimitArguments,
}

/// Everything that is wrong with the texts.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReadAnswer {
    /// True if planning and validation can use the texts.
    usable: bool,
    #[serde(flatten)]
    findings: Findings,
    /// With `fix`: the domain with its safe fixes, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed_domain: Option<FixedAnswer>,
    /// With `fix`: the problem with its safe fixes, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed_problem: Option<FixedAnswer>,
}

/// A text after safe fixes, which never change what the reader understood.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FixedAnswer {
    /// The text.
    text: String,
    /// The fixes, in order.
    fixes: Vec<AppliedFix>,
}

impl ToolKind for Read {
    type Arguments = ReadArguments;
    type Answer = ReadAnswer;
    const NAME: &'static str = "read";
    const TITLE: &'static str = "Read PDDL";
    const DESCRIPTION: &'static str = "Reads a PDDL domain and a problem and reports all mistakes at once, each with its line, its code and \
         suggested actions. With `fix` it also returns the texts with all safe fixes applied. Call it after every change of a text.";

    fn call(call: &Call, arguments: ReadArguments) -> Result<ReadAnswer, Failure> {
        let limits = CallLimits::new(arguments.limits)?;
        let texts = call.texts(&limits);
        let request = ReadRequest {
            domain: texts.read("domain", &arguments.domain)?,
            problem: texts.read_if_given("problem", arguments.problem.as_ref())?,
            fix: arguments.fix,
        };
        let result = read(&call.context, &request);
        call.check_cancelled()?;
        Ok(ReadAnswer {
            usable: !result.findings.has_errors(),
            findings: Findings::new(result.findings.reported()),
            fixed_domain: result.fixed_domain.map(FixedAnswer::from),
            fixed_problem: result.fixed_problem.map(FixedAnswer::from),
        })
    }
}

impl From<Fixed> for FixedAnswer {
    fn from(Fixed { text, fixes }: Fixed) -> Self {
        Self { text, fixes }
    }
}
