//! Answers that come later: what plugins make of them, and stages that need every candidate.

use crate::common::*;
use planforge_contract::api::Host;
use planforge_contract::*;
use planforge_llm::Mode;
use planforge_pipeline::*;
use planforge_record::{MemoryJournal, TaskVerdict};
use std::sync::{Arc, Mutex};

const JUDGED: &str = concat!(
    toml!(schema = 1),
    table!("given" domain = true),
    model!(main "scripted"),
    stage!(translate "problem" use = "translator-direct" n = 2 roles = { writer = "main" }),
    stage!(verify "look" use = "verifier-critique" roles = { critic = "main" } options = { of = "problem" }),
);

/// Two problems; with `late` the answer for the second comes later.
fn two(late: bool) -> StageInstance {
    StageInstance::Translator(Arc::new(Translate(move |_: &dyn Host, request: &TranslateRequest| {
        let one = |i: u32| match late && i == 1 {
            true => Outcome::Failure(Failure::deferred("later")),
            false => {
                Outcome::Ok(CandidatePatch { problem: Some(format!("(problem {i})")), ..Default::default() })
            }
        };
        Ok(TranslateResponse { samples: (0..request.n).map(one).collect() })
    })))
}

fn run_in(bench: &Bench, mode: Mode) -> RunReport {
    let journal = Arc::new(MemoryJournal::default());
    let services = bench.services(Arc::clone(&journal) as _, Vec::new(), mode, 2);
    run(&bench.pipeline, &tasks(1), &services).unwrap()
}

#[test]
fn a_plugin_that_takes_an_answer_that_comes_later_for_a_failure_is_asked_again() {
    let trusting = Verify(|host: &dyn Host, _: &Candidate, _: &VerifyRequest| {
        let question =
            CompletionRequest { messages: vec![Message::user("is it right?")], ..Default::default() };
        let decision = match host.complete("critic", question) {
            Ok(_) => Decision::Rejected,
            // Whoever breaks has nothing against it.
            Err(_) => Decision::Accepted,
        };
        Ok(Assessment::new(decision, ""))
    });
    let bench = Bench::new(JUDGED)
        .stage("problem", two(false))
        .stage("look", StageInstance::Verifier(Arc::new(trusting)));
    let report = run_in(&bench, Mode::Batch);
    assert_eq!((report.state, &report.tasks[0].verdict), (RunState::Parked, &None));
    let report = run_in(&bench, Mode::Live);
    assert!(
        matches!(report.tasks[0].verdict, Some(TaskVerdict::Rejected { .. })),
        "{:?}",
        report.tasks[0].verdict
    );
}

#[test]
fn a_verifier_of_several_waits_for_all() {
    for (together, late, wanted) in
        [(true, true, vec![]), (true, false, vec![2]), (false, true, vec![1]), (false, false, vec![1, 1])]
    {
        let sizes = Arc::new(Mutex::new(Vec::new()));
        let mut bench = Bench::new(JUDGED)
            .stage("problem", two(late))
            .stage("look", StageInstance::Verifier(Arc::new(Counting(Arc::clone(&sizes)))));
        if together {
            bench.instances.stages.get_mut("look").unwrap().0.capabilities.together = Applies::Always;
        }
        let report = run_in(&bench, Mode::Live);
        assert_eq!(*sizes.lock().unwrap(), wanted, "together {together}, late {late}");
        assert_eq!(report.state, if late { RunState::Parked } else { RunState::Finished });
    }
}

/// Notes how many candidates each call has.
struct Counting(Arc<Mutex<Vec<usize>>>);
impl planforge_contract::api::Verifier for Counting {
    fn verify(&self, _: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        self.0.lock().unwrap().push(request.candidates.len());
        let one = |_: &Candidate| Outcome::Ok(Assessment::new(Decision::Accepted, ""));
        Ok(VerifyResponse { results: request.candidates.iter().map(one).collect() })
    }
}
