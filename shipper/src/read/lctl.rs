//! Runs `lctl get_param` and decides whether its output counts.

use std::path::Path;
use std::process::{Command, ExitStatus};

use jobstats_client::program::process::ending;
use rustix::process::geteuid;

use crate::frame::{LCTL, Reading};
use crate::read::error::ReadError;
use crate::read::sources::Source;
use crate::system::lock::Lock;
use crate::system::message::{info, warn};
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

/// The exit codes of lctl for a pattern without match: ENOENT, and ESRCH in Lustre 2.5.
const NO_MATCH: [i32; 2] = [2, 3];

/// Reads all targets of this server, after other parameters, whose text is in one piece so. If lctl does not get to their end, it is called
/// again without them. lctl inherits the lock, if there is one.
pub fn read(
    source: &Source,
    path: &Path,
    others: &[String],
    lock: Option<&Lock>,
) -> Result<Reading, ReadError> {
    let mut recorder = source.recorder();
    let mut command = Command::new(path);
    command.arg("get_param").args(others).args(PATTERNS);
    // The messages of lctl are compared, so they must be in English.
    command.env("LC_ALL", "C");
    let process = process::start(&mut command, lock).map_err(|cause| ReadError::NoLctl {
        path: path.to_owned(),
        cause,
    })?;
    let ended = source.finish(process, LCTL, &mut recorder);
    let is_at_end = |status: ExitStatus| status.success() || is_of_no_match(status);
    let why = match &ended {
        Err(error) => Some(error.to_string()),
        Ok((status, _)) => (!is_at_end(*status)).then(|| ending(*status)),
    };
    if let Some(why) = why.filter(|_| !others.is_empty() && recorder.is_before_targets()) {
        warn(format_args!(
            "calling lctl again for job_stats alone: {why}"
        ));
        return read(source, path, &[], lock);
    }
    let (status, said) = ended?;
    let mut reading = recorder.finish()?;
    reading.unread = judge(status, &said, &reading, geteuid().is_root())?;
    for line in &reading.unread {
        info(format_args!("lctl: {line}"));
    }
    Ok(reading)
}

fn is_of_no_match(status: ExitStatus) -> bool {
    status.code().is_some_and(|code| NO_MATCH.contains(&code))
}

/// Decides whether the reading counts, and reports the messages of lctl. Those about other parameters than `job_stats` are returned: they
/// never keep a reading from counting.
///
/// From 2.16 on, lctl reports a pattern without match only to root: `is_root` tells whether root runs lctl. For other users only the exit
/// code shows it.
fn judge(
    status: ExitStatus,
    said: &[String],
    reading: &Reading,
    is_root: bool,
) -> Result<Vec<String>, ReadError> {
    let (others, of_job_stats): (Vec<_>, Vec<_>) =
        said.iter().cloned().partition(|line| is_of_other(line));
    let (no_match, other): (Vec<_>, Vec<_>) =
        of_job_stats.into_iter().partition(|line| is_no_match(line));
    let ended_without_match = is_of_no_match(status);
    let has_no_match = !no_match.is_empty() || (ended_without_match && !is_root);
    // lctl ends with the code of its first error.
    let is_explained = match ended_without_match {
        true => has_no_match || !others.is_empty(),
        false => status.code().is_some() && others.iter().any(|line| !is_missing(line)),
    };
    // Lines that are not errors, such as warnings of the linker, do not affect the reading.
    let has_error = other.iter().any(|line| is_error(line));
    let is_well = status.success() || (is_explained && !has_error);
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
    if reading.targets() == 0 {
        // The text of other parameters is no target, but does not prove that there is no target.
        let is_none = match no_match.len() {
            count if reading.index.texts.is_empty() || count == 0 => has_no_match,
            count => count >= PATTERNS.len(),
        };
        return Err(match is_none {
            true => ReadError::NoTarget,
            false => ReadError::Unknown(other),
        });
    }
    // Up to Lustre 2.12, lctl silently skips a target that disappears during the poll, and the exit code of an earlier pattern without
    // match hides the failure.
    if !status.success() && !reading.whole {
        return Err(ReadError::Cut);
    }
    for line in other {
        warn(format_args!("lctl: {line}"));
    }
    Ok(others)
}

/// Returns true for an error about another parameter than `job_stats`: it has the path or the pattern of one. An error without any may be
/// about all of them.
fn is_of_other(line: &str) -> bool {
    is_error(line) && line.contains(['\'', '/']) && !names_job_stats(line)
}

/// Returns true if the message reports a missing parameter.
fn is_missing(line: &str) -> bool {
    line.ends_with("No such file or directory") || line.ends_with("Found no match")
}

fn names_job_stats(line: &str) -> bool {
    line.contains("job_stats") || line.contains("job_cleanup_interval")
}

/// Returns true if the message reports a pattern without match. This is normal: an OSS has no `mdt.*`, an MDS no `obdfilter.*`.
fn is_no_match(line: &str) -> bool {
    line.starts_with("error: get_param: ")
        && PATTERNS
            .iter()
            .any(|pattern| line.contains(pattern) || line.contains(&pattern.replace('.', "/")))
        && is_missing(line)
}

/// Returns true if the message reports that a parameter could not be read. Lustre 2.5 and 2.17 may still end with exit code 0.
fn is_unread(line: &str) -> bool {
    is_error(line) && names_job_stats(line)
}

fn is_error(line: &str) -> bool {
    line.starts_with("error: ")
}
