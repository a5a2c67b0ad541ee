//! Every document that may cross a plugin's boundary or be stored in a run folder.

use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall};
use planforge_contract::*;

/// Reads a text as that document. What is read can be written, and what was written reads as the same and is written the
/// same.
fn decoded<T: Document + PartialEq + std::fmt::Debug>(text: &str) -> bool {
    let body: T = match decode(text) {
        Ok(body) => body,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    let written = encode(&body).expect("what JSON held, JSON holds");
    let again: T = decode(&written).expect("what was written can be read");
    assert_eq!(again, body, "`{}` reads differently after writing", T::NAME);
    assert_eq!(encode(&again).as_ref(), Ok(&written), "`{}` is written differently", T::NAME);
    true
}

macro_rules! documents {
    ($($ty:ty),* $(,)?) => {
        /// The names of the documents that are read.
        pub const DOCUMENTS: &[&str] = &[$(<$ty as Document>::NAME),*];
        /// Returns the number of kinds of documents that the text can be read as.
        fn read(text: &str) -> usize {
            let mut count = 0;
            $(count += usize::from(decoded::<$ty>(text));)*
            count
        }
    };
}

documents! {
    PluginInfo, CreateRequest, Failure, CompletionRequest, CompletionResult, TranslateRequest, TranslateResponse,
    VerifyRequest, VerifyResponse, PlanRequest, PlanOutcome, EnvironmentOpen, EnvironmentInfo, WalkSpec, Walks,
    Sequences, ExecutionReport, EnvironmentPlan, EnvironmentVerdict, StateQuery, StateDescription, StateGraphReport, EnvironmentCall,
    EnvironmentAnswer, Event, PlanReport, ValidateReport, EwReport, EquivalentReport, RoundHistory,
    DomainEquivalentReport, Inference, InferReport,
}

/// Reads a text as each document. It is at most one of them.
pub fn contract_json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    assert!(read(text) <= 1, "one text reads as several documents");
}
