//! Retries with exponential backoff: a few within seconds, or as many as it takes.

use std::thread;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// The number of attempts at an action, and the pauses between them.
///
/// With the default of five attempts and a first pause of 100 ms, the last attempt starts 1.5 seconds, plus the duration
/// of the earlier attempts, after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// The number of attempts, including the first. Zero counts as one.
    pub attempts: u32,
    /// The pause after the first attempt, doubled after each further attempt.
    pub first_pause: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 5,
            first_pause: Duration::from_millis(100),
        }
    }
}

impl Retry {
    /// Repeats an action until it succeeds, fails with an error that is not passing, or has failed as often as is
    /// allowed. Returns the result of the last attempt. The thread sleeps in the pauses.
    pub fn run<T, E>(
        &self,
        is_passing: impl Fn(&E) -> bool,
        action: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        self.run_with(thread::sleep, is_passing, action)
    }

    fn run_with<T, E>(
        &self,
        mut sleep: impl FnMut(Duration),
        is_passing: impl Fn(&E) -> bool,
        mut action: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        let mut pause = self.first_pause;
        for _ in 1..self.attempts {
            match action() {
                Err(error) if is_passing(&error) => {
                    sleep(pause);
                    pause = pause.saturating_mul(2);
                }
                ended => return ended,
            }
        }
        action()
    }
}

/// The pauses between attempts that go on until one succeeds.
///
/// A pause is a random part of a limit, which doubles after each failure up to a cap (full jitter). So the clients that a
/// failure hit at the same time do not come back at the same time.
pub struct Backoff;

impl Backoff {
    /// The limit of the pause after the first failure.
    const FIRST: Duration = Duration::from_secs(1);

    /// The largest limit.
    const CAP: Duration = Duration::from_secs(60);

    /// Returns the limit of the pause after this number of failures in series.
    fn limit(failures: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
        Self::FIRST.saturating_mul(doubled).min(Self::CAP)
    }

    /// Returns the pause after this number of failures in series. `part` is a random number from 0 to 1.
    pub fn pause(failures: u32, part: f64) -> Duration {
        Self::limit(failures).mul_f64(part.clamp(0.0, 1.0))
    }

    /// Returns the pause when the server requests one: the longer of both, up to the cap.
    pub fn pause_asked(failures: u32, part: f64, asked: Duration) -> Duration {
        Self::pause(failures, part).max(asked.min(Self::CAP))
    }
}
