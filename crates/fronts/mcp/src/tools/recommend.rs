//! `recommend`: the method to use, from the results of an evaluation.

use crate::answers::use_case_failure;
use crate::call::Call;
use crate::folders::temporary_folder;
use crate::limits::{CallLimits, LimitArguments};
use crate::tools::ToolKind;
use planforge_app::contract::Failure;
use planforge_app::evaluate::{RecommendRequest, RecommendWish, recommend};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) struct Recommend;

/// An evaluation, and what a method may cost and has to reach.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecommendArguments {
    /// The folder of `planforge evaluate --out`, under a root that the client grants.
    evaluation: String,
    /// The most that a task may cost on average, in US dollars.
    budget_usd: Option<f64>,
    /// The share of tasks that has to be right, in per cent.
    need: Option<f64>,
    #[serde(default)]
    limits: LimitArguments,
}

/// The method to use.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RecommendAnswer {
    /// use, need-not-reached, over-budget, money-unknown or nothing-judged.
    answer: String,
    /// The method; absent if there is none to use.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    /// Pairs of methods that the tests show to differ.
    separated: usize,
    /// Pairs of methods that were tested.
    tests: usize,
    /// The answer in its first line, then the other methods, then what the results cannot show.
    text: String,
}

impl ToolKind for Recommend {
    type Arguments = RecommendArguments;
    type Answer = RecommendAnswer;
    const NAME: &'static str = "recommend";
    const TITLE: &'static str = "Recommend a method";
    const DESCRIPTION: &'static str = "Says which method to use according to an evaluation that `planforge evaluate` made: how many tasks it gets \
         right, with interval and cost, which methods the tests show to be worse, and what the results cannot show. Runs nothing.";

    fn call(call: &Call, arguments: RecommendArguments) -> Result<RecommendAnswer, Failure> {
        let limits = CallLimits::new(arguments.limits)?;
        let texts = call.texts(&limits);
        let roots = texts.roots()?;
        // A copy, which no link leads out of a root.
        let copy = temporary_folder()?;
        let results = format!("{}/evaluation.json", arguments.evaluation);
        // Folders of older versions have no hashes.
        roots
            .copy_with(&results, "SHA256SUMS", copy.path())
            .map_err(|failure| failure.help("name the folder of `planforge evaluate --out`, under a root"))?;
        let wish = RecommendWish { budget_usd: arguments.budget_usd, need: arguments.need };
        let request = RecommendRequest { folder: copy.path().to_owned(), wish };
        let found = recommend(&call.context, &request).map_err(|error| {
            let mut failure = use_case_failure(&error);
            failure.message =
                failure.message.replace(&copy.path().display().to_string(), &arguments.evaluation);
            failure
        })?;
        let recommendation = found.recommendation;
        Ok(RecommendAnswer {
            answer: recommendation.answer.name().to_owned(),
            separated: recommendation.separated,
            tests: recommendation.tests,
            text: recommendation.text(),
            method: recommendation.method,
        })
    }
}
