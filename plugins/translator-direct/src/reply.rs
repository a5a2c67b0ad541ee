//! From a model's reply to PDDL: extraction, and the safe fixes where the stage asks for them.

use crate::codes;
use crate::options::Mode;
use planforge_contract::{
    AppliedFix, Failure, FailureClass, FinishReason, FixPolicy, Reply, ReportedDiagnostic,
};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_pddl::extract::{Block, BlockKind};
use planforge_pddl::{find_pddl, fix_all, parse_domain, parse_problem};

/// What a reply holds.
#[derive(Debug, PartialEq)]
pub(crate) struct Read {
    pub(crate) domain: Option<String>,
    pub(crate) problem: Option<String>,
    pub(crate) fixes: Vec<AppliedFix>,
    /// About the reply as a whole (`reply`) and about the form of each text (`domain`, `problem`), before fixes.
    pub(crate) diagnostics: Vec<ReportedDiagnostic>,
}

/// Reads a reply. What was not asked for stays in the raw reply; what was asked for and is missing is a failure.
///
/// In mode `both` (a revision of both) one of the two is enough: the other stays as it is.
pub(crate) fn read(reply: &Reply, wanted: Mode, fixes: FixPolicy) -> Result<Read, Failure> {
    check_finish(reply)?;
    let found = find_pddl(&reply.content, SourceId(0));
    let domain = found.domain().filter(|_| wanted != Mode::Problem);
    let problem = found.problem().filter(|_| wanted != Mode::Domain);
    if domain.is_none() && problem.is_none() {
        return Err(no_pddl(wanted, found.domain().or(found.problem())));
    }
    let sources = SourceMap::single("reply", reply.content.as_str());
    let mut read = Read {
        domain: None,
        problem: None,
        fixes: Vec::new(),
        diagnostics: report(&found.diagnostics, &sources),
    };
    read.domain = domain.map(|block| read.take(block, "domain", fixes));
    read.problem = problem.map(|block| read.take(block, "problem", fixes));
    Ok(read)
}

impl Read {
    /// The text of a block, with what there is to say about its form.
    fn take(&mut self, block: &Block, name: &str, policy: FixPolicy) -> String {
        let source = SourceId(0);
        let form = match block.kind {
            BlockKind::Domain => parse_domain(&block.text, source).diagnostics,
            BlockKind::Problem => parse_problem(&block.text, source).diagnostics,
            BlockKind::Other => Vec::new(),
        };
        self.diagnostics.extend(report(&form, &SourceMap::single(name, block.text.as_str())));
        if policy == FixPolicy::None {
            return block.text.clone();
        }
        let fixed = fix_all(&block.text, block.kind);
        self.fixes.extend(fixed.fixes.iter().zip(&fixed.answered).map(|(fix, answered)| AppliedFix {
            code: answered.code.to_string(),
            title: fix.title.clone(),
            line: answered.at.line,
            column: answered.at.column,
        }));
        fixed.text
    }
}

fn report(diagnostics: &[Diagnostic], sources: &SourceMap) -> Vec<ReportedDiagnostic> {
    diagnostics.iter().map(|d| ReportedDiagnostic::of(d, sources)).collect()
}

fn check_finish(reply: &Reply) -> Result<(), Failure> {
    match reply.finish {
        FinishReason::Length => Err(Failure::new(
            FailureClass::Reply,
            codes::CUT_OFF,
            "the server cut the reply off at its token limit",
        )
        .help("raise `max_tokens` of the role")),
        FinishReason::ContentFilter => Err(Failure::new(
            FailureClass::Reply,
            codes::FILTERED,
            "the server's content filter ended the reply",
        )),
        FinishReason::Stop | FinishReason::Other => Ok(()),
    }
}

fn no_pddl(wanted: Mode, other: Option<&Block>) -> Failure {
    let what = match wanted {
        Mode::Problem => "problem",
        Mode::Domain => "domain",
        Mode::Both => "domain and no problem",
    };
    let message = match other.map(|b| b.kind) {
        Some(BlockKind::Domain) => format!("the reply holds a domain, and no PDDL {what}"),
        Some(BlockKind::Problem) => format!("the reply holds a problem, and no PDDL {what}"),
        _ => format!("the reply holds no PDDL {what}"),
    };
    Failure::new(FailureClass::Reply, codes::NO_PDDL, message)
        .help("ask for more samples (`n`), show an in-context example, or use another model")
}
