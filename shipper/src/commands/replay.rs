//! The command `replay`: it sends what `record` kept, with the times at which it was read.
//!
//! The recording is not changed, but for a file that says how far it was sent, so that an interrupted replay goes on where
//! it was. To send a text twice changes nothing.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use jobstats_client::duration;
use jobstats_client::spool::{self, Directory, Entry, Index, SpoolFile};
use jobstats_client::{Kind, Notice, Settings};
use serde::{Deserialize, Serialize};
use tempfile::Builder;

use crate::commands;
use crate::frame::{Reading, Sender};
use crate::send::rehearsal::Rehearsal;
use crate::send::{self, Database, Feed, Progress, Timeouts};
use crate::state::{self, StateFile};
use crate::system::message::{self, info, moment, report, warn};

#[cfg(test)]
mod tests;

/// The file that says how far a recording was sent.
const POSITION: &str = "replayed.json";

/// The beginning of the warning about texts that are older than what the store has of their target.
const PLACED: &str = "jobstats placed ";

/// The reason in a warning about texts that are older than what the store keeps.
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
    /// Begin with the first reading, even if it was sent before
    #[arg(long)]
    pub again: bool,
    /// Time limit for connecting to the database, per host
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "10s")]
    pub connect_timeout: Duration,
    /// Time limit for storing one target
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "60s")]
    pub statement_timeout: Duration,
    /// The options of the database.
    #[command(flatten)]
    pub database: jobstats_client::Options,
}

/// An error that prevents a replay or ends it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory cannot be read.
    #[error("{}: {cause}", path.display())]
    Directory {
        /// The path of the directory.
        path: PathBuf,
        /// The error of the file system.
        cause: io::Error,
    },
    /// The directory has no reading.
    #[error("{} has no recording", .0.display())]
    Nothing(PathBuf),
    /// The store would reject the texts as too old.
    #[error(
        "the recording begins at {since}, which is before what the store keeps: it would reject texts of {targets} targets\n\
         let its owner run SELECT jobstats_setup(raw_retention => '{days} days'), with a retention as long; for a store that \
         also gets new texts, replay into another database, or at least as another --cluster"
    )]
    TooOld {
        /// The time of the first text.
        since: String,
        /// The number of targets.
        targets: usize,
        /// The retention that would be long enough.
        days: i64,
    },
    /// The store has newer texts of the targets.
    #[error(
        "the store has newer text of {targets} targets, such as {name}: it would change what the store says of them\n\
         replay as another cluster, with --cluster NAME; if the store's raw_retention is too short then, the next refusal \
         says what to set"
    )]
    Newer {
        /// The number of targets.
        targets: usize,
        /// One of them.
        name: String,
    },
    /// The store would reject the texts for another reason.
    #[error(
        "the store would reject texts of {targets} targets, such as {name}: {warning}\n\
         replay as another cluster, with --cluster NAME, or see what the role may feed"
    )]
    Rejected {
        /// The number of targets.
        targets: usize,
        /// One of them.
        name: String,
        /// The warning of the database.
        warning: String,
    },
    /// The database failed before the first text was sent.
    #[error(transparent)]
    Feed(#[from] send::Error),
    /// A reading could not be sent, and the rest was not tried.
    #[error("{sent} of {all} readings were sent; the same command goes on from there")]
    Stopped {
        /// The number of readings that were sent, now or earlier.
        sent: u64,
        /// The number of all readings.
        all: u64,
        /// The kind of the failure.
        kind: Kind,
    },
    /// Readings were sent, and the database did not store some of their texts.
    #[error("the database did not store all targets of {0} readings")]
    Unsent(u64),
    /// Files were damaged.
    #[error("{damaged} readings are damaged, and were not sent")]
    Damaged {
        /// The number of damaged files.
        damaged: u64,
    },
}

/// The progress of a replay: how far a recording was sent, and to where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    /// The database and the user.
    to: String,
    /// The cluster, if it is not that of the recording.
    cluster: Option<String>,
    /// The number of the last reading that was sent.
    sequence: u64,
}

/// Sends the recording.
///
/// # Errors
///
/// Fails if the store would not take the texts as the newest of their targets, and if something was not sent.
pub fn execute(options: Options) -> Result<(), commands::Error> {
    let settings = options.database.settings("jobstats-shipper replay")?;
    let timeouts = Timeouts {
        connect: options.connect_timeout,
        statement: options.statement_timeout,
    };
    let mut replay = Replay::open(&options, &settings, timeouts)?;
    if replay.left.is_empty() {
        warn(format_args!(
            "all {} readings were sent before; --again sends them again",
            replay.all
        ));
        return Ok(());
    }
    replay.try_first_texts(settings.clone(), timeouts)?;
    let notices = StateFile::new(options.directory.join(state::NAME));
    let database = Database::new(settings, timeouts, notices)?;
    let mut feed = Feed::new(Box::new(database), timeouts);
    Ok(replay.send(&mut feed)?)
}

/// A recording that is being sent.
struct Replay {
    directory: PathBuf,
    cluster: Option<String>,
    /// The number of all readings.
    all: u64,
    /// The readings that are still to be sent.
    left: Vec<Entry>,
    position: Position,
}

