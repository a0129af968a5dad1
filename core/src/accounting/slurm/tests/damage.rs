use proptest::prelude::*;

use super::*;

#[test]
fn hostile_texts_take_no_more_time_than_others() {
    let columns = "JobID|JobName|User|Comment\n";
    for piece in [
        "\n",
        "|",
        "1|",
        "1|\n",
        "x\n",
        "x|\n",
        "1|a|b|c\n",
        "JobID",
        "JobID|",
        "JobID\n",
        "JobID|JobID\n",
        "1|a\nb|c\n",
        "\u{FF}",
        "12",
    ] {
        for begin in ["", "JobID", columns, "JobID|JobName|User|Comment\n1|"] {
            let text = begin.to_owned() + &piece.repeat((1 << 20) / piece.len());
            let found = records(text.as_bytes(), &Zone::UTC, Pause::NEVER).count();
            assert!(found <= (1 << 20), "{piece}");
        }
    }
}

/// A row of a table with the columns `JobIDRaw|JobName|User|Start|Comment`. Some names have a delimiter or ends of lines.
fn row() -> impl Strategy<Value = String> {
    let text = "[a-z]{0,4}(\n[a-z]{0,4}){0,2}";
    let name = prop_oneof![3 => "[a-z]{0,4}", 1 => "[a-z|]{0,4}", 1 => text];
    let step = prop_oneof![4 => Just(""), 1 => Just(".batch")];
    (1_u32..200, step, name, "[a-z]{0,3}", 0_u32..300, text).prop_map(
        |(id, step, name, user, start, comment)| {
            format!("{id}{step}|{name}|{user}|{start}|{comment}")
        },
    )
}

fn table(end: &str, rows: &[String]) -> String {
    let rows = rows.iter().map(|row| format!("{row}{end}\n"));
    let rows: String = rows.collect();
    format!("JobIDRaw|JobName|User|Start|Comment{end}\n{rows}")
}

/// Pieces of lines that damage leaves.
const PIECES: &[&str] = &["|", "12", "3|", "x", "\u{1}", "_", ".", "Start", "é", " "];

proptest! {
    /// A cut text has the rows before the cut, and at most one more problem.
    #[test]
    fn a_cut_text_has_the_records_of_its_beginning(
        rows in prop::collection::vec(row(), 0..8), end in prop_oneof![Just(""), Just("|")], cut in 0.0_f64..1.0,
    ) {
        // A row with too many delimiters may be cut so that it has as many as it must have.
        let rows: Vec<_> = rows.into_iter().filter(|row| end.is_empty() || row.matches('|').count() == 4).collect();
        let text = table(end, &rows);
        let begin = text.find('\n').unwrap() + 1;
        let cut = begin + (cut * (text.len() - begin) as f64) as usize;
        let (whole, part) = (read(&text), read(&text[..cut]));
        let same = whole.iter().zip(&part).take_while(|(whole, part)| whole == part).count();
        prop_assert!(part.len() <= same + 1, "{part:?}");
        prop_assert!(part[same..].iter().all(|it| it.job.is_err()), "{part:?}");
        let lines = text[..cut].lines().count() as u32;
        prop_assert!(whole[same..].iter().all(|it| it.line >= lines.saturating_sub(4)), "{whole:?}");
    }

    /// A line that is damaged costs only the job that it belongs to.
    #[test]
    fn a_damaged_line_costs_no_other_job(
        rows in prop::collection::vec(row(), 1..8), end in prop_oneof![Just(""), Just("|")], line in any::<prop::sample::Index>(),
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..8),
    ) {
        let text = table(end, &rows);
        let mut lines: Vec<_> = text.lines().collect();
        let at = 1 + line.index(lines.len() - 1);
        let damage = pieces.concat();
        lines[at] = &damage;
        let damaged = lines.join("\n") + "\n";
        let (before, after) = (read(&text), read(&damaged));
        // The row of the line begins at the last line that begins as a row.
        let rows: Vec<u32> = rows.iter().scan(2, |line, row| {
            let first = *line;
            *line += 1 + row.matches('\n').count() as u32;
            Some(first)
        }).collect();
        let touched = rows.iter().copied().rfind(|first| *first as usize <= at + 1).unwrap();
        for record in before.iter().filter(|it| it.job.is_ok() && it.line != touched) {
            prop_assert!(after.contains(record), "{record:?} in {damaged:?}");
        }
        let invented = after.iter().filter(|it| it.job.is_ok() && !before.contains(it));
        prop_assert!(invented.count() <= 1, "{damaged:?}");
    }

    /// Any bytes are read without a panic, and no more records come out than there are lines.
    #[test]
    fn any_bytes_are_read(
        pieces in prop::collection::vec(prop::sample::select(&["\n", "|", "JobID", "JobIDRaw", "User|", "1", "2.0|", "3_[", "4+1", "{", "\"jobs\":[", "0"][..]), 0..40),
    ) {
        let text = pieces.concat();
        let most = text.lines().count() + text.matches('{').count();
        prop_assert!(read(&text).len() <= most);
        prop_assert!(!recognizes(text.as_bytes()) || !text.starts_with('\n') || text.contains("JobID"));
    }
}

#[test]
fn a_header_in_the_name_of_a_job_is_none() {
    let text = "JobIDRaw|9f|Submit|9f|JobName\n1|9f|1700000000|9f|x\nJobIDRaw|Submit|User\n2|1700000000|eve\n3|9f|1700000000|9f|y\n";
    let jobs: Vec<_> = records(text.as_bytes(), &Zone::UTC, Pause::NEVER)
        .filter_map(|record| record.job.ok())
        .map(|job| job.job.into_owned())
        .collect();
    assert_eq!(jobs, ["1", "3"]);
}

#[test]
fn a_line_that_is_too_long_is_no_header() {
    let text = format!("JobIDRaw!#$%&'()*+{}", "a".repeat(100_000));
    assert!(!recognizes(text.as_bytes()));
}
