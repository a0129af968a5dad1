//! Files `accounting` of Grid Engine.

use std::fs;

use jobstats_core::accounting::gridengine::{recognizes, records};
use jobstats_core::base::pause::Pause;

use super::{check, files};

#[test]
fn each_line_is_the_job_that_a_script_finds() {
    for file in files("sge_accounting") {
        let text = fs::read(&file).unwrap();
        assert!(recognizes(&text), "{}", file.display());
        assert_eq!(
            check("gridengine.sh", &file, records(&text, Pause::NEVER)),
            []
        );
    }
}

#[test]
fn the_tasks_of_arrays_are_records_of_their_own() {
    for file in files("sge_accounting__SAFE__8.6.2_cirrus") {
        let text = fs::read(&file).unwrap();
        let jobs: Vec<_> = records(&text, Pause::NEVER)
            .map(|record| record.job.unwrap())
            .collect();
        assert_eq!(jobs.len(), 120);
        assert_eq!(jobs.iter().filter(|job| job.parent.is_some()).count(), 84);
    }
}

#[test]
fn the_output_of_qacct_is_not_taken_for_it() {
    for file in files("sge_qacct") {
        assert!(!recognizes(&fs::read(&file).unwrap()));
    }
}
