//! The command `replay`: it sends the readings that `record` kept, with their times.
//!
//! The recording remains unchanged, except for a file with the position of the last reading that was sent, so that an interrupted replay
//! can continue. Sending a text twice changes nothing.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::mem::discriminant;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use jobstats_client::spool::{Directory, Entry, Index, SpoolError, SpoolFile};
use jobstats_client::{FileError, Kind, Notice, files::own_file, program::duration};
use serde::{Deserialize, Serialize};

use crate::commands::CommandError;
use crate::frame::Reading;
use crate::send::{self, Database, Feed, Progress, SendError, Timeouts, Transport};
use crate::state::{self, StateFile};
use crate::system::message::{self, info, moment, report, warn};

#[cfg(test)]
mod tests;

/// The file with the position of the replay.
const POSITION: &str = "replayed.json";

/// The beginning of the warning about texts that are older than the newest of their target in the store.
const PLACED: &str = "jobstats placed ";

/// The reason in a warning about texts that are older than the retention of the store.
const TOO_LATE: &str = "too late";

/// The options of `replay`.
#[derive(Debug, Args)]
pub struct Options {
    /// Directory of the recording
    #[arg(value_name = "DIRECTORY")]
    pub directory: PathBuf,
    /// Name of the cluster in the store [default: as recorded]
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// Begin with the first scrape, even if it was sent before
    #[arg(long)]
    pub again: bool,
    /// Time limit for connecting to the database, per host
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "10s")]
    pub connect_timeout: Duration,
    /// Time limit for storing one target
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "60s")]
    pub statement_timeout: Duration,
    #[command(flatten)]
    pub database: jobstats_client::Options,
}

/// An error that prevents a replay or ends it.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("no recording in {}", .0.display())]
    Nothing(PathBuf),
    #[error(
        "the recording begins at {since}, before the store's raw_retention: snapshots of {targets} targets would be rejected\n\
         its owner must run SELECT jobstats_setup(raw_retention => '{days} days'), with retention no shorter; for a store that \
         also gets new data, replay into another database, or at least as another --cluster"
    )]
    TooOld {
        since: String,
        targets: usize,
        days: i64,
    },
    #[error(
        "the store has newer snapshots of {targets} targets, such as {name}: replaying would change their data\n\
         replay as another cluster, with --cluster NAME; if raw_retention is then too short, the next error gives the value to set"
    )]
    Newer { targets: usize, name: String },
    /// The store would reject the texts for another reason.
    #[error(
        "the store would reject snapshots of {targets} targets, such as {name}: {warning}\n\
         replay as another cluster, with --cluster NAME, or check the rights of the role"
    )]
    Rejected {
        targets: usize,
        name: String,
        warning: String,
    },
    /// The database failed before the first text was sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// A reading could not be sent, and the rest was not tried.
    #[error("{sent} of {all} scrapes were sent; run the same command again to continue")]
    Stopped { sent: u64, all: u64, kind: Kind },
    #[error("the database did not store all targets of {0} scrapes")]
    Unsent(u64),
    #[error("{0} scrapes are damaged and were not sent")]
    Damaged(u64),
}

/// The progress of a replay: how far a recording was sent, and to where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    /// The database and the user.
    to: String,
    /// The cluster, if it differs from the recording.
    cluster: Option<String>,
    /// The number of the last reading that was sent.
    sequence: u64,
}

/// Sends the recording.
///
/// # Errors
///
/// Fails if the store would not take the texts as the newest of their targets, and if something was not sent.
pub fn execute(options: Options) -> Result<(), CommandError> {
    let settings = options.database.settings("jobstats-shipper replay")?;
    let timeouts = Timeouts {
        connect: options.connect_timeout,
        statement: options.statement_timeout,
    };
    let path = &options.directory;
    let all = Directory::at(path).waiting();
    let all = all.map_err(|cause| ReplayError::File(FileError::at(path)(cause)))?;
    if all.is_empty() {
        return Err(ReplayError::Nothing(path.clone()).into());
    }
    let state = StateFile {
        path: path.join(state::NAME),
    };
    let mut database = Database::new(settings, timeouts, state)?;
    let mut replay = Replay::new(&options, all, database.name());
    if replay.left.is_empty() {
        let all = replay.all;
        warn(format_args!(
            "all {all} scrapes were already sent; --again sends them again"
        ));
        return Ok(());
    }
    replay.try_first_texts(&mut database)?;
    let mut feed = Feed::new(Box::new(database), timeouts);
    Ok(replay.send(&mut feed)?)
}

