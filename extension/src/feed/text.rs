//! The text of a feed, unpacked if necessary.

use std::borrow::Cow;

use xxhash_rust::xxh3::Xxh3;

use crate::feed::timing::{Phase, timed};
use crate::pg::bytea::Bytea;
use crate::pg::error::Error;
use crate::text::zstd::{recycle, unpack_with};

/// The text of a feed, with the packed value if it came packed.
pub struct Text<'a> {
    bytes: Cow<'a, [u8]>,
    /// The packed value in which the whole text came, and XXH3-128 of the text; `None` if it came unpacked.
    pub came_packed: Option<(Bytea<'a>, u128)>,
}

impl<'a> Text<'a> {
    /// Creates a text from `body` or `body_zstd`; exactly one of them must be given.
    pub fn new(body: Option<&'a str>, packed: Option<Bytea<'a>>) -> Result<Self, Error> {
        let problem = match (body, packed) {
            (Some(body), None) => return Ok(Self::plain(body.as_bytes().into())),
            (None, Some(packed)) => return Self::unpacked(packed),
            (None, None) => "neither body nor body_zstd is given",
            (Some(_), Some(_)) => "body and body_zstd are both given",
        };
        let hint = "Give the text as body or, compressed with zstd, as body_zstd.";
        Err(Error::argument(problem, hint))
    }

    /// Unpacks a text and computes its digest piece by piece: reading it again takes three times as long.
    fn unpacked(packed: Bytea<'a>) -> Result<Self, Error> {
        let mut digest = Xxh3::new();
        let text = timed(Phase::Unpack, || {
            unpack_with(&packed, |piece| digest.update(piece))
        })?;
        Ok(Self {
            bytes: Cow::Owned(text),
            came_packed: Some((packed, digest.digest128())),
        })
    }

    /// Creates a text that did not come packed.
    pub const fn plain(bytes: Cow<'a, [u8]>) -> Self {
        Self {
            bytes,
            came_packed: None,
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Leaves the memory of the text to the next one.
    pub fn leave(self) {
        if let Cow::Owned(bytes) = self.bytes {
            recycle(bytes);
        }
    }
}

/// Checks the size of a text, or of the lines of a target.
///
/// # Errors
/// [`Error::TextTooLarge`] if it has more bytes than `limit`.
pub fn require_size(bytes: usize, limit: u64) -> Result<(), Error> {
    match bytes as u64 > limit {
        true => Err(Error::TextTooLarge { limit }),
        false => Ok(()),
    }
}
