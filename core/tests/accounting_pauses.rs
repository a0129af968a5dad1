//! Readers of accounting look up at least once per megabyte, also where a text has no record.

use std::cell::Cell;

use jobstats_core::accounting::zone::Zone;
use jobstats_core::accounting::{Records, SCHEDULERS, pbs};
use jobstats_core::base::pause::Pause;

const MB: usize = 1 << 20;

/// Schedulers, the beginnings of their texts, and pieces from which no job comes.
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

type Read = for<'a> fn(&'a [u8], &'a Zone, Pause<'a>) -> Records<'a>;

/// Reads a text to its end, and checks that the reader looks up. Whoever takes records looks up between them.
fn check(scheduler: &str, text: &str, read: Read) {
    let looks = Cell::new(0);
    let look = || looks.set(looks.get() + 1);
    let (utc, pause) = (Zone::UTC, Pause::new(&look));
    read(text.as_bytes(), &utc, pause).for_each(|_| pause.now());
    let looks = looks.get();
    assert!(looks >= 3, "{scheduler}: {looks} for {:?}", &text[..40]);
}

#[test]
fn once_per_megabyte_though_there_is_no_record() {
    for scheduler in SCHEDULERS {
        let texts = TEXTS.iter().find(|(name, ..)| *name == scheduler.name);
        let (name, beginning, pieces) =
            texts.unwrap_or_else(|| panic!("TEXTS lacks {}", scheduler.name));
        for piece in *pieces {
            let text = beginning.to_string() + &piece.repeat(4 * MB / piece.len());
            check(name, &text, scheduler.records);
            if *name == "pbs" {
                check(name, &text, |text, _, pause| {
                    Box::new(pbs::records(text, pause))
                });
            }
        }
    }
}
