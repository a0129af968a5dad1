use proptest::prelude::*;

use super::*;

/// Each of these texts has a million reasons to search to its end. A reader that did so would take hours.
#[test]
fn hostile_texts_take_no_longer_than_others() {
    let front = "07/05/2024 14:00:37;E;7.pbs1;";
    for part in [
        "account=\"x ",
        "account='x ",
        "jobname=x ",
        "jobname=x Exit_status=0 queue=q ",
        "x=y ",
        "Resource_List.a=b ",
        "= ",
        "           ",
        "exec_host=n/0+ ",
        "+n1/0",
        "\"",
        "\0\n",
        ";\n",
        front,
    ] {
        let text = front.to_owned() + &part.repeat((1 << 20) / part.len());
        assert!(records(text.as_bytes(), Pause::NEVER).count() > 0, "{part}");
    }
}

/// Each value of a cut record that is known is the one of the whole record.
fn is_part_of(part: &Job<'_>, whole: &Job<'_>) -> bool {
    fn same<T: PartialEq>(part: &Option<T>, whole: &Option<T>) -> bool {
        part.is_none() || part == whole
    }
    part.label == whole.label
        && same(&part.submitted, &whole.submitted)
        && same(&part.started, &whole.started)
        && same(&part.ended, &whole.ended)
        && same(&part.user_name, &whole.user_name)
        && same(&part.group_name, &whole.group_name)
        && same(&part.account, &whole.account)
        && same(&part.partition, &whole.partition)
        && same(&part.job_name, &whole.job_name)
        && same(&part.nodes, &whole.nodes)
        && same(&part.node_list, &whole.node_list)
        && same(&part.cpus, &whole.cpus)
        && same(&part.exit_code, &whole.exit_code)
        && part.extra.iter().all(|it| whole.extra.contains(it))
}

#[test]
fn a_cut_text_has_the_records_before_the_cut_and_invents_nothing() {
    let whole: Vec<_> = records(TEXT.as_bytes(), Pause::NEVER).collect();
    for cut in 0..TEXT.len() {
        let text = &TEXT[..cut];
        let line = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let found: Vec<_> = records(text.as_bytes(), Pause::NEVER).collect();
        let before = whole.iter().filter(|record| (record.line as usize) < line);
        let before = before.count();
        assert_eq!(found[..before], whole[..before], "{cut}");
        match &found[before..] {
            [] => {}
            [last] => {
                assert_eq!(last.line as usize, line);
                if let Ok(job) = &last.job {
                    let whole = whole[before].job.as_ref().unwrap();
                    assert!(is_part_of(job, whole), "{cut}: {job:?}");
                }
            }
            more => panic!("{cut}: {more:?}"),
        }
    }
}

proptest! {
    #[test]
    fn a_damaged_line_leaves_the_others_as_they_are(
        damaged in 1_u32..=8,
        place in 0.0..1.0,
        bytes in prop::collection::vec(any::<u8>().prop_filter("within a line", |byte| *byte != b'\n'), 0..40),
        removed in 0_usize..40,
    ) {
        let mut text = Vec::new();
        for (number, line) in (1..).zip(TEXT.lines()) {
            let mut line = line.as_bytes().to_vec();
            if number == damaged {
                let begin = (place * line.len() as f64) as usize;
                let end = (begin + removed).min(line.len());
                line.splice(begin..end, bytes.iter().copied());
            }
            text.extend(line);
            text.push(b'\n');
        }
        let of_others = |record: &Record<'_>| record.line != damaged;
        let found: Vec<_> = records(&text, Pause::NEVER).collect();
        prop_assert!(found.iter().filter(|record| !of_others(record)).count() <= 1);
        let found: Vec<_> = found.into_iter().filter(of_others).collect();
        let expected: Vec<_> = records(TEXT.as_bytes(), Pause::NEVER).filter(of_others).collect();
        prop_assert_eq!(found, expected);
    }

    /// Job by job come the same records as line by line, whatever the lines are.
    #[test]
    fn job_by_job_come_the_same_records(
        lines in prop::collection::vec(
            prop::sample::select(TEXT.lines().chain(["", "x", "07/05/2024 14:00:37;E;;", "07/05/2024 14:00:37;S;7.p;start=1"]).collect::<Vec<_>>()),
            0..30,
        ),
        is_cut in any::<bool>(),
    ) {
        let text = lines.join("\n") + if is_cut { "" } else { "\n" };
        let mut by_job: Vec<_> = records_by_job(text.as_bytes(), Pause::NEVER).collect();
        by_job.sort_by_key(|record| record.line);
        let by_line: Vec<_> = records(text.as_bytes(), Pause::NEVER).collect();
        prop_assert_eq!(by_job, by_line);
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200), kind in "[QSERDA]") {
        let mut text = format!("07/05/2024 14:00:37;{kind};7.pbs1;").into_bytes();
        text.extend(&bytes);
        prop_assert!(records(&bytes, Pause::NEVER).chain(records(&text, Pause::NEVER)).count() <= bytes.len() + 1);
        recognizes(&bytes);
    }
}

#[test]
fn a_record_that_another_one_cuts_is_none() {
    let end = "user=eve group=g jobname=j queue=q ctime=1720188000 qtime=1720188000 etime=1720188000 start=1720188001 \
        exec_host=n1/0 session=1 end=1720188037 Exit_status=0";
    let texts = [
        format!("07/05/2024 14:00:37;E;81.p;user=ad07/05/2024 14:00:37;E;82.p;{end}\n"),
        format!("07/05/2024 14:00:37;E;81.p;07/05/2024 14:00:37;E;82.p;{end}\n"),
    ];
    for text in texts {
        let jobs: Vec<_> = records(text.as_bytes(), Pause::NEVER)
            .map(|record| record.job)
            .collect();
        assert_eq!(jobs, [Err(Reason::UnreadableRecord)], "{text}");
    }
}
