//! Any bytes as a text of job_stats: the invariants of texts hold.
#![no_main]
#![allow(dead_code)]

#[path = "../../tests/text/events.rs"]
mod events;
#[path = "../../tests/text/invariants.rs"]
mod invariants;
#[path = "../../tests/text/readings.rs"]
mod readings;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    // Any place will do to cut the text at, as long as it is the same for the same text.
    let sum: usize = text.iter().map(|byte| usize::from(*byte)).sum();
    invariants::check(text, sum % (text.len() + 1));
});
