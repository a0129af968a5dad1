//! Lets directories be probed in turn, each with a time limit, and never one of them twice at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use crate::read::probe::fault::{ERROR, Fault, TIMEOUT};

#[cfg(test)]
mod tests;

/// The pause between checks whether a probe has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// The times of the steps that are done.
pub type Steps = Arc<Mutex<Vec<Duration>>>;

/// A probe of a directory that has begun.
#[derive(Debug)]
struct Turn {
    started: Instant,
    steps: Steps,
    thread: JoinHandle<Result<(), Fault>>,
}

impl Turn {
    fn begin(work: impl FnOnce(Steps) -> Result<(), Fault> + Send + 'static) -> Self {
        let steps = Steps::default();
        let of_thread = steps.clone();
        Self {
            started: Instant::now(),
            steps,
            thread: thread::spawn(move || work(of_thread)),
        }
    }

    /// Waits until the probe has ended or has taken this long.
    fn wait(&self, limit: Duration) {
        while !self.thread.is_finished() && self.started.elapsed() < limit {
            sleep(PAUSE);
        }
    }
}

/// The state of the last probe of a directory at the end of a round.
#[derive(Debug)]
pub struct Outcome {
    /// The times of the steps that are done.
    pub steps: Vec<Duration>,
    pub elapsed: Duration,
    pub fault: Option<Fault>,
}

/// The running probes of each directory.
#[derive(Debug)]
pub struct Turns {
    limit: Duration,
    running: Vec<Option<Turn>>,
}

impl Turns {
    pub fn new(directories: usize, limit: Duration) -> Self {
        Self {
            limit,
            running: (0..directories).map(|_| None).collect(),
        }
    }

    /// Probes each directory in which no earlier probe hangs. The next probe begins when the one before has ended, or has taken its share of
    /// the limit, so that a round takes less than twice the limit.
    pub fn round<W>(&mut self, work: W) -> Vec<Outcome>
    where
        W: Fn(usize, Steps) -> Result<(), Fault> + Clone + Send + 'static,
    {
        let share = self.limit / u32::try_from(self.running.len().max(1)).unwrap_or(u32::MAX);
        for (index, running) in self.running.iter_mut().enumerate() {
            running.take_if(|turn| turn.thread.is_finished());
            let work = work.clone();
            let begin = || Turn::begin(move |steps| work(index, steps));
            running.get_or_insert_with(begin).wait(share);
        }
        let limit = self.limit;
        let ended = self.running.iter_mut().filter_map(|running| {
            running.as_ref()?.wait(limit);
            let turn = running.as_ref()?;
            let (steps, started) = (turn.steps.clone(), turn.started);
            let fault = match running.take_if(|turn| turn.thread.is_finished()) {
                None => Some(Fault::new(TIMEOUT, "the probe hangs")),
                Some(turn) => match turn.thread.join() {
                    Ok(end) => end.err(),
                    Err(_) => Some(Fault::new(ERROR, "internal error of the probe")),
                },
            };
            let steps = steps.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let elapsed = started.elapsed();
            Some(Outcome {
                steps,
                elapsed,
                fault,
            })
        });
        ended.collect()
    }
}
