//! The child's side by itself.

use super::*;
use crate::work::{Question, Solved};
use planforge_asp::stages::{Outcome, SolveJob};

fn ask(program: &str) -> Result<Solved, Failure> {
    let job =
        SolveJob { plain: program.into(), recorded: program.into(), max_answers: 4, ..SolveJob::default() };
    let question = Question { job, direct: false, time_ms: 10_000, memory_mb: 1024, answer_bytes: 1000 };
    let answer = work::work(&serde_json::to_string(&question).unwrap())?;
    Ok(serde_json::from_str(&answer).unwrap())
}

#[test]
fn answer_sets_come_back_as_text() {
    let solved = ask("init(clean(shot1)). init(says(\"a\\\"b\")). cost(-3).").unwrap();
    let reply = solved.reply.unwrap();
    assert_eq!(reply.outcome, Outcome::Solved);
    assert_eq!(reply.answers, [["cost(-3)", "init(clean(shot1))", "init(says(\"a\\\"b\"))"]]);
    assert_eq!(solved.remarks, []);
}

#[test]
fn what_the_reasoner_says_of_a_program_is_told_with_the_line() {
    let wrong = ask("a(1).\nb(X) :- not a(X).\n").unwrap();
    assert!(wrong.reply.is_none());
    assert_eq!(wrong.remarks[0].line, "b(X) :- not a(X).");
    assert!(wrong.remarks[0].text.contains("unsafe"), "{:?}", wrong.remarks);
    let left_out = ask("a(shot1).\nb(X+1) :- a(X).\n").unwrap();
    assert!(left_out.reply.is_some());
    assert_eq!(left_out.remarks[0].line, "b(X+1) :- a(X).");
    let unknown = ask("a(@os(1)).").unwrap();
    assert!(unknown.reply.is_none() && unknown.remarks[0].text.contains("@os"), "{unknown:?}");
    let trusted = ask("a(@id(1, 2)).").unwrap();
    assert!(trusted.remarks[0].text.contains("takes a type and an index"), "{trusted:?}");
    assert_eq!(ask("a(@id(shot, 2)).").unwrap().reply.unwrap().answers, [["a(shot2)"]]);
    assert!(ask("#include \"/etc/hostname\".").unwrap().remarks[0].text.contains("#include"));
}

#[test]
fn an_answer_that_is_too_long_is_a_limit_and_a_document_of_another_kind_a_fault() {
    let long = ask("a(1..1000).").unwrap_err();
    assert_eq!((long.class, long.code.as_str()), (FailureClass::Limit, "translate-asp.size"));
    let other = work::work("{}").unwrap_err();
    assert_eq!((other.class, other.code.as_str()), (FailureClass::Plugin, "translate-asp.job"));
}
