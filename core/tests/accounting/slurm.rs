//! Output of Slurm's `sacct`.

use std::fs;

use jobstats_core::accounting::slurm::{recognizes, records};
use jobstats_core::accounting::zone::Zone;
use jobstats_core::base::pause::Pause;

use super::{check, files};

#[test]
fn each_row_is_the_job_that_a_script_finds() {
    for file in files("slurm_sacct") {
        let text = fs::read(&file).unwrap();
        let problems = check("slurm.sh", &file, records(&text, &Zone::UTC, Pause::NEVER));
        let is_known = recognizes(&text);
        let expected = if is_known {
            vec![]
        } else {
            vec![(1, "no header")]
        };
        assert_eq!(problems, expected, "{}", file.display());
        let has_header = ["cirrus", "oxford"]
            .iter()
            .any(|part| file.to_string_lossy().contains(part));
        assert_eq!(is_known, has_header, "{}", file.display());
    }
}

#[test]
fn texts_of_other_sources_are_not_taken_for_it() {
    for prefix in ["pbs", "lsf", "sge", "lustre", "mistral"] {
        for file in files(prefix) {
            assert!(!recognizes(&fs::read(&file).unwrap()), "{}", file.display());
        }
    }
}
