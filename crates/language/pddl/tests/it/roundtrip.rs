//! Generated trees: what is printed reads back as the same tree, and prints as the same text.

use planforge_diagnostics::{SourceId, Span};
use planforge_pddl::ast::*;
use planforge_pddl::{
    Name, Number, StripSpans, diff_domains, diff_problems, parse_domain, parse_problem, print_domain,
    print_problem,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn at() -> Span {
    Span::default()
}

/// Names in any case that are not keywords of PDDL.
fn word() -> impl Strategy<Value = Name> {
    "[a-zA-Z][a-zA-Z0-9_-]{0,6}".prop_filter_map("a word of PDDL", |text| {
        const RESERVED: [&str; 24] = [
            "and",
            "or",
            "not",
            "imply",
            "implies",
            "exists",
            "forall",
            "when",
            "preference",
            "either",
            "object",
            "number",
            "assign",
            "increase",
            "decrease",
            "oneof",
            "define",
            "domain",
            "problem",
            "minimize",
            "maximize",
            "start",
            "end",
            "all",
        ];
        (!RESERVED.contains(&text.to_lowercase().as_str())).then(|| Name::synthetic(&text))
    })
}

fn variable() -> impl Strategy<Value = Name> {
    "[a-zA-Z][a-zA-Z0-9_-]{0,4}"
        .prop_filter("not ?duration", |t| !t.eq_ignore_ascii_case("duration"))
        .prop_map(|text| Name::synthetic(&format!("?{text}")))
}

fn type_ref() -> impl Strategy<Value = TypeRef> {
    vec(word(), 1..3).prop_map(|names| TypeRef { alternatives: names.into(), span: at() })
}

/// Untyped names occur only at the end of a list: elsewhere they would take the next type.
fn typed_list(name: impl Strategy<Value = Name> + Clone + 'static) -> impl Strategy<Value = Vec<TypedName>> {
    let typed = vec((name.clone(), type_ref()), 0..4);
    (typed, vec(name, 0..2)).prop_map(|(typed, untyped)| {
        let typed = typed.into_iter().map(|(name, ty)| TypedName { name, ty: Some(ty) });
        typed.chain(untyped.into_iter().map(|name| TypedName { name, ty: None })).collect()
    })
}

fn words() -> BoxedStrategy<Name> {
    word().boxed()
}

fn variables() -> BoxedStrategy<Name> {
    variable().boxed()
}

fn term() -> impl Strategy<Value = Term> {
    prop_oneof![word().prop_map(Term::Constant), variable().prop_map(Term::Variable)]
}

fn atom() -> impl Strategy<Value = Atom> {
    (word(), vec(term(), 0..4)).prop_map(|(predicate, args)| Atom { predicate, args, span: at() })
}

fn fluent() -> impl Strategy<Value = Fluent> {
    (word(), vec(term(), 0..3)).prop_map(|(function, args)| Fluent { function, args, span: at() })
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![any::<i32>().prop_map(f64::from), -1.0e9..1.0e9f64, Just(0.1), Just(1e-12), Just(1e300)]
        .prop_map(Number::from_f64)
}

fn numeric() -> BoxedStrategy<NumericExpr> {
    let leaf = prop_oneof![
        number().prop_map(|n| NumericExpr::Number(n, at())),
        fluent().prop_map(NumericExpr::Fluent),
        Just(NumericExpr::Duration(at())),
        Just(NumericExpr::ElapsedTime(at())),
        Just(NumericExpr::TotalTime(at())),
        word().prop_map(|name| NumericExpr::IsViolated(name, at())),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let op = prop_oneof![Just(ArithmeticOp::Add), Just(ArithmeticOp::Multiply)];
        prop_oneof![
            (op, vec(inner.clone(), 2..4)).prop_map(|(op, args)| NumericExpr::Arithmetic(op, args, at())),
            vec(inner.clone(), 1..3).prop_map(|args| NumericExpr::Arithmetic(
                ArithmeticOp::Subtract,
                args,
                at()
            )),
            vec(inner, 2).prop_map(|args| NumericExpr::Arithmetic(ArithmeticOp::Divide, args, at())),
        ]
    })
    .boxed()
}

fn time() -> impl Strategy<Value = TimeSpecifier> {
    prop_oneof![Just(TimeSpecifier::Start), Just(TimeSpecifier::End), Just(TimeSpecifier::OverAll)]
}