struct Replay {
    directory: PathBuf,
    all: u64,
    /// The readings that are still to be sent.
    left: Vec<Entry>,
    position: Position,
}

impl Replay {
    fn new(options: &Options, mut left: Vec<Entry>, to: String) -> Self {
        let directory = options.directory.clone();
        let mut position = Position {
            to,
            cluster: options.cluster.clone(),
            sequence: 0,
        };
        if !options.again {
            position.find(&directory);
        }
        let all = left.len() as u64;
        left.retain(|entry| entry.sequence > position.sequence);
        Self {
            directory,
            all,
            left,
            position,
        }
    }

    /// Tries the first text of each target without storing it: if the store does not take it as the newest one, it would
    /// not take the others either.
    fn try_first_texts(&self, database: &mut Database) -> Result<(), ReplayError> {
        let mut known = HashSet::new();
        let mut verdicts = Vec::new();
        let mut since = None;
        for entry in &self.left {
            // A damaged file is reported when its turn comes.
            let Ok(index) = SpoolFile::index(&entry.path) else {
                continue;
            };
            since = since.or(index.texts.iter().map(|text| text.time).min());
            if !has_news(&index, &mut known) {
                continue;
            }
            let Ok(file) = SpoolFile::open(&entry.path) else {
                continue;
            };
            let reading = self.take(file);
            for text in &reading.index.texts {
                let target = (index.cluster.clone(), text.shown_name().to_owned());
                if known.insert(target) {
                    let notices = database.rehearse(&reading, text)?;
                    verdicts.push((text.shown_name().to_owned(), judge(&notices)));
                }
            }
        }
        refusal(&verdicts, since.unwrap_or_default(), Timestamp::now()).map_or(Ok(()), Err)
    }

    /// Returns the reading of a file, with the name of the cluster in the store.
    fn take(&self, file: SpoolFile) -> Reading {
        let mut reading = Reading::from_spool(file);
        if let Some(cluster) = &self.position.cluster {
            cluster.clone_into(&mut reading.index.cluster);
        }
        reading
    }

    /// Sends the readings that are left, in order.
    fn send(&mut self, feed: &mut Feed) -> Result<(), ReplayError> {
        let bar = bar(&self.left);
        message::share_with(&bar);
        let (mut damaged, mut unsent) = (0, 0);
        for entry in std::mem::take(&mut self.left) {
            match SpoolFile::open(&entry.path) {
                Ok(file) => {
                    let reading = self.take(file);
                    let first = reading.index.texts.first();
                    bar.set_message(first.map_or(String::new(), |text| moment(text.time)));
                    unsent += u64::from(!self.deliver(feed, &reading)?);
                }
                Err(error) if error.is_damage() => {
                    report(format_args!("{}: {error}", entry.path.display()));
                    damaged += 1;
                }
                Err(SpoolError::Io(cause)) => return Err(FileError::at(&entry.path)(cause).into()),
                Err(error) => {
                    return Err(FileError::at(&entry.path)(io::Error::other(error)).into());
                }
            }
            self.position.sequence = entry.sequence;
            self.position.keep(&self.directory);
            bar.inc(entry.bytes);
        }
        bar.finish();
        info(format_args!("all {} scrapes were sent", self.all));
        match (damaged, unsent) {
            (0, 0) => Ok(()),
            (damaged @ 1.., _) => Err(ReplayError::Damaged(damaged)),
            (_, unsent) => Err(ReplayError::Unsent(unsent)),
        }
    }

