//! Tests the form of each layout, character by character.

use super::*;
use crate::lustre::Calls;
use crate::lustre::operation::{OPEN_CREATE, READ, WRITE, plain};
use crate::time::parse;
use crate::world::Preset;

const ON_AN_OST: &[Calls] = &[
    Calls::new(WRITE, 3, 16_777_216, 12_345_678),
    Calls::new(WRITE, 1, 4_097, 150),
    Calls::new(READ, 2, 4_096, 7),
    Calls::new(plain(Op::Statfs), 5, 0, 40),
    Calls::new(plain(Op::SetInfo), 1, 0, 10),
];
const ON_AN_MDT: &[Calls] = &[
    Calls::new(OPEN_CREATE, 4, 0, 80),
    Calls::new(plain(Op::Close), 5, 0, 20),
];

#[track_caller]
fn prints(layout: Layout, kind: TargetKind, expected: &str) {
    let mut cluster = Cluster::new(Preset::Small, "small", 1, layout, 1.0);
    cluster.disturbed = false;
    cluster.servers[1].booted = parse("2025-06-01T00:00:00Z").unwrap();
    let counted = match kind {
        TargetKind::Mdt => ON_AN_MDT,
        TargetKind::Ost => ON_AN_OST,
    };
    let mut counters = Counters::default();
    counted.iter().for_each(|calls| counters.add(calls));
    let since = parse("2025-06-01T04:30:00.25Z").unwrap();
    let time = parse("2025-06-01T12:00:01.0432105Z").unwrap();
    let text = Stats::new(&cluster, 1, since, time).operations(&counters, kind, 12);
    assert_eq!(text.text, expected);
}

#[test]
fn an_object_target_of_2_5_counts_methods_and_unpadded_microseconds() {
    prints(
        Layout::V2_5,
        TargetKind::Ost,
        "snapshot_time             1748779201.43210 secs.usecs\n\
         read_bytes                2 samples [bytes] 4096 4096 8192\n\
         write_bytes               4 samples [bytes] 4097 16777216 50335745\n\
         set_info_async            1 samples [reqs]\n\
         connect                   1 samples [reqs]\n\
         statfs                    5 samples [reqs]\n\
         preprw                    6 samples [reqs]\n\
         commitrw                  6 samples [reqs]\n\
         ping                      12 samples [reqs]\n",
    );
}

#[test]
fn a_metadata_target_of_2_12_counts_requests() {
    prints(
        Layout::V2_12,
        TargetKind::Mdt,
        "snapshot_time             1748779201.043210500 secs.nsecs\n\
         open                      4 samples [reqs]\n\
         close                     5 samples [reqs]\n\
         mknod                     4 samples [reqs]\n",
    );
}

#[test]
fn an_object_target_of_2_12_sums_bytes() {
    prints(
        Layout::V2_12,
        TargetKind::Ost,
        "snapshot_time             1748779201.043210500 secs.nsecs\n\
         read_bytes                2 samples [bytes] 4096 4096 8192\n\
         write_bytes               4 samples [bytes] 4097 16777216 50335745\n\
         statfs                    5 samples [reqs]\n\
         set_info                  1 samples [reqs]\n",
    );
}

#[test]
fn a_metadata_target_of_2_14_0_counts_time() {
    prints(
        Layout::V2_14_0,
        TargetKind::Mdt,
        "snapshot_time             1748779201.043210500 secs.nsecs\n\
         open                      4 samples [usecs] 80 80 320 25600\n\
         close                     5 samples [usecs] 20 20 100 2000\n\
         mknod                     4 samples [usecs] 80 80 320 25600\n",
    );
}

#[test]
fn the_clock_of_2_15_0_begins_at_boot_and_has_no_start() {
    prints(
        Layout::V2_15_0,
        TargetKind::Mdt,
        "snapshot_time             43201.043210500 secs.nsecs\n\
         start_time                0.000000000 secs.nsecs\n\
         elapsed_time              43201.043210500 secs.nsecs\n\
         open                      4 samples [usecs] 80 80 320 25600\n\
         close                     5 samples [usecs] 20 20 100 2000\n\
         mknod                     4 samples [usecs] 80 80 320 25600\n",
    );
}

#[test]
fn since_2_15_8_there_is_a_start() {
    for layout in [Layout::V2_15_8, Layout::V2_16] {
        prints(
            layout,
            TargetKind::Ost,
            "snapshot_time             1748779201.043210500 secs.nsecs\n\
             start_time                1748752200.250000000 secs.nsecs\n\
             elapsed_time              27000.793210500 secs.nsecs\n\
             read_bytes                2 samples [bytes] 4096 4096 8192 33554432\n\
             write_bytes               4 samples [bytes] 4097 16777216 50335745 844424946917377\n\
             read                      2 samples [usecs] 7 7 14 98\n\
             write                     4 samples [usecs] 150 12345678 37037184 457247295861552\n\
             statfs                    5 samples [usecs] 40 40 200 8000\n\
             set_info                  1 samples [usecs] 10 10 10 100\n",
        );
    }
}

#[test]
fn the_names_of_2_17_take_more_room() {
    prints(
        Layout::V2_17,
        TargetKind::Mdt,
        "snapshot_time                       1748779201.043210500 secs.nsecs\n\
         start_time                          1748752200.250000000 secs.nsecs\n\
         elapsed_time                        27000.793210500 secs.nsecs\n\
         open                                4 samples [usecs] 80 80 320 25600\n\
         close                               5 samples [usecs] 20 20 100 2000\n\
         mknod                               4 samples [usecs] 80 80 320 25600\n",
    );
}

#[test]
fn the_sum_of_squares_of_2_5_is_signed() {
    assert_eq!(Layout::V2_5.stats_squares(1 << 63), "-9223372036854775808");
    assert_eq!(Layout::V2_12.stats_squares(1 << 63), "9223372036854775808");
}
