//! The parser and the printer against each other, and against what clingo's language is.

use super::ast::*;
use super::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const SOURCE: SourceId = SourceId(0);

fn clean(text: &str) -> Program {
    let parsed = parse(text, SOURCE);
    assert_eq!(parsed.diagnostics, [], "{text}");
    parsed.program
}

/// The first code that a text gets.
fn code_of(text: &str) -> String {
    let found = parse(text, SOURCE).diagnostics;
    found.first().unwrap_or_else(|| panic!("{text} is read")).code.to_string()
}

/// The program without data that differs between printed forms: places and layout of directives.
fn without_places(program: &Program) -> String {
    let debug = format!("{program:#?}");
    let is_place =
        |line: &&str| !line.trim_start().starts_with("start:") && !line.trim_start().starts_with("end:");
    debug.lines().filter(is_place).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_construct_is_read_and_printed() {
    let texts = [
        "p.",
        "on(b1, b2).",
        "init(clean(X)) :- object(X, shaker).",
        ":- object(X, T), not known(T), X != Y.",
        "1 { at(X, Y) : place(Y); gone(X) } 1 :- object(X, ball).",
        "{ a; b : c }.",
        "n(N) :- N = #count { X, Y : on(X, Y), not q(X) }, N > 2.",
        ":- not 1 <= #sum { W, X : w(X, W); 3 } < 9.",
        "p(1..N - 1, (X, Y), (Z,), (), -X, \"a \\\"b\\\"\\n\") :- q(N, X, Y, Z).",
        "all :- p(X) : q(X), not r(X); s.",
        "object(@id(T, I), T) :- missing(T, I).",
        "x(A * (B + 1) - 2 ** 3 ** C / 4 \\ 5, -(2), -(-2)) :- y(A, B, C).",
        "#show p/1.",
    ];
    for text in texts {
        let program = clean(text);
        assert_eq!(program.to_string().trim_end(), text);
        assert_eq!(without_places(&clean(&program.to_string())), without_places(&program));
    }
}

#[test]
fn other_spellings_mean_the_same() {
    let same = [
        ("p :- X == 1, Y <> 2.", "p :- X = 1, Y != 2."),
        ("p :- not X < 1.", "p :- X >= 1."),
        ("p :- 1 < X <= 5.", "p :- 1 < X, X <= 5."),
        ("p :- 2 #count { X : q(X) } 3.", "p :- 2 <= #count { X : q(X) } <= 3."),
        ("{ a } = 1.", "1 { a } 1."),
        ("1 <= { a }.", "1 { a }."),
        ("p :- q; r.", "p :- q, r."),
        ("p :- .", "p."),
        ("p() :- q().", "p :- q."),
        ("% note\np. %* two\nlines %* deep *% *% q.", "p.\nq."),
        ("\u{feff}p.\r\n", "p."),
    ];
    for (one, other) in same {
        assert_eq!(clean(one).to_string(), clean(other).to_string(), "{one}");
    }
}

#[test]
fn places_are_in_the_text() {
    let text = "p(a).\n  q(X) :- r(X), X < 3.";
    let program = clean(text);
    let spans: Vec<&str> = program.statements.iter().map(|s| &text[s.span.range()]).collect();
    assert_eq!(spans, ["p(a).", "q(X) :- r(X), X < 3."]);
    let StatementKind::Rule(rule) = &program.statements[1].kind else { panic!() };
    let Literal::Atom { atom, .. } = &rule.body[0] else { panic!() };
    let Literal::Comparison { span, .. } = &rule.body[1] else { panic!() };
    assert_eq!((&text[atom.span.range()], &text[span.range()]), ("r(X)", "X < 3"));
}

#[test]
fn directives_are_kept_as_written() {
    let text = "#script (lua) p(). q. #end.\n#const n = 1..3. #minimize { 1, X : p(X) }.";
    let kinds = clean(text).statements.into_iter().map(|s| s.kind);
    let names: Vec<String> = kinds
        .map(|kind| match kind {
            StatementKind::Directive { name, text: written } => {
                assert!(text.contains(&written) && written.ends_with('.'), "{written}");
                name
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(names, ["script", "const", "minimize"]);
}

#[test]
fn every_mistake_is_told_and_the_rest_is_read() {
    let text = "p(a,,b). q(a). r(:- s. t(\"x). u(a;b).\nv(X) :- w(X)";
    let parsed = parse(text, SOURCE);
    let codes: Vec<&str> = parsed.diagnostics.iter().map(|d| d.code.as_ref()).collect();
    assert_eq!(codes, ["asp.unexpected", "asp.unexpected", "asp.unclosed", "asp.missing-dot"]);
    assert_eq!(parsed.program.to_string(), "q(a).\n");
    for diagnostic in &parsed.diagnostics {
        assert!(diagnostic.is_error() && !diagnostic.labels.is_empty(), "{diagnostic:?}");
    }
}

#[test]
fn what_is_not_read_is_refused_for_its_reason() {
    let refused = [
        ("a; b.", "asp.unsupported"),
        ("a | b.", "asp.character"),
        ("X = 1 :- p(X).", "asp.unsupported"),
        ("p :- not not q.", "asp.unsupported"),
        ("p :- { q }.", "asp.unsupported"),
        ("p :- not X = 1..2.", "asp.unsupported"),
        ("p :- #true.", "asp.unsupported"),
        ("p :- q, -r(X).", "asp.classical-negation"),
        ("p(2147483648).", "asp.number"),
        ("p(\u{fc}ber).", "asp.foreign-name"),
        ("3 :- p.", "asp.unexpected"),
        ("p(X,) :- q(X).", "asp.unexpected"),
        ("%* p.", "asp.unclosed"),
        ("#show p/1", "asp.missing-dot"),
    ];
    for (text, code) in refused {
        assert_eq!(code_of(text), code, "{text}");
    }
}

#[test]
fn depth_is_limited_however_it_is_made() {
    for (open, middle, close) in [
        ("(", "a", ")"),
        ("f(", "a", ")"),
        ("-", "X", ""),
        ("", "1", "+1"),
        ("2**", "1", ""),
        ("(((", "1", ")+1)+1)"),
    ] {
        let nested = |n: usize| format!("p({}{middle}{}).", open.repeat(n), close.repeat(n));
        assert_eq!(code_of(&nested(100_000)), "asp.too-deep", "{open}");
        let program = clean(&nested(MAX_DEPTH / 3 - 2));
        assert_eq!(clean(&program.to_string()).to_string(), program.to_string());
    }
    let chain = format!("p :- 1 {}.", "< 2 ".repeat(100_000));
    assert_eq!(code_of(&chain), "asp.too-deep");
}

#[test]
fn a_program_over_the_limit_is_refused_unread() {
    assert_eq!(code_of(&" ".repeat(MAX_BYTES + 1)), "asp.too-large");
    let many = parse(&"p(,). ".repeat(MAX_DIAGNOSTICS + 7), SOURCE).diagnostics;
    assert_eq!(many.len(), MAX_DIAGNOSTICS + 1);
    assert_eq!(many[MAX_DIAGNOSTICS].code, "asp.too-many-findings");
    assert!(many[MAX_DIAGNOSTICS].message.starts_with("7 "));
}

#[test]
fn ground_terms_are_read_as_the_parser_reads_them() {
    for text in
        ["p", "on(b1,b2)", "f((1,-2),(a,),())", "g(\"x \\\"y\\\" \\\\ \\n\")", "_a( b , 3 )", "-2147483648"]
    {
        let term = parse_ground_term(text).unwrap_or_else(|| panic!("{text}"));
        if text != "-2147483648" {
            let program = clean(&format!("p({text})."));
            let StatementKind::Rule(Rule { head: Head::Atom(atom), .. }) = &program.statements[0].kind else {
                panic!()
            };
            assert_eq!(atom.arguments, std::slice::from_ref(&term));
        }
        assert_eq!(parse_ground_term(&term.to_string()), Some(term));
    }
    let deep = format!("{}a{}", "f(".repeat(100_000), ")".repeat(100_000));
    for text in [
        "",
        "X",
        "p(X)",
        "p(a",
        "p(a,)",
        "p(,a)",
        "p a",
        "1+1",
        "not",
        "\"a",
        "_",
        "p(a))",
        "2147483649",
        "()(",
        deep.as_str(),
    ] {
        assert_eq!(parse_ground_term(text), None, "{text}");
    }
    let atom = parse_ground_atom("init(on(b1,b2))").unwrap();
    assert_eq!((atom.name.as_str(), atom.arguments.len(), atom.span), ("init", 1, Span::new(0, 15)));
    assert_eq!(parse_ground_atom("(a,b)"), None);
    assert_eq!(parse_ground_atom("3"), None);
}

fn term() -> impl Strategy<Value = Term> {
    let name = || "[a-z][a-z0-9_]{0,3}".prop_filter("a word of the language", |name| name != "not");
    let leaf = prop_oneof![
        (-99i64..99).prop_map(Term::Number),
        "[ -~\n\u{e9}]{0,5}".prop_map(Term::Text),
        "_?[A-Z][a-z0-9]?".prop_map(Term::Variable),
        Just(Term::Anonymous),
        name().prop_map(|name| Term::Function { name, arguments: vec![] }),
    ];
    leaf.prop_recursive(4, 20, 3, move |inner| {
        let many = || proptest::collection::vec(inner.clone(), 0..3);
        let two = || (inner.clone(), inner.clone());
        prop_oneof![
            (name(), many()).prop_map(|(name, arguments)| Term::Function { name, arguments }),
            many().prop_map(|arguments| Term::Function { name: String::new(), arguments }),
            (name(), many()).prop_map(|(name, arguments)| Term::External { name, arguments }),
            inner.clone().prop_map(|term| Term::Minus(Box::new(term))),
            (two(), prop_oneof![Just("+"), Just("-"), Just("*"), Just("/"), Just("\\"), Just("**")])
                .prop_map(|((left, right), operator)| Term::Binary {
                    operator: operator.to_owned(),
                    left: Box::new(left),
                    right: Box::new(right)
                }),
            two().prop_map(|(from, to)| Term::Interval(Box::new(from), Box::new(to))),
        ]
    })
}

fn atom() -> impl Strategy<Value = Atom> {
    let name = "[a-z][a-z0-9_]{0,3}".prop_filter("a word of the language", |name| name != "not");
    (name, proptest::collection::vec(term(), 0..3)).prop_map(|(name, arguments)| Atom {
        name,
        arguments,
        span: Span::default(),
    })
}

fn relation() -> impl Strategy<Value = Relation> {
    use Relation::*;
    prop_oneof![Just(Equal), Just(NotEqual), Just(Less), Just(LessEqual), Just(Greater), Just(GreaterEqual)]
}

fn literal() -> impl Strategy<Value = Literal> {
    prop_oneof![
        (any::<bool>(), atom()).prop_map(|(negated, atom)| Literal::Atom { negated, atom }),
        (term(), relation(), term()).prop_map(|(left, relation, right)| Literal::Comparison {
            left,
            relation,
            right,
            span: Span::default()
        }),
    ]
}

fn body_literal() -> impl Strategy<Value = Literal> {
    let some = || proptest::collection::vec(literal(), 1..3);
    let element = (proptest::collection::vec(term(), 1..3), proptest::collection::vec(literal(), 0..2))
        .prop_map(|(terms, condition)| AggregateElement { terms, condition });
    let aggregate = (
        any::<bool>(),
        prop_oneof![Just("count"), Just("sum"), Just("sum+"), Just("min"), Just("max")],
        proptest::collection::vec(element, 0..3),
        proptest::option::of((term(), relation())),
        proptest::option::of((relation(), term())),
    );
    prop_oneof![
        3 => literal(),
        1 => (literal(), some())
            .prop_map(|(literal, condition)| Literal::Conditional { literal: Box::new(literal), condition }),
        1 => aggregate.prop_map(|(negated, function, elements, left, right)| Literal::Aggregate(Aggregate {
            negated,
            function: function.to_owned(),
            elements,
            left,
            right,
            span: Span::default()
        })),
    ]
}

fn rule() -> impl Strategy<Value = Rule> {
    let element = (atom(), proptest::collection::vec(literal(), 0..2))
        .prop_map(|(atom, condition)| ChoiceElement { atom, condition });
    let bound = || proptest::option::of(term());
    let head = prop_oneof![
        3 => atom().prop_map(Head::Atom),
        1 => (bound(), proptest::collection::vec(element, 0..3), bound())
            .prop_map(|(lower, elements, upper)| Head::Choice { lower, elements, upper }),
        1 => Just(Head::Constraint),
    ];
    (head, proptest::collection::vec(body_literal(), 0..4)).prop_map(|(head, body)| Rule { head, body })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, rng_seed: RngSeed::Fixed(2), ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_read_back(rules in proptest::collection::vec(rule(), 0..5)) {
        let statements = rules.into_iter().map(|rule| Statement { kind: StatementKind::Rule(rule), span: Span::default() });
        let program = Program { statements: statements.collect() };
        let text = program.to_string();
        let parsed = parse(&text, SOURCE);
        prop_assert_eq!(&parsed.diagnostics, &[], "{}", text);
        prop_assert_eq!(without_places(&parsed.program), without_places(&program));
    }

    #[test]
    fn no_text_breaks_the_parser(text in "([a-zA-Z_0-9(){}\\[\\].,;:=<>!#@%*\"'&|+/\\\\ \n-]|not |:- |\\.\\.|\\PC){0,60}") {
        let parsed = parse(&text, SOURCE);
        let printed = parsed.program.to_string();
        let again = parse(&printed, SOURCE);
        prop_assert_eq!(&again.diagnostics, &[], "{}", printed);
        for label in parsed.diagnostics.iter().flat_map(|d| &d.labels) {
            prop_assert!(text.get(label.span.range()).is_some());
        }
        let _ = parse_ground_term(&text);
    }
}
