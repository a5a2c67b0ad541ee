//! Tools that read: `read` (diagnostics and fixes of a domain and a problem), `tasks` (the tasks of a suite), `explain` (a diagnostic code).

use crate::answers::{Findings, wrong_arguments};
use crate::call::{Call, TextArgument};
use crate::limits::{CallLimits, LimitArguments};
use crate::roots::{SuiteAnswer, suite_answer};
use crate::tools::ToolKind;
use planforge_app::codes;
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

pub(crate) struct Tasks;

/// A suite.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TasksArguments {
    /// The suite's folder, under a root that the client grants.
    suite: String,
    #[serde(default)]
    limits: LimitArguments,
}

impl ToolKind for Tasks {
    type Arguments = TasksArguments;
    type Answer = SuiteAnswer;
    const NAME: &'static str = "tasks";
    const TITLE: &'static str = "List the tasks of a suite";
    const DESCRIPTION: &'static str = "Lists the tasks of a suite: a folder with a domain in plain language (domain.nl), tasks (NAME.nl) and often \
         their reference PDDL. The reference itself is not returned: read its files if you need it.";

    fn call(call: &Call, arguments: TasksArguments) -> Result<SuiteAnswer, Failure> {
        let limits = CallLimits::new(arguments.limits)?;
        suite_answer(&call.context, call.texts(&limits).roots()?, &arguments.suite)
    }
}

pub(crate) struct Explain;

/// A code to explain.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainArguments {
    /// The code of a diagnostic, such as `pddl.undefined-predicate`.
    code: String,
}

/// The explanation of a code.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExplainAnswer {
    /// The code.
    code: &'static str,
    /// Meaning in a few words.
    title: &'static str,
    /// Meaning, causes and remedies, with an example.
    explanation: &'static str,
}

impl ToolKind for Explain {
    type Arguments = ExplainArguments;
    type Answer = ExplainAnswer;
    const NAME: &'static str = "explain";
    const TITLE: &'static str = "Explain a code";
    const DESCRIPTION: &'static str = "Explains the code of a diagnostic that another tool returned: what it means, and how its cause is fixed.";

    fn call(_: &Call, arguments: ExplainArguments) -> Result<ExplainAnswer, Failure> {
        let Ok(info) = codes::explain(&arguments.code) else {
            let failure = wrong_arguments(format!("there is no code `{}`", arguments.code));
            return Err(match codes::nearest(&arguments.code) {
                Some(near) => failure.help(format!("did you mean `{near}`?")),
                None => failure,
            });
        };
        Ok(ExplainAnswer { code: info.code, title: info.title, explanation: info.explanation })
    }
}
