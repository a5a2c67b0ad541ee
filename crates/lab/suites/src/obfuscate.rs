//! A suite under other names as the files of a folder.

use planforge_diagnostics::SourceId;
use planforge_pddl::parse_domain;
use planforge_pipeline::Suite;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The file with the names and words that were exchanged. It is for people and programs that need the way back, and no part of the suite.
pub const MAPPING: &str = "mapping.json";

const MADE: &str = "# Made by `planforge suite obfuscate`.\n";

/// The files of a suite, by name, with [`MAPPING`] where it is under other names. Reading them gives the same suite again, apart from its
/// name where `name` gives it another.
pub fn files(suite: &Suite, name: Option<&str>) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut put = |name: &str, text: Option<&String>| {
        files.extend(text.map(|text| (name.to_owned(), text.clone())));
    };
    put("suite.toml", Some(&manifest(suite, name)));
    put("domain.nl", Some(&suite.domain_text).filter(|text| !text.is_empty()));
    put("domain.pddl", suite.reference_domain.as_ref());
    put("domain_validation.pddl", suite.validation_domain.as_ref());
    put("domain_template.pddl", suite.domain_template.as_ref());
    if let Some(example) = &suite.example {
        put("p_example.nl", Some(&example.text));
        put("p_example.pddl", example.problem.as_ref());
        put("p_example.sol", example.plan.as_ref());
        put("p_example.lp", example.ir.as_ref());
    }
    for (name, text) in &suite.materials {
        put(&material(name), Some(text));
    }
    put("sentences.toml", sentences(suite).as_ref());
    put("actions.toml", actions(suite).as_ref());
    put("knowledge.lp", suite.knowledge.as_ref());
    for task in &suite.tasks {
        let stem = &task.stem;
        put(&format!("{stem}.nl"), Some(&task.text).filter(|text| !text.is_empty()));
        put(&format!("{stem}.pddl"), task.reference_problem.as_ref());
        put(&format!("domain-{stem}.pddl"), task.reference_domain.as_ref());
        put(&format!("{stem}_template.pddl"), task.objects_template.as_ref());
    }
    if let Some(disguise) = &suite.disguise {
        // A table of texts always has a JSON form.
        let text = serde_json::to_string_pretty(disguise.names.renaming()).unwrap_or_default();
        put(MAPPING, Some(&(text + "\n")));
    }
    files
}

fn material(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
    format!("material-{}.txt", name.chars().map(plain).collect::<String>())
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn manifest(suite: &Suite, name: Option<&str>) -> String {
    let mut text = format!("{MADE}schema = 1\nname = {}\n", quoted(name.unwrap_or(&suite.name)));
    if !suite.licence.is_empty() {
        let _ = writeln!(text, "licence = {}", quoted(&suite.licence));
    }
    if !suite.withheld.is_empty() {
        text += "\n[given]\n";
        suite.withheld.iter().for_each(|part| {
            let _ = writeln!(text, "{part} = false");
        });
    }
    let materials: Vec<(&str, String)> =
        suite.materials.keys().map(|name| (name.as_str(), material(name))).collect();
    section(&mut text, "materials", materials.iter().map(|(name, file)| (*name, file.as_str())));
    let tasks = || suite.tasks.iter();
    section(&mut text, "axes", tasks().filter_map(|task| Some((task.stem.as_str(), task.axis.as_deref()?))));
    section(&mut text, "gaps", tasks().filter_map(|task| Some((task.stem.as_str(), task.gap.as_deref()?))));
    text
}

/// Writes a table of a manifest, if it has entries.
fn section<'a>(text: &mut String, name: &str, entries: impl Iterator<Item = (&'a str, &'a str)>) {
    for (index, (key, value)) in entries.enumerate() {
        if index == 0 {
            let _ = write!(text, "\n[{name}]\n");
        }
        let _ = writeln!(text, "{} = {}", quoted(key), quoted(value));
    }
}

fn sentences(suite: &Suite) -> Option<String> {
    if suite.sentences.is_empty() && suite.types.is_empty() {
        return None;
    }
    let domains =
        suite.tasks.iter().filter_map(|task| task.reference_domain.as_ref()).chain(&suite.reference_domain);
    let functions: Vec<String> = domains
        .flat_map(|text| parse_domain(text, SourceId(0)).value.functions)
        .map(|function| function.name.key().to_owned())
        .collect();
    let mut sections: BTreeMap<&str, String> = BTreeMap::new();
    for (name, told) in &suite.sentences {
        let is_function = functions.contains(name);
        let section = sections.entry(if is_function { "functions" } else { "predicates" }).or_default();
        let _ = write!(section, "{} = {{ yes = {}", quoted(name), quoted(&told.yes));
        if !told.no.is_empty() && !is_function {
            let _ = write!(section, ", no = {}", quoted(&told.no));
        }
        section.push_str(" }\n");
    }
    for (name, told) in &suite.types {
        let _ = writeln!(sections.entry("types").or_default(), "{} = {}", quoted(name), quoted(told));
    }
    let mut text = MADE.to_owned();
    for (name, section) in sections {
        let _ = write!(text, "\n[{name}]\n{section}");
    }
    Some(text)
}

fn actions(suite: &Suite) -> Option<String> {
    if suite.action_texts.is_empty() && suite.predicate_texts.is_empty() {
        return None;
    }
    let mut text = MADE.to_owned();
    for (name, told) in &suite.action_texts {
        let _ = writeln!(text, "\n[actions.{}]", quoted(name));
        for (key, said) in [("base", &told.base), ("flipped", &told.flipped), ("random", &told.random)] {
            if let Some(said) = said {
                let _ = writeln!(text, "{key} = {}", quoted(said));
            }
        }
    }
    for (name, told) in &suite.predicate_texts {
        let _ = writeln!(text, "\n[predicates.{}]", quoted(name));
        if let Some(declaration) = &told.declaration {
            let _ = writeln!(text, "declaration = {}", quoted(declaration));
        }
        let _ = writeln!(text, "text = {}", quoted(&told.text));
    }
    Some(text)
}
