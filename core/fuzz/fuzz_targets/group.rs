//! Any bytes as a text of getent group: no number occurs twice, and every name can be stored.
#![no_main]

use jobstats_core::text::getent::NAME_MAX;
use jobstats_core::text::group::{read, recognizes};
use jobstats_core::base::pause::Pause;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let contents = read(text, Pause::NEVER).unwrap();
    assert!(contents.entries.windows(2).all(|pair| pair[0].number < pair[1].number));
    for group in &contents.entries {
        assert!(group.number != u32::MAX && (1..=NAME_MAX).contains(&group.name.len()));
        assert!(!group.name.contains(char::is_control));
    }
    assert!(!recognizes(text) || !contents.entries.is_empty());
});
