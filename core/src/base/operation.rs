//! The one list of operations: tables, views, comments and documentation follow from it.
//!
//! A new operation is one line in [`OPERATIONS`]. Append the line, so that the positions of the other operations do not
//! change: stores keep them.

/// The quantity that an operation's counter measures besides the number of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Requests; since Lustre 2.14 the server also reports the microseconds that it spent on them.
    Requests,
    /// Bytes moved; the number of calls is counted by [`field@Operation::doubles`].
    Bytes,
}

/// One operation that Lustre counts in `job_stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// The name as Lustre prints it, and the name of its column.
    pub name: &'static str,
    /// True if metadata targets report the operation.
    pub mdt: bool,
    /// True if object storage targets report the operation.
    pub ost: bool,
    /// The kind: requests or bytes.
    pub kind: Kind,
    /// True if the operation is part of the derived operation `metadata` when an MDT reports it.
    pub metadata: bool,
    /// The operation in which each call of this one is also counted. A sum over both counts the call twice.
    pub doubles: Option<&'static str>,
    /// The system calls that cause the operation, as a user knows them.
    pub system_calls: &'static str,
    /// The description of the operation.
    pub meaning: &'static str,
    /// The first Lustre release that reports the operation.
    pub since: &'static str,
}

/// The position of an operation in [`OPERATIONS`].
pub type OperationIndex = usize;

const fn request(name: &'static str, targets: (bool, bool), since: &'static str) -> Operation {
    Operation {
        name,
        mdt: targets.0,
        ost: targets.1,
        kind: Kind::Requests,
        metadata: false,
        doubles: None,
        system_calls: "",
        meaning: "",
        since,
    }
}

impl Operation {
    const fn bytes(mut self) -> Self {
        self.kind = Kind::Bytes;
        self
    }
    const fn metadata(mut self) -> Self {
        self.metadata = true;
        self
    }
    const fn doubles(mut self, operation: &'static str) -> Self {
        self.doubles = Some(operation);
        self
    }
    const fn is(mut self, system_calls: &'static str, meaning: &'static str) -> Self {
        self.system_calls = system_calls;
        self.meaning = meaning;
        self
    }
    /// Returns true if the time spent in the operation is part of `service_time`, which is not so if another operation
    /// of the same call reports the time too.
    pub const fn in_service_time(&self) -> bool {
        matches!(self.kind, Kind::Requests) && self.doubles.is_none()
    }
    /// Returns true if a target of this kind reports the operation.
    pub const fn on(&self, kind: crate::base::target::TargetKind) -> bool {
        match kind {
            crate::base::target::TargetKind::Mdt => self.mdt,
            crate::base::target::TargetKind::Ost => self.ost,
        }
    }
}

const MDT: (bool, bool) = (true, false);
const OST: (bool, bool) = (false, true);
const BOTH: (bool, bool) = (true, true);

