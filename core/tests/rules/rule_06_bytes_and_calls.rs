use crate::support::{Target, born, job};

/// The rows of an entry with these counters, then those.
fn rows(before: &str, after: &str) -> Vec<String> {
    let mut target = Target::first(&[job("a", before)]);
    let seen = target.observe(120, &[job("a", after)]);
    let without_detail = |row: &String| row.split(" {").next().unwrap().to_owned();
    seen.rows.iter().map(without_detail).collect()
}

#[test]
fn rule_6_a_read_in_bytes_is_read_bytes_and_read() {
    // 2.5 and older.
    let rows = rows(
        "read 1 bytes 4096 4096 4096, write 1 bytes 1 1 1",
        "read 3 bytes 4096 8192 20480, write 2 bytes 1 1 2",
    );
    assert_eq!(
        rows,
        ["a (0, 120] read_bytes=16384 read=2 write_bytes=1 write=1"]
    );
}

#[test]
fn rule_6_read_bytes_alone_gives_the_calls_too() {
    // OSTs of 2.6 to 2.13.
    let rows = rows(
        "read_bytes 1 bytes 4096 4096 4096",
        "read_bytes 3 bytes 4096 8192 20480",
    );
    assert_eq!(rows, ["a (0, 120] read_bytes=16384 read=2"]);
}

#[test]
fn rule_6_a_read_of_its_own_gives_the_calls_alone() {
    // 2.14 and newer; counters are torn by a few operations, so that the samples may differ.
    let rows = rows(
        "read_bytes 1 bytes 4096 4096 4096, read 1 usecs 10 10 10",
        "read_bytes 3 bytes 4096 8192 20480, read 4 usecs 10 20 45",
    );
    assert_eq!(rows, ["a (0, 120] read_bytes=16384 read=3 read_usecs=35"]);
}

#[test]
fn rule_6_a_read_that_the_previous_text_had_gives_the_calls() {
    let both = "read_bytes 1 bytes 1 1 1, read 1 usecs 10 10 10";
    let other = || born("z", -9, both);
    let mut target = Target::first(&[born("a", -9, both), other()]);
    let seen = target.observe(120, &[born("a", -9, "read_bytes 3 bytes 1 1 3"), other()]);
    assert_eq!(seen.rows, ["a (0, 120] read_bytes=2"]);
    // Not twice: when `read` is back, its growth has all calls.
    let seen = target.observe(
        240,
        &[
            born("a", -9, "read_bytes 4 bytes 1 1 4, read 4 usecs 10 10 40"),
            other(),
        ],
    );
    assert_eq!(
        seen.rows,
        [
            "a (120, 240] read_bytes=1",
            "a (0, 240] read=3 read_usecs=30"
        ]
    );
}

#[test]
fn rule_6_a_newborn_record_that_lacks_read_does_not_count_its_calls_twice() {
    let other = || job("z", "read_bytes 1 bytes 1 1 1, read 1 usecs 10 10 10");
    let mut target = Target::first(&[other()]);
    let seen = target.observe(120, &[job("a", "read_bytes 5 bytes 1 1 5"), other()]);
    assert_eq!(seen.totals, [("a".to_owned(), "read_bytes".to_owned(), 5)]);
    let seen = target.observe(
        240,
        &[
            job("a", "read_bytes 7 bytes 1 1 7, read 7 usecs 10 10 70"),
            other(),
        ],
    );
    let calls: i64 = seen
        .totals
        .iter()
        .filter(|(_, column, _)| column == "read")
        .map(|(.., calls)| calls)
        .sum();
    assert_eq!(calls, 7);
}

#[test]
fn rule_6_read_bytes_in_requests_gives_calls_and_no_bytes() {
    // MDTs of 2.12 and 2.13.
    let rows = rows("read_bytes 1 reqs 7 7 7", "read_bytes 4 reqs 7 9 30");
    assert_eq!(rows, ["a (0, 120] read=3"]);
}

#[test]
fn rule_6_time_exists_only_where_lustre_reports_it() {
    assert_eq!(rows("open 1", "open 3"), ["a (0, 120] open=2"]);
    assert_eq!(
        rows("open 1 usecs 5 5 5", "open 3 usecs 5 5 15"),
        ["a (0, 120] open=2 open_usecs=10"]
    );
}

#[test]
fn rule_6_histograms_grow_element_by_element() {
    let rows = rows(
        "write_bytes 2 bytes 1 4096 4097 1 1=1+4K=1",
        "write_bytes 5 bytes 1 8192 20481 1 1=1+4K=2+8K=2",
    );
    // Element 13 counts sizes in (2^11, 2^12].
    let row = "a (0, 120] write_bytes=16384 write=3 write_bytes_hist[13]=1 write_bytes_hist[14]=2";
    assert_eq!(rows, [row]);
}

#[test]
fn rule_6_a_histogram_without_a_known_previous_one_is_a_baseline() {
    let rows = rows(
        "write_bytes 2 bytes 1 4096 4097",
        "write_bytes 3 bytes 1 4096 4098 1 1=2+4K=1",
    );
    assert_eq!(rows, ["a (0, 120] write_bytes=1 write=1"]);
}
