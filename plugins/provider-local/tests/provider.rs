//! The provider on a tiny model with random weights.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on should stop"
)]

mod support;

use planforge_diagnostics::SourceId;
use planforge_grammar::problem_grammar;
use planforge_pddl::{parse_domain, parse_problem};
use planforge_plugin_sdk::contract::{Constraint, ReplySchema};
use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::serde_json::{Value, from_str, json};
use planforge_plugin_sdk::testing::TestHost;
use planforge_provider_local::{Local, LocalOptions};
use std::path::Path;
use support::TinyModel;
use tempfile::TempDir;

/// Other tests run at the same time.
fn options() -> LocalOptions {
    LocalOptions { threads: Some(1), ..LocalOptions::default() }
}

fn local(options: LocalOptions) -> Local {
    Local::create(options, &Secrets::default()).unwrap()
}

fn question(model: &Path, text: &str, sampling: Sampling) -> CompletionRequest {
    let messages = vec![Message::system("Answer."), Message::user(text)];
    CompletionRequest {
        model: model.display().to_string(),
        messages,
        sampling,
        ..CompletionRequest::default()
    }
}

fn ask(provider: &Local, request: &CompletionRequest) -> Replies {
    match provider.complete(&TestHost::new(), request).unwrap() {
        CompletionResult::Replies(replies) => replies,
        other => panic!("{other:?}"),
    }
}

fn contents(replies: &Replies) -> Vec<&str> {
    replies.replies.iter().map(|reply| reply.content.as_str()).collect()
}

/// Samples of at most so many tokens, with log-probabilities.
fn samples(n: u32, seed: u64, max_tokens: u32) -> Sampling {
    let (n, seed, max_tokens) = (Some(n), Some(seed), Some(max_tokens));
    Sampling { n, seed, max_tokens, temperature: Some(1.0), logprobs: Some(true), ..Sampling::default() }
}

fn greedy(max_tokens: u32) -> Sampling {
    Sampling { temperature: Some(0.0), ..samples(1, 1, max_tokens) }
}

fn tiny() -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let model = TinyModel::default().write(folder.path(), "tiny.gguf");
    (folder, model)
}

#[test]
fn a_request_has_the_same_replies_whatever_came_before_it() {
    let (_folder, model) = tiny();
    let provider = local(options());
    let shared = "The same long beginning of two questions. ".repeat(10);
    for sampling in [greedy(60), samples(3, 7, 60), Sampling { top_p: Some(0.5), ..samples(3, 7, 60) }] {
        let first = question(&model, &format!("{shared}One?"), sampling.clone());
        let replies = ask(&provider, &first);
        assert!(!contents(&replies).concat().is_empty());
        ask(&provider, &question(&model, &format!("{shared}Another one?"), sampling.clone()));
        assert_eq!(ask(&provider, &first), replies);
        ask(&provider, &question(&model, "Short?", sampling));
        assert_eq!(ask(&provider, &first), replies);
        assert_eq!(replies.model, "tiny");
    }
}

#[test]
fn seeds_and_indices_give_other_replies_and_greedy_ones_are_equal() {
    let (_folder, model) = tiny();
    let provider = local(options());
    let replies = |sampling| ask(&provider, &question(&model, "Write.", sampling));
    let (one, other) = (replies(samples(2, 1, 40)), replies(samples(2, 2, 40)));
    let mut all = contents(&one);
    all.extend(contents(&other));
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 4, "{all:?}");
    let same = replies(Sampling { n: Some(3), ..greedy(40) });
    assert_eq!(same.replies.len(), 3);
    assert!(same.replies.iter().all(|reply| *reply == same.replies[0]));
    let narrow = replies(Sampling { top_p: Some(1e-9), ..samples(1, 5, 40) });
    assert_eq!(narrow.replies[0].content, same.replies[0].content, "the likeliest token alone is left");
}

