//! The cache of a model and what is computed in it: the prompt once, then the replies together.
//!
//! Sequence 0 of the cache holds the prompt, which stays for the next request. Each reply has a sequence that shares the cells of the prompt.

use crate::options::LocalOptions;
use crate::sample::{Sample, Settings};
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use llguidance::Matcher;
use planforge_plugin_sdk::prelude::*;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Tokens of a prompt that are computed at a time. Whole chunks alone are kept for the next request: rounding depends on the size of a
/// batch, and so a request has the same replies whatever came before it.
pub(crate) const CHUNK: usize = 64;

pub(crate) struct Session {
    model: &'static LlamaModel,
    context: LlamaContext<'static>,
    batch: LlamaBatch<'static>,
    pub(crate) options: LocalOptions,
    /// The tokens in sequence 0.
    prompt: Vec<LlamaToken>,
}

/// `local.compute`: llama.cpp refuses a step.
fn compute_failure(error: impl std::fmt::Display) -> Failure {
    Failure::new(
        FailureClass::System,
        "local.compute",
        format!("llama.cpp cannot compute the next tokens: {error}"),
    )
}

/// Ends a call that is interrupted or out of time.
///
/// # Errors
/// `provider.cancelled`, `local.deadline`.
pub(crate) fn go_on(host: &dyn Host) -> Result<(), Failure> {
    if host.cancelled() {
        let message = "the run was interrupted while the model was writing";
        return Err(Failure::new(FailureClass::Cancelled, "provider.cancelled", message));
    }
    if host.remaining_ms() == Some(0) {
        let message = "the time of the call was over while the model was writing";
        return Err(Failure::new(FailureClass::Limit, "local.deadline", message)
            .help("raise `limits.call_deadline_s`, or lower `max_tokens`"));
    }
    Ok(())
}

impl Session {
    pub(crate) fn new(
        model: &'static LlamaModel,
        context: LlamaContext<'static>,
        options: LocalOptions,
    ) -> Self {
        Self { model, context, batch: LlamaBatch::new(CHUNK, 1), options, prompt: Vec::new() }
    }

    /// Most tokens of a prompt with one reply.
    pub(crate) fn limit(&self) -> usize {
        self.options.context.min(self.model.n_ctx_train()) as usize
    }

    /// The replies to a prompt that is shorter than [`Session::limit`], in order, and the number of their tokens.
    ///
    /// # Errors
    /// `provider.cancelled`, `local.deadline`, `local.grammar`, `local.compute`.
    pub(crate) fn replies(
        &mut self,
        host: &dyn Host,
        prompt: &[LlamaToken],
        settings: &Settings,
        matcher: Option<&Matcher>,
    ) -> Result<(Vec<Reply>, usize), Failure> {
        let start = Instant::now();
        let logits = self.read_prompt(host, prompt)?;
        let read = start.elapsed();
        let mut waiting: VecDeque<u32> = (0..settings.n).collect();
        let mut done: Vec<Sample> = Vec::new();
        let mut weights = Vec::with_capacity(logits.len());
        while !waiting.is_empty() {
            let together = waiting.len().min(self.options.samples as usize);
            let mut active: Vec<Sample> = (1..)
                .zip(waiting.drain(..together))
                .map(|(sequence, index)| Sample::new(index, sequence, settings, matcher))
                .collect();
            for sample in &mut active {
                self.context.kv_cache_seq_cp(0, sample.sequence, None, None).map_err(compute_failure)?;
                sample.choose(&logits, &mut weights, self.model, settings)?;
            }
            loop {
                for sample in active.extract_if(.., |sample| sample.finish.is_some()) {
                    self.context.kv_cache_seq_rm(sample.sequence, None, None).map_err(compute_failure)?;
                    done.push(sample);
                }
                // A cache that gets full holds fewer replies: the last one is written again when the others are done.
                while active.len() > 1 && prompt.len() + cells(&active) > self.options.context as usize {
                    if let Some(sample) = active.pop() {
                        self.context.kv_cache_seq_rm(sample.sequence, None, None).map_err(compute_failure)?;
                        waiting.push_front(sample.index);
                    }
                }
                if active.is_empty() {
                    break;
                }
                go_on(host)?;
                let written: usize = done.iter().chain(&active).map(|sample| sample.tokens.len()).sum();
                host.progress(written as u64, settings.n as u64 * settings.most as u64, "tokens");
                self.batch.clear();
                for sample in &active {
                    let at = prompt.len() + sample.tokens.len() - 1;
                    let last = sample.tokens.last().copied().unwrap_or(LlamaToken(0));
                    self.batch.add(last, at as i32, &[sample.sequence], true).map_err(compute_failure)?;
                }
                self.context.decode(&mut self.batch).map_err(compute_failure)?;
                for (row, sample) in (0..).zip(&mut active) {
                    sample.choose(self.context.get_logits_ith(row), &mut weights, self.model, settings)?;
                }
            }
        }
        done.sort_by_key(|sample| sample.index);
        let tokens = done.iter().map(|sample| sample.tokens.len()).sum::<usize>();
        let masks: Duration = done.iter().map(|sample| sample.masks).sum();
        host.log(
            LogLevel::Debug,
            &format!(
                "a prompt of {} tokens read in {:.3} s; {tokens} tokens of {} replies written in {:.3} s, of which {:.3} s for masks",
                prompt.len(),
                read.as_secs_f64(),
                done.len(),
                (start.elapsed() - read).as_secs_f64(),
                masks.as_secs_f64()
            ),
        );
        Ok((done.into_iter().map(|sample| sample.into_reply(settings.logprobs)).collect(), tokens))
    }

    /// Reads a prompt into sequence 0, and returns the logits after it. What it shares with the last prompt is not computed again.
    fn read_prompt(&mut self, host: &dyn Host, prompt: &[LlamaToken]) -> Result<Vec<f32>, Failure> {
        let same = self.prompt.iter().zip(prompt).take_while(|(old, new)| old == new).count();
        let mut kept = same.min(prompt.len().saturating_sub(1)) / CHUNK * CHUNK;
        self.context.llama_kv_cache_seq_keep(0);
        if self.context.kv_cache_seq_rm(0, Some(kept as u32), None).is_err() {
            // A model whose state has no positions.
            self.context.clear_kv_cache();
            kept = 0;
        }
        self.prompt.truncate(kept);
        for chunk in prompt.get(kept..).unwrap_or_default().chunks(CHUNK) {
            go_on(host)?;
            host.progress(self.prompt.len() as u64, prompt.len() as u64, "tokens of the prompt");
            self.batch.clear();
            for token in chunk {
                let at = self.prompt.len();
                self.prompt.push(*token);
                let is_last = self.prompt.len() == prompt.len();
                self.batch.add(*token, at as i32, &[0], is_last).map_err(compute_failure)?;
            }
            if let Err(error) = self.context.decode(&mut self.batch) {
                self.prompt.clear();
                return Err(compute_failure(error));
            }
        }
        Ok(self.context.get_logits_ith(self.batch.n_tokens() - 1).to_vec())
    }
}

/// Cells of the cache that the replies take with their next token.
fn cells(active: &[Sample]) -> usize {
    active.iter().map(|sample| sample.tokens.len()).sum()
}
