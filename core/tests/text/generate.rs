//! Texts of any version of Lustre, and their meaning: made without the scanner.

use std::fmt::{self, Write};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Layouts that differ.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Version {
    V2_5,
    V2_12,
    V2_14,
    V2_15_0,
    V2_15_8,
    V2_16,
    V2_17,
}

use Version::*;

const VERSIONS: [Version; 7] = [V2_5, V2_12, V2_14, V2_15_0, V2_15_8, V2_16, V2_17];

#[derive(Clone)]
pub struct Target {
    pub version: Version,
    mdt: bool,
    pub name: String,
    interval: Option<u32>,
    pub entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
pub struct Entry {
    id: String,
    start: u64,
    elapsed: u64,
    nanos: u32,
    values: Vec<Values>,
}

#[derive(Debug, Clone)]
struct Values {
    samples: u64,
    min: u64,
    max: u64,
    sum: u64,
    sumsq: u64,
    sizes: Vec<(usize, u64)>,
}

const LABELS: &str = "1 2 4 8 16 32 64 128 256 512 1K 2K 4K 8K 16K 32K 64K 128K 256K 512K 1M 2M 4M 8M 16M 32M 64M 128M 256M 512M 1G 2G";

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![3 => 0..100_u64, 2 => 0..100_000_000_u64, 1 => any::<u64>()]
}

fn values() -> impl Strategy<Value = Values> {
    let sizes = proptest::collection::btree_map(0..32_usize, 1..1000_u64, 0..6);
    let some = (1..u64::MAX, number(), number(), number(), number(), sizes).prop_map(
        |(samples, min, max, sum, sumsq, sizes)| Values {
            samples,
            min,
            max,
            sum,
            sumsq,
            sizes: sizes.into_iter().collect(),
        },
    );
    let none = Values {
        samples: 0,
        min: 0,
        max: 0,
        sum: 0,
        sumsq: 0,
        sizes: Vec::new(),
    };
    prop_oneof![3 => Just(none), 1 => some]
}

fn identifier() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,9}\\.[0-9]{1,5}",
        2 => "[0-9]{1,8}:[0-9]{1,5}:[a-z0-9]{1,6}",
        1 => "@[0-9]{1,5}@[a-z]{1,6}",
        1 => "[!#-~é][ -~é]{0,19}[!#-~é]",
    ]
}

/// Entries with distinct identifiers.
fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let entry = (
        identifier(),
        1_600_000_000..1_700_000_000_u64,
        0..9_999_u64,
        1..1_000_000_000_u32,
        vec(values(), 30),
    )
        .prop_map(|(id, start, elapsed, nanos, values)| Entry {
            id,
            start,
            elapsed,
            nanos,
            values,
        });
    vec(entry, 0..6).prop_map(|mut entries| {
        let mut seen = std::collections::HashSet::new();
        entries.retain(|entry| seen.insert(entry.id.clone()));
        entries
    })
}

/// Targets of one server.
pub fn targets() -> impl Strategy<Value = Vec<Target>> {
    let interval = proptest::option::of(0..100_000_u32);
    let target = (any::<bool>(), interval, entries());
    (select(&VERSIONS[..]), vec(target, 1..4)).prop_map(|(version, targets)| {
        let named = |(index, (mdt, interval, entries))| Target {
            version,
            mdt,
            name: format!("scratch-{}{index:04x}", if mdt { "MDT" } else { "OST" }),
            interval,
            entries,
        };
        targets.into_iter().enumerate().map(named).collect()
    })
}

impl fmt::Debug for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{:?}\n{}", self.version, self.print())
    }
}

impl Target {
    pub fn parameter(&self, leaf: &str) -> String {
        format!(
            "{}.{}.{leaf}",
            if self.mdt { "mdt" } else { "obdfilter" },
            self.name
        )
    }

    /// The operations with the unit of each.
    fn operations(&self) -> Vec<(&'static str, &'static str)> {
        let (bytes, requests) = match (self.mdt, self.version) {
            (false, V2_5) => ("read write", "setattr punch sync"),
            (true, V2_5) => (
                "",
                "open close mknod link unlink mkdir rmdir rename getattr setattr getxattr setxattr statfs sync samedir_rename crossdir_rename",
            ),
            (false, V2_12) => (
                "read_bytes write_bytes",
                "getattr setattr punch sync destroy create statfs get_info set_info quotactl",
            ),
            (true, V2_12) => (
                "",
                "open close mknod getattr setattr statfs sync samedir_rename crossdir_rename read_bytes write_bytes punch",
            ),
            (false, _) => (
                "read_bytes write_bytes",
                "read write getattr setattr punch sync destroy create statfs get_info set_info quotactl prealloc",
            ),
            (true, V2_17) => (
                "read_bytes write_bytes",
                "open close samedir_rename parallel_rename_file parallel_rename_dir crossdir_rename rename_trylocks read write punch migrate readpage teleport",
            ),
            (true, _) => (
                "read_bytes write_bytes",
                "open close mknod getattr samedir_rename crossdir_rename read write punch migrate fallocate",
            ),
        };
        let unit = if self.version < V2_14 {
            "reqs"
        } else {
            "usecs"
        };
        let bytes = bytes.split_whitespace().map(|name| (name, "bytes"));
        bytes
            .chain(requests.split_whitespace().map(|name| (name, unit)))
            .collect()
    }

