//! Walks drawn once and executed on any number of other models.

use super::model::Model;
use super::sample::{DrawOutcome, SampleSpec, Trial, Walker};
use super::step::ActionId;
use crate::resources::{ResourceLimits, StopReason};
use planforge_pddl::random::Random;

/// Walks of one model: those that [`sample_direction`](super::sample_direction) draws of it as a source.
#[derive(Debug)]
pub struct DrawnWalks<'m> {
    source: &'m Model,
    /// Walks by index; `None` if no walk of that length was found.
    walks: Vec<Option<Box<[ActionId]>>>,
}

impl<'m> DrawnWalks<'m> {
    /// Draws `total` walks. `Ok(None)` where the model has no applicable action initially.
    ///
    /// # Errors
    /// The budget's stop.
    pub fn draw(
        source: &'m Model,
        spec: &SampleSpec,
        total: u64,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Option<Self>, StopReason> {
        let Some(mut walker) = Walker::new(source, spec.policy)? else { return Ok(None) };
        let t_max = u64::from(spec.t_max.max(1));
        // A length that had no walk at first is not tried again.
        let mut given_up = vec![false; t_max as usize];
        let mut found = given_up.clone();
        let mut walks = Vec::new();
        for k in 0..total {
            let slot = (k % t_max) as usize;
            if given_up[slot] && !found[slot] {
                walks.push(None);
                continue;
            }
            let mut random = Random::stream(spec.seed, k);
            let walked = walker.draw(slot as u32 + 1, spec.dead_ends, &mut random, resources)?;
            let lost = walked == DrawOutcome::GivenUp;
            given_up[slot] |= lost;
            found[slot] |= !lost;
            walks.push((!lost).then(|| walker.walk.as_slice().into()));
        }
        Ok(Some(DrawnWalks { source, walks }))
    }

    /// Executes them on another model, one after the other.
    pub fn on<'e>(&'e self, target: &'e Model) -> WalkExecution<'e> {
        WalkExecution { walks: &self.walks, trial: Trial::new(self.source, target), done: 0, failed: false }
    }
}

/// Walks being executed on a model.
#[derive(Debug)]
pub struct WalkExecution<'e> {
    walks: &'e [Option<Box<[ActionId]>>],
    trial: Trial<'e>,
    done: usize,
    failed: bool,
}

impl WalkExecution<'_> {
    /// Executes walks until `total` of them were tried, or all. Whether every one so far could be executed to its end.
    pub fn run_to(&mut self, total: u64) -> bool {
        let end = usize::try_from(total).map_or(self.walks.len(), |total| total.min(self.walks.len()));
        for walk in self.walks.get(self.done..end).unwrap_or_default().iter().flatten() {
            self.failed |= self.trial.refused_at(walk).is_some();
        }
        self.done = self.done.max(end);
        !self.failed
    }
}
