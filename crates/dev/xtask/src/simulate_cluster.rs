//! Simulates evaluations on a cluster: workers that take shards from a queue, cells one after the other, and a server with limits of requests
//! and tokens a minute. No time passes and no request is sent. The pace of requests and the waits before retries are those of a run.

use planforge_contract::{ProviderFailure, ProviderFailureClass};
use planforge_llm::{ModelSettings, Pace, Ticket, retry_wait};
use planforge_pddl::random::Random;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

#[derive(clap::Args)]
pub(crate) struct SimulateClusterArgs {
    /// Numbers of calls of an evaluation.
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000,1000000")]
    calls: Vec<u64>,
    /// Numbers of shards that run at a time.
    #[arg(long, value_delimiter = ',', default_value = "1,8,64")]
    workers: Vec<usize>,
    /// Shards for each worker.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..))]
    shards: u64,
    /// Calls of a cell; the last ones of a cell end before the next cell starts.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    cell: u64,
    /// Calls of a worker at a time.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..))]
    jobs: u64,
    /// Seconds from the start of a shard to its first call.
    #[arg(long, default_value_t = 1.0)]
    start_s: f64,
    /// Requests a minute that the server admits.
    #[arg(long, default_value_t = 500.0)]
    requests_per_minute: f64,
    /// Tokens a minute that the server admits, prompts and replies together.
    #[arg(long, default_value_t = 2_000_000.0)]
    tokens_per_minute: f64,
    /// Each worker sends at most its part of the requests a minute, as with `requests_per_minute` in the model table.
    #[arg(long)]
    divided: bool,
    /// Median seconds until a reply; the logarithm is normal.
    #[arg(long, default_value_t = 8.0)]
    latency_s: f64,
    /// Standard deviation of the logarithms of latency and of tokens.
    #[arg(long, default_value_t = 0.6)]
    spread: f64,
    /// Median tokens of a prompt.
    #[arg(long, default_value_t = 2000.0)]
    prompt_tokens: f64,
    /// Median tokens of a reply.
    #[arg(long, default_value_t = 800.0)]
    reply_tokens: f64,
    /// Share of admitted requests that break and are sent again; their tokens are paid for.
    #[arg(long, default_value_t = 0.01)]
    broken: f64,
    /// Dollars for a million tokens of prompts and of replies.
    #[arg(long, value_delimiter = ',', default_value = "0.25,2.0")]
    price: Vec<f64>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A request: its worker, its number within the simulation, and the attempt of its call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    worker: usize,
    number: u64,
    attempt: u32,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// The worker takes the next shard.
    ShardStarts(usize),
    /// The first waiting request of the worker may be sent.
    Turn(usize),
    Arrives(Request, Ticket),
    IsAnswered(Request),
    IsRefused(Request, Ticket),
    Breaks(Request),
    /// Its wait before the next attempt has ended.
    Returns(Request),
}

/// A process that runs one shard after the other.
#[derive(Default)]
struct Worker {
    /// Cells of its shard, by their numbers of calls.
    cells: Vec<u64>,
    /// Calls of its cell that have not started.
    unsent: u64,
    /// Calls of its cell that have started and have no end.
    open: u64,
    /// Calls whose next request waits for its turn, with the time since when.
    waiting: VecDeque<(Duration, Request)>,
    /// Each cell is a run with a pace of its own.
    pace: Pace,
    next_turn: Option<Duration>,
    ended: Duration,
}

#[derive(Default)]
struct Tally {
    admitted: u64,
    refused: u64,
    unanswered: u64,
    prompt_tokens: f64,
    reply_tokens: f64,
}

struct Simulation<'a> {
    args: &'a SimulateClusterArgs,
    settings: ModelSettings,
    random: Random,
    steps: BinaryHeap<Reverse<(Duration, u64, Step)>>,
    number: u64,
    shards: VecDeque<Vec<u64>>,
    workers: Vec<Worker>,
    /// Requests and tokens that the server admits now, as of a time.
    quota: (f64, f64),
    refilled: Duration,
    tally: Tally,
}

