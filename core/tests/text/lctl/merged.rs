//! Error messages in the same file or pipe: `lctl get_param … > file 2>&1`.

use jobstats_core::base::pause::Pause;
use jobstats_core::rules::snapshot;

use crate::reading;

const TEXT: &str = "\
obdfilter.a-OST0000.job_stats=
job_stats:
- job_id:          wget.1000
  snapshot_time:   1749555518.685497069 secs.nsecs
  start_time:      1749555508.597767178 secs.nsecs
  elapsed_time:    10.087729891 secs.nsecs
  punch:           { samples:           7, unit: usecs, min:        1, max:        5, sum:               20, sumsq:                 80 }
  sync:            { samples:           0, unit: usecs, min:        0, max:        0, sum:                0, sumsq:                  0 }
mdt.a-MDT0000.job_stats=
job_stats:
- job_id:          \"1:1000:r01\"
  snapshot_time:   1749555518.685497069 secs.nsecs
  open:            { samples:           3, unit: usecs, min:        1, max:        5, sum:               10, sumsq:                 40 }
";

const READ: &str = "\
OST a-OST0000
  'wget.1000' snapshot 1749555518.685497069 start 1749555508.597767178
    sync 0
    punch 7 Microseconds 1..5 sum 20 sumsq 80
MDT a-MDT0000
  '1:1000:r01' snapshot 1749555518.685497069
    open 3 Microseconds 1..5 sum 10 sumsq 40
";

const MESSAGES: [&str; 3] = [
    "error: get_param: param_path 'mdt/*/mdt_num': No such file or directory\n",
    "error: read_param: '/sys/kernel/debug/lustre/obdfilter/a-OST0000/brw_stats': Input/output error\n",
    "error: get_param: reading 'mdt.b-MDT0001.job_stats': Permission denied\n",
];

#[test]
fn the_text_is_read_whole() {
    assert_eq!(reading(TEXT), READ);
}

#[test]
fn a_message_between_lines() {
    for message in MESSAGES {
        let mut offsets: Vec<_> = TEXT.match_indices('\n').map(|(feed, _)| feed + 1).collect();
        offsets.push(0);
        for offset in offsets {
            let (before, after) = TEXT.split_at(offset);
            assert_eq!(
                reading(format!("{before}{message}{after}")),
                READ,
                "{offset}"
            );
        }
    }
}

/// Values are buffered, messages are not: a message can stand anywhere. Only in the name of a target it costs that.
#[test]
fn a_message_anywhere() {
    for message in MESSAGES {
        for offset in 0..TEXT.len() {
            let (before, after) = TEXT.split_at(offset);
            let line_begin = before.rfind('\n').map_or(0, |feed| feed + 1);
            let name = TEXT[line_begin..].find("job_stats=").unwrap_or(0) + "job_stats".len();
            let in_name = TEXT[line_begin..].starts_with(['o', 'm'])
                && (line_begin + 1..=line_begin + name).contains(&offset);
            if !in_name {
                assert_eq!(
                    reading(format!("{before}{message}{after}")),
                    READ,
                    "{before}"
                );
            }
        }
    }
}

#[test]
fn several_messages_in_one_line() {
    let messages = MESSAGES.concat();
    let text = TEXT.replace(
        "samples:           3",
        &format!("samples: {}{messages}  {messages}        3", MESSAGES[0]),
    );
    assert_eq!(reading(text), READ);
}

#[test]
fn a_message_in_a_name_costs_the_target() {
    let name = "mdt.a-MDT0000.job_stats=";
    let interrupted = format!("mdt.a-MDT{}0000.job_stats=", MESSAGES[0]);
    assert_eq!(
        reading(TEXT.replace(name, &interrupted)),
        READ[..READ.find("MDT").unwrap()].to_owned()
            + "! 12 record without target: - job_id:          \"1:1000:r01\"\n"
    );
}

