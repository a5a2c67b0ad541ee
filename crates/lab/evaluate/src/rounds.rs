//! Rounds of a refinement: the thought, the text, its critique and the change of each action. The
//! test-time-scaling paper's Table 3 is one row of it.

use crate::history::{History, Line, MadeCandidate, TaskHistory};
use planforge_contract::{Assessment, Critique, CritiqueFinding, ResultClasses};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::Domain;
use planforge_pddl::{DefinitionDifference, diff_domains, diff_problems, parse_domain, parse_problem};
use serde::Serialize;
use similar::TextDiff;
use std::collections::BTreeMap;

/// All refined candidates of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Rounds {
    /// Version of this document, 1.
    pub schema: u32,
    /// The tasks that refined a candidate.
    pub tasks: Vec<RefinedTask>,
}

/// A task whose candidates were refined.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RefinedTask {
    /// The task's name in the record.
    pub task: String,
    /// The candidates that went into refine stages.
    pub candidates: Vec<Refinement>,
}

/// A candidate that was refined.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refinement {
    /// The label of the refine stage.
    pub stage: String,
    /// The candidate as it came in: `T_0` and `D_0`.
    pub initial: Version,
    /// The rounds, in order.
    pub rounds: Vec<RefineRound>,
}

/// A candidate's texts.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Version {
    /// The candidate's path.
    pub path: String,
    /// The model's thought, `T_i`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thought: Option<String>,
    /// The domain, or the problem where problems are written: `D_i`.
    pub pddl: String,
}

/// One round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RefineRound {
    /// Number of the round, from 1.
    pub round: u32,
    /// The path of the candidate that it began with.
    pub from: String,
    /// Feedback on that candidate, `F_i`: critiques first.
    pub said: Vec<StageFeedback>,
    /// The candidate of the round; absent if the round has no usable sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<Version>,
    /// Changes in terms of PDDL.
    pub differences: Vec<String>,
    /// Changes as a unified diff of the texts.
    pub diff: String,
    /// The actions that changed or that a critique names.
    pub actions: Vec<ActionChange>,
}

/// The result of a stage for a candidate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageFeedback {
    /// The stage's label.
    pub stage: String,
    /// accepted, rejected, undecided, not-comparable.
    pub decision: String,
    /// In one sentence.
    pub summary: String,
    /// The critique, where a critic spoke.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critique: Option<Critique>,
    /// Feedback for the next request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<String>,
}

/// An action before and after a round.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ActionChange {
    /// Its name.
    pub action: String,
    /// The description of the action in the domain's text, if it is named there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its definition before, as written; absent where it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Its definition after, as written; absent where it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Objections of critiques.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<CritiqueFinding>,
    /// Changes in terms of PDDL.
    pub differences: Vec<String>,
    /// Its result class before, where a stage classified it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<ActionClass>,
    /// Its result class after, where a stage classified that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_after: Option<ActionClass>,
}

/// A result class (domain-generators paper, section 3) that a stage gave an action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ActionClass {
    /// The class, such as `NPApp`.
    pub class: String,
    /// The primary class, such as `different domain`.
    pub group: String,
    /// Feedback for the next request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
}

impl Rounds {
    /// Reads the refined candidates of a run: of one task, where it is named. `texts` gives a task's domain in plain language.
    pub fn of(history: &History, task: Option<&str>, texts: impl Fn(&str) -> Option<String>) -> Self {
        let wanted = |known: &&TaskHistory| {
            task.is_none_or(|name| history.task(name).is_some_and(|one| one.task == known.task))
        };
        let told = |task: &TaskHistory| {
            let text = texts(&task.task).unwrap_or_default();
            let candidates = task.lines().iter().filter_map(|line| read_refinement(line, &text)).collect();
            RefinedTask { task: task.task.clone(), candidates }
        };
        let tasks = history.tasks.iter().filter(wanted).map(told);
        Self { schema: 1, tasks: tasks.filter(|task| !task.candidates.is_empty()).collect() }
    }

    /// Leaves the actions of that name (case does not count) and nothing of other actions; whether there is any.
    pub fn keep_action(&mut self, name: &str) -> bool {
        let place = format!("action {name}").to_lowercase();
        let about = |text: &String| {
            let text = text.to_lowercase();
            text.strip_prefix(&place)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_'))
        };
        let mut any = false;
        let candidates = self.tasks.iter_mut().flat_map(|task| &mut task.candidates);
        for round in candidates.flat_map(|candidate| &mut candidate.rounds) {
            round.actions.retain(|action| action.action.eq_ignore_ascii_case(name));
            round.differences.retain(about);
            any |= !round.actions.is_empty();
        }
        any
    }
}

