//! Rendering of templates in a child process. minijinja limits the steps of a template, but not the size of its values: `s ~ s`
//! doubles a string in one step. So the process that renders has limits of memory, time and output.
//!
//! A request and its answer are one line of JSON each.

use crate::generate::template::{NoRendering, render};
use crate::paraphrase::functions::render_wording;
use planforge_child::{CommandSpec, Ending, Limits, Session, Trouble};
use planforge_pddl::random::Random;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Address space of the child process.
const MEMORY_BYTES: u64 = 512 << 20;
/// Longest answer. A rendering has at most 1 MiB, and JSON escapes some of its characters.
const ANSWER_BYTES: u64 = 8 << 20;
/// Wall time of one rendering.
const TIME: Duration = Duration::from_secs(30);

/// One rendering, with everything that it depends on.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RenderRequest {
    pub(crate) source: String,
    /// Seed and number of the stream of random choices.
    pub(crate) stream: (u64, u64),
    pub(crate) template: Template,
}

/// The kind of a template and what it is rendered for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Template {
    /// A suite's generator. The answer is a `Rendered`.
    Generator { index: u32, size: u32, name: String },
    /// One wording of a problem. The answer is a `RenderedWording`.
    Wording { domain: String, problem: String },
}

/// Renders templates.
#[derive(Debug)]
pub struct TemplateRenderer {
    /// The command that calls [`serve_renderings`]; `None` to render in this process.
    command: Option<CommandSpec>,
    limits: Limits,
    time: Duration,
    /// Kept for the next rendering.
    session: Mutex<Option<Session>>,
}

impl TemplateRenderer {
    /// Renders in this process, without limits of memory and time. For templates that the caller trusts.
    pub fn in_this_process() -> Self {
        Self::new(None)
    }

    /// Renders in a child process under limits. The command must call [`serve_renderings`].
    pub fn in_child(command: CommandSpec) -> Self {
        Self::new(Some(command))
    }

    fn new(command: Option<CommandSpec>) -> Self {
        let limits =
            Limits { memory_bytes: Some(MEMORY_BYTES), output_bytes: ANSWER_BYTES, ..Limits::default() };
        Self { command, limits, time: TIME, session: Mutex::new(None) }
    }

    pub(crate) fn render<T: DeserializeOwned>(&self, request: &RenderRequest) -> Result<T, NoRendering> {
        let broken = |e: serde_json::Error| NoRendering::wrong(format!("the answer of a rendering: {e}"));
        let answer = match &self.command {
            None => answer(request).map_err(broken)?,
            Some(command) => self.ask_child(command, &serde_json::to_string(request).map_err(broken)?)?,
        };
        serde_json::from_str::<Result<T, NoRendering>>(&answer).map_err(broken)?
    }

    /// Sends a request to the child process, which is started if there is none. A child that gives no answer is killed.
    fn ask_child(&self, command: &CommandSpec, request: &str) -> Result<String, NoRendering> {
        let mut kept = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let mut session = match kept.take() {
            Some(session) => session,
            None => Session::start(command, &self.limits)
                .map_err(|finished| NoRendering::wrong(describe(&Trouble::Ended(finished))))?,
        };
        session.send(request);
        let answer = session.receive(self.time, &|| false).map_err(|e| NoRendering::wrong(describe(&e)))?;
        *kept = Some(session);
        Ok(answer)
    }
}

fn describe(trouble: &Trouble) -> String {
    let process = "the process that renders the template";
    match trouble {
        Trouble::Silent(time) => format!("{process} was killed after its limit of {} s", time.as_secs_f64()),
        // What it said last repeats the limit.
        Trouble::Ended(finished) | Trouble::EndedInLine(_, finished)
            if matches!(finished.ending, Ending::Memory(_) | Ending::OutputLimit(..)) =>
        {
            format!("{process} {}", finished.ending)
        }
        Trouble::Ended(finished) | Trouble::EndedInLine(_, finished) => {
            format!("{process} {}", finished.account())
        }
        Trouble::Cancelled => format!("{process} was interrupted"),
        Trouble::NotUtf8(_) => format!("{process} wrote text that is not UTF-8"),
    }
}

/// Answers the requests of a [`TemplateRenderer`] until the input ends. The caller's process has the limits.
///
/// # Errors
/// A request that is not one, or a stream that breaks.
pub fn serve_renderings(input: impl BufRead, mut output: impl Write) -> std::io::Result<()> {
    for line in input.lines() {
        let request = serde_json::from_str(&line?)?;
        writeln!(output, "{}", answer(&request)?)?;
        output.flush()?;
    }
    Ok(())
}

