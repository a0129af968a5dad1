//! Any bytes as a text of sacct: records come in the order of lines, none has an end before its start, and names can be stored.
#![no_main]

use jobstats_core::accounting::slurm::{recognizes, records};
use jobstats_core::accounting::zone::Zone;
use jobstats_core::pause::Pause;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    recognizes(text);
    let mut last = 0;
    for record in records(text, &Zone::UTC, Pause::NEVER) {
        assert!(record.line >= last);
        last = record.line;
        let Ok(job) = record.job else { continue };
        assert!(!job.job.is_empty() && !job.label.is_empty() && !job.label.contains('\0'));
        assert!(job.started.is_none_or(|start| job.ended.is_none_or(|end| start <= end)));
    }
});
