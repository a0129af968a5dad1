//! The files of a simulated server: its clock, its calls of lctl, its spool. The shipper's lctl and the program that injects
//! faults share them.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The start of the simulated time: 2025-06-01T05:00:00Z, in nanoseconds since 1970. Targets have begun to count anew not long
/// before, so that lctl has little to play.
pub const START: i64 = 1_748_754_000 * SECOND;

/// A second in nanoseconds.
pub const SECOND: i64 = 1_000_000_000;

/// The simulated time between two readings.
const INTERVAL: i64 = 120 * SECOND;

/// The true time of a reading. It is in the second half of a second, in which nothing happens.
pub fn time_of(call: u64) -> i64 {
    START + (call as i64 + 1) * INTERVAL + 600_000_000
}

/// The manner in which lctl ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Prints everything.
    Whole,
    /// Prints nothing and hangs.
    Hangs,
    /// Prints half of the text and does not end.
    HangsHalf,
    /// Prints nothing and fails.
    Fails,
    /// Prints half of the text and ends with an error.
    FailsHalf,
    /// Prints half of the text and is killed.
    Killed,
    /// Prints half of the text, and hides that behind the exit code for a pattern without match.
    Hides,
}

impl Mode {
    /// All manners.
    pub const ALL: [Self; 7] = [
        Self::Whole,
        Self::Hangs,
        Self::HangsHalf,
        Self::Fails,
        Self::FailsHalf,
        Self::Killed,
        Self::Hides,
    ];
}

/// A call of lctl.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// The time that the clock showed when the reading began, in nanoseconds since 1970.
    pub shown: i64,
    /// The number of the last reading in the spool before this call.
    pub sequence: u64,
    /// The manner in which lctl ended.
    pub mode: Mode,
}

/// The directory of a server.
#[derive(Debug, Clone)]
pub struct Place {
    directory: PathBuf,
}

impl Place {
    /// Names the directory.
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
        }
    }

    /// Returns the path of a file.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The directory that may become full: it has the spool and temporary files.
    pub fn disk(&self) -> PathBuf {
        self.file("disk")
    }

    /// The spool.
    pub fn spool(&self) -> PathBuf {
        self.disk().join("spool")
    }

    /// Sets the manner in which the next calls of lctl end.
    pub fn set_mode(&self, mode: Mode) {
        self.replace("mode", &(mode as usize).to_string());
    }

    /// Returns true if the next calls of lctl will not end.
    pub fn hangs(&self) -> bool {
        matches!(self.mode(), Mode::Hangs | Mode::HangsHalf)
    }

    fn mode(&self) -> Mode {
        Mode::ALL[self.number("mode") as usize]
    }

    /// Sets the lead of the clock, and publishes it at once.
    pub fn set_error(&self, error: i64) {
        self.replace("error", &error.to_string());
        self.show_time();
    }

    /// Shows the time of the next call.
    pub fn show_time(&self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let right = time_of(self.calls().len() as u64);
        let shown = right + self.number("error");
        let words = [shown, now.as_nanos() as i64, right].map(i64::to_ne_bytes);
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(self.file("clock"))
            .unwrap();
        file.write_all_at(words.as_flattened(), 0).unwrap();
    }

    /// Notes a call of lctl, moves the clock on, and returns the number of the call and the manner of its end. The shipper has
    /// looked at the clock before.
    pub fn begin_call(&self) -> (u64, Mode) {
        let number = self.calls().len() as u64;
        let mode = self.mode();
        let mut shown = [0; 8];
        let clock = File::open(self.file("clock")).unwrap();
        clock.read_exact_at(&mut shown, 0).unwrap();
        let line = format!(
            "{} {} {}\n",
            i64::from_ne_bytes(shown),
            self.sequence(),
            mode as usize
        );
        let mut calls = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.file("calls"))
            .unwrap();
        calls.write_all(line.as_bytes()).unwrap();
        // If this process is killed here, the next call has the same label. Only that one can be stored.
        self.show_time();
        (number, mode)
    }

    /// Returns the calls so far. The first has the number 0.
    pub fn calls(&self) -> Vec<Call> {
        let text = fs::read_to_string(self.file("calls")).unwrap_or_default();
        let call = |line: &str| {
            let words: Vec<i64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            Call {
                shown: words[0],
                sequence: words[1] as u64,
                mode: Mode::ALL[words[2] as usize],
            }
        };
        text.lines().map(call).collect()
    }

    /// Returns the number of the last reading that the shipper tried to write to the spool.
    pub fn sequence(&self) -> u64 {
        let text = fs::read_to_string(self.spool().join("sequence")).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }

    fn number(&self, name: &str) -> i64 {
        let text = fs::read_to_string(self.file(name)).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }

    /// Replaces a file in one step.
    fn replace(&self, name: &str, text: &str) {
        let new = self.file(&format!("{name}.{}", std::process::id()));
        fs::write(&new, text).unwrap();
        fs::rename(new, self.file(name)).unwrap();
    }
}

/// The longest time to wait for anything. Only a fault of the product exceeds it, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(600);

/// Waits until something is so.
#[track_caller]
pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "no {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
