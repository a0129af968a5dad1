//! Entry identifiers as clients make them, as racing threads mangle them, and as servers print them.

use crate::lustre::Layout;
use crate::lustre::layout::Quoting;

/// The number of bytes that Lustre keeps of an identifier.
pub const MAX_LEN: usize = 31;

/// An identifier as the server stores it.
pub type Id = Vec<u8>;

/// Returns the identifier `%u:%j:%H`, as on compute nodes.
pub fn of_job(job: &str, uid: u32, node: &str) -> Id {
    cut(format!("{uid}:{job}:{node}"))
}

/// Returns the identifier `%u:%j:%H` without the job.
pub fn without_job(uid: u32, node: &str) -> Id {
    of_job("", uid, node)
}

/// Returns the identifier with the job before the user. Random draws depend on it, and so does the world that the documentation shows.
pub fn job_first(id: &[u8]) -> Id {
    match id.splitn(3, |&byte| byte == b':').collect::<Vec<_>>()[..] {
        [_, job, b""] => [job, b":"].concat(),
        [user, job, node] => [job, user, node].join(&b':'),
        _ => id.to_vec(),
    }
}

/// Returns the identifier `%e.%u`, as on login nodes.
pub fn of_program(program: &[u8], uid: u32) -> Id {
    let program = program.get(..15).unwrap_or(program);
    cut([program, format!(".{uid}").as_bytes()].concat())
}

/// Returns an identifier as Lustre keeps it.
pub fn cut(id: impl Into<Id>) -> Id {
    let mut id = id.into();
    id.truncate(MAX_LEN);
    id
}

/// The number of ways to mangle an identifier.
pub const MANGLINGS: u64 = 10;

/// Returns the identifier that results when threads of one process fill it in at the same time.
pub fn mangled(way: u64, job: &str, uid: u32, node: &str, program: &str) -> Id {
    cut(match way % MANGLINGS {
        0 => program.to_owned(),
        1 => format!("{program}."),
        2 => format!("{uid}"),
        3 => format!("{uid}:"),
        4 => format!("{uid}:{job}"),
        5 => format!("{uid}:{job}:"),
        6 => format!("{uid}:{job}:{node}.bullx"),
        7 => format!("{uid}::{node}.bullx"),
        8 => format!("{uid}{}", job.get(..1).unwrap_or("")),
        _ => format!(":{uid}:{job}:{node}"),
    })
}

/// The condition of an identifier when it reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// The identifier is as the client meant it.
    Sound,
    WithoutJob,
    /// The identifier is cut at 31 bytes.
    Cut,
    Mangled,
}

/// Returns the condition of an identifier.
pub fn condition(id: &[u8]) -> Condition {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'_';
    let digits = |part: &[u8]| !part.is_empty() && part.iter().all(is_digit);
    let dot = id.iter().rposition(|&byte| byte == b'.');
    if dot.is_some_and(|dot| dot > 0 && digits(&id[dot + 1..])) {
        return Condition::Sound;
    }
    let fields: Vec<&[u8]> = id.split(|&byte| byte == b':').collect();
    match fields[..] {
        [uid, job, node] if digits(uid) && !node.is_empty() && !node.contains(&b'.') => match job {
            _ if id.len() == MAX_LEN => Condition::Cut,
            [] => Condition::WithoutJob,
            job if digits(job) => Condition::Sound,
            _ => Condition::Mangled,
        },
        _ => Condition::Mangled,
    }
}

/// Returns the identifier as the server prints it.
pub fn printed(id: &[u8], layout: Layout) -> Vec<u8> {
    let (literal, quoted): (&[u8], bool) = match layout.quoting() {
        Quoting::Raw => return id.to_vec(),
        Quoting::QuestionMarks => return id.iter().map(|&byte| shown(byte)).collect(),
        Quoting::Escape => (b".@-_", false),
        Quoting::EscapeButColons => (b".@-_:/", id.contains(&b':') || id.starts_with(b"@")),
    };
    let stays = |byte: u8| is_alphanumeric(byte) || literal.contains(&byte);
    if !quoted && id.iter().copied().all(stays) {
        return id.to_vec();
    }
    let escaped = id.iter().flat_map(|&byte| match stays(byte) {
        true => vec![byte],
        false => format!("\\x{byte:02X}").into_bytes(),
    });
    [b"\"", &escaped.collect::<Vec<_>>()[..], b"\""].concat()
}

