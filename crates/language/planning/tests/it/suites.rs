//! The LLM+P tasks, if they are present next to the checkout: each is solved within a limit on nodes, and
//! every plan is valid.

use planforge_diagnostics::SourceId;
use planforge_planning::{
    Algorithm, PlanOptions, SearchOutcome, Unlimited, ValidationDecision, parse_plan, plan, validate,
};

fn solve(domain: &str, task: &str, algorithm: Algorithm) -> Option<f64> {
    let root = crate::support::repository().join("../shared/suites/llm-p").join(domain);
    let read = |name: String| std::fs::read_to_string(root.join(name)).unwrap();
    let (domain, problem) =
        crate::support::read(&read("domain.pddl".to_owned()), &read(format!("{task}.pddl")));
    // A cap on nodes instead of a clock: the same on every machine.
    let options = PlanOptions { algorithm, max_nodes: 100_000, ..PlanOptions::default() };
    let SearchOutcome::Plan(found) = plan(&domain, &problem, &options, &mut Unlimited).unwrap().outcome
    else {
        return None;
    };
    let report =
        validate(&domain, &problem, &parse_plan(&found.to_string(), SourceId(2)), &mut Unlimited).unwrap();
    assert_eq!(report.decision, ValidationDecision::Valid, "{task} {:?}", report.diagnostics);
    assert_eq!(report.cost, found.cost);
    found.cost
}

#[test]
fn llm_p_tasks_are_solved() {
    let root = crate::support::repository().join("../shared/suites/llm-p");
    if !root.is_dir() {
        println!("skipped: {} is not there", root.display());
        return;
    }
    let domains = ["barman", "blocksworld", "floortile", "grippers", "storage", "termes", "tyreworld"];
    for domain in domains {
        for number in 1..=8 {
            // The two hardest of termes take seconds.
            if domain == "termes" && (number == 5 || number == 6) {
                continue;
            }
            let task = format!("p{number:02}");
            assert!(solve(domain, &task, Algorithm::Greedy).is_some(), "{domain} {task}");
        }
    }
    let optima = [
        ("blocksworld", "p03", 6.0),
        ("blocksworld", "p08", 14.0),
        ("storage", "p05", 8.0),
        ("grippers", "p07", 8.0),
    ];
    for (domain, task, cost) in optima {
        assert_eq!(solve(domain, task, Algorithm::AStar), Some(cost), "{domain} {task}");
    }
}
