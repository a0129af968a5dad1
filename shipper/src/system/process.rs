//! Starts programs that inherit no password, end with the shipper and may hold its lock.

use std::env;
use std::ffi::OsString;
use std::io;
use std::process::Command;
use std::time::Duration;

use jobstats_client::files::variables;
use jobstats_client::program::process::{ExitOutcome, Process};

use crate::system::lock::Lock;
use crate::system::message::warn;
use crate::system::notify;

mod leash;
#[cfg(test)]
mod tests;

/// The time to wait for a killed program before reporting that it is stuck.
const PATIENCE: Duration = Duration::from_secs(5);

/// Starts a program. It inherits the lock: if this process is killed, the lock is held until the program and its children have ended, so
/// that only one runs at a time.
pub fn start(command: &mut Command, lock: Option<&Lock>) -> io::Result<Process> {
    for name in secrets(env::vars_os()) {
        command.env_remove(name);
    }
    Process::start(leash::tie(command, lock)?)
}

/// Passes on the output of a program, which has this name in messages, until the program ends or the time is over. Then it is killed.
pub fn finish(
    mut process: Process,
    name: &str,
    limit: Duration,
    sink: impl FnMut(&[u8], Duration) -> io::Result<()>,
) -> io::Result<ExitOutcome> {
    let ended = process.finish(limit, true, sink);
    // A second lctl would only wait for the same lock as one that is stuck.
    if !process.kill(PATIENCE)? {
        let id = process.id();
        warn(format_args!(
            "{name} (process {id}) is stuck in the kernel; waiting for it"
        ));
        notify::rest();
        drop(process);
        notify::beat();
    }
    ended
}

/// Returns the variables that hold a password: those for the database, and proxies with a password in the URL. Child processes do not need
/// them.
fn secrets(environment: impl Iterator<Item = (OsString, OsString)>) -> Vec<OsString> {
    let is_secret = |(name, value): &(OsString, OsString)| {
        let has_user = value.as_encoded_bytes().contains(&b'@');
        let name = name.to_string_lossy();
        let is_proxy = name.to_ascii_lowercase().ends_with("_proxy");
        name == "PGPASSWORD" || name == variables::URL || is_proxy && has_user
    };
    let secrets = environment.filter(is_secret);
    secrets.map(|(name, _)| name).collect()
}
