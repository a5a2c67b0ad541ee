//! One reply while it is written: the choice of each token, and the end.

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use llguidance::Matcher;
use planforge_plugin_sdk::prelude::*;
use std::time::{Duration, Instant};

/// The settings of a request that all its replies share.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Number of replies.
    pub(crate) n: u32,
    /// Most tokens of a reply, at least 1.
    pub(crate) most: usize,
    /// 0 is greedy.
    pub(crate) temperature: f64,
    /// In (0, 1].
    pub(crate) top_p: f64,
    pub(crate) seed: u64,
    pub(crate) stop: Vec<String>,
    pub(crate) logprobs: bool,
}

/// `local.grammar`: the grammar cannot be enforced.
pub(crate) fn grammar_failure(reason: &str) -> Failure {
    Failure::new(FailureClass::Request, "local.grammar", format!("the grammar cannot be enforced: {reason}"))
        .help("write `grammar = \"off\"` in the stage's options, or take another model")
}

/// A reply that is being written.
pub(crate) struct Sample {
    /// Zero-based index of the reply within the request.
    pub(crate) index: u32,
    /// Its sequence in the cache.
    pub(crate) sequence: i32,
    pub(crate) finish: Option<FinishReason>,
    pub(crate) tokens: Vec<LlamaToken>,
    text: Vec<u8>,
    /// Of each token: the length of the text before it, its text, and its log-probability.
    logprobs: Vec<(usize, TokenLogprob)>,
    matcher: Option<Matcher>,
    /// Time for the masks of the grammar.
    pub(crate) masks: Duration,
    random: u64,
}

impl Sample {
    /// An empty reply. Its random numbers depend on the seed and the index alone.
    pub(crate) fn new(index: u32, sequence: i32, settings: &Settings, matcher: Option<&Matcher>) -> Self {
        let mut random = settings.seed;
        random = splitmix(&mut random) ^ u64::from(index);
        let (tokens, text, logprobs, masks) = Default::default();
        Self {
            index,
            sequence,
            finish: None,
            tokens,
            text,
            logprobs,
            matcher: matcher.cloned(),
            masks,
            random,
        }
    }

    /// Chooses the next token by the logits, of which `weights` is a copy to work on.
    ///
    /// # Errors
    /// `local.grammar`.
    pub(crate) fn choose(
        &mut self,
        logits: &[f32],
        weights: &mut Vec<f32>,
        model: &LlamaModel,
        settings: &Settings,
    ) -> Result<(), Failure> {
        weights.clear();
        match &mut self.matcher {
            None => weights.extend_from_slice(logits),
            Some(matcher) => {
                let start = Instant::now();
                let mask =
                    matcher.compute_mask_or_eos().map_err(|error| grammar_failure(&error.to_string()))?;
                weights.resize(logits.len(), f32::NEG_INFINITY);
                mask.iter_set_entries(|at| {
                    if let (Some(weight), Some(logit)) = (weights.get_mut(at), logits.get(at)) {
                        *weight = *logit;
                    }
                });
                self.masks += start.elapsed();
            }
        }
        let at = match settings.temperature > 0.0 {
            false => greatest(weights),
            true => draw(weights, settings, &mut self.random),
        }
        .ok_or_else(|| grammar_failure("no token of the model continues it"))?;
        let token = LlamaToken(i32::try_from(at).unwrap_or_default());
        if model.vocab().is_eog(token) {
            self.finish = Some(FinishReason::Stop);
            return Ok(());
        }
        self.tokens.push(token);
        let piece = model.vocab().token_to_piece(token, false, None);
        if settings.logprobs {
            let (token, logprob) =
                (String::from_utf8_lossy(&piece).into_owned(), log_probability(logits, at));
            self.logprobs.push((self.text.len(), TokenLogprob { token, logprob }));
        }
        let before = self.text.len();
        self.text.extend(piece);
        if let Some(matcher) = &mut self.matcher {
            let start = Instant::now();
            matcher.consume_token(at as u32).map_err(|error| grammar_failure(&error.to_string()))?;
            self.masks += start.elapsed();
        }
        if let Some(end) = first_stop(&self.text, before, &settings.stop) {
            self.text.truncate(end);
            self.logprobs.retain(|(start, _)| *start < end);
            self.finish = Some(FinishReason::Stop);
        } else if self.matcher.as_ref().is_some_and(Matcher::is_stopped) {
            self.finish = Some(FinishReason::Stop);
        } else if self.tokens.len() >= settings.most {
            self.finish = Some(FinishReason::Length);
        }
        Ok(())
    }

