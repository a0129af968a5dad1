//! Serves users of this machine their own data, over HTTP on a socket with peer credentials.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use jobstats_client::FileError;
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::ask::config::Common;
use crate::ask::error::Error;

mod answer;
mod client;
mod inquiry;
mod listen;
mod question;
mod subordinates;
mod turns;
mod web;

pub use client::ask;
pub use inquiry::answer;
pub use question::{Kind, Question, Words};

/// The default socket.
pub const SOCKET: &str = "/run/jobstats/console.sock";

/// The list of exit codes that `--help` shows.
pub const HELP: &str = "\
Give the database as for the other commands, with a role set up by jobstats_grant_proxy(). It shows each user only
their own jobs. Users need no role, password or option: jobstats-console job, jobs, user, compare, report and events
use the service if no database is given.

Exit codes:
   0  ended by a signal
  64  wrong arguments
  71  local error, such as a missing directory
  78  not set up: the settings";

/// The options of `serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// Socket to listen on, open to all users of this machine
    #[arg(long, value_name = "PATH", default_value = SOCKET)]
    pub socket: PathBuf,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub limits: turns::Limits,
    #[command(flatten)]
    pub web: web::Web,
}

/// Runs `serve` until a signal.
pub fn run(options: &Serve) -> Result<(), Error> {
    let common = &options.common;
    let database = common.database.complete()?;
    let proxy = web::Proxy::new(&options.web)?;
    let service = Arc::new(answer::Service::new(
        database,
        options.limits,
        common.zone.clone(),
    )?);
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let socket = bind(&options.socket).map_err(FileError::at(&options.socket))?;
        let mut address = String::new();
        let mut web = None;
        if let Some((at, proxy)) = proxy {
            let listener = TcpListener::bind(at).await?;
            address = format!(" and {}", listener.local_addr()?);
            web = Some((listener, Arc::new(proxy)));
        }
        let mut end = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let stop = async {
            tokio::select! {
                _ = end.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        let path = options.socket.display();
        eprintln!("jobstats-console: listening on {path}{address}");
        listen::listen(socket, web, &service, stop).await;
        let _ = fs::remove_file(&options.socket);
        Ok::<_, Error>(())
    });
    // A question that is still being answered ends with the program.
    runtime.shutdown_background();
    served
}

/// Creates the socket and replaces a stale one.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket());
    if is_socket && UnixStream::connect(path).is_err() {
        fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o666))?;
    Ok(listener)
}
