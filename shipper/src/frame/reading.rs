//! One reading of a source: the output of each target, or another text, compressed.

use std::io::{self, Cursor, Read, Write};
use std::iter::once;
use std::ops::Range;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::spool::{Data, Directory, Index, SpoolError, SpoolFile, Text};
use zstd::stream::write::Encoder;

use crate::frame::buffer::{Buffer, Writer};
use crate::frame::split::{Parameter, Splitter, Token, next_parameter};

#[cfg(test)]
mod tests;

/// The zstd level. The texts are so repetitive that the fastest level makes them small.
const LEVEL: i32 = 1;

/// The size from which on text without a target goes on as another text, where a parameter begins. The database takes much larger ones.
const MOST_TOGETHER: u64 = 16 << 20;

/// The size of a piece that is written to a spool at once.
const PIECE: usize = 64 << 10;

/// The source of `job_stats`. The feed takes it if no source is sent.
pub const LCTL: &str = "lctl";

/// The sender's names, which are identical in every row.
#[derive(Debug, Clone, Default)]
pub struct ServerName {
    /// The name of the cluster, or an empty string.
    pub cluster: String,
    pub server: String,
}

/// The texts of one reading, in order of arrival: one of each target; for sources other than `lctl` one text.
#[derive(Debug)]
pub struct Reading {
    /// The names and texts. The reading gets its number in the spool.
    pub index: Index,
    /// True if the text ended as a whole text does.
    pub whole: bool,
    /// The messages of lctl about other parameters than `job_stats` that it could not read.
    pub unread: Vec<String>,
    buffer: Buffer,
}

impl Reading {
    /// Takes a reading out of a spool.
    pub fn from_spool(SpoolFile { index, file, start }: SpoolFile) -> Self {
        Self {
            index,
            whole: true,
            unread: Vec::new(),
            buffer: Buffer::File { file, start },
        }
    }

    /// Returns the texts that have a target, or are of a source without targets.
    pub fn of_targets(&self) -> impl Iterator<Item = &Text> {
        self.index.texts.iter().filter(|text| text.name.is_some())
    }

    /// Returns the number of targets, or of texts of a source without targets.
    pub fn targets(&self) -> u64 {
        self.of_targets().count() as u64
    }

    /// Returns the size of all compressed texts in bytes.
    pub fn packed_bytes(&self) -> u64 {
        self.index.data.bytes
    }

    /// Moves the times of all texts.
    pub fn shift(&mut self, by: SignedDuration) {
        for text in &mut self.index.texts {
            text.time = text.time.saturating_add(by).unwrap_or(text.time);
        }
    }

    /// Sets the time of the reading, and drops the durations, which are not known for text from elsewhere.
    pub fn made_at(&mut self, time: Timestamp) {
        for text in &mut self.index.texts {
            text.time = time;
            text.duration = None;
        }
    }

    /// Returns a compressed text in pieces of at most `size` bytes.
    pub fn pieces<'a>(
        &'a self,
        text: &'a Text,
        size: usize,
    ) -> impl Iterator<Item = io::Result<Vec<u8>>> + 'a {
        self.data(text.frames.iter().cloned(), size)
    }

    /// Returns ranges of the compressed texts in pieces of at most `size` bytes.
    fn data(
        &self,
        ranges: impl Iterator<Item = Range<u64>>,
        size: usize,
    ) -> impl Iterator<Item = io::Result<Vec<u8>>> {
        let ranges = ranges.flat_map(move |range| {
            let starts = range.clone().step_by(size);
            starts.map(move |start| start..range.end.min(start + size as u64))
        });
        ranges.map(|range| {
            let mut piece = vec![0; (range.end - range.start) as usize];
            self.buffer.read_exact_at(&mut piece, range.start)?;
            Ok(piece)
        })
    }

    /// Puts the reading into a spool, and returns its number there.
    pub fn put(&self, spool: &Directory) -> Result<u64, SpoolError> {
        let all = self.data(once(0..self.index.data.bytes), PIECE);
        spool.put(self.index.clone(), &mut Pieces::new(all))
    }
}

/// Reads pieces of text as one.
pub struct Pieces<I> {
    pieces: I,
    piece: Cursor<Vec<u8>>,
}

impl<I> Pieces<I> {
    pub fn new(pieces: I) -> Self {
        let piece = Cursor::default();
        Self { pieces, piece }
    }
}

impl<I: Iterator<Item = io::Result<Vec<u8>>>> Read for Pieces<I> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.piece.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            match self.pieces.next() {
                Some(piece) => self.piece = Cursor::new(piece?),
                None => return Ok(0),
            }
        }
    }
}

/// Builds a reading from text that arrives piece by piece.
pub struct Recorder {
    index: Index,
    /// Finds the targets in the output of lctl.
    splitter: Option<Splitter>,
    texts: Texts,
    last_push: Duration,
}

impl Recorder {
    /// Starts the clock for text of a source. Only the output of lctl is split. The reading takes at most this number of bytes when
    /// compressed.
    pub fn of(server: &ServerName, source: &str, most: u64) -> Self {
        let texts = Texts {
            started: Timestamp::now(),
            output: Output::Closed(Writer::new(most)),
            targets: Vec::new(),
            last_text: Duration::ZERO,
        };
        let ServerName { cluster, server } = server.clone();
        Self {
            index: Index {
                sequence: 0,
                source: source.to_owned(),
                covers: None,
                cluster,
                server,
                texts: Vec::new(),
                data: Data::default(),
            },
            splitter: (source == LCTL).then(Splitter::default),
            texts,
            last_push: Duration::ZERO,
        }
    }

