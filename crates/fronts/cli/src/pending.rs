//! Pending requests to models and running plugin calls, with the longest wait of each.

use planforge_app::contract::PluginKind;
use planforge_app::diagnostics::render::escape;
use planforge_app::{CallPhase, CallStep, Progress};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The requests and calls that are under way.
#[derive(Debug, Default)]
pub(crate) struct PendingWork {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By sample path.
    requests: BTreeMap<String, PendingRequest>,
    /// Requests a second that are sent to a model now, by its table.
    rates: BTreeMap<String, f64>,
    /// By sample path and plugin.
    calls: BTreeMap<(String, String), RunningCall>,
}

#[derive(Debug)]
struct PendingRequest {
    llm: String,
    phase: CallPhase,
    since: Instant,
}

#[derive(Debug)]
struct RunningCall {
    kind: PluginKind,
    since: Instant,
}

/// The requests to one model, by what they do.
#[derive(Default)]
struct ModelWaits {
    sent: Vec<Duration>,
    queued: usize,
    /// Remaining time of each wait.
    held: Vec<Duration>,
    backing_off: Vec<Duration>,
}

impl PendingWork {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A question takes a step.
    pub(crate) fn record_step(&self, step: &CallStep<'_>, now: Instant) {
        let mut state = self.state();
        match step.rate {
            Some(rate) => {
                state.rates.insert(step.llm.to_owned(), rate);
            }
            None => {
                state.rates.remove(step.llm);
            }
        }
        if step.phase == CallPhase::Ended {
            state.requests.remove(step.path);
            return;
        }
        let question = PendingRequest { llm: step.llm.to_owned(), phase: step.phase, since: now };
        state.requests.insert(step.path.to_owned(), question);
    }

    /// A plugin's call begins or ends.
    pub(crate) fn record_call(&self, progress: &Progress<'_>, now: Instant) {
        let Progress::Work { path, plugin, kind, begins } = *progress else { return };
        let key = (path.to_owned(), plugin.to_owned());
        let mut state = self.state();
        if begins {
            state.calls.insert(key, RunningCall { kind, since: now });
        } else {
            state.calls.remove(&key);
        }
    }

    /// In one line: `waiting for main: 4 calls, longest 12 s, 2 queued; planner-classical: 1 call, 40 s`. Empty where nothing is under way.
    pub(crate) fn summary(&self, now: Instant) -> String {
        let state = self.state();
        let mut models: BTreeMap<&str, ModelWaits> = BTreeMap::new();
        for question in state.requests.values() {
            let of = models.entry(&question.llm).or_default();
            let waited = now.saturating_duration_since(question.since);
            match question.phase {
                CallPhase::Sent(_) => of.sent.push(waited),
                CallPhase::Held(pause) => of.held.push(pause.saturating_sub(waited)),
                CallPhase::BackingOff(_, pause) => of.backing_off.push(pause.saturating_sub(waited)),
                CallPhase::Queued | CallPhase::Ended => of.queued += 1,
            }
        }
        let mut parts: Vec<String> = models
            .iter()
            .map(|(name, of)| format!("waiting for {}: {}", escape(name), of.text(state.rates.get(*name))))
            .collect();
        let mut plugins: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
        for ((path, plugin), work) in &state.calls {
            // A plugin that waits for a model or an environment is counted there.
            let below =
                |other: &String| other.strip_prefix(path.as_str()).is_some_and(|r| r.starts_with('/'));
            let asks = state.requests.keys().any(below);
            let inner =
                state.calls.keys().any(|(other, own)| own != plugin && (other == path || below(other)));
            let is_inner = work.kind == PluginKind::Environment;
            if !asks && (is_inner || !inner) {
                plugins.entry(plugin).or_default().push(now.saturating_duration_since(work.since));
            }
        }
        // Short calls are not shown.
        plugins.retain(|_, waits| longest(waits) >= Duration::from_secs(1));
        let of_plugin =
            |(plugin, waits): (&&str, &Vec<Duration>)| format!("{}: {}", escape(plugin), call_count(waits));
        parts.extend(plugins.iter().map(of_plugin));
        parts.join("; ")
    }
}

