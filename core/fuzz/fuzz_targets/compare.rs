//! Any bytes as two consecutive texts of job_stats: the invariants of comparisons hold for them.
#![no_main]

#[path = "../../tests/text/comparisons.rs"]
mod comparisons;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    // A byte that no line contains separates the two; without it, the second is the first with another end.
    let (first, second) = match text.iter().position(|byte| *byte == 0xFF) {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, &text[..text.len() / 2]),
    };
    comparisons::check(first, second);
});
