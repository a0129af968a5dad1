//! A Lustre server with a stand-in for lctl and a spool.

use std::fs;
use std::path::{Path, PathBuf};

use jobstats_client::spool::Losses;

use super::{Ended, Fake, Shipper, wait_for};

/// Prints the number of the call as the name of a job, for two targets.
pub const COUNTING: &str = r#"
    echo x >>"$0.calls"; n=$(wc -l <"$0.calls")
    printf 'mdt.fs-MDT0000.job_stats=\n- job_id: %s\nmdt.fs-MDT0001.job_stats=\n- job_id: %s\n' "$n" "$n""#;

/// Returns the texts of these calls of `COUNTING`, in the order in which they are sent.
pub fn texts(calls: impl IntoIterator<Item = u32>) -> Vec<String> {
    let text =
        |target: u32, call: u32| format!("mdt.fs-MDT{target:04}.job_stats=\n- job_id: {call}\n");
    calls
        .into_iter()
        .flat_map(|call| [text(0, call), text(1, call)])
        .collect()
}

/// Returns the names of the files of readings in this directory, sorted. Some have the name of their damage behind `.zst`.
pub fn readings(directory: &Path) -> Vec<String> {
    let files = fs::read_dir(directory).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.contains(".zst")).collect();
    names.sort();
    names
}

/// The server `mds1`.
pub struct Machine {
    pub lctl: Fake,
}

impl Machine {
    /// Runs this shell script as lctl.
    pub fn new(script: &str) -> Self {
        Self {
            lctl: Fake::new(script),
        }
    }

    pub fn spool(&self) -> PathBuf {
        self.lctl.file("spool")
    }

    /// Builds a shipper that sends to a database or over HTTP, depending on the URL.
    pub fn shipper(&self, command: &str, url: &str) -> Shipper {
        let way = match url.starts_with("http") {
            true => "--to",
            false => "--database-url",
        };
        Shipper::new(&[command, "--server", "mds1", way, url])
            .args(&["--lctl", self.lctl.path().to_str().unwrap()])
            .args(&["--spool", self.spool().to_str().unwrap()])
            .lock(&self.lctl.file("reading.lock"))
    }

    pub fn once(&self, url: &str) -> Shipper {
        self.shipper("once", url)
    }

    pub fn run_once(&self, url: &str) -> Ended {
        self.once(url).run()
    }

    /// Runs `once` after an instance was killed, when the children of its lctl have ended and with them its lock.
    pub fn once_after_a_kill(&self, url: &str) -> Ended {
        let mut ended = self.run_once(url);
        wait_for("end of the lock", || {
            let is_locked = ended.code == Some(75) && ended.said.contains("another instance");
            if is_locked {
                ended = self.run_once(url);
            }
            !is_locked
        });
        ended
    }

    /// Returns the names of the files that wait, or that are set aside in a directory of the spool.
    pub fn files(&self, directory: &str) -> Vec<String> {
        readings(&self.spool().join(directory))
    }

    /// Counts the readings that were lost or set aside: by limits, for lack of room, refused, damaged.
    pub fn losses(&self) -> [u64; 4] {
        let losses = Losses::read(&self.spool()).unwrap();
        [losses.limits, losses.room, losses.refused, losses.damaged]
    }
}
