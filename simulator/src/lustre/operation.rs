//! The requests of clients, and the counters of `job_stats` that each request moves.

use clap::ValueEnum;

/// A counter of `job_stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum)]
#[value(rename_all = "snake_case")]
#[repr(u8)]
#[rustfmt::skip]
pub enum Op {
    ReadBytes, WriteBytes, Read, Write, Open, Close, Mknod, Link, Unlink, Mkdir, Rmdir, Rename, Getattr, Setattr,
    Getxattr, Setxattr, Statfs, Sync, SamedirRename, CrossdirRename, ParallelRenameFile, ParallelRenameDir,
    RenameTrylocks, Punch, Migrate, Fallocate, Destroy, Create, GetInfo, SetInfo, Quotactl, Prealloc,
}

/// The number of counters.
pub const OPS: usize = 32;

/// The names of the counters since Lustre 2.6, in the order of [`Op`].
#[rustfmt::skip]
pub static NAMES: [&str; OPS] = [
    "read_bytes", "write_bytes", "read", "write", "open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename",
    "getattr", "setattr", "getxattr", "setxattr", "statfs", "sync", "samedir_rename", "crossdir_rename",
    "parallel_rename_file", "parallel_rename_dir", "rename_trylocks", "punch", "migrate", "fallocate", "destroy", "create",
    "get_info", "set_info", "quotactl", "prealloc",
];

impl Op {
    /// Returns the counter's name since Lustre 2.6.
    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// Returns the counter of this name.
    pub fn named(name: &str) -> Option<Self> {
        <Self as ValueEnum>::from_str(name, false).ok()
    }

    /// Returns true if the counter counts bytes, not requests.
    pub fn is_bytes(self) -> bool {
        matches!(self, Self::ReadBytes | Self::WriteBytes)
    }

    /// Returns the request that a counter of bytes belongs to; any other counter returns itself.
    pub fn request(self) -> Self {
        match self {
            Self::ReadBytes => Self::Read,
            Self::WriteBytes => Self::Write,
            other => other,
        }
    }
}

/// A kind of request of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Reads of a given number of bytes each.
    Read,
    /// Writes of a given number of bytes each.
    Write,
    /// Opens that create the file; they count as `open` and `mknod`.
    OpenCreate,
    /// Renames within one directory.
    RenameSame,
    /// Renames from one directory to another.
    RenameCross,
    /// Renames of files that the server does in parallel.
    RenameFileParallel,
    /// Renames of directories that the server does in parallel.
    RenameDirParallel,
    /// Requests that move only the counter of their own name.
    Plain(Op),
}

impl Call {
    /// Returns the counters that one request of this kind moves, if the server has them.
    pub fn counters(&self) -> &[Op] {
        match self {
            Self::Read => &[Op::ReadBytes, Op::Read],
            Self::Write => &[Op::WriteBytes, Op::Write],
            Self::OpenCreate => &[Op::Open, Op::Mknod],
            Self::RenameSame => &[Op::Rename, Op::SamedirRename],
            Self::RenameCross => &[Op::Rename, Op::CrossdirRename],
            Self::RenameFileParallel => &[
                Op::Rename,
                Op::SamedirRename,
                Op::ParallelRenameFile,
                Op::RenameTrylocks,
            ],
            Self::RenameDirParallel => &[Op::Rename, Op::CrossdirRename, Op::ParallelRenameDir],
            Self::Plain(op) => std::slice::from_ref(op),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_the_counters() {
        assert_eq!(Op::ReadBytes.name(), "read_bytes");
        assert_eq!(Op::RenameTrylocks.name(), "rename_trylocks");
        assert_eq!(Op::Prealloc as usize, OPS - 1);
        assert_eq!(Op::Prealloc.name(), "prealloc");
        for op in Op::value_variants() {
            assert_eq!(Op::named(op.name()), Some(*op));
        }
    }
}
