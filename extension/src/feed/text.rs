//! The text of a feed, unpacked if it came packed, and the part of it that belongs to one target.

use std::borrow::Cow;

use jobstats_core::snapshot::{ReadError, Snapshot, Words};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::feed::rejects::{Rejects, beginning};
use crate::feed::targets::shown;
use crate::feed::timing::{Step, timed};
use crate::pg::bytea::Bytea;
use crate::pg::error::Error;
use crate::pg::memory::reserve;
use crate::text::zstd::{pack, recycle, require_ratio, unpack_with};

/// The text of a feed, with the packed value if it came packed.
pub struct Text<'a> {
    bytes: Cow<'a, [u8]>,
    came: Option<Packed<'a>>,
}

/// The packed value in which a text came.
struct Packed<'a> {
    value: Bytea<'a>,
    /// XXH3-128 of the whole text.
    digest: u128,
}

/// The snapshot of one target, without its text. The text and the one before it take most of the memory of a feed, so
/// the two are never in memory at once.
pub struct Part<'a, 'w> {
    pub snapshot: Snapshot<'w>,
    /// The lines of the target, packed.
    pub packed: Bytea<'a>,
    /// Size of the lines in bytes.
    pub bytes: usize,
    /// XXH3-128 of the lines.
    pub digest: [u8; 16],
    /// The first bytes of the lines, as many as a row of `jobstats.rejects` shows.
    pub beginning: Vec<u8>,
    /// The lines that could not be used.
    pub rejects: Rejects,
}

impl<'a> Text<'a> {
    /// Creates a text from `body` or `body_zstd`; exactly one of them must be given.
    pub fn new(body: Option<&'a str>, packed: Option<Bytea<'a>>) -> Result<Self, Error> {
        match (body, packed) {
            (Some(body), None) => Ok(Self {
                bytes: Cow::Borrowed(body.as_bytes()),
                came: None,
            }),
            (None, Some(packed)) => Self::unpacked(packed),
            (None, None) => Err(Error::Body("neither body nor body_zstd is given")),
            (Some(_), Some(_)) => Err(Error::Body("body and body_zstd are both given")),
        }
    }

    /// Unpacks a text and computes its digest piece by piece, because reading the text once more takes three times as
    /// long.
    fn unpacked(packed: Bytea<'a>) -> Result<Self, Error> {
        let mut digest = Xxh3::new();
        let text = timed(Step::Unpack, || {
            unpack_with(&packed, |piece| digest.update(piece))
        })?;
        Ok(Self {
            bytes: Cow::Owned(text),
            came: Some(Packed {
                value: packed,
                digest: digest.digest128(),
            }),
        })
    }

    /// Returns the text as lctl printed it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the part of one target.
    pub fn part<'w>(
        &self,
        snapshot: Snapshot<'_>,
        words: &'w mut Words,
    ) -> Result<Part<'a, 'w>, Error> {
        let lines = self.lines(&snapshot)?;
        let mut rejects = Rejects::default();
        if let Some(target) = snapshot.target {
            rejects.add_problems(&snapshot.problems, Some(&shown(target)));
        }
        let (packed, digest) = self.packed(&lines)?;
        Ok(Part {
            packed,
            bytes: lines.len(),
            digest: digest.to_be_bytes(),
            beginning: beginning(&lines).to_vec(),
            rejects,
            snapshot: snapshot.detach(words).map_err(ReadError::from)?,
        })
    }

    /// Frees the memory of the text for the text before it.
    pub fn leave(self) {
        if let Cow::Owned(bytes) = self.bytes {
            recycle(bytes);
        }
    }

    fn lines(&self, snapshot: &Snapshot<'_>) -> Result<Cow<'_, [u8]>, Error> {
        if let [range] = snapshot.text.as_slice() {
            return Ok(Cow::Borrowed(&self.bytes[range.clone()]));
        }
        let mut lines = Vec::new();
        reserve(&mut lines, size(snapshot))?;
        for range in &snapshot.text {
            lines.extend_from_slice(&self.bytes[range.clone()]);
        }
        Ok(Cow::Owned(lines))
    }

    /// Returns the lines of one target, packed, and their digest. A text of one target that came packed is returned as
    /// it came.
    fn packed(&self, lines: &[u8]) -> Result<(Bytea<'a>, u128), Error> {
        match &self.came {
            Some(came) if lines.len() == self.bytes.len() => Ok((came.value, came.digest)),
            _ => {
                let packed = timed(Step::Pack, || pack(lines))?;
                require_ratio(lines.len(), packed.len())?;
                Ok((
                    Bytea::copied(&packed).ok_or(Error::Memory(packed.len()))?,
                    timed(Step::Digest, || xxh3_128(lines)),
                ))
            }
        }
    }
}

/// Checks the size of the lines of one target.
///
/// # Errors
/// [`Error::TextTooLarge`] if they have more bytes than `limit`.
pub fn require_size(snapshot: &Snapshot<'_>, limit: u64) -> Result<(), Error> {
    if size(snapshot) as u64 > limit {
        Err(Error::TextTooLarge { limit })
    } else {
        Ok(())
    }
}

fn size(snapshot: &Snapshot<'_>) -> usize {
    snapshot.text.iter().map(ExactSizeIterator::len).sum()
}
