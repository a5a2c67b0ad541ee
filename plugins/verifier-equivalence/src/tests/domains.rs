//! Verdicts on domains, and that nothing of the reference becomes feedback.

use super::*;

fn options(level: Level) -> EquivalenceVerifierOptions {
    EquivalenceVerifierOptions { what: What::Domain, level: Some(level), ..Default::default() }
}

fn judged(options: EquivalenceVerifierOptions, domain: &str) -> Result<Assessment, Failure> {
    judged_on(&host(true), options, domain)
}

fn judged_on(
    host: &TestHost,
    options: EquivalenceVerifierOptions,
    domain: &str,
) -> Result<Assessment, Failure> {
    let verifier = EquivalenceVerifier::create(options, &Secrets::default())?;
    let candidate = Candidate { domain: Some(domain.to_owned()), ..Candidate::default() };
    let request = VerifyRequest { candidates: vec![candidate], ..VerifyRequest::default() };
    let got = verifier.verify(host, &request)?.results.remove(0).into_result()?;
    assert!(got.feedback.is_empty(), "{:?}", got.feedback);
    assert!(got.evidence.is_null() || got.evidence.is_object());
    Ok(got)
}

fn both(domain: &str) -> [Assessment; 2] {
    [Level::Exact, Level::Hde].map(|level| judged(options(level), domain).unwrap())
}

#[test]
fn the_reference_and_what_behaves_like_it_are_accepted() {
    let reordered = DOMAIN.replace("?b", "?x").replace(
        "(and (in ?x ?to) (not (in ?x ?from)))",
        "(and (not (in ?x ?from)) (in ?x ?to) (in ?x ?to))",
    );
    for text in [DOMAIN, &reordered] {
        for got in both(text) {
            assert_eq!((&got.decision, got.metrics["equivalent"]), (&Decision::Accepted, 1.0), "{got:?}");
            assert_eq!((got.metrics["are_by_position"], got.metrics["are_least"]), (0.0, 0.0));
        }
    }
    // By name every atom with the renamed variable is another one: a precondition, an added and a deleted atom on either side.
    assert_eq!(both(&reordered)[0].metrics["are"], 6.0);
    let [exact, hde] = both(DOMAIN);
    assert_eq!(exact.evidence["comparison"]["same_model"], true);
    assert_eq!((&hde.evidence["heuristic"]["decision"], hde.metrics["plans"]), (&"equivalent".into(), 200.0));
}

#[test]
fn another_order_of_parameters_is_equivalent_with_the_positional_decision_beside_it() {
    let swapped = DOMAIN.replace("(?b - box ?from ?to - place)", "(?from ?to - place ?b - box)");
    assert_ne!(swapped, DOMAIN);
    for got in both(&swapped) {
        assert_eq!(got.decision, Decision::Accepted, "{got:?}");
        assert_eq!(got.evidence["positional"]["decision"], "rejected");
        assert!(got.summary.contains("another order"), "{}", got.summary);
        assert_eq!(got.metrics["are_least"], 0.0);
    }
}

#[test]
fn a_difference_comes_with_the_shortest_sequence_or_the_failing_plan() {
    let sealed =
        DOMAIN.replace(":precondition (in ?b ?from)", ":precondition (and (in ?b ?from) (sealed ?b))");
    let [exact, hde] = both(&sealed);
    for got in [&exact, &hde] {
        assert_eq!((&got.decision, got.metrics["equivalent"]), (&Decision::Rejected, 0.0));
        assert_eq!(got.metrics["are"], 1.0);
        assert_eq!(got.diagnostics.last().unwrap().code, "equivalence.behaviour");
    }
    assert_eq!(exact.metrics["depth"], 1.0);
    let found = &exact.evidence["comparison"]["difference"];
    assert_eq!(
        (&found["by"], &found["steps"]),
        (&"second".into(), &serde_json::json!(["(carry red dock attic)"]))
    );
    assert_eq!(hde.evidence["heuristic"]["class"], "no-plan");
    // Boxes also stay at their old place: plans of the one are plans of the other except for the steps that bring boxes back.
    let copied = DOMAIN.replace("(and (in ?b ?to) (not (in ?b ?from)))", "(in ?b ?to)");
    let [exact, hde] = both(&copied);
    assert_eq!(exact.decision, Decision::Rejected);
    assert_eq!(
        (&hde.decision, &hde.evidence["heuristic"]["class"]),
        (&Decision::Rejected, &"new-plan-fails".into())
    );
    assert_eq!(hde.evidence["heuristic"]["failing_plan"]["plan_of"], "second");
    assert_eq!(hde.summary, "A plan of the domain is none of the reference.");
}