/// Rounding depends on the number of replies in a batch and on their cells in the cache, so that a later choice may differ.
#[test]
fn replies_written_together_begin_as_those_written_one_by_one() {
    let (_folder, model) = tiny();
    let request = question(&model, "Write.", samples(7, 11, 90));
    let with =
        |samples, context| ask(&local(LocalOptions { samples, context, ..options() }), &request).replies;
    let single = with(1, 1024);
    // All at a time, in groups, and with a cache that gets full.
    for together in [with(7, 1024), with(3, 1024), with(7, 256)] {
        assert_eq!(together.len(), single.len());
        for (together, single) in together.iter().zip(&single) {
            let pairs = together.logprobs.iter().flatten().zip(single.logprobs.iter().flatten());
            let close =
                pairs.take(20).filter(|(a, b)| a.token == b.token && (a.logprob - b.logprob).abs() < 0.01);
            assert_eq!(close.count(), 20, "{together:?} {single:?}");
        }
    }
}

#[test]
fn log_probabilities_are_of_each_token_and_do_not_depend_on_a_grammar() {
    let (_folder, model) = tiny();
    let provider = local(options());
    let free = ask(&provider, &question(&model, "Write.", greedy(30)));
    let (reply, tokens) = (&free.replies[0], free.replies[0].logprobs.as_ref().unwrap());
    assert_eq!(tokens.len() as u64, free.usage.completion_tokens.unwrap());
    // The likeliest of so many tokens has at least the probability of a uniform choice, and a certain one has 0.
    assert!(tokens.iter().all(|token| (-(265_f64.ln())..0.0).contains(&token.logprob)), "{tokens:?}");
    // A grammar of any 30 bytes changes no choice.
    let mut any = question(&model, "Write.", greedy(30));
    any.constraint = Some(constraint("start: /(.|\\n){1,60}/\n"));
    let masked = ask(&provider, &any);
    let compared =
        masked.replies[0].content.chars().zip(reply.content.chars()).take_while(|(a, b)| a == b).count();
    assert!(compared > 0);
    for (masked, free) in masked.replies[0].logprobs.as_ref().unwrap().iter().zip(tokens).take(compared) {
        assert_eq!(masked, free);
    }
    // Where one text is allowed alone, its tokens are as improbable as before.
    let mut forced = question(&model, "Write.", greedy(30));
    forced.constraint = Some(constraint("start: \"zq\"\n"));
    let forced = ask(&provider, &forced);
    assert_eq!((contents(&forced)[0], forced.replies[0].finish), ("zq", FinishReason::Stop));
    assert!(forced.replies[0].log_likelihood().unwrap() < -1.0);
    let without = Sampling { logprobs: None, ..greedy(30) };
    assert_eq!(ask(&provider, &question(&model, "Write.", without)).replies[0].logprobs, None);
}

fn constraint(lark: &str) -> Constraint {
    Constraint { lark: lark.into(), ..Constraint::default() }
}

#[test]
fn every_reply_that_is_not_cut_off_is_in_the_grammar() {
    let (_folder, model) = tiny();
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/suites/parcels");
    let read = |file: &str| std::fs::read_to_string(suite.join(file)).unwrap();
    let domain = parse_domain(&read("domain.pddl"), SourceId(0)).value;
    let problem = parse_problem(&read("p01.pddl"), SourceId(1)).value;
    let grammar = problem_grammar(&domain, Some(&problem.objects));
    let provider = local(options());
    let (mut whole, mut cut_off) = (0, 0);
    for seed in 0..4 {
        let mut request = question(&model, "Write the problem.", samples(4, seed, 1500));
        request.constraint = Some(constraint(&grammar.to_lark()));
        for reply in ask(&provider, &request).replies {
            match reply.finish {
                FinishReason::Stop => {
                    assert!(grammar.accepts(&reply.content), "{}", reply.content);
                    whole += 1;
                }
                _ => {
                    assert_eq!(
                        grammar.accepted_prefix(&reply.content),
                        reply.content.len(),
                        "{}",
                        reply.content
                    );
                    cut_off += 1;
                }
            }
        }
    }
    assert!(whole > 5, "{whole} whole, {cut_off} cut off");
}

