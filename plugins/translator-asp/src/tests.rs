//! The translator against a scripted host, with the reasoner in this process in place of the child.

use super::*;
use crate::work;
use planforge_plugin_common::translating::ROLE;
use planforge_plugin_sdk::testing::TestHost;

mod child;
mod flow;
mod prompts;
mod sample;

const GRIPPERS: &str = include_str!("../../../examples/suites/grippers/domain.pddl");
const GRIPPERS_TEXT: &str = include_str!("../../../examples/suites/grippers/p01.nl");
const GRIPPERS_PROBLEM: &str = include_str!("../../../examples/suites/grippers/p01.pddl");
const GRIPPERS_KNOWLEDGE: &str = include_str!("../../../examples/suites/grippers/knowledge.lp");
const GRIPPERS_EXAMPLE: &str = include_str!("../../../examples/suites/grippers/p_example.nl");
const GRIPPERS_EXAMPLE_IR: &str = include_str!("../../../examples/suites/grippers/p_example.lp");

/// The representation of p01 of grippers.
const GRIPPERS_IR: &str = "cardinality(room, 3).
object(room1, room).
object(room2, room).
object(room3, room).
init(robot_in(robot1, room3)).
init(empty(robot1, left1)).
init(empty(robot1, right1)).
init(ball_in(ball1, room3)).
init(ball_in(ball2, room1)).
goal(ball_in(ball1, room2)).
";

fn plugin(options: AspTranslatorOptions) -> AspTranslator {
    AspTranslator::create(options, &Secrets::default()).unwrap()
}

/// A host as the real one is to this plugin, with the child's work done here.
fn host(replies: &[&str]) -> TestHost {
    let host = TestHost::for_capabilities(
        PluginKind::Translator,
        Capabilities { worker: true, ..Capabilities::default() },
    )
    .worker(work::work);
    replies.iter().fold(host, |host, reply| host.reply(ROLE, reply))
}

/// p01 of grippers with everything that a pipeline may give.
fn grippers(n: u32) -> TranslateRequest {
    let materials = [
        ("asp.knowledge", GRIPPERS_KNOWLEDGE),
        ("example.text", GRIPPERS_EXAMPLE),
        ("example.ir", GRIPPERS_EXAMPLE_IR),
        (
            "types",
            r#"{"room": "a room", "robot": "a robot", "gripper": "a gripper of a robot", "ball": "a ball"}"#,
        ),
        (
            "predicates",
            r#"{"robot-in": {"yes": "{1} is in {2}."}, "ball-in": {"yes": "{1} lies in {2}."},
                "empty": {"yes": "Gripper {2} of {1} is empty.", "no": "It is not."}, "holds": {"yes": "{1} holds {3} with {2}."}}"#,
        ),
    ];
    TranslateRequest {
        task: TaskView {
            suite: "grippers".into(),
            task: "p01".into(),
            domain_text: String::new(),
            task_text: GRIPPERS_TEXT.into(),
            given: Given { domain: Some(GRIPPERS.into()), problem: None },
            action_interface: None,
            materials: materials.into_iter().collect(),
        },
        n,
        ..TranslateRequest::default()
    }
}

fn of_mode(mode: Mode) -> AspTranslatorOptions {
    AspTranslatorOptions { mode, ..Default::default() }
}

/// The conversation as a person reads it.
fn transcript(messages: &[Message]) -> String {
    messages.iter().map(|m| format!("=== {:?}\n{}\n", m.role, m.content)).collect()
}

/// The question of that number.
fn question(host: &TestHost, number: usize) -> String {
    transcript(&host.requests()[number].1.messages)
}

fn samples(response: TranslateResponse) -> Vec<Result<CandidatePatch, Failure>> {
    response.samples.into_iter().map(Outcome::into_result).collect()
}

/// The only sample.
fn sample(
    options: AspTranslatorOptions,
    host: &TestHost,
    request: &TranslateRequest,
) -> Result<CandidatePatch, Failure> {
    let mut samples = samples(plugin(options).translate(host, request).unwrap());
    assert_eq!(samples.len(), 1);
    samples.remove(0)
}
