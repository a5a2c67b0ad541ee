//! The files of a suite.

use super::ImportedSuite;
use super::domains::{DomainFiles, Texts};
use super::predicates::Described;
use super::tables::{CLASSES, Class};
use crate::template;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Everything of one suite.
pub(super) fn suite(
    found: &DomainFiles,
    texts: &Texts,
    described: &[Described],
    licence: Option<&str>,
) -> ImportedSuite {
    let mut files = vec![
        ("suite.toml".to_owned(), manifest(found, licence)),
        ("domain.pddl".to_owned(), with_line_end(&found.file.text)),
        ("domain_template.pddl".to_owned(), template::of_domain(&found.file.text)),
        ("actions.toml".to_owned(), actions(found, texts, described)),
    ];
    if !described.is_empty() {
        files.push(("sentences.toml".to_owned(), sentences(described)));
    }
    files.extend(licence.map(|text| ("LICENSE".to_owned(), with_line_end(text))));
    for (index, (_, text)) in found.problems.iter().enumerate() {
        let stem = stem(index);
        files.push((template::problem_file(&stem), template::of_problem(text)));
        files.push((format!("{stem}.pddl"), with_line_end(text)));
    }
    ImportedSuite {
        name: found.name.clone(),
        actions: found.domain.actions.len(),
        texts: texts.values().map(BTreeMap::len).sum(),
        predicates: described.len(),
        problems: found.problems.len(),
        files,
    }
}

fn stem(index: usize) -> String {
    format!("p{:02}", index + 1)
}

fn with_line_end(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

const MADE: &str = "# Made by `planforge suite import-actions`.\n";

fn manifest(found: &DomainFiles, licence: Option<&str>) -> String {
    let title = format!("{}, as the domain-generators paper describes its actions", found.name);
    let mut text = format!("{MADE}schema = 1\nname = {}\ntitle = {}\n", quoted(&found.name), quoted(&title));
    if let Some(licence) = licence.and_then(name_of_licence) {
        let _ = writeln!(text, "licence = {}", quoted(&licence));
    }
    text += "\n[titles]\n";
    for (index, (own, _)) in found.problems.iter().enumerate() {
        let _ = writeln!(text, "{} = {}", stem(index), quoted(own));
    }
    text
}

/// `MIT License, Copyright (c) 2020 Somebody`.
fn name_of_licence(licence: &str) -> Option<String> {
    let mut lines = licence.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let holder = lines.find(|line| line.to_lowercase().starts_with("copyright"));
    Some(holder.map_or_else(|| first.to_owned(), |holder| format!("{first}, {holder}")))
}

fn actions(found: &DomainFiles, texts: &Texts, described: &[Described]) -> String {
    let mut text = format!(
        "{MADE}# Texts are put together as the paper's code does it: what the action does with a full stop, or with a blank and what the class adds.\n"
    );
    for action in &found.domain.actions {
        let Some(of_action) = texts.get(action.name.key()) else { continue };
        let _ = writeln!(text, "\n[actions.{}]", quoted(action.name.as_str()));
        let Some(base) = of_action.get(&Class::Base) else { continue };
        for (class, key) in CLASSES.into_iter().zip(["base", "flipped", "random"]) {
            let whole = match class.0 {
                Class::Base => Some(format!("{base}.")),
                other => of_action.get(&other).map(|added| format!("{base} {added}")),
            };
            if let Some(whole) = whole {
                let _ = writeln!(text, "{key} = {}", quoted(&whole));
            }
        }
    }
    for told in described {
        let _ = write!(
            text,
            "\n[predicates.{}]\ndeclaration = {}\ntext = {}\n",
            quoted(&told.name),
            quoted(&told.declaration),
            quoted(&told.text)
        );
    }
    text
}

fn sentences(described: &[Described]) -> String {
    let mut text = format!(
        "{MADE}# From the descriptions of the predicates, with slots for the parameters.\n\n[predicates]\n"
    );
    // A predicate whose text leaves a parameter out has no entry: it is told by its name.
    for (told, yes) in described.iter().filter_map(|told| Some((told, told.sentence.as_ref()?))) {
        let mut letters = yes.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_lowercase).collect();
        let no = format!("It is not true that {first}{}", letters.as_str());
        let _ = writeln!(text, "{} = {{ yes = {}, no = {} }}", quoted(&told.name), quoted(yes), quoted(&no));
    }
    text
}