fn quantified_strategy<T: Clone + std::fmt::Debug + 'static>(
    body: impl Strategy<Value = T>,
) -> impl Strategy<Value = Quantified<T>> {
    (typed_list(variables()), body).prop_map(|(parameters, body)| Quantified {
        parameters,
        body: Box::new(body),
        span: at(),
    })
}

fn compare() -> impl Strategy<Value = Comparison> {
    let op = prop_oneof![
        Just(CompareOp::Less),
        Just(CompareOp::LessEqual),
        Just(CompareOp::Equal),
        Just(CompareOp::GreaterEqual),
        Just(CompareOp::Greater)
    ];
    (op, numeric(), numeric()).prop_map(|(op, left, right)| Comparison { op, left, right, span: at() })
}

fn trajectory(inner: BoxedStrategy<Condition>) -> impl Strategy<Value = Trajectory> {
    use TrajectoryOp::*;
    let op = prop::sample::select(vec![
        Always,
        Sometime,
        Within,
        AtMostOnce,
        SometimeAfter,
        SometimeBefore,
        AlwaysWithin,
        HoldDuring,
        HoldAfter,
    ]);
    op.prop_flat_map(move |op| {
        let (times, conditions) = op.shape();
        (vec((0.0..1e6f64).prop_map(Number::from_f64), times), vec(inner.clone(), conditions))
            .prop_map(move |(times, conditions)| Trajectory { op, times, conditions, span: at() })
    })
}

fn condition() -> BoxedStrategy<Condition> {
    let leaf = prop_oneof![
        4 => atom().prop_map(Condition::Atom),
        1 => (term(), term()).prop_map(|(a, b)| Condition::Equal(a, b, at())),
        1 => compare().prop_map(Condition::Compare),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let inner = inner.boxed();
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|parts| Condition::And(parts, at())),
            vec(inner.clone(), 0..4).prop_map(|parts| Condition::Or(parts, at())),
            inner.clone().prop_map(|c| Condition::Not(Box::new(c), at())),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Condition::Imply(
                Box::new(a),
                Box::new(b),
                at()
            )),
            quantified_strategy(inner.clone()).prop_map(Condition::Exists),
            quantified_strategy(inner.clone()).prop_map(Condition::Forall),
            (option::of(word()), inner.clone()).prop_map(|(name, c)| Condition::Preference(Preference {
                name,
                condition: Box::new(c),
                span: at()
            })),
            (time(), inner.clone()).prop_map(|(time, c)| Condition::Timed(time, Box::new(c), at())),
            trajectory(inner).prop_map(Condition::Trajectory),
        ]
    })
    .boxed()
}

fn effect() -> BoxedStrategy<Effect> {
    let op = prop::sample::select(vec![
        AssignOp::Assign,
        AssignOp::Increase,
        AssignOp::Decrease,
        AssignOp::ScaleUp,
        AssignOp::ScaleDown,
    ]);
    let leaf = prop_oneof![
        atom().prop_map(Effect::Add),
        atom().prop_map(|a| Effect::Delete(a, at())),
        (op, fluent(), numeric()).prop_map(|(op, fluent, value)| Effect::Assign(Assignment {
            op,
            fluent,
            value,
            span: at()
        })),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let timed = prop_oneof![Just(TimeSpecifier::Start), Just(TimeSpecifier::End)];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|parts| Effect::And(parts, at())),
            quantified_strategy(inner.clone()).prop_map(Effect::Forall),
            (condition(), inner.clone()).prop_map(|(c, e)| Effect::When(Box::new(c), Box::new(e), at())),
            (timed, inner).prop_map(|(time, e)| Effect::Timed(time, Box::new(e), at())),
        ]
    })
    .boxed()
}

fn action() -> impl Strategy<Value = Action> {
    (word(), typed_list(variables()), typed_list(variables()), option::of(condition()), option::of(effect()))
        .prop_map(|(name, parameters, vars, precondition, effect)| Action {
            name,
            parameters,
            vars,
            precondition,
            effect,
            span: at(),
        })
}

fn durative_action() -> impl Strategy<Value = DurativeAction> {
    (word(), typed_list(variables()), compare(), option::of(condition()), option::of(effect())).prop_map(
        |(name, parameters, duration, condition, effect)| DurativeAction {
            name,
            parameters,
            duration: Some(Condition::Compare(duration)),
            condition,
            effect,
            span: at(),
        },
    )
}

