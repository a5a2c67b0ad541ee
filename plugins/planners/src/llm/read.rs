//! Reads a plan from a model's reply. Strict on purpose: a line that might be a step but is unreadable is a
//! failure, because without it the plan would be another one.
//!
//! Places of a plan:
//! * the last code block tagged `plan`, else the last code block that holds a step;
//! * without a code block, consecutive lines that are steps in parentheses.
//!
//! Forms of a step, behind an optional number or bullet:
//! * `(name argument ...)`,
//! * `name(argument, ...)`,
//! * `name argument ...`, inside a code block and only if the actions are known: the name is an action's, and the number of arguments is
//!   right. Sentences ("put b1 down on the table") are never read as steps.

use crate::llm::codes;
use planforge_contract::{Failure, FailureClass, FinishReason, Reply};
use planforge_plugin_sdk::reply::filtered_text;

/// A known action: its name in lower case and how many parameters it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownActions {
    pub(crate) name: String,
    pub(crate) arity: usize,
}

/// A fenced block of the reply.
struct Block<'a> {
    tag: &'a str,
    /// Line numbers from 1.
    lines: Vec<(usize, &'a str)>,
}

/// The kind of a line.
enum Line {
    Blank,
    Step(String),
    Other,
}

/// The steps, each as `(name argument ...)`.
pub(crate) fn plan(reply: &Reply, actions: &[KnownActions]) -> Result<Vec<String>, Failure> {
    check_finish(reply)?;
    let blocks = blocks(&reply.content);
    let holds_step =
        |b: &&Block<'_>| b.lines.iter().any(|(_, l)| matches!(classify(l, actions, true), Line::Step(_)));
    let tagged = blocks.iter().rev().find(|b| b.tag.eq_ignore_ascii_case("plan"));
    match tagged.or_else(|| blocks.iter().rev().find(holds_step)) {
        Some(block) => block_steps(block, actions),
        None => loose_steps(&reply.content, actions),
    }
}

/// The steps of a reply that was to check each of them: of the block tagged `plan`; else of the lines `Step 1: (name argument ...)`,
/// where their numbers go up from 1; else of a JSON object; else as [`plan`] finds them.
pub(crate) fn checked_plan(reply: &Reply, actions: &[KnownActions]) -> Result<Vec<String>, Failure> {
    check_finish(reply)?;
    let blocks = blocks(&reply.content);
    if let Some(block) = blocks.iter().rev().find(|b| b.tag.eq_ignore_ascii_case("plan")) {
        return block_steps(block, actions);
    }
    if let Some(steps) = numbered_steps(&reply.content, actions)? {
        return Ok(steps);
    }
    match crate::llm::claims::plan_in_json(&reply.content) {
        Some(listed) => {
            let lines = listed.iter().enumerate().map(|(i, l)| (i + 1, l.as_str())).collect();
            block_steps(&Block { tag: "plan", lines }, actions)
        }
        None => plan(reply, actions),
    }
}

/// The lines `Step N: (name argument ...)`, N from 1 up; `None` where the lines are none or are numbered otherwise.
fn numbered_steps(text: &str, actions: &[KnownActions]) -> Result<Option<Vec<String>>, Failure> {
    let mut lines: Vec<(usize, &str)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_matches(|c: char| c.is_whitespace() || "*#`".contains(c));
        let Some(rest) = line.get(..5).filter(|w| w.eq_ignore_ascii_case("step ")).map(|_| &line[5..]) else {
            continue;
        };
        let body = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &rest[..rest.len() - body.len()];
        let Some(body) = body.trim_start_matches('*').strip_prefix([':', '.', ')']) else { continue };
        if digits.parse() != Ok(lines.len() + 1) {
            return Ok(None);
        }
        let body = body.trim_matches(|c: char| c.is_whitespace() || c == '*');
        // Text after a step in parentheses is a remark.
        let end = body.starts_with('(').then(|| body.find(')')).flatten().map_or(body.len(), |at| at + 1);
        lines.push((index + 1, &body[..end]));
    }
    match lines.is_empty() {
        true => Ok(None),
        false => block_steps(&Block { tag: "plan", lines }, actions).map(Some),
    }
}

/// Refuses a reply that the server ended early.
pub(crate) fn check_finish(reply: &Reply) -> Result<(), Failure> {
    match reply.finish {
        FinishReason::Length => Err(Failure::new(
            FailureClass::Reply,
            codes::CUT_OFF,
            "the server cut the reply off at its token limit",
        )
        .help("raise `max_tokens` of the role")),
        FinishReason::ContentFilter => {
            Err(Failure::new(FailureClass::Reply, codes::FILTERED, filtered_text(reply)))
        }
        FinishReason::Stop | FinishReason::Other => Ok(()),
    }
}

