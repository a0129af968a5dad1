//! Any bytes as a text of getent passwd: no number occurs twice, every name can be stored, and every problem is in a line.
#![no_main]

use jobstats_core::passwd::{NAME_MAX, is_passwd, read};
use jobstats_core::pause::Pause;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let contents = read(text, Pause::NEVER).unwrap();
    let lines = text.split(|byte| *byte == b'\n').count() as u64;
    assert!(contents.users.len() as u64 + contents.problems_found <= lines);
    assert!(contents.users.windows(2).all(|pair| pair[0].uid < pair[1].uid));
    for user in &contents.users {
        assert!(user.uid != u32::MAX && (1..=NAME_MAX).contains(&user.name.len()));
        assert!(!user.name.contains(char::is_control));
    }
    assert!(contents.problems.iter().all(|problem| u64::from(problem.line) <= lines));
    assert!(!is_passwd(text) || !contents.users.is_empty());
});
