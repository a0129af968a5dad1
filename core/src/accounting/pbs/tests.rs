mod damage;

use super::*;
use crate::base::instant::{Micros, SECOND};
use crate::base::pause::Pause;

/// A start, an end and a rerun of PBS Pro and Torque, and records that no job comes from. All are made up.
const TEXT: &str = "\
07/05/2024 13:59:00;L;license;floating license hour:3 day:3 month:10 max:10
07/05/2024 13:59:20;Q;41.pbs1;queue=workq
07/05/2024 14:00:10;S;41.pbs1;user=ada group=maths project=_pbs_project_default jobname=heat queue=workq ctime=1720187960 qtime=1720187960 etime=1720187960 start=1720188010 exec_host=c1/0*8+c2/0*8 exec_vnode=(c1:ncpus=8)+(c2:ncpus=8) Resource_List.ncpus=16 resource_assigned.ncpus=16 
07/05/2024 14:00:37;E;41.pbs1;user=ada group=maths project=_pbs_project_default jobname=heat queue=workq ctime=1720187960 qtime=1720187960 etime=1720187960 start=1720188010 exec_host=c1/0*8+c2/0*8 exec_vnode=(c1:ncpus=8)+(c2:ncpus=8) Resource_List.ncpus=16 session=17927 end=1720188037 Exit_status=0 resources_used.cput=00:00:00 run_count=1
07/05/2024 14:00:38;D;42.pbs1;requestor=root@login1
07/05/2024 14:00:39;A;43.pbs1;
07/05/2024 14:01:00;E;44[7].pbs1;user=bob group=physics account=\"p 12\" jobname=arr queue=small ctime=1720188000 start=1720188020 exec_host=c9/3 end=1720188060 Exit_status=271
07/05/2024 14:01:00;E;44[].pbs1;user=bob group=physics jobname=arr queue=small ctime=1720188000 array_indices=1-9 end=1720188060 Exit_status=0
";

fn jobs(text: &str) -> Vec<Job<'_>> {
    records(text.as_bytes(), Pause::NEVER)
        .map(|record| record.job.unwrap())
        .collect()
}

/// Reads the text of a record of a type, and returns its job.
fn read(kind: char, text: &str) -> Result<Job<'static>, Reason> {
    let line = format!("07/05/2024 14:00:37;{kind};7.pbs1;{text}\n");
    let line: &'static str = line.leak();
    let mut records = records(line.as_bytes(), Pause::NEVER);
    records.next().unwrap().job
}

fn ended(text: &str) -> Job<'static> {
    read('E', &format!("{text} end=1720188037 Exit_status=0")).unwrap()
}

fn id(id: &str) -> Option<Result<Job<'static>, Reason>> {
    let line = format!("07/05/2024 14:00:37;E;{id};user=ada end=1720188037\n");
    let line: &'static str = line.leak();
    records(line.as_bytes(), Pause::NEVER)
        .next()
        .map(|record| record.job)
}

const fn at(seconds: i64) -> Option<Micros> {
    Some(seconds * SECOND)
}

#[test]
fn all_fields_are_filled() {
    let line = "07/05/2024 14:00:37;E;123[4].pbs1;user=ada group=maths account=\"p12\" project=fluid jobname=heat \
        queue=workq ctime=1720187960 qtime=1720187961 etime=1720187962 start=1720188010 exec_host=c1/0*8+c2/0*8 \
        Resource_List.qos=high Resource_List.walltime=01:00:00 session=17927 end=1720188037 Exit_status=-11 \
        resources_used.cput=175:32:12 run_count=2\n";
    let extra = [
        ("qtime", "1720187961"),
        ("etime", "1720187962"),
        ("Resource_List.walltime", "01:00:00"),
        ("resources_used.cput", "175:32:12"),
        ("run_count", "2"),
        ("project", "fluid"),
        ("server", "pbs1"),
    ];
    let job = Job {
        scheduler: None,
        job: "123[4]".into(),
        label: "123[4]".into(),
        submitted: at(1_720_187_960),
        started: at(1_720_188_010),
        ended: at(1_720_188_037),
        time_doubt: None,
        uid: None,
        user_name: Some("ada".into()),
        gid: None,
        group_name: Some("maths".into()),
        account: Some("p12".into()),
        partition: Some("workq".into()),
        qos: Some("high".into()),
        job_name: Some("heat".into()),
        state: Some("ended".into()),
        nodes: Some(2),
        node_list: Some("c1,c2".into()),
        cpus: Some(16),
        exit_code: Some("-11".into()),
        parent: Some("123[]".into()),
        extra: extra
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
    };
    assert_eq!(jobs(line), [job]);
}

