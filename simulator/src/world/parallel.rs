//! Works on several targets at once, because targets are independent of each other.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::world::{Cluster, TargetIndex};

/// Works on every target of a cluster with a number of workers. Results are in the order of the targets.
pub fn each_target<W, T: Send, E: Send>(
    cluster: &Cluster,
    workers: usize,
    worker: impl Fn() -> Result<W, E> + Sync,
    work: impl Fn(&mut W, TargetIndex) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    let run = || -> Result<(), E> {
        let mut worker = worker()?;
        loop {
            let target = next.fetch_add(1, Ordering::Relaxed);
            if target >= cluster.targets.len() {
                return Ok(());
            }
            // After a failure, the other workers start no further target.
            let result = work(&mut worker, target).inspect_err(|_| {
                next.store(cluster.targets.len(), Ordering::Relaxed);
            })?;
            if let Ok(mut results) = results.lock() {
                results.insert(target, result);
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