fn read_refinement(line: &Line<'_>, text: &str) -> Option<Refinement> {
    let root = line.root?;
    let refined = Refined::of(root, line);
    let mut current = root;
    let rounds = line.rounds.iter().map(|(number, made)| {
        let from = current;
        current = made.unwrap_or(current);
        round(*number, refined, (from, *made), text)
    });
    let rounds = rounds.collect();
    Some(Refinement { stage: line.stage.to_owned(), initial: refined.version(root), rounds })
}

/// The artefact that the rounds of a candidate rewrite. A candidate has both texts where its problem was written
/// before the rounds about its domain began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refined {
    Domain,
    Problem,
}

impl Refined {
    /// The artefact that the rounds wrote; if they wrote none, the one that was written last before them.
    fn of(root: &MadeCandidate, line: &Line<'_>) -> Self {
        let made = || line.rounds.iter().filter_map(|(_, made)| *made);
        let wrote_problem = |made: &MadeCandidate| made.patch.problem.is_some();
        if made().any(|made| made.patch.domain.is_some()) {
            Self::Domain
        } else if made().any(wrote_problem) || wrote_problem(root) && root.patch.domain.is_none() {
            Self::Problem
        } else {
            Self::Domain
        }
    }

    fn text(self, made: &MadeCandidate) -> &str {
        let text = match self {
            Self::Domain => &made.candidate.domain,
            Self::Problem => &made.candidate.problem,
        };
        text.as_deref().unwrap_or_default()
    }

    fn version(self, made: &MadeCandidate) -> Version {
        let pddl = self.text(made).to_owned();
        Version { path: made.path.clone(), thought: made.candidate.thought.clone(), pddl }
    }
}

fn round(
    number: u32,
    refined: Refined,
    (from, made): (&MadeCandidate, Option<&MadeCandidate>),
    text: &str,
) -> RefineRound {
    let mut said: Vec<StageFeedback> =
        from.assessments.iter().map(|(stage, assessment)| read_feedback(stage, assessment)).collect();
    said.retain(|said| said.critique.is_some() || !said.feedback.is_empty());
    // Stable, so that stages keep the order of their labels.
    said.sort_by_key(|said| said.critique.is_none());
    let before = refined.text(from);
    let after = made.map(|made| refined.text(made));
    let (differences, mut actions) = match after {
        Some(after) => changes(before, after, &said, text),
        None => (Vec::new(), Vec::new()),
    };
    with_classes(&mut actions, from, made);
    let diff = after.map(|after| {
        TextDiff::from_lines(before, after)
            .unified_diff()
            .context_radius(2)
            .header("before", "after")
            .to_string()
    });
    RefineRound {
        round: number,
        from: from.path.clone(),
        said,
        made: made.map(|made| refined.version(made)),
        differences: differences.iter().map(ToString::to_string).collect(),
        diff: diff.unwrap_or_default(),
        actions,
    }
}

fn read_feedback(stage: &str, assessment: &Assessment) -> StageFeedback {
    // The evidence of other verifiers has none of these keys.
    let is_critique =
        assessment.evidence.get("findings").is_some() && assessment.evidence.get("reply").is_some();
    let critique = is_critique.then(|| serde_json::from_value(assessment.evidence.clone()).ok()).flatten();
    StageFeedback {
        stage: stage.to_owned(),
        decision: assessment.decision.name().to_owned(),
        summary: assessment.summary.clone(),
        critique,
        feedback: assessment.feedback.clone(),
    }
}

