//! Any bytes as a text of lsf: records come in order of their lines, every job has a number, and none ends before it starts.
#![no_main]

use jobstats_core::accounting::lsf::{recognizes, records};
use jobstats_core::pause::Pause;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let lines = text.split(|byte| *byte == b'\n').count();
    let mut last = 0;
    for record in records(text, Pause::NEVER) {
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
    recognizes(text);
});