    /// Takes a piece of text that arrived `at` this time after the start.
    pub fn push(&mut self, text: &[u8], at: Duration) -> io::Result<()> {
        let earlier = std::mem::replace(&mut self.last_push, at);
        match &mut self.splitter {
            Some(splitter) => splitter.push(text, |token| self.texts.take(token, earlier, at)),
            None => self.texts.add(&self.index.source, text, at),
        }
    }

    /// Returns the reading after the last piece.
    pub fn finish(mut self) -> io::Result<Reading> {
        let at = self.last_push;
        let whole = match self.splitter {
            Some(splitter) => splitter.finish(|token| self.texts.take(token, at, at))?,
            None => true,
        };
        let (buffer, data) = self.texts.close()?.finish();
        let targets = self.texts.targets.into_iter();
        let texts = targets.filter(|target| !target.blank);
        self.index.texts = texts.map(|target| target.text).collect();
        // A failure to store other parameters must not prevent storing the targets.
        self.index.texts.sort_by_key(|text| text.name.is_none());
        self.index.data = data;
        Ok(Reading {
            index: self.index,
            whole,
            unread: Vec::new(),
            buffer,
        })
    }

    /// Returns true if there is text, but no target.
    pub fn is_before_targets(&self) -> bool {
        let mut targets = self.texts.targets.iter();
        !self.texts.targets.is_empty() && targets.all(|target| target.text.name.is_none())
    }
}

/// The targets so far, and the writer of their texts.
struct Texts {
    started: Timestamp,
    output: Output,
    targets: Vec<TargetText>,
    /// The time after the start at which the last byte taken so far arrived.
    last_text: Duration,
}

struct TargetText {
    text: Text,
    /// True if the text is only white space.
    blank: bool,
    has_job_stats: bool,
}

/// The writer of the compressed text, between frames and inside a frame.
enum Output {
    Closed(Writer),
    Open(Frame),
    Broken,
}

/// The zstd frame that is being written.
struct Frame {
    target: usize,
    start: u64,
    encoder: Encoder<'static, Writer>,
}

impl Texts {
    fn take(&mut self, token: Token<'_>, before: Duration, at: Duration) -> io::Result<()> {
        match token {
            Token::Begin { name, earlier } => {
                let at = if earlier { before } else { at };
                let time = self.time(at);
                let index = self.target(Some(name.target), at);
                let target = &mut self.targets[index];
                if name.parameter == Parameter::JobStats && !target.has_job_stats {
                    target.has_job_stats = true;
                    target.text.time = time;
                }
                self.open(index)
            }
            Token::Text(text) => {
                let is_long = |it: &Text| it.name.is_none() && it.bytes >= MOST_TOGETHER;
                let begin = match &self.output {
                    Output::Closed(_) => Some(0),
                    Output::Open(frame) if is_long(&self.targets[frame.target].text) => {
                        next_parameter(text)
                    }
                    _ => None,
                };
                let Some(begin) = begin else {
                    return self.write(text, at);
                };
                self.write(&text[..begin], at)?;
                let target = self.add_target(None, at);
                self.open(target)?;
                self.write(&text[begin..], at)
            }
        }
    }

    /// Takes text of a source that has no targets. It has the name of the source.
    fn add(&mut self, source: &str, text: &[u8], at: Duration) -> io::Result<()> {
        if matches!(self.output, Output::Closed(_)) {
            let target = self.target(Some(source), at);
            self.open(target)?;
        }
        self.write(text, at)
    }

    /// Returns the index of the target with this name; adds the target if it is new.
    fn target(&mut self, name: Option<&str>, at: Duration) -> usize {
        let mut targets = self.targets.iter();
        if let Some(index) = targets.position(|target| target.text.name.as_deref() == name) {
            return index;
        }
        self.add_target(name, at)
    }

    fn add_target(&mut self, name: Option<&str>, at: Duration) -> usize {
        let text = Text {
            name: name.map(str::to_owned),
            time: self.time(at),
            duration: Some(Duration::ZERO),
            bytes: 0,
            frames: Vec::new(),
        };
        self.targets.push(TargetText {
            text,
            blank: true,
            has_job_stats: false,
        });
        self.targets.len() - 1
    }

    /// Ends the frame that is open, and begins one for the target.
    fn open(&mut self, target: usize) -> io::Result<()> {
        let writer = self.close()?;
        let start = writer.length;
        let mut encoder = Encoder::new(writer, LEVEL)?;
        encoder.include_checksum(true)?;
        self.output = Output::Open(Frame {
            target,
            start,
            encoder,
        });
        Ok(())
    }

    fn write(&mut self, text: &[u8], at: Duration) -> io::Result<()> {
        let Output::Open(frame) = &mut self.output else {
            return Ok(());
        };
        frame.encoder.write_all(text)?;
        let target = &mut self.targets[frame.target];
        target.text.bytes += text.len() as u64;
        target.blank &= text.trim_ascii().is_empty();
        if let Some(duration) = &mut target.text.duration {
            *duration += at.saturating_sub(self.last_text);
        }
        self.last_text = at;
        Ok(())
    }

    /// Ends the frame that is open, and returns the writer.
    fn close(&mut self) -> io::Result<Writer> {
        match std::mem::replace(&mut self.output, Output::Broken) {
            Output::Closed(writer) => Ok(writer),
            Output::Open(frame) => {
                let writer = frame.encoder.finish()?;
                let range = frame.start..writer.length;
                self.targets[frame.target].text.frames.push(range);
                Ok(writer)
            }
            Output::Broken => Err(io::Error::other("an earlier piece was not written")),
        }
    }

    /// Returns the wall-clock time of the start plus the steady clock's time since, so that times within a reading
    /// never run backwards.
    fn time(&self, at: Duration) -> Timestamp {
        self.started.saturating_add(at).unwrap_or(Timestamp::MAX)
    }
}