#[test]
fn each_record_gives_what_it_says() {
    let found: Vec<_> = records(TEXT.as_bytes(), Pause::NEVER)
        .map(|record| {
            let job = record.job.unwrap();
            let state = job.state.unwrap().into_owned();
            (record.line, job.label, state, job.started, job.ended)
        })
        .collect();
    let (start, end) = (at(1_720_188_010), at(1_720_188_037));
    let expected = [
        (2, "41", "queued", None, None),
        (3, "41", "started", start, None),
        (4, "41", "ended", start, end),
        (7, "44[7]", "ended", at(1_720_188_020), at(1_720_188_060)),
    ];
    let expected = expected
        .map(|(line, label, state, start, end)| (line, label.into(), state.into(), start, end));
    assert_eq!(found, expected);
}

#[test]
fn records_of_a_job_come_together() {
    let line = |kind: char, id: &str| {
        format!(
            "07/05/2024 14:00:37;{kind};{id};user=ada ctime=1720187960 start=1720188010 end=1720188037\n"
        )
    };
    let ids = ["9.p", "10[2].p", "8.p", "10[1].p"];
    let mut text: String = ["Q", "S", "E"]
        .iter()
        .flat_map(|kind| ids.map(|id| line(kind.chars().next().unwrap(), id)))
        .collect();
    text.push_str("nothing\n");
    let found: Vec<_> = records_by_job(text.as_bytes(), Pause::NEVER)
        .map(|record| (record.line, record.job.map(|job| job.label.into_owned())))
        .collect();
    let of = |label: &str, lines: [u32; 3]| lines.map(|line| (line, Ok(label.to_owned())));
    let expected = [(13, Err(Reason::UnreadableRecord))]
        .into_iter()
        .chain(of("8", [3, 7, 11]))
        .chain(of("9", [1, 5, 9]))
        .chain(of("10[1]", [4, 8, 12]))
        .chain(of("10[2]", [2, 6, 10]));
    assert_eq!(found, expected.collect::<Vec<_>>());
}

#[test]
fn times_are_those_of_the_text_and_not_the_local_time_in_front() {
    let job = read('Q', "user=ada queue=workq").unwrap();
    assert_eq!((job.submitted, job.started, job.ended), (None, None, None));
    let job = read('Q', "queue=workq ctime=1720187960 qtime=1720187999").unwrap();
    assert_eq!(job.submitted, at(1_720_187_960));
}

#[test]
fn two_runs_of_a_job_are_two_records() {
    let text = "\
07/05/2024 14:00:10;R;9.t1;user=ada ctime=1720188000 start=1720188001 end=1720188010 Exit_status=-3\n\
07/05/2024 14:00:30;E;9.t1;user=ada ctime=1720188000 start=1720188020 end=1720188030 Exit_status=0\n";
    let runs: Vec<_> = jobs(text)
        .into_iter()
        .map(|job| (job.submitted, job.started, job.ended))
        .collect();
    let submitted = at(1_720_188_000);
    let runs_expected = [
        (submitted, at(1_720_188_001), at(1_720_188_010)),
        (submitted, at(1_720_188_020), at(1_720_188_030)),
    ];
    assert_eq!(runs, runs_expected);
}

#[test]
fn the_letter_of_the_type_has_a_case() {
    let text = "user=ada ctime=1720188000 start=1720188001 end=1720188010";
    assert_eq!(read('s', text).unwrap().state.unwrap(), "started");
    for kind in "eruacCTMLzUYBFKkPpX".chars() {
        let line = format!("07/05/2024 14:00:37;{kind};7.pbs1;{text}\n");
        assert_eq!(records(line.as_bytes(), Pause::NEVER).count(), 0, "{kind}");
    }
}

#[test]
fn a_record_that_says_nothing_of_a_job_is_none() {
    for text in [
        "",
        "requestor=root@login1",
        "root@login1",
        "Job deleted as result of dependency",
    ] {
        let line =
            format!("07/05/2024 14:00:37;D;7.pbs1;{text}\n07/05/2024 14:00:37;A;7.pbs1;{text}\n");
        assert_eq!(records(line.as_bytes(), Pause::NEVER).count(), 0, "{text}");
    }
    assert_eq!(
        read('D', "requestor=root@l1 user=ada")
            .unwrap()
            .state
            .unwrap(),
        "deleted"
    );
}

