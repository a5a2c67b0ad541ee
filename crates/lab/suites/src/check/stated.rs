//! Facts of a problem that its text does not state.

use crate::codes;
use crate::ladder::{Axes, Finding, Lexicon, Part, Task, read_text};
use crate::rendering::find_unmentioned;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::{Domain, InitElement, Problem};
use planforge_pddl::parse_domain;
use planforge_pipeline::Suite;
use std::collections::BTreeMap;

/// Axis and gap of a task of the ladder.
pub(super) struct RungText<'a> {
    pub(super) axis: &'a str,
    pub(super) gap: Option<&'a str>,
}

/// Most findings of one text that are reported one by one.
const SHOWN: usize = 5;

/// Reads a generated text back.
pub(super) fn check_rung(
    suite: &Suite,
    problem: &Problem,
    rung: &RungText<'_>,
    text: &str,
    source: SourceId,
) -> Vec<Diagnostic> {
    let report = |message: String| {
        Diagnostic::warning(codes::UNSTATED, message)
            .at(source, Span::empty(0), "")
            .help("generate the task anew, or correct its text or ladder.toml")
    };
    let domain = suite.reference_domain.as_deref().map(|text| parse_domain(text, SourceId(0)).value);
    let (axes, lexicon, task) = match read_parts(suite, domain.as_ref(), problem, rung) {
        Ok(parts) => parts,
        Err(why) => return vec![report(format!("the text was not read back: {why}"))],
    };
    let gap = rung.gap.and_then(|gap| task.facts.iter().find(|fact| fact.to_string() == gap));
    if let Some(missing) = rung.gap.filter(|_| gap.is_none()) {
        return vec![report(format!(
            "suite.toml says that the text leaves out {missing}, which the problem lacks"
        ))];
    }
    let found = read_text(&lexicon, &task, &axes, text, gap);
    let mut reports: Vec<Diagnostic> = found
        .iter()
        .take(SHOWN)
        .map(|finding| match finding {
            Finding::Sentence(sentence) => report(format!("this sentence is not understood: {sentence}")),
            Finding::Missing(fact) => report(format!("no sentence states {fact} (axis {axes})")),
            Finding::Wrong(fact) => {
                report(format!("the text states {fact}, which the problem lacks (axis {axes})"))
            }
            Finding::Object(object) => report(format!("text and problem differ in the object `{object}`")),
            Finding::TellsGap(fact) => {
                report(format!("the text denies {fact}, which tells the fact that it leaves out"))
            }
        })
        .collect();
    if let Some(more) = found.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        reports.push(report(format!("and {more} more of the same text")));
    }
    reports
}

fn read_parts(
    suite: &Suite,
    domain: Option<&Domain>,
    problem: &Problem,
    rung: &RungText<'_>,
) -> Result<(Axes, Lexicon, Task), String> {
    let axes: Axes = rung.axis.parse()?;
    let text = suite.ladder.as_deref().ok_or("the suite has no ladder.toml")?;
    let lexicon = Lexicon::parse(text)?;
    let domain = domain.ok_or("the suite has no domain.pddl")?;
    Ok((axes, lexicon, Task::new(domain, problem)?))
}

/// Searches a text for the objects of each fact of two or more, and for each number; one report for each predicate.
pub(super) fn check_pairs(problem: &Problem, text: &str, source: SourceId) -> Vec<Diagnostic> {
    let lines: Vec<&str> = text.lines().collect();
    let mut missing: BTreeMap<(Part, String), Vec<String>> = BTreeMap::new();
    // The domain is not needed: types play no role here. A goal that is not a list of facts is not searched.
    if let Ok(task) = Task::new(&Domain::default(), &Problem { init: facts_only(problem), ..problem.clone() })
    {
        for fact in task.facts.iter().filter(|fact| fact.arguments.len() > 1) {
            let names = || fact.arguments.iter().map(String::as_str);
            if !lines.iter().any(|line| find_unmentioned(line, names()).is_empty()) {
                missing.entry((fact.part, fact.predicate.clone())).or_default().push(fact.to_string());
            }
        }
    }
    for element in &problem.init {
        if let InitElement::Value(fluent, number, _) = element {
            let number = number.to_string();
            if !fluent.function.is("total-cost") && !find_unmentioned(text, [number.as_str()]).is_empty() {
                let fact = format!("({} = {number})", fluent.function);
                missing.entry((Part::Init, fluent.function.key().to_owned())).or_default().push(fact);
            }
        }
    }
    let report = |facts: Vec<String>| {
        let first = facts.first()?;
        let more = match facts.len() {
            1 => String::new(),
            n => format!(" (and {} more of this kind)", n - 1),
        };
        let message = format!("no line of the text names everything in {first}{more}");
        let help = "add a sentence if a reader of the text cannot know the fact";
        Some(Diagnostic::advice(codes::UNSTATED, message).at(source, Span::empty(0), "").help(help))
    };
    missing.into_values().filter_map(report).collect()
}

fn facts_only(problem: &Problem) -> Vec<InitElement> {
    problem.init.iter().filter(|element| matches!(element, InitElement::Atom(_))).cloned().collect()
}
