//! Shows who uses a Lustre file system, from a store, or from `job_stats` as its servers print it, live or recorded.

use std::io::{self, IsTerminal, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use jobstats_client::duration::Length;
use jobstats_client::exit::{self, NOTHING, SETUP, SYSTEM, UNREAD, USAGE};
use jobstats_client::settings::SettingsError;
use jobstats_console::ask::config;
use jobstats_console::ask::error;
use jobstats_console::commands::generate;
use jobstats_console::commands::inquiry;
use jobstats_console::commands::options::{Command, Options, Top};
use jobstats_console::export;
use jobstats_console::live::users::Users;
use jobstats_console::show::page::{Look, Mode};
use jobstats_console::show::print::{self, Form};
use jobstats_console::source::process;
use jobstats_console::source::recording::{self, Recorder};
use jobstats_console::source::stored::{self, Scope};
use jobstats_console::source::{self, Commands, Input, Replay, Source, Stored, server_of};
use jobstats_console::terminal::app::App;
use jobstats_console::terminal::screen;
use jobstats_console::terminal::signals;
use jobstats_console::values::text;

/// The time between readings.
const INTERVAL: Duration = Duration::from_secs(10);

/// The time limit of a command.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The largest text of a server. Longer texts cannot be read.
const MOST: usize = 1 << 30;

/// The width of a table that is not printed on a terminal.
const WIDTH: usize = 100;

/// An error that ends the program.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(
        "nothing to read: name a store by --database-url, --config or JOBSTATS_DATABASE_URL, or give --input, --profile or the \
             directory of a recording"
    )]
    NoInput,
    #[error("--cluster names the cluster of --record, or of a store")]
    Cluster,
    #[error("--at and --filesystem are of a store, which the profile does not name")]
    NotOfStore,
    #[error("{names} names of servers for {inputs} inputs")]
    Names { names: usize, inputs: usize },
    #[error("two inputs are of the server {0}: name them with --server")]
    SameName(String),
    #[error(
        "the profile has neither a database_url or config, nor an input, which is a table of commands by server"
    )]
    NoCommand,
    #[error("the profile has both a database and an input: make two profiles of it")]
    TwoSources,
    #[error("the names of users cannot be read: {0}")]
    Users(process::Error),
    #[error("the command of --users prints no line of getent passwd")]
    NoUsers,
    #[error("the screen needs a terminal; --once and --json do not")]
    NoTerminal,
    #[error(transparent)]
    Config(#[from] config::Error),
    #[error(transparent)]
    Source(#[from] source::Error),
    #[error(transparent)]
    Record(#[from] recording::Error),
    #[error(transparent)]
    Screen(#[from] screen::Error),
    #[error(transparent)]
    Print(#[from] print::Error),
    #[error(transparent)]
    Generate(#[from] generate::Error),
    #[error(transparent)]
    Inquiry(#[from] error::Error),
    #[error(transparent)]
    Export(#[from] export::Error),
}

impl Error {
    fn code(&self) -> u8 {
        match self {
            Self::Names { .. } | Self::SameName(_) | Self::Cluster | Self::NotOfStore => USAGE,
            Self::NoInput => NOTHING,
            Self::Config(_) | Self::NoCommand | Self::TwoSources => SETUP,
            Self::Source(error)
            | Self::Screen(screen::Error::Source(error))
            | Self::Print(print::Error::Source(error)) => of_source(error),
            Self::Print(print::Error::Unread(_)) | Self::Users(_) | Self::NoUsers => UNREAD,
            Self::Inquiry(error) => error.code(),
            Self::Export(error) => error.code(),
            Self::NoTerminal
            | Self::Record(_)
            | Self::Screen(_)
            | Self::Print(_)
            | Self::Generate(_) => SYSTEM,
        }
    }
}

fn of_source(error: &source::Error) -> u8 {
    match error {
        source::Error::Store(error) => error.kind().map_or(NOTHING, exit::code),
        source::Error::Nothing(_) => NOTHING,
        source::Error::Format(_) => USAGE,
        source::Error::Record(_) | source::Error::Directory { .. } => SYSTEM,
    }
}

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            // Help and version are errors here too, but go to stdout.
            let _ = error.print();
            return if error.use_stderr() {
                USAGE.into()
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    signals::end_commands();
    let ended = match options.command {
        Command::Top(top) => show(&top),
        Command::Job(job) => inquiry::job(&job).map_err(Error::from),
        Command::User(named) => inquiry::user(&named).map_err(Error::from),
        Command::Target(named) => inquiry::target(&named).map_err(Error::from),
        Command::Compare(compare) => inquiry::compare(&compare).map_err(Error::from),
        Command::Report(report) => inquiry::report(&report).map_err(Error::from),
        Command::Export(export) => export::run(&export).map_err(Error::from),
        Command::Generate(generate) => generate::write(&generate.directory).map_err(Error::from),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the output has seen enough.
        Err(Error::Print(print::Error::Output(error)))
            if error.kind() == io::ErrorKind::BrokenPipe =>
        {
            ExitCode::SUCCESS
        }
        Err(Error::Inquiry(error)) if error.is_enough() => ExitCode::SUCCESS,
        Err(error) => {
            let lines = error.to_string();
            let lines: Vec<_> = lines.lines().map(text::shown).collect();
            eprintln!("jobstats-console: {}", lines.join("\n"));
            error.code().into()
        }
    }
}

fn show(top: &Top) -> Result<(), Error> {
    let profile = match &top.profile {
        Some(name) => config::profile(top.profiles.as_deref(), name)?,
        None => config::Profile::default(),
    };
    let formats = if top.format.is_empty() {
        profile.formats.clone()
    } else {
        top.format.clone()
    };
    let interval = top
        .interval
        .or(profile.interval.map(|Length(length)| length))
        .unwrap_or(INTERVAL);
    let timeout = top
        .timeout
        .or(profile.timeout.map(|Length(length)| length))
        .unwrap_or(TIMEOUT);
    let is_plain = top.show.once || top.show.json;
    let store = store(top, &profile, !is_plain)?;
    let is_store = store.is_some();
    let source: Box<dyn Source> = match (store, &top.recording) {
        (Some(store), _) => Box::new(store),
        (None, Some(path)) => Box::new(Replay::open(path, &formats)?),
        (None, None) => Box::new(commands(top, &profile, &formats, timeout)?),
    };
    let micros = i64::try_from(interval.as_micros()).unwrap_or(i64::MAX);
    let mode = match source.is_live() {
        true => Mode::Live(micros),
        false => Mode::Replay(top.speed, None),
    };
    let look = Look {
        rows: top.show.rows,
        ..Look::new(mode)
    };
    let mut view = top.show.view();
    view.has_accounts = is_store;
    if let Some(command) = top.users.as_ref().or(profile.users.as_ref()) {
        let printed = process::run(command, timeout, MOST).map_err(Error::Users)?;
        view.users = Arc::new(Users::read(&printed.text));
        if view.users.is_empty() {
            return Err(Error::NoUsers);
        }
    }
    if is_plain {
        let form = Form {
            once: top.show.once,
            json: top.show.json,
            is_store,
            width: match top.show.width {
                Some(width) => usize::from(width),
                None => print::terminal_width().unwrap_or(WIDTH),
            },
        };
        print::run(source, (&view, &look), form, interval, &mut stdout().lock())?;
        return Ok(());
    }
    if !stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(Error::NoTerminal);
    }
    let mut app = App::new(view, look);
    if is_store {
        app = app.with_past(micros, top.speed);
    }
    screen::run(&mut app, source)?;
    Ok(())
}

/// Returns the store, if the command line and the profile name no other source.
fn store(top: &Top, profile: &config::Profile, is_patient: bool) -> Result<Option<Stored>, Error> {
    let has_input = !top.input.is_empty() || !profile.input.is_empty();
    if profile.names_store() && has_input {
        return Err(Error::TwoSources);
    }
    if has_input || top.recording.is_some() {
        return match (&top.cluster, &top.record, &top.at, &top.filesystem) {
            (Some(_), None, ..) => Err(Error::Cluster),
            (_, _, None, None) => Ok(None),
            _ => Err(Error::NotOfStore),
        };
    }
    let options = profile.complete(top.database.clone());
    let scope = Scope {
        cluster: top.cluster.clone(),
        filesystem: top.filesystem.clone(),
    };
    let at = top.at.map(|at| at.as_microsecond());
    let is_bare = top.profile.is_some() && !profile.names_store();
    match Stored::new(&options, scope, at, is_patient) {
        Ok(store) => Ok(Some(store)),
        Err(stored::Error::Client(jobstats_client::Error::Settings(SettingsError::Nowhere))) => {
            Err(if is_bare {
                Error::NoCommand
            } else {
                Error::NoInput
            })
        }
        Err(error) => Err(source::Error::from(error).into()),
    }
}

/// Returns the commands of the profile and of the command line.
fn commands(
    top: &Top,
    profile: &config::Profile,
    formats: &[String],
    timeout: Duration,
) -> Result<Commands, Error> {
    let of_profile = profile.input.clone().into_iter();
    let of_profile = of_profile.map(|(server, command)| Input { server, command });
    let inputs: Vec<_> = of_profile.chain(inputs(top)?).collect();
    distinct(&inputs)?;
    let cluster = top.cluster.as_deref().unwrap_or_default();
    let recorder = top
        .record
        .as_deref()
        .map(|path| Recorder::open(path, cluster));
    let recorder = recorder.transpose()?;
    Ok(Commands::new(inputs, formats, (timeout, MOST), recorder)?)
}

/// Returns the inputs of the command line, each with the name of its server.
fn inputs(top: &Top) -> Result<Vec<Input>, Error> {
    let (names, inputs) = (top.server.len(), top.input.len());
    if names > 0 && names != inputs {
        return Err(Error::Names { names, inputs });
    }
    let named = top.input.iter().enumerate().map(|(at, command)| Input {
        server: top
            .server
            .get(at)
            .cloned()
            .unwrap_or_else(|| server_of(command)),
        command: command.clone(),
    });
    Ok(named.collect())
}

fn distinct(inputs: &[Input]) -> Result<(), Error> {
    let mut names: Vec<_> = inputs.iter().map(|input| &input.server).collect();
    names.sort_unstable();
    match names.windows(2).find(|two| two[0] == two[1]) {
        Some(same) => Err(Error::SameName(same[0].clone())),
        None => Ok(()),
    }
}
