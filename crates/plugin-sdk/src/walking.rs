//! How a walk chooses its next step: the same for every environment.

use planforge_contract::WalkPolicy;
use planforge_pddl::random::Random;

/// Chooses one of the applicable actions, by its place in the list; `executed` says how often the walks so far have
/// executed each. `None` for an empty list.
///
/// [`WalkPolicy::CoverageGuided`] weighs an action by 1 / (1 + times executed): what was never tried is likeliest and
/// nothing is impossible, so that the distribution stays strictly positive, as the metric's definition asks (paper,
/// section 4.3).
pub fn choose(random: &mut Random, policy: WalkPolicy, executed: &[u32]) -> Option<usize> {
    if executed.is_empty() {
        return None;
    }
    match policy {
        WalkPolicy::Uniform => Some(random.below(executed.len() as u64) as usize),
        WalkPolicy::CoverageGuided => {
            // Whole numbers: the same on every machine, whatever the order of additions.
            let weight = |times: &u32| (1u64 << 32) / (1 + u64::from(*times));
            let mut left = random.below(executed.iter().map(weight).sum());
            executed.iter().position(|times| {
                let w = weight(times);
                let here = left < w;
                left = left.saturating_sub(w);
                here
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_weighs_by_how_often_an_action_was_executed() {
        let mut counts = [0u32; 3];
        let mut r = Random::stream(7, 3);
        for _ in 0..30_000 {
            // Weights 1, 1/2 and 1/4.
            counts[choose(&mut r, WalkPolicy::CoverageGuided, &[0, 1, 3]).unwrap()] += 1;
        }
        let expected = [30_000 * 4 / 7, 30_000 * 2 / 7, 30_000 / 7];
        assert!(counts.iter().zip(expected).all(|(c, e)| c.abs_diff(e) < 430), "{counts:?}");
        assert!(choose(&mut r, WalkPolicy::CoverageGuided, &[u32::MAX]).is_some(), "nothing is impossible");
        assert_eq!(choose(&mut r, WalkPolicy::Uniform, &[]), None);
    }
}
