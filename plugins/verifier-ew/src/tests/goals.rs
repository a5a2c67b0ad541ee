//! `ratings = "with-goals"`: metrics, ratings and decisions.

use super::*;

fn with_goals() -> WalkVerifierOptions {
    WalkVerifierOptions { ratings: Some(Ratings::WithGoals), ..Default::default() }
}

fn goal(goal: &str) -> Candidate {
    assert!(PROBLEM.contains("(full red)"));
    written(DOMAIN, &PROBLEM.replace("(full red)", goal))
}

#[test]
fn a_wrong_goal_lowers_the_rating_where_the_score_is_1() {
    for mode in [Mode::Exact, Mode::Sampled] {
        let options = WalkVerifierOptions { mode: Some(mode), ..with_goals() };
        let right = judge(&host(true), options.clone(), written(DOMAIN, PROBLEM));
        assert_eq!(right.decision, Decision::Accepted);
        assert_eq!((right.metrics["goal_agreement"], right.metrics["rating"]), (1.0, 1.0));
        assert_eq!(right.evidence["goals"].get("missing"), None);
        for wrong in ["(full blue)", "(and (full red) (full blue))", "(hot)", "(and)"] {
            let plain = judge(&host(true), WalkVerifierOptions::default(), goal(wrong));
            assert_eq!((&plain.decision, plain.metrics["rating"]), (&Decision::Accepted, 1.0));
            let got = judge(&host(true), options.clone(), goal(wrong));
            assert_eq!((&got.decision, got.metrics["score"]), (&Decision::Rejected, 1.0), "{wrong}");
            let agreement = got.metrics["goal_agreement"];
            assert!(agreement < 1.0, "{wrong}: {agreement}");
            assert_eq!(got.metrics["rating"], 0.5 * (1.0 + agreement));
            let (low, high) = (got.metrics["goal_low"], got.metrics["goal_high"]);
            assert!(low <= agreement && agreement <= high);
            assert_eq!(low == high, mode == Mode::Exact, "{wrong}: {low} to {high}");
            assert!(got.summary.contains("Goal agreement"), "{}", got.summary);
            let directions = ["reference_to_candidate", "candidate_to_reference"];
            let differences = directions.map(|d| !got.evidence["goals"][d]["difference"].is_null());
            assert!(differences.contains(&true), "{:?}", got.evidence["goals"]);
        }
    }
}

#[test]
fn a_goal_out_of_reach_agrees_with_none() {
    let got = judge(&host(true), with_goals(), goal("(and (full red) (clean red) (hot) (not (hot)))"));
    assert_eq!((got.decision.name(), got.metrics["goal_agreement"]), ("rejected", 0.0));
    assert_eq!(got.metrics["rating"], 0.5);
    assert_eq!(got.evidence["goals"]["missing"], "no plan reaches the goal of the candidate");
}

#[test]
fn a_candidate_without_a_score_keeps_its_rank_and_other_objects_are_not_comparable() {
    let broken = changed("(full ?c) (not (hot))", "(ful ?c) (not (hot))");
    let got = judge(&host(true), with_goals(), broken);
    assert_eq!((got.metrics["rating"], got.metrics.get("goal_agreement")), (-2.0, None));
    let more = written(DOMAIN, &PROBLEM.replace("blue red - cup", "blue red green - cup"));
    let got = judge(&host(true), with_goals(), more);
    // The third cup can be washed, which the environment refuses.
    assert_eq!((got.decision.name(), got.metrics.get("goal_agreement")), ("rejected", None));
    let unused = DOMAIN.replace("(:types cup)", "(:types cup lid)");
    let unused = written(&unused, &PROBLEM.replace("blue red - cup", "blue red - cup top - lid"));
    let got = judge(&host(true), with_goals(), unused);
    let Decision::NotComparable { message } = &got.decision else { panic!("{got:?}") };
    assert!(message.contains("the environment lacks top"), "{message}");
    assert_eq!((got.metrics["score"], got.metrics["rating"]), (1.0, 0.5));
}

#[test]
fn goals_need_the_reference_model_and_a_plan_within_the_limits() {
    let got = judge(&host(false), with_goals(), written(DOMAIN, PROBLEM));
    assert_eq!(undecided(&got), Some(UndecidedReason::Unsupported));
    let few = WalkVerifierOptions { exact_pairs: 1, mode: Some(Mode::Sampled), ..with_goals() };
    let got = judge(&host(true), few, written(DOMAIN, PROBLEM));
    assert_eq!(undecided(&got), Some(UndecidedReason::Limit), "{got:?}");
    assert!(got.summary.contains("search nodes"), "{}", got.summary);
}
