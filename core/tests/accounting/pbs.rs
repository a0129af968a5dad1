use std::fs;

use jobstats_core::accounting::pbs::{recognizes, records};
use jobstats_core::base::pause::Pause;

#[test]
fn the_jobs_of_pbs_are_those_that_awk_finds() {
    for file in crate::files("pbs_acct") {
        let text = fs::read(&file).unwrap();
        assert!(recognizes(&text), "{}", file.display());
        let problems = crate::check("pbs.sh", &file, records(&text, Pause::NEVER));
        for (line, reason) in problems {
            // The only one is a record that ends before it starts.
            assert_eq!(reason, "bad time", "{} {line}", file.display());
        }
    }
}
