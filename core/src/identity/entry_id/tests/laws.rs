use proptest::prelude::*;

use super::*;

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

    /// Returns true if the identity does not contradict the truth.
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
const RECOMMENDED: [&[(&str, Option<&str>)]; 11] = [
    &[("%u:%j:%H", None), ("%e.%u", None)],
    &[("%u:%j:%h", None), ("%e.%u", None)],
    &[("%.8j:%u:%H", None), ("%e.%u", None)],
    &[("%u:%j", None), ("%e.%u", None)],
    &[("%u:%j:%H", None), ("%e.%u", None), ("%e@%u@%H", None)],
    &[("%u:%j:%h", None), ("%e.%u", None), ("%e@%u@%H", None)],
    &[("%.8j:%u:%H", None), ("%e.%u", None), ("%u@%H", None)],
    &[("%.8j:%u:%H", None), ("%e@%u@%H", None)],
    &[("%u:%j", None), ("%e@%u@%H", None)],
    &[
        ("%e:%u:%H", Some("login*")),
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

    /// Neither does the order of the clusters matter, nor repeating one; and a field of several clusters is read by each
    /// cluster that can read the identifier.
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

    /// A process never gets another format, if node names distinguish the formats.
    #[test]
    fn formats_of_nodes_are_told_apart(process in process(), is_login in any::<bool>()) {
        let mut process = process;
        process.host.insert_str(0, if is_login { "login-" } else { "n-" });
        let format = if is_login { "%e:%u:%h" } else { "%j:%u:%h" };
        let id = process.identifier(format);
        prop_assume!(id.is_ascii() && id.len() < 31);
        let formats = by_node(&[("%j:%u:%h", Some("n-*")), ("%e:%u:%h", Some("login-*"))]);
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

    /// Whatever a user calls programs and jobs: with the formats that the documentation recommends, no other user is blamed.
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
        let formats = by_node(formats);
        let identity = formats.identify(id);
        prop_assert!(identity.uid.is_none_or(|it| it == uid), "{id} {identity:?}");
        // The accounting of a job would name its user.
        prop_assert!(identity.uid.is_some() || identity.job.is_none(), "{id} {identity:?}");
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
        // The name of a program may look like a job or like several fields.
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
        // Four letters that a user wrote would fill the identifier.
        prop_assume!(escaped.len() != 31);
        prop_assert_eq!(status("%e:%u:%h", &plain), status("%e:%u:%h", &escaped));
    }
}
