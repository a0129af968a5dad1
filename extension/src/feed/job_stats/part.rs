//! The part of a text that belongs to one target.

use std::borrow::Cow;

use jobstats_core::base::target::TargetName;
use jobstats_core::rules::feed::{Rejects, beginning};
use jobstats_core::rules::snapshot::{ReadError, Snapshot, Words};
use xxhash_rust::xxh3::xxh3_128;

use crate::feed::text::Text;
use crate::feed::timing::{Phase, timed};
use crate::pg::bytea::Bytea;
use crate::pg::error::Error;
use crate::pg::memory::reserve;
use crate::text::zstd::{pack, require_ratio};

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

impl<'a, 'w> Part<'a, 'w> {
    /// Takes the part of one target out of a text.
    pub fn new(
        text: &Text<'a>,
        snapshot: Snapshot<'_>,
        words: &'w mut Words,
    ) -> Result<Self, Error> {
        let lines = lines(text.bytes(), &snapshot)?;
        let mut rejects = Rejects::default();
        if let Some(target) = snapshot.target {
            rejects.add_problems(&snapshot.problems, Some(&target.shown()));
        }
        let (packed, digest) = packed(text, &lines)?;
        Ok(Self {
            packed,
            bytes: lines.len(),
            digest: digest.to_be_bytes(),
            beginning: beginning(&lines).to_vec(),
            rejects,
            snapshot: snapshot.detach(words).map_err(ReadError::from)?,
        })
    }

    /// Returns the name of the target, as it is stored; `None` for a text of `lctl get_param -n`.
    pub fn target(&self) -> Option<String> {
        self.snapshot.target.map(TargetName::shown)
    }
}

fn lines<'t>(text: &'t [u8], snapshot: &Snapshot<'_>) -> Result<Cow<'t, [u8]>, Error> {
    if let [range] = snapshot.text.as_slice() {
        return Ok(Cow::Borrowed(&text[range.clone()]));
    }
    let mut lines = Vec::new();
    reserve(&mut lines, snapshot.bytes())?;
    snapshot
        .lines(text)
        .for_each(|part| lines.extend_from_slice(part));
    Ok(Cow::Owned(lines))
}

/// Returns the lines of one target, packed, and their digest. A text of one target that came packed is returned as it
/// came.
fn packed<'a>(text: &Text<'a>, lines: &[u8]) -> Result<(Bytea<'a>, u128), Error> {
    if let Some(came) = text.came_packed
        && lines.len() == text.bytes().len()
    {
        return Ok(came);
    }
    let packed = timed(Phase::Pack, || pack(lines))?;
    require_ratio(lines.len(), packed.len())?;
    Ok((
        Bytea::copied(&packed).ok_or(Error::Memory(packed.len()))?,
        timed(Phase::Digest, || xxh3_128(lines)),
    ))
}