#[test]
fn the_job_is_the_identifier_before_the_server() {
    let read = |text| {
        let job = id(text).unwrap().unwrap();
        let server = job.extra.iter().find(|(name, _)| name == "server");
        let server = server.map(|(_, value)| value.to_string());
        assert_eq!(job.job, job.label);
        (
            job.job.into_owned(),
            job.parent.map(Cow::into_owned),
            server,
        )
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        read("4686875.kman.restech.unsw.edu.au"),
        ("4686875".into(), None, text("kman.restech.unsw.edu.au"))
    );
    assert_eq!(
        read("123[4].pbs"),
        ("123[4]".into(), text("123[]"), text("pbs"))
    );
    assert_eq!(
        read("272[0].batch-1"),
        ("272[0]".into(), text("272[]"), text("batch-1"))
    );
    assert_eq!(
        read("123-4.torque"),
        ("123-4".into(), text("123"), text("torque"))
    );
    assert_eq!(read("7904"), ("7904".into(), None, None));
}

#[test]
fn a_whole_array_is_no_job() {
    for array in ["123[].pbs", "123[1-5].pbs", "123[1-5:2,9].pbs", "123[]"] {
        assert_eq!(id(array), None, "{array}");
    }
}

#[test]
fn an_identifier_without_a_number_is_a_problem() {
    for bad in [
        "",
        "job123",
        "R7.pbs",
        ".pbs",
        "12x.pbs",
        "12[a].pbs",
        "12[3.pbs",
        "12-.pbs",
        "12[3]x.pbs",
    ] {
        assert_eq!(id(bad), Some(Err(Reason::BadJob)), "{bad}");
    }
}

#[test]
fn values_with_blanks_are_whole() {
    let job = ended(
        "user=ada jobname=my first job queue=workq Resource_List.software=a b c ctime=1720187960",
    );
    assert_eq!(job.job_name.unwrap(), "my first job");
    assert_eq!(job.partition.unwrap(), "workq");
    assert_eq!(job.extra[0].1, "a b c");
    assert_eq!(job.submitted, at(1_720_187_960));
}

#[test]
fn an_equals_sign_in_a_value_begins_no_value() {
    let job = ended(
        "user=ada account=x=y jobname=n=4 user=root start=9 z=1 queue=workq ctime=1720187960",
    );
    assert_eq!(job.user_name.unwrap(), "ada");
    assert_eq!(job.account.unwrap(), "x=y");
    assert_eq!(job.job_name.unwrap(), "n=4 user=root start=9 z=1");
    assert_eq!(
        (job.partition.unwrap().as_ref(), job.started),
        ("workq", None)
    );
    let job =
        ended("queue=workq Resource_List.nodes=1:ppn=2 x=1 Resource_List.select=2:ncpus=4:mem=1gb");
    assert_eq!(job.extra[0].1, "1:ppn=2 x=1");
    assert_eq!(job.extra[1].1, "2:ncpus=4:mem=1gb");
}

#[test]
fn an_exit_status_after_the_name_is_no_part_of_it() {
    let read = |text: &str| {
        let job = read('E', &format!("{text} end=1720188037")).unwrap();
        let text = |value: Option<Cow<'_, str>>| value.unwrap_or_default().into_owned();
        [job.job_name, job.exit_code, job.partition].map(text)
    };
    assert_eq!(
        read("user=ada jobname=my job Exit_status=271 queue=workq ctime=1720187960"),
        ["my job", "271", "workq"]
    );
    assert_eq!(
        read("jobname= Exit_status=-11 queue=workq"),
        ["", "-11", "workq"]
    );
    // Users may name their jobs so. The exit status of the record is behind the queue.
    assert_eq!(
        read("jobname=x Exit_status=0 queue=workq Exit_status=271"),
        ["x Exit_status=0", "271", "workq"]
    );
    for name in ["x Exit_status=y", "x Exit_status=0 start=1"] {
        let text = format!("jobname={name} queue=workq");
        assert_eq!(read(&text), [name, "", "workq"]);
    }
}

#[test]
fn quotes_around_a_value_are_no_part_of_it() {
    let job =
        ended("user=ada account=\"p 12 user=root\" project=\"deep sea\" jobname=\"x queue=workq");
    assert_eq!(job.account.unwrap(), "p 12 user=root");
    assert_eq!(job.user_name.unwrap(), "ada");
    assert_eq!(job.job_name.unwrap(), "\"x");
    let project = job.extra.iter().find(|(name, _)| name == "project");
    assert_eq!(project.unwrap().1, "deep sea");
    assert_eq!(
        ended("account=\"say \"hi\" now\" user=ada")
            .user_name
            .unwrap(),
        "ada"
    );
    assert_eq!(
        ended("account='a \"b c' user=ada").account.unwrap(),
        "a \"b c"
    );
    assert_eq!(ended("account=\"open user=ada").account.unwrap(), "\"open");
    assert_eq!(
        ended("account=\"\" project=fluid").account.unwrap(),
        "fluid"
    );
}

