//! The choice of a walk's next step: the same for every environment.

use planforge_contract::WalkPolicy;
use planforge_pddl::random::Random;
use std::collections::BTreeMap;

/// An applicable ground action, and how often the walks so far have executed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Its action schema, as any number that identifies the schema.
    pub schema: u32,
    /// Number of executions of any action of that schema.
    pub schema_times: u32,
    /// Number of executions of this action.
    pub times: u32,
}

/// Chooses one of the applicable actions, by its place in the list. `None` for an empty list.
///
/// [`WalkPolicy::CoverageGuided`] first weighs the schemas by 1 / (1 + times executed), so that a schema with
/// many ground actions does not dominate the others, then the ground actions of the chosen schema likewise.
/// Actions that were never executed are likeliest and none is impossible: the distribution stays strictly
/// positive, as the metric's definition requires (paper, section 4.3).
pub fn choose(random: &mut Random, policy: WalkPolicy, applicable: &[Choice]) -> Option<usize> {
    if applicable.is_empty() {
        return None;
    }
    match policy {
        WalkPolicy::Uniform => Some(random.below(applicable.len() as u64) as usize),
        WalkPolicy::CoverageGuided => {
            let mut schemas: Vec<Choice> = Vec::new();
            for choice in applicable {
                if !schemas.iter().any(|s| s.schema == choice.schema) {
                    schemas.push(*choice);
                }
            }
            let chosen =
                schemas.get(choose_by_weight(random, schemas.iter().map(|s| s.schema_times))?)?.schema;
            let own: Vec<usize> = (0..applicable.len()).filter(|&i| applicable[i].schema == chosen).collect();
            let at = choose_by_weight(random, own.iter().map(|&i| applicable[i].times))?;
            own.get(at).copied()
        }
    }
}

/// Execution counts over the walks of a call, for environments that name their actions `(name object ...)`.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    schemas: BTreeMap<String, u32>,
    actions: BTreeMap<String, u32>,
}

impl Coverage {
    /// Chooses one of the applicable actions as [`choose`] does, and counts it as executed.
    pub fn choose<'a>(
        &mut self,
        random: &mut Random,
        policy: WalkPolicy,
        applicable: &'a [String],
    ) -> Option<&'a String> {
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let choices: Vec<Choice> = applicable
            .iter()
            .map(|action| {
                let name = name_of(action);
                let fresh = numbers.len() as u32;
                Choice {
                    schema: *numbers.entry(name).or_insert(fresh),
                    schema_times: self.schemas.get(name).copied().unwrap_or(0),
                    times: self.actions.get(action).copied().unwrap_or(0),
                }
            })
            .collect();
        let action = applicable.get(choose(random, policy, &choices)?)?;
        for (counts, key) in [(&mut self.schemas, name_of(action)), (&mut self.actions, action.as_str())] {
            let times = counts.entry(key.to_owned()).or_default();
            *times = times.saturating_add(1);
        }
        Some(action)
    }
}

/// The name of `(name object ...)`.
fn name_of(action: &str) -> &str {
    action.trim_start_matches(['(', ' ']).split([' ', ')']).next().unwrap_or_default()
}

/// One of the entries, each with weight 1 / (1 + times). Whole numbers: the same on every machine.
fn choose_by_weight(random: &mut Random, times: impl Iterator<Item = u32> + Clone) -> Option<usize> {
    let weight = |times: u32| (1u64 << 32) / (1 + u64::from(times));
    let total: u64 = times.clone().map(weight).sum();
    if total == 0 {
        return None;
    }
    let mut left = random.below(total);
    times.map(weight).position(|w| {
        let here = left < w;
        left = left.saturating_sub(w);
        here
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(choices: &[Choice]) -> Vec<u32> {
        let mut counts = vec![0u32; choices.len()];
        let mut r = Random::stream(7, 3);
        for _ in 0..30_000 {
            counts[choose(&mut r, WalkPolicy::CoverageGuided, choices).unwrap()] += 1;
        }
        counts
    }

    #[test]
    fn coverage_weighs_schemas_and_then_their_actions() {
        let one = |schema, schema_times, times| Choice { schema, schema_times, times };
        // Weights 1, 1/2 and 1/4, one action a schema.
        let counts = share(&[one(0, 0, 0), one(1, 1, 1), one(2, 3, 3)]);
        let expected = [30_000 * 4 / 7, 30_000 * 2 / 7, 30_000 / 7];
        assert!(counts.iter().zip(expected).all(|(c, e)| c.abs_diff(e) < 430), "{counts:?}");
        // Two schemas executed alike: the one with three actions is no likelier, and its actions are weighed by themselves.
        let counts = share(&[one(0, 4, 0), one(0, 4, 0), one(0, 4, 1), one(1, 4, 4)]);
        let expected = [6000, 6000, 3000, 15_000];
        assert!(counts.iter().zip(expected).all(|(c, e)| c.abs_diff(e) < 430), "{counts:?}");
    }

    #[test]
    fn named_actions_are_counted_by_schema_and_by_themselves() {
        let actions: Vec<String> =
            ["(go a b)", "(go b a)", "(go a c)", "(ring)"].iter().map(|a| (*a).to_owned()).collect();
        let (mut coverage, mut r) = (Coverage::default(), Random::stream(3, 1));
        let mut rings = 0;
        for _ in 0..400 {
            let action = coverage.choose(&mut r, WalkPolicy::CoverageGuided, &actions).unwrap();
            rings += u32::from(action == "(ring)");
        }
        // Two schemas take turns; uniformly it would be a quarter.
        assert!(rings.abs_diff(200) < 25, "{rings}");
        assert!(coverage.actions.values().all(|times| times.abs_diff(66) < 25 || *times == rings));
    }

    #[test]
    fn nothing_is_impossible_and_nothing_comes_of_nothing() {
        let mut r = Random::stream(1, 1);
        let often = Choice { schema: 0, schema_times: u32::MAX, times: u32::MAX };
        assert_eq!(choose(&mut r, WalkPolicy::CoverageGuided, &[often]), Some(0));
        assert_eq!(choose(&mut r, WalkPolicy::Uniform, &[]), None);
    }
}
