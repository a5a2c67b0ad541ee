//! From a model's reply to a [`CandidatePatch`]: the one place where PDDL is extracted from what a model wrote.

mod thought;

pub use thought::read_thought_reply;

use planforge_contract::{
    AppliedFix, CandidatePatch, Failure, FailureClass, FinishReason, FixPolicy, Reply, ReportedDiagnostic,
};
use planforge_diagnostics::{CodeInfo, Diagnostic, SourceId, SourceMap, code_table};
use planforge_pddl::extract::{BlockKind, PddlBlock};
use planforge_pddl::{find_pddl, fix_all, parse_domain, parse_problem};

/// The PDDL that a reply is expected to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedPddl {
    /// A domain; a problem beside it stays in the raw reply.
    Domain,
    /// A problem; a domain beside it stays in the raw reply.
    Problem,
    /// Either or both: what is absent stays as it was.
    Either,
}

/// The codes of replies that cannot be used, and of what is remarkable about those that can.
pub const CODES: &[CodeInfo] = code_table!("codes.md");

/// Extracts the PDDL and applies the safe fixes if the stage asks for them. Diagnostics cover the reply (file
/// `reply`) and the form of each text before fixes (files `domain`, `problem`).
///
/// The patch holds the raw reply and its log-likelihood; `messages` and `thought` are left to the caller.
///
/// # Errors
/// Class `Reply`: cut off, filtered, or without the wanted PDDL.
pub fn read_reply(reply: &Reply, wanted: WantedPddl, fixes: FixPolicy) -> Result<CandidatePatch, Failure> {
    check_finish(reply)?;
    let found = find_pddl(&reply.content, SourceId(0));
    let domain = found.domain().filter(|_| wanted != WantedPddl::Problem);
    let problem = found.problem().filter(|_| wanted != WantedPddl::Domain);
    if domain.is_none() && problem.is_none() {
        return Err(note_finish(lacks_pddl(wanted, found.domain().or(found.problem())), reply));
    }
    let sources = SourceMap::single("reply", reply.content.as_str());
    let mut patch = CandidatePatch {
        log_likelihood: reply.log_likelihood(),
        tokens: reply.tokens(),
        raw_reply: reply.content.clone(),
        diagnostics: report(&found.diagnostics, &sources),
        ..CandidatePatch::default()
    };
    let domain = domain.map(|block| take(&mut patch, block, "domain", fixes));
    let problem = problem.map(|block| take(&mut patch, block, "problem", fixes));
    Ok(CandidatePatch { domain, problem, ..patch })
}

fn take(patch: &mut CandidatePatch, block: &PddlBlock, name: &str, policy: FixPolicy) -> String {
    let form = match block.kind {
        BlockKind::Domain => parse_domain(&block.text, SourceId(0)).diagnostics,
        BlockKind::Problem => parse_problem(&block.text, SourceId(0)).diagnostics,
        BlockKind::Other => Vec::new(),
    };
    patch.diagnostics.extend(report(&form, &SourceMap::single(name, block.text.as_str())));
    apply_fixes(&mut patch.fixes, &block.text, block.kind, policy)
}

/// Applies the safe fixes to a text, if the policy asks for them; each is added to `fixes`.
pub fn apply_fixes(fixes: &mut Vec<AppliedFix>, text: &str, kind: BlockKind, policy: FixPolicy) -> String {
    if policy == FixPolicy::None {
        return text.to_owned();
    }
    let fixed = fix_all(text, kind);
    fixes.extend(fixed.fixes.iter().zip(&fixed.answered).map(|(fix, answered)| AppliedFix {
        code: answered.code.to_string(),
        title: fix.title.clone(),
        line: answered.at.line,
        column: answered.at.column,
    }));
    fixed.text
}

fn report(diagnostics: &[Diagnostic], sources: &SourceMap) -> Vec<ReportedDiagnostic> {
    diagnostics.iter().map(|d| ReportedDiagnostic::of(d, sources)).collect()
}

