//! Retries with exponential backoff: a few within seconds, or as many as it takes.

use std::thread;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// The number of attempts at an action. The last attempt starts 1.5 seconds, plus the duration of the earlier attempts, after the first.
const ATTEMPTS: u32 = 5;

/// The pause after the first attempt, doubled after each further attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The limit of the pause after the first failure of attempts that go on until one succeeds.
const FIRST_LIMIT: Duration = Duration::from_secs(1);

/// The largest limit.
const CAP: Duration = Duration::from_secs(60);

/// Repeats an action until it succeeds, fails with an error that is not passing, or has failed as often as is
/// allowed. Returns the result of the last attempt. The thread sleeps in the pauses.
pub fn retry<T, E>(
    is_passing: impl Fn(&E) -> bool,
    action: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    retry_with(thread::sleep, is_passing, action)
}

fn retry_with<T, E>(
    mut sleep: impl FnMut(Duration),
    is_passing: impl Fn(&E) -> bool,
    mut action: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let mut pause = FIRST_PAUSE;
    for _ in 1..ATTEMPTS {
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

/// Returns the pause after this number of failures in series, between attempts that go on until one succeeds. `part` is a random number
/// from 0 to 1.
///
/// A pause is a random part of a limit, which doubles after each failure up to a cap (full jitter). So the clients that a
/// failure hit at the same time do not come back at the same time. The server may request a longer pause, up to the cap.
pub fn pause(failures: u32, part: f64, requested: Duration) -> Duration {
    let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
    let limit = FIRST_LIMIT.saturating_mul(doubled).min(CAP);
    let pause = limit.mul_f64(part.clamp(0.0, 1.0));
    pause.max(requested.min(CAP))
}
