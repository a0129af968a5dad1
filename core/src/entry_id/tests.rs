use proptest::prelude::*;

use super::*;

fn formats(formats: &[&str]) -> Formats {
    Formats::compile(formats.iter().copied()).unwrap()
}

fn defaults() -> Formats {
    Formats::compile(DEFAULT_FORMATS.iter().copied()).unwrap()
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
fn identifiers_from_production_with_the_default_formats() {
    let formats = defaults();
    for (id, expected) in [
        ("wget.11317854", "uid=11317854 executable=wget ok"),
        (
            "11317854:17627127:r01c01",
            "job=11317854 uid=17627127 node=r01c01 ok",
        ),
        (":17627127:r01c01", "uid=17627127 node=r01c01 missing_job"),
        ("wget", "malformed"),
        ("wget.", "executable=wget partial"),
        ("11317854", "job=11317854 ok"),
        ("11317854:", "job=11317854 partial"),
        ("113178544", "job=113178544 ok"),
        // The number of a user may be cut.
        ("11317854:17627127", "job=11317854 partial"),
        ("11317854:17627127:", "job=11317854 uid=17627127 partial"),
        (
            "11317854:17627127:r01c01.bullx",
            "job=11317854 uid=17627127 node=r01c01 ok",
        ),
        (
            ":17627127:r01c01.bullx",
            "uid=17627127 node=r01c01 missing_job",
        ),
        (":17627127:", "uid=17627127 partial"),
        (":17627127", "malformed"),
        (":", "malformed"),
        ("ƒD2e73NP:", "job=ƒD2e73NP partial"),
        ("4686875.pbs1", "job=4686875.pbs1 ok"),
        ("wget:", "malformed"),
        ("wget:5:", "malformed"),
        (
            ":1317854:17627127:r01c01",
            "uid=17627127 node=r01c01 partial",
        ),
        ("", "malformed"),
    ] {
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
    for (tried, id, expected) in [
        // A program is called like a job and its node.
        (
            &login[..],
            "1000:4711:n1.2000",
            "uid=2000 executable=1000:4711:n1 ok",
        ),
        (&["%u:%j", "%e.%u"], "2000:.1000:.4711", "malformed"),
        (&gateways, "2000:x@1000@naaaaaaaaaaaaaaaaaa", "malformed"),
        // The end of what was cut may be anybody's.
        (&login, "2000:\\xAA\\xAA\\xAA\\xAA:aaaa.1000", "malformed"),
        (
            &gateways,
            "dd@1000@dtn1",
            "uid=1000 node=dtn1 executable=dd ok",
        ),
        (
            &login,
            "1000:4711:n1.hpc.site",
            "job=4711 uid=1000 node=n1 ok",
        ),
    ] {
        assert_eq!(show(formats(tried).identify(id)), expected, "{id}");
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
    for (format, id, expected) in [
        // Numbers have 32 bits.
        ("%e.%u", "vi.4294967295", "uid=4294967295 executable=vi ok"),
        ("%e.%u", "vi.4294967296", "malformed"),
        ("%e.%u", "vi.-1", "malformed"),
        (
            "%p@%g",
            "4294967295@4294967295",
            "gid=4294967295 pid=4294967295 ok",
        ),
        // The name of a program has 1 to 15 bytes, any of them.
        (
            "%e.%u",
            "node.exporter:9.5",
            "uid=5 executable=node.exporter:9 ok",
        ),
        (
            "%e.%u",
            "kworker/86:1 x.0",
            "uid=0 executable=kworker/86:1 x ok",
        ),
        ("%e.%u", "a\nb.0", "uid=0 executable=a\nb ok"),
        (
            "%e.%u",
            "fifteen-letters.0",
            "uid=0 executable=fifteen-letters ok",
        ),
        ("%e.%u", "sixteen--letters.0", "malformed"),
        ("%e.%u", "äääääää.0", "uid=0 executable=äääääää ok"),
        ("%e.%u", "ääääääää.0", "malformed"),
        (
            "%e.%u",
            r"ääääääa\xC3.0",
            r"uid=0 executable=ääääääa\xC3 ok",
        ),
        ("%e.%u", r"äääääääa\xC3.0", "malformed"),
        ("%e.%u", ".0", "malformed"),
        // A short host name has no dot, no host name has a colon.
        ("%e@%H", "vi@n1.fi", "node=n1 executable=vi ok"),
        ("%e@%H", "vi@.fi", "malformed"),
        ("%e@%h", "vi@n1:fi", "malformed"),
        // A job alone may be anything.
        ("%j", "a:1 b.c", "job=a:1 b.c ok"),
        ("%j", "", "missing_job"),
    ] {
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
        // A number or a node that is as long as its limit may be cut, and would be that of somebody else.
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
    for (format, id, expected) in [
        ("u%u.g%g", "u1000.g100", "uid=1000 gid=100 ok"),
        ("%j@%u@%h", "@0@oss4", "uid=0 node=oss4 missing_job"),
        ("%j:%u:%h", ":988:ds88", "uid=988 node=ds88 missing_job"),
        (
            "S.%j.%e.%u.%h.E",
            "S.dd-17.dd.500.n1.site.E",
            "job=dd-17 uid=500 node=n1 executable=dd ok",
        ),
        ("%j.%p", "dd-17.4711", "job=dd-17 pid=4711 ok"),
        ("205e.%e.%u", "205e.touch.0", "uid=0 executable=touch ok"),
        (
            "%j?%H:%e:%u",
            "17:dd:500",
            "job=17 uid=500 executable=dd ok",
        ),
        (
            "%j?%H:%e:%u",
            "n1:dd:500",
            "uid=500 node=n1 executable=dd ok",
        ),
        ("%e.%u", "kworker.0", "uid=0 executable=kworker ok"),
        ("%j", "4686875[12].pbs", "job=4686875[12] ok"),
        (
            "%j:%u:%H",
            "ƒ2DV1ybiCF:5:n1",
            "job=155625455616032 uid=5 node=n1 ok",
        ),
        // Lustre cuts off the user, the node and the last letter of the server.
        (
            "%j:%u:%H",
            "4686875.kman.restech.unsw.edu.a",
            "job=4686875 truncated",
        ),
        (
            "%.7j:%u:%H",
            "4686875:1000:n1",
            "job=4686875 uid=1000 node=n1 ok",
        ),
        (
            "%j:%g:%p:%h",
            "17:100:4711:n1",
            "job=17 gid=100 node=n1 pid=4711 ok",
        ),
    ] {
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
    let formats = by_node(&[("%e:%u:%H", Some("login%")), ("%j:%u:%H", Some("n___"))]);
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
    let label = by_node(&[("%e:%u:%H", Some("login%")), ("%j:%u:%H", None)]);
    // A format of all nodes does not win over one whose node is cut.
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
            format.only_for(None, Some("login%")).unwrap_err(),
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
        ("%u:%j:%H", None, Some("b%")),
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
    // A cluster that cannot read it has no say.
    assert_eq!(read(&["a", "b1"], "x:5:n1"), "job=x uid=5 node=n1 ok");
    assert_eq!(read(&["c"], "17:5:n1"), "malformed");
    assert_eq!(read(&[], "17:5:n1"), "malformed");
    for clusters in [&["a"][..], &["a", "b1", "c"], &[]] {
        assert_eq!(read(clusters, "vi.7"), "uid=7 executable=vi ok");
    }
    assert!(formats.differ_by_cluster() && !defaults().differ_by_cluster());
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
fn identifiers_of_31_bytes_are_truncated_unless_they_end_in_a_number() {
    for (format, id, expected) in [
        (
            "%e@%u@%h",
            "mount.lustre@0@co-es-pm-149.co-",
            "uid=0 node=co-es-pm-149 executable=mount.lustre truncated",
        ),
        (
            "%e@%u@%h",
            "df@0@co-es-pm-149.co-es.datadir",
            "uid=0 node=co-es-pm-149 executable=df truncated",
        ),
        (
            "%j:%u:%H",
            "SLURM_JOB_machine176_2453:0:mac",
            "job=SLURM_JOB_machine176_2453 uid=0 truncated",
        ),
        (
            "%e:%u:%h",
            "node_exporter:989:es-2-virt3-co",
            "uid=989 executable=node_exporter truncated",
        ),
        (
            "%j:%u:%h",
            ":17627127:r01c01.bullx.data.cs1",
            "uid=17627127 node=r01c01 truncated",
        ),
        (
            "%u:%j",
            "5:67890123456789012345678901234",
            "uid=5 truncated",
        ),
        ("%j", "1234567890123456789012345678901", "truncated"),
        // The server of PBS is cut, and the number is known.
        (
            "%j",
            "4686875[12].kman.restech.unsw.e",
            "job=4686875[12].kman.restech.unsw.e truncated",
        ),
        (
            "%u:%j",
            "1000:4686875.kman.restech.unsw.",
            "job=4686875.kman.restech.unsw. uid=1000 truncated",
        ),
        (
            "%u:%j:%H",
            "1000:4686875.kman.restech.unsw.",
            "job=4686875.kman.restech.unsw. uid=1000 truncated",
        ),
        (
            "%h:%u",
            "r01c01.bullx.data.cs1:123456789",
            "uid=123456789 node=r01c01 ok",
        ),
        (
            "%h:%j?%u",
            "r01c01.bullx.data.csc:J23456789",
            "node=r01c01 truncated",
        ),
        // These have one byte less, and one byte more in notation but not in content.
        (
            "%e@%u@%h",
            "df@0@co-es-pm-149.co-es.datadi",
            "uid=0 node=co-es-pm-149 executable=df ok",
        ),
        (
            "%e@%u@%h",
            r"d\xC3@0@co-es-pm-149.co-es.data",
            r"uid=0 node=co-es-pm-149 executable=d\xC3 ok",
        ),
        (
            "%e@%u@%h",
            r"d\xC3@0@co-es-pm-149.co-es.datadi",
            r"uid=0 node=co-es-pm-149 executable=d\xC3 ok",
        ),
        (
            "%e@%u@%h",
            r"d\xC3@0@co-es-pm-149.co-es.datadir",
            r"uid=0 node=co-es-pm-149 executable=d\xC3 truncated",
        ),
    ] {
        assert_eq!(identify(format, id), expected, "{format} {id}");
    }
}

/// The kernel wrote the user and the node of these identifiers, and their users chose `SLURM_JOB_ID` so that they look like others.
#[test]
fn a_job_that_looks_like_several_fields_hides_nobody() {
    for (format, id, expected) in [
        ("%j:%u:%H", "a:b:1001:n5", "uid=1001 node=n5 partial"),
        ("%j:%u:%H", "4711:1000:1001:n5", "uid=1001 node=n5 partial"),
        (
            "%j:%u:%H",
            "4711:1000:n1:1001:n5",
            "uid=1001 node=n5 partial",
        ),
        ("%j:%u:%H", "a\n:b:1001:n5", "uid=1001 node=n5 partial"),
        (
            "%j:%u:%h",
            "a:b:1001:n5.site.fi",
            "uid=1001 node=n5 partial",
        ),
        ("%j@%u@%H", "a:b@1001@n5", "uid=1001 node=n5 partial"),
        ("%j:%u", "4711:1000:1001", "uid=1001 partial"),
        ("%.8j:%u:%H", "4711:100:1001:n5", "uid=1001 node=n5 partial"),
        (
            "%j?%e:%u:%H",
            "a:b:1001:n5",
            "uid=1001 node=n5 executable=a:b ok",
        ),
        (
            "%j?%e:%u:%H",
            "aaaaaaaaaaaa:1000:1001:n5",
            "uid=1001 node=n5 partial",
        ),
        ("%u:%j:%H", "1001:a:b:n5", "uid=1001 node=n5 partial"),
        (
            "%H:%u:%j:%g",
            "n5:1001:a:b:100",
            "uid=1001 gid=100 node=n5 partial",
        ),
        // Nobody knows what was cut off, but what stands before the job.
        ("%j:%u:%H", "a:bbbbbbbbbbbbbbbbbbbbb:1001:n5", "malformed"),
        ("%j:%u:%H", r"a:\x41bbbbbbbbbbbbbbbbb:1001:n5", "malformed"),
        (
            "%u:%j:%H",
            "1001:a:bbbbbbbbbbbbbbbbbbbbb:n5",
            "uid=1001 truncated",
        ),
        // A job that is limited cuts off nothing but the end of the node.
        (
            "%.8j:%u:%H",
            "a:b:1001:n5aaaaaaaaaaaaaaaaaaaa",
            "uid=1001 truncated",
        ),
        // What follows the job cannot be told apart from it.
        ("%j:%u:%e", "a:b:1001:vi", "malformed"),
        ("%j.%u.%h", "a:b.1001.n5", "malformed"),
        ("%u:%j:%e", "1001:a:bbbbbbbbbbbbb:vi", "uid=1001 partial"),
        ("%e:%j:%u", "vi:aaaaaaaaaaaaaa:b:1001", "uid=1001 partial"),
        ("%j%u:%H", "a:b1001:n5", "malformed"),
        // No job that is limited is longer.
        ("%.3j:%u:%H", "a:bc:1001:n5", "malformed"),
        ("%.4j:%u:%H", "a:bc:1001:n5", "uid=1001 node=n5 partial"),
    ] {
        assert_eq!(identify(format, id), expected, "{format} {id}");
    }
}

/// Users chose `SLURM_JOB_ID` so long that it pushed what the kernel wrote out of these identifiers.
#[test]
fn what_a_long_job_can_push_out_is_never_in_order() {
    for (format, id, expected, is_certain) in [
        (
            "%j:%u:%H",
            "4711:1000:n101aaaaaaaaaaaaaaaaa",
            "job=4711 uid=1000 truncated",
            false,
        ),
        (
            "%j:%u:%h",
            "4711:1000:n101.aaaaaaaaaaaaaaaa",
            "job=4711 uid=1000 node=n101 truncated",
            false,
        ),
        // The number of the user that stands at the end may be cut, too.
        (
            "%j:%u",
            "4686875.kman.restech.unsw.:1000",
            "job=4686875.kman.restech.unsw. truncated",
            false,
        ),
        (
            "%j:%H:%u",
            "4711:n101aaaaaaaaaaaaaaaaa:1000",
            "job=4711 node=n101aaaaaaaaaaaaaaaaa truncated",
            false,
        ),
        (
            "%j:%u:%e",
            r"4711.aaaaa:1000:\x41aaaaaaaaaaa",
            r"job=4711.aaaaa uid=1000 executable=\x41aaaaaaaaaaa truncated",
            false,
        ),
        (
            "%j:%u:%H",
            "4711.aaaaaaaaaaaaaaaaaaaaaaaaaa",
            "job=4711.aaaaaaaaaaaaaaaaaaaaaaaaaa truncated",
            false,
        ),
        // The kernel's fields come first, or the job is too short to push them out.
        (
            "%u:%j:%H",
            "1001:4711:n101aaaaaaaaaaaaaaaaa",
            "job=4711 uid=1001 truncated",
            true,
        ),
        (
            "%.8j:%u:%h",
            "4711:1000:r01c01.bullx.data.cs1",
            "job=4711 uid=1000 node=r01c01 truncated",
            true,
        ),
        (
            "%.19j:%u:%H",
            "4711:1000:n101",
            "job=4711 uid=1000 node=n101 ok",
            true,
        ),
        (
            "%j:%u:%H",
            "4711:1000:n101",
            "job=4711 uid=1000 node=n101 ok",
            true,
        ),
    ] {
        assert_eq!(identify(format, id), expected, "{format} {id}");
        assert_eq!(!user_may_be_forged(format, id), is_certain, "{format} {id}");
    }
    let id = "4711:1000:n101aaaaaaaaaaaaaaaaa";
    for (format, is_certain) in [
        ("%.19j:%u:%H", true),
        ("%.20j:%u:%H", false),
        ("%H:%.8j:%u", false),
        ("%j?%u:%u", false),
        ("%j", true),
        ("%e:%u:%H", true),
    ] {
        assert_eq!(!user_may_be_forged(format, id), is_certain, "{format}");
    }
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

/// The values that a process contributes to its identifier.
#[derive(Debug, Clone)]
struct Process {
    executable: String,
    uid: u32,
    gid: u32,
    pid: u32,
    job: String,
    host: String,
}

fn process() -> impl Strategy<Value = Process> {
    let host = "[a-z][a-z0-9-]{0,6}(\\.[a-z]{2,5}){0,2}";
    let job = "([0-9]{1,9}(_[0-9]{1,3})?)?";
    (".{1,15}", any::<(u32, u32, u32)>(), job, host)
        .prop_filter("15 bytes", |(executable, ..)| executable.len() <= 15)
        .prop_map(|(executable, (uid, gid, pid), job, host)| Process {
            executable,
            uid,
            gid,
            pid,
            job,
            host,
        })
}

impl Process {
    /// Returns the identifier that a client makes of a format, before the identifier is cut.
    fn identifier(&self, format: &str) -> String {
        let short = self.host.split('.').next().unwrap();
        format
            .replace("%u", &self.uid.to_string())
            .replace("%g", &self.gid.to_string())
            .replace("%p", &self.pid.to_string())
            .replace("%h", &self.host)
            .replace("%H", short)
            .replace("%j", &self.job)
            .replace("%e", &self.executable)
    }

    /// Returns true if the identity says nothing that differs from the truth.
    fn agrees(&self, identity: &Identity) -> bool {
        let node = self.host.split('.').next().unwrap();
        identity.job.is_none_or(|job| job == self.job)
            && identity.uid.is_none_or(|uid| uid == self.uid)
            && identity.gid.is_none_or(|gid| gid == self.gid)
            && identity.pid.is_none_or(|pid| pid == self.pid)
            && identity.node.is_none_or(|it| it == node)
            && identity.executable.is_none_or(|it| it == self.executable)
    }
}

const SEPARATED: [&str; 10] = [
    "%u:%j:%H",
    "%j:%u:%H",
    "%j:%u:%h",
    "%e.%u",
    "%e:%u:%h",
    "%e@%u@%h",
    "%p:%e:%g",
    "%u:%j",
    "%j",
    "%j:%g:%u:%H",
];

/// The formats of a site that the documentation recommends, each with its pattern of nodes.
const RECOMMENDED: [&[(&str, Option<&str>)]; 9] = [
    &[("%u:%j:%H", None), ("%e.%u", None)],
    &[("%u:%j:%h", None), ("%e.%u", None)],
    &[("%.8j:%u:%H", None), ("%e.%u", None)],
    &[("%u:%j", None), ("%e.%u", None)],
    &[("%u:%j:%H", None), ("%e.%u", None), ("%e@%u@%H", None)],
    &[("%u:%j:%h", None), ("%e.%u", None), ("%e@%u@%H", None)],
    &[("%.8j:%u:%H", None), ("%e.%u", None), ("%u@%H", None)],
    &[
        ("%e:%u:%H", Some("login%")),
        ("%u:%j:%H", None),
        ("%e.%u", None),
    ],
    &[("%.8j?%e:%u:%H", None), ("%e.%u", None)],
];

/// Text that is made to look like fields of an identifier.
fn forged(pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(vec![
        "1000",
        "2000",
        "7",
        "4711",
        ":",
        "@",
        ".",
        ":1000:",
        ".1000",
        "@1000@",
        "n1",
        "n101.hpc.site",
        "login1",
        "x",
        "\\xC3",
        "aaaaaaaaaa",
        "%",
        " ",
    ]);
    proptest::collection::vec(piece, pieces).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_a_client_builds_is_read_back(
        process in process(),
        format in proptest::sample::select(SEPARATED.as_slice()),
    ) {
        let id = process.identifier(format);
        prop_assume!(id.len() < 31);
        let formats = formats(&[format]);
        let identity = formats.identify(&id);
        prop_assert!(process.agrees(&identity), "{id} {identity:?}");
        let missing = format.contains("%j") && process.job.is_empty();
        prop_assert_eq!(
            identity.status,
            if missing { Status::MissingJob } else { Status::Ok }
        );
        prop_assert_eq!(identity.job.is_some(), format.contains("%j") && !missing);
        prop_assert_eq!(identity.uid.is_some(), format.contains("%u"));
        prop_assert_eq!(identity.gid.is_some(), format.contains("%g"));
        prop_assert_eq!(identity.pid.is_some(), format.contains("%p"));
        prop_assert_eq!(identity.executable.is_some(), format.contains("%e"));
        prop_assert_eq!(identity.node.is_some(), format.contains(['h', 'H']));
    }

    /// Neither does the order of the clusters matter, nor how often one is named; and a field of several clusters is one that
    /// each of them reads, if it can read the identifier at all.
    #[test]
    fn clusters_agree_in_any_order(
        id in "[0-9a-z]{0,4}[:.][0-9]{1,4}(:[a-z]{1,3})?",
        clusters in proptest::collection::vec("[abc]", 1..5),
    ) {
        let formats = by_cluster(&[
            ("%u:%j:%H", None, Some("b")),
            ("%j:%u:%H", None, Some("a")),
            ("%e:%u:%H", None, Some("_")),
            ("%e.%u", Some("login"), Some("a")),
            ("%j.%u", None, Some("c")),
            ("%e.%u", None, None),
        ]);
        let fields = |clusters: &[String]| {
            let identity = formats.identify_in(clusters, &id);
            let Identity { job, uid, node, executable, status, .. } = identity;
            (job, uid, node, executable, status == Status::Malformed)
        };
        let together = fields(&clusters);
        let mut others = clusters.clone();
        others.reverse();
        prop_assert_eq!(together, fields(&others));
        others.extend(clusters.clone());
        prop_assert_eq!(together, fields(&others));
        for cluster in &clusters {
            let alone = fields(std::slice::from_ref(cluster));
            if !alone.4 {
                prop_assert!(together.0.is_none() || together.0 == alone.0);
                prop_assert!(together.1.is_none() || together.1 == alone.1);
                prop_assert!(together.2.is_none() || together.2 == alone.2);
                prop_assert!(together.3.is_none() || together.3 == alone.3);
            }
        }
    }

    /// A process never becomes one of another format, if the formats are told apart by the names of nodes.
    #[test]
    fn formats_of_nodes_are_told_apart(process in process(), is_login in any::<bool>()) {
        let mut process = process;
        process.host.insert_str(0, if is_login { "login-" } else { "n-" });
        let format = if is_login { "%e:%u:%h" } else { "%j:%u:%h" };
        let id = process.identifier(format);
        prop_assume!(id.is_ascii() && id.len() < 31);
        let formats = by_node(&[("%j:%u:%h", Some("n-%")), ("%e:%u:%h", Some("login-%"))]);
        let identity = formats.identify(&id);
        prop_assert_eq!(identity.format, Some(format));
        prop_assert!(process.agrees(&identity), "{} {:?}", id, identity);
    }

    /// Whatever a user chooses as the job, the others that the kernel wrote are read, if it wrote them first or the job is limited.
    #[test]
    fn no_job_changes_the_user_of_a_safe_format(
        process in process(),
        job in "(.{0,40}|[0-9a-z:.@]{0,40})",
        format in proptest::sample::select(vec!["%u:%j:%H", "%.8j:%u:%H", "%u@%j@%h"]),
    ) {
        prop_assume!(job.is_ascii());
        let limited = if format.starts_with("%.8j") { &job[..job.len().min(8)] } else { &job };
        let process = Process { job: limited.to_owned(), ..process };
        let id = process.identifier(&format.replace("%.8j", "%j"));
        let id = &id[..id.len().min(31)];
        let formats = formats(&[format]);
        let identity = formats.identify(id);
        prop_assert_eq!(identity.uid, Some(process.uid), "{} {:?}", id, identity);
        prop_assert!(!user_may_be_forged(format, id));
    }

    /// Whatever a user calls programs and jobs: with formats that the documentation recommends, nobody else has done the work.
    #[test]
    fn no_work_is_put_on_another_user(
        uid in proptest::sample::select(vec![0_u32, 7, 1000, 2000, 4_000_000_000]),
        executable in forged(1..8),
        job in forged(0..12),
        host in proptest::sample::select(vec!["n1", "n101.hpc.site", "login1", "a-node-with-a-long-name"]),
        (formats, sent) in proptest::sample::select(RECOMMENDED.as_slice()).prop_flat_map(|formats| {
            (Just(formats), 0..formats.len())
        }),
    ) {
        let (format, nodes) = formats[sent];
        prop_assume!(nodes.is_none_or(|_| host.starts_with("login")));
        let executable = executable[..executable.floor_char_boundary(15)].to_owned();
        let limited = if format.contains("%.8j") { job.floor_char_boundary(8) } else { job.len() };
        let job = job[..limited].to_owned();
        let process = Process { executable, uid, gid: 1, pid: 1, job, host: host.to_owned() };
        let id = process.identifier(&format.replace("%.8j?%e", if limited > 0 { "%j" } else { "%e" }).replace("%.8j", "%j"));
        let id = &id[..id.floor_char_boundary(31)];
        let identity = by_node(formats).identify(id).uid;
        prop_assert!(identity.is_none_or(|it| it == uid), "{} {:?}", id, identity);
    }

    #[test]
    fn nothing_wrong_is_read_from_what_lustre_cut(
        process in process(),
        domain in "\\.[a-z]{20}",
        format in proptest::sample::select(vec!["%j:%u:%h", "%e:%u:%h", "%e@%u@%h"]),
    ) {
        let mut process = process;
        process.host.push_str(&domain);
        let id = process.identifier(format);
        prop_assume!(id.is_ascii() && id.len() > 31);
        let formats = formats(&[format]);
        let identity = formats.identify(&id[..31]);
        prop_assert_eq!(identity.status, Status::Truncated);
        prop_assert_eq!(identity.uid, Some(process.uid));
        prop_assert!(process.agrees(&identity), "{id} {identity:?}");
    }

    #[test]
    fn nothing_wrong_is_read_from_the_beginning_of_an_identifier(
        process in process(),
        format in proptest::sample::select(SEPARATED.as_slice()),
        end in any::<proptest::sample::Index>(),
    ) {
        // The name of a program may be that of a job, or look like several fields.
        let letters = process.executable.chars().filter(char::is_ascii_alphabetic);
        let process = Process {
            executable: letters.chain(['x']).take(15).collect(),
            ..process
        };
        let id = process.identifier(format);
        let ends: Vec<_> = id.char_indices().map(|(at, _)| at).chain([id.len()]).collect();
        let part = &id[..ends[end.index(ends.len())]];
        let part = &part[..part.floor_char_boundary(30)];
        let formats = formats(&[format]);
        let identity = formats.identify(part);
        // A number at the end of the format, or the job that the format is, may go on.
        let whole = !matches!(identity.status, Status::Partial | Status::Malformed);
        prop_assert!(whole || process.agrees(&identity), "{part} of {id}: {identity:?}");
        let numbers_first = format.starts_with("%u") || format.starts_with("%p");
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        prop_assert!(!(numbers_first && digits && identity.job.is_some()), "{part} of {id}");
    }

    #[test]
    fn any_text_has_a_status_and_a_workload(id in ".{0,40}", format in "[%:.?a-zA-Z0-9 ]{0,12}%[eghHjpu]") {
        let formats = match Format::compile(&format, None) {
            Ok(format) => Formats::from_iter([format]),
            Err(error) => {
                prop_assert_eq!(error, FormatError::NoCode(format));
                return Ok(());
            }
        };
        let identity = formats.identify(&id);
        prop_assert_eq!(identity.format.is_none(), identity.status == Status::Malformed);
        let fields = show(identity);
        prop_assert!(fields != "partial", "a part says something: {id}");
        prop_assert_eq!(identity.workload(&id).is_empty(), id.is_empty());
        likely_format([id.as_str()]);
    }

    #[test]
    fn the_notation_of_a_byte_counts_as_one(prefix in "[a-z]{0,15}", rest in "[a-z.]{0,20}") {
        let plain = format!("{prefix}x:1:h{rest}");
        let escaped = format!(r"{prefix}\xE9:1:h{rest}");
        prop_assert_eq!(status("%e:%u:%h", &plain), status("%e:%u:%h", &escaped));
    }
}