    /// The reply. A character that was cut off is left out.
    pub(crate) fn into_reply(self, logprobs: bool) -> Reply {
        let whole = match std::str::from_utf8(&self.text) {
            Err(error) if error.error_len().is_none() => {
                self.text.get(..error.valid_up_to()).unwrap_or_default()
            }
            _ => &self.text,
        };
        let content = String::from_utf8_lossy(whole).into_owned();
        let tokens = logprobs.then(|| self.logprobs.into_iter().map(|(_, token)| token).collect());
        Reply { logprobs: tokens, ..Reply::new(content, self.finish.unwrap_or(FinishReason::Other)) }
    }
}

/// The next number of the generator SplitMix64.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The first position with the greatest weight; `None` if all are ruled out.
fn greatest(weights: &[f32]) -> Option<usize> {
    let better = |best: Option<(usize, f32)>, (at, weight): (usize, &f32)| match best {
        Some((_, most)) if *weight <= most => best,
        _ if *weight > f32::NEG_INFINITY => Some((at, *weight)),
        _ => best,
    };
    weights.iter().enumerate().fold(None, better).map(|(at, _)| at)
}

/// A random position: the softmax at the temperature, of which only the likeliest tokens with `top_p` of the mass together count.
fn draw(weights: &mut [f32], settings: &Settings, random: &mut u64) -> Option<usize> {
    let most = *weights.get(greatest(weights)?)?;
    let scale = 1.0 / settings.temperature as f32;
    let mut sum = 0.0;
    for weight in weights.iter_mut() {
        *weight = ((*weight - most) * scale).exp();
        sum += f64::from(*weight);
    }
    let unit = (splitmix(random) >> 11) as f64 / (1_u64 << 53) as f64;
    if settings.top_p >= 1.0 {
        return pick(weights.iter().copied().enumerate(), unit * sum);
    }
    // Tokens below this weight have less than 1 - top_p together.
    let least = (1.0 - settings.top_p) * sum / weights.len() as f64;
    let mut likely: Vec<(usize, f32)> =
        weights.iter().copied().enumerate().filter(|(_, weight)| f64::from(*weight) >= least).collect();
    likely.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut mass = 0.0;
    let kept = likely.iter().take_while(|(_, weight)| {
        let goes_on = mass < settings.top_p * sum;
        mass += if goes_on { f64::from(*weight) } else { 0.0 };
        goes_on
    });
    let kept = kept.count();
    likely.truncate(kept);
    pick(likely.into_iter(), unit * mass)
}

/// The position at which the sum of weights passes `left`.
fn pick(weights: impl Iterator<Item = (usize, f32)>, mut left: f64) -> Option<usize> {
    let mut last = None;
    for (at, weight) in weights.filter(|(_, weight)| *weight > 0.0) {
        last = Some(at);
        left -= f64::from(weight);
        if left < 0.0 {
            break;
        }
    }
    last
}

/// The log-probability of a token at temperature 1, without a mask.
fn log_probability(logits: &[f32], at: usize) -> f64 {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|logit| f64::from((logit - most).exp())).sum();
    logits.get(at).map_or(f64::NEG_INFINITY, |logit| f64::from(logit - most) - sum.ln())
}

/// The earliest start of a stop text that ends behind `before`.
fn first_stop(text: &[u8], before: usize, stops: &[String]) -> Option<usize> {
    let start = |stop: &String| {
        let from = (before + 1).saturating_sub(stop.len());
        let found = text.get(from..)?.windows(stop.len().max(1)).position(|part| part == stop.as_bytes())?;
        Some(from + found)
    };
    stops.iter().filter_map(start).min()
}