/// Returns the name under which a reader stores the printed identifier: unescaped, with bytes that are not UTF-8 as
/// `\xHH`.
pub fn name(id: &[u8], layout: Layout) -> String {
    match layout.quoting() {
        Quoting::QuestionMarks => text(&printed(id, layout)),
        _ => text(id),
    }
}

/// Returns bytes as text, in which bytes that are not UTF-8 are `\xHH`.
pub fn text(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    text
}

/// Returns true if the kernel takes the byte for alphanumeric. The kernel reads bytes as Latin-1.
fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || (byte >= 0xC0 && byte != 0xD7 && byte != 0xF7)
}

/// Returns the byte, or `?` if the byte is not printable.
fn shown(byte: u8) -> u8 {
    match byte {
        0x20..0x7F | 0xA0.. => byte,
        _ => b'?',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: (&str, u32, &str) = ("11317854", 17627127, "r01c01");

    #[test]
    fn identifiers_are_cut_to_31_bytes() {
        assert_eq!(of_job(JOB.0, JOB.1, JOB.2), b"17627127:11317854:r01c01");
        assert_eq!(
            of_job(JOB.0, JOB.1, "largemem-r05m07"),
            b"17627127:11317854:largemem-r05m"
        );
        assert_eq!(without_job(JOB.1, JOB.2), b"17627127::r01c01");
        assert_eq!(
            job_first(b"17627127:11317854:r01c01"),
            b"11317854:17627127:r01c01"
        );
        assert_eq!(job_first(b"17627127:11317854:"), b"11317854:");
        assert_eq!(of_program(b"wget", 11317854), b"wget.11317854");
        assert_eq!(of_program(b"a-very-long-program", 0), b"a-very-long-pro.0");
    }

    #[test]
    fn manglings_are_like_those_seen_in_production() {
        let seen: Vec<String> = (0..MANGLINGS)
            .map(|way| mangled(way, JOB.0, JOB.1, JOB.2, "wget"))
            .map(|id| String::from_utf8(id).unwrap())
            .collect();
        assert_eq!(
            seen,
            [
                "wget",
                "wget.",
                "17627127",
                "17627127:",
                "17627127:11317854",
                "17627127:11317854:",
                "17627127:11317854:r01c01.bullx",
                "17627127::r01c01.bullx",
                "176271271",
                ":17627127:11317854:r01c01",
            ]
        );
    }

    #[test]
    fn the_condition_of_an_identifier_shows() {
        assert_eq!(condition(b"wget.11317854"), Condition::Sound);
        assert_eq!(condition(b"kworker/86:1.0"), Condition::Sound);
        assert_eq!(condition(b"17627127:11317854_7:r01c01"), Condition::Sound);
        assert_eq!(condition(b"17627127::r01c01"), Condition::WithoutJob);
        assert_eq!(
            condition(b"17627127:11317854:largemem-r05m"),
            Condition::Cut
        );
        for way in 0..MANGLINGS {
            let id = mangled(way, JOB.0, JOB.1, JOB.2, "wget");
            assert_eq!(condition(&id), Condition::Mangled, "{way}");
        }
    }

    #[test]
    fn each_release_prints_identifiers_its_own_way() {
        let shown = |id: &str, layout| String::from_utf8(printed(id.as_bytes(), layout)).unwrap();
        assert_eq!(shown("my prog.7", Layout::V2_12), "my prog.7");
        assert_eq!(shown("my prog.7", Layout::V2_15_8), r#""my\x20prog.7""#);
        assert_eq!(shown("my prog.7", Layout::V2_17), r#""my\x20prog.7""#);
        assert_eq!(shown(":7:r01c01", Layout::V2_12), ":7:r01c01");
        assert_eq!(shown(":7:r01c01", Layout::V2_15_8), r#""\x3A7\x3Ar01c01""#);
        assert_eq!(shown(":7:r01c01", Layout::V2_16), r#"":7:r01c01""#);
        assert_eq!(shown("@0@oss4", Layout::V2_16), r#""@0@oss4""#);
        assert_eq!(shown("wget.7", Layout::V2_17), "wget.7");
    }

    #[test]
    fn names_are_unescaped_unless_they_are_not_utf8() {
        let utf8 = "modél.7".as_bytes();
        assert_eq!(printed(utf8, Layout::V2_16), b"\"mod\xC3\\xA9l.7\"");
        assert_eq!(name(utf8, Layout::V2_16), "modél.7");
        assert_eq!(name(b"caf\xC3.7", Layout::V2_5), "caf\\xC3.7");
        assert_eq!(name("ŉ.7".as_bytes(), Layout::V2_12), "\\xC5?.7");
    }
}
