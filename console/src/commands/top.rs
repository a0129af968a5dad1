//! Runs `top`: chooses the source of readings, and how they are shown.

use std::fs;
use std::io::{IsTerminal, stdin, stdout};
use std::time::Duration;

use jiff::Timestamp;
use jobstats_client::program::exit;
use jobstats_core::base::instant::Micros;

use crate::ask::config::Profile;
use crate::ask::error::Error;
use crate::ask::store;
use crate::commands::options::Top;
use crate::live::state::Tracker;
use crate::live::user_names::UserNames;
use crate::show::page::{Mode, ScreenState};
use crate::source::process::{self, MOST};
use crate::source::recording::Recorder;
use crate::source::{Commands, Replay, Source, StoreSource, server_of, stored};
use crate::terminal::app::App;
use crate::terminal::print::Form;
use crate::terminal::{self, print, screen};
use crate::values::when;

/// The time between readings.
const INTERVAL: Duration = Duration::from_secs(10);

/// The time limit of a command.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The command of `--ssh`, before and after the name of the server.
const SSH: &str = "ssh -o BatchMode=yes -o ConnectTimeout=5";
const LCTL: &str = "\"lctl get_param '*.*.job_cleanup_interval' '*.*.job_stats'\"";

/// The width of a table that is not printed on a terminal.
const WIDTH: usize = 100;

/// The message for a command line without a source.
const NO_INPUT: &str = "no source: give a store with --database-url, --config or JOBSTATS_DATABASE_URL, or use --ssh, --input, --profile \
                        or the directory of a recording";

/// The message for a profile without a source.
const NO_COMMAND: &str =
    "the profile has no database_url, config or input (the table of commands by server)";

/// The messages for options of another source.
const CLUSTER: &str = "--cluster needs --record or a store";
const NOT_OF_STORE: &str = "--at and --filesystem need a store";

/// Shows a screen or tables, until it is quit or there are no more readings.
pub fn run(top: &Top) -> Result<(), Error> {
    let profile = top.common.database.profile()?;
    let [interval, timeout] = [
        (top.interval, profile.interval, INTERVAL),
        (top.timeout, profile.timeout, TIMEOUT),
    ]
    .map(|(own, of_profile, default)| own.or(of_profile.map(|it| it.0)).unwrap_or(default));
    let is_plain = top.show.once || top.show.json;
    let store = store(top, &profile, !is_plain)?;
    let is_store = store.is_some();
    let command = top.users.as_ref().or(profile.users.as_ref());
    let users = command.map(|it| users(it, timeout)).transpose()?;
    let users = users.unwrap_or_default();
    let source: Box<dyn Source> = match (store, &top.recording) {
        (Some(store), _) => Box::new(store),
        (None, Some(path)) => Box::new(Replay::open(path, tracker(top, &profile, &users)?)?),
        (None, None) => {
            let tracker = tracker(top, &profile, &users)?;
            Box::new(commands(top, profile, tracker, timeout)?)
        }
    };
    let mode = match source.is_live() {
        true => Mode::Live,
        false => Mode::Replay,
    };
    let look = ScreenState {
        rows: top.show.rows,
        interval: Micros::try_from(interval.as_micros()).unwrap_or(Micros::MAX),
        speed: top.speed,
        clock: top.common.zone.clone(),
        ..ScreenState::new(mode)
    };
    let view = top.show.view(is_store, users);
    if is_plain {
        let form = Form {
            once: top.show.once,
            json: top.show.json,
            width: match top.show.width {
                Some(width) => usize::from(width),
                None => terminal::width().unwrap_or(WIDTH),
            },
        };
        return print::run(source, view, &look, form, interval, &mut stdout().lock());
    }
    if !stdout().is_terminal() || !stdin().is_terminal() {
        let message = "the screen needs a terminal; --once and --json do not";
        return Err(Error::other(exit::SYSTEM, message));
    }
    screen::run(&mut App::new(view, look), source)
}

