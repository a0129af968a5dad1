//! Writes messages for people to stderr, each with a level.
//!
//! Under systemd, a line begins with its level in angle brackets, as the journal expects. The journal has the name of the
//! program already, so it is left out there.

use std::env;
use std::fmt::Display;
use std::io::{Write, stderr};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use indicatif::ProgressBar;
use jiff::Timestamp;
use rustix::fs::fstat;

#[cfg(test)]
mod tests;

/// The levels of messages, with the numbers of syslog. A smaller number is more urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    Error = 3,
    Warning = 4,
    Notice = 5,
    Info = 6,
}

/// The least urgent level that is shown.
static SHOWN: AtomicU8 = AtomicU8::new(Level::Notice as u8);

/// The progress bar that gives way to messages.
static BAR: OnceLock<ProgressBar> = OnceLock::new();

/// Lets a progress bar give way to messages. There is one in a process.
pub fn share_with(bar: &ProgressBar) {
    let _ = BAR.set(bar.clone());
}

/// Shows messages of this level and of more urgent ones, and no others.
pub fn show(least: Level) {
    SHOWN.store(least as u8, Ordering::Relaxed);
}

/// Reports that something failed: text was not read, not sent or lost.
pub fn report(message: impl Display) {
    write(Level::Error, message);
}

/// Reports a problem that has not caused a loss so far.
pub fn warn(message: impl Display) {
    write(Level::Warning, message);
}

/// Reports something that an administrator should know.
pub fn notice(message: impl Display) {
    write(Level::Notice, message);
}

/// Reports the course of normal work, which only `--verbose` shows.
pub fn info(message: impl Display) {
    write(Level::Info, message);
}

/// Returns a time as people read it.
pub fn moment(time: Timestamp) -> String {
    time.strftime("%F %TZ").to_string()
}

/// Describes the number of queued readings.
pub fn waiting(count: u64) -> String {
    match count {
        1 => "1 scrape queued".to_owned(),
        count => format!("{count} scrapes queued"),
    }
}

/// Formats lines for the end of a message, one per line.
pub fn list(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}

/// Writes one message to stderr. A failure to write is ignored, because it cannot be reported.
fn write(level: Level, message: impl Display) {
    if level as u8 <= SHOWN.load(Ordering::Relaxed) {
        let text = format(level, &message.to_string(), is_journal());
        let write = || {
            let _ = stderr().lock().write_all(text.as_bytes());
        };
        match BAR.get() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

/// Returns the lines of a message. The journal makes each line a separate entry.
fn format(level: Level, message: &str, in_journal: bool) -> String {
    // The message may quote programs and servers, whose control characters would affect a terminal.
    let message = message.replace(|c: char| c.is_control() && c != '\n', " ");
    if in_journal {
        let lines = message.lines();
        return lines
            .map(|line| format!("<{}>{line}\n", level as u8))
            .collect();
    }
    format!("jobstats-shipper: {message}\n")
}

/// Returns true if stderr is the stream to the journal that systemd named. It is not if stderr was redirected.
fn is_journal() -> bool {
    static IS_JOURNAL: OnceLock<bool> = OnceLock::new();
    *IS_JOURNAL.get_or_init(|| {
        let named = env::var("JOURNAL_STREAM").ok();
        let stream = fstat(stderr()).map(|file| format!("{}:{}", file.st_dev, file.st_ino));
        named.is_some() && named == stream.ok()
    })
}
