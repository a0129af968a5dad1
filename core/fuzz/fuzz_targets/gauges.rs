//! Any bytes as the value of each gauge: no sample is negative, and two samples of a text differ in their names or labels.
#![no_main]

use std::collections::BTreeSet;

use jobstats_core::text::additional_parameters::{Other, Parameter, Problems};
use jobstats_core::base::pause::Pause;
use jobstats_core::text::gauges;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let names = [
        "osd-zfs.fs-OST0000.kbytesfree",
        "health_check",
        "mdt.fs-MDT0000.recovery_status",
        "mdd.fs-MDT0000.changelog_users",
        "ost.OSS.ost_io.nrs_policies",
        "ost.OSS.ost_io.nrs_tbf_rule",
        "nodemap.default.md_stats",
    ];
    let others = names.map(|name| Other {
        parameter: Parameter::parse(name.as_bytes()).unwrap(),
        line: 1,
        value: text.into(),
    });
    let mut problems = Problems::default();
    let samples = gauges::read(&others, &mut problems, Pause::NEVER).unwrap();
    let keys = samples.iter().map(|it| (it.target, it.name, &it.labels));
    assert_eq!(keys.collect::<BTreeSet<_>>().len(), samples.len());
    assert!(samples.iter().all(|it| it.value >= 0 && it.labels.iter().all(|(_, label)| !label.contains('\0'))));
    let lines = text.split(|byte| *byte == b'\n').count();
    assert!(problems.kept.iter().all(|problem| (1..=lines).contains(&(problem.line as usize))));
    assert!(text.is_empty() || text.ends_with(b"\n") || samples.is_empty(), "the value may be cut");
});
