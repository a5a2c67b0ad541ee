//! Races the candidates of one request: walks are drawn block by block, one of each length and direction, and
//! no more for a candidate that is not the best any more, by anytime-valid bounds (see
//! [`planforge_planning::walk::Racer`]).

use crate::measure::{DirectionMeasure, Measured};
use crate::trials::{Drawn, End, Ended, Trials, all_on_candidate};
use planforge_planning::ResourceLimits;
use planforge_planning::walk::{Model, Racer};

/// The result of a race for one candidate.
pub(crate) struct Raced {
    pub(crate) measured: Measured,
    pub(crate) note: RaceStatus,
}

/// The candidate's course through the race.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RaceStatus {
    /// Blocks of walks drawn for this candidate.
    pub(crate) blocks: usize,
    /// True if the candidate was found not to be the best.
    pub(crate) eliminated: bool,
    /// True for the leader.
    pub(crate) leader: bool,
    /// True if the bounds decide the best candidate, or the walks ran out.
    pub(crate) decided: bool,
}

/// A candidate with its walks and their ends.
struct Runner<'m> {
    model: &'m Model,
    drawn: Drawn,
    /// The ends of the reference's walks and of its own, as far as they were tried.
    ends: [Vec<Option<End>>; 2],
}

/// Races models against the reference; `None` for one that cannot race because a direction is not defined.
pub(crate) fn race(
    trials: &Trials<'_>,
    models: &[&Model],
    tolerance: f64,
    seed: u64,
    budget: &mut dyn ResourceLimits,
) -> Result<Vec<Option<Raced>>, Ended> {
    let settings = trials.settings;
    let Some(reference) = trials.draw(seed, budget)? else {
        return Ok(models.iter().map(|_| None).collect());
    };
    let mut racer = Racer::new(models.len(), settings.confidence, tolerance);
    let mut runners = Vec::with_capacity(models.len());
    for (i, model) in models.iter().enumerate() {
        let drawn = trials.draw_candidate(model, seed, budget)?;
        if drawn.is_none() {
            racer.exclude(i);
        }
        runners.push(drawn.map(|drawn| Runner { model, drawn, ends: [Vec::new(), Vec::new()] }));
    }
    let mut blocks = 0;
    let mut decided = false;
    while !decided && blocks < settings.walks {
        // Every look is one crossing a candidate, so they grow rarer; any schedule is valid.
        let next = (blocks + 1 + blocks / 2).min(settings.walks);
        for i in racer.running() {
            let Some(runner) = &mut runners[i] else { continue };
            runner.walk_to(trials, &reference, next, budget)?;
            for block in blocks..next {
                racer.observe(i, runner.block(&reference, block, settings.t_max));
            }
        }
        blocks = next;
        decided = racer.look();
    }
    let leader = racer.leader();
    let raced = runners.iter().zip(racer.candidates()).enumerate().map(|(i, (runner, state))| {
        let runner = runner.as_ref()?;
        let mut measured = Measured::of(vec![runner.problem(trials, &reference)], settings);
        measured.interval = Some(state.interval);
        measured.directions = state.directions.map(Some);
        let note = RaceStatus {
            blocks: state.blocks as usize,
            eliminated: state.eliminated_at.is_some(),
            leader: leader == Some(i),
            decided,
        };
        Some(Raced { measured, note })
    });
    Ok(raced.collect())
}

impl Runner<'_> {
    /// Tries all walks of the blocks up to `blocks`.
    fn walk_to(
        &mut self,
        trials: &Trials<'_>,
        reference: &Drawn,
        blocks: u32,
        budget: &mut dyn ResourceLimits,
    ) -> Result<(), Ended> {
        let walks = (blocks * trials.settings.t_max) as usize;
        let from = self.ends[0].len();
        let fresh = reference.walks.get(from..walks).unwrap_or_default();
        self.ends[0].extend(all_on_candidate(self.model, fresh, budget)?);
        let fresh = self.drawn.walks.get(from..walks).unwrap_or_default();
        self.ends[1].extend(trials.try_all(fresh, budget)?);
        Ok(())
    }

    /// Bounds of the shares of executable walks of one block, reference to candidate first: a walk that could not be drawn may
    /// have been executable or not.
    fn block(&self, reference: &Drawn, block: u32, t_max: u32) -> [(f64, f64); 2] {
        let range = (block * t_max) as usize..((block + 1) * t_max) as usize;
        let bounds = |drawn: &Drawn, ends: &[Option<End>]| {
            let (mut low, mut high, mut lengths) = (0u32, 0u32, 0u32);
            for (length, end) in (1..=t_max).zip(ends.get(range.clone()).unwrap_or_default()) {
                if !drawn.has(length) {
                    continue;
                }
                lengths += 1;
                low += u32::from(end.as_ref().is_some_and(|e| e.refusal.is_none()));
                high += u32::from(end.as_ref().is_none_or(|e| e.refusal.is_none()));
            }
            let share = |n: u32| f64::from(n) / f64::from(lengths.max(1));
            (share(low), share(high))
        };
        [bounds(reference, &self.ends[0]), bounds(&self.drawn, &self.ends[1])]
    }

    fn problem(&self, trials: &Trials<'_>, reference: &Drawn) -> [DirectionMeasure; 2] {
        let tried = self.ends[0].len();
        let one = |drawn: &Drawn, ends: &[Option<End>], names: Vec<String>| {
            DirectionMeasure::Sampled(Box::new(trials.sample(&drawn.first(tried), ends, names)))
        };
        [
            one(reference, &self.ends[0], trials.names()),
            one(&self.drawn, &self.ends[1], self.model.schema_names().to_vec()),
        ]
    }
}