fn domain() -> impl Strategy<Value = Domain> {
    let predicate = (word(), typed_list(variables())).prop_map(|(name, parameters)| PredicateDecl {
        name,
        parameters,
        span: at(),
    });
    let function = (word(), typed_list(variables()), type_number())
        .prop_map(|(name, parameters, ty)| FunctionDecl { name, parameters, ty: Some(ty), span: at() });
    let rule = (word(), typed_list(variables()), condition()).prop_map(|(predicate, parameters, c)| {
        Derived { predicate, parameters, condition: Some(c), span: at() }
    });
    let requirements = prop::sample::subsequence(vec![":strips", ":Typing", ":adl"], 0..=3);
    (
        (option::of(word()), requirements, typed_list(words()), typed_list(words())),
        (vec(predicate, 0..3), vec(function, 0..3), vec(rule, 0..2)),
        (vec(action(), 0..3), vec(durative_action(), 0..2), option::of(condition())),
    )
        .prop_map(|((name, requirements, types, constants), (predicates, functions, derived), rest)| {
            Domain {
                name,
                requirements: requirements.into_iter().map(Name::synthetic).collect(),
                types,
                constants,
                predicates,
                functions,
                actions: rest.0,
                durative_actions: rest.1,
                derived,
                constraints: rest.2,
                ..Domain::default()
            }
        })
}

fn type_number() -> impl Strategy<Value = TypeRef> {
    Just(TypeRef::single(Name::synthetic("number")))
}

fn ground_atom() -> impl Strategy<Value = Atom> {
    (word(), vec(word(), 0..4)).prop_map(|(predicate, args)| Atom {
        predicate,
        args: args.into_iter().map(Term::Constant).collect(),
        span: at(),
    })
}

fn init_element() -> impl Strategy<Value = InitElement> {
    let plain = prop_oneof![
        4 => ground_atom().prop_map(InitElement::Atom),
        1 => ground_atom().prop_map(|a| InitElement::Not(a, at())),
        1 => (fluent(), number()).prop_map(|(f, n)| InitElement::Value(f, n, at())),
    ];
    (plain, option::weighted(0.2, (0.0..1e6f64).prop_map(Number::from_f64))).prop_map(|(element, time)| {
        match time {
            None => element,
            Some(time) => InitElement::Timed { time, element: Box::new(element), span: at() },
        }
    })
}

fn problem() -> impl Strategy<Value = Problem> {
    let direction = prop_oneof![Just(MetricDirection::Minimize), Just(MetricDirection::Maximize)];
    let metric = (direction, numeric()).prop_map(|(direction, expr)| Metric { direction, expr, span: at() });
    let length = (option::of(any::<u64>()), option::of(any::<u64>()))
        .prop_map(|(serial, parallel)| Length { serial, parallel });
    (
        (option::of(word()), option::of(word()), typed_list(words()), vec(init_element(), 0..6)),
        (option::of(condition()), option::of(condition()), option::of(metric)),
        (option::of(word()), option::of(length)),
    )
        .prop_map(|((name, domain_name, objects, init), (goal, constraints, metric), rest)| Problem {
            name,
            domain_name,
            objects,
            init,
            goal,
            constraints,
            metric,
            situation: rest.0,
            length: rest.1,
            ..Problem::default()
        })
}

/// Findings that come of what a generated tree lacks, not of how it was printed.
const EXPECTED: [&str; 4] =
    ["pddl.missing-section", "pddl.missing-name", "pddl.missing-effect", "pddl.bad-duration"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn printed_domains_read_back_equal(domain in domain()) {
        let printed = print_domain(&domain);
        let again = parse_domain(&printed, SourceId(0));
        for found in &again.diagnostics {
            prop_assert!(EXPECTED.contains(&found.code.as_ref()), "{found:?}\n{printed}");
        }
        prop_assert!(again.value.eq_ignoring_spans(&domain), "{printed}\n{:#?}\n{domain:#?}", again.value);
        prop_assert_eq!(print_domain(&again.value), printed);
        prop_assert_eq!(diff_domains(&domain, &again.value), vec![]);
    }

    #[test]
    fn printed_problems_read_back_equal(problem in problem()) {
        let printed = print_problem(&problem);
        let again = parse_problem(&printed, SourceId(0));
        for found in &again.diagnostics {
            prop_assert!(EXPECTED.contains(&found.code.as_ref()), "{found:?}\n{printed}");
        }
        prop_assert!(again.value.eq_ignoring_spans(&problem), "{printed}\n{:#?}\n{problem:#?}", again.value);
        prop_assert_eq!(print_problem(&again.value), printed);
        prop_assert_eq!(diff_problems(&problem, &again.value), vec![]);
    }
}
