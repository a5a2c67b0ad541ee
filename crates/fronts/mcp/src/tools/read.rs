//! `read`: diagnostics and fixes of a domain and a problem.

use crate::answers::Findings;
use crate::call::{Call, TextArgument};
use crate::limits::LimitArguments;
use crate::tool::ToolKind;
use planforge_contract::{AppliedFix, Failure};
use planforge_pddl::extract::BlockKind;
use planforge_pddl::{FixedText, fix_all};
use planforge_plugin_common::judging::TaskTexts;
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
        let limits = call.limits(arguments.limits)?;
        let reader = call.texts(&limits);
        let domain = reader.read("domain", &arguments.domain)?;
        let problem =
            arguments.problem.as_ref().map(|problem| reader.read("problem", problem)).transpose()?;
        let fixed =
            |text: Option<&String>, kind| text.filter(|_| arguments.fix).and_then(|text| fixed(text, kind));
        let fixed_domain = fixed(domain.text.as_ref(), BlockKind::Domain);
        let fixed_problem =
            fixed(problem.as_ref().and_then(|problem| problem.text.as_ref()), BlockKind::Problem);
        let mut texts = TaskTexts::read(domain, problem);
        call.check_cancelled()?;
        texts.check_task();
        Ok(ReadAnswer {
            usable: !texts.has_errors(),
            findings: Findings::of(&texts),
            fixed_domain,
            fixed_problem,
        })
    }
}

/// A text with its safe fixes; `None` if there are none.
fn fixed(text: &str, kind: BlockKind) -> Option<FixedAnswer> {
    let FixedText { text, fixes, answered } = fix_all(text, kind);
    let fixes: Vec<AppliedFix> = fixes
        .into_iter()
        .zip(answered)
        .map(|(fix, finding)| AppliedFix {
            code: finding.code.into_owned(),
            title: fix.title,
            line: finding.at.line,
            column: finding.at.column,
        })
        .collect();
    (!fixes.is_empty()).then_some(FixedAnswer { text, fixes })
}
