//! The command line of one call: the preset's or the option's words with their slots filled. Words stay words: nothing that is
//! filled in can become two arguments or be read by a shell.

use crate::external::codes;
use crate::external::options::ExternalPlannerOptions;
use crate::external::presets::Preset;
use planforge_contract::{Failure, FailureClass};

/// The values of the slots.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    pub(crate) domain: String,
    pub(crate) problem: String,
    pub(crate) plan: String,
    pub(crate) k: u32,
    pub(crate) seed: u64,
    pub(crate) time_s: u64,
    pub(crate) memory_mb: u64,
}

/// The program and its arguments.
///
/// # Errors
/// Class `Request`: there is no program, an option that the preset does not use, or an unknown slot.
pub(crate) fn words(options: &ExternalPlannerOptions, slots: &Slots) -> Result<Vec<String>, Failure> {
    let mut words = match (&options.command[..], options.preset) {
        ([], Some(preset)) => vec![preset.info().program.to_owned()],
        ([], None) => {
            return Err(wrong("neither `preset` nor `command` says which program to start")
                .help("set `preset = \"fast-downward\"`, or `command = [\"PROGRAM\"]` with `arguments`"));
        }
        (command, _) => command.to_vec(),
    };
    for argument in arguments(options)? {
        words.push(fill(&argument, options, slots)?);
    }
    Ok(words)
}

/// Checks the options that do not depend on the task, when the instance is made.
pub(crate) fn check(options: &ExternalPlannerOptions) -> Result<(), Failure> {
    let slots = Slots {
        domain: String::new(),
        problem: String::new(),
        plan: String::new(),
        k: 1,
        seed: 0,
        time_s: 1,
        memory_mb: 1,
    };
    words(options, &slots).map(drop)
}

fn arguments(options: &ExternalPlannerOptions) -> Result<Vec<String>, Failure> {
    let used = |slot: &str| options.arguments.iter().any(|a| a.contains(slot));
    let fast_downward = options.preset == Some(Preset::FastDownward);
    let pyperplan = options.preset == Some(Preset::Pyperplan);
    let useless = [
        ("alias", options.alias.is_some(), fast_downward),
        ("search", options.search.is_some(), fast_downward || pyperplan || used("{search}")),
        ("heuristic", options.heuristic.is_some(), pyperplan || used("{heuristic}")),
    ];
    if let Some((name, ..)) = useless.iter().find(|(_, given, wanted)| *given && !wanted) {
        return Err(wrong(format!("the option `{name}` is not used by this command line"))
            .help(format!("take `{name}` out, or put its slot into `arguments`")));
    }
    if !options.arguments.is_empty() {
        return Ok(options.arguments.clone());
    }
    let Some(preset) = options.preset else {
        return Err(wrong("a program without `preset` needs `arguments`")
            .help("for example `arguments = [\"{domain}\", \"{problem}\", \"{plan}\"]`"));
    };
    let mut arguments: Vec<String> = preset.info().arguments.iter().map(|a| (*a).to_owned()).collect();
    if fast_downward {
        let tail: Vec<&str> = match (&options.alias, &options.search) {
            (Some(_), Some(_)) => {
                return Err(wrong("`alias` and `search` both choose Fast Downward's configuration")
                    .help("leave one of them out"));
            }
            (Some(alias), None) => vec!["--alias", alias, "{domain}", "{problem}"],
            (None, Some(search)) => {
                arguments.extend(["{domain}", "{problem}", "--search"].map(str::to_owned));
                // The search string is one word and not a template: it may contain braces.
                arguments.push(search.replace('{', "{{"));
                return Ok(arguments);
            }
            (None, None) => vec!["--alias", "lama-first", "{domain}", "{problem}"],
        };
        arguments.extend(tail.into_iter().map(str::to_owned));
    }
    Ok(arguments)
}