#[test]
fn errors_are_rejected_and_what_is_missing_is_undecided() {
    let broken =
        judged(options(Level::Exact), &DOMAIN.replace("(in ?b ?from)\n", "(inn ?b ?from)\n")).unwrap();
    assert_eq!((&broken.decision, broken.metrics["equivalent"]), (&Decision::Rejected, 0.0), "{broken:?}");
    let missing = judged(options(Level::Exact), " ").unwrap();
    assert!(matches!(missing.decision, Decision::Undecided { reason: UndecidedReason::MissingInput, .. }));
}

#[test]
fn another_interface_is_not_comparable_unless_it_can_be_matched() {
    let renamed = DOMAIN
        .replace("carry", "lug")
        .replace("(?b - box ?from ?to - place)", "(?there ?here - spot ?it - box)");
    let renamed = renamed
        .replace("?from", "?here")
        .replace("?to", "?there")
        .replace("?b)", "?it)")
        .replace("?b ", "?it ");
    let renamed = renamed
        .replace("(types box place)", "(types box spot)")
        .replace(":types box place", ":types box spot");
    let renamed = renamed
        .replace("- place", "- spot")
        .replace("?it - box ?p", "?b - box ?p")
        .replace("(sealed ?it - box)", "(sealed ?b - box)");
    for level in [Level::Exact, Level::Hde] {
        let got = judged(options(level), &renamed).unwrap();
        let Decision::NotComparable { message } = &got.decision else { panic!("{got:?}") };
        assert_eq!(message, "the candidate has no action carry");
        assert!(!got.metrics.contains_key("equivalent") && !got.metrics.contains_key("are"));
        let matched = EquivalenceVerifierOptions { interface: InterfaceOption::Matched, ..options(level) };
        let got = judged(matched.clone(), &renamed).unwrap();
        assert_eq!((&got.decision, got.metrics["are"]), (&Decision::Accepted, 0.0), "{got:?}");
        assert!(got.summary.ends_with("Its actions were renamed before."), "{}", got.summary);
        let renaming = &got.evidence["interface"];
        assert_eq!(renaming["actions"][0]["candidate"], "lug");
        assert_eq!(renaming["types"], serde_json::json!([["place", "spot"]]));
        // Where nothing has to be renamed, that is in the evidence too.
        let got = judged(matched.clone(), DOMAIN).unwrap();
        assert_eq!(
            (&got.decision, &got.evidence["interface"]["identity"]),
            (&Decision::Accepted, &true.into())
        );
        let fewer = DOMAIN
            .replace("(?b - box ?from ?to - place)", "(?b - box ?from - place)")
            .replace("?to", "?from");
        let got = judged(EquivalenceVerifierOptions { max_choices: 50, ..matched }, &fewer).unwrap();
        let Decision::NotComparable { message } = &got.decision else { panic!("{got:?}") };
        assert_eq!(message, "no action of the candidate has the parameters of carry");
    }
    // The reference problem uses a symbol that the domain does not declare.
    let other = DOMAIN.replace("sealed", "shut");
    let got = judged(options(Level::Exact), &other).unwrap();
    assert!(matches!(got.decision, Decision::NotComparable { .. }), "{got:?}");
    assert_eq!(got.diagnostics.last().unwrap().code, "equivalence.interface");
}