impl Replay {
    fn open(options: &Options, settings: &Settings, timeouts: Timeouts) -> Result<Self, Error> {
        let path = &options.directory;
        let mut left = Directory::at(path).waiting().map_err(broken(path))?;
        if left.is_empty() {
            return Err(Error::Nothing(path.clone()));
        }
        let mut position = Position {
            to: Rehearsal::new(settings.clone(), timeouts)?
                .connector
                .to_string(),
            cluster: options.cluster.clone(),
            sequence: 0,
        };
        if !options.again {
            position.find(path);
        }
        let all = left.len() as u64;
        left.retain(|entry| entry.sequence > position.sequence);
        Ok(Self {
            directory: path.clone(),
            cluster: options.cluster.clone(),
            all,
            left,
            position,
        })
    }

    /// Tries the first text of each target without storing it: if the store does not take it as the newest one, it would
    /// not take the others either.
    fn try_first_texts(&self, settings: Settings, timeouts: Timeouts) -> Result<(), Error> {
        let mut rehearsal = Rehearsal::new(settings, timeouts)?;
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
            let (sender, reading) = self.take(file);
            for text in &reading.texts {
                let target = (index.cluster.clone(), text.shown_name().to_owned());
                if known.insert(target) {
                    let notices = rehearsal.text(&sender, &reading, text)?;
                    verdicts.push((text.shown_name().to_owned(), judge(&notices)));
                }
            }
        }
        refusal(&verdicts, since.unwrap_or_default(), Timestamp::now()).map_or(Ok(()), Err)
    }

    /// Returns the reading of a file and its sender, with the name of the cluster in the store.
    fn take(&self, file: SpoolFile) -> (Sender, Reading) {
        let (mut sender, reading) = Reading::from_spool(file);
        if let Some(cluster) = &self.cluster {
            cluster.clone_into(&mut sender.cluster);
        }
        (sender, reading)
    }

    /// Sends what is left, in order.
    fn send(&mut self, feed: &mut Feed) -> Result<(), Error> {
        let bar = bar(&self.left);
        message::share_with(&bar);
        let (mut damaged, mut unsent) = (0, 0);
        for entry in std::mem::take(&mut self.left) {
            match SpoolFile::open(&entry.path) {
                Ok(file) => {
                    let (sender, reading) = self.take(file);
                    let first = reading.texts.first();
                    bar.set_message(first.map_or(String::new(), |text| moment(text.time)));
                    unsent += u64::from(!self.deliver(feed, &sender, &reading)?);
                }
                Err(error) if error.is_damage() => {
                    report(format_args!("{}: {error}", entry.path.display()));
                    damaged += 1;
                }
                Err(spool::Error::Io(cause)) => return Err(broken(&entry.path)(cause)),
                Err(error) => return Err(broken(&entry.path)(io::Error::other(error))),
            }
            self.position.sequence = entry.sequence;
            self.position.keep(&self.directory);
            bar.inc(entry.bytes);
        }
        bar.finish();
        info(format_args!("all {} readings were sent", self.all));
        match (damaged, unsent) {
            (0, 0) => Ok(()),
            (damaged @ 1.., _) => Err(Error::Damaged { damaged }),
            (_, unsent) => Err(Error::Unsent(unsent)),
        }
    }

    /// Sends a reading. Returns false if the database refused or rejected a text for good.
    fn deliver(&self, feed: &mut Feed, sender: &Sender, reading: &Reading) -> Result<bool, Error> {
        let mut progress = Progress::new(reading);
        feed.send(sender, reading, &mut progress);
        match progress.result() {
            Ok(()) => Ok(true),
            Err(_) if progress.is_over() => Ok(false),
            Err(unsent) => {
                let is_sent = |entry: &&Entry| entry.sequence <= self.position.sequence;
                let entries = Directory::at(&self.directory).waiting();
                let entries = entries.map_err(broken(&self.directory))?;
                Err(Error::Stopped {
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

    /// Writes the position. If that fails, a replay that is interrupted begins anew, which changes nothing.
    fn keep(&self, directory: &Path) {
        let keep = || {
            let mut file = Builder::new().prefix(".replayed-").tempfile_in(directory)?;
            file.write_all(&serde_json::to_vec_pretty(self)?)?;
            file.persist(directory.join(POSITION))?;
            io::Result::Ok(())
        };
        if let Err(error) = keep() {
            info(format_args!(
                "{}: {error}",
                directory.join(POSITION).display()
            ));
        }
    }
}

/// The answer of the store to the first text of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Judgement {
    Taken,
    TooLate,
    Newer,
    Rejected(String),
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
fn refusal(verdicts: &[(String, Judgement)], since: Timestamp, now: Timestamp) -> Option<Error> {
    let of = |wanted: fn(&Judgement) -> bool| {
        let of_kind = verdicts.iter().filter(|(_, judgement)| wanted(judgement));
        let of_kind: Vec<_> = of_kind.collect();
        (of_kind.len(), of_kind.first().map(|first| (*first).clone()))
    };
    if let (targets @ 1.., _) = of(|judgement| *judgement == Judgement::TooLate) {
        let age = now.duration_since(since).as_hours();
        return Some(Error::TooOld {
            since: moment(since),
            targets,
            // A day more leaves time for the replay.
            days: age / 24 + 2,
        });
    }
    if let (targets, Some((name, Judgement::Rejected(warning)))) =
        of(|judgement| matches!(judgement, Judgement::Rejected(_)))
    {
        return Some(Error::Rejected {
            targets,
            name,
            warning,
        });
    }
    let (targets, first) = of(|judgement| *judgement == Judgement::Newer);
    first.map(|(name, _)| Error::Newer { targets, name })
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

fn broken(path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |cause| Error::Directory { path, cause }
}
