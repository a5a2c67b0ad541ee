//! `tasks`: the tasks of a suite.

use crate::call::Call;
use crate::limits::{CallLimits, LimitArguments};
use crate::suites::{SuiteAnswer, suite_answer};
use crate::tools::ToolKind;
use planforge_app::contract::Failure;
use schemars::JsonSchema;
use serde::Deserialize;

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
