//! The method to use, from the results of an evaluation.

use super::{MATRIX, read_evaluation};
use crate::context::Context;
use crate::error::Error;
use crate::status::Status;
use std::path::PathBuf;

pub use planforge_evaluate::recommend::{
    Against, Answer, MethodFigures, Reach, Recommendation, Wish as RecommendWish,
};

/// The folder of an evaluation, and what a method may cost and has to reach.
#[derive(Debug, Clone)]
pub struct RecommendRequest {
    /// Folder that `evaluate` wrote its tables to.
    pub folder: PathBuf,
    /// The most that a task may cost, and the share of tasks that has to be right.
    pub wish: RecommendWish,
}

/// The answer and its status: [`Status::Negative`] if no method is good enough or cheap enough, [`Status::Undecided`] if that is not known.
#[derive(Debug, Clone)]
pub struct RecommendResult {
    /// The answer.
    pub recommendation: Recommendation,
    /// The status.
    pub status: Status,
}

/// Recommends a method. Runs nothing and sends no request.
///
/// # Errors
/// A budget that is not above 0, a need that is not above 0 and at most 100; results that cannot be read or were changed.
pub fn recommend(context: &Context, request: &RecommendRequest) -> Result<RecommendResult, Error> {
    let RecommendWish { budget_usd, need } = request.wish;
    if let Some(usd) = budget_usd.filter(|usd| !(usd.is_finite() && *usd > 0.0)) {
        let message = format!("the budget is `{usd}`; it has to be a number of US dollars above 0");
        return Err(Error::usage(
            message,
            Some("write it as 2USD or 0.05USD: the most that a task may cost on average"),
        ));
    }
    if let Some(need) = need.filter(|need| !(*need > 0.0 && *need <= 100.0)) {
        let message = format!("the need is `{need}`; it has to be above 0 and at most 100 per cent");
        return Err(Error::usage(message, Some("write it as 90%: the share of tasks that has to be right")));
    }
    let folder = context.path(&request.folder);
    if !folder.join(super::EVALUATION).exists() {
        let shown = folder.display();
        let help = match folder.join(MATRIX).exists() {
            true => {
                format!("`planforge evaluate merge {shown}` writes the results of the cells that are there")
            }
            false => "name the folder of `planforge evaluate --out`".to_owned(),
        };
        return Err(Error::usage(format!("{shown} has no results of an evaluation"), Some(&help)));
    }
    let recommendation = Recommendation::new(&read_evaluation(context, &folder)?, request.wish);
    let status = match recommendation.answer {
        Answer::Use => Status::Good,
        Answer::NeedNotReached | Answer::OverBudget => Status::Negative,
        Answer::MoneyUnknown | Answer::NothingJudged => Status::Undecided,
    };
    Ok(RecommendResult { recommendation, status })
}
