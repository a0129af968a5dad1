//! Any text as a list of nodes: every name of it has a length that a name may have.
#![no_main]

use jobstats_core::accounting::node_list::{NAME_MAX, expand};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|list: &str| {
    if let Ok(names) = expand(list) {
        for name in names.take(10_000) {
            assert!((1..=NAME_MAX).contains(&name.len()));
        }
    }
});