#[test]
fn a_schema_gives_json_and_an_impossible_grammar_a_failure() {
    let (_folder, model) = tiny();
    let provider = local(options());
    let schema = json!({
        "type": "object", "properties": {"plan": {"enum": ["short", "long"]}}, "required": ["plan"], "additionalProperties": false
    });
    let Value::Object(schema) = schema else { panic!() };
    let mut request = question(&model, "Answer.", samples(3, 3, 200));
    request.schema = Some(ReplySchema { name: "answer".into(), schema });
    for text in contents(&ask(&provider, &request)) {
        let value: Value = from_str(text).unwrap();
        assert!(["short", "long"].contains(&value["plan"].as_str().unwrap()), "{text}");
    }
    let mut request = question(&model, "Answer.", greedy(20));
    request.constraint = Some(constraint("start: nothing\n"));
    let failure = provider.complete(&TestHost::new(), &request).unwrap_err();
    assert_eq!((&*failure.code, failure.help.is_some()), ("local.grammar", true));
}

#[test]
fn stop_texts_and_limits_end_a_reply() {
    let (_folder, model) = tiny();
    let provider = local(options());
    let whole = ask(&provider, &question(&model, "Write.", greedy(30)));
    let text = contents(&whole)[0];
    let (at, stop) = text.char_indices().filter(|(_, c)| c.is_ascii()).nth(3).unwrap();
    let stop = stop.to_string();
    let stopped = Sampling { stop: vec!["not in it".into(), stop.clone()], ..greedy(30) };
    let stopped = ask(&provider, &question(&model, "Write.", stopped));
    let reply = &stopped.replies[0];
    let before = text.find(&stop).unwrap();
    assert!(before <= at);
    assert_eq!((reply.content.as_str(), reply.finish), (&text[..before], FinishReason::Stop));
    let (kept, all) = (reply.logprobs.as_deref().unwrap(), whole.replies[0].logprobs.as_deref().unwrap());
    assert_eq!(kept, &all[..kept.len()]);
    assert!(all[kept.len()].token.contains(&stop));
    let short = ask(&provider, &question(&model, "Write.", greedy(5)));
    assert_eq!((short.replies[0].finish, short.usage.completion_tokens), (FinishReason::Length, Some(5)));
    assert!(text.starts_with(contents(&short)[0]));
    // The cache ends a reply that has no limit of its own.
    let narrow = local(LocalOptions { context: 256, ..options() });
    let sampling = Sampling { max_tokens: None, ..samples(4, 9, 0) };
    let replies = ask(&narrow, &question(&model, "Write.", sampling));
    let cut: Vec<_> = replies.replies.iter().filter(|reply| reply.finish == FinishReason::Length).collect();
    assert!(!cut.is_empty());
    let prompt = replies.usage.prompt_tokens.unwrap();
    assert!(cut.iter().all(|reply| reply.tokens() == Some(256 - prompt)));
    let long = question(&model, &"too long ".repeat(40), greedy(5));
    let CompletionResult::ProviderFailure(failure) = narrow.complete(&TestHost::new(), &long).unwrap() else {
        panic!()
    };
    assert_eq!(failure.class, ProviderFailureClass::ContextOverflow);
}

#[test]
fn an_interrupted_request_ends_between_tokens_and_the_next_one_is_whole() {
    let (_folder, model) = tiny();
    let provider = local(options());
    let request = question(&model, &"A long prompt. ".repeat(20), samples(4, 4, 200));
    let expected = ask(&provider, &request);
    let host = TestHost::new().cancel_at_progress();
    assert_eq!(provider.complete(&host, &request).unwrap_err().class, FailureClass::Cancelled);
    assert_eq!(host.progress_reports().len(), 1, "the first report ends it");
    let late = TestHost::new().remaining_ms(0);
    assert_eq!(provider.complete(&late, &request).unwrap_err().code, "local.deadline");
    assert_eq!(ask(&provider, &request), expected);
}

