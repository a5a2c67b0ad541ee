#[test]
fn short_plans_are_accepted_and_long_ones_rejected() {
    let candidate = |steps: usize| {
        let plans = vec![PlanDocument { steps: vec!["(wait)".to_owned(); steps], ..PlanDocument::default() }];
        let plan = PlanOutcome::Plan { plans, optimal: false, statistics: SearchStatistics::default() };
        Candidate { plan: Some(plan), ..Candidate::default() }
    };
    let candidates = vec![candidate(3), candidate(21), Candidate::default()];
    let request = VerifyRequest { candidates, ..VerifyRequest::default() };
    for instance in instances() {
        let Instance::Verifier(verifier) = instance else { panic!("a verifier") };
        let results = verifier.verify(&TestHost::new(), &request).unwrap().results;
        let names: Vec<_> = results.into_iter().map(|r| r.into_result().unwrap().decision.name()).collect();
        assert_eq!(names, ["accepted", "rejected", "undecided"]);
    }
}
