//! Works on several targets or servers at once, because they are independent of each other.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Works on so many targets or servers with a number of workers. Results are in the order of their positions.
pub fn each<W, T: Send, E: Send>(
    count: usize,
    workers: usize,
    worker: impl Fn() -> Result<W, E> + Sync,
    work: impl Fn(&mut W, usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    let run = || -> Result<(), E> {
        let mut worker = worker()?;
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            if position >= count {
                return Ok(());
            }
            // After a failure, the other workers start no further task.
            let result = work(&mut worker, position).inspect_err(|_| {
                next.store(count, Ordering::Relaxed);
            })?;
            if let Ok(mut results) = results.lock() {
                results.insert(position, result);
            }
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers.max(1)).map(|_| scope.spawn(run)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| match thread.join() {
                Ok(ended) => ended,
                Err(panic) => std::panic::resume_unwind(panic),
            })
    })?;
    let results = results.into_inner().unwrap_or_default();
    Ok(results.into_values().collect())
}

/// The number of targets that are worked on at once.
const WORKERS: usize = 2;

/// Processes this many targets or servers, without failures. Results are in the order of their indices.
pub fn all<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let work = |_: &mut (), position| Ok::<_, Infallible>(work(position));
    match each(count, WORKERS, || Ok(()), work) {
        Ok(results) => results,
    }
}
