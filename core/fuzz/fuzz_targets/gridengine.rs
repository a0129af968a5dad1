//! Any bytes as accounting of Grid Engine: every record has a line of its own, and every job can be stored.
#![no_main]

use jobstats_core::accounting::gridengine::{recognizes, records};
use jobstats_core::pause::Pause;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let mut line = 0;
    for record in records(text, Pause::NEVER) {
        assert!(record.line > line);
        line = record.line;
        let Ok(job) = record.job else { continue };
        assert!(job.job.parse::<u32>().is_ok_and(|number| number > 0));
        assert!(job.label.starts_with(&*job.job));
        assert!(job.started.zip(job.ended).is_none_or(|(started, ended)| started <= ended));
        let texts = [&job.user_name, &job.group_name, &job.account, &job.job_name, &job.node_list];
        assert!(texts.into_iter().flatten().all(|text| !text.is_empty() && !text.contains('\0')));
    }
    assert!(line as usize <= text.split(|byte| *byte == b'\n').count());
    recognizes(text);
});
