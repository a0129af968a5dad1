//! Any bytes as two texts of job_stats, one after the other: what the tests say of every comparison holds for them.
#![no_main]

#[path = "../../tests/text/comparisons.rs"]
mod comparisons;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    // Where the second begins is said by a byte that no line has; else it is the first with another end.
    let (first, second) = match text.iter().position(|byte| *byte == 0xFF) {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, &text[..text.len() / 2]),
    };
    comparisons::check(first, second);
});
