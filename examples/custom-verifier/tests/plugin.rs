//! The plugin linked in and loaded from its library.

use planforge_plugin_host::Instance;
use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::serde_json::json;
use planforge_plugin_sdk::testing::TestHost;
use planforge_plugin_host::conformance::{both_ways, conformance};

fn request(options: planforge_plugin_sdk::serde_json::Value) -> CreateRequest {
    CreateRequest { options: options.as_object().cloned().unwrap_or_default(), ..CreateRequest::default() }
}

fn candidate(steps: &[&str]) -> Candidate {
    let steps = steps.iter().map(|s| (*s).to_owned()).collect();
    let plans = vec![PlanDocument { steps, ..PlanDocument::default() }];
    let plan = PlanOutcome::Plan { plans, optimal: false, statistics: SearchStatistics::default() };
    Candidate { plan: Some(plan), ..Candidate::default() }
}

#[test]
fn it_does_what_every_plugin_must() {
    assert_eq!(conformance(&custom_verifier::PLANFORGE_PLUGIN), Ok(()));
}

#[test]
fn rules_are_kept_broken_or_have_nothing_to_judge() {
    let options = json!({"limits": [{"action": "refuel", "most": 1}]});
    let candidates = vec![
        candidate(&["(drive a b)", "(REFUEL b)"]),
        candidate(&["(refuel a)", "(drive a b)", "(refuel b)"]),
        Candidate::default(),
    ];
    let asked = VerifyRequest { candidates, ..VerifyRequest::default() };
    let both = both_ways(&custom_verifier::PLANFORGE_PLUGIN).unwrap();
    for instance in both.create(&request(options)).unwrap() {
        let Instance::Verifier(verifier) = instance else { panic!("a verifier") };
        let results = verifier.verify(&TestHost::new(), &asked).unwrap().results;
        let results: Vec<Assessment> = results.into_iter().map(|r| r.into_result().unwrap()).collect();
        let names: Vec<_> = results.iter().map(|a| a.decision.name()).collect();
        assert_eq!(names, ["accepted", "rejected", "undecided"]);
        assert_eq!(results[1].feedback, ["The plan uses `refuel` 2 times; at most 1 are allowed."]);
        assert_eq!(results[1].metrics["broken_rules"], 1.0);
    }
}

#[test]
fn contradicting_rules_are_refused() {
    let options = json!({"limits": [{"action": "a", "most": 1}, {"action": "A", "most": 2}]});
    let both = both_ways(&custom_verifier::PLANFORGE_PLUGIN).unwrap();
    for registry in [&both.bundled, &both.loaded] {
        assert_eq!(
            registry.create("custom-verifier", request(options.clone())).unwrap_err().code,
            "custom.two-limits"
        );
    }
}