pub(crate) fn run(args: &SimulateClusterArgs) -> Result<(), String> {
    let &[prompt_price, reply_price] = args.price.as_slice() else {
        return Err("--price takes two numbers: of prompts and of replies".to_owned());
    };
    println!(
        "| calls | workers | shards | hours | calls a minute | answered 429 | calls without an answer | workers busy | dollars |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for &calls in &args.calls {
        for &workers in &args.workers {
            let (end, busy, tally) = Simulation::new(args, calls, workers).run();
            let minutes = end.as_secs_f64() / 60.0;
            let requests = (tally.admitted + tally.refused) as f64;
            let dollars = (tally.prompt_tokens * prompt_price + tally.reply_tokens * reply_price) / 1e6;
            println!(
                "| {calls} | {workers} | {} | {:.2} | {:.0} | {:.1} % | {} | {:.0} % | {dollars:.2} |",
                workers as u64 * args.shards,
                minutes / 60.0,
                calls as f64 / minutes,
                100.0 * tally.refused as f64 / requests,
                tally.unanswered,
                100.0 * busy,
            );
        }
    }
    Ok(())
}

impl<'a> Simulation<'a> {
    fn new(args: &'a SimulateClusterArgs, calls: u64, workers: usize) -> Self {
        let cells = calls.div_ceil(args.cell);
        let shards = workers as u64 * args.shards;
        // Cell k belongs to shard k mod N.
        let shard = |shard: u64| {
            let own = (shard..cells).step_by(shards as usize);
            own.map(|cell| args.cell.min(calls - cell * args.cell)).collect()
        };
        Self {
            args,
            settings: ModelSettings::new("", ""),
            random: Random::stream(args.seed, calls ^ workers as u64),
            steps: BinaryHeap::new(),
            number: 0,
            shards: (0..shards).map(shard).collect(),
            workers: (0..workers).map(|_| Worker::default()).collect(),
            quota: (args.requests_per_minute, args.tokens_per_minute),
            refilled: Duration::ZERO,
            tally: Tally::default(),
        }
    }

    /// Returns the end of the last worker, the mean part of that time in which workers had a shard, and the counts.
    fn run(mut self) -> (Duration, f64, Tally) {
        for worker in 0..self.workers.len() {
            self.take_shard(worker, Duration::ZERO);
        }
        while let Some(Reverse((now, _, step))) = self.steps.pop() {
            let worker = match step {
                Step::ShardStarts(worker) => worker,
                Step::Turn(worker) => {
                    self.send(worker, now);
                    worker
                }
                Step::Arrives(request, ticket) => {
                    self.admit(request, ticket, now);
                    continue;
                }
                Step::IsAnswered(request) => {
                    self.workers[request.worker].open -= 1;
                    request.worker
                }
                Step::IsRefused(request, ticket) => {
                    self.workers[request.worker].pace.refuse(ticket, now, None);
                    self.retry(request, ProviderFailureClass::RateLimited, now);
                    request.worker
                }
                Step::Breaks(request) => {
                    self.retry(request, ProviderFailureClass::Server, now);
                    request.worker
                }
                Step::Returns(request) => {
                    self.workers[request.worker].waiting.push_back((now, request));
                    request.worker
                }
            };
            self.go_on(worker, now);
        }
        let end = self.workers.iter().map(|worker| worker.ended).max().unwrap_or_default();
        let busy: Duration = self.workers.iter().map(|worker| worker.ended).sum();
        (end, busy.as_secs_f64() / (end.as_secs_f64() * self.workers.len() as f64), self.tally)
    }

    fn add(&mut self, time: Duration, step: Step) {
        self.number += 1;
        self.steps.push(Reverse((time, self.number, step)));
    }

