//! Results and errors of the safe wrapper.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use planforge_clingo::{AnswerSets, Error, MessageKind, SolveRequest, Symbol, solve, version};
use std::cell::Cell;

fn all(program: &str) -> AnswerSets {
    solve(&SolveRequest { models: 0, ..SolveRequest::new(program) }).unwrap()
}

/// The models as text, for comparison.
fn texts(answer: &AnswerSets) -> Vec<String> {
    answer.models.iter().map(|m| m.iter().map(Symbol::to_string).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn clingo_is_linked_in() {
    assert_eq!(version().0, 5);
}

#[test]
fn facts_have_one_answer_set() {
    let answer = all("p(b). p(a). q(X) :- p(X), X != a.");
    assert_eq!(texts(&answer), ["p(a) p(b) q(b)"]);
    assert!(answer.complete && !answer.stopped && answer.messages.is_empty());
    assert_eq!(texts(&all("")), [""]);
}

#[test]
fn choices_are_enumerated_up_to_the_number_asked_for() {
    let program = "{ a; b; c }. #show a/0. #show b/0.";
    assert_eq!(all(program).models.len(), 8);
    let projected = solve(&SolveRequest { models: 0, project: true, ..SolveRequest::new(program) }).unwrap();
    assert_eq!(texts(&projected), ["", "a", "a b", "b"]);
    assert!(projected.complete);
    let some = solve(&SolveRequest { models: 3, ..SolveRequest::new(program) }).unwrap();
    assert_eq!((some.models.len(), some.complete), (3, false));
}

#[test]
fn no_answer_set_is_an_answer() {
    for program in ["a. :- a.", "{ a }. :- a. :- not a.", "a :- not a.", "a. -a."] {
        let answer = all(program);
        assert!(answer.models.is_empty() && answer.complete && !answer.stopped, "{program}");
    }
}

#[test]
fn every_kind_of_symbol_is_read_and_written() {
    let answer = all(r#"p(2147483647; -7; "a \"b\" \\ \nü"; (); (1,); (1,f(x)); #inf; #sup; _x'y). -p(c)."#);
    let expected =
        r#"p(#inf) p(-7) p(2147483647) p("a \"b\" \\ \nü") p(()) p((1,)) p((1,f(x))) p(_x'y) p(#sup) -p(c)"#;
    assert_eq!(texts(&answer), [expected]);
    let text = Symbol::Text("a \"b\" \\ \nü".to_owned());
    assert!(answer.models[0].contains(&Symbol::function("p", [text])));
    // What is written reads as the same symbols.
    let again: String = answer.models[0].iter().map(|s| format!("{s}. ")).collect();
    assert_eq!(all(&again).models, answer.models);
}

#[test]
fn shown_terms_are_symbols_too() {
    assert_eq!(
        texts(&all("p(1..2). #show. #show (X,Y) : p(X), p(Y), X < Y. #show 7. #show \"x\".")),
        ["7 \"x\" (1,2)"]
    );
}

fn program_error(program: &str) -> Vec<(MessageKind, u32, u32, String)> {
    let Err(Error::Program { messages, .. }) = solve(&SolveRequest::new(program)) else {
        panic!("no error in {program}")
    };
    messages
        .into_iter()
        .map(|m| {
            let place = m.place.unwrap();
            (m.kind, place.line, place.column, m.text)
        })
        .collect()
}

#[test]
fn mistakes_come_with_their_place_all_at_once() {
    let found = program_error("a.\nb :- c(.\nd.\ne( :- f.\ng(X).\n");
    let places: Vec<_> = found.iter().map(|(kind, line, column, _)| (*kind, *line, *column)).collect();
    assert_eq!(places, [(MessageKind::Error, 2, 8), (MessageKind::Error, 4, 4)], "{found:?}");
    assert!(found[0].3.contains("syntax error"), "{found:?}");
    let found = program_error("a.\np(X) :- not q(X).");
    assert_eq!((found[0].0, found[0].1, found[0].2), (MessageKind::Error, 2, 1));
    assert!(found[0].3.contains("unsafe") && found[0].3.contains('X'), "{found:?}");
    assert_eq!(program_error("p(\"never closed).")[0].2, 3);
}

#[test]
fn remarks_come_with_kind_and_place() {
    let answer = all("p(1/0).\nq :- r(x).\ns(X+1) :- t(X).\nt(a).");
    let found: Vec<_> = answer.messages.iter().map(|m| (m.kind, m.place.unwrap().line)).collect();
    assert!(found.contains(&(MessageKind::OperationUndefined, 1)), "{found:?}");
    assert!(found.contains(&(MessageKind::AtomUndefined, 2)), "{found:?}");
    assert!(found.contains(&(MessageKind::OperationUndefined, 3)), "{found:?}");
    let undefined = answer.messages.iter().find(|m| m.kind == MessageKind::AtomUndefined).unwrap();
    assert_eq!(undefined.text, "atom does not occur in any rule head:\n  r(x)");
    assert_eq!(undefined.to_string(), "2:6: atom does not occur in any rule head:\n  r(x)");
}

#[test]
fn many_remarks_are_counted_and_hide_none_of_another_kind() {
    let many: String = (0..1000).map(|i| format!("p({i}) :- q({i}).\n")).collect();
    let answer = all(&format!("{many}s(1/0)."));
    assert_eq!(answer.messages.iter().filter(|m| m.kind == MessageKind::AtomUndefined).count(), 200);
    assert_eq!(answer.messages.iter().filter(|m| m.kind == MessageKind::OperationUndefined).count(), 1);
    assert_eq!(answer.omitted, 800);
}

#[test]
fn external_functions_give_any_number_of_values() {
    let functions = |name: &str, arguments: &[Symbol]| match (name, arguments) {
        ("id", [Symbol::Function { name, .. }, Symbol::Number(n)]) => {
            Some(Ok(vec![Symbol::constant(format!("{name}{n}"))]))
        }
        ("upto", [Symbol::Number(n)]) => Some(Ok((1..=*n).map(Symbol::Number).collect())),
        ("text", []) => Some(Ok(vec![Symbol::Text("a \"b\"".to_owned()), Symbol::Supremum])),
        ("minus", [x]) => Some(Ok(vec![Symbol::Negated(Box::new(x.clone()))])),
        _ => None,
    };
    let run = |program| solve(&SolveRequest { functions: &functions, ..SolveRequest::new(program) });
    assert_eq!(texts(&run("p(@id(shot, N)) :- N = @upto(2).").unwrap()), ["p(shot1) p(shot2)"]);
    assert_eq!(texts(&run("p(@upto(0)). q.").unwrap()), ["q"]);
    assert_eq!(texts(&run("p(@text()).").unwrap()), [r#"p("a \"b\"") p(#sup)"#]);
    assert_eq!(texts(&run("p(@minus(a)).").unwrap()), ["p(-a)"]);
}

fn function_error(program: &str, functions: &planforge_clingo::Functions<'_>) -> (String, u32, u32, String) {
    match solve(&SolveRequest { functions, ..SolveRequest::new(program) }) {
        Err(Error::Function { name, place, message, .. }) => (name, place.line, place.column, message),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_external_function_that_is_unknown_fails_or_panics_ends_the_job() {
    let functions = |name: &str, arguments: &[Symbol]| match name {
        "fails" => Some(Err(format!("cannot take {}", arguments[0]))),
        "panics" => panic!("no such luck"),
        "name" => Some(Ok(vec![Symbol::constant("Not A Name")])),
        "nul" => Some(Ok(vec![Symbol::Text("a\0b".to_owned())])),
        "negated" => Some(Ok(vec![Symbol::Negated(Box::new(Symbol::Number(1)))])),
        _ => None,
    };
    let (name, line, column, message) =
        function_error("a.\np(X) :- q(Y), X = @os(Y).\nq(\"rm\").", &functions);
    assert_eq!((name.as_str(), line, column), ("os", 2, 19));
    assert!(message.contains("no external function"), "{message}");
    assert_eq!(function_error("p(@fails(7)).", &functions).3, "cannot take 7");
    assert_eq!(function_error("p(@panics(7)).", &functions).3, "panicked: no such luck");
    assert!(function_error("p(@name()).", &functions).3.contains("Not A Name"));
    assert!(function_error("p(@nul()).", &functions).3.contains("NUL"));
    assert!(function_error("p(@negated()).", &functions).3.contains("-1"));
    // The next job knows nothing of it.
    assert_eq!(texts(&all("p(1).")), ["p(1)"]);
}

#[test]
fn an_external_function_may_not_solve_a_program_itself() {
    let functions = |_: &str, _: &[Symbol]| match solve(&SolveRequest::new("a.")) {
        Ok(_) => Some(Ok(vec![])),
        Err(error) => Some(Err(error.to_string())),
    };
    assert!(function_error("p(@f()).", &functions).3.contains("may not solve"));
    assert_eq!(texts(&all("p(1).")), ["p(1)"]);
}

#[test]
fn constants_may_call_external_functions() {
    let functions = |name: &str, _: &[Symbol]| (name == "one").then(|| Ok(vec![Symbol::Number(1)]));
    let run = |program| solve(&SolveRequest { functions: &functions, ..SolveRequest::new(program) });
    assert_eq!(texts(&run("#const x = @one(). p(x).").unwrap()), ["p(1)"]);
    assert!(matches!(run("#const x = @two(). p(x)."), Err(Error::Function { .. })));
}

#[test]
fn optimisation_gives_every_optimum_and_its_cost() {
    let program = "1 { a(1..3) }. #minimize { 2,X : a(X) }. #minimize { 1@2,X : a(X), X > 2 }.";
    let best = solve(&SolveRequest { models: 0, optimise: true, ..SolveRequest::new(program) }).unwrap();
    assert_eq!(texts(&best), ["a(1)", "a(2)"]);
    assert_eq!(best.cost, [0, 2]);
    assert!(best.complete);
    let first = solve(&SolveRequest { models: 1, optimise: true, ..SolveRequest::new(program) }).unwrap();
    assert_eq!((first.models.len(), first.cost.as_slice()), (1, [0, 2].as_slice()));
    // Not asked for: costs have no effect.
    let every = all(program);
    assert_eq!((every.models.len(), every.cost.len()), (7, 0));
    // Asked for, without costs: every answer set is as good as any other.
    let free = solve(&SolveRequest { models: 0, optimise: true, ..SolveRequest::new("{ a }.") }).unwrap();
    assert_eq!((free.models.len(), free.complete), (2, true));
    let none = solve(&SolveRequest {
        models: 0,
        optimise: true,
        ..SolveRequest::new("a. :- a. #minimize { 1 : a }.")
    })
    .unwrap();
    assert!(none.models.is_empty() && none.complete);
}

#[test]
fn no_program_reaches_outside_itself() {
    for (program, what) in [
        ("#include \"/etc/hostname\".", "#include"),
        ("#script (python) import os #end.", "#script"),
        ("#theory t { }.", "#theory"),
        ("p(\"a\0b\").", "a NUL character"),
        ("asp 1 0 0\n1 0 1 1 0 0\n0\n", "text in aspif format"),
    ] {
        match solve(&SolveRequest::new(program)) {
            Err(Error::Refused { what: found, .. }) => assert_eq!(found, what),
            other => panic!("{program}: {other:?}"),
        }
    }
}

/// A pigeonhole problem that no solver decides soon.
const PIGEONS: &str = "1 { in(P,H) : H = 1..13 } 1 :- P = 1..14. :- in(P,H), in(Q,H), P < Q.";

#[test]
fn a_search_can_be_stopped() {
    let calls = Cell::new(0);
    let stop = || {
        calls.set(calls.get() + 1);
        calls.get() >= 5
    };
    let answer = solve(&SolveRequest { stop: Some(&stop), ..SolveRequest::new(PIGEONS) }).unwrap();
    assert!(answer.stopped && !answer.complete && answer.models.is_empty());
    assert_eq!(calls.get(), 5, "the search ends at the first true");
}

#[test]
fn a_search_that_is_not_stopped_ends_as_without() {
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        false
    };
    let program = "{ a; b }. :- a, b.";
    let answer = solve(&SolveRequest { models: 0, stop: Some(&stop), ..SolveRequest::new(program) }).unwrap();
    assert_eq!(answer, all(program));
}

/// The work of one of several threads: programs with functions that differ by thread, each followed by a
/// wrong program.
fn work_of_thread(t: i32) {
    let functions = move |_: &str, _: &[Symbol]| Some(Ok(vec![Symbol::Number(t)]));
    for i in 0..20 {
        let program = format!("p({i}, @t()). {{ q(1..3) }}. r :- undefined({t}).");
        let answer =
            solve(&SolveRequest { models: 0, functions: &functions, ..SolveRequest::new(&program) }).unwrap();
        let own = Symbol::function("p", [Symbol::Number(i), Symbol::Number(t)]);
        assert_eq!(answer.models.len(), 8);
        assert!(answer.models.iter().all(|m| m.contains(&own)));
        assert_eq!(answer.messages.len(), 1, "{:?}", answer.messages);
        let wrong = solve(&SolveRequest::new("p("));
        assert!(matches!(wrong, Err(Error::Program { .. })), "{wrong:?}");
    }
}

#[test]
fn threads_do_not_disturb_each_other() {
    std::thread::scope(|scope| {
        (0..8).for_each(|t| drop(scope.spawn(move || work_of_thread(t))));
    });
}

#[test]
fn a_program_has_one_answer() {
    let program = "1 { in(P,H) : H = 1..4 } 1 :- P = 1..3. :- in(P,H), in(Q,H), P < Q. x(Y) :- not y(Y), Y = 1..3. y(Y) :- not x(Y), Y = 1..3.";
    let first = solve(&SolveRequest { models: 5, ..SolveRequest::new(program) }).unwrap();
    for _ in 0..5 {
        assert_eq!(solve(&SolveRequest { models: 5, ..SolveRequest::new(program) }).unwrap(), first);
    }
}
