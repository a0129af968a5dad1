//! Tests every layout, character by character. The texts in `golden` were checked by hand.

use super::*;
use crate::lustre::Calls;
use crate::lustre::operation::{
    OPEN_CREATE, READ, RENAME_CROSS, RENAME_FILE_PARALLEL, RENAME_SAME, WRITE, plain,
};

const BOOTED: Nanos = 1_700_000_000 * SECOND;
const BORN: Nanos = 1_749_555_508 * SECOND + 597_767_178;
const LAST: Nanos = 1_749_555_518 * SECOND + 85_497_069;

fn epoch(calls: &[Calls]) -> Epoch {
    let mut epoch = Epoch::new(1, 0, BORN, BORN);
    calls
        .iter()
        .for_each(|calls| epoch.count(calls, LAST, LAST));
    epoch
}

/// Calls of 16 MiB and of more than ten seconds, whose numbers are as wide as their columns.
const ON_AN_OST: &[Calls] = &[
    Calls::new(WRITE, 3, 16_777_216, 12_345_678),
    Calls::new(WRITE, 1, 4_097, 150),
    Calls::new(READ, 2, 4_096, 0),
    Calls::new(READ, 1, 1, 37),
    Calls::new(plain(Op::Punch), 1, 0, 250),
];

const ON_AN_MDT: &[Calls] = &[
    Calls::new(OPEN_CREATE, 4, 0, 80),
    Calls::new(plain(Op::Close), 5, 0, 20),
    Calls::new(RENAME_SAME, 1, 0, 100),
    Calls::new(RENAME_CROSS, 1, 0, 300),
    Calls::new(RENAME_FILE_PARALLEL, 2, 0, 200),
    Calls::new(READ, 1, 65_536, 500),
];

#[track_caller]
fn prints(calls: &[Calls], layout: Layout, kind: TargetKind, golden: &str) {
    let record = record(
        b"11317854:17627127:r01c01",
        &epoch(calls),
        layout,
        kind,
        BOOTED,
    );
    assert_eq!(String::from_utf8(record).unwrap(), golden);
}

macro_rules! layouts {
    ($($test:ident: $calls:ident, $layout:ident, $kind:ident, $golden:literal;)*) => {$(
        #[test]
        fn $test() {
            let golden = include_str!(concat!("golden/", $golden, ".txt"));
            prints($calls, Layout::$layout, TargetKind::$kind, golden);
        }
    )*};
}

layouts! {
    an_ost_of_2_5_counts_bytes_as_read_and_write: ON_AN_OST, V2_5, Ost, "2.5-ost";
    an_ost_of_2_12_loses_the_blank_before_wide_numbers: ON_AN_OST, V2_12, Ost, "2.12-ost";
    an_ost_of_2_14_0_loses_it_too_and_counts_time: ON_AN_OST, V2_14_0, Ost, "2.14.0-ost";
    an_ost_of_2_15_0_shows_the_boot_clock_at_column_0: ON_AN_OST, V2_15_0, Ost, "2.15.0-ost";
    an_ost_of_2_15_8_escapes_colons: ON_AN_OST, V2_15_8, Ost, "2.15.8-ost";
    an_ost_of_2_16_quotes_colons: ON_AN_OST, V2_16, Ost, "2.16-ost";
    an_ost_of_2_17_prints_like_2_16: ON_AN_OST, V2_17, Ost, "2.16-ost";
    an_mdt_of_2_5_counts_requests: ON_AN_MDT, V2_5, Mdt, "2.5-mdt";
    an_mdt_of_2_12_counts_no_io: ON_AN_MDT, V2_12, Mdt, "2.12-mdt";
    an_mdt_of_2_14_0_counts_bytes_but_no_reads: ON_AN_MDT, V2_14_0, Mdt, "2.14.0-mdt";
    an_mdt_of_2_15_0_counts_reads_before_bytes: ON_AN_MDT, V2_15_0, Mdt, "2.15.0-mdt";
    an_mdt_of_2_16_counts_parallel_renames: ON_AN_MDT, V2_16, Mdt, "2.16-mdt";
    an_mdt_of_2_17_counts_tried_locks: ON_AN_MDT, V2_17, Mdt, "2.17-mdt";
}

#[test]
fn the_sum_of_squares_wraps_and_since_2_17_saturates() {
    // 2^24 squared is 2^48; the sum of 2^16 such squares is 2^64.
    let counted = epoch(&[Calls::new(WRITE, 1 << 16, 1 << 24, 1)]);
    let squares = |layout| {
        let record = record(b"x.0", &counted, layout, TargetKind::Ost, 0);
        let text = String::from_utf8(record).unwrap();
        let line = text
            .lines()
            .find(|line| line.contains("write_bytes"))
            .unwrap();
        let (_, squares) = line.split_once("sumsq: ").unwrap();
        squares[..19]
            .trim_end_matches([',', ' '])
            .trim_start()
            .to_owned()
    };
    assert_eq!(squares(Layout::V2_16), "0");
    assert_eq!(squares(Layout::V2_17), "9223372036854775807");
}

#[test]
fn a_clock_that_stepped_back_gives_elapsed_times_without_a_sign() {
    let mut counted = Epoch::new(1, 0, BORN, BORN);
    let calls = Calls::new(WRITE, 1, 1, 1);
    counted.count(&calls, LAST, BORN - SECOND / 4);
    let record = record(b"x.0", &counted, Layout::V2_16, TargetKind::Ost, 0);
    let text = String::from_utf8(record).unwrap();
    assert!(text.contains("  elapsed_time:    18446744073709551615.750000000 secs.nsecs\n"));
}