    pub fn print(&self) -> String {
        let mut out = String::new();
        if let Some(seconds) = self.interval {
            let _ = writeln!(out, "{}={seconds}", self.parameter("job_cleanup_interval"));
        }
        let name = self.parameter("job_stats");
        if self.entries.is_empty() && self.version < V2_17 {
            return out + &format!("{name}=job_stats:\n");
        }
        out += &format!("{name}=\n");
        if !self.entries.is_empty() {
            out += "job_stats:\n";
        }
        for entry in &self.entries {
            self.print_entry(entry, &mut out);
        }
        out
    }

    fn print_entry(&self, entry: &Entry, out: &mut String) {
        let Entry {
            start,
            elapsed,
            nanos,
            ..
        } = entry;
        let snapshot = start + elapsed;
        let _ = writeln!(
            out,
            "- {:<16} {}",
            "job_id:",
            self.print_identifier(&entry.id)
        );
        let _ = match self.version {
            V2_5 | V2_12 | V2_14 => writeln!(out, "  {:<16} {snapshot}", "snapshot_time:"),
            V2_15_0 => writeln!(
                out,
                "{:<16}: {}.{nanos:09} secs.nsecs\n{:<16}: {}.{nanos:09} secs.nsecs\n{:<16}: {elapsed}.000000000 secs.nsecs",
                "snapshot_time",
                snapshot - 1_500_000_000,
                "start_time",
                start - 1_500_000_000,
                "elapsed_time"
            ),
            _ => writeln!(
                out,
                "  {:<16} {snapshot}.{nanos:09} secs.nsecs\n  {:<16} {start}.{nanos:09} secs.nsecs\n  {:<16} {elapsed}.000000000 secs.nsecs",
                "snapshot_time:", "start_time:", "elapsed_time:"
            ),
        };
        for ((name, unit), values) in self.operations().into_iter().zip(&entry.values) {
            self.print_counter(name, unit, values, out);
        }
    }

    fn print_counter(&self, name: &str, unit: &str, values: &Values, out: &mut String) {
        let Values {
            samples,
            min,
            max,
            sum,
            sumsq,
            sizes,
        } = values;
        let _ = write!(
            out,
            "  {:<16} {{ samples: {samples:>11}, unit: {unit:>5}",
            format!("{name}:")
        );
        if unit != "reqs" {
            let _ = match self.version {
                V2_5 | V2_12 | V2_14 => write!(out, ", min:{min:>8}, max:{max:>8}, sum:{sum:>16}"),
                _ => write!(out, ", min: {min:>8}, max: {max:>8}, sum: {sum:>16}"),
            };
        }
        if unit != "reqs" && self.version >= V2_14 {
            let _ = write!(out, ", sumsq: {sumsq:>18}");
        }
        if unit == "bytes" && self.version >= V2_16 {
            let labels: Vec<_> = LABELS.split(' ').collect();
            let sizes: Vec<_> = sizes
                .iter()
                .map(|(size, count)| format!("{}: {count}", labels[*size]))
                .collect();
            let _ = write!(out, ", hist: {{ {} }}", sizes.join(", "));
        }
        *out += " }\n";
    }

    /// The kernel's alphanumerics are Latin-1.
    fn print_identifier(&self, id: &str) -> String {
        if self.version < V2_15_8 {
            return id.to_owned();
        }
        let literal = if self.version == V2_15_8 {
            ".@-_"
        } else {
            ".@-_:/"
        };
        let escaped: String = id
            .bytes()
            .map(|byte| match byte {
                _ if byte.is_ascii_alphanumeric() || literal.as_bytes().contains(&byte) => {
                    char::from(byte).to_string()
                }
                _ => format!("\\x{byte:02X}"),
            })
            .collect();
        if escaped.contains(['\\', ':']) || escaped.starts_with('@') {
            format!("\"{escaped}\"")
        } else {
            escaped
        }
    }
}

/// The text of a server, and the events that it means, as [`crate::events::events`] writes them.
pub fn print(targets: &[Target]) -> String {
    targets.iter().map(Target::print).collect()
}

/// Returns the events of a text that [`print`] made, without line numbers.
pub fn meaning(targets: &[Target]) -> Vec<String> {
    let mut events = Vec::new();
    for target in targets {
        let kind = if target.mdt { "MDT" } else { "OST" };
        if let Some(seconds) = target.interval {
            events.push(format!(
                "cleanup interval of {kind} {} {seconds}",
                target.name
            ));
        }
        events.push(format!("target {kind} {}", target.name));
        for entry in &target.entries {
            entry_meaning(target, entry, &mut events);
        }
    }
    events
}

