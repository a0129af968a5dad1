//! The format of a file, written and read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::serde::timestamp::microsecond;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

#[cfg(test)]
mod tests;

/// The magic number of a skippable frame.
const MAGIC: [u8; 4] = 0x184d_2a50_u32.to_le_bytes();

/// The name and version of the format.
const FORMAT: &[u8; 16] = b"jobstats spool 1";

/// The bytes of the skippable frame before its size counts.
const FRAME_HEADER: u64 = 8;

/// The bytes of the skippable frame before the index.
const HEADER: u64 = FRAME_HEADER + 24;

/// The largest size of an index. A text needs about 200 bytes of it, and a server has at most some hundred targets.
const MOST_INDEX: u64 = 16 << 20;

/// The size of a piece that is read at once.
const PIECE: usize = 64 << 10;

/// An error of a file.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// The file was cut or changed, or is of another format.
    #[error("the file is damaged: {0}")]
    Damaged(&'static str),
    /// The index is larger than the format allows.
    #[error("the scrape has too many texts")]
    TooLarge,
    /// The source cannot be part of a file name.
    #[error("a source name may have only letters, digits, - and _: {0:?}")]
    Source(String),
    /// The file system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl SpoolError {
    /// Returns true if the content of the file can never be used.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Damaged(_) => true,
            // EIO: the disk cannot read the file.
            Self::Io(error) => error.raw_os_error() == Some(5),
            Self::TooLarge | Self::Source(_) => false,
        }
    }
}

/// The head of a file: which reading it is, and where its texts are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// The number of the scrape, increasing within the directory.
    pub sequence: u64,
    /// The source of the texts, such as `lctl`.
    pub source: String,
    /// The span of time that the snapshots cover, if the source reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covers: Option<Covers>,
    /// The name of the server's cluster.
    pub cluster: String,
    /// The name of the server.
    pub server: String,
    /// The texts.
    pub texts: Vec<Text>,
    /// The data after the index.
    pub data: Data,
}

/// A span of time, from `since` to before `until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covers {
    /// The beginning of the span.
    #[serde(rename = "since_us", with = "microsecond::required")]
    pub since: Timestamp,
    /// The end of the span.
    #[serde(rename = "until_us", with = "microsecond::required")]
    pub until: Timestamp,
}

/// The text of one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// The name of the target, such as `mdt.fs-MDT0000`, or of a source without targets; `None` for text before the first
    /// name.
    pub name: Option<String>,
    /// The time at which the first byte of the text arrived, in microseconds.
    #[serde(rename = "time_us", with = "microsecond::required")]
    pub time: Timestamp,
    /// The time that reading the text took, in microseconds. `None` means that it was not measured.
    #[serde(rename = "duration_us", with = "duration")]
    pub duration: Option<Duration>,
    /// The size of the text in bytes.
    pub bytes: u64,
    /// The zstd frames of the text, as ranges of bytes of the data.
    pub frames: Vec<Range<u64>>,
}

/// The size of the data in bytes, and its XXH3 checksum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    /// The size in bytes.
    pub bytes: u64,
    /// The XXH3 checksum.
    pub checksum: u64,
}

impl Text {
    /// Returns the name of the target for messages.
    pub fn shown_name(&self) -> &str {
        self.name.as_deref().unwrap_or("text without a target")
    }

    /// Returns the size of the compressed text in bytes.
    pub fn packed_bytes(&self) -> u64 {
        self.frames
            .iter()
            .map(|frame| frame.end - frame.start)
            .sum()
    }
}

