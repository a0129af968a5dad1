//! Any bytes as accounting of each scheduler: records are in the order of their lines, each job has a number, no job ends before it
//! starts, and each job can be stored.
#![no_main]

use jobstats_core::accounting::flux::{decimal, f58};
use jobstats_core::accounting::zone::Zone;
use jobstats_core::accounting::{Job, SCHEDULERS, pbs};
use jobstats_core::base::pause::Pause;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let utc = Zone::UTC;
    let lines = text.split(|byte| *byte == b'\n').count();
    for scheduler in SCHEDULERS {
        (scheduler.recognizes)(text);
        let mut records: Vec<_> = (scheduler.records)(text, &utc, Pause::NEVER).collect();
        if scheduler.name == pbs::SCHEDULER.name {
            records.sort_by_key(|record| record.line);
            assert!(pbs::records(text, Pause::NEVER).eq(records.iter().cloned()));
        }
        // Grid Engine has a line for each record.
        let least = u32::from(scheduler.name == "gridengine");
        assert!(records.is_sorted_by(|one, other| other.line >= one.line + least));
        assert!(records.iter().all(|record| (1..=lines).contains(&(record.line as usize))));
        for job in records.iter().filter_map(|record| record.job.as_ref().ok()) {
            check(scheduler.name, job);
        }
    }
    if let Some(id) = std::str::from_utf8(text).ok().and_then(decimal) {
        assert_eq!(decimal(&f58(id)), Some(id));
    }
});

fn check(scheduler: &str, job: &Job<'_>) {
    match scheduler {
        "flux" => {
            let id = job.job.parse().unwrap();
            assert!(id > 0 && job.label == f58(id) && decimal(&job.label) == Some(id));
        }
        "gridengine" => assert!(job.job.parse::<u32>().is_ok_and(|number| number > 0)),
        _ => {}
    }
    if !["flux", "slurm"].contains(&scheduler) {
        assert!(job.job.starts_with(|first: char| first.is_ascii_digit()) && job.label.starts_with(&*job.job));
    }
    assert!(!job.job.is_empty());
    assert!(job.started.zip(job.ended).is_none_or(|(started, ended)| started <= ended));
    let texts = [&job.user_name, &job.group_name, &job.account, &job.job_name, &job.node_list, &job.state];
    let mut texts = texts.into_iter().flatten().chain([&job.label]);
    assert!(texts.all(|text| !text.is_empty() && !text.contains('\0')));
}