/// Follows targets. Without users of the file system, those of this machine show which numbers are no jobs.
fn tracker(top: &Top, profile: &Profile, users: &UserNames) -> Result<Tracker, Error> {
    let formats = match top.format.is_empty() {
        true => &profile.formats,
        false => &top.format,
    };
    let users = match users.is_empty() {
        true => UserNames::read(&fs::read("/etc/passwd").unwrap_or_default()),
        false => users.clone(),
    };
    Tracker::new(formats, users).map_err(|error| Error::Usage(error.to_string()))
}

/// Returns the names of users that a command prints.
fn users(command: &str, timeout: Duration) -> Result<UserNames, Error> {
    let unread = |message: String| Error::other(exit::UNREAD, message);
    let printed = process::run(command, timeout, MOST)
        .map_err(|error| unread(format!("cannot read user names: {error}")))?;
    let users = UserNames::read(&printed.text);
    match users.is_empty() {
        true => Err(unread(
            "the command of --users printed no line of getent passwd".to_owned(),
        )),
        false => Ok(users),
    }
}

/// Returns the store, if the command line and the profile name no other source.
fn store(top: &Top, profile: &Profile, is_patient: bool) -> Result<Option<StoreSource>, Error> {
    let has_input = !(top.input.is_empty() && top.ssh.is_empty() && profile.input.is_empty());
    if profile.names_store() && has_input {
        let message = "the profile has both a database and an input: split it into two profiles";
        return Err(Error::other(exit::SETUP, message));
    }
    if has_input || top.recording.is_some() {
        return match (&top.cluster, &top.record, &top.at, &top.filesystem) {
            (Some(_), None, ..) => Err(Error::Usage(CLUSTER.to_owned())),
            (_, _, None, None) => Ok(None),
            _ => Err(Error::Usage(NOT_OF_STORE.to_owned())),
        };
    }
    let options = profile.complete(top.common.database.options.clone());
    let scope = stored::scope(top.cluster.clone(), top.filesystem.clone());
    let now = top.common.zone.at(Timestamp::now());
    let at = when::of_option("at", top.at.as_deref(), &now).map_err(Error::Usage)?;
    let at = at.map(|at| at.as_microsecond());
    let is_bare = top.common.database.profile.is_some() && !profile.names_store();
    if store::is_nowhere(&options) {
        return Err(match is_bare {
            true => Error::other(exit::SETUP, NO_COMMAND),
            false => Error::other(exit::NOTHING, NO_INPUT),
        });
    }
    let zone = top.common.zone.zone.clone();
    let store = StoreSource::new(&options, scope, at, zone, is_patient)?;
    Ok(Some(store))
}

/// Returns the commands of the profile and of the command line.
fn commands(
    top: &Top,
    profile: Profile,
    tracker: Tracker,
    limit: Duration,
) -> Result<Commands, Error> {
    let (names, commands) = (top.server.len(), top.input.len());
    if names > 0 && names != commands {
        let message = format!("{names} server names for {commands} inputs");
        return Err(Error::Usage(message));
    }
    let mut inputs = profile.input;
    let by_ssh = top.ssh.iter().map(|host| format!("{SSH} {host} {LCTL}"));
    for (at, command) in top.input.iter().cloned().chain(by_ssh).enumerate() {
        let server = top.server.get(at).cloned();
        let server = server.unwrap_or_else(|| server_of(&command));
        if inputs.contains_key(&server) {
            let message = format!("two inputs are from server {server}: name them with --server");
            return Err(Error::Usage(message));
        }
        inputs.insert(server, command);
    }
    let cluster = top.cluster.as_deref().unwrap_or_default();
    let recorder = top.record.as_deref();
    let recorder = recorder.map(|path| Recorder::open(path, cluster));
    Ok(Commands {
        inputs,
        limit,
        recorder: recorder.transpose()?,
        tracker,
    })
}