fn block_steps(block: &Block<'_>, actions: &[KnownActions]) -> Result<Vec<String>, Failure> {
    let mut steps = Vec::new();
    let mut strange = Vec::new();
    for (number, line) in &block.lines {
        match classify(line, actions, true) {
            Line::Blank => {}
            Line::Step(step) => steps.push(step),
            Line::Other => strange.push(format!("line {number}: {}", line.trim())),
        }
    }
    match strange.is_empty() {
        true => Ok(steps),
        false => Err(Failure::new(
            FailureClass::Reply,
            codes::UNREADABLE_STEP,
            format!("the plan in the reply has lines that are not steps\n{}", strange.join("\n")),
        )
        .help("a step is written `(name argument ...)`")),
    }
}

fn loose_steps(text: &str, actions: &[KnownActions]) -> Result<Vec<String>, Failure> {
    let mut steps: Vec<String> = Vec::new();
    let mut runs = 0;
    let mut within = false;
    for line in text.lines() {
        match classify(line, actions, false) {
            Line::Blank => {}
            Line::Step(step) => {
                runs += usize::from(!within);
                within = true;
                steps.push(step);
            }
            Line::Other => within = false,
        }
    }
    match runs {
        0 => Err(Failure::new(FailureClass::Reply, codes::NO_PLAN, "the reply holds no plan")
            .help("ask again, or show the model an example: `example.text` and `example.plan` of the suite")),
        1 => Ok(steps),
        _ => Err(Failure::new(
            FailureClass::Reply,
            codes::SCATTERED_PLAN,
            format!(
                "steps stand in {runs} places of the reply, with text between them and without a code block"
            ),
        )
        .help("ask for a code block in the system text")),
    }
}

/// The fenced blocks; one that is not closed reaches to the end.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (index, line) in text.lines().enumerate() {
        match (line.trim().strip_prefix("```"), open.take()) {
            (Some(_), Some(block)) => blocks.push(block),
            (Some(tag), None) => open = Some(Block { tag: tag.trim(), lines: Vec::new() }),
            (None, Some(mut block)) => {
                block.lines.push((index + 1, line));
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    blocks.extend(open);
    blocks
}

fn classify(line: &str, actions: &[KnownActions], in_block: bool) -> Line {
    let line = line.split(';').next().unwrap_or_default();
    let line = line.trim().trim_matches('`').trim_end_matches(['.', ',']).trim();
    if line.is_empty() {
        return Line::Blank;
    }
    let body = strip_bullet(line).trim().trim_matches('`').trim();
    let step = parse_parenthesised(body)
        .or_else(|| in_block.then(|| functional(body)).flatten())
        .or_else(|| in_block.then(|| bare(body, actions)).flatten());
    step.map_or(Line::Other, Line::Step)
}

/// Takes `3.`, `3)`, `3:`, `Step 3:`, `-` or `*` off the front.
fn strip_bullet(line: &str) -> &str {
    if let Some(rest) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
        return rest;
    }
    let numbered =
        line.get(..5).filter(|w| w.eq_ignore_ascii_case("step ")).map_or(line, |w| &line[w.len()..]);
    let rest = numbered.trim_start_matches(|c: char| c.is_ascii_digit());
    match (rest.len() < numbered.len(), rest.strip_prefix(['.', ')', ':'])) {
        (true, Some(rest)) => rest,
        _ => line,
    }
}

fn parse_parenthesised(body: &str) -> Option<String> {
    let inner = body.strip_prefix('(')?.strip_suffix(')')?;
    let words: Vec<&str> = inner.split_whitespace().collect();
    step(&words)
}

fn functional(body: &str) -> Option<String> {
    let (name, rest) = body.strip_suffix(')')?.split_once('(')?;
    let mut words = vec![name];
    words.extend(rest.split(',').map(str::trim).filter(|_| !rest.trim().is_empty()));
    step(&words)
}

fn bare(body: &str, actions: &[KnownActions]) -> Option<String> {
    let words: Vec<&str> = body.split_whitespace().collect();
    let (name, arguments) = words.split_first()?;
    let known = actions.iter().any(|a| a.name == name.to_lowercase() && a.arity == arguments.len());
    known.then(|| step(&words)).flatten()
}

