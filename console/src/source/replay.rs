//! Plays a recording: the readings that `jobstats-console top --record` or `jobstats-shipper record` kept.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jobstats_client::FileError;
use jobstats_client::program::exit;
use jobstats_client::spool::{Directory, Entry, SpoolError, SpoolFile};
use zstd::stream::read::Decoder;

use super::{Error, Position, Source, Step, Update};
use crate::live::interval::{Round, TargetSnapshot};
use crate::live::state::{Arrival, Scrape, Tracker};
use crate::source::process::MOST;
use crate::source::recording::LCTL;

/// The number of readings that are read again after a jump, for the course of the load and for entries that come and go.
const LOOKED_BACK: usize = 30;

/// The size of the files that are read again after a jump, unless two readings are larger.
const LOOKED_BACK_BYTES: u64 = 4 << 20;

/// The readings of all servers at one time.
#[derive(Debug)]
struct RecordedRound {
    time: i64,
    /// The file of each server.
    files: Vec<(String, PathBuf)>,
    bytes: u64,
}

/// A recording that is played.
pub struct Replay {
    recorded: Vec<RecordedRound>,
    /// The number of rounds that were read.
    position: usize,
    tracker: Tracker,
}

impl Replay {
    /// Opens the recording, which must have a scrape of `job_stats`. Only the heads of its files are read.
    pub fn open(path: &Path, tracker: Tracker) -> Result<Self, Error> {
        let broken = FileError::at(path);
        let entries = Directory::at(path).waiting().map_err(&broken)?;
        let mut files = Vec::new();
        for entry in entries.into_iter().filter(|entry| entry.source == LCTL) {
            let index = match SpoolFile::index(&entry.path) {
                Ok(index) => index,
                Err(SpoolError::Io(cause)) => return Err(broken(cause).into()),
                // A damaged file has no readable time.
                Err(_) => continue,
            };
            let times = index.texts.iter().map(|text| text.time.as_microsecond());
            let time = times.min();
            files.extend(time.map(|time| (time, index.server, entry)));
        }
        let recorded = group(files);
        if recorded.is_empty() {
            let message = format!("no recording of job_stats in {}", path.display());
            return Err(Error::other(exit::NOTHING, message));
        }
        Ok(Self {
            recorded,
            position: 0,
            tracker,
        })
    }

    /// Starts anew, early enough that this round can be compared with those before.
    fn go_back_before(&mut self, position: usize) {
        let mut begin = position;
        let mut bytes = 0;
        while begin > 0 && position - begin < LOOKED_BACK {
            bytes += self.recorded[begin - 1].bytes;
            if position - begin >= 2 && bytes > LOOKED_BACK_BYTES {
                break;
            }
            begin -= 1;
        }
        self.tracker.restart();
        self.position = begin;
    }

    fn read(&mut self, recorded: usize) -> Round {
        let recorded = &self.recorded[recorded];
        let mut round = Round::default();
        self.tracker.begin();
        for (server, path) in &recorded.files {
            match read(path, server, &mut self.tracker) {
                Ok(seen) => round.snapshots.extend(seen),
                Err(error) => round.fail(server, &*error),
            }
        }
        round.notes = self.tracker.notes();
        round.time = round.last().unwrap_or(recorded.time);
        round
    }
}

