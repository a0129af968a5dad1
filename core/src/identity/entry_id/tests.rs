mod cut;
mod laws;

use super::*;

fn formats(formats: &[&str]) -> Formats {
    Formats::compile(formats.iter().copied()).unwrap()
}

/// The formats of the clients whose identifiers most cases are.
fn of_production() -> Formats {
    formats(&["%j:%u:%H", "%e.%u"])
}

/// Prints an identity in one line: the fields that are present, then the status.
fn show(identity: Identity) -> String {
    let text = |name: &str, value: Option<&str>| value.map(|value| format!("{name}={value}"));
    let number = |name: &str, value: Option<u32>| value.map(|value| format!("{name}={value}"));
    [
        text("job", identity.job),
        number("uid", identity.uid),
        number("gid", identity.gid),
        text("node", identity.node),
        text("executable", identity.executable),
        number("pid", identity.pid),
        Some(identity.status.to_string()),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(" ")
}

fn identify(format: &str, id: &str) -> String {
    show(formats(&[format]).identify(id))
}

fn status(format: &str, id: &str) -> Status {
    formats(&[format]).identify(id).status
}

#[test]
fn identifiers_from_production() {
    let formats = of_production();
    #[rustfmt::skip]
    let cases = [
        ("wget.11317854", "uid=11317854 executable=wget ok"),
        ("11317854:17627127:r01c01", "job=11317854 uid=17627127 node=r01c01 ok"),
        (":17627127:r01c01", "uid=17627127 node=r01c01 missing_job"),
        ("wget", "malformed"),
        ("wget.", "executable=wget partial"),
        ("11317854", "job=11317854 ok"),
        ("11317854:", "job=11317854 partial"),
        ("113178544", "job=113178544 ok"),
        // The number of a user may be cut.
        ("11317854:17627127", "job=11317854 partial"),
        ("11317854:17627127:", "job=11317854 uid=17627127 partial"),
        ("11317854:17627127:r01c01.bullx", "job=11317854 uid=17627127 node=r01c01 ok"),
        (":17627127:r01c01.bullx", "uid=17627127 node=r01c01 missing_job"),
        (":17627127:", "uid=17627127 partial"),
        (":17627127", "malformed"),
        (":", "malformed"),
        ("ƒD2e73NP:", "job=ƒD2e73NP partial"),
        ("4686875.pbs1", "job=4686875.pbs1 ok"),
        ("wget:", "malformed"),
        ("wget:5:", "malformed"),
        (":1317854:17627127:r01c01", "uid=17627127 node=r01c01 partial"),
        ("", "malformed"),
    ];
    for (id, expected) in cases {
        assert_eq!(show(formats.identify(id)), expected, "{id}");
    }
}

#[test]
fn the_first_format_that_matches_wins() {
    let both = formats(&["%e:%u:%H", "%j:%u:%H"]);
    let identity = both.identify("17:1000:n1");
    assert_eq!(identity.format, Some("%e:%u:%H"));
    assert_eq!(identity.executable, Some("17"));
    assert_eq!(both.identify(":1000:n1").format, Some("%j:%u:%H"));
    assert_eq!(both.identify("n1").format, None);
}

#[test]
fn an_identifier_that_may_begin_several_ways_is_malformed() {
    let ids = ["17:5:", "17", "17:5:n1.fi"];
    let tried = |tried: &[&str]| ids.map(|id| show(formats(tried).identify(id)));
    assert_eq!(
        tried(&["%j:%u:%H"]),
        [
            "job=17 uid=5 partial",
            "job=17 ok",
            "job=17 uid=5 node=n1 ok"
        ]
    );
    assert_eq!(
        tried(&["%u:%j:%H"]),
        [
            "job=5 uid=17 partial",
            "malformed",
            "job=5 uid=17 node=n1 ok"
        ]
    );
    assert_eq!(tried(&["%j:%u:%H", "%u:%j:%H"]), ["malformed"; 3]);
    assert_eq!(
        tried(&["%j:%u:%H", "%j:%u:%h:%e"])[0],
        "job=17 uid=5 partial"
    );
}

#[test]
fn only_formats_that_an_identifier_needs_are_kept() {
    let all = [
        "%e:%e",
        "%j:%u:%H",
        "%j:%u:%H",
        "%j:%u:%h:%e",
        "%u:%j:%H",
        "%H@%u",
    ];
    for id in ["17:5:", "17", "17:5:n1.fi", "17:5:n1", "n1@5", "", "?"] {
        let mut needed = Formats::default();
        for format in all {
            needed.add_if_needed(Format::compile(format, None).unwrap(), id);
        }
        assert!(needed.0.len() < 3, "{id}");
        assert_eq!(needed.identify(id), formats(&all).identify(id), "{id}");
    }
}

#[test]
fn nothing_is_read_where_formats_name_different_users() {
    let login = ["%u:%j:%h", "%e.%u"];
    let gateways = ["%u:%j:%H", "%e.%u", "%e@%u@%H"];
    #[rustfmt::skip]
    let cases = [
        // A program is called like a job and its node.
        (&login[..], "1000:4711:n1.2000", "uid=2000 executable=1000:4711:n1 ok"),
        (&["%u:%j", "%e.%u"], "2000:.1000:.4711", "malformed"),
        (&gateways, "2000:x@1000@naaaaaaaaaaaaaaaaaa", "malformed"),
        // The end of the cut part may belong to any user.
        (&login, "2000:\\xAA\\xAA\\xAA\\xAA:aaaa.1000", "malformed"),
        (&gateways, "dd@1000@dtn1", "uid=1000 node=dtn1 executable=dd ok"),
        (&login, "1000:4711:n1.hpc.site", "job=4711 uid=1000 node=n1 ok"),
    ];
    for (tried, id, expected) in cases {
        assert_eq!(show(formats(tried).identify(id)), expected, "{id}");
    }
}

#[test]
fn a_job_that_is_text_says_less_than_another_format() {
    let of = |format, nodes| {
        Format::compile(format, None)
            .unwrap()
            .only_for(None, nodes)
            .unwrap()
    };
    let formats = Formats::from_iter([of("%e:%u:%H", Some("login*")), of("%j:%u:%H", None)]);
    for (id, expected) in [
        (
            "vi:1000:login1.site.fi",
            "uid=1000 node=login1 executable=vi ok",
        ),
        ("x:1000:n1.site.fi", "uid=1000 node=n1 partial"),
    ] {
        assert_eq!(show(formats.identify(id)), expected, "{id}");
    }
}

/// Servers from 2.15.2 on show them, older ones look as if they had quoted the identifier.
#[test]
fn quotes_around_an_identifier_are_no_part_of_it() {
    for (id, expected) in [
        ("\"4711:1000:n1\"", "job=4711 uid=1000 node=n1 ok"),
        ("\":1000:n1\"", "uid=1000 node=n1 missing_job"),
        ("\"vi.1000\"", "uid=1000 executable=vi ok"),
        ("\"4711\"", "job=4711 ok"),
        ("\"4711:1000:n1", "job=\"4711 uid=1000 node=n1 ok"),
        ("\"", "malformed"),
        // The last one may be the user.
        ("\"4711:1000:n1aaaaaaaaaaaaaaaaa\"", "malformed"),
    ] {
        assert_eq!(show(of_production().identify(id)), expected, "{id}");
    }
}

#[test]
fn a_node_label_is_the_node_where_the_format_asks_for_none() {
    let label = |format, id| {
        let format = Format::compile(format, Some("login")).unwrap();
        format.identify(id).map(show)
    };
    assert_eq!(
        label("%e.%u", "vi.7").unwrap(),
        "uid=7 node=login executable=vi ok"
    );
    assert_eq!(
        label("%e.%u.%H", "vi.7.n1").unwrap(),
        "uid=7 node=n1 executable=vi ok"
    );
}

#[test]
fn every_code_has_its_field() {
    assert_eq!(
        identify("%j,%u,%g,%H,%e,%p", "12,1000,100,n1,vi,4711"),
        "job=12 uid=1000 gid=100 node=n1 executable=vi pid=4711 ok"
    );
    assert_eq!(identify("%u@%h", "0@mds1.site-2.fi"), "uid=0 node=mds1 ok");
}

#[test]
fn fields_hold_what_lustre_can_put_there() {
    #[rustfmt::skip]
    let cases = [
        // Numbers have 32 bits.
        ("%e.%u", "vi.4294967295", "uid=4294967295 executable=vi ok"),
        ("%e.%u", "vi.4294967296", "malformed"),
        ("%e.%u", "vi.-1", "malformed"),
        ("%p@%g", "4294967295@4294967295", "gid=4294967295 pid=4294967295 ok"),
        // The name of a program has 1 to 15 bytes, any of them.
        ("%e.%u", "node.exporter:9.5", "uid=5 executable=node.exporter:9 ok"),
        ("%e.%u", "kworker/86:1 x.0", "uid=0 executable=kworker/86:1 x ok"),
        ("%e.%u", "a\nb.0", "uid=0 executable=a\nb ok"),
        ("%e.%u", "fifteen-letters.0", "uid=0 executable=fifteen-letters ok"),
        ("%e.%u", "sixteen--letters.0", "malformed"),
        ("%e.%u", "äääääää.0", "uid=0 executable=äääääää ok"),
        ("%e.%u", "ääääääää.0", "malformed"),
        ("%e.%u", r"ääääääa\xC3.0", r"uid=0 executable=ääääääa\xC3 ok"),
        ("%e.%u", r"äääääääa\xC3.0", "malformed"),
        ("%e.%u", ".0", "malformed"),
        // A short host name has no dot, no host name has a colon.
        ("%e@%H", "vi@n1.fi", "node=n1 executable=vi ok"),
        ("%e@%H", "vi@.fi", "malformed"),
        ("%e@%h", "vi@n1:fi", "malformed"),
        // A job alone may be anything.
        ("%j", "a:1 b.c", "job=a:1 b.c ok"),
        ("%j", "", "missing_job"),
    ];
    for (format, id, expected) in cases {
        assert_eq!(identify(format, id), expected, "{format} {id}");
    }
}

#[test]
fn formats_are_read_as_lustre_reads_them() {
    for (format, id, expected) in [
        ("%j : %u\t", "1:2", "job=1 uid=2 ok"),
        ("%x%j%%:%u%", "1:2", "job=1 uid=2 ok"),
        ("(%e)+%u", "(vi)+5", "uid=5 executable=vi ok"),
        ("ä%u", "ä5", "uid=5 ok"),
        // The field has at most N bytes.
        ("%.3e.%u", "wge.5", "uid=5 executable=wge ok"),
        ("%.3e.%u", "vi.5", "uid=5 executable=vi ok"),
        ("%.3e.%u", "wget.5", "malformed"),
        ("%.20e.%u", "sixteen--letters.0", "malformed"),
        ("%.4j%H", "1234n1", "job=1234 node=n1 ok"),
        ("%.0j:%u", "123456:5", "job=123456 uid=5 ok"),
        ("%.j:%u", "123456:5", "job=123456 uid=5 ok"),
        (
            "%.99999999999999999999j:%u",
            "123456:5",
            "job=123456 uid=5 ok",
        ),
        // The second code is used only if the job is empty.
        ("%j?%e:%u", "123_4:5", "job=123_4 uid=5 ok"),
        ("%j?%e:%u", "wget:5", "uid=5 executable=wget ok"),
        ("%j?%e:%u", ":5", "malformed"),
        ("%j?%u", "job.7", "job=job.7 ok"),
        ("%j?%u@%H", "7@n1", "job=7 node=n1 ok"),
        ("%.3j?%.2H:%u", "1234:5", "malformed"),
        ("%.3j?%.2H:%u", "123:5", "job=123 uid=5 ok"),
        // A number or a node as long as its limit may be cut, and could then belong to another user.
        ("%j:%.3u", "1:12", "job=1 uid=12 ok"),
        ("%j:%.3u", "1:123", "job=1 truncated"),
        ("%j:%.10u", "1:1234567890", "job=1 uid=1234567890 ok"),
        ("%.4H:%u", "n10:5", "uid=5 node=n10 ok"),
        ("%.4H:%u", "n101:5", "uid=5 truncated"),
        ("%.8h:%u", "n101.sit:5", "uid=5 node=n101 truncated"),
        ("%j?no:%u", "no:5", "uid=5 ok"),
        ("%j?%x:%u", ":5", "uid=5 missing_job"),
        ("%u:%j?", "5:", "uid=5 missing_job"),
    ] {
        assert_eq!(identify(format, id), expected, "{format} {id}");
    }
}

/// Identifiers of the formats that sites and the tests of Lustre use, each as a client makes it.
#[test]
fn formats_seen_in_the_wild() {
    #[rustfmt::skip]
    let cases = [
        ("u%u.g%g", "u1000.g100", "uid=1000 gid=100 ok"),
        ("%j@%u@%h", "@0@oss4", "uid=0 node=oss4 missing_job"),
        ("%j:%u:%h", ":988:ds88", "uid=988 node=ds88 missing_job"),
        ("S.%j.%e.%u.%h.E", "S.dd-17.dd.500.n1.site.E", "job=dd-17 uid=500 node=n1 executable=dd ok"),
        ("%j.%p", "dd-17.4711", "job=dd-17 pid=4711 ok"),
        ("205e.%e.%u", "205e.touch.0", "uid=0 executable=touch ok"),
        ("%j?%H:%e:%u", "17:dd:500", "job=17 uid=500 executable=dd ok"),
        ("%j?%H:%e:%u", "n1:dd:500", "uid=500 executable=dd partial"),
        // Whoever has no job is on this node, or has called the job like one.
        ("%j?%H:%e:%u", "alice:cp:0", "uid=0 executable=cp partial"),
        ("%j.%e.%u", "4711.python3.11.1000", "job=4711 uid=1000 executable=python3.11 ok"),
        ("%j.%e.%u", ".python3.11.1000", "uid=1000 executable=python3.11 missing_job"),
        ("%j.%e.%u.%h", "4711.a.1000.aaaaaaaaaaa.vi.7.n", "job=4711 uid=7 node=n executable=vi ok"),
        ("%e.%u", "kworker.0", "uid=0 executable=kworker ok"),
        ("%j", "4686875[12].pbs", "job=4686875[12] ok"),
        ("%j:%u:%H", "ƒ2DV1ybiCF:5:n1", "job=155625455616032 uid=5 node=n1 ok"),
        // Lustre cuts off the user, the node and the last letter of the server.
        ("%j:%u:%H", "4686875.kman.restech.unsw.edu.a", "job=4686875 truncated"),
        ("%.7j:%u:%H", "4686875:1000:n1", "job=4686875 uid=1000 node=n1 ok"),
        ("%j:%g:%p:%h", "17:100:4711:n1", "job=17 gid=100 node=n1 pid=4711 ok"),
    ];
    for (format, id, expected) in cases {
        let formats = formats(&[format]);
        let identity = formats.identify(id);
        let number = identity.number();
        let job = number.as_deref();
        assert_eq!(
            show(Identity { job, ..identity }),
            expected,
            "{format} {id}"
        );
    }
}

/// The formats of nodes, in the order in which they are tried.
fn by_node(formats: &[(&str, Option<&str>)]) -> Formats {
    let one = |&(format, nodes): &(&str, _)| {
        let format = Format::compile(format, None);
        format.and_then(|format| format.only_for(None, nodes))
    };
    formats.iter().map(|it| one(it).unwrap()).collect()
}

#[test]
fn a_format_may_be_that_of_some_nodes() {
    let formats = by_node(&[("%e:%u:%H", Some("login*")), ("%j:%u:%H", Some("n*"))]);
    for (id, expected) in [
        ("17:5:login1", "uid=5 node=login1 executable=17 ok"),
        ("17:5:n101", "job=17 uid=5 node=n101 ok"),
        ("17:5:login1.fi", "uid=5 node=login1 executable=17 ok"),
        ("17:5:n101.site.fi", "job=17 uid=5 node=n101 ok"),
        ("17:5:x1", "malformed"),
        // What does not show its node may be of either.
        ("17:5:", "malformed"),
        ("vi:5:", "uid=5 executable=vi partial"),
        ("17", "job=17 ok"),
        // The node is cut.
        ("123456789012345:1234567890:n101", "malformed"),
        (
            "1234567890123456:123456789:n101",
            "job=1234567890123456 uid=123456789 truncated",
        ),
    ] {
        let identity = formats.identify(id);
        let (id, expected) = (id, expected);
        assert_eq!(show(identity), expected, "{id}");
    }
    let label = by_node(&[("%e:%u:%H", Some("login*")), ("%j:%u:%H", None)]);
    // A format of all nodes does not win over a format whose node is cut.
    assert_eq!(
        label.identify("123456789012345:1234567890:n101").status,
        Status::Malformed
    );
    assert_eq!(show(label.identify("17:5:n1")), "job=17 uid=5 node=n1 ok");
}

#[test]
fn a_pattern_of_nodes_needs_a_node() {
    for (format, label) in [("%e.%u", None), ("%e.%u", Some("login"))] {
        let format = Format::compile(format, label).unwrap();
        assert_eq!(
            format.only_for(None, Some("login*")).unwrap_err(),
            FormatError::NoNode("%e.%u".to_owned())
        );
    }
    let format = Format::compile("%e.%u", None).unwrap();
    let long = "a".repeat(256);
    assert!(matches!(
        format.only_for(Some(&long), None),
        Err(FormatError::LongPattern(_))
    ));
}

/// The formats of clusters, in the order in which they are tried.
fn by_cluster(formats: &[(&str, Option<&str>, Option<&str>)]) -> Formats {
    let one = |&(format, label, clusters): &(&str, _, _)| {
        let format = Format::compile(format, label);
        format.and_then(|format| format.only_for(clusters, None))
    };
    formats.iter().map(|it| one(it).unwrap()).collect()
}

#[test]
fn a_format_may_be_that_of_some_clusters() {
    let formats = by_cluster(&[
        ("%u:%j:%H", None, Some("b*")),
        ("%j:%u:%H", None, Some("a")),
        ("%e.%u", None, None),
    ]);
    let read = |clusters: &[&str], id| show(formats.identify_in(clusters, id));
    assert_eq!(read(&["a"], "17:5:n1"), "job=17 uid=5 node=n1 ok");
    assert_eq!(read(&["b1"], "17:5:n1"), "job=5 uid=17 node=n1 ok");
    // What both read differently is unknown, whatever the order.
    assert_eq!(read(&["a", "b1"], "17:5:n1"), "node=n1 malformed");
    assert_eq!(read(&["b1", "a"], "17:5:n1"), "node=n1 malformed");
    assert_eq!(read(&["b1", "b2"], "17:5:n1"), "job=5 uid=17 node=n1 ok");
    // A cluster that cannot read it is ignored.
    assert_eq!(read(&["a", "b1"], "x:5:n1"), "job=x uid=5 node=n1 ok");
    assert_eq!(read(&["c"], "17:5:n1"), "malformed");
    assert_eq!(read(&[], "17:5:n1"), "malformed");
    for clusters in [&["a"][..], &["a", "b1", "c"], &[]] {
        assert_eq!(read(clusters, "vi.7"), "uid=7 executable=vi ok");
    }
    assert!(formats.differ_by_cluster() && !of_production().differ_by_cluster());
}

#[test]
fn a_format_needs_a_code() {
    for format in ["", "job", "%", "%%", "100 %x", "%.3", "%J%E"] {
        assert_eq!(
            Format::compile(format, None).unwrap_err(),
            FormatError::NoCode(format.to_owned())
        );
    }
}

#[test]
fn a_format_is_no_longer_than_lustre_takes() {
    let longest = format!("%u{}", ":".repeat(30));
    assert!(Format::compile(&longest, None).is_ok());
    assert!(Format::compile(&"%e".repeat(16), None).is_ok());
    let longer = format!("{longest}:");
    let error = Formats::compile(["%u", &longer]).unwrap_err();
    assert_eq!(error, FormatError::TooLong(longer));
}

#[test]
fn work_is_named_after_the_job_else_the_program_and_user_else_the_identifier() {
    for (format, id, expected) in [
        ("%j:%u:%e", "17:5:vi", "17"),
        ("%j:%u:%e", ":5:vi", "vi.5"),
        ("%u/%e", "5/vi", "vi.5"),
        ("%e:%H", "vi:n1", "vi:n1"),
        ("%j:%u:%H", ":5:n1", ":5:n1"),
        (
            "%u:%j",
            "5:67890123456789012345678901234",
            "5:67890123456789012345678901234",
        ),
        ("%j:%u:%H", "vi", "vi"),
        ("%j:%u:%H", "", ""),
    ] {
        let workload = formats(&[format]).identify(id).workload(id);
        assert_eq!(workload, expected, "{format} {id}");
    }
}

#[test]
fn the_likely_format_explains_most_identifiers() {
    for (ids, expected) in [
        (
            vec!["815871", "815872_3", "815873.server", "wget.0"],
            Some("%j"),
        ),
        (vec!["17:5:n1", ":0:mds1"], Some("%j:%u:%H")),
        (vec!["17:5:n1", ":0:mds1.fi"], Some("%j:%u:%h")),
        (vec!["17:5:n1", "vi:0:mds1"], Some("%j?%e:%u:%H")),
        (
            vec!["vi:5:n1.fi", "node_exporter:989:es-2-virt3-co"],
            Some("%e:%u:%h"),
        ),
        (vec!["@0@oss4", "@33918@login"], Some("%j@%u@%H")),
        (vec!["mount.lustre@0@co-es-pm-149.co-"], Some("%e@%u@%h")),
        (vec!["vi.5", "wget.11317854", "17:5:n1"], Some("%e.%u")),
        (vec!["815871.0", "815872.1"], Some("%j.%u")),
        (vec!["1000:17", "1000:"], Some("%u:%j")),
        (vec!["1000:17:n1", "0::mds1"], Some("%u:%j:%H")),
        (vec!["1000:17:n1", "0::mds1.fi"], Some("%u:%j:%h")),
        (vec!["17:1000", ":1000"], Some("%j:%u")),
        // Half of the identifiers are not most of them, and names are not jobs.
        (vec!["815871", "wget.0"], None),
        (vec!["wget", "bash", "wget."], None),
        (vec![], None),
    ] {
        assert_eq!(likely_format(ids.iter().copied()), expected, "{ids:?}");
    }
}