fn changes(
    before: &str,
    after: &str,
    said: &[StageFeedback],
    text: &str,
) -> (Vec<DefinitionDifference>, Vec<ActionChange>) {
    let is_problem = |text: &str| text.to_lowercase().contains("(problem ");
    if is_problem(before) || is_problem(after) {
        let parse = |text| parse_problem(text, SourceId(0)).value;
        return (diff_problems(&parse(before), &parse(after)), Vec::new());
    }
    let parse = |text| parse_domain(text, SourceId(0)).value;
    let (old, new) = (parse(before), parse(after));
    let differences = diff_domains(&old, &new);
    let findings: Vec<&CritiqueFinding> = said
        .iter()
        .filter_map(|said| said.critique.as_ref())
        .flat_map(|critique| &critique.findings)
        .collect();
    let mut names: Vec<String> = Vec::new();
    for action in old.actions.iter().chain(&new.actions) {
        let name = action.name.to_string();
        if !name.is_empty() && !names.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            names.push(name);
        }
    }
    let actions = names.into_iter().filter_map(|name| {
        let place = format!("action {}", name.to_lowercase());
        let own: Vec<String> = differences
            .iter()
            .filter(|difference| {
                let found = difference.place.to_lowercase();
                found.strip_prefix(&place).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
                    || found == "action"
                        && [&difference.before, &difference.after]
                            .iter()
                            .any(|shown| shown.as_deref() == Some(name.as_str()))
            })
            .map(ToString::to_string)
            .collect();
        let against = |finding: &&&CritiqueFinding| match &finding.action {
            Some(action) => action.eq_ignore_ascii_case(&name),
            None => [&finding.place, &finding.finding].iter().any(|text| names_action(text, &name)),
        };
        let findings: Vec<CritiqueFinding> =
            findings.iter().filter(against).map(|finding| (*finding).clone()).collect();
        let (before, after) = (slice(&old, before, &name), slice(&new, after, &name));
        // A change that only moves spaces is none.
        let differs = !own.is_empty() || before.is_some() != after.is_some();
        (differs || !findings.is_empty()).then(|| ActionChange {
            text: sentence(text, &name),
            action: name,
            before,
            after,
            findings,
            differences: own,
            ..ActionChange::default()
        })
    });
    let actions = actions.collect();
    (differences, actions)
}

fn slice(domain: &Domain, text: &str, name: &str) -> Option<String> {
    let action = domain.actions.iter().find(|action| action.name.as_str().eq_ignore_ascii_case(name))?;
    text.get(action.span.range()).map(str::to_owned)
}

/// True if a text names an action: as a word, with a blank in place of `-` or `_` too.
fn names_action(text: &str, name: &str) -> bool {
    let spelt = |text: &str| text.to_lowercase().replace(['-', '_'], " ");
    let (text, name) = (spelt(text), spelt(name));
    let part_of_word = |c: char| c.is_alphanumeric();
    text.match_indices(&name).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(part_of_word) && !after.is_some_and(part_of_word)
    })
}

/// The first paragraph or line of a text that names an action.
fn sentence(text: &str, name: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && names_action(line, name))?;
    Some(line.chars().take(600).collect())
}

/// The last classification of a candidate's actions, by lower-case name.
fn classes(made: &MadeCandidate) -> BTreeMap<String, (String, ActionClass)> {
    let mut all = BTreeMap::new();
    for assessment in made.assessments.values() {
        let evidence = &assessment.evidence;
        // The evidence of other verifiers has actions without classes, or none.
        let classified = evidence["actions"].as_array().is_some_and(|actions| {
            !actions.is_empty() && actions.iter().all(|action| action["class"].is_string())
        });
        let Some(read) =
            classified.then(|| serde_json::from_value::<ResultClasses>(evidence.clone()).ok()).flatten()
        else {
            continue;
        };
        for one in read.actions {
            let key = one.name.to_lowercase();
            let begin = format!("action `{key}`");
            let about = |entry: &&String| entry.trim_start().to_lowercase().starts_with(&begin);
            let said = ActionClass {
                class: one.class,
                group: one.group,
                told: assessment.feedback.iter().find(about).cloned(),
            };
            all.insert(key, (one.name, said));
        }
    }
    all
}

