use super::*;

/// Each of these texts has a million reasons to search to its end. A reader that did so would take hours.
#[test]
fn hostile_texts_take_no_longer_than_others() {
    const SIZE: usize = 1 << 20;
    let row = "1:".repeat(FIELDS + 1) + "\n";
    let bombs = [
        ":".repeat(SIZE),
        "{".repeat(SIZE),
        "[".repeat(SIZE).replacen('[', "{\"usage\":", 1),
        "a\n".repeat(SIZE / 2),
        row.repeat(SIZE / row.len()),
        format!("{}\n", SGE.replace("relax", &"1:".repeat(2_000))).repeat(SIZE / 4_200),
        format!("{}\n", SGE.replace("-u ada", &"1:2.a:".repeat(1_000))).repeat(SIZE / 6_200),
        "9".repeat(SIZE),
        format!("{{\"job_name\":\"{}\"", "\\".repeat(SIZE)),
    ];
    for bomb in bombs {
        let jobs = records(bomb.as_bytes(), Pause::NEVER)
            .filter(|record| record.job.is_ok())
            .count();
        assert_eq!(jobs, 0, "{}", &bomb[..40]);
    }
}

/// Just below the limit of fields.
const FIELDS: usize = 4_000;

/// A text of any jobs in both forms.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let name = "[a-z#=,. -]{1,9}";
    let colons = (name, 1..9_999_999_u32, 0..90_000_u32, 0..3_u32, 1..64_u32).prop_map(
        |(name, number, later, task, slots)| {
            let (submitted, started) = (
                1_700_000_000_000 + u64::from(later),
                1_700_000_100_000 + u64::from(later),
            );
            let texts = [number, task, slots].map(|number| number.to_string());
            let times = [submitted, started, started + 5_000].map(|time| time.to_string());
            let fields = [
                (4, name.as_str()),
                (5, &texts[0]),
                (8, &times[0]),
                (9, &times[1]),
                (10, &times[2]),
                (34, &texts[2]),
                (35, &texts[1]),
            ];
            line(&fields) + UGE
        },
    );
    let json = (name, 1..9_999_999_u32, 0..3_u32).prop_map(|(name, number, task)| {
        let text = OCS
            .replace("relax", &name)
            .replace("4711", &number.to_string());
        text.replace(r#""task_number":3"#, &format!(r#""task_number":{task}"#))
    });
    prop::collection::vec(
        prop_oneof![colons, json, Just("# comment".to_owned())],
        1..8,
    )
}

proptest! {
    /// Wherever a text is cut, the records before the cut are unchanged, and at most the cut line is a problem.
    #[test]
    fn a_cut_costs_at_most_one_record(lines in texts(), end in prop_oneof![Just("\n"), Just("\r\n")], cut in any::<prop::sample::Index>()) {
        let text = lines.iter().map(|line| format!("{line}{end}")).collect::<String>();
        let cut = &text.as_bytes()[..cut.index(text.len())];
        let whole: Vec<_> = records(text.as_bytes(), Pause::NEVER).collect();
        let found: Vec<_> = records(cut, Pause::NEVER).collect();
        let cut_line = u32::try_from(cut.split(|byte| *byte == b'\n').count()).unwrap();
        for (found, whole) in found.iter().zip(&whole) {
            prop_assert!(found == whole || (found.line == cut_line && found.job.is_err()), "{found:?}");
        }
        let before = whole.iter().filter(|record| record.line < cut_line).count();
        prop_assert!((before..=before + 1).contains(&found.len()));
    }

    /// Whatever becomes of a line, the others come out as before, and the line is at most one record.
    #[test]
    fn a_damaged_line_costs_only_itself(
        lines in texts(),
        place in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        damage in prop::collection::vec(any::<u8>().prop_filter("one line", |byte| *byte != b'\n'), 0..4),
        cut in 0..30_usize,
    ) {
        let place = place.index(lines.len());
        let mut damaged = lines[place].clone().into_bytes();
        let at = at.index(damaged.len());
        damaged.splice(at..(at + cut).min(lines[place].len()), damage);
        let text = lines.join("\n");
        let mut parts: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        parts[place] = &damaged;
        let other = parts.join(&b'\n');
        let line = u32::try_from(place + 1).unwrap();
        let rest = |text| records(text, Pause::NEVER).filter(|record| record.line != line).collect::<Vec<_>>();
        prop_assert_eq!(rest(&other), rest(text.as_bytes()));
        prop_assert!(records(&other, Pause::NEVER).filter(|record| record.line == line).count() <= 1);
    }

    #[test]
    fn any_bytes_are_read(text in prop::collection::vec(prop::sample::select(&b"{}:\",\n\r#01N\xFF\0."[..]), 0..200)) {
        let lines = u32::try_from(text.split(|byte| *byte == b'\n').count()).unwrap();
        for record in records(&text, Pause::NEVER) {
            prop_assert!((1..=lines).contains(&record.line));
            prop_assert!(record.job.is_err());
        }
    }
}
