//! Lets the times of readings go on evenly when the wall clock is stepped.
//!
//! A clock that is wrong for a few readings does lasting harm: the database rejects texts of the future, and after a time
//! that was too late it rejects right ones and doubts the start of every entry that began in between. So the times of
//! readings follow the steady clock since boot for an hour after a step, and the database rejects no text of that hour for
//! its time. The `start_time` of entries comes from Lustre: what begins while the clock is behind stays doubtful. After
//! that hour, and within the first minutes after boot, when a time server sets the clock, the new time counts.
//!
//! If the database rejects readings for their time, its clock or this one is wrong. If this one is then stepped, it was this one: the new
//! time counts at once. If the database takes a later reading without a step, it was the other: those readings are sent again.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::files::own_file;

use crate::system::message::{notice, warn};

#[cfg(test)]
mod tests;

/// The file of the spool with the clocks at the last reading.
const FILE: &str = "clock";

/// The file of the spool with the number of the first reading that the database rejected for its time, while this clock went on evenly.
const REJECTED: &str = "clock.rejected";

/// The smallest difference between the clocks that counts as a step.
const STEP: SignedDuration = SignedDuration::from_secs(10);

/// The period in which a step does not count.
const PATIENCE: SignedDuration = SignedDuration::from_hours(1);

/// The time after boot during which a step counts at once.
const SETTLING: SignedDuration = SignedDuration::from_mins(15);

/// The clocks at a reading.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Clocks {
    /// The boot, as the kernel names it.
    boot: String,
    up: SignedDuration,
    /// The time of the reading: from the wall clock, or from the steady clock after a step.
    time: Timestamp,
    /// The time since boot at which a step was found that does not count yet.
    stepped: Option<SignedDuration>,
}

/// Returns the time to add to the wall clock for a reading that begins now, and keeps the clocks in this directory. A
/// directory that cannot be used leaves the wall clock as it is.
pub fn correction(directory: &Path) -> SignedDuration {
    let Ok(now) = Clocks::now() else {
        return SignedDuration::ZERO;
    };
    let path = directory.join(FILE);
    let before = own_file::read(&path).and_then(io::read_to_string);
    let before = before.unwrap_or_default();
    let before = Clocks::parse(&before);
    let (correction, clocks) = judge(before.as_ref(), now, || forget_rejected(directory));
    if !correction.is_zero() {
        warn(format_args!(
            "the clock of this machine was stepped by {:#}; scrape times ignore the step for an hour",
            SignedDuration::from_secs(-correction.as_secs())
        ));
    } else if before.is_some_and(|before| before.stepped.is_some()) {
        notice(format_args!(
            "scrape times follow the clock of this machine again"
        ));
    }
    match clocks.write(&path) {
        Ok(()) => correction,
        Err(_) => SignedDuration::ZERO,
    }
}

/// Notes that the database rejected a reading for its time, if this clock is followed and no earlier one is noted. Without a note the
/// reading stays set aside.
pub fn note_rejected(directory: &Path, number: u64) {
    if directory.join(FILE).exists() && rejected_since(directory).is_none() {
        let line = format!("{number}\n");
        let _ = own_file::replace(&directory.join(REJECTED), ".new-", line.as_bytes(), false);
    }
}

/// Returns the number of the first reading that is noted.
pub fn rejected_since(directory: &Path) -> Option<u64> {
    let noted = own_file::read(&directory.join(REJECTED)).and_then(io::read_to_string);
    noted.ok()?.trim().parse().ok()
}

/// Removes the note. Returns true if there was one.
pub fn forget_rejected(directory: &Path) -> bool {
    fs::remove_file(directory.join(REJECTED)).is_ok()
}

/// Compares the clocks with those at the previous reading. Calls `forget_rejected` if the times of earlier readings are doubtful; it
/// returns true if the database has rejected one for its time.
fn judge(
    before: Option<&Clocks>,
    now: Clocks,
    forget_rejected: impl FnOnce() -> bool,
) -> (SignedDuration, Clocks) {
    let Some(before) = before.filter(|before| before.boot == now.boot && before.up <= now.up)
    else {
        forget_rejected();
        return (SignedDuration::ZERO, now);
    };
    let steady = before.time.saturating_add(now.up - before.up);
    let steady = steady.unwrap_or(Timestamp::MAX);
    let step = now.time.duration_since(steady);
    let stepped = before.stepped.unwrap_or(now.up);
    let counts = step.abs() <= STEP
        || forget_rejected()
        || now.up < SETTLING
        || now.up - stepped >= PATIENCE;
    if counts {
        return (SignedDuration::ZERO, now);
    }
    let clocks = Clocks {
        time: steady,
        stepped: Some(stepped),
        ..now
    };
    (-step, clocks)
}

impl Clocks {
    fn now() -> io::Result<Self> {
        let uptime = fs::read_to_string("/proc/uptime")?;
        let seconds = uptime.split(' ').next().and_then(|word| word.parse().ok());
        let seconds: f64 = seconds.ok_or(io::ErrorKind::InvalidData)?;
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        Ok(Self {
            boot: boot.trim().to_owned(),
            up: SignedDuration::try_from_secs_f64(seconds).map_err(io::Error::other)?,
            time: Timestamp::now(),
            stepped: None,
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let boot = words.next()?.to_owned();
        let mut number = || words.next()?.parse().ok();
        let up = SignedDuration::from_micros(number()?);
        let time = Timestamp::from_microsecond(number()?).ok()?;
        let stepped = number()?;
        Some(Self {
            boot,
            up,
            time,
            stepped: (stepped >= 0).then(|| SignedDuration::from_micros(stepped)),
        })
    }

    /// Overwrites the file with as many bytes as it has, so that a full disk has room for them.
    fn write(&self, path: &Path) -> io::Result<()> {
        let micros = |time: SignedDuration| time.as_micros() as i64;
        let line = format!(
            "{} {:020} {:020} {:020}\n",
            self.boot,
            micros(self.up),
            self.time.as_microsecond(),
            self.stepped.map_or(-1, micros)
        );
        own_file::open(path)?.write_all_at(line.as_bytes(), 0)
    }
}