/// Adds the texts and classes of actions that were written one by one. A reader's repair of broken text is
/// not the action's text, so the text as written replaces it. Actions with a known class or change are
/// listed.
fn with_classes(actions: &mut Vec<ActionChange>, before: &MadeCandidate, after: Option<&MadeCandidate>) {
    let (said_before, said_after) = (classes(before), after.map(classes).unwrap_or_default());
    let texts = |made: &MadeCandidate| made.candidate.texts.actions.clone();
    let (old, new) = (texts(before), after.map(texts).unwrap_or_default());
    let keys = old.keys().chain(new.keys()).cloned();
    let mut names: Vec<String> =
        keys.chain(said_before.keys().cloned()).chain(said_after.keys().cloned()).collect();
    names.sort();
    names.dedup();
    for key in names {
        let written = |texts: &BTreeMap<String, String>| texts.get(&key).cloned();
        let (first, second) = (written(&old), written(&new));
        let class = said_before.get(&key).map(|(_, said)| said.clone());
        let class_after = said_after.get(&key).map(|(_, said)| said.clone());
        let differs = after.is_some() && words(first.as_deref()) != words(second.as_deref());
        let told = class.as_ref().is_some_and(|class| class.told.is_some());
        let known = actions.iter_mut().find(|action| action.action.eq_ignore_ascii_case(&key));
        let change = match known {
            Some(known) => known,
            None if !differs && !told => continue,
            None => {
                let named = said_before.get(&key).or_else(|| said_after.get(&key));
                let action = named.map_or_else(|| key.clone(), |(name, _)| name.clone());
                actions.push(ActionChange { action, ..ActionChange::default() });
                let Some(last) = actions.last_mut() else { continue };
                last
            }
        };
        if first.is_some() || second.is_some() {
            change.before = first;
            change.after = second;
        }
        change.class = class;
        change.class_after = class_after;
    }
}

