use super::*;

#[test]
fn identifiers_of_31_bytes_are_truncated_unless_they_end_in_a_number() {
    #[rustfmt::skip]
    let cases = [
        ("%e@%u@%h", "mount.lustre@0@co-es-pm-149.co-", "uid=0 node=co-es-pm-149 executable=mount.lustre truncated"),
        ("%e@%u@%h", "df@0@co-es-pm-149.co-es.datadir", "uid=0 node=co-es-pm-149 executable=df truncated"),
        ("%j:%u:%H", "SLURM_JOB_machine176_2453:0:mac", "job=SLURM_JOB_machine176_2453 uid=0 truncated"),
        ("%e:%u:%h", "node_exporter:989:es-2-virt3-co", "uid=989 executable=node_exporter truncated"),
        ("%j:%u:%h", ":17627127:r01c01.bullx.data.cs1", "uid=17627127 node=r01c01 truncated"),
        ("%u:%j", "5:67890123456789012345678901234", "uid=5 truncated"),
        ("%j", "1234567890123456789012345678901", "truncated"),
        // The server of PBS is cut, and the number is known.
        ("%j", "4686875[12].kman.restech.unsw.e", "job=4686875[12].kman.restech.unsw.e truncated"),
        ("%u:%j", "1000:4686875.kman.restech.unsw.", "job=4686875.kman.restech.unsw. uid=1000 truncated"),
        ("%u:%j:%H", "1000:4686875.kman.restech.unsw.", "job=4686875.kman.restech.unsw. uid=1000 truncated"),
        ("%h:%u", "r01c01.bullx.data.cs1:123456789", "uid=123456789 node=r01c01 ok"),
        ("%h:%j?%u", "r01c01.bullx.data.csc:J23456789", "node=r01c01 truncated"),
        // These have one byte less, and one byte more in notation but not in content.
        ("%e@%u@%h", "df@0@co-es-pm-149.co-es.datadi", "uid=0 node=co-es-pm-149 executable=df ok"),
        ("%e@%u@%h", r"d\xC3@0@co-es-pm-149.co-es.dat", r"uid=0 node=co-es-pm-149 executable=d\xC3 ok"),
        // The notation may be text that its user wrote.
        ("%e@%u@%h", r"d\xC3@0@co-es-pm-149.co-es.data", r"uid=0 node=co-es-pm-149 executable=d\xC3 truncated"),
        ("%e:%u:%H", r"a\xAA\x41:4000000000:n123456789012", r"uid=4000000000 executable=a\xAA\x41 truncated"),
        ("%e@%u@%h", r"d\xC3@0@co-es-pm-149.co-es.datadi", r"uid=0 node=co-es-pm-149 executable=d\xC3 ok"),
        ("%e@%u@%h", r"d\xC3@0@co-es-pm-149.co-es.datadir", r"uid=0 node=co-es-pm-149 executable=d\xC3 truncated"),
    ];
    for (format, id, expected) in cases {
        assert_eq!(identify(format, id), expected, "{format} {id}");
    }
}

