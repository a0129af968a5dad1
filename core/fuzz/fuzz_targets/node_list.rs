//! Any text as a list of nodes: its nodes can be counted if a node can be searched in it, and a name alone is in its list.
#![no_main]

use jobstats_core::accounting::node_list::{contains, count, short};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|list: &str| {
    let count = count(list);
    assert_eq!(contains(list, "n1").is_some(), count.is_some());
    if count.is_some() && !list.contains([',', '[']) {
        assert_eq!((count, contains(list, short(list))), (Some(1), Some(true)));
    }
});
