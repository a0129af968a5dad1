//! The requests of clients, and the counters of `job_stats` that each request increases. An operation is a variant of [`Op`], listed in
//! `layout.rs` with the first release that counts it.

use strum::{EnumCount, EnumString, IntoStaticStr, VariantArray};

/// A counter of `job_stats`. Since Lustre 2.6 its name is the variant's name: `read_bytes` for `ReadBytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(EnumCount, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[repr(u8)]
#[rustfmt::skip]
pub enum Op {
    ReadBytes, WriteBytes, Read, Write, Open, Close, Mknod, Link, Unlink, Mkdir, Rmdir, Rename, Getattr, Setattr,
    Getxattr, Setxattr, Statfs, Sync, SamedirRename, CrossdirRename, ParallelRenameFile, ParallelRenameDir,
    RenameTrylocks, Punch, Migrate, Fallocate, Destroy, Create, GetInfo, SetInfo, Quotactl, Prealloc,
}

impl Op {
    /// Returns the counter's name since Lustre 2.6.
    pub fn name(self) -> &'static str {
        self.into()
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

/// A kind of request of a client: the counters that one request moves, if the server has them.
pub type Request = &'static [Op];

/// Reads of a given number of bytes each.
pub const READ: Request = &[Op::ReadBytes, Op::Read];
/// Writes of a given number of bytes each.
pub const WRITE: Request = &[Op::WriteBytes, Op::Write];
/// Opens that create the file.
pub const OPEN_CREATE: Request = &[Op::Open, Op::Mknod];
/// Renames within one directory, and from one directory to another.
pub const RENAME_SAME: Request = &[Op::Rename, Op::SamedirRename];
pub const RENAME_CROSS: Request = &[Op::Rename, Op::CrossdirRename];
/// Renames of files and of directories that the server does in parallel.
#[rustfmt::skip]
pub const RENAME_FILE_PARALLEL: Request = &[Op::Rename, Op::SamedirRename, Op::ParallelRenameFile, Op::RenameTrylocks];
pub const RENAME_DIR_PARALLEL: Request = &[Op::Rename, Op::CrossdirRename, Op::ParallelRenameDir];

/// Returns the request that moves only one counter.
pub const fn plain(op: Op) -> Request {
    std::slice::from_ref(&Op::VARIANTS[op as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_the_counters() {
        assert_eq!(Op::ReadBytes.name(), "read_bytes");
        assert_eq!(Op::RenameTrylocks.name(), "rename_trylocks");
        assert_eq!(Op::Prealloc as usize, Op::COUNT - 1);
        assert_eq!(Op::Prealloc.name(), "prealloc");
        for (position, op) in Op::VARIANTS.iter().enumerate() {
            assert_eq!(*op as usize, position);
            assert_eq!(op.name().parse(), Ok(*op));
        }
    }
}
