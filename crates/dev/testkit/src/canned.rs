//! A loopback model with prepared replies, right and wrong, for the suites `parcels` and `garden`. The reply
//! depends on the request alone, so two runs with the same requests get the same replies.

use crate::scripted::{Choice, Scripted, ScriptedRequest};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Suites with replies.
pub const SUITES: [&str; 2] = ["garden", "parcels"];

/// The domain of each suite as calls of the edit functions, one line per action.
const EDITS: [(&str, &[&str]); 2] = [
    (
        "garden",
        &[
            "add_or_update_predicates([\"(path ?a ?b - place)\", \"(gardener-at ?p - place)\", \"(can-full)\", \"(can-empty)\", \
             \"(dry ?b - bed)\", \"(watered ?b - bed)\", \"(picked ?b - bed)\"])",
            "modify_action(\"walk\", [\"(gardener-at ?from)\", \"(path ?from ?to)\"], [\"(gardener-at ?to)\", \"(not (gardener-at ?from))\"])",
            "modify_action(\"fill\", [\"(gardener-at ?t)\", \"(can-empty)\"], [\"(can-full)\", \"(not (can-empty))\"])",
            "modify_action(\"water\", [\"(gardener-at ?b)\", \"(can-full)\", \"(dry ?b)\"], \
             [\"(watered ?b)\", \"(can-empty)\", \"(not (can-full))\", \"(not (dry ?b))\"])",
            "modify_action(\"pick\", [\"(gardener-at ?b)\", \"(watered ?b)\"], [\"(picked ?b)\", \"(dry ?b)\", \"(not (watered ?b))\"])",
        ],
    ),
    (
        "parcels",
        &[
            "add_or_update_predicates([\"(road ?from ?to - town)\", \"(van-at ?t - town)\", \"(parcel-at ?p - parcel ?t - town)\", \
             \"(in-van ?p - parcel)\", \"(van-empty)\"])",
            "modify_action(\"drive\", [\"(van-at ?from)\", \"(road ?from ?to)\"], [\"(van-at ?to)\", \"(not (van-at ?from))\"])",
            "modify_action(\"load\", [\"(van-at ?t)\", \"(parcel-at ?p ?t)\", \"(van-empty)\"], \
             [\"(in-van ?p)\", \"(not (parcel-at ?p ?t))\", \"(not (van-empty))\"])",
            "modify_action(\"unload\", [\"(van-at ?t)\", \"(in-van ?p)\"], [\"(parcel-at ?p ?t)\", \"(van-empty)\", \"(not (in-van ?p))\"])",
        ],
    ),
];

/// A number that depends on every byte of a text.
pub fn hash(bytes: &[u8]) -> u64 {
    let sum = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
    mix(sum)
}

/// Spreads a number over all bits.
pub fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A task with its text and its PDDL problem.
#[derive(Debug)]
struct CannedTask {
    suite: &'static str,
    text: String,
    problem: String,
}

#[derive(Debug)]
pub struct CannedModel {
    tasks: Vec<CannedTask>,
    /// An answer takes up to so many milliseconds.
    most_ms: u64,
}

impl CannedModel {
    /// Reads the tasks of a folder of suites. Each reply is delayed by up to `most_ms` milliseconds.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn new(suites: &Path, most_ms: u64) -> io::Result<Self> {
        let mut tasks = Vec::new();
        for suite in SUITES {
            for entry in fs::read_dir(suites.join(suite))? {
                let path = entry?.path();
                let with = path.with_extension("pddl");
                let is_task = path.extension().is_some_and(|e| e == "nl") && !path.ends_with("domain.nl");
                if is_task && with.exists() {
                    let text = fs::read_to_string(&path)?.trim().to_owned();
                    tasks.push(CannedTask { suite, text, problem: fs::read_to_string(with)? });
                }
            }
        }
        Ok(Self { tasks, most_ms })
    }

    /// Returns the reply to this request; equal requests get equal replies after different delays.
    pub fn answer(&self, request: &ScriptedRequest) -> Scripted {
        let body = request.json();
        let of_request = hash(request.body.as_bytes());
        let Some(messages) = body["messages"].as_array() else {
            return Scripted::error(400, "scripted", "there are no messages");
        };
        let texts: Vec<&str> = messages.iter().filter_map(|m| m["content"].as_str()).collect();
        // The last task in the text is the one in question; an example precedes it.
        let known = texts.iter().rev().find_map(|text| {
            let place = |task: &&CannedTask| text.rfind(&task.text);
            self.tasks.iter().filter(|task| place(task).is_some()).max_by_key(place)
        });
        let edits = texts.last().is_some_and(|text| text.contains("modify_action"));
        let n = body["n"].as_u64().unwrap_or(1).max(1);
        let Some(task) = known else {
            return Scripted::error(400, "scripted", "this model does not know the task");
        };
        let choice = |index: u64| {
            let draw = mix(of_request ^ mix(index + 1));
            Choice::new(&if edits { edit(task, draw) } else { problem(task, draw) })
        };
        let choices: Vec<Choice> = (0..n).map(choice).collect();
        let wait = mix(of_request ^ request.number as u64) % (self.most_ms + 1);
        Scripted::choices(&choices).delay(Duration::from_millis(wait))
    }
}

/// The right problem, or one with a fact missing, without its end, or no problem.
fn problem(task: &CannedTask, draw: u64) -> String {
    let right = task.problem.trim();
    let pddl = match draw % 8 {
        0 => return "I cannot write this down.".to_owned(),
        1 => right.trim_end_matches(')').to_owned(),
        2 | 3 => {
            let facts: Vec<usize> = right.match_indices("\n    (").map(|(at, _)| at).collect();
            match facts.get((draw >> 8) as usize % facts.len().max(1)) {
                Some(at) => {
                    let end = right[at + 1..].find('\n').map_or(right.len(), |end| at + 1 + end);
                    format!("{}{}", &right[..*at], &right[end..])
                }
                None => right.to_owned(),
            }
        }
        _ => right.to_owned(),
    };
    format!("Here it is ({}).\n\n```pddl\n{pddl}\n```\n", draw % 1000)
}

/// Some of the calls that make the right domain; sometimes all, sometimes none.
fn edit(task: &CannedTask, draw: u64) -> String {
    let calls = EDITS.iter().find(|(suite, _)| *suite == task.suite).map_or(&[][..], |(_, calls)| calls);
    let mut text = format!("What is missing ({}):\n\n```python\n", draw % 1000);
    for (number, call) in calls.iter().enumerate() {
        if draw >> (8 + 2 * number) & 3 != 0 {
            // Writing to a text never fails.
            let _ = writeln!(text, "{call}");
        }
    }
    text + "```\n"
}
