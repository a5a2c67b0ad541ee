use super::*;

fn key(seed: u64) -> CellKey {
    CellKey { suite: "garden".to_owned(), pipeline: "bon".to_owned(), model: String::new(), seed }
}

fn priced(max_tokens: Option<u64>) -> ModelFacts {
    let price = Price { prompt: Some(2.0), completion: Some(8.0), ..Price::default() };
    ModelFacts { price, max_tokens, ..ModelFacts::default() }
}

fn bound(questions: u64, replies: u64, before: u64) -> QuestionBound {
    QuestionBound {
        stage: "s".to_owned(),
        models: vec!["main".to_owned()],
        questions: Some(questions),
        replies: Some(replies),
        before: Some(before),
        ..QuestionBound::default()
    }
}

fn cell(seed: u64) -> CellFacts {
    let ready = ReadyRequest { llm: "main".to_owned(), replies: 4, requests: 1, prompt_tokens: 1_000 };
    CellFacts {
        key: key(seed),
        tasks: 2,
        progress: Progress::New,
        paid: BTreeMap::new(),
        ready: vec![ready.clone(), ReadyRequest { prompt_tokens: 600, ..ready }],
        bounds: vec![bound(2, 8, 0), bound(16, 16, 16)],
        models: BTreeMap::from([("main".to_owned(), priced(Some(300)))]),
    }
}

fn close(usd: Option<f64>, expected: f64) -> bool {
    usd.is_some_and(|usd| (usd - expected).abs() < 1e-9)
}

const ASSUMED: Assumptions = Assumptions { reply_tokens: 500 };

#[test]
fn certain_largest_and_estimated_figures_are_separate() {
    let estimate = Estimate::new(&[cell(1), cell(2)], ASSUMED);
    let one = &estimate.cells[0];
    assert_eq!((one.now.calls, one.now.replies), (Some(2), Some(8)));
    assert_eq!(one.now.estimated_prompt_tokens, Some(1_600));
    // max_tokens is less than what is assumed, and it is a bound as well.
    assert_eq!(
        (one.now.estimated_completion_tokens, one.now.most_completion_tokens),
        (Some(2_400), Some(2_400))
    );
    assert!(close(one.now.estimated_usd, (2.0 * 1_600.0 + 8.0 * 2_400.0) / 1e6));
    assert_eq!((one.most.calls, one.most.replies), (Some(18), Some(24)));
    // Each question is as long as the longest first one; those of the second stage have a reply before them.
    assert_eq!(one.most.estimated_prompt_tokens, Some(18 * 1_000 + 16 * (300 + 16)));
    assert_eq!(one.most.most_completion_tokens, Some(24 * 300));
    assert!(one.unpriced.is_empty() && one.endless.is_empty() && one.unbounded.is_empty());
    assert_eq!((estimate.total.cells, estimate.total.tasks, estimate.total.most.calls), (2, 4, Some(36)));
    let text = estimate.text();
    assert!(text.contains("all ") && text.contains('$') && text.contains("500 tokens"), "{text}");
}

#[test]
fn unknown_figures_are_question_marks_with_a_reason() {
    let mut facts = cell(1);
    facts.models.insert("main".to_owned(), ModelFacts::default());
    facts.bounds[1] = QuestionBound { why: "`x` does not say".to_owned(), questions: None, ..bound(0, 0, 0) };
    let estimate = Estimate::new(&[facts], ASSUMED);
    let one = &estimate.cells[0];
    assert_eq!((one.now.estimated_usd, one.most.estimated_usd), (None, None));
    assert_eq!((one.most.calls, one.most.most_completion_tokens), (None, None));
    assert_eq!(one.now.estimated_completion_tokens, Some(8 * 500), "what is assumed, without a bound");
    let text = estimate.text();
    for word in
        ["price unknown: llm.main of bon", "no `max_tokens`", "no bound on calls: `x` does not say", "?"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(!text.contains('$'), "{text}");
}

#[test]
fn paid_requests_are_not_paid_again() {
    let mut facts = cell(1);
    facts.progress = Progress::Begun;
    let usage = TaskUsage {
        calls: 9,
        replies: 12,
        prompt_tokens: 9_000,
        completion_tokens: 3_000,
        ..TaskUsage::default()
    };
    facts.paid.insert("main".to_owned(), usage);
    let begun = Estimate::new(&[facts.clone()], ASSUMED);
    let one = &begun.cells[0];
    assert_eq!((one.paid.calls, one.most.calls, one.most.replies), (9, Some(9), Some(12)));
    assert!(close(one.paid.cost.usd(), (2.0 * 9_000.0 + 8.0 * 3_000.0) / 1e6));
    let all = Estimate::new(&[cell(1)], ASSUMED).cells[0].most.estimated_prompt_tokens.unwrap();
    assert_eq!(one.most.estimated_prompt_tokens, Some(all / 2), "half of the questions are left");
    facts.progress = Progress::Finished;
    facts.ready.clear();
    let finished = Estimate::new(&[facts], ASSUMED);
    assert_eq!(finished.cells[0].most, FutureUse::nothing());
    assert!(finished.text().contains("finished"));
}

#[test]
fn caps_and_budgets_bound_what_the_stages_do_not() {
    let mut facts = cell(1);
    let model = ModelFacts { max_calls: Some(10), max_cost_usd: Some(0.01), ..priced(Some(300)) };
    facts.models.insert("main".to_owned(), model);
    let capped = Estimate::new(&[facts.clone()], ASSUMED);
    assert_eq!(capped.cells[0].most.calls, Some(10));
    assert!(close(capped.cells[0].most.estimated_usd, 0.0224));
    assert!(capped.cells[0].now.estimated_usd > Some(0.01), "what is certain is never less than a cap lets");
    // A budget of tokens bounds tokens, and not the number of questions.
    facts.models.insert("main".to_owned(), priced(None));
    facts.bounds[1] = QuestionBound {
        questions: None,
        replies: None,
        before: None,
        tokens: Some(50_000),
        ..bound(0, 0, 0)
    };
    let budget = Estimate::new(&[facts], ASSUMED);
    assert_eq!(budget.cells[0].most.calls, None);
    assert_eq!(budget.cells[0].most.estimated_prompt_tokens, Some(2_000 + 50_000));
}

#[test]
fn a_server_with_one_reply_a_request_reads_the_prompt_each_time() {
    let mut facts = cell(1);
    facts.bounds.truncate(1);
    let model = ModelFacts { replies_a_request: Some(1), ..priced(Some(300)) };
    facts.models.insert("main".to_owned(), model);
    let estimate = Estimate::new(&[facts], ASSUMED);
    assert_eq!(estimate.cells[0].most.estimated_prompt_tokens, Some(2 * 1_000 * 4));
}
