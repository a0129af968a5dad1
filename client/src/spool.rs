//! Readings that wait on disk until the database has stored them.
//!
//! # A file
//!
//! A reading is one file, `SEQUENCE.SOURCE.zst`. It begins with a skippable frame of zstd, which decompressors ignore,
//! so `zstdcat FILE` prints the text:
//!
//! | bytes | content |
//! |---|---|
//! | 4 | `50 2a 4d 18`, the magic number of a skippable frame |
//! | 4 | the size of the rest of this frame, little-endian |
//! | 16 | `jobstats spool 1`, with the version of the format |
//! | 8 | the XXH3 checksum of the index, little-endian |
//! | … | the [`Index`] as JSON: names, times, durations, and where each text is in the data |
//! | … | the data: the zstd frames of the texts, whose size and XXH3 checksum are in the index |
//!
//! Every byte is covered by a constant, a size or a checksum. A file that was cut, extended or changed is therefore
//! recognized as [`damaged`](SpoolError::Damaged) before any of its text is used.
//!
//! # The directory
//!
//! A [`Directory`] holds the files to send, and below `rejected/` the rejected ones. A file is written under a temporary name, synced and
//! renamed, and then the directory is synced: a crash never leaves part of a scrape. A counter orders the files of each source, because a
//! clock may step back. Readers need a lock against each other, and so do senders, but a reader and a sender do not. [`Losses`] in the
//! file `losses` count dropped and rejected scrapes.

mod directory;
mod file;
mod losses;

pub use directory::{Directory, DroppedCounts, Entry, Limits, REJECTED, is_source};
pub use file::{Covers, Data, Index, SpoolError, SpoolFile, Text, write};
pub use losses::Losses;
