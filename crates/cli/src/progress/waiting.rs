//! Pending requests to models and running plugin calls, with the longest wait of each.

use planforge_contract::PluginKind;
use planforge_diagnostics::render::escape;
use planforge_llm::{CallPhase, CallStep};
use planforge_pipeline::Progress;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The questions and calls that are under way.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By sample path.
    questions: BTreeMap<String, Question>,
    /// By sample path and plugin.
    works: BTreeMap<(String, String), Work>,
}

#[derive(Debug)]
struct Question {
    llm: String,
    phase: CallPhase,
    since: Instant,
}

#[derive(Debug)]
struct Work {
    kind: PluginKind,
    since: Instant,
}

/// The questions to one model, by what they do.
#[derive(Default)]
struct OfModel {
    sent: Vec<Duration>,
    queued: usize,
    /// Remaining time of each wait.
    held: Vec<Duration>,
    backing_off: Vec<Duration>,
}

impl Waiting {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A question takes a step.
    pub(crate) fn step(&self, step: &CallStep<'_>, now: Instant) {
        let mut state = self.state();
        if step.phase == CallPhase::Ended {
            state.questions.remove(step.path);
            return;
        }
        let question = Question { llm: step.llm.to_owned(), phase: step.phase, since: now };
        state.questions.insert(step.path.to_owned(), question);
    }

    /// A plugin's call begins or ends.
    pub(crate) fn work(&self, progress: &Progress<'_>, now: Instant) {
        let Progress::Work { path, plugin, kind, begins } = *progress else { return };
        let key = (path.to_owned(), plugin.to_owned());
        let mut state = self.state();
        if begins {
            state.works.insert(key, Work { kind, since: now });
        } else {
            state.works.remove(&key);
        }
    }

    /// In one line: `waiting for main: 4 calls, longest 12 s, 2 queued; planner-classical: 1 call, 40 s`. Empty where nothing is under way.
    pub(crate) fn line(&self, now: Instant) -> String {
        let state = self.state();
        let mut models: BTreeMap<&str, OfModel> = BTreeMap::new();
        for question in state.questions.values() {
            let of = models.entry(&question.llm).or_default();
            let waited = now.saturating_duration_since(question.since);
            match question.phase {
                CallPhase::Sent(_) => of.sent.push(waited),
                CallPhase::Held(pause) => of.held.push(pause.saturating_sub(waited)),
                CallPhase::BackingOff(_, pause) => of.backing_off.push(pause.saturating_sub(waited)),
                CallPhase::Queued | CallPhase::Ended => of.queued += 1,
            }
        }
        let mut parts: Vec<String> =
            models.iter().map(|(name, of)| format!("waiting for {}: {}", escape(name), of.text())).collect();
        let mut plugins: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
        for ((path, plugin), work) in &state.works {
            // Who waits for a model, or for an environment, is told with that.
            let below =
                |other: &String| other.strip_prefix(path.as_str()).is_some_and(|r| r.starts_with('/'));
            let asks = state.questions.keys().any(below);
            let inner =
                state.works.keys().any(|(other, own)| own != plugin && (other == path || below(other)));
            let is_inner = work.kind == PluginKind::Environment;
            if !asks && (is_inner || !inner) {
                plugins.entry(plugin).or_default().push(now.saturating_duration_since(work.since));
            }
        }
        // What is done in a moment is no wait.
        plugins.retain(|_, waits| longest(waits) >= Duration::from_secs(1));
        let of_plugin =
            |(plugin, waits): (&&str, &Vec<Duration>)| format!("{}: {}", escape(plugin), calls(waits));
        parts.extend(plugins.iter().map(of_plugin));
        parts.join("; ")
    }
}

impl OfModel {
    fn text(&self) -> String {
        let mut parts = Vec::new();
        if !self.sent.is_empty() {
            parts.push(calls(&self.sent));
        }
        if self.queued > 0 {
            parts.push(format!("{} queued", self.queued));
        }
        let shortest = |left: &[Duration]| seconds(left.iter().min().copied().unwrap_or_default());
        if !self.held.is_empty() {
            parts.push(format!("{} held by its rate for {}", self.held.len(), shortest(&self.held)));
        }
        if !self.backing_off.is_empty() {
            let next = shortest(&self.backing_off);
            parts.push(format!("{} failed and will be tried again, next in {next}", self.backing_off.len()));
        }
        parts.join(", ")
    }
}