#[test]
fn tables_that_name_the_same_file_share_the_model_and_take_turns() {
    let (_folder, model) = tiny();
    let options = [options(), LocalOptions { context: 512, samples: 2, ..options() }];
    let request = question(&model, "Write.", samples(3, 3, 80));
    let host = TestHost::new();
    local(options[0].clone()).complete(&host, &request).unwrap();
    assert!(host.logs()[0].1.contains("for weights"), "{:?}", host.logs());
    let replies: Vec<Vec<String>> = std::thread::scope(|scope| {
        let ask = |options: &LocalOptions| {
            let (provider, request) = (local(options.clone()), &request);
            scope.spawn(move || {
                let many = (0..5).map(|_| ask(&provider, request));
                many.map(|replies| contents(&replies).concat()).collect()
            })
        };
        let threads: Vec<_> = options.iter().cycle().take(4).map(ask).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(replies.iter().flatten().all(|text| *text == replies[0][0]));
    let again = TestHost::new();
    local(options[0].clone()).complete(&again, &request).unwrap();
    assert!(again.logs().iter().all(|(_, line)| !line.contains(" MB: 1 for weights")), "{:?}", again.logs());
}

#[test]
fn a_file_that_is_missing_or_broken_is_one_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(TinyModel::default().write(folder.path(), "whole.gguf")).unwrap();
    let mut paths = vec![folder.path().join("missing.gguf"), folder.path().to_owned()];
    for (name, bytes) in [
        ("empty", &whole[..0]),
        ("cut-in-the-header", &whole[..100]),
        ("cut-in-the-tokens", &whole[..2000]),
        ("cut-in-the-weights", &whole[..whole.len() - 32]),
        ("text", b"(define (domain d))".as_slice()),
    ] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        paths.push(folder.path().join(name));
    }
    paths.push(
        TinyModel { architecture: "no-such", ..TinyModel::default() }.write(folder.path(), "unknown.gguf"),
    );
    let provider = local(options());
    for path in paths {
        let failure = provider.complete(&TestHost::new(), &question(&path, "?", greedy(5))).unwrap_err();
        assert_eq!((&*failure.code, failure.class), ("local.model", FailureClass::Request), "{failure}");
        assert!(failure.message.contains(&*path.to_string_lossy()) && failure.help.is_some(), "{failure}");
        assert!(!failure.message.contains('\n'), "{failure}");
    }
}

#[test]
fn a_model_without_a_known_chat_template_needs_the_name_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let none = TinyModel { template: None, ..TinyModel::default() }.write(folder.path(), "none.gguf");
    let own =
        TinyModel { template: Some("{{ own }}"), ..TinyModel::default() }.write(folder.path(), "own.gguf");
    for path in [&none, &own] {
        let request = question(path, "Write.", greedy(20));
        let failure = local(options()).complete(&TestHost::new(), &request).unwrap_err();
        assert_eq!((&*failure.code, failure.help.is_some()), ("local.template", true), "{failure}");
    }
    let chatml = local(LocalOptions { chat_template: Some("chatml".into()), ..options() });
    let expected = tiny();
    let plain = ask(&local(options()), &question(&expected.1, "Write.", greedy(20)));
    assert_eq!(contents(&ask(&chatml, &question(&none, "Write.", greedy(20)))), contents(&plain));
}

#[test]
fn a_model_that_needs_more_memory_than_there_is_is_refused_before_it_is_loaded() {
    let (_folder, model) = tiny();
    for options in [
        LocalOptions { memory_mb: Some(1), ..options() },
        LocalOptions { context: 1_048_576, memory_mb: Some(200), ..options() },
    ] {
        let failure =
            local(options).complete(&TestHost::new(), &question(&model, "?", greedy(5))).unwrap_err();
        assert_eq!((&*failure.code, failure.class), ("local.memory", FailureClass::System));
        assert!(failure.message.contains(" MB: 1 for weights") && failure.help.is_some(), "{failure}");
    }
}