/// Fills the slots of one word in one pass, so that nothing filled in is read as a slot. `{{` is a brace.
fn fill(word: &str, options: &ExternalPlannerOptions, slots: &Slots) -> Result<String, Failure> {
    let mut out = String::with_capacity(word.len() + 32);
    let mut rest = word;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open + 1..];
        if let Some(after) = rest.strip_prefix('{') {
            out.push('{');
            rest = after;
            continue;
        }
        let Some(close) = rest.find('}') else {
            return Err(wrong(format!("`{word}` opens a slot and does not close it"))
                .help("write `{{` for a brace that is none"));
        };
        match &rest[..close] {
            "domain" => out.push_str(&slots.domain),
            "problem" => out.push_str(&slots.problem),
            "plan" => out.push_str(&slots.plan),
            "k" => out.push_str(&slots.k.to_string()),
            "seed" => out.push_str(&slots.seed.to_string()),
            "time_s" => out.push_str(&slots.time_s.to_string()),
            "memory_mb" => out.push_str(&slots.memory_mb.to_string()),
            "search" => out.push_str(options.search.as_deref().unwrap_or("gbf")),
            "heuristic" => out.push_str(options.heuristic.as_deref().unwrap_or("hff")),
            other => {
                return Err(wrong(format!("there is no slot `{{{other}}}`")).help(
                    "the slots are {domain}, {problem}, {plan}, {k}, {seed}, {time_s}, {memory_mb}, {search} and {heuristic}",
                ));
            }
        }
        rest = &rest[close + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

fn wrong(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Request, codes::OPTIONS, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots() -> Slots {
        Slots {
            domain: "/t/domain.pddl".into(),
            problem: "/t/problem.pddl".into(),
            plan: "/t/sas_plan".into(),
            k: 3,
            seed: 7,
            time_s: 60,
            memory_mb: 512,
        }
    }

    fn line(options: &ExternalPlannerOptions) -> String {
        words(options, &slots()).unwrap().join("|")
    }

    #[test]
    fn presets_make_the_command_lines_that_people_know() {
        let fd = ExternalPlannerOptions { preset: Some(Preset::FastDownward), ..Default::default() };
        let limits =
            "fast-downward.py|--overall-time-limit|60s|--overall-memory-limit|512M|--plan-file|/t/sas_plan";
        assert_eq!(line(&fd), format!("{limits}|--alias|lama-first|/t/domain.pddl|/t/problem.pddl"));
        let astar = ExternalPlannerOptions { search: Some("astar(lmcut())".into()), ..fd.clone() };
        assert_eq!(line(&astar), format!("{limits}|/t/domain.pddl|/t/problem.pddl|--search|astar(lmcut())"));
        let kstar = ExternalPlannerOptions { preset: Some(Preset::KStar), ..Default::default() };
        assert_eq!(line(&kstar), "kstar_planner|-k|3|-t|60|/t/domain.pddl|/t/problem.pddl");
        let py = ExternalPlannerOptions {
            preset: Some(Preset::Pyperplan),
            command: vec!["python3".into(), "-m".into(), "pyperplan".into()],
            search: Some("astar".into()),
            ..Default::default()
        };
        assert_eq!(line(&py), "python3|-m|pyperplan|-H|hff|-s|astar|/t/domain.pddl|/t/problem.pddl");
    }

    #[test]
    fn a_search_string_is_one_word_with_its_braces() {
        let search = "eager(single(ff), x={domain}; rm -rf /)";
        let options = ExternalPlannerOptions {
            preset: Some(Preset::FastDownward),
            search: Some(search.into()),
            ..Default::default()
        };
        assert_eq!(words(&options, &slots()).unwrap().last().map(String::as_str), Some(search));
    }

    #[test]
    fn options_that_make_no_sense_are_told() {
        let fails = |options: ExternalPlannerOptions| check(&options).unwrap_err().message;
        assert!(fails(ExternalPlannerOptions::default()).contains("which program"));
        let own = ExternalPlannerOptions { command: vec!["p".into()], ..Default::default() };
        assert!(fails(own.clone()).contains("`arguments`"));
        assert!(
            fails(ExternalPlannerOptions { arguments: vec!["{plam}".into()], ..own.clone() })
                .contains("{plam}")
        );
        assert!(
            fails(ExternalPlannerOptions { arguments: vec!["{plan".into()], ..own.clone() })
                .contains("does not close")
        );
        assert!(
            fails(ExternalPlannerOptions {
                alias: Some("lama".into()),
                arguments: vec!["x".into()],
                ..own.clone()
            })
            .contains("`alias`")
        );
        let both = ExternalPlannerOptions {
            preset: Some(Preset::FastDownward),
            alias: Some("lama".into()),
            search: Some("astar(blind())".into()),
            ..Default::default()
        };
        assert!(fails(both).contains("both"));
        assert!(
            check(&ExternalPlannerOptions { arguments: vec!["a{{b}".into(), "{plan}".into()], ..own })
                .is_ok()
        );
    }
}
