//! One reading of a source: the output of each target, or another text, compressed.

use std::io::{self, Write};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::spool::{Covers, Data, Directory, Error, Index, SpoolFile, Text};
use zstd::stream::write::Encoder;

use crate::frame::split::{Parameter, Part, Splitter};
use crate::frame::storage::{Storage, Writer};

#[cfg(test)]
mod tests;

/// The zstd level. The texts are so repetitive that the fastest level makes them small.
const LEVEL: i32 = 1;

/// The source of `job_stats`. The feed takes it if no source is sent.
pub const LCTL: &str = "lctl";

/// The sender's names, which are identical in every row.
#[derive(Debug, Clone)]
pub struct Sender {
    /// The name of the cluster, or an empty string.
    pub cluster: String,
    /// The name of the server.
    pub server: String,
}

/// The texts of one reading, in order of arrival.
#[derive(Debug)]
pub struct Reading {
    /// The source of the texts.
    pub source: String,
    /// The span of time that the texts cover, if their source cannot say so itself.
    pub covers: Option<Covers>,
    /// The text of each target; for sources other than `lctl` one text.
    pub texts: Vec<Text>,
    /// True if the text ended as a whole text does.
    pub whole: bool,
    data: Data,
    storage: Storage,
}

impl Reading {
    /// Takes a reading out of a spool, and its sender.
    pub fn from_spool(SpoolFile { index, file, start }: SpoolFile) -> (Sender, Self) {
        let sender = Sender {
            cluster: index.cluster,
            server: index.server,
        };
        let reading = Self {
            source: index.source,
            covers: index.covers,
            texts: index.texts,
            whole: true,
            data: index.data,
            storage: Storage::File { file, start },
        };
        (sender, reading)
    }

    /// Returns true if the text named a target.
    pub fn has_target(&self) -> bool {
        self.texts.iter().any(|text| text.name.is_some())
    }

    /// Returns the size of all compressed texts in bytes.
    pub fn packed_bytes(&self) -> u64 {
        self.data.bytes
    }

    /// Moves the times of all texts.
    pub fn shift(&mut self, by: SignedDuration) {
        for text in &mut self.texts {
            text.time = text.time.saturating_add(by).unwrap_or(text.time);
        }
    }

    /// Sets the time of the reading, and drops the durations, which are not known for text from elsewhere.
    pub fn made_at(&mut self, time: Timestamp) {
        for text in &mut self.texts {
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
        let ranges = text.frames.iter().flat_map(move |frame| {
            let end = frame.end;
            frame
                .clone()
                .step_by(size)
                .map(move |start| start..end.min(start + size as u64))
        });
        ranges.map(|range| {
            let mut piece = vec![0; (range.end - range.start) as usize];
            self.storage.read_exact_at(&mut piece, range.start)?;
            Ok(piece)
        })
    }

    /// Puts the reading into a spool, and returns its number there.
    pub fn put(&self, spool: &Directory, sender: &Sender) -> Result<u64, Error> {
        let index = || Index {
            sequence: 0,
            source: self.source.clone(),
            covers: self.covers,
            cluster: sender.cluster.clone(),
            server: sender.server.clone(),
            texts: self.texts.clone(),
            data: self.data,
        };
        self.storage.with_reader(
            self.data.bytes,
            |file| spool.put(index(), file),
            |memory| spool.put(index(), memory),
        )?
    }
}

/// Builds a reading from text that arrives piece by piece.
pub struct Recorder {
    source: String,
    /// Finds the targets in the output of lctl.
    splitter: Option<Splitter>,
    store: Store,
    last_push: Duration,
}

impl Recorder {
    /// Starts the clock for the output of lctl. The reading takes at most this number of bytes when compressed.
    pub fn start(most: u64) -> Self {
        Self::of(LCTL, most)
    }

    /// Starts the clock for text of a source. Only the output of lctl is split.
    pub fn of(source: &str, most: u64) -> Self {
        let store = Store {
            started: Timestamp::now(),
            output: Output::Closed(Writer::new(most)),
            targets: Vec::new(),
            last_text: Duration::ZERO,
        };
        Self {
            source: source.to_owned(),
            splitter: (source == LCTL).then(Splitter::default),
            store,
            last_push: Duration::ZERO,
        }
    }

    /// Takes a piece of text that arrived `at` this time after the start.
    pub fn push(&mut self, text: &[u8], at: Duration) -> io::Result<()> {
        let earlier = std::mem::replace(&mut self.last_push, at);
        match &mut self.splitter {
            Some(splitter) => splitter.push(text, |part| self.store.take(part, earlier, at)),
            None => self.store.add(&self.source, text, at),
        }
    }

    /// Returns the reading after the last piece.
    pub fn finish(mut self) -> io::Result<Reading> {
        let at = self.last_push;
        let whole = match self.splitter {
            Some(splitter) => splitter.finish(|part| self.store.take(part, at, at))?,
            None => true,
        };
        let (storage, data) = self.store.close()?.finish();
        let mut targets = self.store.targets;
        targets.retain(|target| !target.blank);
        Ok(Reading {
            source: self.source,
            covers: None,
            texts: targets.into_iter().map(|target| target.text).collect(),
            whole,
            data,
            storage,
        })
    }
}

/// The targets so far, and the writer of their texts.
struct Store {
    started: Timestamp,
    output: Output,
    targets: Vec<Target>,
    /// The time after the start at which the last byte taken so far arrived.
    last_text: Duration,
}

/// A target of the reading.
struct Target {
    text: Text,
    /// True if the text is only white space.
    blank: bool,
    has_job_stats: bool,
}

/// The writer of the compressed text, between frames and inside a frame.
enum Output {
    Closed(Writer),
    Open(Frame),
    /// Writing has failed.
    Broken,
}

/// The zstd frame that is being written.
struct Frame {
    target: usize,
    start: u64,
    encoder: Encoder<'static, Writer>,
}

impl Store {
    fn take(&mut self, part: Part<'_>, before: Duration, at: Duration) -> io::Result<()> {
        match part {
            Part::Begin { name, earlier } => {
                let at = if earlier { before } else { at };
                let target = self.target(Some(name.target), at);
                self.begin(target, name.parameter == Parameter::JobStats, at)
            }
            Part::Text(text) => {
                if matches!(self.output, Output::Closed(_)) {
                    let target = self.target(None, at);
                    self.open(target)?;
                }
                self.write(text, at)
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
        if let Some(index) = self
            .targets
            .iter()
            .position(|target| target.text.name.as_deref() == name)
        {
            return index;
        }
        let text = Text {
            name: name.map(str::to_owned),
            time: self.time(at),
            duration: Some(Duration::ZERO),
            bytes: 0,
            frames: Vec::new(),
        };
        self.targets.push(Target {
            text,
            blank: true,
            has_job_stats: false,
        });
        self.targets.len() - 1
    }

    fn begin(&mut self, index: usize, is_job_stats: bool, at: Duration) -> io::Result<()> {
        let time = self.time(at);
        let target = &mut self.targets[index];
        if is_job_stats && !target.has_job_stats {
            target.has_job_stats = true;
            target.text.time = time;
        }
        self.open(index)
    }

    /// Ends the frame that is open, and begins one for the target.
    fn open(&mut self, target: usize) -> io::Result<()> {
        let writer = self.close()?;
        let start = writer.length();
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
                let range = frame.start..writer.length();
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
