//! Readers of accounting look up at least once per megabyte, also where a text has no record.

use std::cell::Cell;

use jobstats_core::accounting::zone::Zone;
use jobstats_core::accounting::{flux, gridengine, lsf, pbs, slurm};
use jobstats_core::pause::Pause;

const MB: usize = 1 << 20;

/// Sources, the beginnings of their texts, and pieces from which no job comes. JSON of Slurm is not among them: where it has
/// no record, its objects are searched for at the speed of memory.
const TEXTS: [(&str, &str, &[&str]); 5] = [
    (
        "slurm",
        "JobIDRaw|JobID|Submit\n",
        &["\n", "1.batch|1.batch|1700000000\n"],
    ),
    (
        "pbs",
        "",
        &[
            "\n",
            "07/05/2024 13:59:00;L;license;floating\n",
            "07/05/2024 13:59:00;E;1[].p;end=1\n",
        ],
    ),
    (
        "lsf",
        "\"JOB_RESIZE\" \"10.1\" 1\n",
        &["\n", "#\n", " 1\n", "\"a\n", "\"JOB_RESIZE\" \"10.1\" 1\n"],
    ),
    ("gridengine", "", &["\n", "# a comment\n"]),
    ("flux", "", &[" ", "{", "{\"id\": 1},"]),
];

/// Reads a text to its end. Whoever takes records looks up between them.
fn read(source: &str, text: &[u8], pause: Pause<'_>) {
    let utc = Zone::UTC;
    match source {
        "slurm" => slurm::records(text, &utc, pause).for_each(|_| pause.now()),
        "pbs" => {
            pbs::records(text, pause).for_each(|_| pause.now());
            pbs::records_by_job(text, pause).for_each(|_| pause.now());
        }
        "lsf" => lsf::records(text, pause).for_each(|_| pause.now()),
        "gridengine" => gridengine::records(text, pause).for_each(|_| pause.now()),
        _ => flux::records(text, pause).for_each(|_| pause.now()),
    }
}

#[test]
fn once_per_megabyte_though_there_is_no_record() {
    for (source, beginning, pieces) in TEXTS {
        for piece in pieces {
            let text = beginning.to_owned() + &piece.repeat(4 * MB / piece.len());
            let looks = Cell::new(0);
            let look = || looks.set(looks.get() + 1);
            read(source, text.as_bytes(), Pause::new(&look));
            let looks = looks.get();
            assert!(looks >= 3, "{source}: {looks} for {piece:?}");
        }
    }
}
