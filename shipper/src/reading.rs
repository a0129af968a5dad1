//! One reading of a server: the output of each target, compressed, in an unlinked temporary file.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use zstd::stream::write::Encoder;

use crate::split::{Parameter, Part, Splitter};

#[cfg(test)]
mod tests;

/// The zstd level. The texts are so repetitive that the fastest level makes them small.
const LEVEL: i32 = 1;

/// The output of one target.
#[derive(Debug)]
pub struct Target {
    /// The name, such as `mdt.fs-MDT0000`, or `None` for text before the first name.
    pub name: Option<String>,
    /// The time at which the first byte of the target's `job_stats` arrived.
    pub time: Timestamp,
    /// The time that lctl took for the target: the time in which it printed nothing of another target. `None` means
    /// that the time was not measured.
    pub duration: Option<Duration>,
    /// The size of the text in bytes.
    pub text_bytes: u64,
    /// The text in the temporary file, as consecutive zstd frames.
    frames: Vec<Range<u64>>,
    /// True if the text is only white space.
    blank: bool,
    has_job_stats: bool,
}

/// The targets of one reading, in order of arrival.
#[derive(Debug)]
pub struct Reading {
    /// The targets and their texts.
    pub targets: Vec<Target>,
    /// True if the text ended as a whole text does.
    pub whole: bool,
    spool: Arc<File>,
}

impl Reading {
    /// Returns true if the text named a target.
    pub fn has_target(&self) -> bool {
        self.targets.iter().any(|target| target.name.is_some())
    }

    /// Sets the time of the reading, and drops the durations, which are not known for text from elsewhere.
    pub fn made_at(&mut self, time: Timestamp) {
        for target in &mut self.targets {
            target.time = time;
            target.duration = None;
        }
    }

    /// Returns a target's compressed text in pieces of at most `size` bytes.
    pub fn pieces<'a>(
        &'a self,
        target: &'a Target,
        size: usize,
    ) -> impl Iterator<Item = io::Result<Vec<u8>>> + 'a {
        let ranges = target.frames.iter().flat_map(move |frame| {
            let end = frame.end;
            frame
                .clone()
                .step_by(size)
                .map(move |start| start..end.min(start + size as u64))
        });
        ranges.map(|range| {
            let mut piece = vec![0; (range.end - range.start) as usize];
            self.spool.read_exact_at(&mut piece, range.start)?;
            Ok(piece)
        })
    }
}

impl Target {
    /// Returns the target's name for messages.
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

/// Builds a reading from text that arrives piece by piece.
pub struct Recorder {
    splitter: Splitter,
    store: Store,
    last_push: Duration,
}

impl Recorder {
    /// Starts the clock and creates an empty temporary file.
    pub fn start() -> io::Result<Self> {
        let store = Store {
            started: Timestamp::now(),
            spool: Arc::new(tempfile::tempfile()?),
            targets: Vec::new(),
            open: None,
            last_text: Duration::ZERO,
        };
        Ok(Self {
            splitter: Splitter::default(),
            store,
            last_push: Duration::ZERO,
        })
    }

    /// Takes a piece of text that arrived `at` this time after the start.
    pub fn push(&mut self, text: &[u8], at: Duration) -> io::Result<()> {
        let earlier = std::mem::replace(&mut self.last_push, at);
        self.splitter
            .push(text, |part| self.store.take(part, earlier, at))
    }

    /// Returns the reading after the last piece.
    pub fn finish(mut self) -> io::Result<Reading> {
        let at = self.last_push;
        let whole = self.splitter.finish(|part| self.store.take(part, at, at))?;
        self.store.close()?;
        let mut targets = self.store.targets;
        targets.retain(|target| target.name.is_some() || !target.blank);
        Ok(Reading {
            targets,
            whole,
            spool: self.store.spool,
        })
    }
}

/// The targets so far, and the file that takes their texts.
struct Store {
    started: Timestamp,
    spool: Arc<File>,
    targets: Vec<Target>,
    open: Option<Frame>,
    /// The time after the start at which the last byte taken so far arrived.
    last_text: Duration,
}

/// The zstd frame that is being written.
struct Frame {
    target: usize,
    start: u64,
    encoder: Encoder<'static, Arc<File>>,
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
                if self.open.is_none() {
                    let target = self.target(None, at);
                    self.open(target)?;
                }
                self.write(text, at)
            }
        }
    }

    /// Returns the index of the target with this name; adds the target if it is new.
    fn target(&mut self, name: Option<&str>, at: Duration) -> usize {
        if let Some(index) = self
            .targets
            .iter()
            .position(|target| target.name.as_deref() == name)
        {
            return index;
        }
        self.targets.push(Target {
            name: name.map(str::to_owned),
            time: self.time(at),
            duration: Some(Duration::ZERO),
            text_bytes: 0,
            frames: Vec::new(),
            blank: true,
            has_job_stats: false,
        });
        self.targets.len() - 1
    }

    fn begin(&mut self, index: usize, is_job_stats: bool, at: Duration) -> io::Result<()> {
        self.close()?;
        let time = self.time(at);
        let target = &mut self.targets[index];
        if is_job_stats && !target.has_job_stats {
            target.has_job_stats = true;
            target.time = time;
        }
        self.open(index)
    }

    fn open(&mut self, target: usize) -> io::Result<()> {
        let start = self.spool.stream_position()?;
        let mut encoder = Encoder::new(Arc::clone(&self.spool), LEVEL)?;
        encoder.include_checksum(true)?;
        self.open = Some(Frame {
            target,
            start,
            encoder,
        });
        Ok(())
    }

    fn write(&mut self, text: &[u8], at: Duration) -> io::Result<()> {
        let Some(frame) = &mut self.open else {
            return Ok(());
        };
        frame.encoder.write_all(text)?;
        let target = &mut self.targets[frame.target];
        target.text_bytes += text.len() as u64;
        target.blank &= text.trim_ascii().is_empty();
        if let Some(duration) = &mut target.duration {
            *duration += at.saturating_sub(self.last_text);
        }
        self.last_text = at;
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        if let Some(Frame {
            target,
            start,
            encoder,
        }) = self.open.take()
        {
            encoder.finish()?;
            let end = self.spool.stream_position()?;
            self.targets[target].frames.push(start..end);
        }
        Ok(())
    }

    /// Returns the wall-clock time of the start plus the steady clock's time since, so that times within a reading
    /// never run backwards.
    fn time(&self, at: Duration) -> Timestamp {
        self.started.saturating_add(at).unwrap_or(Timestamp::MAX)
    }
}
