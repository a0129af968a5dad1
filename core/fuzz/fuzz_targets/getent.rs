//! Any bytes as the output of getent: no number occurs twice, every name can be stored, and every problem is in a line.
#![no_main]

use jobstats_core::text::getent::{Database, NAME_MAX};
use jobstats_core::base::pause::Pause;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    for database in [Database::Passwd, Database::Group] {
        check(database, text);
    }
});

fn check(database: Database, text: &[u8]) {
    let contents = database.read(text, Pause::NEVER).unwrap();
    let lines = text.split(|byte| *byte == b'\n').count() as u64;
    assert!(contents.entries.len() as u64 + contents.problems_found <= lines);
    assert!(contents.entries.windows(2).all(|pair| pair[0].number < pair[1].number));
    for user in &contents.entries {
        assert!(user.number != u32::MAX && (1..=NAME_MAX).contains(&user.name.len()));
        assert!(!user.name.contains(char::is_control));
    }
    assert!(contents.problems.iter().all(|problem| u64::from(problem.line) <= lines));
    assert!(!database.recognizes(text) || !contents.entries.is_empty());
}
