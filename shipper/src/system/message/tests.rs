use super::{Level, format, waiting};

#[test]
fn a_message_begins_with_the_name_of_the_program() {
    let text = format(Level::Warning, "the disk is full\n\t/var\u{1b}[2J", false);
    assert_eq!(text, "jobstats-shipper: the disk is full\n /var [2J\n");
}

#[test]
fn each_line_in_the_journal_has_a_level() {
    let text = format(Level::Warning, "the disk is full\n  /var", true);
    assert_eq!(text, "<4>the disk is full\n<4>  /var\n");
}

#[test]
fn one_reading_waits_and_two_wait() {
    assert_eq!([1, 2].map(waiting), ["1 scrape queued", "2 scrapes queued"]);
}
