//! The snapshot of one target, with its packed lines.

use std::borrow::Cow;

use jobstats_core::rules::feed::{Rejects, beginning};
use jobstats_core::rules::snapshot::Snapshot;
use xxhash_rust::xxh3::xxh3_128;

use crate::feed::job_stats::cache::Key;
use crate::feed::server_parameters::OwnedTargetName;
use crate::feed::text::Text;
use crate::feed::timing::{Phase, timed};
use crate::pg::bytea::Bytea;
use crate::pg::error::Error;
use crate::pg::memory::reserve;
use crate::text::zstd::{pack, require_ratio};

/// The snapshot of one target with its packed lines. Unpacked, the text and its predecessor take most of the memory of a feed,
/// so they are never in memory at once.
pub struct PackedSnapshot<'a> {
    /// The target; `None` for a text of `lctl get_param -n`.
    pub target: Option<OwnedTargetName>,
    pub snapshot: Snapshot<'a>,
    /// The lines of the target, packed.
    pub packed: Bytea<'a>,
    /// Size of the lines in bytes.
    pub bytes: usize,
    /// XXH3-128 of the lines.
    pub digest: [u8; 16],
    /// The beginning of the lines for `jobstats.rejects`.
    pub beginning: Vec<u8>,
    /// The unusable lines.
    pub rejects: Rejects,
}

impl<'a> PackedSnapshot<'a> {
    /// Packs the lines of a snapshot.
    pub fn new(text: &Text<'a>, snapshot: Snapshot<'_>) -> Result<Self, Error> {
        let lines = lines(text.bytes(), &snapshot)?;
        let mut rejects = Rejects::default();
        if let Some(target) = snapshot.target {
            rejects.add_problems(&snapshot.problems, Some(&target.shown()));
        }
        let (packed, digest) = packed(text, &lines)?;
        Ok(Self {
            target: snapshot.target.map(OwnedTargetName::of),
            packed,
            bytes: lines.len(),
            digest: digest.to_be_bytes(),
            beginning: beginning(&lines).to_vec(),
            rejects,
            snapshot: snapshot.keep()?,
        })
    }

    /// Names the snapshot's target, with which carried records are printed.
    pub fn named<'t>(self, target: Option<&'t OwnedTargetName>) -> PackedSnapshot<'t>
    where
        'a: 't,
    {
        let mut named = self;
        named.snapshot.target = target.map(OwnedTargetName::target);
        named
    }

    /// Returns the stored name of the target.
    pub fn target(&self) -> Option<String> {
        self.target.as_ref().map(OwnedTargetName::shown)
    }

    /// Returns the key of the text in the cache of this session.
    pub fn key(&self) -> Key {
        Key {
            digest: self.digest,
            packed: self.packed.len(),
        }
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

/// Packs the lines of one target, and computes their digest. A packed text of a single target is used as it is.
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
