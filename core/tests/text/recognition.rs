//! Each source recognizes its own texts and no others.

use jobstats_core::accounting::SCHEDULERS;
use jobstats_core::text::getent::Database;
use jobstats_core::text::{job_stats, openmetrics};

/// Texts, each with its source; "" if it has none.
#[rustfmt::skip]
const TEXTS: [(&str, &str); 36] = [
    ("", ""),
    ("", "+::::::\n"),
    ("", "+:::\n"),
    ("", "10.0.0.1 host1\n10.0.0.2 host2\n"),
    ("", "root:$6$salt$hash:19000:0:99999:7:::\nada:!:19000:0:99999:7:::\n"),
    ("job_stats", "mdt.fs-MDT0000.job_stats=\njob_stats:\n- job_id:          4711:1000:n1\n  snapshot_time:   1700000000\n"),
    ("job_stats", "obdfilter.fs-OST0000.job_stats=\njob_stats:\n- job_id:          4711:1000:n1\n  read: { samples: 1, unit: reqs }\n"),
    ("job_stats", "job_stats:\n- job_id:          7.pbs1\n"),
    ("openmetrics", "# TYPE job_id gauge\njob_id 1\n"),
    ("passwd", "root:x:0:0:root:/root:/bin/bash\nada:x:1000:100::/home/ada:/bin/sh\n"),
    ("passwd", "ada:x:1000:1000:Ada:/home/ada:/bin/sh\n"),
    ("group", "users:x:100:ada,bob\nroot:x:0:\n"),
    ("slurm", "JobID|User|UID|State\n1|ada|1000|COMPLETED\n"),
    ("slurm", "JobID|Start|End\n7|2024-07-05T14:00:37|2024-07-05T14:00:38\n"),
    ("slurm", "JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User\n1|1|c|1700000000|1700000001|Unknown|1000|ada\n"),
    ("", "JOBID|USER|ST\n1|ada|R\n"),
    ("pbs", "01/26/2016 00:00:37;E;2994.pbs;user=ada group=chem queue=workq ctime=1453766281\n"),
    ("pbs", "07/05/2024 14:00:37;E;7.pbs1;user=ada end=1720188037\n"),
    ("", "07/05/2024 14:00:37;0100;Server@pbs1;Job;7.pbs1;dequeuing\n"),
    ("lsf", "\"JOB_FINISH\" \"10.1\" 1700003660 4711 1000 33554438 1 1700000000 0 0 1700000060 \"ada\"\n"),
    ("lsf", "\"JOB_FINISH\" \"7.06\" 1302184020 436491 10001\n"),
    ("", "\"JOB_NEW\" \"10.1\" 1720188037 7 1000\n"),
    ("", "{\"COMMAND\":\"bjobs\",\"JOBS\":1,\"RECORDS\":[{\"JOBID\":\"22005\"}]}\n"),
    ("", "{\"JOBS\":1,\"RECORDS\":[{\"JOBID\":\"22005\"}]}\n"),
    (
        "gridengine",
        "long.q:node7.site:chem:ada:relax:4711:sge:0:1700000000:1700000060:1700003660:0:0:3600:3500.5:12.25:8236:0:0:0:0:\
1523:3:0:400:0:0:0:0:48:42:NONE:chemistry:NONE:1:0:3512.75:2.96:0.000025:-u ada -q long.q:0.000000:NONE:143335424\n",
    ),
    ("", "workq:c1:maths:ada:heat:7:sge:0:1720187960:1720188010:1720188037:0:0\n"),
    ("", "all.q:node1:users:ada:test:42:sge:0:1437000000:1437000001:1437000002:0:0\n"),
    ("", "{\"job_number\":10,\"task_number\":1,\"start_time\":1730532913429415,\"owner\":\"ada\"}\n"),
    ("", "# Version: 8.6.2\n"),
    ("", "==============================================================\nqname        all.q\njobnumber    8\n"),
    ("flux", "{\"jobs\": [{\"id\": 1, \"userid\": 1000, \"t_submit\": 1700000000.5}]}\n"),
    ("", "{}"),
    ("", "{\"jobs\": [], \"meta\": {}}"),
    ("", "{\"jobs\":[{\"id\":7}]}\n"),
    ("", "{\"jobs\": [{\"account\": \"a\", \"job_id\": 1, \"user\": \"ada\"}], \"meta\": {}}\n"),
    ("", "       JOBID USER     NAME       ST NTASKS NNODES  RUNTIME\n   \u{192}uZZybuN ada      relax       R      1      1   2.858s\n"),
];

#[test]
fn a_text_has_one_source() {
    let wrong = TEXTS.into_iter().filter_map(|(source, text)| {
        let bytes = text.as_bytes();
        let schedulers = SCHEDULERS
            .iter()
            .map(|it| (it.name, (it.recognizes)(bytes)));
        let others = [
            ("job_stats", job_stats::is_job_stats(bytes)),
            ("openmetrics", openmetrics::recognizes(bytes)),
            ("passwd", Database::Passwd.recognizes(bytes)),
            ("group", Database::Group.recognizes(bytes)),
        ];
        let found = schedulers.chain(others).filter(|it| it.1);
        let found: Vec<_> = found.map(|it| it.0).collect();
        (found.concat() != source).then_some((text, source, found))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), []);
}
