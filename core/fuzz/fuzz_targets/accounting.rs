//! Any bytes as an accounting file of PBS and of LSF: records come in the order of their lines, every job has a number, and none ends
//! before it starts.
#![no_main]

use jobstats_core::accounting::{Record, lsf, pbs};
use jobstats_core::pause::Pause;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    check(text, lsf::records(text, Pause::NEVER));
    check(text, pbs::records(text, Pause::NEVER));
    let mut by_job: Vec<_> = pbs::records_by_job(text, Pause::NEVER).collect();
    by_job.sort_by_key(|record| record.line);
    assert!(by_job.into_iter().eq(pbs::records(text, Pause::NEVER)));
    lsf::recognizes(text);
    pbs::recognizes(text);
});

fn check<'a>(text: &[u8], records: impl Iterator<Item = Record<'a>>) {
    let lines = text.split(|byte| *byte == b'\n').count();
    let mut last = 0;
    for record in records {
        assert!(record.line >= last && record.line as usize <= lines);
        last = record.line;
        if let Ok(job) = record.job {
            assert!(job.job.starts_with(|first: char| first.is_ascii_digit()));
            assert!(job.label.starts_with(job.job.as_ref()));
            assert!(
                job.started
                    .zip(job.ended)
                    .is_none_or(|(started, ended)| started <= ended)
            );
        }
    }
}