#[test]
fn a_limit_leaves_a_domain_undecided() {
    // Nothing depends on sealed boxes: a second action changes the model without an effect on behaviour.
    let longer = DOMAIN.replace(
        "(and (in ?b ?to) (not (in ?b ?from)))",
        "(and (in ?b ?to) (not (in ?b ?from)) (when (and (in ?b ?to) (not (in ?b ?to))) (sealed ?b)))",
    );
    let longer = longer
        .replace("(in ?b ?from)\n", "(or (in ?b ?from) (and (in ?b ?to) (in ?b ?from)))\n")
        .replace(":strips :typing", ":adl");
    let few = EquivalenceVerifierOptions { max_states: 1, ..options(Level::Exact) };
    let got = judged(few, &longer).unwrap();
    assert!(matches!(got.decision, Decision::Undecided { reason: UndecidedReason::Limit, .. }), "{got:?}");
    assert!(!got.metrics.contains_key("equivalent") && got.metrics.contains_key("depth"));
    assert_eq!(judged(options(Level::Exact), &longer).unwrap().decision, Decision::Accepted);
    let few = EquivalenceVerifierOptions { max_nodes: 3, ..options(Level::Hde) };
    let got = judged(few, DOMAIN).unwrap();
    assert!(matches!(got.decision, Decision::Undecided { reason: UndecidedReason::Limit, .. }), "{got:?}");
}

#[test]
fn options_that_make_no_sense_together_are_refused() {
    let wrong = [
        EquivalenceVerifierOptions { what: What::Problem, ..options(Level::Hde) },
        options(Level::Goals),
        EquivalenceVerifierOptions { k: 0, ..options(Level::Hde) },
        EquivalenceVerifierOptions { interface: InterfaceOption::Matched, ..Default::default() },
    ];
    for options in wrong {
        assert_eq!(judged(options, DOMAIN).unwrap_err().code, "equivalence.options");
    }
}

#[test]
fn further_problems_of_the_suite_are_compared_too() {
    // Only where a box is open does it matter that sealed ones alone are carried.
    let sealed =
        DOMAIN.replace(":precondition (in ?b ?from)", ":precondition (and (in ?b ?from) (sealed ?b))");
    let all_sealed = PROBLEM.replace("(sealed blue)", "(sealed blue) (sealed red)");
    let on = |further: &[&str], level: Level, domain: &str| {
        let host = host_with(true, further);
        judged_on(&host, options(level), domain).unwrap()
    };
    for level in [Level::Exact, Level::Hde] {
        let same = on(&[&all_sealed], level, DOMAIN);
        assert_eq!((&same.decision, same.metrics["equivalent"]), (&Decision::Accepted, 1.0));
        let different = on(&[&all_sealed], level, &sealed);
        assert_eq!(different.decision, Decision::Rejected);
    }
    let same = on(&[&all_sealed], Level::Exact, DOMAIN);
    assert_eq!(
        same.summary,
        "The domain behaves as the reference over the whole reachable space of 2 problems."
    );
    assert_eq!(same.evidence["comparisons"].as_array().unwrap().len(), 2);
    // The task's own problem shows nothing, the further one does.
    let host = {
        let environment = PddlEnvironment::create(Default::default(), &Secrets::default()).unwrap();
        let open = EnvironmentOpen {
            domain: Some(DOMAIN.into()),
            problem: Some(all_sealed),
            problems: vec![PROBLEM.into()],
            ..EnvironmentOpen::default()
        };
        TestHost::for_kind(PluginKind::Verifier).environment(Arc::new(environment), open)
    };
    let exact = judged_on(&host, options(Level::Exact), &sealed).unwrap();
    assert_eq!(exact.summary, "The domain behaves otherwise than the reference after 1 step on problem 2.");
    assert_eq!(exact.evidence["comparisons"][0]["decision"], "equal");
    assert_eq!(exact.evidence["comparison"]["decision"], "different");
    let hde = judged_on(&host, options(Level::Hde), &sealed).unwrap();
    assert_eq!(hde.evidence["heuristic"]["problem"], 1);
}
