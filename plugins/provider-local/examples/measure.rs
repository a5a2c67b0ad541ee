//! Measures the provider on a model, beside a server with the same model, and prints tables for docs/how-to/local-model.md.
//!
//! `cargo run --release --example measure -- FILE.gguf TASKS [PORT PID]`: `TASKS` is a folder with suites of LLM+P, `PORT` and `PID` those of a
//! server with chat completions, one slot and one thread on this machine. Seconds are those of the processor, in one thread, because other
//! programs take time too; of speeds the best of three rounds counts.
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

const ROUNDS: usize = 3;
/// Tokens of each reply.
const TOKENS: u32 = 32;
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
        let (host, start) = (TestHost::new(), processor_seconds("self"));
        let CompletionResult::Replies(replies) = self.provider.complete(&host, &request).unwrap() else {
            panic!()
        };
        let seconds = processor_seconds("self") - start;
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

/// Seconds of the processor that a process has used.
fn processor_seconds(process: &str) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    // User and system time, in hundredths.
    fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / 100.0
}

fn ask_server((port, process): (&str, &str), text: &str, sampling: &Sampling) -> Answer {
    let body = json!({
        "model": "m", "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}], "temperature": sampling.temperature, "top_p": 1.0,
        "max_tokens": sampling.max_tokens, "seed": sampling.seed
    });
    let body = body.to_string();
    let start = processor_seconds(process);
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: server\r\nConnection: close\r\nContent-Type: application/json";
    write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let seconds = processor_seconds(process) - start;
    let answer: Value = from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    let count = |key: &str| answer["usage"][key].as_u64().unwrap_or_else(|| panic!("{answer}"));
    let text = answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    let (tokens, prompt) = (count("completion_tokens"), count("prompt_tokens"));
    Answer { seconds, texts: vec![text], tokens, prompt, logs: Vec::new() }
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

fn question(task: &(String, String, String, Constraint)) -> String {
    format!("Domain:\n{}\nTask:\n{}\nWrite the problem in PDDL.", task.1, task.2)
}

fn sampling(max_tokens: u32, n: u32, temperature: f64) -> Sampling {
    let (max_tokens, n, seed) = (Some(max_tokens), Some(n), Some(1));
    Sampling { max_tokens, n, seed, temperature: Some(temperature), ..Sampling::default() }
}

type Ask<'a> = (&'a str, Box<dyn Fn(&str, &Sampling) -> Answer + 'a>);

/// Tokens a second of a prompt and of a reply. Both take turns, and the best round of each counts.
fn speeds(askers: &[Ask<'_>], text: &str) {
    let mut best = vec![(0.0_f64, 0.0_f64); askers.len()];
    for round in 0..ROUNDS {
        // The first line is new, so that no cache helps.
        let text = format!("Note {round}.\n{text}");
        for ((what, ask), best) in askers.iter().zip(&mut best) {
            let read = ask(&text, &sampling(1, 1, 0.0));
            let (one, all) = (ask(&text, &sampling(1, 1, 0.0)), ask(&text, &sampling(TOKENS, 1, 0.0)));
            let prompt = read.prompt as f64 / read.seconds;
            let reply = (all.tokens - one.tokens) as f64 / (all.seconds - one.seconds);
            println!("  {what}: {prompt:.1} tokens/s of a prompt of {}, {reply:.2} of a reply", read.prompt);
            *best = (best.0.max(prompt), best.1.max(reply));
        }
    }
    for ((what, _), (prompt, reply)) in askers.iter().zip(best) {
        println!("best of {what}: {prompt:.1} tokens/s of a prompt, {reply:.2} of a reply");
    }
}

/// Prints the processor time of 8 samples in one request and of 8 requests, and its ratio by token.
fn eight(askers: &[Ask<'_>], text: &str) {
    let seconds_a_token = |what: &str, answers: &[Answer]| {
        let seconds: f64 = answers.iter().map(|answer| answer.seconds).sum();
        let tokens: u64 = answers.iter().map(|answer| answer.tokens).sum();
        println!("  {what}: {tokens} tokens in {seconds:.1} s");
        seconds / tokens as f64
    };
    let samples = (askers[0].1)(text, &sampling(TOKENS, 8, 1.0));
    let together = seconds_a_token("8 samples", &[samples]);
    // Another first line, so that the first request computes the prompt too.
    let text = format!("Again.\n{text}");
    for (what, ask) in askers {
        let one = |seed| ask(&text, &Sampling { seed: Some(seed), ..sampling(TOKENS, 1, 1.0) });
        let answers: Vec<Answer> = (0..8).map(one).collect();
        let single = seconds_a_token(&format!("8 requests, {what}"), &answers);
        println!(
            "8 samples of one request are {:.2} times as fast as 8 requests to {what}",
            single / together
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, folder, rest @ ..] = arguments.as_slice() else {
        panic!("measure FILE.gguf TASKS [PORT PID]")
    };
    let options = LocalOptions { threads: Some(1), ..LocalOptions::default() };
    let provider = Local::create(options, &Secrets::default()).unwrap();
    let local = Measured { provider, model: model.clone() };
    let tasks = tasks(Path::new(folder));
    let loaded = local.ask("Hello", &sampling(1, 1, 0.0), None);
    println!("loaded, and one token: {:.1} s; {}", loaded.seconds, loaded.logs[0]);
    let mut askers: Vec<Ask<'_>> =
        vec![("provider-local", Box::new(|text, sampling| local.ask(text, sampling, None)))];
    if let [port, process] = rest {
        let ask = move |text: &str, sampling: &Sampling| ask_server((port, process), text, sampling);
        askers.push(("the server", Box::new(ask)));
    }

    let (largest, smallest) = (&tasks[0], &tasks[tasks.len() - 1]);
    println!("the smallest of {} tasks, {}:", tasks.len(), smallest.0);
    speeds(&askers, &question(smallest));
    for (task, n, temperature) in [(smallest, 1, 0.0), (smallest, 8, 1.0), (largest, 1, 0.0)] {
        let answer = local.ask(&question(task), &sampling(TOKENS, n, temperature), Some(&task.3));
        println!("grammar of {}, {} bytes: {}", task.0, task.3.lark.len(), answer.logs.join("; "));
    }
    let story = "Then write a long story about a robot, of at least a thousand words.";
    eight(&askers, &format!("{}\n{story}", question(smallest)));
    if askers.len() > 1 {
        let compared: Vec<_> = tasks.iter().rev().step_by(tasks.len().div_ceil(3)).collect();
        let mut same = 0;
        for task in &compared {
            let text = |ask: &Ask<'_>| ask.1(&question(task), &sampling(2 * TOKENS, 1, 0.0)).texts.concat();
            let (ours, theirs) = (text(&askers[0]), text(&askers[1]));
            let common = ours.bytes().zip(theirs.bytes()).take_while(|(a, b)| a == b).count();
            same += usize::from(ours == theirs);
            println!("  {}: {} and {} bytes, the first {common} are equal", task.0, ours.len(), theirs.len());
        }
        println!("greedy replies that are the server's: {same} of {}", compared.len());
    }
}
