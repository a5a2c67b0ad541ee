//! The host object that a provider gets: log, progress, quotas of the server, cancellation and deadline, nothing else.

use planforge_contract::RateLimits;
use planforge_contract::api::{Host, LogLevel};
use planforge_record::Redactor;

pub(crate) struct ProviderHost<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) redactor: &'a Redactor,
    pub(crate) cancelled: &'a (dyn Fn() -> bool + Sync + Send),
    pub(crate) observe: &'a (dyn Fn(&RateLimits) + Sync + Send),
}

impl Host for ProviderHost<'_> {
    fn log(&self, level: LogLevel, message: &str) {
        self.host.log(level, &self.redactor.text(message));
    }
    fn rate_limits(&self, limits: &RateLimits) {
        (self.observe)(limits);
    }
    fn progress(&self, done: u64, total: u64, what: &str) {
        self.host.progress(done, total, &self.redactor.text(what));
    }
    fn cancelled(&self) -> bool {
        (self.cancelled)()
    }
    fn remaining_ms(&self) -> Option<u64> {
        self.host.remaining_ms()
    }
}
