//! Runs a program to its end or to a time limit.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use jobstats_client::variables;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::system::lock::Lock;
use crate::system::message::warn;
use crate::system::notify;
use crate::system::pump::{Stream, pump};

mod leash;
#[cfg(test)]
mod tests;

/// The number of bytes of a program's stderr that are kept.
const MOST_MESSAGES: usize = 16 << 10;

/// The time to wait for a killed program before reporting that it is stuck.
const PATIENCE: Duration = Duration::from_secs(5);

/// The end of a program.
#[derive(Debug)]
pub struct Ended {
    /// The exit status. `None` means that the program was killed at its time limit.
    pub status: Option<ExitStatus>,
    /// The lines that the program printed on its stderr.
    pub said: Vec<String>,
}

/// A program in a process group of its own, which is killed when this value is dropped or this process ends.
pub struct Process {
    name: String,
    started: Instant,
    child: Child,
    ended: bool,
}

impl Process {
    /// Starts a program, which has this name in messages. It inherits the lock: if this process is killed, the lock is held
    /// until the program and its children have ended, so that no second one starts beside them.
    ///
    /// # Errors
    ///
    /// Fails if the program cannot be run.
    pub fn start(command: &mut Command, name: &str, lock: Option<&Lock>) -> io::Result<Self> {
        let started = Instant::now();
        for name in secrets(env::vars_os()) {
            command.env_remove(name);
        }
        let child = leash::tie(command, lock)?
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        Ok(Self {
            name: name.to_owned(),
            started,
            child,
            ended: false,
        })
    }

    /// Passes on what the program prints, each piece with its time since the start, until the program ends or the time is
    /// over.
    ///
    /// # Errors
    ///
    /// Fails if a pipe or the sink fails. The program is killed then.
    pub fn finish(
        mut self,
        limit: Duration,
        mut sink: impl FnMut(&[u8], Duration) -> io::Result<()>,
    ) -> io::Result<Ended> {
        let start = self.started;
        let deadline = start + limit;
        let mut said = Vec::new();
        let streams = self.streams(
            |text| sink(text, start.elapsed()),
            |text| {
                said.extend_from_slice(&text[..text.len().min(MOST_MESSAGES - said.len())]);
                Ok(())
            },
        );
        let status = if pump(streams, deadline)? {
            self.wait_until(deadline)?
        } else {
            None
        };
        if status.is_none() {
            self.kill()?;
        }
        Ok(Ended {
            status,
            said: lines(&said),
        })
    }

    fn streams<'a>(
        &mut self,
        on_text: impl FnMut(&[u8]) -> io::Result<()> + 'a,
        on_message: impl FnMut(&[u8]) -> io::Result<()> + 'a,
    ) -> Vec<Stream<'a>> {
        let text = self.child.stdout.take().map(|source| Stream {
            source: Box::new(source),
            sink: Box::new(on_text),
        });
        let messages = self.child.stderr.take().map(|source| Stream {
            source: Box::new(source),
            sink: Box::new(on_message),
        });
        text.into_iter().chain(messages).collect()
    }

    fn wait_until(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        loop {
            let status = self.child.try_wait()?;
            self.ended = status.is_some();
            if self.ended || Instant::now() >= deadline {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Kills the program with all that it started, and waits until it is gone. A process inside the kernel cannot be
    /// killed, and a second lctl beside it would only wait for the same lock.
    fn kill(&mut self) -> io::Result<()> {
        if self.ended {
            return Ok(());
        }
        // This fails only if nothing is left to kill.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        if self.wait_until(Instant::now() + PATIENCE)?.is_none() {
            warn(format_args!(
                "{} (process {}) is stuck in the kernel; waiting for it",
                self.name,
                self.child.id()
            ));
            notify::rest();
            self.child.wait()?;
            notify::beat();
            self.ended = true;
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nothing more can be done about a failure here.
        let _ = self.kill();
    }
}

/// Returns the variables that hold a password: those of the database, and proxies whose URL has one. What the shipper starts needs none.
fn secrets(environment: impl Iterator<Item = (OsString, OsString)>) -> Vec<OsString> {
    let is_secret = |(name, value): &(OsString, OsString)| {
        let has_user = value.as_encoded_bytes().contains(&b'@');
        let is_proxy = name
            .to_string_lossy()
            .to_ascii_lowercase()
            .ends_with("_proxy");
        name == "PGPASSWORD" || name == variables::URL || is_proxy && has_user
    };
    let secrets = environment.filter(is_secret);
    secrets.map(|(name, _)| name).collect()
}

/// Describes how a program ended.
pub fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

fn lines(said: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(said)
        .lines()
        .map(str::to_owned)
        .filter(|line| !line.trim().is_empty())
        .collect()
}