fn longest(waits: &[Duration]) -> Duration {
    waits.iter().max().copied().unwrap_or_default()
}

fn calls(waits: &[Duration]) -> String {
    match waits {
        [only] => format!("1 call, {}", seconds(*only)),
        waits => format!("{} calls, longest {}", waits.len(), seconds(longest(waits))),
    }
}

/// `12 s`, `3 min 20 s`, `2 h 5 min`.
pub(crate) fn seconds(duration: Duration) -> String {
    let all = duration.as_secs();
    match (all / 3600, all / 60 % 60, all % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(waiting: &Waiting, llm: &str, path: &str, phase: CallPhase, now: Instant) {
        waiting.step(&CallStep { llm, path, phase }, now);
    }

    fn work(waiting: &Waiting, path: &str, plugin: &str, kind: PluginKind, begins: bool, now: Instant) {
        waiting.work(&Progress::Work { path, plugin, kind, begins }, now);
    }

    #[test]
    fn each_model_is_told_with_its_longest_wait() {
        let (waiting, start) = (Waiting::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(waiting.line(start), "");
        step(&waiting, "main", "s.p01/problem/0/0", CallPhase::Queued, start);
        assert_eq!(waiting.line(at(1)), "waiting for main: 1 queued");
        step(&waiting, "main", "s.p01/problem/0/0", CallPhase::Sent(1), at(1));
        step(&waiting, "main", "s.p02/problem/0/0", CallPhase::Sent(1), at(6));
        step(&waiting, "main", "s.p03/problem/0/0", CallPhase::Queued, at(6));
        step(&waiting, "critic", "s.p04/c/0/0", CallPhase::BackingOff(2, Duration::from_secs(30)), at(3));
        step(&waiting, "critic", "s.p05/c/0/0", CallPhase::Held(Duration::from_secs(9)), at(10));
        assert_eq!(
            waiting.line(at(13)),
            "waiting for critic: 1 held by its rate for 6 s, 1 failed and will be tried again, next in 20 s; \
             waiting for main: 2 calls, longest 12 s, 1 queued"
        );
        for path in ["s.p01/problem/0/0", "s.p03/problem/0/0", "s.p04/c/0/0", "s.p05/c/0/0"] {
            step(&waiting, "main", path, CallPhase::Ended, at(14));
        }
        assert_eq!(waiting.line(at(206)), "waiting for main: 1 call, 3 min 20 s");
    }

    #[test]
    fn plugins_that_work_by_themselves_are_told_and_those_that_wait_are_not() {
        let (waiting, start) = (Waiting::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        work(&waiting, "s.p01/plan/0", "planner-classical", PluginKind::Planner, true, start);
        assert_eq!(waiting.line(start), "", "what has just begun is no wait");
        assert_eq!(waiting.line(at(40)), "planner-classical: 1 call, 40 s");
        // A translator that waits for its model is told with the model, a verifier that asks the environment with that.
        work(&waiting, "s.p02/problem", "translator-direct", PluginKind::Translator, true, start);
        step(&waiting, "main", "s.p02/problem/0/0", CallPhase::Sent(1), at(1));
        work(&waiting, "s.p03/ew/0", "verifier-ew", PluginKind::Verifier, true, start);
        work(&waiting, "s.p03/ew/0", "environment-pddl", PluginKind::Environment, true, at(2));
        assert_eq!(
            waiting.line(at(40)),
            "waiting for main: 1 call, 39 s; environment-pddl: 1 call, 38 s; planner-classical: 1 call, 40 s"
        );
        work(&waiting, "s.p03/ew/0", "environment-pddl", PluginKind::Environment, false, at(40));
        work(&waiting, "s.p01/plan/0", "planner-classical", PluginKind::Planner, false, at(40));
        step(&waiting, "main", "s.p02/problem/0/0", CallPhase::Ended, at(40));
        work(&waiting, "s.p02/problem", "translator-direct", PluginKind::Translator, false, at(40));
        assert_eq!(waiting.line(at(60)), "verifier-ew: 1 call, 1 min 0 s");
    }
}
