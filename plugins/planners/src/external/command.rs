//! The supported planners, and the command line of a call.

use crate::external::{ExternalPlannerOptions, codes};
use planforge_contract::{Failure, FailureClass};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// A planner with a known command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Fast Downward's driver, with an alias or a search string.
    FastDownward,
    /// K* for top-k planning: the `kstar_planner` command.
    KStar,
    /// pyperplan, with a search (`gbf`, `astar`, ...) and a heuristic (`hff`, `lmcut`, ...).
    Pyperplan,
}

/// Properties of one planner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresetInfo {
    pub preset: Preset,
    /// As pipeline files write it.
    pub name: &'static str,
    /// The program, if the option `command` is left out.
    pub program: &'static str,
    /// Arguments, one a word; slots as the option `arguments` has them.
    pub arguments: &'static [&'static str],
    /// Supported requirements besides `:strips`.
    pub supports: &'static [&'static str],
    /// True if it finds several plans.
    pub several: bool,
    /// True if the first plan of the default configuration is proven cheapest.
    pub optimal: bool,
    /// The command that installs it.
    pub install: &'static str,
    /// The source of the outcome.
    pub ending: OutcomeSignal,
}

/// The way in which a program reports its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeSignal {
    /// By Fast Downward's exit codes, in blocks of ten.
    FastDownward,
    /// By its output, as pairs of phrase and meaning; the exit code is always 0.
    Phrases(&'static [(&'static str, Meaning)]),
}

/// The meaning of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// No plan was found; the program did not prove that there is none.
    NoPlan,
    /// Its own time limit.
    Time,
}

const FD_SUPPORTS: &[&str] = &[
    ":typing",
    ":negative-preconditions",
    ":disjunctive-preconditions",
    ":equality",
    ":existential-preconditions",
    ":universal-preconditions",
    ":conditional-effects",
    ":action-costs",
    ":derived-predicates",
];

pub static PRESETS: [PresetInfo; 3] = [
    PresetInfo {
        preset: Preset::FastDownward,
        name: "fast-downward",
        program: "fast-downward.py",
        arguments: &[
            "--overall-time-limit",
            "{time_s}s",
            "--overall-memory-limit",
            "{memory_mb}M",
            "--plan-file",
            "{plan}",
        ],
        supports: FD_SUPPORTS,
        several: true,
        optimal: false,
        install: "pip install up-fast-downward, then give `command = [\"python3\", \".../up_fast_downward/downward/fast-downward.py\"]`",
        ending: OutcomeSignal::FastDownward,
    },
    PresetInfo {
        preset: Preset::KStar,
        name: "k-star",
        program: "kstar_planner",
        arguments: &["-k", "{k}", "-t", "{time_s}", "{domain}", "{problem}"],
        supports: FD_SUPPORTS,
        several: true,
        optimal: true,
        install: "pip install kstar-planner",
        // It prints "proved unsolvable" for every run without a plan and without an error, even at a memory limit.
        ending: OutcomeSignal::Phrases(&[
            ("proved unsolvable", Meaning::NoPlan),
            ("Timeout was reached", Meaning::Time),
        ]),
    },
    PresetInfo {
        preset: Preset::Pyperplan,
        name: "pyperplan",
        program: "pyperplan",
        arguments: &["-H", "{heuristic}", "-s", "{search}", "{domain}", "{problem}"],
        supports: &[":typing"],
        several: false,
        optimal: false,
        install: "pip install pyperplan",
        ending: OutcomeSignal::Phrases(&[("No solution could be found", Meaning::NoPlan)]),
    },
];

impl Preset {
    pub fn info(self) -> &'static PresetInfo {
        // Each preset has its place in the table, which a test holds.
        &PRESETS[self as usize]
    }
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

    #[test]
    fn every_preset_stands_at_its_place_and_under_its_name() {
        for (index, info) in PRESETS.iter().enumerate() {
            assert_eq!(info.preset as usize, index);
            assert_eq!(serde_json::to_value(info.preset).unwrap(), info.name);
            assert_eq!(info.preset.info(), info);
        }
    }
}