/// The operations with columns. Other operations are kept in `detail`.
#[rustfmt::skip]
pub static OPERATIONS: &[Operation] = &[
    request("read_bytes", BOTH, "2.6").bytes().doubles("read").is("read, pread, readv", "bytes read from the target"),
    request("write_bytes", BOTH, "2.6").bytes().doubles("write").is("write, pwrite, writev", "bytes written to the target"),
    request("read", BOTH, "2.3").is("read, pread, readv", "bulk read requests"),
    request("write", BOTH, "2.3").is("write, pwrite, writev", "bulk write requests"),
    request("open", MDT, "2.3").metadata().is("open, creat", "files opened or created"),
    request("close", MDT, "2.3").metadata().is("close", "files closed"),
    request("mknod", MDT, "2.3").doubles("open").is("creat, mknod", "files created, also by open"),
    request("link", MDT, "2.3").metadata().is("link", "hard links created"),
    request("unlink", MDT, "2.3").metadata().is("unlink", "files removed"),
    request("mkdir", MDT, "2.3").metadata().is("mkdir", "directories created"),
    request("rmdir", MDT, "2.3").metadata().is("rmdir", "directories removed"),
    request("rename", MDT, "2.3").metadata().is("rename", "files and directories renamed, of every kind"),
    request("getattr", BOTH, "2.3").metadata().is("stat, lstat, fstat, access", "attributes read"),
    request("setattr", BOTH, "2.3").metadata().is("chmod, chown, utime, truncate", "attributes changed"),
    request("getxattr", MDT, "2.3").metadata().is("getxattr, listxattr", "extended attributes read"),
    request("setxattr", MDT, "2.3").metadata().is("setxattr, removexattr", "extended attributes changed"),
    request("statfs", BOTH, "2.3").metadata().is("statfs, df", "free space queried"),
    request("sync", BOTH, "2.3").metadata().is("fsync, sync", "data or changes made durable"),
    request("samedir_rename", MDT, "2.3").doubles("rename").is("rename", "renames inside one directory"),
    request("crossdir_rename", MDT, "2.3").doubles("rename").is("rename", "renames from one directory to another"),
    request("punch", BOTH, "2.3").is("truncate, fallocate", "ranges of a file punched out or truncated"),
    request("migrate", MDT, "2.14").metadata().is("lfs migrate -m", "directories and files moved to another MDT"),
    request("fallocate", MDT, "2.15").is("fallocate", "space reserved in a file on the MDT"),
    request("parallel_rename_file", MDT, "2.16").doubles("rename").is("rename", "renames of files done in parallel"),
    request("parallel_rename_dir", MDT, "2.16").doubles("rename").is("rename", "renames of directories done in parallel"),
    request("rename_trylocks", MDT, "2.17").doubles("rename").is("rename", "renames that got their locks on the first try"),
    request("readpage", MDT, "2.17.57").metadata().is("readdir, getdents", "pages of directories read"),
    request("destroy", OST, "2.6").is("unlink", "objects destroyed"),
    request("create", OST, "2.6").is("open, creat", "objects created in advance for an MDT"),
    request("get_info", OST, "2.6").is("", "information queried by servers"),
    request("set_info", OST, "2.6").is("", "information set by servers"),
    request("quotactl", OST, "2.6").is("quotactl, lfs quota", "quota queried or set"),
    request("prealloc", OST, "2.14").is("fallocate", "space reserved in an object"),
];

/// The position of `read_bytes` in [`OPERATIONS`].
pub const READ_BYTES: OperationIndex = 0;
/// The position of `write_bytes` in [`OPERATIONS`].
pub const WRITE_BYTES: OperationIndex = 1;
/// The position of `read` in [`OPERATIONS`].
pub const READ: OperationIndex = 2;
/// The position of `write` in [`OPERATIONS`].
pub const WRITE: OperationIndex = 3;

/// Returns the operation whose time such a name means: `open_time` is the time of `open`.
pub fn timed(name: &str) -> Option<&'static Operation> {
    let operation = &OPERATIONS[find(name.strip_suffix("_time")?.as_bytes())?];
    (operation.kind == Kind::Requests).then_some(operation)
}

/// Returns the position of the operation of this name, if it is in the list.
pub fn find(name: &[u8]) -> Option<OperationIndex> {
    OPERATIONS
        .iter()
        .position(|operation| operation.name.as_bytes() == name)
}

/// Returns the operations that make up service time. No call is counted in two of them.
pub fn in_service_time() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().filter(|it| it.in_service_time())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_positions_are_those_of_the_list() {
        for (index, name) in [
            (READ_BYTES, "read_bytes"),
            (WRITE_BYTES, "write_bytes"),
            (READ, "read"),
            (WRITE, "write"),
        ] {
            assert_eq!(OPERATIONS[index].name, name);
        }
    }

    #[test]
    fn names_are_distinct_and_doubled_operations_exist() {
        for (index, operation) in OPERATIONS.iter().enumerate() {
            assert_eq!(find(operation.name.as_bytes()), Some(index));
            if let Some(other) = operation.doubles {
                assert!(find(other.as_bytes()).is_some(), "{other}");
            }
        }
    }
}
