//! The calls in a model's reply: `add_or_update_predicates([...])` and `modify_action(name, preconditions, effects)`, the refinement
//! interface of the exploration-walk paper (Appendix B.3), and the functions that edit the problem, which the paper does not have.
//!
//! They are parsed, never executed: as Python text or as JSON, in code blocks or in prose. If a code block holds a call, calls outside of all
//! blocks are talk about calls and do not count.

mod bind;
mod call;
mod json;
mod literal;
mod scan;

pub(crate) use call::{
    ACTION, ActionCall, Call, CallsOfReply, Functions, GOAL, INIT, OBJECTS, PREDICATES, ProblemCall,
    ProblemPart, REPLY, Text,
};

use crate::codes;
use call::MAX_REPLY;
use planforge_diagnostics::Diagnostic;

/// Reads every call of these functions in a reply.
pub(crate) fn read_calls(reply: &str, functions: Functions) -> CallsOfReply {
    let mut calls = CallsOfReply::default();
    if reply.len() > MAX_REPLY {
        let message = format!("the reply has {} bytes; at most {MAX_REPLY} are read", reply.len());
        calls.refused.push(Diagnostic::error(codes::EDIT_LIMIT, message));
        return calls;
    }
    let mut fuel = literal::Fuel::for_text(reply.len());
    let mut scanner = scan::Scanner::new(reply, functions, &mut fuel);
    let blocks = planforge_pddl::extract::code_blocks(reply);
    for block in &blocks {
        scanner.code(block.clone(), &mut calls);
    }
    let mut outside = CallsOfReply::default();
    let mut from = 0;
    for block in &blocks {
        scanner.prose(from..block.start, &mut outside);
        from = block.end;
    }
    scanner.prose(from..reply.len(), &mut outside);
    if calls.is_empty() {
        return outside;
    }
    if !outside.calls.is_empty() {
        let message = "calls outside of the code blocks are not made, because a block has some";
        calls.notes.push(Diagnostic::advice(codes::EDIT_OUTSIDE, message));
    }
    calls
}

#[cfg(test)]
mod tests;