#[test]
fn a_name_with_two_values_has_no_single_reading() {
    let text = "user=ada start=1720188001 Resource_List.site=x start=1720188002 end=1720188010";
    assert_eq!(read('E', text), Err(Reason::UnreadableRecord));
    let text = "user=ada start=1720188001 start=1720188001 end=1720188010";
    assert_eq!(read('E', text).unwrap().started, at(1_720_188_001));
}

#[test]
fn the_account_may_stand_anywhere() {
    let job = ended("user=ada jobname=x queue=workq account=p12 ctime=1720187960");
    assert_eq!(job.account.unwrap(), "p12");
    assert_eq!(ended("project=_pbs_project_default").account, None);
}

#[test]
fn a_group_that_is_no_name_is_unknown() {
    assert_eq!(ended("group=-default-").group_name, None);
}

#[test]
fn nodes_are_read_from_each_form_of_the_list() {
    let read = |text: &str| {
        let job = ended(text);
        (job.nodes, job.node_list.map(Cow::into_owned), job.cpus)
    };
    let list = |nodes, list: &str, cpus| (Some(nodes), Some(list.to_owned()), cpus);
    assert_eq!(read("exec_host=n1/7+n1/6+n2/0"), list(2, "n1,n2", Some(3)));
    assert_eq!(
        read("exec_host=n1/0+n2/0+n1/1+n2/1"),
        list(2, "n1,n2", Some(4))
    );
    assert_eq!(read("exec_host=b1/0-3"), list(1, "b1", Some(4)));
    assert_eq!(read("exec_host=b1/0-3,6+b2/1"), list(2, "b1,b2", Some(6)));
    assert_eq!(
        read("exec_host=c1/0*13+c2/0*13"),
        list(2, "c1,c2", Some(26))
    );
    assert_eq!(
        read("exec_host=c1:15002/0*2+c1:15003/1"),
        list(1, "c1", Some(3))
    );
    let vnodes =
        "exec_vnode=(n1[0]:ncpus=2:mem=8388608kb+n1[1]:ncpus=2)+(n2:ncpus=4) Resource_List.ncpus=8";
    assert_eq!(read(vnodes), list(2, "n1,n2", Some(8)));
    assert_eq!(read("exec_host=c1"), list(1, "c1", None));
    assert_eq!(
        read("exec_host=c1/x total_execution_slots=4"),
        list(1, "c1", Some(4))
    );
}

#[test]
fn a_job_that_never_ran_has_no_nodes() {
    let job = ended("user=ada start=0 exec_host=");
    assert_eq!(
        (job.started, job.nodes, job.node_list, job.cpus),
        (None, None, None, None)
    );
    let job = ended("Resource_List.nodect=4 Resource_List.ncpus=32");
    assert_eq!(
        (job.nodes, job.node_list, job.cpus),
        (Some(4), None, Some(32))
    );
}

#[test]
fn the_login_node_of_a_cray_is_no_node_of_the_job() {
    for sign in ["alt_id=2872", "Resource_List.mppwidth=64"] {
        let job = ended(&format!("exec_host=nid00007/24 {sign}"));
        assert_eq!(
            (job.nodes, job.node_list, job.cpus),
            (None, None, None),
            "{sign}"
        );
    }
    assert_eq!(
        ended("exec_host=c1/0*8 alt_id=cpuset=PBSPro:7").nodes,
        Some(1)
    );
}

#[test]
fn lengths_and_sizes_stay_as_printed() {
    for printed in [
        "175:32:12",
        "12767",
        "19:23:4",
        "2031040kb",
        "8gb",
        "104857600b",
    ] {
        let job = ended(&format!("resources_used.walltime={printed}"));
        assert_eq!(job.extra[0].1, printed);
    }
    assert_eq!(
        read('E', "end=1720188037 Exit_status=271 x=1")
            .unwrap()
            .exit_code
            .unwrap(),
        "271"
    );
}

#[test]
fn personal_and_long_values_are_not_kept() {
    let long = "x".repeat(EXTRA_LENGTH + 1);
    let job = ended(&format!(
        "user=ada owner=ada@home.example comment=for_my_boss Submit_arguments=secret Variable_List=PATH=/home/ada \
        depend=afterok:9 requestor=ada@home.example accounting_id=0x1 Resource_List.select={long} site_key=1"
    ));
    assert_eq!(job.extra, [("server".into(), "pbs1".into())]);
    let many: String = (0..1_000)
        .map(|n| format!("resources_used.r{n}=1 "))
        .collect();
    assert_eq!(ended(&many).extra.len(), EXTRA_MAX + 1);
}

