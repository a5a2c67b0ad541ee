//! The supported planners: their command lines, requirements and outcomes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

    #[test]
    fn every_preset_stands_at_its_place_and_under_its_name() {
        for (index, info) in PRESETS.iter().enumerate() {
            assert_eq!(info.preset as usize, index);
            assert_eq!(serde_json::to_value(info.preset).unwrap(), info.name);
            assert_eq!(info.preset.info(), info);
        }
    }
}
