//! The tools: their descriptions, and the conversion of their arguments and results.

mod compare;
mod plan;
mod read;
mod recommend;
mod run;
mod solve;
mod states;

use crate::answers::wrong_arguments;
use crate::call::Call;
use planforge_app::contract::Failure;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The tools, in the order in which a client lists them.
pub(crate) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<solve::Solve>(),
    ToolEntry::of::<read::Read>(),
    ToolEntry::of::<plan::Plan>(),
    ToolEntry::of::<plan::Validate>(),
    ToolEntry::of::<compare::Compare>(),
    ToolEntry::of::<states::States>(),
    ToolEntry::of::<read::Tasks>(),
    ToolEntry::of::<run::Run>(),
    ToolEntry::of::<recommend::Recommend>(),
    ToolEntry::of::<read::Explain>(),
];

/// A tool of the server.
pub(crate) trait ToolKind {
    /// Arguments, described by their schema.
    type Arguments: DeserializeOwned + JsonSchema + 'static;
    /// Result, described by its schema.
    type Answer: Serialize + JsonSchema + 'static;
    const NAME: &'static str;
    const TITLE: &'static str;
    /// Purpose and result, for the model that chooses a tool.
    const DESCRIPTION: &'static str;
    /// True if the tool asks a model.
    const OPEN_WORLD: bool = false;
    /// True if the tool writes no file under a root.
    const READ_ONLY: bool = true;

    /// Computes the answer.
    ///
    /// # Errors
    /// The call could not be answered; a negative verdict is an answer.
    fn call(call: &Call, arguments: Self::Arguments) -> Result<Self::Answer, Failure>;

    /// Images that follow the answer, as PNG.
    fn images(_answer: &mut Self::Answer) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

/// The result of a call.
pub(crate) struct ToolResult {
    pub(crate) answer: Value,
    /// PNG images.
    pub(crate) images: Vec<Vec<u8>>,
}

/// A tool without its types.
pub(crate) struct ToolEntry {
    pub(crate) name: &'static str,
    pub(crate) describe: fn() -> Tool,
    pub(crate) call: fn(&Call, JsonObject) -> Result<ToolResult, Failure>,
}

impl ToolEntry {
    pub(crate) const fn of<T: ToolKind>() -> Self {
        Self { name: T::NAME, describe: describe::<T>, call: call::<T> }
    }
}

fn describe<T: ToolKind>() -> Tool {
    let hints = ToolAnnotations::new().read_only(T::READ_ONLY).destructive(false).open_world(T::OPEN_WORLD);
    Tool::new(T::NAME, T::DESCRIPTION, JsonObject::new())
        .with_input_schema::<T::Arguments>()
        .with_output_schema::<T::Answer>()
        .with_title(T::TITLE)
        .with_annotations(hints)
}

fn call<T: ToolKind>(call: &Call, arguments: JsonObject) -> Result<ToolResult, Failure> {
    let arguments = serde_json::from_value(Value::Object(arguments))
        .map_err(|error| wrong_arguments(format!("the arguments of `{}`: {error}", T::NAME)))?;
    let mut answer = T::call(call, arguments)?;
    let images = T::images(&mut answer);
    let answer = serde_json::to_value(&answer)
        .map_err(|error| wrong_arguments(format!("the answer of `{}` has no JSON form: {error}", T::NAME)))?;
    Ok(ToolResult { answer, images })
}