#[test]
fn lines_that_grep_printed_have_the_name_of_the_file() {
    for front in [
        "20150327:",
        "/var/spool/pbs/server_priv/accounting/20150327:",
        "20150327:12:",
    ] {
        let line = format!("{front}07/05/2024 14:00:37;E;7.pbs1;user=ada end=1720188037\n");
        assert!(recognizes(line.as_bytes()), "{front}");
        assert_eq!(jobs(&line)[0].user_name.as_deref(), Some("ada"));
    }
}

#[test]
fn windows_line_ends_and_blank_lines_are_nothing() {
    let text = TEXT.replace('\n', "\r\n\r\n");
    assert_eq!(jobs(&text), jobs(TEXT));
}

#[test]
fn lines_that_cannot_be_read_are_problems() {
    let cases = [
        ("hello", Reason::UnreadableRecord),
        ("07/05/2024 14:00:37;E;7.pbs1", Reason::UnreadableRecord),
        (
            "x07/05/2024 14:00:37;E;7.pbs1;end=1720188037",
            Reason::UnreadableRecord,
        ),
        (
            "07/05/2024 14:00;E;7.pbs1;end=1720188037",
            Reason::UnreadableRecord,
        ),
        (
            "07/05/2024 14:00:37;EE;7.pbs1;end=1720188037",
            Reason::UnreadableRecord,
        ),
        (
            "07/05/2024 14:00:37;#;7.pbs1;end=1720188037",
            Reason::UnreadableRecord,
        ),
        (
            "07/05/2024 14:00:37;E;7.pbs1;user=ada",
            Reason::UnreadableRecord,
        ),
        (
            "07/05/2024 14:00:37;S;7.pbs1;user=ada",
            Reason::UnreadableRecord,
        ),
        ("07/05/2024 14:00:37;E;7.pbs1;end=noon", Reason::BadTime),
        ("07/05/2024 14:00:37;E;7.pbs1;end=", Reason::BadTime),
        (
            "07/05/2024 14:00:37;E;7.pbs1;start=1720188038 end=1720188037",
            Reason::BadTime,
        ),
        (
            "07/05/2024 14:00:37;E;7.pbs1;end=99999999999",
            Reason::BadTime,
        ),
    ];
    for (line, reason) in cases {
        let text = format!("{line}\n");
        let found: Vec<_> = records(text.as_bytes(), Pause::NEVER).collect();
        let expected = Record {
            line: 1,
            job: Err(reason),
        };
        assert_eq!(found, [expected], "{line}");
    }
}

#[test]
fn the_last_value_of_a_line_without_an_end_may_be_cut() {
    let line = "07/05/2024 14:00:37;E;7.pbs1;user=ada end=1720188037 Exit_status=271";
    assert_eq!(jobs(line)[0].exit_code, None);
    assert_eq!(
        jobs(&format!("{line}\n"))[0].exit_code.as_deref(),
        Some("271")
    );
    let cut = "07/05/2024 14:00:37;E;7.pbs1;user=ada end=1720188";
    let found: Vec<_> = records(cut.as_bytes(), Pause::NEVER)
        .map(|record| record.job)
        .collect();
    assert_eq!(found, [Err(Reason::UnreadableRecord)]);
}

#[test]
fn other_texts_are_not_recognized() {
    let others = [
        "",
        "job_stats:\n- job_id:          7.pbs1\n",
        "ada:x:1000:1000:Ada:/home/ada:/bin/sh\n",
        "JobID|Start|End\n7|2024-07-05T14:00:37|2024-07-05T14:00:38\n",
        "\"JOB_FINISH\" \"7.06\" 1302184020 436491 10001\n",
        "workq:c1:maths:ada:heat:7:sge:0:1720187960:1720188010:1720188037:0:0\n",
        "{\"jobs\":[{\"id\":7}]}\n",
        "07/05/2024 14:00:37;0100;Server@pbs1;Job;7.pbs1;dequeuing\n",
    ];
    for other in others {
        assert!(!recognizes(other.as_bytes()), "{other}");
    }
    assert!(recognizes(TEXT.as_bytes()));
    assert!(recognizes(
        b"a line that was cut\n07/05/2024 14:00:37;A;7.pbs1;\n"
    ));
}