/// Writes a file. `data` gives the bytes that the index describes.
pub fn write(index: &Index, data: &mut impl Read, file: &mut impl Write) -> Result<(), SpoolError> {
    let json = serde_json::to_vec(index).map_err(io::Error::from)?;
    if json.len() as u64 > MOST_INDEX {
        return Err(SpoolError::TooLarge);
    }
    let size = (HEADER - FRAME_HEADER) as u32 + json.len() as u32;
    let mut head = MAGIC.to_vec();
    head.extend(size.to_le_bytes());
    head.extend(FORMAT);
    head.extend(xxh3_64(&json).to_le_bytes());
    head.extend(json);
    file.write_all(&head)?;
    if io::copy(data, file)? != index.data.bytes {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(())
}

/// A file whose checksums are right.
#[derive(Debug)]
pub struct SpoolFile {
    /// The head of the file.
    pub index: Index,
    /// The file.
    pub file: File,
    /// The position of the data in the file.
    pub start: u64,
}

impl SpoolFile {
    /// Opens a file and reads it to its end, to check it.
    ///
    /// # Errors
    ///
    /// [`SpoolError::Damaged`] if the content was changed, and [`SpoolError::Io`] if it cannot be read.
    pub fn open(path: &Path) -> Result<Self, SpoolError> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        let (index, start) = check(&mut file, size)?;
        Ok(Self { index, file, start })
    }

    /// Reads the head of a file without its texts. The texts may be damaged.
    ///
    /// # Errors
    ///
    /// [`SpoolError::Damaged`] if the head was changed, and [`SpoolError::Io`] if it cannot be read.
    pub fn index(path: &Path) -> Result<Index, SpoolError> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        read_index(&mut file, size)
    }

    /// Returns the compressed bytes of a text.
    pub fn packed(&self, text: &Text) -> io::Result<Vec<u8>> {
        let mut packed = Vec::new();
        for frame in &text.frames {
            let mut piece = vec![0; (frame.end - frame.start) as usize];
            self.file
                .read_exact_at(&mut piece, self.start + frame.start)?;
            packed.extend(piece);
        }
        Ok(packed)
    }
}

/// Reads a file of this size to its end. Returns its head and where its data begins.
fn check(file: &mut (impl Read + Seek), size: u64) -> Result<(Index, u64), SpoolError> {
    let index = read_index(file, size)?;
    let start = file.stream_position()?;
    if size - start != index.data.bytes {
        return Err(SpoolError::Damaged("its size does not match its index"));
    }
    if checksum(file)? != index.data.checksum {
        return Err(SpoolError::Damaged("the checksum of its data is wrong"));
    }
    Ok((index, start))
}

/// Reads the skippable frame, and leaves the position of the file behind it.
fn read_index(file: &mut (impl Read + Seek), size: u64) -> Result<Index, SpoolError> {
    let mut head = [0; HEADER as usize];
    if size < HEADER {
        return Err(SpoolError::Damaged("it is too short"));
    }
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut head)?;
    let (magic, rest) = head.split_at(4);
    let (frame, rest) = rest.split_at(4);
    let (format, expected) = rest.split_at(FORMAT.len());
    if magic != MAGIC || format != FORMAT {
        return Err(SpoolError::Damaged("it has another format"));
    }
    let frame = u64::from(u32::from_le_bytes(frame.try_into().unwrap_or_default()));
    let length = (FRAME_HEADER + frame).checked_sub(HEADER);
    let length = length
        .filter(|length| *length <= MOST_INDEX && HEADER + length <= size)
        .ok_or(SpoolError::Damaged("the size of its index is wrong"))?;
    let mut json = vec![0; length as usize];
    file.read_exact(&mut json)?;
    if xxh3_64(&json).to_le_bytes() != expected {
        return Err(SpoolError::Damaged("the checksum of its index is wrong"));
    }
    let index: Index = serde_json::from_slice(&json)
        .map_err(|_| SpoolError::Damaged("its index cannot be read"))?;
    check_frames(&index)?;
    Ok(index)
}

/// Fails unless all frames are in the data, and no two have a byte in common: otherwise the texts of a small file could be larger than
/// any memory. Frames of different texts may alternate.
fn check_frames(index: &Index) -> Result<(), SpoolError> {
    let frames = index.texts.iter().flat_map(|text| &text.frames);
    let mut frames: Vec<_> = frames.collect();
    let is_inside = |frame: &&Range<u64>| frame.start <= frame.end && frame.end <= index.data.bytes;
    if !frames.iter().all(is_inside) {
        return Err(SpoolError::Damaged("its index points beyond its end"));
    }
    frames.sort_unstable_by_key(|frame| frame.start);
    match frames.windows(2).any(|pair| pair[1].start < pair[0].end) {
        true => Err(SpoolError::Damaged("entries of its index overlap")),
        false => Ok(()),
    }
}

fn checksum(file: &mut impl Read) -> io::Result<u64> {
    let mut checksum = Xxh3::new();
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(checksum.digest()),
            read => checksum.update(&piece[..read]),
        }
    }
}

/// A duration in microseconds, or null.
mod duration {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        time.map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
            .serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.map(Duration::from_micros))
    }
}
