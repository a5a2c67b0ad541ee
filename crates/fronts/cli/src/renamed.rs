//! Other names of commands: old ones, accepted with a warning, and short forms. The argument vector is rewritten before it is parsed.

use std::ffi::OsString;

/// Words of a command line, and the words that replace them.
type Renamed = (&'static [&'static str], &'static [&'static str]);

/// Every renamed command. Of two entries that fit, the first one counts.
const RENAMED: &[Renamed] = &[
    (&["plan"], &["pddl", "plan"]),
    (&["validate"], &["pddl", "validate"]),
    (&["ew"], &["pddl", "ew"]),
    (&["equivalent"], &["pddl", "equivalent"]),
    (&["graph"], &["pddl", "graph"]),
    (&["picture"], &["pddl", "picture"]),
    (&["infer"], &["pddl", "infer"]),
    (&["explain-fact"], &["runs", "explain"]),
    (&["rounds"], &["runs", "rounds"]),
    (&["export", "otlp"], &["runs", "export"]),
    (&["merge"], &["evaluate", "merge"]),
    (&["environment", "check"], &["plugins", "try-environment"]),
    (&["environment"], &["plugins", "try-environment"]),
    (&["schema", "--contract"], &["check", "--schema", "contract"]),
    (&["schema"], &["check", "--schema"]),
];

/// Every short form.
const SHORT_FORMS: &[Renamed] = &[
    (&["fmt"], &["pddl", "fmt"]),
    (&["grammar"], &["pddl", "grammar"]),
    (&["tell"], &["pddl", "tell"]),
    (&["lsp"], &["serve", "lsp"]),
    (&["mcp"], &["serve", "mcp"]),
];

/// Global options that take the next argument as their value.
const GLOBAL_WITH_VALUE: &[&str] = &["--color", "--plugin-dir", "--allow-host"];

/// Replaces an old command name or a short form by the current name; `warn` gets one line about an old one.
pub(crate) fn current_arguments(mut arguments: Vec<OsString>, warn: impl Fn(&str)) -> Vec<OsString> {
    let Some(mut place) = command_place(&arguments, 1) else { return arguments };
    if arguments[place] == "help" {
        let Some(next) = command_place(&arguments, place + 1) else { return arguments };
        place = next;
    }
    let renamed = RENAMED.iter().map(|entry| (entry, true));
    for ((old, new), is_old) in renamed.chain(SHORT_FORMS.iter().map(|entry| (entry, false))) {
        // Global options may stand between the words of a command.
        let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
        let places: Option<Vec<usize>> = old
            .iter()
            .enumerate()
            .map(|(n, word)| match n {
                0 => Some(place).filter(|place| arguments[*place] == *word),
                _ => (place + 1..end).find(|at| arguments[*at] == *word),
            })
            .collect();
        if let Some(places) = places {
            for at in places.iter().rev() {
                arguments.remove(*at);
            }
            arguments.splice(place..place, new.iter().map(OsString::from));
            if is_old {
                warn(&format!("warning: 'planforge {}' is now 'planforge {}'", old.join(" "), new.join(" ")));
            }
            break;
        }
    }
    arguments
}

/// The place of the first argument from `start` on that is neither a global option nor its value.
fn command_place(arguments: &[OsString], start: usize) -> Option<usize> {
    let mut place = start;
    while let Some(argument) = arguments.get(place) {
        let argument = argument.to_string_lossy();
        match argument.starts_with('-') {
            _ if argument == "--" => return None,
            true if GLOBAL_WITH_VALUE.contains(&argument.as_ref()) => place += 2,
            true => place += 1,
            false => return Some(place),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::command_line::grouped_command;
    use std::cell::RefCell;

    fn rewrite(line: &str) -> (String, String) {
        let warned = RefCell::new(String::new());
        let arguments = line.split(' ').map(OsString::from).collect();
        let new = current_arguments(arguments, |warning| warned.borrow_mut().push_str(warning));
        let new: Vec<String> = new.into_iter().map(|a| a.into_string().unwrap()).collect();
        (new.join(" "), warned.into_inner())
    }

    #[test]
    fn old_names_become_current_ones_with_one_warning() {
        for (old, new) in [
            ("planforge plan a b --json", "planforge pddl plan a b --json"),
            (
                "planforge --color never --plugin-dir=x plan a",
                "planforge --color never --plugin-dir=x pddl plan a",
            ),
            ("planforge --plugin-dir plan plan a", "planforge --plugin-dir plan pddl plan a"),
            ("planforge environment check -- sh check", "planforge plugins try-environment -- sh check"),
            (
                "planforge environment --color never check -- sh",
                "planforge plugins try-environment --color never -- sh",
            ),
            ("planforge schema --contract", "planforge check --schema contract"),
            ("planforge schema", "planforge check --schema"),
            ("planforge help merge", "planforge help evaluate merge"),
        ] {
            let (rewritten, warning) = rewrite(old);
            assert_eq!(rewritten, new);
            assert!(warning.starts_with("warning: 'planforge ") && warning.lines().count() == 1, "{warning}");
        }
    }

    #[test]
    fn short_forms_become_full_ones_without_a_warning() {
        for (short, full) in [
            ("planforge fmt a.pddl --check", "planforge pddl fmt a.pddl --check"),
            ("planforge --color never fmt -", "planforge --color never pddl fmt -"),
            ("planforge help fmt", "planforge help pddl fmt"),
            ("planforge mcp --http 0", "planforge serve mcp --http 0"),
            ("planforge grammar d.pddl --of plan", "planforge pddl grammar d.pddl --of plan"),
            ("planforge --color never lsp", "planforge --color never serve lsp"),
            ("planforge help tell", "planforge help pddl tell"),
        ] {
            assert_eq!(rewrite(short), (full.to_owned(), String::new()));
        }
    }

    #[test]
    fn current_names_stay_and_warn_of_nothing() {
        for line in [
            "planforge run plan",
            "planforge pddl plan a b",
            "planforge evaluate merge a",
            "planforge -- plan",
            "planforge --color never",
            "planforge",
        ] {
            assert_eq!(rewrite(line), (line.to_owned(), String::new()));
        }
    }

    #[test]
    fn every_replacement_is_a_command() {
        for (old, new) in RENAMED.iter().chain(SHORT_FORMS) {
            let top = grouped_command();
            assert!(top.find_subcommand(old[0]).is_none(), "{old:?}");
            let words = new.iter().take_while(|word| !word.starts_with('-'));
            let mut command = &top;
            for word in words {
                command = command.find_subcommand(word).unwrap_or_else(|| panic!("{new:?}"));
            }
        }
    }
}
