//! The rules of `docs/rules.md`, each with tests named after it. They read from rule 1 on; [`support`] has the few words
//! that they are written in. [`pairs`] are whole texts with increments computed by hand, [`histories`] random ones with an
//! oracle that knows what truly happened; [`store`] keeps them in any order.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "what tests share is test code too"
)]

mod histories;
mod lustre;
mod pairs;
mod store;
mod support;

mod rule_01_time;
mod rule_02_baseline;
mod rule_03_births;
mod rule_03_carried;
mod rule_03_counters;
mod rule_03_cut;
mod rule_03_order;
mod rule_04_resets;
mod rule_05_two_epochs;
mod rule_06_bytes_and_calls;
mod rule_07_detail;
mod rule_08_late_snapshot;
mod rule_09_failover;
mod rule_10_boot_clock;
mod rule_11_double_counts;
mod rule_14_impossible;