impl ModelWaits {
    fn text(&self, rate: Option<&f64>) -> String {
        let mut parts = Vec::new();
        if !self.sent.is_empty() {
            parts.push(call_count(&self.sent));
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
        parts.extend(rate.map(|rate| format!("at most {rate:.1} requests a second")));
        parts.join(", ")
    }
}

fn longest(waits: &[Duration]) -> Duration {
    waits.iter().max().copied().unwrap_or_default()
}

fn call_count(waits: &[Duration]) -> String {
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

    fn record_step(waiting: &PendingWork, llm: &str, path: &str, phase: CallPhase, now: Instant) {
        waiting.record_step(&CallStep { llm, path, phase, rate: None }, now);
    }

    fn record_call(
        waiting: &PendingWork,
        path: &str,
        plugin: &str,
        kind: PluginKind,
        begins: bool,
        now: Instant,
    ) {
        waiting.record_call(&Progress::Work { path, plugin, kind, begins }, now);
    }

    #[test]
    fn each_model_is_shown_with_its_longest_wait() {
        let (waiting, start) = (PendingWork::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(waiting.summary(start), "");
        record_step(&waiting, "main", "s.p01/problem/0/0", CallPhase::Queued, start);
        assert_eq!(waiting.summary(at(1)), "waiting for main: 1 queued");
        record_step(&waiting, "main", "s.p01/problem/0/0", CallPhase::Sent(1), at(1));
        record_step(&waiting, "main", "s.p02/problem/0/0", CallPhase::Sent(1), at(6));
        record_step(&waiting, "main", "s.p03/problem/0/0", CallPhase::Queued, at(6));
        record_step(
            &waiting,
            "critic",
            "s.p04/c/0/0",
            CallPhase::BackingOff(2, Duration::from_secs(30)),
            at(3),
        );
        record_step(&waiting, "critic", "s.p05/c/0/0", CallPhase::Held(Duration::from_secs(9)), at(10));
        assert_eq!(
            waiting.summary(at(13)),
            "waiting for critic: 1 held by its rate for 6 s, 1 failed and will be tried again, next in 20 s; \
             waiting for main: 2 calls, longest 12 s, 1 queued"
        );
        for path in ["s.p01/problem/0/0", "s.p03/problem/0/0", "s.p04/c/0/0", "s.p05/c/0/0"] {
            record_step(&waiting, "main", path, CallPhase::Ended, at(14));
        }
        assert_eq!(waiting.summary(at(206)), "waiting for main: 1 call, 3 min 20 s");
    }

    #[test]
    fn the_rate_of_a_limited_model_is_shown() {
        let (waiting, start) = (PendingWork::default(), Instant::now());
        let step =
            |rate| CallStep { llm: "main", path: "s.p01/problem/0/0", phase: CallPhase::Sent(1), rate };
        waiting.record_step(&step(Some(1.94)), start);
        assert_eq!(waiting.summary(start), "waiting for main: 1 call, 0 s, at most 1.9 requests a second");
        waiting.record_step(&step(None), start);
        assert_eq!(waiting.summary(start), "waiting for main: 1 call, 0 s");
    }

    #[test]
    fn running_plugins_are_shown_and_waiting_ones_are_not() {
        let (waiting, start) = (PendingWork::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        record_call(&waiting, "s.p01/plan/0", "planner-classical", PluginKind::Planner, true, start);
        assert_eq!(waiting.summary(start), "", "a call that has just started is not shown");
        assert_eq!(waiting.summary(at(40)), "planner-classical: 1 call, 40 s");
        // A translator that waits for its model is counted with the model, a verifier with its environment.
        record_call(&waiting, "s.p02/problem", "translator-direct", PluginKind::Translator, true, start);
        record_step(&waiting, "main", "s.p02/problem/0/0", CallPhase::Sent(1), at(1));
        record_call(&waiting, "s.p03/ew/0", "verifier-ew", PluginKind::Verifier, true, start);
        record_call(&waiting, "s.p03/ew/0", "environment-pddl", PluginKind::Environment, true, at(2));
        assert_eq!(
            waiting.summary(at(40)),
            "waiting for main: 1 call, 39 s; environment-pddl: 1 call, 38 s; planner-classical: 1 call, 40 s"
        );
        record_call(&waiting, "s.p03/ew/0", "environment-pddl", PluginKind::Environment, false, at(40));
        record_call(&waiting, "s.p01/plan/0", "planner-classical", PluginKind::Planner, false, at(40));
        record_step(&waiting, "main", "s.p02/problem/0/0", CallPhase::Ended, at(40));
        record_call(&waiting, "s.p02/problem", "translator-direct", PluginKind::Translator, false, at(40));
        assert_eq!(waiting.summary(at(60)), "verifier-ew: 1 call, 1 min 0 s");
    }
}