    fn take_shard(&mut self, worker: usize, now: Duration) {
        let shard = std::iter::from_fn(|| self.shards.pop_front()).find(|cells| !cells.is_empty());
        let Some(cells) = shard else { return };
        self.workers[worker].cells = cells;
        self.add(now + Duration::from_secs_f64(self.args.start_s), Step::ShardStarts(worker));
    }

    /// Starts calls of the worker's cell, its next cell or its next shard, and plans its next turn.
    fn go_on(&mut self, index: usize, now: Duration) {
        let worker = &mut self.workers[index];
        worker.ended = now;
        if worker.open == 0 && worker.unsent == 0 {
            worker.pace = Pace::default();
            match worker.cells.pop() {
                Some(calls) => worker.unsent = calls,
                None => return self.take_shard(index, now),
            }
        }
        while worker.unsent > 0 && worker.open < self.args.jobs {
            worker.unsent -= 1;
            worker.open += 1;
            self.number += 1;
            worker.waiting.push_back((now, Request { worker: index, number: self.number, attempt: 1 }));
        }
        let turn = now.max(worker.pace.next());
        if !worker.waiting.is_empty() && worker.next_turn.is_none_or(|next| turn < next) {
            worker.next_turn = Some(turn);
            self.add(turn, Step::Turn(index));
        }
    }

    fn send(&mut self, index: usize, now: Duration) {
        let each = 60.0 * self.workers.len() as f64 / self.args.requests_per_minute;
        let spacing = if self.args.divided { Duration::from_secs_f64(each) } else { Duration::ZERO };
        let worker = &mut self.workers[index];
        if worker.next_turn.is_some_and(|turn| turn <= now) {
            worker.next_turn = None;
        }
        if worker.pace.next() <= now
            && let Some((arrived, request)) = worker.waiting.pop_front()
        {
            let ticket = worker.pace.send(now, arrived, spacing);
            self.add(now + Duration::from_millis(50), Step::Arrives(request, ticket));
        }
    }

    /// The server admits a request or refuses it.
    fn admit(&mut self, request: Request, ticket: Ticket, now: Duration) {
        let args = self.args;
        let minutes = (now - self.refilled).as_secs_f64() / 60.0;
        self.refilled = now;
        let (prompt, reply) = (self.draw(args.prompt_tokens), self.draw(args.reply_tokens));
        let refilled = |left: f64, limit: f64| limit.min(left + minutes * limit);
        self.quota = (
            refilled(self.quota.0, args.requests_per_minute),
            refilled(self.quota.1, args.tokens_per_minute),
        );
        if self.quota.0 < 1.0 || self.quota.1 < prompt + reply {
            self.tally.refused += 1;
            return self.add(now + Duration::from_millis(50), Step::IsRefused(request, ticket));
        }
        self.quota = (self.quota.0 - 1.0, self.quota.1 - prompt - reply);
        self.tally.admitted += 1;
        self.tally.prompt_tokens += prompt;
        self.tally.reply_tokens += reply;
        let answered = now + Duration::from_secs_f64(self.draw(args.latency_s));
        let breaks = self.random.chance(args.broken);
        self.add(answered, if breaks { Step::Breaks(request) } else { Step::IsAnswered(request) });
    }

    fn retry(&mut self, request: Request, class: ProviderFailureClass, now: Duration) {
        if request.attempt >= self.settings.max_attempts {
            self.tally.unanswered += 1;
            self.workers[request.worker].open -= 1;
            return;
        }
        let failure = ProviderFailure {
            class,
            status: None,
            message: String::new(),
            retry_after_ms: None,
            usage: None,
        };
        let path = request.number.to_string();
        let wait = retry_wait(&self.settings, self.args.seed, &path, request.attempt, &failure);
        self.add(now + wait, Step::Returns(Request { attempt: request.attempt + 1, ..request }));
    }

    /// A value whose logarithm is normal (Box and Muller 1958), by its median.
    fn draw(&mut self, median: f64) -> f64 {
        let (a, b) = (1.0 - self.random.unit(), self.random.unit());
        let normal = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        median * (self.args.spread * normal).exp()
    }
}
