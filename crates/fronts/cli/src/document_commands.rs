//! Every command line of the documents and of the messages is one that the binary accepts under its current name.

use crate::commands::command_line::grouped_command;
use crate::renamed::current_arguments;
use clap::error::ErrorKind;
use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", "recordings", "book"].contains(&name.as_str()) && !name.starts_with('.') {
                files(&path, out);
            }
        } else if path.extension().is_some_and(|e| e == "md" || e == "rs" || e == "toml") {
            out.push(path);
        }
    }
}

/// The arguments of a command line, without comments, redirections and shell variables. Brackets around optional arguments are
/// removed, and of alternatives `a|b` the first is taken.
fn arguments(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in line.chars().chain([' ']) {
        match quote {
            Some(end) if c == end => quote = None,
            Some(_) => word.push(c),
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c.is_whitespace() => {
                words.extend(Some(std::mem::take(&mut word)).filter(|w| !w.is_empty()))
            }
            None => word.push(c),
        }
    }
    words
        .into_iter()
        .take_while(|word| !["#", "|", ">", ">>", "2>", "2>>", "&&", ";", "&"].contains(&word.as_str()))
        .filter(|word| word != "..." && !word.starts_with('$'))
        .map(|word| match word.starts_with(['(', '{']) || word.contains(['=', '"']) {
            true => word,
            false => word.trim_matches(['[', ']']).split('|').next().unwrap_or_default().to_owned(),
        })
        .collect()
}

/// The error of a command line, if it has one. In running text, arguments may be missing or stand for others.
fn refusal(line: &str, running_text: bool) -> Option<String> {
    use ErrorKind::*;
    let old_name = Cell::new(false);
    let words = arguments(line).into_iter().map(OsString::from).collect();
    let words = current_arguments(words, |_| old_name.set(true));
    if old_name.get() {
        return Some("an old name of a command".to_owned());
    }
    let error = grouped_command().try_get_matches_from(words).err()?;
    let accepted = match error.kind() {
        DisplayHelp | DisplayVersion => true,
        MissingRequiredArgument
        | MissingSubcommand
        | DisplayHelpOnMissingArgumentOrSubcommand
        | InvalidValue
        | ValueValidation
        | WrongNumberOfValues
        | TooFewValues => running_text || line.contains("...") || line.contains(" $"),
        _ => false,
    };
    (!accepted).then(|| error.to_string().lines().next().unwrap_or_default().to_owned())
}

/// Command lines of code blocks. Lines that end in `\` or within quotes are joined with the next.
fn block_lines(text: &str) -> Vec<String> {
    let mut lines = text.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let Some(mut command) = line
            .strip_prefix("    ")
            .map(|line| line.trim().to_owned())
            .filter(|line| line.starts_with("planforge "))
        else {
            continue;
        };
        while command.ends_with('\\') || command.matches('\'').count() % 2 == 1 {
            let Some(next) = lines.next() else { break };
            command = format!("{} {}", command.trim_end_matches('\\'), next.trim());
        }
        found.push(command);
    }
    found
}

/// Command lines in backquotes. A span that the line of a string literal cuts off is left out.
fn inline_commands(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter(|span| span.starts_with("planforge ") && !span.ends_with('\\'))
        .filter(|span| !span.starts_with("planforge COMMAND"))
}

#[test]
fn every_command_line_of_documents_and_messages_is_accepted_under_its_current_name() {
    let mut sources: Vec<PathBuf> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        .iter()
        .map(|name| root().join(name))
        .collect();
    for folder in ["docs", "examples", "configs", "plugins", "crates", "tests"] {
        files(&root().join(folder), &mut sources);
    }
    let (mut checked, mut refused) = (0, Vec::new());
    for source in sources {
        let text = fs::read_to_string(&source).unwrap();
        let document = source.extension().is_some_and(|e| e == "md");
        let blocks = if document { block_lines(&text) } else { Vec::new() };
        let lines = blocks.iter().map(|line| (line.as_str(), false));
        for (line, running_text) in lines.chain(inline_commands(&text).map(|line| (line, true))) {
            checked += 1;
            if let Some(error) = refusal(line, running_text) {
                refused
                    .push(format!("{}: `{line}`: {error}", source.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(checked > 300, "only {checked} command lines were found");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn an_old_name_and_a_wrong_option_in_a_document_are_found() {
    assert!(refusal("planforge plan domain.pddl p01.pddl", false).is_some());
    assert!(refusal("planforge pddl plan --optimall", true).is_some());
    assert_eq!(refusal("planforge fmt domain.pddl", false), None, "a short form");
    assert!(refusal("planforge pddl plan domain.pddl", false).is_some());
    assert_eq!(refusal("planforge pddl plan d.pddl p.pddl --optimal > p.plan", false), None);
    assert_eq!(refusal("planforge pddl plan --top-k K [--quality Q]", true), None);
}
