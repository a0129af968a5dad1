//! Any bytes as the output of `flux jobs --json`: records stand in the order of their lines, and every job can be stored.
#![no_main]

use jobstats_core::accounting::flux::{decimal, f58, recognizes, records};
use jobstats_core::pause::Pause;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let mut line = 1;
    for record in records(text, Pause::NEVER) {
        assert!(record.line >= line);
        line = record.line;
        let Ok(job) = record.job else { continue };
        let id = job.job.parse().unwrap();
        assert!(id > 0 && job.label == f58(id) && decimal(&job.label) == Some(id));
        assert!(job.started.zip(job.ended).is_none_or(|(started, ended)| started <= ended));
        let texts = [&job.user_name, &job.account, &job.job_name, &job.node_list, &job.state];
        assert!(texts.into_iter().flatten().all(|text| !text.is_empty() && !text.contains('\0')));
    }
    assert!(line as usize <= text.split(|byte| *byte == b'\n').count());
    recognizes(text);
    if let Some(id) = std::str::from_utf8(text).ok().and_then(decimal) {
        assert_eq!(decimal(&f58(id)), Some(id));
    }
});
