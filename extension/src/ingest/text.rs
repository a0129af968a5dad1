//! The text of a feed, unpacked where it came packed, and the part of it that belongs to one target.

use std::borrow::Cow;

use jobstats_core::snapshot::{ReadError, Snapshot, Words};
use xxhash_rust::xxh3::xxh3_128;

use super::rejects::{Rejects, beginning};
use super::steps::{Step, timed};
use super::targets::shown;
use crate::error::Error;
use crate::memory::reserve;
use crate::zstd_text::{UNPACKED_LIMIT, pack, recycle, unpack};

/// The text, and how it came.
pub struct Text<'a> {
    bytes: Cow<'a, [u8]>,
    packed: Option<&'a [u8]>,
}

/// What a text says of one target, without the text: that and the one before it are most of the memory of a feed, and so
/// they are never there at once.
pub struct Part<'a, 'w> {
    pub snapshot: Snapshot<'w>,
    /// Its lines, packed.
    pub packed: Cow<'a, [u8]>,
    /// Size of its lines.
    pub bytes: usize,
    /// XXH3-128 of its lines.
    pub digest: [u8; 16],
    /// As much of its lines as a row of `jobstats.rejects` shows.
    pub beginning: Vec<u8>,
    /// What of it could not be used.
    pub rejects: Rejects,
}

impl<'a> Text<'a> {
    /// From `body` or `body_zstd`: exactly one of them.
    pub fn new(body: Option<&'a str>, packed: Option<&'a [u8]>) -> Result<Self, Error> {
        match (body, packed) {
            (Some(body), None) => Ok(Self {
                bytes: Cow::Borrowed(body.as_bytes()),
                packed: None,
            }),
            (None, Some(packed)) => Ok(Self {
                bytes: Cow::Owned(timed(Step::Unpack, || unpack(packed, UNPACKED_LIMIT))?),
                packed: Some(packed),
            }),
            (None, None) => Err(Error::Body("neither body nor body_zstd is given")),
            (Some(_), Some(_)) => Err(Error::Body("body and body_zstd are both given")),
        }
    }

    /// As lctl printed it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The part of one target.
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
        Ok(Part {
            packed: self.packed(&lines)?,
            bytes: lines.len(),
            digest: timed(Step::Digest, || xxh3_128(&lines).to_be_bytes()),
            beginning: beginning(&lines).to_vec(),
            rejects,
            snapshot: snapshot.detach(words).map_err(ReadError::from)?,
        })
    }

    /// Makes way for the text before it.
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

    /// The lines of one target, packed: as they came where they came alone.
    fn packed(&self, lines: &[u8]) -> Result<Cow<'a, [u8]>, Error> {
        match self.packed {
            Some(packed) if lines.len() == self.bytes.len() => Ok(Cow::Borrowed(packed)),
            _ => Ok(Cow::Owned(timed(Step::Pack, || pack(lines))?)),
        }
    }
}

/// Fails where one target's lines are more than the settings allow.
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
