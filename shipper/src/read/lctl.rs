//! Runs `lctl get_param` and decides whether its output counts.

use std::path::Path;
use std::process::{Command, ExitStatus};

use jobstats_client::process::ending;
use rustix::process::geteuid;

use crate::frame::{LCTL, Reading};
use crate::read::error::ReadError;
use crate::read::sources::Source;
use crate::system::lock::Lock;
use crate::system::message::warn;
use crate::system::process;

#[cfg(test)]
mod tests;

/// The parameters to read. The cleanup intervals come first, so that each is known before the text that it explains.
const PATTERNS: [&str; 4] = [
    "mdt.*.job_cleanup_interval",
    "obdfilter.*.job_cleanup_interval",
    "mdt.*.job_stats",
    "obdfilter.*.job_stats",
];

/// The exit codes of lctl when a pattern matches nothing: ENOENT, and ESRCH of Lustre 2.5.
const NO_MATCH: [i32; 2] = [2, 3];

/// Reads all targets of this server. lctl inherits the lock, if there is one.
pub fn read(source: &Source, path: &Path, lock: Option<&Lock>) -> Result<Reading, ReadError> {
    let mut recorder = source.recorder();
    let mut command = Command::new(path);
    command.arg("get_param").args(PATTERNS);
    // The messages of lctl are compared, so they must be in English.
    command.env("LC_ALL", "C");
    let process = process::start(&mut command, lock).map_err(|cause| ReadError::NoLctl {
        path: path.to_owned(),
        cause,
    })?;
    let (status, said) = source.finish(process, LCTL, &mut recorder)?;
    let reading = recorder.finish()?;
    judge(status, &said, &reading, geteuid().is_root())?;
    Ok(reading)
}

/// Decides whether the reading counts, and reports the messages of lctl.
///
/// From 2.16 on, lctl tells only root that a pattern matched nothing: `is_root` says who runs lctl. To others the exit code
/// must say so.
fn judge(
    status: ExitStatus,
    said: &[String],
    reading: &Reading,
    is_root: bool,
) -> Result<(), ReadError> {
    let (no_match, other): (Vec<_>, Vec<_>) =
        said.iter().cloned().partition(|line| is_no_match(line));
    let ended_without_match = status.code().is_some_and(|code| NO_MATCH.contains(&code));
    let has_no_match = !no_match.is_empty() || (ended_without_match && !is_root);
    let only_no_match = ended_without_match && has_no_match;
    // A line that is no error, such as a warning of the linker, says nothing about the reading.
    let has_error = other.iter().any(|line| is_error(line));
    let is_well = status.success() || (only_no_match && !has_error);
    if !is_well {
        return Err(ReadError::Failed {
            program: LCTL,
            ending: ending(status),
            said: said.to_vec(),
        });
    }
    if other.iter().any(|line| is_unread(line)) {
        return Err(ReadError::Incomplete(other));
    }
    if reading.index.texts.is_empty() && has_no_match {
        return Err(ReadError::NoTarget);
    }
    if !reading.has_target() {
        return Err(ReadError::Unknown(other));
    }
    // Up to Lustre 2.12, lctl skips a target that goes away during the poll without a message, and the exit code of a
    // pattern that matched nothing before hides the failure.
    if !status.success() && !reading.whole {
        return Err(ReadError::Cut);
    }
    for line in other {
        warn(format_args!("lctl: {line}"));
    }
    Ok(())
}

/// Returns true if the message says that a pattern matched nothing. This is normal: on an OSS nothing matches `mdt.*`,
/// on an MDS nothing matches `obdfilter.*`.
fn is_no_match(line: &str) -> bool {
    line.starts_with("error: get_param: ")
        && PATTERNS
            .iter()
            .any(|pattern| line.contains(pattern) || line.contains(&pattern.replace('.', "/")))
        && (line.ends_with("No such file or directory") || line.ends_with("Found no match"))
}

/// Returns true if the message says that a parameter could not be read. Lustre 2.5 and 2.17 can still end with exit
/// code 0.
fn is_unread(line: &str) -> bool {
    is_error(line) && (line.contains("job_stats") || line.contains("job_cleanup_interval"))
}

fn is_error(line: &str) -> bool {
    line.starts_with("error: ")
}
