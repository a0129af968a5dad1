use super::*;

/// Each of these texts has a million reasons to search to its end. A reader that did so would take hours.
#[test]
fn hostile_texts_take_no_longer_than_others() {
    const SIZE: usize = 1 << 20;
    let bombs = [
        "{".repeat(SIZE),
        ",{".repeat(SIZE / 2),
        ",{\"".repeat(SIZE / 3),
        "{\"id\":[".repeat(SIZE / 7),
        format!("{{{}", "{},".repeat(SIZE / 3)),
        format!("{{{}", "{{},".repeat(SIZE / 4)),
        format!("{}{{", ",{\"a\"".repeat(SIZE / 5)),
        " ".repeat(SIZE) + "{",
        "{ ".repeat(SIZE / 2),
        format!("{{\"jobs\": [{}", "x".repeat(SIZE)),
        format!("{{\"a\": \"{}", "\\".repeat(SIZE)),
        format!("{{\"a\": \"{}", "\\\"},{".repeat(SIZE / 5)),
        format!(",{{{}", ",{}\"\"".repeat(SIZE / 6)),
        "[".repeat(SIZE),
        "}".repeat(SIZE),
    ];
    for bomb in bombs {
        let jobs = records(bomb.as_bytes(), Pause::NEVER)
            .filter(|record| record.job.is_ok())
            .count();
        assert_eq!(jobs, 0, "{}", &bomb[..20]);
        recognizes(bomb.as_bytes());
    }
}

/// Jobs with names that look like parts of the text. No text has an array of objects: behind damage in such an array,
/// the jobs that follow look like its items.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let name = prop::collection::vec(
        prop::sample::select(&["a", "{", "}", ", {", "\"", "\\", "\u{192}", "[", "]"][..]),
        0..6,
    );
    let job = (name, 1..u64::MAX, any::<bool>()).prop_map(|(name, id, done)| {
        let name = serde_json::to_string(&name.concat()).unwrap();
        let done_job = DONE.replace(r#"[{"id": 1}, {"id": 2}]"#, r#"{"id": 1}"#);
        let text = if done {
            done_job.replace("\"relax\"", &name)
        } else {
            PENDING.replace("\"wait\"", &name)
        };
        text.replace("65399603331072", &id.to_string())
            .replace("65399603331073", &id.to_string())
    });
    prop::collection::vec(job, 1..6)
}

fn render(jobs: &[String], is_lines: bool) -> String {
    if is_lines {
        jobs.iter().map(|job| format!("{job}\n")).collect()
    } else {
        document(&jobs.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

proptest! {
    #[test]
    fn f58_goes_there_and_back(id in any::<u64>(), shift in 0..64_u32) {
        let id = id >> shift;
        let text = f58(id);
        prop_assert_eq!(decimal(&text), Some(id));
        prop_assert_eq!(decimal(&text.replace('ƒ', "f")), Some(id));
        prop_assert_eq!(decimal(&format!("0x{id:X}")), Some(id));
        prop_assert_eq!(decimal(&id.to_string()), Some(id));
        let groups: Vec<_> = (0..4).rev().map(|group| format!("{:04x}", id >> (16 * group) & 0xFFFF)).collect();
        prop_assert_eq!(decimal(&groups.join(".")), Some(id));
    }

    /// A number of any size is exact or unknown.
    #[test]
    fn f58_does_not_overflow(digits in "[1-9A-HJ-NP-Za-km-z]{1,13}") {
        let exact = digits.bytes().fold(0_u128, |id, letter| {
            let place = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".bytes().position(|digit| digit == letter);
            id * 58 + place.unwrap() as u128
        });
        let expected = u64::try_from(exact).ok().filter(|_| digits.len() <= 12);
        prop_assert_eq!(decimal(&format!("ƒ{digits}")), expected);
    }

    /// Wherever a text is cut, the records before the cut are unchanged, with at most one more problem.
    #[test]
    fn a_cut_costs_at_most_one_record(jobs in texts(), is_lines in any::<bool>(), cut in any::<prop::sample::Index>()) {
        let text = render(&jobs, is_lines);
        let whole: Vec<_> = records(text.as_bytes(), Pause::NEVER).collect();
        prop_assert_eq!(whole.len(), jobs.len());
        let cut = cut.index(text.len());
        let found: Vec<_> = records(&text.as_bytes()[..cut], Pause::NEVER).collect();
        let good = found.iter().filter(|record| record.job.is_ok()).count();
        prop_assert!(found.len() <= good + 1);
        prop_assert_eq!(&found[..good], &whole[..good]);
        let ends = jobs.iter().scan(if is_lines { 0 } else { 10 }, |end, job| {
            *end += job.len();
            let here = *end;
            *end += if is_lines { 1 } else { 2 };
            Some(here)
        });
        prop_assert_eq!(good, ends.filter(|end| *end <= cut).count());
    }

    /// Damage of one object neither changes the others nor invents any. The damage opens no array: behind `[{` the jobs that
    /// follow are items of one.
    #[test]
    fn a_damaged_object_costs_itself_only(
        jobs in texts(),
        is_lines in any::<bool>(),
        place in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        damage in prop::collection::vec(prop_oneof![any::<u8>().prop_filter("opens nothing", |byte| !b"[{".contains(byte)), prop::sample::select(&b"}]\",:\\\n"[..])], 0..4),
        cut in 0..30_usize,
    ) {
        let place = place.index(jobs.len());
        let at = at.index(jobs[place].len());
        let end = (at + cut).min(jobs[place].len());
        let begin = render(&jobs[..place], is_lines).len() - if is_lines { 0 } else { 3 }
            + if !is_lines && place > 0 { 2 } else { 0 };
        let text = render(&jobs, is_lines);
        prop_assert!(text[begin..].starts_with(&jobs[place]));
        let mut damaged = text.clone().into_bytes();
        damaged.splice(begin + at..begin + end, damage);
        let whole: Vec<_> = records(text.as_bytes(), Pause::NEVER).map(|record| record.job).collect();
        let mut found: Vec<_> = records(&damaged, Pause::NEVER).map(|record| record.job).collect();
        found.retain(Result::is_ok);
        let expected = [&whole[..place], &whole[place + 1..]].concat();
        let numbers = |jobs: &[Result<Job<'_>, Reason>]| jobs.iter().flatten().map(|job| job.job.to_string()).collect::<Vec<_>>();
        let lost = || format!("{:?} of {:?} in {}", numbers(&found), numbers(&expected), String::from_utf8_lossy(&damaged));
        prop_assert!((expected.len()..=expected.len() + 1).contains(&found.len()), "{}", lost());
        prop_assert!(found[..place] == expected[..place], "{}", lost());
        prop_assert!(found[found.len() - (expected.len() - place)..] == expected[place..], "{}", lost());
    }

    #[test]
    fn any_bytes_are_read(text in prop::collection::vec(
        prop::sample::select(&["{", "}", "[", "]", ",", ":", "\"", "\\", "\n", "\"jobs\"", "\"id\"", "1", " ", "\u{192}"][..]), 0..60)) {
        let text = text.concat();
        let lines = u32::try_from(text.split('\n').count()).unwrap();
        let mut last = 0;
        for record in records(text.as_bytes(), Pause::NEVER) {
            prop_assert!((last.max(1)..=lines).contains(&record.line));
            last = record.line;
        }
    }
}