/// The words as a step, if all are PDDL names.
fn step(words: &[&str]) -> Option<String> {
    let is_name = |w: &&str| {
        w.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_')
            && w.chars().all(|c| c.is_alphanumeric() || "-_+@#/=<>!$%&*~^.".contains(c))
    };
    (!words.is_empty() && words.iter().all(is_name)).then(|| format!("({})", words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(content: &str) -> Reply {
        Reply::new(content, FinishReason::Stop)
    }

    fn known() -> Vec<KnownActions> {
        vec![
            KnownActions { name: "drive".to_owned(), arity: 2 },
            KnownActions { name: "wait".to_owned(), arity: 0 },
        ]
    }

    fn code(content: &str) -> String {
        plan(&reply(content), &known()).unwrap_err().code
    }

    #[test]
    fn a_tagged_block_wins_over_earlier_and_later_ones() {
        let text = "First idea:\n```\n(drive a c)\n```\nBetter:\n```plan\n(drive a b)\n; a note\n\n(drive b c)\n```\nas in\n```\n(drive z z)\n```";
        assert_eq!(plan(&reply(text), &[]).unwrap(), ["(drive a b)", "(drive b c)"]);
    }

    #[test]
    fn the_last_block_with_a_step_is_read_where_none_is_tagged() {
        let text = "```\n(drive a b)\n```\n```pddl\n(drive b c)\n```\n```text\nno step here\n```";
        assert_eq!(plan(&reply(text), &[]).unwrap(), ["(drive b c)"]);
    }

    #[test]
    fn a_block_that_is_not_closed_reaches_to_the_end() {
        assert_eq!(plan(&reply("```plan\n(drive a b)\n(wait)"), &[]).unwrap(), ["(drive a b)", "(wait)"]);
    }

    #[test]
    fn numbers_bullets_and_calls_are_steps() {
        let text = "```plan\n1. (drive a b)\n2) drive(b, c)\nStep 3: drive c d.\n- wait\n* `(wait)`\nwait()\n0: ( drive d  e )\n```";
        let steps =
            ["(drive a b)", "(drive b c)", "(drive c d)", "(wait)", "(wait)", "(wait)", "(drive d e)"];
        assert_eq!(plan(&reply(text), &known()).unwrap(), steps);
    }

    #[test]
    fn a_line_that_is_no_step_fails_the_plan_and_is_quoted() {
        let text = "```plan\n(drive a b)\ndrive from b to c\n(fly (b) c)\n```";
        let failure = plan(&reply(text), &known()).unwrap_err();
        assert_eq!(failure.code, codes::UNREADABLE_STEP);
        assert!(
            failure.message.ends_with("line 3: drive from b to c\nline 4: (fly (b) c)"),
            "{}",
            failure.message
        );
    }

    #[test]
    fn words_without_parentheses_need_a_known_action() {
        assert_eq!(code("```plan\ndrive a\n```"), codes::UNREADABLE_STEP);
        let unknown = plan(&reply("```plan\ndrive a b\n```"), &[]);
        assert_eq!(unknown.unwrap_err().code, codes::UNREADABLE_STEP);
    }

    #[test]
    fn an_empty_tagged_block_is_the_empty_plan() {
        assert!(plan(&reply("Nothing to do:\n```plan\n; empty\n```"), &[]).unwrap().is_empty());
    }

    #[test]
    fn without_a_block_the_steps_must_stand_together() {
        assert_eq!(plan(&reply("The plan is:\n\n(drive a b)\n\n2. (wait)\nDone."), &[]).unwrap().len(), 2);
        assert_eq!(code("(drive a b)\nthen\n(wait)"), codes::SCATTERED_PLAN);
        assert_eq!(code("drive a b\nwait"), codes::NO_PLAN);
        assert_eq!(code(""), codes::NO_PLAN);
    }

    #[test]
    fn a_reply_that_was_cut_off_or_filtered_is_not_read() {
        let cut = Reply { finish: FinishReason::Length, ..reply("```plan\n(wait)\n```") };
        assert_eq!(plan(&cut, &[]).unwrap_err().code, codes::CUT_OFF);
        let held = Reply { finish: FinishReason::ContentFilter, ..reply("(wait)") };
        assert_eq!(plan(&held, &[]).unwrap_err().code, codes::FILTERED);
    }

    #[test]
    fn text_of_other_scripts_never_breaks_the_reader() {
        assert_eq!(code("Schritt für Schritt: «é»\nПлан: нет"), codes::NO_PLAN);
        assert_eq!(code("```plan\n步骤一\n```"), codes::UNREADABLE_STEP);
    }
}