    /// Sends a reading. Returns false if the database refused or rejected a text for good.
    fn deliver(&self, feed: &mut Feed, reading: &Reading) -> Result<bool, ReplayError> {
        let mut progress = Progress::new(reading);
        feed.send(reading, &mut progress);
        match progress.result() {
            Ok(()) => Ok(true),
            Err(_) if progress.is_over() => Ok(false),
            Err(unsent) => {
                let is_sent = |entry: &&Entry| entry.sequence <= self.position.sequence;
                let entries = Directory::at(&self.directory).waiting();
                let entries = entries.map_err(FileError::at(&self.directory))?;
                Err(ReplayError::Stopped {
                    sent: entries.iter().filter(is_sent).count() as u64,
                    all: self.all,
                    kind: unsent.kind,
                })
            }
        }
    }
}

impl Position {
    /// Takes over how far the recording was sent to this database under this name.
    fn find(&mut self, directory: &Path) {
        let kept = fs::read(directory.join(POSITION)).ok();
        let kept: Option<Self> = kept.and_then(|json| serde_json::from_slice(&json).ok());
        if let Some(kept) = kept
            && (&kept.to, &kept.cluster) == (&self.to, &self.cluster)
        {
            self.sequence = kept.sequence;
        }
    }

    /// Writes the position. If that fails, an interrupted replay starts over, which changes nothing.
    fn keep(&self, directory: &Path) {
        let path = directory.join(POSITION);
        let json = serde_json::to_vec_pretty(self).map_err(io::Error::from);
        let kept = json.and_then(|json| own_file::replace(&path, ".replayed-", &json, false));
        if let Err(error) = kept {
            info(FileError::at(&path)(error));
        }
    }
}

/// The answer of the store to the first text of a target; the worst is the last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Judgement {
    Taken,
    Newer,
    Rejected(String),
    TooLate,
}

fn judge(notices: &[Notice]) -> Judgement {
    let rejection = notices.iter().find(|notice| send::is_rejection(notice));
    match rejection {
        Some(notice) if notice.message.contains(TOO_LATE) => Judgement::TooLate,
        Some(notice) => Judgement::Rejected(notice.message.clone()),
        None if notices.iter().any(is_placement) => Judgement::Newer,
        None => Judgement::Taken,
    }
}

fn is_placement(notice: &Notice) -> bool {
    notice.is_warning && notice.message.starts_with(PLACED)
}

/// Returns the error of a recording that the store would not take as it is.
fn refusal(
    verdicts: &[(String, Judgement)],
    since: Timestamp,
    now: Timestamp,
) -> Option<ReplayError> {
    let highest = verdicts.iter().map(|(_, judgement)| judgement).max()?;
    let verdicts = verdicts.iter();
    let mut worst =
        verdicts.filter(|(_, judgement)| discriminant(judgement) == discriminant(highest));
    let targets = worst.clone().count();
    let (name, judgement) = worst.next().cloned()?;
    match judgement {
        Judgement::Taken => None,
        Judgement::Newer => Some(ReplayError::Newer { targets, name }),
        Judgement::Rejected(warning) => Some(ReplayError::Rejected {
            targets,
            name,
            warning,
        }),
        Judgement::TooLate => Some(ReplayError::TooOld {
            since: moment(since),
            targets,
            // A day more leaves time for the replay.
            days: now.duration_since(since).as_hours() / 24 + 2,
        }),
    }
}

/// Returns true if the reading has a text of a target that is not known yet.
fn has_news(index: &Index, known: &mut HashSet<(String, String)>) -> bool {
    let mut names = index.texts.iter().map(|text| text.shown_name().to_owned());
    names.any(|name| !known.contains(&(index.cluster.clone(), name)))
}

fn bar(left: &[Entry]) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{msg}  {bar:30}  {decimal_bytes} of {decimal_total_bytes}, {eta} left",
    );
    let bar = ProgressBar::new(left.iter().map(|entry| entry.bytes).sum());
    style.map(|style| bar.set_style(style)).unwrap_or_default();
    bar
}
