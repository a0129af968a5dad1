use std::fs;

use jobstats_core::accounting::lsf::{recognizes, records};
use jobstats_core::base::pause::Pause;

#[test]
fn the_jobs_of_lsf_are_those_that_python_finds() {
    for file in crate::files("lsf_lsb.acct") {
        let text = fs::read(&file).unwrap();
        assert!(recognizes(&text), "{}", file.display());
        assert_eq!(
            crate::check("lsf.sh", &file, records(&text, Pause::NEVER)),
            []
        );
    }
}