/// Refuses a reply that the server did not let the model finish.
///
/// # Errors
/// Class `Reply`: cut off at the token limit, or filtered.
pub fn check_finish(reply: &Reply) -> Result<(), Failure> {
    let failure = |code, message: &str| Err(Failure::new(FailureClass::Reply, code, message));
    match reply.finish {
        FinishReason::Length => failure("reply.cut-off", "the server cut the reply off at its token limit")
            .map_err(|f: Failure| f.help("raise `max_tokens` of the role")),
        FinishReason::ContentFilter => failure("reply.filtered", &filtered_text(reply)),
        FinishReason::Stop | FinishReason::Other => Ok(()),
    }
}

/// Longest part of a refusal that is quoted, in characters.
const QUOTED_CHARACTERS: usize = 300;

/// The reason why a filtered reply cannot be used: the refusal, where there is one.
pub fn filtered_text(reply: &Reply) -> String {
    match reply.refusal.as_deref().map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => {
            let quoted: String = reason.chars().take(QUOTED_CHARACTERS).collect();
            format!("the model refused to answer: {quoted}")
        }
        None => "the server's content filter ended the reply".to_owned(),
    }
}

fn lacks_pddl(wanted: WantedPddl, other: Option<&PddlBlock>) -> Failure {
    let what = match wanted {
        WantedPddl::Problem => "problem",
        WantedPddl::Domain => "domain",
        WantedPddl::Either => "domain and no problem",
    };
    no_pddl(&match other.map(|b| b.kind) {
        Some(BlockKind::Domain) => format!("the reply holds a domain, and no PDDL {what}"),
        Some(BlockKind::Problem) => format!("the reply holds a problem, and no PDDL {what}"),
        _ => format!("the reply holds no PDDL {what}"),
    })
}

/// Adds to a failure the reason that the server stated for the end of the reply, where it has no meaning here: it may be
/// why the reply cannot be used.
pub fn note_finish(failure: Failure, reply: &Reply) -> Failure {
    match &reply.stated_finish {
        Some(reason) => {
            let message = format!("{}; the server ended it with `{reason}`", failure.message);
            Failure { message, ..failure }
        }
        None => failure,
    }
}

/// The failure of a reply without the PDDL that was asked for.
pub fn no_pddl(message: &str) -> Failure {
    Failure::new(FailureClass::Reply, "reply.no-pddl", message)
        .help("ask for more samples (`n`), show an in-context example, or use another model")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(content: &str) -> Reply {
        Reply::new(content, FinishReason::Stop)
    }

    const OPEN: &str = "Sure:\n```pddl\n(define (problem tidy) (:domain room)\n(:init (dirty cup))\n(:goal (clean cup)\n```\n";

    #[test]
    fn a_lost_parenthesis_is_fixed_only_where_asked() {
        let as_is = read_reply(&reply(OPEN), WantedPddl::Problem, FixPolicy::None).unwrap();
        assert!(as_is.fixes.is_empty() && !as_is.diagnostics.is_empty());
        assert!(as_is.problem.as_deref().unwrap().trim_end().ends_with("(clean cup)"));
        let fixed = read_reply(&reply(OPEN), WantedPddl::Problem, FixPolicy::Safe).unwrap();
        assert_eq!(fixed.raw_reply, OPEN);
        assert!(!fixed.fixes.is_empty());
        assert!(fixed.problem.unwrap().trim_end().ends_with("(clean cup)))"));
    }

    #[test]
    fn what_was_not_asked_for_is_named() {
        let failure = read_reply(&reply(OPEN), WantedPddl::Domain, FixPolicy::Safe).unwrap_err();
        assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Reply, "reply.no-pddl"));
        assert!(failure.message.contains("holds a problem, and no PDDL domain"), "{}", failure.message);
        let cut = Reply { finish: FinishReason::Length, ..reply(OPEN) };
        assert_eq!(read_reply(&cut, WantedPddl::Problem, FixPolicy::Safe).unwrap_err().code, "reply.cut-off");
    }
}
