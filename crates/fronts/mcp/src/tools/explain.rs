//! `explain`: a diagnostic code.

use crate::call::Call;
use crate::codes::wrong_arguments;
use crate::tools::ToolKind;
use planforge_app::codes;
use planforge_app::contract::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
