//! Any bytes as a page of metrics: no series occurs twice, every value is a number, every text can be stored, and every problem is in a line.
#![no_main]

use std::collections::BTreeSet;

use jobstats_core::text::openmetrics::{names, read};
use jobstats_core::base::pause::Pause;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let lines = text.split(|byte| *byte == b'\n').count() as u64;
    let contents = read(text, |_| true, Pause::NEVER).unwrap();
    let keys = contents.samples.iter().map(|it| (it.name, &it.labels));
    assert_eq!(keys.collect::<BTreeSet<_>>().len(), contents.samples.len());
    let found = contents.samples.len() as u64 + contents.without_value + contents.problems_found;
    assert!(contents.unwanted == 0 && found <= lines);
    let names = names(text, Pause::NEVER);
    for sample in &contents.samples {
        assert!(sample.value.is_finite() && !(sample.is_counter && sample.value < 0.0));
        assert!(names.contains(sample.name) && sample.labels.values().all(|label| !label.is_empty() && !label.contains('\0')));
    }
    assert!(contents.problems.iter().all(|problem| (1..=lines).contains(&problem.line.into())));
    let none = read(text, |_| false, Pause::NEVER).unwrap();
    assert!(none.samples.is_empty() && none.without_value == 0 && none.problems_found <= contents.problems_found);
});
