//! Actions that were written one by one: the text of each, and its result class, before and after a round.

use super::{ActionChange, ActionClass};
use crate::history::MadeCandidate;
use planforge_contract::ResultClasses;
use std::collections::BTreeMap;

/// The last classification of a candidate's actions, by lower-case name.
pub(super) fn classes(made: &MadeCandidate) -> BTreeMap<String, (String, ActionClass)> {
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
pub(super) fn with_classes(
    actions: &mut Vec<ActionChange>,
    before: &MadeCandidate,
    after: Option<&MadeCandidate>,
) {
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
    use super::super::Rounds;
    use crate::history::History;
    use crate::history::tests::JournalBuilder;
    use planforge_contract::{Assessment, Decision};
    use serde_json::json;

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