/// Groups files into rounds. A round ends before a server that it already has, and after half of the typical interval of a server, so
/// that the next scrape cannot fill the gap of a missing one.
fn group(files: Vec<(i64, String, Entry)>) -> Vec<RecordedRound> {
    let mut last: HashMap<&str, i64> = HashMap::new();
    let gaps = files
        .iter()
        .filter_map(|(time, server, _)| Some(time - last.insert(server, *time)?));
    let mut gaps: Vec<_> = gaps.collect();
    gaps.sort_unstable();
    let longest = gaps.get(gaps.len() / 2).map_or(i64::MAX, |usual| usual / 2);
    let mut recorded: Vec<RecordedRound> = Vec::new();
    for (time, server, entry) in files {
        let is_over = |recorded: &RecordedRound| {
            let mut servers = recorded.files.iter().map(|(server, _)| server);
            servers.any(|it| *it == server) || (time - recorded.time).abs() > longest
        };
        if recorded.last().is_none_or(is_over) {
            recorded.push(RecordedRound {
                time,
                files: Vec::new(),
                bytes: 0,
            });
        }
        if let Some(recorded) = recorded.last_mut() {
            recorded.files.push((server, entry.path));
            recorded.bytes += entry.bytes;
        }
    }
    recorded
}

/// Reads a file, with a time for each snapshot.
fn read(
    path: &Path,
    server: &str,
    tracker: &mut Tracker,
) -> Result<Vec<TargetSnapshot>, Box<dyn std::error::Error>> {
    let file = SpoolFile::open(path)?;
    let mut scrape = Scrape::default();
    for text in &file.index.texts {
        scrape.arrivals.push(Arrival {
            from: scrape.text.len(),
            at: text.time.as_microsecond(),
        });
        let packed = file.packed(text)?;
        unpack(&packed, &mut scrape.text)?;
    }
    Ok(tracker.take(server, &scrape)?.snapshots)
}

/// Appends what a text contains. A recording may come from anywhere, and a few bytes can contain any number of them.
fn unpack(packed: &[u8], bytes: &mut Vec<u8>) -> io::Result<()> {
    let room = MOST.saturating_sub(bytes.len()) as u64;
    let mut text = Decoder::new(packed)?.take(room + 1);
    if text.read_to_end(bytes)? as u64 > room {
        return Err(io::Error::other("the texts are too large"));
    }
    Ok(())
}

impl Source for Replay {
    fn step(&mut self, step: Step) -> Result<Update, Error> {
        let all = self.recorded.len();
        let target = match step {
            Step::Next => self.position + 1,
            Step::By(by) => self.position.saturating_add_signed(by),
            Step::Begin => 2,
            Step::End => all,
        };
        let target = target.clamp(1, all);
        let begins_anew =
            target <= self.position && step != Step::Next || target > self.position + LOOKED_BACK;
        if begins_anew {
            self.go_back_before(target);
        }
        let rounds = (self.position..target).map(|at| self.read(at)).collect();
        self.position = self.position.max(target);
        let next = self.recorded.get(self.position);
        let last = self.recorded[..self.position].last();
        let until_next = next.zip(last);
        let until_next = until_next.map(|(next, last)| (next.time - last.time).max(0));
        Ok(Update {
            rounds,
            begins_anew,
            position: Some(Position {
                at: self.position,
                of: all,
            }),
            until_next,
            ..Update::default()
        })
    }

    fn is_live(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_round_has_each_server_once_and_those_that_were_read_together() {
        let file = |(time, server): &(i64, &str)| {
            let entry = Entry {
                sequence: 0,
                source: LCTL.to_owned(),
                path: PathBuf::from(server),
                bytes: 1,
                written: SystemTime::UNIX_EPOCH,
            };
            (*time, (*server).to_owned(), entry)
        };
        // In the second round, the first server failed, and in the last one the second.
        let files = [
            (100, "a"),
            (99, "b"),
            (110, "b"),
            (120, "a"),
            (121, "b"),
            (130, "a"),
        ];
        let recorded = group(files.iter().map(file).collect());
        let servers = |recorded: &RecordedRound| {
            let servers: Vec<_> = recorded
                .files
                .iter()
                .map(|(server, _)| server.as_str())
                .collect();
            servers.join(" ")
        };
        let servers: Vec<_> = recorded.iter().map(servers).collect();
        assert_eq!(servers, ["a b", "b", "a b", "a"]);
        assert_eq!((recorded[2].time, recorded[2].bytes), (120, 2));
    }
}
