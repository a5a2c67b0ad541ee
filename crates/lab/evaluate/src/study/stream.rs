//! Random streams of studies.

use planforge_pddl::random::Random;

/// The random numbers of one draw: of a seed, a suite's name and the draw's place in the study.
pub fn stream(seed: u64, name: &str, place: &[u64]) -> Random {
    let mut state = Random::new(seed).next_u64();
    for value in name.bytes().map(u64::from).chain([u64::MAX]).chain(place.iter().copied()) {
        state = Random::stream(state, value).next_u64();
    }
    Random::new(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_seed_name_and_place_alone() {
        let first = |seed, name, place: &[u64]| stream(seed, name, place).next_u64();
        let draws = [
            first(1, "depot", &[0, 1]),
            first(1, "depot", &[1, 0]),
            first(1, "rovers", &[0, 1]),
            first(2, "depot", &[0, 1]),
            first(1, "depot", &[0]),
        ];
        for (i, a) in draws.iter().enumerate() {
            assert!(draws[..i].iter().all(|b| a != b), "{draws:?}");
        }
        assert_eq!(first(1, "depot", &[0, 1]), draws[0]);
    }
}
