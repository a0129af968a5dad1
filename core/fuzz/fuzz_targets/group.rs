//! Any bytes as a text of getent group: no number occurs twice, and every name can be stored.
#![no_main]

use jobstats_core::group::{NAME_MAX, read, recognizes};
use jobstats_core::pause::Pause;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let contents = read(text, Pause::NEVER).unwrap();
    assert!(contents.groups.windows(2).all(|pair| pair[0].gid < pair[1].gid));
    for group in &contents.groups {
        assert!(group.gid != u32::MAX && (1..=NAME_MAX).contains(&group.name.len()));
        assert!(!group.name.contains(char::is_control));
    }
    assert!(!recognizes(text) || !contents.groups.is_empty());
});