/// A target with an error message is incomplete; a target with only the message is left out.
#[test]
fn a_message_about_job_stats_makes_its_target_incomplete() {
    for (message, target) in [
        (
            "error: get_param: reading 'obdfilter.a-OST0000.job_stats': Interrupted system call\n",
            "OST a-OST0000",
        ),
        (
            "error: get_param: opening '/proc/fs/lustre/mdt/a-MDT0000/job_stats': Permission denied\n",
            "MDT a-MDT0000",
        ),
        (
            "error: read_param: '/proc/fs/lustre/mdt/a-MDT0000/job_stats': Interrupted system call\n",
            "MDT a-MDT0000",
        ),
        (
            "error: get_param: param_path 'mdt/a-MDT0000/job_stats': No such device\n",
            "MDT a-MDT0000",
        ),
    ] {
        let (first, second) = READ.split_at(READ.find("MDT").unwrap());
        let [first, second] =
            [first, second].map(|read| read.replace(target, &format!("{target}, incomplete")));
        for place in [
            "obdfilter",
            "- job_id:          w",
            "  sync",
            "min:",
            "mdt.",
            "  open",
            "- job_id:          \"1",
        ] {
            let text = TEXT.replacen(place, &format!("{message}{place}"), 1);
            let read = reading(text);
            // The order follows the first lines, including messages.
            let expected = [format!("{first}{second}"), format!("{second}{first}")];
            assert!(expected.contains(&read), "{message}{place}: {read}");
        }
        assert_eq!(
            reading(format!("{TEXT}{message}")),
            format!("{first}{second}")
        );
        assert_eq!(reading(message), "");
    }
}

/// Also in the value of another parameter.
#[test]
fn a_message_counts_where_the_line_does_not() {
    let message =
        "error: get_param: reading 'obdfilter.a-OST0000.job_stats': Interrupted system call\n";
    for other in [
        "mdt.a-MDT0000.md_stats=\nopen      ",
        "version=2.12.9\ndevices=\n 0 UP ",
    ] {
        let text = format!("{TEXT}{other}{message}     7 samples\n");
        let expected = READ.replace("OST a-OST0000", "OST a-OST0000, incomplete");
        assert_eq!(reading(text), expected);
    }
}

/// A message in place of the whole value of another parameter is reported once.
#[test]
fn a_message_as_a_value_counts_once() {
    let message =
        "error: get_param: reading 'obdfilter.a-OST0000.job_stats': Interrupted system call\n";
    let text = format!("{TEXT}version={message}");
    let reading = snapshot::read(text.as_bytes(), Pause::NEVER).unwrap();
    let begin = text.len() - message.len();
    let kept = &reading.snapshots[0].text[1..];
    assert_eq!((kept.len(), &kept[0]), (1, &(begin..text.len())));
}

/// An older `lctl` that fails to read goes on with the next parameter in the middle of the line, and reports this later.
/// The stored values of the target show the same.
#[test]
fn a_cut_line_and_its_message_are_kept_together() {
    let message =
        "error: get_param: reading 'obdfilter.a-OST0000.job_stats': Interrupted system call\n";
    let first = TEXT.find('\n').unwrap() + 1;
    let second = TEXT.find("mdt.").unwrap();
    for cut in first..second {
        let (own, rest) = (&TEXT[..cut], &TEXT[second..]);
        let text = format!("{own}{rest}{message}");
        let whole = snapshot::read(text.as_bytes(), Pause::NEVER).unwrap();
        let before = &whole.snapshots[0];
        let lines: Vec<u8> = before.lines(text.as_bytes()).collect::<Vec<_>>().concat();
        let again = snapshot::read(&lines, Pause::NEVER).unwrap();
        assert!(!before.complete && !again.snapshots[0].complete, "{own}");
        assert_eq!(
            snapshot::print(before),
            snapshot::print(&again.snapshots[0]),
            "{own}"
        );
    }
}

/// A value can stand behind a message about the same target: both are kept, once.
#[test]
fn a_message_before_a_value_counts_once() {
    let text = "mdt.b-MDT0001.job_cleanup_interval=".to_owned() + MESSAGES[2] + "600\n";
    let reading = snapshot::read(text.as_bytes(), Pause::NEVER).unwrap();
    assert_eq!(reading.snapshots[0].cleanup_interval, Some(600));
    let kept = &reading.snapshots[0].text;
    assert_eq!((kept.len(), &kept[0]), (1, &(0..text.len())));
}

/// If a message interrupts the damaged name of a target, both parts of the name belong to the target before.
#[test]
fn a_message_in_a_damaged_name_is_kept_with_it() {
    let text = TEXT.replace("mdt.", &format!(" {}mdt,", MESSAGES[0]));
    let reading = snapshot::read(text.as_bytes(), Pause::NEVER).unwrap();
    let kept = reading.snapshots[0].lines(text.as_bytes()).next().unwrap();
    assert!(kept.ends_with(b"mdt,a-MDT0000.job_stats=\n"));
}

/// Before 2.15.2 an identifier can be whatever a user names a program.
#[test]
fn a_message_can_be_an_identifier() {
    let text = TEXT.replace("wget.1000", "error: get_param: b");
    assert_eq!(
        reading(text),
        READ.replace("wget.1000", "error: get_param: b")
    );
}