fn entry_meaning(target: &Target, entry: &Entry, events: &mut Vec<String>) {
    let Entry {
        id,
        start,
        elapsed,
        nanos,
        ..
    } = entry;
    let snapshot = start + elapsed;
    events.push(format!("record {id}"));
    match target.version {
        V2_5 | V2_12 | V2_14 => events.push(format!("snapshot {snapshot}.000000000")),
        V2_15_0 => {
            events.push(format!(
                "snapshot boot {}.{nanos:09}",
                snapshot - 1_500_000_000
            ));
            events.push(format!("start boot {}.{nanos:09}", start - 1_500_000_000));
        }
        _ => {
            events.push(format!("snapshot {snapshot}.{nanos:09}"));
            events.push(format!("start {start}.{nanos:09}"));
        }
    }
    for ((name, unit), values) in target.operations().into_iter().zip(&entry.values) {
        let Values {
            samples,
            min,
            max,
            sum,
            sumsq,
            sizes,
        } = values;
        let mut event = format!("{name} {samples} {unit}");
        if unit != "reqs" {
            let _ = write!(event, " min {min} max {max} sum {sum}");
            if target.version >= V2_14 {
                let _ = write!(event, " sumsq {sumsq}");
            }
        }
        if unit == "bytes" && target.version >= V2_16 {
            event += " hist";
            let labels: Vec<_> = LABELS.split(' ').collect();
            for (size, count) in sizes {
                let _ = write!(event, " {}:{count}", labels[*size]);
            }
        }
        events.push(event);
    }
}

/// The kinds of damage to a text.
#[derive(Debug, Clone)]
pub enum Damage {
    /// A byte becomes another one.
    Replace(Index, u8),
    /// So many bytes are lost.
    Lose(Index, usize),
    /// Bytes come in between.
    Insert(Index, Vec<u8>),
    /// A part of the text comes again somewhere.
    Repeat(Index, usize, Index),
}

/// Bytes and pieces that mean something.
const PIECES: [&str; 27] = [
    "{",
    "}",
    ":",
    ",",
    "=",
    "\n",
    "\r\n",
    "\t",
    " ",
    "-",
    "\"",
    "\\x41",
    "\\",
    ".",
    "0",
    "\0",
    "\u{e9}",
    "obdfilter.scratch-OST0001.job_stats=\n",
    "mdt.scratch-MDT0000.job_stats=job_stats:\n",
    "mdt.scratch-MDT0000.job_cleanup_interval=600\n",
    "error: get_param: reading 'mdt.scratch-MDT0000.job_stats': Interrupted system call\n",
    "- job_id:          x\n",
    "job_stats:\n",
    "health_check=LBUG\n",
    "mds.MDS.mdt.stats=",
    "osd-zfs.scratch-OST0001.kbytesfree=7\n",
    "  punch:           { samples:           0, unit: usecs, min:        0, max:        0, sum:                0, sumsq:                  0 }\n",
];

pub fn damage() -> impl Strategy<Value = Damage> {
    let byte = prop_oneof![select(&b"{}:,=\n\r\t -.0Kx\"\\"[..]), any::<u8>()];
    prop_oneof![
        (any::<Index>(), byte).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        (any::<Index>(), 1..200_usize).prop_map(|(at, len)| Damage::Lose(at, len)),
        (any::<Index>(), select(&PIECES[..]))
            .prop_map(|(at, piece)| Damage::Insert(at, piece.into())),
        (any::<Index>(), 1..400_usize, any::<Index>())
            .prop_map(|(from, len, to)| Damage::Repeat(from, len, to)),
    ]
}

/// Returns the position of the first damage, and the damaged text.
pub fn damaged(text: &[u8], damages: &[Damage]) -> (usize, Vec<u8>) {
    let mut text = text.to_vec();
    let mut first = text.len();
    for damage in damages {
        let at = |index: &Index| index.index(text.len() + 1);
        let begin = match damage {
            Damage::Replace(index, _)
            | Damage::Lose(index, _)
            | Damage::Insert(index, _)
            | Damage::Repeat(_, _, index) => at(index),
        };
        let end = |begin: usize, len: usize| (begin + len).min(text.len());
        match damage {
            Damage::Replace(_, byte) => {
                text.splice(begin..end(begin, 1), [*byte]);
            }
            Damage::Lose(_, len) => {
                text.drain(begin..end(begin, *len));
            }
            Damage::Insert(_, piece) => {
                text.splice(begin..begin, piece.iter().copied());
            }
            Damage::Repeat(from, len, _) => {
                let from = at(from);
                let piece = text[from..end(from, *len)].to_vec();
                text.splice(begin..begin, piece);
            }
        }
        first = first.min(begin);
    }
    (first, text)
}
