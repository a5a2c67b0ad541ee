//! Our times and pymimir's.

use super::{Texts, reference_code_score};
use crate::python_peer::PythonPeer;
use planforge_planning::walk::{GroundingMethod, Semantics};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// Folder and problem of each task.
const TASKS: [(&str, &str); 7] = [
    ("llm-p/grippers", "p01"),
    ("llm-p/termes", "p01"),
    ("llm-p/floortile", "p01"),
    ("llm-p/barman", "p01"),
    ("exploration-walk/childsnack-opt14-strips", "p01"),
    ("classical/miconic", "s10-0"),
    ("classical/hiking-agl14-strips", "testing-3-4-3"),
];

/// pymimir in a separate process.
pub(super) struct Peer(PythonPeer);

impl Peer {
    pub(super) fn start(venv: &Path) -> Result<Self, String> {
        PythonPeer::start(venv, include_str!("peer.py")).map(Self)
    }

    /// One score; `mode` is `grounded` or `lifted`.
    pub(super) fn ask(&mut self, texts: &Texts, mode: &str, seed: u64) -> Result<Value, String> {
        let pair = json!([texts.domain, texts.problem]);
        let request = json!({ "texts": [pair, pair], "mode": mode, "seed": seed });
        self.0.ask(&request)
    }
}

/// Prints the table. Both sides get the same texts in turns, so that both run under the same load; both
/// models of a pair are read and grounded each time.
pub(super) fn run(
    suites: &Path,
    venv: Option<&Path>,
    method: GroundingMethod,
    repeats: usize,
) -> Result<(), String> {
    let mut peer = venv.map(Peer::start).transpose()?;
    println!(
        "One walk score: 100 walks, 50 a direction, lengths cycling 1 to 10, both models read and grounded; least of {repeats}."
    );
    println!(
        "task | ours ms | pymimir ms | of these CPU ms | ours / pymimir | steps a second, walking alone"
    );
    for (folder, problem) in TASKS {
        let texts = readable(&Texts::read(&suites.join(folder), problem)?);
        let (mut ours, mut theirs, mut cpu) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        let mut refused = None;
        for seed in 0..repeats.max(1) as u64 {
            let start = Instant::now();
            let make = || texts.model_by(Semantics::GroundNoOpsDropped, method);
            let (one, two) = (make()?, make()?);
            let (score, _) = reference_code_score(&one, &two, seed)?;
            ours = ours.min(start.elapsed().as_secs_f64());
            if score.score != Some(1.0) {
                return Err(format!("{folder} {problem}: compared with itself it scores {:?}", score.score));
            }
            let Some(peer) = &mut peer else { continue };
            let answer = peer.ask(&texts, "grounded", seed)?;
            refused = answer["error"].as_str().map(str::to_owned);
            theirs = theirs.min(answer["wall"].as_f64().unwrap_or(f64::INFINITY));
            cpu = cpu.min(answer["cpu"].as_f64().unwrap_or(f64::INFINITY));
        }
        let rate = steps_a_second(&texts, method)?;
        let ms = |s: f64| if s.is_finite() { format!("{:.2}", 1e3 * s) } else { "-".to_owned() };
        let against = match (&refused, theirs.min(cpu)) {
            (Some(error), _) => format!("refused: {error}"),
            (None, least) if least.is_finite() => format!("{:.4}", ours / least),
            _ => "-".to_owned(),
        };
        println!("{folder} {problem} | {} | {} | {} | {against} | {rate:.0}", ms(ours), ms(theirs), ms(cpu));
    }
    Ok(())
}

/// Steps walked a second, each executed on both sides, on models that are ready.
fn steps_a_second(texts: &Texts, method: GroundingMethod) -> Result<f64, String> {
    let model = texts.model_by(Semantics::GroundNoOpsDropped, method)?;
    let (mut steps, start) = (0, Instant::now());
    for seed in 0.. {
        steps += reference_code_score(&model, &model, seed)?.1;
        if start.elapsed().as_secs_f64() > 0.3 {
            break;
        }
    }
    Ok(steps as f64 / start.elapsed().as_secs_f64())
}

/// The texts in a form that pymimir can read, for both sides: without comments, without the built-in type
/// `object` among the declared ones, and with the requirement for `not` in preconditions.
fn readable(texts: &Texts) -> Texts {
    let plain = |text: &str| {
        let lines = text.lines().map(|l| l.split(';').next().unwrap_or_default());
        lines.collect::<Vec<_>>().join("\n").to_lowercase()
    };
    let (mut domain, mut problem) = (plain(&texts.domain), plain(&texts.problem));
    let types = domain.find("(:types").and_then(|at| Some(&domain[at..at + domain[at..].find(')')?]));
    let declared =
        types.is_some_and(|t| t.split_whitespace().any(|word| word == "object") && !t.contains("- object"));
    if declared {
        for text in [&mut domain, &mut problem] {
            *text = text
                .replace(" object ", " item ")
                .replace(" object\n", " item\n")
                .replace(" object)", " item)");
        }
    }
    domain = domain.replacen("(:requirements", "(:requirements :negative-preconditions", 1);
    Texts { domain, problem }
}
