//! The text of a feed, unpacked where it came packed, and the part of it that belongs to one target.

use std::borrow::Cow;

use jobstats_core::snapshot::Snapshot;

use crate::error::Error;
use crate::memory::reserve;
use crate::zstd_text::{UNPACKED_LIMIT, pack, unpack};

/// The text, and how it came.
pub struct Text<'a> {
    bytes: Cow<'a, [u8]>,
    packed: Option<&'a [u8]>,
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
                bytes: Cow::Owned(unpack(packed, UNPACKED_LIMIT)?),
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

    /// The lines of one target.
    pub fn of(&self, snapshot: &Snapshot<'_>) -> Result<Cow<'_, [u8]>, Error> {
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
    pub fn packed(&self, lines: &[u8]) -> Result<Cow<'_, [u8]>, Error> {
        match self.packed {
            Some(packed) if lines.len() == self.bytes.len() => Ok(Cow::Borrowed(packed)),
            _ => Ok(Cow::Owned(pack(lines)?)),
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
