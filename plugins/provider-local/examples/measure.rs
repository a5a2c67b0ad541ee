//! Measures the provider on a model, beside a server with the same model, and prints tables for docs/how-to/local-model.md.
//!
//! `cargo run --release --example measure -- FILE.gguf TASKS [SERVER]`: `TASKS` is a folder with suites of LLM+P, `SERVER` the `HOST:PORT`
//! of a server with chat completions and one slot. Each figure is the least of the rounds, because other programs can only add time.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "a measurement that cannot go on should stop"
)]

use planforge_diagnostics::SourceId;
use planforge_grammar::problem_grammar;
use planforge_pddl::{parse_domain, parse_problem};
use planforge_plugin_sdk::contract::Constraint;
use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::serde_json::{Value, from_str, json};
use planforge_plugin_sdk::testing::TestHost;
use planforge_provider_local::{Local, LocalOptions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 3;
/// Tokens of each reply.
const TOKENS: u32 = 96;
const SYSTEM: &str = "You write PDDL.";

struct Answer {
    seconds: f64,
    texts: Vec<String>,
    tokens: u64,
    prompt: u64,
    logs: Vec<String>,
}

struct Measured {
    provider: Local,
    model: String,
}

impl Measured {
    fn ask(&self, text: &str, sampling: &Sampling, constraint: Option<&Constraint>) -> Answer {
        let request = CompletionRequest {
            model: self.model.clone(),
            messages: vec![Message::system(SYSTEM), Message::user(text)],
            sampling: sampling.clone(),
            constraint: constraint.cloned(),
            ..CompletionRequest::default()
        };
        let (host, start) = (TestHost::new(), Instant::now());
        let CompletionResult::Replies(replies) = self.provider.complete(&host, &request).unwrap() else {
            panic!()
        };
        let seconds = start.elapsed().as_secs_f64();
        let texts = replies.replies.into_iter().map(|reply| reply.content).collect();
        let (tokens, prompt) =
            (replies.usage.completion_tokens.unwrap(), replies.usage.prompt_tokens.unwrap());
        Answer {
            seconds,
            texts,
            tokens,
            prompt,
            logs: host.logs().into_iter().map(|(_, line)| line).collect(),
        }
    }
}

fn ask_server(server: &str, text: &str, sampling: &Sampling) -> Answer {
    let body = json!({
        "model": "m", "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}], "temperature": sampling.temperature, "top_p": 1.0,
        "max_tokens": sampling.max_tokens, "seed": sampling.seed
    });
    let body = body.to_string();
    let start = Instant::now();
    let mut stream = TcpStream::connect(server).unwrap();
    let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: server\r\nConnection: close\r\nContent-Type: application/json";
    write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let answer: Value = from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    let count = |key: &str| answer["usage"][key].as_u64().unwrap_or_else(|| panic!("{answer}"));
    let text = answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    let (tokens, prompt) = (count("completion_tokens"), count("prompt_tokens"));
    Answer { seconds, texts: vec![text], tokens, prompt, logs: Vec::new() }
}

/// The least of the rounds. The first line of each prompt is new, so that no cache helps.
fn least(mut round: impl FnMut(String) -> f64, what: &str) -> f64 {
    let nonce = |n: usize| format!("Note {what} {n}.\n");
    (0..ROUNDS).map(|n| round(nonce(n))).fold(f64::INFINITY, f64::min)
}

/// The problems of the suites below a folder: domain, text of the task, constraint of its problem's grammar.
fn tasks(folder: &Path) -> Vec<(String, String, String, Constraint)> {
    let mut found: Vec<(String, String, String, Constraint)> = Vec::new();
    for suite in std::fs::read_dir(folder).unwrap() {
        let suite = suite.unwrap().path();
        let read = |name: &str| std::fs::read_to_string(suite.join(name));
        let Ok(text) = read("domain.pddl") else { continue };
        let domain = parse_domain(&text, SourceId(0)).value;
        for file in std::fs::read_dir(&suite).unwrap() {
            let stem = file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
            let (Ok(problem), Ok(told)) = (read(&format!("{stem}.pddl")), read(&format!("{stem}.nl"))) else {
                continue;
            };
            if stem == "domain"
                || found.iter().any(|(name, ..)| *name == format!("{}/{stem}", suite.display()))
            {
                continue;
            }
            let problem = parse_problem(&problem, SourceId(1)).value;
            let lark = problem_grammar(&domain, Some(&problem.objects)).to_lark();
            let constraint = Constraint { lark, required: true, ..Constraint::default() };
            found.push((format!("{}/{stem}", suite.display()), text.clone(), told, constraint));
        }
    }
    found.sort_by_key(|(name, _, _, constraint)| (std::cmp::Reverse(constraint.lark.len()), name.clone()));
    found
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, folder, rest @ ..] = arguments.as_slice() else { panic!("measure FILE.gguf TASKS [SERVER]") };
    let provider = Local::create(LocalOptions::default(), &Secrets::default()).unwrap();
    let local = Measured { provider, model: model.clone() };
    let tasks = tasks(Path::new(folder));
    let (name, domain, told, constraint) = &tasks[0];
    let question = format!("Domain:\n{domain}\nTask:\n{told}\nWrite the problem in PDDL.");
    let sampling = |max_tokens, n, temperature| Sampling {
        max_tokens: Some(max_tokens),
        n: Some(n),
        temperature: Some(temperature),
        seed: Some(1),
        ..Sampling::default()
    };
    let loaded = local.ask("Hello", &sampling(1, 1, 0.0), None);
    println!("load and first token: {:.1} s; {}", loaded.seconds, loaded.logs[0]);

    // Prompt and reply apart: the time of one token is that of the prompt.
    let prompt_tokens = local.ask(&question, &sampling(1, 1, 0.0), None).prompt;
    let speed = |ask: &dyn Fn(&str, &Sampling) -> Answer, what: &str| {
        let read = least(|nonce| ask(&format!("{nonce}{question}"), &sampling(1, 1, 0.0)).seconds, what);
        let written = least(
            |nonce| {
                let text = format!("{nonce}{question}");
                let one = ask(&text, &sampling(1, 1, 0.0));
                let all = ask(&text, &sampling(TOKENS, 1, 0.0));
                // The second request finds the prompt in the cache, but for at most one chunk.
                drop(one);
                all.seconds / (all.tokens.max(2) - 1) as f64
            },
            what,
        );
        println!(
            "{what}: {:.1} tokens/s of a prompt of {prompt_tokens}, {:.2} tokens/s of a reply",
            prompt_tokens as f64 / read,
            1.0 / written
        );
    };
    speed(&|text, sampling| local.ask(text, sampling, None), "provider-local");
    if let [server, ..] = rest {
        speed(&|text, sampling| ask_server(server, text, sampling), "server");
    }

    let story = "Write a long story about a robot that sorts parcels. Use at least a thousand words.";
    let eight = least(
        |nonce| {
            let answer = local.ask(&format!("{nonce}{question}\n{story}"), &sampling(TOKENS, 8, 1.0), None);
            println!("  8 samples: {} tokens in {:.1} s", answer.tokens, answer.seconds);
            answer.seconds / answer.tokens as f64
        },
        "eight",
    );
    let single = |ask: &dyn Fn(&str, &Sampling) -> Answer, what: &str| {
        let one = least(
            |nonce| {
                let text = format!("{nonce}{question}\n{story}");
                let answers =
                    (0..8).map(|seed| ask(&text, &Sampling { seed: Some(seed), ..sampling(TOKENS, 1, 1.0) }));
                let (seconds, tokens) = answers.fold((0.0, 0), |(s, t), a| (s + a.seconds, t + a.tokens));
                println!("  8 requests: {tokens} tokens in {seconds:.1} s");
                seconds / tokens as f64
            },
            what,
        );
        println!(
            "8 samples of one request of provider-local: {:.2} times as fast as 8 requests to {what}",
            one / eight
        );
    };
    single(&|text, sampling| local.ask(text, sampling, None), "provider-local");
    if let [server, ..] = rest {
        single(&|text, sampling| ask_server(server, text, sampling), "server");
    }

    println!("grammars, largest first ({} tasks):", tasks.len());
    for (name, domain, told, constraint) in tasks.iter().take(3) {
        let text = format!("Domain:\n{domain}\nTask:\n{told}\nWrite the problem in PDDL.");
        for n in [1, 8] {
            let answer =
                local.ask(&text, &sampling(400, n, if n == 1 { 0.0 } else { 1.0 }), Some(constraint));
            println!("  {name}, {} bytes: {}", constraint.lark.len(), answer.logs.join("; "));
        }
    }
    println!("with and without the grammar of {name}, greedy:");
    for round in 0..ROUNDS {
        for constraint in [None, Some(constraint)] {
            let answer = local.ask(&question, &sampling(TOKENS, 1, 0.0), constraint);
            println!("  round {round}: {} tokens in {:.2} s", answer.tokens, answer.seconds);
        }
    }

    if let [server, ..] = rest {
        let mut same = 0;
        let compared: Vec<_> = tasks.iter().step_by(tasks.len().div_ceil(6)).collect();
        for (name, domain, told, _) in &compared {
            let text = format!("Domain:\n{domain}\nTask:\n{told}\nWrite the problem in PDDL.");
            let (ours, theirs) = (
                local.ask(&text, &sampling(200, 1, 0.0), None),
                ask_server(server, &text, &sampling(200, 1, 0.0)),
            );
            let (ours, theirs) = (&ours.texts[0], &theirs.texts[0]);
            let common = ours.bytes().zip(theirs.bytes()).take_while(|(a, b)| a == b).count();
            same += usize::from(ours == theirs);
            println!("  {name}: {} and {} bytes, the first {common} are equal", ours.len(), theirs.len());
        }
        println!("greedy replies that are equal to the server's: {same} of {}", compared.len());
    }
}
