//! Assigns feedback to actions.

use planforge_contract::ActionDescription;

/// The feedback, sorted by action.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// By place of the action.
    about: Vec<Vec<String>>,
}

impl Heard {
    /// An entry that begins ``Action `NAME` `` is about that action. If no entry begins so, all entries are
    /// about each action.
    pub(crate) fn of(feedback: &[String], actions: &[ActionDescription]) -> Self {
        let entries: Vec<&str> =
            feedback.iter().map(|entry| entry.trim()).filter(|e| !e.is_empty()).collect();
        let begins = |entry: &str, name: &str| {
            entry.to_lowercase().starts_with(&format!("action `{}`", name.to_lowercase()))
        };
        let named = entries.iter().any(|entry| actions.iter().any(|action| begins(entry, &action.name)));
        let about = |action: &ActionDescription| {
            let its = entries.iter().filter(|entry| !named || begins(entry, &action.name));
            its.map(|entry| (*entry).to_owned()).collect()
        };
        Self { about: actions.iter().map(about).collect() }
    }

    /// The entries about an action.
    pub(crate) fn about(&self, place: usize) -> Vec<&str> {
        self.about.get(place).into_iter().flatten().map(String::as_str).collect()
    }
}
