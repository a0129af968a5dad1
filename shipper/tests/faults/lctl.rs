//! Stands in for lctl: prints the simulator's output, or fails.

use std::io::{Write, stderr, stdout};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use rustix::process::{Signal, getpid, kill_process};

use crate::place::{Mode, Place, time_of};

/// The message that makes exit code 2 look harmless.
const NO_MATCH: &str =
    "error: get_param: param_path 'mdt/*/job_stats': No such file or directory\n";

/// Plays a call of lctl on the server of this directory.
pub fn play(directory: &Path, simulator: &str, arguments: &[String]) -> ExitCode {
    let (number, mode) = Place::new(directory).begin_call();
    let time = Timestamp::from_nanosecond(time_of(number).into()).unwrap();
    let printed = Command::new(simulator)
        .args(arguments)
        .env("JOBSTATS_SIMULATOR_TIME", time.to_string())
        .output()
        .unwrap();
    let text = &printed.stdout;
    let half = &text[..text.len() / 2];
    match mode {
        Mode::Whole => {
            print(text);
            stderr().write_all(&printed.stderr).unwrap();
            return ExitCode::from(printed.status.code().unwrap_or(1) as u8);
        }
        Mode::Hangs => hang(),
        Mode::HangsHalf => {
            print(half);
            hang();
        }
        Mode::Fails => {}
        Mode::FailsHalf => print(half),
        Mode::Killed => {
            print(half);
            kill_process(getpid(), Signal::KILL).unwrap();
        }
        Mode::Hides => {
            // The cut is in the middle of a line.
            let end = half.iter().rposition(|byte| *byte == b':').unwrap();
            print(&half[..end]);
            stderr().write_all(NO_MATCH.as_bytes()).unwrap();
            return ExitCode::from(2);
        }
    }
    ExitCode::from(5)
}

/// Prints text. The reader may be gone.
fn print(text: &[u8]) {
    let mut out = stdout().lock();
    let _ = out.write_all(text).and_then(|()| out.flush());
}

fn hang() {
    thread::sleep(Duration::from_secs(3600));
}
