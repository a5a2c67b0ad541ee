//! Other words for one: slips of the keyboard, and names that belong to something else.

use super::{Draft, Flaw};
use crate::ast::{Action, Domain};
use crate::name::Name;
use crate::print::print_action;

/// The action under every other name that is a slip for its own, or another action's.
pub(super) fn names(domain: &Domain, action: &Action) -> Vec<Draft> {
    let mut names: Vec<String> = domain.actions.iter().map(|other| other.name.as_str().to_owned()).collect();
    names.extend(slips(action.name.as_str()));
    names.extend(["do-", "try-", "my-"].map(|before| format!("{before}{}", action.name)));
    names.extend(["-action", "-1", "2", "_"].map(|behind| format!("{}{behind}", action.name)));
    let wrong = names.into_iter().filter(|name| !name.eq_ignore_ascii_case(action.name.as_str()));
    wrong
        .map(|name| Draft {
            flaw: Some(Flaw::Name),
            change: format!("called {name}"),
            text: print_action(&Action { name: Name::synthetic(&name), ..action.clone() }),
        })
        .collect()
}

/// A word with a letter left out, written twice, exchanged with the next or replaced; all begin with a letter, and none is the word.
pub(super) fn slips(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let mut made = Vec::new();
    for i in 0..letters.len() {
        let with = |replacement: &[char], skip: usize| -> String {
            letters[..i].iter().chain(replacement).chain(&letters[i + skip..]).collect()
        };
        made.push(with(&[], 1));
        made.push(with(&[letters[i], letters[i]], 1));
        if let Some(&next) = letters.get(i + 1) {
            made.push(with(&[next, letters[i]], 2));
        }
        if letters[i] == '-' {
            made.push(with(&['_'], 1));
        } else {
            made.extend(['e', 'n', 's'].map(|letter| with(&[letter], 1)));
        }
    }
    made.retain(|slip| {
        slip.starts_with(|c: char| c.is_ascii_alphabetic()) && !slip.eq_ignore_ascii_case(word)
    });
    made
}
