use super::*;

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
