//! Findings in a domain and a problem, and the texts with safe fixes.

use crate::context::Context;
use crate::inputs::{Findings, Inputs, Source};
use planforge_contract::AppliedFix;
use planforge_pddl::extract::BlockKind;
use planforge_pddl::{FixedText, fix_all};

/// Texts to read.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    /// The domain.
    pub domain: Source,
    /// The problem.
    pub problem: Option<Source>,
    /// True if the texts are returned with all safe fixes.
    pub fix: bool,
}

/// The findings.
#[derive(Debug, Clone, Default)]
pub struct ReadResult {
    /// Findings about the texts. Without errors, planning and validation can use them.
    pub findings: Findings,
    /// The domain with its safe fixes, if that was requested and it has any.
    pub fixed_domain: Option<Fixed>,
    /// The problem with its safe fixes, if that was requested and it has any.
    pub fixed_problem: Option<Fixed>,
}

/// A text after safe fixes, which never change what the reader understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// The text.
    pub text: String,
    /// The fixes, in order.
    pub fixes: Vec<AppliedFix>,
}

/// Reads a domain, and a problem for it.
pub fn read(context: &Context, request: &ReadRequest) -> ReadResult {
    let mut inputs = Inputs::read(context, &request.domain, request.problem.as_ref());
    let fixed = |source, kind| if request.fix { fix(inputs.text(source), kind) } else { None };
    let fixed_domain = fixed(0, BlockKind::Domain);
    let fixed_problem = request.problem.as_ref().and_then(|_| fixed(1, BlockKind::Problem));
    if !context.cancellation.is_cancelled() {
        inputs.texts.check_task();
    }
    ReadResult { findings: inputs.into_findings(), fixed_domain, fixed_problem }
}

/// A text with its safe fixes; `None` if there are none.
fn fix(text: &str, kind: BlockKind) -> Option<Fixed> {
    let FixedText { text, fixes, answered } = fix_all(text, kind);
    let applied = fixes.into_iter().zip(answered).map(|(fix, finding)| AppliedFix {
        code: finding.code.into_owned(),
        title: fix.title,
        line: finding.at.line,
        column: finding.at.column,
    });
    let fixes: Vec<AppliedFix> = applied.collect();
    (!fixes.is_empty()).then_some(Fixed { text, fixes })
}
