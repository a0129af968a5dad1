//! Shows who uses a Lustre file system, from a store, or from `job_stats` as its servers print it, live or recorded.

use std::process::ExitCode;

fn main() -> ExitCode {
    jobstats_console::run()
}
