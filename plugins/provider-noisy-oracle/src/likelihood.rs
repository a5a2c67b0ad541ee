//! Simulated log-probabilities of a reply's tokens, as the options define them.

use crate::options::Likelihood;
use planforge_contract::TokenLogprob;
use planforge_pddl::random::Random;

/// Characters of a token, unless the options set them.
pub(crate) const CHARACTERS: u32 = 4;

/// The tokens of a text with `mistakes` in it.
pub(crate) fn tokens(
    likelihood: &Likelihood,
    characters: u32,
    text: &str,
    mistakes: usize,
    random: &mut Random,
) -> Vec<TokenLogprob> {
    let all: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = all.chunks(characters.max(1) as usize).map(|c| c.iter().collect()).collect();
    let n = pieces.len().max(1) as f64;
    let sum =
        n * likelihood.mean - mistakes as f64 * likelihood.per_mistake + likelihood.spread * normal(random);
    let logprob = (sum / n).min(0.0);
    pieces.into_iter().map(|token| TokenLogprob { token, logprob }).collect()
}

/// A standard normal number (Box and Muller 1958).
fn normal(random: &mut Random) -> f64 {
    // Never the logarithm of 0: `unit` is below 1.
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

/// A number from a Poisson distribution (Knuth's method, for means of some hundreds at most).
pub(crate) fn poisson(mean: f64, random: &mut Random) -> u32 {
    let limit = (-mean).exp();
    let mut product = random.unit();
    let mut count = 0;
    while product > limit {
        product *= random.unit();
        count += 1;
    }
    count
}
