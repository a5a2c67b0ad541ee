//! The clock as calendar time, UTC.

use crate::context::Machine;
use jiff::Timestamp;
use planforge_contract::{Failure, FailureClass};
use std::time::SystemTime;

/// The time of an event.
pub(crate) fn record_now(machine: &dyn Machine) -> String {
    record_time(clamped(machine.now()))
}

/// The day, `2026-11-23`.
pub(crate) fn today(machine: &dyn Machine) -> String {
    clamped(machine.now()).strftime("%Y-%m-%d").to_string()
}

/// A time as a record has it: to the second.
pub(crate) fn record_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The last time of the calendar if the clock is beyond it, which no run starts with.
fn clamped(clock: SystemTime) -> Timestamp {
    calendar_time(clock).unwrap_or(Timestamp::MAX)
}

/// The calendar time, which ends with the year 9999.
///
/// # Errors
/// `cli.clock`.
pub(crate) fn calendar_time(clock: SystemTime) -> Result<Timestamp, Failure> {
    Timestamp::try_from(clock).map_err(|error| {
        let message = format!("the clock of this machine is set to a time without a date: {error}");
        Failure::new(FailureClass::System, "cli.clock", message).help("set the clock")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_clock_beyond_the_calendar_is_a_failure_of_the_system() {
        let years = |count: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(count * 31_556_952);
        assert!(calendar_time(years(1000)).is_ok());
        let failure = calendar_time(years(285_000)).unwrap_err();
        assert_eq!(
            (failure.class, crate::status::of_failure(&failure)),
            (FailureClass::System, crate::status::Status::System)
        );
    }
}
