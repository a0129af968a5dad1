//! Any bytes as a list of the space of owners: each owner occurs once, or the list is rejected with one reason.
#![no_main]

use jobstats_core::text::additional_parameters::{Other, Parameter, Problems};
use jobstats_core::base::pause::Pause;
use jobstats_core::text::used::read;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    for kind in ["user", "group", "project"] {
        let name = format!("osd-ldiskfs.fs-MDT0000.quota_slave.acct_{kind}");
        let other = Other {
            parameter: Parameter::parse(name.as_bytes()).unwrap(),
            line: 1,
            value: text.into(),
        };
        let mut problems = Problems::default();
        match read(&other, &mut problems, Pause::NEVER).unwrap() {
            None => assert_eq!(problems.kept.len(), 1),
            Some(used) => {
                assert!(problems.kept.is_empty());
                assert!(other.cut().is_none_or(|(_, line)| line.trim_ascii().is_empty()));
                assert!(used.is_sorted_by(|one, next| one.id < next.id));
                assert!(used.iter().all(|row| row.kbytes >= 0 && row.inodes >= 0));
            }
        }
    }
});