/// A text without what spaces do.
fn words(text: Option<&str>) -> Vec<&str> {
    text.unwrap_or_default().split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::JournalBuilder;
    use planforge_contract::Decision;
    use serde_json::json;

    const BEFORE: &str = "(define (domain kitchen)\n  (:predicates (hot) (full) (cold))\n  (:action boil-up\n    :parameters ()\n    \
                          :precondition (hot)\n    :effect (hot))\n  (:action pour\n    :parameters ()\n    :precondition (hot)\n    :effect (full)))\n";

    fn critique() -> Assessment {
        let critique = Critique {
            approves: Some(false),
            findings: vec![CritiqueFinding {
                finding: "boil up needs a cold kettle".to_owned(),
                place: "the precondition of boil_up".to_owned(),
                change: "require (cold)".to_owned(),
                ..CritiqueFinding::default()
            }],
            form: "structured".to_owned(),
            reply: "...".to_owned(),
            ..Critique::default()
        };
        let mut assessment = Assessment::new(Decision::Rejected, "1 finding");
        assessment.evidence = serde_json::to_value(critique).unwrap();
        assessment
    }

    fn told() -> Rounds {
        let journal = JournalBuilder::new();
        let root = journal.made("s.p01", "domain/0", BEFORE, None);
        journal.assessed("s.p01", "critique", &root, &critique());
        let mut errors = Assessment::new(Decision::Accepted, "no errors");
        errors.evidence = serde_json::json!({"trace": []});
        journal.assessed("s.p01", "pddl", &root, &errors);
        let after = BEFORE.replacen(":precondition (hot)", ":precondition (cold)", 1);
        let better = journal.made("s.p01", "domain/0 update#1/0", &after, None);
        journal.round("s.p01", &root, 1, Some(&better));
        journal.round("s.p01", &root, 2, None);
        journal.made("s.p02", "domain/0", BEFORE, None);
        let history = History::read(&journal.0).unwrap();
        Rounds::of(&history, None, |_| Some("A kitchen.\nTo boil up, the kettle must be cold.\n".to_owned()))
    }

    #[test]
    fn a_row_of_table_3_has_text_before_critique_and_after() {
        let told = told();
        assert_eq!(told.tasks.len(), 1, "p02 refined nothing");
        let refined = &told.tasks[0].candidates[0];
        assert_eq!((refined.stage.as_str(), refined.rounds.len()), ("ivml", 2));
        assert_eq!(refined.initial.thought.as_deref(), Some("thought of domain/0"));
        let round = &refined.rounds[0];
        assert_eq!(round.said.len(), 1, "a stage that had nothing to say is left out");
        let action = &round.actions[0];
        assert_eq!((round.actions.len(), action.action.as_str()), (1, "boil-up"));
        assert_eq!(action.text.as_deref(), Some("To boil up, the kettle must be cold."));
        assert!(action.before.as_ref().unwrap().contains(":precondition (hot)"));
        assert!(action.after.as_ref().unwrap().contains(":precondition (cold)"));
        assert_eq!(action.findings[0].change, "require (cold)");
        assert!(!action.differences.is_empty() && !round.differences.is_empty());
        assert!(round.diff.contains("-    :precondition (hot)\n+    :precondition (cold)"), "{}", round.diff);
        assert!(refined.rounds[1].made.is_none() && refined.rounds[1].actions.is_empty());
    }

    /// P&D: the problem is written first, and the rounds rewrite the domain.
    #[test]
    fn rounds_about_a_domain_compare_domains_where_a_problem_was_written_before() {
        let journal = JournalBuilder::new();
        let problem = "(define (problem tea) (:domain kitchen) (:init) (:goal (full)))";
        let root = journal.patched("s.p01", "problem/0", [BEFORE, problem], false);
        let after = BEFORE.replacen(":precondition (hot)", ":precondition (cold)", 1);
        let better = journal.patched("s.p01", "problem/0 edit#1/0", [&after, problem], true);
        journal.round("s.p01", &root, 1, Some(&better));
        let history = History::read(&journal.0).unwrap();
        let told = Rounds::of(&history, None, |_| None);
        let refined = &told.tasks[0].candidates[0];
        assert_eq!(refined.initial.pddl, BEFORE);
        let round = &refined.rounds[0];
        assert_eq!(round.actions[0].action, "boil-up", "{:?}", round.differences);
        assert!(round.diff.contains("-    :precondition (hot)\n+    :precondition (cold)"), "{}", round.diff);
        assert!(!round.diff.contains("problem tea"), "{}", round.diff);
    }

    #[test]
    fn one_action_can_be_selected() {
        let mut one = told();
        assert!(one.keep_action("BOIL-UP"));
        assert!(!one.tasks[0].candidates[0].rounds[0].differences.is_empty());
        let mut none = told();
        assert!(!none.keep_action("boil"));
        assert!(none.tasks[0].candidates[0].rounds[0].differences.is_empty());
    }

    fn judged(pick: &str, drop: &str, told: &[&str]) -> Assessment {
        let mut assessment = Assessment::new(Decision::Rejected, "1 of 2 actions is equivalent");
        let one = |name: &str, class: &str| json!({"name": name, "class": class, "group": "g"});
        assessment.evidence = json!({"problems": 2, "actions": [one("Pick", pick), one("drop", drop)]});
        assessment.feedback = told.iter().map(|entry| (*entry).to_owned()).collect();
        assessment
    }

    #[test]
    fn actions_have_their_text_and_class_before_and_after() {
        let journal = JournalBuilder::new();
        let texts = |pick: &str| {
            [
                ("action.pick".to_owned(), pick.to_owned()),
                ("action.drop".to_owned(), "(:action drop)".to_owned()),
            ]
        };
        // Broken text: the reader of domains finds no action in it.
        let root = journal.written(
            "s.p01",
            "actions/0",
            "(define (domain d) (:action pick :par",
            &texts("(:action pick :par"),
        );
        journal.assessed(
            "s.p01",
            "look",
            &root,
            &judged("PError", "Equivalent", &["Action `pick`: the parentheses do not match"]),
        );
        let good = "(:action pick :parameters () :effect (p))";
        let domain = format!("(define (domain d) (:predicates (p)) {good} (:action drop))");
        let better = journal.written("s.p01", "actions/0 again#1/0", &domain, &texts(good));
        journal.assessed("s.p01", "look", &better, &judged("Equivalent", "Equivalent", &[]));
        journal.round("s.p01", &root, 1, Some(&better));
        let history = History::read(&journal.0).unwrap();
        let told = Rounds::of(&history, None, |_| None);
        let actions = &told.tasks[0].candidates[0].rounds[0].actions;
        let pick = actions.iter().find(|action| action.action.eq_ignore_ascii_case("pick")).unwrap();
        assert_eq!(pick.before.as_deref(), Some("(:action pick :par"));
        assert_eq!(pick.after.as_deref(), Some(good));
        let (class, after) = (pick.class.as_ref().unwrap(), pick.class_after.as_ref().unwrap());
        assert_eq!((class.class.as_str(), after.class.as_str()), ("PError", "Equivalent"));
        assert_eq!(class.told.as_deref(), Some("Action `pick`: the parentheses do not match"));
        assert!(after.told.is_none());
        let mut alone = told.clone();
        assert!(alone.keep_action("PICK"));
        assert_eq!(alone.tasks[0].candidates[0].rounds[0].actions.len(), 1);
    }
}
