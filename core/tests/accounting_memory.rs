//! The jobs of a text are read without memory for them: the allocated memory does not grow with their number.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use jobstats_core::accounting::slurm;
use jobstats_core::accounting::zone::Zone;
use jobstats_core::base::pause::Pause;

/// Returns the resident memory of this process at its highest, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_million_jobs_of_slurm_need_no_memory() {
    let mut text = "JobIDRaw|JobID|User|Start|Reservation|JobName\n".to_owned();
    for job in 1..=1_000_000 {
        writeln!(text, "{job}|{job}|ada|1719835200|maint|simulation").unwrap();
    }
    let before = peak();
    let utc = Zone::UTC;
    let jobs =
        slurm::records(text.as_bytes(), &utc, Pause::NEVER).filter(|record| record.job.is_ok());
    assert_eq!(jobs.count(), 1_000_000);
    let grown = peak() - before;
    assert!(grown < 4 << 10, "{grown} KiB");
}