/// The kernel wrote the user and the node of these identifiers, and their users chose `SLURM_JOB_ID` so that they look like others.
#[test]
fn a_job_that_looks_like_several_fields_hides_nobody() {
    #[rustfmt::skip]
    let cases = [
        ("%j:%u:%H", "a:b:1001:n5", "uid=1001 node=n5 partial"),
        ("%j:%u:%H", "4711:1000:1001:n5", "uid=1001 node=n5 partial"),
        ("%j:%u:%H", "4711:1000:n1:1001:n5", "uid=1001 node=n5 partial"),
        ("%j:%u:%H", "a\n:b:1001:n5", "uid=1001 node=n5 partial"),
        ("%j:%u:%h", "a:b:1001:n5.site.fi", "uid=1001 node=n5 partial"),
        ("%j@%u@%H", "a:b@1001@n5", "uid=1001 node=n5 partial"),
        ("%j:%u", "4711:1000:1001", "uid=1001 partial"),
        ("%.8j:%u:%H", "4711:100:1001:n5", "uid=1001 node=n5 partial"),
        ("%j?%e:%u:%H", "a:b:1001:n5", "uid=1001 node=n5 executable=a:b ok"),
        ("%j?%e:%u:%H", "aaaaaaaaaaaa:1000:1001:n5", "uid=1001 node=n5 partial"),
        ("%u:%j:%H", "1001:a:b:n5", "uid=1001 node=n5 partial"),
        ("%H:%u:%j:%g", "n5:1001:a:b:100", "uid=1001 gid=100 node=n5 partial"),
        // The cut part is unknown, except the fields before the job.
        ("%j:%u:%H", "a:bbbbbbbbbbbbbbbbbbbbb:1001:n5", "malformed"),
        ("%j:%u:%H", r"a:\x41bbbbbbbbbbbbbbbbb:1001:n5", "malformed"),
        ("%u:%j:%H", "1001:a:bbbbbbbbbbbbbbbbbbbbb:n5", "uid=1001 truncated"),
        // The domain follows the name of a node.
        ("%.8j:%u:%H", "x:2000:n5.cl.example.org", "uid=2000 node=n5 partial"),
        ("%.8j:%u:%H", "a:b:2000:n5.cl.example.org", "uid=2000 node=n5 partial"),
        ("%u:%j:%H", "2000:x:n5.cl.example.org", "uid=2000 node=n5 partial"),
        ("%H:%u:%j:%g", "n5.cl:1001:a:b:100", "uid=1001 gid=100 node=n5 partial"),
        ("%j:%u:%H", "x:2000:n5.cl.example.orgaaaaaaa", "malformed"),
        // A job with a limit cuts off only the end of the node.
        ("%.8j:%u:%H", "a:b:1001:n5aaaaaaaaaaaaaaaaaaaa", "uid=1001 truncated"),
        // The text behind the job may be part of it.
        ("%j:%u:%e", "a:b:1001:vi", "malformed"),
        ("%j.%u.%h", "a:b.1001.n5", "malformed"),
        ("%u:%j:%e", "1001:a:bbbbbbbbbbbbb:vi", "uid=1001 partial"),
        ("%e:%j:%u", "vi:aaaaaaaaaaaaaa:b:1001", "uid=1001 partial"),
        ("%j%u:%H", "a:b1001:n5", "malformed"),
        // A job with a limit is never longer than the limit.
        ("%.3j:%u:%H", "a:bc:1001:n5", "malformed"),
        ("%.4j:%u:%H", "a:bc:1001:n5", "uid=1001 node=n5 partial"),
    ];
    for (format, id, expected) in cases {
        assert_eq!(identify(format, id), expected, "{format} {id}");
    }
}

/// Users chose `SLURM_JOB_ID` so long that it pushed what the kernel wrote out of these identifiers.
#[test]
fn what_a_long_job_can_push_out_is_never_in_order() {
    #[rustfmt::skip]
    let cases = [
        ("%j:%u:%H", "4711:1000:n101aaaaaaaaaaaaaaaaa", "job=4711 uid=1000 truncated", false),
        ("%j:%u:%h", "4711:1000:n101.aaaaaaaaaaaaaaaa", "job=4711 uid=1000 node=n101 truncated", false),
        // The number of the user at the end may be cut, too.
        ("%j:%u", "4686875.kman.restech.unsw.:1000", "job=4686875.kman.restech.unsw. truncated", false),
        ("%j:%H:%u", "4711:n101aaaaaaaaaaaaaaaaa:1000", "job=4711 node=n101aaaaaaaaaaaaaaaaa truncated", false),
        ("%j:%u:%e", r"4711.aaaaa:1000:\x41aaaaaaaaaaa", r"job=4711.aaaaa uid=1000 truncated", false),
        // The first is a byte that is no text, the second four letters of the user.
        ("%j:%u:%H", r"4711.s\xAA\x41:1000:n1aaaaaaaaaaaa", r"job=4711.s\xAA\x41 uid=1000 truncated", false),
        ("%j:%u:%H", r"4711.s\xAA:1000:n101", r"job=4711.s\xAA uid=1000 node=n101 ok", true),
        ("%j:%u:%H", "4711.aaaaaaaaaaaaaaaaaaaaaaaaaa", "job=4711.aaaaaaaaaaaaaaaaaaaaaaaaaa truncated", false),
        // The kernel's fields come first, or the job is too short to push them out.
        ("%u:%j:%H", "1001:4711:n101aaaaaaaaaaaaaaaaa", "job=4711 uid=1001 truncated", true),
        ("%.8j:%u:%h", "4711:1000:r01c01.bullx.data.cs1", "job=4711 uid=1000 node=r01c01 truncated", true),
        ("%.19j:%u:%H", "4711:1000:n101", "job=4711 uid=1000 node=n101 ok", true),
        ("%j:%u:%H", "4711:1000:n101", "job=4711 uid=1000 node=n101 ok", true),
    ];
    for (format, id, expected, is_certain) in cases {
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