/// The answer as one line of JSON.
fn answer(request: &RenderRequest) -> serde_json::Result<String> {
    let random = Random::stream(request.stream.0, request.stream.1);
    match &request.template {
        Template::Generator { index, size, name } => {
            serde_json::to_string(&render(&request.source, *index, *size, name, random))
        }
        Template::Wording { domain, problem } => {
            serde_json::to_string(&render_wording(&request.source, domain, problem, random))
        }
    }
}

/// The objects that a text never mentions, in order.
pub(crate) fn find_unmentioned<'a>(text: &str, objects: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let text = text.to_lowercase();
    objects.into_iter().filter(|object| !mentions(&text, &object.to_lowercase())).collect()
}

/// True if a lower-case text has the lower-case name as a word. A text may write `room 1` or `room-1` for
/// `room1`, and a blank for a dash or an underscore.
fn mentions(text: &str, name: &str) -> bool {
    let spaced = name.replace(['-', '_'], " ");
    let split = split_number(&spaced);
    occurs(text, name) || occurs(text, &spaced) || split.is_some_and(|s| occurs(text, &s))
}

/// `room1` as `room 1`; `None` without a number at the end.
fn split_number(name: &str) -> Option<String> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name.get(stem.len()..).filter(|n| !n.is_empty() && !stem.is_empty())?;
    let stem = stem.trim_end();
    Some(format!("{stem} {number}"))
}

fn occurs(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(word).any(|(at, found)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let mut after = text.get(at + found.len()..).unwrap_or_default().chars();
        // A dash after the name belongs to it only where the word goes on: `block-1`, and not `block - red`.
        let next = after.next();
        let goes_on = match next {
            Some('-') => after.next().is_some_and(char::is_alphanumeric),
            Some(c) => part(c),
            None => false,
        };
        !before.is_some_and(part) && !goes_on
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::template::Rendered;

    fn refusal(script: &str, change: impl FnOnce(&mut TemplateRenderer)) -> String {
        let command = CommandSpec::new("/bin/sh").arguments(["-c", script]);
        let mut renderer = TemplateRenderer::in_child(command);
        change(&mut renderer);
        let template = Template::Generator { index: 1, size: 0, name: "t-01".to_owned() };
        let request = RenderRequest { source: String::new(), stream: (1, 1), template };
        match renderer.render::<Rendered>(&request) {
            Err(NoRendering::Wrong { message, line: None }) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_limit_of_the_child_process_is_named() {
        let message = refusal("read -r request; sleep 600", |r| r.time = Duration::from_millis(50));
        assert_eq!(message, "the process that renders the template was killed after its limit of 0.05 s");
        let message =
            refusal("read -r request; while :; do echo -n 12345678; done", |r| r.limits.output_bytes = 1024);
        assert_eq!(
            message,
            "the process that renders the template was killed after writing more than 1 KiB to its standard output"
        );
        let message =
            refusal("read -r request; echo 'memory allocation of 9 bytes failed' >&2; exit 1", |_| {});
        assert_eq!(
            message,
            "the process that renders the template ran out of memory under its limit of 512 MiB"
        );
        let message = refusal("echo no such worker >&2; exit 3", |_| {});
        assert!(message.ends_with("ended with exit code 3; it said: no such worker"), "{message}");
    }

    #[test]
    fn a_request_is_answered_by_one_line() {
        let source = "%% problem\n{{ name }}\n%% text\n{{ index }} {{ integer(1, 9) }}\n".to_owned();
        let template = Template::Generator { index: 4, size: 0, name: "t-04".to_owned() };
        let request = RenderRequest { source, stream: (3, 5), template };
        let here: Rendered = TemplateRenderer::in_this_process().render(&request).unwrap();
        let mut output = Vec::new();
        let line = serde_json::to_string(&request).unwrap() + "\n";
        serve_renderings((line.clone() + &line).as_bytes(), &mut output).unwrap();
        let text = String::from_utf8(output).unwrap();
        assert_eq!(text.lines().count(), 2);
        for line in text.lines() {
            let there: Result<Rendered, NoRendering> = serde_json::from_str(line).unwrap();
            assert_eq!(there.unwrap(), here);
        }
        assert!(serve_renderings(&b"nothing\n"[..], Vec::new()).is_err());
    }
}

#[cfg(test)]
mod mention_tests {
    use super::*;

    #[test]
    fn names_are_words_and_not_parts_of_words() {
        let text = "Robot 1 is in Room-A, next to pos-1-2 and block12. The tray2 holds a-b.";
        let names =
            ["robot1", "room-a", "pos-1-2", "pos-1", "block1", "block12", "tray2", "ray2", "b", "a_b"];
        assert_eq!(find_unmentioned(text, names), ["pos-1", "block1", "ray2", "b", "a_b"]);
    }
}
